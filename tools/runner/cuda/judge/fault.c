/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/judge/fault.h"
#include "tools/runner/jail/stopping.h"

bool hone_fault_is_open(int code, const struct hone_outcome *end)
{
    if (code < 0)
        return code != HONE_E_CANCEL;
    return hone_reason_row(end->reason)->verdict == HONE_VERDICT_INFRA &&
           end->reason != HONE_REASON_CANCELLED;
}

/* Once more; *ret_is_open: again without a word about whose fault it is. */
static int again(const struct hone_fault_step *step, enum hone_fault_side side,
                 struct hone_outcome *ret, bool *ret_is_open)
{
    struct hone_err why = HONE_ERR_INIT;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    int code = step->run(step->arg, side, ret, &why);
    *ret_is_open = hone_fault_is_open(code, ret);
    return code;
}

/* The baseline's must work: a typed refusal of it says that the place is not as it was. */
static bool does_baseline_work(const struct hone_fault_step *step, bool *ret_is_stopped)
{
    struct hone_outcome end;
    bool is_open = false;
    int code = again(step, HONE_FAULT_BASELINE, &end, &is_open);
    *ret_is_stopped = code == HONE_E_CANCEL;
    return code == 0 && !is_open && (end.reason == HONE_REASON_BUILT || hone_outcome_is_good(&end));
}

int hone_fault_settle(const struct hone_fault_step *step, int code, struct hone_outcome *end,
                      struct hone_err *err)
{
    struct hone_outcome mine = HONE_OUTCOME_INIT;
    bool is_open = false, is_stopped = false;
    if (!hone_fault_is_open(code, end))
        return code;
    bool works = does_baseline_work(step, &is_stopped);
    int second = works ? again(step, HONE_FAULT_CANDIDATE, &mine, &is_open) : 0;
    if (works && second != HONE_E_CANCEL && !is_open) {
        *end = mine;
        return 0;
    }
    if (works && second != HONE_E_CANCEL)
        works = does_baseline_work(step, &is_stopped);
    if (is_stopped || second == HONE_E_CANCEL || hone_runner_is_stopping())
        return hone_fail(err, HONE_E_CANCEL, "stopped");
    if (!works)
        return code;
    hone_outcome_set(
        end, step->reason,
        "%s ended twice without an answer with this source, and worked twice with the "
        "baseline in its place. fix: let it do nothing but what a kernel and its launcher "
        "need",
        step->name);
    return 0;
}
