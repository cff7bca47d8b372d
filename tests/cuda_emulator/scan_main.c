/* SPDX-License-Identifier: Apache-2.0 */
/* Preprocessed CUDA text to C++ text, for run_cu.sh. */
#include "tests/cuda_emulator/scan.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    struct emu_text in = {0};
    struct emu_scan scan = {0};
    char block[65536];
    emu_append(&in, "", 0);
    for (size_t n; (n = fread(block, 1, sizeof(block), stdin)) > 0;)
        emu_append(&in, block, n);
    emu_scan(in.at, true, &scan);
    if (scan.out.len > 0)
        fwrite(scan.out.at, 1, scan.out.len, stdout);
    if (scan.errors.len > 0)
        fputs(scan.errors.at, stderr);
    bool is_good = scan.errors.len == 0;
    free(scan.errors.at);
    free(scan.out.at);
    free(in.at);
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
