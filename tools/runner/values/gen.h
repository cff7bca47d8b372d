/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs: content by role and distribution from a secret key.
 *
 * Every tensor of every call has a stream of its own, derived from (key, counter, tensor) by
 * SHA-256, so that what a kernel has seen says nothing about what comes next, and the judge can
 * make the same content again at any time. Values carry full-width mantissas (no small set of
 * levels that a table could cover), except where the kind is about exactness. What the kinds look
 * like is gen_shape.h; their names are kinds.h. Pure; any thread. */
#ifndef HONE_RUNNER_GEN_H
#define HONE_RUNNER_GEN_H

#include "tools/runner/values/kinds.h"
#include "workspace/task/task.h"

struct hone_gen; /* key and tables; immutable */
struct hone_gen *hone_gen_new(const uint8_t key[16]);
void hone_gen_free(struct hone_gen *gen);

/* Fills one input. dst has room for the tensor's elements. */
void hone_gen_input(const struct hone_gen *gen, const struct hone_task *task,
                    const struct hone_workload *workload, size_t input, enum hone_distribution dist,
                    uint64_t counter, void *dst);
/* Is content of this shape what the pack stores? Then: n elements of it, as a ring that begins at a
 * row (an element, where rows are few) which the word chooses. An index stays below the bound.
 * Offsets are such a ring of the file's row lengths, stretched to the total: at the file's own sizes
 * they are its lengths, in turn. */
bool hone_gen_is_stored(const struct hone_tensor *tensor, const struct hone_shape *shape);
void hone_gen_stored(const struct hone_tensor *tensor, const struct hone_shape *shape,
                     uint64_t word, void *dst);
/* The word of one call's offsets, which all begin at the same row: lengths belong together. */
uint64_t hone_gen_stored_word(const struct hone_gen *gen, uint64_t counter);
/* What an input looks like in content of this kind: tensors of one call may be of different kinds.
 * Its stream is the host's. */
void hone_gen_shape(const struct hone_gen *gen, const struct hone_task *task,
                    const struct hone_workload *workload, size_t input, enum hone_distribution dist,
                    uint64_t counter, struct hone_shape *ret);
/* 128 bits that are this content's own, by SHA-256 from (key, counter, tensor): for generators that
 * run elsewhere. */
void hone_gen_stream(const struct hone_gen *gen, uint64_t counter, uint64_t tensor,
                     uint64_t ret[2]);
/* By-value parameter: the public value, or one drawn from its range for a hidden workload (same for
 * the whole workload). */
double hone_gen_scalar(const struct hone_gen *gen, const struct hone_task *task,
                       const struct hone_workload *workload, size_t scalar);

/* 1 / sqrt(fan-in) of a weight. */
double hone_gen_weight_scale(const struct hone_tensor *tensor,
                             const struct hone_workload *workload);

/* What a role that fixes elements by their place (hone_role_is_placed) makes of a value at place i;
 * other roles leave it alone. For callers that change single elements. */
double hone_gen_fit(const struct hone_tensor *tensor, const struct hone_workload *workload,
                    int64_t i, double value);

/* A generator for the judge's own choices (orders, items, moments). Deterministic in (key, what).
 * Blocks of SHA-256 over 128 bits of its own and a counter: a kernel sees some of the choices, and
 * must not tell the others by them. */
#define HONE_RNG_WORDS 4
struct hone_rng {
    uint64_t own[2], counter, words[HONE_RNG_WORDS];
    int n_left;
};
struct hone_rng hone_gen_rng(const struct hone_gen *gen, uint64_t what);
int64_t hone_rng_below(struct hone_rng *rng, int64_t bound); /* 0 <= v < bound; bound > 0 */

#endif
