/* SPDX-License-Identifier: Apache-2.0 */
/* The file of named tokens, DIR/.hone/tokens (0600): one line a token with name, role, limits and
 * the token's hash. The token itself is shown once, when it is made. Whole file, atomic; any thread. */
#ifndef HONE_SERVER_GRANTS_H
#define HONE_SERVER_GRANTS_H

#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

enum hone_access_role {
    HONE_ACCESS_VIEWER, /* reads: history, reports, sources, running searches */
    HONE_ACCESS_AGENT,  /* every tool */
    HONE_ACCESS_OWNER,  /* the same without limits */
    HONE_N_ACCESS_ROLES
};
extern const char *const hone_access_role_names[]; /* by role, NULL-terminated */

struct hone_grant {
    char name[HONE_LIMIT_CLIENT_NAME_BYTES + 1];
    enum hone_access_role role;
    int64_t rate;  /* requests a second, 0: any */
    int64_t calls; /* tool calls at a time, 0: any */
    char hash[HONE_HASH_TEXT_BYTES];
};

struct hone_grants {
    struct hone_grant rows[HONE_LIMIT_ACCESS_TOKENS];
    size_t n;
};

/* No file: no rows. HONE_E_AUTH when others may read it, HONE_E_CORRUPT with the line. */
int hone_grants_load(const char *path, struct hone_grants *ret, struct hone_err *err);
/* Fills in the hash of a fresh token and enters the row. rate and calls -1: the role's own.
 * HONE_E_EXISTS, HONE_E_LIMIT, HONE_E_ARG (name). The token is owned by the caller. */
int hone_grant_add(const char *path, const struct hone_grant *grant, char **ret_token,
                   struct hone_err *err);
int hone_grant_remove(const char *path, const char *name, struct hone_err *err);
/* HONE_E_AUTH unless it is a regular file of our own that nobody else may read; HONE_E_NOT_FOUND. */
int hone_private_file_check(const char *path, struct hone_err *err);

#endif
