/* SPDX-License-Identifier: Apache-2.0 */
/* Tunables of any text: what parses has points, every point has a prologue, and making a point the
 * default keeps the tunables and makes that point the first. */
#include <stdint.h>
#include <string.h>
#include "tools/format/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *source = hone_pool_strndup(pool, (const char *)data, size);
    const char *where, *text, *rewritten;
    struct hone_array axes, points, again;
    struct hone_err err = HONE_ERR_INIT;

    if (hone_tune_parse(source, pool, &axes, &where, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    if (hone_tune_points(&axes, where, pool, &points, &err) < 0)
        return 0;
    HONE_BUG_ON(points.n == 0);
    const struct hone_point *point = points.v;
    for (size_t i = 0; i < points.n && i < 8; i++)
        HONE_BUG_ON(hone_tune_prologue(source, &point[i].tunables, pool, &text, &err) < 0);
    point += points.n - 1;
    HONE_BUG_ON(hone_tune_set_default(source, &point->tunables, pool, &rewritten, &err) < 0);
    HONE_BUG_ON(hone_tune_parse(rewritten, pool, &again, &where, &err) < 0);
    HONE_BUG_ON(again.n != axes.n);
    const struct hone_tune_axis *axis = again.v;
    const struct hone_tunable *value = point->tunables.v;
    for (size_t i = 0; i < again.n; i++)
        HONE_BUG_ON(axis[i].values.v[0] != value[i].value);
    return 0;
}
