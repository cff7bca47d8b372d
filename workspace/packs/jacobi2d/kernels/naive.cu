#include <stdint.h>

__global__ void jacobi_cell(const float *from, float *to, int64_t H, int64_t W)
{
    int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= H || x >= W)
        return;
    int64_t cell = y * W + x;
    if (y == 0 || x == 0 || y == H - 1 || x == W - 1)
        to[cell] = from[cell];
    else
        to[cell] = 0.2f * (from[cell] + from[cell - 1] + from[cell + 1] + from[cell - W] +
                           from[cell + W]);
}

extern "C" void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T,
                         cudaStream_t stream)
{
    dim3 block(32, 8);
    dim3 grid((unsigned)((W + 31) / 32), (unsigned)((H + 7) / 8));
    float *other;
    cudaMallocAsync((void **)&other, (size_t)(H * W) * sizeof(float), stream);
    const float *from = U0;
    for (int64_t t = 0; t < T; t++) {
        float *to = (T - t) % 2 == 1 ? U : other; /* the last step writes U */
        jacobi_cell<<<grid, block, 0, stream>>>(from, to, H, W);
        from = to;
    }
    cudaFreeAsync(other, stream);
}
