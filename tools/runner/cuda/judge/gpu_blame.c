/* SPDX-License-Identifier: Apache-2.0 */
/* A candidate passed its checks and is wrong in a block: does it keep something from call to call,
 * or is its arithmetic like that? Its module is loaded anew (for a confirmation in another
 * process), and every set is asked for alone, with the poisons that it had: whoever says otherwise
 * then said what it did because of other calls. */
#include "tools/runner/cuda/judge/gpu_run.h"

#define ALIGNMENT 256

/* All outputs of a set, one behind the other, in the session's copy buffer. */
static int keep_outputs(struct hone_judge *judge, struct hone_slot *slot, int64_t set,
                        hone_cu_ptr ret_at[HONE_LIMIT_TENSORS], struct hone_err *err)
{
    struct hone_gpu_session *session = judge->gpu->session;
    const int64_t *bytes = judge->gpu->frame.layout.bytes + judge->task->n_inputs;
    int64_t at[HONE_LIMIT_TENSORS], size = 0;
    for (size_t o = 0; o < judge->task->n_outputs; o++) {
        at[o] = size;
        size += (bytes[o] / ALIGNMENT + 1) * ALIGNMENT;
    }
    int code = hone_gpu_buffer_need(session, &session->copy, size, err);
    for (size_t o = 0; o < judge->task->n_outputs && code == 0; o++) {
        ret_at[o] = session->copy.base + (hone_cu_ptr)at[o];
        code = hone_gpu_copy_output(judge, slot, set, o, ret_at[o], err);
    }
    return code;
}

/* Called alone, does it say the same bits of this set? A call that fails is another answer. */
static int says_the_same(struct hone_judge *judge, struct hone_slot *slot, int32_t set, bool *ret,
                         struct hone_err *err)
{
    hone_cu_ptr kept[HONE_LIMIT_TENSORS];
    struct hone_outcome end = HONE_OUTCOME_INIT;
    int code = keep_outputs(judge, slot, set, kept, err);
    if (code == 0)
        code = hone_gpu_poison(judge, slot, set, 1, 1, HONE_POISON_NAN, err);
    if (code == 0)
        code = hone_gpu_call(judge, slot, &set, 1, HONE_GPU_SCRATCH_POISON, 0, NULL, &end, err);
    *ret = code == 0 && hone_outcome_is_good(&end);
    for (size_t o = 0; o < judge->task->n_outputs && code == 0 && *ret; o++) {
        struct hone_gpu_found found = {0};
        code = hone_gpu_find_difference(judge, slot, o, set, kept[o], &found, err);
        *ret = found.count == 0;
    }
    return code;
}

int hone_gpu_blame(struct hone_judge *judge, struct hone_slot *slot, const int32_t *sets, int64_t n,
                   struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_outcome end = HONE_OUTCOME_INIT;
    if (!hone_outcome_is_value(ret))
        return 0;
    hone_gpu_drop(judge, slot);
    int code = hone_gpu_ready(judge, slot, &end, err);
    bool is_same = hone_outcome_is_good(&end);
    for (int64_t i = 0; i < n && code == 0 && is_same; i++)
        code = says_the_same(judge, slot, sets[i], &is_same, err);
    if (code == 0 && !is_same)
        ret->reason = HONE_REASON_STATEFUL;
    return code;
}

int hone_gpu_run_blame(struct hone_gpu_run *run, struct hone_gpu_lane *lane, const int32_t *sets,
                       int64_t n, struct hone_outcome *ret, struct hone_err *err)
{
    return hone_gpu_blame(run->judge, lane->slot, sets, n, ret, err);
}
