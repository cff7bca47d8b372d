/* The local executor against runners that crash, lie, hang and shout: shell scripts in place of
 * hone-runner. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/executor.h"
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

static const struct hone_job job = {
    .format = 1, .id = "call1", .target = "cpu", .tier = "decide", .timeout_ms = 20000};

static int call(struct bench *b, hone_progress_fn *on_progress, void *arg,
                const struct hone_cancel *cancel, struct hone_report *ret, struct hone_err *err)
{
    return b->executor->run(b->executor->cookie, b->dir, &job, on_progress, arg, cancel, b->pool,
                            ret, err);
}

#define SAYS(text) "cat > report.json <<'E'\n" text "\nE"

static const struct {
    const char *name, *script, *reason, *summary;
} cases[] = {
    {"good", SAYS("{\"format\":1,\"id\":\"call1\",\"tier\":\"decide\",\"reason\":\"built\"}"),
     "built", ""},
    {"good with status", SAYS("{\"format\":1,\"id\":\"call1\",\"reason\":\"crash\"}") "\nexit 1",
     "crash", ""},
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
         "{\"format\":1,\"reason\":\"built\"}"),
     "built", ""},
};

START_TEST(runners)
{
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct hone_report report = {.reason = NULL};
        struct hone_err err = HONE_ERR_INIT;
        struct bench b;

        bench_open(&b, cases[i].script);
        ck_assert_msg(call(&b, NULL, NULL, NULL, &report, &err) == 0, "%s: %s", cases[i].name,
                      err.message);
        ck_assert_msg(strcmp(report.reason, cases[i].reason) == 0, "%s: %s", cases[i].name,
                      report.reason);
        ck_assert_msg(strstr(report.summary != NULL ? report.summary : "", cases[i].summary) !=
                          NULL,
                      "%s: %s", cases[i].name, report.summary);
        ck_assert_str_eq(report.verdict, report.reason[0] == 'c' ? "failed" : report.reason);
        bench_close(&b);
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
    struct hone_report report = {.reason = NULL};
    struct hone_err err = HONE_ERR_INIT;
    struct seen seen = {.n = 0};
    struct bench b;

    bench_open(&b, "echo not json; echo '[1]'; echo "
                   "'{\"stage\":\"time\",\"done\":3,\"total\":9,\"message\":\"m512\"}'\n" SAYS(
                       "{\"format\":1,\"reason\":\"built\"}"));
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
    struct hone_report report = {.reason = NULL};
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

    bench_open(&b, SAYS("{\"format\":1,\"id\":\"call1\",\"reason\":\"built\"}"));
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
    ck_assert_str_eq(report.reason, "built"); /* it runs in the call's folder all the same */
    bench_close(&b);
}
END_TEST

UNIT_MAIN("exec_local", runners, progress_lines, cancel_kills, missing_runner, odd_runner_paths)
