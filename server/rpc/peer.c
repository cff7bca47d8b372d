/* SPDX-License-Identifier: Apache-2.0 */
/* See peer.h. One lock per peer guards the list of calls, the inbox and every state change.
 *
 * The transport's send is called with the lock held: it is what keeps a progress notification from
 * overtaking the answer. Transports therefore only queue (WebSocket) or write a line (stdio) there.
 *
 * A call's states: OPEN -> DONE (answered) or OPEN -> DROPPED (cancelled, or the peer is gone).
 * Only OPEN calls are in the list. */
#include "server/rpc/peer.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define INLINE_BYTES (64u << 10) /* parsed on the transport's thread up to here */

#define SPARE_FDS 2

enum call_state { CALL_OPEN, CALL_DONE, CALL_DROPPED };

struct batch { /* answers of one batch leave together */
    struct hone_buf answers;
    size_t n_open; /* requests without an answer, plus one while the batch is being read */
};

struct hone_call {
    atomic_size_t n_refs;
    struct hone_peer *peer;
    char *id_text;
    struct hone_cancel cancel; /* peer->lock until hone_call_cancel gave it out */
    bool has_cancel;           /* peer->lock */
    struct batch *batch;       /* peer->lock; NULL: on its own */
    enum call_state state;     /* peer->lock */
    struct hone_call *next;    /* peer->lock */
};

struct ask { /* a request of ours, on the stack of who waits for its answer */
    char id_text[32];
    struct hone_json *answer; /* the whole message; NULL: not yet */
    struct ask *next;
};

struct inbox_item {
    char *text;
    size_t len;
    struct inbox_item *next;
};

struct hone_peer {
    atomic_size_t n_refs; /* transport, every call, a running drain */
    struct hone_peer_spec spec;
    void *state;
    pthread_mutex_t lock;
    pthread_cond_t is_idle;                 /* lock */
    bool is_closed;                         /* lock */
    struct hone_call *calls;                /* lock */
    size_t n_calls;                         /* lock */
    struct ask *asks;                       /* lock */
    size_t n_asked;                         /* lock */
    pthread_cond_t has_answer;              /* lock: to an ask, or its call has ended */
    bool is_draining;                       /* lock: a worker owns the inbox */
    struct inbox_item *inbox, **inbox_tail; /* lock */
    int spare_fds[SPARE_FDS]; /* lock: of cancel flags that were never set, to be used again */
    size_t n_spare_fds;       /* lock */
    size_t inbox_bytes;       /* lock */
};

struct hone_peer *hone_peer_new(const struct hone_peer_spec *spec)
{
    struct hone_peer *peer = hone_calloc(1, sizeof(*peer));
    peer->spec = *spec;
    peer->n_refs = 1;
    peer->inbox_tail = &peer->inbox;
    pthread_mutex_init(&peer->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&peer->is_idle, &attr);
    pthread_cond_init(&peer->has_answer, &attr);
    pthread_condattr_destroy(&attr);
    peer->state = spec->handler->open(spec->handler_arg, peer);
    return peer;
}

struct hone_peer *hone_peer_ref(struct hone_peer *peer)
{
    atomic_fetch_add(&peer->n_refs, 1);
    return peer;
}

void hone_peer_unref(struct hone_peer *peer)
{
    if (atomic_fetch_sub(&peer->n_refs, 1) != 1)
        return;
    peer->spec.handler->close(peer->state);
    while (peer->inbox) {
        struct inbox_item *item = peer->inbox;
        peer->inbox = item->next;
        free(item->text);
        free(item);
    }
    for (size_t i = 0; i < peer->n_spare_fds; i++)
        close(peer->spare_fds[i]);
    pthread_mutex_destroy(&peer->lock);
    pthread_cond_destroy(&peer->is_idle);
    pthread_cond_destroy(&peer->has_answer);
    free(peer);
}

/* Moves the text to the transport. Lock held. */
static void send_message_locked(struct hone_peer *peer, struct hone_peer_text message)
{
    if (peer->is_closed || !message.text) {
        free(message.text);
        return;
    }
    message.len = strlen(message.text);
    peer->spec.transport->send(peer->spec.transport_arg, peer->spec.serial, &message);
}

/* call_id NULL: of no request. */
static void send_locked(struct hone_peer *peer, const char *call_id, bool is_answer, char *text)
{
    send_message_locked(
        peer, (struct hone_peer_text){.text = text, .call_id = call_id, .is_answer = is_answer});
}

