/* SPDX-License-Identifier: Apache-2.0 */
/* The trusted role: one job from job.json to report.json.
 *
 * Nothing of a candidate is ever loaded here; it builds, feeds, clocks and compares. Every path
 * ends in a report: what goes wrong on our side is reason "infra". Secrets are the 16 bytes of
 * judge->key; unless the job gives them they come from the system and are logged in sealed/seed
 * once the job is over. */
#include "tools/runner/judge/judge.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/runner/build/blob_cache.h"
#include "tools/runner/judge/blame.h"
#include "tools/runner/jail/roles.h"
#include "tools/runner/judge/stats.h"
#include "tools/runner/judge/target.h"
#include "tools/runner/jail/stopping.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/process.h"

#define DEFAULT_TIMEOUT_MS      HONE_JOB_TIMEOUT_MS
#define DEFAULT_CALL_TIMEOUT_MS 20000
#define KEPT_MS                 60000 /* that a helper is kept without a job */
#define MAX_WARNINGS            32
#define MAX_COSTS               32 /* rows of the report that split a stage */

static const struct {
    const char *name;
    hone_stage_fn *run;
} stages[] = {
    {"build", hone_stage_build},         {"policy", hone_stage_policy},
    {"smoke", hone_stage_smoke},         {"verify", hone_stage_verify},
    {"screen", hone_stage_screen},       {"time", hone_stage_time},
    {"profile", hone_stage_profile},     {"run", hone_stage_run},
    {"calibrate", hone_stage_calibrate}, {"program", hone_stage_program},
};

bool hone_judge_has_stage(const struct hone_judge *judge, const char *name)
{
    for (size_t i = 0; i < judge->job->stages.n; i++) {
        if (strcmp(judge->job->stages.v[i], name) == 0)
            return true;
    }
    return false;
}

bool hone_judge_is_tier(const struct hone_judge *judge, enum hone_tier tier)
{
    return judge->job->tier == tier;
}

struct hone_slot *hone_judge_slot(struct hone_judge *judge, const char *name)
{
    for (size_t i = 0; i < judge->n_slots; i++) {
        if (strcmp(judge->slots[i].name, name) == 0)
            return &judge->slots[i];
    }
    return NULL;
}

int64_t hone_judge_threads(const struct hone_judge *judge)
{
    return strcmp(judge->target->name, "cpu") == 0 ? judge->n_threads : 0;
}

static const char *words(struct hone_judge *judge, const char *fmt, va_list args)
{
    char text[400];
    vsnprintf(text, sizeof text, fmt, args);
    return hone_pool_strdup(judge->pool, text);
}

/* What is in the list already is not repeated; beyond `most` nothing is added. */
static void say(const char **list, size_t *n, size_t most, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i], text) == 0)
            return;
    if (*n < most)
        list[(*n)++] = text;
}

void hone_judge_warn(struct hone_judge *judge, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(judge->warnings, &judge->n_warnings, MAX_WARNINGS, words(judge, fmt, args));
    va_end(args);
}

void hone_judge_doubt(struct hone_judge *judge, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(judge->doubts, &judge->n_doubts, HONE_LIMIT_DOUBTS, words(judge, fmt, args));
    va_end(args);
}

void hone_judge_review(struct hone_judge *judge, const char *rule, int64_t line, const char *fmt,
                       ...)
{
    if (judge->n_review == HONE_LIMIT_REVIEW_ROWS)
        return;
    for (size_t i = 0; i < judge->n_review; i++)
        if (strcmp(judge->review[i].rule, rule) == 0 && judge->review[i].line == line)
            return;
    va_list args;
    va_start(args, fmt);
    const char *evidence = words(judge, fmt, args);
    va_end(args);
    judge->review[judge->n_review++] =
        (struct hone_review){.rule = rule, .evidence = evidence, .line = line};
}

void hone_judge_progress(const struct hone_judge *judge, const char *stage, const char *workload,
                         int64_t done, int64_t total, const char *message)
{
    (void)judge;
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "stage", stage);
    hone_json_set_str(json, "workload", workload);
    hone_json_set_i64(json, "done", done);
    hone_json_set_i64(json, "total", total);
    hone_json_set_str(json, "message", message);
    HONE_AUTOFREE char *text = hone_json_print(json);
    puts(text);
    fflush(stdout);
}

