/* SPDX-License-Identifier: Apache-2.0 */
/* Searches on the fake executor: budgets hold, the tree comes back from the records, the best is
 * confirmed, policies all run. */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/planner/policy.h"
#include "agents/search/search.h"
#include "agents/search/view.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/process.h"
#include "workspace/history.h"
#include "workspace/ledger.h"

struct fixture {
    char dir[64];
    struct hone_workspace *ws;
    struct hone_executor *executor;
    struct hone_pool *pool;
    struct hone_app app;
    struct hone_tool_ctx ctx;
    struct hone_cancel cancel;
};

/* Tiling and threads together are best, wrong answers come from fast-math, and unroll-loops does
 * not build. */
static const char script[] = "{\"match\":\"fast-math\",\"reason\":\"wrong_value\"}\n"
                             "{\"match\":\"unroll-loops\",\"reason\":\"compile\"}\n"
                             "{\"match\":\"sum[MR][NR];\\n#pragma GCC unroll\",\"ns\":50000}\n"
                             "{\"match\":\"sum[MR][NR]\",\"ns\":50000}\n"
                             "{\"match\":\"left_tile\",\"ns\":25000}\n"
                             "{\"match\":\"omp parallel for\",\"ns\":500000}\n"
                             "{\"match\":\"void\",\"ns\":1000000}\n";

static void open_fixture(struct fixture *f)
{
    struct hone_err err = HONE_ERR_INIT;
    *f = (struct fixture){.ws = NULL};
    snprintf(f->dir, sizeof(f->dir), "/tmp/hone-search-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    HONE_AUTOFREE char *ws = hone_path_join(f->dir, "ws", NULL);
    HONE_AUTOFREE char *fake = hone_path_join(f->dir, "fake.jsonl", NULL);
    ck_assert_msg(hone_file_write(fake, script, strlen(script), 0600, false, &err) == 0, "%s",
                  err.message);
    ck_assert_msg(hone_workspace_init(ws, "workspace", true, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_workspace_open(ws, &f->ws, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_exec_fake_new(fake, &f->executor, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_cancel_init(&f->cancel, &err), 0);
    f->pool = hone_pool_new();
    f->app = (struct hone_app){.ws = f->ws, .executor = f->executor};
    f->ctx = (struct hone_tool_ctx){
        .app = &f->app, .pool = f->pool, .cancel = &f->cancel, .caller = "test"};
}

static void reopen(struct fixture *f) /* as another process would */
{
    HONE_AUTOFREE char *ws = hone_path_join(f->dir, "ws", NULL);
    hone_workspace_close(f->ws);
    ck_assert_int_eq(hone_workspace_open(ws, &f->ws, NULL), 0);
    f->app.ws = f->ws;
}

static void close_fixture(struct fixture *f)
{
    hone_workspace_close(f->ws);
    hone_executor_free(f->executor);
    hone_cancel_done(&f->cancel);
    hone_pool_free(f->pool);
    hone_remove_tree(f->dir, NULL);
}

START_TEST(finds_and_confirms_the_best)
{
    struct fixture f;
    open_fixture(&f);
    struct hone_err err = HONE_ERR_INIT;
    struct hone_search_options o = {.task = "matmul", .budget_evaluations = 14, .seed = 3};
    struct hone_search_result r;
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &r, &err) == 0, "%s", err.message);
    ck_assert_str_eq(r.task, "matmul");
    ck_assert_str_eq(r.target, "cpu");
    ck_assert_int_le(r.evaluations, 14);
    ck_assert_msg(r.speedup > 15 && r.speedup < 25, "%g", r.speedup);
    ck_assert_uint_eq(r.ci.n, 2);
    ck_assert_double_le(r.ci.v[0], r.speedup);
    ck_assert_str_eq(r.verdict, "faster");
    ck_assert_ptr_nonnull(r.best_commit);
    char commit[HONE_COMMIT_BYTES];
    ck_assert_int_eq(
        hone_history_resolve(hone_workspace_history(f.ws), "search/matmul", commit, &err), 0);
    ck_assert_str_eq(commit, r.best_commit);
    HONE_AUTOJSON struct hone_json *json =
        hone_fields_encode(&r, hone_search_result_fields, hone_search_n_result_fields);
    static const char *const keys[] = {
        "task", "target",      "baseline_ns", "best_ns",     "speedup",
        "ci",   "evaluations", "verdicts",    "best_commit", "percent_of_bound"};
    for (size_t i = 0; i < HONE_COUNTOF(keys); i++)
        ck_assert_msg(hone_json_get(json, keys[i]) != NULL ||
                          strcmp(keys[i], "percent_of_bound") == 0,
                      "%s", keys[i]);
    ck_assert_int_eq(
        hone_fields_validate(json, hone_search_result_fields, hone_search_n_result_fields, &err),
        0);
    close_fixture(&f);
}
END_TEST

START_TEST(searches_on_a_gpu)
{
    static const char *const tasks[] = {"matmul", "softmax", "sum", "transpose"};
    for (size_t i = 0; i < HONE_COUNTOF(tasks); i++) {
        struct fixture f;
        open_fixture(&f);
        struct hone_err err = HONE_ERR_INIT;
        struct hone_search_options o = {
            .task = tasks[i], .target = "cuda", .budget_evaluations = 14, .seed = 3};
        struct hone_search_result r;
        ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &r, &err) == 0, "%s: %s", tasks[i],
                      err.message);
        ck_assert_str_eq(r.target, "cuda");
        ck_assert_int_le(r.evaluations, 16); /* a profile may follow the last but one */
        ck_assert_ptr_nonnull(r.best_commit);
        if (i == 0)
            ck_assert_msg(r.speedup > 30 && r.speedup < 50, "%g", r.speedup);
        struct hone_version v;
        ck_assert_int_eq(
            hone_history_read(hone_workspace_history(f.ws), r.best_commit, f.pool, &v, &err), 0);
        ck_assert_str_eq(v.target, "cuda");
        ck_assert_ptr_nonnull(strstr(v.source, "__global__"));
        close_fixture(&f);
    }
}
END_TEST

