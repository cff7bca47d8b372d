/* SPDX-License-Identifier: Apache-2.0 */
/* Task packs: what has to be computed, how it is checked, what counts as fast.
 *
 * A pack is a folder: task.json, workloads.jsonl, oracle.c, kernels/naive.c and naive.cu.
 * docs/tasks.md is its format.
 *
 * Calling sequence:
 *
 *     struct hone_task *task;
 *     hone_task_load("packs/softmax", &task, err);     the sizes of every target
 *     hone_task_select(task, "cpu", err);              keeps one target's; from here on immutable
 *     hone_task_naive(task, "cpu", &source, err);      text of the baseline, owned
 *     char *signature = hone_task_signature(task);     what a candidate must define, owned
 *     struct hone_workload w = {.axes = {...}};        var axes
 *     hone_task_resolve(task, &w, err);                the other axes, ranges, constraints
 *     hone_task_free(task);
 *
 * Whoever runs or ranks kernels selects a target first. After that any thread may read the task.
 * Everything in it lives until hone_task_free. This module knows shapes and formulas; it runs
 * nothing and times nothing. */
#ifndef HONE_TASK_TASK_H
#define HONE_TASK_TASK_H

#include "workspace/base/fields.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/task/policy.h"
#include "workspace/task/target.h"

enum hone_dtype {
    HONE_DTYPE_F16,
    HONE_DTYPE_BF16,
    HONE_DTYPE_F32,
    HONE_DTYPE_F64,
    HONE_DTYPE_I8,
    HONE_DTYPE_I32,
    HONE_DTYPE_I64,
    HONE_DTYPE_BOOL, /* 0 or 1, in a byte */
    HONE_DTYPE_U8,
    HONE_DTYPE_I16,
    HONE_DTYPE_U16,
    HONE_DTYPE_U32,
    HONE_DTYPE_U64
};
const char *hone_dtype_name(enum hone_dtype dtype);      /* "float32": the FlashInfer-Bench words */
const char *hone_dtype_c_name(enum hone_dtype dtype);    /* "float"; uint16_t for the 16-bit floats,
                                                            uint8_t for bool on the CPU */
const char *hone_dtype_cuda_name(enum hone_dtype dtype); /* __half, __nv_bfloat16; unsigned char
                                                            for bool and uint8 */
int64_t hone_dtype_bytes(enum hone_dtype dtype);
bool hone_dtype_is_float(enum hone_dtype dtype);
bool hone_dtype_is_unsigned(enum hone_dtype dtype); /* an integer that is never negative */

/* A pack may hold the file that its function was written in; the baseline names the function. */
#define HONE_TASK_OWN_FILE "own.c"
#define HONE_TASK_OWN_MARK "/* The function of own.c, '"

struct hone_task;
bool hone_task_has_kernel(const struct hone_task *task, enum hone_task_target target);
/* The target that was asked for; NULL: cpu, or cuda where the pack has kernels for that alone. */
const char *hone_task_target_of(const struct hone_task *task, const char *asked);

struct hone_range {
    int64_t min, max; /* 0, 0: none given */
};

enum hone_axis_kind { HONE_AXIS_CONST, HONE_AXIS_VAR, HONE_AXIS_EXPR };
struct hone_axis {
    const char *name;
    enum hone_axis_kind kind;
    int64_t value;          /* const */
    const char *expression; /* expr: over the axes before it */
    int64_t min, max;       /* var: legal range; hidden sizes are drawn inside draw_min..draw_max */
    int64_t draw_min, draw_max;
    struct hone_range
        draws[HONE_N_TASK_TARGETS]; /* as the pack gives them; hone_task_select picks */
    int64_t multiple;               /* var: legal values are multiples of this (1: any) */
    const char *description;
};

