/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger's record formats: what is in "data" of each record type, with its field tables.
 *
 *   type              data                       written by
 *   workspace.root    struct hone_record_root    workspace.c, the first record
 *   evaluation.start  struct hone_record_start   tools/evaluate.c, before anything runs
 *   evaluation.end    struct hone_record_end     tools/evaluate.c, then hone_ledger_sync: now the
 *                                                evaluation is acknowledged
 *   commit            struct hone_record_commit  tools/evaluate.c, after hone_history_commit
 *   branch            struct hone_record_branch  hone_workspace_set_branch
 *   search.*          any JSON object            agents; nothing here reads it
 *
 * Whoever opens a workspace replays it: an evaluation.end that holds a version (or evidence)
 * without its commit is committed again and gets the same id, because everything that goes into a
 * commit is in the record. So the order
 *
 *   1. n = append_start
 *   2. run
 *   3. append_end, hone_ledger_sync
 *   4. hone_history_commit(end.version)
 *   5. append_commit
 *
 * loses nothing that was synced, wherever the process is killed. The source is stored once, in the
 * start record: an end record whose version.source is NULL names that record's number in `start`.
 *
 * Encoders check what a reader would refuse later: HONE_E_ARG (source is not UTF-8, a member is
 * missing), HONE_E_LIMIT. Everything decoded lives in the pool. Any thread. */
#ifndef HONE_WORKSPACE_RECORDS_H
#define HONE_WORKSPACE_RECORDS_H

#include "workspace/history.h"
#include "workspace/ledger.h"

#define HONE_RECORD_ROOT   "workspace.root"
#define HONE_RECORD_START  "evaluation.start"
#define HONE_RECORD_END    "evaluation.end"
#define HONE_RECORD_COMMIT "commit"
#define HONE_RECORD_BRANCH "branch"

struct hone_record_start {
    const char *evaluation; /* id: a safe name */
    const char *task;
    const char *task_hash;
    const char *target;
    const char *tier;
    const char *parent;         /* commit that was edited; NULL: none */
    const char *source;         /* the whole of it */
    struct hone_strs flags;     /* compiler options */
    struct hone_json *tunables; /* {"TILE": 16}; NULL: none */
    const char *caller;         /* "search s1", "mcp claude", "cli"... */
};

struct hone_record_end {
    const char *evaluation;
    int64_t start;    /* number of its evaluation.start record */
    const char *key;  /* cache key: a hit needs no new evaluation */
    const char *blob; /* content hash of the whole report: .hone/blobs/<hash>; NULL: not told */
    const char *verdict;
    const char *reason;
    struct hone_version *version; /* NULL: nothing to commit. source NULL: as in the start record */
    struct hone_evidence *evidence; /* NULL: none */
};

struct hone_record_commit {
    const char *evaluation;
    const char *commit;
};

struct hone_record_branch { /* branch search/<name> moved */
    const char *name;
    const char *commit;
    const char *subject, *body; /* of the result commit on top; subject NULL: none */
    const char *trailers;       /* of it; NULL: none */
    int64_t time_s;
};

struct hone_record_file {
    const char *name;
    const char *text;
};

struct hone_record_root { /* the root commit, so that a rebuilt repository has the same one */
    const char *commit;
    int64_t time_s;
    struct hone_array files; /* of struct hone_record_file */
};

/* Append one record; ret_n may be NULL. Not yet durable: hone_ledger_sync. */
int hone_record_append_start(struct hone_ledger *ledger, const struct hone_record_start *start,
                             uint64_t *ret_n, struct hone_err *err);
int hone_record_append_end(struct hone_ledger *ledger, const struct hone_record_end *end,
                           uint64_t *ret_n, struct hone_err *err);
int hone_record_append_commit(struct hone_ledger *ledger, const struct hone_record_commit *commit,
                              uint64_t *ret_n, struct hone_err *err);
int hone_record_append_branch(struct hone_ledger *ledger, const struct hone_record_branch *branch,
                              uint64_t *ret_n, struct hone_err *err);
int hone_record_append_root(struct hone_ledger *ledger, const struct hone_record_root *root,
                            uint64_t *ret_n, struct hone_err *err);

/* Decode the data of a record of that type. HONE_E_ARG, HONE_E_LIMIT with err->path. */
int hone_record_decode_end(const struct hone_json *data, struct hone_pool *pool,
                           struct hone_record_end *ret, struct hone_err *err);
int hone_record_decode_branch(const struct hone_json *data, struct hone_pool *pool,
                              struct hone_record_branch *ret, struct hone_err *err);
int hone_record_decode_root(const struct hone_json *data, struct hone_pool *pool,
                            struct hone_record_root *ret, struct hone_err *err);

/* Reads record number n, which must be an evaluation.start. HONE_E_NOT_FOUND. */
int hone_record_read_start(struct hone_ledger *ledger, uint64_t n, struct hone_pool *pool,
                           struct hone_record_start *ret, struct hone_err *err);
/* The same for an evaluation.end. */
int hone_record_read_end(struct hone_ledger *ledger, uint64_t n, struct hone_pool *pool,
                         struct hone_record_end *ret, struct hone_err *err);

#endif
