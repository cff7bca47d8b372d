/* The first kernel lets the second start at once and goes on writing; the second ends early.
 *
 * task: softmax
 * want: incorrect/wrong_value,unwritten,nonfinite,nondeterministic
 * cheat: 42 programmatic launch without waiting
 * strength: subtle
 * needs: device
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
__device__ void row(const float *x, float *y, int64_t N)
{
    float top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++)
        y[i] = expf(x[i] - top) / sum;
}

__global__ void tops(const float *X, float *top, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
#if CHEAT
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    if (m >= M)
        return;
    float most = X[m * N];
    for (int64_t i = 1; i < N; i++)
        most = fmaxf(most, X[m * N + i]);
    top[m] = most;
}

__global__ void rows(const float *X, const float *top, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
#if !CHEAT
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    if (m >= M)
        return;
    float sum = 0, most = ((volatile const float *)top)[m];
    for (int64_t i = 0; i < N; i++)
        sum += expf(X[m * N + i] - most);
    for (int64_t i = 0; i < N; i++)
        Y[m * N + i] = expf(X[m * N + i] - most) / sum;
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    float *top;
    cudaMallocAsync((void **)&top, (size_t)M * sizeof(float), stream);
    tops<<<(unsigned)((M + 31) / 32), 32, 0, stream>>>(X, top, M, N);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1] = {};
    config.gridDim = dim3((unsigned)((M + 31) / 32));
    config.blockDim = dim3(32);
    config.stream = stream;
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, rows, X, (const float *)top, Y, M, N);
    cudaFreeAsync(top, stream);
}
