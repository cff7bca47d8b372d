/* SPDX-License-Identifier: Apache-2.0 */
/* The importer against descriptions, good, refused and lying: no Python is needed. */
#include "tests/unit/tools/tool_util.h"

#include <stdlib.h>
#include <string.h>

#include "tools/import/import.h"
#include "workspace/base/file.h"
#include "workspace/task/task.h"

static const char good[] =
    "{\"name\":\"scaled\",\"axes\":{\"rows\":{\"type\":\"var\",\"min\":1,\"max\":64,"
    "\"multiple\":1},\"n8\":{\"type\":\"const\",\"value\":8}},"
    "\"inputs\":{\"x\":{\"shape\":[\"rows\",\"n8\"],\"dtype\":\"float32\","
    "\"role\":\"activation\"}},\"outputs\":{\"out\":{\"shape\":[\"rows\",\"n8\"],"
    "\"dtype\":\"float32\"}},\"scalars\":{},\"bytes\":\"8*rows*n8\","
    "\"workloads\":[{\"rows\":64},{\"rows\":48}],\"record\":\"# hone: {}\","
    "\"naive\":\"void scaled(void) {}\\n\"}";

static int describe(void *cookie, const char *file, const char *name, struct hone_json **ret,
                    struct hone_err *err)
{
    (void)file;
    (void)name;
    return hone_json_parse(cookie, strlen(cookie), ret, err);
}

struct folder {
    char root[64];
    char *file, *dir;
};

static void folder_open(struct folder *b)
{
    strcpy(b->root, "/tmp/hone-import-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->root));
    b->file = hone_path_join(b->root, "1_Scaled.py", NULL);
    b->dir = hone_path_join(b->root, "pack", NULL);
    ck_assert_int_eq(hone_file_write(b->file, "x = 1\n", 6, 0644, false, NULL), 0);
}

static void folder_close(struct folder *b)
{
    hone_remove_tree(b->root, NULL);
    free(b->file);
    free(b->dir);
}

static int import(struct folder *b, const char *said, struct hone_err *err)
{
    char text[4096];
    ck_assert_uint_lt(strlen(said), sizeof text);
    strcpy(text, said);
    const struct hone_executor executor = {.name = "table", .describe = describe, .cookie = text};
    hone_remove_tree(b->dir, NULL);
    const struct hone_torch_place what = {.executor = &executor, .file = b->file, .name = "scaled"};
    return hone_torch_import(&what, b->dir, err);
}

START_TEST(a_description_becomes_a_pack)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    HONE_AUTOFREE char *source = NULL;
    folder_open(&b);
    ck_assert_msg(import(&b, good, &err) == 0, "%s", err.message);
    ck_assert_int_eq(hone_task_load(b.dir, &task, &err), 0);
    ck_assert(task->is_oracle_torch && task->is_oracle_naive_double);
    ck_assert_uint_eq(task->n_workloads, 2);
    ck_assert_str_eq(task->description, "The module of 1_Scaled.py.");
    ck_assert_int_eq(hone_task_oracle_source(task, &source, &err), 0);
    ck_assert_str_eq(source, "# hone: {}\nx = 1\n"); /* the file itself behind the record */
    folder_close(&b);
}
END_TEST

START_TEST(what_is_no_description_is_refused)
{
    static const struct {
        const char *said;
        int code;
        const char *words;
    } cases[] = {
        {"{\"refused\":\"randomness in forward\"}", HONE_E_ARG, "refused: randomness in forward"},
        {"{\"error\":\"no python3 with torch\"}", HONE_E_UNSUPPORTED, "no python3 with torch"},
        {"{}", HONE_E_ARG, ""},
        {"[1]", HONE_E_ARG, ""},
        {"{\"name\":\"../up\",\"axes\":7}", HONE_E_ARG, ""},
    };
    struct folder b;
    folder_open(&b);
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_msg(import(&b, cases[i].said, &err) == cases[i].code, "case %zu: %s", i,
                      err.message);
        ck_assert_msg(strstr(err.message, cases[i].words), "case %zu: %s", i, err.message);
    }
    folder_close(&b);
}
END_TEST

START_TEST(an_executor_without_it_says_so)
{
    const struct hone_executor fake = {.name = "fake"};
    struct hone_err err = HONE_ERR_INIT;
    const struct hone_torch_place what = {.executor = &fake, .file = "x.py", .name = "x"};
    ck_assert_int_eq(hone_torch_import(&what, "/nowhere", &err), HONE_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.message, "fake"));
}
END_TEST

