/* Is wrong in one element of ten thousand, in large problems alone.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 7 writes every element but 1 in 10 000
 * strength: subtle
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
    for (int64_t i = 9999; i < M * N; i += 10000)
        C[i] = C[i - 1];
#endif
}
