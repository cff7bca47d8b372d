/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the history: create, open, commit, evidence, branches.
 *
 * A writer holds the in-process mutex, then the file lock DIR/.hone/history.lock. It writes objects
 * first and the ref last, so a process that is killed leaves at most unreachable objects (which git
 * gc drops) and a ref's lock file (removed at the next open, under the same file lock). libgit2
 * itself writes every object to a temporary name and renames it. */
#include "workspace/history_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define DEFAULT_AUTHOR "hone"
#define MAX_EVIDENCE   10000 /* measurements of one version */

static const char readme[] =
    "# Kernel versions\n\nEvery version that was tried is a commit below refs/hone/v.\n";

static const struct hone_history_file default_files[] = {
    {"README.md", readme},
    {".gitignore", ".hone/\n"},
};

int hone_history_create_root(const char *dir, const struct hone_history_file *files, size_t n_files,
                             int64_t time_s, char ret_root[HONE_COMMIT_BYTES], struct hone_err *err)
{
    struct hone_git *git HONE_CLEANUP(hone_git_close_ptr) = NULL;
    struct hone_git_file tree[16];
    if (n_files > HONE_COUNTOF(tree))
        return hone_fail(err, HONE_E_LIMIT, "%zu files in a root commit, at most %zu are kept",
                         n_files, HONE_COUNTOF(tree));
    for (size_t i = 0; i < n_files; i++)
        tree[i] = (struct hone_git_file){files[i].name, files[i].text, strlen(files[i].text)};
    const struct hone_git_new_commit commit = {.author = DEFAULT_AUTHOR,
                                               .message = "workspace: created\n",
                                               .time_s = time_s,
                                               .files = tree,
                                               .n_files = n_files};
    char root[HONE_COMMIT_BYTES];
    int rc = hone_git_init(dir, err);
    if (rc == 0)
        rc = hone_git_open(dir, &git, err);
    if (rc == 0)
        rc = hone_git_write_commit(git, &commit, root, err);
    if (rc == 0)
        rc = hone_git_set_ref(git, HONE_REF_MAIN, root, false, err);
    if (rc == 0)
        rc = hone_git_set_ref(git, HONE_REF_ROOT, root, false, err);
    if (rc < 0)
        return hone_wrap(err, "history in '%s'", dir);
    memcpy(ret_root, root, sizeof(root));
    return 0;
}

int hone_history_create(const char *dir, struct hone_err *err)
{
    char root[HONE_COMMIT_BYTES];
    const char *names[HONE_COUNTOF(default_files)];
    int64_t now_s = hone_wall_ms() / 1000;
    int rc =
        hone_history_create_root(dir, default_files, HONE_COUNTOF(default_files), now_s, root, err);
    for (size_t i = 0; rc == 0 && i < HONE_COUNTOF(default_files); i++) {
        names[i] = default_files[i].name;
        char *path HONE_AUTOFREE = hone_path_join(dir, names[i], NULL);
        if (!hone_file_exists(path))
            rc = hone_file_write(path, default_files[i].text, strlen(default_files[i].text), 0644,
                                 false, err);
    }
    if (rc < 0)
        return rc;
    struct hone_history *h HONE_CLEANUP(hone_history_close_ptr) = NULL;
    rc = hone_history_open(dir, &h, err);
    return rc < 0 ? rc
                  : hone_history_commit_main(h, names, HONE_COUNTOF(names), "files", now_s, err);
}

int hone_history_lock(struct hone_history *h, struct hone_err *err)
{
    pthread_mutex_lock(&h->write_lock);
    int rc;
    do {
        rc = flock(h->lock_fd, LOCK_EX);
    } while (rc < 0 && errno == EINTR);
    if (rc == 0)
        return 0;
    int native = errno;
    pthread_mutex_unlock(&h->write_lock);
    return hone_fail_errno(err, native, "cannot lock the history");
}

void hone_history_unlock(struct hone_history *h)
{
    flock(h->lock_fd, LOCK_UN);
    pthread_mutex_unlock(&h->write_lock);
}

