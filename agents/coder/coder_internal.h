/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by coder.c and coder_llm.c; nobody else includes this. */
#ifndef HONE_AGENTS_CODER_INTERNAL_H
#define HONE_AGENTS_CODER_INTERNAL_H

#include "agents/coder/coder.h"
#include "agents/model/model.h"
#include "workspace/base/hash.h"

struct hone_coder_hands;

/* One ask; texts in the pool. Not to be copied: it points into itself. */
struct hone_coder_request {
    const char *key;
    const char *stable[4];
    struct hone_model_message message;
    struct hone_model_request request;
};

struct hone_coder {
    struct hone_coder_setup setup;
    struct hone_pool *pool;
    const char *name;
    bool has_rules;
    const struct hone_coder_hands *hands; /* NULL: none */
    const struct hone_rewrite *const *rewrites;
    size_t n_rewrites;
    const struct hone_rewrite *outside; /* of other people's sources */
    size_t n_outside;
    const char *system_text, *task_text; /* stable parts of prompts */
    char naive[HONE_HASH_TEXT_BYTES];    /* hash of the baseline's text; "": unknown */
    bool is_muted;
    int n_faults; /* asks in a row that brought no answer */
};

/* The part of a coder that does what no rule does. */
struct hone_coder_hands {
    int (*open)(struct hone_coder *coder, struct hone_err *err);
    /* Not those that are no edit of the source (sweeps). */
    bool (*can)(const struct hone_strategy *strategy);
    /* What is asked for a step, and the key under which its answer is kept. */
    const char *(*key)(const struct hone_coder_work *work, struct hone_pool *pool);
    void (*request)(struct hone_coder *coder, const struct hone_coder_work *work,
                    struct hone_pool *pool, struct hone_coder_request *ret);
    int (*step)(struct hone_coder *coder, const struct hone_coder_work *work,
                struct hone_pool *pool, struct hone_coder_outcome *ret, struct hone_err *err);
};
extern const struct hone_coder_hands hone_coder_llm;

#endif
