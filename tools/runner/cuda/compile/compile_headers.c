/* SPDX-License-Identifier: Apache-2.0 */
/* The small device headers as constant texts (compile_headers.h), and which precompiled set a
 * source needs: hone_variant_of looks at its include lines alone. */
#include "tools/runner/cuda/compile/compile_headers.h"

#include <string.h>

/* The types have the widths *and the names* that the host's compiler gives them (int64_t is long):
 * a kernel's mangled name must come out the same on both sides. */
/* clang-format off */
static const char types_h[] =
    "typedef signed char int8_t;\n"
    "typedef short int16_t;\n"
    "typedef int int32_t;\n"
    "typedef long int64_t;\n"
    "typedef unsigned char uint8_t;\n"
    "typedef unsigned short uint16_t;\n"
    "typedef unsigned int uint32_t;\n"
    "typedef unsigned long uint64_t;\n"
    "typedef int64_t intptr_t;\n"
    "typedef uint64_t uintptr_t;\n"
    "typedef int64_t intmax_t;\n"
    "typedef uint64_t uintmax_t;\n"
    "typedef int8_t int_least8_t;\n"
    "typedef int16_t int_least16_t;\n"
    "typedef int32_t int_least32_t;\n"
    "typedef int64_t int_least64_t;\n"
    "typedef uint8_t uint_least8_t;\n"
    "typedef uint16_t uint_least16_t;\n"
    "typedef uint32_t uint_least32_t;\n"
    "typedef uint64_t uint_least64_t;\n"
    "#ifndef CHAR_BIT\n"
    "#define CHAR_BIT 8\n"
    "#define SCHAR_MIN (-128)\n"
    "#define SCHAR_MAX 127\n"
    "#define UCHAR_MAX 255\n"
    "#define CHAR_MIN SCHAR_MIN\n"
    "#define CHAR_MAX SCHAR_MAX\n"
    "#define SHRT_MIN (-SHRT_MAX - 1)\n"
    "#define SHRT_MAX 0x7fff\n"
    "#define USHRT_MAX 0xffff\n"
    "#define INT_MIN (-INT_MAX - 1)\n"
    "#define INT_MAX 0x7fffffff\n"
    "#define UINT_MAX 0xffffffff\n"
    "#define LONG_MIN (-LONG_MAX - 1)\n"
    "#define LONG_MAX LLONG_MAX\n"
    "#define ULONG_MAX ULLONG_MAX\n"
    "#define LLONG_MIN (-LLONG_MAX - 1)\n"
    "#define LLONG_MAX 0x7fffffffffffffffLL\n"
    "#define ULLONG_MAX 0xffffffffffffffffUL\n"
    "#endif\n"
    "#ifndef INT8_MIN\n"
    "#define INT8_MIN SCHAR_MIN\n"
    "#define INT16_MIN SHRT_MIN\n"
    "#define INT32_MIN INT_MIN\n"
    "#define INT64_MIN LLONG_MIN\n"
    "#define INT8_MAX SCHAR_MAX\n"
    "#define INT16_MAX SHRT_MAX\n"
    "#define INT32_MAX INT_MAX\n"
    "#define INT64_MAX LLONG_MAX\n"
    "#define UINT8_MAX UCHAR_MAX\n"
    "#define UINT16_MAX USHRT_MAX\n"
    "#define UINT32_MAX UINT_MAX\n"
    "#define UINT64_MAX ULLONG_MAX\n"
    "#define INTPTR_MIN INT64_MIN\n"
    "#define INTPTR_MAX INT64_MAX\n"
    "#define UINTPTR_MAX UINT64_MAX\n"
    "#define PTRDIFF_MIN INT64_MIN\n"
    "#define PTRDIFF_MAX INT64_MAX\n"
    "#define SIZE_MAX UINT64_MAX\n"
    "#endif\n";

