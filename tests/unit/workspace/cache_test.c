/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/workspace/store_util.h"

#include "workspace/cache.h"

static void cache_close_ptr(struct hone_cache **cache)
{
    hone_cache_close(*cache);
}

START_TEST(entries_come_back)
{
    char *dir SCRATCH = scratch();
    struct hone_cache *cache HONE_CLEANUP(cache_close_ptr) = NULL;
    char *bytes HONE_AUTOFREE = NULL;
    size_t len = 0;
    OK(hone_cache_open(dir, 1 << 20, &cache, err));
    FAILS(HONE_E_NOT_FOUND, "", hone_cache_get(cache, "object", "abcd", &bytes, &len, err));
    OK(hone_cache_put(cache, "object", "abcd", "a\0b", 3, err));
    OK(hone_cache_get(cache, "object", "abcd", &bytes, &len, err));
    ck_assert_uint_eq(len, 3);
    ck_assert_mem_eq(bytes, "a\0b", 4);
    hone_free_ptr(&bytes);
    OK(hone_cache_put(cache, "object", "abcd", "", 0, err));
    OK(hone_cache_get(cache, "object", "abcd", &bytes, &len, err));
    ck_assert_uint_eq(len, 0);
    static const char *const bad[] = {"", "a", "../abcd", "ab/cd", ".abcd"};
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++)
        FAILS(HONE_E_ARG, "", hone_cache_put(cache, "object", bad[i], "x", 1, err));
}
END_TEST

START_TEST(damage_counts_as_absent)
{
    static const char *const damaged[] = {"", "hone-cache-1 ", "\0\0\0"};
    char *dir SCRATCH = scratch();
    char *path HONE_AUTOFREE = hone_path_join(dir, ".hone/cache/k/ab/abcd", NULL);
    struct hone_cache *cache HONE_CLEANUP(cache_close_ptr) = NULL;
    char *bytes HONE_AUTOFREE = NULL;
    size_t len = 0;
    OK(hone_cache_open(dir, 1 << 20, &cache, err));
    for (size_t i = 0; i < HONE_COUNTOF(damaged); i++) {
        OK(hone_cache_put(cache, "k", "abcd", "right", 5, err));
        OK(hone_file_write(path, damaged[i], strlen(damaged[i]), 0600, false, err));
        FAILS(HONE_E_NOT_FOUND, "damaged", hone_cache_get(cache, "k", "abcd", &bytes, &len, err));
        ck_assert(!hone_file_exists(path));
    }
    OK(hone_cache_put(cache, "k", "abcd", "right", 5, err));
    char *text HONE_AUTOFREE = NULL;
    OK(hone_file_read(path, 1000, &text, &len, err));
    text[len - 1] ^= 1;
    OK(hone_file_write(path, text, len, 0600, false, err));
    FAILS(HONE_E_NOT_FOUND, "damaged", hone_cache_get(cache, "k", "abcd", &bytes, &len, err));
}
END_TEST

START_TEST(oldest_go_when_the_cap_is_passed)
{
    enum { N = 40, EACH = 1000, CAP = 20000 };
    static char bytes[EACH];
    char *dir SCRATCH = scratch();
    struct hone_cache *cache HONE_CLEANUP(cache_close_ptr) = NULL;
    OK(hone_cache_open(dir, CAP, &cache, err));
    int n_left = 0;
    for (int i = 0; i < N; i++) {
        char *key HONE_AUTOFREE = hone_sprintf("%02dkey", i);
        OK(hone_cache_put(cache, "k", key, bytes, sizeof(bytes), err));
    }
    for (int i = 0; i < N; i++) {
        char *key HONE_AUTOFREE = hone_sprintf("%02dkey", i);
        char *got HONE_AUTOFREE = NULL;
        size_t len = 0;
        bool is_there = hone_cache_get(cache, "k", key, &got, &len, NULL) == 0;
        n_left += is_there;
        if (i == 0)
            ck_assert(!is_there);
        if (i == N - 1)
            ck_assert(is_there);
    }
    ck_assert_int_ge(n_left, CAP / EACH / 2);
    ck_assert_int_lt(n_left * EACH, CAP);
}
END_TEST

START_TEST(entry_limit)
{
    char *dir SCRATCH = scratch();
    struct hone_cache *cache HONE_CLEANUP(cache_close_ptr) = NULL;
    char *got HONE_AUTOFREE = NULL;
    char *bytes HONE_AUTOFREE = calloc(1, HONE_LIMIT_CACHE_BYTES + 1);
    size_t len = 0;
    OK(hone_cache_open(dir, 1ll << 30, &cache, err));
    OK(hone_cache_put(cache, "k", "abcd", bytes, HONE_LIMIT_CACHE_BYTES, err));
    OK(hone_cache_get(cache, "k", "abcd", &got, &len, err));
    ck_assert_uint_eq(len, HONE_LIMIT_CACHE_BYTES);
    FAILS(HONE_E_LIMIT, "at most",
          hone_cache_put(cache, "k", "abcd", bytes, HONE_LIMIT_CACHE_BYTES + 1, err));
}
END_TEST

UNIT_MAIN("cache", entries_come_back, damage_counts_as_absent, oldest_go_when_the_cap_is_passed,
          entry_limit)
