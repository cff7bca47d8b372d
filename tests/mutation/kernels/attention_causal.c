/* Keys in blocks with a running maximum and sum; the block on the diagonal is cut. */
#include <math.h>
#include <stdint.h>

#define KEYS  16
#define MAX_D 128

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B,
                      int64_t H, int64_t T, int64_t D)
{
    float scale = 1.0f / sqrtf((float)D);
#pragma omp parallel for
    for (int64_t row = 0; row < B * H * T; row++) {
        int64_t t = row % T, head = row / T;
        const float *q = Q + row * D, *k = K + head * T * D, *v = V + head * T * D;
        float total[MAX_D];
        float top = -INFINITY, sum = 0.0f;
        for (int64_t d = 0; d < D; d++)
            total[d] = 0.0f;
        for (int64_t first = 0; first <= t; first += KEYS) {
            int64_t keys = least(t + 1 - first, KEYS);
            float weights[KEYS];
            float best = top;
            for (int64_t j = 0; j < keys; j++) {
                float score = 0.0f;
                for (int64_t d = 0; d < D; d++)
                    score += q[d] * k[(first + j) * D + d];
                weights[j] = score * scale;
                best = fmaxf(best, weights[j]);
            }
            float factor = expf(top - best);
            sum *= factor;
            for (int64_t d = 0; d < D; d++)
                total[d] *= factor;
            for (int64_t j = 0; j < keys; j++) {
                float weight = expf(weights[j] - best);
                sum += weight;
                for (int64_t d = 0; d < D; d++)
                    total[d] += weight * v[(first + j) * D + d];
            }
            top = best;
        }
        for (int64_t d = 0; d < D; d++)
            O[row * D + d] = total[d] / sum;
    }
}
