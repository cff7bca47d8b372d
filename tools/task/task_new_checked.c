/* SPDX-License-Identifier: Apache-2.0 */
/* A new pack is made, linted, and where the lint shows what was guessed wrong, made once more.
 * Before that the baseline alone is timed at guessed sizes, and these follow. */
#include "tools/task/task_new.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/format/verdict.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

enum { MOST_LOOKS = 4 };
#define LEAST_CALL_NS (3.0 * HONE_NS_PER_MS) /* at the larger of two guessed sizes */
#define AIM_CALL_NS   (7.0 * HONE_NS_PER_MS)
#define MOST_CALL_NS  (20.0 * HONE_NS_PER_MS)
#define AIM_CHECK_NS  (60.0 * HONE_NS_PER_MS) /* an evaluation has some thirty such */
#define MOST_CHECK_NS (100.0 * HONE_NS_PER_MS)
#define WORTH         1.4 /* of a change of the work */
#define FAR           4
#define MOVED_RTOL    "1e-11" /* some 45,000 last places of float64, which long sums need */
#define SMALLER       16      /* the work's divisor where the lint refuses guessed sizes */

struct guesses {
    struct hone_task_new_options options; /* with what was learnt */
    const char *inouts[HONE_LIMIT_TENSORS];
    const char *wider; /* what options.tolerances points to once it was widened */
    size_t n_widened;
    const char *measured[HONE_LIMIT_TENSORS]; /* what options.tolerances points to once the lint
                                                 proposed one */
    bool is_measured;
    bool keeps_scale; /* held against how far the output moves it was refused */
    const char *notes[HONE_LIMIT_TENSORS + 8]; /* one for each thing learnt */
    size_t n_notes;
    const char *timed;         /* the note of how long a call takes; NULL: sizes are not fitted */
    hone_task_check_fn *check; /* NULL: none */
    void *arg;
    const char *objects_dir;
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
static const char *const rungs[] = {"4e-4", "1.6e-3"};

static bool is_tolerance_given(const struct guesses *g)
{
    return g->options.tolerances.n > 0 && g->n_widened == 0 && !g->is_measured;
}

static bool may_widen(const struct guesses *g)
{
    return !is_tolerance_given(g) && !g->is_measured && g->n_widened < HONE_COUNTOF(rungs);
}

static bool widen(struct guesses *g, const struct hone_lint *lint, struct hone_pool *pool)
{
    if (!lint->is_near || !may_widen(g))
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

/* Does the lint refuse what the function itself computes, as too far from its reference? No scale
 * helps a function that crashes, or that gives NaN. */
static bool is_honest_refused(const struct hone_lint *lint)
{
    const struct hone_lint_finding *finding = lint->findings.v;
    const struct hone_lint_trial *naive = lint->trials.v;
    bool is_refused = lint->is_near;
    if (lint->trials.n > 0 && !naive->is_as_wanted &&
        strcmp(naive->reason, hone_reason_row(HONE_REASON_WRONG_VALUE)->word) != 0)
        return false;
    for (size_t i = 0; i < lint->findings.n; i++)
        is_refused = is_refused || (strcmp(finding[i].severity, "error") == 0 &&
                                    strcmp(finding[i].where, "kernel naive") == 0);
    return is_refused && !lint->is_unbuilt && !lint->is_flushed;
}

/* Where the answer moves more than its size tells, a tolerance relative to its size refuses what is
 * right, or excuses what is wrong. */
static bool follow_moves(struct guesses *g, const struct hone_task_new *made,
                         const struct hone_lint *lint)
{
    if (g->options.is_perturbed || g->keeps_scale || !made->can_be_perturbed ||
        is_tolerance_given(g) || !is_honest_refused(lint))
        return false;
    g->options.is_perturbed = true;
    g->notes[g->n_notes++] =
        "the function itself errs by more than the size of its output allows for: once more, held "
        "against how far the output moves where the inputs change in their last place (\"scale\": "
        "\"perturbed\" in task.json)";
    return true;
}

/* What the lint's calibration proposes, where none was given and the guess is refused. */
static bool take_proposal(struct guesses *g, const struct hone_lint *lint, struct hone_pool *pool)
{
    if (!lint->proposed || g->is_measured || is_tolerance_given(g))
        return false;
    g->is_measured = true;
    g->options.tolerances = (struct hone_strs){g->measured, 0};
    const char *word = lint->proposed;
    while (*word && g->options.tolerances.n < HONE_COUNTOF(g->measured)) {
        size_t len = strcspn(word, " ");
        g->measured[g->options.tolerances.n++] = hone_pool_strndup(pool, word, len);
        word += len + strspn(word + len, " ");
    }
    g->notes[g->n_notes++] = hone_pool_printf(
        pool,
        "the lint refuses the tolerance that was guessed: once more with %s, which honest kernels "
        "need by a short calibration (--tolerance gives another)",
        lint->proposed);
    return true;
}

static bool leave_out_denormals(struct guesses *g, const struct hone_lint *lint)
{
    if (!lint->is_flushed || g->options.no_denormals)
        return false;
    g->options.no_denormals = true;
    g->notes[g->n_notes++] =
        "assumed: inputs hold no denormals, which -ffast-math flushes to zero, and no other "
        "content "
        "makes honest kernels err (\"special_values\": [] in task.json; [\"denormal\"] brings them "
        "back)";
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

struct look { /* at guessed sizes */
    double cost, call_ns, check_ns;
};

/* What follows the work in the time of a check: the rest is processes, and the same at any size.
 * before->cost 0: not known yet. */
static double check_of_work(const struct look *before, const struct look *now)
{
    double growth = now->cost / fmax(before->cost, 1);
    if (before->cost == 0 || fabs(growth - 1) < WORTH - 1)
        return now->call_ns;
    return fmax((now->check_ns - before->check_ns) / (1 - 1 / growth), now->call_ns);
}

/* How a call's time grows with the work, as its power: caches make it differ from 1. */
static double growth_of_call(const struct look *before, const struct look *now)
{
    double growth = now->cost / fmax(before->cost, 1);
    if (before->cost == 0 || fabs(growth - 1) < WORTH - 1)
        return 1;
    return fmin(fmax(log(now->call_ns / before->call_ns) / log(growth), 0.5), 3);
}

/* A function that ends at the first thing that it does not like takes no longer for more of it. */
static bool is_flat(const struct look *before, const struct look *now)
{
    return before->cost > 0 && now->cost > FAR * before->cost &&
           now->call_ns < WORTH * before->call_ns;
}

/* What the work of a call should be multiplied by; 1: it may stay. A call is never made shorter
 * than some milliseconds, however slow the reference is. */
static double change_of_work(const struct look *before, const struct look *now)
{
    double check_ns = check_of_work(before, now), aim = AIM_CALL_NS;
    bool is_dear = check_ns > MOST_CHECK_NS;
    if (is_dear)
        aim = fmax(fmin(aim, now->call_ns * AIM_CHECK_NS / check_ns), LEAST_CALL_NS);
    if (now->call_ns < LEAST_CALL_NS || now->call_ns > MOST_CALL_NS ||
        (is_dear && now->call_ns > aim))
        return pow(aim / now->call_ns, 1 / growth_of_call(before, now));
    return 1;
}

static const char *timed_note(const struct look *look, bool is_flat, struct hone_pool *pool)
{
    return hone_pool_printf(pool, "one call of your function takes %.2g ms %s",
                            look->call_ns / HONE_NS_PER_MS,
                            is_flat ? "whatever the size: it may end early on what it is given"
                                    : "at the larger of the guessed sizes");
}

static int make(struct guesses *g, struct hone_pool *pool, struct hone_task_new *ret,
                struct hone_err *err)
{
    hone_remove_tree(g->options.dir, NULL); /* of one that was killed, or of the round before */
    return hone_task_new(&g->options, pool, ret, err);
}

/* Sizes where a call takes some milliseconds. One that is not right is not timed: the lint says
 * why. */
static int fit_sizes(struct guesses *g, struct hone_pool *pool, struct hone_task_new *made,
                     struct hone_err *err)
{
    const struct hone_lint_scope scope = {.is_baseline_alone = true, .objects_dir = g->objects_dir};
    bool is_guess = g->options.sizes.n == 0 && !g->options.is_cuda;
    struct look before = {0};
    for (int n = 1; is_guess && !g->timed; n++) {
        struct hone_lint lint = {.is_admitted = true};
        int rc = g->check(g->arg, g->options.dir, &scope, pool, &lint, err);
        const struct look now = {made->cost, lint.call_ns, lint.check_ns};
        if (rc < 0 || !(now.call_ns > 0 && now.cost > 0))
            return rc;
        bool is_back = is_flat(&before, &now);
        double change = is_back ? before.cost / now.cost : change_of_work(&before, &now);
        if (n == MOST_LOOKS || fmax(change, 1 / change) < WORTH) {
            g->timed = timed_note(&now, false, pool);
            break;
        }
        if (is_back)
            g->timed = timed_note(&now, true, pool);
        before = now;
        g->options.cost = now.cost * change;
        if ((rc = make(g, pool, made, err)) < 0)
            return rc;
    }
    return 0;
}

/* Made and linted, and once more for each thing that the lint shows. */
static int learn(struct guesses *g, struct hone_pool *pool, struct hone_task_new *ret,
                 struct hone_lint *lint, struct hone_err *err)
{
    int rc;
    do {
        rc = make(g, pool, ret, err);
        if (rc < 0 || !g->check)
            return rc;
        if ((rc = fit_sizes(g, pool, ret, err)) < 0)
            return rc;
        const struct hone_lint_scope scope = {
            .ends_near = may_widen(g),
            .ends_flushed = !g->options.no_denormals,
            .tries_moved = ret->moves_freely && !g->options.is_perturbed && !is_tolerance_given(g),
            .objects_dir = g->objects_dir};
        rc = g->check(g->arg, g->options.dir, &scope, pool, lint, err);
    } while (rc == 0 &&
             (take_as_input(g, lint, pool) || leave_out_denormals(g, lint) ||
              follow_moves(g, ret, lint) || widen(g, lint, pool) || take_proposal(g, lint, pool)));
    return rc;
}

/* Does the lint refuse what the baseline computes, or the tolerance that it needs? Errors grow with
 * the size. */
static bool is_size_suspect(const struct guesses *g, const struct hone_lint *lint)
{
    const struct hone_lint_finding *finding = lint->findings.v;
    bool is_guess = g->check && g->options.sizes.n == 0 && lint->was_run && !lint->is_unbuilt;
    for (size_t i = 0; is_guess && !lint->is_admitted && i < lint->findings.n; i++)
        if (strcmp(finding[i].severity, "error") == 0 &&
            (strcmp(finding[i].where, "kernel naive") == 0 ||
             strcmp(finding[i].where, "kernel answers") == 0))
            return true;
    return false;
}

static void start(struct guesses *g, const struct hone_task_new_options *options,
                  const struct guesses *like)
{
    *g = (struct guesses){.options = *options,
                          .check = like->check,
                          .arg = like->arg,
                          .objects_dir = like->objects_dir,
                          .timed = like->timed};
    g->options.inouts = (struct hone_strs){g->inouts, 0};
    for (size_t i = 0; i < options->inouts.n && i < HONE_LIMIT_TENSORS; i++)
        g->inouts[g->options.inouts.n++] = options->inouts.v[i];
}

/* What another way of guessing learns, where that is admitted; else what was there. */
static int try_other(struct guesses **best, struct guesses *other, struct hone_pool *pool,
                     struct hone_task_new *ret, struct hone_lint *lint, struct hone_err *err)
{
    const struct hone_lint was = *lint;
    int rc = learn(other, pool, ret, lint, err);
    if (rc < 0)
        return rc;
    if (lint->is_admitted) {
        *best = other;
        return 0;
    }
    *lint = was;
    return make(*best, pool, ret, err);
}

static struct guesses *start_again(const struct guesses *g, struct hone_pool *pool)
{
    struct guesses *other = hone_pool_alloc(pool, sizeof(*other));
    start(other, &g->options, g);
    other->options.is_perturbed = false;
    if (!is_tolerance_given(g))
        other->options.tolerances = (struct hone_strs){NULL, 0};
    return other;
}

/* Sums of float that are long at the largest sizes err by more than their inputs' last places move
 * them: a wider tolerance fits them better. */
static int widen_instead(struct guesses **best, struct hone_pool *pool, struct hone_task_new *ret,
                         struct hone_lint *lint, struct hone_err *err)
{
    struct guesses *other = start_again(*best, pool);
    other->keeps_scale = true;
    other->notes[other->n_notes++] =
        "held against how far its output moves the function is refused, too: once more with the "
        "scale that was guessed at first";
    return try_other(best, other, pool, ret, lint, err);
}

static int shrink(struct guesses **best, struct hone_pool *pool, struct hone_task_new *ret,
                  struct hone_lint *lint, struct hone_err *err)
{
    struct guesses *other = start_again(*best, pool);
    other->options.cost = ret->cost / SMALLER;
    other->timed = "sizes are smaller than a timing should have: the lint refuses the function at "
                   "those, where its errors are larger (--size gives others)";
    return try_other(best, other, pool, ret, lint, err);
}

/* A pack that is admitted, and would refuse a right kernel whose sums are in another order: once
 * more with the scale of what the answer moves by. Where that is not admitted, what was there. */
static int follow_moved(struct guesses *best, struct hone_pool *pool, struct hone_task_new *ret,
                        struct hone_lint *lint, struct hone_err *err)
{
    const struct hone_lint was = *lint;
    const struct hone_lint_scope scope = {.objects_dir = best->objects_dir};
    struct guesses moved = *best;
    if (!lint->is_admitted || !lint->is_moved)
        return 0;
    const char **rtol = hone_pool_alloc(pool, sizeof(*rtol));
    *rtol = MOVED_RTOL;
    moved.options.is_perturbed = true;
    moved.options.tolerances = (struct hone_strs){rtol, 1};
    moved.notes[moved.n_notes++] =
        "a last place of the inputs moves the output by more than the tolerance that was guessed: "
        "held against how far it moves (\"scale\": \"perturbed\" in task.json), to " MOVED_RTOL;
    int rc = make(&moved, pool, ret, err);
    if (rc == 0)
        rc = best->check(best->arg, best->options.dir, &scope, pool, lint, err);
    if (rc < 0)
        return rc;
    if (lint->is_admitted) {
        *best = moved;
        return 0;
    }
    *lint = was;
    best->notes[best->n_notes++] =
        "a last place of the inputs moves the output by more than the tolerance that was guessed, "
        "and held against how far it moves a wrong kernel would pass: one whose sums are in "
        "another order may be refused (--tolerance gives a wider one)";
    return make(best, pool, ret, err);
}

static int make_checked(struct guesses *g, struct hone_pool *pool, struct hone_task_new *ret,
                        struct hone_lint *lint, struct hone_err *err)
{
    struct guesses *best = g;
    bool was_perturbed = g->options.is_perturbed; /* as it was asked for */
    int rc = learn(g, pool, ret, lint, err);
    if (rc == 0 && g->check && !lint->is_admitted && lint->was_run && g->options.is_perturbed &&
        !was_perturbed)
        rc = widen_instead(&best, pool, ret, lint, err);
    if (rc == 0 && is_size_suspect(best, lint))
        rc = shrink(&best, pool, ret, lint, err);
    if (rc == 0)
        rc = follow_moved(best, pool, ret, lint, err);
    if (rc == 0 && lint->is_unbuilt)
        rc = not_built(lint, err);
    if (rc < 0)
        return rc;
    struct guesses told = *best;
    if (told.timed)
        told.notes[told.n_notes++] = told.timed;
    add_notes(&told, pool, &ret->notes);
    return 0;
}

int hone_task_new_checked(const struct hone_task_new_options *options, hone_task_check_fn *check,
                          void *arg, struct hone_pool *pool, struct hone_task_new *ret,
                          struct hone_lint *lint, struct hone_err *err)
{
    char objects[] = "/tmp/hone-objects-XXXXXX";
    bool has_objects = check && mkdtemp(objects); /* without it each lint compiles anew */
    const struct guesses like = {
        .check = check, .arg = arg, .objects_dir = has_objects ? objects : NULL};
    struct guesses g;
    *lint = (struct hone_lint){.is_admitted = true};
    start(&g, options, &like);
    int rc = make_checked(&g, pool, ret, lint, err);
    if (has_objects)
        hone_remove_tree(objects, NULL);
    return rc;
}
