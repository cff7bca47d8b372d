/* SPDX-License-Identifier: Apache-2.0 */
/* The weak rung's file rules: landlock instead of a file tree of its own. Own declarations, because
 * the kernel headers of the build machine may be older than its kernel; unknown rights are masked
 * by the version that the kernel reports. */
#include "tools/runner/jail/jail_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

#define CREATE_VERSION 1u
#define RULE_PATH      1

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_ALL_1 = (1 << 13) - 1, /* version 1: up to making symbolic links */
    FS_REFER = 1 << 13,       /* 2 */
    FS_TRUNCATE = 1 << 14,    /* 3 */
    FS_IOCTL_DEV = 1 << 15,   /* 5 */
    FS_OF_FILES = FS_EXECUTE | FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV
};
#define NET_ALL   3u /* 4: bind and connect */
#define SCOPE_ALL 3u /* 6: abstract sockets and signals */

struct ruleset {
    uint64_t files, net, scoped;
};

struct rule {
    uint64_t access;
    int32_t fd;
} __attribute__((packed));

int hone_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, CREATE_VERSION);
    return abi < 0 ? 0 : (int)abi;
}

static void allow(const struct hone_jail_plan *plan, int ruleset, const char *path, uint64_t access)
{
    struct stat info;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return;
    if (fd < 0 || fstat(fd, &info) < 0)
        hone_jail_child_fail(plan, false, "open", path);
    if (!S_ISDIR(info.st_mode))
        access &= FS_OF_FILES;
    struct rule rule = {.access = access, .fd = fd};
    if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &rule, 0u) < 0)
        hone_jail_child_fail(plan, true, "landlock rule for", path);
    (void)close(fd);
}

void hone_jail_child_landlock(const struct hone_jail_plan *plan)
{
    int abi = hone_landlock_abi();
    uint64_t all = FS_ALL_1;
    all |= (abi >= 2 ? (uint64_t)FS_REFER : 0) | (abi >= 3 ? (uint64_t)FS_TRUNCATE : 0) |
           (abi >= 5 ? (uint64_t)FS_IOCTL_DEV : 0);
    struct ruleset attr = {.files = all, .net = NET_ALL, .scoped = SCOPE_ALL};
    size_t size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    long ruleset = syscall(SYS_landlock_create_ruleset, &attr, size, 0u);
    if (ruleset < 0)
        hone_jail_child_fail(plan, true, "landlock", "is not available");
    uint64_t read = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR;
    for (size_t i = 0; i < plan->n_entries; i++) {
        const struct hone_jail_entry *entry = &plan->entries[i];
        if (entry->kind == HONE_ENTRY_RO)
            allow(plan, (int)ruleset, entry->source, read);
        else if (entry->kind == HONE_ENTRY_RW)
            allow(plan, (int)ruleset, entry->source,
                  all & ~(uint64_t)FS_EXECUTE & ~(uint64_t)FS_IOCTL_DEV);
        else if (entry->kind == HONE_ENTRY_DEVICE &&
                 hone_jail_is_beside_driver(plan->spec->profile))
            allow(plan, (int)ruleset, entry->source,
                  (FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_IOCTL_DEV) & all);
        else if (entry->kind == HONE_ENTRY_PROC && entry->source != NULL)
            allow(plan, (int)ruleset, entry->source, read);
        else if (entry->kind == HONE_ENTRY_DEVICE)
            allow(plan, (int)ruleset, entry->source, FS_READ_FILE | FS_WRITE_FILE);
        else if (entry->kind == HONE_ENTRY_SYMLINK)
            allow(plan, (int)ruleset, entry->target, read); /* what the link leads to, e.g. /lib */
    }
    if (syscall(SYS_landlock_restrict_self, ruleset, 0u) < 0)
        hone_jail_child_fail(plan, true, "landlock", "cannot be applied");
    (void)close((int)ruleset);
}
