/* SPDX-License-Identifier: Apache-2.0 */
/* Caps of a search: from its options, counted from its records, asked before each piece of work.
 *
 * What models may take is refused by the journal's gate, evaluations and device time by
 * hone_search_begin_work, both before anything begins; the loop looks ahead (hone_search_over), so
 * that a refusal there is the exception. The confirmation's share is kept back throughout. Wall
 * time and disk are looked at between evaluations. */
#include "agents/search/search_models.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define DISK_CHECK_EVERY 8
#define CONFIRM_SCREENS  5     /* before anything was seen */
#define FIRST_SHARE      0.4   /* of the baseline's screen, until a version was screened */
#define SWEEP_SHARE      2 / 3 /* of a screen for each setting */

static double cap_of(const struct hone_search_options *o, enum hone_budget_kind kind)
{
    const struct hone_event_caps caps = hone_search_caps(o);
    return hone_event_cap(&caps, kind);
}

static bool asks_models(const struct hone_search_options *o)
{
    return hone_coder_asks_model(o->coder) || (o->planner && strcmp(o->planner, "llm") == 0);
}

int hone_search_check_caps(const struct hone_search_options *o, struct hone_err *err)
{
    bool is_bounded = false;
    for (size_t i = 0; i < HONE_N_BUDGETS; i++) {
        double cap = cap_of(o, (enum hone_budget_kind)i);
        bool is_of_models = i == HONE_BUDGET_COST || i == HONE_BUDGET_TOKENS;
        if (!(cap >= 0) || isinf(cap))
            return hone_fail_at(err, HONE_E_ARG, hone_budget_rows[i].member,
                                "a cap is a number above 0");
        is_bounded = is_bounded || (cap > 0 && (!is_of_models || asks_models(o)));
    }
    if (!is_bounded)
        return hone_fail_at(err, HONE_E_ARG, "budget_wall_ms",
                            "a search needs a cap: wall time, evaluations, device time or disk; "
                            "where a model is asked, money or tokens will do");
    return 0;
}

/* ---- what was spent ---- */

static void set_spent(struct hone_search *s, enum hone_budget_kind kind, double spent)
{
    s->budgets.of[kind].spent = spent;
}

static void count_models(struct hone_search *s, const struct hone_spend *spend)
{
    set_spent(s, HONE_BUDGET_COST, spend->cost);
    set_spent(s, HONE_BUDGET_TOKENS,
              (double)(spend->tokens_in + spend->tokens_out + spend->tokens_lost));
    s->budgets.of[HONE_BUDGET_COST].reserved = s->budgets.of[HONE_BUDGET_TOKENS].reserved = 0;
}

void hone_search_count(struct hone_search *s)
{
    struct hone_spend spend;
    set_spent(s, HONE_BUDGET_WALL, (double)hone_search_elapsed_ms(s));
    if (!s->models)
        return;
    hone_journal_spend(s->models->journal, &spend);
    count_models(s, &spend);
}

/* Before each ask that goes out. */
static int gate(void *arg, const struct hone_model_estimate *most, const struct hone_spend *spend,
                struct hone_err *err)
{
    struct hone_search *s = arg;
    enum hone_budget_kind kind = HONE_BUDGET_COST;
    bool is_priced = !isnan(most->cost) && spend->n_unpriced == 0;
    int r = 0;
    count_models(s, spend);
    if (s->budgets.of[kind].cap > 0 && !is_priced)
        r = hone_fail_at(err, HONE_E_LIMIT, hone_stop_reason_name(hone_stop_reason_of_budget(kind)),
                         "the price of an ask is not known, so that it could pass the cap");
    else
        r = hone_budget_reserve(&s->budgets, kind, is_priced ? most->cost : 0, err);
    if (r == 0) {
        kind = HONE_BUDGET_TOKENS;
        r = hone_budget_reserve(&s->budgets, kind,
                                (double)(most->tokens_in + most->tokens_out + most->tokens_lost),
                                err);
    }
    if (r < 0)
        s->refused = hone_stop_reason_of_budget(kind);
    return r;
}

