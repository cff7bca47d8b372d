/* SPDX-License-Identifier: Apache-2.0 */
/* What the sums of a nest (sum_nest.h) add up, as products whose factors are of a row or of a
 * column: what can be copied once into panels of NR columns that all rows go over.
 *
 *     acc += 1.5 * A[i, k] * B[k, j] - x[k] * A[i, k];
 *
 * has a product with the row's factor A[i, k] and the panel 1.5 * B[k, j], and one without a panel.
 * The sum is regrouped. Panels are what BLIS calls packed micro-panels (Van Zee and van de Geijn,
 * "BLIS: A Framework for Rapidly Instantiating BLAS Functionality", TOMS 41, 2015). */
#ifndef HONE_AGENTS_SUM_PANELS_H
#define HONE_AGENTS_SUM_PANELS_H

#include "agents/rewrites/sum_nest.h"

enum { HONE_SUM_MAX_PANELS = 4, HONE_SUM_MAX_PRODUCTS = 8, HONE_SUM_MAX_FACTORS = 8 };

struct hone_sum_factors {
    const struct hone_c_node *v[HONE_SUM_MAX_FACTORS];
    size_t n;
};

struct hone_sum_product { /* updates[update].var += or -= row * panel */
    size_t update;
    bool is_minus;
    struct hone_sum_factors row, panel; /* panel.n 0: all factors are the row's */
};

struct hone_sum_panels {
    struct hone_sum_product products[HONE_SUM_MAX_PRODUCTS];
    size_t n;
    size_t n_panels;  /* products with one */
    const char *type; /* of their elements, "float" or "double" */
};

/* False: nothing is multiplied by what changes along columns and sum alone, a factor is of row and
 * column both, bounds of the sum follow the row, or what is copied is written in the nest. */
bool hone_sum_panels_of(const struct hone_coder_input *in, const struct hone_sum_nest *nest,
                        struct hone_sum_panels *ret);

#endif
