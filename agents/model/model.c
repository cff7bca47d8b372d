/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a model: tries, waits, fallbacks, prices, the recorder. See model.h.
 *
 * One ask: for each link of the chain (the model, its fallback, ...) up to `tries` tries. Which
 * fault is tried again, which one the fallback may mend, is the table hone_model_faults. A wait is
 * the larger of Retry-After and 1 s * 2^n with half of it drawn at random, 60 s at most; a wait
 * that would end behind the deadline is not begun. */
#include "agents/model/model_internal.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define BACKOFF_MS     1000
#define BACKOFF_MAX_MS 60000
#define MESSAGE_TOKENS 8    /* what a message costs besides its text */
#define SPARE_TOKENS   4096 /* that a provider may count beyond a byte each */

const struct hone_model_fault_row hone_model_faults[HONE_N_FAULTS] = {
    [HONE_FAULT_NONE] = {"none", HONE_OK, false, false, false},
    [HONE_FAULT_CONNECT] = {"unreachable", HONE_E_IO, true, true, false},
    [HONE_FAULT_TLS] = {"tls", HONE_E_AUTH, false, true, false},
    [HONE_FAULT_TIMEOUT] = {"timeout", HONE_E_TIMEOUT, true, true, true},
    [HONE_FAULT_DEADLINE] = {"deadline", HONE_E_TIMEOUT, false, false, true},
    [HONE_FAULT_CUT] = {"cut_off", HONE_E_IO, true, true, true},
    [HONE_FAULT_AUTH] = {"auth", HONE_E_AUTH, false, true, false},
    [HONE_FAULT_MONEY] = {"no_money", HONE_E_AUTH, false, true, false},
    [HONE_FAULT_REQUEST] = {"bad_request", HONE_E_ARG, false, false, false},
    [HONE_FAULT_NO_MODEL] = {"no_such_model", HONE_E_NOT_FOUND, false, true, false},
    [HONE_FAULT_TOO_LONG] = {"prompt_too_long", HONE_E_LIMIT, false, true, false},
    [HONE_FAULT_RATE] = {"rate_limited", HONE_E_BUSY, true, true, false},
    [HONE_FAULT_OVERLOADED] = {"overloaded", HONE_E_BUSY, true, true, false},
    [HONE_FAULT_SERVER] = {"server_error", HONE_E_TARGET, true, true, false},
    [HONE_FAULT_REDIRECT] = {"redirect", HONE_E_ARG, false, true, false},
    [HONE_FAULT_CONTENT_TYPE] = {"content_type", HONE_E_TARGET, false, true, true},
    [HONE_FAULT_MALFORMED] = {"malformed", HONE_E_TARGET, true, true, true},
    [HONE_FAULT_TOO_LARGE] = {"answer_too_large", HONE_E_LIMIT, false, true, true},
    [HONE_FAULT_EMPTY] = {"empty", HONE_E_TARGET, true, true, true},
    [HONE_FAULT_REFUSED] = {"refused", HONE_E_TARGET, false, true, true},
    [HONE_FAULT_COMMAND] = {"command_failed", HONE_E_TARGET, true, true, true},
    [HONE_FAULT_MISSING] = {"not_recorded", HONE_E_NOT_FOUND, false, true, false},
    [HONE_FAULT_CANCEL] = {"cancelled", HONE_E_CANCEL, false, false, true},
    [HONE_FAULT_LOCAL] = {"local", HONE_E_IO, false, false, false},
};

static const struct hone_model_provider *const providers[] = {
    &hone_provider_openai, &hone_provider_anthropic, &hone_provider_command, &hone_provider_replay};

struct hone_model {
    struct hone_model_link links[HONE_LIMIT_MODEL_CHAIN];
    size_t n_links;
};

