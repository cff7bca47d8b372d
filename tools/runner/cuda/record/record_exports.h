/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a launcher's object finds in the program: the part of the CUDA runtime that
 * launchers use, with C types of our own (enums are int, handles are void *), and what the prelude
 * calls. Never called from hone itself; declared so that each has a prototype. */
#ifndef HONE_RUNNER_CUDA_RECORD_EXPORTS_H
#define HONE_RUNNER_CUDA_RECORD_EXPORTS_H

#include <stddef.h>

struct hone_record_param;

struct hone_dim3 { /* dim3, passed as the runtime's is */
    unsigned x, y, z;
};

struct hone_launch { /* as in host_prelude.hpp */
    const void *func;
    long long grid[3], block[3];
    unsigned cluster[3];
    unsigned long long shared;
    void *stream;
    int is_cooperative, is_programmatic;
};

/* the prelude's */
const void *hone_here(void);
void hone_record_conf(const long long grid[3], const long long block[3], unsigned long long shared,
                      void *stream, int line);
void hone_record_given(unsigned long index, const char *text, long long value, int is_unsigned);
void hone_record_stub(const void *pc, const char *names, const struct hone_record_param *params,
                      unsigned long n);
int hone_record_launch(const struct hone_launch *launch, void **args);
long long hone_record_fact(const char *name);
long long hone_record_kernel_fact(const void *func, const char *name);
int hone_record_occupancy(int *ret, const void *func, int block, unsigned long shared);
int hone_cuTensorMapEncodeTiled(void *map, int dtype, unsigned rank, void *address,
                                const unsigned long long *dims, const unsigned long long *strides,
                                const unsigned *box, const unsigned *element_strides,
                                int interleave, int swizzle, int l2_promotion, int fill);

/* nvcc's own */
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *function, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int is_extern,
                       size_t size, int is_constant, int is_global);
void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name,
                              int is_extern, size_t size, int is_constant, int is_global);
unsigned __cudaPushCallConfiguration(struct hone_dim3 grid, struct hone_dim3 block, size_t shared,
                                     void *stream);
int __cudaPopCallConfiguration(struct hone_dim3 *grid, struct hone_dim3 *block, size_t *shared,
                               void *stream);
int __cudaGetKernel(void **ret, const void *func);
int cudaGetKernel(void **ret, const void *func);
int __cudaLaunchKernel(void *kernel, struct hone_dim3 grid, struct hone_dim3 block, void **args,
                       size_t shared, void *stream);

/* memory */
int cudaMalloc(void **ret, size_t size);
int cudaMallocAsync(void **ret, size_t size, void *stream);
int cudaMallocFromPoolAsync(void **ret, size_t size, void *pool, void *stream);
int cudaMallocPitch(void **ret, size_t *ret_pitch, size_t width, size_t height);
int cudaFree(void *at);
int cudaFreeAsync(void *at, void *stream);
int cudaMallocHost(void **ret, size_t size);
int cudaHostAlloc(void **ret, size_t size, unsigned flags);
int cudaFreeHost(void *at);
int cudaMallocManaged(void **ret, size_t size, unsigned flags);
int cudaMemset(void *at, int value, size_t n);
int cudaMemsetAsync(void *at, int value, size_t n, void *stream);
int cudaMemset2D(void *at, size_t pitch, int value, size_t width, size_t height);
int cudaMemset2DAsync(void *at, size_t pitch, int value, size_t width, size_t height, void *stream);
int cudaMemcpy(void *to, const void *from, size_t n, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, int kind);
int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                      size_t height, int kind, void *stream);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, int kind);
int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t n, size_t offset, int kind,
                            void *stream);
int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, int kind);
int cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t n, size_t offset, int kind,
                              void *stream);
int cudaGetSymbolAddress(void **ret, const void *symbol);
int cudaGetSymbolSize(size_t *ret, const void *symbol);
int cudaMemGetInfo(size_t *ret_free, size_t *ret_total);

/* order */
int cudaStreamCreate(void **ret);
int cudaStreamCreateWithFlags(void **ret, unsigned flags);
int cudaStreamCreateWithPriority(void **ret, unsigned flags, int priority);
int cudaStreamDestroy(void *stream);
int cudaStreamSynchronize(void *stream);
int cudaStreamQuery(void *stream);
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaDeviceGetStreamPriorityRange(int *ret_least, int *ret_greatest);
int cudaEventCreate(void **ret);
int cudaEventCreateWithFlags(void **ret, unsigned flags);
int cudaEventDestroy(void *event);
int cudaEventRecord(void *event, void *stream);
int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags);
int cudaEventQuery(void *event);
int cudaEventSynchronize(void *event);
int cudaEventElapsedTime(float *ret, void *start, void *end);
int cudaDeviceSynchronize(void);

/* device, kernels, errors */
int cudaGetDevice(int *ret);
int cudaSetDevice(int device);
int cudaGetDeviceCount(int *ret);
int cudaDeviceGetAttribute(int *ret, int attribute, int device);
int cudaDeviceSetLimit(int limit, size_t value);
int cudaDeviceGetLimit(size_t *ret, int limit);
int cudaDeviceSetCacheConfig(int config);
int cudaDriverGetVersion(int *ret);
int cudaRuntimeGetVersion(int *ret);
int cudaFuncSetAttribute(const void *func, int attribute, int value);
int cudaFuncSetCacheConfig(const void *func, int config);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, const void *func, int block,
                                                  size_t shared);
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ret, const void *func, int block,
                                                           size_t shared, unsigned flags);
int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *ret, const void *func, int blocks, int block);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
const char *cudaGetErrorString(int code);
const char *cudaGetErrorName(int code);
int cudaGetDriverEntryPoint(const char *name, void **ret, unsigned long long flags,
                            int *ret_status);
int cudaGetDriverEntryPointByVersion(const char *name, void **ret, unsigned version,
                                     unsigned long long flags, int *ret_status);
int cudaProfilerStart(void);
int cudaProfilerStop(void);

#endif
