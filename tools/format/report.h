/* SPDX-License-Identifier: Apache-2.0 */
/* report.json: what the runner says of one call. The judge fills the struct and prints it, tools and
 * the search read it. The server never trusts the file: hone_report_parse checks every member.
 *
 * Strings and arrays live in the pool of the caller who made the report. Units are in the names; a ratio is
 * time(other arm) / time(candidate). Plain data; any thread. */
#ifndef HONE_FORMAT_REPORT_H
#define HONE_FORMAT_REPORT_H

#include "workspace/base/fields.h"
#include "tools/format/verdict.h"

#define HONE_REPORT_FORMAT 1
#define HONE_SAMPLES_FILE  "samples.json" /* in sealed/: seed and raw samples of a timed call */

/* Value 0 of these three is "not said": no field writes or accepts it (verdict.h). */
enum hone_stage_status { HONE_STAGE_NONE, HONE_STAGE_OK, HONE_STAGE_FAILED, HONE_STAGE_SKIPPED };
enum hone_severity {
    HONE_SEVERITY_NONE,
    HONE_SEVERITY_ERROR,
    HONE_SEVERITY_WARNING,
    HONE_SEVERITY_NOTE
};
enum hone_remark_kind {
    HONE_REMARK_NONE,
    HONE_REMARK_VECTORIZED,
    HONE_REMARK_MISSED,
    HONE_REMARK_NOTE
};
const char *hone_severity_name(enum hone_severity severity); /* "error" */

struct hone_stage_report {
    const char *name;
    enum hone_stage_status status;
    int64_t wall_ns;
};

struct hone_diagnostic {
    enum hone_severity severity;
    const char *arm;
    int64_t line, column;
    const char *message;
    const char *context; /* up to three source lines */
};

struct hone_remark {
    int64_t line;
    enum hone_remark_kind kind;
    const char *message;
};

struct hone_kernel_report { /* cuda: one kernel of the object, as the compiler made it */
    const char *name;       /* "tiled<16>" */
    int64_t registers;      /* of a thread */
    int64_t shared_bytes;   /* static, of a block */
    int64_t spill_store_bytes, spill_load_bytes, frame_bytes; /* of a thread */
    int64_t max_threads; /* of a block, where __launch_bounds__ says so */
    int64_t line;        /* of its definition; 0 unknown */
};

struct hone_build_report {
    const char *compiler; /* "gcc 12.2.0" */
    const char *command;  /* as run, without folders */
    bool is_cached;
    int64_t wall_ns, object_bytes;
    const char *code; /* word for the machine code: the same code has the same word; or NULL */
    struct hone_array diagnostics; /* of hone_diagnostic, worst first, at most 20 */
    const char *log;               /* cut */
    const char *assembly;          /* what was made of one kernel, when the job asks; whole lines */
    const char *assembly_of;       /* its name */
    const char *assembly_note;     /* what else there is, or why there is none and the fix */
    /* cuda */
    struct hone_array kernels;             /* of hone_kernel_report */
    struct hone_strs plans;                /* what the launcher does, one text a workload */
    int64_t host_ns, device_ns, record_ns; /* parts of wall_ns; the first two overlap */
    const char *lane, *lane_note;          /* "nvrtc" or "nvcc", and why nvcc */
};

struct hone_check_report {    /* one correctness check */
    const char *name;         /* smoke, poison, verify, timed */
    const char *workload;     /* id */
    const char *distribution; /* normal, exponential... */
    int64_t n_elements, n_compared, n_bad;
    double max_abs_err, max_rel_err, rel_l2; /* NaN: left out */
    const char *detail;                      /* "C[17, 3] = 4.25, expected 3.75" */
};

struct hone_arm_time {
    const char *arm;
    double median_ns, min_ns, q1_ns, q3_ns; /* of one call */
    double cpu_ns;                          /* median CPU time of one call, all threads */
    int64_t n_samples, n_batch;             /* timed blocks, calls in a block */
};

struct hone_ratio {          /* time(against) / time(candidate): above 1 is faster */
    const char *against;     /* baseline, parent */
    double ratio, low, high; /* 95 % interval of the median */
    double least_gain;       /* that may be claimed, e.g. 0.012: from this run's A/A */
    int64_t n_pairs;
    const char *word; /* faster, same, slower, inconclusive */
    const char *note; /* "probably slower (...)"; NULL: none */
};

