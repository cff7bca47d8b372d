/* Tiles for the cache, rows shared out over threads.
 *
 * task: matmul
 * honest: 2 tuned tiled */
#include <stdint.h>
#include <string.h>

#define TILE 64

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
#pragma omp parallel for schedule(static)
    for (int64_t i0 = 0; i0 < M; i0 += TILE) {
        for (int64_t i = i0; i < least(i0 + TILE, M); i++)
            memset(C + i * N, 0, (size_t)N * sizeof(float));
        for (int64_t k0 = 0; k0 < K; k0 += TILE)
            for (int64_t i = i0; i < least(i0 + TILE, M); i++)
                for (int64_t k = k0; k < least(k0 + TILE, K); k++)
                    for (int64_t j = 0; j < N; j++)
                        C[i * N + j] += A[i * K + k] * B[k * N + j];
    }
}
