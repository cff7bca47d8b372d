/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions over HTTP as data: whose message goes where, what is kept for a reader that went away,
 * and the limits. The handler answers nothing by itself: the test plays the peer. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/rpc/http_sessions.h"

static struct {
    int n_woken, n_gone;
    void *last_gone;
} told;

static void wake(void *reader)
{
    (void)reader;
    told.n_woken++;
}

static void gone(void *reader)
{
    told.n_gone++;
    told.last_gone = reader;
}

static void *no_open(const void *arg, struct hone_peer *peer)
{
    (void)arg;
    (void)peer;
    return NULL;
}

static void no_close(void *state)
{
    (void)state;
}

static const struct hone_handler handler = {.open = no_open, .close = no_close};
static const struct hone_transport transport = {.send = NULL};
static const struct hone_peer_spec spec = {.transport = &transport, .handler = &handler};

static struct hone_http_sessions *table_new(void)
{
    const struct hone_http_hooks hooks = {.wake = wake, .gone = gone};
    memset(&told, 0, sizeof(told));
    return hone_http_sessions_new(&hooks);
}

static struct hone_http_session *session_at(struct hone_http_sessions *sessions, int64_t now_ns)
{
    struct hone_http_session *session = NULL;
    ck_assert_int_eq(hone_http_open(sessions, &spec, now_ns, &session, NULL), 0);
    return session;
}

static struct hone_http_stream *stream_of(struct hone_http_session *session, const char *id,
                                          void *reader)
{
    struct hone_http_stream *stream = NULL;
    ck_assert_int_eq(hone_http_stream_open(session, id, &stream, NULL), 0);
    stream->reader = reader;
    return stream;
}

static void deliver(struct hone_http_sessions *sessions, uint64_t serial, const char *id,
                    bool is_answer, const char *text)
{
    const struct hone_peer_text message = {
        .text = hone_strdup(text), .len = strlen(text), .call_id = id, .is_answer = is_answer};
    hone_http_deliver(sessions, serial, &message);
}

START_TEST(messages_find_their_stream)
{
    struct hone_http_sessions *sessions = table_new();
    struct hone_http_session *a = session_at(sessions, 1), *b = session_at(sessions, 2);
    int one, two;
    struct hone_http_stream *first = stream_of(a, "1", &one), *second = stream_of(a, "\"1\"", &two);
    ck_assert_str_ne(a->id, b->id);
    deliver(sessions, a->serial, "1", false, "progress");
    deliver(sessions, a->serial, "\"1\"", true, "answer");
    deliver(sessions, a->serial, "3", true, "of nobody");
    deliver(sessions, a->serial, NULL, false, "of no request");
    deliver(sessions, b->serial, "1", true, "of another session");
    deliver(sessions, a->serial + HONE_LIMIT_HTTP_SESSIONS, "1", true, "of one that ended");
    ck_assert_int_eq(told.n_woken, 2);
    ck_assert_str_eq(hone_http_stream_next(first)->text, "progress");
    ck_assert(!first->is_done && second->is_done);
    ck_assert_str_eq(hone_http_stream_next(second)->text, "answer");
    second->n_shown = 1;
    ck_assert_ptr_null(hone_http_stream_next(second));
    struct hone_err err;
    struct hone_http_stream *again = NULL;
    ck_assert_int_eq(hone_http_stream_open(a, "1", &again, &err), HONE_E_ARG);
    hone_http_stream_leave(sessions, second);
    ck_assert_uint_eq(a->n_streams, 1);
    hone_http_end(sessions, a);
    ck_assert_int_eq(told.n_gone, 1);
    ck_assert_ptr_eq(told.last_gone, &one);
    hone_http_sessions_free(sessions);
}
END_TEST

/* A reader that went is no end: what can be asked for again is kept, all else goes. */
START_TEST(what_is_kept)
{
    struct hone_http_sessions *sessions = table_new();
    struct hone_http_session *session = session_at(sessions, 1);
    int reader;
    for (int resumable = 0; resumable < 2; resumable++) {
        struct hone_http_stream *stream = stream_of(session, "1", &reader);
        char id[40];
        stream->is_resumable = resumable == 1;
        snprintf(id, sizeof(id), "%llu-1", (unsigned long long)stream->number);
        deliver(sessions, session->serial, "1", false, "progress");
        hone_http_stream_leave(sessions, stream);
        ck_assert_uint_eq(session->n_streams, 1);
        deliver(sessions, session->serial, "1", true, "answer");
        ck_assert_uint_eq(session->n_streams, (size_t)resumable);
        stream = hone_http_stream_resume(session, id);
        ck_assert((stream != NULL) == (resumable == 1));
        if (stream == NULL)
            continue;
        ck_assert_str_eq(hone_http_stream_next(stream)->text, "answer");
        stream->n_shown = 2;
        hone_http_stream_leave(sessions, stream);
        ck_assert_uint_eq(session->n_streams, 0);
    }
    static const char *const bad[] = {"", "1", "1-", "-1", "1-1x", "x-1", "1-999", "77-0"};
    stream_of(session, "2", &reader)->is_resumable = true;
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++)
        ck_assert_msg(hone_http_stream_resume(session, bad[i]) == NULL, "%s", bad[i]);
    hone_http_cancelled(sessions, session, "2");
    hone_http_cancelled(sessions, session, "99");
    ck_assert(session->streams->is_done);
    hone_http_sessions_free(sessions);
}
END_TEST

START_TEST(limits)
{
    struct hone_http_sessions *sessions = table_new();
    struct hone_http_session *busy = session_at(sessions, 0);
    struct hone_http_stream *stream = stream_of(busy, "0", &told);
    struct hone_err err;
    char id[20];
    for (int i = 1; i < HONE_LIMIT_CALLS_PER_CONN; i++) {
        snprintf(id, sizeof(id), "%d", i);
        stream_of(busy, id, &told);
    }
    struct hone_http_stream *one_more = NULL;
    ck_assert_int_eq(hone_http_stream_open(busy, "x", &one_more, &err), HONE_E_LIMIT);
    for (int i = 0; i < 2 * HONE_HTTP_MAX_TEXTS; i++)
        deliver(sessions, busy->serial, "0", false, "progress");
    ck_assert_uint_eq(stream->n_events, HONE_HTTP_MAX_TEXTS);
    ck_assert_uint_eq(hone_http_stream_next(stream)->seq, HONE_HTTP_MAX_TEXTS + 1);
    /* the busy one stays, the one that is idle longest goes */
    struct hone_http_session *second = session_at(sessions, 1);
    char second_id[HONE_HTTP_ID_BYTES];
    memcpy(second_id, second->id, sizeof(second_id));
    for (int i = 2; i <= HONE_LIMIT_HTTP_SESSIONS; i++)
        session_at(sessions, i);
    ck_assert_ptr_null(hone_http_find(sessions, second_id, 0));
    ck_assert_ptr_eq(hone_http_find(sessions, busy->id, 0), busy);
    /* all others after an hour */
    session_at(sessions, HONE_HTTP_IDLE_NS + HONE_LIMIT_HTTP_SESSIONS + 1);
    ck_assert_ptr_eq(hone_http_find(sessions, busy->id, 0), busy);
    hone_http_sessions_free(sessions);
}
END_TEST

UNIT_MAIN("http_sessions", messages_find_their_stream, what_is_kept, limits)
