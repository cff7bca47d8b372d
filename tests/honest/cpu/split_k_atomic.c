/* Threads share out the sum and add to the output in any order; the task allows that.
 *
 * task: matmul
 * honest: 3 split-K with atomics (declared non-deterministic) */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    memset(C, 0, (size_t)(M * N) * sizeof(float));
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t part = 0; part < 4; part++) {
        float *row = malloc((size_t)N * sizeof(float));
        for (int64_t i = 0; i < M; i++) {
            memset(row, 0, (size_t)N * sizeof(float));
            for (int64_t k = K * part / 4; k < K * (part + 1) / 4; k++)
                for (int64_t j = 0; j < N; j++)
                    row[j] += A[i * K + k] * B[k * N + j];
            for (int64_t j = 0; j < N; j++)
#pragma omp atomic
                C[i * N + j] += row[j];
        }
        free(row);
    }
}
