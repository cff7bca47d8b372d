/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel_* tools share: arguments, result, and how much of a result is shown.
 *
 * All of them decode into one struct and encode out of one struct; each tool's tables pick the rows
 * that it has. */
#ifndef HONE_TOOLS_KERNEL_H
#define HONE_TOOLS_KERNEL_H

#include "tools/evaluate.h"
#include "tools/tools.h"
#include "workspace/history.h"
#include "workspace/task/target.h"

struct hone_kernel_in {
    const char *task, *target, *source, *commit, *parent, *detail;
    enum hone_tier tier;
    struct hone_strs flags, workloads, options;
    struct hone_json *tunables; /* {"TILE": 16} */
    struct hone_json *axes;     /* {"M": 3} */
    const char *strategy, *message, *why;
    const char *workload;
    const char *assembly, *kernel;
    int64_t n_threads, budget_ms, timeout_ms, call_timeout_ms, seed;
    bool fresh;
};

struct hone_workload_row {
    const char *id;
    struct hone_json *axes; /* borrowed from the report */
    bool is_hidden;
    double candidate_ns, baseline_ns, ratio, low, high, vs_parent, percent_of_bound, steal_percent;
    const char *bound_by;
};

struct hone_kernel_out {
    struct hone_head head;
    enum hone_tier tier;
    const char *task, *target, *jail, *device, *signature, *start;
    bool is_cached;
    struct hone_ratio *speedup, *vs_parent, *vs_fast_math; /* NULL: not measured */
    struct hone_array yardsticks;                          /* of struct hone_yardstick */
    struct hone_sizes_report *sizes;                       /* NULL: nothing was checked or timed */
    double time_ns, baseline_ns, worst_ratio, percent_of_bound; /* NaN: not measured */
    struct hone_confirmations_report *confirmations;            /* NULL: this is the only one */
    struct hone_load_report *load;                              /* NULL: others did little */
    struct hone_array workloads;                                /* of hone_workload_row */
    struct hone_array checks;                                   /* of hone_check_report */
    struct hone_array diagnostics;                              /* of hone_diagnostic */
    struct hone_array remarks, bottlenecks, counters, points, stages;
    struct hone_array kernels; /* of hone_kernel_report */
    struct hone_strs plans;
    const char *counters_note;
    const char *compiler, *command, *log, *output, *kept, *sweep, *patch;
    struct hone_json *claimable;         /* a boolean; NULL: not confirmed */
    const char *rests_on, *beyond_bound; /* tools/rests_text.h */
    const char *rests_short;             /* stands for rests_on where there is little room */
    const char *best_known;              /* tools/best_known.h */
    const char *lane, *lane_note;
    const char *assembly, *assembly_of, *assembly_note;
    double build_ms;
    int64_t object_bytes, n_settings, n_passed_checks, n_failed_checks;
    struct hone_strs warnings;
    struct hone_strs doubts;  /* why the figure may not be claimed */
    struct hone_array review; /* of hone_review */
    const char *dropped;      /* what was left out for size */
    const char *contents;     /* kinds of content of the checks, in words; NULL: none */
    const char *report;       /* content hash of the whole report */
};

extern const char *const hone_detail_choices[];
#define HONE_DETAIL_HELP "Under 1, 4 or 60 KB."
extern const char hone_tunables_schema[];

#define HONE_WORKLOAD_ROW_N_FIELDS 11
extern const struct hone_field hone_workload_row_fields[HONE_WORKLOAD_ROW_N_FIELDS];

