/* SPDX-License-Identifier: Apache-2.0 */
/* The runner that stays, played by shell scripts: jobs in turn in one process, death, hang, cancel.
 */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/launch/warm.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

struct bench {
    char dir[64];
    struct hone_warm *warm;
    char message[100];
};

static void bench_open(struct bench *b, const char *body)
{
    HONE_AUTOFREE char *text =
        hone_sprintf("#!/bin/sh\nwhile read -r job <&3; do\n%s\ndone\n", body);
    HONE_AUTOFREE char *path = NULL;
    hone_process_init();
    *b = (struct bench){.dir = "/tmp/hone-warm-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(b->dir));
    path = hone_path_join(b->dir, "runner", NULL);
    ck_assert_int_eq(hone_file_write(path, text, strlen(text), 0700, false, NULL), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    b->warm = hone_warm_new(path, NULL);
}

static void bench_close(struct bench *b)
{
    hone_warm_free(b->warm);
    hone_remove_tree(b->dir, NULL);
}

static void on_progress(void *arg, const struct hone_progress *progress)
{
    struct bench *b = arg;
    snprintf(b->message, sizeof b->message, "%s", progress->message);
}

static int run(struct bench *b, const char *job, int64_t ms, const struct hone_cancel *cancel,
               struct hone_launch_end *ret)
{
    struct hone_err err = HONE_ERR_INIT;
    return hone_warm_run(b->warm, job, hone_deadline_in_ms(ms), on_progress, b, cancel, ret, &err);
}

#define SAY_PID  "echo \"{\\\"stage\\\":\\\"time\\\",\\\"message\\\":\\\"$$ $job\\\"}\""
#define SAY_DONE "echo '{\"stage\":\"done\"}'"

START_TEST(one_process_for_many_jobs)
{
    struct bench b;
    struct hone_launch_end end;
    char first[100];
    bench_open(&b, SAY_PID "; " SAY_DONE);
    ck_assert_int_eq(run(&b, "/a", 10000, NULL, &end), 0);
    ck_assert_int_eq(end.exit_status, 0);
    ck_assert_ptr_nonnull(strstr(b.message, " /a"));
    snprintf(first, sizeof first, "%.*s", (int)strcspn(b.message, " "), b.message);
    ck_assert_int_eq(run(&b, "/b", 10000, NULL, &end), 0);
    ck_assert_ptr_nonnull(strstr(b.message, " /b"));
    ck_assert_int_eq(strncmp(first, b.message, strlen(first)), 0);
    bench_close(&b);
}
END_TEST

/* Compilers and folders that the user chose reach the runner; all else stays here. */
START_TEST(variables_that_a_runner_sees)
{
    struct bench b;
    struct hone_launch_end end;
    setenv("HONE_CC", "/a", 1);
    setenv("HONE_CXX", "/b", 1);
    setenv("HONE_CUDA_INCLUDE", "/c", 1);
    setenv("HONE_TEST_SECRET", "secret", 1);
    bench_open(&b, "echo \"{\\\"stage\\\":\\\"time\\\",\\\"message\\\":\\\""
                   "$HONE_CC$HONE_CXX$HONE_CUDA_INCLUDE-$HONE_TEST_SECRET\\\"}\"; " SAY_DONE);
    ck_assert_int_eq(run(&b, "/a", 10000, NULL, &end), 0);
    ck_assert_str_eq(b.message, "/a/b/c-");
    bench_close(&b);
}
END_TEST

START_TEST(a_dead_runner_is_told_and_replaced)
{
    struct bench b;
    struct hone_launch_end end;
    bench_open(&b, "case $job in /die) echo broken >&2; exit 7;; esac; " SAY_DONE);
    ck_assert_int_eq(run(&b, "/die", 10000, NULL, &end), 0);
    ck_assert_int_ne(end.exit_status, 0);
    ck_assert_int_eq(end.exit_status, 7);
    ck_assert_ptr_nonnull(strstr(end.said, "broken"));
    ck_assert_int_eq(run(&b, "/live", 10000, NULL, &end), 0);
    ck_assert_int_eq(end.exit_status, 0);
    bench_close(&b);
}
END_TEST

START_TEST(a_hung_runner_ends_at_the_deadline)
{
    struct bench b;
    struct hone_launch_end end;
    bench_open(&b, "case $job in /hang) sleep 100;; esac; " SAY_DONE);
    int64_t start = hone_now_ns();
    ck_assert_int_eq(run(&b, "/hang", 300, NULL, &end), 0);
    ck_assert(end.timed_out);
    ck_assert_int_lt(hone_now_ns() - start, 20 * HONE_NS_PER_S);
    ck_assert_int_eq(run(&b, "/live", 10000, NULL, &end), 0);
    ck_assert_int_eq(end.exit_status, 0);
    bench_close(&b);
}
END_TEST

START_TEST(cancel_kills_it)
{
    struct bench b;
    struct hone_launch_end end;
    struct hone_cancel cancel;
    bench_open(&b, "sleep 100; " SAY_DONE);
    ck_assert_int_eq(hone_cancel_init(&cancel, NULL), 0);
    hone_cancel_set(&cancel);
    ck_assert_int_eq(run(&b, "/x", 50000, &cancel, &end), HONE_E_CANCEL);
    hone_cancel_done(&cancel);
    bench_close(&b);
}
END_TEST

START_TEST(no_program_is_an_error)
{
    struct hone_launch_end end;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_warm *warm = hone_warm_new("/nonexistent/runner", NULL);
    hone_process_init();
    ck_assert_int_lt(
        hone_warm_run(warm, "/x", hone_deadline_in_ms(10000), NULL, NULL, NULL, &end, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.message, "/nonexistent/runner"));
    hone_warm_free(warm);
}
END_TEST

UNIT_MAIN("exec_warm", one_process_for_many_jobs, variables_that_a_runner_sees,
          a_dead_runner_is_told_and_replaced, a_hung_runner_ends_at_the_deadline, cancel_kills_it,
          no_program_is_an_error)
