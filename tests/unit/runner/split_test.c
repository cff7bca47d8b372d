/* SPDX-License-Identifier: Apache-2.0 */
/* Host text and device text: what each keeps, what is rewritten, what is refused, and that lines
 * stay. tests/launchers (record_test.c) does it with compilers. */
#include "tools/runner/cuda/split/split.h"

#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/buf.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define POOL HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new()
#define K    "__global__ void k(float *a, int n) { a[0] = n; }\n"

static struct hone_split split(const char *source, struct hone_pool *pool)
{
    struct hone_split ret;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_split(source, strlen(source), pool, &ret, &err) == 0, "%s: %s", source,
                  err.message);
    return ret;
}

static size_t lines(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

/* Text that must (+) or must not (-) be in the host (h) or device (d) half. */
static const struct {
    const char *source;
    const char *tells[9];
} rows[] = {
    {K "void f(float *p) { k<<<1, 2>>>(p, 3); }",
     {"+h(::hone_conf(1, 2), k(::hone_arg(0, \"p\", p), 3));",
      "+h::hone_stub(hone_here(), \"float *a|int n\", a, n);", "-h a[0] = n", "+da[0] = n",
      "-dvoid f"}},
    {K "void f() { ns::t<(1 > 2), 3>::k<4><<<g, b, s, st>>>(); }",
     {"+h(::hone_conf(g, b, s, st), ns::t<(1 > 2), 3>::k<4>());"}},
    {K "void f() { if (x) return k<<<1, 1>>>(0, 0); this->m[3].k<<<2, 2>>>(); (*p)<<<3, 3>>>(); }",
     {"+hreturn (::hone_conf(1, 1), k(0, 0));", "+h(::hone_conf(2, 2), this->m[3].k());",
      "+h(::hone_conf(3, 3), (*p)());"}},
    {"#define L(k, ...) k<<<1, \\\n 2>>>(__VA_ARGS__)\n" K,
     {"+h#define L(k, ...) (::hone_conf(1, \\\n 2), k(__VA_ARGS__))", "+dk<<<1, \\\n 2>>>"}},
    {"__device__ int d(int x) { return x; }\n__host__ __device__ int hd() { return 1; }\n"
     "constexpr int c(int x) { return x; }\nint h() { return 2; }\n",
     {"-hd(int x)", "+hhd() { return 1; }", "+hc(int x)", "+hint h()", "+dd(int x)", "+dhd()",
      "+dc(int x)", "-dint h()"}},
    {"int used(int x) { return x; }\nint launches() { cudaFree(0); return 1; }\n"
     "__global__ void k() { used(launches()); }",
     {"+dint used", "-dint launches", "+hint used", "+hint launches"}},
    {"struct H { std::vector<int> v; };\nstruct P { int n; };\nstruct U { cudaStream_t s; int n; "
     "};\n"
     "__global__ void k(U u);\n",
     {"-dstruct H", "+dstruct P", "+dstruct U", "+hstruct H"}},
    {"struct M { int n; void go(cudaStream_t s) { n = 1; } __device__ int get() { return n; } };\n",
     {"+dstruct M { int n;", "-dgo(cudaStream_t", "+dget()", "+hgo(cudaStream_t", "-hget()"}},
    {"#include <vector>\n#include <cooperative_groups.h>\n#include \"cuda/barrier\"\nint x;\n",
     {"+h#include <vector>", "-hcooperative_groups", "-hcuda/barrier",
      "+d#include <cooperative_groups.h>"}},
    {"namespace cg = cooperative_groups;\nusing T = cg::thread_block;\n__constant__ int table[3] = "
     "{1};\n"
     "extern __shared__ char s[];\n",
     {"+hnamespace cg", "-husing T", "+h__constant__ int table", "-h__shared__", "+dusing T",
      "+d__shared__"}},
    {"__global__ void __launch_bounds__(1, 2) k(const int *, float (&x)[4], int (*f)(int), T<1, 2> "
     "y = T<1, 2>())\n{\n int z;\n}",
     {"+hconst int * hone_p1,", "+h hone_p1, x, f, y);", "-hint z"}},
    {"template <typename... A> __global__ void k(A... a) {}", {"+h, a...);"}},
    {"__global__ void k(void) {}", {"+hhone_here(), \"\");"}},
    {"#define D(n) __global__ void n##_k(float *p) { p[0] = 1; } void n(float *p) { n##_k<<<1, "
     "1>>>(p); }\nD(a)\n",
     {"+hn##_k(float *p) { ::hone_stub(", "+h(::hone_conf(1, 1), n##_k(p));", "-dvoid n(float",
      "+dp[0] = 1", "+dD(a)"}},
    {"#define ONLY(n) void n() { k<<<1, 1>>>(); }\nONLY(a)\n" K, {"+hONLY(a)", "-d\nONLY(a)"}},
    {"const char *a = \"k<<<1>>>(\", b = '<', *c = R\"x(k<<<1>>>())x\"; // k<<<\n/* k<<<1>>>() */ "
     "int d = 1'000;\n",
     {"+h\"k<<<1>>>(\"", "+h'<'", "+hR\"x(k<<<1>>>())x\"; // k<<<"}},
    {"#if 0\nk<<<\n{{{\n#else\nconst int y = 1;\n#endif\n",
     {"+hconst int y", "+dconst int y", "+h{{{"}},
    {"struct C { C(int a) : x(a), y{a} { z(); } int x, y; C &operator=(const C &c) { return *this; "
     "} };\n",
     {"+h: x(a), y{a} { z(); }", "+d{ return *this; }"}},
    {"__global__ void k() {\n#define INNER 3\n int x;\n}\n", {"+h\n#define INNER 3\n", "-hint x"}},
    {"using namespace std;\nusing namespace nvcuda;\n",
     {"+husing namespace std", "-dusing namespace std", "+dusing namespace nvcuda"}},
};

START_TEST(halves)
{
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        POOL;
        struct hone_split s = split(rows[i].source, pool);
        ck_assert_uint_eq(lines(s.host), lines(rows[i].source));
        ck_assert_uint_eq(strlen(s.device), strlen(rows[i].source));
        for (const char *const *tell = rows[i].tells; *tell != NULL; tell++) {
            const char *text = (*tell)[1] == 'h' ? s.host : s.device;
            bool is_there = strstr(text, *tell + 2) != NULL;
            ck_assert_msg(is_there == ((*tell)[0] == '+'), "%s\n%s\n---\n%s", *tell, rows[i].source,
                          text);
        }
    }
}
END_TEST

