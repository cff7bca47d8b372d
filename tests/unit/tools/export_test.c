/* SPDX-License-Identifier: Apache-2.0 */
/* What an exported version looks like. The fake executor says what the oracle would. */
#include "tests/unit/tools/tool_util.h"

#include "tools/export/export.h"
#include "tools/format/options.h"
#include "tools/task/prototype.h"
#include "tools/task/task_new.h"
#include "workspace/base/limits.h"

#define VALUES "\"output\":\"v 0 0 0 1.5 2\\nv 1 0 0 2.5 3\\n\""

static struct hone_json *evaluate(struct bench *b, const char *task, const char *source,
                                  const char *more)
{
    HONE_AUTOJSON struct hone_json *args = hone_json_new_object();
    hone_json_set_str(args, "task", task);
    hone_json_set_str(args, "source", source);
    HONE_AUTOFREE char *text = hone_json_print(args);
    text[strlen(text) - 1] = '\0';
    return bench_ok(b, "kernel_evaluate", hone_pool_printf(b->pool, "%s%s}", text, more));
}

static struct hone_json *export_of(struct bench *b, const char *rev, const char *more)
{
    return bench_ok(b, "version_export",
                    hone_pool_printf(b->pool, "{\"version\":\"%s\"%s}", rev, more));
}

static const char *file_of(const struct hone_json *result, const char *name)
{
    const struct hone_json *file = hone_json_first(hone_json_get(result, "files"));
    for (; file != NULL; file = hone_json_next(file))
        if (strcmp(text_of(file, "name"), name) == 0)
            return text_of(file, "text");
    ck_abort_msg("no file %s", name);
}

static void has(const char *text, const char *want)
{
    ck_assert_msg(strstr(text, want) != NULL, "no '%s' in:\n%.1500s", want, text);
}

static void has_not(const char *text, const char *unwanted)
{
    ck_assert_msg(strstr(text, unwanted) == NULL, "'%s' in:\n%.1500s", unwanted, text);
}

#define TUNED                                                                                      \
    "#include <stdint.h>\n#pragma hone tune(TILE: 8, 16)\nfloat half(float);\n"                    \
    "float half(float v) { return v / TILE; }\n"                                                   \
    "void sum(const float *X, float *S, int64_t N) { S[0] = half(X[0]) + (float)N; }\n"

/* Tunables as values, options in the line, helpers static, the report's own words. */
START_TEST(a_version)
{
    struct bench b;
    bench_open(&b, "{\"match\":\"hone_oracle_items\"," VALUES "}\n"
                   "{\"match\":\"half\",\"ns\":250000,\"doubt\":\"a */ in it\"}\n");
    struct hone_json *r = evaluate(&b, "sum", TUNED,
                                   ",\"tier\":\"confirm\",\"tunables\":{\"TILE\":16},"
                                   "\"flags\":[\"-ffast-math\"]");
    const char *summary = text_of(r, "summary");
    struct hone_json *e = export_of(&b, text_of(r, "commit"), "");
    const char *c = file_of(e, "sum.c"), *test = file_of(e, "sum_test.c");
    ck_assert_msg(strncmp(c,
                          "/* gcc -std=gnu17 -O3 -march=native -fopenmp -falign-functions=64 "
                          "-ffast-math -c sum.c\n",
                          80) == 0,
                  "%s", c);
    has(c, "#define TILE (16)\n");
    has_not(c, "pragma hone");
    has(c, "\nstatic float half(float);\nstatic float half(float v)");
    has(c, "\nvoid sum(");
    char *said = hone_pool_strdup(b.pool, summary);
    *strstr(said, "*/") = '.'; /* does not end the comment */
    has(c, hone_pool_printf(b.pool, "verdict   %s\n", said));
    has(c, "not to be claimed");
    has(c, "doubt     a ./ in it\n");
    has(c, text_of(r, "commit"));
    has(c, "size      ");
    has(test, "{0, 1.5, ");
    has(test, "{0, 2.5, ");
    has(test, "(void *)out0, 67);"); /* past two tiles and no multiple: the fast path runs too */
    has(file_of(e, "sum.h"), "void sum(const float *X, float *S, int64_t N);");
    ck_assert_str_eq(text_of(e, "test"), "passed");
    bench_close(&b);
}
END_TEST

