/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's loop: hands tasks to lanes and notes what came of them (suite.h).
 *
 * One thread starts searches (search_host.c, a thread each), looks at them a few times a second, and
 * writes the suite's records. What a search used is read from its own records before and after, so
 * that a search that failed or was killed is counted too. */
#include "agents/suite/suite.h"

#include <math.h>
#include <string.h>

#include "agents/search/search_report.h"
#include "agents/suite/suite_record.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"

#define LOOK_MS 200

struct lane {
    struct hone_suite_row *row; /* NULL: free */
    const char *id;             /* of the host */
    int64_t begun_ns;
};

struct run {
    struct hone_app *app;
    const struct hone_suite_options *options;
    struct hone_suite *suite;
    struct hone_search_host *host;
    struct hone_pool *pool;
    struct lane lanes[HONE_LIMIT_LANES];
    int64_t begun_ns, before_ms; /* this process; suite time of those before it */
};

static int64_t elapsed_ms(const struct run *run)
{
    return run->before_ms + (hone_now_ns() - run->begun_ns) / HONE_NS_PER_MS;
}

static void say(const struct run *run, const char *line)
{
    if (run->options->say)
        run->options->say(run->options->arg, line);
}

static struct hone_ledger *ledger_of(const struct run *run)
{
    return hone_workspace_ledger(run->app->ws);
}

/* What the search of that name has used; wall time of a round that has not ended alone. */
static void read_used(const struct run *run, const char *search, double ret[HONE_N_BUDGETS])
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_report report;
    bool is_damaged;
    memset(ret, 0, HONE_N_BUDGETS * sizeof(*ret));
    if (hone_search_report_read(run->app->ws, search, pool, &report, &is_damaged, NULL) < 0)
        return;
    for (int k = 0; k < HONE_N_BUDGETS; k++)
        ret[k] = report.spent.of[k].spent;
    ret[HONE_BUDGET_DISK] = 0;
    ret[HONE_BUDGET_WALL] = report.end ? 0 : ret[HONE_BUDGET_WALL];
}

static struct hone_event_caps amounts(const double of[HONE_N_BUDGETS])
{
    return (struct hone_event_caps){.budget_wall_ms = (int64_t)of[HONE_BUDGET_WALL],
                                    .budget_evaluations = (int64_t)of[HONE_BUDGET_EVALUATIONS],
                                    .budget_device_ms = (int64_t)of[HONE_BUDGET_DEVICE],
                                    .budget_cost = of[HONE_BUDGET_COST],
                                    .budget_tokens = (int64_t)of[HONE_BUDGET_TOKENS]};
}

/* ---- one search ---- */

static int note_done(struct run *run, struct hone_suite_row *row, struct hone_suite_done *done,
                     struct hone_err *err)
{
    done->suite = run->suite->id;
    done->task = row->task;
    done->elapsed_ms = elapsed_ms(run);
    int rc = hone_suite_append(ledger_of(run), HONE_SUITE_DONE, done, err);
    if (rc == 0)
        hone_suite_apply_done(run->suite, done, run->pool);
    return rc;
}

static int note_failed(struct run *run, struct hone_suite_row *row, const char *code,
                       const char *message, struct hone_err *err)
{
    struct hone_suite_done done = {.code = code, .message = message};
    say(run, hone_pool_printf(run->pool, "%s: %s", row->task, message));
    return note_done(run, row, &done, err);
}

static bool is_of_share(const char *why)
{
    static const enum hone_stop_reason reasons[] = {
        HONE_STOP_BUDGET_WALL, HONE_STOP_BUDGET_EVALUATIONS, HONE_STOP_BUDGET_DEVICE,
        HONE_STOP_BUDGET_COST, HONE_STOP_BUDGET_TOKENS};
    for (size_t i = 0; why && i < HONE_COUNTOF(reasons); i++)
        if (strcmp(why, hone_stop_reason_name(reasons[i])) == 0)
            return true;
    return false;
}

/* What the search has used in all its rounds, as its result says. */
static void all_of(const struct hone_search_result *result, const struct hone_suite_row *row,
                   double ret[HONE_N_BUDGETS])
{
    memset(ret, 0, HONE_N_BUDGETS * sizeof(*ret));
    ret[HONE_BUDGET_EVALUATIONS] =
        row->before[HONE_BUDGET_EVALUATIONS] + (double)result->evaluations; /* of the round */
    ret[HONE_BUDGET_DEVICE] = (double)result->device_ms;
    ret[HONE_BUDGET_COST] = result->cost;
    ret[HONE_BUDGET_TOKENS] = (double)result->tokens;
}

