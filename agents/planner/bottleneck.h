/* SPDX-License-Identifier: Apache-2.0 */
/* What limits a version: a rule tree over features. The first rule that fires is the class; the
 * later ones are kept as well.
 *
 * A rule fires only on what its values show: a class that says more than they do misleads who reads
 * it (a model, a person).
 *
 * Order matters: causes before symptoms. Thresholds are starting points. Every answer carries the
 * rule's text and the values that fired. */
#ifndef HONE_AGENTS_BOTTLENECK_H
#define HONE_AGENTS_BOTTLENECK_H

#include "agents/planner/features.h"

enum hone_class {
    HONE_CLASS_NEAR_ROOF,
    HONE_CLASS_STRIDED,        /* the inner loop jumps through memory */
    HONE_CLASS_PARALLELISM,    /* cores are idle */
    HONE_CLASS_CALLS,          /* a scalar math call per element */
    HONE_CLASS_CHAIN,          /* additions wait for each other */
    HONE_CLASS_SCALAR,         /* not vectorised */
    HONE_CLASS_EXCESS_TRAFFIC, /* copies, repeated passes */
    HONE_CLASS_NO_REUSE,       /* operands are loaded again and again */
    HONE_CLASS_INDIRECT,
    HONE_CLASS_MEMORY,        /* bytes are the roof and it is near */
    HONE_CLASS_COMPUTE,       /* operations are the roof and it is near */
    HONE_CLASS_FAR_FROM_ROOF, /* they are, and it is not */
    /* cuda: the names that its profile uses; near_roof, parallelism_bound, excess_traffic and mixed
     * are shared */
    HONE_CLASS_LAUNCH_BOUND,
    HONE_CLASS_TAIL,
    HONE_CLASS_SPILL,
    HONE_CLASS_EXCESS_WORK,
    HONE_CLASS_UNCOALESCED,
    HONE_CLASS_SHARED_CONFLICT,
    HONE_CLASS_DRAM,
    HONE_CLASS_L2,
    HONE_CLASS_L1_SHARED,
    HONE_CLASS_TENSOR,
    HONE_CLASS_FMA,
    HONE_CLASS_XU,
    HONE_CLASS_ALU_INDEX,
    HONE_CLASS_DIVERGENCE,
    HONE_CLASS_BARRIER,
    HONE_CLASS_LATENCY_OCCUPANCY,
    HONE_CLASS_LATENCY_ILP,
    HONE_CLASS_MIXED,
    HONE_N_CLASSES
};

struct hone_finding {
    enum hone_class class_id;
    const char *rule;   /* constant text, or in the pool */
    const char *values; /* in the pool: "threads_busy=1 cores=2" */
};

const char *hone_class_name(enum hone_class class_id);
/* Fills in the rules of the target that fire, in order; at least one (mixed). Returns how many. */
size_t hone_bottlenecks(const char *target, const struct hone_features *f, struct hone_pool *pool,
                        struct hone_finding ret[HONE_N_CLASSES]);
/* What the profile says, in its order, with its rules and values; 0 when there is none. */
size_t hone_bottlenecks_of_report(const struct hone_report *report, struct hone_pool *pool,
                                  struct hone_finding ret[HONE_N_CLASSES]);

#endif
