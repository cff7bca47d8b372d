/* SPDX-License-Identifier: Apache-2.0 */
/* Caps of a search: what may be used up, what was, what is set aside for work under way.
 *
 * One row of hone_budget_rows for each kind. What a piece of work may take at most is reserved
 * before it begins (hone_budget_reserve refuses what could pass the cap), and replaced by what it
 * took when it is over (hone_budget_settle). No clock, ledger or disk here: search_budget.c feeds
 * it.
 *
 *     struct hone_budgets b = {.of[HONE_BUDGET_COST].cap = 5};
 *     r = hone_budget_reserve(&b, HONE_BUDGET_COST, 0.25, err);      what the request may cost
 *     if (r < 0)
 *         return r;                                                  nothing was reserved
 *     ask
 *     hone_budget_settle(&b, HONE_BUDGET_COST, 0.25, 0.04);          what it did cost
 *
 * Each reservation is settled once, also when the work failed (spent 0). Amounts are in the unit of
 * the row's member: ms, bytes, USD, or a count. The row's `unit` is for people: an amount / scale.
 * Nothing blocks. One thread. */
#ifndef HONE_AGENTS_BUDGET_H
#define HONE_AGENTS_BUDGET_H

#include "workspace/base/base.h"
#include "workspace/base/buf.h"
#include "workspace/base/err.h"

enum hone_budget_kind {
    HONE_BUDGET_WALL, /* of one round */
    HONE_BUDGET_EVALUATIONS,
    HONE_BUDGET_DEVICE, /* wall time of evaluations */
    HONE_BUDGET_DISK,   /* what is there, not what was written */
    HONE_BUDGET_COST,
    HONE_BUDGET_TOKENS,
    HONE_N_BUDGETS
};

/* Why a round ends. Records and answers have the name; STOP_NONE: it has not ended. Most are found
 * by why_stop in next.c; EXHAUSTED by hone_next there; NO_SUBMISSIONS, and caps that are met while
 * work runs, by driver.c. What a new one touches: docs/architecture.md, "What a change costs". */
enum hone_stop_reason {
    HONE_STOP_NONE,
    HONE_STOP_BUDGET_WALL, /* the caps, in the order of their kinds */
    HONE_STOP_BUDGET_EVALUATIONS,
    HONE_STOP_BUDGET_DEVICE,
    HONE_STOP_BUDGET_DISK,
    HONE_STOP_BUDGET_COST,
    HONE_STOP_BUDGET_TOKENS,
    HONE_STOP_STOPPED,   /* by the user */
    HONE_STOP_TARGET,    /* the speedup that was asked for stands */
    HONE_STOP_NEAR_ROOF, /* the best needs hardly more time than its bound */
    HONE_STOP_PLATEAU,   /* so many expansions without a new best */
    HONE_STOP_EXHAUSTED, /* the policy picks nothing */
    HONE_STOP_TREE_FULL,
    HONE_STOP_NO_SUBMISSIONS,
    HONE_N_STOPS
};
/* The names as the help of why_stopped has them. */
#define HONE_STOP_WORDS                                                                            \
    "budget_wall, _evaluations, _device, _disk, _cost, _tokens; target, near_roof, plateau, "      \
    "exhausted, tree_full, stopped, no_submissions."
const char *hone_stop_reason_name(enum hone_stop_reason stop); /* "budget_wall"; NULL of NONE */
enum hone_stop_reason hone_stop_reason_of_budget(enum hone_budget_kind kind);

struct hone_budget_row {
    const char *name;   /* "device" */
    const char *option; /* "--budget-device" */
    const char *member; /* of records and of search_start: "budget_device_ms" */
    const char *unit;   /* "s", "MiB", "USD"; "": counted */
    double scale;       /* amount of one unit: 1000 where amounts are ms and the unit is "s" */
};
extern const struct hone_budget_row hone_budget_rows[HONE_N_BUDGETS];

struct hone_budget {
    double cap; /* 0: none */
    double spent, reserved;
};
struct hone_budgets {
    struct hone_budget of[HONE_N_BUDGETS];
};

/* Spent, reserved and more together stay within the cap; always without one. */
bool hone_budget_fits(const struct hone_budgets *budgets, enum hone_budget_kind kind, double more);
/* Sets `more` aside. HONE_E_LIMIT, path the name of the stop, when it does not fit; then nothing is
 * reserved. */
int hone_budget_reserve(struct hone_budgets *budgets, enum hone_budget_kind kind, double more,
                        struct hone_err *err);
/* Takes the reservation back and counts what the work took, which may be more. */
void hone_budget_settle(struct hone_budgets *budgets, enum hone_budget_kind kind, double reserved,
                        double spent);
/* "12 s", "0.31 USD", "7" */
void hone_budget_put(struct hone_buf *out, enum hone_budget_kind kind, double amount);
/* "device 12 of 40 s, cost 0.31 of 5 USD": those from that kind on with a cap, and what is spent of
 * money and tokens without one. */
void hone_budgets_put(struct hone_buf *out, const struct hone_budgets *budgets,
                      enum hone_budget_kind first);

#endif
