/* SPDX-License-Identifier: Apache-2.0 */
/* The local executor against runners that crash, lie, hang and shout: shell scripts in place of
 * hone-runner. */
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/executor.h"
#include "tools/report_check.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct bench {
    char dir[64];
    struct hone_executor *executor;
    struct hone_pool *pool;
};

static void bench_open(struct bench *b, const char *script)
{
    HONE_AUTOFREE char *text = hone_sprintf("#!/bin/sh\n%s\n", script);
    HONE_AUTOFREE char *path = NULL;
    struct hone_err err = HONE_ERR_INIT;

    hone_process_init();
    strcpy(b->dir, "/tmp/hone-exec-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->dir));
    path = hone_path_join(b->dir, "runner", NULL);
    ck_assert_int_eq(hone_file_write(path, text, strlen(text), 0700, false, &err), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_msg(hone_exec_local_new(path, &b->executor, &err) == 0, "%s", err.message);
    b->pool = hone_pool_new();
}

static void bench_close(struct bench *b)
{
    hone_executor_free(b->executor);
    hone_pool_free(b->pool);
    hone_remove_tree(b->dir, NULL);
}

static const char *const stages[] = {"build", "verify", "time"};
static const char *const wanted[] = {"small", "large"};
static struct hone_arm arms[] = {{.name = "candidate", .source = "candidate.c"},
                                 {.name = "baseline", .source = "baseline.c"}};
static const struct hone_job job = {.format = 1,
                                    .id = "call1",
                                    .target = "cpu",
                                    .tier = HONE_TIER_DECIDE,
                                    .stages = {.v = (const char **)(uintptr_t)stages, .n = 3},
                                    .workloads = {.v = (const char **)(uintptr_t)wanted, .n = 2},
                                    .arms = {.v = arms, .n = 2},
                                    .timeout_ms = 20000};

static int call(struct bench *b, hone_progress_fn *on_progress, void *arg,
                const struct hone_cancel *cancel, struct hone_report *ret, struct hone_err *err)
{
    return b->executor->run(b->executor->cookie, b->dir, &job, on_progress, arg, cancel, b->pool,
                            ret, err);
}

#define SAYS(text) "cat > report.json <<'E'\n" text "\nE"
#define OURS       "\"format\":1,\"id\":\"call1\",\"tier\":\"decide\",\"target\":\"cpu\""

static const struct {
    const char *name, *script, *reason, *summary;
} cases[] = {
    {"good", SAYS("{" OURS ",\"reason\":\"built\"}"), "built", ""},
    {"good with status", SAYS("{" OURS ",\"reason\":\"crash\"}") "\nexit 1", "crash", ""},
    {"silent", "exit 3", "infra", "status 3"},
    {"says why", "echo cannot make a jail >&2; exit 3", "infra", "cannot make a jail"},
    {"garbage", SAYS("{{{"), "infra", "no usable report"},
    {"another call", SAYS("{\"format\":1,\"id\":\"call2\",\"reason\":\"built\"}"), "infra",
     "call2"},
    {"another tier",
     SAYS("{\"format\":1,\"id\":\"call1\",\"tier\":\"confirm\",\"reason\":\"built\"}"), "infra",
     "confirm"},
    {"bare claim", SAYS("{\"format\":1,\"id\":\"call1\",\"reason\":\"faster\"}"), "infra",
     "interval"},
    {"huge", "head -c 5000000 /dev/zero > report.json", "infra", "no usable report"},
    {"killed", "kill -SEGV $$", "infra", "signal 11"},
    {"folder", "mkdir report.json", "infra", "no usable report"},
    {"link", "ln -s /etc/passwd report.json", "infra", "no usable report"},
    {"shouting",
     "head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | tr '\\0' x >&2\n" SAYS(
         "{" OURS ",\"reason\":\"built\"}"),
     "built", ""},
    {"nobody's", SAYS("{\"format\":1,\"reason\":\"correct\"}"), "infra", "of call ''"},
    {"nobody's fault", SAYS("{\"format\":1,\"reason\":\"infra\",\"summary\":\"no disk\"}"), "infra",
     "no disk"},
    {"another target",
     SAYS("{\"format\":1,\"id\":\"call1\",\"tier\":\"decide\",\"target\":\"cuda\",\"reason\":"
          "\"correct\"}"),
     "infra", "target"},
    {"queue", "mkfifo report.json", "infra", "no usable report"},
    {"two", SAYS("{" OURS ",\"reason\":\"built\"}{" OURS ",\"reason\":\"built\"}"), "infra",
     "no usable report"},
    {"nested", "head -c 100000 /dev/zero | tr '\\0' '[' > report.json", "infra",
     "no usable report"},
    {"no text", "printf '{\"format\":1,\"reason\":\"built\",\"summary\":\"\\377\"}' > report.json",
     "infra", "no usable report"},
    {"answers and dies", SAYS("{" OURS ",\"reason\":\"correct\"}") "\nkill -KILL $$", "infra",
     "signal 9"},
};

START_TEST(runners)
{
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct hone_report report = {.reason = HONE_REASON_NONE};
        struct hone_err err = HONE_ERR_INIT;
        struct bench b;

        bench_open(&b, cases[i].script);
        ck_assert_msg(call(&b, NULL, NULL, NULL, &report, &err) == 0, "%s: %s", cases[i].name,
                      err.message);
        ck_assert_msg(strcmp(hone_reason_name(report.reason), cases[i].reason) == 0, "%s: %s",
                      cases[i].name, hone_reason_name(report.reason));
        ck_assert_msg(strstr(report.summary != NULL ? report.summary : "", cases[i].summary) !=
                          NULL,
                      "%s: %s", cases[i].name, report.summary);
        ck_assert_int_eq(report.verdict, hone_reason_row(report.reason)->verdict);
        bench_close(&b);
    }
}
END_TEST

/* ---- claims ---- */

struct claim {
    double ratio, low, high, gain, worst;
    double small, large;           /* ratios of the workloads */
    double small_time, large_time; /* medians of the candidate; the baseline has 1000 and 4000 */
    double n_workloads, n_bad;
};

static const struct claim honest = {.ratio = 2,
                                    .low = 1.9,
                                    .high = 2.1,
                                    .gain = 0.01,
                                    .worst = 1,
                                    .small = 1,
                                    .large = 4,
                                    .small_time = 1000,
                                    .large_time = 1000,
                                    .n_workloads = 2};

#define TO(member_, value_)                                                                        \
    {                                                                                              \
        offsetof(struct claim, member_), value_                                                    \
    }

static const struct lie {
    const char *name, *problem; /* "": accepted */
    struct {
        size_t at;
        double to;
    } changes[3];
    const char *word; /* NULL: faster */
} lies[] = {
    {"honest", "", {TO(ratio, 2)}, NULL},
    {"mean", "mean of its workloads", {TO(ratio, 2.2), TO(low, 2.1), TO(high, 2.3)}, NULL},
    {"below one", "mean of its workloads", {TO(ratio, 0.5), TO(ratio, 0.5), TO(ratio, 0.5)}, NULL},
    {"within noise", "above what can be claimed", {TO(gain, 0.95), TO(n_bad, 0)}, NULL},
    {"no noise", "above what can be claimed", {TO(gain, -1), TO(n_bad, 0)}, NULL},
    {"unknown noise", "above what can be claimed", {TO(gain, NAN), TO(n_bad, 0)}, NULL},
    {"word", "above what can be claimed", {TO(ratio, 2)}, "same"},
    {"loser", "is at 0.5", {TO(small, 0.5), TO(large, 8), TO(worst, 0.5)}, NULL},
    {"least", "least ratio", {TO(worst, 1.5), TO(n_bad, 0)}, NULL},
    {"by time", "by time", {TO(large_time, 4000), TO(n_bad, 0)}, NULL},
    {"no time", "by time", {TO(large_time, NAN), TO(n_bad, 0)}, NULL},
    {"one of two", "only 1 workloads", {TO(n_workloads, 1), TO(n_bad, 0)}, NULL},
    {"wrong values", "found 3 wrong", {TO(n_bad, 3), TO(n_bad, 3)}, NULL},
};

static void make_claim(const struct lie *lie, struct hone_pool *pool, struct hone_report *ret)
{
    struct claim changed = honest;
    const struct claim *c = &changed;
    for (size_t i = 0; i < HONE_COUNTOF(lie->changes); i++)
        if (lie->changes[i].to != 0 || lie->changes[i].at != 0)
            memcpy((char *)&changed + lie->changes[i].at, &lie->changes[i].to, sizeof(double));
    const double ratios[] = {c->small, c->large}, times[] = {c->small_time, c->large_time};
    struct hone_workload_report *loads = hone_pool_alloc(pool, 2 * sizeof *loads);
    struct hone_ratio *all = hone_pool_alloc(pool, 3 * sizeof *all);
    struct hone_check_report *check = hone_pool_alloc(pool, sizeof *check);

    for (size_t i = 0; i < 2; i++) {
        struct hone_arm_time *time = hone_pool_alloc(pool, 2 * sizeof *time);
        time[0] = (struct hone_arm_time){.arm = "candidate", .median_ns = times[i]};
        time[1] = (struct hone_arm_time){.arm = "baseline", .median_ns = i == 0 ? 1000 : 4000};
        all[i] = (struct hone_ratio){.against = "baseline",
                                     .ratio = ratios[i],
                                     .low = ratios[i] * 0.99,
                                     .high = ratios[i] * 1.01};
        loads[i] = (struct hone_workload_report){
            .id = wanted[i], .times = {time, 2}, .ratios = {&all[i], 1}};
    }
    all[2] = (struct hone_ratio){.against = "baseline",
                                 .ratio = c->ratio,
                                 .low = c->low,
                                 .high = c->high,
                                 .least_gain = c->gain,
                                 .word = lie->word != NULL ? lie->word : "faster"};
    *check = (struct hone_check_report){.name = "verify", .n_bad = (int64_t)c->n_bad};
    *ret = (struct hone_report){.format = 1,
                                .id = "call1",
                                .tier = HONE_TIER_DECIDE,
                                .target = "cpu",
                                .reason = HONE_REASON_FASTER,
                                .verdict = HONE_VERDICT_FASTER,
                                .checks = {check, 1},
                                .workloads = {loads, (size_t)c->n_workloads},
                                .ratios = {&all[2], 1},
                                .worst_ratio = c->worst};
}

START_TEST(claims_hold_together)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(lies); i++) {
        struct hone_report report;
        struct hone_err err = HONE_ERR_INIT;

        make_claim(&lies[i], pool, &report);
        int rc = hone_report_answers(&report, &job, &err);
        ck_assert_msg((rc == 0) == (lies[i].problem[0] == '\0'), "%s: %s", lies[i].name,
                      err.message);
        ck_assert_msg(strstr(err.message, lies[i].problem) != NULL, "%s: %s", lies[i].name,
                      err.message);
    }
    struct hone_job less = job;
    struct hone_report report;
    struct hone_err err = HONE_ERR_INIT;
    make_claim(&lies[0], pool, &report);
    less.stages.n = 2;
    ck_assert_int_eq(hone_report_answers(&report, &less, &err), HONE_E_CORRUPT);
    less = job;
    less.arms.n = 1;
    ck_assert_int_eq(hone_report_answers(&report, &less, &err), HONE_E_CORRUPT);
}
END_TEST

