/* hone: what a launcher's host text is compiled with, behind host_structs.hpp. */
#ifndef HONE_HOST_PRELUDE
#define HONE_HOST_PRELUDE

#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#undef __cluster_dims__
#define __cluster_dims__(...)
#undef __block_size__
#define __block_size__(...)
#undef __maxnreg__
#define __maxnreg__(...)

/* Aliases of these stay in the host text; their headers do not. */
namespace cooperative_groups {
}
namespace nvcuda {
namespace wmma {
}
}
namespace cuda {
namespace ptx {
}
namespace device {
namespace experimental {
}
}
namespace experimental {
}
}

extern "C" {
struct hone_param {
    const void *at;
    size_t size, align;
    int kind; /* 0 other, 1 signed, 2 unsigned, 3 pointer */
};
const void *hone_here(void);
void hone_record_conf(const long long grid[3], const long long block[3], unsigned long long shared,
                      void *stream, int line);
void hone_record_given(unsigned long index, const char *text, long long value, int is_unsigned);
void hone_record_stub(const void *pc, const char *names, const struct hone_param *params,
                      unsigned long n);
}

struct hone_dim {
    long long v[3];
    hone_dim(const dim3 &d) : v{(long long)d.x, (long long)d.y, (long long)d.z} {}
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value || std::is_enum<T>::value>>
    hone_dim(T x) : v{(long long)x, 1, 1}
    {
    }
    template <class T, class = std::enable_if_t<std::is_class<T>::value && std::is_convertible<T, dim3>::value>,
              class = void>
    hone_dim(const T &t) : hone_dim((dim3)t)
    {
    }
    template <class A, class B> hone_dim(A x, B y) : v{(long long)x, (long long)y, 1} {}
    template <class A, class B, class C>
    hone_dim(A x, B y, C z) : v{(long long)x, (long long)y, (long long)z}
    {
    }
};

inline void hone_conf(const hone_dim &grid, const hone_dim &block, size_t shared = 0,
                      cudaStream_t stream = 0, int line = __builtin_LINE())
{
    hone_record_conf(grid.v, block.v, shared, (void *)stream, line);
}

template <class T> inline T &&hone_arg(unsigned long index, const char *text, T &&value)
{
    using U = std::decay_t<T>;
    if constexpr (std::is_integral<U>::value)
        hone_record_given(index, text, (long long)value, std::is_unsigned<U>::value);
    return static_cast<T &&>(value);
}

template <class T> constexpr int hone_kind()
{
    using U = std::remove_cv_t<T>;
    return std::is_pointer<U>::value      ? 3
           : !std::is_integral<U>::value  ? 0
           : std::is_unsigned<U>::value   ? 2
                                          : 1;
}

template <class... P>
__attribute__((noinline)) void hone_stub(const void *pc, const char *names, const P &...params)
{
    const hone_param list[sizeof...(P) + 1] = {
        {(const void *)__builtin_addressof(params), sizeof(P), alignof(P), hone_kind<P>()}...};
    hone_record_stub(pc, names, list, sizeof...(P));
}

/* ---- what the toolkit gives to nvcc alone ---- */

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count,
                                           size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}
template <class T> inline cudaError_t cudaGetSymbolAddress(void **ret, const T &symbol)
{
    return ::cudaGetSymbolAddress(ret, (const void *)&symbol);
}
template <class T> inline cudaError_t cudaGetSymbolSize(size_t *ret, const T &)
{
    *ret = sizeof(T);
    return cudaSuccess;
}
template <class T> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, T *func)
{
    return ::cudaFuncGetAttributes(a, (const void *)func);
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T *func, cudaFuncAttribute attribute, int value)
{
    return ::cudaFuncSetAttribute((const void *)func, attribute, value);
}
template <class T> inline cudaError_t cudaFuncSetCacheConfig(T *func, cudaFuncCache config)
{
    return ::cudaFuncSetCacheConfig((const void *)func, config);
}

#define HONE_MIN_MAX(R, A, B)                                                                      \
    inline R min(A a, B b)                                                                         \
    {                                                                                              \
        return (R)a < (R)b ? (R)a : (R)b;                                                          \
    }                                                                                              \
    inline R max(A a, B b)                                                                         \
    {                                                                                              \
        return (R)a > (R)b ? (R)a : (R)b;                                                          \
    }
HONE_MIN_MAX(int, int, int)
HONE_MIN_MAX(unsigned, unsigned, unsigned)
HONE_MIN_MAX(unsigned, int, unsigned)
HONE_MIN_MAX(unsigned, unsigned, int)
HONE_MIN_MAX(long, long, long)
HONE_MIN_MAX(unsigned long, unsigned long, unsigned long)
HONE_MIN_MAX(unsigned long, long, unsigned long)
HONE_MIN_MAX(unsigned long, unsigned long, long)
HONE_MIN_MAX(long long, long long, long long)
HONE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
HONE_MIN_MAX(unsigned long long, long long, unsigned long long)
HONE_MIN_MAX(unsigned long long, unsigned long long, long long)
HONE_MIN_MAX(float, float, float)
HONE_MIN_MAX(double, double, double)
HONE_MIN_MAX(double, float, double)
HONE_MIN_MAX(double, double, float)
#undef HONE_MIN_MAX

inline float rsqrtf(float x)
{
    return 1.0f / std::sqrt(x);
}
inline double rsqrt(double x)
{
    return 1.0 / std::sqrt(x);
}

#endif
