/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling in the jail: every typed reason, line numbers, the cache, and what a hostile source
 * finds. Needs a C compiler and a working jail rung, like hone itself. */
#include "tools/runner/build/build.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tools/format/options.h"
#include "tools/runner/build/build_diag.h"
#include "tools/runner/binary/build_elf.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

static const char good[] = "void kernel(const float *a, float *c, long n)\n"
                           "{\n"
                           "#pragma omp parallel for\n"
                           "    for (long i = 0; i < n; i++)\n"
                           "        c[i] = SCALE * a[i];\n"
                           "}\n";

static char scratch[] = "/tmp/hone-build-test-XXXXXX";

struct fixture {
    struct hone_pool *pool;
    struct hone_build_request req;
    struct hone_build out;
    char *cache;
};

static struct fixture *setup(const char *source)
{
    struct fixture *f = hone_calloc(1, sizeof(*f));
    memcpy(scratch + sizeof(scratch) - sizeof("XXXXXX"), "XXXXXX", sizeof("XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(scratch));
    f->pool = hone_pool_new();
    f->cache = hone_path_join(scratch, "cache", NULL);
    f->req = (struct hone_build_request){.arm = "candidate",
                                         .prologue = "enum { SCALE = 2 };\n",
                                         .source = source,
                                         .symbol = "kernel",
                                         .rung = "auto",
                                         .scratch_dir = scratch,
                                         .deadline_ns = hone_deadline_in_ms(60000)};
    return f;
}

static void teardown(struct fixture *f)
{
    ck_assert_int_eq(hone_remove_tree(scratch, NULL), 0);
    free(f->out.object_path);
    free(f->cache);
    hone_pool_free(f->pool);
    free(f);
}

static enum hone_reason run(struct fixture *f)
{
    struct hone_err err = HONE_ERR_INIT;
    free(f->out.object_path);
    f->out.object_path = NULL;
    int rc = hone_build_run(&f->req, f->pool, &f->out, &err);
    ck_assert_msg(rc == 0, "%s", err.message);
    ck_assert(f->out.reason == HONE_REASON_BUILT ? f->out.object_path != NULL
                                                 : f->out.object_path == NULL);
    return f->out.reason;
}

static const struct hone_diagnostic *diagnostic(const struct fixture *f, size_t i)
{
    ck_assert_msg(i < f->out.report.diagnostics.n, "no diagnostic; log: %s", f->out.report.log);
    return (const struct hone_diagnostic *)f->out.report.diagnostics.v + i;
}

#define ck_assert_reason(f, want)                                                                  \
    do {                                                                                           \
        enum hone_reason got_ = run(f);                                                            \
        ck_assert_msg(got_ == (want), "reason %s, log: %s", hone_reason_row(got_)->word,           \
                      f->out.report.log == NULL ? "" : f->out.report.log);                         \
    } while (0)

START_TEST(builds)
{
    struct fixture *f = setup(good);
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert(!f->out.report.is_cached);
    ck_assert_ptr_nonnull(strstr(f->out.report.command, "-O3 -march=native"));
    for (const char *const *o = hone_options_of_objects(); *o != NULL; o++) /* of exported files */
        ck_assert_msg(strstr(f->out.report.command, *o) != NULL, "%s", *o);
    ck_assert_ptr_null(strstr(f->out.report.command, scratch));
    ck_assert_msg(strncmp(f->out.report.compiler, "gcc ", 4) == 0 ||
                      strncmp(f->out.report.compiler, "clang ", 6) == 0,
                  "%s", f->out.report.compiler);
    struct stat info;
    ck_assert_int_eq(stat(f->out.object_path, &info), 0);
    ck_assert_int_eq(info.st_size, f->out.report.object_bytes);
    ck_assert_uint_eq(info.st_uid, geteuid());
    (void)printf("# jailed compile: %.0f ms on %s\n", (double)f->out.report.wall_ns / 1e6,
                 f->out.rung);
    /* Our own source, so loading it here is fine; hone itself never does. */
    void *object = dlopen(f->out.object_path, RTLD_NOW);
    ck_assert_msg(object != NULL, "%s", dlerror());
    void (*kernel)(const float *, float *, long) = NULL;
    *(void **)&kernel = dlsym(object, "kernel");
    float a[3] = {1, 2, 3};
    float c[3] = {0, 0, 0};
    kernel(a, c, 3);
    ck_assert(c[2] == 6.0f);
    /* Not closed: libgomp's threads would lose their code. */
    teardown(f);
}
END_TEST

START_TEST(errors_have_the_source_s_lines)
{
    struct fixture *f =
        setup("int first;\nvoid kernel(void)\n{\n    return undeclared_thing;\n}\n");
    f->req.prologue = "enum { A = 1 };\nenum { B = 2 };\nenum { C = 3 };\n";
    ck_assert_reason(f, HONE_REASON_COMPILE);
    const struct hone_diagnostic *first = diagnostic(f, 0);
    ck_assert_int_eq(first->severity, HONE_SEVERITY_ERROR);
    ck_assert_str_eq(first->arm, "candidate");
    ck_assert_int_eq(first->line, 4);
    ck_assert_int_gt(first->column, 1);
    ck_assert_ptr_nonnull(strstr(first->message, "undeclared_thing"));
    ck_assert_ptr_nonnull(strstr(first->context, "4> "));
    ck_assert_ptr_nonnull(strstr(first->context, "    3"));
    teardown(f);
}
END_TEST

START_TEST(warnings_come_after_errors)
{
    struct fixture *f = setup("void kernel(void) { int unused; }\nvoid g(void) { x; }\n");
    ck_assert_reason(f, HONE_REASON_COMPILE);
    ck_assert_int_eq(diagnostic(f, 0)->severity, HONE_SEVERITY_ERROR);
    ck_assert_int_eq(diagnostic(f, 0)->line, 2);
    teardown(f);
}
END_TEST

static char *code_of(const char *source)
{
    struct fixture *f = setup(source);
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert_ptr_nonnull(f->out.report.code);
    char *code = hone_strdup(f->out.report.code);
    teardown(f);
    return code;
}

struct code_case {
    const char *a, *b;
    bool is_same;
};

static const struct code_case code_cases[] = {
    {"void kernel(float *y) { *y = 3; }", "/* . */ void kernel(float *x)\n{\n *x = 1 + 2; }", true},
    {"void kernel(float *y) { *y = 3; }", "void kernel(float *y) { *y = 4; }", false},
    {"float cosf(float); void kernel(float *y) { *y = cosf(*y); }",
     "float sinf(float); void kernel(float *y) { *y = sinf(*y); }", false},
    {"__attribute__((section(\"mine\"))) float t[4] = {1}; void kernel(float *y) { *y = t[0]; }",
     "__attribute__((section(\"mine\"))) float t[4] = {2}; void kernel(float *y) { *y = t[0]; }",
     false},
};

START_TEST(code_has_a_word)
{
    for (size_t i = 0; i < HONE_COUNTOF(code_cases); i++) {
        const struct code_case *c = &code_cases[i];
        HONE_AUTOFREE char *a = code_of(c->a), *b = code_of(c->b);
        ck_assert_msg((strcmp(a, b) == 0) == c->is_same, "%s: %s %s", c->b, a, b);
    }
}
END_TEST

struct reason_case {
    const char *source;
    enum hone_reason want;
};

static const struct reason_case reason_cases[] = {
    {"static void kernel(void) {} void other(void) { kernel(); }", HONE_REASON_NO_SYMBOL},
    {"__attribute__((visibility(\"hidden\"))) void kernel(void) {}", HONE_REASON_NO_SYMBOL},
    {"int kernel;", HONE_REASON_NO_SYMBOL},
    {"void not_there(void); void kernel(void) { not_there(); }", HONE_REASON_LINK},
    {"__asm__(\"nonsense %eax\"); void kernel(void) {}", HONE_REASON_COMPILE},
    {"#error stop\n", HONE_REASON_COMPILE},
    {"#error Bad system call signal\n", HONE_REASON_COMPILE},
    {"#error out of memory: File size limit exceeded, file truncated\n", HONE_REASON_COMPILE},
    {"#pragma GCC error \"x\\ngcc: internal compiler error: Bad system call signal terminated "
     "program cc1\\nPlease submit a full bug report\\nSee <file:///>\"\n",
     HONE_REASON_COMPILE},
    {"#pragma message \"x\\ncc1: out of memory allocating 1 bytes after a total of 2 bytes\"\n"
     "void not_there(void); void kernel(void) { not_there(); }",
     HONE_REASON_LINK},
    {"void bad(void) __asm__(\"a\\nld: final link failed: File truncated\");\n"
     "void kernel(void) { bad(); }",
     HONE_REASON_COMPILE},
    {"__asm__(\".data\\n.space 1000000000,1\"); void kernel(void) {}", HONE_REASON_TOO_LARGE},
    {"__attribute__((used)) static char big[40 << 20] = {1}; void kernel(void) {}",
     HONE_REASON_TOO_LARGE},
    {"", HONE_REASON_NO_SYMBOL},
};

START_TEST(typed_reasons)
{
    struct fixture *f = setup(good);
    for (size_t i = 0; i < HONE_COUNTOF(reason_cases); i++) {
        f->req.source = reason_cases[i].source;
        ck_assert_reason(f, reason_cases[i].want);
    }
    teardown(f);
}
END_TEST

/* What a source may not read. Each of these compiles when the file is there. */
START_TEST(host_files_are_not_there)
{
    static const char *const sources[] = {
        "const char a[] =\n#include \"/etc/passwd\"\n;void kernel(void) {}",
        "__asm__(\".incbin \\\"/etc/passwd\\\"\"); void kernel(void) {}",
        "__asm__(\".incbin \\\"/etc/shadow\\\"\"); void kernel(void) {}",
        "__asm__(\".incbin \\\"/proc/self/environ\\\"\"); void kernel(void) {}",
        "#if !__has_include(\"/etc/passwd\") && !__has_include(\"/etc/hostname\")\n#error "
        "gone\n#endif\nvoid kernel(void) {}",
    };
    struct fixture *f = setup(good);
    for (size_t i = 0; i < HONE_COUNTOF(sources); i++) {
        f->req.source = sources[i];
        ck_assert_reason(f, HONE_REASON_COMPILE);
    }
    teardown(f);
}
END_TEST

START_TEST(deadline)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf source = HONE_BUF_INIT;
    hone_buf_str(&source, "#define A0 x++;\n");
    for (int i = 1; i < 28; i++)
        hone_buf_printf(&source, "#define A%d A%d A%d\n", i, i - 1, i - 1);
    hone_buf_str(&source, "void kernel(int *p) { int x = *p; A27 *p = x; }\n");
    struct fixture *f = setup(source.data);
    f->req.deadline_ns = hone_deadline_in_ms(400);
    int64_t before = hone_now_ns();
    ck_assert_reason(f, HONE_REASON_COMPILE_TIMEOUT);
    ck_assert_int_lt(hone_now_ns() - before, 3 * HONE_NS_PER_S);
    teardown(f);
}
END_TEST

START_TEST(bad_flags)
{
    static const char *const bad[] = {"-fplugin=/tmp/x.so",
                                      "-B/tmp",
                                      "@file",
                                      "-I/etc",
                                      "-include",
                                      "/etc/passwd",
                                      "-Wl,-rpath,/tmp",
                                      "-specs=x",
                                      "-wrapper",
                                      "-o",
                                      "-x",
                                      "-fprofile-use=/etc/passwd",
                                      "-fdump-tree-all"};
    struct fixture *f = setup(good);
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        const char *const flags[] = {bad[i], NULL};
        f->req.flags = flags;
        ck_assert_msg(run(f) == HONE_REASON_BAD_FLAG, "%s was accepted", bad[i]);
        ck_assert_ptr_nonnull(strstr(f->out.report.log, bad[i]));
    }
    const char *const fine[] = {"-Ofast", "-funroll-loops", "-mprefer-vector-width=256", NULL};
    f->req.flags = fine;
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert_uint_eq(f->out.report.diagnostics.n, 0); /* -Ofast's own constructor is no finding */
    ck_assert_ptr_nonnull(strstr(f->out.report.command, "-Ofast"));
    teardown(f);
}
END_TEST

