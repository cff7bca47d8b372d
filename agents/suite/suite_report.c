/* SPDX-License-Identifier: Apache-2.0 */
/* A suite's report: a row for each task, fast_p over each measure, failures by class, what it cost. */
#include "agents/suite/suite.h"

#include <math.h>
#include <string.h>

#define CELL        60
#define MAX_MEASURE 8

const double hone_suite_p[HONE_SUITE_N_P] = {0, 0.5, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10};

static const char *const names[HONE_SUITE_N_OUTCOMES] = {
    [HONE_SUITE_FASTER] = "faster",       [HONE_SUITE_DOUBTED] = "not to be claimed",
    [HONE_SUITE_NO_GAIN] = "no gain",     [HONE_SUITE_NO_ROOM] = "not confirmed",
    [HONE_SUITE_FAILED] = "failed",       [HONE_SUITE_REFUSED] = "refused",
    [HONE_SUITE_NOT_BEGUN] = "not begun",
};

enum hone_suite_outcome hone_suite_outcome_of(const struct hone_suite_row *row)
{
    const struct hone_search_result *r = row->last;
    if (row->code && !r)
        return row->passes == 0 ? HONE_SUITE_REFUSED : HONE_SUITE_FAILED;
    if (!r)
        return HONE_SUITE_NOT_BEGUN;
    if (!r->verdict)
        return r->unconfirmed ? HONE_SUITE_NO_ROOM : HONE_SUITE_NO_GAIN;
    if (strcmp(r->verdict, "faster") != 0)
        return HONE_SUITE_NO_GAIN;
    return r->doubt ? HONE_SUITE_DOUBTED : HONE_SUITE_FASTER;
}

/* ---- measures ---- */

static const struct hone_yardstick *yardstick_of(const struct hone_suite_row *row, const char *name)
{
    const struct hone_yardstick *y = row->last ? row->last->yardsticks.v : NULL;
    for (size_t i = 0; y && i < row->last->yardsticks.n; i++)
        if (strcmp(y[i].name, name) == 0)
            return &y[i];
    return NULL;
}

/* What the user has: the confirmed version, or the baseline where nothing was better; 0: nothing
 * that is known to be right. */
static double gain_of(const struct hone_suite_row *row)
{
    enum hone_suite_outcome outcome = hone_suite_outcome_of(row);
    if (outcome == HONE_SUITE_FASTER)
        return row->last->speedup;
    return outcome == HONE_SUITE_DOUBTED || outcome == HONE_SUITE_NO_GAIN ||
                   outcome == HONE_SUITE_NO_ROOM
               ? 1
               : 0;
}

static void count(struct hone_suite_measure *m, double ratio, double *sum, size_t *n_ended)
{
    m->n++;
    for (int i = 0; i < HONE_SUITE_N_P; i++)
        m->fast[i] += ratio > hone_suite_p[i];
    if (ratio > 0 && isfinite(ratio)) {
        *sum += log(ratio);
        (*n_ended)++;
    }
}

static struct hone_suite_measure measure(const struct hone_suite *suite, const char *name)
{
    struct hone_suite_measure m = {.name = name};
    size_t n_ended = 0;
    double sum = 0;
    for (size_t i = 0; i < suite->n_rows; i++) {
        const struct hone_suite_row *row = &suite->rows[i];
        const struct hone_yardstick *y = yardstick_of(row, name);
        if (strcmp(name, "baseline") == 0)
            count(&m, gain_of(row), &sum, &n_ended);
        else if (y)
            count(&m, hone_suite_outcome_of(row) == HONE_SUITE_DOUBTED ? 0 : y->ratio, &sum,
                  &n_ended);
    }
    for (int i = 0; i < HONE_SUITE_N_P && m.n > 0; i++)
        m.fast[i] /= (double)m.n;
    m.geomean = n_ended > 0 ? exp(sum / (double)n_ended) : (double)NAN;
    return m;
}

static bool is_listed(const struct hone_suite_measure *m, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(m[i].name, name) == 0)
            return true;
    return false;
}

size_t hone_suite_measures(const struct hone_suite *suite, struct hone_pool *pool,
                           struct hone_suite_measure **ret)
{
    struct hone_suite_measure *m = hone_pool_alloc(pool, MAX_MEASURE * sizeof(*m));
    size_t n = 0;
    m[n++] = measure(suite, "baseline");
    for (size_t i = 0; i < suite->n_rows; i++) {
        const struct hone_search_result *r = suite->rows[i].last;
        const struct hone_yardstick *y = r ? r->yardsticks.v : NULL;
        for (size_t k = 0; y && k < r->yardsticks.n && n < MAX_MEASURE; k++)
            if (!is_listed(m, n, y[k].name))
                m[n++] = measure(suite, y[k].name);
    }
    *ret = m;
    return n;
}

/* ---- text ---- */

/* A name or a sentence in a table's cell. */
static void put_cell(struct hone_buf *b, const char *text)
{
    for (size_t i = 0; text && text[i] && i < CELL; i++)
        hone_buf_printf(b, "%c", (unsigned char)text[i] < ' ' || text[i] == '|' ? ' ' : text[i]);
}

