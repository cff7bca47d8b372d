/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a search from the ledger (search_report.h).
 *
 * Flow: a first pass finds which search of that name ran last; a second one hands each of its
 * records to an on_... function by type, which fill steps, evaluations, requests and spending. A
 * reader goes on where the second pass ended; another search of that name that has begun since makes
 * it begin again (is_stale). Records of unknown types are passed over. */
#include "agents/search/search_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/model/journal.h"
#include "agents/search/events.h"
#include "agents/search/usage.h"
#include "tools/best_measurement.h"
#include "workspace/ledger.h"
#include "workspace/records.h"

#define MAX_STEPS   100000
#define NAMES_SHOWN 12
#define MAX_STEERS  1000

enum { MAX_READINGS = 3, MAX_BARRED = 64 };

/* What find_last and on_record read. */
static const char *const beginnings[] = {"search.start", "search.run", NULL};
static const char *const records[] = {"search.",       "model.",           HONE_RECORD_START,
                                      HONE_RECORD_END, HONE_RECORD_COMMIT, NULL};

struct hone_search_reader {
    struct hone_workspace *ws;
    const char *wanted;
    struct hone_pool *pool;
    struct hone_search_report *report;
    struct hone_search_report own;             /* what report points to, of a reader that is kept */
    struct hone_ledger_place place, barred_at; /* barred_at: what was recorded when bar looked */
    bool is_damaged, is_stale, has_new_models;
    struct hone_report_step intent; /* of the step that has no result yet */
    struct hone_report_step *steps;
    size_t n_steps, room;
    struct hone_report_evaluation *evaluations;
    size_t n_evaluations, evaluations_room;
    int64_t last_step;
    struct hone_report_steer *steers; /* room for MAX_STEERS; NULL: none yet */
    size_t n_steers;
    struct hone_report_left_out *left_out;
    size_t n_left_out, left_out_room;
    struct hone_usage usage;
    const char *names[NAMES_SHOWN];
    size_t n_names;
    char *last; /* id of the search that ran last of those that are wanted; NULL: none */
};

static const char *text(struct hone_search_reader *r, const struct hone_json *data, const char *key)
{
    return hone_pool_strdup(r->pool, hone_json_get_str(data, key, NULL));
}

static const char *kept(struct hone_search_reader *r, const char *words)
{
    return hone_pool_strdup(r->pool, words);
}

static void free_json(void *json)
{
    hone_json_free(json);
}

/* ---- start and end ---- */

static void note_name(struct hone_search_reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_names; i++)
        if (strcmp(r->names[i], name) == 0)
            return;
    if (r->n_names < NAMES_SHOWN)
        r->names[r->n_names++] = hone_pool_strdup(r->pool, name);
}

static struct hone_json *budgets_of(struct hone_search_reader *r,
                                    const struct hone_event_caps *caps)
{
    struct hone_json *budgets = hone_json_new_object();
    hone_pool_defer(r->pool, free_json, budgets);
    for (int i = 0; i < HONE_N_BUDGETS; i++) {
        double cap = hone_event_cap(caps, (enum hone_budget_kind)i);
        r->report->spent.of[i].cap = cap;
        if (cap > 0)
            hone_json_set_f64(budgets, hone_budget_rows[i].member, cap);
    }
    return budgets;
}

static void on_start(struct hone_search_reader *r, const struct hone_event_start *start,
                     int64_t wall_ms)
{
    struct hone_search_report *s = r->report;
    const char *id = start->search ? start->search : "";
    if (!r->last || strcmp(r->last, id) != 0)
        return;
    bool is_new = !s->id || strcmp(s->id, id) != 0;
    if (is_new) {
        *s = (struct hone_search_report){
            .id = kept(r, id), .knowledge = kept(r, start->knowledge), .start_ms = wall_ms};
        r->n_steps = r->n_steers = r->n_evaluations = r->n_left_out = 0;
        r->last_step = 0;
        hone_usage_init(&r->usage, id);
        r->intent = (struct hone_report_step){.step = 0};
    }
    s->name = kept(r, start->name);
    s->task = kept(r, start->task);
    s->task_hash = kept(r, start->task_hash);
    s->target = kept(r, start->target);
    s->policy = kept(r, start->policy);
    s->coder = kept(r, start->coder);
    s->seed = start->seed;
    s->budgets = budgets_of(r, &start->caps);
    s->end = NULL;
    s->n_rounds++;
}

