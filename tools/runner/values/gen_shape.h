/* SPDX-License-Identifier: Apache-2.0 */
/* What each kind of content looks like: one text for the host (gen.c) and for the device
 * (cuda/gpu_content.cu), so that both draw the same kinds.
 *
 * An element is a pure function of (stream, number of the element, kind). The numbers themselves
 * differ between the targets: each has a counter-based generator of its own. This text is put in
 * front of the device's kernels: plain types, no includes there. HONE_SHAPE_FN is defined by those
 * who are the device. Pure; any thread. */
#ifndef HONE_RUNNER_GEN_SHAPE_H
#define HONE_RUNNER_GEN_SHAPE_H

#ifdef HONE_SHAPE_FN
#define HONE_SHAPE_IS_DEVICE
#else
#include <math.h>
#define HONE_SHAPE_FN static inline
#endif

/* Of activations, weights and positive values; the other roles have shapes of their own for some
 * kinds. Names and descriptions: kinds.c. */
enum hone_distribution {
    HONE_DIST_NORMAL, /* normal(0, 1): the one that is timed */
    HONE_DIST_UNIFORM,
    HONE_DIST_SHIFTED,
    HONE_DIST_EXPONENTIAL,
    HONE_DIST_HEAVY, /* Student t, 3 degrees of freedom */
    HONE_DIST_SMALL,
    HONE_DIST_LARGE,
    HONE_DIST_MIXED,
    HONE_DIST_OUTLIER,
    HONE_DIST_ZEROS,
    HONE_DIST_EQUAL,
    HONE_DIST_ALTERNATING,
    HONE_DIST_SORTED,
    HONE_DIST_HALVES,
    HONE_DIST_INTEGERS, /* sums are exact in float32 */
    HONE_DIST_NEGATIVE,
    HONE_DIST_TINY,
    HONE_DIST_SPIKES, /* what leaves elements out, or looks at some for all, shows */
    HONE_DIST_NEARLY, /* what takes a sample for the structure shows */
    HONE_DIST_RARE,   /* what takes a sample for plain shows */
    HONE_DIST_SPARSE,
    HONE_DIST_RELU,
    HONE_DIST_UNIT,
    HONE_DIST_CLIPPED,
    HONE_DIST_HUGE,
    HONE_DIST_WIDE,
    HONE_DIST_DENORMAL,
    HONE_DIST_ONE_HOT,
    HONE_DIST_COLUMNS,
    HONE_DIST_ROWS,
    HONE_DIST_DIAGONAL,
    HONE_DIST_TRIANGULAR,
    HONE_DIST_BYTES,
    HONE_DIST_BINARY,
    HONE_DIST_WALK,
    HONE_DIST_POWERS,
    HONE_DIST_RUNS,
    HONE_DIST_FEW,
    HONE_DIST_DESCENDING,
    HONE_DIST_CANCELLING,
    HONE_DIST_NAN,       /* where the task covers it */
    HONE_DIST_INF,       /* where the task covers it */
    HONE_DIST_EXTREME,   /* up to the type's largest number, and of any exponent */
    HONE_DIST_BORDERS,   /* what leaves elements out at borders of chunks shows */
    HONE_DIST_SCALES,    /* an axis that two tensors share is scaled up in one, down in the other */
    HONE_DIST_NEAR_ROWS, /* what takes a row for the one before it by a part of it shows */
    HONE_DIST_ALIKE,     /* normal, the same stream for every tensor */
    HONE_DIST_ONE_OTHER, /* normal, but for one tensor: never a tensor's own kind */
    HONE_DIST_MIXTURE,   /* as a tensor's own kind: another one in each block of rows */
    HONE_N_DISTS
};

/* Kinds that a block of a mixture, or the odd tensor, may be of: those that ordinary arithmetic in
 * the tensor's type gets right. Denormals are not among them: scaled up by another tensor they are
 * ordinary numbers, and a kernel that flushes them is honest where the task does not cover them. */