struct stopper {
    struct fixture *f;
    int64_t at;
    int64_t last;
};

static void stop_at(void *arg, const struct hone_search_progress *p)
{
    struct stopper *s = arg;
    s->last = p->evaluations;
    if (s->at > 0 && p->evaluations >= s->at)
        hone_cancel_set(&s->f->cancel);
}

static void open_limited(struct fixture *f, const char *script_text)
{
    struct hone_err err = HONE_ERR_INIT;
    open_fixture(f);
    HONE_AUTOFREE char *fake = hone_path_join(f->dir, "limited.jsonl", NULL);
    ck_assert_int_eq(hone_file_write(fake, script_text, strlen(script_text), 0600, false, &err), 0);
    hone_executor_free(f->executor);
    ck_assert_msg(hone_exec_fake_new(fake, &f->executor, &err) == 0, "%s", err.message);
    f->app.executor = f->executor;
}

static void check_limit(struct fixture *f, const struct hone_steer_search *search,
                        const char *commit)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_view view;
    ck_assert_msg(hone_view_read(&f->ctx, search, commit, &view, &err) == 0, "%s", err.message);
    ck_assert_uint_eq(view.n_findings, 1);
    ck_assert_str_eq(hone_class_name(view.findings[0].class_id), "dram_bound");
    ck_assert_str_eq(view.findings[0].rule, "fake: nothing was measured");
}

/* Who reads the records (a search that goes on, an outside planner) knows what profiles found; a
 * setting of a version is limited as that version is. */
START_TEST(a_profile_is_kept)
{
    static const char limited[] = "{\"match\":\"atomic\",\"ns\":500000}\n"
                                  "{\"match\":\"__global__\",\"limited_by\":\"dram_bound\"}\n";
    struct fixture f;
    struct hone_err err = HONE_ERR_INIT;
    open_limited(&f, limited);
    struct hone_search_options o = {
        .task = "matmul", .target = "cuda", .budget_evaluations = 40, .seed = 3};
    struct hone_search_result r;
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &r, &err) == 0, "%s", err.message);
    reopen(&f);
    struct hone_steer_search search;
    struct hone_view view;
    ck_assert_msg(hone_steer_find(f.ws, "matmul", f.pool, &search, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_view_read(&f.ctx, &search, NULL, &view, &err) == 0, "%s", err.message);
    int n_tuned = 0;
    for (size_t i = 0; i < view.n_versions; i++) {
        bool is_root = view.versions[i].parent == HONE_NO_NODE;
        bool is_tuned = strncmp(view.versions[i].words, "tune", 4) == 0;
        n_tuned += is_tuned;
        if (is_root || is_tuned)
            check_limit(&f, &search, view.versions[i].commit);
    }
    ck_assert_int_gt(n_tuned, 0);
    close_fixture(&f);
}
END_TEST

