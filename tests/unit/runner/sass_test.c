/* SPDX-License-Identifier: Apache-2.0 */
/* Reading nvdisasm's text: widths, loops, lines, inlined frames, and text that lies; running it in
 * a jail. */
#include "tools/runner/cuda/compile/sass.h"

#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

static const char sample[] =
    "\t.headerflags\t@\"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_SM90\"\n"
    "//--------------------- .text._Z4sumsPfS_i       --------------------------\n"
    "\t.section\t.text._Z4sumsPfS_i,\"ax\",@progbits\n"
    "\t.sectioninfo\t@\"SHI_REGISTERS=18\"\n"
    ".text._Z4sumsPfS_i:\n"
    "\t//## File \"/work/sums.cu\", line 5\n"
    "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
    "        /*0010*/                   S2R R0, SR_CTAID.X ;\n"
    "\t//## File \"/work/sums.cu\", line 6\n"
    "        /*0020*/                   IMAD R0, R0, UR4, R3 ;\n"
    "        /*0030*/              @P0 EXIT ;\n"
    ".L_x_2:\n"
    "\t//## File \"/work/sums.cu\", line 8\n"
    "        /*0040*/                   LDG.E.128 R4, desc[UR4][R2.64] ;\n"
    ".L_x_1:\n"
    "\t//## File \"/usr/local/cuda/include/crt/device_functions.hpp\", line 400 inlined at "
    "\"/work/sums.cu\", line 10\n"
    "\t//## File \"/work/sums.cu\", line 10 inlined at \"/work/sums.cu\", line 30\n"
    "\t//## File \"/work/sums.cu\", line 30\n"
    "        /*0050*/                   MUFU.EX2 R5, R4 ;\n"
    "        /*0060*/                   LDL R9, [R1] ;\n"
    "        /*0070*/              @P1 BRA `(.L_x_1) ;\n"
    "\t//## File \"/work/sums.cu\", line 12\n"
    "        /*0080*/                   LDS.64 R6, [R5] ;\n"
    "        /*0090*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;\n"
    "        /*00a0*/             @!P2 BRA `(.L_x_2) ;\n"
    "\t//## File \"/work/sums.cu\", line 14\n"
    "        /*00b0*/                   STG.E.U8 desc[UR4][R2.64], R5 ;\n"
    "        /*00c0*/                   STG.E desc[UR4][R2.64+0x40], R5 ;\n"
    "        /*00d0*/                   EXIT ;\n"
    ".L_x_3:\n"
    "        /*00e0*/                   BRA `(.L_x_3);\n"
    "        /*00f0*/                   NOP;\n"
    ".text._Z5otherv:\n"
    "\t//## File \"/work/sums.cu\", line 40\n"
    "        /*0000*/                   HGMMA.64x64x16.F32.BF16 R24, gdesc[UR4], RZ ;\n"
    "        /*0010*/                   LDGSTS.E.BYPASS.128 [R7], desc[UR4][R2.64] ;\n"
    "        /*0020*/                   HMMA.16816.F32 R8, R4, R6, R8 ;\n"
    "        /*0030*/                   LDG.E.64.CONSTANT R4, desc[UR4][R2.64] ;\n"
    "        /*0040*/                   RED.E.ADD.F32.FTZ.RN desc[UR4][R2.64], R5 ;\n"
    "        /*0050*/                   UTMALDG.2D [UR8], [UR4] ;\n";

static const struct hone_sass_line *line(const struct hone_sass *sass, int64_t number)
{
    for (size_t i = 0; i < sass->n_lines; i++)
        if (sass->lines[i].line == number)
            return &sass->lines[i];
    return NULL;
}

START_TEST(kinds_and_widths)
{
    struct hone_pool *pool = hone_pool_new();
    struct hone_sass sass;

    ck_assert(hone_sass_read(sample, sizeof sample - 1, "_Z4sumsPfS_i", pool, &sass));
    ck_assert_int_eq(sass.n_instructions, 16);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_LDG_128], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_STG_8_16], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_STG_32], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_LDS], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_LDL], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_MUFU], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_BAR], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_BRA], 3);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_INTEGER], 1);
    ck_assert(hone_sass_read(sample, sizeof sample - 1, "_Z5otherv", pool, &sass));
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_WGMMA], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_MMA], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_LDGSTS], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_LDG_64], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_ATOM], 1);
    ck_assert_int_eq(sass.n_by_kind[HONE_SASS_BULK], 1);
    ck_assert(hone_sass_read(sample, sizeof sample - 1, NULL, pool, &sass));
    ck_assert_int_eq(sass.n_instructions, 22);
    ck_assert(!hone_sass_read(sample, sizeof sample - 1, "_Z4sums", pool, &sass));
    ck_assert_int_eq(sass.n_instructions, 0);
    hone_pool_free(pool);
}
END_TEST

