/* SPDX-License-Identifier: Apache-2.0 */
/* libgit2 behind git_store.h, in this order: clean-up types, errors, opening and creating a
 * repository, blobs and trees, commits, refs, walks, diffs.
 *
 * Each function converts libgit2's code once (fail_git; fail_write, which knows a full disk). */
#include "workspace/git_store.h"

#include <errno.h>
#include <git2.h>
#if __has_include(<git2/sys/errors.h>) /* git_error_clear, from libgit2 1.9 on */
#include <git2/sys/errors.h>
#endif
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define EMAIL          "hone@localhost"
#define REF_TRIES      200 /* of 10 ms: git gc holds a ref's lock for a moment */
#define OS_TRIES       5   /* git gc may remove the empty folder between libgit2's mkdir and open */
#define REF_WAIT_NS    10000000l
#define MAX_TREE_FILES 4096

struct hone_git {
    git_repository *repo;
    git_odb *odb;
};

static void commit_free_ptr(git_commit **p)
{
    git_commit_free(*p);
}
static void tree_free_ptr(git_tree **p)
{
    git_tree_free(*p);
}
static void blob_free_ptr(git_blob **p)
{
    git_blob_free(*p);
}
static void ref_free_ptr(git_reference **p)
{
    git_reference_free(*p);
}
static void index_free_ptr(git_index **p)
{
    git_index_free(*p);
}
static void signature_free_ptr(git_signature **p)
{
    git_signature_free(*p);
}
static void builder_free_ptr(git_treebuilder **p)
{
    git_treebuilder_free(*p);
}
static void walk_free_ptr(git_revwalk **p)
{
    git_revwalk_free(*p);
}
static void config_free_ptr(git_config **p)
{
    git_config_free(*p);
}

/* What libgit2's numbers mean to a caller. */
static const struct {
    int native;
    enum hone_code code;
} codes[] = {
    {GIT_ENOTFOUND, HONE_E_NOT_FOUND}, {GIT_EEXISTS, HONE_E_EXISTS},
    {GIT_EAMBIGUOUS, HONE_E_ARG},      {GIT_EINVALIDSPEC, HONE_E_ARG},
    {GIT_ELOCKED, HONE_E_BUSY},        {GIT_EMISMATCH, HONE_E_CORRUPT},
    {GIT_EOWNER, HONE_E_AUTH},
};

/* Many failures are plain -1; then the error's class tells. */
static const struct {
    int klass;
    enum hone_code code;
} classes[] = {
    {GIT_ERROR_ZLIB, HONE_E_CORRUPT}, {GIT_ERROR_OBJECT, HONE_E_CORRUPT},
    {GIT_ERROR_ODB, HONE_E_CORRUPT},  {GIT_ERROR_TREE, HONE_E_CORRUPT},
    {GIT_ERROR_OS, HONE_E_IO},        {GIT_ERROR_NOMEMORY, HONE_E_NOMEM},
};

static int fail_git(struct hone_err *err, int native, const char *what)
{
    const git_error *last = git_error_last();
    const char *text = last && last->message ? last->message : "no details";
    enum hone_code code = HONE_E_IO;
    for (size_t i = 0; last && i < HONE_COUNTOF(classes); i++)
        if (classes[i].klass == last->klass)
            code = classes[i].code;
    for (size_t i = 0; i < HONE_COUNTOF(codes); i++)
        if (codes[i].native == native)
            code = codes[i].code;
    int rc = hone_fail(err, code, "%s: %s", what, text);
    if (err)
        err->native = native;
    return rc;
}

/* A failed write is the disk's fault, whatever class libgit2 gives it: damage that a rebuild could
 * cure is only found by reading. libgit2 1.5 says nothing at all when the disk is full, so errno
 * has to. */
static int fail_write(struct hone_err *err, int native, const char *what)
{
    int number = errno;
    const git_error *last = git_error_last();
    bool is_silent = !last || last->klass == GIT_ERROR_NONE || !last->message;
    if (number == ENOSPC || number == EDQUOT || is_silent)
        return hone_fail_errno(err, number ? number : EIO, "%s", what);
    int rc = hone_fail(err, HONE_E_IO, "%s: %s", what, last->message);
    if (err)
        err->native = native;
    return rc;
}

static void before_write(void)
{
    git_error_clear();
    errno = 0;
}

