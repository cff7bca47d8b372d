/* SPDX-License-Identifier: Apache-2.0 */
/* One list under one lock; the worker (run) holds a reference of the connection or of the request,
 * so that neither goes while it looks. A text is remembered by its hash; the first look says
 * nothing. */
#include "server/rpc/mcp_watch.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "server/rpc/mcp_resources.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

#define LOOK_MS 500

struct watched {
    char *uri;
    char hash[HONE_HASH_TEXT_BYTES]; /* "": not read yet */
    struct watched *next;
};

struct hone_mcp_watch {
    const struct hone_mcp *mcp;
    struct hone_peer *peer; /* NULL: of a request */
    struct hone_call *call; /* NULL: of a connection */
    char *meta;             /* of a request's notifications: JSON members, or "" */
    pthread_mutex_t lock;
    struct watched *list; /* lock; newest first */
    size_t n;             /* lock */
    bool is_running;      /* lock */
};

static struct hone_mcp_watch *new_watch(const struct hone_mcp *mcp)
{
    struct hone_mcp_watch *watch = hone_calloc(1, sizeof(*watch));
    watch->mcp = mcp;
    pthread_mutex_init(&watch->lock, NULL);
    return watch;
}

struct hone_mcp_watch *hone_mcp_watch_new(const struct hone_mcp *mcp, struct hone_peer *peer)
{
    struct hone_mcp_watch *watch = new_watch(mcp);
    watch->peer = peer;
    watch->meta = hone_strdup("");
    return watch;
}

static void watched_free(struct watched *watched)
{
    free(watched->uri);
    free(watched);
}

void hone_mcp_watch_free(struct hone_mcp_watch *watch)
{
    if (watch == NULL)
        return;
    while (watch->list != NULL) {
        struct watched *first = watch->list;
        watch->list = first->next;
        watched_free(first);
    }
    pthread_mutex_destroy(&watch->lock);
    free(watch->meta);
    free(watch);
}

static struct watched **find(struct hone_mcp_watch *watch, const char *uri) /* lock held */
{
    struct watched **link = &watch->list;
    while (*link != NULL && strcmp((*link)->uri, uri) != 0)
        link = &(*link)->next;
    return link;
}

static void notify(struct hone_mcp_watch *watch, const char *uri)
{
    HONE_AUTOFREE char *quoted = hone_rpc_quote(uri);
    HONE_AUTOFREE char *params = hone_sprintf("{%s\"uri\":%s}", watch->meta, quoted);
    if (watch->call != NULL)
        hone_call_notify(watch->call, "notifications/resources/updated", params);
    else
        hone_peer_notify(watch->peer, "notifications/resources/updated", params);
}

static void look_at(struct hone_mcp_watch *watch, const char *uri)
{
    char hash[HONE_HASH_TEXT_BYTES];
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *text = hone_mcp_resource_text(watch->mcp, "watch", uri, NULL, &err);
    const char *seen = text != NULL ? text : err.message;
    hone_hash(seen, strlen(seen), hash);
    pthread_mutex_lock(&watch->lock);
    struct watched *watched = *find(watch, uri);
    bool is_new = watched != NULL && watched->hash[0] != '\0' && strcmp(watched->hash, hash) != 0;
    if (watched != NULL)
        memcpy(watched->hash, hash, sizeof(hash));
    pthread_mutex_unlock(&watch->lock);
    if (is_new)
        notify(watch, uri);
}

/* The URIs as they are now; owned, NULL at the end. NULL: the worker is to end. */
static char **uris_now(struct hone_mcp_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool is_over = watch->call == NULL && (watch->n == 0 || hone_peer_is_closed(watch->peer));
    char **uris = is_over ? NULL : hone_calloc(watch->n + 1, sizeof(*uris));
    size_t n = 0;
    for (const struct watched *w = watch->list; uris != NULL && w != NULL; w = w->next)
        uris[n++] = hone_strdup(w->uri);
    watch->is_running = !is_over;
    pthread_mutex_unlock(&watch->lock);
    return uris;
}

