/* SPDX-License-Identifier: Apache-2.0 */
/* The fake executor: answers from a script instead of running anything. A product, not a test
 * double: most tests, demonstrations and protocol work run on it, without a compiler, a jail or a
 * quiet machine.
 *
 * A line of the script applies to every source that contains its "match"; the first one wins.
 * Sources without a line are correct, with a time made from the hash of source and tunables, so
 * that the same source always takes the same time. Verdicts follow from the figures by the rules of
 * the real judge, and a report of this executor passes the same parser as a real one.
 *
 * {"match":"substring","reason":"faster","ns":1000,"delay_ms":0,"detail":"text",
 * "limited_by":"dram_bound","settings":0.1,"code":"c0de","fast_math":"-Ofast","doubt":"why","output":"text"} -
 * all but match optional; limited_by: what a profile of it finds; settings: of its tunables, by how
 * much of ns they may be faster; code: word for its machine code, whatever the setting; fast_math:
 * that the result rests on; doubt: why it may not be claimed; output: what it prints as a program */
#include "tools/executor.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/task/task.h"

#define SCRIPT_MAX_BYTES    (4u << 20)
#define SCRIPT_MAX_LINES    4096
#define DEFAULT_BASELINE_NS 1e6
#define NOISE               0.02 /* half the width of a faked interval */

struct line {
    enum hone_reason reason; /* none: what the figures and the tier say */
    const char *match, *detail, *limited_by, *code, *fast_math, *doubt, *output;
    double ns, settings;
    int64_t delay_ms;
};

static const struct hone_field line_fields[] = {
    HONE_FIELD(struct line, match, .required = true, .help = "Text that the source contains."),
    HONE_FIELD(struct line, reason, .choices = hone_reason_choices, .help = "How it ends."),
    HONE_FIELD(struct line, detail, .max_len = HONE_LIMIT_LINE_BYTES, .help = "What went wrong."),
    HONE_FIELD(struct line, limited_by, .max_len = HONE_LIMIT_WORD_BYTES,
               .help = "Bottleneck class that a profile finds."),
    HONE_FIELD(struct line, code, .max_len = HONE_LIMIT_WORD_BYTES,
               .help = "Word for the machine code."),
    HONE_FIELD(struct line, fast_math, .max_len = HONE_LIMIT_WORD_BYTES,
               .help = "Where fast-math is asked for."),
    HONE_FIELD(struct line, output, .max_len = HONE_LIMIT_LOG_BYTES,
               .help = "What it prints as a program."),
    HONE_FIELD(struct line, doubt, .max_len = HONE_LIMIT_LINE_BYTES,
               .help = "Why the figure may not be claimed."),
    HONE_FIELD(struct line, ns, .min = 0, .max = INT64_MAX, .fallback_f64 = NAN, .unit = "ns",
               .help = "One call."),
    HONE_FIELD(struct line, settings, .min = 0, .max = 1,
               .help = "Share of ns by which settings of its tunables may be faster."),
    HONE_FIELD(struct line, delay_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms",
               .help = "How long the answer takes."),
};

struct fake {
    struct hone_pool *pool; /* owns the script */
    struct line *lines;
    size_t n_lines;
};

static int load_line(struct fake *fake, const char *text, size_t len, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct line *line = &fake->lines[fake->n_lines];
    int rc;

    if (len == 0)
        return 0;
    if (fake->n_lines == SCRIPT_MAX_LINES)
        return hone_fail(err, HONE_E_LIMIT, "more than %d lines", SCRIPT_MAX_LINES);
    rc = hone_json_parse(text, len, &json, err);
    if (rc == 0)
        rc = hone_fields_decode(json, line_fields, HONE_COUNTOF(line_fields), line, sizeof(*line),
                                fake->pool, err);
    if (rc == 0)
        fake->n_lines++;
    return rc;
}

static int load(struct fake *fake, const char *path, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0, number = 1;
    int rc = hone_file_read(path, SCRIPT_MAX_BYTES, &text, &len, err);

    if (rc < 0)
        return rc;
    fake->lines = hone_pool_alloc(fake->pool, SCRIPT_MAX_LINES * sizeof(*fake->lines));
    for (const char *at = text; *at != '\0'; number++) {
        size_t n = strcspn(at, "\n");
        rc = load_line(fake, at, n, err);
        if (rc < 0)
            return hone_wrap(err, "%s:%zu", path, number);
        at += n + (at[n] == '\n');
    }
    return 0;
}

