/* SPDX-License-Identifier: Apache-2.0 */
/* What a search writes into the ledger, one struct and one field table for each type of record.
 * Whoever writes a record and whoever reads it uses the same table, so that no member is written
 * and forgotten. Records of older versions are read too: a member that is missing or unreadable
 * takes its fallback.
 *
 *     struct hone_event e = {.type = HONE_EVENT_WEIGHTS,
 *                            .weights = {.search = id, .rules = 0.6, .llm = 0.4}};
 *     r = hone_event_append(ledger, &e, err);
 *     ...
 *     if (hone_event_read(type, data, pool, &e) && e.type == HONE_EVENT_WEIGHTS) ...
 *
 * A double that is NaN and a string that is NULL are not written. Any thread. */
#ifndef HONE_AGENTS_EVENTS_H
#define HONE_AGENTS_EVENTS_H

#include "agents/search/budget.h"
#include "workspace/base/fields.h"
#include "workspace/ledger.h"

enum hone_event_type {
    HONE_EVENT_START,    /* search.start: a round begins */
    HONE_EVENT_RUN,      /* search.run: a process goes on with it */
    HONE_EVENT_STEP,     /* search.step: a step is about to be tried */
    HONE_EVENT_LEFT_OUT, /* search.left_out: a step that the cost model advises against */
    HONE_EVENT_RESULT,   /* search.result: what came of a step or a longer look */
    HONE_EVENT_STEERED,  /* search.steered: a request of the user was taken in */
    HONE_EVENT_ANSWER,   /* search.answer: a submission was refused or dropped */
    HONE_EVENT_WEIGHTS,  /* planner.weights: of the rules' and the model's priors */
    HONE_EVENT_STEER,    /* search.steer: a request of the user (steer.h) */
    HONE_EVENT_SUBMIT,   /* search.submit: a step from outside (steer.h) */
    HONE_EVENT_END,      /* search.end: the round has ended; its result is in the same record */
    HONE_N_EVENTS
};

/* Numbers of versions are those of the tree's nodes (hone_node.number); -1: none. */
struct hone_event_caps {
    int64_t budget_wall_ms, budget_evaluations, budget_device_ms, budget_disk_bytes, budget_tokens;
    double budget_cost;
};

struct hone_event_start {
    const char *search, *key, *task, *task_hash, *target, *name, *policy, *coder, *planner, *model;
    const char *machine;
    int64_t seed;
    struct hone_json *prior; /* rows as in agents/planner/prior.h; NULL: the catalogue alone */
    const char *knowledge;   /* lines that models are shown; NULL: none */
    double skip_below;       /* steps whose chance of a gain is below it are left out; 0: none */
    struct hone_json *cost;  /* by this model (agents/planner/cost_model.h) */
    struct hone_event_caps caps;
};

struct hone_event_run {
    const char *search, *name;
    struct hone_event_caps caps;
};

struct hone_event_step {
    const char *search, *rewrite, *strategy, *anchor, *rule, *values, *by;
    int64_t step, parent, depth, variant, submission, planner;
    double prior, p_impl, expected_log2, low, high, propensity;
    struct hone_json *features, *legal;
};

struct hone_event_left_out {
    const char *search, *rewrite, *strategy, *anchor, *words;
    int64_t step, parent, variant; /* step: the last intent before it */
    double predicted_log2, error_log2, chance;
};

enum hone_result_kind {
    HONE_KIND_ROOT,
    HONE_KIND_EXPAND,
    HONE_KIND_DECIDE,
    HONE_KIND_SWEEP,
    HONE_KIND_TUNE,
    HONE_KIND_CONFIRM,
    HONE_N_KINDS
};
extern const char *const hone_result_kinds[HONE_N_KINDS + 1]; /* NULL-terminated */

struct hone_event_result {
    const char *search, *kind;
    int64_t step, parent, node; /* node -1: it became no version */
    int64_t elapsed_ms, evaluations;
    const char *rewrite, *anchor;
    int64_t variant, submission;
    bool is_implemented, is_gain, is_declined;
    const char *moved, *class; /* what the planner learnt of an expansion */
    double gain, g_eff, reward, prior;
    const char *words, *note, *plan;
    double value, se; /* of the version, as it stands now */
    double ratio_low, ratio_high;
    const char *look, *times;
    int64_t sizes_timed, sizes;
    struct hone_json *profile;
    const char *verdict, *reason, *evaluation, *commit, *code; /* of the evaluation */
    const char *settings;
    double ratio;
    int64_t wall_ms;
    struct hone_json *measured;
};

