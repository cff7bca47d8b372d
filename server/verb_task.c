/* SPDX-License-Identifier: Apache-2.0 */
/* `hone task`: list, show, new, remove, lint and calibrate, one function each and a table of actions at
 * the end. The work is done in tools/task/; this file reads arguments and prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/stop.h"
#include "server/table.h"
#include "server/verb_task.h"
#include "tools/task/lint.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"
#include "workspace/base/utf8.h"
#include "workspace/cache.h"
#include "workspace/history.h"
#include "workspace/task/target.h"

static const char *const action_names[] = {"list", "show",      "new",    "remove",
                                           "lint", "calibrate", "import", NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct hone_task_args, action, "action", "ACTION", "What to do.",
             .is_positional = true, .is_required = true, .choices = action_names),
    HONE_OPT(struct hone_task_args, subject, "subject", "SUBJECT",
             "show, remove: a task. lint, calibrate: a task or a pack's folder. new: a C or CUDA "
             "file. import: a problem's file, or a folder of them.",
             .is_positional = true, .of = "show new import remove lint calibrate"),
    HONE_OPTS_COMMON(struct hone_task_args),
    HONE_OPT(struct hone_task_args, function, "function", "NAME",
             "The function, where the file has several.", .of = "new"),
    HONE_OPT(struct hone_task_args, name, "name", "NAME",
             "Name of the task. Default: the function's, the file's.", .of = "new import"),
    HONE_OPT(struct hone_task_args, shapes, "shape", "SHAPE",
             "An array's sizes by axis, as in 'A[M,K]'; once for each array.", .of = "new"),
    HONE_OPT(struct hone_task_args, roles, "role", "ROLE",
             "How an input is filled, as in 'columns=index:N'; may be repeated.", .of = "new"),
    HONE_OPT(struct hone_task_args, scales, "scale", "VALUE",
             "An input's ordinary values are times this, as in 'x=0.5'; may be repeated.",
             .of = "new"),
    HONE_OPT(struct hone_task_args, shifts, "shift", "VALUE",
             "And plus this, as in 'x=-0.7'; may be repeated.", .of = "new"),
    HONE_OPT(struct hone_task_args, sizes, "size", "SIZE",
             "One workload, as in 'M=512,N=512'; may be repeated.", .of = "new"),
    HONE_OPT(struct hone_task_args, scalars, "scalar", "VALUE",
             "A scalar's value, as in 'alpha=1.5'; may be repeated.", .of = "new"),
    HONE_OPT(struct hone_task_args, inouts, "inout", "NAME",
             "A pointer that the function reads and writes; may be repeated.", .of = "new"),
    HONE_OPT(struct hone_task_args, outs, "out", "NAME",
             "A pointer that it writes alone, where the body looks otherwise; may be repeated.",
             .of = "new"),
    HONE_OPT(struct hone_task_args, includes, "include", "DIR",
             "Where headers of yours are, beside the file's folder; may be repeated.",
             .letter = 'I', .of = "new"),
    HONE_OPT(struct hone_task_args, constraints, "constraint", "FORMULA",
             "Which sizes are legal, as in 'n % 8 == 0'; may be repeated.", .of = "new"),
    HONE_OPT(struct hone_task_args, tolerances, "tolerance", "VALUE",
             "Tolerance of an output or of all: relative, then absolute, as in 'y=1e-4,1e-6'.",
             .of = "new"),
    HONE_OPT(struct hone_task_args, flops, "flops", "FORMULA",
             "Operations of the best known algorithm, as in '2*M*N*K'.", .of = "new"),
    HONE_OPT(struct hone_task_args, bytes, "bytes", "FORMULA",
             "Bytes that have to move. Default: every array once.", .of = "new"),
    HONE_OPT(struct hone_task_args, grid, "grid", "EXPR",
             "Blocks of a CUDA kernel without a launcher, as in '(n + 255) / 256'.", .of = "new"),
    HONE_OPT(struct hone_task_args, block, "block", "EXPR",
             "Threads of a block of it, as in 256 or '16, 16'.", .of = "new"),
    HONE_OPT(
        struct hone_task_args, instance, "instance", "NAME<ARGS>",
        "Which function of a CUDA template, as in 'scale<float, 256>'. Default: those that the "
        "file uses.",
        .of = "new"),
    HONE_OPT(struct hone_task_args, reference, "reference", "FILE.c",
             "The reference of a CUDA file: ITEM, or the function in C.", .of = "new"),
    HONE_OPT(struct hone_task_args, from_model, "from-model", "MODULE.PATH",
             "Take this module of the file's Model, at the sizes that its forward gives it.",
             .of = "import"),
    HONE_OPT(struct hone_task_args, format, "format", "F",
             "The suite whose form it has: kernelbench, flashinfer, leetgpu, gpu-mode, polybench. "
             "Default: by "
             "content.",
             .of = "import"),
    HONE_OPT(struct hone_task_args, force, "force", NULL, "Replace the task of that name.",
             .of = "new import"),
    HONE_OPT(struct hone_task_args, no_lint, "no-lint", NULL,
             "Do not compile and check what was made.", .of = "new import"),
    HONE_OPT(struct hone_task_args, op_type, "op-type", "WORD", "Kind of operation, such as gemm.",
             .of = "new"),
    HONE_OPT(struct hone_task_args, description, "description", "TEXT", "One sentence.",
             .of = "new"),
    HONE_OPT(struct hone_task_args, is_static, "static", NULL,
             "Only look at the files, run nothing.", .of = "lint"),
    HONE_OPT(struct hone_task_args, target, "target", "TARGET",
             "Where kernels run; cuda cannot be calibrated yet. Default: cpu.",
             .choices = hone_target_words, .of = "calibrate"),
    HONE_OPT(struct hone_task_args, write, "write", NULL,
             "Put tolerances and record into the pack.", .of = "calibrate"),
    HONE_OPT(struct hone_task_args, margin, "margin", "X", "Tolerance over honest error.",
             .fallback = "2", .min = 1, .max = 64, .of = "calibrate"),
    HONE_OPT(struct hone_task_args, time_ms, "time", "TIME", "How long to measure.",
             .fallback = "60s", .is_duration = true, .min = 1000, .max = HONE_LIMIT_TIMEOUT_MS / 10,
             .of = "calibrate"),
    HONE_OPT_JSON(struct hone_task_args),
};

static void add_row(struct hone_table *table, const struct hone_task *task)
{
    HONE_AUTOFREE char *sizes =
        hone_sprintf("%zu size%s", task->n_workloads, task->n_workloads == 1 ? "" : "s");
    const char *const cells[] = {task->name, task->op_type, sizes, task->description};
    hone_table_add(table, cells);
}

static int list(const struct hone_task_args *args, struct hone_workspace *ws, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *all = hone_json_new_array();
    struct hone_table table = {.pool = pool, .n_columns = 4};
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
            add_row(&table, task);
    }
    if (args->json)
        return hone_print_json(all, err);
    hone_table_print(&table);
    return hone_print("", err);
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

int hone_task_run_lint(const struct hone_task_args *args, const char *dir,
                       const struct hone_lint_scope *scope, struct hone_pool *pool,
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
        .scope = scope ? *scope : (struct hone_lint_scope){.objects_dir = NULL},
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

#define LINT_KIND "lint" /* in the cache */

