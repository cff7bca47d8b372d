/* SPDX-License-Identifier: Apache-2.0 */
/* From a version to files: what it is and how it was measured is read, the source made plain
 * (source.c), the head written (head.c), the oracle asked for a few values (test.c).
 *
 * Foreign code runs as everywhere: as a job, in the jail. Stage program builds and runs one C
 * program; the oracle with its main is one, the test with the exported files another. */
#include "tools/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "tools/best_measurement.h"
#include "tools/evaluate_text.h"
#include "tools/export/export_internal.h"
#include "tools/format/options.h"
#include "workspace/base/diff.h"
#include "workspace/base/file.h"
#include "workspace/base/text.h"
#include "workspace/workspace.h"

#define CALL_TIMEOUT_MS 20000
#define JOB_TIMEOUT_MS  120000
#define SAID_BYTES      600

enum form {
    FORM_AUTO,
    FORM_C,
    FORM_CUDA,
    FORM_DIFF,
    FORM_TORCH,
    FORM_KERNELBENCH,
    FORM_FLASHINFER,
    FORM_HUGGINGFACE,
    N_FORMS
};
const char *const hone_export_forms[] = {[FORM_AUTO] = "auto",
                                         [FORM_C] = "c",
                                         [FORM_CUDA] = "cuda",
                                         [FORM_DIFF] = "diff",
                                         [FORM_TORCH] = "torch",
                                         [FORM_KERNELBENCH] = "kernelbench",
                                         [FORM_FLASHINFER] = "flashinfer",
                                         [FORM_HUGGINGFACE] = "huggingface",
                                         [N_FORMS] = NULL};
static const struct {
    bool is_for_cpu, is_for_cuda;
    bool is_task_order;    /* with the task's parameters */
    bool has_header;       /* source and header, and the test in C */
    bool is_for_builder;   /* of somebody else: no test of ours */
    const char *how_tried; /* where nothing is run here; NULL: by target */
} forms[N_FORMS] = {
    [FORM_C] = {true, false, false, true, false, NULL},
    [FORM_CUDA] = {false, true, false, true, false, NULL},
    [FORM_DIFF] = {true, true, false, true, false, NULL},
    [FORM_TORCH] = {true, true, true, true, false,
                    "python3 test_NAME_torch.py tries it where torch is"},
    [FORM_KERNELBENCH] = {true, true, true, false, false,
                          "python3 NAME_model.py compares it with Model where torch is"},
    [FORM_FLASHINFER] = {true, true, true, true, true, "flashinfer-bench run tries it"},
    [FORM_HUGGINGFACE] = {true, true, true, true, true, "nix build tries it"},
};

static enum form form_of(const char *name)
{
    enum form form = FORM_AUTO;

    while (form < N_FORMS && strcmp(hone_export_forms[form], name) != 0)
        form++;
    return form;
}

void hone_export_done(struct hone_export *export)
{
    hone_task_free(export->pack);
    export->pack = NULL;
}

/* ---- what is exported ---- */

static int load_pack(struct hone_export_work *work, const char *task, const char *target,
                     struct hone_export *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *naive = NULL;
    int rc = hone_workspace_task(work->ctx->app->ws, task, &ret->pack, err);

    if (rc == 0)
        rc = hone_task_select(ret->pack, target, err);
    if (rc == 0)
        rc = hone_task_naive(ret->pack, target, &naive, err);
    if (rc < 0)
        return rc;
    work->task = ret->pack;
    work->target = hone_target_traits(target)->name;
    work->is_cuda = hone_target_traits(target)->has_device;
    work->naive = hone_pool_strdup(work->pool, naive);
    return 0;
}

