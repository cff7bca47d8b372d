/* SPDX-License-Identifier: Apache-2.0 */
/* A connection without a socket and without a protocol: one answer to each request, in every order
 * of answering, cancelling, forgetting and closing. The handler is the test's own. */
#include "server/rpc/peer.h"

#include <pthread.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

enum { MOST = 256 };

struct rig {
    struct hone_workers *parsers;
    struct hone_peer *peer;
    pthread_mutex_t lock;
    char *sent[MOST]; /* lock */
    size_t n_sent;    /* lock */
    struct hone_call *held[MOST];
    size_t n_held, n_notified, n_closed;
    char methods[MOST]; /* first letters, in the order in which they came */
    size_t n_methods;
    bool allows_batch, was_dropped;
};

static void keep(void *arg, uint64_t serial, const struct hone_peer_text *message)
{
    char *text = message->text;
    size_t len = message->len;
    struct rig *rig = arg;
    ck_assert_uint_eq(serial, 7);
    ck_assert_uint_eq(strlen(text), len);
    ck_assert_ptr_null(strchr(text, '\n'));
    pthread_mutex_lock(&rig->lock);
    ck_assert_uint_lt(rig->n_sent, MOST);
    rig->sent[rig->n_sent++] = text;
    pthread_mutex_unlock(&rig->lock);
}

static void drop(void *arg, uint64_t serial, const char *why)
{
    struct rig *rig = arg;
    ck_assert_uint_eq(serial, 7);
    ck_assert_uint_gt(strlen(why), 0);
    rig->was_dropped = true;
}

static void *on_open(const void *arg, struct hone_peer *peer)
{
    (void)peer;
    return *(struct rig *const *)arg;
}

static void on_close(void *state)
{
    ((struct rig *)state)->n_closed++;
}

/* "answer": at once; "fail"; "hold": later; "forget": never. */
static void on_request(void *state, struct hone_call *call, const char *method,
                       const struct hone_json *params)
{
    struct rig *rig = state;
    (void)params;
    if (rig->n_methods < MOST)
        rig->methods[rig->n_methods++] = method[0];
    if (strcmp(method, "answer") == 0)
        hone_call_result(call, "{\"is\":\"answered\"}");
    else if (strcmp(method, "fail") == 0)
        hone_call_error(call, HONE_RPC_PARAMS, "no %s", "\"such\" thing");
    else if (strcmp(method, "hold") == 0)
        rig->held[rig->n_held++] = hone_call_ref(call);
}

static void on_notification(void *state, const char *method, const struct hone_json *params)
{
    (void)method;
    (void)params;
    ((struct rig *)state)->n_notified++;
}

static bool allows_batch(void *state)
{
    return ((struct rig *)state)->allows_batch;
}

static const struct hone_transport transport = {.send = keep, .drop = drop};
static const struct hone_handler handler = {.open = on_open,
                                            .close = on_close,
                                            .on_request = on_request,
                                            .on_notification = on_notification,
                                            .allows_batch = allows_batch};

static void rig_open(struct rig *rig, struct rig **self)
{
    *rig = (struct rig){.parsers = hone_workers_new(1, 16)};
    *self = rig;
    pthread_mutex_init(&rig->lock, NULL);
    struct hone_peer_spec spec = {.transport = &transport,
                                  .transport_arg = rig,
                                  .serial = 7,
                                  .handler = &handler,
                                  .handler_arg = self,
                                  .parsers = rig->parsers};
    rig->peer = hone_peer_new(&spec);
}

static void rig_close(struct rig *rig)
{
    if (rig->peer != NULL)
        hone_peer_close(rig->peer);
    for (size_t i = 0; i < rig->n_held; i++)
        if (rig->held[i] != NULL)
            hone_call_unref(rig->held[i]);
    ck_assert(hone_workers_stop(rig->parsers, hone_deadline_in_ms(60000)));
    hone_workers_free(rig->parsers);
    ck_assert_uint_eq(rig->n_closed, 1); /* once, after the last call is gone */
    for (size_t i = 0; i < rig->n_sent; i++)
        free(rig->sent[i]);
}

static void say(struct rig *rig, const char *text)
{
    hone_peer_receive(rig->peer, text, strlen(text));
}

