/* SPDX-License-Identifier: Apache-2.0 */
/* A search that goes on knows what the search knew that wrote the records: after each event of a
 * recorded run, the digest of what is read back from the records up to there is that of the search
 * that ran. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/search/events.h"
#include "agents/search/search.h"
#include "agents/search/search_report.h"
#include "agents/search/state.h"
#include "agents/search/steer.h"
#include "agents/search/view.h"
#include "workspace/base/file.h"
#include "workspace/base/process.h"

enum { MOST_EVENTS = 400 };

/* Wins, failures of both sorts, tunables that are worth a sweep, profiles, versions of one code. */
static const char script[] =
    "{\"match\":\"fast-math\",\"reason\":\"wrong_value\"}\n"
    "{\"match\":\"unroll-loops\",\"reason\":\"compile\"}\n"
    "{\"match\":\"sum[MR][NR]\",\"ns\":50000,\"settings\":0.3}\n"
    "{\"match\":\"omp parallel for\",\"ns\":500000}\n"
    "{\"match\":\"hone tune(\",\"ns\":300000,\"settings\":0.3}\n"
    "{\"match\":\"atomic\",\"ns\":500000}\n"
    "{\"match\":\"__global__\",\"ns\":900000,\"limited_by\":\"dram_bound\"}\n"
    "{\"match\":\"void\",\"ns\":1000000}\n";

struct event {
    uint64_t n;
    char digest[HONE_HASH_TEXT_BYTES];
};

struct fixture {
    char dir[64];
    struct hone_workspace *ws;
    struct hone_executor *executor;
    struct hone_pool *pool;
    struct hone_app app;
    struct hone_tool_ctx ctx;
    struct hone_cancel cancel;
    struct event events[MOST_EVENTS];
    size_t n_events, kill_after; /* that event; 0: never */
};

