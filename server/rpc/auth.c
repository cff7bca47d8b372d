/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of auth.h: the workspace's own token (made with mode 0600, refused when others can read
 * it), the ways to show a token, and the allow-lists for Host and Origin. Pure but for hone_token_load. */
#include "server/rpc/auth.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "server/access/grants.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

#define TOKEN_BYTES 32 /* of randomness */

int hone_token_load(const char *path, bool create, char **ret_token, struct hone_err *err)
{
    struct hone_err check = HONE_ERR_INIT;
    int rc = hone_private_file_check(path, &check);
    if (rc == HONE_E_NOT_FOUND && create) {
        char token[2 * TOKEN_BYTES + 2];
        hone_random_hex(token, TOKEN_BYTES);
        token[2 * TOKEN_BYTES] = '\n';
        rc = hone_file_write(path, token, 2 * TOKEN_BYTES + 1, 0600, true, &check);
        if (rc == 0)
            rc = hone_private_file_check(path, &check);
    }
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    if (rc == 0)
        rc = hone_file_read(path, HONE_LIMIT_TOKEN_BYTES, &text, &len, &check);
    if (rc < 0) {
        if (err)
            *err = check;
        return rc;
    }
    text[strcspn(text, "\r\n")] = '\0';
    if (strlen(text) < 16)
        return hone_fail(err, HONE_E_AUTH,
                         "token file %s is too short to be a token; delete it for a fresh one",
                         path);
    *ret_token = HONE_STEAL(text);
    return 0;
}

const char *hone_auth_bearer(const char *authorization)
{
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return NULL;
    authorization += 7;
    return authorization + strspn(authorization, " ");
}

/* Calls back for each trimmed item of a comma list until one says true. */
static bool any_item(const char *list, bool (*fn)(void *arg, const char *item, size_t len),
                     void *arg)
{
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t len = strcspn(list, ",");
        size_t trimmed = len;
        while (trimmed > 0 && strchr(" \t", list[trimmed - 1]))
            trimmed--;
        if (trimmed > 0 && fn(arg, list, trimmed))
            return true;
        list += len;
    }
    return false;
}

static bool is_equal(void *arg, const char *item, size_t len)
{
    const char *wanted = arg;
    return strlen(wanted) == len && strncasecmp(item, wanted, len) == 0;
}

static bool list_has(const char *list, const char *word)
{
    HONE_AUTOFREE char *wanted = hone_strdup(word);
    return any_item(list, is_equal, wanted);
}

bool hone_auth_offers(const char *protocols, const char *name)
{
    return list_has(protocols, name);
}

static bool take_bearer(void *arg, const char *item, size_t len)
{
    char **ret = arg;
    if (len <= 7 || strncmp(item, "bearer.", 7) != 0)
        return false;
    *ret = hone_strndup(item + 7, len - 7);
    return true;
}

char *hone_auth_bearer_protocol(const char *protocols)
{
    char *token = NULL;
    any_item(protocols, take_bearer, &token);
    return token;
}

static int parse_port(const char *text, int *ret)
{
    char *end;
    long port = strtol(text, &end, 10);
    if (end == text || *end || port < 0 || port > 65535)
        return HONE_E_ARG;
    *ret = (int)port;
    return 0;
}

int hone_split_address(const char *text, char **ret_host, int *ret_port, struct hone_err *err)
{
    const char *host = text, *rest;
    size_t len;
    if (text[0] == '[') {
        host = text + 1;
        len = strcspn(host, "]");
        rest = host[len] ? host + len + 1 : NULL;
    } else {
        len = strcspn(text, ":");
        rest = text + len;
    }
    int port = -1;
    bool is_bad = !rest || len == 0 || len > 255 || strcspn(host, " /@?#%,\\") < len;
    if (!is_bad && rest[0])
        is_bad = rest[0] != ':' || parse_port(rest + 1, &port) < 0;
    if (is_bad)
        return hone_fail(err, HONE_E_ARG,
                         "'%.60s' is no address; write 127.0.0.1:7411, localhost:0 or [::1]:7411",
                         text);
    *ret_host = hone_strndup(host, len);
    *ret_port = port;
    return 0;
}

bool hone_is_loopback(const char *host)
{
    struct in_addr v4;
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (inet_pton(AF_INET, host, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127);
}

static bool is_literal(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

bool hone_access_host(const struct hone_access *access, const char *host)
{
    HONE_AUTOFREE char *name = NULL;
    int port;
    if (!host || hone_split_address(host, &name, &port, NULL) < 0)
        return false;
    if (hone_is_loopback(name) || (access->allowed_hosts && list_has(access->allowed_hosts, name)))
        return true;
    return !access->is_loopback && is_literal(name); /* rebinding needs a name */
}

bool hone_access_origin(const struct hone_access *access, const char *origin, const char *host)
{
    if (!origin)
        return true;
    if (access->allowed_origins && list_has(access->allowed_origins, origin))
        return true;
    const char *authority = strstr(origin, "://");
    size_t scheme = authority ? (size_t)(authority - origin) : 0;
    bool is_web = (scheme == 4 && strncmp(origin, "http", 4) == 0) ||
                  (scheme == 5 && strncmp(origin, "https", 5) == 0);
    return is_web && host && strcasecmp(authority + 3, host) == 0;
}
