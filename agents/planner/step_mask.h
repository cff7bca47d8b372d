/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps may be taken at a version: sites of the rewrites, masked by preconditions, hardware
 * and memory of what was tried.
 *
 * The mask never empties the set of what the coder could do; STOP (picking nothing) is
 * always legal. Unknown forbids nothing. What the user has banned (credit.h) is no step,
 * whatever is left. */
#ifndef HONE_AGENTS_STEP_MASK_H
#define HONE_AGENTS_STEP_MASK_H

#include "agents/planner/credit.h"
#include "agents/rewrites/coder_rules.h"
#include "agents/planner/tree.h"

/* What somebody who edits sources can do, and where: a coder's list. */
struct hone_step_list {
    const struct hone_rewrite *const *rewrites;
    size_t n_rewrites;
    /* Sites of one of them in a version, best first; returns how many. */
    size_t (*sites)(const void *coder, const struct hone_rewrite *rewrite,
                    const struct hone_coder_input *in,
                    struct hone_coder_site ret[HONE_CODER_MAX_SITES]);
    const void *coder; /* handed to sites */
};

struct hone_mask_input {
    const struct hone_coder_input *coder; /* the parsed version */
    const struct hone_features *features;
    const struct hone_finding *findings;
    size_t n_findings;
    const struct hone_credit *credit;
    const struct hone_tree *tree; /* what was tried; NULL: nothing */
    int node;
    const struct hone_step_list *steps; /* what can be done; NULL: the rules */
};

/* Actions in falling order of prior; the priors add up to 1. ret has room for
 * HONE_TREE_MAX_ACTIONS; strings live in the pool of coder. */
size_t hone_allowed_actions(const struct hone_mask_input *in, struct hone_action *ret);

/* The same for steps that somebody else listed (rewrite, strategy, site; the k-th site of a rewrite
 * with discount 0.75^k, or 0 for 1): marks what was tried, drops what is masked, discounts what the way to the version
 * holds already, fills in expectations, rules and priors, sorts. Returns how many are left. */
struct hone_scene { /* of one version */
    const struct hone_features *features;
    const struct hone_finding *findings;
    size_t n_findings;
    const struct hone_credit *credit;
    const struct hone_tree *tree; /* NULL: nothing was tried */
    int node;
    struct hone_pool *pool; /* for texts; NULL: none are wanted */
};
size_t hone_rank_actions(const struct hone_scene *scene, struct hone_action *actions, size_t n);
/* Expectations and priors after more was learnt; the order is by prior again. first: worst
 * bottleneck of the version, or HONE_N_CLASSES. */
void hone_score_actions(const struct hone_credit *credit, enum hone_class first,
                        struct hone_action *actions, size_t n);

#endif
