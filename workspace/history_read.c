/* SPDX-License-Identifier: Apache-2.0 */
/* The reading half of history.h: existence, names to ids, one version, lists, evidence, diffs.
 *
 * Readers use their own git handle under their own mutex. Lists come from the index
 * (history_index.c); result commits are skipped, so that a branch stands for its version. */
#include "workspace/history_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define MIN_PREFIX 4

bool hone_history_has(struct hone_history *h, const char *commit)
{
    char id[HONE_COMMIT_BYTES];
    if (!commit || strlen(commit) != HONE_COMMIT_BYTES - 1)
        return false;
    char *ref HONE_AUTOFREE = hone_sprintf(HONE_REF_VERSION "%.2s/%s", commit, commit);
    pthread_mutex_lock(&h->read_lock);
    bool has = hone_git_get_ref(h->reader, ref, id, NULL) == 0 && strcmp(id, commit) == 0 &&
               hone_git_has_commit(h->reader, commit);
    pthread_mutex_unlock(&h->read_lock);
    return has;
}

/* What a result commit stands on, or with the trailer of evidence what that is about; any other
 * commit stays. Under read_lock. */
static int skip(struct hone_history *h, const char *key, char id[HONE_COMMIT_BYTES],
                struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct hone_git_commit commit;
    int rc = hone_git_read_commit(h->reader, id, pool, &commit, err);
    if (rc < 0)
        return rc;
    char *trailer HONE_AUTOFREE = hone_sprintf("\n%s%s\n", key, commit.parent);
    if (commit.parent[0] && strstr(commit.message, trailer))
        memcpy(id, commit.parent, HONE_COMMIT_BYTES);
    return 0;
}

static int skip_result(struct hone_history *h, char id[HONE_COMMIT_BYTES], struct hone_err *err)
{
    return skip(h, HONE_RESULT_TRAILER, id, err);
}

/* The version below a result commit or a measurement, which git prints beside versions; false: it is
 * neither. Under read_lock. */
static bool is_above_version(struct hone_history *h, const char *digits,
                             char ret_commit[HONE_COMMIT_BYTES])
{
    char id[HONE_COMMIT_BYTES], below[HONE_COMMIT_BYTES];
    if (!hone_git_find_commit(h->reader, digits, id))
        return false;
    memcpy(below, id, sizeof(below));
    if (skip_result(h, below, NULL) < 0 || skip(h, HONE_EVIDENCE_TRAILER, below, NULL) < 0 ||
        strcmp(below, id) == 0)
        return false;
    memcpy(ret_commit, below, sizeof(below));
    return true;
}

bool hone_history_has_result(struct hone_history *h, const char *name, const char *commit)
{
    char tip[HONE_COMMIT_BYTES], below[HONE_COMMIT_BYTES];
    char *ref HONE_AUTOFREE = hone_sprintf(HONE_REF_SEARCH "%s", name);
    pthread_mutex_lock(&h->read_lock);
    bool has = hone_is_safe_name(name) && hone_git_get_ref(h->reader, ref, tip, NULL) == 0;
    if (has) {
        memcpy(below, tip, sizeof(below));
        has = skip_result(h, below, NULL) == 0 && strcmp(below, commit) == 0 &&
              strcmp(tip, commit) != 0;
    }
    pthread_mutex_unlock(&h->read_lock);
    return has;
}

static int resolve_prefix(struct hone_history *h, const char *prefix,
                          char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err)
{
    int rc = hone_index_refresh(&h->index, h->dir, h->reader, err);
    if (rc < 0)
        return rc;
    const struct hone_index_row *found = NULL;
    size_t len = strlen(prefix);
    for (size_t i = 0; i < h->index.n_rows; i++) {
        const struct hone_index_row *row = &h->index.rows[i];
        if (strncmp(row->id, prefix, len) != 0)
            continue;
        if (found)
            return hone_fail(err, HONE_E_ARG,
                             "'%s' is ambiguous (%.12s, %.12s...); give more digits", prefix,
                             found->id, row->id);
        found = row;
    }
    if (!found)
        return hone_fail(err, HONE_E_NOT_FOUND,
                         "there is no version and no branch '%s'; list them with `hone log`",
                         prefix);
    memcpy(ret_commit, found->id, sizeof(found->id));
    return 0;
}

