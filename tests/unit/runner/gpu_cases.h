/* SPDX-License-Identifier: Apache-2.0 */
/* The device arena from end to end: jailed process, driver, plans as graphs, faults, hangs. The
 * same tests for the emulated driver (gpu_arena_test.c) and for a device
 * (tests/gpu/arena_gpu_test.c), which define FAULTS (arenas that die in a row) and IS_DEVICE first.
 */
#ifndef HONE_TESTS_GPU_CASES_H
#define HONE_TESTS_GPU_CASES_H

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/runner/gpu_util.h"
#include "tools/runner/cuda/judge/gpu_pool.h"
#include "workspace/base/file.h"

static const int32_t first_set[] = {0};

static int64_t n_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    int64_t n = 0;
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        (void)closedir(dir);
    return n;
}

static int64_t resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld %ld", &pages, &resident), 2);
    (void)fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void plan_copy(struct gpu_case *c)
{
    LAUNCH(&c->plan, "copy", 4, 256, BUFFER(0), BUFFER(1), N_FLOATS);
}

START_TEST(calls_go_to_the_sets_that_were_named)
{
    struct gpu_case c;
    const int32_t order[] = {2, 0, 3, 2};
    float zeros[N_FLOATS] = {0}, got[N_FLOATS];
    case_open(&c, gpu_kernels, NULL, 5);
    plan_copy(&c);
    case_map(&c);
    for (int set = 0; set < 5; set++)
        gpu_write(&c.gpu, &c.frame, set, 1, zeros);
    struct hone_gpu_time time = case_call(&c, order, 4, false, 10000);
    case_is_good(&c);
    for (int set = 0; set < 5; set++) {
        bool is_called = set == 0 || set == 2 || set == 3;
        if (is_called)
            case_expect(&c, set, 0);
        gpu_read(&c.gpu, &c.frame, set, 1, got);
        ck_assert_int_eq(got[5] > 0, is_called);
    }
    ck_assert(time.event_ns > 0 && time.stamp_ns > 0);
    ck_assert(time.event_ns <= (double)time.wall_ns);
    ck_assert(time.stamp_ns <= (double)time.wall_ns);
    case_close(&c);
}
END_TEST

START_TEST(scratch_memsets_copies_and_literals)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 2);
    int64_t a = plan_scratch(&c.plan, N_FLOATS * sizeof(float)),
            b = plan_scratch(&c.plan, N_FLOATS * sizeof(float));
    /* b = 2 * in, then in front of it 2.0f by a literal, 0 by a memset, and b[2] = a[2] = in[2] */
    LAUNCH(&c.plan, "copy", 4, 256, BUFFER(0), BUFFER(a), N_FLOATS);
    LAUNCH(&c.plan, "twice", 4, 256, BUFFER(a), BUFFER(b), N_FLOATS);
    struct hone_plan_op *op = plan_op(&c.plan, "literal");
    op->bytes = "00000040";
    op->n_bytes = 4;
    op->to = (struct hone_plan_pointer){.buffer = b};
    op = plan_op(&c.plan, "memset");
    op->to = (struct hone_plan_pointer){.buffer = b, .offset = 4};
    op->n_bytes = op->element_bytes = 4;
    op = plan_op(&c.plan, "copy");
    op->to = (struct hone_plan_pointer){.buffer = b, .offset = 8};
    op->from = (struct hone_plan_pointer){.buffer = a, .offset = 8};
    op->n_bytes = 4;
    LAUNCH(&c.plan, "copy", 4, 256, BUFFER(b), BUFFER(1), N_FLOATS);
    case_map(&c);
    static const int32_t both[] = {1, 0};
    for (int is_single = 0; is_single < 2; is_single++) {
        case_call(&c, both, 2, is_single == 1, 10000);
        case_is_good(&c);
        for (int set = 0; set < 2; set++) {
            float in[N_FLOATS], got[N_FLOATS];
            case_values(set, in);
            gpu_read(&c.gpu, &c.frame, set, 1, got);
            ck_assert(got[0] == 2.0f && got[1] == 0.0f && got[2] == in[2]);
            for (int i = 3; i < N_FLOATS; i++)
                ck_assert(got[i] == 2 * in[i]);
            memset(got, 0, sizeof got);
            gpu_write(&c.gpu, &c.frame, set, 1, got);
        }
    }
    case_close(&c);
}
END_TEST

