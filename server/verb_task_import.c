/* SPDX-License-Identifier: Apache-2.0 */
/* `hone task import`: a PyTorch module, or every one of a folder, as tasks of the workspace. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "server/verb_task.h"
#include "tools/import/import.h"
#include "tools/import/model.h"
#include "workspace/base/file.h"

struct row {                          /* of the table: one file of a folder */
    const char *file, *task, *reason; /* reason NULL: imported */
};

static struct hone_torch_place place_of(const struct hone_task_args *args,
                                        struct hone_workspace *ws,
                                        const struct hone_executor *executor,
                                        const struct hone_form *form, const char *file,
                                        const char *name)
{
    return (struct hone_torch_place){.ws = ws,
                                     .executor = executor,
                                     .form = form,
                                     .file = file,
                                     .name = name,
                                     .is_forced = args->force};
}

static void print_row(const struct row *row)
{
    printf("%-9s %-40s %s\n", row->reason ? "refused" : "imported", row->file,
           row->reason ? row->reason : row->task);
    fflush(stdout);
}

static int print_rows(const struct row *rows, size_t n, size_t n_imported, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    struct hone_json *files = hone_json_new_array();
    for (size_t i = 0; i < n; i++) {
        struct hone_json *one = hone_json_new_object();
        hone_json_set_str(one, "file", rows[i].file);
        hone_json_set_bool(one, "is_imported", rows[i].reason == NULL);
        hone_json_set_str(one, rows[i].reason ? "reason" : "task",
                          rows[i].reason ? rows[i].reason : rows[i].task);
        hone_json_push(files, one);
    }
    hone_json_set(json, "files", files);
    hone_json_set_i64(json, "imported", (int64_t)n_imported);
    hone_json_set_i64(json, "refused", (int64_t)(n - n_imported));
    return hone_print_json(json, err);
}

static int import_folder(const struct hone_task_args *args, struct hone_workspace *ws,
                         const struct hone_executor *executor, struct hone_pool *pool,
                         struct hone_err *err)
{
    struct hone_problem *found;
    size_t n, n_imported = 0;
    const struct hone_form *wanted = args->format ? hone_form_by_name(args->format) : NULL;
    int rc = hone_form_walk(args->subject, wanted, pool, &found, &n, err);
    if (rc < 0)
        return rc;
    struct row *rows = hone_pool_alloc(pool, (n + 1) * sizeof(*rows));
    for (size_t i = 0; i < n; i++) {
        struct hone_err why = HONE_ERR_INIT;
        const char *name = hone_torch_name(found[i].path, pool);
        const struct hone_torch_place what =
            place_of(args, ws, executor, found[i].form, found[i].path, name);
        bool is_good = hone_torch_place(&what, &why) == 0;
        rows[i] = (struct row){found[i].shown, name,
                               is_good ? NULL : hone_pool_strdup(pool, why.message)};
        if (!args->json)
            print_row(&rows[i]);
        n_imported += is_good;
    }
    if (n_imported > 0)
        rc = hone_torch_commit(ws, "tasks", hone_pool_printf(pool, "Import %zu tasks", n_imported),
                               err);
    if (rc < 0)
        return rc;
    if (args->json)
        return print_rows(rows, n, n_imported, err);
    printf("%zu of %zu imported\n", n_imported, n);
    return hone_print("", err);
}

static int import_file(const struct hone_task_args *args, struct hone_workspace *ws,
                       const struct hone_executor *executor, struct hone_pool *pool,
                       struct hone_err *err)
{
    const char *name = args->name ? args->name : hone_torch_name(args->subject, pool);
    const struct hone_form *form = args->format ? hone_form_by_name(args->format) : NULL;
    const struct hone_torch_place what = place_of(args, ws, executor, form, args->subject, name);
    struct hone_lint lint = {.is_admitted = true};
    int rc = hone_torch_place(&what, err);
    if (rc == 0)
        rc = hone_torch_commit(ws, hone_pool_printf(pool, "tasks/%s", name),
                               hone_pool_printf(pool, "Import task %s", name), err);
    HONE_AUTOFREE char *dir = hone_path_join(hone_workspace_dir(ws), "tasks", name, NULL);
    if (rc == 0 && !args->no_lint)
        rc = hone_task_run_lint(args, dir, NULL, pool, &lint, err);
    if (rc == 0 && !args->no_lint)
        rc = hone_task_print_lint(args, &lint, err);
    if (rc >= 0)
        hone_say(lint.is_admitted ? "made task %s; next: hone task calibrate %s --write, hone "
                                    "search %s --budget-wall 2m"
                                  : "made task %s, which is not admitted yet: look at what stands "
                                    "above (hone task calibrate %s measures its tolerance)",
                 name, name, name);
    return rc;
}

/* The module is written as a file of its own, MODEL_MODULE_PATH.py, and that is imported. */
static int import_module(const struct hone_task_args *args, struct hone_workspace *ws,
                         const struct hone_executor *executor, struct hone_pool *pool,
                         struct hone_err *err)
{
    const struct hone_model_question q = {
        .executor = executor, .file = args->subject, .threads = 1, .path = args->from_model};
    HONE_AUTOFREE char *text = NULL;
    HONE_AUTOFREE char *id = NULL;
    HONE_AUTOFREE char *call = NULL;
    struct hone_task_args of_module = *args;
    int rc = hone_model_cut(&q, &text, err);
    if (rc == 0)
        rc = hone_workspace_new_call(ws, &id, &call, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *name =
        hone_sprintf("%s_%s.py", hone_torch_name(args->subject, pool), args->from_model);
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '/' || (*c == '.' && strcmp(c, ".py") != 0) ? '_' : *c;
    HONE_AUTOFREE char *path = hone_path_join(call, name, NULL);
    of_module.subject = path;
    rc = hone_file_write(path, text, strlen(text), 0644, false, err);
    if (rc == 0)
        rc = import_file(&of_module, ws, executor, pool, err);
    hone_remove_tree(call, NULL); /* the first error is the one to tell */
    return rc;
}

int hone_task_import_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                          struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_executor_spec spec = hone_executor_of(&args->common);
    struct hone_executor *executor = NULL;
    struct stat st;
    if (args->format != NULL && hone_form_by_name(args->format) == NULL)
        return hone_fail_at(err, HONE_E_ARG, "format", "'%.40s' is no format; there are %s",
                            args->format, hone_form_names(pool));
    if (stat(args->subject, &st) < 0)
        return hone_fail(err, HONE_E_NOT_FOUND, "no file '%.200s'", args->subject);
    int rc = hone_open_executor(&spec, &executor, err);
    if (rc == 0 && args->from_model != NULL)
        rc = import_module(args, ws, executor, pool, err);
    else if (rc == 0)
        rc = S_ISDIR(st.st_mode) ? import_folder(args, ws, executor, pool, err)
                                 : import_file(args, ws, executor, pool, err);
    hone_executor_free(executor);
    return rc;
}
