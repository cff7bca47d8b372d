/* SPDX-License-Identifier: Apache-2.0 */
/* The scale that a reference in double has of itself: of what it adds up, and of how far its answer
 * moves. */
#include <math.h>
#include "tests/unit/task/oracle_util.h"
#include "workspace/task/oracle_abi.h"

/* The scale of a reduction that is its own reference: what its sums are made of, but of no function
 * that is none. */
START_TEST(naive_double_scales)
{
    static const struct {
        const char *body;
        double least, most; /* of the scale, for 64 values that cancel */
    } table[] = {
        {"double s = 0; for (int64_t i = 0; i < N; i++) s += x[i]; *y = s / (double)N;", 0.5, 1},
        {"double s = 0; for (int64_t i = 0; i < N; i++) s += x[i] * x[i]; *y = sqrt(s);", 8, 8},
        {"double s = 0; for (int64_t i = 0; i < N; i++) s += exp(x[i]) - exp(-x[i]); *y = s;", 0,
         1e-9},
        {"*y = x[0] + x[1] + 1e-3;", 1e-3, 1.0001e-3}, /* a constant is no multiple */
    };
    static const char task[] =
        "{\"name\":\"f\",\"axes\":{\"N\":{\"type\":\"var\",\"max\":99}},"
        "\"inputs\":{\"x\":{\"shape\":[\"N\"],\"dtype\":\"float64\"}},"
        "\"outputs\":{\"y\":{\"shape\":[],\"dtype\":\"float64\"}},"
        "\"tolerance\":{\"y\":{\"rtol\":1e-9}},\"oracle\":{\"mode\":\"naive_double\"},"
        "\"flops\":\"N\",\"bytes\":\"8*N\"}";
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        struct hone_task *loaded = NULL;
        hone_oracle_items_fn *items = NULL;
        double x[64];
        const void *in[] = {x};
        struct hone_oracle_record record = {.index = -1};
        for (int k = 0; k < 64; k++)
            x[k] = k % 2 == 0 ? 1 : -1;
        ck_assert_int_eq(hone_task_parse(task, sizeof task - 1,
                                         "{\"id\":\"a\",\"axes\":{\"N\":64}}",
                                         strlen("{\"id\":\"a\",\"axes\":{\"N\":64}}"), "/nowhere",
                                         &loaded, NULL),
                         0);
        char *preamble = hone_task_oracle_preamble(loaded);
        char *source = hone_sprintf("#include <math.h>\n#include <stdint.h>\n"
                                    "void f(const double *x, double *y, int64_t N) { %s }\n",
                                    table[i].body);
        char name[] = {'f', (char)('0' + i), '\0'}; /* of a file: one each */
        void *symbol = build(name, "c", preamble, source, "hone_oracle_items");
        memcpy(&items, &symbol, sizeof symbol);
        struct hone_oracle_args args = {.inputs = in,
                                        .axes = loaded->workloads[0].axes,
                                        .records = &record,
                                        .n_records_max = 1};
        items(&args, 0, 1, NULL);
        ck_assert_int_eq(args.n_records, 1);
        ck_assert_msg(record.scale >= table[i].least && record.scale <= table[i].most,
                      "row %zu: %g", i, record.scale);
        free(source);
        free(preamble);
        hone_task_free(loaded);
    }
}
END_TEST

enum { N_MOVED = 600 }; /* elements: a run of 512, and a shorter one */

/* The records of a function of N values x, of its own reference in double; how many. */
static int run_reference(const char *name, const char *task, const char *loads, const char *source,
                         const void *x, struct hone_oracle_record *ret, int64_t most)
{
    struct hone_task *loaded = NULL;
    struct hone_err err = HONE_ERR_INIT;
    hone_oracle_items_fn *items = NULL;
    ck_assert_msg(
        hone_task_parse(task, strlen(task), loads, strlen(loads), "/nowhere", &loaded, &err) == 0,
        "%s %s", err.path, err.message);
    char *preamble = hone_task_oracle_preamble(loaded);
    char *front = /* gcc 12 does not see that the loop before the call fills what is read */
        hone_sprintf("#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n%s", preamble);
    void *symbol = build(name, "c", front, source, "hone_oracle_items");
    memcpy(&items, &symbol, sizeof symbol);
    struct hone_oracle_args args = {
        .inputs = &x, .axes = loaded->workloads[0].axes, .records = ret, .n_records_max = most};
    items(&args, 0, 1, NULL);
    ck_assert_int_le(args.n_records, most);
    free(preamble);
    free(front);
    hone_task_free(loaded);
    return (int)args.n_records;
}

