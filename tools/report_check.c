/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/report_check.h"

#include <math.h>
#include <string.h>

#define MEAN_ROOM  0.02 /* in logarithms: figures are printed with enough digits for far less */
#define TIME_ROOM  0.5  /* a ratio of medians and a median of ratios differ, but not by this much */
#define WORST_ROOM 1e-6
#define REGRESSION 0.97 /* no workload may lose more where "faster" is said */

static bool is_word(const char *said, const char *asked)
{
    return said != NULL && strcmp(said, asked) == 0;
}

static int check_call(const struct hone_report *report, const struct hone_job *job,
                      struct hone_err *err)
{
    const struct {
        const char *name, *said, *asked;
    } words[] = {{"call", report->id, job->id},
                 {"tier", report->tier == HONE_TIER_NONE ? NULL : hone_tier_name(report->tier),
                  hone_tier_name(job->tier)},
                 {"target", report->target, job->target}};
    enum hone_verdict verdict = hone_reason_row(report->reason)->verdict;
    bool is_claim = verdict != HONE_VERDICT_INFRA && verdict != HONE_VERDICT_INVALID;

    for (size_t i = 0; i < HONE_COUNTOF(words); i++) {
        if (words[i].said == NULL && !is_claim)
            continue;
        if (!is_word(words[i].said, words[i].asked))
            return hone_fail(err, HONE_E_CORRUPT, "the report is of %s '%.64s', not '%.64s'",
                             words[i].name, words[i].said == NULL ? "" : words[i].said,
                             words[i].asked);
    }
    return 0;
}

static bool has_stage(const struct hone_job *job, const char *name)
{
    for (size_t i = 0; i < job->stages.n; i++)
        if (strcmp(job->stages.v[i], name) == 0)
            return true;
    return false;
}

/* One workload: adds the logarithm of its ratio. */
static int check_workload(const struct hone_workload_report *workload, double *sum, double *least,
                          struct hone_err *err)
{
    const struct hone_ratio *ratio = hone_ratio_find(&workload->ratios, "baseline");
    double times =
        hone_workload_time_ns(workload, "baseline") / hone_workload_time_ns(workload, "candidate");

    if (ratio == NULL || !(ratio->ratio > 0) || !(ratio->low > 0))
        return hone_fail(err, HONE_E_CORRUPT, "workload '%.64s' has no ratio", workload->id);
    if (!(ratio->ratio >= REGRESSION))
        return hone_fail(err, HONE_E_CORRUPT, "faster, but workload '%.64s' is at %.3g",
                         workload->id, ratio->ratio);
    if (!(log(ratio->ratio) - log(times) < TIME_ROOM))
        return hone_fail(err, HONE_E_CORRUPT, "workload '%.64s' is %.3g by its ratio, %.3g by time",
                         workload->id, ratio->ratio, times);
    *sum += log(ratio->ratio);
    *least = fmin(*least, ratio->ratio);
    return 0;
}

static int check_workloads(const struct hone_report *report, const struct hone_job *job,
                           double claimed, struct hone_err *err)
{
    const struct hone_workload_report *workloads = report->workloads.v;
    size_t n = report->workloads.n;
    double sum = 0, least = INFINITY;
    int rc = 0;

    if (n == 0 || n < job->workloads.n)
        return hone_fail(err, HONE_E_CORRUPT, "faster, but only %zu workloads were timed", n);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = check_workload(&workloads[i], &sum, &least, err);
    if (rc < 0)
        return rc;
    if (!(fabs(sum / (double)n - log(claimed)) < MEAN_ROOM))
        return hone_fail(err, HONE_E_CORRUPT, "the mean of its workloads is %.4g, not %.4g",
                         exp(sum / (double)n), claimed);
    if (!(fabs(report->worst_ratio - least) <= WORST_ROOM * least))
        return hone_fail(err, HONE_E_CORRUPT, "its least ratio is %.4g, not %.4g", least,
                         report->worst_ratio);
    return 0;
}

static int check_faster(const struct hone_report *report, const struct hone_job *job,
                        struct hone_err *err)
{
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");
    const struct hone_check_report *checks = report->checks.v;

    if (!has_stage(job, "time") || hone_job_arm(job, "baseline") == NULL)
        return hone_fail(err, HONE_E_CORRUPT, "faster, but nothing was to be timed");
    if (ratio == NULL || !(ratio->least_gain >= 0) || !(ratio->low > 1 + ratio->least_gain) ||
        !is_word(ratio->word, "faster"))
        return hone_fail(err, HONE_E_CORRUPT,
                         "faster, but its interval is not above what can be claimed");
    for (size_t i = 0; i < report->checks.n; i++)
        if (checks[i].n_bad > 0)
            return hone_fail(err, HONE_E_CORRUPT, "faster, but check '%.64s' found %lld wrong",
                             checks[i].name, (long long)checks[i].n_bad);
    return check_workloads(report, job, ratio->ratio, err);
}

static bool is_same_point(const struct hone_point_report *said, const struct hone_point *asked)
{
    const struct hone_tunable *a = said->tunables.v, *b = asked->tunables.v;

    if (said->tunables.n != asked->tunables.n || said->flags.n != asked->flags.n)
        return false;
    for (size_t i = 0; i < asked->tunables.n; i++)
        if (strcmp(a[i].name, b[i].name) != 0 || a[i].value != b[i].value)
            return false;
    for (size_t i = 0; i < asked->flags.n; i++)
        if (strcmp(said->flags.v[i], asked->flags.v[i]) != 0)
            return false;
    return true;
}

/* Settings come back in their order: callers find theirs by number, and use what comes back. */
static int check_points(const struct hone_report *report, const struct hone_job *job,
                        struct hone_err *err)
{
    const struct hone_point_report *said = report->points.v;
    const struct hone_point *asked = job->points.v;

    if (report->points.n > job->points.n)
        return hone_fail(err, HONE_E_CORRUPT, "the report has %zu settings, %zu were asked for",
                         report->points.n, job->points.n);
    for (size_t i = 0; i < report->points.n; i++)
        if (!is_same_point(&said[i], &asked[i]))
            return hone_fail(err, HONE_E_CORRUPT, "setting %zu of the report was not asked for", i);
    return 0;
}

int hone_report_answers(const struct hone_report *report, const struct hone_job *job,
                        struct hone_err *err)
{
    int rc = check_call(report, job, err);

    if (rc == 0)
        rc = check_points(report, job, err);
    if (rc == 0 && report->reason == HONE_REASON_FASTER)
        rc = check_faster(report, job, err);
    return rc;
}
