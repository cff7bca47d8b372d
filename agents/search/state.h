/* SPDX-License-Identifier: Apache-2.0 */
/* What a search knows, as the sum of its events: versions, credit, weights of the planners, and
 * time spent on longer looks. hone_state_apply is the way in for all of them, in a search that runs as
 * in one that goes on from its records, so that both hold the same after the same events.
 *
 *     struct hone_state st;
 *     hone_state_init(&st, pool, find, arg);
 *     a search that runs:    hone_event_append(...), then hone_state_apply(&st, &e, draft);
 *     a search that goes on: for each record hone_event_read(...), then the same apply
 *
 * An event that brings a new version (hone_state_brings) comes with its draft, made by
 * hone_state_draft from the event and the source. Nothing here reads a clock, a file or the
 * history.
 *
 * Lists of legal steps (hone_node.actions, is_tried, is_reviewed), text features, and steps whose
 * answers are under way are no part of it: the search makes them anew. One thread. */
#ifndef HONE_AGENTS_STATE_H
#define HONE_AGENTS_STATE_H

#include "agents/planner/cost_model.h"
#include "agents/planner/mix.h"
#include "agents/planner/planner.h"
#include "agents/search/events.h"

typedef const struct hone_rewrite *hone_state_find_fn(void *arg, const char *rewrite);

struct hone_left_out { /* a step that the cost model advised against */
    int parent;        /* index of its version */
    const char *rewrite;
    char anchor[HONE_ANCHOR_BYTES];
    int variant;
};

struct hone_state {
    struct hone_pool *pool;
    struct hone_tree tree;
    struct hone_credit credit;
    struct hone_mix mix;                /* of the planning model's word with the rules' */
    bool has_ended;                     /* the last round did */
    const char *knowledge;              /* what models are shown of other searches; NULL: none */
    const struct hone_cost_model *cost; /* what the search started with; NULL: none is asked */
    double skip_below;                  /* chance of a gain below which a step is left out */
    struct hone_left_out *left_out;     /* in the records */
    size_t n_left_out, left_out_room;
    int64_t n_steps;   /* number of the last intent */
    int64_t decide_ms; /* spent on longer looks in this round */
    hone_state_find_fn *find;
    void *find_arg;
    int at[HONE_TREE_MAX_NODES]; /* number of a version -> its index + 1; 0: its record is lost */
};

/* find: the rewrite of that name, for as long as the state lives; NULL: none. */
void hone_state_init(struct hone_state *state, struct hone_pool *pool, hone_state_find_fn *find,
                     void *find_arg);
/* The only writer of what stands above, but for marks of the user (hone_credit_row.favour) and
 * steps under way (hone_tree_begin_step). draft: of a new version; NULL: none, or its source is
 * lost. */
void hone_state_apply(struct hone_state *state, const struct hone_event *event,
                      struct hone_node *draft);
/* Does the result bring a version that the state does not hold? */
bool hone_state_brings(const struct hone_state *state, const struct hone_event_result *result);
/* That version, not attached yet. NULL: the tree is full. */
struct hone_node *hone_state_draft(struct hone_state *state, const struct hone_event_result *result,
                                   const char *source);
/* A sweep of this version cannot begin. No event: a search that goes on finds it out again. */
void hone_state_skip_sweep(struct hone_state *state, int index);
/* The number of a version in the records, by index, and back; HONE_NO_NODE stays. */
int hone_state_number(const struct hone_state *state, int index);
int hone_state_index(const struct hone_state *state, int64_t number);
/* Would the draft be the best version? */
bool hone_state_is_best(const struct hone_state *state, const struct hone_node *draft);

/* Do the records say that this step was left out? */
bool hone_state_knows_left_out(const struct hone_state *state, int parent,
                               const struct hone_action *action);

/* Words of the records. */
const char *hone_state_tri_name(enum hone_tri tri);
/* A profile as a record holds it. Owned. NULL: nothing is known. */
struct hone_json *hone_state_profile_json(const struct hone_node *node);

/* Over everything that hone_state_apply writes: equal states have equal digests. */
void hone_state_digest(const struct hone_state *state, char ret[HONE_HASH_TEXT_BYTES]);

#endif
