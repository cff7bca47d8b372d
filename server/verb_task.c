/* SPDX-License-Identifier: Apache-2.0 */
/* `hone task`: list, show, new, remove, lint and calibrate, one function each and a table of actions at
 * the end. The work is done in tools/task/; this file reads arguments and prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/stop.h"
#include "server/verb_task.h"
#include "tools/task/lint.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"
#include "workspace/base/utf8.h"
#include "workspace/history.h"
#include "workspace/task/target.h"

static const char *const action_names[] = {"list", "show",      "new",    "remove",
                                           "lint", "calibrate", "import", NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct hone_task_args, action, "action", "ACTION", "What to do.",
             .is_positional = true, .is_required = true, .choices = action_names),
    HONE_OPT(struct hone_task_args, subject, "subject", "SUBJECT",
             "show, lint, calibrate, remove: a task; new: a C file; import: a PyTorch file or a "
             "folder of them; lint and calibrate also take a pack's folder.",
             .is_positional = true),
    HONE_OPTS_COMMON(struct hone_task_args),
    HONE_OPT(struct hone_task_args, function, "function", "NAME",
             "new: the function, where the file has several."),
    HONE_OPT(struct hone_task_args, name, "name", "NAME",
             "new, import: name of the task. Default: the function's, the file's."),
    HONE_OPT(struct hone_task_args, shapes, "shape", "SHAPE",
             "new: an array's sizes by axis, as in 'A[M,K]'; once for each array."),
    HONE_OPT(struct hone_task_args, roles, "role", "ROLE",
             "new: how an input is filled, as in 'columns=index:N'; may be repeated."),
    HONE_OPT(struct hone_task_args, scales, "scale", "VALUE",
             "new: an input's ordinary values are times this, as in 'x=0.5'; may be repeated."),
    HONE_OPT(struct hone_task_args, shifts, "shift", "VALUE",
             "new: and plus this, as in 'x=-0.7'; may be repeated."),
    HONE_OPT(struct hone_task_args, sizes, "size", "SIZE",
             "new: one workload, as in 'M=512,N=512'; may be repeated."),
    HONE_OPT(struct hone_task_args, scalars, "scalar", "VALUE",
             "new: a scalar's value, as in 'alpha=1.5'; may be repeated."),
    HONE_OPT(struct hone_task_args, inouts, "inout", "NAME",
             "new: a pointer that the function reads and writes; may be repeated."),
    HONE_OPT(
        struct hone_task_args, outs, "out", "NAME",
        "new: a pointer that it writes alone, where the body looks otherwise; may be repeated."),
    HONE_OPT(struct hone_task_args, includes, "include", "DIR",
             "new: where headers of yours are, beside the file's folder; may be repeated.",
             .letter = 'I'),
    HONE_OPT(struct hone_task_args, constraints, "constraint", "FORMULA",
             "new: which sizes are legal, as in 'n % 8 == 0'; may be repeated."),
    HONE_OPT(struct hone_task_args, tolerances, "tolerance", "VALUE",
             "new: relative tolerance of an output, as in 'y=1e-4', or of all."),
    HONE_OPT(struct hone_task_args, flops, "flops", "FORMULA",
             "new: operations of the best known algorithm, as in '2*M*N*K'."),
    HONE_OPT(struct hone_task_args, bytes, "bytes", "FORMULA",
             "new: bytes that have to move. Default: every array once."),
    HONE_OPT(struct hone_task_args, force, "force", NULL,
             "new, import: replace the task of that name."),
    HONE_OPT(struct hone_task_args, no_lint, "no-lint", NULL,
             "new, import: do not compile and check what was made."),
    HONE_OPT(struct hone_task_args, op_type, "op-type", "WORD",
             "new: kind of operation, such as gemm."),
    HONE_OPT(struct hone_task_args, description, "description", "TEXT", "new: one sentence."),
    HONE_OPT(struct hone_task_args, is_static, "static", NULL,
             "lint: only look at the files, run nothing."),
    HONE_OPT(struct hone_task_args, target, "target", "TARGET", "calibrate: where kernels run.",
             .fallback = "cpu", .choices = hone_target_words),
    HONE_OPT(struct hone_task_args, write, "write", NULL,
             "calibrate: put tolerances and record into the pack."),
    HONE_OPT(struct hone_task_args, margin, "margin", "X",
             "calibrate: tolerance over honest error.", .fallback = "2", .min = 1, .max = 64),
    HONE_OPT(struct hone_task_args, time_ms, "time", "TIME", "calibrate: how long to measure.",
             .fallback = "60s", .is_duration = true, .min = 1000,
             .max = HONE_LIMIT_TIMEOUT_MS / 10),
    HONE_OPT_JSON(struct hone_task_args),
};

/* A pack may come from anywhere; its words must not steer the terminal. */
static void print_row(const struct hone_task *task)
{
    HONE_AUTOFREE char *line = hone_sprintf("%-14s %-12s %zu sizes  %s", task->name, task->op_type,
                                            task->n_workloads, task->description);
    hone_utf8_defuse(line, '?');
    printf("%s\n", line);
}

