/* SPDX-License-Identifier: Apache-2.0 */
/* Whole PyTorch models: which modules take the time, one module as a file of its own, a model with
 * exported kernels in the place of modules.
 *
 * A question is a folder that the runner answers in its jail (hone-runner --model): module.py,
 * request.json {"ask", "device", "path", "threads", "rows", "bytes", "tolerance", "swaps": [{"path",
 * "compile"}]}, and swapN/export.py, swapN/kernel.c or swapN/NAME.cu. Nothing of an answer is
 * trusted; no verdict rests on one. */
#ifndef HONE_TOOLS_IMPORT_MODEL_H
#define HONE_TOOLS_IMPORT_MODEL_H

#include "tools/executor.h"

struct hone_model_swap {
    const char *path, *dir; /* "blocks.0.norm", and a folder of hone export */
};

struct hone_model_question {
    const struct hone_executor *executor;
    const char *file; /* with Model (a class or an instance) and get_inputs */
    int64_t threads;
    bool is_on_device; /* rank and check on a GPU; a cut is always made on the CPU */
    /* rank: none of these; cut: path; check: swaps and tolerance */
    const char *path;
    const struct hone_model_swap *swaps;
    size_t n_swaps;
    double tolerance;
};

/* All: HONE_E_ARG with the worker's sentence where it refuses, HONE_E_UNSUPPORTED without torch or
 * where nothing came back. Block up to twice what an import may. *ret is owned.
 *
 * {"forward_ns", "passes", "left_out", "rows": [{"path", "kind", "is_leaf", "shapes", "calls", "ns",
 * "own_share", "share", "ceiling"}]}, by own_share; at most HONE_LIMIT_MODEL_ROWS. */
int hone_model_rank(const struct hone_model_question *q, struct hone_json **ret,
                    struct hone_err *err);
/* The module as the text of a file in KernelBench's form, at the sizes that forward gave it. */
int hone_model_cut(const struct hone_model_question *q, char **ret, struct hone_err *err);
/* {"is_same", "why", "rounds", "largest_absolute", "largest_relative"}, and where is_same
 * "model_ns", "swapped_ns", "calls", and "ratio", "low", "high" of their times. */
int hone_model_check(const struct hone_model_question *q, struct hone_json **ret,
                     struct hone_err *err);

#endif
