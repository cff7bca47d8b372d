/* SPDX-License-Identifier: Apache-2.0 */
/* hone task import: a PyTorch module in the form of KernelBench (Model, get_inputs,
 * get_init_inputs) as a task pack.
 *
 * The runner describes the file in its jail (hone-runner --torch); this turns the description into
 * task.json, workloads.jsonl, oracle.py (the file itself behind one line that tells which input is
 * which part of the state) and kernels/naive.c. Nothing of the description is trusted: the pack is
 * loaded as any other afterwards. docs/tasks.md, "torch". */
#ifndef HONE_TOOLS_TORCH_IMPORT_H
#define HONE_TOOLS_TORCH_IMPORT_H

#include "tools/executor.h"

/* HONE_E_ARG with the worker's sentence where the module is refused, HONE_E_UNSUPPORTED without
 * torch. dir must not exist. Blocks up to HONE_LIMIT_TORCH_SECONDS. */
int hone_torch_import(const struct hone_executor *executor, const char *file, const char *name,
                      const char *dir, struct hone_err *err);
/* The task's name for a file: "19_ReLU.py" gives "relu_19"; in the pool. */
const char *hone_torch_name(const char *file, struct hone_pool *pool);

#endif