static struct fixture *open_fixture(void)
{
    struct hone_err err = HONE_ERR_INIT;
    struct fixture *f = hone_calloc(1, sizeof(*f));
    snprintf(f->dir, sizeof(f->dir), "/tmp/hone-state-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    HONE_AUTOFREE char *ws = hone_path_join(f->dir, "ws", NULL);
    HONE_AUTOFREE char *fake = hone_path_join(f->dir, "fake.jsonl", NULL);
    ck_assert_int_eq(hone_file_write(fake, script, strlen(script), 0600, false, &err), 0);
    ck_assert_msg(hone_workspace_init(ws, "workspace", true, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_workspace_open(ws, &f->ws, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_exec_fake_new(fake, &f->executor, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_cancel_init(&f->cancel, &err), 0);
    f->pool = hone_pool_new();
    f->app = (struct hone_app){.ws = f->ws, .executor = f->executor};
    f->ctx = (struct hone_tool_ctx){
        .app = &f->app, .pool = f->pool, .cancel = &f->cancel, .caller = "test"};
    return f;
}

static void close_fixture(struct fixture *f)
{
    hone_workspace_close(f->ws);
    hone_executor_free(f->executor);
    hone_cancel_done(&f->cancel);
    hone_pool_free(f->pool);
    hone_remove_tree(f->dir, NULL);
    free(f);
}

static void note_event(void *arg, uint64_t n, const char *digest)
{
    struct fixture *f = arg;
    ck_assert_uint_lt(f->n_events, MOST_EVENTS);
    struct event *e = &f->events[f->n_events++];
    e->n = n;
    snprintf(e->digest, sizeof(e->digest), "%s", digest);
    if (f->n_events == f->kill_after)
        hone_cancel_set(&f->cancel);
}

/* C16 and C03 have a chance of 7 %, all others 50 %. */
static struct hone_json *hand_made_cost(void)
{
    struct hone_cost_model m = {.error = 1};
    static const char *from[] = {"nothing"};
    static const char *const hopeless[] = {"C16", "C03"};
    for (size_t i = 0; i < HONE_COUNTOF(hopeless); i++)
        m.weights[HONE_COST_TERMS + hone_strategy_index(hone_strategy_find("cpu", hopeless[i]))] =
            -1.5;
    return hone_cost_json(&m, &(struct hone_strs){from, 1});
}

static void run(struct fixture *f, struct hone_search_options *o)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_search_result r;
    o->on_event = note_event;
    o->on_event_arg = f;
    ck_assert_msg(hone_search_run(&f->ctx, o, NULL, NULL, &r, &err) == 0, "%s", err.message);
}

struct named {
    uint64_t n;
    char text[80];
};

static int name_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                       const struct hone_json *data, struct hone_err *err)
{
    struct named *named = arg;
    (void)wall_ms;
    (void)err;
    if (named->n == n)
        snprintf(named->text, sizeof(named->text), "%s %s", type,
                 hone_json_get_str(data, "kind", ""));
    return 0;
}

/* Each record as the last one before the process was killed. */
static size_t check_every_kill(struct fixture *f, const char *name)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_steer_search which;
    size_t n_checked = 0;
    ck_assert_msg(hone_steer_find(f->ws, name, f->pool, &which, &err) == 0, "%s", err.message);
    for (size_t i = 0; i < f->n_events; i++) {
        struct named what = {.n = f->events[i].n};
        char digest[HONE_HASH_TEXT_BYTES];
        int r = hone_search_digest_at(&f->ctx, &which, f->events[i].n, digest, &err);
        if (r == HONE_E_NOT_FOUND && n_checked == 0)
            continue; /* before the baseline there is nothing to go on with */
        ck_assert_msg(r == 0, "%s", err.message);
        n_checked++;
        if (strcmp(digest, f->events[i].digest) == 0)
            continue;
        hone_ledger_scan(hone_workspace_ledger(f->ws), 0, name_record, &what, NULL);
        ck_abort_msg("going on from record %llu (%s) gives another state",
                     (unsigned long long)f->events[i].n, what.text);
    }
    return n_checked;
}

static const struct {
    const char *task, *target;
    double stop_at_speedup, skip_below;
} runs[] = {{"matmul", "cpu", 0, 0},
            {"softmax", "cpu", 0, 0},
            {"softmax", "cpu", 0, 0.3},
            {"matmul", "cuda", 0, 0},
            {"sum", "cuda", 15, 0}};

START_TEST(going_on_knows_the_same_after_every_event)
{
    HONE_AUTOJSON struct hone_json *cost = hand_made_cost();
    for (size_t i = 0; i < HONE_COUNTOF(runs); i++) {
        struct fixture *f = open_fixture();
        struct hone_search_options o = {.task = runs[i].task,
                                        .target = runs[i].target,
                                        .budget_evaluations = 20,
                                        .stop_at_speedup = runs[i].stop_at_speedup,
                                        .skip_below = runs[i].skip_below,
                                        .knowledge = runs[i].skip_below > 0 ? "- C08 x\n" : NULL,
                                        .cost = cost,
                                        .seed = 3};
        run(f, &o);
        o.budget_evaluations = 28; /* a second round: what it resets, going on resets */
        run(f, &o);
        ck_assert_uint_gt(check_every_kill(f, o.task), 20);
        close_fixture(f);
    }
}
END_TEST

static bool read_event(const char *type, const char *text, struct hone_pool *pool,
                       struct hone_event *ret)
{
    HONE_AUTOJSON struct hone_json *data = NULL;
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &data, NULL), 0);
    return hone_event_read(type, data, pool, ret);
}

START_TEST(records_of_other_versions_are_read)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_event e;
    ck_assert(read_event("search.result",
                         "{\"search\":\"s-1\",\"kind\":\"expand\",\"node\":4,\"value\":\"no\","
                         "\"later\":{\"x\":1},\"step\":7}",
                         pool, &e));
    ck_assert_int_eq((int)e.type, (int)HONE_EVENT_RESULT);
    ck_assert_int_eq((int)hone_event_kind(&e.result), (int)HONE_KIND_EXPAND);
    ck_assert_int_eq((int)e.result.node, 4);
    ck_assert_int_eq((int)e.result.parent, -1);
    ck_assert_int_eq((int)e.result.step, 7);
    ck_assert(isnan(e.result.value) && isnan(e.result.g_eff));
    ck_assert_ptr_null(e.result.words);
    ck_assert(!read_event("search.later", "{}", pool, &e));
    ck_assert(read_event("search.submit", "{\"search\":\"s-1\"}", pool, &e));
    ck_assert(isnan(e.submit.expected));
    ck_assert(!read_event("search.result", "[]", pool, &e));
    ck_assert(read_event("search.result", "{\"kind\":\"dance\"}", pool, &e));
    ck_assert_int_eq((int)hone_event_kind(&e.result), (int)HONE_N_KINDS);
}
END_TEST

static int keep_last(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    struct hone_buf *out = arg;
    HONE_AUTOFREE char *text = hone_json_print(data);
    (void)n;
    (void)wall_ms;
    (void)err;
    hone_buf_done(out);
    hone_buf_printf(out, "%s %s", type, text);
    return 0;
}

