/* Lattice template: eight strategies of causal attention; see docs/decisions/0023-lattices.md.
 *
 * lattice task attention_causal
 * lattice strategy S_ORDER C02
 * lattice strategy S_THREADS C08
 * lattice strategy S_SIMD C04
 * lattice strategy S_ACC C03
 * lattice strategy S_VEXP G44
 * lattice strategy S_FUSE C17
 * lattice strategy S_UNROLL C16
 * lattice strategy S_FAST C15
 */
#pragma hone tune(S_ORDER: 0, 1)
#pragma hone tune(S_THREADS: 0, 1)
#pragma hone tune(S_SIMD: 0, 1)
#pragma hone tune(S_ACC: 0, 1)
#pragma hone tune(S_VEXP: 0, 1)
#pragma hone tune(S_FUSE: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_FAST: 0, 1) where(!S_FUSE || S_ORDER)
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if S_FAST
#pragma GCC optimize("fast-math")
#endif
#if S_UNROLL
#pragma GCC optimize("unroll-loops")
#endif

#if S_VEXP
static inline float fast_exp(float x)
{
    float limited = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
    float n = (float)(int32_t)(limited * 1.44269504f + (limited < 0.0f ? -0.5f : 0.5f));
    float r = limited - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    float y = p * r * r + r + 1.0f;
    int32_t bits = ((int32_t)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    return x < -87.0f ? 0.0f : y * scale;
}
#endif

#if S_SIMD
void attention_causal(const float *restrict Q, const float *restrict K, const float *restrict V, float *restrict O,
                      int64_t B, int64_t H, int64_t T, int64_t D)
#else
void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B, int64_t H, int64_t T,
                      int64_t D)
#endif
{
    float scale = 1.0f / sqrtf((float)D);
    float *all = malloc((size_t)(B * H * T) * sizeof(float));
#if S_THREADS
#pragma omp parallel for schedule(static)
#endif
    for (int64_t head = 0; head < B * H; head++) {
        const float *k = K + head * T * D, *v = V + head * T * D;
        float *weights = all + head * T;
        for (int64_t t = 0; t < T; t++) {
            const float *q = Q + (head * T + t) * D;
            float *o = O + (head * T + t) * D;
            float top = -INFINITY, sum = 0.0f;
            for (int64_t j = 0; j <= t; j++) {
                float score = 0.0f;
#if S_ACC
                float parts[8] = {0.0f};
                int64_t d = 0;
                for (; d + 8 <= D; d += 8)
#if S_SIMD
#pragma omp simd
#endif
                    for (int c = 0; c < 8; c++)
                        parts[c] += q[d + c] * k[j * D + d + c];
                for (; d < D; d++)
                    score += q[d] * k[j * D + d];
                for (int c = 0; c < 8; c++)
                    score += parts[c];
#else
#if S_SIMD
#pragma omp simd reduction(+ : score)
#endif
                for (int64_t d = 0; d < D; d++)
                    score += q[d] * k[j * D + d];
#endif
                weights[j] = score * scale;
                top = weights[j] > top ? weights[j] : top;
            }
#if S_FUSE
            for (int64_t d = 0; d < D; d++)
                o[d] = 0.0f;
            for (int64_t j = 0; j <= t; j++) {
#if S_VEXP
                float w = fast_exp(weights[j] - top);
#else
                float w = expf(weights[j] - top);
#endif
                sum += w;
#if S_SIMD
#pragma omp simd
#endif
                for (int64_t d = 0; d < D; d++)
                    o[d] += w * v[j * D + d];
            }
            for (int64_t d = 0; d < D; d++)
                o[d] /= sum;
#else
#if S_SIMD
#pragma omp simd reduction(+ : sum)
#endif
            for (int64_t j = 0; j <= t; j++) {
#if S_VEXP
                weights[j] = fast_exp(weights[j] - top);
#else
                weights[j] = expf(weights[j] - top);
#endif
                sum += weights[j];
            }
#if S_ORDER
            for (int64_t d = 0; d < D; d++)
                o[d] = 0.0f;
            for (int64_t j = 0; j <= t; j++)
#if S_SIMD
#pragma omp simd
#endif
                for (int64_t d = 0; d < D; d++)
                    o[d] += weights[j] * v[j * D + d];
            for (int64_t d = 0; d < D; d++)
                o[d] /= sum;
#else
            for (int64_t d = 0; d < D; d++) {
                float total = 0.0f;
#if S_SIMD
#pragma omp simd reduction(+ : total)
#endif
                for (int64_t j = 0; j <= t; j++)
                    total += weights[j] * v[j * D + d];
                o[d] = total / sum;
            }
#endif
#endif
        }
    }
    free(all);
}
