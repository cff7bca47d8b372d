/* SPDX-License-Identifier: Apache-2.0 */
/* Our own declarations of the driver and NVRTC against the toolkit's headers, where those are.
 * A wrong size or number does not compile; a wrong symbol version fails when run. Without a toolkit
 * only the tables of our own are tested. */
#include "tools/runner/cuda/driver/cuda_api.h"

#include <string.h>

#include "tests/unit/unit.h"

#if defined(__has_include) && __has_include("/usr/local/cuda/include/cuda.h") &&                   \
                                            __has_include("/usr/local/cuda/include/nvrtc.h")
#define HAS_TOOLKIT 1
#else
#define HAS_TOOLKIT 0
#endif

#if HAS_TOOLKIT
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include "/usr/local/cuda/include/cuda.h"
#include "/usr/local/cuda/include/nvrtc.h"
#pragma GCC diagnostic pop

#define SAME(ours_, theirs_) _Static_assert((int)(ours_) == (int)(theirs_), #ours_)
#define SIZE(ours_, theirs_)                                                                       \
    _Static_assert(sizeof(ours_) == sizeof(theirs_) && _Alignof(ours_) == _Alignof(theirs_), #ours_)
#define AT(ours_, our_, theirs_, their_)                                                           \
    _Static_assert(offsetof(ours_, our_) == offsetof(theirs_, their_) &&                           \
                       sizeof(((ours_ *)0)->our_) == sizeof(((theirs_ *)0)->their_),               \
                   #ours_ "." #our_)

/* clang-format off */
SAME(HONE_CU_SUCCESS, CUDA_SUCCESS);
SAME(HONE_CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
SAME(HONE_CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(HONE_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(HONE_CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE);
SAME(HONE_CU_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(HONE_CU_INVALID_PTX, CUDA_ERROR_INVALID_PTX);
SAME(HONE_CU_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE);
SAME(HONE_CU_SYMBOL_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
SAME(HONE_CU_OBJECT_INIT_FAILED, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
SAME(HONE_CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
SAME(HONE_CU_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(HONE_CU_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(HONE_CU_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(HONE_CU_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(HONE_CU_ASSERT, CUDA_ERROR_ASSERT);
SAME(HONE_CU_HARDWARE_STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(HONE_CU_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(HONE_CU_MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(HONE_CU_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(HONE_CU_INVALID_PC, CUDA_ERROR_INVALID_PC);
SAME(HONE_CU_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED);
SAME(HONE_CU_COOPERATIVE_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME(HONE_CU_TENSOR_MEMORY_LEAK, CUDA_ERROR_TENSOR_MEMORY_LEAK);
SAME(HONE_CU_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED);
SAME(HONE_CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
SAME(HONE_CU_INVALID_CLUSTER_SIZE, CUDA_ERROR_INVALID_CLUSTER_SIZE);

SAME(HONE_CU_DEV_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(HONE_CU_DEV_MAX_GRID_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(HONE_CU_DEV_MAX_GRID_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(HONE_CU_DEV_MAX_GRID_Z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(HONE_CU_DEV_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(HONE_CU_DEV_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME(HONE_CU_DEV_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(HONE_CU_DEV_SM_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(HONE_CU_DEV_MEMORY_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(HONE_CU_DEV_BUS_WIDTH, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(HONE_CU_DEV_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(HONE_CU_DEV_THREADS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME(HONE_CU_DEV_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(HONE_CU_DEV_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(HONE_CU_DEV_SHARED_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(HONE_CU_DEV_REGISTERS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME(HONE_CU_DEV_PAGEABLE_ACCESS, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
SAME(HONE_CU_DEV_SHARED_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(HONE_CU_DEV_VMM_SUPPORTED, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
SAME(HONE_CU_DEV_BLOCKS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
SAME(HONE_CU_DEV_RESERVED_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);

SAME(HONE_CU_FUNC_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(HONE_CU_FUNC_SHARED_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(HONE_CU_FUNC_CONST_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(HONE_CU_FUNC_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(HONE_CU_FUNC_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(HONE_CU_FUNC_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(HONE_CU_FUNC_SHARED_CARVEOUT, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME(HONE_CU_FUNC_NON_PORTABLE_CLUSTER, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);

SAME(HONE_CU_LAUNCH_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(HONE_CU_LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(HONE_CU_LAUNCH_PROGRAMMATIC, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(HONE_CU_EDGE_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
SAME(HONE_CU_PORT_PROGRAMMATIC, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);

SAME(HONE_CU_EVENT_DEFAULT, CU_EVENT_DEFAULT);
SAME(HONE_CU_EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(HONE_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(HONE_CU_CTX_SCHED_SPIN, CU_CTX_SCHED_SPIN);
SAME(HONE_CU_CTX_SCHED_BLOCKING, CU_CTX_SCHED_BLOCKING_SYNC);
SAME(HONE_CU_LIMIT_PRINTF_FIFO, CU_LIMIT_PRINTF_FIFO_SIZE);
SAME(HONE_CU_LIMIT_MALLOC_HEAP, CU_LIMIT_MALLOC_HEAP_SIZE);
SAME(HONE_CU_LIMIT_PERSISTING_L2, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
SAME(HONE_CU_MEM_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(HONE_CU_HANDLE_POSIX_FD, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME(HONE_CU_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(HONE_CU_GRANULARITY_MINIMUM, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
SAME(HONE_CU_ACCESS_NONE, CU_MEM_ACCESS_FLAGS_PROT_NONE);
SAME(HONE_CU_ACCESS_READ, CU_MEM_ACCESS_FLAGS_PROT_READ);
SAME(HONE_CU_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(HONE_CU_MEMTYPE_HOST, CU_MEMORYTYPE_HOST);
SAME(HONE_CU_MEMTYPE_DEVICE, CU_MEMORYTYPE_DEVICE);

SIZE(hone_cu_device, CUdevice);
SIZE(hone_cu_ptr, CUdeviceptr);
SIZE(hone_cu_handle, CUmemGenericAllocationHandle);
SIZE(hone_cu_result, CUresult);
SIZE(struct hone_cu_uuid, CUuuid);
SIZE(struct hone_cu_location, CUmemLocation);
AT(struct hone_cu_location, type, CUmemLocation, type);
AT(struct hone_cu_location, id, CUmemLocation, id);
SIZE(struct hone_cu_alloc_prop, CUmemAllocationProp);
AT(struct hone_cu_alloc_prop, type, CUmemAllocationProp, type);
AT(struct hone_cu_alloc_prop, requested_handle_types, CUmemAllocationProp, requestedHandleTypes);
AT(struct hone_cu_alloc_prop, location, CUmemAllocationProp, location);
AT(struct hone_cu_alloc_prop, win32_meta, CUmemAllocationProp, win32HandleMetaData);
AT(struct hone_cu_alloc_prop, flags, CUmemAllocationProp, allocFlags);
AT(struct hone_cu_alloc_prop, flags.compression, CUmemAllocationProp, allocFlags.compressionType);
AT(struct hone_cu_alloc_prop, flags.gpu_direct_rdma, CUmemAllocationProp, allocFlags.gpuDirectRDMACapable);
AT(struct hone_cu_alloc_prop, flags.usage, CUmemAllocationProp, allocFlags.usage);
SIZE(struct hone_cu_access, CUmemAccessDesc);
AT(struct hone_cu_access, location, CUmemAccessDesc, location);
AT(struct hone_cu_access, flags, CUmemAccessDesc, flags);
SIZE(struct hone_cu_kernel_params, CUDA_KERNEL_NODE_PARAMS);
AT(struct hone_cu_kernel_params, func, CUDA_KERNEL_NODE_PARAMS, func);
AT(struct hone_cu_kernel_params, grid_x, CUDA_KERNEL_NODE_PARAMS, gridDimX);
AT(struct hone_cu_kernel_params, grid_z, CUDA_KERNEL_NODE_PARAMS, gridDimZ);
AT(struct hone_cu_kernel_params, block_x, CUDA_KERNEL_NODE_PARAMS, blockDimX);
AT(struct hone_cu_kernel_params, block_z, CUDA_KERNEL_NODE_PARAMS, blockDimZ);
AT(struct hone_cu_kernel_params, shared_bytes, CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
AT(struct hone_cu_kernel_params, params, CUDA_KERNEL_NODE_PARAMS, kernelParams);
AT(struct hone_cu_kernel_params, extra, CUDA_KERNEL_NODE_PARAMS, extra);
AT(struct hone_cu_kernel_params, kern, CUDA_KERNEL_NODE_PARAMS, kern);
AT(struct hone_cu_kernel_params, ctx, CUDA_KERNEL_NODE_PARAMS, ctx);
SIZE(struct hone_cu_memset_params, CUDA_MEMSET_NODE_PARAMS);
AT(struct hone_cu_memset_params, dst, CUDA_MEMSET_NODE_PARAMS, dst);
AT(struct hone_cu_memset_params, pitch, CUDA_MEMSET_NODE_PARAMS, pitch);
AT(struct hone_cu_memset_params, value, CUDA_MEMSET_NODE_PARAMS, value);
AT(struct hone_cu_memset_params, element_size, CUDA_MEMSET_NODE_PARAMS, elementSize);
AT(struct hone_cu_memset_params, width, CUDA_MEMSET_NODE_PARAMS, width);
AT(struct hone_cu_memset_params, height, CUDA_MEMSET_NODE_PARAMS, height);
SIZE(struct hone_cu_memcpy3d, CUDA_MEMCPY3D);
AT(struct hone_cu_memcpy3d, src_x, CUDA_MEMCPY3D, srcXInBytes);
AT(struct hone_cu_memcpy3d, src_lod, CUDA_MEMCPY3D, srcLOD);
AT(struct hone_cu_memcpy3d, src_type, CUDA_MEMCPY3D, srcMemoryType);
AT(struct hone_cu_memcpy3d, src_host, CUDA_MEMCPY3D, srcHost);
AT(struct hone_cu_memcpy3d, src_device, CUDA_MEMCPY3D, srcDevice);
AT(struct hone_cu_memcpy3d, src_array, CUDA_MEMCPY3D, srcArray);
AT(struct hone_cu_memcpy3d, src_pitch, CUDA_MEMCPY3D, srcPitch);
AT(struct hone_cu_memcpy3d, src_height, CUDA_MEMCPY3D, srcHeight);
AT(struct hone_cu_memcpy3d, dst_x, CUDA_MEMCPY3D, dstXInBytes);
AT(struct hone_cu_memcpy3d, dst_type, CUDA_MEMCPY3D, dstMemoryType);
AT(struct hone_cu_memcpy3d, dst_host, CUDA_MEMCPY3D, dstHost);
AT(struct hone_cu_memcpy3d, dst_device, CUDA_MEMCPY3D, dstDevice);
AT(struct hone_cu_memcpy3d, dst_array, CUDA_MEMCPY3D, dstArray);
AT(struct hone_cu_memcpy3d, dst_pitch, CUDA_MEMCPY3D, dstPitch);
AT(struct hone_cu_memcpy3d, width, CUDA_MEMCPY3D, WidthInBytes);
AT(struct hone_cu_memcpy3d, height, CUDA_MEMCPY3D, Height);
AT(struct hone_cu_memcpy3d, depth, CUDA_MEMCPY3D, Depth);
_Static_assert(sizeof(union hone_cu_launch_value) == sizeof(CUlaunchAttributeValue), "launch value");
AT(union hone_cu_launch_value, cluster, CUlaunchAttributeValue, clusterDim);
AT(union hone_cu_launch_value, cooperative, CUlaunchAttributeValue, cooperative);
AT(union hone_cu_launch_value, programmatic, CUlaunchAttributeValue, programmaticStreamSerializationAllowed);
_Static_assert(sizeof(struct hone_cu_launch_attribute) == sizeof(CUlaunchAttribute), "launch attribute");
AT(struct hone_cu_launch_attribute, id, CUlaunchAttribute, id);
AT(struct hone_cu_launch_attribute, value, CUlaunchAttribute, value);
SIZE(struct hone_cu_launch_config, CUlaunchConfig);
AT(struct hone_cu_launch_config, grid_x, CUlaunchConfig, gridDimX);
AT(struct hone_cu_launch_config, block_x, CUlaunchConfig, blockDimX);
AT(struct hone_cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
AT(struct hone_cu_launch_config, stream, CUlaunchConfig, hStream);
AT(struct hone_cu_launch_config, attrs, CUlaunchConfig, attrs);
AT(struct hone_cu_launch_config, n_attrs, CUlaunchConfig, numAttrs);
SIZE(struct hone_cu_edge, CUgraphEdgeData);
AT(struct hone_cu_edge, from_port, CUgraphEdgeData, from_port);
AT(struct hone_cu_edge, to_port, CUgraphEdgeData, to_port);
AT(struct hone_cu_edge, type, CUgraphEdgeData, type);
SIZE(struct hone_cu_tensor_map, CUtensorMap);
SAME(0, NVRTC_SUCCESS);
SIZE(hone_nvrtc_program, nvrtcProgram);
SIZE(int, nvrtcResult);

/* The header's name of a call expands to the symbol that code compiled against it would use. */
#define TEXT(x_) #x_
#define EXPANDED(x_) TEXT(x_)
/* clang-format on */

START_TEST(symbols_have_the_header_s_version)
{
    /* Names of ours that differ, and the older elapsed time, which every driver has. */
    static const char *const others[] = {"cuGraphInstantiate", "cuOccupancyMaxActiveBlocks",
                                         "cuEventElapsedTime"};
    bool is_other;
#define CHECK_SYMBOL(name_, symbol_, args_)                                                        \
    is_other = false;                                                                              \
    for (size_t i = 0; i < HONE_COUNTOF(others); i++)                                              \
        is_other = is_other || strcmp(others[i], "cu" #name_) == 0;                                \
    if (!is_other)                                                                                 \
        ck_assert_str_eq(EXPANDED(cu##name_), symbol_);
    HONE_CUDA_REQUIRED(CHECK_SYMBOL)
    HONE_CUDA_OPTIONAL(CHECK_SYMBOL)
    ck_assert_str_eq(EXPANDED(cuGraphInstantiate), "cuGraphInstantiateWithFlags");
}
END_TEST

/* Lists whose arguments changed between versions of the toolkit. */
START_TEST(argument_lists_are_this_version_s)
{
    _Static_assert(sizeof(__typeof__(cuMemAddressReserve((CUdeviceptr *)0, (size_t)0, (size_t)0,
                                                         (CUdeviceptr)0, 0ull))) == sizeof(int),
                   "cuMemAddressReserve");
    _Static_assert(sizeof(__typeof__(cuGraphAddDependencies(
                       (CUgraph)0, (const CUgraphNode *)0, (const CUgraphNode *)0,
                       (const CUgraphEdgeData *)0, (size_t)0))) == sizeof(int),
                   "cuGraphAddDependencies");
}
END_TEST
#endif

/* Codes that the table maps, wherever there is a toolkit or not. */
START_TEST(codes_become_reasons)
{
    static const struct {
        int code;
        enum hone_reason reason;
    } rows[] = {
        {HONE_CU_SUCCESS, HONE_REASON_CORRECT},
        {HONE_CU_OUT_OF_MEMORY, HONE_REASON_OOM},
        {HONE_CU_ILLEGAL_ADDRESS, HONE_REASON_OUT_OF_BOUNDS},
        {HONE_CU_ASSERT, HONE_REASON_CRASH},
        {HONE_CU_LAUNCH_FAILED, HONE_REASON_CRASH},
        {HONE_CU_LAUNCH_TIMEOUT, HONE_REASON_TIMEOUT},
        {HONE_CU_LAUNCH_OUT_OF_RESOURCES, HONE_REASON_LAUNCH},
        {HONE_CU_COOPERATIVE_TOO_LARGE, HONE_REASON_LAUNCH},
        {HONE_CU_INVALID_CLUSTER_SIZE, HONE_REASON_LAUNCH},
        {HONE_CU_INVALID_IMAGE, HONE_REASON_LINK},
        {46, HONE_REASON_INFRA},  /* device unavailable */
        {999, HONE_REASON_INFRA}, /* unknown */
        {-1, HONE_REASON_INFRA},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        ck_assert_int_eq(hone_cu_reason(rows[i].code), rows[i].reason);
}
END_TEST

/* An empty folder in front does not hide the libraries of the usual places, and says what it
 * tried. */
START_TEST(a_missing_library_says_where_it_was_looked_for)
{
    struct hone_err err = HONE_ERR_INIT;
    char *path = NULL;
    (void)setenv("HONE_CUDA_LIB", "/nowhere", 1);
    ck_assert_ptr_null(hone_cuda_library("libhone-no-such.so", &path, &err));
    ck_assert_int_eq(err.code, HONE_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "/nowhere/libhone-no-such.so"));
}
END_TEST

#if HAS_TOOLKIT
UNIT_MAIN("cuda_abi", symbols_have_the_header_s_version, argument_lists_are_this_version_s,
          codes_become_reasons, a_missing_library_says_where_it_was_looked_for)
#else
UNIT_MAIN("cuda_abi", codes_become_reasons, a_missing_library_says_where_it_was_looked_for)
#endif
