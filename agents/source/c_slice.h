/* SPDX-License-Identifier: Apache-2.0 */
/* Do the iterations of a loop stay apart in an array?
 *
 * A subscript is a sum of products (c_nest.h): a part with the loop's counter, parts that no
 * iteration changes, counters of inner loops, a constant. Where the counter's factor is a number,
 * the answer is arithmetic: what is added reaches less far than a step. Where it is a name (a row's
 * length), inner counters whose bounds are a fixed distance from it are held to the row. Others are
 * held to it in the task's public sizes; what no size tells is taken for granted, and left to the
 * judge. */
#ifndef HONE_AGENTS_C_SLICE_H
#define HONE_AGENTS_C_SLICE_H

#include "agents/source/c_nest.h"

/* No two iterations of the loop reach one element, the one by a and the other by b; both are known
 * and of one array. a may be b. */
bool hone_c_is_same_slice(const struct hone_c_nest *nest, const struct hone_c_poly *a,
                          const struct hone_c_poly *b, const struct hone_c_loop *loop);

#endif