struct kinds {
    int n_sweeps, n_tuned;
};

static int count_kind(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                      const struct hone_json *data, struct hone_err *err)
{
    struct kinds *k = arg;
    (void)n;
    (void)wall_ms;
    (void)err;
    if (strcmp(type, "search.result") != 0)
        return 0;
    k->n_sweeps += strcmp(hone_json_get_str(data, "kind", ""), "sweep") == 0;
    k->n_tuned += strcmp(hone_json_get_str(data, "kind", ""), "tune") == 0;
    return 0;
}

static void count_tuned(const char *script_text, int *ret_n_sweeps, int *ret_n_tuned)
{
    struct fixture f;
    struct hone_err err = HONE_ERR_INIT;
    struct kinds k = {0};
    open_limited(&f, script_text);
    struct hone_search_options o = {
        .task = "matmul", .target = "cuda", .budget_evaluations = 40, .seed = 3};
    struct hone_search_result r;
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &r, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f.ws), 0, count_kind, &k, NULL), 0);
    *ret_n_sweeps = k.n_sweeps;
    *ret_n_tuned = k.n_tuned;
    close_fixture(&f);
}

/* A sweep's best setting is a version where it is faster by more than noise. */
START_TEST(a_setting_must_be_faster)
{
    int n_sweeps = 0, n_tuned = 0;
    count_tuned("{\"match\":\"hone tune(\",\"ns\":500000,\"settings\":0.3}\n"
                "{\"match\":\"__global__\",\"ns\":1000000}\n",
                &n_sweeps, &n_tuned);
    ck_assert_int_gt(n_tuned, 0);
    count_tuned("{\"match\":\"hone tune(\",\"ns\":500000,\"settings\":0.008}\n"
                "{\"match\":\"__global__\",\"ns\":1000000}\n",
                &n_sweeps, &n_tuned);
    ck_assert_int_gt(n_sweeps, 0);
    ck_assert_int_eq(n_tuned, 0);
}
END_TEST

static const struct {
    struct hone_search_options options;
    enum hone_code code;
    const char *part;
} refused[] = {
    {{.task = "matmul"}, HONE_E_ARG, "cap"},
    {{.task = NULL, .budget_evaluations = 3}, HONE_E_ARG, "task"},
    {{.task = "nothing", .budget_evaluations = 3}, HONE_E_NOT_FOUND, "nothing"},
    {{.task = "matmul", .budget_evaluations = 3, .policy = "clever"}, HONE_E_ARG, "clever"},
    {{.task = "matmul", .budget_evaluations = 3, .coder = "clever"}, HONE_E_ARG, "clever"},
    {{.task = "matmul", .budget_evaluations = 3, .target = "tpu"}, HONE_E_UNSUPPORTED, "tpu"},
    {{.task = "matmul", .budget_evaluations = 3, .name = "../x"}, HONE_E_ARG, "letters"},
};

START_TEST(bad_options_are_refused)
{
    struct fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < HONE_COUNTOF(refused); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_search_result r;
        ck_assert_int_eq(hone_search_run(&f.ctx, &refused[i].options, NULL, NULL, &r, &err),
                         (int)refused[i].code);
        ck_assert_msg(strstr(err.message, refused[i].part), "%s", err.message);
    }
    close_fixture(&f);
}
END_TEST

struct counts {
    int n_starts, n_results, n_evaluations;
};

static int count_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                        const struct hone_json *data, struct hone_err *err)
{
    struct counts *c = arg;
    (void)n;
    (void)wall_ms;
    (void)data;
    (void)err;
    c->n_starts += strcmp(type, "search.start") == 0;
    c->n_results += strcmp(type, "search.result") == 0;
    c->n_evaluations += strcmp(type, "evaluation.start") == 0;
    return 0;
}

static struct counts count(struct fixture *f)
{
    struct counts c = {0};
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f->ws), 0, count_record, &c, NULL), 0);
    return c;
}

