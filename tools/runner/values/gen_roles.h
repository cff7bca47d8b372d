/* SPDX-License-Identifier: Apache-2.0 */
/* Content of the roles whose elements are no free numbers: indexes, offsets, masks, probabilities.
 * One text for host and device, behind gen_shape.h. Pure; any thread. */
#ifndef HONE_RUNNER_GEN_ROLES_H
#define HONE_RUNNER_GEN_ROLES_H

#ifndef HONE_SHAPE_IS_DEVICE /* there the text of that file stands in front of this one */
#include "tools/runner/values/gen_shape.h"
#endif

/* Element i of an index. */
HONE_SHAPE_FN double hone_shape_index(const struct hone_shape *s, long long i)
{
    struct hone_shape_words z = hone_shape_draw(s, i, HONE_SALT_FIRST);
    double bound = (double)s->bound, u = hone_shape_fraction(z.a), value = floor(bound * u);
    double in_order = floor(bound * ((double)i / (double)s->n));
    double one = floor(bound * hone_shape_fraction(hone_shape_of(s, HONE_OF_PLACE)));
    switch (s->kind) {
    case HONE_DIST_SORTED:
        value = in_order;
        break;
    case HONE_DIST_DESCENDING:
        value = bound - 1 - in_order;
        break;
    case HONE_DIST_OUTLIER:
    case HONE_DIST_EQUAL:
        value = one;
        break;
    case HONE_DIST_ALTERNATING:
        value = i % 2 == 0 ? 0 : bound - 1;
        break;
    case HONE_DIST_ONE_HOT:
        value = 0;
        break;
    case HONE_DIST_NEGATIVE:
        value = bound - 1;
        break;
    case HONE_DIST_UNIT: /* one line of a cache */
        value = floor(fmin(bound, 16.0) * u);
        break;
    case HONE_DIST_BYTES:
        value = floor(fmin(bound, 256.0) * u);
        break;
    case HONE_DIST_FEW:
        value = floor(bound * hone_shape_unit(s, (long long)(z.b % 3), HONE_SALT_PLACE));
        break;
    case HONE_DIST_RUNS:
        value = floor(bound * hone_shape_unit(s, i / 7, HONE_SALT_PLACE));
        break;
    case HONE_DIST_CANCELLING: /* each twice, side by side */
        value = floor(bound * hone_shape_unit(s, i / 2, HONE_SALT_PLACE));
        break;
    case HONE_DIST_DIAGONAL: /* each names itself */
        value = (double)hone_shape_modulo((unsigned long long)i, s->bound);
        break;
    case HONE_DIST_COLUMNS:
        value = (double)hone_shape_modulo((unsigned long long)(i % s->row), s->bound);
        break;
    case HONE_DIST_WALK: /* near each other */
        value = in_order + floor(9 * u) - 4;
        break;
    case HONE_DIST_EXPONENTIAL: /* few are named by many */
        value = floor(bound * u * u * u * u);
        break;
    case HONE_DIST_SHIFTED: /* nine in ten name one */
        value = z.b % 10 != 0 ? one : value;
        break;
    default:
        break;
    }
    return fmin(fmax(value, 0.0), fmax(bound - 1, 0.0));
}

/* What element i of offsets lies beyond the one before it, in some unit; i > 0. */
HONE_SHAPE_FN double hone_shape_gap(const struct hone_shape *s, long long i)
{
    unsigned long long z = hone_shape_draw(s, i, HONE_SALT_FIRST).b;
    double gap = -log(hone_shape_unit(s, i, HONE_SALT_FIRST));
    switch (s->kind) {
    case HONE_DIST_HEAVY: /* a few rows hold nearly everything */
        return pow(gap, 4.0);
    case HONE_DIST_LARGE:
        return pow(gap, 16.0);
    case HONE_DIST_MIXED: /* every second one is empty */
        return i % 2 == 0 ? gap : 0;
    case HONE_DIST_SMALL: /* the first half is */
        return i <= s->n / 2 ? 0 : gap;
    case HONE_DIST_HALVES: /* the second half is */
        return i > s->n / 2 ? 0 : gap;
    case HONE_DIST_EQUAL:
    case HONE_DIST_ROWS:
        return 1;
    case HONE_DIST_TINY: /* all in the last */
        return i == s->n - 1;
    case HONE_DIST_CLIPPED: /* all in the first */
        return i == 1;
    case HONE_DIST_CANCELLING: /* all in one */
        return i == 1 + hone_shape_modulo(hone_shape_of(s, HONE_OF_PLACE), s->n - 1);
    case HONE_DIST_UNIT: /* the first and the last are empty */
        return i == 1 || i == s->n - 1 ? 0 : gap;
    case HONE_DIST_SPARSE:
        return z % 10 != 0 ? 0 : gap;
    case HONE_DIST_SORTED:
        return (double)i;
    case HONE_DIST_DESCENDING:
        return (double)(s->n - i);
    case HONE_DIST_FEW:
        return (double)(1 + 3 * (z & 1));
    case HONE_DIST_POWERS:
        return hone_shape_power((int)(z % 12));
    default:
        return gap;
    }
}

