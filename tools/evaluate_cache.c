/* SPDX-License-Identifier: Apache-2.0 */
/* What is known already: three keys by content, all in the cache, whose loss costs time, and a
 * second commit of a source that is tried again, no result.
 *
 * The *answer key* covers all that can change an answer (pack, source, options, tier, machine,
 * parent arm): a hit returns the stored report. The *version key* covers pack, source, options and
 * tunables: a version that was tried before, at whatever tier, gets evidence instead of a second
 * commit. The *baseline key* notes that the baseline passed its checks on this machine. Answers
 * that say nothing about the source (infra, invalid), and those that another run may settle
 * (inconclusive), are not kept. Nor is a repeat (`fresh`) that is less well founded than the answer
 * it repeats. */
#include "tools/evaluate_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tools/best_measurement.h"
#include "tools/confirmations.h"
#include "workspace/base/file.h"
#include "workspace/base/log.h"
#include "workspace/cache.h"

#define KEY_VERSION "2" /* raise it when the meaning of an answer changes */

/* ---- keys ---- */

static void add_strs(struct hone_hasher *h, const struct hone_strs *strs)
{
    hone_hasher_part(h, &strs->n, sizeof(strs->n));
    for (size_t i = 0; i < strs->n; i++)
        hone_hasher_str(h, strs->v[i]);
}

static void add_tunables(struct hone_hasher *h, const struct hone_array *tunables)
{
    const struct hone_tunable *t = tunables->v;

    hone_hasher_part(h, &tunables->n, sizeof(tunables->n));
    for (size_t i = 0; i < tunables->n; i++) {
        hone_hasher_str(h, t[i].name);
        hone_hasher_part(h, &t[i].value, sizeof(t[i].value));
    }
}

static void add_i64(struct hone_hasher *h, int64_t value)
{
    hone_hasher_part(h, &value, sizeof(value));
}

/* Another machine, another compiler or another executor may give another answer. */
static void add_machine(struct hone_hasher *h, const struct hone_executor *executor)
{
    HONE_AUTOFREE char *cpuinfo = NULL;
    const char *model;
    struct utsname name;
    struct stat st;
    size_t len;

    hone_hasher_str(h, executor->name);
    add_i64(h, sysconf(_SC_NPROCESSORS_ONLN));
    if (uname(&name) == 0) {
        hone_hasher_str(h, name.nodename);
        hone_hasher_str(h, name.release);
    }
    if (stat("/usr/bin/cc", &st) == 0) {
        add_i64(h, st.st_size);
        add_i64(h, st.st_mtime);
    }
    if (hone_file_read("/proc/cpuinfo", HONE_LIMIT_FILE_BYTES, &cpuinfo, &len, NULL) == 0) {
        model = strstr(cpuinfo, "model name");
        if (model != NULL)
            hone_hasher_part(h, model, strcspn(model, "\n"));
    }
}

static void add_version(struct hone_hasher *h, const struct hone_evaluate_work *w)
{
    hone_hasher_str(h, KEY_VERSION);
    hone_hasher_str(h, w->req->task->hash);
    hone_hasher_str(h, w->target);
    hone_hasher_str(h, w->req->source);
    add_strs(h, &w->req->flags);
    add_tunables(h, &w->req->tunables);
}

void hone_evaluate_make_keys(struct hone_evaluate_work *w)
{
    const struct hone_evaluation_request *req = w->req;
    const struct hone_point *points = req->points.v;
    struct hone_hasher h;

    hone_hasher_init(&h);
    add_version(&h, w);
    hone_hasher_end(&h, w->version_key);

    hone_hasher_init(&h);
    add_version(&h, w);
    add_machine(&h, w->ctx->app->executor);
    if (strcmp(w->target, "cuda") == 0) /* one host may have GPUs of two classes */
        hone_hasher_str(&h, getenv("CUDA_VISIBLE_DEVICES"));
    hone_hasher_str(&h, hone_tier_name(w->tier->tier));
    hone_hasher_str(&h, hone_evaluate_stages(w));
    hone_hasher_str(&h, req->time_parent ? w->parent : NULL);
    if (w->parent_refutation != NULL)
        hone_hasher_str(&h, w->parent_refutation);
    hone_hasher_str(&h, req->seed_hex != NULL ? "seeded" : NULL);
    hone_hasher_str(&h, w->ctx->app->allow_weak_jail ? "weak" : NULL);
    add_strs(&h, &req->workloads);
    for (size_t i = 0; i < req->points.n; i++) {
        add_tunables(&h, &points[i].tunables);
        add_strs(&h, &points[i].flags);
    }
    add_i64(&h, req->budget_ms);
    if (req->finish_ms > 0)
        add_i64(&h, req->finish_ms);
    add_i64(&h, req->timeout_ms);
    add_i64(&h, req->call_timeout_ms);
    add_i64(&h, req->n_threads);
    if (req->assembly != NULL) {
        hone_hasher_str(&h, req->assembly);
        hone_hasher_str(&h, req->assembly_kernel);
    }
    hone_hasher_end(&h, w->answer_key);

    hone_hasher_init(&h);
    hone_hasher_str(&h, req->task->hash);
    hone_hasher_str(&h, w->target);
    add_machine(&h, w->ctx->app->executor);
    hone_hasher_end(&h, w->baseline_key);
}

