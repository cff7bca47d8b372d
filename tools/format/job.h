/* SPDX-License-Identifier: Apache-2.0 */
/* job.json: everything the runner needs for one call. `hone-runner CALL/job.json` does it
 * again by hand.
 *
 *   CALL/job.json            this
 *   CALL/open/               visible to the jail: sources, objects
 *   CALL/sealed/             never visible to the jail: seeds, raw samples
 *   CALL/report.json         the answer (report.h), written atomically at the end
 *
 * Progress goes to the runner's stdout, one JSON object a line:
 * {"stage":"time","workload":"m512","done":3,"total":9,"message":"..."}. */
#ifndef HONE_FORMAT_JOB_H
#define HONE_FORMAT_JOB_H

#include "tools/format/verdict.h"
#include "workspace/base/fields.h"

#define HONE_JOB_FORMAT 1

struct hone_tunable {
    const char *name;
    int64_t value;
};

#define HONE_JOB_LEASE_MS   600000
#define HONE_JOB_TIMEOUT_MS 600000

/* The baseline's source built with -ffast-math besides, in confirmations on a CPU: what the compiler
 * alone would have given. */
#define HONE_ARM_FAST_MATH "fast-math"
/* No arms that are built, but names of ratios, in confirmations: the task's PyTorch module run by
 * torch as it is, with as many threads or on the same GPU; and as torch.compile makes it, on a GPU
 * alone. */
#define HONE_ARM_TORCH_EAGER   "torch-eager"
#define HONE_ARM_TORCH_COMPILE "torch-compile"

struct hone_arm {               /* one source that is built and called */
    const char *name;           /* "candidate", "baseline", "parent", HONE_ARM_FAST_MATH */
    const char *source;         /* file in open/, e.g. "candidate.c" */
    struct hone_strs flags;     /* compiler options, already checked against the allow-list */
    struct hone_array tunables; /* of struct hone_tunable */
    const char *known_device; /* where `known` was measured, as a report's machine says; or NULL */
    int64_t known_threads;    /* as rests_on of that report says; 0: it does not, or not on a CPU */
    struct hone_array known;  /* of struct hone_known: a parent's own record */
};

struct hone_known {          /* what an arm was decided or confirmed to be on a public workload */
    const char *workload;    /* id */
    double ratio, low, high; /* the baseline's time by its own, 95 % interval */
};

struct hone_point { /* one setting of a sweep: replaces the candidate's tunables and flags */
    struct hone_array tunables;
    struct hone_strs flags;
};

/* Required: format, id, stages, task_dir, arms. Times are in milliseconds; 0 is the default that
 * the member names. */
struct hone_job {
    int64_t format;
    const char *id;
    const char *target; /* "cpu" */
    enum hone_tier tier;
    struct hone_strs stages; /* of: build policy smoke verify screen time profile run calibrate
                                program; in order */
    const char *task_dir;    /* absolute */
    const char *task_hash;   /* refused when the pack on disk differs */
    struct hone_array arms;  /* candidate first; baseline needed for timing */
    struct hone_array
        points; /* of struct hone_point; not empty: a sweep of the candidate, screened each */
    struct hone_strs workloads; /* ids; empty: all public ones */
    struct hone_json *axes;     /* {"M": 3}: this size alone, in place of all others; NULL: none */
    int64_t n_hidden;           /* hidden workloads to draw besides (confirm) */
    const char *seed_hex; /* 32 hex digits: the search's pool; NULL: fresh from the system, logged
                             in sealed/ */
    int64_t n_threads;    /* cores the kernel may use; 0: all */
    int64_t budget_ms;    /* for timing, over all workloads */
    int64_t finish_ms;    /* the job should end after so much work: its timing is then shortened to
                             fewer rounds and looks, and the report says so; 0: never */
    int64_t timeout_ms;   /* the job is ended then; 0: HONE_JOB_TIMEOUT_MS */
    int64_t call_timeout_ms; /* for one call of a kernel; 0: 20000 */
    int64_t memory_bytes;    /* limit of the jail; 0: none of its own */
    const char *jail;        /* "auto", or a rung by name */
    bool allow_weak_jail;
    const char *cache_dir;       /* compiled objects by content; NULL: none */
    const char *lease_path;      /* exclusive timing lease (lock file); NULL: none */
    int64_t lease_wait_ms;       /* at most for it, beside timeout_ms; 0: HONE_JOB_LEASE_MS */
    const char *machine_path;    /* measured ceilings are kept here */
    bool is_baseline_known_good; /* the baseline was checked before: its check is left out */
    const char *assembly;        /* of hone_assembly_choices: shown in the build's report */
    const char *assembly_kernel; /* the kernel; NULL: the one with most weight */
};

/* "none"; target cuda: "sass", "ptx"; target cpu: "asm". */
extern const char *const hone_assembly_choices[];
/* Does the target have this kind? NULL and "none": always. */
bool hone_assembly_is_of(const char *assembly, const char *target);

#define HONE_TUNABLE_N_FIELDS 2
extern const struct hone_field hone_tunable_fields[HONE_TUNABLE_N_FIELDS];
extern const struct hone_field hone_job_fields[];
extern const size_t hone_job_n_fields;

/* What ret points at is the pool's. HONE_E_LIMIT: longer than HONE_LIMIT_JOB_BYTES; HONE_E_ARG: no
 * JSON, or a member is missing, of another type or unknown. ret is then untouched. */
int hone_job_parse(const char *text, size_t len, struct hone_pool *pool, struct hone_job *ret,
                   struct hone_err *err);
/* How long the whole may take: its own time, and what it may wait for the lease. */
int64_t hone_job_most_ms(const struct hone_job *job);
char *hone_job_print(const struct hone_job *job);                                  /* owned */
const struct hone_arm *hone_job_arm(const struct hone_job *job, const char *name); /* NULL: none */

#endif
