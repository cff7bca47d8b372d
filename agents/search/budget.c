/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/search/budget.h"

const struct hone_budget_row hone_budget_rows[HONE_N_BUDGETS] = {
    [HONE_BUDGET_WALL] = {"wall", "--budget-wall", "budget_wall_ms", "s", 1000},
    [HONE_BUDGET_EVALUATIONS] = {"evaluations", "--budget-evaluations", "budget_evaluations", "",
                                 1},
    [HONE_BUDGET_DEVICE] = {"device", "--budget-device", "budget_device_ms", "s", 1000},
    [HONE_BUDGET_DISK] = {"disk", "--budget-disk", "budget_disk_bytes", "MiB", 1048576},
    [HONE_BUDGET_COST] = {"cost", "--budget-cost", "budget_cost", "USD", 1},
    [HONE_BUDGET_TOKENS] = {"tokens", "--budget-tokens", "budget_tokens", "", 1},
};

const char *hone_stop_reason_name(enum hone_stop_reason stop)
{
    static const char *const names[HONE_N_STOPS] = {
        [HONE_STOP_BUDGET_WALL] = "budget_wall",
        [HONE_STOP_BUDGET_EVALUATIONS] = "budget_evaluations",
        [HONE_STOP_BUDGET_DEVICE] = "budget_device",
        [HONE_STOP_BUDGET_DISK] = "budget_disk",
        [HONE_STOP_BUDGET_COST] = "budget_cost",
        [HONE_STOP_BUDGET_TOKENS] = "budget_tokens",
        [HONE_STOP_STOPPED] = "stopped",
        [HONE_STOP_TARGET] = "target",
        [HONE_STOP_NEAR_ROOF] = "near_roof",
        [HONE_STOP_PLATEAU] = "plateau",
        [HONE_STOP_EXHAUSTED] = "exhausted",
        [HONE_STOP_TREE_FULL] = "tree_full",
        [HONE_STOP_NO_SUBMISSIONS] = "no_submissions",
    };
    return names[stop];
}

enum hone_stop_reason hone_stop_reason_of_budget(enum hone_budget_kind kind)
{
    return (enum hone_stop_reason)(HONE_STOP_BUDGET_WALL + kind);
}

bool hone_budget_fits(const struct hone_budgets *budgets, enum hone_budget_kind kind, double more)
{
    const struct hone_budget *b = &budgets->of[kind];
    return !(b->cap > 0) || b->spent + b->reserved + more <= b->cap;
}

int hone_budget_reserve(struct hone_budgets *budgets, enum hone_budget_kind kind, double more,
                        struct hone_err *err)
{
    struct hone_budget *b = &budgets->of[kind];
    if (!hone_budget_fits(budgets, kind, more)) {
        const struct hone_budget_row *row = &hone_budget_rows[kind];
        HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
        hone_budget_put(&text, kind, b->spent + b->reserved);
        hone_buf_str(&text, " of ");
        hone_budget_put(&text, kind, b->cap);
        hone_buf_str(&text, " are spent or set aside, and ");
        hone_budget_put(&text, kind, more);
        return hone_fail_at(err, HONE_E_LIMIT,
                            hone_stop_reason_name(hone_stop_reason_of_budget(kind)),
                            "%s: %s more may be needed", row->option, text.data);
    }
    b->reserved += more;
    return 0;
}

void hone_budget_settle(struct hone_budgets *budgets, enum hone_budget_kind kind, double reserved,
                        double spent)
{
    struct hone_budget *b = &budgets->of[kind];
    b->reserved = b->reserved > reserved ? b->reserved - reserved : 0;
    b->spent += spent;
}

/* ---- words ---- */

static void put_number(struct hone_buf *out, const struct hone_budget_row *row, double amount)
{
    double units = amount / row->scale;
    if (row->unit[0] == '\0')
        hone_buf_printf(out, "%.0f", units);
    else
        hone_buf_printf(out, units >= 100 ? "%.0f" : "%.3g", units);
}

void hone_budget_put(struct hone_buf *out, enum hone_budget_kind kind, double amount)
{
    const struct hone_budget_row *row = &hone_budget_rows[kind];
    put_number(out, row, amount);
    hone_buf_printf(out, "%s%s", *row->unit ? " " : "", row->unit);
}

void hone_budgets_put(struct hone_buf *out, const struct hone_budgets *budgets,
                      enum hone_budget_kind first)
{
    const char *gap = "";
    for (size_t i = (size_t)first; i < HONE_N_BUDGETS; i++) {
        const struct hone_budget *b = &budgets->of[i];
        bool is_shown = i == HONE_BUDGET_COST || i == HONE_BUDGET_TOKENS;
        if (!(b->cap > 0) && !(is_shown && b->spent > 0))
            continue;
        hone_buf_printf(out, "%s%s ", gap, hone_budget_rows[i].name);
        if (b->cap > 0) {
            put_number(out, &hone_budget_rows[i], b->spent);
            hone_buf_str(out, " of ");
        }
        hone_budget_put(out, (enum hone_budget_kind)i, b->cap > 0 ? b->cap : b->spent);
        gap = ", ";
    }
}
