/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: what parses, what is refused and where, limits at and above, what the device would refuse,
 * and what people are shown. */
#include "tools/format/plan.h"

#include <string.h>

#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

#define PLAN(rest)                                                                                 \
    "{\"format\":1,\"task\":\"sum\",\"workload\":\"w1\",\"n_tensors\":2,\"scratch\":[{\"value\":"  \
    "1024}],\"ops\":[" rest "]}"
#define LAUNCH(rest)                                                                               \
    "{\"kind\":\"launch\",\"kernel\":\"_Z3sumPKfPfi\",\"grid_x\":4,\"grid_y\":1,\"grid_z\":1,"     \
    "\"block_x\":128,\"block_y\":1,\"block_z\":1" rest "}"
#define BYTES                                                                                      \
    ",\"bytes\":\"0000000000000000000000000000000040000000\",\"params\":[{\"at\":0,\"size\":8},"   \
    "{\"at\":8,\"size\":8},{\"at\":16,\"size\":4}]"
#define POINTERS                                                                                   \
    ",\"pointers\":[{\"at\":0,\"buffer\":0,\"offset\":0},{\"at\":8,\"buffer\":2,\"offset\":-16}]"
#define GOOD LAUNCH(BYTES POINTERS)

static struct hone_plan parse(const char *text, struct hone_pool *pool)
{
    struct hone_plan plan;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_plan_parse(text, strlen(text), pool, &plan, &err) == 0, "%s: %s", err.path,
                  err.message);
    return plan;
}

#define POOL HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new()

START_TEST(round_trip)
{
    POOL;
    struct hone_plan plan = parse(
        PLAN(GOOD ",{\"kind\":\"memset\",\"after\":[{\"value\":0}],\"to_buffer\":1,\"n_bytes\":"
                  "64,\"value\":255,\"element_bytes\":1},"
                  "{\"kind\":\"copy\",\"to_buffer\":2,\"from_buffer\":1,\"n_bytes\":8},"
                  "{\"kind\":\"literal\",\"to_buffer\":-1,\"to_symbol\":\"table\",\"n_bytes\":2,"
                  "\"bytes\":\"0aff\",\"after\":[{\"value\":1},{\"value\":2}]}"),
        pool);
    ck_assert_uint_eq(plan.ops.n, 4);
    HONE_AUTOFREE char *first = hone_plan_print(&plan);
    struct hone_plan again = parse(first, pool);
    HONE_AUTOFREE char *second = hone_plan_print(&again);
    ck_assert_str_eq(first, second);
    ck_assert(hone_plan_equal(&plan, &again, NULL));
    HONE_AUTOFREE char *text = hone_plan_describe(&plan);
    ck_assert_str_eq(text, "sum <<<4, 128>>>\n"
                           "memset 64 bytes of 0xff to tensor 1\n"
                           "copy 8 bytes to scratch 0 from tensor 1 after nothing\n"
                           "literal 2 bytes to table after 2, 3");
}
END_TEST

struct refusal {
    const char *text, *path, *message;
};

