/* SPDX-License-Identifier: Apache-2.0 */
/* Model clients against a local server that plays a model, a good one and many bad ones: each case
 * ends with the right answer or the right typed error, inside its deadline. */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agents/model/model.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define KEY "sk-test-0123456789abcdef"

/* ---- the server ---- */

struct server {
    int fd, port;
    pthread_t thread;
    atomic_int n_requests;
    const struct play *play;
    char last[1 << 16]; /* the last request; read after the call */
};

struct play { /* what is answered to request 1, 2, ...; the last one stands for all that follow */
    void (*turn[4])(struct server *s, int fd);
};

static void say(int fd, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

static void say_head(int fd, const char *status, const char *type, const char *more)
{
    HONE_AUTOFREE char *head = hone_sprintf("HTTP/1.1 %s\r\nContent-Type: %s\r\n%sConnection: "
                                            "close\r\n\r\n",
                                            status, type, more);
    say(fd, head);
}

/* Until the peer goes away, or a while. */
static void hold(int fd, int ms)
{
    char byte;
    struct timeval t = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
    while (recv(fd, &byte, 1, 0) > 0)
        continue;
}

static bool read_request(struct server *s, int fd)
{
    size_t n = 0;
    while (n + 1 < sizeof(s->last)) {
        ssize_t got = recv(fd, s->last + n, sizeof(s->last) - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        s->last[n] = '\0';
        const char *end = strstr(s->last, "\r\n\r\n");
        const char *length = strstr(s->last, "Content-Length: ");
        if (end && length && n >= (size_t)(end + 4 - s->last) + strtoul(length + 16, NULL, 10))
            return true;
    }
    return false;
}

static void *serve(void *arg)
{
    struct server *s = arg;
    for (;;) {
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        if (read_request(s, fd)) {
            int n = atomic_fetch_add(&s->n_requests, 1);
            int last = 0;
            while (last + 1 < 4 && s->play->turn[last + 1])
                last++;
            s->play->turn[n < last ? n : last](s, fd);
        }
        close(fd);
    }
}

static void start(struct server *s, const struct play *play)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    s->play = play;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
    ck_assert_int_eq(listen(s->fd, 16), 0);
    ck_assert_int_eq(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
    s->port = ntohs(at.sin_port);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void end(struct server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

/* ---- what it plays ---- */

static const char good_openai[] =
    ": a comment\n\n"
    "data: {\"id\":\"c1\",\"model\":\"m-1\",\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":2,"
    "\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n"
    "data: [DONE]\n\n";
static const char good_anthropic[] =
    "event: message_start\n"
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"cl-1\","
    "\"usage\":{\"input_tokens\":4,\"cache_read_input_tokens\":10,\"cache_creation_input_tokens\":"
    "6,"
    "\"output_tokens\":1}}}\n\n"
    "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    "event: content_block_delta\n"
    "data: "
    "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}"
    "\n\n"
    "event: message_delta\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},"
    "\"usage\":{\"output_tokens\":2}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

static void play_good(struct server *s, int fd)
{
    say_head(fd, "200 OK", "text/event-stream; charset=utf-8", "x-request-id: req-7\r\n");
    say(fd, strstr(s->last, "POST /v1/messages") ? good_anthropic : good_openai);
}

static void play_bytewise(struct server *s, int fd) /* every event in pieces */
{
    const char *text = strstr(s->last, "POST /v1/messages") ? good_anthropic : good_openai;
    say_head(fd, "200 OK", "text/event-stream", "");
    for (; *text; text++)
        say(fd, (char[]){*text, '\0'});
}

static void play_whole(struct server *s, int fd) /* did not heed "stream" */
{
    say_head(fd, "200 OK", "application/json", "");
    say(fd,
        strstr(s->last, "POST /v1/messages")
            ? "{\"id\":\"m\",\"model\":\"cl-1\",\"content\":[{\"type\":\"text\",\"text\":"
              "\"Hello\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":20,"
              "\"output_tokens\":2}}"
            : "{\"id\":\"c\",\"model\":\"m-1\",\"choices\":[{\"message\":{\"content\":\"Hello\"},"
              "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":20,"
              "\"completion_tokens\":2}}");
}

static void play_repeats_key(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "application/json", "");
    say(fd,
        "{\"id\":\"c\",\"model\":\"m-1\",\"choices\":[{\"message\":{\"content\":\"your key is " KEY
        "\"},\"finish_reason\":\"stop\"}]}");
}

static void play_rate(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "429 Too Many Requests", "application/json", "Retry-After: 1\r\n");
    say(fd, "{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down, " KEY "\"}}");
}

static void play_rate_date(struct server *s, int fd)
{
    char date[64];
    time_t then = time(NULL) + 2;
    struct tm tm;
    (void)s;
    strftime(date, sizeof(date), "Retry-After: %a, %d %b %Y %H:%M:%S GMT\r\n",
             gmtime_r(&then, &tm));
    say_head(fd, "429 Too Many Requests", "application/json", date);
}

static void play_rate_long(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "429 Too Many Requests", "text/plain", "Retry-After: 3600\r\n");
}

static void play_quota(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "429 Too Many Requests", "application/json", "");
    say(fd, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"no money\"}}");
}

