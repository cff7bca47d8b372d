/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of device text: intrinsics, conversions, bits. Part of emulate.h. */
#pragma GCC system_header

/* ---- least and greatest, as CUDA overloads them ---- */

#define HONE_EMU_MIN_MAX(T)                                                                        \
    inline T min(T a, T b)                                                                         \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    inline T max(T a, T b)                                                                         \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }
HONE_EMU_MIN_MAX(int)
HONE_EMU_MIN_MAX(unsigned)
HONE_EMU_MIN_MAX(long)
HONE_EMU_MIN_MAX(unsigned long)
HONE_EMU_MIN_MAX(long long)
HONE_EMU_MIN_MAX(unsigned long long)
#define HONE_EMU_MIXED(A, B, R)                                                                    \
    inline R min(A a, B b)                                                                         \
    {                                                                                              \
        return min((R)a, (R)b);                                                                    \
    }                                                                                              \
    inline R max(A a, B b)                                                                         \
    {                                                                                              \
        return max((R)a, (R)b);                                                                    \
    }                                                                                              \
    inline R min(B a, A b)                                                                         \
    {                                                                                              \
        return min((R)a, (R)b);                                                                    \
    }                                                                                              \
    inline R max(B a, A b)                                                                         \
    {                                                                                              \
        return max((R)a, (R)b);                                                                    \
    }
HONE_EMU_MIXED(int, unsigned, unsigned)
HONE_EMU_MIXED(int, long, long)
HONE_EMU_MIXED(int, long long, long long)
HONE_EMU_MIXED(int, unsigned long, unsigned long)
HONE_EMU_MIXED(unsigned, unsigned long, unsigned long)
HONE_EMU_MIXED(unsigned, unsigned long long, unsigned long long)
HONE_EMU_MIXED(long, unsigned long, unsigned long)
HONE_EMU_MIXED(long, long long, long long)
#define HONE_EMU_REAL(A, B, R, f)                                                                  \
    inline R min(A a, B b)                                                                         \
    {                                                                                              \
        return __builtin_fmin##f((R)a, (R)b);                                                      \
    }                                                                                              \
    inline R max(A a, B b)                                                                         \
    {                                                                                              \
        return __builtin_fmax##f((R)a, (R)b);                                                      \
    }
HONE_EMU_REAL(float, float, float, f)
HONE_EMU_REAL(double, double, double, )
HONE_EMU_REAL(float, double, double, )
HONE_EMU_REAL(double, float, double, )

/* ---- C's functions for float; templates, so that <cmath> may come later ---- */

template <typename T, typename R> struct hone_emu_for_float {
};
template <typename R> struct hone_emu_for_float<float, R> {
    using type = R;
};
#define HONE_EMU_C1(name)                                                                          \
    template <typename T> inline typename hone_emu_for_float<T, float>::type name(T x)             \
    {                                                                                              \
        return __builtin_##name##f(x);                                                             \
    }
#define HONE_EMU_C2(name)                                                                          \
    template <typename T> inline typename hone_emu_for_float<T, float>::type name(T x, T y)        \
    {                                                                                              \
        return __builtin_##name##f(x, y);                                                          \
    }