static int resolve(struct hone_history *h, const char *rev, char ret_commit[HONE_COMMIT_BYTES],
                   struct hone_err *err)
{
    if (strcmp(rev, "main") == 0)
        return hone_git_get_ref(h->reader, HONE_REF_MAIN, ret_commit, err);
    char digits[HONE_COMMIT_BYTES] = "";
    size_t len = strspn(rev, "0123456789abcdefABCDEF");
    bool is_hex = rev[len] == '\0' && len >= MIN_PREFIX && len < sizeof(digits);
    for (size_t i = 0; is_hex && i < len; i++)
        digits[i] = (char)tolower((unsigned char)rev[i]);
    if (is_hex && len == sizeof(digits) - 1) {
        if (!hone_git_has_commit(h->reader, digits))
            return hone_fail(err, HONE_E_NOT_FOUND, "there is no commit %s", digits);
        if (is_above_version(h, digits, ret_commit))
            return 0;
        memcpy(ret_commit, digits, sizeof(digits));
        return 0;
    }
    const char *name = strncmp(rev, "search/", 7) == 0 ? rev + 7 : rev;
    if (hone_is_safe_name(name)) {
        char *ref HONE_AUTOFREE = hone_sprintf(HONE_REF_SEARCH "%s", name);
        if (hone_git_get_ref(h->reader, ref, ret_commit, NULL) == 0)
            return skip_result(h, ret_commit, err);
    }
    if (is_hex) {
        struct hone_err why = HONE_ERR_INIT;
        int rc = resolve_prefix(h, digits, ret_commit, &why);
        if (rc == HONE_E_NOT_FOUND && is_above_version(h, digits, ret_commit))
            return 0;
        return rc < 0 ? hone_fail(err, why.code, "%s", why.message) : 0;
    }
    return hone_fail(err, HONE_E_NOT_FOUND,
                     "there is no version or branch '%.80s' (a version is named by at least %d "
                     "digits of its id)",
                     rev, MIN_PREFIX);
}

int hone_history_resolve(struct hone_history *h, const char *rev,
                         char ret_commit[HONE_COMMIT_BYTES], struct hone_err *err)
{
    char id[HONE_COMMIT_BYTES];
    if (!rev || !rev[0])
        return hone_fail(err, HONE_E_ARG, "a version id or branch name is needed");
    pthread_mutex_lock(&h->read_lock);
    int rc = resolve(h, rev, id, err);
    pthread_mutex_unlock(&h->read_lock);
    if (rc == 0)
        memcpy(ret_commit, id, sizeof(id));
    return rc;
}

/* Everything but the files. */
static int read_text(struct hone_history *h, const char *id, struct hone_pool *pool,
                     struct hone_version *ret, struct hone_err *err)
{
    struct hone_git_commit commit;
    int rc = hone_git_read_commit(h->reader, id, pool, &commit, err);
    if (rc < 0)
        return rc;
    struct hone_version v = {.author = commit.author, .time_s = commit.time_s};
    v.commit = hone_pool_strdup(pool, commit.id);
    if (commit.parent[0] && strcmp(commit.parent, h->root) != 0)
        v.parent = hone_pool_strdup(pool, commit.parent);
    hone_text_parse(hone_pool_strdup(pool, commit.message), pool, &v);
    *ret = v;
    return 0;
}

