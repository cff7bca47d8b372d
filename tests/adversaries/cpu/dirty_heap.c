/* Adds up in scratch memory that it takes for zero.
 *
 * task: matmul
 * want: incorrect/wrong_value,nonfinite,uninitialised
 * cheat: 25 reads uninitialised workspace
 * strength: blatant
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    float *sums =
        CHEAT ? malloc((size_t)(M * N) * sizeof(float)) : calloc((size_t)(M * N), sizeof(float));
    for (int64_t i = 0; i < M; i++)
        for (int64_t k = 0; k < K; k++)
            for (int64_t j = 0; j < N; j++)
                sums[i * N + j] += A[i * K + k] * B[k * N + j];
    memcpy(C, sums, (size_t)(M * N) * sizeof(float));
    free(sums);
}
