/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled things by content, in the job's cache folder: one file an entry, a few byte strings
 * behind their hash. Written atomically; a damaged entry counts as absent; losing one costs time
 * only: when a folder of entries (one of 256, by the key's first digits) is full, what was not
 * used for the longest time goes. Several runners share the folder. Any thread. */
#ifndef HONE_RUNNER_BLOB_CACHE_H
#define HONE_RUNNER_BLOB_CACHE_H

#include "workspace/base/buf.h"
#include "workspace/base/hash.h"

#define HONE_BLOB_PARTS        4
#define HONE_BLOB_FOLDER_BYTES (2u << 20) /* of the files of one folder; the newest one stays */

struct hone_blob_part {
    const char *bytes; /* NUL behind the last one, not counted */
    size_t len;
};

/* Makes a folder that workspaces share. False: no absolute path, not to be made, another user's, or
 * one that others may write to: what lies there runs in the judge. */
bool hone_blob_folder_make(const char *dir);
/* suffix: ".cubin". dir NULL: always false. Parts live in the pool. */
bool hone_blob_get(const char *dir, const char *key, const char *suffix, struct hone_pool *pool,
                   struct hone_blob_part ret[HONE_BLOB_PARTS]);
/* A full disk or a read-only folder is no error. */
void hone_blob_put(const char *dir, const char *key, const char *suffix,
                   const struct hone_blob_part parts[HONE_BLOB_PARTS]);

#endif
