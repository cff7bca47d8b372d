/* SPDX-License-Identifier: Apache-2.0 */
/* What others' use of the cores does to a ratio: the model, its effect on verdicts, and the meter
 * with real work of others and of children. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/runner/arena/waited.h"
#include "tools/runner/judge/load.h"
#include "workspace/base/clock.h"

#define CORES 2

START_TEST(test_others)
{
    struct hone_load_sample from = {.is_known = true},
                            to = {.now_ns = 10 * HONE_NS_PER_S, .is_known = true};
    /* one core idle, one of ours: nobody else */
    to.free_ns = 10e9;
    to.own_ns = 10e9;
    ck_assert_double_eq(hone_load_others(&from, &to, CORES), 0);
    /* nothing idle: one is somebody's */
    to.free_ns = 0;
    ck_assert_double_eq_tol(hone_load_others(&from, &to, CORES), 1, 0.01);
    /* more of ours than there was: clocks, not others */
    to.own_ns = 30e9;
    ck_assert_double_eq(hone_load_others(&from, &to, CORES), 0);
    /* a window of a few steps of the system's counters says nothing */
    to = (struct hone_load_sample){.now_ns = 10 * HONE_NS_PER_MS, .is_known = true};
    ck_assert_double_eq(hone_load_others(&from, &to, CORES), 0);
    to.is_known = false;
    ck_assert_double_eq(hone_load_others(&from, &to, CORES), 0);
}
END_TEST

START_TEST(test_threads)
{
    ck_assert_double_eq(hone_load_threads(0.99, 0.97, 0, CORES), 1);
    ck_assert_double_eq(hone_load_threads(1.95, 1.9, 0, CORES), 2);
    /* two threads that have one core between them */
    ck_assert_double_eq(hone_load_threads(1.0, 0.98, 1, CORES), 2);
    /* one thread that has half of one */
    ck_assert_double_eq(hone_load_threads(0.9, 0.5, 1, CORES), 1);
    /* the machine of the finding: busy 1.06 of 2 */
    ck_assert_double_eq(hone_load_threads(1.06, 1.0, 0, CORES), 2);
    ck_assert_double_eq(hone_load_threads(9, 9, 0, CORES), 2);
    /* one that sleeps and waits */
    ck_assert_double_eq(hone_load_threads(0.1, 0.1, 2, CORES), 1);
}
END_TEST

START_TEST(test_slowdown)
{
    ck_assert_double_eq(hone_load_slowdown(2, CORES, 0), 1);
    ck_assert_double_eq(hone_load_slowdown(2, CORES, 0.03), 1); /* every machine's own work */
    ck_assert_double_eq(hone_load_slowdown(1, CORES, 1), 1);    /* there is a core for each */
    ck_assert(hone_load_slowdown(2, CORES, 1) > 1.9);
    ck_assert(hone_load_slowdown(1, CORES, 1.9) > 1.5);
    ck_assert(isfinite(hone_load_slowdown(2, CORES, 2)));
    /* one busy process on a large machine: a thread in 64 has half a core, and all wait for it */
    ck_assert(hone_load_slowdown(64, 64, 3) > 1.9);
    ck_assert_double_eq(hone_load_slowdown(8, 64, 3), 1);
    double before = 1;
    for (double others = 0; others <= CORES; others += 0.05) { /* more load, more slowdown */
        double now = hone_load_slowdown(2, CORES, others);
        ck_assert(now >= before && now >= hone_load_slowdown(1, CORES, others));
        before = now;
    }
}
END_TEST

START_TEST(test_room)
{
    struct hone_load_room room = hone_load_room(3, 1.5);
    ck_assert_double_eq(room.up, 2);
    ck_assert_double_eq(room.down, 1);
    room = hone_load_room(1.5, 3);
    ck_assert_double_eq(room.up, 1);
    ck_assert_double_eq(room.down, 2);
    room = hone_load_room(4, 4); /* arms alike suffer alike */
    ck_assert(room.up <= 1 && room.down <= 1);
}
END_TEST

START_TEST(test_drift)
{
    double steady[40], other[40];
    for (int i = 0; i < 40; i++) {
        steady[i] = 100 + 7 * ((i * 13) % 11);
        other[i] = steady[i] * (i < 20 ? 1 : 2);
    }
    ck_assert_double_eq(hone_load_drift(steady, 40), 1);
    ck_assert(hone_load_drift(other, 40) > 1.8);
    ck_assert_double_eq(hone_load_drift(other, 8), 1);
}
END_TEST