START_TEST(answers_keep_their_ids)
{
    static const char *const ids[] = {"1", "\"1\"", "0", "-9007199254740992", "\"a \\\"b\\\"\""};
    struct rig rig, *self;
    rig_open(&rig, &self);
    for (size_t i = 0; i < HONE_COUNTOF(ids); i++) {
        char text[200], want[200];
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"answer\"}",
                 ids[i]);
        snprintf(want, sizeof want, "\"id\":%s", ids[i]);
        say(&rig, text);
        ck_assert_uint_eq(rig.n_sent, i + 1);
        ck_assert_msg(strstr(rig.sent[i], want) != NULL, "%s lacks %s", rig.sent[i], want);
    }
    rig_close(&rig);
}
END_TEST

START_TEST(the_first_answer_wins)
{
    struct rig rig, *self;
    rig_open(&rig, &self);
    say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"hold\"}");
    ck_assert_uint_eq(rig.n_sent, 0);
    hone_call_notify(rig.held[0], "progress", "{\"n\":1}");
    ck_assert_uint_eq(rig.n_sent, 1);
    hone_call_result(rig.held[0], "{\"n\":1}");
    hone_call_result(rig.held[0], "{\"n\":2}");
    hone_call_error(rig.held[0], HONE_RPC_INTERNAL, "late");
    hone_call_notify(rig.held[0], "progress", "{\"n\":2}"); /* nothing behind the answer */
    ck_assert_uint_eq(rig.n_sent, 2);
    ck_assert_ptr_nonnull(strstr(rig.sent[1], "{\"n\":1}"));
    rig_close(&rig);
}
END_TEST

START_TEST(forgotten_calls_are_answered)
{
    struct rig rig, *self;
    rig_open(&rig, &self);
    say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"forget\"}");
    ck_assert_uint_eq(rig.n_sent, 1);
    ck_assert_ptr_nonnull(strstr(rig.sent[0], "-32603"));
    say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"fail\"}");
    ck_assert_ptr_nonnull(strstr(rig.sent[1], "-32602"));
    ck_assert_ptr_nonnull(strstr(rig.sent[1], "\\\"such\\\""));
    ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(60000)));
    rig_close(&rig);
}
END_TEST

START_TEST(cancelled_calls_are_silent)
{
    struct rig rig, *self;
    struct hone_err err = HONE_ERR_INIT;
    rig_open(&rig, &self);
    say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"hold\"}");
    say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"hold\"}");
    const struct hone_cancel *flag = hone_call_cancel(rig.held[0], &err);
    ck_assert_ptr_nonnull(flag);
    hone_peer_cancel(rig.peer, "\"nobody\""); /* not known: ignored */
    ck_assert(!hone_cancel_is_set(flag));
    hone_peer_cancel(rig.peer, "\"x\"");
    ck_assert(hone_cancel_is_set(flag));
    hone_call_result(rig.held[0], "{}");
    ck_assert_uint_eq(rig.n_sent, 0);
    ck_assert(!hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(1))); /* 6 is in flight */
    hone_call_result(rig.held[1], "{}");
    ck_assert_uint_eq(rig.n_sent, 1);
    ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(60000)));
    rig_close(&rig);
}
END_TEST

START_TEST(closing_cancels_and_silences)
{
    struct rig rig, *self;
    struct hone_err err = HONE_ERR_INIT;
    rig_open(&rig, &self);
    say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hold\"}");
    const struct hone_cancel *flag = hone_call_cancel(rig.held[0], &err);
    ck_assert_ptr_nonnull(flag);
    hone_peer_close(HONE_STEAL(rig.peer));
    ck_assert(hone_cancel_is_set(flag));
    ck_assert_uint_eq(rig.n_closed, 0); /* the held call keeps it */
    hone_call_result(rig.held[0], "{}");
    ck_assert_uint_eq(rig.n_sent, 0);
    rig_close(&rig);
}
END_TEST

