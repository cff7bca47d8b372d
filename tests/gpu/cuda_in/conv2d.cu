// SPDX-License-Identifier: Apache-2.0
__global__ void conv2d(const float *img, const float *w, float *out, int H, int W, int R)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    float sum = 0;
    for (int i = -R; i <= R; i++)
        for (int j = -R; j <= R; j++) {
            int yy = min(max(y + i, 0), H - 1), xx = min(max(x + j, 0), W - 1);
            sum += img[yy * W + xx] * w[(i + R) * (2 * R + 1) + j + R];
        }
    out[y * W + x] = sum;
}
