/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/machine/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint64_t config;
} events[HONE_PERF_MAX] = {
    {"cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    {"cache_references", PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache_misses", PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch_misses", PERF_COUNT_HW_BRANCH_MISSES},
};

static int open_event(pid_t pid, uint64_t config)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attr,
        .config = config,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int explain(int native, struct hone_err *err)
{
    if (native == EACCES || native == EPERM)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "hardware counters are not allowed (%s): set kernel.perf_event_paranoid "
                         "to 1 or less, or give CAP_PERFMON",
                         strerror(native));
    if (native == ENOENT || native == EOPNOTSUPP || native == ENODEV)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "this machine has no hardware counters (%s): a virtual machine needs its "
                         "host to expose the PMU",
                         strerror(native));
    return hone_fail(err, HONE_E_UNSUPPORTED, "hardware counters cannot be opened: %s",
                     strerror(native));
}

int hone_perf_open(pid_t pid, struct hone_perf *ret, struct hone_err *err)
{
    int native = 0;
    size_t n_open = 0;
    struct hone_perf perf;
    for (size_t i = 0; i < HONE_PERF_MAX; i++) {
        perf.fds[i] = open_event(pid, events[i].config);
        if (perf.fds[i] < 0 && native == 0)
            native = errno;
        n_open += perf.fds[i] >= 0;
    }
    if (n_open == 0)
        return explain(native, err);
    *ret = perf;
    return 0;
}

size_t hone_perf_read(const struct hone_perf *perf, struct hone_perf_value ret[HONE_PERF_MAX])
{
    for (size_t i = 0; i < HONE_PERF_MAX; i++) {
        uint64_t v[3] = {0}; /* count, enabled, running */
        ret[i] = (struct hone_perf_value){.name = events[i].name, .value = (double)NAN};
        if (perf->fds[i] >= 0 && read(perf->fds[i], v, sizeof v) == (ssize_t)sizeof v && v[2] > 0)
            ret[i].value = (double)v[0] * ((double)v[1] / (double)v[2]);
    }
    return HONE_PERF_MAX;
}

void hone_perf_close(struct hone_perf *perf)
{
    for (size_t i = 0; i < HONE_PERF_MAX; i++)
        hone_close_fd(&perf->fds[i]);
}
