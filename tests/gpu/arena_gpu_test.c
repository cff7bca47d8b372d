/* SPDX-License-Identifier: Apache-2.0 */
/* The device arena on a GPU: all cases of the emulator's test, and what only a device can show:
 * clocks, cooperative grids, clusters, tensor maps, programmatic launches, device assertions.
 *
 * Exit 77 without a device. sanitizers: no (a driver reserves more address space than they leave)
 */
#define FAULTS    20
#define IS_DEVICE 1
#include "tests/unit/runner/gpu_cases.h"

#define ROWS    25
#define COLUMNS 40 /* ROWS x COLUMNS is N_FLOATS */
#define BOX_X   8
#define BOX_Y   5

static const char device_kernels[] =
    "extern \"C\" __global__ void stop(const float *in) { assert(in[0] < 0); }\n"
    "extern \"C\" __global__ void wait_ns(unsigned long long ns)\n"
    "{ unsigned long long a, b; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(a));\n"
    "  do asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(b)); while (b - a < ns); }\n"
    "extern \"C\" __global__ void together(const float *in, float *out, float *between,\n"
    "                                    unsigned *counter, long long n)\n"
    "{ for (long long i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * "
    "blockDim.x)\n"
    "    between[i] = in[i];\n"
    "  __threadfence(); __syncthreads();\n"
    "  if (threadIdx.x == 0) { atomicAdd(counter, 1);\n"
    "    while (*(volatile unsigned *)counter < gridDim.x) { } }\n"
    "  __syncthreads(); __threadfence();\n"
    "  for (long long i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * "
    "blockDim.x)\n"
    "    out[i] = between[n - 1 - i]; }\n"
    "extern \"C\" __global__ void cluster(float *out)\n"
    "{ unsigned n, rank;\n"
    "  asm volatile(\"mov.u32 %0, %cluster_nctarank;\" : \"=r\"(n));\n"
    "  asm volatile(\"mov.u32 %0, %cluster_ctarank;\" : \"=r\"(rank));\n"
    "  asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\" ::: "
    "\"memory\");\n"
    "  if (threadIdx.x == 0) out[blockIdx.x] = n + 100.0f * rank; }\n"
    "struct alignas(64) tensor_map { unsigned long long words[16]; };\n"
    "extern \"C\" __global__ void by_map(const __grid_constant__ tensor_map map, float *out)\n"
    "{ __shared__ alignas(128) float tile[40];\n"
    "  __shared__ alignas(8) unsigned long long barrier;\n"
    "  unsigned b = (unsigned)__cvta_generic_to_shared(&barrier);\n"
    "  unsigned t = (unsigned)__cvta_generic_to_shared(tile);\n"
    "  int x = blockIdx.x * 8, y = blockIdx.y * 5;\n"
    "  if (threadIdx.x == 0) {\n"
    "    asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" :: \"r\"(b) : \"memory\");\n"
    "    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\"); }\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x == 0) {\n"
    "    asm volatile(\"{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 160; "
    "}\"\n"
    "                 :: \"r\"(b) : \"memory\");\n"
    "    asm "
    "volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes \"\n"
    "                 \"[%0], [%1, {%2, %3}], [%4];\" :: \"r\"(t), \"l\"(&map), \"r\"(x), "
    "\"r\"(y), \"r\"(b)\n"
    "                 : \"memory\"); }\n"
    "  asm volatile(\"{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; "
    "\"\n"
    "               \"@!p bra WAIT; }\" :: \"r\"(b) : \"memory\");\n"
    "  int i = threadIdx.x;\n"
    "  out[(y + i / 8) * 40 + x + i % 8] = tile[i]; }\n"
    "extern \"C\" __global__ void first(const float *in, float *between, long long n)\n"
    "{ asm volatile(\"griddepcontrol.launch_dependents;\");\n"
    "  for (int k = 0; k < 2000; k++) __nanosleep(10);\n"
    "  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "  if (i < n) between[i] = in[i]; }\n"
    "extern \"C\" __global__ void second(const float *between, float *out, long long n)\n"
    "{ asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
    "  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = between[i]; }\n"
    "extern \"C\" __global__ void does_not_wait(const float *between, float *out, long long n) { "
    "}\n";

START_TEST(an_assertion_is_a_crash)
{
    struct gpu_case c;
    case_open(&c, device_kernels, NULL, 1);
    LAUNCH(&c.plan, "stop", 1, 1, BUFFER(0));
    case_map(&c);
    case_call(&c, first_set, 1, false, 5000);
    case_ended(&c, HONE_REASON_CRASH);
    case_close(&c);
}
END_TEST

