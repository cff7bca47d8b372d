/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the search that its files share; nobody else includes this.
 *
 *   search.c            opening and closing, progress, the result
 *   next.c              what comes next, stop rules
 *   driver.c            the loop that carries it out
 *   search_step.c       one expansion: apply, evaluate, credit, tree
 *   search_implement.c  a step through the coder, with its repairs
 *   search_ahead.c      answers of models that are asked for ahead
 *   search_models.c     opens models and their journal
 *   search_review.c     a model orders the steps of a version
 *   search_merge.c      steps that take over what won on a sibling
 *   search_refine.c     decide, sweep, confirm
 *   search_budget.c     what is spent and reserved of each cap (budget.h)
 *   search_wait.c       the wall cap, forecasts, waits
 *   search_record.c     writes events and applies them (state.h); going on from the records
 *   search_steer.c      requests and submissions from outside
 *   search_notify.c     notices (notify.h)
 *   search_view.c       a search as an outside planner sees it (view.h)
 *
 * search_host.c (searches in threads) and search_report*.c (reports from records) use search.h and
 * the ledger alone. */
#ifndef HONE_AGENTS_SEARCH_INTERNAL_H
#define HONE_AGENTS_SEARCH_INTERNAL_H

#include "agents/search/budget.h"
#include "agents/search/pace.h"
#include "agents/coder/coder.h"
#include "agents/planner/planner.h"
#include "agents/planner/policy.h"
#include "agents/search/search.h"
#include "agents/search/state.h"
#include "agents/search/steer.h"
#include "agents/search/usage.h"
#include "tools/evaluate.h"

#define HONE_SEARCH_POLL_MS 50 /* between looks for requests, while something is waited for */

struct hone_search {
    struct hone_tool_ctx *ctx;
    const struct hone_search_options *options;
    const char *target, *name;
    const char *machine; /* that this runs on, once asked; NULL: not known */
    const struct hone_policy *policy;
    hone_search_progress_fn *on_progress;
    void *progress_arg;

    struct hone_task *task;
    struct hone_c_parser *parser;
    struct hone_coder *coder;
    struct hone_search_models *models; /* NULL: none are asked */
    struct hone_pool *pool;            /* as long as the search */
    struct hone_state state;           /* written by hone_state_apply */
    struct hone_policy_ctx policy_ctx;

    const char *id;   /* of this search in the ledger */
    int64_t start_ns; /* of this process's part */
    int64_t elapsed_before_ms;
    int64_t n_evaluations;
    int64_t n_infra;  /* evaluations in a row that failed as the baseline did */
    int64_t n_unruly; /* versions that failed where the baseline worked */
    int64_t n_verdicts[HONE_VERDICT_INFRA + 1];
    int64_t waited_ms; /* for the timing lease */
    char waited_for[HONE_LIMIT_HOLDER_BYTES];
    struct hone_pace pace;                /* how long evaluations of this task take here */
    int64_t profiled_ms, last_profile_ms; /* what profiles took: all of this process, the last */
    const char *unconfirmed; /* why no confirmation began; NULL: none was due, or it did */
    bool is_resumed;
    enum hone_search_phase phase;
    const struct hone_node *confirmed; /* the last that was; NULL: none yet */
    double confirmed_ratio;
    enum hone_verdict confirmed_verdict;

    struct hone_budgets budgets;
    struct hone_usage usage;
    enum hone_stop_reason refused; /* what did not fit; NONE: everything did */
    struct hone_search_disk {
        int64_t bytes, most_growth, at; /* at the evaluation of that number; growth of one */
    } disk;
    struct hone_recalled *unused; /* answers of a process that was killed before it used them */
    size_t n_unused;
    struct hone_search_notices *notices; /* NULL: nobody is told */
    struct hone_search_ahead *ahead;     /* NULL: nothing is asked for ahead */
    const struct hone_err *failed_ask;   /* of the step that is tried, when it was asked for ahead
                                            and brought no answer; else NULL */

