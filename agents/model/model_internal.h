/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by model.c and its providers; nobody else includes this. */
#ifndef HONE_AGENTS_MODEL_INTERNAL_H
#define HONE_AGENTS_MODEL_INTERNAL_H

#include "agents/model/http.h"
#include "agents/model/model.h"
#include "agents/model/sse.h"

struct hone_model_recording; /* of replay */

struct hone_model_link { /* the model, or one of its fallbacks */
    const struct hone_model_config *config;
    const struct hone_model_provider *provider;
    struct hone_secret secret;
    struct hone_model_price price; /* .in < 0: not known */
    struct hone_model_recording *recording;
};

struct hone_model_try { /* one try of one link */
    struct hone_model_link *link;
    const struct hone_model_request *request;
    const char *hash;    /* of the request */
    int64_t deadline_ns; /* of this try */
    struct hone_pool *pool;
    /* out */
    int64_t retry_after_ms; /* -1: none was given */
    bool may_be_billed;
    bool has_cost; /* answer.cost is set already (replay) */
};

struct hone_model_provider {
    const char *name;
    const char *default_url;                                         /* NULL: has no endpoint */
    int (*open)(struct hone_model_link *link, struct hone_err *err); /* NULL: nothing to do */
    void (*close)(struct hone_model_link *link);                     /* NULL: nothing to do */
    /* Fills in text, stop_reason, model, request_id, tokens (< 0: not told). Errors by
     * hone_model_fail. */
    int (*ask)(struct hone_model_try *t, struct hone_model_answer *ret, struct hone_err *err);
};
extern const struct hone_model_provider hone_provider_openai, hone_provider_anthropic,
    hone_provider_command, hone_provider_replay;

/* path "model", code from the table, native the fault. */
int hone_model_fail(struct hone_err *err, enum hone_model_fault fault, const char *fmt, ...)
    HONE_PRINTF(3, 4);
/* The system part and all messages as one text, for providers without roles; owned. */
char *hone_model_flat_prompt(const struct hone_model_request *request);
/* The request's limit, or the configured one if that is lower. */
int64_t hone_model_max_tokens(const struct hone_model_link *link,
                              const struct hone_model_request *request);
#define HONE_MODEL_BYTES_A_TOKEN 3 /* of prose and code, about; a provider's own count wins */
/* The provider's own endpoint is where built-in prices hold. */
bool hone_model_is_own_endpoint(const struct hone_model_link *link);

/* ---- recorded answers (model_replay.c) ---- */

/* Appends what came of a request: an answer, or the error. */
int hone_model_record(const char *path, const char *hash, const struct hone_model_answer *answer,
                      const struct hone_err *failure, struct hone_err *err);

/* ---- HTTP providers (model_http.c) ---- */

struct hone_model_stream { /* what has come of an answer */
    const struct hone_model_dialect *dialect;
    struct hone_pool *pool;
    struct hone_sse sse;
    struct hone_buf text, whole; /* whole: an answer in one piece */
    int64_t tokens_in, tokens_out, tokens_cached, tokens_written; /* < 0: not told */
    char stop[24], model[100], id[100];
    bool is_whole, is_over;
};

struct hone_model_dialect {
    const char *path; /* "/chat/completions" */
    const char *secret_header;
    const char *const *headers;
    struct hone_json *(*body)(const struct hone_model_link *link,
                              const struct hone_model_request *request);
    /* One event of the stream; the whole answer. */
    int (*event)(struct hone_model_stream *s, const struct hone_json *data, struct hone_err *err);
    int (*whole)(struct hone_model_stream *s, const struct hone_json *data, struct hone_err *err);
    const char *last_data; /* data of an event that is no JSON and ends the stream; NULL: none */
};
extern const struct hone_model_dialect hone_dialect_openai, hone_dialect_anthropic;

void hone_model_stream_init(struct hone_model_stream *s, const struct hone_model_dialect *dialect,
                            bool is_whole, struct hone_pool *pool);
void hone_model_stream_done(struct hone_model_stream *s);
int hone_model_stream_feed(struct hone_model_stream *s, const char *bytes, size_t len,
                           struct hone_err *err);
/* At the end of the bytes: is the answer complete? Fills in ret. */
int hone_model_stream_end(struct hone_model_stream *s, struct hone_model_answer *ret,
                          struct hone_err *err);
/* For dialects. */
int hone_model_stream_text(struct hone_model_stream *s, const char *text, struct hone_err *err);
void hone_model_stream_count(const struct hone_json *usage, const char *key, int64_t *ret);
/* One try over HTTP. */
int hone_model_http_ask(const struct hone_model_dialect *dialect, struct hone_model_try *t,
                        struct hone_model_answer *ret, struct hone_err *err);

#endif
