/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded answers: what the recorder writes, the provider replay reads. One JSON object a line:
 *
 *   {"request":"<64 hex>","text":"...","stop_reason":"end","model":"m","request_id":"x",
 *    "tokens_in":10,"tokens_out":2,"tokens_cached":0,"tokens_written":0,"is_estimated":false,
 *    "cost":0.001,"latency_ms":812}
 *   {"request":"<64 hex>","fault":"rate_limited","message":"HTTP 429"}
 *
 * A request is found by its hash alone; the same request again gets the next record of it. With
 * match "order" the hash is not looked at: each request gets the next record. So a search replays
 * although what it measured stands in its prompts. A cost that is not known is left out. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agents/model/model_internal.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct record {
    const char *request, *text, *stop_reason, *model, *request_id, *fault, *message;
    int64_t tokens_in, tokens_out, tokens_cached, tokens_written, latency_ms;
    bool is_estimated;
    double cost;
    bool is_used;
};

#define COUNT(m_, help_)                                                                           \
    HONE_FIELD(struct record, m_, .min = 0, .max = HONE_LIMIT_MODEL_TOKENS, .help = help_)
static const struct hone_field fields[] = {
    HONE_FIELD(struct record, request, .required = true, .max_len = HONE_HASH_TEXT_BYTES - 1,
               .help = "Hash of the request."),
    HONE_FIELD(struct record, text, .skip_empty = true, .max_len = HONE_LIMIT_MODEL_TEXT_BYTES,
               .help = "The answer."),
    HONE_FIELD(struct record, stop_reason, .skip_empty = true, .max_len = HONE_LIMIT_WORD_BYTES,
               .help = "Why it ended."),
    HONE_FIELD(struct record, model, .skip_empty = true, .max_len = HONE_LIMIT_WORD_BYTES,
               .help = "Who answered."),
    HONE_FIELD(struct record, request_id, .skip_empty = true, .max_len = HONE_LIMIT_WORD_BYTES,
               .help = "The provider's."),
    HONE_FIELD(struct record, fault, .skip_empty = true, .max_len = HONE_LIMIT_WORD_BYTES,
               .help = "Instead of an answer: what went wrong."),
    HONE_FIELD(struct record, message, .skip_empty = true, .max_len = HONE_LIMIT_LINE_BYTES,
               .help = "In words."),
    COUNT(tokens_in, "Tokens of the prompt."),
    COUNT(tokens_out, "Tokens of the answer."),
    COUNT(tokens_cached, "Of tokens_in: read from the provider's cache."),
    COUNT(tokens_written, "Of tokens_in: written to it."),
    HONE_FIELD(struct record, is_estimated, .help = "The counts are hone's own."),
    HONE_FIELD(struct record, cost, .min = 0, .max = 1000000, .fallback_f64 = NAN, .unit = "USD",
               .help = "What it cost."),
    HONE_FIELD(struct record, latency_ms, .min = 0, .max = INT64_MAX, .unit = "ms",
               .help = "How long it took."),
};

struct hone_model_recording {
    struct hone_pool *pool;
    struct record *records;
    size_t n;
};

/* ---- reading ---- */

static void close_recording(struct hone_model_link *link)
{
    if (link->recording)
        hone_pool_free(link->recording->pool);
    link->recording = NULL;
}

static size_t count_lines(const char *text)
{
    size_t n = 1;
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    return n;
}

static int read_lines(struct hone_model_recording *r, const char *path, const char *text,
                      struct hone_err *err)
{
    size_t number = 0;
    r->records = hone_pool_alloc(r->pool, count_lines(text) * sizeof(*r->records));
    while (*text) {
        size_t len = strcspn(text, "\n");
        HONE_AUTOJSON struct hone_json *json = NULL;
        number++;
        if (len > strspn(text, " \t\r")) {
            int code = hone_json_parse(text, len, &json, err);
            if (code == 0)
                code = hone_fields_decode(json, fields, HONE_COUNTOF(fields), &r->records[r->n],
                                          sizeof(*r->records), r->pool, err);
            const struct record *one = &r->records[r->n];
            if (code == 0 && !one->text == !one->fault)
                code = hone_fail(err, HONE_E_ARG, "a record has a text or a fault");
            if (code < 0)
                return hone_wrap(err, "%.120s, line %zu", path, number);
            r->n++;
        }
        text += len + (text[len] == '\n');
    }
    return 0;
}