START_TEST(constructors_are_reported)
{
    struct fixture *f = setup("int x; __attribute__((constructor)) static void early(void) { x = "
                              "1; }\nvoid kernel(void) {}\n");
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert_ptr_nonnull(strstr(diagnostic(f, 0)->message, "constructors"));
    teardown(f);
}
END_TEST

START_TEST(cache)
{
    struct fixture *f = setup(good);
    f->req.cache_dir = f->cache;
    f->req.want_remarks = true;
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert(!f->out.report.is_cached);
    size_t n_remarks = f->out.remarks.n;
    ck_assert_uint_ge(n_remarks, 1);
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert(f->out.report.is_cached);
    ck_assert_uint_eq(f->out.remarks.n, n_remarks);
    f->req.prologue = "enum { SCALE = 3 };\n";
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert(!f->out.report.is_cached);
    f->req.symbol = "other";
    ck_assert_reason(f, HONE_REASON_NO_SYMBOL);
    f->req.symbol = "kernel";
    /* Cut every object short: the entries count as absent. */
    HONE_AUTOFREE char *cut =
        hone_sprintf("for f in %s/*/*.object; do echo broken > $f; done", f->cache);
    ck_assert_int_eq(system(cut), 0);
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert(!f->out.report.is_cached);
    teardown(f);
}
END_TEST

