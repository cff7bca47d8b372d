/* Weights of the stencil in constant memory, one set of them by the launcher.
 *
 * task: jacobi2d
 * honest: 13 constant-memory tables
 */
#include <stdint.h>
__constant__ float ones[5] = {1, 1, 1, 1, 1};
__constant__ float weights[5];
__global__ void cell(const float *from, float *to, int64_t H, int64_t W)
{
    int64_t x = (int64_t)blockIdx.x * 32 + threadIdx.x, y = (int64_t)blockIdx.y * 8 + threadIdx.y;
    if (y >= H || x >= W)
        return;
    int64_t i = y * W + x;
    if (y == 0 || x == 0 || y == H - 1 || x == W - 1)
        to[i] = from[i];
    else
        to[i] = weights[0] * ones[0] * from[i] + weights[1] * ones[1] * from[i - 1] +
                weights[2] * ones[2] * from[i + 1] + weights[3] * ones[3] * from[i - W] +
                weights[4] * ones[4] * from[i + W];
}

extern "C" void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T,
                         cudaStream_t stream)
{
    const float fifths[5] = {0.2f, 0.2f, 0.2f, 0.2f, 0.2f};
    dim3 block(32, 8), grid((unsigned)((W + 31) / 32), (unsigned)((H + 7) / 8));
    float *other;
    cudaMemcpyToSymbolAsync(weights, fifths, sizeof fifths, 0, cudaMemcpyHostToDevice, stream);
    cudaMallocAsync((void **)&other, (size_t)(H * W) * sizeof(float), stream);
    const float *from = U0;
    for (int64_t t = 0; t < T; t++) {
        float *to = (T - t) % 2 == 1 ? U : other;
        cell<<<grid, block, 0, stream>>>(from, to, H, W);
        from = to;
    }
    cudaFreeAsync(other, stream);
}