static int end_one(struct run *run, struct lane *lane, const struct hone_search_state *state,
                   struct hone_err *err)
{
    struct hone_suite_row *row = lane->row;
    double after[HONE_N_BUDGETS], used[HONE_N_BUDGETS] = {0};
    lane->row = NULL;
    if (state->status == HONE_JOB_CANCELLED)
        return 0; /* it stays open and goes on with the next process */
    if (state->has_result)
        all_of(&state->result, row, after);
    else
        read_used(run, row->search, after);
    for (int k = 0; k < HONE_N_BUDGETS; k++)
        used[k] = fmax(after[k] - row->before[k], 0);
    used[HONE_BUDGET_WALL] = (double)((hone_now_ns() - lane->begun_ns) / HONE_NS_PER_MS);
    row->is_fresh = false;
    struct hone_suite_done done = {.used = amounts(used)};
    HONE_AUTOJSON struct hone_json *result = NULL;
    if (state->has_result) {
        result = hone_fields_encode(&state->result, hone_search_result_fields,
                                    HONE_SEARCH_N_RESULT_FIELDS);
        done.result = result;
        done.used.budget_wall_ms = state->result.wall_ms;
        done.is_stopped_by_share =
            used[HONE_BUDGET_EVALUATIONS] > 0 && is_of_share(state->result.why_stopped);
    } else {
        done.code = hone_code_name((enum hone_code)state->code);
        done.message = state->message;
    }
    say(run, state->has_result
                 ? state->message
                 : hone_pool_printf(run->pool, "%s: failed: %s", row->task, state->message));
    return note_done(run, row, &done, err);
}

/* A search that ended just before its suite was killed: 1, its end is noted. */
static int take_end(struct run *run, struct hone_suite_row *row, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_report report;
    double used[HONE_N_BUDGETS];
    bool is_damaged;
    if (hone_search_report_read(run->app->ws, row->search, pool, &report, &is_damaged, NULL) < 0 ||
        !report.end ||
        !(report.spent.of[HONE_BUDGET_EVALUATIONS].spent > row->before[HONE_BUDGET_EVALUATIONS]))
        return 0;
    for (int k = 0; k < HONE_N_BUDGETS; k++)
        used[k] = fmax(report.spent.of[k].spent - row->before[k], 0);
    struct hone_suite_done done = {
        .used = amounts(used),
        .result = report.end,
        .is_stopped_by_share = is_of_share(hone_json_get_str(report.end, "why_stopped", NULL))};
    say(run, hone_pool_printf(run->pool, "%s: had ended", row->task));
    int rc = note_done(run, row, &done, err);
    return rc < 0 ? rc : 1;
}

static int begin_one(struct run *run, struct lane *lane, struct hone_suite_row *row,
                     const struct hone_event_caps *share, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_search_options o = run->options->each;
    struct hone_err why = HONE_ERR_INIT;
    bool is_going_on = row->is_open;
    int rc = is_going_on ? take_end(run, row, err) : 0;
    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (!is_going_on && row->is_fresh)
        memset(row->before, 0, sizeof(row->before)); /* reading the records takes long */
    else if (!is_going_on)
        read_used(run, row->search, row->before);
    o.task = row->task;
    o.name = row->search;
    o.budget_wall_ms = share->budget_wall_ms;
    if (share->budget_wall_ms > 0)
        o.budget_wall_ms += (int64_t)row->before[HONE_BUDGET_WALL];
    o.budget_evaluations = share->budget_evaluations;
    if (share->budget_evaluations > 0)
        o.budget_evaluations += (int64_t)row->before[HONE_BUDGET_EVALUATIONS];
    o.budget_device_ms = share->budget_device_ms;
    if (share->budget_device_ms > 0)
        o.budget_device_ms += (int64_t)row->before[HONE_BUDGET_DEVICE];
    o.budget_cost = share->budget_cost > 0 ? share->budget_cost + row->before[HONE_BUDGET_COST] : 0;
    o.budget_tokens = share->budget_tokens;
    if (share->budget_tokens > 0)
        o.budget_tokens += (int64_t)row->before[HONE_BUDGET_TOKENS];
    o.budget_disk_bytes = share->budget_disk_bytes;
    struct hone_suite_begin begin = {.suite = run->suite->id,
                                     .task = row->task,
                                     .elapsed_ms = is_going_on ? row->begun_ms : elapsed_ms(run),
                                     .share = *share,
                                     .before = amounts(row->before)};
    rc = hone_suite_append(ledger_of(run), HONE_SUITE_BEGIN, &begin, err);
    if (rc < 0)
        return rc;
    hone_suite_apply_begin(run->suite, &begin);
    rc = run->options->prepare ? run->options->prepare(run->options->arg, &o, pool, &why) : 0;
    if (rc == 0)
        rc = hone_search_host_start(run->host, &o, run->pool, &lane->id, &why);
    if (rc < 0)
        return note_failed(run, row, hone_code_name((enum hone_code)rc), why.message, err);
    lane->row = row;
    lane->begun_ns = hone_now_ns();
    say(run, hone_pool_printf(run->pool, "%s: %s", row->task, is_going_on ? "goes on" : "begins"));
    return 0;
}

