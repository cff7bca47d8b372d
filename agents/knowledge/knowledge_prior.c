/* SPDX-License-Identifier: Apache-2.0 */
/* From rows of a family's earlier searches to the prior of a new one (knowledge.h).
 *
 * A search is one look at a strategy, whatever the number of its steps: the mean of the gains that
 * it measured. */
#include "agents/knowledge/knowledge.h"

#include <string.h>

#include "agents/planner/catalogue.h"
#include "agents/planner/prior.h"

static bool teaches(const struct hone_knowledge_row *row, const char *task, const char *family,
                    const char *target)
{
    return row->measured > 0 && strcmp(row->family, family) == 0 &&
           strcmp(row->target, target) == 0 && strcmp(row->task, task) != 0;
}

static struct hone_prior_row *row_of(struct hone_prior_row *rows, size_t *n, const char *strategy,
                                     struct hone_pool *pool)
{
    size_t i = 0;
    while (i < *n && strcmp(rows[i].strategy, strategy) != 0)
        i++;
    if (i == *n) {
        rows[(*n)++] = (struct hone_prior_row){.strategy = strategy};
        rows[i].from.v = hone_pool_alloc(pool, HONE_KNOWLEDGE_SOURCES * sizeof(*rows[i].from.v));
    }
    return &rows[i];
}

struct hone_json *hone_knowledge_prior(const struct hone_knowledge *k, const char *task,
                                       const char *family, const char *target)
{
    struct hone_prior_row *rows = hone_pool_alloc(k->pool, hone_n_strategies * sizeof(*rows));
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++) {
        const struct hone_knowledge_row *from = &k->rows[i];
        if (!teaches(from, task, family, target))
            continue;
        struct hone_prior_row *row = row_of(rows, &n, from->strategy, k->pool);
        double gain = from->sum_log2 / (double)from->measured;
        if (row->from.n == HONE_KNOWLEDGE_SOURCES || gain < -64 || gain > 64)
            continue;
        row->n++;
        row->sum += gain;
        row->sum2 += gain * gain;
        row->from.v[row->from.n++] = from->search;
    }
    size_t n_taught = 0;
    for (size_t i = 0; i < n; i++)
        if (rows[i].n > 0)
            rows[n_taught++] = rows[i];
    return n_taught > 0 ? hone_prior_rows_json(rows, n_taught) : NULL;
}
