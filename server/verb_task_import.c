/* SPDX-License-Identifier: Apache-2.0 */
/* `hone task import`: a PyTorch module, or every one of a folder, as tasks of the workspace. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "server/verb_task.h"
#include "tools/torch/import.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"

/* Beside the place where it will be, so that what is refused leaves nothing. */
static int make_one(const struct hone_task_args *args, struct hone_workspace *ws,
                    const struct hone_executor *executor, const char *file, const char *name,
                    struct hone_err *err)
{
    HONE_AUTOFREE char *dir = hone_path_join(hone_workspace_dir(ws), "tasks", name, NULL);
    HONE_AUTOFREE char *part = hone_sprintf("%s/tasks/.%s.part", hone_workspace_dir(ws), name);
    if (!hone_is_safe_name(name))
        return hone_fail(err, HONE_E_ARG, "'%.60s' is no task name", name);
    if (hone_file_exists(dir) && !args->force)
        return hone_fail(err, HONE_E_EXISTS,
                         "task '%s' exists already: --force replaces it, --name gives another name",
                         name);
    hone_remove_tree(part, NULL);
    int rc = hone_torch_import(executor, file, name, part, err);
    if (rc == 0)
        rc = hone_task_move_pack(part, dir, err);
    if (rc < 0)
        hone_remove_tree(part, NULL); /* the first error is the one to tell */
    return rc;
}

static int import_folder(const struct hone_task_args *args, struct hone_workspace *ws,
                         const struct hone_executor *executor, struct hone_pool *pool,
                         struct hone_err *err)
{
    const char **names;
    const char *paths[1] = {"tasks"};
    size_t n, n_files = 0, n_imported = 0;
    int rc = hone_list_dir(args->subject, pool, &names, &n, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        size_t len = strlen(names[i]);
        if (len < 4 || strcmp(names[i] + len - 3, ".py") != 0)
            continue;
        struct hone_err why = HONE_ERR_INIT;
        HONE_AUTOFREE char *file = hone_path_join(args->subject, names[i], NULL);
        const char *name = hone_torch_name(names[i], pool);
        bool is_good = make_one(args, ws, executor, file, name, &why) == 0;
        printf("%-9s %-40s %s\n", is_good ? "imported" : "refused", names[i],
               is_good ? name : why.message);
        fflush(stdout);
        n_files++;
        n_imported += is_good;
    }
    if (rc == 0 && n_imported > 0)
        rc = hone_history_commit_main(hone_workspace_history(ws), paths, 1,
                                      hone_pool_printf(pool, "Import %zu tasks", n_imported),
                                      hone_wall_ms() / 1000, err);
    if (rc == 0)
        printf("%zu of %zu imported\n", n_imported, n_files);
    return rc < 0 ? rc : hone_print("", err);
}

static int import_file(const struct hone_task_args *args, struct hone_workspace *ws,
                       const struct hone_executor *executor, struct hone_pool *pool,
                       struct hone_err *err)
{
    const char *name = args->name ? args->name : hone_torch_name(args->subject, pool);
    const char *const paths[] = {hone_pool_printf(pool, "tasks/%s", name)};
    struct hone_lint lint = {.is_admitted = true};
    int rc = make_one(args, ws, executor, args->subject, name, err);
    if (rc == 0)
        rc = hone_history_commit_main(hone_workspace_history(ws), paths, 1,
                                      hone_pool_printf(pool, "Import task %s", name),
                                      hone_wall_ms() / 1000, err);
    HONE_AUTOFREE char *dir = hone_path_join(hone_workspace_dir(ws), "tasks", name, NULL);
    if (rc == 0 && !args->no_lint)
        rc = hone_task_run_lint(args, dir, pool, &lint, err);
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

int hone_task_import_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                          struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_executor_spec spec = hone_executor_of(&args->common);
    struct hone_executor *executor = NULL;
    struct stat st;
    if (stat(args->subject, &st) < 0)
        return hone_fail(err, HONE_E_NOT_FOUND, "no file '%.200s'", args->subject);
    int rc = hone_open_executor(&spec, &executor, err);
    if (rc == 0)
        rc = S_ISDIR(st.st_mode) ? import_folder(args, ws, executor, pool, err)
                                 : import_file(args, ws, executor, pool, err);
    hone_executor_free(executor);
    return rc;
}
