/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape ex[N,M] --shape ey[N,M] --shape hz[N,M] --shape pulse[T] --inout ex --inout ey --inout hz --size N=500,M=600,T=6 --constraint T<=20 */
#include <stdint.h>
void fdtd2d(double *ex, double *ey, double *hz, const double *pulse, int64_t N, int64_t M,
            int64_t T)
{
    for (int64_t t = 0; t < T; t++) {
        for (int64_t j = 0; j < M; j++)
            ey[j] = pulse[t];
        for (int64_t i = 1; i < N; i++)
            for (int64_t j = 0; j < M; j++)
                ey[i * M + j] = ey[i * M + j] - 0.5 * (hz[i * M + j] - hz[(i - 1) * M + j]);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 1; j < M; j++)
                ex[i * M + j] = ex[i * M + j] - 0.5 * (hz[i * M + j] - hz[i * M + j - 1]);
        for (int64_t i = 0; i < N - 1; i++)
            for (int64_t j = 0; j < M - 1; j++)
                hz[i * M + j] = hz[i * M + j] - 0.7 * (ex[i * M + j + 1] - ex[i * M + j] +
                                                       ey[(i + 1) * M + j] - ey[i * M + j]);
    }
}
