/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/judge/gpu_steps.h"

#include <string.h>

#include "tools/runner/cuda/compile/cubin.h"

#define MOST_SETS 32
#define POISON    0x7fc0dead

const char *hone_gpu_steps_advice(int cuda_code)
{
    static const struct {
        int code;
        const char *text;
    } rows[] = {
        {HONE_CU_ILLEGAL_INSTRUCTION,
         "look at what the instruction may be given: wgmma descriptors and fences, setmaxnreg (the "
         "warpgroups' registers must fit the launch), tensor maps (box, strides, alignment, "
         "swizzle), mbarrier counts"},
        {HONE_CU_ILLEGAL_ADDRESS,
         "check bounds at the tail, 32-bit index arithmetic and the extents of tensor maps"},
        {HONE_CU_MISALIGNED_ADDRESS,
         "vector accesses need addresses that are multiples of their size: rows of odd length are "
         "not"},
        {HONE_CU_INVALID_ADDRESS_SPACE,
         "an instruction for shared memory got a generic address: use __cvta_generic_to_shared"},
        {HONE_CU_ASSERT, "an assertion or a trap of the kernel's own was hit"},
        {HONE_CU_HARDWARE_STACK_ERROR,
         "the stack overflowed: less recursion, smaller local arrays"},
        {HONE_CU_LAUNCH_FAILED, "barriers that not all threads reach, or a shared memory access "
                                "beyond what was asked for"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (rows[i].code == cuda_code)
            return rows[i].text;
    return "try the smallest workload with kernel_run";
}

/* "kernel 'f<4>' (launch 2 of 3, line 40)" */
static const char *name_op(const struct hone_judge *judge, const struct hone_gpu_slot *own,
                           const struct hone_plan *plan, size_t op)
{
    const struct hone_plan_op *ops = plan->ops.v;
    size_t n = 0, at = 0;
    for (size_t i = 0; i < plan->ops.n; i++) {
        n += strcmp(ops[i].kind, "launch") == 0 ? 1 : 0;
        at = i == op ? n : at;
    }
    if (strcmp(ops[op].kind, "launch") != 0)
        return hone_pool_printf(judge->pool, "operation %zu (a %.20s)", op + 1, ops[op].kind);
    const struct hone_cuda_kernel *kernel = hone_cubin_find(&own->module.kernels, ops[op].kernel);
    const char *name = kernel != NULL && kernel->pretty != NULL ? kernel->pretty : ops[op].kernel;
    return hone_pool_printf(judge->pool, "kernel '%.120s' (launch %zu of %zu, line %lld)", name, at,
                            n, (long long)ops[op].line);
}

void hone_gpu_steps_name(struct hone_judge *judge, struct hone_slot *slot, struct hone_outcome *end)
{
    struct hone_gpu_slot *own = hone_gpu_slot(judge, slot);
    const struct hone_gpu_frame *frame = &judge->gpu->frame;
    bool is_crash = end->reason == HONE_REASON_CRASH || end->reason == HONE_REASON_OUT_OF_BOUNDS ||
                    end->reason == HONE_REASON_ILLEGAL_INSTRUCTION;
    if (!is_crash || frame->workload == NULL || judge->gpu->session->is_broken ||
        !own->has_module || (own->arm != NULL && hone_gpu_arm_is_alive(own->arm)))
        return;
    size_t c = hone_gpu_case(judge, frame->workload);
    const struct hone_plan *plan = (const struct hone_plan *)own->module.plans.v + c;
    struct hone_outcome again = HONE_OUTCOME_INIT;
    struct hone_gpu_failed failed = {0};
    if (c >= own->module.plans.n)
        return;
    hone_gpu_arms_renew(judge, slot);
    int code = hone_gpu_ready(judge, slot, &again, NULL);
    int64_t n = hone_min_i64(frame->layout.n_sets, MOST_SETS);
    for (int64_t set = 0; set < n && code == 0 && hone_outcome_is_good(&again); set++) {
        code = hone_gpu_arm_step(own->arm, set, POISON, judge->call_timeout_ns, &failed, NULL);
        again = *hone_gpu_arm_end(own->arm);
    }
    struct hone_outcome before = *end;
    if (code == 0 && failed.op > 0 && (size_t)failed.op <= plan->ops.n) {
        const char *words = hone_cu_words(failed.cuda_code);
        hone_outcome_set(
            end, before.reason, "%.100s; launch by launch it is %s: CUDA error %d (%s). fix: %s",
            before.detail, name_op(judge, own, plan, (size_t)failed.op - 1), failed.cuda_code,
            words != NULL ? words : "no words for it", hone_gpu_steps_advice(failed.cuda_code));
    } else if (code == 0 && hone_outcome_is_good(&again)) {
        hone_outcome_set(end, before.reason,
                         "%.160s; launch by launch, waiting after each, it does not fail: look for "
                         "what runs beside each other (streams, programmatic launches, races)",
                         before.detail);
    }
}
