/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that take one more value into an element: X += e, X = X < e ? e : X. Two of them with
 * one operator give the same in either order, where the element is an integer and sums wrap. */
#ifndef HONE_AGENTS_UPDATE_H
#define HONE_AGENTS_UPDATE_H

#include "agents/source/c_tree.h"

enum { HONE_UPDATE_MAX_OWN = 3 };

struct hone_update {
    char op; /* '+' (differences too), '*', '&', '|', '^', '>' for the larger, '<' the smaller; 0 */
    const struct hone_c_node *own[HONE_UPDATE_MAX_OWN]; /* where X stands, the target first */
    size_t n_own;
};

/* Also below a condition that names no X, and by a helper of this source that returns the larger or
 * the smaller of its two. False: it is no update, or of a type for which order matters. */
bool hone_update_of(const struct hone_c_tree *tree, const struct hone_c_node *stmt,
                    struct hone_update *ret);

#endif