/* Members and their order: older programs read them too, and recorded runs are compared. */
START_TEST(records_keep_their_form)
{
    static const struct hone_search_result result = {.task = "sum", .why_stopped = "plateau"};
    static const struct {
        struct hone_event e;
        const char *want;
    } rows[] = {
        {{.type = HONE_EVENT_STEER,
          .steer = {.search = "s-1", .action = "ban", .strategy = "C04", .by = "me"}},
         "search.steer {\"search\":\"s-1\",\"action\":\"ban\",\"strategy\":\"C04\",\"by\":\"me\"}"},
        {{.type = HONE_EVENT_STEER,
          .steer = {.search = "s-1", .action = "hint", .text = "x", .by = "me"}},
         "search.steer {\"search\":\"s-1\",\"action\":\"hint\",\"text\":\"x\",\"by\":\"me\"}"},
        {{.type = HONE_EVENT_SUBMIT,
          .submit = {.search = "s-1", .by = "me", .rewrite = "unroll", .expected = NAN}},
         "search.submit {\"search\":\"s-1\",\"by\":\"me\",\"rewrite\":\"unroll\",\"variant\":0}"},
        {{.type = HONE_EVENT_SUBMIT,
          .submit = {.search = "s-1", .by = "me", .source = "int a;", .expected = 2, .words = "w"}},
         "search.submit {\"search\":\"s-1\",\"by\":\"me\",\"source\":\"int a;\",\"expected\":2,"
         "\"words\":\"w\"}"},
        {{.type = HONE_EVENT_END, .end = {.search = "s-1", .result = &result}},
         "search.end "
         "{\"task\":\"sum\",\"baseline_ns\":0,\"best_ns\":0,\"speedup\":0,\"ci\":[],\"yardsticks\":"
         "[],"
         "\"evaluations\":0,\"verdicts\":[],\"unruly\":0,\"percent_of_bound\":0,\"why_stopped\":"
         "\"plateau\",\"is_resumed\":false,\"wall_ms\":0,\"device_ms\":0,\"tokens\":0,\"cost\":0,"
         "\"search\":\"s-1\"}"},
    };
    struct fixture *f = open_fixture();
    HONE_CLEANUP(hone_buf_done) struct hone_buf last = HONE_BUF_INIT;
    struct hone_ledger *ledger = hone_workspace_ledger(f->ws);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        ck_assert_int_eq(hone_event_append(ledger, &rows[i].e, NULL, NULL), 0);
        ck_assert_int_eq(hone_ledger_scan(ledger, 0, keep_last, &last, NULL), 0);
        ck_assert_str_eq(last.data, rows[i].want);
    }
    close_fixture(f);
}
END_TEST

static const struct hone_rewrite *find_none(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return NULL;
}

static struct hone_state *new_state(struct hone_pool *pool)
{
    struct hone_state *st = hone_pool_alloc(pool, sizeof(*st));
    hone_state_init(st, pool, find_none, NULL);
    return st;
}

static void apply(struct hone_state *st, struct hone_event *e, const char *source)
{
    struct hone_node *draft = hone_state_brings(st, &e->result) && source
                                  ? hone_state_draft(st, &e->result, source)
                                  : NULL;
    hone_state_apply(st, e, draft);
}

static struct hone_credit_cell taught(const struct hone_state *st, const char *id)
{
    return st->credit.rows[hone_strategy_index(hone_strategy_find("cpu", id))].before;
}

/* A search that goes on starts from what its first record says, whatever a later round brings. */
START_TEST(the_first_start_brings_the_prior)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_state *st = new_state(pool);
    static const char rows[] =
        "[{\"strategy\":\"C04\",\"n\":2,\"sum\":3,\"sum2\":5,\"from\":[\"s-1\"]},"
        "{\"strategy\":\"Z99\",\"n\":2,\"sum\":3,\"sum2\":5},7,"
        "{\"strategy\":\"C08\",\"n\":50000,\"sum\":3200000},"
        "{\"strategy\":\"C16\",\"n\":50001},{\"strategy\":\"C03\",\"n\":0}]";
    HONE_AUTOJSON struct hone_json *prior = NULL;
    ck_assert_int_eq(hone_json_parse(rows, strlen(rows), &prior, NULL), 0);
    struct hone_event start = {.type = HONE_EVENT_START,
                               .start = {.target = "cpu", .prior = prior}};
    char before[HONE_HASH_TEXT_BYTES], after[HONE_HASH_TEXT_BYTES];
    hone_state_digest(st, before);
    hone_state_apply(st, &start, NULL);
    hone_state_digest(st, after);
    ck_assert_str_ne(before, after);
    ck_assert_double_eq(taught(st, "C04").sum, 3);
    ck_assert_double_eq(taught(st, "C08").n, 50000);
    ck_assert_double_eq(taught(st, "C16").n, 0);
    ck_assert_double_eq(taught(st, "C03").n, 0);
    struct hone_event e = hone_event_new_result(HONE_KIND_ROOT);
    e.result.node = 0;
    e.result.value = e.result.se = 0;
    apply(st, &e, "int a;");
    hone_json_set_f64(hone_json_first(prior), "sum", 4);
    hone_state_apply(st, &start, NULL);
    ck_assert_double_eq(taught(st, "C04").sum, 3);
}
END_TEST

