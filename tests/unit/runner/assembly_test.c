/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers' texts to one kernel's: which function, which lines, limits, and text that lies. */
#include "tools/runner/binary/assembly.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

static const char source[] = "line one\n"
                             "  float x = in[i];\n"
                             "\tout[i]  = x\t* 2;\n"
                             "caf\xc3\xa9\n";

static const char sass[] =
    "\t.headerflags\t@\"EF_CUDA_SM90\"\n"
    "\t.section\t.text._Z5smallv,\"ax\",@progbits\n"
    ".text._Z5smallv:\n"
    "        /*0000*/                   EXIT ;\n"
    "\t.section\t.text._Z3bigILi4EEvPf,\"ax\",@progbits\n"
    "\t.sectioninfo\t@\"SHI_REGISTERS=18\"\n"
    ".text._Z3bigILi4EEvPf:\n"
    "\t//## File \"/work/k.cu\", line 2\n"
    "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
    ".L_x_1:\n"
    "\t//## File \"/usr/include/h.hpp\", line 400 inlined at \"/work/k.cu\", line 3\n"
    "\t//## File \"/work/k.cu\", line 3\n"
    "        /*0010*/              @P1 BRA `(.L_x_1) ;\n"
    "        /*0020*/                   EXIT ;\n"
    ".L_x_2:\n"
    "        /*0030*/                   BRA `(.L_x_2);\n"
    "\t.section\t.nv.shared\n";

static const char ptx[] = ".version 9.0\n"
                          ".visible .entry _Z5smallv()\n{\n\tret;\n\n}\n"
                          ".visible .entry _Z3bigILi4EEvPf(\n"
                          "\t.param .u64 _Z3bigILi4EEvPf_param_0\n)\n{\n"
                          "\t.reg .b32 \t%r<2>;\n"
                          "\t.loc\t1 2 5\n"
                          "$L__BB1_1:\n"
                          "\tld.global.f32 \t%f1, [%rd1];\n"
                          "\t.loc\t2 3 5\n"
                          "\tadd.s32 %r1, %r1, 1;\n"
                          "\t.loc\t1 3 5, function_name $L__info_string0, inlined_at 1 40 3\n"
                          "\t@%p1 bra \t$L__BB1_1;\n"
                          "\t// begin inline asm\n"
                          "\tret;\n\n}\n"
                          "\t.file\t1 \"/work/k.cu\"\n\t.file\t2 \"/usr/include/h.hpp\"\n";

static const char as[] = "\t.file\t\"k.c\"\n# GNU C17\n\t.text\n\t.type\tk, @function\n"
                         "k:\n.LFB0:\n\t.cfi_startproc\n"
                         "# k.c:2:   whatever the compiler read there\n"
                         "\tmovq\t%rdx, -16(%rsp)\t# tmp154, %sfp\n"
                         ".L3:\n# k.c:3: x\n# k.c:3: x\n"
                         "\tjle\t.L3\t#,\n\tret\t\n.LFE0:\n\t.size\tk, .-k\n"
                         "k._omp_fn.0:\n\tnop\n\tret\n\t.size\tk._omp_fn.0, .-k._omp_fn.0\n"
                         "table:\n\t.long\t1\n";

static const struct hone_assembly_name names[] = {{"_Z5smallv", "small"},
                                                  {"_Z3bigILi4EEvPf", "big<4>"}};

static struct hone_assembly_request request(const char *kind, const char *text)
{
    bool is_asm = strcmp(kind, "asm") == 0;
    return (struct hone_assembly_request){.kind = kind,
                                          .text = text,
                                          .len = strlen(text),
                                          .file = is_asm ? "k.c" : "k.cu",
                                          .source = source,
                                          .names = names,
                                          .n_names = is_asm ? 0 : HONE_COUNTOF(names)};
}

static struct hone_build_report answer(const struct hone_assembly_request *req,
                                       struct hone_pool *pool)
{
    struct hone_build_report report = {.compiler = NULL};

    hone_assembly_read(req, pool, &report);
    return report;
}

