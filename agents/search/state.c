/* SPDX-License-Identifier: Apache-2.0 */
/* Applying events to the state: one function for each type of record, reached through a table by
 * hone_state_apply. A result brings a version (draft) or measures one again; credit, the mix of
 * planners and the times of stages follow from it. Pure: what comes in is the event and its draft. */
#include "agents/search/state.h"
#include "agents/planner/prior.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/format/verdict.h"

#define UNKNOWN_SE 0.02 /* of records that do not tell it */

static const char *const tri_names[] = {
    [HONE_TRI_FALSE] = "no", [HONE_TRI_UNKNOWN] = "unknown", [HONE_TRI_TRUE] = "yes"};

const char *hone_state_tri_name(enum hone_tri tri)
{
    return tri_names[tri];
}

void hone_state_init(struct hone_state *state, struct hone_pool *pool, hone_state_find_fn *find,
                     void *find_arg)
{
    memset(state, 0, sizeof(*state));
    state->pool = pool;
    state->find = find;
    state->find_arg = find_arg;
    hone_tree_init(&state->tree, pool);
    hone_credit_init(&state->credit);
    hone_mix_init(&state->mix);
}

/* A damaged record must not shift the others' parents. */
int hone_state_index(const struct hone_state *state, int64_t number)
{
    return number >= 0 && number < HONE_TREE_MAX_NODES ? state->at[number] - 1 : HONE_NO_NODE;
}

int hone_state_number(const struct hone_state *state, int index)
{
    return index == HONE_NO_NODE ? HONE_NO_NODE : state->tree.nodes[index]->number;
}

static const char *keep(const struct hone_state *state, const char *text)
{
    return hone_pool_strdup(state->pool, text);
}

/* ---- words of records ---- */

/* Records of before had is_implemented alone. */
static enum hone_tri moved_of(const struct hone_event_result *r)
{
    for (int i = 0; r->moved && i < (int)HONE_COUNTOF(tri_names); i++)
        if (strcmp(tri_names[i], r->moved) == 0)
            return (enum hone_tri)i;
    return r->is_implemented ? HONE_TRI_TRUE : HONE_TRI_FALSE;
}

static enum hone_class class_of(const char *word)
{
    int i = 0;
    while (i < HONE_N_CLASSES && (!word || strcmp(hone_class_name((enum hone_class)i), word) != 0))
        i++;
    return (enum hone_class)i;
}

static void read_measured(const struct hone_json *measured, struct hone_features *f)
{
    for (int i = HONE_F_CORES; i < HONE_N_FEATURES; i++) {
        double value = 0;
        const char *name = hone_feature_name((enum hone_feature_id)i);
        if (hone_json_as_f64(hone_json_get(measured, name), &value))
            f->v[i] = (struct hone_feature){true, value};
    }
}

struct hone_json *hone_state_profile_json(const struct hone_node *n)
{
    if (!n->is_profiled && !n->hot_kernel && !n->profile)
        return NULL;
    struct hone_json *profile = hone_json_new_object(), *findings = hone_json_new_array();
    for (size_t i = 0; i < n->n_findings && n->is_profiled; i++) {
        struct hone_json *row = hone_json_new_object();
        hone_json_set_str(row, "class", hone_class_name(n->findings[i].class_id));
        hone_json_set_str(row, "rule", n->findings[i].rule);
        if (n->findings[i].values)
            hone_json_set_str(row, "values", n->findings[i].values);
        hone_json_push(findings, row);
    }
    hone_json_set(profile, "findings", findings);
    if (n->hot_kernel)
        hone_json_set_str(profile, "hot_kernel", n->hot_kernel);
    if (n->profile)
        hone_json_set_str(profile, "words", n->profile);
    hone_json_set(profile, "counters", hone_features_json(&n->features, HONE_F_SM_ACTIVE));
    return profile;
}

/* Nobody makes the profile of a version again: without it, another step would be chosen and the
 * answer to the one that was asked for would be wasted. */
