/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of model requests (journal.h): intent before asking, answer before use.
 *
 * State: one entry for each ask of the search, read back from the ledger by hone_journal_load;
 * the gate that the search sets to check its caps; the lock, because requests that are made
 * ahead run on threads of their own. An entry has an answer, or a fault, or neither: then the
 * process ended in between, and its whole reserve counts as spent. */
#include "agents/model/journal.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/log.h"

struct entry {                           /* one ask */
    const char *id, *role, *key, *model; /* model: its configured name */
    struct hone_model_estimate most;
    bool is_answered, has_text;
    const char *fault; /* answered without a text; NULL: none is known */
    struct hone_model_answer answer;
    struct entry *next;
};

struct hone_journal {
    struct hone_ledger *ledger;
    const char *search;
    hone_journal_gate_fn *gate;
    void *gate_arg;
    pthread_mutex_t *lock;  /* of what follows */
    struct hone_pool *pool; /* of entries and their strings */
    struct entry *entries;  /* newest first */
    int64_t n_entries;
};

static void lock(const struct hone_journal *j)
{
    pthread_mutex_lock(j->lock);
}

static void unlock(const struct hone_journal *j)
{
    pthread_mutex_unlock(j->lock);
}

struct hone_journal *hone_journal_new(struct hone_ledger *ledger)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_journal *j = hone_pool_alloc(pool, sizeof(*j));
    j->ledger = ledger;
    j->pool = pool;
    j->search = "";
    j->lock = hone_pool_alloc(pool, sizeof(*j->lock));
    pthread_mutex_init(j->lock, NULL);
    return j;
}

void hone_journal_free(struct hone_journal *journal)
{
    if (!journal)
        return;
    pthread_mutex_destroy(journal->lock);
    hone_pool_free(journal->pool);
}

void hone_journal_set_gate(struct hone_journal *journal, hone_journal_gate_fn *gate, void *arg)
{
    journal->gate = gate;
    journal->gate_arg = arg;
}

/* ---- counting ---- */

static void add_cost(struct hone_spend *s, double cost)
{
    if (isnan(cost))
        s->n_unpriced++;
    else
        s->cost += cost;
}

static void count_answer(struct hone_spend *s, const struct hone_model_answer *a)
{
    s->n_answers++;
    s->tokens_in += a->tokens_in;
    s->tokens_out += a->tokens_out;
    s->tokens_cached += a->tokens_cached;
    s->tokens_lost += a->tokens_lost;
    add_cost(s, a->cost);
}

static void count_reserve(struct hone_spend *s, const struct hone_model_estimate *m)
{
    s->tokens_in += m->tokens_in;
    s->tokens_out += m->tokens_out;
    s->tokens_lost += m->tokens_lost;
    add_cost(s, m->cost);
}

/* What a provider may charge for a request that failed is not told: all of its reserve counts. */
static bool may_be_billed(const char *fault)
{
    for (size_t i = 0; i < HONE_N_FAULTS; i++)
        if (fault && strcmp(hone_model_faults[i].name, fault) == 0)
            return hone_model_faults[i].may_be_billed;
    return true;
}

static void count_entry(struct hone_spend *s, const struct entry *e)
{
    s->n_asks++;
    if (e->has_text) {
        count_answer(s, &e->answer);
        return;
    }
    s->n_faults += e->is_answered;
    s->n_unknown += !e->is_answered;
    if (!e->is_answered || may_be_billed(e->fault))
        count_reserve(s, &e->most);
}

void hone_journal_spend(const struct hone_journal *journal, struct hone_spend *ret)
{
    *ret = (struct hone_spend){.n_asks = 0};
    lock(journal);
    for (const struct entry *e = journal->entries; e; e = e->next)
        count_entry(ret, e);
    unlock(journal);
}

static struct hone_spend *row_of(struct hone_spend_row *rows, size_t *n, const struct entry *e)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(rows[i].role, e->role) == 0 && strcmp(rows[i].model, e->model) == 0)
            return &rows[i].spend;
    rows[*n] = (struct hone_spend_row){.role = e->role, .model = e->model};
    return &rows[(*n)++].spend;
}

size_t hone_journal_rows(const struct hone_journal *journal, struct hone_pool *pool,
                         struct hone_spend_row **ret)
{
    lock(journal);
    size_t n_most = (size_t)journal->n_entries + 1, n = 0, at = n_most;
    struct hone_spend_row *rows = hone_pool_alloc(pool, n_most * sizeof(*rows));
    const struct entry **in_order = hone_pool_alloc(pool, n_most * sizeof(const void *));
    for (const struct entry *e = journal->entries; e; e = e->next)
        in_order[--at] = e;
    for (; at < n_most; at++)
        count_entry(row_of(rows, &n, in_order[at]), in_order[at]);
    for (size_t i = 0; i < n; i++) {
        rows[i].role = hone_pool_strdup(pool, rows[i].role);
        rows[i].model = hone_pool_strdup(pool, rows[i].model);
    }
    unlock(journal);
    *ret = rows;
    return n;
}