static void on_end(struct hone_search_reader *r, const struct hone_json *data)
{
    HONE_AUTOFREE char *printed = hone_json_print(data);
    r->report->end = NULL;
    if (hone_json_parse(printed, strlen(printed), &r->report->end, NULL) == 0)
        hone_pool_defer(r->pool, free_json, r->report->end);
}

/* ---- steps ---- */

static void on_intent(struct hone_search_reader *r, const struct hone_event_step *step)
{
    const char *values = step->values ? step->values : "";
    r->last_step = step->step;
    r->intent = (struct hone_report_step){
        .step = step->step,
        .strategy = kept(r, step->strategy),
        .rule = hone_pool_printf(r->pool, "%s%s%s%s", step->rule ? step->rule : "",
                                 *values ? " (" : "", values, *values ? ")" : ""),
        .expected = step->expected_log2,
        .low = step->low,
        .high = step->high,
        .propensity = step->propensity,
    };
}

/* Room for one more in a list that may hold MAX_STEPS; NULL: it is full. */
static void *grow(struct hone_search_reader *r, void *list, size_t size, size_t n, size_t *room)
{
    return n < MAX_STEPS ? hone_pool_grow(r->pool, list, size, n, room) : NULL;
}

static struct hone_report_step *new_step(struct hone_search_reader *r)
{
    struct hone_report_step *steps = grow(r, r->steps, sizeof(*steps), r->n_steps, &r->room);
    if (!steps)
        return NULL;
    r->steps = steps;
    return &r->steps[r->n_steps++];
}

static void on_left_out(struct hone_search_reader *r, const struct hone_event_left_out *e)
{
    struct hone_report_left_out *grown =
        grow(r, r->left_out, sizeof(*grown), r->n_left_out, &r->left_out_room);
    if (!grown)
        return;
    r->left_out = grown;
    grown[r->n_left_out++] =
        (struct hone_report_left_out){.step = e->step,
                                      .parent = e->parent,
                                      .words = kept(r, e->words ? e->words : ""),
                                      .strategy = kept(r, e->strategy),
                                      .rewrite = kept(r, e->rewrite ? e->rewrite : ""),
                                      .anchor = kept(r, e->anchor ? e->anchor : ""),
                                      .variant = e->variant,
                                      .predicted = e->predicted_log2,
                                      .error = e->error_log2,
                                      .chance = e->chance};
}

static void mark_taken(struct hone_search_reader *r, const struct hone_event_result *result)
{
    for (size_t i = 0; i < r->n_left_out && result->rewrite; i++) {
        struct hone_report_left_out *l = &r->left_out[i];
        if (l->parent == result->parent && l->variant == result->variant &&
            strcmp(l->rewrite, result->rewrite) == 0 &&
            strcmp(l->anchor, result->anchor ? result->anchor : "") == 0)
            l->is_taken = true;
    }
}

static void on_result(struct hone_search_reader *r, const struct hone_event_result *result)
{
    static const struct hone_report_step none = {.expected = (double)NAN,
                                                 .low = (double)NAN,
                                                 .high = (double)NAN,
                                                 .propensity = (double)NAN};
    struct hone_report_step *s = new_step(r);
    if (!s)
        return;
    bool is_expansion = hone_event_kind(result) == HONE_KIND_EXPAND;
    mark_taken(r, result);
    bool has_intent = is_expansion && r->intent.step > 0 && r->intent.step == result->step;
    *s = has_intent ? r->intent : none;
    if (has_intent)
        r->intent.step = 0;
    s->kind = kept(r, result->kind ? result->kind : "");
    s->parent = result->parent;
    s->node = result->node;
    s->words = kept(r, result->words);
    s->note = kept(r, result->note);
    s->verdict = kept(r, result->verdict);
    s->reason = kept(r, result->reason);
    s->commit = kept(r, result->commit);
    s->evaluation = kept(r, result->evaluation);
    s->value = result->value;
    s->ratio = result->ratio;
    s->ratio_low = result->ratio_low;
    s->ratio_high = result->ratio_high;
    s->is_implemented = result->is_implemented;
    s->is_gain = result->is_gain;
    s->is_declined = result->is_declined;
    s->elapsed_ms = result->elapsed_ms;
    s->evaluations = result->evaluations;
    s->wall_ms = result->wall_ms;
}

/* ---- evaluations ---- */

/* Newest first: a record is of one of the last. */
static struct hone_report_evaluation *find_evaluation(struct hone_search_reader *r,
                                                      const struct hone_json *data)
{
    const char *id = hone_json_get_str(data, "evaluation", "");
    for (size_t i = r->n_evaluations; i > 0 && i + 16 > r->n_evaluations; i--)
        if (strcmp(r->evaluations[i - 1].id, id) == 0)
            return &r->evaluations[i - 1];
    return NULL;
}

