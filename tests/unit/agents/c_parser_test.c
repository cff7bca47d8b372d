/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's tree, index polynomials, reductions, independence of iterations. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/source/c_nest.h"
#include "agents/source/c_parser.h"
#include "agents/rewrites/coder_rules.h"

static struct hone_c_parser *open_parser(void)
{
    struct hone_c_parser *p = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_c_parser_new(&p, &err) == 0, "%s", err.message);
    return p;
}

struct shape {
    const char *body;
    int n_loops;
    const char *why; /* NULL: the first loop is parallel */
    const char *op;  /* reduction of the first loop, or NULL */
};

static const struct shape shapes[] = {
    {"for (int i = 0; i < n; i++) y[i] = 2 * x[i];", 1, NULL, NULL},
    {"for (int i = 0; i < n; i++) y[i] = y[i] + x[i];", 1, NULL, NULL},
    {"for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) y[0] = x[i];", 1, "two iterations may write the same element",
     NULL},
    {"for (int i = 0; i < n; i++) y[idx[i]] = x[i];", 1,
     "a subscript is no sum of products of names", NULL},
    {"float s = 0; for (int i = 0; i < n; i++) s += x[i]; y[0] = s;", 1, NULL, "+"},
    {"float s = 0; for (int i = 0; i < n; i++) s = x[i] + s; y[0] = s;", 1, NULL, "+"},
    {"float s = 1; for (int i = 0; i < n; i++) s *= x[i]; y[0] = s;", 1, NULL, "*"},
    {"float s = x[0]; for (int i = 0; i < n; i++) if (x[i] > s) s = x[i]; y[0] = s;", 1, NULL,
     "max"},
    {"float s = x[0]; for (int i = 0; i < n; i++) s = x[i] < s ? x[i] : s; y[0] = s;", 1, NULL,
     "min"},
    {"float s = x[0]; for (int i = 0; i < n; i++) s = fmaxf(s, x[i]); y[0] = s;", 1, NULL, "max"},
    {"float s = 0; for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; }", 1,
     "a scalar is carried from one iteration to the next", NULL},
    {"for (int i = 0; i < n; i++) { if (x[i] < 0) break; y[i] = 1; }", 1, "the loop is left early",
     NULL},
    {"for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { if (j > 3) break; y[i * n + j] = "
     "1; } }",
     2, NULL, NULL},
    {"for (int i = 0; i < n; i++) memset(y + i, 0, 4);", 1, "a call gets a pointer", NULL},
    {"for (int i = n; i > 0; i--) y[i] = 1;", 1, "the loop's bounds are not plain", NULL},
    {"for (int i = 0; i < n; i++) { i++; y[i] = 1; }", 1, "the loop's bounds are not plain", NULL},
    {"for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) y[i * n + j] = y[(i - 1) * n + j];",
     2, "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) { float *row = y + i * n; for (int j = 1; j < n; j++) row[j] = "
     "row[j - 1]; }",
     2, NULL, NULL},
    {"for (int i = 0; i < n; i++) y[2 * i] = y[2 * i + 2];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) { y[2 * i] = x[i]; y[2 * i + 1] = x[i]; }", 1, NULL, NULL},
    {"for (int i = 0; i < n; i++) y[2 * i] = y[2 * i + 1];", 1, NULL, NULL},
    {"for (int i = 0; i < n; i++) y[n - 1 - i] = y[n - 2 - i];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) y[n - 1 - i] = x[i];", 1, NULL, NULL},
    {"for (int i = 1 - n; i < 0; i++) y[-i] = y[-i - 1];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) y[i * 16] = y[i * 16 + 16];", 1,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i + j] += x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) y[3 * i + j] = x[j];", 2, NULL, NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) y[3 * i + j] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j <= 3; j++) y[3 * i + j] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * n + 2 * j] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * n + j] = y[i * n + j + 1];", 2,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n - 1; j++) y[i * n + j] = y[i * n + j + 1];",
     2, NULL, NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * n + j] = y[i * n + j - 1];", 2,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j <= n; j++) y[i * n + j] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[j * n + i] += x[j];", 2, NULL,
     NULL},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[j * n + i] = y[j * n + i + 1];", 2,
     "an iteration may read what another one writes", NULL},
    {"for (int i = 0; i < 16; i++) for (int j = 0; j < n; j++) y[j * 16 + i] = x[j];", 2, NULL,
     NULL},
    {"for (int i = 0; i < 17; i++) for (int j = 0; j < n; j++) y[j * 16 + i] = x[j];", 2,
     "two iterations may write the same element", NULL},
    {"for (int i = 0; i < n; i += 2) { y[i] = x[i]; y[i + 1] = x[i]; }", 1, NULL, NULL},
    {"for (int i = 0; i < n; i += 2) { y[i] = x[i]; y[i + 1] = y[i + 2]; }", 1,
     "an iteration may read what another one writes", NULL},
};

static void parse_shape(struct hone_c_parser *p, const struct shape *s, struct hone_pool *pool,
                        struct hone_coder_input *ret)
{
    struct hone_err err = HONE_ERR_INIT;
    const char *text = hone_pool_printf(pool,
                                        "#include <math.h>\n#include <string.h>\nvoid k(const "
                                        "float *x, const int *idx, float *y, int n)\n{\n%s\n}\n",
                                        s->body);
    ck_assert_msg(hone_coder_read(p, "cpu", text, "k", pool, ret, &err) == 0, "%s: %s", s->body,
                  err.message);
}

