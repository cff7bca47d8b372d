/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a call on their way to a runner elsewhere, and the store there that keeps them by
 * content, so that a file crosses once.
 *
 * A call takes everything in CALL/open/ and the task's pack. Each file has a place ("open/..." or
 * "task/..."), a size and a key: a hash of its content. The runner's store is a folder:
 *
 *     STORE/files/KEY        contents; files that nobody used for a week are removed at the start
 *     STORE/tasks/KEY/       packs, by the keys of all their files
 *
 * The sender is trusted with the runner's folder but not with its paths: a place that leaves the
 * call's folder, or that is no plain name, is refused. */
#ifndef HONE_LAUNCH_FILES_H
#define HONE_LAUNCH_FILES_H

#include "workspace/base/hash.h"
#include "workspace/base/json.h"
#include "workspace/base/buf.h"

#define HONE_CALL_PIECE_BYTES (1u << 20) /* a file crosses in pieces of this size */

struct hone_call_file {
    const char *place; /* "open/candidate.c", "task/oracle.c" */
    const char *path;  /* on the sender's side; NULL on the receiver's */
    int64_t size;
    char key[HONE_HASH_TEXT_BYTES];
};

struct hone_call_files {
    struct hone_call_file *v; /* at most HONE_LIMIT_CALL_FILES; in the pool, strings too */
    size_t n;
};

/* Sender: what the call takes along. HONE_E_LIMIT: too many, or one is too large. */
int hone_call_files_list(const char *call_dir, const char *task_dir, struct hone_pool *pool,
                         struct hone_call_files *ret, struct hone_err *err);
struct hone_json *hone_call_files_to_json(const struct hone_call_files *files);
/* Receiver: HONE_E_ARG for a place that is none. */
int hone_call_files_from_json(const struct hone_json *json, struct hone_pool *pool,
                              struct hone_call_files *ret, struct hone_err *err);
const struct hone_call_file *hone_call_files_find(const struct hone_call_files *files,
                                                  const char *key); /* NULL: none */

/* Receiver: makes the folders and removes what is old. */
int hone_store_open(const char *store, struct hone_err *err);
bool hone_store_has(const char *store, const struct hone_call_file *file);
/* A piece at its offset; after the last one the content must have the key (HONE_E_CORRUPT). Files
 * come one after the other. */
int hone_store_put(const char *store, const struct hone_call_file *file, int64_t offset,
                   const void *bytes, size_t len, struct hone_err *err);
/* Puts the files of open/ into CALL/open, those of task/ into a pack in the store; *ret_task_dir is
 * the pack's folder, in the pool. */
int hone_store_place(const char *store, const struct hone_call_files *files, const char *call_dir,
                     struct hone_pool *pool, const char **ret_task_dir, struct hone_err *err);

#endif