static void begin_evaluation(struct hone_search_reader *r, const struct hone_json *data)
{
    const char *caller = hone_json_get_str(data, "caller", "");
    size_t len = strlen(HONE_USAGE_CALLER);
    if (strncmp(caller, HONE_USAGE_CALLER, len) != 0 || strcmp(caller + len, r->report->id) != 0)
        return;
    struct hone_report_evaluation *grown =
        grow(r, r->evaluations, sizeof(*grown), r->n_evaluations, &r->evaluations_room);
    if (!grown)
        return;
    r->evaluations = grown;
    grown[r->n_evaluations++] = (struct hone_report_evaluation){
        .id = hone_pool_strdup(r->pool, hone_json_get_str(data, "evaluation", "")),
        .tier = text(r, data, "tier"),
        .step = r->last_step};
}

static void on_evaluation(struct hone_search_reader *r, const char *type,
                          const struct hone_json *data)
{
    if (strcmp(type, HONE_RECORD_START) == 0) {
        begin_evaluation(r, data);
        return;
    }
    bool is_end = strcmp(type, HONE_RECORD_END) == 0;
    struct hone_report_evaluation *e =
        is_end || strcmp(type, HONE_RECORD_COMMIT) == 0 ? find_evaluation(r, data) : NULL;
    if (e && is_end) {
        e->verdict = text(r, data, "verdict");
        e->reason = text(r, data, "reason");
    } else if (e) {
        e->commit = text(r, data, "commit");
    }
}

/* ---- models ---- */

/* As the search itself counts them. */
static int read_models(struct hone_search_reader *r, struct hone_err *err)
{
    struct hone_journal *journal = hone_journal_new(hone_workspace_ledger(r->ws));
    struct hone_spend_row *rows = NULL;
    int rc = hone_journal_load(journal, r->report->id, err);
    size_t n = rc == 0 ? hone_journal_rows(journal, r->pool, &rows) : 0;
    struct hone_report_model *models = hone_pool_alloc(r->pool, (n + 1) * sizeof(*models));
    for (size_t i = 0; i < n; i++)
        models[i] = (struct hone_report_model){.role = rows[i].role,
                                               .model = rows[i].model,
                                               .n_asked = rows[i].spend.n_asks,
                                               .n_answered = rows[i].spend.n_answers,
                                               .tokens_in = rows[i].spend.tokens_in,
                                               .tokens_out = rows[i].spend.tokens_out,
                                               .tokens_lost = rows[i].spend.tokens_lost,
                                               .cost = rows[i].spend.cost,
                                               .n_unpriced = rows[i].spend.n_unpriced};
    r->report->models = (struct hone_array){.v = models, .n = n};
    hone_journal_free(journal);
    return rc;
}

static void sum_up(struct hone_search_reader *r)
{
    struct hone_search_report *s = r->report;
    struct hone_budget *of = s->spent.of;
    const struct hone_report_model *m = s->models.v;
    of[HONE_BUDGET_COST].spent = of[HONE_BUDGET_TOKENS].spent = 0;
    of[HONE_BUDGET_WALL].spent = (double)r->usage.wall_ms;
    of[HONE_BUDGET_EVALUATIONS].spent = (double)r->usage.evaluations;
    of[HONE_BUDGET_DEVICE].spent = (double)r->usage.device_ms;
    for (size_t i = 0; i < s->models.n; i++) {
        of[HONE_BUDGET_COST].spent += m[i].cost;
        of[HONE_BUDGET_TOKENS].spent +=
            (double)(m[i].tokens_in + m[i].tokens_out + m[i].tokens_lost);
    }
}

/* ---- what may not be claimed ---- */

/* That it was found wrong, else the end's doubt of a gain that is of it. Owned; NULL: neither. */
static char *bar_of(struct hone_search_reader *r, const struct hone_report_step *s)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_json *end = r->report->end;
    const char *wrong = hone_refutation_of(hone_workspace_history(r->ws), s->commit, pool);
    bool is_doubted = end && s->verdict && strcmp(s->verdict, "faster") == 0 &&
                      strcmp(hone_json_get_str(end, "best_commit", ""), s->commit) == 0;
    const char *why = wrong || !is_doubted ? wrong : hone_json_get_str(end, "doubt", NULL);
    return why ? hone_strdup(why) : NULL;
}

/* A version may be found wrong after its search, by anybody: asked anew whenever something was
 * recorded. Of a long search the last MAX_BARRED confirmations. */