static void put_row(struct hone_buf *b, const struct hone_suite_row *row,
                    const struct hone_suite_measure *m, size_t n_measures)
{
    const struct hone_search_result *r = row->last;
    hone_buf_str(b, "| ");
    put_cell(b, row->task);
    hone_buf_printf(b, " | %s | ", names[hone_suite_outcome_of(row)]);
    if (r && r->verdict && r->ci.n == 2)
        hone_buf_printf(b, "%.3gx [%.3g, %.3g]", r->speedup, r->ci.v[0], r->ci.v[1]);
    for (size_t i = 1; i < n_measures; i++) {
        const struct hone_yardstick *y = yardstick_of(row, m[i].name);
        hone_buf_str(b, " | ");
        if (y)
            hone_buf_printf(b, "%.3gx [%.3g, %.3g]", y->ratio, y->low, y->high);
    }
    hone_buf_str(b, " | ");
    if (r && r->percent_of_bound > 0)
        hone_buf_printf(b, "%.3g %%", r->percent_of_bound);
    hone_buf_printf(b, " | %.0f | %.3g | %.3g | %.4g |\n", row->used[HONE_BUDGET_EVALUATIONS],
                    row->used[HONE_BUDGET_WALL] / 1000, row->used[HONE_BUDGET_DEVICE] / 1000,
                    row->used[HONE_BUDGET_COST]);
}

static void put_table(struct hone_buf *b, const struct hone_suite *suite,
                      const struct hone_suite_measure *m, size_t n_measures)
{
    hone_buf_str(b, "| task | outcome | over the baseline |");
    for (size_t i = 1; i < n_measures; i++)
        hone_buf_printf(b, " over %s |", m[i].name);
    hone_buf_str(b, " of the bound | evaluations | wall s | device s | USD |\n|---|---|---|");
    for (size_t i = 1; i < n_measures; i++)
        hone_buf_str(b, "---|");
    hone_buf_str(b, "---|---|---|---|---|\n");
    for (size_t i = 0; i < suite->n_rows; i++)
        put_row(b, &suite->rows[i], m, n_measures);
}

static void put_curves(struct hone_buf *b, const struct hone_suite_measure *m, size_t n_measures)
{
    hone_buf_str(b,
                 "\n## fast_p\n\nThe share of tasks that are right and more than p times as fast. "
                 "A task without a gain\ncounts as its baseline, 1x; one that failed or never "
                 "began as 0.\n\n| over | tasks |");
    for (int i = 0; i < HONE_SUITE_N_P; i++)
        hone_buf_printf(b, " %.3g |", hone_suite_p[i]);
    hone_buf_str(b, " geometric mean |\n|---|---|");
    for (int i = 0; i < HONE_SUITE_N_P; i++)
        hone_buf_str(b, "---|");
    hone_buf_str(b, "---|\n");
    for (size_t k = 0; k < n_measures; k++) {
        hone_buf_printf(b, "| %s | %zu |", m[k].name, m[k].n);
        for (int i = 0; i < HONE_SUITE_N_P; i++)
            hone_buf_printf(b, " %.2f |", m[k].fast[i]);
        if (isfinite(m[k].geomean))
            hone_buf_printf(b, " %.3gx |\n", m[k].geomean);
        else
            hone_buf_str(b, " |\n");
    }
}

static const char *why_of(const struct hone_suite_row *row)
{
    const struct hone_search_result *r = row->last;
    if (row->message)
        return row->message;
    if (!r)
        return "its turn did not come, or is not over";
    if (r->doubt)
        return r->doubt;
    return r->unconfirmed ? r->unconfirmed : r->unread ? r->unread : r->summary;
}

static void put_failures(struct hone_buf *b, const struct hone_suite *suite)
{
    hone_buf_str(b, "\n## By class\n\n");
    for (int outcome = 0; outcome < HONE_SUITE_N_OUTCOMES; outcome++) {
        size_t n = 0;
        for (size_t i = 0; i < suite->n_rows; i++)
            n += (int)hone_suite_outcome_of(&suite->rows[i]) == outcome;
        if (n == 0)
            continue;
        hone_buf_printf(b, "- **%s**: %zu\n", names[outcome], n);
        for (size_t i = 0; i < suite->n_rows && outcome != HONE_SUITE_FASTER; i++) {
            const struct hone_suite_row *row = &suite->rows[i];
            if ((int)hone_suite_outcome_of(row) != outcome)
                continue;
            hone_buf_str(b, "  - ");
            put_cell(b, row->task);
            hone_buf_printf(b, ": %.200s\n", why_of(row) ? why_of(row) : "");
        }
    }
}

