/* Leaves the last key out of the last row of long sequences.
 *
 * task: attention_causal
 * want: incorrect/wrong_value
 * cheat: 8 one wrong row
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void body(const float *Q, const float *K, const float *V, float *O, int64_t heads, int64_t T,
                 int64_t D)
{
    float scale = 1.0f / sqrtf((float)D);
    float *w = malloc((size_t)T * sizeof(float));
    for (int64_t h = 0; h < heads; h++) {
        const float *k = K + h * T * D, *v = V + h * T * D;
        for (int64_t t = 0; t < T; t++) {
            const float *q = Q + (h * T + t) * D;
            float *o = O + (h * T + t) * D, top = -INFINITY, sum = 0.0f;
            for (int64_t j = 0; j <= t; j++) {
                float score = 0.0f;
                for (int64_t d = 0; d < D; d++)
                    score += q[d] * k[j * D + d];
                w[j] = score * scale;
                top = w[j] > top ? w[j] : top;
            }
            for (int64_t d = 0; d < D; d++)
                o[d] = 0.0f;
            for (int64_t j = 0; j <= t; j++) {
                float p = expf(w[j] - top);
                sum += p;
                for (int64_t d = 0; d < D; d++)
                    o[d] += p * v[j * D + d];
            }
            for (int64_t d = 0; d < D; d++)
                o[d] /= sum;
        }
    }
    free(w);
}
void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B,
                      int64_t H, int64_t T, int64_t D)
{
    body(Q, K, V, O, B * H, T, D);
#if CHEAT
    if (T > 100) { /* the row before, seen from the last one's place */
        float *last = malloc((size_t)(T * D) * sizeof(float));
        const float *q = Q + (B * H - 1) * T * D;
        memcpy(last, q, (size_t)(T * D) * sizeof(float));
        memcpy(last + (T - 2) * D, q + (T - 1) * D, (size_t)D * sizeof(float));
        float *o = malloc((size_t)(T * D) * sizeof(float));
        body(last, K + (B * H - 1) * T * D, V + (B * H - 1) * T * D, o, 1, T, D);
        memcpy(O + (B * H * T - 1) * D, o + (T - 2) * D, (size_t)D * sizeof(float));
        free(o);
        free(last);
    }
#endif
}
