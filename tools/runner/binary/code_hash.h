/* SPDX-License-Identifier: Apache-2.0 */
/* What a source became, as one word: two objects with the same word run the same instructions on
 * the same constants and call the same functions of libraries, whatever their texts looked like.
 * Debug data, notes and what unwinds the stack do not count. Where the same code has two words (a
 * local symbol's number in a list, say), it is judged twice, which is the cheaper mistake. */
#ifndef HONE_RUNNER_CODE_HASH_H
#define HONE_RUNNER_CODE_HASH_H

#include "workspace/base/buf.h"

/* 16 hex digits in the pool; NULL when the bytes are no ELF file or hold no code. n_also texts
 * count too: what is done with the code (on a GPU the launches). */
const char *hone_code_hash(const void *object, size_t len, const char *const *also, size_t n_also,
                           struct hone_pool *pool);

#endif
