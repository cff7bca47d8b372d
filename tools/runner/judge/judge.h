/* SPDX-License-Identifier: Apache-2.0 */
/* The judge's state during one job, and its stages.
 *
 * Flow (judge.c): read the job, load the pack, then the stages in order; a stage that ends with a
 * bad reason ends the job. Every path writes a report. Stage functions return 0 and put how the
 * candidate fared into *ret; a negative result is a fault of ours and becomes reason "infra".
 *
 * Runner main thread; whatever starts, asks or waits for a jailed process blocks. What a function puts
 * into the report lives in judge->pool, until the job ends. */
#ifndef HONE_RUNNER_JUDGE_H
#define HONE_RUNNER_JUDGE_H

#include "tools/format/job.h"
#include "tools/format/report.h"
#include "tools/runner/arena/arm.h"
#include "tools/runner/arena/kept.h"
#include "tools/runner/binary/hot_loop.h"
#include "tools/runner/build/build.h"
#include "tools/runner/values/compare.h"
#include "tools/runner/judge/contents.h"
#include "tools/runner/values/element.h"
#include "tools/runner/values/gen.h"
#include "tools/runner/machine/machine.h"
#include "tools/runner/arena/oracle.h"
#include "tools/runner/judge/rests.h"
#include "tools/runner/judge/stats.h"

#define HONE_RUNNER_MAX_ARMS  4
#define HONE_RUNNER_MAX_TIMES (HONE_RUNNER_MAX_ARMS + 2) /* and what torch takes, twice */
#define HONE_RUNNER_N_EDGES   8
#define HONE_RUNNER_FOLDER    17 /* hex digits and NUL */
#define HONE_RUNNER_MAX_CASES                                                                      \
    (1 + HONE_LIMIT_WORKLOADS + HONE_RUNNER_N_EDGES + HONE_TASK_RANGES + HONE_TASK_BEYONDS +       \
     HONE_LIMIT_HIDDEN)
#define HONE_RUNNER_MAX_CHECKS HONE_LIMIT_REPORT_ROWS /* kept in a report */

struct hone_pace { /* log(baseline / arm) of a workload: in this job, and in the arm's record */
    struct hone_interval now, known;
};

struct hone_slot { /* one arm as built and running */
    const char *name;
    const struct hone_arm *arm;
    bool is_built;
    const char *code;          /* word for its machine code, in the pool; NULL: not known */
    char *object;              /* owned: path of the shared object in a folder of its own */
    struct hone_arena *arena;  /* NULL: not started, or ended and freed */
    bool is_mapped;            /* the arena knows the present frame */
    int64_t team;              /* threads that its arena gets instead of the job's; 0: the job's */
    int64_t used_ns, limit_ns; /* target cuda: of calls while timed, and a guest's limit; 0: none */
    bool is_lost;              /* a guest that nothing is said against: arms.h */
    struct hone_pace *paces;   /* n_paces of them, in the pool; NULL: none yet */
    size_t n_paces;
    char folder[HONE_RUNNER_FOLDER];  /* drawn: what a jail may see of its place tells no name */
    const struct hone_python *python; /* of an oracle that is a torch module; else NULL */
    bool has_failed; /* building it or starting its arena did, and nobody knows whose fault it is */
};

struct hone_frame { /* the workload and layout that everybody has mapped */
    const struct hone_workload *workload;
    struct hone_layout layout;
    double scalars[HONE_LIMIT_AXES];
    uint64_t
        filled_base; /* sets 0 .. n_filled - 1 hold normal content of counters filled_base + set */
    int64_t n_filled;
    enum hone_distribution dists[HONE_BUFFERS_MAX_SETS]; /* what each set was filled with last */
};

struct hone_target;
struct hone_gpu_job;     /* cuda/gpu_judge.h */
struct hone_gpu_session; /* what outlives a job on a device */
struct hone_session {    /* kept by a runner from job to job */
    struct hone_gpu_session *gpu;
    struct hone_kept oracle; /* of a PyTorch module */
    struct hone_pool *pool;  /* of python; NULL: none was found yet */
    const struct hone_python *python;
};

