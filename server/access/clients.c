/* SPDX-License-Identifier: Apache-2.0 */
/* One lock over the list of clients and the cookies. The list grows only when the owner edits the
 * file; the last one in it is the workspace's own token. Tokens and cookies are kept as hashes and
 * compared over their whole length. */
#include "server/access/clients.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/log.h"

#define BURST_S        4 /* seconds of a rate that may come at once */
#define COOKIE_IDLE_NS (12ll * 3600 * HONE_NS_PER_S)

struct hone_client {
    struct hone_clients *owner;
    struct hone_grant grant; /* lock */
    atomic_bool is_removed;
    double credit;     /* lock: requests that may come now */
    int64_t credit_ns; /* lock: when it was computed; 0: never */
    int64_t n_calls;   /* lock */
    struct hone_client *next;
};

struct cookie {
    char hash[HONE_HASH_TEXT_BYTES];
    struct hone_client *client; /* NULL: free */
    int64_t used_ns;
};

struct hone_clients {
    pthread_mutex_t lock;
    char *path;
    struct stat seen;                          /* lock: of the file when it was read */
    struct hone_client *first;                 /* lock */
    struct cookie cookies[HONE_LIMIT_COOKIES]; /* lock */
};

static bool is_same(const char a[HONE_HASH_TEXT_BYTES], const char b[HONE_HASH_TEXT_BYTES])
{
    unsigned char difference = 0;
    for (size_t i = 0; i < HONE_HASH_TEXT_BYTES; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

static void enter(struct hone_clients *clients, const struct hone_grant *grant)
{
    struct hone_client *client = hone_calloc(1, sizeof(*client));
    client->owner = clients;
    client->grant = *grant;
    client->next = clients->first;
    clients->first = client;
}

/* Limits and role may change with the same token: the client stays, and so do its connections. */
static void take_grants(struct hone_clients *clients, const struct hone_grants *grants)
{
    bool is_known[HONE_LIMIT_ACCESS_TOKENS] = {false};
    for (struct hone_client *client = clients->first; client; client = client->next) {
        bool is_listed = client->next == NULL; /* the last one is the workspace's own */
        for (size_t i = 0; i < grants->n && !is_listed; i++) {
            if (strcmp(client->grant.name, grants->rows[i].name) != 0 ||
                !is_same(client->grant.hash, grants->rows[i].hash))
                continue;
            client->grant = grants->rows[i];
            is_known[i] = is_listed = true;
        }
        atomic_store(&client->is_removed, !is_listed);
    }
    for (size_t i = 0; i < grants->n; i++)
        if (!is_known[i])
            enter(clients, &grants->rows[i]);
}

static void refresh_locked(struct hone_clients *clients)
{
    struct stat now = {.st_size = -1};
    stat(clients->path, &now);
    if (now.st_ino == clients->seen.st_ino && now.st_size == clients->seen.st_size &&
        now.st_mode == clients->seen.st_mode &&
        now.st_ctim.tv_sec == clients->seen.st_ctim.tv_sec &&
        now.st_ctim.tv_nsec == clients->seen.st_ctim.tv_nsec)
        return;
    struct hone_grants *grants = hone_calloc(1, sizeof(*grants));
    struct hone_err err = HONE_ERR_INIT;
    clients->seen = now;
    if (hone_grants_load(clients->path, grants, &err) < 0)
        hone_log(HONE_LOG_ERROR, "event=tokens why=\"%s: no named token is let in\"", err.message);
    take_grants(clients, grants);
    free(grants);
}

struct hone_clients *hone_clients_new(const char *path, const char *owner_token)
{
    struct hone_clients *clients = hone_calloc(1, sizeof(*clients));
    struct hone_grant own = {.name = "owner", .role = HONE_ACCESS_OWNER};
    pthread_mutex_init(&clients->lock, NULL);
    clients->path = hone_strdup(path);
    clients->seen.st_size = -1;
    hone_hash(owner_token, strlen(owner_token), own.hash);
    enter(clients, &own);
    refresh_locked(clients);
    return clients;
}

void hone_clients_free(struct hone_clients *clients)
{
    if (!clients)
        return;
    while (clients->first) {
        struct hone_client *client = clients->first;
        clients->first = client->next;
        free(client);
    }
    pthread_mutex_destroy(&clients->lock);
    free(clients->path);
    free(clients);
}

void hone_clients_refresh(struct hone_clients *clients)
{
    pthread_mutex_lock(&clients->lock);
    refresh_locked(clients);
    pthread_mutex_unlock(&clients->lock);
}

struct hone_client *hone_clients_find(struct hone_clients *clients, const char *token)
{
    char hash[HONE_HASH_TEXT_BYTES];
    struct hone_client *found = NULL;
    if (!token)
        return NULL;
    hone_hash(token, strlen(token), hash);
    pthread_mutex_lock(&clients->lock);
    refresh_locked(clients);
    for (struct hone_client *client = clients->first; client; client = client->next)
        if (is_same(client->grant.hash, hash) && !atomic_load(&client->is_removed))
            found = client;
    pthread_mutex_unlock(&clients->lock);
    return found;
}

/* ---- cookies ---- */

static size_t n_cookies(const struct hone_clients *clients, const struct hone_client *client)
{
    size_t n = 0;
    for (size_t i = 0; i < HONE_LIMIT_COOKIES; i++)
        n += clients->cookies[i].client == client;
    return n;
}

/* A free one; else the one unused for longest of the client that has the most, so that nobody who
 * asks for many takes those of others. Lock held. */
static struct cookie *cookie_to_take(struct hone_clients *clients)
{
    struct cookie *out = &clients->cookies[0];
    size_t most = 0;
    for (size_t i = 0; i < HONE_LIMIT_COOKIES; i++) {
        struct cookie *cookie = &clients->cookies[i];
        size_t n = n_cookies(clients, cookie->client);
        if (!cookie->client)
            return cookie;
        if (n > most || (n == most && cookie->used_ns < out->used_ns)) {
            out = cookie;
            most = n;
        }
    }
    return out;
}

void hone_clients_cookie(struct hone_clients *clients, struct hone_client *client, int64_t now_ns,
                         char ret_value[HONE_COOKIE_BYTES])
{
    hone_random_hex(ret_value, 32);
    pthread_mutex_lock(&clients->lock);
    struct cookie *cookie = cookie_to_take(clients);
    hone_hash(ret_value, strlen(ret_value), cookie->hash);
    cookie->client = client;
    cookie->used_ns = now_ns;
    pthread_mutex_unlock(&clients->lock);
}

/* The value of hone-PORT=..., owned; NULL: none. */
static char *cookie_value(int port, const char *header)
{
    char name[sizeof(HONE_COOKIE_NAME) + 16];
    size_t name_len = (size_t)snprintf(name, sizeof(name), HONE_COOKIE_NAME "=", port);
    while (header && *header) {
        header += strspn(header, " \t;");
        size_t len = strcspn(header, ";");
        if (strncmp(header, name, name_len) == 0)
            return hone_strndup(header + name_len, len - name_len);
        header += len;
    }
    return NULL;
}

struct hone_client *hone_clients_by_cookie(struct hone_clients *clients, int port,
                                           const char *header, int64_t now_ns)
{
    HONE_AUTOFREE char *value = cookie_value(port, header);
    char hash[HONE_HASH_TEXT_BYTES];
    struct hone_client *found = NULL;
    if (!value)
        return NULL;
    hone_hash(value, strlen(value), hash);
    pthread_mutex_lock(&clients->lock);
    refresh_locked(clients);
    for (size_t i = 0; i < HONE_LIMIT_COOKIES; i++) {
        struct cookie *cookie = &clients->cookies[i];
        if (!cookie->client || !is_same(cookie->hash, hash))
            continue;
        if (now_ns - cookie->used_ns < COOKIE_IDLE_NS && !atomic_load(&cookie->client->is_removed))
            found = cookie->client;
        cookie->used_ns = now_ns;
        cookie->client = found;
    }
    pthread_mutex_unlock(&clients->lock);
    return found;
}

/* ---- one client ---- */

const char *hone_client_name(const struct hone_client *client)
{
    return client ? client->grant.name : "owner"; /* a client's name never changes */
}

enum hone_access_role hone_client_role(const struct hone_client *client)
{
    if (!client)
        return HONE_ACCESS_OWNER;
    pthread_mutex_lock(&client->owner->lock);
    enum hone_access_role role = client->grant.role;
    pthread_mutex_unlock(&client->owner->lock);
    return role;
}

bool hone_client_is_removed(const struct hone_client *client)
{
    return client && atomic_load(&client->is_removed);
}

static int request_locked(struct hone_client *client, int64_t now_ns, struct hone_err *err)
{
    const struct hone_grant *grant = &client->grant;
    double most = (double)grant->rate * BURST_S;
    if (grant->rate == 0)
        return 0;
    if (client->credit_ns == 0)
        client->credit = most;
    else
        client->credit +=
            (double)(now_ns - client->credit_ns) * (double)grant->rate / (double)HONE_NS_PER_S;
    client->credit = client->credit > most ? most : client->credit;
    client->credit_ns = now_ns;
    if (client->credit < 1)
        return hone_fail(err, HONE_E_BUSY,
                         "token %s may send %lld requests a second; try again in a second",
                         grant->name, (long long)grant->rate);
    client->credit -= 1;
    return 0;
}

int hone_client_request(struct hone_client *client, int64_t now_ns, struct hone_err *err)
{
    if (!client)
        return 0;
    if (hone_client_is_removed(client))
        return hone_fail(err, HONE_E_AUTH, "token %s was removed", hone_client_name(client));
    pthread_mutex_lock(&client->owner->lock);
    int rc = request_locked(client, now_ns, err);
    pthread_mutex_unlock(&client->owner->lock);
    return rc;
}

int hone_client_begin(struct hone_client *client, struct hone_err *err)
{
    int rc = 0;
    if (!client)
        return 0;
    pthread_mutex_lock(&client->owner->lock);
    if (client->grant.calls > 0 && client->n_calls >= client->grant.calls)
        rc = hone_fail(err, HONE_E_BUSY,
                       "token %s may have %lld calls at a time; wait for an answer first",
                       client->grant.name, (long long)client->grant.calls);
    else
        client->n_calls++;
    pthread_mutex_unlock(&client->owner->lock);
    return rc;
}

void hone_client_end(struct hone_client *client)
{
    if (!client)
        return;
    pthread_mutex_lock(&client->owner->lock);
    client->n_calls--;
    pthread_mutex_unlock(&client->owner->lock);
}
