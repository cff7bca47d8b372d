/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/judge/arms.h"

#include <math.h>
#include <string.h>

#include "tools/runner/judge/stats.h"
#include "tools/runner/judge/target.h"

#define MARGIN_ONE 0.85 /* of a record's lower end: another state of the machine; one workload */
#define MARGIN_ALL 0.9  /* all of them */

bool hone_arm_is_trusted(const struct hone_slot *slot)
{
    return strcmp(slot->name, "baseline") == 0;
}

bool hone_arm_is_aside(const struct hone_slot *slot)
{
    return strcmp(slot->name, HONE_ARM_FAST_MATH) == 0;
}

bool hone_arm_is_guest(const struct hone_judge *judge, const struct hone_slot *slot)
{
    return slot != &judge->slots[0] && slot != &judge->oracle && !hone_arm_is_trusted(slot);
}

bool hone_arm_has_guest(const struct hone_judge *judge)
{
    for (size_t i = 1; i < judge->n_slots; i++)
        if (hone_arm_is_guest(judge, &judge->slots[i]) && !judge->slots[i].is_lost)
            return true;
    return false;
}

const char *hone_arm_build_name(const struct hone_judge *judge, const struct hone_slot *slot)
{
    return hone_arm_is_guest(judge, slot) ? judge->slots[0].name : slot->name;
}

/* In the judge's own words: what a guest printed or wrote into its detail is not repeated. */
void hone_arm_lose(struct hone_judge *judge, struct hone_slot *slot, enum hone_reason reason)
{
    const struct hone_reason_row *row = hone_reason_row(reason);
    if (slot->is_lost)
        return;
    slot->is_lost = true;
    judge->target->drop_arena(judge, slot);
    hone_judge_warn(judge, "nothing is said against arm '%s': it ended with %s (%s)", slot->name,
                    row->word, row->meaning);
}

int hone_arm_settle(struct hone_judge *judge, struct hone_slot *slot, int code,
                    struct hone_outcome *end, struct hone_err *err)
{
    if (code == HONE_E_CANCEL || (code == 0 && hone_outcome_is_good(end)) ||
        slot == &judge->slots[0])
        return code;
    if (hone_arm_is_guest(judge, slot)) {
        hone_arm_lose(judge, slot, code < 0 ? HONE_REASON_INFRA : end->reason);
        *end = (struct hone_outcome)HONE_OUTCOME_INIT;
        return 0;
    }
    return code < 0 ? code
                    : hone_fail(err, HONE_E_TARGET, "arm '%s' failed: %s", slot->name, end->detail);
}

/* ---- a guest's own record ---- */

static const struct hone_known *known_of(const struct hone_judge *judge,
                                         const struct hone_slot *slot, const char *workload)
{
    const struct hone_known *known = slot->arm->known.v;
    const struct hone_machine_report *machine = judge->report->machine;
    bool is_here = slot->arm->known_device != NULL && machine != NULL &&
                   strcmp(slot->arm->known_device, machine->cpu) == 0 &&
                   slot->arm->known_threads == hone_judge_threads(judge);
    for (size_t i = 0; i < slot->arm->known.n && is_here; i++)
        if (strcmp(known[i].workload, workload) == 0)
            return &known[i];
    return NULL;
}

static bool is_below(struct hone_judge *judge, struct hone_slot *slot, const char *where,
                     const struct hone_pace *pace, double margin)
{
    if (!(exp(pace->now.high) < margin * exp(pace->known.low)))
        return false;
    slot->is_lost = true;
    judge->target->drop_arena(judge, slot);
    hone_judge_warn(judge,
                    "nothing is said against arm '%s': %s it ran slower than its record (%.3gx the "
                    "baseline's speed, recorded %.3gx [%.3g, %.3g])",
                    slot->name, where, exp(pace->now.mid), exp(pace->known.mid),
                    exp(pace->known.low), exp(pace->known.high));
    return true;
}

/* true: it lost its lane. */
static bool hold(struct hone_judge *judge, struct hone_slot *slot, const char *workload,
                 const struct hone_interval *now)
{
    const struct hone_known *known = known_of(judge, slot, workload);
    if (known == NULL || !(known->low > 0))
        return false;
    struct hone_pace pace = {
        .now = *now,
        .known = {.mid = log(known->ratio), .low = log(known->low), .high = log(known->high)}};
    if (slot->paces == NULL)
        slot->paces = hone_pool_alloc(judge->pool, HONE_RUNNER_MAX_CASES * sizeof pace);
    slot->paces[slot->n_paces++] = pace;
    HONE_AUTOFREE char *where = hone_sprintf("on workload '%s'", workload);
    return is_below(judge, slot, where, &pace, MARGIN_ONE);
}

void hone_arms_hold_to_record(struct hone_judge *judge, struct hone_rounds *rounds)
{
    size_t baseline = rounds->n_lanes;
    for (size_t i = 1; i < rounds->n_lanes; i++)
        baseline = hone_arm_is_trusted(rounds->lanes[i].slot) ? i : baseline;
    for (size_t i = rounds->n_lanes; i-- > 1 && baseline < rounds->n_lanes;) {
        struct hone_slot *slot = rounds->lanes[i].slot;
        if (!hone_arm_is_guest(judge, slot))
            continue;
        struct hone_interval now = hone_rounds_between(rounds, baseline, i);
        if (!hold(judge, slot, rounds->plan->workload->id, &now))
            continue;
        hone_rounds_drop(rounds, i);
        baseline -= baseline > i;
    }
}

static void hold_whole(struct hone_judge *judge, struct hone_slot *slot)
{
    struct hone_interval now[HONE_RUNNER_MAX_CASES], known[HONE_RUNNER_MAX_CASES];
    for (size_t i = 0; i < slot->n_paces; i++) {
        now[i] = slot->paces[i].now;
        known[i] = slot->paces[i].known;
    }
    struct hone_pace all = {.now = hone_combine_logs(now, slot->n_paces),
                            .known = hone_combine_logs(known, slot->n_paces)};
    (void)is_below(judge, slot, "on the whole", &all, MARGIN_ALL);
}

static void drop_ratios(struct hone_workload_report *report, const char *name)
{
    struct hone_ratio *ratios = (struct hone_ratio *)report->ratios.v;
    size_t n = 0;
    for (size_t i = 0; i < report->ratios.n; i++)
        if (strcmp(ratios[i].against, name) != 0)
            ratios[n++] = ratios[i];
    report->ratios.n = n;
}

void hone_arms_conclude(struct hone_judge *judge)
{
    for (size_t i = 1; i < judge->n_slots; i++) {
        struct hone_slot *slot = &judge->slots[i];
        if (!slot->is_lost && slot->n_paces > 0)
            hold_whole(judge, slot);
        else if (!slot->is_lost && hone_arm_is_guest(judge, slot) && !hone_arm_is_aside(slot) &&
                 hone_judge_has_stage(judge, "time"))
            hone_judge_warn(judge,
                            "arm '%s' has no record here that it could be held to: the ratio "
                            "against it rests on what it chose to show",
                            slot->name);
        for (size_t w = 0; w < judge->n_workloads && slot->is_lost; w++)
            drop_ratios(&judge->workloads[w], slot->name);
    }
}
