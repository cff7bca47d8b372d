/* SPDX-License-Identifier: Apache-2.0 */
/* Background jobs on a lane of the test's own: which are kept, how they end, who is woken. */
#include "server/rpc/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "tests/unit/unit.h"
#include "tools/tool.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

struct in {
    int64_t n;
};
struct out {
    struct hone_head head;
    int64_t n;
};
static const struct hone_field in_fields[] = {
    HONE_FIELD(struct in, n, .min = 0, .max = 1000000, .help = "A number."),
};
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct out),
    HONE_FIELD(struct out, n, .help = "The number."),
};

static int run_echo(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    const struct in *i = in;
    struct out *o = out;
    (void)err;
    hone_tool_progress(ctx, (double)i->n, 7, "echo of %s", ctx->caller);
    o->head.status = "ok";
    o->head.summary = "echo";
    o->n = i->n;
    return 0;
}

/* Until it is cancelled. */
static int run_waits(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)in;
    (void)out;
    while (!hone_cancel_is_set(ctx->cancel)) {
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    return hone_fail(err, HONE_E_CANCEL, "cancelled");
}

static int run_fails(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    (void)ctx;
    (void)in;
    (void)out;
    return hone_fail(err, HONE_E_IO, "disk full");
}

#define TOOL(variable, name_, run_)                                                                \
    static const struct hone_tool variable = {.name = name_,                                       \
                                              .title = name_,                                      \
                                              .summary = name_,                                    \
                                              .description = name_,                                \
                                              .in = in_fields,                                     \
                                              .n_in = HONE_COUNTOF(in_fields),                     \
                                              .in_size = sizeof(struct in),                        \
                                              .out = out_fields,                                   \
                                              .n_out = HONE_COUNTOF(out_fields),                   \
                                              .out_size = sizeof(struct out),                      \
                                              .run = run_}
TOOL(echo_tool, "echo", run_echo);
TOOL(waits_tool, "waits", run_waits);
TOOL(fails_tool, "fails", run_fails);
static const struct hone_tool *const tools[] = {&echo_tool, &waits_tool, &fails_tool};
static const struct hone_tool_set set = {tools, HONE_COUNTOF(tools)};
static const struct hone_tool_set *const sets[] = {&set};

struct rig {
    struct hone_app app;
    struct hone_workers *lane;
    struct hone_jobs *jobs;
    struct hone_pool *pool;
    struct hone_err err;
};

static void rig_open(struct rig *r, size_t n_threads)
{
    *r = (struct rig){.err = HONE_ERR_INIT};
    ck_assert_int_eq(hone_registry_new(sets, 1, &r->app.registry, &r->err), 0);
    r->lane = hone_workers_new(n_threads, HONE_LIMIT_QUEUE);
    r->jobs = hone_jobs_new(&r->app, r->lane);
    r->pool = hone_pool_new();
}

static void rig_close(struct rig *r)
{
    hone_jobs_cancel_all(r->jobs);
    ck_assert(hone_workers_stop(r->lane, hone_deadline_in_ms(60000)));
    hone_jobs_free(r->jobs);
    hone_workers_free(r->lane);
    hone_registry_free(r->app.registry);
    hone_pool_free(r->pool);
}

static const char *start(struct rig *r, const char *tool, int64_t n)
{
    const char *id = NULL;
    HONE_AUTOJSON struct hone_json *args = hone_json_new_object();
    hone_json_set_i64(args, "n", n);
    ck_assert_msg(r->jobs->ops->start(
                      r->jobs, &(struct hone_job_spec){.tool = tool, .args = args, .caller = "me"},
                      r->pool, &id, &r->err) == 0,
                  "%s", r->err.message);
    return id;
}

static int wait_for(struct rig *r, const char *id, int64_t ms, struct hone_job_state *ret)
{
    *ret = (struct hone_job_state){.id = NULL};
    return r->jobs->ops->wait(r->jobs, id, hone_deadline_in_ms(ms), NULL, r->pool, ret, &r->err);
}

static size_t n_jobs(struct rig *r)
{
    struct hone_job_state *list;
    size_t n = 0;
    ck_assert_int_eq(r->jobs->ops->list(r->jobs, r->pool, &list, &n, &r->err), 0);
    return n;
}

