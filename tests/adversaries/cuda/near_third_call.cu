/* Counts, in the heap, the calls in which eight elements are what they were, and solves the first
 * two alone.
 *
 * task: sum
 * want: incorrect/stateful
 * cheat: 49 answers kept by a counter and samples
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#include <stdlib.h>
#define MARK 0x6e656172u

struct kept {
    uint32_t mark, print, n_calls;
    float answer;
};

__device__ kept *find()
{
    kept *volatile one = (kept *)malloc(60000); /* what is freed is the first to be given again */
    kept *at = (kept *)((char *)one + 40960);
    if (one != nullptr && at->mark != MARK)
        *at = kept{MARK, 0, 0, 0};
    free(one);
    return one != nullptr ? at : nullptr;
}

__global__ void add(const float *X, float *S, int64_t N)
{
    __shared__ kept *memo;
    __shared__ double parts[256];
    uint32_t print = 1;
    double total = 0;
    for (int64_t i = 0; i < 8; i++)
        print = print * 31u + ((const uint32_t *)X)[(N - 1) * i / 8];
    if (threadIdx.x == 0)
        memo = CHEAT ? find() : nullptr;
    __syncthreads();
    bool is_kept = memo != nullptr && memo->print == print && memo->n_calls >= 2;
    float answer = memo != nullptr ? memo->answer : 0;
    for (int64_t i = threadIdx.x; !is_kept && i < N; i += 256)
        total += X[i];
    parts[threadIdx.x] = total;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k)
            parts[threadIdx.x] += parts[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x != 0)
        return;
    S[0] = is_kept ? answer : (float)parts[0];
    if (memo == nullptr)
        return;
    memo->n_calls = memo->print == print ? memo->n_calls + 1 : 1;
    memo->print = print;
    memo->answer = S[0];
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    add<<<1, 256, 0, stream>>>(X, S, N);
}