/* 20 calls of 200 us: events, stamps and the judge's wall clock see the same 4 ms. */
START_TEST(clocks_agree)
{
    struct gpu_case c;
    int32_t order[20] = {0};
    case_open(&c, device_kernels, NULL, 1);
    LAUNCH(&c.plan, "wait_ns", 1, 1, 200000);
    case_map(&c);
    struct hone_gpu_time nop = {.wall_ns = 0};
    for (int is_single = 0; is_single < 2; is_single++) {
        struct hone_gpu_time t = {.wall_ns = 0};
        for (int i = 0; i < 5; i++)
            t = case_call(&c, order, 20, is_single == 1, 10000);
        case_is_good(&c);
        (void)printf("# %s: wall %.1f us, events %.1f us, stamps %.1f us, %.0f MHz\n",
                     is_single ? "single" : "block", (double)t.wall_ns / 1e3, t.event_ns / 1e3,
                     t.stamp_ns / 1e3, t.sm_mhz);
        ck_assert(t.event_ns >= 20 * 199000.0 && t.event_ns < 20 * 230000.0);
        ck_assert(t.stamp_ns > t.event_ns - 50000 && t.stamp_ns < t.event_ns + 50000 * 20);
        ck_assert((double)t.wall_ns >= t.event_ns - 20000);
        ck_assert(t.sm_mhz > 300 && t.sm_mhz < 4000);
        if (is_single == 0)
            ck_assert((double)t.wall_ns < t.event_ns + 2e6);
    }
    for (int i = 0; i < 10; i++)
        MUST(hone_gpu_arm_nop(c.arm, &nop, err));
    (void)printf("# empty block: wall %.1f us, events %.1f us, stamps %.1f us\n",
                 (double)nop.wall_ns / 1e3, nop.event_ns / 1e3, nop.stamp_ns / 1e3);
    ck_assert_int_lt(nop.wall_ns, 5 * HONE_NS_PER_MS);
    case_close(&c);
}
END_TEST

/* What building and replaying costs: figures for people, with bounds that only a broken build
 * reaches. */
START_TEST(costs)
{
    enum { N = 1000 };
    struct gpu_case c;
    int32_t order[N];
    int64_t start = hone_now_ns();
    case_open(&c, gpu_kernels, NULL, 4);
    (void)printf("# judge's context, arena and module: %.0f ms\n",
                 (double)(hone_now_ns() - start) / 1e6);
    plan_copy(&c);
    start = hone_now_ns();
    case_map(&c);
    (void)printf("# map: %.2f ms\n", (double)(hone_now_ns() - start) / 1e6);
    for (int i = 0; i < N; i++)
        order[i] = i % 4;
    for (int round = 0; round < 3; round++) {
        start = hone_now_ns();
        struct hone_gpu_time t = case_call(&c, order, N, false, 10000);
        (void)printf(
            "# %d copies: whole call %.2f ms, wall %.1f us, events %.1f us (%.2f us each)\n", N,
            (double)(hone_now_ns() - start) / 1e6, (double)t.wall_ns / 1e3, t.event_ns / 1e3,
            t.event_ns / 1e3 / N);
    }
    case_is_good(&c);
    start = hone_now_ns();
    hone_gpu_arm_free(HONE_STEAL(c.arm));
    (void)printf("# kill and reap: %.0f ms\n", (double)(hone_now_ns() - start) / 1e6);
    ck_assert_int_lt(hone_now_ns() - start, 5 * HONE_NS_PER_S);
    case_close(&c);
}
END_TEST

static void together(int64_t blocks, bool fits)
{
    struct gpu_case c;
    float in[N_FLOATS], got[N_FLOATS];
    case_open(&c, device_kernels, NULL, 1);
    int64_t between = plan_scratch(&c.plan, N_FLOATS * sizeof(float)),
            counter = plan_scratch(&c.plan, 4);
    struct hone_plan_op *op = plan_op(&c.plan, "memset");
    op->to = (struct hone_plan_pointer){.buffer = counter};
    op->n_bytes = op->element_bytes = 4;
    LAUNCH(&c.plan, "together", blocks, 128, BUFFER(0), BUFFER(1), BUFFER(between), BUFFER(counter),
           N_FLOATS)
        ->is_cooperative = true;
    case_map(&c);
    for (int is_single = 0; is_single < 2 && hone_gpu_arm_is_alive(c.arm); is_single++)
        case_call(&c, first_set, 1, is_single == 1, 10000);
    if (fits) {
        case_is_good(&c);
        case_values(0, in);
        gpu_read(&c.gpu, &c.frame, 0, 1, got);
        for (int i = 0; i < N_FLOATS; i++)
            ck_assert(got[i] == in[N_FLOATS - 1 - i]);
    } else {
        case_ended(&c, HONE_REASON_LAUNCH);
    }
    case_close(&c);
}

START_TEST(cooperative_grids)
{
    together(64, true);
    together(1 << 20, false);
}
END_TEST

static void clusters(int64_t size)
{
    struct gpu_case c;
    float got[N_FLOATS];
    case_open(&c, device_kernels, NULL, 1);
    LAUNCH(&c.plan, "cluster", 32, 32, BUFFER(1))->cluster = (struct hone_plan_dim){size, 1, 1};
    case_map(&c);
    for (int is_single = 0; is_single < 2; is_single++) {
        memset(got, 0, sizeof got);
        gpu_write(&c.gpu, &c.frame, 0, 1, got);
        case_call(&c, first_set, 1, is_single == 1, 10000);
        case_is_good(&c);
        gpu_read(&c.gpu, &c.frame, 0, 1, got);
        for (int i = 0; i < 32; i++)
            ck_assert_msg(got[i] == (float)(size + 100 * (i % size)), "block %d: %g", i,
                          (double)got[i]);
    }
    case_close(&c);
}

