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

static const char *const kind_names[] = {
    [HONE_KIND_ROOT] = "root",   [HONE_KIND_EXPAND] = "expand", [HONE_KIND_DECIDE] = "decide",
    [HONE_KIND_SWEEP] = "sweep", [HONE_KIND_TUNE] = "tune",     [HONE_KIND_CONFIRM] = "confirm",
};

static bool parse_kind(const char *word, enum hone_search_kind *ret)
{
    for (size_t i = 0; i < HONE_COUNTOF(kind_names); i++) {
        if (strcmp(kind_names[i], word) == 0) {
            *ret = (enum hone_search_kind)i;
            return true;
        }
    }
    return false;
}

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
    hone_hasher_end(&h, ret);
}

/* What times were taken on: processor and cores, or device. NULL: not known. */
static const char *ask_machine(const struct hone_search *s)
{
    struct hone_device_facts facts = {0};
    bool is_device = strcmp(s->target, "cpu") != 0;
    if (is_device)
        hone_device_facts_ask(s->ctx->app->executor, s->pool, &facts);
    else
        hone_device_facts_read(s->pool, &facts);
    const struct hone_json *device = is_device ? hone_prompt_device(&facts) : NULL;
    const char *name = is_device ? hone_json_get_str(device, "name", NULL) : facts.cpu;
    if (name == NULL || is_device)
        return name;
    return hone_pool_printf(s->pool, "%s, %lld cores", name, (long long)facts.n_cores);
}

static const char *machine_of(struct hone_search *s)
{
    if (!s->machine)
        s->machine = ask_machine(s);
    return s->machine;
}

/* ---- going on ---- */

struct replay {
    struct hone_search *s;
    const char *key;
    const char *machine; /* of the last round that began */
    bool is_ours, has_ended;
    bool has_namesake;            /* a search of this name with another key */
    int map[HONE_TREE_MAX_NODES]; /* number in the records -> index + 1 in the tree; 0: that record
                                     is lost */
};

/* A damaged record must not shift the others' parents. */
static int index_of(const struct replay *p, int64_t number)
{
    return number >= 0 && number < HONE_TREE_MAX_NODES ? p->map[number] - 1 : HONE_NO_NODE;
}

static void restore_measured(const struct hone_json *measured, struct hone_features *f)
{
    for (int i = HONE_F_CORES; i < HONE_N_FEATURES; i++) {
        double value = 0;
        const char *name = hone_feature_name((enum hone_feature_id)i);
        if (hone_json_as_f64(hone_json_get(measured, name), &value))
            f->v[i] = (struct hone_feature){true, value};
    }
}

static enum hone_class class_of(const struct hone_json *data)
{
    const char *word = hone_json_get_str(data, "class", "");
    int i = 0;
    while (i < HONE_N_CLASSES && strcmp(hone_class_name((enum hone_class)i), word) != 0)
        i++;
    return (enum hone_class)i;
}

/* Nobody makes the profile of a version again: without it, another step would be chosen and the
 * answer to the one that was asked for would be wasted. */
static void restore_profile(struct hone_pool *pool, const struct hone_json *profile,
                            struct hone_node *n)
{
    if (!profile)
        return;
    restore_measured(hone_json_get(profile, "counters"), &n->features);
    const char *kernel = hone_json_get_str(profile, "hot_kernel", NULL);
    n->hot_kernel = kernel ? hone_pool_strdup(pool, kernel) : NULL;
    const char *words = hone_json_get_str(profile, "words", NULL);
    n->profile = words ? hone_pool_strdup(pool, words) : NULL;
    for (const struct hone_json *c = hone_json_first(hone_json_get(profile, "findings"));
         c && n->n_findings < HONE_N_CLASSES; c = hone_json_next(c)) {
        struct hone_finding f = {.class_id = class_of(c),
                                 .rule = hone_pool_strdup(pool, hone_json_get_str(c, "rule", "")),
                                 .values =
                                     hone_pool_strdup(pool, hone_json_get_str(c, "values", ""))};
        if (f.class_id != HONE_N_CLASSES) /* one that is no longer known */
            n->findings[n->n_findings++] = f;
    }
    n->is_profiled = n->n_findings > 0;
}

