/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/buf.h"

#include <string.h>
#include "tests/unit/unit.h"
#include "workspace/base/limits.h"

START_TEST(appends)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_str(&buf, NULL);
    hone_buf_str(&buf, "ab");
    hone_buf_add(&buf, "c\0d", 3);
    hone_buf_printf(&buf, "-%05d", 42);
    ck_assert_uint_eq(buf.len, 11);
    ck_assert(memcmp(buf.data, "abc\0d-00042", 12) == 0);
    hone_buf_drop(&buf, 4);
    ck_assert_str_eq(buf.data, "d-00042");
    hone_buf_drop(&buf, 99);
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_int_eq(hone_buf_check(&buf, NULL), 0);
}
END_TEST

START_TEST(long_printf)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    for (int width = 250; width < 262; width++) {
        size_t before = buf.len;
        hone_buf_printf(&buf, "%*d", width, 7);
        ck_assert_uint_eq(buf.len, before + (size_t)width);
        ck_assert_int_eq(buf.data[buf.len - 1], '7');
        ck_assert_int_eq(buf.data[buf.len], '\0');
    }
}
END_TEST

START_TEST(limit_at_and_above)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = {.limit = 10};
    struct hone_err err = HONE_ERR_INIT;
    hone_buf_add(&buf, "0123456789", 10);
    ck_assert_int_eq(hone_buf_check(&buf, &err), 0);
    hone_buf_add(&buf, "", 0);
    ck_assert_int_eq(hone_buf_check(&buf, &err), 0);
    hone_buf_str(&buf, "x");
    ck_assert_int_eq(hone_buf_check(&buf, &err), HONE_E_LIMIT);
    ck_assert_str_eq(err.message, "text is longer than the 10 bytes accepted");
    ck_assert_str_eq(buf.data, "0123456789");
    hone_buf_done(&buf);
    ck_assert_uint_eq(buf.limit, 10);
    hone_buf_printf(&buf, "%s", "01234567890");
    ck_assert_int_eq(hone_buf_check(&buf, &err), HONE_E_LIMIT);
    hone_buf_str(&buf, "a"); /* would fit, but the text is broken already */
    ck_assert_uint_eq(buf.len, 0);
}
END_TEST

START_TEST(default_limit_at_and_above)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    HONE_AUTOFREE char *half = hone_calloc(1, HONE_LIMIT_BUF_BYTES / 2);
    hone_buf_add(&buf, half, HONE_LIMIT_BUF_BYTES / 2);
    hone_buf_add(&buf, half, HONE_LIMIT_BUF_BYTES / 2);
    ck_assert_int_eq(hone_buf_check(&buf, NULL), 0);
    hone_buf_add(&buf, "x", 1);
    ck_assert_int_eq(hone_buf_check(&buf, NULL), HONE_E_LIMIT);
}
END_TEST

START_TEST(no_memory)
{
    struct hone_buf buf = {.limit = SIZE_MAX / 2};
    struct hone_err err = HONE_ERR_INIT;
    hone_buf_str(&buf, "kept");
    hone_buf_printf(&buf, "%*d", 1, 1);
    size_t cap = buf.cap;
    buf.cap = buf.len + 1; /* no room left, and doubling it cannot be had */
    buf.len = SIZE_MAX / 4;
    hone_buf_add(&buf, "x", SIZE_MAX / 8);
    ck_assert_int_eq(hone_buf_check(&buf, &err), HONE_E_NOMEM);
    buf.cap = cap;
    hone_buf_done(&buf);
}
END_TEST

START_TEST(steal)
{
    struct hone_buf buf = HONE_BUF_INIT;
    HONE_AUTOFREE char *empty = hone_buf_steal(&buf);
    ck_assert_str_eq(empty, "");
    hone_buf_str(&buf, "x");
    HONE_AUTOFREE char *text = hone_buf_steal(&buf);
    ck_assert_str_eq(text, "x");
    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.len, 0);
}
END_TEST

static void note(void *arg)
{
    int *order = arg;
    order[0] = order[0] * 10 + order[1];
}

static void note_two(void *arg)
{
    int *order = arg;
    order[0] = order[0] * 10 + 2;
}

START_TEST(pool)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *p = hone_pool_new();
    unsigned char *last = NULL;
    for (size_t size = 0; size < 40000; size = size * 3 + 1) {
        unsigned char *at = hone_pool_alloc(p, size);
        ck_assert_ptr_ne(at, last);
        ck_assert_uint_eq((uintptr_t)at % 16, 0);
        for (size_t i = 0; i < size; i++)
            ck_assert_int_eq(at[i], 0);
        if (size > 0)
            memset(at, 0xAA, size);
        last = at;
    }
    ck_assert_ptr_null(hone_pool_strdup(p, NULL));
    ck_assert_str_eq(hone_pool_strdup(p, "abc"), "abc");
    ck_assert_str_eq(hone_pool_strndup(p, "abc", 2), "ab");
    ck_assert_str_eq(hone_pool_strndup(p, "abc", 9), "abc");
    ck_assert_str_eq(hone_pool_printf(p, "%s-%d", "x", 5), "x-5");
}
END_TEST

START_TEST(pool_defers_in_reverse)
{
    int order[2] = {0, 1};
    struct hone_pool *p = hone_pool_new();
    hone_pool_defer(p, note, order);
    hone_pool_defer(p, note_two, order);
    ck_assert_int_eq(order[0], 0);
    hone_pool_free(p);
    ck_assert_int_eq(order[0], 21);
    hone_pool_free(NULL);
}
END_TEST

START_TEST(steal_macro_and_free)
{
    char *owned = hone_strdup("x");
    char *taken = HONE_STEAL(owned);
    ck_assert_ptr_null(owned);
    ck_assert_str_eq(taken, "x");
    hone_free_ptr(&taken);
    ck_assert_ptr_null(taken);
    HONE_AUTOFREE char *made = hone_sprintf("%s %d", "a", 1);
    ck_assert_str_eq(made, "a 1");
    HONE_AUTOFREE char *part = hone_strndup("abc", 2);
    ck_assert_str_eq(part, "ab");
}
END_TEST

START_TEST(lists_of_a_pool_grow)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *p = hone_pool_new();
    size_t room = 0, n_copies = 0;
    int *list = NULL;
    for (int n = 0; n < 5000; n++) {
        const int *before = list;
        list = hone_pool_grow(p, list, sizeof(*list), (size_t)n, &room);
        ck_assert_uint_gt(room, (size_t)n);
        ck_assert_int_eq(list[n], 0);
        n_copies += list != before;
        list[n] = n + 1;
    }
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(list[i], i + 1);
    ck_assert_uint_le(n_copies, 10);
}
END_TEST

UNIT_MAIN("buf", appends, long_printf, limit_at_and_above, default_limit_at_and_above, no_memory,
          steal, pool, pool_defers_in_reverse, steal_macro_and_free, lists_of_a_pool_grow)
