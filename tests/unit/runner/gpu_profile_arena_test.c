/* SPDX-License-Identifier: Apache-2.0 */
/* Profiling in an arena on the emulated driver: no counters are to be had there, and everything
 * else has to work. */
#include "tests/unit/runner/gpu_util.h"
#include "tools/runner/cuda/judge/gpu_profile.h"
#include "workspace/base/file.h"

#include <math.h>

static struct hone_gpu_profile_page page; /* large */

static void open_case(struct gpu_case *c)
{
    const int64_t bytes[] = {N_FLOATS * sizeof(float), N_FLOATS * sizeof(float)};
    float values[N_FLOATS];
    struct hone_gpu_arm_spec spec;

    gpu_open(&c->gpu);
    gpu_frame_init(&c->gpu, 1, 1, bytes, 1, &c->frame);
    case_values(0, values);
    gpu_write(&c->gpu, &c->frame, 0, 0, values);
    spec = gpu_spec(&c->gpu);
    spec.is_profiling = true;
    MUST(hone_gpu_arm_start(&spec, &c->arm, err));
    MUST(hone_gpu_arm_wait(c->arm, SECONDS(60), err));
    gpu_load(&c->gpu, c->arm, gpu_kernels, NULL);
    plan_init(&c->plan, 2);
}

static void two_launches(struct gpu_case *c)
{
    open_case(c);
    int64_t scratch = plan_scratch(&c->plan, N_FLOATS * 4);
    LAUNCH(&c->plan, "copy", 4, 256, BUFFER(0), BUFFER(scratch), N_FLOATS);
    LAUNCH(&c->plan, "copy", 4, 256, BUFFER(scratch), BUFFER(1), N_FLOATS);
    case_map(c);
    MUST(
        hone_gpu_arm_profile(c->arm, 0, HONE_NS_PER_S, 0x7fc00000, 60 * HONE_NS_PER_S, &page, err));
    case_is_good(c);
    printf("# %d launches, call %.0f ns, note: %s\n", page.n_launches, page.call_ns, page.note);
    ck_assert_int_eq(page.n_launches, 2);
    ck_assert_int_eq(page.n_ranges, 2);
    ck_assert_int_eq(page.ranges[0].op, 0);
    ck_assert_int_eq(page.ranges[1].op, 1);
    ck_assert_double_gt(page.call_ns, 0);
    case_expect(c, 0, 0);
    (void)case_call(c, (const int32_t[]){0}, 1, false, 10000); /* it goes on */
    case_is_good(c);
}

START_TEST(each_launch_is_counted)
{
    struct gpu_case c;

    two_launches(&c);
    ck_assert_msg(page.has_counters, "%s", page.note);
    ck_assert_str_eq(page.chip, "GH100");
    ck_assert_str_eq(page.note, "");
    ck_assert_int_eq(page.n_passes, 3);
    ck_assert_int_eq(page.last_tier, HONE_GPU_TIER_SASS);
    for (int r = 0; r < 2; r++) {
        ck_assert_double_eq(page.ranges[r].values.v[HONE_GPU_TIME], 1000 * (r + 1));
        ck_assert_double_eq(page.ranges[r].values.v[HONE_GPU_LOCAL_ST], 7);
    }
    /* And again in the same process. */
    MUST(hone_gpu_arm_profile(c.arm, 0, 1, 0, 60 * HONE_NS_PER_S, &page, err));
    ck_assert_msg(page.has_counters, "%s", page.note);
    ck_assert_int_eq(page.last_tier, HONE_GPU_TIER_T0); /* no time for more */
    ck_assert(isnan(page.ranges[0].values.v[HONE_GPU_STALL_LONG]));
    ck_assert_double_eq(page.ranges[0].values.v[HONE_GPU_DRAM_PCT], 7);
    case_close(&c);
}
END_TEST

START_TEST(a_refusal_is_told_with_its_fix)
{
    struct gpu_case c;

    ck_assert_int_eq(setenv("HONE_EMULATOR_CUPTI", "refuse", 1), 0);
    two_launches(&c);
    ck_assert(!page.has_counters);
    ck_assert(page.is_refused);
    ck_assert_ptr_nonnull(strstr(page.note, "NVreg_RestrictProfilingToAdminUsers=0"));
    case_close(&c);
}
END_TEST

START_TEST(without_instrumented_instructions)
{
    struct gpu_case c;

    ck_assert_int_eq(setenv("HONE_EMULATOR_CUPTI", "no-sass", 1), 0);
    two_launches(&c);
    ck_assert_msg(page.has_counters, "%s", page.note);
    ck_assert_int_eq(page.last_tier, HONE_GPU_TIER_T2);
    ck_assert_ptr_nonnull(strstr(page.note, "without instrumented"));
    ck_assert(isnan(page.ranges[1].values.v[HONE_GPU_FFMA]));
    ck_assert_double_eq(page.ranges[1].values.v[HONE_GPU_STALL_DRAIN], 7);
    case_close(&c);
}
END_TEST

START_TEST(without_a_launch)
{
    struct gpu_case c;

    open_case(&c);
    struct hone_plan_op *op = plan_op(&c.plan, "memset");
    op->to = (struct hone_plan_pointer){.buffer = 1};
    op->n_bytes = N_FLOATS * 4;
    op->element_bytes = 1;
    case_map(&c);
    MUST(hone_gpu_arm_profile(c.arm, 0, HONE_NS_PER_S, 0, 60 * HONE_NS_PER_S, &page, err));
    case_is_good(&c);
    ck_assert_int_eq(page.n_launches, 0);
    ck_assert_ptr_nonnull(strstr(page.note, "no kernel"));
    case_close(&c);
}
END_TEST

START_TEST(a_kernel_that_fails_ends_it)
{
    struct gpu_case c;

    open_case(&c);
    LAUNCH(&c.plan, "fail", 1, 1, 0);
    case_map(&c);
    MUST(hone_gpu_arm_profile(c.arm, 0, HONE_NS_PER_S, 0, 60 * HONE_NS_PER_S, &page, err));
    ck_assert(!hone_gpu_arm_is_alive(c.arm));
    case_close(&c);
}
END_TEST

static int suite_main(void);
#define main suite_main
UNIT_MAIN("gpu_profile_arena", each_launch_is_counted, a_refusal_is_told_with_its_fix,
          without_instrumented_instructions, without_a_launch, a_kernel_that_fails_ends_it)
#undef main

int main(int argc, char **argv)
{
    int status = gpu_role(argc, argv);

    if (status >= 0)
        return status;
    if (getenv("HONE_CUDA_LIB") == NULL) { /* build/cuda_emulator, from build/tests/unit/runner */
        HONE_AUTOFREE char *dir = hone_exe_dir();
        HONE_AUTOFREE char *lib = hone_sprintf("%s/../../../cuda_emulator", dir);
        (void)setenv("HONE_CUDA_LIB", lib, 1);
    }
    status = gpu_precompile();
    return status != 0 ? status : suite_main();
}
