/* SPDX-License-Identifier: Apache-2.0 */
/* The judge's side of one arena: start, map, call, freeze, end.
 *
 * An arena runs only between the thaw and the freeze of hone_arena_call; otherwise every thread in
 * it is stopped, so that it can neither touch outputs after "done" nor disturb the other arm. How a
 * candidate ended is data: functions return 0 and leave the reason in arena->end; a negative result
 * is a fault of ours. Where nobody knows yet whether the machine or the code failed, the reason is
 * HONE_REASON_INFRA: blame.h finds out. Runner main thread; blocks. */
#ifndef HONE_RUNNER_ARM_H
#define HONE_RUNNER_ARM_H

#include "tools/format/verdict.h"
#include "tools/runner/arena/buffers.h"
#include "tools/runner/arena/control.h"
#include "tools/runner/jail/jail.h"
#include "tools/runner/torch/python.h"
#include "workspace/task/task.h"

#define HONE_OUTCOME_DETAIL 400
struct hone_outcome {
    enum hone_reason reason; /* HONE_REASON_CORRECT while all is well */
    char detail[HONE_OUTCOME_DETAIL];
};
#define HONE_OUTCOME_INIT                                                                          \
    {                                                                                              \
        .reason = HONE_REASON_CORRECT                                                              \
    }
bool hone_outcome_is_good(const struct hone_outcome *end);
bool hone_outcome_is_value(
    const struct hone_outcome *end); /* values are wrong, as the content may be */
void hone_outcome_set(struct hone_outcome *end, enum hone_reason reason, const char *fmt, ...)
    HONE_PRINTF(3, 4);

struct hone_helper_spec { /* an arena or an oracle */
    const char *role;     /* "arena", "oracle" */
    const char *object; /* path of the shared object on the host; its folder holds nothing secret */
    const char *symbol; /* arena */
    const char *rung;
    bool allow_weak;
    int64_t memory_bytes;
    int64_t n_threads;
    int64_t thread_limit; /* of its teams (OMP_THREAD_LIMIT); 0: none */
    const struct hone_shared *inputs;
    int64_t own_bytes; /* size of the outputs or answers file */
    bool want_stdout;
    const struct hone_python *python; /* an oracle that is a torch module; else NULL */
    /* of hone_python_device, for a module whose task is a GPU's: more elements than
     * HONE_LIMIT_TORCH_ON_HOST are computed there or not at all. NULL: the CPU */
    const char *torch_device;
};

struct hone_life {   /* what an arena went through: to be lived again (blame.h) */
    int64_t n_hands; /* hand-overs with calls */
    int64_t n_calls; /* in them */
    int64_t called_ns;
    int64_t n_rotate; /* of the last one */
    int32_t perturb;  /* likewise */
    bool has_failed;  /* in a way of which nobody knows whose fault it is */
};

struct hone_arena {
    struct hone_jail *jail;
    int socket;
    struct hone_shared control, own;
    struct hone_shared printed; /* stdout of the kernel; base NULL when not wanted */
    bool is_alive;
    bool has_called; /* foreign code has run: what the helper cannot do now may be its doing */
    int64_t job_deadline_ns;
    int64_t max_threads;
    int n_full_slices; /* of its calls' time, with as many threads as it may have */
    struct hone_outcome end;
    struct hone_life life;
    const struct hone_task *task;
    struct hone_layout layout;
};

/* Starts the helper and waits until it has loaded its object (a failure to load is end.reason
 * HONE_REASON_LINK, everything else after the helper's start its end too). *ret is set whenever 0
 * is returned; a negative result means that no foreign code has run. job_deadline_ns bounds every
 * later wait. */
int hone_arena_start(const struct hone_helper_spec *spec, const struct hone_task *task,
                     int64_t job_deadline_ns, struct hone_arena **ret, struct hone_err *err);
void hone_arena_free(struct hone_arena *arena);
struct hone_control *hone_arena_control(struct hone_arena *arena);

/* Sends the command that stands in the control page and waits for the answer: thaw,
 * go, done, freeze. */
struct hone_call_time {
    int64_t wall_ns; /* from just before the thaw until everything stands still again */
    int64_t cpu_ns;  /* of all its threads, in the same span */
};
int hone_arena_command(struct hone_arena *arena, enum hone_control_command command,
                       int64_t deadline_ns, struct hone_call_time *ret, struct hone_err *err);

/* Tells the layout, axes and scalars. */
int hone_arena_map(struct hone_arena *arena, const struct hone_layout *layout,
                   const struct hone_workload *workload, const double *scalars,
                   struct hone_err *err);
struct hone_look { /* a look at the outputs while calls are under way */
    int64_t after_ns;
    bool is_quiet; /* the arena runs on meanwhile, and cannot notice; else it is frozen */
    void (*fn)(void *arg);
    void *arg;
    bool was_early; /* filled: fn was called; else the calls had ended */
    int64_t cpu_ns; /* filled unless quiet: CPU time until then */
};
struct hone_calls {
    int64_t first_set, n_rotate, n_calls;
    int perturb;
    bool is_beside; /* from another thread than the process's first */
    int64_t timeout_ns;
    struct hone_look *look;         /* NULL: none */
    const struct hone_place *place; /* where its threads wake; NULL: the scheduler says */
};
int hone_arena_call(struct hone_arena *arena, const struct hone_calls *calls,
                    struct hone_call_time *ret, struct hone_err *err);
/* Memory of its own that the process holds now, by the kernel's word; -1: not known. */
int64_t hone_arena_private_bytes(const struct hone_arena *arena);

#endif
