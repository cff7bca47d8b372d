/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace: the user's folder with task packs, git history, ledger and cache.
 *
 *   DIR/hone.json            format version, created
 *   DIR/tasks/NAME/          task packs
 *   DIR/.git                 history (non-bare, HEAD on main)
 *   DIR/.hone/ledger/        append-only segments
 *   DIR/.hone/cache/         by content hash
 *   DIR/.hone/calls/ID/      call folders
 *   DIR/.hone/blobs/         raw samples by content hash
 *   DIR/.hone/token          the server's token, 0600
 *   DIR/.hone/machine.json   measured ceilings
 *
 * Several processes may have one workspace open; writers of git and ledger take file locks.
 * Thread safe. */
#ifndef HONE_WORKSPACE_H
#define HONE_WORKSPACE_H

#include "workspace/task/task.h"

struct hone_workspace; /* opaque */
struct hone_history;
struct hone_branch_result; /* history.h */
struct hone_ledger;
struct hone_cache;

/* Creates folder, repository and the shipped packs (copied from data_dir/packs; NULL: none).
 * HONE_E_EXISTS for a workspace, or files of the same names, that are there; HONE_E_ARG inside
 * another git repository unless allow_nested. An init that was killed is begun again. */
int hone_workspace_init(const char *dir, const char *data_dir, bool allow_nested,
                        struct hone_err *err);
/* The workspace that dir is or lies in, the nearest above it; owned, NULL: none. */
char *hone_workspace_find(const char *dir);
/* Opens the workspace in dir; for "." the one that the current folder lies in. Cleans up after a killed process (stale locks, torn ledger tail), commits what the ledger
 * has and git lacks. A repository that is missing or damaged is rebuilt from the ledger.
 * HONE_E_NOT_FOUND: no workspace · HONE_E_UNSUPPORTED: of a newer format. */
int hone_workspace_open(const char *dir, struct hone_workspace **ret, struct hone_err *err);
/* As hone_workspace_open, and where that cannot write (a read-only or full disk): opened to read what
 * git and ledger hold as they are; *ret_why says so, in the pool, else NULL. Writes then fail. */
int hone_workspace_open_read(const char *dir, struct hone_pool *pool, struct hone_workspace **ret,
                             const char **ret_why, struct hone_err *err);
/* Makes the git repository anew from the ledger; commits keep their ids. The old one is kept as
 * .hone/broken-git-<time>; commits that were made by hand are only there. Nobody else may have the
 * workspace open. */
int hone_workspace_rebuild(const char *dir, struct hone_err *err);
void hone_workspace_close(struct hone_workspace *ws);
void hone_workspace_close_ptr(struct hone_workspace **ws);

const char *hone_workspace_dir(const struct hone_workspace *ws); /* absolute */
/* DIR/.hone/NAME; owned. */
char *hone_workspace_path(const struct hone_workspace *ws, const char *name);
struct hone_history *hone_workspace_history(struct hone_workspace *ws);
struct hone_ledger *hone_workspace_ledger(struct hone_workspace *ws);
struct hone_cache *hone_workspace_cache(struct hone_workspace *ws);

/* Loads tasks/NAME; owned by the caller. HONE_E_NOT_FOUND lists the names that exist. */
int hone_workspace_task(struct hone_workspace *ws, const char *name, struct hone_task **ret,
                        struct hone_err *err);
int hone_workspace_task_names(struct hone_workspace *ws, struct hone_pool *pool,
                              const char ***ret_names, size_t *ret_n, struct hone_err *err);
/* Takes a pack that lies elsewhere into tasks/ as a commit of its own; nothing is done when it is
 * there already, byte for byte. *ret_name, its task's name, is in the pool. HONE_E_EXISTS: another
 * task has that name · HONE_E_NOT_FOUND: no such folder · as hone_task_load. */
int hone_workspace_adopt(struct hone_workspace *ws, const char *dir, struct hone_pool *pool,
                         const char **ret_name, struct hone_err *err);
/* The same without the commit, for many that are committed together. */
int hone_workspace_place(struct hone_workspace *ws, const char *dir, struct hone_pool *pool,
                         const char **ret_name, struct hone_err *err);
/* Makes a fresh call folder DIR/.hone/calls/ID with open/ and sealed/; path and id owned. Beyond
 * the newest 200, folders go that have had a report.json for a minute, or none for longer than any
 * job may take; each 32nd call looks for them. */
int hone_workspace_new_call(struct hone_workspace *ws, char **ret_id, char **ret_path,
                            struct hone_err *err);

/* Records the move in the ledger, syncs, and moves branch search/<name>: a rebuild restores it. */
int hone_workspace_set_branch(struct hone_workspace *ws, const char *name, const char *commit,
                              struct hone_err *err);
/* The same with a result commit on top (history.h). Until it moves to another version, the branch
 * stays on it. */
int hone_workspace_set_result(struct hone_workspace *ws, const char *name, const char *commit,
                              const struct hone_branch_result *result, struct hone_err *err);
/* Notes how far the ledger has been turned into commits, so that the next open reads only the rest.
 * hone_workspace_new_call and hone_workspace_close do it now and then. */
int hone_workspace_checkpoint(struct hone_workspace *ws, struct hone_err *err);

/* Where shipped packs and other data lie: $HONE_DATA, else <exe>/share/hone, <exe>/../share/hone;
 * owned, NULL if nowhere. */
char *hone_data_dir(void);

#endif
