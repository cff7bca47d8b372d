/* SPDX-License-Identifier: Apache-2.0 */
/* What the page lists and what its file holds (searches.h).
 *
 * Flow: one pass over the ledger's search records makes a row for each search (on_record), the best
 * over time thinned out to MAX_POINTS. A file holds one report, the sources of its versions, what was
 * measured of those on the way up, and what gains were chosen among. Limits: HONE_LIMIT_PAGE_SEARCHES
 * rows, HONE_LIMIT_PAGE_SOURCES sources, MAX_CHOICES choices; the oldest rows and the last choices
 * give way. */
#include "server/page/searches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/search/events.h"
#include "server/page/choices.h"
#include "server/page/version_facts.h"
#include "tools/best_measurement.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"

/* MAX_ASKED: of the newest searches, whose best version may have been found wrong since. */
enum { MAX_POINTS = 48, MAX_CHOICES = 200, MAX_RUNNERS = 4, MAX_ASKED = 40 };

struct runner { /* a version that was confirmed as faster */
    char commit[HONE_COMMIT_BYTES];
    double ratio;
};

struct row {
    struct hone_json *json, *end; /* owned; end NULL: no round has ended, or one goes on */
    char *id;                     /* owned */
    double points[MAX_POINTS][2];
    size_t n_points;
    double best;
    struct runner runners[MAX_RUNNERS]; /* the fastest first */
    size_t n_runners;
    int64_t evaluations;
};

struct list {
    struct row *rows; /* owned, oldest first */
    size_t n, room;
};

static struct row *find(struct list *list, const char *id)
{
    for (size_t i = list->n; i-- > 0;)
        if (strcmp(list->rows[i].id, id) == 0)
            return &list->rows[i];
    return NULL;
}

/* The oldest give way, so that a workspace of years is still answered. */
static struct row *add(struct list *list, const char *id)
{
    if (list->n == HONE_LIMIT_PAGE_SEARCHES) {
        hone_json_free(list->rows[0].json);
        hone_json_free(list->rows[0].end);
        free(list->rows[0].id);
        memmove(list->rows, list->rows + 1, (list->n - 1) * sizeof(*list->rows));
        list->n--;
    }
    if (list->n == list->room) {
        list->room = list->room > 0 ? 2 * list->room : 16;
        list->rows = hone_realloc(list->rows, list->room * sizeof(*list->rows));
    }
    struct row *row = &list->rows[list->n++];
    *row = (struct row){.json = hone_json_new_object(), .id = hone_strdup(id)};
    return row;
}

static void on_start(struct list *list, const struct hone_event_start *s, int64_t wall_ms)
{
    struct row *row = find(list, s->search);
    if (row == NULL)
        row = add(list, s->search);
    hone_json_set_str(row->json, "search", s->search);
    hone_json_set_str(row->json, "name", s->name ? s->name : "");
    hone_json_set_str(row->json, "task", s->task ? s->task : "");
    hone_json_set_str(row->json, "target", s->target ? s->target : "");
    if (s->machine != NULL)
        hone_json_set_str(row->json, "machine", s->machine);
    hone_json_set_i64(row->json, "start_ms", wall_ms);
}

/* Every other point goes when there is no room. */
static void add_point(struct row *row, double seconds, double ratio)
{
    if (row->n_points == MAX_POINTS) {
        for (size_t i = 1; 2 * i < MAX_POINTS; i++)
            memcpy(row->points[i], row->points[2 * i], sizeof(row->points[i]));
        row->n_points = MAX_POINTS / 2;
    }
    row->points[row->n_points][0] = seconds;
    row->points[row->n_points++][1] = ratio;
}

/* The last confirmation of a version counts. */
static void add_runner(struct row *row, const struct hone_event_result *r)
{
    bool is_faster = r->verdict && strcmp(r->verdict, "faster") == 0 && r->ratio > 0;
    size_t n = 0;
    for (size_t i = 0; i < row->n_runners; i++)
        if (strcmp(row->runners[i].commit, r->commit) != 0)
            row->runners[n++] = row->runners[i];
    row->n_runners = n;
    while (is_faster && n > 0 && row->runners[n - 1].ratio < r->ratio)
        n--;
    if (!is_faster || n == MAX_RUNNERS)
        return;
    size_t kept = row->n_runners < MAX_RUNNERS ? row->n_runners : MAX_RUNNERS - 1;
    memmove(&row->runners[n + 1], &row->runners[n], (kept - n) * sizeof(row->runners[0]));
    row->runners[n].ratio = r->ratio;
    snprintf(row->runners[n].commit, sizeof(row->runners[n].commit), "%s", r->commit);
    row->n_runners = kept + 1;
}

static void on_result(struct row *row, const struct hone_event_result *r)
{
    row->evaluations = hone_max_i64(row->evaluations, r->evaluations);
    if (r->commit && hone_event_kind(r) == HONE_KIND_CONFIRM)
        add_runner(row, r);
    if (r->node < 0 || !isfinite(r->value) || (row->n_points > 0 && r->value <= row->best))
        return;
    row->best = r->value;
    add_point(row, (double)r->elapsed_ms / 1000, exp2(r->value));
}

static int on_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct list *list = arg;
    struct hone_event e;
    (void)n;
    (void)err;
    if (!hone_event_read(type, data, pool, &e))
        return 0;
    if (e.type == HONE_EVENT_START)
        on_start(list, &e.start, wall_ms);
    const char *id = hone_event_search(&e);
    struct row *row = id != NULL ? find(list, id) : NULL;
    if (row == NULL)
        return 0;
    hone_json_set_i64(row->json, "last_ms", wall_ms);
    if (e.type == HONE_EVENT_RUN || e.type == HONE_EVENT_START || e.type == HONE_EVENT_END) {
        hone_json_free(row->end);
        row->end = e.type == HONE_EVENT_END ? hone_json_copy(data) : NULL;
    }
    if (e.type == HONE_EVENT_RESULT)
        on_result(row, &e.result);
    return 0;
}

