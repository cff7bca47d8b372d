/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace's life: init, open, close; its parts and task packs. workspace_replay.c has what
 * opening does after a crash. */
#include "workspace/workspace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/git_store.h"
#include "workspace/records.h"

#define CACHE_BYTES     (4ll << 30)
#define OPEN_WAIT_MS    120000
#define CHECKPOINT_GAP  200 /* records that the next open may read again */
#define MAX_PACK_FILES  4096
#define HONE_JSON_BYTES (64u << 10)

static const char readme[] =
    "# Kernel workspace\n"
    "\n"
    "Every version that was tried is a commit here: the source, `report.json`, and trailers with "
    "the\n"
    "verdict.\n"
    "\n"
    "    git log --graph search/NAME          the way to a search's best version\n"
    "    git for-each-ref refs/hone/v         every version, failed ones too\n"
    "    git show COMMIT:report.json          how it was checked and timed\n"
    "    hone log --all                       the same, shorter\n"
    "\n"
    "`tasks/` holds the task packs; commit your own there. `.hone/` holds the ledger, from which "
    "all\n"
    "of this can be rebuilt, call folders and caches.\n";

/* What init makes; nothing of this may be there before. */
static const char *const made[] = {"hone.json", "README.md", ".gitignore",
                                   "tasks",     ".git",      ".hone"};
static const char *const committed[] = {"README.md", ".gitignore", "hone.json", "tasks"};

static int write_text(const char *dir, const char *name, const char *text, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_path_join(dir, name, NULL);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

static char *hone_json_text(int64_t now_ms)
{
    char created[32];
    struct hone_json *json HONE_AUTOJSON = hone_json_new_object();
    hone_wall_text(now_ms, created);
    hone_json_set_i64(json, "format", HONE_WORKSPACE_FORMAT);
    hone_json_set_str(json, "created", created);
    char *text HONE_AUTOFREE = hone_json_print_pretty(json);
    size_t len = strlen(text);
    return hone_sprintf("%s%s", text, len > 0 && text[len - 1] == '\n' ? "" : "\n");
}

/* The repository and the ledger's first record, which can make the same root commit again. */
static int make_history(const char *dir, const char *json, int64_t now_s, struct hone_err *err)
{
    struct hone_ledger *ledger HONE_CLEANUP(hone_ledger_close_ptr) = NULL;
    struct hone_history *history HONE_CLEANUP(hone_history_close_ptr) = NULL;
    char root[HONE_COMMIT_BYTES];
    const struct hone_history_file files[] = {
        {"README.md", readme}, {".gitignore", ".hone/\n"}, {"hone.json", json}};
    struct hone_record_file kept[HONE_COUNTOF(files)];
    for (size_t i = 0; i < HONE_COUNTOF(files); i++)
        kept[i] = (struct hone_record_file){files[i].name, files[i].text};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < HONE_COUNTOF(files); i++)
        rc = write_text(dir, files[i].name, files[i].text, err);
    if (rc == 0)
        rc = hone_history_create_root(dir, files, HONE_COUNTOF(files), now_s, root, err);
    if (rc == 0)
        rc = hone_ledger_open(dir, &ledger, err);
    const struct hone_record_root record = {
        .commit = root, .time_s = now_s, .files = {.v = kept, .n = HONE_COUNTOF(kept)}};
    if (rc == 0)
        rc = hone_record_append_root(ledger, &record, NULL, err);
    if (rc == 0)
        rc = hone_ledger_sync(ledger, err);
    if (rc == 0)
        rc = hone_history_open(dir, &history, err);
    if (rc == 0)
        rc = hone_history_commit_main(history, committed, HONE_COUNTOF(committed), "task packs",
                                      now_s, err);
    return rc;
}

static int fill(const char *dir, const char *data_dir, const char *marker, struct hone_err *err)
{
    int64_t now_ms = hone_wall_ms();
    char *json HONE_AUTOFREE = hone_json_text(now_ms);
    char *hone_dir HONE_AUTOFREE = hone_path_join(dir, ".hone", NULL);
    char *tasks HONE_AUTOFREE = hone_path_join(dir, "tasks", NULL);
    int rc = hone_mkdirs(hone_dir, 0700, err);
    if (rc == 0)
        rc = hone_file_write(marker, "", 0, 0600, true, err);
    char *packs HONE_AUTOFREE = data_dir ? hone_path_join(data_dir, "packs", NULL) : NULL;
    if (rc == 0)
        rc = packs && hone_file_exists(packs) ? hone_copy_tree(packs, tasks, MAX_PACK_FILES, err)
                                              : hone_mkdirs(tasks, 0755, err);
    if (rc == 0)
        rc = make_history(dir, json, now_ms / 1000, err);
    if (rc == 0)
        rc = hone_workspace_first_checkpoint(dir, err);
    if (rc == 0)
        rc = hone_workspace_sync_files(dir, err);
    if (rc == 0 && unlink(marker) < 0)
        rc = hone_fail_errno(err, errno, "cannot finish the workspace");
    return rc;
}