START_TEST(a_literal_may_hold_addresses)
{
    static const char text[] = "struct args { const float *in; float *out; };\n"
                               "extern \"C\" __global__ void by_table(const args *a, long long n)\n"
                               "{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
                               "  if (i < n) a->out[i] = a->in[i]; }\n";
    struct gpu_case c;
    static const int32_t both[] = {1, 0};
    case_open(&c, text, NULL, 2);
    int64_t table = plan_scratch(&c.plan, 16);
    struct hone_plan_op *op = plan_op(&c.plan, "literal");
    plan_param(&c.plan, op, BUFFER(0));
    plan_param(&c.plan, op, BUFFER(1));
    op->params.n = 0;
    op->n_bytes = 16;
    op->to = (struct hone_plan_pointer){.buffer = table};
    LAUNCH(&c.plan, "by_table", 4, 256, BUFFER(table), N_FLOATS);
    case_map(&c);
    case_call(&c, both, 2, false, 10000);
    case_is_good(&c);
    case_expect(&c, 0, 0);
    case_expect(&c, 1, 0);
    case_close(&c);
}
END_TEST

START_TEST(scratch_holds_the_pattern)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    int64_t a = plan_scratch(&c.plan, N_FLOATS * sizeof(float));
    LAUNCH(&c.plan, "copy", 4, 256, BUFFER(a), BUFFER(1), N_FLOATS);
    case_map(&c);
    for (int is_single = 0; is_single < 2; is_single++) {
        uint32_t got[N_FLOATS] = {0};
        gpu_write(&c.gpu, &c.frame, 0, 1, got);
        case_call(&c, first_set, 1, is_single == 1, 10000);
        gpu_read(&c.gpu, &c.frame, 0, 1, got);
        for (int i = 0; i < N_FLOATS; i++)
            ck_assert_uint_eq(got[i], 0x7fbadbadu);
    }
    case_close(&c);
}
END_TEST

START_TEST(variables_are_put_back_before_each_call)
{
    static const char *const with[] = {"state", NULL};
    struct gpu_case c;
    const int32_t order[] = {0, 1, 0, 1, 1};
    case_open(&c, gpu_kernels, with, 2);
    LAUNCH(&c.plan, "step", 1, 1, 0);
    c.plan.ops[0].params.n = 0;
    c.plan.ops[0].bytes = NULL;
    LAUNCH(&c.plan, "count", 4, 256, BUFFER(0), BUFFER(1), N_FLOATS);
    case_map(&c);
    for (int is_single = 0; is_single < 2; is_single++) {
        case_call(&c, order, 5, is_single == 1, 10000);
        case_is_good(&c);
        case_expect(&c, 0, 6);
        case_expect(&c, 1, 6);
    }
    ck_assert_int_eq(hone_gpu_arm_n_hidden_variables(c.arm), 0);
    /* Not named: nobody puts it back, and that is told. */
    static const char *const hidden[] = {"no_such_variable", NULL};
    gpu_load(&c.gpu, c.arm, gpu_kernels, hidden);
    ck_assert_int_eq(hone_gpu_arm_n_hidden_variables(c.arm), 1);
    case_map(&c);
    case_call(&c, order, 5, false, 10000);
    case_expect(&c, 1, 10);
    ck_assert_int_eq(hone_gpu_arm_n_modules(c.arm), 2);
    case_close(&c);
}
END_TEST

/* Two roots and a join: never straight into a stream. A block of one call puts the variable back
 * inside of its graph, a single call in front of it. */
