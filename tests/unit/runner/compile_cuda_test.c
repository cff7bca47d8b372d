/* SPDX-License-Identifier: Apache-2.0 */
/* The compile server and what is built on it. Needs NVRTC (13 or 12) and its headers; without them
 * every test is passed over with a word. */
#include "tools/runner/cuda/compile/compile.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tools/format/options.h"
#include "tools/runner/build/blob_cache.h"
#include "tools/runner/cuda/compile/compile_diag.h"
#include "tools/runner/cuda/compile/compile_headers.h"
#include "tools/runner/cuda/compile/cubin.h"
#include "tools/runner/cuda/module/module.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

struct fixture {
    struct hone_pool *pool;
    struct hone_cuda_compiler *compiler;
    struct hone_cuda_object out;
    const char *cache_dir;
    int64_t timeout_ms;
};

/* Without a toolkit there is nothing to test: the caller returns. */
static bool set_up(struct fixture *f)
{
    const struct hone_cuda_compiler_spec spec = {.rung = "auto"};
    struct hone_cuda_toolkit toolkit;
    hone_cuda_toolkit_find(&toolkit);
    *f = (struct fixture){.timeout_ms = 60000};
    if (toolkit.nvrtc[0] == '\0' || toolkit.include_dir[0] == '\0') {
        printf("# no CUDA toolkit here: nothing is tested\n");
        return false;
    }
    f->pool = hone_pool_new();
    f->compiler = hone_cuda_compiler_new(&spec);
    return true;
}

static void tear_down(struct fixture *f)
{
    hone_cuda_compiler_stop(f->compiler);
    hone_pool_free(f->pool);
}

static struct hone_cuda_ticket *start(struct fixture *f, const char *text, const char *const *flags,
                                      const char *const *names)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_cuda_ticket *ticket = NULL;
    struct hone_cuda_unit unit = {.text = text,
                                  .arch = "sm_90a",
                                  .flags = flags,
                                  .names = names,
                                  .cache_dir = f->cache_dir,
                                  .deadline_ns = hone_deadline_in_ms(f->timeout_ms)};
    while (names != NULL && names[unit.n_names] != NULL)
        unit.n_names++;
    ck_assert_msg(hone_cuda_compile_start(f->compiler, &unit, &ticket, &err) == 0, "%s",
                  err.message);
    return ticket;
}

static enum hone_reason finish(struct fixture *f, struct hone_cuda_ticket *ticket)
{
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_cuda_compile_finish(ticket, f->pool, &f->out, &err) == 0, "%s", err.message);
    return f->out.reason;
}

static enum hone_reason compile(struct fixture *f, const char *text)
{
    return finish(f, start(f, text, NULL, NULL));
}

START_TEST(what_sources_find)
{
    static const char *const good[] = {
        "__global__ void k(float *a) { a[0] = 1; }",
        "#include <stdint.h>\n#include <cstdint>\n__global__ void k(int64_t *a, uint8_t b) { a[0] "
        "= b + "
        "INT_MAX; }",
        "#include <cuda_runtime.h>\n#include <cuda.h>\n#include <stdio.h>\n#include <vector>\n"
        "__global__ void k(const __grid_constant__ CUtensorMap map, float *a) { a[0] = INFINITY; }",
        "#include <algorithm>\n#include <cmath>\n#include <limits>\n#include <type_traits>\n"
        "__global__ void k(float *a) { if constexpr (std::is_same<int, int32_t>::value && "
        "std::is_integral_v<long>) a[0] = std::min(a[1], std::sqrt(a[2])) + "
        "std::numeric_limits<float>::max() + std::numeric_limits<float>::infinity(); }",
        "#include <cuda_fp16.h>\n__global__ void k(__half *a) { a[0] = __hadd(a[1], a[2]); }",
        "#include <cuda_bf16.h>\n__global__ void k(__nv_bfloat16 *a) { a[0] = a[1] + a[2]; }",
        "#define WITHOUT_PRECOMPILED 1\n#include <cuda_pipeline.h>\n__global__ void k(uint64_t *a) "
        "{ "
        "__pipeline_commit(); a[0] = 1; }",
    };
    struct fixture f;
    if (!set_up(&f))
        return;
    for (size_t i = 0; i < HONE_COUNTOF(good); i++)
        ck_assert_msg(compile(&f, good[i]) == HONE_REASON_BUILT, "%s\n%s", good[i], f.out.log);
    tear_down(&f);
}
END_TEST

