/* SPDX-License-Identifier: Apache-2.0 */
/* `hone planner`: `record` measures lattices, `eval` compares policies on them.
 *
 * eval fits priors to all lattices but the one that is played (fit_all), runs
 * agents/offline/sim.h and prints regrets with intervals, as a table or JSON. */
#include <stdio.h>
#include <string.h>

#include "agents/offline/cost_fit.h"
#include "agents/offline/lattice_record.h"
#include "agents/offline/prior_fit.h"
#include "agents/offline/sim.h"
#include "agents/offline/taught.h"
#include "server/stop.h"
#include "server/verb.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"

struct args {
    struct hone_common_args common;
    const char *action, *lattices, *note, *policies;
    struct hone_strs templates;
    int64_t rounds, top, workloads, budget_ms, expansions, seeds, coders;
    double failure, skip;
    bool profile, json, fresh, fitted, taught;
};

enum { MAX_POLICIES = 16, USUAL_EXPANSIONS = 8 };
static const int64_t usual_budgets[] = {4, USUAL_EXPANSIONS, 16, 32};

struct budget { /* what the policies reached with it */
    int64_t expansions;
    struct hone_sim_score scores[MAX_POLICIES];
};

static const char *const action_names[] = {"eval", "record", NULL};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, action, "action", "ACTION", "What to do.", .is_positional = true,
             .is_required = true, .choices = action_names),
    HONE_OPTS_COMMON(struct args),
    HONE_OPT(struct args, lattices, "lattices", "DIR",
             "Folder of the lattices. The default is found from the root of a clone of hone alone.",
             .fallback = "agents/offline/lattices"),
    HONE_OPT(struct args, expansions, "expansions", "N",
             "Steps that a search may try. Default: 4, 8, 16 and 32 in turn.", .max = 1000,
             .of = "eval"),
    HONE_OPT(struct args, seeds, "seeds", "N", "Searches on each kernel.", .fallback = "100",
             .min = 1, .max = 10000, .of = "eval"),
    HONE_OPT(struct args, policies, "policies", "LIST",
             "Names with commas; the others are compared with the first. Default: all.",
             .of = "eval"),
    HONE_OPT(struct args, coders, "coders", "N", "Steps under way at a time.", .fallback = "1",
             .min = 1, .max = HONE_MAX_CODERS, .of = "eval"),
    HONE_OPT(struct args, failure, "failure", "SHARE", "Mean chance that the coder fails.",
             .fallback = "0.1", .max = 1, .of = "eval"),
    HONE_OPT(struct args, fitted, "fitted", NULL,
             "Priors start from the other kernels' lattices, not from the catalogue alone.",
             .of = "eval"),
    HONE_OPT(struct args, taught, "taught", NULL,
             "Instead: evaluations until puct is within 5 % of the best, with and without what a "
             "search of another kernel measured, for each pair of kernels.",
             .of = "eval"),
    HONE_OPT(struct args, skip, "skip-below", "SHARE",
             "Steps are not offered whose chance of a gain is below it, by a cost model of the "
             "other kernels; 0: all are.",
             .fallback = "0", .max = 1, .of = "eval"),
    HONE_OPT_JSON(struct args),
    HONE_OPT(struct args, templates, "template", "FILE",
             "A kernel with its strategies as tunables; may be repeated.", .of = "record"),
    HONE_OPT(struct args, rounds, "rounds", "N", "Repeats of every state.", .fallback = "5",
             .min = 1, .max = HONE_LIMIT_LATTICE_REPEATS, .of = "record"),
    HONE_OPT(struct args, top, "top", "N",
             "After the first round only the N fastest states; 0: all.", .fallback = "0",
             .max = HONE_LATTICE_STATES, .of = "record"),
    HONE_OPT(struct args, workloads, "workloads", "N",
             "The first N public sizes; 0: as a screening takes them.", .fallback = "0",
             .max = HONE_LIMIT_WORKLOADS, .of = "record"),
    HONE_OPT(struct args, budget_ms, "budget", "TIME", "Timing of one state in one round.",
             .is_duration = true, .fallback = "300ms", .of = "record"),
    HONE_OPT(struct args, note, "note", "TEXT", "What to know about the figures.", .of = "record"),
    HONE_OPT(struct args, fresh, "fresh", NULL, "Start anew instead of going on.", .of = "record"),
    HONE_OPT(struct args, profile, "profile", NULL, "Counters of every state (cuda).",
             .of = "record"),
};

