/* SPDX-License-Identifier: Apache-2.0 */
/* The search's side of steering: it looks at the ledger between expansions, takes requests in, and
 * tries what was submitted through the same path as its own steps. See steer.h. */
#include <math.h>
#include <poll.h>
#include <string.h>

#include "agents/search/search_internal.h"
#include "workspace/base/clock.h"

#define PAUSE_POLL_MS 100

static struct hone_ledger *ledger_of(const struct hone_search *s)
{
    return hone_workspace_ledger(s->ctx->app->ws);
}

bool hone_search_is_external(const struct hone_search *s)
{
    const char *planner = s->options->planner;
    return (planner && strcmp(planner, "external") == 0) ||
           strcmp(hone_coder_name(s->coder), "external") == 0;
}

/* ---- requests ---- */

static void drop_banned(struct hone_search *s, struct hone_node *node)
{
    size_t n = 0;
    for (size_t i = 0; i < node->n_actions; i++)
        if (!hone_credit_is_banned(&s->state.credit, node->actions[i].strategy))
            node->actions[n++] = node->actions[i];
    node->n_actions = n;
}

/* What the planner sees of the requests: marks beside the posteriors, and lists of steps without
 * what is banned. A ban that was lifted makes them anew. */
static void apply_marks(struct hone_search *s)
{
    bool is_freed = false;
    for (size_t i = 0; i < HONE_CREDIT_MAX; i++) {
        struct hone_credit_row *row = &s->state.credit.rows[i];
        is_freed = is_freed || (row->is_banned && !s->steering->is_banned[i]);
        row->is_banned = s->steering->is_banned[i];
        row->favour = s->steering->is_favoured[i] ? HONE_FAVOUR : 0;
    }
    for (int i = 0; i < s->state.tree.n_nodes; i++) {
        struct hone_node *node = s->state.tree.nodes[i];
        if (is_freed) /* a model's stored order comes back when it is asked for again */
            node->is_expanded = node->is_reviewed = false;
        if (node->is_expanded)
            drop_banned(s, node);
    }
}

static int read_steering(struct hone_search *s, struct hone_err *err)
{
    size_t before = s->steering->n_requests;
    int r = hone_steering_read(s->steering, ledger_of(s), err);
    if (r == 0 && s->steering->n_requests != before)
        apply_marks(s);
    return r;
}

int hone_search_load_steering(struct hone_search *s, struct hone_err *err)
{
    s->steering = hone_pool_alloc(s->pool, sizeof(*s->steering));
    hone_steering_init(s->steering, s->id, s->target, s->pool);
    return read_steering(s, err);
}

int hone_search_announce(struct hone_search *s, struct hone_err *err)
{
    /* the caps may be others than at the start */
    struct hone_event e = {
        .type = HONE_EVENT_RUN,
        .run = {.search = s->id, .name = s->name, .caps = hone_search_caps(s->options)}};
    return hone_search_record_event(s, &e, NULL, NULL, err);
}

static int acknowledge(struct hone_search *s, const struct hone_steer_note *note,
                       struct hone_err *err)
{
    struct hone_event e = {.type = HONE_EVENT_STEERED,
                           .steered = {.search = s->id,
                                       .steer = (int64_t)note->n,
                                       .action = hone_steer_actions[note->action],
                                       .step = s->state.n_steps,
                                       .elapsed_ms = hone_search_elapsed_ms(s)}};
    const char *what = note->strategy ? note->strategy : note->text ? note->text : "";
    hone_search_tell(s, "steered by %s: %s%s%.120s", note->by, hone_steer_actions[note->action],
                     *what ? " " : "", what);
    return hone_search_record_event(s, &e, NULL, NULL, err);
}

static int read_and_acknowledge(struct hone_search *s, struct hone_err *err)
{
    int r = read_steering(s, err);
    for (size_t i = 0; r == 0 && i < s->steering->n_notes; i++)
        r = acknowledge(s, &s->steering->notes[i], err);
    s->steering->n_notes = 0;
    return r;
}

void hone_search_wait_ms(struct hone_search *s, int64_t ms)
{
    const struct hone_cancel *cancel = s->ctx->cancel;
    struct pollfd fd = {.fd = cancel ? cancel->event_fd : -1, .events = POLLIN};
    poll(&fd, 1, (int)ms);
}

int hone_search_listen(struct hone_search *s, struct hone_err *err)
{
    int r = read_and_acknowledge(s, err);
    bool was_told = false;
    while (r == 0 && s->steering->is_paused && !s->steering->wants_stop &&
           !hone_cancel_is_set(s->ctx->cancel)) {
        if (!was_told)
            hone_search_tell(s, "paused; hone steer %s resume", s->name);
        was_told = true;
        int64_t from = hone_search_now_ns(s);
        hone_search_wait_ms(s, PAUSE_POLL_MS);
        s->start_ns += hone_search_now_ns(s) - from; /* budgets are for work */
        r = read_and_acknowledge(s, err);
    }
    return r;
}

/* ---- submissions ---- */

static int answer(struct hone_search *s, const struct hone_submission *sub, const char *status,
                  const char *note, struct hone_err *err)
{
    struct hone_event e = {
        .type = HONE_EVENT_ANSWER,
        .answer = {.search = s->id, .submission = (int64_t)sub->n, .status = status, .note = note}};
    hone_search_tell(s, "submission of %s %s: %.150s", sub->by, status, note);
    return hone_search_record_event(s, &e, NULL, NULL, err);
}

