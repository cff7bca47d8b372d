/* SPDX-License-Identifier: Apache-2.0 */
/* One expansion: a step picked by the policy is applied by the rule coder, evaluated, credited and
 * put into the tree. */
#include "agents/search/search_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/coder/profile_text.h"
#include "agents/coder/history_context.h"
#include "tools/evaluate_text.h"
#include "workspace/base/text.h"
#include "tools/rests_text.h"
#include "workspace/base/clock.h"
#include "workspace/history.h"

/* A model's version costs minutes and money, and the next ones are built on it: it is verified
 * before it is a node, so that a wrong one is repaired while the idea is at hand. */
#define THOROUGH_STAGES    "build,policy,smoke,verify,screen"
#define ROOT_TRIES         3
#define IN_A_ROW           5    /* failures of the machine, and the search ends */
#define PROFILE_AHEAD_LOG2 0.1  /* a new best this far ahead is worth a profile */
#define PROFILE_SHARE      8    /* all profiles: at most this part of the wall cap */
#define FIRST_PROFILE_MS   8000 /* on an H200 3 s to 16 s: counters start, machine code is patched */

/* ---- evaluation ---- */

static bool is_right(enum hone_verdict v)
{
    return v == HONE_VERDICT_SCREENED || v == HONE_VERDICT_FASTER || v == HONE_VERDICT_SAME ||
           v == HONE_VERDICT_SLOWER || v == HONE_VERDICT_INCONCLUSIVE;
}

static void read_points(const struct hone_report *report, struct hone_pool *pool,
                        struct hone_search_outcome *o)
{
    o->best_point = report->best_point;
    o->best_point_ratio = (double)NAN;
    if (report->best_point >= 0 && (size_t)report->best_point < report->points.n)
        o->best_point_ratio =
            ((const struct hone_point_report *)report->points.v)[report->best_point].ratio;
    double *ns = hone_pool_alloc(pool, (report->points.n + 1) * sizeof(*ns));
    for (size_t i = 0; i < report->points.n; i++)
        ns[i] = ((const struct hone_point_report *)report->points.v)[i].median_ns;
    o->point_ns = ns;
    o->n_points = report->points.n;
}

/* Geometric mean over the public workloads; NaN without any. */
static double public_ratio(const struct hone_report *report)
{
    const struct hone_workload_report *workloads = report->workloads.v;
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < report->workloads.n; i++) {
        const struct hone_ratio *ratios = workloads[i].ratios.v;
        for (size_t r = 0; r < workloads[i].ratios.n && !workloads[i].is_hidden; r++) {
            if (strcmp(ratios[r].against, "baseline") != 0 || !(ratios[r].ratio > 0))
                continue;
            sum += log2(ratios[r].ratio);
            n++;
        }
    }
    return n > 0 ? exp2(sum / (double)n) : (double)NAN;
}

static void read_outcome(struct hone_search *s, const struct hone_evaluation *e, const char *tier,
                         struct hone_search_outcome *o)
{
    const struct hone_ratio *ratio = hone_report_ratio(&e->report, "baseline"),
                            *fair = hone_report_ratio(&e->report, HONE_ARM_FAST_MATH);
    *o = (struct hone_search_outcome){.verdict = HONE_VERDICT_INFRA,
                                      .ratio = (double)NAN,
                                      .low = (double)NAN,
                                      .high = (double)NAN,
                                      .rank = (double)NAN};
    o->verdict = e->report.verdict;
    o->reason = hone_reason_name(e->report.reason);
    o->commit = hone_pool_strdup(s->pool, e->commit);
    o->evaluation = hone_pool_strdup(s->pool, e->id);
    o->summary = hone_pool_strdup(s->pool, e->report.summary ? e->report.summary : "");
    o->words = hone_evaluation_summary(&e->report, s->pool);
    if (e->report.doubts.n > 0)
        o->doubt = hone_plain_line(s->pool, e->report.doubts.v[0], 200);
    o->rests_on = hone_rests_text(&e->report, s->pool);
    if (ratio && ratio->ratio > 0) {
        o->ratio = ratio->ratio;
        o->low = ratio->low > 0 ? ratio->low : ratio->ratio;
        o->high = ratio->high > 0 ? ratio->high : ratio->ratio;
        o->rank = public_ratio(&e->report);
        o->rank = isfinite(o->rank) ? o->rank : o->ratio;
    }
    o->vs_fast_math = fair ? fair->ratio : (double)NAN;
    o->yardsticks = hone_report_yardsticks(&e->report, s->pool);
    o->is_right = is_right(o->verdict) && isfinite(o->ratio);
    if (!o->is_right && hone_coder_repairs(s->coder) > 0)
        o->diagnosis = hone_diagnose(&e->report, s->pool);
    hone_features_of(NULL, NULL, &e->report, &o->measured);
    o->baseline_ns = hone_report_time_ns(&e->report, "baseline");
    o->best_ns = hone_report_time_ns(&e->report, "candidate");
    o->percent_of_bound = hone_shown_percent(e->report.percent_of_bound);
    o->code = hone_pool_strdup(s->pool, e->report.build ? e->report.build->code : NULL);
    o->times = hone_times_text(&e->report, s->task, s->pool);
    o->basis = hone_basis_of(&e->report, s->task, tier);
    read_points(&e->report, s->pool, o);
    o->n_findings = hone_bottlenecks_of_report(&e->report, s->pool, o->findings);
    o->hot_kernel = hone_hot_kernel(&e->report, s->pool);
    o->profile = hone_profile_text(&e->report, s->pool);
}

