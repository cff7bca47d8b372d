/* SPDX-License-Identifier: Apache-2.0 */
/* The device arena on the emulated driver, so that it runs anywhere, and the parts of it that need
 * no driver. */
#define FAULTS    100
#define IS_DEVICE 0
#include "tests/unit/runner/gpu_cases.h"

START_TEST(layouts)
{
    struct hone_gpu_layout layout;
    const int64_t bytes[] = {4000, 1, 0, 10 << 20};
    MUST(hone_gpu_layout_init(2, 2, bytes, 3, 2 << 20, &layout, err));
    for (int t = 0; t < 4; t++) {
        int64_t room = (hone_max_i64(bytes[t], 1) + 255) / 256 * 256;
        ck_assert_int_eq(layout.range[t] % (2 << 20), 0);
        ck_assert_int_eq(hone_gpu_at(&layout, 2, t) + room, layout.range[t]);
        ck_assert_int_ge(layout.first[t], 0);
        for (int set = 0; set < 3; set++)
            ck_assert_int_eq(hone_gpu_at(&layout, set, t) % 256, 0);
        ck_assert_int_ge(layout.stride[t], room + 256);
    }
    hone_gpu_layout_start_flush(&layout);
    ck_assert_int_eq(hone_gpu_at(&layout, 0, 3), 0);
    ERR_INIT(why);
    ck_assert_int_eq(hone_gpu_layout_init(1, 1, bytes, 0, 2 << 20, &layout, &why), HONE_E_LIMIT);
    ck_assert_int_eq(
        hone_gpu_layout_init(1, 1, bytes, HONE_GPU_MAX_SETS + 1, 2 << 20, &layout, &why),
        HONE_E_LIMIT);
    MUST(hone_gpu_layout_init(1, 1, bytes, HONE_GPU_MAX_SETS, 2 << 20, &layout, err));
    ck_assert_int_eq(
        hone_gpu_layout_init(HONE_GPU_MAX_TENSORS, 1, bytes, 1, 2 << 20, &layout, &why),
        HONE_E_LIMIT);
    const int64_t large[] = {HONE_LIMIT_TENSOR_BYTES, HONE_LIMIT_TENSOR_BYTES + 1};
    MUST(hone_gpu_layout_init(0, 1, large, 1, 2 << 20, &layout, err));
    ck_assert_int_eq(hone_gpu_layout_init(1, 1, large, 1, 2 << 20, &layout, &why), HONE_E_LIMIT);
}
END_TEST

START_TEST(stamps_become_time_and_clock)
{
    const struct hone_gpu_stamp from[] = {{1000, 500}, {1100, 900}, {0, 0}, {900, 100}};
    const struct hone_gpu_stamp to[] = {{101000, 150500}, {101200, 151050}, {100900, 7}, {0, 0}};
    double ns = -1, mhz = -1;
    hone_gpu_stamps_read(from, to, 4, &ns, &mhz);
    ck_assert(ns == 100900 - 1100);
    ck_assert(mhz > 1499 && mhz < 1501);
    hone_gpu_stamps_read(from, from, 4, &ns, &mhz); /* no span */
    ck_assert(ns == 0 && mhz == 0);
}
END_TEST

static int suite_main(void);
#define main suite_main
UNIT_MAIN("gpu_arena", layouts, stamps_become_time_and_clock, GPU_CASES)
#undef main

int main(int argc, char **argv)
{
    int status = cases_role(argc, argv);
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
