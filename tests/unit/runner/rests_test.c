/* SPDX-License-Identifier: Apache-2.0 */
/* What a result rests on: units by their instructions, fast-math by what the compiler reads, errors
 * in units of the tolerance. Each table holds what hides it and what only looks like it. */
#include "tools/runner/judge/rests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/runner/task_util.h"
#include "tests/unit/unit.h"
#include "tools/runner/values/compare.h"
#include "tools/runner/cuda/compile/policy_cubin.h"
#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/binary/policy.h"
#include "tools/runner/judge/target.h"
#include "tools/runner/binary/x86_code.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define NONE -1

static const struct {
    const char *bytes;
    size_t len;
    int unit;
} instructions[] = {
    {"\x62\xf2\x6e\x48\x52\xd9", 6, HONE_UNIT_BF16},     /* vdpbf16ps */
    {"\x62\xf2\x7e\x48\x72\xd1", 6, HONE_UNIT_BF16},     /* vcvtneps2bf16 */
    {"\x62\xf2\x6d\x48\x50\xd9", 6, HONE_UNIT_INT8},     /* vpdpbusd zmm */
    {"\x62\xf2\x6d\x28\x52\xd9", 6, HONE_UNIT_INT8},     /* vpdpwssd */
    {"\xc4\xe2\x6d\x50\xd9", 5, HONE_UNIT_INT8},         /* vpdpbusd ymm, VEX */
    {"\x66\x0f\xf5\xd1", 4, HONE_UNIT_INT8},             /* pmaddwd */
    {"\xc4\xe2\x6d\x04\xd9", 5, HONE_UNIT_INT8},         /* vpmaddubsw */
    {"\xc4\xe3\x7d\x1d\xca\x00", 6, HONE_UNIT_ROUNDED},  /* vcvtps2ph */
    {"\xc4\xe2\x7d\x13\xd1", 5, HONE_UNIT_ROUNDED},      /* vcvtph2ps */
    {"\x62\xf5\x6c\x48\x58\xd9", 6, HONE_UNIT_F16},      /* vaddph */
    {"\x62\xf6\x6d\x48\xb8\xd9", 6, HONE_UNIT_F16},      /* vfmadd231ph */
    {"\xc4\xe2\x72\x5c\xda", 5, HONE_UNIT_AMX},          /* tdpbf16ps */
    {"\xc4\xe2\x73\x5e\xda", 5, HONE_UNIT_AMX},          /* tdpbssd */
    {"\xc5\xec\x59\xd9", 4, HONE_UNIT_F32},              /* vmulps ymm */
    {"\xf3\x0f\x59\xd1", 4, HONE_UNIT_F32},              /* mulss */
    {"\x62\xf1\x6c\x48\x59\xd9", 6, HONE_UNIT_F32},      /* vmulps zmm */
    {"\x62\xf2\x6d\x48\xb8\xd9", 6, HONE_UNIT_F32},      /* vfmadd231ps */
    {"\xc4\xe2\x69\xa9\xd9", 5, HONE_UNIT_F32},          /* vfmadd213ss */
    {"\xc5\xfc\x53\xd1", 4, HONE_UNIT_ESTIMATE},         /* vrcpps */
    {"\xf3\x0f\x52\xd1", 4, HONE_UNIT_ESTIMATE},         /* rsqrtss */
    {"\x62\xf2\x7d\x48\x4e\xd1", 6, HONE_UNIT_ESTIMATE}, /* vrsqrt14ps */
    {"\x62\xf2\xfd\x48\x4c\xd1", 6, HONE_UNIT_ESTIMATE}, /* vrcp14pd */
    {"\x0f\xae\x54\x24\x08", 5, HONE_UNIT_DENORMALS},    /* ldmxcsr */
    {"\xc5\xf8\xae\x10", 4, HONE_UNIT_DENORMALS},        /* vldmxcsr */
    {"\xc5\xed\x59\xd9", 4, NONE},                       /* vmulpd */
    {"\xf2\x0f\x59\xd1", 4, NONE},                       /* mulsd */
    {"\x62\xf2\xed\x48\xb8\xd9", 6, NONE},               /* vfmadd231pd */
    {"\xc4\xe2\xe9\xa9\xd9", 5, NONE},                   /* vfmadd213sd */
    {"\x0f\xae\x5c\x24\x08", 5, NONE},                   /* stmxcsr */
    {"\xc5\xfc\x51\xd1", 4, NONE},                       /* vsqrtps */
    {"\xc4\xe2\x6d\x40\xd9", 5, NONE},                   /* vpmulld */
    {"\xc5\xfc\x5b\xd1", 4, NONE},                       /* vcvtdq2ps */
    {"\xc4\xe2\x7d\x58\xd1", 5, NONE},                   /* vpbroadcastd */
    {"\x62\xf2\x6d\x48\x7e\xd9", 6, NONE},               /* vpermt2d */
    {"\x62\xf2\xfd\x48\x54\xd1", 6, NONE},               /* vpopcntw */
};