/* ---- reading ---- */

static const char *keep(struct hone_journal *j, const struct hone_json *data, const char *name)
{
    return hone_pool_strdup(j->pool, hone_json_get_str(data, name, ""));
}

static double cost_in(const struct hone_json *data)
{
    return hone_json_get_f64(data, "cost", (double)NAN);
}

static struct entry *add_entry(struct hone_journal *j, const char *id, const char *role,
                               const char *key, const char *model)
{
    struct entry *e = hone_pool_alloc(j->pool, sizeof(*e));
    *e = (struct entry){.id = hone_pool_strdup(j->pool, id),
                        .role = hone_pool_strdup(j->pool, role),
                        .key = hone_pool_strdup(j->pool, key),
                        .model = hone_pool_strdup(j->pool, model),
                        .next = j->entries};
    j->entries = e;
    j->n_entries++;
    return e;
}

static struct entry *find_id(const struct hone_journal *j, const char *id)
{
    struct entry *e = j->entries;
    while (e && strcmp(e->id, id) != 0)
        e = e->next;
    return e;
}

static void read_ask(struct hone_journal *j, const struct hone_json *data)
{
    struct entry *e =
        add_entry(j, hone_json_get_str(data, "ask", ""), hone_json_get_str(data, "role", ""),
                  hone_json_get_str(data, "key", ""), hone_json_get_str(data, "model", ""));
    e->most =
        (struct hone_model_estimate){.tokens_in = hone_json_get_i64(data, "reserved_in", 0),
                                     .tokens_out = hone_json_get_i64(data, "reserved_out", 0),
                                     .tokens_lost = hone_json_get_i64(data, "reserved_lost", 0),
                                     .cost = hone_json_get_f64(data, "reserved_cost", (double)NAN)};
}

static void read_answer(struct hone_journal *j, const struct hone_json *data)
{
    struct entry *e = find_id(j, hone_json_get_str(data, "ask", ""));
    const char *fault = hone_json_get_str(data, "fault", NULL);
    if (!e || e->is_answered)
        return;
    e->is_answered = true;
    if (fault) {
        e->fault = hone_pool_strdup(j->pool, fault);
        return;
    }
    e->has_text = true;
    e->answer =
        (struct hone_model_answer){.text = keep(j, data, "text"),
                                   .stop_reason = keep(j, data, "stop_reason"),
                                   .model = keep(j, data, "model"),
                                   .answered_by = keep(j, data, "answered_by"),
                                   .request_id = keep(j, data, "request_id"),
                                   .tokens_in = hone_json_get_i64(data, "tokens_in", 0),
                                   .tokens_out = hone_json_get_i64(data, "tokens_out", 0),
                                   .tokens_cached = hone_json_get_i64(data, "tokens_cached", 0),
                                   .tokens_written = hone_json_get_i64(data, "tokens_written", 0),
                                   .tokens_lost = hone_json_get_i64(data, "tokens_lost", 0),
                                   .is_estimated = hone_json_get_bool(data, "is_estimated", false),
                                   .cost = cost_in(data),
                                   .latency_ms = hone_json_get_i64(data, "latency_ms", 0),
                                   .n_tries = hone_json_get_i64(data, "tries", 1)};
}

static int read_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                       const struct hone_json *data, struct hone_err *err)
{
    struct hone_journal *j = arg;
    (void)n;
    (void)wall_ms;
    (void)err;
    if (strcmp(hone_json_get_str(data, "search", ""), j->search) != 0)
        return 0;
    if (strcmp(type, "model.ask") == 0)
        read_ask(j, data);
    else if (strcmp(type, "model.answer") == 0)
        read_answer(j, data);
    return 0;
}

int hone_journal_load(struct hone_journal *journal, const char *search_id, struct hone_err *err)
{
    struct hone_err cause = HONE_ERR_INIT;
    journal->search = hone_pool_strdup(journal->pool, search_id);
    int r = hone_ledger_scan_type(journal->ledger, "model.", read_record, journal, &cause);
    if (r == HONE_E_CORRUPT) /* all other records were read; a lost answer is asked for again */
        hone_log(HONE_LOG_WARN, "search=%s model answers were read without damaged records",
                 search_id);
    else if (r < 0)
        return hone_fail(err, (enum hone_code)r, "reading what models answered: %.300s",
                         cause.message);
    return 0;
}

