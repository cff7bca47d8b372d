/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of a tensor as doubles, whatever their type. Pure; any thread. */
#ifndef HONE_RUNNER_ELEMENT_H
#define HONE_RUNNER_ELEMENT_H

#include "workspace/task/task.h"

#define HONE_ELEMENT_PIECE 256 /* elements that are converted in one go */

double hone_element_get(enum hone_dtype dtype, const void *base, int64_t i);
void hone_element_set(enum hone_dtype dtype, void *base, int64_t i,
                      double value); /* rounds to nearest even; saturates integers */
/* The same of elements first .. first + n - 1, in a loop for the type. */
void hone_element_set_all(enum hone_dtype dtype, void *base, int64_t first, const double *values,
                          int64_t n);
/* The value after a trip through the type: what a perfect kernel would store. */
double hone_element_round(enum hone_dtype dtype, double value);

/* The value with the mantissa of the next lower type (float64: float32's, float32: TF32's,
 * the 16-bit ones: FP8 E4M3's), rounded to nearest even; the exponent's range stays. Integers
 * as they are. */
double hone_element_lower(enum hone_dtype dtype, double value);

/* Two fills that an honest kernel overwrites: a NaN with a payload of its own, and a large finite
 * number (for integers two bit patterns that differ in every bit). */
enum hone_poison { HONE_POISON_NAN, HONE_POISON_LARGE };
uint64_t hone_poison_bits(enum hone_dtype dtype, enum hone_poison poison);
void hone_poison_fill(enum hone_dtype dtype, enum hone_poison poison, void *base, int64_t n);
bool hone_element_is(enum hone_dtype dtype, const void *base, int64_t i, uint64_t bits);
/* Does any of n elements have one of these two patterns? Reads at the speed of memory. */
bool hone_element_any(enum hone_dtype dtype, const void *base, int64_t n, uint64_t bits_a,
                      uint64_t bits_b);

#endif