static int list(const struct hone_task_args *args, struct hone_workspace *ws, struct hone_err *err)
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
            print_row(task);
    }
    return args->json ? hone_print_json(all, err) : hone_print("", err);
}

static int show(const struct hone_task_args *args, struct hone_workspace *ws, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    int rc = hone_workspace_task(ws, args->subject, &task, err);
    if (rc < 0)
        return rc;
    HONE_AUTOJSON struct hone_json *json = hone_task_describe(task);
    HONE_AUTOFREE char *text = args->json ? hone_json_print(json) : hone_json_print_pretty(json);
    rc = hone_print(text, err);
    return rc < 0 ? rc : hone_print("\n", err);
}

static struct hone_json *lint_json(const struct hone_lint *lint)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "task", lint->task);
    hone_json_set_str(json, "hash", lint->hash);
    hone_json_set_bool(json, "is_admitted", lint->is_admitted);
    hone_json_set_bool(json, "was_run", lint->was_run);
    const struct hone_lint_finding *finding = lint->findings.v;
    struct hone_json *findings = hone_json_new_array();
    for (size_t i = 0; i < lint->findings.n; i++)
        hone_json_push(findings, hone_fields_encode(&finding[i], hone_lint_finding_fields,
                                                    hone_lint_finding_n_fields));
    hone_json_set(json, "findings", findings);
    const struct hone_lint_trial *trial = lint->trials.v;
    struct hone_json *trials = hone_json_new_array();
    for (size_t i = 0; i < lint->trials.n; i++)
        hone_json_push(trials, hone_fields_encode(&trial[i], hone_lint_trial_fields,
                                                  hone_lint_trial_n_fields));
    hone_json_set(json, "trials", trials);
    return json;
}

int hone_task_print_lint(const struct hone_task_args *args, const struct hone_lint *lint,
                         struct hone_err *err)
{
    int rc;
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = lint_json(lint);
        rc = hone_print_json(json, err);
    } else {
        HONE_AUTOFREE char *text = hone_lint_text(lint);
        rc = hone_print(text, err);
    }
    return rc < 0 ? rc : lint->is_admitted ? 0 : HONE_EXIT_TOOL_ERROR;
}

static void on_stop(void *arg)
{
    hone_cancel_set(arg);
}

