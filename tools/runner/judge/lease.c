/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/judge/lease.h"
#include "tools/format/lease_file.h"
#include "tools/runner/jail/stopping.h"
#include "tools/runner/judge/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define SLICE_NS (1 * HONE_NS_PER_S) /* between two words about it */
#define TOLD_NS  (1 * HONE_NS_PER_S) /* shorter waits are not worth a warning */

static void say(const struct hone_judge *judge, int64_t start_ns, int64_t most_ns,
                const char *holder)
{
    HONE_AUTOFREE char *text = hone_sprintf("waiting for the timing lease, held by %s", holder);
    hone_judge_progress(judge, "lease", "", (hone_now_ns() - start_ns) / HONE_NS_PER_S,
                        most_ns / HONE_NS_PER_S, text);
}

/* In slices, so that a stop is heard and the holder's name stays true. */
static int wait(const struct hone_judge *judge, const char *path, int64_t start_ns, int64_t most_ns,
                char holder[HONE_LEASE_HOLDER_BYTES], int *ret_fd, struct hone_err *err)
{
    int64_t deadline = start_ns + most_ns;
    int code = hone_lock_file(path, 0, ret_fd, err);
    if (code == HONE_E_BUSY)
        hone_lease_wait(path, judge->job, judge->task->name);
    while (code == HONE_E_BUSY && hone_now_ns() < deadline) {
        if (hone_runner_is_stopping()) {
            code = hone_fail(err, HONE_E_CANCEL, "stopped while waiting for the timing lease");
            break;
        }
        hone_lease_holder(path, holder, HONE_LEASE_HOLDER_BYTES);
        say(judge, start_ns, most_ns, holder);
        code = hone_lock_file(path, hone_min_i64(deadline, hone_now_ns() + SLICE_NS), ret_fd, err);
    }
    hone_lease_stop_waiting(path);
    return code;
}

int hone_lease_take(struct hone_judge *judge, int *ret_fd, struct hone_err *err)
{
    char holder[HONE_LEASE_HOLDER_BYTES] = "another process";
    const struct hone_job *job = judge->job;
    int64_t start = hone_now_ns();
    int64_t most =
        (job->lease_wait_ms > 0 ? job->lease_wait_ms : HONE_JOB_LEASE_MS) * HONE_NS_PER_MS;
    *ret_fd = -1;
    if (job->lease_path == NULL)
        return 0;
    const struct hone_target *target = judge->target;
    bool has_device = target != NULL && target->device != NULL;
    HONE_AUTOFREE char *path =
        hone_lease_path(job->lease_path, has_device ? target->device(judge) : NULL);
    int code = wait(judge, path, start, most, holder, ret_fd, err);
    int64_t waited = hone_now_ns() - start;
    judge->waited_ns += waited;
    judge->deadline_ns += waited;
    judge->finish_ns += judge->finish_ns > 0 ? waited : 0;
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
