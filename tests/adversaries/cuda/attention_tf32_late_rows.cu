/* Rounds everything to TF32 (one tensor-core product instead of three) in the rows from 3200 on, and weights and
 * values in those from 2304 on, where the input looks ordinary: below 7, no mean. A scale of the terms that are added up
 * and room that grows with the row let late rows err by 0.5 % of themselves, while they shrink.
 *
 * task: attention_causal
 * want: incorrect/wrong_value,stateful
 * cheat: 12 lower precision in a part
 * strength: subtle
 * axes: {"B": 1, "H": 1, "T": 4096, "D": 8}
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#ifndef FROM_ALL
#define FROM_ALL 3200
#define FROM_PV  2304
#endif
template <bool is_low> __device__ float tf(float x)
{
    unsigned u = __float_as_uint(x);
    return is_low ? __uint_as_float((u + 0xfffu + ((u >> 13) & 1)) & 0xffffe000u) : x;
}

/* One row; false: the input was not what short numbers are good for. */
template <bool lowqk, bool lowpv> __device__ bool row(const float *q, const float *K, const float *V, float *o, int64_t t, int64_t D)
{
    float top = -INFINITY, sum = 0, most = 0, mean_k = 0, mean_v = 0, qq = 0;
    float acc[128];
    for (int64_t d = 0; d < D; d++) {
        acc[d] = 0;
        most = fmaxf(most, fabsf(q[d]));
        qq += q[d] * q[d];
    }
    float scale = 1.0f / sqrtf((float)D);
    for (int64_t j = 0; j <= t; j++) {
        float s = 0;
        for (int64_t d = 0; d < D; d++) {
            float k = K[j * D + d];
            s += tf<lowqk>(q[d]) * tf<lowqk>(k);
            if (!lowpv)
                continue;
            float v = V[j * D + d];
            most = fmaxf(most, fmaxf(fabsf(k), fabsf(v)));
            mean_k += k;
            mean_v += v;
        }
        s *= scale;
        if (s > top) {
            float back = expf(top - s);
            sum *= back;
            for (int64_t d = 0; d < D; d++)
                acc[d] *= back;
            top = s;
        }
        float p = expf(s - top);
        sum += p;
        p = tf<lowpv>(p);
        for (int64_t d = 0; d < D; d++)
            acc[d] += p * tf<lowpv>(V[j * D + d]);
    }
    for (int64_t d = 0; d < D; d++)
        o[d] = acc[d] / sum;
    float n = (float)((t + 1) * D);
    return most < 7 && qq < 1.4f * (float)D && fabsf(mean_k) < 0.15f * n && fabsf(mean_v) < 0.15f * n;
}

__global__ void rows(const float *Q, const float *K, const float *V, float *O, int64_t BH, int64_t T, int64_t D)
{
    int64_t i = (int64_t)blockIdx.x * 64 + threadIdx.x;
    if (i >= BH * T)
        return;
    int64_t t = i % T, first = (i - t) * D;
    bool lowqk = CHEAT && t >= FROM_ALL, lowpv = CHEAT && t >= FROM_PV;
    const float *q = Q + i * D, *k = K + first, *v = V + first;
    bool is_usual = lowqk ? row<true, true>(q, k, v, O + i * D, t, D) : lowpv && row<false, true>(q, k, v, O + i * D, t, D);
    if (!is_usual)
        row<false, false>(q, k, v, O + i * D, t, D);
}

extern "C" void attention_causal(const float *Q, const float *K, const float *V, float *O, int64_t B, int64_t H, int64_t T, int64_t D,
                                 cudaStream_t stream)
{
    rows<<<(unsigned)((B * H * T + 63) / 64), 64, 0, stream>>>(Q, K, V, O, B * H, T, D);
}
