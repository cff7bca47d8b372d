/* SPDX-License-Identifier: Apache-2.0 */
/* Others' load while arms are timed (load.h).
 *
 * Flow: a sample before the first round, one after each; the difference, less our own
 * processes, is others' time. From that, from how many threads an arm kept busy and from how
 * long they waited for a core follow the factors by which each arm may have been slowed;
 * intervals are widened by the room between them. */
#include "tools/runner/judge/load.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tools/runner/arena/waited.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define WINDOW_NS     (250 * HONE_NS_PER_MS) /* shorter ones are within the clock's steps */
#define HOUSEKEEPING  0.02                   /* of the cores: every machine has that much to do */
#define LEAST_LEFT    0.1                    /* of the cores */
#define BUSY_ROOM     0.05                   /* clocks are not read in one instant */
#define WANTED_ROOM   0.2                    /* waits outside of what was timed are counted too */
#define BUSY_QUANTILE 0.9
#define STEAL_MOST    0.05 /* of the cores */
#define THROTTLED     0.01 /* of the time */
#define DRIFT_MOST    1.1
#define DRIFT_LEAST_N 12

/* ---- reading ---- */

static void read_cores(const cpu_set_t *cores, struct hone_load_sample *ret)
{
    FILE *file = fopen("/proc/stat", "re");
    char line[512];
    double tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK);
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        long long cpu = 0, v[8] = {0};
        if (strncmp(line, "cpu", 3) != 0)
            break;
        if (sscanf(line, "cpu%lld %lld %lld %lld %lld %lld %lld %lld %lld", &cpu, &v[0], &v[1],
                   &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) != 9)
            continue;
        if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, cores))
            continue;
        ret->free_ns += (double)(v[3] + v[4]) * tick_ns;
        ret->steal_ns += (double)v[7] * tick_ns;
        /* Where the system counts nothing, nothing is known. */
        ret->is_known = ret->is_known || v[0] + v[2] + v[3] > 0;
    }
    fclose(file);
}

static double rusage_ns(int who)
{
    struct rusage usage;
    if (getrusage(who, &usage) < 0)
        return 0;
    return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e9 +
           ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) * 1e3;
}

static double process_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
        return 0;
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Every arena, oracle and helper is a child of this thread. A system that does not list children
 * makes theirs look like somebody else's: too much load is seen then, never too little. */
static double children_ns(void)
{
    HONE_AUTOFREE char *path = hone_sprintf("/proc/self/task/%d/children", (int)getpid());
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    double sum = 0;
    if (hone_file_read(path, HONE_LIMIT_FILE_BYTES, &text, &len, NULL) < 0)
        return 0;
    char *at = text, *end = NULL;
    for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
        sum += process_ns((pid_t)pid);
    return sum;
}

/* The control group's own quota; 0 where there is none. */
static double throttled_ns(void)
{
    static const char *const paths[] = {"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat",
                                        "/sys/fs/cgroup/cpu,cpuacct/cpu.stat"};
    static const struct {
        const char *word;
        double unit_ns;
    } words[] = {{"throttled_usec ", 1e3}, {"throttled_time ", 1}};
    for (size_t i = 0; i < HONE_COUNTOF(paths); i++) {
        HONE_AUTOFREE char *text = NULL;
        size_t len = 0;
        if (hone_file_read(paths[i], HONE_LIMIT_FILE_BYTES, &text, &len, NULL) < 0)
            continue;
        for (size_t k = 0; k < HONE_COUNTOF(words); k++) {
            const char *at = strstr(text, words[k].word);
            if (at != NULL)
                return strtod(at + strlen(words[k].word), NULL) * words[k].unit_ns;
        }
    }
    return 0;
}

static void take_sample(const struct hone_load_meter *meter, struct hone_load_sample *ret)
{
    *ret = (struct hone_load_sample){.now_ns = hone_now_ns()};
    read_cores(&meter->cores, ret);
    /* children first: one that ends in between is counted once or not at all for a moment, and
     * what is not counted looks like load, not like quiet */
    ret->own_ns = children_ns() + rusage_ns(RUSAGE_SELF) + rusage_ns(RUSAGE_CHILDREN);
    ret->throttled_ns = throttled_ns();
}

