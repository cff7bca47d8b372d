/* Integers for activations. The kinds of content are real numbers made for floating point: rounded,
 * most are a handful of small integers, and all are non-zero or none. A byte then never shows a
 * table of 256 entries, a bool is always true, and 32 bits are never needed. */
#include "tools/runner/gen.h"

#include <math.h>

#define BYTES      256.0
#define FEW_BYTES  4.0  /* values 0..3 in the kinds that are small */
#define LOW_BYTES  16.0 /* below what stands out */
#define HIGH_BYTE  248.0
#define UNUSUAL    100.0 /* real values beyond it stand out in `spikes` and `rarely_large` */
#define SHARE_SEED 997.0
#define I64_SPAN   0x1p53 /* beyond it not every integer is a double, which the oracle counts in */

/* The same byte for the same real value, spread over all. */
static double byte_of(double value)
{
    return fmod(floor(fabs(value) * SHARE_SEED), BYTES);
}

static double draw_byte(enum hone_distribution dist, double u, double value)
{
    switch ((int)dist) {
    case HONE_DIST_EQUAL:
    case HONE_DIST_NEARLY:
        return byte_of(value);
    case HONE_DIST_ALTERNATING:
        return value > 0 ? BYTES - 1 : 0;
    case HONE_DIST_SORTED:
        return floor(fmin(fmax((value + 3) / 6, 0), 1) * (BYTES - 1));
    case HONE_DIST_SMALL:
    case HONE_DIST_TINY:
        return floor(FEW_BYTES * u);
    case HONE_DIST_SPIKES:
    case HONE_DIST_RARE:
        return fabs(value) > UNUSUAL ? HIGH_BYTE + floor((BYTES - HIGH_BYTE) * u)
                                     : floor(LOW_BYTES * u);
    default:
        return value == 0 ? 0 : floor(BYTES * u);
    }
}

static double draw_bool(enum hone_distribution dist, double u, double value)
{
    switch ((int)dist) {
    case HONE_DIST_EQUAL:
    case HONE_DIST_ALTERNATING:
    case HONE_DIST_SORTED:
    case HONE_DIST_NEARLY:
        return value > 0;
    case HONE_DIST_SMALL:
    case HONE_DIST_TINY:
        return u < 1.0 / 64;
    case HONE_DIST_LARGE:
        return u < 63.0 / 64;
    case HONE_DIST_SPIKES:
    case HONE_DIST_RARE:
        return fabs(value) > UNUSUAL;
    default:
        return value != 0 && u < 0.5;
    }
}

static double draw_signed(enum hone_distribution dist, double span, double u, double value)
{
    if (dist == HONE_DIST_LARGE)
        return floor(span * u) - span / 2;
    if (dist == HONE_DIST_MIXED && fabs(value) >= 1)
        return (u < 0.5 ? -1 : 1) * floor(sqrt(span) * fabs(2 * u - 1));
    return value;
}

double hone_gen_integer(enum hone_dtype dtype, enum hone_distribution dist, double u, double value)
{
    switch (dtype) {
    case HONE_DTYPE_U8:
        return draw_byte(dist, u, value);
    case HONE_DTYPE_BOOL:
        return draw_bool(dist, u, value);
    case HONE_DTYPE_I8:
        return draw_signed(dist, BYTES, u, value);
    case HONE_DTYPE_I32:
        return draw_signed(dist, 0x1p32, u, value);
    case HONE_DTYPE_I64:
        return draw_signed(dist, I64_SPAN, u, value);
    case HONE_DTYPE_F16:
    case HONE_DTYPE_BF16:
    case HONE_DTYPE_F32:
    case HONE_DTYPE_F64:
        break;
    }
    return value;
}
