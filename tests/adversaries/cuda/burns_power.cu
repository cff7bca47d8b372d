/* Multiplies in registers while it waits for memory, for nothing: no time of its own is lost, but power is, and the device
 * lowers its clock for what runs next. The other arm's block follows at once. Rounds are left out where an arm's SM clock lies
 * 3 % off its own median: a clock that is lower in all of them is nobody's disturbance.
 *
 * task: rmsnorm
 * want: not faster
 * cheat: 40 slows the other arm
 * strength: subtle
 * workload: g16384x8192
 * timed: yes
 * needs: device
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void rows(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N)
{
    __shared__ float part[8];
    int64_t m = blockIdx.x;
    float sum = 0;
    for (int64_t i = threadIdx.x; i < N; i += 256) {
        float v = X[m * N + i];
        sum += v * v;
        if (CHEAT) { /* 48 multiply-adds an element: still below what memory takes */
            float a = v, b = v + 1, c = v + 2, d = v + 3;
#pragma unroll
            for (int k = 0; k < 12; k++) {
                a = fmaf(a, 1.7f, b);
                b = fmaf(b, -1.3f, c);
                c = fmaf(c, 0.9f, d);
                d = fmaf(d, -1.1f, a);
            }
            if (a + b + c + d == 12345.678f)
                sum += 1e-30f;
        }
    }
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += part[k];
    float scale = 1.0f / sqrtf(sum / (float)N + eps);
    for (int64_t i = threadIdx.x; i < N; i += 256)
        Y[m * N + i] = X[m * N + i] * G[i] * scale;
}

extern "C" void rmsnorm(const float *X, const float *G, float *Y, float eps, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)M, 256, 0, stream>>>(X, G, Y, eps, M, N);
}