/* A confirmed figure that nothing stands against may be claimed; a screened one may not. */
START_TEST(claims)
{
    static const struct {
        const char *tier, *want, *unwanted;
    } cases[] = {{"confirm", ", may be claimed", "not to be claimed"},
                 {"decide", "not to be claimed: not confirmed", ", may be claimed"},
                 {"screen", "not to be claimed: not confirmed", ", may be claimed"}};
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct bench b;
        bench_open(&b, "{\"match\":\"half\",\"ns\":250000}\n");
        struct hone_json *r =
            evaluate(&b, "sum", TUNED, hone_pool_printf(b.pool, ",\"tier\":\"%s\"", cases[i].tier));
        struct hone_json *e = export_of(&b, text_of(r, "commit"), ",\"no_test\":true");
        has(file_of(e, "sum.c"), cases[i].want);
        has_not(file_of(e, "sum.c"), cases[i].unwanted);
        ck_assert_uint_eq(hone_json_size(hone_json_get(e, "files")), 2);
        ck_assert_str_eq(text_of(e, "test"), "not run");
        bench_close(&b);
    }
}
END_TEST

/* The user's own name and parameters come back, whatever their order. */
START_TEST(own_parameters)
{
    static const struct {
        const char *name, *source, *shapes[2], *want[3];
    } cases[] = {
        {"scale2",
         "void scale2(int n, double *out, const double *in)\n{\n    for (int i = 0; i < n; i++)\n"
         "        out[i] = 2 * in[i];\n}\n",
         {NULL},
         {"void scale2(int n, double *out, const double *in)\n{\n",
          "scale2_in_task_order((const double *)in, (double *)out, (int64_t)n);\n}",
          "static void scale2_in_task_order("}},
        {"inner",
         "double inner(const double *x, const double *y, unsigned long n)\n{\n    double s = 0;\n"
         "    for (unsigned long i = 0; i < n; i++)\n        s += x[i] * y[i];\n    return s;\n}\n",
         {NULL},
         {"double inner(const double *x, const double *y, unsigned long n)\n{\n",
          "double result[1];\n", "return result[0];\n}"}},
        {"pairs",
         "void pairs(int n, const float *a, float *b)\n{\n    for (int i = 0; i < n / 2; i++)\n"
         "        b[i] = a[2 * i];\n}\n",
         {"a[n]", "b[n//2]"},
         {"void pairs(int n, const float *a, float *b)\n{\n", ", ((int64_t)n/2));",
          "static void pairs_in_task_order("}},
        /* "step" has a meaning in a task */
        {"scaled",
         "void scaled(int n, float step, const float *x, float *y)\n{\n    for (int i = 0; i < n; "
         "i++)\n        y[i] = step * x[i];\n}\n",
         {NULL},
         {"void scaled(int n, float step, const float *x, float *y)\n{\n",
          "(float *)y, step, (int64_t)n);\n}", "static void scaled_in_task_order("}},
        {"rows",
         "#include <stdint.h>\nvoid rows(int64_t m, int64_t k, const float a[m][k], float *b)\n{\n"
         "    for (int64_t i = 0; i < m; i++)\n        b[i] = a[i][0];\n}\n",
         {"b[m]"},
         {"void rows(int64_t m, int64_t k, const float a[m][k], float *b)\n{\n",
          "(const float *)a, (float *)b, (int64_t)m, (int64_t)k);",
          "static void rows_in_task_order("}},
    };
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct bench b;
        struct hone_err err = HONE_ERR_INIT;
        struct hone_task_new made;
        const char *shapes[2] = {cases[i].shapes[0], cases[i].shapes[1]};
        bench_open(&b, NULL);
        const struct hone_task_new_options options = {
            .source = cases[i].source,
            .dir = hone_pool_printf(b.pool, "%s/ws/tasks/%s", b.dir, cases[i].name),
            .shapes = {shapes, (shapes[0] != NULL) + (size_t)(shapes[1] != NULL)}};
        ck_assert_msg(hone_task_new(&options, b.pool, &made, &err) == 0, "%s", err.message);
        struct hone_json *e = export_of(&b, cases[i].name, ",\"no_test\":true");
        const char *c = file_of(e, hone_pool_printf(b.pool, "%s.c", cases[i].name));
        for (size_t k = 0; k < HONE_COUNTOF(cases[i].want); k++)
            has(c, cases[i].want[k]);
        const char *h = file_of(e, hone_pool_printf(b.pool, "%s.h", cases[i].name));
        has(h, hone_pool_printf(b.pool, "%.*s;", (int)strcspn(cases[i].want[0], "\n"),
                                cases[i].want[0]));
        e = export_of(&b, cases[i].name, ",\"no_test\":true,\"form\":\"diff\"");
        const char *patch = file_of(e, hone_pool_printf(b.pool, "%s.patch", cases[i].name));
        has(patch,
            hone_pool_printf(b.pool, "--- a/%s.c\n+++ b/%s.c\n", cases[i].name, cases[i].name));
        const char *line = hone_pool_printf(b.pool, "\n-%.*s\n",
                                            (int)strcspn(cases[i].source, "\n"), cases[i].source);
        if (cases[i].source[0] != '#') /* the old side is the user's text, not the wrapped one */
            ck_assert_msg(strstr(patch, line) != NULL || strstr(patch, line + 2) != NULL, "%s",
                          patch);
        has_not(patch, "-/* hone's order");
        bench_close(&b);
    }
}
END_TEST