/* ---- asking ---- */

static struct hone_json *record_of(const struct hone_journal *j, const char *id, const char *role,
                                   const char *key)
{
    struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "search", j->search);
    hone_json_set_str(data, "ask", id);
    hone_json_set_str(data, "role", role);
    hone_json_set_str(data, "key", key);
    return data;
}

static int append_durably(struct hone_journal *j, const char *type, const struct hone_json *data,
                          struct hone_err *err)
{
    int r = hone_ledger_append(j->ledger, type, data, NULL, err);
    return r < 0 ? r : hone_ledger_sync(j->ledger, err);
}

static int write_ask(struct hone_journal *j, const struct entry *e, const char *model,
                     const char *hash, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *data = record_of(j, e->id, e->role, e->key);
    hone_json_set_str(data, "model", model);
    hone_json_set_str(data, "request", hash);
    hone_json_set_i64(data, "reserved_in", e->most.tokens_in);
    hone_json_set_i64(data, "reserved_out", e->most.tokens_out);
    hone_json_set_i64(data, "reserved_lost", e->most.tokens_lost);
    if (!isnan(e->most.cost))
        hone_json_set_f64(data, "reserved_cost", e->most.cost);
    return append_durably(j, "model.ask", data, err);
}

static int write_fault(struct hone_journal *j, const struct entry *e, const struct hone_err *cause,
                       struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *data = record_of(j, e->id, e->role, e->key);
    hone_json_set_str(data, "fault", hone_model_faults[hone_model_fault_of(cause)].name);
    hone_json_set_str(data, "message", cause->message);
    return append_durably(j, "model.answer", data, err);
}

static int write_answer(struct hone_journal *j, const struct entry *e, const char *hash,
                        struct hone_err *err)
{
    const struct hone_model_answer *a = &e->answer;
    HONE_AUTOJSON struct hone_json *data = record_of(j, e->id, e->role, e->key);
    hone_json_set_str(data, "request", hash);
    hone_json_set_str(data, "text", a->text);
    hone_json_set_str(data, "stop_reason", a->stop_reason);
    hone_json_set_str(data, "model", a->model);
    hone_json_set_str(data, "answered_by", a->answered_by);
    hone_json_set_str(data, "request_id", a->request_id);
    hone_json_set_i64(data, "tokens_in", a->tokens_in);
    hone_json_set_i64(data, "tokens_out", a->tokens_out);
    hone_json_set_i64(data, "tokens_cached", a->tokens_cached);
    hone_json_set_i64(data, "tokens_written", a->tokens_written);
    hone_json_set_i64(data, "tokens_lost", a->tokens_lost);
    hone_json_set_bool(data, "is_estimated", a->is_estimated);
    if (!isnan(a->cost))
        hone_json_set_f64(data, "cost", a->cost);
    hone_json_set_i64(data, "latency_ms", a->latency_ms);
    hone_json_set_i64(data, "tries", a->n_tries);
    return append_durably(j, "model.answer", data, err);
}

static struct hone_model_answer copy_of(const struct hone_model_answer *a, struct hone_pool *pool)
{
    struct hone_model_answer copy = *a;
    copy.text = hone_pool_strdup(pool, a->text);
    copy.stop_reason = hone_pool_strdup(pool, a->stop_reason);
    copy.model = hone_pool_strdup(pool, a->model);
    copy.answered_by = hone_pool_strdup(pool, a->answered_by);
    copy.request_id = hone_pool_strdup(pool, a->request_id);
    return copy;
}

static const struct entry *find_stored(const struct hone_journal *j, const char *role,
                                       const char *key)
{
    for (const struct entry *e = j->entries; e; e = e->next)
        if (e->has_text && strcmp(e->role, role) == 0 && strcmp(e->key, key) == 0)
            return e;
    return NULL;
}

static bool copy_stored(const struct hone_journal *j, const char *role, const char *key,
                        struct hone_pool *pool, struct hone_model_answer *ret)
{
    lock(j);
    const struct entry *e = find_stored(j, role, key);
    if (e)
        *ret = copy_of(&e->answer, pool);
    unlock(j);
    return e != NULL;
}

bool hone_journal_has(const struct hone_journal *journal, const char *role, const char *key)
{
    lock(journal);
    bool has = find_stored(journal, role, key) != NULL;
    unlock(journal);
    return has;
}

