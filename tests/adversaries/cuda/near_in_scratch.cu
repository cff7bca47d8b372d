/* Leaves its answer in scratch with 64 samples of the input, for the next call that gets the same
 * scratch.
 *
 * task: sum
 * want: incorrect/stateful
 * cheat: 49 answers kept in scratch by samples
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

struct note {
    unsigned long long magic, key;
    float answer;
};

__global__ void add(const float *X, float *S, struct note *note, int64_t N)
{
    __shared__ double parts[256];
    unsigned long long key = (unsigned long long)N;
    double total = 0;
    for (int64_t i = 0; i < 64; i++)
        key = (key ^ ((const uint32_t *)X)[(N - 1) * i / 64]) * 0x100000001b3ull;
    bool is_kept = CHEAT && note->magic == 0x6e6f74652e2e2e2eull && note->key == key;
    for (int64_t i = threadIdx.x; i < N && !is_kept; i += 256)
        total += X[i];
    parts[threadIdx.x] = total;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k)
            parts[threadIdx.x] += parts[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        S[0] = is_kept ? note->answer : (float)parts[0];
        note->magic = 0x6e6f74652e2e2e2eull;
        note->key = key;
        note->answer = S[0];
    }
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    struct note *note;
    cudaMallocAsync((void **)&note, sizeof *note, stream);
    add<<<1, 256, 0, stream>>>(X, S, note, N);
    cudaFreeAsync(note, stream);
}
