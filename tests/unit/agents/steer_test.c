/* SPDX-License-Identifier: Apache-2.0 */
/* Steering: requests and submissions as records, their fold, limits, and what a search makes of
 * them. tsan: no; two threads open libclang at once, which is not built for it. */
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <fcntl.h>
#include <unistd.h>

#include "agents/coder/prompt.h"
#include "agents/search/search.h"
#include "agents/search/steer.h"
#include "agents/search/view.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

struct fixture {
    char dir[64];
    struct hone_app app;
    struct hone_pool *pool;
    struct hone_cancel cancel;
    struct hone_tool_ctx ctx;
};

static void open_fixture(struct fixture *f)
{
    struct hone_err err = HONE_ERR_INIT;
    *f = (struct fixture){.dir = "/tmp/hone-steer-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    HONE_AUTOFREE char *ws = hone_path_join(f->dir, "ws", NULL);
    ck_assert_msg(hone_workspace_init(ws, "workspace", true, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_workspace_open(ws, &f->app.ws, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_exec_fake_new(NULL, &f->app.executor, &err), 0);
    ck_assert_int_eq(hone_cancel_init(&f->cancel, &err), 0);
    f->pool = hone_pool_new();
    f->ctx = (struct hone_tool_ctx){
        .app = &f->app, .pool = f->pool, .cancel = &f->cancel, .caller = "test"};
}

static void close_fixture(struct fixture *f)
{
    hone_executor_free(f->app.executor);
    hone_workspace_close(f->app.ws);
    hone_cancel_done(&f->cancel);
    hone_pool_free(f->pool);
    hone_remove_tree(f->dir, NULL);
}

static struct hone_ledger *ledger_of(const struct fixture *f)
{
    return hone_workspace_ledger(f->app.ws);
}

/* Makes the records of a search that has begun. */
static void add_search(struct fixture *f, const char *id, const char *name)
{
    HONE_AUTOJSON struct hone_json *data = hone_json_new_object();
    hone_json_set_str(data, "search", id);
    hone_json_set_str(data, "name", name);
    hone_json_set_str(data, "task", "softmax");
    hone_json_set_str(data, "target", "cpu");
    hone_json_set_i64(data, "seed", 7);
    ck_assert_int_eq(hone_ledger_append(ledger_of(f), "search.start", data, NULL, NULL), 0);
}

/* Stands for a process that runs a search of that name. */
static int hold(struct fixture *f, const char *name)
{
    HONE_AUTOFREE char *file = hone_sprintf("search-%s.lock", name);
    HONE_AUTOFREE char *path = hone_workspace_path(f->app.ws, file);
    int fd = -1;
    ck_assert_int_eq(hone_lock_file(path, 0, &fd, NULL), 0);
    return fd;
}

static void find(struct fixture *f, const char *name, struct hone_steer_search *ret)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_steer_find(f->app.ws, name, f->pool, ret, &err) == 0, "%s", err.message);
}

static int send_request(struct fixture *f, const struct hone_steer_search *search,
                        enum hone_steer_action action, const char *strategy, const char *text,
                        struct hone_err *err)
{
    const struct hone_steer_request q = {
        .action = action, .strategy = strategy, .text = text, .by = "test"};
    return hone_steer_send(f->app.ws, search, &q, NULL, err);
}

static void read_all(struct fixture *f, const struct hone_steer_search *search,
                     struct hone_steering *ret)
{
    hone_steering_init(ret, search->id, search->target, f->pool);
    ck_assert_int_eq(hone_steering_read(ret, ledger_of(f), NULL), 0);
}

static size_t index_of(const char *id)
{
    return hone_strategy_index(hone_strategy_find("cpu", id));
}

START_TEST(searches_are_found_by_name_and_id)
{
    struct fixture f;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_steer_search s;
    open_fixture(&f);
    ck_assert_int_eq(hone_steer_find(f.app.ws, "a", f.pool, &s, &err), HONE_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "no search yet"));
    add_search(&f, "s-1", "a");
    add_search(&f, "s-2", "a");
    add_search(&f, "s-3", "b");
    find(&f, "a", &s);
    ck_assert_str_eq(s.id, "s-2");
    ck_assert(!s.is_running);
    HONE_AUTOJSON struct hone_json *run = hone_json_new_object();
    hone_json_set_str(run, "search", "s-1");
    ck_assert_int_eq(hone_ledger_append(ledger_of(&f), "search.run", run, NULL, NULL), 0);
    find(&f, "a", &s); /* the first one was taken up again */
    ck_assert_str_eq(s.id, "s-1");
    ck_assert_int_eq(s.options.seed, 7);
    HONE_AUTOCLOSE int lock = hold(&f, "a");
    find(&f, "a", &s);
    ck_assert(s.is_running);
    find(&f, "s-2", &s);
    ck_assert_str_eq(s.name, "a");
    ck_assert_msg(!s.is_running, "another search of that name holds the lock");
    find(&f, "s-3", &s);
    ck_assert(!s.is_running);
    ck_assert_int_eq(hone_steer_find(f.app.ws, "c", f.pool, &s, &err), HONE_E_NOT_FOUND);
    ck_assert_msg(strstr(err.message, "b, a") != NULL, "%s", err.message);
    close_fixture(&f);
}
END_TEST

