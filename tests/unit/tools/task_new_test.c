/* SPDX-License-Identifier: Apache-2.0 */
/* Scaffolding: from functions as people write them to packs that load, compile and describe the
 * right signature. */
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/tools/tool_util.h"
#include "tools/task/bad_kernels.h"
#include "tools/task/lint.h"
#include "tools/task/prototype.h"
#include "tools/task/task_new.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/process.h"

static void compiles(const char *front, const char *text)
{
    static const char *const argv[] = {"gcc", "-std=gnu17",    "-O1", "-Wall", "-x",
                                       "c",   "-fsyntax-only", "-",   NULL};
    char *all = hone_sprintf("%s%s", front, text);
    struct hone_process_spec spec = {
        .argv = argv, .stdin_text = all, .stdin_len = strlen(all), .deadline_ns = HONE_NO_DEADLINE};
    struct hone_process_result result;
    ck_assert_int_eq(hone_process_run(&spec, &result, NULL), 0);
    ck_assert_msg(result.exit_status == 0 && result.err_len == 0, "%s\n%s", result.err, all);
    hone_process_result_done(&result);
    free(all);
}

static const struct {
    const char *source, *function;
    const char *shapes[4], *roles[3], *sizes[3], *scalars[2];
    const char *signature;
    bool is_sum; /* oracle.c sums afresh, with a scale, in place of the function itself */
} good[] = {
    {.source = "void saxpy(float a, const float *x, float *y, int n) { for (int i = 0; i < n; i++) "
               "y[i] = a * x[i]; }",
     .scalars = {"a=2.5"},
     .signature = "void saxpy(const float *x, float *y, float a, int64_t n)"},
    {.source = "#include <stdint.h>\nvoid mm(const float *A, const float *B, float *C, int64_t M, "
               "int64_t N, int64_t K)\n"
               "{ for (int64_t i = 0; i < M; i++) for (int64_t j = 0; j < N; j++) { float s = 0; "
               "for (int64_t k = 0; k < K; "
               "k++) s += A[i*K+k]*B[k*N+j]; C[i*N+j] = s; } }",
     .shapes = {"A[M,K]", "B[K, N]", "C[M,N]"},
     .sizes = {"M=64,N=48,K=32", "M=10,N=20,K=30"},
     .is_sum = true,
     .signature =
         "void mm(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)"},
    {.source = "/* float dot(void) {} */\nfloat dot(const float *restrict a, float const *b, "
               "unsigned long n)\n"
               "{ float s = 0; for (unsigned long i = 0; i < n; i++) s += a[i]*b[i]; return s; }",
     .is_sum = true,
     .signature = "void dot(const float *a, const float *b, float *result, int64_t n)"},
    {.source = "static float sq(float x) { return x*x; }\n"
               "void grid(int H, int W, const double in[H][W], double out[static H][W])\n"
               "{ for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) out[y][x] = in[y][x] * "
               "sq(2); }",
     .signature = "void grid(const double *in, double *out, int64_t H, int64_t W)"},
    {.source = "void csr(const int *rows, const int *cols, const float *v, const float *x, float "
               "*y, int m, int n, int nnz)\n"
               "{ (void)n; (void)nnz; for (int r = 0; r < m; r++) { float s = 0; for (int k = "
               "rows[r]; k < rows[r+1]; k++) s "
               "+= v[k]*x[cols[k]]; y[r] = s; } }\nint unrelated(int a) { return a; }",
     .function = "csr",
     .shapes = {"rows[m + 1]", "cols[nnz]", "v[nnz]"},
     .roles = {"rows=offsets:nnz", "cols=index:n"},
     .signature = "void csr(const int32_t *rows, const int32_t *cols, const float *v, const float "
                  "*x, float *y, int64_t m, int64_t n, int64_t nnz, int64_t SIZE3)"},
    {.source =
         "void mv(int n, int m, float *y, const float *a, const float *x) { for (int i = 0; i < "
         "n; i++) { y[i] = 0; for (int j = 0; j < m; j++) y[i] += a[i * m + j] * x[j]; } }",
     .is_sum = true,
     .signature = "void mv(const float *a, const float *x, float *y, int64_t n, int64_t m)"},
    {.source = "void gemm(int ni, int nj, int nk, double beta, double *C, const double *A, const "
               "double *B) { for (int i = 0; i < ni; i++) { for (int j = 0; j < nj; j++) C[i * nj "
               "+ j] *= beta; for (int k = 0; k < nk; k++) { for (int j = 0; j < nj; j++) C[i * nj "
               "+ j] += A[i * nk + k] * B[k * nj + j]; } } }",
     .is_sum = true,
     .signature = "void gemm(const double *C_in, const double *A, const double *B, double *C, "
                  "double beta, int64_t ni, int64_t nj, int64_t nk)"},
    /* the scaling comes after terms: not that sum */
    {.source = "void late(int n, int m, float *y, const float *a) { for (int i = 0; i < n; i++) { "
               "for (int j = 0; j < m; j++) y[i] += a[i * m + j]; y[i] *= 0.5f; } }",
     .signature = "void late(const float *y_in, const float *a, float *y, int64_t n, int64_t m)"},
    {.source = "void first(const float *x, float *out, long n) { out[0] = x[n - 1]; }",
     .shapes = {"x[n]", "out[]"},
     .signature = "void first(const float *x, float *out, int64_t n)"},
    /* a rounding decides the integers */
    {.source = "void steps(const float *x, int *out, int n) { for (int i = 0; i < n; i++) "
               "out[i] = x[i] * x[i] + x[0] > 0.5f; }",
     .signature = "void steps(const float *x, int32_t *out, int64_t n)"},
    {.source = "void three(const float *x, float *out, long n) { for (long i = 0; i < n; i++) "
               "out[i] = x[3*i]; }",
     .shapes = {"x[n, 3]", "out[n]"},
     .signature = "void three(const float *x, float *out, int64_t n, int64_t SIZE1_3)"},
};

