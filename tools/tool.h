/* SPDX-License-Identifier: Apache-2.0 */
/* Tools and their registry. One tool = one file that ends with a const struct hone_tool; a set = a
 * const array of them.
 *
 * tools/ has its set (hone_tool_set_kernel), agents/ has another (strategy_*, search_*); the
 * program hands both to hone_registry_new, so that lower layers know nothing of higher ones. Agents
 * call the same hone_registry_call that the server calls.
 *
 * The registry decodes and checks arguments before a tool's function runs. Afterwards it encodes
 * what the function filled in. A bad argument or a failed piece of work is a *result*: the call
 * returns 0 and sets is_error. hone_registry_call itself fails only for an unknown tool
 * (HONE_E_NOT_FOUND), cancel (HONE_E_CANCEL), or a fault of hone.
 *
 * Calling a tool:
 *
 *     HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
 *     struct hone_tool_ctx ctx = {.app = app, .pool = pool, .caller = "cli"};
 *     HONE_AUTOJSON struct hone_json *result = NULL;
 *     bool is_error;
 *     r = hone_registry_call(&ctx, "device_info", NULL, &result, &is_error, err);
 *     if (r == 0)
 *         puts(hone_json_get_str(result, "summary", ""));      of an error, too
 *
 * Writing one (tools/device_info.c is a short example):
 *
 *     struct my_in { const char *task; };
 *     struct my_out { struct hone_head head; int64_t n; };
 *     static const struct hone_field in_fields[] = {HONE_FIELD(struct my_in, task, ...)};
 *     static const struct hone_field out_fields[] = {
 *         HONE_HEAD_FIELDS(struct my_out), HONE_FIELD(struct my_out, n, ...)};
 *     static int run(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err);
 *     const struct hone_tool hone_tool_my = {
 *         .name = "my", .title = "...", .summary = "...", .description = "...",  80 to 450 bytes
 *         HONE_TOOL_TABLES(struct my_in, struct my_out),
 *         .run = run};
 *
 * and one line in the set's array. */
#ifndef HONE_TOOLS_TOOL_H
#define HONE_TOOLS_TOOL_H

#include "tools/executor.h"
#include "workspace/workspace.h"

enum hone_tool_flag {
    HONE_TOOL_READ_ONLY = 1 << 0,
    HONE_TOOL_IDEMPOTENT = 1 << 1,
    HONE_TOOL_NEEDS_DEVICE = 1 << 2,
    HONE_TOOL_COSTS_MONEY = 1 << 3,
    HONE_TOOL_LONG = 1 << 4,     /* may take over 5 s: progress, may be asked for as a job */
    HONE_TOOL_TASK_ONLY = 1 << 5 /* a client that cannot wait for a task is refused */
};

struct hone_registry;
struct hone_jobs; /* background jobs, owned by the server or the command line; NULL where there is
                     none */

struct hone_app { /* everything a tool may reach; made once by the program, borrowed by all */
    struct hone_workspace *ws;
    struct hone_executor *executor;
    struct hone_registry *registry;
    struct hone_jobs *jobs;
    struct hone_search_host *searches; /* running searches (agents/search/search.h), NULL: none */
    const char *data_dir;              /* what is installed with hone: packs, prompts, Python */
    bool allow_weak_jail;
};

struct hone_ask {       /* one question to the client that made a call: a request of MCP's */
    const char *key;    /* its name within the call; the same key is the same question */
    const char *method; /* sampling/createMessage, elicitation/create, roots/list */
    const char *params_json;
    bool is_optional;         /* left out where the client cannot answer it */
    struct hone_json *answer; /* filled in, in the call's pool: the result; NULL: left out */
};