/* The source is the file beside the report: only a version has both. */
static int read_files(struct hone_history *h, const char *id, struct hone_pool *pool,
                      struct hone_version *v, struct hone_err *err)
{
    struct hone_git_file *files = NULL;
    size_t n_files = 0;
    int rc =
        hone_git_read_files(h->reader, id, HONE_LIMIT_SOURCE_BYTES, pool, &files, &n_files, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n_files; i++) {
        if (strcmp(files[i].name, HONE_REPORT_FILE) == 0) {
            v->report_json = files[i].bytes;
        } else {
            v->file_name = files[i].name;
            v->source = files[i].bytes;
        }
    }
    if (n_files != 2 || !v->report_json)
        return hone_fail(err, HONE_E_NOT_FOUND, "commit %.12s is no version", id);
    return 0;
}

static int read_version(struct hone_history *h, const char *id, struct hone_pool *pool,
                        struct hone_version *ret, struct hone_err *err)
{
    struct hone_version v;
    int rc = read_text(h, id, pool, &v, err);
    if (rc == 0)
        rc = read_files(h, id, pool, &v, err);
    if (rc == 0)
        *ret = v;
    return rc;
}

int hone_history_read(struct hone_history *h, const char *commit, struct hone_pool *pool,
                      struct hone_version *ret, struct hone_err *err)
{
    pthread_mutex_lock(&h->read_lock);
    int rc = read_version(h, commit, pool, ret, err);
    pthread_mutex_unlock(&h->read_lock);
    return rc;
}

struct page {
    struct hone_history *h;
    size_t offset, max, n_seen, n;
    struct hone_pool *pool;
    struct hone_version *list;
};

static int add_to_page(struct page *page, const char *id, struct hone_err *err)
{
    if (page->n_seen++ < page->offset)
        return 0;
    int rc = read_text(page->h, id, page->pool, &page->list[page->n], err);
    if (rc < 0)
        return rc;
    page->n++;
    return page->n == page->max;
}

static int on_ancestor(void *arg, const char *id, struct hone_err *err)
{
    struct page *page = arg;
    /* Commits that the user made on main are no versions. */
    return hone_index_find(&page->h->index, id) ? add_to_page(page, id, err) : 0;
}

static int fill_page(struct page *page, const char *rev, struct hone_err *err)
{
    struct hone_history *h = page->h;
    int rc = hone_index_refresh(&h->index, h->dir, h->reader, err);
    if (rc < 0)
        return rc;
    page->max = (size_t)hone_min_i64((int64_t)page->max, (int64_t)h->index.n_rows);
    if (page->max == 0)
        return 0;
    page->list = hone_pool_alloc(page->pool, page->max * sizeof(*page->list));
    if (rev) {
        char id[HONE_COMMIT_BYTES];
        rc = resolve(h, rev, id, err);
        return rc < 0 ? rc : hone_git_walk(h->reader, id, on_ancestor, page, err);
    }
    page->n_seen = page->offset;
    for (size_t i = page->offset; rc == 0 && i < h->index.n_rows; i++)
        rc = add_to_page(page, h->index.rows[h->index.order[i]].id, err);
    return rc < 0 ? rc : 0;
}

int hone_history_list(struct hone_history *h, const char *rev, size_t offset, size_t max,
                      struct hone_pool *pool, struct hone_version **ret, size_t *ret_n,
                      struct hone_err *err)
{
    struct page page = {.h = h, .offset = offset, .pool = pool};
    page.max = (size_t)hone_min_i64((int64_t)(max > INT32_MAX ? INT32_MAX : max), INT32_MAX);
    pthread_mutex_lock(&h->read_lock);
    int rc = fill_page(&page, rev, err);
    pthread_mutex_unlock(&h->read_lock);
    if (rc < 0)
        return rc;
    *ret = page.list;
    *ret_n = page.n;
    return 0;
}

static int read_evidence(struct hone_history *h, const char *id, struct hone_pool *pool,
                         struct hone_version *ret, struct hone_err *err)
{
    struct hone_git_file *files = NULL;
    size_t n_files = 0;
    int rc = read_text(h, id, pool, ret, err);
    if (rc == 0)
        rc = hone_git_read_files(h->reader, id, HONE_LIMIT_SOURCE_BYTES, pool, &files, &n_files,
                                 err);
    if (rc == 0 && n_files > 0)
        ret->report_json = files[0].bytes;
    return rc;
}

