/* Small classes with operators, in a namespace, by a function template with a functor.
 *
 * task: conv3
 * honest: 66 C++ of the usual kind */
#include <stdint.h>

namespace taps {
struct Window {
    const float *x;
    __device__ float operator[](int64_t k) const { return x[k]; }
};
struct Dot {
    const float *w;
    __device__ float operator()(Window window, int64_t n) const
    {
        float sum = 0;
        for (int64_t k = 0; k < n; k++)
            sum += window[k] * w[k];
        return sum;
    }
};
template <typename F>
__global__ void each(F f, const float *X, float *Y, int64_t M, int64_t N, int64_t L, int64_t T)
{
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < M * N)
        Y[at] = f(Window{X + at / N * L + at % N}, T);
}
} // namespace taps

extern "C" void conv3(const float *X, const float *W, float *Y, int64_t M, int64_t N, int64_t L,
                      int64_t T, cudaStream_t stream)
{
    taps::each<<<(unsigned)((M * N + 127) / 128), 128, 0, stream>>>(taps::Dot{W}, X, Y, M, N, L, T);
}