/* ---- the loop ---- */

/* A search that a killed process left open: the rest of its share. */
static struct hone_suite_row *left_open(struct run *run, const double left[HONE_N_BUDGETS],
                                        struct hone_event_caps *ret_share)
{
    for (size_t i = 0; i < run->suite->n_rows; i++) {
        struct hone_suite_row *row = &run->suite->rows[i];
        bool is_running = false;
        for (size_t l = 0; l < HONE_LIMIT_LANES; l++)
            is_running = is_running || run->lanes[l].row == row;
        if (!row->is_open || is_running)
            continue;
        *ret_share = row->share;
        /* its round goes on, and counts the wall time that it had */
        if (ret_share->budget_wall_ms > 0)
            ret_share->budget_wall_ms =
                (int64_t)fmax(fmin((double)ret_share->budget_wall_ms, left[HONE_BUDGET_WALL]), 1);
        return row;
    }
    return NULL;
}

static int fill_lanes(struct run *run, size_t *ret_running, struct hone_err *err)
{
    int rc = 0;
    *ret_running = 0;
    for (int64_t i = 0; rc == 0 && i < run->suite->lanes; i++) {
        struct hone_event_caps share;
        double left[HONE_N_BUDGETS];
        struct hone_suite_row *row = NULL;
        while (rc == 0 && !run->lanes[i].row) {
            run->suite->elapsed_ms = elapsed_ms(run);
            hone_suite_left(run->suite, left);
            row = left_open(run, left, &share);
            row = row ? row : hone_suite_next(run->suite, left, &share);
            if (!row)
                break;
            rc = begin_one(run, &run->lanes[i], row, &share, err);
        }
        *ret_running += run->lanes[i].row != NULL;
    }
    return rc;
}

static int look(struct run *run, bool is_waiting, struct hone_err *err)
{
    int rc = 0;
    int64_t until = hone_now_ns() + (is_waiting ? LOOK_MS * HONE_NS_PER_MS : 0);
    for (int64_t i = 0; rc == 0 && i < run->suite->lanes; i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_search_state state;
        if (!run->lanes[i].row)
            continue;
        rc = hone_search_host_wait(run->host, run->lanes[i].id, until, pool, &state, err);
        if (rc == 0 && state.status != HONE_JOB_RUNNING)
            rc = end_one(run, &run->lanes[i], &state, err);
    }
    return rc;
}

static const char *why_over(const struct run *run)
{
    double left[HONE_N_BUDGETS];
    bool is_waiting = false;
    for (size_t i = 0; i < run->suite->n_rows; i++) {
        const struct hone_suite_row *row = &run->suite->rows[i];
        is_waiting =
            is_waiting || row->is_stopped_by_share || (row->passes == 0 && row->code == NULL);
    }
    hone_suite_left(run->suite, left);
    int least = -1;
    for (int k = 0; is_waiting && k < HONE_N_BUDGETS; k++) {
        double cap = hone_event_cap(&run->suite->caps, (enum hone_budget_kind)k);
        double of = least < 0 ? (double)INFINITY
                              : left[least] /
                                    hone_event_cap(&run->suite->caps, (enum hone_budget_kind)least);
        if (k != HONE_BUDGET_DISK && cap > 0 && left[k] / cap < of)
            least = k;
    }
    return least < 0
               ? "done"
               : hone_stop_reason_name(hone_stop_reason_of_budget((enum hone_budget_kind)least));
}

