/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape pos[n,4] --shape acc[n,3] --size n=16384 */
__global__ void nbody_kernel(const float *pos, float *acc, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = pos[4 * i], y = pos[4 * i + 1], z = pos[4 * i + 2];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = pos[4 * j] - x, dy = pos[4 * j + 1] - y, dz = pos[4 * j + 2] - z;
        float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float s = fabsf(pos[4 * j + 3]) * inv * inv * inv;
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    acc[3 * i] = ax;
    acc[3 * i + 1] = ay;
    acc[3 * i + 2] = az;
}

extern "C" void nbody(const float *pos, float *acc, int n, cudaStream_t stream)
{
    nbody_kernel<<<(n + 127) / 128, 128, 0, stream>>>(pos, acc, n);
}
