/* Inputs: content by role and distribution from a secret key.
 *
 * Every tensor of every call has a stream of its own, derived from (key, counter, tensor) by
 * SHA-256, so that what a kernel has seen says nothing about what comes next, and the judge can
 * make the same content again at any time. Values carry full-width mantissas (no small set of
 * levels that a table could cover), except where the distribution is about exactness. Pure; any
 * thread. */
#ifndef HONE_RUNNER_GEN_H
#define HONE_RUNNER_GEN_H

#include "workspace/task/task.h"

enum hone_distribution { /* of activations and weights; offsets and indices have shapes of their own
                            for some (gen.c) */
                         HONE_DIST_NORMAL,      /* normal(0, 1): the one that is timed */
                         HONE_DIST_UNIFORM,     /* uniform(-1, 1) */
                         HONE_DIST_SHIFTED,     /* normal(3, 1) */
                         HONE_DIST_EXPONENTIAL, /* skewed, positive */
                         HONE_DIST_HEAVY,       /* Student t, 3 degrees of freedom */
                         HONE_DIST_SMALL,       /* normal x 1e-3 */
                         HONE_DIST_LARGE,       /* normal x 64 */
                         HONE_DIST_MIXED,       /* 1e3 and 1e-3 side by side */
                         HONE_DIST_OUTLIER,     /* normal with one element in 256 x 1000 */
                         HONE_DIST_ZEROS,
                         HONE_DIST_EQUAL,       /* one random value everywhere */
                         HONE_DIST_ALTERNATING, /* +1, -1 */
                         HONE_DIST_SORTED,
                         HONE_DIST_HALVES,   /* first half zeros, second half normal x 64 */
                         HONE_DIST_INTEGERS, /* activations -1023..1023, weights -3..3: sums are
                                                exact in float32 */
                         HONE_DIST_NEGATIVE, /* normal(-100, 1): all far below zero */
                         HONE_DIST_TINY,     /* normal x 1e-9: half has nothing there */
                         HONE_DIST_SPIKES,   /* normal x 1e-3 with some 256 elements of 1e3 to
                                                2e3, the last one among them: what leaves elements
                                                out, or looks at some for all, shows */
                         HONE_DIST_NEARLY,   /* one random value, and some 256 smaller elements
                                                at random places, the last one among them:
                                                what takes a sample for the structure shows */
                         HONE_DIST_RARE,     /* normal, but for one to four elements or so of 300
                                                to 600 at random places: what takes a sample for
                                                plain shows */
                         HONE_N_DISTS
};
const char *hone_dist_name(enum hone_distribution dist);
bool hone_dist_parse(const char *word, enum hone_distribution *ret);

struct hone_gen; /* key and tables; immutable */
struct hone_gen *hone_gen_new(const uint8_t key[16]);
void hone_gen_free(struct hone_gen *gen);

/* Fills one input. dst has room for the tensor's elements. */
void hone_gen_input(const struct hone_gen *gen, const struct hone_task *task,
                    const struct hone_workload *workload, size_t input, enum hone_distribution dist,
                    uint64_t counter, void *dst);
/* 128 bits that are this content's own, by SHA-256 from (key, counter, tensor): for generators that
 * run elsewhere. */
void hone_gen_stream(const struct hone_gen *gen, uint64_t counter, uint64_t tensor,
                     uint64_t ret[2]);
/* By-value parameter: the public value, or one drawn from its range for a hidden workload (same for
 * the whole workload). */
double hone_gen_scalar(const struct hone_gen *gen, const struct hone_task *task,
                       const struct hone_workload *workload, size_t scalar);

/* What an element of an integer type gets in place of the kind's real value; u is a second draw of
 * its own, 0 < u < 1. Values of a byte are used all, a bool is 0 or 1; signed types are small
 * integers as the real values are, but for `large` (the whole range, as far as a double counts) and
 * `mixed` (half of the bits). gen_integer.c; gpu_content.cu has the same. */
double hone_gen_integer(enum hone_dtype dtype, enum hone_distribution dist, double u, double value);

/* 1 / sqrt(fan-in) of a weight. */
double hone_gen_weight_scale(const struct hone_tensor *tensor,
                             const struct hone_workload *workload);

/* A generator for the judge's own choices (orders, items, moments). Deterministic in (key, what).
 * Blocks of SHA-256 over 128 bits of its own and a counter: a kernel sees some of the choices, and
 * must not tell the others by them. */
#define HONE_DICE_WORDS 4
struct hone_dice {
    uint64_t own[2], counter, words[HONE_DICE_WORDS];
    int n_left;
};
struct hone_dice hone_gen_dice(const struct hone_gen *gen, uint64_t what);
uint64_t hone_dice_next(struct hone_dice *dice);
int64_t hone_dice_below(struct hone_dice *dice, int64_t bound); /* 0 <= v < bound; bound > 0 */

#endif
