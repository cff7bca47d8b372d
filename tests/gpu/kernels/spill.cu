/* A product with 64 sums a thread and leave for 32 registers: the sums live in memory. */
#include <stdint.h>

#define SIDE 8

__global__ void __launch_bounds__(1024, 2)
    matmul_block(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t column = ((int64_t)blockIdx.x * 32 + threadIdx.x) * SIDE;
    int64_t row = ((int64_t)blockIdx.y * 32 + threadIdx.y) * SIDE;
    float sum[SIDE][SIDE] = {};
    for (int64_t k = 0; k < K; k++) {
        float a[SIDE], b[SIDE];
        for (int i = 0; i < SIDE; i++) {
            a[i] = row + i < M ? A[(row + i) * K + k] : 0.0f;
            b[i] = column + i < N ? B[k * N + column + i] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < SIDE * SIDE; i++)
            sum[i / SIDE][i % SIDE] += a[i / SIDE] * b[i % SIDE]; /* HERE */
    }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            if (row + i < M && column + j < N)
                C[(row + i) * N + column + j] = sum[i][j];
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(32, 32);
    dim3 grid((unsigned)((N + 32 * SIDE - 1) / (32 * SIDE)),
              (unsigned)((M + 32 * SIDE - 1) / (32 * SIDE)));
    matmul_block<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