START_TEST(remarks_by_loop)
{
    static const char text[] =
        "k.c:16:24: missed: couldn't vectorize loop\n"
        "k.c:17:17: missed: not vectorized: no vectype for stmt: _43 = *_42;\n"
        " scalar_type: float\n"
        "k.c:10:14: missed: couldn't vectorize loop\n"
        "k.c:10:14: missed: not vectorized: control flow in loop.\n"
        "k.c:3:24: optimized: loop vectorized using 32 byte vectors\n"
        "k.c:3:24: optimized:  loop versioned for vectorization because of possible aliasing\n"
        "k.c:3:24: optimized: loop vectorized using 16 byte vectors\n"
        "other.h:3:24: optimized: loop vectorized using 16 byte vectors\n"
        "k.c:11:16: missed: statement clobbers memory: _22 = expf (_19);\n";
    struct hone_pool *pool = hone_pool_new();
    struct hone_array got;
    hone_diag_remarks(text, "k.c", pool, &got);
    const struct hone_remark *list = got.v;
    ck_assert_uint_eq(got.n, 3);
    ck_assert_int_eq(list[0].line, 3);
    ck_assert_int_eq(list[0].kind, HONE_REMARK_VECTORIZED);
    ck_assert_str_eq(list[0].message, "loop vectorized using 32 byte vectors");
    ck_assert_int_eq(list[1].line, 10);
    ck_assert_str_eq(list[1].message, "not vectorized: control flow in loop.");
    ck_assert_int_eq(list[2].line, 16);
    ck_assert_ptr_nonnull(strstr(list[2].message, "(line 17)"));
    hone_pool_free(pool);
}
END_TEST

