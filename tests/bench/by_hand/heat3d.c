/* SPDX-License-Identifier: Apache-2.0 */
/* Planes go to the threads in one parallel region. Vectors have 32 bytes: those of 64 would nearly
 * all cross a cache line. */
#include <stdint.h>

#pragma GCC target("prefer-vector-width=256")

static void plane(double *restrict to, const double *restrict from, int64_t N)
{
    for (int64_t j = 1; j < N - 1; j++) {
        const double *a = from + j * N;
        double *b = to + j * N;
#pragma omp simd
        for (int64_t k = 1; k < N - 1; k++)
            b[k] = 0.25 * a[k] + 0.125 * (a[k - N * N] + a[k + N * N] + a[k - N] + a[k + N] +
                                          a[k - 1] + a[k + 1]);
    }
}

void heat3d_by_hand(double *A, double *B, int64_t N, int64_t T)
{
#pragma omp parallel
    for (int64_t half = 0; half < 2 * T; half++) {
#pragma omp for schedule(static)
        for (int64_t i = 1; i < N - 1; i++)
            plane((half % 2 ? A : B) + i * N * N, (half % 2 ? B : A) + i * N * N, N);
    }
}