/* A candidate that is many times slower than the baseline need not be waited for. */
static int64_t call_timeout_ms(const struct hone_search *s)
{
    double ns = s->state.tree.n_nodes > 0
                    ? hone_feature_or(&s->state.tree.nodes[0]->features, HONE_F_NS, 0)
                    : 0;
    return ns > 0 ? hone_min_i64(20000, 1000 + (int64_t)(50 * ns / 1e6)) : 0;
}

enum { MAX_TRAILERS = 6 };
static size_t make_trailers(const struct hone_search *s, const struct hone_attempt *a,
                            const char *coder, struct hone_pool *pool,
                            struct hone_trailer ret[MAX_TRAILERS])
{
    size_t n = 0;
    ret[n++] = (struct hone_trailer){
        "Planner",
        s->submission ? hone_pool_printf(pool, "external %s", s->submission->by) : s->policy->name};
    ret[n++] = (struct hone_trailer){"Coder", coder};
    if (a->strategy)
        ret[n++] = (struct hone_trailer){"Strategy", a->strategy};
    const char *steered = NULL;
    if (s->submission)
        steered = hone_pool_printf(pool, "submission %llu", (unsigned long long)s->submission->n);
    else if (a->strategy)
        steered = hone_steering_words(s->steering, a->strategy, a->n_asks > 0, pool);
    if (steered)
        ret[n++] = (struct hone_trailer){"Steered", steered};
    if (a->n_asks > 0)
        ret[n++] =
            (struct hone_trailer){"Tokens", hone_pool_printf(pool, "%lld", (long long)a->tokens)};
    if (a->n_asks > 0 && !isnan(a->cost))
        ret[n++] = (struct hone_trailer){"Cost", hone_pool_printf(pool, "%.6g USD", a->cost)};
    return n;
}

struct measured {
    struct hone_evaluation evaluation;
    int64_t wall_ms; /* waits with it */
};

static int evaluate_now(struct hone_search *s, const struct hone_attempt *a,
                        struct hone_tool_ctx *ctx, const struct hone_evaluation_request *req,
                        struct measured *ret, struct hone_err *err)
{
    double reserved_ms = 0;
    int r = hone_search_begin_work(s, a, &reserved_ms, err);
    if (r < 0)
        return r;
    int64_t start = hone_search_now_ns(s);
    r = hone_evaluate(ctx, req, &ret->evaluation, err);
    ret->wall_ms = (hone_search_now_ns(s) - start) / HONE_NS_PER_MS;
    hone_search_end_work(s, a, reserved_ms, ret->wall_ms, r == 0 && ret->evaluation.is_cached);
    return r;
}

/* ---- blame ---- */

/* A version whose evaluation ended as the machine's fault: is it?
 *
 * The same question as tools/runner/judge/blame.h asks inside of a job, for whatever brings a job to such
 * an end from outside of it. The search's own start, the baseline, is evaluated where the version
 * failed. It works, and the version fails once more: the version's own fault, and the search goes
 * on. It fails too: the machine's, and so many in a row end the search. These looks are no
 * evaluations of the search: they take its wall time alone. */