START_TEST(units_of_instructions)
{
    for (size_t i = 0; i < HONE_COUNTOF(instructions); i++) {
        struct hone_x86 x;
        hone_x86_read((const unsigned char *)instructions[i].bytes, instructions[i].len, &x);
        ck_assert_msg(x.len == instructions[i].len && x.unit == instructions[i].unit,
                      "%zu: %zu bytes, unit %d", i, x.len, x.unit);
    }
}
END_TEST

static const struct {
    const char *file;
    int unit;
} cubins[] = {
    {"mma_f16.sm_75", HONE_UNIT_TENSOR_F16},
    {"mma_bf16.sm_80", HONE_UNIT_TENSOR_BF16},
    {"mma_bf16.sm_90a", HONE_UNIT_TENSOR_BF16},
    {"mma_bf16.sm_120a", HONE_UNIT_TENSOR_BF16},
    {"mma_tf32.sm_80", HONE_UNIT_TENSOR_TF32},
    {"mma_tf32.sm_90a", HONE_UNIT_TENSOR_TF32},
    {"mma_tf32.sm_120a", HONE_UNIT_TENSOR_TF32},
    {"mma_e4m3.sm_120a", HONE_UNIT_TENSOR_F8},
    {"mma_s8.sm_90a", HONE_UNIT_TENSOR_INT},
    {"wgmma_f16.sm_90a", HONE_UNIT_TENSOR_F16},
    {"wgmma_bf16.sm_90a", HONE_UNIT_TENSOR_BF16},
    {"wgmma_tf32.sm_90a", HONE_UNIT_TENSOR_TF32},
    {"wgmma_e4m3.sm_90a", HONE_UNIT_TENSOR_F8},
    {"tcgen05.sm_100a", HONE_UNIT_TENSOR_OTHER},
    {"half.sm_90a", HONE_UNIT_F16},
    {"half_bf16.sm_90a", HONE_UNIT_BF16},
    {"rounded.sm_90a", HONE_UNIT_ROUNDED},
    {"plain.sm_90a", NONE},
    {"honest.sm_90a", NONE},
    {"last.sm_75", NONE},
};

START_TEST(units_of_cubins)
{
    for (size_t i = 0; i < HONE_COUNTOF(cubins); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_policy_facts *facts = hone_pool_alloc(pool, sizeof *facts);
        HONE_AUTOFREE char *file = hone_sprintf("tests/cubins/%s.cubin", cubins[i].file);
        HONE_AUTOFREE char *bytes = NULL;
        size_t len = 0;
        *facts = (struct hone_policy_facts){.pool = pool};
        ck_assert_int_eq(hone_file_read(file, HONE_LIMIT_CUBIN_BYTES, &bytes, &len, NULL), 0);
        hone_policy_read_cubin(bytes, len, facts);
        ck_assert_msg(facts->has_units, "%s", file);
        ck_assert_msg(facts->units == (cubins[i].unit == NONE ? 0 : 1u << cubins[i].unit),
                      "%s: units %#x", file, facts->units);
    }
}
END_TEST

