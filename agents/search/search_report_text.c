/* SPDX-License-Identifier: Apache-2.0 */
/* The report as markdown and as JSON. */
#include "agents/search/search_report.h"

#include <math.h>
#include <string.h>

#include "agents/planner/cost_model.h"
#include "tools/rests_text.h"
#include "workspace/base/clock.h"

#define MAX_TREE_LINES 150
#define MAX_DEPTH      24
#define MAX_KINDS      40
#define TABLE_CELL     80
#define LINE_BYTES     400
#define HINT_CELL      300
#define MAX_LEFT_OUT   40

static const struct hone_report_step *steps_of(const struct hone_search_report *s)
{
    return s->steps.v;
}

static void put_time(struct hone_buf *b, int64_t ms)
{
    if (ms >= 3600000)
        hone_buf_printf(b, "%lld h %02lld min", (long long)(ms / 3600000),
                        (long long)(ms / 60000 % 60));
    else if (ms >= 60000)
        hone_buf_printf(b, "%lld min %02lld s", (long long)(ms / 60000),
                        (long long)(ms / 1000 % 60));
    else
        hone_buf_printf(b, "%.1f s", (double)ms / 1000);
}

/* Text from kernels and models: one line, nothing that markdown or a terminal would act on. */
static void put_plain(struct hone_buf *b, const char *text, size_t max)
{
    size_t n = 0;
    for (const char *at = text ? text : ""; *at && n < max; at++, n++) {
        unsigned char c = (unsigned char)*at;
        if (strchr("|<>`[]*_\\#", c))
            hone_buf_printf(b, "&#%d;", c);
        else
            hone_buf_printf(b, "%c", c < 0x20 || c == 0x7f ? ' ' : c);
    }
    if (text && strlen(text) > max)
        hone_buf_str(b, "...");
}

/* ---- head ---- */

static void put_unconfirmed(struct hone_buf *b, const struct hone_search_report *s)
{
    const char *why = hone_json_get_str(s->end, "unconfirmed", NULL);
    hone_buf_str(b, "**Nothing was confirmed**");
    if (!why)
        return;
    hone_buf_str(b, ": ");
    put_plain(b, why, LINE_BYTES);
}

static void put_waits(struct hone_buf *b, const struct hone_search_report *s)
{
    double ms = hone_json_get_f64(s->end, "waited_ms", 0);
    const char *holder = hone_json_get_str(s->end, "waited_for", NULL);
    if (!(ms > 0))
        return;
    hone_buf_printf(b, "Beside its time it waited %.3g s for other timings on this machine",
                    ms / 1e3);
    if (holder) {
        hone_buf_str(b, ", last for ");
        put_plain(b, holder, LINE_BYTES);
    }
    hone_buf_str(b, ".\n\n");
}

static void put_unread(struct hone_buf *b, const struct hone_search_report *s)
{
    const char *unread = hone_json_get_str(s->end, "unread", NULL);
    if (!unread)
        return;
    hone_buf_str(b, "No rule reads ");
    put_plain(b, unread, LINE_BYTES);
    hone_buf_str(b, ".\n\n");
}

