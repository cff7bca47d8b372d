/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/jail/jail_plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 16

/* What a walk does with each entry, the top folder included. Non-zero ends the walk. What lies
 * below MAX_DEPTH is not walked. */
struct visit {
    int dir_fd;
    const char *name;
    const struct stat *info;
    bool is_cut; /* a folder that is not walked */
};
typedef int visit_fn(const struct visit *at, void *arg);

static int walk(int dir_fd, const char *name, int depth, visit_fn *visit, void *arg)
{
    struct stat info;
    if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    bool is_dir = S_ISDIR(info.st_mode);
    struct visit at = {dir_fd, name, &info, is_dir && depth == MAX_DEPTH};
    int rc = visit(&at, arg);
    if (rc != 0 || !is_dir || at.is_cut)
        return rc;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        rc = errno == ENOENT ? 0 : -errno;
        hone_close_fd(&fd);
        return rc;
    }
    const struct dirent *entry;
    while (rc == 0 && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = walk(dirfd(folder), entry->d_name, depth + 1, visit, arg);
    (void)closedir(folder);
    return rc;
}

struct owner {
    uid_t uid;
    gid_t gid;
};

static int give(const struct visit *at, void *arg)
{
    const struct owner *owner = arg;
    mode_t mode = at->info->st_mode;
    if (!S_ISLNK(mode) && (mode & 07000) != 0 && fchmodat(at->dir_fd, at->name, mode & 0777, 0) < 0)
        return -errno;
    return fchownat(at->dir_fd, at->name, owner->uid, owner->gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
                                                                                           : 0;
}

static int open_up(const struct visit *at, void *arg)
{
    (void)arg;
    mode_t mode = at->info->st_mode, more = S_ISDIR(mode) || (mode & 0100) != 0 ? 0555 : 0444;
    if (S_ISLNK(mode) || (mode & more) == more)
        return 0;
    return fchmodat(at->dir_fd, at->name, (mode | more) & 0777, 0) < 0 ? -errno : 0;
}

int hone_jail_work_lend(const char *path, const struct hone_jail_slot *slot, bool writable,
                        struct hone_err *err)
{
    if (slot->lock_fd < 0)
        return 0;
    struct owner owner = {.uid = slot->uid, .gid = slot->gid};
    int rc =
        writable ? walk(AT_FDCWD, path, 0, give, &owner) : walk(AT_FDCWD, path, 0, open_up, NULL);
    return rc < 0 ? hone_fail_errno(err, -rc, "cannot give folder '%s' to the jail's uid %u", path,
                                    slot->uid)
                  : 0;
}

void hone_jail_work_return(const char *path)
{
    struct owner owner = {.uid = geteuid(), .gid = getegid()};
    (void)walk(AT_FDCWD, path, 0, give, &owner);
}

struct usage {
    int64_t bytes, files, max_bytes, max_files;
};

static int count(const struct visit *at, void *arg)
{
    struct usage *usage = arg;
    usage->bytes += (int64_t)at->info->st_blocks * 512;
    usage->files++;
    /* No compiler needs folders that deep, and nobody would count what lies in them. */
    return at->is_cut || usage->bytes > usage->max_bytes || usage->files > usage->max_files ? 1 : 0;
}

bool hone_jail_work_is_over(const char *path, int64_t max_bytes, int64_t max_files)
{
    struct usage usage = {.max_bytes = max_bytes, .max_files = max_files};
    int rc = walk(AT_FDCWD, path, 0, count, &usage);
    return rc == 1 || rc == -EACCES; /* a folder that was closed so that nobody counts */
}
