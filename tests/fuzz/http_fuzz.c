/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes to a server's port: heads, bodies and what is neither. The server lives on. */
#include "tests/fuzz/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hone_fuzz_talk(hone_fuzz_connect(), data, size);
    return 0;
}
