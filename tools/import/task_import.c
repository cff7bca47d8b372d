/* SPDX-License-Identifier: Apache-2.0 */
/* Tool task_import: a PyTorch file, as text or from the workspace, as a task of the workspace. An
 * agent replaces no task: its reference decides verdicts. */
#include <stdlib.h>
#include <string.h>

#include "tools/import/import.h"
#include "tools/tools.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/text.h"

struct import_in {
    const char *text, *file, *name;
};

struct import_out {
    struct hone_head head;
    const char *name, *signature;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct import_in, text, .max_len = HONE_LIMIT_SOURCE_BYTES,
               .help = "Python with Model, get_inputs and get_init_inputs."),
    HONE_FIELD(struct import_in, file, .max_len = HONE_LIMIT_PATH_BYTES,
               .help = "In place of text: a .py file in the workspace."),
    HONE_FIELD(struct import_in, name, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Task; default: the file's name."),
};

#define OUT(m_, ...) HONE_FIELD(struct import_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct import_out),
    OUT(name, .help = "Task."),
    OUT(signature, .help = "C function that kernels define."),
};

static void free_text(void *text)
{
    free(text);
}

/* A name that leads out of the workspace, by dots or by a link, is none of its files. */
static int find_file(struct hone_tool_ctx *ctx, const char *name, const char **ret,
                     struct hone_err *err)
{
    const char *dir = hone_workspace_dir(ctx->app->ws);
    HONE_AUTOFREE char *joined = hone_path_join(dir, name, NULL);
    char *path = realpath(joined, NULL), *root = realpath(dir, NULL);
    size_t len = strlen(name), root_len = root != NULL ? strlen(root) : 0;
    bool is_inside =
        path != NULL && root != NULL && strncmp(path, root, root_len) == 0 && path[root_len] == '/';
    const char *shown = hone_plain_line(ctx->pool, name, 200);

    free(root);
    hone_pool_defer(ctx->pool, free_text, path);
    if (len < 4 || strcmp(name + len - 3, ".py") != 0 || strstr(name, "/.") != NULL ||
        name[0] == '.' || name[0] == '/')
        return hone_fail_at(err, HONE_E_ARG, "file",
                            "'%s': a relative path of a .py file, without dots in front", shown);
    if (!is_inside)
        return hone_fail_at(err, HONE_E_NOT_FOUND, "file", "the workspace has no file '%s'", shown);
    *ret = path;
    return 0;
}

static int write_text(struct hone_tool_ctx *ctx, const char *text, const char *name,
                      char **ret_call, const char **ret, struct hone_err *err)
{
    HONE_AUTOFREE char *id = NULL;
    int rc = hone_workspace_new_call(ctx->app->ws, &id, ret_call, err);

    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *path =
        hone_sprintf("%s/%s.py", *ret_call, hone_is_safe_name(name) ? name : "module");
    *ret = hone_pool_strdup(ctx->pool, path);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    HONE_AUTOFREE char *call = NULL;
    const struct import_in *in = arguments;
    struct import_out *out = result;
    struct hone_torch_place what = {.ws = ctx->app->ws, .executor = ctx->app->executor};

    if ((in->text == NULL) == (in->file == NULL))
        return hone_fail_at(err, HONE_E_ARG, "text", "give text, or file, and not both");
    if (in->text != NULL && in->name == NULL)
        return hone_fail_at(err, HONE_E_ARG, "name", "text has no file name: give a name");
    int rc = in->file != NULL ? find_file(ctx, in->file, &what.file, err)
                              : write_text(ctx, in->text, in->name, &call, &what.file, err);
    what.name = in->name != NULL ? in->name : hone_torch_name(in->file, ctx->pool);
    if (rc == 0)
        rc = hone_torch_place(&what, err);
    if (call != NULL)
        hone_remove_tree(call, NULL); /* the first error is the one to tell */
    if (rc == 0)
        rc = hone_torch_commit(ctx->app->ws, hone_pool_printf(ctx->pool, "tasks/%s", what.name),
                               hone_pool_printf(ctx->pool, "Import task %s", what.name), err);
    if (rc == 0)
        rc = hone_workspace_task(ctx->app->ws, what.name, &task, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *signature = hone_task_signature(task);
    *out = (struct import_out){
        .head = {.status = "ok",
                 .summary = hone_pool_printf(ctx->pool, "made task %s, %zu workloads", what.name,
                                             task->n_workloads),
                 .next =
                     "task_show, then kernel_verify of its baseline, whose source task_show has."},
        .name = what.name,
        .signature = hone_pool_strdup(ctx->pool, signature),
    };
    return 0;
}

const struct hone_tool hone_tool_task_import = {
    .name = "task_import",
    .title = "Make a task of a PyTorch module",
    .summary = "A PyTorch file in KernelBench's form becomes a task of the workspace.",
    .description =
        "The module in float64 is the reference, a plain C kernel the baseline. It runs in the "
        "jail; 5 to 60 s. Refused: randomness, hidden tensors, operations without a plain kernel. "
        "Not linted.",
    .flags = HONE_TOOL_NEEDS_DEVICE | HONE_TOOL_LONG,
    HONE_TOOL_TABLES(struct import_in, struct import_out),
    .run = run,
};