/* int64_t is long on both sides, with libcu++'s headers too: the names must be the host's. */
START_TEST(names_are_the_hosts)
{
    static const char text[] =
        "#include <cooperative_groups.h>\n"
        "template <int T, typename F> __global__ void row(F *a, int64_t n) { a[n] = T; }\n"
        "static __global__ void hidden(uint64_t *a) { a[0] = 1; }\n"
        "__device__ float acc[4];\n";
    static const char *const names[] = {"row<3, float>", "hidden", "&acc", NULL};
    struct fixture f;
    struct hone_cubin cubin;
    if (!set_up(&f))
        return;
    ck_assert_msg(finish(&f, start(&f, text, NULL, names)) == HONE_REASON_BUILT, "%s", f.out.log);
    ck_assert_str_eq(f.out.lowered[0], "_Z3rowILi3EfEvPT0_l");
    ck_assert_ptr_nonnull(strstr(f.out.lowered[1], "hidden"));
    ck_assert_str_eq(f.out.lowered[2], "acc");
    ck_assert_int_eq(hone_cubin_read(f.out.cubin, f.out.cubin_len, f.pool, &cubin, NULL), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_nonnull(hone_cubin_find(&cubin.kernels, f.out.lowered[i]));
    hone_cubin_drop_toolkit(text, &cubin);
    ck_assert_uint_eq(cubin.variables.n, 1);
    tear_down(&f);
}
END_TEST

START_TEST(nothing_secret)
{
    static const char *const texts[] = {
        "#include \"/etc/passwd\"\n__global__ void k() {}",
        "#include </etc/hostname>\n__global__ void k() {}",
        "#if __has_include(\"/etc/passwd\")\n#error root:x:0:0\n#endif\n#error none\n",
        "#include \"/proc/self/environ\"\n__global__ void k() {}",
    };
    struct fixture f;
    if (!set_up(&f))
        return;
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++) {
        ck_assert_int_eq(compile(&f, texts[i]), HONE_REASON_COMPILE);
        ck_assert_ptr_null(strstr(f.out.log, "root:"));
        if (!UNIT_HAS_SANITIZER) /* /proc is there for its run-time */
            ck_assert_ptr_null(strstr(f.out.log, "PATH="));
    }
    tear_down(&f);
}
END_TEST

/* A compile that would take for ever is killed on time, others go on beside it, the server stays.
 */
START_TEST(bomb)
{
    static const char text[] = "template <int N, int M> struct A { static constexpr long v = A<N - "
                               "1, M * 2>::v + A<N - 1, "
                               "M * 2 + 1>::v; };\n"
                               "template <int M> struct A<0, M> { static constexpr long v = M; };\n"
                               "__global__ void k(long *a) { a[0] = A<28, 0>::v; }\n";
    struct fixture f;
    if (!set_up(&f))
        return;
    f.timeout_ms = 2000;
    int64_t begun = hone_now_ns();
    struct hone_cuda_ticket *slow = start(&f, text, NULL, NULL);
    f.timeout_ms = 60000;
    struct hone_cuda_ticket *quick = start(&f, "__global__ void k() {}", NULL, NULL);
    ck_assert_int_eq(finish(&f, quick), HONE_REASON_BUILT);
    ck_assert_int_eq(finish(&f, slow), HONE_REASON_COMPILE_TIMEOUT);
    ck_assert_int_lt((hone_now_ns() - begun) / HONE_NS_PER_MS, 30000);
    ck_assert_int_eq(compile(&f, "__global__ void k() {}"), HONE_REASON_BUILT);
    tear_down(&f);
}
END_TEST

/* Many in flight, answers taken in another order, some dropped. */
START_TEST(several)
{
    enum { N = 24 };
    struct hone_cuda_ticket *tickets[N];
    struct fixture f;
    if (!set_up(&f))
        return;
    for (int i = 0; i < N; i++) {
        const char *text = hone_pool_printf(
            f.pool, "extern \"C\" __global__ void k%d(float *a) { a[0] = %d; }", i, i);
        tickets[i] = start(&f, text, NULL, NULL);
    }
    for (int i = 0; i < N; i += 5)
        hone_cuda_compile_drop(HONE_STEAL(tickets[i]));
    for (int i = N - 1; i >= 0; i--) {
        struct hone_cubin cubin;
        if (tickets[i] == NULL)
            continue;
        ck_assert_int_eq(finish(&f, tickets[i]), HONE_REASON_BUILT);
        ck_assert_int_eq(hone_cubin_read(f.out.cubin, f.out.cubin_len, f.pool, &cubin, NULL), 0);
        ck_assert_ptr_nonnull(hone_cubin_find(&cubin.kernels, hone_pool_printf(f.pool, "k%d", i)));
    }
    tear_down(&f);
}
END_TEST