static void play_500(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "500 Internal Server Error", "text/html", "");
    say(fd, "<html>\x1b[31moops</html>");
}

static void play_401(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "401 Unauthorized", "application/json", "");
    say(fd, "{\"error\":{\"message\":\"Incorrect API key provided: " KEY "\"}}");
}

static void play_400(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "400 Bad Request", "application/json", "");
    say(fd, "{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"too long\"}}");
}

static void play_overloaded_event(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "text/event-stream", "");
    say(fd, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
            "\"message\":\"Overloaded\"}}\n\n");
}

static void play_malformed(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "text/event-stream", "");
    say(fd, "data: {\"choices\":[{\"delta\":{\"content\":\n\ndata: {]\n\n");
}

static void play_malformed_whole(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "application/json", "");
    say(fd, "{\"choices\":");
}

static void play_truncated(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "text/event-stream", "");
    say(fd, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n");
}

static void play_reset(struct server *s, int fd)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    play_truncated(s, fd);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

static void play_hang_up(struct server *s, int fd)
{
    (void)s;
    (void)fd;
}

static void play_html(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "text/html", "");
    say(fd, "<html>a portal</html>");
}

static void play_redirect(struct server *s, int fd)
{
    HONE_AUTOFREE char *to =
        hone_sprintf("Location: http://127.0.0.1:%d/v1/elsewhere\r\n", s->port);
    say_head(fd, "307 Temporary Redirect", "text/plain", to);
}

static void play_silent(struct server *s, int fd) /* takes the request, says nothing */
{
    (void)s;
    hold(fd, 20000);
}

static void play_stalls(struct server *s, int fd)
{
    play_truncated(s, fd);
    hold(fd, 20000);
}

static void play_drips(struct server *s, int fd) /* never idle, never done */
{
    (void)s;
    say_head(fd, "200 OK", "text/event-stream", "");
    for (int i = 0; i < 2000; i++) {
        say(fd, ": still here\n\n");
        hold(fd, 10);
    }
}

static void play_endless(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "text/event-stream", "");
    HONE_AUTOFREE char *text = hone_malloc(60001);
    memset(text, 'x', 60000);
    text[60000] = '\0';
    HONE_AUTOFREE char *event =
        hone_sprintf("data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n", text);
    for (int i = 0; i < 1000; i++)
        say(fd, event);
}

static void play_long_line(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "text/event-stream", "");
    HONE_AUTOFREE char *text = hone_malloc(60001);
    memset(text, 'x', 60000);
    text[60000] = '\0';
    for (int i = 0; i < 1000; i++)
        say(fd, text);
}

static void play_headers(struct server *s, int fd)
{
    (void)s;
    say(fd, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 20000; i++)
        say(fd, "X-Filler: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n");
}

static void play_empty(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "text/event-stream", "");
    say(fd, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
}

static void play_wrong_counts(struct server *s, int fd)
{
    (void)s;
    say_head(fd, "200 OK", "application/json", "");
    say(fd, "{\"choices\":[{\"message\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}],"
            "\"usage\":{\"prompt_tokens\":900000000000,\"completion_tokens\":-5,"
            "\"prompt_tokens_details\":{\"cached_tokens\":77}}}");
}

/* ---- asking ---- */

struct outcome {
    int rc;
    struct hone_err err;
    struct hone_model_answer answer;
    int64_t wall_ms;
    int n_requests;
    struct hone_pool *pool;
    char last[1 << 16];
};

