// SPDX-License-Identifier: Apache-2.0
constexpr int TILE = 16;
__global__ void mm(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; k += TILE) {
        a[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0;
        b[threadIdx.y][threadIdx.x] = col < N && k + threadIdx.y < K ? B[(k + threadIdx.y) * N + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
extern "C" void tiled_matmul(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), block(TILE, TILE);
    mm<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