/* Whose turn comes when: the cases in order. */
enum hone_case_kind {
    HONE_CASE_SMOKE,
    HONE_CASE_PUBLIC,
    HONE_CASE_EDGE,   /* cheap, at the ends of tiles and axes */
    HONE_CASE_RANGE,  /* over the whole legal range */
    HONE_CASE_BEYOND, /* longer than any public size; one of them is checked */
    HONE_CASE_HIDDEN  /* drawn, to be timed */
};

struct hone_judge {
    const struct hone_job *job;
    const struct hone_target *target;
    struct hone_session *session;
    struct hone_gpu_job *gpu; /* target cuda */
    bool is_started;          /* target->start has been called */
    const char *dir;          /* the call folder */
    struct hone_task *task;
    struct hone_pool *pool;
    struct hone_report *report;
    struct hone_gen *gen;
    struct hone_rng rng;
    uint8_t key[16];
    uint64_t counter;                    /* of content; never used twice */
    int64_t called_ns;                   /* that kernels took in checks, so far */
    bool is_verifying;                   /* stage verify, whose rows tell what it did */
    bool is_dist_left_out[HONE_N_DISTS]; /* the task's own baseline failed it somewhere */
    struct hone_contents contents;
    int64_t deadline_ns;
    int64_t finish_ns; /* of the job's finish_ms; 0: none */
    int64_t waited_ns; /* for the timing lease, so far */
    int64_t n_threads;
    int64_t call_timeout_ns;
    struct hone_machine machine;
    struct hone_shared inputs;
    int64_t output_bytes;
    struct hone_slot slots[HONE_RUNNER_MAX_ARMS]; /* candidate first */
    size_t n_slots;
    struct hone_slot oracle;
    struct hone_workload cases[HONE_RUNNER_MAX_CASES];
    enum hone_case_kind kinds[HONE_RUNNER_MAX_CASES];
    bool is_checked[HONE_RUNNER_MAX_CASES];
    const char *left_out[HONE_RUNNER_MAX_CASES]; /* why a size was not checked or timed; or NULL */
    size_t n_cases;
    struct hone_frame frame;
    struct hone_rests rests; /* what the result rests on */
    struct hone_array remarks;
    struct hone_hot_loop hot_loop; /* target cpu, with stage profile */
    bool wants_again; /* nobody could be found who is to blame: the job is done once more */
    bool is_again;    /* this is that second time */
    bool was_timed;
    struct hone_outcome timed_end; /* what the timing says */
    struct hone_check_report *checks;
    struct hone_workload_report *workloads;
    struct hone_stage_report *stages;
    struct hone_point_report *points;
    struct hone_json *samples; /* by workload; NULL: nothing was timed */
    const char **warnings, **doubts;
    struct hone_review *review;
    size_t n_checks, n_workloads, n_stages, n_warnings, n_doubts, n_review;
    size_t n_stage_rows; /* room in stages */
};

typedef int hone_stage_fn(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err);
hone_stage_fn hone_stage_build, hone_stage_policy, hone_stage_smoke, hone_stage_verify,
    hone_stage_screen, hone_stage_time, hone_stage_profile, hone_stage_run, hone_stage_calibrate,
    hone_stage_program;

/* stages.c: below_floor, or ratios clipped at the floor and a review; the ceilings are measured
 * again before either. */
int hone_judge_check_floor(struct hone_judge *judge, struct hone_workload_report *report,
                           struct hone_outcome *ret, struct hone_err *err);
/* sizes.c: which sizes a job has, those that no public size stands for, and what became of them. */
int hone_sizes_collect(struct hone_judge *judge, struct hone_err *err);
struct hone_check_plan;
/* The target's check of the candidate: notes that the size was checked, or names it in *ret. */
int hone_sizes_check(struct hone_judge *judge, const struct hone_check_plan *plan,
                     struct hone_outcome *ret, struct hone_err *err);