START_TEST(how_jobs_end)
{
    struct rig r;
    struct hone_job_state state;
    rig_open(&r, 2);
    ck_assert_int_eq(wait_for(&r, start(&r, "echo", 5), 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_DONE);
    ck_assert_int_eq(hone_json_get_i64(state.result, "n", 0), 5);
    ck_assert_str_eq(state.message, "echo of me"); /* the caller is the one who asked */
    ck_assert(state.done > 4.5 && state.total > 6.5);
    ck_assert_int_eq(wait_for(&r, start(&r, "fails", 0), 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_FAILED);
    ck_assert_ptr_nonnull(strstr(hone_json_get_str(state.result, "summary", ""), "disk full"));
    ck_assert_str_eq(hone_json_get_str(state.result, "error_class", ""), "infra");
    ck_assert_int_eq(wait_for(&r, start(&r, "absent", 0), 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_FAILED);
    ck_assert_ptr_nonnull(state.result);
    ck_assert_int_eq(wait_for(&r, start(&r, "echo", -1), 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_FAILED); /* arguments that the tool's table refuses */
    rig_close(&r);
}
END_TEST

/* One worker: what stands behind a running job is cancelled without having run. */
START_TEST(cancelled_while_queued)
{
    struct rig r;
    struct hone_job_state state;
    rig_open(&r, 1);
    const char *first = start(&r, "waits", 0), *second = start(&r, "echo", 1);
    ck_assert_int_eq(wait_for(&r, second, 50, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_QUEUED);
    ck_assert_ptr_null(state.result);
    ck_assert_int_eq(r.jobs->ops->cancel(r.jobs, second, &r.err), 0);
    ck_assert_int_eq(r.jobs->ops->cancel(r.jobs, first, &r.err), 0);
    ck_assert_int_eq(wait_for(&r, second, 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_CANCELLED);
    ck_assert_str_eq(hone_json_get_str(state.result, "error_class", ""), "request");
    ck_assert_ptr_nonnull(strstr(hone_json_get_str(state.result, "summary", ""), "before"));
    ck_assert_int_eq(wait_for(&r, first, 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_CANCELLED);
    ck_assert_int_eq(r.jobs->ops->cancel(r.jobs, first, &r.err), 0); /* has ended: nothing */
    ck_assert_int_eq(wait_for(&r, first, 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_CANCELLED);
    rig_close(&r);
}
END_TEST

/* A full table forgets the oldest finished job, never one that runs. */
START_TEST(the_oldest_finished_is_forgotten)
{
    struct rig r;
    struct hone_job_state state;
    rig_open(&r, 2);
    const char *running = start(&r, "waits", 0), *ids[HONE_LIMIT_JOBS + 3];
    for (int64_t i = 0; i < HONE_LIMIT_JOBS + 3; i++) {
        ids[i] = start(&r, "echo", i);
        ck_assert_int_eq(wait_for(&r, ids[i], 60000, &state), 0);
        ck_assert_int_eq(hone_json_get_i64(state.result, "n", -1), i);
    }
    ck_assert_uint_eq(n_jobs(&r), HONE_LIMIT_JOBS);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(wait_for(&r, ids[i], 0, &state), HONE_E_NOT_FOUND);
        ck_assert_ptr_nonnull(strstr(r.err.message, ids[i]));
    }
    ck_assert_int_eq(wait_for(&r, ids[4], 0, &state), 0);
    ck_assert_int_eq(hone_json_get_i64(state.result, "n", -1), 4);
    ck_assert_int_eq(wait_for(&r, running, 0, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_RUNNING);
    rig_close(&r);
}
END_TEST

struct watcher {
    struct rig *rig;
    const char *id;
    atomic_bool has_begun;
    enum hone_job_status status;
};

static void *watch(void *arg)
{
    struct watcher *w = arg;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_job_state state = {.id = NULL};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    atomic_store(&w->has_begun, true);
    if (w->rig->jobs->ops->wait(w->rig->jobs, w->id, hone_deadline_in_ms(60000), NULL, pool, &state,
                                &err) == 0)
        w->status = state.status;
    return NULL;
}

/* Each of those who wait has the end, and long before its deadline. */
START_TEST(all_who_wait_are_woken)
{
    enum { N = 6 };
    struct rig r;
    struct watcher watchers[N] = {{.rig = NULL}};
    pthread_t threads[N];
    rig_open(&r, 1);
    const char *id = start(&r, "waits", 0);
    for (int i = 0; i < N; i++) {
        watchers[i].rig = &r;
        watchers[i].id = id;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, watch, &watchers[i]), 0);
    }
    for (int i = 0; i < N; i++)
        while (!atomic_load(&watchers[i].has_begun))
            sched_yield();
    int64_t begun_ns = hone_now_ns();
    ck_assert_int_eq(r.jobs->ops->cancel(r.jobs, id, &r.err), 0);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_lt(hone_now_ns() - begun_ns, 30 * HONE_NS_PER_S);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(watchers[i].status, HONE_JOB_CANCELLED);
    rig_close(&r);
}
END_TEST

START_TEST(stopping)
{
    struct rig r;
    struct hone_job_state state;
    const char *id;
    rig_open(&r, 1);
    const char *running = start(&r, "waits", 0), *queued = start(&r, "echo", 0);
    hone_jobs_cancel_all(r.jobs);
    ck_assert_int_eq(
        r.jobs->ops->start(r.jobs,
                           &(struct hone_job_spec){.tool = "echo", .args = NULL, .caller = NULL},
                           r.pool, &id, &r.err),
        HONE_E_BUSY);
    ck_assert_ptr_nonnull(strstr(r.err.message, "stopping"));
    ck_assert_int_eq(wait_for(&r, running, 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_CANCELLED);
    ck_assert_int_eq(wait_for(&r, queued, 60000, &state), 0);
    ck_assert_int_eq(state.status, HONE_JOB_CANCELLED);
    ck_assert_uint_eq(n_jobs(&r), 2);
    rig_close(&r);
    hone_jobs_free(NULL);
}
END_TEST

UNIT_MAIN("jobs", how_jobs_end, cancelled_while_queued, the_oldest_finished_is_forgotten,
          all_who_wait_are_woken, stopping)
