/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of element.h by bits: halves and bfloats round to nearest even, integers saturate.
 * The second half is poison: a pattern for each type that no kernel writes by chance, laid and
 * looked for bit by bit. */
#include "tools/runner/values/element.h"

#include <math.h>
#include <string.h>

#define FILL_BYTES 4096 /* of the pattern that is copied; a multiple of every type */

static double half_to_double(uint16_t h)
{
    int exponent = (h >> 10) & 31;
    double mantissa = h & 1023, sign = h & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return mantissa > 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * mantissa * 0x1p-24;
    uint64_t bits = (uint64_t)(exponent - 25 + 1023) << 52; /* of the power of two; exact */
    double power = 0;
    memcpy(&power, &bits, sizeof power);
    return sign * (1024 + mantissa) * power;
}

static uint16_t double_to_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value))
        return 0x7e00;
    if (size >= 65520)
        return (uint16_t)(sign | 0x7c00);
    if (size == 0)
        return sign;
    int exponent = 0;
    frexp(size, &exponent);
    int ulp = exponent - 11 < -24 ? -24 : exponent - 11;
    double steps = nearbyint(ldexp(size, -ulp)); /* to nearest even in the default mode */
    uint32_t bits = ulp == -24 ? (uint32_t)steps : (uint32_t)steps + ((uint32_t)(ulp + 24) << 10);
    return (uint16_t)(sign | bits);
}

