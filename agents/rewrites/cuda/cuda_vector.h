/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are dealt out to threads and can take whole vectors (cuda_vector.c): which accesses
 * are of neighbouring elements, and text that moves them. Everything lives in the input's pool. */
#ifndef HONE_AGENTS_CUDA_VECTOR_H
#define HONE_AGENTS_CUDA_VECTOR_H

#include "agents/source/cuda_kernel.h"

enum { HONE_VECTOR_MAX_USES = 32, HONE_VECTOR_MAX_STREAMS = 8 };

struct hone_vector_stream { /* accesses at one place */
    struct hone_c_access a;
    const char *type, *name; /* name of the vector; NULL until there is one */
    bool is_read, is_written;
};

struct hone_vector_loop {
    struct hone_cuda_lane_loop lanes;
    struct hone_vector_stream streams[HONE_VECTOR_MAX_STREAMS];
    size_t n_streams;
    struct {
        const struct hone_c_node *node;
        size_t stream;
    } uses[HONE_VECTOR_MAX_USES];
    size_t n_uses;
    int bytes; /* of the largest element */
};

/* False: the loop is not dealt out, or moves no neighbouring elements in each turn. */
bool hone_vector_read(const struct hone_cuda_kernel *k, const struct hone_c_loop *loop,
                      struct hone_vector_loop *ret);
/* Gives each stream's vector a name that the source does not use yet. */
void hone_vector_name(const struct hone_cuda_kernel *k, struct hone_vector_loop *v);
/* "&x[(size_t)r * n + at]" */
const char *hone_vector_address(const struct hone_cuda_kernel *k, const struct hone_vector_loop *v,
                                const struct hone_vector_stream *s, const char *at);
/* The loop's statements with element u of the vectors. */
const char *hone_vector_inner(const struct hone_cuda_kernel *k, const struct hone_vector_loop *v,
                              const char *u);
/* Is the loop's variable used for anything but the vectors' places? */
bool hone_vector_needs_index(const struct hone_vector_loop *v);

#endif
