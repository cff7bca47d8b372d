/* SPDX-License-Identifier: Apache-2.0 */
/* Policies pick the next step: a version and one of its legal actions. A table; one file each.
 *
 *   pick        Reads the tree; expands nodes on demand through `expand`, so that only what the
 *               policy asks for is parsed. Orders the actions of a node anew (their scores and
 *               priors), and changes nothing else. Returns false for STOP: nothing is left worth
 *               trying, limits lifted.
 *   propensity  The chance with which this choice was made, for later off-line evaluation.
 *   counter     Every random number moves it on: choices are deterministic in (seed, counter).
 *
 * Calling sequence, as the search and the simulator (sim.h) have it:
 *
 *     const struct hone_policy *policy = hone_policy_find("puct");
 *     struct hone_policy_ctx ctx = {.tree = &tree, .credit = &credit, .expand = expand, ...};
 *     struct hone_pick pick;
 *     while (hone_policy_pick(policy, &ctx, &pick))
 *         try the action pick.action of node pick.node, and tell tree and credit what came of it
 *
 * A policy sees the tree, the credit and nothing else. A new one is a file policy_NAME.c that ends
 * with a const struct hone_policy, and two lines in policies.c. Nothing is owned: what a policy
 * keeps between two picks follows from the tree. Cannot fail; blocks only as long as `expand`
 * does. One thread. */
#ifndef HONE_AGENTS_POLICY_H
#define HONE_AGENTS_POLICY_H

#include "agents/planner/step_mask.h"

struct hone_policy_ctx {
    struct hone_tree *tree;
    const struct hone_credit *credit; /* priors follow it; NULL: they stay what expand made them */
    /* Not NULL. Sets is_expanded and fills in actions, findings and text features; a source that
     * cannot be read leaves n_actions 0. */
    void (*expand)(void *arg, struct hone_node *node);
    void *expand_arg;
    int64_t seed;
    uint64_t counter;    /* of random numbers; the policy moves it on */
    bool takes_left_out; /* nothing else is left: set by hone_policy_pick, holds until the next */
};

struct hone_pick {
    int node;          /* index in the tree */
    size_t action;     /* index in the node's actions */
    double propensity; /* 0 to 1: how likely this choice was */
    double score;      /* what the policy compared by; its unit is the policy's own */
};

struct hone_policy {
    const char *name, *words;
    bool (*pick)(struct hone_policy_ctx *ctx, struct hone_pick *ret);
    bool is_learned;   /* plays with a prior that was fitted to other kernels, where there is one */
    bool uses_archive; /* merges are drawn from the archive too (archive.h) */
};

extern const struct hone_policy hone_policy_puct; /* for policies that rest on it */
extern const struct hone_policy *const hone_policies[];
extern const size_t hone_n_policies;
const struct hone_policy *hone_policy_find(const char *name); /* NULL: none */
const char *hone_policy_names(struct hone_pool *pool);        /* "chain, greedy, ..." */

/* A policy's choice: among the steps that the cost model (cost_model.h) did not leave out; where it
 * would stop, among all. A function of the tree, as the policy's own. */
bool hone_policy_pick(const struct hone_policy *policy, struct hone_policy_ctx *ctx,
                      struct hone_pick *ret);

/* For policies: neither tried nor left out. What the user favours (credit.h) is never left out. */
bool hone_policy_may_take(const struct hone_policy_ctx *ctx, const struct hone_action *action);
/* In [0, 1). */
double hone_policy_random(struct hone_policy_ctx *ctx);
/* Best action of a node that may be taken; n_actions when there is none. Actions are scored and
 * ordered anew by what was learnt since. */
size_t hone_policy_best_action(struct hone_policy_ctx *ctx, struct hone_node *node);
/* The best version that has an action which may be taken; false: none has. */
bool hone_policy_best_node(struct hone_policy_ctx *ctx, int *ret_node);
/* One of those that may be taken by weight (NULL: their priors); *ret_chance is how likely it was.
 * n_actions when there is none. */
size_t hone_policy_draw(struct hone_policy_ctx *ctx, const struct hone_node *node,
                        double (*weight)(const struct hone_action *action), double *ret_chance);

#endif
