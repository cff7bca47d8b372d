/* SPDX-License-Identifier: Apache-2.0 */
/* Whole jobs through hone-runner with the real jail: what each kind of kernel is called, and that
 * every report can be read.
 *
 * Skipped (and said so) when the program or the packs are not there. Timing is not asserted beyond
 * its sign: the machine is shared. */
#include "tests/unit/unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/format/job.h"
#include "tools/format/report.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"
#include "workspace/task/task.h"

#define HEAD                                                                                       \
    "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n"          \
    "#include <unistd.h>\n#include <pthread.h>\n"                                                  \
    "static void honest(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t "  \
    "K)\n"                                                                                         \
    "{\n    for (int64_t i = 0; i < M; i++) {\n        for (int64_t j = 0; j < N; j++)\n"          \
    "            C[i * N + j] = 0;\n        for (int64_t k = 0; k < K; k++)\n"                     \
    "            for (int64_t j = 0; j < N; j++)\n"                                                \
    "                C[i * N + j] += A[i * K + k] * B[k * N + j];\n    }\n}\n"
#define KERNEL(body)                                                                               \
    HEAD                                                                                           \
        "void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)\n" \
        "{\n" body "\n}\n"
#define CALL "honest(A, B, C, M, N, K);"

struct call {
    char dir[64];
    char *runner, *pack;
};

static bool set_up(struct call *call)
{
    HONE_AUTOFREE char *dir = hone_exe_dir();
    call->runner = hone_sprintf("%s/../../../hone-runner", dir);
    call->pack = realpath("workspace/packs/matmul", NULL);
    snprintf(call->dir, sizeof call->dir, "/tmp/hone-judge-test-XXXXXX");
    if (access(call->runner, X_OK) != 0 || call->pack == NULL) {
        puts("# SKIP no hone-runner beside the tests, or not run from the root of the tree");
        return false;
    }
    ck_assert_ptr_nonnull(mkdtemp(call->dir));
    chmod(call->dir, 0755);
    HONE_AUTOFREE char *open = hone_sprintf("%s/open", call->dir);
    ck_assert_int_eq(mkdir(open, 0755), 0);
    hone_process_init();
    return true;
}

static void write_file(const struct call *call, const char *name, const char *text)
{
    HONE_AUTOFREE char *path = hone_sprintf("%s/%s", call->dir, name);
    ck_assert_int_eq(hone_file_write(path, text, strlen(text), 0644, false, NULL), 0);
}

static void write_job(const struct call *call, enum hone_tier tier, const char **stages,
                      size_t n_stages, struct hone_array points)
{
    HONE_AUTOFREE char *naive = hone_sprintf("%s/kernels/naive.c", call->pack);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    ck_assert_int_eq(hone_file_read(naive, HONE_LIMIT_SOURCE_BYTES, &text, &len, NULL), 0);
    write_file(call, "open/baseline.c", text);
    struct hone_arm arms[] = {{.name = "candidate", .source = "candidate.c"},
                              {.name = "baseline", .source = "baseline.c"}};
    const char *workloads[] = {"m256"};
    struct hone_job job = {.format = HONE_JOB_FORMAT,
                           .id = "test",
                           .target = "cpu",
                           .tier = tier,
                           .stages = {.v = stages, .n = n_stages},
                           .task_dir = call->pack,
                           .arms = {.v = arms, .n = 2},
                           .points = points,
                           .workloads = {.v = workloads, .n = 1},
                           .call_timeout_ms = 2000,
                           .timeout_ms = 60000,
                           .budget_ms = 400,
                           .memory_bytes = 1ll << 30,
                           .jail = "auto",
                           .seed_hex = "000102030405060708090a0b0c0d0e0f"};
    HONE_AUTOFREE char *json = hone_job_print(&job);
    write_file(call, "job.json", json);
}

static void run_job(const struct call *call, const char *what)
{
    HONE_AUTOFREE char *path = hone_sprintf("%s/job.json", call->dir);
    const char *argv[] = {call->runner, path, NULL};
    struct hone_process_spec spec = {.argv = argv, .deadline_ns = hone_deadline_in_ms(90000)};
    struct hone_process_result result = {0};
    ck_assert_int_eq(hone_process_run(&spec, &result, NULL), 0);
    ck_assert_msg(result.exit_status == 0, "%s: status %d, signal %d: %s", what, result.exit_status,
                  result.signal, result.err);
    hone_process_result_done(&result);
}

