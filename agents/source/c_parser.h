/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing C and CUDA C++ with libclang, which is loaded at run time: the only file that knows it.
 *
 * Looked for as $HONE_LIBCLANG, else the newest version below /usr/lib/llvm-N that has its headers,
 * else the loader's usual names. Without it every call answers HONE_E_UNSUPPORTED and the search
 * runs without the rule coder. The source is parsed in this process, so #include is allowed for the standard headers alone. CUDA needs no toolkit: no
 * header is read, what kernels and launchers use is declared by agents/source/cuda_prelude.c. */
#ifndef HONE_AGENTS_C_PARSER_H
#define HONE_AGENTS_C_PARSER_H

#include "agents/source/c_tree.h"

struct hone_c_parser; /* opaque; one per thread at a time */

/* HONE_E_UNSUPPORTED: no libclang; the message says what to install. */
int hone_c_parser_new(struct hone_c_parser **ret, struct hone_err *err);
void hone_c_parser_free(struct hone_c_parser *parser);
void hone_c_parser_free_ptr(struct hone_c_parser **parser);

/* prologue  text put in front (tunables as an enum); may be NULL
 * *ret      lives in the pool; `source` must outlive it
 * HONE_E_ARG with the first error's line when the text is not valid C; HONE_E_LIMIT for too large
 * or too deep a source. */
int hone_c_parse(struct hone_c_parser *parser, enum hone_c_language language, const char *source,
                 const char *prologue, struct hone_pool *pool, struct hone_c_tree **ret,
                 struct hone_err *err);

/* What a CUDA source may use without a header: types, qualifiers, built-in variables, intrinsics,
 * the runtime calls of launchers. */
extern const char *const hone_cuda_prelude[];
extern const size_t hone_n_cuda_prelude;

#endif
