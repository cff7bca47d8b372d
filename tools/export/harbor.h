/* SPDX-License-Identifier: Apache-2.0 */
/* A task as a folder in Harbor's form, for `hone env harbor` (docs/guides/learning.md).
 *
 *   DIR/TASK-TARGET/task.toml          limits; a verifier of its own; what travels to it
 *                   instruction.md     the task's words, signature, sizes, tolerance, how it is judged
 *                   environment/       the agent's image: hone, the task, the baseline to start from
 *                   tests/             the verifier's image: hone, the task, test.sh
 *                   solution/          a source that was found right, else the baseline
 *
 * Nothing is run and nothing of DIR but that folder is touched. */
#ifndef HONE_TOOLS_HARBOR_H
#define HONE_TOOLS_HARBOR_H

#include "tools/tool.h"

struct hone_harbor_options {
    const char *dir;
    const char *target; /* "cpu", "cuda" */
    const char *bundle; /* the archive that `make bundle` writes */
    const char *base;   /* image to begin with; NULL: the target's own */
    const char *tier;   /* of the judge's look */
    bool force;         /* over a folder that is there */
};

/* *ret_dir, the folder, is in ctx->pool. HONE_E_NOT_FOUND (task, bundle), HONE_E_EXISTS, HONE_E_ARG (the
 * task has no kernel for the target; the target has no image of its own and none was named). */
int hone_harbor_write(struct hone_tool_ctx *ctx, const char *task,
                      const struct hone_harbor_options *options, const char **ret_dir,
                      struct hone_err *err);

#endif
