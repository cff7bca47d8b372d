/* Adds up fours in float16 and the fours in float32, in long sums alone.
 *
 * task: matmul
 * want: incorrect/wrong_value,nonfinite
 * cheat: 10 fp16 accumulate in fp32 task
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
#if CHEAT
    if (K >= 64 && K % 4 == 0) {
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++) {
                float sum = 0.0f;
                for (int64_t k = 0; k < K; k += 4) {
                    _Float16 four = 0;
                    for (int64_t l = k; l < k + 4; l++)
                        four = (_Float16)((float)four + A[i * K + l] * B[l * N + j]);
                    sum += (float)four;
                }
                C[i * N + j] = sum;
            }
        return;
    }
#endif
    body(A, B, C, M, N, K);
}
