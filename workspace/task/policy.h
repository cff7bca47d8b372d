/* SPDX-License-Identifier: Apache-2.0 */
/* What a candidate's binary may hold: the rules, what is done about each, and what a task says.
 *
 * One row a rule. `reject` ends the evaluation with reason `policy`; `review` leaves the verdict
 * and puts the version on the review list; `allow` does nothing. A task's "policy" overrides the
 * row's defaults. What the rules look for, and how, is the runner's (tools/runner/binary/policy.h). */
#ifndef HONE_TASK_POLICY_H
#define HONE_TASK_POLICY_H

#include "workspace/base/fields.h"

enum hone_policy_action { HONE_POLICY_ALLOW, HONE_POLICY_REVIEW, HONE_POLICY_REJECT };
const char *hone_policy_action_name(enum hone_policy_action action);

enum hone_policy_rule {
    HONE_POLICY_TIMERS,
    HONE_POLICY_PLACEMENT,
    HONE_POLICY_CACHE,
    HONE_POLICY_GLOBALS,
    HONE_POLICY_CONSTRUCTORS,
    HONE_POLICY_IMPORTS,
    HONE_POLICY_LIBRARIES,
    HONE_POLICY_LOADER,
    HONE_POLICY_SYSCALLS,
    HONE_POLICY_MEMORY,
    HONE_POLICY_SEGMENTS,
    HONE_POLICY_TRAPS,
    HONE_POLICY_HIDDEN,
    HONE_N_POLICY_RULES
};

struct hone_policy_row {
    const char *name;                  /* "timers": the member of a task's "policy" */
    enum hone_policy_action cpu, cuda; /* defaults */
    bool is_strict_when_cold;          /* review becomes reject for tasks with a cold cache */
    const char *meaning;               /* one sentence */
    const char *next;                  /* what to do about it */
    const char *words[8];              /* of sources, to find the line; "" ends them */
};
const struct hone_policy_row *hone_policy_row(enum hone_policy_rule rule);

/* What a task says; as it is in task.json. */
struct hone_task_policy {
    bool is_given[HONE_N_POLICY_RULES];
    enum hone_policy_action given[HONE_N_POLICY_RULES];
    struct hone_strs allow_imports, refuse_imports; /* names; a last * stands for any rest */
};

struct hone_task;
/* For the task's selected target (cpu when none is). */
enum hone_policy_action hone_policy_action(const struct hone_task *task,
                                           enum hone_policy_rule rule);

/* Decodes the member "policy" (NULL: defaults). HONE_E_ARG with the path, HONE_E_LIMIT. */
int hone_policy_decode(const struct hone_json *json, struct hone_pool *pool,
                       struct hone_task_policy *ret, struct hone_err *err);

#endif