/* Records of before had neither interval nor look. */
static void restore_look_of(const struct replay *p, const struct hone_json *data,
                            struct hone_node *n)
{
    n->low = hone_json_get_f64(data, "ratio_low", 0);
    n->high = hone_json_get_f64(data, "ratio_high", 0);
    n->basis = (struct hone_basis){
        .look = hone_pool_strdup(p->s->pool, hone_json_get_str(data, "look", NULL)),
        .n_timed = (int)hone_min_i64(hone_json_get_i64(data, "sizes_timed", 0), INT32_MAX),
        .n_sizes = (int)hone_min_i64(hone_json_get_i64(data, "sizes", 0), INT32_MAX)};
    const char *times = hone_json_get_str(data, "times", NULL);
    n->times = times ? hone_pool_strdup(p->s->pool, times) : n->times;
}

static struct hone_node *restore_node(struct replay *p, const struct hone_json *data, int parent)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_history *history = hone_workspace_history(p->s->ctx->app->ws);
    struct hone_version v;
    const char *commit = hone_json_get_str(data, "commit", NULL);
    if (!commit || hone_history_read(history, commit, pool, &v, NULL) < 0 || !v.source)
        return NULL;
    struct hone_node *n =
        hone_tree_add(&p->s->tree, parent, v.source, commit, hone_json_get_f64(data, "value", 0),
                      hone_json_get_f64(data, "se", 0.02));
    if (!n)
        return NULL;
    n->words = hone_pool_strdup(p->s->pool, hone_json_get_str(data, "words", ""));
    const struct hone_rewrite *rewrite =
        hone_coder_rewrite(p->s->coder, hone_json_get_str(data, "rewrite", ""));
    n->rewrite = rewrite ? rewrite->name : "tune";
    n->is_swept = !rewrite;
    n->step_prior = hone_json_get_f64(data, "prior", 0);
    snprintf(n->code, sizeof(n->code), "%s", hone_json_get_str(data, "code", ""));
    restore_look_of(p, data, n);
    hone_tree_note_look(&p->s->tree, n);
    restore_measured(hone_json_get(data, "measured"), &n->features);
    restore_profile(p->s->pool, hone_json_get(data, "profile"), n);
    int64_t number = hone_json_get_i64(data, "node", HONE_NO_NODE);
    if (number >= 0 && number < HONE_TREE_MAX_NODES) {
        p->map[number] = n->index + 1;
        n->number = (int)number;
        p->s->tree.next_number = (int)number + 1;
    }
    return n;
}

static const char *const tri_names[] = {"no", "unknown", "yes"};

/* Records of before had is_implemented alone. */
static enum hone_tri moved_of(const struct hone_json *data)
{
    const char *word = hone_json_get_str(data, "moved", "");
    for (int i = 0; i < (int)HONE_COUNTOF(tri_names); i++)
        if (strcmp(tri_names[i], word) == 0)
            return (enum hone_tri)i;
    return hone_json_get_bool(data, "is_implemented", false) ? HONE_TRI_TRUE : HONE_TRI_FALSE;
}

static struct hone_node *node_of(struct replay *p, const struct hone_json *data, int parent)
{
    int64_t number = hone_json_get_i64(data, "node", HONE_NO_NODE);
    int known = index_of(p, number); /* the same machine code as an earlier version */
    if (number == HONE_NO_NODE)
        return NULL;
    return known >= 0 ? p->s->tree.nodes[known] : restore_node(p, data, parent);
}