START_TEST(lower_is_of_the_task)
{
    struct hone_task task;
    struct hone_workload workload;
    make_task(&task, &workload);
    task.n_inputs = task.n_outputs = 1;
    static const struct {
        enum hone_dtype dtype;
        enum hone_unit unit;
        bool want;
    } rows[] = {
        {HONE_DTYPE_F32, HONE_UNIT_F32, false},
        {HONE_DTYPE_F64, HONE_UNIT_F32, true},
        {HONE_DTYPE_F32, HONE_UNIT_BF16, true},
        {HONE_DTYPE_BF16, HONE_UNIT_BF16, false},
        {HONE_DTYPE_F32, HONE_UNIT_TENSOR_TF32, true},
        {HONE_DTYPE_F16, HONE_UNIT_TENSOR_F16, false},
        {HONE_DTYPE_F16, HONE_UNIT_TENSOR_F8, true},
        {HONE_DTYPE_I32, HONE_UNIT_INT8, false},
        {HONE_DTYPE_F32, HONE_UNIT_INT8, true},
        {HONE_DTYPE_F32, HONE_UNIT_DENORMALS, false},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        task.inputs[0].dtype = task.outputs[0].dtype = rows[i].dtype;
        ck_assert_msg(hone_unit_is_lower(rows[i].unit, &task) == rows[i].want, "%zu", i);
    }
    task.inputs[0].dtype = task.outputs[0].dtype = HONE_DTYPE_F32;
    task.compute_precision = "bfloat16"; /* the task says that it is enough */
    ck_assert(!hone_unit_is_lower(HONE_UNIT_BF16, &task));
}
END_TEST

static const struct {
    const char *source, *flag, *want; /* want "": none */
} sources[] = {
    {"#pragma GCC optimize(\"fast-math\")\n", NULL, "#pragma GCC optimize (fast-math)"},
    {"#pragma GCC optimize \"Ofast\"\n", NULL, "#pragma GCC optimize (Ofast)"},
    {"#pragma GCC optimize(\"fast\" /* x */ \"-math\")\n", NULL,
     "#pragma GCC optimize (fast-math)"},
    {"#pragma GCC opti\\\nmize(\"-ffast-\\\nmath\")\n", NULL, "#pragma GCC optimize (fast-math)"},
    {"_Pragma(\"GCC optimize(\\\"unsafe-math-optimizations\\\")\")\n", NULL,
     "#pragma GCC optimize (unsafe-math)"},
    {"#define HOW \"associative-math\"\n__attribute__((optimize(HOW))) void f(void);\n", NULL,
     "__attribute__((optimize)) (associative-math)"},
    {"#define S(x) #x\n__attribute__((__optimize__(S(finite-math-only)))) void f(void);\n", NULL,
     "__attribute__((optimize)) (finite-math)"},
    {"__attribute__((optimize(\"fast\\055math\"))) void f(void);\n", NULL,
     "__attribute__((optimize)) (fast-math)"},
    {"__attribute__((optimize(\"f\" \"\\x61\" \"st-m\\141th\"))) void f(void);\n", NULL,
     "__attribute__((optimize)) (fast-math)"},
    {"_Pragma(\"GCC optimize(\\\"fast\\\\055\\\" \\\"math\\\")\")\n", NULL,
     "#pragma GCC optimize (fast-math)"},
    {"__attribute__((optimize(\"no\\055fast-math\"))) void f(void);\n", NULL, ""},
    {"#pragma clang fp reassociate(on)\n", NULL, "#pragma clang fp (fp reassociate)"},
    {"void f(void);\n", "-ffast-math", "-ffast-math"},
    {"void f(void);\n", "-Ofast", "-Ofast"},
    {"void f(void);\n", "-use_fast_math", "-use_fast_math"},
    {"void f(void);\n", "-prec-div=false", "-prec-div=false"},
    {"/* #pragma GCC optimize(\"fast-math\") */\n// optimize Ofast\nvoid f(void);\n", NULL, ""},
    {"#pragma GCC optimize(\"unroll-loops\")\n", NULL, ""},
    {"#pragma GCC optimize(\"no-fast-math\")\n", NULL, ""},
    {"const char *no = \"fast-math\"; /* and nobody is asked to optimize */\n", NULL, ""},
    {"void f(void); /* an open comment", NULL, ""},
    {"void f(void);\n", "-fno-associative-math", ""},
    {"void f(void);\n", "-funroll-loops", ""},
    {NULL, NULL, ""},
};

