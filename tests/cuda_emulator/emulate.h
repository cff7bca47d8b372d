/* SPDX-License-Identifier: Apache-2.0 */
/* The prelude of device text that is compiled for the CPU (C++17, g++): what nvcc and NVRTC know
 * without an include, as far as the emulator has it. README.md says how to use it.
 *
 * __global__, __shared__, __noinline__ and asm are not here: the scanner (scan.c) rewrites them in
 * the preprocessed text. Half, cooperative groups and wmma are in emulate_more.h. */
#ifndef HONE_TESTS_EMULATE_H
#define HONE_TESTS_EMULATE_H
#pragma GCC system_header

/* The C headers alone: libstdc++'s take longer than all the rest. Who includes <cmath> gets it. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define __CUDACC__           1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define HONE_EMULATED        1
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __align__(n)                         __attribute__((aligned(n)))
#define __builtin_assume(x)                  ((void)0)
#define __nv_associate_access_property(p, x) (p)

/* ---- who I am ---- */

typedef struct CUstream_st *cudaStream_t; /* device text may name it, as in a struct */

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return {x, y, z};
    }
};
struct hone_emu_index { /* layout of struct hone_emu_state */
    uint3 thread, block;
    dim3 block_dim, grid_dim;
    unsigned lane, is_cooperative;
};
extern "C" {
extern __thread hone_emu_index hone_emu_now __attribute__((tls_model("initial-exec")));
unsigned long long hone_emu_warp(int op, unsigned mask, unsigned long long value, int arg);
int hone_emu_barrier(int predicate);
void hone_emu_grid_barrier(void);
void hone_emu_yield(void);
unsigned hone_emu_active(void);
unsigned hone_emu_live_threads(void);
void hone_emu_fail(int code, const char *what) __attribute__((noreturn));
unsigned long long hone_emu_clock(void);
extern __thread char hone_emu_dynamic[];
}
#define threadIdx (*(const uint3 *)&hone_emu_now.thread)
#define blockIdx  (*(const uint3 *)&hone_emu_now.block)
#define blockDim  (*(const dim3 *)&hone_emu_now.block_dim)
#define gridDim   (*(const dim3 *)&hone_emu_now.grid_dim)
constexpr int warpSize = 32;

enum {
    HONE_EMU_SHUFFLE,
    HONE_EMU_BALLOT,
    HONE_EMU_ADD,
    HONE_EMU_MIN,
    HONE_EMU_MAX,
    HONE_EMU_MIN_SIGNED,
    HONE_EMU_MAX_SIGNED,
    HONE_EMU_AND,
    HONE_EMU_OR,
    HONE_EMU_XOR,
    HONE_EMU_MATCH_ANY,
    HONE_EMU_MATCH_ALL
};

/* ---- the table of kernels ---- */

template <typename F> struct __attribute__((aligned(64))) hone_emu_row { /* struct hone_emu_entry */
    F function;
    void (*call)(const char *);
    unsigned n_params, param_bytes, id;
    unsigned short offset[120], size[120];
};
using hone_emu_entry = hone_emu_row<void (*)()>;

template <typename T> struct hone_emu_kernel;
template <typename... A> struct hone_emu_kernel<void (*)(A...)> {
    static_assert(sizeof...(A) <= 120, "a kernel has too many parameters for the emulator");
    struct layout {
        unsigned offset[sizeof...(A) + 1], size[sizeof...(A) + 1], bytes;
    };
    static constexpr layout make()
    {
        layout l{};
        unsigned sizes[] = {unsigned(sizeof(A))..., 0}, aligns[] = {unsigned(alignof(A))..., 1};
        for (unsigned i = 0; i < sizeof...(A); i++) {
            l.offset[i] = (l.bytes + aligns[i] - 1) / aligns[i] * aligns[i];
            l.size[i] = sizes[i];
            l.bytes = l.offset[i] + sizes[i];
        }
        return l;
    }
    template <size_t... I> struct list {
    };
    template <void (*F)(A...), size_t... I> static void call(const char *params)
    {
        constexpr layout l = make();
        (void)params, (void)l;
        F(*(const A *)(params + l.offset[I])...);
    }
    template <void (*F)(A...), size_t... I> static constexpr auto caller(list<I...>)
    {
        return &call<F, I...>;
    }
    template <void (*F)(A...)> static constexpr auto entry(unsigned id)
    {
        constexpr layout l = make();
        hone_emu_row<void (*)(A...)> e{};
        e.function = F;
        e.call = caller<F>(list<__integer_pack(sizeof...(A))...>{});
        e.id = id;
        e.n_params = sizeof...(A);
        e.param_bytes = l.bytes;
        for (size_t i = 0; i < sizeof...(A); i++) {
            e.offset[i] = (unsigned short)l.offset[i];
            e.size[i] = (unsigned short)l.size[i];
        }
        return e;
    }
};
template <typename T> struct hone_emu_kernel<T *> { /* a variable: only its name is asked for */
    template <T *F> static constexpr auto entry(unsigned id)
    {
        hone_emu_row<T *> e{};
        e.function = F;
        e.id = id;
        e.n_params = ~0u;
        return e;
    }
};
template <auto F> constexpr auto hone_emu_make(unsigned id)
{
    return hone_emu_kernel<decltype(F)>::template entry<F>(id);
}