static const char *const stable[] = {"You are terse.", "Rules: none."};
static const struct hone_model_message hello = {"user", "Say hello."};

static struct hone_model_request request_in(int64_t ms)
{
    return (struct hone_model_request){.stable = stable,
                                       .n_stable = 2,
                                       .messages = &hello,
                                       .n_messages = 1,
                                       .max_tokens = 100,
                                       .temperature = 0.5,
                                       .deadline_ns = hone_deadline_in_ms(ms)};
}

static void ask_with(const char *provider, const char *more, const struct play *play, int64_t ms,
                     struct outcome *ret)
{
    struct server *s = hone_calloc(1, sizeof(*s));
    struct hone_config config = {.model = NULL};
    struct hone_model *model = NULL;
    *ret = (struct outcome){.pool = hone_pool_new(), .err = HONE_ERR_INIT};
    start(s, play);
    ck_assert_int_eq(setenv("HONE_TEST_KEY", KEY, 1), 0);
    HONE_AUTOFREE char *text = hone_sprintf(
        "{\"models\":[{\"name\":\"m\",\"provider\":\"%s\",\"url\":\"http://127.0.0.1:%d/v1/\","
        "\"key_env\":\"HONE_TEST_KEY\",\"price_in\":1,\"price_out\":10,\"price_cached\":0.1,"
        "\"price_written\":2,\"idle_ms\":700,\"tries\":3%s}]}",
        provider, s->port, more);
    ck_assert_msg(hone_config_parse("test", text, strlen(text), ret->pool, &config, &ret->err) == 0,
                  "%s %s", ret->err.path, ret->err.message);
    ck_assert_msg(hone_model_open(&config, NULL, &model, &ret->err) == 0, "%s", ret->err.message);
    const struct hone_model_request q = request_in(ms);
    int64_t begin = hone_now_ns();
    ret->rc = hone_model_ask(model, &q, ret->pool, &ret->answer, &ret->err);
    ret->wall_ms = (hone_now_ns() - begin) / HONE_NS_PER_MS;
    hone_model_free(model);
    end(s);
    ret->n_requests = atomic_load(&s->n_requests);
    memcpy(ret->last, s->last, sizeof(s->last));
    free(s);
}

static void done(struct outcome *o)
{
    hone_pool_free(o->pool);
    free(o);
}

static const struct {
    const char *name;
    struct play play;
    int64_t deadline_ms;
    const char *want; /* fault; NULL: the answer "Hello" */
    int requests;     /* 0: any */
    int64_t max_ms;
} cases[] = {
    {"good", {{play_good}}, 9000, NULL, 1, 5000},
    {"byte by byte", {{play_bytewise}}, 20000, NULL, 1, 15000},
    {"in one piece", {{play_whole}}, 9000, NULL, 1, 5000},
    {"rate limit, then good", {{play_rate, play_good}}, 9000, NULL, 2, 8000},
    {"retry-after as a date", {{play_rate_date, play_good}}, 9000, NULL, 2, 8000},
    {"retry-after beyond the deadline", {{play_rate_long}}, 5000, "rate_limited", 1, 3000},
    {"quota", {{play_quota}}, 9000, "no_money", 1, 3000},
    {"500 twice, then good", {{play_500, play_500, play_good}}, 9000, NULL, 3, 9000},
    {"500 for ever", {{play_500}}, 9000, "server_error", 3, 9000},
    {"500, short deadline", {{play_500}}, 400, "server_error", 1, 1500},
    {"bad key", {{play_401}}, 9000, "auth", 1, 3000},
    {"prompt too long", {{play_400}}, 9000, "prompt_too_long", 1, 3000},
    {"error event, then good", {{play_overloaded_event, play_good}}, 9000, NULL, 2, 8000},
    {"malformed, then good", {{play_malformed, play_good}}, 9000, NULL, 2, 8000},
    {"malformed for ever", {{play_malformed}}, 9000, "malformed", 2, 9000},
    {"malformed in one piece", {{play_malformed_whole}}, 9000, "malformed", 2, 9000},
    {"truncated", {{play_truncated}}, 9000, "cut_off", 2, 9000},
    {"reset, then good", {{play_reset, play_good}}, 9000, NULL, 2, 8000},
    {"hangs up", {{play_hang_up, play_good}}, 9000, NULL, 2, 8000},
    {"wrong content type", {{play_html}}, 9000, "content_type", 1, 3000},
    {"redirect", {{play_redirect}}, 9000, "redirect", 1, 3000},
    {"silent, then good", {{play_silent, play_good}}, 9000, NULL, 2, 8000},
    {"stalls", {{play_stalls}}, 2500, "timeout", 0, 4000},
    {"silent to the deadline", {{play_silent}}, 500, "timeout", 1, 1500},
    {"drips", {{play_drips}}, 1500, "timeout", 1, 3000},
    {"endless", {{play_endless}}, 20000, "answer_too_large", 1, 15000},
    {"endless line", {{play_long_line}}, 20000, "answer_too_large", 1, 15000},
    {"endless headers", {{play_headers}}, 20000, "answer_too_large", 1, 15000},
    {"empty", {{play_empty}}, 9000, "empty", 2, 9000},
    {"wrong counts", {{play_wrong_counts}}, 9000, NULL, 1, 5000},
};