int hone_model_fail(struct hone_err *err, enum hone_model_fault fault, const char *fmt, ...)
{
    char text[HONE_ERR_MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    int code = hone_fail_at(err, hone_model_faults[fault].code, "model", "%s: %s",
                            hone_model_faults[fault].name, text);
    if (err)
        err->native = (int)fault;
    return code;
}

enum hone_model_fault hone_model_fault_of(const struct hone_err *err)
{
    if (!err || err->code == HONE_OK || strcmp(err->path, "model") != 0 || err->native <= 0 ||
        err->native >= HONE_N_FAULTS)
        return HONE_FAULT_NONE;
    return (enum hone_model_fault)err->native;
}

/* ---- opening ---- */

bool hone_model_is_own_endpoint(const struct hone_model_link *link)
{
    const char *own = link->provider->default_url;
    return own && (!link->config->url || strcmp(link->config->url, own) == 0);
}

/* "claude-x-20250101" is claude-x; "gpt-4o-mini" is no gpt-4o. */
static bool is_dated(const char *name, const char *stem)
{
    size_t n = strlen(stem);
    if (strncmp(name, stem, n) != 0)
        return false;
    return name[n] == '\0' || strncmp(name + n, "-20", 3) == 0;
}

static struct hone_model_price price_of(const struct hone_model_link *link)
{
    const struct hone_model_config *c = link->config;
    struct hone_model_price p = {.in = -1, .out = -1, .cached = -1, .written = -1};
    const char *name = c->model ? c->model : c->name;
    for (size_t i = 0; i < hone_model_n_prices && hone_model_is_own_endpoint(link); i++)
        if (strcmp(hone_model_prices[i].provider, link->provider->name) == 0 &&
            is_dated(name, hone_model_prices[i].model))
            p = hone_model_prices[i];
    if (c->price_in >= 0 || c->price_out >= 0) /* both, or nothing is known */
        p = (struct hone_model_price){
            .in = c->price_out >= 0 ? c->price_in : -1,
            .out = c->price_in >= 0 ? c->price_out : -1,
            .cached = c->price_cached >= 0 ? c->price_cached : c->price_in,
            .written = c->price_written >= 0 ? c->price_written : c->price_in};
    if (strcmp(link->provider->name, "replay") == 0)
        p = (struct hone_model_price){.in = 0}; /* asking costs nothing; the record has the cost */
    return p;
}

static int open_link(const struct hone_model_config *config, struct hone_model_link *link,
                     struct hone_err *err)
{
    int r = 0;
    link->config = config;
    for (size_t i = 0; i < HONE_COUNTOF(providers); i++)
        if (strcmp(providers[i]->name, config->provider) == 0)
            link->provider = providers[i];
    HONE_BUG_ON(!link->provider); /* the table's choices are the same names */
    const char *url = config->url ? config->url : link->provider->default_url;
    if (config->key_env || config->key_file)
        r = hone_secret_load(config->key_env, config->key_file, &link->secret, err);
    if (r == 0 && url && hone_secret_is_set(&link->secret) && !config->allow_plain_http &&
        !hone_http_is_safe_url(url))
        r = hone_fail(err, HONE_E_ARG,
                      "its key would travel in clear to '%.120s'; use https://, "
                      "or allow_plain_http",
                      url);
    if (r == 0 && link->provider->open)
        r = link->provider->open(link, err);
    link->price = price_of(link);
    return r < 0 ? hone_wrap(err, "model '%s'", config->name) : 0;
}

int hone_model_open(const struct hone_config *config, const char *name, struct hone_model **ret,
                    struct hone_err *err)
{
    HONE_CLEANUP(hone_model_free_ptr) struct hone_model *m = hone_calloc(1, sizeof(*m));
    const struct hone_model_config *c;
    int r = hone_config_model(config, name, &c, err);
    while (r == 0) {
        for (size_t i = 0; i < m->n_links; i++)
            if (m->links[i].config == c)
                return hone_fail_at(err, HONE_E_ARG, "model",
                                    "the fallbacks of '%s' lead back to '%s'",
                                    m->links[0].config->name, c->name);
        if (m->n_links == HONE_COUNTOF(m->links))
            return hone_fail_at(err, HONE_E_LIMIT, "model", "'%s' has more than %d fallbacks",
                                m->links[0].config->name, HONE_LIMIT_MODEL_CHAIN - 1);
        r = open_link(c, &m->links[m->n_links++], err);
        if (r < 0 || !c->fallback)
            break;
        r = hone_config_model(config, c->fallback, &c, err);
    }
    if (r == 0)
        *ret = HONE_STEAL(m);
    return r;
}

void hone_model_free(struct hone_model *model)
{
    for (size_t i = 0; model && i < model->n_links; i++) {
        struct hone_model_link *link = &model->links[i];
        if (link->provider && link->provider->close)
            link->provider->close(link);
        hone_secret_done(&link->secret);
    }
    free(model);
}

void hone_model_free_ptr(struct hone_model **model)
{
    hone_model_free(*model);
    *model = NULL;
}

bool hone_model_is_recorded(const struct hone_model *model)
{
    return strcmp(model->links[0].config->provider, "replay") == 0;
}

const char *hone_model_name(const struct hone_model *model)
{
    return model->links[0].config->name;
}

/* ---- requests ---- */

void hone_model_request_hash(const struct hone_model_request *q, char ret_hex[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher h;
    hone_hasher_init(&h);
    hone_hasher_str(&h, "hone model request 1");
    hone_hasher_part(&h, &q->n_stable, sizeof(q->n_stable));
    for (size_t i = 0; i < q->n_stable; i++)
        hone_hasher_str(&h, q->stable[i]);
    hone_hasher_part(&h, &q->n_messages, sizeof(q->n_messages));
    for (size_t i = 0; i < q->n_messages; i++) {
        hone_hasher_str(&h, q->messages[i].role);
        hone_hasher_str(&h, q->messages[i].text);
    }
    hone_hasher_part(&h, &q->max_tokens, sizeof(q->max_tokens));
    hone_hasher_part(&h, &q->temperature, sizeof(q->temperature));
    for (size_t i = 0; i < q->n_stop; i++)
        hone_hasher_str(&h, q->stop[i]);
    hone_hasher_end(&h, ret_hex);
}

static size_t prompt_bytes(const struct hone_model_request *q)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n_stable; i++)
        n += strlen(q->stable[i]);
    for (size_t i = 0; i < q->n_messages; i++)
        n += strlen(q->messages[i].text);
    return n;
}