START_TEST(loops_are_understood)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *p = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(shapes); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct hone_coder_input in;
        parse_shape(p, &shapes[i], pool, &in);
        ck_assert_msg((int)in.nest.n == shapes[i].n_loops, "%s: %zu loops", shapes[i].body,
                      in.nest.n);
        const char *why = "";
        bool is_parallel = hone_c_is_parallel(&in.nest, &in.nest.loops[0], &why);
        ck_assert_msg(is_parallel == !shapes[i].why, "%s: %s", shapes[i].body, why);
        if (shapes[i].why)
            ck_assert_msg(strcmp(why, shapes[i].why) == 0, "%s: %s", shapes[i].body, why);
        struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
        size_t n = 0;
        if (!shapes[i].op)
            continue;
        ck_assert(hone_c_reductions(&in.nest.loops[0], r, &n));
        ck_assert_uint_eq(n, 1);
        ck_assert_str_eq(r[0].op, shapes[i].op);
    }
}
END_TEST

static const struct {
    const char *index;
    enum hone_c_stride stride; /* by i */
} indices[] = {
    {"i", HONE_C_STRIDE_UNIT},
    {"i + 3", HONE_C_STRIDE_UNIT},
    {"n * n - n + i", HONE_C_STRIDE_UNIT},
    {"i * n", HONE_C_STRIDE_FAR},
    {"2 * i", HONE_C_STRIDE_FAR},
    {"(i + 1) * n - i * n", HONE_C_STRIDE_ZERO},
    {"n", HONE_C_STRIDE_ZERO},
    {"idx[i]", HONE_C_STRIDE_UNKNOWN},
    {"i % n", HONE_C_STRIDE_UNKNOWN},
    {"(long)(i) + (n)", HONE_C_STRIDE_UNIT},
    {"i * i", HONE_C_STRIDE_FAR},
    {"-i + 2 * i", HONE_C_STRIDE_UNIT},
    {"at", HONE_C_STRIDE_FAR},
};

START_TEST(strides_are_computed)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *p = open_parser();
    for (size_t i = 0; i < HONE_COUNTOF(indices); i++) {
        HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
        struct shape s = {
            hone_pool_printf(pool,
                             "for (int i = 0; i < n; i++) { int at = i * n + 1; y[%s] = at; }",
                             indices[i].index),
            1, NULL, NULL};
        struct hone_coder_input in;
        parse_shape(p, &s, pool, &in);
        struct hone_c_access a[8];
        size_t n = hone_c_accesses(in.nest.function, in.nest.loops[0].node->body, a, 8);
        ck_assert_uint_ge(n, 1);
        ck_assert(a[0].is_write);
        ck_assert_msg(hone_c_poly_stride(&a[0].index, in.nest.loops[0].var) == indices[i].stride,
                      "%s", indices[i].index);
    }
}
END_TEST

static const struct {
    const char *source;
    enum hone_code code;
    const char *part;
} refused[] = {
    {"#include \"/etc/passwd\"\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#  include </etc/passwd>\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#define H <stdio.h>\n#include H\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#inc\\\nlude \"/etc/passwd\"\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#/**/include/**/\"/etc/passwd\"\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"#include_next <stdio.h>\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "standard headers"},
    {"%:include \"/etc/passwd\"\nvoid k(void) {}\n", HONE_E_UNSUPPORTED, "digraph"},
    {"void k(void) {\n    oops\n}\n", HONE_E_ARG, "line 2"},
    {"void other(void) {}\n", HONE_E_NOT_FOUND, "'k'"},
};

START_TEST(bad_sources_are_refused)
{
    HONE_CLEANUP(hone_c_parser_free_ptr) struct hone_c_parser *p = open_parser();
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(refused); i++) {
        struct hone_err err = HONE_ERR_INIT;
        struct hone_coder_input in;
        ck_assert_msg(hone_coder_read(p, "cpu", refused[i].source, "k", pool, &in, &err) ==
                          (int)refused[i].code,
                      "%s: %s", refused[i].source, err.message);
        ck_assert_msg(strstr(err.message, refused[i].part), "%s: %s", refused[i].source,
                      err.message);
    }
    HONE_AUTOFREE char *deep = hone_malloc(20000);
    size_t n = 0;
    memcpy(deep, "int f(void) { return ", 21);
    n = 21;
    memset(deep + n, '(', 220);
    n += 220;
    deep[n++] = '1';
    memset(deep + n, ')', 220);
    n += 220;
    strcpy(deep + n, "; }\nvoid k(void) {}\n");
    struct hone_coder_input in;
    ck_assert_int_eq(hone_coder_read(p, "cpu", deep, "k", pool, &in, NULL), 0);
}
END_TEST

START_TEST(layout_does_not_count)
{
    HONE_AUTOFREE char *a = hone_c_normalise("int  f( void )\n{ /* x */ return 1; } // y\n");
    HONE_AUTOFREE char *b = hone_c_normalise("int f( void )\n{ return 1; }\n");
    HONE_AUTOFREE char *c = hone_c_normalise("char *s = \"a  /* b */\";");
    ck_assert_str_eq(a, b);
    ck_assert_str_eq(c, "char *s = \"a  /* b */\";");
}
END_TEST

UNIT_MAIN("c_parser", loops_are_understood, strides_are_computed, bad_sources_are_refused,
          layout_does_not_count)