void hone_judge_cost(struct hone_judge *judge, const char *name, int64_t ns)
{
    for (size_t i = 0; i < judge->n_stages; i++) {
        if (strcmp(judge->stages[i].name, name) == 0) {
            judge->stages[i].wall_ns += ns;
            return;
        }
    }
    size_t n_left = judge->job->stages.n; /* rows that the stages themselves may still need */
    if (judge->n_stages + n_left < judge->n_stage_rows)
        judge->stages[judge->n_stages++] =
            (struct hone_stage_report){.name = name, .status = HONE_STAGE_OK, .wall_ns = ns};
}

void hone_judge_cost_verify(struct hone_judge *judge, const char *name, int64_t start_ns)
{
    if (judge->is_verifying)
        hone_judge_cost(judge, name, hone_now_ns() - start_ns);
}

static int read_key(struct hone_judge *judge, struct hone_err *err)
{
    const char *hex = judge->job->seed_hex;
    if (hex == NULL) {
        hone_random(judge->key, sizeof judge->key);
        return 0;
    }
    for (size_t i = 0; i < sizeof judge->key; i++) {
        unsigned byte = 0;
        if (strlen(hex) != 32 || sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return hone_fail(err, HONE_E_ARG, "seed_hex needs 32 hex digits");
        judge->key[i] = (uint8_t)byte;
    }
    return 0;
}

/* The secret, once nobody can use it any more, and the samples. */
static int log_sealed(struct hone_judge *judge, struct hone_err *err)
{
    HONE_AUTOFREE char *folder = hone_sprintf("%s/sealed", judge->dir);
    HONE_AUTOFREE char *path = hone_sprintf("%s/seed", folder);
    char hex[34] = "";
    for (size_t i = 0; i < sizeof judge->key; i++)
        snprintf(hex + 2 * i, 3, "%02x", judge->key[i]);
    snprintf(hex + 32, 2, "\n");
    int code = hone_mkdirs(folder, 0700, err);
    if (code == 0)
        code = hone_file_write(path, hex, 33, 0600, false, err);
    hex[32] = '\0';
    return code < 0 ? code : hone_samples_write(judge, hex, err);
}

static void draw_folder(struct hone_slot *slot)
{
    uint64_t drawn = 0;
    hone_random(&drawn, sizeof drawn);
    snprintf(slot->folder, sizeof slot->folder, "%016llx", (unsigned long long)drawn);
}

static int set_up(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_job *job = judge->job;
    judge->target = hone_target_find(job->target);
    if (judge->target == NULL) {
        hone_outcome_set(ret, HONE_REASON_BAD_REQUEST,
                         "target '%s' is not built into this runner; it has: %s", job->target,
                         hone_target_names());
        return 0;
    }
    struct hone_err why = HONE_ERR_INIT;
    if (hone_task_load(job->task_dir, &judge->task, &why) < 0 ||
        hone_task_select(judge->task, job->target, &why) < 0) {
        hone_outcome_set(ret, HONE_REASON_BAD_TASK, "%.300s", why.message);
        return 0;
    }
    if (job->task_hash != NULL && strcmp(job->task_hash, judge->task->hash) != 0) {
        hone_outcome_set(ret, HONE_REASON_BAD_TASK,
                         "the task pack differs from the one this job was made for");
        return 0;
    }
    if (job->axes != NULL) {
        if (hone_task_asked(judge->task, job->axes, &judge->task->workloads[0], &why) < 0) {
            hone_outcome_set(ret, HONE_REASON_BAD_REQUEST, "%.300s", why.message);
            return 0;
        }
        judge->task->n_workloads = 1;
    }
    const struct hone_arm *arms = job->arms.v;
    for (size_t i = 0; i < job->arms.n && i < HONE_RUNNER_MAX_ARMS; i++)
        judge->slots[judge->n_slots++] = (struct hone_slot){.name = arms[i].name, .arm = &arms[i]};
    judge->oracle.name = "oracle";
    for (size_t i = 0; i < judge->n_slots; i++)
        draw_folder(&judge->slots[i]);
    draw_folder(&judge->oracle);
    hone_machine_facts(&judge->machine);
    judge->n_threads = job->n_threads > 0 ? hone_min_i64(job->n_threads, judge->machine.n_cores)
                                          : judge->machine.n_cores;
    if (read_key(judge, &why) < 0 || hone_sizes_collect(judge, &why) < 0) {
        hone_outcome_set(ret, HONE_REASON_BAD_REQUEST, "%.300s", why.message);
        return 0;
    }
    judge->gen = hone_gen_new(judge->key);
    judge->rng = hone_gen_rng(judge->gen, 0);
    judge->counter = 1;
    hone_contents_start(judge);
    return judge->target->set_up(judge, ret, err);
}

static hone_stage_fn *stage_named(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(stages); i++) {
        if (strcmp(stages[i].name, name) == 0)
            return stages[i].run;
    }
    return NULL;
}

