/* One pass over the keys with a running maximum.
 *
 * task: attention_causal
 * honest: 18 online softmax (different rounding) */
#include <math.h>
#include <stdint.h>

void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B,
                      int64_t H, int64_t T, int64_t D)
{
    float scale = 1.0f / sqrtf((float)D);
#pragma omp parallel for collapse(2) schedule(dynamic, 8)
    for (int64_t h = 0; h < B * H; h++)
        for (int64_t t = 0; t < T; t++) {
            const float *q = Q + (h * T + t) * D, *k = K + h * T * D, *v = V + h * T * D;
            float *o = O + (h * T + t) * D, top = -INFINITY, sum = 0.0f;
            for (int64_t d = 0; d < D; d++)
                o[d] = 0.0f;
            for (int64_t j = 0; j <= t; j++) {
                float score = 0.0f;
                for (int64_t d = 0; d < D; d++)
                    score += q[d] * k[j * D + d];
                score *= scale;
                if (score > top) {
                    float shrink = expf(top - score);
                    sum *= shrink;
                    for (int64_t d = 0; d < D; d++)
                        o[d] *= shrink;
                    top = score;
                }
                float p = expf(score - top);
                sum += p;
                for (int64_t d = 0; d < D; d++)
                    o[d] += p * v[j * D + d];
            }
            for (int64_t d = 0; d < D; d++)
                o[d] /= sum;
        }
}