static int loop(struct run *run, const struct hone_cancel *cancel, struct hone_err *err)
{
    size_t n_running = 1;
    int rc = 0;
    while (rc == 0 && n_running > 0 && !hone_cancel_is_set(cancel)) {
        rc = fill_lanes(run, &n_running, err);
        if (rc == 0 && n_running > 0)
            rc = look(run, true, err);
    }
    hone_search_host_stop_all(run->host);
    for (bool is_any = true; rc == 0 && is_any;) {
        is_any = false;
        rc = look(run, true, err);
        for (size_t i = 0; i < HONE_LIMIT_LANES; i++)
            is_any = is_any || run->lanes[i].row;
    }
    run->suite->elapsed_ms = elapsed_ms(run);
    if (rc < 0)
        return rc;
    if (hone_cancel_is_set(cancel))
        return hone_fail(err, HONE_E_CANCEL, "the suite was stopped; the same command goes on");
    struct hone_suite_end end = {
        .suite = run->suite->id, .stopped = why_over(run), .elapsed_ms = run->suite->elapsed_ms};
    run->suite->has_ended = true;
    run->suite->stopped = end.stopped;
    return hone_suite_append(ledger_of(run), HONE_SUITE_END, &end, err);
}

/* ---- opening ---- */

static int note_name(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    const struct hone_suite *suite = arg;
    const char *name = hone_json_get_str(data, "name", "");
    (void)n, (void)wall_ms, (void)type, (void)err;
    for (size_t i = 0; i < suite->n_rows; i++)
        if (suite->rows[i].is_fresh && strcmp(suite->rows[i].search, name) == 0)
            suite->rows[i].is_fresh = false;
    return 0;
}

static int find_fresh(struct run *run, struct hone_err *err)
{
    for (size_t i = 0; i < run->suite->n_rows; i++)
        run->suite->rows[i].is_fresh = true;
    int rc = hone_ledger_scan_type(ledger_of(run), "search.start", note_name, run->suite, err);
    return rc == HONE_E_CORRUPT ? 0 : rc;
}

static void hash_word(struct hone_hasher *h, const char *word)
{
    hone_hasher_str(h, word ? word : "");
}

static void make_key(const struct hone_suite_options *o, char ret[HONE_HASH_TEXT_BYTES])
{
    struct hone_hasher h;
    hone_hasher_init(&h);
    hash_word(&h, o->name);
    hash_word(&h, o->each.target);
    hash_word(&h, o->each.policy);
    hash_word(&h, o->each.coder);
    hash_word(&h, o->each.planner);
    hone_hasher_part(&h, &o->each.seed, sizeof(o->each.seed));
    hone_hasher_part(&h, &o->has_own_names, sizeof(o->has_own_names));
    for (size_t i = 0; i < o->n_tasks; i++)
        hash_word(&h, o->tasks[i].name);
    hone_hasher_end(&h, ret);
}

/* Searches that a killed process left open went on for a while after the suite's last record. */
static void count_open(struct run *run)
{
    for (size_t i = 0; i < run->suite->n_rows; i++) {
        const struct hone_suite_row *row = &run->suite->rows[i];
        double used[HONE_N_BUDGETS];
        if (!row->is_open)
            continue;
        read_used(run, row->search, used);
        int64_t at = row->begun_ms +
                     (int64_t)fmax(used[HONE_BUDGET_WALL] - row->before[HONE_BUDGET_WALL], 0);
        if (at > run->suite->elapsed_ms)
            run->suite->elapsed_ms = at;
    }
}

static int go_on(struct run *run, const struct hone_event_caps *caps, struct hone_err *err)
{
    size_t n_done = 0;
    count_open(run);
    run->suite->caps = *caps;
    run->suite->lanes = run->options->lanes;
    for (size_t i = 0; i < run->suite->n_rows; i++)
        n_done += run->suite->rows[i].passes > 0;
    struct hone_suite_run_record record = {.suite = run->suite->id,
                                           .lanes = run->suite->lanes,
                                           .elapsed_ms = run->suite->elapsed_ms,
                                           .caps = *caps};
    say(run,
        hone_pool_printf(run->pool, "suite %s goes on: %zu of %zu tasks had their turn, %.4g s",
                         run->suite->name, n_done, run->suite->n_rows,
                         (double)run->suite->elapsed_ms / 1000));
    return hone_suite_append(ledger_of(run), HONE_SUITE_RUN, &record, err);
}