START_TEST(flags_of_the_allow_list)
{
    struct fixture f;
    if (!set_up(&f))
        return;
    for (const char *const *flag = hone_options_allowed_for("cuda"); *flag != NULL; flag++) {
        const char *const one[] = {*flag, NULL};
        ck_assert_msg(finish(&f, start(&f, "__global__ void k(float *a) { a[0] /= 3; }", one,
                                       NULL)) == HONE_REASON_BUILT,
                      "%s: %s", *flag, f.out.log);
    }
    tear_down(&f);
}
END_TEST

START_TEST(cache)
{
    char folder[] = "/tmp/hone-compile-test-XXXXXX";
    struct fixture f;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (set_up(&f)) {
        static const char *const names[] = {"k<2>", NULL};
        static const char text[] = "template <int T> __global__ void k(float *a) { a[0] = T; }";
        f.cache_dir = folder;
        ck_assert_int_eq(finish(&f, start(&f, text, NULL, names)), HONE_REASON_BUILT);
        ck_assert(!f.out.is_cached);
        size_t len = f.out.cubin_len;
        ck_assert_int_eq(finish(&f, start(&f, text, NULL, names)), HONE_REASON_BUILT);
        ck_assert(f.out.is_cached);
        ck_assert_uint_eq(f.out.cubin_len, len);
        ck_assert_str_eq(f.out.lowered[0], "_Z1kILi2EEvPf");
        ck_assert_ptr_nonnull(strstr(f.out.log, "Used "));
        tear_down(&f);
    }
    ck_assert_int_eq(hone_remove_tree(folder, NULL), 0);
}
END_TEST

START_TEST(limits)
{
    struct fixture f;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_cuda_ticket *ticket = NULL;
    if (!set_up(&f))
        return;
    const char **names =
        hone_calloc(HONE_LIMIT_CUDA_KERNELS + HONE_LIMIT_CUDA_VARIABLES + 2, sizeof *names);
    for (size_t i = 0; i < HONE_LIMIT_CUDA_KERNELS + HONE_LIMIT_CUDA_VARIABLES + 1; i++)
        names[i] = "k";
    const struct hone_cuda_unit unit = {.text = "__global__ void k() {}",
                                        .arch = "sm_90a",
                                        .names = names,
                                        .n_names =
                                            HONE_LIMIT_CUDA_KERNELS + HONE_LIMIT_CUDA_VARIABLES + 1,
                                        .deadline_ns = hone_deadline_in_ms(10000)};
    ck_assert_int_eq(hone_cuda_compile_start(f.compiler, &unit, &ticket, &err), HONE_E_LIMIT);
    char *text = hone_malloc((9u << 20) + 1);
    memset(text, ' ', 9u << 20);
    text[9u << 20] = '\0';
    const struct hone_cuda_unit big = {
        .text = text, .arch = "sm_90a", .deadline_ns = hone_deadline_in_ms(10000)};
    ck_assert_int_eq(hone_cuda_compile_start(f.compiler, &big, &ticket, &err), HONE_E_LIMIT);
    ck_assert_int_eq(compile(&f, "__global__ void k() {}"), HONE_REASON_BUILT);
    free(text);
    free(names);
    tear_down(&f);
}
END_TEST

