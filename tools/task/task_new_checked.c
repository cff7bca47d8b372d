/* SPDX-License-Identifier: Apache-2.0 */
/* A new pack is made, linted, and where the lint shows what was guessed wrong, made once more. */
#include "tools/task/task_new.h"

#include <string.h>

#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct guesses {
    struct hone_task_new_options options; /* with what was learnt */
    const char *inouts[HONE_LIMIT_TENSORS];
    const char *wider; /* what options.tolerances points to once it was widened */
    size_t n_widened;
    const char *notes[HONE_LIMIT_TENSORS + 2]; /* one for each thing learnt */
    size_t n_notes;
};

/* The output that the baseline does not write everywhere, where nothing was said of it; NULL: none.
 */
static const char *unwritten_output(const struct hone_task_new_options *options,
                                    const struct hone_lint *lint, struct hone_pool *pool)
{
    static const char front[] = "unwritten: ";
    const struct hone_lint_trial *naive = lint->trials.v;
    const char *name = lint->trials.n > 0 && naive->summary ? naive->summary : "";
    if (strncmp(name, front, strlen(front)) != 0)
        return NULL;
    name += strlen(front);
    name = hone_pool_strndup(pool, name, strcspn(name, "["));
    const struct hone_strs *said[] = {&options->outs, &options->inouts};
    for (size_t k = 0; k < HONE_COUNTOF(said); k++)
        for (size_t i = 0; i < said[k]->n; i++)
            if (strcmp(name, said[k]->v[i]) == 0)
                return NULL;
    return name;
}

/* The next wider tolerance, where none was given. */
static bool widen(struct guesses *g, const struct hone_lint *lint, struct hone_pool *pool)
{
    static const char *const rungs[] = {"4e-4", "1.6e-3"};
    bool was_given = g->options.tolerances.n > 0 && g->n_widened == 0;
    if (!lint->is_near || was_given || g->n_widened == HONE_COUNTOF(rungs))
        return false;
    g->wider = rungs[g->n_widened++];
    g->options.tolerances = (struct hone_strs){&g->wider, 1};
    g->notes[g->n_notes++] = hone_pool_printf(
        pool,
        "the function itself errs by more than the tolerance that was guessed, as long sums of "
        "float do: once more with %s (--tolerance gives another)",
        g->wider);
    return true;
}

static bool take_as_input(struct guesses *g, const struct hone_lint *lint, struct hone_pool *pool)
{
    const char *name = unwritten_output(&g->options, lint, pool);
    if (!name || g->options.inouts.n == HONE_LIMIT_TENSORS)
        return false;
    g->inouts[g->options.inouts.n++] = name;
    g->notes[g->n_notes++] =
        hone_pool_printf(pool,
                         "'%s' is not written everywhere: it starts as the input '%s_in', and what "
                         "is not written stays (else say --out %s)",
                         name, name, name);
    return true;
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

static void add_notes(const struct guesses *g, struct hone_pool *pool, struct hone_strs *notes)
{
    const char **all = hone_pool_alloc(pool, (g->n_notes + notes->n + 1) * sizeof(*all));
    memcpy(all, g->notes, g->n_notes * sizeof(*all));
    for (size_t i = 0; i < notes->n; i++)
        all[g->n_notes + i] = notes->v[i];
    *notes = (struct hone_strs){all, g->n_notes + notes->n};
}

int hone_task_new_checked(const struct hone_task_new_options *options, hone_task_check_fn *check,
                          void *arg, struct hone_pool *pool, struct hone_task_new *ret,
                          struct hone_lint *lint, struct hone_err *err)
{
    struct guesses g = {.options = *options};
    *lint = (struct hone_lint){.is_admitted = true};
    g.options.inouts = (struct hone_strs){g.inouts, 0};
    for (size_t i = 0; i < options->inouts.n && i < HONE_LIMIT_TENSORS; i++)
        g.inouts[g.options.inouts.n++] = options->inouts.v[i];
    int rc;
    do {
        hone_remove_tree(options->dir, NULL); /* of one that was killed, or of the round before */
        rc = hone_task_new(&g.options, pool, ret, err);
        if (rc == 0 && check)
            rc = check(arg, options->dir, pool, lint, err);
    } while (rc == 0 && check && (widen(&g, lint, pool) || take_as_input(&g, lint, pool)));
    if (rc == 0 && lint->is_unbuilt)
        rc = not_built(lint, err);
    if (rc == 0)
        add_notes(&g, pool, &ret->notes);
    return rc;
}
