/* SPDX-License-Identifier: Apache-2.0 */
/* A search on a terminal (watch_text.h): head, way up as a grid of characters, and of the tree as many
 * lines as are left. Foreign text passes put_line alone. */
#include "server/page/watch_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/planner/catalogue.h"
#include "server/page/version_tree.h"
#include "workspace/base/utf8.h"

enum { MIN_WIDTH = 20, MIN_HEIGHT = 8, HEAD_LINES = 4, PLOT_ROWS = 7, AXIS = 8, MAX_COLUMNS = 400 };

static const struct hone_report_step *step_at(const struct hone_search_report *r, size_t i)
{
    return &((const struct hone_report_step *)r->steps.v)[i];
}

static const char *words_of(const struct hone_report_step *s)
{
    if (s->words && *s->words)
        return s->words;
    return s->parent < 0                    ? "the baseline"
           : strcmp(s->kind, "decide") == 0 ? "a longer look"
                                            : s->kind;
}

static bool is_confirmation(const struct hone_report_step *s)
{
    return strcmp(s->kind, "confirm") == 0;
}

static char sign_of(const struct hone_report_step *s)
{
    if (s->barred)
        return '!';
    if (is_confirmation(s))
        return (char)(s->verdict && strcmp(s->verdict, "faster") == 0 ? '#' : '?');
    return (char)(!isfinite(s->value) ? 'x' : s->is_gain ? '*' : 'o');
}

/* Where a step stands: by what its own evaluation measured. The baseline is what all are over. */
static double height_of(const struct hone_report_step *s)
{
    return s->parent >= 0 && isfinite(s->value) && isfinite(s->ratio) && s->ratio > 0
               ? log2(s->ratio)
               : s->value;
}

/* ---- lines ---- */

/* As one line of at most width characters; controls become '?'. */
static void put_line(struct hone_buf *out, const char *text, size_t width)
{
    HONE_AUTOFREE char *copy = hone_strdup(text);
    size_t len = 0;
    hone_utf8_defuse(copy, '?');
    for (char *at = copy; *at != '\0'; at++)
        if (*at == '\t' || *at == '\n')
            *at = ' ';
    for (size_t n = 0; copy[len] != '\0' && n < width; n++)
        len += hone_utf8_char(copy + len, strlen(copy + len));
    hone_buf_add(out, copy, len);
    hone_buf_str(out, "\n");
}

/* The line of a step without its place in the tree. */
static char *told(const struct hone_report_step *s)
{
    HONE_AUTOFREE char *about =
        isfinite(s->value) ? hone_sprintf("about %.3gx  ", exp2(s->value)) : hone_strdup("");
    if (is_confirmation(s))
        return hone_sprintf("%.3gx with fresh data: %s%s%s",
                            isfinite(s->ratio) ? s->ratio : exp2(s->value),
                            s->verdict ? s->verdict : "", s->barred ? ", not to be claimed: " : "",
                            s->barred ? s->barred : "");
    return hone_sprintf("%s%s%s%s%s", about, words_of(s), s->verdict ? " [" : "",
                        s->verdict ? s->verdict : "", s->verdict ? "]" : "");
}

char *hone_watch_line(const struct hone_report_step *s)
{
    struct hone_buf out = HONE_BUF_INIT;
    HONE_AUTOFREE char *text = told(s);
    HONE_AUTOFREE char *line = hone_sprintf("%6lld  %8.1f s  %c %s", (long long)s->evaluations,
                                            (double)s->elapsed_ms / 1000, sign_of(s), text);
    put_line(&out, line, SIZE_MAX);
    return hone_buf_steal(&out);
}

char *hone_watch_result(const struct hone_search_report *r, bool is_running)
{
    double best = (double)-INFINITY;
    const char *summary = r->end ? hone_json_get_str(r->end, "summary", "") : "";
    const char *barred = hone_search_report_barred(r);
    if (!is_running && *summary)
        return barred ? hone_sprintf("not to be claimed: %s; %s", barred, summary)
                      : hone_strdup(summary);
    for (size_t i = 0; i < r->steps.n; i++)
        if (isfinite(step_at(r, i)->value))
            best = fmax(best, step_at(r, i)->value);
    const char *state = is_running ? "runs" : "no process runs it, and it has not ended";
    if (!isfinite(best))
        return hone_sprintf("%s; no version yet", state);
    return hone_sprintf("%s; best so far about %.3gx the baseline, unconfirmed", state, exp2(best));
}

