/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/prior.h"

#include "workspace/base/fields.h"
#include "workspace/base/limits.h"

#define ROW(m_, ...) HONE_FIELD(struct hone_prior_row, m_, __VA_ARGS__)
static const struct hone_field row_fields[] = {
    ROW(strategy, .required = true, .max_len = 16),
    ROW(n, .required = true, .min = 1, .max = HONE_LIMIT_KNOWLEDGE_ROWS),
    ROW(sum, .min = -64.0 * HONE_LIMIT_KNOWLEDGE_ROWS, .max = 64.0 * HONE_LIMIT_KNOWLEDGE_ROWS),
    ROW(sum2, .min = 0, .max = 4096.0 * HONE_LIMIT_KNOWLEDGE_ROWS),
    ROW(from),
};
#undef ROW

struct hone_json *hone_prior_rows_json(const struct hone_prior_row *rows, size_t n)
{
    struct hone_json *out = hone_json_new_array();
    for (size_t i = 0; i < n; i++)
        hone_json_push(out, hone_fields_encode(&rows[i], row_fields, HONE_COUNTOF(row_fields)));
    return out;
}

void hone_prior_take(const struct hone_json *rows, const char *target, struct hone_credit *credit)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (const struct hone_json *j = hone_json_first(rows); j; j = hone_json_next(j)) {
        struct hone_prior_row row;
        if (hone_fields_decode(j, row_fields, HONE_COUNTOF(row_fields), &row, sizeof row, pool,
                               NULL) < 0)
            continue;
        const struct hone_strategy *s = hone_strategy_find(target, row.strategy);
        if (s)
            credit->rows[hone_strategy_index(s)].before =
                (struct hone_credit_cell){row.n, row.sum, row.sum2};
    }
}

void hone_prior_begin(const struct hone_prior *prior, struct hone_credit *ret)
{
    hone_credit_init(ret);
    for (size_t i = 0; prior && i < HONE_CREDIT_MAX; i++)
        ret->rows[i].before = prior->gains[i];
}
