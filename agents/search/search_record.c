/* SPDX-License-Identifier: Apache-2.0 */
/* The search's records in the ledger, and going on from them.
 *
 * A result record holds what the tree needs: parent, rewrite, region, value, commit. Sources come
 * back from the history. A step without a result (the process was killed in between) is simply
 * not in the tree: the policy will take it again, and the evaluation, if it had ended, is found
 * by its content. */
#include "agents/search/search_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/coder/prompt_machine.h"
#include "workspace/base/clock.h"
#include "workspace/base/log.h"
#include "workspace/history.h"
#include "workspace/ledger.h"

#define Z_95       1.96
#define UNKNOWN_SE 0.02 /* of a time without an interval */

static struct hone_ledger *ledger_of(struct hone_search *s)
{
    return hone_workspace_ledger(s->ctx->app->ws);
}

/* What must agree for one search to go on with another's tree. Budgets may differ. */
static void make_key(const struct hone_search *s, char ret[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher h;
    hone_hasher_init(&h);
    hone_hasher_str(&h, s->task->name);
    hone_hasher_str(&h, s->task->hash);
    hone_hasher_str(&h, s->target);
    hone_hasher_str(&h, s->name);
    hone_hasher_str(&h, s->policy->name);
    if (strcmp(hone_coder_name(s->coder), "rules") != 0)
        hone_hasher_str(&h, hone_coder_name(s->coder));
    hone_hasher_part(&h, &s->options->seed, sizeof(s->options->seed));
    if (s->options->skip_below > 0)
        hone_hasher_part(&h, &s->options->skip_below, sizeof(s->options->skip_below));
    hone_hasher_end(&h, ret);
}

static const char *machine_of(struct hone_search *s)
{
    if (!s->machine)
        s->machine = hone_machine_name(s->ctx->app->executor, s->target, s->pool);
    return s->machine;
}

/* ---- going on ---- */

struct kin { /* a search of the same task and target */
    const char *id;
    struct kin *next;
};

struct replay {
    struct hone_search *s;
    const char *key;
    const char *machine; /* of the last round that began */
    bool is_ours;
    bool has_namesake; /* a search of this name with another key */
    bool has_kin;      /* one of this key, or of the same task and target */
    struct hone_pool *pool;
    struct kin *kin;
};

static bool is_kin(const struct replay *p, const char *id)
{
    const struct kin *k = p->kin;
    while (k && strcmp(k->id, id) != 0)
        k = k->next;
    return k != NULL;
}

/* How long the same evaluations took in any search: known before this one has made its own. */
static void note_pace(struct replay *p, const struct hone_event *e)
{
    const struct hone_event_start *start = &e->start;
    if (e->type == HONE_EVENT_RESULT && is_kin(p, e->result.search ? e->result.search : ""))
        hone_pace_note(&p->s->pace, &e->result, e->result.wall_ms);
    if (e->type != HONE_EVENT_START || !start->search || !start->task_hash || !start->target ||
        strcmp(start->task_hash, p->s->task->hash) != 0 ||
        strcmp(start->target, p->s->target) != 0 || is_kin(p, start->search))
        return;
    struct kin *k = hone_pool_alloc(p->pool, sizeof(*k));
    *k = (struct kin){.id = hone_pool_strdup(p->pool, start->search), .next = p->kin};
    p->kin = k;
}

static void new_round(struct hone_search *s)
{
    s->n_unruly = 0;
    memset(s->n_verdicts, 0, sizeof(s->n_verdicts));
}

/* A round of this search? Then its records are those that count from here on. */
static void on_start(struct replay *p, const struct hone_event_start *start)
{
    bool is_key = start->key && strcmp(start->key, p->key) == 0;
    if (!is_key) {
        p->has_namesake = p->has_namesake || (start->name && strcmp(start->name, p->s->name) == 0);
        return;
    }
    p->s->id = hone_pool_strdup(p->s->pool, start->search ? start->search : "");
    if (!p->is_ours)
        hone_usage_init(&p->s->usage, p->s->id);
    p->is_ours = true;
    p->machine = hone_pool_strdup(p->s->pool, start->machine ? start->machine : "");
    new_round(p->s);
}

/* The version that the result brings: its source comes back from the history. */
static struct hone_node *read_version(struct hone_search *s, const struct hone_event_result *r,
                                      struct hone_pool *pool)
{
    struct hone_history *history = hone_workspace_history(s->ctx->app->ws);
    struct hone_version v;
    if (!r->commit || hone_history_read(history, r->commit, pool, &v, NULL) < 0 || !v.source)
        return NULL;
    return hone_state_draft(&s->state, r, v.source);
}

static void on_result(struct hone_search *s, const struct hone_event_result *r)
{
    enum hone_verdict verdict;
    if (r->verdict && hone_verdict_parse(r->verdict, &verdict))
        s->n_verdicts[verdict]++;
    s->n_unruly += r->reason && strcmp(r->reason, hone_reason_row(HONE_REASON_UNRULY)->word) == 0;
}

static int replay_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                         const struct hone_json *data, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct replay *p = arg;
    struct hone_search *s = p->s;
    struct hone_node *draft = NULL;
    struct hone_event e;
    (void)err;
    if (s->replay_until > 0 && n > s->replay_until)
        return 0;
    bool is_event = hone_event_read(type, data, pool, &e);
    if (is_event)
        note_pace(p, &e);
    if (is_event && e.type == HONE_EVENT_START)
        on_start(p, &e.start);
    if (p->is_ours)
        hone_usage_take(&s->usage,
                        &(struct hone_usage_record){n, wall_ms, type, data, is_event ? &e : NULL});
    if (!is_event || !p->is_ours || strcmp(hone_event_search(&e), s->id) != 0)
        return 0;
    if (e.type == HONE_EVENT_RESULT) {
        on_result(s, &e.result);
        if (hone_state_brings(&s->state, &e.result))
            draft = read_version(s, &e.result, pool);
    }
    hone_state_apply(&s->state, &e, draft);
    return 0;
}

