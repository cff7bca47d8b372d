/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of MCP over HTTP, as data: no sockets, no clock of its own.
 *
 * A session is a peer (peer.h) with an id. Each request that a client posts has a stream: what the
 * peer sends for that request (progress, then the answer), as numbered events. Whoever reads a
 * stream, the connection of the POST or a later GET that resumes it, is its reader; a stream whose
 * reader went away keeps its events, since a connection that ends cancels nothing.
 *
 *     session = hone_http_open(sessions, peer_spec, now_ns);       initialize
 *     stream = hone_http_stream_open(session, call_id);
 *     stream->reader = connection;
 *     hone_peer_receive(session->peer, text, len);
 *     ... hone_http_deliver(sessions, serial, ...) adds an event and calls wake(reader) ...
 *     hone_http_stream_leave(stream);                              the connection ended
 *
 * One thread, the loop's, but for what peer.h says. Sessions end by hone_http_end, by being idle
 * for HONE_HTTP_IDLE_NS when another one is opened, and with the table. */
#ifndef HONE_SERVER_HTTP_SESSIONS_H
#define HONE_SERVER_HTTP_SESSIONS_H

#include "server/rpc/peer.h"
#include "workspace/base/limits.h"

#define HONE_HTTP_ID_BYTES  33                    /* 32 hex digits: 128 random bits */
#define HONE_HTTP_SERIAL    (1ull << 63)          /* set in the serial of a session's peer */
#define HONE_HTTP_IDLE_NS   (3600ll * 1000000000) /* without a request, and none in flight */
#define HONE_HTTP_MAX_TEXTS 256 /* events kept of one stream; the oldest go first */

struct hone_http_event {
    uint64_t seq; /* 1, 2, ... in its stream; gaps where old ones were dropped */
    char *text;   /* one message, no newline inside */
    size_t len;
    bool is_answer;   /* the stream's last */
    int error_number; /* of it; 0: a result */
    struct hone_http_event *next;
};

/* The stream of what belongs to no request: call_id of hone_http_stream_open. */
#define HONE_HTTP_STANDING ""

struct hone_http_stream {
    struct hone_http_session *session;
    uint64_t number; /* of the session; with seq it makes an event's id "NUMBER-SEQ" */
    char *call_id;   /* JSON text of the request's id */
    struct hone_http_event *events, **tail;
    size_t n_events;
    uint64_t last_seq;
    bool is_done;      /* the answer is there, or there will be none */
    bool is_resumable; /* an event's id has left */
    void *reader;      /* NULL: nobody reads now */
    uint64_t n_shown;  /* seq of the last event that the reader took */
    struct hone_http_stream *next;
};

struct hone_http_session {
    char id[HONE_HTTP_ID_BYTES];
    uint64_t serial;
    struct hone_peer *peer;
    const struct hone_client *client; /* whose it is: another one's request does not find it */
    bool has_events;                  /* the revision knows events without data */
    bool is_single; /* of one request that stands alone: ends with its connection, no event ids */
    int64_t used_ns;
    uint64_t n_streams_ever;
    size_t n_streams;
    struct hone_http_stream *streams; /* oldest first */
};

struct hone_http_sessions; /* opaque */

struct hone_http_hooks {        /* of readers; called on the loop's thread */
    void (*wake)(void *reader); /* its stream has more, or is done */
    void (*gone)(void *reader); /* its stream is gone: the connection should end */
};

struct hone_http_sessions *hone_http_sessions_new(const struct hone_http_hooks *hooks);
void hone_http_sessions_free(struct hone_http_sessions *sessions); /* ends all; NULL is fine */

/* A new session with a peer made from spec (its serial is filled in here). Where the table is full
 * the one that was idle longest goes; HONE_E_BUSY when all have requests in flight. */
int hone_http_open(struct hone_http_sessions *sessions, const struct hone_peer_spec *spec,
                   int64_t now_ns, struct hone_http_session **ret, struct hone_err *err);
/* NULL: unknown or ended. */
struct hone_http_session *hone_http_find(struct hone_http_sessions *sessions, const char *id,
                                         int64_t now_ns);
void hone_http_end(struct hone_http_sessions *sessions, struct hone_http_session *session);
/* Ends the sessions of clients whose token was removed. */
void hone_http_end_removed(struct hone_http_sessions *sessions);

/* For one request. HONE_E_LIMIT: too many are in flight or kept; HONE_E_ARG: one with this id is in
 * flight. */
int hone_http_stream_open(struct hone_http_session *session, const char *call_id,
                          struct hone_http_stream **ret, struct hone_err *err);
/* The stream of an event's id, with n_shown set to that event; NULL: there is none. */
struct hone_http_stream *hone_http_stream_resume(struct hone_http_session *session,
                                                 const char *event_id);
/* The reader goes. A stream that is done and read, or cannot be resumed, goes with it; so does the
 * standing stream. */
void hone_http_stream_leave(struct hone_http_sessions *sessions, struct hone_http_stream *stream);
/* The next event for the reader, NULL: none yet. */
const struct hone_http_event *hone_http_stream_next(const struct hone_http_stream *stream);

/* What a peer sent, for the session with that serial; its text is moved. Messages of no request
 * (call_id NULL) go to the standing stream; where nobody opened one they are dropped. */
void hone_http_deliver(struct hone_http_sessions *sessions, uint64_t serial,
                       const struct hone_peer_text *message);
/* The request was cancelled: its stream ends without an answer. Unknown ids are ignored. */
void hone_http_cancelled(struct hone_http_sessions *sessions, struct hone_http_session *session,
                         const char *call_id);

#endif