/* Who was ended by what is said by the driver, in its last lines; all others are the source's. */
START_TEST(endings_of_tools)
{
    static const struct {
        const char *text;
        bool is_killed, is_big, is_out;
    } cases[] = {
        {"gcc: internal compiler error: Bad system call signal terminated program cc1\n"
         "Please submit a full bug report, with preprocessed source (by using -freport-bug).\n"
         "See <file:///usr/share/doc/gcc-12/README.Bugs> for instructions.\n",
         true, false, false},
        {"gcc: internal compiler error: File size limit exceeded signal terminated program as\n"
         "Please submit a full bug report.\nSee <file:///> for instructions.\n",
         false, true, false},
        {"collect2: fatal error: ld terminated with signal 25 [File size limit exceeded]\n"
         "compilation terminated.\n",
         false, true, false},
        {"/usr/bin/ld: final link failed: No space left on device\n"
         "collect2: error: ld returned 1 exit status\n",
         false, true, false},
        {"\ncc1: out of memory allocating 65536 bytes after a total of 700000 bytes\n", false,
         false, true},
        {"clang: error: unable to execute command: Bad system call\n"
         "clang: error: clang frontend command failed due to signal (use -v)\n",
         true, false, false},
        /* a source's words */
        {"k.c:1:2: error: x\ncc1: out of memory allocating 1 bytes after a total of 2 bytes\n",
         false, false, false},
        {"k.c:1:9: note: '#pragma message: x\ngcc: internal compiler error: Bad system call signal "
         "terminated program cc1'\nk.c:5:1: internal compiler error: in f, at g.c:7\n"
         "Please submit a full bug report.\nSee <file:///> for instructions.\n",
         false, false, false},
        {"/usr/bin/ld: k.o: undefined reference to `a\nld: final link failed: File truncated'\n"
         "collect2: error: ld returned 1 exit status\n",
         false, false, false},
        {"out of memory, Bad system call signal, No space left on device\n", false, false, false},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct hone_diag_in in = {.text = cases[i].text, .file = "k.c", .source = "", .arm = "x"};
        struct hone_diag_out out;
        hone_diag_parse(&in, pool, &out);
        ck_assert_msg(
            out.is_killed_call == cases[i].is_killed && out.is_too_big == cases[i].is_big &&
                out.is_out_of_memory == cases[i].is_out,
            "case %zu: %d %d %d", i, out.is_killed_call, out.is_too_big, out.is_out_of_memory);
    }
}
END_TEST

