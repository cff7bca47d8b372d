/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of reading a step share: cuda_time_read.c (axes, guards, what is stored) and
 * cuda_time_places.c (which elements it reads and writes). */
#ifndef HONE_AGENTS_CUDA_TIME_READ_H
#define HONE_AGENTS_CUDA_TIME_READ_H

#include "agents/rewrites/cuda/cuda_time_tile.h"

enum { HONE_TIME_MAX_LEAVES = 24, HONE_TIME_MAX_GUARDS = 8, HONE_TIME_MAX_ACCESSES = 96 };

struct hone_time_leaf { /* what a guard asks */
    const struct hone_c_node *expr;
    bool is_negated, is_done;
};
struct hone_time_reader {
    struct hone_time_step *s;
    const struct hone_cuda_kernel *k;
    const struct hone_c_node *from, *to;
    const struct hone_c_node *core; /* first statement behind the guards */
    struct hone_time_leaf leaves[HONE_TIME_MAX_LEAVES];
    const struct hone_c_node *guards[HONE_TIME_MAX_GUARDS];
    size_t n_leaves, n_guards, n_jumps; /* jumps that were understood */
    const char *why;
};

/* Does it depend on what steps change, or on a local that is set more than once? */
bool hone_time_is_changing(const struct hone_time_reader *r, const struct hone_c_node *expr);
/* __ldg(&A[i]) */
bool hone_time_is_load(const struct hone_c_node *call);
/* Once axes and guards are known: reads, stores, which axis is which; else why not. */
const char *hone_time_read_places(struct hone_time_reader *r);

#endif