static void read_profile(const struct hone_state *st, const struct hone_json *profile,
                         struct hone_node *n)
{
    if (!profile)
        return;
    read_measured(hone_json_get(profile, "counters"), &n->features);
    n->hot_kernel = keep(st, hone_json_get_str(profile, "hot_kernel", NULL));
    n->profile = keep(st, hone_json_get_str(profile, "words", NULL));
    for (const struct hone_json *c = hone_json_first(hone_json_get(profile, "findings"));
         c && n->n_findings < HONE_N_CLASSES; c = hone_json_next(c)) {
        struct hone_finding f = {.class_id = class_of(hone_json_get_str(c, "class", NULL)),
                                 .rule = keep(st, hone_json_get_str(c, "rule", "")),
                                 .values = keep(st, hone_json_get_str(c, "values", ""))};
        if (f.class_id != HONE_N_CLASSES) /* one that is no longer known */
            n->findings[n->n_findings++] = f;
    }
    n->is_profiled = n->n_findings > 0;
}

/* ---- versions ---- */

bool hone_state_brings(const struct hone_state *st, const struct hone_event_result *r)
{
    enum hone_result_kind kind = hone_event_kind(r);
    bool has_parent = hone_state_index(st, r->parent) != HONE_NO_NODE;
    bool may = kind == HONE_KIND_ROOT
                   ? st->tree.n_nodes == 0
                   : (kind == HONE_KIND_EXPAND || kind == HONE_KIND_TUNE) && has_parent;
    return may && r->node != HONE_NO_NODE && hone_state_index(st, r->node) == HONE_NO_NODE;
}

/* Records of before had neither interval nor look. */
static void set_value(const struct hone_state *st, const struct hone_event_result *r,
                      struct hone_node *n)
{
    n->low = r->ratio_low;
    n->high = r->ratio_high;
    n->basis = (struct hone_basis){
        .look = keep(st, r->look),
        .n_timed = (int)hone_max_i64(0, hone_min_i64(r->sizes_timed, INT32_MAX)),
        .n_sizes = (int)hone_max_i64(0, hone_min_i64(r->sizes, INT32_MAX))};
    n->times = r->times ? keep(st, r->times) : n->times;
}

struct hone_node *hone_state_draft(struct hone_state *st, const struct hone_event_result *r,
                                   const char *source)
{
    enum hone_result_kind kind = hone_event_kind(r);
    double value = isfinite(r->value) ? r->value : 0;
    double se = isfinite(r->se) ? r->se : UNKNOWN_SE;
    struct hone_node *n =
        hone_tree_draft(&st->tree, hone_state_index(st, r->parent), source, r->commit, value, se);
    if (!n)
        return NULL;
    const struct hone_rewrite *rewrite = r->rewrite ? st->find(st->find_arg, r->rewrite) : NULL;
    n->words = r->words ? keep(st, r->words) : "";
    n->step_prior = isfinite(r->prior) ? r->prior : 0;
    if (r->node >= 0 && r->node < HONE_TREE_MAX_NODES)
        n->number = (int)r->node;
    if (kind != HONE_KIND_ROOT)
        n->rewrite = rewrite ? rewrite->name : "tune";
    n->is_swept = kind == HONE_KIND_TUNE;
    snprintf(n->code, sizeof(n->code), "%s", r->code ? r->code : "");
    set_value(st, r, n);
    if (kind != HONE_KIND_ROOT) /* by definition 1, on whatever it was timed */
        hone_node_keep_look(n);
    read_measured(r->measured, &n->features);
    read_profile(st, r->profile, n);
    return n;
}

bool hone_state_is_best(const struct hone_state *st, const struct hone_node *draft)
{
    return st->tree.best == HONE_NO_NODE ||
           hone_node_gain(st->tree.nodes[st->tree.best], draft) > 0;
}

static void attach(struct hone_state *st, struct hone_node *draft)
{
    hone_tree_attach(&st->tree, draft);
    st->at[draft->number] = draft->index + 1;
}

/* ---- events ---- */

static const char *verdict_words(const struct hone_state *st, enum hone_verdict verdict,
                                 const char *reason)
{
    return hone_pool_printf(st->pool, "%s (%s)", hone_verdict_name(verdict), reason);
}