static int read_version(struct hone_export_work *work, const char *commit, struct hone_export *ret,
                        struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(work->ctx->app->ws);
    struct hone_best_measurement measured;
    struct hone_report *report = hone_pool_alloc(work->pool, sizeof(*report));
    struct hone_version *version = hone_pool_alloc(work->pool, sizeof(*version));
    int rc = hone_history_read(history, commit, work->pool, version, err);

    version->commit = hone_pool_strdup(work->pool, commit);
    if (rc == 0)
        rc = load_pack(work, version->task, version->target, ret, err);
    if (rc == 0)
        rc = hone_best_measurement_read(history, version, work->pool, &measured, err);
    if (rc < 0)
        return rc;
    const char *tunables = hone_trailer_get(version, "Tunables");
    const char *hash = hone_trailer_get(version, "Task-hash");
    work->commit = version->commit;
    work->source = version->source;
    work->flags = hone_flags_parse(hone_trailer_get(version, "Flags"), work->pool);
    if (hone_best_report_read(history, version, work->pool, report))
        work->report = report;
    work->contradiction = measured.contradiction;
    work->refutation = measured.refutation;
    if (work->refutation != NULL)
        hone_export_note(
            work, hone_pool_printf(work->pool, "WRONG: this version was %s", work->refutation));
    work->measured_s = measured.best.time_s;
    if (hash != NULL && strcmp(hash, ret->pack->hash) != 0)
        hone_export_note(work, "the task was changed since this version was measured");
    return tunables != NULL ? hone_tunables_parse(tunables, work->pool, &work->tunables, err) : 0;
}

/* A search that has no version. Searches have their task's name unless they were given another. */
static int no_winner(const struct hone_export_work *work, const char *name, struct hone_err *err)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if (hone_is_safe_name(name) && hone_workspace_task(work->ctx->app->ws, name, &task, NULL) == 0)
        return hone_fail(err, HONE_E_NOT_FOUND,
                         "nothing beat the baseline of '%s' in a search of that name: `hone export "
                         "%s` gives the baseline in the task's form. A larger budget may find more",
                         name, name);
    return hone_fail(err, HONE_E_NOT_FOUND,
                     "'search/%.80s' has no version: its search found nothing faster than the "
                     "baseline, or there is none of that name. Search again with a larger "
                     "budget, or export the task for its baseline; hone log lists versions",
                     name);
}

/* A version, or a task without one: then its baseline. */
static int find(struct hone_export_work *work, const char *rev, struct hone_export *ret,
                struct hone_err *err)
{
    struct hone_history *history = hone_workspace_history(work->ctx->app->ws);
    static const char front[] = "search/";
    char commit[HONE_COMMIT_BYTES];
    int rc = hone_history_resolve(history, rev, commit, err);

    if (rc == 0)
        return read_version(work, commit, ret, err);
    if (rc == HONE_E_NOT_FOUND && strncmp(rev, front, strlen(front)) == 0)
        return no_winner(work, rev + strlen(front), err);
    if (rc != HONE_E_NOT_FOUND || !hone_is_safe_name(rev))
        return rc;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if (hone_workspace_task(work->ctx->app->ws, rev, &task, NULL) < 0)
        return rc;
    bool has_c = hone_task_has_kernel(task, HONE_TASK_CPU);
    rc = load_pack(work, rev, has_c ? "cpu" : "cuda", ret, err);
    work->source = work->naive;
    return rc;
}

/* ---- jobs ---- */

