/* SPDX-License-Identifier: Apache-2.0 */
/* Admission of a task (lint.h).
 *
 * Flow: check_static looks at files and formulas; then the baseline must pass, the bad kernels
 * (bad_kernels.h) must each get the verdict of their row, and the trivial answers must not
 * pass. Findings have a severity, a place and a remedy; one error refuses the task. */
#include "tools/task/lint.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools/task/bad_kernels.h"
#include "tools/task/c_tokens.h"
#include "tools/task/calibrate.h"
#include "tools/format/verdict.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/task/expr.h"

#define ANSWERS_MS 1500 /* for the answers that the judge makes itself */
enum { MAX_FINDINGS = 128, MAX_TRIALS = 32, N_DRAWS = 32 };
#define JOB_TIMEOUT_MS  300000
#define CALL_TIMEOUT_MS 20000
#define JAIL_BYTES      (4ll << 30)
#define LEGAL_SIZES_FIX                                                                            \
    "Say which sizes are legal: hone task new --constraint 'n % 8 == 0', or constraints, min and " \
    "multiple in task.json."

/* clang-format off */
const struct hone_field hone_lint_finding_fields[] = {
    HONE_FIELD(struct hone_lint_finding, severity, .help = "error: not admitted; warning; note."),
    HONE_FIELD(struct hone_lint_finding, where, .help = "File and place, or the kernel."),
    HONE_FIELD(struct hone_lint_finding, message, .help = "What is wrong."),
    HONE_FIELD(struct hone_lint_finding, fix, .skip_empty = true, .help = "What to do."),
};
const size_t hone_lint_finding_n_fields = HONE_COUNTOF(hone_lint_finding_fields);

const struct hone_field hone_lint_trial_fields[] = {
    HONE_FIELD(struct hone_lint_trial, kernel, .help = "naive, or the bad kernel."),
    HONE_FIELD(struct hone_lint_trial, meaning, .help = "What it does."),
    HONE_FIELD(struct hone_lint_trial, reason, .help = "Reason of its verdict."),
    HONE_FIELD(struct hone_lint_trial, verdict, .help = "Its verdict."),
    HONE_FIELD(struct hone_lint_trial, summary, .skip_empty = true, .help = "The report's line."),
    HONE_FIELD(struct hone_lint_trial, is_as_wanted, .help = "Naive passed, or the bad kernel was refused."),
};
const size_t hone_lint_trial_n_fields = HONE_COUNTOF(hone_lint_trial_fields);
/* clang-format on */

struct work {
    const struct hone_lint_options *options;
    struct hone_pool *pool;
    struct hone_task *task;
    struct hone_lint *ret;
    const char *scratch;
    const struct hone_target_traits *target; /* where the kernels run: cuda for packs of it alone */
    const char *tighter; /* of the short calibration: proposes tighter tolerances; NULL: does not */
};

static void find(struct work *w, const char *severity, const char *where, const char *fix,
                 const char *fmt, ...) HONE_PRINTF(5, 6);

static void find(struct work *w, const char *severity, const char *where, const char *fix,
                 const char *fmt, ...)
{
    if (w->ret->findings.n == MAX_FINDINGS)
        return;
    struct hone_buf buf = HONE_BUF_INIT;
    va_list args;
    va_start(args, fmt);
    hone_buf_vprintf(&buf, fmt, args);
    va_end(args);
    HONE_AUTOFREE char *message = hone_buf_steal(&buf);
    struct hone_lint_finding *all = w->ret->findings.v;
    all[w->ret->findings.n++] = (struct hone_lint_finding){
        .severity = severity,
        .where = hone_pool_strdup(w->pool, where),
        .message = hone_pool_strdup(w->pool, message),
        .fix = hone_pool_strdup(w->pool, fix),
    };
    if (strcmp(severity, "error") == 0)
        w->ret->is_admitted = false;
}

/* ---- static part ---- */

