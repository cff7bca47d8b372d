/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's ledger records: tables, writing, and the state that they lead to (suite_record.h). The
 * running suite and a reader apply the same functions. */
#include "agents/suite/suite_record.h"

#include <math.h>
#include <string.h>

#define CAP_ROW(type_, at_, prefix_, member_)                                                      \
    {                                                                                              \
        .name = prefix_ #member_, .type = HONE_FIELD_TYPE_OF(((type_ *)0)->at_.member_),           \
        .offset = offsetof(type_, at_.member_), .skip_empty = true                                 \
    }
#define CAP_ROWS(type_, at_, prefix_)                                                              \
    CAP_ROW(type_, at_, prefix_, budget_wall_ms),                                                  \
        CAP_ROW(type_, at_, prefix_, budget_evaluations),                                          \
        CAP_ROW(type_, at_, prefix_, budget_device_ms),                                            \
        CAP_ROW(type_, at_, prefix_, budget_disk_bytes),                                           \
        CAP_ROW(type_, at_, prefix_, budget_cost), CAP_ROW(type_, at_, prefix_, budget_tokens)

#define ROW(member, ...) HONE_FIELD(struct hone_suite_start, member, __VA_ARGS__)
static const struct hone_field start_fields[] = {
    ROW(suite), ROW(name),     ROW(key),   ROW(target),
    ROW(tasks), ROW(searches), ROW(lanes), CAP_ROWS(struct hone_suite_start, caps, ""),
};
#undef ROW
#define ROW(member, ...) HONE_FIELD(struct hone_suite_run_record, member, __VA_ARGS__)
static const struct hone_field run_fields[] = {
    ROW(suite),
    ROW(lanes),
    ROW(elapsed_ms),
    CAP_ROWS(struct hone_suite_run_record, caps, ""),
};
#undef ROW
#define ROW(member, ...) HONE_FIELD(struct hone_suite_begin, member, __VA_ARGS__)
static const struct hone_field begin_fields[] = {
    ROW(suite),
    ROW(task),
    ROW(elapsed_ms),
    CAP_ROWS(struct hone_suite_begin, share, ""),
    CAP_ROWS(struct hone_suite_begin, before, "before_"),
};
#undef ROW
#define ROW(member, ...) HONE_FIELD(struct hone_suite_done, member, __VA_ARGS__)
static const struct hone_field done_fields[] = {
    ROW(suite),
    ROW(task),
    ROW(elapsed_ms),
    CAP_ROWS(struct hone_suite_done, used, "used_"),
    ROW(is_stopped_by_share, .skip_empty = true),
    ROW(code),
    ROW(message),
    ROW(result, .skip_empty = true),
};
#undef ROW
#define ROW(member, ...) HONE_FIELD(struct hone_suite_end, member, __VA_ARGS__)
static const struct hone_field end_fields[] = {ROW(suite), ROW(stopped), ROW(elapsed_ms)};
#undef ROW

static const struct record {
    const char *type;
    const struct hone_field *fields;
    size_t n_fields, size;
} records[HONE_SUITE_N_RECORDS] = {
    [HONE_SUITE_START] = {"suite.start", start_fields, HONE_COUNTOF(start_fields),
                          sizeof(struct hone_suite_start)},
    [HONE_SUITE_RUN] = {"suite.run", run_fields, HONE_COUNTOF(run_fields),
                        sizeof(struct hone_suite_run_record)},
    [HONE_SUITE_BEGIN] = {"suite.begin", begin_fields, HONE_COUNTOF(begin_fields),
                          sizeof(struct hone_suite_begin)},
    [HONE_SUITE_DONE] = {"suite.task", done_fields, HONE_COUNTOF(done_fields),
                         sizeof(struct hone_suite_done)},
    [HONE_SUITE_END] = {"suite.end", end_fields, HONE_COUNTOF(end_fields),
                        sizeof(struct hone_suite_end)},
};

int hone_suite_append(struct hone_ledger *ledger, enum hone_suite_record type, const void *record,
                      struct hone_err *err)
{
    const struct record *r = &records[type];
    HONE_AUTOJSON struct hone_json *data = hone_fields_encode(record, r->fields, r->n_fields);
    int rc = hone_ledger_append(ledger, r->type, data, NULL, err);
    return rc == 0 ? hone_ledger_sync(ledger, err) : rc;
}

/* ---- what they lead to ---- */

static struct hone_suite_row *row_of(struct hone_suite *suite, const char *task)
{
    for (size_t i = 0; task && i < suite->n_rows; i++)
        if (strcmp(suite->rows[i].task, task) == 0)
            return &suite->rows[i];
    return NULL;
}

static const char *kept(struct hone_pool *pool, const char *text)
{
    return hone_pool_strdup(pool, text ? text : "");
}