int hone_task_run_lint(const struct hone_task_args *args, const char *dir, struct hone_pool *pool,
                       struct hone_lint *ret, struct hone_err *err)
{
    const struct hone_executor_spec spec = hone_executor_of(&args->common);
    struct hone_executor *executor = NULL;
    struct hone_progress_line line;
    struct hone_cancel cancel;
    struct hone_stop *stop = NULL;
    int rc = args->is_static ? 0 : hone_open_executor(&spec, &executor, err);
    if (rc == 0)
        rc = hone_cancel_init(&cancel, err);
    if (rc < 0) {
        hone_executor_free(executor);
        return rc;
    }
    rc = hone_stop_watch(on_stop, &cancel, &stop, err);
    hone_progress_line_init(&line);
    const struct hone_lint_options options = {
        .executor = executor,
        .allow_weak_jail = args->common.allow_weak_jail,
        .on_progress = hone_progress_line_update,
        .progress_arg = &line,
        .cancel = &cancel,
    };
    if (rc == 0)
        rc = hone_lint_pack(dir, &options, pool, ret, err);
    hone_progress_line_clear(&line);
    hone_stop_free(stop);
    hone_cancel_done(&cancel);
    hone_executor_free(executor);
    return rc;
}

int hone_task_dir_of(const struct hone_task_args *args, const struct hone_workspace *ws, char **ret,
                     struct hone_err *err)
{
    bool is_dir = strchr(args->subject, '/') != NULL;
    HONE_AUTOFREE char *dir =
        is_dir ? hone_strdup(args->subject)
               : hone_path_join(hone_workspace_dir(ws), "tasks", args->subject, NULL);
    if (!is_dir && (!hone_is_safe_name(args->subject) || !hone_file_exists(dir)))
        return hone_fail(err, HONE_E_NOT_FOUND, "no task '%.60s'; `hone task list` lists them",
                         args->subject);
    *ret = HONE_STEAL(dir);
    return 0;
}

static int lint(const struct hone_task_args *args, struct hone_workspace *ws, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *dir = NULL;
    struct hone_lint result;
    int rc = hone_task_dir_of(args, ws, &dir, err);
    if (rc == 0)
        rc = hone_task_run_lint(args, dir, pool, &result, err);
    return rc < 0 ? rc : hone_task_print_lint(args, &result, err);
}

static const struct {
    const char *name;
    bool needs_subject;
    int (*run)(const struct hone_task_args *args, struct hone_workspace *ws, struct hone_err *err);
} actions[] = {{"list", false, list},
               {"show", true, show},
               {"new", true, hone_task_new_verb},
               {"remove", true, hone_task_remove_verb},
               {"lint", true, lint},
               {"calibrate", true, hone_task_calibrate_verb},
               {"import", true, hone_task_import_verb}};

static int run(const void *arg, struct hone_err *err)
{
    const struct hone_task_args *args = arg;
    size_t i = 0;
    while (strcmp(actions[i].name, args->action) != 0) /* options checked that it is one of them */
        i++;
    if (actions[i].needs_subject && !args->subject)
        return hone_fail(err, HONE_E_ARG, "say which: hone task %s %s", args->action,
                         strcmp(args->action, "new") == 0      ? "FILE.c"
                         : strcmp(args->action, "import") == 0 ? "FILE.py"
                                                               : "TASK");
    hone_stop_block();
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    int rc = hone_workspace_open(args->common.workspace, &ws, err);
    return rc < 0 ? rc : actions[i].run(args, ws, err);
}

const struct hone_verb hone_verb_task = {
    .name = "task",
    .summary = "List, show, make or check the tasks of a workspace.",
    .description =
        "list   the workspace's tasks\n"
        "show   one task: signature, axes, tensors, tolerances, sizes\n"
        "new    a task from a C function of yours, which becomes its baseline and its reference; "
        "ends with the lint\n"
        "import a task from a PyTorch file in KernelBench's form (Model, get_inputs, "
        "get_init_inputs), or from each of a folder; needs a Python with torch\n"
        "remove takes a task out of the workspace; what was found for it stays in the history\n"
        "lint   is a task fit to judge with? Runs its baseline, which must pass, and bad kernels, "
        "which must not\n"
        "calibrate  measures what honest kernels err by and proposes tolerances; refuses a task "
        "whose tolerance\n"
        "       zeros, a constant, the mean, a copied input or the next lower precision would pass",
    .example = "hone task new mine.c --shape 'A[M,K]' --shape 'B[K,N]' --shape 'C[M,N]' --size "
               "M=512,N=512,K=512",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct hone_task_args),
    .run = run,
};
