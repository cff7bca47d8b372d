/* SPDX-License-Identifier: Apache-2.0 */
/* Models over HTTP: one POST, the answer as server-sent events or in one piece, read by a dialect.
 *
 * The stream's end is judged by its content (a finish reason, a last event), not by the end of the
 * connection: a server that goes away in the middle has given no answer. */
#include "agents/model/model_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "workspace/base/clock.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

#define SHOWN_CHARS 160 /* of a provider's own words */

static const enum hone_model_fault fault_of_http[] = {
    [HONE_HTTP_CONNECT] = HONE_FAULT_CONNECT, [HONE_HTTP_TLS] = HONE_FAULT_TLS,
    [HONE_HTTP_SLOW] = HONE_FAULT_TIMEOUT,    [HONE_HTTP_DEADLINE] = HONE_FAULT_TIMEOUT,
    [HONE_HTTP_CUT] = HONE_FAULT_CUT,         [HONE_HTTP_LARGE] = HONE_FAULT_TOO_LARGE,
    [HONE_HTTP_CANCEL] = HONE_FAULT_CANCEL,   [HONE_HTTP_REFUSED] = HONE_FAULT_MALFORMED,
    [HONE_HTTP_BAD] = HONE_FAULT_REQUEST,
};

/* first..last of HTTP's numbers */
static const struct {
    long first, last;
    enum hone_model_fault fault;
} statuses[] = {
    {201, 299, HONE_FAULT_MALFORMED},  {300, 399, HONE_FAULT_REDIRECT},
    {401, 401, HONE_FAULT_AUTH},       {402, 402, HONE_FAULT_MONEY},
    {403, 403, HONE_FAULT_AUTH},       {404, 404, HONE_FAULT_NO_MODEL},
    {408, 408, HONE_FAULT_TIMEOUT},    {409, 409, HONE_FAULT_SERVER},
    {413, 413, HONE_FAULT_TOO_LONG},   {425, 425, HONE_FAULT_SERVER},
    {429, 429, HONE_FAULT_RATE},       {400, 499, HONE_FAULT_REQUEST},
    {503, 503, HONE_FAULT_OVERLOADED}, {529, 529, HONE_FAULT_OVERLOADED},
    {500, 599, HONE_FAULT_SERVER},
};

/* Words that providers use in an error's code or type. */
static const struct {
    const char *word;
    enum hone_model_fault fault;
} words[] = {
    {"insufficient_quota", HONE_FAULT_MONEY},
    {"billing_error", HONE_FAULT_MONEY},
    {"billing_hard_limit_reached", HONE_FAULT_MONEY},
    {"context_length_exceeded", HONE_FAULT_TOO_LONG},
    {"request_too_large", HONE_FAULT_TOO_LONG},
    {"model_not_found", HONE_FAULT_NO_MODEL},
    {"not_found_error", HONE_FAULT_NO_MODEL},
    {"invalid_api_key", HONE_FAULT_AUTH},
    {"authentication_error", HONE_FAULT_AUTH},
    {"permission_error", HONE_FAULT_AUTH},
    {"rate_limit_exceeded", HONE_FAULT_RATE},
    {"rate_limit_error", HONE_FAULT_RATE},
    {"overloaded_error", HONE_FAULT_OVERLOADED},
    {"api_error", HONE_FAULT_SERVER},
    {"server_error", HONE_FAULT_SERVER},
    {"timeout_error", HONE_FAULT_SERVER},
    {"content_filter", HONE_FAULT_REFUSED},
    {"invalid_request_error", HONE_FAULT_REQUEST},
};

static enum hone_model_fault fault_of_status(long status)
{
    for (size_t i = 0; i < HONE_COUNTOF(statuses); i++)
        if (status >= statuses[i].first && status <= statuses[i].last)
            return statuses[i].fault;
    return HONE_FAULT_MALFORMED;
}