    bool is_view;          /* nothing is run or written: the tree, for who asks */
    uint64_t replay_until; /* of a view: records above this number are not seen; 0: all are */
    struct hone_steering *steering;
    const struct hone_submission *submission; /* being tried; NULL: a step of the policy */
};

struct hone_search_outcome { /* of one evaluation; strings in the search's pool */
    enum hone_verdict verdict;
    const char *reason, *commit, *evaluation, *summary;
    const char *words;             /* the line that people read: hone_evaluation_summary */
    const char *rests_on;          /* what the figure rests on, one line; NULL: not told */
    const char *doubt;             /* why the figure may not be claimed; NULL: it may */
    const char *code;              /* word for the machine code; NULL: not told */
    const char *times;             /* by size, in words; NULL: not timed */
    struct hone_basis basis;       /* of ratio, rank and times */
    const char *diagnosis;         /* of a failure, for repairs; NULL when none are made */
    bool is_right;                 /* could be ranked */
    double ratio, low, high;       /* against the baseline; NaN: none */
    double vs_fast_math;           /* against the baseline with -ffast-math; NaN: none */
    struct hone_array yardsticks;  /* of struct hone_yardstick */
    double rank;                   /* what versions are compared by: the ratio over public workloads
                                      alone, as drawn ones differ from one confirmation to the next */
    struct hone_features measured; /* from the report alone */
    double baseline_ns, best_ns, percent_of_bound;
    int64_t best_point;
    double best_point_ratio;
    const double *point_ns; /* of a sweep, NaN where a setting failed */
    size_t n_points;
    struct hone_finding findings[HONE_N_CLASSES]; /* of a profile; none: n_findings 0 */
    const char *hot_kernel;                       /* of one; NULL: it does not say */
    const char *profile; /* of one, in words (profile_text.h); NULL: likewise */
    size_t n_findings;
    int64_t wall_ms;
    int64_t pace_ms; /* the same without what is measured once: for struct hone_pace */
};

struct hone_attempt { /* what to evaluate */
    const char *source, *tier, *subject, *body;
    const char *parent;   /* commit or NULL */
    const char *strategy; /* trailer, or NULL */
    int64_t budget_ms;
    struct hone_array points;
    int64_t finish_ms;  /* as in a job; 0: none */
    bool is_fresh;      /* a stored answer does not count */
    const char *stages; /* NULL: the tier's */
    bool no_commit;
    const char *coder;      /* trailer; NULL: the search's */
    int64_t n_asks, tokens; /* of models, for this version: trailers */
    double cost;
};

struct hone_implemented {   /* a step that was carried out, or not */
    struct hone_pool *pool; /* in: of its strings; those of the outcome are in the search's */
    const char *source;     /* the last one that was tried; NULL: none */
    const char *note;       /* why it ended */
    const char *refused;    /* the last answer, when it could not be used; else NULL */
    bool is_declined;       /* the coder's last word was that the step cannot help here */
    bool has_outcome;
    struct hone_search_outcome outcome;
    bool is_recorded;
    int64_t n_asks, tokens_in, tokens_out;
    double cost;
};

/* search_wait.c: the wall cap, and waits. */
int64_t hone_search_now_ns(const struct hone_search *s);
/* Waits and pauses left out. */
int64_t hone_search_elapsed_ms(const struct hone_search *s);
/* Milliseconds left of the wall budget; INT64_MAX without one. */
int64_t hone_search_left_ms(const struct hone_search *s);
/* The same, without what is kept back for the confirmation. */
int64_t hone_search_room_ms(const struct hone_search *s);
/* What a screen is expected to take. */
int64_t hone_search_one_screen_ms(const struct hone_search *s);
/* A confirmation that the wall cap stopped after so long. */
void hone_search_tell_cut(struct hone_search *s, int64_t ms);
/* Nothing was confirmed: says why, where it was for want of time. */
void hone_search_tell_unconfirmed(struct hone_search *s);
/* ", about 15 s", in the search's pool; "" for 0. */
const char *hone_search_cost_words(struct hone_search *s, int64_t ms);
/* After the baseline: how much of a search the cap is. */
void hone_search_tell_forecast(struct hone_search *s);
struct hone_search_wait { /* of one evaluation */
    struct hone_search *search;
    int64_t told_ns;
    int64_t heard_ns, left_ns; /* of the last word of a wait; what is left after it */
    struct hone_cancel_timer stop;
    bool has_stop;
};
/* The evaluation's cancel: the caller's, and once there is a version the wall cap. A longer look
 * leaves what is kept back for the confirmation. */
