/* SPDX-License-Identifier: Apache-2.0 */
/* Anthropic's Messages. */
#include <stdio.h>
#include <string.h>

#include "agents/model/model_internal.h"

static const char *const stops[][2] = {{"end_turn", "end"},
                                       {"max_tokens", "length"},
                                       {"stop_sequence", "stop"},
                                       {"refusal", "refused"}};

static struct hone_json *message(const struct hone_model_message *m)
{
    struct hone_json *out = hone_json_new_object();
    hone_json_set_str(out, "role", m->role);
    hone_json_set_str(out, "content", m->text);
    return out;
}

/* The last stable block ends what is cached. */
static struct hone_json *system_blocks(const struct hone_model_request *q)
{
    struct hone_json *out = hone_json_new_array();
    for (size_t i = 0; i < q->n_stable; i++) {
        struct hone_json *block = hone_json_new_object();
        hone_json_set_str(block, "type", "text");
        hone_json_set_str(block, "text", q->stable[i]);
        if (i + 1 == q->n_stable) {
            struct hone_json *cache = hone_json_new_object();
            hone_json_set_str(cache, "type", "ephemeral");
            hone_json_set(block, "cache_control", cache);
        }
        hone_json_push(out, block);
    }
    return out;
}

static struct hone_json *body(const struct hone_model_link *link,
                              const struct hone_model_request *q)
{
    const struct hone_model_config *c = link->config;
    struct hone_json *out = hone_json_new_object(), *messages = hone_json_new_array();
    for (size_t i = 0; i < q->n_messages; i++)
        hone_json_push(messages, message(&q->messages[i]));
    hone_json_set_str(out, "model", c->model ? c->model : c->name);
    hone_json_set_i64(out, "max_tokens", hone_model_max_tokens(link, q));
    if (q->n_stable > 0)
        hone_json_set(out, "system", system_blocks(q));
    hone_json_set(out, "messages", messages);
    double temperature = c->temperature >= 0 ? c->temperature : q->temperature;
    if (temperature >= 0 && !c->no_temperature)
        hone_json_set_f64(out, "temperature", temperature > 1 ? 1 : temperature);
    if (q->n_stop > 0) {
        struct hone_json *stop = hone_json_new_array();
        for (size_t i = 0; i < q->n_stop; i++)
            hone_json_push(stop, hone_json_new_str(q->stop[i]));
        hone_json_set(out, "stop_sequences", stop);
    }
    if (!c->no_stream)
        hone_json_set_bool(out, "stream", true);
    return out;
}

static void note_stop(struct hone_model_stream *s, const struct hone_json *from)
{
    const char *reason = hone_json_get_str(from, "stop_reason", NULL);
    if (!reason)
        return;
    const char *word = "end";
    for (size_t i = 0; i < HONE_COUNTOF(stops); i++)
        if (strcmp(stops[i][0], reason) == 0)
            word = stops[i][1];
    snprintf(s->stop, sizeof(s->stop), "%s", word);
}

/* Their input_tokens leaves the cache's parts out; ours holds them all. */
static void note_usage(struct hone_model_stream *s, const struct hone_json *usage)
{
    int64_t in = -1;
    hone_model_stream_count(usage, "output_tokens", &s->tokens_out);
    hone_model_stream_count(usage, "cache_read_input_tokens", &s->tokens_cached);
    hone_model_stream_count(usage, "cache_creation_input_tokens", &s->tokens_written);
    hone_model_stream_count(usage, "input_tokens", &in);
    if (in < 0 || in > INT32_MAX)
        return;
    int64_t cached = hone_max_i64(0, s->tokens_cached),
            written = hone_max_i64(0, s->tokens_written);
    if (cached < INT32_MAX && written < INT32_MAX)
        s->tokens_in = in + cached + written;
}

static void note_head(struct hone_model_stream *s, const struct hone_json *m)
{
    snprintf(s->id, sizeof(s->id), "%s", hone_json_get_str(m, "id", ""));
    snprintf(s->model, sizeof(s->model), "%s", hone_json_get_str(m, "model", ""));
    note_usage(s, hone_json_get(m, "usage"));
}

static int event(struct hone_model_stream *s, const struct hone_json *data, struct hone_err *err)
{
    const char *type = hone_json_get_str(data, "type", "");
    if (strcmp(type, "message_start") == 0)
        note_head(s, hone_json_get(data, "message"));
    if (strcmp(type, "message_delta") == 0) {
        note_stop(s, hone_json_get(data, "delta"));
        note_usage(s, hone_json_get(data, "usage"));
    }
    if (strcmp(type, "message_stop") == 0)
        s->is_over = true;
    if (strcmp(type, "content_block_delta") != 0)
        return 0;
    const char *text = hone_json_get_str(hone_json_get(data, "delta"), "text", NULL);
    return text ? hone_model_stream_text(s, text, err) : 0;
}

static int whole(struct hone_model_stream *s, const struct hone_json *data, struct hone_err *err)
{
    note_head(s, data);
    note_stop(s, data);
    s->is_over = s->stop[0] != '\0';
    for (const struct hone_json *b = hone_json_first(hone_json_get(data, "content")); b;
         b = hone_json_next(b)) {
        const char *text = hone_json_get_str(b, "text", NULL);
        int r = text ? hone_model_stream_text(s, text, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static const char *const headers[] = {"Content-Type: application/json",
                                      "Accept: text/event-stream, application/json",
                                      "anthropic-version: 2023-06-01", NULL};

const struct hone_model_dialect hone_dialect_anthropic = {
    .path = "/messages",
    .secret_header = "x-api-key: ",
    .headers = headers,
    .body = body,
    .event = event,
    .whole = whole,
};

static int ask(struct hone_model_try *t, struct hone_model_answer *ret, struct hone_err *err)
{
    return hone_model_http_ask(&hone_dialect_anthropic, t, ret, err);
}

const struct hone_model_provider hone_provider_anthropic = {
    .name = "anthropic", .default_url = "https://api.anthropic.com/v1", .ask = ask};