/* ---- verdicts ---- */

struct scene {
    struct hone_pool *pool;
    struct hone_job job;
    struct hone_task task;
    struct hone_report report;
    struct hone_judge judge;
    struct hone_workload_report workloads[4];
    struct hone_ratio ratios[4];
    struct hone_arm_time times[4][2];
    struct hone_arm_load arms[4][2];
    struct hone_load_report loads[4];
    const char *doubts[HONE_LIMIT_DOUBTS];
};

/* As hone_load_end leaves a workload: a ratio of noise alone, widened by the arms' slowdowns. */
static void put_workload(struct scene *s, size_t w, double ratio, const double threads[2],
                         double others)
{
    s->loads[w] = (struct hone_load_report){.n_cores = CORES,
                                            .is_known = true,
                                            .others = others,
                                            .others_most = others,
                                            .arms = {.v = s->arms[w], .n = 2}};
    for (int i = 0; i < 2; i++) {
        s->arms[w][i] =
            (struct hone_arm_load){.arm = i == 0 ? "candidate" : "baseline",
                                   .busy = threads[i],
                                   .threads = threads[i],
                                   .slowdown = hone_load_slowdown(threads[i], CORES, others)};
        s->times[w][i] =
            (struct hone_arm_time){.arm = s->arms[w][i].arm, .median_ns = 1e6, .n_batch = 10};
    }
    struct hone_load_room room = hone_load_room(s->arms[w][0].slowdown, s->arms[w][1].slowdown);
    s->ratios[w] = (struct hone_ratio){.against = "baseline",
                                       .ratio = ratio,
                                       .low = ratio / 1.03 / room.down,
                                       .high = ratio * 1.03 * room.up,
                                       .least_gain = 0.01,
                                       .n_pairs = 20};
    s->workloads[w] = (struct hone_workload_report){.id = "w",
                                                    .times = {.v = s->times[w], .n = 2},
                                                    .ratios = {.v = &s->ratios[w], .n = 1},
                                                    .percent_of_bound = 50,
                                                    .bound_by = "bytes",
                                                    .load = &s->loads[w]};
}

static void conclude(struct scene *s, const double threads[2], double ratio, const double others[4])
{
    *s = (struct scene){.pool = hone_pool_new(),
                        .job = {.tier = HONE_TIER_CONFIRM, .target = "cpu"}};
    s->judge = (struct hone_judge){.job = &s->job,
                                   .task = &s->task,
                                   .pool = s->pool,
                                   .report = &s->report,
                                   .machine = {.n_cores = CORES},
                                   .slots = {{.name = "candidate"}, {.name = "baseline"}},
                                   .n_slots = 2,
                                   .workloads = s->workloads,
                                   .n_workloads = 4,
                                   .doubts = s->doubts};
    for (size_t w = 0; w < 4; w++) {
        double slow = hone_load_slowdown(threads[0], CORES, others[w]) /
                      hone_load_slowdown(threads[1], CORES, others[w]);
        put_workload(s, w, ratio / slow, threads, others[w]); /* what such a machine shows */
    }
    hone_judge_conclude_timing(&s->judge);
}

static bool is_claimable(const struct scene *s)
{
    return s->judge.timed_end.reason == HONE_REASON_FASTER && s->judge.n_doubts == 0;
}

static const double one_and_two[2] = {2, 1}, one_each[2] = {1, 1}, two_and_one[2] = {1, 2};

START_TEST(test_quiet_is_faster)
{
    struct scene s;
    conclude(&s, one_and_two, 5, (const double[4]){0.01, 0.02, 0, 0.03});
    ck_assert(is_claimable(&s));
    hone_pool_free(s.pool);
}
END_TEST

/* Six pairs are a word, five are a clear interval without one: the reason says so. Far above what
 * noise does three are enough. */