static struct hone_json *points_json(const struct row *row)
{
    struct hone_json *out = hone_json_new_array();
    for (size_t i = 0; i < row->n_points; i++) {
        struct hone_json *pair = hone_json_new_array();
        hone_json_push(pair, hone_json_new_f64(row->points[i][0]));
        hone_json_push(pair, hone_json_new_f64(row->points[i][1]));
        hone_json_push(out, pair);
    }
    return out;
}

/* The next best that were confirmed, without the one that the search ended with. */
static struct hone_json *runners_json(const struct row *row)
{
    const char *best = row->end ? hone_json_get_str(row->end, "best_commit", "") : "";
    struct hone_json *out = hone_json_new_array();
    for (size_t i = 0; i < row->n_runners; i++) {
        if (strcmp(row->runners[i].commit, best) == 0)
            continue;
        struct hone_json *one = hone_json_new_object();
        hone_json_set_str(one, "commit", row->runners[i].commit);
        hone_json_set_f64(one, "ratio", row->runners[i].ratio);
        hone_json_push(out, one);
    }
    return out;
}

static void add_refutation(struct hone_workspace *ws, const struct row *row)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *best = row->end ? hone_json_get_str(row->end, "best_commit", NULL) : NULL;
    const char *wrong = best ? hone_refutation_of(hone_workspace_history(ws), best, pool) : NULL;
    if (wrong)
        hone_json_set_str(row->json, "refutation", wrong);
}

int hone_searches_json(struct hone_workspace *ws, struct hone_json **ret, struct hone_err *err)
{
    struct list list = {.n = 0};
    int rc = hone_ledger_scan_type(hone_workspace_ledger(ws), "search.", on_record, &list, err);
    *ret = hone_json_new_array();
    for (size_t i = list.n; i-- > 0;) {
        struct row *row = &list.rows[i];
        hone_json_set_i64(row->json, "evaluations", row->evaluations);
        hone_json_set(row->json, "best", points_json(row));
        hone_json_set(row->json, "runners_up", runners_json(row));
        if (list.n - i <= MAX_ASKED)
            add_refutation(ws, row);
        if (row->end != NULL)
            hone_json_set(row->json, "end", row->end);
        hone_json_push(*ret, row->json);
        free(row->id);
    }
    free(list.rows);
    return rc == HONE_E_CORRUPT ? 0 : rc;
}

/* ---- one search in a file ---- */

struct shown { /* versions whose sources and measurements stand in the file, by commit */
    struct hone_json *sources, *measured;
};

static void add_version(struct hone_workspace *ws, const char *commit, bool is_measured,
                        const struct shown *shown)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_version version;
    if (commit == NULL || hone_json_get(shown->sources, commit) != NULL ||
        hone_json_size(shown->sources) >= HONE_LIMIT_PAGE_SOURCES ||
        hone_history_read(hone_workspace_history(ws), commit, pool, &version, NULL) < 0)
        return;
    hone_json_set_str(shown->sources, commit, version.source);
    struct hone_json *facts = is_measured ? hone_version_facts(ws, commit) : NULL;
    if (facts != NULL)
        hone_json_set(shown->measured, commit, facts);
}

/* The bests on the way come first, the others as long as there is room, without measurements. */
static void add_versions(struct hone_workspace *ws, const struct hone_search_report *report,
                         const struct shown *shown)
{
    const struct hone_report_step *steps = report->steps.v;
    for (size_t i = 0; i < report->steps.n; i++)
        if (steps[i].is_gain || steps[i].node == 0 || strcmp(steps[i].kind, "confirm") == 0)
            add_version(ws, steps[i].commit, true, shown);
    for (size_t i = 0; i < report->steps.n; i++)
        add_version(ws, steps[i].commit, false, shown);
}

/* Of the steps that brought something. */
static struct hone_json *choices_of(struct hone_workspace *ws,
                                    const struct hone_search_report *report)
{
    const struct hone_report_step *steps = report->steps.v;
    int64_t wanted[MAX_CHOICES];
    size_t n = 0;
    for (size_t i = 0; i < report->steps.n && n < MAX_CHOICES; i++)
        if (steps[i].is_gain && steps[i].step > 0)
            wanted[n++] = steps[i].step;
    return hone_choices_json(ws, report->id, wanted, n);
}

struct hone_json *hone_page_data(struct hone_workspace *ws, const struct hone_search_report *report,
                                 const struct hone_json *json)
{
    struct hone_json *out = hone_json_new_object(), *rows = hone_json_new_array();
    HONE_AUTOJSON struct hone_json *all = NULL;
    (void)hone_searches_json(ws, &all, NULL);
    for (const struct hone_json *row = hone_json_first(all); row; row = hone_json_next(row))
        if (strcmp(hone_json_get_str(row, "search", ""), report->id) == 0)
            hone_json_push(rows, hone_json_copy(row));
    hone_json_set(out, "searches", rows);
    hone_json_set(out, "report", hone_json_copy(json));
    const struct shown shown = {hone_json_new_object(), hone_json_new_object()};
    add_versions(ws, report, &shown);
    hone_json_set(out, "sources", shown.sources);
    hone_json_set(out, "measured", shown.measured);
    hone_json_set(out, "choices", choices_of(ws, report));
    return out;
}
