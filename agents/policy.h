/* Policies pick the next step: a version and one of its legal actions. A table; one file each.
 *
 * pick      reads the tree; the search expands nodes on demand through `expand`, so that only what
 * is looked at is parsed. Returns false for STOP: nothing is left that is worth trying. propensity
 * is the chance with which this choice was made, for later off-line evaluation. Deterministic in
 * (seed, counter). */
#ifndef HONE_AGENTS_POLICY_H
#define HONE_AGENTS_POLICY_H

#include "agents/legality.h"

struct hone_policy_ctx {
    struct hone_tree *tree;
    void (*expand)(void *arg, struct hone_node *node); /* fills in actions once */
    void *expand_arg;
    int64_t seed;
    uint64_t counter; /* of random numbers; the policy moves it on */
    bool is_small;    /* at most some dozen expansions are affordable */
};

struct hone_pick {
    int node;
    size_t action;
    double propensity, score;
};

struct hone_policy {
    const char *name, *words;
    bool (*pick)(struct hone_policy_ctx *ctx, struct hone_pick *ret);
};

extern const struct hone_policy *const hone_policies[];
extern const size_t hone_n_policies;
const struct hone_policy *hone_policy_find(const char *name); /* NULL: none */

/* For policies: in [0, 1). */
double hone_policy_random(struct hone_policy_ctx *ctx);
/* Best action of a node that was not tried; n_actions when there is none. */
size_t hone_policy_best_action(struct hone_policy_ctx *ctx, struct hone_node *node);

#endif
