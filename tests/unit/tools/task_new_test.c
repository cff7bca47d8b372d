/* SPDX-License-Identifier: Apache-2.0 */
/* Scaffolding: from functions as people write them to packs that load, compile and describe the
 * right signature. */
#include <string.h>
#include <unistd.h>
#include "tests/unit/unit.h"
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
     .signature =
         "void mm(const float *A, const float *B, float *C, int64_t M, int64_t N, int64_t K)"},
    {.source = "/* float dot(void) {} */\nfloat dot(const float *restrict a, float const *b, "
               "unsigned long n)\n"
               "{ float s = 0; for (unsigned long i = 0; i < n; i++) s += a[i]*b[i]; return s; }",
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
     .signature = NULL /* needs x and y: see below */},
    {.source = "void first(const float *x, float *out, long n) { out[0] = x[n - 1]; }",
     .shapes = {"x[n]", "out[]"},
     .signature = "void first(const float *x, float *out, int64_t n)"},
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

static void check_pack(const char *dir, const char *signature)
{
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    char *naive = NULL, *oracle = NULL;
    ck_assert_msg(hone_task_load(dir, &task, &err) == 0, "%s %s", err.path, err.message);
    char *got = hone_task_signature(task), *preamble = hone_task_oracle_preamble(task);
    ck_assert_str_eq(got, signature);
    ck_assert(task->is_oracle_naive_double);
    ck_assert_int_eq(hone_task_naive(task, "cpu", &naive, NULL), 0);
    ck_assert_int_eq(hone_task_oracle_source(task, &oracle, NULL), 0);
    compiles("", naive);
    compiles(preamble, oracle);
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
        if (good[i].signature) {
            ck_assert_msg(code == 0, "%zu: %s %s", i, err.path, err.message);
            check_pack(dir, good[i].signature);
            struct hone_lint lint;
            ck_assert_int_eq(hone_lint_pack(dir, NULL, pool, &lint, NULL), 0);
            char *text = hone_lint_text(&lint);
            ck_assert_msg(lint.is_admitted, "%s", text);
            ck_assert_ptr_nonnull(strstr(text, "the reference is the kernel itself"));
            free(text);
            ck_assert_int_eq(make(i, dir, pool, &err), HONE_E_EXISTS);
        } else {
            ck_assert_int_eq(code, HONE_E_ARG);
            ck_assert_msg(strstr(err.message, "'x'") != NULL, "%s", err.message);
            ck_assert(!hone_file_exists(dir));
        }
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
    check_pack(dir, "void csr(const int32_t *rows, const int32_t *cols, const float *v, const "
                    "float *x, float *y, int64_t m, "
                    "int64_t n, int64_t nnz, int64_t SIZE3)");
    hone_pool_free(pool);
    free(dir);
    ck_assert_int_eq(hone_remove_tree(root, NULL), 0);
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
        {"void f(float *x, float *y, int n) {}", NULL, "const", HONE_E_ARG},
        {"void f(const float *x, int n) {}", NULL, "no output", HONE_E_ARG},
        {"void f(const float *x, float *y, int n, int m) {}", NULL, "shape of 'x'", HONE_E_ARG},
        {"void f(const float *x, float *y, int n) {}", "z[n]", "names no parameter", HONE_E_ARG},
        {"void f(const float *x, float *y, int n) {}", "x[n", "write x[M,K]", HONE_E_ARG},
        {"void f(const float *x, float *y, int n) {}", "x[q]", "'q'", HONE_E_ARG},
        {"void f(const float **x, float *y, int n) {}", NULL, "pointer to a pointer", HONE_E_ARG},
        {"void f(const struct s *x, float *y, int n) {}", NULL, "type", HONE_E_ARG},
        {"\n\nvoid f(const float *x, float *y, int (*n)(int)) {}", NULL, "line 3", HONE_E_ARG},
        {"void f(const float *x, float *y, int n, ...) {}", NULL, "not understood", HONE_E_ARG},
        {"void while_(const float *x, float *while1, int hone_n) {}", NULL, "reserved", HONE_E_ARG},
        {"float *f(const float *x, float *y, int n) {}", NULL, "returns a pointer", HONE_E_ARG},
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
    } rows[] = {{"uint8_t", HONE_DTYPE_U8},
                {"unsigned char", HONE_DTYPE_U8},
                {"int8_t", HONE_DTYPE_I8},
                {"bool", HONE_DTYPE_BOOL},
                {"_Bool", HONE_DTYPE_BOOL}};
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

UNIT_MAIN("task_new", bytes_are_not_bools, packs_work_at_once, sparse_with_roles,
          bad_sources_are_explained, rename_leaves_comments_and_strings)