static int open_root(struct hone_history *h, struct hone_err *err)
{
    struct hone_git_commit root;
    int rc = hone_git_get_ref(h->reader, HONE_REF_ROOT, h->root, err);
    if (rc == 0)
        rc = hone_git_read_commit(h->reader, h->root, NULL, &root, err);
    if (rc < 0)
        return hone_fail(err, HONE_E_CORRUPT,
                         "the root commit of the history is missing or damaged");
    return 0;
}

static int open_to_read(struct hone_history *h, struct hone_err *err)
{
    int rc = hone_git_open(h->dir, &h->reader, err);
    if (rc == 0)
        rc = hone_git_open(h->dir, &h->writer, err);
    return rc < 0 ? rc : open_root(h, err);
}

static int open_parts(struct hone_history *h, struct hone_err *err)
{
    char *hone_dir HONE_AUTOFREE = hone_path_join(h->dir, ".hone", NULL);
    char *lock HONE_AUTOFREE = hone_path_join(hone_dir, "history.lock", NULL);
    int rc = hone_git_open(h->dir, &h->writer, err);
    if (rc == 0)
        rc = hone_git_open(h->dir, &h->reader, err);
    if (rc == 0)
        rc = hone_mkdirs(hone_dir, 0700, err);
    if (rc ==
        0) /* taken once: creates it, and proves that no writer is at work while stale locks go */
        rc = hone_lock_file(lock, hone_deadline_in_ms(60000), &h->lock_fd, err);
    if (rc < 0)
        return rc;
    hone_history_remove_stale(h->dir);
    flock(h->lock_fd, LOCK_UN);
    h->n_unpacked = hone_history_count_unpacked(h->dir);
    return open_root(h, err);
}

static int open_with(const char *dir, int (*open_it)(struct hone_history *, struct hone_err *),
                     struct hone_history **ret, struct hone_err *err)
{
    struct hone_history *h = hone_calloc(1, sizeof(*h));
    h->dir = hone_strdup(dir);
    h->lock_fd = -1;
    pthread_mutex_init(&h->write_lock, NULL);
    pthread_mutex_init(&h->read_lock, NULL);
    int rc = hone_cancel_init(&h->cancel, err);
    if (rc == 0)
        rc = open_it(h, err);
    if (rc < 0) {
        hone_history_close(h);
        return hone_wrap(err, "history in '%s'", dir);
    }
    *ret = h;
    return 0;
}

int hone_history_open(const char *dir, struct hone_history **ret, struct hone_err *err)
{
    return open_with(dir, open_parts, ret, err);
}

int hone_history_open_read(const char *dir, struct hone_history **ret, struct hone_err *err)
{
    return open_with(dir, open_to_read, ret, err);
}

void hone_history_close(struct hone_history *h)
{
    if (!h)
        return;
    hone_history_end_maintain(h);
    hone_cancel_done(&h->cancel);
    hone_git_close(h->writer);
    hone_git_close(h->reader);
    hone_index_done(&h->index);
    hone_close_fd(&h->lock_fd);
    pthread_mutex_destroy(&h->write_lock);
    pthread_mutex_destroy(&h->read_lock);
    free(h->dir);
    free(h);
}

void hone_history_close_ptr(struct hone_history **h)
{
    hone_history_close(*h);
    *h = NULL;
}

const char *hone_history_root(const struct hone_history *h)
{
    return h->root;
}

static char *author_name(const char *author)
{
    char *name = hone_text_line(author ? author : DEFAULT_AUTHOR, HONE_LIMIT_SUBJECT_BYTES);
    /* What git forbids in a name, or strips from its ends. */
    for (char *c = name; *c; c++)
        if (strchr("<>", *c))
            *c = ' ';
    char *line = hone_text_line(name + strspn(name, " .,:;\"\\'"), HONE_LIMIT_SUBJECT_BYTES);
    free(name);
    for (size_t len = strlen(line); len > 0 && strchr(" .,:;\"\\'", line[len - 1]); len--)
        line[len - 1] = '\0';
    if (!line[0]) {
        free(line);
        return hone_strdup(DEFAULT_AUTHOR);
    }
    return line;
}