static void restore_expansion(struct replay *p, const struct hone_json *data, int parent)
{
    struct hone_tree *t = &p->s->tree;
    const struct hone_rewrite *rewrite =
        hone_coder_rewrite(p->s->coder, hone_json_get_str(data, "rewrite", ""));
    if (!rewrite || parent < 0 || parent >= t->n_nodes)
        return;
    struct hone_action action = {.rewrite = rewrite,
                                 .strategy = hone_strategy_of(rewrite),
                                 .plan = hone_json_get_str(data, "plan", NULL),
                                 .site.variant = (int)hone_json_get_i64(data, "variant", 0)};
    snprintf(action.site.anchor, sizeof(action.site.anchor), "%s",
             hone_json_get_str(data, "anchor", ""));
    bool is_declined = hone_json_get_bool(data, "is_declined", false);
    struct hone_step step = {.from = t->nodes[parent],
                             .action = &action,
                             .end = is_declined ? HONE_STEP_DECLINED : HONE_STEP_REFUSED,
                             .node = node_of(p, data, parent)};
    enum hone_verdict verdict;
    if (step.node)
        step.end = HONE_STEP_RIGHT;
    else if (hone_verdict_parse(hone_json_get_str(data, "verdict", ""), &verdict)) {
        const char *reason = hone_json_get_str(data, "reason", "");
        step.end = hone_step_end_of(verdict, reason);
        step.verdict = hone_verdict_words(p->s, hone_verdict_name(verdict), reason);
    }
    step.note = hone_json_get_str(data, "note", NULL);
    if (step.end == HONE_STEP_RIGHT && !step.node) /* its source is lost */
        step.end = HONE_STEP_REFUSED;
    struct hone_step_result r = {.moved = moved_of(data),
                                 .class_id = class_of(data),
                                 .is_gain = hone_json_get_bool(data, "is_gain", false)};
    if (step.node)
        r.g_eff = hone_json_get_f64(data, "g_eff",
                                    hone_effective_gain(hone_node_gain(step.from, step.node),
                                                        step.from->se, step.node->se));
    hone_planner_note(t, &p->s->credit, &step, &r);
}

static void restore_look(struct replay *p, enum hone_search_kind kind, const struct hone_json *data,
                         int node)
{
    struct hone_tree *t = &p->s->tree;
    if (node < 0 || node >= t->n_nodes)
        return;
    struct hone_node *n = t->nodes[node];
    if (kind == HONE_KIND_SWEEP) {
        n->is_swept = true;
        n->settings = hone_pool_strdup(p->s->pool, hone_json_get_str(data, "settings", NULL));
    }
    if (kind == HONE_KIND_DECIDE || kind == HONE_KIND_CONFIRM) {
        n->is_refuted = !hone_json_get_bool(data, "is_gain", true);
        n->refuted_by = n->is_refuted
                            ? hone_pool_strdup(p->s->pool, hone_json_get_str(data, "note", NULL))
                            : NULL;
        n->is_decided = true;
        n->value = hone_json_get_f64(data, "value", n->value);
        n->se = hone_json_get_f64(data, "se", n->se);
        if (!n->is_refuted)
            restore_look_of(p, data, n);
    }
    hone_tree_update_best(t);
}

static void restore_result(struct replay *p, const struct hone_json *data)
{
    struct hone_search *s = p->s;
    enum hone_search_kind kind;
    enum hone_verdict verdict;
    int parent = index_of(p, hone_json_get_i64(data, "parent", HONE_NO_NODE));
    int node = index_of(p, hone_json_get_i64(data, "node", HONE_NO_NODE));
    if (!parse_kind(hone_json_get_str(data, "kind", ""), &kind))
        return;
    if (kind == HONE_KIND_ROOT || kind == HONE_KIND_EXPAND)
        s->longest_screen_ms =
            hone_max_i64(s->longest_screen_ms * 9 / 10, hone_json_get_i64(data, "wall_ms", 0));
    s->n_steps = hone_max_i64(s->n_steps, hone_json_get_i64(data, "step", 0));
    if (hone_verdict_parse(hone_json_get_str(data, "verdict", ""), &verdict))
        s->n_verdicts[verdict]++;
    s->n_unruly += strcmp(hone_json_get_str(data, "reason", ""),
                          hone_reason_row(HONE_REASON_UNRULY)->word) == 0;
    if (kind == HONE_KIND_ROOT && s->tree.n_nodes == 0)
        restore_node(p, data, HONE_NO_NODE);
    else if (kind == HONE_KIND_EXPAND)
        restore_expansion(p, data, parent);
    else if (kind == HONE_KIND_TUNE && parent >= 0 && parent < s->tree.n_nodes)
        restore_node(p, data, parent);
    else
        restore_look(p, kind, data, node);
}