static const char *const caller = "search's look at the machine";

static bool is_open(const struct hone_evaluation *e)
{
    return e->report.verdict == HONE_VERDICT_INFRA && e->report.reason != HONE_REASON_CANCELLED;
}

static int try_baseline(struct hone_search *s, const struct hone_tool_ctx *like,
                        struct hone_evaluation *ret, struct hone_err *err)
{
    struct hone_tool_ctx ctx = *like;
    const struct hone_evaluation_request req = {.task = s->task,
                                                .target = s->target,
                                                .source = s->state.tree.nodes[0]->source,
                                                .tier = HONE_TIER_SCREEN,
                                                .no_commit = true,
                                                .no_cache = true};
    ctx.caller = caller;
    return hone_evaluate(&ctx, &req, ret, err);
}

static int settle_blame(struct hone_search *s, const struct hone_tool_ctx *like,
                        const struct hone_evaluation_request *req, struct hone_evaluation *e,
                        bool *ret_is_own, struct hone_err *err)
{
    *ret_is_own = false;
    if (!is_open(e)) {
        s->n_infra = 0;
        return 0;
    }
    if (s->state.tree.n_nodes == 0) /* the baseline itself: the caller tries it again */
        return 0;
    struct hone_evaluation baseline = {.id = NULL};
    int r = try_baseline(s, like, &baseline, err);
    if (r < 0)
        return r;
    if (is_open(&baseline)) {
        if (++s->n_infra < IN_A_ROW)
            return 0;
        return hone_fail(err, HONE_E_TARGET,
                         "%d evaluations in a row ended with '%s', and so did the baseline",
                         IN_A_ROW, hone_reason_name(baseline.report.reason));
    }
    struct hone_tool_ctx ctx = *like;
    struct hone_evaluation_request again = *req;
    s->n_infra = 0;
    again.no_cache = true;
    ctx.caller = caller;
    r = hone_evaluate(&ctx, &again, e, err);
    *ret_is_own = r == 0 && is_open(e);
    if (*ret_is_own)
        hone_search_tell(s, "a version fails where the baseline works: its own fault");
    return r;
}

/* Nothing of what the evaluation said is passed on: nobody knows who wrote it. */
static void own_fault(struct hone_search_outcome *o)
{
    const struct hone_reason_row *row = hone_reason_row(HONE_REASON_UNRULY);
    o->verdict = row->verdict;
    o->reason = row->word;
    o->summary = row->meaning;
    o->diagnosis = o->diagnosis ? row->next : NULL;
    o->is_right = false;
}

/* What the first screens do for all: a device is opened, the machine's limits are measured, answers
 * to check against are made. */
static int64_t once_ms(const struct hone_report *report)
{
    static const struct {
        const char *stage;
        int sign;
    } parts[] = {{"device.open", 1},  {"screen", 1},       {"time.prepare", -1},
                 {"time.rounds", -1}, {"time.audits", -1}, {"time.blocks", -1},
                 {"time.check", -1}};
    const struct hone_stage_report *stages = report->stages.v;
    int64_t ns = 0;
    for (size_t i = 0; i < report->stages.n; i++)
        for (size_t k = 0; k < HONE_COUNTOF(parts); k++)
            if (strcmp(stages[i].name, parts[k].stage) == 0)
                ns += parts[k].sign * stages[i].wall_ns;
    return hone_max_i64(0, ns / HONE_NS_PER_MS);
}