START_TEST(diagnostics)
{
    static const char log[] =
        "candidate.cu(3): error: identifier \"foo\" is undefined\n"
        "    x = foo(3);\n"
        "        ^\n"
        "\n"
        "candidate.cu(2): warning #177-D: variable \"y\" was declared but never referenced\n"
        "  int y;\n"
        "      ^\n"
        "\n"
        "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
        "/usr/include/a.h(7): catastrophic error: cannot open source file \"b.h\"\n"
        "ptxas error   : Entry function 'k' uses too much shared data\n"
        "ptxas info    : Used 3 registers\n"
        "At end of source: error: expected a \";\"\n"
        "(9): error: no\ncandidate.cu(x): error: no\n candidate.cu(1): error: no\n";
    struct hone_pool *pool = hone_pool_new();
    const struct hone_diag_in in = {.text = log,
                                    .file = "candidate.cu",
                                    .source = "int a;\nint y;\nx = foo(3);\n",
                                    .arm = "candidate"};
    struct hone_diag_out out;
    hone_nvrtc_diag_parse(&in, pool, &out);
    const struct hone_diagnostic *list = out.diagnostics.v;
    ck_assert(out.has_error);
    ck_assert_uint_eq(out.diagnostics.n, 5);
    ck_assert_str_eq(list[0].message, "identifier \"foo\" is undefined");
    ck_assert_int_eq(list[0].line, 3);
    ck_assert_int_eq(list[0].column, 7);
    ck_assert_ptr_nonnull(strstr(list[0].context, "3> x = foo(3);"));
    ck_assert_int_eq(list[4].severity, HONE_SEVERITY_WARNING);
    ck_assert_int_eq(list[4].line, 2);
    ck_assert_ptr_nonnull(strstr(list[1].message, "a.h:7: cannot open"));
    ck_assert_str_eq(hone_nvrtc_log_cleaned("ptxas info    : x\nkept\n\n", pool), "kept\n");
    hone_pool_free(pool);
}
END_TEST

START_TEST(variants)
{
    static const struct {
        const char *source;
        enum hone_compile_variant variant;
    } cases[] = {
        {"", HONE_VARIANT_PLAIN},
        {"#include <stdint.h>\n", HONE_VARIANT_PLAIN},
        {"  #  include <cuda_fp16.h>\n", HONE_VARIANT_NUMBERS},
        {"#include <mma.h>\n#include \"cooperative_groups/reduce.h\"\n", HONE_VARIANT_GROUPS},
        {"#include <cuda/pipeline>", HONE_VARIANT_GROUPS},
        {"#define CUDA_NO_HALF\n#include <cuda_fp16.h>\n", HONE_VARIANT_PLAIN},
        {"#include <cuda_fp16.h>\n#define X 1\n", HONE_VARIANT_NUMBERS},
        {"// #include <cuda_fp16.h>\n", HONE_VARIANT_PLAIN},
    };
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        ck_assert_msg(hone_variant_of(cases[i].source) == cases[i].variant, "%s", cases[i].source);
}
END_TEST

START_TEST(blobs)
{
    char folder[] = "/tmp/hone-blob-test-XXXXXX";
    struct hone_pool *pool = hone_pool_new();
    const struct hone_blob_part in[HONE_BLOB_PARTS] = {{"ab", 2}, {NULL, 0}, {"\0x", 2}};
    struct hone_blob_part out[HONE_BLOB_PARTS];
    static const char key[] = "0123456789";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert(!hone_blob_get(folder, key, ".x", pool, out));
    ck_assert(!hone_blob_get(NULL, key, ".x", pool, out));
    hone_blob_put(folder, key, ".x", in);
    ck_assert(hone_blob_get(folder, key, ".x", pool, out));
    ck_assert_uint_eq(out[2].len, 2);
    ck_assert_mem_eq(out[2].bytes, "\0x", 2);
    ck_assert_uint_eq(out[3].len, 0);
    const char *path = hone_pool_printf(pool, "%s/01/%s.x", folder, key);
    char *text = NULL;
    size_t len = 0;
    ck_assert_int_eq(hone_file_read(path, 4096, &text, &len, NULL), 0);
    for (size_t i = 0; i < len; i++) {
        text[i] ^= 1;
        ck_assert_int_eq(hone_file_write(path, text, len, 0644, false, NULL), 0);
        ck_assert(!hone_blob_get(folder, key, ".x", pool, out));
        text[i] ^= 1;
    }
    free(text);
    hone_pool_free(pool);
    ck_assert_int_eq(hone_remove_tree(folder, NULL), 0);
}
END_TEST

static int tests_main(void);
#define main tests_main
static UNIT_MAIN("compile_cuda", what_sources_find, names_are_the_hosts, nothing_secret, bomb,
                 several, flags_of_the_allow_list, cache, limits, diagnostics, variants, blobs)
#undef main

    /* The jail starts this program again, in the server's role. */
    int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "--role") == 0)
        return hone_role_nvrtc(argc - 3, argv + 3);
    return tests_main();
}