HONE_EMU_C1(sqrt)
HONE_EMU_C1(cbrt)
HONE_EMU_C1(exp)
HONE_EMU_C1(exp2)
HONE_EMU_C1(exp10)
HONE_EMU_C1(expm1)
HONE_EMU_C1(log)
HONE_EMU_C1(log2)
HONE_EMU_C1(log10)
HONE_EMU_C1(log1p)
HONE_EMU_C1(sin)
HONE_EMU_C1(cos)
HONE_EMU_C1(tan)
HONE_EMU_C1(asin)
HONE_EMU_C1(acos)
HONE_EMU_C1(atan)
HONE_EMU_C1(sinh)
HONE_EMU_C1(cosh)
HONE_EMU_C1(tanh)
HONE_EMU_C1(asinh)
HONE_EMU_C1(acosh)
HONE_EMU_C1(atanh)
HONE_EMU_C1(fabs)
HONE_EMU_C1(floor)
HONE_EMU_C1(ceil)
HONE_EMU_C1(trunc)
HONE_EMU_C1(round)
HONE_EMU_C1(rint)
HONE_EMU_C1(nearbyint)
HONE_EMU_C1(erf)
HONE_EMU_C1(erfc)
HONE_EMU_C1(lgamma)
HONE_EMU_C1(tgamma)
HONE_EMU_C2(pow)
HONE_EMU_C2(fmod)
HONE_EMU_C2(atan2)
HONE_EMU_C2(fmin)
HONE_EMU_C2(fmax)
HONE_EMU_C2(fdim)
HONE_EMU_C2(hypot)
HONE_EMU_C2(copysign)
HONE_EMU_C2(remainder)
HONE_EMU_C2(nextafter)
template <typename T> inline typename hone_emu_for_float<T, float>::type fma(T x, T y, T z)
{
    return __builtin_fmaf(x, y, z);
}
template <typename T> inline typename hone_emu_for_float<T, float>::type ldexp(T x, int e)
{
    return __builtin_ldexpf(x, e);
}
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
template <typename T> inline bool isnan(T x)
{
    return __builtin_isnan(x);
}
template <typename T> inline bool isinf(T x)
{
    return __builtin_isinf(x);
}
template <typename T> inline bool isfinite(T x)
{
    return __builtin_isfinite(x);
}
template <typename T> inline bool signbit(T x)
{
    return __builtin_signbit(x);
}
/* abs is C's for int; others must not become one */
template <typename T> struct hone_emu_abs {
};
template <> struct hone_emu_abs<float> {
    using type = float;
};
template <> struct hone_emu_abs<double> {
    using type = double;
};
template <> struct hone_emu_abs<long> {
    using type = long;
};
template <> struct hone_emu_abs<long long> {
    using type = long long;
};
template <typename T> inline typename hone_emu_abs<T>::type abs(T x)
{
    return x < 0 ? -x : x == 0 ? 0 : x;
}
#define CUDART_INF_F        __builtin_inff()
#define CUDART_NAN_F        __builtin_nanf("")
#define CUDART_INF          __builtin_inf()
#define CUDART_NAN          __builtin_nan("")
#define CUDART_PI_F         3.141592654f
#define CUDART_PI           3.1415926535897931e+0
#define CUDART_L2E_F        1.442695041f
#define CUDART_LN2_F        0.693147181f
#define CUDART_MAX_NORMAL_F 3.402823466e38f

/* ---- functions that C has not ---- */

#define HONE_EMU_F1(name, expression)                                                              \
    inline float name(float x)                                                                     \
    {                                                                                              \
        return expression;                                                                         \
    }
#define HONE_EMU_D1(name, expression)                                                              \
    inline double name(double x)                                                                   \
    {                                                                                              \
        return expression;                                                                         \
    }