static void put_result(struct hone_buf *b, const struct hone_search_report *s)
{
    double speedup = hone_json_get_f64(s->end, "speedup", (double)NAN);
    const struct hone_json *ci = hone_json_get(s->end, "ci");
    double low = 0, high = 0;
    const struct hone_json *first = ci ? hone_json_first(ci) : NULL;
    if (!s->end) {
        hone_buf_str(b, "**No result yet**: the search was killed or still runs. The same command "
                        "goes on from here. What "
                        "follows was screened or decided, not confirmed.\n\n");
        return;
    }
    if (first && hone_json_as_f64(first, &low) && hone_json_next(first))
        (void)hone_json_as_f64(hone_json_next(first), &high);
    const char *verdict = hone_json_get_str(s->end, "verdict", "");
    if (isfinite(speedup) && strcmp(verdict, "faster") == 0)
        hone_buf_printf(b,
                        "**%.3gx the baseline**, 95 %% interval %.3g to %.3g, confirmed with fresh "
                        "processes, data "
                        "and sizes",
                        speedup, low, high);
    else if (isfinite(speedup))
        hone_buf_printf(b, "**Nothing faster was confirmed** (%s; measured %.3gx [%.3g, %.3g])",
                        verdict, speedup, low, high);
    else
        put_unconfirmed(b, s);
    double over_flag = hone_json_get_f64(s->end, "vs_fast_math", (double)NAN);
    if (over_flag < 1)
        hone_buf_printf(b, "; **one flag is faster**: %.3gx over the baseline with -ffast-math",
                        over_flag);
    double bound = hone_json_get_f64(s->end, "percent_of_bound", (double)NAN);
    if (isfinite(bound) && bound > 0)
        hone_buf_printf(b, "; %.3g %% of what bytes and operations allow on this machine", bound);
    hone_buf_str(b, ".\n\n");
    const char *rests_on = hone_json_get_str(s->end, "rests_on", NULL),
               *doubt = hone_json_get_str(s->end, "doubt", NULL);
    if (doubt) {
        hone_buf_str(b, "**Not to be claimed**: ");
        put_plain(b, doubt, LINE_BYTES);
        hone_buf_str(b, ".\n\n");
    }
    if (rests_on) {
        hone_buf_str(b, "Rests on: ");
        put_plain(b, rests_on, HONE_RESTS_BYTES);
        hone_buf_str(b, ".\n\n");
    }
    put_unread(b, s);
    double baseline = hone_json_get_f64(s->end, "baseline_ns", (double)NAN),
           best = hone_json_get_f64(s->end, "best_ns", (double)NAN);
    if (baseline > 0 && best > 0)
        hone_buf_printf(b,
                        "One call: %.6g us, before %.6g us (geometric mean over the workloads of "
                        "the confirmation). ",
                        best / 1000, baseline / 1000);
    const char *commit = hone_json_get_str(s->end, "best_commit", NULL);
    if (commit)
        hone_buf_printf(b, "Best version: `%.40s`.", commit);
    hone_buf_printf(b, "\n\nIt stopped because of **%s**.\n\n",
                    hone_json_get_str(s->end, "why_stopped", "?"));
    put_waits(b, s);
}

static void put_head(struct hone_buf *b, const struct hone_search_report *s)
{
    char from[32], to[32];
    hone_wall_text(s->start_ms, from);
    hone_wall_text(s->last_ms, to);
    hone_buf_printf(b, "# Search `%s`: %s on %s\n\n", s->name, s->task, s->target);
    put_result(b, s);
    hone_buf_printf(b,
                    "| | |\n|---|---|\n| search | %s, %lld round%s |\n| planner, coder, seed | %s, "
                    "%s, %lld |\n| from, to | %s, %s |\n",
                    s->id, (long long)s->n_rounds, s->n_rounds == 1 ? "" : "s", s->policy, s->coder,
                    (long long)s->seed, from, to);
    for (size_t i = 0; i < HONE_N_BUDGETS; i++) {
        const struct hone_budget *budget = &s->spent.of[i];
        if (!(budget->cap > 0) && !(budget->spent > 0))
            continue;
        hone_buf_printf(b, "| %s | ", hone_budget_rows[i].name);
        hone_budget_put(b, (enum hone_budget_kind)i, budget->spent);
        if (budget->cap > 0) {
            hone_buf_str(b, " of ");
            hone_budget_put(b, (enum hone_budget_kind)i, budget->cap);
        }
        hone_buf_str(b, i == HONE_BUDGET_WALL ? " (last round) |\n" : " |\n");
    }
    hone_buf_printf(b, "| task hash | `%.16s` |\n\n", s->task_hash ? s->task_hash : "");
}

/* ---- curve ---- */

/* What a confirmation said of this version; NULL: it was not confirmed. */
static const struct hone_report_step *confirmed(const struct hone_search_report *s, int64_t node)
{
    for (size_t i = s->steps.n; i > 0; i--) {
        const struct hone_report_step *step = &steps_of(s)[i - 1];
        if (strcmp(step->kind, "confirm") == 0 && node >= 0 && step->node == node)
            return step;
    }
    return NULL;
}

static void put_confirmed(struct hone_buf *b, const struct hone_report_step *step)
{
    if (step && isfinite(step->ratio))
        hone_buf_printf(b, "%.3gx%s", step->ratio,
                        step->verdict && strcmp(step->verdict, "faster") == 0 ? "" : ", ");
    if (step && step->verdict && strcmp(step->verdict, "faster") != 0)
        hone_buf_str(b, step->verdict);
}

