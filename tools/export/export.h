/* SPDX-License-Identifier: Apache-2.0 */
/* A version as files that need no hone.
 *
 *   form c      NAME.c (compiles alone with the first line of its head), NAME.h
 *   form cuda   NAME.cu, NAME.h, CMakeLists.txt
 *   form diff   NAME.patch against the user's own file, or the baseline's; NAME.h
 *   form torch  NAME.c (.cu), NAME.h, NAME_torch.py: an operator of PyTorch that builds itself,
 *               test_NAME_torch.py, reference.py where the task was imported
 *   form kernelbench
 *               NAME_model.py: ModelNew, of tasks that were imported
 *   form flashinfer
 *               NAME_hone_COMMIT.json: a Solution of FlashInfer-Bench; its Trace, where it was measured
 *   form huggingface
 *               build.toml, flake.nix, torch-ext/, NAME/: a folder for kernel-builder
 *
 * With a test: NAME_test.c (.cu), a program that calls the function on small inputs made by a fixed
 * formula and compares with what the pack's oracle said at export time, within the task's
 * tolerance.
 *
 * Calling sequence:
 *
 *     hone_export_make(ctx, &options, &export, err);    runs the oracle in the jail
 *     write export.files somewhere
 *     hone_export_try(ctx, &export, err);               compiles and runs the test in the jail
 *
 * Strings live in ctx->pool. Blocks for some seconds. */
#ifndef HONE_TOOLS_EXPORT_H
#define HONE_TOOLS_EXPORT_H

#include "tools/tool.h"

extern const char *const hone_export_forms[]; /* "auto", "c", "cuda"..., NULL */

struct hone_export_options {
    const char *rev;   /* version, branch, search, or a task without a version: its baseline */
    const char *form;  /* of hone_export_forms; NULL: auto, by target */
    bool has_no_test;  /* no test program, and nothing is run */
    bool allows_wrong; /* also a version that was found wrong; head and notes say so first */
};

struct hone_export_file {
    const char *name, *text; /* a name may have folders in front */
};
#define HONE_EXPORT_FILES 8

struct hone_export {
    const char *name;          /* of the function and the files */
    const char *task, *target; /* "cpu" */
    const char *form;          /* "c", "cuda", "diff", "torch", "kernelbench"... */
    const char *commit;        /* NULL: the task's baseline, which nobody measured */
    const char *compile;       /* the line that compiles it */
    const char *verdict;       /* the report's own words, or that there is none */
    const char *source;        /* text of NAME.c or NAME.cu, in every form */
    struct hone_strs flags;    /* compiler options of the version */
    struct hone_strs notes;    /* what a reader should know, one sentence each */
    struct hone_export_file files[HONE_EXPORT_FILES];
    size_t n_files;
    const char *test;       /* "passed", "failed", "not run" */
    const char *said;       /* by the test, or why it was not run */
    struct hone_task *pack; /* owned: hone_export_done */
};
void hone_export_done(struct hone_export *export);

/* HONE_E_NOT_FOUND (rev), HONE_E_ARG (form; it was found wrong), HONE_E_TARGET (the oracle failed), HONE_E_UNSUPPORTED
 * (no executor, and a test is wanted). */
int hone_export_make(struct hone_tool_ctx *ctx, const struct hone_export_options *options,
                     struct hone_export *ret, struct hone_err *err);
/* Fills test and said. A test that fails is no error. Call it once, when files has the texts as they
 * were written. */
int hone_export_try(struct hone_tool_ctx *ctx, struct hone_export *export, struct hone_err *err);

#endif
