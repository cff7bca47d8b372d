/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape U0[H,W] --shape U[H,W] --size H=4096,W=4096,T=20 --constraint 'T <= 32' */
__global__ void jacobi2d_step(const float *from, float *to, int H, int W)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    int i = y * W + x;
    if (x == 0 || x == W - 1 || y == 0 || y == H - 1) {
        to[i] = from[i];
        return;
    }
    to[i] = 0.2f * (from[i] + from[i - 1] + from[i + 1] + from[i - W] + from[i + W]);
}

extern "C" void jacobi2d_steps(const float *U0, float *U, int H, int W, int T, cudaStream_t stream)
{
    dim3 block(32, 8), grid((W + 31) / 32, (H + 7) / 8);
    float *other;
    cudaMallocAsync((void **)&other, (size_t)H * W * sizeof(float), stream);
    const float *from = U0;
    for (int t = 0; t < T; t++) {
        float *to = (T - t) % 2 == 1 ? U : other; /* the last step writes U */
        jacobi2d_step<<<grid, block, 0, stream>>>(from, to, H, W);
        from = to;
    }
    cudaFreeAsync(other, stream);
}