START_TEST(bad_messages)
{
    static const struct {
        const char *text, *want; /* NULL: no answer */
    } rows[] = {
        {"{", "-32700"},
        {"\"text\"", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"answer\"}", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"answer\"}", "-32600"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"answer\"}", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notes\"}", NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notes\",\"params\":7}", NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}", NULL},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct rig rig, *self;
        rig_open(&rig, &self);
        say(&rig, rows[i].text);
        ck_assert_msg(rig.n_sent == (rows[i].want != NULL), "%s", rows[i].text);
        if (rows[i].want != NULL)
            ck_assert_msg(strstr(rig.sent[0], rows[i].want) != NULL, "%s", rig.sent[0]);
        rig_close(&rig);
    }
}
END_TEST

START_TEST(batches_answer_together)
{
    struct rig rig, *self;
    const char *batch = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"answer\"},"
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notes\"},"
                        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"hold\"},7]";
    rig_open(&rig, &self);
    say(&rig, batch); /* not allowed: one answer for all */
    ck_assert_uint_eq(rig.n_sent, 1);
    ck_assert_ptr_nonnull(strstr(rig.sent[0], "-32600"));
    ck_assert_uint_eq(rig.n_held, 0);
    rig.allows_batch = true;
    say(&rig, batch);
    ck_assert_uint_eq(rig.n_sent, 1); /* the held one is missing */
    ck_assert_uint_eq(rig.n_notified, 1);
    hone_call_result(rig.held[0], "{}");
    ck_assert_uint_eq(rig.n_sent, 2);
    ck_assert_int_eq(rig.sent[1][0], '[');
    ck_assert_ptr_nonnull(strstr(rig.sent[1], "\"id\":1"));
    ck_assert_ptr_nonnull(strstr(rig.sent[1], "\"id\":2"));
    ck_assert_ptr_nonnull(strstr(rig.sent[1], "-32600"));
    rig_close(&rig);
}
END_TEST

START_TEST(batches_are_bounded)
{
    for (size_t n = HONE_LIMIT_BATCH; n <= HONE_LIMIT_BATCH + 1; n++) {
        struct rig rig, *self;
        struct hone_buf text = {0};
        rig_open(&rig, &self);
        rig.allows_batch = true;
        for (size_t i = 0; i < n; i++)
            hone_buf_printf(&text, "%s{\"jsonrpc\":\"2.0\",\"method\":\"notes\"}",
                            i == 0 ? "[" : ",");
        hone_buf_str(&text, "]");
        hone_peer_receive(rig.peer, text.data, text.len);
        ck_assert_uint_eq(rig.n_notified, n <= HONE_LIMIT_BATCH ? n : 0);
        ck_assert_uint_eq(rig.n_sent, n > HONE_LIMIT_BATCH);
        hone_buf_done(&text);
        rig_close(&rig);
    }
}
END_TEST

/* A large message is looked at by a worker; what comes behind it waits its turn. */
START_TEST(order_is_kept_behind_a_large_message)
{
    struct rig rig, *self;
    rig_open(&rig, &self);
    for (int i = 0; i < 3; i++) {
        struct hone_buf text = {0};
        hone_buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":\"%d\",\"method\":\"hold\",", i);
        hone_buf_str(&text, "\"params\":{\"x\":\"");
        for (int k = 0; k < 20000; k++)
            hone_buf_str(&text, "0123456789");
        hone_buf_str(&text, "\"}}");
        hone_peer_receive(rig.peer, text.data, text.len);
        hone_buf_done(&text);
        say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"answer\"}");
    }
    int64_t end = hone_deadline_in_ms(60000);
    while (hone_now_ns() < end) {
        pthread_mutex_lock(&rig.lock);
        bool has_all = rig.n_sent == 3;
        pthread_mutex_unlock(&rig.lock);
        if (has_all)
            break;
    }
    ck_assert_uint_eq(rig.n_methods, 6);
    ck_assert_int_eq(memcmp(rig.methods, "hahaha", 6), 0);
    for (size_t i = 0; i < rig.n_held; i++)
        hone_call_result(rig.held[i], "{}");
    ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(60000)));
    rig_close(&rig);
}
END_TEST

UNIT_MAIN("peer", answers_keep_their_ids, the_first_answer_wins, forgotten_calls_are_answered,
          cancelled_calls_are_silent, closing_cancels_and_silences, bad_messages,
          batches_answer_together, batches_are_bounded, order_is_kept_behind_a_large_message)
