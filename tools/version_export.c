/* SPDX-License-Identifier: Apache-2.0 */
/* version_export: a version as files that need no hone, as text. */
#include <string.h>

#include "tools/export/export.h"
#include "tools/tools.h"
#include "workspace/base/limits.h"

struct export_in {
    const char *version, *form;
    bool no_test, allow_wrong;
};

struct export_out {
    struct hone_head head;
    const char *name, *task, *target, *form, *compile, *test, *said;
    struct hone_array files; /* of struct hone_export_file */
    struct hone_strs notes;
};

static const struct hone_field in_fields[] = {
    HONE_FIELD(struct export_in, version, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Commit, branch or search; a task that has none: its baseline."),
    HONE_FIELD(struct export_in, form, .fallback_str = "auto", .choices = hone_export_forms,
               .help =
                   "c, cuda; diff: a patch against the original; torch: an operator; kernelbench: "
                   "ModelNew; auto: by target."),
    HONE_FIELD(struct export_in, no_test, .help = "No test program, and nothing is run."),
    HONE_FIELD(struct export_in, allow_wrong, .help = "Also a version that was found wrong."),
};

static const struct hone_field file_fields[] = {
    HONE_FIELD(struct hone_export_file, name, .required = true, .help = "File name."),
    HONE_FIELD(struct hone_export_file, text, .required = true, .help = "The whole file."),
};

#define OUT(m_, ...) HONE_FIELD(struct export_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct export_out),
    OUT(name, .help = "Of the function and the files."),
    OUT(task, .help = "Task."),
    OUT(target, .help = "Target."),
    OUT(form, .help = "Form."),
    OUT(compile, .help = "The line that compiles the source."),
    OUT(test, .help = "passed, failed, not run."),
    OUT(said, .help = "By the test, or why it was not run."),
    OUT(notes, .help = "Things to know."),
    OUT(files, HONE_OF(struct hone_export_file, file_fields), .help = "The files."),
};

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    HONE_CLEANUP(hone_export_done) struct hone_export export = {.n_files = 0};
    const struct export_in *in = arguments;
    struct export_out *out = result;
    const struct hone_export_options options = {.rev = in->version,
                                                .form = in->form,
                                                .has_no_test = in->no_test,
                                                .allows_wrong = in->allow_wrong};
    int rc = hone_export_make(ctx, &options, &export, err);

    if (rc == 0)
        rc = hone_export_try(ctx, &export, err);
    if (rc < 0)
        return rc;
    struct hone_export_file *files = hone_pool_alloc(ctx->pool, sizeof(export.files));
    memcpy(files, export.files, sizeof(export.files));
    bool has_failed = strcmp(export.test, "failed") == 0;
    *out = (struct export_out){
        .head = {.status = has_failed ? "error" : "ok",
                 .error_class = has_failed ? "mismatch" : NULL,
                 .summary = hone_pool_printf(ctx->pool, "%s of task %s, test %s: %s", export.name,
                                             export.task, export.test, export.verdict),
                 .next = has_failed ? "Read `said`; the files are as they failed."
                                    : "Write the files; the first line of the source compiles it.",
                 .commit = export.commit},
        .name = export.name,
        .task = export.task,
        .target = export.target,
        .form = export.form,
        .compile = export.compile,
        .test = export.test,
        .said = export.said,
        .files = {.v = files, .n = export.n_files},
        .notes = export.notes,
    };
    return 0;
}

const struct hone_tool hone_tool_version_export = {
    .name = "version_export",
    .title = "Take a version home",
    .summary = "A version as files that need no hone: source, header, test program.",
    .description = "Files that compile without hone: tunables fixed, your parameters, "
                   "figures in the head, a test that runs here (cuda: not). "
                   "Writes no file. 1 to 3 s.",
    .flags = HONE_TOOL_NEEDS_DEVICE,
    HONE_TOOL_TABLES(struct export_in, struct export_out),
    .run = run,
};