int hone_search_evaluate(struct hone_search *s, const struct hone_attempt *a,
                         struct hone_search_outcome *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_tool_ctx ctx = *s->ctx;
    struct hone_trailer trailers[MAX_TRAILERS];
    const char *coder = a->coder ? a->coder : hone_coder_name(s->coder);
    size_t n_trailers = make_trailers(s, a, coder, pool, trailers);
    struct hone_evaluation_request req = {
        .task = s->task,
        .target = s->target,
        .source = a->source,
        .points = a->points,
        .tier = hone_tier_of(a->tier),
        .parent = a->parent,
        .stages = a->stages,
        .no_commit = a->no_commit,
        .budget_ms = a->budget_ms,
        .finish_ms = a->finish_ms,
        .lease_wait_ms = HONE_JOB_LEASE_MS,
        .call_timeout_ms = call_timeout_ms(s),
        .subject = a->subject,
        .body = a->body,
        .trailers = {.v = trailers, .n = n_trailers},
        .no_cache = a->is_fresh,
        .author = hone_pool_printf(pool, "hone %s", coder),
    };
    struct measured measured = {.wall_ms = 0};
    struct hone_evaluation *e = &measured.evaluation;
    ctx.pool = pool;
    HONE_CLEANUP(hone_search_close_wait) struct hone_search_wait wait;
    int r = hone_search_open_wait(s, a, &wait, err);
    if (r < 0)
        return r;
    ctx.on_progress = hone_search_on_wait;
    ctx.progress_arg = &wait;
    ctx.cancel = wait.has_stop ? &wait.stop.cancel : s->ctx->cancel;
    ctx.caller = hone_pool_printf(pool, HONE_USAGE_CALLER "%s", s->id); /* counts it as ours */
    bool is_recalled = hone_search_recall(s, a, e);
    r = is_recalled ? 0 : evaluate_now(s, a, &ctx, &req, &measured, err);
    bool is_first_free = r == 0 && e->is_cached, is_own = false;
    if (r == 0)
        r = settle_blame(s, &ctx, &req, e, &is_own, err);
    r = hone_search_stopped(&wait, r, err);
    if (r < 0)
        return r;
    read_outcome(s, e, a->tier, ret);
    if (is_own)
        own_fault(ret);
    if (e->is_cached || is_recalled) /* what it took when it was made */
        ret->wall_ms = hone_max_i64(measured.wall_ms, e->report.wall_ns / HONE_NS_PER_MS);
    else
        ret->wall_ms = measured.wall_ms - hone_search_count_wait(s, &e->report);
    ret->pace_ms = ret->wall_ms - once_ms(&e->report);
    s->n_verdicts[ret->verdict]++;
    s->n_unruly += strcmp(ret->reason, hone_reason_row(HONE_REASON_UNRULY)->word) == 0;
    s->n_evaluations += !is_first_free;
    return 0;
}

/* ---- nodes ---- */

static const char *keep(struct hone_search *s, const char *text)
{
    return hone_pool_strdup(s->pool, text ? text : "");
}

/* A version's steps say much the same of themselves: one copy of it. member: offset in hone_action.
 */
static const char *keep_once(struct hone_search *s, const struct hone_node *node, size_t i,
                             size_t member)
{
    const char *const *text = (const void *)((const char *)&node->actions[i] + member);
    for (size_t k = 0; k < i && *text; k++) {
        const char *const *old = (const void *)((const char *)&node->actions[k] + member);
        if (strcmp(*old, *text) == 0)
            return *old;
    }
    return keep(s, *text);
}

/* Measured features stand; those of the text are added. */
static void merge_features(struct hone_features *to, const struct hone_features *from)
{
    for (int i = 0; i < HONE_N_FEATURES; i++)
        if (!to->v[i].is_present)
            to->v[i] = from->v[i];
}

/* Other numbers in the same text are limited by what it is limited by, as far as is known. */
static void inherit_profile(const struct hone_search *s, struct hone_node *node)
{
    const struct hone_node *from =
        node->parent == HONE_NO_NODE ? NULL : s->state.tree.nodes[node->parent];
    if (!from || !from->is_profiled || node->is_profiled || strcmp(node->rewrite, "tune") != 0)
        return;
    for (int i = HONE_F_SM_ACTIVE; i < HONE_N_FEATURES; i++)
        if (!node->features.v[i].is_present)
            node->features.v[i] = from->features.v[i];
    memcpy(node->findings, from->findings, sizeof(node->findings));
    node->n_findings = from->n_findings;
    node->hot_kernel = from->hot_kernel;
    node->profile = from->profile;
    node->is_profiled = true;
}