static void put_curve(struct hone_buf *b, const struct hone_search_report *s)
{
    double best = -INFINITY;
    hone_buf_str(b,
                 "## The way up\n\nEach new best. Only what a confirmation said is a result; "
                 "beside it the short "
                 "look at the time.\n\n"
                 "| evaluations | time | short look | confirmed | step |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < s->steps.n; i++) {
        const struct hone_report_step *step = &steps_of(s)[i];
        bool is_version = strcmp(step->kind, "expand") == 0 || strcmp(step->kind, "tune") == 0 ||
                          strcmp(step->kind, "root") == 0;
        double value = strcmp(step->kind, "root") == 0 ? 0 : step->value;
        const struct hone_report_step *told = confirmed(s, step->node);
        if (!is_version || !isfinite(value) || (value <= best && !told))
            continue;
        best = fmax(best, value);
        hone_buf_printf(b, "| %lld | ", (long long)step->evaluations);
        put_time(b, step->elapsed_ms);
        hone_buf_printf(b, " | about %.3gx | ", exp2(value));
        put_confirmed(b, told);
        hone_buf_str(b, " | ");
        put_plain(b, step->words && *step->words ? step->words : "the baseline", TABLE_CELL);
        hone_buf_str(b, " |\n");
    }
    hone_buf_str(b, "\n");
}

/* ---- tree ---- */

struct tree {
    struct hone_buf *b;
    const struct hone_search_report *s;
    int n_lines;
    size_t n_left_out;
};

static void put_expectation(struct hone_buf *b, const struct hone_report_step *step,
                            double parent_value)
{
    if (isfinite(step->expected))
        hone_buf_printf(b, " Expected %.2fx (%.2f to %.2f)", exp2(step->expected), exp2(step->low),
                        exp2(step->high));
    if (isfinite(step->value) && isfinite(parent_value))
        hone_buf_printf(b, "%s %.2fx its parent's speed%s (%s, about %.3gx the baseline's).",
                        isfinite(step->expected) ? "; got" : " Got",
                        exp2(step->value - parent_value), step->is_gain ? "" : ": no gain",
                        step->verdict ? step->verdict : "a short look", exp2(step->value));
    else
        hone_buf_printf(b, "%s%s%s%s%s.", isfinite(step->expected) ? "; " : " ",
                        step->verdict       ? step->verdict
                        : step->is_declined ? "not applicable"
                                            : "not tried",
                        step->reason ? " (" : "", step->reason ? step->reason : "",
                        step->reason ? ")" : "");
}

static void put_node(struct tree *t, const struct hone_report_step *step, double parent_value,
                     int depth)
{
    struct hone_buf *b = t->b;
    t->n_lines++;
    hone_buf_printf(b, "%*s- ", 2 * depth, "");
    put_plain(b, step->words && *step->words ? step->words : step->kind, 120);
    if (step->strategy)
        hone_buf_printf(b, " [%s]", step->strategy);
    hone_buf_str(b, ".");
    put_expectation(b, step, parent_value);
    if (!isfinite(step->value) && step->note && *step->note) {
        hone_buf_str(b, " ");
        put_plain(b, step->note, 140);
    }
    if (step->commit)
        hone_buf_printf(b, " `%.10s`", step->commit);
    hone_buf_str(b, "\n");
}

static void put_children(struct tree *t, int64_t parent, double value, int depth)
{
    for (size_t i = 0; i < t->s->steps.n; i++) {
        const struct hone_report_step *step = &steps_of(t->s)[i];
        bool is_child = step->parent == parent && parent >= 0 &&
                        (strcmp(step->kind, "expand") == 0 || strcmp(step->kind, "tune") == 0);
        if (!is_child)
            continue;
        if (t->n_lines >= MAX_TREE_LINES || depth > MAX_DEPTH) {
            t->n_left_out++;
            continue;
        }
        put_node(t, step, value, depth);
        if (step->node >= 0 && step->node != parent)
            put_children(t, step->node, step->value, depth + 1);
    }
}

