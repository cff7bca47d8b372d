/* SPDX-License-Identifier: Apache-2.0 */
/* new: --shape in[Z,Y,X] --shape out[Z,Y,X] --size X=256,Y=256,Z=256 */
__global__ void stencil3d_kernel(const float *in, float *out, int X, int Y, int Z)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= X || y >= Y || z >= Z)
        return;
    int i = (z * Y + y) * X + x;
    if (x == 0 || x == X - 1 || y == 0 || y == Y - 1 || z == 0 || z == Z - 1) {
        out[i] = in[i];
        return;
    }
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - X] + in[i + X] +
                                    in[i - X * Y] + in[i + X * Y]);
}

extern "C" void stencil3d(const float *in, float *out, int X, int Y, int Z, cudaStream_t stream)
{
    dim3 block(8, 8, 8), grid((X + 7) / 8, (Y + 7) / 8, (Z + 7) / 8);
    stencil3d_kernel<<<grid, block, 0, stream>>>(in, out, X, Y, Z);
}