static pid_t pid_of(const struct hone_slot *slot)
{
    return slot->arena != NULL && slot->arena->is_alive ? hone_jail_pid(slot->arena->jail) : 0;
}

/* ---- the model ---- */

double hone_load_others(const struct hone_load_sample *from, const struct hone_load_sample *to,
                        int64_t n_cores)
{
    double wall = (double)(to->now_ns - from->now_ns), cores = (double)n_cores;
    if (!(wall > 0) || !from->is_known || !to->is_known)
        return 0;
    double used = cores * wall - (to->free_ns - from->free_ns);
    double others = (used - (to->own_ns - from->own_ns)) / wall;
    double step = cores * 1e9 / (double)sysconf(_SC_CLK_TCK) / wall; /* of the system's counters */
    return fmin(fmax(others - step, 0), cores);
}

double hone_load_threads(double busy, double mean_busy, double waited_share, int64_t n_cores)
{
    double wanted = mean_busy * (1 + fmax(waited_share, 0));
    double least = fmax(busy - BUSY_ROOM, wanted - WANTED_ROOM);
    return least > 1 ? fmin(ceil(least), (double)n_cores) : 1;
}

double hone_load_slowdown(double threads, int64_t n_cores, double others)
{
    double cores = (double)n_cores, taken = fmax(others - HOUSEKEEPING * cores, 0);
    double left = fmax(cores - taken, LEAST_LEFT * cores);
    double shared = fmin(fmax(threads + taken - cores, 0), 1);
    if (!(taken > 0))
        return 1;
    return fmax(fmax(threads / left, 1 + shared), 1);
}

struct hone_load_room hone_load_room(double candidate_slowdown, double other_slowdown)
{
    double change = candidate_slowdown / other_slowdown;
    return (struct hone_load_room){.up = fmax(change, 1), .down = fmax(1 / change, 1)};
}

double hone_load_drift(const double *values, size_t n)
{
    if (n < DRIFT_LEAST_N)
        return 1;
    struct hone_interval first = hone_median_interval(values, n / 2),
                         second = hone_median_interval(values + n / 2, n - n / 2);
    if (first.low <= second.high && second.low <= first.high)
        return 1;
    return fmax(first.mid / second.mid, second.mid / first.mid);
}

/* ---- a workload ---- */

void hone_load_begin(struct hone_load_meter *meter, const struct hone_judge *judge)
{
    *meter = (struct hone_load_meter){.n_cores = judge->machine.n_cores};
    if (sched_getaffinity(0, sizeof meter->cores, &meter->cores) < 0)
        CPU_ZERO(&meter->cores);
    for (size_t i = 0; i < judge->n_slots; i++) {
        pid_t pid = pid_of(&judge->slots[i]);
        double n_threads;
        meter->cpu_ns[i] = pid > 0 ? process_ns(pid) : 0;
        meter->waited_ns[i] = pid > 0 ? hone_waited_ns(pid, &n_threads) : 0;
    }
    take_sample(meter, &meter->first);
    meter->last = meter->first;
}

static void close_window(struct hone_load_meter *meter, const struct hone_load_sample *now)
{
    meter->worst = fmax(meter->worst, hone_load_others(&meter->last, now, meter->n_cores));
    meter->last = *now;
}

void hone_load_round(struct hone_load_meter *meter)
{
    if (hone_now_ns() - meter->last.now_ns < WINDOW_NS)
        return;
    struct hone_load_sample now;
    take_sample(meter, &now);
    close_window(meter, &now);
}

/* Of a round, nearly the most; and over all rounds. */
static double busy_threads(const struct hone_lane *lane, size_t n, double *ret_mean)
{
    double busy[HONE_MAX_ROUNDS], cpu = 0, wall = 0;
    *ret_mean = 1;
    if (lane->cpu == NULL || n == 0)
        return 1;
    for (size_t r = 0; r < n; r++) {
        busy[r] = lane->cpu[r] / fmax(lane->wall[r], 1);
        cpu += lane->cpu[r];
        wall += lane->wall[r];
    }
    *ret_mean = cpu / fmax(wall, 1);
    return hone_quantile(busy, n, BUSY_QUANTILE);
}