static size_t count(const char *const *list, size_t max)
{
    size_t n = 0;
    while (n < max && list[n])
        n++;
    return n;
}

/* Kernels of integers that floats decide round as they are written; no others. */
static bool keeps_rounding(const struct hone_task *task, const char *text)
{
    bool is_rounded = !hone_dtype_is_float(task->outputs[0].dtype), has_float = false;
    for (size_t i = 0; i < task->n_inputs; i++)
        has_float = has_float || hone_dtype_is_float(task->inputs[i].dtype);
    return (strstr(text, "optimize(\"fp-contract=off\")") != NULL) == (is_rounded && has_float);
}

static void check_pack(const char *dir, const char *signature, bool is_sum)
{
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    char *naive = NULL, *oracle = NULL;
    ck_assert_msg(hone_task_load(dir, &task, &err) == 0, "%s %s", err.path, err.message);
    char *got = hone_task_signature(task), *preamble = hone_task_oracle_preamble(task);
    ck_assert_str_eq(got, signature);
    ck_assert_int_eq(task->is_oracle_naive_double, !is_sum);
    ck_assert_int_eq(hone_task_naive(task, "cpu", &naive, NULL), 0);
    ck_assert_int_eq(hone_task_oracle_source(task, &oracle, NULL), 0);
    compiles("", naive);
    compiles(preamble, oracle);
    ck_assert_msg(keeps_rounding(task, naive) && keeps_rounding(task, oracle), "%s", naive);
    for (size_t b = 0; b < hone_n_bad_kernels; b++) {
        char *bad = hone_bad_kernels[b].make(task, naive);
        if (bad)
            compiles("", bad);
        free(bad);
    }
    free(got);
    free(preamble);
    free(naive);
    free(oracle);
    hone_task_free(task);
}

static int make(size_t i, const char *dir, struct hone_pool *pool, struct hone_err *err)
{
    struct hone_task_new made;
    const char *shapes[4], *roles[3], *sizes[3], *scalars[2];
    memcpy(shapes, good[i].shapes, sizeof(shapes));
    memcpy(roles, good[i].roles, sizeof(roles));
    memcpy(sizes, good[i].sizes, sizeof(sizes));
    memcpy(scalars, good[i].scalars, sizeof(scalars));
    struct hone_task_new_options options = {
        .source = good[i].source,
        .function = good[i].function,
        .dir = dir,
        .shapes = {shapes, count(shapes, 4)},
        .roles = {roles, count(roles, 3)},
        .sizes = {sizes, count(sizes, 3)},
        .scalars = {scalars, count(scalars, 2)},
    };
    int code = hone_task_new(&options, pool, &made, err);
    if (code == 0)
        ck_assert_uint_gt(made.notes.n, 0);
    return code;
}

START_TEST(packs_work_at_once)
{
    char root[] = "/tmp/hone-new-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (size_t i = 0; i < HONE_COUNTOF(good); i++) {
        struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        char *dir = hone_sprintf("%s/p%zu", root, i);
        int code = make(i, dir, pool, &err);
        ck_assert_msg(code == 0, "%zu: %s %s", i, err.path, err.message);
        check_pack(dir, good[i].signature, good[i].is_sum);
        struct hone_lint lint;
        ck_assert_int_eq(hone_lint_pack(dir, NULL, pool, &lint, NULL), 0);
        char *text = hone_lint_text(&lint);
        ck_assert_msg(lint.is_admitted, "%s", text);
        ck_assert_int_eq(strstr(text, "the reference is the kernel itself") == NULL,
                         good[i].is_sum);
        free(text);
        ck_assert_int_eq(make(i, dir, pool, &err), HONE_E_EXISTS);
        free(dir);
        hone_pool_free(pool);
    }
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(sparse_with_roles)
{
    char root[] = "/tmp/hone-new-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(root));
    char *dir = hone_path_join(root, "csr", NULL);
    struct hone_pool *pool = hone_pool_new();
    struct hone_task_new made;
    struct hone_err err = HONE_ERR_INIT;
    const char *shapes[] = {"rows[m + 1]", "cols[nnz]", "v[nnz]", "x[n]", "y[m]"};
    const char *roles[] = {"rows=offsets:nnz", "cols=index:n"}, *sizes[] = {"m=100,n=120,nnz=900"};
    struct hone_task_new_options options = {.source = good[4].source,
                                            .function = "csr",
                                            .dir = dir,
                                            .shapes = {shapes, 5},
                                            .roles = {roles, 2},
                                            .sizes = {sizes, 1}};
    ck_assert_msg(hone_task_new(&options, pool, &made, &err) == 0, "%s %s", err.path, err.message);
    check_pack(dir,
               "void csr(const int32_t *rows, const int32_t *cols, const float *v, const "
               "float *x, float *y, int64_t m, "
               "int64_t n, int64_t nnz, int64_t SIZE3)",
               false);
    hone_pool_free(pool);
    free(dir);
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
}
END_TEST

