/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a pack: every file's relative path and bytes, in sorted order, each framed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/task/task.h"

struct list {
    struct hone_pool *pool;
    const char *root;
    const char *files[HONE_LIMIT_PACK_FILES];
    size_t n;
};

static int collect(struct list *list, const char *relative, int depth, struct hone_err *err)
{
    const char **names = NULL;
    size_t n = 0;
    const char *folder = hone_pool_printf(list->pool, "%s/%s", list->root, relative);
    int code = hone_list_dir(folder, list->pool, &names, &n, err);
    for (size_t i = 0; code == 0 && i < n; i++) {
        const char *name =
            *relative ? hone_pool_printf(list->pool, "%s/%s", relative, names[i]) : names[i];
        const char *path = hone_pool_printf(list->pool, "%s/%s", list->root, name);
        struct stat st;
        if (lstat(path, &st) < 0)
            return hone_fail_errno(err, errno, "%s", path);
        if (S_ISDIR(st.st_mode) && depth < HONE_LIMIT_PACK_DEPTH)
            code = collect(list, name, depth + 1, err);
        else if (!S_ISREG(st.st_mode))
            code =
                hone_fail_at(err, HONE_E_ARG, name,
                             "a pack holds regular files in at most %d levels of folders, no links",
                             HONE_LIMIT_PACK_DEPTH);
        else if (list->n == HONE_LIMIT_PACK_FILES)
            code = hone_fail(err, HONE_E_LIMIT, "a pack holds at most %d files",
                             HONE_LIMIT_PACK_FILES);
        else
            list->files[list->n++] = name;
    }
    return code;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int hone_task_hash(const char *dir, char ret_hex[HONE_HASH_TEXT_BYTES], struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct list *list = hone_pool_alloc(pool, sizeof(*list));
    list->pool = pool;
    list->root = dir;
    int code = collect(list, "", 0, err);
    if (code < 0)
        return code;
    qsort(list->files, list->n, sizeof(list->files[0]), compare_names);
    struct hone_hasher hasher;
    hone_hasher_init(&hasher);
    for (size_t i = 0; i < list->n; i++) {
        HONE_AUTOFREE char *bytes = NULL;
        size_t len = 0;
        const char *path = hone_pool_printf(pool, "%s/%s", dir, list->files[i]);
        if ((code = hone_file_read(path, HONE_LIMIT_FILE_BYTES, &bytes, &len, err)) < 0)
            return code;
        hone_hasher_str(&hasher, list->files[i]);
        hone_hasher_part(&hasher, bytes, len);
    }
    hone_hasher_end(&hasher, ret_hex);
    return 0;
}
