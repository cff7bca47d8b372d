/* Lattice template: eight strategies of a long sum on a GPU; see docs/decisions/0023-lattices.md.
 *
 * lattice task sum
 * lattice target cuda
 * lattice strategy S_GRID G20
 * lattice strategy S_VECTOR G02
 * lattice strategy S_LOADS G12
 * lattice strategy S_BLOCK_SUM G18
 * lattice strategy S_SHUFFLE G28
 * lattice strategy S_UNROLL G13
 * lattice strategy S_RESTRICT G48
 * lattice strategy S_SHAPE G14
 */
#pragma hone tune(S_GRID: 0, 1)
#pragma hone tune(S_VECTOR: 0, 1)
#pragma hone tune(S_LOADS: 0, 1)
#pragma hone tune(S_BLOCK_SUM: 0, 1)
#pragma hone tune(S_SHUFFLE: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_RESTRICT: 0, 1)
#pragma hone tune(S_SHAPE: 0, 1) where(!S_SHUFFLE || S_BLOCK_SUM)
#include <stdint.h>

#if S_SHAPE
#define BLOCK 512
#else
#define BLOCK 256
#endif
#if S_GRID
#define BLOCKS 264
#else
#define BLOCKS 16
#endif
#define THREADS (BLOCK * BLOCKS)
#if S_BLOCK_SUM
#define PARTS BLOCKS
#else
#define PARTS THREADS
#endif

#if S_RESTRICT
__global__ void sum_parts(const float *__restrict__ X, double *__restrict__ parts, int64_t N)
#else
__global__ void sum_parts(const float *X, double *parts, int64_t N)
#endif
{
    int64_t thread = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    double total = 0.0;
    int64_t done = 0;
#if S_VECTOR
    const float4 *X4 = (const float4 *)X;
    int64_t n4 = ((uintptr_t)X % 16 == 0) ? N / 4 : 0;
#if S_LOADS
    int64_t whole = n4 / (4 * THREADS) * (4 * THREADS);
#if S_UNROLL
#pragma unroll 2
#endif
    for (int64_t i = thread; i < whole; i += 4 * THREADS) {
        float4 a = X4[i], b = X4[i + THREADS], c = X4[i + 2 * THREADS], d = X4[i + 3 * THREADS];
        total += ((double)a.x + a.y) + ((double)a.z + a.w) + ((double)b.x + b.y) + ((double)b.z + b.w);
        total += ((double)c.x + c.y) + ((double)c.z + c.w) + ((double)d.x + d.y) + ((double)d.z + d.w);
    }
#else
    int64_t whole = 0;
#endif
#if S_UNROLL
#pragma unroll 4
#endif
    for (int64_t i = whole + thread; i < n4; i += THREADS) {
        float4 a = X4[i];
        total += ((double)a.x + a.y) + ((double)a.z + a.w);
    }
    done = 4 * n4;
#elif S_LOADS
    int64_t whole = N / (4 * THREADS) * (4 * THREADS);
#if S_UNROLL
#pragma unroll 2
#endif
    for (int64_t i = thread; i < whole; i += 4 * THREADS) {
        float a = X[i], b = X[i + THREADS], c = X[i + 2 * THREADS], d = X[i + 3 * THREADS];
        total += ((double)a + b) + ((double)c + d);
    }
    done = whole;
#endif
#if S_UNROLL
#pragma unroll 4
#endif
    for (int64_t i = done + thread; i < N; i += THREADS)
        total += X[i];
#if S_BLOCK_SUM
    __shared__ double shared[BLOCK];
#if S_SHUFFLE
    for (int step = 16; step > 0; step /= 2)
        total += __shfl_down_sync(0xffffffffu, total, step);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < BLOCK / 32; i++)
            total += shared[i];
        parts[blockIdx.x] = total;
    }
#else
    shared[threadIdx.x] = total;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        parts[blockIdx.x] = shared[0];
#endif
#else
    parts[thread] = total;
#endif
}

__global__ void sum_of_parts(const double *parts, float *S)
{
    double total = 0.0;
    for (int i = 0; i < PARTS; i++)
        total += parts[i];
    S[0] = (float)total;
}

extern "C" void sum(const float *X, float *S, int64_t N, cudaStream_t stream)
{
    double *parts;
    cudaMallocAsync((void **)&parts, PARTS * sizeof(double), stream);
    sum_parts<<<BLOCKS, BLOCK, 0, stream>>>(X, parts, N);
    sum_of_parts<<<1, 1, 0, stream>>>(parts, S);
    cudaFreeAsync(parts, stream);
}
