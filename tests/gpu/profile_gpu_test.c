/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with one known fault each, profiled on a GPU: the fault must be named, with its line.
 *
 * Below the launcher: device text, plans made by hand, an arena for profiling, counters, nvdisasm,
 * the report. tests/gpu/kernels holds the same faults as candidates. All figures are printed as
 * comments. Exit 77 without a device; a part that needs counters is skipped, with the reason, where
 * they are not to be had.
 *
 * sanitizers: no (a driver reserves more address space than they leave) */
#include "tests/unit/runner/gpu_util.h"
#include "tools/runner/cuda/compile/cubin.h"
#include "tools/runner/cuda/judge/gpu_profile.h"
#include "tools/runner/cuda/compile/sass.h"

#define N     4096 /* rows and columns */
#define BYTES ((int64_t)N * N * 4)

static const char text[] =
    "extern \"C\" __global__ void strided(const float *in, float *out, long long n)\n"
    "{\n"
    "    long long x = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    if (x >= n * n)\n"
    "        return;\n"
    "    float v = in[x];\n"
    "    out[(x % n) * n + x / n] = v; /*HERE strided*/\n"
    "}\n"
    "extern \"C\" __global__ void conflict(const float *in, float *out, long long n)\n"
    "{\n"
    "    __shared__ float tile[32][32];\n"
    "    int x = threadIdx.x & 31, y = threadIdx.x >> 5;\n"
    "    long long at = blockIdx.x * 1024LL + threadIdx.x;\n"
    "    tile[y][x] = in[at];\n"
    "    __syncthreads();\n"
    "    float sum = 0;\n"
    "    for (int k = 0; k < 64; k++)\n"
    "        sum += tile[x][(y + k) & 31]; /*HERE conflict*/\n"
    "    out[at] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(1024, 2)\n"
    "spill(const float *in, float *out, long long n)\n"
    "{\n"
    "    long long at = blockIdx.x * 1024LL + threadIdx.x;\n"
    "    float a[48];\n"
    "    for (int i = 0; i < 48; i++)\n"
    "        a[i] = in[(at + i * 1024) & (n * n - 1)];\n"
    "    for (int k = 0; k < 100; k++)\n"
    "#pragma unroll\n"
    "        for (int i = 0; i < 48; i++)\n"
    "            a[i] = a[i] * a[(i * 7 + 1) % 48] + a[(i * 11 + 5) % 48]; /*HERE spill*/\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < 48; i++)\n"
    "        sum += a[i];\n"
    "    out[at] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void latency(const float *in, float *out, long long n)\n"
    "{\n"
    "    const float *row = in + blockIdx.x * n;\n"
    "    float sum = 0;\n"
    "#pragma unroll 1\n"
    "    for (long long i = threadIdx.x; i < n; i += 32)\n"
    "        sum += row[i]; /*HERE latency*/\n"
    "    out[blockIdx.x * 32 + threadIdx.x] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void matmul(const float *in, float *out, long long n)\n"
    "{\n"
    "    long long x = (blockIdx.x & 127) * 16 + (threadIdx.x & 15);\n"
    "    long long y = (blockIdx.x >> 7) * 16 + (threadIdx.x >> 4);\n"
    "    const float *a = in, *b = in + 2048 * 2048;\n"
    "    float sum = 0;\n"
    "    for (int k = 0; k < 2048; k++)\n"
    "        sum += a[y * 2048 + k] * b[k * 2048LL + x]; /*HERE matmul*/\n"
    "    out[y * 2048 + x] = sum;\n"
    "}\n";

struct fault {
    const char *kernel;
    int64_t blocks, threads, shared_bytes;
    struct hone_gpu_roof roof;
    const char *first;  /* the class that must come first; NULL: any of */
    const char *any[4]; /* one of these must be among all */
};
static const struct fault faults[] = {
    {"strided", (int64_t)N *N / 256, 256, 0, {.bytes = 2.0 * BYTES}, "uncoalesced", {NULL}},
    {"conflict", (int64_t)N *N / 1024, 1024, 0, {.bytes = 2.0 * BYTES}, "shared_conflict", {NULL}},
    {"spill", 2048, 1024, 0, {.bytes = 16.0 * (1 << 20)}, "spill", {NULL}},
    {"latency", N, 32, 96 << 10, {.bytes = 1.0 * BYTES}, "latency_occupancy", {NULL}},
    {"matmul",
     128 * 128,
     256,
     0,
     {.bytes = 3.0 * 2048 * 2048 * 4, .flops = 2.0 * 2048 * 2048 * 2048},
     NULL,
     {"l1_shared_bound", "l2_bound", "excess_traffic", NULL}},
};