static void look(struct hone_mcp_watch *watch, const struct hone_cancel *cancel)
{
    char **uris;
    while (!hone_cancel_is_set(cancel) && (uris = uris_now(watch)) != NULL) {
        for (size_t i = 0; uris[i] != NULL; i++) {
            look_at(watch, uris[i]);
            free(uris[i]);
        }
        free(uris);
        struct pollfd fd = {.fd = cancel != NULL ? cancel->event_fd : -1, .events = POLLIN};
        poll(&fd, 1, LOOK_MS);
    }
}

static struct hone_client *client_of(const struct hone_mcp_watch *watch)
{
    return watch->call != NULL ? hone_call_client(watch->call) : hone_peer_client(watch->peer);
}

static void run(void *arg)
{
    struct hone_mcp_watch *watch = arg;
    struct hone_peer *peer = watch->peer;
    struct hone_client *client = client_of(watch);
    look(watch, watch->call != NULL ? hone_call_cancel(watch->call, NULL) : NULL);
    hone_client_end(client);
    if (peer != NULL) { /* the watch may go with it */
        hone_peer_unref(peer);
        return;
    }
    hone_call_unref(watch->call);
    hone_mcp_watch_free(watch);
}

/* Counts as a call of its token, for it holds a worker. Lock held, or nobody else knows the watch. */
static int start(struct hone_mcp_watch *watch, struct hone_err *err)
{
    if (watch->is_running)
        return 0;
    if (hone_client_begin(client_of(watch), err) < 0)
        return HONE_E_BUSY;
    if (watch->peer != NULL)
        hone_peer_ref(watch->peer);
    watch->is_running = true; /* before: a request's watch may end and be gone at once */
    int rc = hone_workers_submit(hone_runtime_lane(watch->mcp->runtime, HONE_LANE_WAIT),
                                 (uintptr_t)watch, run, watch, err);
    if (rc == 0)
        return 0;
    watch->is_running = false;
    hone_client_end(client_of(watch));
    if (watch->peer != NULL)
        hone_peer_unref(watch->peer);
    return rc;
}

static int add_locked(struct hone_mcp_watch *watch, const char *uri, struct hone_err *err)
{
    if (*find(watch, uri) != NULL)
        return 0;
    if (watch->n >= HONE_LIMIT_SUBSCRIPTIONS)
        return hone_fail(err, HONE_E_LIMIT, "%d resources are subscribed to; unsubscribe first",
                         HONE_LIMIT_SUBSCRIPTIONS);
    struct watched *watched = hone_calloc(1, sizeof(*watched));
    watched->uri = hone_strdup(uri);
    watched->next = watch->list;
    watch->list = watched;
    watch->n++;
    return 0;
}

int hone_mcp_watch_add(struct hone_mcp_watch *watch, const char *uri, struct hone_err *err)
{
    pthread_mutex_lock(&watch->lock);
    int rc = add_locked(watch, uri, err);
    if (rc == 0)
        rc = start(watch, err);
    pthread_mutex_unlock(&watch->lock);
    return rc;
}

void hone_mcp_watch_remove(struct hone_mcp_watch *watch, const char *uri)
{
    pthread_mutex_lock(&watch->lock);
    struct watched **link = find(watch, uri), *watched = *link;
    if (watched != NULL) {
        *link = watched->next;
        watch->n--;
        watched_free(watched);
    }
    pthread_mutex_unlock(&watch->lock);
}

int hone_mcp_watch_listen(const struct hone_mcp *mcp, struct hone_call *call, const char *id_text,
                          const struct hone_json *uris, struct hone_err *err)
{
    struct hone_mcp_watch *watch = new_watch(mcp);
    int rc = hone_call_cancel(call, err) != NULL ? 0 : HONE_E_BUSY;
    watch->call = call;
    watch->meta =
        hone_sprintf("\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s},", id_text);
    for (const struct hone_json *u = hone_json_first(uris); u != NULL && rc == 0;
         u = hone_json_next(u))
        rc = add_locked(watch, hone_json_str(u), err);
    if (rc == 0) {
        hone_call_ref(call);
        rc = start(watch, err);
        if (rc < 0)
            hone_call_unref(call);
    }
    if (rc < 0)
        hone_mcp_watch_free(watch);
    return rc;
}
