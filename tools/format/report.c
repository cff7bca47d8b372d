/* SPDX-License-Identifier: Apache-2.0 */
/* report.json by field tables (report.h), and the checks of what a runner claims: figures
 * finite and in range, words of the verdict table, intervals that hold their ratio, a claim
 * that its own doubts and sizes do not contradict. The server takes no report that fails one. */
#include "tools/format/report.h"

#include "tools/format/job.h"
#include "workspace/base/limits.h"

#include <math.h>
#include <string.h>

/* Rows that repeat: a short word, a line of text, a count, a time, a figure that may be missing
 * (NaN). */
#define WORD(type_, m_, ...)                                                                       \
    HONE_FIELD(type_, m_, .skip_empty = true, .max_len = HONE_LIMIT_WORD_BYTES, __VA_ARGS__)
#define LINE(type_, m_, ...)                                                                       \
    HONE_FIELD(type_, m_, .skip_empty = true, .max_len = HONE_LIMIT_LINE_BYTES, __VA_ARGS__)
#define COUNT(type_, m_, ...)                                                                      \
    HONE_FIELD(type_, m_, .min = 0, .max = INT64_MAX, .skip_empty = true, __VA_ARGS__)
#define TIME_NS(type_, m_, ...)                                                                    \
    HONE_FIELD(type_, m_, .min = 0, .max = TIME_MAX_NS, .skip_empty = true, .unit = "ns",          \
               __VA_ARGS__)
#define FIGURE(type_, m_, ...)                                                                     \
    HONE_FIELD(type_, m_, .min = 0, .max = INT64_MAX, .fallback_f64 = NAN, __VA_ARGS__)
#define ROWS(type_, m_, max_, elem_, table_, ...)                                                  \
    HONE_FIELD(type_, m_, .skip_empty = true, .max_len = (max_), HONE_OF(elem_, table_),           \
               __VA_ARGS__)

#define TIME_MAX_NS (7 * 24 * 3600 * 1000000000ll)
#define RATIO_MAX   1000000000

static const char *const stage_status[] = {"", "ok", "failed", "skipped", NULL};
static const char *const severities[] = {"", "error", "warning", "note", NULL};
static const char *const remark_kinds[] = {"", "vectorized", "missed", "note", NULL};
static const char *const ratio_words[] = {"faster", "same", "slower", "inconclusive", NULL};
static const char *const bounds[] = {"bytes", "flops", NULL};
static const char axes_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"integer\",\"string\"]}}";

const char *hone_severity_name(enum hone_severity severity)
{
    HONE_BUG_ON((size_t)severity >= HONE_COUNTOF(severities) - 1);
    return severities[severity];
}

const struct hone_field hone_stage_fields[HONE_STAGE_N_FIELDS] = {
    WORD(struct hone_stage_report, name, .required = true, .help = "Stage."),
    HONE_FIELD(struct hone_stage_report, status, .required = true, .choices = stage_status,
               .help = "How it ended."),
    TIME_NS(struct hone_stage_report, wall_ns, .help = "Wall time."),
};

const struct hone_field hone_review_fields[HONE_REVIEW_N_FIELDS] = {
    WORD(struct hone_review, rule, .required = true, .help = "What somebody should look at."),
    LINE(struct hone_review, evidence, .required = true, .help = "The values."),
    COUNT(struct hone_review, line, .help = "Source line; 0: none in particular."),
};

const struct hone_field hone_diagnostic_fields[HONE_DIAGNOSTIC_N_FIELDS] = {
    HONE_FIELD(struct hone_diagnostic, severity, .required = true, .choices = severities,
               .help = "How bad it is."),
    WORD(struct hone_diagnostic, arm, .help = "Which source."),
    COUNT(struct hone_diagnostic, line, .help = "Line, from 1."),
    COUNT(struct hone_diagnostic, column, .help = "Column, from 1."),
    LINE(struct hone_diagnostic, message, .required = true, .help = "The compiler's words."),
    LINE(struct hone_diagnostic, context, .help = "Up to three source lines."),
};

const struct hone_field hone_remark_fields[HONE_REMARK_N_FIELDS] = {
    COUNT(struct hone_remark, line, .help = "Line, from 1."),
    HONE_FIELD(struct hone_remark, kind, .required = true, .choices = remark_kinds,
               .help = "What the compiler did."),
    LINE(struct hone_remark, message, .required = true, .help = "The compiler's words."),
};

const struct hone_field hone_kernel_report_fields[HONE_KERNEL_REPORT_N_FIELDS] = {
    LINE(struct hone_kernel_report, name, .required = true,
         .help = "Kernel, with its template arguments."),
    COUNT(struct hone_kernel_report, registers, .help = "Registers of a thread."),
    COUNT(struct hone_kernel_report, shared_bytes, .unit = "bytes",
          .help = "Static shared memory of a block."),
    COUNT(struct hone_kernel_report, spill_store_bytes, .unit = "bytes",
          .help = "Registers written to local memory, of a thread."),
    COUNT(struct hone_kernel_report, spill_load_bytes, .unit = "bytes", .help = "And read again."),
    COUNT(struct hone_kernel_report, frame_bytes, .unit = "bytes", .help = "Stack of a thread."),
    COUNT(struct hone_kernel_report, max_threads,
          .help = "Threads of a block at most, where the source bounds them."),
    COUNT(struct hone_kernel_report, line, .help = "Line of the definition."),
};