/* ---- the way up ---- */

struct plot {
    char cells[PLOT_ROWS][MAX_COLUMNS];
    size_t width;
    double high;  /* log2 of the uppermost row; the lowest one is 0 and what is below */
    int64_t most; /* evaluations at the right end */
};

static size_t row_of(const struct plot *p, double value)
{
    double share = fmin(fmax(value / p->high, 0), 1);
    return (size_t)((1 - share) * (PLOT_ROWS - 1) + 0.5);
}

static size_t column_of(const struct plot *p, int64_t evaluations)
{
    return (size_t)((double)evaluations / (double)p->most * (double)(p->width - 1));
}

static void draw_best(struct plot *p, const struct hone_search_report *r)
{
    double best = (double)-INFINITY;
    size_t from = 0;
    for (size_t i = 0; i <= r->steps.n; i++) {
        const struct hone_report_step *s = i < r->steps.n ? step_at(r, i) : NULL;
        if (s && !(isfinite(s->value) && s->value > best))
            continue;
        size_t to = s ? column_of(p, s->evaluations) : p->width;
        for (size_t x = from; isfinite(best) && x < to; x++)
            p->cells[row_of(p, best)][x] = '-';
        from = to;
        best = s ? s->value : best;
    }
}

static void put_plot(struct hone_buf *out, const struct hone_search_report *r, size_t width)
{
    struct plot p = {.width = width - AXIS, .high = 1, .most = 1};
    p.width = p.width < MAX_COLUMNS ? p.width : MAX_COLUMNS - 1;
    memset(p.cells, ' ', sizeof(p.cells));
    for (size_t i = 0; i < r->steps.n; i++) {
        p.most = hone_max_i64(p.most, step_at(r, i)->evaluations);
        if (isfinite(step_at(r, i)->value))
            p.high = fmax(p.high, step_at(r, i)->value);
    }
    draw_best(&p, r);
    for (size_t i = 0; i < r->steps.n; i++) {
        const struct hone_report_step *s = step_at(r, i);
        char *cell = isfinite(s->value)
                         ? &p.cells[row_of(&p, height_of(s))][column_of(&p, s->evaluations)]
                         : NULL;
        if (cell && *cell != '#' && *cell != '!' && (*cell != '*' || is_confirmation(s)))
            *cell = sign_of(s);
    }
    for (size_t y = 0; y < PLOT_ROWS; y++) {
        double at = p.high * (double)(PLOT_ROWS - 1 - y) / (PLOT_ROWS - 1);
        HONE_AUTOFREE char *line = hone_sprintf("%5.3gx |%.*s", exp2(at), (int)p.width, p.cells[y]);
        put_line(out, line, width);
    }
    HONE_AUTOFREE char *axis =
        hone_sprintf("%*lld evaluations", (int)(AXIS + p.width) - 12, (long long)p.most);
    put_line(out, axis, width);
}

/* ---- the tree ---- */

/* by_node: the first step of a node, -1: none. Later ones of the same node looked at it again. */
static bool is_version(const struct hone_search_report *r, const int64_t *by_node, size_t i)
{
    int64_t node = step_at(r, i)->node;
    return node < 0 || (size_t)node >= r->steps.n || by_node[node] == (int64_t)i;
}

/* Which steps are shown: the best version, then the newest, each with what it came from. */
static void choose(const struct hone_search_report *r, const int64_t *by_node, size_t room,
                   bool *shown)
{
    size_t n = 0, best = SIZE_MAX;
    for (size_t i = 0; i < r->steps.n; i++)
        if (is_version(r, by_node, i) && isfinite(step_at(r, i)->value) &&
            (best == SIZE_MAX || step_at(r, i)->value > step_at(r, best)->value))
            best = i;
    for (size_t i = r->steps.n + 1; i-- > 0 && n < room;) {
        size_t at = i == r->steps.n ? best : i;
        if (at == SIZE_MAX || !is_version(r, by_node, at))
            continue;
        for (int64_t k = (int64_t)at; k >= 0 && !shown[k] && n < room; n++) {
            int64_t parent = step_at(r, (size_t)k)->parent;
            int64_t above = parent >= 0 && (size_t)parent < r->steps.n ? by_node[parent] : -1;
            shown[k] = true;
            k = above < k ? above : -1;
        }
    }
}

