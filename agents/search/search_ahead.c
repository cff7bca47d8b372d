/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a model take minutes, evaluations seconds. So steps are chosen before the last one has
 * ended, as long as the answers of fewer than coders are waited for: a step under way counts as
 * tried and as a visit without a value (tree.h).
 *
 *   pick -> its answer is asked for -> queue -> oldest answer -> tried as any other step
 *
 * The oldest first, whoever answers first: then the tree follows from the answers and not from who
 * was quick. Steps of rules do not wait in the queue. Whatever ends the search, or a step that the
 * user banned meanwhile, leaves its answer stored; a search that goes on begins with steps whose
 * answer is there and that have no end. */
#include <stdlib.h>
#include <string.h>

#include "agents/search/search_internal.h"
#include "agents/search/search_models.h"
#include "workspace/base/clock.h"

struct step {
    int node;
    struct hone_action action; /* a copy: a version's actions are put in order anew */
    double propensity;
    struct hone_pool *pool; /* of work */
    struct hone_coder_work work;
    struct hone_coder_ask *ask; /* NULL: it has ended, or its answer was stored */
    struct hone_err cause;      /* why there is no answer; code 0: none */
    size_t model;
};

struct hone_search_ahead {
    size_t n_most;
    struct hone_model *models[HONE_MAX_CODERS];
    bool is_busy[HONE_MAX_CODERS];
    bool is_recorded;  /* answers come from a file, which one client reads: at once, in order */
    bool has_searched; /* for steps of before that have an answer and no end */
    struct hone_cancel cancel;
    struct step *steps[HONE_MAX_CODERS]; /* oldest first */
    size_t n;
};

/* ---- one step ---- */

static struct hone_edge_record edge_of(const struct step *t)
{
    struct hone_edge_record edge = {.parent = t->node,
                                    .rewrite = t->action.rewrite->name,
                                    .strategy = t->action.strategy,
                                    .variant = t->action.site.variant};
    memcpy(edge.anchor, t->action.site.anchor, sizeof(edge.anchor));
    return edge;
}

static struct hone_action *find_action(struct hone_node *n, const struct hone_action *a)
{
    for (size_t i = 0; i < n->n_actions; i++)
        if (n->actions[i].rewrite == a->rewrite && n->actions[i].sibling == a->sibling &&
            n->actions[i].plan == a->plan && n->actions[i].site.variant == a->site.variant &&
            strcmp(n->actions[i].site.anchor, a->site.anchor) == 0)
            return &n->actions[i];
    return NULL;
}

static struct step *new_step(struct hone_search *s, struct hone_node *from,
                             const struct hone_action *a, double propensity)
{
    struct step *t = hone_calloc(1, sizeof(*t));
    t->node = from->index;
    t->action = *a;
    t->propensity = propensity;
    t->pool = hone_pool_new();
    t->work = hone_search_work(s, from, &t->action, t->pool);
    return t;
}

static void push(struct hone_search *s, struct step *t, struct hone_action *a)
{
    const struct hone_edge_record edge = edge_of(t);
    a->is_tried = true;
    hone_tree_begin_step(&s->state.tree, &edge);
    s->ahead->steps[s->ahead->n++] = t;
}

static void end_ask(struct hone_search_ahead *q, struct step *t)
{
    if (!t->ask)
        return;
    q->is_busy[t->model] = false;
    hone_coder_ask_end(t->ask, &t->cause);
    t->ask = NULL;
    bool is_late = hone_model_fault_of(&t->cause) == HONE_FAULT_TIMEOUT &&
                   t->work.deadline_ns > 0 && hone_now_ns() >= t->work.deadline_ns;
    if (is_late) /* its own end, which a pause moves for later asks */
        t->cause.native = HONE_FAULT_DEADLINE;
}

/* Waits for its answer; nothing of it is left in the tree. */
static void end_step(struct hone_search *s, struct step *t)
{
    const struct hone_edge_record edge = edge_of(t);
    end_ask(s->ahead, t);
    hone_tree_end_step(&s->state.tree, &edge);
    hone_pool_free(t->pool);
}

static struct step *pop(struct hone_search_ahead *q, size_t i)
{
    struct step *t = q->steps[i];
    memmove(&q->steps[i], &q->steps[i + 1], (--q->n - i) * sizeof(*q->steps));
    return t;
}

/* ---- asking ---- */

static size_t idle_model(const struct hone_search_ahead *q)
{
    size_t i = 0;
    while (i < q->n_most && q->is_busy[i])
        i++;
    return i;
}