char *hone_model_flat_prompt(const struct hone_model_request *q)
{
    struct hone_buf out = {.limit = HONE_LIMIT_PROMPT_BYTES + (64u << 10)};
    for (size_t i = 0; i < q->n_stable; i++)
        hone_buf_printf(&out, "%s\n\n", q->stable[i]);
    for (size_t i = 0; i < q->n_messages; i++) {
        if (q->n_messages > 1)
            hone_buf_printf(&out, "[%s]\n", q->messages[i].role);
        hone_buf_printf(&out, "%s\n\n", q->messages[i].text);
    }
    return hone_buf_steal(&out);
}

static int check_request(const struct hone_model_request *q, struct hone_err *err)
{
    if (q->max_tokens <= 0 || q->max_tokens > HONE_LIMIT_MODEL_TOKENS)
        return hone_model_fail(err, HONE_FAULT_REQUEST, "max_tokens is 1 to %d",
                               HONE_LIMIT_MODEL_TOKENS);
    if (q->n_messages == 0 || strcmp(q->messages[q->n_messages - 1].role, "user") != 0)
        return hone_model_fail(err, HONE_FAULT_REQUEST, "the last message is the user's");
    if (prompt_bytes(q) > HONE_LIMIT_PROMPT_BYTES)
        return hone_model_fail(err, HONE_FAULT_TOO_LONG, "the prompt has %zu bytes, at most %u",
                               prompt_bytes(q), HONE_LIMIT_PROMPT_BYTES);
    return 0;
}

int64_t hone_model_max_tokens(const struct hone_model_link *link,
                              const struct hone_model_request *request)
{
    int64_t most = link->config->max_tokens;
    return most > 0 ? hone_min_i64(most, request->max_tokens) : request->max_tokens;
}

/* ---- money ---- */

static double cost_of(const struct hone_model_price *p, int64_t in, int64_t out, int64_t cached,
                      int64_t written)
{
    if (p->in < 0 || p->out < 0)
        return (double)NAN;
    double plain = (double)(in - cached - written);
    return (plain * p->in + (double)cached * p->cached + (double)written * p->written +
            (double)out * p->out) /
           1e6;
}

/* Tries of one request that may be charged: the answer or what broke off. Every one but the last
 * may be the first model's; the last is a fallback's where there is one. */
static int64_t most_charged(const struct hone_model *model)
{
    if (model->n_links > 1)
        return 3;
    return model->links[0].config->tries > 1 ? 2 : 1;
}

static double reserve_of(const struct hone_model_link *link, int64_t in, int64_t out)
{
    double dear = fmax(link->price.in, fmax(link->price.cached, link->price.written));
    struct hone_model_price p = {.in = link->price.in < 0 ? -1 : dear,
                                 .out = link->price.out,
                                 .cached = dear,
                                 .written = dear};
    return cost_of(&p, in, out, 0, 0);
}