static void put_tree(struct hone_buf *b, const struct hone_search_report *s)
{
    struct tree t = {.b = b, .s = s};
    hone_buf_str(b, "## Ideas\n\nEvery step below the version that it was tried on: what was "
                    "expected (80 % interval), what "
                    "came out.\n\n- the baseline\n");
    put_children(&t, 0, 0, 1);
    if (t.n_left_out > 0)
        hone_buf_printf(b,
                        "\n%zu more, and what lies below them, are in `hone report --json` and in "
                        "`hone log --all`.\n",
                        t.n_left_out);
    hone_buf_str(b, "\n");
}

/* ---- counts ---- */

struct count {
    const char *word;
    int64_t n, n_done, n_gain, n_inside, n_judged, wall_ms;
};

static struct count *count_of(struct count counts[MAX_KINDS], size_t *n, const char *word)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(counts[i].word, word) == 0)
            return &counts[i];
    if (*n == MAX_KINDS)
        return NULL;
    counts[*n] = (struct count){.word = word};
    return &counts[(*n)++];
}

static double value_of_node(const struct hone_search_report *s, int64_t node)
{
    for (size_t i = 0; i < s->steps.n; i++)
        if (node >= 0 && steps_of(s)[i].node == node && isfinite(steps_of(s)[i].value))
            return steps_of(s)[i].value;
    return 0;
}

static void put_strategies(struct hone_buf *b, const struct hone_search_report *s)
{
    struct count counts[MAX_KINDS];
    size_t n = 0;
    for (size_t i = 0; i < s->steps.n; i++) {
        const struct hone_report_step *step = &steps_of(s)[i];
        struct count *c = step->strategy ? count_of(counts, &n, step->strategy) : NULL;
        if (!c)
            continue;
        double gain = step->value - value_of_node(s, step->parent);
        c->n++;
        c->n_done += isfinite(step->value) && step->is_implemented;
        c->n_gain += step->is_gain;
        c->n_judged += isfinite(step->value);
        c->n_inside += isfinite(step->value) && gain >= step->low && gain <= step->high;
    }
    if (n == 0)
        return;
    hone_buf_str(b, "## Strategies\n\n| strategy | tried | really done | gained | inside its 80 % "
                    "interval |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(b, "| %s | %lld | %lld | %lld | %lld of %lld |\n", counts[i].word,
                        (long long)counts[i].n, (long long)counts[i].n_done,
                        (long long)counts[i].n_gain, (long long)counts[i].n_inside,
                        (long long)counts[i].n_judged);
    hone_buf_str(b, "\n");
}

/* Of all evaluations, repairs too; records of before name no search in them: then of the steps. */
static size_t count_verdicts(const struct hone_search_report *s, struct count verdicts[MAX_KINDS])
{
    const struct hone_report_evaluation *e = s->evaluations.v;
    size_t n = 0, n_all = s->evaluations.n > 0 ? s->evaluations.n : s->steps.n;
    for (size_t i = 0; i < n_all; i++) {
        const char *word = s->evaluations.n > 0 ? e[i].verdict : steps_of(s)[i].verdict;
        struct count *count = word && *word ? count_of(verdicts, &n, word) : NULL;
        if (count)
            count->n++;
    }
    return n;
}

