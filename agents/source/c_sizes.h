/* SPDX-License-Identifier: Apache-2.0 */
/* Subscripts in the task's public sizes.
 *
 * Where the text alone does not say whether a row is long enough for what is added to its start,
 * the sizes that the task is judged in do: out[f * HOP + j] with j < WIN are rows that stay apart
 * where WIN is at most HOP. A name is known that is a parameter called like an axis or a whole
 * scalar, and that nothing in the function sets, or a tunable, with its first value. */
#ifndef HONE_AGENTS_C_SIZES_H
#define HONE_AGENTS_C_SIZES_H

#include "agents/source/c_nest.h"

struct hone_task; /* workspace/task/task.h */

/* Of the function's names; in the tree's pool. NULL: no task is given, or it has no public size. */
const struct hone_c_sizes *hone_c_sizes_of(const struct hone_c_tree *tree,
                                           const struct hone_c_node *function,
                                           const struct hone_task *task);

/* Is there a public size in which two iterations of the loop, the one by a and the other by b, may
 * reach one element? Strides and what counters go through are numbers then; each stride has to be
 * more than all that is below it. False as well: it cannot be told, as a stride is not known.
 * Without sizes (NULL of the tree) numbers of the text are all that is known. A counter whose end
 * is not known is taken to have two values. */
bool hone_c_may_meet(const struct hone_c_nest *nest, const struct hone_c_poly *a,
                     const struct hone_c_poly *b, const struct hone_c_loop *loop);

/* Of what is not negative; the other one, where one is 0. */
int64_t hone_common_divisor(int64_t a, int64_t b);

#endif