#define HONE_SHAPE_BIT(name_) (1ull << HONE_DIST_##name_)
#define HONE_SHAPE_MIXED                                                                           \
    (HONE_SHAPE_BIT(NORMAL) | HONE_SHAPE_BIT(UNIFORM) | HONE_SHAPE_BIT(SHIFTED) |                  \
     HONE_SHAPE_BIT(EXPONENTIAL) | HONE_SHAPE_BIT(HEAVY) | HONE_SHAPE_BIT(SMALL) |                 \
     HONE_SHAPE_BIT(LARGE) | HONE_SHAPE_BIT(MIXED) | HONE_SHAPE_BIT(OUTLIER) |                     \
     HONE_SHAPE_BIT(ZEROS) | HONE_SHAPE_BIT(EQUAL) | HONE_SHAPE_BIT(SORTED) |                      \
     HONE_SHAPE_BIT(INTEGERS) | HONE_SHAPE_BIT(NEGATIVE) | HONE_SHAPE_BIT(TINY) |                  \
     HONE_SHAPE_BIT(SPARSE) | HONE_SHAPE_BIT(RELU) | HONE_SHAPE_BIT(UNIT) |                        \
     HONE_SHAPE_BIT(CLIPPED) | HONE_SHAPE_BIT(WIDE) | HONE_SHAPE_BIT(ONE_HOT) |                    \
     HONE_SHAPE_BIT(COLUMNS) | HONE_SHAPE_BIT(ROWS) | HONE_SHAPE_BIT(BYTES) |                      \
     HONE_SHAPE_BIT(BINARY) | HONE_SHAPE_BIT(WALK) | HONE_SHAPE_BIT(POWERS) |                      \
     HONE_SHAPE_BIT(RUNS) | HONE_SHAPE_BIT(FEW) | HONE_SHAPE_BIT(DESCENDING) |                     \
     HONE_SHAPE_BIT(CANCELLING) | HONE_SHAPE_BIT(BORDERS) | HONE_SHAPE_BIT(NEAR_ROWS))

struct hone_shape { /* one tensor */
    unsigned long long key, stream;
    const float *quantile; /* host: of the normal, at HONE_SHAPE_KNOTS + 1 places; device: none */
    unsigned long long shared; /* the same for all tensors of a call */
    long long n, row;          /* elements; of the last dimension */
    long long depth;           /* of the dimension before it; 1: there is none */
    long long bound;           /* of an index; total of offsets */
    long long kind;
    long long is_weight, is_positive;
    long long is_bits;  /* an integer of any bits */
    long long triangle; /* HONE_TRIANGLE_* */
    double density;     /* of a mask; 0: a half */
    long long scaled;   /* HONE_SCALED_* */
    long long sign;     /* of the exponents of scales: 1, or -1 for the other tensor of two */
    long long reach;    /* the largest of them */
    double low, high;   /* range of an integer type; both 0: floating point */
    double least, most; /* the smallest normal number of a floating type, and its largest */
    double scale;       /* weights; else 1 */
    double unit, shift; /* what the pack makes of ordinary values; unit 0: nothing */
};

#define HONE_SHAPE_KNOTS  2048
#define HONE_SHAPE_GOLDEN 0x9e3779b97f4a7c15ull
#define HONE_SHAPE_SPIKES 256 /* of a tensor, about */

enum { /* draws of one element that do not depend on each other */
       HONE_SALT_FIRST,
       HONE_SALT_B,
       HONE_SALT_C,
       HONE_SALT_D,
       HONE_SALT_PLACE,
       HONE_SALT_BLOCK,
       HONE_SALT_TENSOR /* elements are properties of the whole tensor */
};
enum { HONE_OF_EQUAL, HONE_OF_MODE, HONE_OF_SHARE, HONE_OF_SIZE, HONE_OF_PLACE, HONE_OF_LENGTH };

enum { HONE_TRIANGLE_NONE, HONE_TRIANGLE_LOWER, HONE_TRIANGLE_UPPER };
enum { HONE_SCALED_ROWS, HONE_SCALED_DEPTH, HONE_SCALED_COLUMNS }; /* by what `scales` scales */

struct hone_shape_words {
    unsigned long long a, b;
};