static void remove_made(const char *dir)
{
    for (size_t i = 0; i < HONE_COUNTOF(made); i++) { /* .hone with the marker last */
        char *path HONE_AUTOFREE = hone_path_join(dir, made[i], NULL);
        hone_remove_tree(path, NULL);
    }
}

static int check_place(const char *dir, bool allow_nested, struct hone_err *err)
{
    char *json HONE_AUTOFREE = hone_path_join(dir, "hone.json", NULL);
    if (hone_file_exists(json))
        return hone_fail(err, HONE_E_EXISTS, "'%s' is a workspace already", dir);
    char *outer HONE_AUTOFREE = hone_git_discover(dir);
    if (outer && !allow_nested)
        return hone_fail(
            err, HONE_E_ARG,
            "'%s' lies inside the git repository '%s'; choose a folder outside of it, or "
            "allow a nested one",
            dir, outer);
    for (size_t i = 0; i < HONE_COUNTOF(made); i++) {
        char *path HONE_AUTOFREE = hone_path_join(dir, made[i], NULL);
        if (hone_file_exists(path))
            return hone_fail(err, HONE_E_EXISTS, "'%s' has a '%s' already; choose an empty folder",
                             dir, made[i]);
    }
    return 0;
}

int hone_workspace_init(const char *dir, const char *data_dir, bool allow_nested,
                        struct hone_err *err)
{
    int rc = hone_mkdirs(dir, 0755, err);
    if (rc < 0)
        return rc;
    char *path HONE_AUTOFREE = realpath(dir, NULL);
    if (!path)
        return hone_fail_errno(err, errno, "cannot use '%s'", dir);
    int lock HONE_AUTOCLOSE = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0)
        return hone_fail_errno(err, errno, "cannot use '%s'", dir);
    if (flock(lock, LOCK_EX | LOCK_NB) < 0) /* its half-made files are not there to be removed */
        return hone_fail(err, HONE_E_BUSY, "another `hone init` is at work in '%s'", dir);
    char *marker HONE_AUTOFREE = hone_path_join(path, ".hone", "incomplete", NULL);
    if (hone_file_exists(marker)) /* an init that was killed: all of it is ours */
        remove_made(path);
    rc = check_place(path, allow_nested, err);
    if (rc < 0)
        return rc;
    rc = fill(path, data_dir, marker, err);
    if (rc < 0) {
        remove_made(path);
        return hone_wrap(err, "workspace '%s'", dir);
    }
    return 0;
}

static int check_format(const char *dir, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_path_join(dir, "hone.json", NULL);
    char *marker HONE_AUTOFREE = hone_path_join(dir, ".hone", "incomplete", NULL);
    char *text HONE_AUTOFREE = NULL;
    struct hone_json *json HONE_AUTOJSON = NULL;
    size_t len = 0;
    int rc = hone_file_read(path, HONE_JSON_BYTES, &text, &len, err);
    if (rc == HONE_E_NOT_FOUND)
        return hone_fail(err, rc,
                         "'%s' is no workspace; make one with `hone init DIR`, or name one "
                         "with --workspace",
                         dir);
    struct hone_err cause = HONE_ERR_INIT;
    if (rc == HONE_E_LIMIT || (rc == 0 && hone_json_parse(text, len, &json, &cause) < 0))
        return hone_fail(err, HONE_E_CORRUPT, "%s is damaged; it should say {\"format\": %d}", path,
                         HONE_WORKSPACE_FORMAT);
    if (rc < 0)
        return hone_wrap(err, "%s", path);
    if (hone_file_exists(marker))
        return hone_fail(err, HONE_E_CORRUPT,
                         "making the workspace was interrupted; run `hone init %s` again", dir);
    int64_t format = hone_json_get_i64(json, "format", 0);
    if (format == HONE_WORKSPACE_FORMAT)
        return 0;
    if (format > HONE_WORKSPACE_FORMAT)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "the workspace has format %lld, this hone reads %d; use a newer hone",
                         (long long)format, HONE_WORKSPACE_FORMAT);
    return hone_fail(err, HONE_E_CORRUPT, "%s names no format; it should say {\"format\": %d}",
                     path, HONE_WORKSPACE_FORMAT);
}

