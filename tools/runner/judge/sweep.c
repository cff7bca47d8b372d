/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep: every setting of the candidate is built, checked and screened; the fastest one that is
 * right is built again and goes on.
 *
 * Screening decides by the median ratio alone: which setting is kept is a choice, not a claim. The
 * claim comes from the later stages, with the winner measured anew. */
#include "tools/runner/judge/target.h"

#include <math.h>

static double geometric_median(const struct hone_judge *judge)
{
    double sum = 0;
    for (size_t w = 0; w < judge->n_workloads; w++)
        sum += log(((const struct hone_arm_time *)judge->workloads[w].times.v)->median_ns) /
               (double)judge->n_workloads;
    return judge->n_workloads > 0 ? exp(sum) : (double)NAN;
}

/* A setting may help one workload and hurt another. */
static struct hone_array medians_of(const struct hone_judge *judge)
{
    size_t n = judge->n_workloads;
    struct hone_point_median *rows = hone_pool_alloc(judge->pool, (n + 1) * sizeof *rows);
    for (size_t w = 0; w < n; w++)
        rows[w] = (struct hone_point_median){
            .workload = judge->workloads[w].id,
            .median_ns = ((const struct hone_arm_time *)judge->workloads[w].times.v)->median_ns};
    return (struct hone_array){.v = rows, .n = n > 1 ? n : 0};
}

static void forget_timing(struct hone_judge *judge)
{
    for (size_t w = 0; w < judge->n_workloads; w++)
        hone_json_free(judge->workloads[w].axes);
    judge->n_workloads = 0;
    judge->was_timed = false;
    judge->report->ratios = (struct hone_array){0};
}

/* n_next: points that come behind it. */
static int try_point(struct hone_judge *judge, const struct hone_point *point, size_t n_next,
                     struct hone_point_report *report, struct hone_err *err)
{
    struct hone_outcome end = HONE_OUTCOME_INIT;
    forget_timing(judge);
    judge->target->drop_arena(judge, &judge->slots[0]);
    int code = hone_judge_build_arm(judge, &judge->slots[0], point, &end, err);
    const char *word = judge->report->build != NULL ? judge->report->build->code : NULL;
    if (code == 0 && judge->target->build_ahead != NULL)
        judge->target->build_ahead(judge, &judge->slots[0], point + 1, n_next);
    if (code == 0 && hone_outcome_is_good(&end))
        code = hone_stage_smoke(judge, &end, err);
    if (code == 0 && hone_outcome_is_good(&end))
        code = hone_stage_screen(judge, &end, err);
    if (code < 0)
        return code;
    *report = (struct hone_point_report){.tunables = point->tunables,
                                         .flags = point->flags,
                                         .median_ns = (double)NAN,
                                         .ratio = (double)NAN,
                                         .low = (double)NAN,
                                         .high = (double)NAN,
                                         .code = hone_pool_strdup(judge->pool, word)};
    report->reason = hone_outcome_is_good(&end) ? HONE_REASON_SCREENED : end.reason;
    if (!hone_outcome_is_good(&end) && end.detail[0] != '\0')
        report->detail = hone_pool_strdup(judge->pool, end.detail);
    if (hone_outcome_is_good(&end)) {
        const struct hone_ratio *ratio = hone_report_ratio(judge->report, "baseline");
        report->median_ns = geometric_median(judge);
        report->medians = medians_of(judge);
        if (ratio != NULL) {
            report->ratio = ratio->ratio;
            report->low = ratio->low;
            report->high = ratio->high;
        }
    }
    return 0;
}

/* Settings are values in a text: which function it defines is the same with all of them. */
static bool is_the_same_for_all(const struct hone_point_report *first)
{
    return first->reason == HONE_REASON_NO_SYMBOL;
}

int hone_judge_sweep(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_point *points = judge->job->points.v;
    size_t n = judge->job->points.n;
    judge->points = hone_pool_alloc(judge->pool, n * sizeof *judge->points);
    judge->report->points = (struct hone_array){.v = judge->points, .n = 0};
    int64_t best = -1;
    int started = hone_judge_start_target(judge, ret, err);
    if (started < 0 || !hone_outcome_is_good(ret))
        return started;
    for (size_t i = 0; i < n; i++) {
        size_t n_checks =
            judge->n_checks; /* the table says how each ended; its checks are not kept */
        int code = try_point(judge, &points[i], n - i - 1, &judge->points[i], err);
        if (code < 0)
            return code;
        judge->n_checks = n_checks;
        judge->report->points.n = i + 1;
        double now = judge->points[i].median_ns;
        if (isfinite(now) && (best < 0 || now < judge->points[best].median_ns))
            best = (int64_t)i;
        hone_judge_progress(judge, "sweep", "", (int64_t)i + 1, (int64_t)n,
                            hone_reason_name(judge->points[i].reason));
        if (i == 0 && is_the_same_for_all(&judge->points[0]))
            break;
    }
    judge->report->best_point = best;
    forget_timing(judge);
    judge->target->drop_arena(judge, &judge->slots[0]);
    if (best < 0) { /* all failed alike or not: the first one's reason stands for them */
        enum hone_reason reason = n > 0 ? judge->points[0].reason : HONE_REASON_BAD_REQUEST;
        const char *detail = n > 0 ? judge->points[0].detail : NULL;
        hone_outcome_set(ret, reason, "none of %zu settings is right; the first one: %s%s%.250s", n,
                         hone_reason_name(reason), detail != NULL ? ": " : "",
                         detail != NULL ? detail : "");
        return 0;
    }
    return hone_judge_build_arm(judge, &judge->slots[0], &points[best], ret, err);
}