void hone_model_cost_estimate(const struct hone_model *model,
                              const struct hone_model_request *request,
                              struct hone_model_estimate *ret)
{
    int64_t in = (int64_t)prompt_bytes(request) / 2 +
                 MESSAGE_TOKENS * (int64_t)(request->n_messages + request->n_stable) + 1;
    double most = 0;
    int64_t n = most_charged(model);
    for (size_t i = 0; i < model->n_links; i++) {
        double one = reserve_of(&model->links[i], in, request->max_tokens);
        most = isnan(one) || isnan(most) ? (double)NAN : fmax(most, one);
    }
    *ret = (struct hone_model_estimate){.tokens_in = in,
                                        .tokens_out = request->max_tokens,
                                        .tokens_lost = (n - 1) * (in + request->max_tokens),
                                        .cost = (double)n * most};
}

bool hone_model_has_price(const struct hone_model *model)
{
    for (size_t i = 0; i < model->n_links; i++)
        if (model->links[i].price.in < 0 || model->links[i].price.out < 0)
            return false;
    return true;
}

static bool is_count(int64_t n)
{
    return n >= 0 && n <= HONE_LIMIT_MODEL_TOKENS;
}

/* Counts that cannot be are replaced by our own: too many to be true, none for a text, parts larger
 * than the whole. */
static void settle_counts(const struct hone_model_request *q, struct hone_model_answer *a)
{
    int64_t in = (int64_t)prompt_bytes(q), out = (int64_t)strlen(a->text);
    if (!is_count(a->tokens_in) || a->tokens_in == 0 || a->tokens_in > in + SPARE_TOKENS) {
        a->tokens_in = in / HONE_MODEL_BYTES_A_TOKEN + MESSAGE_TOKENS * (int64_t)q->n_messages + 1;
        a->tokens_cached = a->tokens_written = 0;
        a->is_estimated = true;
    }
    if (!is_count(a->tokens_out) || a->tokens_out == 0 ||
        a->tokens_out > 2 * q->max_tokens) { /* some think beyond their limit, a little */
        a->tokens_out = out / HONE_MODEL_BYTES_A_TOKEN + 1;
        a->is_estimated = true;
    }
    a->tokens_cached = is_count(a->tokens_cached) ? a->tokens_cached : 0;
    a->tokens_written = is_count(a->tokens_written) ? a->tokens_written : 0;
    if (a->tokens_cached + a->tokens_written > a->tokens_in)
        a->tokens_cached = a->tokens_written = 0;
}

/* ---- tries ---- */

/* Sleeps unless cancelled. */
static void wait_for(int64_t ms, const struct hone_cancel *cancel)
{
    int64_t end = hone_deadline_in_ms(ms);
    struct pollfd wake = {.fd = cancel ? cancel->event_fd : -1, .events = POLLIN};
    while (!hone_cancel_is_set(cancel) && hone_now_ns() < end)
        if (poll(&wake, 1, hone_ms_until(end)) < 0 && errno != EINTR)
            return;
}

static int64_t backoff_ms(int64_t n_tries, int64_t retry_after_ms)
{
    uint32_t random;
    int64_t ms = BACKOFF_MS;
    for (int64_t i = 1; i < n_tries && ms < BACKOFF_MAX_MS; i++)
        ms *= 2;
    ms = hone_min_i64(ms, BACKOFF_MAX_MS);
    hone_random(&random, sizeof(random));
    ms = ms / 2 + (int64_t)((double)random / 4294967296.0 * (double)ms / 2);
    return hone_max_i64(ms, retry_after_ms);
}

struct asking {
    const struct hone_model_request *request;
    char hash[HONE_HASH_TEXT_BYTES];
    struct hone_pool *pool;
    int64_t start_ns, n_tries;
    double lost;                            /* what broken tries may have cost; NaN: not known */
    int64_t n_lost, most_lost, tokens_lost; /* most: then the model is not tried again */
};