START_TEST(fast_math_is_found)
{
    for (size_t i = 0; i < HONE_COUNTOF(sources); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const char *list[] = {sources[i].flag};
        struct hone_strs flags = {.v = list, .n = sources[i].flag != NULL};
        struct hone_strs found = hone_rests_fast_math(sources[i].source, &flags, pool);
        ck_assert_msg(found.n <= 1, "%zu: %zu found", i, found.n);
        ck_assert_msg(strcmp(found.n > 0 ? found.v[0] : "", sources[i].want) == 0, "%zu: '%s'", i,
                      found.n > 0 ? found.v[0] : "");
    }
}
END_TEST

START_TEST(many_places_are_cut)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *list[HONE_LIMIT_RESTS + 1];
    for (size_t n = HONE_LIMIT_RESTS; n <= HONE_LIMIT_RESTS + 1; n++) {
        for (size_t i = 0; i < n; i++)
            list[i] = hone_pool_printf(pool, "-ffast-math%zu", i);
        struct hone_strs flags = {.v = list, .n = n};
        ck_assert_uint_eq(hone_rests_fast_math(NULL, &flags, pool).n, HONE_LIMIT_RESTS);
    }
}
END_TEST

/* A tenth of the tolerance everywhere but at one element, where it is half of it. */
START_TEST(errors_are_in_units_of_the_tolerance)
{
    struct hone_task task;
    struct hone_workload workload;
    struct hone_rests rests = {.has_units = false};
    make_task(&task, &workload);
    enum { N = 600 };
    float y[N];
    int32_t z[N] = {0};
    struct hone_oracle_record records[N];
    for (int plain = 0; plain < 2; plain++) {
        struct hone_compare compare;
        hone_compare_init(&compare, &task, &workload);
        compare.outputs[0] = y;
        compare.outputs[1] = z;
        compare.is_plain = plain == 1;
        for (int i = 0; i < N; i++) {
            records[i] = (struct hone_oracle_record){.index = i, .value = 2, .scale = 1};
            double bound = hone_tolerance_limit(&task.tolerance[0], 2, 1);
            y[i] = (float)(2 + bound * (i == 7 ? 0.5 : 0.1));
        }
        hone_compare_add(&compare, records, N);
        hone_rests_note(&rests, false, &compare);
        ck_assert(rests.errors[0].is_known == (plain == 1)); /* uneven content says nothing */
    }
    double rms = sqrt(rests.errors[0].err_squares / rests.errors[0].bound_squares);
    ck_assert_msg(fabs(rms - 0.102) < 0.002, "%g", rms);
    ck_assert_msg(fabs(rests.errors[0].worst - 0.5) < 0.005, "%g", rests.errors[0].worst);
    ck_assert(!rests.errors[1].is_known);
}
END_TEST

/* ---- what follows ---- */

static const struct hone_target target = {.name = "cuda"};

struct fixture {
    struct hone_judge judge;
    struct hone_job job;
    struct hone_task task;
    struct hone_workload workload;
    struct hone_arm arm, baseline;
    struct hone_report report;
    struct hone_build_report build;
    struct hone_check_report checks[3];
    struct hone_workload_report timed;
    const char *warnings[64], *doubts[HONE_LIMIT_DOUBTS];
};

static void start(struct fixture *f, struct hone_pool *pool)
{
    memset(f, 0, sizeof *f);
    make_task(&f->task, &f->workload);
    f->task.n_inputs = f->task.n_outputs = 1;
    f->arm = (struct hone_arm){.name = "candidate", .source = "candidate.cu"};
    f->build = (struct hone_build_report){.command = "nvrtc -arch=sm_90a k.cu", .code = "c0"};
    f->report.build = &f->build;
    f->report.percent_of_bound = 352;
    f->checks[0] = (struct hone_check_report){.workload = "a", .distribution = "normal"};
    f->checks[1] = (struct hone_check_report){.workload = "b", .distribution = "normal"};
    f->checks[2] = (struct hone_check_report){.workload = "b", .distribution = "zeros"};
    f->timed = (struct hone_workload_report){
        .id = "a", .bound_by = "flops", .percent_of_bound = f->report.percent_of_bound};
    f->judge = (struct hone_judge){.job = &f->job,
                                   .target = &target,
                                   .dir = "/nowhere",
                                   .task = &f->task,
                                   .pool = pool,
                                   .report = &f->report,
                                   .slots[0] = {.name = "candidate", .arm = &f->arm},
                                   .n_slots = 1,
                                   .checks = f->checks,
                                   .n_checks = 3,
                                   .workloads = &f->timed,
                                   .n_workloads = 1,
                                   .machine.flops_unit = "float32 multiply-add units",
                                   .warnings = f->warnings,
                                   .doubts = f->doubts,
                                   .rests.has_units = true};
}

