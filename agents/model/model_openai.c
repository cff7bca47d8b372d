/* SPDX-License-Identifier: Apache-2.0 */
/* OpenAI's chat completions, which many servers speak. */
#include <stdio.h>
#include <string.h>

#include "agents/model/model_internal.h"

static const char *stop_word(const char *finish)
{
    static const char *const stops[][2] = {{"stop", "end"},
                                           {"length", "length"},
                                           {"content_filter", "refused"},
                                           {"tool_calls", "end"}};
    for (size_t i = 0; i < HONE_COUNTOF(stops); i++)
        if (strcmp(stops[i][0], finish) == 0)
            return stops[i][1];
    return "end";
}

static char *joined(const char *const *texts, size_t n)
{
    struct hone_buf out = HONE_BUF_INIT;
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(&out, "%s%s", i ? "\n\n" : "", texts[i]);
    return hone_buf_steal(&out);
}

static struct hone_json *message(const char *role, const char *text)
{
    struct hone_json *m = hone_json_new_object();
    hone_json_set_str(m, "role", role);
    hone_json_set_str(m, "content", text);
    return m;
}

static struct hone_json *body(const struct hone_model_link *link,
                              const struct hone_model_request *q)
{
    const struct hone_model_config *c = link->config;
    struct hone_json *out = hone_json_new_object(), *messages = hone_json_new_array();
    const char *limit = c->tokens_member                   ? c->tokens_member
                        : hone_model_is_own_endpoint(link) ? "max_completion_tokens"
                                                           : "max_tokens";
    if (q->n_stable > 0) {
        HONE_AUTOFREE char *system = joined(q->stable, q->n_stable);
        hone_json_push(messages, message("system", system));
    }
    for (size_t i = 0; i < q->n_messages; i++)
        hone_json_push(messages, message(q->messages[i].role, q->messages[i].text));
    hone_json_set_str(out, "model", c->model ? c->model : c->name);
    hone_json_set(out, "messages", messages);
    hone_json_set_i64(out, limit, hone_model_max_tokens(link, q));
    double temperature = c->temperature >= 0 ? c->temperature : q->temperature;
    if (temperature >= 0 && !c->no_temperature)
        hone_json_set_f64(out, "temperature", temperature);
    if (q->n_stop > 0) {
        struct hone_json *stop = hone_json_new_array();
        for (size_t i = 0; i < q->n_stop; i++)
            hone_json_push(stop, hone_json_new_str(q->stop[i]));
        hone_json_set(out, "stop", stop);
    }
    if (!c->no_stream) {
        struct hone_json *options = hone_json_new_object();
        hone_json_set_bool(options, "include_usage", true);
        hone_json_set_bool(out, "stream", true);
        hone_json_set(out, "stream_options", options);
    }
    return out;
}

static void head(struct hone_model_stream *s, const struct hone_json *data)
{
    const struct hone_json *usage = hone_json_get(data, "usage");
    snprintf(s->id, sizeof(s->id), "%s", hone_json_get_str(data, "id", s->id[0] ? s->id : ""));
    const char *model = hone_json_get_str(data, "model", NULL);
    if (model)
        snprintf(s->model, sizeof(s->model), "%s", model);
    hone_model_stream_count(usage, "prompt_tokens", &s->tokens_in);
    hone_model_stream_count(usage, "completion_tokens", &s->tokens_out);
    hone_model_stream_count(hone_json_get(usage, "prompt_tokens_details"), "cached_tokens",
                            &s->tokens_cached);
}

static int take(struct hone_model_stream *s, const struct hone_json *data, const char *part,
                struct hone_err *err)
{
    head(s, data);
    const struct hone_json *choice = hone_json_first(hone_json_get(data, "choices"));
    const char *text = hone_json_get_str(hone_json_get(choice, part), "content", NULL);
    const char *finish = hone_json_get_str(choice, "finish_reason", NULL);
    if (finish) {
        snprintf(s->stop, sizeof(s->stop), "%s", stop_word(finish));
        s->is_over = true;
    }
    return text ? hone_model_stream_text(s, text, err) : 0;
}

static int event(struct hone_model_stream *s, const struct hone_json *data, struct hone_err *err)
{
    return take(s, data, "delta", err);
}

static int whole(struct hone_model_stream *s, const struct hone_json *data, struct hone_err *err)
{
    return take(s, data, "message", err);
}

static const char *const headers[] = {"Content-Type: application/json",
                                      "Accept: text/event-stream, application/json", NULL};

const struct hone_model_dialect hone_dialect_openai = {
    .path = "/chat/completions",
    .secret_header = "Authorization: Bearer ",
    .headers = headers,
    .body = body,
    .event = event,
    .whole = whole,
    .last_data = "[DONE]",
};

static int ask(struct hone_model_try *t, struct hone_model_answer *ret, struct hone_err *err)
{
    return hone_model_http_ask(&hone_dialect_openai, t, ret, err);
}

const struct hone_model_provider hone_provider_openai = {
    .name = "openai", .default_url = "https://api.openai.com/v1", .ask = ask};
