/* SPDX-License-Identifier: Apache-2.0 */
/* The registry (tool.h): one sorted array of all tools.
 *
 * Flow of a call: find, check what the tool needs of the program, decode the arguments by its
 * input table, run, encode the result by its output table and check it against that. A
 * negative code becomes an error result; only an unknown tool, a cancel and a fault of hone
 * leave as C errors. */
#include "tools/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/text.h"
#include "tools/tools.h"

static const struct hone_tool *const kernel_tools[] = {
    &hone_tool_device_info,     &hone_tool_history_show,   &hone_tool_job_wait,
    &hone_tool_kernel_compare,  &hone_tool_kernel_compile, &hone_tool_kernel_diff,
    &hone_tool_kernel_evaluate, &hone_tool_kernel_profile, &hone_tool_kernel_run,
    &hone_tool_kernel_tune,     &hone_tool_kernel_verify,  &hone_tool_task_import,
    &hone_tool_task_new,        &hone_tool_task_show,      &hone_tool_version_export,
};
const struct hone_tool_set hone_tool_set_kernel = {kernel_tools, HONE_COUNTOF(kernel_tools)};

struct hone_registry {
    const struct hone_tool **tools; /* alphabetical */
    size_t n;
};

/* What an error code means to the caller of a tool. */
static const struct {
    enum hone_code code;
    const char *error_class, *verdict, *next;
} codes[] = {
    {HONE_E_ARG, "request", "invalid", "Fix the argument that the summary names and call again."},
    {HONE_E_NOT_FOUND, "request", "invalid",
     "task_show lists the tasks, history_show the versions."},
    {HONE_E_LIMIT, "request", "invalid", "Make it smaller; the summary names the limit."},
    {HONE_E_EXISTS, "request", "invalid", "Choose another name."},
    {HONE_E_AUTH, "request", "invalid", "Ask the administrator."},
    {HONE_E_UNSUPPORTED, "request", "invalid", "device_info says what this machine can do."},
    {HONE_E_TIMEOUT, "timeout", "infra", "Ask for more time (timeout_ms), or for less work."},
    {HONE_E_BUSY, "budget", "infra", "Wait for running work with job_wait, then call again."},
    {HONE_E_IO, "infra", "infra",
     "Check disk space and permissions of the workspace, then call again."},
    {HONE_E_NOMEM, "infra", "infra", "Ask for less, or free memory on the machine."},
    {HONE_E_TARGET, "infra", "infra",
     "device_info says what this machine can do; then call again."},
    {HONE_E_CORRUPT, "infra", "infra", "hone doctor checks the workspace."},
};

static int by_name(const void *a, const void *b)
{
    const struct hone_tool *const *left = a, *const *right = b;

    return strcmp((*left)->name, (*right)->name);
}

int hone_registry_new(const struct hone_tool_set *const *sets, size_t n_sets,
                      struct hone_registry **ret, struct hone_err *err)
{
    struct hone_registry *registry = hone_calloc(1, sizeof(*registry));

    for (size_t i = 0; i < n_sets; i++)
        registry->n += sets[i]->n;
    registry->tools = hone_calloc(registry->n + 1, sizeof(*registry->tools));
    for (size_t i = 0, k = 0; i < n_sets; i++)
        for (size_t t = 0; t < sets[i]->n; t++)
            registry->tools[k++] = sets[i]->tools[t];
    qsort(registry->tools, registry->n, sizeof(*registry->tools), by_name);
    for (size_t i = 1; i < registry->n; i++) {
        const char *name = registry->tools[i]->name;
        if (strcmp(name, registry->tools[i - 1]->name) != 0)
            continue;
        hone_registry_free(registry);
        return hone_fail(err, HONE_E_BUG, "two tools are named '%s'", name);
    }
    *ret = registry;
    return 0;
}

void hone_registry_free(struct hone_registry *registry)
{
    if (registry == NULL)
        return;
    free(registry->tools);
    free(registry);
}

size_t hone_registry_count(const struct hone_registry *registry)
{
    return registry->n;
}

const struct hone_tool *hone_registry_at(const struct hone_registry *registry, size_t i)
{
    HONE_BUG_ON(i >= registry->n);
    return registry->tools[i];
}

const struct hone_tool *hone_registry_find(const struct hone_registry *registry, const char *name)
{
    const struct hone_tool key = {.name = name}, *wanted = &key;
    const struct hone_tool **found =
        bsearch(&wanted, registry->tools, registry->n, sizeof(*registry->tools), by_name);

    return found != NULL ? *found : NULL;
}

