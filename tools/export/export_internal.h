/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of tools/export. Everything returned lives in the pool. */
#ifndef HONE_EXPORT_EXPORT_INTERNAL_H
#define HONE_EXPORT_EXPORT_INTERNAL_H

#include "tools/export/export.h"
#include "tools/format/report.h"
#include "workspace/history.h"
#include "workspace/task/task.h"

struct hone_export_work {
    struct hone_tool_ctx *ctx;
    struct hone_pool *pool;
    const struct hone_task *task; /* its target is selected */
    const char *target;
    bool is_cuda;
    bool is_task_order; /* the task's parameters, also where the user's own are known */
    const char *commit, *source, *naive; /* commit NULL: the baseline */
    struct hone_strs flags;
    struct hone_array tunables;
    const struct hone_report *report; /* the best founded one; NULL: none */
    int64_t measured_s;               /* when it was */
    const char *contradiction;        /* of its confirmations; NULL: none */
    const char *refutation;           /* where it was found wrong; NULL: never */
    const char **notes;
    size_t n_notes;
};
#define HONE_EXPORT_NOTES 8
/* The device that it was measured for, "sm_90a"; "native": not measured on one. */
const char *hone_export_arch(const struct hone_export_work *work);
void hone_export_note(struct hone_export_work *work, const char *text);
/* The body without what gcc, clang or nvcc warn of (quiet.c); in the pool. A note says what clang
 * has to be told on its compile line. */
const char *hone_export_quiet(struct hone_export_work *work, const char *body);
void hone_export_add(struct hone_export *export, const char *name, const char *text);

/* source.c: how the function is called outside. */
struct hone_export_function {
    const char *name;
    const char *declaration; /* "void blur(int n, const float *in, float *out)" */
    const char *body;        /* the whole source, without head */
    const char *own;         /* the user's text as it was, or the baseline's */
    bool is_users;           /* the user's own signature, not the pack's */
    const char *params;      /* the pack's names in the order of the declaration, '\0' after each,
                                "" at the end */
    const char *result;      /* the pack's output that is returned; NULL: none */
};
int hone_export_function(struct hone_export_work *work, struct hone_export_function *ret,
                         struct hone_err *err);
/* The comment before the launcher or wrapper that `hone task new` puts behind the user's function. */
extern const char hone_export_wrapper_mark[];

/* source_cuda.c: the launcher of the user's CUDA file that the baseline calls. */
struct hone_export_launcher {
    const char *name;        /* as the user has it */
    const char *inner;       /* as the baseline has it: NAME or NAME_body */
    const char *declaration; /* extern "C" void NAME(its parameters) */
    const char *stream;      /* its name; NULL: it takes none */
};
struct hone_prototype;
/* Names and pointers alone are read into ret_proto. False: the baseline is no wrapped launcher. */
bool hone_export_cuda_own(const struct hone_export_work *work, struct hone_prototype *ret_proto,
                          struct hone_export_launcher *ret);
/* The old content of an argument that is read and written, which the task's function gets apart. */
struct hone_export_copy {
    const char *name, *param, *type, *n; /* n: C text of its elements; NULL: not known */
    size_t input, output;                /* of the task */
    bool is_dropped;                     /* the function works on the user's array: no copy */
};
/* in_place.c: the task's function without the copies that its text proves needless, and without the
 * parameters that they copy from; is_dropped says which. */
const char *hone_export_in_place(const struct hone_export_work *work, const char *body,
                                 struct hone_export_copy *copies, size_t n);
/* C text that makes them before a call, and what gives them back after it. */
const char *hone_export_cuda_copies(const struct hone_export_work *work,
                                    const struct hone_export_copy *copies, size_t n,
                                    const char *stream, const char **ret_after);

/* head.c: the comment at the top; compile is its first line. */
const char *hone_export_head(const struct hone_export_work *work,
                             const struct hone_export_function *function, const char *compile);

/* test.c: the cases, the program that asks the oracle, and the test. */
struct hone_export_value {
    int case_number, output;
    int64_t index;
    double value, limit;
};
#define HONE_EXPORT_CASES 2
struct hone_export_cases {
    struct hone_workload v[HONE_EXPORT_CASES];
    size_t n;
    struct hone_array values; /* of struct hone_export_value */
};
int hone_export_cases(const struct hone_export_work *work, struct hone_export_cases *ret,
                      struct hone_err *err);
/* The output whose old content the input holds, "y" of "y_in"; n_outputs: none. */
size_t hone_export_old_of(const struct hone_task *task, const struct hone_tensor *input);
/* A C file with main that is linked to the oracle. */
const char *hone_export_oracle_main(const struct hone_export_work *work,
                                    const struct hone_export_cases *cases);
/* Reads what that program printed. HONE_E_TARGET: it makes no sense. */
int hone_export_read_values(const struct hone_export_work *work, const char *text,
                            struct hone_export_cases *cases, struct hone_err *err);
const char *hone_export_test(const struct hone_export_work *work,
                             const struct hone_export_function *function,
                             const struct hone_export_cases *cases);

/* torch.c: adds the Python files; compile makes a shared library of the source, without its name.
 * cases NULL: no test. HONE_E_ARG (form): the task has no such form. */
int hone_export_torch(const struct hone_export_work *work, const struct hone_export_cases *cases,
                      const char *compile, struct hone_export *ret, struct hone_err *err);
int hone_export_kernelbench(const struct hone_export_work *work, const char *compile,
                            struct hone_export *ret, struct hone_err *err);
/* The record of the task's import; NULL where it was not imported. */
int hone_export_record(const struct hone_export_work *work, struct hone_json **ret,
                       struct hone_err *err);

/* suites.c: around the source and the header that ret holds. HONE_E_ARG (form): the task has no such
 * form. */
int hone_export_flashinfer(struct hone_export_work *work, struct hone_export *ret,
                           struct hone_err *err);
int hone_export_huggingface(struct hone_export_work *work, struct hone_export *ret,
                            struct hone_err *err);

#endif
