/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the object that a compile jail left: facts that hold, never a fault. */
#include <stdint.h>
#include <string.h>
#include "tools/runner/binary/build_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hone_elf_facts facts;
    hone_elf_read(data, size, "sum", &facts);
    HONE_BUG_ON(!facts.is_shared_object &&
                (facts.has_symbol || facts.n_init != 0 || facts.compiler[0] != '\0'));
    HONE_BUG_ON(facts.n_init < 0 || memchr(facts.compiler, '\0', sizeof facts.compiler) == NULL);
    return 0;
}