static const struct refusal refusals[] = {
    {"[]", "", ""},
    {"{\"format\":2,\"task\":\"a\",\"workload\":\"b\",\"n_tensors\":1}", "format", ""},
    {PLAN("{\"kind\":\"call\"}"), "ops[0].kind", "launch"},
    {PLAN(LAUNCH(",\"bytes\":\"0\"")), "ops[0].bytes", "pairs of hex"},
    {PLAN(LAUNCH(",\"bytes\":\"0G\"")), "ops[0].bytes", "pairs of hex"},
    {PLAN(LAUNCH(",\"bytes\":\"00\"")), "ops[0].bytes", "end with the last"},
    {PLAN(LAUNCH(",\"params\":[{\"at\":0,\"size\":8}]")), "ops[0].params", "inside"},
    {PLAN(LAUNCH(BYTES ",\"pointers\":[{\"at\":16,\"buffer\":0}]")), "ops[0].pointers", "inside"},
    {PLAN(LAUNCH(BYTES ",\"pointers\":[{\"at\":12,\"buffer\":0}]")), "ops[0].pointers", "zero"},
    {PLAN(LAUNCH(BYTES ",\"pointers\":[{\"at\":0,\"buffer\":3}]")), "ops[0].pointers", "buffer"},
    {PLAN(LAUNCH(BYTES ",\"pointers\":[{\"at\":0,\"buffer\":-1}]")), "ops[0].pointers", "symbol"},
    {PLAN(LAUNCH(BYTES ",\"pointers\":[{\"at\":0,\"buffer\":0,\"symbol\":\"x\"}]")),
     "ops[0].pointers", "buffer"},
    {PLAN(LAUNCH(BYTES ",\"pointers\":[{\"at\":0,\"buffer\":0},{\"at\":4,\"buffer\":0}]")),
     "ops[0].pointers", "ascending"},
    {PLAN(LAUNCH(BYTES ",\"maps\":[{\"at\":0,\"rank\":1,\"buffer\":0}]")), "ops[0].maps", "inside"},
    {PLAN(LAUNCH(",\"after\":[{\"value\":0}]")), "ops[0].after", "earlier"},
    {PLAN(LAUNCH(",\"n_bytes\":4")), "ops[0].kind", "no to"},
    {PLAN("{\"kind\":\"launch\"}"), "ops[0].kernel", "needs a kernel"},
    {PLAN("{\"kind\":\"memset\",\"to_buffer\":1,\"n_bytes\":6,\"element_bytes\":4}"),
     "ops[0].n_bytes", "multiple"},
    {PLAN("{\"kind\":\"memset\",\"to_buffer\":1,\"n_bytes\":6,\"element_bytes\":3}"),
     "ops[0].element_bytes", "1, 2 or 4"},
    {PLAN("{\"kind\":\"memset\",\"to_buffer\":1,\"n_bytes\":6,\"element_bytes\":1,\"value\":256}"),
     "ops[0].value", "fit"},
    {PLAN("{\"kind\":\"memset\",\"to_buffer\":9,\"n_bytes\":6,\"element_bytes\":1}"), "ops[0].to",
     ""},
    {PLAN("{\"kind\":\"memset\",\"to_buffer\":1,\"n_bytes\":6,\"element_bytes\":1,\"grid_x\":1}"),
     "ops[0].kind", "shape"},
    {PLAN("{\"kind\":\"copy\",\"to_buffer\":1,\"n_bytes\":0}"), "ops[0].n_bytes", ""},
    {PLAN("{\"kind\":\"copy\",\"to_buffer\":1,\"from_buffer\":-1,\"n_bytes\":4}"), "ops[0].from",
     ""},
    {PLAN("{\"kind\":\"literal\",\"to_buffer\":1,\"n_bytes\":4,\"bytes\":\"00\"}"), "ops[0].bytes",
     "n_bytes"},
    {PLAN("{\"kind\":\"literal\",\"to_buffer\":1,\"n_bytes\":1,\"bytes\":\"00\",\"kernel\":\"k\"}"),
     "ops[0].kind", "only a launch"},
    {"{\"format\":1,\"task\":\"a\",\"workload\":\"b\",\"n_tensors\":1,\"scratch\":[{\"value\":0}]}",
     "scratch", "bytes"},
};

START_TEST(refused_with_the_place)
{
    for (size_t i = 0; i < HONE_COUNTOF(refusals); i++) {
        POOL;
        struct hone_plan plan;
        struct hone_err err = HONE_ERR_INIT;
        int rc = hone_plan_parse(refusals[i].text, strlen(refusals[i].text), pool, &plan, &err);
        ck_assert_msg(rc < 0, "accepted: %s", refusals[i].text);
        ck_assert_msg(strcmp(err.path, refusals[i].path) == 0, "%s: %s at '%s'", refusals[i].text,
                      err.message, err.path);
        ck_assert_msg(strstr(err.message, refusals[i].message) != NULL, "%s: %s", refusals[i].text,
                      err.message);
    }
}
END_TEST

/* A plan of n operations, or a literal or launch of n bytes, or n scratch buffers. */
static int parse_many(const char *what, size_t n, struct hone_err *err)
{
    POOL;
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    struct hone_plan plan;
    bool is_ops = strcmp(what, "ops") == 0, is_scratch = strcmp(what, "scratch") == 0;
    hone_buf_str(&buf, "{\"format\":1,\"task\":\"a\",\"workload\":\"b\",\"n_tensors\":1");
    hone_buf_str(&buf, is_scratch ? ",\"scratch\":[" : ",\"ops\":[");
    for (size_t i = 0; i < n && (is_ops || is_scratch); i++)
        hone_buf_printf(&buf, "%s%s", i > 0 ? "," : "",
                        is_ops ? "{\"kind\":\"launch\",\"kernel\":\"k\"}" : "{\"value\":4}");
    if (strcmp(what, "params") == 0)
        hone_buf_printf(
            &buf, "{\"kind\":\"launch\",\"kernel\":\"k\",\"params\":[{\"at\":0,\"size\":%zu}]", n);
    if (strcmp(what, "literal") == 0)
        hone_buf_printf(&buf,
                        "{\"kind\":\"literal\",\"n_bytes\":1,\"bytes\":\"01\"},{\"kind\":"
                        "\"literal\",\"n_bytes\":%zu",
                        n - 1);
    if (!is_ops && !is_scratch) {
        hone_buf_str(&buf, ",\"bytes\":\"");
        for (size_t i = strcmp(what, "literal") == 0; i < n; i++)
            hone_buf_str(&buf, "7f");
        hone_buf_str(&buf, "\"}");
    }
    hone_buf_str(&buf, "]}");
    return hone_plan_parse(buf.data, buf.len, pool, &plan, err);
}

