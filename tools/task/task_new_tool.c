/* SPDX-License-Identifier: Apache-2.0 */
/* task_new: a task from a C function, made and linted beside its place, moved there and committed
 * when the lint admits it. */
#include "tools/task/task_new.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/task/prototype.h"
#include "tools/tools.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/hash.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"

struct new_in {
    const char *source, *function, *name, *flops;
    struct hone_strs shapes, sizes, roles, outs, inouts, scalars, constraints, tolerances;
};

struct new_out {
    struct hone_head head;
    const char *task;
    struct hone_strs notes;
    struct hone_array findings; /* of struct hone_lint_finding */
};

#define MAX_SAID    64 /* of one list */
#define IN(m_, ...) HONE_FIELD(struct new_in, m_, __VA_ARGS__)
static const struct hone_field in_fields[] = {
    IN(source, .required = true, .max_len = HONE_LIMIT_SOURCE_BYTES, .help = "C, whole text."),
    IN(function, .max_len = HONE_LIMIT_NAME_BYTES, .help = "None: the one not static."),
    IN(name, .max_len = HONE_LIMIT_NAME_BYTES, .help = "None: the function's."),
    IN(shapes, .max_len = MAX_SAID, .help = "Of pointers: A[M,K], out[1]."),
    IN(sizes, .max_len = MAX_SAID, .help = "Workloads: M=512,K=64."),
    IN(roles, .max_len = MAX_SAID, .help = "c=index:N, x=positive, p=probability."),
    IN(outs, .max_len = MAX_SAID, .help = "Pointers only written."),
    IN(inouts, .max_len = MAX_SAID, .help = "Read and written."),
    IN(scalars, .max_len = MAX_SAID, .help = "alpha=1.5; an integer: no size."),
    IN(constraints, .max_len = MAX_SAID, .help = "n % 8 == 0."),
    IN(tolerances, .max_len = MAX_SAID, .help = "y=RTOL[,ATOL]."),
    IN(flops, .max_len = 400, .help = "Formula of the axes."),
};

static const struct hone_field finding_fields[] = {
    HONE_FIELD(struct hone_lint_finding, severity, .help = "error, warning or note."),
    HONE_FIELD(struct hone_lint_finding, where, .help = "File and place, or a kernel."),
    HONE_FIELD(struct hone_lint_finding, message, .help = "What is wrong."),
    HONE_FIELD(struct hone_lint_finding, fix, .skip_empty = true, .help = "What to do."),
};

#define OUT(m_, ...) HONE_FIELD(struct new_out, m_, .skip_empty = true, __VA_ARGS__)
static const struct hone_field out_fields[] = {
    HONE_HEAD_FIELDS(struct new_out),
    OUT(task, .help = "Its name."),
    OUT(notes, .help = "What was guessed: look at it."),
    OUT(findings, HONE_OF(struct hone_lint_finding, finding_fields), .help = "Of the lint."),
};

/* What is written for the command line says its options; here they are arguments. */
static const char *in_our_words(const char *text, struct hone_pool *pool)
{
    static const struct {
        const char *option, *argument;
    } words[] = {{"say -I FOLDER, or leave it out", "put its text into the source"},
                 {"--shape", "shapes"},
                 {"--size", "sizes"},
                 {"--role", "roles"},
                 {"--out", "outs"},
                 {"--inout", "inouts"},
                 {"--scalar", "scalars"},
                 {"--constraint", "constraints"},
                 {"hone task new ", ""},
                 {"--flops", "flops"},
                 {"--tolerance", "tolerances"},
                 {"--function", "function"},
                 {"--name", "name"}};
    struct hone_buf out = HONE_BUF_INIT;
    while (*text != '\0') {
        size_t i = 0;
        while (i < HONE_COUNTOF(words) &&
               strncmp(text, words[i].option, strlen(words[i].option)) != 0)
            i++;
        if (i < HONE_COUNTOF(words)) {
            hone_buf_str(&out, words[i].argument);
            text += strlen(words[i].option);
        } else {
            hone_buf_add(&out, text++, 1);
        }
    }
    hone_buf_str(&out, "");
    HONE_AUTOFREE char *made = hone_buf_steal(&out);
    return hone_pool_strdup(pool, made);
}