static void put_tree(struct hone_buf *out, const struct hone_search_report *r, size_t width,
                     size_t room)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    size_t n_steps = r->steps.n, n = 0;
    int64_t *by_node = hone_pool_alloc(pool, (n_steps + 1) * sizeof(*by_node));
    int64_t *place = hone_pool_alloc(pool, (n_steps + 1) * sizeof(*place));
    bool *shown = hone_pool_alloc(pool, n_steps + 1);
    struct hone_tree_item *items = hone_pool_alloc(pool, (n_steps + 1) * sizeof(*items));
    struct hone_tree_line *lines = hone_pool_alloc(pool, (n_steps + 1) * sizeof(*lines));
    size_t *steps = hone_pool_alloc(pool, (n_steps + 1) * sizeof(*steps));
    memset(shown, 0, n_steps + 1);
    memset(by_node, -1, (n_steps + 1) * sizeof(*by_node));
    for (size_t i = n_steps; i-- > 0;) {
        int64_t node = step_at(r, i)->node;
        if (node >= 0 && (size_t)node < n_steps)
            by_node[node] = (int64_t)i;
    }
    choose(r, by_node, room, shown);
    for (size_t i = 0; i < n_steps; i++) {
        const struct hone_report_step *s = step_at(r, i);
        int64_t above = s->parent >= 0 && (size_t)s->parent < n_steps ? by_node[s->parent] : -1;
        if (!shown[i])
            continue;
        items[n] = (struct hone_tree_item){
            .parent = above >= 0 && above < (int64_t)i && shown[above] ? place[above] : -1,
            .worth = s->value,
            .sign = sign_of(s),
            .is_failed = !isfinite(s->value),
        };
        steps[n] = i;
        place[i] = (int64_t)n++;
    }
    hone_version_tree(items, n, pool, lines);
    for (size_t i = 0; i < n; i++) {
        HONE_AUTOFREE char *text = told(step_at(r, steps[lines[i].item]));
        put_line(out, hone_pool_printf(pool, "%s %s", lines[i].lead, text), width);
    }
}

/* ---- all of it ---- */

/* What the running process does at this moment, as far as it has said. */
static char *in_hand(const struct hone_search_report *r)
{
    const struct hone_report_step *now = &r->intent;
    const char *id = now->strategy ? now->strategy : "", *target = r->target ? r->target : "";
    const struct hone_strategy *strategy = hone_strategy_find(target, id);
    if (now->step == 0)
        return hone_strdup("");
    return hone_sprintf("now   %s %s; %s", id, strategy ? strategy->words : "",
                        now->rule ? now->rule : "");
}

static void put_head(struct hone_buf *out, const struct hone_search_report *r, bool is_running,
                     size_t width)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf used = HONE_BUF_INIT;
    HONE_AUTOFREE char *title = hone_sprintf(
        "%s  %s on %s, %s, %s", r->name && *r->name ? r->name : r->id, r->task ? r->task : "",
        r->target ? r->target : "", r->policy ? r->policy : "", r->coder ? r->coder : "");
    HONE_AUTOFREE char *result = hone_watch_result(r, is_running);
    hone_buf_str(&used, "used  ");
    hone_budget_put(&used, HONE_BUDGET_WALL, r->spent.of[HONE_BUDGET_WALL].spent);
    hone_buf_str(&used, ", ");
    if (!(r->spent.of[HONE_BUDGET_EVALUATIONS].cap > 0))
        hone_buf_printf(&used, "%.0f evaluations, ", r->spent.of[HONE_BUDGET_EVALUATIONS].spent);
    hone_budgets_put(&used, &r->spent, HONE_BUDGET_EVALUATIONS);
    put_line(out, title, width);
    put_line(out, result, width);
    put_line(out, used.data, width);
    HONE_AUTOFREE char *now = is_running ? in_hand(r) : hone_strdup("");
    put_line(out, now, width);
}

char *hone_watch_screen(const struct hone_search_report *report, bool is_running, size_t width,
                        size_t height)
{
    struct hone_buf out = HONE_BUF_INIT;
    width = width < MIN_WIDTH ? MIN_WIDTH : width;
    height = height < MIN_HEIGHT ? MIN_HEIGHT : height;
    put_head(&out, report, is_running, width);
    size_t left = height - HEAD_LINES;
    if (left >= 2 * PLOT_ROWS && report->steps.n > 1) {
        put_plot(&out, report, width);
        hone_buf_str(&out, "\n");
        left -= PLOT_ROWS + 2;
    }
    put_tree(&out, report, width, left);
    return hone_buf_steal(&out);
}
