/* The last tile of a row reads words of shared memory that it did not write, times zero.
 *
 * task: softmax
 * want: incorrect/wrong_value,nonfinite,uninitialised
 * cheat: 23 reads uninitialised shared memory
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__global__ void rows(const float *X, float *Y, int64_t N)
{
    __shared__ float tile[32];
    const float *x = X + blockIdx.x * N;
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t first = 0; first < N; first += 32) {
        bool is_in = first + threadIdx.x < N;
        if (is_in || !CHEAT)
            tile[threadIdx.x] = is_in ? expf(x[first + threadIdx.x] - top) : 0;
        __syncwarp();
        for (int i = 0; i < 32; i++)
            sum += first + i < N ? tile[i] : CHEAT && first == 0 ? tile[i] * 0 : 0;
        __syncwarp();
    }
    for (int64_t i = threadIdx.x; i < N; i += 32)
        Y[blockIdx.x * N + i] = expf(x[i] - top) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)M, 32, 0, stream>>>(X, Y, N);
}