#define STAGE                                                                                      \
    "void stage(int n, double *re, double *im)\n{\n    for (int i = 0; i < n; i++) {\n"            \
    "        double t = re[i];\n        re[i] += im[i];\n        im[i] = t;\n    }\n}\n"
#define STAGE_HEAD                                                                                 \
    "#include <stdint.h>\n#include <string.h>\n"                                                   \
    "void stage(const double *restrict re_in, const double *im_in, double *restrict re, "          \
    "double *im, int64_t n_arg)\n{\n    int n = (int)n_arg;\n"
#define COPY_RE "    memcpy(re, re_in, (size_t)(n_arg) * sizeof(*re));\n"
#define COPY_IM "    memcpy(im, im_in, (size_t)(n_arg) * sizeof(*im));\n"
#define LOOP_RE                                                                                    \
    "#pragma omp parallel for simd\n    for (int64_t i = 0; i < n_arg; i++) {\n"                   \
    "        re[i] = re_in[i];\n    }\n"
#define REST "#pragma omp simd\n    for (int i = 0; i < n; i++)\n        re[i] += im[i];\n}\n"

/* A copy leaves the version where its text shows that nothing else uses the old content. */
START_TEST(in_place)
{
    static const struct {
        const char *before, *source;
        bool keeps_re, keeps_im;
    } cases[] = {
        {"", STAGE_HEAD COPY_RE COPY_IM REST, false, false},
        {"", STAGE_HEAD COPY_IM LOOP_RE REST, false, false},
        {"/* re_in */\n", STAGE_HEAD COPY_RE "    /* re_in */ puts(\"re_in\");\n" REST, false,
         true},
        {"", STAGE_HEAD COPY_RE COPY_IM "    im[0] += re_in[0];\n" REST, true, false},
        {"void help(double *, const double *);\n",
         STAGE_HEAD COPY_RE COPY_IM "    help(re, im_in);\n" REST, false, true},
        {"#define OLD(i) re_in[i]\n", STAGE_HEAD COPY_RE COPY_IM "    im[0] += OLD(0);\n" REST,
         true, false},
        {"#define OLD(a) a##_in[0]\n", STAGE_HEAD COPY_RE COPY_IM "    im[0] += OLD(re);\n" REST,
         true, true},
        {"#define memcpy(a, b, n) other(a, b, n)\n", STAGE_HEAD COPY_RE COPY_IM REST, true, true},
        {"", STAGE_HEAD "    n = stage_2(re);\n" COPY_RE COPY_IM REST, true, true},
        {"", STAGE_HEAD "    re[0] = 1;\n" COPY_RE COPY_IM REST, true, true},
        {"", STAGE_HEAD "    int k = next(re);\n" COPY_RE COPY_IM REST, true, true},
        {"", STAGE_HEAD "    int k = re[0]++;\n" COPY_RE COPY_IM REST, true, true},
        {"", STAGE_HEAD "    if (n < 9)\n    " COPY_RE COPY_IM REST, true, true},
        {"", STAGE_HEAD "#ifdef A\n" COPY_RE "#endif\n" COPY_IM REST, true, true},
        {"", STAGE_HEAD "    memcpy(re, re_in + 1, n);\n" COPY_IM REST, true, true},
        {"", STAGE_HEAD "    memcpy(re, im_in, n);\n" COPY_IM REST, true, true},
        {"",
         STAGE_HEAD COPY_IM
         "    for (int i = 0; i < n - 1; i++)\n        re[i] = re_in[i + 1];\n" REST,
         true, false},
        {"void stage(const double *, const double *, double *, double *, int64_t);\n",
         STAGE_HEAD COPY_RE COPY_IM REST, true, true},
    };
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_task_new made;
    bench_open(&b, NULL);
    const struct hone_task_new_options options = {
        .source = STAGE, .dir = hone_pool_printf(b.pool, "%s/ws/tasks/stage", b.dir)};
    ck_assert_msg(hone_task_new(&options, b.pool, &made, &err) == 0, "%s", err.message);
    bool is_told = false;
    for (size_t i = 0; i < made.notes.n; i++)
        is_told = is_told || strstr(made.notes.v[i], "ratios are against copy and function");
    ck_assert(is_told);
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        const char *text =
            hone_pool_printf(b.pool, "#include <stdint.h>\n%s%s", cases[i].before, cases[i].source);
        struct hone_json *r = evaluate(&b, "stage", text, ",\"tier\":\"screen\"");
        struct hone_json *e = export_of(&b, text_of(r, "commit"), ",\"no_test\":true");
        const char *c = file_of(e, "stage.c");
        ck_assert_msg((strstr(c, "old_re_in") != NULL) == cases[i].keeps_re &&
                          (strstr(c, "old_im_in") != NULL) == cases[i].keeps_im,
                      "%zu:\n%s", i, c);
        ck_assert_msg((strstr(c, "malloc") != NULL) == (cases[i].keeps_re || cases[i].keeps_im),
                      "%s", c);
        has(c, cases[i].keeps_re   ? "re is copied first (n*8 bytes a call)"
               : cases[i].keeps_im ? "in place, without a copy: re. "
                                   : "in place, without a copy: re, im. ");
        has(c, "\n#pragma omp simd\n    for (int i = 0; i < n; i++)\n        re[i] += im[i];\n}");
        if (i > 1)
            continue;
        has(c, "static void stage_in_task_order(double *restrict re, double *im, int64_t n_arg)");
        has(c, "    stage_in_task_order((double *)re, (double *)im, (int64_t)n);\n}");
        has_not(c, "memcpy");
        has_not(c, "parallel for simd");
    }
    bench_close(&b);
}
END_TEST

