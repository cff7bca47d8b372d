/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the verb `task` share. */
#ifndef HONE_SERVER_VERB_TASK_H
#define HONE_SERVER_VERB_TASK_H

#include "server/verb.h"
#include "tools/task/lint.h"

struct hone_task_args {
    struct hone_common_args common;
    const char *action, *subject, *function, *name, *op_type, *description, *target;
    struct hone_strs shapes, roles, scales, shifts, sizes, scalars, includes, inouts, outs,
        constraints, tolerances;
    const char *flops, *bytes, *grid, *block, *instance, *reference, *from_model, *format;
    bool force, no_lint;
    bool is_static, json, write;
    double margin;
    int64_t time_ms;
};

/* The pack's folder: args->subject is a task of the workspace, or a path; owned. */
int hone_task_dir_of(const struct hone_task_args *args, const struct hone_workspace *ws, char **ret,
                     struct hone_err *err);
/* scope: of hone_lint_options; NULL: the whole lint. */
int hone_task_run_lint(const struct hone_task_args *args, const char *dir,
                       const struct hone_lint_scope *scope, struct hone_pool *pool,
                       struct hone_lint *ret, struct hone_err *err);
/* Its exit status: 0 admitted. */
int hone_task_print_lint(const struct hone_task_args *args, const struct hone_lint *lint,
                         struct hone_err *err);
/* Keeps whether a lint that ran admitted the task, by its hash; for searches. */
void hone_task_note_lint(struct hone_workspace *ws, const struct hone_lint *lint);
/* Why a search of it should be warned of; in the pool, NULL: nothing is known against it. */
const char *hone_task_lint_warning(struct hone_workspace *ws, const char *name,
                                   struct hone_pool *pool);
/* `new` and `remove` (verb_task_new.c). */
int hone_task_new_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                       struct hone_err *err);
int hone_task_remove_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                          struct hone_err *err);
/* `import` (verb_task_import.c). */
int hone_task_import_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                          struct hone_err *err);
int hone_task_calibrate_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                             struct hone_err *err);

#endif