HONE_EMU_F1(rsqrtf, 1.0f / __builtin_sqrtf(x))
HONE_EMU_F1(rsqrt, 1.0f / __builtin_sqrtf(x))
HONE_EMU_D1(rsqrt, 1.0 / __builtin_sqrt(x))
HONE_EMU_F1(rcbrtf, 1.0f / __builtin_cbrtf(x))
HONE_EMU_F1(sinpif, (float)__builtin_sin(3.14159265358979323846 * x))
HONE_EMU_F1(cospif, (float)__builtin_cos(3.14159265358979323846 * x))
HONE_EMU_F1(normcdff, 0.5f * __builtin_erfcf(-x * 0.70710678f))
HONE_EMU_D1(normcdf, 0.5 * __builtin_erfc(-x * 0.70710678118654752440))
HONE_EMU_F1(erfcxf, (float)(__builtin_exp((double)x *x) * __builtin_erfc(x)))
HONE_EMU_F1(__expf, __builtin_expf(x))
HONE_EMU_F1(__exp10f, __builtin_powf(10.0f, x))
HONE_EMU_F1(__logf, __builtin_logf(x))
HONE_EMU_F1(__log2f, __builtin_log2f(x))
HONE_EMU_F1(__log10f, __builtin_log10f(x))
HONE_EMU_F1(__sinf, __builtin_sinf(x))
HONE_EMU_F1(__cosf, __builtin_cosf(x))
HONE_EMU_F1(__tanf, __builtin_tanf(x))
HONE_EMU_F1(__tanhf, __builtin_tanhf(x))
HONE_EMU_F1(__saturatef, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
HONE_EMU_F1(__frcp_rn, 1.0f / x)
HONE_EMU_F1(__frcp_rz, 1.0f / x)
HONE_EMU_F1(__fsqrt_rn, __builtin_sqrtf(x))
HONE_EMU_F1(__fsqrt_rz, __builtin_sqrtf(x))
HONE_EMU_F1(__frsqrt_rn, 1.0f / __builtin_sqrtf(x))
HONE_EMU_D1(__drcp_rn, 1.0 / x)
HONE_EMU_D1(__dsqrt_rn, __builtin_sqrt(x))
inline float __powf(float x, float y)
{
    return __builtin_powf(x, y);
}
inline float __fdividef(float x, float y)
{
    return x / y;
}
inline void __sincosf(float x, float *s, float *c)
{
    *s = __builtin_sinf(x);
    *c = __builtin_cosf(x);
}
inline float rhypotf(float x, float y)
{
    return 1.0f / __builtin_hypotf(x, y);
}
/* Kept apart, so that no compiler joins a multiplication and an addition. */
#define HONE_EMU_ROUNDED(T, prefix, op, name)                                                      \
    inline T __##prefix##name##_rn(T x, T y)                                                       \
    {                                                                                              \
        return x op y;                                                                             \
    }                                                                                              \
    inline T __##prefix##name##_rz(T x, T y)                                                       \
    {                                                                                              \
        return x op y;                                                                             \
    }                                                                                              \
    inline T __##prefix##name##_ru(T x, T y)                                                       \
    {                                                                                              \
        return x op y;                                                                             \
    }                                                                                              \
    inline T __##prefix##name##_rd(T x, T y)                                                       \
    {                                                                                              \
        return x op y;                                                                             \
    }
HONE_EMU_ROUNDED(float, f, +, add)
HONE_EMU_ROUNDED(float, f, -, sub)
HONE_EMU_ROUNDED(float, f, *, mul)
HONE_EMU_ROUNDED(float, f, /, div)
HONE_EMU_ROUNDED(double, d, +, add)
HONE_EMU_ROUNDED(double, d, -, sub)
HONE_EMU_ROUNDED(double, d, *, mul)
HONE_EMU_ROUNDED(double, d, /, div)
inline float __fmaf_rn(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
inline float __fmaf_rz(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
inline double __fma_rn(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}

/* ---- bits ---- */

#define HONE_EMU_AS(name, T, F)                                                                    \
    inline T name(F v)                                                                             \
    {                                                                                              \
        return hone_emu_from_bits<T>(hone_emu_bits(v));                                            \
    }
HONE_EMU_AS(__float_as_int, int, float)
HONE_EMU_AS(__float_as_uint, unsigned, float)
HONE_EMU_AS(__int_as_float, float, int)
HONE_EMU_AS(__uint_as_float, float, unsigned)
HONE_EMU_AS(__double_as_longlong, long long, double)
HONE_EMU_AS(__longlong_as_double, double, long long)
inline double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)high << 32 | (unsigned)low);
}
inline int __double2hiint(double v)
{
    return (int)(__double_as_longlong(v) >> 32);
}
inline int __double2loint(double v)
{
    return (int)__double_as_longlong(v);
}
#define HONE_EMU_BITS(name, T, R, expression)                                                      \
    inline R name(T v)                                                                             \
    {                                                                                              \
        return expression;                                                                         \
    }
