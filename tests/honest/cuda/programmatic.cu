/* Two kernels; the second starts early and waits for the first where it needs it.
 *
 * task: softmax
 * honest: 8 programmatic dependent launch
 * needs: device
 */
#include <stdint.h>
__global__ void tops(const float *X, float *top, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.launch_dependents;");
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
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (m >= M)
        return;
    float sum = 0, most = top[m];
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