static void put_costs(struct hone_buf *b, const struct hone_suite *suite)
{
    struct hone_budgets budgets;
    for (int k = 0; k < HONE_N_BUDGETS; k++) {
        budgets.of[k] =
            (struct hone_budget){.cap = hone_event_cap(&suite->caps, (enum hone_budget_kind)k)};
        for (size_t i = 0; i < suite->n_rows; i++)
            budgets.of[k].spent += suite->rows[i].used[k];
    }
    budgets.of[HONE_BUDGET_WALL].spent = (double)suite->elapsed_ms;
    budgets.of[HONE_BUDGET_DISK].cap = 0;
    hone_buf_str(b, "Used: wall ");
    hone_budget_put(b, HONE_BUDGET_WALL, budgets.of[HONE_BUDGET_WALL].spent);
    hone_buf_str(b, ", evaluations ");
    hone_budget_put(b, HONE_BUDGET_EVALUATIONS, budgets.of[HONE_BUDGET_EVALUATIONS].spent);
    hone_buf_str(b, ", device ");
    hone_budget_put(b, HONE_BUDGET_DEVICE, budgets.of[HONE_BUDGET_DEVICE].spent);
    HONE_CLEANUP(hone_buf_done) struct hone_buf caps = HONE_BUF_INIT;
    hone_budgets_put(&caps, &budgets, HONE_BUDGET_WALL);
    if (caps.len > 0)
        hone_buf_printf(b, ". Of the caps: %s", caps.data);
    hone_buf_str(b, ".\n\n");
}

char *hone_suite_markdown(const struct hone_suite *suite)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_suite_measure *m;
    size_t n = hone_suite_measures(suite, pool, &m);
    struct hone_buf b = HONE_BUF_INIT;
    hone_buf_printf(&b, "# Suite %s\n\n%zu tasks, %s, %lld at a time. %s%s.\n", suite->name,
                    suite->n_rows, suite->target ? suite->target : "each where it runs",
                    (long long)suite->lanes,
                    suite->has_ended ? "It ended: " : "It has not ended: the same command goes on",
                    suite->has_ended ? suite->stopped : "");
    put_costs(&b, suite);
    put_table(&b, suite, m, n);
    put_curves(&b, m, n);
    put_failures(&b, suite);
    return hone_buf_steal(&b);
}

/* ---- JSON ---- */

static struct hone_json *row_json(const struct hone_suite_row *row)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "task", row->task);
    hone_json_set_str(json, "search", row->search);
    hone_json_set_str(json, "outcome", names[hone_suite_outcome_of(row)]);
    hone_json_set_i64(json, "passes", row->passes);
    for (int k = 0; k < HONE_N_BUDGETS; k++)
        if (k != HONE_BUDGET_DISK) {
            HONE_AUTOFREE char *key = hone_sprintf("used_%s", hone_budget_rows[k].member + 7);
            hone_json_set_f64(json, key, row->used[k]);
        }
    if (row->code) {
        hone_json_set_str(json, "code", row->code);
        hone_json_set_str(json, "message", row->message);
    }
    if (row->last)
        hone_json_set(
            json, "result",
            hone_fields_encode(row->last, hone_search_result_fields, HONE_SEARCH_N_RESULT_FIELDS));
    return json;
}

static struct hone_json *measure_json(const struct hone_suite_measure *m)
{
    struct hone_json *json = hone_json_new_object(), *fast = hone_json_new_array();
    hone_json_set_str(json, "over", m->name);
    hone_json_set_i64(json, "tasks", (int64_t)m->n);
    if (isfinite(m->geomean))
        hone_json_set_f64(json, "geomean", m->geomean);
    for (int i = 0; i < HONE_SUITE_N_P; i++) {
        struct hone_json *point = hone_json_new_object();
        hone_json_set_f64(point, "p", hone_suite_p[i]);
        hone_json_set_f64(point, "share", m->fast[i]);
        hone_json_push(fast, point);
    }
    hone_json_set(json, "fast", fast);
    return json;
}

struct hone_json *hone_suite_json(const struct hone_suite *suite)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_json *json = hone_json_new_object(), *tasks = hone_json_new_array(),
                     *measures = hone_json_new_array(), *outcomes = hone_json_new_object();
    struct hone_suite_measure *m;
    size_t n = hone_suite_measures(suite, pool, &m), of[HONE_SUITE_N_OUTCOMES] = {0};
    hone_json_set_str(json, "suite", suite->name);
    hone_json_set_str(json, "id", suite->id);
    hone_json_set_bool(json, "has_ended", suite->has_ended);
    if (suite->stopped)
        hone_json_set_str(json, "why_stopped", suite->stopped);
    hone_json_set_i64(json, "lanes", suite->lanes);
    hone_json_set_i64(json, "wall_ms", suite->elapsed_ms);
    for (size_t i = 0; i < suite->n_rows; i++) {
        hone_json_push(tasks, row_json(&suite->rows[i]));
        of[hone_suite_outcome_of(&suite->rows[i])]++;
    }
    for (size_t i = 0; i < n; i++)
        hone_json_push(measures, measure_json(&m[i]));
    for (int i = 0; i < HONE_SUITE_N_OUTCOMES; i++)
        if (of[i] > 0)
            hone_json_set_i64(outcomes, names[i], (int64_t)of[i]);
    hone_json_set(json, "outcomes", outcomes);
    hone_json_set(json, "fast_p", measures);
    hone_json_set(json, "tasks", tasks);
    return json;
}
