/* SPDX-License-Identifier: Apache-2.0 */
/* Tool strategy_propose: the ranked steps of a version, with features and bottlenecks.
 *
 * Flow: without `search` the version is read, its features and legal steps are computed
 * afresh; with it they come from the search's own records (agents/search/view.h), so that an
 * outside planner sees what the search sees. by_hand adds the strategies that need a coder
 * who edits by itself: on request, and where no rule has a step against what limits the
 * version. */
#include <math.h>
#include <string.h>

#include "agents/tools/agent_call.h"
#include "agents/rewrites/unread.h"
#include "agents/planner/cost_model.h"
#include "agents/search/view.h"
#include "tools/kernel.h"
#include "workspace/history.h"

enum { MAX_STEPS = 20, MAX_BY_HAND = 60 };

struct propose_in {
    const char *task, *target, *source, *commit, *search;
    int64_t max;
    bool all;
};

struct region_row {
    int64_t first, last;
    const char *anchor, *loop;
};

struct step_row {
    const char *strategy, *words, *rewrite;
    struct region_row *region;
    int64_t variant;
    const char *rule, *values, *evidence, *params, *must_move, *left_out;
    double expected, low, high, p_impl, class_boost, prior;
    int64_t tries, gains;
};

struct finding_row {
    const char *class_name, *rule, *values;
};

struct feature_row {
    const char *name;
    double value;
};