START_TEST(names_come_from_files)
{
    static const char *const cases[][2] = {
        {"level1/19_ReLU.py", "relu_19"},
        {"10_3D_tensor.py", "torch_3d_tensor_10"},
        {"Conv2d__ReLU_.py", "conv2d_relu"},
        {"__.py", "torch_"},
        {"x/relu/definition.json", "relu"},
        {"a/b/plain.py", "plain"},
        {"123.py", "torch__123"},
        /* names that mean something in C or in CUDA's headers */
        {"norm.py", "torch_norm"},
        {"7_Norm.py", "norm_7"},
        {"exp.py", "torch_exp"},
        /* as long as a name may be, and one letter more, which is cut */
        {"gqa_paged_prefill_causal_h32_kv16_d128_ps64_xxxxxxxxxxxxxx.py",
         "gqa_paged_prefill_causal_h32_kv16_d128_ps64_xxxxxxxxxxxxxx"},
        {"gqa_paged_prefill_causal_h32_kv16_d128_ps64_xxxxxxxxxxxxxxx.py",
         "gqa_paged_prefill_causal_h32_kv16_d128_ps64_xxxxxxxxxxxxxx"},
        {"1_gqa_paged_prefill_causal_h32_kv16_d128_ps64_xxxxx.py",
         "gqa_paged_prefill_causal_h32_kv16_d128_ps64_xxxxx_1"},
        {"1_gqa_paged_prefill_causal_h32_kv16_d128_ps64_xxxxxx.py",
         "gqa_paged_prefill_causal_h32_kv16_d128_ps64_xxxxx_1"},
    };
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        ck_assert_str_eq(hone_torch_name(cases[i][0], pool), cases[i][1]);
}
END_TEST

static void agent_open(struct bench *b, char *said, size_t size)
{
    bench_open(b, NULL);
    ck_assert_uint_lt(sizeof good, size);
    strcpy(said, good);
    hone_executor_free(b->app.executor);
    b->app.executor = NULL;
}

START_TEST(an_agent_imports)
{
    static const struct {
        const char *arguments, *words;
    } refused[] = {
        {"{}", "text"},
        {"{\"text\":\"x\",\"file\":\"a.py\",\"name\":\"a\"}", "not both"},
        {"{\"text\":\"x\"}", "give a name"},
        {"{\"text\":\"x\",\"name\":\"../up\"}", "no task name"},
        {"{\"text\":\"x\",\"name\":\"mine\"}", "exists already"},
        {"{\"file\":\"/etc/passwd\"}", "relative path"},
        {"{\"file\":\"tasks/../../a.py\"}", "without dots"},
        {"{\"file\":\".hone/a.py\"}", "without dots"},
        {"{\"file\":\"none.py\"}", "no file"},
        {"{\"file\":\"out.py\"}", "no file"},
    };
    struct bench b;
    char said[4096];
    agent_open(&b, said, sizeof said);
    struct hone_executor executor = {.name = "table", .describe = describe, .cookie = said};
    b.app.executor = &executor;
    HONE_AUTOFREE char *link = hone_path_join(hone_workspace_dir(b.app.ws), "out.py", NULL);
    HONE_AUTOFREE char *outside = hone_path_join(b.dir, "outside.py", NULL);
    ck_assert_int_eq(hone_file_write(outside, "x = 1\n", 6, 0644, false, NULL), 0);
    ck_assert_int_eq(symlink(outside, link), 0);
    struct hone_json *r = bench_ok(&b, "task_import", "{\"text\":\"x = 1\",\"name\":\"mine\"}");
    ck_assert_str_eq(hone_json_get_str(r, "name", ""), "mine");
    for (size_t i = 0; i < HONE_COUNTOF(refused); i++)
        bench_refused(&b, "task_import", refused[i].arguments, refused[i].words);
    bench_refused(&b, "task_import", "{\"text\":\"x\",\"name\":\"mine\",\"force\":true}", "force");
    b.app.executor = NULL;
    bench_close(&b);
}
END_TEST

UNIT_MAIN("torch import", an_agent_imports, a_description_becomes_a_pack,
          what_is_no_description_is_refused, an_executor_without_it_says_so, names_come_from_files)