START_TEST(test_few_rounds_are_named)
{
    const struct {
        int n_pairs;
        enum hone_reason reason;
        double ratio;
    } rows[] = {{6, HONE_REASON_FASTER, 5},     {5, HONE_REASON_FEW_ROUNDS, 5},
                {3, HONE_REASON_FEW_ROUNDS, 5}, {5, HONE_REASON_FEW_ROUNDS, 10},
                {5, HONE_REASON_FASTER, 20},    {3, HONE_REASON_FASTER, 20},
                {2, HONE_REASON_FEW_ROUNDS, 20}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct scene s;
        conclude(&s, one_and_two, rows[i].ratio, (const double[4]){0, 0, 0, 0});
        s.ratios[2].n_pairs = rows[i].n_pairs;
        hone_judge_conclude_timing(&s.judge);
        ck_assert_int_eq(s.judge.timed_end.reason, rows[i].reason);
        hone_pool_free(s.pool);
    }
}
END_TEST

/* A share of what a guess allows is left out; the verdict does not hang on it. */
START_TEST(test_no_percent_of_a_guess)
{
    struct scene s;
    conclude(&s, one_and_two, 5, (const double[4]){0.01, 0.02, 0, 0.03});
    ck_assert_double_eq_tol(s.report.percent_of_bound, 50, 1e-6);
    s.task.is_flops_guessed = true;
    hone_judge_conclude_timing(&s.judge);
    ck_assert(isnan(s.report.percent_of_bound) && isnan(s.workloads[0].percent_of_bound));
    ck_assert(is_claimable(&s));
    hone_pool_free(s.pool);
}
END_TEST

/* What the source's loops do stands in for a guess. */
START_TEST(test_counted_operations_are_a_bound)
{
    static const double flops[] = {1e6, 1e3}; /* four times what the bytes need; nothing */
    for (size_t i = 0; i < 2; i++) {
        struct scene s;
        conclude(&s, one_and_two, 5, (const double[4]){0.01, 0.02, 0, 0.03});
        const double bytes_ns = 5e5;
        s.task.is_flops_guessed = true;
        s.task.flops_counted = "2*n";
        s.task.n_axes = 1;
        s.task.axes[0] = (struct hone_axis){.name = "n", .kind = HONE_AXIS_VAR};
        s.judge.n_cases = 5;
        s.judge.machine.flops = 1e6 / (4 * bytes_ns) * 1e9;
        for (size_t w = 0; w < 4; w++) {
            s.workloads[w].id = s.judge.cases[w + 1].id = w < 2    ? w ? "b" : "a"
                                                          : w == 2 ? "c"
                                                                   : "d";
            s.judge.cases[w + 1].axes[0] = (int64_t)flops[i] / 2;
            s.workloads[w].bytes_ns = s.workloads[w].bound_ns = bytes_ns;
        }
        hone_judge_conclude_timing(&s.judge);
        ck_assert_double_eq_tol(s.report.percent_of_bound, i == 0 ? 200 : 50, 1e-6);
        ck_assert_str_eq(s.workloads[0].bound_by, i == 0 ? "flops" : "bytes");
        ck_assert(is_claimable(&s)); /* a better algorithm needs less: no doubt */
        hone_pool_free(s.pool);
    }
}
END_TEST

/* A mean over baselines that reach 10 % of the bound here and 29 or 30 % there. */
START_TEST(test_unlike_baselines_are_told)
{
    struct scene s;
    const char *warnings[64];
    for (int unlike = 0; unlike < 2; unlike++) {
        conclude(&s, one_and_two, 5, (const double[4]){0.01, 0.02, 0, 0.03});
        s.judge.warnings = warnings;
        for (size_t w = 0; w < 4; w++)
            s.workloads[w].bound_ns = w < 3 ? 1e5 : unlike ? 3e5 : 2.9e5;
        hone_judge_conclude_timing(&s.judge);
        ck_assert_uint_eq(s.judge.n_warnings, (size_t)unlike);
        ck_assert(!unlike || strstr(warnings[0], "unlike baselines: the baseline reaches 10 %"));
        hone_pool_free(s.pool);
    }
}
END_TEST

