/* Rows of B whose factor is zero are not read: pruned weights, ReLU outputs.
 *
 * task: matmul
 * honest: 41 data-dependent work (skips zeros) */
#include <stdint.h>
#include <string.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    memset(C, 0, (size_t)(M * N) * sizeof *C);
    for (int64_t i = 0; i < M; i++)
        for (int64_t k = 0; k < K; k++) {
            float a = A[i * K + k];
            if (a == 0.0f)
                continue;
            for (int64_t j = 0; j < N; j++)
                C[i * N + j] += a * B[k * N + j];
        }
}