static const struct hone_field build_fields[] = {
    WORD(struct hone_build_report, compiler, .help = "Name and version."),
    LINE(struct hone_build_report, command, .help = "As run, without folders."),
    HONE_FIELD(struct hone_build_report, is_cached, .help = "The object came from the cache."),
    TIME_NS(struct hone_build_report, wall_ns, .help = "Wall time."),
    COUNT(struct hone_build_report, object_bytes, .unit = "bytes", .help = "Size of the object."),
    WORD(struct hone_build_report, code,
         .help = "Word for the machine code: same code, same word."),
    ROWS(struct hone_build_report, diagnostics, HONE_LIMIT_DIAGNOSTICS, struct hone_diagnostic,
         hone_diagnostic_fields, .help = "Worst first."),
    HONE_FIELD(struct hone_build_report, log, .skip_empty = true, .max_len = HONE_LIMIT_LOG_BYTES,
               .help = "Compiler output, cut."),
    HONE_FIELD(struct hone_build_report, assembly, .skip_empty = true,
               .max_len = HONE_LIMIT_ASSEMBLY_BYTES, .help = "What was made of one kernel, cut."),
    LINE(struct hone_build_report, assembly_of, .help = "Its name."),
    LINE(struct hone_build_report, assembly_note, .help = "What else there is, or why not."),
    ROWS(struct hone_build_report, kernels, HONE_LIMIT_CUDA_KERNELS, struct hone_kernel_report,
         hone_kernel_report_fields, .help = "cuda: what the compiler made of each kernel."),
    HONE_FIELD(struct hone_build_report, plans, .skip_empty = true,
               .max_len = 2 * HONE_LIMIT_WORKLOADS,
               .help = "cuda: what the launcher does, per workload."),
    TIME_NS(struct hone_build_report, host_ns, .help = "cuda: host compiler."),
    TIME_NS(struct hone_build_report, device_ns,
            .help = "cuda: device compiler, at the same time."),
    TIME_NS(struct hone_build_report, record_ns, .help = "cuda: recording the launcher."),
    HONE_FIELD(struct hone_build_report, lane, .skip_empty = true, .max_len = HONE_LIMIT_WORD_BYTES,
               .help = "cuda: nvrtc or nvcc."),
    HONE_FIELD(struct hone_build_report, lane_note, .skip_empty = true,
               .max_len = HONE_LIMIT_LINE_BYTES, .help = "cuda: why nvcc."),
};

const struct hone_field hone_check_fields[HONE_CHECK_N_FIELDS] = {
    WORD(struct hone_check_report, name, .required = true, .help = "smoke, poison, verify, timed."),
    WORD(struct hone_check_report, workload, .help = "Workload id."),
    WORD(struct hone_check_report, distribution, .help = "How inputs were drawn."),
    COUNT(struct hone_check_report, n_elements, .help = "Output elements."),
    COUNT(struct hone_check_report, n_compared, .help = "Of them compared."),
    COUNT(struct hone_check_report, n_bad, .help = "Of them wrong."),
    HONE_FIELD(struct hone_check_report, max_abs_err, .fallback_f64 = NAN,
               .help = "Largest absolute error."),
    HONE_FIELD(struct hone_check_report, max_rel_err, .fallback_f64 = NAN,
               .help = "Largest relative error."),
    HONE_FIELD(struct hone_check_report, rel_l2, .fallback_f64 = NAN,
               .help = "Relative error in the 2-norm."),
    LINE(struct hone_check_report, detail, .help = "The first wrong element."),
};

static const struct hone_field time_fields[] = {
    WORD(struct hone_arm_time, arm, .required = true, .help = "Which source."),
    FIGURE(struct hone_arm_time, median_ns, .unit = "ns", .help = "One call, median."),
    FIGURE(struct hone_arm_time, min_ns, .unit = "ns", .help = "One call, least."),
    FIGURE(struct hone_arm_time, q1_ns, .unit = "ns", .help = "First quartile."),
    FIGURE(struct hone_arm_time, q3_ns, .unit = "ns", .help = "Third quartile."),
    FIGURE(struct hone_arm_time, cpu_ns, .unit = "ns", .help = "CPU time, all threads."),
    COUNT(struct hone_arm_time, n_samples, .help = "Timed blocks."),
    COUNT(struct hone_arm_time, n_batch, .help = "Calls in a block."),
};

