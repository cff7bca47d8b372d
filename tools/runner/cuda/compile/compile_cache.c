#include "tools/runner/cuda/compile/compile_cache.h"

#include <string.h>

#include "workspace/base/file.h"
#include "workspace/base/limits.h"

/* File: hash of the rest as 64 hex digits, the parts' lengths, the parts. */
struct head {
    uint64_t len[HONE_BLOB_PARTS];
};
#define HASH_BYTES (HONE_HASH_TEXT_BYTES - 1)

static char *path_of(const char *dir, const char *key, const char *suffix)
{
    return hone_sprintf("%s/%.2s/%s%s", dir, key, key, suffix);
}

bool hone_blob_get(const char *dir, const char *key, const char *suffix, struct hone_pool *pool,
                   struct hone_blob_part ret[HONE_BLOB_PARTS])
{
    if (dir == NULL)
        return false;
    HONE_AUTOFREE char *path = path_of(dir, key, suffix);
    HONE_AUTOFREE char *text = NULL;
    char hash[HONE_HASH_TEXT_BYTES];
    struct head head;
    size_t len = 0;
    if (hone_file_read(path, HONE_LIMIT_FILE_BYTES, &text, &len, NULL) < 0 ||
        len < HASH_BYTES + sizeof head)
        return false;
    hone_hash(text + HASH_BYTES, len - HASH_BYTES, hash);
    if (memcmp(hash, text, HASH_BYTES) != 0)
        return false;
    memcpy(&head, text + HASH_BYTES, sizeof head);
    size_t at = HASH_BYTES + sizeof head;
    for (size_t i = 0; i < HONE_BLOB_PARTS; i++) {
        if (head.len[i] > len - at)
            return false;
        char *bytes = hone_pool_alloc(pool, (size_t)head.len[i] + 1);
        memcpy(bytes, text + at, (size_t)head.len[i]);
        ret[i] = (struct hone_blob_part){.bytes = bytes, .len = (size_t)head.len[i]};
        at += (size_t)head.len[i];
    }
    return at == len;
}

void hone_blob_put(const char *dir, const char *key, const char *suffix,
                   const struct hone_blob_part parts[HONE_BLOB_PARTS])
{
    if (dir == NULL)
        return;
    HONE_CLEANUP(hone_buf_done) struct hone_buf all = HONE_BUF_INIT;
    HONE_AUTOFREE char *path = path_of(dir, key, suffix);
    HONE_AUTOFREE char *folder = hone_sprintf("%s/%.2s", dir, key);
    char hash[HONE_HASH_TEXT_BYTES];
    struct head head;
    memset(hash, ' ', sizeof hash);
    hone_buf_add(&all, hash, HASH_BYTES);
    for (size_t i = 0; i < HONE_BLOB_PARTS; i++)
        head.len[i] = parts[i].len;
    hone_buf_add(&all, &head, sizeof head);
    for (size_t i = 0; i < HONE_BLOB_PARTS; i++)
        hone_buf_add(&all, parts[i].bytes, parts[i].len);
    if (all.has_failed)
        return;
    hone_hash(all.data + HASH_BYTES, all.len - HASH_BYTES, hash);
    memcpy(all.data, hash, HASH_BYTES);
    if (hone_mkdirs(folder, 0700, NULL) == 0)
        (void)hone_file_write(path, all.data, all.len, 0644, false, NULL);
}
