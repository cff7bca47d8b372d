/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

static float at(const float *X, int64_t l, int64_t m, int64_t n, int64_t L, int64_t M, int64_t N)
{
    if (l < 0 || m < 0 || n < 0 || l >= L || m >= M || n >= N)
        return 0;
    return X[(l * M + m) * N + n];
}

void stencil3d(const float *X, float *Y, int64_t L, int64_t M, int64_t N)
{
    for (int64_t l = 0; l < L; l++)
        for (int64_t m = 0; m < M; m++)
            for (int64_t n = 0; n < N; n++)
                Y[(l * M + m) * N + n] =
                    0.4f * X[(l * M + m) * N + n] +
                    0.1f * (at(X, l, m, n - 1, L, M, N) + at(X, l, m, n + 1, L, M, N) +
                            at(X, l, m - 1, n, L, M, N) + at(X, l, m + 1, n, L, M, N) +
                            at(X, l - 1, m, n, L, M, N) + at(X, l + 1, m, n, L, M, N));
}
