/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/git_refs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define ID_LEN        40
#define REF_TRIES     200 /* of 10 ms: git gc holds a ref's lock for a moment */
#define REF_WAIT_NS   10000000l
#define SETTLED_NS    (2 * HONE_NS_PER_S)
#define PACKED_BYTES  (1u << 30)
#define VERSION_REFS  "refs/hone/v/"
#define VERSION_BYTES (sizeof(VERSION_REFS) - 1 + 3 + ID_LEN) /* prefix, "ab/", id */

static void close_dir_ptr(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static int open_lock(const char *lock, const char *folder, int *ret_fd, struct hone_err *err)
{
    for (int i = 0; i < REF_TRIES; i++) {
        int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0) {
            *ret_fd = fd;
            return 0;
        }
        int native = errno;
        if (native == ENOENT) { /* the folder is new, or git gc has just removed it as empty */
            struct hone_err why = HONE_ERR_INIT;
            if (hone_mkdirs(folder, 0755, &why) < 0 && why.native != ENOENT)
                return hone_fail(err, why.code, "%s", why.message);
            continue; /* ENOENT: git gc removed a parent while we were making the child */
        }
        if (native != EEXIST)
            return hone_fail_errno(err, native, "cannot write the ref '%s'", lock);
        nanosleep(&(struct timespec){.tv_nsec = REF_WAIT_NS}, NULL);
    }
    return hone_fail(err, HONE_E_BUSY, "somebody holds the lock '%s'", lock);
}

int hone_git_write_new_ref(const char *dir, const char *name, const char *id, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_sprintf("%s/.git/%s", dir, name);
    char *lock HONE_AUTOFREE = hone_sprintf("%s.lock", path);
    char *folder HONE_AUTOFREE = hone_strndup(path, (size_t)(strrchr(path, '/') - path));
    char *text HONE_AUTOFREE = hone_sprintf("%s\n", id);
    int fd HONE_AUTOCLOSE = -1;
    int rc = open_lock(lock, folder, &fd, err);
    if (rc < 0)
        return rc;
    errno = ENOSPC; /* what a short write means */
    if (write(fd, text, ID_LEN + 1) != ID_LEN + 1 || rename(lock, path) < 0) {
        rc = hone_fail_errno(err, errno, "cannot write the ref '%s'", name);
        unlink(lock);
    }
    return rc;
}

static bool is_id(const char *name)
{
    return strspn(name, "0123456789abcdef") == ID_LEN && name[ID_LEN] == '\0';
}

static int64_t changed_ns(const struct stat *st)
{
    return st->st_mtim.tv_sec * HONE_NS_PER_S + st->st_mtim.tv_nsec;
}

static void scan_folder(const char *path, int64_t *seen_ns, void (*fn)(void *arg, const char *id),
                        void *arg)
{
    struct stat st;
    if (stat(path, &st) < 0 || changed_ns(&st) == *seen_ns)
        return;
    /* Another ref may still come within the same tick: such a young folder is read again. */
    *seen_ns = changed_ns(&st) < hone_wall_ms() * HONE_NS_PER_MS - SETTLED_NS ? changed_ns(&st) : 0;
    DIR *dir HONE_CLEANUP(close_dir_ptr) = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (is_id(entry->d_name))
            fn(arg, entry->d_name);
}

/* Lines "<id> <name>", besides comments (#) and peeled tags (^). */
static void scan_packed_text(const char *text, void (*fn)(void *arg, const char *id), void *arg)
{
    const char *end;
    for (const char *line = text; (end = strchr(line, '\n')); line = end + 1) {
        char id[ID_LEN + 1];
        if ((size_t)(end - line) != ID_LEN + 1 + VERSION_BYTES ||
            strncmp(line + ID_LEN + 1, VERSION_REFS, sizeof(VERSION_REFS) - 1) != 0)
            continue;
        memcpy(id, end - ID_LEN, ID_LEN);
        id[ID_LEN] = '\0';
        if (is_id(id))
            fn(arg, id);
    }
}

static int scan_packed(const char *dir, struct hone_ref_scan *scan,
                       void (*fn)(void *arg, const char *id), void *arg, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_path_join(dir, ".git/packed-refs", NULL);
    char *text HONE_AUTOFREE = NULL;
    struct stat st;
    /* git replaces the whole file, so a new one has another inode. */
    if (stat(path, &st) < 0 ||
        (changed_ns(&st) == scan->packed_ns && st.st_size == scan->packed_bytes &&
         st.st_ino == scan->packed_inode))
        return 0;
    int rc = hone_file_read(path, PACKED_BYTES, &text, NULL, err);
    if (rc < 0)
        return rc;
    scan_packed_text(text, fn, arg);
    scan->packed_ns = changed_ns(&st);
    scan->packed_bytes = st.st_size;
    scan->packed_inode = st.st_ino;
    return 0;
}

int hone_git_scan_versions(const char *dir, struct hone_ref_scan *scan,
                           void (*fn)(void *arg, const char *id), void *arg, struct hone_err *err)
{
    /* Loose ones first: git packs a ref before it removes the loose one, so none is missed. */
    for (unsigned i = 0; i < HONE_REF_FOLDERS; i++) {
        char *path HONE_AUTOFREE = hone_sprintf("%s/.git/" VERSION_REFS "%02x", dir, i);
        scan_folder(path, &scan->folders_ns[i], fn, arg);
    }
    return scan_packed(dir, scan, fn, arg, err);
}