const struct hone_field hone_ratio_fields[HONE_RATIO_N_FIELDS] = {
    WORD(struct hone_ratio, against, .required = true,
         .help = "baseline, parent; fast-math: the baseline's source with -ffast-math; "
                 "torch-eager, torch-compile: the module in torch."),
    HONE_FIELD(struct hone_ratio, ratio, .min = 0, .max = RATIO_MAX, .fallback_f64 = NAN,
               .help = "time(against) / time(candidate)."),
    HONE_FIELD(struct hone_ratio, low, .min = 0, .max = RATIO_MAX, .fallback_f64 = NAN,
               .help = "95 % interval, lower end."),
    HONE_FIELD(struct hone_ratio, high, .min = 0, .max = RATIO_MAX, .fallback_f64 = NAN,
               .help = "95 % interval, upper end."),
    FIGURE(struct hone_ratio, least_gain,
           .help = "Smallest gain that this run could tell from its own noise: 0.18 is 18 %."),
    COUNT(struct hone_ratio, n_pairs, .help = "Pairs of blocks."),
    HONE_FIELD(struct hone_ratio, word, .skip_empty = true, .choices = ratio_words,
               .help =
                   "faster: the whole interval lies above 1 + least_gain; slower: below 1 / (1 + "
                   "least_gain); same: within both, and narrow; else inconclusive."),
    LINE(struct hone_ratio, note,
         .help = "Of an inconclusive one, where the interval leaves 1 out: what is likely."),
};

static const struct hone_field arm_load_fields[] = {
    WORD(struct hone_arm_load, arm, .required = true, .help = "Which source."),
    FIGURE(struct hone_arm_load, busy, .help = "Busy threads: CPU time by wall time."),
    FIGURE(struct hone_arm_load, threads, .help = "Threads that want to run at a time."),
    FIGURE(struct hone_arm_load, slowdown, .help = "Times as long as on a quiet machine, at most."),
};

const struct hone_field hone_load_fields[HONE_LOAD_N_FIELDS] = {
    COUNT(struct hone_load_report, n_cores, .help = "Cores allowed to the judge."),
    HONE_FIELD(struct hone_load_report, is_known, .help = "The system says what others use."),
    FIGURE(struct hone_load_report, others, .help = "Cores that others used, mean."),
    FIGURE(struct hone_load_report, others_most, .help = "The same, worst quarter of a second."),
    FIGURE(struct hone_load_report, free_cores, .help = "Cores left."),
    FIGURE(struct hone_load_report, steal, .help = "Cores that the hypervisor took."),
    FIGURE(struct hone_load_report, throttled_percent, .unit = "%",
           .help = "Of the time, by the control group's quota."),
    ROWS(struct hone_load_report, arms, HONE_LIMIT_ARMS, struct hone_arm_load, arm_load_fields,
         .help = "Per source."),
};

static const struct hone_field workload_fields[] = {
    WORD(struct hone_workload_report, id, .required = true, .help = "Workload id."),
    HONE_FIELD(struct hone_workload_report, axes, .skip_empty = true, .json_schema = axes_schema,
               .help = "Value of every axis."),
    HONE_FIELD(struct hone_workload_report, is_hidden, .skip_empty = true,
               .help = "Drawn for this confirmation."),
    ROWS(struct hone_workload_report, times, HONE_LIMIT_TIMES, struct hone_arm_time, time_fields,
         .help = "Per source."),
    ROWS(struct hone_workload_report, ratios, HONE_LIMIT_TIMES, struct hone_ratio,
         hone_ratio_fields, .help = "Per other source."),
    FIGURE(struct hone_workload_report, bound_ns, .unit = "ns",
           .help = "Physics floor with measured ceilings."),
    FIGURE(struct hone_workload_report, bytes_ns, .unit = "ns",
           .help = "Of the floor, the moving of bytes alone."),
    FIGURE(struct hone_workload_report, flops_ns, .unit = "ns",
           .help = "Of the floor, the operations alone."),
    FIGURE(struct hone_workload_report, least_bytes, .unit = "bytes",
           .help = "That the task's formula counts."),
    FIGURE(struct hone_workload_report, least_flops,
           .help = "Operations that the task's formula counts."),
    HONE_FIELD(struct hone_workload_report, bound_by, .skip_empty = true, .choices = bounds,
               .help = "What the floor is made of."),
    FIGURE(struct hone_workload_report, percent_of_bound, .unit = "%",
           .help = "100 * bound / candidate."),
    FIGURE(struct hone_workload_report, steal_percent, .unit = "%",
           .help = "Time taken by the hypervisor."),
    HONE_FIELD_OBJ(struct hone_workload_report, load, hone_load_fields, .skip_empty = true,
                   .help = "What else the machine did meanwhile."),
};

static const struct hone_field axis_box_fields[] = {
    WORD(struct hone_axis_box, axis, .required = true, .help = "Axis."),
    COUNT(struct hone_axis_box, least, .help = "Least value that was checked."),
    COUNT(struct hone_axis_box, largest, .help = "Largest value that was checked."),
};

const struct hone_field hone_sizes_fields[HONE_SIZES_N_FIELDS] = {
    COUNT(struct hone_sizes_report, n_planned, .help = "Sizes that were to be checked."),
    COUNT(struct hone_sizes_report, n_checked, .help = "Sizes that were."),
    COUNT(struct hone_sizes_report, n_public, .help = "Public sizes of the task."),
    COUNT(struct hone_sizes_report, n_public_timed, .help = "Of them, timed."),
    COUNT(struct hone_sizes_report, n_hidden, .help = "Drawn sizes that were to be timed."),
    COUNT(struct hone_sizes_report, n_hidden_timed, .help = "Of them, timed."),
    LINE(struct hone_sizes_report, beyond, .help = "Checked beyond every public size."),
    ROWS(struct hone_sizes_report, box, HONE_LIMIT_AXES, struct hone_axis_box, axis_box_fields,
         .help = "Reach of the sizes that were checked, by axis."),
};