enum hone_role {                       /* decides how values are generated */
                 HONE_ROLE_ACTIVATION, /* normal(0,1) and the other distributions */
                 HONE_ROLE_WEIGHT, /* scaled by 1/sqrt(fan-in): of the last but one dimension; of filters (4
                         dimensions and more), of all but the first */
                 HONE_ROLE_POSITIVE,    /* > 0 */
                 HONE_ROLE_PROBABILITY, /* rows (last dimension) that sum to 1 */
                 HONE_ROLE_INDEX,       /* 0 <= v < index_bound axis */
                 HONE_ROLE_OFFSETS,     /* non-decreasing, first 0, last = offsets_total axis */
                 HONE_ROLE_MASK,        /* 0 or 1 */
                 HONE_ROLE_BITS, /* integers: the whole range of the type in the plain kinds too */
                 HONE_ROLE_TRIANGULAR, /* zeros above the diagonal; on it 0.5 to 2 in size; below it at most
                              1/n, so that a system of equations has a tame solution */
                 HONE_ROLE_UPPER_TRIANGULAR,
                 HONE_ROLE_ADDITIVE_MASK /* 0 where it is seen, minus infinity elsewhere; 0 on the diagonal */
};
const char *hone_role_name(enum hone_role role); /* "activation"... */
bool hone_role_is_placed(enum hone_role role);   /* what an element may be depends on its place */

struct hone_tensor {
    const char *name;
    enum hone_dtype dtype;
    enum hone_role role;        /* inputs only */
    size_t rank;                /* 0: one element */
    int shape[HONE_LIMIT_RANK]; /* axis numbers, outermost first; row-major, contiguous */
    int bound_axis;             /* index bound or offsets total; -1 none */
    bool has_pitch;             /* rows start as many elements apart as axis shape[rank - 1] says */
    int row_axis;   /* pitch: axis of the elements that a row holds; between rows: left untouched */
    bool is_static; /* weights that stay the same in real use: for readers; the judge draws anew */
    double unit,
        shift; /* inputs: drawn values times unit (`scale` of task.json) plus shift; unit 0:
                           as drawn */
    const char *stored_file; /* inputs: safetensors file of the pack; NULL: values are drawn */
    const void *stored;      /* its values; NULL before hone_task_load */
    int64_t n_stored, stored_row;
    double density; /* masks: share of ones, or of zeros of an additive one; 0: a half */
    const char *description;
};

/* Values that are no ordinary numbers and that a task's contract may cover: inputs hold them, and
 * the answer to them is checked. */
enum hone_special {
    HONE_SPECIAL_NAN = 1,
    HONE_SPECIAL_INF = 2,
    HONE_SPECIAL_DENORMAL = 4,      /* and negative zeros among them; covered unless the task says
                                       otherwise */
    HONE_SPECIAL_NEGATIVE_ZERO = 8, /* the sign of a zero answer counts */
    HONE_SPECIAL_EXTREME = 16,      /* numbers up to about 1e37 (float32), and of any exponent */
};
#define HONE_N_SPECIALS 5
const char *hone_special_name(size_t i); /* of bit i: "nan", "inf", "denormal", "negative_zero" */

struct hone_scalar { /* a by-value parameter, passed between outputs and axes */
    const char *name;
    enum hone_dtype dtype;
    double value; /* public value; drawn from min..max for hidden workloads */
    double min, max;
};

/* The rule of correctness: is an answer x near enough to the reference r?
 *
 * With e = x - r and s = max(|r|, scale), all three tests must hold:
 *
 *   element   |e| <= atol + rtol * s                    for every element
 *   norm      ||e|| <= max(rel_l2 * ||r - mean(r)||,
 *                          (rtol * ||s|| + atol * sqrt(n)) / 4)
 *   bias      |sum(e)| and |sum(sign(r) * e)| <=
 *                 max(bias, rtol / 16) * sum(s) + atol * n + 6 * ||e|| * sqrt(n / items)
 *
 * element   No element may be off, so this is also the cap on the largest error.
 * norm      Looks at a whole output of content without structure (is_plain): there honest errors
 *           average out. On other content they may all point the same way. rel_l2 0: no norm test.
 * bias      Looks at the same content. Its last term is what chance makes of errors that are equal
 *           within one of the oracle's items. bias 0: no bias test.
 *
 * scale is the size of what was added up to get r (for a dot product: the sum of |a*b|), so that
 * cancellation excuses rounding and nothing else. It comes with the oracle's record. Where there is
 * none (iterated tasks) it is the root mean square of the output over all steps, and at least that
 * of its reference values.
 *
 * Non-finite values must agree in kind and place. Integers and bool must be equal (all zero). */
struct hone_tolerance {
    double atol, rtol, rel_l2, bias;
};
static inline double hone_tolerance_size(double r, double scale) /* s */
{
    double size = r < 0 ? -r : r;
    return size > scale ? size : scale;
}
static inline double hone_tolerance_limit(const struct hone_tolerance *tol, double r, double scale)
{
    return tol->atol + tol->rtol * hone_tolerance_size(r, scale);
}