/* Callers use the settings that come back: they must be those that were sent, in their order. */
START_TEST(settings_are_ours)
{
    static struct hone_tunable sent[] = {{"TILE", 8}, {"TILE", 16}}, other = {"TILE", 17};
    static const char *plugin = "-fplugin=x.so";
    struct hone_point points[] = {{.tunables = {&sent[0], 1}}, {.tunables = {&sent[1], 1}}};
    struct hone_point_report rows[] = {{.tunables = {&sent[0], 1}, .reason = HONE_REASON_SCREENED},
                                       {.tunables = {&sent[1], 1}, .reason = HONE_REASON_SCREENED},
                                       {.tunables = {&other, 1}, .reason = HONE_REASON_SCREENED},
                                       {.tunables = {&sent[0], 1},
                                        .flags = {.v = &plugin, .n = 1},
                                        .reason = HONE_REASON_SCREENED}};
    const struct {
        size_t first, n;
        int code;
    } tries[] = {{0, 0, 0},
                 {0, 1, 0},
                 {0, 2, 0},
                 {1, 1, HONE_E_CORRUPT},
                 {2, 1, HONE_E_CORRUPT},
                 {3, 1, HONE_E_CORRUPT},
                 {0, 3, HONE_E_CORRUPT}};
    struct hone_job sweep = job;
    sweep.points = (struct hone_array){points, 2};
    for (size_t i = 0; i < HONE_COUNTOF(tries); i++) {
        struct hone_report report = {.id = "call1",
                                     .tier = HONE_TIER_DECIDE,
                                     .target = "cpu",
                                     .reason = HONE_REASON_SCREENED,
                                     .points = {&rows[tries[i].first], tries[i].n}};
        ck_assert_msg(hone_report_answers(&report, &sweep, NULL) == tries[i].code, "try %zu", i);
    }
}
END_TEST

