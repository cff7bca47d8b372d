/* SPDX-License-Identifier: Apache-2.0 */
/* The many refs of the versions, by git's own file formats instead of libgit2.
 *
 * libgit2 1.5 compares a new ref's name with every packed one (0.8 ms at 20,000) and opens every
 * loose ref to list them. Here a ref is written as git does it (NAME.lock, rename), and names are
 * listed from folders and from packed-refs; only what changed since the last listing is read.
 * Internal to workspace/. Blocking. */
#ifndef HONE_WORKSPACE_GIT_REFS_H
#define HONE_WORKSPACE_GIT_REFS_H

#include "workspace/base/buf.h"

#define HONE_REF_FOLDERS 256 /* refs/hone/v/00 ... ff */

struct hone_ref_scan {                    /* what the last listing saw; starts zeroed */
    int64_t folders_ns[HONE_REF_FOLDERS]; /* when changed; 0: not seen, or so young that it may
                                             change again in one clock tick */
    int64_t packed_ns, packed_bytes;
    uint64_t packed_inode;
};

/* Writes refs/hone/v/<2 hex>/<id>, or another ref that does not exist yet. HONE_E_BUSY: its
 * lock is held. */
int hone_git_write_new_ref(const char *dir, const char *name, const char *id, struct hone_err *err);
/* Calls fn with the id of each ref refs/hone/v/<2 hex>/<id> that may be new since the last call
 * with this scan (older ones may come again). */
int hone_git_scan_versions(const char *dir, struct hone_ref_scan *scan,
                           void (*fn)(void *arg, const char *id), void *arg, struct hone_err *err);

#endif
