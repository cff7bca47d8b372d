/* SPDX-License-Identifier: Apache-2.0 */
/* Steering a search from outside: requests, submissions, and what holds after them.
 *
 * Everything is a record in the ledger, so that it does not matter in which process the
 * search runs, nothing is lost in a crash, and a search that goes on meets the same requests
 * in the same order:
 *
 *   search.run      {search, name}: a process took the search up
 *   search.steer    {search, action, strategy?, text?, by}: a request; its number is the record's
 *   search.steered  {search, steer, step}: the running search has seen request `steer`
 *   search.submit   {search, by, commit?, rewrite?, anchor?, variant?, strategy?, source?,
 *                    expected?, words?}: a step from outside; its handle is the record's number
 *   search.result   with `submission`: what came of it (struct hone_event_result)
 *   search.answer   {search, submission, status, note}: nothing came of it, and why
 *
 * struct hone_steering is the fold of these records. Bans hold for the built-in planner and for
 * submissions; STOP is never banned. A search stays paused over a restart.
 *
 * Calling sequence of somebody outside:
 *
 *     struct hone_steer_search which;
 *     hone_steer_find(ws, "softmax", pool, &which, err);
 *     struct hone_steer_request ban = {.action = HONE_STEER_BAN, .strategy = "C15", .by = "me"};
 *     hone_steer_send(ws, &which, &ban, NULL, err);
 *     struct hone_submission step = {.strategy = "C08", .expected = NAN, .by = "me"};
 *     uint64_t n;
 *     hone_submit(ws, &which, &step, &n, err);
 *     struct hone_submitted out;
 *     hone_submission_wait(ws, &which, n, hone_deadline_in_ms(60000), NULL, pool, &out, err);
 *
 * Any thread, in any process, for these; a struct hone_steering belongs to one thread. Sending and
 * submitting sync the ledger before they return. */
#ifndef HONE_AGENTS_STEER_H
#define HONE_AGENTS_STEER_H

#include "agents/planner/credit.h"
#include "agents/search/options.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"
#include "workspace/ledger.h"
#include "workspace/workspace.h"

/* a favoured strategy's prior is multiplied by this before it is shared */
#define HONE_FAVOUR 4.0

enum hone_steer_action {
    HONE_STEER_PAUSE,
    HONE_STEER_RESUME,
    HONE_STEER_BAN,    /* a strategy is illegal from now on */
    HONE_STEER_FAVOUR, /* its prior counts HONE_FAVOUR times; lifts a ban */
    HONE_STEER_UNBAN,  /* neither banned nor favoured */
    HONE_STEER_HINT,   /* a text for models; the newest HONE_LIMIT_HINTS stand; "": none */
    HONE_STEER_STOP,   /* end in order, with the confirmation */
    HONE_N_STEER_ACTIONS
};
/* Words of the actions, NULL-terminated. */
extern const char *const hone_steer_actions[HONE_N_STEER_ACTIONS + 1];
bool hone_steer_parse(const char *word, enum hone_steer_action *ret);

/* ---- which search ---- */

struct hone_steer_search { /* strings in the pool */
    const char *id, *name, *task, *target;
    struct hone_search_options options; /* as it began */
    bool is_running;                    /* somewhere: a process holds its lock */
    bool has_ended;                     /* its last round did */
};
/* By id, or the last one of that name that ran. HONE_E_NOT_FOUND names those that there are. */
int hone_steer_find(struct hone_workspace *ws, const char *name, struct hone_pool *pool,
                    struct hone_steer_search *ret, struct hone_err *err);
bool hone_steer_is_running(struct hone_workspace *ws, const char *name);

/* ---- requests ---- */