/* ---- vectors ---- */

#define HONE_EMU_VECTORS(T, name, a2, a4)                                                          \
    struct name##1                                                                                 \
    {                                                                                              \
        T x;                                                                                       \
    };                                                                                             \
    struct __attribute__((aligned(a2))) name##2                                                    \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    struct __attribute__((aligned(a4))) name##4                                                    \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    inline name##1 make_##name##1(T x)                                                             \
    {                                                                                              \
        return {x};                                                                                \
    }                                                                                              \
    inline name##2 make_##name##2(T x, T y)                                                        \
    {                                                                                              \
        return {x, y};                                                                             \
    }                                                                                              \
    inline name##4 make_##name##4(T x, T y, T z, T w)                                              \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
#define HONE_EMU_VECTOR3(T, name)                                                                  \
    struct name##3                                                                                 \
    {                                                                                              \
        T x, y, z;                                                                                 \
    };                                                                                             \
    inline name##3 make_##name##3(T x, T y, T z)                                                   \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }
HONE_EMU_VECTORS(signed char, char, 2, 4)
HONE_EMU_VECTORS(unsigned char, uchar, 2, 4)
HONE_EMU_VECTORS(short, short, 4, 8)
HONE_EMU_VECTORS(unsigned short, ushort, 4, 8)
HONE_EMU_VECTORS(int, int, 8, 16)
HONE_EMU_VECTORS(unsigned, uint, 8, 16)
HONE_EMU_VECTORS(long, long, 16, 16)
HONE_EMU_VECTORS(unsigned long, ulong, 16, 16)
HONE_EMU_VECTORS(long long, longlong, 16, 16)
HONE_EMU_VECTORS(unsigned long long, ulonglong, 16, 16)
HONE_EMU_VECTORS(float, float, 8, 16)
HONE_EMU_VECTORS(double, double, 16, 16)
HONE_EMU_VECTOR3(signed char, char)
HONE_EMU_VECTOR3(unsigned char, uchar)
HONE_EMU_VECTOR3(short, short)
HONE_EMU_VECTOR3(unsigned short, ushort)
HONE_EMU_VECTOR3(int, int)
HONE_EMU_VECTOR3(long, long)
HONE_EMU_VECTOR3(unsigned long, ulong)
HONE_EMU_VECTOR3(long long, longlong)
HONE_EMU_VECTOR3(unsigned long long, ulonglong)
HONE_EMU_VECTOR3(float, float)
HONE_EMU_VECTOR3(double, double)
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
    return {x, y, z};
}

/* ---- barriers, votes, shuffles ---- */

