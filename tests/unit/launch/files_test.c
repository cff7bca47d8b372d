/* SPDX-License-Identifier: Apache-2.0 */
/* A call's files on their way: lists, places that are none, pieces, damage, limits. */
#include "tests/unit/unit.h"

#include <string.h>
#include <unistd.h>

#include "tools/launch/files.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

struct bench {
    char dir[64];
    struct hone_pool *pool;
    const char *call, *task, *store, *there;
};

static void put(const struct bench *b, const char *dir, const char *name, const char *text,
                size_t len)
{
    HONE_AUTOFREE char *path = hone_path_join(dir, name, NULL);
    (void)b;
    ck_assert_int_eq(hone_file_write(path, text, len, 0600, false, NULL), 0);
}

static void bench_open(struct bench *b)
{
    strcpy(b->dir, "/tmp/hone-files-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->dir));
    b->pool = hone_pool_new();
    b->call = hone_pool_printf(b->pool, "%s/call", b->dir);
    b->task = hone_pool_printf(b->pool, "%s/task", b->dir);
    b->store = hone_pool_printf(b->pool, "%s/store", b->dir);
    b->there = hone_pool_printf(b->pool, "%s/there", b->dir);
    ck_assert_int_eq(hone_mkdirs(hone_pool_printf(b->pool, "%s/open", b->call), 0700, NULL), 0);
    ck_assert_int_eq(hone_mkdirs(hone_pool_printf(b->pool, "%s/kernels", b->task), 0700, NULL), 0);
    put(b, b->call, "open/candidate.c", "int x;", 6);
    put(b, b->task, "oracle.c", "int x;", 6);
    put(b, b->task, "kernels/naive.c", "", 0);
    ck_assert_int_eq(hone_store_open(b->store, NULL), 0);
}

static void bench_close(struct bench *b)
{
    hone_pool_free(b->pool);
    ck_assert_int_eq(hone_remove_tree(b->dir, NULL), 0);
}

/* The other side's list, as it arrives. */
static void cross(struct bench *b, struct hone_call_files *here, struct hone_call_files *there)
{
    ck_assert_int_eq(hone_call_files_list(b->call, b->task, b->pool, here, NULL), 0);
    HONE_AUTOJSON struct hone_json *json = hone_call_files_to_json(here);
    ck_assert_int_eq(hone_call_files_from_json(json, b->pool, there, NULL), 0);
}

START_TEST(files_arrive)
{
    struct bench b;
    struct hone_call_files here, there;
    const char *task_dir;
    char *text;
    size_t len;
    bench_open(&b);
    cross(&b, &here, &there);
    ck_assert_uint_eq(there.n, 3);
    for (size_t i = 0; i < here.n; i++) {
        if (hone_store_has(b.store, &there.v[i]))
            continue;
        ck_assert_int_eq(hone_file_read(here.v[i].path, 100, &text, &len, NULL), 0);
        ck_assert_int_eq(hone_store_put(b.store, &there.v[i], 0, text, len, NULL), 0);
        free(text);
    }
    for (int again = 0; again < 2; again++) { /* the pack is there the second time */
        ck_assert_int_eq(hone_store_place(b.store, &there, b.there, b.pool, &task_dir, NULL), 0);
        HONE_AUTOFREE char *naive = hone_path_join(task_dir, "kernels/naive.c", NULL);
        HONE_AUTOFREE char *candidate = hone_path_join(b.there, "open/candidate.c", NULL);
        ck_assert(hone_file_exists(naive));
        ck_assert_int_eq(hone_file_read(candidate, 100, &text, &len, NULL), 0);
        ck_assert_str_eq(text, "int x;");
        free(text);
    }
    bench_close(&b);
}
END_TEST

START_TEST(damage_is_seen)
{
    struct bench b;
    struct hone_call_files here, there;
    bench_open(&b);
    cross(&b, &here, &there);
    struct hone_call_file *file = &there.v[0];
    ck_assert_int_eq(hone_store_put(b.store, file, 0, "int", 3, NULL), 0);
    ck_assert(!hone_store_has(b.store, file));
    ck_assert_int_eq(hone_store_put(b.store, file, 3, " y;", 3, NULL), HONE_E_CORRUPT);
    ck_assert(!hone_store_has(b.store, file));
    ck_assert_int_eq(hone_store_put(b.store, file, 3, " x;z", 4, NULL), HONE_E_ARG);
    ck_assert_int_eq(hone_store_put(b.store, file, 0, "int x;", 6, NULL), 0);
    ck_assert(hone_store_has(b.store, file));
    bench_close(&b);
}
END_TEST

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int parse(const char *place, const char *key, const char *size, size_t n)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = {.limit = HONE_LIMIT_BUF_BYTES};
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_call_files files;
    hone_buf_str(&text, "[");
    for (size_t i = 0; i < n; i++)
        hone_buf_printf(&text, "%s{\"place\":\"%s\",\"key\":\"%s\",\"size\":%s}", i > 0 ? "," : "",
                        place, key, size);
    hone_buf_str(&text, "]");
    ck_assert_int_eq(hone_json_parse(text.data, text.len, &json, NULL), 0);
    return hone_call_files_from_json(json, pool, &files, NULL);
}

START_TEST(places_that_are_none)
{
    static const char *const bad[] = {
        "",           "open",    "/etc/passwd", "open/../x",    "open//x",
        "sealed/key", "open/x/", "../open/x",   "open/.hidden", "task/a/b/c/d/e/f"};
    ck_assert_int_eq(parse("open/x", KEY, "1", 1), 0);
    ck_assert_int_eq(parse("task/a/b.c", KEY, "1", 1), 0);
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++)
        ck_assert_msg(parse(bad[i], KEY, "1", 1) == HONE_E_ARG, "%s", bad[i]);
    ck_assert_int_eq(parse("open/x", "../../etc/passwd", "1", 1), HONE_E_ARG);
    ck_assert_int_eq(parse("open/x", KEY, "-1", 1), HONE_E_ARG);
}
END_TEST

START_TEST(limits)
{
    HONE_AUTOFREE char *at = hone_sprintf("%lld", HONE_LIMIT_CALL_FILE_BYTES);
    HONE_AUTOFREE char *above = hone_sprintf("%lld", HONE_LIMIT_CALL_FILE_BYTES + 1);
    ck_assert_int_eq(parse("open/x", KEY, at, 1), 0);
    ck_assert_int_eq(parse("open/x", KEY, above, 1), HONE_E_ARG);
    ck_assert_int_eq(parse("open/x", KEY, "1", HONE_LIMIT_CALL_FILES), 0);
    ck_assert_int_eq(parse("open/x", KEY, "1", HONE_LIMIT_CALL_FILES + 1), HONE_E_LIMIT);
}
END_TEST

UNIT_MAIN("files", files_arrive, damage_is_seen, places_that_are_none, limits)
