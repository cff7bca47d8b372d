/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape x[N,C,H,W] --shape w[O,C,3,3] --shape y[N,O,H,W] --size N=8,C=64,O=64,H=56,W=56 */
__global__ void conv3x3_kernel(const float *x, const float *w, float *y, int N, int C, int O,
                               int H, int W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * O * H * W)
        return;
    int col = i % W, row = i / W % H, o = i / (W * H) % O, n = i / (W * H * O);
    float sum = 0.0f;
    for (int c = 0; c < C; c++)
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++) {
                int yy = row + dy - 1, xx = col + dx - 1;
                if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                    sum += x[((n * C + c) * H + yy) * W + xx] * w[((o * C + c) * 3 + dy) * 3 + dx];
            }
    y[i] = sum;
}

extern "C" void conv3x3(const float *x, const float *w, float *y, int N, int C, int O, int H,
                        int W, cudaStream_t stream)
{
    int n = N * O * H * W;
    conv3x3_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, w, y, N, C, O, H, W);
}