struct hone_error_sums { /* of one output, or of the part of it that was compared */
    int64_t n, n_items;  /* elements; items that they came from (0: not known) */
    double worst;        /* largest (|e| - atol) / s, 0 or more; not filled on devices */
    double err_squares, ref_sum, ref_squares, size_squares;
    double err_sum, toward_sum, size_sum; /* toward: of sign(r) * e */
    bool is_plain;
};
enum hone_tolerance_test {
    HONE_TOLERANCE_ELEMENT,
    HONE_TOLERANCE_NORM,
    HONE_TOLERANCE_BIAS,
    HONE_N_TOLERANCE_TESTS
};
double hone_error_rel_l2(const struct hone_error_sums *sums); /* NaN where r does not vary */
double hone_error_bias(
    const struct hone_error_sums *sums); /* beyond chance, in units of sum(s); 0: none */
/* How many times the bound of one test the sums are: at most 1 passes. Tests that say nothing (too
 * few elements, no limit) give 0. Huge where the bound is 0. */
double hone_tolerance_factor(const struct hone_tolerance *tol, const struct hone_error_sums *sums,
                             enum hone_tolerance_test test);

/* What was measured when the tolerance was last calibrated on a target. The loader refuses a noise
 * above the tolerance. */
struct hone_calibrated_output {
    double noise, p999; /* of honest kernels, in sizes: the largest, and 99.9 % lie below */
    double rel_l2, bias;
};
struct hone_calibration {
    const char *date; /* "2026-11-21"; NULL: there is no record for this target */
    const char *device, *compiler, *hone;
    double margin;         /* tolerance over noise, at least */
    int64_t seeds;         /* contents of every distribution and size, at least */
    double trivial, lower; /* by what factor the nearest answers of each kind fail; 0: none was
                              made, or it is allowed */
    const char *trivial_answer, *lower_answer;
    struct hone_calibrated_output outputs[HONE_LIMIT_TENSORS];
};

struct hone_workload {
    const char *id;                /* unique in the task, e.g. "m512"; lives as long as the task, or
                                      is constant where a function below makes it ("edge-0") */
    int64_t axes[HONE_LIMIT_AXES]; /* value of every axis of the task, in task order */
    bool is_hidden;
    bool is_edge;       /* hidden, and for the checks alone: never timed */
    const char *target; /* "cpu", "cuda"; NULL: for every target */
};

struct hone_task {
    const char *name;    /* also the C function's name */
    const char *op_type; /* "gemm", "softmax"... */
    const char *description;
    const char *dir;                 /* absolute folder of the pack */
    char hash[HONE_HASH_TEXT_BYTES]; /* of every file in the pack */
    size_t n_axes, n_inputs, n_outputs, n_scalars, n_workloads, n_constraints;
    struct hone_axis axes[HONE_LIMIT_AXES];
    struct hone_tensor inputs[HONE_LIMIT_TENSORS];
    struct hone_tensor outputs[HONE_LIMIT_TENSORS];
    struct hone_scalar scalars[HONE_LIMIT_AXES];
    struct hone_tolerance tolerance[HONE_LIMIT_TENSORS]; /* per output */
    struct hone_calibration calibration[HONE_N_TASK_TARGETS];
    const char *constraints[HONE_LIMIT_AXES]; /* expressions that must be true */
    const char *flops;     /* formula over the axes: least arithmetic of the best known algorithm */
    bool is_flops_guessed; /* by `hone task new`: percentages of the bound rest on flops_counted */
    const char *flops_counted; /* formula: operations of the baseline's source; NULL: not known, and
                                  no percentage is told */
    const char *bytes;         /* formula: compulsory traffic, each element once */
    const char *items;         /* formula: number of oracle work items */
    const char *steps;         /* formula: oracle steps, NULL when not iterated */
    bool is_oracle_naive_double; /* oracle.c is the kernel itself in double: one item emits every
                                      element of every output; true for torch, too, which is
                                      such a whole answer */
    bool is_oracle_own;          /* mode naive, naive_double besides: in its own types, compiled as
                                      candidates are; integers alone, where a rounding decides */
    bool is_scale_perturbed;     /* naive_double: the scale is also how far the answer moves where
                                      the inputs change in their last place */
    bool is_oracle_torch;        /* oracle.py is a PyTorch module, run in float64 */
    bool is_cold;                /* cache policy: caches flushed before each timed block */
    bool is_deterministic;       /* repeated calls must give the same bits */
    const char *compute_precision; /* least allowed, e.g. "float32" */
    bool allows_lower_precision;   /* inputs rounded to the next lower precision may pass (lint does
                                      not insist) */
    bool allows_library;
    unsigned special_values;        /* HONE_SPECIAL_* that its contract covers */
    struct hone_task_policy policy; /* what the pack says of binaries: hone_policy_action */
    const char *target; /* what hone_task_select kept; NULL: the sizes of all targets are there */
    struct hone_workload workloads[HONE_LIMIT_WORKLOADS]; /* public sizes */
    struct hone_pool *pool;                               /* owns every string above */
};

