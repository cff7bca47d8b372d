/* Which steps may be taken at a version: sites of the rewrites, masked by preconditions, hardware
 * and memory of what was tried.
 *
 * The mask never empties the set of what the coder could do; STOP (picking nothing) is always
 * legal. Unknown forbids nothing. */
#ifndef HONE_AGENTS_LEGALITY_H
#define HONE_AGENTS_LEGALITY_H

#include "agents/coder.h"
#include "agents/credit.h"
#include "agents/tree.h"

struct hone_legality_input {
    const struct hone_coder_input *coder; /* the parsed version */
    const struct hone_features *features;
    const struct hone_finding *findings;
    size_t n_findings;
    const struct hone_credit *credit;
    const struct hone_tree *tree; /* what was tried; NULL: nothing */
    int node;
    const struct hone_coder *who; /* says what can be done; NULL: the rules */
};

/* Actions in falling order of prior; the priors add up to 1. ret has room for
 * HONE_TREE_MAX_ACTIONS; strings live in the pool of coder. */
size_t hone_legal_actions(const struct hone_legality_input *in, struct hone_action *ret);

#endif