START_TEST(limits_at_and_above)
{
    static const struct {
        const char *what;
        size_t most;
    } limits[] = {{"ops", HONE_LIMIT_PLAN_OPS},
                  {"scratch", HONE_LIMIT_PLAN_SCRATCH},
                  {"params", HONE_LIMIT_PLAN_PARAM_BYTES},
                  {"literal", HONE_LIMIT_PLAN_LITERAL_BYTES}};
    for (size_t i = 0; i < HONE_COUNTOF(limits); i++) {
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(parse_many(limits[i].what, limits[i].most, &err) == 0, "%s: %s: %s",
                      limits[i].what, err.path, err.message);
        ck_assert_msg(parse_many(limits[i].what, limits[i].most + 1, &err) < 0, "%s + 1",
                      limits[i].what);
    }
    POOL;
    struct hone_plan plan;
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *big = hone_calloc(1, HONE_LIMIT_PLAN_BYTES + 2);
    memset(big, ' ', HONE_LIMIT_PLAN_BYTES + 1);
    ck_assert_int_eq(hone_plan_parse(big, HONE_LIMIT_PLAN_BYTES + 1, pool, &plan, &err),
                     HONE_E_LIMIT);
    ck_assert_int_eq(hone_plan_parse(big, HONE_LIMIT_PLAN_BYTES, pool, &plan, &err), HONE_E_ARG);
}
END_TEST

static const struct hone_plan_device h200 = {.sm_count = 132,
                                             .threads_per_block = 1024,
                                             .threads_per_sm = 2048,
                                             .shared_per_block_optin = 232448,
                                             .shared_per_sm = 233472,
                                             .grid_x = INT32_MAX,
                                             .grid_y = 65535,
                                             .grid_z = 65535,
                                             .major = 9,
                                             .minor = 0,
                                             .memory_bytes = 1ll << 37};

#define SHAPED(x, y, z, rest)                                                                      \
    "{\"kind\":\"launch\",\"kernel\":\"_Z3sumPKfPfi\",\"grid_x\":" #x                              \
    ",\"grid_y\":1,\"grid_z\":1,"                                                                  \
    "\"block_x\":" #y ",\"block_y\":1,\"block_z\":" #z ",\"line\":7" BYTES rest "}"

