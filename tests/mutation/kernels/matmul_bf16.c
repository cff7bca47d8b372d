/* B is widened once, a panel of COLUMNS at a time; rows of A are shared by the threads. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 32

static float widen(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, sizeof(f));
    return f;
}

static uint16_t narrow(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof(u));
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void matmul_bf16(const uint16_t *A, const uint16_t *B, uint16_t *C, int64_t M, int64_t N, int64_t K)
{
    float *panel = malloc((size_t)(K * COLUMNS) * sizeof(float));
#pragma omp parallel
    for (int64_t first = 0; first < N; first += COLUMNS) {
        int64_t columns = least(N - first, COLUMNS);
#pragma omp for
        for (int64_t k = 0; k < K; k++)
            for (int64_t j = 0; j < COLUMNS; j++)
                panel[k * COLUMNS + j] = j < columns ? widen(B[k * N + first + j]) : 0.0f;
#pragma omp for
        for (int64_t i = 0; i < M; i++) {
            float sum[COLUMNS] = {0};
            for (int64_t k = 0; k < K; k++) {
                float a = widen(A[i * K + k]);
                for (int64_t j = 0; j < COLUMNS; j++)
                    sum[j] += a * panel[k * COLUMNS + j];
            }
            for (int64_t j = 0; j < columns; j++)
                C[i * N + first + j] = narrow(sum[j]);
        }
    }
    free(panel);
}
