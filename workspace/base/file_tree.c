/* SPDX-License-Identifier: Apache-2.0 */
/* Folders: make, list, copy, remove.
 *
 * Removal works through folder descriptors and never follows a link, because what it removes may
 * have been written by a candidate. A tree deeper than MAX_DEPTH is flattened first (a deep folder
 * is renamed to the top), so that neither the stack nor the descriptors run out. */
#include "workspace/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

#define MAX_DEPTH 48

static void close_dir(DIR **dir)
{
    if (*dir != NULL)
        closedir(*dir);
}
#define AUTODIR HONE_CLEANUP(close_dir)

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

int hone_mkdirs(const char *path, unsigned mode, struct hone_err *err)
{
    HONE_AUTOFREE char *copy = hone_strdup(path);
    for (char *p = copy + 1; copy[0] != '\0'; p++) {
        bool is_end = *p == '\0';
        if (*p != '/' && !is_end)
            continue;
        *p = '\0';
        struct stat st;
        if (mkdir(copy, (mode_t)mode) != 0) {
            int native = errno;
            if (stat(copy, &st) != 0 || !S_ISDIR(st.st_mode))
                return hone_fail_errno(err, native, "cannot make folder '%s'", copy);
        }
        if (is_end)
            return 0;
        *p = '/';
    }
    return hone_fail(err, HONE_E_ARG, "the name of a folder is empty");
}

/* ---- listing ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int hone_list_dir(const char *path, struct hone_pool *pool, const char ***ret_names, size_t *ret_n,
                  struct hone_err *err)
{
    AUTODIR DIR *dir = opendir(path);
    if (dir == NULL && (errno == ENOENT || errno == ENOTDIR))
        return hone_fail(err, HONE_E_NOT_FOUND, "no folder '%s'", path);
    if (dir == NULL)
        return hone_fail_errno(err, errno, "cannot open folder '%s'", path);
    HONE_CLEANUP(hone_buf_done) struct hone_buf list = HONE_BUF_INIT;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (entry == NULL && errno != 0)
            return hone_fail_errno(err, errno, "cannot list folder '%s'", path);
        if (entry == NULL)
            break;
        if (is_dot(entry->d_name))
            continue;
        char *name = hone_pool_strdup(pool, entry->d_name);
        hone_buf_add(&list, &name, sizeof(name));
    }
    int rc = hone_buf_check(&list, err);
    if (rc < 0)
        return hone_wrap(err, "folder '%s'", path);
    size_t n = list.len / sizeof(char *);
    const char **names = hone_pool_alloc(pool, list.len + sizeof(char *));
    if (n > 0)
        memcpy(names, list.data, list.len);
    qsort(names, n, sizeof(*names), compare_names);
    *ret_names = names;
    *ret_n = n;
    return 0;
}

/* ---- removing ---- */

struct removal {
    int top_fd;
    dev_t device;
    bool has_moved; /* a deep folder now lies at the top: go round again */
};

static int open_folder(int at, const char *name)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(at, name, flags);
    if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
        fd = openat(at, name, flags);
    return fd;
}

static int remove_contents(struct removal *r, int fd, int depth);

/* Removes one entry; -1 with errno. */
static int remove_entry(struct removal *r, int at, const char *name, int depth)
{
    struct stat st;
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : -1;
    if (!S_ISDIR(st.st_mode))
        return unlinkat(at, name, 0) == 0 || errno == ENOENT ? 0 : -1;
    if (st.st_dev != r->device) {
        errno = EXDEV;
        return -1;
    }
    if (depth >= MAX_DEPTH) {
        char flat[40];
        memcpy(flat, ".deep-", 6);
        hone_random_hex(flat + 6, 8);
        r->has_moved = true;
        return renameat(at, name, r->top_fd, flat);
    }
    HONE_AUTOCLOSE int fd = open_folder(at, name);
    if (fd < 0)
        return -1;
    struct stat opened; /* the name may have been swapped for a mount point since */
    if (fstat(fd, &opened) != 0)
        return -1;
    if (opened.st_dev != r->device) {
        errno = EXDEV;
        return -1;
    }
    if (remove_contents(r, fd, depth + 1) != 0)
        return -1;
    return unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : -1;
}

static int remove_contents(struct removal *r, int fd, int depth)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    AUTODIR DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (dir == NULL) {
        hone_close_fd(&copy);
        return -1;
    }
    rewinddir(
        dir); /* the copy shares its offset with a descriptor that may have been read before */
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (entry == NULL)
            return errno ? -1 : 0;
        if (is_dot(entry->d_name))
            continue;
        if (remove_entry(r, fd, entry->d_name, depth) != 0 &&
            !(errno == EACCES && fchmod(fd, 0700) == 0 &&
              remove_entry(r, fd, entry->d_name, depth) == 0))
            return -1;
    }
}

int hone_remove_tree(const char *path, struct hone_err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : hone_fail_errno(err, errno, "cannot remove '%s'", path);
    if (!S_ISDIR(st.st_mode))
        return unlink(path) == 0 || errno == ENOENT
                   ? 0
                   : hone_fail_errno(err, errno, "cannot remove '%s'", path);
    HONE_AUTOCLOSE int fd = open_folder(AT_FDCWD, path);
    if (fd < 0)
        return hone_fail_errno(err, errno, "cannot remove '%s'", path);
    struct removal r = {.top_fd = fd, .device = st.st_dev};
    do {
        r.has_moved = false;
        if (remove_contents(&r, fd, 0) != 0)
            return hone_fail_errno(err, errno, "cannot remove all of '%s'", path);
    } while (r.has_moved);
    if (rmdir(path) != 0 && errno != ENOENT)
        return hone_fail_errno(err, errno, "cannot remove '%s'", path);
    return 0;
}

/* ---- copying ---- */

static int copy_folder(const char *from, const char *to, size_t *n_left, int depth,
                       struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names;
    size_t n;
    if (depth >= MAX_DEPTH)
        return hone_fail(err, HONE_E_LIMIT, "folder '%s' is nested deeper than %d levels", from,
                         MAX_DEPTH);
    int rc = hone_list_dir(from, pool, &names, &n, err);
    if (rc == 0)
        rc = hone_mkdirs(to, 0755, err);
    for (size_t i = 0; i < n && rc == 0; i++) {
        HONE_AUTOFREE char *source = hone_path_join(from, names[i], NULL);
        HONE_AUTOFREE char *target = hone_path_join(to, names[i], NULL);
        struct stat st;
        if (*n_left == 0)
            return hone_fail(err, HONE_E_LIMIT, "more files than accepted, at '%s'", source);
        (*n_left)--;
        if (lstat(source, &st) != 0)
            return hone_fail_errno(err, errno, "cannot stat '%s'", source);
        if (S_ISDIR(st.st_mode))
            rc = copy_folder(source, target, n_left, depth + 1, err);
        else if (S_ISREG(st.st_mode))
            rc = hone_file_copy(source, target, HONE_LIMIT_FILE_BYTES, err);
        else
            rc = hone_fail(err, HONE_E_ARG,
                           "'%s' is neither a file nor a folder; replace the link by what it "
                           "points to",
                           source);
    }
    return rc;
}

int hone_copy_tree(const char *from, const char *to, size_t max_files, struct hone_err *err)
{
    size_t n_left = max_files;
    return copy_folder(from, to, &n_left, 0, err);
}
