/* A workspace: the user's folder with task packs, git history, ledger and cache.
 *
 *   DIR/hone.json            format version, created
 *   DIR/tasks/NAME/          task packs
 *   DIR/.git                 history (non-bare, HEAD on main)
 *   DIR/.hone/ledger/        append-only segments        DIR/.hone/cache/   by content hash
 *   DIR/.hone/calls/ID/      call folders                DIR/.hone/blobs/   raw samples by content hash
 *   DIR/.hone/token          the server's token, 0600    DIR/.hone/machine.json  measured ceilings
 *
 * Several processes may have one workspace open; writers of git and ledger take file locks. Thread safe. */
#ifndef HONE_WORKSPACE_H
#define HONE_WORKSPACE_H

#include "workspace/task/task.h"

struct hone_workspace; /* opaque */
struct hone_history;
struct hone_ledger;
struct hone_cache;

/* Creates folder, repository and the shipped packs (copied from data_dir/packs; NULL: none). HONE_E_EXISTS for a workspace that is there;
 * HONE_E_ARG inside another git repository unless allow_nested. */
int hone_workspace_init(const char *dir, const char *data_dir, bool allow_nested, struct hone_err *err);
/* Opens, cleans up after a killed process (stale locks, torn ledger tail), rebuilds missing commits from the ledger. */
int hone_workspace_open(const char *dir, struct hone_workspace **ret, struct hone_err *err);
void hone_workspace_close(struct hone_workspace *ws);
void hone_workspace_close_ptr(struct hone_workspace **ws);

const char *hone_workspace_dir(const struct hone_workspace *ws); /* absolute */
/* DIR/.hone/NAME; owned. */
char *hone_workspace_path(const struct hone_workspace *ws, const char *name);
struct hone_history *hone_workspace_history(struct hone_workspace *ws);
struct hone_ledger *hone_workspace_ledger(struct hone_workspace *ws);
struct hone_cache *hone_workspace_cache(struct hone_workspace *ws);

/* Loads tasks/NAME; owned by the caller. HONE_E_NOT_FOUND lists the names that exist. */
int hone_workspace_task(struct hone_workspace *ws, const char *name, struct hone_task **ret, struct hone_err *err);
int hone_workspace_task_names(struct hone_workspace *ws, struct hone_pool *pool, const char ***ret_names, size_t *ret_n, struct hone_err *err);
/* Makes a fresh call folder DIR/.hone/calls/ID with open/ and sealed/; path owned. Old ones beyond a count are pruned. */
int hone_workspace_new_call(struct hone_workspace *ws, char **ret_id, char **ret_path, struct hone_err *err);

/* Where shipped packs and other data lie: $HONE_DATA, else <exe>/share/hone, <exe>/../share/hone; owned, NULL if nowhere. */
char *hone_data_dir(void);

#endif
