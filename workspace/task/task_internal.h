/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this module share; nobody else includes it. */
#ifndef HONE_TASK_TASK_INTERNAL_H
#define HONE_TASK_TASK_INTERNAL_H

#include "workspace/task/expr.h"
#include "workspace/task/task.h"

/* Words by enumerator, NULL behind: for field tables. */
extern const char *const hone_dtype_words[];
extern const char *const hone_role_words[];

/* load.c fills the struct, these check it. All say where: "task.json: inputs.A.role". */
int hone_task_validate_names(const struct hone_task *task, struct hone_err *err);
int hone_task_validate_formulas(const struct hone_task *task, struct hone_err *err);
int hone_task_validate_workloads(struct hone_task *task, struct hone_err *err);
/* Draw ranges of var axes for the workloads that are there: the pack's for this target, or derived
 * from the public sizes. */
void hone_task_draw_ranges(struct hone_task *task, enum hone_task_target target);
/* Member "calibration"; NULL: none. After the tolerances. */
int hone_task_load_calibration(struct hone_task *task, const struct hone_json *json,
                               struct hone_err *err);
/* Member "special_values"; NULL: denormals alone. */
int hone_task_load_special(struct hone_task *task, const struct hone_json *json,
                           struct hone_err *err);
/* workloads.jsonl: one object a line, empty lines are skipped. */
int hone_task_parse_workloads(struct hone_task *task, const char *text, size_t len,
                              struct hone_err *err);

/* err->path = "PREFIX.old path"; returns err->code. err must not be NULL. */
int hone_task_prefix(struct hone_err *err, const char *fmt, ...) HONE_PRINTF(2, 3);
/* The axes as names for a formula; values from the workload (NULL: all 1). */
size_t hone_task_names(const struct hone_task *task, size_t n_axes,
                       const struct hone_workload *workload, struct hone_expr_name *ret);
int hone_task_axis(const struct hone_task *task, const char *name); /* -1: none */

#endif