/* Loads and validates a pack. HONE_E_NOT_FOUND, HONE_E_ARG (err->path says "task.json:
 * inputs.A.shape[1]"), HONE_E_LIMIT. */
int hone_task_load(const char *dir, struct hone_task **ret_task, struct hone_err *err);
/* May a task, or a tensor, scalar or axis of one, have that name? */
bool hone_task_is_name(const char *name, bool is_task);
/* Do headers that nvcc includes by itself declare a function of this name? As extern "C" such a kernel
 * compiles alone and not in somebody's program. */
bool hone_task_is_cuda_word(const char *name);
void hone_task_free(struct hone_task *task); /* NULL is fine */
void hone_task_free_ptr(struct hone_task **task);

/* Keeps the workloads and draw ranges of one target. Changes the task: call it on a freshly loaded
 * one, before others see it; a second call with the same target does nothing. HONE_E_ARG: the
 * target is unknown, or the pack has no workload or no naive kernel for it, or another target was
 * selected before. */
int hone_task_select(struct hone_task *task, const char *target, struct hone_err *err);

/* Fills every axis from the var axes given in workload->axes (var entries valid on entry), checks
 * ranges, constraints and size limits. HONE_E_ARG: out of range, or a constraint does not hold.
 * HONE_E_LIMIT: a tensor is too large. Untouched then. */
int hone_task_resolve(const struct hone_task *task, struct hone_workload *workload,
                      struct hone_err *err);
/* The size that an object like {"M": 3, "N": 5} names: one number for each var axis, resolved. Its id
 * is "asked". HONE_E_ARG. */
int hone_task_asked(const struct hone_task *task, const struct hone_json *axes,
                    struct hone_workload *ret, struct hone_err *err);
/* Draws hidden sizes that are worth timing: the work of each is like a public size's. Deterministic
 * in (key, index). Inside the draw ranges, one off, half a tile off, primes, odd sizes. Cannot fail:
 * where nothing else is legal it gives a public size. */
int hone_task_draw(const struct hone_task *task, const uint8_t key[16], uint32_t index,
                   struct hone_workload *ret, struct hone_err *err);
/* Cheap sizes for the checks alone: 0 is the least legal one, 1 and 2 have one long axis (beyond
 * what 15 or 16 bits count, where that is legal and affordable), 3 many short ones, the others lie
 * at, below and above multiples of tiles and at the axes' ends. Deterministic in (key, index).
 * Cannot fail: where no such size is legal it gives that of hone_task_smoke. */
int hone_task_edge(const struct hone_task *task, const uint8_t key[16], uint32_t index,
                   struct hone_workload *ret, struct hone_err *err);
/* Sizes for the checks alone over the whole legal range, none dearer than the dearest public size:
 * every pair of axes in every pair of thirds of their ranges (in octaves) that can be afforded, and
 * each axis from a quarter of its least public value to four times its largest beside public values
 * of the others. In random order; returns how many. */
#define HONE_TASK_RANGES 36
size_t hone_task_ranges(const struct hone_task *task, const uint8_t key[16],
                        struct hone_workload ret[HONE_TASK_RANGES]);
/* The third of an axis' legal range, in octaves, that a value lies in: 0, 1, 2. */
int hone_task_third(const struct hone_axis *axis, int64_t value);
/* A size beyond the public ones in two or more axes at once (one, where only one may be longer), up
 * to four times. Index 0 is the farthest, the others need less; most_bytes: of its buffers. They
 * may cost more than any public size: look before you run one. False: the public sizes are the end
 * of what is legal or fits. */
#define HONE_TASK_BEYONDS 3
bool hone_task_beyond(const struct hone_task *task, const uint8_t key[16], uint32_t index,
                      int64_t most_bytes, struct hone_workload *ret);