/* ---- known answers ---- */

static struct hone_cache *cache_of(const struct hone_evaluate_work *w)
{
    return hone_workspace_cache(w->ctx->app->ws);
}

/* What was said once may have been contradicted since, by a confirmation with other arguments. */
static void contradict(const struct hone_evaluate_work *w, struct hone_evaluation *found)
{
    struct hone_confirmations list;

    if (found->commit == NULL || w->tier->tier != HONE_TIER_CONFIRM)
        return;
    hone_confirmations_of(hone_workspace_history(w->ctx->app->ws), found->commit, NULL,
                          w->ctx->pool, &list);
    hone_confirmations_put_last(&list, &found->report);
    if (list.n > 1 && list.v[list.n - 1].report == &found->report &&
        hone_confirmations_contradiction(&list, w->ctx->pool) != NULL)
        hone_confirmations_judge(&list, w->ctx->pool, &found->report);
}

const char *hone_evaluate_doubt_refuted(const struct hone_evaluate_work *w, const char *commit,
                                        struct hone_report *report)
{
    const char *refutation =
        hone_refutation_of(hone_workspace_history(w->ctx->app->ws), commit, w->ctx->pool);

    if (refutation == NULL || hone_is_refutation(report->verdict, report->reason))
        return NULL;
    hone_report_doubt_first(
        report, hone_pool_printf(w->ctx->pool, "this version was %s", refutation), w->ctx->pool);
    return refutation;
}

/* An entry that does not read, or whose commit is gone, is no entry. */
static bool read_kept(const struct hone_evaluate_work *w, struct hone_evaluation *ret)
{
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOJSON struct hone_json *json = NULL;
    HONE_AUTOFREE char *report = NULL;
    struct hone_pool *pool = w->ctx->pool;
    size_t len;

    if (hone_cache_get(cache_of(w), "evaluation", w->answer_key, &text, &len, NULL) < 0 ||
        hone_json_parse(text, len, &json, NULL) < 0)
        return false;
    report = hone_json_print(hone_json_get(json, "report"));
    *ret = (struct hone_evaluation){.is_cached = true};
    if (hone_report_parse(report, strlen(report), pool, &ret->report, NULL) < 0)
        return false;
    ret->id = hone_pool_strdup(pool, hone_json_get_str(json, "evaluation", NULL));
    ret->commit = hone_pool_strdup(pool, hone_json_get_str(json, "commit", NULL));
    ret->report_text = hone_pool_strdup(pool, report);
    ret->blob = hone_pool_strdup(pool, hone_json_get_str(json, "blob", NULL));
    if (ret->id == NULL)
        return false;
    return ret->commit == NULL ||
           hone_history_has(hone_workspace_history(w->ctx->app->ws), ret->commit);
}

bool hone_evaluate_look_up(const struct hone_evaluate_work *w, struct hone_evaluation *ret)
{
    struct hone_evaluation found;

    if (w->req->no_cache || !read_kept(w, &found) || (found.commit == NULL && !w->req->no_commit))
        return false;
    contradict(w, &found);
    found.refutation = hone_evaluate_doubt_refuted(w, found.commit, &found.report);
    *ret = found;
    return true;
}

/* A text that was asked for and is not there may be there next time: when the disassembler is
 * installed. */
static bool lacks_assembly(const struct hone_evaluate_work *w)
{
    const struct hone_build_report *build = w->report.build;

    return w->req->assembly != NULL && (build == NULL || build->assembly == NULL);
}

