/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are longer than the way from one to the next. */
/* new: --shape out[F*HOP+WIN] --inout out --shape x[F,WIN] --shape w[WIN]
        --size F=400,HOP=300,WIN=500 */
#include <stdint.h>
void overlap_add(double *out, const double *x, const double *w, int64_t F, int64_t HOP, int64_t WIN)
{
    for (int64_t f = 0; f < F; f++)
        for (int64_t j = 0; j < WIN; j++)
            out[f * HOP + j] += x[f * WIN + j] * w[j];
}
