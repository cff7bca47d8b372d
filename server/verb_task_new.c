/* SPDX-License-Identifier: Apache-2.0 */
/* `hone task new` and `hone task remove`.
 *
 * A new pack is made and checked beside the place where it will be, so that what does not compile
 * leaves nothing, and with --force the old one stays until the new one is good. */
#include <stdio.h>
#include <string.h>

#include "agents/rewrites/unread.h"
#include "server/verb_task.h"
#include "tools/task/cuda_in.h"
#include "tools/task/prototype.h"
#include "tools/task/task_new.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"

/* The name decides the folder, so it is looked up before the pack is made. */
static int find_name(const struct hone_task_args *args, const char *source, struct hone_pool *pool,
                     const char **ret, struct hone_err *err)
{
    struct hone_cuda_in in = {.name = args->name};
    const struct hone_cuda_in_options options = {.source = source,
                                                 .function = args->function,
                                                 .name = args->name,
                                                 .grid = args->grid,
                                                 .block = args->block,
                                                 .instance = args->instance,
                                                 .has_reference = args->reference != NULL};
    bool is_cuda = hone_cuda_in_is(args->subject);
    int rc = 0;
    if (is_cuda && !args->name)
        rc = hone_cuda_in_read(&options, pool, &in, err);
    *ret = in.name;
    if (rc == 0 && !is_cuda)
        rc = args->name ? 0 : hone_prototype_name(source, args->function, pool, ret, err);
    if (rc == 0 && !hone_is_safe_name(*ret))
        return hone_fail(err, HONE_E_ARG,
                         "'%.60s' is no task name; letters, digits, '_', '-' and '.'", *ret);
    return rc;
}

/* Tensors of a 16384th of the device's memory keep it busy for long enough to be timed (9 million
 * elements of 141 GB), and the reference, which runs thread by thread on one core, is through in
 * seconds: four times as many made a lint take 170 s on an H200. 0: no device. */
static double elements_of_device(const struct hone_task_args *args)
{
    const struct hone_executor_spec spec = hone_executor_of(&args->common);
    HONE_AUTOJSON struct hone_json *facts = NULL;
    struct hone_executor *executor = NULL;
    if (args->no_lint || args->is_static || hone_open_executor(&spec, &executor, NULL) < 0)
        return 0;
    int rc = executor->probe(executor->cookie, &facts, NULL);
    hone_executor_free(executor);
    const struct hone_json *devices =
        rc < 0 ? NULL : hone_json_get(hone_json_get(facts, "gpu"), "devices");
    return hone_json_get_f64(hone_json_first(devices), "memory_bytes", 0) / 16384;
}

static int check_pack(void *arg, const char *dir, const struct hone_lint_scope *scope,
                      struct hone_pool *pool, struct hone_lint *ret, struct hone_err *err)
{
    return hone_task_run_lint(arg, dir, scope, pool, ret, err);
}

/* Made and checked in `part`. */
static int make_checked(const struct hone_task_args *args, const char *source, const char *part,
                        struct hone_pool *pool, struct hone_task_new *ret, struct hone_lint *lint,
                        struct hone_err *err)
{
    struct hone_task_args own = *args; /* the lint takes it without const */
    HONE_AUTOFREE char *reference = NULL;
    size_t len;
    if (args->reference &&
        hone_file_read(args->reference, HONE_LIMIT_SOURCE_BYTES, &reference, &len, err) < 0)
        return hone_wrap(err, "--reference");
    const char *slash = strrchr(args->subject, '/');
    const char *source_dir =
        slash ? hone_pool_strndup(pool, args->subject, (size_t)(slash - args->subject) + 1) : ".";
    const struct hone_task_new_options options = {
        .source = source,
        .source_dir = source_dir,
        .include_dirs = args->includes,
        .function = args->function,
        .name = args->name,
        .dir = part,
        .op_type = args->op_type,
        .description = args->description,
        .shapes = args->shapes,
        .roles = args->roles,
        .scales = args->scales,
        .shifts = args->shifts,
        .sizes = args->sizes,
        .scalars = args->scalars,
        .inouts = args->inouts,
        .outs = args->outs,
        .constraints = args->constraints,
        .tolerances = args->tolerances,
        .flops = args->flops,
        .bytes = args->bytes,
        .is_cuda = hone_cuda_in_is(args->subject),
        .grid = args->grid,
        .block = args->block,
        .instance = args->instance,
        .reference = reference,
        .elements = hone_cuda_in_is(args->subject) ? elements_of_device(args) : 0,
    };
    return hone_task_new_checked(&options, args->no_lint ? NULL : check_pack, &own, pool, ret, lint,
                                 err);
}