static void on_stop(void *arg)
{
    hone_say("\nstopping; press Ctrl-C twice more to leave at once");
    hone_cancel_set(arg);
}

static int record_all(const struct args *args, struct hone_runtime *runtime,
                      const struct hone_cancel *cancel, struct hone_err *err)
{
    struct hone_progress_line line;
    hone_progress_line_init(&line);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < args->templates.n; i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_tool_ctx ctx = {.app = hone_runtime_app(runtime),
                                    .pool = pool,
                                    .cancel = cancel,
                                    .caller = "cli",
                                    .on_progress = hone_progress_line_update,
                                    .progress_arg = &line};
        const struct hone_lattice_recording recording = {.template_path = args->templates.v[i],
                                                         .out_dir = args->lattices,
                                                         .rounds = args->rounds,
                                                         .n_top = args->top,
                                                         .n_workloads = args->workloads,
                                                         .budget_ms = args->budget_ms,
                                                         .note = args->note,
                                                         .is_profiled = args->profile,
                                                         .is_fresh = args->fresh};
        rc = hone_lattice_record(&ctx, &recording, err);
    }
    hone_progress_line_clear(&line);
    return rc;
}

static int record(const struct args *args, struct hone_err *err)
{
    struct hone_cancel cancel;
    if (args->templates.n == 0)
        return hone_fail(err, HONE_E_ARG, "name templates: --template tests/lattices/matmul.c");
    int rc = hone_cancel_init(&cancel, err);
    if (rc < 0)
        return rc;
    hone_stop_block();
    HONE_CLEANUP(hone_stop_free_ptr) struct hone_stop *stop = NULL;
    HONE_CLEANUP(hone_runtime_close_ptr) struct hone_runtime *runtime = NULL;
    rc = hone_open_runtime(&args->common, &runtime, err);
    if (rc == 0)
        rc = hone_stop_watch(on_stop, &cancel, &stop, err);
    return rc < 0 ? rc : record_all(args, runtime, &cancel, err);
}

/* ---- eval ---- */

static int parse_policies(const char *list, struct hone_pool *pool, const struct hone_policy **ret,
                          size_t *ret_n, struct hone_err *err)
{
    size_t n = 0;
    for (size_t i = 0; !list && i < hone_n_policies; i++)
        ret[n++] = hone_policies[i];
    while (list && *list) {
        size_t len = strcspn(list, ",");
        const char *name = hone_pool_strndup(pool, list, len);
        const struct hone_policy *policy = hone_policy_find(name);
        if (!policy)
            return hone_fail_at(err, HONE_E_ARG, "policies", "'%.40s' is unknown; %s are", name,
                                hone_policy_names(pool));
        if (n == MAX_POLICIES)
            return hone_fail_at(err, HONE_E_LIMIT, "policies", "at most %d", MAX_POLICIES);
        ret[n++] = policy;
        list += len + (list[len] == ',');
    }
    *ret_n = n;
    return n > 0 ? 0 : hone_fail_at(err, HONE_E_ARG, "policies", "name at least one");
}

static struct hone_json *pair_json(double low, double high)
{
    struct hone_json *out = hone_json_new_array();
    hone_json_push(out, hone_json_new_f64(low));
    hone_json_push(out, hone_json_new_f64(high));
    return out;
}

static void put_budget(struct hone_json *out, const struct budget *b, size_t n)
{
    const struct hone_sim_score *s = b->scores;
    struct hone_json *regret = hone_json_new_object(), *interval = hone_json_new_object(),
                     *over = hone_json_new_object();
    for (size_t i = 0; i < n; i++) {
        hone_json_set_f64(regret, s[i].policy->name, s[i].regret);
        hone_json_set(interval, s[i].policy->name, pair_json(s[i].low, s[i].high));
        hone_json_set(over, s[i].policy->name, pair_json(s[i].over_low, s[i].over_high));
    }
    hone_json_set(out, "regret", regret);
    hone_json_set(out, "interval", interval);
    hone_json_set(out, "over_first", over);
    hone_json_set_i64(out, "expansions", b->expansions);
}

