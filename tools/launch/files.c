/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of a call's files, and the store of contents on the other side. A content, and a pack, is
 * made under another name and renamed: it is there whole or not at all. */
#include "tools/launch/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define KEPT_SECONDS (7 * 24 * 3600)

static const char *const roots[] = {"open", "task"};

/* ---- what a call takes along ---- */

static int key_of(const char *path, int64_t *ret_size, char ret_key[HONE_HASH_TEXT_BYTES],
                  struct hone_err *err)
{
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    HONE_AUTOFREE char *piece = hone_calloc(1, HONE_CALL_PIECE_BYTES);
    struct hone_hasher h;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return hone_fail_errno(err, errno, "cannot read '%s'", path);
    if (st.st_size > HONE_LIMIT_CALL_FILE_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "'%s' has %lld bytes; a runner elsewhere gets %lld",
                         path, (long long)st.st_size, HONE_LIMIT_CALL_FILE_BYTES);
    hone_hasher_init(&h);
    for (int64_t at = 0; at < st.st_size;) {
        size_t want = (size_t)hone_min_i64(st.st_size - at, HONE_CALL_PIECE_BYTES);
        ssize_t n = pread(fd, piece, want, at);
        if (n != (ssize_t)want)
            return hone_fail_errno(err, n < 0 ? errno : EIO, "cannot read '%s'", path);
        hone_hasher_part(&h, piece, want);
        at += n;
    }
    hone_hasher_end(&h, ret_key);
    *ret_size = st.st_size;
    return 0;
}

