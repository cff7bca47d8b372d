/* SPDX-License-Identifier: Apache-2.0 */
/* The jail's file tree, built by the child in its own mount namespace.
 *
 * Sources are cloned first (open_tree), while the old root is still in place and, with a user
 * namespace, while the child still has the caller's rights to walk to them. Then an empty tmpfs is
 * mounted, the clones are moved in, and it becomes the root. So it does not matter what the tmpfs
 * covers. Inside a chroot "/" is no mount point and cannot be made private; setns to the child's
 * own mount namespace leads to the real root, where it can. */
#include "tools/runner/jail/jail_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail(const struct hone_jail_plan *plan, const char *step, const char *detail)
{
    hone_jail_child_fail(plan, true, step, detail);
}

static void open_sources(struct hone_jail_plan *plan)
{
    for (size_t i = 0; i < plan->n_entries; i++) {
        struct hone_jail_entry *entry = &plan->entries[i];
        if (entry->kind > HONE_ENTRY_PROC || entry->source == NULL)
            continue;
        entry->tree_fd =
            open_tree(AT_FDCWD, entry->source,
                      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (entry->is_dir ? AT_RECURSIVE : 0));
        if (entry->tree_fd < 0)
            hone_jail_child_fail(plan, errno != ENOENT, "open_tree", entry->source);
    }
}

static void make_private(const struct hone_jail_plan *plan)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        return;
    int fd = errno == EINVAL ? open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || setns(fd, CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        fail(plan, "make mounts private", "/");
    (void)close(fd);
}

/* mkdir -p for the parents of a target, relative to the current folder. */
static void make_parents(const struct hone_jail_plan *plan, const char *target)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), ".%s", target);
    for (char *slash = strchr(path + 2, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            fail(plan, "mkdir", path);
        *slash = '/';
    }
}

static void restrict_mount(const struct hone_jail_plan *plan, const struct hone_jail_entry *entry,
                           const char *path)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID, .propagation = MS_PRIVATE};
    unsigned long flags = MS_BIND | MS_REMOUNT | MS_NOSUID;
    if (entry->kind != HONE_ENTRY_RW) {
        attr.attr_set |= MOUNT_ATTR_RDONLY;
        flags |= MS_RDONLY;
    }
    if (entry->kind == HONE_ENTRY_RO) {
        attr.attr_set |= MOUNT_ATTR_NODEV;
        flags |= MS_NODEV;
    } else {
        attr.attr_set |= MOUNT_ATTR_NOEXEC | (entry->kind == HONE_ENTRY_RW ? MOUNT_ATTR_NODEV : 0u);
        flags |= MS_NOEXEC | (entry->kind == HONE_ENTRY_RW ? (unsigned long)MS_NODEV : 0ul);
    }
    if (mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)) == 0)
        return;
    /* Linux before 5.12: flags that the source already had must be named again. */
    struct statvfs old;
    if (errno != ENOSYS || statvfs(path, &old) < 0)
        fail(plan, "restrict mount", entry->target);
    flags |= (old.f_flag & ST_NODEV ? (unsigned long)MS_NODEV : 0) |
             (old.f_flag & ST_NOEXEC ? (unsigned long)MS_NOEXEC : 0) |
             (old.f_flag & ST_NOATIME ? (unsigned long)MS_NOATIME : 0) |
             (old.f_flag & ST_RELATIME ? (unsigned long)MS_RELATIME : 0);
    if (mount(NULL, path, NULL, flags, NULL) < 0)
        fail(plan, "restrict mount", entry->target);
}

static void copy_file(const struct hone_jail_plan *plan, const struct hone_jail_entry *entry,
                      int out)
{
    char block[65536];
    ssize_t n;
    while ((n = read(entry->copy_fd, block, sizeof(block))) > 0)
        if (write(out, block, (size_t)n) != n)
            fail(plan, "copy", entry->target);
    (void)fchmod(out, 0755);
}

static void place(const struct hone_jail_plan *plan, const struct hone_jail_entry *entry)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), ".%s", entry->target);
    make_parents(plan, entry->target);
    if (entry->kind == HONE_ENTRY_SYMLINK) {
        if (symlink(entry->source, path) < 0 && errno != EEXIST)
            fail(plan, "symlink", entry->target);
        return;
    }
    if (entry->is_dir) {
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            fail(plan, "mkdir", entry->target);
    } else {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0)
            fail(plan, "make file", entry->target);
        if (entry->kind == HONE_ENTRY_COPY)
            copy_file(plan, entry, fd);
        (void)close(fd);
    }
    unsigned long noexec = entry->may_hold_code ? 0 : MS_NOEXEC;
    if (entry->kind == HONE_ENTRY_TMPFS &&
        mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | noexec, entry->source) < 0)
        fail(plan, "mount tmpfs", entry->target);
    if (entry->kind == HONE_ENTRY_PROC) { /* a new one is refused in some containers */
        bool is_new = mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
        if (!is_new && entry->tree_fd < 0)
            fail(plan, "mount proc", entry->target);
        if (is_new) {
            if (entry->tree_fd >= 0)
                (void)close(entry->tree_fd);
            return;
        }
    }
    if (entry->tree_fd >= 0) {
        if (move_mount(entry->tree_fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
            fail(plan, "move_mount", entry->target);
        (void)close(entry->tree_fd);
        restrict_mount(plan, entry, path);
    }
}

/* An empty tmpfs somewhere; the current folder becomes its root. */
static void make_root(const struct hone_jail_plan *plan)
{
    static const char *const places[] = {"/tmp", "/mnt", "/var", "/dev", "/proc"};
    for (size_t i = 0; i < HONE_COUNTOF(places); i++)
        if (mount("tmpfs", places[i], "tmpfs", MS_NOSUID | MS_NODEV,
                  "size=16m,nr_inodes=1024,mode=755") == 0 &&
            chdir(places[i]) == 0)
            return;
    fail(plan, "mount tmpfs", "for the new root");
}

static void enter_root(const struct hone_jail_plan *plan)
{
    if (syscall(SYS_pivot_root, ".", ".") == 0) {
        if (umount2(".", MNT_DETACH) < 0)
            fail(plan, "umount old root", "/");
    } else if (errno != EINVAL || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0) {
        fail(plan, "pivot_root",
             "/"); /* EINVAL: the old root is the initial ramfs, which cannot be pivoted */
    }
    if (chdir("/") < 0 ||
        mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0)
        fail(plan, "make root read-only", "/");
}

void hone_jail_child_mounts(struct hone_jail_plan *plan, int *ret_tmp_fd)
{
    open_sources(plan);
    make_private(plan);
    /* Not libc's functions, which wait for threads that were not cloned (jail_child.c). */
    if (plan->rung == HONE_RUNG_USERNS &&
        (syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0))
        fail(plan, "become the mapped user", "");
    (void)umask(022);
    make_root(plan);
    for (size_t i = 0; i < plan->n_entries; i++)
        place(plan, &plan->entries[i]);
    enter_root(plan);
    *ret_tmp_fd = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
}
