/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, folders and locks. Every descriptor is close-on-exec. Blocking; any thread.
 *
 * Errors, unless a function says more: HONE_E_NOT_FOUND (nothing is there), HONE_E_IO (native holds
 * errno). Readers: HONE_E_ARG (no regular file), HONE_E_LIMIT (larger than the limit). */
#ifndef HONE_BASE_FILE_H
#define HONE_BASE_FILE_H

#include "workspace/base/buf.h"

/* Reads a regular file of at most limit bytes (HONE_E_LIMIT above it; HONE_E_NOT_FOUND when
 * missing). Owned by the caller, NUL-terminated. */
int hone_file_read(const char *path, size_t limit, char **ret_text, size_t *ret_len,
                   struct hone_err *err);
/* Same relative to a folder descriptor (AT_FDCWD allowed); refuses to follow a
 * final symbolic link. */
int hone_file_read_at(int dir_fd, const char *name, size_t limit, char **ret_text, size_t *ret_len,
                      struct hone_err *err);
/* Writes to a temporary name beside it, optionally fsyncs file and folder, renames: readers see the
 * old or the new file, never a part. What is there and no regular file (a device, a folder) stays:
 * HONE_E_IO. */
int hone_file_write(const char *path, const void *bytes, size_t len, unsigned mode, bool sync,
                    struct hone_err *err);
int hone_file_copy(const char *from, const char *to, size_t limit, struct hone_err *err);
bool hone_file_exists(const char *path);
/* mkdir -p. Existing folders are fine. */
int hone_mkdirs(const char *path, unsigned mode, struct hone_err *err);
/* rm -rf without following links and without leaving the file system. Missing is fine. */
int hone_remove_tree(const char *path, struct hone_err *err);
/* Copies a folder of regular files and folders (no links, at most max_files). */
int hone_copy_tree(const char *from, const char *to, size_t max_files, struct hone_err *err);
/* Names in a folder without "." and "..", sorted, in the pool. */
int hone_list_dir(const char *path, struct hone_pool *pool, const char ***ret_names, size_t *ret_n,
                  struct hone_err *err);
/* Exclusive advisory lock (flock) on path, created 0600. wait_deadline_ns: 0 = do not wait
 * (HONE_E_BUSY). Close *ret_fd to release. */
int hone_lock_file(const char *path, int64_t wait_deadline_ns, int *ret_fd, struct hone_err *err);
/* Joins parts with '/'; owned. hone_path_join("a", "b", NULL) */
char *hone_path_join(const char *first, ...) __attribute__((sentinel));
/* A name that is safe as one path component and as one of a git ref: [A-Za-z0-9_.-], not starting
 * with '.' or '-', no "..", not ending in '.' or ".lock", at most HONE_LIMIT_NAME_BYTES. */
bool hone_is_safe_name(const char *name);
/* Folder of the running executable (from /proc/self/exe); owned; NULL when unknown. */
char *hone_exe_dir(void);

#endif
