/* SPDX-License-Identifier: Apache-2.0 */
/* Half and bfloat16, cooperative groups, asynchronous copies, wmma. Part of emulate.h. */
#pragma GCC system_header

/* ---- half and bfloat16: kept as bits, computed in float ---- */

/* Kernels that take them must have the names that the host's compiler gives them: hence structs of
 * these very names, and templates that find them by a member. */
template <int EXPONENT, int MANTISSA> struct hone_emu_format {
    static unsigned short from(float v)
    {
        unsigned sign = __float_as_uint(v) >> 31 << 15;
        double a = __builtin_fabs((double)v);
        constexpr int bias = (1 << (EXPONENT - 1)) - 1;
        constexpr unsigned infinite = ((1u << EXPONENT) - 1) << MANTISSA;
        if (v != v)
            return 0x7fff;
        if (a == 0)
            return (unsigned short)sign;
        if (__builtin_isinf(a))
            return (unsigned short)(sign | infinite);
        int e = (int)(__double_as_longlong(a) >> 52) - 1023;
        e = e < 1 - bias ? 1 - bias : e; /* denormal: the exponent stays, the leading bit goes */
        double scale = __longlong_as_double((long long)(MANTISSA - e + 1023) << 52);
        unsigned long long n = (unsigned long long)__builtin_rint(a * scale);
        unsigned long long code = n + ((unsigned long long)(e + bias - 1) << MANTISSA);
        return (unsigned short)(sign | (code < infinite ? (unsigned)code : infinite));
    }
    static float to(unsigned short bits)
    {
        unsigned e = (bits & 0x7fffu) >> MANTISSA, m = bits & ((1u << MANTISSA) - 1);
        unsigned sign = (unsigned)bits >> 15 << 31;
        constexpr int bias = (1 << (EXPONENT - 1)) - 1;
        if (e == (1u << EXPONENT) - 1)
            return __uint_as_float(sign | 0x7f800000u | (m != 0 ? 0x400000u : 0) |
                                   m << (23 - MANTISSA));
        if (e == 0)
            return __builtin_copysignf(
                (float)((double)m *
                        __longlong_as_double((long long)(1 - bias - MANTISSA + 1023) << 52)),
                sign ? -1.0f : 1.0f);
        return __uint_as_float(sign | (e + 127 - bias) << 23 | m << (23 - MANTISSA));
    }
};
#define HONE_EMU_HALF(name, pair, e, m)                                                            \
    struct name {                                                                                  \
        using hone_emu_small = name;                                                               \
        unsigned short bits;                                                                       \
        name() = default;                                                                          \
        name(float v) : bits(hone_emu_format<e, m>::from(v))                                       \
        {                                                                                          \
        }                                                                                          \
        name(double v) : name((float)v)                                                            \
        {                                                                                          \
        }                                                                                          \
        name(int v) : name((float)v)                                                               \
        {                                                                                          \
        }                                                                                          \
        name(unsigned v) : name((float)v)                                                          \
        {                                                                                          \
        }                                                                                          \
        name(long v) : name((float)v)                                                              \
        {                                                                                          \
        }                                                                                          \
        name(unsigned long v) : name((float)v)                                                     \
        {                                                                                          \
        }                                                                                          \
        name(long long v) : name((float)v)                                                         \
        {                                                                                          \
        }                                                                                          \
        name(unsigned long long v) : name((float)v)                                                \
        {                                                                                          \
        }                                                                                          \
        operator float() const                                                                     \
        {                                                                                          \
            return to_float();                                                                     \
        }                                                                                          \
        float to_float() const                                                                     \
        {                                                                                          \
            return hone_emu_format<e, m>::to(bits);                                                \
        }                                                                                          \
        static name of_bits(unsigned short bits)                                                   \
        {                                                                                          \
            name v;                                                                                \
            v.bits = bits;                                                                         \
            return v;                                                                              \
        }                                                                                          \
    };                                                                                             \
    struct __attribute__((aligned(4))) pair {                                                      \
        using hone_emu_pair = pair;                                                                \
        using element = name;                                                                      \
        name x, y;                                                                                 \
        pair() = default;                                                                          \
        pair(name a, name b) : x(a), y(b)                                                          \
        {                                                                                          \
        }                                                                                          \
    };
