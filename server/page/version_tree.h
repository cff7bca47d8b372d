/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of versions as lines of text, for terminals.
 *
 *     o  baseline
 *     |-x  a try that failed
 *     |-*  a gain
 *     | *  the version that was made from it
 *     *  the baseline's best child
 *     `-o  a try on it
 *
 * The child whose descendants reach the highest worth continues in its parent's column, the others
 * branch off before it, in order: the lines are indented by branchings, not by generations. Any
 * thread. */
#ifndef HONE_SERVER_VERSION_TREE_H
#define HONE_SERVER_VERSION_TREE_H

#include "workspace/base/buf.h"

struct hone_tree_item {
    int64_t parent; /* place of the parent, which comes before its children; -1: none */
    double worth;   /* log2 of the speedup; NaN: not known */
    char sign;
    bool is_failed; /* a try: branches off even where it is the only child */
};

struct hone_tree_line {
    size_t item;
    const char *lead; /* "| |-*"; in the pool */
};

/* ret_lines: room for n. Of more than 24 branchings the deepest stand in one column. */
void hone_version_tree(const struct hone_tree_item *items, size_t n, struct hone_pool *pool,
                       struct hone_tree_line *ret_lines);

#endif
