/* SPDX-License-Identifier: Apache-2.0 */
/* What a candidate's binary holds that a rule names (workspace/task/policy.h).
 *
 * A target's reader looks at the compiled object as hostile bytes, never at the source, and notes
 * what it finds here. What follows from it the judge decides (tools/runner/judge/policy_stage.h).
 * Any thread. */
#ifndef HONE_RUNNER_POLICY_H
#define HONE_RUNNER_POLICY_H

#include "tools/runner/binary/units.h"
#include "workspace/base/buf.h"
#include "workspace/task/policy.h"

#define HONE_POLICY_TEXT        160 /* bytes of a name that are kept */
#define HONE_POLICY_MAX_OF_RULE 8   /* kinds of findings that are kept; more are counted */
#define HONE_POLICY_REFUSED     HONE_N_POLICY_RULES /* a name that the task refuses */

struct hone_policy_finding {
    const char *what;  /* "rdtsc", "clock_gettime", "calls (8 bytes)" */
    const char *where; /* first function that holds it; NULL: unknown, or the file as a whole */
    const char *word;  /* looked for in the source first; NULL: the rule's words alone */
    int64_t n;         /* how often */
};
struct hone_policy_findings {
    struct hone_policy_finding list[HONE_POLICY_MAX_OF_RULE];
    size_t n;
    int64_t n_more;
};
struct hone_policy_facts {
    struct hone_pool *pool;
    const struct hone_task_policy *policy; /* the task's, for names of imports; NULL: none */
    struct hone_policy_findings of[HONE_N_POLICY_RULES + 1]; /* by rule; HONE_POLICY_REFUSED */
    bool has_units; /* all instructions were read for units of lower precision */
    uint32_t units; /* a bit for each of enum hone_unit */
};

/* Notes one; the same rule and what are counted together. Texts are copied. */
void hone_policy_found(struct hone_policy_facts *facts, int rule, const char *what,
                       const char *where, const char *word);
/* Would that be the first of its kind, and kept? */
bool hone_policy_is_new(const struct hone_policy_facts *facts, int rule, const char *what);

/* policy_object.c: a shared object of this machine. policy_code.c: its instructions. */
void hone_policy_read_object(const void *bytes, size_t len, struct hone_policy_facts *facts);
struct hone_elf;
void hone_policy_read_code(const struct hone_elf *elf, struct hone_policy_facts *facts);
/* policy_imports.c: which rule an imported function falls under; false: none. */
bool hone_policy_import_rule(const char *name, enum hone_policy_rule *ret);
/* And a library that the object names; false: of those that every kernel may have. */
bool hone_policy_is_foreign_library(const char *name);
/* Is the name in the list, whose last * stand for any rest? */
bool hone_policy_is_listed(const struct hone_strs *list, const char *name);

#endif
