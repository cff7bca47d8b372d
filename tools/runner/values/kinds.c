/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/values/kinds.h"

#include <string.h>

static const struct hone_kind kinds[HONE_N_DISTS] = {
    [HONE_DIST_NORMAL] = {"normal", "normal(0, 1); integers of 8 bits: the whole range", NULL,
                          .is_plain = true, .needs_all = true},
    [HONE_DIST_UNIFORM] = {"uniform", "-1 to 1; integers of 8 bits: the whole range", NULL,
                           .is_plain = true},
    [HONE_DIST_SHIFTED] = {"shifted", "normal(3, 1)", "index: nine in ten name one"},
    [HONE_DIST_EXPONENTIAL] = {"exponential", "skewed, positive", "index: few are named by many"},
    [HONE_DIST_HEAVY] = {"heavy_tail", "Student t with 3 degrees of freedom",
                         "offsets: a few rows hold nearly everything; probability: peaked"},
    [HONE_DIST_SMALL] = {"small", "normal x 1e-3", "offsets: the first half is empty"},
    [HONE_DIST_LARGE] = {"large", "normal x 64; integers of 8 bits: the whole range",
                         "offsets: one or two rows hold everything"},
    [HONE_DIST_MIXED] = {"mixed_scale", "1e3 and 1e-3 side by side",
                         "offsets: every second row is empty"},
    [HONE_DIST_OUTLIER] = {"outlier", "normal, one element in 256 x 1000",
                           "index: all the same; mask: the last alone"},
    [HONE_DIST_ZEROS] = {"zeros", "all zero", "mask: none; probability: even", .is_corner = true},
    [HONE_DIST_EQUAL] = {"equal", "one random value everywhere",
                         "index: all the same; offsets: rows of one length; mask: all; "
                         "probability: even",
                         .is_corner = true},
    [HONE_DIST_ALTERNATING] = {"alternating", "+1, -1",
                               "index: the first and the last in turn; mask: every second",
                               .is_corner = true},
    [HONE_DIST_SORTED] = {"sorted", "rising from -3 to 3",
                          "index: in order; offsets: longer from row to row; mask: the first of "
                          "each row, a drawn number",
                          .is_corner = true},
    [HONE_DIST_HALVES] = {"halves", "first half zeros, second half normal x 64",
                          "offsets: the second half is empty; mask: the second half",
                          .is_corner = true},
    [HONE_DIST_INTEGERS] = {"integers", "-1023 to 1023; weights -3 to 3", NULL, .is_corner = true},
    [HONE_DIST_NEGATIVE] = {"negative", "normal(-100, 1)", "index: all the last"},
    [HONE_DIST_TINY] = {"tiny", "normal x 1e-9", "offsets: all in the last row"},
    [HONE_DIST_SPIKES] = {"spikes", "normal x 1e-3, some 256 elements of 1e3 to 2e3",
                          "probability: one element holds most of a row", .needs_all = true},
    [HONE_DIST_NEARLY] = {"nearly_equal", "one random value, some 256 smaller elements",
                          "mask: all but a few", .needs_all = true, .is_corner = true},
    [HONE_DIST_RARE] = {"rarely_large", "normal, one to four elements of 300 to 600", NULL,
                        .needs_all = true},
    [HONE_DIST_SPARSE] = {"sparse",
                          "exact zeros among normal numbers: elements, patches of 16 x 16 or "
                          "rows; 50, 90 or 99 %",
                          "offsets: nine rows in ten are empty; mask: one in a hundred; "
                          "probability: one in eight",
                          .needs_all = true, .is_corner = true},
    [HONE_DIST_RELU] = {"relu", "normal, zero where it is negative", "probability: as sparse",
                        .is_corner = true},
    [HONE_DIST_UNIT] = {"unit", "0 to 1 in no order: pixels, probabilities",
                        "index: inside one line of a cache; offsets: the first and the last row "
                        "are empty; mask: all"},
    [HONE_DIST_CLIPPED] = {"clipped", "normal x 2, cut at -1 and 1",
                           "offsets: all in the first row", .is_corner = true},
    [HONE_DIST_HUGE] = {"huge", "normal x 1e5 to 1e12; integers: the whole range of the type", NULL,
                        .is_corner = true},
    [HONE_DIST_WIDE] = {"wide",
                        "1e5 to 1e7, both signs (float16: two decades below its largest); "
                        "integers: the whole range of the type",
                        "probability: peaked", .is_corner = true},
    [HONE_DIST_DENORMAL] = {"denormal", "denormals of the type, a quarter negative zeros", NULL,
                            .is_corner = true, .special = HONE_SPECIAL_DENORMAL},
    [HONE_DIST_ONE_HOT] = {"one_hot", "one 1 in each row of zeros",
                           "index: all the first; mask and probability: the same",
                           .needs_all = true, .is_corner = true},
    [HONE_DIST_COLUMNS] = {"columns", "each column holds one value: all rows are the same",
                           "index: the column; mask: whole columns", .is_corner = true},
    [HONE_DIST_ROWS] = {"rows", "each row holds one value",
                        "offsets: rows of one length; mask: whole rows", .is_corner = true},
    [HONE_DIST_DIAGONAL] = {"diagonal", "normal on the diagonal, zero elsewhere",
                            "index: each names itself; mask: the diagonal", .needs_all = true,
                            .is_corner = true},
    [HONE_DIST_TRIANGULAR] = {"triangular", "normal on and below the diagonal, zero above",
                              "mask: on and below the diagonal (causal)", .is_corner = true},
    [HONE_DIST_BYTES] = {"bytes", "integers 0 to 255: pixels, tokens", "index: below 256",
                         .is_corner = true},
    [HONE_DIST_BINARY] = {"binary", "0 or 1", "probability: one 1 in each row", .is_corner = true},
    [HONE_DIST_WALK] = {"walk", "a time series: neighbours are near each other, the level drifts",
                        "index: near each other (a band)", .is_corner = true},
    [HONE_DIST_POWERS] = {"powers", "powers of two from 2^-8 to 2^7, both signs",
                          "offsets: rows of 1 to 2048 shares", .is_corner = true},
    [HONE_DIST_RUNS] = {"runs", "stretches of 2 to 256 equal values",
                        "index: sevens; mask: blocks of 16", .is_corner = true},
    [HONE_DIST_FEW] = {"few", "two to eight different values",
                       "index: three places; offsets: rows of two lengths", .is_corner = true},
    [HONE_DIST_DESCENDING] = {"descending", "falling from 3 to -3",
                              "index: in reversed order; offsets: shorter from row to row; mask: "
                              "on and above the diagonal",
                              .is_corner = true},
    [HONE_DIST_CANCELLING] = {"cancelling", "normal, each second value the one before it negated",
                              "index: each twice; offsets: all in one row", .is_corner = true},
    [HONE_DIST_NAN] = {"nan", "normal, NaN at one to four elements or one in 64", NULL,
                       .needs_all = true, .is_corner = true, .special = HONE_SPECIAL_NAN},
    [HONE_DIST_INF] = {"inf",
                       "normal, infinities of both signs at one to four elements or one in "
                       "64",
                       NULL, .needs_all = true, .is_corner = true, .special = HONE_SPECIAL_INF},
    [HONE_DIST_EXTREME] =
        {"extreme",
         "one row in four at -1e30 to -1e37 (float32; others in proportion), one with "
         "single elements as far; or any exponent of the type",
         NULL, .needs_all = true, .is_corner = true, .special = HONE_SPECIAL_EXTREME},
    [HONE_DIST_BORDERS] =
        {"borders",
         "normal x 1e-3, but 8 to 2e3 in a few places of each row, or a few rows: "
         "beside multiples of a chunk's length, or anywhere",
         NULL, .needs_all = true, .is_corner = true, .needs_room = true},
    [HONE_DIST_SCALES] = {"scales",
                          "normal; an axis that two tensors share is scaled by 2^-20 to 2^20 in "
                          "one and by the inverse in the other, else each row by its own",
                          NULL, .needs_all = true, .is_corner = true},
    [HONE_DIST_NEAR_ROWS] = {"near_rows",
                             "normal; rows, or whole matrices, are alike but for one to three "
                             "elements of each",
                             NULL, .needs_all = true, .is_corner = true, .needs_room = true},
    [HONE_DIST_ALIKE] = {"alike", "normal, the same numbers in every tensor", "the same draws",
                         .is_corner = true},
    [HONE_DIST_ONE_OTHER] = {"one_other", "normal, but one tensor of the call is of another kind",
                             "the usual, but one tensor", .needs_all = true, .is_corner = true},
    [HONE_DIST_MIXTURE] = {"mixture",
                           "each tensor of a kind of its own, or of another one in each block of "
                           "rows",
                           "each of a kind of its own", .needs_all = true, .is_corner = true},
};

const struct hone_kind *hone_kind_row(enum hone_distribution dist)
{
    return &kinds[dist];
}

const char *hone_dist_name(enum hone_distribution dist)
{
    return kinds[dist].name;
}

bool hone_dist_parse(const char *word, enum hone_distribution *ret)
{
    for (size_t i = 0; i < HONE_N_DISTS; i++) {
        if (strcmp(word, kinds[i].name) == 0) {
            *ret = (enum hone_distribution)i;
            return true;
        }
    }
    return false;
}

bool hone_kind_is_covered(enum hone_distribution dist, const struct hone_task *task)
{
    unsigned special = kinds[dist].special;
    return special == 0 || (task->special_values & special) != 0;
}
