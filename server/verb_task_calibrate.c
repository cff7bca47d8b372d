/* SPDX-License-Identifier: Apache-2.0 */
/* hone task calibrate: the tolerance of a task, measured. */
#include <string.h>

#include "server/stop.h"
#include "server/verb_task.h"
#include "server/rpc/version.h"
#include "tools/task/calibrate.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/history.h"
#include "workspace/task/target.h"

static void on_stop(void *arg)
{
    hone_cancel_set(arg);
}

static int measure(const struct hone_task_args *args, const struct hone_task *task,
                   struct hone_pool *pool, struct hone_calibrate *ret, struct hone_err *err)
{
    struct hone_progress_line line;
    struct hone_cancel cancel;
    struct hone_stop *stop = NULL;
    struct hone_executor *executor = NULL;
    const struct hone_executor_spec spec = hone_executor_of(&args->common);
    int rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    hone_progress_line_init(&line);
    rc = hone_stop_watch(on_stop, &cancel, &stop, err);
    if (rc == 0)
        rc = hone_open_executor(&spec, &executor, err);
    struct hone_calibrate_options options = {
        .executor = executor,
        .target = task->target,
        .hone = HONE_VERSION,
        .allow_weak_jail = args->common.allow_weak_jail,
        .margin = args->margin,
        .budget_ms = args->time_ms,
        .n_hidden = HONE_CALIBRATE_HIDDEN,
        .on_progress = hone_progress_line_update,
        .progress_arg = &line,
        .cancel = &cancel,
    };
    if (rc == 0)
        rc = hone_calibrate(task, &options, pool, ret, err);
    hone_progress_line_clear(&line);
    hone_executor_free(executor);
    hone_stop_free(stop);
    hone_cancel_done(&cancel);
    return rc;
}

static int print(const struct hone_task_args *args, const struct hone_calibrate *calibrate,
                 struct hone_err *err)
{
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = hone_calibrate_json(calibrate);
        return hone_print_json(json, err);
    }
    HONE_AUTOFREE char *text = hone_calibrate_text(calibrate);
    return hone_print(text, err);
}

static int store(const struct hone_task_args *args, struct hone_workspace *ws,
                 const struct hone_task *task, const struct hone_calibrate *calibrate,
                 struct hone_pool *pool, struct hone_err *err)
{
    int rc = hone_calibrate_write(task, calibrate, HONE_VERSION, err);
    if (rc < 0)
        return rc;
    hone_say("written to %s/task.json", task->dir);
    if (strchr(args->subject, '/'))
        return 0;
    const char *const paths[] = {hone_pool_printf(pool, "tasks/%s", args->subject)};
    return hone_history_commit_main(hone_workspace_history(ws), paths, 1,
                                    hone_pool_printf(pool, "Calibrate task %s", task->name),
                                    hone_wall_ms() / 1000, err);
}

int hone_task_calibrate_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                             struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    struct hone_calibrate calibrate;
    HONE_AUTOFREE char *dir = NULL;
    int rc = hone_task_dir_of(args, ws, &dir, err);
    if (rc == 0)
        rc = hone_task_load(dir, &task, err);
    if (rc == 0)
        rc = hone_task_select(task, hone_task_target_of(task, args->target), err);
    if (rc == 0 && hone_target_traits(task->target)->has_device)
        rc = hone_fail(err, HONE_E_UNSUPPORTED,
                       "target %s cannot be calibrated yet: write its tolerance into task.json",
                       task->target);
    if (rc == 0)
        rc = measure(args, task, pool, &calibrate, err);
    if (rc == 0)
        rc = print(args, &calibrate, err);
    if (rc < 0)
        return rc;
    if (!calibrate.is_fit) {
        hone_say("task '%s' is refused%s", task->name, args->write ? "; nothing was written" : "");
        return HONE_EXIT_TOOL_ERROR;
    }
    return args->write ? store(args, ws, task, &calibrate, pool, err) : 0;
}