struct hone_arm_load { /* one arm while others used the machine; load.h */
    const char *arm;
    double busy;     /* threads: CPU time by wall time */
    double threads;  /* that want to run at a time */
    double slowdown; /* times as long as on a quiet machine, at most; 1: not at all */
};
/* Of the cores: what others use of caches and memory can be felt; the same of the host of a device,
 * which only queues the calls. */
#define HONE_LOAD_SHARED      0.1
#define HONE_LOAD_SHARED_HOST 0.5
struct hone_load_report {       /* what else the machine did while arms were timed */
    int64_t n_cores;            /* allowed to the judge */
    bool is_known;              /* false: the system does not say */
    double others, others_most; /* cores that others used: mean, worst quarter of a second */
    double free_cores, steal;   /* cores; taken by the hypervisor: part of others */
    double throttled_percent;   /* of the time, by the control group's quota */
    struct hone_array arms;     /* of hone_arm_load; of a workload alone */
};

struct hone_workload_report {
    const char *id;
    struct hone_json *axes; /* {"M":512,...} */
    bool is_hidden;
    struct hone_array times;   /* of hone_arm_time */
    struct hone_array ratios;  /* of hone_ratio */
    double bound_ns;           /* physics floor with measured ceilings: the larger of the two */
    double bytes_ns, flops_ns; /* what moving and computing would take alone; NaN: guessed */
    double least_bytes, least_flops; /* what the task's formulas say of them */
    const char *bound_by;            /* bytes, flops */
    double percent_of_bound;         /* 100 * bound / candidate */
    double steal_percent;
    struct hone_load_report *load; /* NULL: not measured */
};

struct hone_point_median {
    const char *workload;
    double median_ns;
};
struct hone_point_report {
    struct hone_array tunables;
    struct hone_strs flags;
    enum hone_reason reason;
    const char *detail; /* of one that failed; NULL: none */
    double median_ns;
    struct hone_array medians; /* of struct hone_point_median */
    double ratio, low, high;   /* against the baseline, with its 95 % interval */
    const char *code;          /* as in hone_build_report; NULL: not built */
};

/* The class of a profile that others disturbed; such a profile is no answer to keep. */
#define HONE_BOTTLENECK_LOADED "loaded"
struct hone_bottleneck {
    const char *class_name;
    double score;
    const char *rule; /* the rule and values that fired */
    const char *advice;
    int64_t line;
};
struct hone_counter {
    const char *name;
    double value;
    const char *unit;
    const char *group;   /* cuda: "time", "roof", "launch", "T0"..., "sass", "kernel" */
    const char *kernel;  /* "tiled<16> (operation 2)": of this launch alone; NULL: of the call */
    double parent_value; /* of the version that it was made from; NaN: unknown */
};
struct hone_profile_report {
    bool has_counters;             /* hardware counters were allowed */
    const char *counters_note;     /* why not, and the fix */
    const char *workload;          /* id of the one that was profiled; NULL: not told */
    const char *timed;             /* what its call_ns is of, in a phrase; NULL: not told */
    struct hone_array counters;    /* of hone_counter: ipc, gflops, gbytes, cpu_per_wall... */
    struct hone_array remarks;     /* of hone_remark, by line */
    struct hone_array bottlenecks; /* of hone_bottleneck, worst first */
};

/* What the job set out to check and to time, and what came of it. Sizes are counted once, whatever
 * the number of contents. */
struct hone_axis_box { /* of the sizes that were checked */
    const char *axis;
    int64_t least, largest;
};
struct hone_sizes_report {
    int64_t n_planned, n_checked;     /* public, edges, the legal range, beyond, drawn */
    int64_t n_public, n_public_timed; /* of the task, on this target */
    int64_t n_hidden, n_hidden_timed; /* drawn to be timed */
    const char *beyond;               /* "beyond-0: M=2048 N=700": checked; NULL: none was */
    struct hone_array box;            /* of hone_axis_box */
};

/* What a result rests on: what a reader has to know before the figure is compared with another.
 * Errors are in units of the task's tolerance, over the plain contents (normal, uniform) that were
 * held to the oracle. rests.h makes the words. */