/* RTOL, or RTOL,ATOL: near zero a logarithm errs by a step of its scale. */
START_TEST(tolerances_have_an_absolute_part)
{
    static const struct {
        const char *said;
        double rtol, atol; /* rtol 0: refused */
    } table[] = {{"y=1e-3", 1e-3, 1e-30}, {"y=1e-5,1e-4", 1e-5, 1e-4}, {"2e-3,5e-7", 2e-3, 5e-7},
                 {"y=1e-3,", 0, 0},       {"y=1e-3,-1", 0, 0},         {"y=1e-3,x", 0, 0},
                 {"y=,1e-3", 0, 0},       {"y=1e-3,1e-4,1", 0, 0},     {"y=1e-3,inf", 0, 0}};
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        char root[] = "/tmp/hone-new-test-XXXXXX";
        ck_assert_ptr_nonnull(mkdtemp(root));
        char *dir = hone_path_join(root, "level", NULL);
        struct hone_pool *pool = hone_pool_new();
        struct hone_task_new made;
        struct hone_task *task = NULL;
        struct hone_err err = HONE_ERR_INIT;
        const char *said[] = {table[i].said};
        struct hone_task_new_options options = {
            .source = "#include <math.h>\nvoid level(const float *x, float *y, int n)\n"
                      "{ for (int i = 0; i < n; i++) y[i] = log10f(x[i]); }\n",
            .dir = dir,
            .tolerances = {said, 1}};
        int code = hone_task_new(&options, pool, &made, &err);
        if (table[i].rtol > 0) {
            ck_assert_msg(code == 0, "%s: %s", table[i].said, err.message);
            ck_assert_int_eq(hone_task_load(dir, &task, NULL), 0);
            ck_assert_double_eq(task->tolerance[0].rtol, table[i].rtol);
            ck_assert_double_eq(task->tolerance[0].atol, table[i].atol);
            hone_task_free(task);
        } else {
            ck_assert_msg(code == HONE_E_ARG, "%s", table[i].said);
            ck_assert_ptr_nonnull(strstr(err.message, "write y=1e-4"));
        }
        hone_pool_free(pool);
        free(dir);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

/* Where the function reads no array, its numbers vary around what the user gave them. */
START_TEST(numbers_alone_become_inputs)
{
    char root[] = "/tmp/hone-new-test-XXXXXX";
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_task_new made;
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_ptr_nonnull(mkdtemp(root));
    const char *scalars[] = {"a=-2", "b=0"}, *scales[] = {"b=0.5"};
    const struct hone_task_new_options options = {
        .source = "void f(float a, float b, float c, int n, float *y) { for (int i = 0; i < n; "
                  "i++) y[i] = a * i + b + c; }",
        .dir = hone_pool_printf(pool, "%s/pack", root),
        .scalars = {scalars, 2},
        .scales = {scales, 1}};
    ck_assert_msg(hone_task_new(&options, pool, &made, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_task_load(options.dir, &task, &err), 0);
    ck_assert_uint_eq(task->n_inputs, 3);
    ck_assert_double_eq(task->inputs[0].shift, -2);
    ck_assert_double_eq(task->inputs[0].unit, 0.25);
    ck_assert_double_eq(task->inputs[1].shift, 0);
    ck_assert_double_eq(task->inputs[1].unit, 0.5);
    ck_assert_double_eq(task->inputs[2].shift, 0);
    ck_assert_double_eq(task->inputs[2].unit, 0); /* not said: 1 */
    hone_task_free(task);
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
}
END_TEST

/* Each option takes the user's name of what has another one in the task. */
START_TEST(options_take_the_users_names)
{
    char root[] = "/tmp/hone-new-test-XXXXXX";
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_task_new made;
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_ptr_nonnull(mkdtemp(root));
    const char *shapes[] = {"log[max + 4]", "pow[max]"}, *roles[] = {"log=index:max"},
               *sizes[] = {"max=1000"}, *scalars[] = {"step=10"}, *tolerances[] = {"exp=1e-3"},
               *constraints[] = {"max % 4 == 0 and max(max, 4) > 3"}, *scales[] = {"pow=0.5"},
               *shifts[] = {"pow=2"};
    const struct hone_task_new_options options = {
        .source = "void f(const int *log, const float *pow, float *exp, int max, int step) { for "
                  "(int i = 0; i < max; i++) exp[i] = pow[log[i]] * step; }",
        .dir = hone_pool_printf(pool, "%s/pack", root),
        .shapes = {shapes, 2},
        .roles = {roles, 1},
        .sizes = {sizes, 1},
        .scalars = {scalars, 1},
        .tolerances = {tolerances, 1},
        .constraints = {constraints, 1},
        .scales = {scales, 1},
        .shifts = {shifts, 1},
        .flops = "2*max"};
    ck_assert_msg(hone_task_new(&options, pool, &made, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_task_load(options.dir, &task, &err), 0);
    ck_assert_str_eq(task->inputs[0].name, "log_value");
    ck_assert_int_eq(task->inputs[0].bound_axis, 0);
    ck_assert_double_eq(task->inputs[1].unit, 0.5);
    ck_assert_double_eq(task->inputs[1].shift, 2);
    ck_assert_double_eq(task->scalars[0].value, 10);
    ck_assert_double_eq(task->tolerance[0].rtol, 1e-3);
    ck_assert_str_eq(task->constraints[0], "max_value % 4 == 0 and max(max_value, 4) > 3");
    ck_assert_int_eq(task->workloads[0].axes[0], 1000);
    hone_task_free(task);
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
}
END_TEST

/* A name that matches nothing is an error with the names that do. */
START_TEST(unknown_names_are_told)
{
    static const char source[] = "void f(const float *x, float *y, float a, int step, int n) { for "
                                 "(int i = 0; i < n; i++) y[i] = a * x[i] + step; }";
    static const struct {
        size_t offset; /* of the list in the options */
        const char *said, *want;
    } table[] = {
        {offsetof(struct hone_task_new_options, scalars), "nosuch=1", "of 'f': a, step, n"},
        {offsetof(struct hone_task_new_options, scalars), "x=1", "of 'f': a, step, n"},
        {offsetof(struct hone_task_new_options, roles), "n=positive", "of 'f': x, y"},
        {offsetof(struct hone_task_new_options, scales), "z=1", "of 'f': x, y"},
        {offsetof(struct hone_task_new_options, shifts), "z=1", "of 'f': x, y"},
        {offsetof(struct hone_task_new_options, shapes), "z[n]", "of 'f': x, y"},
        {offsetof(struct hone_task_new_options, outs), "z", "of 'f': x, y"},
        {offsetof(struct hone_task_new_options, sizes), "m=4", "its sizes are n"},
        {offsetof(struct hone_task_new_options, tolerances), "z=1e-3", "of 'f': y"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        struct hone_task_new made;
        const char *said[] = {table[i].said, "y=1e-3"};
        struct hone_task_new_options options = {.source = source,
                                                .dir = "/tmp/hone-new-test-never"};
        bool is_second = table[i].offset == offsetof(struct hone_task_new_options, tolerances);
        memcpy((char *)&options + table[i].offset, &(struct hone_strs){said, is_second ? 2 : 1},
               sizeof(struct hone_strs));
        ck_assert_int_eq(hone_task_new(&options, pool, &made, &err), HONE_E_ARG);
        ck_assert_msg(strstr(err.message, table[i].want), "%s: %s", said[0], err.message);
    }
}
END_TEST

START_TEST(bad_sources_are_explained)
{
    static const struct {
        const char *source, *shape, *want;
        enum hone_code code;
    } table[] = {
        {"", NULL, "nothing", HONE_E_NOT_FOUND},
        {"int x;", NULL, "nothing", HONE_E_NOT_FOUND},
        {"void f(const float *x, float *y, int n) {} void g(int n) {}", NULL, "f, g", HONE_E_ARG},
        {"void f(float *x, float *y, int n) {}", NULL, "--inout", HONE_E_ARG},
        {"void f(const float *x, int n) {}", NULL, "no output", HONE_E_ARG},
        {"void f(const float *x, float *y, int n, int m) {}", NULL, "shape of 'x'", HONE_E_ARG},
        {"void f(const float *x, float *y, int n) {}", "z[n]", "names no array of 'f': x, y",
         HONE_E_ARG},
        {"void f(const float *x, float *y, int n) {}", "x[n", "write x[M,K]", HONE_E_ARG},
        {"void f(const float *x, float *y, int n) {}", "x[q]", "'q'", HONE_E_ARG},
        {"void f(const float **x, float *y, int n) {}", NULL, "pointer to a pointer", HONE_E_ARG},
        {"void f(const struct s *x, float *y, int n) {}", NULL, "type", HONE_E_ARG},
        {"\n\nvoid f(const float *x, float *y, int (*n)(int)) {}", NULL, "line 3", HONE_E_ARG},
        {"void f(const float *x, float *y, int n, ...) {}", NULL, "not understood", HONE_E_ARG},
        {"void while_(const float *x, float *while1, int hone_n) {}", NULL, "reserved", HONE_E_ARG},
        {"float *f(const float *x, float *y, int n) {}", NULL, "returns a pointer", HONE_E_ARG},
        {"struct s { int a; }; void f(const struct s *x, float *y, int n) {}", NULL,
         "pass each member as an array of its own", HONE_E_ARG},
        {"struct s { int w; float *a; }; float f(struct s x) { return x.a[0]; }", NULL,
         "is not taken: pass its members as parameters", HONE_E_ARG},
        {"typedef struct { int a; } s_t; void f(const s_t *x, float *y, int n) {}", NULL,
         "member 1 of element i is x[3*i + 1]", HONE_E_ARG},
        {"void f(const double complex *x, float *y, int n) {}", NULL, "in turn", HONE_E_ARG},
        {"#include \"none.h\"\nvoid f(const float *x, float *y, int n) {}", NULL, "-I FOLDER",
         HONE_E_ARG},
        {"void f(const float *, float *y, int n) {}", NULL, "no name", HONE_E_ARG},
        {"((((((((", NULL, "nothing", HONE_E_NOT_FOUND},
        {"void f(const float *x", NULL, "nothing", HONE_E_NOT_FOUND},
        {"\"", NULL, "nothing", HONE_E_NOT_FOUND},
        {"/*", NULL, "nothing", HONE_E_NOT_FOUND},
        {"void f(const float x[", NULL, "nothing", HONE_E_NOT_FOUND},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct hone_pool *pool = hone_pool_new();
        struct hone_err err = HONE_ERR_INIT;
        struct hone_task_new made;
        const char *shapes[] = {table[i].shape};
        struct hone_task_new_options options = {.source = table[i].source,
                                                .dir = "/tmp/hone-new-test-never",
                                                .shapes = {shapes, table[i].shape != NULL}};
        int code = hone_task_new(&options, pool, &made, &err);
        ck_assert_msg(code == (int)table[i].code, "%s: %d %s", table[i].source, code, err.message);
        ck_assert_msg(strstr(err.message, table[i].want) != NULL, "%s: %s", table[i].source,
                      err.message);
        ck_assert(!hone_file_exists(options.dir));
        hone_pool_free(pool);
    }
}
END_TEST

START_TEST(rename_leaves_comments_and_strings)
{
    char *text = hone_prototype_rename(
        "void f(int ff) { /* f */ puts(\"f\"); f(ff); } // f\n#define f g\n", "f", "h");
    ck_assert_str_eq(text, "void h(int ff) { /* f */ puts(\"f\"); h(ff); } // f\n#define f g\n");
    free(text);
}
END_TEST

/* A byte was taken for a bool, whose content is 0 and 1. */
START_TEST(bytes_are_not_bools)
{
    static const struct {
        const char *type;
        enum hone_dtype dtype;
    } rows[] = {
        {"uint8_t", HONE_DTYPE_U8},    {"unsigned char", HONE_DTYPE_U8},
        {"int8_t", HONE_DTYPE_I8},     {"short", HONE_DTYPE_I16},
        {"uint16_t", HONE_DTYPE_U16},  {"unsigned short int", HONE_DTYPE_U16},
        {"unsigned", HONE_DTYPE_U32},  {"uint32_t", HONE_DTYPE_U32},
        {"long long", HONE_DTYPE_I64}, {"size_t", HONE_DTYPE_U64},
        {"uint64_t", HONE_DTYPE_U64},  {"char", CHAR_MIN < 0 ? HONE_DTYPE_I8 : HONE_DTYPE_U8},
        {"bool", HONE_DTYPE_BOOL},     {"_Bool", HONE_DTYPE_BOOL}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const char *source =
            hone_pool_printf(pool, "void f(const %s *a, int *b, long n) {}", rows[i].type);
        struct hone_prototype proto;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(hone_prototype_parse(source, NULL, pool, &proto, &err) == 0, "%s",
                      err.message);
        ck_assert_msg(proto.params[0].dtype == rows[i].dtype, "%s", rows[i].type);
    }
}
END_TEST

static char *naive_of(const struct hone_task_new_options *given, const char *signature,
                      struct hone_strs *ret_notes, struct hone_pool *pool)
{
    char root[] = "/tmp/hone-new-test-XXXXXX";
    struct hone_task_new made;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_task_new_options options = *given;
    struct hone_task *task = NULL;
    char *naive = NULL;
    ck_assert_ptr_nonnull(mkdtemp(root));
    options.dir = hone_pool_printf(pool, "%s/pack", root);
    ck_assert_msg(hone_task_new(&options, pool, &made, &err) == 0, "%s: %s %s", options.source,
                  err.path, err.message);
    check_pack(options.dir, signature, false);
    ck_assert_int_eq(hone_task_load(options.dir, &task, &err), 0);
    ck_assert_int_eq(hone_task_naive(task, "cpu", &naive, NULL), 0);
    hone_task_free(task);
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    if (ret_notes)
        *ret_notes = made.notes;
    return naive;
}

static bool has_note(const struct hone_strs *notes, const char *text)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strstr(notes->v[i], text))
            return true;
    return false;
}

/* The planner reads the baseline: the loops have to stand in the task's function. */
START_TEST(the_baseline_holds_the_loops)
{
    static const struct {
        const char *source;
        const char *shapes[4], *scalars[2], *inouts[2];
        const char *signature;
        const char *wants[4];
        const char *never;
    } rows[] = {
        {"void add(int n, int m, float *y, const float *x) { for (int i = 0; i < n * m; i++) "
         "y[i] = x[i]; }",
         {"x[n,m]", "y[n,m]"},
         {NULL},
         {NULL},
         "void add(const float *x, float *y, int64_t n, int64_t m)",
         {"float *y, int64_t n_arg", "int n = (int)n_arg;", "int m = (int)m_arg;", "for (int i"},
         "_body"},
        {"#include <stddef.h>\nfloat top(size_t n, const float *restrict x)\n{ float result = "
         "x[0];\n"
         "if (n == 1) return result;\nfor (size_t i = 1; i < n; i++) if (x[i] > result) result = "
         "x[i];\nreturn result; }",
         {NULL},
         {NULL},
         {NULL},
         "void top(const float *x, float *result2, int64_t n)",
         {"const float *restrict x", "{ result2[0] = result; return; }", "result2[0] = result; }",
          "size_t n = (size_t)n_arg;"},
         "return result"},
        {"void scale(double *a, double s, long n) { for (long i = 0; i < n; i++) a[i] *= s; }",
         {NULL},
         {NULL},
         {NULL},
         "void scale(const double *a_in, double *a, double s, int64_t n)",
         {"memcpy(a, a_in, (size_t)(n) * sizeof(*a));", "a[i] *= s"},
         "_arg"},
        {"void border(const float *x, float *y, long n) { for (long i = 1; i < n - 1; i++) y[i] = "
         "x[i - 1] + x[i + 1]; }",
         {NULL},
         {NULL},
         {"y"},
         "void border(const float *x, const float *y_in, float *y, int64_t n)",
         {"memcpy(y, y_in"},
         NULL},
        {"long count(const char *s, int c, long n) { long k = 0; for (long i = 0; i < n; i++) k += "
         "s[i] == c; return k; }",
         {"s[n]"},
         {"c=7"},
         {NULL},
         "void count(const int8_t *s, int64_t *result, int32_t c, int64_t n)",
         {"const char *s = (const char *)s_arg;", "result[0] = k;"},
         "c_arg"},
        {"#define N 8\ntypedef float real;\nvoid rows(real a[][N], const real b[][N], int n) { "
         "for (int i = 0; i < n; i++) for (int j = 0; j < N; j++) a[i][j] = b[i][j]; }",
         {"a[n,N]", "b[n,N]"},
         {NULL},
         {NULL},
         "void rows(const float *b, float *a, int64_t n, int64_t SIZE1_8)",
         {"const real (*b)[N] = (const real (*)[N])b_arg;", "real (*a)[N] = (real (*)[N])a_arg;"},
         "_body"},
        {"long fib(long k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); }\n"
         "void each(const long *x, long *y, int n) { for (int i = 0; i < n; i++) y[i] = fib(x[i]); "
         "}",
         {NULL},
         {NULL},
         {NULL},
         "void each(const int64_t *x, int64_t *y, int64_t n)",
         {"return k < 2", "long fib(long k)"},
         "_body"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const char *shapes[4], *scalars[2], *inouts[2];
        memcpy(shapes, rows[i].shapes, sizeof(shapes));
        memcpy(scalars, rows[i].scalars, sizeof(scalars));
        memcpy(inouts, rows[i].inouts, sizeof(inouts));
        const struct hone_task_new_options options = {
            .source = rows[i].source,
            .function = strstr(rows[i].source, "each") ? "each" : NULL,
            .shapes = {shapes, count(shapes, 4)},
            .scalars = {scalars, count(scalars, 2)},
            .inouts = {inouts, count(inouts, 2)}};
        char *naive = naive_of(&options, rows[i].signature, NULL, pool);
        for (size_t k = 0; k < 4 && rows[i].wants[k]; k++)
            ck_assert_msg(strstr(naive, rows[i].wants[k]), "%s\nhas no %s", naive,
                          rows[i].wants[k]);
        ck_assert_msg(!rows[i].never || !strstr(naive, rows[i].never), "%s\nhas %s", naive,
                      rows[i].never);
        free(naive);
    }
}
END_TEST

/* A function that calls itself keeps its own parameters. */
START_TEST(recursion_is_wrapped)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const struct hone_task_new_options options = {
        .source = "float total(int n, const float *x) { return n == 1 ? x[0] : total(n / 2, x) + "
                  "total(n - n / 2, x + n / 2); }"};
    struct hone_strs notes;
    char *naive =
        naive_of(&options, "void total(const float *x, float *result, int64_t n)", &notes, pool);
    ck_assert_ptr_nonnull(strstr(naive, "result[0] = total_body(n, x);"));
    ck_assert_ptr_nonnull(strstr(naive, "int n = (int)n_arg;"));
    ck_assert(has_note(&notes, "wrapper"));
    free(naive);
}
END_TEST

/* What the function needs comes along, headers too; the rest stays at home. */
START_TEST(its_own_world_comes_along)
{
    static const char source[] =
        "#include <math.h>\n#include \"mine.h\"\n#include \"mine.h\"\n"
        "static const float weights[3] = {W0, 0.5f, 0.25f};\n"
        "static float dead(float x);\n"
        "/* #include \"none.h\" */\n"
        "static float tap(const float *x, int i)\n{\n    return TWICE(weights[i]) * x[i];\n}\n"
        "static float dead(float x) { return x; }\n"
        "void fir(int n, float *y, const float *x)\n{\n    for (int i = 0; i < n - 2; i++)\n"
        "        y[i] = tap(x + i, 0) + tap(x + i, 2);\n    y[n - 1] = y[n - 2] = 0;\n}\n"
        "int main(void) { return 0; }\n";
    char root[] = "/tmp/hone-new-test-XXXXXX";
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    ck_assert_ptr_nonnull(mkdtemp(root));
    const char *headers = hone_pool_printf(pool, "%s/include", root);
    ck_assert_int_eq(hone_mkdirs(headers, 0755, NULL), 0);
    static const char mine[] = "#pragma once\n#include <deep.h>\nvoid fir(int n, float *y, const "
                               "float *x);\n#define TWICE(x) twice(x)\n",
                      deep[] = "#ifndef DEEP\n#define DEEP\n#define W0 1.5f\nstatic inline float "
                               "twice(float x) { return 2 * x; }\n#endif\n";
    ck_assert_int_eq(hone_file_write(hone_pool_printf(pool, "%s/mine.h", root), mine, strlen(mine),
                                     0644, false, NULL),
                     0);
    ck_assert_int_eq(hone_file_write(hone_pool_printf(pool, "%s/deep.h", headers), deep,
                                     strlen(deep), 0644, false, NULL),
                     0);
    const char *dirs[] = {headers};
    struct hone_strs notes;
    const struct hone_task_new_options options = {
        .source = source, .source_dir = root, .include_dirs = {dirs, 1}};
    char *naive = naive_of(&options, "void fir(const float *x, float *y, int64_t n)", &notes, pool);
    ck_assert_ptr_null(strstr(naive, "dead"));
    ck_assert_ptr_null(strstr(naive, "main"));
    ck_assert_ptr_null(strstr(naive, "#include \"mine.h\""));
    ck_assert_ptr_null(strstr(naive, "void fir(int"));
    ck_assert_ptr_nonnull(strstr(naive, "twice(float x)"));
    ck_assert_ptr_null(strstr(strstr(naive, "twice(float x)") + 1, "twice(float x)"));
    ck_assert(has_note(&notes, "mine.h, deep.h"));
    ck_assert(has_note(&notes, "does not need it: dead, main"));
    free(naive);
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
}
END_TEST

/* A header that includes itself: at the limit and above it. */
START_TEST(headers_in_headers_end)
{
    for (int n = HONE_LIMIT_INCLUDE_DEPTH; n <= HONE_LIMIT_INCLUDE_DEPTH + 1; n++) {
        char root[] = "/tmp/hone-new-test-XXXXXX";
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_task_new made;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_ptr_nonnull(mkdtemp(root));
        for (int i = 1; i <= n; i++) {
            const char *text = i < n ? hone_pool_printf(pool, "#include \"h%d.h\"\n", i + 1) : "\n";
            ck_assert_int_eq(hone_file_write(hone_pool_printf(pool, "%s/h%d.h", root, i), text,
                                             strlen(text), 0644, false, NULL),
                             0);
        }
        const struct hone_task_new_options options = {
            .source = "#include \"h1.h\"\nvoid f(const float *x, float *y, long n) { for (long i = "
                      "0; i < n; i++) y[i] = x[i]; }",
            .source_dir = root,
            .dir = hone_pool_printf(pool, "%s/pack", root)};
        int code = hone_task_new(&options, pool, &made, &err);
        ck_assert_msg(code == (n > HONE_LIMIT_INCLUDE_DEPTH ? (int)HONE_E_LIMIT : 0), "%d: %d %s",
                      n, code, err.message);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

/* What the body does first with an array. */
START_TEST(accesses)
{
    static const struct {
        const char *body;
        enum hone_access want;
    } rows[] = {
        {"", HONE_ACCESS_NONE},
        {"a[0] = 1;", HONE_ACCESS_WRITE_FIRST},
        {"x = a[0];", HONE_ACCESS_READ},
        {"x = 2 * a[0] * a[1];", HONE_ACCESS_READ},
        {"x = *a;", HONE_ACCESS_READ},
        {"*a = 1;", HONE_ACCESS_WRITE_FIRST},
        {"a[0] += 1;", HONE_ACCESS_READ_FIRST},
        {"a[0]++;", HONE_ACCESS_READ_FIRST},
        {"++a[0];", HONE_ACCESS_READ_FIRST},
        {"a[0] <<= 1;", HONE_ACCESS_READ_FIRST},
        {"x = a[0] < a[1];", HONE_ACCESS_READ},
        {"x = a[0] == a[1];", HONE_ACCESS_READ},
        {"x = a[0] << 1;", HONE_ACCESS_READ},
        {"a[1] = a[0];", HONE_ACCESS_READ_FIRST},
        {"a[0] = 0; a[0] += 2;", HONE_ACCESS_WRITE_FIRST},
        {"x = a[0]; a[0] = 2;", HONE_ACCESS_READ_FIRST},
        {"memset(a, 0, n * sizeof(*a)); a[0] += 2;", HONE_ACCESS_WRITE_FIRST},
        {"memcpy(a, b, n * sizeof *a);", HONE_ACCESS_WRITE_FIRST},
        {"memcpy(b, a, n);", HONE_ACCESS_READ},
        {"g(a, n);", HONE_ACCESS_UNKNOWN},
        {"g(&a[1]); a[0] = 1;", HONE_ACCESS_UNKNOWN},
        {"a[0] = 1; g(a);", HONE_ACCESS_WRITE_FIRST},
        {"int *p = a + 1; *p = 2; p[1]++;", HONE_ACCESS_WRITE_FIRST},
        {"int *p = a, *q = p + 1; q[0] += p[0];", HONE_ACCESS_READ_FIRST},
        {"const int *p = a; x = p[0];", HONE_ACCESS_READ},
        {"int *p = a; g(p);", HONE_ACCESS_UNKNOWN},
        {"b.a[0] = 1; c->a[0] = 2;", HONE_ACCESS_NONE},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        const char *source = hone_pool_printf(
            pool, "void g(int *a) { a[0] = 1; }\nvoid f(int *a, int n) { %s }", rows[i].body);
        struct hone_prototype proto;
        ck_assert_int_eq(hone_prototype_parse(source, "f", pool, &proto, NULL), 0);
        ck_assert_msg(hone_prototype_access(source, &proto, "a", pool) == rows[i].want, "%s",
                      rows[i].body);
    }
}
END_TEST

/* The fake executor says right to every kernel, so the lint refuses: nothing is left. A task that is
 * made needs a real runner: tests/e2e/task_new_test.sh. */
START_TEST(making_a_task)
{
    struct bench b;
    bool is_error = false;
    bench_open(&b, NULL);
    struct hone_json *r =
        bench_call(&b, "task_new",
                   "{\"source\":\"void gate(float *y, const float *x, int n)"
                   " { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\",\"sizes\":[\"n=5000\"]}",
                   &is_error);
    ck_assert(is_error);
    ck_assert_str_eq(hone_json_get_str(r, "task", ""), "gate");
    ck_assert_uint_gt(hone_json_size(hone_json_get(r, "findings")), 0);
    ck_assert_uint_gt(hone_json_size(hone_json_get(r, "notes")), 0);
    bench_refused(&b, "task_show", "{\"task\":\"gate\"}", "gate");
    bench_refused(&b, "task_new", "{\"source\":\"int x;\"}", "no definition");
    bench_refused(&b, "task_new", "{\"source\":\"x\",\"name\":\"../x\"}", "no task name");
    bench_close(&b);
}
END_TEST

/* A reference that is a function has the task's parameters, or the pack's oracle would not compile. */
START_TEST(references_of_cuda)
{
    static const struct {
        const char *reference, *message; /* NULL: taken */
    } table[] = {
        {"ITEM(item) { PUT_y(item, x(item)); }", NULL},
        {"void twice(const float *x, float *y, float a, int64_t n) { y[0] = x[n - 1] * a; }", NULL},
        {"void twice(int n, float a, const float *x, float *y) { y[0] = x[n - 1] * a; }",
         "void twice(const float *x, float *y, float a, int64_t n)"},
        {"void twice(const float *x, float *y, float a, int n) { y[0] = x[n - 1] * a; }",
         "other parameters than the task"},
        {"void other(const float *x, float *y, float a, int64_t n) { }", "nor a function 'twice'"},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        char root[] = "/tmp/hone-new-test-XXXXXX";
        struct hone_err err = HONE_ERR_INIT;
        struct hone_task_new made;
        ck_assert_ptr_nonnull(mkdtemp(root));
        const struct hone_task_new_options options = {
            .source =
                "__global__ void k(const float *x, float *y, float a, int n)\n"
                "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i]; "
                "}\n"
                "void twice(const float *x, float *y, float a, int n, cudaStream_t s)\n"
                "{ k<<<(n + 255) / 256, 256, 0, s>>>(x, y, a, n); }\n",
            .is_cuda = true,
            .reference = table[i].reference,
            .dir = hone_pool_printf(pool, "%s/pack", root)};
        int code = hone_task_new(&options, pool, &made, &err);
        ck_assert_msg(code == (table[i].message ? HONE_E_ARG : 0), "row %zu: %s", i, err.message);
        if (table[i].message)
            ck_assert_msg(strstr(err.message, table[i].message), "row %zu: %s", i, err.message);
        ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
    }
}
END_TEST

UNIT_MAIN("task_new", references_of_cuda, the_baseline_holds_the_loops, recursion_is_wrapped,
          its_own_world_comes_along, headers_in_headers_end, accesses, bytes_are_not_bools,
          packs_work_at_once, sparse_with_roles, tolerances_have_an_absolute_part,
          numbers_alone_become_inputs, options_take_the_users_names, unknown_names_are_told,
          bad_sources_are_explained, making_a_task, rename_leaves_comments_and_strings)