/* What only a shell can do is said in what an agent can. */
static const char *fix_in_our_words(const char *fix, struct hone_pool *pool)
{
    static const struct {
        const char *part, *instead;
    } rows[] = {
        {"ITEM(",
         "No tolerance helps: the reference has to say how large the things are that it adds "
         "up. Who has a shell writes it: `hone task new`, then oracle.c (docs/tasks.md)."},
        {"calibrate proposes", "A smaller tolerance may refuse that answer: tolerances."},
        {"calibrate shows", ""},
        {"hone task calibrate",
         "Compare kernel and message; where the kernel is right, give tolerances "
         "above what it errs by: y=1e-3. Sizes that never occur: constraints, m <= 8192."},
    };
    static const char measured[] = "A short calibration proposes ",
                      shell[] = "; hone task calibrate";
    const char *end = strstr(fix, shell);
    if (end != NULL && strncmp(fix, measured, strlen(measured)) == 0) /* a value comes first */
        return in_our_words(hone_pool_strndup(pool, fix, (size_t)(end - fix)), pool);
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (strstr(fix, rows[i].part))
            return rows[i].instead;
    return in_our_words(fix, pool);
}

static int check(void *arg, const char *dir, const struct hone_lint_scope *scope,
                 struct hone_pool *pool, struct hone_lint *ret, struct hone_err *err)
{
    const struct hone_tool_ctx *ctx = arg;
    const struct hone_lint_options options = {.executor = ctx->app->executor,
                                              .allow_weak_jail = ctx->app->allow_weak_jail,
                                              .scope = *scope,
                                              .on_progress = ctx->on_progress,
                                              .progress_arg = ctx->progress_arg,
                                              .cancel = ctx->cancel};
    return hone_lint_pack(dir, &options, pool, ret, err);
}

static int keep(struct hone_workspace *ws, const char *name, const char *part, const char *dir,
                struct hone_pool *pool, struct hone_err *err)
{
    const char *const paths[] = {hone_pool_printf(pool, "tasks/%s", name)};
    if (rename(part, dir) < 0)
        return errno == EEXIST || errno == ENOTEMPTY
                   ? hone_fail(err, HONE_E_EXISTS, "task '%s' exists", name)
                   : hone_fail_errno(err, errno, "task '%s'", name);
    return hone_history_commit_main(hone_workspace_history(ws), paths, 1,
                                    hone_pool_printf(pool, "Add task %s", name),
                                    hone_wall_ms() / 1000, err);
}

/* The name, where the pack goes, and where it is made. */
static int places(const struct hone_tool_ctx *ctx, const struct new_in *in, const char **ret_name,
                  const char **ret_dir, const char **ret_part, struct hone_err *err)
{
    const char *root = hone_workspace_dir(ctx->app->ws);
    char mark[17];
    int rc = 0;
    *ret_name = in->name;
    if (!in->name)
        rc = hone_prototype_name(in->source, in->function, ctx->pool, ret_name, err);
    if (rc < 0)
        return rc;
    if (!hone_is_safe_name(*ret_name))
        return hone_fail(err, HONE_E_ARG,
                         "'%.60s' is no task name; letters, digits, '_', '-' and '.'", *ret_name);
    *ret_dir = hone_pool_printf(ctx->pool, "%s/tasks/%s", root, *ret_name);
    if (hone_file_exists(*ret_dir))
        return hone_fail(err, HONE_E_EXISTS, "task '%s' exists; name gives another", *ret_name);
    hone_random_hex(mark, sizeof(mark) / 2);
    *ret_part = hone_pool_printf(ctx->pool, "%s/tasks/.%s.%s.part", root, *ret_name, mark);
    return 0;
}

