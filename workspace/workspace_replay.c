/* SPDX-License-Identifier: Apache-2.0 */
/* After a crash: the ledger is turned into commits again.
 *
 * What can be missing, and who finds it:
 *
 *   killed process    an evaluation.end without its commit: the replay of the records after the
 *                     checkpoint
 *   power cut         commits, objects and refs that never reached the disk: another boot id, so
 *                     the replay starts at the last record that was known to be on disk; empty
 *                     files are removed first (scrub), then everything is replayed
 *   lost or damaged   the repository does not open, or its check fails: it is moved aside and made
 *                     anew
 *
 * A replay commits every version again, which changes nothing where the commit exists: the same
 * content gives the same id. Checkpoint: DIR/.hone/replay.json {"n","durable","boot"}. */
#include "workspace/workspace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/log.h"
#include "workspace/records.h"

#define DURABLE_GAP      2000 /* records between two syncs of the whole file system */
#define WAIT_MS          120000
#define CHECKPOINT_BYTES 4096
#define SCRUB_SLACK_S    10

/* ---- checkpoint ---- */

static void read_boot(char ret[HONE_BOOT_BYTES])
{
    memset(ret, 0, HONE_BOOT_BYTES);
    int fd HONE_AUTOCLOSE = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, ret, HONE_BOOT_BYTES - 1);
    ret[len > 0 ? len : 0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
}

/* Missing or unreadable: zeros, and everything is replayed. ret_since_s: when it was written. */
static void read_checkpoint(struct hone_workspace *ws, int64_t *ret_since_s)
{
    char *path HONE_AUTOFREE = hone_workspace_path(ws, "replay.json");
    char *text HONE_AUTOFREE = NULL;
    struct hone_json *json HONE_AUTOJSON = NULL;
    struct hone_checkpoint *at = &ws->checkpoint;
    size_t len = 0;
    struct stat st;
    *at = (struct hone_checkpoint){.is_missing = true};
    *ret_since_s = 0;
    read_boot(at->boot);
    if (hone_file_read(path, CHECKPOINT_BYTES, &text, &len, NULL) < 0 ||
        hone_json_parse(text, len, &json, NULL) < 0)
        return;
    at->is_missing = false;
    at->n = (uint64_t)hone_max_i64(0, hone_json_get_i64(json, "n", 0));
    at->durable = (uint64_t)hone_max_i64(0, hone_json_get_i64(json, "durable", 0));
    const char *boot = hone_json_get_str(json, "boot", "");
    if (!boot[0] || strcmp(boot, at->boot) != 0)
        at->n = at->durable; /* what the old boot only had in memory may be gone */
    else if (stat(path, &st) == 0)
        *ret_since_s = st.st_mtime - SCRUB_SLACK_S;
}

int hone_workspace_sync_files(const char *dir, struct hone_err *err)
{
    int fd HONE_AUTOCLOSE = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || syncfs(fd) < 0)
        return hone_fail_errno(err, errno, "cannot sync '%s'", dir);
    return 0;
}

static int write_checkpoint(struct hone_workspace *ws, struct hone_err *err)
{
    struct hone_checkpoint *at = &ws->checkpoint;
    bool is_durable = at->n >= at->durable + DURABLE_GAP;
    int rc = is_durable ? hone_workspace_sync_files(ws->dir, err) : 0;
    if (rc < 0)
        return rc;
    if (is_durable)
        at->durable = at->n;
    at->is_missing = false;
    char *path HONE_AUTOFREE = hone_workspace_path(ws, "replay.json");
    struct hone_json *json HONE_AUTOJSON = hone_json_new_object();
    hone_json_set_i64(json, "n", (int64_t)at->n);
    hone_json_set_i64(json, "durable", (int64_t)at->durable);
    hone_json_set_str(json, "boot", at->boot);
    char *text HONE_AUTOFREE = hone_json_print(json);
    return hone_file_write(path, text, strlen(text), 0600, is_durable, err);
}

/* Until the next one is written, an open replays everything and checks the repository: what follows
 * may be killed half-way. */
