/* SPDX-License-Identifier: Apache-2.0 */
/* The search: planner and coder in a loop under a budget, over a tree of versions.
 *
 *   baseline -> [ pick a step -> apply it -> screen -> decide when promising ] ...
 *            -> sweep the tunables of the best -> confirm
 *
 * Every version goes through hone_evaluate, so each is a commit. The branch search/<name> follows
 * the best one. What happens is in the ledger:
 *
 *   search.start    the options
 *   search.step     the intent, before the evaluation
 *   search.result   the outcome, enough to rebuild the tree
 *   search.end      why it stopped
 *
 * The same options again go on where a killed search was: steps with a result are not repeated. A
 * search that has ended starts a new round with the tree it had; only what was not tried yet is
 * evaluated, then the best is confirmed afresh.
 *
 * Calling sequence, in the caller's thread:
 *
 *     struct hone_search_options options = {.task = "softmax", .budget_wall_ms = 60000};
 *     struct hone_search_result result;
 *     hone_search_run(ctx, &options, on_progress, arg, &result, err);
 *
 * or in a thread of its own: hone_search_host_start, _wait (as often as wanted), _stop.
 *
 * hone_search_run borrows the options and calls on_progress on the caller's thread; the strings of the
 * result live in ctx->pool. The host copies the options.
 *
 * Figures in struct hone_search_result come from the confirmation alone. */
#ifndef HONE_AGENTS_SEARCH_H
#define HONE_AGENTS_SEARCH_H

#include "agents/search/options.h"
#include "tools/tool.h"
#include "workspace/base/hash.h"

enum hone_search_phase {
    HONE_PHASE_BASELINE,
    HONE_PHASE_SEARCH,
    HONE_PHASE_DECIDE,
    HONE_PHASE_SWEEP,
    HONE_PHASE_CONFIRM,
    HONE_N_PHASES
};
const char *hone_search_phase_name(enum hone_search_phase phase); /* "sweep" */

struct hone_search_progress { /* strings are borrowed for the call */
    const char *task;
    enum hone_search_phase phase;
    const char *message; /* "register tile around the reduction: 38.2x" */
    int64_t evaluations;
    int64_t elapsed_ms, budget_wall_ms;
    int64_t budget_evaluations; /* what the cap leaves to this round; 0: none */
    const char *budgets;        /* the others: "cost 0.31 of 5 USD, tokens 12034" */
    double best_ratio;
    const char *best_word;   /* "screened", "decided", "confirmed": only the last is a result */
    const char *best_commit; /* may be NULL */
};
typedef void hone_search_progress_fn(void *arg, const struct hone_search_progress *progress);

/* HONE_E_ARG when no cap bounds it, or one is out of range. Money and tokens bound a search that
 * asks a model alone. */
int hone_search_check_caps(const struct hone_search_options *options, struct hone_err *err);

/* Runs to the end or to ctx->cancel (HONE_E_CANCEL; everything finished is kept, the next run goes
 * on). Bad options: HONE_E_ARG, HONE_E_NOT_FOUND. HONE_E_UNSUPPORTED: no coder works here (libclang
 * is missing). Blocks; any thread; one search of a name at a time (HONE_E_BUSY). */
int hone_search_run(struct hone_tool_ctx *ctx, const struct hone_search_options *options,
                    hone_search_progress_fn *on_progress, void *progress_arg,
                    struct hone_search_result *ret, struct hone_err *err);

/* Rebuilds a search's state from the ledger's records up to number `until` and gives its digest.
 * The search that wrote those records had the same digest then. `which` as in
 * agents/search/steer.h. */
struct hone_steer_search;
int hone_search_digest_at(struct hone_tool_ctx *ctx, const struct hone_steer_search *which,
                          uint64_t until, char ret[HONE_HASH_TEXT_BYTES], struct hone_err *err);

/* Running searches of one program, each in a thread of its own. Thread safe. */
struct hone_search_host;
struct hone_search_state {
    const char *id, *task;
    enum hone_job_status status; /* never queued */
    const char *message;         /* last progress, or the error */
    int code;                    /* enum hone_code of one that failed; else 0 */
    int64_t evaluations;
    double best_ratio;
    bool has_result;
    struct hone_search_result result;
};
/* max_running: HONE_LIMIT_SEARCHES in a server, HONE_LIMIT_LANES in a suite. */
int hone_search_host_new(struct hone_app *app, size_t max_running, struct hone_search_host **ret,
                         struct hone_err *err);
void hone_search_host_free(struct hone_search_host *host); /* cancels and joins all; NULL is fine */
/* HONE_E_BUSY above max_running; bad options are told here. The id is in the pool. */
int hone_search_host_start(struct hone_search_host *host, const struct hone_search_options *options,
                           struct hone_pool *pool, const char **ret_id, struct hone_err *err);
/* Asks; does not wait. HONE_E_NOT_FOUND. One that has ended already is fine. */
int hone_search_host_stop(struct hone_search_host *host, const char *id, struct hone_err *err);
void hone_search_host_stop_all(struct hone_search_host *host);
/* Waits at most until the deadline for the end; strings in the pool. HONE_E_NOT_FOUND. */
int hone_search_host_wait(struct hone_search_host *host, const char *id, int64_t deadline_ns,
                          struct hone_pool *pool, struct hone_search_state *ret,
                          struct hone_err *err);
size_t hone_search_host_list(struct hone_search_host *host, struct hone_pool *pool,
                             struct hone_search_state **ret);

/* strategy_propose, strategy_apply, search_start, search_stop, search_steer, search_outcome */
extern const struct hone_tool_set hone_tool_set_agents;

#endif