/* Edges and the range's sizes, which nobody asked for: one with more work than the public sizes has
 * a longer limit for a call. *ret as of a check; a size that the task's own baseline fails too, or is
 * too slow at, is left out. */
int hone_sizes_check_drawn(struct hone_judge *judge, const struct hone_check_plan *plan,
                           struct hone_outcome *ret, struct hone_err *err);
/* One size beyond the public ones, the farthest that a call of the baseline can be afforded for. */
int hone_sizes_check_beyond(struct hone_judge *judge, struct hone_outcome *ret,
                            struct hone_err *err);
/* Puts the size behind the words of a bad end: "... at edge-3: M=1 K=700 N=33". */
void hone_sizes_name(const struct hone_judge *judge, const struct hone_workload *workload,
                     struct hone_outcome *ret);
/* Before the report is written: what was planned, what was done, and what follows for a claim. */
void hone_sizes_report(struct hone_judge *judge);
/* samples.c: sealed/HONE_SAMPLES_FILE of the call's folder; nothing when nothing was timed. */
int hone_samples_write(struct hone_judge *judge, const char *seed_hex, struct hone_err *err);

bool hone_judge_has_stage(const struct hone_judge *judge, const char *name);
bool hone_judge_is_tier(const struct hone_judge *judge, enum hone_tier tier);
struct hone_slot *hone_judge_slot(struct hone_judge *judge,
                                  const char *name); /* NULL: no such arm */
/* Cores that a kernel is allowed; 0: that does not apply to the target. */
int64_t hone_judge_threads(const struct hone_judge *judge);
/* One sentence for the report; one that is there already is not repeated. */
void hone_judge_warn(struct hone_judge *judge, const char *fmt, ...) HONE_PRINTF(2, 3);
/* Likewise, a reason why this job's figure may not be claimed. The verdict's word stays. */
void hone_judge_doubt(struct hone_judge *judge, const char *fmt, ...) HONE_PRINTF(2, 3);
/* Puts the version on the review list; a rule that is there already (for that line) is not
 * repeated. The verdict is not touched. */
void hone_judge_review(struct hone_judge *judge, const char *rule, int64_t line, const char *fmt,
                       ...) HONE_PRINTF(4, 5);
void hone_judge_progress(const struct hone_judge *judge, const char *stage, const char *workload,
                         int64_t done, int64_t total, const char *message);

/* judge.c. Before anything is run on the target; does nothing the second time. */
int hone_judge_start_target(struct hone_judge *judge, struct hone_outcome *ret,
                            struct hone_err *err);
/* Adds ns to the stage row of this name ("verify.oracle"): where the time of a stage goes. */
void hone_judge_cost(struct hone_judge *judge, const char *name, int64_t ns);
/* The time since start_ns, to a row of stage verify; other stages have rows of their own. Target
 * cpu: "verify.start" (processes), "verify.content", "verify.call", "verify.oracle" (asked and
 * compared). */
void hone_judge_cost_verify(struct hone_judge *judge, const char *name, int64_t start_ns);

/* Builds one arm with its target (with other tunables and flags when point is not NULL). */
int hone_judge_build_arm(struct hone_judge *judge, struct hone_slot *slot,
                         const struct hone_point *point, struct hone_outcome *ret,
                         struct hone_err *err);
/* The arm's source, owned; *ret says why there is none. */
int hone_judge_read_source(struct hone_judge *judge, const struct hone_slot *slot,
                           char **ret_source, struct hone_outcome *ret);
/* Sweep: builds, checks and screens every point of the job; leaves the best one in
 * the candidate's slot. */
int hone_judge_sweep(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err);

/* ---- target cpu ---- */

/* Also what other targets use where their device cannot answer. */
int hone_cpu_build_oracle(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err);
/* The pack's own kernel for this target, past the cache when is_fresh. *ret_object: owned. */
int hone_cpu_build_naive(struct hone_judge *judge, bool is_fresh, char **ret_object,
                         struct hone_outcome *ret, struct hone_err *err);