/* A first look at the searches that began: without one of this key, or of the same task and target,
 * the records tell this search nothing, and reading all of them is most of its opening. */
static int look_for_kin(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                        const struct hone_json *data, struct hone_err *err)
{
    struct replay *p = arg;
    struct hone_search *s = p->s;
    const char *key = hone_json_get_str(data, "key", ""),
               *name = hone_json_get_str(data, "name", ""),
               *task_hash = hone_json_get_str(data, "task_hash", ""),
               *target = hone_json_get_str(data, "target", "");
    (void)n, (void)wall_ms, (void)type, (void)err;
    bool is_key = strcmp(key, p->key) == 0;
    p->has_kin = p->has_kin || is_key ||
                 (strcmp(task_hash, s->task->hash) == 0 && strcmp(target, s->target) == 0);
    p->has_namesake = p->has_namesake || (!is_key && strcmp(name, s->name) == 0);
    return 0;
}

static int record_start(struct hone_search *s, const char *key, struct hone_err *err)
{
    struct hone_event e = {.type = HONE_EVENT_START,
                           .start = {.search = s->id,
                                     .key = key,
                                     .task = s->task->name,
                                     .task_hash = s->task->hash,
                                     .target = s->target,
                                     .name = s->name,
                                     .policy = s->policy->name,
                                     .coder = hone_coder_name(s->coder),
                                     .machine = machine_of(s)}};
    hone_search_options_put(s->options, &e.start);
    return hone_search_record_event(s, &e, NULL, NULL, err);
}

int hone_search_read_record(struct hone_search *s, bool *ret_is_known, struct hone_err *err)
{
    char key[HONE_HASH_TEXT_BYTES];
    make_key(s, key);
    s->pace.n_sizes = s->task->n_workloads;
    s->pace.is_device = strcmp(s->target, "cuda") == 0;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct replay replay = {.s = s, .key = key, .pool = pool}, *p = &replay;
    struct hone_err cause = HONE_ERR_INIT;
    int r = hone_ledger_scan_type(ledger_of(s), "search.start", look_for_kin, p, &cause);
    if (p->has_kin && (r == 0 || r == HONE_E_CORRUPT))
        r = hone_ledger_scan(ledger_of(s), 0, replay_record, p, &cause);
    if (r == HONE_E_CORRUPT) { /* damaged lines; all others were read, and the search can go on */
        hone_log(HONE_LOG_WARN, "search=%s going on without damaged records error=\"%s\"", s->name,
                 cause.message);
    } else if (r < 0) {
        return hone_fail(err, (enum hone_code)r, "reading the search's records: %.300s",
                         cause.message);
    }
    s->elapsed_before_ms = s->usage.wall_ms;
    s->n_evaluations = s->usage.round_evaluations;
    if (!p->is_ours && p->has_namesake)
        hone_search_tell(s,
                         "a search '%.64s' is in the records, with another task, pack, target, "
                         "policy, coder, seed or share to skip: this one begins anew, its caps too",
                         s->name);
    const char *machine = p->is_ours ? machine_of(s) : NULL;
    if (machine && p->machine[0] != '\0' && strcmp(machine, p->machine) != 0)
        hone_search_tell(s,
                         "earlier versions were measured on another machine (%.40s; this is %.40s) "
                         "and are compared by those times; another --name measures all of it here",
                         p->machine, machine);
    *ret_is_known = p->is_ours;
    return 0;
}

