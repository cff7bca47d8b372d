/* SPDX-License-Identifier: Apache-2.0 */
/* Any text: a split has the lines of its source in both halves, the device half only loses
 * characters, and splitting the same text again gives the same. */
#include <stdint.h>
#include <string.h>
#include "tools/runner/cuda/split/split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_lines(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char *text = (const char *)data;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_split split, again;

    if (hone_split(text, size, pool, &split, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    HONE_BUG_ON(strlen(split.device) != size);
    for (size_t i = 0; i < size; i++)
        HONE_BUG_ON(split.device[i] != text[i] && split.device[i] != ' ');
    HONE_BUG_ON(count_lines(split.device, size) != count_lines(text, size));
    HONE_BUG_ON(count_lines(split.host, strlen(split.host)) != count_lines(text, size));
    const struct hone_split_launch *launches = split.launches.v;
    for (size_t i = 0; i < split.launches.n && i < 8; i++)
        (void)hone_split_explain(&split, launches[i].line, "too few arguments", pool);
    HONE_BUG_ON(hone_split(text, size, pool, &again, &err) < 0);
    HONE_BUG_ON(strcmp(split.host, again.host) != 0 || strcmp(split.device, again.device) != 0);
    return 0;
}