START_TEST(branches_join)
{
    static const char *const with[] = {"state", NULL};
    struct gpu_case c;
    case_open(&c, gpu_kernels, with, 2);
    int64_t a = plan_scratch(&c.plan, N_FLOATS * sizeof(float));
    LAUNCH(&c.plan, "step", 1, 1, 0);
    c.plan.ops[0].params.n = 0;
    c.plan.ops[0].bytes = NULL;
    LAUNCH(&c.plan, "copy", 4, 256, BUFFER(0), BUFFER(a), N_FLOATS)->after.n = 0;
    c.plan.numbers[0].value = 0;
    c.plan.numbers[1].value = 1;
    LAUNCH(&c.plan, "count", 4, 256, BUFFER(a), BUFFER(1), N_FLOATS)->after =
        (struct hone_array){.v = c.plan.numbers, .n = 2};
    case_map(&c);
    for (int i = 0; i < 6; i++) {
        float zeros[N_FLOATS] = {0};
        gpu_write(&c.gpu, &c.frame, 0, 1, zeros);
        case_call(&c, first_set, 1, i % 2 == 0, 10000);
        case_is_good(&c);
        case_expect(&c, 0, 6);
    }
    case_close(&c);
}
END_TEST

START_TEST(frames_leave_nothing_behind)
{
    static const int64_t bytes[] = {4000, 4000, 100};
    struct gpu_test gpu;
    gpu_open(&gpu);
    int64_t n_fds = 0;
    size_t before = 0, after = 0, total = 0;
    for (int i = 0; i < 20; i++) {
        struct gpu_frame frame;
        gpu_frame_init(&gpu, 2, 1, bytes, 3, &frame);
        gpu_frame_done(&gpu, &frame);
        if (i == 0) {
            n_fds = n_entries("/proc/self/fd");
            ck_assert_int_eq(gpu.cu->MemGetInfo(&before, &total), 0);
        }
    }
    ck_assert_int_le(n_entries("/proc/self/fd"), n_fds);
    ck_assert_int_eq(gpu.cu->MemGetInfo(&after, &total), 0);
    ck_assert_uint_ge(after, before);
    gpu_close(&gpu);
}
END_TEST

/* Memory that the judge has given back is held by an arena that maps it, until that lets go. */
START_TEST(a_spare_holds_no_buffers)
{
    struct gpu_case c;
    size_t before = 0, held = 0, after = 0, total = 0;
    case_open(&c, gpu_kernels, NULL, 1);
    plan_copy(&c);
    size_t bytes = c.frame.ranges[0].size + c.frame.ranges[1].size;
    for (int round = 0; round < 2; round++) {
        case_map(&c);
        case_call(&c, first_set, 1, false, 10000);
        ck_assert_int_eq(c.gpu.cu->MemGetInfo(&before, &total), 0);
        gpu_frame_done(&c.gpu, &c.frame);
        ck_assert_int_eq(c.gpu.cu->MemGetInfo(&held, &total), 0);
        ck_assert_uint_eq(held, before);
        MUST(hone_gpu_arm_drop(c.arm, true, err));
        case_is_good(&c);
        ck_assert_int_eq(c.gpu.cu->MemGetInfo(&after, &total), 0);
        ck_assert_uint_ge(after, before + bytes);
        const int64_t sizes[] = {N_FLOATS * sizeof(float), N_FLOATS * sizeof(float)};
        gpu_frame_init(&c.gpu, 1, 1, sizes, 1, &c.frame); /* the module is still there */
    }
    MUST(hone_gpu_arm_drop(c.arm, false, err));
    case_is_good(&c);
    case_close(&c);
}
END_TEST

/* More operations than one graph holds, in an order that repeats and in one that does not. */
START_TEST(long_blocks)
{
    enum { N = 20000 };
    struct gpu_case c;
    HONE_AUTOFREE int32_t *order = hone_calloc(N, sizeof *order);
    case_open(&c, gpu_kernels, NULL, 3);
    LAUNCH(&c.plan, "copy", 1, 32, BUFFER(0), BUFFER(1), 32);
    case_map(&c);
    for (int i = 0; i < N; i++)
        order[i] = i % 3;
    case_call(&c, order, N, false, 60000);
    case_is_good(&c);
    for (int i = 0; i < N; i++)
        order[i] = (i * 7 + i / 11) % 3;
    case_call(&c, order, N, false, 60000);
    case_is_good(&c);
    case_close(&c);
}
END_TEST

