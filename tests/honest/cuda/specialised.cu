/* A template for each common head size, chosen by the launcher; one that takes any for the
 * rest.
 *
 * task: attention_causal
 * honest: 11 shape-specialised
 */
#include <stdint.h>
template <int FIXED>
__global__ void rows(const float *Q, const float *K, const float *V, float *O, int64_t n, int64_t T,
                     int64_t any)
{
    int64_t row = (int64_t)blockIdx.x * 32 + threadIdx.x;
    if (row >= n)
        return;
    const int64_t D = FIXED > 0 ? FIXED : any;
    int64_t t = row % T;
    const float *q = Q + row * D, *k = K + (row - t) * D, *v = V + (row - t) * D;
    float total[FIXED > 0 ? FIXED : 128] = {0}, sum = 0, top = -INFINITY;
    for (int64_t j = 0; j <= t; j++) {
        float s = 0;
        for (int64_t d = 0; d < D; d++)
            s += q[d] * k[j * D + d];
        s /= sqrtf((float)D);
        float most = fmaxf(top, s), shrink = expf(top - most), weight = expf(s - most);
        for (int64_t d = 0; d < D; d++)
            total[d] = total[d] * shrink + weight * v[j * D + d];
        sum = sum * shrink + weight;
        top = most;
    }
    for (int64_t d = 0; d < D; d++)
        O[row * D + d] = total[d] / sum;
}

extern "C" void attention_causal(const float *Q, const float *K, const float *V, float *O,
                                 int64_t B, int64_t H, int64_t T, int64_t D, cudaStream_t stream)
{
    int64_t n = B * H * T;
    unsigned blocks = (unsigned)((n + 31) / 32);
    switch (D) {
    case 16:
        rows<16><<<blocks, 32, 0, stream>>>(Q, K, V, O, n, T, D);
        break;
    case 64:
        rows<64><<<blocks, 32, 0, stream>>>(Q, K, V, O, n, T, D);
        break;
    default:
        rows<0><<<blocks, 32, 0, stream>>>(Q, K, V, O, n, T, D);
    }
}
