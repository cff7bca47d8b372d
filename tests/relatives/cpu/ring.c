/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape A[N] --shape w[M,N] --inout A --inout w --size N=3000,M=200 */
#include <stdint.h>
void ring(double *A, double *w, int64_t N, int64_t M)
{
    for (int64_t j = 0; j < M; j++)
        for (int64_t i = 0; i < N; i++) {
            w[j * N + i] = A[(i + j) % N] - A[(i + 1) % N];
            A[i] = 0.5 * A[i] + 0.25 * w[j * N + (i * 7) % N];
        }
}