struct propose_out {
    struct hone_head head;
    const char *task;
    struct hone_array bottlenecks, steps, features;
    const char *search;
    bool is_running, is_paused, would_stop;
    double speedup;
    struct hone_array versions; /* of struct hone_view_version */
    struct hone_strs banned, favoured, hints;
    int64_t submissions_waiting;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct propose_in, task, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Task name; not with search."),
    HONE_FIELD(struct propose_in, search, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name or id: the version it would expand next, or its commit."),
    HONE_FIELD(struct propose_in, target, .choices = hone_target_words,
               .help = "None: the commit's, else cpu."),
    HONE_FIELD(struct propose_in, commit, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Without commit and source: the baseline."),
    HONE_FIELD(struct propose_in, source, .max_len = HONE_LIMIT_SOURCE_BYTES,
               .help = "Instead of commit: a source text."),
    HONE_FIELD(struct propose_in, max, .min = 1, .max = MAX_STEPS, .fallback_i64 = 5,
               .help = "Most steps to return."),
    HONE_FIELD(struct propose_in, all, .help = "Also steps only you can do."),
};

static const struct hone_field region_fields[] = {
    HONE_FIELD(struct region_row, first, .required = true, .help = "First line."),
    HONE_FIELD(struct region_row, last, .required = true, .help = "Last line."),
    HONE_FIELD(struct region_row, anchor, .required = true, .help = "Hash of the region's text."),
    HONE_FIELD(struct region_row, loop, .required = true, .help = "In words."),
};

#define STEP(m_, ...) HONE_FIELD(struct step_row, m_, __VA_ARGS__)
static const struct hone_field step_fields[] = {
    STEP(strategy, .required = true, .help = "Catalogue id."),
    STEP(words, .required = true, .help = "The step in words."),
    STEP(rewrite, .skip_empty = true,
         .help = "What strategy_apply can do for you; absent: by hand."),
    HONE_FIELD_OBJ(struct step_row, region, region_fields, .skip_empty = true,
                   .help = "Where; absent: by hand."),
    STEP(variant, .skip_empty = true, .help = "Form of the rewrite."),
    STEP(rule, .skip_empty = true, .help = "Bottleneck rule that names it."),
    STEP(values, .skip_empty = true, .help = "Values that fired."),
    STEP(evidence, .skip_empty = true, .help = "Why it fits at the region."),
    STEP(params, .skip_empty = true, .help = "Parameters to choose."),
    STEP(must_move, .skip_empty = true,
         .help = "Feature that has to move, and where to, if it was really done."),
    STEP(expected, .help = "Expected speed-up over this version."),
    STEP(low, .help = "Lower end of its 80 % interval."),
    STEP(high, .help = "Upper end."),
    STEP(p_impl, .help = "Chance that it is really done."),
    STEP(class_boost, .help = "Factor for matching the bottleneck."),
    STEP(prior, .help = "Share among the legal steps."),
    STEP(left_out, .skip_empty = true, .help = "Why the search takes it last."),
    STEP(tries, .skip_empty = true, .help = "Of the strategy in the search so far."),
    STEP(gains, .skip_empty = true, .help = "Those that brought a gain."),
};

static const struct hone_field finding_fields[] = {
    HONE_FIELD(struct finding_row, class_name, .required = true, .help = "Bottleneck class."),
    HONE_FIELD(struct finding_row, rule, .required = true, .help = "The rule."),
    HONE_FIELD(struct finding_row, values, .help = "Values that fired."),
};

static const struct hone_field feature_fields[] = {
    HONE_FIELD(struct feature_row, name, .required = true, .help = "Feature."),
    HONE_FIELD(struct feature_row, value, .required = true, .help = "Value."),
};

#define VERSION(m_, ...) HONE_FIELD(struct hone_view_version, m_, __VA_ARGS__)
static const struct hone_field version_fields[] = {
    VERSION(node, .required = true, .help = "Number in the tree."),
    VERSION(parent, .required = true, .help = "The one it came from; -1: none."),
    VERSION(commit, .required = true, .help = "Commit."),
    VERSION(words, .required = true, .help = "The step that made it."),
    VERSION(speedup, .required = true, .help = "Screened or decided, over the baseline."),
    VERSION(tries, .required = true, .help = "Steps that were taken from it."),
    VERSION(is_best, .skip_empty = true, .help = "The best so far."),
    VERSION(is_next, .skip_empty = true, .help = "The built-in planner would expand it now."),
};

#define OUT(m_, ...) HONE_FIELD(struct propose_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct propose_out),
    HONE_FIELD(struct propose_out, task, .skip_empty = true, .help = "Task."),
    HONE_FIELD(struct propose_out, bottlenecks, HONE_OF(struct finding_row, finding_fields),
               .help = "What limits the version, causes first."),
    HONE_FIELD(struct propose_out, steps, HONE_OF(struct step_row, step_fields),
               .help = "Legal steps, best first. STOP is always legal."),
    HONE_FIELD(struct propose_out, features, HONE_OF(struct feature_row, feature_fields),
               .help = "Known features; absent ones are unknown."),
    OUT(search, .help = "Id of the search."),
    OUT(is_running, .help = "Some process runs it now."),
    OUT(is_paused, .help = "It waits for resume."),
    OUT(would_stop, .help = "The built-in planner sees nothing that is worth trying."),
    OUT(speedup, .help = "Of this version over the baseline, screened or decided."),
    OUT(versions, HONE_OF(struct hone_view_version, version_fields),
        .help = "The search's versions, best first."),
    OUT(banned, .help = "Strategies that the user has banned."),
    OUT(favoured, .help = "Strategies whose prior counts more."),
    OUT(hints, .help = "The user's hints."),
    OUT(submissions_waiting, .help = "Steps from outside in the queue."),
};

static struct region_row *region_of(const struct hone_coder_site *site, struct hone_pool *pool)
{
    struct region_row *row = hone_pool_alloc(pool, sizeof(*row));
    *row = (struct region_row){site->line, site->last_line, hone_pool_strdup(pool, site->anchor),
                               site->words};
    return row;
}

static const char *must_move_text(const struct hone_strategy *s, struct hone_pool *pool)
{
    return hone_pool_printf(pool, "%s %s", hone_feature_name(s->must_move),
                            s->direction > 0 ? "up" : "down");
}

static struct step_row step_of(const struct hone_action *a, struct hone_pool *pool)
{
    return (struct step_row){
        .strategy = a->strategy->id,
        .words = a->rewrite ? a->rewrite->words : a->strategy->words, /* none: by hand */
        .rewrite = a->rewrite ? a->rewrite->name : NULL,
        .region = a->rewrite ? region_of(&a->site, pool) : NULL,
        .variant = a->site.variant,
        .rule = a->rule,
        .values = a->values,
        .evidence = a->site.evidence,
        .params = a->strategy->params,
        .must_move = must_move_text(a->strategy, pool),
        .expected = exp2(a->gain),
        .low = exp2(a->low),
        .high = exp2(a->high),
        .p_impl = a->p_impl,
        .class_boost = a->boost,
        .prior = a->prior,
    };
}

static bool has_rewrite(const struct hone_strategy *s)
{
    for (size_t k = 0; k < hone_n_rewrites; k++)
        if (hone_strategy_of(hone_rewrites[k]) == s)
            return true;
    return false;
}

/* A step against a bottleneck that was found. */
static bool is_any_named(const struct hone_action *actions, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (actions[i].boost > 1 && !actions[i].site.is_weak)
            return true;
    return false;
}

/* Strategies for agents that write code: without a rewrite, or all where no rule has a step against
 * a bottleneck; those that help against the worst one first. */
static size_t by_hand(const char *target, const struct hone_features *f, enum hone_class worst,
                      bool is_all, struct hone_pool *pool, struct step_row *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < 2 * hone_n_strategies && n < max; i++) {
        const struct hone_strategy *s = &hone_strategies[i % hone_n_strategies];
        bool is_turn = hone_strategy_helps(s, worst) == (i < hone_n_strategies);
        if (!is_turn || (!is_all && has_rewrite(s)) || strcmp(s->target, target) != 0 ||
            hone_strategy_fits(s, f) == HONE_TRI_FALSE)
            continue;
        ret[n++] = (struct step_row){.strategy = s->id,
                                     .words = s->words,
                                     .params = s->params,
                                     .must_move = must_move_text(s, pool),
                                     .expected = exp2(s->gain),
                                     .low = exp2(s->low),
                                     .high = exp2(s->high),
                                     .class_boost = 1};
    }
    return n;
}

