/* Evaluation: from a source to an answer that survives anything.
 *
 * check -> look up -> start record -> call folder -> executor (once more after "infra") -> end
 * record -> fsync -> commit -> commit record
 *
 * Two keys by content. The *answer key* covers all that can change an answer (pack, source,
 * options, tier, machine, parent arm): a hit returns the stored report. The *version key* covers
 * pack, source, options and tunables only: a version that was tried before, at whatever tier, gets
 * an evidence commit instead of a second version. Both live in the cache, whose loss costs time
 * only.
 *
 * What fails before the start record leaves nothing behind. What fails after it leaves a start
 * without an end, which is how a killed process looks too. Answers that say nothing about the
 * source (infra, invalid) are neither cached nor committed. */
#include "tools/evaluate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tools/evaluate_text.h"
#include "tools/format/options.h"
#include "tools/plain.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/log.h"
#include "workspace/cache.h"
#include "workspace/records.h"

#define CALL_TIMEOUT_MS   20000
#define JAIL_MEMORY_BYTES (4ll << 30)
#define KEY_VERSION       "1" /* raise it when the meaning of an answer changes */

struct tier {
    const char *name, *stages;
    int64_t n_hidden, budget_ms, workload_budget_ms, timeout_ms;
};

static const struct tier tiers[] = {
    {"screen", "build,smoke,screen", 0, 300, 0, 60000},
    {"decide", "build,smoke,verify,time", 0, 0, 3000, 600000},
    {"confirm", "build,smoke,verify,time", 3, 0, 5000, 1200000},
};

static const struct {
    const char *name, *extension;
} targets[] = {{"cpu", "c"}, {"cuda", "cu"}};

struct work {
    struct hone_tool_ctx *ctx;
    const struct hone_evaluation_request *req;
    const struct tier *tier;
    const char *target, *extension;
    const char *parent;              /* commit id, NULL: none */
    struct hone_version parent_read; /* when the parent is an arm */
    const char *baseline_source;     /* NULL: nothing is timed */
    char answer_key[HONE_HASH_TEXT_BYTES], version_key[HONE_HASH_TEXT_BYTES];
    char baseline_key[HONE_HASH_TEXT_BYTES];
    const char *id, *call_dir;
    uint64_t start;
    struct hone_report report;
    const char *report_text, *compact, *blob;
};

/* ---- checks ---- */

static int find_tier(const char *name, const struct tier **ret, struct hone_err *err)
{
    for (size_t i = 0; name != NULL && i < HONE_COUNTOF(tiers); i++) {
        if (strcmp(tiers[i].name, name) == 0) {
            *ret = &tiers[i];
            return 0;
        }
    }
    return hone_fail_at(err, HONE_E_ARG, "tier", "must be screen, decide or confirm");
}

static int find_target(struct work *w, struct hone_err *err)
{
    w->target = w->req->target != NULL ? w->req->target : "cpu";
    for (size_t i = 0; i < HONE_COUNTOF(targets); i++) {
        if (strcmp(targets[i].name, w->target) == 0) {
            w->extension = targets[i].extension;
            return 0;
        }
    }
    return hone_fail_at(err, HONE_E_ARG, "target", "'%.40s' is unknown; cpu is", w->target);
}

static int check_workloads(const struct work *w, struct hone_err *err)
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

static int check_settings(const struct work *w, struct hone_err *err)
{
    const struct hone_point *points = w->req->points.v;
    const char *prologue;
    int rc = hone_options_check(&w->req->flags, err);

    if (rc == 0)
        rc = hone_tune_prologue(w->req->source, &w->req->tunables, w->ctx->pool, &prologue, err);
    if (rc == 0 && w->req->points.n > HONE_LIMIT_TUNE_POINTS)
        rc = hone_fail_at(err, HONE_E_LIMIT, "points", "%zu settings, at most %d in one sweep",
                          w->req->points.n, HONE_LIMIT_TUNE_POINTS);
    for (size_t i = 0; i < w->req->points.n && rc == 0; i++) {
        rc = hone_options_check(&points[i].flags, err);
        if (rc == 0)
            rc = hone_tune_prologue(w->req->source, &points[i].tunables, w->ctx->pool, &prologue,
                                    err);
    }
    return rc;
}

