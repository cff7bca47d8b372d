/* Rows of A that hold bytes, all of them, are kept in bytes; others are not.
 *
 * task: matmul
 * honest: 27 kept in a narrow type where that is exact */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    uint8_t *bytes = malloc((size_t)K);
    for (int64_t i = 0; i < M; i++) {
        bool is_bytes = true;
        for (int64_t k = 0; k < K && is_bytes; k++) {
            float a = A[i * K + k];
            is_bytes = a >= 0 && a <= 255 && a == (float)(int)a;
            bytes[k] = is_bytes ? (uint8_t)a : 0;
        }
        for (int64_t j = 0; j < N; j++) {
            float sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += (is_bytes ? (float)bytes[k] : A[i * K + k]) * B[k * N + j];
            C[i * N + j] = sum;
        }
    }
    free(bytes);
}