struct hone_steer_request {
    enum hone_steer_action action;
    const char *strategy; /* of ban, favour, unban: an id of the catalogue */
    const char *text;     /* of hint: one line */
    const char *by;       /* who asks */
};
/* Makes the request durable; *ret_n (may be NULL) is its number. HONE_E_ARG, HONE_E_LIMIT (a hint
 * above HONE_LIMIT_HINT_BYTES), HONE_E_NOT_FOUND (no such strategy for the search's target). */
int hone_steer_send(struct hone_workspace *ws, const struct hone_steer_search *search,
                    const struct hone_steer_request *request, uint64_t *ret_n,
                    struct hone_err *err);
/* A name as it stands in records and trailers: printable ASCII, short. In the pool. */
const char *hone_steer_by(const char *caller, struct hone_pool *pool);

/* ---- submissions ---- */

struct hone_submission { /* strings in the pool of the steering */
    uint64_t n;          /* handle */
    const char *by;
    const char *commit;           /* the version it starts from; NULL: the best one */
    const char *rewrite, *anchor; /* a step for the search's own coder */
    int64_t variant;
    const char *strategy; /* catalogue id: with a source what it carries out; without, the step */
    const char *source;   /* NULL: the coder writes it */
    double expected;      /* speedup over the version; NaN: the planner's guess */
    const char *words;    /* what it does, one line; NULL */
    struct hone_submission *next;
};
/* Queues it; *ret_n is the handle. HONE_E_BUSY: HONE_LIMIT_SUBMISSIONS wait already. HONE_E_ARG:
 * no process runs the search, a banned strategy, and others; HONE_E_LIMIT, HONE_E_NOT_FOUND. */
int hone_submit(struct hone_workspace *ws, const struct hone_steer_search *search,
                const struct hone_submission *submission, uint64_t *ret_n, struct hone_err *err);

struct hone_submitted { /* strings in the pool */
    const char *status; /* waiting, done, refused, dropped */
    const char *verdict, *reason, *commit, *evaluation, *words, *note;
    double ratio; /* screened, against the baseline; NaN */
    int64_t node; /* -1: it became no version */
    bool is_gain;
    bool is_running; /* the search */
};
/* Blocks until the outcome is there, the deadline is over, or nobody runs the search; the first and
 * the last way to tell are ret->status and ret->is_running. Reads the ledger again and again
 * meanwhile. HONE_E_NOT_FOUND: no such submission of this search. HONE_E_CANCEL. */
int hone_submission_wait(struct hone_workspace *ws, const struct hone_steer_search *search,
                         uint64_t n, int64_t deadline_ns, const struct hone_cancel *cancel,
                         struct hone_pool *pool, struct hone_submitted *ret, struct hone_err *err);

/* ---- what holds ---- */

struct hone_steer_note { /* a request that the search has not acknowledged */
    uint64_t n;
    enum hone_steer_action action;
    const char *strategy, *text, *by;
};

struct hone_steering {
    struct hone_pool *pool;
    const char *id, *target;
    struct hone_ledger_place place;
    size_t n_requests; /* taken in so far */
    bool is_paused, wants_stop;
    bool is_banned[HONE_CREDIT_MAX], is_favoured[HONE_CREDIT_MAX]; /* by index in the catalogue */
    const char *hints[HONE_LIMIT_HINTS];
    size_t n_hints;
    struct hone_steer_note *notes;
    size_t n_notes, room;
    struct hone_submission *first; /* waiting, in order */
    size_t n_waiting;
};
void hone_steering_init(struct hone_steering *steering, const char *id, const char *target,
                        struct hone_pool *pool);
/* Takes in what was added since; cheap when nothing was. */
int hone_steering_read(struct hone_steering *steering, struct hone_ledger *ledger,
                       struct hone_err *err);
/* "ban C04, favour C08": the bans that hold, whether this strategy (NULL: none) is favoured, and
 * that hints were shown (with_hints). NULL: nothing. In the pool. */
const char *hone_steering_words(const struct hone_steering *steering, const char *strategy,
                                bool with_hints, struct hone_pool *pool);

#endif
