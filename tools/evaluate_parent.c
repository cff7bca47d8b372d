/* SPDX-License-Identifier: Apache-2.0 */
/* The parent as an arm: whether it is timed, and its own record.
 *
 * One that was found wrong is not timed: a ratio to it says nothing. One that is the baseline's own
 * text is the baseline, which is timed already. The record is what it was decided or confirmed to
 * be, workload by workload, so that the judge can see whether it holds back when its child is held
 * against it (runner/arms.h): that of its best founded measurement (best_measurement.h). The judge
 * leaves out one of another device or another number of threads, this file one of another pack. */
#include "tools/evaluate_internal.h"

#include <string.h>

#include "tools/best_measurement.h"

/* ---- whether it is an arm ---- */

static bool is_plain(const struct hone_version *version)
{
    const char *flags = hone_trailer_get(version, "Flags"),
               *tunables = hone_trailer_get(version, "Tunables");

    return (flags == NULL || flags[0] == '\0') && (tunables == NULL || tunables[0] == '\0');
}

void hone_evaluate_look_at_parent(struct hone_evaluate_work *w)
{
    const char *source = w->parent_read.source;

    if (!w->req->time_parent || w->parent == NULL)
        return;
    w->parent_refutation =
        hone_refutation_of(hone_workspace_history(w->ctx->app->ws), w->parent, w->ctx->pool);
    w->is_parent_baseline = source != NULL && w->baseline_source != NULL &&
                            strcmp(source, w->baseline_source) == 0 && is_plain(&w->parent_read);
}

bool hone_evaluate_times_parent(const struct hone_evaluate_work *w)
{
    return w->req->time_parent && w->parent != NULL && hone_evaluate_is_timed(w) &&
           w->parent_refutation == NULL && !w->is_parent_baseline;
}

/* The ratios against the baseline once more, as those against the parent. */
static void copy_ratio(struct hone_array *ratios, struct hone_pool *pool)
{
    struct hone_ratio *copy = hone_pool_alloc(pool, (ratios->n + 1) * sizeof(*copy));

    for (size_t i = 0; i < ratios->n; i++) {
        copy[i] = ((const struct hone_ratio *)ratios->v)[i];
        if (strcmp(copy[i].against, "baseline") != 0)
            continue;
        copy[ratios->n] = copy[i];
        copy[ratios->n].against = "parent";
        memmove(copy + i + 1, (const struct hone_ratio *)ratios->v + i + 1,
                (ratios->n - i - 1) * sizeof(*copy));
        *ratios = (struct hone_array){.v = copy, .n = ratios->n + 1};
        return;
    }
}

static void warn(const struct hone_evaluate_work *w, const char *text, struct hone_report *report)
{
    const char **all = hone_pool_alloc(w->ctx->pool, (report->warnings.n + 1) * sizeof(*all));

    all[0] = text;
    for (size_t i = 0; i < report->warnings.n; i++)
        all[i + 1] = report->warnings.v[i];
    report->warnings = (struct hone_strs){.v = all, .n = report->warnings.n + 1};
}

void hone_evaluate_tell_of_parent(const struct hone_evaluate_work *w, struct hone_report *report)
{
    struct hone_workload_report *workloads = (struct hone_workload_report *)report->workloads.v;

    if (w->parent_refutation != NULL)
        warn(w,
             hone_pool_printf(w->ctx->pool, "the parent %.12s is not timed beside it: it was %s",
                              w->parent, w->parent_refutation),
             report);
    else if (w->is_parent_baseline) {
        copy_ratio(&report->ratios, w->ctx->pool);
        for (size_t i = 0; i < report->workloads.n; i++)
            copy_ratio(&workloads[i].ratios, w->ctx->pool);
    }
}

/* ---- its record ---- */

static bool is_timed(const struct hone_report *report)
{
    return report->workloads.n > 0 && report->machine != NULL && report->tier > HONE_TIER_SCREEN;
}

/* The judge leaves out a record of other threads; one of fewer must not stand in front of it. */
static bool has_these_threads(const struct hone_evaluate_work *w, const struct hone_report *report)
{
    int64_t n = report->rests_on != NULL ? report->rests_on->n_threads : 0,
            n_cores = report->machine != NULL ? report->machine->n_cores : 0,
            wanted = w->req->n_threads > 0 ? hone_min_i64(w->req->n_threads, n_cores) : n_cores;

    return n == 0 || n_cores == 0 || n == wanted;
}

static bool is_record(const struct hone_evaluate_work *w, const struct hone_report *report)
{
    enum hone_verdict verdict = report->verdict;

    return has_these_threads(w, report) &&
           (verdict == HONE_VERDICT_FASTER || verdict == HONE_VERDICT_SAME ||
            verdict == HONE_VERDICT_SLOWER) &&
           report->target != NULL && strcmp(report->target, w->target) == 0;
}

static void keep_better(const struct hone_evaluate_work *w, const char *text,
                        struct hone_report *best, bool *has_best)
{
    struct hone_report report;

    if (text == NULL || hone_report_parse(text, strlen(text), w->ctx->pool, &report, NULL) < 0 ||
        !is_record(w, &report) || !is_timed(&report) ||
        (*has_best && !hone_report_is_better_founded(&report, best)))
        return;
    *best = report;
    *has_best = true;
}

static void add_workload(const struct hone_workload_report *workload, struct hone_arm *ret)
{
    const struct hone_ratio *ratios = workload->ratios.v;

    for (size_t i = 0; i < workload->ratios.n; i++)
        if (strcmp(ratios[i].against, "baseline") == 0 && ratios[i].low > 0)
            ((struct hone_known *)ret->known.v)[ret->known.n++] =
                (struct hone_known){.workload = workload->id,
                                    .ratio = ratios[i].ratio,
                                    .low = ratios[i].low,
                                    .high = ratios[i].high};
}

int hone_evaluate_parent_record(const struct hone_evaluate_work *w, struct hone_arm *ret,
                                struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(w->ctx->app->ws);
    struct hone_version *evidence = NULL;
    struct hone_report best;
    size_t n = 0;
    bool has_best = false;
    int rc = hone_history_evidence_of(history, w->parent, w->ctx->pool, &evidence, &n, err);

    if (rc < 0)
        return rc;
    const char *hash = hone_trailer_get(&w->parent_read, "Task-hash");
    if (hash != NULL && strcmp(hash, w->req->task->hash) != 0)
        return 0; /* another baseline */
    keep_better(w, w->parent_read.report_json, &best, &has_best);
    for (size_t i = 0; i < n; i++)
        keep_better(w, evidence[i].report_json, &best, &has_best);
    if (!has_best)
        return 0;
    const struct hone_workload_report *workloads = best.workloads.v;
    ret->known_device = best.machine->cpu;
    ret->known_threads = best.rests_on != NULL ? best.rests_on->n_threads : 0;
    ret->known.v = hone_pool_alloc(w->ctx->pool, best.workloads.n * sizeof(struct hone_known));
    for (size_t i = 0; i < best.workloads.n && ret->known.n < HONE_LIMIT_WORKLOADS; i++)
        if (!workloads[i].is_hidden)
            add_workload(&workloads[i], ret);
    return 0;
}