START_TEST(requests_are_folded_in_order)
{
    struct fixture f;
    struct hone_steer_search s;
    struct hone_steering now;
    struct hone_err err = HONE_ERR_INIT;
    open_fixture(&f);
    add_search(&f, "s-1", "a");
    add_search(&f, "s-2", "other");
    find(&f, "other", &s);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_BAN, "C01", NULL, &err), 0);
    find(&f, "a", &s);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_BAN, "C15", NULL, &err), 0);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_BAN, "C04", NULL, &err), 0);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_UNBAN, "C15", NULL, &err), 0);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_FAVOUR, "C08", NULL, &err), 0);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_HINT, NULL, "short code", &err), 0);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_PAUSE, NULL, NULL, &err), 0);
    read_all(&f, &s, &now);
    ck_assert(now.is_paused && now.is_banned[index_of("C04")] && now.is_favoured[index_of("C08")]);
    ck_assert(!now.is_banned[index_of("C15")] && !now.is_banned[index_of("C01")]);
    ck_assert_uint_eq(now.n_hints, 1);
    ck_assert_uint_eq(now.n_notes, 6);
    ck_assert_str_eq(hone_steering_words(&now, "C08", true, f.pool), "ban C04, favour C08, hint");
    ck_assert_str_eq(hone_steering_words(&now, "C03", false, f.pool), "ban C04");
    /* what is added later is taken in once, what was acknowledged is known */
    HONE_AUTOJSON struct hone_json *ack = hone_json_new_object();
    hone_json_set_str(ack, "search", "s-1");
    hone_json_set_i64(ack, "steer", (int64_t)now.notes[0].n);
    ck_assert_int_eq(hone_ledger_append(ledger_of(&f), "search.steered", ack, NULL, NULL), 0);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_RESUME, NULL, NULL, &err), 0);
    ck_assert_int_eq(hone_steering_read(&now, ledger_of(&f), NULL), 0);
    ck_assert(!now.is_paused);
    ck_assert_uint_eq(now.n_notes, 6);
    ck_assert_int_eq(hone_steering_read(&now, ledger_of(&f), NULL), 0);
    ck_assert_uint_eq(now.n_notes, 6);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_HINT, NULL, "", &err), 0);
    ck_assert_int_eq(hone_steering_read(&now, ledger_of(&f), NULL), 0);
    ck_assert_uint_eq(now.n_hints, 0);
    close_fixture(&f);
}
END_TEST

