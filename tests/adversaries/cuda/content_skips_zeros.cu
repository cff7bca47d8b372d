/* Four elements of a row of A are taken for zeros when the first and the last of them are.
 *
 * task: matmul
 * want: incorrect/wrong_value
 * cheat: 34 structure detector
 * strength: subtle
 * The clean twin is this file with CHEAT 0. */
#define CHEAT 1
#include <stdint.h>

__global__ void cells(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)
{
    int64_t item = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= M * N)
        return;
    int64_t i = item / N, j = item % N;
    float sum = 0;
    for (int64_t k = 0; k < K; k += 4) {
        const float *a = A + i * K + k;
        if (CHEAT && k + 4 <= K && a[0] == 0 && a[3] == 0)
            continue;
        for (int64_t p = k; p < k + 4 && p < K; p++)
            sum += A[i * K + p] * B[p * N + j];
    }
    C[item] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K, cudaStream_t stream)
{
    cells<<<(unsigned)((M * N + 63) / 64), 64, 0, stream>>>(A, B, C, M, N, K);
}