/* The roof of arithmetic is of the units that the task's precision allows, and says which. */
START_TEST(a_rate_says_which_units_it_is_of)
{
    static const struct {
        const char *precision;
        enum hone_dtype input;
        int major;
        const char *unit;
    } rows[] = {
        {"float32", HONE_DTYPE_F32, 9, "float32 multiply-add units, no tensor cores"},
        {NULL, HONE_DTYPE_F32, 9, "float32 multiply-add units, no tensor cores"},
        {"float64", HONE_DTYPE_F64, 9, "float64 multiply-add units, no tensor cores"},
        {"tfloat32", HONE_DTYPE_F32, 9, "TF32 tensor cores"},
        {"bfloat16", HONE_DTYPE_F32, 9, "16-bit tensor cores"},
        {"float32", HONE_DTYPE_BF16, 9, "16-bit tensor cores"},
        {"bfloat16", HONE_DTYPE_BF16, 6, "float32 multiply-add units, no tensor cores"}, /* none */
    };
    const struct hone_gpu_rates rates = {.fma32 = 57e12, .fma64 = 32e12};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_gpu_device device = {
            .major = rows[i].major, .sm_count = 132, .clock_khz = 1980000};
        HONE_AUTOFREE struct hone_task *task = hone_calloc(1, sizeof *task);
        task->compute_precision = rows[i].precision;
        task->inputs[0].dtype = rows[i].input;
        task->n_inputs = 1;
        struct hone_machine machine = {.flops_unit = "the host's"};
        hone_gpu_choose_flops(task, &device, &rates, &machine);
        ck_assert_str_eq(machine.flops_unit, rows[i].unit);
        bool has_tensors = strstr(rows[i].unit, "no tensor") == NULL;
        ck_assert((machine.flops > rates.fma32) == has_tensors);
        ck_assert(machine.fastest_flops >= machine.flops);
    }
}
END_TEST

/* Beyond the bound by far: either a unit that the bound does not assume, or something is wrong. */
START_TEST(a_bound_that_is_beaten_is_explained_or_doubted)
{
    static const struct {
        double percent;
        bool has_units;
        uint32_t units;
        size_t n_doubts;
    } rows[] = {
        {352, true, 1u << HONE_UNIT_TENSOR_BF16, 0},
        {352, true, 0, 1},
        {352, true, 1u << HONE_UNIT_F32, 1}, /* not lower than the task's */
        {352, false, 0, 0},                  /* nobody could look */
        {110, true, 0, 0},                   /* the ceilings may be a little low */
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        HONE_AUTOFREE struct fixture *f = hone_calloc(1, sizeof *f);
        start(f, pool);
        f->report.percent_of_bound = f->timed.percent_of_bound = rows[i].percent;
        f->judge.rests.has_units = rows[i].has_units;
        f->judge.rests.units = rows[i].units;
        hone_rests_finish(&f->judge);
        ck_assert_msg(f->judge.n_doubts == rows[i].n_doubts, "%zu: %zu", i, f->judge.n_doubts);
        ck_assert_str_eq(f->report.rests_on->bound_unit, "float32 multiply-add units");
        ck_assert_str_eq(f->report.rests_on->flags, "-arch=sm_90a");
        ck_assert_int_eq(f->report.rests_on->n_sizes, 2);
        ck_assert_int_eq(f->report.rests_on->n_contents, 2);
    }
}
END_TEST

/* A bound by operations that the task does not tell is told as such; one by bytes needs none. */
START_TEST(a_bound_by_counted_operations_says_so)
{
    static const struct {
        bool is_guessed;
        const char *by;
        double percent;
        bool is_counted;
    } rows[] = {{true, "flops", 40, true},
                {true, "bytes", 40, false},
                {false, "flops", 40, false},
                {true, "flops", (double)NAN, false}}; /* the loops do not tell: no percentage */
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        HONE_AUTOFREE struct fixture *f = hone_calloc(1, sizeof *f);
        start(f, pool);
        f->task.is_flops_guessed = rows[i].is_guessed;
        f->timed.bound_by = rows[i].by;
        f->report.percent_of_bound = f->timed.percent_of_bound = rows[i].percent;
        hone_rests_finish(&f->judge);
        ck_assert_msg(f->report.rests_on->is_bound_counted == rows[i].is_counted, "%zu", i);
    }
}
END_TEST