START_TEST(test_loaded_is_not_claimed)
{
    struct scene s;
    conclude(&s, one_and_two, 22.8, (const double[4]){1.1, 1.1, 1.1, 1.1});
    ck_assert_int_eq(s.judge.timed_end.reason, HONE_REASON_LOADED);
    ck_assert(strstr(s.judge.timed_end.detail, "1.1 of 2 cores") != NULL);
    ck_assert_ptr_nonnull(s.report.load);
    /* a fall of the baseline alone makes nobody faster */
    hone_pool_free(s.pool);
    conclude(&s, two_and_one, 1, (const double[4]){1.1, 1.1, 1.1, 1.1});
    ck_assert_int_eq(s.judge.timed_end.reason, HONE_REASON_LOADED);
    /* an honest candidate that is as fast, on a loaded machine, is not slower */
    hone_pool_free(s.pool);
    conclude(&s, one_and_two, 1, (const double[4]){1, 1, 1, 1});
    ck_assert_int_eq(s.judge.timed_end.reason, HONE_REASON_LOADED);
    hone_pool_free(s.pool);
}
END_TEST

START_TEST(test_memory_is_doubted)
{
    struct scene s;
    conclude(&s, one_each, 3, (const double[4]){0.9, 0.9, 0.9, 0.9});
    ck_assert_int_eq(s.judge.timed_end.reason, HONE_REASON_FASTER);
    ck_assert_uint_eq(s.judge.n_doubts, 1);
    ck_assert(strstr(s.doubts[0], "caches and memory") != NULL);
    hone_pool_free(s.pool);
}
END_TEST

START_TEST(test_one_loaded_workload_is_doubted)
{
    struct scene s;
    conclude(&s, one_and_two, 5, (const double[4]){0, 0, 0, 0.3});
    ck_assert_int_eq(s.judge.timed_end.reason, HONE_REASON_FASTER);
    ck_assert_uint_ge(s.judge.n_doubts, 1);
    ck_assert_ptr_nonnull(strstr(s.doubts[0], "the machine was busy while workload"));
    ck_assert_msg(strstr(s.doubts[0], "candidate 2, baseline 1); measure again when it is idle"),
                  "%s", s.doubts[0]);
    hone_pool_free(s.pool);
}
END_TEST

/* From one run to the next an arm that differs much may differ by more than its rounds say; equal
 * arms cancel. */
START_TEST(test_runs_differ)
{
    struct scene s;
    const double ratios[] = {1, 1.02, 3, 30};
    for (size_t i = 0; i < HONE_COUNTOF(ratios); i++) {
        conclude(&s, one_each, ratios[i], (const double[4]){0, 0, 0, 0});
        const struct hone_ratio *r = hone_report_ratio(&s.report, "baseline");
        double noise = log(1.03) / 2; /* four workloads of 3 % each */
        ck_assert_double_eq_tol(log(r->high / r->ratio), noise + 0.05 * log(ratios[i]), 1e-6);
        ck_assert_double_eq_tol(log(r->ratio / r->low), noise + 0.05 * log(ratios[i]), 1e-6);
        hone_pool_free(s.pool);
    }
}
END_TEST

/* Two threads on one core: what one runs the other waits. */
static void *burn_some(void *arg)
{
    struct timespec time;
    do
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    while (time.tv_sec == 0 && time.tv_nsec < 100 * HONE_NS_PER_MS);
    return arg;
}

START_TEST(test_waits_are_counted)
{
    double n_threads = 0, before = hone_waited_ns(getpid(), &n_threads);
    cpu_set_t all, one;
    pthread_t threads[2];
    size_t core = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(core, &all))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, burn_some, NULL), 0);
    (void)burn_some(NULL);
    double waited = hone_waited_ns(getpid(), &n_threads) - before;
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
    ck_assert_double_ge(n_threads, 1);
    ck_assert_double_ge(waited, 50e6);
    ck_assert(hone_waited_ns(0x7ffffff, &n_threads) == 0); /* nobody */
}
END_TEST

/* Whatever the loads of two confirmations of one version: where both may be claimed, their
 * intervals meet. */
START_TEST(test_confirmations_agree)
{
    const double *pairs[] = {one_and_two, one_each, two_and_one};
    int n_both = 0;
    for (size_t p = 0; p < HONE_COUNTOF(pairs); p++) {
        for (double a = 0; a <= CORES; a += 0.04) {
            for (double b = 0; b <= a; b += 0.04) {
                struct scene x, y;
                conclude(&x, pairs[p], 7, (const double[4]){a, a, a, a});
                conclude(&y, pairs[p], 7, (const double[4]){b, b, b, b});
                const struct hone_ratio *i = hone_report_ratio(&x.report, "baseline"),
                                        *k = hone_report_ratio(&y.report, "baseline");
                ck_assert(i->low <= i->ratio && i->ratio <= i->high);
                n_both += is_claimable(&x) && is_claimable(&y);
                if (is_claimable(&x) && is_claimable(&y))
                    ck_assert_msg(i->low <= k->high && k->low <= i->high,
                                  "%g and %g: [%g, %g] and [%g, %g]", a, b, i->low, i->high, k->low,
                                  k->high);
                hone_pool_free(x.pool);
                hone_pool_free(y.pool);
            }
        }
    }
    ck_assert_int_gt(n_both, 10);
}
END_TEST

