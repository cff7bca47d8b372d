/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that includes libgit2: objects, refs and trees of one repository, in hone's words.
 *
 * Internal to workspace/. A handle belongs to one thread at a time (history.c has one for writing
 * and one for reading, each under its mutex). Ids are 40 hex digits. Nothing here knows what a
 * version is. Blocking. */
#ifndef HONE_WORKSPACE_GIT_STORE_H
#define HONE_WORKSPACE_GIT_STORE_H

#include "workspace/base/buf.h"

#define HONE_GIT_ID_BYTES 41

struct hone_git; /* opaque */

struct hone_git_file { /* one file of a tree */
    const char *name;  /* may hold '/' only in hone_git_root_commit */
    const char *bytes;
    size_t len;
};

struct hone_git_commit {
    char id[HONE_GIT_ID_BYTES];
    char tree[HONE_GIT_ID_BYTES];
    char parent[HONE_GIT_ID_BYTES]; /* "" for a root commit */
    const char *author;             /* name */
    const char *message;
    int64_t time_s;
};

struct hone_git_new_commit {
    const char *parent; /* NULL: a root commit */
    const char *author;
    const char *message;
    int64_t time_s;
    const struct hone_git_file *files; /* the whole tree, plain names */
    size_t n_files;
};

/* Makes a non-bare repository with HEAD on main and no commit. HONE_E_EXISTS when there is one. */
int hone_git_init(const char *dir, struct hone_err *err);
/* HONE_E_NOT_FOUND no repository in dir itself · HONE_E_CORRUPT unreadable ·
 * HONE_E_AUTH another user's. */
int hone_git_open(const char *dir, struct hone_git **ret, struct hone_err *err);
void hone_git_close(struct hone_git *git);
void hone_git_close_ptr(struct hone_git **git);
/* The folder of the repository that `path` (or its nearest existing ancestor) lies in;
 * owned; NULL: none. */
char *hone_git_discover(const char *path);

/* Writes blobs, tree and commit; no ref. The same content gives the same id.
 * HONE_E_NOT_FOUND: the parent. */
int hone_git_write_commit(struct hone_git *git, const struct hone_git_new_commit *commit,
                          char ret_id[HONE_GIT_ID_BYTES], struct hone_err *err);
/* Commits the named files and folders of the work tree on main and leaves the index equal to it. No
 * change: no commit. Of `commit` author, message and time count: files and parent are found. */
int hone_git_commit_paths(struct hone_git *git, const char *const *paths, size_t n_paths,
                          const struct hone_git_new_commit *commit, char ret_id[HONE_GIT_ID_BYTES],
                          struct hone_err *err);

/* Sets a ref, created when missing. is_new: leave one that exists alone. Retries while somebody
 * holds its lock. */
int hone_git_set_ref(struct hone_git *git, const char *name, const char *id, bool is_new,
                     struct hone_err *err);
/* HONE_E_NOT_FOUND. */
int hone_git_get_ref(struct hone_git *git, const char *name, char ret_id[HONE_GIT_ID_BYTES],
                     struct hone_err *err);
bool hone_git_is_ref_name(const char *name);
bool hone_git_has_commit(struct hone_git *git, const char *id);
/* The one commit whose id begins so; false: none, or several. */
bool hone_git_find_commit(struct hone_git *git, const char *prefix, char ret_id[HONE_GIT_ID_BYTES]);
/* Strings live in the pool; pool NULL: no author and message. HONE_E_NOT_FOUND, HONE_E_CORRUPT. */
int hone_git_read_commit(struct hone_git *git, const char *id, struct hone_pool *pool,
                         struct hone_git_commit *ret, struct hone_err *err);
/* The blobs of a commit's tree, in tree order, in the pool; folders are left out. limit:
 * of one file. */
int hone_git_read_files(struct hone_git *git, const char *id, size_t limit, struct hone_pool *pool,
                        struct hone_git_file **ret, size_t *ret_n, struct hone_err *err);
/* Calls fn for a commit and its ancestors, children first, newer first. fn returns > 0 to end, < 0
 * on error. */
typedef int hone_git_walk_fn(void *arg, const char *id, struct hone_err *err);
int hone_git_walk(struct hone_git *git, const char *from, hone_git_walk_fn *fn, void *arg,
                  struct hone_err *err);
/* Unified diff of two texts under their names ("" and NULL: absent file); owned. */
int hone_git_diff(const struct hone_git_file *from, const struct hone_git_file *to,
                  char **ret_patch, struct hone_err *err);

#endif