struct hone_event_steered {
    const char *search, *action;
    int64_t steer, step, elapsed_ms;
};

struct hone_event_answer {
    const char *search, *status, *note;
    int64_t submission;
};

struct hone_event_weights {
    const char *search;
    double rules, llm;
};

struct hone_event_steer { /* the record's number is the request's */
    const char *search, *action, *strategy, *text, *by;
};

struct hone_event_submit { /* the record's number is the submission's */
    const char *search, *by, *commit, *rewrite, *anchor;
    int64_t variant;
    const char *strategy, *source;
    double expected;
    const char *words;
};

struct hone_search_count {
    const char *verdict;
    int64_t n;
};

/* Of a round, when it has ended. Strings live in the pool that the caller gave. */
struct hone_search_result {
    const char *task, *target, *name;
    double baseline_ns, best_ns;  /* geometric mean over the workloads of the confirmation */
    double speedup;               /* 1 when nothing faster was confirmed; NaN when not measured */
    double vs_fast_math;          /* NaN: not measured */
    struct hone_array yardsticks; /* of struct hone_yardstick: of the confirmation */
    struct hone_f64s ci;          /* low, high: 95 % */
    int64_t evaluations;
    struct hone_array verdicts; /* of struct hone_search_count */
    int64_t unruly;             /* versions that failed where the baseline worked */
    const char *best_commit;    /* NULL: none */
    double percent_of_bound;
    const char *verdict;     /* of the confirmation */
    const char *why_stopped; /* hone_stop_reason_name */
    const char *summary;     /* one line */
    const char *doubt;       /* why the figure may not be claimed; NULL: it may */
    const char *rests_on;    /* of the confirmation: tools/rests_text.h; NULL: not told */
    const char *unread;      /* nests of the baseline that no rule reads, and why; NULL: none */
    bool is_resumed;
    int64_t wall_ms;
    int64_t waited_ms;         /* beside wall_ms, for other timings; this process's part */
    const char *waited_for;    /* who held the timing lease last; NULL: nobody was waited for */
    const char *unconfirmed;   /* why no confirmation began, in words; NULL: one did */
    int64_t device_ms, tokens; /* all rounds */
    double cost;               /* USD, all rounds; asks without an answer with their reserve */
};
enum { HONE_SEARCH_N_RESULT_FIELDS = 28 };
extern const struct hone_field hone_search_result_fields[HONE_SEARCH_N_RESULT_FIELDS];
extern const size_t hone_search_n_result_fields;

struct hone_event_end {
    const char *search;
    const struct hone_search_result
        *result; /* written into the same record; NULL when it is read */
};

struct hone_event {
    enum hone_event_type type;
    union {
        struct hone_event_start start;
        struct hone_event_run run;
        struct hone_event_step step;
        struct hone_event_left_out left_out;
        struct hone_event_result result;
        struct hone_event_steered steered;
        struct hone_event_answer answer;
        struct hone_event_weights weights;
        struct hone_event_steer steer;
        struct hone_event_submit submit;
        struct hone_event_end end;
    };
};

/* All kinds of numbers that a result may lack are set to "none". */
struct hone_event hone_event_new_result(enum hone_result_kind kind);
/* HONE_N_KINDS: no such word. */
enum hone_result_kind hone_event_kind(const struct hone_event_result *result);
/* Whose record it is: its id; "": not told. */
const char *hone_event_search(const struct hone_event *event);
/* The cap of that kind. */
double hone_event_cap(const struct hone_event_caps *caps, enum hone_budget_kind kind);
/* *ret_n (may be NULL): number of the record. */
int hone_event_append(struct hone_ledger *ledger, const struct hone_event *event, uint64_t *ret_n,
                      struct hone_err *err);
/* False: the record is none of these. Strings and values live in the pool. */
bool hone_event_read(const char *type, const struct hone_json *data, struct hone_pool *pool,
                     struct hone_event *ret);

#endif
