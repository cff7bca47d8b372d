/* SPDX-License-Identifier: Apache-2.0 */
/* Which sums over windows are made of sums of their rows, and which are left alone. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/rewrites/coder_rules.h"

#define OUTER "for (long y = 0; y < H; y++) for (long x = 0; x < W; x++) { "
#define WALK  "for (long dy = -R; dy <= R; dy++) for (long dx = -R; dx <= R; dx++) "
#define IN    "in[(y + dy) * W + x + dx]"
#define OUT   " out[y * W + x] = s; }"

START_TEST(windows)
{
    static const struct {
        const char *body;
        bool is_fit;
    } rows[] = {
        {OUTER "float s = 0; " WALK "s += " IN ";" OUT, true},
        {OUTER "float s = 0; " WALK
               "if (y + dy >= 0 && y + dy < H && x + dx >= 0 && x + dx < W) s += " IN ";" OUT,
         true},
        {OUTER "float s = 0; int n = 0; " WALK "if (dy + y >= 0 && x + dx >= 0) { float v = " IN
               "; s += v * v; n += 1; } s /= n;" OUT,
         true},
        {OUTER "float s = in[x]; " WALK "s += " IN ";" OUT, true},
        {OUTER "float s = -1e30f; " WALK "if (" IN " > s) s = " IN ";" OUT, true},
        {OUTER
         "float s = 0; for (int a = 0; a < 5; a++) for (int b = 0; b < 3; b++) s += in[(y - 2 "
         "+ a) * W + (x + b) * R];" OUT,
         true},
        {"for (int c = 0; c < R; c++) " OUTER "float s = 0; " WALK "s += in[(c * H + y + dy) * W + "
         "x + dx]; out[(c * H + y) * W + x] = s; }",
         false}, /* c * H + y + dy is no plain sum of the two */
        {"for (int c = 0; c < R; c++) " OUTER "float s = 0; " WALK
         "s += in[c * H * W + (y + dy) * W + x + dx]; out[(c * H + y) * W + x] = s; }",
         true},
        /* a weight for each place, a row or a column that stands alone */
        {OUTER "float s = 0; " WALK "s += k[(dy + R) * 9 + dx + R] * " IN ";" OUT, false},
        {OUTER "float s = 0; " WALK "s += " IN " - in[y * W + x];" OUT, false},
        {OUTER "float s = 0; " WALK "if (dy * dy + dx * dx <= R * R) s += " IN ";" OUT, false},
        {OUTER "float s = 0; " WALK "s += k[dx + R] * " IN ";" OUT, true},
        {OUTER "float s = 0; " WALK "s += in[(y - dy) * W + x + dx];" OUT, false},
        {OUTER "float s = 0; " WALK "s += in[(2 * y + dy) * W + x + dx];" OUT, false},
        /* bounds that follow the place, other loops, jumps, other work */
        {OUTER
         "float s = 0; for (long dy = -y; dy <= R; dy++) for (long dx = 0; dx < R; dx++) s += " IN
         ";" OUT,
         false},
        {OUTER
         "float s = 0; for (long dy = 0; dy <= R; dy++) for (long dx = -x; dx < R; dx++) s += " IN
         ";" OUT,
         false},
        {OUTER
         "float s = 0; for (long dy = 0; dy <= R; dy++) for (long dx = 0; dx < dy; dx++) s += " IN
         ";" OUT,
         false},
        {OUTER "float s = 0; " WALK "{ if (x + dx < 0) break; s += " IN "; }" OUT, false},
        {OUTER "float s = 0; " WALK "s += " IN "; for (long c = 0; c < 3; c++) s += k[c];" OUT,
         false},
        {OUTER "float s = 0; for (long dy = 0; dy < R; dy++) { s += k[dy]; for (long dx = 0; dx < "
               "R; dx++) s += " IN "; }" OUT,
         false},
        {OUTER "float s = 0; float z = k[x]; " WALK "s += z * " IN ";" OUT, false},
        {OUTER "float s = 1; " WALK "s *= " IN ";" OUT, false},
        {OUTER "float s = "
               "in[y * W + x]; " WALK "if (" IN " > s) s = " IN ";" OUT,
         false},
        {OUTER "int s = 0; " WALK "s += " IN ";" OUT, false}, /* each addition rounds */
        {"float s = 0; " OUTER WALK "s += " IN ";" OUT, false},
        {OUTER "float s = 0; " WALK "{ out[y + dy] = s; s += " IN "; }" OUT, false},
        {OUTER "float s = 0; " WALK "s += out[(y + dy) * W + x + dx];" OUT, false}, /* in place */
        {"for (unsigned long y = 2; y < H; y++) for (long x = 0; x < W; x++) { float s = 0; " WALK
         "s += " IN ";" OUT,
         false},
        {"for (long y = 0; y < H; y += 2) for (long x = 0; x < W; x++) { float s = 0; " WALK
         "s += " IN ";" OUT,
         false},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *parser = NULL;
    ck_assert_int_eq(hone_c_parser_new(&parser, NULL), 0);
    const struct hone_rewrite *rule = hone_rewrite_find("window_sums");
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_coder_input in;
        struct hone_coder_site sites[HONE_CODER_MAX_SITES];
        struct hone_err err = HONE_ERR_INIT;
        const char *made = NULL,
                   *text =
                       hone_pool_printf(pool,
                                        "void k(const float *restrict in, const float *restrict "
                                        "k, float *restrict out, long H, long W, long R)\n"
                                        "{\n%s\n}\n",
                                        rows[i].body);
        ck_assert_int_eq(hone_coder_read(parser, "cpu", text, "k", pool, &in, NULL), 0);
        size_t n = hone_coder_sites(rule, &in, sites);
        ck_assert_msg((n == 1) == rows[i].is_fit, "%s: %zu places", rows[i].body, n);
        if (n == 0)
            continue;
        int code = hone_coder_apply(parser, rule, &in, &sites[0], &made, &err);
        ck_assert_msg(code == 0, "%s: %s", rows[i].body, err.message);
        ck_assert_msg(strstr(made, "y_row") && strstr(made, "<= WINDOW_ROWS / 2) {"), "%s", made);
        /* once is enough */
        ck_assert_int_eq(hone_coder_read(parser, "cpu", made, "k", pool, &in, NULL), 0);
        ck_assert_msg(hone_coder_sites(rule, &in, sites) == 0, "%s", made);
    }
}
END_TEST

UNIT_MAIN("window_sums", windows)
