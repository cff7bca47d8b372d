/* SPDX-License-Identifier: Apache-2.0 */
/* Which form a file has, what of a folder is a problem, and the limits of both. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/import/form.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

static const char definition[] = "{\"axes\": {}, \"reference\": \"\"}\n";

struct folder {
    char root[64];
    struct hone_pool *pool;
    struct hone_problem *found;
    size_t n;
};

static void folder_open(struct folder *b)
{
    strcpy(b->root, "/tmp/hone-form-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->root));
    b->pool = hone_pool_new();
}

static void folder_close(struct folder *b)
{
    hone_remove_tree(b->root, NULL);
    hone_pool_free(b->pool);
}

static void put(struct folder *b, const char *name, const char *text)
{
    HONE_AUTOFREE char *path = hone_path_join(b->root, name, NULL);
    HONE_AUTOFREE char *dir = hone_strdup(path);
    *strrchr(dir, '/') = '\0';
    ck_assert_int_eq(hone_mkdirs(dir, 0755, NULL), 0);
    ck_assert_int_eq(hone_file_write(path, text, strlen(text), 0644, false, NULL), 0);
}

static int walk(struct folder *b, const char *form, struct hone_err *err)
{
    return hone_form_walk(b->root, form ? hone_form_by_name(form) : NULL, b->pool, &b->found, &b->n,
                          err);
}

START_TEST(problems_are_known_by_content)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    folder_open(&b);
    put(&b, "plain.py", "x = 1\n");
    put(&b, "below/plain.py", "x = 1\n");
    put(&b, "below/module.py", "def get_init_inputs(): pass\n");
    put(&b, "set/definitions/kind/norm.json", definition);
    put(&b, "set/other.json", "{\"axes\": 1}\n");
    put(&b, ".hidden/norm.json", definition);
    HONE_AUTOFREE char *link = hone_path_join(b.root, "link", NULL);
    ck_assert_int_eq(symlink(b.root, link), 0);
    ck_assert_int_eq(walk(&b, NULL, &err), 0);
    ck_assert_uint_eq(b.n, 3);
    ck_assert_str_eq(b.found[0].shown, "below/module.py");
    ck_assert_str_eq(b.found[0].form->name, "kernelbench");
    ck_assert_str_eq(b.found[1].shown, "plain.py");
    ck_assert_str_eq(b.found[2].shown, "set/definitions/kind/norm.json");
    ck_assert_str_eq(b.found[2].form->name, "flashinfer");
    ck_assert_int_eq(walk(&b, "flashinfer", &err), 0);
    ck_assert_uint_eq(b.n, 1);
    ck_assert_ptr_null(hone_form_by_name("unknown"));
    folder_close(&b);
}
END_TEST

START_TEST(folders_lie_only_so_deep)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    folder_open(&b);
    HONE_CLEANUP(hone_buf_done) struct hone_buf name = HONE_BUF_INIT;
    for (int i = 0; i < HONE_LIMIT_IMPORT_DEPTH; i++)
        hone_buf_str(&name, "d/");
    HONE_AUTOFREE char *at = hone_sprintf("%sa.json", name.data);
    HONE_AUTOFREE char *above = hone_sprintf("%sd/a.json", name.data);
    put(&b, at, definition);
    ck_assert_int_eq(walk(&b, NULL, &err), 0);
    ck_assert_uint_eq(b.n, 1);
    put(&b, above, definition);
    ck_assert_int_eq(walk(&b, NULL, &err), HONE_E_LIMIT);
    folder_close(&b);
}
END_TEST

START_TEST(folders_hold_only_so_many_files)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    folder_open(&b);
    for (int i = 0; i <= HONE_LIMIT_IMPORT_FILES; i++) {
        HONE_AUTOFREE char *path = hone_sprintf("%s/%d.txt", b.root, i);
        if (i == HONE_LIMIT_IMPORT_FILES)
            ck_assert_int_eq(walk(&b, NULL, &err), 0);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        close(fd);
    }
    ck_assert_int_eq(walk(&b, NULL, &err), HONE_E_LIMIT);
    folder_close(&b);
}
END_TEST

/* A file of that many bytes, all zero: no safetensors file. */
static int store_zeros(struct folder *b, int64_t bytes, struct hone_err *err)
{
    static const char text[] = "{\"inputs\":{\"x\":{\"dtype\":\"float32\",\"role\":\"weight\"}},"
                               "\"stored\":[{\"input\":\"x\",\"file\":\"z\",\"key\":\"x\"}]}";
    HONE_AUTOJSON struct hone_json *said = NULL;
    HONE_AUTOFREE char *file = hone_path_join(b->root, "definition.json", NULL);
    HONE_AUTOFREE char *path = hone_path_join(b->root, "z", NULL);
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, bytes), 0);
    close(fd);
    ck_assert_int_eq(hone_json_parse(text, strlen(text), &said, NULL), 0);
    return hone_form_store(b->root, file, said, err);
}

START_TEST(files_of_stored_inputs_are_limited)
{
    struct folder b;
    struct hone_err err = HONE_ERR_INIT;
    folder_open(&b);
    put(&b, "definition.json", definition);
    ck_assert_int_eq(store_zeros(&b, HONE_LIMIT_IMPORT_STORED, &err), HONE_E_ARG);
    ck_assert_int_eq(store_zeros(&b, HONE_LIMIT_IMPORT_STORED + 1, &err), HONE_E_LIMIT);
    folder_close(&b);
}
END_TEST

UNIT_MAIN("form", problems_are_known_by_content, folders_lie_only_so_deep,
          folders_hold_only_so_many_files, files_of_stored_inputs_are_limited)
