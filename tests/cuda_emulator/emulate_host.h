/* SPDX-License-Identifier: Apache-2.0 */
/* Launches and the few calls of the runtime that a launcher uses, for run_cu.sh: everything happens
 * at once, device memory is host memory with a guard page behind it. */
#ifndef HONE_TESTS_EMULATE_HOST_H
#define HONE_TESTS_EMULATE_HOST_H
#pragma GCC system_header
#include "emulate.h"
#include <sys/mman.h>

struct hone_emu_launch { /* of execute.h */
    const hone_emu_entry *entry;
    const char *params;
    dim3 grid, block;
    unsigned shared_bytes;
    char *(*dynamic)();
    int is_cooperative, n_workers;
};
extern "C" int hone_emu_execute(const hone_emu_launch *launch);

using cudaError_t = int;
using cudaStream_t = struct CUstream_st *;
enum { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
inline int hone_emu_last_error;

struct hone_emu_shape {
    dim3 grid, block;
    size_t shared;
    hone_emu_shape(dim3 g, dim3 b, size_t s = 0, cudaStream_t = nullptr)
        : grid(g), block(b), shared(s)
    {
    }
};
template <typename... A> struct hone_emu_ready {
    void (*kernel)(A...);
    hone_emu_shape shape;
    int is_cooperative;
    int operator()(A... args) const
    {
        auto body = [&]() { kernel(args...); };
        using body_type = decltype(body);
        hone_emu_entry entry{};
        entry.call = [](const char *at) { (*(const body_type *)at)(); };
        hone_emu_launch launch = {&entry,
                                  (const char *)&body,
                                  shape.grid,
                                  shape.block,
                                  (unsigned)shape.shared,
                                  hone_emu_dynamic_of,
                                  is_cooperative,
                                  1};
        dim3 g = shape.grid, b = shape.block;
        bool is_possible = g.x && g.y && g.z && b.x && b.y && b.z &&
                           (unsigned long long)b.x * b.y * b.z <= 1024 && shape.shared <= 232448;
        int code = is_possible ? hone_emu_execute(&launch) : cudaErrorInvalidValue;
        if (code != 0)
            fprintf(stderr, "emulated launch: error %d\n", code);
        hone_emu_last_error = code != 0 ? code : hone_emu_last_error;
        return code;
    }
};
template <typename... A> inline hone_emu_ready<A...> hone_emu_go(void (*f)(A...), hone_emu_shape s)
{
    return {f, s, 0};
}
inline cudaError_t cudaMalloc(void **ret, size_t n)
{
    size_t page = 4096, flush = (n + 255) / 256 * 256, whole = (flush + page - 1) / page * page;
    char *at = (char *)mmap(nullptr, whole + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at, whole, PROT_READ | PROT_WRITE) != 0)
        return cudaErrorMemoryAllocation;
    *ret = at + whole - flush;
    memset(*ret, 0xa5, n);
    return cudaSuccess;
}
template <typename T> inline cudaError_t cudaMalloc(T **ret, size_t n)
{
    return cudaMalloc((void **)ret, n);
}
template <typename T> inline cudaError_t cudaMallocAsync(T **ret, size_t n, cudaStream_t)
{
    return cudaMalloc((void **)ret, n);
}
inline cudaError_t cudaFree(void *)
{
    return cudaSuccess;
}
inline cudaError_t cudaFreeAsync(void *, cudaStream_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *at, int value, size_t n)
{
    memset(at, value, n);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *at, int value, size_t n, cudaStream_t = nullptr)
{
    return cudaMemset(at, value, n);
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind)
{
    memmove(to, from, n);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr)
{
    return cudaMemcpy(to, from, n, kind);
}
template <typename T>
inline cudaError_t cudaMemcpyToSymbolAsync(T &to, const void *from, size_t n, size_t at = 0,
                                           cudaMemcpyKind = cudaMemcpyDefault,
                                           cudaStream_t = nullptr)
{
    memmove((char *)&to + at, from, n);
    return cudaSuccess;
}
template <typename T>
inline cudaError_t cudaMemcpyToSymbol(T &to, const void *from, size_t n, size_t at = 0)
{
    return cudaMemcpyToSymbolAsync(to, from, n, at);
}
template <typename T> inline cudaError_t cudaGetSymbolAddress(void **ret, T &symbol)
{
    *ret = (void *)&symbol;
    return cudaSuccess;
}
inline cudaError_t cudaGetLastError()
{
    int code = hone_emu_last_error;
    hone_emu_last_error = 0;
    return code;
}
inline cudaError_t cudaPeekAtLastError()
{
    return hone_emu_last_error;
}
inline cudaError_t cudaDeviceSynchronize()
{
    return hone_emu_last_error;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return hone_emu_last_error;
}
inline const char *cudaGetErrorString(cudaError_t code)
{
    return code == 0 ? "no error" : "an error of the emulator";
}
inline cudaError_t cudaGetDevice(int *ret)
{
    *ret = 0;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int *ret, int attribute, int)
{
    *ret = attribute == cudaDevAttrMultiProcessorCount            ? 4
           : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 227 << 10
                                                                  : 228 << 10;
    return cudaSuccess;
}
template <typename F> inline cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int n)
{
    return n <= 232448 ? cudaSuccess : cudaErrorInvalidValue;
}
template <typename F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, F *, int n, size_t)
{
    *ret = n > 0 ? 2048 / n : 0;
    return cudaSuccess;
}
#endif