/* The word, not as part of a longer one. */
static const char *find_word(const char *text, const char *word)
{
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if (at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_'))
            return at + strlen(word);
    return NULL;
}

static void check_oracle(struct work *w)
{
    HONE_AUTOFREE char *text = NULL;
    struct hone_err err = HONE_ERR_INIT;
    const struct hone_task *task = w->task;
    if (hone_task_oracle_source(task, &text, &err) < 0) {
        find(w, "error", "oracle.c", "Write the reference: docs/tasks.md, \"The oracle\".", "%s",
             err.message);
        return;
    }
    const char *marker = strstr(text, HONE_LINT_FILL_IN);
    if (marker) {
        char where[48];
        snprintf(where, sizeof(where), "oracle.c:%d", hone_c_line_at(text, marker));
        find(w, "error", where, "Replace this line by the computation of one item.",
             "the reference is not written yet");
    }
    if (task->is_oracle_torch) { /* what it lacks shows when it is run below */
        find(w, "warning", "task.json: oracle.mode",
             "Read oracle.py as you would a reference; nothing else is held against it.",
             "the reference is a PyTorch module in float64, and says no scale of its own: errors "
             "are held against the root mean square, or against float32's own error where that is "
             "more");
        return;
    }
    if (task->is_oracle_naive_double) {
        bool is_own = task->is_oracle_own;
        find(w, "warning", "task.json: oracle.mode",
             is_own ? "Integers that a rounding decides leave no other; a kernel must round alike."
                    : "Write oracle.c with ITEM when the task will be ranked: a few lines, and "
                      "large sizes are sampled.",
             "the reference is the kernel itself in %s: a mistake in the kernel is a mistake in "
             "the reference too",
             is_own ? "its own types" : "double");
        if (!find_word(text, task->name))
            find(w, "error", "oracle.c", "Put the kernel's text into oracle.c.",
                 "does not define '%s'", task->name);
        return;
    }
    const char *const wanted[] = {task->steps ? "INIT(" : "ITEM(", task->steps ? "STEP(" : "ITEM("};
    for (size_t i = 0; i < HONE_COUNTOF(wanted); i++)
        if (!find_word(text, wanted[i]) && (i == 0 || wanted[0] != wanted[1]))
            find(w, "error", "oracle.c",
                 task->steps ? "An iterated task has INIT(item) {...} and STEP(item) {...}."
                             : "Write ITEM(item) {...}.",
                 "does not contain %sitem)", wanted[i]);
    for (size_t o = 0; o < task->n_outputs; o++) {
        const char *put = hone_pool_printf(w->pool, "PUT_%s(", task->outputs[o].name);
        const char *put_scaled = hone_pool_printf(w->pool, "PUT_SCALED_%s(", task->outputs[o].name);
        if (!find_word(text, put) && !find_word(text, put_scaled))
            find(w, "error", "oracle.c", "Emit every element of every output.",
                 "never writes output '%s' with %sindex, value)", task->outputs[o].name, put);
    }
    if (strstr(text, "#include"))
        find(w, "error", "oracle.c", "The preamble declares exp, log, sqrt and their like.",
             "#include is not part of the oracle's dialect");
}

static void check_naive(struct work *w)
{
    HONE_AUTOFREE char *text = NULL;
    struct hone_err err = HONE_ERR_INIT;
    if (w->target->has_device)
        return; /* check_cuda */
    if (hone_task_naive(w->task, "cpu", &text, &err) < 0) {
        find(w, "error", "kernels/naive.c", "Write the textbook loops as an ordinary candidate.",
             "%s", err.message);
        return;
    }
    if (!find_word(text, hone_pool_printf(w->pool, "%s(", w->task->name))) {
        HONE_AUTOFREE char *signature = hone_task_signature(w->task);
        find(w, "error", "kernels/naive.c", signature, "does not define '%s'", w->task->name);
    }
    if (strstr(text, HONE_LINT_FILL_IN))
        find(w, "error", "kernels/naive.c", "Write the kernel.", "the kernel is not written yet");
}

static bool is_axis_used(const struct hone_task *task, size_t a)
{
    for (size_t i = 0; i < task->n_inputs + task->n_outputs; i++) {
        const struct hone_tensor *t =
            i < task->n_inputs ? &task->inputs[i] : &task->outputs[i - task->n_inputs];
        for (size_t d = 0; d < t->rank; d++)
            if (t->shape[d] == (int)a)
                return true;
        if (i < task->n_inputs && t->bound_axis == (int)a)
            return true;
    }
    const char *name = task->axes[a].name;
    for (size_t k = a + 1; k < task->n_axes; k++)
        if (task->axes[k].expression && find_word(task->axes[k].expression, name))
            return true;
    for (size_t k = 0; k < task->n_constraints; k++)
        if (find_word(task->constraints[k], name))
            return true;
    return find_word(task->flops, name) || find_word(task->bytes, name) ||
           find_word(task->items, name) || (task->steps && find_word(task->steps, name));
}

static void check_axes(struct work *w)
{
    const struct hone_task *task = w->task;
    bool has_var = false;
    for (size_t a = 0; a < task->n_axes; a++) {
        const char *where = hone_pool_printf(w->pool, "task.json: axes.%s", task->axes[a].name);
        has_var = has_var || task->axes[a].kind == HONE_AXIS_VAR;
        if (!is_axis_used(task, a))
            find(w, "warning", where, "Remove it, or use it in a shape or in flops.",
                 "no shape, bound or formula uses it");
        if (task->axes[a].kind == HONE_AXIS_VAR && task->axes[a].draw_min == task->axes[a].draw_max)
            find(w, "warning", where, "Give a draw range of more than one size.",
                 "drawn sizes cannot differ: %lld only", (long long)task->axes[a].draw_min);
    }
    if (!has_var)
        find(w, "warning", "task.json: axes", "Make at least one axis var.",
             "every axis is fixed: a kernel written for this one size cannot be caught");
    if (task->n_workloads == 1)
        find(w, "note", "workloads.jsonl", "Two to four sizes are usual.",
             "one public size: the geometric mean is over one number");
}

static void check_tolerance(struct work *w)
{
    const struct hone_task *task = w->task;
    for (size_t o = 0; o < task->n_outputs; o++) {
        const struct hone_tolerance *tol = &task->tolerance[o];
        const char *where =
            hone_pool_printf(w->pool, "task.json: tolerance.%s", task->outputs[o].name);
        bool is_narrow =
            task->outputs[o].dtype == HONE_DTYPE_F16 || task->outputs[o].dtype == HONE_DTYPE_BF16;
        if (!hone_dtype_is_float(task->outputs[o].dtype))
            continue;
        if (tol->rtol == 0 && tol->atol == 0)
            find(w, "error", where, "Give rtol: a float result is never exact.",
                 "accepts exact results only");
        if (tol->rtol > (is_narrow ? 0.05 : 0.01))
            find(w, "warning", where, "Measure the honest error and allow two to five times that.",
                 "rtol %g is loose", tol->rtol);
        if (tol->atol > (is_narrow ? 1e-2 : 1e-4))
            find(w, "warning", where,
                 "Leave atol near 0 and let the oracle give a scale with PUT_SCALED "
                 "(docs/tasks.md).",
                 "atol %g accepts zeros where the data are small", tol->atol);
    }
}

/* Formulas at sizes nobody looked at. */
static void check_draws(struct work *w)
{
    const struct hone_task *task = w->task;
    const uint8_t key[16] = {'l', 'i', 'n', 't'};
    size_t n_new = 0;
    for (uint32_t i = 0; i < N_DRAWS; i++) {
        struct hone_workload load;
        struct hone_err err = HONE_ERR_INIT;
        if (hone_task_draw(task, key, i, &load, &err) < 0) {
            find(w, "error", "task.json", "Widen draw or relax the constraints.",
                 "drawing sizes: %s", err.message);
            return;
        }
        bool is_public = false;
        for (size_t k = 0; k < task->n_workloads; k++)
            is_public =
                is_public || memcmp(task->workloads[k].axes, load.axes, sizeof(load.axes)) == 0;
        n_new += !is_public;
    }
    if (n_new == 0)
        find(w, "warning", "task.json: axes", "Widen draw, or relax constraints and multiples.",
             "none of %d drawn sizes differs from the public ones", N_DRAWS);
}

/* The rest is about the sizes of the target whose kernels the lint runs: the CPU, or CUDA where the
 * pack has no other kernel. */
static void check_target(struct work *w)
{
    struct hone_err err = HONE_ERR_INIT;
    bool has_cpu = hone_task_has_kernel(w->task, HONE_TASK_CPU);
    bool has_cuda = hone_task_has_kernel(w->task, HONE_TASK_CUDA);
    w->target = &hone_targets[has_cpu || !has_cuda ? HONE_TASK_CPU : HONE_TASK_CUDA];
    for (size_t i = 0; i < w->task->n_workloads && !has_cpu && has_cuda; i++)
        if (w->task->workloads[i].target && strcmp(w->task->workloads[i].target, "cpu") == 0) {
            find(w, "error", "kernels/naive.c",
                 "Write the textbook loops as an ordinary candidate, or take its sizes out.",
                 "workload '%s' is for cpu, and there are no kernels for cpu: no naive.c",
                 w->task->workloads[i].id);
            break;
        }
    if ((has_cpu || has_cuda) && hone_task_select(w->task, w->target->name, &err) < 0)
        find(w, "error", "workloads.jsonl",
             has_cpu ? "Give sizes for cpu too: the lint runs its kernels."
                     : "Give sizes for cuda.",
             "%s", err.message);
}

/* A pack for CUDA: what can be seen without a GPU. */
static void check_cuda(struct work *w)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    const char *target = hone_targets[HONE_TASK_CUDA].name;
    HONE_AUTOFREE char *text = NULL, *signature = hone_task_signature_for(w->task, target);
    struct hone_err err = HONE_ERR_INIT;
    struct hone_task *cpu = w->task;
    bool has_sizes = false;
    if (hone_task_load(cpu->dir, &task, &err) < 0)
        return; /* it loaded a moment ago: the next user says what happened to it */
    for (size_t i = 0; i < task->n_workloads; i++)
        has_sizes = has_sizes ||
                    (task->workloads[i].target && strcmp(task->workloads[i].target, target) == 0);
    if (!has_sizes && !hone_task_has_kernel(cpu, HONE_TASK_CUDA))
        return;
    if (hone_task_select(task, target, &err) < 0 || hone_task_naive(cpu, target, &text, &err) < 0) {
        find(w, "error", "kernels/naive.cu",
             "Kernel and workloads of target cuda go together: give both or neither.", "%s",
             err.message);
        return;
    }
    if (!find_word(text, hone_pool_printf(w->pool, "%s(", cpu->name)) ||
        !strstr(text, "extern \"C\""))
        find(w, "error", "kernels/naive.cu", signature, "does not define '%s' as extern \"C\"",
             cpu->name);
    w->task = task;
    check_draws(w);
    w->task = cpu;
}

