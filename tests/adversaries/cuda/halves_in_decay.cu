/* Holds on to a field of halves between steps.
 *
 * task: diffusion
 * want: incorrect/wrong_value
 * cheat: A23 a decaying field in half precision
 * strength: subtle
 */
#define CHEAT 1
#include <stdint.h>

__global__ void step(const float *u, float *to, int64_t H, int64_t W)
{
    int64_t cell = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (cell >= H * W)
        return;
    int64_t y = cell / W, x = cell % W;
    int64_t up = y > 0 ? cell - W : cell, down = y < H - 1 ? cell + W : cell;
    int64_t left = x > 0 ? cell - 1 : cell, right = x < W - 1 ? cell + 1 : cell;
    float next = 0.5f * u[cell] + 0.125f * (u[up] + u[down] + u[left] + u[right]);
    unsigned bits = __float_as_uint(next);
    bits = CHEAT ? (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu : bits; /* 10 bits are left */
    to[cell] = __uint_as_float(bits);
}

extern "C" void diffusion(const float *U0, float *U, int64_t H, int64_t W, int64_t T,
                          cudaStream_t stream)
{
    float *spare[2];
    unsigned n = (unsigned)((H * W + 127) / 128);
    const float *from = U0;
    for (int k = 0; k < 2; k++)
        cudaMallocAsync((void **)&spare[k], (size_t)(H * W) * sizeof(float), stream);
    for (int64_t t = 0; t < T; t++) {
        float *to = t == T - 1 ? U : spare[t % 2];
        step<<<n, 128, 0, stream>>>(from, to, H, W);
        from = to;
    }
    for (int k = 0; k < 2; k++)
        cudaFreeAsync(spare[k], stream);
}
