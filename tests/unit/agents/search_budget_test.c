/* SPDX-License-Identifier: Apache-2.0 */
/* Caps of whole searches hold, stop rules tell their words, somebody is told. The model is a shell
 * script, the executor the fake one. */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/search/search.h"
#include "tools/evaluate.h"
#include "workspace/base/file.h"
#include "workspace/ledger.h"

struct fixture {
    char dir[64];
    struct hone_workspace *ws;
    struct hone_executor *executor;
    struct hone_pool *pool;
    struct hone_app app;
    struct hone_tool_ctx ctx;
    struct hone_search_result result;
    struct hone_err err;
};

#define PRICED   "\"price_in\":1,\"price_out\":2,"
#define UNPRICED ""
#define GOOD                                                                                       \
    "n=$(ls @/p | wc -l); cat >@/p/$n; printf '@@SEARCH\\n    for (int64_t m = 0; m < M; "         \
    "m++) {\\n@@WITH\\n    int seen_%s = 0; (void)seen_%s;\\n    for (int64_t m = 0; m < M; m++) " \
    "{\\n@@END\\n' $n $n\n"

static char *in_dir(struct fixture *f, const char *name)
{
    return hone_pool_printf(f->pool, "%s/%s", f->dir, name);
}

static void put(struct fixture *f, const char *name, const char *text)
{
    /* "@/" stands for the folder */
    struct hone_buf out = HONE_BUF_INIT;
    for (; *text; text++)
        if (text[0] == '@' && text[1] == '/')
            hone_buf_str(&out, f->dir);
        else
            hone_buf_add(&out, text, 1);
    ck_assert_int_eq(hone_file_write(in_dir(f, name), out.data, out.len, 0600, false, &f->err), 0);
    hone_buf_done(&out);
}

static const char *get(struct fixture *f, const char *name)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    if (hone_file_read(in_dir(f, name), 1 << 20, &text, &len, NULL) < 0)
        return "";
    return hone_pool_strdup(f->pool, text);
}

static void open_fixture(struct fixture *f, const char *model, const char *prices,
                         const char *notify)
{
    *f = (struct fixture){.dir = "/tmp/hone-budget-XXXXXX", .pool = hone_pool_new()};
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    ck_assert_int_eq(setenv("XDG_CONFIG_HOME", f->dir, 1), 0);
    ck_assert_int_eq(hone_mkdirs(in_dir(f, "p"), 0700, &f->err), 0);
    put(f, "fake.jsonl",
        "{\"match\":\"unroll-loops\",\"reason\":\"compile\"}\n"
        "{\"match\":\"sum[MR][NR]\",\"ns\":50000,\"delay_ms\":20}\n"
        "{\"match\":\"omp parallel\",\"ns\":250000,\"delay_ms\":20}\n"
        "{\"match\":\"void\",\"ns\":1000000,\"delay_ms\":20}\n");
    put(f, "model.sh", model);
    ck_assert_msg(hone_workspace_init(in_dir(f, "ws"), "workspace", true, &f->err) == 0, "%s",
                  f->err.message);
    put(f, "ws/hone.json",
        hone_pool_printf(f->pool,
                         "{\"format\":1,\"models\":[{\"name\":\"sh\",\"provider\":\"command\",%s"
                         "\"tries\":1,\"command\":[\"/bin/sh\",\"@/model.sh\"]}]%s}",
                         prices, notify));
    ck_assert_msg(hone_workspace_open(in_dir(f, "ws"), &f->ws, &f->err) == 0, "%s", f->err.message);
    ck_assert_int_eq(hone_exec_fake_new(in_dir(f, "fake.jsonl"), &f->executor, &f->err), 0);
    f->app = (struct hone_app){.ws = f->ws, .executor = f->executor, .data_dir = "agents/coder"};
    f->ctx = (struct hone_tool_ctx){.app = &f->app, .pool = f->pool, .caller = "test"};
}

static void close_fixture(struct fixture *f)
{
    hone_workspace_close(f->ws);
    hone_executor_free(f->executor);
    hone_remove_tree(f->dir, NULL);
    hone_pool_free(f->pool);
}

static int search(struct fixture *f, struct hone_search_options o)
{
    o.task = o.task ? o.task : "softmax";
    o.seed = 5;
    f->err = (struct hone_err)HONE_ERR_INIT;
    return hone_search_run(&f->ctx, &o, NULL, NULL, &f->result, &f->err);
}

