/* SPDX-License-Identifier: Apache-2.0 */
/* The plain form of C: what ordinary style hides from a reader of loops is written out.
 *
 *     #define AT(f, i, j) f[(i) * n + (j)]         for (int i = 0; i < n; i++) {
 *     int i;                                           float s = 0;
 *     for (i = 0; i < n; i++)                =>        for (int k = 0; k < n; k++)
 *         AT(y, i, 0) = dot(A + i * n, x, n);              s += A[i * n + k] * x[k];
 *                                                      y[i * n + 0] = s;
 *                                                  }
 *
 * Five kinds of step: macros of the source are expanded (c_macro.c), scalars are declared where
 * they are set (c_scope.c), functions of the source that get a pointer are put in the place of
 * their call (c_inline.c), a counter's `n++` is written as a sum, and what is left of all that is
 * tidied up (both c_plain.c).
 * A step is taken where the text proves that the same is computed. */
#ifndef HONE_AGENTS_C_PLAIN_H
#define HONE_AGENTS_C_PLAIN_H

#include "agents/source/site.h"

enum { HONE_C_PLAIN_STEPS = 5 };

/* The edits of one step; false: there is nothing to do for it. */
typedef bool hone_c_plain_fn(const struct hone_coder_input *in, struct hone_c_edits *edits);

/* In the order in which they are tried. */
extern hone_c_plain_fn *const hone_c_plain_steps[HONE_C_PLAIN_STEPS];
hone_c_plain_fn hone_c_macro_step, hone_c_scope_step, hone_c_inline_step;

/* Does the text of the node's range stand there as a word, and not inside of a macro? */
bool hone_c_is_word_at(const struct hone_c_tree *tree, const struct hone_c_node *node,
                       const char *word);
/* Does each word of the function that is the declaration's name stand for what the tree shows? One
 * in a macro or a pragma does not. */
bool hone_c_is_named_plainly(const struct hone_c_tree *tree, const struct hone_c_node *function,
                             const struct hone_c_node *decl);
/* How often does the word stand in source[begin, end), outside of comments and literals? */
size_t hone_c_count_word(const struct hone_c_tree *tree, uint32_t begin, uint32_t end,
                         const char *word);

#endif
