/* Float sums with what each addition lost, joined in shared memory as pairs.
 *
 * task: sum
 * honest: 62 compensated summation */
#include <stdint.h>

struct pair {
    float sum, lost;
    __device__ void add(float x)
    {
        float s = sum + x, b = s - sum;
        lost += (sum - (s - b)) + (x - b);
        sum = s;
    }
};

__global__ void all(const float *X, float *S, int64_t N)
{
    __shared__ pair parts[256];
    pair mine = {0, 0};
    for (int64_t i = threadIdx.x; i < N; i += 256)
        mine.add(X[i]);
    parts[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int t = 1; t < 256; t++) {
        mine.add(parts[t].sum);
        mine.lost += parts[t].lost;
    }
    S[0] = mine.sum + mine.lost;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    all<<<1, 256, 0, stream>>>(X, S, N);
}