int hone_search_open_record(struct hone_search *s, struct hone_err *err)
{
    char key[HONE_HASH_TEXT_BYTES], random[13];
    int r = hone_search_read_record(s, &s->is_resumed, err);
    if (r < 0)
        return r;
    bool is_new_round = s->is_resumed && s->state.has_ended;
    if (is_new_round) { /* it starts its budgets afresh and keeps the tree */
        s->elapsed_before_ms = 0;
        s->n_evaluations = s->usage.round_evaluations = 0;
        new_round(s);
    }
    if (!s->is_resumed) {
        hone_random_hex(random, 6);
        s->id = hone_pool_printf(s->pool, "s-%s", random);
        hone_usage_init(&s->usage, s->id);
    }
    r = hone_search_load_models(s, err);
    if (r == 0)
        r = hone_search_open_budgets(s, is_new_round, err);
    if (r < 0 || (s->is_resumed && !is_new_round))
        return r;
    struct hone_cost_model model;
    if (!s->is_resumed && s->options->skip_below > 0 &&
        !hone_cost_read(s->options->cost, s->target, &model))
        return hone_fail_at(err, HONE_E_ARG, "skip_below", "needs a cost model");
    make_key(s, key);
    return record_start(s, key, err);
}

/* ---- writing ---- */

/* Everything that was legal, with the parts of its prior: what the choice was made among. */
static struct hone_json *legal_json(const struct hone_node *node)
{
    struct hone_json *out = hone_json_new_array();
    for (size_t i = 0; i < node->n_actions; i++) {
        const struct hone_action *a = &node->actions[i];
        struct hone_json *row = hone_json_new_object();
        hone_json_set_str(row, "rewrite", a->rewrite->name);
        hone_json_set_str(row, "strategy", a->strategy->id);
        hone_json_set_i64(row, "variant", a->site.variant);
        hone_json_set_f64(row, "prior", a->prior);
        hone_json_set_f64(row, "p_impl", a->p_impl);
        hone_json_set_f64(row, "positive", a->positive);
        hone_json_set_f64(row, "boost", a->boost);
        if (a->is_tried)
            hone_json_set_bool(row, "is_tried", true);
        if (a->is_left_out)
            hone_json_set_bool(row, "is_left_out", true);
        hone_json_push(out, row);
    }
    return out;
}

int hone_search_record_step(struct hone_search *s, const struct hone_node *node,
                            const struct hone_action *a, double propensity, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *features = hone_features_json(&node->features, 0);
    HONE_AUTOJSON struct hone_json *legal = legal_json(node);
    struct hone_event e = {.type = HONE_EVENT_STEP,
                           .step = {.search = s->id,
                                    .step = s->state.n_steps + 1,
                                    .parent = node->number,
                                    .depth = node->depth,
                                    .rewrite = a->rewrite->name,
                                    .strategy = a->strategy->id,
                                    .anchor = a->site.anchor,
                                    .variant = a->site.variant,
                                    .rule = a->rule,
                                    .values = a->values,
                                    .prior = a->prior,
                                    .p_impl = a->p_impl,
                                    .expected_log2 = a->gain,
                                    .low = a->low,
                                    .high = a->high,
                                    .propensity = propensity,
                                    .by = s->submission ? s->submission->by : NULL,
                                    .submission = s->submission ? (int64_t)s->submission->n : 0,
                                    .planner = HONE_PLANNER_VERSION,
                                    .features = features,
                                    .legal = legal}};
    return hone_search_record_event(s, &e, NULL, NULL, err);
}

/* ---- what the cost model left out ---- */

static int record_left_out(struct hone_search *s, const struct hone_node *node,
                           const struct hone_action *a, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_event e = {
        .type = HONE_EVENT_LEFT_OUT,
        .left_out = {.search = s->id,
                     .step = s->state.n_steps,
                     .parent = node->number,
                     .rewrite = a->rewrite->name,
                     .strategy = a->strategy->id,
                     .anchor = a->site.anchor,
                     .variant = a->site.variant,
                     .words = hone_pool_printf(pool, "%s (%s)", a->rewrite->words, a->site.words),
                     .predicted_log2 = a->cost_log2,
                     .error_log2 = s->state.cost->error,
                     .chance = a->cost_chance}};
    return hone_search_record_event(s, &e, NULL, NULL, err);
}