HONE_SHAPE_FN int hone_shape_is_one(const struct hone_shape *s, unsigned long long word)
{
    return s->density > 0 ? hone_shape_fraction(word) < s->density : (word >> 63) != 0;
}

/* Element i of a mask. */
HONE_SHAPE_FN int hone_shape_mask(const struct hone_shape *s, long long i)
{
    struct hone_shape_words z = hone_shape_draw(s, i, HONE_SALT_FIRST);
    long long row = i / s->row, column = i % s->row;
    switch (s->kind) {
    case HONE_DIST_ZEROS:
        return 0;
    case HONE_DIST_EQUAL:
    case HONE_DIST_UNIT:
        return 1;
    case HONE_DIST_ONE_HOT:
        return column == hone_shape_modulo(hone_shape_word(s, row, HONE_SALT_PLACE), s->row);
    case HONE_DIST_SPARSE:
        return z.b % 100 == 0;
    case HONE_DIST_OUTLIER: /* the last alone */
        return i == s->n - 1;
    case HONE_DIST_NEARLY:
        return !hone_shape_is_odd_one(s, i, z.b);
    case HONE_DIST_HALVES:
        return i >= s->n / 2;
    case HONE_DIST_SORTED: /* the first of each row, fewer from row to row */
        return column < hone_shape_modulo(hone_shape_word(s, row, HONE_SALT_PLACE), s->row + 1);
    case HONE_DIST_TRIANGULAR:
        return column <= row % s->row;
    case HONE_DIST_DESCENDING:
        return column >= row % s->row;
    case HONE_DIST_DIAGONAL:
        return column == row % s->row;
    case HONE_DIST_ALTERNATING:
        return i % 2 == 0;
    case HONE_DIST_COLUMNS:
        return hone_shape_is_one(s, hone_shape_word(s, column, HONE_SALT_PLACE));
    case HONE_DIST_ROWS:
        return hone_shape_is_one(s, hone_shape_word(s, row, HONE_SALT_PLACE));
    case HONE_DIST_RUNS:
        return hone_shape_is_one(s, hone_shape_word(s, i / 16, HONE_SALT_PLACE));
    default:
        return hone_shape_is_one(s, z.a);
    }
}

/* The same of a mask that is added: each row sees one element at least. */
HONE_SHAPE_FN double hone_shape_fit_added(long long row, long long depth, long long i, int is_seen)
{
    return is_seen || i % row == i / row % depth % row
               ? 0
               : hone_shape_from_bits(0xfff0000000000000ull);
}

HONE_SHAPE_FN double hone_shape_added(const struct hone_shape *s, long long i)
{
    return hone_shape_fit_added(s->row, s->depth, i, hone_shape_mask(s, i));
}

/* Element i of a row of probabilities, before the row is divided by its sum. */
HONE_SHAPE_FN double hone_shape_share(const struct hone_shape *s, long long i)
{
    unsigned long long z = hone_shape_draw(s, i, HONE_SALT_FIRST).b;
    double share = -log(hone_shape_unit(s, i, HONE_SALT_FIRST));
    long long row = i / s->row, column = i % s->row;
    int is_the_one = column == hone_shape_modulo(hone_shape_word(s, row, HONE_SALT_PLACE), s->row);
    switch (s->kind) {
    case HONE_DIST_EQUAL:
    case HONE_DIST_ZEROS:
        return 1;
    case HONE_DIST_ONE_HOT:
    case HONE_DIST_BINARY:
        return is_the_one;
    case HONE_DIST_SPARSE:
    case HONE_DIST_RELU:
        return is_the_one || z % 8 == 0 ? share : 0;
    case HONE_DIST_HEAVY: /* a few hold nearly everything */
    case HONE_DIST_WIDE:
        return pow(share, 8.0);
    case HONE_DIST_SPIKES:
        return is_the_one ? 100 * share : 1e-3 * share;
    default:
        return share;
    }
}

#endif
