/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out decisions: one function for each, in a table. What a turn has found out (nothing is
 * left to ask for, what the policy picked) holds until some work was done. */
#include "agents/search/driver.h"

#include "workspace/base/clock.h"

struct driver {
    struct hone_search *s;
    struct hone_round *round;
    bool has_ahead;
    enum hone_picked picked;
    struct hone_pick pick; /* where picked says so */
    int64_t wait_until_ns; /* for a submission; 0: it does not wait */
    bool is_turn_over;
};

static void begin_turn(struct driver *d)
{
    d->has_ahead = d->s->ahead != NULL;
    d->picked = HONE_PICKED_NONE;
    d->is_turn_over = false;
}

/* What the decision rests on, asked in one place. */
static struct hone_outlook look_around(const struct driver *d)
{
    struct hone_search *s = d->s;
    const struct hone_search_options *options = s->options;
    const struct hone_tree *tree = &s->state.tree;
    bool is_open = !d->round->closing.why;
    if (is_open && tree->best != HONE_NO_NODE && !tree->nodes[tree->best]->is_expanded)
        hone_search_list_steps(s, tree->nodes[tree->best]);
    const struct hone_planned look = {.n = 1, .wall_ms = hone_pace_look_room_ms(&s->pace)};
    return (struct hone_outlook){
        .state = &s->state,
        .closing = &d->round->closing,
        .target = s->target,
        .budget_wall_ms = options->budget_wall_ms,
        .elapsed_ms = hone_search_elapsed_ms(s),
        .look_ms = hone_pace_look_ms(&s->pace),
        .stop_at_speedup = options->stop_at_speedup,
        .stop_at_percent_of_bound = options->stop_at_percent_of_bound,
        .plateau = options->plateau,
        .over = is_open ? hone_search_over(s, &(struct hone_planned){.n = 1}) : HONE_STOP_NONE,
        .may_confirm = hone_search_may_confirm(s, d->round->closing.n_confirmed == 0),
        .may_look = is_open && !hone_search_over(s, &look),
        .wants_stop = s->steering->wants_stop,
        .has_submission = s->steering->first != NULL,
        .is_external = hone_search_is_external(s),
        .has_ahead = d->has_ahead,
        .picked = d->picked,
    };
}

/* ---- one function for each decision ---- */

typedef int perform_fn(struct driver *d, const struct hone_decision *decision,
                       struct hone_err *err);

static int baseline(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    (void)decision;
    int r = hone_search_root(d->s, err);
    d->s->phase = HONE_PHASE_SEARCH;
    return r;
}

static int submission(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    bool did = false;
    (void)decision;
    return hone_search_take(d->s, &did, err);
}

static int sweep(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    return hone_search_sweep(d->s, d->s->state.tree.nodes[decision->node], err);
}

static int decide(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    return hone_search_decide(d->s, d->s->state.tree.nodes[decision->node], err);
}

static int close_round(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    d->round->closing.why = decision->why;
    return hone_search_drop_ahead(d->s, err);
}

static int await(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    int64_t most = d->s->options->submission_wait_ms, until = d->wait_until_ns;
    (void)decision;
    if (until == 0) {
        until = hone_deadline_in_ms(most > 0 ? most : HONE_SUBMISSION_WAIT_MS);
        hone_search_tell(d->s, "waits for submissions");
    } else if (hone_now_ns() >= until) {
        return close_round(d, &(struct hone_decision){.why = HONE_STOP_NO_SUBMISSIONS}, err);
    }
    hone_search_wait_ms(d->s, HONE_SEARCH_POLL_MS);
    d->wait_until_ns = until;
    return 0;
}

static int answer(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    bool did = false;
    int r = hone_search_take_ahead(d->s, !decision->why, &did, err);
    d->has_ahead = false;
    d->is_turn_over = did;
    return r;
}

static int pick(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    (void)decision;
    bool has_step = false;
    int r = hone_search_choose(d->s, &d->pick, &has_step, err);
    d->picked = !has_step                                      ? HONE_PICKED_STOP
                : hone_search_wants_review(d->s, d->pick.node) ? HONE_PICKED_UNRANKED
                                                               : HONE_PICKED_STEP;
    return r;
}

/* The pick stands where the order does. */
static int rerank(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    (void)decision;
    d->picked = HONE_PICKED_STEP;
    return hone_search_review(d->s, d->pick.node, &d->is_turn_over, err);
}

static int try(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    (void)decision;
    return hone_search_expand(d->s, &d->pick, err);
}