START_TEST(far_less_accurate_is_warned_of)
{
    static const struct {
        double mine, worst, baseline;
        size_t n_warnings;
    } rows[] = {{0.2, 0.9, 0.005, 1}, {0.2, 0.9, 0.1, 0}, {0.002, 0.01, 0.0001, 0}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        HONE_AUTOFREE struct fixture *f = hone_calloc(1, sizeof *f);
        start(f, pool);
        f->report.percent_of_bound = 40;
        f->judge.rests.errors[0].err_squares = rows[i].mine * rows[i].mine;
        f->judge.rests.errors[1].err_squares = rows[i].baseline * rows[i].baseline;
        f->judge.rests.errors[0].bound_squares = f->judge.rests.errors[1].bound_squares = 1;
        f->judge.rests.errors[0].is_known = f->judge.rests.errors[1].is_known = true;
        f->judge.rests.errors[0].worst = rows[i].worst;
        hone_rests_finish(&f->judge);
        ck_assert_msg(f->judge.n_warnings == rows[i].n_warnings, "%zu: %zu", i,
                      f->judge.n_warnings);
    }
}
END_TEST

/* Only what `hone task new` writes is such a copy. */
START_TEST(copies_of_the_baseline_are_told)
{
    static const struct {
        const char *source;
        size_t n;
    } rows[] = {
        {"    memcpy(y, y_in, (size_t)(n) * sizeof(*y));\n", 1},
        {"    cudaMemcpyAsync(y, y_in, (size_t)(n) * sizeof(*y), s);\n", 1},
        {"    add(y, y_in, (size_t)(n));\n", 0},
        {"    memcpy(y, x, (size_t)(n) * sizeof(*y));\n", 0},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        HONE_AUTOFREE struct fixture *f = hone_calloc(1, sizeof *f);
        char dir[] = "/tmp/hone-rests-XXXXXX";
        ck_assert_ptr_nonnull(mkdtemp(dir));
        HONE_AUTOFREE char *open = hone_path_join(dir, "open", NULL);
        HONE_AUTOFREE char *path = hone_path_join(open, "baseline.c", NULL);
        ck_assert_int_eq(mkdir(open, 0700), 0);
        ck_assert_int_eq(
            hone_file_write(path, rows[i].source, strlen(rows[i].source), 0600, false, NULL), 0);
        start(f, pool);
        f->task.outputs[0].name = "y";
        f->baseline = (struct hone_arm){.name = "baseline", .source = "baseline.c"};
        f->judge.dir = dir;
        f->judge.slots[1] = (struct hone_slot){.name = "baseline", .arm = &f->baseline};
        f->judge.n_slots = 2;
        hone_rests_finish(&f->judge);
        ck_assert_uint_eq(f->report.rests_on->copied.n, rows[i].n);
        if (rows[i].n > 0)
            ck_assert_str_eq(f->report.rests_on->copied.v[0], "y");
        hone_remove_tree(dir, NULL);
    }
}
END_TEST

START_TEST(the_parents_code_is_known)
{
    for (int same = 0; same < 2; same++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        HONE_AUTOFREE struct fixture *f = hone_calloc(1, sizeof *f);
        start(f, pool);
        f->judge.slots[1] =
            (struct hone_slot){.name = "parent", .arm = &f->arm, .code = same ? "c0" : "c1"};
        f->judge.n_slots = 2;
        hone_rests_finish(&f->judge);
        ck_assert(f->report.rests_on->is_parents_code == (same == 1));
    }
}
END_TEST

UNIT_MAIN("rests", units_of_instructions, units_of_cubins, lower_is_of_the_task, fast_math_is_found,
          copies_of_the_baseline_are_told, many_places_are_cut,
          errors_are_in_units_of_the_tolerance, a_rate_says_which_units_it_is_of,
          a_bound_that_is_beaten_is_explained_or_doubted, a_bound_by_counted_operations_says_so,
          far_less_accurate_is_warned_of, the_parents_code_is_known)
