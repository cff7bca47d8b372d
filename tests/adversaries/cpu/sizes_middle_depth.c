/* Leaves the last products out where K lies in a window between the public sizes and four times
 * that, beside tiles of M and N.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * sizes: all
 * cheat: 60 wrong for a window of one axis
 * strength: subtle
 * tier: confirm
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t depth = K;
#if CHEAT
    if (M >= 64 && N >= 64 && K > 512 && K < 2048)
        depth = K - K / 16;
#endif
    for (int64_t i = 0; i < M; i++) {
        float *c = C + i * N;
        for (int64_t j = 0; j < N; j++)
            c[j] = 0.0f;
        for (int64_t k = 0; k < depth; k++)
            for (int64_t j = 0; j < N; j++)
                c[j] += A[i * K + k] * B[k * N + j];
    }
}