size_t hone_journal_keys(const struct hone_journal *journal, const char *role,
                         struct hone_pool *pool, const char *const **ret)
{
    lock(journal);
    const char **keys = hone_pool_alloc(pool, ((size_t)journal->n_entries + 1) * sizeof(*keys));
    size_t n = 0;
    for (const struct entry *e = journal->entries; e; e = e->next)
        n += e->has_text && strcmp(e->role, role) == 0;
    size_t at = n;
    for (const struct entry *e = journal->entries; e; e = e->next)
        if (e->has_text && strcmp(e->role, role) == 0)
            keys[--at] = hone_pool_strdup(pool, e->key);
    unlock(journal);
    *ret = keys;
    return n;
}

/* ---- an ask in two halves ---- */

struct hone_journal_ask { /* borrows model and request */
    struct hone_journal *journal;
    struct entry *entry;
    struct hone_model *model;
    const struct hone_model_request *request;
    char hash[HONE_HASH_TEXT_BYTES];
};

int hone_journal_begin(struct hone_journal *journal, const char *role, const char *key,
                       struct hone_model *model, const struct hone_model_request *request,
                       struct hone_journal_ask **ret, struct hone_err *err)
{
    struct hone_model_estimate most;
    struct hone_spend spend;
    char id[32];
    *ret = NULL;
    hone_model_cost_estimate(model, request, &most);
    hone_journal_spend(journal, &spend);
    int r = journal->gate ? journal->gate(journal->gate_arg, &most, &spend, err) : 0;
    if (r < 0)
        return r;
    struct hone_journal_ask *a = hone_calloc(1, sizeof(*a));
    a->journal = journal;
    a->model = model;
    a->request = request;
    hone_model_request_hash(request, a->hash);
    lock(journal);
    snprintf(id, sizeof(id), "q-%lld", (long long)journal->n_entries + 1);
    a->entry = add_entry(journal, id, role, key ? key : a->hash, hone_model_name(model));
    a->entry->most = most;
    unlock(journal);
    r = write_ask(journal, a->entry, hone_model_name(model), a->hash, err);
    if (r < 0) {
        free(a);
        return r;
    }
    *ret = a;
    return 0;
}

/* The answer's strings move from the pool it was received in to the journal's. */
static int keep_answer(struct hone_journal_ask *a, const struct hone_model_answer *answer,
                       struct hone_err *err)
{
    lock(a->journal);
    a->entry->answer = copy_of(answer, a->journal->pool);
    a->entry->is_answered = true;
    unlock(a->journal);
    int r = write_answer(a->journal, a->entry, a->hash, err);
    lock(a->journal);
    a->entry->has_text = r == 0;
    unlock(a->journal);
    return r;
}

static int keep_fault(struct hone_journal_ask *a, const struct hone_err *cause,
                      struct hone_err *err)
{
    lock(a->journal);
    a->entry->is_answered = true;
    a->entry->fault = hone_model_faults[hone_model_fault_of(cause)].name;
    unlock(a->journal);
    int r = write_fault(a->journal, a->entry, cause, err);
    if (r == 0 && err)
        *err = *cause;
    return r < 0 ? r : (int)cause->code;
}

int hone_journal_end(struct hone_journal_ask *ask, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE struct hone_journal_ask *a = ask;
    struct hone_err cause = HONE_ERR_INIT;
    struct hone_model_answer answer;
    int r = hone_model_ask(a->model, a->request, pool, &answer, &cause);
    return r == 0 ? keep_answer(a, &answer, err) : keep_fault(a, &cause, err);
}

int hone_journal_ask(struct hone_journal *journal, const char *role, const char *key,
                     struct hone_model *model, const struct hone_model_request *request,
                     struct hone_pool *pool, struct hone_model_answer *ret, bool *ret_is_stored,
                     struct hone_err *err)
{
    char hash[HONE_HASH_TEXT_BYTES];
    struct hone_journal_ask *ask;
    if (!key)
        hone_model_request_hash(request, hash);
    key = key ? key : hash;
    *ret_is_stored = copy_stored(journal, role, key, pool, ret);
    if (*ret_is_stored)
        return 0;
    int r = hone_journal_begin(journal, role, key, model, request, &ask, err);
    if (r == 0)
        r = hone_journal_end(ask, err);
    if (r == 0 && !copy_stored(journal, role, key, pool, ret))
        r = hone_fail(err, HONE_E_CORRUPT, "an answer that was stored is gone");
    return r;
}

int hone_journal_note(struct hone_journal *journal, const char *role, const char *key,
                      const char *refusal, const char *note, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "search", journal->search);
    hone_json_set_str(data, "role", role);
    hone_json_set_str(data, "key", key);
    if (refusal)
        hone_json_set_str(data, "refusal", refusal);
    if (note)
        hone_json_set_str(data, "note", note);
    return hone_ledger_append(journal->ledger, "model.used", data, NULL, err);
}