hone_stage_fn hone_cpu_profile, hone_cpu_run;
/* See struct hone_target. */
int hone_cpu_content(struct hone_judge *judge, const struct hone_workload *workload,
                     enum hone_distribution dist, uint64_t counter, struct hone_err *err);
int hone_cpu_answer(struct hone_judge *judge, struct hone_slot *slot, const void **ret_outputs,
                    struct hone_outcome *ret, struct hone_err *err);

/* frame.c: what is mapped where. */
int64_t hone_judge_set_bytes(const struct hone_judge *judge,
                             const struct hone_workload *workload); /* inputs and outputs */
int64_t hone_judge_max_sets(const struct hone_judge *judge, const struct hone_workload *workload);
int hone_judge_set_frame(struct hone_judge *judge, const struct hone_workload *workload,
                         int64_t n_sets, struct hone_err *err);
/* Starts the arm's arena if needed and maps the frame. *ret says whether that worked. */
int hone_judge_ready(struct hone_judge *judge, struct hone_slot *slot, struct hone_outcome *ret,
                     struct hone_err *err);
int hone_judge_ready_oracle(struct hone_judge *judge, struct hone_err *err);
/* true: the job goes on with the process of a PyTorch module, and the inputs' file, of an earlier job
 * of this runner. give leaves them to the next. */
bool hone_judge_take_oracle(struct hone_judge *judge, int64_t input_bytes);
void hone_judge_give_oracle(struct hone_judge *judge);
void hone_judge_drop_arena(struct hone_slot *slot);
void hone_judge_fill(struct hone_judge *judge, int64_t set, enum hone_distribution dist,
                     uint64_t counter);
void hone_judge_copy_set(struct hone_judge *judge, int64_t from, int64_t to);
/* Content that was drawn elsewhere, in the layout of the inputs: its set of the same number. */
void hone_judge_put_set(struct hone_judge *judge, int64_t set, const char *content,
                        enum hone_distribution dist);
void hone_judge_fill_many(struct hone_judge *judge, uint64_t base,
                          int64_t n_sets); /* normal content, counters base + set */
void hone_judge_poison(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                       enum hone_poison poison);
/* Fills what lies between the rows of outputs with a pitch with the canary, / says whether it is. */
void hone_judge_pad(struct hone_judge *judge, struct hone_slot *slot, int64_t set);
bool hone_judge_is_padded(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                          size_t output);
const void *hone_judge_output(const struct hone_judge *judge, const struct hone_slot *slot,
                              int64_t set, size_t output);
int64_t hone_judge_output_elements(const struct hone_judge *judge, size_t output);

/* checks.c: outputs against the oracle and against themselves. */
int hone_judge_check_canaries(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                              struct hone_outcome *ret);
/* Compares one set of one arm with the oracle: everything when it can be had in budget_ns, else
 * random items. */
int hone_judge_compare(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                       int64_t budget_ns, struct hone_compare *compare, struct hone_outcome *ret,
                       struct hone_err *err);
/* All elements of one set: by the oracle as far as its budget goes, the rest
 * against the baseline. */
int hone_judge_check_whole(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                           int64_t oracle_budget_ns, struct hone_outcome *ret,
                           struct hone_err *err);
int hone_judge_compare_whole(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                             int64_t oracle_budget_ns, struct hone_compare *compare,
                             struct hone_outcome *ret, struct hone_err *err);
/* A few random items of one set. */
int hone_judge_spot_check(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                          int64_t n_items, struct hone_outcome *ret, struct hone_err *err);
/* One set of one arm, every element, against what the baseline makes of the same inputs. */
int hone_judge_compare_like(struct hone_judge *judge, struct hone_slot *slot,
                            struct hone_slot *baseline, int64_t set, struct hone_outcome *ret,
                            struct hone_err *err);
