/* One cooperative launch does all steps; the grid waits for itself between them.
 *
 * task: jacobi2d
 * honest: 6 persistent kernel with cooperative launch
 */
#include <cooperative_groups.h>
#include <stdint.h>
__global__ void steps(const float *U0, float *U, float *other, int64_t H, int64_t W, int64_t T)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const float *from = U0;
    for (int64_t t = 0; t < T; t++) {
        float *to = (T - t) % 2 == 1 ? U : other;
        for (int64_t i = (int64_t)grid.thread_rank(); i < H * W; i += (int64_t)grid.size()) {
            int64_t y = i / W, x = i % W;
            bool is_edge = y == 0 || x == 0 || y == H - 1 || x == W - 1;
            to[i] = is_edge
                        ? from[i]
                        : 0.2f * (from[i] + from[i - 1] + from[i + 1] + from[i - W] + from[i + W]);
        }
        grid.sync();
        from = to;
    }
}

extern "C" void jacobi2d(const float *U0, float *U, int64_t H, int64_t W, int64_t T,
                         cudaStream_t stream)
{
    float *other;
    int sms = 1, blocks = 1;
    cudaMallocAsync((void **)&other, (size_t)(H * W) * sizeof(float), stream);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, steps, 128, 0);
    void *args[] = {&U0, &U, &other, &H, &W, &T};
    unsigned n = (unsigned)(sms * (blocks > 2 ? 2 : blocks));
    cudaLaunchCooperativeKernel((const void *)steps, dim3(n), dim3(128), args, 0, stream);
    cudaFreeAsync(other, stream);
}