static double bfloat_to_double(uint16_t b)
{
    uint32_t bits = (uint32_t)b << 16;
    float f = 0;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static uint16_t double_to_bfloat(double value)
{
    float f = (float)value;
    uint32_t bits = 0;
    memcpy(&bits, &f, sizeof bits);
    if (isnan(f))
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double hone_element_get(enum hone_dtype dtype, const void *base, int64_t i)
{
    switch (dtype) {
    case HONE_DTYPE_F16:
        return half_to_double(((const uint16_t *)base)[i]);
    case HONE_DTYPE_BF16:
        return bfloat_to_double(((const uint16_t *)base)[i]);
    case HONE_DTYPE_F32:
        return (double)((const float *)base)[i];
    case HONE_DTYPE_F64:
        return ((const double *)base)[i];
    case HONE_DTYPE_I8:
        return ((const int8_t *)base)[i];
    case HONE_DTYPE_I16:
        return ((const int16_t *)base)[i];
    case HONE_DTYPE_U16:
        return ((const uint16_t *)base)[i];
    case HONE_DTYPE_I32:
        return ((const int32_t *)base)[i];
    case HONE_DTYPE_U32:
        return ((const uint32_t *)base)[i];
    case HONE_DTYPE_U64:
        return (double)((const uint64_t *)base)[i];
    case HONE_DTYPE_I64:
        return (double)((const int64_t *)base)[i];
    case HONE_DTYPE_BOOL:
    case HONE_DTYPE_U8:
        return ((const uint8_t *)base)[i];
    }
    return (double)NAN;
}

static double clamp_round(double value, double low, double high)
{
    const double ones = 0x1.8p52; /* beside it only whole numbers can be told apart */
    if (isnan(value))
        return 0;
    value = value > low ? value : low; /* in this form no branch is made of it */
    value = value < high ? value : high;
    return fabs(value) < 0x1p51 ? (value + ones) - ones : nearbyint(value);
}

static inline void set(enum hone_dtype dtype, void *base, int64_t i, double value)
{
    switch (dtype) {
    case HONE_DTYPE_F16:
        ((uint16_t *)base)[i] = double_to_half(value);
        break;
    case HONE_DTYPE_BF16:
        ((uint16_t *)base)[i] = double_to_bfloat(value);
        break;
    case HONE_DTYPE_F32:
        ((float *)base)[i] = (float)value;
        break;
    case HONE_DTYPE_F64:
        ((double *)base)[i] = value;
        break;
    case HONE_DTYPE_I8:
        ((int8_t *)base)[i] = (int8_t)clamp_round(value, INT8_MIN, INT8_MAX);
        break;
    case HONE_DTYPE_I16:
        ((int16_t *)base)[i] = (int16_t)clamp_round(value, INT16_MIN, INT16_MAX);
        break;
    case HONE_DTYPE_U16:
        ((uint16_t *)base)[i] = (uint16_t)clamp_round(value, 0, UINT16_MAX);
        break;
    case HONE_DTYPE_U32:
        ((uint32_t *)base)[i] = (uint32_t)clamp_round(value, 0, UINT32_MAX);
        break;
    case HONE_DTYPE_U64:
        ((uint64_t *)base)[i] = (uint64_t)clamp_round(value, 0, 1.8e19);
        break;
    case HONE_DTYPE_I32:
        ((int32_t *)base)[i] = (int32_t)clamp_round(value, INT32_MIN, INT32_MAX);
        break;
    case HONE_DTYPE_I64:
        ((int64_t *)base)[i] = (int64_t)clamp_round(value, -9e18, 9e18);
        break;
    case HONE_DTYPE_BOOL:
        ((uint8_t *)base)[i] = value != 0;
        break;
    case HONE_DTYPE_U8:
        ((uint8_t *)base)[i] = (uint8_t)clamp_round(value, 0, UINT8_MAX);
        break;
    }
}

void hone_element_set(enum hone_dtype dtype, void *base, int64_t i, double value)
{
    set(dtype, base, i, value);
}

/* The limits are no constants here: with constants compilers make branches of them, and random signs
 * make these slow. */
__attribute__((noipa)) static void to_integers(const double *values, int64_t n, double low,
                                               double high, int64_t *ret)
{
    for (int64_t i = 0; i < n; i++)
        ret[i] = (int64_t)clamp_round(values[i], low, high);
}

/* A loop for each type. */
#define SET_INTEGERS(dtype_, c_, low_, high_)                                                      \
    case dtype_:                                                                                   \
        to_integers(values, n, (double)(low_), (double)(high_), whole);                            \
        for (int64_t i = 0; i < n; i++)                                                            \
            ((c_ *)base)[first + i] = (c_)whole[i];                                                \
        break;

static void set_piece(enum hone_dtype dtype, void *base, int64_t first, const double *values,
                      int64_t n)
{
    int64_t whole[HONE_ELEMENT_PIECE];
    switch (dtype) {
        SET_INTEGERS(HONE_DTYPE_I8, int8_t, INT8_MIN, INT8_MAX)
        SET_INTEGERS(HONE_DTYPE_U8, uint8_t, 0, UINT8_MAX)
        SET_INTEGERS(HONE_DTYPE_I16, int16_t, INT16_MIN, INT16_MAX)
        SET_INTEGERS(HONE_DTYPE_U16, uint16_t, 0, UINT16_MAX)
        SET_INTEGERS(HONE_DTYPE_I32, int32_t, INT32_MIN, INT32_MAX)
        SET_INTEGERS(HONE_DTYPE_U32, uint32_t, 0, UINT32_MAX)
        SET_INTEGERS(HONE_DTYPE_I64, int64_t, -9e18, 9e18)
    case HONE_DTYPE_F32:
        for (int64_t i = 0; i < n; i++)
            ((float *)base)[first + i] = (float)values[i];
        break;
    case HONE_DTYPE_F64:
    case HONE_DTYPE_F16:
    case HONE_DTYPE_BF16:
    case HONE_DTYPE_U64:
    case HONE_DTYPE_BOOL:
        for (int64_t i = 0; i < n; i++)
            set(dtype, base, first + i, values[i]);
        break;
    }
}

void hone_element_set_all(enum hone_dtype dtype, void *base, int64_t first, const double *values,
                          int64_t n)
{
    for (int64_t i = 0; i < n; i += HONE_ELEMENT_PIECE)
        set_piece(dtype, base, first + i, values + i, hone_min_i64(n - i, HONE_ELEMENT_PIECE));
}

double hone_element_round(enum hone_dtype dtype, double value)
{
    uint64_t room = 0;
    hone_element_set(dtype, &room, 0, value);
    return hone_element_get(dtype, &room, 0);
}

double hone_element_lower(enum hone_dtype dtype, double value)
{
    static const int bits[] = {/* of the mantissa, the hidden one too */
                               [HONE_DTYPE_F16] = 4,
                               [HONE_DTYPE_BF16] = 4,
                               [HONE_DTYPE_F32] = 11,
                               [HONE_DTYPE_F64] = 24};
    int exponent = 0;
    if (!hone_dtype_is_float(dtype) || !isfinite(value) || value == 0)
        return value;
    double mantissa = frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(mantissa, bits[dtype])), exponent - bits[dtype]);
}

