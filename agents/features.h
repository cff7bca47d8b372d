/* What is known about a version, as numbers with a present flag: from its text, from its last
 * report, from the machine.
 *
 * An absent feature makes a predicate "unknown", which forbids nothing. */
#ifndef HONE_AGENTS_FEATURES_H
#define HONE_AGENTS_FEATURES_H

#include "agents/coder_rules.h"
#include "tools/format/report.h"
#include "workspace/task/task.h"

enum hone_feature_id {
    /* text */
    HONE_F_LOOP_DEPTH,
    HONE_F_FAR_INNER,      /* accesses of innermost loops that stride */
    HONE_F_UNIT_INNER,     /* accesses of innermost loops at unit stride */
    HONE_F_INDIRECT,       /* accesses through another array */
    HONE_F_REUSE,          /* accesses that an outer loop repeats */
    HONE_F_CHAINS,         /* innermost reductions with one accumulator */
    HONE_F_PARALLEL_LOOPS, /* outermost loops with independent iterations */
    HONE_F_IS_THREADED,
    HONE_F_IS_SIMD,     /* omp simd or vector types are there */
    HONE_F_PLAIN_INNER, /* innermost loops without a vector pragma */
    HONE_F_MATH_CALLS,  /* scalar math calls in loops */
    HONE_F_COPIES,      /* memcpy inside a loop */
    HONE_F_ALLOCATIONS, /* malloc inside the function */
    HONE_F_DIVISIONS,   /* / and % inside innermost loops */
    HONE_F_BRANCHES,    /* if and ?: inside innermost loops */
    HONE_F_PASSES,      /* loops beside each other with the same parent */
    HONE_F_TUNABLES,
    /* task */
    HONE_F_INTENSITY,   /* flops per compulsory byte */
    HONE_F_WORKING_SET, /* bytes of the largest workload */
    /* machine and report */
    HONE_F_CORES,
    HONE_F_THREADS_BUSY, /* cpu time / wall time */
    HONE_F_PERCENT_OF_BOUND,
    HONE_F_BOUND_IS_BYTES,
    HONE_F_NS,         /* geometric mean of one call */
    HONE_F_VECTORIZED, /* remarks: loops that the compiler vectorised */
    HONE_F_MISSED,     /* and that it did not */
    HONE_N_FEATURES
};

struct hone_feature {
    bool is_present;
    double value;
};
struct hone_features {
    struct hone_feature v[HONE_N_FEATURES];
};

const char *hone_feature_name(enum hone_feature_id id);
/* report may be NULL. */
void hone_features_of(const struct hone_coder_input *in, const struct hone_task *task,
                      const struct hone_report *report, struct hone_features *ret);
double hone_feature_or(const struct hone_features *f, enum hone_feature_id id, double fallback);
/* "threads_busy=1.0 cores=2", the named ones that are present; in the pool. */
const char *hone_features_text(const struct hone_features *f, const enum hone_feature_id *ids,
                               size_t n, struct hone_pool *pool);

#endif
