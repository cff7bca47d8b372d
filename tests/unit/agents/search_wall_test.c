/* SPDX-License-Identifier: Apache-2.0 */
/* The wall cap of whole searches on the fake executor and a clock that only evaluations move: what
 * cannot fit does not begin, what was learnt counts, waits take nothing. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/search/search.h"
#include "tools/evaluate.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

struct machine { /* an executor that moves the clock */
    struct hone_executor *fake;
    int64_t now_ns;
    int64_t screen_ms, decide_ms, confirm_ms; /* what they take */
    int64_t version_ms; /* screens of all but the first, the baseline's; 0: as that one */
    int64_t once_ms;    /* of the baseline's screen: what no other one does again */
    int n_run;
    int64_t slow_from_ms; /* screens take thrice as long from then on; 0: never */
    int64_t lease_ms;     /* that each waits for the timing lease */
    int n_confirmed;
    int64_t confirm_budget_ms; /* of the last one */
    int64_t cap_ms;   /* what would pass it is stopped there, but for the baseline; 0: nothing is */
    int64_t least_ms; /* a confirmation that should finish earlier takes this, at least */
    int64_t finish_ms; /* of the last confirmation */
};

struct fixture {
    char dir[64];
    struct machine machine;
    bool is_device; /* the cap is of device time */
    struct hone_workspace *ws;
    struct hone_executor executor;
    struct hone_pool *pool;
    struct hone_app app;
    struct hone_tool_ctx ctx;
    struct hone_search_result result;
    char told[8192]; /* what progress said, a line each */
};

static int64_t now_of(void *arg)
{
    return ((const struct machine *)arg)->now_ns;
}

static void add_stage(struct hone_report *report, const char *name, int64_t ms,
                      struct hone_pool *pool)
{
    struct hone_stage_report *v = hone_pool_alloc(pool, (report->stages.n + 1) * sizeof(*v));
    memcpy(v, report->stages.v, report->stages.n * sizeof(*v));
    v[report->stages.n] = (struct hone_stage_report){
        .name = name, .status = HONE_STAGE_OK, .wall_ns = ms * HONE_NS_PER_MS};
    report->stages.v = v;
    report->stages.n++;
}

static int run(void *cookie, const char *call_dir, const struct hone_job *job,
               hone_progress_fn *on_progress, void *progress_arg, const struct hone_cancel *cancel,
               struct hone_pool *pool, struct hone_report *ret, struct hone_err *err)
{
    struct machine *m = cookie;
    int64_t ms = job->tier == HONE_TIER_CONFIRM      ? m->confirm_ms
                 : job->tier == HONE_TIER_DECIDE     ? m->decide_ms
                 : m->n_run > 0 && m->version_ms > 0 ? m->version_ms
                                                     : m->screen_ms;
    bool is_baseline = m->n_run++ == 0;
    if (job->points.n > 0)
        ms *= (int64_t)job->points.n;
    if (m->lease_ms > 0 && on_progress)
        on_progress(progress_arg,
                    &(struct hone_progress){
                        .message = "waiting for the timing lease, held by pid 7 (sum, confirm)"});
    int r = m->fake->run(m->fake->cookie, call_dir, job, on_progress, progress_arg, cancel, pool,
                         ret, err);
    if (job->tier == HONE_TIER_CONFIRM) {
        m->finish_ms = job->finish_ms;
        if (m->least_ms > 0 && job->finish_ms > 0)
            ms = hone_min_i64(ms, hone_max_i64(m->least_ms, job->finish_ms));
    }
    if (m->cap_ms > 0 && !is_baseline && m->now_ns / HONE_NS_PER_MS + ms > m->cap_ms) {
        m->now_ns = m->cap_ms * HONE_NS_PER_MS;
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    }
    m->now_ns += (ms + m->lease_ms) * HONE_NS_PER_MS;
    if (m->slow_from_ms > 0 && m->now_ns / HONE_NS_PER_MS >= m->slow_from_ms) {
        m->screen_ms *= 3;
        m->slow_from_ms = 0;
    }
    m->n_confirmed += job->tier == HONE_TIER_CONFIRM;
    if (job->tier == HONE_TIER_CONFIRM)
        m->confirm_budget_ms = job->budget_ms;
    if (r == 0) {
        ret->wall_ns = ms * HONE_NS_PER_MS;
        if (m->lease_ms > 0)
            add_stage(ret, "lease", m->lease_ms, pool);
        if (is_baseline && m->once_ms > 0)
            add_stage(ret, "device.open", m->once_ms, pool);
    }
    return r;
}