static void fill_features(const struct hone_features *f, struct hone_pool *pool,
                          struct hone_array *ret)
{
    struct feature_row *rows = hone_pool_alloc(pool, HONE_N_FEATURES * sizeof(*rows));
    *ret = (struct hone_array){.v = rows};
    for (int i = 0; i < HONE_N_FEATURES; i++)
        if (f->v[i].is_present)
            rows[ret->n++] =
                (struct feature_row){hone_feature_name((enum hone_feature_id)i), f->v[i].value};
}

static void fill_findings(const struct hone_finding *findings, size_t n, struct hone_pool *pool,
                          struct hone_array *ret)
{
    struct finding_row *rows = hone_pool_alloc(pool, HONE_N_CLASSES * sizeof(*rows));
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct finding_row){hone_class_name(findings[i].class_id), findings[i].rule,
                                       findings[i].values};
    *ret = (struct hone_array){.v = rows, .n = n};
}

static void fill(struct hone_tool_ctx *ctx, const struct propose_in *in,
                 const struct hone_agent_call *call, struct propose_out *out)
{
    struct hone_features features;
    struct hone_finding findings[HONE_N_CLASSES];
    HONE_AUTOFREE struct hone_credit *credit = hone_calloc(1, sizeof(*credit));
    HONE_AUTOFREE struct hone_action *actions =
        hone_calloc(HONE_TREE_MAX_ACTIONS, sizeof(*actions));
    hone_credit_init(credit);
    hone_features_of(&call->input, call->task, call->has_report ? &call->report : NULL, &features);
    size_t n_findings =
        call->has_report ? hone_bottlenecks_of_report(&call->report, ctx->pool, findings) : 0;
    if (n_findings == 0)
        n_findings = hone_bottlenecks(call->target, &features, ctx->pool, findings);
    struct hone_mask_input legal = {&call->input, &features, findings, n_findings,
                                    credit,       NULL,      0,        NULL};
    size_t n = hone_allowed_actions(&legal, actions);
    struct step_row *steps = hone_pool_alloc(ctx->pool, (MAX_STEPS + MAX_BY_HAND) * sizeof(*steps));
    for (size_t i = 0; i < n && i < (size_t)in->max; i++)
        steps[out->steps.n++] = step_of(&actions[i], ctx->pool);
    enum hone_class worst = n_findings > 0 ? findings[0].class_id : HONE_N_CLASSES;
    bool is_named = is_any_named(actions, n);
    if (in->all || !is_named)
        out->steps.n += by_hand(call->target, &features, worst, !is_named, ctx->pool,
                                steps + out->steps.n, (size_t)hone_min_i64(in->max, MAX_BY_HAND));
    const char *unread = hone_unread_text(&call->input);
    out->steps.v = steps;
    fill_findings(findings, n_findings, ctx->pool, &out->bottlenecks);
    fill_features(&features, ctx->pool, &out->features);
    out->head.summary = hone_pool_printf(
        ctx->pool, "%s: %s; %zu legal steps%s%s%s%s%s", call->task->name,
        hone_class_name(findings[0].class_id), n, n > 0 ? ", first: " : "",
        n > 0 ? actions[0].rewrite->words : "",
        is_named ? "" : "; no rule has one against what limits it: the others are by hand",
        unread ? "; no rule reads " : "", unread ? unread : "");
    if (!is_named)
        out->head.next = "kernel_profile says what limits this text; then edit the source yourself "
                         "and kernel_evaluate it with this version as parent.";
}