static int commit_pack(struct hone_workspace *ws, const char *name, const char *word,
                       struct hone_pool *pool, struct hone_err *err)
{
    const char *const paths[] = {hone_pool_printf(pool, "tasks/%s", name)};
    return hone_history_commit_main(hone_workspace_history(ws), paths, 1,
                                    hone_pool_printf(pool, "%s task %s", word, name),
                                    hone_wall_ms() / 1000, err);
}

/* What a search will leave as it is: better known before it runs. */
static void say_unread(const char *dir, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    HONE_AUTOFREE char *source = NULL;
    struct hone_coder_input in;
    if (hone_task_load(dir, &task, NULL) < 0 || hone_task_select(task, "cpu", NULL) < 0 ||
        hone_task_naive(task, "cpu", &source, NULL) < 0 || hone_c_parser_new(&parser, NULL) < 0 ||
        hone_coder_read_kernel(parser, task, "cpu", source, pool, &in, NULL) < 0)
        return; /* CUDA, or no libclang: the search says it */
    const char *unread = hone_unread_text(&in);
    if (unread)
        hone_say("look at this: in kernels/naive.c no rule reads %s; written in another way it may "
                 "become faster",
                 unread);
}

static void say_made(const struct hone_task_new *made, const char *dir, bool is_admitted,
                     struct hone_pool *pool)
{
    for (size_t i = 0; i < made->notes.n; i++)
        hone_say("look at this: %s", made->notes.v[i]);
    say_unread(dir, pool);
    hone_say("made task %s in %s", made->name, dir);
    hone_say(is_admitted ? "next: hone search %s --budget-wall 2m"
                         : "next: mend what stands above, in %s or with --force, then hone task "
                           "lint %s",
             is_admitted ? made->name : dir, made->name);
}

int hone_task_new_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                       struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *source = NULL;
    size_t len;
    const char *name = NULL;
    struct hone_task_new made;
    struct hone_lint lint = {.is_admitted = true};
    int rc = hone_file_read(args->subject, HONE_LIMIT_SOURCE_BYTES, &source, &len, err);
    if (rc == 0)
        rc = find_name(args, source, pool, &name, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *dir = hone_path_join(hone_workspace_dir(ws), "tasks", name, NULL);
    HONE_AUTOFREE char *part = hone_sprintf("%s/tasks/.%s.part", hone_workspace_dir(ws), name);
    if (hone_file_exists(dir) && !args->force)
        return hone_fail(err, HONE_E_EXISTS,
                         "task '%s' exists already: --force replaces it, --name gives another name",
                         name);
    rc = make_checked(args, source, part, pool, &made, &lint, err);
    if (rc == 0)
        rc = hone_task_move_pack(part, dir, err);
    if (rc < 0) {
        hone_remove_tree(part, NULL); /* the first error is the one to tell */
        return rc;
    }
    if (!args->no_lint)
        hone_task_note_lint(ws, &lint);
    rc = commit_pack(ws, made.name, "Add", pool, err);
    if (rc == 0 && !args->no_lint)
        rc = hone_task_print_lint(args, &lint, err);
    say_made(&made, dir, lint.is_admitted, pool);
    return rc;
}

int hone_task_remove_verb(const struct hone_task_args *args, struct hone_workspace *ws,
                          struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *dir = NULL;
    if (strchr(args->subject, '/'))
        return hone_fail(err, HONE_E_ARG, "say the name of a task of this workspace");
    int rc = hone_task_dir_of(args, ws, &dir, err);
    if (rc == 0)
        rc = hone_remove_tree(dir, err);
    if (rc == 0)
        rc = commit_pack(ws, args->subject, "Remove", pool, err);
    if (rc == 0)
        hone_say("removed task %s; its versions stay (hone log), and git brings the files back",
                 args->subject);
    return rc;
}