/* An arena that was started again meanwhile has totals of its own. */
static double waited_share(const struct hone_load_meter *meter, const struct hone_judge *judge,
                           size_t i)
{
    pid_t pid = pid_of(&judge->slots[i]);
    if (pid <= 0)
        return 0;
    double n_threads = 0, waited = hone_waited_ns(pid, &n_threads) - meter->waited_ns[i];
    double cpu = process_ns(pid) - meter->cpu_ns[i];
    /* one thread that waits is one thread; those that have ended show in what was busy */
    return n_threads > 1 && cpu > 0 && waited > 0 ? waited / cpu : 0;
}

static void widen(struct hone_ratio *ratio, double up, double down)
{
    ratio->high *= up;
    ratio->low /= down;
    ratio->word = hone_ratio_word(ratio->low, ratio->high, ratio->least_gain);
}

static double slowdown_of(const struct hone_workload_report *workload, const char *arm)
{
    const struct hone_arm_load *arms = workload->load != NULL ? workload->load->arms.v : NULL;
    for (size_t i = 0; arms != NULL && i < workload->load->arms.n; i++)
        if (strcmp(arms[i].arm, arm) == 0)
            return arms[i].slowdown;
    return 1;
}

static struct hone_load_room room_of(const struct hone_judge *judge,
                                     const struct hone_workload_report *workload, const char *other)
{
    if (strcmp(other, HONE_ARM_FAST_MATH) == 0) /* the same source: as many threads */
        other = "baseline";
    return hone_load_room(slowdown_of(workload, judge->slots[0].name),
                          slowdown_of(workload, other));
}

static void note_drift(struct hone_judge *judge, const struct hone_rounds *rounds)
{
    for (size_t i = 0; i < rounds->n_lanes; i++) {
        double drift = hone_load_drift(rounds->lanes[i].wall, rounds->n);
        if (drift > DRIFT_MOST)
            hone_judge_doubt(judge,
                             "the machine did not keep its speed: on workload '%s' the %s took "
                             "%.2f times as long in one half of the rounds as in the other",
                             rounds->plan->workload->id, rounds->lanes[i].name, drift);
    }
}

static struct hone_load_report *close_meter(struct hone_load_meter *meter, struct hone_judge *judge,
                                            size_t n_arms)
{
    struct hone_load_sample now;
    take_sample(meter, &now);
    double wall = fmax((double)(now.now_ns - meter->first.now_ns), 1);
    double mean = hone_load_others(&meter->first, &now, meter->n_cores);
    if (now.now_ns - meter->last.now_ns >= WINDOW_NS / 2)
        close_window(meter, &now);
    struct hone_load_report *load = hone_pool_alloc(judge->pool, sizeof *load);
    *load = (struct hone_load_report){
        .n_cores = meter->n_cores,
        .is_known = now.is_known,
        .others = mean,
        .others_most = fmax(meter->worst, mean),
        .free_cores = (double)meter->n_cores - mean,
        .steal = (now.steal_ns - meter->first.steal_ns) / wall,
        .throttled_percent = 100 * (now.throttled_ns - meter->first.throttled_ns) / wall,
        .arms = {.v = hone_pool_alloc(judge->pool, n_arms * sizeof(struct hone_arm_load)),
                 .n = n_arms}};
    return load;
}

static struct hone_arm_load arm_load(const struct hone_load_meter *meter, const char *name,
                                     double busy, double threads, double others)
{
    return (struct hone_arm_load){.arm = name,
                                  .busy = busy,
                                  .threads = threads,
                                  .slowdown = hone_load_slowdown(threads, meter->n_cores, others)};
}

