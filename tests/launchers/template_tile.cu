// A template with a tunable and a wrapper; the classic.
// @inputs A B
// @outputs C
// @axes M=70 N=64 K=32
// @tune TILE=16
// | tiled<16> <<<(4, 5), (16, 16)>>> (A, B, C, 70, 64, 32)
// > tiled<16>
#pragma hone tune(TILE: 8, 16, 32)

template <int T>
__global__ void tiled(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a[T][T];
    a[threadIdx.y][threadIdx.x] = A[0];
    __syncthreads();
    C[0] = a[0][0] * B[0];
}

extern "C" void launch(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K, cudaStream_t stream)
{
    dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    tiled<TILE><<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}
