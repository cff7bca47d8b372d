/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/grants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define TOKEN_BYTES 32 /* of randomness */
#define FILE_BYTES  (HONE_LIMIT_ACCESS_TOKENS * 256)
#define LOCK_MS     5000

const char *const hone_access_role_names[] = {"viewer", "agent", "owner", NULL};

static const struct {
    int64_t rate, calls;
} of_role[HONE_N_ACCESS_ROLES] = {
    [HONE_ACCESS_VIEWER] = {20, 8}, [HONE_ACCESS_AGENT] = {100, 32}, [HONE_ACCESS_OWNER] = {0, 0}};

int hone_private_file_check(const char *path, struct hone_err *err)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? hone_fail(err, HONE_E_NOT_FOUND,
                                           "no token file %s; `hone serve` makes one", path)
                               : hone_fail_errno(err, errno, "token file %s", path);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return hone_fail(
            err, HONE_E_AUTH,
            "token file %s must be a regular file of your own; delete it for a fresh one", path);
    if (st.st_mode & 077)
        return hone_fail(err, HONE_E_AUTH, "token file %s can be read by others; run: chmod 600 %s",
                         path, path);
    return 0;
}

static int find_role(const char *name)
{
    for (int i = 0; i < HONE_N_ACCESS_ROLES; i++)
        if (strcmp(hone_access_role_names[i], name) == 0)
            return i;
    return -1;
}

static const struct hone_grant *find(const struct hone_grants *grants, const char *name)
{
    for (size_t i = 0; i < grants->n; i++)
        if (strcmp(grants->rows[i].name, name) == 0)
            return &grants->rows[i];
    return NULL;
}

_Static_assert(HONE_LIMIT_CLIENT_NAME_BYTES == 32 && HONE_HASH_TEXT_BYTES == 65, "read_line");
static bool read_line(const char *line, struct hone_grant *ret)
{
    char role[8];
    long long rate, calls;
    int end = 0;
    if (sscanf(line, "%32[^ \n] %7s %lld %lld %64[0-9a-f]%n", ret->name, role, &rate, &calls,
               ret->hash, &end) != 5 ||
        line[end] != '\0' || strlen(ret->hash) != 64 || find_role(role) < 0 || rate < 0 ||
        calls < 0 || !hone_is_safe_name(ret->name))
        return false;
    ret->role = (enum hone_access_role)find_role(role);
    ret->rate = rate;
    ret->calls = calls;
    return true;
}

int hone_grants_load(const char *path, struct hone_grants *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    struct hone_err check = HONE_ERR_INIT;
    ret->n = 0;
    int rc = hone_private_file_check(path, &check);
    if (rc == HONE_E_NOT_FOUND)
        return 0;
    if (rc == 0)
        rc = hone_file_read(path, FILE_BYTES, &text, &len, &check);
    if (rc < 0) {
        if (err)
            *err = check;
        return rc;
    }
    char *rest = text;
    for (size_t line = 1; *rest != '\0'; line++) {
        char *end = rest + strcspn(rest, "\n");
        bool is_last = *end == '\0';
        *end = '\0';
        if (ret->n == HONE_LIMIT_ACCESS_TOKENS || !read_line(rest, &ret->rows[ret->n])) {
            ret->n = 0;
            return hone_fail(err, HONE_E_CORRUPT, "%s line %zu is no token; `hone token` writes it",
                             path, line);
        }
        ret->n++;
        rest = is_last ? end : end + 1;
    }
    return 0;
}

static int save(const char *path, const struct hone_grants *grants, struct hone_err *err)
{
    struct hone_buf text = HONE_BUF_INIT;
    for (size_t i = 0; i < grants->n; i++) {
        const struct hone_grant *row = &grants->rows[i];
        hone_buf_printf(&text, "%s %s %lld %lld %s\n", row->name, hone_access_role_names[row->role],
                        (long long)row->rate, (long long)row->calls, row->hash);
    }
    int rc = hone_file_write(path, text.data ? text.data : "", text.len, 0600, true, err);
    hone_buf_done(&text);
    return rc;
}

static int lock(const char *path, int *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *lock_path = hone_sprintf("%s.lock", path);
    return hone_lock_file(lock_path, hone_deadline_in_ms(LOCK_MS), ret, err);
}

int hone_grant_add(const char *path, const struct hone_grant *grant, char **ret_token,
                   struct hone_err *err)
{
    HONE_AUTOCLOSE int held = -1;
    struct hone_grants grants;
    if (!hone_is_safe_name(grant->name) || strcmp(grant->name, "owner") == 0)
        return hone_fail(
            err, HONE_E_ARG,
            "'%s' is no name for a token: at most %d letters, digits and _.- , and not "
            "owner (the workspace's own token)",
            grant->name, HONE_LIMIT_CLIENT_NAME_BYTES);
    int rc = lock(path, &held, err);
    if (rc == 0)
        rc = hone_grants_load(path, &grants, err);
    if (rc < 0)
        return rc;
    if (find(&grants, grant->name))
        return hone_fail(err, HONE_E_EXISTS, "a token named %s exists; remove it first",
                         grant->name);
    if (grants.n == HONE_LIMIT_ACCESS_TOKENS)
        return hone_fail(err, HONE_E_LIMIT, "%d tokens exist; remove one first",
                         HONE_LIMIT_ACCESS_TOKENS);
    struct hone_grant *row = &grants.rows[grants.n++];
    char token[2 * TOKEN_BYTES + 1];
    hone_random_hex(token, TOKEN_BYTES);
    *row = *grant;
    row->rate = grant->rate < 0 ? of_role[grant->role].rate : grant->rate;
    row->calls = grant->calls < 0 ? of_role[grant->role].calls : grant->calls;
    hone_hash(token, strlen(token), row->hash);
    rc = save(path, &grants, err);
    if (rc == 0)
        *ret_token = hone_strdup(token);
    return rc;
}

int hone_grant_remove(const char *path, const char *name, struct hone_err *err)
{
    HONE_AUTOCLOSE int held = -1;
    struct hone_grants grants;
    int rc = lock(path, &held, err);
    if (rc == 0)
        rc = hone_grants_load(path, &grants, err);
    if (rc < 0)
        return rc;
    const struct hone_grant *row = find(&grants, name);
    if (!row)
        return hone_fail(err, HONE_E_NOT_FOUND, "no token named '%.40s'; `hone token list`", name);
    size_t i = (size_t)(row - grants.rows);
    memmove(&grants.rows[i], &grants.rows[i + 1], (grants.n - i - 1) * sizeof(grants.rows[0]));
    grants.n--;
    return save(path, &grants, err);
}