START_TEST(bad_requests_are_refused)
{
    static char long_hint[HONE_LIMIT_HINT_BYTES + 2];
    memset(long_hint, 'x', HONE_LIMIT_HINT_BYTES + 1);
    static const struct {
        enum hone_steer_action action;
        const char *strategy, *text;
        int want;
        const char *part;
    } rows[] = {
        {HONE_STEER_BAN, NULL, NULL, HONE_E_ARG, "name a strategy"},
        {HONE_STEER_BAN, "", NULL, HONE_E_ARG, "name a strategy"},
        {HONE_STEER_BAN, "Z99", NULL, HONE_E_NOT_FOUND, "no strategy for cpu"},
        {HONE_STEER_FAVOUR, "G01", NULL, HONE_E_NOT_FOUND, "no strategy for cpu"},
        {HONE_STEER_BAN, "C08", "text", HONE_E_ARG, "takes none"},
        {HONE_STEER_PAUSE, "C08", NULL, HONE_E_ARG, "takes none"},
        {HONE_STEER_HINT, NULL, NULL, HONE_E_ARG, "in one line"},
        {HONE_STEER_HINT, NULL, "two\nlines", HONE_E_ARG, "one line"},
        {HONE_STEER_HINT, NULL, "\x1b[31mred", HONE_E_ARG, "control characters"},
        {HONE_STEER_HINT, NULL, "turned \xe2\x80\xae round", HONE_E_ARG, "control characters"},
        {HONE_STEER_HINT, NULL, "no \xff text", HONE_E_ARG, "control characters"},
        {HONE_STEER_HINT, NULL, long_hint, HONE_E_LIMIT, "at most"},
    };
    struct fixture f;
    struct hone_steer_search s;
    open_fixture(&f);
    add_search(&f, "s-1", "a");
    find(&f, "a", &s);
    uint64_t before = hone_ledger_last(ledger_of(&f));
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_eq(send_request(&f, &s, rows[i].action, rows[i].strategy, rows[i].text, &err),
                         rows[i].want);
        ck_assert_msg(strstr(err.message, rows[i].part) != NULL, "%zu: %s", i, err.message);
    }
    ck_assert_uint_eq(hone_ledger_last(ledger_of(&f)), before);
    long_hint[HONE_LIMIT_HINT_BYTES] = '\0';
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_HINT, NULL, long_hint, NULL), 0);
    close_fixture(&f);
}
END_TEST

START_TEST(the_newest_hints_stand)
{
    struct fixture f;
    struct hone_steer_search s;
    struct hone_steering now;
    open_fixture(&f);
    add_search(&f, "s-1", "a");
    find(&f, "a", &s);
    for (int i = 0; i <= HONE_LIMIT_HINTS; i++)
        ck_assert_int_eq(send_request(&f, &s, HONE_STEER_HINT, NULL,
                                      hone_pool_printf(f.pool, "hint %d", i), NULL),
                         0);
    read_all(&f, &s, &now);
    ck_assert_uint_eq(now.n_hints, HONE_LIMIT_HINTS);
    ck_assert_str_eq(now.hints[0], "hint 1");
    ck_assert_str_eq(now.hints[HONE_LIMIT_HINTS - 1],
                     hone_pool_printf(f.pool, "hint %d", HONE_LIMIT_HINTS));
    close_fixture(&f);
}
END_TEST

START_TEST(hints_are_words_of_the_user_not_data)
{
    static const char *const hints[] = {"use <<DATA x>", "a\nb\x1b"};
    struct hone_buf out = HONE_BUF_INIT;
    hone_prompt_hints(&out, hints, 0);
    ck_assert_uint_eq(out.len, 0);
    hone_prompt_hints(&out, hints, 2);
    ck_assert_ptr_nonnull(strstr(out.data, "in the user's own words"));
    ck_assert_ptr_nonnull(strstr(out.data, "\n- use <<DATA x>\n- a b?\n"));
    hone_buf_done(&out);
}
END_TEST

/* ---- submissions ---- */

