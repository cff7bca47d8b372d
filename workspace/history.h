/* SPDX-License-Identifier: Apache-2.0 */
/* History: every tried version is a commit. git_store.c below it is the only owner of libgit2.
 *
 *   tree                                      <task>.c (or .cu), report.json
 *   parent                                    the version that was edited
 *   refs/hone/v/<2 hex>/<commit id>           every version
 *   refs/heads/search/<name>                  a search's best version
 *   refs/hone/evidence/<2 hex>/<version>/<n>  a later measurement of a version (nothing is
 *                                             rewritten)
 *
 * docs/reference/history.md has the trailers and the rest of the format.
 *
 * Calling sequence:
 *
 *     struct hone_history *h;
 *     hone_history_open(dir, &h, err);
 *     struct hone_version v = {.task = "sum", .target = "cpu", .file_name = "sum.c", ...};
 *     char commit[HONE_COMMIT_BYTES];
 *     hone_history_commit(h, &v, commit, err);
 *     hone_history_list(h, NULL, 0, 50, pool, &versions, &n, err);      newest first
 *     hone_history_close(h);
 *
 * One writer at a time (in-process mutex, file lock between processes). Readers have a handle of
 * their own and do not wait for the writer. Thread safe. A commit costs about a millisecond and is
 * not synced. The ledger makes an answer durable, by a sync before it is acknowledged
 * (tools/evaluate.h). A replay of the ledger (workspace.h) rebuilds the commits that a crash lost.
 *
 * Text is made fit for git here, always the same way: control characters become spaces,
 * invalid UTF-8 becomes U+FFFD, a subject is cut at HONE_LIMIT_SUBJECT_BYTES and a trailer's
 * value at HONE_LIMIT_TRAILER_BYTES. */
#ifndef HONE_WORKSPACE_HISTORY_H
#define HONE_WORKSPACE_HISTORY_H

#include "workspace/base/fields.h"

#define HONE_COMMIT_BYTES 41 /* 40 hex digits and NUL */

struct hone_history; /* opaque */

struct hone_trailer {
    const char *key; /* "Speedup": letters, digits, '-' */
    const char *value;
};

struct hone_version {   /* what a commit says; strings borrowed (commit) or in the pool (read) */
    const char *commit; /* read only */
    const char *parent; /* commit id, or NULL: the root commit of the workspace is the parent */
    const char *task;   /* trailers Task and Target are made from these two */
    const char *target;
    const char *file_name;   /* "matmul.c"; NULL in lists */
    const char *source;      /* at most HONE_LIMIT_SOURCE_BYTES; NULL in lists */
    const char *report_json; /* at most HONE_LIMIT_TREE_REPORT_BYTES; NULL in lists */
    const char *subject;     /* the strategy step in words */
    const char *body;        /* why, what was expected, what happened; may be NULL */
    const char *author;      /* "hone rules", an agent's name; NULL: hone */
    int64_t time_s; /* commit time, Unix seconds: part of the id, so that a rebuild gives the same
                       commit */
    struct hone_array trailers; /* of struct hone_trailer; read: Task and Target are among them */
};

struct hone_branch_result { /* what a search came to: a commit on top of its best version, with the
                               same tree */
    const char *subject;    /* NULL: no such commit; at most HONE_LIMIT_SUBJECT_BYTES */
    const char *body;       /* at most HONE_LIMIT_TRAILER_BYTES; may be NULL */
    int64_t time_s;         /* part of the id */
    const char *trailers;   /* whole lines "Key: value\n", or NULL */
};

struct hone_history_file { /* of the root commit */
    const char *name;
    const char *text;
};

/* git init + root commit with README.md and .gitignore, which are written to
 * dir too. HONE_E_EXISTS. */
int hone_history_create(const char *dir, struct hone_err *err);
/* The same with files of the caller's choice: the same files and time give the same root. Work tree
 * files are not written. */
int hone_history_create_root(const char *dir, const struct hone_history_file *files, size_t n_files,
                             int64_t time_s, char ret_root[HONE_COMMIT_BYTES],
                             struct hone_err *err);
/* Commits files and folders of the work tree on main (the user's branch). No change: no commit.
 * HONE_E_BUSY: somebody else holds git's lock. HONE_E_IO, HONE_E_CORRUPT. */
int hone_history_commit_main(struct hone_history *h, const char *const *paths, size_t n_paths,
                             const char *subject, int64_t time_s, struct hone_err *err);
/* Opens, and removes ref locks that a killed process left. HONE_E_NOT_FOUND, HONE_E_CORRUPT,
 * HONE_E_AUTH. */
int hone_history_open(const char *dir, struct hone_history **ret, struct hone_err *err);
/* To read alone, where nothing can be written: no lock is taken, writes fail. */
int hone_history_open_read(const char *dir, struct hone_history **ret, struct hone_err *err);
/* Waits for housekeeping that is running (at most two minutes). */
void hone_history_close(struct hone_history *h);
void hone_history_close_ptr(struct hone_history **h);

/* Writes blobs, tree, commit and ref. The same version again gives the same id. HONE_E_ARG (names),
 * HONE_E_LIMIT, HONE_E_NOT_FOUND (the parent), HONE_E_CORRUPT, HONE_E_IO (disk full). */