static int records_of(const char *name, const char *dtype, const char *c_type, const char *oracle,
                      const char *body, const void *x, struct hone_oracle_record *ret)
{
    char *task = hone_sprintf("{\"name\":\"f\",\"axes\":{\"N\":{\"type\":\"var\",\"max\":999}},"
                              "\"inputs\":{\"x\":{\"shape\":[\"N\"],\"dtype\":\"%s\"}},"
                              "\"outputs\":{\"y\":{\"shape\":[\"N\"],\"dtype\":\"float64\"}},"
                              "\"tolerance\":{\"y\":{\"rtol\":1e-9}},\"oracle\":{%s},"
                              "\"flops\":\"N\",\"bytes\":\"8*N\"}",
                              dtype, oracle);
    char *source = hone_sprintf("#include <math.h>\n#include <stdint.h>\n"
                                "void f(const %s *x, double *y, int64_t N)\n{\n    %s\n}\n",
                                c_type, body);
    int n =
        run_reference(name, task, "{\"id\":\"a\",\"axes\":{\"N\":600}}", source, x, ret, N_MOVED);
    free(task);
    free(source);
    return n;
}

#define EACH "for (int64_t i = 0; i < N; i++) y[i] = "
#define Z_SCORE                                                                                    \
    "double m = 0, s = 0; for (int64_t i = 0; i < N; i++) m += x[i] / (double)N; "                 \
    "for (int64_t i = 0; i < N; i++) s += (x[i] - m) * (x[i] - m) / (double)N; " EACH              \
    "(x[i] - m) / sqrt(s);"

/* How far an answer moves where its inputs change in their last place, in each run of 512. Values
 * are 1000 and, every other one, 1001. */
