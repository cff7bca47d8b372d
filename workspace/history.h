/* History: every tried version is a commit. The only owner of libgit2.
 *
 * A version's commit has the tree { <task>.c (or .cu), report.json } and trailers (docs/architecture.md). Its parent is the version that
 * was edited. Every version has refs/hone/v/<2 hex>/<commit id>; a search has the branch search/<name> at its best version.
 * Measuring a version again adds an evidence commit under refs/hone/evidence/<2 hex>/<version>/<n>; nothing is rewritten.
 * One writer at a time (in-process mutex, file lock between processes). Thread safe. A commit costs about a millisecond, without fsync: the
 * ledger is what makes an answer durable, and hone_history_has + the ledger rebuild what a crash lost. */
#ifndef HONE_WORKSPACE_HISTORY_H
#define HONE_WORKSPACE_HISTORY_H

#include "workspace/base/fields.h"

#define HONE_COMMIT_BYTES 41 /* 40 hex digits and NUL */

struct hone_history; /* opaque */

struct hone_trailer {
    const char *key; /* "Speedup" */
    const char *value;
};

struct hone_version { /* what a commit says; strings borrowed (commit) or in the pool (read) */
    const char *commit;       /* read only */
    const char *parent;       /* commit id, or NULL: the root commit of the workspace is the parent */
    const char *task;
    const char *target;
    const char *file_name;    /* "matmul.c" */
    const char *source;
    const char *report_json;  /* at most HONE_LIMIT_TREE_REPORT_BYTES */
    const char *subject;      /* the strategy step in words */
    const char *body;         /* why, what was expected, what happened; may be NULL */
    const char *author;       /* "hone rules", an agent's name; NULL: hone */
    int64_t time_s;           /* commit time, Unix seconds: part of the id, so that a rebuild gives the same commit */
    struct hone_array trailers; /* of struct hone_trailer */
};

int hone_history_create(const char *dir, struct hone_err *err); /* git init + root commit (README, .gitignore, tasks) */
int hone_history_open(const char *dir, struct hone_history **ret, struct hone_err *err);
void hone_history_close(struct hone_history *h);

/* Writes blobs, tree, commit and ref. The same version again gives the same id. */
int hone_history_commit(struct hone_history *h, const struct hone_version *v, char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err);
/* Adds an evidence commit (report of another measurement) about a version. */
int hone_history_evidence(struct hone_history *h, const char *commit, const char *subject, const char *report_json, int64_t time_s,
                          char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err);
/* Moves branch search/<name> to a version (created when missing). name must be a safe name. */
int hone_history_set_branch(struct hone_history *h, const char *name, const char *commit, struct hone_err *err);
bool hone_history_has(struct hone_history *h, const char *commit);
/* Accepts a full id, a unique prefix of at least 4 digits, or a branch name. HONE_E_NOT_FOUND / HONE_E_ARG (ambiguous). */
int hone_history_resolve(struct hone_history *h, const char *rev, char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err);
int hone_history_read(struct hone_history *h, const char *commit, struct hone_pool *pool, struct hone_version *ret, struct hone_err *err);
/* Lists versions, newest first, without sources and reports: all of them (rev NULL) or the ancestors of rev. */
int hone_history_list(struct hone_history *h, const char *rev, size_t offset, size_t max, struct hone_pool *pool,
                      struct hone_version **ret, size_t *ret_n, struct hone_err *err);
/* Unified diff of the sources of two versions; owned. */
int hone_history_diff(struct hone_history *h, const char *from, const char *to, char **ret_patch, struct hone_err *err);
const char *hone_trailer_get(const struct hone_version *v, const char *key); /* NULL: none */

#endif