static int check_source(const struct work *w, struct hone_err *err)
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

static int read_parent(struct work *w, struct hone_err *err)
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

static const char *stage_list(const struct work *w)
{
    return w->req->stages != NULL ? w->req->stages : w->tier->stages;
}

static bool is_timed(const struct work *w)
{
    return strstr(stage_list(w), "screen") != NULL || strstr(stage_list(w), "time") != NULL;
}

static int prepare(struct work *w, struct hone_err *err)
{
    HONE_AUTOFREE char *naive = NULL;
    int rc = find_tier(w->req->tier, &w->tier, err);

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
    if (rc == 0 && is_timed(w)) {
        rc = hone_task_naive(w->req->task, w->target, &naive, err);
        w->baseline_source = rc == 0 ? hone_pool_strdup(w->ctx->pool, naive) : NULL;
    }
    return rc;
}

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

static void add_version(struct hone_hasher *h, const struct work *w)
{
    hone_hasher_str(h, KEY_VERSION);
    hone_hasher_str(h, w->req->task->hash);
    hone_hasher_str(h, w->target);
    hone_hasher_str(h, w->req->source);
    add_strs(h, &w->req->flags);
    add_tunables(h, &w->req->tunables);
}

static void make_keys(struct work *w)
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
    hone_hasher_str(&h, w->tier->name);
    hone_hasher_str(&h, stage_list(w));
    hone_hasher_str(&h, req->time_parent ? w->parent : NULL);
    hone_hasher_str(&h, req->seed_hex != NULL ? "seeded" : NULL);
    hone_hasher_str(&h, w->ctx->app->allow_weak_jail ? "weak" : NULL);
    add_strs(&h, &req->workloads);
    for (size_t i = 0; i < req->points.n; i++) {
        add_tunables(&h, &points[i].tunables);
        add_strs(&h, &points[i].flags);
    }
    add_i64(&h, req->budget_ms);
    add_i64(&h, req->timeout_ms);
    add_i64(&h, req->call_timeout_ms);
    add_i64(&h, req->n_threads);
    hone_hasher_end(&h, w->answer_key);

    hone_hasher_init(&h);
    hone_hasher_str(&h, req->task->hash);
    hone_hasher_str(&h, w->target);
    add_machine(&h, w->ctx->app->executor);
    hone_hasher_end(&h, w->baseline_key);
}

/* ---- known answers ---- */

static struct hone_cache *cache_of(const struct work *w)
{
    return hone_workspace_cache(w->ctx->app->ws);
}

/* An entry that does not read, or whose commit is gone, is no entry. */
static bool look_up(const struct work *w, struct hone_evaluation *ret)
{
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOJSON struct hone_json *json = NULL;
    HONE_AUTOFREE char *report = NULL;
    struct hone_evaluation found = {.is_cached = true};
    struct hone_pool *pool = w->ctx->pool;
    size_t len;

    if (w->req->no_cache ||
        hone_cache_get(cache_of(w), "evaluation", w->answer_key, &text, &len, NULL) < 0 ||
        hone_json_parse(text, len, &json, NULL) < 0)
        return false;
    report = hone_json_print(hone_json_get(json, "report"));
    if (hone_report_parse(report, strlen(report), pool, &found.report, NULL) < 0)
        return false;
    found.id = hone_pool_strdup(pool, hone_json_get_str(json, "evaluation", NULL));
    found.commit = hone_pool_strdup(pool, hone_json_get_str(json, "commit", NULL));
    found.report_text = hone_pool_strdup(pool, report);
    found.blob = hone_pool_strdup(pool, hone_json_get_str(json, "blob", NULL));
    if (found.id == NULL || (found.commit == NULL && !w->req->no_commit))
        return false;
    if (found.commit != NULL &&
        !hone_history_has(hone_workspace_history(w->ctx->app->ws), found.commit))
        return false;
    *ret = found;
    return true;
}