/* A folder and those in it; links and other special files stay behind. */
static int list_folder(const char *dir, const char *place, int depth, struct hone_pool *pool,
                       struct hone_call_files *ret, struct hone_err *err)
{
    const char **names;
    size_t n;
    int code = hone_list_dir(dir, pool, &names, &n, err);
    for (size_t i = 0; i < n && code == 0; i++) {
        const char *path = hone_pool_printf(pool, "%s/%s", dir, names[i]);
        const char *at = hone_pool_printf(pool, "%s/%s", place, names[i]);
        struct stat st;
        if (lstat(path, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
            continue;
        if (S_ISDIR(st.st_mode)) {
            if (depth < HONE_LIMIT_PACK_DEPTH)
                code = list_folder(path, at, depth + 1, pool, ret, err);
            continue;
        }
        if (ret->n == HONE_LIMIT_CALL_FILES)
            return hone_fail(err, HONE_E_LIMIT, "a call with more than %d files",
                             HONE_LIMIT_CALL_FILES);
        struct hone_call_file *file = &ret->v[ret->n++];
        *file = (struct hone_call_file){.place = at, .path = path};
        code = key_of(path, &file->size, file->key, err);
    }
    return code;
}

static void make_room(struct hone_pool *pool, struct hone_call_files *ret)
{
    ret->n = 0;
    ret->v = hone_pool_alloc(pool, HONE_LIMIT_CALL_FILES * sizeof *ret->v);
}

int hone_call_files_list(const char *call_dir, const char *task_dir, struct hone_pool *pool,
                         struct hone_call_files *ret, struct hone_err *err)
{
    make_room(pool, ret);
    int code = list_folder(hone_pool_printf(pool, "%s/open", call_dir), "open", 0, pool, ret, err);
    return code == 0 ? list_folder(task_dir, "task", 0, pool, ret, err) : code;
}

struct hone_json *hone_call_files_to_json(const struct hone_call_files *files)
{
    struct hone_json *list = hone_json_new_array();
    for (size_t i = 0; i < files->n; i++) {
        struct hone_json *row = hone_json_new_object();
        hone_json_set_str(row, "place", files->v[i].place);
        hone_json_set_str(row, "key", files->v[i].key);
        hone_json_set_i64(row, "size", files->v[i].size);
        hone_json_push(list, row);
    }
    return list;
}

static bool is_key(const char *text)
{
    return strlen(text) == HONE_HASH_TEXT_BYTES - 1 &&
           strspn(text, "0123456789abcdef") == strlen(text);
}

/* "open/..." or "task/...", each part a plain name. */
static bool is_place(const char *place)
{
    char part[HONE_LIMIT_NAME_BYTES + 1];
    int depth = 0;
    for (const char *at = place; *at != '\0'; depth++) {
        size_t len = strcspn(at, "/");
        if (len == 0 || len >= sizeof part || depth > HONE_LIMIT_PACK_DEPTH + 1)
            return false;
        memcpy(part, at, len);
        part[len] = '\0';
        if (!hone_is_safe_name(part))
            return false;
        if (depth == 0 && strcmp(part, roots[0]) != 0 && strcmp(part, roots[1]) != 0)
            return false;
        at += len;
        if (*at == '/' && *++at == '\0')
            return false;
    }
    return depth >= 2;
}

int hone_call_files_from_json(const struct hone_json *json, struct hone_pool *pool,
                              struct hone_call_files *ret, struct hone_err *err)
{
    make_room(pool, ret);
    for (const struct hone_json *row = hone_json_first(json); row != NULL;
         row = hone_json_next(row)) {
        const char *place = hone_json_get_str(row, "place", ""),
                   *key = hone_json_get_str(row, "key", "");
        int64_t size = hone_json_get_i64(row, "size", -1);
        if (ret->n == HONE_LIMIT_CALL_FILES)
            return hone_fail(err, HONE_E_LIMIT, "a call with more than %d files",
                             HONE_LIMIT_CALL_FILES);
        if (!is_place(place) || !is_key(key) || size < 0 || size > HONE_LIMIT_CALL_FILE_BYTES)
            return hone_fail(err, HONE_E_ARG, "'%.100s' is no file of a call", place);
        struct hone_call_file *file = &ret->v[ret->n++];
        *file = (struct hone_call_file){.place = hone_pool_strdup(pool, place), .size = size};
        memcpy(file->key, key, sizeof file->key);
    }
    return 0;
}

const struct hone_call_file *hone_call_files_find(const struct hone_call_files *files,
                                                  const char *key)
{
    for (size_t i = 0; i < files->n; i++) {
        if (strcmp(files->v[i].key, key) == 0)
            return &files->v[i];
    }
    return NULL;
}

/* ---- the store ---- */

static char *file_path(const char *store, const char *key, const char *suffix)
{
    return hone_sprintf("%s/files/%s%s", store, key, suffix);
}

static void remove_old(const char *dir)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names;
    size_t n = 0;
    if (hone_list_dir(dir, pool, &names, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        const char *path = hone_pool_printf(pool, "%s/%s", dir, names[i]);
        struct stat st;
        if (lstat(path, &st) == 0 && st.st_mtime + KEPT_SECONDS < time(NULL))
            (void)hone_remove_tree(path, NULL);
    }
}

int hone_store_open(const char *store, struct hone_err *err)
{
    static const char *const folders[] = {"files", "tasks", "calls"};
    int code = 0;
    struct stat st;
    for (size_t i = 0; i < HONE_COUNTOF(folders) && code == 0; i++) {
        HONE_AUTOFREE char *dir = hone_path_join(store, folders[i], NULL);
        code = hone_mkdirs(dir, 0700, err);
        if (code == 0)
            remove_old(dir);
    }
    if (code == 0 && (lstat(store, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != getuid()))
        return hone_fail(err, HONE_E_AUTH, "'%s' is not a folder of this user's", store);
    return code;
}

bool hone_store_has(const char *store, const struct hone_call_file *file)
{
    HONE_AUTOFREE char *path = file_path(store, file->key, "");
    struct stat st;
    bool has = lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == file->size;
    if (has)
        (void)utimensat(AT_FDCWD, path, NULL, 0);
    return has;
}

/* Several runners may share a store: each writes a file of its own, then renames it. */
int hone_store_put(const char *store, const struct hone_call_file *file, int64_t offset,
                   const void *bytes, size_t len, struct hone_err *err)
{
    HONE_AUTOFREE char *suffix = hone_sprintf(".%d", (int)getpid());
    HONE_AUTOFREE char *part = file_path(store, file->key, suffix);
    HONE_AUTOFREE char *path = file_path(store, file->key, "");
    char key[HONE_HASH_TEXT_BYTES];
    int64_t size;
    HONE_AUTOCLOSE int fd =
        open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (offset == 0 ? O_TRUNC : 0), 0600);
    if (offset < 0 || offset + (int64_t)len > file->size)
        return hone_fail(err, HONE_E_ARG, "a piece beyond the end of '%s'", file->place);
    if (fd < 0 || pwrite(fd, bytes, len, offset) != (ssize_t)len)
        return hone_fail_errno(err, errno, "cannot write '%s'", part);
    if (offset + (int64_t)len < file->size)
        return 0;
    int code = key_of(part, &size, key, err);
    if (code == 0 && strcmp(key, file->key) != 0)
        code = hone_fail(err, HONE_E_CORRUPT, "'%s' did not arrive as it was sent", file->place);
    if (code == 0 && rename(part, path) != 0)
        code = hone_fail_errno(err, errno, "cannot rename '%s'", part);
    if (code < 0)
        (void)unlink(part);
    return code;
}

static int place_one(const char *store, const struct hone_call_file *file, const char *to,
                     struct hone_err *err)
{
    HONE_AUTOFREE char *from = file_path(store, file->key, "");
    HONE_AUTOFREE char *dir = hone_strdup(to);
    *strrchr(dir, '/') = '\0';
    int code = hone_mkdirs(dir, 0700, err);
    return code == 0 ? hone_file_copy(from, to, HONE_LIMIT_CALL_FILE_BYTES, err) : code;
}

static bool is_of_task(const struct hone_call_file *file)
{
    return strncmp(file->place, "task/", 5) == 0;
}

/* The pack's folder is made beside its place and renamed: it is there whole or not at all. */
static int place_task(const char *store, const struct hone_call_files *files, const char *dir,
                      struct hone_err *err)
{
    HONE_AUTOFREE char *part = hone_sprintf("%s.%d", dir, (int)getpid());
    int code = hone_remove_tree(part, err);
    for (size_t i = 0; i < files->n && code == 0; i++) {
        if (!is_of_task(&files->v[i]))
            continue;
        HONE_AUTOFREE char *to = hone_path_join(part, files->v[i].place + 5, NULL);
        code = place_one(store, &files->v[i], to, err);
    }
    if (code == 0 && rename(part, dir) != 0 && errno != ENOTEMPTY && errno != EEXIST)
        code = hone_fail_errno(err, errno, "cannot rename '%s'", part);
    (void)hone_remove_tree(part, NULL);
    return code;
}

int hone_store_place(const char *store, const struct hone_call_files *files, const char *call_dir,
                     struct hone_pool *pool, const char **ret_task_dir, struct hone_err *err)
{
    struct hone_hasher h;
    char key[HONE_HASH_TEXT_BYTES];
    int code = 0;
    hone_hasher_init(&h);
    for (size_t i = 0; i < files->n && code == 0; i++) {
        const struct hone_call_file *file = &files->v[i];
        if (is_of_task(file)) {
            hone_hasher_str(&h, file->place);
            hone_hasher_str(&h, file->key);
            continue;
        }
        HONE_AUTOFREE char *to = hone_path_join(call_dir, file->place, NULL);
        code = place_one(store, file, to, err);
    }
    hone_hasher_end(&h, key);
    const char *dir = hone_pool_printf(pool, "%s/tasks/%s", store, key);
    if (code == 0 && hone_file_exists(dir))
        (void)utimensat(AT_FDCWD, dir, NULL, 0);
    else if (code == 0)
        code = place_task(store, files, dir, err);
    *ret_task_dir = dir;
    return code;
}
