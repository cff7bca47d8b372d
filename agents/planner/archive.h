/* SPDX-License-Identifier: Apache-2.0 */
/* An archive of good versions that differ (MAP-Elites: Mouret and Clune 2015, arXiv 1504.04909).
 *
 * A cell is a bin on each of four axes, which are features of a version:
 *
 *     cpu     threads, vectors, depth of its loops, passes over memory
 *     cuda    registers of a thread, shared arrays, memory traffic of the task's least, passes
 *
 * A feature that is not known has a bin of its own. A cell keeps one version: the best that a longer
 * look agreed with; where there is none, the best that was screened. Refuted versions stand in no
 * cell.
 *
 * A function of the tree alone: a search that goes on from its records has the same archive. The
 * features of every version must be filled in: hone_archive_fill does that. Any thread that owns
 * the tree; nothing is owned. */
#ifndef HONE_AGENTS_ARCHIVE_H
#define HONE_AGENTS_ARCHIVE_H

#include "agents/planner/policy.h"

enum { HONE_ARCHIVE_AXES = 4, HONE_ARCHIVE_BINS = 6, HONE_ARCHIVE_CELLS = 1296 };

struct hone_archive_axis {
    const char *name; /* "threads" */
    enum hone_feature_id feature;
    double edges[HONE_ARCHIVE_BINS - 2]; /* first values of the bins after the first; 0: no more */
};

struct hone_archive_cell {
    int bins[HONE_ARCHIVE_AXES]; /* 0: the feature is not known; 1: below the first edge */
    int node;                    /* index in the tree */
    int n_versions;              /* that fell into it */
};

struct hone_archive {
    const struct hone_archive_axis *axes; /* HONE_ARCHIVE_AXES of the tree's target */
    size_t n;
    struct hone_archive_cell cells[HONE_ARCHIVE_CELLS]; /* in the order of their first versions */
};

/* Expands what was not expanded yet (policy.h). */
void hone_archive_fill(struct hone_policy_ctx *ctx);
/* *ret is some 40 KiB: not for the stack. */
void hone_archive_of(const struct hone_tree *tree, struct hone_archive *ret);
/* The cell of a version; HONE_ARCHIVE_CELLS: it stands in none. */
size_t hone_archive_cell_of(const struct hone_archive *archive, const struct hone_node *node);
/* "threads=0 vectors=1..", in the pool. */
const char *hone_archive_words(const struct hone_archive *archive,
                               const struct hone_archive_cell *cell, struct hone_pool *pool);

#endif