/* Rounds that take seconds end long before the fewest for a word, but not before three. */
START_TEST(test_slow_rounds_end)
{
    struct hone_judge judge = {.pool = hone_pool_new(),
                               .slots = {{.name = "candidate"}, {.name = "baseline"}},
                               .n_slots = 2};
    const struct hone_timing_plan plan = {
        .budget_ns = 2 * HONE_NS_PER_S, .min_pairs = 6, .max_pairs = 100};
    struct hone_rounds rounds;
    hone_rounds_init(&rounds, &judge, &plan);
    int64_t most = hone_rounds_most_ns(&plan);
    ck_assert_int_ge(most, plan.budget_ns);
    struct hone_timing_plan hurried = plan;
    hurried.most_ns = HONE_NS_PER_S / 2; /* little is left of the job's time */
    ck_assert_int_eq(hone_rounds_most_ns(&hurried), HONE_NS_PER_S / 2);
    rounds.n = 2;
    ck_assert(!hone_rounds_done(&rounds, hone_now_ns() - 10 * most));
    rounds.n = 3;
    ck_assert(!hone_rounds_done(&rounds, hone_now_ns() - most / 2));
    ck_assert(hone_rounds_done(&rounds, hone_now_ns() - most - HONE_NS_PER_MS));
    hone_pool_free(judge.pool);
}
END_TEST

/* ---- the meter ---- */

static void burn(int64_t cpu_ns)
{
    struct timespec time;
    do
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    while ((int64_t)time.tv_sec * HONE_NS_PER_S + time.tv_nsec < cpu_ns);
}

/* Somebody else's: the child of a child that has ended. */
static void start_stranger(int64_t cpu_ns)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0)
            burn(cpu_ns);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(test_others_are_seen)
{
    struct hone_judge judge = {.machine = {.n_cores = sysconf(_SC_NPROCESSORS_ONLN)}};
    struct hone_load_meter meter;
    struct timespec pause = {.tv_nsec = 600 * HONE_NS_PER_MS};
    start_stranger(2 * HONE_NS_PER_S);
    hone_load_begin(&meter, &judge);
    if (!meter.first.is_known)
        return; /* a system that counts nothing */
    (void)nanosleep(&pause, NULL);
    hone_load_round(&meter);
    ck_assert_double_gt(meter.worst, 0.3);
}
END_TEST

START_TEST(test_children_are_ours)
{
    struct hone_judge judge = {.machine = {.n_cores = sysconf(_SC_NPROCESSORS_ONLN)}};
    struct hone_load_meter meter;
    double before, alive, ended;
    int ready[2];
    char byte;
    hone_load_begin(&meter, &judge);
    before = meter.first.own_ns;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        burn(300 * HONE_NS_PER_MS);
        if (write(ready[1], "x", 1) == 1)
            (void)pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    hone_load_begin(&meter, &judge);
    alive = meter.first.own_ns;
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    hone_load_begin(&meter, &judge);
    ended = meter.first.own_ns;
    ck_assert_double_ge(alive - before, 290e6);
    ck_assert_double_ge(ended - before, 290e6);
    ck_assert_double_lt(ended - alive, 250e6); /* once, not twice */
    close(ready[0]);
    close(ready[1]);
}
END_TEST

UNIT_MAIN("load", test_counted_operations_are_a_bound, test_others, test_threads, test_slowdown,
          test_room, test_drift, test_quiet_is_faster, test_few_rounds_are_named,
          test_no_percent_of_a_guess, test_unlike_baselines_are_told, test_loaded_is_not_claimed,
          test_memory_is_doubted, test_one_loaded_workload_is_doubted, test_confirmations_agree,
          test_slow_rounds_end, test_others_are_seen, test_children_are_ours, test_runs_differ,
          test_waits_are_counted)
