/* SPDX-License-Identifier: Apache-2.0 */
/* What limits a kernel on target cpu: rules over the facts of one profile.
 *
 * Where other processes took the cores, that is the first cause: a rule that reads a slow call as
 * the kernel's own fault is left out then, and one that stands on the source as well says that its
 * time was measured under load. Pure; any thread. */
#ifndef HONE_RUNNER_CPU_BOTTLENECK_H
#define HONE_RUNNER_CPU_BOTTLENECK_H

#include "tools/format/report.h"

struct hone_cpu_facts { /* of one call on the profiled workload */
    double call_ns, cpu_ns;
    double flops, bytes;             /* by the task's formulas */
    double flops_share, bytes_share; /* of the ceilings, 0..1 */
    bool is_flops_counted;           /* flops: from the loops of the task's source; the task tells
                                        none. NaN, with its share: not known */
    double threads_busy;
    double ipc, miss_rate; /* NaN without counters */
    double n_threads;      /* allowed */
    double slowdown;       /* times as long for others' sake, at most; 1: not at all */
    double others, n_cores;
    const struct hone_remark *remarks; /* of the hot loop; of all loops where it is not known */
    size_t n_remarks;
    bool is_hot_vector; /* the hot loop computes with vectors, by hand or not */
};

/* Of hone_bottleneck, worst first, in the pool; never empty. */
void hone_cpu_bottlenecks(const struct hone_cpu_facts *f, struct hone_pool *pool,
                          struct hone_array *ret);

#endif