START_TEST(one_kernel_by_line)
{
    static const struct {
        const char *kind, *text, *want, *name, *note;
    } cases[] = {
        {"sass", sass,
         ".text._Z3bigILi4EEvPf:\n"
         "// k.cu:2: float x = in[i];\n"
         "  LDC R1, c[0x0][0x28] ;\n"
         ".L_x_1:\n"
         "// k.cu:3: out[i] = x * 2;\n"
         "  @P1 BRA `(.L_x_1) ;\n"
         "  EXIT ;\n"
         ".L_x_2:\n"
         "  BRA `(.L_x_2);\n",
         "big<4>", "also there, by argument kernel: small"},
        {"ptx", ptx,
         ".visible .entry _Z3bigILi4EEvPf(\n"
         ".param .u64 _Z3bigILi4EEvPf_param_0\n)\n{\n"
         ".reg .b32 %r<2>;\n"
         "$L__BB1_1:\n"
         "// k.cu:2: float x = in[i];\n"
         "  ld.global.f32 %f1, [%rd1];\n"
         "  add.s32 %r1, %r1, 1;\n"
         "// k.cu:3: out[i] = x * 2;\n"
         "  @%p1 bra $L__BB1_1;\n"
         "  ret;\n}\n",
         "big<4>", "also there, by argument kernel: small"},
        {"asm", as,
         "k:\n"
         "# k.c:2: float x = in[i];\n"
         "  movq %rdx, -16(%rsp) # tmp154, %sfp\n"
         ".L3:\n"
         "# k.c:3: out[i] = x * 2;\n"
         "  jle .L3\n"
         "  ret\n",
         "k", "also there, by argument kernel: k._omp_fn.0"},
    };

    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_assembly_request req = request(cases[i].kind, cases[i].text);
        struct hone_build_report got = answer(&req, pool);
        ck_assert_str_eq(got.assembly, cases[i].want);
        ck_assert_str_eq(got.assembly_of, cases[i].name);
        ck_assert_str_eq(got.assembly_note, cases[i].note);
    }
}
END_TEST

START_TEST(the_named_one)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const char *const by[] = {"big", "big<4>", "_Z3bigILi4EEvPf"};
    struct hone_assembly_request req = request("sass", sass);
    struct hone_build_report got;

    for (size_t i = 0; i < HONE_COUNTOF(by); i++) {
        req.wanted = by[i];
        ck_assert_str_eq(answer(&req, pool).assembly_of, "big<4>");
    }
    req.wanted = "small";
    got = answer(&req, pool);
    ck_assert_str_eq(got.assembly, ".text._Z5smallv:\n  EXIT ;\n");
    req.wanted = "bi";
    got = answer(&req, pool);
    ck_assert_ptr_null(got.assembly);
    ck_assert_str_eq(got.assembly_note, "no kernel 'bi' here; there are: small, big<4>");
    req.wanted = NULL;
    req.n_names = 1; /* the other one is a library's that nothing launches */
    got = answer(&req, pool);
    ck_assert_str_eq(got.assembly_of, "small");
    ck_assert_ptr_null(got.assembly_note);
}
END_TEST

/* Sixty instructions of line 1, a loop of line 2, ten of line 3. */
static char *looped_text(void)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    hone_buf_str(&out, ".text._Z5smallv:\n\t//## File \"/work/k.cu\", line 1\n");
    for (int i = 0; i < 120; i++)
        hone_buf_printf(&out, "/*0*/ FRONT%d ;\n", i);
    hone_buf_str(&out, ".L_x_1:\n\t//## File \"/work/k.cu\", line 2\n/*0*/ BODY ;\n"
                       "/*0*/ @P1 BRA `(.L_x_1) ;\n\t//## File \"/work/k.cu\", line 3\n");
    for (int i = 0; i < 10; i++)
        hone_buf_printf(&out, "/*0*/ BACK%d ;\n", i);
    return hone_buf_steal(&out);
}

START_TEST(from_the_heaviest_loop_or_a_line)
{
    static const struct {
        const char *wanted, *first, *not, *note;
    } cases[] = {
        {NULL, "FRONT80 ;", "FRONT79 ;",
         "80 instructions before are left out; kernel \"small:LINE\""},
        {"small:3", "BACK0 ;", "BODY ;", "122 instructions before"},
        {":2", "BODY ;", "FRONT119 ;", "120 instructions before"},
        {"small:1", "FRONT0 ;", NULL, NULL},
    };
    HONE_AUTOFREE char *text = looped_text();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_assembly_request req = request("sass", text);
        req.n_names = 1;
        req.wanted = cases[i].wanted;
        struct hone_build_report got = answer(&req, pool);
        ck_assert_ptr_nonnull(got.assembly);
        ck_assert_msg(strstr(got.assembly, cases[i].first) != NULL, "%s", got.assembly);
        ck_assert(!cases[i].not || !strstr(got.assembly, cases[i].not ));
        ck_assert_msg(!cases[i].note || strstr(got.assembly_note, cases[i].note), "%s",
                      got.assembly_note);
    }
}
END_TEST

