/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that no task may accept, made from a task's signature alone.
 *
 * Each is an ordinary cpu candidate: what a lazy or a clever author would hand in instead
 * of the computation. Those that start from the right answer contain the naive kernel
 * under another name. */
#ifndef HONE_TOOLS_BAD_KERNELS_H
#define HONE_TOOLS_BAD_KERNELS_H

#include "workspace/task/task.h"

struct hone_bad_kernel {
    const char *name;    /* "zeros" */
    const char *meaning; /* one sentence */
    /* Owned text, or NULL when the task has nothing for it (no steps, no float input). naive is
     * borrowed. */
    char *(*make)(const struct hone_task *task, const char *naive);
    bool is_lower_precision; /* may pass where the task allows lower precision */
    const char *fix;         /* what to do when it passes; NULL: what helps with most */
};
#define HONE_NAN_MEANING "writes what is not a number to every element"
#define HONE_NAN_FIX     "The reference is NaN everywhere in an output; " HONE_POSITIVE_FIX
/* The same for a baseline that is not finite where its reference is. */
#define HONE_NONFINITE_FIX                                                                         \
    "The function leaves the range of its type where double does not, or an input is outside of "  \
    "what the function is for; " HONE_POSITIVE_FIX
#define HONE_POSITIVE_FIX                                                                          \
    "give what stands under a root, a logarithm or a power the role positive (roles of task_new, " \
    "hone task new --role x=positive), and the scalars values (scalars, --scalar)."

/* The naive kernel with all of its arithmetic, inputs and outputs in the next lower type that a C
 * compiler has (float32: float16, float64: float32); owned. Text that looks at the bits of its
 * numbers may not compile so. hone_has_lowered_kernel: there is such a type. */
char *hone_lowered_kernel(const struct hone_task *task, const char *naive);
bool hone_has_lowered_kernel(const struct hone_task *task);

/* The naive kernel on inputs that differ in their last place, as right as any: a task of a function
 * whose answer moves far by that must accept it. Owned; NULL: not all floats of the inputs are
 * float64, or there are none. Each draw moves others. */
char *hone_moved_kernel(const struct hone_task *task, const char *naive, int draw);

extern const struct hone_bad_kernel hone_bad_kernels[];
extern const size_t hone_n_bad_kernels;
/* For packs whose only kernel is naive.cu: ordinary cuda candidates (bad_kernels_cuda.c). */
extern const struct hone_bad_kernel hone_bad_cuda_kernels[];
extern const size_t hone_n_bad_cuda_kernels;

#endif