enum hone_stop_reason hone_search_take_refusal(struct hone_search *s, int code)
{
    enum hone_stop_reason why = code == HONE_E_LIMIT ? s->refused : HONE_STOP_NONE;
    s->refused = HONE_STOP_NONE;
    return why;
}

bool hone_search_drop_models(struct hone_search *s, enum hone_stop_reason why)
{
    bool is_of_models = why == HONE_STOP_BUDGET_COST || why == HONE_STOP_BUDGET_TOKENS;
    if (!is_of_models || strcmp(hone_coder_name(s->coder), "auto") != 0)
        return false;
    hone_coder_mute(s->coder);
    for (int i = 0; i < s->state.tree.n_nodes; i++) {
        struct hone_node *n = s->state.tree.nodes[i];
        for (size_t k = 0; k < n->n_actions; k++)
            n->actions[k].is_tried = n->actions[k].is_tried || !n->actions[k].rewrite->apply;
    }
    hone_search_tell(s, "%s: no model is asked any more, the rules go on",
                     hone_stop_reason_name(why));
    return true;
}

/* ---- opening ---- */

static void read_unused(struct hone_search *s)
{
    const struct hone_usage *t = &s->usage;
    struct hone_tool_ctx ctx = *s->ctx;
    ctx.pool = s->pool;
    s->unused = hone_pool_alloc(s->pool, (t->n_unused + 1) * sizeof(*s->unused));
    for (size_t i = 0; i < t->n_unused; i++) {
        struct hone_recalled *r = &s->unused[s->n_unused];
        if (hone_evaluate_recall(&ctx, t->unused[i].start, t->unused[i].end, r, NULL) < 0)
            continue;
        enum hone_verdict verdict = r->evaluation.report.verdict;
        s->n_unused += verdict != HONE_VERDICT_INFRA && verdict != HONE_VERDICT_INVALID;
    }
}

/* A new round that could not even begin would hide what the last one found. */
static int check_left(const struct hone_search *s, struct hone_err *err)
{
    static const enum hone_budget_kind kinds[] = {HONE_BUDGET_EVALUATIONS, HONE_BUDGET_DEVICE,
                                                  HONE_BUDGET_COST, HONE_BUDGET_TOKENS};
    bool needs_model = s->options->coder && strcmp(s->options->coder, "llm") == 0;
    for (size_t i = 0; i < HONE_COUNTOF(kinds); i++) {
        const struct hone_budget *b = &s->budgets.of[kinds[i]];
        const struct hone_budget_row *row = &hone_budget_rows[kinds[i]];
        bool is_of_models = kinds[i] == HONE_BUDGET_COST || kinds[i] == HONE_BUDGET_TOKENS;
        if ((is_of_models && !needs_model) || !(b->cap > 0) || b->spent < b->cap)
            continue;
        HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
        hone_budget_put(&text, kinds[i], b->spent);
        return hone_fail_at(err, HONE_E_LIMIT, row->member,
                            "search '%s' has used %s in all its rounds, which reaches the cap; "
                            "raise %s, or start another under a name of its own (--name)",
                            s->name, text.data, row->option);
    }
    return 0;
}

int hone_search_open_budgets(struct hone_search *s, bool is_new_round, struct hone_err *err)
{
    struct hone_spend spend = {.n_asks = 0};
    for (size_t i = 0; i < HONE_N_BUDGETS; i++)
        s->budgets.of[i].cap = cap_of(s->options, (enum hone_budget_kind)i);
    set_spent(s, HONE_BUDGET_EVALUATIONS, (double)s->usage.evaluations);
    set_spent(s, HONE_BUDGET_DEVICE, (double)s->usage.device_ms);
    if (s->models) {
        hone_journal_spend(s->models->journal, &spend);
        count_models(s, &spend);
        hone_journal_set_gate(s->models->journal, gate, s);
    }
    if (s->options->budget_cost > 0 && spend.n_unpriced > 0)
        return hone_fail_at(err, HONE_E_ARG, "budget_cost",
                            "%lld asks of search '%s' have no known cost; cap tokens "
                            "(--budget-tokens), or start another under a name of its own (--name)",
                            (long long)spend.n_unpriced, s->name);
    int r = is_new_round ? check_left(s, err) : 0;
    if (r == 0)
        read_unused(s);
    return r;
}

