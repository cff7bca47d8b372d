/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/build/blob_cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool hone_blob_folder_make(const char *dir)
{
    struct stat info;
    return dir[0] == '/' && hone_mkdirs(dir, 0700, NULL) == 0 && stat(dir, &info) == 0 &&
           info.st_uid == geteuid() && (info.st_mode & 022) == 0;
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
    if (at != len)
        return false;
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* it is in use: others go first */
    return true;
}

/* ---- bound ---- */

struct entry {        /* a file of a folder */
    const char *path; /* in the pool */
    struct timespec used;
    size_t bytes;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used,
                          *y = &((const struct entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* A night compiles thousands of versions once each. Others may prune the same folder meanwhile. */
static void prune(const char *folder, const char *newest)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names = NULL;
    size_t n_names = 0, n = 0, total = 0;
    if (hone_list_dir(folder, pool, &names, &n_names, NULL) < 0)
        return;
    struct entry *entries = hone_pool_alloc(pool, (n_names + 1) * sizeof *entries);
    for (size_t i = 0; i < n_names; i++) {
        struct stat st;
        const char *path = hone_pool_printf(pool, "%s/%s", folder, names[i]);
        if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        entries[n++] = (struct entry){path, st.st_mtim, (size_t)st.st_size};
        total += (size_t)st.st_size;
    }
    qsort(entries, n, sizeof *entries, by_use);
    for (size_t i = 0; i < n && total > HONE_BLOB_FOLDER_BYTES; i++) {
        if (strcmp(entries[i].path, newest) == 0)
            continue;
        unlink(entries[i].path);
        total -= entries[i].bytes;
    }
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
    prune(folder, path);
}