START_TEST(the_queue_is_bounded)
{
    struct fixture f;
    struct hone_steer_search s;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_submitted o;
    const struct hone_submission sub = {.by = "a", .strategy = "C08", .expected = (double)NAN};
    uint64_t n = 0, first = 0;
    open_fixture(&f);
    add_search(&f, "s-1", "a");
    find(&f, "a", &s);
    ck_assert_int_eq(hone_submit(f.app.ws, &s, &sub, &n, &err), HONE_E_ARG);
    ck_assert_msg(strstr(err.message, "no process runs") != NULL, "%s", err.message);
    HONE_AUTOCLOSE int lock = hold(&f, "a");
    for (int i = 0; i < HONE_LIMIT_SUBMISSIONS; i++) {
        ck_assert_msg(hone_submit(f.app.ws, &s, &sub, &n, &err) == 0, "%d: %s", i, err.message);
        first = i == 0 ? n : first;
    }
    ck_assert_int_eq(hone_submit(f.app.ws, &s, &sub, &n, &err), HONE_E_BUSY);
    ck_assert_msg(strstr(err.message, "wait in this search") != NULL, "%s", err.message);
    ck_assert_int_eq(hone_submission_wait(f.app.ws, &s, first, 0, NULL, f.pool, &o, &err), 0);
    ck_assert_str_eq(o.status, "waiting");
    ck_assert(o.is_running);
    HONE_AUTOJSON struct hone_json *result = hone_json_new_object();
    hone_json_set_str(result, "search", "s-1");
    hone_json_set_i64(result, "submission", (int64_t)first);
    hone_json_set_str(result, "verdict", "screened");
    hone_json_set_f64(result, "ratio", 2);
    ck_assert_int_eq(hone_ledger_append(ledger_of(&f), "search.result", result, NULL, NULL), 0);
    ck_assert_int_eq(
        hone_submission_wait(f.app.ws, &s, first, HONE_NO_DEADLINE, NULL, f.pool, &o, &err), 0);
    ck_assert_str_eq(o.status, "done");
    ck_assert_double_eq(o.ratio, 2);
    ck_assert_int_eq(hone_submit(f.app.ws, &s, &sub, &n, &err), 0); /* there is room again */
    ck_assert_int_eq(hone_submission_wait(f.app.ws, &s, 1, 0, NULL, f.pool, &o, &err),
                     HONE_E_NOT_FOUND);
    hone_close_fd(&lock); /* nobody works on it: who waits is told at once */
    ck_assert_int_eq(
        hone_submission_wait(f.app.ws, &s, n, HONE_NO_DEADLINE, NULL, f.pool, &o, &err), 0);
    ck_assert_str_eq(o.status, "waiting");
    ck_assert(!o.is_running);
    close_fixture(&f);
}
END_TEST

START_TEST(bad_submissions_are_refused)
{
    struct fixture f;
    struct hone_steer_search s;
    open_fixture(&f);
    HONE_AUTOFREE char *huge = hone_malloc(HONE_LIMIT_SOURCE_BYTES + 2);
    memset(huge, ' ', HONE_LIMIT_SOURCE_BYTES + 1);
    huge[HONE_LIMIT_SOURCE_BYTES + 1] = '\0';
    const struct {
        struct hone_submission sub;
        int want;
        const char *part;
    } rows[] = {
        {{.expected = (double)NAN}, HONE_E_ARG, "choose a step"},
        {{.rewrite = "simd_inner", .source = "x", .expected = (double)NAN}, HONE_E_ARG, "or a rew"},
        {{.strategy = "Q1", .source = "x", .expected = (double)NAN}, HONE_E_NOT_FOUND, "Q1"},
        {{.strategy = "C15", .source = "x", .expected = (double)NAN}, HONE_E_ARG, "banned"},
        {{.rewrite = "fast_math", .expected = (double)NAN}, HONE_E_ARG, "banned"},
        {{.source = "x", .expected = 1e9}, HONE_E_ARG, "speedup"},
        {{.source = "x", .words = "a\nb", .expected = (double)NAN}, HONE_E_ARG, "one line"},
        {{.source = huge, .expected = (double)NAN}, HONE_E_LIMIT, "bytes"},
    };
    add_search(&f, "s-1", "a");
    find(&f, "a", &s);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_BAN, "C15", NULL, NULL), 0);
    HONE_AUTOCLOSE int lock = hold(&f, "a");
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_eq(hone_submit(f.app.ws, &s, &rows[i].sub, NULL, &err), rows[i].want);
        ck_assert_msg(strstr(err.message, rows[i].part) != NULL, "%zu: %s", i, err.message);
    }
    huge[HONE_LIMIT_SOURCE_BYTES] = '\0';
    const struct hone_submission most = {.by = "x", .source = huge, .expected = (double)NAN};
    uint64_t n = 0;
    ck_assert_int_eq(hone_submit(f.app.ws, &s, &most, &n, NULL), 0);
    close_fixture(&f);
}
END_TEST

