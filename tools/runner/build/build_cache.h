/* Compiled objects by content, in a folder that several runners share. An entry is two files,
 * written atomically, the description last; it carries the object's hash, so that a damaged or
 * half-written entry counts as absent. Losing it costs time only: what was not used for the
 * longest time goes when a folder of entries (one of 256, by the key's first digits) is full. */
#ifndef HONE_RUNNER_BUILD_CACHE_H
#define HONE_RUNNER_BUILD_CACHE_H

#include "tools/format/report.h"
#include "workspace/base/hash.h"

#define HONE_BUILD_OBJECT_BYTES (32u << 20) /* the largest object that is accepted */
/* Of the objects of one folder; the newest one stays. */
#define HONE_BUILD_FOLDER_BYTES (1u << 20)

struct hone_build_entry {
    const char *object_hash; /* filled by put */
    const char *compiler, *command;
    struct hone_array diagnostics; /* of struct hone_diagnostic */
    struct hone_array remarks;     /* of struct hone_remark */
};

/* True when there: *ret lives in the pool, the object is owned by the caller. dir
 * NULL: always false. */
bool hone_build_cache_get(const char *dir, const char *key, struct hone_pool *pool,
                          struct hone_build_entry *ret, char **ret_object, size_t *ret_len);
/* A full disk or a read-only cache is no error. dir NULL: nothing. */
void hone_build_cache_put(const char *dir, const char *key, const struct hone_build_entry *entry,
                          const void *object, size_t len);

#endif