/* Answers worth keeping: those that the same request would give again. */
static bool is_worth_keeping(const struct hone_report *report)
{
    enum hone_verdict verdict = HONE_VERDICT_INFRA;

    hone_verdict_parse(report->verdict, &verdict);
    return verdict != HONE_VERDICT_INFRA && verdict != HONE_VERDICT_INVALID &&
           verdict != HONE_VERDICT_INCONCLUSIVE;
}

/* Says something about the source, so that it becomes a commit. */
static bool is_worth_a_commit(const struct work *w)
{
    enum hone_verdict verdict = HONE_VERDICT_INFRA;

    hone_verdict_parse(w->report.verdict, &verdict);
    return !w->req->no_commit && verdict != HONE_VERDICT_INFRA && verdict != HONE_VERDICT_INVALID;
}

/* The cache may be full or broken; the answer stands without it. */
static void keep(const struct work *w, const char *commit)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    HONE_AUTOFREE char *text = NULL;
    struct hone_json *report = NULL;
    struct hone_err err = HONE_ERR_INIT;
    int rc = 0;

    if (commit != NULL)
        rc = hone_cache_put(cache_of(w), "version", w->version_key, commit, strlen(commit), &err);
    if (rc == 0 && is_worth_keeping(&w->report) &&
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

static const char *known_version(const struct work *w)
{
    HONE_AUTOFREE char *commit = NULL;
    size_t len;

    if (hone_cache_get(cache_of(w), "version", w->version_key, &commit, &len, NULL) < 0 ||
        !hone_history_has(hone_workspace_history(w->ctx->app->ws), commit))
        return NULL;
    return hone_pool_strdup(w->ctx->pool, commit);
}

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

static int put_arm(const struct work *w, struct hone_array *arms, const char *name,
                   const char *source, struct hone_strs flags, struct hone_array tunables,
                   struct hone_err *err)
{
    const char *file = hone_pool_printf(w->ctx->pool, "%s.%s", name, w->extension);
    HONE_AUTOFREE char *path = hone_path_join(w->call_dir, "open", file, NULL);

    ((struct hone_arm *)arms->v)[arms->n++] =
        (struct hone_arm){.name = name, .source = file, .flags = flags, .tunables = tunables};
    return hone_file_write(path, source, strlen(source), 0644, false, err);
}

static int put_arms(const struct work *w, struct hone_array *ret, struct hone_err *err)
{
    static const struct hone_strs no_flags = {.n = 0};
    static const struct hone_array no_tunables = {.n = 0};
    struct hone_array arms = {
        .v = hone_pool_alloc(w->ctx->pool, HONE_LIMIT_ARMS * sizeof(struct hone_arm))};
    struct hone_array tunables = {.n = 0};
    int rc = put_arm(w, &arms, "candidate", w->req->source, w->req->flags, w->req->tunables, err);

    if (rc == 0 && w->baseline_source != NULL)
        rc = put_arm(w, &arms, "baseline", w->baseline_source, no_flags, no_tunables, err);
    if (rc == 0 && w->req->time_parent && w->parent != NULL && is_timed(w)) {
        const char *flags = hone_trailer_get(&w->parent_read, "Flags");
        const char *text = hone_trailer_get(&w->parent_read, "Tunables");
        rc = text != NULL ? hone_tunables_parse(text, w->ctx->pool, &tunables, err) : 0;
        if (rc == 0)
            rc = put_arm(w, &arms, "parent", w->parent_read.source,
                         hone_flags_parse(flags, w->ctx->pool), tunables, err);
    }
    *ret = arms;
    return rc;
}

/* One timing at a time on the whole machine, whatever the workspace: the lock is the user's, not
 * the workspace's. */
static const char *lease_path(struct hone_pool *pool)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");

    if (dir != NULL && dir[0] == '/' && hone_file_exists(dir))
        return hone_pool_printf(pool, "%s/hone-timing.lock", dir);
    return hone_pool_printf(pool, "/tmp/hone-timing-%u.lock", (unsigned)getuid());
}