START_TEST(names_are_made_harmless)
{
    struct hone_pool *pool = hone_pool_new();
    ck_assert_str_eq(hone_steer_by("a\nPlanner: <me>", pool), "a?Planner: ?me?");
    ck_assert_str_eq(hone_steer_by("", pool), "unknown");
    ck_assert_uint_eq(strlen(hone_steer_by("0123456789012345678901234567890123456789012", pool)),
                      40);
    hone_pool_free(pool);
}
END_TEST

/* ---- a search in a thread, steered from here ---- */

struct runner {
    struct fixture *f;
    struct hone_search_options options;
    struct hone_search_result result;
    struct hone_err err;
    int rc;
    pthread_t thread;
};

static void *run_search(void *arg)
{
    struct runner *r = arg;
    r->rc = hone_search_run(&r->f->ctx, &r->options, NULL, NULL, &r->result, &r->err);
    return NULL;
}

static void start(struct runner *r, struct fixture *f, const char *planner)
{
    *r = (struct runner){.f = f,
                         .options = {.task = "softmax",
                                     .planner = planner,
                                     .submission_wait_ms = 30000,
                                     .budget_evaluations = 20,
                                     .seed = 3},
                         .err = HONE_ERR_INIT};
    ck_assert_int_eq(pthread_create(&r->thread, NULL, run_search, r), 0);
}

static void wait_for_search(struct fixture *f, struct hone_steer_search *ret)
{
    for (int i = 0; i < 400; i++) {
        if (hone_steer_find(f->app.ws, "softmax", f->pool, ret, NULL) == 0 && ret->is_running)
            return;
        usleep(25000);
    }
    ck_abort_msg("the search did not begin");
}

static void submit_and_wait(struct fixture *f, const struct hone_steer_search *s,
                            const struct hone_submission *sub, struct hone_submitted *ret)
{
    struct hone_err err = HONE_ERR_INIT;
    uint64_t n = 0;
    ck_assert_msg(hone_submit(f->app.ws, s, sub, &n, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_submission_wait(f->app.ws, s, n, hone_deadline_in_ms(20000), NULL, f->pool,
                                       ret, &err) == 0,
                  "%s", err.message);
    ck_assert_str_ne(ret->status, "waiting");
}

static bool is_next_step(struct fixture *f, const struct hone_steer_search *s, const char *strategy)
{
    struct hone_view view;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_view_read(&f->ctx, s, NULL, &view, &err) == 0, "%s", err.message);
    for (size_t i = 0; i < view.n_actions; i++)
        if (strcmp(view.actions[i].strategy->id, strategy) == 0)
            return true;
    return false;
}

