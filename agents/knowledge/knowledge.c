/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of knowledge: from a ledger, from a file, into one (knowledge.h). */
#include "agents/knowledge/knowledge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agents/planner/catalogue.h"
#include "agents/planner/tree.h"
#include "agents/search/events.h"
#include "workspace/base/buf.h"
#include "workspace/base/fields.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define ROW(m_, ...) HONE_FIELD(struct hone_knowledge_row, m_, .max_len = 200, __VA_ARGS__)
static const struct hone_field row_fields[] = {
    ROW(search, .required = true),
    ROW(strategy, .required = true),
    ROW(task, .required = true),
    ROW(family, .required = true),
    ROW(target, .required = true),
    ROW(machine),
    ROW(date),
    ROW(commit, .skip_empty = true),
    ROW(tried, .required = true, .max = 1000000),
    ROW(implemented, .max = 1000000),
    ROW(gained, .max = 1000000),
    ROW(best_log2, .min = -64, .max = 64),
    ROW(sum_log2, .min = -1000000, .max = 1000000),
    ROW(measured, .max = 1000000),
    ROW(incorrect, .max = 1000000),
    ROW(failed, .max = 1000000),
    ROW(why, .skip_empty = true),
};
#undef ROW

/* ---- rows ---- */

static struct hone_knowledge_row *find(struct hone_knowledge *k, const char *search,
                                       const char *strategy)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->rows[i].search, search) == 0 && strcmp(k->rows[i].strategy, strategy) == 0)
            return &k->rows[i];
    return NULL;
}

static struct hone_knowledge_row *add(struct hone_knowledge *k)
{
    k->rows = hone_pool_grow(k->pool, k->rows, sizeof(*k->rows), k->n, &k->room);
    k->rows[k->n] = (struct hone_knowledge_row){.best_log2 = 0};
    return &k->rows[k->n++];
}

static int by_key(const void *a, const void *b)
{
    const struct hone_knowledge_row *x = a, *y = b;
    int order = strcmp(x->search, y->search);
    return order != 0 ? order : strcmp(x->strategy, y->strategy);
}

static void sort(struct hone_knowledge *k)
{
    if (k->n > 1)
        qsort(k->rows, k->n, sizeof(*k->rows), by_key);
}

/* ---- from a ledger ---- */

enum { MAX_NODES = HONE_TREE_MAX_NODES };

struct search { /* one that is being read */
    const char *id, *task, *family, *target, *machine, *date;
    double *values;       /* of its versions, log2 over the baseline; NaN: none */
    const char *strategy; /* of the last intent */
    int64_t step, parent;
    struct search *next;
};

struct reader {
    struct hone_workspace *ws;
    struct hone_knowledge *k;
    struct search *searches;
};

static const char *family_of(struct reader *r, const char *task)
{
    struct hone_task *t = NULL;
    if (hone_workspace_task(r->ws, task, &t, NULL) < 0)
        return task;
    const char *family = hone_pool_strdup(r->k->pool, t->op_type ? t->op_type : task);
    hone_task_free(t);
    return family;
}

static const char *date_of(struct hone_pool *pool, int64_t wall_ms)
{
    char text[24] = "";
    time_t at = (time_t)(wall_ms / 1000);
    struct tm tm;
    if (gmtime_r(&at, &tm) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%d", &tm);
    return hone_pool_strdup(pool, text);
}

static void on_start(struct reader *r, const struct hone_event_start *e, int64_t wall_ms)
{
    struct hone_pool *pool = r->k->pool;
    struct search *s = hone_pool_alloc(pool, sizeof(*s));
    const char *task = hone_pool_strdup(pool, e->task ? e->task : "");
    *s = (struct search){
        .id = hone_pool_strdup(pool, e->search),
        .task = task,
        .family = family_of(r, task),
        .target = hone_pool_strdup(pool, e->target ? e->target : "cpu"),
        .machine = hone_pool_strdup(pool, e->machine ? e->machine : ""),
        .date = date_of(pool, wall_ms),
        .values = hone_pool_alloc(pool, MAX_NODES * sizeof(double)),
        .next = r->searches,
    };
    for (int i = 0; i < MAX_NODES; i++)
        s->values[i] = (double)NAN;
    r->searches = s;
}

static struct search *search_of(struct reader *r, const char *id)
{
    struct search *s = r->searches;
    while (s != NULL && (id == NULL || strcmp(s->id, id) != 0))
        s = s->next;
    return s;
}

static double value_of(const struct search *s, int64_t node)
{
    return node >= 0 && node < MAX_NODES ? s->values[node] : (double)NAN;
}

static struct hone_knowledge_row *row_of(struct reader *r, const struct search *s)
{
    struct hone_knowledge_row *row = find(r->k, s->id, s->strategy);
    if (row == NULL) {
        row = add(r->k);
        row->search = s->id;
        row->strategy = s->strategy;
        row->task = s->task;
        row->family = s->family;
        row->target = s->target;
        row->machine = s->machine;
        row->date = s->date;
    }
    return row;
}

static void note_gain(struct reader *r, struct hone_knowledge_row *row, double gain,
                      const char *commit)
{
    row->measured++;
    row->sum_log2 += gain;
    if (gain <= row->best_log2)
        return;
    row->best_log2 = gain;
    row->commit = commit ? hone_pool_strdup(r->k->pool, commit) : NULL;
}

/* Typed words alone: what a compiler or a model said stays in its workspace. */
static const char *why_of(struct reader *r, const struct hone_event_result *e)
{
    const char *word = e->verdict ? e->verdict : e->is_declined ? "declined" : "not carried out";
    return hone_pool_printf(r->k->pool, "%s%s%s%s", word, e->verdict && e->reason ? " (" : "",
                            e->verdict && e->reason ? e->reason : "",
                            e->verdict && e->reason ? ")" : "");
}

static void on_result(struct reader *r, struct search *s, const struct hone_event_result *e)
{
    if (e->node >= 0 && e->node < MAX_NODES)
        s->values[e->node] = e->value;
    bool is_expansion = e->kind != NULL && strcmp(e->kind, "expand") == 0;
    if (!is_expansion || s->strategy == NULL || e->step != s->step)
        return;
    struct hone_knowledge_row *row = row_of(r, s);
    double gain = e->node >= 0 ? e->value - value_of(s, s->parent) : (double)NAN;
    row->tried++;
    row->implemented += e->is_implemented || e->node >= 0;
    row->gained += e->is_gain;
    if (isfinite(gain))
        note_gain(r, row, gain, e->commit);
    else if (e->verdict != NULL && strcmp(e->verdict, "incorrect") == 0)
        row->incorrect++;
    else
        row->failed++;
    if (!isfinite(gain))
        row->why = why_of(r, e);
    s->strategy = NULL;
}

static void on_step(struct reader *r, struct search *s, const struct hone_event_step *e)
{
    bool is_known = e->strategy != NULL && hone_strategy_find(s->target, e->strategy) != NULL;
    s->strategy = is_known ? hone_pool_strdup(r->k->pool, e->strategy) : NULL;
    s->step = e->step;
    s->parent = e->parent;
}

static int on_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct reader *r = arg;
    struct hone_event e;
    (void)err;
    if (!hone_event_read(type, data, pool, &e))
        return 0;
    struct search *s = search_of(r, hone_event_search(&e));
    if (e.type == HONE_EVENT_START && s == NULL)
        on_start(r, &e.start, wall_ms);
    /* the number of its record is the step's */
    if (s != NULL && e.type == HONE_EVENT_STEP) {
        e.step.step = e.step.step > 0 ? e.step.step : (int64_t)n;
        on_step(r, s, &e.step);
    }
    if (s != NULL && e.type == HONE_EVENT_RESULT)
        on_result(r, s, &e.result);
    return 0;
}