/* How the step ended, by what the record says and by what became of its version. */
static void read_end(const struct hone_state *st, const struct hone_event_result *r,
                     struct hone_step *step)
{
    enum hone_verdict verdict;
    const char *reason = r->reason ? r->reason : "";
    step->end = r->is_declined ? HONE_STEP_DECLINED : HONE_STEP_REFUSED;
    if (step->node) {
        step->end = HONE_STEP_RIGHT;
    } else if (r->verdict && hone_verdict_parse(r->verdict, &verdict)) {
        step->end = hone_step_end_of(verdict, reason);
        step->verdict = verdict_words(st, verdict, reason);
    }
    if (step->end == HONE_STEP_RIGHT && !step->node) /* its source is lost */
        step->end = HONE_STEP_REFUSED;
}

static void apply_expansion(struct hone_state *st, const struct hone_event_result *r,
                            struct hone_node *draft)
{
    int parent = hone_state_index(st, r->parent), known = hone_state_index(st, r->node);
    const struct hone_rewrite *rewrite = r->rewrite ? st->find(st->find_arg, r->rewrite) : NULL;
    if (!rewrite || parent == HONE_NO_NODE)
        return;
    if (draft)
        attach(st, draft);
    struct hone_action action = {.rewrite = rewrite,
                                 .strategy = hone_strategy_of(rewrite),
                                 .plan = r->plan,
                                 .site.variant = (int)r->variant};
    snprintf(action.site.anchor, sizeof(action.site.anchor), "%s", r->anchor ? r->anchor : "");
    struct hone_step step = {.from = st->tree.nodes[parent],
                             .action = &action,
                             .node = draft                   ? draft
                                     : known != HONE_NO_NODE ? st->tree.nodes[known]
                                                             : NULL,
                             .note = r->note};
    struct hone_step_result learnt = {
        .moved = moved_of(r), .class_id = class_of(r->class), .is_gain = r->is_gain};
    read_end(st, r, &step);
    if (step.node)
        learnt.g_eff = isfinite(r->g_eff)
                           ? r->g_eff
                           : hone_effective_gain(hone_node_gain(step.from, step.node),
                                                 step.from->se, step.node->se);
    hone_planner_note(&st->tree, &st->credit, &step, &learnt);
}

static void apply_tune(struct hone_state *st, struct hone_node *draft)
{
    if (!draft)
        return;
    const struct hone_node *from = st->tree.nodes[draft->parent];
    attach(st, draft);
    hone_tree_back_up(&st->tree, from->index, draft->value, hone_node_gain(from, draft) > 0);
}

/* A longer look: what it measured replaces what shorter ones said. */
static void apply_look(struct hone_state *st, const struct hone_event_result *r,
                       struct hone_node *n)
{
    n->is_decided = true;
    n->is_refuted = !r->is_gain;
    n->is_wrong = n->is_refuted && r->verdict &&
                  strcmp(r->verdict, hone_verdict_name(HONE_VERDICT_INCORRECT)) == 0;
    n->refuted_by = n->is_refuted ? keep(st, r->note) : NULL;
    n->value = isfinite(r->value) ? r->value : n->value;
    n->se = isfinite(r->se) ? r->se : n->se;
    if (!n->is_refuted)
        set_value(st, r, n);
}

static void apply_result(struct hone_state *st, const struct hone_event_result *r,
                         struct hone_node *draft)
{
    enum hone_result_kind kind = hone_event_kind(r);
    int index = hone_state_index(st, r->node);
    struct hone_node *n = index == HONE_NO_NODE ? NULL : st->tree.nodes[index];
    st->n_steps = hone_max_i64(st->n_steps, r->step);
    if (kind == HONE_KIND_EXPAND)
        apply_expansion(st, r, draft);
    else if (kind == HONE_KIND_TUNE)
        apply_tune(st, draft);
    else if (kind == HONE_KIND_ROOT && draft)
        attach(st, draft);
    else if (n && kind == HONE_KIND_SWEEP) {
        n->is_swept = true;
        n->settings = r->settings ? keep(st, r->settings) : n->settings;
    } else if (n && (kind == HONE_KIND_DECIDE || kind == HONE_KIND_CONFIRM)) {
        st->decide_ms += kind == HONE_KIND_DECIDE ? r->wall_ms : 0;
        apply_look(st, r, n);
    }
    hone_tree_update_best(&st->tree);
}

void hone_state_skip_sweep(struct hone_state *st, int index)
{
    st->tree.nodes[index]->is_swept = true;
}

