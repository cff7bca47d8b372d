/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/format/next_text.h"

#include "workspace/base/text.h"
#include "workspace/task/target.h"

#define DOUBT_BYTES 200

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
    return hone_pool_printf(
        pool, "Call again with fresh: true and more budget_ms. To claim it: %s.", limit);
}

const char *hone_next_text(const struct hone_report *report, struct hone_pool *pool)
{
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");
    bool is_inconclusive = report->verdict == HONE_VERDICT_INCONCLUSIVE &&
                           report->reason != HONE_REASON_REGRESSION &&
                           report->reason != HONE_REASON_TOO_SHORT;

    if (hone_report_is_claimable(report))
        return "kernel_profile to find the next limit; this figure may be claimed.";
    if ((is_inconclusive || hone_report_is_claim(report)) && is_disturbed(report))
        return after_load(report, pool);
    if (hone_report_is_claim(report))
        return hone_pool_printf(pool,
                                "Not to be claimed: %s. Call again with tier confirm, fresh: true "
                                "and more budget_ms.",
                                hone_plain_line(pool, report->doubts.v[0], DOUBT_BYTES));
    if (report->reason == HONE_REASON_SCREENED && ratio != NULL &&
        (ratio->high < 1.02 || ratio->ratio < 0.9))
        return "kernel_profile to find what limits it; deciding is not worth it yet.";
    return hone_pool_strdup(pool, hone_reason_row(report->reason)->next);
}