static int replay_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                         const struct hone_json *data, struct hone_err *err)
{
    struct replay *p = arg;
    (void)err;
    bool is_start = strcmp(type, "search.start") == 0;
    bool is_key = strcmp(hone_json_get_str(data, "key", ""), p->key) == 0;
    if (is_start && !is_key && strcmp(hone_json_get_str(data, "name", ""), p->s->name) == 0)
        p->has_namesake = true;
    if (is_start && is_key) {
        p->s->id = hone_pool_strdup(p->s->pool, hone_json_get_str(data, "search", ""));
        if (!p->is_ours)
            hone_tally_init(&p->s->tally, p->s->id);
        p->is_ours = true;
        p->has_ended = false;
        p->machine = hone_pool_strdup(p->s->pool, hone_json_get_str(data, "machine", ""));
    }
    if (p->is_ours)
        hone_tally_record(&p->s->tally, n, wall_ms, type, data);
    if (!p->is_ours || strcmp(hone_json_get_str(data, "search", ""), p->s->id) != 0)
        return 0;
    if (strcmp(type, "search.result") == 0)
        restore_result(p, data);
    else if (strcmp(type, "search.end") == 0)
        p->has_ended = true;
    return 0;
}

/* A new round starts its budgets afresh and keeps the tree. */
static void start_round(struct hone_search *s)
{
    s->elapsed_before_ms = 0;
    s->n_evaluations = s->tally.round_evaluations = 0;
    s->n_unruly = 0;
    memset(s->n_verdicts, 0, sizeof(s->n_verdicts));
    s->tree.n_since_best = 0;
}

static struct hone_json *start_data(struct hone_search *s, const char *key)
{
    struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "search", s->id);
    hone_json_set_str(data, "key", key);
    hone_json_set_str(data, "task", s->task->name);
    hone_json_set_str(data, "task_hash", s->task->hash);
    hone_json_set_str(data, "target", s->target);
    hone_json_set_str(data, "name", s->name);
    hone_json_set_str(data, "policy", s->policy->name);
    hone_json_set_str(data, "coder", hone_coder_name(s->coder));
    if (s->options->planner)
        hone_json_set_str(data, "planner", s->options->planner);
    if (s->options->model)
        hone_json_set_str(data, "model", s->options->model);
    const char *machine = machine_of(s);
    if (machine)
        hone_json_set_str(data, "machine", machine);
    hone_json_set_i64(data, "seed", s->options->seed);
    hone_search_put_caps(s, data);
    return data;
}

int hone_search_read_record(struct hone_search *s, bool *ret_is_known, bool *ret_has_ended,
                            struct hone_err *err)
{
    char key[HONE_HASH_TEXT_BYTES];
    make_key(s, key);
    HONE_AUTOFREE struct replay *p = hone_calloc(1, sizeof(*p));
    p->s = s;
    p->key = key;
    struct hone_err cause = HONE_ERR_INIT;
    int r = hone_ledger_scan(ledger_of(s), 0, replay_record, p, &cause);
    if (r == HONE_E_CORRUPT) { /* damaged lines; all others were read, and the search can go on */
        hone_log(HONE_LOG_WARN, "search=%s going on without damaged records error=\"%s\"", s->name,
                 cause.message);
    } else if (r < 0) {
        return hone_fail(err, (enum hone_code)r, "reading the search's records: %.300s",
                         cause.message);
    }
    s->elapsed_before_ms = s->tally.wall_ms;
    s->n_evaluations = s->tally.round_evaluations;
    if (!p->is_ours && p->has_namesake)
        hone_search_tell(s,
                         "a search '%.64s' is in the records, with another task, pack, target, "
                         "policy, coder or seed: this one begins anew, its caps too",
                         s->name);
    const char *machine = p->is_ours ? machine_of(s) : NULL;
    if (machine && p->machine[0] != '\0' && strcmp(machine, p->machine) != 0)
        hone_search_tell(s,
                         "earlier versions were measured on another machine (%.40s; this is %.40s) "
                         "and are compared by those times; another --name measures all of it here",
                         p->machine, machine);
    *ret_is_known = p->is_ours;
    *ret_has_ended = p->has_ended;
    return 0;
}

