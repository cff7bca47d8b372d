/* SPDX-License-Identifier: Apache-2.0 */
/* What searches learnt about strategies, kept beyond the workspace.
 *
 * A row is one strategy in one search: how often it was tried, really done, faster than its parent,
 * by how much, and how it failed. Rows come from the ledger alone, hold no size, input or source, and
 * say where they are from. A store is a file of JSON lines, one row each, sorted by key, so that git
 * merges two of them:
 *
 *     ~/.local/share/hone/knowledge.jsonl       (or below XDG_DATA_HOME)
 *
 *     struct hone_knowledge k = {.pool = pool};
 *     hone_knowledge_collect(ws, &k, err);                  what this workspace's searches say
 *     hone_knowledge_load(path, &k, &n_refused, err);       a store; a row of the same key gives way
 *     hone_knowledge_save(path, &k, err);
 *
 * `hone search --knowledge` starts its prior from these rows (hone_knowledge_prior), and shows the
 * best of them to models (hone_knowledge_notes). Neither sees a row of the task itself. One thread. */
#ifndef HONE_AGENTS_KNOWLEDGE_H
#define HONE_AGENTS_KNOWLEDGE_H

#include "workspace/base/json.h"
#include "workspace/workspace.h"

enum { HONE_KNOWLEDGE_SOURCES = 64 }; /* searches that a strategy's prior is made from, at most */

struct hone_knowledge_row {
    const char *search;                           /* id; with strategy the row's key */
    const char *strategy;                         /* catalogue id */
    const char *task, *family, *target, *machine; /* family: the task's op_type, or its name */
    const char *date;                             /* of the search's begin, "2026-11-23" */
    const char *commit;                           /* version that gained most; NULL: none did */
    int64_t tried, implemented, gained;
    double best_log2, sum_log2; /* gains over the parent: the largest; all measured ones */
    int64_t measured;           /* gains in sum_log2 */
    int64_t incorrect, failed;  /* versions with wrong results; that did not build, run or end */
    const char *why;            /* how the last of both ended: "incorrect (wrong_value)"; NULL */
};

struct hone_knowledge {
    struct hone_pool *pool; /* of all strings and rows */
    struct hone_knowledge_row *rows;
    size_t n, room;
};

/* HONE_E_*: the ledger cannot be read. */
int hone_knowledge_collect(struct hone_workspace *ws, struct hone_knowledge *k,
                           struct hone_err *err);
/* A file that is not there holds nothing. Lines that are too long, no row, or name an unknown
 * strategy are left out and counted. HONE_E_LIMIT: the file or the number of rows. */
int hone_knowledge_load(const char *path, struct hone_knowledge *k, size_t *ret_refused,
                        struct hone_err *err);
/* Written whole beside it, then put in its place. Makes the folder. */
int hone_knowledge_save(const char *path, struct hone_knowledge *k, struct hone_err *err);
/* All rows, sorted by key; owned. */
struct hone_json *hone_knowledge_json(struct hone_knowledge *k);
/* The prior (agents/planner/prior.h) of a new search from the rows of its family and target; NULL:
 * there are none. Owned. Rows of the task itself are left out: whether a version was right or fast
 * may have been decided on sizes of it that a search must not know. Sources stand in each row. */
struct hone_json *hone_knowledge_prior(const struct hone_knowledge *k, const char *task,
                                       const char *family, const char *target);
struct hone_knowledge_of { /* a search that is to come */
    const char *task, *family, *target;
    const char *machine; /* hone_machine_name; NULL: not known */
};
/* Rows of the family and target in words for a model, a line each, whole lines of at most `max` bytes
 * together; in the pool, NULL: there are none. First those of this machine; then by the mean gain,
 * held toward none as if two more looks had found none; failures last, most tried first. A row of the
 * task itself is never among them, as above. What a row says in words is cut and stripped of control
 * characters; it stays foreign text all the same (hone_prompt_knowledge). */
const char *hone_knowledge_notes(const struct hone_knowledge *k, const struct hone_knowledge_of *of,
                                 size_t max);
/* Where the user's store is; owned. NULL: neither XDG_DATA_HOME nor HOME is set. */
char *hone_knowledge_path(void);

#endif
