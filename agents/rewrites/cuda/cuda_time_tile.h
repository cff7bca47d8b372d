/* SPDX-License-Identifier: Apache-2.0 */
/* Iterated stencils of a CUDA source: what one step's kernel does to a point, and the launcher's
 * loop over the steps.
 *
 *     for (t = 0; t < T; t++) {
 *         step<<<...>>>(from, to, H, W);      to[y * W + x] = f(from[y * W + x + 1], ...)
 *         float *swap = from; from = to; to = swap;
 *     }
 *
 * A step reads one changing array at places a fixed distance from the point, writes another one at
 * the point, and may read arrays that no step changes anywhere. A point that it does not write keeps
 * what each of the two buffers has there. Where something else is found, the answer says what. */
#ifndef HONE_AGENTS_CUDA_TIME_TILE_H
#define HONE_AGENTS_CUDA_TIME_TILE_H

#include "agents/source/cuda_kernel.h"

enum {
    HONE_TIME_MAX_READS = 64,
    HONE_TIME_MAX_STORES = 8,
    HONE_TIME_MAX_BOUNDS = 6,
    HONE_TIME_MAX_CONDS = 16
};

struct hone_time_bound { /* value >= expr + past, or value < expr + past */
    const struct hone_c_node *expr;
    int past;
};
struct hone_time_axis {
    const struct hone_c_node *stmt, *var; /* its declaration */
    char dim;
    int64_t start; /* of the first thread */
    struct hone_time_bound low[HONE_TIME_MAX_BOUNDS], high[HONE_TIME_MAX_BOUNDS];
    size_t n_low, n_high;
    int radius; /* how far a step reads along it */
};
struct hone_time_read {
    const struct hone_c_node *node;
    int dx, dy;
    const struct hone_c_node *x_var, *y_var; /* locals for x + dx and y + dy, held to the bounds */
    int x_more, y_more;                      /* and what the read adds to them */
    const char *path; /* what else about its own place a point asks before it reads; "true" */
};
struct hone_time_cond { /* about the place alone */
    const struct hone_c_node *expr;
    bool is_true; /* at most points */
};

struct hone_time_step {
    const struct hone_cuda_kernel *k;
    size_t from, to; /* parameters of the kernel */
    const char *type;
    struct hone_time_axis axes[HONE_CUDA_MAX_AXES];
    size_t n_axes;
    struct hone_time_axis *x, *y, *plane; /* y, plane NULL: none; nothing is read along a plane */
    struct hone_time_read reads[HONE_TIME_MAX_READS];
    size_t n_reads;
    const struct hone_c_node *stores[HONE_TIME_MAX_STORES]; /* the element on the left */
    size_t n_stores;
    struct hone_time_cond conds[HONE_TIME_MAX_CONDS];
    size_t n_conds;
    const char *written; /* which points within the bounds are; "true" */
    bool keeps_points;   /* are there others whose value a step reads? */
};
struct hone_time_loop {
    const struct hone_c_loop *loop;
    bool is_last_alone; /* the caller may see both buffers */
};

/* NULL: it could be read; else why not. */
const char *hone_time_read(const struct hone_cuda_kernel *k, struct hone_time_step *ret,
                           struct hone_time_loop *ret_loop);
/* An expression of the kernel with locals put in; NULL: one of them changes. */
const char *hone_time_text(const struct hone_time_step *step, const struct hone_c_node *expr);
/* The launcher's loop alone. */
const char *hone_time_read_loop(const struct hone_time_step *step, struct hone_time_loop *ret);

#endif