void hone_task_note_lint(struct hone_workspace *ws, const struct hone_lint *lint)
{
    const char *word = lint->is_admitted ? "admitted" : "refused";
    if (lint->was_run && lint->hash) /* without it a search only says less */
        (void)hone_cache_put(hone_workspace_cache(ws), LINT_KIND, lint->hash, word, strlen(word),
                             NULL);
}

const char *hone_task_lint_warning(struct hone_workspace *ws, const char *name,
                                   struct hone_pool *pool)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    HONE_AUTOFREE char *word = NULL;
    const struct hone_lint_options at_rest = {.executor = NULL};
    struct hone_lint lint;
    size_t len;
    if (hone_workspace_task(ws, name, &task, NULL) < 0)
        return NULL; /* the search says it */
    bool is_known =
        hone_cache_get(hone_workspace_cache(ws), LINT_KIND, task->hash, &word, &len, NULL) == 0;
    bool is_bad =
        is_known ? strcmp(word, "refused") == 0
                 : hone_lint_pack(task->dir, &at_rest, pool, &lint, NULL) == 0 && !lint.is_admitted;
    return is_bad ? hone_pool_printf(pool,
                                     "the lint refuses task '%s': wrong kernels may pass, or right "
                                     "ones fail; `hone task lint %s` says why",
                                     name, name)
                  : NULL;
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
        rc = hone_task_run_lint(args, dir, NULL, pool, &result, err);
    if (rc == 0)
        hone_task_note_lint(ws, &result);
    return rc < 0 ? rc : hone_task_print_lint(args, &result, err);
}