static void apply_weights(struct hone_state *st, const struct hone_event_weights *w)
{
    double sum = w->rules + w->llm;
    if (!(w->rules > 0) || !(w->llm > 0))
        return;
    bool is_whole = fabs(sum - 1) < 1e-9;
    st->mix =
        (struct hone_mix){is_whole ? w->rules : w->rules / sum, is_whole ? w->llm : w->llm / sum};
}

/* The cost model that the first round started with. */
static void take_cost(struct hone_state *st, const struct hone_event_start *start)
{
    struct hone_cost_model *m = hone_pool_alloc(st->pool, sizeof(*m));
    if (!(start->skip_below > 0) ||
        !hone_cost_read(start->cost, start->target ? start->target : "cpu", m))
        return;
    st->cost = m;
    st->skip_below = start->skip_below;
}

bool hone_state_knows_left_out(const struct hone_state *st, int parent, const struct hone_action *a)
{
    for (size_t i = 0; i < st->n_left_out; i++) {
        const struct hone_left_out *l = &st->left_out[i];
        if (l->parent == parent && l->variant == a->site.variant &&
            strcmp(l->rewrite, a->rewrite->name) == 0 && strcmp(l->anchor, a->site.anchor) == 0)
            return true;
    }
    return false;
}

static void apply_left_out(struct hone_state *st, const struct hone_event_left_out *e)
{
    int parent = hone_state_index(st, e->parent);
    if (parent == HONE_NO_NODE || !e->rewrite)
        return;
    st->left_out = hone_pool_grow(st->pool, st->left_out, sizeof(*st->left_out), st->n_left_out,
                                  &st->left_out_room);
    struct hone_left_out *l = &st->left_out[st->n_left_out++];
    *l = (struct hone_left_out){
        .parent = parent, .rewrite = keep(st, e->rewrite), .variant = (int)e->variant};
    snprintf(l->anchor, sizeof(l->anchor), "%s", e->anchor ? e->anchor : "");
}

/* A new round keeps the versions, and what the first started from. */
static void apply_start(struct hone_state *st, const struct hone_event_start *start)
{
    if (st->tree.n_nodes == 0) {
        hone_prior_take(start->prior, start->target, &st->credit);
        take_cost(st, start);
        st->knowledge = keep(st, start->knowledge);
    }
    st->has_ended = false;
    st->tree.n_since_best = 0;
    st->decide_ms = 0;
}

void hone_state_apply(struct hone_state *st, const struct hone_event *e, struct hone_node *draft)
{
    switch (e->type) {
    case HONE_EVENT_START:
        apply_start(st, &e->start);
        break;
    case HONE_EVENT_LEFT_OUT:
        apply_left_out(st, &e->left_out);
        break;
    case HONE_EVENT_STEP:
        st->n_steps = hone_max_i64(st->n_steps, e->step.step);
        break;
    case HONE_EVENT_RESULT:
        apply_result(st, &e->result, draft);
        break;
    case HONE_EVENT_WEIGHTS:
        apply_weights(st, &e->weights);
        break;
    case HONE_EVENT_END:
        st->has_ended = true;
        break;
    case HONE_EVENT_RUN:
    case HONE_EVENT_STEERED:
    case HONE_EVENT_ANSWER:
    case HONE_EVENT_STEER:
    case HONE_EVENT_SUBMIT:
    case HONE_N_EVENTS:
        break;
    }
}

/* ---- digest ---- */

/* What the search makes anew is left out: with it, a search that goes on would never look the same. */
static void add_f64(struct hone_hasher *h, double x)
{
    hone_hasher_part(h, &x, sizeof(x));
}

static void add_i64(struct hone_hasher *h, int64_t x)
{
    hone_hasher_part(h, &x, sizeof(x));
}

/* What a version of other numbers is limited by is taken from its parent when it is looked at. */
static void add_profile(struct hone_hasher *h, const struct hone_node *n)
{
    if (!n->is_profiled || strcmp(n->rewrite, "tune") == 0)
        return;
    for (size_t i = 0; i < n->n_findings; i++) {
        add_i64(h, n->findings[i].class_id);
        hone_hasher_str(h, n->findings[i].rule);
        hone_hasher_str(h, n->findings[i].values);
    }
    for (int i = HONE_F_SM_ACTIVE; i < HONE_N_FEATURES; i++)
        add_f64(h, n->features.v[i].is_present ? n->features.v[i].value : -1);
    hone_hasher_str(h, n->hot_kernel);
    hone_hasher_str(h, n->profile);
}

