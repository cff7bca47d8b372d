/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of compiled objects: what goes in comes out, damage counts as absent, it stays small.
 */
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tools/runner/build/blob_cache.h"
#include "tools/runner/build/build_cache.h"
#include "workspace/base/file.h"

enum { OBJECT = 63 << 10, FITS = HONE_BLOB_FOLDER_BYTES / (64 << 10) }; /* with their heads */

static const struct hone_build_entry entry = {.compiler = "cc 1", .command = "cc -c"};

static bool is_there(const char *dir, const char *key, char first)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_build_entry got;
    const char *object = NULL;
    size_t len = 0;
    if (!hone_build_cache_get(dir, key, pool, &got, &object, &len))
        return false;
    ck_assert_uint_eq(len, OBJECT);
    ck_assert_int_eq(object[0], first);
    ck_assert_str_eq(got.compiler, "cc 1");
    return true;
}

static void put(const char *dir, const char *key, char first)
{
    HONE_AUTOFREE char *object = hone_malloc(OBJECT);
    memset(object, first, OBJECT);
    hone_build_cache_put(dir, key, &entry, object, OBJECT);
    nanosleep(&(struct timespec){.tv_nsec = 12000000}, NULL); /* so that ages differ */
}

START_TEST(the_oldest_go)
{
    char dir[] = "/tmp/hone-objects-XXXXXX", key[16];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int i = 0; i < FITS; i++) {
        snprintf(key, sizeof(key), "aa%04d", i);
        put(dir, key, (char)('A' + i));
    }
    for (int i = 0; i < FITS; i++) {
        snprintf(key, sizeof(key), "aa%04d", i);
        ck_assert_msg(is_there(dir, key, (char)('A' + i)), "%s is gone below the bound", key);
        nanosleep(&(struct timespec){.tv_nsec = 12000000}, NULL);
    }
    ck_assert(is_there(dir, "aa0000", 'A')); /* used last */
    put(dir, "bb0000", 'b');                 /* another folder takes no room here */
    put(dir, "aa9998", 'x');
    put(dir, "aa9999", 'y');
    ck_assert(is_there(dir, "aa9998", 'x') && is_there(dir, "aa9999", 'y'));
    ck_assert(is_there(dir, "bb0000", 'b') && is_there(dir, "aa0000", 'A'));
    ck_assert(!is_there(dir, "aa0001", 'B') && !is_there(dir, "aa0002", 'C'));
    ck_assert(is_there(dir, "aa0003", 'D'));
    ck_assert_int_eq(hone_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(one_that_is_larger_than_a_folder_stays)
{
    char dir[] = "/tmp/hone-objects-XXXXXX";
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_build_entry got;
    const char *object = NULL;
    size_t len = 2 * HONE_BLOB_FOLDER_BYTES;
    HONE_AUTOFREE char *large = hone_calloc(1, len);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    put(dir, "aa0000", 'A');
    hone_build_cache_put(dir, "aa1111", &entry, large, len);
    ck_assert(hone_build_cache_get(dir, "aa1111", pool, &got, &object, &len));
    ck_assert_uint_eq(len, 2 * HONE_BLOB_FOLDER_BYTES);
    ck_assert(!is_there(dir, "aa0000", 'A'));
    ck_assert_int_eq(hone_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(damage_counts_as_absent)
{
    char dir[] = "/tmp/hone-objects-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    put(dir, "aa0000", 'A');
    ck_assert(is_there(dir, "aa0000", 'A'));
    HONE_AUTOFREE char *path = hone_sprintf("%s/aa/aa0000.object", dir);
    ck_assert_int_eq(hone_file_write(path, "x", 1, 0644, false, NULL), 0);
    ck_assert(!is_there(dir, "aa0000", 'A'));
    ck_assert_int_eq(hone_remove_tree(dir, NULL), 0);
}
END_TEST

/* What lies in a shared folder runs in the judge. */
START_TEST(a_shared_folder_is_ours_alone)
{
    char dir[] = "/tmp/hone-objects-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    HONE_AUTOFREE char *made = hone_sprintf("%s/cache/hone/objects", dir);
    HONE_AUTOFREE char *link = hone_sprintf("%s/file", dir);
    ck_assert(hone_blob_folder_make(made));
    ck_assert(hone_blob_folder_make(made)); /* it is there already */
    ck_assert(!hone_blob_folder_make("cache/hone"));
    ck_assert(!hone_blob_folder_make(""));
    ck_assert_int_eq(chmod(made, 0777), 0);
    ck_assert(!hone_blob_folder_make(made));
    ck_assert_int_eq(hone_file_write(link, "x", 1, 0644, false, NULL), 0);
    HONE_AUTOFREE char *below = hone_sprintf("%s/objects", link);
    ck_assert(!hone_blob_folder_make(below)); /* below a file */
    ck_assert_int_eq(hone_remove_tree(dir, NULL), 0);
}
END_TEST

UNIT_MAIN("build_cache", the_oldest_go, one_that_is_larger_than_a_folder_stays,
          damage_counts_as_absent, a_shared_folder_is_ours_alone)