static void check_static(struct work *w)
{
    check_naive(w);
    check_oracle(w);
    check_axes(w);
    check_tolerance(w);
    check_draws(w);
    check_cuda(w);
}

/* ---- the bad kernels ---- */

static int write_call(struct work *w, const char *dir, const char *source,
                      const struct hone_job *job, struct hone_err *err)
{
    const char *open_dir = hone_pool_printf(w->pool, "%s/open", dir);
    const char *sealed_dir = hone_pool_printf(w->pool, "%s/sealed", dir);
    const char *source_path =
        hone_pool_printf(w->pool, "%s/candidate.%s", open_dir, w->target->extension);
    const char *job_path = hone_pool_printf(w->pool, "%s/job.json", dir);
    HONE_AUTOFREE char *text = hone_job_print(job);
    int code = hone_mkdirs(open_dir, 0700, err);
    if (code == 0)
        code = hone_mkdirs(sealed_dir, 0700, err);
    if (code == 0)
        code = hone_file_write(source_path, source, strlen(source), 0600, false, err);
    return code == 0 ? hone_file_write(job_path, text, strlen(text), 0600, false, err) : code;
}

static struct hone_json *last_size(const struct hone_task *task)
{
    struct hone_json *axes = hone_json_new_object();
    for (size_t a = 0; a < task->n_axes; a++)
        if (task->axes[a].kind == HONE_AXIS_VAR)
            hone_json_set_i64(axes, task->axes[a].name,
                              task->workloads[task->n_workloads - 1].axes[a]);
    return axes;
}