static void send_text(struct hone_peer *peer, char *text)
{
    pthread_mutex_lock(&peer->lock);
    send_locked(peer, NULL, false, text);
    pthread_mutex_unlock(&peer->lock);
}

static void tell_if_idle(struct hone_peer *peer) /* lock held */
{
    if (!peer->calls && !peer->inbox && !peer->is_draining)
        pthread_cond_broadcast(&peer->is_idle);
}

/* ---- batches ---- */

static struct batch *batch_new(void)
{
    struct batch *batch = hone_calloc(1, sizeof(*batch));
    batch->n_open = 1;
    return batch;
}

static void batch_put(struct batch *batch, char *text)
{
    if (text)
        hone_buf_printf(&batch->answers, "%s%s", batch->answers.len > 0 ? "," : "[", text);
    free(text);
}

/* One request less; the last one sends everything. Lock held. */
static void batch_leave(struct hone_peer *peer, struct batch *batch)
{
    if (--batch->n_open > 0)
        return;
    if (batch->answers.len > 0) {
        hone_buf_str(&batch->answers, "]");
        if (!batch->answers.has_failed)
            send_locked(peer, NULL, false, hone_buf_steal(&batch->answers));
    }
    hone_buf_done(&batch->answers);
    free(batch);
}

/* ---- calls ---- */

/* Takes it out of the list and gives it its final state. Lock held; false when somebody was first.
 */
static bool call_end(struct hone_call *call, enum call_state state)
{
    if (call->state != CALL_OPEN)
        return false;
    struct hone_peer *peer = call->peer;
    call->state = state;
    for (struct hone_call **link = &peer->calls; *link; link = &(*link)->next) {
        if (*link != call)
            continue;
        *link = call->next;
        peer->n_calls--;
        break;
    }
    return true;
}

/* text is moved. error_number 0: a result. */
static void call_answer(struct hone_call *call, int error_number, char *text)
{
    struct hone_peer *peer = call->peer;
    pthread_mutex_lock(&peer->lock);
    if (!call_end(call, CALL_DONE)) {
        free(text);
    } else if (call->batch) {
        batch_put(call->batch, text);
        batch_leave(peer, HONE_STEAL(call->batch));
    } else {
        send_message_locked(peer, (struct hone_peer_text){.text = text,
                                                          .call_id = call->id_text,
                                                          .is_answer = true,
                                                          .error_number = error_number});
    }
    tell_if_idle(peer);
    pthread_mutex_unlock(&peer->lock);
}

/* Stops it without an answer. Lock held. */
static void call_drop(struct hone_call *call)
{
    if (!call_end(call, CALL_DROPPED))
        return;
    if (call->has_cancel)
        hone_cancel_set(&call->cancel);
    pthread_cond_broadcast(&call->peer->has_answer);
    if (call->batch)
        batch_leave(call->peer, HONE_STEAL(call->batch));
}

void hone_call_result(struct hone_call *call, const char *result_json)
{
    call_answer(call, 0, hone_rpc_result(call->id_text, result_json));
}