static void put_costs(struct hone_buf *b, const struct hone_search_report *s)
{
    struct count kinds[MAX_KINDS], verdicts[MAX_KINDS];
    size_t n_kinds = 0, n_verdicts = count_verdicts(s, verdicts);
    for (size_t i = 0; i < s->steps.n; i++) {
        const struct hone_report_step *step = &steps_of(s)[i];
        struct count *kind = count_of(kinds, &n_kinds, step->kind);
        if (kind) {
            kind->n++;
            kind->wall_ms += step->wall_ms;
        }
    }
    hone_buf_str(b,
                 "## What it cost\n\n| role | how often | time, tokens, money |\n|---|---|---|\n");
    for (size_t i = 0; i < n_kinds; i++) {
        hone_buf_printf(b, "| judge: %s | %lld | ", kinds[i].word, (long long)kinds[i].n);
        put_time(b, kinds[i].wall_ms);
        hone_buf_str(b, " |\n");
    }
    const struct hone_report_model *models = s->models.v;
    for (size_t i = 0; i < s->models.n; i++)
        hone_buf_printf(b,
                        "| %s: %s | %lld asked, %lld answered | %lld tokens in, %lld out, %.4g "
                        "USD%s |\n",
                        models[i].role, models[i].model, (long long)models[i].n_asked,
                        (long long)models[i].n_answered, (long long)models[i].tokens_in,
                        (long long)models[i].tokens_out, models[i].cost,
                        models[i].n_unpriced > 0 ? ", and what is not priced" : "");
    hone_buf_printf(
        b, "\nVerdicts of %zu evaluations:", s->evaluations.n > 0 ? s->evaluations.n : s->steps.n);
    for (size_t i = 0; i < n_verdicts; i++)
        hone_buf_printf(b, "%s %lld %s", i > 0 ? "," : "", (long long)verdicts[i].n,
                        verdicts[i].word);
    size_t n_unruly = 0;
    for (size_t i = 0; i < s->steps.n; i++)
        n_unruly += steps_of(s)[i].reason && strcmp(steps_of(s)[i].reason, "unruly") == 0;
    if (n_unruly > 0)
        hone_buf_printf(b, "; %zu steps ended in a version that fails where the baseline works",
                        n_unruly);
    hone_buf_str(b, ".\n\n");
}

static void put_steering(struct hone_buf *b, const struct hone_search_report *s)
{
    const struct hone_report_steer *steers = s->steers.v;
    if (s->steers.n == 0)
        return;
    hone_buf_str(b, "## Steering\n\n| when | who | request |\n|---|---|---|\n");
    for (size_t i = 0; i < s->steers.n; i++) {
        char at[32];
        hone_wall_text(steers[i].wall_ms, at);
        hone_buf_printf(b, "| %s | ", at);
        put_plain(b, steers[i].by, TABLE_CELL);
        hone_buf_printf(b, " | %s ", steers[i].action);
        put_plain(b, steers[i].what, HINT_CELL);
        hone_buf_str(b, steers[i].is_taken ? " |\n" : " (not taken yet) |\n");
    }
    hone_buf_str(b, "\n");
}

static void put_left_out(struct hone_buf *b, const struct hone_search_report *s)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_report_left_out *l = s->left_out.v;
    if (s->left_out.n == 0)
        return;
    hone_buf_str(b, "## Left out\n\nWhat the cost model advised against; it is taken when nothing "
                    "else is left.\n\n");
    for (size_t i = 0; i < s->left_out.n && i < MAX_LEFT_OUT; i++) {
        hone_buf_str(b, "- ");
        put_plain(b, l[i].words, 120);
        hone_buf_printf(b, " [%s] at version %lld: %s%s.\n", l[i].strategy ? l[i].strategy : "?",
                        (long long)l[i].parent, hone_cost_words(l[i].predicted, l[i].error, pool),
                        l[i].is_taken ? "; taken later" : "");
    }
    if (s->left_out.n > MAX_LEFT_OUT)
        hone_buf_printf(b, "\n%zu more are in `hone report --json`.\n",
                        s->left_out.n - MAX_LEFT_OUT);
    hone_buf_str(b, "\n");
}

static void put_knowledge(struct hone_buf *b, const struct hone_search_report *s)
{
    if (!s->knowledge)
        return;
    hone_buf_str(b, "## Shown to models\n\nWhat searches of other tasks had found, in each "
                    "prompt.\n\n");
    for (const char *at = s->knowledge; *at;) {
        size_t len = strcspn(at, "\n");
        HONE_AUTOFREE char *line = hone_strndup(at, len);
        hone_buf_str(b, "- ");
        put_plain(b, strncmp(line, "- ", 2) == 0 ? line + 2 : line, LINE_BYTES);
        hone_buf_str(b, "\n");
        at += len + (at[len] == '\n');
    }
    hone_buf_str(b, "\n");
}