int hone_search_open_record(struct hone_search *s, struct hone_err *err)
{
    char key[HONE_HASH_TEXT_BYTES], random[13];
    bool has_ended = false;
    int r = hone_search_read_record(s, &s->is_resumed, &has_ended, err);
    if (r < 0)
        return r;
    if (s->is_resumed && has_ended)
        start_round(s);
    if (!s->is_resumed) {
        hone_random_hex(random, 6);
        s->id = hone_pool_printf(s->pool, "s-%s", random);
        hone_tally_init(&s->tally, s->id);
    }
    r = hone_search_load_models(s, err);
    if (r == 0)
        r = hone_search_open_budgets(s, s->is_resumed && has_ended, err);
    if (r < 0 || (s->is_resumed && !has_ended))
        return r;
    make_key(s, key);
    HONE_AUTOJSON struct hone_json *data = start_data(s, key);
    return hone_ledger_append(ledger_of(s), "search.start", data, NULL, err);
}

/* ---- writing ---- */

static struct hone_json *features_json(const struct hone_features *f, int first)
{
    struct hone_json *out = hone_json_new_object();
    for (int i = first; i < HONE_N_FEATURES; i++)
        if (f->v[i].is_present)
            hone_json_set_f64(out, hone_feature_name((enum hone_feature_id)i), f->v[i].value);
    return out;
}

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
        hone_json_push(out, row);
    }
    return out;
}

int hone_search_record_step(struct hone_search *s, const struct hone_node *node,
                            const struct hone_action *a, double propensity, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "search", s->id);
    hone_json_set_i64(data, "step", ++s->n_steps);
    hone_json_set_i64(data, "parent", node->number);
    hone_json_set_i64(data, "depth", node->depth);
    hone_json_set_str(data, "rewrite", a->rewrite->name);
    hone_json_set_str(data, "strategy", a->strategy->id);
    hone_json_set_str(data, "anchor", a->site.anchor);
    hone_json_set_i64(data, "variant", a->site.variant);
    hone_json_set_str(data, "rule", a->rule);
    hone_json_set_str(data, "values", a->values);
    hone_json_set_f64(data, "prior", a->prior);
    hone_json_set_f64(data, "p_impl", a->p_impl);
    hone_json_set_f64(data, "expected_log2", a->gain);
    hone_json_set_f64(data, "low", a->low);
    hone_json_set_f64(data, "high", a->high);
    hone_json_set_f64(data, "propensity", propensity);
    if (s->submission) {
        hone_json_set_str(data, "by", s->submission->by);
        hone_json_set_i64(data, "submission", (int64_t)s->submission->n);
    }
    hone_json_set_i64(data, "planner", HONE_PLANNER_VERSION);
    hone_json_set(data, "features", features_json(&node->features, 0));
    hone_json_set(data, "legal", legal_json(node));
    return hone_ledger_append(ledger_of(s), "search.step", data, NULL, err);
}

static int number_of(const struct hone_search *s, int index)
{
    return index == HONE_NO_NODE ? HONE_NO_NODE : s->tree.nodes[index]->number;
}

/* Of an expansion: what a prior can be learnt from. */
static void add_learnt(struct hone_json *data, const struct hone_step_result *r)
{
    hone_json_set_str(data, "moved", tri_names[r->moved]);
    if (r->class_id < HONE_N_CLASSES)
        hone_json_set_str(data, "class", hone_class_name(r->class_id));
    if (isfinite(r->gain))
        hone_json_set_f64(data, "gain", r->gain);
    hone_json_set_f64(data, "g_eff", r->g_eff);
    hone_json_set_f64(data, "reward", r->reward);
}

/* What the version's value rests on, as it stands now. */
static void add_look(struct hone_json *data, const struct hone_node *n)
{
    if (n->low > 0) {
        hone_json_set_f64(data, "ratio_low", n->low);
        hone_json_set_f64(data, "ratio_high", n->high);
    }
    if (n->basis.look) {
        hone_json_set_str(data, "look", n->basis.look);
        hone_json_set_i64(data, "sizes_timed", n->basis.n_timed);
        hone_json_set_i64(data, "sizes", n->basis.n_sizes);
    }
    if (n->times)
        hone_json_set_str(data, "times", n->times);
}

