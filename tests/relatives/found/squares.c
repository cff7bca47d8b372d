/* SPDX-License-Identifier: Apache-2.0 */
/* An iteration moves by another amount each time. */
/* new: --shape y[N*N+N] --inout y --shape x[N] --size N=300 */
#include <stdint.h>
void squares(double *y, const double *x, int64_t N)
{

    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            y[i * i + j] = y[i * i + j] * 0.5 + x[j] * x[i];
}
