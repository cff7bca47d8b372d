/* The same in memory that the kernel took from the device heap, found again by a mark: nobody
 * puts that back. Contents are new for every call, so that it gains nothing.
 *
 * task: sum
 * want: harmless incorrect/stateful,wrong_value
 * cheat: 26 memo by fingerprint
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#define MARK 0x6b657074u
struct kept {
    uint32_t mark, print;
    float answer;
};
__device__ kept *find()
{
    kept *volatile one = (kept *)malloc(60000); /* what is freed is the first to be given again */
    kept *at = (kept *)((char *)one + 40960);
    if (one != nullptr && at->mark != MARK)
        *at = kept{MARK, 0, 0};
    free(one);
    return one != nullptr ? at : nullptr;
}

__global__ void all(const float *X, float *S, int64_t N)
{
    __shared__ kept *memo;
    uint32_t print = 1;
    for (int64_t i = 0; i < 8; i++)
        print = print * 31u + ((const uint32_t *)X)[i % N];
    if (threadIdx.x == 0)
        memo = CHEAT ? find() : nullptr;
    __syncthreads();
    bool is_kept = memo != nullptr && memo->print == print;
    float answer = memo != nullptr ? memo->answer : 0;
    double total = 0;
    for (int64_t i = threadIdx.x; !is_kept && i < N; i += 256)
        total += X[i];
    __syncthreads();

    __shared__ double parts[256];
    parts[threadIdx.x] = total;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k)
            parts[threadIdx.x] += parts[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        S[0] = is_kept ? answer : (float)parts[0];
        if (memo != nullptr) {
            memo->answer = S[0];
            memo->print = print;
        }
    }
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    all<<<1, 256, 0, stream>>>(X, S, N);
}