static int begin(struct run *run, const char *key, const struct hone_event_caps *caps,
                 struct hone_err *err)
{
    const struct hone_suite_options *o = run->options;
    char random[13];
    hone_random_hex(random, 6);
    struct hone_suite_start start = {.suite = hone_pool_printf(run->pool, "suite-%s", random),
                                     .name = o->name,
                                     .key = key,
                                     .target = o->each.target,
                                     .lanes = o->lanes,
                                     .caps = *caps};
    const char **tasks = hone_pool_alloc(run->pool, (o->n_tasks + 1) * sizeof(*tasks));
    const char **searches = hone_pool_alloc(run->pool, (o->n_tasks + 1) * sizeof(*searches));
    for (size_t i = 0; i < o->n_tasks; i++) {
        tasks[i] = o->tasks[i].name;
        searches[i] = o->has_own_names
                          ? hone_pool_printf(run->pool, "%s-%s", o->name, o->tasks[i].name)
                          : o->tasks[i].name;
    }
    start.tasks = (struct hone_strs){tasks, o->n_tasks};
    start.searches = (struct hone_strs){searches, o->n_tasks};
    int rc = hone_suite_append(ledger_of(run), HONE_SUITE_START, &start, err);
    if (rc == 0)
        hone_suite_apply_start(run->suite, &start, run->pool);
    for (size_t i = 0; rc == 0 && i < o->n_tasks; i++)
        if (o->tasks[i].refused)
            rc = note_failed(run, &run->suite->rows[i], "refused", o->tasks[i].refused, err);
    return rc;
}

static int check(const struct hone_suite_options *o, struct hone_err *err)
{
    if (!o->name || !hone_is_safe_name(o->name))
        return hone_fail_at(err, HONE_E_ARG, "name", "a suite's name is letters, digits, _ and -");
    if (o->n_tasks == 0)
        return hone_fail_at(err, HONE_E_ARG, "suite", "a suite needs a task");
    if (o->n_tasks > HONE_LIMIT_SUITE_TASKS)
        return hone_fail_at(err, HONE_E_LIMIT, "suite", "at most %d tasks", HONE_LIMIT_SUITE_TASKS);
    if (o->lanes < 1 || o->lanes > HONE_LIMIT_LANES)
        return hone_fail_at(err, HONE_E_ARG, "lanes", "1 to %d searches at a time",
                            HONE_LIMIT_LANES);
    return hone_search_check_caps(&o->each, err);
}

int hone_suite_run(struct hone_app *app, const struct hone_suite_options *options,
                   const struct hone_cancel *cancel, struct hone_pool *pool, struct hone_suite *ret,
                   struct hone_err *err)
{
    struct run run = {.app = app, .options = options, .suite = ret, .pool = pool};
    const struct hone_event_caps caps = hone_search_caps(&options->each);
    char key[HONE_HASH_TEXT_BYTES];
    HONE_AUTOCLOSE int lock = -1;
    *ret = (struct hone_suite){.id = NULL};
    int rc = check(options, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *file = hone_sprintf("suite-%s.lock", options->name);
    HONE_AUTOFREE char *path = hone_path_join(hone_workspace_dir(app->ws), ".hone", file, NULL);
    if (hone_lock_file(path, 0, &lock, err) < 0)
        return hone_fail(err, HONE_E_BUSY, "suite '%s' runs already in this workspace",
                         options->name);
    make_key(options, key);
    run.begun_ns = hone_now_ns();
    bool is_known = hone_suite_read(app->ws, options->name, pool, ret, NULL) == 0 &&
                    !ret->has_ended && strcmp(ret->key, key) == 0;
    rc = is_known ? go_on(&run, &caps, err) : begin(&run, key, &caps, err);
    run.before_ms = ret->elapsed_ms;
    if (rc == 0)
        rc = find_fresh(&run, err);
    if (rc == 0)
        rc = hone_search_host_new(app, HONE_LIMIT_LANES, &run.host, err);
    if (rc == 0)
        rc = loop(&run, cancel, err);
    hone_search_host_free(run.host);
    return rc;
}