static void id_text(const git_oid *oid, char ret[HONE_GIT_ID_BYTES])
{
    git_oid_tostr(ret, HONE_GIT_ID_BYTES, oid);
}

static int parse_id(const char *id, git_oid *ret, struct hone_err *err)
{
    if (!id || strlen(id) != HONE_GIT_ID_BYTES - 1 || git_oid_fromstr(ret, id) < 0)
        return hone_fail(err, HONE_E_ARG, "'%.60s' is no commit id (40 hex digits)", id ? id : "");
    return 0;
}

/* Plain git commands must neither start their own gc while hone writes nor slow each branch move
 * down with reflogs. */
static int configure(git_repository *repo, struct hone_err *err)
{
    git_config *config HONE_CLEANUP(config_free_ptr) = NULL;
    int rc = git_repository_config(&config, repo);
    if (rc == 0)
        rc = git_config_set_int32(config, "gc.auto", 0);
    if (rc == 0)
        rc = git_config_set_bool(config, "core.logAllRefUpdates", 0);
    return rc < 0 ? fail_git(err, rc, "cannot configure the repository") : 0;
}

int hone_git_init(const char *dir, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_sprintf("%s/.git", dir);
    struct stat st;
    if (lstat(path, &st) == 0)
        return hone_fail(err, HONE_E_EXISTS, "'%s' exists already", path);
    git_libgit2_init();
    git_repository_init_options options;
    git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
    options.flags = GIT_REPOSITORY_INIT_MKDIR | GIT_REPOSITORY_INIT_NO_REINIT;
    options.initial_head = "main";
    git_repository *repo = NULL;
    int rc = git_repository_init_ext(&repo, dir, &options);
    rc = rc < 0 ? fail_git(err, rc, "cannot create a git repository") : configure(repo, err);
    git_repository_free(repo);
    git_libgit2_shutdown();
    return rc;
}

/* libgit2 opens a repository whose config file is garbage; git does not. */
static int check_config(git_repository *repo)
{
    git_config *config HONE_CLEANUP(config_free_ptr) = NULL;
    int32_t version = 0;
    int rc = git_repository_config(&config, repo);
    return rc < 0 ? rc : git_config_get_int32(&version, config, "core.repositoryformatversion");
}