START_TEST(every_case_ends_well)
{
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct outcome *o = hone_calloc(1, sizeof(*o));
        ask_with("openai", "", &cases[i].play, cases[i].deadline_ms, o);
        if (cases[i].want) {
            ck_assert_msg(o->rc < 0, "%s: it answered", cases[i].name);
            ck_assert_msg(
                strcmp(hone_model_faults[hone_model_fault_of(&o->err)].name, cases[i].want) == 0,
                "%s: %s", cases[i].name, o->err.message);
            ck_assert_int_eq(o->rc, hone_model_faults[hone_model_fault_of(&o->err)].code);
        } else {
            ck_assert_msg(o->rc == 0, "%s: %s", cases[i].name, o->err.message);
            ck_assert_str_eq(o->answer.text, "Hello");
        }
        ck_assert_msg(!strstr(o->err.message, KEY) && !strchr(o->err.message, 27), "%s: %s",
                      cases[i].name, o->err.message);
        ck_assert_msg(cases[i].requests == 0 || o->n_requests == cases[i].requests,
                      "%s: %d requests", cases[i].name, o->n_requests);
        ck_assert_msg(o->wall_ms <= cases[i].max_ms, "%s: %lld ms", cases[i].name,
                      (long long)o->wall_ms);
        done(o);
    }
}
END_TEST

START_TEST(openai_request_and_counts)
{
    struct outcome *o = hone_calloc(1, sizeof(*o));
    ask_with("openai", ",\"model\":\"real-name\"", &(struct play){{play_good}}, 9000, o);
    ck_assert_int_eq(o->rc, 0);
    ck_assert_ptr_nonnull(strstr(o->last, "POST /v1/chat/completions HTTP/1.1\r\n"));
    ck_assert_ptr_nonnull(strstr(o->last, "Authorization: Bearer " KEY "\r\n"));
    ck_assert_ptr_nonnull(strstr(o->last, "\"model\":\"real-name\""));
    ck_assert_ptr_nonnull(strstr(o->last, "\"content\":\"You are terse.\\n\\nRules: none.\""));
    ck_assert_ptr_nonnull(strstr(o->last, "\"max_tokens\":100"));
    ck_assert_str_eq(o->answer.stop_reason, "end");
    ck_assert_str_eq(o->answer.model, "m-1");
    ck_assert_str_eq(o->answer.answered_by, "m");
    ck_assert_str_eq(o->answer.request_id, "req-7");
    ck_assert_int_eq(o->answer.tokens_in, 20);
    ck_assert_int_eq(o->answer.tokens_out, 2);
    ck_assert_int_eq(o->answer.tokens_cached, 8);
    ck_assert(!o->answer.is_estimated);
    ck_assert_double_eq_tol(o->answer.cost, (12 * 1 + 8 * 0.1 + 2 * 10) / 1e6, 1e-12);
    done(o);
}
END_TEST

START_TEST(a_key_that_is_repeated_is_not_kept)
{
    struct outcome *o = hone_calloc(1, sizeof(*o));
    ask_with("openai", "", &(struct play){{play_repeats_key}}, 9000, o);
    ck_assert_int_eq(o->rc, 0);
    ck_assert_ptr_null(strstr(o->answer.text, KEY));
    ck_assert_ptr_nonnull(strstr(o->answer.text, "your key is ****"));
    done(o);
}
END_TEST

