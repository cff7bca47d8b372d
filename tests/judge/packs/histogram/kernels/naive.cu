#include <stdint.h>

/* A block a bin. */
__global__ void count(const unsigned char *D, int32_t *H, int64_t N)
{
    __shared__ int32_t parts[128];
    int32_t n = 0;
    for (int64_t i = threadIdx.x; i < N; i += 128)
        n += D[i] == blockIdx.x;
    parts[threadIdx.x] = n;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (threadIdx.x < k)
            parts[threadIdx.x] += parts[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        H[blockIdx.x] = parts[0];
}

extern "C" void histogram(const unsigned char *D, int32_t *H, int64_t N, int64_t B,
                          cudaStream_t stream)
{
    count<<<(unsigned)B, 128, 0, stream>>>(D, H, N);
}