void hone_search_list_steps(void *search, struct hone_node *node)
{
    struct hone_search *s = search;
    inherit_profile(s, node);
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_coder_input in;
    node->is_expanded = true;
    if (hone_coder_read_kernel(s->parser, s->task, s->target, node->source, pool, &in, NULL) < 0 &&
        hone_coder_blind(s->coder, node->source, pool, &in, NULL) < 0)
        return;
    struct hone_features text;
    in.hot_kernel = node->hot_kernel;
    hone_features_of(&in, s->task, NULL, &text);
    merge_features(&node->features, &text);
    node->n_tunables = (int)hone_feature_or(&node->features, HONE_F_TUNABLES, 0);
    if (!node->is_profiled) /* what the profile said stands */
        node->n_findings = hone_bottlenecks(s->target, &node->features, s->pool, node->findings);
    struct hone_step_list steps = hone_coder_steps(s->coder);
    struct hone_mask_input legal = {&in,
                                    &node->features,
                                    node->findings,
                                    node->n_findings,
                                    &s->state.credit,
                                    &s->state.tree,
                                    node->index,
                                    &steps};
    HONE_AUTOFREE struct hone_action *actions =
        hone_calloc(HONE_TREE_MAX_ACTIONS, sizeof(*actions));
    size_t n = hone_allowed_actions(&legal, actions);
    node->actions = hone_pool_alloc(s->pool, (n + 1) * sizeof(*actions));
    node->n_actions = n;
    for (size_t i = 0; i < n; i++) {
        struct hone_action *a = &node->actions[i];
        *a = actions[i];
        a->site.node = NULL;
        a->site.words = keep_once(s, node, i, offsetof(struct hone_action, site.words));
        a->site.evidence = keep_once(s, node, i, offsetof(struct hone_action, site.evidence));
        a->rule = keep_once(s, node, i, offsetof(struct hone_action, rule));
        a->values = keep_once(s, node, i, offsetof(struct hone_action, values));
    }
    if (s->state.cost)
        node->has_left_out = hone_cost_mark(s->state.cost, s->state.skip_below, node) > 0;
    hone_search_list_merges(s, node);
}

/* Would one more like the last take too much of a short search? In 60 s one of 9 s to 16 s and its
 * confirmation left as much for steps. */
static bool has_time_for_profile(const struct hone_search *s)
{
    double cap = s->budgets.of[HONE_BUDGET_WALL].cap;
    int64_t next_ms = s->profiled_ms == 0 ? FIRST_PROFILE_MS : s->last_profile_ms;
    return !(cap > 0) || (double)(s->profiled_ms + next_ms) <= cap / PROFILE_SHARE;
}

/* On cuda: what limits the version, by counters; a failure leaves it without. screen_ms: how long
 * an evaluation takes. */
static int profile(struct hone_search *s, struct hone_node *node, int64_t screen_ms,
                   struct hone_err *err)
{
    if (strcmp(s->target, "cuda") != 0 || node->is_profiled || !has_time_for_profile(s))
        return 0;
    if (hone_search_over(s, &(struct hone_planned){.n = 1, .wall_ms = 2 * screen_ms}))
        return 0;
    struct hone_attempt a = {.source = node->source,
                             .tier = "screen",
                             .subject = node->words,
                             .stages = "build,smoke,profile",
                             .no_commit = true};
    struct hone_search_outcome o;
    int r = hone_search_evaluate(s, &a, &o, err);
    if (r < 0)
        return r;
    s->last_profile_ms = o.wall_ms;
    s->profiled_ms += o.wall_ms;
    for (int i = HONE_F_SM_ACTIVE; i < HONE_N_FEATURES; i++)
        if (o.measured.v[i].is_present)
            node->features.v[i] = o.measured.v[i];
    node->hot_kernel = o.hot_kernel;
    node->profile = o.profile;
    if (o.n_findings == 0)
        return 0;
    memcpy(node->findings, o.findings, sizeof(node->findings));
    node->n_findings = o.n_findings;
    node->is_profiled = true;
    hone_search_tell(s, "limited by %s: %s", hone_class_name(o.findings[0].class_id),
                     o.findings[0].rule);
    return 0;
}

int hone_search_set_branch(struct hone_search *s, struct hone_err *err)
{
    const struct hone_node *best =
        s->state.tree.best == HONE_NO_NODE ? NULL : s->state.tree.nodes[s->state.tree.best];
    if (!best || !best->commit)
        return 0;
    return hone_workspace_set_branch(s->ctx->app->ws, s->name, best->commit, err);
}