static void bar(struct hone_search_reader *r)
{
    size_t n = 0;
    if (r->barred_at.segment == r->place.segment && r->barred_at.offset == r->place.offset)
        return;
    r->barred_at = r->place;
    for (size_t i = r->n_steps; i-- > 0 && n < MAX_BARRED;) {
        struct hone_report_step *s = &r->steps[i];
        if (strcmp(s->kind, "confirm") != 0 || !s->commit)
            continue;
        HONE_AUTOFREE char *why = bar_of(r, s);
        if (!why || !s->barred || strcmp(why, s->barred) != 0)
            s->barred = kept(r, why);
        n++;
    }
}

const char *hone_search_report_barred(const struct hone_search_report *report)
{
    const struct hone_report_step *steps = report->steps.v;
    const char *best = report->end ? hone_json_get_str(report->end, "best_commit", NULL) : NULL;
    for (size_t i = report->steps.n; best && i-- > 0;)
        if (steps[i].commit && strcmp(steps[i].kind, "confirm") == 0 &&
            strcmp(steps[i].commit, best) == 0)
            return steps[i].barred;
    return NULL;
}

/* ---- the pass ---- */

static void on_steer(struct hone_search_reader *r, uint64_t n, int64_t wall_ms,
                     const struct hone_event_steer *steer)
{
    const char *what = steer->strategy && *steer->strategy ? steer->strategy : steer->text;
    if (r->n_steers == MAX_STEERS)
        return;
    if (!r->steers)
        r->steers = hone_pool_alloc(r->pool, MAX_STEERS * sizeof(*r->steers));
    r->steers[r->n_steers++] = (struct hone_report_steer){.wall_ms = wall_ms,
                                                          .action = kept(r, steer->action),
                                                          .what = kept(r, what ? what : ""),
                                                          .by = kept(r, steer->by),
                                                          .n = n};
}

static void on_steered(struct hone_search_reader *r, const struct hone_event_steered *steered)
{
    for (size_t i = 0; i < r->n_steers; i++)
        r->steers[i].is_taken = r->steers[i].is_taken || r->steers[i].n == (uint64_t)steered->steer;
}

static const char *name_of(const struct hone_event *e)
{
    const char *name = e->type == HONE_EVENT_START ? e->start.name : e->run.name;
    return name ? name : "";
}

/* A process took a search up that is asked for. */
static bool is_wanted(const struct hone_search_reader *r, const struct hone_event *e)
{
    return (e->type == HONE_EVENT_START || e->type == HONE_EVENT_RUN) &&
           (!r->wanted || strcmp(r->wanted, name_of(e)) == 0 ||
            strcmp(r->wanted, hone_event_search(e)) == 0);
}

/* Of searches of one name the one that ran last counts, whenever it began. */
static int find_last(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_reader *r = arg;
    struct hone_event e;
    (void)n;
    (void)wall_ms;
    (void)err;
    if (!hone_event_read(type, data, pool, &e) ||
        (e.type != HONE_EVENT_START && e.type != HONE_EVENT_RUN))
        return 0;
    note_name(r, name_of(&e));
    if (is_wanted(r, &e))
        r->last = hone_pool_strdup(r->pool, hone_event_search(&e));
    return 0;
}

static void on_event(struct hone_search_reader *r, const struct hone_usage_record *record)
{
    const struct hone_event *e = record->event;
    switch (e->type) {
    case HONE_EVENT_STEP:
        on_intent(r, &e->step);
        break;
    case HONE_EVENT_LEFT_OUT:
        on_left_out(r, &e->left_out);
        break;
    case HONE_EVENT_RESULT:
        on_result(r, &e->result);
        break;
    case HONE_EVENT_END:
        on_end(r, record->data);
        break;
    case HONE_EVENT_STEERED:
        on_steered(r, &e->steered);
        break;
    case HONE_EVENT_RUN:
        r->report->budgets = budgets_of(r, &e->run.caps);
        break;
    case HONE_EVENT_STEER:
        on_steer(r, record->n, record->wall_ms, &e->steer);
        break;
    case HONE_EVENT_START: /* read before: it says which search is told of */
    case HONE_EVENT_SUBMIT:
    case HONE_EVENT_ANSWER:
    case HONE_EVENT_WEIGHTS:
    case HONE_N_EVENTS:
        break;
    }
}

