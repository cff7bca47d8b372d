/* SPDX-License-Identifier: Apache-2.0 */
/* A suite: one search for each of many tasks, under one budget, with one report.
 *
 *   - Shares. A task whose turn comes gets an equal part of what is left (hone_suite_next): wall
 *     time times lanes, evaluations, device time, money, tokens. What a search leaves over goes to
 *     those behind it. When every task had its turn, those whose search was stopped by its share
 *     have another one, for as long as there is enough left.
 *   - Records. suite.start, suite.begin and suite.task before and after each search, suite.end; the
 *     searches write their own (agents/search/events.h). The report is made from them alone.
 *   - Going on. A suite that was killed goes on with the same name, tasks and options: what ended is
 *     kept, the searches that were open go on with the rest of their share. One that has ended
 *     begins anew; its searches keep their trees.
 *
 *     struct hone_suite_options o = {.name = "night", .tasks = tasks, .n_tasks = n, .lanes = 1,
 *                                    .each = {.budget_wall_ms = 3600000}};
 *     struct hone_suite suite;
 *     hone_suite_run(app, &o, cancel, pool, &suite, err);
 *     hone_suite_read(ws, "night", pool, &suite, err);        later
 *
 * Strings live in the pool. hone_suite_run: one thread; the searches have threads of their own. */
#ifndef HONE_AGENTS_SUITE_H
#define HONE_AGENTS_SUITE_H

#include "agents/search/search.h"

enum hone_suite_outcome { /* of a task; each has a name for people and records */
                          HONE_SUITE_FASTER,
                          HONE_SUITE_DOUBTED,   /* faster, but not to be claimed */
                          HONE_SUITE_NO_GAIN,   /* confirmed as not faster, or nothing was better */
                          HONE_SUITE_NO_ROOM,   /* a confirmation did not fit into the share */
                          HONE_SUITE_FAILED,    /* the search ended with an error */
                          HONE_SUITE_REFUSED,   /* it is no task */
                          HONE_SUITE_NOT_BEGUN, /* or not over */
                          HONE_SUITE_N_OUTCOMES
};

struct hone_suite_task {
    const char *name;    /* of the workspace; of what is refused: as it was given */
    const char *refused; /* why it is no task; NULL: it is one */
};

struct hone_suite_options {
    const char *name;                    /* a safe name */
    const struct hone_suite_task *tasks; /* at most HONE_LIMIT_SUITE_TASKS */
    size_t n_tasks;
    int64_t lanes;                   /* searches at a time: 1..HONE_LIMIT_LANES */
    bool has_own_names;              /* searches are named NAME-TASK; else after their tasks */
    struct hone_search_options each; /* task and name are not read; caps are the whole suite's */
    /* Before each search: may fill in what hangs on the task (prior). NULL: nothing. */
    int (*prepare)(void *arg, struct hone_search_options *ret, struct hone_pool *pool,
                   struct hone_err *err);
    void (*say)(void *arg, const char *line); /* a search begins or has ended; NULL: nobody asks */
    void *arg;
};

struct hone_suite_row { /* one task */
    const char *task, *search;
    int64_t passes;                  /* searches of it that ended, in this suite */
    bool is_open;                    /* a search began and has not ended */
    bool is_stopped_by_share;        /* it would have gone on, and was not in vain */
    int64_t begun_ms;                /* of the suite's time, when the open one began */
    struct hone_event_caps share;    /* of the open one */
    double before[HONE_N_BUDGETS];   /* what its search had used when that one began */
    bool is_fresh;                   /* no search of that name is in the records */
    double used[HONE_N_BUDGETS];     /* in this suite */
    const char *code, *message;      /* of the last one that failed; NULL */
    struct hone_search_result *last; /* the newest with a confirmation, else the newest; NULL */
};

struct hone_suite {
    const char *id, *name, *key, *target;
    int64_t lanes;
    struct hone_event_caps caps;
    struct hone_suite_row *rows;
    size_t n_rows;
    int64_t elapsed_ms;  /* of all its processes */
    bool has_ended;      /* else it was killed, stopped, or still runs */
    const char *stopped; /* "done" or the name of the cap; NULL: it has not ended */
};

/* HONE_E_ARG (no cap, bad names), HONE_E_LIMIT (tasks), HONE_E_BUSY (it runs already),
 * HONE_E_CANCEL: *ret is filled, and the next call goes on. A task that fails is a row and no
 * error. Blocks. */
int hone_suite_run(struct hone_app *app, const struct hone_suite_options *options,
                   const struct hone_cancel *cancel, struct hone_pool *pool, struct hone_suite *ret,
                   struct hone_err *err);
/* The newest suite of that name; NULL: the newest of all. HONE_E_NOT_FOUND. */
int hone_suite_read(struct hone_workspace *ws, const char *name, struct hone_pool *pool,
                    struct hone_suite *ret, struct hone_err *err);

enum hone_suite_outcome hone_suite_outcome_of(const struct hone_suite_row *row);
/* Whose turn it is, and its part of what is left of each cap (without a cap: 0, none); NULL:
 * nobody's. Pure. */
struct hone_suite_row *hone_suite_next(struct hone_suite *suite, const double left[HONE_N_BUDGETS],
                                       struct hone_event_caps *ret_share);
/* What is left of each cap beside what open searches may still take; INFINITY without one. */
void hone_suite_left(const struct hone_suite *suite, double ret[HONE_N_BUDGETS]);

/* fast_p of KernelBench (arXiv 2502.10517, section 3.3): the share of tasks that are right and more
 * than p times as fast as the measure. */
enum { HONE_SUITE_N_P = 10 };
extern const double hone_suite_p[HONE_SUITE_N_P];
struct hone_suite_measure {
    const char *name; /* "baseline", or a yardstick's name */
    size_t n;         /* tasks: all for the baseline; else those that have that yardstick */
    double geomean;   /* of those that ended; NaN: none did. No gain counts as 1 */
    double fast[HONE_SUITE_N_P];
};
size_t hone_suite_measures(const struct hone_suite *suite, struct hone_pool *pool,
                           struct hone_suite_measure **ret);
char *hone_suite_markdown(const struct hone_suite *suite);         /* owned */
struct hone_json *hone_suite_json(const struct hone_suite *suite); /* owned */

#endif
