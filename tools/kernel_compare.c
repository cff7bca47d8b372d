/* SPDX-License-Identifier: Apache-2.0 */
/* Two versions in one run: the answer is their ratio. */
#include <math.h>
#include <string.h>

#include "tools/best_measurement.h"
#include "tools/evaluate_text.h"
#include "tools/kernel.h"
#include "tools/rests_text.h"
#include "workspace/base/text.h"

struct compare_in {
    const char *task, *target, *commit, *source, *with;
    enum hone_tier tier;
    int64_t budget_ms, n_threads;
};

struct compare_row {
    const char *id;
    double ratio, low, high;
};

struct compare_out {
    struct hone_head head;
    const char *with, *word;
    double ratio, low, high, smallest_detectable_gain;
    struct hone_load_report *load; /* NULL: others did little */
    const char *rests_on;
    struct hone_strs warnings, doubts;
    struct hone_array workloads;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct compare_in, task, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name."),
    HONE_FIELD(struct compare_in, commit, .max_len = HONE_LIMIT_NAME_BYTES, .help = "One version."),
    HONE_FIELD(struct compare_in, source, .max_len = HONE_LIMIT_SOURCE_BYTES,
               .help = "Instead of commit."),
    HONE_FIELD(struct compare_in, with, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "The other, or baseline."),
    HONE_FIELD(struct compare_in, target, .choices = hone_target_words,
               .help = "None: where the task can, cpu first."),
    HONE_FIELD(struct compare_in, tier, .fallback_i64 = HONE_TIER_DECIDE,
               .choices = hone_tier_choices, .help = "Effort."),
    HONE_FIELD(struct compare_in, budget_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms",
               .help = "As in kernel_evaluate."),
    HONE_FIELD(struct compare_in, n_threads, .min = 0, .max = HONE_LIMIT_CORES,
               .help = "0: all cores."),
};

static const struct hone_field row_fields[] = {
    HONE_FIELD(struct compare_row, id, .required = true, .help = "Workload."),
    HONE_FIELD(struct compare_row, ratio, .skip_empty = true,
               .help = "time(with) / time(commit); left out where the interval's ends are four "
                       "times apart or more."),
    HONE_FIELD(struct compare_row, low, .help = "95 % interval, lower end."),
    HONE_FIELD(struct compare_row, high, .help = "Upper end."),
};

#define OUT(m_, ...) HONE_FIELD(struct compare_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct compare_out),
    OUT(with, .help = "The other version."),
    OUT(word, .help = "faster, same, slower or inconclusive: the first against the other."),
    OUT(ratio, .help = "time(with) / time(commit): above 1 the first is faster."),
    OUT(low, .help = "95 % interval, lower end."),
    OUT(high, .help = "Upper end."),
    OUT(smallest_detectable_gain,
        .help = "The least gain that this run may claim, from its own noise: 0.18 is 18 %. faster: "
                "the whole interval lies above 1 plus it; slower: below 1 / (1 + it)."),
    HONE_FIELD_OBJ(struct compare_out, load, hone_load_fields, .skip_empty = true,
                   .help = "What else the machine did; left out where that was little."),
    OUT(rests_on, .help = "What the first one's time rests on: fast-math, precision, threads, "
                          "flags, sizes, load."),
    OUT(warnings, .help = "Things to know: why the other was not timed."),
    OUT(doubts, .help = "Why the figures may not be claimed."),
    OUT(workloads, HONE_OF(struct compare_row, row_fields), .help = "Per workload."),
};

static void fill_rows(const struct hone_report *report, const char *against, struct hone_pool *pool,
                      struct hone_array *ret)
{
    const struct hone_workload_report *from = report->workloads.v;
    struct compare_row *rows = hone_pool_alloc(pool, (report->workloads.n + 1) * sizeof(*rows));
    *ret = (struct hone_array){.v = rows};
    for (size_t i = 0; i < report->workloads.n; i++) {
        const struct hone_ratio *ratios = from[i].ratios.v;
        for (size_t k = 0; k < from[i].ratios.n; k++)
            if (strcmp(ratios[k].against, against) == 0)
                rows[ret->n++] = (struct compare_row){from[i].id, hone_shown_ratio(&ratios[k]),
                                                      ratios[k].low, ratios[k].high};
    }
}

/* The warning that the arm lost its lane (runner/judge/arms.h); NULL: it did not. */
static const char *why_lost(const struct hone_report *report, const char *arm,
                            struct hone_pool *pool)
{
    const char *named = hone_pool_printf(pool, "arm '%s'", arm);

    for (size_t i = 0; i < report->warnings.n; i++)
        if (strstr(report->warnings.v[i], named) != NULL)
            return report->warnings.v[i];
    return NULL;
}