int hone_search_root(struct hone_search *s, struct hone_err *err)
{
    HONE_AUTOFREE char *naive = NULL;
    struct hone_search_outcome o;
    int r = hone_task_naive(s->task, s->target, &naive, err);
    if (r < 0)
        return r;
    struct hone_attempt a = {
        .source = naive,
        .tier = "screen",
        .subject = hone_pool_printf(s->pool, "%s: the baseline", s->task->name),
        .body = "The textbook kernel of the task pack, where the search starts."};
    /* known to be right, so that a bad end is the machine's (something killed it): asked again */
    for (int i = 0; i < ROOT_TRIES; i++) {
        a.is_fresh = i > 0;
        r = hone_search_evaluate(s, &a, &o, err);
        if (r < 0)
            return hone_wrap(err, "baseline");
        if (o.is_right)
            break;
    }
    if (!o.is_right)
        return hone_fail(err, HONE_E_TARGET, "the baseline of '%s' ended as %s (%s): %s",
                         s->task->name, hone_verdict_name(o.verdict), o.reason, o.summary);
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_event event = hone_event_new_result(HONE_KIND_ROOT);
    struct hone_node *n = NULL;
    hone_search_put_value(&event.result, &o);
    event.result.value = event.result.se = 0; /* what all others are compared with */
    event.result.ratio_low = event.result.ratio_high = 0;
    r = hone_search_draft(s, &event.result, &o, naive, pool, &n, err);
    hone_search_tell(s, "baseline");
    if (r == 0) /* it stands in the record of its version */
        r = profile(s, n, o.wall_ms, err);
    if (r < 0)
        return r;
    hone_search_put_profile(&event.result, n, pool);
    r = hone_search_record_event(s, &event, &o, n, err);
    hone_search_tell_forecast(s);
    return r;
}

/* ---- expansion ---- */

static const char *step_words(struct hone_search *s, const struct hone_action *a)
{
    return hone_pool_printf(s->pool, "%s (%s)", a->rewrite->words, a->site.words);
}

static const char *step_body(struct hone_pool *pool, const struct hone_node *n,
                             const struct hone_action *a)
{
    return hone_pool_printf(pool,
                            "Why: %s%s%s%s; %s.\n"
                            "Strategy %s, %s; region lines %u-%u, anchor %s, variant %d.\n"
                            "Expected: %.2fx (80 %%: %.2f to %.2f); %s must go %s.\n"
                            "Before: about %.3gx the baseline (screened).",
                            a->rule, *a->values ? " (" : "", a->values, *a->values ? ")" : "",
                            a->site.evidence, a->strategy->id, a->strategy->words, a->site.line,
                            a->site.last_line, a->site.anchor, a->site.variant, exp2(a->gain),
                            exp2(a->low), exp2(a->high), hone_feature_name(a->strategy->must_move),
                            a->strategy->direction > 0 ? "up" : "down", exp2(n->value));
}

const char *hone_verdict_words(struct hone_search *s, const char *verdict, const char *reason)
{
    return hone_pool_printf(s->pool, "%s (%s)", verdict, reason ? reason : "");
}

struct trial { /* an expansion whose evaluation, if there was one, has ended */
    struct hone_node *from;
    struct hone_action *action;
    const struct hone_search_outcome *outcome; /* NULL: nothing was evaluated */
    struct hone_event event;
    struct hone_pool *pool; /* as long as the step */
};

/* What the planner makes of it, then the record. node: what it made or found; NULL: nothing. */
static int finish(struct hone_search *s, struct trial *t, enum hone_step_end end,
                  struct hone_node *node, bool is_new, struct hone_err *err)
{
    struct hone_event_result *r = &t->event.result;
    const struct hone_step step = {
        .from = t->from, .action = t->action, .end = end, .node = node, .note = r->note};
    struct hone_step_result learnt;
    hone_planner_judge(&step, &learnt);
    r->moved = hone_state_tri_name(learnt.moved);
    r->class = learnt.class_id < HONE_N_CLASSES ? hone_class_name(learnt.class_id) : NULL;
    r->gain = learnt.gain;
    r->g_eff = learnt.g_eff;
    r->reward = learnt.reward;
    r->is_implemented = learnt.moved == HONE_TRI_TRUE;
    r->is_gain = learnt.is_gain;
    return hone_search_record_event(s, &t->event, t->outcome, is_new ? node : NULL, err);
}

static int accept_known(struct hone_search *s, struct trial *t, struct hone_node *known,
                        struct hone_err *err)
{
    struct hone_event_result *r = &t->event.result;
    hone_search_put_known(r, known);
    hone_search_put_profile(r, known, t->pool);
    r->prior = known->step_prior;
    r->note = "the same machine code as a version that is known";
    return finish(s, t, HONE_STEP_RIGHT, known, false, err);
}

