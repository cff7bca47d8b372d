/* SPDX-License-Identifier: Apache-2.0 */
/* What `hone search`, its suites (verb_suite.c) and what it learnt (verb_search_learnt.c) share. */
#ifndef HONE_SERVER_VERB_SEARCH_H
#define HONE_SERVER_VERB_SEARCH_H

#include "agents/search/search.h"
#include "server/verb.h"
#include "workspace/task/target.h"

struct hone_search_args {
    struct hone_common_args common;
    struct hone_search_options options; /* but for these */
    const char *suite;                  /* NULL: one task */
    const char *lattices;               /* folder: what the cost model is fitted to */
    int64_t disk_mib, lanes;
    bool no_plateau;
    bool json, quiet, knowledge;
};

/* What a search takes for one task: rows of `hone search` and of `hone doctor --task`. type has the
 * members common, options, lattices, disk_mib, no_plateau and knowledge. */
/* clang-format off */
#define HONE_OPTS_SEARCH(type) \
    HONE_OPT(type, options.target, "target", "TARGET", \
             "Where kernels run. Default: cpu, or cuda where the task has that alone.", \
             .choices = hone_target_words), \
    HONE_OPT(type, options.budget_wall_ms, "budget-wall", "TIME", \
             "Stop after this time: 90s, 10m, 8h.", .is_duration = true), \
    HONE_OPT(type, options.budget_evaluations, "budget-evaluations", "N", \
             "Stop after so many evaluations."), \
    HONE_OPT(type, options.budget_device_ms, "budget-device", "TIME", \
             "Stop when its evaluations have taken this time together.", .is_duration = true), \
    HONE_OPT(type, options.budget_cost, "budget-cost", "USD", \
             "Most that models may cost, all rounds of the search together."), \
    HONE_OPT(type, options.budget_tokens, "budget-tokens", "N", \
             "Most tokens that models may take and give, all rounds together."), \
    HONE_OPT(type, disk_mib, "budget-disk", "MIB", \
             "Stop before the workspace's .hone folder is larger.", .max = 1 << 30), \
    HONE_OPT(type, options.policy, "policy", "NAME", \
             "How the next step is chosen: puct (default), archive, ucb, greedy, chain, random, learned; " \
             "for comparison puct-flat, puct-mean, masked-ucb."), \
    HONE_OPT(type, options.coder, "coder", "NAME", "Who edits the source.", \
             .fallback = "rules", .choices = hone_search_coder_words), \
    HONE_OPT(type, options.planner, "planner", "NAME", \
             "Who chooses the steps; llm: a model reranks what the rules propose; external: agents " \
             "that submit them (strategy_apply with search).", \
             .fallback = "rules", .choices = hone_search_planner_words), \
    HONE_OPT(type, options.model, "model", "NAME", \
             "Configured model that is asked."), \
    HONE_OPT(type, options.planner_model, "planner-model", "NAME", \
             "Another one for the planner."), \
    HONE_OPT(type, options.repairs, "repairs", "N", \
             "Repairs of a step that a model got wrong.", .fallback = "3", .max = 10), \
    HONE_OPT(type, options.coders, "coders", "N", \
             "Answers of a model that are waited for at a time: steps are chosen before the last " \
             "one has ended.", \
             .fallback = "1", .min = 1, .max = HONE_MAX_CODERS), \
    HONE_OPT(type, options.submission_wait_ms, "wait-submissions", "TIME", \
             "With planner or coder external: stop when none came for so long.", .fallback = "10m", \
             .is_duration = true), \
    HONE_OPT(type, options.name, "name", "NAME", \
             "Name of the search: its branch is search/NAME. Default: the task's name."), \
    HONE_OPT(type, options.seed, "seed", "N", "Seed of the planner's choices.", \
             .fallback = "1"), \
    HONE_OPT(type, knowledge, "knowledge", NULL, \
             "Start from what searches of other tasks of the family gained (hone knowledge), and show " \
             "the best of it to models."), \
    HONE_OPT(type, options.skip_below, "skip-below", "SHARE", \
             "Leave out steps whose chance of a gain is below it, by a cost model of recorded " \
             "kernels of other families, until nothing else is left; 0: none.", \
             .fallback = "0", .max = 1), \
    HONE_OPT(type, lattices, "lattices", "DIR", \
             "What that model is fitted to.", .fallback = "agents/offline/lattices"), \
    HONE_OPT(type, options.stop_at_speedup, "stop-at-speedup", "X", \
             "Stop when a version is decided to be X times as fast as the baseline, and confirm."), \
    HONE_OPT(type, options.stop_at_percent_of_bound, "stop-at", "PERCENT", \
             "Stop at this share of what the machine allows; 0: 95.", .max = 100), \
    HONE_OPT(type, options.plateau, "stop-at-plateau", "N", \
             "Stop after so many steps without a new best.", .fallback = "24", .min = 1, \
             .max = 1000000), \
    HONE_OPT(type, no_plateau, "no-plateau", NULL, \
             "Do not stop there: go on until a cap, or until nothing is left to try.")
/* clang-format on */

/* The options as agents/search/search.h takes them. */
static inline void hone_search_settle(struct hone_search_options *options, int64_t disk_mib,
                                      bool no_plateau)
{
    options->budget_disk_bytes = disk_mib << 20;
    options->plateau = no_plateau ? -1 : options->plateau;
}

/* verb_search_learnt.c: what other searches and recorded kernels taught, as far as the arguments ask
 * for it: prior, notes for models, cost model, for the options' task. In the pool. */
int hone_search_take_learnt(struct hone_app *app, const struct hone_search_args *args,
                            struct hone_search_options *options, struct hone_pool *pool,
                            struct hone_err *err);
/* `hone search --suite`: collects the tasks, runs the suite, prints its report. */
int hone_search_suite(const struct hone_search_args *args, struct hone_runtime *runtime,
                      const struct hone_cancel *cancel, struct hone_err *err);

#endif
