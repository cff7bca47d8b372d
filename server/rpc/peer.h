/* SPDX-License-Identifier: Apache-2.0 */
/* A connection as the protocol sees it: order of messages, requests in flight, exactly one answer
 * to each.
 *
 * The transport makes a peer, feeds it whole messages and takes texts from it. The handler gives
 * methods their meaning. Neither knows the other: a second transport or a second protocol era is a
 * new file, not a change here.
 *
 * Messages of one peer are looked at one after another, in order. Small ones are looked at on the
 * transport's thread; from the first large one on (parsing 4 MiB takes a tenth of a second) they go
 * through a worker until the queue is empty again.
 *
 * A request becomes a struct hone_call. It is answered at most once, by whoever comes first; a call
 * whose last reference goes without an answer is answered as an internal error; a cancelled one is
 * not answered at all. So there is no path with two answers or none. */
#ifndef HONE_SERVER_PEER_H
#define HONE_SERVER_PEER_H

#include "server/access/clients.h"
#include "server/rpc/rpc.h"
#include "server/rpc/workers.h"
#include "workspace/base/process.h"

struct hone_peer; /* opaque, counted */
struct hone_call; /* opaque, counted: one request in flight */

struct hone_peer_text { /* one message to the client */
    char *text;         /* moved; no newline inside */
    size_t len;
    const char *call_id; /* JSON text of the request that it belongs to, borrowed; NULL: none */
    bool is_answer;      /* to that request */
    int error_number;    /* of an answer that is an error; 0: none, or not told */
};

struct hone_transport {
    /* Takes one message. Any thread; must not call back into the peer. */
    void (*send)(void *arg, uint64_t serial, const struct hone_peer_text *message);
    /* Too many received messages wait to be looked at: the connection should end. NULL:
     * hone_peer_receive blocks until there is room. */
    void (*drop)(void *arg, uint64_t serial, const char *why);
};

struct hone_handler {
    /* Called in order, one at a time per peer. state is what open returned. params: an object or
     * NULL, borrowed. */
    void *(*open)(const void *arg, struct hone_peer *peer);
    void (*close)(void *state); /* after the last call is gone; any thread */
    void (*on_request)(void *state, struct hone_call *call, const char *method,
                       const struct hone_json *params);
    void (*on_notification)(void *state, const char *method, const struct hone_json *params);
    bool (*allows_batch)(void *state);
};

struct hone_peer_spec {
    const struct hone_transport *transport;
    void *transport_arg;
    uint64_t serial; /* the transport's name for the connection: pointers may be gone by the time a
                        result comes */
    const struct hone_handler *handler;
    const void *handler_arg;
    struct hone_workers *parsers; /* for large messages */
    struct hone_client *client;   /* whose token was shown; NULL: none was asked for */
    uint64_t turn;                /* whose work this is, workers.h */
};

/* One reference, the transport's. Everything in spec is borrowed and outlives the peer. */
struct hone_peer *hone_peer_new(const struct hone_peer_spec *spec);
/* One whole message. The transport's thread only; text is borrowed. */
void hone_peer_receive(struct hone_peer *peer, const char *text, size_t len);
/* Ends it: every call is cancelled, nothing is sent any more. Drops the transport's reference. */
void hone_peer_close(struct hone_peer *peer);
/* Waits until no request is in flight and no message waits; false at the deadline. */
bool hone_peer_wait_idle(struct hone_peer *peer, int64_t deadline_ns);

/* For handlers. */
struct hone_peer *hone_peer_ref(struct hone_peer *peer);
void hone_peer_unref(struct hone_peer *peer);
bool hone_peer_is_closed(struct hone_peer *peer);
/* Sends a notification that belongs to no request; nothing once the peer is closed. Any thread. */
void hone_peer_notify(struct hone_peer *peer, const char *method, const char *params_json);
/* notifications/cancelled: stops the call with that id (its JSON text), which is then never
 * answered. Unknown ids are ignored. */
void hone_peer_cancel(struct hone_peer *peer, const char *id_text);
struct hone_client *hone_peer_client(const struct hone_peer *peer);

struct hone_call *hone_call_ref(struct hone_call *call);
void hone_call_unref(struct hone_call *call);
/* The call's flag: set when it is cancelled or the peer is gone. Lives as long as the call. NULL:
 * no descriptor is to be had. Any thread. */
const struct hone_cancel *hone_call_cancel(struct hone_call *call, struct hone_err *err);
/* Answers; the first wins, later ones do nothing. Any thread. */
void hone_call_result(struct hone_call *call, const char *result_json);
void hone_call_error(struct hone_call *call, int number, const char *fmt, ...) HONE_PRINTF(3, 4);
/* data_json NULL: none. */
void hone_call_error_data(struct hone_call *call, int number, const char *data_json,
                          const char *fmt, ...) HONE_PRINTF(4, 5);
const char *hone_call_id(const struct hone_call *call); /* JSON text */
struct hone_client *hone_call_client(const struct hone_call *call);
uint64_t hone_call_turn(const struct hone_call *call);
void hone_call_fail(struct hone_call *call, const struct hone_err *err);
/* Sends a notification that belongs to the call; nothing once it is answered or cancelled. */
void hone_call_notify(struct hone_call *call, const char *method, const char *params_json);
/* Sends the client a request that belongs to the call, and waits for its result (owned). An error of
 * the client's is HONE_E_UNSUPPORTED with its words; a call that ends meanwhile HONE_E_CANCEL. A
 * worker's thread only. */
int hone_call_ask(struct hone_call *call, const char *method, const char *params_json,
                  int64_t deadline_ns, struct hone_json **ret, struct hone_err *err);

#endif
