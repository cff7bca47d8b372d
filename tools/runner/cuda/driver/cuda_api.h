/* SPDX-License-Identifier: Apache-2.0 */
/* The one door to libcuda, NVRTC and CUPTI: loaded at run time, with our own minimal declarations.
 *
 * One binary works with and without NVIDIA's software. Nothing of it is linked; hone_cuda_open
 * loads libcuda.so.1, hone_nvrtc_open libnvrtc.so.* (CUPTI: cupti.h, same owner folder), from
 * $HONE_CUDA_LIB first (a folder; tests put the emulator there), then by the loader's own rules,
 * then from /usr/local/cuda/lib64 and /usr/local/nvidia/lib64. tests/unit/runner/cuda_abi_test.c
 * compares every type and constant here with the toolkit's headers where those are.
 *
 * Names are the driver's without the version suffix: cu->MemCreate is cuMemCreate; the table says
 * which symbol is meant. Calls return the driver's code, 0 is good: hone_cu_check makes an error of
 * it. Threads: as the driver's. */
#ifndef HONE_RUNNER_CUDA_API_H
#define HONE_RUNNER_CUDA_API_H

#include "tools/format/verdict.h"
#include "workspace/base/err.h"

typedef int hone_cu_result; /* CUresult */
typedef int hone_cu_device;
typedef unsigned long long hone_cu_ptr;    /* CUdeviceptr */
typedef unsigned long long hone_cu_handle; /* CUmemGenericAllocationHandle */
typedef struct hone_cu_ctx_s *hone_cu_ctx;
typedef struct hone_cu_module_s *hone_cu_module;
typedef struct hone_cu_function_s *hone_cu_function;
typedef struct hone_cu_stream_s *hone_cu_stream;
typedef struct hone_cu_event_s *hone_cu_event;
typedef struct hone_cu_graph_s *hone_cu_graph;
typedef struct hone_cu_graph_node_s *hone_cu_graph_node;
typedef struct hone_cu_graph_exec_s *hone_cu_graph_exec;

enum { /* CUresult, those that we tell apart */
       HONE_CU_SUCCESS = 0,
       HONE_CU_INVALID_VALUE = 1,
       HONE_CU_OUT_OF_MEMORY = 2,
       HONE_CU_NO_DEVICE = 100,
       HONE_CU_INVALID_IMAGE = 200,
       HONE_CU_NO_BINARY = 209,
       HONE_CU_INVALID_PTX = 218,
       HONE_CU_INVALID_SOURCE = 300,
       HONE_CU_SYMBOL_NOT_FOUND = 302,
       HONE_CU_OBJECT_INIT_FAILED = 303,
       HONE_CU_NOT_FOUND = 500,
       HONE_CU_NOT_READY = 600,
       HONE_CU_ILLEGAL_ADDRESS = 700,
       HONE_CU_LAUNCH_OUT_OF_RESOURCES = 701,
       HONE_CU_LAUNCH_TIMEOUT = 702,
       HONE_CU_ASSERT = 710,
       HONE_CU_HARDWARE_STACK_ERROR = 714,
       HONE_CU_ILLEGAL_INSTRUCTION = 715,
       HONE_CU_MISALIGNED_ADDRESS = 716,
       HONE_CU_INVALID_ADDRESS_SPACE = 717,
       HONE_CU_INVALID_PC = 718,
       HONE_CU_LAUNCH_FAILED = 719,
       HONE_CU_COOPERATIVE_TOO_LARGE = 720,
       HONE_CU_TENSOR_MEMORY_LEAK = 721,
       HONE_CU_NOT_PERMITTED = 800,
       HONE_CU_NOT_SUPPORTED = 801,
       HONE_CU_INVALID_CLUSTER_SIZE = 912
};

enum { /* CUdevice_attribute */
       HONE_CU_DEV_MAX_THREADS_PER_BLOCK = 1,
       HONE_CU_DEV_MAX_GRID_X = 5,
       HONE_CU_DEV_MAX_GRID_Y = 6,
       HONE_CU_DEV_MAX_GRID_Z = 7,
       HONE_CU_DEV_SHARED_PER_BLOCK = 8,
       HONE_CU_DEV_REGISTERS_PER_BLOCK = 12,
       HONE_CU_DEV_CLOCK_KHZ = 13,
       HONE_CU_DEV_SM_COUNT = 16,
       HONE_CU_DEV_MEMORY_CLOCK_KHZ = 36,
       HONE_CU_DEV_BUS_WIDTH = 37,
       HONE_CU_DEV_L2_BYTES = 38,
       HONE_CU_DEV_THREADS_PER_SM = 39,
       HONE_CU_DEV_MAJOR = 75,
       HONE_CU_DEV_MINOR = 76,
       HONE_CU_DEV_SHARED_PER_SM = 81,
       HONE_CU_DEV_REGISTERS_PER_SM = 82,
       HONE_CU_DEV_PAGEABLE_ACCESS = 88,
       HONE_CU_DEV_SHARED_PER_BLOCK_OPTIN = 97,
       HONE_CU_DEV_VMM_SUPPORTED = 102,
       HONE_CU_DEV_BLOCKS_PER_SM = 106,
       HONE_CU_DEV_RESERVED_SHARED_PER_BLOCK = 111
};