int hone_history_commit(struct hone_history *h, const struct hone_version *v,
                        char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err);
/* Adds an evidence commit (report of another measurement) about a version. The same again gives the
 * same id and ref. HONE_E_ARG: no report. HONE_E_LIMIT: the report is too large, or the version was
 * measured 10,000 times. HONE_E_NOT_FOUND: the version. HONE_E_IO, HONE_E_CORRUPT. */
struct hone_evidence {
    const char *commit; /* the version */
    const char *subject;
    const char *report_json; /* at most HONE_LIMIT_TREE_REPORT_BYTES */
    int64_t time_s;
};
int hone_history_evidence(struct hone_history *h, const struct hone_evidence *evidence,
                          char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err);
/* Moves branch search/<name> to a version (created when missing). name must be a safe name. A
 * rebuild knows only of moves that are in the ledger: prefer hone_workspace_set_branch. HONE_E_ARG:
 * the name. HONE_E_NOT_FOUND: no such commit. HONE_E_BUSY, HONE_E_IO. */
int hone_history_set_branch(struct hone_history *h, const char *name, const char *commit,
                            struct hone_err *err);
/* Puts a result commit on the version and moves the branch to it, so that plain `git log` ends with
 * the figure that was confirmed. It is no version: the branch still resolves to the version. The
 * same again gives the same id. HONE_E_NOT_FOUND: no such version. */
int hone_history_set_result(struct hone_history *h, const char *name, const char *commit,
                            const struct hone_branch_result *result, struct hone_err *err);
/* True when the branch stands on a result commit of this version. */
bool hone_history_has_result(struct hone_history *h, const char *name, const char *commit);
/* True for a version (commit and ref are there). */
bool hone_history_has(struct hone_history *h, const char *commit);
/* Accepts a full id, a unique prefix of at least 4 digits of a version, a branch (search/x or x),
 * main. A measurement or a result commit stands for its version. HONE_E_NOT_FOUND / HONE_E_ARG (ambiguous). */
int hone_history_resolve(struct hone_history *h, const char *rev,
                         char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err);
/* HONE_E_NOT_FOUND: no such commit, or one that is no version. */
int hone_history_read(struct hone_history *h, const char *commit, struct hone_pool *pool,
                      struct hone_version *ret, struct hone_err *err);
/* Lists versions, newest first (of equal seconds children first), without files: all of them (rev
 * NULL) or those that rev leads back to. At most max, from the offset-th on; max 0: none. The first
 * call reads every version's commit once; later ones only what is new. HONE_E_NOT_FOUND, HONE_E_ARG
 * (rev); HONE_E_CORRUPT, HONE_E_IO. */
int hone_history_list(struct hone_history *h, const char *rev, size_t offset, size_t max,
                      struct hone_pool *pool, struct hone_version **ret, size_t *ret_n,
                      struct hone_err *err);
/* Reports of later measurements of a version, oldest first: subject, report_json, time_s, commit. A
 * commit that has none, or is no version, gives none. HONE_E_CORRUPT, HONE_E_IO. */
int hone_history_evidence_of(struct hone_history *h, const char *commit, struct hone_pool *pool,
                             struct hone_version **ret, size_t *ret_n, struct hone_err *err);
/* One of them by its own id or a prefix of it; parent is its version. HONE_E_NOT_FOUND. */
int hone_history_read_evidence(struct hone_history *h, const char *rev, struct hone_pool *pool,
                               struct hone_version *ret, struct hone_err *err);
/* Unified diff of the sources of two versions; owned. from and to as in hone_history_resolve, with
 * its errors. A commit that is no version (main) counts as an absent file. */
int hone_history_diff(struct hone_history *h, const char *from, const char *to, char **ret_patch,
                      struct hone_err *err);
const char *hone_trailer_get(const struct hone_version *v, const char *key); /* NULL: none */
const char *
hone_history_root(const struct hone_history *h); /* id of the root commit; as long as h */

/* Housekeeping: `git gc` as a niced child when about 3,000 versions are unpacked (or is_forced).
 * Every 3,000th commit starts it by itself on a thread of its own; writers and readers go on
 * meanwhile. Does nothing while another process is at it (waits for it if is_forced). Blocks, ten
 * minutes at most: HONE_E_TIMEOUT, HONE_E_BUSY. HONE_E_CORRUPT: git's complaint. */
int hone_history_maintain(struct hone_history *h, bool is_forced, struct hone_err *err);
/* After a crash of the machine: counts empty objects and refs (files whose data never reached
 * the disk) that are newer than since_s, and removes them if is_removing. The ledger must
 * then be replayed from its start; a caller that may be killed in between notes that down
 * before it removes. */
int hone_history_scrub(struct hone_history *h, int64_t since_s, bool is_removing, size_t *ret_n,
                       struct hone_err *err);
/* `git fsck --connectivity-only`: HONE_E_CORRUPT with git's first complaint. Blocks for seconds on
 * a large history. */
int hone_history_check(struct hone_history *h, struct hone_err *err);

#endif