static const struct {
    const char *op, *message; /* NULL: good */
} held[] = {
    {SHAPED(4, 256, 1, ""), NULL},
    {SHAPED(0, 256, 1, ""), "line 7: sum: grid (0, 1, 1) has a 0"},
    {SHAPED(4, 0, 1, ""), "block (0, 1, 1) has a 0"},
    {SHAPED(4, 2048, 1, ""), "> 1024 threads"},
    {SHAPED(4, 4, 65, ""), "64 in z"},
    {SHAPED(3000000000, 32, 1, ""), "grid (3000000000, 1, 1) >"},
    {SHAPED(4, 512, 1, ""), "512 threads a block > 256"},
    {SHAPED(1056, 256, 1, ",\"is_cooperative\":true"), NULL},
    {SHAPED(2112, 256, 1, ",\"is_cooperative\":true"),
     "grid 2112 > 1056 blocks that can be resident (8 per SM, 132 SMs)"},
    {SHAPED(4, 32, 1, ",\"shared_bytes\":231424"), NULL},
    {SHAPED(4, 32, 1, ",\"shared_bytes\":231425"), "1024 static + 231425 dynamic > 232448"},
    {SHAPED(4, 32, 1, ",\"cluster_x\":4,\"cluster_y\":1,\"cluster_z\":1"), NULL},
    {SHAPED(5, 32, 1, ",\"cluster_x\":4,\"cluster_y\":1,\"cluster_z\":1"),
     "no multiple of cluster"},
    {SHAPED(32, 32, 1, ",\"cluster_x\":32,\"cluster_y\":1,\"cluster_z\":1"), "> 16 blocks"},
    {SHAPED(32, 32, 1, ",\"cluster_x\":4"), "has a 0"},
    {"{\"kind\":\"launch\",\"kernel\":\"other\",\"grid_x\":1,\"grid_y\":1,\"grid_z\":1,\"block_x\":"
     "1,"
     "\"block_y\":1,\"block_z\":1}",
     "other: not in the compiled module"},
    {"{\"kind\":\"launch\",\"kernel\":\"_Z3sumPKfPfi\",\"grid_x\":1,\"grid_y\":1,\"grid_z\":1,"
     "\"block_x\":1,"
     "\"block_y\":1,\"block_z\":1}",
     "3 parameters in the module, 0 in the launch"},
    {"{\"kind\":\"memset\",\"to_buffer\":1,\"n_bytes\":4096,\"element_bytes\":1}", NULL},
    {"{\"kind\":\"memset\",\"to_buffer\":1,\"n_bytes\":4097,\"element_bytes\":1}",
     "memset: bytes 0 to 4097 of a buffer of 4096 bytes"},
    {"{\"kind\":\"memset\",\"to_buffer\":2,\"to_offset\":1020,\"n_bytes\":5,\"element_bytes\":1}",
     "1020 to 1025"},
    {"{\"kind\":\"memset\",\"to_buffer\":1,\"to_offset\":-1,\"n_bytes\":5,\"element_bytes\":1}",
     "bytes -1"},
    {"{\"kind\":\"memset\",\"n_bytes\":4,\"element_bytes\":1}", "writes input 1"},
    {"{\"kind\":\"copy\",\"to_buffer\":1,\"n_bytes\":4096,\"from_buffer\":0}", NULL},
    {"{\"kind\":\"copy\",\"to_buffer\":1,\"n_bytes\":4096,\"from_buffer\":2}", "of 1024"},
    {"{\"kind\":\"copy\",\"to_buffer\":0,\"n_bytes\":4,\"from_buffer\":2}", "writes input 1"},
};

START_TEST(held_against_task_module_and_device)
{
    static const int64_t tensor_bytes[] = {4096, 4096};
    static const struct hone_plan_kernel kernel = {.name = "_Z3sumPKfPfi",
                                                   .n_params = 3,
                                                   .param_bytes = 20,
                                                   .registers = 32,
                                                   .static_shared_bytes = 1024,
                                                   .max_threads = 256};
    for (size_t i = 0; i < HONE_COUNTOF(held); i++) {
        POOL;
        struct hone_err err = HONE_ERR_INIT;
        HONE_AUTOFREE char *text = hone_sprintf(PLAN("%s"), held[i].op);
        struct hone_plan plan = parse(text, pool);
        int rc = hone_plan_check(&plan, tensor_bytes, 1, &kernel, 1, &h200, &err);
        if (held[i].message == NULL)
            ck_assert_msg(rc == 0, "%s: %s", held[i].op, err.message);
        else
            ck_assert_msg(rc == HONE_E_ARG && strstr(err.message, held[i].message) != NULL,
                          "%s: %d %s", held[i].op, rc, err.message);
    }
}
END_TEST

START_TEST(occupancy)
{
    static const struct {
        int64_t registers, shared, max_threads, threads, dynamic, blocks;
    } rows[] = {{32, 0, 0, 256, 0, 8},      {64, 0, 0, 256, 0, 4},         {255, 0, 0, 256, 0, 1},
                {168, 0, 0, 384, 0, 1},     {32, 0, 0, 32, 0, 32},         {16, 0, 0, 1024, 0, 2},
                {32, 0, 0, 128, 232448, 1}, {32, 0, 0, 128, 113 << 10, 2}, {32, 0, 128, 256, 0, 0},
                {0, 0, 0, 2048, 0, 0}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        const struct hone_plan_kernel kernel = {.registers = rows[i].registers,
                                                .static_shared_bytes = rows[i].shared,
                                                .max_threads = rows[i].max_threads};
        int64_t got = hone_plan_occupancy(&kernel, &h200, rows[i].threads, rows[i].dynamic);
        ck_assert_msg(got == rows[i].blocks, "row %zu: %d", i, (int)got);
    }
}
END_TEST