/* clang-format off */
#define HONE_IN_(m_, ...) HONE_FIELD(struct hone_kernel_in, m_, __VA_ARGS__)
#define HONE_KERNEL_IN_SOURCE \
    HONE_IN_(task, .required = true, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Name."), \
    HONE_IN_(source, .max_len = HONE_LIMIT_SOURCE_BYTES, .help = "The kernel's whole text."), \
    HONE_IN_(commit, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Instead of source: a version, or baseline."), \
    HONE_IN_(target, .choices = hone_target_words, .help = "None: where the task can, cpu first."), \
    HONE_IN_(flags, .max_len = HONE_LIMIT_FLAGS, .help = "Compiler options: -ffast-math."), \
    HONE_IN_(tunables, .json_schema = hone_tunables_schema, .help = "Values, e.g. {\"TILE\": 16}."), \
    HONE_IN_(timeout_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms", .help = "0: default."), \
    HONE_IN_(fresh, .help = "Run again."), \
    HONE_IN_(detail, .fallback_str = "normal", .choices = hone_detail_choices, .help = HONE_DETAIL_HELP)
#define HONE_KERNEL_IN_WORKLOADS \
    HONE_IN_(workloads, .max_len = HONE_LIMIT_WORKLOADS, .help = "Ids; none: all public ones."), \
    HONE_IN_(n_threads, .min = 0, .max = HONE_LIMIT_CORES, .help = "0: all cores."), \
    HONE_IN_(call_timeout_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms", .help = "Of one call.")
#define HONE_KERNEL_IN_WORDS \
    HONE_IN_(parent, .max_len = HONE_LIMIT_NAME_BYTES, .help = "The version edited, or baseline."), \
    HONE_IN_(strategy, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Id, e.g. C08."), \
    HONE_IN_(message, .max_len = 200, .help = "Commit subject."), \
    HONE_IN_(why, .max_len = 4000, .help = "Why, and what is expected.")

#define HONE_KERNEL_IN_ASSEMBLY \
    HONE_IN_(assembly, .fallback_str = "none", .choices = hone_assembly_choices, .help = "Compiled text of one kernel."), \
    HONE_IN_(kernel, .max_len = HONE_LIMIT_WORD_BYTES, .help = "Whose text; none: the heaviest.")

#define HONE_KERNEL_IN_AXES \
    HONE_IN_(axes, .json_schema = "{\"type\":\"object\"}", .help = "One size, e.g. {\"M\": 3}: a failing case again.")

#define HONE_OUT_(m_, ...) HONE_FIELD(struct hone_kernel_out, m_, .skip_empty = true, __VA_ARGS__)
#define HONE_KERNEL_OUT_BASE \
    HONE_HEAD_FIELDS(struct hone_kernel_out), \
    HONE_OUT_(task, .help = "Task."), HONE_OUT_(target, .help = "Target."), \
    HONE_OUT_(tier, .choices = hone_tier_choices, .help = "Effort behind the verdict."), HONE_OUT_(jail, .help = "Rung of the jail."), \
    HONE_OUT_(device, .help = "Where it ran."), HONE_OUT_(is_cached, .help = "A known answer; nothing was run."), \
    HONE_OUT_(signature, .help = "What the source has to define."), \
    HONE_OUT_(diagnostics, HONE_OF(struct hone_diagnostic, hone_diagnostic_fields), .help = "Compiler messages, worst first."), \
    HONE_OUT_(compiler, .help = "Compiler."), HONE_OUT_(command, .help = "As run, without folders."), \
    HONE_OUT_(object_bytes, .unit = "bytes", .help = "Size of the object."), HONE_OUT_(build_ms, .unit = "ms", .help = "Compile time."), \
    HONE_OUT_(kernels, HONE_OF(struct hone_kernel_report, hone_kernel_report_fields), .help = "cuda: registers, shared memory and spills of each kernel."), \
    HONE_OUT_(plans, .help = "cuda: what the launcher does, per workload."), \
    HONE_OUT_(lane, .help = "cuda: the compilers, nvrtc with the host's, or nvcc."), \
    HONE_OUT_(lane_note, .help = "cuda: why nvcc."), \
    HONE_OUT_(stages, HONE_OF(struct hone_stage_report, hone_stage_fields), .help = "What was done."), \
    HONE_OUT_(review, HONE_OF(struct hone_review, hone_review_fields), .help = "For a reader to look at; the verdict stands."), \
    HONE_OUT_(warnings, .help = "Things to know."), HONE_OUT_(doubts, .help = "Why the figure may not be claimed."), HONE_OUT_(log, .help = "Compiler output, cut in the middle."), \
    HONE_OUT_(dropped, .help = "What was left out for size."), \
    HONE_OUT_(report, .help = "Content hash of the whole report.")
#define HONE_KERNEL_OUT_ASSEMBLY \
    HONE_OUT_(assembly, .help = "Instructions of one kernel under the source lines they come from; detail full shows most."), \
    HONE_OUT_(assembly_of, .help = "The kernel."), \
    HONE_OUT_(assembly_note, .help = "What other kernels there are; or why there is no text, and the fix.")
#define HONE_KERNEL_OUT_CHECKS \
    HONE_FIELD_OBJ(struct hone_kernel_out, sizes, hone_sizes_fields, .skip_empty = true, .help = "Sizes: planned, checked, timed; their reach by axis."), \
    HONE_OUT_(n_passed_checks, .help = "Checks that passed; detail full lists them."), \
    HONE_OUT_(n_failed_checks, .help = "Checks that failed."), \
    HONE_OUT_(contents, .help = "Kinds of content that inputs had."), \
    HONE_OUT_(checks, HONE_OF(struct hone_check_report, hone_check_fields), .help = "Correctness checks, failed ones first.")
#define HONE_KERNEL_OUT_TIMES \
    HONE_FIELD_OBJ(struct hone_kernel_out, speedup, hone_ratio_fields, .skip_empty = true, .help = "Against the baseline: above 1 is faster."), \
    HONE_FIELD_OBJ(struct hone_kernel_out, vs_parent, hone_ratio_fields, .skip_empty = true, .help = "Against the parent version."), \
    HONE_FIELD_OBJ(struct hone_kernel_out, vs_fast_math, hone_ratio_fields, .skip_empty = true, .help = "Against the baseline built with -ffast-math."), \
    HONE_OUT_(yardsticks, HONE_OF(struct hone_yardstick, hone_yardstick_fields), .help = "What else was timed in the same run."), \
    HONE_FIELD_OBJ(struct hone_kernel_out, confirmations, hone_confirmations_fields, .skip_empty = true, .help = "With the earlier confirmations of this version."), \
    HONE_FIELD_OBJ(struct hone_kernel_out, load, hone_load_fields, .skip_empty = true, .help = "What else the machine did; left out where that was little."), \
    HONE_OUT_(claimable, .json_schema = "{\"type\":\"boolean\"}", .help = "Of a confirmation: whether the figure may be claimed."), \
    HONE_OUT_(time_ns, .unit = "ns", .help = "One call, geometric mean over the workloads."), \
    HONE_OUT_(baseline_ns, .unit = "ns", .help = "The same of the baseline."), \
    HONE_OUT_(worst_ratio, .help = "Least speedup of a workload."), \
    HONE_OUT_(percent_of_bound, .unit = "%", .help = "Of what bytes and operations allow on this machine; at most 100."), \
    HONE_OUT_(beyond_bound, .help = "Better than the bound: the unit that the bound assumes, and the one used."), \
    HONE_OUT_(best_known, .help = "Of this task, where other versions were decided or confirmed: the fastest of the history on this device."), \
    HONE_OUT_(rests_on, .help = "What the figure rests on: fast-math, precision, accuracy beside the baseline's, threads, flags, sizes and contents, jail."), \
    HONE_OUT_(workloads, HONE_OF(struct hone_workload_row, hone_workload_row_fields), .help = "Per workload.")
#define HONE_KERNEL_OUT_PROFILE \
    HONE_OUT_(bottlenecks, HONE_OF(struct hone_bottleneck, hone_bottleneck_fields), .help = "What limits it, worst first."), \
    HONE_OUT_(counters, HONE_OF(struct hone_counter, hone_counter_fields), .help = "Figures behind it."), \
    HONE_OUT_(remarks, HONE_OF(struct hone_remark, hone_remark_fields), .help = "Compiler remarks by line."), \
    HONE_OUT_(counters_note, .help = "Why hardware counters are missing, and the fix.")
/* clang-format on */

/* A request made from a tool's arguments. */
struct hone_kernel_call {
    struct hone_task *task; /* owned: hone_kernel_call_done */
    struct hone_evaluation_request request;
};
void hone_kernel_call_done(struct hone_kernel_call *call);
/* Loads task and source and checks the arguments; request.source is NULL when neither
 * source nor commit was given. HONE_E_NOT_FOUND (task, commit), HONE_E_ARG (both source
 * and commit, tunables). */
int hone_kernel_call_init(struct hone_tool_ctx *ctx, const struct hone_kernel_in *in,
                          struct hone_kernel_call *ret, struct hone_err *err);
/* HONE_E_ARG unless there is a source. */
int hone_kernel_need_source(const struct hone_kernel_call *call, struct hone_err *err);
/* Runs the evaluation and fills the head and all parts of out that the report has; then shrinks it
 * to the budget of `detail`. */
int hone_kernel_answer(struct hone_tool_ctx *ctx, const struct hone_kernel_call *call,
                       const struct hone_tool *tool, const char *detail,
                       struct hone_kernel_out *out, struct hone_err *err);
/* The parts, for tools that do something between: head and parts; then shrinking. */
void hone_kernel_fill(struct hone_tool_ctx *ctx, const struct hone_evaluation *evaluation,
                      struct hone_kernel_out *out);
/* The summary, behind what found the version wrong where this evaluation did not; the pool's. */
const char *hone_kernel_refuted(const struct hone_evaluation *evaluation, const char *summary,
                                struct hone_pool *pool);
void hone_kernel_fit(struct hone_tool_ctx *ctx, const struct hone_field *fields, size_t n_fields,
                     const char *detail, struct hone_kernel_out *out);
/* A workload's ratio as it is shown; NaN where its interval is too wide to be one figure. */
double hone_shown_ratio(const struct hone_ratio *ratio);
/* The load beside the timing, a copy; NULL: others did little. */
struct hone_load_report *hone_shown_load(const struct hone_report *report, struct hone_pool *pool);
/* Bytes that a result of this detail may have. */
size_t hone_detail_budget(const char *detail);
/* Rounds every figure to three or four digits, in place. The struct and what hangs off it must be this
 * call's own. */
void hone_figures_round(void *object, const struct hone_field *fields, size_t n_fields);
/* Length of the result as it will be sent. */
size_t hone_result_bytes(const void *out, const struct hone_field *fields, size_t n_fields);

#endif