void hone_suite_apply_start(struct hone_suite *suite, const struct hone_suite_start *start,
                            struct hone_pool *pool)
{
    size_t n = start->tasks.n < start->searches.n ? start->tasks.n : start->searches.n;
    *suite = (struct hone_suite){.id = kept(pool, start->suite),
                                 .name = kept(pool, start->name),
                                 .key = kept(pool, start->key),
                                 .target = hone_pool_strdup(pool, start->target),
                                 .lanes = start->lanes < 1 ? 1 : start->lanes,
                                 .caps = start->caps,
                                 .rows = hone_pool_alloc(pool, (n + 1) * sizeof(*suite->rows)),
                                 .n_rows = n};
    for (size_t i = 0; i < n; i++)
        suite->rows[i] = (struct hone_suite_row){.task = kept(pool, start->tasks.v[i]),
                                                 .search = kept(pool, start->searches.v[i])};
}

void hone_suite_apply_begin(struct hone_suite *suite, const struct hone_suite_begin *begin)
{
    struct hone_suite_row *row = row_of(suite, begin->task);
    if (!row)
        return;
    row->is_open = true;
    row->share = begin->share;
    row->begun_ms = begin->elapsed_ms;
    for (int k = 0; k < HONE_N_BUDGETS; k++)
        row->before[k] = hone_event_cap(&begin->before, (enum hone_budget_kind)k);
}

void hone_suite_apply_done(struct hone_suite *suite, const struct hone_suite_done *done,
                           struct hone_pool *pool)
{
    struct hone_suite_row *row = row_of(suite, done->task);
    struct hone_search_result result;
    if (!row)
        return;
    bool is_refused = done->code && !row->is_open;
    row->passes += !is_refused;
    row->is_open = false;
    row->is_stopped_by_share = done->is_stopped_by_share;
    row->code = hone_pool_strdup(pool, done->code);
    row->message = hone_pool_strdup(pool, done->message);
    for (int k = 0; k < HONE_N_BUDGETS; k++)
        row->used[k] += hone_event_cap(&done->used, (enum hone_budget_kind)k);
    if (!done->result ||
        !hone_fields_read(done->result, hone_search_result_fields, HONE_SEARCH_N_RESULT_FIELDS,
                          &result, sizeof(result), pool) ||
        (!result.verdict && row->last && row->last->verdict))
        return;
    row->last = hone_pool_alloc(pool, sizeof(*row->last));
    *row->last = result;
}

/* ---- reading ---- */

struct reader {
    struct hone_suite *suite;
    const char *name;
    struct hone_pool *pool;
    bool is_found;
};

static void read_run(struct reader *r, const struct hone_suite_run_record *run)
{
    r->suite->caps = run->caps;
    r->suite->lanes = run->lanes < 1 ? 1 : run->lanes;
    r->suite->has_ended = false;
    r->suite->stopped = NULL;
}

static int read_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                       const struct hone_json *data, struct hone_err *err)
{
    union {
        struct hone_suite_start start;
        struct hone_suite_run_record run;
        struct hone_suite_begin begin;
        struct hone_suite_done done;
        struct hone_suite_end end;
    } u;
    struct reader *r = arg;
    int i = 0;
    (void)n, (void)wall_ms, (void)err;
    while (i < HONE_SUITE_N_RECORDS && strcmp(records[i].type, type) != 0)
        i++;
    if (i == HONE_SUITE_N_RECORDS || !hone_fields_read(data, records[i].fields, records[i].n_fields,
                                                       &u, records[i].size, r->pool))
        return 0;
    if (i == HONE_SUITE_START) {
        if (r->name && strcmp(u.start.name ? u.start.name : "", r->name) != 0)
            return 0;
        hone_suite_apply_start(r->suite, &u.start, r->pool);
        r->is_found = true;
        return 0;
    }
    if (!r->is_found || strcmp(u.end.suite ? u.end.suite : "", r->suite->id) != 0)
        return 0; /* the id is the first member of each */
    if (i == HONE_SUITE_RUN)
        read_run(r, &u.run);
    if (i == HONE_SUITE_BEGIN)
        hone_suite_apply_begin(r->suite, &u.begin);
    if (i == HONE_SUITE_DONE)
        hone_suite_apply_done(r->suite, &u.done, r->pool);
    if (i == HONE_SUITE_END) {
        r->suite->has_ended = true;
        r->suite->stopped = kept(r->pool, u.end.stopped);
    }
    int64_t at = hone_json_get_i64(data, "elapsed_ms", 0);
    r->suite->elapsed_ms = at > r->suite->elapsed_ms ? at : r->suite->elapsed_ms;
    return 0;
}

int hone_suite_read(struct hone_workspace *ws, const char *name, struct hone_pool *pool,
                    struct hone_suite *ret, struct hone_err *err)
{
    struct reader r = {.suite = ret, .name = name, .pool = pool};
    *ret = (struct hone_suite){.id = NULL};
    int rc = hone_ledger_scan_type(hone_workspace_ledger(ws), "suite.", read_record, &r, err);
    if (rc < 0 && rc != HONE_E_CORRUPT)
        return rc;
    return r.is_found ? 0
                      : hone_fail(err, HONE_E_NOT_FOUND,
                                  name ? "no suite '%.64s' has begun here (hone search --suite)"
                                       : "no suite has begun here (hone search --suite)%.0s",
                                  name ? name : "");
}
