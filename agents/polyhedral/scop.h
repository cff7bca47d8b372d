/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of loop nests in C as sets and relations: which statement runs for which values of its
 * counters, what it reads and writes, and in what order. Such a run is a static control part (SCoP,
 * Feautrier, "Dataflow analysis of array and scalar references", 1991).
 *
 *     struct hone_scop *runs;
 *     size_t n = hone_scops(&in, &runs);                  one for each run of the function
 *     const char *text = hone_order_text(&in, &runs[0], HONE_ORDER_VECTOR);   (order.h)
 *
 * A run is a row of statements beside one another, loops among them, whose bounds are sums of
 * counters and sizes, and may count down. A statement that cannot be taken apart is one piece: all of its loops and
 * locals stay inside. A subscript that is no sum of counters and sizes stands for the whole array,
 * so that every relation covers what really happens. Pointers of different parameters are taken to
 * be apart, as by every rewrite.
 *
 * Texts are in isl's notation and live in the input's pool. */
#ifndef HONE_AGENTS_SCOP_H
#define HONE_AGENTS_SCOP_H

#include "agents/source/site.h"

enum {
    HONE_SCOP_MAX_DEPTH = 6,
    HONE_SCOP_MAX_STATEMENTS = 24,
    HONE_SCOP_MAX_RUNS = 8,
    HONE_SCOP_MAX_UPDATES = 4,     /* operators of one run */
    HONE_SCOP_MAX_FACTOR = 1 << 20 /* of a counter or a size; isl takes minutes for larger ones */
};

struct hone_scop_statement { /* named S0, S1, ... in the texts, in source order */
    const struct hone_c_node *node;
    size_t depth;
    const struct hone_c_loop *loops[HONE_SCOP_MAX_DEPTH]; /* outermost first: its counters */
    int at[HONE_SCOP_MAX_DEPTH + 1]; /* its place in each block on the way down to it */
    const char *when;                /* " and i < k": the part of its runs that this is; "" */
};

struct hone_scop {
    uint32_t begin, end; /* of the source, last ';' included */
    const struct hone_c_node *first;
    size_t depth; /* of the deepest statement */
    size_t n;
    struct hone_scop_statement statements[HONE_SCOP_MAX_STATEMENTS];
    const char *names; /* "[N] -> " */
    const char *domain, *reads, *writes;
    /* What updates (update.h) read and write at once, a relation for each operator; not among the
     * reads and writes above. Two of one relation may change places. */
    const char *updates[HONE_SCOP_MAX_UPDATES];
    size_t n_updates;
    /* "[N] -> { S0[i,j,k] -> A1[i,j] }" for each access whose place is known; neighbours in memory
     * differ in the last dimension. */
    const char **places;
    size_t n_places;
    /* The same with statements cut where two of their accesses meet, as P[i][j] and P[k][j] do for
     * i = k; NULL: nowhere. What is left and right of there may be independent. */
    struct hone_scop *cut;
};

/* When each statement runs: "[N] -> { S0[i,j] -> [0,i,0,j,1] }", with "-i" where i counts down.
 * loops: for each statement an order of its counters, outermost first; NULL: as written. */
const char *hone_scop_order(const struct hone_coder_input *in, const struct hone_scop *scop,
                            const size_t (*loops)[HONE_SCOP_MAX_DEPTH]);
/* Runs with at least two loops inside of one another, in source order; *ret in the pool. */
size_t hone_scops(const struct hone_coder_input *in, struct hone_scop **ret);
/* The same with at least `depth` loops. */
size_t hone_scops_from(const struct hone_coder_input *in, size_t depth, struct hone_scop **ret);

#endif