START_TEST(an_empty_plan_does_nothing)
{
    struct gpu_case c;
    float zeros[N_FLOATS] = {0}, got[N_FLOATS];
    case_open(&c, gpu_kernels, NULL, 1);
    case_map(&c);
    gpu_write(&c.gpu, &c.frame, 0, 1, zeros);
    case_call(&c, first_set, 1, false, 10000);
    case_call(&c, first_set, 1, true, 10000);
    case_is_good(&c);
    gpu_read(&c.gpu, &c.frame, 0, 1, got);
    ck_assert_mem_eq(got, zeros, sizeof got);
    struct hone_gpu_time time = {.wall_ns = -1};
    MUST(hone_gpu_arm_nop(c.arm, &time, err));
    ck_assert(time.wall_ns > 0);
    case_close(&c);
}
END_TEST

START_TEST(what_kernels_print_is_kept)
{
    struct gpu_case c;
    size_t len = 0;
    case_open(&c, gpu_kernels, NULL, 1);
    LAUNCH(&c.plan, "say", 1, 1, 42);
    case_map(&c);
    (void)hone_gpu_arm_printed(c.arm, &len);
    case_call(&c, first_set, 1, false, 10000);
    case_is_good(&c);
    const char *text = hone_gpu_arm_printed(c.arm, &len);
    ck_assert_uint_eq(len, 9);
    ck_assert_int_eq(strncmp(text, "hello 42\n", 9), 0);
    (void)hone_gpu_arm_printed(c.arm, &len);
    ck_assert_uint_eq(len, 0);
    case_close(&c);
}
END_TEST

static void ends_with(const char *kernel, size_t n_values, const int64_t *values, bool start_flush,
                      enum hone_reason reason)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    if (start_flush)
        hone_gpu_layout_start_flush(&c.frame.layout);
    plan_launch(&c.plan, kernel, 1, 1, n_values, values);
    case_map(&c);
    int64_t start = hone_now_ns();
    struct hone_gpu_time time = case_call(&c, first_set, 1, false, 1000);
    ck_assert_int_eq(time.wall_ns, -1);
    case_ended(&c, reason);
    ck_assert_int_lt(hone_now_ns() - start, 5 * HONE_NS_PER_S);
    /* A dead arm answers with its end, at once. */
    case_call(&c, first_set, 1, false, 1000);
    case_ended(&c, reason);
    case_close(&c);
}
#define ENDS(kernel_, start_flush_, reason_, ...)                                                  \
    ends_with((kernel_), HONE_COUNTOF(((const int64_t[]){__VA_ARGS__})),                           \
              (const int64_t[]){__VA_ARGS__}, (start_flush_), (reason_))

START_TEST(a_write_to_an_input_faults)
{
    ENDS("write_input", false, HONE_REASON_OUT_OF_BOUNDS, BUFFER(0), BUFFER(1));
}
END_TEST

/* 4000 bytes are rounded up to 4096: the 1024th float is the first that is not there. */
START_TEST(overruns_and_underruns_fault)
{
    ENDS("at", false, HONE_REASON_OUT_OF_BOUNDS, BUFFER(1), 1024 + 1024);
    ENDS("at", true, HONE_REASON_OUT_OF_BOUNDS, BUFFER(1), 1024 - 1);
}
END_TEST

START_TEST(a_hang_is_killed_in_time)
{
    ENDS("hang", false, HONE_REASON_TIMEOUT, BUFFER(0));
}
END_TEST

START_TEST(a_trap_is_a_crash)
{
    ENDS("fail", false, HONE_REASON_CRASH, 0);
}
END_TEST

/* Of several launches the one that fails is told, with the driver's code. */
START_TEST(a_step_names_what_fails)
{
    struct gpu_case c;
    struct hone_gpu_failed failed = {.op = -1};
    case_open(&c, gpu_kernels, NULL, 2);
    plan_copy(&c);
    case_map(&c);
    MUST(hone_gpu_arm_step(c.arm, 1, 0, 10 * HONE_NS_PER_S, &failed, err));
    case_is_good(&c);
    ck_assert_int_eq(failed.op, 0);
    case_expect(&c, 1, 0);
    LAUNCH(&c.plan, "write_input", 1, 1, BUFFER(0), BUFFER(1));
    plan_copy(&c);
    case_map(&c);
    MUST(hone_gpu_arm_step(c.arm, 1, 0, 10 * HONE_NS_PER_S, &failed, err));
    case_ended(&c, HONE_REASON_OUT_OF_BOUNDS);
    ck_assert_int_eq(failed.op, 2);
    ck_assert_int_eq(failed.cuda_code, HONE_CU_ILLEGAL_ADDRESS);
    case_close(&c);
}
END_TEST

