/* SPDX-License-Identifier: Apache-2.0 */
/* Signals as a callback. Each test is a process of its own (Check forks), so that a signal hits
 * nobody else. */
#include "server/stop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static void count(void *arg)
{
    char byte = 's';
    ck_assert_int_eq(write(*(int *)arg, &byte, 1), 1);
}

/* Bytes that the callback wrote, n of them. */
static void expect(int fd, int n)
{
    char byte;
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(read(fd, &byte, 1), 1);
}

START_TEST(each_signal_is_told)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    int fds[2];
    struct hone_err err = HONE_ERR_INIT;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct hone_stop *stop = NULL;
        ck_assert_int_eq(pipe(fds), 0);
        hone_stop_block();
        ck_assert_int_eq(hone_stop_watch(count, &fds[1], &stop, &err), 0);
        ck_assert_int_eq(kill(getpid(), signals[i]), 0);
        expect(fds[0], 1);
        hone_stop_free(stop);
        close(fds[0]);
        close(fds[1]);
    }
    hone_stop_free(NULL);
}
END_TEST

/* A signal before the watch waits for it. */
START_TEST(an_early_signal_waits)
{
    int fds[2];
    struct hone_err err = HONE_ERR_INIT;
    struct hone_stop *stop = NULL;
    ck_assert_int_eq(pipe(fds), 0);
    hone_stop_block();
    ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
    ck_assert_int_eq(hone_stop_watch(count, &fds[1], &stop, &err), 0);
    expect(fds[0], 1);
    hone_stop_free(stop);
}
END_TEST

/* The third one ends a process whose callback does nothing about it. */
START_TEST(the_third_signal_ends_it)
{
    int fds[2], status = 0;
    char byte;
    ck_assert_int_eq(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_stop *stop = NULL;
        hone_stop_block();
        if (hone_stop_watch(count, &fds[1], &stop, &err) != 0 || write(fds[1], "r", 1) != 1)
            _exit(9);
        for (;;)
            (void)pause();
    }
    close(fds[1]);
    ck_assert_int_eq(read(fds[0], &byte, 1), 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(kill(pid, SIGTERM), 0);
        ck_assert_int_eq(read(fds[0], &byte, 1), 1); /* told before the next comes */
    }
    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(!WIFEXITED(status) || WEXITSTATUS(status) != 9);
    close(fds[0]);
}
END_TEST

UNIT_MAIN("stop", each_signal_is_told, an_early_signal_waits, the_third_signal_ends_it)