static const struct hone_field point_median_fields[] = {
    WORD(struct hone_point_median, workload, .required = true, .help = "Workload."),
    FIGURE(struct hone_point_median, median_ns, .unit = "ns", .help = "One call."),
};

const struct hone_field hone_point_report_fields[HONE_POINT_REPORT_N_FIELDS] = {
    HONE_FIELD(struct hone_point_report, tunables, .skip_empty = true,
               .max_len = HONE_LIMIT_TUNABLES, HONE_OF(struct hone_tunable, hone_tunable_fields),
               .help = "Values."),
    HONE_FIELD(struct hone_point_report, flags, .skip_empty = true, .max_len = HONE_LIMIT_FLAGS,
               .help = "Compiler options."),
    HONE_FIELD(struct hone_point_report, reason, .choices = hone_reason_choices, .required = true,
               .help = "How the point ended."),
    LINE(struct hone_point_report, detail, .help = "Of one that failed."),
    FIGURE(struct hone_point_report, median_ns, .unit = "ns", .help = "One call, geometric mean."),
    ROWS(struct hone_point_report, medians, HONE_LIMIT_WORKLOADS, struct hone_point_median,
         point_median_fields, .help = "By workload, where several were timed."),
    FIGURE(struct hone_point_report, ratio, .help = "Against the baseline."),
    FIGURE(struct hone_point_report, low, .help = "95 % interval, lower end."),
    FIGURE(struct hone_point_report, high, .help = "95 % interval, upper end."),
    WORD(struct hone_point_report, code, .help = "Word for the machine code."),
};

const struct hone_field hone_bottleneck_fields[HONE_BOTTLENECK_N_FIELDS] = {
    WORD(struct hone_bottleneck, class_name, .required = true, .help = "Bottleneck class."),
    FIGURE(struct hone_bottleneck, score, .help = "0 to 1."),
    LINE(struct hone_bottleneck, rule, .help = "The rule and the values that fired."),
    LINE(struct hone_bottleneck, advice, .help = "What usually helps."),
    COUNT(struct hone_bottleneck, line, .help = "Source line; 0: the whole kernel."),
};

const struct hone_field hone_counter_fields[HONE_COUNTER_N_FIELDS] = {
    WORD(struct hone_counter, name, .required = true, .help = "Counter."),
    HONE_FIELD(struct hone_counter, value, .fallback_f64 = NAN, .help = "Value."),
    WORD(struct hone_counter, unit, .help = "Unit."),
    WORD(struct hone_counter, group, .help = "Kind of figure; counters by tier."),
    LINE(struct hone_counter, kernel, .help = "Of this launch alone."),
    HONE_FIELD(struct hone_counter, parent_value, .fallback_f64 = NAN, .help = "In the parent."),
};

static const struct hone_field profile_fields[] = {
    HONE_FIELD(struct hone_profile_report, has_counters, .help = "Hardware counters were allowed."),
    LINE(struct hone_profile_report, counters_note, .help = "Why not, and the fix."),
    WORD(struct hone_profile_report, workload, .help = "The workload that was profiled."),
    LINE(struct hone_profile_report, timed, .help = "What its call_ns is of."),
    ROWS(struct hone_profile_report, counters, HONE_LIMIT_REPORT_ROWS, struct hone_counter,
         hone_counter_fields, .help = "Figures."),
    ROWS(struct hone_profile_report, remarks, HONE_LIMIT_REPORT_ROWS, struct hone_remark,
         hone_remark_fields, .help = "Compiler remarks by line."),
    ROWS(struct hone_profile_report, bottlenecks, HONE_LIMIT_REPORT_ROWS, struct hone_bottleneck,
         hone_bottleneck_fields, .help = "Worst first."),
};

static const struct hone_field machine_fields[] = {
    LINE(struct hone_machine_report, cpu, .help = "Processor."),
    HONE_FIELD(struct hone_machine_report, n_cores, .min = 0, .max = HONE_LIMIT_CORES,
               .help = "Cores."),
    FIGURE(struct hone_machine_report, copy_bytes_per_s, .unit = "bytes/s",
           .help = "Measured copy bandwidth, all cores."),
    FIGURE(struct hone_machine_report, flops_per_s, .unit = "flop/s",
           .help = "Measured arithmetic rate, all cores."),
    FIGURE(struct hone_machine_report, peak_flops_per_s, .unit = "flop/s",
           .help = "Best arithmetic rate."),
    LINE(struct hone_machine_report, flops_unit, .help = "What the arithmetic rate is of."),
};