static void shared_memory(int64_t bytes, bool is_good)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    LAUNCH(&c.plan, "big", 1, 256, BUFFER(0), BUFFER(1), N_FLOATS)->shared_bytes = bytes;
    case_map(&c);
    if (hone_gpu_arm_is_alive(c.arm))
        case_call(&c, first_set, 1, false, 10000);
    if (is_good) {
        int64_t blocks = 0;
        case_is_good(&c);
        case_expect(&c, 0, 0);
        MUST(hone_gpu_arm_occupancy(c.arm, "big", 256, bytes, &blocks, err));
        ck_assert_int_eq(blocks, 1);
    } else {
        case_ended(&c, HONE_REASON_LAUNCH);
    }
    case_close(&c);
}

START_TEST(shared_memory_up_to_the_limit_and_above)
{
    int most = 0;
    struct gpu_test gpu;
    gpu_open(&gpu);
    ck_assert_int_eq(
        gpu.cu->DeviceGetAttribute(&most, HONE_CU_DEV_SHARED_PER_BLOCK_OPTIN, gpu.device.dev), 0);
    gpu_close(&gpu);
    ck_assert_int_ge(most, 96 << 10);
    shared_memory(most, true);
    shared_memory(most + 16, false);
}
END_TEST

START_TEST(too_much_scratch_is_oom)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    (void)plan_scratch(&c.plan, 1ll << 39);
    plan_copy(&c);
    case_map(&c);
    case_ended(&c, HONE_REASON_OOM);
    case_close(&c);
}
END_TEST

START_TEST(missing_kernels_and_broken_modules)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    LAUNCH(&c.plan, "nobody", 1, 1, BUFFER(0));
    case_map(&c);
    case_ended(&c, HONE_REASON_LINK);
    hone_gpu_arm_free(c.arm);
    c.arm = gpu_arm(&c.gpu);
    static const unsigned char junk[] = "this is no cubin";
    const struct hone_cuda_module module = {.cubin = junk, .cubin_len = sizeof junk};
    MUST(hone_gpu_arm_load(c.arm, &module, SECONDS(60), err));
    case_ended(&c, HONE_REASON_LINK);
    case_close(&c);
}
END_TEST

START_TEST(no_stamp_module_no_stamps)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    hone_gpu_arm_free(c.arm);
    struct hone_gpu_arm_spec spec = gpu_spec(&c.gpu);
    spec.stamp = NULL;
    MUST(hone_gpu_arm_start(&spec, &c.arm, err));
    gpu_load(&c.gpu, c.arm, gpu_kernels, NULL);
    plan_copy(&c);
    case_map(&c);
    struct hone_gpu_time time = case_call(&c, first_set, 1, false, 10000);
    case_is_good(&c);
    case_expect(&c, 0, 0);
    ck_assert(time.event_ns > 0 && time.stamp_ns == 0 && time.sm_mhz == 0);
    case_close(&c);
}
END_TEST

START_TEST(bad_blocks_are_refused_by_the_judge)
{
    struct gpu_case c;
    ERR_INIT(why);
    case_open(&c, gpu_kernels, NULL, 1);
    plan_copy(&c);
    case_map(&c);
    struct hone_gpu_calls calls = {.sets = first_set, .n_calls = 0, .timeout_ns = HONE_NS_PER_S};
    ck_assert_int_eq(hone_gpu_arm_call(c.arm, &calls, NULL, &why), HONE_E_LIMIT);
    calls.n_calls = HONE_GPU_MAX_CALLS + 1;
    ck_assert_int_eq(hone_gpu_arm_call(c.arm, &calls, NULL, &why), HONE_E_LIMIT);
    calls.n_calls = HONE_GPU_MAX_SINGLES + 1;
    calls.is_single = true;
    ck_assert_int_eq(hone_gpu_arm_call(c.arm, &calls, NULL, &why), HONE_E_LIMIT);
    case_is_good(&c);
    case_close(&c);
}
END_TEST