typedef int action_fn(const struct hone_task_args *args, struct hone_workspace *ws,
                      struct hone_err *err);

static const struct hone_verb_action actions[] = {
    {"list", "", "the workspace's tasks", NULL},
    {"show", "TASK", "one task: signature, axes, tensors, tolerances, sizes",
     "hone task show softmax"},
    {"new", "FILE",
     "a task from a C function or a CUDA launcher (.cu) of yours, which becomes its baseline and "
     "its reference; ends with the lint",
     "hone task new mine.c --shape 'A[M,K]' --shape 'B[K,N]' --shape 'C[M,N]' --size "
     "M=512,N=512,K=512"},
    {"import", "FILE.py",
     "a task from a PyTorch file in KernelBench's form (Model, get_inputs, get_init_inputs) or a "
     "problem of another suite, or from each of a folder; needs a Python with torch, but for "
     "PolyBench/C",
     "hone task import model.py"},
    {"remove", "TASK",
     "takes a task out of the workspace; what was found for it stays in the history",
     "hone task remove mine"},
    {"lint", "TASK",
     "is a task fit to judge with? Runs its baseline, which must pass, and bad kernels, which must "
     "not",
     "hone task lint mine"},
    {"calibrate", "TASK",
     "measures what honest kernels err by and proposes tolerances; refuses a task whose tolerance "
     "zeros, a constant, the mean, a copied input or the next lower precision would pass",
     "hone task calibrate mine --time 60s --write"},
};
static action_fn *const functions[] = {list,
                                       show,
                                       hone_task_new_verb,
                                       hone_task_import_verb,
                                       hone_task_remove_verb,
                                       lint,
                                       hone_task_calibrate_verb};

static int run(const void *arg, struct hone_err *err)
{
    const struct hone_task_args *args = arg;
    size_t i = 0;
    while (strcmp(actions[i].name, args->action) != 0) /* options checked that it is one of them */
        i++;
    if (actions[i].args[0] && !args->subject)
        return hone_fail(err, HONE_E_ARG, "say which: hone task %s %s", args->action,
                         actions[i].args);
    hone_stop_block();
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    bool is_read = strcmp(args->action, "list") == 0 || strcmp(args->action, "show") == 0;
    int rc = is_read ? hone_open_to_read(args->common.workspace, &ws, err)
                     : hone_workspace_open(args->common.workspace, &ws, err);
    return rc < 0 ? rc : functions[i](args, ws, err);
}

const struct hone_verb hone_verb_task = {
    .name = "task",
    .summary = "List, show, make or check the tasks of a workspace.",
    .actions = actions,
    .n_actions = HONE_COUNTOF(actions),
    .example = "hone task new mine.c --shape 'A[M,K]' --shape 'B[K,N]' --shape 'C[M,N]' --size "
               "M=512,N=512,K=512",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct hone_task_args),
    .run = run,
};
