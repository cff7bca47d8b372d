/* SPDX-License-Identifier: Apache-2.0 */
/* Admission of a task pack: is it complete, do its formulas work, and does its check refuse
 * what it must?
 *
 * The static part loads the pack and looks at its files; it runs nothing. With an executor the
 * naive kernel must pass and the bad kernels (bad_kernels.h) must not: each is one job with the
 * stages build, smoke and verify. */
#ifndef HONE_TOOLS_LINT_H
#define HONE_TOOLS_LINT_H

#include "tools/executor.h"
#include "workspace/task/task.h"

struct hone_lint_finding {
    const char *severity; /* "error": not admitted; "warning"; "note" */
    const char *where;    /* "task.json: inputs.A", "oracle.c:3", "kernel zeros" */
    const char *message;
    const char *fix; /* what to do; may be "" */
};

struct hone_lint_trial { /* one kernel that was run */
    const char *kernel;  /* "naive", "zeros"... */
    const char *meaning;
    const char *reason, *verdict; /* words of the verdict table */
    const char *summary;
    bool is_as_wanted;
};

struct hone_lint_scope {    /* all false and NULL: the whole lint */
    bool is_baseline_alone; /* it is checked and timed at the last size; nothing else is tried */
    /* A lint of a pack that is made again where one of these shows: it ends there. */
    bool ends_near, ends_flushed; /* hone_lint.is_near, .is_flushed */
    bool tries_moved;             /* hone_moved_kernel is tried, for hone_lint.is_moved */
    const char *objects_dir;      /* compiled objects by content, kept; NULL: none are */
};

struct hone_lint_options {
    const struct hone_executor *executor; /* borrowed; NULL: static part only */
    const char *
        scratch_dir; /* call folders go below it and are removed; NULL: a fresh folder below /tmp */
    bool allow_weak_jail;
    bool keep_calls; /* leave the call folders */
    struct hone_lint_scope scope;
    hone_progress_fn *on_progress; /* may be NULL */
    void *progress_arg;
    const struct hone_cancel *cancel; /* may be NULL */
};

struct hone_lint {
    bool is_admitted; /* no error; what was not run is not known */
    bool was_run;     /* the bad kernels were tried */
    bool is_unbuilt;  /* the baseline does not compile */
    bool is_near;     /* the baseline errs by as little as rounding may: a tolerance too tight */
    bool is_flushed;  /* honest kernels fail its tolerance on denormals alone */
    bool is_moved;    /* the baseline on inputs that differ in their last place is refused */
    double call_ns;   /* of the baseline at the last size for the CPU, the fastest of some that are
                         warm; 0: not timed */
    double check_ns;  /* of one content there: to fill, to call and to compare with the reference */
    const char *proposed; /* tolerances by a short calibration, as task_new takes them, where those
                             that are there are refused: "y=1e-6,1e-30 s=1e-7"; NULL: none */
    const char *task;     /* name; NULL when the pack does not load */
    const char *hash;
    struct hone_array findings; /* of struct hone_lint_finding, errors first */
    struct hone_array trials;   /* of struct hone_lint_trial */
};

extern const struct hone_field hone_lint_finding_fields[];
extern const size_t hone_lint_finding_n_fields;
extern const struct hone_field hone_lint_trial_fields[];
extern const size_t hone_lint_trial_n_fields;

/* The word that a generated oracle.c carries where a person has to write; lint refuses it. */
#define HONE_LINT_FILL_IN "HONE_FILL_IN"

/* 0 for every pack, however bad: look at ret. Negative for cancel, a full disk, or an
 * executor that cannot run at all. ret's memory lives in the pool. Blocks (about a second a
 * kernel); any thread. */
int hone_lint_pack(const char *dir, const struct hone_lint_options *options, struct hone_pool *pool,
                   struct hone_lint *ret, struct hone_err *err);
/* As lines of text for a terminal; owned. */
char *hone_lint_text(const struct hone_lint *lint);

#endif