static void tell_why_not(struct hone_tool_ctx *ctx, const struct hone_report *report,
                         const char *arm, struct compare_out *out)
{
    const char *lost = why_lost(report, arm, ctx->pool);

    if (lost != NULL) {
        out->head.summary =
            hone_pool_printf(ctx->pool, "not compared: %s", hone_plain_line(ctx->pool, lost, 240));
        out->head.next = "Once more, on an idle machine or with more budget_ms.";
        return;
    }
    out->head.verdict = hone_verdict_name(report->verdict);
    out->head.reason = hone_reason_name(report->reason);
    out->head.error_class = hone_reason_row(report->reason)->error_class;
    out->head.summary =
        hone_pool_printf(ctx->pool, "not compared: %s", hone_evaluation_summary(report, ctx->pool));
    out->head.next = "kernel_evaluate of each alone says what is wrong.";
}

static void fill(struct hone_tool_ctx *ctx, const struct hone_evaluation *evaluation,
                 struct compare_out *out)
{
    const struct hone_report *report = &evaluation->report;
    const char *against = strcmp(out->with, "baseline") == 0 ? "baseline" : "parent";
    const struct hone_ratio *ratio = hone_report_ratio(report, against);
    out->head.status = "ok";
    out->head.evaluation = evaluation->id;
    out->load = hone_shown_load(report, ctx->pool);
    out->warnings = report->warnings;
    out->doubts = report->doubts;
    out->ratio = out->low = out->high = NAN;
    if (ratio == NULL || !(ratio->ratio > 0)) {
        tell_why_not(ctx, report, against, out);
        return;
    }
    out->word = ratio->word;
    out->ratio = ratio->ratio;
    out->low = ratio->low;
    out->high = ratio->high;
    out->smallest_detectable_gain = ratio->least_gain;
    out->rests_on = hone_rests_text(report, ctx->pool);
    fill_rows(report, against, ctx->pool, &out->workloads);
    out->head.summary = hone_pool_printf(
        ctx->pool,
        "%s: %s times as fast as %.10s in one run; a difference below %.2g %% would not be seen",
        ratio->word != NULL ? ratio->word : "compared", hone_ratio_text(ratio, ctx->pool),
        out->with, 100 * ratio->least_gain);
    out->head.next = "kernel_evaluate with tier confirm before either figure is claimed.";
}

/* How fast a wrong answer comes is no matter. */
static int refuse_wrong(struct hone_tool_ctx *ctx, const char *argument, const char *rev,
                        struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(ctx->app->ws);
    char commit[HONE_COMMIT_BYTES];

    if (rev == NULL || hone_history_resolve(history, rev, commit, NULL) < 0)
        return 0; /* none, baseline, or unknown, which is said where it is read */
    const char *refutation = hone_refutation_of(history, commit, ctx->pool);
    return refutation == NULL
               ? 0
               : hone_fail_at(err, HONE_E_ARG, argument, "%.12s was %.200s", commit, refutation);
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_kernel_call_done) struct hone_kernel_call call = {.task = NULL};
    const struct compare_in *in = arguments;
    struct compare_out *out = result;
    struct hone_evaluation evaluation;
    const struct hone_kernel_in kernel = {.task = in->task,
                                          .target = in->target,
                                          .commit = in->commit,
                                          .source = in->source,
                                          .parent = in->with,
                                          .tier = in->tier,
                                          .budget_ms = in->budget_ms,
                                          .n_threads = in->n_threads};
    int rc = hone_kernel_call_init(ctx, &kernel, &call, err);

    if (rc == 0)
        rc = hone_kernel_need_source(&call, err);
    if (rc == 0)
        rc = refuse_wrong(ctx, "commit", in->commit, err);
    if (rc == 0)
        rc = refuse_wrong(ctx, "with", in->with, err);
    if (rc < 0)
        return rc;
    call.request.no_commit = call.request.no_cache = true;
    rc = hone_evaluate(ctx, &call.request, &evaluation, err);
    if (rc < 0)
        return rc;
    out->with = in->with;
    fill(ctx, &evaluation, out);
    hone_figures_round(out, out_fields, HONE_COUNTOF(out_fields));
    return 0;
}

const struct hone_tool hone_tool_kernel_compare = {
    .name = "kernel_compare",
    .title = "Time two versions in one run",
    .summary = "Time two versions in one run and return their ratio.",
    .description = "Verifies a version or source and times it in one run with another: "
                   "their ratio with interval, per workload too, and the smallest difference that "
                   "would be seen. Nothing is committed. Seconds a workload. For two versions "
                   "whose figures come from separate runs.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct compare_in, struct compare_out),
    .run = run,
};
