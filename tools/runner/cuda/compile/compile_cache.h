/* Compiled things by content, in the job's cache folder: one file an entry, a few byte strings
 * behind their hash. Written atomically; a damaged entry counts as absent; losing one costs time
 * only. Several runners share the folder. Any thread. */
#ifndef HONE_RUNNER_CUDA_COMPILE_CACHE_H
#define HONE_RUNNER_CUDA_COMPILE_CACHE_H

#include "workspace/base/buf.h"
#include "workspace/base/hash.h"

#define HONE_BLOB_PARTS 4

struct hone_blob_part {
    const char *bytes; /* NUL behind the last one, not counted */
    size_t len;
};

/* suffix: ".cubin". dir NULL: always false. Parts live in the pool. */
bool hone_blob_get(const char *dir, const char *key, const char *suffix, struct hone_pool *pool,
                   struct hone_blob_part ret[HONE_BLOB_PARTS]);
/* A full disk or a read-only folder is no error. */
void hone_blob_put(const char *dir, const char *key, const char *suffix,
                   const struct hone_blob_part parts[HONE_BLOB_PARTS]);

#endif
