/* SPDX-License-Identifier: Apache-2.0 */
/* The cache (cache.h): one file an entry, a head with the hash of the rest.
 *
 * Flow: get checks the hash and touches the file; put writes beside it and renames. When the
 * sum of sizes passes the cap, the oldest by time of use go (evict). Files that do not match
 * their hash count as absent. */
#include "workspace/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

#define MAGIC      "hone-cache-1 "
#define HEAD_BYTES (sizeof(MAGIC) - 1 + HONE_HASH_TEXT_BYTES) /* magic, 64 digits, newline */
#define TOUCH_S    60   /* a use is noted at most that often */
#define RECOUNT    1000 /* puts after which other processes' puts are counted too */

struct hone_cache {
    char *dir;
    int64_t cap_bytes;
    pthread_mutex_t lock; /* total_bytes, n_puts */
    int64_t total_bytes;  /* -1: not counted yet */
    int64_t n_puts;
};

struct entry {
    char *path;
    int64_t bytes;
    int64_t used_ns;
};

struct listing {
    struct entry *v;
    size_t n, cap;
    int64_t bytes;
    bool keeps; /* false: count only */
};

static void close_dir_ptr(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static void listing_done(struct listing *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->v[i].path);
    free(list->v);
}

static void walk(const char *path, int depth, struct listing *list)
{
    DIR *dir HONE_CLEANUP(close_dir_ptr) = opendir(path);
    struct dirent *item;
    while (dir && depth > 0 && (item = readdir(dir))) {
        struct stat st;
        if (item->d_name[0] == '.' && (!item->d_name[1] || !strcmp(item->d_name, "..")))
            continue;
        if (fstatat(dirfd(dir), item->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        char *child HONE_AUTOFREE = hone_path_join(path, item->d_name, NULL);
        if (S_ISDIR(st.st_mode))
            walk(child, depth - 1, list);
        if (!S_ISREG(st.st_mode))
            continue;
        list->bytes += st.st_size;
        if (!list->keeps)
            continue;
        if (list->n == list->cap) {
            list->cap = list->cap ? list->cap * 2 : 256;
            list->v = hone_realloc(list->v, list->cap * sizeof(*list->v));
        }
        list->v[list->n++] =
            (struct entry){.path = HONE_STEAL(child),
                           .bytes = st.st_size,
                           .used_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec};
    }
}

static int older_first(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    return x->used_ns < y->used_ns ? -1 : x->used_ns > y->used_ns;
}

/* Down to four fifths of the cap, so that not every put has to walk. One process at a time; another
 * one's turn is as good. */
static void evict(struct hone_cache *cache)
{
    int fd HONE_AUTOCLOSE = -1;
    char *lock HONE_AUTOFREE = hone_path_join(cache->dir, "lock", NULL);
    struct listing list HONE_CLEANUP(listing_done) = {.keeps = true};
    if (hone_lock_file(lock, 0, &fd, NULL) < 0)
        return;
    walk(cache->dir, 4, &list);
    qsort(list.v, list.n, sizeof(*list.v), older_first);
    for (size_t i = 0; i < list.n && list.bytes > cache->cap_bytes / 5 * 4; i++) {
        if (strcmp(list.v[i].path, lock) == 0)
            continue;
        if (unlink(list.v[i].path) == 0 || errno == ENOENT)
            list.bytes -= list.v[i].bytes;
    }
    cache->total_bytes = list.bytes;
}

int hone_cache_open(const char *dir, int64_t cap_bytes, struct hone_cache **ret,
                    struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_path_join(dir, ".hone", "cache", NULL);
    int rc = hone_mkdirs(path, 0700, err);
    if (rc < 0)
        return rc;
    struct hone_cache *cache = hone_calloc(1, sizeof(*cache));
    cache->dir = HONE_STEAL(path);
    cache->cap_bytes = cap_bytes;
    cache->total_bytes = -1;
    pthread_mutex_init(&cache->lock, NULL);
    *ret = cache;
    return 0;
}

void hone_cache_close(struct hone_cache *cache)
{
    if (!cache)
        return;
    pthread_mutex_destroy(&cache->lock);
    free(cache->dir);
    free(cache);
}

static int entry_path(const struct hone_cache *cache, const char *kind, const char *key,
                      char **ret_dir, char **ret_path, struct hone_err *err)
{
    if (!hone_is_safe_name(kind) || !hone_is_safe_name(key) || strlen(key) < 2)
        return hone_fail(err, HONE_E_ARG, "'%.64s/%.64s' is no cache entry's name", kind, key);
    char *shard HONE_AUTOFREE = hone_strndup(key, 2);
    if (!hone_is_safe_name(shard))
        return hone_fail(err, HONE_E_ARG, "'%.64s' is no cache key", key);
    *ret_dir = hone_path_join(cache->dir, kind, shard, NULL);
    *ret_path = hone_path_join(*ret_dir, key, NULL);
    return 0;
}

static void make_head(const void *bytes, size_t len, char ret[HEAD_BYTES + 1])
{
    char hash[HONE_HASH_TEXT_BYTES];
    hone_hash(bytes, len, hash);
    snprintf(ret, HEAD_BYTES + 1, "%s%s\n", MAGIC, hash);
}

static void touch(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && st.st_mtime < time(NULL) - TOUCH_S)
        utimensat(AT_FDCWD, path, NULL, 0);
}

int hone_cache_get(struct hone_cache *cache, const char *kind, const char *key, char **ret,
                   size_t *ret_len, struct hone_err *err)
{
    char *dir HONE_AUTOFREE = NULL;
    char *path HONE_AUTOFREE = NULL;
    char *text HONE_AUTOFREE = NULL;
    size_t len = 0;
    char head[HEAD_BYTES + 1] = "";
    int rc = entry_path(cache, kind, key, &dir, &path, err);
    if (rc == 0)
        rc = hone_file_read(path, HONE_LIMIT_CACHE_BYTES + HEAD_BYTES, &text, &len, err);
    if (rc < 0)
        return rc;
    if (len >= HEAD_BYTES)
        make_head(text + HEAD_BYTES, len - HEAD_BYTES, head);
    if (len < HEAD_BYTES || memcmp(head, text, HEAD_BYTES) != 0) {
        unlink(path);
        return hone_fail(err, HONE_E_NOT_FOUND, "cache entry '%.64s' was damaged", key);
    }
    touch(path);
    memmove(text, text + HEAD_BYTES, len - HEAD_BYTES + 1);
    *ret = HONE_STEAL(text);
    *ret_len = len - HEAD_BYTES;
    return 0;
}

static void account(struct hone_cache *cache, int64_t bytes)
{
    pthread_mutex_lock(&cache->lock);
    if (cache->total_bytes < 0 || ++cache->n_puts % RECOUNT == 0) {
        struct listing list = {.keeps = false};
        walk(cache->dir, 4, &list);
        cache->total_bytes = list.bytes;
    } else {
        cache->total_bytes += bytes;
    }
    if (cache->total_bytes > cache->cap_bytes)
        evict(cache);
    pthread_mutex_unlock(&cache->lock);
}

int hone_cache_put(struct hone_cache *cache, const char *kind, const char *key, const void *bytes,
                   size_t len, struct hone_err *err)
{
    char *dir HONE_AUTOFREE = NULL;
    char *path HONE_AUTOFREE = NULL;
    struct hone_buf out HONE_CLEANUP(hone_buf_done) = {.limit =
                                                           HONE_LIMIT_CACHE_BYTES + HEAD_BYTES};
    char head[HEAD_BYTES + 1];
    if (len > HONE_LIMIT_CACHE_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "a cache entry of %zu bytes, at most %u are kept", len,
                         HONE_LIMIT_CACHE_BYTES);
    int rc = entry_path(cache, kind, key, &dir, &path, err);
    if (rc == 0)
        rc = hone_mkdirs(dir, 0700, err);
    if (rc < 0)
        return rc;
    make_head(bytes, len, head);
    hone_buf_add(&out, head, HEAD_BYTES);
    hone_buf_add(&out, bytes, len);
    rc = hone_buf_check(&out, err);
    if (rc == 0)
        rc = hone_file_write(path, out.data, out.len, 0600, false, err);
    if (rc == 0)
        account(cache, (int64_t)out.len);
    return rc;
}
