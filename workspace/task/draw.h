/* SPDX-License-Identifier: Apache-2.0 */
/* What draw.c and range.c share: chance from a key, legal values, what a size costs beside the
 * public ones. Nobody else includes it. */
#ifndef HONE_TASK_DRAW_H
#define HONE_TASK_DRAW_H

#include "workspace/base/rng.h"
#include "workspace/task/task_internal.h"

#define HONE_DRAW_MARGIN 1.10 /* times the most expensive public size */
#define HONE_DRAW_CHEAP  0.125

struct hone_draw_rng {
    const uint8_t *key;
    uint64_t stream, counter;
};

struct hone_draw_cost {
    double flops, bytes;
};

static inline int64_t hone_draw_roll(struct hone_draw_rng *rng, int64_t n) /* 0..n-1 */
{
    return (int64_t)(hone_rng_u64(rng->key, rng->stream, rng->counter++) % (uint64_t)n);
}

/* The nearest legal value of one axis, constraints aside. */
int64_t hone_draw_legal(const struct hone_axis *axis, int64_t value);
/* A whole number between the two, each octave as likely as another. */
int64_t hone_draw_between(struct hone_draw_rng *rng, double low, double high);
/* Of a size; negative: a formula has no value there. */
int hone_draw_cost(const struct hone_task *task, const struct hone_workload *w,
                   struct hone_draw_cost *ret);
/* The dearest public size's, each figure for itself. */
struct hone_draw_cost hone_draw_top(const struct hone_task *task);
/* There is something to do, and it costs at most this share of the dearest public size (shares
 * below 1: or as little as an edge). */
bool hone_draw_is_affordable(const struct hone_task *task, const struct hone_workload *w,
                             double share);
bool hone_draw_is_public(const struct hone_task *task, const struct hone_workload *w);

#endif