struct hone_rests_report {
    double rms_error, worst_error;                   /* the candidate's; NaN: not measured */
    double baseline_rms_error, baseline_worst_error; /* the baseline's, on some of the same items */
    bool has_units;                   /* the code was read for units of lower precision */
    struct hone_strs units;           /* found, of lower precision than the task: "bf16" */
    struct hone_strs fast_math;       /* where it is asked for: "-ffast-math", "#pragma GCC..." */
    const char *flags;                /* -O3 -march=native and what the version adds; a line */
    bool is_deterministic;            /* equal bits were demanded of all calls and processes */
    double threads, baseline_threads; /* busy while timed, the most over the workloads; NaN: no */
    int64_t n_threads;                /* that it was allowed; 0: does not apply */
    int64_t n_sizes, n_contents;      /* checked: different sizes, kinds of content */
    const char *bound_unit;           /* the unit that the bound assumes: "float32 FMA units" */
    bool is_bound_counted;            /* operations counted from the source's loops set it */
    struct hone_strs copied;          /* outputs that the baseline of `hone task new` copies first,
                                         as the user's function has them in place */
    bool is_parents_code;             /* the machine code is the parent's, bit by bit */
};

/* Something that is no verdict but that somebody should look at: the version goes to the review
 * list (history_show, trailer Review). */
struct hone_review {
    const char *rule;     /* a word: "above_ceiling", "timer", "writable_global"... */
    const char *evidence; /* one line with the values */
    int64_t line;         /* of the source; 0: none in particular */
};

struct hone_machine_report {
    const char *cpu;
    int64_t n_cores;
    double copy_bytes_per_s, flops_per_s; /* all cores, measured */
    double peak_flops_per_s;
    const char *flops_unit; /* what they are of, "16-bit tensor cores"; NULL: an old record */
};

/* Stage calibrate: what honest kernels err by, and how far the answers are that must not pass. The
 * figures are those of task.h, struct hone_error_sums; whether an answer passes is for the reader
 * to say, with the tolerance that is to be tried. */
struct hone_noise_report { /* one honest kernel, one output, one distribution, all workloads */
    const char *arm, *output, *distribution;
    int64_t n_calls, n_elements;
    int64_t n_hopeless;   /* elements that no tolerance accepts */
    double p999, worst;   /* of (|e| - atol) / s: 99.9 percent of the elements lie below; all do */
    double rel_l2, bias;  /* the worst call's */
    const char *workload; /* of the worst element */
    bool is_plain;        /* content without structure */
};
struct hone_answer_report { /* one trivial answer, one output, one distribution, one workload */
    const char *answer;     /* "zeros", "copy of A", "rounded inputs"... */
    bool is_lower;          /* it is right but for its precision */
    bool is_public;         /* a public size; else the smoke size or a drawn one */
    bool is_random;         /* content that is no corner case */
    const char *workload, *distribution, *output;
    int64_t n_hopeless;
    int64_t n, n_items;
    double worst, err_squares, ref_sum, ref_squares, size_squares, err_sum, toward_sum, size_sum;
    bool is_plain;
};
struct hone_calibration_report {
    const char *device;
    int64_t n_seeds;           /* contents of the workload that had fewest, at least */
    struct hone_array noise;   /* of hone_noise_report */
    struct hone_array answers; /* of hone_answer_report */
};

struct hone_earlier { /* an earlier confirmation of the same version */
    const char *commit;
    double ratio, low, high;
    bool is_contrary; /* its interval and this one exclude each other */
};
struct hone_confirmations_report { /* tools/confirmations.h */
    int64_t n;                     /* that count, this one included */
    double ratio, low, high;       /* of all; where another one is to be expected */
    struct hone_array earlier;     /* of hone_earlier, oldest first */
};

/* What a verdict was tested with. */
struct hone_left_out_report {
    const char *kind, *reason;
};
struct hone_contents_report {
    struct hone_strs
        compared; /* kinds of content (runner/kinds.h) of which answers were compared */
    struct hone_array left_out; /* of hone_left_out_report; a kind may be in both lists, left out at
                                   some size */
};

struct hone_report {
    int64_t format;
    const char *id, *target;
    enum hone_tier tier;
    enum hone_reason reason;
    enum hone_verdict verdict; /* follows from it */
    const char *summary;       /* one line for a person */
    const char *jail;          /* rung that was used */
    struct hone_array stages;  /* of hone_stage_report */
    struct hone_build_report *build;
    struct hone_contents_report *contents; /* NULL: nothing was compared */
    struct hone_array checks;              /* of hone_check_report */
    struct hone_array workloads;           /* of hone_workload_report */
    struct hone_array ratios; /* of hone_ratio: geometric mean over workloads, one per other arm */
    struct hone_sizes_report *sizes; /* NULL: nothing was checked or timed */
    double worst_ratio;              /* least workload ratio against the baseline */
    double percent_of_bound;         /* geometric mean */
    struct hone_load_report *load;   /* over the workloads; NULL: nothing was timed */
    struct hone_array points;        /* of hone_point_report (sweep) */
    int64_t best_point;              /* -1 none */
    struct hone_profile_report *profile;
    struct hone_machine_report *machine;
    struct hone_rests_report *rests_on; /* NULL: nothing was checked */
    struct hone_calibration_report *calibration;
    struct hone_strs warnings;
    struct hone_strs doubts;  /* why the figure may not be claimed, one sentence each; a confirmed
                                 `faster` without any may be */
    struct hone_array review; /* of hone_review */
    const char *samples;      /* set by the server: content hash of the raw samples it kept */
    struct hone_confirmations_report *confirmations; /* set by the server; NULL: this is the only
                                                        one */
    const char *output; /* stage run: summary of outputs and the kernel's own stdout, cut */
    int64_t wall_ns;
};

