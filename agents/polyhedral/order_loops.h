/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that differ from the text in the order of one statement's own counters: k outside of j in
 * a sum over k, while all statements beside it stay where they are. isl's scheduler does not look
 * for them: they need not be bands that may be swapped. */
#ifndef HONE_AGENTS_ORDER_LOOPS_H
#define HONE_AGENTS_ORDER_LOOPS_H

#include "agents/polyhedral/order.h"

/* False: no such order has shorter strides inside. */
bool hone_order_loops(const struct hone_coder_input *in, const struct hone_scop *scop,
                      struct hone_order_result *ret);

#endif