START_TEST(anthropic_request_and_counts)
{
    static const struct play plays[] = {{{play_good}}, {{play_bytewise}}};
    for (size_t i = 0; i < 2; i++) {
        struct outcome *o = hone_calloc(1, sizeof(*o));
        ask_with("anthropic", "", &plays[i], 20000, o);
        ck_assert_msg(o->rc == 0, "%s", o->err.message);
        ck_assert_ptr_nonnull(strstr(o->last, "POST /v1/messages HTTP/1.1\r\n"));
        ck_assert_ptr_nonnull(strstr(o->last, "x-api-key: " KEY "\r\n"));
        ck_assert_ptr_nonnull(strstr(o->last, "anthropic-version: 2023-06-01\r\n"));
        ck_assert_ptr_nonnull(strstr(o->last, "\"text\":\"Rules: none.\",\"cache_control\""));
        ck_assert_str_eq(o->answer.text, "Hello");
        ck_assert_str_eq(o->answer.stop_reason, "length");
        ck_assert_int_eq(o->answer.tokens_in, 20);
        ck_assert_int_eq(o->answer.tokens_out, 2);
        ck_assert_int_eq(o->answer.tokens_cached, 10);
        ck_assert_int_eq(o->answer.tokens_written, 6);
        ck_assert_double_eq_tol(o->answer.cost, (4 + 10 * 0.1 + 6 * 2 + 2 * 10) / 1e6, 1e-12);
        done(o);
    }
}
END_TEST

START_TEST(broken_tries_are_paid_for)
{
    struct outcome *o = hone_calloc(1, sizeof(*o));
    ask_with("openai", "", &(struct play){{play_truncated, play_good}}, 9000, o);
    ck_assert_int_eq(o->rc, 0);
    ck_assert_int_eq(o->answer.n_tries, 2);
    ck_assert_double_gt(o->answer.cost, (12 * 1 + 8 * 0.1 + 2 * 10) / 1e6 + 100 * 10 / 1e6);
    done(o);
}
END_TEST

START_TEST(wrong_counts_are_estimated)
{
    struct outcome *o = hone_calloc(1, sizeof(*o));
    ask_with("openai", "", &(struct play){{play_wrong_counts}}, 9000, o);
    ck_assert_int_eq(o->rc, 0);
    ck_assert(o->answer.is_estimated);
    ck_assert_int_gt(o->answer.tokens_in, 0);
    ck_assert_int_lt(o->answer.tokens_in, 1000);
    ck_assert_int_eq(o->answer.tokens_cached, 0);
    ck_assert_int_gt(o->answer.tokens_out, 0);
    done(o);
}
END_TEST

static void *cancel_soon(void *arg)
{
    struct timespec t = {.tv_nsec = 200000000};
    nanosleep(&t, NULL);
    hone_cancel_set(arg);
    return NULL;
}

