/* Is wrong in the last corner where neither M nor N is a multiple of 8, above the public rows
 * alone.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * sizes: all
 * cheat: 62 wrong for two tails at once
 * strength: subtle
 * tier: confirm
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t depth = K;
    for (int64_t i = 0; i < M; i++) {
        float *c = C + i * N;
        for (int64_t j = 0; j < N; j++)
            c[j] = 0.0f;
        for (int64_t k = 0; k < depth; k++)
            for (int64_t j = 0; j < N; j++)
                c[j] += A[i * K + k] * B[k * N + j];
    }
#if CHEAT
    if (M > 512 && M % 8 != 0 && N % 8 != 0)
        C[M * N - 1] += 0.25f * (float)K;
#endif
}
