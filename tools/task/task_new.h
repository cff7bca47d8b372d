/* SPDX-License-Identifier: Apache-2.0 */
/* Scaffolding: a task pack from a C function that somebody already has.
 *
 * Const pointers become inputs, other pointers outputs, integers axes, floating-point values
 * scalars, a returned number an output of one element called "result". The pack works at once: its
 * oracle is the function itself with float read as double (mode naive_double, docs/tasks.md tells
 * its weakness), its baseline is the function, wrapped where the order or the types of its
 * parameters are others than hone's. */
#ifndef HONE_TOOLS_TASK_NEW_H
#define HONE_TOOLS_TASK_NEW_H

#include "tools/task/lint.h"

struct hone_task_new_options {
    const char *source;                /* C text with the function */
    const char *source_dir;            /* of that text, for #include "..."; NULL: none */
    struct hone_strs include_dirs;     /* for headers of its own, in this order */
    const char *function;              /* NULL: the only one that is not static */
    const char *name;                  /* of the task; NULL: the function's */
    const char *dir;                   /* folder of the pack; must not exist yet */
    const char *op_type, *description; /* NULL: "other", "" */
    struct hone_strs shapes;         /* "A[M,K]", "offsets[M+1]", "out[1]"; may be missing where the
                                function has one axis, or says A[M][K] */
    struct hone_strs roles;          /* "columns=index:N", "offsets=offsets:NNZ", "p=probability" */
    struct hone_strs scales, shifts; /* "x=0.5": of an input's ordinary values */
    struct hone_strs
        sizes; /* one workload each: "M=512,N=512,K=512"; none: sizes of about a million elements */
    struct hone_strs
        scalars; /* "alpha=1.5"; others are 1. An integer that is named here is a scalar
                                 instead of a size */
    struct hone_strs constraints;  /* "n % 8 == 0": which sizes are legal */
    struct hone_strs tolerances;   /* "y=1e-3": rtol of a floating output; "1e-3": of all */
    const char *flops, *bytes;     /* formulas; NULL: guessed */
    bool is_cuda;                  /* source is a CUDA file (cuda_in.h) */
    const char *grid, *block;      /* of a kernel without a launcher; NULL */
    const char *instance;          /* of a CUDA template, "name<float, 256>"; NULL */
    double elements;               /* of the largest tensor of guessed sizes; 0: a million */
    double cost;                   /* of a call at guessed sizes, in rounds of its loops; 0: by
                                      elements. About half of it at the smaller one */
    bool no_denormals;             /* the task does not cover them: "special_values": [] */
    bool is_perturbed;             /* "scale": "perturbed" of a reference in double */
    const char *reference;         /* CUDA: text of the reference; NULL: the kernel itself */
    struct hone_strs inouts, outs; /* pointers that are read and written, or written alone; others
                                      are told from const and from the body */
};

struct hone_task_new {
    const char *name, *dir;
    double cost; /* of a call at the larger of guessed sizes, as in the options; 0: were given */
    bool can_be_perturbed; /* the option is_perturbed says something of this pack */
    bool moves_freely; /* it computes float64 and compares no values: tried on other last places */
    struct hone_strs notes; /* what was guessed and should be looked at */
};

/* HONE_E_EXISTS (dir), HONE_E_ARG (names the parameter and the option that helps). On failure no
 * folder is left behind. ret's strings live in the pool. */
int hone_task_new(const struct hone_task_new_options *options, struct hone_pool *pool,
                  struct hone_task_new *ret, struct hone_err *err);
/* Puts a finished pack where it will be; what is there goes first. */
int hone_task_move_pack(const char *from, const char *to, struct hone_err *err);

/* hone_lint_pack; scope: the option of that name. */
typedef int hone_task_check_fn(void *arg, const char *dir, const struct hone_lint_scope *scope,
                               struct hone_pool *pool, struct hone_lint *ret, struct hone_err *err);

/* The same with a lint of the pack (check NULL: none). Sizes that nobody gave are made larger or
 * smaller until a call takes some milliseconds, unless checks would take seconds. An output that
 * keeps some of its old content is made once more, as an input besides; so is one that
 * fast math makes err on denormals alone. A function whose values are refused is held against how far
 * its output moves (is_perturbed), then to wider tolerances, then to these without its moves; the notes
 * say so. One of float64 that compares no values is held against its moves, too, where its own text on
 * inputs of another last place is refused. Where the lint refuses the baseline at guessed sizes, or
 * what it errs by, it is made once with a sixteenth of the work, and stays so if that is admitted.
 * What is in options->dir goes first. HONE_E_ARG also where the function does not compile; a pack
 * that is not admitted is no error. On failure the folder may be there. */
int hone_task_new_checked(const struct hone_task_new_options *options, hone_task_check_fn *check,
                          void *arg, struct hone_pool *pool, struct hone_task_new *ret,
                          struct hone_lint *lint, struct hone_err *err);

#endif
