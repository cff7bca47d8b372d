/* SPDX-License-Identifier: Apache-2.0 */
/* Two sweeps per step, their rows split between the threads. Vectors have 32 bytes: those of 64
 * would nearly all cross a cache line. */
#include <stdint.h>

#pragma GCC target("prefer-vector-width=256")

/* ey and ex of row i. */
static void electric(double *restrict ex, double *restrict ey, const double *restrict hz,
                     double pulse, int64_t M, int64_t i)
{
#pragma omp simd
    for (int64_t j = 0; j < M; j++)
        ey[j] = i ? ey[j] - 0.5 * (hz[j] - hz[j - M]) : pulse;
#pragma omp simd
    for (int64_t j = 1; j < M; j++)
        ex[j] -= 0.5 * (hz[j] - hz[j - 1]);
}

static void magnetic(const double *restrict ex, const double *restrict ey, double *restrict hz,
                     int64_t M)
{
#pragma omp simd
    for (int64_t j = 0; j < M - 1; j++)
        hz[j] -= 0.7 * (ex[j + 1] - ex[j] + ey[j + M] - ey[j]);
}

void fdtd2d_by_hand(double *ex, double *ey, double *hz, const double *pulse, int64_t N, int64_t M,
                    int64_t T)
{
#pragma omp parallel
    for (int64_t t = 0; t < T; t++) {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < N; i++)
            electric(ex + i * M, ey + i * M, hz + i * M, pulse[t], M, i);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < N - 1; i++)
            magnetic(ex + i * M, ey + i * M, hz + i * M, M);
    }
}
