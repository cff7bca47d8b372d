/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as what compilers, disassemblers and kernels print: rows inside their limits, never a
 * fault, and a report with them is one that the server reads. */
#include <stdint.h>
#include <string.h>
#include "tools/runner/binary/assembly.h"
#include "tools/runner/build/build_diag.h"
#include "tools/runner/cuda/compile/compile_diag.h"
#include "workspace/base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct hone_array *rows)
{
    const struct hone_diagnostic *d = rows->v;
    HONE_BUG_ON(rows->n > HONE_LIMIT_DIAGNOSTICS);
    for (size_t i = 0; i < rows->n; i++)
        HONE_BUG_ON(d[i].message == NULL || d[i].severity == HONE_SEVERITY_NONE || d[i].line < 0 ||
                    d[i].column < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const kinds[] = {"asm", "sass", "ptx"};
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    char *text = hone_pool_strndup(pool, (const char *)data, size);
    const struct hone_diag_in in = {.text = text, .file = "k.c", .source = text, .arm = "k"};
    struct hone_diag_out out, device;
    struct hone_array remarks;

    hone_diag_parse(&in, pool, &out);
    check_rows(&out.diagnostics);
    hone_nvrtc_diag_parse(&in, pool, &device);
    check_rows(&device.diagnostics);
    hone_diag_remarks(text, "k.c", pool, &remarks);
    for (size_t i = 0; i < HONE_COUNTOF(kinds); i++) {
        struct hone_build_report build = {.compiler = "gcc"};
        const struct hone_assembly_request req = {.kind = kinds[i],
                                                  .text = text,
                                                  .len = strlen(text),
                                                  .file = "k.c",
                                                  .source = text,
                                                  .wanted = i == 1 ? "sum" : NULL};
        hone_assembly_read(&req, pool, &build);
        HONE_BUG_ON(build.assembly != NULL && strlen(build.assembly) > HONE_LIMIT_ASSEMBLY_BYTES);
    }
    return 0;
}
