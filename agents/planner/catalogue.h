/* SPDX-License-Identifier: Apache-2.0 */
/* The strategy catalogue, for plain C on a CPU (C01...) and for CUDA (G01...): what can be tried,
 * when, what it should bring, and what must move if it was really done.
 *
 * Gains are log2 of the expected speed-up: working guesses that seed priors (two
 * pseudo-observations), not results. A strategy without a rewrite is offered to
 * outside agents only. */
#ifndef HONE_AGENTS_CATALOGUE_H
#define HONE_AGENTS_CATALOGUE_H

#include "agents/planner/bottleneck.h"

enum hone_tri { HONE_TRI_FALSE, HONE_TRI_UNKNOWN, HONE_TRI_TRUE };
enum hone_mechanism {
    HONE_RAISE, /* uses a resource more: pointless when that is saturated */
    HONE_CUT    /* asks for less: pointless when traffic or work is already at the least */
};
enum hone_resource { /* what is raised, or cut; on cpu the roof alone is known */
                     HONE_ROOF,
                     HONE_SM,
                     HONE_DRAM,
                     HONE_L2,
                     HONE_TRAFFIC, /* bytes moved over compulsory bytes */
                     HONE_WORK     /* operations over those that the task needs */
};

/* Not in the tables of peers: written anew from the task's description; outside
 * of the catalogue. */
#define HONE_STRATEGY_NEW   "N"
#define HONE_STRATEGY_FREE  "X"
#define HONE_STRATEGY_MERGE "M" /* what won on a sibling: merge.h */

struct hone_condition { /* feature > value or feature < value */
    enum hone_feature_id feature;
    char op;
    double value;
};

struct hone_strategy {
    const char *id;     /* "C08"; an id may stand once for each target */
    const char *target; /* "cpu", "cuda" */
    const char *words;
    enum hone_mechanism mechanism;
    enum hone_class helps[4];
    size_t n_helps;
    double low, gain, high; /* log2 */
    enum hone_feature_id must_move;
    int direction; /* +1 up, -1 down */
    const char *params;
    /* Precondition over features; NULL: always. */
    enum hone_tri (*fits)(const struct hone_features *f);
    /* cuda: any of these conditions; none: always */
    size_t n_needs;
    struct hone_condition needs[4];
    enum hone_resource resource;
    int min_arch; /* 80: from compute capability 8.0 on */
};

extern const struct hone_strategy hone_strategies[];
extern const size_t hone_n_strategies;
/* Function, conditions and architecture together. */
enum hone_tri hone_strategy_fits(const struct hone_strategy *strategy,
                                 const struct hone_features *features);
const struct hone_strategy *hone_strategy_find(const char *target, const char *id); /* NULL: none */
/* The strategy that a rewrite carries out. */
const struct hone_strategy *hone_strategy_of(const struct hone_rewrite *rewrite);
size_t hone_strategy_index(const struct hone_strategy *strategy);
/* Is the class among those that the strategy helps against? */
bool hone_strategy_helps(const struct hone_strategy *strategy, enum hone_class class_id);

#endif
