/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/format/next_text.h"

#include <math.h>
#include <string.h>

#include "workspace/base/limits.h"
#include "workspace/base/text.h"
#include "workspace/task/target.h"

#define DOUBT_BYTES   200
#define BUDGET_FACTOR 2.0 /* where nothing tells how much is missing */
#define MOST_FACTOR   10.0
#define ENOUGH_PAIRS  10.0

/* Cores that others may use beside a figure that is to be claimed. */
static double most_load(const struct hone_report *report)
{
    return (hone_target_traits(report->target)->has_device ? HONE_LOAD_SHARED_HOST
                                                           : HONE_LOAD_SHARED) *
           (double)report->load->n_cores;
}

/* Other programs used more than a figure to claim may have beside it. */
static bool is_disturbed(const struct hone_report *report)
{
    const struct hone_load_report *load = report->load;
    return load != NULL && load->is_known &&
           (report->reason == HONE_REASON_LOADED || load->others > most_load(report));
}

static const char *limit_text(const struct hone_report *report, struct hone_pool *pool)
{
    return hone_pool_printf(pool, "other programs use %.1f of %lld cores; under %.2g is needed",
                            report->load->others, (long long)report->load->n_cores,
                            most_load(report));
}

/* How many times the last timing's time would have done: for the sizes that were left out, for
 * pairs, and for an interval that holds 1 (its width goes with the root of the pairs). */
static double missing_factor(const struct hone_report *report)
{
    const struct hone_sizes_report *sizes = report->sizes;
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");
    double factor = BUDGET_FACTOR;

    if (sizes != NULL) {
        double planned = (double)(sizes->n_public + sizes->n_hidden);
        double timed = (double)(sizes->n_public_timed + sizes->n_hidden_timed);
        factor = fmax(factor, timed > 0 ? BUDGET_FACTOR * planned / timed : MOST_FACTOR);
    }
    if (ratio != NULL && ratio->n_pairs > 0)
        factor = fmax(factor, ENOUGH_PAIRS / (double)ratio->n_pairs);
    if (ratio != NULL && ratio->low > 0 && ratio->low < 1 && ratio->high > 1 && ratio->ratio > 0) {
        double half = log(ratio->high / ratio->low) / 2, gain = fabs(log(ratio->ratio));
        factor = fmax(factor, gain > 0 ? half * half / (gain * gain) : MOST_FACTOR);
    }
    return fmin(factor, MOST_FACTOR);
}

/* "budget_ms: 24000", from what the last timing took; "more budget_ms" where that is not told. */
static const char *budget_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_stage_report *stages = report->stages.v;
    double ms = 0;

    for (size_t i = 0; i < report->stages.n; i++)
        if (strcmp(stages[i].name, "time") == 0)
            ms = (double)stages[i].wall_ns / 1e6 * missing_factor(report);
    if (!(ms >= 1))
        return "more budget_ms";
    ms = fmin(1000 * ceil(ms / 1000), HONE_LIMIT_TIMEOUT_MS);
    return hone_pool_printf(pool, "budget_ms: %.0f", ms);
}

/* The same call would give the cached answer: `fresh` is part of every act. */
static const char *after_load(const struct hone_report *report, struct hone_pool *pool)
{
    bool is_wide = report->rests_on != NULL && report->rests_on->n_threads > 1;
    const char *limit = limit_text(report, pool);

    if (hone_report_is_claim(report))
        return hone_pool_printf(
            pool,
            "Not to be claimed: %s. Then tier confirm with fresh: true%s; until "
            "then report it as measured under load.",
            limit, is_wide ? " (n_threads: 1 is disturbed least)" : "");
    if (is_wide)
        return hone_pool_printf(pool,
                                "Call again with n_threads: 1 and fresh: true: what needs fewer "
                                "cores is measured fairly beside other programs. For all cores or "
                                "a claim: %s.",
                                limit);
    return hone_pool_printf(pool, "Call again with fresh: true and %s. To claim it: %s.",
                            budget_text(report, pool), limit);
}

const char *hone_next_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");
    const struct hone_ratio *parent = hone_report_ratio(report, "parent");
    bool is_inconclusive = report->verdict == HONE_VERDICT_INCONCLUSIVE &&
                           report->reason != HONE_REASON_REGRESSION &&
                           report->reason != HONE_REASON_TOO_SHORT;

    if (hone_report_is_claimable(report) && parent != NULL && parent->high < 1)
        return hone_pool_printf(
            pool,
            "The parent was faster in this run (this one: %.3g of it): undo the "
            "step, or confirm the parent. This figure may be claimed.",
            parent->ratio);
    if (hone_report_is_claimable(report))
        return "kernel_profile to find the next limit; this figure may be claimed.";
    if ((is_inconclusive || hone_report_is_claim(report)) && is_disturbed(report))
        return after_load(report, pool);
    if (hone_report_is_claim(report))
        return hone_pool_printf(pool,
                                "Not to be claimed: %s. For a figure to claim: kernel_evaluate of "
                                "this commit with tier confirm, fresh: true and %s.",
                                hone_plain_line(pool, report->doubts.v[0], DOUBT_BYTES),
                                budget_text(report, pool));
    if (report->reason == HONE_REASON_NOISY || report->reason == HONE_REASON_FEW_ROUNDS)
        return hone_pool_printf(
            pool,
            "kernel_evaluate of this commit, same tier, with fresh: true and %s, on a "
            "quiet machine.",
            budget_text(report, pool));
    if (report->reason == HONE_REASON_SCREENED && ratio != NULL &&
        (ratio->high < 1.02 || ratio->ratio < 0.9))
        return "kernel_profile to find what limits it; deciding is not worth it yet.";
    return hone_pool_strdup(pool, hone_reason_row(report->reason)->next);
}