static bool is_loaded_profile(const struct hone_report *report)
{
    const struct hone_profile_report *profile = report->profile;
    const struct hone_bottleneck *worst =
        profile != NULL && profile->bottlenecks.n > 0 ? profile->bottlenecks.v : NULL;

    return worst != NULL && strcmp(worst->class_name, HONE_BOTTLENECK_LOADED) == 0;
}

/* Answers worth keeping: those that the same request would give again. */
static bool is_worth_keeping(const struct hone_report *report)
{
    enum hone_verdict verdict = report->verdict;

    return !is_loaded_profile(report) && verdict != HONE_VERDICT_INFRA &&
           verdict != HONE_VERDICT_INVALID && verdict != HONE_VERDICT_INCONCLUSIVE;
}

/* A repeat does not take the place of an answer that is better founded (best_measurement.h), nor of
 * one that became a commit where it did not. */
static bool is_outdone(const struct hone_evaluate_work *w, const char *commit)
{
    struct hone_evaluation kept;

    if (!w->req->no_cache || !read_kept(w, &kept))
        return false;
    if (commit == NULL && kept.commit != NULL)
        return true;
    return w->report.workloads.n > 0 && !hone_report_is_better_founded(&w->report, &kept.report);
}

/* Says something about the source, so that it becomes a commit. */
bool hone_lost_to_parent(const struct hone_ratio *ratio)
{
    return ratio != NULL && ratio->ratio > 0 && !(ratio->ratio > 1 && ratio->low > 1);
}

bool hone_evaluate_is_worth_a_commit(const struct hone_evaluate_work *w)
{
    enum hone_verdict verdict = w->report.verdict;

    if (w->req->must_beat_parent && hone_lost_to_parent(hone_report_ratio(&w->report, "parent")))
        return false;

    return !w->req->no_commit && verdict != HONE_VERDICT_INFRA && verdict != HONE_VERDICT_INVALID;
}

/* The judge checks the baseline before it times it; what passed once on this machine need not be
 * checked in every screen. */
static void note_baseline(const struct hone_evaluate_work *w)
{
    const struct hone_ratio *ratio = hone_report_ratio(&w->report, "baseline");

    if (ratio != NULL && ratio->ratio > 0 && is_worth_keeping(&w->report))
        hone_cache_put(cache_of(w), "baseline", w->baseline_key, "ok", 2, NULL);
}

/* The cache may be full or broken; the answer stands without it. */
void hone_evaluate_keep(const struct hone_evaluate_work *w, const char *commit)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    HONE_AUTOFREE char *text = NULL;
    struct hone_json *report = NULL;
    struct hone_err err = HONE_ERR_INIT;
    int rc = 0;

    note_baseline(w);
    if (is_outdone(w, commit))
        return;
    if (is_worth_keeping(&w->report) && !lacks_assembly(w) &&
        hone_json_parse(w->report_text, strlen(w->report_text), &report, NULL) == 0) {
        hone_json_set_str(json, "evaluation", w->id);
        if (commit != NULL)
            hone_json_set_str(json, "commit", commit);
        hone_json_set_str(json, "blob", w->blob);
        hone_json_set(json, "report", report);
        text = hone_json_print(json);
        rc = hone_cache_put(cache_of(w), "evaluation", w->answer_key, text, strlen(text), &err);
    }
    if (rc < 0)
        hone_log(HONE_LOG_DEBUG, "evaluation=%s not cached: %s", w->id, err.message);
}

void hone_evaluate_keep_version(const struct hone_evaluate_work *w, const char *commit)
{
    struct hone_err err = HONE_ERR_INIT;

    if (hone_cache_put(cache_of(w), "version", w->version_key, commit, strlen(commit), &err) < 0)
        hone_log(HONE_LOG_DEBUG, "evaluation=%s version not cached: %s", w->id, err.message);
}

const char *hone_evaluate_known_version(const struct hone_evaluate_work *w)
{
    HONE_AUTOFREE char *commit = NULL;
    size_t len;

    if (hone_cache_get(cache_of(w), "version", w->version_key, &commit, &len, NULL) < 0 ||
        !hone_history_has(hone_workspace_history(w->ctx->app->ws), commit))
        return NULL;
    return hone_pool_strdup(w->ctx->pool, commit);
}

bool hone_evaluate_is_baseline_good(const struct hone_evaluate_work *w)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len;

    return w->tier->tier != HONE_TIER_CONFIRM &&
           hone_cache_get(cache_of(w), "baseline", w->baseline_key, &text, &len, NULL) == 0;
}
