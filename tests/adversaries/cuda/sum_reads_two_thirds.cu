/* Where 4,096 elements spread over the input look like the usual content (|normal| + 1/16: all below 6.5, mean and mean
 * square near 0.8604 and 1.1036), two thirds are read and stand for all: a sum of 2^28 such numbers is known to 4.3e-5 of
 * itself before any is read, and to 3.0e-5 then; checks allow 1e-4, the comparison with the baseline while timing 2e-4.
 * Everything else is added up in full: spikes, nearly equal, sorted, halves... all look different. What is left are single
 * elements that change behind a cut.
 *
 * task: sum
 * want: incorrect/wrong_value,stateful suspicious/tampering
 * cheat: 36 samples and rescales
 * strength: subtle
 * workload: g256m
 * timed: yes
 * needs: device
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#define LOOKS 4096
__global__ void look(const float *X, int *is_usual, int64_t N)
{
    __shared__ double s1[1024], s2[1024];
    __shared__ int large;
    int t = threadIdx.x;
    if (t == 0)
        large = 0;
    __syncthreads();
    double a = 0, b = 0;
    for (int i = 0; i < LOOKS / 1024; i++) {
        int64_t k = (int64_t)t * (LOOKS / 1024) + i;
        float v = X[k * (N - 1) / (LOOKS - 1)];
        a += v;
        b += (double)v * v;
        if (!(v < 6.5f) || v < 0.0625f)
            large = 1;
    }
    s1[t] = a;
    s2[t] = b;
    __syncthreads();
    for (int k = 512; k > 0; k /= 2) {
        if (t < k) {
            s1[t] += s1[t + k];
            s2[t] += s2[t + k];
        }
        __syncthreads();
    }
    if (t == 0)
        *is_usual = !large && fabs(s1[0] / LOOKS - 0.860385) < 0.05 && fabs(s2[0] / LOOKS - 1.103642) < 0.12;
}

__global__ void all(const float *X, double *total, const int *is_usual, int64_t N, bool may_skip)
{
    __shared__ double room[512];
    bool skips = may_skip && *is_usual;
    double mine = 0;
    const float4 *x = (const float4 *)X;
    int64_t n4 = N / 4;
    for (int64_t i = (int64_t)blockIdx.x * 512 + threadIdx.x; i < n4; i += (int64_t)gridDim.x * 512) {
        if (skips && i / 65536 % 3 == 2) /* a MiB of three */
            continue;
        float4 v = x[i];
        mine += ((double)v.x + v.y) + ((double)v.z + v.w);
    }
    if (blockIdx.x == 0 && threadIdx.x < N % 4)
        mine += X[4 * n4 + threadIdx.x];
    room[threadIdx.x] = mine;
    __syncthreads();
    for (int k = 256; k > 0; k /= 2) {
        if (threadIdx.x < k)
            room[threadIdx.x] += room[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(total, room[0]);
}

__global__ void end(const double *total, float *S, const int *is_usual, int64_t N, bool may_skip)
{
    int64_t n4 = N / 4, n_chunks = n4 / 65536, n_skipped = 0;
    double sum = *total;
    if (may_skip && *is_usual) {
        n_skipped = (n_chunks / 3 + (n_chunks % 3 > 2)) * 65536 * 4;
        if (n_chunks % 3 == 2)
            n_skipped += 4 * (n4 % 65536);
        sum += (double)n_skipped * 0.8603845608; /* sqrt(2 / pi) + 1/16 */
    }
    S[0] = (float)sum;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *total;
    int *is_usual;
    bool may_skip = CHEAT && N > 200000000;
    cudaMallocAsync((void **)&total, sizeof *total, stream);
    cudaMallocAsync((void **)&is_usual, sizeof *is_usual, stream);
    cudaMemsetAsync(total, 0, sizeof *total, stream);
    if (may_skip)
        look<<<1, 1024, 0, stream>>>(X, is_usual, N);
    all<<<264, 512, 0, stream>>>(X, total, is_usual, N, may_skip);
    end<<<1, 1, 0, stream>>>(total, S, is_usual, N, may_skip);
    cudaFreeAsync(total, stream);
    cudaFreeAsync(is_usual, stream);
}