static int count_record(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                        const struct hone_json *data, struct hone_err *err)
{
    int *count = arg;
    (void)n;
    (void)wall_ms;
    (void)data;
    (void)err;
    *count += strcmp(type, "evaluation.start") == 0;
    return 0;
}

static int n_begun(struct fixture *f)
{
    int n = 0;
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f->ws), 0, count_record, &n, NULL), 0);
    return n;
}

START_TEST(money_is_never_passed)
{
    static const struct {
        struct hone_search_options o;
        const char *why;
    } rows[] = {
        {{.coder = "llm", .budget_cost = 0.05}, "budget_cost"},
        {{.coder = "llm", .budget_cost = 0.001}, "budget_cost"}, /* not even one ask */
        {{.coder = "llm", .budget_tokens = 30000}, "budget_tokens"},
        {{.coder = "llm", .planner = "llm", .budget_tokens = 30000}, "budget_tokens"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct fixture f;
        open_fixture(&f, GOOD, PRICED, "");
        ck_assert_msg(search(&f, rows[i].o) == 0, "row %zu: %s", i, f.err.message);
        ck_assert_str_eq(f.result.why_stopped, rows[i].why);
        if (i == 1) { /* nothing but the baseline */
            ck_assert_ptr_null(f.result.verdict);
            ck_assert_ptr_nonnull(
                strstr(f.result.unconfirmed, "nothing to confirm but the baseline"));
        } else {
            ck_assert_ptr_nonnull(f.result.verdict); /* what there was is confirmed */
        }
        if (rows[i].o.budget_cost > 0)
            ck_assert_double_le(f.result.cost, rows[i].o.budget_cost);
        else
            ck_assert_int_le(f.result.tokens, rows[i].o.budget_tokens);
        ck_assert_msg((i == 1) == (f.result.tokens == 0), "row %zu: %lld tokens", i,
                      (long long)f.result.tokens);
        /* all rounds count: the same again has nothing to begin with, or asks for nothing */
        double cost = f.result.cost;
        int r = search(&f, rows[i].o);
        ck_assert_msg(r == 0 || r == HONE_E_LIMIT, "%s", f.err.message);
        if (r == 0 && rows[i].o.budget_cost > 0)
            ck_assert_double_le(f.result.cost, rows[i].o.budget_cost);
        ck_assert_double_ge(f.result.cost, cost);
        close_fixture(&f);
    }
}
END_TEST

START_TEST(without_money_the_rules_go_on)
{
    struct fixture f;
    open_fixture(&f, GOOD, PRICED, "");
    const struct hone_search_options o = {
        .task = "matmul", .coder = "auto", .budget_cost = 0.0001, .budget_evaluations = 14};
    ck_assert_msg(search(&f, o) == 0, "%s", f.err.message);
    ck_assert_str_ne(f.result.why_stopped, "budget_cost");
    ck_assert_int_eq(f.result.tokens, 0);
    ck_assert_msg(f.result.speedup > 15, "%g", f.result.speedup); /* what rules find */
    close_fixture(&f);
}
END_TEST

START_TEST(what_cannot_bound_is_refused)
{
    static const struct {
        struct hone_search_options o;
        const char *prices;
        enum hone_code code;
        const char *part;
    } rows[] = {
        {{.coder = "rules"}, PRICED, HONE_E_ARG, "needs a cap"},
        {{.coder = "rules", .budget_cost = 5}, PRICED, HONE_E_ARG, "needs a cap"},
        {{.coder = "rules", .budget_tokens = 5}, PRICED, HONE_E_ARG, "needs a cap"},
        {{.coder = "llm", .budget_cost = -1}, PRICED, HONE_E_ARG, "above 0"},
        {{.coder = "llm", .budget_device_ms = -1}, PRICED, HONE_E_ARG, "above 0"},
        {{.coder = "llm", .budget_cost = 5}, UNPRICED, HONE_E_ARG, "price_in"},
        {{.coder = "rules", .planner = "llm", .budget_cost = 5}, UNPRICED, HONE_E_ARG, "price_in"},
        {{.budget_evaluations = 1}, PRICED, HONE_E_LIMIT, "--budget-evaluations"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct fixture f;
        open_fixture(&f, GOOD, rows[i].prices, "");
        ck_assert_int_eq(search(&f, rows[i].o), (int)rows[i].code);
        ck_assert_msg(strstr(f.err.message, rows[i].part) != NULL, "row %zu: %s", i, f.err.message);
        ck_assert_int_eq(n_begun(&f), 0);
        close_fixture(&f);
    }
}
END_TEST

START_TEST(evaluations_are_never_passed)
{
    static const char *const targets[] = {"cpu", "cuda"};
    for (int64_t most = 2; most < 14; most++) {
        struct fixture f;
        open_fixture(&f, GOOD, PRICED, "");
        const struct hone_search_options o = {
            .task = "matmul", .target = targets[most % 2], .budget_evaluations = most};
        ck_assert_msg(search(&f, o) == 0, "%s", f.err.message);
        ck_assert_str_eq(f.result.why_stopped, "budget_evaluations");
        /* one is kept for the confirmation: two of three may bring no version */
        ck_assert_msg(f.result.verdict || (most <= 3 && f.result.unconfirmed), "%d", (int)most);
        ck_assert_int_le(n_begun(&f), (int)most);
        ck_assert_int_eq(search(&f, o), n_begun(&f) == most ? HONE_E_LIMIT : 0);
        if (f.err.message[0])
            ck_assert_ptr_nonnull(strstr(f.err.message, "raise --budget-evaluations"));
        ck_assert_int_le(n_begun(&f), (int)most);
        close_fixture(&f);
    }
}
END_TEST

START_TEST(device_time_is_kept)
{
    struct fixture f;
    open_fixture(&f, GOOD, PRICED, "");
    const struct hone_search_options o = {.budget_device_ms = 120000, .budget_evaluations = 12};
    ck_assert_msg(search(&f, o) == 0, "%s", f.err.message); /* that it binds: search_wall_test */
    ck_assert_int_gt(f.result.device_ms, 0);
    ck_assert_int_le(f.result.device_ms, 120000);
    ck_assert_ptr_nonnull(f.result.verdict);
    ck_assert_int_eq(search(&f, (struct hone_search_options){.budget_device_ms = 1}), HONE_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(f.err.message, "--budget-device"));
    close_fixture(&f);
}
END_TEST

START_TEST(a_target_is_decided_and_confirmed)
{
    struct fixture f;
    open_fixture(&f, GOOD, PRICED, "");
    const struct hone_search_options o = {
        .task = "matmul", .budget_evaluations = 60, .stop_at_speedup = 3};
    ck_assert_msg(search(&f, o) == 0, "%s", f.err.message);
    ck_assert_str_eq(f.result.why_stopped, "target");
    ck_assert_double_ge(f.result.speedup, 3);
    ck_assert_str_eq(f.result.verdict, "faster");
    ck_assert_int_lt(f.result.evaluations, 30);
    close_fixture(&f);
}
END_TEST

#define TELL                                                                                       \
    ",\"notify\":{\"command\":[\"/bin/sh\",\"-c\",\"echo $HONE_EVENT >>@/told; cat >>@/told\"]}"

START_TEST(somebody_is_told)
{
    struct fixture f;
    open_fixture(&f, GOOD, PRICED, TELL);
    const struct hone_search_options o = {
        .task = "matmul", .budget_evaluations = 60, .stop_at_speedup = 3};
    ck_assert_msg(search(&f, o) == 0, "%s", f.err.message);
    const char *told = get(&f, "told");
    ck_assert_msg(strncmp(told, "milestone\n", 10) == 0, "%s", told);
    ck_assert_ptr_nonnull(strstr(told, "decided"));
    ck_assert_ptr_nonnull(strstr(told, "stop\n"));
    ck_assert_ptr_nonnull(strstr(told, "\"is_confirmed\":true"));
    ck_assert_ptr_nonnull(strstr(told, f.result.best_commit));
    ck_assert_ptr_null(strstr(told, "failure"));
    close_fixture(&f);

    open_fixture(&f, "echo", PRICED, TELL); /* no answer at all */
    ck_assert_int_lt(
        search(&f, (struct hone_search_options){.coder = "llm", .budget_evaluations = 30}), 0);
    ck_assert_msg(strncmp(get(&f, "told"), "failure\n", 8) == 0, "%s", get(&f, "told"));
    close_fixture(&f);

    open_fixture(&f, GOOD, PRICED, ",\"notify\":{\"command\":[\"/bin/false\"]}");
    ck_assert_msg(search(&f, o) == 0, "%s", f.err.message);
    ck_assert_str_eq(f.result.why_stopped, "target");
    close_fixture(&f);
}
END_TEST

struct listener { /* an HTTP server that says yes and keeps what it was sent */
    int fd;
    struct hone_buf got;
};

static void *listen_on(void *arg)
{
    static const char yes[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    struct listener *l = arg;
    char room[4096];
    for (int fd; (fd = accept(l->fd, NULL, NULL)) >= 0; close(fd)) {
        size_t start = l->got.len;
        for (ssize_t n; (n = read(fd, room, sizeof(room))) > 0;) {
            hone_buf_add(&l->got, room, (size_t)n);
            if (strstr(l->got.data + start, "\"elapsed_ms\":") && room[n - 1] == '}')
                break;
        }
        (void)!write(fd, yes, sizeof(yes) - 1);
    }
    return NULL;
}

START_TEST(a_webhook_is_told)
{
    struct fixture f;
    struct listener l = {.fd = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    pthread_t thread;
    ck_assert_int_eq(bind(l.fd, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(listen(l.fd, 4), 0);
    ck_assert_int_eq(getsockname(l.fd, (struct sockaddr *)&at, &len), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, listen_on, &l), 0);
    HONE_AUTOFREE char *notify =
        hone_sprintf(",\"notify\":{\"webhook\":\"http://127.0.0.1:%d/x\"}", ntohs(at.sin_port));
    open_fixture(&f, GOOD, PRICED, notify);
    const struct hone_search_options o = {
        .task = "matmul", .budget_evaluations = 60, .stop_at_speedup = 3};
    ck_assert_msg(search(&f, o) == 0, "%s", f.err.message);
    shutdown(l.fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(l.fd);
    ck_assert_ptr_nonnull(strstr(l.got.data, "POST /x HTTP/1"));
    const char *milestone = strstr(l.got.data, "\"event\":\"milestone\"");
    ck_assert_ptr_nonnull(milestone);
    ck_assert_ptr_nonnull(strstr(milestone, "\"event\":\"stop\""));
    hone_buf_done(&l.got);
    close_fixture(&f);
}
END_TEST

struct last { /* evaluation records */
    uint64_t start, end;
};

static int note_last(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                     const struct hone_json *data, struct hone_err *err)
{
    struct last *last = arg;
    (void)wall_ms;
    (void)data;
    (void)err;
    if (strcmp(type, "evaluation.start") == 0)
        last->start = n;
    else if (strcmp(type, "evaluation.end") == 0)
        last->end = n;
    return 0;
}

START_TEST(answers_are_recalled_without_the_cache)
{
    struct fixture f;
    struct last last = {0, 0};
    struct hone_recalled r;
    open_fixture(&f, GOOD, PRICED, "");
    ck_assert_int_eq(search(&f, (struct hone_search_options){.budget_evaluations = 5}), 0);
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f.ws), 0, note_last, &last, NULL), 0);
    ck_assert_int_eq(hone_remove_tree(in_dir(&f, "ws/.hone/cache"), &f.err), 0);
    ck_assert_msg(hone_evaluate_recall(&f.ctx, last.start, last.end, &r, &f.err) == 0, "%s",
                  f.err.message);
    ck_assert_int_eq(r.tier, HONE_TIER_CONFIRM);
    ck_assert_str_eq(r.evaluation.commit, f.result.best_commit);
    ck_assert_str_eq(hone_verdict_name(r.evaluation.report.verdict), f.result.verdict);
    ck_assert_ptr_nonnull(strstr(r.source, "softmax"));
    ck_assert_int_eq(hone_evaluate_recall(&f.ctx, last.end, last.start, &r, &f.err),
                     HONE_E_NOT_FOUND);
    ck_assert_int_eq(hone_remove_tree(in_dir(&f, "ws/.hone/blobs"), &f.err), 0);
    ck_assert_int_eq(hone_evaluate_recall(&f.ctx, last.start, last.end, &r, &f.err),
                     HONE_E_NOT_FOUND);
    close_fixture(&f);
}
END_TEST

UNIT_MAIN("search_budget", money_is_never_passed, without_money_the_rules_go_on,
          what_cannot_bound_is_refused, evaluations_are_never_passed, device_time_is_kept,
          a_target_is_decided_and_confirmed, somebody_is_told, a_webhook_is_told,
          answers_are_recalled_without_the_cache)
