/* SPDX-License-Identifier: Apache-2.0 */
/* An imported pack's way into the workspace. */
#include "tools/import/import.h"

#include "tools/task/task_new.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/text.h"
#include "workspace/history.h"

/* It is made in a call folder, so that two imports of one name meet at the rename alone. */
int hone_torch_place(const struct hone_torch_place *what, struct hone_err *err)
{
    HONE_AUTOFREE char *id = NULL;
    HONE_AUTOFREE char *call = NULL;
    HONE_AUTOFREE char *dir =
        hone_path_join(hone_workspace_dir(what->ws), "tasks", what->name, NULL);
    if (!hone_is_safe_name(what->name))
        return hone_fail_at(err, HONE_E_ARG, "name", "'%.60s' is no task name", what->name);
    if (hone_task_is_cuda_word(what->name))
        return hone_fail_at(err, HONE_E_ARG, "name",
                            "'%s' is a function of CUDA's headers: --name gives another name",
                            what->name);
    if (hone_file_exists(dir) && !what->is_forced)
        return hone_fail(err, HONE_E_EXISTS,
                         "task '%s' exists already: --force replaces it, --name gives another name",
                         what->name);
    int rc = hone_workspace_new_call(what->ws, &id, &call, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *part = hone_path_join(call, "pack", NULL);
    HONE_AUTOFREE char *tasks = hone_path_join(hone_workspace_dir(what->ws), "tasks", NULL);
    rc = hone_torch_import(what, part, err);
    if (rc == 0)
        rc = hone_mkdirs(tasks, 0755, err);
    if (rc == 0)
        rc = hone_task_move_pack(part, dir, err);
    hone_remove_tree(call, NULL); /* the first error is the one to tell */
    return rc;
}

int hone_torch_commit(struct hone_workspace *ws, const char *path, const char *message,
                      struct hone_err *err)
{
    const char *paths[] = {path};
    return hone_history_commit_main(hone_workspace_history(ws), paths, 1, message,
                                    hone_wall_ms() / 1000, err);
}
