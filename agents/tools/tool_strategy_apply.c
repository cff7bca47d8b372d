/* SPDX-License-Identifier: Apache-2.0 */
/* Tool strategy_apply: carries out one step, or hands it to a running search.
 *
 * Flow: with `search` the arguments become a submission (agents/search/steer.h) and the
 * tool returns its handle; without, the rule coder edits the version, and the new
 * source is evaluated like any other. Which arguments go with which form is checked
 * first (check_search_args, check_plain_args). */
#include <math.h>
#include <string.h>

#include "agents/tools/submitting.h"
#include "agents/tools/agent_call.h"
#include "tools/kernel.h"
#include "workspace/history.h"

static const char *const tier_words[] = {
    [HONE_TIER_NONE] = "none",
    [HONE_TIER_SCREEN] = "screen",
    [HONE_TIER_DECIDE] = "decide",
    [HONE_TIER_CONFIRM] = "confirm",
    NULL,
};

enum { MAX_WAIT_MS = 60000 }; /* search_outcome can wait longer, and holds up nobody */

struct apply_in {
    const char *task, *target, *source, *commit, *rewrite, *anchor;
    enum hone_tier tier;
    const char *search, *strategy, *words;
    int64_t variant, wait_ms;
    double expected;
};

struct apply_out {
    struct hone_head head;
    const char *task, *rewrite, *strategy, *region, *source;
    struct hone_array tunables; /* of struct tunable_row */
    double speedup;
    struct hone_submitted_rows submitted;
};

