/* Widens both matrices once and multiplies in float32.
 *
 * task: matmul_bf16
 * honest: 2 tuned tiled */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static float widen(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint16_t narrow(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if (f != f)
        return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
void matmul_bf16(const uint16_t *A, const uint16_t *B, uint16_t *C, int64_t M, int64_t N, int64_t K)
{
    float *b = malloc((size_t)(K * N) * sizeof(float));
    for (int64_t i = 0; i < K * N; i++)
        b[i] = widen(B[i]);
#pragma omp parallel
    {
        float *row = malloc((size_t)N * sizeof(float));
#pragma omp for
        for (int64_t i = 0; i < M; i++) {
            memset(row, 0, (size_t)N * sizeof(float));
            for (int64_t k = 0; k < K; k++) {
                float a = widen(A[i * K + k]);
                for (int64_t j = 0; j < N; j++)
                    row[j] += a * b[k * N + j];
            }
            for (int64_t j = 0; j < N; j++)
                C[i * N + j] = narrow(row[j]);
        }
        free(row);
    }
    free(b);
}
