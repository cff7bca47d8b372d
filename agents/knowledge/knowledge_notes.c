/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a family's earlier searches in words, for models (knowledge.h). */
#include "agents/knowledge/knowledge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/planner/catalogue.h"
#include "workspace/base/text.h"
#include "workspace/base/utf8.h"

#define HELD_LOOKS 2  /* without a gain that a mean is held toward */
#define MOST_LOG2  64 /* a mean beyond it is no measurement */

enum { NAME_BYTES = 60, COMMIT_BYTES = 12, DATE_BYTES = 10, WHY_BYTES = 48 };

struct ranked {
    const struct hone_knowledge_row *row;
    bool is_here; /* on this machine */
    double strength;
};

static double strength_of(const struct hone_knowledge_row *row)
{
    return row->measured > 0 ? row->sum_log2 / (double)(row->measured + HELD_LOOKS) : -INFINITY;
}

static bool is_of(const struct hone_knowledge_row *row, const struct hone_knowledge_of *of)
{
    double mean = row->measured > 0 ? row->sum_log2 / (double)row->measured : 0;
    return strcmp(row->family, of->family) == 0 && strcmp(row->target, of->target) == 0 &&
           strcmp(row->task, of->task) != 0 && fabs(mean) <= MOST_LOG2;
}

static int by_evidence(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->is_here != y->is_here)
        return x->is_here ? -1 : 1;
    if (x->strength != y->strength)
        return x->strength > y->strength ? -1 : 1;
    if (x->row->tried != y->row->tried)
        return x->row->tried > y->row->tried ? -1 : 1;
    int order = strcmp(x->row->search, y->row->search);
    return order != 0 ? order : strcmp(x->row->strategy, y->row->strategy);
}

static void put_gain(struct hone_buf *out, const struct hone_knowledge_row *row)
{
    if (row->measured == 0) {
        hone_buf_str(out, "; never a right version");
        return;
    }
    hone_buf_printf(out, "; mean %.3gx the version before",
                    exp2(row->sum_log2 / (double)row->measured));
    if (row->best_log2 > 0)
        hone_buf_printf(out, ", best %.3gx", exp2(row->best_log2));
}

static const char *short_commit(const struct hone_knowledge_row *row, struct hone_pool *pool)
{
    return hone_pool_strndup(pool, row->commit, hone_utf8_cut(row->commit, COMMIT_BYTES));
}

/* "- C08 thread the outer loops: tried 3, done 3, faster 2; mean 1.8x the version before, best 3.1x;
 * wrong 1, failed 0, the last incorrect (wrong_value). Task layernorm, search s-12, 2026-11-20, ..." */
static void put_line(struct hone_buf *out, const struct hone_knowledge_row *row,
                     struct hone_pool *pool)
{
    hone_buf_printf(out, "- %s %s: tried %lld, done %lld, faster %lld", row->strategy,
                    hone_strategy_find(row->target, row->strategy)->words, (long long)row->tried,
                    (long long)row->implemented, (long long)row->gained);
    put_gain(out, row);
    if (row->incorrect + row->failed > 0)
        hone_buf_printf(out, "; wrong %lld, failed %lld", (long long)row->incorrect,
                        (long long)row->failed);
    if (row->why)
        hone_buf_printf(out, ", the last %s", hone_plain_line(pool, row->why, WHY_BYTES));
    hone_buf_printf(out, ". Task %s, search %s", hone_plain_line(pool, row->task, NAME_BYTES),
                    hone_plain_line(pool, row->search, NAME_BYTES));
    if (row->date)
        hone_buf_printf(out, ", %s", hone_plain_line(pool, row->date, DATE_BYTES));
    if (row->commit)
        hone_buf_printf(out, ", commit %s",
                        hone_plain_line(pool, short_commit(row, pool), NAME_BYTES));
    if (row->machine && row->machine[0] != '\0')
        hone_buf_printf(out, ", %s", hone_plain_line(pool, row->machine, NAME_BYTES));
    hone_buf_str(out, "\n");
}

const char *hone_knowledge_notes(const struct hone_knowledge *k, const struct hone_knowledge_of *of,
                                 size_t max)
{
    HONE_AUTOFREE struct ranked *rows = hone_calloc(k->n + 1, sizeof(*rows));
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++) {
        const struct hone_knowledge_row *row = &k->rows[i];
        bool is_here = of->machine && row->machine && strcmp(row->machine, of->machine) == 0;
        if (is_of(row, of))
            rows[n++] = (struct ranked){row, is_here, strength_of(row)};
    }
    qsort(rows, n, sizeof(*rows), by_evidence);
    for (size_t i = 0; i < n && out.len < max; i++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf line = HONE_BUF_INIT;
        put_line(&line, rows[i].row, k->pool);
        if (out.len + line.len > max)
            break;
        hone_buf_str(&out, line.data);
    }
    return out.len > 0 ? hone_pool_strdup(k->pool, out.data) : NULL;
}
