/* SPDX-License-Identifier: Apache-2.0 */
/* Other orders of a run of loop nests (scop.h) that compute the same: every pair of accesses to one
 * element of which one writes stays in its order. So results are the same bit for bit.
 *
 * The order comes from isl's scheduler (Verdoolaege, "isl: an integer set library for the
 * polyhedral model", ICMS 2010), which looks for bands of loops that may be swapped and tiled
 * (Bondhugula et al., "A practical automatic polyhedral parallelizer and locality optimizer",
 * PLDI 2008). Within a band hone puts the loop inside that runs along memory, and outside the one
 * that threads can share. One thread; no state; work is bounded by a number of isl's operations. */
#ifndef HONE_AGENTS_ORDER_H
#define HONE_AGENTS_ORDER_H

#include "agents/polyhedral/scop.h"

enum hone_order {
    HONE_ORDER_VECTOR, /* loops swapped, split or fused for unit stride inside, threads outside */
    HONE_ORDER_ROWS,   /* the same for one thread: what is written stays near around the stride */
    HONE_ORDER_TILES,  /* blocks of the outermost band, in a wavefront where they depend */
    HONE_N_ORDERS
};

struct hone_order_result {
    const char *text;   /* what stands in the run's place, in the pool */
    const char *before; /* functions that the text calls, for the place before the function; "" */
    size_t n_threaded;  /* loops that threads share */
    size_t n_vector;    /* innermost loops whose iterations are independent */
    bool is_strided;    /* does an innermost loop stride less than before? */
    bool is_skewed;     /* are blocks cut across two counters, as those of time and place? */
};

struct hone_orders { /* of all runs of an input */
    struct hone_scop *runs;
    size_t n;
    struct hone_order_result results[HONE_SCOP_MAX_RUNS][HONE_N_ORDERS]; /* text NULL: none */
};

/* What is known of an input's runs: looked for when it is first asked, kept with the input. */
const struct hone_orders *hone_orders_of(const struct hone_coder_input *in);
/* One run. False: no order was found within the bound, or it is no other one. */
bool hone_order_of(const struct hone_coder_input *in, const struct hone_scop *scop,
                   enum hone_order order, struct hone_order_result *ret);
/* Is a set in isl's notation empty? False also when that was not found out. */
bool hone_order_is_empty(const char *set);

#endif
