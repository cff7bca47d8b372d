/* SPDX-License-Identifier: Apache-2.0 */
/* The build stage: the candidate first, then what the job's other stages need. */
#include "tools/runner/judge/target.h"

#include <string.h>

#include "tools/runner/judge/arms.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

int hone_judge_read_source(struct hone_judge *judge, const struct hone_slot *slot,
                           char **ret_source, struct hone_outcome *ret)
{
    HONE_AUTOFREE char *path = hone_sprintf("%s/open/%s", judge->dir, slot->arm->source);
    size_t len = 0;
    struct hone_err why = HONE_ERR_INIT;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    if (hone_file_read(path, HONE_LIMIT_SOURCE_BYTES, ret_source, &len, &why) < 0)
        hone_outcome_set(ret,
                         why.code == HONE_E_LIMIT ? HONE_REASON_TOO_LARGE : HONE_REASON_BAD_REQUEST,
                         "%.300s", why.message);
    return 0;
}

int hone_judge_build_arm(struct hone_judge *judge, struct hone_slot *slot,
                         const struct hone_point *point, struct hone_outcome *ret,
                         struct hone_err *err)
{
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    slot->is_built = false;
    int code = judge->target->build_arm(judge, slot, point, ret, err);
    slot->is_built = code == 0 && hone_outcome_is_good(ret);
    slot->has_failed = code < 0 || ret->reason == HONE_REASON_INFRA;
    return code;
}

static bool needs_other_arms(const struct hone_judge *judge)
{
    return judge->job->points.n > 0 || hone_judge_has_stage(judge, "screen") ||
           hone_judge_has_stage(judge, "time") || hone_judge_has_stage(judge, "profile") ||
           hone_judge_has_stage(judge, "verify");
}

static bool needs_oracle(const struct hone_judge *judge)
{
    return needs_other_arms(judge) || hone_judge_has_stage(judge, "smoke");
}

int hone_stage_build(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    int code = judge->job->points.n > 0
                   ? 0
                   : hone_judge_build_arm(judge, &judge->slots[0], NULL, ret, err);
    if (code < 0 || !hone_outcome_is_good(ret))
        return code;
    for (size_t i = 1; i < judge->n_slots && needs_other_arms(judge); i++) {
        struct hone_slot *slot = &judge->slots[i];
        code = hone_judge_build_arm(judge, slot, NULL, ret, err);
        if (hone_arm_is_guest(judge, slot))
            code = hone_arm_settle(judge, slot, code, ret, err);
        if (code < 0)
            return code;
        if (!hone_outcome_is_good(ret)) { /* the candidate is not to blame */
            ret->reason = strcmp(slot->name, "baseline") == 0 ? HONE_REASON_BAD_TASK
                                                              : HONE_REASON_BAD_REQUEST;
            return 0;
        }
    }
    return needs_oracle(judge) ? judge->target->build_oracle(judge, ret, err) : 0;
}