int hone_knowledge_collect(struct hone_workspace *ws, struct hone_knowledge *k,
                           struct hone_err *err)
{
    struct reader r = {.ws = ws, .k = k};
    int rc = hone_ledger_scan(hone_workspace_ledger(ws), 0, on_record, &r, err);
    sort(k);
    return rc == HONE_E_CORRUPT ? 0 : rc;
}

/* ---- a store ---- */

static bool read_line(struct hone_knowledge *k, const char *line, size_t len)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_knowledge_row row;
    if (len > HONE_LIMIT_KNOWLEDGE_LINE || hone_json_parse(line, len, &json, NULL) < 0 ||
        hone_fields_decode(json, row_fields, HONE_COUNTOF(row_fields), &row, sizeof row, k->pool,
                           NULL) < 0 ||
        hone_strategy_find(row.target, row.strategy) == NULL)
        return false;
    if (find(k, row.search, row.strategy) == NULL)
        *add(k) = row;
    return true;
}

int hone_knowledge_load(const char *path, struct hone_knowledge *k, size_t *ret_refused,
                        struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    *ret_refused = 0;
    if (!hone_file_exists(path))
        return 0;
    int rc = hone_file_read(path, HONE_LIMIT_KNOWLEDGE_BYTES, &text, &len, err);
    for (const char *at = text; rc == 0 && *at != '\0';) {
        size_t line = strcspn(at, "\n");
        if (k->n >= HONE_LIMIT_KNOWLEDGE_ROWS)
            return hone_fail(err, HONE_E_LIMIT, "'%s' and what is there have more than %d rows",
                             path, HONE_LIMIT_KNOWLEDGE_ROWS);
        if (line > 0 && !read_line(k, at, line))
            (*ret_refused)++;
        at += line + (at[line] == '\n');
    }
    sort(k);
    return rc;
}

int hone_knowledge_save(const char *path, struct hone_knowledge *k, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    const char *slash = strrchr(path, '/');
    HONE_AUTOFREE char *dir = hone_strndup(path, slash != NULL ? (size_t)(slash - path) : 0);
    sort(k);
    for (size_t i = 0; i < k->n; i++) {
        HONE_AUTOJSON struct hone_json *json =
            hone_fields_encode(&k->rows[i], row_fields, HONE_COUNTOF(row_fields));
        HONE_AUTOFREE char *text = hone_json_print(json);
        hone_buf_printf(&out, "%s\n", text);
    }
    int rc = dir[0] != '\0' ? hone_mkdirs(dir, 0755, err) : 0;
    return rc == 0 ? hone_file_write(path, out.data ? out.data : "", out.len, 0644, true, err) : rc;
}

struct hone_json *hone_knowledge_json(struct hone_knowledge *k)
{
    struct hone_json *out = hone_json_new_array();
    sort(k);
    for (size_t i = 0; i < k->n; i++)
        hone_json_push(out, hone_fields_encode(&k->rows[i], row_fields, HONE_COUNTOF(row_fields)));
    return out;
}

char *hone_knowledge_path(void)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data != NULL && data[0] == '/')
        return hone_sprintf("%s/hone/knowledge.jsonl", data);
    return home != NULL && home[0] == '/'
               ? hone_sprintf("%s/.local/share/hone/knowledge.jsonl", home)
               : NULL;
}