/* A setting of a sweep is a visit of the versions above it; a damaged record shifts nobody. */
START_TEST(versions_come_with_their_events)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_state *st = new_state(pool);
    struct hone_event e = hone_event_new_result(HONE_KIND_ROOT);
    char before[HONE_HASH_TEXT_BYTES], after[HONE_HASH_TEXT_BYTES];
    e.result.node = 0;
    e.result.value = e.result.se = 0;
    apply(st, &e, "int a;");
    ck_assert_int_eq(st->tree.n_nodes, 1);
    ck_assert_str_eq(st->tree.nodes[0]->rewrite, "");
    ck_assert(!st->tree.nodes[0]->is_swept);
    hone_state_digest(st, before);
    e = hone_event_new_result(HONE_KIND_TUNE);
    e.result.parent = 0;
    e.result.node = 2; /* the record of 1 is lost */
    e.result.value = 1;
    apply(st, &e, "int b;");
    ck_assert_int_eq(hone_state_index(st, 2), 1);
    ck_assert_int_eq(hone_state_index(st, 1), HONE_NO_NODE);
    ck_assert_int_eq(st->tree.nodes[0]->n_visits, 2);
    ck_assert(st->tree.nodes[0]->best == 1);
    ck_assert_int_eq(st->tree.best, 1);
    e.result.parent = 1; /* lost as well */
    e.result.node = 3;
    ck_assert(!hone_state_brings(st, &e.result));
    hone_state_digest(st, after);
    ck_assert_str_ne(before, after);
    e = (struct hone_event){.type = HONE_EVENT_WEIGHTS, .weights = {.rules = 3, .llm = 1}};
    hone_state_apply(st, &e, NULL);
    ck_assert(st->mix.rules == 0.75 && st->mix.llm == 0.25);
    hone_state_digest(st, before);
    ck_assert_str_ne(before, after);
}
END_TEST

/* ---- steps that the cost model leaves out ---- */

static int list_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                       const struct hone_json *data, struct hone_err *err)
{
    struct hone_buf *out = arg;
    (void)n;
    (void)wall_ms;
    (void)err;
    bool is_left_out = strcmp(type, "search.left_out") == 0;
    if (is_left_out || strcmp(hone_json_get_str(data, "kind", ""), "expand") == 0)
        hone_buf_printf(
            out, "%s %s/%s/%d of %d, chance %g\n", is_left_out ? "left out" : "tried",
            hone_json_get_str(data, "rewrite", ""), hone_json_get_str(data, "anchor", ""),
            (int)hone_json_get_i64(data, "variant", 0), (int)hone_json_get_i64(data, "parent", -1),
            hone_json_get_f64(data, "chance", -1));
    return 0;
}

/* What was left out and what was tried, in the order of the records. */
static const char *told(struct fixture *f)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    struct hone_ledger *ledger = hone_workspace_ledger(f->ws);
    ck_assert_int_eq(hone_ledger_scan(ledger, 0, list_record, &out, NULL), 0);
    return hone_pool_strdup(f->pool, out.data ? out.data : "");
}

static int run_once(struct fixture *f, double skip_below, const struct hone_json *cost)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_search_result r;
    HONE_AUTOJSON struct hone_json *copy = cost ? hone_json_copy(cost) : NULL;
    const struct hone_search_options o = {.task = "softmax",
                                          .budget_evaluations = 12,
                                          .skip_below = skip_below,
                                          .cost = copy,
                                          .on_event = note_event,
                                          .on_event_arg = f,
                                          .seed = 3};
    return hone_search_run(&f->ctx, &o, NULL, NULL, &r, &err);
}

