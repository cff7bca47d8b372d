#include "tools/runner/jail_plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 16

/* What a walk does with each entry, the top folder included. Non-zero ends the walk. */
typedef int visit_fn(int dir_fd, const char *name, const struct stat *info, void *arg);

static int walk(int dir_fd, const char *name, int depth, visit_fn *visit, void *arg)
{
    struct stat info;
    if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    int rc = visit(dir_fd, name, &info, arg);
    if (rc != 0 || !S_ISDIR(info.st_mode) || depth == MAX_DEPTH)
        return rc;
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        rc = -errno;
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

static int give(int dir_fd, const char *name, const struct stat *info, void *arg)
{
    const struct owner *owner = arg;
    if (!S_ISLNK(info->st_mode) && (info->st_mode & 07000) != 0 &&
        fchmodat(dir_fd, name, info->st_mode & 0777, 0) < 0)
        return -errno;
    return fchownat(dir_fd, name, owner->uid, owner->gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int open_up(int dir_fd, const char *name, const struct stat *info, void *arg)
{
    (void)arg;
    mode_t more = S_ISDIR(info->st_mode) || (info->st_mode & 0100) != 0 ? 0555 : 0444;
    if (S_ISLNK(info->st_mode) || (info->st_mode & more) == more)
        return 0;
    return fchmodat(dir_fd, name, (info->st_mode | more) & 0777, 0) < 0 ? -errno : 0;
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

static int count(int dir_fd, const char *name, const struct stat *info, void *arg)
{
    (void)dir_fd;
    (void)name;
    struct usage *usage = arg;
    usage->bytes += (int64_t)info->st_blocks * 512;
    usage->files++;
    return usage->bytes > usage->max_bytes || usage->files > usage->max_files ? 1 : 0;
}

bool hone_jail_work_is_over(const char *path, int64_t max_bytes, int64_t max_files)
{
    struct usage usage = {.max_bytes = max_bytes, .max_files = max_files};
    return walk(AT_FDCWD, path, 0, count, &usage) == 1;
}