static int one_try(struct asking *a, struct hone_model_link *link, int64_t *ret_retry_after_ms,
                   struct hone_model_answer *ret, struct hone_err *err)
{
    const struct hone_model_request *q = a->request;
    struct hone_model_try t = {
        .link = link,
        .request = q,
        .hash = a->hash,
        .pool = a->pool,
        .retry_after_ms = -1,
        .deadline_ns = hone_min_i64(q->deadline_ns, hone_deadline_in_ms(link->config->total_ms))};
    struct hone_model_answer made;
    if (hone_cancel_is_set(q->cancel))
        return hone_model_fail(err, HONE_FAULT_CANCEL, "cancelled");
    if (hone_now_ns() >= q->deadline_ns)
        return hone_model_fail(err, HONE_FAULT_DEADLINE, "the time for it is over");
    a->n_tries++;
    int r = link->provider->ask(&t, &made, err);
    *ret_retry_after_ms = t.retry_after_ms;
    if (r < 0) {
        enum hone_model_fault fault = hone_model_fault_of(err);
        if (t.may_be_billed && hone_model_faults[fault].may_be_billed) {
            int64_t in = (int64_t)prompt_bytes(q) / HONE_MODEL_BYTES_A_TOKEN;
            a->lost += reserve_of(link, in, q->max_tokens);
            a->tokens_lost += in + q->max_tokens;
            a->n_lost++;
        }
        return r;
    }
    if (hone_secret_is_set(&link->secret)) { /* it is kept: without the key, if it is there */
        char *text = hone_pool_strdup(a->pool, made.text);
        hone_secret_redact(&link->secret, text);
        made.text = text;
    }
    if (!t.has_cost) {
        settle_counts(q, &made);
        made.cost = cost_of(&link->price, made.tokens_in, made.tokens_out, made.tokens_cached,
                            made.tokens_written) +
                    a->lost;
        made.latency_ms = (hone_now_ns() - a->start_ns) / HONE_NS_PER_MS;
    }
    made.tokens_lost = a->tokens_lost;
    made.answered_by = hone_pool_strdup(a->pool, link->config->name);
    made.n_tries = a->n_tries;
    *ret = made;
    return 0;
}

/* Until it answers, gives up, or no more tries are worth it. */
static int ask_link(struct asking *a, struct hone_model_link *link, struct hone_model_answer *ret,
                    struct hone_err *err)
{
    for (int64_t n = 1;; n++) {
        int64_t retry_after_ms = -1;
        int r = one_try(a, link, &retry_after_ms, ret, err);
        if (r == 0)
            return 0;
        hone_secret_redact(&link->secret, err->message);
        if (!hone_model_faults[hone_model_fault_of(err)].is_retried || n >= link->config->tries ||
            a->n_lost >= a->most_lost)
            return r;
        int64_t ms = backoff_ms(n, retry_after_ms);
        if (hone_deadline_in_ms(ms) >= a->request->deadline_ns)
            return r; /* its own fault says more than "deadline" */
        wait_for(ms, a->request->cancel);
    }
}

static int ask_chain(struct hone_model *model, struct asking *a, struct hone_model_answer *ret,
                     struct hone_err *err)
{
    int r = 0;
    for (size_t i = 0; i < model->n_links; i++) {
        bool is_last = i + 1 == model->n_links;
        a->most_lost = most_charged(model) - !is_last;
        r = ask_link(a, &model->links[i], ret, err);
        if (r == 0)
            return 0;
        struct hone_err cause = *err;
        hone_fail_at(err, cause.code, "model", "model '%s': %.320s", model->links[i].config->name,
                     cause.message);
        err->native = cause.native;
        if (!hone_model_faults[hone_model_fault_of(err)].is_elsewhere ||
            a->n_lost >= most_charged(model))
            break;
    }
    return r;
}

int hone_model_ask(struct hone_model *model, const struct hone_model_request *request,
                   struct hone_pool *pool, struct hone_model_answer *ret, struct hone_err *err)
{
    struct hone_err own = HONE_ERR_INIT;
    struct hone_err *e = err ? err : &own;
    struct asking a = {.request = request, .pool = pool, .start_ns = hone_now_ns()};
    struct hone_model_answer made;
    int r = check_request(request, e);
    if (r < 0)
        return r;
    hone_model_request_hash(request, a.hash);
    r = ask_chain(model, &a, &made, e);
    const char *path = model->links[0].config->record;
    enum hone_model_fault fault = r < 0 ? hone_model_fault_of(e) : HONE_FAULT_NONE;
    if (path && fault != HONE_FAULT_CANCEL && fault != HONE_FAULT_LOCAL) {
        struct hone_err cause = HONE_ERR_INIT;
        if (hone_model_record(path, a.hash, &made, r < 0 ? e : NULL, &cause) < 0)
            return hone_model_fail(err, HONE_FAULT_LOCAL, "%.300s", cause.message);
    }
    if (r == 0)
        *ret = made;
    return r;
}
