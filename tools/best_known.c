/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/best_known.h"

#include <math.h>
#include <string.h>

#include "tools/best_measurement.h"

#define BATCH     100
#define MOST_READ 200  /* reports, newest first */
#define NO_LESS   0.99 /* of the time: a difference that nobody would act on */

static bool is_equal(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static const struct hone_workload_report *find(const struct hone_report *report, const char *id)
{
    const struct hone_workload_report *rows = report->workloads.v;
    for (size_t i = 0; i < report->workloads.n; i++)
        if (!rows[i].is_hidden && is_equal(rows[i].id, id))
            return &rows[i];
    return NULL;
}

static size_t n_public(const struct hone_report *report)
{
    const struct hone_workload_report *rows = report->workloads.v;
    size_t n = 0;
    for (size_t i = 0; i < report->workloads.n; i++)
        n += rows[i].is_hidden ? 0 : 1;
    return n;
}

/* Geometric mean over the public workloads; NaN when they are others than those of like. */
static double time_of(const struct hone_report *report, const struct hone_report *like)
{
    const struct hone_workload_report *rows = report->workloads.v;
    size_t n = n_public(like);
    double sum = 0;
    if (n == 0 || n != n_public(report))
        return (double)NAN;
    for (size_t i = 0; i < report->workloads.n; i++) {
        const struct hone_arm_time *times = rows[i].times.v;
        if (rows[i].is_hidden)
            continue;
        if (rows[i].times.n == 0 || find(like, rows[i].id) == NULL)
            return (double)NAN;
        sum += log(times[0].median_ns) / (double)n;
    }
    return exp(sum);
}

static bool is_timed(const struct hone_report *report)
{
    static const enum hone_verdict good[] = {HONE_VERDICT_FASTER, HONE_VERDICT_SAME,
                                             HONE_VERDICT_SLOWER, HONE_VERDICT_INCONCLUSIVE};
    for (size_t i = 0; i < HONE_COUNTOF(good); i++)
        if (report->verdict == good[i])
            return report->tier > HONE_TIER_SCREEN;
    return false;
}

static bool is_like(const struct hone_version *version, const struct hone_version *own)
{
    static const char *const keys[] = {"Task-hash", "Device", "Threads"};
    for (size_t i = 0; i < HONE_COUNTOF(keys); i++)
        if (!is_equal(hone_trailer_get(version, keys[i]), hone_trailer_get(own, keys[i])))
            return false;
    return is_equal(version->task, own->task) && is_equal(version->target, own->target) &&
           hone_trailer_get(version, "Speedup") != NULL && !is_equal(version->commit, own->commit);
}

struct best {
    char commit[13];
    double ns;
    enum hone_tier tier;
};

static void look(struct hone_history *history, const char *commit, const struct hone_report *like,
                 struct best *best)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_version version;
    struct hone_report report;
    if (hone_history_read(history, commit, pool, &version, NULL) < 0 ||
        !hone_best_report_read(history, &version, pool, &report) || !is_timed(&report) ||
        report.doubts.n > 0)
        return;
    double ns = time_of(&report, like);
    if (!(ns < best->ns))
        return;
    *best = (struct best){.ns = ns, .tier = report.tier};
    memcpy(best->commit, commit, sizeof best->commit - 1);
}

const char *hone_best_known(struct hone_history *history, const char *commit,
                            const struct hone_report *report, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *own_pool = hone_pool_new();
    struct best best = {.ns = INFINITY};
    struct hone_version own;
    double ns = time_of(report, report);
    size_t n = BATCH, n_read = 0;
    if (commit == NULL || commit[0] == '\0' || !is_timed(report) || !isfinite(ns) ||
        hone_history_read(history, commit, own_pool, &own, NULL) < 0)
        return NULL;
    for (size_t at = 0; n == BATCH && n_read < MOST_READ; at += n) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *list_pool = hone_pool_new();
        struct hone_version *versions = NULL;
        n = 0;
        if (hone_history_list(history, NULL, at, BATCH, list_pool, &versions, &n, NULL) < 0)
            break;
        for (size_t i = 0; i < n && n_read < MOST_READ; i++) {
            if (!is_like(&versions[i], &own))
                continue;
            n_read++;
            look(history, versions[i].commit, report, &best);
        }
    }
    if (!isfinite(best.ns))
        return NULL;
    const char *tier = hone_tier_name(best.tier);
    if (best.ns < NO_LESS * ns)
        return hone_pool_printf(pool, "%s: %.4g us a call (%s), %.3g times as fast as this one",
                                best.commit, best.ns / 1e3, tier, ns / best.ns);
    return hone_pool_printf(pool, "this one; of the others %s: %.4g us a call (%s)", best.commit,
                            best.ns / 1e3, tier);
}