/* ---- one answer ---- */

struct answer {              /* of one arm */
    const struct line *line; /* NULL: none applies */
    double ns;
};

struct call {
    const struct fake *fake;
    const char *call_dir;
    const struct hone_job *job;
    struct hone_pool *pool;
    const struct hone_task *task;
    struct answer arms[HONE_LIMIT_ARMS];
    struct hone_report report;
};

/* In [0, 1), the same for the same text and values. */
static double hashed(const char *source, const struct hone_array *tunables)
{
    const struct hone_tunable *t = tunables->v;
    struct hone_hasher hasher;
    char hex[HONE_HASH_TEXT_BYTES];

    hone_hasher_init(&hasher);
    hone_hasher_str(&hasher, source);
    for (size_t i = 0; i < tunables->n; i++) {
        hone_hasher_str(&hasher, t[i].name);
        hone_hasher_part(&hasher, &t[i].value, sizeof(t[i].value));
    }
    hone_hasher_end(&hasher, hex);
    hex[8] = '\0';
    return (double)(strtoul(hex, NULL, 16) % 1000000) / 1e6;
}

/* In (0, 1], the same for the same values; 0 without tunables. */
static double setting_share(const struct hone_array *tunables)
{
    return tunables->n > 0 ? 1 - hashed("", tunables) : 0;
}

static int answer_arm(const struct call *call, const struct hone_arm *arm,
                      const struct hone_array *tunables, struct answer *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(call->call_dir, "open", arm->source, NULL);
    HONE_AUTOFREE char *source = NULL;
    size_t len;
    int rc = hone_file_read(path, HONE_LIMIT_SOURCE_BYTES, &source, &len, err);

    if (rc < 0)
        return rc;
    ret->line = NULL;
    for (size_t i = 0; i < call->fake->n_lines && ret->line == NULL; i++)
        if (strstr(source, call->fake->lines[i].match) != NULL)
            ret->line = &call->fake->lines[i];
    if (ret->line != NULL && !isnan(ret->line->ns))
        ret->ns = ret->line->ns * (1 - ret->line->settings * setting_share(tunables));
    else
        ret->ns = strcmp(arm->name, "baseline") == 0 || strcmp(arm->name, HONE_ARM_FAST_MATH) == 0
                      ? DEFAULT_BASELINE_NS
                      : 2e5 + rint(1e6 * hashed(source, tunables));
    return 0;
}

static bool has_stage(const struct hone_job *job, const char *stage)
{
    for (size_t i = 0; i < job->stages.n; i++)
        if (strcmp(job->stages.v[i], stage) == 0)
            return true;
    return false;
}

static struct hone_ratio make_ratio(const char *against, double candidate_ns, double other_ns)
{
    double ratio = other_ns / candidate_ns;
    double low = ratio * (1 - NOISE), high = ratio * (1 + NOISE);
    const char *word = low > 1.01 ? "faster" : high < 0.99 ? "slower" : "same";

    return (struct hone_ratio){.against = against,
                               .ratio = ratio,
                               .low = low,
                               .high = high,
                               .least_gain = 0.01,
                               .n_pairs = 20,
                               .word = word};
}

static void add_ratios(const struct call *call, struct hone_array *ret)
{
    const struct hone_arm *arms = call->job->arms.v;
    struct hone_ratio *ratios = hone_pool_alloc(call->pool, HONE_LIMIT_ARMS * sizeof(*ratios));
    size_t n = 0;

    for (size_t i = 1; i < call->job->arms.n; i++)
        ratios[n++] = make_ratio(arms[i].name, call->arms[0].ns, call->arms[i].ns);
    *ret = (struct hone_array){.v = ratios, .n = n};
}

static void add_workload(const struct call *call, const struct hone_workload *workload,
                         struct hone_workload_report *ret)
{
    const struct hone_arm *arms = call->job->arms.v;
    struct hone_arm_time *times = hone_pool_alloc(call->pool, HONE_LIMIT_ARMS * sizeof(*times));

