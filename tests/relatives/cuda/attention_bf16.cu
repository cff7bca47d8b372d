/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape Q[B,H,T,128] --shape K[B,G,T,128] --shape V[B,G,T,128] --shape O[B,H,T,128]
 * --size B=1,H=16,G=4,T=2048 --constraint 'H % G == 0' */
#include <cuda_bf16.h>
#define D 128

/* Causal attention, H heads of queries to G heads of keys and values: a thread a row of O. */
__global__ void attention_bf16_kernel(const __nv_bfloat16 *Q, const __nv_bfloat16 *K,
                                      const __nv_bfloat16 *V, __nv_bfloat16 *O, int B, int H, int G,
                                      int T)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y, b = blockIdx.z;
    if (t >= T)
        return;
    int g = h / (H / G);
    const __nv_bfloat16 *q = Q + ((size_t)(b * H + h) * T + t) * D;
    const __nv_bfloat16 *k = K + (size_t)(b * G + g) * T * D;
    const __nv_bfloat16 *v = V + (size_t)(b * G + g) * T * D;
    float acc[D], top = -1e30f, sum = 0.0f, scale = rsqrtf((float)D);
    for (int d = 0; d < D; d++)
        acc[d] = 0.0f;
    for (int j = 0; j <= t; j++) {
        float s = 0.0f;
        for (int d = 0; d < D; d++)
            s += __bfloat162float(q[d]) * __bfloat162float(k[(size_t)j * D + d]);
        top = fmaxf(top, s * scale);
    }
    for (int j = 0; j <= t; j++) {
        float s = 0.0f;
        for (int d = 0; d < D; d++)
            s += __bfloat162float(q[d]) * __bfloat162float(k[(size_t)j * D + d]);
        float p = expf(s * scale - top);
        sum += p;
        for (int d = 0; d < D; d++)
            acc[d] += p * __bfloat162float(v[(size_t)j * D + d]);
    }
    for (int d = 0; d < D; d++)
        O[((size_t)(b * H + h) * T + t) * D + d] = __float2bfloat16(acc[d] / sum);
}

extern "C" void attention_bf16(const __nv_bfloat16 *Q, const __nv_bfloat16 *K,
                               const __nv_bfloat16 *V, __nv_bfloat16 *O, int B, int H, int G, int T,
                               cudaStream_t stream)
{
    dim3 grid((T + 127) / 128, H, B);
    attention_bf16_kernel<<<grid, 128, 0, stream>>>(Q, K, V, O, B, H, G, T);
}
