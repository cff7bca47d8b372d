/* What a source became, as one word: two objects with the same word run the same instructions on
 * the same constants, whatever their texts looked like. Names, debug data, notes and the object's
 * place in memory do not count. */
#ifndef HONE_RUNNER_CODE_HASH_H
#define HONE_RUNNER_CODE_HASH_H

#include "workspace/base/buf.h"

/* 16 hex digits in the pool; NULL when the bytes are no ELF file or hold no code. n_also texts
 * count too: what is done with the code (on a GPU the launches). */
const char *hone_code_hash(const void *object, size_t len, const char *const *also, size_t n_also,
                           struct hone_pool *pool);

#endif
