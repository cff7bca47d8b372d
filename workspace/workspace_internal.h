/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the workspace: shared by workspace*.c only. */
#ifndef HONE_WORKSPACE_INTERNAL_H
#define HONE_WORKSPACE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "workspace/cache.h"
#include "workspace/history.h"
#include "workspace/ledger.h"
#include "workspace/workspace.h"

#define HONE_WORKSPACE_FORMAT 1
#define HONE_BOOT_BYTES       64

struct hone_checkpoint {
    uint64_t n;       /* every record up to here is in git, as this boot of the machine sees it */
    uint64_t durable; /* ... and on disk */
    char boot[HONE_BOOT_BYTES];
    bool is_missing; /* no file: everything must be replayed and checked */
};

struct hone_workspace {
    char *dir; /* absolute */
    struct hone_history *history;
    struct hone_ledger *ledger;
    struct hone_cache *cache;
    atomic_uint n_calls;
    pthread_mutex_t replay_lock; /* checkpoint */
    struct hone_checkpoint checkpoint;
};

/* workspace_replay.c */
/* Opens ledger and history, scrubs, replays; rebuilds when the repository is missing or damaged.
 * Under DIR/.hone/open.lock. */
int hone_workspace_recover(struct hone_workspace *ws, struct hone_err *err);
int hone_workspace_rebuild_open(struct hone_workspace *ws, struct hone_err *err);
int hone_workspace_first_checkpoint(const char *dir, struct hone_err *err);
int hone_workspace_sync_files(const char *dir, struct hone_err *err); /* syncfs */

#endif