    for (size_t i = 0; i < call->job->arms.n; i++) {
        double ns = call->arms[i].ns;
        times[i] = (struct hone_arm_time){.arm = arms[i].name,
                                          .median_ns = ns,
                                          .min_ns = ns * (1 - NOISE),
                                          .q1_ns = ns * (1 - NOISE / 2),
                                          .q3_ns = ns * (1 + NOISE / 2),
                                          .cpu_ns = ns,
                                          .n_samples = 20,
                                          .n_batch = 1};
    }
    ret->id = workload->id;
    ret->is_hidden = workload->is_hidden;
    ret->times = (struct hone_array){.v = times, .n = call->job->arms.n};
    ret->bound_ns = DEFAULT_BASELINE_NS / 50;
    ret->bound_by = "bytes";
    ret->bytes_ns = ret->least_bytes = call->task->is_flops_guessed ? NAN : ret->bound_ns;
    ret->flops_ns = ret->least_flops = call->task->is_flops_guessed ? NAN : ret->bound_ns / 4;
    ret->percent_of_bound =
        call->task->is_flops_guessed ? NAN : 100 * ret->bound_ns / call->arms[0].ns;
    add_ratios(call, &ret->ratios);
}

/* The workloads that the job names; all public ones when it names none. */
static int list_workloads(const struct call *call, const struct hone_workload **list, size_t *ret_n,
                          struct hone_err *err)
{
    const struct hone_strs *ids = &call->job->workloads;
    size_t n = 0;

    for (size_t i = 0; i < ids->n; i++) {
        list[n] = hone_task_workload(call->task, ids->v[i]);
        if (list[n++] == NULL)
            return hone_fail_at(err, HONE_E_ARG, "workloads", "task '%s' has no workload '%.64s'",
                                call->task->name, ids->v[i]);
    }
    for (size_t i = 0; i < call->task->n_workloads && ids->n == 0; i++)
        list[n++] = &call->task->workloads[i];
    *ret_n = n;
    return 0;
}

static void add_stages(struct call *call, bool is_good)
{
    size_t n = call->job->stages.n;
    struct hone_stage_report *stages = hone_pool_alloc(call->pool, n * sizeof(*stages));

    for (size_t i = 0; i < n; i++)
        stages[i] = (struct hone_stage_report){.name = call->job->stages.v[i],
                                               .status = is_good  ? HONE_STAGE_OK
                                                         : i == 0 ? HONE_STAGE_FAILED
                                                                  : HONE_STAGE_SKIPPED,
                                               .wall_ns = 1000};
    call->report.stages = (struct hone_array){.v = stages, .n = n};
}

static void add_checks(struct call *call, const struct hone_workload *const *list, size_t n)
{
    struct hone_check_report *checks = hone_pool_alloc(call->pool, (n + 1) * sizeof(*checks));

    for (size_t i = 0; i < n; i++)
        checks[i] = (struct hone_check_report){.name = "verify",
                                               .workload = list[i]->id,
                                               .distribution = "normal",
                                               .n_elements = 1024,
                                               .n_compared = 1024,
                                               .max_abs_err = 1e-6,
                                               .max_rel_err = 1e-6,
                                               .rel_l2 = 1e-7};
    call->report.checks = (struct hone_array){.v = checks, .n = n};
}

static void add_times(struct call *call, const struct hone_workload *const *list, size_t n)
{
    struct hone_workload_report *reports = hone_pool_alloc(call->pool, (n + 1) * sizeof(*reports));

    for (size_t i = 0; i < n; i++)
        add_workload(call, list[i], &reports[i]);
    call->report.workloads = (struct hone_array){.v = reports, .n = n};
    add_ratios(call, &call->report.ratios);
    if (call->job->arms.n > 1)
        call->report.worst_ratio = call->arms[1].ns / call->arms[0].ns;
    call->report.percent_of_bound = n > 0 ? reports[0].percent_of_bound : NAN;
}

static void add_profile(struct call *call)
{
    struct hone_profile_report *profile = hone_pool_alloc(call->pool, sizeof(*profile));
    struct hone_counter *counters = hone_pool_alloc(call->pool, 2 * sizeof(*counters));
    struct hone_bottleneck *worst = hone_pool_alloc(call->pool, sizeof(*worst));
    struct hone_remark *remark = hone_pool_alloc(call->pool, sizeof(*remark));

    counters[0] = (struct hone_counter){.name = "gflops",
                                        .value = 1e9 / call->arms[0].ns,
                                        .unit = "Gflop/s",
                                        .parent_value = (double)NAN};
    counters[1] = (struct hone_counter){
        .name = "cpu_per_wall", .value = 1, .unit = "", .parent_value = (double)NAN};
    const struct line *line = call->arms[0].line;
    *worst = (struct hone_bottleneck){.class_name =
                                          line && line->limited_by ? line->limited_by : "latency",
                                      .score = 0.5,
                                      .rule = "fake: nothing was measured",
                                      .advice = "use the local executor",
                                      .line = 1};
    *remark = (struct hone_remark){
        .line = 1, .kind = HONE_REMARK_MISSED, .message = "fake: not compiled"};
    *profile = (struct hone_profile_report){
        .counters_note = "the fake executor measures nothing",
        .timed = "nothing: fake",
        .counters = {.v = counters, .n = 2},
        .remarks = {.v = remark, .n = 1},
        .bottlenecks = {.v = worst, .n = 1},
    };
    call->report.profile = profile;
}