#define BIAS(end_)                                                                                 \
    "__global__ void k(const float *b, float *x, int n)\n"                                         \
    "{\n"                                                                                          \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    if (i < n)\n"                                                                             \
    "        x[i] = x[i] + b[i];\n"                                                                \
    "}\n"                                                                                          \
    "extern \"C\" void bias" end_ "(const float *b, float *x, int n, cudaStream_t s)\n"            \
    "{\n"                                                                                          \
    "    k<<<(n + 255) / 256, 256, 0, s>>>(b, x, n);\n"                                            \
    "}\n"

START_TEST(a_launcher_in_place)
{
    static const struct {
        const char *more;
        bool is_copied;
    } cases[] = {{"", false}, {"    k<<<1, 1, 0, hone_stream>>>(x_in, x);\n", true}};
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_task_new made;
    bench_open(&b, NULL);
    const char *shapes[] = {"x[n]", "b[n]"};
    const struct hone_task_new_options options = {
        .source = BIAS(""),
        .is_cuda = true,
        .shapes = {shapes, 2},
        .dir = hone_pool_printf(b.pool, "%s/ws/tasks/bias", b.dir)};
    ck_assert_msg(hone_task_new(&options, b.pool, &made, &err) == 0, "%s", err.message);
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        const char *text = hone_pool_printf(
            b.pool,
            "%sextern \"C\" void bias(const float *b, const float *x_in, float *x, int64_t n, "
            "cudaStream_t hone_stream)\n{\n    cudaMemcpyAsync(x, x_in, (size_t)(n) * sizeof(*x), "
            "cudaMemcpyDeviceToDevice, hone_stream);\n%s    bias_body((const float *)b, (float "
            "*)x, "
            "(int)n, hone_stream);\n}\n",
            BIAS("_body"), cases[i].more);
        struct hone_json *r =
            evaluate(&b, "bias", text, ",\"tier\":\"screen\",\"target\":\"cuda\"");
        const char *c =
            file_of(export_of(&b, text_of(r, "commit"), ",\"no_test\":true"), "bias.cu");
        ck_assert_msg((strstr(c, "cudaMallocAsync") != NULL) == cases[i].is_copied, "%s", c);
        has(c, cases[i].is_copied
                   ? "x is copied first (n*4 bytes a call)"
                   : "bias_in_task_order((const float *)b, (float *)x, (int64_t)n, s);");
        if (!cases[i].is_copied)
            has_not(c, "cudaMemcpyAsync");
    }
    bench_close(&b);
}
END_TEST