int hone_history_read_evidence(struct hone_history *h, const char *rev, struct hone_pool *pool,
                               struct hone_version *ret, struct hone_err *err)
{
    char id[HONE_COMMIT_BYTES], below[HONE_COMMIT_BYTES];
    size_t len = strlen(rev);
    if (len < MIN_PREFIX || len >= sizeof(id) || rev[strspn(rev, "0123456789abcdefABCDEF")] != '\0')
        return hone_fail(err, HONE_E_NOT_FOUND, "'%.80s' is no measurement", rev);
    pthread_mutex_lock(&h->read_lock);
    int rc = hone_git_find_commit(h->reader, rev, id) ? 0 : HONE_E_NOT_FOUND;
    memcpy(below, id, rc == 0 ? sizeof(id) : 0);
    if (rc == 0)
        rc = skip(h, HONE_EVIDENCE_TRAILER, below, NULL);
    if (rc < 0 || strcmp(id, below) == 0)
        rc = hone_fail(err, HONE_E_NOT_FOUND, "'%.80s' is no measurement", rev);
    else
        rc = read_evidence(h, id, pool, ret, err);
    pthread_mutex_unlock(&h->read_lock);
    return rc;
}

int hone_history_evidence_of(struct hone_history *h, const char *commit, struct hone_pool *pool,
                             struct hone_version **ret, size_t *ret_n, struct hone_err *err)
{
    struct hone_version *list = NULL;
    size_t n = 0;
    size_t cap = 0;
    int rc = 0;
    pthread_mutex_lock(&h->read_lock);
    for (;;) { /* measurements are numbered from 1 without gaps */
        char id[HONE_COMMIT_BYTES];
        char *ref HONE_AUTOFREE =
            hone_sprintf(HONE_REF_EVIDENCE "%.2s/%s/%zu", commit, commit, n + 1);
        if (hone_git_get_ref(h->reader, ref, id, NULL) < 0)
            break;
        if (n == cap) {
            cap = cap ? cap * 2 : 4;
            list = hone_realloc(list, cap * sizeof(*list));
        }
        rc = read_evidence(h, id, pool, &list[n], err);
        if (rc < 0)
            break;
        n++;
    }
    pthread_mutex_unlock(&h->read_lock);
    if (rc == 0) {
        *ret = hone_pool_alloc(pool, (n + 1) * sizeof(*list));
        if (n > 0)
            memcpy(*ret, list, n * sizeof(*list));
        *ret_n = n;
    }
    free(list);
    return rc;
}

/* The source of a version, or an absent file for another commit. */
static int read_side(struct hone_history *h, const char *rev, struct hone_pool *pool,
                     struct hone_git_file *ret, struct hone_err *err)
{
    char id[HONE_COMMIT_BYTES];
    struct hone_version v;
    struct hone_err read_err = HONE_ERR_INIT;
    int rc = resolve(h, rev, id, err);
    if (rc < 0)
        return rc;
    rc = read_version(h, id, pool, &v, &read_err);
    if (rc == 0)
        *ret = (struct hone_git_file){v.file_name, v.source, strlen(v.source)};
    else if (rc != HONE_E_NOT_FOUND)
        return hone_fail(err, read_err.code, "%s", read_err.message);
    return 0;
}

int hone_history_diff(struct hone_history *h, const char *from, const char *to, char **ret_patch,
                      struct hone_err *err)
{
    struct hone_pool *pool HONE_CLEANUP(hone_pool_free_ptr) = hone_pool_new();
    struct hone_git_file sides[2] = {{.bytes = ""}, {.bytes = ""}};
    pthread_mutex_lock(&h->read_lock);
    int rc = read_side(h, from, pool, &sides[0], err);
    if (rc == 0)
        rc = read_side(h, to, pool, &sides[1], err);
    pthread_mutex_unlock(&h->read_lock);
    return rc < 0 ? rc : hone_git_diff(&sides[0], &sides[1], ret_patch, err);
}