static void add_node(struct hone_hasher *h, const struct hone_node *n)
{
    const char *const texts[] = {n->hash,       n->code,  n->commit,   n->words,     n->rewrite,
                                 n->basis.look, n->times, n->settings, n->refuted_by};
    const int64_t numbers[] = {n->index,         n->number,        n->parent,     n->depth,
                               n->basis.n_timed, n->basis.n_sizes, n->n_visits,   n->n_no_gain,
                               n->is_screened,   n->is_decided,    n->is_refuted, n->is_swept,
                               n->is_dead};
    const double values[] = {n->value,      n->se,  n->low,  n->high,
                             n->step_prior, n->sum, n->best, n->is_screened ? n->screened : 0};
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++)
        hone_hasher_str(h, texts[i]);
    hone_hasher_part(h, numbers, sizeof(numbers));
    hone_hasher_part(h, values, sizeof(values));
    for (int i = HONE_F_CORES; i < HONE_F_SM_ACTIVE; i++)
        add_f64(h, n->features.v[i].is_present ? n->features.v[i].value : -1);
    add_profile(h, n);
}

static void add_edge(struct hone_hasher *h, const struct hone_edge_record *e)
{
    if (e->is_under_way)
        return;
    const int64_t numbers[] = {e->parent,  e->child,       e->variant,
                               e->is_gain, e->is_declined, e->is_implemented};
    hone_hasher_part(h, numbers, sizeof(numbers));
    hone_hasher_str(h, e->rewrite);
    hone_hasher_str(h, e->anchor);
    hone_hasher_str(h, e->strategy->id);
    hone_hasher_str(h, e->verdict);
    hone_hasher_str(h, e->note);
    hone_hasher_str(h, e->plan);
    add_f64(h, e->gain);
}

/* Marks of the user stand beside it: steering has records and a reader of its own. */
static void add_credit(struct hone_hasher *h, const struct hone_credit *c)
{
    add_f64(h, c->done);
    add_f64(h, c->not_done);
    for (size_t i = 0; i < HONE_CREDIT_MAX; i++) {
        const struct hone_credit_row *row = &c->rows[i];
        add_f64(h, row->done);
        add_f64(h, row->not_done);
        hone_hasher_part(h, &row->before, sizeof(row->before));
        hone_hasher_part(h, &row->all, sizeof(row->all));
        hone_hasher_part(h, row->by_class, sizeof(row->by_class));
    }
}

static void add_left_out(struct hone_hasher *h, const struct hone_state *st)
{
    add_f64(h, st->skip_below);
    if (st->cost)
        hone_hasher_part(h, st->cost->weights, sizeof(st->cost->weights));
    add_f64(h, st->cost ? st->cost->error : 0);
    for (size_t i = 0; i < st->n_left_out; i++) {
        add_i64(h, st->left_out[i].parent);
        hone_hasher_str(h, st->left_out[i].rewrite);
        hone_hasher_str(h, st->left_out[i].anchor);
        add_i64(h, st->left_out[i].variant);
    }
}

void hone_state_digest(const struct hone_state *st, char ret[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher h;
    hone_hasher_init(&h);
    for (int i = 0; i < st->tree.n_nodes; i++)
        add_node(&h, st->tree.nodes[i]);
    for (size_t i = 0; i < st->tree.n_edges; i++)
        add_edge(&h, &st->tree.edges[i]);
    add_i64(&h, st->tree.best);
    add_i64(&h, st->tree.next_number);
    add_i64(&h, st->tree.n_since_best);
    add_f64(&h, st->tree.paired);
    add_credit(&h, &st->credit);
    hone_hasher_str(&h, st->knowledge);
    add_left_out(&h, st);
    add_f64(&h, st->mix.rules);
    add_f64(&h, st->mix.llm);
    const int64_t counts[] = {st->has_ended, st->n_steps, st->decide_ms};
    hone_hasher_part(&h, counts, sizeof(counts));
    hone_hasher_end(&h, ret);
}