/* In how many var axes a size is longer than every public one. */
size_t hone_task_n_beyond(const struct hone_task *task, const struct hone_workload *w);
/* The smallest legal workload that still has a tail, for the smoke stage; where constraints allow no
 * small one, the first public size. Cannot fail. */
int hone_task_smoke(const struct hone_task *task, struct hone_workload *ret, struct hone_err *err);
const struct hone_workload *hone_task_workload(const struct hone_task *task,
                                               const char *id); /* NULL: none */

/* Parses a pack's two files from memory; dir is only remembered and the hash left empty. What
 * hone_task_load uses, and the fuzzer. */
int hone_task_parse(const char *task_json, size_t task_len, const char *workloads,
                    size_t workloads_len, const char *dir, struct hone_task **ret_task,
                    struct hone_err *err);
/* Hash of every file under dir: sorted relative paths with their bytes. Links are refused (HONE_E_ARG),
 * too many or too large files too (HONE_E_LIMIT). HONE_E_NOT_FOUND, HONE_E_IO. */
int hone_task_hash(const char *dir, char ret_hex[HONE_HASH_TEXT_BYTES], struct hone_err *err);

/* Is any output a number that can be rounded? Without one, lower precision is no answer of its own:
 * what is equal is right. */
bool hone_task_has_float_output(const struct hone_task *task);
int64_t hone_tensor_elements(const struct hone_task *task, const struct hone_tensor *tensor,
                             const struct hone_workload *workload);
/* How an output with a pitch lies: each `row` elements begin with `used` that the kernel writes; the
 * rest must stay as it was. false: no pitch, both are 0. */
struct hone_pitch {
    int64_t row, used;
};
bool hone_tensor_pitch(const struct hone_tensor *tensor, const struct hone_workload *workload,
                       struct hone_pitch *ret);
/* Value of a formula over a workload's axes, as a double. The formulas of a loaded task were tried by
 * the loader. HONE_E_ARG: not a formula, names no axis, or its value cannot be had. HONE_E_LIMIT: too
 * long or too deep. */
int hone_task_eval(const struct hone_task *task, const char *formula,
                   const struct hone_workload *workload, double *ret, struct hone_err *err);

/* The function of a candidate; owned. cpu (and NULL, and an unknown target): "void matmul(const
 * float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)"; cuda: the same as extern
 * "C" with CUDA's element types and a last parameter cudaStream_t stream. */
char *hone_task_signature_for(const struct hone_task *task, const char *target);
/* For the selected target; cpu when none is. */
char *hone_task_signature(const struct hone_task *task);
/* The text put in front of oracle.c for the host: accessors, axes, ITEM/STEP macros
 * (docs/tasks.md). Owned. It exports void hone_oracle_items(struct hone_oracle_args *args,
 * int64_t first, int64_t count, const int64_t *items); (items NULL: first..first+count-1), as
 * declared in workspace/task/oracle_abi.h. */
char *hone_task_oracle_preamble(const struct hone_task *task);
/* The text of oracle.c: compiled behind the preamble, with -lm, without -ffast-math; owned. Of a task
 * with is_oracle_torch: the text of oracle.py. Both this and hone_task_naive read the pack's file:
 * HONE_E_NOT_FOUND, HONE_E_LIMIT, HONE_E_IO. */
int hone_task_oracle_source(const struct hone_task *task, char **ret_source, struct hone_err *err);
/* CUDA C++ of the same oracle for one kernel, hone_oracle, with a work item per thread (struct
 * hone_oracle_device_args in oracle_abi.h); owned. HONE_E_UNSUPPORTED for naive_double. */
int hone_task_oracle_device_source(const struct hone_task *task, char **ret_source,
                                   struct hone_err *err);
/* Source of the target's naive kernel (kernels/naive.c, kernels/naive.cu; target NULL: cpu); owned.
 * HONE_E_ARG: an unknown target. */
int hone_task_naive(const struct hone_task *task, const char *target, char **ret_source,
                    struct hone_err *err);
/* One target's record as it stands in task.json; owned. */
struct hone_json *hone_task_calibration_json(const struct hone_task *task,
                                             const struct hone_calibration *calibration);
/* The task as one JSON object for people and agents (signature, axes, tensors, tolerance,
 * workloads); owned. */
struct hone_json *hone_task_describe(const struct hone_task *task);

#endif
