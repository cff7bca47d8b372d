/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the history: shared by history*.c only. */
#ifndef HONE_WORKSPACE_HISTORY_INTERNAL_H
#define HONE_WORKSPACE_HISTORY_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "workspace/git_refs.h"
#include "workspace/git_store.h"
#include "workspace/base/process.h"
#include "workspace/history.h"

#define HONE_REF_ROOT         "refs/hone/root"
#define HONE_REF_VERSION      "refs/hone/v/"
#define HONE_REF_EVIDENCE     "refs/hone/evidence/"
#define HONE_REF_SEARCH       "refs/heads/search/"
#define HONE_REF_MAIN         "refs/heads/main"
#define HONE_REPORT_FILE      "report.json"
#define HONE_RESULT_TRAILER   "Result-of: "
#define HONE_EVIDENCE_TRAILER "Evidence-for: "

struct hone_index_row {
    char id[HONE_COMMIT_BYTES];
    char parent[HONE_COMMIT_BYTES];
    int64_t time_s;
    uint32_t depth; /* versions above it, itself included; 0: not known yet */
};

/* Every version's id, time and depth, in memory: refs are listed at each refresh, commits
 * are read once. */
struct hone_index {
    struct hone_ref_scan scan;
    struct hone_index_row *rows;
    size_t n_rows, cap;
    uint32_t *slots; /* hash table: row number + 1; 0 empty */
    size_t n_slots;  /* power of two */
    uint32_t *order; /* rows, newest first */
};

struct hone_history {
    char *dir; /* workspace */
    char root[HONE_COMMIT_BYTES];

    pthread_mutex_t write_lock; /* writer, lock_fd, n_unpacked, maintenance thread */
    struct hone_git *writer;
    int lock_fd;        /* flock: one writer among processes */
    int64_t n_unpacked; /* versions since the last gc, roughly */
    pthread_t thread;
    bool has_thread;
    atomic_bool is_thread_done;
    struct hone_cancel cancel; /* of the thread's git gc */

    pthread_mutex_t read_lock; /* reader, index */
    struct hone_git *reader;
    struct hone_index index;
};

/* Takes both locks of the writer; release with hone_history_unlock. */
int hone_history_lock(struct hone_history *h, struct hone_err *err);
void hone_history_unlock(struct hone_history *h);

/* history_index.c; under read_lock */
int hone_index_refresh(struct hone_index *index, const char *dir, struct hone_git *git,
                       struct hone_err *err);
const struct hone_index_row *hone_index_find(const struct hone_index *index, const char *id);
void hone_index_done(struct hone_index *index);

/* history_text.c: pure */
/* One line fit for git, at most max bytes; "" when nothing is left. Owned. */
char *hone_text_line(const char *text, size_t max);
/* Subject, body and trailers as one message; owned. HONE_E_ARG (trailer key), HONE_E_LIMIT. */
int hone_text_message(const struct hone_version *v, char **ret_message, struct hone_err *err);
/* Subject, body and trailers out of a message; cuts the text in place; task and target
 * from the trailers. */
void hone_text_parse(char *message, struct hone_pool *pool, struct hone_version *ret);

/* history_maintain.c */
/* Removes ref locks left by killed processes; under the write lock. */
void hone_history_remove_stale(const char *dir);
int64_t hone_history_count_unpacked(const char *dir);
/* Starts the housekeeping thread when it is due; under the write lock. */
void hone_history_maybe_maintain(struct hone_history *h);
/* Waits for the thread, at most two minutes; then it is cancelled. */
void hone_history_end_maintain(struct hone_history *h);

#endif
