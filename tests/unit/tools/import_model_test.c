/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about whole models: what a folder holds when the runner gets it, and answers, good and
 * lying. No Python is needed. */
#include "tests/unit/tools/tool_util.h"

#include <stdlib.h>
#include <string.h>

#include "tools/import/model.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct asked {
    const char *said;
    char *request, *kernel;
};

static int model(void *cookie, const char *folder, struct hone_json **ret, struct hone_err *err)
{
    struct asked *asked = cookie;
    HONE_AUTOFREE char *request = hone_path_join(folder, "request.json", NULL);
    HONE_AUTOFREE char *kernel = hone_path_join(folder, "swap0", "kernel.c", NULL);
    size_t len;
    free(asked->request);
    free(asked->kernel);
    asked->kernel = NULL;
    ck_assert_int_eq(hone_file_read(request, 1 << 20, &asked->request, &len, NULL), 0);
    if (!hone_file_exists(kernel)) {
        free(kernel);
        kernel = hone_path_join(folder, "swap0", "gate.cu", NULL);
    }
    if (hone_file_exists(kernel))
        ck_assert_int_eq(hone_file_read(kernel, 1 << 20, &asked->kernel, &len, NULL), 0);
    return hone_json_parse(asked->said, strlen(asked->said), ret, err);
}

struct folder {
    char root[64];
    char *file, *dir;
    struct asked asked;
    struct hone_executor executor;
    struct hone_model_question q;
    struct hone_model_swap swap;
};

static void put(const struct folder *b, const char *name, const char *text)
{
    HONE_AUTOFREE char *path = hone_path_join(b->dir, name, NULL);
    ck_assert_int_eq(hone_file_write(path, text, strlen(text), 0644, false, NULL), 0);
}

static void folder_open(struct folder *b, const char *said)
{
    strcpy(b->root, "/tmp/hone-model-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->root));
    b->dir = hone_path_join(b->root, "out", NULL);
    b->file = hone_path_join(b->root, "mine.py", NULL);
    b->asked = (struct asked){.said = said};
    b->executor = (struct hone_executor){.name = "table", .model = model, .cookie = &b->asked};
    b->q = (struct hone_model_question){
        .executor = &b->executor, .file = b->file, .threads = 1, .tolerance = 1e-3};
    ck_assert_int_eq(hone_mkdirs(b->dir, 0755, NULL), 0);
    ck_assert_int_eq(hone_file_write(b->file, "x = 1\n", 6, 0644, false, NULL), 0);
}

static void folder_close(struct folder *b)
{
    hone_remove_tree(b->root, NULL);
    free(b->file);
    free(b->dir);
    free(b->asked.request);
    free(b->asked.kernel);
}

static const char export_text[] =
    "# head\nSPEC_TEXT = r\"\"\"{\"name\":\"gate\",\"device\":\"cpu\",\"compile\":\"gcc -O3\","
    "\"record\":{},\"source\":\"int x;\\n\"}\"\"\"\n";
static const char good[] = "{\"is_same\":true}";

static void folder_open_with_swap(struct folder *b)
{
    folder_open(b, good);
    b->swap = (struct hone_model_swap){"blocks.0.gate", b->dir};
    b->q.swaps = &b->swap;
    b->q.n_swaps = 1;
}

static int check(struct folder *b, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *said = NULL;
    return hone_model_check(&b->q, &said, err);
}

START_TEST(an_export_becomes_a_swap)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    folder_open_with_swap(&b);
    put(&b, "other.py", "x = 1\n");
    ck_assert_int_eq(check(&b, &err), HONE_E_NOT_FOUND);
    put(&b, "gate_model.py", export_text);
    ck_assert_msg(check(&b, &err) == 0, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(
        b.asked.request, "\"swaps\":[{\"path\":\"blocks.0.gate\",\"compile\":\"gcc -O3\"}]"));
    ck_assert_str_eq(b.asked.kernel, "int x;\n");
    put(&b, "gate_model.py",
        "\nSPEC_TEXT = r\"\"\"{\"name\":\"gate\",\"device\":\"cpu\",\"record\":{}}\"\"\"\n");
    put(&b, "gate.c", "int beside;\n");
    ck_assert_msg(check(&b, &err) == 0, "%s", err.message);
    ck_assert_str_eq(b.asked.kernel, "int beside;\n");
    folder_close(&b);
}
END_TEST

