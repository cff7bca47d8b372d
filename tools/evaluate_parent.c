/* SPDX-License-Identifier: Apache-2.0 */
/* A parent's own record: what it was decided or confirmed to be, workload by workload, so that the
 * judge can see whether it holds back when its child is held against it (runner/arms.h). The record
 * is that of the highest tier that timed something, the latest of equals; the judge leaves out one
 * of another device or another number of threads, this file one of another pack. */
#include "tools/evaluate_internal.h"

#include <string.h>

static int rank_of(const struct hone_report *report)
{
    bool is_timed = report->workloads.n > 0 && report->machine != NULL;

    return is_timed && report->tier > HONE_TIER_SCREEN ? (int)report->tier : 0;
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
                        struct hone_report *best, int *best_rank)
{
    struct hone_report report;

    if (text == NULL || hone_report_parse(text, strlen(text), w->ctx->pool, &report, NULL) < 0 ||
        !is_record(w, &report) || rank_of(&report) == 0 || rank_of(&report) < *best_rank)
        return;
    *best = report;
    *best_rank = rank_of(&report);
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
    int rank = 0;
    int rc = hone_history_evidence_of(history, w->parent, w->ctx->pool, &evidence, &n, err);

    if (rc < 0)
        return rc;
    const char *hash = hone_trailer_get(&w->parent_read, "Task-hash");
    if (hash != NULL && strcmp(hash, w->req->task->hash) != 0)
        return 0; /* another baseline */
    keep_better(w, w->parent_read.report_json, &best, &rank);
    for (size_t i = 0; i < n; i++)
        keep_better(w, evidence[i].report_json, &best, &rank);
    if (rank == 0)
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