static void read_report(const struct call *call, struct hone_pool *pool, struct hone_report *ret)
{
    HONE_AUTOFREE char *path = hone_sprintf("%s/report.json", call->dir);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_file_read(path, HONE_LIMIT_REPORT_BYTES, &text, &len, NULL), 0);
    ck_assert_msg(hone_report_parse(text, len, pool, ret, &err) == 0, "%s: %s\n%s", err.path,
                  err.message, text);
}

static void tear_down(struct call *call)
{
    hone_remove_tree(call->dir, NULL);
    free(call->runner);
    free(call->pack);
}

static const char *smoke_stages[] = {"build", "smoke"};

static const struct {
    const char *name, *source;
    const char *want; /* one or more words */
} kernels[] = {
    {"honest", KERNEL(CALL), "correct"},
    {"empty", KERNEL("(void)A;(void)B;(void)C;(void)M;(void)N;(void)K;"), "unwritten"},
    {"zeros", KERNEL("(void)A;(void)B;(void)K; memset(C, 0, sizeof(float) * M * N);"),
     "wrong_value"},
    {"tail missing", KERNEL("float keep = C[M * N - 1]; " CALL " C[M * N - 1] = keep;"),
     "unwritten"},
    {"one nan", KERNEL(CALL " C[0] = 0.0f / (float)(M - M);"), "nonfinite"},
    {"writes input", KERNEL(CALL " ((float *)A)[0] = 1;"), "input_changed"},
    {"past the end", KERNEL(CALL " C[M * N + 64] = 1;"), "out_of_bounds"},
    {"past the end a little", KERNEL(CALL " C[M * N] = 1;"), "out_of_bounds"},
    {"before the start", KERNEL(CALL " C[-1] = 1;"), "out_of_bounds"},
    {"reads stack of another call", KERNEL(CALL " static int n; if (n++ % 2) C[0] += 100;"),
     "wrong_value nondeterministic"},
    {"adds to what was there",
     KERNEL("for (int64_t i = 0; i < M; i++) for (int64_t j = 0; j < N; j++) for (int64_t k = 0; k "
            "< K; k++)"
            " C[i * N + j] += A[i * K + k] * B[k * N + j];"),
     "uninitialised"},
    {"crash", KERNEL(CALL " *(volatile int *)8 = 1;"), "crash"},
    {"abort", KERNEL(CALL " abort();"), "crash"},
    {"exit", KERNEL(CALL " _exit(0);"), "exited"},
    {"endless", KERNEL(CALL " for (;;) __asm__ volatile(\"\");"), "timeout"},
    {"exec", KERNEL(CALL " execl(\"/bin/true\", \"true\", (char *)0);"), "forbidden correct"},
    {"fork", KERNEL(CALL " if (fork() == 0) for (;;) ;"), "forbidden"},
    {"forges done", KERNEL(CALL " char d = 'd'; if (write(4, &d, 1) < 0) C[0] = 0;"),
     "tampering unwritten"},
    {"no such function", "int other;\n", "no_symbol link"},
    {"does not compile", "void matmul(\n", "compile"},
    {"undefined", HEAD "void nowhere(void); void matmul(void) { nowhere(); }\n", "link"},
    {"half precision",
     KERNEL("for (int64_t i = 0; i < M; i++) for (int64_t j = 0; j < N; j++) { float s = 0; for "
            "(int64_t k = 0; k < K; k++) {"
            "_Float16 a = A[i * K + k], b = B[k * N + j]; s += (float)a * (float)b; } C[i * N + j] "
            "= s; }"),
     "wrong_value"},
};

/* Ways to make the machine look guilty, and what must not be repeated. */
#define EARLY(body)                                                                                \
    KERNEL(CALL)                                                                                   \
    "#include <sys/mman.h>\n"                                                                      \
    "__attribute__((constructor)) static void early(void) {" body "}\n"
#define WORDS "verdict faster, speedup 99x"
#define PAGE                                                                                       \
    " char *at = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0), byte = 0; (void)byte;"   \
    " for (int i = 1024; i < 8000; i += 32) memcpy(at + i, \"" WORDS "\", 27);"