/* Before the first stage that runs anything. */
int hone_judge_start_target(struct hone_judge *judge, struct hone_outcome *ret,
                            struct hone_err *err)
{
    if (judge->is_started || judge->target->start == NULL)
        return 0;
    judge->is_started = true;
    return judge->target->start(judge, ret, err);
}

static int run_stages(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    for (size_t i = 0; i < judge->job->stages.n; i++) {
        const char *name = judge->job->stages.v[i];
        size_t at = judge->n_stages++;
        struct hone_stage_report *report = &judge->stages[at];
        *report = (struct hone_stage_report){.name = name, .status = HONE_STAGE_SKIPPED};
        hone_stage_fn *run = stage_named(name);
        if (run == NULL || !hone_outcome_is_good(ret))
            continue;
        hone_judge_progress(judge, name, "", 0, 0, "started");
        int64_t start = hone_now_ns() - judge->waited_ns;
        bool is_without_target =
            run == hone_stage_build || run == hone_stage_policy || run == hone_stage_program;
        int code = is_without_target ? 0 : hone_judge_start_target(judge, ret, err);
        if (code == 0 && hone_outcome_is_good(ret))
            code = run(judge, ret, err);
        if (code == 0 && hone_outcome_is_good(ret) && strcmp(name, "build") == 0 &&
            judge->job->points.n > 0)
            code = hone_judge_sweep(judge, ret, err);
        report = &judge->stages[at];
        report->wall_ns = hone_now_ns() - judge->waited_ns - start; /* waits have a row */
        report->status = code == 0 && hone_outcome_is_good(ret) ? HONE_STAGE_OK : HONE_STAGE_FAILED;
        if (code < 0)
            return code;
    }
    return 0;
}

static void tear_down(struct hone_judge *judge)
{
    if (judge->target != NULL)
        judge->target->tear_down(judge);
    for (size_t i = 0; i < judge->n_slots; i++)
        free(judge->slots[i].object);
    hone_judge_drop_arena(&judge->oracle);
    free(judge->oracle.object);
    hone_shared_done(&judge->inputs);
    hone_gen_free(judge->gen);
    hone_task_free(judge->task);
    for (size_t w = 0; w < judge->n_workloads; w++)
        hone_json_free(judge->workloads[w].axes);
    hone_json_free(judge->samples);
}

static void infra_end(const struct hone_err *err, struct hone_outcome *ret)
{
    enum hone_reason reason = HONE_REASON_INFRA;
    if (err->code == HONE_E_CANCEL)
        reason = HONE_REASON_CANCELLED;
    else if (err->code == HONE_E_UNSUPPORTED)
        reason = HONE_REASON_NO_JAIL;
    hone_outcome_set(ret, reason, "%.350s", err->message);
}

/* What a job that met no bad end has shown. */
static void good_end(const struct hone_judge *judge, struct hone_outcome *ret)
{
    if (judge->was_timed && !hone_outcome_is_good(&judge->timed_end)) {
        *ret = judge->timed_end;
        return;
    }
    bool was_checked = hone_judge_has_stage(judge, "smoke") ||
                       hone_judge_has_stage(judge, "verify") ||
                       hone_judge_has_stage(judge, "screen") || hone_judge_has_stage(judge, "time");
    if (!was_checked)
        ret->reason = HONE_REASON_BUILT;
}

static void finish_report(struct hone_judge *judge, const struct hone_outcome *end)
{
    struct hone_report *report = judge->report;
    const struct hone_reason_row *row = hone_reason_row(end->reason);
    report->reason = end->reason;
    report->verdict = row->verdict;
    report->summary = hone_pool_printf(judge->pool, "%s: %s", row->word,
                                       end->detail[0] != '\0' ? end->detail : row->meaning);
    report->stages = (struct hone_array){.v = judge->stages, .n = judge->n_stages};
    report->checks = (struct hone_array){.v = judge->checks, .n = judge->n_checks};
    report->workloads = (struct hone_array){.v = judge->workloads, .n = judge->n_workloads};
    report->warnings = (struct hone_strs){.v = judge->warnings, .n = judge->n_warnings};
    report->doubts = (struct hone_strs){.v = judge->doubts, .n = judge->n_doubts};
    report->review = (struct hone_array){.v = judge->review, .n = judge->n_review};
    hone_contents_report(judge);
}

