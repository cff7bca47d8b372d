/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/evaluate_internal.h"

#include <string.h>

#include "tools/format/options.h"
#include "workspace/task/target.h"

static const struct hone_tier_row tiers[] = {
    {HONE_TIER_SCREEN, "build,policy,smoke,screen", 0, 300, 0, 60000},
    {HONE_TIER_DECIDE, "build,policy,smoke,verify,time", 0, 0, 2000, 600000},
    {HONE_TIER_CONFIRM, "build,policy,smoke,verify,time", 3, 0, 3000, 1200000},
};

const struct hone_tier_row *hone_tier_screen(void)
{
    return &tiers[0];
}

static int find_tier(enum hone_tier tier, const struct hone_tier_row **ret, struct hone_err *err)
{
    for (size_t i = 0; i < HONE_COUNTOF(tiers); i++) {
        if (tiers[i].tier == tier) {
            *ret = &tiers[i];
            return 0;
        }
    }
    return hone_fail_at(err, HONE_E_ARG, "tier", "must be screen, decide or confirm");
}

static int find_target(struct hone_evaluate_work *w, struct hone_err *err)
{
    enum hone_task_target target;

    w->target = hone_task_target_of(w->req->task, w->req->target);
    if (!hone_task_target_parse(w->target, &target))
        return hone_fail_at(err, HONE_E_ARG, "target", "'%.40s' is unknown; cpu and cuda are known",
                            w->target);
    w->extension = hone_targets[target].extension;
    return 0;
}

static int check_workloads(const struct hone_evaluate_work *w, struct hone_err *err)
{
    const struct hone_task *task = w->req->task;

    if (w->req->workloads.n > HONE_LIMIT_WORKLOADS)
        return hone_fail_at(err, HONE_E_LIMIT, "workloads", "at most %d can be named",
                            HONE_LIMIT_WORKLOADS);
    for (size_t i = 0; i < w->req->workloads.n; i++) {
        const char *known = "";
        if (hone_task_workload(task, w->req->workloads.v[i]) != NULL)
            continue;
        for (size_t k = 0; k < task->n_workloads; k++)
            known = hone_pool_printf(w->ctx->pool, "%s%s%s", known, k > 0 ? ", " : "",
                                     task->workloads[k].id);
        return hone_fail_at(err, HONE_E_ARG, "workloads",
                            "'%.64s' is no workload of %s; it has %.250s", w->req->workloads.v[i],
                            task->name, known);
    }
    return 0;
}

static int check_settings(const struct hone_evaluate_work *w, struct hone_err *err)
{
    const struct hone_point *points = w->req->points.v;
    const char *prologue;
    int rc = hone_options_check_for(w->target, &w->req->flags, err);

    if (rc == 0)
        rc = hone_tune_prologue(w->req->source, &w->req->tunables, w->ctx->pool, &prologue, err);
    if (rc == 0 && w->req->points.n > HONE_LIMIT_TUNE_POINTS)
        rc = hone_fail_at(err, HONE_E_LIMIT, "points", "%zu settings, at most %d in one sweep",
                          w->req->points.n, HONE_LIMIT_TUNE_POINTS);
    for (size_t i = 0; i < w->req->points.n && rc == 0; i++) {
        rc = hone_options_check_for(w->target, &points[i].flags, err);
        if (rc == 0)
            rc = hone_tune_prologue(w->req->source, &points[i].tunables, w->ctx->pool, &prologue,
                                    err);
    }
    return rc;
}

static int check_source(const struct hone_evaluate_work *w, struct hone_err *err)
{
    size_t len = w->req->source != NULL ? strlen(w->req->source) : 0;

    if (len == 0)
        return hone_fail_at(err, HONE_E_ARG, "source",
                            "is empty; task_show %s prints the signature", w->req->task->name);
    if (len > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail_at(err, HONE_E_LIMIT, "source", "%zu bytes, at most %u are accepted", len,
                            HONE_LIMIT_SOURCE_BYTES);
    return 0;
}

static int read_parent(struct hone_evaluate_work *w, struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(w->ctx->app->ws);
    char commit[HONE_COMMIT_BYTES];
    int rc;

    if (w->req->parent == NULL)
        return 0;
    rc = hone_history_resolve(history, w->req->parent, commit, err);
    if (rc == 0)
        rc = hone_history_read(history, commit, w->ctx->pool, &w->parent_read, err);
    if (rc < 0)
        return hone_wrap(err, "parent '%.64s'", w->req->parent);
    if (w->parent_read.task != NULL && strcmp(w->parent_read.task, w->req->task->name) != 0)
        return hone_fail_at(err, HONE_E_ARG, "parent", "is a version of task '%.64s', not of '%s'",
                            w->parent_read.task, w->req->task->name);
    w->parent = hone_pool_strdup(w->ctx->pool, commit);
    return 0;
}

const char *hone_evaluate_stages(const struct hone_evaluate_work *w)
{
    return w->req->stages != NULL ? w->req->stages : w->tier->stages;
}

bool hone_evaluate_is_timed(const struct hone_evaluate_work *w)
{
    return strstr(hone_evaluate_stages(w), "screen") != NULL ||
           strstr(hone_evaluate_stages(w), "time") != NULL;
}

/* Timing has the baseline beside it. So have checks on a GPU whose reference the host computes: it
 * does not for large sizes, whose answers are held to the baseline's. */
static bool wants_baseline(const struct hone_evaluate_work *w)
{
    return hone_evaluate_is_timed(w) || (w->req->task->is_oracle_naive_double &&
                                         strcmp(w->target, hone_targets[HONE_TASK_CUDA].name) == 0);
}

int hone_evaluate_prepare(struct hone_evaluate_work *w, struct hone_err *err)
{
    HONE_AUTOFREE char *naive = NULL;
    int rc;

    if (w->ctx->app->executor == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "nothing can be run here: there is no executor");
    rc = find_tier(w->req->tier, &w->tier, err);

    if (rc == 0)
        rc = find_target(w, err);
    if (rc == 0)
        rc = check_source(w, err);
    if (rc == 0)
        rc = check_settings(w, err);
    if (rc == 0)
        rc = check_workloads(w, err);
    if (rc == 0)
        rc = read_parent(w, err);
    if (rc == 0 && wants_baseline(w)) {
        rc = hone_task_naive(w->req->task, w->target, &naive, err);
        w->baseline_source = rc == 0 ? hone_pool_strdup(w->ctx->pool, naive) : NULL;
    }
    if (rc == 0 && hone_evaluate_is_timed(w))
        hone_evaluate_look_at_parent(w);
    return rc;
}
