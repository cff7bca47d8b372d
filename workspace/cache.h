/* SPDX-License-Identifier: Apache-2.0 */
/* Content-addressed cache of files by key (a hash): compiled objects, evaluation answers. Losing it
 * costs time only.
 *
 * Entries are DIR/.hone/cache/KIND/ab/<key>, DIR being the workspace; written atomically, each with
 * a checksum, so that what a crash left half-written counts as absent. The entries that were not
 * used for the longest time go when the total passes the cap. Thread and process safe. */
#ifndef HONE_WORKSPACE_CACHE_H
#define HONE_WORKSPACE_CACHE_H

#include "workspace/base/buf.h"

struct hone_cache; /* opaque */

int hone_cache_open(const char *dir, int64_t cap_bytes, struct hone_cache **ret,
                    struct hone_err *err);
void hone_cache_close(struct hone_cache *cache);
/* HONE_E_NOT_FOUND when absent or damaged. Owned by the caller, NUL-terminated. kind and key are
 * safe names, key of 2 bytes or more. */
int hone_cache_get(struct hone_cache *cache, const char *kind, const char *key, char **ret,
                   size_t *ret_len, struct hone_err *err);
/* HONE_E_LIMIT above HONE_LIMIT_CACHE_BYTES. An entry that is there is replaced. */
int hone_cache_put(struct hone_cache *cache, const char *kind, const char *key, const void *bytes,
                   size_t len, struct hone_err *err);

#endif