HONE_SHAPE_FN unsigned long long hone_shape_mix(unsigned long long z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

#ifdef HONE_SHAPE_IS_DEVICE
/* Philox4x32-10: number i of stream s under a key (workspace/base/rng.h). */
HONE_SHAPE_FN struct hone_shape_words hone_shape_draw(const struct hone_shape *s, long long i,
                                                      unsigned salt)
{
    unsigned long long at = (unsigned long long)i + ((unsigned long long)salt << 56);
    unsigned k0 = (unsigned)s->key, k1 = (unsigned)(s->key >> 32);
    unsigned x = (unsigned)at, y = (unsigned)(at >> 32);
    unsigned z = (unsigned)s->stream, w = (unsigned)(s->stream >> 32);
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xD2511F53ull * x, b = 0xCD9E8D57ull * z;
        unsigned y0 = y, w0 = w;
        x = (unsigned)(b >> 32) ^ y0 ^ k0;
        y = (unsigned)b;
        z = (unsigned)(a >> 32) ^ w0 ^ k1;
        w = (unsigned)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct hone_shape_words words;
    words.a = (unsigned long long)x << 32 | y;
    words.b = (unsigned long long)z << 32 | w;
    return words;
}
#else
static inline struct hone_shape_words hone_shape_draw(const struct hone_shape *s, long long i,
                                                      unsigned salt)
{
    unsigned long long start =
        salt == 0 ? s->stream : hone_shape_mix(s->stream ^ (salt * HONE_SHAPE_GOLDEN));
    struct hone_shape_words words;
    words.a = hone_shape_mix(start + (unsigned long long)i * HONE_SHAPE_GOLDEN);
    words.b = hone_shape_mix(words.a ^ HONE_SHAPE_GOLDEN);
    return words;
}
#endif

HONE_SHAPE_FN unsigned long long hone_shape_word(const struct hone_shape *s, long long i,
                                                 unsigned salt)
{
    return hone_shape_draw(s, i, salt).a;
}

HONE_SHAPE_FN double hone_shape_fraction(unsigned long long word) /* 0 < u < 1, 53 bits */
{
    return ((double)(word >> 11) + 0.5) * 1.1102230246251565e-16;
}

HONE_SHAPE_FN double hone_shape_unit(const struct hone_shape *s, long long i, unsigned salt)
{
    return hone_shape_fraction(hone_shape_word(s, i, salt));
}

/* The inverse distribution function, tabled and interpolated; on a device by Box and Muller, which
 * needs no table. */
HONE_SHAPE_FN double hone_shape_normal(const struct hone_shape *s, long long i, unsigned salt)
{
    struct hone_shape_words z = hone_shape_draw(s, i, salt);
    if (s->quantile == 0)
        return sqrt(-2 * log(hone_shape_fraction(z.a))) *
               cos(6.283185307179586 * hone_shape_fraction(z.b));
    unsigned long long cell = z.a >> 53;
    double part = (double)(z.a & ((1ull << 53) - 1)) * 1.1102230246251565e-16;
    double low = (double)s->quantile[cell], high = (double)s->quantile[cell + 1];
    return low + part * (high - low);
}

HONE_SHAPE_FN unsigned long long hone_shape_of(const struct hone_shape *s, int what)
{
    return hone_shape_word(s, what, HONE_SALT_TENSOR);
}

HONE_SHAPE_FN double hone_shape_from_bits(unsigned long long bits)
{
    union {
        unsigned long long u;
        double d;
    } v;
    v.u = bits;
    return v.d;
}

HONE_SHAPE_FN double hone_shape_power(int exponent) /* of 2, exactly; -1022 to 1023 */
{
    return hone_shape_from_bits((unsigned long long)(1023 + exponent) << 52);
}

HONE_SHAPE_FN long long hone_shape_modulo(unsigned long long word, long long n)
{
    return n > 0 ? (long long)(word % (unsigned long long)n) : 0;
}

/* One element in eight where a tensor is small. */
HONE_SHAPE_FN int hone_shape_is_odd_one(const struct hone_shape *s, long long i,
                                        unsigned long long z)
{
    long long room = s->n > 8 * HONE_SHAPE_SPIKES ? s->n : 8 * HONE_SHAPE_SPIKES;
    return i == s->n - 1 || hone_shape_modulo(z, room) < HONE_SHAPE_SPIKES;
}

/* One for certain, two more on average. */
HONE_SHAPE_FN int hone_shape_is_rare(const struct hone_shape *s, long long i, unsigned long long z)
{
    return i == hone_shape_modulo(hone_shape_of(s, HONE_OF_PLACE), s->n) ||
           hone_shape_modulo(z, s->n) < 2;
}

HONE_SHAPE_FN double hone_shape_large(unsigned long long z, double size) /* size to twice that */
{
    double value = size * (1 + (double)(z >> 40) * 5.9604644775390625e-8);
    return (z >> 39 & 1) != 0 ? value : -value;
}

HONE_SHAPE_FN double hone_shape_equal(const struct hone_shape *s)
{
    return hone_shape_normal(s, HONE_OF_EQUAL, HONE_SALT_TENSOR);
}

/* Exact zeros: single elements, patches of 16 by 16 or whole rows; half, nine in ten or
 * 99 of 100. */
HONE_SHAPE_FN double hone_shape_sparse(const struct hone_shape *s, long long i)
{
    long long row = i / s->row, column = i % s->row, wide = (s->row + 15) / 16;
    long long mode = hone_shape_modulo(hone_shape_of(s, HONE_OF_MODE), 3),
              share = hone_shape_modulo(hone_shape_of(s, HONE_OF_SHARE), 3);
    long long at = mode == 0 ? i : mode == 1 ? row / 16 * wide + column / 16 : row;
    double zeros = share == 0 ? 0.5 : share == 1 ? 0.9 : 0.99;
    return hone_shape_unit(s, at, HONE_SALT_PLACE) < zeros
               ? 0
               : hone_shape_normal(s, i, HONE_SALT_FIRST);
}

/* Noise of five octaves: neighbours are near each other, and the level drifts. */
HONE_SHAPE_FN double hone_shape_walk(const struct hone_shape *s, long long i)
{
    double sum = 0;
    for (int octave = 0; octave < 5; octave++) {
        long long period = 1ll << (3 * octave), cell = i / period;
        double part = (double)(i % period) / (double)period;
        double low = hone_shape_normal(s, cell, HONE_SALT_B + (unsigned)octave % 3),
               high = hone_shape_normal(s, cell + 1, HONE_SALT_B + (unsigned)octave % 3);
        sum += hone_shape_power(octave) * 0.125 * (low + part * (high - low));
    }
    return sum;
}

/* One to four elements or so, or one in 64, are what normal numbers are not. */
HONE_SHAPE_FN int hone_shape_is_special(const struct hone_shape *s, long long i)
{
    unsigned long long z = hone_shape_draw(s, i, HONE_SALT_FIRST).b;
    int is_frequent = (hone_shape_of(s, HONE_OF_MODE) & 1) != 0;
    return hone_shape_is_rare(s, i, z) || (is_frequent && (z >> 20) % 64 == 0);
}

HONE_SHAPE_FN double hone_shape_denormal(const struct hone_shape *s, long long i)
{
    unsigned long long z = hone_shape_draw(s, i, HONE_SALT_FIRST).b;
    double value = z % 4 == 0 ? 0 : s->least * hone_shape_unit(s, i, HONE_SALT_FIRST);
    return z % 16 == 8 ? value : (z >> 8 & 1) != 0 || z % 4 == 0 ? -value : value;
}

/* 1e5 to 1e12, the same for the whole tensor; no more than the type holds. */
HONE_SHAPE_FN double hone_shape_huge(const struct hone_shape *s, double normal)
{
    double size = pow(10.0, 5 + 7 * hone_shape_fraction(hone_shape_of(s, HONE_OF_SIZE)));
    return fmin(fmax(fmin(size, s->most / 8) * normal, -s->most), s->most);
}

/* Row by row: one that lies far below all others (masked scores), one with single elements as far
 * away, or plain ones; now and then a tensor of any exponent that the type has. */
HONE_SHAPE_FN double hone_shape_extreme(const struct hone_shape *s, long long i)
{
    struct hone_shape_words z = hone_shape_draw(s, i, HONE_SALT_FIRST);
    double u = hone_shape_fraction(z.a), far = pow(s->most, 0.8 + 0.17 * u);
    long long mode = hone_shape_modulo(hone_shape_word(s, i / s->row, HONE_SALT_PLACE), 4);
    double sign = (z.b & 1) != 0 ? 1 : -1;
    if (hone_shape_modulo(hone_shape_of(s, HONE_OF_MODE), 4) == 3)
        return sign * exp2(log2(s->least) + (log2(s->most) - log2(s->least)) * u);
    if (mode == 0)
        return -far;
    if (mode == 1 && (z.b >> 8) % 16 == 0)
        return sign * far;
    return hone_shape_normal(s, i, HONE_SALT_FIRST);
}

/* Is a place of n beside a multiple of a length of which 4 to 64 make up n, where n is large: a power
 * of two, or one times a small odd number? */
HONE_SHAPE_FN int hone_shape_is_beside(unsigned long long word, long long odd, long long at,
                                       long long n)
{
    long long power = 8, length = odd;
    while (power < n / 4)
        power *= 2;
    for (long long k = hone_shape_modulo(word, 5); k > 0 && power > 8; k--)
        power /= 2;
    while (length < power)
        length *= 2;
    return at % length <= 1 || at % length == length - 1;
}

/* Is it where one of so many equal shares of n begins or ends, however these are rounded? */
HONE_SHAPE_FN int hone_shape_is_share(unsigned long long word, long long at, long long n)
{
    long long parts = (word & 1) != 0 ? 24 : 16 + 2 * hone_shape_modulo(word >> 1, 9);
    long long width = n >= 2048 ? 3 : n / 512, rest = at * parts % n;
    return rest <= width * parts || rest >= n - width * parts;
}

/* Is this place of a stripe (a row, or the rows of a matrix) at a border of chunks, or one of three
 * by chance? All of that where stripes are few, else one of it a stripe. */
HONE_SHAPE_FN int hone_shape_is_border(const struct hone_shape *s, long long stripe, long long at,
                                       long long n)
{
    struct hone_shape_words z = hone_shape_draw(s, stripe, HONE_SALT_PLACE);
    long long mode = hone_shape_modulo(z.a >> 60, 4), odd = 3 + 2 * (long long)(z.b & 1);
    int has_all = s->n / n < 8;
    int is_border = at == hone_shape_modulo(z.a, n) || at == hone_shape_modulo(z.b >> 3, n) ||
                    at == hone_shape_modulo(z.a ^ z.b, n);
    if (has_all || mode == 0)
        is_border = is_border || hone_shape_is_beside(z.b >> 8, 1, at, n);
    if (has_all || mode == 1)
        is_border = is_border || hone_shape_is_share(z.b >> 16, at, n);
    if (mode == 2)
        is_border = is_border || hone_shape_is_beside(z.b >> 24, (z.b & 2) != 0 ? 125 : odd, at, n);
    return is_border;
}

/* Nearly nothing but a few elements that carry each sum: of each row, or of each column. */
HONE_SHAPE_FN double hone_shape_borders(const struct hone_shape *s, long long i, double normal)
{
    unsigned long long mode = hone_shape_of(s, HONE_OF_MODE);
    double size = 8 * pow(128.0, hone_shape_fraction(hone_shape_of(s, HONE_OF_SIZE)));
    long long row = i / s->row;
    int is_whole_row = s->depth > 1 && ((mode & 1) != 0 || s->row == 1); /* of a matrix */
    if (is_whole_row && hone_shape_is_border(s, row / s->depth, row % s->depth, s->depth))
        return size * normal;
    if (!is_whole_row && hone_shape_is_border(s, row, i % s->row, s->row))
        return (mode & 2) != 0 ? size : size * (1 + hone_shape_unit(s, i, HONE_SALT_B));
    return 1e-3 * normal;
}

/* What is multiplied and summed over the shared axis is as large as ever. */
HONE_SHAPE_FN double hone_shape_scales(const struct hone_shape *s, long long i, double normal)
{
    long long row = i / s->row;
    long long at = s->scaled == HONE_SCALED_COLUMNS ? i % s->row
                   : s->scaled == HONE_SCALED_DEPTH ? row % s->depth
                                                    : row;
    unsigned long long z = hone_shape_mix(s->shared + (unsigned long long)at * HONE_SHAPE_GOLDEN);
    long long exponent = (z >> 63) != 0 ? s->reach : -s->reach;
    if ((s->shared & 1) != 0)
        exponent = hone_shape_modulo(z, 2 * s->reach + 1) - s->reach;
    return normal * hone_shape_power((int)(s->sign * exponent));
}

/* A row, or a whole matrix, that is the one before it but for one to three elements of each. */
HONE_SHAPE_FN double hone_shape_near_rows(const struct hone_shape *s, long long i)
{
    long long matrix = s->row * s->depth, length = s->row;
    if (s->n > matrix && (s->shared & 1) != 0) /* in all tensors of a call */
        length = matrix;
    if (s->n / length < 2)
        length = s->n / 16 + 1;
    long long at = i % length;
    struct hone_shape_words z = hone_shape_draw(s, i / length, HONE_SALT_BLOCK);
    double value = hone_shape_normal(s, at, HONE_SALT_PLACE);
    int is_other = at == hone_shape_modulo(z.a >> 8, length) ||
                   ((z.a & 1) != 0 && at == hone_shape_modulo(z.b >> 8, length)) ||
                   ((z.a & 2) != 0 && at == hone_shape_modulo((z.a ^ z.b) >> 8, length));
    if (!is_other || ((s->shared & 2) != 0 && (z.a & 28) != 0)) /* or of one in eight */
        return value;
    return (z.b & 1) != 0 ? -value : hone_shape_large(z.b, (z.b & 2) != 0 ? 300 : 2);
}

/* Kinds that say how large numbers are. */
HONE_SHAPE_FN double hone_shape_sized(const struct hone_shape *s, long long kind, long long i)
{
    struct hone_shape_words z = hone_shape_draw(s, i, HONE_SALT_FIRST);
    double u = hone_shape_fraction(z.a), v = hone_shape_normal(s, i, HONE_SALT_FIRST);
    switch (kind) {
    case HONE_DIST_UNIFORM:
        return 2 * u - 1;
    case HONE_DIST_SHIFTED:
        return 3 + v;
    case HONE_DIST_EXPONENTIAL:
        return -log(u);
    case HONE_DIST_HEAVY: {
        double b = hone_shape_normal(s, i, HONE_SALT_B), c = hone_shape_normal(s, i, HONE_SALT_C),
               d = hone_shape_normal(s, i, HONE_SALT_D);
        return v / sqrt(fmax((b * b + c * c + d * d) / 3, 1e-4));
    }
    case HONE_DIST_SMALL:
        return 1e-3 * v;
    case HONE_DIST_LARGE:
        return 64 * v;
    case HONE_DIST_MIXED:
        return v * ((z.b & 64) != 0 ? 1e3 : 1e-3);
    case HONE_DIST_OUTLIER:
        return v * (z.b % 256 == 0 ? 1e3 : 1);
    case HONE_DIST_NEGATIVE:
        return -100 + v;
    case HONE_DIST_TINY:
        return 1e-9 * v;
    case HONE_DIST_SPIKES:
        return hone_shape_is_odd_one(s, i, z.b) ? hone_shape_large(z.b, 1e3) : 1e-3 * v;
    case HONE_DIST_NEARLY:
        return hone_shape_equal(s) - (hone_shape_is_odd_one(s, i, z.b) ? 2 + fabs(v) : 0);
    case HONE_DIST_RARE:
        return hone_shape_is_rare(s, i, z.b) ? hone_shape_large(z.b, 300) : v;
    case HONE_DIST_UNIT:
        return u;
    case HONE_DIST_CLIPPED:
        return fmin(fmax(2 * v, -1.0), 1.0);
    case HONE_DIST_HUGE:
        return hone_shape_huge(s, v);
    case HONE_DIST_WIDE:
        return ((z.b & 1) != 0 ? 1 : -1) * fmin(1e7, s->most) * pow(10.0, -2 * u);
    case HONE_DIST_DENORMAL:
        return hone_shape_denormal(s, i);
    case HONE_DIST_EXTREME:
        return hone_shape_extreme(s, i);
    case HONE_DIST_BORDERS:
        return hone_shape_borders(s, i, v);
    case HONE_DIST_SCALES:
        return hone_shape_scales(s, i, v);
    case HONE_DIST_NEAR_ROWS:
        return hone_shape_near_rows(s, i);
    default:
        return v;
    }
}

/* Kinds that say where which number is. */
HONE_SHAPE_FN double hone_shape_placed(const struct hone_shape *s, long long kind, long long i)
{
    struct hone_shape_words z = hone_shape_draw(s, i, HONE_SALT_FIRST);
    long long row = i / s->row, column = i % s->row;
    double u = hone_shape_fraction(z.a), v = hone_shape_normal(s, i, HONE_SALT_FIRST);
    switch (kind) {
    case HONE_DIST_ZEROS:
        return 0;
    case HONE_DIST_EQUAL:
        return hone_shape_equal(s);
    case HONE_DIST_ALTERNATING:
        return i % 2 == 0 ? 1 : -1;
    case HONE_DIST_SORTED:
        return -3 + 6 * ((double)i + u) / (double)s->n;
    case HONE_DIST_DESCENDING:
        return 3 - 6 * ((double)i + u) / (double)s->n;
    case HONE_DIST_HALVES:
        return i < s->n / 2 ? 0 : 64 * v;
    case HONE_DIST_INTEGERS:
        return s->is_weight ? floor(7 * u) - 3 : floor(2047 * u) - 1023;
    case HONE_DIST_SPARSE:
        return hone_shape_sparse(s, i);
    case HONE_DIST_RELU:
        return fmax(v, 0.0);
    case HONE_DIST_ONE_HOT:
        return column == hone_shape_modulo(hone_shape_word(s, row, HONE_SALT_PLACE), s->row);
    case HONE_DIST_COLUMNS:
        return hone_shape_normal(s, column, HONE_SALT_PLACE);
    case HONE_DIST_ROWS:
        return hone_shape_normal(s, row, HONE_SALT_PLACE);
    case HONE_DIST_DIAGONAL:
        return row % s->row == column ? v : 0;
    case HONE_DIST_TRIANGULAR:
        return column <= row % s->row ? v : 0;
    case HONE_DIST_BYTES:
        return floor(256 * u);
    case HONE_DIST_BINARY:
        return (double)(z.b & 1);
    case HONE_DIST_WALK:
        return hone_shape_walk(s, i);
    case HONE_DIST_POWERS:
        return hone_shape_power((int)(z.b >> 8 & 15) - 8) * ((z.b & 1) != 0 ? 1 : -1);
    case HONE_DIST_RUNS:
        return hone_shape_normal(
            s, i / (2 + hone_shape_modulo(hone_shape_of(s, HONE_OF_LENGTH), 255)), HONE_SALT_PLACE);
    case HONE_DIST_FEW: {
        long long n_values = 2 + hone_shape_modulo(hone_shape_of(s, HONE_OF_LENGTH), 7);
        return hone_shape_normal(s, hone_shape_modulo(z.b, n_values), HONE_SALT_PLACE);
    }
    case HONE_DIST_CANCELLING:
        return i % 2 == 0 ? v : -hone_shape_normal(s, i - 1, HONE_SALT_FIRST);
    case HONE_DIST_NAN:
        return hone_shape_is_special(s, i) ? hone_shape_from_bits(0x7ff8000000000000ull) : v;
    case HONE_DIST_INF: {
        double infinity = hone_shape_from_bits(0x7ff0000000000000ull);
        return hone_shape_is_special(s, i) ? ((z.b & 1) != 0 ? infinity : -infinity) : v;
    }
    default:
        return hone_shape_sized(s, kind, i);
    }
}

/* The n-th of the kinds that may be mixed, for any number. */
HONE_SHAPE_FN long long hone_shape_pick(unsigned long long word)
{
    unsigned long long left = HONE_SHAPE_MIXED;
    long long n = 0, kind = 0;
    for (unsigned long long bits = left; bits != 0; bits &= bits - 1)
        n++;
    for (long long skip = hone_shape_modulo(word, n); skip > 0; skip--)
        left &= left - 1;
    while ((left >> kind & 1) == 0)
        kind++;
    return kind;
}

/* Elements of a block of a tensor that is a mixture: so many rows, or a part of the elements where
 * there are few rows. */
HONE_SHAPE_FN long long hone_shape_block(const struct hone_shape *s)
{
    long long n_rows = s->n / s->row, shift = 0;
    unsigned long long mode = hone_shape_of(s, HONE_OF_MODE);
    shift = (long long)(mode % 4) * 2; /* 1, 4, 16 or 64 rows */
    while (shift > 0 && n_rows >> shift < 4)
        shift--;
    return n_rows >= 4 ? s->row << shift : s->n / 16 + 1;
}

/* A block is of one kind. */
HONE_SHAPE_FN long long hone_shape_block_kind(const struct hone_shape *s, long long i)
{
    return hone_shape_pick(hone_shape_word(s, i / hone_shape_block(s), HONE_SALT_BLOCK));
}

/* The first element behind the block that holds element i. */
HONE_SHAPE_FN long long hone_shape_block_end(const struct hone_shape *s, long long i)
{
    long long block = hone_shape_block(s);
    return (i / block + 1) * block;
}

HONE_SHAPE_FN int hone_shape_is_exact(long long kind) /* a weight's scale leaves it alone */
{
    return kind == HONE_DIST_INTEGERS || kind == HONE_DIST_BYTES || kind == HONE_DIST_BINARY ||
           kind == HONE_DIST_ONE_HOT || kind == HONE_DIST_DENORMAL;
}

HONE_SHAPE_FN int hone_shape_is_small(long long kind) /* positive values are as small */
{
    return kind == HONE_DIST_SMALL || kind == HONE_DIST_TINY || kind == HONE_DIST_UNIT ||
           kind == HONE_DIST_BORDERS || kind == HONE_DIST_SCALES;
}

HONE_SHAPE_FN int hone_shape_keeps(long long kind) /* no unit makes other numbers of these */
{
    return kind == HONE_DIST_NAN || kind == HONE_DIST_INF || kind == HONE_DIST_DENORMAL ||
           kind == HONE_DIST_EXTREME;
}

/* Few numbers, or any bits are asked for. */
HONE_SHAPE_FN int hone_shape_is_byte(const struct hone_shape *s)
{
    return s->high - s->low + 1 <= 256 || s->is_bits;
}

/* Is an integer drawn from its type's whole range: where the kind is large, and in the plain kinds as
 * well for types that have few numbers and where the role asks for any bits? */
HONE_SHAPE_FN int hone_shape_is_whole(const struct hone_shape *s, long long kind)
{
    int is_plain = kind == HONE_DIST_NORMAL || kind == HONE_DIST_UNIFORM || kind == HONE_DIST_LARGE;
    return kind == HONE_DIST_HUGE || kind == HONE_DIST_WIDE || (hone_shape_is_byte(s) && is_plain);
}

/* An element of an integer type, before it is held to the type's range. */
HONE_SHAPE_FN double hone_shape_integer(const struct hone_shape *s, long long kind, long long i)
{
    double range = s->high - s->low + 1;
    kind = kind == HONE_DIST_SCALES ? HONE_DIST_NORMAL : kind; /* there is one scale */
    int is_byte = hone_shape_is_byte(s);
    double value = hone_shape_is_whole(s, kind)
                       ? s->low + floor(range * hone_shape_unit(s, i, HONE_SALT_FIRST))
                       : hone_shape_placed(s, kind, i);
    if (!is_byte && s->low == 0) /* unsigned: half of the numbers would be zeros */
        value = fabs(value);
    if (is_byte && kind == HONE_DIST_SORTED)
        value = s->low + floor(range * (double)i / (double)s->n);
    if (is_byte && kind == HONE_DIST_DESCENDING)
        value = s->high - floor(range * (double)i / (double)s->n);
    if (is_byte && kind == HONE_DIST_EXPONENTIAL) /* dark pixels, few bright ones */
        value = s->low + 32 * value;
    if (s->unit != 0)
        value = floor(value * s->unit + s->shift);
    return value;
}

HONE_SHAPE_FN double hone_shape_hold(double value, double low, double high)
{
    value = value > low ? value : low; /* NaN becomes the least */
    return value < high ? value : high;
}

HONE_SHAPE_FN double hone_shape_signed(double size, double sign)
{
    return sign < 0 ? -size : size;
}

/* What the place of an element in a triangular matrix makes of any value; of its own results the
 * same. NaN becomes a number. */
HONE_SHAPE_FN double hone_shape_fit_triangle(long long triangle, long long row, long long depth,
                                             long long i, double value)
{
    long long column = i % row, line = i / row % depth, n = row > depth ? row : depth;
    double size = fabs(value);
    if (triangle == HONE_TRIANGLE_LOWER ? column > line : column < line)
        return 0;
    if (column == line)
        return hone_shape_signed(fmin(fmax(size, 0.5), 2.0), value);
    return hone_shape_signed(fmin(fmax(size, 0.0), 1.0 / (double)n), value);
}

HONE_SHAPE_FN double hone_shape_triangle(const struct hone_shape *s, long long i, double value)
{
    long long line = i / s->row % s->depth, n = s->row > s->depth ? s->row : s->depth;
    double size = fabs(value);
    int is_diagonal = i % s->row == line;
    return hone_shape_fit_triangle(s->triangle, s->row, s->depth, i,
                                   is_diagonal ? hone_shape_signed(0.5 + size, value)
                                               : value / (4.0 * (double)n));
}

/* An element of a floating type. */
HONE_SHAPE_FN double hone_shape_real(const struct hone_shape *s, long long kind, long long i)
{
    if (s->is_positive && kind == HONE_DIST_NAN)
        kind = HONE_DIST_NORMAL;
    double value = hone_shape_placed(s, kind, i);
    if (s->triangle != HONE_TRIANGLE_NONE)
        return hone_shape_triangle(s, i, value);
    if (!hone_shape_is_exact(kind))
        value *= s->scale;
    if (s->is_positive && hone_shape_is_small(kind))
        value = fmax(fabs(value), s->least);
    else if (s->is_positive)
        value = fabs(value) + 0.0625;
    return s->unit != 0 && !hone_shape_keeps(kind) ? value * s->unit + s->shift : value;
}

/* Element i of an activation, a weight, a positive or a triangular tensor. */
HONE_SHAPE_FN double hone_shape_value(const struct hone_shape *s, long long i)
{
    long long kind = s->kind == HONE_DIST_MIXTURE ? hone_shape_block_kind(s, i) : s->kind;
    return s->high > s->low ? hone_shape_hold(hone_shape_integer(s, kind, i), s->low, s->high)
                            : hone_shape_real(s, kind, i);
}

#endif