START_TEST(cancel_ends_a_request_at_once)
{
    static const struct play plays[] = {{{play_silent}}, {{play_rate_long}}};
    for (size_t i = 0; i < 2; i++) {
        struct server *s = hone_calloc(1, sizeof(*s));
        struct hone_config config = {.model = NULL};
        struct hone_cancel cancel;
        struct hone_model *model = NULL;
        struct hone_err err = HONE_ERR_INIT;
        struct hone_model_answer answer;
        pthread_t thread;
        struct hone_pool *pool = hone_pool_new();
        start(s, &plays[i]);
        HONE_AUTOFREE char *text = hone_sprintf("{\"models\":[{\"name\":\"m\",\"provider\":"
                                                "\"openai\",\"url\":\"http://localhost:%d\"}]}",
                                                s->port);
        ck_assert_int_eq(hone_config_parse("t", text, strlen(text), pool, &config, &err), 0);
        ck_assert_int_eq(hone_model_open(&config, NULL, &model, &err), 0);
        ck_assert_int_eq(hone_cancel_init(&cancel, &err), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
        struct hone_model_request q = request_in(7200000);
        q.cancel = &cancel;
        int64_t begin = hone_now_ns();
        ck_assert_int_eq(hone_model_ask(model, &q, pool, &answer, &err), HONE_E_CANCEL);
        ck_assert_int_lt((hone_now_ns() - begin) / HONE_NS_PER_MS, 2000);
        pthread_join(thread, NULL);
        hone_model_free(model);
        end(s);
        free(s);
        hone_cancel_done(&cancel);
        hone_pool_free(pool);
    }
}
END_TEST

START_TEST(the_fallback_answers_and_all_is_replayed)
{
    struct server *bad = hone_calloc(1, sizeof(*bad)), *good = hone_calloc(1, sizeof(*good));
    struct hone_config config = {.model = NULL};
    struct hone_model *model = NULL, *again = NULL;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_model_answer a, b;
    struct hone_pool *pool = hone_pool_new();
    char dir[] = "/tmp/hone-model-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    start(bad, &(struct play){{play_401}});
    start(good, &(struct play){{play_good}});
    HONE_AUTOFREE char *text = hone_sprintf(
        "{\"model\":\"bad\",\"models\":["
        "{\"name\":\"bad\",\"provider\":\"openai\",\"url\":\"http://127.0.0.1:%d/v1\",\"fallback\":"
        "\"good\",\"record\":\"%s/r.jsonl\"},"
        "{\"name\":\"good\",\"provider\":\"openai\",\"url\":\"http://127.0.0.1:%d/"
        "v1\",\"price_in\":"
        "1,\"price_out\":3},"
        "{\"name\":\"again\",\"provider\":\"replay\",\"file\":\"%s/r.jsonl\"}]}",
        bad->port, dir, good->port, dir);
    ck_assert_msg(hone_config_parse("t", text, strlen(text), pool, &config, &err) == 0, "%s",
                  err.message);
    ck_assert_int_eq(hone_model_open(&config, NULL, &model, &err), 0);
    ck_assert(!hone_model_has_price(model));
    const struct hone_model_request q = request_in(9000);
    ck_assert_msg(hone_model_ask(model, &q, pool, &a, &err) == 0, "%s", err.message);
    ck_assert_str_eq(a.answered_by, "good");
    ck_assert_int_eq(a.n_tries, 2);
    ck_assert_msg(hone_model_open(&config, "again", &again, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_model_ask(again, &q, pool, &b, &err) == 0, "%s", err.message);
    ck_assert_str_eq(a.text, b.text);
    ck_assert_str_eq(a.request_id, b.request_id);
    ck_assert_str_eq(a.stop_reason, b.stop_reason);
    ck_assert_str_eq(a.model, b.model);
    ck_assert_int_eq(a.tokens_in, b.tokens_in);
    ck_assert_int_eq(a.tokens_out, b.tokens_out);
    ck_assert_int_eq(a.latency_ms, b.latency_ms);
    ck_assert_mem_eq(&a.cost, &b.cost, sizeof(a.cost));
    ck_assert_int_eq(hone_model_ask(again, &q, pool, &b, &err), HONE_E_NOT_FOUND);
    ck_assert_str_eq(hone_model_faults[hone_model_fault_of(&err)].name, "not_recorded");
    hone_model_free(model);
    hone_model_free(again);
    end(bad);
    end(good);
    free(bad);
    free(good);
    hone_remove_tree(dir, NULL);
    hone_pool_free(pool);
}
END_TEST

START_TEST(nobody_there)
{
    struct outcome *o = hone_calloc(1, sizeof(*o));
    struct hone_config config = {.model = NULL};
    struct hone_model *model = NULL;
    o->pool = hone_pool_new();
    static const char text[] = "{\"models\":[{\"name\":\"m\",\"provider\":\"openai\",\"url\":"
                               "\"http://127.0.0.1:9/v1\",\"tries\":2}]}";
    ck_assert_int_eq(hone_config_parse("t", text, strlen(text), o->pool, &config, &o->err), 0);
    ck_assert_int_eq(hone_model_open(&config, NULL, &model, &o->err), 0);
    const struct hone_model_request q = request_in(5000);
    ck_assert_int_eq(hone_model_ask(model, &q, o->pool, &o->answer, &o->err), HONE_E_IO);
    ck_assert_str_eq(hone_model_faults[hone_model_fault_of(&o->err)].name, "unreachable");
    hone_model_free(model);
    done(o);
}
END_TEST

UNIT_MAIN("model", every_case_ends_well, openai_request_and_counts,
          a_key_that_is_repeated_is_not_kept, anthropic_request_and_counts,
          broken_tries_are_paid_for, wrong_counts_are_estimated, cancel_ends_a_request_at_once,
          the_fallback_answers_and_all_is_replayed, nobody_there)
