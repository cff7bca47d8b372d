/* SPDX-License-Identifier: Apache-2.0 */
/* Models: one way to ask whatever answers, by its configured name.
 *
 *     hone_model_open(&config, "fast", &model, &err);
 *     hone_model_ask(model, &request, pool, &answer, &err);
 *
 * Providers are a table (model.c), one file each: openai (any OpenAI-compatible chat endpoint),
 * anthropic (Messages), command (a local program: prompt on standard input, answer on standard
 * output), replay (recorded answers, exact). A request that fails is tried again with exponential
 * back-off and jitter where its fault says so (hone_model_faults), Retry-After is honoured, nothing
 * waits beyond the deadline; then the configured fallback is asked. What a model may record goes
 * through one recorder, so that a recorded run replays bit for bit.
 *
 * An error's path is "model" and its native number an enum hone_model_fault. A key is in no error,
 * log line, record or child's environment. One thread per open model. */
#ifndef HONE_AGENTS_MODEL_H
#define HONE_AGENTS_MODEL_H

#include "agents/model/config.h"
#include "workspace/base/hash.h"
#include "workspace/base/process.h"

enum hone_model_fault {
    HONE_FAULT_NONE,
    HONE_FAULT_CONNECT,
    HONE_FAULT_TLS,
    HONE_FAULT_TIMEOUT,  /* connect, idle or total time of one try */
    HONE_FAULT_DEADLINE, /* the request's own */
    HONE_FAULT_CUT,      /* the answer broke off */
    HONE_FAULT_AUTH,
    HONE_FAULT_MONEY, /* account empty, quota used up */
    HONE_FAULT_REQUEST,
    HONE_FAULT_NO_MODEL,
    HONE_FAULT_TOO_LONG, /* the prompt */
    HONE_FAULT_RATE,
    HONE_FAULT_OVERLOADED,
    HONE_FAULT_SERVER,
    HONE_FAULT_REDIRECT,
    HONE_FAULT_CONTENT_TYPE,
    HONE_FAULT_MALFORMED,
    HONE_FAULT_TOO_LARGE, /* the answer */
    HONE_FAULT_EMPTY,
    HONE_FAULT_REFUSED, /* the model or its filter will not answer */
    HONE_FAULT_COMMAND, /* the program failed */
    HONE_FAULT_MISSING, /* replay: not recorded */
    HONE_FAULT_CANCEL,
    HONE_FAULT_LOCAL, /* disk, memory, configuration */
    HONE_N_FAULTS
};

struct hone_model_fault_row {
    const char *name; /* "rate_limited" */
    enum hone_code code;
    bool is_retried;    /* the same request may work later */
    bool is_elsewhere;  /* the fallback may answer it */
    bool may_be_billed; /* the provider may charge for the try */
};
extern const struct hone_model_fault_row hone_model_faults[HONE_N_FAULTS];
/* HONE_FAULT_NONE when err is not of a model. */
enum hone_model_fault hone_model_fault_of(const struct hone_err *err);

struct hone_model_message {
    const char *role; /* "user" or "assistant"; the last one is the user's */
    const char *text;
};

struct hone_model_request { /* borrowed for the call */
    /* The system part: blocks that are the same from request to request, stable first, so that
     * providers may cache them. */
    const char *const *stable;
    size_t n_stable;
    const struct hone_model_message *messages;
    size_t n_messages;
    int64_t max_tokens; /* of the answer, > 0 */
    double temperature; /* < 0: the provider's own */
    const char *const *stop;
    size_t n_stop;
    int64_t deadline_ns;
    const struct hone_cancel *cancel;
};

struct hone_model_answer { /* strings in the caller's pool */
    const char *text;
    const char *stop_reason; /* end, length, stop */
    const char *model;       /* who answered, as it calls itself */
    const char *answered_by; /* configured name: the fallback's when it had to */
    const char *request_id;  /* the provider's; "" */
    int64_t tokens_in, tokens_out;
    int64_t tokens_cached, tokens_written; /* parts of tokens_in: read from, put into a cache */
    int64_t tokens_lost; /* what tries that broke off may have taken beside them */
    bool is_estimated;   /* the provider gave no usable counts */
    double cost;         /* USD, tries that broke off included; NaN: not known */
    int64_t latency_ms;
    int64_t n_tries;
};

struct hone_model; /* opaque */

/* name NULL: the configuration's default. Reads keys and recorded answers. HONE_E_NOT_FOUND,
 * HONE_E_ARG (a circle of fallbacks), HONE_E_AUTH. config is borrowed for the model's life. */
int hone_model_open(const struct hone_config *config, const char *name, struct hone_model **ret,
                    struct hone_err *err);
void hone_model_free(struct hone_model *model); /* NULL is fine */
void hone_model_free_ptr(struct hone_model **model);
const char *hone_model_name(const struct hone_model *model);

/* Do its answers come from a file (provider replay)? Two clients would each give all of them. */
bool hone_model_is_recorded(const struct hone_model *model);

/* Blocks until there is an answer, or none can be had before the deadline. */
int hone_model_ask(struct hone_model *model, const struct hone_model_request *request,
                   struct hone_pool *pool, struct hone_model_answer *ret, struct hone_err *err);

/* What identifies a request: its texts, limits and stop words, not who is asked. */
void hone_model_request_hash(const struct hone_model_request *request,
                             char ret_hex[HONE_HASH_TEXT_BYTES]);

/* What a request may cost at most, before it is asked: one token for two bytes of prompt, all of
 * max_tokens, the dearest of the model and its fallbacks, for each try that may be charged: two
 * where tries are repeated, three where there is a fallback; what breaks off more often is not
 * tried again. cost NaN: a price is not known, and a cap on money must refuse. */
struct hone_model_estimate {
    int64_t tokens_in, tokens_out, tokens_lost; /* lost: of broken tries */
    double cost;
};
void hone_model_cost_estimate(const struct hone_model *model,
                              const struct hone_model_request *request,
                              struct hone_model_estimate *ret);
/* Are all prices known (model and fallbacks)? */
bool hone_model_has_price(const struct hone_model *model);

/* Built-in prices, USD for a million tokens, as the providers listed them; a configured price wins.
 * They hold for the providers' own endpoints alone. */
struct hone_model_price {
    const char *provider, *model; /* model: the beginning of its name */
    double in, out, cached, written;
};
extern const struct hone_model_price hone_model_prices[];
extern const size_t hone_model_n_prices;

#endif