HONE_EMU_HALF(__half, __half2, 5, 10)
HONE_EMU_HALF(__nv_bfloat16, __nv_bfloat162, 8, 7)
template <typename, typename R> using hone_emu_if = R;
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define HONE_EMU_ARITHMETIC(op, name)                                                              \
    template <typename H> inline typename H::hone_emu_small operator op(H a, H b)                  \
    {                                                                                              \
        return H(a.to_float() op b.to_float());                                                    \
    }                                                                                              \
    template <typename H> inline typename H::hone_emu_small &operator op##=(H &a, H b)             \
    {                                                                                              \
        return a = a op b;                                                                         \
    }                                                                                              \
    template <typename H> inline typename H::hone_emu_pair operator op(H a, H b)                   \
    {                                                                                              \
        return {a.x op b.x, a.y op b.y};                                                           \
    }                                                                                              \
    template <typename H> inline typename H::hone_emu_pair &operator op##=(H &a, H b)              \
    {                                                                                              \
        return a = a op b;                                                                         \
    }                                                                                              \
    template <typename H> inline typename H::hone_emu_small name(H a, H b)                         \
    {                                                                                              \
        return a op b;                                                                             \
    }                                                                                              \
    template <typename H> inline typename H::hone_emu_small name##_rn(H a, H b)                    \
    {                                                                                              \
        return a op b;                                                                             \
    }                                                                                              \
    template <typename H> inline typename H::hone_emu_pair name##2(H a, H b)                       \
    {                                                                                              \
        return a op b;                                                                             \
    }                                                                                              \
    template <typename H> inline typename H::hone_emu_pair name##2_rn(H a, H b)                    \
    {                                                                                              \
        return a op b;                                                                             \
    }
HONE_EMU_ARITHMETIC(+, __hadd)
HONE_EMU_ARITHMETIC(-, __hsub)
HONE_EMU_ARITHMETIC(*, __hmul)
HONE_EMU_ARITHMETIC(/, __hdiv)
#define HONE_EMU_COMPARE(op, name)                                                                 \
    template <typename H>                                                                          \
    inline hone_emu_if<typename H::hone_emu_small, bool> operator op(H a, H b)                     \
    {                                                                                              \
        return a.to_float() op b.to_float();                                                       \
    }                                                                                              \
    template <typename H> inline hone_emu_if<typename H::hone_emu_small, bool> name(H a, H b)      \
    {                                                                                              \
        return a op b;                                                                             \
    }
HONE_EMU_COMPARE(<, __hlt)
HONE_EMU_COMPARE(>, __hgt)
HONE_EMU_COMPARE(<=, __hle)
HONE_EMU_COMPARE(>=, __hge)
HONE_EMU_COMPARE(==, __heq)
HONE_EMU_COMPARE(!=, __hne)
template <typename H> inline typename H::hone_emu_small operator-(H a)
{
    return H::of_bits((unsigned short)(a.bits ^ 0x8000));
}
#define HONE_EMU_UNARY(name, expression)                                                           \
    template <typename H> inline typename H::hone_emu_small name(H v)                              \
    {                                                                                              \
        float x = v.to_float();                                                                    \
        return H(expression);                                                                      \
    }                                                                                              \
    template <typename H> inline typename H::hone_emu_pair hone_emu_2##name(H v)                   \
    {                                                                                              \
        return {name(v.x), name(v.y)};                                                             \
    }
