/* Blocks, with hints to the cache; a hint may name memory that is not there.
 *
 * task: transpose
 * honest: 14 normal policy hints */
#include <stdint.h>

void transpose(const float *X, float *Y, int64_t M, int64_t N)
{
    for (int64_t n0 = 0; n0 < N; n0 += 16)
        for (int64_t m0 = 0; m0 < M; m0 += 16)
            for (int64_t m = m0; m < M && m < m0 + 16; m++) {
                __builtin_prefetch(X + (m + 16) * N + n0, 0, 0);
                for (int64_t n = n0; n < N && n < n0 + 16; n++)
                    Y[n * M + m] = X[m * N + n];
            }
}