struct hone_tool_ctx { /* one call */
    struct hone_app *app;
    struct hone_pool *pool;           /* lives as long as the call */
    const struct hone_cancel *cancel; /* may be NULL */
    hone_progress_fn *on_progress;    /* may be NULL; called on the thread that makes the call */
    void *progress_arg;
    /* What hone_tool_ask calls; NULL: nobody can be asked. */
    int (*ask)(struct hone_tool_ctx *ctx, struct hone_ask *asks, size_t n, struct hone_err *err);
    void *ask_arg;
    const char *caller; /* who: "cli", "planner", a client's name */
};
/* Asks the client that made the call, all n at once, and fills in the answers. Keys are distinct.
 *
 * In a session it waits for the answers. A call that stands alone ends here instead, with
 * HONE_E_CANCEL: its client gets the questions, and makes the call again with the answers. So a tool
 * asks before it does anything that is seen from outside, and leaves by the error as it is.
 *
 * HONE_E_UNSUPPORTED: the client cannot answer, or refused; HONE_E_TIMEOUT. */
int hone_tool_ask(struct hone_tool_ctx *ctx, struct hone_ask *asks, size_t n, struct hone_err *err);
void hone_tool_progress(struct hone_tool_ctx *ctx, double done, double total, const char *fmt, ...)
    HONE_PRINTF(4, 5);

/* The fixed head of every result; first member of every output struct. Its rows come from
 * HONE_HEAD_FIELDS(type). */