int hone_search_open_wait(struct hone_search *s, const struct hone_attempt *attempt,
                          struct hone_search_wait *wait, struct hone_err *err);
void hone_search_close_wait(struct hone_search_wait *wait);
/* An evaluation that ended with this code: HONE_E_LIMIT, s->refused set, where the cap stopped it. */
int hone_search_stopped(struct hone_search_wait *wait, int code, struct hone_err *err);
/* When the timing of a confirmation should be over, by the job's clock; 0: there is no wall cap. */
int64_t hone_search_finish_ms(const struct hone_search *s);
/* A hone_progress_fn, arg struct hone_search_wait: passes on whom it waits for, now and then. */
void hone_search_on_wait(void *arg, const struct hone_progress *progress);
/* Adds what the evaluation waited, takes it out of the elapsed time, and returns it. */
int64_t hone_search_count_wait(struct hone_search *s, const struct hone_report *report);
void hone_search_tell_wait(struct hone_search *s);

/* search.c */
void hone_search_tell(struct hone_search *s, const char *fmt, ...) HONE_PRINTF(2, 3);
/* What the policy takes next; false: STOP. The same again until something was tried. */
bool hone_search_pick(struct hone_search *s, struct hone_pick *ret);
/* The same in a search that runs: what was left out for it is recorded first. */
int hone_search_choose(struct hone_search *s, struct hone_pick *ret, bool *ret_has,
                       struct hone_err *err);
/* A search as its records have it, to be looked at; it may run meanwhile. No models. `which` is
 * borrowed. HONE_E_NOT_FOUND: it has no version yet. */
int hone_search_view_open(struct hone_tool_ctx *ctx, const struct hone_steer_search *which,
                          struct hone_search **ret, struct hone_err *err);
void hone_search_view_close(struct hone_search *s); /* NULL is fine */

/* search_step.c */
int hone_search_evaluate(struct hone_search *s, const struct hone_attempt *attempt,
                         struct hone_search_outcome *ret, struct hone_err *err);
int hone_search_root(struct hone_search *s, struct hone_err *err);
int hone_search_expand(struct hone_search *s, const struct hone_pick *pick, struct hone_err *err);
void hone_search_list_steps(void *search, struct hone_node *node); /* fills in actions */
/* A step of whoever thought of it; the action need not be one of the version's. */
int hone_search_try(struct hone_search *s, struct hone_node *from, struct hone_action *action,
                    double propensity, struct hone_err *err);
int hone_search_set_branch(struct hone_search *s, struct hone_err *err);

/* "incorrect (wrong_value)", in the search's pool. */
const char *hone_verdict_words(struct hone_search *s, const char *verdict, const char *reason);

/* search_steer.c */
/* What holds from earlier runs; once the search's id is known. */
int hone_search_load_steering(struct hone_search *s, struct hone_err *err);
/* Says in the ledger that this process runs the search. */
int hone_search_announce(struct hone_search *s, struct hone_err *err);
/* Between expansions: takes requests in, and waits while paused (that time is not counted). Returns
 * early when cancelled. */
