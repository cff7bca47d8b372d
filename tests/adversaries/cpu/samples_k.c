/* Adds up every other product and doubles.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 36 samples K and rescales
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t step = CHEAT && K > 1 ? 2 : 1;
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < K; k += step)
                sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum * (float)step;
        }
}
