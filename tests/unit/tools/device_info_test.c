/* SPDX-License-Identifier: Apache-2.0 */
/* What device_info says of caches, with the folder of the system's or without it. */
#include "tests/unit/tools/tool_util.h"

#include <unistd.h>

START_TEST(caches_are_told)
{
    struct bench b;
    bool has_level[2] = {false, false};

    if (sysconf(_SC_LEVEL1_DCACHE_SIZE) <= 0 || sysconf(_SC_LEVEL2_CACHE_SIZE) <= 0) {
        puts("# SKIP this system does not say how large its caches are");
        return;
    }
    bench_open(&b, NULL);
    struct hone_json *r = bench_ok(&b, "device_info", "{\"probe\":false}");
    const struct hone_json *cache = hone_json_first(hone_json_get(r, "caches"));
    for (; cache != NULL; cache = hone_json_next(cache)) {
        has_level[0] = has_level[0] || strcmp(text_of(cache, "name"), "L1d") == 0;
        has_level[1] = has_level[1] || strcmp(text_of(cache, "name"), "L2") == 0;
        ck_assert_int_gt(strtoll(text_of(cache, "size"), NULL, 10), 0);
        ck_assert_int_ge(hone_json_get_i64(cache, "line_bytes", 0), 16);
    }
    ck_assert(has_level[0] && has_level[1]);
    bench_close(&b);
}
END_TEST

UNIT_MAIN("device_info", caches_are_told)