int hone_search_listen(struct hone_search *s, struct hone_err *err);
/* Sleeps, or until cancelled. */
void hone_search_wait_ms(struct hone_search *s, int64_t ms);
/* Tries the oldest submission, if one waits. */
int hone_search_take(struct hone_search *s, bool *ret_did, struct hone_err *err);
/* The round ends: who still waits is told. */
int hone_search_drop_submissions(struct hone_search *s, const char *why, struct hone_err *err);
/* Does the search live of submissions alone? */
bool hone_search_is_external(const struct hone_search *s);

struct hone_todo { /* a step to carry out */
    struct hone_node *from;
    const struct hone_action *action;
    const struct hone_attempt *like; /* what all versions of the step share */
    double propensity;
};
/* search_implement.c: 0 whatever came of it. */
int hone_search_implement(struct hone_search *s, const struct hone_todo *todo,
                          struct hone_implemented *ret, struct hone_err *err);

/* What the coder is told of a step as things stand; strings in the pool. */
struct hone_coder_work hone_search_work(struct hone_search *s, const struct hone_node *from,
                                        const struct hone_action *action, struct hone_pool *pool);

/* search_ahead.c: up to options.coders answers of models are waited for at a time; what
 * comes back is tried in the order in which it was asked for, so that the same answers give
 * the same tree. */
/* Once the record is read; finds steps again whose answer was stored but that have no end. */
int hone_search_open_ahead(struct hone_search *s, struct hone_err *err);
/* Asks for more where it may, waits for the oldest answer and tries it. *ret_did false: nothing is
 * under way, and nothing could be asked for. */
int hone_search_take_ahead(struct hone_search *s, bool may_ask, bool *ret_did,
                           struct hone_err *err);
/* Gives up what is under way; what was not answered yet may be asked for again. */
int hone_search_drop_ahead(struct hone_search *s, struct hone_err *err);
void hone_search_close_ahead(struct hone_search *s);

/* search_merge.c: steps that take over what won on a sibling. */
/* Brings those of a version, or of all that are expanded, up to date with the tree. */
void hone_search_list_merges(struct hone_search *s, struct hone_node *node);
void hone_search_list_all_merges(struct hone_search *s);
/* The diff that made the action's sibling, in the pool; NULL: it has none. */
const char *hone_search_sibling(struct hone_search *s, const struct hone_action *action,
                                struct hone_pool *pool);

/* search_budget.c: caps. */
/* Caps and what was spent before; is_new_round: HONE_E_LIMIT when nothing is left to begin with. */
int hone_search_open_budgets(struct hone_search *s, bool is_new_round, struct hone_err *err);
/* Brings wall time, money and tokens up to date. */
void hone_search_count(struct hone_search *s);
struct hone_planned { /* work that may begin */
    int64_t n;        /* evaluations */
    int64_t wall_ms;  /* 0: as many screens */
};
/* The cap that it, and the confirmation after it, could pass; HONE_STOP_NONE: none. */
enum hone_stop_reason hone_search_over(struct hone_search *s, const struct hone_planned *planned);
/* Does one more confirmation fit all caps? The first one of a round may be timed much shorter. */
bool hone_search_may_confirm(const struct hone_search *s, bool is_first);
/* Reserves what the evaluation may take, and the confirmation beside it.
 * HONE_E_LIMIT sets s->refused. */
int hone_search_begin_work(struct hone_search *s, const struct hone_attempt *attempt,
                           double *ret_reserved_ms, struct hone_err *err);
void hone_search_end_work(struct hone_search *s, const struct hone_attempt *attempt,
                          double reserved_ms, int64_t wall_ms, bool is_free);
/* The cap behind an error of that code; a second call knows it no more. HONE_STOP_NONE: the error
 * has nothing to do with caps. */
enum hone_stop_reason hone_search_take_refusal(struct hone_search *s, int code);
/* After a refusal: true when it was of models and the search can go on with its rules alone. */
bool hone_search_drop_models(struct hone_search *s, enum hone_stop_reason why);
/* What an earlier process had measured already; false: nothing. */
bool hone_search_recall(struct hone_search *s, const struct hone_attempt *attempt,
                        struct hone_evaluation *ret);