START_TEST(tensor_maps)
{
    static const struct {
        int64_t dtype, dim, stride, box, swizzle;
        uint64_t address;
        const char *message;
    } rows[] = {
        {6, 4096, 8192, 64, 3, 0, NULL},
        {6, 4096, 8192, 128, 3, 0, "mapA: innermost box 128 x 2 bytes = 256 > swizzle span 128"},
        {6, 4096, 8192, 128, 0, 0, NULL},
        {6, 4096, 8192, 257, 0, 0, "box[0] = 257 is not in 1..256"},
        {6, 4096, 8190, 64, 3, 0, "stride 0 = 8190 bytes is no multiple of 16"},
        {6, 4096, 8192, 64, 3, 8, "8 bytes beside a multiple of 16"},
        {7, 4096, 8192, 3, 0, 0, "innermost box 3 x 4 bytes = 12 is no multiple of 16"},
        {6, 0, 8192, 64, 3, 0, "dimension 0 = 0"},
        {99, 64, 8192, 64, 3, 0, "data type 99"},
        {6, 64, 8192, 64, 9, 0, "swizzle 9"}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        struct hone_plan_number dims[] = {{rows[i].dim}, {64}}, strides[] = {{rows[i].stride}},
                                box[] = {{rows[i].box}, {64}}, steps[] = {{1}, {1}};
        struct hone_plan_map map = {.dtype = rows[i].dtype,
                                    .rank = 2,
                                    .swizzle = rows[i].swizzle,
                                    .dims = {dims, 2},
                                    .strides = {strides, 1},
                                    .box = {box, 2},
                                    .element_strides = {steps, 2}};
        struct hone_err err = HONE_ERR_INIT;
        int rc = hone_plan_map_check(&map, "mapA", rows[i].address, &err);
        if (rows[i].message == NULL)
            ck_assert_msg(rc == 0, "row %zu: %s", i, err.message);
        else
            ck_assert_msg(rc < 0 && strstr(err.message, rows[i].message) != NULL, "row %zu: %s", i,
                          err.message);
    }
}
END_TEST

START_TEST(names_for_people)
{
    static const char *const rows[][2] = {
        {"_Z5tiledILi16EEvPf", "tiled<16>"},
        {"_Z5tiledILi16EfEvPKT0_S2_PS0_iii6Params", "tiled<16, float>"},
        {"_ZN3gpu4math3sumEPf", "gpu::math::sum"},
        {"_ZL3sumPf", "sum"},
        {"_Z1kIL4Mode1ELi2EEvv", "k<1, 2>"},
        {"_ZN12_GLOBAL__N_13sumEPf", "sum"},
        {"_Z1kILb1ELin3E6__halfEvv", "k<true, -3, __half>"},
        {"_Z1kISt6vectorIiEEvv", "k<...77f2>"},
        {"_ZN3cub6detail3sumIN4cuda3maxEEEvPf", "cub::detail::sum<...e9f4>"},
        {"plain", "plain"},
        {"_Z", "_Z"},
        {"_Z99k", "_Z99k"}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        char name[100];
        hone_plan_pretty(rows[i][0], name, sizeof name);
        ck_assert_str_eq(name, rows[i][1]);
    }
    char small[4];
    hone_plan_pretty("_Z5tiledILi16EEvPf", small, sizeof small);
    ck_assert_str_eq(small, "_Z5");
}
END_TEST

START_TEST(first_difference)
{
    static const struct {
        const char *a, *b, *why;
    } rows[] = {{GOOD, LAUNCH(BYTES), "operation 1: pointers"},
                {GOOD, SHAPED(5, 128, 1, POINTERS), "operation 1: grid"},
                {SHAPED(4, 128, 1, POINTERS), GOOD, NULL}, /* lines do not count */
                {GOOD, "{\"kind\":\"copy\",\"to_buffer\":1,\"n_bytes\":4}", "operation 1: kind"},
                {GOOD, GOOD "," GOOD, "1 operations and 1 scratch buffers, not 2 and 1"}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        POOL;
        char why[200] = "";
        HONE_AUTOFREE char *x = hone_sprintf(PLAN("%s"), rows[i].a);
        HONE_AUTOFREE char *y = hone_sprintf(PLAN("%s"), rows[i].b);
        struct hone_plan a = parse(x, pool), b = parse(y, pool);
        ck_assert(hone_plan_equal(&a, &b, why) == (rows[i].why == NULL));
        ck_assert_str_eq(why, rows[i].why == NULL ? "" : rows[i].why);
    }
}
END_TEST

UNIT_MAIN("plan", round_trip, refused_with_the_place, limits_at_and_above,
          held_against_task_module_and_device, occupancy, tensor_maps, names_for_people,
          first_difference)