static void open_fixture(struct fixture *f, const struct machine *machine)
{
    struct hone_err err = HONE_ERR_INIT;
    *f = (struct fixture){.dir = "/tmp/hone-wall-XXXXXX", .machine = *machine};
    f->pool = hone_pool_new();
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    const char *ws = hone_pool_printf(f->pool, "%s/ws", f->dir);
    ck_assert_msg(hone_workspace_init(ws, "workspace", true, &err) == 0, "%s", err.message);
    ck_assert_msg(hone_workspace_open(ws, &f->ws, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_exec_fake_new(NULL, &f->machine.fake, &err), 0);
    f->executor = (struct hone_executor){.name = "fake", .run = run, .cookie = &f->machine};
    f->executor.probe = NULL;
    f->app = (struct hone_app){.ws = f->ws, .executor = &f->executor};
    f->ctx = (struct hone_tool_ctx){.app = &f->app, .pool = f->pool, .caller = "test"};
}

static void close_fixture(struct fixture *f)
{
    hone_workspace_close(f->ws);
    hone_executor_free(f->machine.fake);
    hone_pool_free(f->pool);
    hone_remove_tree(f->dir, NULL);
}

static void keep_told(void *arg, const struct hone_search_progress *p)
{
    struct fixture *f = arg;
    size_t n = strlen(f->told);
    snprintf(f->told + n, sizeof(f->told) - n, "%s\n", p->message);
}

/* Milliseconds that the search took by the clock. */
static int64_t search(struct fixture *f, int64_t cap_ms, int64_t seed)
{
    struct hone_err err = HONE_ERR_INIT;
    const struct hone_search_options o = {.task = "sum",
                                          .seed = seed,
                                          .budget_wall_ms = f->is_device ? 0 : cap_ms,
                                          .budget_device_ms = f->is_device ? cap_ms : 0,
                                          .now_ns = now_of,
                                          .now_arg = &f->machine};
    int64_t from = f->machine.now_ns;
    f->told[0] = '\0';
    f->machine.n_confirmed = 0;
    ck_assert_msg(hone_search_run(&f->ctx, &o, keep_told, f, &f->result, &err) == 0, "%s",
                  err.message);
    return (f->machine.now_ns - from) / HONE_NS_PER_MS;
}

static void assert_told(const struct fixture *f, const char *part)
{
    ck_assert_msg(strstr(f->told, part) != NULL, "no \"%s\" in\n%s", part, f->told);
}

START_TEST(what_cannot_fit_does_not_begin)
{
    static const struct {
        int64_t cap_ms, screen_ms;
        bool has_confirmation;
    } rows[] = {
        {5000, 1000, false},  {5000, 18000, false}, {30000, 18000, false},
        {30000, 1000, true},  {60000, 1000, true},  {60000, 2000, true},
        {60000, 6000, false}, {600000, 6000, true}, {3000, 10, true},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct fixture f;
        int64_t screen = rows[i].screen_ms;
        const struct machine m = {.screen_ms = screen,
                                  .decide_ms = 12 * screen,
                                  .confirm_ms = 24 * screen,
                                  .least_ms = 12 * screen,
                                  .cap_ms = rows[i].cap_ms};
        open_fixture(&f, &m);
        int64_t took = search(&f, rows[i].cap_ms, 1);
        ck_assert_msg((f.machine.n_confirmed > 0) == rows[i].has_confirmation, "row %zu:\n%s", i,
                      f.told);
        ck_assert_msg((f.result.verdict != NULL) == rows[i].has_confirmation, "row %zu", i);
        ck_assert_msg((f.result.unconfirmed == NULL) == rows[i].has_confirmation, "row %zu", i);
        ck_assert_msg(took <= hone_max_i64(screen, rows[i].cap_ms), "row %zu took %lld:\n%s", i,
                      (long long)took, f.told);
        assert_told(&f, rows[i].has_confirmation ? " and a confirmation\n"
                                                 : "too few for a confirmation, --budget-wall");
        close_fixture(&f);
    }
}
END_TEST

/* Guessed too short, the first one passes the cap; no search of this task does it again. */
START_TEST(what_was_learnt_counts)
{
    struct fixture f;
    const struct machine m = {.screen_ms = 1000, .decide_ms = 20000, .confirm_ms = 40000};
    open_fixture(&f, &m);
    (void)search(&f, 30000, 1);
    ck_assert_int_eq(f.machine.n_confirmed, 1);
    int64_t took = search(&f, 30000, 1); /* another round */
    ck_assert_int_eq(f.machine.n_confirmed, 0);
    ck_assert_int_le(took, 30000);
    took = search(&f, 30000, 2); /* another search */
    ck_assert_int_eq(f.machine.n_confirmed, 0);
    ck_assert_int_le(took, 30000);
    ck_assert_ptr_nonnull(strstr(f.result.unconfirmed, "about 40 s here"));
    ck_assert_ptr_nonnull(strstr(f.result.summary, f.result.unconfirmed));
    took = search(&f, 60000, 3);
    ck_assert_int_eq(f.machine.n_confirmed, 1);
    ck_assert_int_le(took, 60000);
    assert_told(&f, ", about 40 s\n"); /* before it begins */
    close_fixture(&f);
}
END_TEST

/* Guessed too short, by the given costs: its timing is shortened to what is left, and what cannot be
 * shortened is stopped at the wall and says so. What the search found before stands. */
START_TEST(a_dear_confirmation_ends_at_the_wall)
{
    struct fixture f;
    struct machine m = {.screen_ms = 1000,
                        .decide_ms = 20000,
                        .confirm_ms = 40000,
                        .least_ms = 10000,
                        .cap_ms = 30000};
    open_fixture(&f, &m);
    int64_t took = search(&f, 30000, 1);
    ck_assert_int_eq(f.machine.n_confirmed, 1);
    ck_assert_int_gt(f.machine.finish_ms, 0);
    ck_assert_int_le(took, 30000);
    ck_assert_ptr_nonnull(f.result.verdict);
    close_fixture(&f);
    m.least_ms = 35000;
    open_fixture(&f, &m);
    took = search(&f, 30000, 1);
    ck_assert_int_eq(took, 30000);
    ck_assert_int_eq(f.machine.n_confirmed, 0);
    ck_assert_str_eq(f.result.why_stopped, "budget_wall");
    ck_assert_ptr_null(f.result.verdict);
    ck_assert_ptr_nonnull(strstr(f.result.unconfirmed, "was stopped at the wall after"));
    const char *enough = strstr(f.result.unconfirmed, "--budget-wall ");
    ck_assert_ptr_nonnull(enough); /* the half that it had was too little: so much more, at least */
    ck_assert_int_ge(strtoll(enough + strlen("--budget-wall "), NULL, 10), 30 + 15);
    ck_assert_ptr_nonnull(strstr(f.result.summary, f.result.unconfirmed));
    ck_assert_int_gt(f.result.evaluations, 1);
    close_fixture(&f);
}
END_TEST

/* Screens that get slower make the estimate of the confirmation rise past what is left. */
START_TEST(slower_screens_do_not_cost_the_confirmation)
{
    for (int64_t from = 40000; from <= 49000; from += 1000) {
        struct fixture f;
        const struct machine m = {.screen_ms = 650,
                                  .decide_ms = 12600,
                                  .confirm_ms = 26000,
                                  .least_ms = 15000,
                                  .slow_from_ms = from,
                                  .cap_ms = 75000};
        open_fixture(&f, &m);
        int64_t took = search(&f, 75000, 1);
        ck_assert_msg(f.machine.n_confirmed > 0, "from %lld ms:\n%s", (long long)from, f.told);
        ck_assert_int_le(took, 75000);
        close_fixture(&f);
    }
}
END_TEST

/* A slow baseline makes its screen dear, and the confirmation by that guess: still a version is
 * tried, where it has time. */
START_TEST(a_slow_baseline_is_no_reason_to_try_nothing)
{
    static const struct {
        int64_t cap_ms, screen_ms;
        bool has_version;
    } rows[] = {{60000, 32000, true}, {60000, 40000, true}, {60000, 45000, false}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct fixture f;
        const struct machine m = {.screen_ms = rows[i].screen_ms,
                                  .version_ms = 4000,
                                  .decide_ms = 60000,
                                  .confirm_ms = 120000,
                                  .cap_ms = rows[i].cap_ms};
        open_fixture(&f, &m);
        int64_t took = search(&f, rows[i].cap_ms, 1);
        ck_assert_msg((f.result.evaluations > 1) == rows[i].has_version, "row %zu:\n%s", i, f.told);
        ck_assert_int_le(took, rows[i].cap_ms);
        ck_assert_ptr_nonnull(f.result.unconfirmed);
        close_fixture(&f);
    }
}
END_TEST

/* Half of a cap is kept back by a guess for the confirmation, and the baseline took the other half:
 * nothing is kept back for nothing. */
START_TEST(there_is_something_to_confirm_first)
{
    struct fixture f;
    const struct machine m = {.screen_ms = 16000,
                              .once_ms = 15000,
                              .version_ms = 1000,
                              .decide_ms = 4000,
                              .confirm_ms = 8000,
                              .least_ms = 4000,
                              .cap_ms = 30000};
    open_fixture(&f, &m);
    (void)search(&f, 30000, 1);
    ck_assert_msg(f.result.evaluations > 2, "%s", f.told);
    close_fixture(&f);
}
END_TEST

START_TEST(device_time_keeps_room_for_a_confirmation)
{
    struct fixture f;
    const struct machine m = {.screen_ms = 1000, .decide_ms = 12000, .confirm_ms = 24000};
    open_fixture(&f, &m);
    f.is_device = true;
    int64_t took = search(&f, 40000, 1);
    ck_assert_str_eq(f.result.why_stopped, "budget_device");
    ck_assert_int_eq(f.machine.n_confirmed, 1);
    ck_assert_int_le(took, 40000);
    ck_assert_int_eq(f.result.device_ms, took);
    close_fixture(&f);
}
END_TEST

START_TEST(waits_take_nothing_of_the_cap)
{
    struct fixture quiet, busy;
    struct machine m = {.screen_ms = 1000, .decide_ms = 12000, .confirm_ms = 24000};
    open_fixture(&quiet, &m);
    (void)search(&quiet, 60000, 1);
    m.lease_ms = 50000;
    open_fixture(&busy, &m);
    int64_t took = search(&busy, 60000, 1);
    ck_assert_int_eq(busy.machine.n_confirmed, quiet.machine.n_confirmed);
    ck_assert_int_eq(busy.result.evaluations, quiet.result.evaluations);
    ck_assert_int_eq(busy.result.wall_ms, quiet.result.wall_ms);
    ck_assert_int_eq(busy.result.waited_ms, took - busy.result.wall_ms);
    ck_assert_str_eq(busy.result.waited_for, "pid 7 (sum, confirm)");
    ck_assert_ptr_null(quiet.result.waited_for);
    assert_told(&busy, "waiting for the timing lease, held by pid 7");
    close_fixture(&quiet);
    close_fixture(&busy);
}
END_TEST

/* A screen that the cache answers says how long it took when it was made. */
START_TEST(answers_of_the_cache_do_not_shorten_the_forecast)
{
    struct fixture f;
    const struct machine m = {.screen_ms = 18000, .decide_ms = 200000, .confirm_ms = 400000};
    struct hone_task *task = NULL;
    HONE_AUTOFREE char *naive = NULL;
    struct hone_evaluation e;
    open_fixture(&f, &m);
    ck_assert_int_eq(hone_workspace_task(f.ws, "sum", &task, NULL), 0);
    ck_assert_int_eq(hone_task_naive(task, "cpu", &naive, NULL), 0);
    const struct hone_evaluation_request req = {
        .task = task, .source = naive, .tier = HONE_TIER_SCREEN};
    ck_assert_int_eq(hone_evaluate(&f.ctx, &req, &e, NULL), 0);
    hone_task_free(task);
    int64_t from = f.machine.now_ns;
    (void)search(&f, 7000, 1);
    ck_assert_int_eq(f.machine.now_ns, from); /* nothing was run, and nothing fits */
    assert_told(&f, "one evaluation takes about 18 s here");
    ck_assert_int_eq(f.machine.n_confirmed, 0);
    close_fixture(&f);
}
END_TEST

UNIT_MAIN("search_wall", what_cannot_fit_does_not_begin, what_was_learnt_counts,
          a_dear_confirmation_ends_at_the_wall, slower_screens_do_not_cost_the_confirmation,
          a_slow_baseline_is_no_reason_to_try_nothing, there_is_something_to_confirm_first,
          waits_take_nothing_of_the_cap, device_time_keeps_room_for_a_confirmation,
          answers_of_the_cache_do_not_shorten_the_forecast)