static const char *code_of(const struct answer *answer)
{
    return answer->line != NULL ? answer->line->code : NULL;
}

static void add_doubt(struct call *call)
{
    const char **list = hone_pool_alloc(call->pool, sizeof(*list));

    list[0] = call->arms[0].line != NULL ? call->arms[0].line->doubt : NULL;
    if (list[0] != NULL)
        call->report.doubts = (struct hone_strs){.v = list, .n = 1};
}

/* Only where the script has something to say: the others' reports stay as they were. */
static void add_rests(struct call *call)
{
    struct hone_rests_report *rests = hone_pool_alloc(call->pool, sizeof(*rests));
    const struct line *line = call->arms[0].line;
    const char **fast = hone_pool_alloc(call->pool, sizeof(*fast));
    const struct hone_arm *arms = call->job->arms.v;
    bool is_again = false;

    if (line == NULL || (line->fast_math == NULL && line->code == NULL))
        return;
    for (size_t i = 1; i < call->job->arms.n && line->code != NULL; i++)
        is_again =
            is_again || (strcmp(arms[i].name, "parent") == 0 && code_of(&call->arms[i]) != NULL &&
                         strcmp(code_of(&call->arms[i]), line->code) == 0);
    fast[0] = line->fast_math;
    *rests = (struct hone_rests_report){
        .rms_error = (double)NAN,
        .worst_error = (double)NAN,
        .baseline_rms_error = (double)NAN,
        .baseline_worst_error = (double)NAN,
        .threads = (double)NAN,
        .baseline_threads = (double)NAN,
        .has_units = true,
        .is_deterministic = true,
        .flags = "-O3",
        .fast_math = {.v = fast, .n = line->fast_math != NULL},
        .is_parents_code = is_again,
    };
    call->report.rests_on = rests;
}

static int add_points(struct call *call, struct hone_err *err)
{
    const struct hone_point *points = call->job->points.v;
    const struct hone_arm *arms = call->job->arms.v;
    size_t n = call->job->points.n;
    struct hone_point_report *reports = hone_pool_alloc(call->pool, (n + 1) * sizeof(*reports));

    for (size_t i = 0; i < n; i++) {
        struct answer answer;
        int rc = answer_arm(call, &arms[0], &points[i].tunables, &answer, err);
        if (rc < 0)
            return rc;
        answer.ns += (double)points[i].flags.n; /* so that options make a difference */
        reports[i] = (struct hone_point_report){.tunables = points[i].tunables,
                                                .flags = points[i].flags,
                                                .reason = HONE_REASON_SCREENED,
                                                .median_ns = answer.ns,
                                                .ratio = DEFAULT_BASELINE_NS / answer.ns,
                                                .low = 0.98 * DEFAULT_BASELINE_NS / answer.ns,
                                                .high = 1.02 * DEFAULT_BASELINE_NS / answer.ns,
                                                .code = code_of(&answer)};
        if (call->report.best_point < 0 || answer.ns < reports[call->report.best_point].median_ns)
            call->report.best_point = (int64_t)i;
    }
    call->report.points = (struct hone_array){.v = reports, .n = n};
    return 0;
}

static void add_build(struct call *call, enum hone_reason reason, const char *detail)
{
    struct hone_build_report *build = hone_pool_alloc(call->pool, sizeof(*build));

    const char *target = call->job->target;
    bool is_cuda = target != NULL && strcmp(target, "cuda") == 0;
    *build = (struct hone_build_report){.compiler = "fake 1",
                                        .command = is_cuda ? "fake --gpu-architecture=sm_90a k.cu"
                                                           : "fake -O3 candidate.c",
                                        .wall_ns = 1000,
                                        .object_bytes = 4096,
                                        .code = code_of(&call->arms[0])};
    if (reason == HONE_REASON_COMPILE) {
        struct hone_diagnostic *d = hone_pool_alloc(call->pool, sizeof(*d));
        *d = (struct hone_diagnostic){.severity = HONE_SEVERITY_ERROR,
                                      .arm = "candidate",
                                      .line = 1,
                                      .column = 1,
                                      .message = detail,
                                      .context = "(fake)"};
        build->diagnostics = (struct hone_array){.v = d, .n = 1};
        build->log = hone_pool_printf(call->pool, "candidate.c:1:1: error: %s\n", detail);
    }
    call->report.build = build;
}