static const char *objects_dir(struct work *w)
{
    const char *kept = w->options->scope.objects_dir;
    return kept ? kept : hone_pool_printf(w->pool, "%s/objects", w->scratch);
}

static int run_source(struct work *w, const char *name, const char *source, struct hone_report *ret,
                      struct hone_err *err)
{
    const char *stage_names[] = {"build", "smoke", "verify"};
    const char *timed_names[] = {"build", "verify", "run"};
    const struct hone_lint_options *opt = w->options;
    HONE_AUTOJSON struct hone_json *axes = opt->scope.is_baseline_alone ? last_size(w->task) : NULL;
    const char *dir = hone_pool_printf(w->pool, "%s/%s", w->scratch, name);
    struct hone_arm arm = {.name = "candidate",
                           .source =
                               hone_pool_printf(w->pool, "candidate.%s", w->target->extension)};
    struct hone_job job = {
        .format = HONE_JOB_FORMAT,
        .id = hone_pool_printf(w->pool, "lint-%s", name),
        .target = w->target->name,
        .tier = axes ? HONE_TIER_SCREEN : HONE_TIER_DECIDE,
        .stages = {axes ? timed_names : stage_names, HONE_COUNTOF(stage_names)},
        .axes = axes,
        .task_dir = w->task->dir,
        .task_hash = w->task->hash,
        .arms = {&arm, 1},
        .timeout_ms = JOB_TIMEOUT_MS,
        .call_timeout_ms = CALL_TIMEOUT_MS,
        .budget_ms = 1000,
        .memory_bytes = w->target->has_device ? 0 : JAIL_BYTES,
        .jail = "auto",
        .allow_weak_jail = opt->allow_weak_jail,
        .cache_dir = objects_dir(w),
    };
    int code = hone_mkdirs(job.cache_dir, 0700, err);
    if (code == 0)
        code = write_call(w, dir, source, &job, err);
    if (code == 0)
        code = opt->executor->run(opt->executor->cookie, dir, &job, NULL, NULL, opt->cancel,
                                  w->pool, ret, err);
    if (code == 0 && !opt->keep_calls)
        code = hone_remove_tree(dir, err);
    return code;
}

static const struct hone_reason_row *row_of(const struct hone_report *report)
{
    return hone_reason_row(report->reason);
}