static int64_t line_of(const char *kernel)
{
    char mark[64];
    int64_t line = 1;

    snprintf(mark, sizeof mark, "/*HERE %s*/", kernel);
    const char *at = strstr(text, mark);
    for (const char *c = text; c < at; c++)
        line += *c == '\n' ? 1 : 0;
    return line;
}

static unsigned char *compile(struct gpu_test *t, size_t *ret_len)
{
    hone_nvrtc_program program = NULL;
    const char *const options[] = {t->arch, "--std=c++17", "-lineinfo"};
    size_t len = 0;

    ck_assert_int_eq(t->nvrtc->CreateProgram(&program, text, "faults.cu", 0, NULL, NULL), 0);
    int rc = t->nvrtc->CompileProgram(program, 3, options);
    if (rc != 0 && t->nvrtc->GetProgramLogSize(program, &len) == 0) {
        HONE_AUTOFREE char *log = hone_calloc(len + 1, 1);
        (void)t->nvrtc->GetProgramLog(program, log);
        printf("# %s\n", log);
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(t->nvrtc->GetCUBINSize(program, ret_len), 0);
    char *image = hone_calloc(*ret_len + 1, 1);
    ck_assert_int_eq(t->nvrtc->GetCUBIN(program, image), 0);
    (void)t->nvrtc->DestroyProgram(&program);
    return (unsigned char *)image;
}

struct bench {
    struct gpu_test gpu;
    struct gpu_frame frame;
    struct hone_cuda_module module;
    struct hone_pool *pool;
    const char *sass;
    size_t sass_len;
};

static void open_bench(struct bench *b)
{
    const int64_t bytes[] = {BYTES, BYTES};
    struct hone_cubin cubin;
    ERR_INIT(why);

    *b = (struct bench){.pool = hone_pool_new()};
    gpu_open(&b->gpu);
    gpu_frame_init(&b->gpu, 1, 1, bytes, 1, &b->frame);
    ck_assert_int_eq(
        b->gpu.cu->MemsetD32Async(gpu_at(&b->frame, 0, 0), 0x3f000000, BYTES / 4, NULL), 0);
    ck_assert_int_eq(b->gpu.cu->CtxSynchronize(), 0);
    b->module.cubin = compile(&b->gpu, &b->module.cubin_len);
    MUST(hone_cubin_read(b->module.cubin, b->module.cubin_len, b->pool, &cubin, err));
    b->module.kernels = cubin.kernels;
    const struct hone_sass_request req = {.cubin = b->module.cubin,
                                          .len = b->module.cubin_len,
                                          .scratch_dir = "/tmp",
                                          .rung = "auto",
                                          .deadline_ns = SECONDS(30)};
    if (hone_sass_disassemble(&req, b->pool, &b->sass, &b->sass_len, &why) < 0)
        printf("# no disassembly: %s\n", why.message);
}

/* The ways of the stage: jailed, on rung root with CAP_PERFMON, without a jail. */
static bool profile(struct bench *b, const struct hone_plan *plan,
                    struct hone_gpu_profile_page *page)
{
    const struct {
        const char *rung;
        bool is_open;
    } ways[] = {{"auto", false}, {"root", false}, {"auto", true}};

    for (size_t i = 0; i < HONE_COUNTOF(ways); i++) {
        struct hone_gpu_arm_spec spec = gpu_spec(&b->gpu);
        struct hone_gpu_arm *arm = NULL;
        ERR_INIT(why);
        spec.rung = ways[i].rung;
        spec.is_open = ways[i].is_open;
        spec.is_profiling = true;
        if (hone_gpu_arm_start(&spec, &arm, &why) < 0 ||
            hone_gpu_arm_wait(arm, SECONDS(60), &why) < 0) {
            printf("# way %zu: %s\n", i, why.message);
            hone_gpu_arm_free(arm);
            continue;
        }
        MUST(hone_gpu_arm_load(arm, &b->module, SECONDS(60), err));
        MUST(hone_gpu_arm_map(arm, &b->frame.layout, b->frame.ranges, plan, SECONDS(60), err));
        MUST(hone_gpu_arm_profile(arm, 0, HONE_NS_PER_S, 0x7fc00000, 120 * HONE_NS_PER_S, page,
                                  err));
        printf("# way %zu, rung %s: %s, %d passes up to %s, chip %s, call %.1f us, set-up %.0f ms, "
               "counting %.0f ms%s%s\n",
               i, hone_gpu_arm_rung(arm), page->has_counters ? "counted" : "not counted",
               page->n_passes, hone_gpu_tier_name((enum hone_gpu_tier)page->last_tier), page->chip,
               page->call_ns / 1e3, page->open_ns / 1e6, page->count_ns / 1e6,
               page->note[0] != '\0' ? "; " : "", page->note);
        if (!hone_gpu_arm_is_alive(arm))
            printf("# the arena ended: %s\n", hone_gpu_arm_end(arm)->detail);
        hone_gpu_arm_free(arm);
        if (page->has_counters)
            return true;
    }
    return false;
}

static void print_report(const struct hone_profile_report *report)
{
    const struct hone_counter *counters = report->counters.v;
    const struct hone_bottleneck *found = report->bottlenecks.v;
    const struct hone_remark *remarks = report->remarks.v;

    for (size_t i = 0; i < report->counters.n; i++)
        printf("#   %-6s %-80s %12.5g %s\n", counters[i].group, counters[i].name, counters[i].value,
               counters[i].unit);
    for (size_t i = 0; i < report->remarks.n; i++)
        printf("#   line %d: %s\n", (int)remarks[i].line, remarks[i].message);
    for (size_t i = 0; i < report->bottlenecks.n; i++)
        printf("#   => %s, line %d: %s\n", found[i].class_name, (int)found[i].line, found[i].rule);
    printf("#   note: %s\n", report->counters_note != NULL ? report->counters_note : "none");
}

static const struct hone_bottleneck *find(const struct hone_profile_report *report,
                                          const char *class_name)
{
    const struct hone_bottleneck *found = report->bottlenecks.v;

    for (size_t i = 0; i < report->bottlenecks.n; i++)
        if (strcmp(found[i].class_name, class_name) == 0)
            return &found[i];
    return NULL;
}

static void judge_report(const struct bench *b, const struct fault *fault,
                         const struct hone_profile_report *report)
{
    const struct hone_bottleneck *worst = report->bottlenecks.v;
    bool is_any = fault->first != NULL;

    if (fault->first != NULL)
        ck_assert_msg(strcmp(worst->class_name, fault->first) == 0, "%s is called %s, not %s",
                      fault->kernel, worst->class_name, fault->first);
    for (size_t i = 0; i < HONE_COUNTOF(fault->any) && fault->any[i] != NULL; i++)
        is_any = is_any || find(report, fault->any[i]) != NULL;
    ck_assert_msg(is_any, "%s is called %s", fault->kernel, worst->class_name);
    if (b->sass != NULL)
        ck_assert_msg(worst->line == line_of(fault->kernel), "%s: line %d, not %d", fault->kernel,
                      (int)worst->line, (int)line_of(fault->kernel));
}

static void check_fault(const struct fault *fault)
{
    static struct hone_gpu_profile_page page;
    struct hone_profile_report report;
    struct gpu_plan plan;
    struct bench b;

    open_bench(&b);
    plan_init(&plan, 2);
    struct hone_plan_op *op =
        LAUNCH(&plan, fault->kernel, fault->blocks, fault->threads, BUFFER(0), BUFFER(1), N);
    op->shared_bytes = fault->shared_bytes;
    bool is_counted = profile(&b, &plan.plan, &page);
    struct hone_gpu_profile_in in = {.module = &b.module,
                                     .plan = &plan.plan,
                                     .sm_count = b.gpu.device.sm_count,
                                     .major = b.gpu.device.major,
                                     .minor = b.gpu.device.minor,
                                     .roof = fault->roof,
                                     .page = &page,
                                     .sass_text = b.sass,
                                     .sass_len = b.sass_len};
    in.roof.flops_rate = 5e13;
    in.roof.bytes_rate = 4e12;
    in.roof.call_ns = page.call_ns;
    hone_gpu_profile_report(&in, b.pool, &report);
    printf("# %s\n", fault->kernel);
    print_report(&report);
    if (is_counted)
        judge_report(&b, fault, &report);
    else
        printf("# SKIP no counters: %s\n", page.note);
    free((void *)(uintptr_t)b.module.cubin);
    gpu_frame_done(&b.gpu, &b.frame);
    gpu_close(&b.gpu);
    hone_pool_free(b.pool);
}

START_TEST(an_uncoalesced_store)
{
    check_fault(&faults[0]);
}
END_TEST

START_TEST(bank_conflicts)
{
    check_fault(&faults[1]);
}
END_TEST

START_TEST(spills)
{
    check_fault(&faults[2]);
}
END_TEST

START_TEST(latency_with_too_few_warps)
{
    check_fault(&faults[3]);
}
END_TEST

START_TEST(a_naive_matmul)
{
    check_fault(&faults[4]);
}
END_TEST

static int suite_main(void);
#define main suite_main
UNIT_MAIN("profile_gpu", an_uncoalesced_store, bank_conflicts, spills, latency_with_too_few_warps,
          a_naive_matmul)
#undef main

int main(int argc, char **argv)
{
    int status = gpu_role(argc, argv);

    if (status >= 0)
        return status;
    status = gpu_precompile();
    return status != 0 ? status : suite_main();
}