/* 100 arenas that die of their kernels: no process, descriptor or memory of theirs is left. */
START_TEST(faults_leave_nothing_behind)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    LAUNCH(&c.plan, "at", 1, 1, BUFFER(1), 1024 + 1024);
    case_map(&c);
    int64_t n_fds = 0, kib = 0;
    for (int i = 0; i < FAULTS; i++) {
        case_call(&c, first_set, 1, false, 10000);
        case_ended(&c, HONE_REASON_OUT_OF_BOUNDS);
        hone_gpu_arm_free(c.arm);
        ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
        if (i == 4) {
            n_fds = n_entries("/proc/self/fd");
            kib = resident_kib();
        }
        c.arm = gpu_arm(&c.gpu);
        gpu_load(&c.gpu, c.arm, gpu_kernels, NULL);
        case_map(&c);
    }
    hone_gpu_arm_free(c.arm);
    c.arm = NULL;
    ck_assert_int_le(n_entries("/proc/self/fd"), n_fds);
    if (!UNIT_HAS_SANITIZER) /* it keeps what was freed */
        ck_assert_int_le(resident_kib(), kib + 8 * 1024);
    case_close(&c);
}
END_TEST

START_TEST(spares)
{
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    struct hone_gpu_pool *pool = NULL;
    struct hone_gpu_pool_spec spec = {.arm = gpu_spec(&c.gpu), .n_spares = 2, .max_modules = 2};
    ERR_INIT(why);
    spec.n_spares = HONE_GPU_MAX_SPARES + 1;
    ck_assert_int_eq(hone_gpu_pool_new(&spec, &pool, &why), HONE_E_LIMIT);
    spec.n_spares = 2;
    MUST(hone_gpu_pool_new(&spec, &pool, err));
    ck_assert_int_eq(hone_gpu_pool_n_spares(pool), 2);
    struct hone_gpu_arm *a = NULL, *b = NULL;
    MUST(hone_gpu_pool_take(pool, SECONDS(60), &a, err));
    MUST(hone_gpu_pool_take(pool, SECONDS(60), &b, err));
    ck_assert_ptr_ne(a, b);
    ck_assert_int_eq(hone_gpu_pool_n_spares(pool), 2);
    gpu_load(&c.gpu, a, gpu_kernels, NULL);
    hone_gpu_pool_give(pool, a); /* kept: first in line */
    ck_assert_int_eq(hone_gpu_pool_n_spares(pool), 3);
    gpu_load(&c.gpu, b, gpu_kernels, NULL);
    gpu_load(&c.gpu, b, gpu_kernels, NULL);
    hone_gpu_pool_give(pool, b); /* has loaded two modules */
    ck_assert_int_eq(hone_gpu_pool_n_spares(pool), 3);
    hone_gpu_pool_retire(pool); /* a has loaded one */
    ck_assert_int_eq(hone_gpu_pool_n_spares(pool), 2);
    MUST(hone_gpu_pool_take(pool, SECONDS(60), &a, err));
    ck_assert_int_eq(hone_gpu_arm_n_modules(a), 0);
    /* One that died is not kept. */
    struct hone_gpu_arm *mine = c.arm;
    c.arm = a;
    gpu_load(&c.gpu, a, gpu_kernels, NULL);
    LAUNCH(&c.plan, "fail", 1, 1, 0);
    case_map(&c);
    case_call(&c, first_set, 1, false, 10000);
    case_ended(&c, HONE_REASON_CRASH);
    c.arm = mine;
    hone_gpu_pool_give(pool, a);
    ck_assert_int_eq(hone_gpu_pool_n_spares(pool), 2);
    hone_gpu_pool_free(pool);
    case_close(&c);
    ck_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}
END_TEST

