/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the jail module: what the parent prepares (jail_plan.c, may allocate) and what the
 * child carries out (jail_child.c, jail_mount.c, jail_landlock.c: system calls only, because it
 * runs after a raw clone). Nobody else includes this. */
#ifndef HONE_RUNNER_JAIL_PLAN_H
#define HONE_RUNNER_JAIL_PLAN_H

#include <sys/resource.h>
#include <sys/types.h>

#include "tools/runner/jail/jail.h"

enum hone_jail_rung_id {
    HONE_RUNG_USERNS,
    HONE_RUNG_ROOT,
    HONE_RUNG_WEAK, /* from here on no namespaces */
    HONE_N_RUNGS,   /* of the ladder */
    HONE_RUNG_OPEN = HONE_N_RUNGS
};
extern const char *const hone_jail_rung_names[HONE_N_RUNGS + 1];
static inline bool hone_jail_is_beside_driver(enum hone_jail_profile profile)
{
    return profile == HONE_JAIL_DEVICE || profile == HONE_JAIL_DEVICE_TORCH;
}
static inline bool hone_jail_has_namespaces(enum hone_jail_rung_id rung)
{
    return rung < HONE_RUNG_WEAK;
}

/* A uid that no other running jail has. */
struct hone_jail_slot {
    int lock_fd; /* -1: the caller's own uid is used (not root) */
    uid_t uid;
    gid_t gid;
};
int hone_jail_slot_take(struct hone_jail_slot *ret, struct hone_err *err);
void hone_jail_slot_drop(struct hone_jail_slot *slot);

enum hone_jail_entry_kind {
    HONE_ENTRY_RO,      /* bind, read-only, no set-uid, no devices */
    HONE_ENTRY_RW,      /* bind, writable, also no programs */
    HONE_ENTRY_DEVICE,  /* bind of a device node, or of a folder of them */
    HONE_ENTRY_PROC,    /* a new one, or else a read-only bind of source where that is given */
    HONE_ENTRY_SYMLINK, /* source is the link's text */
    HONE_ENTRY_DIR,     /* empty folder */
    HONE_ENTRY_TMPFS,   /* source is the mount options */
    HONE_ENTRY_COPY     /* a copy of an open file: copy_fd */
};

struct hone_jail_entry {
    enum hone_jail_entry_kind kind;
    bool is_dir;
    bool is_work;
    bool may_hold_code; /* TMPFS: what is written there may be executed */
    int copy_fd;
    int tree_fd;  /* filled by the child */
    char *source; /* owned; on the host */
    char *target; /* owned; absolute, inside */
};

#define HONE_JAIL_MAX_ENTRIES 96
#define HONE_JAIL_MAX_STRINGS 128

struct hone_jail_plan {
    const struct hone_jail_spec *spec;
    enum hone_jail_rung_id rung;
    struct hone_jail_slot slot;
    struct hone_jail_entry entries[HONE_JAIL_MAX_ENTRIES];
    size_t n_entries;
    char *argv[HONE_JAIL_MAX_STRINGS]; /* owned */
    char *env[HONE_JAIL_MAX_STRINGS];  /* owned */
    char *cwd;                         /* owned */
    struct rlimit limits[RLIM_NLIMITS];
    bool has_limit[RLIM_NLIMITS];
    int sync_fd; /* the child's end */
};

/* The parent's part. hone_jail_plan_done frees everything, also of a half-made plan; it does not
 * drop the slot. */
int hone_jail_plan_make(const struct hone_jail_spec *spec, enum hone_jail_rung_id rung,
                        const struct hone_jail_slot *slot, struct hone_jail_plan *ret,
                        struct hone_err *err);
void hone_jail_plan_done(struct hone_jail_plan *plan);

/* The work folder. With a slot uid (root callers): COMPILE gives it to the slot and takes it back
 * afterwards, the others make it readable; several jails may then share it. Without one: nothing to
 * do. Links are never followed. */
int hone_jail_work_lend(const char *path, const struct hone_jail_slot *slot, bool writable,
                        struct hone_err *err);
void hone_jail_work_return(const char *path);
/* More than max_bytes or max_files below path? */
bool hone_jail_work_is_over(const char *path, int64_t max_bytes, int64_t max_files);

/* What the child tells before it becomes the program. It gets two messages itself: one byte once
 * its id maps are written, and later the system call filter. */
enum hone_jail_message_kind {
    HONE_CHILD_FAILED,
    HONE_CHILD_TMP,  /* the descriptor that comes with this is its /tmp */
    HONE_CHILD_READY /* about to exec */
};

struct hone_jail_message {
    enum hone_jail_message_kind kind;
    int native;
    bool try_next_rung; /* FAILED: the machine refused the rung; not the caller's fault */
    char step[120];
};

/* The child's part; never returns. Reports through plan->sync_fd. */
HONE_NORETURN void hone_jail_child(struct hone_jail_plan *plan);
/* Reports errno and ends the child. */
HONE_NORETURN void hone_jail_child_fail(const struct hone_jail_plan *plan, bool try_next_rung,
                                        const char *step, const char *detail);
/* Builds the file tree and makes it the root; *ret_tmp_fd is its /tmp or -1. */
void hone_jail_child_mounts(struct hone_jail_plan *plan, int *ret_tmp_fd);
void hone_jail_child_landlock(const struct hone_jail_plan *plan);
/* 0: no landlock here. */
int hone_landlock_abi(void);

#endif
