/* SPDX-License-Identifier: Apache-2.0 */
/* The experiment of blame.h: yardstick and arm in turn, each in a fresh process.
 *
 * hone_blame_decide knows the order and what follows from it; live_build and live_arena are the
 * two kinds of life that can be repeated here; hone_blame_settle is called with every end that
 * says nothing about who failed. */
#include "tools/runner/judge/blame.h"

#include <stdlib.h>
#include <string.h>

#include "tools/runner/judge/target.h"
#include "workspace/base/clock.h"

#define MAX_HANDS    64 /* hand-overs that are lived through again */
#define MORE_NS      (5 * HONE_NS_PER_S)
#define YARDSTICK_NS (300 * HONE_NS_PER_MS) /* of calls beyond its first: it may be far slower */

/* ---- the rule ---- */

static int live_one(hone_blame_life_fn *live, void *arg, bool is_yardstick,
                    struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_err why = HONE_ERR_INIT;
    *ret = (struct hone_outcome)HONE_OUTCOME_INIT;
    int code = live(arg, is_yardstick, ret, &why);
    if (code == HONE_E_CANCEL)
        return hone_fail(err, code, "%s", why.message);
    if (code < 0)
        hone_outcome_set(ret, HONE_REASON_INFRA, "%.300s", why.message);
    return 0;
}

/* Enough of either ends the experiment; is_answer: a typed end is an answer like any other. */
static const struct {
    int n_failed, n_worked;
    bool is_answer;
} rules[] = {
    [HONE_BLAME_BY_LIVES] = {2, 4, false},
    [HONE_BLAME_BY_STEP] = {1, 1, true},
};

bool hone_blame_is_open(const struct hone_outcome *end)
{
    return hone_reason_row(end->reason)->verdict == HONE_VERDICT_INFRA &&
           end->reason != HONE_REASON_CANCELLED;
}

int hone_blame_decide(enum hone_blame_rule rule, hone_blame_life_fn *live, void *arg,
                      enum hone_blame *ret, struct hone_outcome *ret_last, struct hone_err *err)
{
    int n_failed = 0, n_worked = 0;
    *ret = HONE_BLAME_MACHINE;
    for (;;) {
        struct hone_outcome mine, theirs;
        int code = live_one(live, arg, true, &theirs, err);
        if (code < 0)
            return code;
        if (!hone_outcome_is_good(&theirs) && theirs.reason != HONE_REASON_BUILT)
            return 0;
        if (n_failed == rules[rule].n_failed) {
            *ret = HONE_BLAME_ARM;
            return 0;
        }
        code = live_one(live, arg, false, &mine, err);
        if (code < 0)
            return code;
        bool has_failed =
            rules[rule].is_answer ? hone_blame_is_open(&mine) : !hone_outcome_is_good(&mine);
        if (has_failed || rules[rule].is_answer)
            *ret_last = mine;
        n_failed += has_failed;
        n_worked += !has_failed;
        if (n_worked == rules[rule].n_worked) {
            *ret = HONE_BLAME_NOBODY;
            return 0;
        }
    }
}

void hone_blame_word(const struct hone_outcome *was, const struct hone_outcome *last,
                     struct hone_outcome *ret)
{
    bool is_typed = hone_reason_row(last->reason)->counts_against_coder;
    struct hone_outcome words = is_typed ? *last : *was;
    hone_outcome_set(
        ret, is_typed ? last->reason : HONE_REASON_UNRULY,
        "%.250s; tried again it failed each time, and the baseline works in the same place",
        words.detail);
}

/* ---- one life ---- */

struct again {
    struct hone_judge *judge;
    struct hone_slot *suspect;
    struct hone_slot yardstick;
    struct hone_life life;
    bool is_build; /* the build failed: nothing was started */
};

static int build_yardstick(struct hone_judge *judge, bool is_fresh, struct hone_slot *ret,
                           struct hone_outcome *end, struct hone_err *err)
{
    free(ret->object);
    ret->object = NULL;
    return hone_cpu_build_naive(judge, is_fresh, &ret->object, end, err);
}

static int live_build(struct again *again, bool is_yardstick, struct hone_outcome *ret,
                      struct hone_err *err)
{
    if (is_yardstick)
        return build_yardstick(again->judge, true, &again->yardstick, ret, err);
    int code = hone_judge_build_arm(again->judge, again->suspect, NULL, ret, err);
    return code;
}

/* The suspect makes as many calls in as many hand-overs as it had made; the yardstick as many as
 * fit into its time: what it shows is that the place works. */
static int call_again(struct again *again, struct hone_slot *slot, bool is_yardstick,
                      struct hone_err *err)
{
    const struct hone_life *life = &again->life;
    struct hone_judge *judge = again->judge;
    int64_t n_sets = judge->frame.layout.n_sets;
    int64_t n_rotate = hone_min_i64(hone_max_i64(life->n_rotate, 1), n_sets);
    int64_t n_hands = hone_min_i64(life->n_hands, MAX_HANDS);
    for (int64_t set = 0; set < n_rotate; set++)
        hone_judge_poison(judge, slot, set, HONE_POISON_NAN);
    struct hone_calls calls = {.n_rotate = n_rotate,
                               .n_calls = 1,
                               .perturb = life->perturb,
                               .timeout_ns = judge->call_timeout_ns};
    int64_t start = hone_now_ns();
    int code = hone_arena_call(slot->arena, &calls, NULL, err);
    int64_t call_ns = hone_max_i64(hone_now_ns() - start, 1);
    int64_t n_left = life->n_calls - 1;
    if (is_yardstick)
        n_left = hone_min_i64(n_left, YARDSTICK_NS / call_ns);
    calls.timeout_ns = judge->call_timeout_ns + 2 * life->called_ns + MORE_NS;
    for (int64_t left = n_hands - 1; left > 0 && n_left > 0; left--) {
        if (code < 0 || !slot->arena->is_alive)
            return code;
        calls.n_calls = left == 1 ? n_left : hone_max_i64(n_left / left, 1);
        n_left -= calls.n_calls;
        code = hone_arena_call(slot->arena, &calls, NULL, err);
    }
    return code;
}