/* ---- of a search ---- */

static void list_marked(const bool *marks, struct hone_pool *pool, struct hone_strs *ret)
{
    ret->v = hone_pool_alloc(pool, HONE_CREDIT_MAX * sizeof(*ret->v));
    for (size_t i = 0; i < hone_n_strategies && i < HONE_CREDIT_MAX; i++)
        if (marks[i])
            ret->v[ret->n++] = hone_strategies[i].id;
}

static struct step_row step_of_view(const struct hone_action *a, const struct hone_view *view,
                                    struct hone_pool *pool)
{
    const struct hone_view_tries *tries = &view->tries[hone_strategy_index(a->strategy)];
    struct step_row row = step_of(a, pool);
    row.tries = tries->tries;
    row.gains = tries->gains;
    if (a->is_left_out)
        row.left_out = hone_cost_words(a->cost_log2, view->cost_error, pool);
    return row;
}

static void fill_view(struct hone_tool_ctx *ctx, const struct propose_in *in,
                      const struct hone_steer_search *search, const struct hone_view *view,
                      struct propose_out *out)
{
    struct step_row *steps = hone_pool_alloc(ctx->pool, (MAX_STEPS + MAX_BY_HAND) * sizeof(*steps));
    for (size_t i = 0; i < view->n_actions && i < (size_t)in->max; i++)
        steps[out->steps.n++] = step_of_view(&view->actions[i], view, ctx->pool);
    for (size_t i = 0; i < view->n_by_hand && i < MAX_BY_HAND && (in->all || view->is_by_hand); i++)
        steps[out->steps.n++] = step_of_view(&view->by_hand[i], view, ctx->pool);
    out->steps.v = steps;
    fill_findings(view->findings, view->n_findings, ctx->pool, &out->bottlenecks);
    fill_features(&view->features, ctx->pool, &out->features);
    out->versions = (struct hone_array){.v = view->versions, .n = view->n_versions};
    out->search = search->id;
    out->task = search->task;
    out->is_running = search->is_running;
    out->is_paused = view->steering->is_paused;
    out->would_stop = view->would_stop;
    out->speedup = view->speedup;
    list_marked(view->steering->is_banned, ctx->pool, &out->banned);
    list_marked(view->steering->is_favoured, ctx->pool, &out->favoured);
    out->hints = (struct hone_strs){view->steering->hints, view->steering->n_hints};
    out->submissions_waiting = (int64_t)view->steering->n_waiting;
}

