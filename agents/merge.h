/* Merging what won on a sibling: two versions of one parent both gained by different steps, so the
 * idea of the one may pay on the other too (docs/decisions/0026-merge.md).
 *
 * Functions of the tree alone: the same after a restart and in a replay. */
#ifndef HONE_AGENTS_MERGE_H
#define HONE_AGENTS_MERGE_H

#include "agents/tree.h"

enum { HONE_MERGES = 2 };    /* siblings that are offered at one version, at most */
#define HONE_MERGE_SHARE 0.5 /* of the sibling's gain (log2) is expected to come on top */

struct hone_merge {
    int sibling;                         /* index; its number is the step's variant */
    const struct hone_edge_record *edge; /* the step that made it; the tree's */
    double theirs;                       /* log2 that it gained over the parent */
    double gain;                         /* expected here */
};

/* Did the step make a version of its own that gained for certain, as far as is known by now? */
bool hone_merge_has_won(const struct hone_tree *tree, const struct hone_edge_record *edge);
/* The version whose idea this is: itself, or before a sweep put its numbers in order. */
int hone_merge_base(const struct hone_tree *tree, int node);
/* What could be taken over at the version, largest gain first: siblings by another strategy, not
 * refuted, whose gain and this version's own are certain (beyond two standard errors), and no pair
 * that was tried, from either side. Returns how many. */
size_t hone_merges_of(const struct hone_tree *tree, int node, struct hone_merge ret[HONE_MERGES]);

#endif