START_TEST(perturbed_scales)
{
    static const struct {
        const char *dtype, *c_type, *body;
        double rms, least, most; /* of the first run */
        double next_most;        /* of the second; 0: as the first */
        int n_undefined;         /* the first elements: not finite for some inputs */
    } table[] = {
        {"float64", "double", EACH "x[i] - (i % 2 ? 1001 : 1000);", 0, 500, 1.1e6, 0,
         0}, /* nothing but moves */
        {"float64", "double", Z_SCORE, 1, 1000, 4000, 0, 0},
        {"float64", "double", EACH "2 * x[i];", 2001.0005, 1900, 2100, 0, 0}, /* nothing cancels */
        {"float32", "float", EACH "x[i] - (i % 2 ? 1001 : 1000);", 0, 1000, 1001, 0, 0},
        {"float32", "float", EACH "i == 3 ? 1e6 * (x[i] - 1001) : x[i] - (i % 2 ? 1001 : 1000);", 0,
         1.0009e9, 1.0011e9, 1001, 0}, /* a large move stays in its run */
        {"int32", "int", EACH "x[i] - (i % 2 ? 1000 : 999);", 1, 1, 1, 0, 0}, /* is not moved */
        {"float64", "double",
         EACH "x[i] == (i % 2 ? 1001 : 1000) ? 0 : i == 0 ? INFINITY : i == 1 ? NAN : 1e-12;", 0,
         2e6, 2.5e6, 0, 2}, /* 1024 * 1e-12 / 2^-51; no answer moves for ever */
        {"float64", "double", EACH "i < 3 && x[i] == 1000 + i % 2 ? 1 / 0.0 : 2 * x[i];",
         1995.99315, 1900, 2100, 0, 3},
        /* a last place of one element is a thousandth of all, and then more than all */
        {"float64", "double", EACH "1 + (i == 7 ? 1e11 : 0) * (x[i] - (i % 2 ? 1001 : 1000));", 1,
         9e16, 1.1e17, 0, 0},
        {"float64", "double", EACH "1 + (i == 7 ? 1e15 : 0) * (x[i] - (i % 2 ? 1001 : 1000));", 1,
         0, 0, 0, N_MOVED},
    };
    for (size_t i = 0; i < HONE_COUNTOF(table); i++) {
        double doubles[N_MOVED];
        float floats[N_MOVED];
        int ints[N_MOVED];
        struct hone_oracle_record rms[N_MOVED], moved[N_MOVED];
        for (int k = 0; k < N_MOVED; k++)
            doubles[k] = floats[k] = (float)(ints[k] = 1000 + k % 2);
        const void *x = strcmp(table[i].dtype, "float64") == 0   ? (void *)doubles
                        : strcmp(table[i].dtype, "float32") == 0 ? (void *)floats
                                                                 : (void *)ints;
        char names[2][3] = {{'r', (char)('a' + i)}, {'m', (char)('a' + i)}};
        int n_all = records_of(names[0], table[i].dtype, table[i].c_type,
                               "\"mode\":\"naive_double\"", table[i].body, x, rms);
        int n = records_of(names[1], table[i].dtype, table[i].c_type,
                           "\"mode\":\"naive_double\",\"scale\":\"perturbed\"", table[i].body, x,
                           moved);
        double most = table[i].next_most > 0 ? table[i].next_most : table[i].most;
        int first = table[i].n_undefined;
        ck_assert_int_eq(n_all, N_MOVED);
        ck_assert_int_eq(n, N_MOVED - first);
        for (int k = first; k < N_MOVED; k++) {
            const struct hone_oracle_record *got = &moved[k - first];
            double top = k < 512 ? table[i].most : most;
            ck_assert_int_eq(got->index, k);
            ck_assert_msg(got->value == rms[k].value, "row %zu: value %d", i, k);
            ck_assert_msg(fabs(rms[k].scale - table[i].rms) < 1e-3, "row %zu: rms %.9g", i,
                          rms[k].scale);
            ck_assert_msg(got->scale <= top, "row %zu: %d: %g", i, k, got->scale);
        }
        if (n == 0)
            continue;
        ck_assert_msg(moved[0].scale >= table[i].least, "row %zu: %g", i, moved[0].scale);
        ck_assert_msg(moved[512 - first].scale >= fmin(table[i].least, 1), "row %zu: %g", i,
                      moved[512 - first].scale);
    }
}
END_TEST

/* An output of integers beside one of floats moves by nothing. */
START_TEST(integers_beside_floats)
{
    static const char task[] =
        "{\"name\":\"f\",\"axes\":{\"N\":{\"type\":\"var\",\"max\":999}},\"inputs\":{\"x\":{"
        "\"shape\":[\"N\"],\"dtype\":\"float64\"}},\"outputs\":{\"y\":{\"shape\":[\"N\"],\"dtype\":"
        "\"float64\"},\"z\":{\"shape\":[\"N\"],\"dtype\":\"int32\"}},\"tolerance\":{\"y\":{"
        "\"rtol\":"
        "1e-9}},\"oracle\":{\"mode\":\"naive_double\",\"scale\":\"perturbed\"},\"flops\":\"N\","
        "\"bytes\":\"8*N\"}";
    const double values[] = {1, 2, 3, 4, 5, 6};
    struct hone_oracle_record got[12];
    int n = run_reference(
        "beside", task, "{\"id\":\"a\",\"axes\":{\"N\":6}}",
        "#include <stdint.h>\nvoid f(const double *x, double *y, int32_t *z, int64_t "
        "N)\n{ for (int64_t i = 0; i < N; i++) { y[i] = x[i]; z[i] = (int)x[i]; } }\n",
        values, got, 12);
    ck_assert_int_eq(n, 12);
    for (int i = 0; i < 12; i++)
        ck_assert_double_eq(got[i].value, values[i % 6]);
}
END_TEST

UNIT_MAIN("oracle_scale", naive_double_scales, perturbed_scales, integers_beside_floats)