struct hone_check_plan {
    const char *name; /* "smoke", "verify" */
    const struct hone_workload *workload;
    const enum hone_distribution *dists;
    size_t n_dists;
    int64_t oracle_budget_ns; /* for each distribution */
    bool with_baseline; /* full comparison with the baseline's output where the oracle was only
                           sampled */
};
int hone_cpu_check(struct hone_judge *judge, struct hone_slot *slot,
                   const struct hone_check_plan *plan, struct hone_outcome *ret,
                   struct hone_err *err);
/* A row of the report; compare NULL: nothing was compared. Any target. */
void hone_judge_note(struct hone_judge *judge, const struct hone_check_plan *plan,
                     enum hone_distribution dist, const struct hone_compare *compare,
                     const struct hone_outcome *end);
/* "C[17, 3] was not written (4 of 100 elements)". Any target. */
struct hone_elements { /* of one output: the first of them, and how many */
    size_t output;
    int64_t first, count;
};
void hone_judge_element_end(struct hone_judge *judge, const struct hone_workload *workload,
                            const struct hone_elements *which, enum hone_reason reason,
                            const char *what, struct hone_outcome *ret);
/* One call of one set, outputs poisoned with the NaN before. How it ended is in the arena's end. */
int hone_judge_call_one(struct hone_judge *judge, struct hone_slot *slot, int64_t set, int perturb,
                        struct hone_err *err);
/* A copy of what an arm said of a set: by output, in the pool; and does it say the
 * same bits now? */
void **hone_judge_keep(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                       struct hone_pool *pool);
bool hone_judge_is_kept(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                        void *const *kept);
/* An arm passed its checks and is wrong for a set now: a process that starts afresh is asked for
 * the same. Where it says otherwise, *ret becomes `stateful`; the same bits are the kernel's
 * arithmetic, and the reason stays. The arm's process is another one afterwards. */
int hone_judge_blame(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                     struct hone_outcome *ret, struct hone_err *err);
/* contents.c: a kind of content that the task covers and its own baseline did not fail; each comes
 * once before one comes again. Any target. */
enum hone_distribution hone_judge_any_distribution(struct hone_judge *judge);
/* Order is drawn anew. Any target. */
void hone_judge_shuffle(struct hone_judge *judge, enum hone_distribution *dists, size_t n);

/* timing.c */
/* The task's own formulas for a workload: least operations and compulsory bytes; 0 where
 * it has none. */
int hone_judge_least_work(const struct hone_judge *judge, const struct hone_workload *workload,
                          double *ret_flops, double *ret_bytes, struct hone_err *err);
struct hone_timing_plan {
    const struct hone_workload *workload;
    int64_t budget_ns;
    int64_t most_ns;  /* of rounds; 0: by the budget */
    int64_t end_ns;   /* of the looks after them; 0: by the budget */
    int64_t block_ns; /* a block should last at least this */
    size_t min_pairs, max_pairs;
    bool is_reversed;    /* confirm: the other order first */
    int64_t n_workloads; /* that are timed in this job; 0: this one */
};
int hone_cpu_time(struct hone_judge *judge, const struct hone_timing_plan *plan,
                  struct hone_workload_report *ret_report, struct hone_outcome *ret,
                  struct hone_err *err);
/* The most demanding workload that is asked for. */
const struct hone_workload *hone_judge_heaviest(struct hone_judge *judge);
bool hone_judge_is_wanted(const struct hone_judge *judge, size_t c); /* is this case asked for? */
int hone_judge_ensure_ceilings(struct hone_judge *judge, struct hone_err *err);
struct hone_buf;
/* "C: 4096 elements, min ..., first: ..." of one output on the host. */
void hone_judge_summarise(const struct hone_tensor *tensor, const void *base, int64_t n,
                          struct hone_buf *buf);
/* Geometric mean over the workloads, and the word for the whole. */
void hone_judge_conclude_timing(struct hone_judge *judge);

#endif