static const struct {
    const char *source, *message;
} wrong[] = {
    {"int x;\n/* open", "line 2: a comment"},
    {"\"open\n", "line 1: a string"},
    {"R\"x(open", "line 1: a raw string"},
    {"void f() {\n", "line 1: the bracket here has no end"},
    {"int x;\n}\n", "line 2: a closing bracket"},
    {K "void f() {\n k<<<1, 1>>>;\n}", "line 3: no >>>(arguments)"},
    {K "void f() {\n ;<<<1, 1>>>();\n}", "line 3: what stands in front of <<<"},
    {K "void f() {\n k<<<1, 2, 3, 4, 5>>>();\n}", "line 3: <<<...>>> has 5 arguments"},
    {K "void f() {\n k<<<1, , 2>>>();\n}", "line 3: <<<...>>> has an empty argument"},
    {K "__global__ void p() {\n k<<<1, 1>>>(0, 0);\n}",
     "line 3: 'p' runs on the device and launches"},
    {"template <int T\nvoid f() {}", "line 1: the template's parameters have no end"},
    {"int x", "line 1: this declaration has no end"},
    {"#define K __global__ void k\nK\n{ }\n", ""},
};

START_TEST(refused_with_the_line)
{
    for (size_t i = 0; i < HONE_COUNTOF(wrong); i++) {
        POOL;
        struct hone_split s;
        struct hone_err err = HONE_ERR_INIT;
        int rc = hone_split(wrong[i].source, strlen(wrong[i].source), pool, &s, &err);
        ck_assert_msg(rc == HONE_E_ARG, "accepted: %s\n%s", wrong[i].source, rc == 0 ? s.host : "");
        ck_assert_msg(strstr(err.message, wrong[i].message) != NULL, "%s\n%s", wrong[i].source,
                      err.message);
    }
    POOL;
    struct hone_split s;
    HONE_AUTOFREE char *big = hone_malloc(HONE_LIMIT_SOURCE_BYTES + 2);
    memset(big, '\n', HONE_LIMIT_SOURCE_BYTES + 1);
    ck_assert_int_eq(hone_split(big, HONE_LIMIT_SOURCE_BYTES, pool, &s, NULL), 0);
    ck_assert_int_eq(hone_split(big, HONE_LIMIT_SOURCE_BYTES + 1, pool, &s, NULL), HONE_E_LIMIT);
    ck_assert_int_eq(hone_split("a\0b", 3, pool, &s, NULL), HONE_E_ARG);
}
END_TEST