START_TEST(goes_on_where_it_was)
{
    struct fixture f;
    open_fixture(&f);
    struct hone_search_options o = {.task = "softmax", .budget_evaluations = 20, .seed = 5};
    struct hone_search_result r;
    struct stopper s = {&f, 6, 0};
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_search_run(&f.ctx, &o, stop_at, &s, &r, &err), HONE_E_CANCEL);
    struct counts before = count(&f);
    ck_assert_int_ge(before.n_evaluations, 6);
    hone_cancel_done(&f.cancel);
    ck_assert_int_eq(hone_cancel_init(&f.cancel, NULL), 0);
    reopen(&f);
    s.at = 0;
    ck_assert_msg(hone_search_run(&f.ctx, &o, stop_at, &s, &r, &err) == 0, "%s", err.message);
    ck_assert(r.is_resumed);
    struct counts after = count(&f);
    ck_assert_int_eq(after.n_starts, 1);
    ck_assert_int_le(r.evaluations, 20);
    ck_assert_int_eq(after.n_evaluations, (int)r.evaluations); /* nothing was run twice */
    ck_assert_int_gt(after.n_results, before.n_results);
    close_fixture(&f);
}
END_TEST

START_TEST(a_damaged_record_stops_no_search)
{
    struct fixture f;
    open_fixture(&f);
    struct hone_search_options o = {.task = "softmax", .budget_evaluations = 3, .seed = 5};
    struct hone_search_result r;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &r, &err) == 0, "%s", err.message);
    HONE_AUTOFREE char *path = hone_workspace_path(f.ws, "ledger/000001.jsonl");
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    ck_assert_int_eq(hone_file_read(path, 1 << 24, &text, &len, NULL), 0);
    char *line = strstr(text, "\"search.result\"");
    ck_assert_ptr_nonnull(line);
    memset(line, '#', 8);
    ck_assert_int_eq(hone_file_write(path, text, len, 0600, false, NULL), 0);
    reopen(&f);
    o.budget_evaluations = 6; /* of both rounds */
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &r, &err) == 0, "%s", err.message);
    ck_assert(r.is_resumed);
    close_fixture(&f);
}
END_TEST

static int keep_start(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                      const struct hone_json *data, struct hone_err *err)
{
    struct hone_json **start = arg;
    (void)n;
    (void)wall_ms;
    (void)err;
    if (strcmp(type, "search.start") == 0 && !*start)
        *start = hone_json_copy(data);
    return 0;
}

static void hear_machine(void *arg, const struct hone_search_progress *p)
{
    int *n_heard = arg;
    *n_heard += p->message && strstr(p->message, "another machine (Babbage; this is ") != NULL;
}

/* Times of another machine are kept and compared, and the user is told. */
START_TEST(another_machine_is_told)
{
    struct fixture f;
    open_fixture(&f);
    struct hone_search_options o = {.task = "softmax", .budget_evaluations = 2, .seed = 5};
    struct hone_search_result r;
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOJSON struct hone_json *start = NULL;
    int n_heard = 0;
    ck_assert_msg(hone_search_run(&f.ctx, &o, hear_machine, &n_heard, &r, &err) == 0, "%s",
                  err.message);
    o.budget_evaluations = 4;
    reopen(&f);
    ck_assert_int_eq(hone_search_run(&f.ctx, &o, hear_machine, &n_heard, &r, &err), 0);
    ck_assert_int_eq(n_heard, 0);
    struct hone_ledger *ledger = hone_workspace_ledger(f.ws);
    ck_assert_int_eq(hone_ledger_scan(ledger, 0, keep_start, &start, NULL), 0);
    ck_assert_ptr_nonnull(start);
    ck_assert_str_ne(hone_json_get_str(start, "machine", ""), "");
    hone_json_set_str(start, "machine", "Babbage");
    ck_assert_int_eq(hone_ledger_append(ledger, "search.start", start, NULL, &err), 0);
    o.budget_evaluations = 6;
    reopen(&f);
    ck_assert_int_eq(hone_search_run(&f.ctx, &o, hear_machine, &n_heard, &r, &err), 0);
    ck_assert_int_eq(n_heard, 1);
    close_fixture(&f);
}
END_TEST

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Subjects of all versions, sorted, in the given pool. */
static size_t run_and_list(int64_t seed, struct hone_pool *pool, const char **ret)
{
    struct fixture f;
    open_fixture(&f);
    struct hone_search_options o = {.task = "jacobi2d", .budget_evaluations = 10, .seed = seed};
    struct hone_search_result r;
    ck_assert_int_eq(hone_search_run(&f.ctx, &o, NULL, NULL, &r, NULL), 0);
    struct hone_version *v = NULL;
    size_t n = 0;
    ck_assert_int_eq(
        hone_history_list(hone_workspace_history(f.ws), NULL, 0, 100, f.pool, &v, &n, NULL), 0);
    for (size_t i = 0; i < n; i++)
        ret[i] = hone_pool_strdup(pool, v[i].subject);
    qsort(ret, n, sizeof(*ret), by_text);
    close_fixture(&f);
    return n;
}

