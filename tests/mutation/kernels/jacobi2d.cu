/* A tile with its halo in shared memory; a launch a step; the last step writes U. */
#include <stdint.h>

#define TILE 16

__global__ void jacobi_tile(const float *from, float *to, int64_t H, int64_t W)
{
    __shared__ float cells[TILE + 2][TILE + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int64_t x = (int64_t)blockIdx.x * TILE + threadIdx.x;
    int64_t y = (int64_t)blockIdx.y * TILE + threadIdx.y;
    bool is_inside = x < W && y < H;
    if (is_inside) {
        cells[ty][tx] = from[y * W + x];
        if (threadIdx.x == 0 && x > 0)
            cells[ty][0] = from[y * W + x - 1];
        if (threadIdx.x == TILE - 1 && x + 1 < W)
            cells[ty][TILE + 1] = from[y * W + x + 1];
        if (threadIdx.y == 0 && y > 0)
            cells[0][tx] = from[(y - 1) * W + x];
        if (threadIdx.y == TILE - 1 && y + 1 < H)
            cells[TILE + 1][tx] = from[(y + 1) * W + x];
    }
    __syncthreads();
    if (!is_inside)
        return;
    bool is_border = x == 0 || y == 0 || x == W - 1 || y == H - 1;
    to[y * W + x] = is_border ? cells[ty][tx]
                              : 0.2f * (cells[ty][tx] + cells[ty][tx - 1] + cells[ty][tx + 1] +
                                        cells[ty - 1][tx] + cells[ty + 1][tx]);
}

extern "C" void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T,
                         cudaStream_t stream)
{
    dim3 block(TILE, TILE);
    dim3 grid((unsigned)((W + TILE - 1) / TILE), (unsigned)((H + TILE - 1) / TILE));
    float *other;
    cudaMallocAsync((void **)&other, (size_t)(H * W) * sizeof(float), stream);
    const float *from = U0;
    for (int64_t t = 0; t < T; t++) {
        float *to = (T - t) % 2 == 1 ? U : other;
        jacobi_tile<<<grid, block, 0, stream>>>(from, to, H, W);
        from = to;
    }
    cudaFreeAsync(other, stream);
}