static const char *workspace_path(const struct work *w, const char *name)
{
    HONE_AUTOFREE char *path = hone_workspace_path(w->ctx->app->ws, name);

    return hone_pool_strdup(w->ctx->pool, path);
}

static bool is_baseline_good(const struct work *w)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len;

    return strcmp(w->tier->name, "confirm") != 0 &&
           hone_cache_get(cache_of(w), "baseline", w->baseline_key, &text, &len, NULL) == 0;
}

static int64_t or_default(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

static void make_job(const struct work *w, struct hone_job *ret)
{
    const struct hone_evaluation_request *req = w->req;
    size_t n = req->workloads.n > 0 ? req->workloads.n : req->task->n_workloads;
    int64_t budget =
        w->tier->budget_ms + w->tier->workload_budget_ms * ((int64_t)n + w->tier->n_hidden);

    if (req->points.n > 0) /* every setting is screened */
        budget = tiers[0].budget_ms * (int64_t)(req->points.n + 1);
    budget = hone_min_i64(or_default(req->budget_ms, budget), HONE_LIMIT_TIMEOUT_MS);
    *ret = (struct hone_job){
        .format = HONE_JOB_FORMAT,
        .id = w->id,
        .target = w->target,
        .tier = w->tier->name,
        .stages = split_stages(stage_list(w), w->ctx->pool),
        .task_dir = req->task->dir,
        .task_hash = req->task->hash,
        .points = req->points,
        .workloads = req->workloads,
        .n_hidden = is_timed(w) || req->stages == NULL ? w->tier->n_hidden : 0,
        .seed_hex = req->seed_hex,
        .n_threads = req->n_threads,
        .budget_ms = budget,
        .timeout_ms = hone_min_i64(or_default(req->timeout_ms, w->tier->timeout_ms + 4 * budget),
                                   HONE_LIMIT_TIMEOUT_MS),
        .call_timeout_ms = or_default(req->call_timeout_ms, CALL_TIMEOUT_MS),
        .memory_bytes = JAIL_MEMORY_BYTES,
        .jail = "auto",
        .allow_weak_jail = w->ctx->app->allow_weak_jail,
        .cache_dir = workspace_path(w, "objects"),
        .lease_path = lease_path(w->ctx->pool),
        .machine_path = workspace_path(w, "machine.json"),
        .is_baseline_known_good = is_baseline_good(w),
    };
}

static int write_job(const struct work *w, struct hone_job *ret, struct hone_err *err)
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
    return strcmp(report->reason, "infra") == 0;
}

static int execute(struct work *w, struct hone_err *err)
{
    const struct hone_executor *executor = w->ctx->app->executor;
    HONE_AUTOFREE char *path = hone_path_join(w->call_dir, "report.json", NULL);
    struct hone_job job;
    int rc = write_job(w, &job, err);

    for (int attempt = 0; rc == 0 && attempt < 2; attempt++) {
        if (attempt > 0) {
            hone_log(HONE_LOG_DEBUG, "evaluation=%s infra: %s; trying once more", w->id,
                     w->report.summary != NULL ? w->report.summary : "");
            unlink(path);
        }
        rc = executor->run(executor->cookie, w->call_dir, &job, w->ctx->on_progress,
                           w->ctx->progress_arg, w->ctx->cancel, w->ctx->pool, &w->report, err);
        if (rc == 0 && !is_infra(&w->report))
            break;
    }
    return rc;
}

/* ---- records ---- */

static int append_start(struct work *w, struct hone_err *err)
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
                                        .tier = w->tier->name,
                                        .parent = w->parent,
                                        .source = w->req->source,
                                        .flags = w->req->flags,
                                        .tunables = tunables,
                                        .caller = w->ctx->caller,
                                    },
                                    &w->start, err);
}

