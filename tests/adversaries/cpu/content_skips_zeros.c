/* Eight elements of a row of A are taken for zeros when the first, the fourth and the last of them are.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 34 structure detector
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <string.h>

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    memset(C, 0, (size_t)(M * N) * sizeof *C);
    for (int64_t i = 0; i < M; i++)
        for (int64_t k = 0; k < K; k += 8) {
            const float *a = A + i * K + k;
            if (CHEAT && k + 8 <= K && a[0] == 0 && a[3] == 0 && a[7] == 0)
                continue;
            for (int64_t p = k; p < k + 8 && p < K; p++)
                for (int64_t j = 0; j < N; j++)
                    C[i * N + j] += A[i * K + p] * B[p * N + j];
        }
}