/* What a candidate defines: a call of task_show less. */
static const char *next_words(const char *dir, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if (hone_task_load(dir, &task, NULL) < 0)
        return "Look at the notes and task_show, then kernel_evaluate with the task.";
    HONE_AUTOFREE char *signature = hone_task_signature_for(task, "cpu");
    return hone_pool_printf(
        pool, "Look at the notes, then kernel_evaluate with the task and a source that defines %s",
        signature);
}

static void describe(struct hone_tool_ctx *ctx, const struct hone_task_new *made,
                     const struct hone_lint *lint, const char *name, const char *dir,
                     struct new_out *out)
{
    const char **notes = hone_pool_alloc(ctx->pool, (made->notes.n + 1) * sizeof(*notes));
    for (size_t i = 0; i < made->notes.n; i++)
        notes[i] = in_our_words(made->notes.v[i], ctx->pool);
    out->notes = (struct hone_strs){notes, made->notes.n};
    struct hone_lint_finding *findings = lint->findings.v; /* the pool's, and ours alone */
    for (size_t i = 0; i < lint->findings.n; i++) {
        findings[i].message = in_our_words(findings[i].message, ctx->pool);
        findings[i].fix = fix_in_our_words(findings[i].fix ? findings[i].fix : "", ctx->pool);
    }
    out->findings = lint->findings;
    out->task = name;
    out->head.status = lint->is_admitted ? "ok" : "error";
    out->head.error_class = lint->is_admitted ? NULL : "request";
    out->head.summary =
        hone_pool_printf(ctx->pool,
                         lint->is_admitted ? "task %s: its baseline passes, bad kernels do not"
                                           : "task %s is not made: the lint refuses it",
                         name);
    out->head.next =
        lint->is_admitted ? next_words(dir, ctx->pool) : "Mend what findings say and call again.";
}

static int run(struct hone_tool_ctx *ctx, const void *arguments, void *result, struct hone_err *err)
{
    const struct new_in *in = arguments;
    const char *name = NULL, *dir = NULL, *part = NULL;
    struct hone_task_new made;
    struct hone_lint lint;
    int rc = places(ctx, in, &name, &dir, &part, err);
    if (rc == HONE_E_NOT_FOUND) /* a function, in the source */
        return hone_fail(err, HONE_E_ARG, "%s", hone_pool_strdup(ctx->pool, err->message));
    if (rc < 0)
        return rc;
    const struct hone_task_new_options options = {.source = in->source,
                                                  .function = in->function,
                                                  .name = name,
                                                  .dir = part,
                                                  .shapes = in->shapes,
                                                  .sizes = in->sizes,
                                                  .roles = in->roles,
                                                  .outs = in->outs,
                                                  .inouts = in->inouts,
                                                  .scalars = in->scalars,
                                                  .constraints = in->constraints,
                                                  .tolerances = in->tolerances,
                                                  .flops = in->flops};
    rc = hone_task_new_checked(&options, check, ctx, ctx->pool, &made, &lint, err);
    if (rc == 0 && lint.is_admitted)
        rc = keep(ctx->app->ws, name, part, dir, ctx->pool, err);
    hone_remove_tree(part, NULL); /* nothing where it was moved */
    if (rc < 0) {
        struct hone_err told = *err;
        return hone_fail(err, told.code, "%s", in_our_words(told.message, ctx->pool));
    }
    describe(ctx, &made, &lint, name, dir, result);
    return 0;
}

const struct hone_tool hone_tool_task_new = {
    .name = "task_new",
    .title = "Make a task",
    .summary = "A task from a C function: baseline and reference at once.",
    .description = "Makes a task of a C function: it is the baseline and, in double, the "
                   "reference. Checked at once: it must pass, bad kernels must not. Says what it "
                   "guessed. A commit; 5 to 30 s. No CUDA.",
    .flags = HONE_TOOL_LONG | HONE_TOOL_NEEDS_DEVICE,
    HONE_TOOL_TABLES(struct new_in, struct new_out),
    .run = run,
};