/* A function whose text is made of lines of 9 bytes and comes to `bytes`. */
static char *long_text(size_t bytes)
{
    static const char head[] = ".text._Z5smallv:\n", line[] = "/*0*/aaaaaa\n";
    size_t n = (bytes - (sizeof head - 1)) / 9, rest = (bytes - (sizeof head - 1)) % 9;
    char *text = hone_malloc(sizeof head + n * (sizeof line - 1) + rest + 1), *at = text;

    at = stpcpy(at, head);
    for (size_t i = 0; i + 1 < n; i++)
        at = stpcpy(at, line);
    at = stpcpy(at, "/*0*/aaaaaa");
    for (size_t i = 0; i < rest; i++)
        *at++ = 'b';
    (void)stpcpy(at, "\n");
    return text;
}

START_TEST(at_the_limit_and_above)
{
    const size_t room = HONE_LIMIT_ASSEMBLY_BYTES - 48; /* what the last line may take */

    for (size_t above = 0; above < 3; above++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        HONE_AUTOFREE char *text = long_text(room + (above == 2 ? 9000 : above));
        struct hone_assembly_request req = request("sass", text);
        struct hone_build_report got = answer(&req, pool);
        size_t n = 0;
        const char *mark = strstr(got.assembly, "... ");
        ck_assert_uint_le(strlen(got.assembly), HONE_LIMIT_ASSEMBLY_BYTES);
        if (above == 0) {
            ck_assert_uint_eq(strlen(got.assembly), room);
            ck_assert_ptr_null(mark);
            continue;
        }
        ck_assert_ptr_nonnull(mark);
        ck_assert_int_eq(sscanf(mark, "... %zu lines more\n", &n), 1);
        ck_assert_uint_eq(n, above == 1 ? 1 : 1000);
        ck_assert_int_eq(mark[-1], '\n');
    }
}
END_TEST

START_TEST(text_is_made_safe)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    static const char odd[] = ".text._Z5smallv:\n//## File \"k.cu\", line 4\n"
                              "/*0*/ A\x1b[31m \xff\xc3 \x07\x7f;\n/*1*/ B\0C;\n";
    struct hone_assembly_request req = request("sass", odd);
    struct hone_build_report got;

    req.len = sizeof odd - 1;
    got = answer(&req, pool);
    ck_assert_uint_eq(hone_utf8_valid_prefix(got.assembly, strlen(got.assembly)),
                      strlen(got.assembly));
    ck_assert_str_eq(got.assembly, ".text._Z5smallv:\n// k.cu:4: caf\xc3\xa9\n"
                                   "  A [31m      ;\n  B C;\n");
}
END_TEST

START_TEST(any_text_is_survived)
{
    static const char *const odd[] = {
        "",
        "\n",
        ".text.:\n",
        ".text._Z5smallv:",
        ".text._Z5smallv:\n/*",
        ".text._Z5smallv:\n//## File \"k.cu\", line 99999999999999999999\n/*0*/ A;",
        ".text._Z5smallv:\n//## File \"k.cu\", line -1\n/*0*/ A;",
        ".text._Z5smallv:\n//## File \"\n/*0*/ BRA `(.L",
        ".entry ",
        ".entry _Z5smallv\n.loc",
        ".entry _Z5smallv\n.loc 1\nret;\n.file",
        ".file 99999999999999999999 \"k.cu\"\n.entry _Z5smallv\n.loc 0 1\nret;\n",
        "k:",
        "k:\n#",
        "k:\n# k.c:\n\tret\n",
        "k:\n# k.c:0: x\n# k.c:4000000: x\n\tret #",
    };
    static const char *const kinds[] = {"sass", "ptx", "asm"}, *const texts[] = {sass, ptx, as};

    for (size_t i = 0; i < HONE_COUNTOF(odd); i++) {
        for (size_t k = 0; k < HONE_COUNTOF(kinds); k++) {
            HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
            struct hone_assembly_request req = request(kinds[k], odd[i]);
            struct hone_build_report got = answer(&req, pool);
            ck_assert(got.assembly != NULL || got.assembly_note != NULL);
        }
    }
    for (size_t k = 0; k < HONE_COUNTOF(kinds); k++) { /* every cut of a good text, too */
        for (size_t len = 0; len < strlen(texts[k]); len++) {
            HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
            HONE_AUTOFREE char *cut = hone_strndup(texts[k], len);
            struct hone_assembly_request req = request(kinds[k], cut);
            (void)answer(&req, pool);
        }
    }
}
END_TEST

UNIT_MAIN("assembly", one_kernel_by_line, the_named_one, from_the_heaviest_loop_or_a_line,
          at_the_limit_and_above, text_is_made_safe, any_text_is_survived)