int hone_git_open(const char *dir, struct hone_git **ret, struct hone_err *err)
{
    char *path HONE_AUTOFREE = hone_sprintf("%s/.git", dir);
    struct stat st;
    if (stat(path, &st) < 0)
        return hone_fail(err, HONE_E_NOT_FOUND, "there is no git repository in '%s'", dir);
    git_libgit2_init();
    struct hone_git *git = hone_calloc(1, sizeof(*git));
    int rc = git_repository_open_ext(&git->repo, dir, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
    if (rc == 0)
        rc = check_config(git->repo);
    if (rc == 0)
        rc = git_repository_odb(&git->odb, git->repo);
    if (rc < 0) {
        rc = fail_git(err, rc, "cannot open the git repository");
        /* The folder is there, so "not found" and "invalid" both mean damaged. */
        if (rc != HONE_E_AUTH && rc != HONE_E_NOMEM && err)
            rc = err->code = HONE_E_CORRUPT;
        hone_git_close(git);
        return rc;
    }
    *ret = git;
    return 0;
}

void hone_git_close(struct hone_git *git)
{
    if (!git)
        return;
    git_odb_free(git->odb);
    git_repository_free(git->repo);
    free(git);
    git_libgit2_shutdown();
}

void hone_git_close_ptr(struct hone_git **git)
{
    hone_git_close(*git);
    *git = NULL;
}

char *hone_git_discover(const char *path)
{
    char *at HONE_AUTOFREE = hone_strdup(path);
    struct stat st;
    for (char *slash = NULL; stat(at, &st) < 0; *slash = '\0') {
        slash = strrchr(at, '/');
        if (!slash)
            return hone_git_discover(".");
        if (slash == at)
            slash++;
        if (*slash == '\0')
            return NULL;
    }
    git_libgit2_init();
    git_buf found = GIT_BUF_INIT;
    char *dir = NULL;
    if (git_repository_discover(&found, at, 1, NULL) == 0)
        dir = hone_strdup(found.ptr);
    git_buf_dispose(&found);
    git_libgit2_shutdown();
    return dir;
}

static int write_tree(struct hone_git *git, const struct hone_git_file *files, size_t n_files,
                      git_oid *ret, struct hone_err *err)
{
    git_treebuilder *builder HONE_CLEANUP(builder_free_ptr) = NULL;
    before_write();
    int rc = git_treebuilder_new(&builder, git->repo, NULL);
    for (size_t i = 0; i < n_files && rc == 0; i++) {
        git_oid blob;
        rc = git_blob_create_from_buffer(&blob, git->repo, files[i].bytes, files[i].len);
        if (rc == 0)
            rc = git_treebuilder_insert(NULL, builder, files[i].name, &blob, GIT_FILEMODE_BLOB);
    }
    if (rc == 0)
        rc = git_treebuilder_write(ret, builder);
    return rc < 0 ? fail_write(err, rc, "cannot write to the git repository") : 0;
}

static int make_signature(const char *author, int64_t time_s, git_signature **ret,
                          struct hone_err *err)
{
    int rc = git_signature_new(ret, author, EMAIL, time_s, 0);
    return rc < 0 ? fail_git(err, rc, "cannot use the author's name") : 0;
}

/* Of `commit` author, message and time. */
static int write_object(struct hone_git *git, const git_oid *tree_id, const char *parent_id,
                        const struct hone_git_new_commit *commit, git_oid *ret,
                        struct hone_err *err)
{
    git_signature *who HONE_CLEANUP(signature_free_ptr) = NULL;
    git_commit *parent HONE_CLEANUP(commit_free_ptr) = NULL;
    git_tree *tree HONE_CLEANUP(tree_free_ptr) = NULL;
    int rc = make_signature(commit->author, commit->time_s, &who, err);
    if (rc < 0)
        return rc;
    if (parent_id) {
        git_oid oid;
        rc = parse_id(parent_id, &oid, err);
        if (rc < 0)
            return rc;
        rc = git_commit_lookup(&parent, git->repo, &oid);
        if (rc < 0)
            return fail_git(err, rc, "cannot find the parent commit");
    }
    rc = git_tree_lookup(&tree, git->repo, tree_id);
    if (rc < 0)
        return fail_git(err, rc, "cannot read a tree back");
    const git_commit *parents[1] = {parent};
    before_write();
    rc = git_commit_create(ret, git->repo, NULL, who, who, NULL, commit->message, tree,
                           parent ? 1 : 0, parents);
    return rc < 0 ? fail_write(err, rc, "cannot write to the git repository") : 0;
}

static int write_commit_once(struct hone_git *git, const struct hone_git_new_commit *commit,
                             char ret_id[HONE_GIT_ID_BYTES], struct hone_err *err)
{
    git_oid tree;
    git_oid id;
    int rc = write_tree(git, commit->files, commit->n_files, &tree, err);
    if (rc == 0)
        rc = write_object(git, &tree, commit->parent, commit, &id, err);
    if (rc == 0)
        id_text(&id, ret_id);
    return rc;
}

/* git gc removes an object folder that it has emptied; libgit2 may have made its file's place in it
 * just before, and then fails at the rename. The same objects are written again. */
int hone_git_write_commit(struct hone_git *git, const struct hone_git_new_commit *commit,
                          char ret_id[HONE_GIT_ID_BYTES], struct hone_err *err)
{
    struct hone_err why = HONE_ERR_INIT;
    int rc = write_commit_once(git, commit, ret_id, &why);
    for (int i = 1; i < OS_TRIES && rc == HONE_E_IO &&
                    strstr(why.message, "No such file or directory") != NULL;
         i++)
        rc = write_commit_once(git, commit, ret_id, &why);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

int hone_git_commit_paths(struct hone_git *git, const char *const *paths, size_t n_paths,
                          const struct hone_git_new_commit *commit, char ret_id[HONE_GIT_ID_BYTES],
                          struct hone_err *err)
{
    git_index *index HONE_CLEANUP(index_free_ptr) = NULL;
    char parent[HONE_GIT_ID_BYTES] = "";
    if (hone_git_get_ref(git, "refs/heads/main", parent, NULL) < 0)
        parent[0] = '\0';
    git_oid tree;
    git_oid id;
    git_strarray specs = {.strings = hone_calloc(n_paths + 1, sizeof(char *)), .count = n_paths};
    for (size_t i = 0; i < n_paths; i++)
        specs.strings[i] = hone_strdup(paths[i]);
    int rc = git_repository_index(&index, git->repo);
    if (rc == 0)
        rc = git_index_add_all(index, &specs, GIT_INDEX_ADD_DISABLE_PATHSPEC_MATCH, NULL, NULL);
    if (rc == 0)
        rc = git_index_write(index);
    if (rc == 0)
        rc = git_index_write_tree(&tree, index);
    for (size_t i = 0; i < n_paths; i++)
        free(specs.strings[i]);
    free(specs.strings);
    if (rc < 0)
        return fail_git(err, rc, "cannot add files to the repository");
    char text[HONE_GIT_ID_BYTES];
    struct hone_git_commit old;
    id_text(&tree, text);
    if (parent[0] && hone_git_read_commit(git, parent, NULL, &old, NULL) == 0 &&
        strcmp(old.tree, text) == 0) {
        memcpy(ret_id, parent, sizeof(parent)); /* nothing new */
        return 0;
    }
    rc = write_object(git, &tree, parent[0] ? parent : NULL, commit, &id, err);
    if (rc < 0)
        return rc;
    id_text(&id, text);
    rc = hone_git_set_ref(git, "refs/heads/main", text, false, err);
    if (rc == 0)
        memcpy(ret_id, text, sizeof(text));
    return rc;
}

int hone_git_set_ref(struct hone_git *git, const char *name, const char *id, bool is_new,
                     struct hone_err *err)
{
    git_oid oid;
    int rc = parse_id(id, &oid, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < REF_TRIES; i++) {
        git_reference *ref HONE_CLEANUP(ref_free_ptr) = NULL;
        before_write();
        rc = git_reference_create(&ref, git->repo, name, &oid, !is_new, NULL);
        if (rc == 0 || (rc == GIT_EEXISTS && is_new))
            return 0;
        if (rc != GIT_ELOCKED && i >= OS_TRIES)
            break;
        nanosleep(&(struct timespec){.tv_nsec = REF_WAIT_NS}, NULL);
    }
    return rc == GIT_ELOCKED ? fail_git(err, rc, name) : fail_write(err, rc, name);
}

int hone_git_get_ref(struct hone_git *git, const char *name, char ret_id[HONE_GIT_ID_BYTES],
                     struct hone_err *err)
{
    git_oid oid;
    int rc = git_reference_name_to_id(&oid, git->repo, name);
    if (rc < 0)
        return fail_git(err, rc, name);
    id_text(&oid, ret_id);
    return 0;
}

bool hone_git_is_ref_name(const char *name)
{
    int is_valid = 0;
    git_libgit2_init();
    int rc = git_reference_name_is_valid(&is_valid, name);
    git_libgit2_shutdown();
    return rc == 0 && is_valid == 1;
}

bool hone_git_has_commit(struct hone_git *git, const char *id)
{
    git_oid oid;
    git_commit *commit HONE_CLEANUP(commit_free_ptr) = NULL;
    return parse_id(id, &oid, NULL) == 0 && git_commit_lookup(&commit, git->repo, &oid) == 0;
}

bool hone_git_find_commit(struct hone_git *git, const char *prefix, char ret_id[HONE_GIT_ID_BYTES])
{
    git_oid oid;
    size_t len = strlen(prefix);
    git_commit *commit HONE_CLEANUP(commit_free_ptr) = NULL;
    if (git_oid_fromstrn(&oid, prefix, len) < 0 ||
        git_commit_lookup_prefix(&commit, git->repo, &oid, len) < 0)
        return false;
    id_text(git_commit_id(commit), ret_id);
    return true;
}

int hone_git_read_commit(struct hone_git *git, const char *id, struct hone_pool *pool,
                         struct hone_git_commit *ret, struct hone_err *err)
{
    git_oid oid;
    int rc = parse_id(id, &oid, err);
    if (rc < 0)
        return rc;
    git_commit *commit HONE_CLEANUP(commit_free_ptr) = NULL;
    rc = git_commit_lookup(&commit, git->repo, &oid);
    if (rc < 0)
        return fail_git(err, rc, id);
    *ret = (struct hone_git_commit){.time_s = git_commit_time(commit)};
    id_text(&oid, ret->id);
    id_text(git_commit_tree_id(commit), ret->tree);
    if (git_commit_parentcount(commit) > 0)
        id_text(git_commit_parent_id(commit, 0), ret->parent);
    if (pool) {
        ret->author = hone_pool_strdup(pool, git_commit_author(commit)->name);
        ret->message = hone_pool_strdup(pool, git_commit_message(commit));
    }
    return 0;
}

static int read_blob(struct hone_git *git, const git_tree_entry *entry, size_t limit,
                     struct hone_pool *pool, struct hone_git_file *ret, struct hone_err *err)
{
    git_blob *blob HONE_CLEANUP(blob_free_ptr) = NULL;
    int rc = git_blob_lookup(&blob, git->repo, git_tree_entry_id(entry));
    if (rc < 0)
        return fail_git(err, rc, git_tree_entry_name(entry));
    size_t len = (size_t)git_blob_rawsize(blob);
    if (len > limit)
        return hone_fail(err, HONE_E_LIMIT, "file '%.64s' is %zu bytes, at most %zu are read",
                         git_tree_entry_name(entry), len, limit);
    ret->name = hone_pool_strdup(pool, git_tree_entry_name(entry));
    ret->bytes = hone_pool_strndup(pool, len > 0 ? git_blob_rawcontent(blob) : "", len);
    ret->len = len;
    return 0;
}

int hone_git_read_files(struct hone_git *git, const char *id, size_t limit, struct hone_pool *pool,
                        struct hone_git_file **ret, size_t *ret_n, struct hone_err *err)
{
    git_oid oid;
    int rc = parse_id(id, &oid, err);
    if (rc < 0)
        return rc;
    git_commit *commit HONE_CLEANUP(commit_free_ptr) = NULL;
    git_tree *tree HONE_CLEANUP(tree_free_ptr) = NULL;
    rc = git_commit_lookup(&commit, git->repo, &oid);
    if (rc == 0)
        rc = git_commit_tree(&tree, commit);
    if (rc < 0)
        return fail_git(err, rc, id);
    size_t n_entries = git_tree_entrycount(tree);
    if (n_entries > MAX_TREE_FILES)
        return hone_fail(err, HONE_E_LIMIT, "a tree of %zu entries is no version", n_entries);
    struct hone_git_file *files = hone_pool_alloc(pool, (n_entries + 1) * sizeof(*files));
    size_t n_files = 0;
    for (size_t i = 0; i < n_entries; i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        if (git_tree_entry_type(entry) != GIT_OBJECT_BLOB)
            continue;
        rc = read_blob(git, entry, limit, pool, &files[n_files], err);
        if (rc < 0)
            return rc;
        n_files++;
    }
    *ret = files;
    *ret_n = n_files;
    return 0;
}

int hone_git_walk(struct hone_git *git, const char *from, hone_git_walk_fn *fn, void *arg,
                  struct hone_err *err)
{
    git_oid oid;
    int rc = parse_id(from, &oid, err);
    if (rc < 0)
        return rc;
    git_revwalk *walk HONE_CLEANUP(walk_free_ptr) = NULL;
    rc = git_revwalk_new(&walk, git->repo);
    if (rc == 0)
        rc = git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME);
    if (rc == 0)
        rc = git_revwalk_push(walk, &oid);
    while (rc == 0 && (rc = git_revwalk_next(&oid, walk)) == 0) {
        char id[HONE_GIT_ID_BYTES];
        id_text(&oid, id);
        int result = fn(arg, id, err);
        if (result != 0)
            return result < 0 ? result : 0;
    }
    return rc == GIT_ITEROVER ? 0 : fail_git(err, rc, "cannot walk the history");
}

int hone_git_diff(const struct hone_git_file *from, const struct hone_git_file *to,
                  char **ret_patch, struct hone_err *err)
{
    git_libgit2_init();
    git_diff_options options;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    git_patch *patch = NULL;
    git_buf text = GIT_BUF_INIT;
    int rc = git_patch_from_buffers(&patch, from->bytes, from->len, from->name, to->bytes, to->len,
                                    to->name, &options);
    if (rc == 0)
        rc = git_patch_to_buf(&text, patch);
    if (rc < 0)
        rc = fail_git(err, rc, "cannot make a diff");
    else
        *ret_patch = hone_strndup(text.ptr ? text.ptr : "", text.size);
    git_buf_dispose(&text);
    git_patch_free(patch);
    git_libgit2_shutdown();
    return rc;
}