static struct hone_node *version_of(struct hone_search *s, const struct hone_submission *sub)
{
    if (!sub->commit)
        return s->state.tree.best == HONE_NO_NODE ? NULL : s->state.tree.nodes[s->state.tree.best];
    for (int i = 0; i < s->state.tree.n_nodes; i++)
        if (s->state.tree.nodes[i]->commit &&
            strcmp(s->state.tree.nodes[i]->commit, sub->commit) == 0)
            return s->state.tree.nodes[i];
    return NULL;
}

static void expect(const struct hone_submission *sub, struct hone_action *a)
{
    if (!isfinite(sub->expected))
        return;
    a->gain = log2(sub->expected);
    a->low = fmin(a->low, a->gain);
    a->high = fmax(a->high, a->gain);
}

/* A source from outside becomes an action of its own; the same source again is the same action. */
static struct hone_action *own_source(struct hone_search *s, const struct hone_node *from,
                                      const struct hone_submission *sub, const char **ret_why)
{
    const char *id = sub->strategy ? sub->strategy : HONE_STRATEGY_FREE;
    const struct hone_rewrite *rewrite = hone_coder_outside(s->coder, id);
    char hash[HONE_HASH_TEXT_BYTES];
    if (!rewrite) {
        *ret_why = "no such strategy";
        return NULL;
    }
    struct hone_action *a = hone_pool_alloc(s->pool, sizeof(*a));
    struct hone_expectation e;
    hone_source_hash(sub->source, hash);
    *a = (struct hone_action){
        .rewrite = rewrite,
        .strategy = hone_strategy_of(rewrite),
        .rule = hone_pool_printf(s->pool, "external %s chose it", sub->by),
        .values = "",
        .boost = 1,
        .given = sub->source,
        .site = {.words = hone_pool_printf(s->pool, "%s%sby %s", sub->words ? sub->words : "",
                                           sub->words ? ", " : "", sub->by),
                 .evidence = hone_pool_printf(s->pool, "submission %llu, a source of its own",
                                              (unsigned long long)sub->n)}};
    hone_site_whole(&a->site, from->source, hash);
    hone_credit_predict(&s->state.credit, a->strategy,
                        from->n_findings ? from->findings[0].class_id : HONE_N_CLASSES, &e);
    a->p_impl = e.p_impl;
    a->low = e.low;
    a->gain = e.gain;
    a->high = e.high;
    a->positive = e.positive;
    if (hone_tree_was_tried(&s->state.tree, from->index, rewrite->name, a->site.anchor, 0)) {
        *ret_why = "this text was tried from this version before";
        return NULL;
    }
    return a;
}

static bool is_meant(const struct hone_submission *sub, const struct hone_action *a)
{
    if (!sub->rewrite)
        return strcmp(sub->strategy, a->strategy->id) == 0;
    return strcmp(sub->rewrite, a->rewrite->name) == 0 &&
           (!sub->strategy || strcmp(sub->strategy, a->strategy->id) == 0) &&
           (!sub->anchor ||
            (strcmp(sub->anchor, a->site.anchor) == 0 && sub->variant == a->site.variant));
}

/* A legal step of the version, for the search's own coder; the list's entry counts as tried. */
static struct hone_action *own_step(struct hone_search *s, struct hone_node *from,
                                    const struct hone_submission *sub, const char **ret_why)
{
    hone_policy_best_action(&s->policy_ctx, from); /* expands, scores */
    for (size_t i = 0; i < from->n_actions; i++) {
        if (from->actions[i].is_tried || !is_meant(sub, &from->actions[i]))
            continue;
        from->actions[i].is_tried = true;
        struct hone_action *a = hone_pool_alloc(s->pool, sizeof(*a));
        *a = from->actions[i];
        a->rule = hone_pool_printf(s->pool, "external %s chose it; %s", sub->by, a->rule);
        return a;
    }
    *ret_why = "no legal step of that kind is left at this version; strategy_propose with this "
               "search lists them";
    return NULL;
}

int hone_search_take(struct hone_search *s, bool *ret_did, struct hone_err *err)
{
    const struct hone_submission *sub = s->steering->first;
    const char *why = "it starts from no version of this search";
    struct hone_action *a = NULL;
    *ret_did = sub != NULL;
    if (!sub)
        return 0;
    struct hone_node *from = version_of(s, sub);
    if (from)
        a = sub->source ? own_source(s, from, sub, &why) : own_step(s, from, sub, &why);
    if (a && hone_credit_is_banned(&s->state.credit, a->strategy)) {
        a = NULL;
        why = "its strategy is banned";
    }
    if (!a)
        return answer(s, sub, "refused", why, err);
    expect(sub, a);
    s->submission = sub;
    int r = hone_search_try(s, from, a, 1, err);
    enum hone_stop_reason capped = hone_search_take_refusal(s, r);
    s->submission = NULL;
    return capped ? answer(s, sub, "refused", hone_stop_reason_name(capped), err) : r;
}

int hone_search_drop_submissions(struct hone_search *s, const char *why, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    int r = read_steering(s, err);
    const char *note = hone_pool_printf(pool, "the search has ended (%s)", why);
    for (const struct hone_submission *sub = s->steering->first; r == 0 && sub; sub = sub->next)
        r = answer(s, sub, "dropped", note, err);
    return r;
}
