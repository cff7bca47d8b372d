/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is, and its part of what is left (suite.h). No clock, no ledger. */
#include <math.h>

#include "agents/suite/suite.h"

#define LEAST_AGAIN_MS   5000 /* a second turn with less is not worth its confirmation */
#define LEAST_AGAIN_EVAL 3

static void set_cap(struct hone_event_caps *caps, enum hone_budget_kind kind, double amount)
{
    int64_t whole = amount < 9e15 ? (int64_t)amount : INT64_MAX;
    switch (kind) {
    case HONE_BUDGET_WALL:
        caps->budget_wall_ms = whole;
        break;
    case HONE_BUDGET_EVALUATIONS:
        caps->budget_evaluations = whole;
        break;
    case HONE_BUDGET_DEVICE:
        caps->budget_device_ms = whole;
        break;
    case HONE_BUDGET_DISK:
        caps->budget_disk_bytes = whole;
        break;
    case HONE_BUDGET_COST:
        caps->budget_cost = amount;
        break;
    case HONE_BUDGET_TOKENS:
        caps->budget_tokens = whole;
        break;
    case HONE_N_BUDGETS:
        break;
    }
}

void hone_suite_left(const struct hone_suite *suite, double ret[HONE_N_BUDGETS])
{
    for (int k = 0; k < HONE_N_BUDGETS; k++) {
        double cap = hone_event_cap(&suite->caps, (enum hone_budget_kind)k);
        ret[k] = cap > 0 ? cap : (double)INFINITY;
        for (size_t i = 0; i < suite->n_rows && k != HONE_BUDGET_WALL && k != HONE_BUDGET_DISK;
             i++) {
            const struct hone_suite_row *row = &suite->rows[i];
            double share = hone_event_cap(&row->share, (enum hone_budget_kind)k);
            ret[k] -= row->used[k] + (row->is_open && cap > 0 ? share : 0);
        }
    }
    ret[HONE_BUDGET_WALL] -= (double)suite->elapsed_ms;
}

static bool is_waiting(const struct hone_suite_row *row)
{
    bool is_refused = row->code && row->passes == 0;
    return !row->is_open && !is_refused && (row->passes == 0 || row->is_stopped_by_share);
}

static double least(enum hone_budget_kind kind, bool is_again)
{
    if (kind == HONE_BUDGET_WALL)
        return is_again ? LEAST_AGAIN_MS : 1;
    return kind == HONE_BUDGET_EVALUATIONS ? (is_again ? LEAST_AGAIN_EVAL : 1) : 0;
}

struct hone_suite_row *hone_suite_next(struct hone_suite *suite, const double left[HONE_N_BUDGETS],
                                       struct hone_event_caps *ret_share)
{
    struct hone_suite_row *next = NULL;
    size_t n_waiting = 0;
    for (size_t i = 0; i < suite->n_rows; i++) {
        struct hone_suite_row *row = &suite->rows[i];
        if (!is_waiting(row) || (next && row->passes > next->passes))
            continue;
        n_waiting = next && row->passes == next->passes ? n_waiting + 1 : 1;
        next = next && row->passes == next->passes ? next : row;
    }
    *ret_share = (struct hone_event_caps){.budget_disk_bytes = suite->caps.budget_disk_bytes};
    for (int k = 0; next && k < HONE_N_BUDGETS; k++) {
        enum hone_budget_kind kind = (enum hone_budget_kind)k;
        if (kind == HONE_BUDGET_DISK || isinf(left[k]))
            continue;
        double turns = (double)n_waiting;
        if (kind == HONE_BUDGET_WALL)
            turns = ceil(turns / (double)suite->lanes);
        double share = left[k] / turns;
        if (kind == HONE_BUDGET_EVALUATIONS)
            share = fmin(left[k], ceil(share));
        if (share < least(kind, next->passes > 0) || share <= 0)
            return NULL;
        set_cap(ret_share, kind, share);
    }
    return next;
}
