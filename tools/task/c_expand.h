/* SPDX-License-Identifier: Apache-2.0 */
/* A C text as words with its own macros in their places: what a reader of subscripts needs. Of
 * #if and its like nothing is understood: the first #define of a name counts. */
#ifndef HONE_TOOLS_C_EXPAND_H
#define HONE_TOOLS_C_EXPAND_H

#include "tools/task/c_tokens.h"

/* In the pool; HONE_E_LIMIT: too many words. */
int hone_c_expand(const char *source, struct hone_pool *pool, struct hone_c_tokens *ret,
                  struct hone_err *err);

#endif