START_TEST(told)
{
    POOL;
    struct hone_split s =
        split("#define TILE 8\n#ifndef WIDE\n#define WIDE 4\n#endif\nconstexpr int DEEP = 3;\n"
              "#include <cuda_fp16.h>\n" K
              "template <int T> static __global__ void t(int a, int b = 1) {}\n"
              "void f() {\n t<TILE><<<1, 1>>>(1);\n k<<<1, 1>>>(a, b, c); }\n",
              pool);
    const struct hone_split_kernel *kernels = s.kernels.v;
    const struct hone_split_launch *launches = s.launches.v;
    ck_assert_uint_eq(s.kernels.n, 2);
    ck_assert_str_eq(kernels[1].name, "t");
    ck_assert(kernels[1].is_template && kernels[1].is_static && !kernels[0].is_template);
    ck_assert_int_eq(kernels[1].line, 8);
    ck_assert_uint_eq(s.launches.n, 2);
    ck_assert_str_eq(launches[0].text, "t<TILE>");
    ck_assert_str_eq(launches[0].kernel, "t");
    ck_assert_int_eq(launches[0].line, 10);
    ck_assert_ptr_null(hone_split_explain(&s, 10, "error: too few arguments to function", pool));
    ck_assert_str_eq(hone_split_explain(&s, 11, "error: too many arguments to function", pool),
                     "k has 2 parameters, 3 arguments given");
    struct hone_tunable tile = {"TILE", 8}, wide = {"WIDE", 8}, deep = {"DEEP", 8};
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_lt(hone_split_check_tunables(&s, &(struct hone_array){&tile, 1}, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.message, "line 1 defines TILE"));
    ck_assert_int_eq(hone_split_check_tunables(&s, &(struct hone_array){&wide, 1}, &err), 0);
    ck_assert_int_lt(hone_split_check_tunables(&s, &(struct hone_array){&deep, 1}, &err), 0);
}
END_TEST

START_TEST(needs_nvcc)
{
    static const struct {
        const char *source, *why;
    } cases[] = {{"void f() { cub::DeviceScan::Sum(); }", "cub::DeviceScan in the launcher"},
                 {"__global__ void k() { cub::BlockReduce<int, 4> b; }", NULL},
                 {"void f() { auto l = [=] __device__(int i) { return i; }; }",
                  "a lambda for the device in the launcher"},
                 {"void f() { cublasSgemm(h); }", "cublasSgemm in the launcher"}};
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        POOL;
        struct hone_split s = split(cases[i].source, pool);
        if (cases[i].why == NULL)
            ck_assert_ptr_null(s.needs_nvcc);
        else
            ck_assert_str_eq(s.needs_nvcc, cases[i].why);
    }
}
END_TEST

START_TEST(lines_stay)
{
    POOL;
    const char **names = NULL;
    size_t n = 0;
    if (hone_list_dir("tests/launchers", pool, &names, &n, NULL) < 0)
        return; /* not run from the root of the tree */
    for (size_t i = 0; i < n; i++) {
        HONE_AUTOFREE char *path = hone_path_join("tests/launchers", names[i], NULL);
        HONE_AUTOFREE char *source = NULL;
        size_t len = 0;
        struct hone_split s;
        ck_assert_int_eq(hone_file_read(path, 1 << 20, &source, &len, NULL), 0);
        if (hone_split(source, len, pool, &s, NULL) < 0)
            continue;
        ck_assert_msg(lines(s.host) == lines(source) && lines(s.device) == lines(source), "%s",
                      names[i]);
    }
}
END_TEST

/* Sources that would take minutes if every use of a macro were followed to its end. */
START_TEST(macros_of_macros)
{
    POOL;
    HONE_CLEANUP(hone_buf_done) struct hone_buf source = HONE_BUF_INIT;
    hone_buf_str(&source, "#define A0 x __device__\n");
    for (int i = 1; i < 8; i++) {
        hone_buf_printf(&source, "#define A%d", i);
        for (int k = 0; k < 16; k++)
            hone_buf_printf(&source, " A%d", i - 1);
        hone_buf_str(&source, "\n");
    }
    hone_buf_str(&source,
                 "#define LOOP LOOP A1\nA7 int f(int a) { return a; }\nLOOP int g() { }\n");
    struct hone_split s = split(source.data, pool);
    ck_assert_ptr_nonnull(strstr(s.device, "return a;"));
}
END_TEST

UNIT_MAIN("split", halves, refused_with_the_line, told, needs_nvcc, lines_stay, macros_of_macros)
