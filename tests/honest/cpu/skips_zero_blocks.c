/* Blocks of A that hold nothing but zeros are left out, after a look at each of their elements.
 *
 * task: matmul
 * honest: 26 skips work that is zero */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    memset(C, 0, (size_t)(M * N) * sizeof *C);
    for (int64_t i = 0; i < M; i++)
        for (int64_t k = 0; k < K; k += 8) {
            bool is_zero = true;
            for (int64_t p = k; p < k + 8 && p < K; p++)
                is_zero = is_zero && A[i * K + p] == 0;
            for (int64_t p = k; !is_zero && p < k + 8 && p < K; p++)
                for (int64_t j = 0; j < N; j++)
                    C[i * N + j] += A[i * K + p] * B[p * N + j];
        }
}