static const struct {
    const char *name, *source, *want;
} guilty[] = {
    {"buffers closed", EARLY("close(5); close(6);"), "unruly"},
    {"address space taken",
     EARLY("for (unsigned long b = 1ul << 46; b > 4095; b /= 2)"
           " while (mmap(0, b, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != "
           "MAP_FAILED) ;"),
     "unruly"},
    {"an error of its own", EARLY(PAGE "(void)!write(4, \"e\", 1); for (;;) pause();"), "link"},
    {"an error later", /* the first thread never comes back: no other thread races with this */
     EARLY(PAGE "(void)!write(4, \"d\", 1);"
                " while (read(4, &byte, 1) == 1) (void)!write(4, \"e\", 1);"),
     "unruly"},
    {"three times in four",
     EARLY("char here; if (((unsigned long)&here >> 8 & 3) != 0) { close(5); close(6); }"),
     "unruly correct"},
    {"a nested function",
     HEAD "static __attribute__((noinline)) void use(void (*f)(int)) { f(1); }\n"
          "void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)\n"
          "{ volatile int n = 0; void add(int x) { n += x; } use(add); use(add); " CALL " }\n",
     "crash"},
};

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == list || at[-1] == ' ') && (at[len] == '\0' || at[len] == ' '))
            return true;
    }
    return false;
}

START_TEST(test_reasons)
{
    struct call call;
    if (!set_up(&call))
        return;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(kernels); i++) {
        struct hone_report report;
        write_file(&call, "open/candidate.c", kernels[i].source);
        write_job(&call, HONE_TIER_SCREEN, smoke_stages, HONE_COUNTOF(smoke_stages),
                  (struct hone_array){0});
        run_job(&call, kernels[i].name);
        read_report(&call, pool, &report);
        ck_assert_msg(has_word(kernels[i].want, hone_reason_name(report.reason)),
                      "%s: %s, wanted %s", kernels[i].name, report.summary, kernels[i].want);
    }
    tear_down(&call);
}
END_TEST

START_TEST(test_machine_or_candidate)
{
    struct call call;
    if (!set_up(&call))
        return;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(guilty); i++) {
        struct hone_report report;
        write_file(&call, "open/candidate.c", guilty[i].source);
        write_job(&call, HONE_TIER_SCREEN, smoke_stages, HONE_COUNTOF(smoke_stages),
                  (struct hone_array){0});
        run_job(&call, guilty[i].name);
        read_report(&call, pool, &report);
        ck_assert_msg(has_word(guilty[i].want, hone_reason_name(report.reason)),
                      "%s: %s, wanted %s", guilty[i].name, report.summary, guilty[i].want);
        ck_assert_msg(strstr(report.summary, WORDS) == NULL, "%s", report.summary);
        ck_assert(report.reason != HONE_REASON_CRASH ||
                  strstr(report.summary, "nested function in line") != NULL);
    }
    tear_down(&call);
}
END_TEST

START_TEST(test_screen_and_profile)
{
    struct call call;
    if (!set_up(&call))
        return;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_report report;
    const char *stages[] = {"build", "smoke", "screen", "profile", "run"};
    write_file(&call, "open/candidate.c", KERNEL(CALL " puts(\"hello from the kernel\");"));
    write_job(&call, HONE_TIER_SCREEN, stages, HONE_COUNTOF(stages), (struct hone_array){0});
    run_job(&call, "job");
    read_report(&call, pool, &report);
    ck_assert_int_eq(report.reason, HONE_REASON_SCREENED);
    const struct hone_ratio *ratio = hone_report_ratio(&report, "baseline");
    ck_assert_ptr_nonnull(ratio);
    ck_assert_double_gt(ratio->ratio, 1.5); /* the textbook loops walk B by columns */
    ck_assert_ptr_nonnull(report.machine);
    ck_assert_ptr_nonnull(report.profile);
    ck_assert_uint_ge(report.profile->bottlenecks.n, 1);
    ck_assert(report.profile->has_counters || report.profile->counters_note != NULL);
    ck_assert_ptr_nonnull(strstr(report.output, "hello from the kernel"));
    tear_down(&call);
}
END_TEST

