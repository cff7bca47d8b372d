/* SPDX-License-Identifier: Apache-2.0 */
/* A run's dependences as isl's relations: what order.c, order_loops.c and order_print.c share.
 *
 *     struct hone_order_model m;
 *     if (hone_order_open(&m, in, scop)) ...
 *     hone_order_close(&m);                             in any case */
#ifndef HONE_AGENTS_ORDER_MODEL_H
#define HONE_AGENTS_ORDER_MODEL_H

#include <isl/ctx.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

#include "agents/polyhedral/scop.h"

struct hone_order_model {
    const struct hone_coder_input *in;
    const struct hone_scop *scop;
    isl_ctx *ctx;
    isl_union_set *domain;
    isl_union_map *depends; /* what threads and vectors must keep */
    isl_union_map *needed;  /* what an order must keep: updates of one element may change places */
};

bool hone_order_open(struct hone_order_model *m, const struct hone_coder_input *in,
                     const struct hone_scop *scop);
void hone_order_close(struct hone_order_model *m);
/* A relation in isl's notation, of the run's own statements. */
isl_union_map *hone_order_map(const struct hone_order_model *m, const char *text);
/* From one element to the next that an access touches: 1 for its neighbour, 0 for itself, -2 for
 * any other. steps: from a run of a statement to the next one; kept. place: given away. */
int hone_order_move(isl_union_map *place, isl_union_map *steps);
/* Accesses of a statement that move to a neighbour with each step of a counter, less those that
 * move further. */
int hone_order_strides(const struct hone_order_model *m, size_t statement, size_t counter);

#endif
