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
 * Figures in struct hone_search_result come from the confirmation alone. */
#ifndef HONE_AGENTS_SEARCH_H
#define HONE_AGENTS_SEARCH_H

#include "tools/tool.h"
#include "workspace/base/hash.h"

#define HONE_SUBMISSION_WAIT_MS 600000

/* After each event of a search that runs: the record's number, and the digest of what the search
 * knows (agents/search/state.h). */
typedef void hone_search_event_fn(void *arg, uint64_t n, const char *digest);

struct hone_search_options {
    const char *task;
    const char *target;         /* NULL: cpu */
    const char *policy;         /* NULL: puct; see hone_policies */
    const char *coder;          /* NULL: rules; llm, auto, external */
    const char *planner;        /* NULL: rules; llm: a model reranks what the rules propose;
                                   external: submissions alone (steer.h), also with that coder */
    const char *model;          /* configured name, for both; NULL: the configuration's default */
    const char *planner_model;  /* NULL: model */
    int64_t submission_wait_ms; /* external: ends when none comes; 0: HONE_SUBMISSION_WAIT_MS */
    int64_t repairs;            /* of a failed step by a model; < 0: none */
    int64_t n_coders;           /* answers of models under way at a time, at most HONE_MAX_CODERS;
                                   0: one */
    const char *name;           /* branch search/<name>; NULL: the task's name */
    int64_t budget_wall_ms;     /* 0: none */
    int64_t budget_evaluations; /* 0: none; a search without any cap is refused */
    int64_t budget_disk_bytes;  /* of the workspace's .hone folder; 0: none */
    int64_t budget_device_ms;   /* wall time of all its evaluations; 0: none */
    double budget_cost;         /* USD, models of all rounds; 0: none. Prices must be known */
    int64_t budget_tokens;      /* models of all rounds; 0: none */
    int64_t seed;
    double stop_at_percent_of_bound; /* 0: 95 */
    double stop_at_speedup;          /* decided, then confirmed; 0: none */
    int64_t plateau; /* stop after so many expansions without a new best; 0: 24, < 0: never */
    hone_search_event_fn *on_event; /* NULL: nobody asks */
    void *on_event_arg;
};

struct hone_search_progress { /* strings are borrowed for the call */
    const char *task;
    const char *phase;   /* baseline, search, sweep, confirm */
    const char *message; /* "register tile around the reduction: 38.2x" */
    int64_t evaluations;
    int64_t elapsed_ms, budget_wall_ms;
    int64_t budget_evaluations; /* what the cap leaves to this round; 0: none */
    const char *budgets;        /* the others: "cost 0.31 of 5 USD, tokens 12034" */
    double best_ratio;          /* screened, not a claim */
    const char *best_commit;    /* may be NULL */
};
typedef void hone_search_progress_fn(void *arg, const struct hone_search_progress *progress);

struct hone_search_count {
    const char *verdict;
    int64_t n;
};

struct hone_search_result { /* strings live in ctx->pool */
    const char *task, *target, *name;
    double baseline_ns, best_ns; /* geometric mean over the workloads of the confirmation */
    double speedup;              /* 1 when nothing faster was confirmed; NaN when not measured */
    struct hone_f64s ci;         /* low, high: 95 % */
    int64_t evaluations;
    struct hone_array verdicts; /* of struct hone_search_count */
    int64_t unruly;             /* versions that failed where the baseline worked */
    const char *best_commit;    /* NULL: none */
    double percent_of_bound;
    const char *verdict;     /* of the confirmation */
    const char *why_stopped; /* budget_wall, budget_evaluations, budget_device, budget_disk,
                                budget_cost, budget_tokens, target, near_roof, plateau, exhausted,
                                tree_full, cancelled */
    const char *summary;     /* one line */
    const char *doubt;       /* why the figure may not be claimed; NULL: it may */
    const char *rests_on;    /* of the confirmation: tools/rests_text.h; NULL: not told */
    bool is_resumed;
    int64_t wall_ms;
    int64_t waited_ms;         /* of wall_ms, for other timings; this process's part */
    int64_t device_ms, tokens; /* all rounds */
    double cost;               /* USD, all rounds; asks without an answer with their reserve */
};
enum { HONE_SEARCH_N_RESULT_FIELDS = 23 };
extern const struct hone_field hone_search_result_fields[HONE_SEARCH_N_RESULT_FIELDS];
extern const size_t hone_search_n_result_fields;

/* HONE_E_ARG when no cap bounds it, or one is out of range. Money and tokens bound a search that
 * asks a model alone. */
int hone_search_check_caps(const struct hone_search_options *options, struct hone_err *err);

/* Runs to the end or to ctx->cancel (HONE_E_CANCEL; everything finished is kept, the next run goes
 * on). Bad options: HONE_E_ARG, HONE_E_NOT_FOUND. HONE_E_UNSUPPORTED: no coder works here (libclang
 * is missing). Blocks; any thread; one search of a name at a time (HONE_E_BUSY). */
int hone_search_run(struct hone_tool_ctx *ctx, const struct hone_search_options *options,
                    hone_search_progress_fn *on_progress, void *progress_arg,
                    struct hone_search_result *ret, struct hone_err *err);

/* The digest that a search has which goes on from the records up to number `until`: that of the
 * search which wrote them. `which` as in agents/search/steer.h. */
struct hone_steer_search;
int hone_search_digest_at(struct hone_tool_ctx *ctx, const struct hone_steer_search *which,
                          uint64_t until, char ret[HONE_HASH_TEXT_BYTES], struct hone_err *err);

/* Running searches of one program, each in a thread of its own. Thread safe. */
struct hone_search_host;
struct hone_search_state {
    const char *id, *task;
    enum hone_job_status status; /* never queued */
    const char *message;         /* last progress, or the error */
    int64_t evaluations;
    double best_ratio;
    bool has_result;
    struct hone_search_result result;
};
int hone_search_host_new(struct hone_app *app, struct hone_search_host **ret, struct hone_err *err);
void hone_search_host_free(struct hone_search_host *host); /* cancels and joins all; NULL is fine */
/* HONE_E_BUSY above HONE_LIMIT_SEARCHES; bad options are told here. The id is in the pool. */
int hone_search_host_start(struct hone_search_host *host, const struct hone_search_options *options,
                           struct hone_pool *pool, const char **ret_id, struct hone_err *err);
int hone_search_host_stop(struct hone_search_host *host, const char *id,
                          struct hone_err *err); /* asks; does not wait */
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
