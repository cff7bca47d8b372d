/* SPDX-License-Identifier: Apache-2.0 */
/* A user's CUDA file as C: what `hone task new mine.cu` reads parameters, directions and the
 * reference from.
 *
 * The C text has the same functions at the same lines: a launch runs the kernel's text thread by
 * thread (cuda_in_text.c, in front of it), shared memory is static, barriers and shuffles are
 * switches between fibers. Function templates are written out first, in all three texts. As the
 * oracle of mode naive_double it computes in double what the kernel computes in float, a block on
 * each core where no block can wait for another. */
#ifndef HONE_TOOLS_CUDA_IN_H
#define HONE_TOOLS_CUDA_IN_H

#include "tools/task/prototype.h"

struct hone_cuda_in_options {
    const char *source, *function; /* function: a launcher or a kernel; NULL: the only launcher */
    const char *name;              /* of the task; NULL: the function's */
    const char *grid, *block;      /* C expressions for a kernel without a launcher; NULL */
    const char *instance; /* of a template: "name<float, 256>"; NULL: as the file uses it */
    bool has_reference;   /* the C text need not compute: templates and tricks may stay */
};

struct hone_cuda_in {
    const char *cuda;     /* the file, with a launcher behind it where one was made */
    const char *c;        /* the same as C, without the words in front */
    const char *plain;    /* the same as C that is read alone: sizes and directions */
    const char *function; /* the launcher: defined in all three */
    const char *name;     /* of the task: the function that was asked for */
    bool has_stream;      /* the launcher's last parameter is a stream (not in c) */
    bool is_static;       /* nothing else sees it */
    bool has_barriers;
    bool is_in_turn;       /* a block may see what another does: atomics, fences, volatile */
    const char *instances; /* templates that were written out, "name<float, 256>"; NULL: none */
};

/* Is the path a CUDA file's? */
bool hone_cuda_in_is(const char *path);
/* HONE_E_ARG says what cannot be read, where, and how to write it; HONE_E_LIMIT. In the pool. */
int hone_cuda_in_read(const struct hone_cuda_in_options *options, struct hone_pool *pool,
                      struct hone_cuda_in *ret, struct hone_err *err);
/* What the launches of the launcher do with the elements of its parameter `name`. */
enum hone_access hone_cuda_in_access(const struct hone_cuda_in *in, const char *name,
                                     struct hone_pool *pool);
/* What goes in front of `c`: dim3, launches, atomics, math; behind that, where it has barriers,
 * the fibers and then their words. */
extern const char hone_cuda_in_head[], hone_cuda_in_calls[], hone_cuda_in_barriers[],
    hone_cuda_in_words[];

#endif
