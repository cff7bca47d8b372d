/* SPDX-License-Identifier: Apache-2.0 */
/* Which instances NVRTC is asked for before the launcher has said which it uses, so that both
 * compilers run at the same time. Guesses from the text: wrong ones cost a second compile, missing
 * ones too. Any thread. */
#ifndef HONE_RUNNER_CUDA_MODULE_NAMES_H
#define HONE_RUNNER_CUDA_MODULE_NAMES_H

#include "tools/runner/cuda/split/split.h"

/* Name expressions in the pool: launches of templates whose arguments are constants, static
 * kernels, device variables at file scope ("&name"). At most HONE_LIMIT_CUDA_KERNELS. */
void hone_guess_names(const struct hone_split *split, const struct hone_array *tunables,
                      struct hone_pool *pool, struct hone_strs *ret);
/* Is every declaration at file scope of this variable constexpr, or const and no pointer? False
 * when in doubt, and for names that are not plain. */
bool hone_names_constant(const char *text, const char *name);
/* The same expression but for blanks? */
bool hone_names_equal(const char *a, const char *b);

#endif