/* The test gives a parameter that the task calls otherwise its value. */
START_TEST(a_renamed_parameter)
{
    struct bench b;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_task_new made;
    const char *scalar = "step=1.5";
    bench_open(&b, "{\"match\":\"hone_oracle_items\"," VALUES "}\n");
    const struct hone_task_new_options options = {
        .source =
            "void scaled(int n, float step, const float *x, float *y)\n{\n    for (int i = 0; "
            "i < n; i++)\n        y[i] = step * x[i];\n}\n",
        .dir = hone_pool_printf(b.pool, "%s/ws/tasks/scaled", b.dir),
        .scalars = {&scalar, 1}};
    ck_assert_msg(hone_task_new(&options, b.pool, &made, &err) == 0, "%s", err.message);
    has(file_of(export_of(&b, "scaled", ""), "scaled_test.c"), ", (float)1.5, (void *)in0");
    bench_close(&b);
}
END_TEST

START_TEST(a_cuda_version)
{
    struct bench b;
    bench_open(&b, "{\"match\":\"hone_oracle_items\"," VALUES "}\n");
    struct hone_json *r = evaluate(
        &b, "sum",
        "#pragma hone tune(T: 4) lane(nvcc)\nextern \"C\" void sum(const float *X, float *S, "
        "int64_t N, cudaStream_t stream) {}\n",
        ",\"target\":\"cuda\",\"flags\":[\"-maxrregcount=64\"]");
    struct hone_json *e = export_of(&b, text_of(r, "commit"), "");
    const char *line = "nvcc -std=c++17 -O3 -arch=sm_90a -maxrregcount=64 -c sum.cu";
    has(file_of(e, "sum.cu"), line); /* as it was measured, in all of them */
    ck_assert_str_eq(text_of(e, "compile"), line);
    has(file_of(e, "sum.cu"), "on another device: -arch=native");
    has(file_of(e, "sum_test.cu"), "-arch=sm_90a -o sum_test");
    has(file_of(e, "CMakeLists.txt"), "set(CMAKE_CUDA_ARCHITECTURES 90a)");
    has(file_of(e, "sum.cu"), "constexpr int T = 4;");
    has_not(file_of(e, "sum.cu"), "pragma hone");
    has(file_of(e, "sum.h"), "cudaStream_t stream);");
    has(file_of(e, "CMakeLists.txt"), "target_compile_options(sum PRIVATE -O3 -maxrregcount=64)");
    has(file_of(e, "CMakeLists.txt"), "add_executable(sum_test sum_test.cu)");
    has(file_of(e, "sum_test.cu"), "sum(device_pointer{device_in0}, device_pointer{device_out0}, ");
    ck_assert_str_eq(text_of(e, "test"), "not run");
    bench_refused(
        &b, "version_export",
        hone_pool_printf(b.pool, "{\"version\":\"%s\",\"form\":\"c\"}", text_of(r, "commit")),
        "exported as cuda, diff");
    bench_close(&b);
}
END_TEST