static int write_report(const char *dir, const struct hone_report *report, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_sprintf("%s/report.json", dir);
    HONE_AUTOFREE char *text = hone_report_print(report);
    return hone_file_write(path, text, strlen(text), 0644, true, err);
}

static void prepare_report(struct hone_judge *judge)
{
    const struct hone_job *job = judge->job;
    *judge->report = (struct hone_report){
        .format = HONE_REPORT_FORMAT, .id = job->id, .target = job->target, .tier = job->tier};
    judge->report->best_point = -1;
    judge->report->worst_ratio = judge->report->percent_of_bound = (double)__builtin_nanf("");
    judge->checks = hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_CHECKS * sizeof *judge->checks);
    judge->workloads =
        hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_CASES * sizeof *judge->workloads);
    judge->n_stage_rows = job->stages.n + MAX_COSTS;
    judge->stages = hone_pool_alloc(judge->pool, judge->n_stage_rows * sizeof *judge->stages);
    judge->warnings = hone_pool_alloc(judge->pool, MAX_WARNINGS * sizeof *judge->warnings);
    judge->doubts = hone_pool_alloc(judge->pool, HONE_LIMIT_DOUBTS * sizeof *judge->doubts);
    judge->review = hone_pool_alloc(judge->pool, HONE_LIMIT_REVIEW_ROWS * sizeof *judge->review);
}

static int run_job(const char *dir, const struct hone_job *job, struct hone_pool *pool,
                   struct hone_session *session, bool is_again, struct hone_err *err)
{
    struct hone_report report;
    struct hone_judge judge = {.job = job,
                               .session = session,
                               .dir = dir,
                               .pool = pool,
                               .report = &report,
                               .is_again = is_again,
                               .inputs = HONE_SHARED_INIT};
    int64_t start = hone_now_ns();
    prepare_report(&judge);
    judge.deadline_ns =
        hone_deadline_in_ms(job->timeout_ms > 0 ? job->timeout_ms : DEFAULT_TIMEOUT_MS);
    judge.finish_ns = job->finish_ms > 0 ? start + job->finish_ms * HONE_NS_PER_MS : 0;
    judge.call_timeout_ns =
        (job->call_timeout_ms > 0 ? job->call_timeout_ms : DEFAULT_CALL_TIMEOUT_MS) *
        HONE_NS_PER_MS;
    struct hone_outcome end = HONE_OUTCOME_INIT;
    struct hone_err why = HONE_ERR_INIT;
    int code = set_up(&judge, &end, &why);
    if (code == 0 && hone_outcome_is_good(&end))
        code = run_stages(&judge, &end, &why);
    if (code == 0 && hone_outcome_is_good(&end)) /* what was wrong rests on nothing */
        hone_rests_finish(&judge);
    if (code < 0)
        infra_end(&why, &end);
    else if (hone_outcome_is_good(&end))
        good_end(&judge, &end);
    hone_blame_settle(&judge, &end);
    if (judge.wants_again && !is_again) { /* with a new key, new files and new processes */
        tear_down(&judge);
        return run_job(dir, job, pool, session, true, err);
    }
    if (hone_runner_is_stopping()) /* the signal may have ended a compiler, too */
        hone_outcome_set(&end, HONE_REASON_CANCELLED, "the runner was told to stop");
    hone_blame_explain(&judge, &end);
    hone_sizes_report(&judge);
    finish_report(&judge, &end);
    report.wall_ns = hone_now_ns() - start;
    code = judge.gen != NULL ? log_sealed(&judge, err) : 0;
    if (code == 0)
        code = write_report(dir, &report, err);
    tear_down(&judge);
    return code;
}

/* A job that cannot even be read still gets a report, so that whoever waits for one learns why. */
static int refuse_job(const char *dir, const struct hone_err *why, struct hone_err *err)
{
    const struct hone_reason_row *row = hone_reason_row(HONE_REASON_BAD_REQUEST);
    struct hone_report report = {
        .format = HONE_REPORT_FORMAT, .reason = HONE_REASON_BAD_REQUEST, .best_point = -1};
    HONE_AUTOFREE char *summary = hone_sprintf("%s: %s%s%s", row->word, why->path,
                                               why->path[0] != '\0' ? ": " : "", why->message);
    report.verdict = row->verdict;
    report.summary = summary;
    report.worst_ratio = report.percent_of_bound = (double)__builtin_nanf("");
    return write_report(dir, &report, err);
}

