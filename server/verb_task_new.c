/* SPDX-License-Identifier: Apache-2.0 */
/* `hone task new` and `hone task remove`.
 *
 * A new pack is made and checked beside the place where it will be, so that what does not compile
 * leaves nothing, and with --force the old one stays until the new one is good. */
#include <stdio.h>
#include <string.h>

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

struct trial { /* of a pack that is being made */
    const char *source, *dir;
    struct hone_strs inouts, tolerances;
    const char *wider; /* what tolerances points to once it was widened */
    size_t n_widened;
};

static int make_pack(const struct hone_task_args *args, const struct trial *trial,
                     struct hone_pool *pool, struct hone_task_new *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *reference = NULL;
    size_t len;
    if (args->reference &&
        hone_file_read(args->reference, HONE_LIMIT_SOURCE_BYTES, &reference, &len, err) < 0)
        return hone_wrap(err, "--reference");
    const char *slash = strrchr(args->subject, '/');
    const char *source_dir =
        slash ? hone_pool_strndup(pool, args->subject, (size_t)(slash - args->subject) + 1) : ".";
    const struct hone_task_new_options options = {
        .source = trial->source,
        .source_dir = source_dir,
        .include_dirs = args->includes,
        .function = args->function,
        .name = args->name,
        .dir = trial->dir,
        .op_type = args->op_type,
        .description = args->description,
        .shapes = args->shapes,
        .roles = args->roles,
        .scales = args->scales,
        .shifts = args->shifts,
        .sizes = args->sizes,
        .scalars = args->scalars,
        .inouts = trial->inouts,
        .outs = args->outs,
        .constraints = args->constraints,
        .tolerances = trial->tolerances,
        .flops = args->flops,
        .bytes = args->bytes,
        .is_cuda = hone_cuda_in_is(args->subject),
        .grid = args->grid,
        .block = args->block,
        .reference = reference,
        .elements = hone_cuda_in_is(args->subject) ? elements_of_device(args) : 0,
    };
    return hone_task_new(&options, pool, ret, err);
}

/* What the lint says of a baseline that does not compile. */
static int not_built(const struct hone_lint *lint, struct hone_err *err)
{
    const struct hone_lint_finding *finding = lint->findings.v;
    for (size_t i = 0; i < lint->findings.n; i++)
        if (strcmp(finding[i].where, "kernel naive") == 0)
            return hone_fail(err, HONE_E_ARG, "the function does not compile alone: %s",
                             finding[i].message);
    return hone_fail(err, HONE_E_ARG, "the function does not compile alone");
}

/* The output that the baseline does not write everywhere, where nothing was said of it; NULL: none.
 */
static const char *unwritten_output(const struct hone_task_args *args, const struct hone_lint *lint,
                                    const struct hone_strs *inouts, struct hone_pool *pool)
{
    static const char front[] = "unwritten: ";
    const struct hone_lint_trial *naive = lint->trials.v;
    const char *name = lint->trials.n > 0 && naive->summary ? naive->summary : "";
    if (strncmp(name, front, strlen(front)) != 0)
        return NULL;
    name += strlen(front);
    name = hone_pool_strndup(pool, name, strcspn(name, "["));
    for (size_t i = 0; i < args->outs.n + inouts->n; i++)
        if (strcmp(name, i < args->outs.n ? args->outs.v[i] : inouts->v[i - args->outs.n]) == 0)
            return NULL;
    return name;
}

/* The next wider tolerance, where none was given. */
static bool widen(const struct hone_task_args *args, struct trial *trial)
{
    static const char *const rungs[] = {"4e-4", "1.6e-3"};
    if (args->tolerances.n > 0 || trial->n_widened == HONE_COUNTOF(rungs))
        return false;
    trial->wider = rungs[trial->n_widened++];
    trial->tolerances = (struct hone_strs){&trial->wider, 1};
    hone_say("look at this: the function itself errs by more than the tolerance that was guessed, "
             "as long sums of float do: once more with %s (--tolerance gives another)",
             trial->wider);
    return true;
}

/* Made and checked in `part`. An output that keeps some of its old content is made once more, as an
 * input besides; so is a function that errs by little more than the tolerance. */
static int make_checked(const struct hone_task_args *args, const char *source, const char *part,
                        struct hone_pool *pool, struct hone_task_new *ret, struct hone_lint *lint,
                        struct hone_err *err)
{
    const char *names[HONE_LIMIT_TENSORS];
    struct trial trial = {source, part, {names, 0}, args->tolerances, NULL, 0};
    struct hone_strs *inouts = &trial.inouts;
    for (; inouts->n < args->inouts.n && inouts->n < HONE_LIMIT_TENSORS; inouts->n++)
        names[inouts->n] = args->inouts.v[inouts->n];
    for (;;) {
        hone_remove_tree(part, NULL); /* of one that was killed, or of the round before */
        int rc = make_pack(args, &trial, pool, ret, err);
        if (rc == 0 && !args->no_lint)
            rc = hone_task_run_lint(args, part, pool, lint, err);
        if (rc == 0 && lint->is_near && widen(args, &trial))
            continue;
        const char *name = rc == 0 ? unwritten_output(args, lint, inouts, pool) : NULL;
        if (!name || inouts->n == HONE_LIMIT_TENSORS)
            return rc;
        hone_say("look at this: '%s' is not written everywhere: it starts as the input '%s_in', "
                 "and what is not written stays (else say --out %s)",
                 name, name, name);
        names[inouts->n++] = name;
    }
}

static int commit_pack(struct hone_workspace *ws, const char *name, const char *word,
                       struct hone_pool *pool, struct hone_err *err)
{
    const char *const paths[] = {hone_pool_printf(pool, "tasks/%s", name)};
    return hone_history_commit_main(hone_workspace_history(ws), paths, 1,
                                    hone_pool_printf(pool, "%s task %s", word, name),
                                    hone_wall_ms() / 1000, err);
}

static void say_made(const struct hone_task_new *made, const char *dir, bool is_admitted)
{
    for (size_t i = 0; i < made->notes.n; i++)
        hone_say("look at this: %s", made->notes.v[i]);
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
    if (rc == 0 && lint.is_unbuilt)
        rc = not_built(&lint, err);
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
    say_made(&made, dir, lint.is_admitted);
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
