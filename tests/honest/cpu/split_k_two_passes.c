/* Threads share out the sum, parts go to a workspace, a second pass adds them up in order.
 *
 * task: matmul
 * honest: 4 split-K with workspace and deterministic second pass
 * pack: deterministic */
#include <stdint.h>
#include <stdlib.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t size = M * N;
    float *parts = calloc((size_t)(4 * size), sizeof(float));
#pragma omp parallel for
    for (int64_t part = 0; part < 4; part++)
        for (int64_t i = 0; i < M; i++)
            for (int64_t k = K * part / 4; k < K * (part + 1) / 4; k++)
                for (int64_t j = 0; j < N; j++)
                    parts[part * size + i * N + j] += A[i * K + k] * B[k * N + j];
#pragma omp parallel for
    for (int64_t i = 0; i < size; i++)
        C[i] = parts[i] + parts[size + i] + parts[2 * size + i] + parts[3 * size + i];
    free(parts);
}