/* How a source without a scripted reason ends: by the stages that were asked for, then by its
 * figures. */
static enum hone_reason natural_reason(const struct call *call)
{
    const struct hone_ratio *ratio = hone_report_ratio(&call->report, "baseline");

    if (has_stage(call->job, "time") && ratio != NULL && call->job->tier != HONE_TIER_SCREEN)
        return strcmp(ratio->word, "faster") == 0   ? HONE_REASON_FASTER
               : strcmp(ratio->word, "slower") == 0 ? HONE_REASON_SLOWER
                                                    : HONE_REASON_SAME;
    if (has_stage(call->job, "screen") || has_stage(call->job, "time"))
        return HONE_REASON_SCREENED;
    bool is_program = has_stage(call->job, "program");
    size_t n_still = has_stage(call->job, "build") + has_stage(call->job, "policy");
    return is_program || call->job->stages.n == n_still ? HONE_REASON_BUILT : HONE_REASON_CORRECT;
}

static bool is_good_end(enum hone_reason reason)
{
    return hone_reason_row(reason)->error_class[0] == '\0';
}

/* The scripted reason, bent to what the tier may say: a screen never says faster, and only figures
 * can. */
static enum hone_reason choose_reason(const struct call *call)
{
    enum hone_reason natural = natural_reason(call);
    enum hone_reason scripted =
        call->arms[0].line != NULL ? call->arms[0].line->reason : HONE_REASON_NONE;

    if (scripted == HONE_REASON_NONE || scripted == HONE_REASON_FASTER ||
        scripted == HONE_REASON_SAME || scripted == HONE_REASON_SLOWER ||
        scripted == HONE_REASON_SCREENED)
        return natural;
    return scripted;
}

static int fill(struct call *call, struct hone_err *err)
{
    const struct hone_workload *list[HONE_LIMIT_WORKLOADS];
    const struct hone_job *job = call->job;
    const struct line *line = call->arms[0].line;
    const char *detail = line != NULL && line->detail != NULL ? line->detail : "scripted";
    enum hone_reason reason;
    size_t n = 0;
    int rc = list_workloads(call, list, &n, err);

    if (rc < 0)
        return rc;
    call->report.worst_ratio = call->report.percent_of_bound = NAN;
    if (has_stage(job, "time") || has_stage(job, "screen"))
        add_times(call, list, n);
    reason = choose_reason(call);
    if (!is_good_end(reason)) { /* figures of a failure are not reported */
        call->report.workloads = call->report.ratios = (struct hone_array){.n = 0};
        call->report.worst_ratio = call->report.percent_of_bound = NAN;
    } else if (has_stage(job, "smoke") || has_stage(job, "verify")) {
        add_checks(call, list, n);
        add_rests(call);
        add_doubt(call);
    }
    add_stages(call, is_good_end(reason));
    add_build(call, reason, detail);
    if (is_good_end(reason) && has_stage(job, "profile"))
        add_profile(call);
    if (is_good_end(reason) && has_stage(job, "run"))
        call->report.output = "fake: nothing was run\n";
    if (has_stage(job, "program") && line != NULL)
        call->report.output = line->output;
    if (is_good_end(reason) && job->points.n > 0)
        rc = add_points(call, err);
    call->report.reason = reason;
    call->report.summary = hone_pool_printf(call->pool, "%s: %s", hone_reason_name(reason), detail);
    return rc;
}

static int wait_cancelled(int64_t delay_ms, const struct hone_cancel *cancel, struct hone_err *err)
{
    struct pollfd fd = {.fd = cancel != NULL ? cancel->event_fd : -1, .events = POLLIN};
    int64_t deadline = hone_deadline_in_ms(delay_ms);

    while (!hone_cancel_is_set(cancel) && hone_now_ns() < deadline)
        if (poll(&fd, 1, hone_ms_until(deadline)) < 0 && errno != EINTR)
            return hone_fail_errno(err, errno, "poll");
    if (hone_cancel_is_set(cancel))
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    return 0;
}

