/* SPDX-License-Identifier: Apache-2.0 */
/* See http_sessions.h. The table is an array by slot; a serial holds its slot and a turn, so that a
 * late message for a session that ended finds nothing.
 *
 * A stream lives until its answer was read. One that nobody reads is kept while it runs, and after
 * its end only if an event's id has left, so that a client can ask for the rest. */
#include "server/rpc/http_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct hone_http_sessions {
    struct hone_http_hooks hooks;
    struct hone_http_session *slots[HONE_LIMIT_HTTP_SESSIONS];
    uint64_t turn;
};

struct hone_http_sessions *hone_http_sessions_new(const struct hone_http_hooks *hooks)
{
    struct hone_http_sessions *sessions = hone_calloc(1, sizeof(*sessions));
    sessions->hooks = *hooks;
    return sessions;
}

static void event_free(struct hone_http_event *event)
{
    free(event->text);
    free(event);
}

static void drop_first(struct hone_http_stream *stream)
{
    struct hone_http_event *event = stream->events;
    stream->events = event->next;
    if (stream->events == NULL)
        stream->tail = &stream->events;
    stream->n_events--;
    event_free(event);
}

static void stream_free(struct hone_http_stream *stream)
{
    struct hone_http_session *session = stream->session;
    for (struct hone_http_stream **link = &session->streams; *link != NULL; link = &(*link)->next) {
        if (*link != stream)
            continue;
        *link = stream->next;
        session->n_streams--;
        break;
    }
    while (stream->events != NULL)
        drop_first(stream);
    free(stream->call_id);
    free(stream);
}

void hone_http_end(struct hone_http_sessions *sessions, struct hone_http_session *session)
{
    sessions->slots[session->serial % HONE_LIMIT_HTTP_SESSIONS] = NULL;
    hone_peer_close(session->peer);
    while (session->streams != NULL) {
        void *reader = session->streams->reader;
        stream_free(session->streams);
        if (reader != NULL)
            sessions->hooks.gone(reader);
    }
    free(session);
}

void hone_http_end_removed(struct hone_http_sessions *sessions)
{
    for (size_t i = 0; i < HONE_LIMIT_HTTP_SESSIONS; i++)
        if (sessions->slots[i] != NULL && hone_client_is_removed(sessions->slots[i]->client))
            hone_http_end(sessions, sessions->slots[i]);
}

void hone_http_sessions_free(struct hone_http_sessions *sessions)
{
    if (sessions == NULL)
        return;
    for (size_t i = 0; i < HONE_LIMIT_HTTP_SESSIONS; i++)
        if (sessions->slots[i] != NULL)
            hone_http_end(sessions, sessions->slots[i]);
    free(sessions);
}

static bool is_busy(const struct hone_http_session *session)
{
    for (const struct hone_http_stream *s = session->streams; s != NULL; s = s->next)
        if (!s->is_done || s->reader != NULL)
            return true;
    return false;
}

/* A free slot, after sessions that nobody has used for long are gone. */
static int find_slot(struct hone_http_sessions *sessions, int64_t now_ns, size_t *ret,
                     struct hone_err *err)
{
    struct hone_http_session *oldest = NULL;
    for (size_t i = 0; i < HONE_LIMIT_HTTP_SESSIONS; i++) {
        struct hone_http_session *session = sessions->slots[i];
        if (session == NULL || is_busy(session))
            continue;
        if (now_ns - session->used_ns > HONE_HTTP_IDLE_NS)
            hone_http_end(sessions, session);
        else if (oldest == NULL || session->used_ns < oldest->used_ns)
            oldest = session;
    }
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < HONE_LIMIT_HTTP_SESSIONS; i++) {
            if (sessions->slots[i] != NULL)
                continue;
            *ret = i;
            return 0;
        }
        if (oldest == NULL)
            break;
        hone_http_end(sessions, oldest);
    }
    return hone_fail(err, HONE_E_BUSY, "all %d sessions have requests in flight",
                     HONE_LIMIT_HTTP_SESSIONS);
}