static enum hone_model_fault fault_of_word(const char *word)
{
    for (size_t i = 0; word && i < HONE_COUNTOF(words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].fault;
    return HONE_FAULT_NONE;
}

static enum hone_model_fault fault_of_error(const struct hone_json *error)
{
    enum hone_model_fault fault = fault_of_word(hone_json_get_str(error, "code", NULL));
    return fault ? fault : fault_of_word(hone_json_get_str(error, "type", NULL));
}

/* What a provider says is shown, cut and harmless. */
static char *shown(const char *text)
{
    HONE_AUTOFREE char *copy = hone_strdup(text ? text : "");
    hone_utf8_defuse(copy, '?');
    for (char *c = copy; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    size_t len = strlen(copy);
    return hone_strndup(copy, len > SHOWN_CHARS ? hone_utf8_cut(copy, SHOWN_CHARS) : len);
}

/* An "error" object of a provider, in a stream or in an answer. */
static int fail_as_said(const struct hone_json *error, struct hone_err *err)
{
    enum hone_model_fault fault = fault_of_error(error);
    HONE_AUTOFREE char *text = shown(hone_json_get_str(error, "message", "no message"));
    return hone_model_fail(err, fault ? fault : HONE_FAULT_SERVER, "%s", text);
}

/* ---- the answer as it comes ---- */

static int on_event(void *arg, const char *name, const char *data, size_t len, struct hone_err *err)
{
    struct hone_model_stream *s = arg;
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_err cause = HONE_ERR_INIT;
    (void)name; /* each event's data has its type */
    if (s->dialect->last_data && strcmp(data, s->dialect->last_data) == 0) {
        s->is_over = true;
        return 0;
    }
    if (hone_json_parse(data, len, &json, &cause) < 0 || hone_json_type(json) != HONE_JSON_OBJECT)
        return hone_model_fail(err, HONE_FAULT_MALFORMED, "an event is no JSON object: %.120s",
                               cause.message);
    const struct hone_json *error = hone_json_get(json, "error");
    if (hone_json_type(error) == HONE_JSON_OBJECT)
        return fail_as_said(error, err);
    return s->dialect->event(s, json, err);
}

void hone_model_stream_init(struct hone_model_stream *s, const struct hone_model_dialect *dialect,
                            bool is_whole, struct hone_pool *pool)
{
    *s = (struct hone_model_stream){.dialect = dialect,
                                    .pool = pool,
                                    .is_whole = is_whole,
                                    .text = {.limit = HONE_LIMIT_MODEL_TEXT_BYTES},
                                    .whole = {.limit = HONE_LIMIT_MODEL_WIRE_BYTES},
                                    .tokens_in = -1,
                                    .tokens_out = -1,
                                    .tokens_cached = -1,
                                    .tokens_written = -1};
    hone_sse_init(&s->sse, on_event, s);
}

void hone_model_stream_done(struct hone_model_stream *s)
{
    hone_sse_done(&s->sse);
    hone_buf_done(&s->text);
    hone_buf_done(&s->whole);
}

int hone_model_stream_feed(struct hone_model_stream *s, const char *bytes, size_t len,
                           struct hone_err *err)
{
    struct hone_err cause = HONE_ERR_INIT;
    int r;
    if (s->is_whole) {
        hone_buf_add(&s->whole, bytes, len);
        r = hone_buf_check(&s->whole, &cause);
    } else {
        r = hone_sse_feed(&s->sse, bytes, len, &cause);
    }
    if (r == 0)
        return 0;
    if (hone_model_fault_of(&cause) != HONE_FAULT_NONE) {
        if (err)
            *err = cause;
        return r;
    }
    return hone_model_fail(err, HONE_FAULT_TOO_LARGE, "%.200s", cause.message);
}

static int read_whole(struct hone_model_stream *s, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_err cause = HONE_ERR_INIT;
    if (hone_json_parse(s->whole.data ? s->whole.data : "", s->whole.len, &json, &cause) < 0 ||
        hone_json_type(json) != HONE_JSON_OBJECT)
        return hone_model_fail(err, HONE_FAULT_MALFORMED, "the answer is no JSON object: %.120s",
                               cause.message);
    const struct hone_json *error = hone_json_get(json, "error");
    if (hone_json_type(error) == HONE_JSON_OBJECT)
        return fail_as_said(error, err);
    return s->dialect->whole(s, json, err);
}

int hone_model_stream_end(struct hone_model_stream *s, struct hone_model_answer *ret,
                          struct hone_err *err)
{
    int r = s->is_whole ? read_whole(s, err) : 0;
    if (r < 0)
        return r;
    if (!s->is_over)
        return hone_model_fail(err, HONE_FAULT_CUT,
                               "the answer ends in the middle (after %zu "
                               "bytes of text)",
                               s->text.len);
    if (strcmp(s->stop, "refused") == 0)
        return hone_model_fail(err, HONE_FAULT_REFUSED, "the model, or its filter, refused");
    if (s->text.len == 0)
        return hone_model_fail(err, HONE_FAULT_EMPTY, "the answer holds no text (stop reason %s)",
                               s->stop[0] ? s->stop : "unknown");
    *ret = (struct hone_model_answer){.text = hone_pool_strndup(s->pool, s->text.data, s->text.len),
                                      .stop_reason =
                                          hone_pool_strdup(s->pool, s->stop[0] ? s->stop : "end"),
                                      .model = hone_pool_strdup(s->pool, s->model),
                                      .request_id = hone_pool_strdup(s->pool, s->id),
                                      .tokens_in = s->tokens_in,
                                      .tokens_out = s->tokens_out,
                                      .tokens_cached = s->tokens_cached,
                                      .tokens_written = s->tokens_written};
    return 0;
}

int hone_model_stream_text(struct hone_model_stream *s, const char *text, struct hone_err *err)
{
    hone_buf_str(&s->text, text);
    if (s->text.has_failed)
        return hone_model_fail(err, HONE_FAULT_TOO_LARGE, "the answer has more than %u bytes",
                               HONE_LIMIT_MODEL_TEXT_BYTES);
    return 0;
}

void hone_model_stream_count(const struct hone_json *usage, const char *key, int64_t *ret)
{
    int64_t value;
    if (hone_json_as_i64(hone_json_get(usage, key), &value))
        *ret = value;
}

/* ---- one try ---- */

struct reading {
    struct hone_model_stream stream;
    bool has_stream;
    const struct hone_model_dialect *dialect;
    struct hone_pool *pool;
};

static int on_body(void *arg, const struct hone_http_answer *answer, const char *bytes, size_t len,
                   struct hone_err *err)
{
    struct reading *r = arg;
    if (!r->has_stream) {
        bool is_whole = strcmp(answer->content_type, "application/json") == 0;
        if (!is_whole && strcmp(answer->content_type, "text/event-stream") != 0) {
            HONE_AUTOFREE char *type = shown(answer->content_type);
            return hone_model_fail(err, HONE_FAULT_CONTENT_TYPE,
                                   "the answer is '%s', not text/event-stream or application/json; "
                                   "is the address right?",
                                   type);
        }
        hone_model_stream_init(&r->stream, r->dialect, is_whole, r->pool);
        r->has_stream = true;
    }
    return hone_model_stream_feed(&r->stream, bytes, len, err);
}

static int fail_status(const struct hone_http_answer *answer, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    enum hone_model_fault fault = fault_of_status(answer->status), said = HONE_FAULT_NONE;
    const char *message = answer->text;
    if (fault == HONE_FAULT_REDIRECT)
        return hone_model_fail(err, fault,
                               "HTTP %ld to '%.160s': redirects are not followed; "
                               "configure the final address",
                               answer->status, answer->location);
    if (answer->text && hone_json_parse(answer->text, strlen(answer->text), &json, NULL) == 0) {
        const struct hone_json *error = hone_json_get(json, "error");
        said = fault_of_error(error);
        message = hone_json_get_str(error, "message", hone_json_str(error));
    }
    /* the status says whether to try again; the words make it finer */
    if (said != HONE_FAULT_NONE && answer->status < 500)
        fault = said;
    HONE_AUTOFREE char *text = shown(message);
    return hone_model_fail(err, fault, "HTTP %ld%s%s", answer->status, text[0] ? ": " : "", text);
}

static int fail_way(const struct hone_http_answer *answer, const struct hone_err *cause,
                    struct hone_err *err)
{
    if (hone_model_fault_of(cause) != HONE_FAULT_NONE) {
        if (err)
            *err = *cause;
        return (int)cause->code;
    }
    enum hone_model_fault fault =
        answer->fault == HONE_HTTP_OK ? HONE_FAULT_LOCAL : fault_of_http[answer->fault];
    return hone_model_fail(err, fault, "%.300s", cause->message);
}

static char *endpoint(const struct hone_model_dialect *dialect, const struct hone_model_link *link)
{
    const char *base = link->config->url ? link->config->url : link->provider->default_url;
    size_t len = strlen(base);
    while (len > 0 && base[len - 1] == '/')
        len--;
    return hone_sprintf("%.*s%s", (int)len, base, dialect->path);
}

int hone_model_http_ask(const struct hone_model_dialect *dialect, struct hone_model_try *t,
                        struct hone_model_answer *ret, struct hone_err *err)
{
    const struct hone_model_config *config = t->link->config;
    HONE_AUTOJSON struct hone_json *body = dialect->body(t->link, t->request);
    HONE_AUTOFREE char *text = hone_json_print(body);
    HONE_AUTOFREE char *url = endpoint(dialect, t->link);
    struct reading reading = {.dialect = dialect, .pool = t->pool};
    struct hone_http_answer answer;
    struct hone_err cause = HONE_ERR_INIT;
    const struct hone_http_request request = {
        .url = url,
        .headers = dialect->headers,
        .secret_header = dialect->secret_header,
        .secret = &t->link->secret,
        .body = text,
        .body_len = strlen(text),
        .connect_ms = config->connect_ms,
        .idle_ms = config->idle_ms,
        .deadline_ns = t->deadline_ns,
        .cancel = t->request->cancel,
        .allow_plain = config->allow_plain_http,
        .max_bytes = HONE_LIMIT_MODEL_WIRE_BYTES,
        .on_body = on_body,
        .arg = &reading,
    };
    int r = hone_http_post(&request, &answer, &cause);
    t->retry_after_ms = answer.retry_after_ms;
    t->may_be_billed = answer.status == 200;
    /* all of it was there before the connection went */
    if (r < 0 && answer.fault == HONE_HTTP_CUT && reading.has_stream && reading.stream.is_over)
        r = 0;
    if (r < 0)
        r = fail_way(&answer, &cause, err);
    else if (answer.status != 200)
        r = fail_status(&answer, err);
    else if (!reading.has_stream)
        r = hone_model_fail(err, HONE_FAULT_EMPTY, "the answer has no body");
    else
        r = hone_model_stream_end(&reading.stream, ret, err);
    if (r == 0 && answer.request_id[0])
        ret->request_id = hone_pool_strdup(t->pool, answer.request_id);
    if (reading.has_stream)
        hone_model_stream_done(&reading.stream);
    hone_http_answer_done(&answer);
    return r;
}