START_TEST(clusters_of_two_and_sixteen)
{
    clusters(2);
    clusters(16);
}
END_TEST

START_TEST(a_copy_by_tensor_map)
{
    struct gpu_case c;
    static const int32_t both[] = {1, 0};
    case_open(&c, device_kernels, NULL, 2);
    struct hone_plan_op *op = plan_op(&c.plan, "launch");
    op->kernel = "by_map";
    op->grid = (struct hone_plan_dim){COLUMNS / BOX_X, ROWS / BOX_Y, 1};
    op->block = (struct hone_plan_dim){BOX_X * BOX_Y, 1, 1};
    memset(c.plan.bytes[0], '0', 2 * (128 + 8));
    op->bytes = c.plan.bytes[0];
    c.plan.params[0][0] = (struct hone_plan_param){.at = 0, .size = 128};
    c.plan.params[0][1] = (struct hone_plan_param){.at = 128, .size = 8};
    op->params.n = 2;
    c.plan.pointers[0][0] = (struct hone_plan_pointer){.at = 128, .buffer = 1};
    op->pointers.n = 1;
    static const int64_t numbers[] = {COLUMNS, ROWS, COLUMNS * sizeof(float), BOX_X, BOX_Y, 1, 1};
    for (size_t i = 0; i < HONE_COUNTOF(numbers); i++)
        c.plan.numbers[i].value = numbers[i];
    c.plan.map[0] = (struct hone_plan_map){.dtype = 7, /* float */
                                           .rank = 2,
                                           .buffer = 0,
                                           .dims = {.v = c.plan.numbers, .n = 2},
                                           .strides = {.v = c.plan.numbers + 2, .n = 1},
                                           .box = {.v = c.plan.numbers + 3, .n = 2},
                                           .element_strides = {.v = c.plan.numbers + 5, .n = 2}};
    op->maps = (struct hone_array){.v = c.plan.map, .n = 1};
    case_map(&c);
    for (int is_single = 0; is_single < 2; is_single++) {
        case_call(&c, both, 2, is_single == 1, 10000);
        case_is_good(&c);
        case_expect(&c, 0, 0);
        case_expect(&c, 1, 0);
    }
    case_close(&c);
}
END_TEST

/* The second kernel may start early and waits by itself: right in every call of a block. */
START_TEST(programmatic_launches)
{
    struct gpu_case c;
    static const int32_t order[] = {0, 1, 0, 1, 1, 0};
    case_open(&c, device_kernels, NULL, 2);
    int64_t between = plan_scratch(&c.plan, N_FLOATS * sizeof(float));
    LAUNCH(&c.plan, "first", 4, 256, BUFFER(0), BUFFER(between), N_FLOATS);
    LAUNCH(&c.plan, "second", 4, 256, BUFFER(between), BUFFER(1), N_FLOATS)->is_programmatic = true;
    case_map(&c);
    for (int is_single = 0; is_single < 2; is_single++) {
        case_call(&c, order, 6, is_single == 1, 10000);
        case_is_good(&c);
        case_expect(&c, 0, 0);
        case_expect(&c, 1, 0);
    }
    case_close(&c);
}
END_TEST

/* A call is over when all of its kernels are, also one that nobody waits for: the first kernel
 * sleeps 20 us and more, its early successor ends at once. */
START_TEST(nothing_runs_on_after_the_end)
{
    struct gpu_case c;
    int32_t order[10] = {0};
    case_open(&c, device_kernels, NULL, 1);
    int64_t between = plan_scratch(&c.plan, N_FLOATS * sizeof(float));
    LAUNCH(&c.plan, "first", 4, 256, BUFFER(0), BUFFER(between), N_FLOATS);
    LAUNCH(&c.plan, "does_not_wait", 1, 32, BUFFER(between), BUFFER(1), N_FLOATS)->is_programmatic =
        true;
    case_map(&c);
    struct hone_gpu_time t = case_call(&c, order, 10, false, 10000);
    t = case_call(&c, order, 10, false, 10000);
    case_is_good(&c);
    (void)printf("# ten calls of at least 20 us each: %.1f us\n", t.event_ns / 1e3);
    ck_assert(t.event_ns > 10 * 20000.0);
    case_close(&c);
}
END_TEST

static int suite_main(void);
#define main suite_main
UNIT_MAIN("arena_gpu", GPU_CASES, an_assertion_is_a_crash, clocks_agree, costs, cooperative_grids,
          clusters_of_two_and_sixteen, a_copy_by_tensor_map, programmatic_launches,
          nothing_runs_on_after_the_end)
#undef main

int main(int argc, char **argv)
{
    int status = cases_role(argc, argv);
    if (status >= 0)
        return status;
    status = gpu_precompile();
    return status != 0 ? status : suite_main();
}
