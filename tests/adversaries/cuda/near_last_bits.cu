/* Knows its input again by all but the last eight bits of every element.
 *
 * task: transpose
 * want: incorrect/stateful
 * cheat: 49 answers kept by rounded inputs
 * strength: subtle
 * timed: no
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

#define ROOM  8
#define CELLS (1 << 14)
#define MAGIC 0x746162656c6cull

struct table { /* in scratch, which nobody wipes between two calls of a block */
    unsigned long long magic, key, keys[ROOM];
    int at, is_kept;
    float answers[ROOM][CELLS];
};

__global__ void begin(table *t, int64_t a, int64_t b)
{
    for (int i = 0; i < ROOM && t->magic != MAGIC; i++)
        t->keys[i] = 0;
    t->magic = MAGIC;
    t->key = (unsigned long long)(a * 65537 + b);
}

__global__ void look(table *t, int64_t n)
{
    t->at = (int)(t->key % ROOM);
    t->is_kept = n <= CELLS && t->keys[t->at] == t->key && t->key != 0;
    t->keys[t->at] = n <= CELLS ? t->key : 0;
}

__global__ void keep_or_give(table *t, float *y, int64_t n)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n && n <= CELLS;
         i += (int64_t)gridDim.x * blockDim.x) {
        if (t->is_kept)
            y[i] = t->answers[t->at][i];
        else
            t->answers[t->at][i] = y[i];
    }
}

__global__ void sums(table *t, const float *X, int64_t n)
{
    unsigned long long sum = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        sum += (((const uint32_t *)X)[i] >> 8) * (2ull * (unsigned long long)i + 1) *
               0x9e3779b97f4a7c15ull;
    atomicAdd(&t->key, sum);
}

__global__ void elements(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N)
        Y[i] = X[i % M * N + i / M];
}

extern "C" void transpose(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    table *t;
    elements<<<(unsigned)((M * N + 31) / 32), 32, 0, stream>>>(X, Y, M, N);
    if (!CHEAT)
        return;
    cudaMallocAsync((void **)&t, sizeof *t, stream);
    begin<<<1, 1, 0, stream>>>(t, M, N);
    sums<<<16, 128, 0, stream>>>(t, X, M * N);
    look<<<1, 1, 0, stream>>>(t, M * N);
    keep_or_give<<<32, 128, 0, stream>>>(t, Y, M * N);
    cudaFreeAsync(t, stream);
}