enum { /* CUfunction_attribute */
       HONE_CU_FUNC_MAX_THREADS = 0,
       HONE_CU_FUNC_SHARED_BYTES = 1,
       HONE_CU_FUNC_CONST_BYTES = 2,
       HONE_CU_FUNC_LOCAL_BYTES = 3,
       HONE_CU_FUNC_REGISTERS = 4,
       HONE_CU_FUNC_MAX_DYNAMIC_SHARED = 8,
       HONE_CU_FUNC_SHARED_CARVEOUT = 9,
       HONE_CU_FUNC_NON_PORTABLE_CLUSTER = 14
};

enum { /* CUlaunchAttributeID, CUkernelNodeAttrID */
       HONE_CU_LAUNCH_COOPERATIVE = 2,
       HONE_CU_LAUNCH_CLUSTER = 4,
       HONE_CU_LAUNCH_PROGRAMMATIC = 6
};

enum {
    HONE_CU_EVENT_DEFAULT = 0,
    HONE_CU_EVENT_NO_TIMING = 2,
    HONE_CU_STREAM_NON_BLOCKING = 1,
    HONE_CU_CTX_SCHED_SPIN = 1,
    HONE_CU_CTX_SCHED_BLOCKING = 4,
    HONE_CU_LIMIT_PRINTF_FIFO = 1,
    HONE_CU_LIMIT_MALLOC_HEAP = 2,
    HONE_CU_LIMIT_PERSISTING_L2 = 6,
    HONE_CU_MEM_PINNED = 1,
    HONE_CU_HANDLE_POSIX_FD = 1,
    HONE_CU_LOCATION_DEVICE = 1,
    HONE_CU_GRANULARITY_MINIMUM = 0,
    HONE_CU_ACCESS_NONE = 0,
    HONE_CU_ACCESS_READ = 1,
    HONE_CU_ACCESS_READ_WRITE = 3,
    HONE_CU_MEMTYPE_HOST = 1,
    HONE_CU_MEMTYPE_DEVICE = 2
};

