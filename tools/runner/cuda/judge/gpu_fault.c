/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/judge/gpu_fault.h"

#include "tools/runner/cuda/judge/fault.h"
#include "tools/runner/cuda/judge/gpu_steps.h"
#include "workspace/base/clock.h"

#define START_NS (30 * HONE_NS_PER_S)

struct stage { /* one of them is done */
    struct hone_judge *judge;
    struct hone_slot *slot;
    size_t n_checks; /* rows of the report before it */
    const struct hone_check_plan *check;
    const struct hone_timing_plan *timing;
    struct hone_workload_report *workload;
    hone_stage_fn *whole;
};

static int run_stage(const struct stage *stage, struct hone_outcome *ret, struct hone_err *err)
{
    if (stage->check != NULL)
        return hone_gpu_judge_check(stage->judge, stage->slot, stage->check, ret, err);
    if (stage->timing != NULL)
        return hone_gpu_judge_time(stage->judge, stage->timing, stage->workload, ret, err);
    return stage->whole(stage->judge, ret, err);
}

/* A process that never held a module runs an empty block. */
static int run_nothing(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_arm *arm = NULL;
    struct hone_gpu_time time = {0};
    int code = hone_gpu_arms_unused(judge, hone_now_ns() + START_NS, &arm, err);
    if (code == 0)
        code = hone_gpu_arm_nop(arm, &time, err);
    if (code == 0)
        *ret = *hone_gpu_arm_end(arm);
    hone_gpu_arm_free(arm);
    return code;
}

static int run_baseline(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_slot *slot = hone_judge_slot(judge, "baseline");
    const struct hone_gpu_frame *frame = &judge->gpu->frame;
    int32_t sets[HONE_GPU_MAX_SETS];
    struct hone_gpu_time time = {0};
    if (slot == NULL || !slot->is_built)
        return run_nothing(judge, ret, err);
    hone_gpu_arms_renew(judge, slot);
    if (frame->workload == NULL)
        return hone_gpu_arms_ready(judge, slot, ret, err);
    for (int32_t i = 0; i < frame->layout.n_sets; i++)
        sets[i] = i;
    int code = hone_gpu_ready(judge, slot, ret, err);
    if (code == 0 && hone_outcome_is_good(ret))
        code = hone_gpu_call(judge, slot, sets, frame->layout.n_sets, 0, 0, &time, ret, err);
    if (code == 0 && hone_outcome_is_good(ret)) {
        code = hone_gpu_arm_nop(hone_gpu_slot(judge, slot)->arm, &time, err);
        *ret = *hone_gpu_arm_end(hone_gpu_slot(judge, slot)->arm);
    }
    return code;
}

static int again(void *arg, enum hone_fault_side side, struct hone_outcome *ret,
                 struct hone_err *err)
{
    const struct stage *stage = arg;
    if (side == HONE_FAULT_BASELINE)
        return run_baseline(stage->judge, ret, err);
    hone_gpu_arms_renew(stage->judge, stage->slot);
    stage->judge->n_checks = stage->n_checks;
    return run_stage(stage, ret, err);
}

/* What another arm, a frame that does not fit or the judge's own context failed at is no question
 * about the candidate: its own arena must be gone, or not to be had. A whole stage may have given
 * its arena back. */
static bool is_its_own(const struct stage *stage, int code)
{
    const struct hone_gpu_slot *own = hone_gpu_slot(stage->judge, stage->slot);
    bool is_gone = own->arm == NULL ? own->has_no_arena : !hone_gpu_arm_is_alive(own->arm);
    return !stage->judge->gpu->session->is_broken &&
           (is_gone || (stage->whole != NULL && code == 0));
}

static int settle(struct stage *stage, const char *name, struct hone_outcome *ret,
                  struct hone_err *err)
{
    struct hone_judge *judge = stage->judge;
    struct hone_err why = HONE_ERR_INIT;
    const struct hone_fault_step step = {
        .name = name, .reason = HONE_REASON_CRASH, .run = again, .arg = stage};
    stage->n_checks = judge->n_checks;
    int code = run_stage(stage, ret, &why);
    if (hone_fault_is_open(code, ret) && is_its_own(stage, code)) {
        int64_t start = hone_now_ns();
        code = hone_fault_settle(&step, code, ret, &why);
        hone_judge_cost(judge, "device.blame", hone_now_ns() - start);
    }
    if (code == 0 && !hone_outcome_is_good(ret))
        hone_gpu_steps_name(judge, stage->slot, ret);
    if (code < 0 && err != NULL)
        *err = why;
    return code;
}

int hone_gpu_check_settled(struct hone_judge *judge, struct hone_slot *slot,
                           const struct hone_check_plan *plan, struct hone_outcome *ret,
                           struct hone_err *err)
{
    struct stage stage = {.judge = judge, .slot = slot, .check = plan};
    if (slot == hone_judge_slot(judge, "baseline"))
        return hone_gpu_judge_check(judge, slot, plan, ret, err);
    return settle(&stage, "a check on the device", ret, err);
}

int hone_gpu_time_settled(struct hone_judge *judge, const struct hone_timing_plan *plan,
                          struct hone_workload_report *ret_report, struct hone_outcome *ret,
                          struct hone_err *err)
{
    struct stage stage = {
        .judge = judge, .slot = &judge->slots[0], .timing = plan, .workload = ret_report};
    return settle(&stage, "timing on the device", ret, err);
}

int hone_gpu_stage_settled(struct hone_judge *judge, const char *name, hone_stage_fn *whole,
                           struct hone_outcome *ret, struct hone_err *err)
{
    struct stage stage = {.judge = judge, .slot = &judge->slots[0], .whole = whole};
    return settle(&stage, name, ret, err);
}