inline void __syncthreads()
{
    hone_emu_barrier(0);
}
inline int __syncthreads_count(int p)
{
    return hone_emu_barrier(p);
}
inline int __syncthreads_or(int p)
{
    return hone_emu_barrier(p) > 0;
}
inline int __syncthreads_and(int p)
{
    return hone_emu_barrier(!p) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    hone_emu_warp(HONE_EMU_BALLOT, mask, 0, 0);
}
inline void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_block()
{
    __threadfence();
}
inline void __threadfence_system()
{
    __threadfence();
}
inline unsigned __activemask()
{
    return hone_emu_active();
}
inline unsigned __ballot_sync(unsigned mask, int p)
{
    return (unsigned)hone_emu_warp(HONE_EMU_BALLOT, mask, p != 0, 0);
}
inline int __any_sync(unsigned mask, int p)
{
    return __ballot_sync(mask, p) != 0;
}
inline int __all_sync(unsigned mask, int p)
{
    return __ballot_sync(mask, !p) == 0;
}
inline unsigned __fns(unsigned mask, unsigned base, int offset)
{
    for (int at = (int)base; at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
        if (mask >> at & 1) {
            if (offset == 0 || offset == 1 || offset == -1)
                return (unsigned)at;
            offset += offset < 0 ? 1 : -1;
        } else if (offset == 0) {
            break;
        }
    return 0xffffffffu;
}

template <typename T> inline unsigned long long hone_emu_bits(T v)
{
    static_assert(sizeof(T) <= 8, "a value of at most 8 bytes");
    unsigned long long bits = 0;
    memcpy(&bits, (const void *)&v, sizeof(v));
    return bits;
}
template <typename T> inline T hone_emu_from_bits(unsigned long long bits)
{
    T v;
    memcpy((void *)&v, &bits, sizeof(v));
    return v;
}
template <typename T> inline T hone_emu_shuffle(unsigned mask, T v, int lane)
{
    return hone_emu_from_bits<T>(hone_emu_warp(HONE_EMU_SHUFFLE, mask, hone_emu_bits(v), lane));
}
template <typename T> inline T __shfl_sync(unsigned mask, T v, int src, int width = 32)
{
    int first = (int)hone_emu_now.lane & ~(width - 1);
    return hone_emu_shuffle(mask, v, first | (src & (width - 1)));
}
template <typename T> inline T __shfl_xor_sync(unsigned mask, T v, int x, int width = 32)
{
    int lane = (int)hone_emu_now.lane, from = lane ^ x;
    return hone_emu_shuffle(mask, v, from >= (lane & ~(width - 1)) + width ? lane : from);
}
template <typename T> inline T __shfl_down_sync(unsigned mask, T v, unsigned d, int width = 32)
{
    int lane = (int)hone_emu_now.lane, from = lane + (int)d;
    return hone_emu_shuffle(mask, v, from >= (lane & ~(width - 1)) + width ? lane : from);
}
template <typename T> inline T __shfl_up_sync(unsigned mask, T v, unsigned d, int width = 32)
{
    int lane = (int)hone_emu_now.lane, from = lane - (int)d;
    return hone_emu_shuffle(mask, v, from < (lane & ~(width - 1)) ? lane : from);
}
template <typename T> inline unsigned __match_any_sync(unsigned mask, T v)
{
    return (unsigned)hone_emu_warp(HONE_EMU_MATCH_ANY, mask, hone_emu_bits(v), 0);
}
template <typename T> inline unsigned __match_all_sync(unsigned mask, T v, int *pred)
{
    unsigned same = (unsigned)hone_emu_warp(HONE_EMU_MATCH_ALL, mask, hone_emu_bits(v), 0);
    *pred = same != 0;
    return same;
}
#define HONE_EMU_REDUCE(name, op_u, op_s)                                                          \
    inline unsigned __reduce_##name##_sync(unsigned mask, unsigned v)                              \
    {                                                                                              \
        return (unsigned)hone_emu_warp(op_u, mask, v, 0);                                          \
    }                                                                                              \
    inline int __reduce_##name##_sync(unsigned mask, int v)                                        \
    {                                                                                              \
        return (int)hone_emu_warp(op_s, mask, (unsigned long long)(long long)v, 0);                \
    }
HONE_EMU_REDUCE(add, HONE_EMU_ADD, HONE_EMU_ADD)
HONE_EMU_REDUCE(min, HONE_EMU_MIN, HONE_EMU_MIN_SIGNED)
HONE_EMU_REDUCE(max, HONE_EMU_MAX, HONE_EMU_MAX_SIGNED)
HONE_EMU_REDUCE(and, HONE_EMU_AND, HONE_EMU_AND)
HONE_EMU_REDUCE(or, HONE_EMU_OR, HONE_EMU_OR)
HONE_EMU_REDUCE(xor, HONE_EMU_XOR, HONE_EMU_XOR)

/* ---- atomics ---- */

template <size_t N> struct hone_emu_word;
template <> struct hone_emu_word<2> {
    using type = unsigned short;
};
template <> struct hone_emu_word<4> {
    using type = unsigned;
};
template <> struct hone_emu_word<8> {
    using type = unsigned long long;
};
/* *at = change(*at), and what was there */
template <typename T, typename F> inline T hone_emu_update(T *at, F change)
{
    using word = typename hone_emu_word<sizeof(T)>::type;
    if (hone_emu_now.is_cooperative)
        hone_emu_yield(); /* somebody may be waiting for another block */
    word seen = __atomic_load_n((word *)at, __ATOMIC_SEQ_CST), want;
    T was;
    do {
        was = hone_emu_from_bits<T>(seen);
        want = (word)hone_emu_bits((T)change(was));
    } while (!__atomic_compare_exchange_n((word *)at, &seen, want, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    return was;
}
template <typename T> struct hone_emu_same {
    using type = T;
};
template <typename T> using hone_emu_arg = typename hone_emu_same<T>::type; /* not deduced */
#define HONE_EMU_ATOMIC(name, expression)                                                          \
    template <typename T> inline T name(T *at, hone_emu_arg<T> v)                                  \
    {                                                                                              \
        return hone_emu_update(at, [=](T was) -> T { return expression; });                        \
    }                                                                                              \
    template <typename T> inline T name##_block(T *at, hone_emu_arg<T> v)                          \
    {                                                                                              \
        return name(at, v);                                                                        \
    }                                                                                              \
    template <typename T> inline T name##_system(T *at, hone_emu_arg<T> v)                         \
    {                                                                                              \
        return name(at, v);                                                                        \
    }
HONE_EMU_ATOMIC(atomicAdd, (T)(was + v))
HONE_EMU_ATOMIC(atomicSub, (T)(was - v))
HONE_EMU_ATOMIC(atomicExch, v)
HONE_EMU_ATOMIC(atomicMin, v < was ? v : was)
HONE_EMU_ATOMIC(atomicMax, v > was ? v : was)
HONE_EMU_ATOMIC(atomicAnd, (T)(was &v))
HONE_EMU_ATOMIC(atomicOr, (T)(was | v))
HONE_EMU_ATOMIC(atomicXor, (T)(was ^ v))
HONE_EMU_ATOMIC(atomicInc, was >= v ? 0 : was + 1)
HONE_EMU_ATOMIC(atomicDec, was == 0 || was > v ? v : was - 1)
template <typename T> inline T atomicCAS(T *at, hone_emu_arg<T> expected, hone_emu_arg<T> v)
{
    unsigned long long bits = hone_emu_bits<T>(expected);
    return hone_emu_update(at, [=](T was) -> T { return hone_emu_bits(was) == bits ? v : was; });
}
template <typename T> inline T atomicCAS_block(T *at, hone_emu_arg<T> e, hone_emu_arg<T> v)
{
    return atomicCAS(at, e, v);
}
template <typename T> inline T atomicCAS_system(T *at, hone_emu_arg<T> e, hone_emu_arg<T> v)
{
    return atomicCAS(at, e, v);
}

/* ---- dynamic shared memory, as an array of whatever is asked for ---- */

struct hone_emu_array {
    template <typename T> using any = T[];
    template <typename T, size_t N> using sized = T[N];
    template <typename T> operator any<T> &() const
    {
        return *(any<T> *)hone_emu_dynamic;
    }
    template <typename T, size_t N> operator sized<T, N> &() const
    {
        return *(sized<T, N> *)hone_emu_dynamic;
    }
};

/* ---- the end of a kernel, clocks, memory hints ---- */

#define __trap()  hone_emu_fail(710, "__trap")
#define __brkpt() hone_emu_fail(710, "__brkpt")
#undef assert
#define assert(x) ((x) ? (void)0 : hone_emu_fail(710, "assertion failed: " #x))
inline long long clock64()
{
    return (long long)hone_emu_clock();
}
extern "C" long clock(void) noexcept;
inline unsigned long long hone_emu_globaltimer()
{
    return hone_emu_clock();
}
inline unsigned hone_emu_smid()
{
    return (blockIdx.x + gridDim.x * blockIdx.y) % 4;
}
inline unsigned hone_emu_warpid()
{
    return threadIdx.x / 32;
}
inline void __nanosleep(unsigned)
{
    hone_emu_yield();
}
#define HONE_EMU_LOAD(name)                                                                        \
    template <typename T> inline T name(const T *at)                                               \
    {                                                                                              \
        return *at;                                                                                \
    }
HONE_EMU_LOAD(__ldg)
HONE_EMU_LOAD(__ldca)
HONE_EMU_LOAD(__ldcg)
HONE_EMU_LOAD(__ldcs)
HONE_EMU_LOAD(__ldcv)
HONE_EMU_LOAD(__ldlu)
#define HONE_EMU_STORE(name)                                                                       \
    template <typename T> inline void name(T *at, hone_emu_arg<T> v)                               \
    {                                                                                              \
        *at = v;                                                                                   \
    }
HONE_EMU_STORE(__stcg)
HONE_EMU_STORE(__stcs)
HONE_EMU_STORE(__stwb)
HONE_EMU_STORE(__stwt)
inline size_t __cvta_generic_to_shared(const void *at)
{
    return (size_t)((const char *)at - hone_emu_dynamic);
}
inline size_t __cvta_generic_to_global(const void *at)
{
    return (size_t)at;
}

#include "emulate_math.h"
#include "emulate_more.h"

/* For the driver, which loads the object; the section's bounds are the linker's. */
extern "C" {
extern const hone_emu_entry __start_hone_emu_entries[] __attribute__((weak, visibility("hidden")));
extern const hone_emu_entry __stop_hone_emu_entries[] __attribute__((weak, visibility("hidden")));
__attribute__((used)) inline const hone_emu_entry *hone_emu_entries_of(unsigned *ret_n)
{
    *ret_n = (unsigned)(__stop_hone_emu_entries - __start_hone_emu_entries);
    return __start_hone_emu_entries;
}
__attribute__((used)) inline char *hone_emu_dynamic_of()
{
    return hone_emu_dynamic;
}
}
#endif
