/* SPDX-License-Identifier: Apache-2.0 */
/* What a search asked of models: intent before asking, answer before use.
 *
 * hone_journal_ask writes "model.ask" (role, model, hash of the request, tokens and cost that it
 * may take at most), makes it durable, asks, writes "model.answer" (the answer with its tokens and
 * cost, or the fault), makes that durable, and only then hands the answer over. A search that goes
 * on finds stored answers by their key and asks for none again. An ask without an answer (the
 * program was killed in between) counts as spent.
 *
 * Thread safe, but for loading, the gate (called by who begins an ask) and models
 * (one thread each). */
#ifndef HONE_AGENTS_JOURNAL_H
#define HONE_AGENTS_JOURNAL_H

#include "agents/model/model.h"
#include "workspace/ledger.h"

struct hone_journal; /* opaque */

struct hone_spend { /* of one search, all rounds */
    int64_t n_asks, n_answers, n_faults;
    int64_t n_unknown; /* asks without an answer: counted with what was reserved */
    int64_t tokens_in, tokens_out, tokens_cached;
    int64_t tokens_lost; /* beside them: tries that broke off */
    double cost;         /* USD of everything whose price is known */
    int64_t n_unpriced;  /* answers, faults or asks whose cost is not known */
};

struct hone_journal *hone_journal_new(struct hone_ledger *ledger); /* borrowed */
void hone_journal_free(struct hone_journal *journal);              /* NULL is fine */
/* Reads what the search of that id asked before. Once, before the first ask. */
int hone_journal_load(struct hone_journal *journal, const char *search_id, struct hone_err *err);

/* Called before each ask that goes out, with what it may take at most and what was spent before,
 * asks without an answer included; negative stops it. For budgets. */
typedef int hone_journal_gate_fn(void *arg, const struct hone_model_estimate *most,
                                 const struct hone_spend *spend, struct hone_err *err);
void hone_journal_set_gate(struct hone_journal *journal, hone_journal_gate_fn *gate, void *arg);

/* role: "coder", "planner". key: what the answer is for, the same after a restart ("3/llm_C08/..");
 * NULL: the request's hash. Errors as hone_model_ask, and the gate's. */
int hone_journal_ask(struct hone_journal *journal, const char *role, const char *key,
                     struct hone_model *model, const struct hone_model_request *request,
                     struct hone_pool *pool, struct hone_model_answer *ret, bool *ret_is_stored,
                     struct hone_err *err);
/* The same in two halves, for answers that are waited for while something else is done. Begin asks
 * the gate and makes the intent durable; end, on whichever thread, asks, makes the answer durable
 * and frees the ask. From then on hone_journal_ask with that key finds it. model and request are
 * borrowed until the end; a model serves one ask at a time. */
struct hone_journal_ask; /* opaque */
int hone_journal_begin(struct hone_journal *journal, const char *role, const char *key,
                       struct hone_model *model, const struct hone_model_request *request,
                       struct hone_journal_ask **ret, struct hone_err *err);
int hone_journal_end(struct hone_journal_ask *ask, struct hone_err *err);

/* Is there a stored answer? */
bool hone_journal_has(const struct hone_journal *journal, const char *role, const char *key);
/* Keys of stored answers, as they were asked; in the pool. */
size_t hone_journal_keys(const struct hone_journal *journal, const char *role,
                         struct hone_pool *pool, const char *const **ret);
void hone_journal_spend(const struct hone_journal *journal, struct hone_spend *ret);
/* The same by role and by the configured name of the model that was asked, in the order in which
 * they were asked first. */
struct hone_spend_row {
    const char *role, *model;
    struct hone_spend spend;
};
size_t hone_journal_rows(const struct hone_journal *journal, struct hone_pool *pool,
                         struct hone_spend_row **ret);
/* Was what the model said of use? Written beside the answer ("model.used": refusal NULL, or why it
 * was refused; note: what of it did not count, or NULL). Not synced: nothing depends on it. */
int hone_journal_note(struct hone_journal *journal, const char *role, const char *key,
                      const char *refusal, const char *note, struct hone_err *err);

#endif