static int run_in_search(struct hone_tool_ctx *ctx, const struct propose_in *in,
                         struct propose_out *out, struct hone_err *err)
{
    struct hone_steer_search search;
    char commit[HONE_COMMIT_BYTES];
    if (in->source)
        return hone_fail_at(err, HONE_E_ARG, "source",
                            "a search knows versions: give commit, or neither");
    int r = hone_steer_find(ctx->app->ws, in->search, ctx->pool, &search, err);
    if (r == 0 && in->task && strcmp(in->task, search.task) != 0)
        r = hone_fail_at(err, HONE_E_ARG, "task", "search '%.64s' is about %.64s", search.name,
                         search.task);
    if (r == 0 && in->commit)
        r = hone_history_resolve(hone_workspace_history(ctx->app->ws), in->commit, commit, err);
    struct hone_view *view = hone_pool_alloc(ctx->pool, sizeof(*view));
    if (r == 0)
        r = hone_view_read(ctx, &search, in->commit ? commit : NULL, view, err);
    if (r < 0)
        return r;
    fill_view(ctx, in, &search, view, out);
    out->head.status = "ok";
    out->head.commit = view->commit;
    const struct hone_action *best = view->n_actions > 0   ? view->actions
                                     : view->n_by_hand > 0 ? view->by_hand
                                                           : NULL;
    out->head.summary = hone_pool_printf(
        ctx->pool, "search %s at %.10s (%.3gx): %s; %zu steps listed%s%s", search.name,
        view->commit, view->speedup,
        view->n_findings > 0 ? hone_class_name(view->findings[0].class_id) : "no finding",
        out->steps.n, best ? ", first: " : "",
        !best           ? ""
        : best->rewrite ? best->rewrite->words
                        : best->strategy->words);
    out->head.next = "strategy_apply with search, this commit and a step's rewrite, anchor and "
                     "variant; or with a source of your own.";
    return 0;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_agent_call_done) struct hone_agent_call call = {.task = NULL};
    const struct propose_in *in = arguments;
    struct propose_out *out = result;
    out->speedup = (double)NAN;
    if (in->search)
        return run_in_search(ctx, in, out, err);
    if (!in->task)
        return hone_fail_at(err, HONE_E_ARG, "task", "name a task, or a search");
    int r = hone_agent_call_init(ctx, in->task, in->target, in->source, in->commit, &call, err);
    if (r < 0)
        return r;
    out->head.status = "ok";
    out->head.commit = call.commit;
    out->head.next = "strategy_apply with a step's rewrite, anchor and variant; or edit the source "
                     "yourself and kernel_evaluate it.";
    out->task = hone_pool_strdup(ctx->pool, call.task->name);
    fill(ctx, in, &call, out);
    hone_figures_round(out, out_fields, HONE_COUNTOF(out_fields));
    return 0;
}

const struct hone_tool hone_tool_strategy_propose = {
    .name = "strategy_propose",
    .title = "Propose optimisation steps",
    .summary = "Rank the next optimisation steps for a version, with rule, values and expectation.",
    .description = "Says by rule what limits a version and ranks the legal steps: strategy, place, "
                   "expected speedup, what must move. Expectations, no measurements. 50 ms. With "
                   "search: what that search would expand next and what it has learnt.",
    .flags = HONE_TOOL_READ_ONLY | HONE_TOOL_IDEMPOTENT,
    HONE_TOOL_TABLES(struct propose_in, struct propose_out),
    .run = run,
};