static int live_arena(struct again *again, bool is_yardstick, struct hone_outcome *ret,
                      struct hone_err *err)
{
    struct hone_judge *judge = again->judge;
    const struct hone_slot *from = is_yardstick ? &again->yardstick : again->suspect;
    struct hone_slot slot = {
        .name = from->name, .arm = from->arm, .is_built = true, .object = from->object};
    if (judge->frame.workload == NULL)
        return hone_fail(err, HONE_E_BUG, "an arena without a frame");
    int code = hone_judge_ready(judge, &slot, ret, err);
    if (code == 0 && hone_outcome_is_good(ret) && slot.arena->is_alive) {
        code = call_again(again, &slot, is_yardstick, err);
        *ret = slot.arena->end;
    }
    hone_judge_drop_arena(&slot);
    return code;
}

static int live(void *arg, bool is_yardstick, struct hone_outcome *ret, struct hone_err *err)
{
    struct again *again = arg;
    return again->is_build ? live_build(again, is_yardstick, ret, err)
                           : live_arena(again, is_yardstick, ret, err);
}

static int blame_slot(struct hone_judge *judge, struct hone_slot *slot, enum hone_blame *ret,
                      struct hone_outcome *ret_last, struct hone_err *err)
{
    struct again again = {.judge = judge,
                          .suspect = slot,
                          .yardstick = {.name = "naive"},
                          .is_build = !slot->is_built};
    struct hone_outcome end = HONE_OUTCOME_INIT;
    *ret = HONE_BLAME_MACHINE;
    if (slot->arena != NULL)
        again.life = slot->arena->life;
    for (size_t i = 0; i < judge->n_slots; i++)
        judge->target->drop_arena(judge, &judge->slots[i]);
    int code = again.is_build ? 0 : build_yardstick(judge, false, &again.yardstick, &end, err);
    if (code == 0 && hone_outcome_is_good(&end))
        code = hone_blame_decide(HONE_BLAME_BY_LIVES, live, &again, ret, ret_last, err);
    free(again.yardstick.object);
    return code;
}

/* ---- the job's end ---- */

static bool is_suspect(const struct hone_slot *slot)
{
    return strcmp(slot->name, "baseline") != 0 &&
           (slot->has_failed || (slot->arena != NULL && slot->arena->life.has_failed));
}

void hone_blame_settle(struct hone_judge *judge, struct hone_outcome *end)
{
    bool is_open = end->reason == HONE_REASON_INFRA || end->reason == HONE_REASON_NO_JAIL;
    struct hone_slot *slot = NULL;
    for (size_t i = judge->n_slots; i > 0; i--)
        if (is_suspect(&judge->slots[i - 1]))
            slot = &judge->slots[i - 1];
    if (!is_open || slot == NULL || judge->gpu != NULL)
        return;
    enum hone_blame whose = HONE_BLAME_MACHINE;
    struct hone_outcome was = *end, last = HONE_OUTCOME_INIT;
    struct hone_err why = HONE_ERR_INIT;
    hone_judge_progress(judge, "blame", "", 0, 0, "machine or candidate");
    int code = blame_slot(judge, slot, &whose, &last, &why);
    if (code == HONE_E_CANCEL)
        hone_outcome_set(end, HONE_REASON_CANCELLED, "%.300s", why.message);
    bool is_candidate = slot == &judge->slots[0];
    judge->wants_again = code == 0 && whose == HONE_BLAME_NOBODY && is_candidate;
    if (code < 0 || whose == HONE_BLAME_MACHINE ||
        (whose == HONE_BLAME_NOBODY && !(is_candidate && judge->is_again)))
        return;
    if (is_candidate && whose == HONE_BLAME_NOBODY)
        hone_outcome_set(end, HONE_REASON_UNRULY,
                         "%.200s; so did the same job when it was done again, but alone the kernel "
                         "works each time, and the baseline works in the same place",
                         was.detail);
    else if (is_candidate)
        hone_blame_word(&was, &last, end);
    else
        hone_outcome_set(
            end, was.reason,
            "arm '%s' fails where the baseline works in the same place: judge without it",
            slot->name);
}

/* gcc says of each nested function whose address is taken that it needs code on the stack. */
static int64_t trampoline_line(const struct hone_judge *judge)
{
    const struct hone_build_report *build = judge->report->build;
    const struct hone_diagnostic *all = build != NULL ? build->diagnostics.v : NULL;
    for (size_t i = 0; all != NULL && i < build->diagnostics.n; i++)
        if (strncmp(all[i].message, "trampoline generated", strlen("trampoline generated")) == 0)
            return all[i].line;
    return 0;
}

void hone_blame_explain(const struct hone_judge *judge, struct hone_outcome *end)
{
    int64_t line = end->reason == HONE_REASON_CRASH ? trampoline_line(judge) : 0;
    struct hone_outcome was = *end;
    if (line > 0)
        hone_outcome_set(
            end, was.reason,
            "%.200s; the nested function in line %lld needs code on the stack, which no "
            "process here may run: make it an ordinary function",
            was.detail, (long long)line);
}