START_TEST(lines_and_loops)
{
    static const enum hone_sass_kind local[] = {HONE_SASS_LDL, HONE_SASS_STL};
    static const enum hone_sass_kind shared[] = {HONE_SASS_LDS};
    static const enum hone_sass_kind tensor[] = {HONE_SASS_MMA};
    struct hone_pool *pool = hone_pool_new();
    struct hone_sass sass;

    ck_assert(hone_sass_read(sample, sizeof sample - 1, "_Z4sumsPfS_i", pool, &sass));
    ck_assert_int_eq(sass.lines[0].line, 10); /* innermost frame that is in the source */
    ck_assert_int_eq(sass.lines[0].depth, 2);
    ck_assert_double_eq(sass.lines[0].weight, 300);
    ck_assert_int_eq(line(&sass, 8)->depth, 1);
    ck_assert_int_eq(line(&sass, 12)->depth, 1);
    ck_assert_int_eq(line(&sass, 14)->depth, 0); /* padding is no loop */
    ck_assert_int_eq(line(&sass, 5)->depth, 0);
    ck_assert_ptr_null(line(&sass, 400));
    ck_assert_int_eq(hone_sass_line_of(&sass, local, HONE_COUNTOF(local)), 10);
    ck_assert_int_eq(hone_sass_line_of(&sass, shared, 1), 12);
    ck_assert_int_eq(hone_sass_line_of(&sass, tensor, 1), 0);
    ck_assert_str_eq(hone_sass_describe(line(&sass, 12), pool),
                     "3 instructions in a loop of depth 1: 1 lds, 1 bar, 1 bra");
    hone_pool_free(pool);
}
END_TEST

START_TEST(any_text_is_survived)
{
    static const char *const odd[] = {
        "",
        ".text.:\n",
        ".text.k:",
        ".text.k:\n/*",
        ".text.k:\n/*00*/",
        ".text.k:\n/*00*/ @",
        ".text.k:\n/*00*/ BRA `",
        ".text.k:\n/*00*/ BRA `(",
        ".text.k:\n/*00*/ BRA `(.L_nowhere);\n",
        ".text.k:\n.L_x_1:\n.L_x_1:\n/*00*/ BRA `(.L_x_1);\n/*00*/ BRA `(.L_x_1);\n",
        ".text.k:\n//## File\n/*00*/ NOP ;",
        ".text.k:\n//## File \"a.cu\", line 99999999999999999999\n/*00*/ NOP ;",
        ".text.k:\n//## File \"\", line -4\n/*00*/ NOP ;",
        ".text.k:\n//## File \"a.cu\", line ",
    };

    for (size_t i = 0; i < HONE_COUNTOF(odd); i++) {
        struct hone_pool *pool = hone_pool_new();
        struct hone_sass sass;
        hone_sass_read(odd[i], strlen(odd[i]), NULL, pool, &sass);
        ck_assert_uint_eq(sass.n_lines, 0);
        hone_pool_free(pool);
    }
    /* Every cut of a good text, too. */
    for (size_t len = 0; len < sizeof sample; len += 7) {
        struct hone_pool *pool = hone_pool_new();
        struct hone_sass sass;
        char *cut = hone_strndup(sample, len);
        hone_sass_read(cut, len, NULL, pool, &sass);
        free(cut);
        hone_pool_free(pool);
    }
}
END_TEST

/* A stand-in that prints its input: what it is given stands in for a cubin. */
static const char script[] =
    "#!/bin/sh\n"
    "[ \"$1\" = -c ] && [ \"$2\" = -gi ] && [ ! -e /etc/passwd ] || exit 3\n"
    "exec cat \"$3\"\n";

START_TEST(it_runs_in_a_jail)
{
    char folder[] = "/tmp/hone-sass-test-XXXXXX";
    struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    const char *text = NULL;
    size_t len = 0;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    HONE_AUTOFREE char *tool = hone_path_join(folder, "nvdisasm", NULL);
    const struct hone_sass_request req = {.cubin = (const unsigned char *)sample,
                                          .len = sizeof sample - 1,
                                          .scratch_dir = folder,
                                          .deadline_ns = hone_deadline_in_ms(20000)};
    ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0);
    if (access("/usr/local/cuda/bin/nvdisasm", X_OK) != 0) {
        ck_assert_int_eq(hone_sass_disassemble(&req, pool, &text, &len, &err), HONE_E_UNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(err.message, "fix:"));
    }
    ck_assert_int_eq(hone_file_write(tool, script, sizeof script - 1, 0755, false, &err), 0);
    ck_assert_int_eq(setenv("PATH", folder, 1), 0);
    int rc = hone_sass_disassemble(&req, pool, &text, &len, &err);
    if (rc == HONE_E_UNSUPPORTED) {
        printf("# SKIP no jail works here: %s\n", err.message);
    } else {
        ck_assert_msg(rc == 0, "%s", err.message);
        ck_assert_uint_eq(len, sizeof sample - 1);
        ck_assert_str_eq(text, sample);
    }
    ck_assert_int_eq(hone_remove_tree(folder, &err), 0);
    hone_pool_free(pool);
}
END_TEST

UNIT_MAIN("sass", it_runs_in_a_jail, kinds_and_widths, lines_and_loops, any_text_is_survived)
