/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tool.h"

#include "tools/kernel.h"
#include "workspace/base/clock.h"

#define WAIT_MAX_MS 50000 /* many clients give up after 60 s */

struct wait_in {
    const char *job;
    int64_t timeout_ms;
    bool cancel;
};

struct job_row {
    const char *id, *status, *message;
    double done, total;
};

static const char *const status_names[] = {
    [HONE_JOB_QUEUED] = "queued", [HONE_JOB_RUNNING] = "running",     [HONE_JOB_DONE] = "done",
    [HONE_JOB_FAILED] = "failed", [HONE_JOB_CANCELLED] = "cancelled",
};

struct wait_out {
    struct hone_head head;
    double done, total;
    const char *message;
    struct hone_json *result;
    struct hone_array jobs;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct wait_in, job, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Handle; none: the one that runs, else a list."),
    HONE_FIELD(struct wait_in, timeout_ms, .min = 0, .max = WAIT_MAX_MS, .fallback_i64 = 20000,
               .unit = "ms", .help = "How long to wait at most; 0: only look."),
    HONE_FIELD(struct wait_in, cancel, .help = "Stop the job."),
};

static const struct hone_field row_fields[] = {
    HONE_FIELD(struct job_row, id, .required = true, .help = "Handle."),
    HONE_FIELD(struct job_row, status, .required = true,
               .help = "queued, running, done, failed or cancelled."),
    HONE_FIELD(struct job_row, done, .skip_empty = true, .help = "Progress."),
    HONE_FIELD(struct job_row, total, .skip_empty = true, .help = "Of this much."),
    HONE_FIELD(struct job_row, message, .skip_empty = true, .help = "Last word of it."),
};

#define OUT(m_, ...) HONE_FIELD(struct wait_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct wait_out),
    OUT(done, .help = "Progress."),
    OUT(total, .help = "Of this much."),
    OUT(message, .help = "Last word of the job."),
    OUT(result, .help = "The result of the tool that ran, once it is done."),
    OUT(jobs, HONE_OF(struct job_row, row_fields), .help = "All jobs."),
};

const char *hone_job_status_name(enum hone_job_status status)
{
    HONE_BUG_ON((size_t)status >= HONE_COUNTOF(status_names));
    return status_names[status];
}

static int list(struct hone_tool_ctx *ctx, struct hone_jobs *jobs, struct wait_out *out,
                struct hone_err *err)
{
    struct hone_job_state *states;
    struct job_row *rows;
    size_t n;
    int rc = jobs->ops->list(jobs, ctx->pool, &states, &n, err);

    if (rc < 0)
        return rc;
    rows = hone_pool_alloc(ctx->pool, (n + 1) * sizeof(*rows));
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct job_row){.id = states[i].id,
                                   .status = hone_job_status_name(states[i].status),
                                   .message = states[i].message,
                                   .done = states[i].done,
                                   .total = states[i].total};
    out->jobs = (struct hone_array){.v = rows, .n = n};
    out->head.status = "ok";
    out->head.summary = hone_pool_printf(ctx->pool, "%zu job%s", n, n == 1 ? "" : "s");
    return 0;
}

/* The job's own head, where its result has one: the reader wants to know what came out, not that
 * something did. */
static void fill_result(struct hone_tool_ctx *ctx, const struct hone_job_state *state,
                        struct wait_out *out)
{
    const char *summary = hone_json_get_str(state->result, "summary", NULL);
    bool has_failed = state->status == HONE_JOB_FAILED;

    out->head.status = has_failed ? "error" : "ok";
    out->head.verdict = hone_json_get_str(state->result, "verdict", NULL);
    out->head.reason = hone_json_get_str(state->result, "reason", NULL);
    out->head.error_class =
        hone_json_get_str(state->result, "error_class", has_failed ? "infra" : NULL);
    out->head.commit = hone_json_get_str(state->result, "commit", NULL);
    out->head.next = hone_json_get_str(state->result, "next", NULL);
    out->head.summary = hone_pool_printf(ctx->pool, "%s%s%s", hone_job_status_name(state->status),
                                         summary != NULL ? ": " : "",
                                         summary != NULL                        ? summary
                                         : has_failed && state->message != NULL ? state->message
                                                                                : "");
    out->result = state->result;
}

/* The job that has not ended, if there is just one. */
static const char *only_running(struct hone_tool_ctx *ctx, struct hone_jobs *jobs)
{
    struct hone_job_state *states;
    const char *found = NULL;
    size_t n, n_found = 0;

    if (jobs->ops->list(jobs, ctx->pool, &states, &n, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (states[i].status < HONE_JOB_DONE) {
            found = states[i].id;
            n_found++;
        }
    return n_found == 1 ? found : NULL;
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct wait_in *in = arguments;
    struct hone_jobs *jobs = ctx->app->jobs;
    struct hone_job_state state = {.id = NULL};
    struct wait_out *out = result;
    int rc = 0;

    if (jobs == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "nothing runs in the background here; hone serve has jobs");
    const char *job = in->job != NULL ? in->job : only_running(ctx, jobs);
    if (job == NULL)
        return list(ctx, jobs, out, err);
    if (in->cancel)
        rc = jobs->ops->cancel(jobs, job, err);
    if (rc == 0)
        rc = jobs->ops->wait(jobs, job, hone_deadline_in_ms(in->timeout_ms), ctx->cancel, ctx->pool,
                             &state, err);
    if (rc < 0)
        return rc;
    out->head.job = state.id;
    out->done = state.done;
    out->total = state.total;
    out->message = state.message;
    if (state.status >= HONE_JOB_DONE) {
        fill_result(ctx, &state, out);
        return 0;
    }
    out->head.status = "running";
    out->head.summary = hone_pool_printf(ctx->pool, "%s%s%s", hone_job_status_name(state.status),
                                         state.message != NULL ? ": " : "",
                                         state.message != NULL ? state.message : "");
    out->head.next = "job_wait again with the same job.";
    return 0;
}

const struct hone_tool hone_tool_job_wait = {
    .name = "job_wait",
    .title = "Wait for a job",
    .summary = "Wait for a background job or search, look at it, or stop it.",
    .description =
        "State, progress and, once it is done, the result of a background job or search. "
        "Without a handle it waits for the one that runs, or lists several. Waits up to "
        "timeout_ms. Handles last an hour after the end and not over a restart. Do not loop "
        "with timeout_ms 0.",
    .flags = HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct wait_in, struct wait_out),
    .run = run,
};
