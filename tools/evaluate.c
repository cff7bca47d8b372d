/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation: from a source to an answer that survives anything.
 *
 *   check -> look up -> start record -> call folder -> executor (once more after "infra")
 *         -> end record -> fsync -> commit -> commit record
 *
 * What fails before the start record leaves nothing behind. What fails after it leaves a start
 * without an end, which is how a killed process looks too. Answers that say nothing about the
 * source (infra, invalid) are neither cached nor committed. */
#include "tools/evaluate_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/confirmations.h"
#include "tools/launch/launch.h"
#include "workspace/base/text.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/log.h"
#include "workspace/records.h"

#define CALL_TIMEOUT_MS   20000
#define JAIL_MEMORY_BYTES (4ll << 30)
#define LOCK_WAIT_MS      60000

/* ---- the job ---- */

static struct hone_strs split_stages(const char *list, struct hone_pool *pool)
{
    struct hone_strs stages = {.v = hone_pool_alloc(pool, HONE_LIMIT_STAGES * sizeof(char *))};

    while (*list != '\0' && stages.n < HONE_LIMIT_STAGES) {
        size_t len = strcspn(list, ",");
        stages.v[stages.n++] = hone_pool_strndup(pool, list, len);
        list += len + (list[len] == ',');
    }
    return stages;
}

/* arm: name, flags and tunables; its source becomes the name of the file. */
static int put_arm(const struct hone_evaluate_work *w, struct hone_array *arms, struct hone_arm arm,
                   const char *source, struct hone_err *err)
{
    const char *file = hone_pool_printf(w->ctx->pool, "%s.%s", arm.name, w->extension);
    HONE_AUTOFREE char *path = hone_path_join(w->call_dir, "open", file, NULL);

    arm.source = file;
    ((struct hone_arm *)arms->v)[arms->n++] = arm;
    return hone_file_write(path, source, strlen(source), 0644, false, err);
}

static bool wants_fast_math(const struct hone_evaluate_work *w)
{
    return w->baseline_source != NULL && w->tier->tier == HONE_TIER_CONFIRM &&
           strcmp(w->target, "cpu") == 0 && strstr(hone_evaluate_stages(w), "time") != NULL;
}

static int put_arms(const struct hone_evaluate_work *w, struct hone_array *ret,
                    struct hone_err *err)
{
    struct hone_array arms = {
        .v = hone_pool_alloc(w->ctx->pool, HONE_LIMIT_ARMS * sizeof(struct hone_arm))};
    struct hone_array tunables = {.n = 0};
    struct hone_strs fast = {.v = hone_pool_alloc(w->ctx->pool, sizeof(char *)), .n = 1};
    fast.v[0] = "-ffast-math";
    int rc = put_arm(w, &arms,
                     (struct hone_arm){
                         .name = "candidate", .flags = w->req->flags, .tunables = w->req->tunables},
                     w->req->source, err);

    if (rc == 0 && w->baseline_source != NULL)
        rc = put_arm(w, &arms, (struct hone_arm){.name = "baseline"}, w->baseline_source, err);
    if (rc == 0 && hone_evaluate_times_parent(w)) {
        const char *flags = hone_trailer_get(&w->parent_read, "Flags");
        const char *text = hone_trailer_get(&w->parent_read, "Tunables");
        rc = text != NULL ? hone_tunables_parse(text, w->ctx->pool, &tunables, err) : 0;
        if (rc == 0)
            rc = put_arm(w, &arms,
                         (struct hone_arm){.name = "parent",
                                           .flags = hone_flags_parse(flags, w->ctx->pool),
                                           .tunables = tunables},
                         w->parent_read.source, err);
        if (rc == 0)
            rc = hone_evaluate_parent_record(w, (struct hone_arm *)arms.v + arms.n - 1, err);
    }
    if (rc == 0 && wants_fast_math(w))
        rc = put_arm(w, &arms, (struct hone_arm){.name = HONE_ARM_FAST_MATH, .flags = fast},
                     w->baseline_source, err);
    *ret = arms;
    return rc;
}

static const char *workspace_path(const struct hone_evaluate_work *w, const char *name)
{
    HONE_AUTOFREE char *path = hone_workspace_path(w->ctx->app->ws, name);

    return hone_pool_strdup(w->ctx->pool, path);
}