static void put_repeat(struct hone_buf *b, const struct hone_search_report *s, const char *dir)
{
    const char *commit = hone_json_get_str(s->end, "best_commit", NULL);
    hone_buf_printf(b, "## Do it again\n\n```\ngit -C %s log --stat search/%s\n", dir, s->name);
    if (commit)
        hone_buf_printf(b,
                        "hone show %.12s --source --workspace %s\n"
                        "hone call kernel_evaluate "
                        "'{\"task\":\"%s\",\"target\":\"%s\",\"commit\":\"%.12s\",\"tier\":"
                        "\"confirm\",\"fresh\":true}' --workspace %s\n",
                        commit, dir, s->task, s->target, commit, dir);
    hone_buf_printf(b,
                    "hone search %s --target %s --policy %s --coder %s --seed %lld --name %s-again "
                    "--workspace %s   # with a budget\n```\n",
                    s->task, s->target, s->policy, s->coder, (long long)s->seed, s->name, dir);
}

char *hone_search_report_markdown(const struct hone_search_report *s, const char *dir)
{
    struct hone_buf b = HONE_BUF_INIT;
    put_head(&b, s);
    put_curve(&b, s);
    put_tree(&b, s);
    put_strategies(&b, s);
    put_left_out(&b, s);
    put_knowledge(&b, s);
    put_steering(&b, s);
    put_costs(&b, s);
    put_repeat(&b, s, dir);
    return hone_buf_steal(&b);
}

/* ---- JSON ---- */

static void set_figure(struct hone_json *json, const char *key, double value)
{
    if (isfinite(value))
        hone_json_set_f64(json, key, value);
}

static void set_text(struct hone_json *json, const char *key, const char *value)
{
    if (value && *value)
        hone_json_set_str(json, key, value);
}

static struct hone_json *step_json(const struct hone_report_step *s)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "kind", s->kind);
    if (s->step > 0)
        hone_json_set_i64(json, "step", s->step);
    hone_json_set_i64(json, "parent", s->parent);
    hone_json_set_i64(json, "node", s->node);
    set_text(json, "words", s->words);
    set_text(json, "strategy", s->strategy);
    set_text(json, "rule", s->rule);
    set_figure(json, "expected_log2", s->expected);
    set_figure(json, "low", s->low);
    set_figure(json, "high", s->high);
    set_figure(json, "propensity", s->propensity);
    set_figure(json, "value_log2", s->value);
    set_figure(json, "ratio", s->ratio);
    if (s->ratio_low > 0 && s->ratio_high > s->ratio_low) {
        set_figure(json, "ratio_low", s->ratio_low);
        set_figure(json, "ratio_high", s->ratio_high);
    }
    set_text(json, "verdict", s->verdict);
    set_text(json, "reason", s->reason);
    set_text(json, "commit", s->commit);
    set_text(json, "evaluation", s->evaluation);
    set_text(json, "note", s->note);
    set_text(json, "barred", s->barred);
    hone_json_set_bool(json, "is_implemented", s->is_implemented);
    hone_json_set_bool(json, "is_gain", s->is_gain);
    hone_json_set_i64(json, "elapsed_ms", s->elapsed_ms);
    hone_json_set_i64(json, "evaluations", s->evaluations);
    hone_json_set_i64(json, "wall_ms", s->wall_ms);
    return json;
}

static struct hone_json *intent_json(const struct hone_report_step *s)
{
    struct hone_json *json = hone_json_new_object();
    set_text(json, "strategy", s->strategy);
    set_text(json, "rule", s->rule);
    set_figure(json, "expected_log2", s->expected);
    return json;
}

static struct hone_json *evaluations_json(const struct hone_search_report *s)
{
    const struct hone_report_evaluation *e = s->evaluations.v;
    struct hone_json *list = hone_json_new_array();
    for (size_t i = 0; i < s->evaluations.n; i++) {
        struct hone_json *row = hone_json_new_object();
        hone_json_set_str(row, "evaluation", e[i].id);
        hone_json_set_i64(row, "step", e[i].step);
        set_text(row, "tier", e[i].tier);
        set_text(row, "verdict", e[i].verdict);
        set_text(row, "reason", e[i].reason);
        set_text(row, "commit", e[i].commit);
        hone_json_push(list, row);
    }
    return list;
}

static struct hone_json *model_json(const struct hone_report_model *m)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "role", m->role);
    hone_json_set_str(json, "model", m->model);
    hone_json_set_i64(json, "asked", m->n_asked);
    hone_json_set_i64(json, "answered", m->n_answered);
    hone_json_set_i64(json, "tokens_in", m->tokens_in);
    hone_json_set_i64(json, "tokens_out", m->tokens_out);
    hone_json_set_i64(json, "tokens_lost", m->tokens_lost);
    hone_json_set_f64(json, "cost", m->cost);
    return json;
}