static int fail_unknown(const struct hone_registry *registry, struct hone_pool *pool,
                        const char *name, struct hone_err *err)
{
    const char **names = hone_pool_alloc(pool, (registry->n + 1) * sizeof(*names));
    const char *nearest;

    for (size_t i = 0; i < registry->n; i++)
        names[i] = registry->tools[i]->name;
    nearest = hone_plain_nearest(name, names, registry->n);
    if (nearest != NULL)
        return hone_fail(err, HONE_E_NOT_FOUND, "no tool is named '%.64s'; did you mean %s?",
                         hone_plain_line(pool, name, 64), nearest);
    return hone_fail(err, HONE_E_NOT_FOUND, "no tool is named '%.64s'; tools/list names all %zu",
                     hone_plain_line(pool, name, 64), registry->n);
}

static void head_from_err(struct hone_head *head, const struct hone_err *failure,
                          struct hone_pool *pool)
{
    head->status = "error";
    bool has_path = strncmp(failure->message, failure->path, strlen(failure->path)) == 0;
    head->summary = has_path ? hone_pool_strdup(pool, failure->message)
                             : hone_pool_printf(pool, "%s: %s", failure->path, failure->message);
    for (size_t i = 0; i < HONE_COUNTOF(codes); i++) {
        if (codes[i].code != failure->code)
            continue;
        head->error_class = codes[i].error_class;
        head->verdict = codes[i].verdict;
        head->next = codes[i].next;
        return;
    }
    head->error_class = "infra";
}

/* Encodes what the tool filled in, and holds hone to its own schema: a result that breaks it never
 * leaves. */
static int encode(const struct hone_tool *tool, const void *out, struct hone_json **ret,
                  struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *result = hone_fields_encode(out, tool->out, tool->n_out);
    int rc = hone_fields_validate(result, tool->out, tool->n_out, err);

    if (rc < 0) {
        hone_wrap(err, "result of %s breaks its own schema", tool->name);
        if (err != NULL)
            err->code = HONE_E_BUG;
        return HONE_E_BUG;
    }
    *ret = HONE_STEAL(result);
    return 0;
}

static int check_app(const struct hone_tool *tool, const struct hone_tool_ctx *ctx,
                     struct hone_err *err)
{
    if ((tool->flags & HONE_TOOL_NEEDS_DEVICE) != 0 && ctx->app->executor == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "%s needs a device; this server has no executor",
                         tool->name);
    if (hone_cancel_is_set(ctx->cancel))
        return hone_fail(err, HONE_E_CANCEL, "cancelled before %s began", tool->name);
    return 0;
}

static int decode_and_run(struct hone_tool_ctx *ctx, const struct hone_tool *tool,
                          const struct hone_json *args, void *out, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *empty = args == NULL ? hone_json_new_object() : NULL;
    void *in = hone_pool_alloc(ctx->pool, tool->in_size + 1);
    int rc = hone_fields_decode(args != NULL ? args : empty, tool->in, tool->n_in, in,
                                tool->in_size, ctx->pool, err);

    if (rc == 0)
        rc = check_app(tool, ctx, err);
    if (rc == 0)
        rc = tool->run(ctx, in, out, err);
    return rc;
}

int hone_registry_call(struct hone_tool_ctx *ctx, const char *name, const struct hone_json *args,
                       struct hone_json **ret_result, bool *ret_is_error, struct hone_err *err)
{
    const struct hone_registry *registry = ctx->app->registry;
    const struct hone_tool *tool = hone_registry_find(registry, name);
    struct hone_err failure = HONE_ERR_INIT;
    const struct hone_head *head;
    bool is_error;
    void *out;
    int rc;

    if (tool == NULL)
        return fail_unknown(registry, ctx->pool, name, err);
    out = hone_pool_alloc(ctx->pool, tool->out_size);
    rc = decode_and_run(ctx, tool, args, out, &failure);
    if (rc == HONE_E_CANCEL || rc == HONE_E_BUG) {
        if (err != NULL)
            *err = failure;
        return rc;
    }
    if (rc < 0) { /* whatever the tool had filled in is dropped: a failure says one thing */
        memset(out, 0, tool->out_size);
        head_from_err(out, &failure, ctx->pool);
    }
    head = out;
    is_error = head->status != NULL && strcmp(head->status, "error") == 0;
    rc = encode(tool, out, ret_result, err);
    if (rc == 0)
        *ret_is_error = is_error;
    return rc;
}

int hone_tool_ask(struct hone_tool_ctx *ctx, struct hone_ask *asks, size_t n, struct hone_err *err)
{
    if (ctx->ask != NULL)
        return ctx->ask(ctx, asks, n, err);
    for (size_t i = 0; i < n; i++)
        if (!asks[i].is_optional)
            return hone_fail(err, HONE_E_UNSUPPORTED, "nobody can be asked for %s here",
                             asks[i].method);
    return 0;
}

void hone_tool_progress(struct hone_tool_ctx *ctx, double done, double total, const char *fmt, ...)
{
    char message[256];
    va_list args;

    if (ctx->on_progress == NULL)
        return;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    ctx->on_progress(ctx->progress_arg,
                     &(struct hone_progress){.message = message, .done = done, .total = total});
}
