/* SPDX-License-Identifier: Apache-2.0 */
/* Merging what won on a sibling: two versions of one parent both gained by different steps, so the
 * idea of the one may pay on the other too (docs/decisions/0026-merge.md).
 *
 * Functions of the tree alone: the same after a restart and in a replay. */
#ifndef HONE_AGENTS_MERGE_H
#define HONE_AGENTS_MERGE_H

#include "agents/planner/archive.h"

enum { HONE_MERGES = 2 }; /* siblings that are offered at one version, at most */
/* What came on top of one certain gain when a second was added, as shares of the second (log2): 80
 * % interval, mean, mean of what is not lost. Of 2134 ordered pairs of eight CPU kernels, each
 * kernel weighing the same (lattices of 2026-11-21, AMD EPYC, 2 cores). */
#define HONE_MERGE_LOW      -1.0
#define HONE_MERGE_MEAN     0.0
#define HONE_MERGE_HIGH     0.9
#define HONE_MERGE_POSITIVE 0.27

struct hone_merge {
    int sibling;                         /* index; its number is the step's variant */
    const struct hone_edge_record *edge; /* the step that made it; the tree's */
    double gain;                         /* log2 that it brought over the parent */
};

/* Did the step make a version of its own that gained for certain, as far as is known by now? */
bool hone_merge_has_won(const struct hone_tree *tree, const struct hone_edge_record *edge);
/* The version whose idea this is: itself, or before a sweep put its numbers in order. */
int hone_merge_base(const struct hone_tree *tree, int node);
/* What could be taken over at the version, largest gain first: siblings by another strategy, not
 * refuted, whose gain and this version's own are certain (beyond two standard errors), and no pair
 * that was tried, from either side. Returns how many. */
size_t hone_merges_of(const struct hone_tree *tree, int node, struct hone_merge ret[HONE_MERGES]);
/* The same from the archive: versions of other cells that neither came from this one nor are on its
 * way, made by a strategy that is not on its way either. Fills up what ret[n] holds already. */
size_t hone_merges_across(const struct hone_tree *tree, const struct hone_archive *archive,
                          int node, struct hone_merge ret[HONE_MERGES], size_t n);

#endif