static int accept(struct hone_search *s, struct trial *t, const char *source, struct hone_err *err)
{
    const struct hone_search_outcome *o = t->outcome;
    const struct hone_tree *tree = &s->state.tree;
    struct hone_node *n = hone_tree_find_code(tree, o->code);
    int old_best = tree->best;
    if (n)
        return accept_known(s, t, n, err);
    hone_search_put_value(&t->event.result, o);
    t->event.result.prior = t->action->prior;
    int r = hone_search_draft(s, &t->event.result, o, source, t->pool, &n, err);
    if (r < 0)
        return r;
    double best_before = hone_node_value_paired(tree->nodes[old_best], n);
    if (hone_state_is_best(&s->state, n) && n->value > best_before + PROFILE_AHEAD_LOG2)
        r = profile(s, n, hone_pace_screen_ms_with(&s->pace, o->wall_ms), err);
    if (r < 0)
        return r;
    hone_search_put_profile(&t->event.result, n, t->pool);
    hone_search_list_steps(s, n);
    r = finish(s, t, HONE_STEP_RIGHT, n, true, err);
    if (r == 0 && tree->best != old_best)
        r = hone_search_set_branch(s, err);
    return r;
}

static int reject(struct hone_search *s, struct trial *t, const char *note, struct hone_err *err)
{
    const struct hone_search_outcome *o = t->outcome;
    enum hone_step_end end = t->event.result.is_declined ? HONE_STEP_DECLINED : HONE_STEP_REFUSED;
    t->event.result.note = note;
    return finish(s, t, o ? hone_step_end_of(o->verdict, o->reason) : end, NULL, false, err);
}

int hone_search_expand(struct hone_search *s, const struct hone_pick *pick, struct hone_err *err)
{
    struct hone_node *from = s->state.tree.nodes[pick->node];
    return hone_search_try(s, from, &from->actions[pick->action], pick->propensity, err);
}

/* Who edits the source in this step. */
static const char *coder_of(struct hone_search *s, const struct hone_action *a)
{
    return a->given ? hone_pool_printf(s->pool, "external %s", s->submission->by)
                    : hone_coder_of(s->coder, a->rewrite);
}

int hone_search_try(struct hone_search *s, struct hone_node *from, struct hone_action *a,
                    double propensity, struct hone_err *err)
{
    /* what only the step needs goes with it: sources can be large, and a night is long */
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct trial t = {
        .from = from, .action = a, .event = hone_event_new_result(HONE_KIND_EXPAND), .pool = pool};
    struct hone_event_result *result = &t.event.result;
    result->parent = from->number;
    result->rewrite = a->rewrite->name;
    result->anchor = a->site.anchor;
    result->variant = a->site.variant;
    result->words = step_words(s, a);
    result->plan = a->plan;
    result->submission = s->submission ? (int64_t)s->submission->n : 0;
    bool is_by_rule = a->rewrite->sites && !a->given;
    const struct hone_attempt like = {.tier = "screen",
                                      .stages = is_by_rule ? NULL : THOROUGH_STAGES,
                                      .subject = result->words,
                                      .body = step_body(pool, from, a),
                                      .parent = from->commit,
                                      .strategy = a->strategy->id,
                                      .coder = coder_of(s, a)};
    struct hone_implemented made = {.pool = pool};
    double p_rules = a->p_rules, p_llm = a->p_llm;
    a->is_tried = true;
    const struct hone_todo todo = {from, a, &like, propensity};
    int r = hone_search_implement(s, &todo, &made, err);
    if (r < 0)
        return r;
    if (made.is_declined)
        hone_search_tell(s, "%s: %s", result->words, made.note);
    result->is_declined = made.is_declined && !made.has_outcome; /* a failed try stays one */
    if (!made.has_outcome)
        return reject(s, &t, made.note, err);
    const struct hone_search_outcome *o = t.outcome = &made.outcome;
    r = o->is_right ? accept(s, &t, made.source, err) : reject(s, &t, made.note, err);
    if (r == 0 && result->is_gain)
        r = hone_search_learn_mix(s, p_rules, p_llm, err);
    if (o->is_right)
        hone_search_tell(s, "%s: %.3gx", result->words, o->ratio);
    else
        hone_search_tell(s, "%s: %s (%s)", result->words, hone_verdict_name(o->verdict), o->reason);
    return r;
}