static int drop_checkpoint(struct hone_workspace *ws, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_workspace_path(ws, "replay.json");
    ws->checkpoint.n = ws->checkpoint.durable = 0;
    ws->checkpoint.is_missing = true;
    if (unlink(path) < 0 && errno != ENOENT)
        return hone_fail_errno(err, errno, "cannot remove '%s'", path);
    return 0;
}

int hone_workspace_first_checkpoint(const char *dir, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_strdup(dir);
    struct hone_workspace ws = {.dir = path, .checkpoint = {.n = 1, .durable = 1}};
    read_boot(ws.checkpoint.boot);
    return write_checkpoint(&ws, err);
}

/* ---- replay ---- */

struct replay {
    struct hone_workspace *ws;
    uint64_t last;
    bool is_ended;          /* by trouble with storage */
    bool has_branches;      /* the branch lock is held */
    struct hone_pool *pool; /* branches; the last move of each counts */
    struct hone_record_branch *branches;
    size_t n_branches, cap_branches;
};

/* Trouble with storage ends the replay; a record that cannot be committed (its parent is lost, say)
 * is logged and passed over. */
static int pass_over(struct replay *replay, uint64_t n, int rc, const struct hone_err *cause,
                     struct hone_err *err)
{
    if (rc == HONE_E_IO || rc == HONE_E_CORRUPT || rc == HONE_E_NOMEM || rc == HONE_E_BUSY) {
        if (err)
            *err = *cause;
        replay->is_ended = true;
        return rc;
    }
    hone_log(HONE_LOG_WARN, "ledger record cannot be committed, going on n=%llu error=\"%s\"",
             (unsigned long long)n, cause->message);
    return 0;
}

static int replay_end(struct replay *replay, const struct hone_json *data, struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct hone_record_end end;
    struct hone_record_start start;
    struct hone_workspace *ws = replay->ws;
    char id[HONE_COMMIT_BYTES];
    int rc = hone_record_decode_end(data, pool, &end, err);
    if (rc == 0 && end.version && !end.version->source) {
        rc = hone_record_read_start(ws->ledger, (uint64_t)end.start, pool, &start, err);
        if (rc == 0)
            end.version->source = start.source;
    }
    if (rc == 0 && end.version)
        rc = hone_history_commit(ws->history, end.version, id, err);
    if (rc == 0 && end.evidence)
        rc = hone_history_evidence(ws->history, end.evidence, id, err);
    return rc;
}

static int note_branch(struct replay *replay, const struct hone_json *data, struct hone_err *err)
{
    struct hone_record_branch branch;
    int rc = hone_record_decode_branch(data, replay->pool, &branch, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < replay->n_branches; i++) {
        if (strcmp(replay->branches[i].name, branch.name) == 0) {
            replay->branches[i] = branch;
            return 0;
        }
    }
    if (replay->n_branches == replay->cap_branches) {
        replay->cap_branches = replay->cap_branches ? replay->cap_branches * 2 : 16;
        replay->branches =
            hone_realloc(replay->branches, replay->cap_branches * sizeof(*replay->branches));
    }
    replay->branches[replay->n_branches++] = branch;
    return 0;
}

static int on_record(void *arg, uint64_t n, int64_t wall_ms HONE_UNUSED, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    struct replay *replay = arg;
    struct hone_err cause = HONE_ERR_INIT;
    int rc = 0;
    if (strcmp(type, HONE_RECORD_END) == 0)
        rc = replay_end(replay, data, &cause);
    else if (strcmp(type, HONE_RECORD_BRANCH) == 0 && replay->has_branches)
        rc = note_branch(replay, data, &cause);
    replay->last = n;
    return rc < 0 ? pass_over(replay, n, rc, &cause, err) : 0;
}

