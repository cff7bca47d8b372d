/* SPDX-License-Identifier: Apache-2.0 */
/* More elements than are held. */
/* new: --shape y[S] --inout y --shape x[S+20] --shape X[K,S] --size S=300,K=100 */
#include <stdint.h>
void held_many(double *y, const double *x, const double *X, int64_t S, int64_t K)
{

    for (int64_t i = 0; i < S; i++)
        for (int64_t k = 0; k < K; k++) {
            double t = y[i] * 0.5 + x[i + 0] + x[i + 1] + x[i + 2] + x[i + 3] + x[i + 4] +
                       x[i + 5] + x[i + 6] + x[i + 7] + x[i + 8] + x[i + 9] + x[i + 10] +
                       x[i + 11] + x[i + 12] + x[i + 13] + x[i + 14];
            y[i] = t + x[i + 15] * X[k * S + i];
            y[i] = y[i] > 1 ? 0.5 : y[i];
        }
}
