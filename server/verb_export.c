/* SPDX-License-Identifier: Apache-2.0 */
/* `hone export`: a version as files in a folder, compiled and tried where they landed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/stop.h"
#include "server/verb.h"
#include "tools/export/export.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct args {
    struct hone_common_args common;
    const char *version, *dir, *form;
    bool no_test, force, allow_wrong, json;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, version, "version", "VERSION",
             "A commit, a branch or a search; a task without one: its baseline.",
             .is_positional = true, .is_required = true),
    HONE_OPT(struct args, dir, "output", "DIR", "Folder for the files; made if missing.",
             .letter = 'o', .fallback = "."),
    HONE_OPT(
        struct args, form, "as", "FORM",
        "c: source and header; cuda: with CMakeLists.txt; diff: a patch against your file; "
        "torch: an operator of PyTorch; kernelbench: ModelNew; flashinfer: Solution and Trace; "
        "huggingface: a folder for kernel-builder.",
        .fallback = "auto", .choices = hone_export_forms),
    HONE_OPT(struct args, no_test, "no-test", NULL, "No test program; nothing is compiled or run."),
    HONE_OPT(struct args, force, "force", NULL, "Overwrite files that are there."),
    HONE_OPT(struct args, allow_wrong, "allow-wrong", NULL,
             "Also a version that was found wrong; its head says so first."),
    HONE_OPTS_COMMON(struct args),
    HONE_OPT_JSON(struct args),
};

static int check_free(const struct args *args, const struct hone_export *export,
                      struct hone_err *err)
{
    for (size_t i = 0; i < export->n_files && !args->force; i++) {
        HONE_AUTOFREE char *path = hone_path_join(args->dir, export->files[i].name, NULL);
        if (hone_file_exists(path))
            return hone_fail(err, HONE_E_EXISTS, "'%s' is there already; --force overwrites it",
                             path);
    }
    return 0;
}

/* Writes the files and reads them back: what is tried is what landed. */
static int land(const struct args *args, struct hone_pool *pool, struct hone_export *export,
                struct hone_err *err)
{
    int rc = check_free(args, export, err);

    if (rc == 0)
        rc = hone_mkdirs(args->dir, 0755, err);
    for (size_t i = 0; i < export->n_files && rc == 0; i++) {
        struct hone_export_file *file = &export->files[i];
        HONE_AUTOFREE char *path = hone_path_join(args->dir, file->name, NULL);
        HONE_AUTOFREE char *dir = hone_strdup(path);
        HONE_AUTOFREE char *text = NULL;
        size_t len;
        *strrchr(dir, '/') = '\0';
        rc = hone_mkdirs(dir, 0755, err);
        if (rc == 0)
            rc = hone_file_write(path, file->text, strlen(file->text), 0644, false, err);
        if (rc == 0)
            rc = hone_file_read(path, HONE_LIMIT_FILE_BYTES, &text, &len, err);
        if (rc == 0)
            file->text = hone_pool_strdup(pool, text);
    }
    return rc;
}

static int print_json(const struct args *args, const struct hone_export *export,
                      struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    struct hone_json *files = hone_json_new_array(), *notes = hone_json_new_array();
    for (size_t i = 0; i < export->n_files; i++) {
        HONE_AUTOFREE char *path = hone_path_join(args->dir, export->files[i].name, NULL);
        hone_json_push(files, hone_json_new_str(path));
    }
    for (size_t i = 0; i < export->notes.n; i++)
        hone_json_push(notes, hone_json_new_str(export->notes.v[i]));
    hone_json_set(json, "files", files);
    hone_json_set_str(json, "compile", export->compile);
    hone_json_set_str(json, "verdict", export->verdict);
    hone_json_set(json, "notes", notes);
    hone_json_set_str(json, "test", export->test);
    hone_json_set_str(json, "said", export->said);
    int rc = hone_print_json(json, err);
    return rc == 0 && strcmp(export->test, "failed") == 0 ? HONE_EXIT_TOOL_ERROR : rc;
}

static int print(const struct args *args, const struct hone_export *export, struct hone_err *err)
{
    if (args->json)
        return print_json(args, export, err);
    for (size_t i = 0; i < export->n_files; i++) {
        HONE_AUTOFREE char *path = hone_path_join(args->dir, export->files[i].name, NULL);
        printf("%s\n", path);
    }
    hone_say("compile  %s", export->compile);
    hone_say("verdict  %s", export->verdict);
    for (size_t i = 0; i < export->notes.n; i++)
        hone_say("note     %s", export->notes.v[i]);
    hone_say("test     %s%s%s", export->test, export->said[0] != '\0' ? ": " : "", export->said);
    int rc = hone_print("", err);
    return rc == 0 && strcmp(export->test, "failed") == 0 ? HONE_EXIT_TOOL_ERROR : rc;
}

static void on_stop(void *arg)
{
    hone_cancel_set(arg);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_runtime_close_ptr) struct hone_runtime *runtime = NULL;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_export_done) struct hone_export export = {.n_files = 0};
    const struct hone_export_options options = {.rev = args->version,
                                                .form = args->form,
                                                .has_no_test = args->no_test,
                                                .allows_wrong = args->allow_wrong};
    struct hone_stop *stop = NULL;
    struct hone_cancel cancel;
    int rc = hone_open_runtime(&args->common, &runtime, err);
    if (rc == 0)
        rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    rc = hone_stop_watch(on_stop, &cancel, &stop, err);
    struct hone_tool_ctx ctx = {
        .app = hone_runtime_app(runtime), .pool = pool, .cancel = &cancel, .caller = "cli"};
    if (rc == 0)
        rc = hone_export_make(&ctx, &options, &export, err);
    if (rc == 0)
        rc = land(args, pool, &export, err);
    if (rc == 0)
        rc = hone_export_try(&ctx, &export, err);
    hone_stop_free(stop);
    hone_cancel_done(&cancel);
    return rc < 0 ? rc : print(args, &export, err);
}

const struct hone_verb hone_verb_export = {
    .name = "export",
    .summary = "Write a version as files that need no hone, with a test.",
    .description =
        "Writes NAME.c and NAME.h (CUDA: NAME.cu, NAME.h, CMakeLists.txt). The first line of the\n"
        "source is the command that compiles it alone; its head has the verdict and the figures.\n"
        "NAME has your own name and parameters where `hone task new` wrapped them. A test program\n"
        "with values of the task's oracle comes along; it is compiled and run, in the jail.\n"
        "Exit status 1: the test failed; the files stay.",
    .example = "hone export search/softmax -o ../mylib",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
