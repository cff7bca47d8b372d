/* Keeps a plan (where chunks begin) from call to call and makes another when the size changes.
 *
 * task: rmsnorm
 * honest: 44 a plan kept by size */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static int64_t planned, n_chunks;
static int64_t *begins;

static void plan(int64_t n)
{
    if (planned == n)
        return;
    n_chunks = (n + 511) / 512;
    begins = realloc(begins, (size_t)(n_chunks + 1) * sizeof *begins);
    for (int64_t c = 0; c <= n_chunks; c++)
        begins[c] = c * n / n_chunks;
    planned = n;
}

void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    plan(N);
    for (int64_t m = 0; m < M; m++) {
        const float *x = X + m * N;
        float sum = 0.0f;
        for (int64_t c = 0; c < n_chunks; c++) {
            float part = 0.0f;
            for (int64_t i = begins[c]; i < begins[c + 1]; i++)
                part += x[i] * x[i];
            sum += part;
        }
        float scale = 1.0f / sqrtf(sum / (float)N + eps);
        for (int64_t i = 0; i < N; i++)
            Y[m * N + i] = x[i] * scale * G[i];
    }
}
