/* SPDX-License-Identifier: Apache-2.0 */
/* What a search did, told from its ledger records alone: the morning report.
 *
 * Reading takes one pass over the ledger. A search that was killed, or still runs, has a report too.
 * Strings live in the pool. Any thread. */
#ifndef HONE_AGENTS_SEARCH_REPORT_H
#define HONE_AGENTS_SEARCH_REPORT_H

#include "agents/search/budget.h"
#include "workspace/base/fields.h"
#include "workspace/workspace.h"

struct hone_report_step { /* a result, with the intent that came before it */
    int64_t step;         /* number of the intent; 0: none (baseline, decide, sweep, confirm) */
    const char *kind;     /* root, expand, decide, sweep, tune, confirm */
    int64_t parent, node; /* numbers in the tree; -1: none */
    const char *words;    /* the step, for people */
    const char *strategy; /* catalogue id; NULL: none */
    const char *rule;     /* the rule that fired, with its values */
    double expected, low, high; /* log2 gain that was expected, 80 % interval; NaN: no intent */
    double propensity;          /* chance with which the policy took it; NaN */
    double value;               /* log2 speedup over the baseline; NaN: the step gave no version */
    double ratio;               /* of this measurement; NaN */
    double ratio_low, ratio_high; /* 95 % interval of 2^value; 0: none */
    const char *verdict, *reason, *commit, *note, *evaluation;
    const char *barred; /* a confirmation's: why its figure may not be claimed, such as that its
                           version was found wrong, in whatever run; NULL: it may */
    bool is_implemented, is_gain, is_declined;
    int64_t elapsed_ms, evaluations; /* of the search, when it was over */
    int64_t wall_ms;                 /* of this evaluation */
};

struct hone_report_evaluation { /* also those that no step ended with: repairs, profiles */
    const char *id, *tier, *verdict, *reason; /* no verdict: it has no end (killed) */
    const char *commit;                       /* NULL: none was made */
    int64_t step;                             /* number of the intent before it; 0: none */
};

struct hone_report_model { /* what asking one model in one role cost */
    const char *role, *model;
    int64_t n_asked, n_answered;
    int64_t tokens_in, tokens_out; /* an ask without an answer counts with what was set aside */
    int64_t tokens_lost;           /* beside them: tries that broke off */
    double cost;                   /* USD, likewise */
    int64_t n_unpriced;            /* asks whose cost is not known */
};

struct hone_report_left_out { /* a step that the cost model advised against */
    int64_t step, parent;     /* the intent before it; the version */
    const char *words, *strategy, *rewrite, *anchor;
    int64_t variant;
    double predicted, error, chance; /* log2, log2, 0 to 1 */
    bool is_taken;                   /* later, when nothing else was left */
};

struct hone_report_steer { /* a request from outside (steer.h) */
    int64_t wall_ms;
    const char *action, *what, *by; /* what: strategy or hint; "" */
    bool is_taken;                  /* the search has seen it */
    uint64_t n;
};

struct hone_search_report {
    const char *id, *name, *task, *task_hash, *target, *policy, *coder;
    int64_t seed, start_ms, last_ms; /* Unix milliseconds of the first and the last record */
    const char *knowledge;           /* lines that models were shown; NULL: none */
    int64_t n_rounds;                /* ended and begun again */
    struct hone_json *budgets;       /* caps that the last run had: budget_*; owned by the pool */
    struct hone_budgets spent;       /* of all rounds, and caps; disk is not told */
    struct hone_array steps;         /* of hone_report_step */
    struct hone_report_step intent;  /* begun and not over, without words; its step is 0: none */
    struct hone_array evaluations;   /* of hone_report_evaluation, all that it began */
    struct hone_array models;        /* of hone_report_model */
    struct hone_array steers;        /* of hone_report_steer */
    struct hone_array left_out;      /* of hone_report_left_out */
    struct hone_json *end; /* data of the last search.end; NULL: killed, or still running */
};

/* The newest search of that name, or with that id; NULL: the newest of all. HONE_E_NOT_FOUND names
 * those that there are. Damaged ledger lines are left out; ret_is_damaged says so. */
int hone_search_report_read(struct hone_workspace *ws, const char *name, struct hone_pool *pool,
                            struct hone_search_report *ret, bool *ret_is_damaged,
                            struct hone_err *err);

/* The same again and again, of a search that goes on: the first reading takes the pass, later ones
 * read what was added. One thread at a time; the report is borrowed until the next reading, and
 * grows with the search. name: as above, copied. */
struct hone_search_reader;
struct hone_search_reader *hone_search_reader_new(struct hone_workspace *ws, const char *name);
void hone_search_reader_free(struct hone_search_reader *reader); /* NULL is fine */
int hone_search_reader_read(struct hone_search_reader *reader,
                            const struct hone_search_report **ret, struct hone_err *err);

/* Why the figure that the search ended with may not be claimed; NULL: it may, or there is none. */
const char *hone_search_report_barred(const struct hone_search_report *report);

/* For people; how much of the tree is shown is bounded, what is left out is counted. Owned. */
char *hone_search_report_markdown(const struct hone_search_report *report,
                                  const char *workspace_dir);
/* Everything. Owned. */
struct hone_json *hone_search_report_json(const struct hone_search_report *report);

#endif