static void add_profile(struct hone_json *data, const struct hone_node *n)
{
    if (!n->is_profiled)
        return;
    struct hone_json *profile = hone_json_new_object(), *findings = hone_json_new_array();
    for (size_t i = 0; i < n->n_findings; i++) {
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
    hone_json_set(profile, "counters", features_json(&n->features, HONE_F_SM_ACTIVE));
    hone_json_set(data, "profile", profile);
}

int hone_search_record_result(struct hone_search *s, const struct hone_search_event *e,
                              struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "search", s->id);
    hone_json_set_i64(data, "step", s->n_steps);
    hone_json_set_str(data, "kind", kind_names[e->kind]);
    hone_json_set_i64(data, "parent", number_of(s, e->parent));
    hone_json_set_i64(data, "node", number_of(s, e->node));
    hone_json_set_i64(data, "elapsed_ms", hone_search_elapsed_ms(s));
    hone_json_set_i64(data, "evaluations", s->n_evaluations);
    if (e->rewrite) {
        hone_json_set_str(data, "rewrite", e->rewrite);
        hone_json_set_str(data, "anchor", e->anchor);
        hone_json_set_i64(data, "variant", e->variant);
        hone_json_set_bool(data, "is_implemented", e->is_implemented);
    }
    if (e->kind == HONE_KIND_EXPAND && s->submission)
        hone_json_set_i64(data, "submission", (int64_t)s->submission->n);
    if (e->learnt)
        add_learnt(data, e->learnt);
    if (e->learnt && e->node != HONE_NO_NODE)
        hone_json_set_f64(data, "prior", s->tree.nodes[e->node]->step_prior);
    if (e->words)
        hone_json_set_str(data, "words", e->words);
    if (e->note)
        hone_json_set_str(data, "note", e->note);
    if (e->plan)
        hone_json_set_str(data, "plan", e->plan);
    if (e->is_declined)
        hone_json_set_bool(data, "is_declined", true);
    hone_json_set_bool(data, "is_gain", e->is_gain);
    if (isfinite(e->value))
        hone_json_set_f64(data, "value", e->value);
    hone_json_set_f64(data, "se", e->se);
    if (e->node != HONE_NO_NODE)
        add_look(data, s->tree.nodes[e->node]);
    if (e->node != HONE_NO_NODE && (e->kind == HONE_KIND_ROOT || e->kind == HONE_KIND_EXPAND))
        add_profile(data, s->tree.nodes[e->node]);
    if (e->outcome) {
        hone_json_set_str(data, "verdict", hone_verdict_name(e->outcome->verdict));
        hone_json_set_str(data, "reason", e->outcome->reason);
        hone_json_set_str(data, "evaluation", e->outcome->evaluation);
        if (e->outcome->commit)
            hone_json_set_str(data, "commit", e->outcome->commit);
        if (e->outcome->code)
            hone_json_set_str(data, "code", e->outcome->code);
        if (e->kind == HONE_KIND_SWEEP && s->tree.nodes[e->node]->settings)
            hone_json_set_str(data, "settings", s->tree.nodes[e->node]->settings);
        if (isfinite(e->outcome->ratio))
            hone_json_set_f64(data, "ratio", e->outcome->ratio);
        hone_json_set_i64(data, "wall_ms", e->outcome->wall_ms);
        hone_json_set(data, "measured", features_json(&e->outcome->measured, 0));
    }
    return hone_ledger_append(ledger_of(s), "search.result", data, NULL, err);
}

int hone_search_record_end(struct hone_search *s, const struct hone_search_result *result,
                           struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *data =
        hone_fields_encode(result, hone_search_result_fields, hone_search_n_result_fields);
    hone_json_set_str(data, "search", s->id);
    int r = hone_ledger_append(ledger_of(s), "search.end", data, NULL, err);
    return r < 0 ? r : hone_ledger_sync(ledger_of(s), err);
}