static const struct hone_field rests_fields[] = {
    FIGURE(struct hone_rests_report, rms_error,
           .help = "Of the answers, in units of the tolerance."),
    FIGURE(struct hone_rests_report, worst_error, .help = "Of the worst element, likewise."),
    FIGURE(struct hone_rests_report, baseline_rms_error, .help = "The baseline's."),
    FIGURE(struct hone_rests_report, baseline_worst_error, .help = "The baseline's."),
    HONE_FIELD(struct hone_rests_report, has_units, .skip_empty = true,
               .help = "The code was read for units of lower precision."),
    HONE_FIELD(struct hone_rests_report, units, .skip_empty = true, .max_len = HONE_LIMIT_RESTS,
               .help = "Of lower precision than the task's: bf16, tf32 tensor cores."),
    HONE_FIELD(struct hone_rests_report, fast_math, .skip_empty = true, .max_len = HONE_LIMIT_RESTS,
               .help = "Where fast-math is asked for; none: nowhere that is seen."),
    LINE(struct hone_rests_report, flags, .help = "Optimisation options of the build."),
    HONE_FIELD(struct hone_rests_report, is_deterministic, .skip_empty = true,
               .help = "Equal bits were demanded of all calls and processes."),
    FIGURE(struct hone_rests_report, threads, .help = "Busy while it was timed."),
    FIGURE(struct hone_rests_report, baseline_threads, .help = "The baseline's."),
    COUNT(struct hone_rests_report, n_threads, .help = "That it was allowed."),
    COUNT(struct hone_rests_report, n_sizes, .help = "Different sizes that were checked."),
    COUNT(struct hone_rests_report, n_contents, .help = "Kinds of content that were checked."),
    WORD(struct hone_rests_report, bound_unit, .help = "The unit that the bound assumes."),
    HONE_FIELD(struct hone_rests_report, is_bound_counted, .skip_empty = true,
               .help = "By operations that were counted from the loops, not told by the task."),
    HONE_FIELD(struct hone_rests_report, copied, .skip_empty = true, .max_len = HONE_LIMIT_RESTS,
               .help = "In place in the user's function; copied before each call here, in the "
                       "baseline too."),
    HONE_FIELD(struct hone_rests_report, is_parents_code, .skip_empty = true,
               .help = "The machine code is the parent's."),
};

#define SUM(m_, help_)                                                                             \
    HONE_FIELD(struct hone_answer_report, m_, .fallback_f64 = NAN, .help = (help_))
/* An error where the size is 0 counts as 1e30 sizes: no bound. */
#define ERROR(m_, help_)                                                                           \
    HONE_FIELD(struct hone_noise_report, m_, .fallback_f64 = NAN, .help = (help_))
static const struct hone_field noise_fields[] = {
    WORD(struct hone_noise_report, arm, .required = true, .help = "Which honest kernel."),
    WORD(struct hone_noise_report, output, .required = true, .help = "Output."),
    WORD(struct hone_noise_report, distribution, .required = true,
         .help = "How inputs were drawn."),
    COUNT(struct hone_noise_report, n_calls, .help = "Contents, over all workloads."),
    COUNT(struct hone_noise_report, n_elements, .help = "Elements compared."),
    COUNT(struct hone_noise_report, n_hopeless, .help = "Of them wrong whatever the tolerance."),
    ERROR(p999, "99.9 % of the errors lie below, in sizes."),
    ERROR(worst, "Largest error, in sizes."),
    ERROR(rel_l2, "Worst relative error in the 2-norm."),
    ERROR(bias, "Worst mean signed error beyond chance."),
    WORD(struct hone_noise_report, workload, .help = "Where the largest error was."),
    HONE_FIELD(struct hone_noise_report, is_plain, .skip_empty = true,
               .help = "Content without structure."),
};

static const struct hone_field answer_fields[] = {
    WORD(struct hone_answer_report, answer, .required = true, .help = "Which trivial answer."),
    HONE_FIELD(struct hone_answer_report, is_lower, .skip_empty = true,
               .help = "Right but for its precision."),
    HONE_FIELD(struct hone_answer_report, is_public, .skip_empty = true, .help = "A public size."),
    HONE_FIELD(struct hone_answer_report, is_random, .skip_empty = true,
               .help = "Content that is no corner case."),
    WORD(struct hone_answer_report, workload, .required = true, .help = "Workload id."),
    WORD(struct hone_answer_report, distribution, .required = true,
         .help = "How inputs were drawn."),
    WORD(struct hone_answer_report, output, .required = true, .help = "Output."),
    COUNT(struct hone_answer_report, n_hopeless, .help = "Wrong whatever the tolerance."),
    COUNT(struct hone_answer_report, n, .help = "Elements compared."),
    COUNT(struct hone_answer_report, n_items, .help = "Items that they came from."),
    SUM(worst, "Largest error, in sizes."),
    SUM(err_squares, "Sum of the errors' squares."),
    SUM(ref_sum, "Sum of the reference."),
    SUM(ref_squares, "Sum of its squares."),
    SUM(size_squares, "Sum of the sizes' squares."),
    SUM(err_sum, "Sum of the errors."),
    SUM(toward_sum, "Sum of the errors in the reference's direction."),
    SUM(size_sum, "Sum of the sizes."),
    HONE_FIELD(struct hone_answer_report, is_plain, .skip_empty = true,
               .help = "Content without structure."),
};

static const struct hone_field calibration_fields[] = {
    LINE(struct hone_calibration_report, device, .help = "Where the kernels ran."),
    COUNT(struct hone_calibration_report, n_seeds, .help = "Contents a workload and distribution."),
    ROWS(struct hone_calibration_report, noise, HONE_LIMIT_REPORT_ROWS, struct hone_noise_report,
         noise_fields, .help = "Errors of honest kernels."),
    ROWS(struct hone_calibration_report, answers, HONE_LIMIT_ANSWER_ROWS, struct hone_answer_report,
         answer_fields, .help = "Answers that must not pass."),
};

