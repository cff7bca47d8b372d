/* hone: the runtime's functions are hone's own (the recorder's); those that take structs of the
 * toolkit are here, so that the header's layout counts. Read in front of a launcher in both lanes. */
#ifndef HONE_HOST_STRUCTS
#define HONE_HOST_STRUCTS

#define cuTensorMapEncodeTiled hone_cuTensorMapEncodeTiled

#include <cuda_runtime.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

extern "C" {
struct hone_launch {
    const void *func;
    long long grid[3], block[3];
    unsigned cluster[3];
    unsigned long long shared;
    void *stream;
    int is_cooperative, is_programmatic;
};
int hone_record_launch(const struct hone_launch *launch, void **args);
long long hone_record_fact(const char *name);
long long hone_record_kernel_fact(const void *func, const char *name);
int hone_record_occupancy(int *ret, const void *func, int block, unsigned long shared);
void hone_record_note(const char *text);
}

/* ---- functions over structs ---- */

#ifndef __CUDA_ARCH__ /* in nvcc's device pass some have definitions for the device */

#define HONE_WEAK extern "C" __attribute__((weak))

HONE_WEAK cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (p == nullptr || device != 0)
        return cudaErrorInvalidValue;
    std::memset(p, 0, sizeof *p);
    std::snprintf(p->name, sizeof p->name, "NVIDIA device, recorded by hone");
    p->totalGlobalMem = (size_t)hone_record_fact("memory_bytes");
    p->sharedMemPerBlock = 49152;
    p->regsPerBlock = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = (int)hone_record_fact("threads_per_block");
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = (int)hone_record_fact("grid_x");
    p->maxGridSize[1] = (int)hone_record_fact("grid_y");
    p->maxGridSize[2] = (int)hone_record_fact("grid_z");
    p->totalConstMem = 65536;
    p->major = (int)hone_record_fact("major");
    p->minor = (int)hone_record_fact("minor");
    p->multiProcessorCount = (int)hone_record_fact("sm_count");
    p->concurrentKernels = 1;
    p->l2CacheSize = 50 << 20;
    p->persistingL2CacheMaxSize = 0;
    p->maxThreadsPerMultiProcessor = (int)hone_record_fact("threads_per_sm");
    p->sharedMemPerMultiprocessor = (size_t)hone_record_fact("shared_per_sm");
    p->regsPerMultiprocessor = 65536;
    p->cooperativeLaunch = 1;
    p->sharedMemPerBlockOptin = (size_t)hone_record_fact("shared_per_block_optin");
    p->maxBlocksPerMultiProcessor = 32;
    p->reservedSharedMemPerBlock = 1024;
    p->unifiedAddressing = 1;
    p->memoryPoolsSupported = 1;
    return cudaSuccess;
}

HONE_WEAK cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *func)
{
    std::memset(a, 0, sizeof *a);
    a->sharedSizeBytes = (size_t)hone_record_kernel_fact(func, "static_shared_bytes");
    a->numRegs = (int)hone_record_kernel_fact(func, "registers");
    a->maxThreadsPerBlock = (int)hone_record_kernel_fact(func, "max_threads");
    a->maxDynamicSharedSizeBytes = (int)hone_record_kernel_fact(func, "max_dynamic_shared");
    a->ptxVersion = a->binaryVersion =
        (int)(hone_record_fact("major") * 10 + hone_record_fact("minor"));
    return cudaSuccess;
}

HONE_WEAK cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *func, void **args)
{
    hone_launch l = {func,
                     {c->gridDim.x, c->gridDim.y, c->gridDim.z},
                     {c->blockDim.x, c->blockDim.y, c->blockDim.z},
                     {0, 0, 0},
                     c->dynamicSmemBytes,
                     (void *)c->stream,
                     0,
                     0};
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const cudaLaunchAttribute &a = c->attrs[i];
        if (a.id == cudaLaunchAttributeClusterDimension) {
            l.cluster[0] = a.val.clusterDim.x;
            l.cluster[1] = a.val.clusterDim.y;
            l.cluster[2] = a.val.clusterDim.z;
        } else if (a.id == cudaLaunchAttributeCooperative) {
            l.is_cooperative = a.val.cooperative;
        } else if (a.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
            l.is_programmatic = a.val.programmaticStreamSerializationAllowed;
        } else if (a.id != cudaLaunchAttributeIgnore) {
            hone_record_note("a launch attribute other than cluster, cooperative and programmatic "
                             "has no effect here");
        }
    }
    return (cudaError_t)hone_record_launch(&l, args);
}

HONE_WEAK cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
                                       size_t shared, cudaStream_t stream)
{
    hone_launch l = {func,    {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {0, 0, 0},
                     shared,  (void *)stream,           0,                           0};
    return (cudaError_t)hone_record_launch(&l, args);
}

HONE_WEAK cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block,
                                                  void **args, size_t shared, cudaStream_t stream)
{
    hone_launch l = {func,    {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {0, 0, 0},
                     shared,  (void *)stream,           1,                           0};
    return (cudaError_t)hone_record_launch(&l, args);
}

HONE_WEAK cudaError_t cudaOccupancyMaxActiveClusters(int *ret, const void *func,
                                                     const cudaLaunchConfig_t *c)
{
    int blocks = 0, size = 1;
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            size = (int)(c->attrs[i].val.clusterDim.x * c->attrs[i].val.clusterDim.y *
                         c->attrs[i].val.clusterDim.z);
    int rc = hone_record_occupancy(&blocks, func, (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z),
                                   c->dynamicSmemBytes);
    /* Parts of 16 SMs with a few missing: what is sure. */
    *ret = size < 1 ? 0 : blocks * (int)hone_record_fact("sm_count") / size * 15 / 16;
    return (cudaError_t)rc;
}

HONE_WEAK cudaError_t cudaOccupancyMaxPotentialClusterSize(int *ret, const void *, const cudaLaunchConfig_t *)
{
    *ret = 8;
    return cudaSuccess;
}

#undef HONE_WEAK
#endif

#endif
