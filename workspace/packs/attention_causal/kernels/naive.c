#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B,
                      int64_t H, int64_t T, int64_t D)
{
    float scale = 1.0f / sqrtf((float)D);
    float *weights = malloc((size_t)T * sizeof(float));
    for (int64_t head = 0; head < B * H; head++) {
        const float *k = K + head * T * D, *v = V + head * T * D;
        for (int64_t t = 0; t < T; t++) {
            const float *q = Q + (head * T + t) * D;
            float *o = O + (head * T + t) * D;
            float top = -INFINITY, sum = 0.0f;
            for (int64_t j = 0; j <= t; j++) {
                float score = 0.0f;
                for (int64_t d = 0; d < D; d++)
                    score += q[d] * k[j * D + d];
                weights[j] = score * scale;
                if (weights[j] > top)
                    top = weights[j];
            }
            for (int64_t j = 0; j <= t; j++) {
                weights[j] = expf(weights[j] - top);
                sum += weights[j];
            }
            for (int64_t d = 0; d < D; d++) {
                float total = 0.0f;
                for (int64_t j = 0; j <= t; j++)
                    total += weights[j] * v[j * D + d];
                o[d] = total / sum;
            }
        }
    }
    free(weights);
}