static const char numbers_h[] =
    "#ifndef INFINITY\n"
    "#define INFINITY __builtin_bit_cast(float, 0x7f800000)\n"
    "#define NAN __builtin_bit_cast(float, 0x7fffffff)\n"
    "#endif\n"
    "#ifndef HUGE_VALF\n"
    "#define HUGE_VALF __builtin_bit_cast(float, 0x7f800000)\n"
    "#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000LL)\n"
    "#endif\n"
    "#ifndef M_PI\n"
    "#define M_E 2.7182818284590452354\n"
    "#define M_LOG2E 1.4426950408889634074\n"
    "#define M_LOG10E 0.43429448190325182765\n"
    "#define M_LN2 0.69314718055994530942\n"
    "#define M_LN10 2.30258509299404568402\n"
    "#define M_PI 3.14159265358979323846\n"
    "#define M_PI_2 1.57079632679489661923\n"
    "#define M_PI_4 0.78539816339744830962\n"
    "#define M_1_PI 0.31830988618379067154\n"
    "#define M_2_PI 0.63661977236758134308\n"
    "#define M_2_SQRTPI 1.12837916709551257390\n"
    "#define M_SQRT2 1.41421356237309504880\n"
    "#define M_SQRT1_2 0.70710678118654752440\n"
    "#endif\n"
    "#ifndef FLT_MAX\n"
    "#define FLT_RADIX 2\n"
    "#define FLT_MANT_DIG 24\n"
    "#define FLT_DIG 6\n"
    "#define FLT_MIN 1.17549435082228750796873653722224568e-38F\n"
    "#define FLT_MAX 3.40282346638528859811704183484516925e+38F\n"
    "#define FLT_EPSILON 1.19209289550781250000000000000000000e-7F\n"
    "#define DBL_MANT_DIG 53\n"
    "#define DBL_DIG 15\n"
    "#define DBL_MIN 2.22507385850720138309023271733240406e-308\n"
    "#define DBL_MAX 1.79769313486231570814527423731704357e+308\n"
    "#define DBL_EPSILON 2.22044604925031308084726333618164062e-16\n"
    "#endif\n";

static const char std_types_h[] =
    "namespace std {\n"
    "using ::int8_t;\n"
    "using ::int16_t;\n"
    "using ::int32_t;\n"
    "using ::int64_t;\n"
    "using ::uint8_t;\n"
    "using ::uint16_t;\n"
    "using ::uint32_t;\n"
    "using ::uint64_t;\n"
    "using ::intptr_t;\n"
    "using ::uintptr_t;\n"
    "typedef decltype(nullptr) nullptr_t;\n"
    "template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }\n"
    "template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }\n"
    "template <class T> constexpr const T &clamp(const T &v, const T &lo, const T &hi) { return v < lo ? lo : hi < v ? hi : v; }\n"
    "template <class T> constexpr void swap(T &a, T &b) { T t = a; a = b; b = t; }\n"
    "template <class T, T v> struct integral_constant { enum : T { value = v }; typedef T value_type; typedef integral_constant type; constexpr operator T() const { return v; } };\n"
    "typedef integral_constant<bool, true> true_type;\n"
    "typedef integral_constant<bool, false> false_type;\n"
    "template <class A, class B> struct is_same : false_type {};\n"
    "template <class A> struct is_same<A, A> : true_type {};\n"
    "template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;\n"
    "template <bool B, class T = void> struct enable_if {};\n"
    "template <class T> struct enable_if<true, T> { typedef T type; };\n"
    "template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;\n"
    "template <bool B, class T, class F> struct conditional { typedef T type; };\n"
    "template <class T, class F> struct conditional<false, T, F> { typedef F type; };\n"
    "template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;\n"
    "template <class T> struct remove_const { typedef T type; };\n"
    "template <class T> struct remove_const<const T> { typedef T type; };\n"
    "template <class T> struct remove_volatile { typedef T type; };\n"
    "template <class T> struct remove_volatile<volatile T> { typedef T type; };\n"
    "template <class T> struct remove_cv { typedef typename remove_const<typename remove_volatile<T>::type>::type type; };\n"
    "template <class T> using remove_cv_t = typename remove_cv<T>::type;\n"
    "template <class T> using remove_const_t = typename remove_const<T>::type;\n"
    "template <class T> struct remove_reference { typedef T type; };\n"
    "template <class T> struct remove_reference<T &> { typedef T type; };\n"
    "template <class T> struct remove_reference<T &&> { typedef T type; };\n"
    "template <class T> using remove_reference_t = typename remove_reference<T>::type;\n"
    "template <class T> struct decay { typedef typename remove_cv<typename remove_reference<T>::type>::type type; };\n"
    "template <class T> using decay_t = typename decay<T>::type;\n"
    "}\n";