static int confirm(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    struct hone_closing *c = &d->round->closing;
    struct hone_node *n = d->s->state.tree.nodes[decision->node];
    struct hone_search_outcome o;
    int64_t from_ms = hone_search_elapsed_ms(d->s);
    int r = hone_search_confirm(d->s, n, &o, err);
    if (hone_search_take_refusal(d->s, r) == HONE_STOP_BUDGET_WALL) {
        hone_search_tell_cut(d->s, hone_search_elapsed_ms(d->s) - from_ms);
        c->is_cut = true;
        return 0;
    }
    if (r < 0)
        return r;
    c->n_confirmed++;
    c->n_wrong += n->is_wrong;
    c->tried = n->index;
    enum hone_claim claim = o.verdict != HONE_VERDICT_FASTER ? HONE_CLAIM_NONE
                            : o.doubt != NULL                ? HONE_CLAIM_DOUBTED
                                                             : HONE_CLAIM_FULL;
    if (n->is_refuted || !o.is_right || !hone_closing_improves(c, claim, o.rank))
        return 0;
    c->node = n->index;
    c->claim = claim;
    c->rank = o.rank;
    c->speedup = o.ratio;
    d->round->outcome = o;
    return 0;
}

/* What was confirmed stands, should nothing better come. */
static int reopen(struct driver *d, const struct hone_decision *decision, struct hone_err *err)
{
    (void)decision;
    (void)err;
    d->round->closing.why = HONE_STOP_NONE;
    d->round->closing.n_confirmed = 0;
    d->round->closing.n_wrong = 0;
    d->s->phase = HONE_PHASE_SEARCH;
    return 0;
}

static const struct {
    perform_fn *perform; /* NULL: the loop is over */
    bool stays;          /* in the turn, unless it says otherwise */
} rows[HONE_N_NEXT] = {
    [HONE_NEXT_BASELINE] = {baseline, false}, [HONE_NEXT_SUBMISSION] = {submission, false},
    [HONE_NEXT_SWEEP] = {sweep, false},       [HONE_NEXT_DECIDE] = {decide, false},
    [HONE_NEXT_WAIT] = {await, false},        [HONE_NEXT_ANSWER] = {answer, true},
    [HONE_NEXT_PICK] = {pick, true},          [HONE_NEXT_RERANK] = {rerank, true},
    [HONE_NEXT_TRY] = {try, false},           [HONE_NEXT_CLOSE] = {close_round, false},
    [HONE_NEXT_CONFIRM] = {confirm, false},   [HONE_NEXT_REOPEN] = {reopen, false},
    [HONE_NEXT_END] = {NULL, false},
};

/* ---- the loop ---- */

/* A cap that was met in the work closes the round; one of models may leave the rules. Without a
 * version there is nothing to close. */
static int settle(struct driver *d, int r, struct hone_err *err)
{
    struct hone_closing *c = &d->round->closing;
    enum hone_stop_reason refused = hone_search_take_refusal(d->s, r);
    if (!refused || c->why || d->s->state.tree.n_nodes == 0)
        return r;
    if (hone_search_drop_models(d->s, refused))
        return 0;
    return close_round(d, &(struct hone_decision){.why = refused}, err);
}

/* One piece of work. *ret_is_over: the round is. */
static int turn(struct driver *d, bool *ret_is_over, struct hone_err *err)
{
    if (hone_cancel_is_set(d->s->ctx->cancel))
        return hone_fail(err, HONE_E_CANCEL, "cancelled; the same command goes on from here");
    int r =
        d->round->closing.why || d->s->state.tree.n_nodes == 0 ? 0 : hone_search_listen(d->s, err);
    begin_turn(d);
    while (r == 0 && !d->is_turn_over) {
        const struct hone_outlook outlook = look_around(d);
        const struct hone_decision decision = hone_next(&outlook);
        *ret_is_over = !rows[decision.what].perform;
        if (*ret_is_over)
            return 0;
        if (decision.what != HONE_NEXT_WAIT)
            d->wait_until_ns = 0;
        d->is_turn_over = !rows[decision.what].stays;
        r = rows[decision.what].perform(d, &decision, err);
    }
    return settle(d, r, err);
}

int hone_drive(struct hone_search *s, struct hone_round *ret, struct hone_err *err)
{
    struct driver d = {.s = s, .round = ret};
    bool is_over = false;
    int r = 0;
    *ret = (struct hone_round){.closing = {.node = HONE_NO_NODE, .tried = HONE_NO_NODE}};
    if (s->state.tree.n_nodes > 0)
        s->phase = HONE_PHASE_SEARCH;
    while (r == 0 && !is_over)
        r = turn(&d, &is_over, err);
    if (r == 0 && ret->closing.n_confirmed == 0 && ret->closing.node == HONE_NO_NODE)
        hone_search_tell_unconfirmed(s);
    return r;
}