void hone_call_error(struct hone_call *call, int number, const char *fmt, ...)
{
    char message[HONE_ERR_MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    call_answer(call, number, hone_rpc_error(call->id_text, number, message, NULL));
}

void hone_call_error_data(struct hone_call *call, int number, const char *data_json,
                          const char *fmt, ...)
{
    char message[HONE_ERR_MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    call_answer(call, number, hone_rpc_error(call->id_text, number, message, data_json));
}

const char *hone_call_id(const struct hone_call *call)
{
    return call->id_text;
}

struct hone_client *hone_peer_client(const struct hone_peer *peer)
{
    return peer->spec.client;
}

struct hone_client *hone_call_client(const struct hone_call *call)
{
    return call->peer->spec.client;
}

uint64_t hone_call_turn(const struct hone_call *call)
{
    return call->peer->spec.turn;
}

bool hone_peer_is_closed(struct hone_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    bool is_closed = peer->is_closed;
    pthread_mutex_unlock(&peer->lock);
    return is_closed;
}

void hone_peer_notify(struct hone_peer *peer, const char *method, const char *params_json)
{
    send_text(peer, hone_rpc_notification(method, params_json));
}

void hone_call_fail(struct hone_call *call, const struct hone_err *err)
{
    call_answer(call, hone_rpc_number(err->code), hone_rpc_error_of(call->id_text, err));
}

void hone_call_notify(struct hone_call *call, const char *method, const char *params_json)
{
    struct hone_peer *peer = call->peer;
    pthread_mutex_lock(&peer->lock);
    if (call->state == CALL_OPEN)
        send_locked(peer, call->id_text, false, hone_rpc_notification(method, params_json));
    pthread_mutex_unlock(&peer->lock);
}

/* ---- requests of ours ---- */

static int read_answer(struct hone_json *message, const char *method, struct hone_json **ret,
                       struct hone_err *err)
{
    struct hone_json *result = hone_json_detach(message, "result");
    if (result == NULL)
        return hone_fail(
            err, HONE_E_UNSUPPORTED, "the client refused %s: %.200s", method,
            hone_json_get_str(hone_json_get(message, "error"), "message", "without a word"));
    *ret = result;
    return 0;
}

int hone_call_ask(struct hone_call *call, const char *method, const char *params_json,
                  int64_t deadline_ns, struct hone_json **ret, struct hone_err *err)
{
    struct hone_peer *peer = call->peer;
    struct ask ask = {.answer = NULL};
    struct timespec until = {.tv_sec = deadline_ns / HONE_NS_PER_S,
                             .tv_nsec = deadline_ns % HONE_NS_PER_S};
    int native = 0;
    pthread_mutex_lock(&peer->lock);
    snprintf(ask.id_text, sizeof(ask.id_text), "\"hone-%zu\"", ++peer->n_asked);
    ask.next = peer->asks;
    peer->asks = &ask;
    if (call->state == CALL_OPEN)
        send_locked(peer, call->id_text, false, hone_rpc_request(ask.id_text, method, params_json));
    while (ask.answer == NULL && call->state == CALL_OPEN && native == 0)
        native = pthread_cond_timedwait(&peer->has_answer, &peer->lock, &until);
    struct ask **link = &peer->asks;
    while (*link != &ask)
        link = &(*link)->next;
    *link = ask.next;
    pthread_mutex_unlock(&peer->lock);
    HONE_AUTOJSON struct hone_json *answer = ask.answer;
    if (answer != NULL)
        return read_answer(answer, method, ret, err);
    if (native == 0)
        return hone_fail(err, HONE_E_CANCEL, "ended while the client was asked");
    return hone_fail(err, HONE_E_TIMEOUT, "the client did not answer %s", method);
}

/* An answer that nobody waits for is let go. */
static void take_response(struct hone_peer *peer, const char *id_text,
                          const struct hone_json *message)
{
    pthread_mutex_lock(&peer->lock);
    for (struct ask *ask = peer->asks; ask && id_text; ask = ask->next)
        if (ask->answer == NULL && strcmp(ask->id_text, id_text) == 0)
            ask->answer = hone_json_copy(message);
    pthread_cond_broadcast(&peer->has_answer);
    pthread_mutex_unlock(&peer->lock);
}

struct hone_call *hone_call_ref(struct hone_call *call)
{
    atomic_fetch_add(&call->n_refs, 1);
    return call;
}

static void cancel_give_back(struct hone_call *call)
{
    struct hone_peer *peer = call->peer;
    if (!call->has_cancel)
        return;
    pthread_mutex_lock(&peer->lock);
    bool is_clean = !hone_cancel_is_set(&call->cancel) && peer->n_spare_fds < SPARE_FDS;
    if (is_clean)
        peer->spare_fds[peer->n_spare_fds++] = call->cancel.event_fd;
    pthread_mutex_unlock(&peer->lock);
    if (!is_clean)
        hone_cancel_done(&call->cancel);
}

void hone_call_unref(struct hone_call *call)
{
    if (atomic_fetch_sub(&call->n_refs, 1) != 1)
        return;
    pthread_mutex_lock(&call->peer->lock);
    bool is_open = call->state == CALL_OPEN;
    pthread_mutex_unlock(&call->peer->lock);
    if (is_open)
        hone_call_error(call, HONE_RPC_INTERNAL, "the request ended without an answer");
    cancel_give_back(call);
    hone_peer_unref(call->peer);
    free(call->id_text);
    free(call);
}

/* Made when somebody wants it: a ping needs no descriptor. */
const struct hone_cancel *hone_call_cancel(struct hone_call *call, struct hone_err *err)
{
    struct hone_peer *peer = call->peer;
    int rc = 0;
    pthread_mutex_lock(&peer->lock);
    if (!call->has_cancel && peer->n_spare_fds > 0)
        call->cancel = (struct hone_cancel){.event_fd = peer->spare_fds[--peer->n_spare_fds]};
    else if (!call->has_cancel)
        rc = hone_cancel_init(&call->cancel, err);
    call->has_cancel = call->has_cancel || rc == 0;
    if (rc == 0 && call->state == CALL_DROPPED)
        hone_cancel_set(&call->cancel);
    pthread_mutex_unlock(&peer->lock);
    return rc == 0 ? &call->cancel : NULL;
}

static struct hone_call *find_call(struct hone_peer *peer, const char *id_text) /* lock held */
{
    for (struct hone_call *call = peer->calls; call; call = call->next)
        if (strcmp(call->id_text, id_text) == 0)
            return call;
    return NULL;
}

void hone_peer_cancel(struct hone_peer *peer, const char *id_text)
{
    pthread_mutex_lock(&peer->lock);
    struct hone_call *call = find_call(peer, id_text);
    if (call)
        call_drop(call);
    tell_if_idle(peer);
    pthread_mutex_unlock(&peer->lock);
}

/* Enters a new call into the list, or says why not. */
static int call_open(struct hone_peer *peer, struct hone_rpc_message *message, struct batch *batch,
                     struct hone_call **ret, struct hone_err *err)
{
    struct hone_call *call = hone_calloc(1, sizeof(*call));
    int rc = 0;
    call->n_refs = 1;
    call->peer = peer;
    call->id_text = HONE_STEAL(message->id_text);
    pthread_mutex_lock(&peer->lock);
    if (find_call(peer, call->id_text)) {
        rc = hone_fail_at(err, HONE_E_ARG, "id", "a request with id %s is still in flight",
                          call->id_text);
    } else if (peer->n_calls >= HONE_LIMIT_CALLS_PER_CONN) {
        rc = hone_fail(err, HONE_E_LIMIT,
                       "%d requests are in flight on this connection; wait for an answer first",
                       HONE_LIMIT_CALLS_PER_CONN);
    } else {
        hone_peer_ref(peer);
        call->batch = batch;
        if (batch)
            batch->n_open++;
        call->next = peer->calls;
        peer->calls = call;
        peer->n_calls++;
    }
    pthread_mutex_unlock(&peer->lock);
    if (rc == 0) {
        *ret = call;
        return 0;
    }
    message->id_text = HONE_STEAL(call->id_text);
    free(call);
    return rc;
}

/* ---- messages ---- */

/* id_text NULL: the message had no usable one. */
static void answer_now(struct hone_peer *peer, struct batch *batch, const char *id_text, char *text)
{
    pthread_mutex_lock(&peer->lock);
    if (batch)
        batch_put(batch, text);
    else
        send_locked(peer, id_text, id_text != NULL, text);
    pthread_mutex_unlock(&peer->lock);
}

static void take_request(struct hone_peer *peer, struct hone_rpc_message *message,
                         struct batch *batch)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_call *call = NULL;
    if (call_open(peer, message, batch, &call, &err) < 0) {
        answer_now(peer, batch, message->id_text, hone_rpc_error_of(message->id_text, &err));
        return;
    }
    peer->spec.handler->on_request(peer->state, call, message->method, message->params);
    hone_call_unref(call);
}

static void take_value(struct hone_peer *peer, const struct hone_json *value, struct batch *batch)
{
    HONE_CLEANUP(hone_rpc_message_done) struct hone_rpc_message message;
    hone_rpc_read(value, &message);
    switch (message.kind) {
    case HONE_RPC_REQUEST:
        take_request(peer, &message, batch);
        break;
    case HONE_RPC_NOTIFICATION:
        peer->spec.handler->on_notification(peer->state, message.method, message.params);
        break;
    case HONE_RPC_BAD:
        answer_now(peer, batch, NULL,
                   hone_rpc_error(message.id_text, message.error_number, message.error_text, NULL));
        break;
    case HONE_RPC_RESPONSE:
        take_response(peer, message.id_text, value);
        break;
    case HONE_RPC_IGNORED:
        break;
    }
}

static void take_batch(struct hone_peer *peer, const struct hone_json *array)
{
    size_t n = hone_json_size(array);
    const char *refusal = NULL;
    if (!peer->spec.handler->allows_batch(peer->state))
        refusal =
            "batches are not part of the negotiated protocol revision: send one message at a time";
    else if (n == 0)
        refusal = "an empty batch";
    else if (n > HONE_LIMIT_BATCH)
        refusal = "too many messages in one batch";
    if (refusal) {
        send_text(peer, hone_rpc_error("null", HONE_RPC_INVALID, refusal, NULL));
        return;
    }
    struct batch *batch = batch_new();
    for (const struct hone_json *value = hone_json_first(array); value;
         value = hone_json_next(value))
        take_value(peer, value, batch);
    pthread_mutex_lock(&peer->lock);
    batch_leave(peer, batch);
    pthread_mutex_unlock(&peer->lock);
}

static void take_text(struct hone_peer *peer, const char *text, size_t len)
{
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *value = NULL;
    if (hone_json_parse(text, len, &value, &err) < 0) {
        HONE_AUTOFREE char *message = hone_sprintf("not JSON: %s", err.message);
        send_text(peer, hone_rpc_error("null", HONE_RPC_PARSE, message, NULL));
    } else if (hone_json_type(value) == HONE_JSON_ARRAY) {
        take_batch(peer, value);
    } else {
        take_value(peer, value, NULL);
    }
}

static void drain(void *arg)
{
    struct hone_peer *peer = arg;
    pthread_mutex_lock(&peer->lock);
    while (peer->inbox && !peer->is_closed) {
        struct inbox_item *item = peer->inbox;
        peer->inbox = item->next;
        if (!peer->inbox)
            peer->inbox_tail = &peer->inbox;
        peer->inbox_bytes -= item->len;
        pthread_mutex_unlock(&peer->lock);
        take_text(peer, item->text, item->len);
        free(item->text);
        free(item);
        pthread_mutex_lock(&peer->lock);
        pthread_cond_broadcast(&peer->is_idle); /* there is room again */
    }
    peer->is_draining = false;
    tell_if_idle(peer);
    pthread_mutex_unlock(&peer->lock);
    hone_peer_unref(peer);
}

/* Puts a message behind those that wait. Lock held; false: too much waits already. */
static bool enqueue(struct hone_peer *peer, const char *text, size_t len)
{
    if (peer->inbox && peer->inbox_bytes + len > HONE_LIMIT_INBOX_BYTES)
        return false;
    struct inbox_item *item = hone_calloc(1, sizeof(*item));
    item->text = hone_strndup(text, len);
    item->len = len;
    *peer->inbox_tail = item;
    peer->inbox_tail = &item->next;
    peer->inbox_bytes += len;
    return true;
}

void hone_peer_receive(struct hone_peer *peer, const char *text, size_t len)
{
    pthread_mutex_lock(&peer->lock);
    bool is_inline = !peer->is_draining && len <= INLINE_BYTES;
    while (!is_inline && !peer->spec.transport->drop && peer->inbox &&
           peer->inbox_bytes + len > HONE_LIMIT_INBOX_BYTES)
        pthread_cond_wait(&peer->is_idle, &peer->lock);
    bool fits = is_inline || enqueue(peer, text, len);
    bool needs_worker = !is_inline && fits && !peer->is_draining;
    if (needs_worker) {
        peer->is_draining = true;
        hone_peer_ref(peer);
    }
    pthread_mutex_unlock(&peer->lock);
    if (is_inline)
        take_text(peer, text, len);
    else if (!fits)
        peer->spec.transport->drop(peer->spec.transport_arg, peer->spec.serial,
                                   "too many messages wait to be read");
    else if (needs_worker &&
             hone_workers_submit(peer->spec.parsers, peer->spec.turn, drain, peer, NULL) < 0)
        drain(peer); /* no worker to be had: slower for the others, but in order */
}

void hone_peer_close(struct hone_peer *peer)
{
    if (!peer)
        return;
    pthread_mutex_lock(&peer->lock);
    peer->is_closed = true;
    while (peer->calls)
        call_drop(peer->calls);
    tell_if_idle(peer);
    pthread_mutex_unlock(&peer->lock);
    hone_peer_unref(peer);
}

bool hone_peer_wait_idle(struct hone_peer *peer, int64_t deadline_ns)
{
    struct timespec until = {.tv_sec = deadline_ns / HONE_NS_PER_S,
                             .tv_nsec = deadline_ns % HONE_NS_PER_S};
    pthread_mutex_lock(&peer->lock);
    int native = 0;
    while ((peer->calls || peer->inbox || peer->is_draining) && native == 0)
        native = pthread_cond_timedwait(&peer->is_idle, &peer->lock, &until);
    bool is_idle = !peer->calls && !peer->inbox && !peer->is_draining;
    pthread_mutex_unlock(&peer->lock);
    return is_idle;
}