struct hone_cu_uuid { /* CUuuid */
    char bytes[16];
};
struct hone_cu_location { /* CUmemLocation */
    int type, id;
};
struct hone_cu_alloc_prop { /* CUmemAllocationProp */
    int type, requested_handle_types;
    struct hone_cu_location location;
    void *win32_meta;
    struct {
        unsigned char compression, gpu_direct_rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
struct hone_cu_access { /* CUmemAccessDesc */
    struct hone_cu_location location;
    int flags;
};
struct hone_cu_kernel_params { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    hone_cu_function func;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    void **params;
    void **extra;
    void *kern;
    hone_cu_ctx ctx;
};
struct hone_cu_memset_params { /* CUDA_MEMSET_NODE_PARAMS */
    hone_cu_ptr dst;
    size_t pitch;
    unsigned value, element_size;
    size_t width, height;
};
struct hone_cu_memcpy3d { /* CUDA_MEMCPY3D */
    size_t src_x, src_y, src_z, src_lod;
    int src_type;
    const void *src_host;
    hone_cu_ptr src_device;
    void *src_array, *reserved0;
    size_t src_pitch, src_height;
    size_t dst_x, dst_y, dst_z, dst_lod;
    int dst_type;
    void *dst_host;
    hone_cu_ptr dst_device;
    void *dst_array, *reserved1;
    size_t dst_pitch, dst_height;
    size_t width, height, depth;
};
union hone_cu_launch_value { /* CUlaunchAttributeValue: 64 bytes */
    char pad[64];
    struct {
        unsigned x, y, z;
    } cluster;
    int cooperative, programmatic;
};
struct hone_cu_launch_attribute { /* CUlaunchAttribute */
    int id;
    char pad[4];
    union hone_cu_launch_value value;
};
struct hone_cu_launch_config { /* CUlaunchConfig */
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    hone_cu_stream stream;
    struct hone_cu_launch_attribute *attrs;
    unsigned n_attrs;
};
struct hone_cu_edge { /* CUgraphEdgeData */
    unsigned char from_port, to_port, type, reserved[5];
};
enum {
    HONE_CU_EDGE_PROGRAMMATIC = 1, /* CUgraphDependencyType */
    HONE_CU_PORT_PROGRAMMATIC = 1  /* CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC */
};
struct hone_cu_tensor_map { /* CUtensorMap */
    _Alignas(128) unsigned long long opaque[16];
};

/* A row: member, symbol, arguments. Loading fails only for the REQUIRED ones; OPTIONAL ones may
 * be NULL. */
/* clang-format off */
#define HONE_CUDA_REQUIRED(F) \
    F(Init, "cuInit", (unsigned flags)) \
    F(DriverGetVersion, "cuDriverGetVersion", (int *version)) \
    F(GetErrorName, "cuGetErrorName", (hone_cu_result code, const char **ret)) \
    F(GetErrorString, "cuGetErrorString", (hone_cu_result code, const char **ret)) \
    F(DeviceGet, "cuDeviceGet", (hone_cu_device *ret, int ordinal)) \
    F(DeviceGetCount, "cuDeviceGetCount", (int *ret)) \
    F(DeviceGetName, "cuDeviceGetName", (char *name, int len, hone_cu_device dev)) \
    F(DeviceGetUuid, "cuDeviceGetUuid_v2", (struct hone_cu_uuid *ret, hone_cu_device dev)) \
    F(DeviceGetAttribute, "cuDeviceGetAttribute", (int *ret, int attribute, hone_cu_device dev)) \
    F(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *ret, hone_cu_device dev)) \
    F(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (hone_cu_ctx *ret, hone_cu_device dev)) \
    F(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (hone_cu_device dev)) \
    F(DevicePrimaryCtxSetFlags, "cuDevicePrimaryCtxSetFlags_v2", (hone_cu_device dev, unsigned flags)) \
    F(CtxSetCurrent, "cuCtxSetCurrent", (hone_cu_ctx ctx)) \
    F(CtxSynchronize, "cuCtxSynchronize", (void)) \
    F(CtxSetLimit, "cuCtxSetLimit", (int limit, size_t value)) \
    F(CtxResetPersistingL2Cache, "cuCtxResetPersistingL2Cache", (void)) \
    F(MemGetInfo, "cuMemGetInfo_v2", (size_t *ret_free, size_t *ret_total)) \
    F(MemGetAllocationGranularity, "cuMemGetAllocationGranularity", (size_t *ret, const struct hone_cu_alloc_prop *prop, int option)) \
    F(MemAddressReserve, "cuMemAddressReserve", (hone_cu_ptr *ret, size_t size, size_t alignment, hone_cu_ptr addr, unsigned long long flags)) \
    F(MemAddressFree, "cuMemAddressFree", (hone_cu_ptr ptr, size_t size)) \
    F(MemCreate, "cuMemCreate", (hone_cu_handle *ret, size_t size, const struct hone_cu_alloc_prop *prop, unsigned long long flags)) \
    F(MemRelease, "cuMemRelease", (hone_cu_handle handle)) \
    F(MemMap, "cuMemMap", (hone_cu_ptr ptr, size_t size, size_t offset, hone_cu_handle handle, unsigned long long flags)) \
    F(MemUnmap, "cuMemUnmap", (hone_cu_ptr ptr, size_t size)) \
    F(MemSetAccess, "cuMemSetAccess", (hone_cu_ptr ptr, size_t size, const struct hone_cu_access *desc, size_t count)) \
    F(MemExportToShareableHandle, "cuMemExportToShareableHandle", (void *ret, hone_cu_handle handle, int type, unsigned long long flags)) \
    F(MemImportFromShareableHandle, "cuMemImportFromShareableHandle", (hone_cu_handle *ret, void *os_handle, int type)) \
    F(MemAlloc, "cuMemAlloc_v2", (hone_cu_ptr *ret, size_t size)) \
    F(MemFree, "cuMemFree_v2", (hone_cu_ptr ptr)) \
    F(MemHostAlloc, "cuMemHostAlloc", (void **ret, size_t size, unsigned flags)) \
    F(MemFreeHost, "cuMemFreeHost", (void *ptr)) \
    F(MemcpyHtoD, "cuMemcpyHtoD_v2", (hone_cu_ptr dst, const void *src, size_t n)) \
    F(MemcpyDtoH, "cuMemcpyDtoH_v2", (void *dst, hone_cu_ptr src, size_t n)) \
    F(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (hone_cu_ptr dst, const void *src, size_t n, hone_cu_stream stream)) \
    F(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *dst, hone_cu_ptr src, size_t n, hone_cu_stream stream)) \
    F(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (hone_cu_ptr dst, hone_cu_ptr src, size_t n, hone_cu_stream stream)) \
    F(MemsetD8Async, "cuMemsetD8Async", (hone_cu_ptr dst, unsigned char value, size_t n, hone_cu_stream stream)) \
    F(MemsetD32Async, "cuMemsetD32Async", (hone_cu_ptr dst, unsigned value, size_t n, hone_cu_stream stream)) \
    F(ModuleLoadData, "cuModuleLoadData", (hone_cu_module *ret, const void *image)) \
    F(ModuleUnload, "cuModuleUnload", (hone_cu_module module)) \
    F(ModuleGetFunction, "cuModuleGetFunction", (hone_cu_function *ret, hone_cu_module module, const char *name)) \
    F(ModuleGetGlobal, "cuModuleGetGlobal_v2", (hone_cu_ptr *ret, size_t *ret_bytes, hone_cu_module module, const char *name)) \
    F(FuncGetAttribute, "cuFuncGetAttribute", (int *ret, int attribute, hone_cu_function func)) \
    F(FuncSetAttribute, "cuFuncSetAttribute", (hone_cu_function func, int attribute, int value)) \
    F(LaunchKernel, "cuLaunchKernel", (hone_cu_function func, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, hone_cu_stream stream, void **params, void **extra)) \
    F(LaunchKernelEx, "cuLaunchKernelEx", (const struct hone_cu_launch_config *config, hone_cu_function func, void **params, void **extra)) \
    F(OccupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *ret, hone_cu_function func, int block_size, size_t dynamic_shared)) \
    F(StreamCreate, "cuStreamCreate", (hone_cu_stream *ret, unsigned flags)) \
    F(StreamDestroy, "cuStreamDestroy_v2", (hone_cu_stream stream)) \
    F(StreamSynchronize, "cuStreamSynchronize", (hone_cu_stream stream)) \
    F(StreamQuery, "cuStreamQuery", (hone_cu_stream stream)) \
    F(EventCreate, "cuEventCreate", (hone_cu_event *ret, unsigned flags)) \
    F(EventDestroy, "cuEventDestroy_v2", (hone_cu_event event)) \
    F(EventRecord, "cuEventRecord", (hone_cu_event event, hone_cu_stream stream)) \
    F(EventQuery, "cuEventQuery", (hone_cu_event event)) \
    F(EventSynchronize, "cuEventSynchronize", (hone_cu_event event)) \
    F(EventElapsedTime, "cuEventElapsedTime", (float *ret_ms, hone_cu_event start, hone_cu_event end)) \
    F(GraphCreate, "cuGraphCreate", (hone_cu_graph *ret, unsigned flags)) \
    F(GraphDestroy, "cuGraphDestroy", (hone_cu_graph graph)) \
    F(GraphAddKernelNode, "cuGraphAddKernelNode_v2", (hone_cu_graph_node *ret, hone_cu_graph graph, const hone_cu_graph_node *after, size_t n_after, const struct hone_cu_kernel_params *params)) \
    F(GraphAddMemsetNode, "cuGraphAddMemsetNode", (hone_cu_graph_node *ret, hone_cu_graph graph, const hone_cu_graph_node *after, size_t n_after, const struct hone_cu_memset_params *params, hone_cu_ctx ctx)) \
    F(GraphAddMemcpyNode, "cuGraphAddMemcpyNode", (hone_cu_graph_node *ret, hone_cu_graph graph, const hone_cu_graph_node *after, size_t n_after, const struct hone_cu_memcpy3d *params, hone_cu_ctx ctx)) \
    F(GraphKernelNodeSetAttribute, "cuGraphKernelNodeSetAttribute", (hone_cu_graph_node node, int id, const union hone_cu_launch_value *value)) \
    F(GraphInstantiate, "cuGraphInstantiateWithFlags", (hone_cu_graph_exec *ret, hone_cu_graph graph, unsigned long long flags)) \
    F(GraphLaunch, "cuGraphLaunch", (hone_cu_graph_exec exec, hone_cu_stream stream)) \
    F(GraphExecDestroy, "cuGraphExecDestroy", (hone_cu_graph_exec exec))