char *hone_workspace_find(const char *dir)
{
    char *at HONE_AUTOFREE = realpath(dir, NULL);
    while (at) {
        char *mark HONE_AUTOFREE = hone_path_join(at, "hone.json", NULL);
        char *inside HONE_AUTOFREE = hone_path_join(at, ".hone", NULL);
        if (hone_file_exists(mark) && hone_file_exists(inside))
            return HONE_STEAL(at);
        char *slash = strrchr(at, '/');
        if (!slash || slash[1] == '\0')
            return NULL;
        slash[slash == at] = '\0';
    }
    return NULL;
}

static int start(const char *dir, struct hone_workspace **ret, struct hone_err *err)
{
    bool is_here = strcmp(dir, ".") == 0;
    char *path = is_here ? hone_workspace_find(dir) : NULL;
    if (!path)
        path = realpath(dir, NULL);
    if (!path && errno == ENOENT)
        return hone_fail(err, HONE_E_NOT_FOUND,
                         "there is no folder '%s'; make a workspace with `hone init %s`", dir, dir);
    if (!path)
        return hone_fail_errno(err, errno, "cannot open '%s'", dir);
    struct hone_workspace *ws = hone_calloc(1, sizeof(*ws));
    ws->dir = path;
    pthread_mutex_init(&ws->replay_lock, NULL);
    *ret = ws;
    return 0;
}

static int open_with(const char *dir, int (*recover)(struct hone_workspace *, struct hone_err *),
                     struct hone_workspace **ret, struct hone_err *err)
{
    struct hone_workspace *ws HONE_CLEANUP(hone_workspace_close_ptr) = NULL;
    int lock HONE_AUTOCLOSE = -1;
    int rc = start(dir, &ws, err);
    if (rc == 0)
        rc = check_format(ws->dir, err);
    if (rc < 0)
        return rc;
    char *hone_dir HONE_AUTOFREE = hone_workspace_path(ws, "");
    char *lock_path HONE_AUTOFREE = hone_workspace_path(ws, "open.lock");
    rc = hone_mkdirs(hone_dir, 0700, err);
    if (rc == 0)
        rc = hone_lock_file(lock_path, hone_deadline_in_ms(OPEN_WAIT_MS), &lock, err);
    if (rc < 0)
        return hone_wrap(err, "the workspace cannot be written");
    rc = recover(ws, err);
    if (rc == 0)
        rc = hone_cache_open(ws->dir, CACHE_BYTES, &ws->cache, err);
    if (rc == 0)
        *ret = HONE_STEAL(ws);
    return rc;
}

int hone_workspace_open(const char *dir, struct hone_workspace **ret, struct hone_err *err)
{
    return open_with(dir, hone_workspace_recover, ret, err);
}

int hone_workspace_open_read(const char *dir, struct hone_pool *pool, struct hone_workspace **ret,
                             const char **ret_why, struct hone_err *err)
{
    struct hone_workspace *ws HONE_CLEANUP(hone_workspace_close_ptr) = NULL;
    struct hone_err first = HONE_ERR_INIT, second = HONE_ERR_INIT;
    *ret_why = NULL;
    int rc = hone_workspace_open(dir, ret, &first);
    if (rc != HONE_E_IO) {
        if (rc < 0 && err)
            *err = first;
        return rc;
    }
    rc = start(dir, &ws, &second);
    if (rc == 0)
        rc = check_format(ws->dir, &second);
    if (rc == 0)
        rc = hone_ledger_open_read(ws->dir, &ws->ledger, &second);
    if (rc == 0)
        rc = hone_history_open_read(ws->dir, &ws->history, &second);
    if (rc == 0)
        rc = hone_cache_open(ws->dir, CACHE_BYTES, &ws->cache, &second);
    if (rc < 0) {
        if (err)
            *err = first;
        return HONE_E_IO;
    }
    *ret_why = hone_pool_strdup(pool, first.message);
    *ret = HONE_STEAL(ws);
    return 0;
}

int hone_workspace_rebuild(const char *dir, struct hone_err *err)
{
    struct hone_workspace *ws HONE_CLEANUP(hone_workspace_close_ptr) = NULL;
    return open_with(dir, hone_workspace_rebuild_open, &ws, err);
}

void hone_workspace_close(struct hone_workspace *ws)
{
    if (!ws)
        return;
    /* A failure only makes the next open read more. */
    if (ws->history && ws->ledger &&
        hone_ledger_last(ws->ledger) >= ws->checkpoint.n + CHECKPOINT_GAP)
        hone_workspace_checkpoint(ws, NULL);
    hone_cache_close(ws->cache);
    hone_history_close(ws->history);
    hone_ledger_close(ws->ledger);
    pthread_mutex_destroy(&ws->replay_lock);
    free(ws->dir);
    free(ws);
}

