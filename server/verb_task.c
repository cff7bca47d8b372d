#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/verb.h"
#include "workspace/workspace.h"

struct args {
    const char *action, *name, *workspace;
    bool json;
};

static const char *const action_names[] = {"list", "show", NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, action, "action", "ACTION", "What to do.", .is_positional = true,
             .is_required = true, .choices = action_names),
    HONE_OPT(struct args, name, "name", "NAME", "Task, for show.", .is_positional = true),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT_JSON(struct args),
};

static int list(const struct args *args, struct hone_workspace *ws, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *all = hone_json_new_array();
    const char **names;
    size_t n;
    int rc = hone_workspace_task_names(ws, pool, &names, &n, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++) {
        HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
        struct hone_err why = HONE_ERR_INIT;
        if (hone_workspace_task(ws, names[i], &task, &why) < 0) {
            hone_say("%s: %s%s%s", names[i], why.path, why.path[0] ? ": " : "", why.message);
            continue;
        }
        if (args->json)
            hone_json_push(all, hone_task_describe(task));
        else
            printf("%-14s %-12s %zu sizes  %s\n", task->name, task->op_type, task->n_workloads,
                   task->description);
    }
    return args->json ? hone_print_json(all, err) : hone_print("", err);
}

static int show(const struct args *args, struct hone_workspace *ws, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if (!args->name)
        return hone_fail(err, HONE_E_ARG, "name the task: hone task show NAME");
    int rc = hone_workspace_task(ws, args->name, &task, err);
    if (rc < 0)
        return rc;
    HONE_AUTOJSON struct hone_json *json = hone_task_describe(task);
    HONE_AUTOFREE char *text = args->json ? hone_json_print(json) : hone_json_print_pretty(json);
    rc = hone_print(text, err);
    return rc < 0 ? rc : hone_print("\n", err);
}

static const struct {
    const char *name;
    int (*run)(const struct args *args, struct hone_workspace *ws, struct hone_err *err);
} actions[] = {{"list", list}, {"show", show}};

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    int rc = hone_workspace_open(args->workspace, &ws, err);
    for (size_t i = 0; rc == 0 && i < HONE_COUNTOF(actions); i++)
        if (strcmp(actions[i].name, args->action) == 0)
            return actions[i].run(args, ws, err);
    return rc;
}

const struct hone_verb hone_verb_task = {
    .name = "task",
    .summary = "List or show the tasks of a workspace.",
    .example = "hone task show matmul",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