static int set_branches(struct replay *replay, struct hone_err *err)
{
    for (size_t i = 0; i < replay->n_branches; i++) {
        struct hone_err cause = HONE_ERR_INIT;
        const struct hone_record_branch *b = &replay->branches[i];
        struct hone_history *history = replay->ws->history;
        const struct hone_branch_result result = {b->subject, b->body, b->time_s, b->trailers};
        int rc = b->subject ? hone_history_set_result(history, b->name, b->commit, &result, &cause)
                            : hone_history_set_branch(history, b->name, b->commit, &cause);
        if (rc < 0)
            rc = pass_over(replay, 0, rc, &cause, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* with_branches: the caller holds the branch lock. */
static int replay_from(struct hone_workspace *ws, uint64_t first, bool with_branches,
                       struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct replay replay = {
        .ws = ws, .last = first - 1, .pool = pool, .has_branches = with_branches};
    struct hone_err cause = HONE_ERR_INIT;
    int rc = hone_ledger_scan(ws->ledger, first, on_record, &replay, &cause);
    if (rc == HONE_E_CORRUPT && !replay.is_ended) { /* damaged lines; all others were replayed */
        hone_log(HONE_LOG_WARN, "going on without damaged records error=\"%s\"", cause.message);
        rc = 0;
    }
    if (rc < 0 && err)
        *err = cause;
    if (rc == 0)
        rc = set_branches(&replay, err);
    free(replay.branches);
    if (rc < 0)
        return hone_wrap(err, "replay of the ledger");
    ws->checkpoint.n = replay.last;
    return 0;
}

int hone_workspace_checkpoint(struct hone_workspace *ws, struct hone_err *err)
{
    pthread_mutex_lock(&ws->replay_lock);
    uint64_t old = ws->checkpoint.n;
    int rc = replay_from(ws, old + 1, false, err);
    if (rc == 0 && ws->checkpoint.n > old)
        rc = write_checkpoint(ws, err);
    pthread_mutex_unlock(&ws->replay_lock);
    return rc;
}

/* ---- rebuilding ---- */

struct find_root {
    struct hone_pool *pool;
    struct hone_record_root root;
    bool is_found;
};

static int on_root(void *arg, uint64_t n HONE_UNUSED, int64_t wall_ms HONE_UNUSED, const char *type,
                   const struct hone_json *data, struct hone_err *err)
{
    struct find_root *find = arg;
    if (strcmp(type, HONE_RECORD_ROOT) != 0)
        return 0;
    int rc = hone_record_decode_root(data, find->pool, &find->root, err);
    find->is_found = rc == 0;
    return rc < 0 ? rc : hone_fail(err, HONE_E_CANCEL, "found");
}

static int make_root(struct hone_workspace *ws, struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct find_root find = {.pool = pool};
    char root[HONE_COMMIT_BYTES];
    hone_ledger_scan(ws->ledger, 1, on_root, &find, NULL);
    if (!find.is_found)
        return hone_fail(
            err, HONE_E_CORRUPT,
            "the ledger has no record of the root commit, so the repository cannot be rebuilt; "
            "restore %s/.git or %s/.hone/ledger from a backup",
            ws->dir, ws->dir);
    const struct hone_record_file *kept = find.root.files.v;
    size_t n = find.root.files.n;
    struct hone_history_file *files = hone_pool_alloc(pool, (n + 1) * sizeof(*files));
    for (size_t i = 0; i < n; i++)
        files[i] = (struct hone_history_file){kept[i].name, kept[i].text};
    return hone_history_create_root(ws->dir, files, n, find.root.time_s, root, err);
}

static int move_aside(struct hone_workspace *ws, struct hone_err *err)
{
    char *git HONE_AUTOFREE = hone_path_join(ws->dir, ".git", NULL);
    char *name HONE_AUTOFREE = hone_sprintf("broken-git-%lld", (long long)hone_wall_ms());
    char *kept HONE_AUTOFREE = hone_workspace_path(ws, name);
    if (rename(git, kept) < 0 && errno != ENOENT)
        return hone_fail_errno(err, errno, "cannot move the damaged repository to '%s'", kept);
    return 0;
}

/* The files of the work tree, as they are now, on main. */
static int commit_files(struct hone_workspace *ws, struct hone_err *err)
{
    static const char *const all[] = {"README.md", ".gitignore", "hone.json", "tasks"};
    const char *paths[HONE_COUNTOF(all)];
    size_t n = 0;
    for (size_t i = 0; i < HONE_COUNTOF(all); i++) {
        char *path HONE_AUTOFREE = hone_path_join(ws->dir, all[i], NULL);
        if (hone_file_exists(path))
            paths[n++] = all[i];
    }
    return hone_history_commit_main(ws->history, paths, n, "files when the repository was rebuilt",
                                    hone_wall_ms() / 1000, err);
}

static int lock_branches(struct hone_workspace *ws, int *ret_fd, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_workspace_path(ws, "branch.lock");
    return hone_lock_file(path, hone_deadline_in_ms(WAIT_MS), ret_fd, err);
}

static int rebuild(struct hone_workspace *ws, struct hone_err *err)
{
    int lock HONE_AUTOCLOSE = -1;
    hone_history_close(HONE_STEAL(ws->history));
    int rc = lock_branches(ws, &lock, err);
    if (rc == 0)
        rc = drop_checkpoint(ws, err);
    if (rc == 0)
        rc = move_aside(ws, err);
    if (rc == 0)
        rc = make_root(ws, err);
    if (rc == 0)
        rc = hone_history_open(ws->dir, &ws->history, err);
    if (rc == 0)
        rc = commit_files(ws, err);
    if (rc == 0)
        rc = replay_from(ws, 1, true, err);
    if (rc < 0)
        return hone_wrap(err, "rebuilding the git repository");
    return write_checkpoint(ws, err);
}

int hone_workspace_rebuild_open(struct hone_workspace *ws, struct hone_err *err)
{
    int64_t since_s;
    int rc = hone_ledger_open(ws->dir, &ws->ledger, err);
    read_checkpoint(ws, &since_s);
    return rc < 0 ? rc : rebuild(ws, err);
}

/* Files that a power cut left empty go; everything is replayed then. */
static int scrub(struct hone_workspace *ws, int64_t since_s, struct hone_err *err)
{
    size_t n = 0;
    int rc = hone_history_scrub(ws->history, since_s, false, &n, err);
    if (rc < 0 || n == 0)
        return rc;
    rc = drop_checkpoint(ws, err);
    return rc < 0 ? rc : hone_history_scrub(ws->history, since_s, true, &n, err);
}

static int open_and_replay(struct hone_workspace *ws, int64_t since_s, struct hone_err *err)
{
    int lock HONE_AUTOCLOSE = -1;
    int rc = hone_history_open(ws->dir, &ws->history, err);
    if (rc == 0)
        rc = scrub(ws, since_s, err);
    if (rc == 0)
        rc = lock_branches(ws, &lock, err);
    uint64_t old = ws->checkpoint.n;
    if (rc == 0)
        rc = replay_from(ws, old + 1, true, err);
    if (rc == 0 && ws->checkpoint.is_missing) /* main and the task packs are not in the ledger */
        rc = hone_history_check(ws->history, err);
    if (rc == 0 && (ws->checkpoint.n > old || ws->checkpoint.is_missing))
        rc = write_checkpoint(ws, err);
    return rc;
}

int hone_workspace_recover(struct hone_workspace *ws, struct hone_err *err)
{
    struct hone_err cause = HONE_ERR_INIT;
    int64_t since_s = 0;
    int rc = hone_ledger_open(ws->dir, &ws->ledger, err);
    if (rc < 0)
        return rc;
    read_checkpoint(ws, &since_s);
    rc = open_and_replay(ws, since_s, &cause);
    if (rc == HONE_E_CORRUPT || rc == HONE_E_NOT_FOUND) {
        hone_log(HONE_LOG_WARN, "the git repository is damaged, rebuilding it error=\"%s\"",
                 cause.message);
        return rebuild(ws, err);
    }
    if (rc < 0 && err)
        *err = cause;
    return rc;
}