/* One folder of compiled objects for all workspaces, where the user names one. */
static void take_objects(struct hone_job *job)
{
    const char *dir = getenv("HONE_OBJECTS");
    if (dir != NULL && job->cache_dir != NULL && hone_blob_folder_make(dir))
        job->cache_dir = dir;
}

/* One job from its file to its report; exit status of the program. */
static int judge_path(const char *job_path, struct hone_session *session)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *whole = realpath(job_path, NULL);
    HONE_AUTOFREE char *dir = hone_strdup(whole != NULL ? whole : job_path);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    struct hone_job job;
    struct hone_err err = HONE_ERR_INIT;
    char *slash = strrchr(dir, '/');
    if (slash != NULL)
        *slash = '\0';
    int code = hone_file_read(job_path, HONE_LIMIT_JSON_BYTES, &text, &len, &err);
    if (code < 0) {
        fprintf(stderr, "hone-runner: %s\n", err.message);
        return hone_code_exit(code);
    }
    if (hone_job_parse(text, len, pool, &job, &err) < 0) {
        struct hone_err why = err;
        fprintf(stderr, "hone-runner: %s: %s\n", why.path, why.message);
        code = refuse_job(slash != NULL ? dir : ".", &why, &err);
    } else {
        take_objects(&job);
        code = run_job(slash != NULL ? dir : ".", &job, pool, session, false, &err);
    }
    if (code < 0)
        fprintf(stderr, "hone-runner: %s\n", err.message);
    return code < 0 ? hone_code_exit(code) : 0;
}

static void begin(void)
{
    /* Whoever started this may be killed: nobody would read the answer, and the timing lease would
     * be held. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    hone_process_init();
    hone_runner_catch_signals();
}

static void end_session(struct hone_session *session)
{
    hone_target_end_sessions(session);
    hone_kept_drop(&session->oracle);
    hone_pool_free(session->pool);
}

int hone_role_judge(const char *job_path)
{
    begin();
    struct hone_session session = {0};
    int status = judge_path(job_path, &session);
    end_session(&session);
    return status;
}

static void say_done(const char *job_path)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "stage", "done");
    hone_json_set_str(json, "message", job_path);
    HONE_AUTOFREE char *text = hone_json_print(json);
    puts(text);
    fflush(stdout);
}

/* false: the end. Who waits long holds no helper. */
static bool next_job(FILE *jobs, char path[HONE_LIMIT_PATH_BYTES], struct hone_session *session)
{
    struct pollfd ready = {.fd = fileno(jobs), .events = POLLIN};
    int n = -1;
    while (session->oracle.arena != NULL && !hone_runner_is_stopping() && n < 0) {
        n = poll(&ready, 1, KEPT_MS);
        if (n == 0 || (n < 0 && errno != EINTR))
            hone_kept_drop(&session->oracle);
    }
    return !hone_runner_is_stopping() && fgets(path, HONE_LIMIT_PATH_BYTES, jobs) != NULL;
}

/* Jobs by their paths, one a line, until the end of the file or a signal. What a job leaves behind
 * for the next is in the session alone. */
int hone_role_warm(int argc, char **argv)
{
    char *end = NULL;
    long fd = argc > 0 ? strtol(argv[0], &end, 10) : STDIN_FILENO;
    bool is_number = end == NULL || (end != argv[0] && *end == '\0');
    begin();
    FILE *jobs = is_number && fd >= 0 && fd <= INT_MAX ? fdopen((int)fd, "re") : NULL;
    if (jobs == NULL) {
        fputs("hone-runner: --warm takes the number of an open file, or nothing\n", stderr);
        return 2;
    }
    struct hone_session session = {0};
    char path[HONE_LIMIT_PATH_BYTES];
    setvbuf(jobs, NULL, _IONBF, 0); /* so that poll sees what has not been read */
    while (next_job(jobs, path, &session)) {
        path[strcspn(path, "\n")] = '\0';
        if (path[0] == '\0')
            continue;
        (void)judge_path(path, &session);
        say_done(path);
    }
    fclose(jobs);
    end_session(&session);
    return 0;
}