static struct hone_json *copy_of(const struct hone_json *json)
{
    HONE_AUTOFREE char *text = json ? hone_json_print(json) : NULL;
    struct hone_json *copy = NULL;
    if (text)
        (void)hone_json_parse(text, strlen(text), &copy, NULL);
    return copy;
}

static struct hone_json *spent_json(const struct hone_search_report *s)
{
    struct hone_json *json = hone_json_new_object();
    for (size_t i = 0; i < HONE_N_BUDGETS; i++)
        if (i != HONE_BUDGET_DISK) /* the names of the caps, without "budget_" */
            hone_json_set_f64(json, strchr(hone_budget_rows[i].member, '_') + 1,
                              s->spent.of[i].spent);
    return json;
}

static struct hone_json *steering_json(const struct hone_search_report *s)
{
    const struct hone_report_steer *steers = s->steers.v;
    struct hone_json *list = hone_json_new_array();
    for (size_t i = 0; i < s->steers.n; i++) {
        struct hone_json *row = hone_json_new_object();
        hone_json_set_i64(row, "time_ms", steers[i].wall_ms);
        hone_json_set_i64(row, "request", (int64_t)steers[i].n);
        hone_json_set_str(row, "by", steers[i].by);
        hone_json_set_str(row, "action", steers[i].action);
        set_text(row, "what", *steers[i].what ? steers[i].what : NULL);
        hone_json_set_bool(row, "is_taken", steers[i].is_taken);
        hone_json_push(list, row);
    }
    return list;
}

static struct hone_json *left_out_json(const struct hone_search_report *s)
{
    const struct hone_report_left_out *l = s->left_out.v;
    struct hone_json *list = hone_json_new_array();
    for (size_t i = 0; i < s->left_out.n; i++) {
        struct hone_json *row = hone_json_new_object();
        hone_json_set_i64(row, "step", l[i].step);
        hone_json_set_i64(row, "parent", l[i].parent);
        set_text(row, "words", l[i].words);
        set_text(row, "strategy", l[i].strategy);
        set_figure(row, "predicted_log2", l[i].predicted);
        set_figure(row, "error_log2", l[i].error);
        set_figure(row, "chance", l[i].chance);
        hone_json_set_bool(row, "is_taken", l[i].is_taken);
        hone_json_push(list, row);
    }
    return list;
}

struct hone_json *hone_search_report_json(const struct hone_search_report *s)
{
    struct hone_json *json = hone_json_new_object(), *steps = hone_json_new_array(),
                     *models = hone_json_new_array();
    const struct hone_report_model *m = s->models.v;
    hone_json_set_i64(json, "format", 1);
    hone_json_set_str(json, "search", s->id);
    hone_json_set_str(json, "name", s->name);
    hone_json_set_str(json, "task", s->task);
    hone_json_set_str(json, "task_hash", s->task_hash);
    hone_json_set_str(json, "target", s->target);
    hone_json_set_str(json, "policy", s->policy);
    hone_json_set_str(json, "coder", s->coder);
    hone_json_set_i64(json, "seed", s->seed);
    hone_json_set_i64(json, "rounds", s->n_rounds);
    hone_json_set_i64(json, "start_ms", s->start_ms);
    hone_json_set_i64(json, "last_ms", s->last_ms);
    hone_json_set(json, "budgets", copy_of(s->budgets));
    hone_json_set(json, "spent", spent_json(s));
    hone_json_set(json, "steering", steering_json(s));
    hone_json_set(json, "left_out", left_out_json(s));
    set_text(json, "knowledge", s->knowledge);
    hone_json_set(json, "end", copy_of(s->end));
    for (size_t i = 0; i < s->steps.n; i++)
        hone_json_push(steps, step_json(&steps_of(s)[i]));
    for (size_t i = 0; i < s->models.n; i++)
        hone_json_push(models, model_json(&m[i]));
    hone_json_set(json, "steps", steps);
    if (!s->end && s->intent.step > 0)
        hone_json_set(json, "in_hand", intent_json(&s->intent));
    hone_json_set(json, "evaluations", evaluations_json(s));
    hone_json_set(json, "models", models);
    return json;
}