static int open_recording(struct hone_model_link *link, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_config_path(link->config->file);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    int code = hone_file_read(path, HONE_LIMIT_FILE_BYTES, &text, &len, err);
    if (code < 0)
        return hone_wrap(err, "recorded answers");
    struct hone_pool *pool = hone_pool_new();
    link->recording = hone_pool_alloc(pool, sizeof(*link->recording));
    link->recording->pool = pool;
    return read_lines(link->recording, path, text, err);
}

static int fail_as_recorded(const struct record *r, struct hone_err *err)
{
    for (size_t i = 0; i < HONE_N_FAULTS; i++)
        if (hone_model_faults[i].name && strcmp(hone_model_faults[i].name, r->fault) == 0)
            return hone_model_fail(err, (enum hone_model_fault)i, "%.300s (recorded)",
                                   r->message ? r->message : "");
    return hone_model_fail(err, HONE_FAULT_LOCAL, "a record names an unknown fault '%.40s'",
                           r->fault);
}

static int ask(struct hone_model_try *t, struct hone_model_answer *ret, struct hone_err *err)
{
    struct hone_model_recording *rec = t->link->recording;
    const char *match = t->link->config->match;
    bool in_order = match && strcmp(match, "order") == 0;
    size_t i = 0, n_used = 0;
    for (; i < rec->n; i++) {
        if (!in_order && strcmp(rec->records[i].request, t->hash) != 0)
            continue;
        if (!rec->records[i].is_used)
            break;
        n_used++;
    }
    if (i == rec->n && in_order)
        return hone_model_fail(err, HONE_FAULT_MISSING,
                               "all %zu answers of %.120s were given; record more, or ask another "
                               "model",
                               n_used, t->link->config->file);
    if (i == rec->n)
        return hone_model_fail(err, HONE_FAULT_MISSING,
                               "request %.16s... is recorded %zu times in %.120s and was asked "
                               "once more; record it, or ask another model",
                               t->hash, n_used, t->link->config->file);
    struct record *r = &rec->records[i];
    r->is_used = true;
    if (r->fault)
        return fail_as_recorded(r, err);
    *ret = (struct hone_model_answer){
        .text = hone_pool_strdup(t->pool, r->text),
        .stop_reason = hone_pool_strdup(t->pool, r->stop_reason ? r->stop_reason : "end"),
        .model = hone_pool_strdup(t->pool, r->model ? r->model : ""),
        .request_id = hone_pool_strdup(t->pool, r->request_id ? r->request_id : ""),
        .tokens_in = r->tokens_in,
        .tokens_out = r->tokens_out,
        .tokens_cached = r->tokens_cached,
        .tokens_written = r->tokens_written,
        .is_estimated = r->is_estimated,
        .cost = r->cost,
        .latency_ms = r->latency_ms};
    t->has_cost = true;
    return 0;
}

const struct hone_model_provider hone_provider_replay = {
    .name = "replay", .open = open_recording, .close = close_recording, .ask = ask};

/* ---- writing ---- */

static int append(const char *path, const char *line, size_t len, struct hone_err *err)
{
    HONE_AUTOCLOSE int fd =
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        return hone_fail_errno(err, errno, "cannot write '%.200s'", path);
    for (size_t at = 0; at < len;) {
        ssize_t n = write(fd, line + at, len - at);
        if (n < 0 && errno != EINTR)
            return hone_fail_errno(err, errno, "cannot write '%.200s'", path);
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int hone_model_record(const char *path, const char *hash, const struct hone_model_answer *a,
                      const struct hone_err *failure, struct hone_err *err)
{
    struct record r = {.request = hash, .cost = (double)NAN};
    if (failure) {
        r.fault = hone_model_faults[hone_model_fault_of(failure)].name;
        r.message = failure->message;
    } else {
        r = (struct record){.request = hash,
                            .text = a->text,
                            .stop_reason = a->stop_reason,
                            .model = a->model,
                            .request_id = a->request_id,
                            .tokens_in = a->tokens_in,
                            .tokens_out = a->tokens_out,
                            .tokens_cached = a->tokens_cached,
                            .tokens_written = a->tokens_written,
                            .is_estimated = a->is_estimated,
                            .cost = a->cost,
                            .latency_ms = a->latency_ms};
    }
    HONE_AUTOJSON struct hone_json *json = hone_fields_encode(&r, fields, HONE_COUNTOF(fields));
    HONE_AUTOFREE char *text = hone_json_print(json);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", text);
    HONE_AUTOFREE char *where = hone_config_path(path);
    return append(where, line, strlen(line), err);
}