static int begin(struct hone_search *s, struct hone_node *from, struct hone_action *a,
                 double propensity, struct hone_err *err)
{
    struct hone_search_ahead *q = s->ahead;
    struct step *t = new_step(s, from, a, propensity);
    t->model = idle_model(q);
    struct hone_model *model = q->is_recorded ? s->models->coder : q->models[t->model];
    int r = hone_coder_ask_begin(s->coder, &t->work, model, &q->cancel, &t->ask, err);
    if (r < 0) {
        hone_pool_free(t->pool);
        free(t);
        return r;
    }
    q->is_busy[t->model] = t->ask != NULL;
    if (q->is_recorded)
        end_ask(q, t);
    push(s, t, a);
    hone_search_tell(s, "asked: %s (%s); %zu under way", a->rewrite->words, a->site.words, q->n);
    return 0;
}

/* One more? While the model fails, one at a time. */
static bool may_ask_more(struct hone_search *s)
{
    const struct hone_search_ahead *q = s->ahead;
    size_t n_most = hone_coder_is_failing(s->coder) ? 1 : q->n_most;
    const struct hone_planned planned = {.n = (int64_t)q->n + 1};
    return q->n < n_most && !hone_search_over(s, &planned);
}

/* Until enough is under way, or a step came that waits for nobody. */
static int fill(struct hone_search *s, bool *ret_did, struct hone_err *err)
{
    struct hone_search_ahead *q = s->ahead;
    struct hone_pick pick;
    bool has_step = true;
    while (may_ask_more(s)) {
        int r = hone_search_choose(s, &pick, &has_step, err);
        if (r < 0 || !has_step)
            return r;
        struct hone_node *from = s->state.tree.nodes[pick.node];
        bool was_reviewed = false;
        r = hone_search_review(s, pick.node, &was_reviewed, err);
        if (r == 0 && was_reviewed)
            continue;
        struct hone_action *a = &from->actions[pick.action];
        *ret_did = r == 0 && (a->rewrite->apply || a->given);
        if (*ret_did)
            return hone_search_expand(s, &pick, err);
        if (r == 0)
            r = begin(s, from, a, pick.propensity, err);
        if (r < 0 && q->n > 0 && hone_search_take_refusal(s, r))
            return 0; /* no further ask fits a cap: what is under way comes first */
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- going on ---- */

static bool is_begun(const struct hone_coder_begun *b, const char *rewrite, const char *anchor,
                     int variant)
{
    return b->variant == variant && strcmp(b->rewrite, rewrite) == 0 &&
           strcmp(b->anchor, anchor) == 0;
}

/* More answers of such a step than ends: one of them waits. */
static bool has_no_end(const struct hone_tree *t, const struct hone_coder_begun *list, size_t n,
                       const struct hone_coder_begun *b)
{
    size_t n_begun = 0, n_ended = 0;
    for (size_t i = 0; i < n; i++)
        n_begun += is_begun(b, list[i].rewrite, list[i].anchor, list[i].variant);
    for (size_t i = 0; i < t->n_edges; i++)
        n_ended += is_begun(b, t->edges[i].rewrite, t->edges[i].anchor, t->edges[i].variant);
    return n_begun > n_ended;
}

/* The step of whichever version it was asked for: the key knows the source. */
static void find_again(struct hone_search *s, const struct hone_coder_begun *b)
{
    for (int i = 0; i < s->state.tree.n_nodes; i++) {
        struct hone_node *n = s->state.tree.nodes[i];
        if (!n->is_expanded)
            hone_search_list_steps(s, n);
        for (size_t k = 0; k < n->n_actions && s->ahead->n < HONE_MAX_CODERS; k++) {
            struct hone_action *a = &n->actions[k];
            if (a->is_tried || !is_begun(b, a->rewrite->name, a->site.anchor, a->site.variant))
                continue;
            const struct hone_coder_work work = {
                .source = n->source, .rewrite = a->rewrite, .site = &a->site, .plan = a->plan};
            if (hone_coder_is_answered(s->coder, &work))
                push(s, new_step(s, n, a, 1), a);
        }
    }
}

/* Most often none: then nothing is read. */
static void find_begun(struct hone_search *s)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_coder_begun *list = NULL;
    s->ahead->has_searched = true;
    size_t n = hone_coder_list_begun(s->coder, pool, &list);
    for (size_t i = 0; i < n; i++)
        if (has_no_end(&s->state.tree, list, n, &list[i]))
            find_again(s, &list[i]);
    if (s->ahead->n > 0)
        hone_search_tell(s, "goes on with %zu answers that were stored", s->ahead->n);
}

/* ---- taking ---- */

static bool is_banned(const struct hone_search *s, const struct step *t)
{
    return hone_credit_is_banned(&s->state.credit, t->action.strategy);
}

/* The oldest; what the user banned meanwhile holds up nobody. */
static size_t next_of(const struct hone_search *s)
{
    const struct hone_search_ahead *q = s->ahead;
    for (size_t i = 0; i < q->n; i++)
        if (!is_banned(s, q->steps[i]) || hone_coder_ask_has_ended(q->steps[i]->ask))
            return i;
    return 0;
}

/* *ret_is_there false: somebody wants something else first. */
static int wait_for_next(struct hone_search *s, bool *ret_is_there, struct hone_err *err)
{
    int r = 0;
    while (r == 0 && !hone_coder_ask_has_ended(s->ahead->steps[next_of(s)]->ask)) {
        if (hone_cancel_is_set(s->ctx->cancel) || s->steering->wants_stop || s->steering->first)
            return 0;
        hone_search_wait_ms(s, HONE_SEARCH_POLL_MS);
        r = hone_search_listen(s, err);
    }
    *ret_is_there = r == 0;
    return r;
}

static int take(struct hone_search *s, struct hone_err *err)
{
    HONE_AUTOFREE struct step *t = pop(s->ahead, next_of(s));
    struct hone_node *from = s->state.tree.nodes[t->node];
    end_step(s, t);
    struct hone_action *listed = find_action(from, &t->action);
    bool is_done = hone_tree_was_tried(&s->state.tree, t->node, t->action.rewrite->name,
                                       t->action.site.anchor, t->action.site.variant);
    if (from->is_refuted || is_banned(s, t) || is_done) /* done: by a submission meanwhile */
        return 0;                                       /* its answer stays where it is */
    s->failed_ask = t->cause.code ? &t->cause : NULL;
    /* not listed any more (the list was made anew): it was paid for all the same */
    int r = hone_search_try(s, from, listed ? listed : &t->action, t->propensity, err);
    s->failed_ask = NULL;
    return r;
}

int hone_search_take_ahead(struct hone_search *s, bool may_ask, bool *ret_did, struct hone_err *err)
{
    struct hone_search_ahead *q = s->ahead;
    bool is_there = false;
    *ret_did = false;
    if (!q->has_searched) /* now: submissions of before were taken, their steps are theirs */
        find_begun(s);
    int r = may_ask && q->n_most > 1 ? fill(s, ret_did, err) : 0;
    if (r < 0 || *ret_did || q->n == 0)
        return r;
    *ret_did = true;
    r = wait_for_next(s, &is_there, err);
    return r == 0 && is_there ? take(s, err) : r;
}

/* ---- opening, closing ---- */

int hone_search_open_ahead(struct hone_search *s, struct hone_err *err)
{
    if (!s->models || !s->models->coder)
        return 0;
    struct hone_search_ahead *q = hone_calloc(1, sizeof(*q));
    s->ahead = q;
    q->n_most = (size_t)hone_max_i64(1, s->options->coders);
    int r = hone_cancel_init(&q->cancel, err);
    const char *name = s->options->model; /* NULL: the default */
    q->is_recorded = hone_model_is_recorded(s->models->coder);
    /* of whoever submits steps, all are */
    q->has_searched = hone_search_is_external(s);
    for (size_t i = 0; r == 0 && q->n_most > 1 && !q->is_recorded && i < q->n_most; i++)
        r = hone_model_open(&s->models->config, name, &q->models[i], err);
    return r;
}

int hone_search_drop_ahead(struct hone_search *s, struct hone_err *err)
{
    struct hone_search_ahead *q = s->ahead;
    if (!q || q->n == 0)
        return 0;
    hone_cancel_set(&q->cancel);
    while (q->n > 0) {
        HONE_AUTOFREE struct step *t = pop(q, 0);
        end_step(s, t);
        struct hone_action *a = find_action(s->state.tree.nodes[t->node], &t->action);
        if (a)
            a->is_tried = false;
    }
    hone_cancel_done(&q->cancel);
    return hone_cancel_init(&q->cancel, err);
}

void hone_search_close_ahead(struct hone_search *s)
{
    struct hone_search_ahead *q = s->ahead;
    if (!q)
        return;
    (void)hone_search_drop_ahead(s, NULL);
    for (size_t i = 0; i < q->n_most; i++)
        hone_model_free(q->models[i]);
    hone_cancel_done(&q->cancel);
    free(q);
    s->ahead = NULL;
}
