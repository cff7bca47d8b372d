/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a binary: findings that hold, never a fault, whatever the reader. The same bytes as
 * instructions: a length that fits. */
#include <stdint.h>
#include <string.h>

#include "tools/runner/cuda/compile/policy_cubin.h"
#include "tools/runner/binary/policy.h"
#include "tools/runner/binary/x86_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct hone_policy_facts *facts)
{
    for (size_t rule = 0; rule <= HONE_N_POLICY_RULES; rule++) {
        HONE_BUG_ON(facts->of[rule].n > HONE_POLICY_MAX_OF_RULE);
        for (size_t i = 0; i < facts->of[rule].n; i++)
            HONE_BUG_ON(facts->of[rule].list[i].what == NULL || facts->of[rule].list[i].n < 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_policy_facts *facts = hone_pool_alloc(pool, sizeof *facts);
    *facts = (struct hone_policy_facts){.pool = pool};
    hone_policy_read_object(data, size, facts);
    check(facts);
    *facts = (struct hone_policy_facts){.pool = pool};
    hone_policy_read_cubin(data, size, facts);
    check(facts);
    for (size_t at = 0; at < size;) {
        struct hone_x86 x;
        hone_x86_read(data + at, size - at, &x);
        HONE_BUG_ON(x.len > size - at || x.len > 15);
        at += x.len == 0 ? 1 : x.len;
    }
    return 0;
}
