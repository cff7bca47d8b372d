/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of a compiled C file where time is most likely spent, read from the compiler's assembly.
 *
 * Static: of the loops that hold no other loop, the one inside of most loops, then the one with
 * most instructions. Loops at the same depth that stem from the same source lines (a vector loop
 * and its remainder) count as one. x86-64 in gcc's syntax (-S -fverbose-asm). The text follows
 * from a candidate: it is data and may lie. Any thread. */
#ifndef HONE_RUNNER_HOT_LOOP_H
#define HONE_RUNNER_HOT_LOOP_H

#include "workspace/base/base.h"

#define HONE_HOT_LOOP_LINES 256

struct hone_hot_loop {
    bool is_known;  /* there is a loop */
    bool is_vector; /* it computes with or moves several values at a time */
    int64_t depth;  /* loops around its instructions, itself included */
    size_t n_lines;
    int64_t lines[HONE_HOT_LOOP_LINES]; /* of the source that its instructions come from; those of
                                           intrinsics belong to another file */
};

/* file: what the text calls the source, without folders. */
void hone_hot_loop_find(const char *text, size_t len, const char *file, struct hone_hot_loop *ret);
/* Does the loop hold code of this line? */
bool hone_hot_loop_has(const struct hone_hot_loop *loop, int64_t line);

#endif
