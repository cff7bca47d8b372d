/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

__global__ void solve(const float *L, const float *B, float *X, int64_t N, int64_t C)
{
    int64_t c = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    for (int64_t n = 0; n < N && c < C; n++) {
        double rest = B[n * C + c];
        for (int64_t k = 0; k < n; k++)
            rest -= (double)L[n * N + k] * X[k * C + c];
        X[n * C + c] = (float)(rest / L[n * N + n]);
    }
}

extern "C" void solve_lower(const float *L, const float *B, float *X, int64_t N, int64_t C,
                            cudaStream_t stream)
{
    solve<<<(unsigned)((C + 63) / 64), 64, 0, stream>>>(L, B, X, N, C);
}