/* ---- work ---- */

static bool is_confirm(const struct hone_attempt *a)
{
    return strcmp(a->tier, "confirm") == 0;
}

/* Before anything was measured, a guess that lets a search with a small cap begin. */
static double screen_ms(const struct hone_search *s)
{
    double guess = (double)hone_usage_expected_ms(&s->usage, false);
    double cap = s->budgets.of[HONE_BUDGET_DEVICE].cap;
    if (s->pace.screen_ms > 0)
        return (double)s->pace.screen_ms;
    return s->usage.longest_ms > 0 || !(cap > 0) ? guess : fmin(guess, cap / 8);
}

static double confirm_ms(const struct hone_search *s)
{
    return s->pace.screen_ms > 0 ? (double)hone_pace_confirm_ms(&s->pace)
                                 : CONFIRM_SCREENS * screen_ms(s);
}

static double expected_ms(const struct hone_search *s, const struct hone_attempt *a)
{
    if (is_confirm(a))
        return confirm_ms(s);
    if (a->points.n > 0)
        return screen_ms(s) * (double)(a->points.n + 1) * SWEEP_SHARE;
    if (hone_tier_of(a->tier) == HONE_TIER_DECIDE && s->pace.usual_ms > 0)
        return (double)hone_pace_look_ms(&s->pace);
    return fmax(screen_ms(s), 2 * (double)a->budget_ms);
}

/* More of one kind now, and some kept back for later. */
static int reserve(struct hone_search *s, enum hone_budget_kind kind, double now, double later,
                   struct hone_err *err)
{
    int r = hone_budget_reserve(&s->budgets, kind, now + later, err);
    if (r == 0)
        hone_budget_settle(&s->budgets, kind, later, 0);
    else
        s->refused = hone_stop_reason_of_budget(kind);
    return r;
}

int hone_search_begin_work(struct hone_search *s, const struct hone_attempt *a,
                           double *ret_reserved_ms, struct hone_err *err)
{
    bool is_last = is_confirm(a);
    double ms = expected_ms(s, a);
    int r = reserve(s, HONE_BUDGET_EVALUATIONS, 1, is_last ? 0 : 1, err);
    if (r < 0)
        return r;
    r = reserve(s, HONE_BUDGET_DEVICE, ms, is_last ? 0 : confirm_ms(s), err);
    if (r < 0)
        hone_budget_settle(&s->budgets, HONE_BUDGET_EVALUATIONS, 1, 0);
    *ret_reserved_ms = ms;
    return r;
}

void hone_search_end_work(struct hone_search *s, const struct hone_attempt *a, double reserved_ms,
                          int64_t wall_ms, bool is_free)
{
    hone_budget_settle(&s->budgets, HONE_BUDGET_EVALUATIONS, 1, is_free ? 0 : 1);
    hone_budget_settle(&s->budgets, HONE_BUDGET_DEVICE, reserved_ms, is_free ? 0 : (double)wall_ms);
    if (!is_free)
        hone_usage_add(&s->usage, is_confirm(a), wall_ms);
}

/* ---- looking ahead ---- */

static int64_t tree_bytes(const char *path, int depth)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names = NULL;
    size_t n = 0;
    int64_t bytes = 0;
    if (depth > 8 || hone_list_dir(path, pool, &names, &n, NULL) < 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        HONE_AUTOFREE char *child = hone_path_join(path, names[i], NULL);
        struct stat st;
        if (lstat(child, &st) < 0)
            continue;
        bytes += S_ISDIR(st.st_mode) ? tree_bytes(child, depth + 1) : (int64_t)st.st_blocks * 512;
    }
    return bytes;
}

