/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/judge/fault.h"

#include "tools/runner/jail/stopping.h"
#include "tools/runner/judge/blame.h"

bool hone_fault_is_open(int code, const struct hone_outcome *end)
{
    return code < 0 ? code != HONE_E_CANCEL : hone_blame_is_open(end);
}

static int live(void *arg, bool is_yardstick, struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_fault_step *step = arg;
    return step->run(step->arg, is_yardstick ? HONE_FAULT_BASELINE : HONE_FAULT_CANDIDATE, ret,
                     err);
}

int hone_fault_settle(const struct hone_fault_step *step, int code, struct hone_outcome *end,
                      struct hone_err *err)
{
    struct hone_fault_step again = *step;
    struct hone_outcome last = HONE_OUTCOME_INIT;
    struct hone_err why = HONE_ERR_INIT;
    enum hone_blame whose = HONE_BLAME_MACHINE;
    if (!hone_fault_is_open(code, end))
        return code;
    int decided = hone_blame_decide(HONE_BLAME_BY_STEP, live, &again, &whose, &last, &why);
    if (decided < 0 || (whose != HONE_BLAME_NOBODY && hone_runner_is_stopping()))
        return hone_fail(err, HONE_E_CANCEL, "stopped");
    if (whose == HONE_BLAME_MACHINE)
        return code;
    if (whose == HONE_BLAME_NOBODY) {
        *end = last;
        return 0;
    }
    hone_outcome_set(
        end, step->reason,
        "%s ended twice without an answer with this source, and worked twice with the "
        "baseline in its place. fix: let it do nothing but what a kernel and its launcher "
        "need",
        step->name);
    return 0;
}
