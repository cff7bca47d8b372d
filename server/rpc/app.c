/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/app.h"

#include <stdlib.h>
#include <string.h>
#include "agents/search/search.h"
#include "server/exchange/state.h"
#include "server/rpc/jobs.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"

struct hone_runtime {
    struct hone_app app;
    char *data_dir;
    struct hone_workers *lanes[HONE_N_LANES];
    struct hone_reports *reports;
    struct hone_beats *beats;
    unsigned char key[HONE_STATE_KEY_BYTES];
};

static const struct hone_tool_set *const tool_sets[] = {
    &hone_tool_set_kernel,
    &hone_tool_set_agents,
};

/* The first row whose wanted flags are set and whose unwanted ones are not. */
static const struct {
    unsigned wanted, unwanted;
    enum hone_lane lane;
} lane_rules[] = {
    {HONE_TOOL_READ_ONLY, HONE_TOOL_LONG | HONE_TOOL_NEEDS_DEVICE, HONE_LANE_QUICK},
    {HONE_TOOL_LONG, HONE_TOOL_NEEDS_DEVICE, HONE_LANE_WAIT},
    {0, 0, HONE_LANE_WORK},
};

enum hone_lane hone_lane_of(const struct hone_tool *tool)
{
    size_t i = 0;
    while ((tool->flags & lane_rules[i].wanted) != lane_rules[i].wanted ||
           (tool->flags & lane_rules[i].unwanted) != 0)
        i++;
    return lane_rules[i].lane;
}

int hone_open_registry(const struct hone_tool_set *const *sets, size_t n_sets,
                       struct hone_registry **ret, struct hone_err *err)
{
    return hone_registry_new(sets ? sets : tool_sets, sets ? n_sets : HONE_COUNTOF(tool_sets), ret,
                             err);
}

static void open_lanes(struct hone_runtime *runtime, const struct hone_app_spec *spec)
{
    const size_t sizes[HONE_N_LANES] = {
        [HONE_LANE_QUICK] = 4,
        [HONE_LANE_WORK] = spec->n_workers > 0 ? (size_t)spec->n_workers : 2,
        [HONE_LANE_WAIT] = 64,
        [HONE_LANE_JOBS] = spec->n_jobs > 0 ? (size_t)spec->n_jobs : 4,
    };
    for (size_t i = 0; i < HONE_N_LANES; i++)
        runtime->lanes[i] = hone_workers_new(sizes[i], HONE_LIMIT_QUEUE);
}

static int open_parts(struct hone_runtime *runtime, const struct hone_app_spec *spec,
                      struct hone_err *err)
{
    struct hone_app *app = &runtime->app;
    int rc = hone_workspace_open(spec->workspace_dir, &app->ws, err);
    if (rc < 0)
        return rc;
    rc = hone_open_executor(&spec->executor, &app->executor, err);
    if (rc < 0)
        return rc;
    rc = hone_open_registry(spec->sets, spec->n_sets, &app->registry, err);
    if (rc < 0)
        return rc;
    app->jobs = hone_jobs_new(app, runtime->lanes[HONE_LANE_JOBS]);
    return hone_search_host_new(app, HONE_LIMIT_SEARCHES, &app->searches, err);
}

int hone_runtime_open(const struct hone_app_spec *spec, struct hone_runtime **ret,
                      struct hone_err *err)
{
    struct hone_runtime *runtime = hone_calloc(1, sizeof(*runtime));
    runtime->data_dir = hone_data_dir();
    runtime->app.data_dir = runtime->data_dir;
    runtime->app.allow_weak_jail = spec->allow_weak_jail;
    hone_random(runtime->key, sizeof(runtime->key));
    open_lanes(runtime, spec);
    runtime->beats = hone_beats_new(spec->beat_ms > 0 ? spec->beat_ms : HONE_BEAT_MS);
    int rc = open_parts(runtime, spec, err);
    if (rc < 0) {
        hone_runtime_close(runtime);
        return rc;
    }
    runtime->reports = hone_reports_new(runtime->app.ws);
    *ret = runtime;
    return 0;
}

struct hone_reports *hone_runtime_reports(struct hone_runtime *runtime)
{
    return runtime->reports;
}

struct hone_beats *hone_runtime_beats(struct hone_runtime *runtime)
{
    return runtime->beats;
}

struct hone_app *hone_runtime_app(struct hone_runtime *runtime)
{
    return &runtime->app;
}

const unsigned char *hone_runtime_key(const struct hone_runtime *runtime)
{
    return runtime->key;
}

struct hone_workers *hone_runtime_lane(struct hone_runtime *runtime, enum hone_lane lane)
{
    return runtime->lanes[lane];
}

/* Asks every search to stop and waits for their threads. */
static bool stop_searches(struct hone_search_host *searches, int64_t deadline_ns)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    bool is_quiet = true;
    struct hone_search_state *list;
    hone_search_host_stop_all(searches);
    size_t n = hone_search_host_list(searches, pool, &list);
    for (size_t i = 0; i < n; i++) {
        struct hone_search_state state = {.status = HONE_JOB_RUNNING};
        int rc = hone_search_host_wait(searches, list[i].id, deadline_ns, pool, &state, NULL);
        is_quiet = is_quiet && (rc < 0 || state.status >= HONE_JOB_DONE);
    }
    return is_quiet;
}

bool hone_runtime_stop(struct hone_runtime *runtime, int64_t deadline_ns)
{
    bool is_quiet = true;
    if (runtime->app.jobs)
        hone_jobs_cancel_all(runtime->app.jobs);
    if (runtime->app.searches)
        is_quiet = stop_searches(runtime->app.searches, deadline_ns);
    for (size_t i = 0; i < HONE_N_LANES; i++)
        is_quiet = hone_workers_stop(runtime->lanes[i], deadline_ns) && is_quiet;
    return is_quiet;
}

void hone_runtime_close(struct hone_runtime *runtime)
{
    if (!runtime)
        return;
    HONE_BUG_ON(!hone_runtime_stop(runtime, hone_deadline_in_ms(3600000)));
    hone_search_host_free(runtime->app.searches);
    hone_jobs_free(runtime->app.jobs);
    for (size_t i = 0; i < HONE_N_LANES; i++)
        hone_workers_free(runtime->lanes[i]);
    hone_beats_free(runtime->beats);
    hone_registry_free(runtime->app.registry);
    hone_executor_free(runtime->app.executor);
    hone_reports_free(runtime->reports);
    hone_workspace_close(runtime->app.ws);
    free(runtime->data_dir);
    free(runtime);
}

void hone_runtime_close_ptr(struct hone_runtime **runtime)
{
    hone_runtime_close(*runtime);
    *runtime = NULL;
}