/* The folder is measured now and then, and always when it could have reached the cap since. */
static bool is_disk_spent(struct hone_search *s)
{
    struct hone_search_disk *d = &s->disk;
    int64_t cap = s->options->budget_disk_bytes, n = s->n_evaluations - d->at;
    if (cap <= 0)
        return false;
    int64_t every = d->most_growth > 0 ? DISK_CHECK_EVERY : 1;
    if (d->bytes == 0 || n >= every || d->bytes + (n + 1) * d->most_growth > cap) {
        HONE_AUTOFREE char *path =
            hone_path_join(hone_workspace_dir(s->ctx->app->ws), ".hone", NULL);
        int64_t bytes = tree_bytes(path, 0);
        if (d->bytes > 0 && n > 0)
            d->most_growth = hone_max_i64(d->most_growth, (bytes - d->bytes) / n);
        d->bytes = bytes;
        d->at = s->n_evaluations;
        set_spent(s, HONE_BUDGET_DISK, (double)bytes);
        n = 0;
    }
    return d->bytes + (n + 1) * d->most_growth > cap;
}

/* A screen times the baseline beside the version. Where the baseline alone was timed, as both, a
 * version that is fast takes far less, and what takes longer is stopped at the wall. */
int64_t hone_search_one_screen_ms(const struct hone_search *s)
{
    return s->state.tree.n_nodes == 1 ? (int64_t)(FIRST_SHARE * (double)s->pace.screen_ms)
                                      : s->pace.screen_ms;
}

enum hone_stop_reason hone_search_over(struct hone_search *s, const struct hone_planned *p)
{
    enum hone_budget_kind kind;
    int64_t wall_ms = p->wall_ms > 0 ? p->wall_ms : p->n * hone_search_one_screen_ms(s);
    if (!hone_budget_fits(&s->budgets, HONE_BUDGET_EVALUATIONS, (double)p->n + 1))
        kind = HONE_BUDGET_EVALUATIONS;
    else if (hone_search_room_ms(s) < hone_max_i64(1, wall_ms))
        kind = HONE_BUDGET_WALL;
    else if (!hone_budget_fits(&s->budgets, HONE_BUDGET_DEVICE,
                               fmax((double)p->n * screen_ms(s), (double)p->wall_ms) +
                                   confirm_ms(s)))
        kind = HONE_BUDGET_DEVICE;
    else if (is_disk_spent(s))
        kind = HONE_BUDGET_DISK;
    else
        return HONE_STOP_NONE;
    return hone_stop_reason_of_budget(kind);
}

bool hone_search_may_confirm(const struct hone_search *s, bool is_first)
{
    int64_t needs =
        is_first ? hone_pace_last_confirm_ms(&s->pace) : hone_pace_least_confirm_ms(&s->pace);
    return needs <= hone_search_left_ms(s) &&
           hone_budget_fits(&s->budgets, HONE_BUDGET_EVALUATIONS, 1) &&
           hone_budget_fits(&s->budgets, HONE_BUDGET_DEVICE, confirm_ms(s));
}

/* ---- answers of before ---- */

static bool is_same_setting(const struct hone_point *a, const struct hone_point_report *b)
{
    const struct hone_tunable *x = a->tunables.v, *y = b->tunables.v;
    if (a->tunables.n != b->tunables.n)
        return false;
    for (size_t i = 0; i < a->tunables.n; i++)
        if (strcmp(x[i].name, y[i].name) != 0 || x[i].value != y[i].value)
            return false;
    return true;
}

static bool is_answer_to(const struct hone_attempt *a, const struct hone_recalled *r)
{
    const struct hone_point *points = a->points.v;
    const struct hone_point_report *measured = r->evaluation.report.points.v;
    if (!r->source || a->is_fresh || strcmp(a->source, r->source) != 0 ||
        hone_tier_of(a->tier) != r->tier || a->points.n != r->evaluation.report.points.n ||
        a->no_commit != (r->evaluation.commit == NULL))
        return false;
    for (size_t i = 0; i < a->points.n; i++)
        if (!is_same_setting(&points[i], &measured[i]))
            return false;
    return true;
}

bool hone_search_recall(struct hone_search *s, const struct hone_attempt *a,
                        struct hone_evaluation *ret)
{
    for (size_t i = 0; i < s->n_unused; i++) {
        if (!is_answer_to(a, &s->unused[i]))
            continue;
        *ret = s->unused[i].evaluation;
        s->unused[i].source = NULL;
        return true;
    }
    return false;
}