static int answer(struct call *call, const struct hone_cancel *cancel, struct hone_err *err)
{
    const struct hone_arm *arms = call->job->arms.v;
    int rc = 0;

    for (size_t i = 0; i < call->job->arms.n && rc == 0; i++)
        rc = answer_arm(call, &arms[i], &arms[i].tunables, &call->arms[i], err);
    if (rc == 0)
        rc = wait_cancelled(call->arms[0].line != NULL ? call->arms[0].line->delay_ms : 0, cancel,
                            err);
    if (rc == 0)
        rc = fill(call, err);
    return rc;
}

/* Out through the printer and in through the parser: a fake report is held to what a real one is
 * held to. */
static int through_format(const struct call *call, struct hone_report *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *text = hone_report_print(&call->report);
    HONE_AUTOFREE char *path = hone_path_join(call->call_dir, "report.json", NULL);
    int rc = hone_file_write(path, text, strlen(text), 0600, false, err);

    return rc < 0 ? rc : hone_report_parse(text, strlen(text), call->pool, ret, err);
}

static int run(void *cookie, const char *call_dir, const struct hone_job *job,
               hone_progress_fn *on_progress, void *progress_arg, const struct hone_cancel *cancel,
               struct hone_pool *pool, struct hone_report *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    struct hone_machine_report machine = {.cpu = "fake",
                                          .n_cores = 1,
                                          .copy_bytes_per_s = 1e10,
                                          .flops_per_s = 1e10,
                                          .peak_flops_per_s = 1e10,
                                          .flops_unit = "float32 multiply-add units"};
    struct call call = {.fake = cookie, .call_dir = call_dir, .job = job, .pool = pool};
    struct hone_err failure = HONE_ERR_INIT;
    int rc = hone_task_load(job->task_dir, &task, &failure);

    if (rc == 0)
        rc = hone_task_select(task, job->target, &failure);
    if (on_progress != NULL)
        on_progress(progress_arg,
                    &(struct hone_progress){.message = "fake", .done = 0, .total = 1});
    call.task = task;
    call.report = (struct hone_report){.format = HONE_REPORT_FORMAT,
                                       .id = job->id,
                                       .target = job->target,
                                       .tier = job->tier,
                                       .jail = "none",
                                       .best_point = -1,
                                       .machine = &machine,
                                       .wall_ns = 1000};
    if (rc == 0)
        rc = answer(&call, cancel, &failure);
    if (rc == HONE_E_CANCEL) {
        if (err != NULL)
            *err = failure;
        return rc;
    }
    if (rc < 0) {
        call.report.reason = rc == HONE_E_ARG ? HONE_REASON_BAD_REQUEST : HONE_REASON_INFRA;
        call.report.summary = hone_pool_strdup(pool, failure.message);
    }
    return through_format(&call, ret, err);
}

/* A machine that is the same everywhere, so that recorded prompts are. */
static int fake_probe(void *cookie, struct hone_json **ret, struct hone_err *err)
{
    static const char text[] =
        "{\"cpu\":\"fake\",\"n_cores\":4,\"vectors\":\"avx avx2 fma\",\"caches\":["
        "{\"name\":\"L1d\",\"size\":\"32K\",\"n_sharing\":1},"
        "{\"name\":\"L2\",\"size\":\"1M\",\"n_sharing\":1},"
        "{\"name\":\"L3\",\"size\":\"16M\",\"n_sharing\":4}],"
        "\"jail\":[{\"name\":\"none\",\"works\":true}],\"note\":\"fake: nothing is run\"}";

    (void)cookie;
    return hone_json_parse(text, sizeof(text) - 1, ret, err);
}

static void fake_close(void *cookie)
{
    struct fake *fake = cookie;

    hone_pool_free(fake->pool);
    free(fake);
}

int hone_exec_fake_new(const char *script_path, struct hone_executor **ret, struct hone_err *err)
{
    struct hone_executor *executor;
    struct fake *fake = hone_calloc(1, sizeof(*fake));
    int rc;

    fake->pool = hone_pool_new();
    rc = script_path != NULL ? load(fake, script_path, err) : 0;
    if (rc < 0) {
        fake_close(fake);
        return rc;
    }
    executor = hone_calloc(1, sizeof(*executor));
    *executor = (struct hone_executor){
        .name = "fake", .run = run, .probe = fake_probe, .close = fake_close, .cookie = fake};
    *ret = executor;
    return 0;
}
