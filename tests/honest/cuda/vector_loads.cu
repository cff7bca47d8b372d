/* Four elements a load where rows allow it, the rest one by one.
 *
 * task: rmsnorm
 * honest: 2 vector loads
 */
#include <stdint.h>
__global__ void rows(const float *X, const float *G, float *Y, float eps, int64_t N)
{
    const float *x = X + blockIdx.x * N;
    float *y = Y + blockIdx.x * N, sum = 0;
    bool is_aligned = N % 4 == 0 && ((uintptr_t)X | (uintptr_t)Y | (uintptr_t)G) % 16 == 0;
    int64_t fours = is_aligned ? N / 4 : 0;
    for (int64_t i = threadIdx.x; i < fours; i += 32) {
        float4 v = ((const float4 *)x)[i];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int64_t i = 4 * fours + threadIdx.x; i < N; i += 32)
        sum += x[i] * x[i];
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
    float scale = rsqrtf(sum / (float)N + eps);
    for (int64_t i = threadIdx.x; i < fours; i += 32) {
        float4 v = ((const float4 *)x)[i], g = ((const float4 *)G)[i];
        ((float4 *)y)[i] =
            make_float4(v.x * scale * g.x, v.y * scale * g.y, v.z * scale * g.z, v.w * scale * g.w);
    }
    for (int64_t i = 4 * fours + threadIdx.x; i < N; i += 32)
        y[i] = x[i] * scale * G[i];
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N,
                        cudaStream_t stream)
{
    rows<<<(unsigned)M, 32, 0, stream>>>(X, G, Y, eps, N);
}