static const char std_more_h[] =
    "namespace std {\n"
    "template <class T> struct is_integral : false_type {};\n"
    "template <> struct is_integral<bool> : true_type {};\n"
    "template <> struct is_integral<char> : true_type {};\n"
    "template <> struct is_integral<signed char> : true_type {};\n"
    "template <> struct is_integral<unsigned char> : true_type {};\n"
    "template <> struct is_integral<short> : true_type {};\n"
    "template <> struct is_integral<unsigned short> : true_type {};\n"
    "template <> struct is_integral<int> : true_type {};\n"
    "template <> struct is_integral<unsigned> : true_type {};\n"
    "template <> struct is_integral<long> : true_type {};\n"
    "template <> struct is_integral<unsigned long> : true_type {};\n"
    "template <> struct is_integral<long long> : true_type {};\n"
    "template <> struct is_integral<unsigned long long> : true_type {};\n"
    "template <class T> struct is_floating_point : false_type {};\n"
    "template <> struct is_floating_point<float> : true_type {};\n"
    "template <> struct is_floating_point<double> : true_type {};\n"
    "template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;\n"
    "template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;\n"
    "template <class T> struct is_pointer : false_type {};\n"
    "template <class T> struct is_pointer<T *> : true_type {};\n"
    "template <class... T> using void_t = void;\n"
    "template <class T, T... I> struct integer_sequence { static constexpr size_t size() { return sizeof...(I); } };\n"
    "template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;\n"
    "template <size_t N, size_t... I> struct hone_make_sequence : hone_make_sequence<N - 1, N - 1, I...> {};\n"
    "template <size_t... I> struct hone_make_sequence<0, I...> { typedef index_sequence<I...> type; };\n"
    "template <size_t N> using make_index_sequence = typename hone_make_sequence<N>::type;\n"
    "}\n";

static const char std_limits_h[] =
    "namespace std {\n"
    "template <class T> struct numeric_limits;\n"
    "template <> struct numeric_limits<float> { enum : bool { is_specialized = true }; enum : int { digits = 24 }; static constexpr float min() { return FLT_MIN; } static constexpr float max() { return FLT_MAX; } static constexpr float lowest() { return -FLT_MAX; } static constexpr float epsilon() { return FLT_EPSILON; } static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000); } static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fffffff); } };\n"
    "template <> struct numeric_limits<double> { enum : bool { is_specialized = true }; enum : int { digits = 53 }; static constexpr double min() { return DBL_MIN; } static constexpr double max() { return DBL_MAX; } static constexpr double lowest() { return -DBL_MAX; } static constexpr double epsilon() { return DBL_EPSILON; } static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000LL); } static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7fffffffffffffffLL); } };\n"
    "#define HONE_LIMITS(T, LO, HI) template <> struct numeric_limits<T> { enum : bool { is_specialized = true }; static constexpr T min() { return LO; } static constexpr T max() { return HI; } static constexpr T lowest() { return LO; } };\n"
    "HONE_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX)\n"
    "HONE_LIMITS(unsigned char, 0, UCHAR_MAX)\n"
    "HONE_LIMITS(short, SHRT_MIN, SHRT_MAX)\n"
    "HONE_LIMITS(unsigned short, 0, USHRT_MAX)\n"
    "HONE_LIMITS(int, INT_MIN, INT_MAX)\n"
    "HONE_LIMITS(unsigned int, 0, UINT_MAX)\n"
    "HONE_LIMITS(long, LONG_MIN, LONG_MAX)\n"
    "HONE_LIMITS(unsigned long, 0, ULONG_MAX)\n"
    "HONE_LIMITS(long long, LLONG_MIN, LLONG_MAX)\n"
    "HONE_LIMITS(unsigned long long, 0, ULLONG_MAX)\n"
    "#undef HONE_LIMITS\n"
    "using ::abs; using ::ceil; using ::cos; using ::cosh; using ::erf; using ::exp; using ::exp2; using ::fabs; using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod;\n"
    "using ::isfinite; using ::isinf; using ::isnan; using ::log; using ::log2; using ::log10; using ::log1p; using ::expm1; using ::pow; using ::rint; using ::round; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh; using ::trunc;\n"
    "}\n";

static const char device_h[] =
    "#ifndef HONE_DEVICE_H\n"
    "#define HONE_DEVICE_H\n"
    "#include <hone_types.h>\n"
    "#include <hone_numbers.h>\n"
    "#include <hone_std_types.h>\n"
    "#include <hone_std_more.h>\n"
    "#include <hone_std_limits.h>\n"
    "#endif\n";

static const char cuda_h[] =
    "#ifndef HONE_CUDA_H\n"
    "#define HONE_CUDA_H\n"
    "typedef unsigned long long cuuint64_t;\n"
    "typedef unsigned int cuuint32_t;\n"
    "typedef unsigned long long CUdeviceptr;\n"
    "typedef struct CUstream_st *CUstream;\n"
    "typedef struct CUtensorMap_st {\n"
    "    alignas(64) cuuint64_t opaque[16];\n"
    "} CUtensorMap;\n"
    "#endif\n";

