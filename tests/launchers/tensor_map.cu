// A tensor map by way of the driver's entry point, passed as __grid_constant__.
// @inputs A
// @outputs C
// @axes N=64
// | load <<<1, 128>>> tensor maps 2 ({map of A box 32}, C, {map of C+4096 box 16})

#include <cuda.h>
#include <cudaTypedefs.h>

__global__ void load(const __grid_constant__ CUtensorMap map, float *out, const __grid_constant__ CUtensorMap other)
{
    out[0] = 1;
}

static CUtensorMap make(const void *at, uint64_t n, uint32_t box)
{
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult status;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &status);
    auto encode = (PFN_cuTensorMapEncodeTiled_v12000)entry;
    CUtensorMap map;
    cuuint64_t dims[2] = {n, n}, strides[1] = {n * 4};
    cuuint32_t boxes[2] = {box, 8}, steps[2] = {1, 1};
    encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<void *>(at), dims, strides, boxes, steps,
           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

extern "C" void launch(const float *A, float *C, int64_t N, cudaStream_t stream)
{
    CUtensorMap a = make(A, N, 32), c = make(C + 1024, N, 16);
    load<<<1, 128, 0, stream>>>(a, C, c);
}
