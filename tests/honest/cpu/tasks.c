/* OpenMP tasks, one for each head, nested in one thread's region.
 *
 * task: attention_causal
 * honest: 55 OpenMP tasks */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void head(const float *Q, const float *K, const float *V, float *O, int64_t T, int64_t D)
{
    float scale = 1.0f / sqrtf((float)D), *w = malloc((size_t)T * sizeof *w);
    for (int64_t t = 0; t < T; t++) {
        float top = -INFINITY, sum = 0.0f;
        for (int64_t j = 0; j <= t; j++) {
            float score = 0.0f;
            for (int64_t d = 0; d < D; d++)
                score += Q[t * D + d] * K[j * D + d];
            w[j] = score * scale;
            top = fmaxf(top, w[j]);
        }
        for (int64_t j = 0; j <= t; j++)
            sum += w[j] = expf(w[j] - top);
        for (int64_t d = 0; d < D; d++) {
            float total = 0.0f;
            for (int64_t j = 0; j <= t; j++)
                total += w[j] * V[j * D + d];
            O[t * D + d] = total / sum;
        }
    }
    free(w);
}

void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B,
                      int64_t H, int64_t T, int64_t D)
{
#pragma omp parallel
#pragma omp single
    for (int64_t h = 0; h < B * H; h++) {
        int64_t at = h * T * D;
#pragma omp task firstprivate(at)
        head(Q + at, K + at, V + at, O + at, T, D);
    }
}
