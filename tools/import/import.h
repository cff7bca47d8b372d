/* SPDX-License-Identifier: Apache-2.0 */
/* hone task import: a PyTorch module in the form of KernelBench (Model, get_inputs,
 * get_init_inputs) as a task pack.
 *
 * The runner describes the file in its jail (hone-runner --torch); this turns the description into
 * task.json, workloads.jsonl, oracle.py (the file itself behind one line that tells which input is
 * which part of the state), kernels/naive.c and kernels/naive.cu. Nothing of the description is trusted: the pack is
 * loaded as any other afterwards. docs/tasks.md, "torch". */
#ifndef HONE_TOOLS_IMPORT_IMPORT_H
#define HONE_TOOLS_IMPORT_IMPORT_H

#include "tools/executor.h"
#include "tools/import/form.h"
#include "workspace/workspace.h"

struct hone_torch_place {
    struct hone_workspace *ws;
    const struct hone_executor *executor;
    const struct hone_form *form; /* NULL: by content, else a module in KernelBench's form */
    const char *file, *name;
    bool is_forced;
};
/* What the executor said of a module or a model: 0, or HONE_E_UNSUPPORTED with its "error",
 * HONE_E_ARG with its "refused". */
int hone_torch_check_said(const struct hone_json *said, struct hone_err *err);
/* HONE_E_ARG with the worker's sentence where the module is refused, HONE_E_UNSUPPORTED without
 * torch. dir must not exist. Blocks up to HONE_LIMIT_TORCH_PATIENCE * HONE_LIMIT_TORCH_SECONDS. */
int hone_torch_import(const struct hone_torch_place *what, const char *dir, struct hone_err *err);
/* The same into the workspace: tasks/NAME, not committed. What is refused leaves nothing.
 * HONE_E_ARG (name), HONE_E_EXISTS (is_forced replaces). */
int hone_torch_place(const struct hone_torch_place *what, struct hone_err *err);
/* Commits what was placed: paths below the workspace. */
int hone_torch_commit(struct hone_workspace *ws, const char *path, const char *message,
                      struct hone_err *err);
/* The task's name for a file: "19_ReLU.py" gives "relu_19", "relu/definition.json" gives "relu";
 * in the pool. */
const char *hone_torch_name(const char *file, struct hone_pool *pool);

#endif
