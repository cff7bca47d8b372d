/* SPDX-License-Identifier: Apache-2.0 */
/* May a pair of loops be cut into blocks, and which of its loops may threads share? Asked by
 * rewrites that make the text of the blocks themselves. */
#ifndef HONE_AGENTS_ORDER_PAIR_H
#define HONE_AGENTS_ORDER_PAIR_H

#include "agents/source/site.h"

struct hone_order_pair {
    bool is_known;      /* the loops are part of a run (scop.h) that isl answered for */
    bool is_tileable;   /* blocks of any size, whatever order of the two, keep every dependence */
    bool outer_is_free; /* iterations of the outer, of the inner loop are independent, those of */
    bool inner_is_free; /* the loops around them being where they are */
    bool is_split;      /* statements of the outer loop in front of the inner one may run first */
};

/* inner NULL: one loop. The innermost body has to be one statement of the run. */
struct hone_order_pair hone_order_pair_of(const struct hone_coder_input *in,
                                          const struct hone_c_loop *outer,
                                          const struct hone_c_loop *inner);

#endif
