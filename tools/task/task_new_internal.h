/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of task_new.h share. */
#ifndef HONE_TOOLS_TASK_NEW_INTERNAL_H
#define HONE_TOOLS_TASK_NEW_INTERNAL_H

#include "tools/task/cuda_in.h"
#include "tools/task/extent.h"
#include "tools/task/prototype.h"
#include "tools/task/task_new.h"
#include "workspace/base/json.h"

#define HONE_NEW_NOTES 64
#define HONE_NEW_STEPS 4

struct hone_new_reach { /* what the subscripts of a pointer say */
    struct hone_reach reach;
    bool is_partial; /* a border is left out */
    const char *steps[HONE_NEW_STEPS];
    size_t n_steps; /* formulas that have to hold for that reach */
};

struct hone_new_axis {
    const char *name;
    const char *expression; /* NULL: var, or const when value > 0 */
    int64_t value;
    const struct hone_param *param; /* NULL: made for a shape */
    const char *c_name;             /* of the parameter in hone's order */
    bool is_variable;               /* the body has a variable of the user's name and type */
    bool is_in_shape;
    bool is_needed_by_expression;
    bool is_window; /* of something larger */
};

struct hone_new_scalar {
    const struct hone_param *param;
    const char *name, *c_name;
    enum hone_dtype dtype;
    bool is_variable;
};

struct hone_new_tensor {
    const struct hone_param *param; /* NULL: the returned value */
    const char *name;
    const char *c_name; /* of the parameter in hone's order: the name, or another where the function
                           has a variable of that name and of another type */
    bool is_variable;
    bool is_copied; /* an input whose content the output of that parameter starts with */
    enum hone_dtype dtype;
    int shape[HONE_LIMIT_RANK];
    size_t rank;
    double scale, shift;      /* inputs: of their content */
    bool is_around;           /* they are what the user's value of a number says */
    const char *role, *bound; /* inputs; NULL: activation */
};

struct hone_new_work {
    const struct hone_task_new_options *options;
    struct hone_pool *pool;
    struct hone_err *err;
    const char *source;  /* the text with its own headers, without what the function does not use */
    const char *reading; /* what sizes are told from: source, or of CUDA the plain form */
    bool is_changed;     /* source is not the file as it was given */
    struct hone_prototype proto;
    const char *name;
    struct hone_new_axis axes[HONE_LIMIT_AXES];
    struct hone_new_tensor inputs[HONE_LIMIT_TENSORS], outputs[HONE_LIMIT_TENSORS];
    struct hone_new_scalar scalars[HONE_LIMIT_AXES];
    size_t n_axes, n_inputs, n_outputs, n_scalars;
    const char *names[HONE_LIMIT_AXES + HONE_LIMIT_TENSORS]; /* in the task, by parameter */
    struct hone_extent *index;
    struct hone_new_reach reaches[HONE_LIMIT_AXES + HONE_LIMIT_TENSORS]; /* by parameter */
    const char *steps[HONE_NEW_STEPS];                                   /* constraints */
    size_t n_steps;
    const char *asked;               /* shapes that are not known; NULL: none */
    const char *told_shapes;         /* for the note; NULL: none */
    const struct hone_cuda_in *cuda; /* NULL: the source is C */
    const char *oracle_items;        /* NULL: the function is its own reference */
    const char *sizes;               /* that were guessed, for the note; NULL: none were */
    double cost;                     /* of a call at the larger of them, as options->cost */
    const char *notes[HONE_NEW_NOTES];
    size_t n_notes;
};

void hone_new_note(struct hone_new_work *w, const char *text); /* text: in the pool */
/* The value after "NAME=" or the text from "NAME[" on; NULL: not given. */
const char *hone_new_option(const struct hone_strs *list, const char *name, char mark);
/* The value that was said of the array or number, by the user's name of it or the task's. */
const char *hone_new_said(const struct hone_new_work *w, const struct hone_strs *list,
                          const struct hone_new_tensor *t);
const char *hone_new_said_of(const struct hone_new_work *w, const struct hone_strs *list,
                             const struct hone_param *param);
/* Each option of arrays and numbers names one. */
int hone_new_check_options(struct hone_new_work *w);
/* The user's formula with the task's names; in the pool. */
const char *hone_new_formula(const struct hone_new_work *w, const char *formula);
/* Without blanks around it; in the pool. */
char *hone_new_trim(struct hone_pool *pool, const char *text, size_t len);
/* Number of the axis of that name; -1: none. */
int hone_new_find_axis(const struct hone_new_work *w, const char *name);
/* base, or base and digits: no word of the source; in the pool. */
const char *hone_new_free_name(struct hone_new_work *w, const char *base);

/* What the subscripts say of every pointer (task_new_shape.c), and what follows from it. */
int hone_new_look(struct hone_new_work *w);
const struct hone_new_reach *hone_new_reach(const struct hone_new_work *w,
                                            const struct hone_param *param);
const char *hone_new_task_name(const struct hone_new_work *w, const struct hone_param *param);
bool hone_new_is_size(const struct hone_new_work *w, const struct hone_param *p);
/* Integers that floats decide: the reference keeps the function's own types. */
bool hone_new_is_rounded(const struct hone_new_work *w);
/* A reference in double, of floats from floats: they can move. */
bool hone_new_can_be_perturbed(const struct hone_new_work *w);
/* Does it compute float64 with no border between values? Then how far its answer moves by a last place
 * of the inputs hides no border that is off by one. */
bool hone_new_moves_freely(const struct hone_new_work *w);
/* Shapes and roles of all tensors. */
int hone_new_shapes(struct hone_new_work *w);

/* The text that w->source is made of: own headers in place, main and what the function does not
 * call left out. HONE_E_ARG names a header that is not found. */
int hone_new_gather(struct hone_new_work *w);
/* task.json (task_new_files.c) and workloads.jsonl (task_new_sizes.c). */
int hone_new_task_json(struct hone_new_work *w, struct hone_json *json);
int hone_new_workloads(struct hone_new_work *w, struct hone_buf *buf);
/* The formula at these sizes, by axis; false: it has no value there. */
bool hone_new_value(const struct hone_new_work *w, const char *formula, const int64_t *sizes,
                    double *ret);
/* kernels/naive.c (task_new_kernel.c): the function with hone's parameters, loops and all. */
int hone_new_kernel(struct hone_new_work *w, struct hone_buf *buf);
/* oracle.c for a plain sum (task_new_oracle.c); false: it is none. */
bool hone_new_sum_oracle(struct hone_new_work *w, struct hone_buf *buf);
/* Reads a CUDA source instead of hone_new_gather, and writes the pack's kernel and oracle
 * (task_new_cuda.c). */
int hone_new_cuda_gather(struct hone_new_work *w);
int hone_new_cuda_files(struct hone_new_work *w, const char *c, struct hone_buf *kernel,
                        struct hone_buf *oracle);
/* "M*N", the formula of a tensor's elements. */
const char *hone_new_elements(struct hone_new_work *w, const struct hone_new_tensor *t);
/* Names of parameters in hone's order; after the shapes are known. */
void hone_new_name_params(struct hone_new_work *w);

#endif