void hone_workspace_close_ptr(struct hone_workspace **ws)
{
    hone_workspace_close(*ws);
    *ws = NULL;
}

const char *hone_workspace_dir(const struct hone_workspace *ws)
{
    return ws->dir;
}

char *hone_workspace_path(const struct hone_workspace *ws, const char *name)
{
    return hone_sprintf("%s/.hone%s%s", ws->dir, name[0] ? "/" : "", name);
}

struct hone_history *hone_workspace_history(struct hone_workspace *ws)
{
    return ws->history;
}

struct hone_ledger *hone_workspace_ledger(struct hone_workspace *ws)
{
    return ws->ledger;
}

struct hone_cache *hone_workspace_cache(struct hone_workspace *ws)
{
    return ws->cache;
}

int hone_workspace_task_names(struct hone_workspace *ws, struct hone_pool *pool,
                              const char ***ret_names, size_t *ret_n, struct hone_err *err)
{
    char *tasks HONE_AUTOFREE = hone_path_join(ws->dir, "tasks", NULL);
    const char **names = NULL;
    size_t n = 0;
    size_t n_packs = 0;
    int rc = hone_list_dir(tasks, pool, &names, &n, err);
    if (rc == HONE_E_NOT_FOUND && !hone_file_exists(ws->dir))
        return hone_fail(err, rc, "the workspace '%s' is gone; put it back or use another one",
                         ws->dir);
    if (rc < 0 && rc != HONE_E_NOT_FOUND)
        return rc;
    for (size_t i = 0; i < n; i++) {
        char *json HONE_AUTOFREE = hone_path_join(tasks, names[i], "task.json", NULL);
        if (hone_is_safe_name(names[i]) && hone_file_exists(json))
            names[n_packs++] = names[i];
    }
    *ret_names = names;
    *ret_n = n_packs;
    return 0;
}

int hone_workspace_task(struct hone_workspace *ws, const char *name, struct hone_task **ret,
                        struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    const char **names = NULL;
    size_t n = 0;
    int rc = hone_workspace_task_names(ws, pool, &names, &n, err);
    if (rc < 0)
        return rc;
    struct hone_buf list HONE_CLEANUP(hone_buf_done) = {.limit = 4096};
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            char *dir HONE_AUTOFREE = hone_path_join(ws->dir, "tasks", name, NULL);
            rc = hone_task_load(dir, ret, err);
            return rc < 0 ? hone_wrap(err, "task '%s'", name) : 0;
        }
        hone_buf_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return hone_fail(err, HONE_E_NOT_FOUND, "there is no task '%.64s'; %s%s", name,
                     n > 0 ? "this workspace has: " : "this workspace has none",
                     list.data ? list.data : "");
}

static int move_branch(struct hone_workspace *ws, const struct hone_record_branch *record,
                       struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_workspace_path(ws, "branch.lock");
    int lock HONE_AUTOCLOSE = -1; /* a replay must not fall between the record and the move */
    if (!hone_history_has(ws->history, record->commit))
        return hone_fail(err, HONE_E_NOT_FOUND, "version '%.40s' is not in the history",
                         record->commit);
    int rc = hone_lock_file(path, hone_deadline_in_ms(OPEN_WAIT_MS), &lock, err);
    if (rc == 0)
        rc = hone_record_append_branch(ws->ledger, record, NULL, err);
    if (rc == 0)
        rc = hone_ledger_sync(ws->ledger, err);
    if (rc < 0)
        return rc;
    const struct hone_branch_result result = {record->subject, record->body, record->time_s,
                                              record->trailers};
    return record->subject
               ? hone_history_set_result(ws->history, record->name, record->commit, &result, err)
               : hone_history_set_branch(ws->history, record->name, record->commit, err);
}

int hone_workspace_set_branch(struct hone_workspace *ws, const char *name, const char *commit,
                              struct hone_err *err)
{
    const struct hone_record_branch record = {.name = name, .commit = commit};
    if (hone_history_has_result(ws->history, name, commit))
        return 0;
    return move_branch(ws, &record, err);
}

int hone_workspace_set_result(struct hone_workspace *ws, const char *name, const char *commit,
                              const struct hone_branch_result *result, struct hone_err *err)
{
    const struct hone_record_branch record = {.name = name,
                                              .commit = commit,
                                              .subject = result->subject,
                                              .body = result->body,
                                              .trailers = result->trailers,
                                              .time_s = result->time_s};
    return move_branch(ws, &record, err);
}
