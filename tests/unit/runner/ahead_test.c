/* SPDX-License-Identifier: Apache-2.0 */
/* Builds ahead of a sweep: who has which, in which order they are taken, what is left at the end.
 * The sources cannot be split, so that no compiler is needed. */
#include "tools/runner/cuda/judge/gpu_ahead.h"

#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/clock.h"

static const char *const archs[] = {"sm_1", "sm_2", "sm_3", "sm_4", "sm_5"};

static void begin(struct hone_gpu_ahead *ahead, int key)
{
    static struct hone_task task;
    static const struct hone_array none;
    int64_t place = hone_gpu_ahead_place(ahead, archs[key]);
    const struct hone_cuda_request req = {.task = &task,
                                          .arm = "candidate",
                                          .source = "__global__ void k(float *a) { {",
                                          .tunables = &none,
                                          .arch = archs[key],
                                          .rung = "auto",
                                          .scratch_dir = "/dev/null/none",
                                          .deadline_ns = hone_deadline_in_ms(20000)};
    ck_assert_int_ge(place, 0);
    hone_gpu_ahead_begin(ahead, place, archs[key], &req);
    ck_assert_int_eq(hone_gpu_ahead_place(ahead, archs[key]), -1);
}

static bool take(struct hone_gpu_ahead *ahead, int key)
{
    struct hone_pool *pool = NULL;
    struct hone_cuda_module module;
    struct hone_outcome end;
    struct hone_err err = HONE_ERR_INIT;
    int code = 0;
    if (!hone_gpu_ahead_take(ahead, archs[key], &pool, &module, &end, &code, &err))
        return false;
    ck_assert_str_eq(module.arch, archs[key]);
    ck_assert_msg(code < 0 || end.reason != HONE_REASON_BUILT, "an open brace was built");
    ck_assert_ptr_nonnull(pool);
    hone_pool_free(pool);
    return true;
}

START_TEST(each_key_has_its_build)
{
    struct hone_gpu_ahead *ahead = hone_gpu_ahead_new(99);
    for (int k = 0; k < HONE_GPU_AHEAD_MOST; k++)
        begin(ahead, k);
    ck_assert_int_eq(hone_gpu_ahead_place(ahead, archs[4]), -1); /* all have something to keep */
    ck_assert(!take(ahead, 4));
    for (int k = HONE_GPU_AHEAD_MOST - 1; k >= 0; k--) {
        ck_assert(take(ahead, k));
        ck_assert(!take(ahead, k));
    }
    begin(ahead, 4);
    ck_assert(take(ahead, 4));
    hone_gpu_ahead_free(ahead);
}
END_TEST

START_TEST(what_nobody_takes_is_dropped)
{
    struct hone_gpu_ahead *ahead = hone_gpu_ahead_new(0); /* one, at least */
    begin(ahead, 0);
    ck_assert_int_eq(hone_gpu_ahead_place(ahead, archs[1]), -1);
    hone_gpu_ahead_free(ahead);
    hone_gpu_ahead_free(NULL);
    struct hone_pool *pool = NULL;
    ck_assert(!hone_gpu_ahead_take(NULL, archs[0], &pool, NULL, NULL, NULL, NULL));
}
END_TEST

UNIT_MAIN("ahead", each_key_has_its_build, what_nobody_takes_is_dropped)
