/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters of another process (perf_event_open), where the machine allows them. Runner
 * main thread. */
#ifndef HONE_RUNNER_PERF_H
#define HONE_RUNNER_PERF_H

#include <sys/types.h>
#include "workspace/base/err.h"

#define HONE_PERF_MAX 6

struct hone_perf {
    int fds[HONE_PERF_MAX]; /* -1: this one is not counted */
};
struct hone_perf_value {
    const char *name; /* "cycles", "instructions", "cache_references", "cache_misses", "branches",
                         "branch_misses" */
    double value;     /* scaled when counters were shared; NaN: not counted */
};
/* Counts in pid and the threads it makes from now on. HONE_E_UNSUPPORTED with the reason
 * and the fix. */
int hone_perf_open(pid_t pid, struct hone_perf *ret, struct hone_err *err);
size_t hone_perf_read(const struct hone_perf *perf, struct hone_perf_value ret[HONE_PERF_MAX]);
void hone_perf_close(struct hone_perf *perf);

#endif
