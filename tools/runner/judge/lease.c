/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/judge/lease.h"
#include "tools/runner/jail/stopping.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define SLICE_NS     (1 * HONE_NS_PER_S) /* between two words about it */
#define HOLDER_BYTES (HONE_LIMIT_HOLDER_BYTES + 32)
#define TOLD_NS      (1 * HONE_NS_PER_S) /* shorter waits are not worth a warning */

void hone_lease_sign(int fd, const struct hone_job *job, const char *task)
{
    char text[HONE_LIMIT_HOLDER_BYTES];
    int n = snprintf(text, sizeof text, "%d %.60s, %.20s, call %.40s\n", (int)getpid(), task,
                     job->tier != HONE_TIER_NONE ? hone_tier_name(job->tier) : "?",
                     job->id != NULL ? job->id : "?");
    size_t len = n > 0 ? (size_t)n : 0;
    /* A courtesy: who cannot write it holds the lease all the same. */
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, len < sizeof text ? len : sizeof text - 1, 0) < 0)
        return;
}

/* Words, points and the like: nothing that a terminal or a prompt could take for more. */
static void make_plain(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c > 126 || (!isalnum(c) && strchr(" ._-,:", c) == NULL))
            *at = ' ';
    }
    for (size_t len = strlen(text); len > 0 && text[len - 1] == ' '; len--)
        text[len - 1] = '\0';
}

void hone_lease_holder(const char *path, char *ret, size_t size)
{
    char text[HONE_LIMIT_HOLDER_BYTES] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    char *end = text;
    long pid = strtol(text, &end, 10);
    bool is_there =
        end != text && pid > 0 && pid < INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
    snprintf(ret, size, "another process");
    if (!is_there)
        return;
    end += strspn(end, " ");
    make_plain(end);
    snprintf(ret, size, "pid %ld (%s)", pid, end);
}

static void say(const struct hone_judge *judge, int64_t start_ns, int64_t most_ns,
                const char *holder)
{
    HONE_AUTOFREE char *text = hone_sprintf("waiting for the timing lease, held by %s", holder);
    hone_judge_progress(judge, "lease", "", (hone_now_ns() - start_ns) / HONE_NS_PER_S,
                        most_ns / HONE_NS_PER_S, text);
}

/* In slices, so that a stop is heard and the holder's name stays true. */
static int wait(const struct hone_judge *judge, int64_t start_ns, int64_t most_ns,
                char holder[HOLDER_BYTES], int *ret_fd, struct hone_err *err)
{
    const char *path = judge->job->lease_path;
    int64_t deadline = start_ns + most_ns;
    int code = hone_lock_file(path, 0, ret_fd, err);
    while (code == HONE_E_BUSY && hone_now_ns() < deadline) {
        if (hone_runner_is_stopping())
            return hone_fail(err, HONE_E_CANCEL, "stopped while waiting for the timing lease");
        hone_lease_holder(path, holder, HOLDER_BYTES);
        say(judge, start_ns, most_ns, holder);
        code = hone_lock_file(path, hone_min_i64(deadline, hone_now_ns() + SLICE_NS), ret_fd, err);
    }
    return code;
}

int hone_lease_take(struct hone_judge *judge, int *ret_fd, struct hone_err *err)
{
    char holder[HOLDER_BYTES] = "another process";
    const struct hone_job *job = judge->job;
    int64_t start = hone_now_ns();
    int64_t most =
        (job->lease_wait_ms > 0 ? job->lease_wait_ms : HONE_JOB_LEASE_MS) * HONE_NS_PER_MS;
    *ret_fd = -1;
    if (job->lease_path == NULL)
        return 0;
    int code = wait(judge, start, most, holder, ret_fd, err);
    int64_t waited = hone_now_ns() - start;
    judge->waited_ns += waited;
    judge->deadline_ns += waited;
    if (waited > HONE_NS_PER_MS)
        hone_judge_cost(judge, "lease", waited);
    if (code == HONE_E_BUSY)
        return hone_fail(err, HONE_E_BUSY,
                         "waited %.3g s for the timing lease, held by %s: one timing at a time",
                         (double)waited / 1e9, holder);
    if (code < 0)
        return hone_wrap(err, "the timing lease");
    hone_lease_sign(*ret_fd, job, judge->task->name);
    if (waited > TOLD_NS)
        hone_judge_warn(judge, "waited %.3g s for the timing lease, held by %s",
                        (double)waited / 1e9, holder);
    return 0;
}