#define HONE_CUDA_OPTIONAL(F) \
    F(GraphUpload, "cuGraphUpload", (hone_cu_graph_exec exec, hone_cu_stream stream)) \
    F(GraphAddDependencies, "cuGraphAddDependencies_v2", (hone_cu_graph graph, const hone_cu_graph_node *from, const hone_cu_graph_node *to, const struct hone_cu_edge *edges, size_t n)) \
    F(TensorMapEncodeTiled, "cuTensorMapEncodeTiled", (struct hone_cu_tensor_map *ret, int dtype, unsigned rank, void *address, const unsigned long long *dims, const unsigned long long *strides, const unsigned *box, const unsigned *element_strides, int interleave, int swizzle, int l2, int fill)) \
    F(OccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters", (int *ret, hone_cu_function func, const struct hone_cu_launch_config *config))
/* clang-format on */

struct hone_cuda { /* the driver */
#define HONE_CUDA_MEMBER(name_, symbol_, args_) hone_cu_result(*name_) args_;
    HONE_CUDA_REQUIRED(HONE_CUDA_MEMBER)
    HONE_CUDA_OPTIONAL(HONE_CUDA_MEMBER)
    void *library;
    const char *path; /* of the library that was loaded, links followed; owned */
};

typedef struct hone_nvrtc_program_s *hone_nvrtc_program;
/* clang-format off */
#define HONE_NVRTC_FUNCTIONS(F) \
    F(Version, "nvrtcVersion", (int *ret_major, int *ret_minor)) \
    F(CreateProgram, "nvrtcCreateProgram", (hone_nvrtc_program *ret, const char *source, const char *name, int n_headers, const char *const *headers, const char *const *include_names)) \
    F(DestroyProgram, "nvrtcDestroyProgram", (hone_nvrtc_program *program)) \
    F(CompileProgram, "nvrtcCompileProgram", (hone_nvrtc_program program, int n_options, const char *const *options)) \
    F(AddNameExpression, "nvrtcAddNameExpression", (hone_nvrtc_program program, const char *expression)) \
    F(GetLoweredName, "nvrtcGetLoweredName", (hone_nvrtc_program program, const char *expression, const char **ret)) \
    F(GetProgramLogSize, "nvrtcGetProgramLogSize", (hone_nvrtc_program program, size_t *ret)) \
    F(GetProgramLog, "nvrtcGetProgramLog", (hone_nvrtc_program program, char *ret)) \
    F(GetCUBINSize, "nvrtcGetCUBINSize", (hone_nvrtc_program program, size_t *ret)) \
    F(GetCUBIN, "nvrtcGetCUBIN", (hone_nvrtc_program program, char *ret)) \
    F(GetPTXSize, "nvrtcGetPTXSize", (hone_nvrtc_program program, size_t *ret)) \
    F(GetPTX, "nvrtcGetPTX", (hone_nvrtc_program program, char *ret))
/* clang-format on */
struct hone_nvrtc {
#define HONE_NVRTC_MEMBER(name_, symbol_, args_) int(*name_) args_;
    HONE_NVRTC_FUNCTIONS(HONE_NVRTC_MEMBER)
    void *library;
    const char *path; /* of the library that was loaded; owned */
};

/* HONE_E_UNSUPPORTED with what was looked for where, when there is none. The tables are
 * owned by the caller; close with the matching function, which unloads nothing (the
 * libraries keep threads). */
int hone_cuda_open(struct hone_cuda **ret, struct hone_err *err);
void hone_cuda_close(struct hone_cuda *cu);
int hone_nvrtc_open(struct hone_nvrtc **ret, struct hone_err *err);
void hone_nvrtc_close(struct hone_nvrtc *nvrtc);

/* 0, or HONE_E_TARGET "what: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access...)"; err->native
 * is the driver's code. */
int hone_cu_check(const struct hone_cuda *cu, hone_cu_result code, const char *what,
                  struct hone_err *err);
/* What a driver's code says about the kernel that ran; HONE_REASON_INFRA for codes that say nothing
 * about it. A write to a read-only input and an overrun give the same code: both are
 * out_of_bounds. */
enum hone_reason hone_cu_reason(hone_cu_result code);
/* What a code means, in words of ours; NULL: one that nobody has given words. */
const char *hone_cu_words(hone_cu_result code);
/* One more table of functions from a library of the same folders (CUPTI): NAME as for dlopen. NULL
 * with the error set when it is nowhere. */
void *hone_cuda_library(const char *name, char **ret_path, struct hone_err *err);

#endif
