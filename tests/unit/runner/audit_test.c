/* SPDX-License-Identifier: Apache-2.0 */
/* What a change in the middle of a block makes of the inputs (audit.h): content that the reference
 * can still answer. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tools/runner/judge/audit.h"
#include "workspace/task/task.h"

enum { N_SETS = 3, N_ELEMENTS = 3, TRIES = 200 };
#define MOST 1024.0 /* 16, that may grow once, by 64 */

static const uint8_t key[16] = {4, 5};

struct bench {
    struct hone_task task;
    struct hone_workload workload;
    struct hone_judge judge;
    struct hone_arena arm;
    struct hone_slot slot;
    float content[N_SETS * 1024];
};

static void set_up(struct bench *b)
{
    int64_t bytes[2] = {N_ELEMENTS * sizeof(float), N_ELEMENTS * sizeof(float)};
    memset(b, 0, sizeof *b);
    b->task.n_axes = 1;
    b->task.n_inputs = b->task.n_outputs = 1;
    b->task.inputs[0] = b->task.outputs[0] =
        (struct hone_tensor){.name = "W", .dtype = HONE_DTYPE_F32, .rank = 1, .bound_axis = -1};
    b->workload.axes[0] = N_ELEMENTS;
    ck_assert_int_eq(hone_layout_init(1, 1, bytes, N_SETS, &b->judge.frame.layout, NULL), 0);
    b->judge.task = &b->task;
    b->judge.frame.workload = &b->workload;
    ck_assert_int_eq(hone_shared_new("in", N_SETS * b->judge.frame.layout.input_stride, false,
                                     &b->judge.inputs, NULL),
                     0);
    ck_assert_int_eq(hone_shared_new("out", N_SETS * b->judge.frame.layout.output_stride, false,
                                     &b->arm.own, NULL),
                     0);
    b->slot.arena = &b->arm;
    for (size_t i = 0; i < HONE_COUNTOF(b->content); i++)
        b->content[i] = (float)(i % 5) - 2.5F;
}

/* 256 elements are made 64 times as large, of three. */
START_TEST(small_inputs_stay_finite)
{
    struct bench b;
    struct hone_gen *gen = hone_gen_new(key);
    int n_changed = 0;
    set_up(&b);
    b.judge.rng = hone_gen_rng(gen, 1);
    for (int k = 0; k < TRIES; k++) {
        struct hone_audit audit = {.judge = &b.judge,
                                   .slot = &b.slot,
                                   .n_sets = N_SETS,
                                   .content = (const char *)b.content,
                                   .max_changed = 1,
                                   .is_near = true,
                                   .kept_set = -1};
        for (int64_t set = 0; set < N_SETS; set++) {
            hone_judge_poison(&b.judge, &b.slot, set, HONE_POISON_NAN); /* no call is complete */
            hone_judge_put_set(&b.judge, set, (const char *)b.content, HONE_DIST_NORMAL);
        }
        hone_audit_quiet(&audit);
        ck_assert_int_eq(audit.n_changed, 1);
        const float *w =
            hone_shared_tensor(&b.judge.inputs, &b.judge.frame.layout, audit.changed[0], 0);
        for (int i = 0; i < N_ELEMENTS; i++) {
            ck_assert_msg(fabsf(w[i]) <= MOST, "element %d is %g", i, (double)w[i]);
            n_changed += fabsf(w[i]) > 2.5F;
        }
    }
    ck_assert_int_gt(n_changed, TRIES);
    hone_shared_done(&b.judge.inputs);
    hone_shared_done(&b.arm.own);
    hone_gen_free(gen);
}
END_TEST

UNIT_MAIN("audit", small_inputs_stay_finite)