struct seen {
    int n;
    char message[64];
    double done;
};

static void see(void *arg, const struct hone_progress *progress)
{
    struct seen *seen = arg;

    seen->n++;
    seen->done = progress->done;
    snprintf(seen->message, sizeof(seen->message), "%s", progress->message);
}

START_TEST(progress_lines)
{
    struct hone_report report = {.reason = HONE_REASON_NONE};
    struct hone_err err = HONE_ERR_INIT;
    struct seen seen = {.n = 0};
    struct bench b;

    bench_open(&b, "echo not json; echo '[1]'; echo "
                   "'{\"stage\":\"time\",\"done\":3,\"total\":9,\"message\":\"m512\"}'\n" SAYS(
                       "{" OURS ",\"reason\":\"built\"}"));
    ck_assert_int_eq(call(&b, see, &seen, NULL, &report, &err), 0);
    ck_assert_int_eq(seen.n, 1);
    ck_assert_str_eq(seen.message, "m512");
    ck_assert(seen.done > 2.5 && seen.done < 3.5);
    bench_close(&b);
}
END_TEST

static void *set_later(void *arg)
{
    struct timespec wait = {.tv_nsec = 200000000};

    nanosleep(&wait, NULL);
    hone_cancel_set(arg);
    return NULL;
}