START_TEST(what_is_no_swap_is_refused)
{
    static const struct {
        const char *text;
        int code;
    } bad[] = {
        {"\nSPEC_TEXT = r\"\"\"{\"name\":\"gate\"", HONE_E_NOT_FOUND},
        {"\nSPEC_TEXT = r\"\"\"{\"name\":}\"\"\"\n", HONE_E_NOT_FOUND},
        {"\nSPEC_TEXT = r\"\"\"{\"name\":\"a\",\"device\":\"cuda\",\"record\":{}}\"\"\"",
         HONE_E_ARG},
        {"\nSPEC_TEXT = r\"\"\"{\"name\":\"a\",\"device\":\"cpu\",\"source\":\"\"}\"\"\"",
         HONE_E_ARG},
        {"\nSPEC_TEXT = r\"\"\"{\"name\":\"../a\",\"device\":\"cpu\",\"record\":{}}\"\"\"",
         HONE_E_ARG},
    };
    struct folder b;
    folder_open_with_swap(&b);
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        struct hone_err err = HONE_ERR_INIT;
        put(&b, "gate_model.py", bad[i].text);
        ck_assert_msg(check(&b, &err) == bad[i].code, "%zu: %s", i, err.message);
    }
    ck_assert_ptr_null(b.asked.request);
    folder_close(&b);
}
END_TEST

/* On a GPU an export compiles itself, so that its source keeps its name; and one for a CPU is none. */
START_TEST(a_swap_on_a_device)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    folder_open_with_swap(&b);
    b.q.is_on_device = true;
    put(&b, "gate_model.py", export_text);
    ck_assert_int_eq(check(&b, &err), HONE_E_ARG);
    ck_assert_ptr_nonnull(
        strstr(err.message, "is of a kernel for cpu, and the model runs on cuda"));
    put(&b, "gate_model.py",
        "\nSPEC_TEXT = r\"\"\"{\"name\":\"gate\",\"device\":\"cuda\",\"record\":{},"
        "\"source\":\"int y;\\n\"}\"\"\"\n");
    ck_assert_msg(check(&b, &err) == 0, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(b.asked.request, "\"device\":\"cuda\""));
    ck_assert_str_eq(b.asked.kernel, "int y;\n");
    folder_close(&b);
}
END_TEST

START_TEST(swaps_have_a_limit)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_model_swap swaps[HONE_LIMIT_MODEL_SWAPS + 1];
    folder_open(&b, good);
    put(&b, "gate_model.py", export_text);
    for (size_t i = 0; i < HONE_COUNTOF(swaps); i++)
        swaps[i] = (struct hone_model_swap){"gate", b.dir};
    b.q.swaps = swaps;
    ck_assert_int_eq(check(&b, &err), HONE_E_ARG);
    b.q.n_swaps = HONE_LIMIT_MODEL_SWAPS;
    ck_assert_msg(check(&b, &err) == 0, "%s", err.message);
    b.q.n_swaps++;
    ck_assert_int_eq(check(&b, &err), HONE_E_LIMIT);
    folder_close(&b);
}
END_TEST

START_TEST(rows_have_a_limit)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    folder_open(&b, good);
    for (int more = 0; more < 2; more++) {
        HONE_AUTOJSON struct hone_json *said = NULL;
        HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
        struct hone_json *rows = hone_json_new_array();
        for (int i = 0; i < HONE_LIMIT_MODEL_ROWS + more; i++)
            hone_json_push(rows, hone_json_new_object());
        hone_json_set(json, "rows", rows);
        HONE_AUTOFREE char *text = hone_json_print(json);
        b.asked.said = text;
        ck_assert_int_eq(hone_model_rank(&b.q, &said, &err), more ? HONE_E_LIMIT : 0);
    }
    folder_close(&b);
}
END_TEST

START_TEST(answers_are_not_believed)
{
    static const struct {
        const char *said;
        int code;
    } bad[] = {{"{\"error\":\"no torch\"}", HONE_E_UNSUPPORTED},
               {"{\"refused\":\"why\"}", HONE_E_ARG},
               {"{\"text\":\"\"}", HONE_E_LIMIT},
               {"{}", HONE_E_LIMIT}};
    struct folder b;
    char *text = NULL;
    folder_open(&b, good);
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        struct hone_err err = HONE_ERR_INIT;
        b.asked.said = bad[i].said;
        ck_assert_int_eq(hone_model_cut(&b.q, &text, &err), bad[i].code);
    }
    struct hone_err err = HONE_ERR_INIT;
    b.executor.model = NULL;
    ck_assert_int_eq(hone_model_cut(&b.q, &text, &err), HONE_E_UNSUPPORTED);
    folder_close(&b);
}
END_TEST

UNIT_MAIN("torch model", an_export_becomes_a_swap, what_is_no_swap_is_refused, a_swap_on_a_device,
          swaps_have_a_limit, rows_have_a_limit, answers_are_not_believed)