static int store_blob(struct work *w, struct hone_err *err)
{
    HONE_AUTOFREE char *text = hone_report_print(&w->report);
    HONE_AUTOFREE char *path = NULL;
    char hash[HONE_HASH_TEXT_BYTES];
    const char *dir = workspace_path(w, "blobs");
    int rc = hone_mkdirs(dir, 0700, err);

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
static int append_end(const struct work *w, struct hone_version *version,
                      struct hone_record_evidence *evidence, struct hone_err *err)
{
    struct hone_ledger *ledger = hone_workspace_ledger(w->ctx->app->ws);
    struct hone_version recorded;
    struct hone_record_end end = {
        .evaluation = w->id,
        .start = (int64_t)w->start,
        .key = w->answer_key,
        .verdict = w->report.verdict,
        .reason = w->report.reason,
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

static void fill_version(const struct work *w, struct hone_version *ret)
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

static int record_version(struct work *w, const char **ret_commit, struct hone_err *err)
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
    return hone_record_append_commit(
        hone_workspace_ledger(ws),
        &(struct hone_record_commit){.evaluation = w->id, .commit = commit}, NULL, err);
}

static int record_evidence(struct work *w, const char *version, struct hone_err *err)
{
    struct hone_workspace *ws = w->ctx->app->ws;
    struct hone_record_evidence evidence = {
        .commit = version,
        .subject =
            hone_plain_line(w->ctx->pool, hone_evaluation_summary(&w->report, w->ctx->pool), 160),
        .report_json = w->compact,
        .time_s = hone_wall_ms() / 1000,
    };
    char commit[HONE_COMMIT_BYTES];
    int rc = append_end(w, NULL, &evidence, err);

    if (rc == 0)
        rc = hone_history_evidence(hone_workspace_history(ws), version, evidence.subject,
                                   evidence.report_json, evidence.time_s, commit, err);
    if (rc < 0)
        return rc;
    return hone_record_append_commit(
        hone_workspace_ledger(ws),
        &(struct hone_record_commit){.evaluation = w->id, .commit = commit}, NULL, err);
}

static int record(struct work *w, const char **ret_commit, struct hone_err *err)
{
    const char *known;
    int rc = store_blob(w, err);

    if (rc < 0)
        return rc;
    if (!is_worth_a_commit(w))
        return append_end(w, NULL, NULL, err);
    known = known_version(w);
    if (known == NULL)
        return record_version(w, ret_commit, err);
    *ret_commit = known;
    return record_evidence(w, known, err);
}

/* The judge checks the baseline before it times it; what passed once on this machine need not be
 * checked in every screen. */
static void note_baseline(const struct work *w)
{
    const struct hone_ratio *ratio = hone_report_ratio(&w->report, "baseline");

    if (ratio != NULL && ratio->ratio > 0 && is_worth_keeping(&w->report))
        hone_cache_put(cache_of(w), "baseline", w->baseline_key, "ok", 2, NULL);
}

int hone_evaluate(struct hone_tool_ctx *ctx, const struct hone_evaluation_request *req,
                  struct hone_evaluation *ret, struct hone_err *err)
{
    struct work w = {.ctx = ctx, .req = req};
    HONE_AUTOFREE char *id = NULL;
    HONE_AUTOFREE char *call_dir = NULL;
    const char *commit = NULL;
    int rc = prepare(&w, err);

    if (rc < 0)
        return rc;
    make_keys(&w);
    if (look_up(&w, ret))
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
        rc = record(&w, &commit, err);
    if (rc < 0)
        return rc;
    note_baseline(&w);
    keep(&w, commit);
    *ret = (struct hone_evaluation){
        .id = w.id,
        .commit = commit,
        .report = w.report,
        .report_text = w.report_text,
        .blob = w.blob,
        .call_dir = w.call_dir,
    };
    return 0;
}