static int random_id(char ret[HONE_HTTP_ID_BYTES], struct hone_err *err)
{
    unsigned char bytes[HONE_HTTP_ID_BYTES / 2];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return hone_fail(err, HONE_E_IO, "the system gives no random numbers");
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

int hone_http_open(struct hone_http_sessions *sessions, const struct hone_peer_spec *spec,
                   int64_t now_ns, struct hone_http_session **ret, struct hone_err *err)
{
    struct hone_peer_spec own = *spec;
    size_t slot = 0;
    char id[HONE_HTTP_ID_BYTES];
    int rc = find_slot(sessions, now_ns, &slot, err);
    if (rc == 0)
        rc = random_id(id, err);
    if (rc < 0)
        return rc;
    struct hone_http_session *session = hone_calloc(1, sizeof(*session));
    memcpy(session->id, id, sizeof(id));
    session->serial = HONE_HTTP_SERIAL | (++sessions->turn * HONE_LIMIT_HTTP_SESSIONS + slot);
    session->used_ns = now_ns;
    own.serial = session->serial;
    session->client = spec->client;
    own.turn = spec->turn != 0 ? spec->turn : session->serial;
    session->peer = hone_peer_new(&own);
    sessions->slots[slot] = session;
    *ret = session;
    return 0;
}

static struct hone_http_session *by_serial(struct hone_http_sessions *sessions, uint64_t serial)
{
    struct hone_http_session *session = sessions->slots[serial % HONE_LIMIT_HTTP_SESSIONS];
    return session != NULL && session->serial == serial ? session : NULL;
}

struct hone_http_session *hone_http_find(struct hone_http_sessions *sessions, const char *id,
                                         int64_t now_ns)
{
    for (size_t i = 0; i < HONE_LIMIT_HTTP_SESSIONS; i++) {
        struct hone_http_session *session = sessions->slots[i];
        if (session == NULL || strcmp(session->id, id) != 0)
            continue;
        session->used_ns = now_ns;
        return session;
    }
    return NULL;
}

static struct hone_http_stream *open_call(struct hone_http_session *session, const char *call_id)
{
    for (struct hone_http_stream *s = session->streams; s != NULL; s = s->next)
        if (!s->is_done && strcmp(s->call_id, call_id) == 0)
            return s;
    return NULL;
}

/* The oldest one that is done and that nobody reads. */
static struct hone_http_stream *oldest_kept(struct hone_http_session *session)
{
    for (struct hone_http_stream *s = session->streams; s != NULL; s = s->next)
        if (s->is_done && s->reader == NULL)
            return s;
    return NULL;
}

int hone_http_stream_open(struct hone_http_session *session, const char *call_id,
                          struct hone_http_stream **ret, struct hone_err *err)
{
    if (open_call(session, call_id) != NULL)
        return hone_fail_at(err, HONE_E_ARG, "id", "a request with id %s is still in flight",
                            call_id);
    struct hone_http_stream *kept = oldest_kept(session);
    if (session->n_streams >= HONE_LIMIT_CALLS_PER_CONN && kept != NULL)
        stream_free(kept);
    if (session->n_streams >= HONE_LIMIT_CALLS_PER_CONN)
        return hone_fail(err, HONE_E_LIMIT,
                         "%d requests are in flight in this session; wait for an answer first",
                         HONE_LIMIT_CALLS_PER_CONN);
    struct hone_http_stream *stream = hone_calloc(1, sizeof(*stream));
    struct hone_http_stream **link = &session->streams;
    stream->session = session;
    stream->number = ++session->n_streams_ever;
    stream->call_id = hone_strdup(call_id);
    stream->tail = &stream->events;
    while (*link != NULL)
        link = &(*link)->next;
    *link = stream;
    session->n_streams++;
    *ret = stream;
    return 0;
}

struct hone_http_stream *hone_http_stream_resume(struct hone_http_session *session,
                                                 const char *event_id)
{
    char *end = NULL;
    unsigned long long number = strtoull(event_id, &end, 10), seq;
    if (end == event_id || *end != '-')
        return NULL;
    const char *second = end + 1;
    seq = strtoull(second, &end, 10);
    if (end == second || *end != '\0')
        return NULL;
    for (struct hone_http_stream *s = session->streams; s != NULL; s = s->next) {
        if (s->number != number || seq > s->last_seq)
            continue;
        s->n_shown = seq;
        return s;
    }
    return NULL;
}

const struct hone_http_event *hone_http_stream_next(const struct hone_http_stream *stream)
{
    for (const struct hone_http_event *e = stream->events; e != NULL; e = e->next)
        if (e->seq > stream->n_shown)
            return e;
    return NULL;
}

void hone_http_stream_leave(struct hone_http_sessions *sessions, struct hone_http_stream *stream)
{
    (void)sessions;
    stream->reader = NULL;
    if (stream->call_id[0] == '\0')
        stream_free(stream);
    else if (stream->is_done && (!stream->is_resumable || hone_http_stream_next(stream) == NULL))
        stream_free(stream);
}

static void settle(struct hone_http_sessions *sessions, struct hone_http_stream *stream)
{
    if (stream->reader != NULL)
        sessions->hooks.wake(stream->reader);
    else if (stream->is_done && !stream->is_resumable)
        stream_free(stream);
}

void hone_http_deliver(struct hone_http_sessions *sessions, uint64_t serial,
                       const struct hone_peer_text *message)
{
    const char *call_id = message->call_id;
    struct hone_http_session *session = by_serial(sessions, serial);
    struct hone_http_stream *stream =
        session != NULL ? open_call(session, call_id != NULL ? call_id : HONE_HTTP_STANDING) : NULL;
    if (stream == NULL) {
        free(message->text);
        return;
    }
    if (stream->n_events >= HONE_HTTP_MAX_TEXTS)
        drop_first(stream);
    struct hone_http_event *event = hone_calloc(1, sizeof(*event));
    *event = (struct hone_http_event){.seq = ++stream->last_seq,
                                      .text = message->text,
                                      .len = message->len,
                                      .is_answer = message->is_answer,
                                      .error_number = message->error_number};
    *stream->tail = event;
    stream->tail = &event->next;
    stream->n_events++;
    stream->is_done = message->is_answer;
    settle(sessions, stream);
}

void hone_http_cancelled(struct hone_http_sessions *sessions, struct hone_http_session *session,
                         const char *call_id)
{
    struct hone_http_stream *stream = open_call(session, call_id);
    if (stream == NULL)
        return;
    stream->is_done = true;
    settle(sessions, stream);
}
