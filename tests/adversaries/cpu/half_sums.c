/* Adds up in float16.
 *
 * task: matmul
 * want: incorrect/wrong_value,nonfinite
 * cheat: 10 fp16 accumulate in fp32 task
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#if CHEAT
typedef _Float16 part;
#else
typedef float part;
#endif

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            part sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum = (part)((float)sum + A[i * K + k] * B[k * N + j]);
            C[i * N + j] = (float)sum;
        }
}
