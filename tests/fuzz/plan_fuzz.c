/* SPDX-License-Identifier: Apache-2.0 */
/* A plan that parses prints to a plan that parses to an equal one; checking and describing it never
 * fault. */
#include <stdint.h>
#include <string.h>
#include "tools/format/plan.h"
#include "workspace/base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hone_plan_device device = {.sm_count = 132,
                                                   .threads_per_block = 1024,
                                                   .threads_per_sm = 2048,
                                                   .shared_per_block_optin = 232448,
                                                   .shared_per_sm = 233472,
                                                   .grid_x = INT32_MAX,
                                                   .grid_y = 65535,
                                                   .grid_z = 65535,
                                                   .major = 9};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_plan plan, again;
    int64_t bytes[HONE_LIMIT_TENSORS * 2];
    char why[200];

    if (hone_plan_parse((const char *)data, size, pool, &plan, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    HONE_AUTOFREE char *first = hone_plan_print(&plan);
    HONE_BUG_ON(hone_plan_parse(first, strlen(first), pool, &again, &err) < 0);
    HONE_BUG_ON(!hone_plan_equal(&plan, &again, why));
    HONE_AUTOFREE char *second = hone_plan_print(&again);
    HONE_BUG_ON(strcmp(first, second) != 0);
    HONE_AUTOFREE char *text = hone_plan_describe(&plan);
    for (size_t i = 0; i < HONE_COUNTOF(bytes); i++)
        bytes[i] = 4096;
    (void)hone_plan_check(&plan, bytes, 1, NULL, 0, &device, &err);
    return 0;
}
