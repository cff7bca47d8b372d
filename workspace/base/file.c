/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, locks and names. Trees of folders are in file_tree.c. */
#include "workspace/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

/* Reads fd to its end; name is for messages. */
static int read_all(int fd, const char *name, size_t limit, char **ret_text, size_t *ret_len,
                    struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = {.limit = limit ? limit : 1};
    for (;;) {
        char part[32768];
        ssize_t n = read(fd, part, sizeof(part));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hone_fail_errno(err, errno, "cannot read '%s'", name);
        if (n == 0)
            break;
        if ((size_t)n > limit - buf.len)
            return hone_fail(err, HONE_E_LIMIT, "file '%s' is larger than the %zu bytes accepted",
                             name, limit);
        hone_buf_add(&buf, part, (size_t)n);
    }
    int rc = hone_buf_check(&buf, err);
    if (rc < 0)
        return hone_wrap(err, "file '%s'", name);
    if (ret_len != NULL)
        *ret_len = buf.len;
    *ret_text = hone_buf_steal(&buf);
    return 0;
}

static int open_failed(struct hone_err *err, int native, const char *name)
{
    if (native == ENOENT || native == ENOTDIR) {
        int rc = hone_fail(err, HONE_E_NOT_FOUND, "no file '%s'", name);
        if (err != NULL)
            err->native = native;
        return rc;
    }
    return hone_fail_errno(err, native, "cannot open '%s'", name);
}

/* O_NONBLOCK: opening a FIFO must not hang before it is refused. */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* errno is that of open. */
static int read_opened(int fd, const char *name, size_t limit, char **ret_text, size_t *ret_len,
                       struct hone_err *err)
{
    if (fd < 0)
        return open_failed(err, errno, name);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return hone_fail_errno(err, errno, "cannot stat '%s'", name);
    if (!S_ISREG(st.st_mode))
        return hone_fail(err, HONE_E_ARG, "'%s' is not a regular file", name);
    return read_all(fd, name, limit, ret_text, ret_len, err);
}

int hone_file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len,
                   struct hone_err *err)
{
    HONE_AUTOCLOSE int fd = open(path, READ_FLAGS);
    return read_opened(fd, path, limit, ret_text, ret_len, err);
}

int hone_file_read_at(int dir_fd, const char *name, size_t limit, char **ret_text, size_t *ret_len,
                      struct hone_err *err)
{
    HONE_AUTOCLOSE int fd = openat(dir_fd, name, READ_FLAGS | O_NOFOLLOW);
    return read_opened(fd, name, limit, ret_text, ret_len, err);
}

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Folder part of a path; owned. */
static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return hone_strdup(".");
    return slash == path ? hone_strdup("/") : hone_strndup(path, (size_t)(slash - path));
}

static int sync_dir(const char *path)
{
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -1 : fsync(fd);
}

/* Fills and closes the temporary file; -1 with errno. */
static int fill(int fd, const void *bytes, size_t len, unsigned mode, bool sync)
{
    if (write_all(fd, bytes, len) != 0 || fchmod(fd, (mode_t)mode) != 0)
        return -1;
    return sync ? fsync(fd) : 0;
}

int hone_file_write(const char *path, const void *bytes, size_t len, unsigned mode, bool sync,
                    struct hone_err *err)
{
    HONE_AUTOFREE char *dir = parent_of(path);
    char nonce[17];
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return hone_fail(err, HONE_E_IO, "'%s' is there and no regular file: it is left as it is",
                         path);
    hone_random_hex(nonce, 8);
    HONE_AUTOFREE char *temporary = hone_sprintf("%s/.tmp-%s", dir, nonce);
    HONE_AUTOCLOSE int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return hone_fail_errno(err, errno, "cannot create a file in '%s'", dir);
    if (fill(fd, bytes, len, mode, sync) != 0 || rename(temporary, path) != 0) {
        int native = errno;
        unlink(temporary);
        return hone_fail_errno(err, native, "cannot write '%s'", path);
    }
    if (sync && sync_dir(dir) != 0)
        return hone_fail_errno(err, errno, "cannot sync folder '%s'", dir);
    return 0;
}

int hone_file_copy(const char *from, const char *to, size_t limit, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    struct stat st;
    int rc = hone_file_read(from, limit, &text, &len, err);
    if (rc < 0)
        return rc;
    if (stat(from, &st) != 0)
        return hone_fail_errno(err, errno, "cannot stat '%s'", from);
    return hone_file_write(to, text, len, st.st_mode & 0777, false, err);
}

bool hone_file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* Takes the lock at fd, asking again every few milliseconds: flock has no deadline of its own. */
static int take_lock(int fd, int64_t wait_deadline_ns)
{
    static const struct timespec pause = {.tv_nsec = 5 * HONE_NS_PER_MS};
    for (;;) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return -1;
        if (wait_deadline_ns == 0 || hone_ms_until(wait_deadline_ns) == 0) {
            errno = EWOULDBLOCK;
            return -1;
        }
        nanosleep(&pause, NULL);
    }
}

int hone_lock_file(const char *path, int64_t wait_deadline_ns, int *ret_fd, struct hone_err *err)
{
    for (;;) {
        HONE_AUTOCLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return hone_fail_errno(err, errno, "cannot open lock file '%s'", path);
        if (take_lock(fd, wait_deadline_ns) != 0) {
            if (errno == EWOULDBLOCK)
                return hone_fail(err, HONE_E_BUSY, "another process holds the lock '%s'", path);
            return hone_fail_errno(err, errno, "cannot lock '%s'", path);
        }
        /* A lock on a file that was removed meanwhile would exclude nobody. */
        struct stat held, named;
        if (fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev) {
            *ret_fd = fd;
            fd = -1;
            return 0;
        }
    }
}

char *hone_path_join(const char *first, ...)
{
    struct hone_buf out = HONE_BUF_INIT;
    hone_buf_str(&out, first);
    va_list args;
    va_start(args, first);
    for (const char *part; (part = va_arg(args, const char *)) != NULL;) {
        if (out.len > 0 && out.data[out.len - 1] != '/')
            hone_buf_str(&out, "/");
        while (*part == '/' && out.len > 0)
            part++;
        hone_buf_str(&out, part);
    }
    va_end(args);
    HONE_BUG_ON(out.has_failed);
    return hone_buf_steal(&out);
}

bool hone_is_safe_name(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    if (name == NULL || name[0] == '\0' || name[0] == '.' || name[0] == '-')
        return false;
    static const char lock[] = ".lock"; /* git keeps this end for itself, and ".." and a last dot */
    size_t len = strlen(name), n = sizeof(lock) - 1;
    if (strstr(name, "..") != NULL || name[len - 1] == '.' ||
        (len >= n && strcmp(name + len - n, lock) == 0))
        return false;
    return len <= HONE_LIMIT_NAME_BYTES && strspn(name, allowed) == len;
}

char *hone_exe_dir(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n <= 0)
        return NULL;
    path[n] = '\0';
    return parent_of(path);
}
