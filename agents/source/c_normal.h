/* SPDX-License-Identifier: Apache-2.0 */
/* The normal form of C loop nests: a contraction is for i, for j { acc = init; for k acc += E;
 * X[i, j] = acc; }.
 *
 * The same contraction has many spellings: the sum grows in memory, k stands outside of j, the
 * first value is set by a loop of its own. Rules read one of them. Each step brings one nest
 * closer to it and gives the whole source anew:
 *
 *     for (text = source; text; text = hone_c_normal_step(&in)) read text into in
 *
 * A step is taken where the text proves that no element changes: the same operations in the same
 * order on each element. Pointers of different parameters are taken to be apart, as by every
 * rewrite. Where there is no proof there is no step. */
#ifndef HONE_AGENTS_C_NORMAL_H
#define HONE_AGENTS_C_NORMAL_H

#include "agents/source/site.h"

/* The source one step closer, in the input's pool; NULL: no step applies. */
const char *hone_c_normal_step(const struct hone_coder_input *in);

#endif
