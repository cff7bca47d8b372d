/* SPDX-License-Identifier: Apache-2.0 */
/* Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011). Number n of stream s under a key is a pure function
 * of the three, so that any element of any tensor can be made again on its own, in any order,
 * by any thread.
 *
 * Good statistics, not a cipher. The first 8 key bytes are Philox's key; the other 8 are mixed into
 * the stream. */
#ifndef HONE_BASE_RNG_H
#define HONE_BASE_RNG_H

#include "workspace/base/base.h"

/* One block, as in the paper: the known-answer tests' entry. */
void hone_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t ret[4]);

uint64_t hone_rng_u64(const uint8_t key[16], uint64_t stream, uint64_t counter);
/* out[i] = hone_rng_u64(key, stream, first + i). */
void hone_rng_fill(const uint8_t key[16], uint64_t stream, uint64_t first, uint64_t *out, size_t n);

/* In [0, 1), 53 bits. */
static inline double hone_rng_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1.0p-53;
}

#endif
