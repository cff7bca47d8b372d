/* SPDX-License-Identifier: Apache-2.0 */
/* The host's oracle, of tasks whose reference does not run on a device: its process, and the memory
 * file in which it finds inputs.
 *
 * Those of a PyTorch module are kept from job to job of the same task (arena/kept.h). */
#include "tools/runner/cuda/judge/gpu_judge.h"

/* The file is as large as the task's largest size (and sparse); a module that has no device is asked
 * for small ones alone. */
static int64_t room_of(const struct hone_judge *judge)
{
    bool is_small = judge->task->is_oracle_torch && !hone_gpu_host_has_large(judge);
    int64_t most = 2 * (int64_t)sizeof(float) * HONE_LIMIT_TORCH_ON_HOST;
    int64_t pages = (int64_t)(judge->task->n_inputs + judge->task->n_outputs) * HONE_BUFFERS_PAGE;
    for (size_t c = 0; c < judge->n_cases && !is_small; c++)
        most = hone_max_i64(most, hone_judge_set_bytes(judge, &judge->cases[c]));
    return most + pages;
}

bool hone_gpu_host_has_large(const struct hone_judge *judge)
{
    const struct hone_python *python = judge->oracle.python;
    return judge->task->is_oracle_torch && python != NULL && hone_python_device(python) != NULL &&
           !judge->gpu->has_no_large;
}

static int begin(struct hone_judge *judge, struct hone_err *err)
{
    struct hone_outcome end = HONE_OUTCOME_INIT;
    int code = hone_cpu_build_oracle(judge, &end, err);
    int64_t room = room_of(judge); /* which Python there is tells how much is asked */
    if (code == 0 && !hone_outcome_is_good(&end))
        code = hone_fail(err, HONE_E_TARGET, "%s", end.detail);
    judge->output_bytes = room;
    if (code == 0 && !hone_judge_take_oracle(judge, room))
        code = hone_shared_new("hone-inputs", room, true, &judge->inputs, err);
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
