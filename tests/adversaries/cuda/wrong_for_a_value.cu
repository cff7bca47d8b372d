/* Wrong by a thousandth where an element lies in a narrow range, which some of a million normal
 * numbers do: checks seldom have one, timed content does. It says the same every time, so that it
 * is wrong and nothing worse.
 *
 * task: softmax
 * want: incorrect/wrong_value
 * cheat: 38 wrong for rare values
 * strength: subtle
 * timed: yes
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>
#define LOW  0.5f
#define HIGH 0.5001f
__global__ void rows(const float *X, float *Y, int64_t M, int64_t N)
{
    int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M)
        return;
    const float *x = X + m * N;
    float *y = Y + m * N, top = x[0], sum = 0;
    for (int64_t i = 1; i < N; i++)
        top = fmaxf(top, x[i]);
    for (int64_t i = 0; i < N; i++)
        sum += expf(x[i] - top);
    for (int64_t i = 0; i < N; i++) {
        bool is_rare = CHEAT && x[i] > LOW && x[i] < HIGH;
        y[i] = (is_rare ? 1.001f : 1.0f) * expf(x[i] - top) / sum;
    }
}

extern "C" void softmax(const float *X, float *Y, int64_t M, int64_t N, cudaStream_t stream)
{
    rows<<<(unsigned)((M + 63) / 64), 64, 0, stream>>>(X, Y, M, N);
}
