/* SPDX-License-Identifier: Apache-2.0 */
/* A pack that lies elsewhere becomes a task of the workspace: copied beside, checked again, renamed
 * into tasks/, committed on main. Killed in between it is done again by the next try. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"
#include "workspace/workspace_internal.h"

#define LOCK_MS 10000

static bool is_same_folder(const char *a, const char *b)
{
    HONE_AUTOFREE char *x = realpath(a, NULL);
    HONE_AUTOFREE char *y = realpath(b, NULL);
    return x && y && strcmp(x, y) == 0;
}

/* Is what stands there this very pack? */
static int compare(const char *dir, const struct hone_task *task, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *there = NULL;
    if (hone_task_load(dir, &there, NULL) == 0 && strcmp(there->hash, task->hash) == 0)
        return 0;
    return hone_fail_at(err, HONE_E_EXISTS, "task",
                        "the workspace has another task '%.64s'; search that one by its name, or "
                        "give one of the two another name (folder and task.json), or take another "
                        "workspace (--workspace)",
                        task->name);
}

/* So that nobody ever sees half of it under its name. */
static int copy(const char *from, const char *beside, const char *to, const struct hone_task *task,
                struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *copied = NULL;
    int rc = hone_remove_tree(beside, err);
    if (rc == 0)
        rc = hone_copy_tree(from, beside, HONE_LIMIT_PACK_FILES, err);
    if (rc == 0)
        rc = hone_task_load(beside, &copied, err);
    if (rc == 0 && strcmp(copied->hash, task->hash) != 0)
        rc = hone_fail(err, HONE_E_BUSY, "'%.200s' changed while it was copied; try again", from);
    if (rc == 0 && rename(beside, to) != 0)
        rc = hone_fail_errno(err, errno, "cannot make '%.200s'", to);
    if (rc < 0)
        hone_remove_tree(beside, NULL);
    return rc;
}

static int take_in(struct hone_workspace *ws, const char *dir, const struct hone_task *task,
                   const char *to, struct hone_err *err)
{
    HONE_AUTOFREE char *lock_path = hone_workspace_path(ws, "adopt.lock");
    HONE_AUTOFREE char *beside = hone_workspace_path(ws, "adopt");
    HONE_AUTOCLOSE int lock = -1;
    int rc = hone_lock_file(lock_path, hone_deadline_in_ms(LOCK_MS), &lock, err);
    if (rc == 0)
        rc = hone_file_exists(to) ? compare(to, task, err) : copy(dir, beside, to, task, err);
    return rc;
}

int hone_workspace_place(struct hone_workspace *ws, const char *dir, struct hone_pool *pool,
                         const char **ret_name, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if (!hone_file_exists(dir))
        return hone_fail_at(err, HONE_E_NOT_FOUND, "task", "there is no folder '%.200s'", dir);
    int rc = hone_task_load(dir, &task, err);
    if (rc < 0)
        return hone_wrap(err, "pack '%.200s'", dir);
    if (!hone_is_safe_name(task->name))
        return hone_fail_at(err, HONE_E_ARG, "task", "'%.64s' is no task name", task->name);
    HONE_AUTOFREE char *to = hone_path_join(hone_workspace_dir(ws), "tasks", task->name, NULL);
    if (!is_same_folder(dir, to))
        rc = take_in(ws, dir, task, to, err);
    if (rc == 0)
        *ret_name = hone_pool_strdup(pool, task->name);
    return rc < 0 ? hone_wrap(err, "pack '%.200s'", dir) : 0;
}

int hone_workspace_adopt(struct hone_workspace *ws, const char *dir, struct hone_pool *pool,
                         const char **ret_name, struct hone_err *err)
{
    int rc = hone_workspace_place(ws, dir, pool, ret_name, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *path = hone_sprintf("tasks/%s", *ret_name);
    HONE_AUTOFREE char *subject = hone_sprintf("Add task %s", *ret_name);
    const char *const paths[] = {path};
    return hone_history_commit_main(hone_workspace_history(ws), paths, 1, subject,
                                    hone_wall_ms() / 1000, err);
}
