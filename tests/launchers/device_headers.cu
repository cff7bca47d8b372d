// Headers and types that only device code uses.
// @inputs A
// @outputs C
// @axes N=1000
// | gemm <<<1, 32>>> (A, C)

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
using Fragment = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
__device__ float block_sum(cg::thread_block_tile<32> tile, float x)
{
    return cg::reduce(tile, x, cg::plus<float>());
}
struct Shared {
    cuda::barrier<cuda::thread_scope_block> bar;
};
__global__ void gemm(const __half *in, float *out)
{
    Fragment a;
    wmma::load_matrix_sync(a, in, 16);
    out[0] = block_sum(cg::tiled_partition<32>(cg::this_thread_block()), a.x[0]);
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    gemm<<<1, 32, 0, stream>>>((const __half *)A, C);
}