static int check_report(const char *report, struct hone_err *err)
{
    if (!report)
        return hone_fail(err, HONE_E_ARG, "a commit needs a report");
    if (strlen(report) > HONE_LIMIT_TREE_REPORT_BYTES)
        return hone_fail(
            err, HONE_E_LIMIT,
            "report.json is %zu bytes, at most %u go into a commit; keep raw samples out of it",
            strlen(report), HONE_LIMIT_TREE_REPORT_BYTES);
    return 0;
}

static int check_version(const struct hone_version *v, struct hone_err *err)
{
    const char *const names[] = {v->task, v->target, v->file_name};
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (!names[i] || !hone_is_safe_name(names[i]))
            return hone_fail(
                err, HONE_E_ARG,
                "'%.64s' is no usable name (letters, digits, '_', '-', '.'; at most %d bytes)",
                names[i] ? names[i] : "", HONE_LIMIT_NAME_BYTES);
    if (strcmp(v->file_name, HONE_REPORT_FILE) == 0)
        return hone_fail(err, HONE_E_ARG, "a source cannot be called %s", HONE_REPORT_FILE);
    if (!v->source)
        return hone_fail(err, HONE_E_ARG, "a version needs a source");
    if (strlen(v->source) > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "the source is %zu bytes, at most %u are accepted",
                         strlen(v->source), HONE_LIMIT_SOURCE_BYTES);
    if (v->time_s < 0)
        return hone_fail(err, HONE_E_ARG, "a commit's time must not be negative");
    return check_report(v->report_json, err);
}

int hone_history_commit(struct hone_history *h, const struct hone_version *v,
                        char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err)
{
    char *message HONE_AUTOFREE = NULL;
    int rc = check_version(v, err);
    if (rc == 0)
        rc = hone_text_message(v, &message, err);
    if (rc < 0)
        return rc;
    char *author HONE_AUTOFREE = author_name(v->author);
    const struct hone_git_file files[] = {
        {v->file_name, v->source, strlen(v->source)},
        {HONE_REPORT_FILE, v->report_json, strlen(v->report_json)},
    };
    const struct hone_git_new_commit commit = {.parent = v->parent ? v->parent : h->root,
                                               .author = author,
                                               .message = message,
                                               .time_s = v->time_s,
                                               .files = files,
                                               .n_files = HONE_COUNTOF(files)};
    rc = hone_history_lock(h, err);
    if (rc < 0)
        return rc;
    char id[HONE_COMMIT_BYTES];
    rc = hone_git_write_commit(h->writer, &commit, id, err);
    if (rc == 0) {
        char *ref HONE_AUTOFREE = hone_sprintf(HONE_REF_VERSION "%.2s/%s", id, id);
        char old[HONE_COMMIT_BYTES];
        if (hone_git_get_ref(h->writer, ref, old, NULL) < 0)
            rc = hone_git_write_new_ref(h->dir, ref, id, err);
    }
    if (rc == 0)
        hone_history_maybe_maintain(h);
    hone_history_unlock(h);
    if (rc == 0)
        memcpy(ret_commit, id, sizeof(id));
    return rc;
}

/* The ref of the next measurement; one that holds this commit already is used again, so that a
 * replay adds nothing. */
static int set_evidence_ref(struct hone_history *h, const char *version, const char *id,
                            struct hone_err *err)
{
    for (int i = 1; i <= MAX_EVIDENCE; i++) {
        char *ref HONE_AUTOFREE = hone_sprintf(HONE_REF_EVIDENCE "%.2s/%s/%d", version, version, i);
        char old[HONE_COMMIT_BYTES];
        if (hone_git_get_ref(h->writer, ref, old, NULL) < 0)
            return hone_git_set_ref(h->writer, ref, id, true, err);
        if (strcmp(old, id) == 0)
            return 0;
    }
    return hone_fail(err, HONE_E_LIMIT, "version %.12s was measured %d times already", version,
                     MAX_EVIDENCE);
}