static const struct {
    const char *name, *words;
    size_t offset;
} cost_rows[] = {
#define ROW(m_, words_)                                                                            \
    {                                                                                              \
#m_, words_, offsetof(struct hone_cost_score, m_)                                          \
    }
    ROW(error, "error of the cost model, log2"),
    ROW(error_catalogue, "error of the catalogue's guess"),
    ROW(error_zero, "error of: nothing will happen"),
    ROW(dropped, "share of steps that are not offered"),
    ROW(gainers, "of those, share that gains"),
    ROW(gainers_all, "of all steps, share that gains"),
#undef ROW
};

static double cost_figure(const struct hone_cost_score *cost, size_t row)
{
    return *(const double *)(const void *)((const char *)cost + cost_rows[row].offset);
}

static struct hone_json *cost_json(const struct hone_cost_score *cost)
{
    struct hone_json *out = hone_json_new_object();
    for (size_t i = 0; i < HONE_COUNTOF(cost_rows); i++)
        hone_json_set_f64(out, cost_rows[i].name, cost_figure(cost, i));
    return out;
}

static void print_cost(const struct hone_cost_score *cost)
{
    for (size_t i = 0; i < HONE_COUNTOF(cost_rows); i++)
        printf("%-38s %.4f\n", cost_rows[i].words, cost_figure(cost, i));
    printf("\n");
}

/* One object: the figures of 8 steps, or of the only budget, and each budget in "budgets". */
static int print_budgets_json(const struct args *args, const struct budget *budgets,
                              size_t n_budgets, size_t n, size_t n_kernels,
                              const struct hone_cost_score *cost, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *out = hone_json_new_object();
    struct hone_json *all = hone_json_new_array();
    for (size_t i = 0; i < n_budgets; i++) {
        struct hone_json *one = hone_json_new_object();
        put_budget(one, &budgets[i], n);
        hone_json_push(all, one);
        if (n_budgets == 1 || budgets[i].expansions == USUAL_EXPANSIONS)
            put_budget(out, &budgets[i], n);
    }
    hone_json_set_i64(out, "seeds", args->seeds);
    hone_json_set_i64(out, "kernels", (int64_t)n_kernels);
    hone_json_set(out, "budgets", all);
    if (cost)
        hone_json_set(out, "cost_model", cost_json(cost));
    HONE_AUTOFREE char *text = hone_json_print(out);
    int rc = hone_print(text, err);
    return rc < 0 ? rc : hone_print("\n", err);
}

static int print_budget(const struct args *args, struct hone_lattice *const *lattices,
                        size_t n_kernels, const struct budget *b, size_t n, struct hone_err *err)
{
    const struct hone_sim_score *s = b->scores;
    printf("regret in log2 after %lld expansions, %lld seeds, %zu kernels; 95 %% intervals over "
           "kernels\n\n%-12s %8s  %-18s %-18s",
           (long long)b->expansions, (long long)args->seeds, n_kernels, "policy", "regret",
           "interval", "over the first");
    for (size_t k = 0; k < n_kernels; k++)
        printf(" %10.10s", lattices[k]->kernel);
    printf("\n");
    for (size_t i = 0; i < n; i++) {
        printf("%-12s %8.4f  [%.4f, %.4f]  [%+.4f, %+.4f]", s[i].policy->name, s[i].regret,
               s[i].low, s[i].high, s[i].over_low, s[i].over_high);
        for (size_t k = 0; k < n_kernels; k++)
            printf(" %10.4f", s[i].by_kernel[k]);
        printf("\n");
    }
    printf("\n");
    return hone_print("", err);
}

typedef void fit_fn(struct hone_lattice *const *lattices, size_t n, size_t skip,
                    struct hone_prior *ret);

/* Each from all the others. */
static const struct hone_prior *const *fit_all(struct hone_lattice *const *lattices, size_t n,
                                               fit_fn *fit, struct hone_pool *pool)
{
    const struct hone_prior **ret = hone_pool_alloc(pool, (n + 1) * sizeof(*ret));
    for (size_t i = 0; i < n; i++) {
        struct hone_prior *prior = hone_pool_alloc(pool, sizeof(*prior));
        fit(lattices, n, i, prior);
        ret[i] = prior;
    }
    return ret;
}

enum { TEACHER_STEPS = 16 };

