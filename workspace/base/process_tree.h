/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and killing what a child process started. Used by process.c only. */
#ifndef HONE_BASE_PROCESS_TREE_H
#define HONE_BASE_PROCESS_TREE_H

#include <sys/types.h>
#include "workspace/base/buf.h"

/* Descendants seen so far; processes are named by pid and start time, since pids are used again. */
struct hone_process_tree {
    pid_t leader;       /* our child: head of its session and group, not yet reaped */
    const char *marker; /* "HONE_PROCESS=<hex>" in the environment of all that it starts */
    struct hone_buf seen;
};

/* Kills the leader and everything found, but reaps nothing of the leader itself. */
void hone_process_tree_kill(struct hone_process_tree *tree);
/* After the leader ended: kills and reaps what it left behind. */
void hone_process_tree_sweep(struct hone_process_tree *tree);
void hone_process_tree_done(struct hone_process_tree *tree);

#endif