static const struct hone_field earlier_fields[] = {
    WORD(struct hone_earlier, commit, .help = "Where it is recorded."),
    FIGURE(struct hone_earlier, ratio, .help = "Against the baseline."),
    FIGURE(struct hone_earlier, low, .help = "95 % interval, lower end."),
    FIGURE(struct hone_earlier, high, .help = "95 % interval, upper end."),
    HONE_FIELD(struct hone_earlier, is_contrary, .skip_empty = true,
               .help = "Its interval and this one exclude each other."),
};

const struct hone_field hone_confirmations_fields[HONE_CONFIRMATIONS_N_FIELDS] = {
    COUNT(struct hone_confirmations_report, n, .help = "Confirmations, this one included."),
    FIGURE(struct hone_confirmations_report, ratio, .help = "Of all."),
    FIGURE(struct hone_confirmations_report, low,
           .help = "Where another one is to be expected, lower end."),
    FIGURE(struct hone_confirmations_report, high,
           .help = "Where another one is to be expected, upper end."),
    ROWS(struct hone_confirmations_report, earlier, HONE_LIMIT_CONFIRMATIONS, struct hone_earlier,
         earlier_fields, .help = "Oldest first."),
};

static const struct hone_field left_out_fields[] = {
    WORD(struct hone_left_out_report, kind, .required = true, .help = "Kind of content."),
    LINE(struct hone_left_out_report, reason, .required = true, .help = "Why."),
};

static const struct hone_field contents_fields[] = {
    HONE_FIELD(struct hone_contents_report, compared, .skip_empty = true,
               .max_len = HONE_LIMIT_KINDS, .help = "Kinds of content that were compared."),
    ROWS(struct hone_contents_report, left_out, HONE_LIMIT_KINDS, struct hone_left_out_report,
         left_out_fields, .help = "Kinds that were left out, and why."),
};

const struct hone_field hone_report_fields[] = {
    HONE_FIELD(struct hone_report, format, .required = true, .min = HONE_REPORT_FORMAT,
               .max = HONE_REPORT_FORMAT, .help = "Version of this format."),
    WORD(struct hone_report, id, .help = "Name of the call."),
    WORD(struct hone_report, target, .help = "Where the kernel ran."),
    HONE_FIELD(struct hone_report, tier, .choices = hone_tier_choices,
               .help = "Effort: screen, decide or confirm."),
    HONE_FIELD(struct hone_report, reason, .required = true, .choices = hone_reason_choices,
               .help = "A reason of the verdict table."),
    HONE_FIELD(struct hone_report, verdict, .choices = hone_verdict_choices,
               .help = "Follows from the reason."),
    LINE(struct hone_report, summary, .help = "One line."),
    WORD(struct hone_report, jail, .help = "Rung that was used."),
    ROWS(struct hone_report, stages, HONE_LIMIT_STAGE_ROWS, struct hone_stage_report,
         hone_stage_fields, .help = "What was done."),
    HONE_FIELD_OBJ(struct hone_report, build, build_fields, .skip_empty = true,
                   .help = "Compiler."),
    HONE_FIELD_OBJ(struct hone_report, contents, contents_fields, .skip_empty = true,
                   .help = "What it was tested with."),
    ROWS(struct hone_report, checks, HONE_LIMIT_REPORT_ROWS, struct hone_check_report,
         hone_check_fields, .help = "Correctness checks."),
    ROWS(struct hone_report, workloads, 2 * HONE_LIMIT_WORKLOADS, struct hone_workload_report,
         workload_fields, .help = "Times."),
    ROWS(struct hone_report, ratios, HONE_LIMIT_TIMES, struct hone_ratio, hone_ratio_fields,
         .help = "Geometric mean over the workloads, per other source."),
    HONE_FIELD_OBJ(struct hone_report, sizes, hone_sizes_fields, .skip_empty = true,
                   .help = "What was to be checked and timed, and what was."),
    FIGURE(struct hone_report, worst_ratio, .help = "Least workload ratio against the baseline."),
    FIGURE(struct hone_report, percent_of_bound, .unit = "%", .help = "Geometric mean."),
    HONE_FIELD_OBJ(struct hone_report, load, hone_load_fields, .skip_empty = true,
                   .help = "What else the machine did while arms were timed."),
    ROWS(struct hone_report, points, HONE_LIMIT_TUNE_POINTS, struct hone_point_report,
         hone_point_report_fields, .help = "Settings of a sweep."),
    HONE_FIELD(struct hone_report, best_point, .min = -1, .max = HONE_LIMIT_TUNE_POINTS - 1,
               .fallback_i64 = -1, .help = "Index of the best setting; -1: none."),
    HONE_FIELD_OBJ(struct hone_report, profile, profile_fields, .skip_empty = true,
                   .help = "What limits it."),
    HONE_FIELD_OBJ(struct hone_report, machine, machine_fields, .skip_empty = true,
                   .help = "Where it ran."),
    HONE_FIELD_OBJ(struct hone_report, rests_on, rests_fields, .skip_empty = true,
                   .help = "What the result rests on."),
    HONE_FIELD_OBJ(struct hone_report, calibration, calibration_fields, .skip_empty = true,
                   .help = "Room for the task's tolerance."),
    HONE_FIELD(struct hone_report, warnings, .skip_empty = true, .max_len = 64,
               .help = "Things to know."),
    HONE_FIELD(struct hone_report, doubts, .skip_empty = true, .max_len = HONE_LIMIT_DOUBTS,
               .help = "Why the figure may not be claimed."),
    ROWS(struct hone_report, review, HONE_LIMIT_REVIEW_ROWS, struct hone_review, hone_review_fields,
         .help = "Things for a reader to look at; the verdict stands."),
    WORD(struct hone_report, samples, .help = "Content hash of the raw samples that were kept."),
    HONE_FIELD_OBJ(struct hone_report, confirmations, hone_confirmations_fields, .skip_empty = true,
                   .help = "With the earlier confirmations of the version."),
    HONE_FIELD(struct hone_report, output, .skip_empty = true, .max_len = HONE_LIMIT_LOG_BYTES,
               .help = "Outputs and the kernel's own stdout, cut."),
    TIME_NS(struct hone_report, wall_ns, .help = "Wall time of the job."),
};
const size_t hone_report_n_fields = HONE_COUNTOF(hone_report_fields);