struct tunable_row {
    const char *name;
    struct hone_i64s values;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct apply_in, task, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Task name; not with search."),
    HONE_FIELD(struct apply_in, target, .choices = hone_target_words,
               .help = "None: the commit's, else cpu."),
    HONE_FIELD(struct apply_in, rewrite, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "From strategy_propose, e.g. register_tile."),
    HONE_FIELD(struct apply_in, anchor, .max_len = 16,
               .help = "From strategy_propose; none: the first that fits."),
    HONE_FIELD(struct apply_in, variant, .min = 0, .max = 15, .help = "Form of the rewrite."),
    HONE_FIELD(struct apply_in, commit, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Version to edit; none: source, else baseline; in a search its best."),
    HONE_FIELD(struct apply_in, source, .max_len = HONE_LIMIT_SOURCE_BYTES,
               .help = "Instead of commit. With search: the new version, yours."),
    HONE_FIELD(struct apply_in, tier, .choices = tier_words,
               .help = "Evaluate at once; not with search."),
    HONE_FIELD(struct apply_in, search, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Submit to this running search (name or id)."),
    HONE_FIELD(struct apply_in, strategy, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "With search: id that your source carries out (none: X), or without source "
                       "and rewrite the best step of that id."),
    HONE_FIELD(struct apply_in, expected, .fallback_f64 = 0,
               .help = "With search: expected speedup over the version."),
    HONE_FIELD(struct apply_in, words, .max_len = HONE_LIMIT_SUBJECT_BYTES,
               .help = "With search: one line for the history."),
    HONE_FIELD(struct apply_in, wait_ms, .min = 0, .max = MAX_WAIT_MS, .unit = "ms",
               .help = "With search: wait for the outcome."),
};

static const struct hone_field tunable_fields[] = {
    HONE_FIELD(struct tunable_row, name, .required = true, .help = "Name in the source."),
    HONE_FIELD(struct tunable_row, values, .required = true,
               .help = "Values; the first is the default."),
};

#define OUT(m_, ...) HONE_FIELD(struct apply_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct apply_out),
    OUT(task, .help = "Task."),
    OUT(rewrite, .help = "What was done."),
    OUT(strategy, .help = "Catalogue id."),
    OUT(region, .help = "Where."),
    OUT(source, .help = "The new source."),
    OUT(tunables, HONE_OF(struct tunable_row, tunable_fields),
        .help = "What kernel_tune may sweep."),
    OUT(speedup, .help = "Against the baseline, when it was evaluated; a screen claims nothing."),
    HONE_SUBMITTED_FIELDS(struct apply_out),
};

static int find_site(const struct apply_in *in, const struct hone_coder_input *input,
                     const struct hone_rewrite **ret_rewrite, struct hone_coder_site *ret,
                     struct hone_err *err)
{
    const struct hone_rewrite *rewrite = hone_rewrite_find(in->rewrite);
    if (!rewrite) {
        const char *names = "";
        for (size_t i = 0; i < hone_n_rewrites; i++) {
            if (!hone_rewrite_is_for(hone_rewrites[i], input->target))
                continue;
            names = hone_pool_printf(input->pool, "%s%s%s", names, *names ? ", " : "",
                                     hone_rewrites[i]->name);
        }
        return hone_fail_at(err, HONE_E_NOT_FOUND, "rewrite",
                            "'%.40s' is unknown; there are %.280s", in->rewrite, names);
    }
    struct hone_coder_site sites[HONE_CODER_MAX_SITES];
    size_t n = hone_coder_sites(rewrite, input, sites);
    for (size_t i = 0; i < n; i++) {
        if ((in->anchor && strcmp(in->anchor, sites[i].anchor) != 0) ||
            (in->anchor && in->variant != sites[i].variant))
            continue;
        *ret = sites[i];
        *ret_rewrite = rewrite;
        return 0;
    }
    return hone_fail_at(err, HONE_E_ARG, "anchor",
                        "%s has %zu regions in this version and none of them is that one; ask "
                        "strategy_propose again",
                        rewrite->name, n);
}

static void fill_tunables(struct hone_pool *pool, const char *source, struct hone_array *ret)
{
    struct hone_array axes;
    const char *where = NULL;
    if (hone_tune_parse(source, pool, &axes, &where, NULL) < 0)
        return;
    struct tunable_row *rows = hone_pool_alloc(pool, (axes.n + 1) * sizeof(*rows));
    const struct hone_tune_axis *axis = axes.v;
    for (size_t i = 0; i < axes.n; i++)
        rows[i] = (struct tunable_row){axis[i].name, axis[i].values};
    *ret = (struct hone_array){.v = rows, .n = axes.n};
}

static int evaluate(struct hone_tool_ctx *ctx, const struct apply_in *in,
                    const struct hone_agent_call *call, struct apply_out *out, struct hone_err *err)
{
    struct hone_trailer trailers[] = {{"Coder", "rules"}, {"Strategy", out->strategy}};
    struct hone_evaluation_request req = {
        .task = call->task,
        .target = call->target,
        .source = out->source,
        .tier = in->tier,
        .parent = call->commit,
        .subject = hone_pool_printf(ctx->pool, "%s (%s)", hone_rewrite_find(in->rewrite)->words,
                                    out->region),
        .trailers = {.v = trailers, .n = HONE_COUNTOF(trailers)},
    };
    struct hone_evaluation e = {.id = NULL};
    int r = hone_evaluate(ctx, &req, &e, err);
    if (r < 0)
        return r;
    const struct hone_ratio *ratio = hone_report_ratio(&e.report, "baseline");
    const struct hone_reason_row *row = hone_reason_row(e.report.reason);
    out->head.verdict = hone_verdict_name(e.report.verdict);
    out->head.reason = row->word;
    out->head.error_class = row->error_class[0] != '\0' ? row->error_class : NULL;
    out->head.next = row->next;
    out->head.commit = e.commit;
    out->head.evaluation = e.id;
    if (ratio)
        out->speedup = ratio->ratio;
    out->head.summary = hone_pool_printf(
        ctx->pool, "%s: %s%s", out->head.summary, out->head.verdict,
        ratio ? hone_pool_printf(ctx->pool, ", about %.3gx baseline", ratio->ratio) : "");
    return 0;
}

/* ---- into a running search ---- */

static int check_search_args(const struct apply_in *in, const struct hone_steer_search *search,
                             struct hone_err *err)
{
    if (in->tier != HONE_TIER_NONE)
        return hone_fail_at(err, HONE_E_ARG, "tier", "the search screens what is submitted");
    if (in->task && strcmp(in->task, search->task) != 0)
        return hone_fail_at(err, HONE_E_ARG, "task", "search '%.64s' is about %.64s", search->name,
                            search->task);
    if (in->target && strcmp(in->target, search->target) != 0)
        return hone_fail_at(err, HONE_E_ARG, "target", "search '%.64s' is for %.40s", search->name,
                            search->target);
    return 0;
}

static int submit(struct hone_tool_ctx *ctx, const struct apply_in *in, struct apply_out *out,
                  struct hone_err *err)
{
    char commit[HONE_COMMIT_BYTES];
    struct hone_steer_search search;
    uint64_t n = 0;
    int r = hone_steer_find(ctx->app->ws, in->search, ctx->pool, &search, err);
    if (r == 0)
        r = check_search_args(in, &search, err);
    if (r == 0 && in->commit)
        r = hone_history_resolve(hone_workspace_history(ctx->app->ws), in->commit, commit, err);
    if (r < 0)
        return r;
    const struct hone_submission submission = {.by = ctx->caller,
                                               .commit = in->commit ? commit : NULL,
                                               .rewrite = in->rewrite,
                                               .anchor = in->anchor,
                                               .variant = in->variant,
                                               .strategy = in->strategy,
                                               .source = in->source,
                                               .expected =
                                                   in->expected > 0 ? in->expected : (double)NAN,
                                               .words = in->words};
    r = hone_submit(ctx->app->ws, &search, &submission, &n, err);
    if (r < 0)
        return r;
    out->speedup = (double)NAN;
    out->task = search.task;
    out->rewrite = in->rewrite;
    out->strategy = in->strategy;
    return hone_submitted_fill(ctx, &search, n, in->wait_ms, &out->head, &out->submitted, err);
}

static int check_plain_args(const struct apply_in *in, struct hone_err *err)
{
    if (!in->task)
        return hone_fail_at(err, HONE_E_ARG, "task", "name a task, or a search");
    if (!in->rewrite)
        return hone_fail_at(err, HONE_E_ARG, "rewrite", "name a rewrite of strategy_propose");
    if (in->strategy || in->words || in->wait_ms > 0)
        return hone_fail_at(err, HONE_E_ARG, "search",
                            "strategy, words and wait_ms are for a step into a search");
    return 0;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_agent_call_done) struct hone_agent_call call = {.task = NULL};
    const struct apply_in *in = arguments;
    struct apply_out *out = result;
    const struct hone_rewrite *rewrite = NULL;
    struct hone_coder_site site;
    if (in->search)
        return submit(ctx, in, out, err);
    out->submitted.ratio = (double)NAN;
    int r = check_plain_args(in, err);
    if (r == 0)
        r = hone_agent_call_init(ctx, in->task, in->target, in->source, in->commit, &call, err);
    if (r == 0)
        r = find_site(in, &call.input, &rewrite, &site, err);
    if (r == 0)
        r = hone_coder_apply(call.parser, rewrite, &call.input, &site, &out->source, err);
    if (r < 0)
        return r;
    out->speedup = (double)NAN;
    out->head.status = "ok";
    out->task = hone_pool_strdup(ctx->pool, call.task->name);
    out->rewrite = rewrite->name;
    out->strategy = rewrite->strategy;
    out->region = site.words;
    out->head.summary = hone_pool_printf(ctx->pool, "%s at %s", rewrite->words, site.words);
    out->head.next = "kernel_evaluate this source; kernel_tune if it has tunables.";
    fill_tunables(ctx->pool, out->source, &out->tunables);
    return in->tier == HONE_TIER_NONE ? 0 : evaluate(ctx, in, &call, out, err);
}

const struct hone_tool hone_tool_strategy_apply = {
    .name = "strategy_apply",
    .title = "Apply a step",
    .summary = "Apply one proposed step with the rule coder, or submit a step into a search.",
    .description =
        "Applies a step that strategy_propose named and returns the new source; with a tier "
        "it evaluates it too (then it becomes a commit).  With search it submits the step, or a "
        "source of yours, into that running "
        "search, which screens and records it like its own.",
    .flags = HONE_TOOL_IDEMPOTENT | HONE_TOOL_LONG | HONE_TOOL_NEEDS_DEVICE,
    HONE_TOOL_TABLES(struct apply_in, struct apply_out),
    .run = run,
};