static int put(const char *dir, const char *name, const char *text, struct hone_err *err)
{
    HONE_AUTOFREE char *path = hone_path_join(dir, name, NULL);

    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

/* Builds and runs one program in the jail: files, the first of which gets the flags. */
static int run_program(struct hone_tool_ctx *ctx, const struct hone_task *task,
                       const struct hone_export_file *files, size_t n_files,
                       const struct hone_strs *flags, struct hone_report *ret, struct hone_err *err)
{
    static const char *const names[] = {"candidate", "second", "third", "fourth"};
    const struct hone_executor *executor = ctx->app->executor;
    const char *stages[] = {"program"};
    struct hone_arm arms[HONE_LIMIT_ARMS] = {{.name = NULL}};
    HONE_AUTOFREE char *id = NULL;
    HONE_AUTOFREE char *dir = NULL;

    if (executor == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "nothing can be run here: export without a test");
    int rc = hone_workspace_new_call(ctx->app->ws, &id, &dir, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *open_dir = hone_path_join(dir, "open", NULL);
    for (size_t i = 0; i < n_files && rc == 0; i++) {
        arms[i] = (struct hone_arm){.name = names[i], .source = files[i].name};
        rc = put(open_dir, files[i].name, files[i].text, err);
    }
    arms[0].flags = *flags;
    const struct hone_job job = {
        .format = HONE_JOB_FORMAT,
        .id = hone_pool_strdup(ctx->pool, id),
        .target = hone_task_has_kernel(task, HONE_TASK_CPU) ? "cpu" : "cuda",
        .tier = HONE_TIER_SCREEN,
        .stages = {stages, 1},
        .task_dir = task->dir,
        .task_hash = task->hash,
        .arms = {arms, n_files},
        .timeout_ms = JOB_TIMEOUT_MS,
        .call_timeout_ms = CALL_TIMEOUT_MS,
        .jail = "auto",
        .allow_weak_jail = ctx->app->allow_weak_jail,
    };
    HONE_AUTOFREE char *text = hone_job_print(&job);
    if (rc == 0)
        rc = put(dir, "job.json", text, err);
    return rc < 0 ? rc
                  : executor->run(executor->cookie, dir, &job, NULL, NULL, ctx->cancel, ctx->pool,
                                  ret, err);
}

static const char *failure_of(const struct hone_report *report, struct hone_pool *pool)
{
    const char *output = report->output != NULL ? report->output : "";
    const char *said = hone_report_failure(report, pool);

    return hone_pool_printf(pool, "%s%s%s", said != NULL ? said : "it printed nothing of use",
                            output[0] != '\0' ? "; it printed: " : "",
                            hone_plain_line(pool, output, SAID_BYTES));
}

static int ask_oracle(struct hone_export_work *work, struct hone_export_cases *cases,
                      struct hone_err *err)
{
    static const struct hone_strs no_flags = {.n = 0};
    HONE_AUTOFREE char *preamble = hone_task_oracle_preamble(work->task);
    HONE_AUTOFREE char *oracle = NULL;
    struct hone_report report;
    int rc = hone_export_cases(work, cases, err);

    if (rc == 0)
        rc = hone_task_oracle_source(work->task, &oracle, err);
    if (rc < 0)
        return rc;
    const struct hone_export_file files[] = {
        {"oracle.c", hone_pool_printf(work->pool, "%s%s", preamble, oracle)},
        {"oracle_main.c", hone_export_oracle_main(work, cases)}};
    rc = run_program(work->ctx, work->task, files, HONE_COUNTOF(files), &no_flags, &report, err);
    if (rc < 0)
        return rc;
    if (report.output == NULL || report.reason != HONE_REASON_BUILT)
        return hone_fail(err, HONE_E_TARGET, "the oracle of task '%s' did not answer: %.300s",
                         work->task->name, failure_of(&report, work->pool));
    return hone_export_read_values(work, report.output, cases, err);
}

/* ---- files ---- */

const char *hone_export_arch(const struct hone_export_work *work)
{
    static const char option[] = "--gpu-architecture=";
    const struct hone_build_report *build = work->report != NULL ? work->report->build : NULL;
    const char *command = build != NULL ? build->command : NULL;
    const char *arch = command != NULL ? strstr(command, option) : NULL;
    size_t len = arch != NULL ? strspn(arch + sizeof option - 1, "abcdefmstux_0123456789") : 0;

    return len > 3 && strncmp(arch + sizeof option - 1, "sm_", 3) == 0
               ? hone_pool_printf(work->pool, "%.*s", (int)len, arch + sizeof option - 1)
               : "native";
}

/* Compiler and options; arch: of a device, "native" or "sm_90a". */
static const char *compile_words(const struct hone_export_work *work, const char *arch)
{
    const struct hone_build_report *build = work->report != NULL ? work->report->build : NULL;
    bool is_clang =
        build != NULL && build->compiler != NULL && strncmp(build->compiler, "clang", 5) == 0;
    const char *text = work->is_cuda
                           ? hone_pool_printf(work->pool, "nvcc -std=c++17 -O3 -arch=%s", arch)
                       : is_clang ? "clang"
                                  : "gcc";

    for (const char *const *o = hone_options_of_objects(); *o != NULL && !work->is_cuda; o++)
        text = hone_pool_printf(work->pool, "%s %s", text, *o);
    for (size_t i = 0; i < work->flags.n; i++)
        text = hone_pool_printf(work->pool, "%s %s", text, work->flags.v[i]);
    return text;
}

static const char *header_text(const struct hone_export_work *work,
                               const struct hone_export_function *function)
{
    char *guard = hone_pool_printf(work->pool, "%s_H", function->name);

    for (char *c = guard; *c != '\0'; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    if (work->is_cuda)
        return hone_pool_printf(work->pool,
                                "#ifndef %s\n#define %s\n\n#include <cuda_bf16.h>\n"
                                "#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n"
                                "#include <stdint.h>\n\n%s;\n\n#endif\n",
                                guard, guard, function->declaration);
    return hone_pool_printf(work->pool,
                            "#ifndef %s\n#define %s\n\n#include <stdbool.h>\n#include <stddef.h>\n"
                            "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
                            "%s;\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
                            guard, guard, function->declaration);
}

static const char *cmake_text(const struct hone_export_work *work, const char *name, bool has_test)
{
    const char *flags = "", *arch = hone_export_arch(work);

    for (size_t i = 0; i < work->flags.n; i++)
        flags = hone_pool_printf(work->pool, "%s %s", flags, work->flags.v[i]);
    const char *library = hone_pool_printf(
        work->pool,
        "cmake_minimum_required(VERSION 3.24)\nproject(%s LANGUAGES CXX CUDA)\n"
        "if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n    set(CMAKE_CUDA_ARCHITECTURES %s)\n"
        "endif()\nadd_library(%s STATIC %s.cu)\ntarget_compile_features(%s PUBLIC cuda_std_17)\n"
        "target_compile_options(%s PRIVATE -O3%s)\n",
        name, strncmp(arch, "sm_", 3) == 0 ? arch + 3 : arch, name, name, name, name, flags);
    if (!has_test)
        return library;
    return hone_pool_printf(work->pool,
                            "%s\nenable_testing()\nadd_executable(%s_test %s_test.cu)\n"
                            "target_link_libraries(%s_test PRIVATE %s)\n"
                            "add_test(NAME %s COMMAND %s_test)\n",
                            library, name, name, name, name, name, name);
}

void hone_export_add(struct hone_export *export, const char *name, const char *text)
{
    export->files[export->n_files++] = (struct hone_export_file){.name = name, .text = text};
}

static int add_source(struct hone_export_work *work, const struct hone_export_function *function,
                      const struct hone_export_cases *cases, struct hone_export *ret,
                      struct hone_err *err)
{
    struct hone_pool *pool = work->pool;
    const char *name = function->name, *patch = NULL;
    const char *end = work->is_cuda ? "cu" : "c";

    if (form_of(ret->form) == FORM_DIFF) {
        const char *file = hone_pool_printf(pool, "%s.%s", name, end);
        const struct hone_diff_side before = {hone_pool_printf(pool, "a/%s", file), function->own};
        const struct hone_diff_side after = {hone_pool_printf(pool, "b/%s", file), ret->source};
        int rc = hone_line_diff(&before, &after, pool, &patch, err);
        if (rc < 0)
            return rc;
        hone_export_add(ret, hone_pool_printf(pool, "%s.patch", name), patch);
    } else {
        hone_export_add(ret, hone_pool_printf(pool, "%s.%s", name, end), ret->source);
    }
    hone_export_add(ret, hone_pool_printf(pool, "%s.h", name), header_text(work, function));
    if (cases != NULL && !work->task->is_oracle_torch)
        hone_export_add(ret, hone_pool_printf(pool, "%s_test.%s", name, end),
                        hone_export_test(work, function, cases));
    if (form_of(ret->form) == FORM_CUDA)
        hone_export_add(ret, "CMakeLists.txt", cmake_text(work, name, cases != NULL));
    return 0;
}

static int make_files(struct hone_export_work *work, const struct hone_export_function *function,
                      const struct hone_export_cases *cases, struct hone_export *ret,
                      struct hone_err *err)
{
    struct hone_pool *pool = work->pool;
    enum form form = form_of(ret->form);
    /* built where it is first needed, on whatever device is there */
    const char *shared = hone_pool_printf(pool, "%s -shared %s", compile_words(work, "native"),
                                          work->is_cuda ? "-Xcompiler -fPIC" : "-fPIC");
    int rc = 0;

    const char *body = hone_export_quiet(work, function->body); /* its note is for the head */
    ret->notes = (struct hone_strs){.v = work->notes, .n = work->n_notes};
    ret->source = hone_pool_printf(
        pool, "%s%s\n%s", hone_export_head(work, function, ret->compile),
        function->is_users ? "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
                           : "",
        body);
    if (forms[form].has_header)
        rc = add_source(work, function, cases, ret, err);
    if (rc == 0 && form == FORM_TORCH)
        rc = hone_export_torch(work, cases, shared, ret, err);
    if (rc == 0 && form == FORM_KERNELBENCH)
        rc = hone_export_kernelbench(work, shared, ret, err);
    if (rc == 0 && form == FORM_FLASHINFER)
        rc = hone_export_flashinfer(work, ret, err);
    if (rc == 0 && form == FORM_HUGGINGFACE)
        rc = hone_export_huggingface(work, ret, err);
    return rc;
}

static int choose_form(struct hone_export_work *work, const char *name, struct hone_export *ret,
                       struct hone_err *err)
{
    enum form natural = work->is_cuda ? FORM_CUDA : FORM_C;
    enum form form = name != NULL ? form_of(name) : FORM_AUTO;

    form = form == FORM_AUTO ? natural : form;
    if (form == N_FORMS || !(work->is_cuda ? forms[form].is_for_cuda : forms[form].is_for_cpu))
        return hone_fail_at(err, HONE_E_ARG, "form",
                            "a version for target %s is exported as %s, diff, torch, "
                            "kernelbench, flashinfer or huggingface, not as %.20s",
                            work->target, hone_export_forms[natural], name);
    ret->form = hone_export_forms[form];
    work->is_task_order = forms[form].is_task_order;
    return 0;
}

/* The sizes of the tests, and what the reference says of them where it is C. */
static int find_cases(struct hone_export_work *work, struct hone_export_cases *ret,
                      struct hone_err *err)
{
    *ret = (struct hone_export_cases){.n = 0};
    if (!work->task->is_oracle_torch)
        return ask_oracle(work, ret, err);
    return hone_export_cases(work, ret, err);
}

/* A wrong version leaves only when it is asked for by that name, and its files say so first. */
static int check_right(const struct hone_export_work *work,
                       const struct hone_export_options *options, struct hone_err *err)
{
    if (work->refutation == NULL || options->allows_wrong)
        return 0;
    return hone_fail_at(err, HONE_E_ARG, "version",
                        "%.12s was %s; allow_wrong (--allow-wrong) exports it with that warning",
                        work->commit, work->refutation);
}

static int make(struct hone_export_work *work, const struct hone_export_options *options,
                struct hone_export *ret, struct hone_err *err)
{
    struct hone_export_function function;
    struct hone_export_cases cases;
    int rc = find(work, options->rev, ret, err);

    if (rc == 0)
        rc = check_right(work, options, err);
    if (rc == 0)
        rc = choose_form(work, options->form, ret, err);
    if (rc == 0)
        rc = hone_export_function(work, &function, err);
    enum form form = rc < 0 ? FORM_C : form_of(ret->form);
    bool has_test = !options->has_no_test && forms[form].has_header && !forms[form].is_for_builder;
    if (rc == 0 && has_test)
        rc = find_cases(work, &cases, err);
    if (rc < 0)
        return rc;
    const char *arch = hone_export_arch(work);
    /* the pack goes before what a tool answers is printed */
    ret->name = hone_pool_strdup(work->pool, function.name);
    ret->task = hone_pool_strdup(work->pool, work->task->name);
    ret->target = hone_pool_strdup(work->pool, work->target);
    ret->commit = work->commit;
    ret->compile = hone_pool_printf(work->pool, "%s -c %s.%s", compile_words(work, arch),
                                    function.name, work->is_cuda ? "cu" : "c");
    if (work->is_cuda && strcmp(arch, "native") != 0)
        hone_export_note(work, hone_pool_printf(work->pool,
                                                "compiled for %s, as it was measured; on another "
                                                "device: -arch=native",
                                                arch));
    ret->flags = work->flags;
    ret->verdict = work->report != NULL ? hone_evaluation_summary(work->report, work->pool)
                                        : "none: this version was not measured";
    ret->notes = (struct hone_strs){.v = work->notes, .n = work->n_notes};
    ret->test = "not run";
    ret->said = options->has_no_test ? "no test was wanted" : "";
    if (!options->has_no_test && forms[form].how_tried != NULL &&
        (work->task->is_oracle_torch || work->is_cuda || forms[form].is_for_builder))
        ret->said = forms[form].how_tried;
    return make_files(work, &function, has_test ? &cases : NULL, ret, err);
}

int hone_export_make(struct hone_tool_ctx *ctx, const struct hone_export_options *options,
                     struct hone_export *ret, struct hone_err *err)
{
    const char **notes = hone_pool_alloc(ctx->pool, HONE_EXPORT_NOTES * sizeof(*notes));
    struct hone_export_work work = {.ctx = ctx, .pool = ctx->pool, .notes = notes};
    int rc;

    *ret = (struct hone_export){.n_files = 0};
    rc = make(&work, options, ret, err);
    if (rc < 0)
        hone_export_done(ret);
    return rc;
}

/* The file of this ending, as it was written. */
static const char *text_of(const struct hone_export *export, const char *ending)
{
    const char *name = NULL;

    for (size_t i = 0; i < export->n_files; i++) {
        name = export->files[i].name + strlen(export->name);
        if (strncmp(export->files[i].name, export->name, strlen(export->name)) == 0 &&
            strcmp(name, ending) == 0)
            return export->files[i].text;
    }
    return NULL;
}

int hone_export_try(struct hone_tool_ctx *ctx, struct hone_export *export, struct hone_err *err)
{
    const char *test = text_of(export, "_test.c");
    const char *source = text_of(export, ".c");
    struct hone_report report;

    if (test == NULL) {
        if (export->said[0] == '\0' && export->pack->is_oracle_torch)
            export->said = "the reference is a PyTorch module: --as torch has the test";
        if (export->said[0] == '\0')
            export->said = "a CUDA export is not compiled or run here: build it with cmake";
        return 0;
    }
    const struct hone_export_file files[] = {
        {hone_pool_printf(ctx->pool, "%s.c", export->name),
         source != NULL ? source : export->source},
        {hone_pool_printf(ctx->pool, "%s.h", export->name), text_of(export, ".h")},
        {hone_pool_printf(ctx->pool, "%s_test.c", export->name), test}};
    int rc =
        run_program(ctx, export->pack, files, HONE_COUNTOF(files), &export->flags, &report, err);
    if (rc < 0)
        return rc;
    bool has_passed = report.reason == HONE_REASON_BUILT;
    export->test = has_passed ? "passed" : "failed";
    export->said =
        has_passed
            ? hone_plain_line(ctx->pool, report.output != NULL ? report.output : "", SAID_BYTES)
            : failure_of(&report, ctx->pool);
    return 0;
}