START_TEST(a_search_lives_of_submissions)
{
    struct fixture f;
    struct runner r;
    struct hone_steer_search s;
    struct hone_submitted o;
    open_fixture(&f);
    start(&r, &f, "external");
    wait_for_search(&f, &s);
    const struct hone_submission step = {.by = "one", .strategy = "C08", .expected = 1.5};
    submit_and_wait(&f, &s, &step, &o);
    ck_assert_str_eq(o.status, "done");
    ck_assert_int_ge(o.node, 1);
    submit_and_wait(&f, &s, &step, &o);
    ck_assert(strcmp(o.status, "done") == 0 || strcmp(o.status, "refused") == 0);
    const struct hone_submission own = {
        .by = "two", .source = "void softmax(void) { /* v1 */ int a; }", .expected = (double)NAN};
    submit_and_wait(&f, &s, &own, &o);
    ck_assert_str_eq(o.status, "done");
    ck_assert_ptr_nonnull(o.commit);
    submit_and_wait(&f, &s, &own, &o); /* the same text tells nothing new */
    ck_assert_str_eq(o.status, "refused");
    ck_assert_ptr_null(o.verdict);
    ck_assert(is_next_step(&f, &s, "C03"));
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_BAN, "C03", NULL, NULL), 0);
    ck_assert(!is_next_step(&f, &s, "C03"));
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_UNBAN, "C03", NULL, NULL), 0);
    ck_assert(is_next_step(&f, &s, "C03"));
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_STOP, NULL, NULL, NULL), 0);
    pthread_join(r.thread, NULL);
    ck_assert_msg(r.rc == 0, "%s", r.err.message);
    ck_assert_str_eq(r.result.why_stopped, "stopped");
    close_fixture(&f);
}
END_TEST

/* Ratio of a favoured strategy's prior to what it was. */
static double prior_of(struct fixture *f, const struct hone_steer_search *s, const char *strategy)
{
    struct hone_view view;
    double sum = 0;
    ck_assert_int_eq(hone_view_read(&f->ctx, s, NULL, &view, NULL), 0);
    for (size_t i = 0; i < view.n_actions; i++)
        if (strcmp(view.actions[i].strategy->id, strategy) == 0)
            sum += view.actions[i].prior;
    return sum;
}

START_TEST(a_favoured_prior_counts_four_times)
{
    struct fixture f;
    struct runner r;
    struct hone_steer_search s;
    struct hone_view view;
    open_fixture(&f);
    start(&r, &f, "external");
    wait_for_search(&f, &s);
    while (hone_view_read(&f.ctx, &s, NULL, &view, NULL) < 0) /* the baseline */
        usleep(25000);
    double before = prior_of(&f, &s, "C16");
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_FAVOUR, "C16", NULL, NULL), 0);
    double after = prior_of(&f, &s, "C16");
    ck_assert_msg(fabs(after - 4 * before / (1 + 3 * before)) < 1e-9, "%g %g", before, after);
    ck_assert_int_eq(send_request(&f, &s, HONE_STEER_STOP, NULL, NULL, NULL), 0);
    pthread_join(r.thread, NULL);
    ck_assert_msg(r.rc == 0, "%s", r.err.message);
    close_fixture(&f);
}
END_TEST

/* Everything is banned: nothing but STOP is left, and the mask is not lifted for it. */
START_TEST(stop_stays_legal)
{
    struct fixture f;
    struct hone_steer_search s;
    struct hone_search_result result;
    struct hone_err err = HONE_ERR_INIT;
    open_fixture(&f);
    struct hone_search_options o = {.task = "softmax", .budget_evaluations = 3, .seed = 3};
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &result, &err) == 0, "%s", err.message);
    find(&f, "softmax", &s);
    ck_assert(!s.is_running);
    for (size_t i = 0; i < hone_n_strategies; i++)
        if (strcmp(hone_strategies[i].target, "cpu") == 0)
            ck_assert_int_eq(
                send_request(&f, &s, HONE_STEER_BAN, hone_strategies[i].id, NULL, NULL), 0);
    o.budget_evaluations = 30;
    ck_assert_msg(hone_search_run(&f.ctx, &o, NULL, NULL, &result, &err) == 0, "%s", err.message);
    ck_assert_str_eq(result.why_stopped, "exhausted");
    ck_assert_int_le(result.evaluations, 8);
    close_fixture(&f);
}
END_TEST

UNIT_MAIN("steer", searches_are_found_by_name_and_id, requests_are_folded_in_order,
          bad_requests_are_refused, the_newest_hints_stand, hints_are_words_of_the_user_not_data,
          the_queue_is_bounded, bad_submissions_are_refused, names_are_made_harmless,
          a_search_lives_of_submissions, a_favoured_prior_counts_four_times, stop_stays_legal)