static int64_t or_default(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

static void make_job(const struct hone_evaluate_work *w, struct hone_job *ret)
{
    const struct hone_evaluation_request *req = w->req;
    size_t n = req->workloads.n > 0 ? req->workloads.n : req->task->n_workloads;
    int64_t budget =
        w->tier->budget_ms + w->tier->workload_budget_ms * ((int64_t)n + w->tier->n_hidden);

    if (req->points.n > 0) /* every setting is screened */
        budget = hone_tier_screen()->budget_ms * (int64_t)(req->points.n + 1);
    budget = hone_min_i64(or_default(req->budget_ms, budget), HONE_LIMIT_TIMEOUT_MS);
    *ret = (struct hone_job){
        .format = HONE_JOB_FORMAT,
        .id = w->id,
        .target = w->target,
        .tier = w->tier->tier,
        .stages = split_stages(hone_evaluate_stages(w), w->ctx->pool),
        .task_dir = req->task->dir,
        .task_hash = req->task->hash,
        .points = req->points,
        .workloads = req->workloads,
        .axes = req->axes,
        .n_hidden = hone_evaluate_is_timed(w) || req->stages == NULL ? w->tier->n_hidden : 0,
        .seed_hex = req->seed_hex,
        .n_threads = req->n_threads,
        .budget_ms = budget,
        .finish_ms = hone_min_i64(req->finish_ms, HONE_LIMIT_TIMEOUT_MS),
        .timeout_ms = hone_min_i64(or_default(req->timeout_ms, w->tier->timeout_ms + 4 * budget),
                                   HONE_LIMIT_TIMEOUT_MS),
        .call_timeout_ms = or_default(req->call_timeout_ms, CALL_TIMEOUT_MS),
        .memory_bytes = JAIL_MEMORY_BYTES,
        .jail = "auto",
        .allow_weak_jail = w->ctx->app->allow_weak_jail,
        .cache_dir = workspace_path(w, "objects"),
        .lease_path = hone_timing_lock_path(w->ctx->pool),
        /* who gave the call a limit waits no longer than that, either */
        .lease_wait_ms =
            hone_min_i64(or_default(req->lease_wait_ms, req->timeout_ms), HONE_LIMIT_TIMEOUT_MS),
        .machine_path = workspace_path(w, "machine.json"),
        .is_baseline_known_good = hone_evaluate_is_baseline_good(w),
        .assembly = req->assembly,
        .assembly_kernel = req->assembly != NULL ? req->assembly_kernel : NULL,
    };
}

static int write_job(const struct hone_evaluate_work *w, struct hone_job *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(w->call_dir, "job.json", NULL);
    HONE_AUTOFREE char *text = NULL;
    int rc;

    make_job(w, ret);
    rc = hone_mkdirs(ret->cache_dir, 0700, err);
    if (rc == 0)
        rc = put_arms(w, &ret->arms, err);
    if (rc < 0)
        return rc;
    text = hone_job_print(ret);
    return hone_file_write(path, text, strlen(text), 0600, false, err);
}

static bool is_infra(const struct hone_report *report)
{
    return report->reason == HONE_REASON_INFRA;
}

static int execute(struct hone_evaluate_work *w, struct hone_err *err)
{
    const struct hone_executor *executor = w->ctx->app->executor;
    HONE_AUTOFREE char *path = hone_path_join(w->call_dir, "report.json", NULL);
    struct hone_job job;
    int rc = write_job(w, &job, err);
    int64_t start_ns = hone_now_ns();

    for (int attempt = 0; rc == 0 && attempt < 2; attempt++) {
        if (attempt > 0) {
            hone_log(HONE_LOG_DEBUG, "evaluation=%s infra: %s; trying once more", w->id,
                     w->report.summary != NULL ? w->report.summary : "");
            unlink(path);
        }
        rc = executor->run(executor->cookie, w->call_dir, &job, w->ctx->on_progress,
                           w->ctx->progress_arg, w->ctx->cancel, w->ctx->pool, &w->report, err);
        int64_t took_ms = (hone_now_ns() - start_ns) / HONE_NS_PER_MS;
        bool has_waited = w->req->lease_wait_ms > 0 && took_ms >= w->req->lease_wait_ms;
        if (rc == 0 && (!is_infra(&w->report) || has_waited)) /* no second wait */
            break;
    }
    return rc;
}

/* ---- records ---- */

static int append_start(struct hone_evaluate_work *w, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *tunables = NULL;
    const struct hone_tunable *t = w->req->tunables.v;

    if (w->req->tunables.n > 0)
        tunables = hone_json_new_object();
    for (size_t i = 0; i < w->req->tunables.n; i++)
        hone_json_set_i64(tunables, t[i].name, t[i].value);
    return hone_record_append_start(hone_workspace_ledger(w->ctx->app->ws),
                                    &(struct hone_record_start){
                                        .evaluation = w->id,
                                        .task = w->req->task->name,
                                        .task_hash = w->req->task->hash,
                                        .target = w->target,
                                        .tier = hone_tier_name(w->tier->tier),
                                        .parent = w->parent,
                                        .source = w->req->source,
                                        .flags = w->req->flags,
                                        .tunables = tunables,
                                        .caller = w->ctx->caller,
                                    },
                                    &w->start, err);
}

/* Raw samples of what may be doubted: confirmations, suspicions, whatever is on the review list.
 * They come from the runner and are kept as bytes, unread. Failing to keep them loses no answer. */
static void keep_samples(struct hone_evaluate_work *w, const char *dir)
{
    HONE_AUTOFREE char *from = hone_path_join(w->call_dir, "sealed", HONE_SAMPLES_FILE, NULL);
    HONE_AUTOFREE char *text = NULL;
    char hash[HONE_HASH_TEXT_BYTES];
    size_t len = 0;
    bool is_wanted = w->report.verdict == HONE_VERDICT_SUSPICIOUS || w->report.review.n > 0 ||
                     w->tier->tier == HONE_TIER_CONFIRM;

    w->report.samples = NULL; /* whatever the runner says */
    if (!is_wanted || hone_file_read(from, HONE_LIMIT_REPORT_BYTES, &text, &len, NULL) < 0)
        return;
    hone_hash(text, len, hash);
    HONE_AUTOFREE char *path = hone_path_join(dir, hash, NULL);
    if (hone_file_write(path, text, len, 0600, false, NULL) == 0)
        w->report.samples = hone_pool_strdup(w->ctx->pool, hash);
}

static int store_blob(struct hone_evaluate_work *w, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOFREE char *path = NULL;
    char hash[HONE_HASH_TEXT_BYTES];
    const char *dir = workspace_path(w, "blobs");
    int rc = hone_mkdirs(dir, 0700, err);

    keep_samples(w, dir);
    text = hone_report_print(&w->report);
    hone_hash(text, strlen(text), hash);
    path = hone_path_join(dir, hash, NULL);
    if (rc == 0)
        rc = hone_file_write(path, text, strlen(text), 0600, false, err);
    w->report_text = hone_pool_strdup(w->ctx->pool, text);
    w->compact = hone_report_compact(&w->report, w->ctx->pool);
    w->blob = hone_pool_strdup(w->ctx->pool, hash);
    return rc;
}

/* The end record holds all that the commit is made of; it is durable before the commit is tried. */
static int append_end(const struct hone_evaluate_work *w, struct hone_version *version,
                      struct hone_evidence *evidence, struct hone_err *err)
{
    struct hone_ledger *ledger = hone_workspace_ledger(w->ctx->app->ws);
    struct hone_version recorded;
    struct hone_record_end end = {
        .evaluation = w->id,
        .start = (int64_t)w->start,
        .key = w->answer_key,
        .blob = w->blob,
        .verdict = hone_verdict_name(w->report.verdict),
        .reason = hone_reason_name(w->report.reason),
        .evidence = evidence,
    };
    int rc;

    if (version != NULL) {
        recorded = *version;
        recorded.source = NULL; /* it is in the start record */
        end.version = &recorded;
    }
    rc = hone_record_append_end(ledger, &end, NULL, err);
    if (rc == 0)
        rc = hone_ledger_sync(ledger, err);
    return rc;
}

static void fill_version(const struct hone_evaluate_work *w, struct hone_version *ret)
{
    const struct hone_evaluation_names names = {.evaluation = w->id, .blob = w->blob};
    const char *author = w->req->author != NULL ? w->req->author : w->ctx->caller;

    *ret = (struct hone_version){
        .parent = w->parent,
        .task = w->req->task->name,
        .target = w->target,
        .file_name = hone_pool_printf(w->ctx->pool, "%s.%s", w->req->task->name, w->extension),
        .source = w->req->source,
        .report_json = w->compact,
        .author = author != NULL ? hone_plain_line(w->ctx->pool, author, 64) : NULL,
        .time_s = hone_wall_ms() / 1000,
    };
    hone_evaluation_describe(w->req, &w->report, &names, w->ctx->pool, ret);
}

static int record_version(struct hone_evaluate_work *w, const char **ret_commit,
                          struct hone_err *err)
{
    struct hone_workspace *ws = w->ctx->app->ws;
    struct hone_version version;
    char commit[HONE_COMMIT_BYTES];
    int rc;

    fill_version(w, &version);
    rc = append_end(w, &version, NULL, err);
    if (rc == 0)
        rc = hone_history_commit(hone_workspace_history(ws), &version, commit, err);
    if (rc < 0)
        return rc;
    *ret_commit = hone_pool_strdup(w->ctx->pool, commit);
    hone_evaluate_keep_version(w, commit);
    return hone_record_append_commit(
        hone_workspace_ledger(ws),
        &(struct hone_record_commit){.evaluation = w->id, .commit = commit}, NULL, err);
}

static int record_evidence(struct hone_evaluate_work *w, const char *version, struct hone_err *err)
{
    struct hone_workspace *ws = w->ctx->app->ws;
    struct hone_evidence evidence = {
        .commit = version,
        .subject =
            hone_plain_line(w->ctx->pool, hone_evaluation_summary(&w->report, w->ctx->pool), 160),
        .report_json = w->compact,
        .time_s = hone_wall_ms() / 1000,
    };
    char commit[HONE_COMMIT_BYTES];
    int rc = append_end(w, NULL, &evidence, err);

    if (rc == 0)
        rc = hone_history_evidence(hone_workspace_history(ws), &evidence, commit, err);
    if (rc < 0)
        return rc;
    return hone_record_append_commit(
        hone_workspace_ledger(ws),
        &(struct hone_record_commit){.evaluation = w->id, .commit = commit}, NULL, err);
}

/* Between the question whether a source is a version already and its becoming one: calls with the
 * same source wait for each other, others nearly never. Without the lock there may be a second
 * commit of the source, which is better than none. */
static void lock_version(const struct hone_evaluate_work *w, int *ret_fd)
{
    const char *name = hone_pool_printf(w->ctx->pool, "locks/version-%.2s", w->version_key);

    if (hone_mkdirs(workspace_path(w, "locks"), 0700, NULL) == 0)
        hone_lock_file(workspace_path(w, name), hone_deadline_in_ms(LOCK_WAIT_MS), ret_fd, NULL);
}

/* A confirmation beside the earlier ones of this version, or of another source of its code. */
static void add_confirmation(struct hone_evaluate_work *w, const char *version)
{
    struct hone_confirmations list = {.n = 0};

    const struct hone_code_key key = {.task_hash = w->req->task->hash,
                                      .target = w->target,
                                      .flags = hone_flags_text(&w->req->flags, w->ctx->pool),
                                      .code =
                                          w->report.build != NULL ? w->report.build->code : NULL};
    w->report.confirmations = NULL; /* whatever the runner says */
    if (w->tier->tier != HONE_TIER_CONFIRM)
        return;
    hone_confirmations_of(hone_workspace_history(w->ctx->app->ws), version, &key, w->ctx->pool,
                          &list);
    size_t n = list.n;
    hone_confirmations_add(&list, &w->report, NULL);
    if (list.n > 0 && list.v[list.n - 1].report == &w->report && n > 0)
        hone_confirmations_judge(&list, w->ctx->pool, &w->report);
}

static int record(struct hone_evaluate_work *w, const char **ret_commit, struct hone_err *err)
{
    HONE_AUTOCLOSE int lock = -1;
    const char *known = NULL;
    bool is_worth_a_commit = hone_evaluate_is_worth_a_commit(w);
    int rc;

    if (is_worth_a_commit) {
        lock_version(w, &lock);
        known = hone_evaluate_known_version(w);
    }
    add_confirmation(w, known);
    w->refutation = hone_evaluate_doubt_refuted(w, known, &w->report);
    rc = store_blob(w, err);
    if (rc < 0)
        return rc;
    if (!is_worth_a_commit)
        return append_end(w, NULL, NULL, err);
    if (known == NULL)
        return record_version(w, ret_commit, err);
    *ret_commit = known;
    return record_evidence(w, known, err);
}

int hone_evaluate(struct hone_tool_ctx *ctx, const struct hone_evaluation_request *req,
                  struct hone_evaluation *ret, struct hone_err *err)
{
    struct hone_evaluate_work w = {.ctx = ctx, .req = req};
    HONE_AUTOFREE char *id = NULL;
    HONE_AUTOFREE char *call_dir = NULL;
    const char *commit = NULL;
    int rc = hone_evaluate_prepare(&w, err);

    if (rc < 0)
        return rc;
    hone_evaluate_make_keys(&w);
    if (hone_evaluate_look_up(&w, ret))
        return 0;
    if (hone_cancel_is_set(ctx->cancel))
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    rc = hone_workspace_new_call(ctx->app->ws, &id, &call_dir, err);
    if (rc < 0)
        return rc;
    w.id = hone_pool_strdup(ctx->pool, id);
    w.call_dir = hone_pool_strdup(ctx->pool, call_dir);
    rc = append_start(&w, err);
    if (rc == 0)
        rc = execute(&w, err);
    if (rc == 0)
        hone_evaluate_tell_of_parent(&w, &w.report);
    if (rc == 0)
        rc = record(&w, &commit, err);
    if (rc < 0)
        return rc;
    hone_evaluate_keep(&w, commit);
    *ret = (struct hone_evaluation){
        .id = w.id,
        .commit = commit,
        .refutation = w.refutation,
        .report = w.report,
        .report_text = w.report_text,
        .blob = w.blob,
        .call_dir = w.call_dir,
    };
    return 0;
}