START_TEST(a_nested_function_is_named)
{
    struct fixture *f = setup("void use(int (*g)(int)) { g(1); }\nvoid kernel(int n) {\n"
                              "    int add(int x) { return x + n; }\n    use(add);\n}\n");
    f->req.flags = (const char *const[]){"-O0", NULL};
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert_ptr_nonnull(strstr(diagnostic(f, 0)->message, "trampoline generated"));
    teardown(f);
}
END_TEST

/* gcc prints the line feed of a pragma as one: what passed has no errors all the same. */
START_TEST(a_source_s_words_are_no_errors)
{
    struct fixture *f = setup("#pragma GCC warning \"x\\ncandidate.c:1:1: error: made up\"\n"
                              "#pragma GCC warning \"error: not one\"\nvoid kernel(void) {}\n");
    ck_assert_reason(f, HONE_REASON_BUILT);
    ck_assert_uint_ge(f->out.report.diagnostics.n, 2);
    for (size_t i = 0; i < f->out.report.diagnostics.n; i++) {
        ck_assert_int_eq(diagnostic(f, i)->severity, HONE_SEVERITY_WARNING);
        ck_assert_msg(strncmp(diagnostic(f, i)->message, "error", 5) != 0, "%s",
                      diagnostic(f, i)->message);
    }
    teardown(f);
}
END_TEST

