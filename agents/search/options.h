/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a search. Each taker has the struct as a member of its own: the verbs
 * search and doctor, the tool search_start (with the rows below), the thread that runs one, a search
 * that is looked at (filled from its record). */
#ifndef HONE_AGENTS_SEARCH_OPTIONS_H
#define HONE_AGENTS_SEARCH_OPTIONS_H

#include "agents/search/events.h"
#include "workspace/base/limits.h"

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
    int64_t coders;             /* answers of models under way at a time, at most HONE_MAX_CODERS;
                                   0: one */
    const char *name;           /* branch search/<name>; NULL: the task's name */
    int64_t budget_wall_ms;     /* 0: none */
    int64_t budget_evaluations; /* 0: none; a search without any cap is refused */
    int64_t budget_disk_bytes;  /* of the workspace's .hone folder; 0: none */
    int64_t budget_device_ms;   /* wall time of all its evaluations; 0: none */
    double budget_cost;         /* USD, models of all rounds; 0: none. Prices must be known */
    int64_t budget_tokens;      /* models of all rounds; 0: none */
    int64_t seed;
    struct hone_json *prior; /* what a new search starts from beside the catalogue; NULL: nothing.
                                Borrowed. One that goes on keeps what it started from */
    const char *knowledge; /* what models are shown of other searches (agents/coder/prompt.h), of a
                              new search; NULL: nothing. One that goes on keeps what it had */
    /* 0 to 1: steps whose chance of a gain is below it are left out as long as others are left; 0:
     * none. Part of the search's key. */
    double skip_below;
    /* The model that says so, of a new search (agents/planner/cost_model.h). Borrowed. */
    struct hone_json *cost;
    double stop_at_percent_of_bound; /* 0: 95 */
    double stop_at_speedup;          /* decided, then confirmed; 0: none */
    int64_t plateau; /* stop after so many expansions without a new best; 0: 24, < 0: never */
    hone_search_event_fn *on_event; /* NULL: nobody asks */
    void *on_event_arg;
    int64_t (*now_ns)(void *arg); /* NULL: the monotonic clock */
    void *now_arg;
};

/* Rows of a field table, for a struct that holds the options as member at_. */
/* clang-format off */
#define HONE_SEARCH_OPTION(type_, at_, m_, ...) \
    {.name = #m_, .type = HONE_FIELD_TYPE_OF(((type_ *)0)->at_.m_), .offset = offsetof(type_, at_.m_), __VA_ARGS__}
#define HONE_SEARCH_OPTION_ROWS(type_, at_) \
    HONE_SEARCH_OPTION(type_, at_, task, .required = true, .max_len = HONE_LIMIT_NAME_BYTES, \
                       .help = "Name."), \
    HONE_SEARCH_OPTION(type_, at_, target, .choices = hone_target_words, \
               .help = "None: where the task can, cpu first."), \
    HONE_SEARCH_OPTION(type_, at_, budget_wall_ms, .min = 0, .max = 86400000, .unit = "ms", \
               .help = "Wall time."), \
    HONE_SEARCH_OPTION(type_, at_, budget_evaluations, .min = 0, .max = 1000000, \
               .help = "Evaluations."), \
    HONE_SEARCH_OPTION(type_, at_, budget_device_ms, .min = 0, .max = 8640000000, .unit = "ms", \
               .help = "Wall time of its evaluations."), \
    HONE_SEARCH_OPTION(type_, at_, budget_disk_bytes, .min = 0, .max = INT64_MAX, .unit = "bytes", \
               .help = "Size of the workspace's .hone folder."), \
    HONE_SEARCH_OPTION(type_, at_, budget_cost, .min = 0, .max = 1000000, .unit = "USD", \
               .help = "Of models."), \
    HONE_SEARCH_OPTION(type_, at_, budget_tokens, .min = 0, .max = 1000000000000, \
               .help = "Of models."), \
    HONE_SEARCH_OPTION(type_, at_, stop_at_speedup, .min = 0, .max = 1000000, \
               .help = "Stop there and confirm."), \
    HONE_SEARCH_OPTION(type_, at_, policy, .fallback_str = "puct", .choices = hone_search_policy_words, \
               .help = "Planner."), \
    HONE_SEARCH_OPTION(type_, at_, coder, .fallback_str = "rules", .choices = hone_search_coder_words, \
               .help = "llm and auto ask a model (money); external: agents submit sources."), \
    HONE_SEARCH_OPTION(type_, at_, planner, .fallback_str = "rules", .choices = hone_search_planner_words, \
               .help = "llm: a model reranks; external: agents submit steps (strategy_apply with search)."), \
    HONE_SEARCH_OPTION(type_, at_, model, .max_len = HONE_LIMIT_NAME_BYTES, \
               .help = "Name in the server's configuration; none: its default."), \
    HONE_SEARCH_OPTION(type_, at_, coders, .fallback_i64 = 1, .min = 1, .max = HONE_MAX_CODERS, \
               .help = "Model answers at a time."), \
    HONE_SEARCH_OPTION(type_, at_, submission_wait_ms, .min = 0, .max = 86400000, .unit = "ms", \
               .fallback_i64 = HONE_SUBMISSION_WAIT_MS, \
               .help = "External: end when nothing came for so long."), \
    HONE_SEARCH_OPTION(type_, at_, name, .max_len = HONE_LIMIT_NAME_BYTES, \
               .help = "Branch search/NAME; none: the task's."), \
    HONE_SEARCH_OPTION(type_, at_, seed, .fallback_i64 = 1, \
               .help = "Same seed and records: same choices.")
/* clang-format on */
extern const char *const hone_search_policy_words[],
    *const hone_search_coder_words[], *const hone_search_planner_words[]; /* NULL-terminated */

/* The same with strings and values of the pool. */
struct hone_search_options hone_search_options_copy(const struct hone_search_options *options,
                                                    struct hone_pool *pool);
/* As they stand in the record of a start; strings in the pool. */
struct hone_search_options hone_search_options_of(const struct hone_event_start *start,
                                                  struct hone_pool *pool);
/* The record's part of an event that starts a search; the caps of one that goes on. */
void hone_search_options_put(const struct hone_search_options *options,
                             struct hone_event_start *ret);
struct hone_event_caps hone_search_caps(const struct hone_search_options *options);

#endif
