/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled C objects by content: what blob_cache.h keeps, with the compiler's words. Losing one
 * costs time only. */
#ifndef HONE_RUNNER_BUILD_CACHE_H
#define HONE_RUNNER_BUILD_CACHE_H

#include "tools/format/report.h"
#include "workspace/base/hash.h"

#define HONE_BUILD_OBJECT_BYTES (32u << 20) /* the largest object that is accepted */

struct hone_build_entry {
    const char *compiler, *command;
    struct hone_array diagnostics; /* of struct hone_diagnostic */
    struct hone_array remarks;     /* of struct hone_remark */
};

/* True when there: everything lives in the pool. dir NULL: always false. */
bool hone_build_cache_get(const char *dir, const char *key, struct hone_pool *pool,
                          struct hone_build_entry *ret, const char **ret_object, size_t *ret_len);
/* A full disk or a read-only cache is no error. dir NULL: nothing. */
void hone_build_cache_put(const char *dir, const char *key, const struct hone_build_entry *entry,
                          const void *object, size_t len);

#endif