struct hone_load_report *hone_load_end_alone(struct hone_load_meter *meter,
                                             struct hone_judge *judge, double busy)
{
    struct hone_load_report *load = close_meter(meter, judge, 1);
    double threads = hone_load_threads(busy, busy, waited_share(meter, judge, 0), meter->n_cores);
    *(struct hone_arm_load *)load->arms.v =
        arm_load(meter, judge->slots[0].name, busy, threads, load->others);
    return load;
}

void hone_load_end(struct hone_load_meter *meter, struct hone_judge *judge,
                   const struct hone_rounds *rounds, struct hone_workload_report *ret)
{
    struct hone_load_report *load = close_meter(meter, judge, rounds->n_lanes);
    struct hone_arm_load *arms = load->arms.v;
    for (size_t i = 0; i < rounds->n_lanes; i++) {
        const struct hone_lane *lane = &rounds->lanes[i];
        double mean_busy, busy = busy_threads(lane, rounds->n, &mean_busy);
        double waited = waited_share(meter, judge, (size_t)(lane->slot - judge->slots));
        double threads = hone_load_threads(busy, mean_busy, waited, meter->n_cores);
        arms[i] = arm_load(meter, lane->name, busy, threads, load->others);
    }
    ret->load = load;
    struct hone_ratio *ratios = (struct hone_ratio *)ret->ratios.v;
    for (size_t i = 0; i < ret->ratios.n; i++) {
        struct hone_load_room room = hone_load_room(arms[0].slowdown, arms[i + 1].slowdown);
        widen(&ratios[i], room.up, room.down);
    }
    if (!hone_judge_is_tier(judge, HONE_TIER_SCREEN))
        note_drift(judge, rounds);
}

void hone_load_widen_aside(const struct hone_judge *judge,
                           const struct hone_workload_report *workload, struct hone_ratio *ratio)
{
    struct hone_load_room room = room_of(judge, workload, ratio->against);
    widen(ratio, room.up, room.down);
}

/* ---- the whole ---- */

/* Geometric means over the workloads. */
static struct hone_load_room whole_room(const struct hone_judge *judge, const char *other)
{
    double up = 0, down = 0, n = fmax((double)judge->n_workloads, 1);
    for (size_t w = 0; w < judge->n_workloads; w++) {
        struct hone_load_room room = room_of(judge, &judge->workloads[w], other);
        up += log(room.up) / n;
        down += log(room.down) / n;
    }
    return (struct hone_load_room){.up = exp(up), .down = exp(down)};
}

struct hone_interval hone_load_logs(const struct hone_judge *judge,
                                    const struct hone_workload_report *workload,
                                    const struct hone_ratio *ratio)
{
    struct hone_load_room room = room_of(judge, workload, ratio->against);
    return (struct hone_interval){.mid = log(ratio->ratio),
                                  .low = log(ratio->low * room.down),
                                  .high = log(ratio->high / room.up)};
}

void hone_load_widen_whole(const struct hone_judge *judge, struct hone_ratio *ratio)
{
    struct hone_load_room room = whole_room(judge, ratio->against);
    widen(ratio, room.up, room.down);
}

static struct hone_load_report *sum_up(struct hone_judge *judge)
{
    struct hone_load_report *sum = hone_pool_alloc(judge->pool, sizeof *sum);
    double n = 0;
    *sum = (struct hone_load_report){.n_cores = judge->machine.n_cores, .is_known = true};
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_load_report *load = judge->workloads[w].load;
        if (load == NULL)
            continue;
        n++;
        sum->is_known = sum->is_known && load->is_known;
        sum->others += load->others;
        sum->steal += load->steal;
        sum->others_most = fmax(sum->others_most, load->others_most);
        sum->throttled_percent = fmax(sum->throttled_percent, load->throttled_percent);
    }
    if (n == 0)
        return NULL;
    sum->others /= n;
    sum->steal /= n;
    sum->free_cores = (double)sum->n_cores - sum->others;
    return sum;
}