/* clang-format on */
const struct hone_header hone_device_headers[] = {
    {"hone_device.h", device_h},
    {"hone_types.h", types_h},
    {"hone_numbers.h", numbers_h},
    {"hone_std_types.h", std_types_h},
    {"hone_std_more.h", std_more_h},
    {"hone_std_limits.h", std_limits_h},
    {"cuda.h", cuda_h},
    {"cudaTypedefs.h", cuda_h},
    {"cuda_runtime.h", ""},
    {"cuda_runtime_api.h", ""},
    {"device_launch_parameters.h", ""},
    {"stdio.h", ""},
    {"stdlib.h", ""},
    {"stdint.h", ""},
    {"stddef.h", ""},
    {"string.h", ""},
    {"math.h", ""},
    {"float.h", ""},
    {"limits.h", ""},
    {"assert.h", ""},
    {"time.h", ""},
    {"inttypes.h", ""},
    {"errno.h", ""},
    {"stdbool.h", ""},
    {"cstdio", ""},
    {"cstdlib", ""},
    {"cstdint", ""},
    {"cstddef", ""},
    {"cstring", ""},
    {"cmath", ""},
    {"cfloat", ""},
    {"climits", ""},
    {"cassert", ""},
    {"ctime", ""},
    {"cinttypes", ""},
    {"algorithm", ""},
    {"array", ""},
    {"atomic", ""},
    {"bitset", ""},
    {"chrono", ""},
    {"complex", ""},
    {"deque", ""},
    {"exception", ""},
    {"fstream", ""},
    {"functional", ""},
    {"initializer_list", ""},
    {"iomanip", ""},
    {"iostream", ""},
    {"iterator", ""},
    {"limits", ""},
    {"list", ""},
    {"map", ""},
    {"memory", ""},
    {"mutex", ""},
    {"new", ""},
    {"numeric", ""},
    {"optional", ""},
    {"random", ""},
    {"set", ""},
    {"sstream", ""},
    {"stdexcept", ""},
    {"stack", ""},
    {"string", ""},
    {"string_view", ""},
    {"thread", ""},
    {"tuple", ""},
    {"type_traits", ""},
    {"typeinfo", ""},
    {"unordered_map", ""},
    {"unordered_set", ""},
    {"utility", ""},
    {"vector", ""},
    {"sys/time.h", ""},
    {"unistd.h", ""},
};
const size_t hone_device_n_headers = HONE_COUNTOF(hone_device_headers);

#define NUMBERS_TEXT                                                                               \
    "#include <cuda_fp16.h>\n"                                                                     \
    "#include <cuda_bf16.h>\n"                                                                     \
    "#include <mma.h>\n"

const char *const hone_variant_text[HONE_N_VARIANTS] = {
    [HONE_VARIANT_PLAIN] = "#include <hone_device.h>\n",
    [HONE_VARIANT_NUMBERS] = NUMBERS_TEXT "#include <hone_device.h>\n",
    [HONE_VARIANT_GROUPS] = NUMBERS_TEXT "#include <cooperative_groups.h>\n"
                                         "#include <cooperative_groups/reduce.h>\n"
                                         "#include <cuda/barrier>\n"
                                         "#include <cuda/pipeline>\n"
                                         "#include <hone_device.h>\n",
};

struct known {
    const char *start; /* of the header's name */
    enum hone_compile_variant variant;
};
static const struct known known[] = {
    {"cuda_fp16.h", HONE_VARIANT_NUMBERS}, {"cuda_bf16.h", HONE_VARIANT_NUMBERS},
    {"mma.h", HONE_VARIANT_NUMBERS},       {"cooperative_groups", HONE_VARIANT_GROUPS},
    {"cuda/barrier", HONE_VARIANT_GROUPS}, {"cuda/pipeline", HONE_VARIANT_GROUPS},
    {"cuda/atomic", HONE_VARIANT_GROUPS},  {"cuda_pipeline.h", HONE_VARIANT_GROUPS},
};

/* The directive's word and what follows, for a line that is one: "#  include <x>". */
static const char *directive(const char *line, const char *word)
{
    line += strspn(line, " \t");
    if (*line != '#')
        return NULL;
    line += 1 + strspn(line + 1, " \t");
    size_t len = strlen(word);
    return strncmp(line, word, len) == 0 ? line + len : NULL;
}

enum hone_compile_variant hone_variant_of(const char *source)
{
    enum hone_compile_variant variant = HONE_VARIANT_PLAIN;
    bool has_define = false;
    for (const char *line = source; *line != '\0';) {
        const char *included = directive(line, "include");
        has_define = has_define || directive(line, "define") != NULL;
        if (included != NULL) {
            included += strspn(included, " \t<\"");
            for (size_t i = 0; i < HONE_COUNTOF(known); i++) {
                if (strncmp(included, known[i].start, strlen(known[i].start)) != 0)
                    continue;
                if (has_define)
                    return HONE_VARIANT_PLAIN;
                variant = known[i].variant > variant ? known[i].variant : variant;
            }
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return variant;
}