START_TEST(every_rung)
{
    static const char *const rungs[] = {"userns", "root", "weak"};
    struct gpu_case c;
    case_open(&c, gpu_kernels, NULL, 1);
    plan_copy(&c);
    (void)printf("# the arena runs on rung %s\n", hone_gpu_arm_rung(c.arm));
    ck_assert(IS_DEVICE || strcmp(hone_gpu_arm_rung(c.arm), "device-open") != 0);
    (void)setenv("HONE_DEVICE_JAIL", "on", 1);
    for (size_t i = 0; i < HONE_COUNTOF(rungs); i++) {
        float zeros[N_FLOATS] = {0};
        struct hone_gpu_arm_spec spec = gpu_spec(&c.gpu);
        ERR_INIT(why);
        spec.rung = rungs[i];
        spec.allow_weak = true;
        hone_gpu_arm_free(HONE_STEAL(c.arm));
        bool is_closed = hone_gpu_arm_start(&spec, &c.arm, &why) < 0 &&
                         strcmp(rungs[i], "weak") == 0 &&
                         strstr(why.message, "Permission denied") != NULL; /* a tree below /root */
        if (c.arm == NULL && (is_closed || why.code == HONE_E_UNSUPPORTED)) {
            (void)printf("# SKIP %s: %s\n", rungs[i], why.message);
            continue;
        }
        ck_assert_msg(c.arm != NULL, "%s", why.message);
        int code = hone_gpu_arm_wait(c.arm, SECONDS(60), &why);
        if (IS_DEVICE &&
            code < 0) { /* the driver does not start there: device-open is the answer */
            (void)printf("# SKIP %s: %s\n", rungs[i], why.message);
            continue;
        }
        ck_assert_msg(code == 0, "%s: %s", rungs[i], why.message);
        ck_assert_str_eq(hone_gpu_arm_rung(c.arm), rungs[i]);
        gpu_write(&c.gpu, &c.frame, 0, 1, zeros);
        gpu_load(&c.gpu, c.arm, gpu_kernels, NULL);
        case_map(&c);
        case_call(&c, first_set, 1, false, 10000);
        case_is_good(&c);
        case_expect(&c, 0, 0);
    }
    case_close(&c);
}
END_TEST

START_TEST(without_a_jail_when_told_so)
{
    struct gpu_case c;
    (void)setenv("HONE_DEVICE_JAIL", "off", 1);
    case_open(&c, gpu_kernels, NULL, 1);
    ck_assert_str_eq(hone_gpu_arm_rung(c.arm), "device-open");
    plan_copy(&c);
    case_map(&c);
    case_call(&c, first_set, 1, false, 10000);
    case_is_good(&c);
    case_expect(&c, 0, 0);
    hone_gpu_arm_free(HONE_STEAL(c.arm));
    /* A jail that is forced and does not start is an error, not an open door. */
    (void)setenv("HONE_DEVICE_JAIL", "on", 1);
    struct hone_gpu_arm_spec spec = gpu_spec(&c.gpu);
    spec.rung = "weak";
    ERR_INIT(why);
    ck_assert_int_lt(hone_gpu_arm_start(&spec, &c.arm, &why), 0);
    (void)setenv("HONE_DEVICE_JAIL", "auto", 1);
    MUST(hone_gpu_arm_start(&spec, &c.arm, err));
    ck_assert_str_eq(hone_gpu_arm_rung(c.arm), "device-open");
    MUST(hone_gpu_arm_wait(c.arm, SECONDS(60), err));
    case_close(&c);
}
END_TEST

/* ---- an arena that lies ---- */

enum lie {
    LIE_NONE,
    LIE_SIZE,
    LIE_SERIAL,
    LIE_TWICE,
    LIE_FIGURES,
    LIE_GREETING,
    LIE_DIES,
    LIE_LATE,
    LIE_WORDS,
    LIES
};

/* Plays the arena: greets, answers one request falsely. */
static int liar(enum lie lie)
{
    struct hone_gpu_answer answer = {.op =
                                         lie == LIE_GREETING ? HONE_GPU_OP_GO : HONE_GPU_OP_START};
    struct hone_gpu_request request;
    (void)!write(HONE_GPU_SOCKET, &answer, sizeof answer);
    while (read(HONE_GPU_SOCKET, &request, sizeof request) == (ssize_t)sizeof request) {
        answer = (struct hone_gpu_answer){.serial = request.serial, .op = request.op};
        if (lie == LIE_SERIAL)
            answer.serial++;
        if (lie == LIE_FIGURES)
            answer.event_ns = -5;
        answer.is_late = lie == LIE_LATE && request.op == HONE_GPU_OP_GO;
        if (lie == LIE_DIES)
            _exit(3);
        if (lie == LIE_WORDS) {
            answer.is_error = 1;
            answer.cuda_code = HONE_CU_ILLEGAL_ADDRESS;
            snprintf(answer.text, sizeof answer.text, "\033[32mverdict faster, speedup 99x");
        }
        size_t n = lie == LIE_SIZE ? sizeof answer / 2 : sizeof answer;
        (void)!write(HONE_GPU_SOCKET, &answer, n);
        if (lie == LIE_TWICE)
            (void)!write(HONE_GPU_SOCKET, &answer, n);
    }
    return 0;
}