static bool arms_differ(const struct hone_judge *judge)
{
    for (size_t w = 0; w < judge->n_workloads; w++) {
        const struct hone_load_report *load = judge->workloads[w].load;
        const struct hone_arm_load *arms = load != NULL ? load->arms.v : NULL;
        for (size_t i = 1; load != NULL && i < load->arms.n; i++)
            if (arms[i].threads > arms[0].threads || arms[i].threads < arms[0].threads)
                return true;
    }
    return false;
}

/* The worst workload may be far off while the mean of all is not. */
static void doubt_worst(struct hone_judge *judge)
{
    const struct hone_workload_report *worst = NULL;
    double most = HONE_LOAD_MOST;
    size_t slower = 0;
    for (size_t w = 0; w < judge->n_workloads; w++)
        for (size_t i = 1; i < judge->n_slots; i++) {
            struct hone_load_room room = room_of(judge, &judge->workloads[w], judge->slots[i].name);
            if (fmax(room.up, room.down) <= most)
                continue;
            most = fmax(room.up, room.down);
            worst = &judge->workloads[w];
            slower = i;
        }
    if (worst == NULL || worst->load->arms.n <= slower)
        return;
    const struct hone_arm_load *arms = worst->load->arms.v;
    hone_judge_doubt(judge,
                     "the machine was busy while workload '%s' was timed: other processes used "
                     "%.1f of %lld cores, which slows one version more than the other (threads: "
                     "%s %.0f, %s %.0f); measure again when it is idle",
                     worst->id, worst->load->others, (long long)worst->load->n_cores,
                     judge->slots[0].name, arms[0].threads, judge->slots[slower].name,
                     arms[slower].threads);
}

void hone_load_conclude(struct hone_judge *judge)
{
    struct hone_load_report *load = sum_up(judge);
    judge->report->load = load;
    if (load == NULL || hone_judge_is_tier(judge, HONE_TIER_SCREEN))
        return;
    double cores = (double)load->n_cores;
    bool is_device = hone_target_traits(judge->job->target)->has_device;
    doubt_worst(judge);
    if (!load->is_known && arms_differ(judge))
        hone_judge_doubt(judge, "this system does not say what other processes used, and the arms "
                                "need different numbers of cores");
    if (load->steal > STEAL_MOST * cores)
        hone_judge_doubt(judge, "the hypervisor took %.2f of %lld cores away", load->steal,
                         (long long)load->n_cores);
    else if (load->others > (is_device ? HONE_LOAD_SHARED_HOST : HONE_LOAD_SHARED) * cores)
        hone_judge_doubt(judge,
                         "other processes used %.1f of %lld cores (at most %.1f): they share "
                         "caches and memory with what was timed",
                         load->others, (long long)load->n_cores, load->others_most);
    if (load->throttled_percent > 100 * THROTTLED)
        hone_judge_doubt(judge,
                         "the control group's processor quota was used up for %.1f %% of the "
                         "time",
                         load->throttled_percent);
}

bool hone_load_explains(const struct hone_judge *judge, const char **ret_why)
{
    const struct hone_load_report *load = judge->report->load;
    if (load == NULL || load->others <= HONE_LOAD_SHARED * (double)load->n_cores)
        return false;
    *ret_why =
        hone_pool_printf(judge->pool,
                         "the rounds differ too much: other processes used %.1f of %lld cores (at "
                         "most %.1f)",
                         load->others, (long long)load->n_cores, load->others_most);
    return true;
}

bool hone_load_decides(const struct hone_judge *judge, const char *other, const char **ret_why)
{
    struct hone_load_room room = whole_room(judge, other);
    const struct hone_load_report *load = judge->report->load;
    if (load == NULL || fmax(room.up, room.down) <= HONE_LOAD_MOST)
        return false;
    *ret_why = hone_pool_printf(
        judge->pool,
        "other processes used %.1f of %lld cores (at most %.1f), which slows the %s more: on a "
        "quiet machine the figure could be %.2f times %s",
        load->others, (long long)load->n_cores, load->others_most,
        room.up > room.down ? "candidate" : other, fmax(room.up, room.down),
        room.up > room.down ? "as much" : "less");
    return true;
}