/* Tables of the parts that tool results show too. */
#define HONE_DIAGNOSTIC_N_FIELDS    6
#define HONE_REMARK_N_FIELDS        3
#define HONE_CHECK_N_FIELDS         10
#define HONE_RATIO_N_FIELDS         8
#define HONE_POINT_REPORT_N_FIELDS  10
#define HONE_BOTTLENECK_N_FIELDS    5
#define HONE_COUNTER_N_FIELDS       6
#define HONE_STAGE_N_FIELDS         3
#define HONE_REVIEW_N_FIELDS        3
#define HONE_KERNEL_REPORT_N_FIELDS 8
#define HONE_SIZES_N_FIELDS         8
#define HONE_LOAD_N_FIELDS          8
#define HONE_CONFIRMATIONS_N_FIELDS 5
extern const struct hone_field hone_diagnostic_fields[HONE_DIAGNOSTIC_N_FIELDS];
extern const struct hone_field hone_remark_fields[HONE_REMARK_N_FIELDS];
extern const struct hone_field hone_check_fields[HONE_CHECK_N_FIELDS];
extern const struct hone_field hone_ratio_fields[HONE_RATIO_N_FIELDS];
extern const struct hone_field hone_point_report_fields[HONE_POINT_REPORT_N_FIELDS];
extern const struct hone_field hone_bottleneck_fields[HONE_BOTTLENECK_N_FIELDS];
extern const struct hone_field hone_counter_fields[HONE_COUNTER_N_FIELDS];
extern const struct hone_field hone_stage_fields[HONE_STAGE_N_FIELDS];
extern const struct hone_field hone_review_fields[HONE_REVIEW_N_FIELDS];
extern const struct hone_field hone_sizes_fields[HONE_SIZES_N_FIELDS];
extern const struct hone_field hone_kernel_report_fields[HONE_KERNEL_REPORT_N_FIELDS];
extern const struct hone_field hone_load_fields[HONE_LOAD_N_FIELDS];
extern const struct hone_field hone_confirmations_fields[HONE_CONFIRMATIONS_N_FIELDS];

extern const struct hone_field hone_report_fields[];
extern const size_t hone_report_n_fields;

/* Decodes into the pool; HONE_E_ARG / HONE_E_LIMIT for anything odd, also an unknown reason or a
 * verdict that does not follow from it. */
int hone_report_parse(const char *text, size_t len, struct hone_pool *pool, struct hone_report *ret,
                      struct hone_err *err);
char *hone_report_print(const struct hone_report *report); /* owned */
/* Confirmed and faster. */
bool hone_report_is_claim(const struct hone_report *report);
/* That, and nothing stands against claiming it. */
bool hone_report_is_claimable(const struct hone_report *report);
/* The first against an arm, of an array of struct hone_ratio; NULL: none. */
const struct hone_ratio *hone_ratio_find(const struct hone_array *ratios, const char *against);
struct hone_yardstick { /* what people compare with, beside the baseline, in the same run */
    const char *
        name; /* "fast-math": the baseline's source with -ffast-math; "torch-eager", "torch-compile" */
    double ratio, low, high; /* time(yardstick) / time(candidate), 95 % interval */
};
enum { HONE_YARDSTICK_N_FIELDS = 4 };
extern const struct hone_field hone_yardstick_fields[HONE_YARDSTICK_N_FIELDS];
/* Those that the report has, in the order of the table; in the pool. */
struct hone_array hone_report_yardsticks(const struct hone_report *report, struct hone_pool *pool);
struct hone_array hone_yardsticks_copy(const struct hone_array *from, struct hone_pool *pool);
const struct hone_ratio *hone_report_ratio(const struct hone_report *report,
                                           const char *against); /* of the whole */
/* Median time of one call of an arm; NaN: it was not timed. */
double hone_workload_time_ns(const struct hone_workload_report *workload, const char *arm);

#endif
