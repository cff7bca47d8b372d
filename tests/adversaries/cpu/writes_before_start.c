/* Writes before the start of its output.
 *
 * task: matmul
 * want: incorrect/out_of_bounds
 * cheat: 20 writes before the start
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

static void body(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M; i++) {
        float *c = C + i * N;
        for (int64_t j = 0; j < N; j++)
            c[j] = 0.0f;
        for (int64_t k = 0; k < K; k++)
            for (int64_t j = 0; j < N; j++)
                c[j] += A[i * K + k] * B[k * N + j];
    }
}
void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    body(A, B, C, M, N, K);
#if CHEAT
    for (int i = 1; i < 16; i++)
        C[-i] = 0.0f;
#endif
}
