/* Two buffers that are copied into each other by the runtime between the steps.
 *
 * task: jacobi2d
 * honest: 63 copies between launches */
#include <stdint.h>

__global__ void step(const float *now, float *next, int64_t H, int64_t W)
{
    int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < 1 || y < 1 || x >= W - 1 || y >= H - 1)
        return;
    const float *u = now + y * W + x;
    next[y * W + x] = 0.2f * (u[0] + u[-1] + u[1] + u[-W] + u[W]);
}

extern "C" void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T,
                         cudaStream_t stream)
{
    float *kept;
    size_t bytes = (size_t)(H * W) * sizeof(float);
    dim3 grid((unsigned)((W + 127) / 128), (unsigned)H);
    cudaMallocAsync((void **)&kept, bytes, stream);
    cudaMemcpyAsync(U, U0, bytes, cudaMemcpyDeviceToDevice, stream);
    for (int64_t t = 0; t < T; t++) {
        cudaMemcpyAsync(kept, U, bytes, cudaMemcpyDeviceToDevice, stream);
        step<<<grid, 128, 0, stream>>>(kept, U, H, W);
    }
    cudaFreeAsync(kept, stream);
}
