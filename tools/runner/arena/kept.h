/* SPDX-License-Identifier: Apache-2.0 */
/* A helper that outlives its job, with the memory file of its inputs: the process of a PyTorch
 * module loads torch for seconds, longer than most evaluations take.
 *
 *     if (!hone_kept_take(&kept, &want, &arena, &inputs))
 *         make inputs, start the helper
 *     the job
 *     hone_kept_give(&kept, &want, &arena, &inputs);
 *
 * Only helpers that never ran a candidate's code may be given. A helper that ended, or one of
 * another task, jail, number of threads or with too little room, is ended by the next take. Runner
 * main thread; blocks. */
#ifndef HONE_RUNNER_KEPT_H
#define HONE_RUNNER_KEPT_H

#include "tools/runner/arena/arm.h"
#include "workspace/base/hash.h"

/* Not kept where the two files hold more: who is idle should not hold much memory. */
#define HONE_KEPT_FILE_BYTES (512ll << 20)
/* Then it is started anew: what it gathered goes, and the jail counts its processor time. */
#define HONE_KEPT_JOBS 200

struct hone_kept {
    char task_hash[HONE_HASH_TEXT_BYTES];
    char rung[32];
    bool allow_weak;
    const char *torch_device; /* a literal, or NULL */
    int64_t n_threads;
    int n_jobs;                /* that it served */
    struct hone_arena *arena;  /* NULL: none; the rest is then not read */
    struct hone_shared inputs; /* that the arena inherited */
};

struct hone_kept_want {
    const struct hone_task *task;
    const char *rung;         /* as asked for, "auto" too; NULL: none named */
    bool allow_weak;          /* a rung that is less than a jail */
    const char *torch_device; /* arm.h */
    int64_t n_threads, job_deadline_ns;
    int64_t input_bytes, own_bytes; /* least sizes of the two files */
};

/* true: *ret and *ret_inputs are those of an earlier job, now the caller's, of exactly
 * want->input_bytes. Otherwise neither is touched. */
bool hone_kept_take(struct hone_kept *kept, const struct hone_kept_want *want,
                    struct hone_arena **ret, struct hone_shared *ret_inputs);
/* After a take. Takes both over, and leaves NULL and HONE_SHARED_INIT, unless the helper ended or
 * holds too much. */
void hone_kept_give(struct hone_kept *kept, const struct hone_kept_want *want,
                    struct hone_arena **arena, struct hone_shared *inputs);
void hone_kept_drop(struct hone_kept *kept); /* ends it; none is fine */

#endif
