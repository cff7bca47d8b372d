/* SPDX-License-Identifier: Apache-2.0 */
/* One step carried out: the coder, the evaluation, and repairs while it fails.
 *
 *   coder -> known text? -> record of the intent -> screen -> right: done
 *     ^                                               |
 *     |                                               | failed, repairs left, and the failure is
 *     |                                               v the coder's
 *     +------------------------------------- ranked diagnostics
 *
 * The idea stays the same through all repairs: the planner sees one step with one end. Each tried
 * version is an evaluation and a commit of its own. */
#include "agents/search/search_internal.h"
#include "agents/coder/history_context.h"

#include <math.h>
#include <string.h>

/* May a repair help? Not where the machine failed, and a cheat gets no second chance. */
static bool is_mendable(enum hone_step_end end)
{
    return end == HONE_STEP_COMPILE || end == HONE_STEP_WRONG || end == HONE_STEP_CRASH;
}

static const char *text_of(struct hone_pool *pool, const char *text)
{
    return hone_pool_strdup(pool, text ? text : "");
}

static void add_spent(struct hone_implemented *c, const struct hone_coder_outcome *done)
{
    c->n_asks += done->n_asks;
    c->tokens_in += done->tokens_in;
    c->tokens_out += done->tokens_out;
    c->cost += done->n_asks > 0 ? done->cost : 0;
}

/* One round: a source that is new, evaluated. *ret_again: a repair may mend what is wrong. */
static int round_of(struct hone_search *s, const struct hone_todo *todo,
                    const struct hone_coder_work *work, struct hone_implemented *c, bool *ret_again,
                    struct hone_err *err)
{
    const struct hone_action *a = todo->action;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_coder_outcome done = {.source = a->given};
    char hash[HONE_HASH_TEXT_BYTES];
    *ret_again = false;
    int r = a->given ? 0 : hone_coder_step(s->coder, work, pool, &done, err);
    if (r < 0)
        return r;
    add_spent(c, &done);
    c->refused = hone_pool_strdup(c->pool, done.refused);
    if (done.declined) {
        c->is_declined = true;
        c->note = hone_pool_printf(c->pool, "declined: %s", done.declined);
        return 0;
    }
    if (!done.source) {
        c->note = text_of(c->pool, done.refusal);
        *ret_again = !done.is_unanswered;
        return 0;
    }
    hone_source_hash(done.source, hash);
    if (hone_tree_find(&s->state.tree, hash)) {
        c->note = "the same text as a version that is known";
        return 0;
    }
    r = c->is_recorded ? 0 : hone_search_record_step(s, todo->from, a, todo->propensity, err);
    c->is_recorded = true;
    struct hone_attempt attempt = *todo->like;
    attempt.source = c->source = text_of(c->pool, done.source);
    if (work->n_repair > 0)
        attempt.subject = hone_pool_printf(s->pool, "%s, repair %lld", todo->like->subject,
                                           (long long)work->n_repair);
    attempt.n_asks = c->n_asks;
    attempt.tokens = c->tokens_in + c->tokens_out;
    attempt.cost = c->cost;
    if (r == 0)
        r = hone_search_evaluate(s, &attempt, &c->outcome, err);
    if (r < 0)
        return r;
    c->has_outcome = true;
    c->note = c->outcome.summary;
    *ret_again = !c->outcome.is_right &&
                 is_mendable(hone_step_end_of(c->outcome.verdict, c->outcome.reason));
    return 0;
}

/* Of an answer that could not be used, and of the version that it should have mended. */
static const char *both_failures(const struct hone_implemented *c)
{
    if (!c->has_outcome || !c->outcome.diagnosis)
        return c->note;
    return hone_pool_printf(c->pool, "%s\nBefore that, of the failed version below:\n%s", c->note,
                            c->outcome.diagnosis);
}

struct hone_coder_work hone_search_work(struct hone_search *s, const struct hone_node *from,
                                        const struct hone_action *a, struct hone_pool *pool)
{
    return (struct hone_coder_work){.source = from->source,
                                    .rewrite = a->rewrite,
                                    .strategy = a->strategy,
                                    .site = &a->site,
                                    .features = &from->features,
                                    .findings = from->findings,
                                    .n_findings = from->n_findings,
                                    .machine = hone_search_machine(s),
                                    .knowledge = s->state.knowledge,
                                    .past =
                                        hone_history_context_of(&s->state.tree, from->index, pool),
                                    .plan = a->plan,
                                    .sibling = hone_search_sibling(s, a, pool),
                                    .hints = s->steering->hints,
                                    .n_hints = s->steering->n_hints,
                                    .deadline_ns = hone_search_ask_deadline_ns(s)};
}

int hone_search_implement(struct hone_search *s, const struct hone_todo *todo,
                          struct hone_implemented *ret, struct hone_err *err)
{
    const struct hone_action *a = todo->action;
    int64_t most = a->given ? 0 : hone_coder_repairs(s->coder);
    *ret = (struct hone_implemented){.note = "", .pool = ret->pool};
    struct hone_coder_work work = hone_search_work(s, todo->from, a, ret->pool);
    work.failed_ask = s->failed_ask;
    for (;; work.n_repair++) {
        bool again = false, had_outcome = ret->has_outcome;
        const char *old = ret->source;
        int r = round_of(s, todo, &work, ret, &again, err);
        if (work.n_repair > 0 && hone_search_take_refusal(s, r))
            return 0; /* no repair fits a cap any more: the step ends with what there is */
        if (r < 0)
            return r;
        if (!again || work.n_repair >= most || hone_search_over(s, &(struct hone_planned){.n = 1}))
            return 0;
        r = hone_search_listen(s, err);
        if (r < 0 || s->steering->wants_stop)
            return r;
        hone_search_tell(s, "%s: repair %lld of %lld: %s", todo->like->subject,
                         (long long)work.n_repair + 1, (long long)most, ret->note);
        /* an answer that could not be read is told about beside the version it was meant for */
        bool is_evaluated = ret->source != old || ret->has_outcome != had_outcome;
        work.failure = is_evaluated ? ret->outcome.diagnosis : both_failures(ret);
        work.failed_source = ret->source;
        work.refused = ret->refused;
    }
}