int hone_history_evidence(struct hone_history *h, const struct hone_evidence *evidence,
                          char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err)
{
    int rc = check_report(evidence->report_json, err);
    if (rc < 0)
        return rc;
    char *line HONE_AUTOFREE = hone_text_line(evidence->subject, HONE_LIMIT_SUBJECT_BYTES);
    char *message HONE_AUTOFREE = hone_sprintf("%s\n\n" HONE_EVIDENCE_TRAILER "%s\n",
                                               line[0] ? line : "measured again", evidence->commit);
    const struct hone_git_file file = {HONE_REPORT_FILE, evidence->report_json,
                                       strlen(evidence->report_json)};
    const struct hone_git_new_commit commit = {.parent = evidence->commit,
                                               .author = DEFAULT_AUTHOR,
                                               .message = message,
                                               .time_s = evidence->time_s,
                                               .files = &file,
                                               .n_files = 1};
    rc = hone_history_lock(h, err);
    if (rc < 0)
        return rc;
    char id[HONE_COMMIT_BYTES];
    rc = hone_git_write_commit(h->writer, &commit, id, err);
    if (rc == 0)
        rc = set_evidence_ref(h, evidence->commit, id, err);
    hone_history_unlock(h);
    if (rc == 0)
        memcpy(ret_commit, id, sizeof(id));
    return rc;
}

int hone_history_set_branch(struct hone_history *h, const char *name, const char *commit,
                            struct hone_err *err)
{
    char *ref HONE_AUTOFREE = hone_sprintf(HONE_REF_SEARCH "%s", name);
    if (!hone_is_safe_name(name) || !hone_git_is_ref_name(ref))
        return hone_fail(err, HONE_E_ARG,
                         "'%.64s' is no branch name; use letters, digits, '_' and '-'", name);
    int rc = hone_history_lock(h, err);
    if (rc < 0)
        return rc;
    if (!hone_git_has_commit(h->writer, commit))
        rc = hone_fail(err, HONE_E_NOT_FOUND, "commit '%.40s' is not in the history", commit);
    else
        rc = hone_git_set_ref(h->writer, ref, commit, false, err);
    hone_history_unlock(h);
    return rc;
}

int hone_history_set_result(struct hone_history *h, const char *name, const char *commit,
                            const struct hone_branch_result *result, struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct hone_git_file *files = NULL;
    size_t n_files = 0;
    char *subject HONE_AUTOFREE = hone_text_line(result->subject, HONE_LIMIT_SUBJECT_BYTES);
    char *body HONE_AUTOFREE =
        hone_text_line(result->body ? result->body : "", HONE_LIMIT_TRAILER_BYTES);
    char *message HONE_AUTOFREE =
        hone_sprintf("%s%s%s\n\n%s" HONE_RESULT_TRAILER "%s\n", subject, body[0] ? "\n\n" : "",
                     body, result->trailers ? result->trailers : "", commit);
    if (!hone_history_has(h, commit))
        return hone_fail(err, HONE_E_NOT_FOUND, "commit '%.40s' is not in the history", commit);
    int rc = hone_history_lock(h, err);
    if (rc < 0)
        return rc;
    rc = hone_git_read_files(h->writer, commit, HONE_LIMIT_SOURCE_BYTES, pool, &files, &n_files,
                             err);
    const struct hone_git_new_commit top = {.parent = commit,
                                            .author = DEFAULT_AUTHOR,
                                            .message = message,
                                            .time_s = result->time_s,
                                            .files = files,
                                            .n_files = n_files};
    char id[HONE_COMMIT_BYTES];
    if (rc == 0)
        rc = hone_git_write_commit(h->writer, &top, id, err);
    hone_history_unlock(h);
    return rc < 0 ? rc : hone_history_set_branch(h, name, id, err);
}

int hone_history_commit_main(struct hone_history *h, const char *const *paths, size_t n_paths,
                             const char *subject, int64_t time_s, struct hone_err *err)
{
    char id[HONE_COMMIT_BYTES];
    char *message HONE_AUTOFREE = hone_sprintf("workspace: %s\n", subject);
    const struct hone_git_new_commit commit = {
        .author = DEFAULT_AUTHOR, .message = message, .time_s = time_s};
    int rc = hone_history_lock(h, err);
    if (rc < 0)
        return rc;
    rc = hone_git_commit_paths(h->writer, paths, n_paths, &commit, id, err);
    hone_history_unlock(h);
    return rc;
}
