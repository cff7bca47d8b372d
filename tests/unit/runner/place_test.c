/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads of an arena wake: those that were there keep a core each, those made meanwhile are
 * free. A child process stands in for the arena. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/runner/arena/place.h"

enum { MOST = 8 };

struct child {
    pid_t pid;
    int ask, answer;
};

static void *sleep_on(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* One thread more for each byte that is asked for. */
static void serve(int ask, int answer)
{
    char byte;
    while (read(ask, &byte, 1) == 1) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, sleep_on, NULL) != 0 || write(answer, &byte, 1) != 1)
            break;
    }
    _exit(0);
}

static struct child start(void)
{
    int ask[2], answer[2];
    ck_assert_int_eq(pipe(ask), 0);
    ck_assert_int_eq(pipe(answer), 0);
    struct child child = {fork(), ask[1], answer[0]};
    ck_assert_int_ge(child.pid, 0);
    if (child.pid == 0) {
        close(ask[1]);
        serve(ask[0], answer[1]);
    }
    close(ask[0]);
    close(answer[1]);
    return child;
}

static void add_thread(const struct child *child)
{
    char byte = 't';
    ck_assert_int_eq(write(child->ask, &byte, 1), 1);
    ck_assert_int_eq(read(child->answer, &byte, 1), 1);
}

/* Cores that each thread may run on. */
static int count_cores(const struct child *child, int ret[MOST])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)child->pid);
    DIR *folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && n < MOST;) {
        cpu_set_t set;
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0 && sched_getaffinity(thread, sizeof set, &set) == 0)
            ret[n++] = CPU_COUNT(&set);
    }
    closedir(folder);
    return n;
}

static void stop(const struct child *child)
{
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    close(child->ask);
    close(child->answer);
}

START_TEST(threads_made_meanwhile_are_free)
{
    struct hone_place place;
    struct child child = start();
    int n[MOST];
    hone_place_init(&place);
    ck_assert_int_eq(hone_place_pin(&place, child.pid), 0); /* nowhere in particular yet */
    ck_assert_int_eq(hone_place_pin(NULL, child.pid), 0);
    add_thread(&child);
    hone_place_move(&place, 1);
    if (place.n_cores >= 2) {
        ck_assert_int_eq(hone_place_pin(&place, child.pid), 2);
        ck_assert_int_eq(count_cores(&child, n), 2);
        ck_assert_int_eq(n[0], 1);
        ck_assert_int_eq(n[1], 1);
        add_thread(&child); /* inherits the first one's place */
        ck_assert_int_eq(count_cores(&child, n), 3);
        ck_assert_int_eq(n[2], 1);
        hone_place_free(&place, child.pid, 2);
        ck_assert_int_eq(count_cores(&child, n), 3);
        ck_assert_int_eq(n[0], place.n_cores);
        ck_assert_int_eq(n[1], 1); /* of the team: stays */
        ck_assert_int_eq(n[2], place.n_cores);
    }
    hone_place_done(&place);
    stop(&child);
    hone_place_free(&place, child.pid, 3); /* it is gone: nothing happens */
}
END_TEST

UNIT_MAIN("place", threads_made_meanwhile_are_free)