START_TEST(lies_are_seen)
{
    static const unsigned char image[] = "anything";
    const struct hone_cuda_module module = {.cubin = image, .cubin_len = sizeof image};
    for (int lie = LIE_NONE; lie < LIES; lie++) {
        struct hone_gpu_arm_spec spec = {.rung = "auto"};
        struct hone_gpu_arm *arm = NULL;
        char word[16];
        snprintf(word, sizeof word, "%d", lie);
        (void)setenv("HONE_EMULATOR_LIE", word, 1);
        (void)setenv("HONE_DEVICE_JAIL", "on", 1);
        MUST(hone_gpu_arm_start(&spec, &arm, err));
        ERR_INIT(why);
        int code = hone_gpu_arm_wait(arm, SECONDS(30), &why);
        ck_assert_int_eq(code < 0, lie == LIE_GREETING);
        for (int i = 0; i < 2 && code == 0; i++) {
            MUST(hone_gpu_arm_load(arm, &module, SECONDS(30), err));
            (void)poll(NULL, 0, lie == LIE_TWICE ? 50 : 0);
        }
        struct hone_gpu_time time;
        if (lie == LIE_LATE) /* a gate that always gives up */
            MUST(hone_gpu_arm_nop(arm, &time, err));
        enum hone_reason want = lie == LIE_NONE                      ? HONE_REASON_CORRECT
                                : lie == LIE_WORDS                   ? HONE_REASON_OUT_OF_BOUNDS
                                : lie == LIE_DIES || lie == LIE_LATE ? HONE_REASON_INFRA
                                                                     : HONE_REASON_TAMPERING;
        ck_assert_msg(hone_gpu_arm_end(arm)->reason == want, "lie %d: %s", lie,
                      hone_gpu_arm_end(arm)->detail);
        if (lie == LIE_WORDS) /* a number's meaning, not the arena's sentence */
            ck_assert_str_eq(hone_gpu_arm_end(arm)->detail,
                             "loading the module failed: CUDA error 700 (an illegal memory "
                             "access)");
        ck_assert_int_eq(hone_gpu_arm_is_alive(arm), lie == LIE_NONE);
        hone_gpu_arm_free(arm);
    }
}
END_TEST

/* What main does when this program was started as an arena; -1: it was not. */
static int cases_role(int argc, char **argv)
{
    const char *lie = getenv("HONE_EMULATOR_LIE");
    if (lie != NULL && argc > 1)
        return liar((enum lie)strtol(lie, NULL, 10));
    return gpu_role(argc, argv);
}

#define GPU_CASES                                                                                  \
    calls_go_to_the_sets_that_were_named, scratch_memsets_copies_and_literals,                     \
        a_literal_may_hold_addresses, scratch_holds_the_pattern,                                   \
        variables_are_put_back_before_each_call, branches_join, frames_leave_nothing_behind,       \
        a_spare_holds_no_buffers, long_blocks, an_empty_plan_does_nothing,                         \
        what_kernels_print_is_kept, a_write_to_an_input_faults, overruns_and_underruns_fault,      \
        a_hang_is_killed_in_time, a_trap_is_a_crash, a_step_names_what_fails,                      \
        shared_memory_up_to_the_limit_and_above, too_much_scratch_is_oom,                          \
        missing_kernels_and_broken_modules, no_stamp_module_no_stamps,                             \
        bad_blocks_are_refused_by_the_judge, faults_leave_nothing_behind, spares, every_rung,      \
        without_a_jail_when_told_so, lies_are_seen

#endif