HONE_EMU_UNARY(__hneg, -x)
HONE_EMU_UNARY(__habs, __builtin_fabsf(x))
HONE_EMU_UNARY(hexp, __builtin_expf(x))
HONE_EMU_UNARY(hexp2, __builtin_exp2f(x))
HONE_EMU_UNARY(hlog, __builtin_logf(x))
HONE_EMU_UNARY(hlog2, __builtin_log2f(x))
HONE_EMU_UNARY(hsqrt, __builtin_sqrtf(x))
HONE_EMU_UNARY(hrsqrt, 1.0f / __builtin_sqrtf(x))
HONE_EMU_UNARY(hrcp, 1.0f / x)
HONE_EMU_UNARY(hsin, __builtin_sinf(x))
HONE_EMU_UNARY(hcos, __builtin_cosf(x))
HONE_EMU_UNARY(htanh, __builtin_tanhf(x))
HONE_EMU_UNARY(hfloor, __builtin_floorf(x))
HONE_EMU_UNARY(hceil, __builtin_ceilf(x))
HONE_EMU_UNARY(hrint, __builtin_rintf(x))
#define h2exp   hone_emu_2hexp
#define h2exp2  hone_emu_2hexp2
#define h2log   hone_emu_2hlog
#define h2sqrt  hone_emu_2hsqrt
#define h2rsqrt hone_emu_2hrsqrt
#define h2rcp   hone_emu_2hrcp
#define h2tanh  hone_emu_2htanh
#define __hneg2 hone_emu_2__hneg
#define __habs2 hone_emu_2__habs
template <typename H> inline typename H::hone_emu_small __hfma(H a, H b, H c)
{
    return H((double)a.to_float() * b.to_float() + c.to_float());
}
template <typename H> inline typename H::hone_emu_pair __hfma2(H a, H b, H c)
{
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <typename H> inline typename H::hone_emu_small __hmax(H a, H b)
{
    return H(__builtin_fmaxf(a.to_float(), b.to_float()));
}
template <typename H> inline typename H::hone_emu_small __hmin(H a, H b)
{
    return H(__builtin_fminf(a.to_float(), b.to_float()));
}
template <typename H> inline typename H::hone_emu_pair __hmax2(H a, H b)
{
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
template <typename H> inline typename H::hone_emu_pair __hmin2(H a, H b)
{
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
template <typename H> inline bool __hisnan(H a)
{
    return a.to_float() != a.to_float();
}
#define HONE_EMU_NAMED(name, T, T2)                                                                \
    inline T __float2##name(float v)                                                               \
    {                                                                                              \
        return T(v);                                                                               \
    }                                                                                              \
    inline T __float2##name##_rn(float v)                                                          \
    {                                                                                              \
        return T(v);                                                                               \
    }                                                                                              \
    inline T __double2##name(double v)                                                             \
    {                                                                                              \
        return T(v);                                                                               \
    }                                                                                              \
    inline T __int2##name##_rn(int v)                                                              \
    {                                                                                              \
        return T(v);                                                                               \
    }                                                                                              \
    inline T __uint2##name##_rn(unsigned v)                                                        \
    {                                                                                              \
        return T(v);                                                                               \
    }                                                                                              \
    inline float __##name##2float(T v)                                                             \
    {                                                                                              \
        return v.to_float();                                                                       \
    }                                                                                              \
    inline int __##name##2int_rn(T v)                                                              \
    {                                                                                              \
        return __float2int_rn(v.to_float());                                                       \
    }                                                                                              \
    inline int __##name##2int_rz(T v)                                                              \
    {                                                                                              \
        return __float2int_rz(v.to_float());                                                       \
    }                                                                                              \
    inline unsigned short __##name##_as_ushort(T v)                                                \
    {                                                                                              \
        return v.bits;                                                                             \
    }                                                                                              \
    inline short __##name##_as_short(T v)                                                          \
    {                                                                                              \
        return (short)v.bits;                                                                      \
    }                                                                                              \
    inline T __ushort_as_##name(unsigned short v)                                                  \
    {                                                                                              \
        return T::of_bits(v);                                                                      \
    }                                                                                              \
    inline T __short_as_##name(short v)                                                            \
    {                                                                                              \
        return T::of_bits((unsigned short)v);                                                      \
    }                                                                                              \
    inline T2 __##name##2##name##2(T v)                                                            \
    {                                                                                              \
        return {v, v};                                                                             \
    }                                                                                              \
    inline T2 __float2##name##2_rn(float v)                                                        \
    {                                                                                              \
        return {T(v), T(v)};                                                                       \
    }                                                                                              \
    inline T2 __floats2##name##2_rn(float a, float b)                                              \
    {                                                                                              \
        return {T(a), T(b)};                                                                       \
    }                                                                                              \
    inline T2 __float22##name##2_rn(float2 v)                                                      \
    {                                                                                              \
        return {T(v.x), T(v.y)};                                                                   \
    }                                                                                              \
    inline float2 __##name##22float2(T2 v)                                                         \
    {                                                                                              \
        return {v.x.to_float(), v.y.to_float()};                                                   \
    }                                                                                              \
    inline T2 make_##name##2(T a, T b)                                                             \
    {                                                                                              \
        return {a, b};                                                                             \
    }
HONE_EMU_NAMED(half, __half, __half2)
HONE_EMU_NAMED(bfloat16, __nv_bfloat16, __nv_bfloat162)
inline __half2 __halves2half2(__half a, __half b)
{
    return {a, b};
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return {a, b};
}
#define HONE_EMU_PICK(name, member)                                                                \
    inline __half __##name##2half(__half2 v)                                                       \
    {                                                                                              \
        return v.member;                                                                           \
    }                                                                                              \
    inline float __##name##2float(__half2 v)                                                       \
    {                                                                                              \
        return v.member.to_float();                                                                \
    }                                                                                              \
    inline __nv_bfloat16 __##name##2bfloat16(__nv_bfloat162 v)                                     \
    {                                                                                              \
        return v.member;                                                                           \
    }                                                                                              \
    inline float __##name##2float(__nv_bfloat162 v)                                                \
    {                                                                                              \
        return v.member.to_float();                                                                \
    }                                                                                              \
    inline __half2 __##name##2half2(__half2 v)                                                     \
    {                                                                                              \
        return {v.member, v.member};                                                               \
    }
HONE_EMU_PICK(low, x)
HONE_EMU_PICK(high, y)

typedef struct __attribute__((aligned(64))) CUtensorMap_st {
    unsigned long long opaque[16];
} CUtensorMap; /* copies by it are not emulated */

/* ---- cooperative groups ---- */

namespace cooperative_groups
{
struct thread_block {
    static void sync()
    {
        __syncthreads();
    }
    static unsigned thread_rank()
    {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static unsigned size()
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    static unsigned num_threads()
    {
        return size();
    }
    static dim3 group_index()
    {
        return blockIdx;
    }
    static dim3 thread_index()
    {
        return threadIdx;
    }
    static dim3 group_dim()
    {
        return blockDim;
    }
    static dim3 dim_threads()
    {
        return blockDim;
    }
};
inline thread_block this_thread_block()
{
    return {};
}
struct grid_group {
    static bool is_valid()
    {
        return hone_emu_now.is_cooperative != 0;
    }
    static void sync()
    {
        hone_emu_grid_barrier();
    }
    static unsigned long long block_rank()
    {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    }
    static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static unsigned long long thread_rank()
    {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned long long size()
    {
        return num_blocks() * thread_block::size();
    }
    static unsigned long long num_threads()
    {
        return size();
    }
    static dim3 group_dim()
    {
        return gridDim;
    }
};
inline grid_group this_grid()
{
    return {};
}
struct hone_emu_lanes { /* some lanes of a warp */
    unsigned mask, first, width;
    void sync() const
    {
        __syncwarp(mask);
    }
    unsigned size() const
    {
        return (unsigned)__popc(mask);
    }
    unsigned num_threads() const
    {
        return size();
    }
    unsigned thread_rank() const
    {
        return (unsigned)__popc(mask & ((1u << hone_emu_now.lane) - 1));
    }
    unsigned lane_of(unsigned rank) const
    {
        return __fns(mask, 0, (int)rank + 1);
    }
    unsigned packed(unsigned lanes) const
    {
        unsigned r = 0, n = 0;
        for (unsigned i = 0; i < 32; i++)
            if (mask >> i & 1)
                r |= (lanes >> i & 1) << n++;
        return r;
    }
    template <typename T> T shfl(T v, int rank) const
    {
        return hone_emu_shuffle(mask, v, (int)lane_of((unsigned)rank % size()));
    }
    template <typename T> T shfl_xor(T v, unsigned x) const
    {
        unsigned to = thread_rank() ^ x;
        return shfl(v, (int)(to < size() ? to : thread_rank()));
    }
    template <typename T> T shfl_down(T v, unsigned d) const
    {
        unsigned to = thread_rank() + d;
        return shfl(v, (int)(to < size() ? to : thread_rank()));
    }
    template <typename T> T shfl_up(T v, unsigned d) const
    {
        return shfl(v, (int)(thread_rank() >= d ? thread_rank() - d : thread_rank()));
    }
    int any(int p) const
    {
        return __any_sync(mask, p);
    }
    int all(int p) const
    {
        return __all_sync(mask, p);
    }
    unsigned ballot(int p) const
    {
        return packed(__ballot_sync(mask, p));
    }
    template <typename T> unsigned match_any(T v) const
    {
        return packed(__match_any_sync(mask, v));
    }
    unsigned meta_group_rank() const
    {
        return thread_block::thread_rank() / width;
    }
    unsigned meta_group_size() const
    {
        return (thread_block::size() + width - 1) / width;
    }
};
template <unsigned N, typename Parent = void> struct thread_block_tile : hone_emu_lanes {
};
using coalesced_group = hone_emu_lanes;
template <unsigned N, typename G> inline thread_block_tile<N> tiled_partition(const G &)
{
    static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "tiles of up to 32 threads");
    unsigned first = hone_emu_now.lane & ~(N - 1);
    thread_block_tile<N> tile;
    tile.mask = (N == 32 ? ~0u : (1u << (N & 31)) - 1) << first;
    tile.first = first;
    tile.width = N;
    return tile;
}
inline coalesced_group coalesced_threads()
{
    return {__activemask(), 0, 32};
}
template <typename G> inline void sync(const G &group)
{
    group.sync();
}
template <typename T> struct plus {
    T operator()(T a, T b) const
    {
        return a + b;
    }
};
template <typename T> struct less {
    T operator()(T a, T b) const
    {
        return b < a ? b : a;
    }
};
template <typename T> struct greater {
    T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};
template <typename G, typename T, typename F> inline T reduce(const G &group, T v, F op)
{
    T all = group.shfl(v, 0);
    for (unsigned i = 1; i < group.size(); i++)
        all = op(all, group.shfl(v, (int)i));
    return all;
}
template <typename G, typename T, typename S>
inline void memcpy_async(const G &group, T *to, const T *from, S n)
{
    if (group.thread_rank() == 0)
        memcpy((void *)to, (const void *)from, (size_t)n);
}
template <typename G> inline void wait(const G &group)
{
    group.sync();
}
} /* namespace cooperative_groups */

/* ---- asynchronous copies: done at once ---- */

inline void __pipeline_memcpy_async(void *to, const void *from, size_t n, size_t zeros = 0)
{
    if ((uintptr_t)to % n != 0 || (uintptr_t)from % n != 0)
        hone_emu_fail(716, "a misaligned asynchronous copy");
    memcpy(to, from, n - zeros);
    memset((char *)to + n - zeros, 0, zeros);
}
inline void __pipeline_commit()
{
}
inline void __pipeline_wait_prior(size_t)
{
}

/* ---- wmma: a and b whole in every thread, accumulators shared out over the lanes ---- */

namespace nvcuda
{
namespace wmma
{
struct matrix_a {
};
struct matrix_b {
};
struct accumulator {
};
struct row_major {
};
struct col_major {
};
enum layout_t { mem_row_major, mem_col_major };
namespace precision
{
struct tf32 {
};
} /* namespace precision */
template <typename T> struct hone_emu_storage {
    using type = T;
};
template <> struct hone_emu_storage<precision::tf32> {
    using type = float;
};
template <typename Use, int M, int N, int K> struct hone_emu_shape {
    static constexpr int rows = M, columns = K;
};
template <int M, int N, int K> struct hone_emu_shape<matrix_b, M, N, K> {
    static constexpr int rows = K, columns = N;
};
template <int M, int N, int K> struct hone_emu_shape<accumulator, M, N, K> {
    static constexpr int rows = M, columns = N;
};
template <typename L> struct hone_emu_is_row {
    static constexpr bool value = true;
};
template <> struct hone_emu_is_row<col_major> {
    static constexpr bool value = false;
};
template <typename Use> struct hone_emu_lanes_of {
    static constexpr int value = 1;
};
template <> struct hone_emu_lanes_of<accumulator> {
    static constexpr int value = 32;
};
template <typename Use, int M, int N, int K, typename T, typename L = void> struct fragment {
    using shape = hone_emu_shape<Use, M, N, K>;
    using element_type = typename hone_emu_storage<T>::type;
    static constexpr int lanes = hone_emu_lanes_of<Use>::value;
    static constexpr int num_elements = shape::rows * shape::columns / lanes;
    element_type x[num_elements];
    static int first()
    {
        return lanes == 1 ? 0 : (int)hone_emu_now.lane * num_elements;
    }
};
template <typename F, typename V> inline void fill_fragment(F &f, V v)
{
    for (int i = 0; i < F::num_elements; i++)
        f.x[i] = (typename F::element_type)v;
}
template <typename F, typename T>
inline void hone_emu_load(F &f, const T *from, unsigned stride, bool is_row)
{
    __syncwarp();
    for (int i = 0; i < F::num_elements; i++) {
        unsigned at = (unsigned)(F::first() + i), r = at / F::shape::columns,
                 c = at % F::shape::columns;
        f.x[i] = from[is_row ? r * stride + c : c * stride + r];
    }
}
template <typename Use, int M, int N, int K, typename T, typename L, typename S>
inline void load_matrix_sync(fragment<Use, M, N, K, T, L> &f, const S *from, unsigned stride)
{
    hone_emu_load(f, from, stride, hone_emu_is_row<L>::value);
}
template <int M, int N, int K, typename T, typename S>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const S *from, unsigned stride,
                             layout_t layout)
{
    hone_emu_load(f, from, stride, layout == mem_row_major);
}
template <int M, int N, int K, typename T, typename S>
inline void store_matrix_sync(S *to, const fragment<accumulator, M, N, K, T> &f, unsigned stride,
                              layout_t layout)
{
    using fragment_type = fragment<accumulator, M, N, K, T>;
    for (int i = 0; i < fragment_type::num_elements; i++) {
        unsigned at = (unsigned)(fragment_type::first() + i), r = at / N, c = at % N;
        to[layout == mem_row_major ? r * stride + c : c * stride + r] = f.x[i];
    }
    __syncwarp();
}
template <int M, int N, int K, typename A, typename LA, typename B, typename LB, typename C,
          typename D>
inline void
mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, LA> &a,
         const fragment<matrix_b, M, N, K, B, LB> &b, const fragment<accumulator, M, N, K, C> &c)
{
    __syncwarp();
    for (int i = 0; i < d.num_elements; i++) {
        int at = d.first() + i, row = at / N, column = at % N;
        float sum = (float)c.x[i];
        for (int k = 0; k < K; k++)
            sum += (float)a.x[row * K + k] * (float)b.x[k * N + column];
        d.x[i] = (D)sum;
    }
}
inline float __float_to_tf32(float v)
{
    return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u);
}
} /* namespace wmma */
} /* namespace nvcuda */
