/* Lattice template: eight strategies of a row-wise soft-max on a GPU; see
 * docs/decisions/0023-lattices.md.
 *
 * lattice task softmax
 * lattice target cuda
 * lattice strategy S_LANES G18
 * lattice strategy S_SHUFFLE G28
 * lattice strategy S_ONLINE G26
 * lattice strategy S_KEEP G11
 * lattice strategy S_FAST G33
 * lattice strategy S_UNROLL G13
 * lattice strategy S_RESTRICT G48
 * lattice strategy S_SHAPE G14
 */
#pragma hone tune(S_LANES: 0, 1)
#pragma hone tune(S_SHUFFLE: 0, 1)
#pragma hone tune(S_ONLINE: 0, 1)
#pragma hone tune(S_KEEP: 0, 1)
#pragma hone tune(S_FAST: 0, 1)
#pragma hone tune(S_UNROLL: 0, 1)
#pragma hone tune(S_RESTRICT: 0, 1)
#pragma hone tune(S_SHAPE: 0, 1) where((!S_SHUFFLE || S_LANES) && (!S_KEEP || !S_ONLINE))
#include <stdint.h>

#if S_SHAPE
#define BLOCK 256
#else
#define BLOCK 128
#endif
#if S_FAST
#define EXP __expf
#else
#define EXP expf
#endif
#if S_LANES
#define STEP BLOCK
#else
#define STEP 1
#endif

#if S_LANES
template <bool is_max> __device__ float reduce(float value, float *shared)
{
#if S_SHUFFLE
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, step);
        value = is_max ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (int i = 1; i < BLOCK / 32; i++)
        value = is_max ? fmaxf(value, shared[i]) : value + shared[i];
    return value;
#else
    __syncthreads();
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            shared[threadIdx.x] = is_max ? fmaxf(shared[threadIdx.x], shared[threadIdx.x + step])
                                         : shared[threadIdx.x] + shared[threadIdx.x + step];
        __syncthreads();
    }
    return shared[0];
#endif
}
#endif

#if S_RESTRICT
__global__ void softmax_row(const float *__restrict__ X, float *__restrict__ Y, int64_t M, int64_t N)
#else
__global__ void softmax_row(const float *X, float *Y, int64_t M, int64_t N)
#endif
{
#if S_LANES
    __shared__ float shared[BLOCK];
    int64_t m = blockIdx.x, first = threadIdx.x;
#else
    int64_t m = (int64_t)blockIdx.x * BLOCK + threadIdx.x, first = 0;
    if (m >= M)
        return;
#endif
    float top = -3.402823466e38f, sum = 0.0f;
#if S_ONLINE
    for (int64_t i = first; i < N; i += STEP) {
        float x = X[m * N + i];
        if (x > top) {
            sum *= EXP(top - x);
            top = x;
        }
        sum += EXP(x - top);
    }
#if S_LANES
    float all = reduce<true>(top, shared);
    sum = reduce<false>(sum * EXP(top - all), shared);
    top = all;
#endif
#else
#if S_UNROLL
#pragma unroll 4
#endif
    for (int64_t i = first; i < N; i += STEP)
        top = fmaxf(top, X[m * N + i]);
#if S_LANES
    top = reduce<true>(top, shared);
#endif
#if S_UNROLL
#pragma unroll 4
#endif
    for (int64_t i = first; i < N; i += STEP) {
        float e = EXP(X[m * N + i] - top);
#if S_KEEP
        Y[m * N + i] = e;
#endif
        sum += e;
    }
#if S_LANES
    sum = reduce<false>(sum, shared);
#endif
#endif
    float scale = 1.0f / sum;
#if S_UNROLL
#pragma unroll 4
#endif
    for (int64_t i = first; i < N; i += STEP)
#if S_KEEP
        Y[m * N + i] *= scale;
#else
        Y[m * N + i] = EXP(X[m * N + i] - top) * scale;
#endif
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
#if S_LANES
    softmax_row<<<(unsigned)M, BLOCK, 0, stream>>>(X, Y, M, N);
#else
    softmax_row<<<(unsigned)((M + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(X, Y, M, N);
#endif
}