static int on_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_reader *r = arg;
    struct hone_event e;
    (void)err;
    bool is_event = hone_event_read(type, data, pool, &e);
    r->has_new_models = r->has_new_models || strncmp(type, "model.", 6) == 0;
    if (is_event && e.type == HONE_EVENT_START)
        on_start(r, &e.start, wall_ms);
    if (is_event && is_wanted(r, &e))
        r->is_stale = !r->last || strcmp(r->last, hone_event_search(&e)) != 0;
    const struct hone_usage_record record = {n, wall_ms, type, data, is_event ? &e : NULL};
    if (r->report->id) {
        hone_usage_take(&r->usage, &record);
        on_evaluation(r, type, data);
    }
    if (!r->report->id || strcmp(hone_json_get_str(data, "search", ""), r->report->id) != 0)
        return 0;
    r->report->last_ms = wall_ms;
    if (is_event)
        on_event(r, &record);
    return 0;
}

static int not_found(const struct hone_search_reader *r, struct hone_err *err)
{
    const char *names = "";
    for (size_t i = 0; i < r->n_names; i++)
        names = hone_pool_printf(r->pool, "%s%s%s", names, i > 0 ? ", " : "", r->names[i]);
    if (r->n_names == 0)
        return hone_fail(err, HONE_E_NOT_FOUND,
                         "this workspace has no search yet; hone search TASK starts one");
    return hone_fail(err, HONE_E_NOT_FOUND, "no search '%.64s'; there are: %.250s", r->wanted,
                     names);
}

/* All of it anew. */
static int read_all(struct hone_search_reader *r, struct hone_err *err)
{
    struct hone_ledger *ledger = hone_workspace_ledger(r->ws);
    struct hone_err cause = HONE_ERR_INIT;
    *r->report = (struct hone_search_report){.id = NULL};
    r->place = (struct hone_ledger_place){.segment = 0};
    r->barred_at = r->place;
    r->last = NULL;
    r->is_stale = false;
    int rc = hone_ledger_scan_types(ledger, beginnings, find_last, r, &cause);
    r->is_damaged = rc == HONE_E_CORRUPT;
    if (rc == 0 || rc == HONE_E_CORRUPT)
        rc = hone_ledger_follow_types(ledger, records, &r->place, on_record, r, &cause);
    return rc < 0 ? hone_fail(err, (enum hone_code)rc, "reading the ledger: %.300s", cause.message)
                  : 0;
}

static int read_on(struct hone_search_reader *r, struct hone_err *err)
{
    struct hone_search_report *report = r->report;
    int rc = r->last ? hone_ledger_follow_types(hone_workspace_ledger(r->ws), records, &r->place,
                                                on_record, r, err)
                     : read_all(r, err);
    /* another one of that name may begin while this is read */
    for (int i = 0; rc == 0 && r->is_stale && i < MAX_READINGS; i++)
        rc = read_all(r, err);
    if (rc < 0)
        return rc;
    if (!report->id)
        return not_found(r, err);
    report->steps = (struct hone_array){.v = r->steps, .n = r->n_steps};
    report->evaluations = (struct hone_array){.v = r->evaluations, .n = r->n_evaluations};
    report->steers = (struct hone_array){.v = r->steers, .n = r->n_steers};
    report->left_out = (struct hone_array){.v = r->left_out, .n = r->n_left_out};
    report->intent = r->intent;
    bar(r);
    if (r->has_new_models)
        rc = read_models(r, err);
    r->has_new_models = r->has_new_models && rc < 0;
    if (rc == 0)
        sum_up(r);
    return rc;
}

int hone_search_report_read(struct hone_workspace *ws, const char *name, struct hone_pool *pool,
                            struct hone_search_report *ret, bool *ret_is_damaged,
                            struct hone_err *err)
{
    HONE_AUTOFREE struct hone_search_reader *r = hone_calloc(1, sizeof(*r));
    *r = (struct hone_search_reader){.ws = ws, .wanted = name, .pool = pool, .report = ret};
    int rc = read_on(r, err);
    *ret_is_damaged = r->is_damaged;
    return rc;
}

struct hone_search_reader *hone_search_reader_new(struct hone_workspace *ws, const char *name)
{
    struct hone_search_reader *r = hone_calloc(1, sizeof(*r));
    struct hone_pool *pool = hone_pool_new();
    *r = (struct hone_search_reader){
        .ws = ws, .wanted = hone_pool_strdup(pool, name), .pool = pool, .report = &r->own};
    return r;
}

void hone_search_reader_free(struct hone_search_reader *r)
{
    if (r)
        hone_pool_free(r->pool);
    free(r);
}

int hone_search_reader_read(struct hone_search_reader *r, const struct hone_search_report **ret,
                            struct hone_err *err)
{
    int rc = read_on(r, err);
    *ret = rc == 0 ? r->report : NULL;
    return rc;
}