/* Of one version; those that are in the records already have one. */
static int record_all_left_out(struct hone_search *s, struct hone_node *n, struct hone_err *err)
{
    size_t n_told = 0;
    for (size_t i = 0; i < n->n_actions; i++) {
        const struct hone_action *a = &n->actions[i];
        if (!a->is_left_out || a->is_tried || hone_state_knows_left_out(&s->state, n->index, a))
            continue;
        int r = record_left_out(s, n, a, err);
        if (r < 0)
            return r;
        n_told++;
    }
    n->has_left_out = false;
    if (n_told > 0)
        hone_search_tell(s, "left out by the cost model at version %d: %zu of %zu steps", n->number,
                         n_told, n->n_actions);
    return 0;
}

int hone_search_record_left_out(struct hone_search *s, struct hone_err *err)
{
    struct hone_tree *t = &s->state.tree;
    int r = 0;
    for (int i = 0; r == 0 && i < t->n_nodes; i++)
        if (t->nodes[i]->has_left_out)
            r = record_all_left_out(s, t->nodes[i], err);
    return r;
}

static void put_outcome(struct hone_event_result *r, const struct hone_search_outcome *o)
{
    r->verdict = hone_verdict_name(o->verdict);
    r->reason = o->reason;
    r->evaluation = o->evaluation;
    r->commit = o->commit;
    r->code = o->code;
    r->ratio = o->ratio;
    r->wall_ms = o->wall_ms;
}

void hone_search_put_value(struct hone_event_result *r, const struct hone_search_outcome *o)
{
    bool has_interval = o->high > o->low && o->low > 0;
    double shift =
        o->rank / o->ratio; /* the interval is of all workloads, the value of public ones */
    r->value = log2(o->rank);
    r->se = has_interval ? (log2(o->high) - log2(o->low)) / (2 * Z_95) : UNKNOWN_SE;
    r->ratio_low = has_interval ? o->low * shift : 0;
    r->ratio_high = has_interval ? o->high * shift : 0;
    r->look = o->basis.look;
    r->sizes_timed = o->basis.n_timed;
    r->sizes = o->basis.n_sizes;
    r->times = o->times;
}

void hone_search_put_known(struct hone_event_result *r, const struct hone_node *n)
{
    r->node = n->number;
    r->value = n->value;
    r->se = n->se;
    r->ratio_low = n->low > 0 ? n->low : 0;
    r->ratio_high = n->low > 0 ? n->high : 0;
    r->look = n->basis.look;
    r->sizes_timed = n->basis.n_timed;
    r->sizes = n->basis.n_sizes;
    r->times = n->times;
}

static void free_json(void *json)
{
    hone_json_free(json);
}

void hone_search_put_profile(struct hone_event_result *r, const struct hone_node *n,
                             struct hone_pool *pool)
{
    r->profile = hone_state_profile_json(n);
    if (r->profile)
        hone_pool_defer(pool, free_json, r->profile);
}

int hone_search_draft(struct hone_search *s, struct hone_event_result *r,
                      const struct hone_search_outcome *o, const char *source,
                      struct hone_pool *pool, struct hone_node **ret, struct hone_err *err)
{
    put_outcome(r, o);
    r->measured = hone_features_json(&o->measured, 0);
    hone_pool_defer(pool, free_json, r->measured);
    r->node = s->state.tree.next_number;
    *ret = hone_state_draft(&s->state, r, source);
    return *ret ? 0
                : hone_fail(err, HONE_E_LIMIT, "the tree holds at most %d versions",
                            HONE_TREE_MAX_NODES);
}

/* Who listens is told what the search knows now. */
static void tell_event(const struct hone_search *s, uint64_t n)
{
    char digest[HONE_HASH_TEXT_BYTES];
    if (!s->options->on_event)
        return;
    hone_state_digest(&s->state, digest);
    s->options->on_event(s->options->on_event_arg, n, digest);
}

int hone_search_record_event(struct hone_search *s, struct hone_event *e,
                             const struct hone_search_outcome *o, struct hone_node *draft,
                             struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *measured = NULL;
    uint64_t n = 0;
    if (e->type == HONE_EVENT_RESULT) {
        e->result.search = s->id;
        e->result.step = s->state.n_steps;
        e->result.elapsed_ms = hone_search_elapsed_ms(s);
        e->result.evaluations = s->n_evaluations;
    }
    if (o) {
        put_outcome(&e->result, o);
        if (!e->result.measured)
            measured = e->result.measured = hone_features_json(&o->measured, 0);
    }
    int r = hone_event_append(ledger_of(s), e, &n, err);
    if (r < 0)
        return r;
    hone_state_apply(&s->state, e, draft);
    if (o)
        hone_pace_note(&s->pace, &e->result, o->pace_ms);
    tell_event(s, n);
    return 0;
}
