/* Profiling in an arena on the emulated driver: no counters are to be had there, and everything
 * else has to work.
 *
 * sanitizers: no (kernels are host code in a process of its own) */
#include "tests/unit/runner/gpu_util.h"
#include "tools/runner/cuda/gpu_profile.h"
#include "workspace/base/file.h"

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

START_TEST(a_call_is_clocked_and_the_reason_told)
{
    struct gpu_case c;

    open_case(&c);
    int64_t scratch = plan_scratch(&c.plan, N_FLOATS * 4);
    LAUNCH(&c.plan, "copy", 4, 256, BUFFER(0), BUFFER(scratch), N_FLOATS);
    LAUNCH(&c.plan, "copy", 4, 256, BUFFER(scratch), BUFFER(1), N_FLOATS);
    case_map(&c);
    MUST(hone_gpu_arm_profile(c.arm, 0, HONE_NS_PER_S, 0x7fc00000, 60 * HONE_NS_PER_S, &page, err));
    case_is_good(&c);
    printf("# %d launches, call %.0f ns, note: %s\n", page.n_launches, page.call_ns, page.note);
    ck_assert_int_eq(page.n_launches, 2);
    ck_assert_int_eq(page.n_ranges, 2);
    ck_assert_int_eq(page.ranges[1].op, 1);
    ck_assert_double_gt(page.call_ns, 0);
    ck_assert(!page.has_counters);
    ck_assert_uint_gt(strlen(page.note), 10);
    case_expect(&c, 0, 0);
    (void)case_call(&c, (const int32_t[]){0}, 1, false, 10000); /* it goes on */
    case_is_good(&c);
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
UNIT_MAIN("gpu_profile_arena", a_call_is_clocked_and_the_reason_told, without_a_launch,
          a_kernel_that_fails_ends_it)
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