/* search_notify.c: a failed notice is logged once and changes nothing. */
int hone_search_open_notices(struct hone_search *s, struct hone_err *err);
/* A best version that a longer look agreed with. */
void hone_search_milestone(struct hone_search *s, const struct hone_node *node, bool is_confirmed);
/* code and cause: of the end; result NULL unless code is 0. */
void hone_search_tell_end(struct hone_search *s, int code, const struct hone_search_result *result,
                          const struct hone_err *cause);

/* search_models.c: the models of a search, if its options name any. */
int hone_search_open_models(struct hone_search *s, struct hone_err *err);
/* Once the search's id is known. */
int hone_search_load_models(struct hone_search *s, struct hone_err *err);
void hone_search_close_models(struct hone_search *s);
int64_t hone_search_ask_deadline_ns(const struct hone_search *s);
/* The machine in words, for models: asked at the first request, when the baseline was timed, and
 * then the same for this process. NULL: no model is asked. */
const char *hone_search_machine(struct hone_search *s);

/* search_review.c: a planning model reranks a version's steps, once. *ret_did: pick again. */
bool hone_search_wants_review(const struct hone_search *s, int node);
int hone_search_review(struct hone_search *s, int node, bool *ret_did, struct hone_err *err);
/* A step that brought a gain: who of rules and model held it likely? */
int hone_search_learn_mix(struct hone_search *s, double p_rules, double p_llm,
                          struct hone_err *err);

/* search_refine.c */
int hone_search_decide(struct hone_search *s, struct hone_node *node, struct hone_err *err);
int hone_search_sweep(struct hone_search *s, struct hone_node *node, struct hone_err *err);
/* One confirmation; what it measured replaces what shorter looks had said of the node. */
int hone_search_confirm(struct hone_search *s, struct hone_node *node,
                        struct hone_search_outcome *ret, struct hone_err *err);
/* Plain `git log` of the branch ends with what was confirmed, not with a screen's figure. */
int hone_search_present(struct hone_search *s, const struct hone_node *node,
                        const struct hone_search_outcome *outcome, struct hone_err *err);

/* search_record.c */
/* Fills in id, tree and counts of the search with the same key, if there is one: *ret_is_known.
 * Writes nothing. */
int hone_search_read_record(struct hone_search *s, bool *ret_is_known, struct hone_err *err);
/* Finds a search to go on with (same key), or starts a new one; fills in id, tree, counts. */
int hone_search_open_record(struct hone_search *s, struct hone_err *err);
int hone_search_record_step(struct hone_search *s, const struct hone_node *node,
                            const struct hone_action *action, double propensity,
                            struct hone_err *err);
/* Of each step that the cost model left out and that no record tells of yet: one. */
int hone_search_record_left_out(struct hone_search *s, struct hone_err *err);
/* The version that a result brings: fills in what the outcome says of it. What it points to lives
 * in the pool. HONE_E_LIMIT: the tree is full. */
int hone_search_draft(struct hone_search *s, struct hone_event_result *result,
                      const struct hone_search_outcome *outcome, const char *source,
                      struct hone_pool *pool, struct hone_node **ret, struct hone_err *err);
/* What a version is worth: by the evaluation, or as it stands. */
void hone_search_put_value(struct hone_event_result *result,
                           const struct hone_search_outcome *outcome);
void hone_search_put_known(struct hone_event_result *result, const struct hone_node *node);
/* The version's profile, if it has one. */
void hone_search_put_profile(struct hone_event_result *result, const struct hone_node *node,
                             struct hone_pool *pool);
/* Writes the event, then applies it. Id, counts and clock are filled in, those of the outcome too
 * (NULL: nothing was evaluated). draft: the version that it brings, or NULL. */
int hone_search_record_event(struct hone_search *s, struct hone_event *event,
                             const struct hone_search_outcome *outcome, struct hone_node *draft,
                             struct hone_err *err);

#endif