uint64_t hone_poison_bits(enum hone_dtype dtype, enum hone_poison poison)
{
    /* The NaNs are signalling ones: arithmetic on them makes other bits, so that only what was
     * never touched, or copied, still is the poison. */
    static const uint64_t bits[][2] = {
        [HONE_DTYPE_F16] = {0x7da5, 0x7a5a},
        [HONE_DTYPE_BF16] = {0x7fa5, 0x7e5a},
        [HONE_DTYPE_F32] = {0x7fa5a5a5, 0x7e5a5a5a},
        [HONE_DTYPE_F64] = {0x7ff5a5a5a5a5a5a5, 0x7e5a5a5a5a5a5a5a},
        [HONE_DTYPE_I8] = {0xa5, 0x5a},
        [HONE_DTYPE_I32] = {0xa5a5a5a5, 0x5a5a5a5a},
        [HONE_DTYPE_I64] = {0xa5a5a5a5a5a5a5a5, 0x5a5a5a5a5a5a5a5a},
        [HONE_DTYPE_BOOL] = {0xa5, 0x5a},
        [HONE_DTYPE_U8] = {0xa5, 0x5a},
        [HONE_DTYPE_I16] = {0xa5a5, 0x5a5a},
        [HONE_DTYPE_U16] = {0xa5a5, 0x5a5a},
        [HONE_DTYPE_U32] = {0xa5a5a5a5, 0x5a5a5a5a},
        [HONE_DTYPE_U64] = {0xa5a5a5a5a5a5a5a5, 0x5a5a5a5a5a5a5a5a},
    };
    return bits[dtype][poison];
}

/* Doubles what is there until all is: the copies run at the speed of memory. */
void hone_poison_fill(enum hone_dtype dtype, enum hone_poison poison, void *base, int64_t n)
{
    uint64_t bits = hone_poison_bits(dtype, poison);
    size_t bytes = (size_t)hone_dtype_bytes(dtype), all = (size_t)n * bytes, chunk = FILL_BYTES;
    if (n <= 0)
        return;
    memcpy(base, &bits, bytes); /* the low bytes come first on every machine that this runs on */
    for (size_t done = bytes; done < all;) {
        size_t more = done < chunk ? done : chunk;
        more = more < all - done ? more : all - done;
        memcpy((char *)base + done, base, more);
        done += more;
    }
}

bool hone_element_is(enum hone_dtype dtype, const void *base, int64_t i, uint64_t bits)
{
    switch (hone_dtype_bytes(dtype)) {
    case 1:
        return ((const uint8_t *)base)[i] == (uint8_t)bits;
    case 2:
        return ((const uint16_t *)base)[i] == (uint16_t)bits;
    case 4:
        return ((const uint32_t *)base)[i] == (uint32_t)bits;
    default:
        return ((const uint64_t *)base)[i] == bits;
    }
}

/* Blocks whose length the compiler knows become vector code. */
#define BLOCK 64
#define ANY_OF(name_, type_)                                                                       \
    static bool name_(const type_ *v, int64_t n, type_ a, type_ b)                                 \
    {                                                                                              \
        int64_t i = 0;                                                                             \
        for (; i + BLOCK <= n; i += BLOCK) {                                                       \
            type_ hits = 0;                                                                        \
            for (int k = 0; k < BLOCK; k++)                                                        \
                hits |= (type_)((v[i + k] == a) | (v[i + k] == b));                                \
            if (hits != 0)                                                                         \
                return true;                                                                       \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            if (v[i] == a || v[i] == b)                                                            \
                return true;                                                                       \
        return false;                                                                              \
    }
ANY_OF(any_of_8, uint8_t)
ANY_OF(any_of_16, uint16_t)
ANY_OF(any_of_32, uint32_t)
ANY_OF(any_of_64, uint64_t)

bool hone_element_any(enum hone_dtype dtype, const void *base, int64_t n, uint64_t bits_a,
                      uint64_t bits_b)
{
    switch (hone_dtype_bytes(dtype)) {
    case 1:
        return any_of_8(base, n, (uint8_t)bits_a, (uint8_t)bits_b);
    case 2:
        return any_of_16(base, n, (uint16_t)bits_a, (uint16_t)bits_b);
    case 4:
        return any_of_32(base, n, (uint32_t)bits_a, (uint32_t)bits_b);
    default:
        return any_of_64(base, n, bits_a, bits_b);
    }
}