/* The pack's oracle is a stranger: what it prints is read with limits. */
START_TEST(oracle_s_words)
{
    static const struct {
        const char *output, *want;
    } cases[] = {
        {"\"\"", "nothing of use"},
        {"\"v 0 0 0 nan 0\\n\"", "gave no value"},
        {"\"v 0 0 1 1 1\\n\"", "answered 'v 0 0 1 1 1'"},
        {"\"v 0 1 0 1 1\\n\"", "answered"},
        {"\"v 7 0 0 1 1\\n\"", "answered"},
        {"\"v 0 0 -1 1 1\\n\"", "answered"},
        {"\"hello\"", "answered 'hello'"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct bench b;
        HONE_AUTOFREE char *script =
            hone_sprintf("{\"match\":\"hone_oracle_items\",\"output\":%s}\n", cases[i].output);
        bench_open(&b, script);
        bench_refused(&b, "version_export", "{\"version\":\"sum\"}", cases[i].want);
        bench_close(&b);
    }
    struct bench b;
    bench_open(&b, "{\"match\":\"hone_oracle_items\",\"reason\":\"crash\",\"detail\":\"boom\"}\n");
    bench_refused(&b, "version_export", "{\"version\":\"sum\"}", "boom");
    bench_refused(&b, "version_export", "{\"version\":\"nothing\"}", "nothing");
    bench_refused(&b, "version_export", "{\"version\":\"search/none\"}", "found nothing faster");
    bench_refused(&b, "version_export", "{\"version\":\"../sum\"}", "");
    bench_close(&b);
}
END_TEST

/* HONE_LIMIT_EXPORT_VALUES values of an output and case, and the last element, and no more. */
START_TEST(values_at_the_limit)
{
    for (int more = 0; more < 2; more++) {
        struct bench b;
        struct hone_buf script = HONE_BUF_INIT;
        hone_buf_str(&script, "{\"match\":\"hone_oracle_items\",\"output\":\"");
        for (int i = 0; i < 2 * (HONE_LIMIT_EXPORT_VALUES + 1) + more; i++)
            hone_buf_str(&script, "v 0 0 0 1.5 2\\n");
        hone_buf_str(&script, "\"}\n");
        bench_open(&b, script.data);
        if (more == 0)
            export_of(&b, "sum", "");
        else
            bench_refused(&b, "version_export", "{\"version\":\"sum\"}", "answered");
        hone_buf_done(&script);
        bench_close(&b);
    }
}
END_TEST

/* A test that fails is an error result that still has the files. */
START_TEST(a_failed_test)
{
    struct bench b;
    bool is_error = false;
    bench_open(&b, "{\"match\":\"hone_oracle_items\"," VALUES "}\n"
                   "{\"match\":\"void sum\",\"reason\":\"wrong_value\",\"detail\":\"S[0] is off\","
                   "\"output\":\"S[0] = 3\"}\n");
    struct hone_json *e = bench_call(&b, "version_export", "{\"version\":\"sum\"}", &is_error);
    ck_assert(is_error);
    ck_assert_str_eq(text_of(e, "test"), "failed");
    has(text_of(e, "said"), "S[0] is off");
    has(file_of(e, "sum.c"), "void sum(");
    bench_close(&b);
}
END_TEST

START_TEST(statics)
{
    static const struct {
        const char *source, *want;
    } cases[] = {
        {"int f(int);\nint f(int a) { return a; }\nvoid k(void) { f(1); }\n",
         "static int f(int);\nstatic int f(int a) { return a; }\nvoid k(void) { f(1); }\n"},
        {"static int f(void) { return 1; }\nvoid k(void) {}\n",
         "static int f(void) { return 1; }\nvoid k(void) {}\n"},
        {"__attribute__((noinline)) inline int f(void) { return 1; }\nvoid k(void) {}\n",
         "static __attribute__((noinline)) inline int f(void) { return 1; }\nvoid k(void) {}\n"},
        {"static const int t[] = {1, 2};\n#define A(x) (x)\n/* int f() {} */\nfloat (g)(void);\n"
         "struct s { int a; };\ntypedef int (*fn)(int);\nextern float sqrtf(float);\n"
         "int v = 1;\nvoid k(void) { if (v) { v = 2; } }\n",
         NULL},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        const char *text = NULL;
        ck_assert_int_eq(hone_prototype_make_static(cases[i].source, "k", pool, &text, NULL), 0);
        ck_assert_str_eq(text, cases[i].want != NULL ? cases[i].want : cases[i].source);
    }
    ck_assert_str_eq(hone_tune_strip("int a;\n#pragma hone tune(T: 1, \\\n 2)\n/*\n#pragma hone "
                                     "tune(U: 1)\n*/\n#pragma omp simd\nint b;\n#pragma hone "
                                     "lane(nvcc)",
                                     pool),
                     "int a;\n/*\n#pragma hone tune(U: 1)\n*/\n#pragma omp simd\nint b;\n");
}
END_TEST

/* What tests/e2e/torch_export_test.sh runs where torch is: the files and what stands in them. */
START_TEST(torch_forms)
{
    struct bench b;
    bench_open(&b, "{\"match\":\"hone_oracle_items\"," VALUES "}\n");
    struct hone_json *r = export_of(&b, "sum", ",\"form\":\"torch\"");
    ck_assert_str_eq(text_of(r, "form"), "torch");
    const char *op = file_of(r, "sum_torch.py"), *test = file_of(r, "test_sum_torch.py");
    file_of(r, "sum.c");
    file_of(r, "sum_test.c");
    has(op, "SPEC_TEXT = r\"\"\"{\"name\":\"sum\",\"device\":\"cpu\",\"compile\":\"gcc ");
    has(op, "-shared -fPIC\"");
    has(op, "\"X\":{\"shape\":[\"N\"],\"dtype\":\"float32\"");
    has(test, "CASES_TEXT = r\"\"\"[{\"sizes\":{\"N\":");
    r = export_of(&b, "sum", ",\"form\":\"torch\",\"no_test\":true");
    file_of(r, "sum_torch.py");
    HONE_AUTOFREE char *files = hone_json_print(hone_json_get(r, "files"));
    has_not(files, "CASES_TEXT");
    bench_refused(&b, "version_export", "{\"version\":\"sum\",\"form\":\"kernelbench\"}",
                  "made of no PyTorch module");
    bench_refused(&b, "version_export", "{\"version\":\"sum\",\"form\":\"cuda\"}",
                  "flashinfer or huggingface, not as cuda");
    bench_close(&b);
}
END_TEST

UNIT_MAIN("export", torch_forms, a_version, claims, own_parameters, in_place, a_launcher_in_place,
          a_cuda_version, a_renamed_parameter, oracle_s_words, values_at_the_limit, a_failed_test,
          statics)
