/* SPDX-License-Identifier: Apache-2.0 */
/* The host's oracle, of tasks whose reference does not run on a device: its process, and the memory
 * file in which it finds inputs.
 *
 * A PyTorch module's process loads torch for seconds. It and its file are kept from job to job of
 * the same task (struct hone_gpu_kept_oracle, in the session): nothing of a candidate was ever in
 * either, and each request runs in a process of its own (worker.py). */
#include <string.h>

#include "tools/runner/cuda/judge/gpu_judge.h"

/* The task's file is as large as its largest size; a module is asked for small ones alone. */
static int64_t room_of(const struct hone_judge *judge)
{
    int64_t most = 2 * (int64_t)sizeof(float) * HONE_GPU_TORCH_ELEMENTS;
    int64_t pages = (int64_t)(judge->task->n_inputs + judge->task->n_outputs) * HONE_BUFFERS_PAGE;
    for (size_t c = 0; c < judge->n_cases && !judge->task->is_oracle_torch; c++)
        most = hone_max_i64(most, hone_judge_set_bytes(judge, &judge->cases[c]));
    return most + pages;
}

void hone_gpu_host_drop(struct hone_gpu_session *session)
{
    struct hone_gpu_kept_oracle *kept = &session->kept_oracle;
    hone_arena_free(kept->arena);
    if (kept->inputs.base != NULL)
        hone_shared_done(&kept->inputs);
    *kept = (struct hone_gpu_kept_oracle){.inputs = HONE_SHARED_INIT};
}

void hone_gpu_host_keep(struct hone_judge *judge)
{
    struct hone_gpu_kept_oracle *kept = &judge->gpu->session->kept_oracle;
    struct hone_slot *slot = &judge->oracle;
    if (!judge->gpu->has_host_oracle || !judge->task->is_oracle_torch || slot->arena == NULL ||
        !slot->arena->is_alive)
        return;
    hone_gpu_host_drop(judge->gpu->session);
    memcpy(kept->task_hash, judge->task->hash, sizeof kept->task_hash);
    kept->arena = slot->arena;
    kept->arena->task = NULL; /* the job's, which goes */
    kept->inputs = judge->inputs;
    slot->arena = NULL;
    slot->is_mapped = false;
    judge->inputs = (struct hone_shared)HONE_SHARED_INIT;
}

/* That of an earlier job, where it is of the same task and has room for this one. */
static bool take_kept(struct hone_judge *judge, int64_t room)
{
    struct hone_gpu_kept_oracle *kept = &judge->gpu->session->kept_oracle;
    bool is_same = kept->arena != NULL && kept->arena->is_alive && kept->inputs.size >= room &&
                   kept->arena->own.size >= hone_judge_answer_bytes(judge) &&
                   strcmp(kept->task_hash, judge->task->hash) == 0;
    if (!is_same)
        return false;
    judge->oracle.arena = kept->arena;
    judge->oracle.arena->task = judge->task;
    judge->oracle.arena->job_deadline_ns = judge->deadline_ns;
    judge->inputs = kept->inputs;
    *kept = (struct hone_gpu_kept_oracle){.inputs = HONE_SHARED_INIT};
    return true;
}

static int begin(struct hone_judge *judge, struct hone_err *err)
{
    struct hone_outcome end = HONE_OUTCOME_INIT;
    int64_t room = room_of(judge);
    int code = hone_cpu_build_oracle(judge, &end, err);
    if (code == 0 && !hone_outcome_is_good(&end))
        code = hone_fail(err, HONE_E_TARGET, "%s", end.detail);
    judge->output_bytes = room;
    if (code == 0 && !take_kept(judge, room)) {
        hone_gpu_host_drop(judge->gpu->session);
        code = hone_shared_new("hone-inputs", room, true, &judge->inputs, err);
    }
    judge->gpu->has_host_oracle = code == 0;
    return code;
}

int hone_gpu_host_ready(struct hone_judge *judge, const struct hone_workload *workload, int64_t set,
                        struct hone_err *err)
{
    int code = judge->gpu->has_host_oracle ? 0 : begin(judge, err);
    if (code == 0)
        code = hone_judge_set_frame(judge, workload, 1, err);
    for (size_t i = 0; i < judge->task->n_inputs && code == 0; i++)
        code =
            hone_gpu_fetch(judge->gpu->session,
                           hone_shared_tensor(&judge->inputs, &judge->frame.layout, 0, (int64_t)i),
                           hone_gpu_input(judge, set, i), judge->frame.layout.bytes[i], err);
    return code == 0 ? hone_judge_ready_oracle(judge, err) : code;
}