struct hone_head {
    const char *status;      /* "ok", "error", "running" */
    const char *verdict;     /* a verdict word, or NULL */
    const char *reason;      /* a reason word of the verdict table, or NULL */
    const char *error_class; /* or NULL */
    const char *summary;     /* one line */
    const char *next;        /* suggested tool and why, or NULL */
    const char *commit;      /* version made or read, or NULL */
    const char *job;         /* job or search handle, or NULL */
    const char *evaluation;  /* evaluation id, or NULL */
};
/* clang-format off */
#define HONE_HEAD_ROW(type_, m_, help_) \
    {.name = #m_, .type = HONE_FIELD_STR, .offset = offsetof(type_, head.m_), .skip_empty = true, .help = help_}
#define HONE_HEAD_FIELDS(type_) \
    {.name = "status", .type = HONE_FIELD_STR, .offset = offsetof(type_, head.status), .required = true, .help = "ok, error or running."}, \
    HONE_HEAD_ROW(type_, verdict, "One word of the verdict table."), \
    HONE_HEAD_ROW(type_, reason, "Typed reason of the verdict."), \
    HONE_HEAD_ROW(type_, error_class, "Class of the failure; infra never counts against you."), \
    {.name = "summary", .type = HONE_FIELD_STR, .offset = offsetof(type_, head.summary), .required = true, .help = "One line."}, \
    HONE_HEAD_ROW(type_, next, "Suggested next tool."), \
    HONE_HEAD_ROW(type_, commit, "Commit of the version."), \
    HONE_HEAD_ROW(type_, job, "Handle for job_wait."), \
    HONE_HEAD_ROW(type_, evaluation, "Evaluation id.")
/* clang-format on */

struct hone_tool {
    const char *name; /* kernel_verify */
    const char *title;
    const char *summary; /* one line */
    const char
        *description; /* what it returns, side effects, cost and typical time, one wrong use */
    unsigned flags;
    const struct hone_field *in;
    size_t n_in, in_size;
    const char *schema; /* of the arguments, where it says more than the fields do; NULL: theirs */
    const struct hone_field *out; /* starts with HONE_HEAD_FIELDS */
    size_t n_out, out_size;
    const struct hone_ask *first; /* asked before a task of the call begins; run asks them too */
    size_t n_first;
    /* in: decoded and checked; out: zeroed; strings may live in ctx->pool. Negative: becomes an
     * error result made from err. */
    int (*run)(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err);
};
/* clang-format off */
/* In a tool's initializer: its tables in_fields and out_fields, of members of these two types. */
#define HONE_TOOL_TABLES(in_type_, out_type_) \
    .in = in_fields, .n_in = HONE_COUNTOF(in_fields), .in_size = sizeof(in_type_), \
    .out = out_fields, .n_out = HONE_COUNTOF(out_fields), .out_size = sizeof(out_type_)
/* clang-format on */

struct hone_tool_set {
    const struct hone_tool *const *tools;
    size_t n;
};
extern const struct hone_tool_set hone_tool_set_kernel; /* tools/registry.c */

/* The tools are borrowed, the sets are not needed afterwards. HONE_E_BUG: two tools have one name. */
int hone_registry_new(const struct hone_tool_set *const *sets, size_t n_sets,
                      struct hone_registry **ret, struct hone_err *err);
void hone_registry_free(struct hone_registry *registry); /* NULL is fine */
/* Alphabetical, stable. */
size_t hone_registry_count(const struct hone_registry *registry);
const struct hone_tool *hone_registry_at(const struct hone_registry *registry, size_t i);
const struct hone_tool *hone_registry_find(const struct hone_registry *registry,
                                           const char *name); /* NULL: none */

/* Runs a tool. args borrowed (NULL: {}). *ret_result owned by the caller (hone_json_free): the
 * structured content; where *ret_is_error its `summary` says what failed and `next` what to do.
 * HONE_E_BUG: the tool broke its own schema. Blocks; any thread. */
int hone_registry_call(struct hone_tool_ctx *ctx, const char *name, const struct hone_json *args,
                       struct hone_json **ret_result, bool *ret_is_error, struct hone_err *err);

/* Background work: the server implements this over its workers; the tools job_wait and search_start
 * use it. */
enum hone_job_status { /* from HONE_JOB_DONE on it has ended */
                       HONE_JOB_QUEUED,
                       HONE_JOB_RUNNING,
                       HONE_JOB_DONE,
                       HONE_JOB_FAILED,
                       HONE_JOB_CANCELLED
};
const char *hone_job_status_name(enum hone_job_status status); /* "queued" */

struct hone_job_state {
    const char *id;
    enum hone_job_status status;
    double done, total;
    const char *message;
    struct hone_json *result;
    struct hone_json *asked;        /* key: request, of what it waits for; NULL: nothing */
    enum hone_code code;            /* why it failed, where the tool gave no answer; else HONE_OK */
    int64_t created_ms, updated_ms; /* Unix time */
};
struct hone_job_spec { /* all borrowed for the call */
    const char *tool;
    const struct hone_json *args; /* NULL: {} */
    const char *caller;
    const struct hone_json *able; /* MCP's capabilities of the client that will answer what the tool
                                        asks; NULL: nobody will */
    const struct hone_json *answers; /* key: answer, given before it begins; NULL: none */
};
struct hone_jobs_ops {
    /* Starts a tool in the background; the id is in the pool. HONE_E_BUSY when too many. */
    int (*start)(struct hone_jobs *jobs, const struct hone_job_spec *spec, struct hone_pool *pool,
                 const char **ret_id, struct hone_err *err);
    /* Waits at most until the deadline; strings and result in the pool / owned by the pool.
     * HONE_E_NOT_FOUND. */
    int (*wait)(struct hone_jobs *jobs, const char *id, int64_t deadline_ns,
                const struct hone_cancel *cancel, struct hone_pool *pool,
                struct hone_job_state *ret, struct hone_err *err);
    int (*cancel)(struct hone_jobs *jobs, const char *id, struct hone_err *err);
    /* Hands over answers (key: answer) to what the job asks; other keys are passed over. HONE_E_ARG:
     * one is malformed, and none was taken. */
    int (*answer)(struct hone_jobs *jobs, const char *id, const struct hone_json *answers,
                  struct hone_err *err);
    int (*list)(struct hone_jobs *jobs, struct hone_pool *pool, struct hone_job_state **ret,
                size_t *ret_n, struct hone_err *err);
};
struct hone_jobs {
    const struct hone_jobs_ops *ops;
};

#endif