/* A run without a timing says what a call takes once its memory is warm, and prints but once. */
START_TEST(test_run_is_timed_warm)
{
    struct call call;
    if (!set_up(&call))
        return;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_report report;
    const char *stages[] = {"build", "run"};
    write_file(&call, "open/candidate.c", KERNEL(CALL " puts(\"hello from the kernel\");"));
    write_job(&call, HONE_TIER_SCREEN, stages, HONE_COUNTOF(stages), (struct hone_array){0});
    run_job(&call, "job");
    read_report(&call, pool, &report);
    ck_assert_uint_eq(report.workloads.n, 1);
    const struct hone_workload_report *load = report.workloads.v;
    ck_assert_uint_eq(load->times.n, 1);
    const struct hone_arm_time *time = load->times.v;
    ck_assert_int_gt(time->n_samples, 0);
    ck_assert(time->min_ns > 0 && time->min_ns <= time->median_ns);
    const char *said = strstr(report.output, "hello from the kernel");
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_null(strstr(said + 1, "hello from the kernel"));
    tear_down(&call);
}
END_TEST

/* Sums of 16 columns at a time with the compiler's vector types: it calls these loops missed. */
#define BY_HAND                                                                                    \
    HEAD                                                                                           \
        "typedef float v16 __attribute__((vector_size(64), aligned(4), may_alias));\n"             \
        "void matmul(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)\n" \
        "{\n  for (int64_t i = 0; i < M; i++) {\n    int64_t j = 0;\n"                             \
        "    for (; j + 16 <= N; j += 16) {\n      v16 s = {0};\n"                                 \
        "      for (int64_t k = 0; k < K; k++)\n"                                                  \
        "        s += A[i * K + k] * *(const v16 *)&B[k * N + j];\n"                               \
        "      *(v16 *)&C[i * N + j] = s;\n    }\n"                                                \
        "    for (; j < N; j++) {\n      float s = 0;\n"                                           \
        "      for (int64_t k = 0; k < K; k++)\n        s += A[i * K + k] * B[k * N + j];\n"       \
        "      C[i * N + j] = s;\n    }\n  }\n}\n"
#define ONE_BY_ONE                                                                                 \
    KERNEL("  for (int64_t i = 0; i < M; i++)\n    for (int64_t j = 0; j < N; j++) {\n"            \
           "      volatile float s = 0;\n      for (int64_t k = 0; k < K; k++)\n"                  \
           "        s += A[i * K + k] * B[k * N + j];\n      C[i * N + j] = s;\n    }")

static bool finds(const struct hone_report *report, const char *name)
{
    const struct hone_bottleneck *found = report->profile->bottlenecks.v;
    for (size_t i = 0; i < report->profile->bottlenecks.n; i++)
        if (strcmp(found[i].class_name, name) == 0)
            return true;
    return false;
}

/* Remarks of loops that the compiler left alone blame a kernel only where its hot loop is scalar. */
START_TEST(test_profile_reads_the_hot_loop)
{
    static const struct {
        const char *source;
        bool is_scalar;
    } rows[] = {{BY_HAND, false}, {ONE_BY_ONE, true}};
    const char *stages[] = {"build", "smoke", "profile"};
    struct call call;
    if (!set_up(&call))
        return;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_report report;
        size_t n_missed = 0;
        write_file(&call, "open/candidate.c", rows[i].source);
        write_job(&call, HONE_TIER_SCREEN, stages, HONE_COUNTOF(stages), (struct hone_array){0});
        run_job(&call, "job");
        read_report(&call, pool, &report);
        ck_assert_msg(report.profile != NULL, "%s", report.summary);
        const struct hone_remark *remarks = report.profile->remarks.v;
        for (size_t k = 0; k < report.profile->remarks.n; k++)
            n_missed += remarks[k].kind == HONE_REMARK_MISSED;
        ck_assert_uint_ge(n_missed, 1);
        ck_assert_ptr_nonnull(report.load); /* what others used while it ran */
#ifdef __x86_64__
        bool is_blamed = finds(&report, "not_vectorized") || finds(&report, "strided") ||
                         finds(&report, "latency_chain");
        ck_assert_msg(is_blamed == rows[i].is_scalar, "kernel %zu", i);
#endif
    }
    tear_down(&call);
}
END_TEST