START_TEST(cancel_kills)
{
    struct hone_report report = {.reason = HONE_REASON_NONE};
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *path = NULL;
    HONE_AUTOFREE char *text = NULL;
    struct hone_cancel cancel;
    pthread_t thread;
    struct bench b;
    size_t len;

    bench_open(&b, "sleep 100 & echo $! > child; trap '' TERM INT; sleep 100");
    path = hone_path_join(b.dir, "child", NULL);
    ck_assert_int_eq(hone_cancel_init(&cancel, &err), 0);
    int64_t start = hone_now_ns();
    ck_assert_int_eq(pthread_create(&thread, NULL, set_later, &cancel), 0);
    ck_assert_int_eq(call(&b, NULL, NULL, &cancel, &report, &err), HONE_E_CANCEL);
    ck_assert_msg(hone_now_ns() - start < 3 * HONE_NS_PER_S, "took %lld ms",
                  (long long)((hone_now_ns() - start) / 1000000));
    pthread_join(thread, NULL);
    ck_assert_int_eq(hone_file_read(path, 100, &text, &len, &err), 0);
    ck_assert_msg(kill((pid_t)strtol(text, NULL, 10), 0) < 0,
                  "the runner's child %s is still alive", text);
    hone_cancel_done(&cancel);
    bench_close(&b);
}
END_TEST

START_TEST(missing_runner)
{
    struct hone_executor *executor;
    struct hone_err err = HONE_ERR_INIT;

    ck_assert_int_eq(hone_exec_local_new("/nowhere/hone-runner", &executor, &err),
                     HONE_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "/nowhere/hone-runner"));
}
END_TEST

START_TEST(odd_runner_paths)
{
    struct bench b;
    struct hone_report report;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_executor *executor = NULL;

    bench_open(&b, SAYS("{" OURS ",\"reason\":\"built\"}"));
    hone_executor_free(b.executor);
    b.executor = NULL;
    ck_assert_int_eq(hone_exec_local_new(b.dir, &executor, &err), HONE_E_ARG);
    ck_assert_int_eq(hone_exec_local_new("/etc/passwd", &executor, &err), HONE_E_ARG);
    ck_assert_ptr_nonnull(strstr(err.message, "no program"));
    ck_assert_int_eq(chdir(b.dir), 0);
    HONE_AUTOFREE char *call_dir = hone_path_join(b.dir, "call", NULL);
    ck_assert_int_eq(hone_mkdirs(call_dir, 0700, &err), 0);
    ck_assert_msg(hone_exec_local_new("./runner", &b.executor, &err) == 0, "%s", err.message);
    ck_assert_int_eq(b.executor->run(b.executor->cookie, call_dir, &job, NULL, NULL, NULL, b.pool,
                                     &report, &err),
                     0);
    ck_assert_int_eq(report.reason,
                     HONE_REASON_BUILT); /* it runs in the call's folder all the same */
    bench_close(&b);
}
END_TEST

UNIT_MAIN("exec_local", runners, claims_hold_together, settings_are_ours, progress_lines,
          cancel_kills, missing_runner, odd_runner_paths)
