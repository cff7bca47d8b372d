/* Winograd's minimal filtering: two outputs of three taps with four products instead of six.
 *
 * task: conv3
 * honest: 19 Winograd convolution (another error pattern, less arithmetic than the formula)
 */
#include <stdint.h>

__global__ void pairs(const float *X, const float *W, float *Y, int64_t M, int64_t N, int64_t L)
{
    int64_t half = (N + 1) / 2, t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= M * half)
        return;
    int64_t m = t / half, i = t % half * 2;
    const float *x = X + m * L + i;
    float *y = Y + m * N + i;
    if (i + 1 == N) {
        y[0] = x[0] * W[0] + x[1] * W[1] + x[2] * W[2];
        return;
    }
    float q = (x[1] + x[2]) * ((W[0] + W[1] + W[2]) / 2);
    float r = (x[2] - x[1]) * ((W[0] - W[1] + W[2]) / 2);
    y[0] = (x[0] - x[2]) * W[0] + q + r;
    y[1] = q - r - (x[1] - x[3]) * W[2];
}

extern "C" void conv3(const float *X, const float *W, float *Y, int64_t M, int64_t N, int64_t L,
                      int64_t T, cudaStream_t stream)
{
    pairs<<<(unsigned)((M * ((N + 1) / 2) + 127) / 128), 128, 0, stream>>>(X, W, Y, M, N, L);
}
