/* Parts of the summed dimension go to a buffer; a second kernel adds them up in order.
 *
 * task: matmul
 * honest: 4 split-K with workspace and second pass
 * pack: deterministic
 */
#include <stdint.h>
#define PARTS 4
__global__ void part(const float *A, const float *B, float *parts, int64_t M, int64_t N, int64_t K)
{
    int64_t n = (int64_t)blockIdx.x * 16 + threadIdx.x, m = (int64_t)blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N)
        return;
    int64_t first = K * blockIdx.z / PARTS, end = K * (blockIdx.z + 1) / PARTS;
    float sum = 0;
    for (int64_t k = first; k < end; k++)
        sum += A[m * K + k] * B[k * N + n];
    parts[((int64_t)blockIdx.z * M + m) * N + n] = sum;
}

__global__ void add(const float *parts, float *C, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= n)
        return;
    for (int p = 0; p < PARTS; p++)
        sum += parts[p * n + i];
    C[i] = sum;
}

extern "C" void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K,
                       cudaStream_t stream)
{
    dim3 block(16, 16), grid((unsigned)((N + 15) / 16), (unsigned)((M + 15) / 16), PARTS);
    float *parts;
    cudaMallocAsync((void **)&parts, (size_t)(PARTS * M * N) * sizeof(float), stream);
    part<<<grid, block, 0, stream>>>(A, B, parts, M, N, K);
    add<<<(unsigned)((M * N + 255) / 256), 256, 0, stream>>>(parts, C, M * N);
    cudaFreeAsync(parts, stream);
}