HONE_EMU_BITS(__popc, unsigned, int, __builtin_popcount(v))
HONE_EMU_BITS(__popcll, unsigned long long, int, __builtin_popcountll(v))
HONE_EMU_BITS(__clz, int, int, v == 0 ? 32 : __builtin_clz((unsigned)v))
HONE_EMU_BITS(__clzll, long long, int, v == 0 ? 64 : __builtin_clzll((unsigned long long)v))
HONE_EMU_BITS(__ffs, int, int, __builtin_ffs(v))
HONE_EMU_BITS(__ffsll, long long, int, __builtin_ffsll(v))
inline unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}
inline unsigned long long __brevll(unsigned long long v)
{
    return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s)
{
    unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = s >> (4 * i) & 0xf, byte = (unsigned)(both >> (8 * (pick & 7))) & 0xff;
        if (pick & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << (8 * i);
    }
    return r;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n)
{
    unsigned long long both = (unsigned long long)high << 32 | low;
    return (unsigned)(both << (n & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n)
{
    unsigned long long both = (unsigned long long)high << 32 | low;
    return (unsigned)(both >> (n & 31));
}
inline int __mulhi(int x, int y)
{
    return (int)((long long)x * y >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((unsigned long long)x * y >> 32);
}
inline long long __mul64hi(long long x, long long y)
{
    return (long long)((__int128)x * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
inline int __mul24(int x, int y)
{
    return (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8));
}
inline unsigned __umul24(unsigned x, unsigned y)
{
    return (x & 0xffffff) * (y & 0xffffff);
}
inline unsigned __sad(int x, int y, unsigned z)
{
    return z + (unsigned)(x > y ? (long long)x - y : (long long)y - x);
}
inline int __dp4a(int x, int y, int z)
{
    for (int i = 0; i < 4; i++)
        z += (signed char)(x >> (8 * i)) * (signed char)(y >> (8 * i));
    return z;
}
inline unsigned __dp4a(unsigned x, unsigned y, unsigned z)
{
    for (int i = 0; i < 4; i++)
        z += (x >> (8 * i) & 0xff) * (y >> (8 * i) & 0xff);
    return z;
}

/* ---- conversions; out of range they end at the ends, NaN gives 0 ---- */

template <typename T> inline T hone_emu_clamp(double v, double least, double beyond)
{
    if (v != v)
        return 0;
    if (v < least)
        return (T)least;
    return v >= beyond ? (T)(beyond > 1e19 ? ~0ull : (unsigned long long)(beyond - 1)) : (T)v;
}
template <> inline long long hone_emu_clamp(double v, double, double)
{
    if (v != v)
        return 0;
    return v < -0x1p63 ? -0x7fffffffffffffffll - 1
                       : (v >= 0x1p63 ? 0x7fffffffffffffffll : (long long)v);
}
#define HONE_EMU_TO(from, F, to, T, least, beyond)                                                 \
    inline T __##from##2##to##_rn(F v)                                                             \
    {                                                                                              \
        return hone_emu_clamp<T>(__builtin_rint(v), least, beyond);                                \
    }                                                                                              \
    inline T __##from##2##to##_rz(F v)                                                             \
    {                                                                                              \
        return hone_emu_clamp<T>(__builtin_trunc(v), least, beyond);                               \
    }                                                                                              \
    inline T __##from##2##to##_ru(F v)                                                             \
    {                                                                                              \
        return hone_emu_clamp<T>(__builtin_ceil(v), least, beyond);                                \
    }                                                                                              \
    inline T __##from##2##to##_rd(F v)                                                             \
    {                                                                                              \
        return hone_emu_clamp<T>(__builtin_floor(v), least, beyond);                               \
    }
HONE_EMU_TO(float, float, int, int, -0x1p31, 0x1p31)
HONE_EMU_TO(float, float, uint, unsigned, 0.0, 0x1p32)
HONE_EMU_TO(float, float, ll, long long, -0x1p63, 0x1p63)
HONE_EMU_TO(float, float, ull, unsigned long long, 0.0, 0x1p64)
HONE_EMU_TO(double, double, int, int, -0x1p31, 0x1p31)
HONE_EMU_TO(double, double, uint, unsigned, 0.0, 0x1p32)
HONE_EMU_TO(double, double, ll, long long, -0x1p63, 0x1p63)
HONE_EMU_TO(double, double, ull, unsigned long long, 0.0, 0x1p64)
#define HONE_EMU_FROM(from, F)                                                                     \
    inline float __##from##2float_rn(F v)                                                          \
    {                                                                                              \
        return (float)v;                                                                           \
    }                                                                                              \
    inline float __##from##2float_rz(F v)                                                          \
    {                                                                                              \
        return (float)v;                                                                           \
    }                                                                                              \
    inline double __##from##2double_rn(F v)                                                        \
    {                                                                                              \
        return (double)v;                                                                          \
    }
HONE_EMU_FROM(int, int)
HONE_EMU_FROM(uint, unsigned)
HONE_EMU_FROM(ll, long long)
HONE_EMU_FROM(ull, unsigned long long)
inline float __double2float_rn(double v)
{
    return (float)v;
}
