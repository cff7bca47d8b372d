/* SPDX-License-Identifier: Apache-2.0 */
/* Machine or candidate: what each outcome of the experiment says, with steps that follow a script.
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "tools/runner/cuda/judge/fault.h"
#include "tools/runner/cuda/judge/gpu_run.h"

struct script {
    const char *says; /* a letter a call, in the order of the calls */
    size_t at;
    char sides[8];
};

/* w works, c ends with a reason of its own, i infra, e an error, s stopped. */
static int play(void *arg, enum hone_fault_side side, struct hone_outcome *ret,
                struct hone_err *err)
{
    struct script *script = arg;
    char say = script->says[script->at];
    ck_assert_msg(say != '\0', "asked %zu times", script->at + 1);
    script->sides[script->at++] = side == HONE_FAULT_BASELINE ? 'B' : 'C';
    if (say == 'e')
        return hone_fail(err, HONE_E_IO, "a disk");
    if (say == 's')
        return hone_fail(err, HONE_E_CANCEL, "stopped");
    if (say == 'c')
        hone_outcome_set(ret, HONE_REASON_COMPILE, "a typed end");
    if (say == 'i')
        hone_outcome_set(ret, HONE_REASON_INFRA, "gone");
    return 0;
}

START_TEST(test_answers)
{
    static const struct {
        const char *first, *says, *sides;
        int code;
        enum hone_reason reason; /* where code is 0 */
    } rows[] = {
        {"w", "", "", 0, HONE_REASON_CORRECT},     /* nothing to ask */
        {"c", "", "", 0, HONE_REASON_COMPILE},     /* it has its reason */
        {"s", "", "", HONE_E_CANCEL, 0},           /* stopped is not open */
        {"i", "wiw", "BCB", 0, HONE_REASON_CRASH}, /* twice against twice */
        {"e", "wew", "BCB", 0, HONE_REASON_CRASH}, /* errors as well */
        {"i", "wew", "BCB", 0, HONE_REASON_CRASH}, /* one of each */
        {"i", "i", "B", 0, HONE_REASON_INFRA},     /* the machine's */
        {"e", "e", "B", HONE_E_TIMEOUT, 0},        /* the first error stays */
        {"i", "c", "B", 0, HONE_REASON_INFRA},     /* a baseline that is refused works not */
        {"i", "wie", "BCB", 0, HONE_REASON_INFRA}, /* it works now and then */
        {"i", "ww", "BC", 0, HONE_REASON_CORRECT}, /* the second try counts */
        {"e", "wc", "BC", 0, HONE_REASON_COMPILE}, /* good or bad */
        {"i", "s", "B", HONE_E_CANCEL, 0},         {"i", "ws", "BC", HONE_E_CANCEL, 0},
        {"i", "wis", "BCB", HONE_E_CANCEL, 0},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct script script = {.says = rows[i].says}, first = {.says = rows[i].first};
        const struct hone_fault_step step = {
            .name = "a step", .reason = HONE_REASON_CRASH, .run = play, .arg = &script};
        struct hone_outcome end = HONE_OUTCOME_INIT;
        struct hone_err err = HONE_ERR_INIT;
        int code = play(&first, HONE_FAULT_CANDIDATE, &end, &err);
        if (code == HONE_E_IO)
            code = hone_fail(&err, HONE_E_TIMEOUT, "the first");
        code = hone_fault_settle(&step, code, &end, &err);
        ck_assert_msg(code == rows[i].code, "row %zu: code %d", i, code);
        ck_assert_msg(strcmp(script.sides, rows[i].sides) == 0, "row %zu: asked %s", i,
                      script.sides);
        ck_assert_msg(code < 0 || end.reason == rows[i].reason, "row %zu: %s", i,
                      hone_reason_row(end.reason)->word);
        ck_assert_msg(code != HONE_E_TIMEOUT || strcmp(err.message, "the first") == 0, "row %zu",
                      i);
    }
}
END_TEST

/* A late block of the baseline excuses as many of the candidate's, no more. */
START_TEST(test_late_blocks_are_reviewed)
{
    static const struct {
        int64_t mine, baseline;
        size_t n_rows;
    } rows[] = {{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {2, 1, 1}, {2, 2, 0}, {0, 1, 0}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_judge *judge = hone_calloc(1, sizeof *judge);
        struct hone_gpu_lane *lanes = hone_calloc(2, sizeof *lanes);
        const struct hone_workload workload = {.id = "w"};
        const struct hone_timing_plan plan = {.workload = &workload};
        const struct hone_gpu_run run = {
            .judge = judge, .plan = &plan, .lanes = lanes, .n_lanes = 2};
        judge->pool = hone_pool_new();
        judge->review = hone_pool_alloc(judge->pool, sizeof *judge->review);
        lanes[0].n_late = rows[i].mine;
        lanes[1].n_late = rows[i].baseline;
        lanes[1].is_trusted = true;
        hone_gpu_run_review_late(&run);
        ck_assert_msg(judge->n_review == rows[i].n_rows, "row %zu", i);
        hone_pool_free(judge->pool);
        free(lanes);
        free(judge);
    }
}
END_TEST

UNIT_MAIN("fault", test_answers, test_late_blocks_are_reviewed)