static void add_trial(struct work *w, const char *kernel, const char *meaning,
                      const struct hone_report *report, bool is_as_wanted)
{
    struct hone_lint_trial *all = w->ret->trials.v;
    if (w->ret->trials.n == MAX_TRIALS)
        return;
    const struct hone_reason_row *row = row_of(report);
    all[w->ret->trials.n++] = (struct hone_lint_trial){
        .kernel = kernel,
        .meaning = meaning,
        .reason = row->word,
        .verdict = hone_verdict_name(row->verdict),
        .summary = report->summary ? report->summary : "",
        .is_as_wanted = is_as_wanted,
    };
}

/* What the first failed check or compiler message says. */
static const char *detail_of(struct work *w, const struct hone_report *report)
{
    const struct hone_check_report *checks = report->checks.v;
    for (size_t i = 0; i < report->checks.n; i++)
        if (checks[i].n_bad > 0 && checks[i].detail)
            return hone_pool_printf(
                w->pool, " (%s %s %s: %s)", checks[i].name ? checks[i].name : "",
                checks[i].workload ? checks[i].workload : "",
                checks[i].distribution ? checks[i].distribution : "", checks[i].detail);
    const struct hone_diagnostic *d = report->build ? report->build->diagnostics.v : NULL;
    if (d && report->build->diagnostics.n > 0)
        return hone_pool_printf(w->pool, " (line %lld: %s)", (long long)d->line,
                                d->message ? d->message : "");
    return "";
}

/* Are there wrong values, and all of them near? An error of rounding in a long sum moves the whole
 * output by less than this; one element of 100,000 that is wrong altogether moves it by more. */
static bool is_near(const struct hone_report *report)
{
    static const double most = 1e-3;
    const struct hone_check_report *checks = report->checks.v;
    if (report->reason != HONE_REASON_WRONG_VALUE)
        return false;
    for (size_t i = 0; i < report->checks.n; i++) {
        double error = isnan(checks[i].rel_l2) ? checks[i].max_rel_err : checks[i].rel_l2;
        if (checks[i].n_bad > 0 && !(error <= most))
            return false;
    }
    return true;
}

