/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/jail/jail_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "workspace/base/file.h"

/* Numbers that nobody else hands out: above systemd's container range; and, where a container maps
 * only 16 bits, a hole between systemd's ranges. docs/security.md 4 has the reasons. */
static const unsigned bases[] = {2000000000u, 60600u};

#define N_SLOTS 500u

/* Does this user namespace know all of base .. base + N_SLOTS? */
static bool is_mapped(unsigned base)
{
    FILE *file = fopen("/proc/self/uid_map", "re");
    unsigned inside = 0;
    unsigned outside = 0;
    unsigned count = 0;
    bool found = file == NULL; /* no /proc: setresuid will tell */
    while (!found && fscanf(file, "%u %u %u", &inside, &outside, &count) == 3)
        found = base >= inside && base - inside < count && count - (base - inside) >= N_SLOTS;
    if (file != NULL)
        (void)fclose(file);
    return found;
}

static int open_folder(char **ret, struct hone_err *err)
{
    const char *tmp = getenv("TMPDIR");
    const char *parents[] = {"/run/hone", "/var/run/hone", NULL};
    HONE_AUTOFREE char *fallback = hone_path_join(tmp == NULL ? "/tmp" : tmp, "hone-root", NULL);
    for (const char *const *parent = parents; *parent != NULL; parent++) {
        HONE_AUTOFREE char *path = hone_path_join(*parent, "slots", NULL);
        if (hone_mkdirs(path, 0700, NULL) == 0 && access(path, W_OK) == 0) {
            *ret = HONE_STEAL(path);
            return 0;
        }
    }
    int rc = hone_mkdirs(fallback, 0700, err);
    if (rc == 0)
        *ret = HONE_STEAL(fallback);
    return rc;
}

int hone_jail_slot_take(struct hone_jail_slot *ret, struct hone_err *err)
{
    if (geteuid() != 0) {
        *ret = (struct hone_jail_slot){.lock_fd = -1, .uid = geteuid(), .gid = getegid()};
        return 0;
    }
    unsigned base = bases[0];
    for (size_t i = 0; i < HONE_COUNTOF(bases) && !is_mapped(base); i++)
        base = bases[i];
    HONE_AUTOFREE char *folder = NULL;
    int rc = open_folder(&folder, err);
    if (rc < 0)
        return hone_wrap(err, "no place for the jail's uid slots");
    for (unsigned slot = 0; slot < N_SLOTS; slot++) {
        HONE_AUTOFREE char *path = hone_sprintf("%s/%u", folder, slot);
        int fd = -1;
        rc = hone_lock_file(path, 0, &fd, err);
        if (rc == HONE_E_BUSY)
            continue;
        if (rc < 0)
            return hone_wrap(err, "uid slot %u", slot);
        *ret = (struct hone_jail_slot){.lock_fd = fd, .uid = base + slot, .gid = base + slot};
        return 0;
    }
    return hone_fail(err, HONE_E_LIMIT,
                     "all %u jail slots in %s are taken; wait for other runs to end", N_SLOTS,
                     folder);
}

void hone_jail_slot_drop(struct hone_jail_slot *slot)
{
    hone_close_fd(&slot->lock_fd);
}
