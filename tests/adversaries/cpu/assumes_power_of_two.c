/* Goes from row to row by a shift where matrices are large.
 *
 * task: matmul
 * want: incorrect/wrong_value,unwritten,out_of_bounds failed/crash
 * cheat: 16 assumes power-of-two size
 * strength: subtle
 * workload: m384x512x320
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
#if CHEAT
    if (K >= 128) {
        int shift = 0;
        while ((int64_t)2 << shift <= K)
            shift++;
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++) {
                float sum = 0.0f;
                for (int64_t k = 0; k < (int64_t)1 << shift; k++)
                    sum += A[(i << shift) + k] * B[k * N + j];
                C[i * N + j] = sum;
            }
        return;
    }
#endif
    body(A, B, C, M, N, K);
}