/* The same for the choices: a list that is made anew holds what was tried, as the first one did. */
START_TEST(a_killed_search_leaves_out_what_the_whole_one_does)
{
    HONE_AUTOJSON struct hone_json *cost = hand_made_cost();
    struct fixture *whole = open_fixture();
    ck_assert_int_eq(run_once(whole, 0.3, cost), 0);
    const char *want = told(whole);
    ck_assert_ptr_nonnull(strstr(want, "left out unroll"));
    ck_assert_ptr_null(strstr(want, "tried unroll"));
    for (size_t k = 2; k < whole->n_events; k += 9) {
        struct fixture *f = open_fixture();
        f->kill_after = k;
        ck_assert_int_eq(run_once(f, 0.3, cost), HONE_E_CANCEL);
        hone_cancel_done(&f->cancel);
        ck_assert_int_eq(hone_cancel_init(&f->cancel, NULL), 0);
        /* another model meanwhile: what it started with holds */
        HONE_AUTOJSON struct hone_json *other = hand_made_cost();
        hone_json_set_f64(other, "error", 1000);
        ck_assert_int_eq(run_once(f, 0.3, other), 0);
        ck_assert_str_eq(told(f), want);
        close_fixture(f);
    }
    close_fixture(whole);
}
END_TEST

static size_t n_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

START_TEST(the_share_has_limits)
{
    HONE_AUTOJSON struct hone_json *cost = hand_made_cost();
    struct fixture *f = open_fixture();
    ck_assert_int_eq(run_once(f, -0.001, cost), HONE_E_ARG);
    ck_assert_int_eq(run_once(f, 1.001, cost), HONE_E_ARG);
    ck_assert_int_eq(run_once(f, (double)NAN, cost), HONE_E_ARG);
    ck_assert_int_eq(run_once(f, 0.3, NULL), HONE_E_ARG); /* no model, nothing to go by */
    ck_assert_uint_eq(f->n_events, 0);
    ck_assert_int_eq(run_once(f, 0, cost), 0);
    size_t n_tried = n_of(told(f), "tried");
    ck_assert_uint_eq(n_of(told(f), "left out"), 0);
    ck_assert_int_eq(run_once(f, 0.3, cost), 0); /* another share is another search */
    ck_assert_uint_gt(n_of(told(f), "left out"), 0);
    close_fixture(f);
    /* 1: everything is left out, and taken, since nothing else is there */
    f = open_fixture();
    ck_assert_int_eq(run_once(f, 1, cost), 0);
    const char *all = told(f);
    ck_assert_uint_ge(n_of(all, "left out"), n_tried);
    ck_assert_uint_eq(n_of(all, "tried"), n_tried);
    close_fixture(f);
}
END_TEST

START_TEST(what_is_left_out_is_shown)
{
    HONE_AUTOJSON struct hone_json *cost = hand_made_cost();
    struct fixture *f = open_fixture();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_search_report report;
    struct hone_steer_search which;
    struct hone_view view;
    bool is_damaged;
    ck_assert_int_eq(run_once(f, 0.3, cost), 0);
    ck_assert_int_eq(hone_search_report_read(f->ws, "softmax", f->pool, &report, &is_damaged, &err),
                     0);
    const struct hone_report_left_out *l = report.left_out.v;
    ck_assert_uint_eq(report.left_out.n, n_of(told(f), "left out"));
    ck_assert(!l->is_taken && l->error == 1 && l->chance < 0.3);
    ck_assert_double_eq_tol(l->predicted, -1.5, 1e-9);
    HONE_AUTOFREE char *text = hone_search_report_markdown(&report, "ws");
    ck_assert_ptr_nonnull(
        strstr(text, "left out by the cost model: predicted 0.35x, error 1.00 log2."));
    HONE_AUTOJSON struct hone_json *json = hone_search_report_json(&report);
    ck_assert_uint_eq(hone_json_size(hone_json_get(json, "left_out")), report.left_out.n);
    ck_assert_int_eq(hone_steer_find(f->ws, "softmax", f->pool, &which, &err), 0);
    ck_assert_msg(hone_view_read(&f->ctx, &which, NULL, &view, &err) == 0, "%s", err.message);
    ck_assert(view.cost_error == 1);
    size_t n_last = 0;
    for (size_t i = 0; i < view.n_actions; i++) {
        ck_assert(view.actions[i].is_left_out || n_last == 0);
        n_last += view.actions[i].is_left_out;
    }
    ck_assert_uint_gt(n_last, 0);
    close_fixture(f);
}
END_TEST

UNIT_MAIN("search_state", going_on_knows_the_same_after_every_event,
          records_of_other_versions_are_read, records_keep_their_form,
          versions_come_with_their_events, the_first_start_brings_the_prior,
          a_killed_search_leaves_out_what_the_whole_one_does, the_share_has_limits,
          what_is_left_out_is_shown)