START_TEST(test_stateful_is_caught_while_timed)
{
    struct call call;
    if (!set_up(&call))
        return;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_report report;
    const char *stages[] = {"build", "smoke", "screen"};
    write_file(&call, "open/candidate.c",
               KERNEL("static int n; if (M < 200 || n++ < 6) " CALL
                      " else memset(C, 0, sizeof(float) * M * N);"));
    write_job(&call, HONE_TIER_SCREEN, stages, HONE_COUNTOF(stages), (struct hone_array){0});
    run_job(&call, "job");
    read_report(&call, pool, &report);
    ck_assert_msg(report.reason == HONE_REASON_STATEFUL, "%s", report.summary);
    tear_down(&call);
}
END_TEST

START_TEST(test_sweep)
{
    struct call call;
    if (!set_up(&call))
        return;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_report report;
    const char *stages[] = {"build", "smoke", "screen"};
    struct hone_tunable values[] = {
        {.name = "WAY", .value = 0}, {.name = "WAY", .value = 1}, {.name = "WAY", .value = 2}};
    struct hone_point points[3] = {0};
    for (int i = 0; i < 3; i++)
        points[i].tunables = (struct hone_array){.v = &values[i], .n = 1};
    write_file(&call, "open/candidate.c",
               "#pragma hone tune(WAY: 0, 1, 2)\n" KERNEL(
                   "if (WAY == 1) " CALL
                   " else for (int64_t i = 0; i < M; i++) for (int64_t j = 0; j < N; j++) {"
                   " float s = 0; for (int64_t k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];"
                   " C[i * N + j] = WAY == 2 ? 0 : s; }"));
    write_job(&call, HONE_TIER_SCREEN, stages, HONE_COUNTOF(stages),
              (struct hone_array){.v = points, .n = 3});
    run_job(&call, "job");
    read_report(&call, pool, &report);
    ck_assert_uint_eq(report.points.n, 3);
    ck_assert_int_eq(report.best_point, 1);
    ck_assert_int_eq(((struct hone_point_report *)report.points.v)[2].reason,
                     HONE_REASON_WRONG_VALUE);
    /* what no setting changes is found once */
    write_file(&call, "open/candidate.c", "#pragma hone tune(WAY: 0, 1, 2)\nvoid other(void) {}\n");
    run_job(&call, "job");
    read_report(&call, pool, &report);
    ck_assert_int_eq(report.reason, HONE_REASON_NO_SYMBOL);
    ck_assert_uint_eq(report.points.n, 1);
    ck_assert_msg(strstr(report.summary, "none of 3 settings") != NULL &&
                      strstr(report.summary, "matmul") != NULL,
                  "%s", report.summary);
    tear_down(&call);
}
END_TEST

START_TEST(test_bad_jobs_have_reports)
{
    struct call call;
    if (!set_up(&call))
        return;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_report report;
    write_file(&call, "job.json", "{\"format\":1,\"nonsense\":true}");
    run_job(&call, "job");
    read_report(&call, pool, &report);
    ck_assert_int_eq(report.reason, HONE_REASON_BAD_REQUEST);
    free(call.pack);
    call.pack = realpath("workspace/packs", NULL);
    struct hone_arm arm = {.name = "candidate", .source = "candidate.c"};
    const char *stages[] = {"build"};
    struct hone_job job = {.format = 1,
                           .id = "x",
                           .target = "cpu",
                           .tier = HONE_TIER_SCREEN,
                           .stages = {.v = stages, .n = 1},
                           .task_dir = call.pack,
                           .arms = {.v = &arm, .n = 1},
                           .jail = "auto"};
    HONE_AUTOFREE char *json = hone_job_print(&job);
    write_file(&call, "job.json", json);
    run_job(&call, "job");
    read_report(&call, pool, &report);
    ck_assert_int_eq(report.reason, HONE_REASON_BAD_TASK);
    tear_down(&call);
}
END_TEST

UNIT_MAIN("judge", test_reasons, test_machine_or_candidate, test_screen_and_profile,
          test_run_is_timed_warm, test_profile_reads_the_hot_loop,
          test_stateful_is_caught_while_timed, test_sweep, test_bad_jobs_have_reports)