/* JSON has no infinity, but 1e999 reads as one: refused wherever a figure stands. Depth is that of
 * the tables. */
static int check_figures(const void *object, const struct hone_field *fields, size_t n_fields,
                         struct hone_err *err)
{
    for (size_t i = 0; i < n_fields; i++) {
        const struct hone_field *field = &fields[i];
        const char *at = (const char *)object + field->offset;
        int rc = 0;

        if (field->type == HONE_FIELD_F64) {
            double value;
            memcpy(&value, at, sizeof(value));
            if (isinf(value))
                return hone_fail_at(err, HONE_E_ARG, field->name, "is not a finite number");
        } else if (field->type == HONE_FIELD_OBJECT) {
            const void *nested;
            memcpy(&nested, at, sizeof(nested));
            if (nested != NULL)
                rc = check_figures(nested, field->of, field->n_of, err);
        } else if (field->type == HONE_FIELD_ARRAY) {
            struct hone_array array;
            memcpy(&array, at, sizeof(array));
            for (size_t k = 0; k < array.n && rc == 0; k++)
                rc = check_figures((const char *)array.v + k * field->of_size, field->of,
                                   field->n_of, err);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int check_axes(const struct hone_report *report, struct hone_err *err)
{
    const struct hone_workload_report *workloads = report->workloads.v;

    for (size_t i = 0; i < report->workloads.n; i++) {
        const struct hone_json *axes = workloads[i].axes;
        if (axes == NULL)
            continue;
        if (hone_json_type(axes) != HONE_JSON_OBJECT || hone_json_size(axes) > HONE_LIMIT_AXES)
            return hone_fail_at(err, HONE_E_ARG, "workloads[].axes",
                                "must be an object of at most %d integers", HONE_LIMIT_AXES);
        for (const struct hone_json *axis = hone_json_first(axes); axis != NULL;
             axis = hone_json_next(axis)) {
            int64_t value;
            if (!hone_json_as_i64(axis, &value) ||
                strlen(hone_json_key(axis)) > HONE_LIMIT_NAME_BYTES)
                return hone_fail_at(err, HONE_E_ARG, "workloads[].axes", "must hold integers");
        }
    }
    return 0;
}

static int check_words(struct hone_report *report, struct hone_err *err)
{
    enum hone_verdict verdict = hone_reason_row(report->reason)->verdict;

    if (report->verdict != HONE_VERDICT_NONE && report->verdict != verdict)
        return hone_fail_at(err, HONE_E_ARG, "verdict", "'%.60s' does not follow from reason '%s'",
                            hone_verdict_name(report->verdict), hone_reason_name(report->reason));
    if (report->best_point >= (int64_t)report->points.n)
        return hone_fail_at(err, HONE_E_ARG, "best_point", "there are only %zu points",
                            report->points.n);
    report->verdict = verdict;
    return 0;
}

/* An interval that does not hold its own middle, or a claim that the interval does not carry, is a
 * lie. */
static int check_ratios(const struct hone_array *ratios, struct hone_err *err)
{
    const struct hone_ratio *r = ratios->v;

    for (size_t i = 0; i < ratios->n; i++) {
        if (isnan(r[i].ratio) || isnan(r[i].low) || isnan(r[i].high))
            continue;
        if (r[i].low > r[i].ratio || r[i].ratio > r[i].high)
            return hone_fail_at(err, HONE_E_ARG, "ratios[]",
                                "%g lies outside its interval [%g, %g]", r[i].ratio, r[i].low,
                                r[i].high);
    }
    return 0;
}

static int check_claim(const struct hone_report *report, struct hone_err *err)
{
    const struct hone_ratio *ratio = hone_report_ratio(report, "baseline");
    const struct hone_workload_report *workloads = report->workloads.v;
    bool is_claim = report->reason == HONE_REASON_FASTER;
    int rc = check_ratios(&report->ratios, err);

    for (size_t i = 0; i < report->workloads.n && rc == 0; i++)
        rc = check_ratios(&workloads[i].ratios, err);
    if (rc < 0)
        return rc;
    if (is_claim && (ratio == NULL || !(ratio->low > 1)))
        return hone_fail_at(err, HONE_E_ARG, "reason",
                            "faster needs an interval above 1 against the baseline");
    if (is_claim && report->tier == HONE_TIER_SCREEN)
        return hone_fail_at(err, HONE_E_ARG, "reason", "a screen may not say faster");
    return 0;
}

int hone_report_parse(const char *text, size_t len, struct hone_pool *pool, struct hone_report *ret,
                      struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_report report;
    int rc;

    if (len > HONE_LIMIT_REPORT_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "report.json is %zu bytes, at most %u are read", len,
                         HONE_LIMIT_REPORT_BYTES);
    rc = hone_json_parse(text, len, &json, err);
    if (rc < 0)
        return rc;
    rc = hone_fields_decode(json, hone_report_fields, hone_report_n_fields, &report, sizeof(report),
                            pool, err);
    if (rc == 0)
        rc = check_figures(&report, hone_report_fields, hone_report_n_fields, err);
    if (rc == 0)
        rc = check_axes(&report, err);
    if (rc == 0)
        rc = check_words(&report, err);
    if (rc == 0)
        rc = check_claim(&report, err);
    if (rc < 0)
        return rc;
    *ret = report;
    return 0;
}

/* An infinite error is possible (a kernel that overflowed) and JSON cannot say it: such a figure is
 * left out. */
static void drop_nulls(struct hone_json *value)
{
    struct hone_json *next;

    for (struct hone_json *child = hone_json_first(value); child != NULL; child = next) {
        next = hone_json_next(child);
        if (hone_json_key(child) != NULL && hone_json_type(child) == HONE_JSON_NULL)
            hone_json_free(hone_json_detach(value, hone_json_key(child)));
        else
            drop_nulls(child);
    }
}

char *hone_report_print(const struct hone_report *report)
{
    HONE_AUTOJSON struct hone_json *json =
        hone_fields_encode(report, hone_report_fields, hone_report_n_fields);

    drop_nulls(json);
    return hone_json_print(json);
}

double hone_workload_time_ns(const struct hone_workload_report *workload, const char *arm)
{
    const struct hone_arm_time *times = workload->times.v;

    for (size_t i = 0; i < workload->times.n; i++)
        if (strcmp(times[i].arm, arm) == 0)
            return times[i].median_ns;
    return (double)NAN;
}

const struct hone_ratio *hone_ratio_find(const struct hone_array *ratios, const char *against)
{
    const struct hone_ratio *r = ratios->v;

    for (size_t i = 0; i < ratios->n; i++)
        if (strcmp(r[i].against, against) == 0)
            return &r[i];
    return NULL;
}

const struct hone_field hone_yardstick_fields[HONE_YARDSTICK_N_FIELDS] = {
    WORD(struct hone_yardstick, name, .required = true,
         .help = "fast-math: the baseline's source with -ffast-math; torch-eager; torch-compile."),
    HONE_FIELD(struct hone_yardstick, ratio, .min = 0, .max = RATIO_MAX,
               .help = "time(yardstick) / time(this version): above 1 this version is faster."),
    HONE_FIELD(struct hone_yardstick, low, .min = 0, .max = RATIO_MAX,
               .help = "95 % interval, lower end."),
    HONE_FIELD(struct hone_yardstick, high, .min = 0, .max = RATIO_MAX, .help = "Upper end."),
};

struct hone_array hone_report_yardsticks(const struct hone_report *report, struct hone_pool *pool)
{
    static const char *const names[] = {HONE_ARM_FAST_MATH, HONE_ARM_TORCH_EAGER,
                                        HONE_ARM_TORCH_COMPILE};
    struct hone_yardstick *v = hone_pool_alloc(pool, HONE_COUNTOF(names) * sizeof *v);
    struct hone_array all = {.v = v};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        const struct hone_ratio *ratio = hone_report_ratio(report, names[i]);
        if (ratio != NULL && ratio->ratio > 0 && isfinite(ratio->low) && isfinite(ratio->high))
            v[all.n++] = (struct hone_yardstick){names[i], ratio->ratio, ratio->low, ratio->high};
    }
    return all;
}

struct hone_array hone_yardsticks_copy(const struct hone_array *from, struct hone_pool *pool)
{
    struct hone_yardstick *v = hone_pool_alloc(pool, (from->n + 1) * sizeof *v);
    for (size_t i = 0; i < from->n; i++) {
        v[i] = ((const struct hone_yardstick *)from->v)[i];
        v[i].name = hone_pool_strdup(pool, v[i].name);
    }
    return (struct hone_array){.v = v, .n = from->n};
}

const struct hone_ratio *hone_report_ratio(const struct hone_report *report, const char *against)
{
    return hone_ratio_find(&report->ratios, against);
}

bool hone_report_is_claim(const struct hone_report *report)
{
    return report->tier == HONE_TIER_CONFIRM && report->reason == HONE_REASON_FASTER;
}

bool hone_report_is_claimable(const struct hone_report *report)
{
    return hone_report_is_claim(report) && report->doubts.n == 0;
}