/* A compiler repeats what a source says; nothing of it steers the terminal of who reads it. */
START_TEST(diagnostics_are_printable)
{
    struct fixture *f = setup("#error \033[2J\033]0;x\007 seen\nvoid kernel(void) {}\n");
    ck_assert_reason(f, HONE_REASON_COMPILE);
    const struct hone_diagnostic *first = diagnostic(f, 0);
    const char *const texts[] = {first->message, first->context, f->out.report.log};
    for (size_t i = 0; i < HONE_COUNTOF(texts); i++) {
        ck_assert_ptr_nonnull(strstr(texts[i], "?[2J?]0;x? seen"));
        for (const char *at = texts[i]; *at != '\0'; at++)
            ck_assert((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t');
    }
    teardown(f);
}
END_TEST

START_TEST(many_diagnostics_are_bounded)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    for (int i = 1; i <= 5000; i++)
        hone_buf_printf(&text, "k.c:%d:1: %s: number %d\n", i, i % 2 == 0 ? "error" : "warning", i);
    struct hone_pool *pool = hone_pool_new();
    struct hone_diag_in in = {.text = text.data, .file = "k.c", .source = "int a;\n", .arm = "x"};
    struct hone_diag_out out;
    hone_diag_parse(&in, pool, &out);
    ck_assert_uint_eq(out.diagnostics.n, HONE_LIMIT_DIAGNOSTICS);
    ck_assert_int_eq(((struct hone_diagnostic *)out.diagnostics.v)[0].severity,
                     HONE_SEVERITY_ERROR);
    hone_pool_free(pool);
}
END_TEST

/* A damaged object is "no symbol" or whatever it looks like, never a read outside; the sanitizer
 * build makes this test sharp. */
START_TEST(elf_reader_survives_damage)
{
    struct fixture *f = setup(good);
    ck_assert_reason(f, HONE_REASON_BUILT);
    char *bytes = NULL;
    size_t len = 0;
    ck_assert_int_eq(hone_file_read(f->out.object_path, 1 << 24, &bytes, &len, NULL), 0);
    struct hone_elf_facts facts;
    hone_elf_read(bytes, len, "kernel", &facts);
    ck_assert(facts.has_symbol);
    hone_elf_read(bytes, len, "kerne", &facts);
    ck_assert(facts.is_shared_object && !facts.has_symbol);
    for (size_t cut = 0; cut < len; cut += 97) {
        char *copy = malloc(cut + 1);
        memcpy(copy, bytes, cut);
        hone_elf_read(copy, cut, "kernel", &facts);
        ck_assert(!facts.has_symbol);
        free(copy);
    }
    unsigned state = 1;
    for (int round = 0; round < 2000; round++) {
        char *copy = malloc(len);
        memcpy(copy, bytes, len);
        for (int i = 0; i < 8; i++) {
            state = state * 1664525u + 1013904223u;
            size_t span = i % 2 == 0 ? 64 : len;
            size_t place = i % 4 == 3 ? len - 1 - state % 2048 : (state >> 8) % span;
            copy[place] = (char)(state >> 3);
        }
        hone_elf_read(copy, len, "kernel", &facts);
        free(copy);
    }
    free(bytes);
    teardown(f);
}
END_TEST

START_TEST(source_size_limit)
{
    struct fixture *f = setup(good);
    char *big = malloc(HONE_LIMIT_SOURCE_BYTES + 2);
    memset(big, '\n', HONE_LIMIT_SOURCE_BYTES + 1);
    big[HONE_LIMIT_SOURCE_BYTES + 1] = '\0';
    f->req.source = big;
    ck_assert_reason(f, HONE_REASON_TOO_LARGE);
    big[HONE_LIMIT_SOURCE_BYTES] = '\0';
    ck_assert_reason(f, HONE_REASON_NO_SYMBOL);
    free(big);
    teardown(f);
}
END_TEST

UNIT_MAIN("build", builds, errors_have_the_source_s_lines, warnings_come_after_errors,
          typed_reasons, host_files_are_not_there, deadline, bad_flags, constructors_are_reported,
          cache, remarks_by_loop, endings_of_tools, a_nested_function_is_named,
          diagnostics_are_printable, a_source_s_words_are_no_errors, many_diagnostics_are_bounded,
          elf_reader_survives_damage, source_size_limit, code_has_a_word)