START_TEST(same_seed_same_choices)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *a[100], *b[100];
    size_t n_a = run_and_list(11, pool, a), n_b = run_and_list(11, pool, b);
    ck_assert_uint_ge(n_a, 5);
    ck_assert_uint_eq(n_a, n_b);
    for (size_t i = 0; i < n_a; i++)
        ck_assert_str_eq(a[i], b[i]);
}
END_TEST

START_TEST(every_policy_runs)
{
    for (size_t i = 0; i < hone_n_policies; i++) {
        struct fixture f;
        open_fixture(&f);
        struct hone_err err = HONE_ERR_INIT;
        struct hone_search_options o = {.task = "matmul",
                                        .budget_evaluations = 8,
                                        .policy = hone_policies[i]->name,
                                        .name = "p",
                                        .seed = 1};
        struct hone_search_result r;
        ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &r, &err) == 0, "%s: %s",
                      hone_policies[i]->name, err.message);
        ck_assert_int_le(r.evaluations, 8);
        ck_assert(r.speedup >= 0.9);
        close_fixture(&f);
    }
}
END_TEST

START_TEST(wall_budget_holds)
{
    struct fixture f;
    open_fixture(&f);
    struct hone_search_options o = {.task = "spmv_csr", .budget_wall_ms = 1500, .seed = 1};
    struct hone_search_result r;
    int64_t start = hone_now_ns();
    ck_assert_int_eq(hone_search_run(&f.ctx, &o, NULL, NULL, &r, NULL), 0);
    ck_assert_int_lt((hone_now_ns() - start) / HONE_NS_PER_MS, 6000);
    ck_assert_ptr_nonnull(r.why_stopped);
    close_fixture(&f);
}
END_TEST

START_TEST(host_runs_stops_and_waits)
{
    struct fixture f;
    open_fixture(&f);
    struct hone_search_host *host = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_search_host_new(&f.app, HONE_LIMIT_SEARCHES, &host, &err), 0);
    const char *id = NULL;
    struct hone_search_options o = {.task = "sum", .budget_evaluations = 6, .seed = 1};
    struct hone_search_options none = {.task = "sum"};
    ck_assert_int_eq(hone_search_host_start(host, &none, f.pool, &id, &err), HONE_E_ARG);
    ck_assert_int_eq(hone_search_host_start(host, &o, f.pool, &id, &err), 0);
    struct hone_search_state state;
    ck_assert_int_eq(
        hone_search_host_wait(host, id, hone_deadline_in_ms(60000), f.pool, &state, &err), 0);
    ck_assert_msg(state.status == HONE_JOB_DONE, "%s", state.message);
    ck_assert(state.has_result);
    ck_assert_str_eq(state.result.task, "sum");
    struct hone_search_state *list = NULL;
    ck_assert_uint_eq(hone_search_host_list(host, f.pool, &list), 1);
    ck_assert_int_eq(hone_search_host_stop(host, "search-none", &err), HONE_E_NOT_FOUND);
    o.budget_evaluations = 100000;
    o.name = "long";
    ck_assert_int_eq(hone_search_host_start(host, &o, f.pool, &id, &err), 0);
    ck_assert_int_eq(hone_search_host_stop(host, id, &err), 0);
    ck_assert_int_eq(
        hone_search_host_wait(host, id, hone_deadline_in_ms(60000), f.pool, &state, &err), 0);
    ck_assert_int_ne(state.status, HONE_JOB_RUNNING);
    hone_search_host_free(host);
    close_fixture(&f);
}
END_TEST

UNIT_MAIN("search", finds_and_confirms_the_best, searches_on_a_gpu, a_profile_is_kept,
          a_setting_must_be_faster, bad_options_are_refused, goes_on_where_it_was,
          a_damaged_record_stops_no_search, another_machine_is_told, same_seed_same_choices,
          every_policy_runs, wall_budget_holds, host_runs_stops_and_waits)