static int print_pair(const struct args *args, const struct hone_lattice *teacher,
                      const struct hone_lattice *pupil, const struct hone_taught *t,
                      struct hone_err *err)
{
    HONE_AUTOFREE char *text =
        hone_sprintf(args->json ? "{\"target\":\"%s\",\"teacher\":\"%s\",\"pupil\":\"%s\","
                                  "\"without\":%.4f,\"with\":%.4f}\n"
                                : "%-5s %-18s teaches %-18s %6.2f without  %6.2f with\n",
                     pupil->target, teacher->kernel, pupil->kernel, t->without, t->with);
    return hone_print(text, err);
}

static int eval_taught(const struct args *args, struct hone_lattice *const *lattices, size_t n,
                       const struct hone_sim_options *like, struct hone_err *err)
{
    struct hone_sim_options options = *like;
    struct hone_sim *sim = hone_sim_new(lattices, n);
    int rc = 0;
    options.n_expansions = args->expansions > 0 ? args->expansions : TEACHER_STEPS;
    for (size_t pupil = 0; rc == 0 && pupil < n; pupil++)
        for (size_t teacher = 0; rc == 0 && teacher < n; teacher++) {
            struct hone_taught t;
            if (teacher == pupil || strcmp(lattices[teacher]->target, lattices[pupil]->target) != 0)
                continue;
            hone_taught_compare(sim, teacher, pupil, &options, &t);
            rc = print_pair(args, lattices[teacher], lattices[pupil], &t, err);
        }
    hone_sim_free(sim);
    return rc;
}

static int eval(const struct args *args, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_lattice **lattices = NULL;
    const struct hone_policy *policies[MAX_POLICIES];
    struct budget budgets[HONE_COUNTOF(usual_budgets)];
    size_t n_lattices = 0, n_policies = 0;
    size_t n_budgets = args->expansions > 0 ? 1 : HONE_COUNTOF(usual_budgets);
    int rc = parse_policies(args->policies, pool, policies, &n_policies, err);
    if (rc == 0)
        rc = hone_lattice_load_all(args->lattices, pool, &lattices, &n_lattices, err);
    if (rc < 0)
        return rc;
    struct hone_sim_options options = {
        .n_seeds = args->seeds, .n_coders = args->coders, .failure = args->failure};
    if (args->taught)
        return eval_taught(args, lattices, n_lattices, &options, err);
    if (args->fitted)
        options.priors = fit_all(lattices, n_lattices, hone_prior_fit, pool);
    options.learned = fit_all(lattices, n_lattices, hone_prior_fit_like, pool);
    struct hone_cost_score cost;
    const struct hone_cost_model **models = NULL;
    if (args->skip > 0) {
        hone_cost_fit_all(lattices, n_lattices, pool, &models, args->skip, &cost);
        options.cost = models;
        options.cost_limit = args->skip;
    }
    struct hone_sim *sim = hone_sim_new(lattices, n_lattices);
    for (size_t i = 0; i < n_budgets; i++) {
        options.n_expansions = args->expansions > 0 ? args->expansions : usual_budgets[i];
        budgets[i].expansions = options.n_expansions;
        hone_sim_compare(sim, policies, n_policies, &options, pool, budgets[i].scores);
    }
    hone_sim_free(sim);
    if (args->json)
        return print_budgets_json(args, budgets, n_budgets, n_policies, n_lattices,
                                  models ? &cost : NULL, err);
    if (models)
        print_cost(&cost);
    for (size_t i = 0; rc == 0 && i < n_budgets; i++)
        rc = print_budget(args, lattices, n_lattices, &budgets[i], n_policies, err);
    return rc;
}

static const struct hone_verb_action actions[] = {
    {"eval", "", "plays the policies on recorded lattices and compares them", NULL},
    {"record", "", "builds, checks and times every combination of a template's strategies",
     "hone planner record --template tests/lattices/sum.c --rounds 2"},
};

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    return strcmp(args->action, "eval") == 0 ? eval(args, err) : record(args, err);
}

const struct hone_verb hone_verb_planner = {
    .name = "planner",
    .summary = "Compare planners on recorded lattices, and record those.",
    .actions = actions,
    .n_actions = HONE_COUNTOF(actions),
    .example = "hone planner record --template tests/lattices/sum.c --rounds 2",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