/* What to do about a baseline that is refused. */
static const char *naive_fix(enum hone_reason reason)
{
    static const struct {
        enum hone_reason reason;
        const char *fix;
    } rows[] = {
        {HONE_REASON_UNWRITTEN,
         "It leaves elements of an output as they were. Where that is meant, the output's old "
         "content is an input too: hone task new --inout NAME. Where the output is shorter, give "
         "its size as a formula: --shape 'out[n - 2]'."},
        {HONE_REASON_OUT_OF_BOUNDS, LEGAL_SIZES_FIX},
        {HONE_REASON_CRASH, LEGAL_SIZES_FIX},
        {HONE_REASON_NONFINITE, HONE_NONFINITE_FIX},
        {HONE_REASON_WRONG_VALUE,
         "Kernel and oracle disagree, or the tolerance is too tight: hone task calibrate measures "
         "what honest kernels err by. A size that never occurs: --constraint 'm <= 8192'."},
        {HONE_REASON_COMPILE, "kernels/naive.c has to compile alone, with gcc -std=gnu17; naive.cu "
                              "with NVRTC."},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (rows[i].reason == reason)
            return rows[i].fix;
    return "Kernel and oracle disagree, or the tolerance is too tight.";
}

/* Nothing measures a tolerance on a device: what is left is to give it, or a reference with a
 * scale. */
static const char *cuda_fix(struct work *w)
{
    size_t o = 0;
    while (o + 1 < w->task->n_outputs && !hone_dtype_is_float(w->task->outputs[o].dtype))
        o++;
    return hone_pool_printf(
        w->pool,
        "Kernel and oracle disagree, or the tolerance is too tight: hone task new --tolerance "
        "%s=RTOL,ATOL gives another. Where things cancel, none helps: the reference has to say how "
        "large they were. Write that into a file, each output with its PUT, and give it with hone "
        "task new "
        "--reference FILE.c:\n%s",
        w->task->outputs[o].name, hone_calibrate_item(w->task, o, w->pool));
}

/* What the baseline takes. Nothing where it is not right, or where the target's runs are not timed.
 */
static void note_times(struct hone_lint *ret, const struct hone_report *report)
{
    static const char *const parts[] = {"verify.content", "verify.call", "verify.oracle"};
    const struct hone_workload_report *load = report->workloads.v;
    const struct hone_stage_report *stages = report->stages.v;
    double sum = 0;
    for (size_t i = 0; i < report->stages.n; i++)
        for (size_t k = 0; k < HONE_COUNTOF(parts); k++)
            if (strcmp(stages[i].name, parts[k]) == 0)
                sum += (double)stages[i].wall_ns;
    if (report->workloads.n == 0 || load->times.n == 0 || report->checks.n == 0)
        return;
    ret->call_ns = ((const struct hone_arm_time *)load->times.v)->min_ns; /* others only add */
    ret->check_ns = sum / (double)report->checks.n;
}

static int try_naive(struct work *w, const char *naive, bool *ret_passed, bool *ret_is_off,
                     struct hone_err *err)
{
    struct hone_report report = {.reason = HONE_REASON_NONE};
    int code = run_source(w, "naive", naive, &report, err);
    if (code < 0)
        return code;
    const struct hone_reason_row *row = row_of(&report);
    *ret_passed = row->verdict == HONE_VERDICT_CORRECT;
    *ret_is_off = row->verdict == HONE_VERDICT_INCORRECT && report.reason != HONE_REASON_UNWRITTEN;
    add_trial(w, "naive", "the baseline", &report, *ret_passed);
    if (row->verdict == HONE_VERDICT_INVALID || row->verdict == HONE_VERDICT_INFRA)
        find(w, "error", "kernel naive",
             row->verdict == HONE_VERDICT_INVALID
                 ? "Often oracle.c does not compile: see the message."
                 : "hone doctor tells what this machine lacks.",
             "could not be judged: %s: %s%s", row->word,
             report.summary ? report.summary : row->meaning, detail_of(w, &report));
    else if (!*ret_passed)
        find(w, "error", "kernel naive",
             w->target->has_device && report.reason == HONE_REASON_WRONG_VALUE
                 ? cuda_fix(w)
                 : naive_fix(report.reason),
             "is refused: %s%s", row->word, detail_of(w, &report));
    note_times(w->ret, &report);
    w->ret->is_near = is_near(&report);
    w->ret->is_unbuilt =
        report.reason == HONE_REASON_COMPILE || report.reason == HONE_REASON_COMPILE_TIMEOUT ||
        report.reason == HONE_REASON_LINK || report.reason == HONE_REASON_NO_SYMBOL;
    return 0;
}

/* For a bad kernel that passes: the tighter tolerance that was measured, else the text. */
static const char *tighten_fix(const struct work *w, const char *text)
{
    return w->tighter ? w->tighter : text;
}

static int try_bad(struct work *w, const struct hone_bad_kernel *bad, const char *naive,
                   struct hone_err *err)
{
    HONE_AUTOFREE char *source = bad->make(w->task, naive);
    const char *where = hone_pool_printf(w->pool, "kernel %s", bad->name);
    if (!source)
        return 0;
    struct hone_report report = {.reason = HONE_REASON_NONE};
    int code = run_source(w, bad->name, source, &report, err);
    if (code < 0)
        return code;
    const struct hone_reason_row *row = row_of(&report);
    bool passed = row->verdict == HONE_VERDICT_CORRECT;
    bool is_exact = !hone_task_has_float_output(w->task);
    bool may_pass = bad->is_lower_precision && (w->task->allows_lower_precision || is_exact);
    bool is_refused =
        row->verdict == HONE_VERDICT_INCORRECT || row->verdict == HONE_VERDICT_SUSPICIOUS;
    add_trial(w, bad->name, bad->meaning, &report, is_refused || (passed && may_pass));
    if (passed && may_pass)
        find(w, "note", where, "", "passes, %s: it %s",
             is_exact ? "and every output is an integer" : "as the task allows", bad->meaning);
    else if (passed && bad->is_lower_precision)
        find(w, "error", where,
             tighten_fix(w, "Tighten the tolerance, or set allow_lower_precision when no check can "
                            "tell the difference."),
             "passes: it %s", bad->meaning);
    else if (passed)
        find(w, "error", where,
             bad->fix ? bad->fix
                      : tighten_fix(w, "Tighten the tolerance (rtol, atol near 0), or choose roles "
                                       "whose answer is not trivial."),
             "passes: it %s", bad->meaning);
    else if (!is_refused)
        find(w, "error", where, "The lint itself failed here: look at the call folder.",
             "could not be judged: %s: %s%s", row->word,
             report.summary ? report.summary : row->meaning, detail_of(w, &report));
    return 0;
}

static int try_moved(struct work *w, const char *naive, int draw, struct hone_err *err)
{
    HONE_AUTOFREE char *source = hone_moved_kernel(w->task, naive, draw);
    struct hone_report report = {.reason = HONE_REASON_NONE};
    int code = source ? run_source(w, "moved", source, &report, err) : 0;
    w->ret->is_moved = code == 0 && row_of(&report)->verdict == HONE_VERDICT_INCORRECT;
    return code;
}

/* What the calibration would set; instead: where it proposes nothing. */
static const char *proposed_fix(struct work *w, const struct hone_calibrate *calibrate,
                                const char *instead)
{
    const char *proposal = hone_calibrate_proposal(w->task, calibrate, w->pool);
    return proposal == NULL ? instead
                            : hone_pool_printf(w->pool,
                                               "A short calibration proposes %s (--tolerance); "
                                               "hone task calibrate --write measures longer and "
                                               "sets it.",
                                               proposal);
}

static void note_tighter(struct work *w, const struct hone_calibrate *calibrate)
{
    const struct hone_calibrate_tolerance *all = calibrate->tolerances.v;
    for (size_t o = 0; o < calibrate->tolerances.n && !w->tighter; o++)
        if (all[o].rtol < all[o].now_rtol)
            w->tighter = proposed_fix(w, calibrate, NULL);
}

/* An output whose tolerance refuses honest kernels. */
static void find_noise(struct work *w, const struct hone_calibrate *calibrate, size_t output)
{
    const char *noise = hone_calibrate_noise(calibrate, output, w->pool);
    bool is_odd = noise != NULL && hone_calibrate_errs_on_structure(w->task, calibrate, output);
    if (noise != NULL)
        find(w, is_odd ? "warning" : "error", "kernel naive",
             calibrate->is_flushed ? HONE_CALIBRATE_FLUSHED
             : is_odd              ? HONE_CALIBRATE_STRUCTURE
             : calibrate->is_fit
                 ? proposed_fix(w, calibrate, "hone task calibrate --write sets what was measured.")
                 : hone_calibrate_advice(w->task, output, w->pool),
             "%s", noise);
}

/* The trivial answers that need no kernel: the gate of `hone task calibrate`, with the tolerance
 * that is there. */
static int try_answers(struct work *w, struct hone_err *err)
{
    static const char meaning[] = "zeros, ones, the mean, each input, the next lower precision";
    const char *dir = hone_pool_printf(w->pool, "%s/answers", w->scratch);
    const struct hone_calibrate_options options = {
        .executor = w->options->executor,
        .target = "cpu",
        .scratch_dir = dir,
        .objects_dir = objects_dir(w),
        .allow_weak_jail = w->options->allow_weak_jail,
        .budget_ms = ANSWERS_MS,
        .cancel = w->options->cancel,
    };
    struct hone_calibrate calibrate = {.is_fit_now = false};
    struct hone_err why = HONE_ERR_INIT;
    int code = hone_calibrate(w->task, &options, w->pool, &calibrate, &why);
    if (code == HONE_E_CANCEL || code == HONE_E_IO)
        return hone_fail(err, (enum hone_code)code, "%s", why.message);
    const struct hone_report report = {.reason = code < 0               ? HONE_REASON_INFRA
                                                 : calibrate.is_fit_now ? HONE_REASON_WRONG_VALUE
                                                                        : HONE_REASON_CORRECT};
    add_trial(w, "answers", meaning, &report, code == 0 && calibrate.is_fit_now);
    w->ret->is_flushed = code == 0 && calibrate.is_flushed;
    for (size_t o = 0; code == 0 && o < calibrate.tolerances.n; o++)
        find_noise(w, &calibrate, o);
    if (code < 0)
        find(w, "error", "kernel answers", "hone task calibrate shows more.",
             "could not be judged: %s", why.message);
    if (code == 0)
        note_tighter(w, &calibrate);
    if (code == 0 && (!calibrate.is_fit_now || !calibrate.is_honest_now) && !calibrate.is_flushed)
        w->ret->proposed = hone_calibrate_proposal(w->task, &calibrate, w->pool);
    const struct hone_calibrate_answer *all = calibrate.answers.v;
    for (size_t i = 0; i < calibrate.answers.n; i++)
        if (all[i].is_refused_now)
            find(w, "error", "kernel answers",
                 calibrate.is_fit
                     ? proposed_fix(w, &calibrate, "hone task calibrate proposes a tolerance.")
                     : calibrate.advice,
                 "%s", hone_calibrate_refusal(&calibrate, &all[i], true, w->pool));
    if (!w->options->keep_calls)
        hone_remove_tree(dir, NULL);
    return 0;
}

static void report_progress(const struct work *w, const char *kernel, size_t done)
{
    if (!w->options->on_progress)
        return;
    double total = (double)hone_n_bad_kernels + 1;
    struct hone_progress progress = {.message = kernel, .done = (double)done, .total = total};
    w->options->on_progress(w->options->progress_arg, &progress);
}

static int try_kernels(struct work *w, struct hone_err *err)
{
    HONE_AUTOFREE char *naive = NULL;
    bool passed = false, is_off = false; /* off: it ran, and its values are not the oracle's */
    bool is_cuda = w->target->has_device;
    const struct hone_lint_scope *scope = &w->options->scope;
    const struct hone_bad_kernel *bad = is_cuda ? hone_bad_cuda_kernels : hone_bad_kernels;
    size_t n_bad = is_cuda ? hone_n_bad_cuda_kernels : hone_n_bad_kernels;
    int code = hone_task_naive(w->task, w->target->name, &naive, err);
    report_progress(w, "naive", 0);
    if (code == 0)
        code = try_naive(w, naive, &passed, &is_off, err);
    w->ret->was_run = code == 0;
    if (code < 0 || scope->is_baseline_alone || (scope->ends_near && w->ret->is_near))
        return code;
    if ((passed || is_off) && !is_cuda) /* hone calibrate has no stage for cuda */
        code = try_answers(w, err);
    if (scope->ends_flushed && w->ret->is_flushed)
        return code;
    for (size_t i = 0; code == 0 && passed && i < n_bad; i++) {
        report_progress(w, bad[i].name, i + 1);
        code = try_bad(w, &bad[i], naive, err);
    }
    for (int d = 0; d < 3 && code == 0 && passed && scope->tries_moved && !w->ret->is_moved; d++)
        code = try_moved(w, naive, d, err);
    return code;
}

static int run_kernels(struct work *w, struct hone_err *err)
{
    char own[] = "/tmp/hone-lint-XXXXXX";
    if (!w->options->scratch_dir && !mkdtemp(own))
        return hone_fail_errno(err, errno, "folder for the lint's calls");
    w->scratch = w->options->scratch_dir ? w->options->scratch_dir : hone_pool_strdup(w->pool, own);
    int code = try_kernels(w, err);
    if (!w->options->scratch_dir && !w->options->keep_calls)
        hone_remove_tree(w->scratch, NULL); /* an error that the caller already gets matters more */
    return code;
}

static int by_severity(const void *a, const void *b)
{
    static const char order[] = "ewn"; /* error, warning, note */
    const struct hone_lint_finding *x = a, *y = b;
    return (int)(strchr(order, x->severity[0]) - strchr(order, y->severity[0]));
}

int hone_lint_pack(const char *dir, const struct hone_lint_options *options, struct hone_pool *pool,
                   struct hone_lint *ret, struct hone_err *err)
{
    struct hone_lint lint = {.is_admitted = true};
    struct hone_lint_options none = {.executor = NULL};
    lint.findings.v = hone_pool_alloc(pool, MAX_FINDINGS * sizeof(struct hone_lint_finding));
    lint.trials.v = hone_pool_alloc(pool, MAX_TRIALS * sizeof(struct hone_lint_trial));
    struct work w = {.options = options ? options : &none, .pool = pool, .ret = &lint};
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    struct hone_err load_err = HONE_ERR_INIT;
    int code = 0;
    if (hone_task_load(dir, &task, &load_err) < 0) {
        find(&w, "error", load_err.path[0] ? load_err.path : dir, "docs/tasks.md is the format.",
             "%s", load_err.message);
    } else {
        w.task = task;
        check_target(&w);
        lint.task = hone_pool_strdup(pool, task->name);
        lint.hash = hone_pool_strdup(pool, task->hash);
        check_static(&w);
        if (w.options->executor &&
            lint.is_admitted) /* a pack with static errors would only repeat them slowly */
            code = run_kernels(&w, err);
    }
    if (code < 0)
        return code;
    qsort(lint.findings.v, lint.findings.n, sizeof(struct hone_lint_finding), by_severity);
    *ret = lint;
    return 0;
}

char *hone_lint_text(const struct hone_lint *lint)
{
    struct hone_buf buf = HONE_BUF_INIT;
    const struct hone_lint_trial *trials = lint->trials.v;
    const struct hone_lint_finding *findings = lint->findings.v;
    for (size_t i = 0; i < lint->trials.n; i++)
        hone_buf_printf(&buf, "%-4s %-16s %-16s %s\n", trials[i].is_as_wanted ? "ok" : "BAD",
                        trials[i].kernel, trials[i].reason, trials[i].meaning);
    for (size_t i = 0; i < lint->findings.n; i++) {
        hone_buf_printf(&buf, "%s: %s: %s\n", findings[i].severity, findings[i].where,
                        findings[i].message);
        if (findings[i].fix && findings[i].fix[0])
            hone_buf_printf(&buf, "    %s\n", findings[i].fix);
    }
    hone_buf_printf(&buf, "%s: %s%s\n", lint->task ? lint->task : "pack",
                    lint->is_admitted ? "admitted" : "not admitted",
                    lint->was_run ? "" : " (nothing was run: formulas and files only)");
    return hone_buf_steal(&buf);
}
