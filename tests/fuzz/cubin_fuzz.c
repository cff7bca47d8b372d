/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a cubin: an error or facts that hold, never a fault. The log reader gets the same
 * bytes as text. */
#include <stdint.h>
#include <string.h>
#include "tools/runner/cuda/compile/compile_diag.h"
#include "tools/runner/cuda/compile/cubin.h"
#include "workspace/base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct hone_cubin *cubin, size_t size)
{
    const struct hone_cuda_kernel *kernels = cubin->kernels.v;
    const struct hone_cuda_variable *variables = cubin->variables.v;
    HONE_BUG_ON(cubin->kernels.n > HONE_LIMIT_CUDA_KERNELS);
    for (size_t i = 0; i < cubin->kernels.n; i++) {
        HONE_BUG_ON(kernels[i].name == NULL || kernels[i].name[0] == '\0');
        HONE_BUG_ON(kernels[i].registers < 0 || kernels[i].shared_bytes < 0);
        HONE_BUG_ON(kernels[i].n_params < 0 || kernels[i].n_params > HONE_LIMIT_CUDA_PARAMS);
        HONE_BUG_ON(hone_cubin_find(&cubin->kernels, kernels[i].name) != &kernels[i]);
    }
    for (size_t i = 0; i < cubin->variables.n; i++)
        HONE_BUG_ON(variables[i].name == NULL || strlen(variables[i].name) >= size ||
                    variables[i].bytes <= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_cubin cubin = {.is_emulated = false};
    const char *text = hone_pool_strndup(pool, (const char *)data, size);
    const struct hone_diag_in in = {.text = text, .file = "k.cu", .source = text, .arm = "k"};
    struct hone_diag_out diag;

    hone_nvrtc_diag_parse(&in, pool, &diag);
    (void)hone_nvrtc_log_cleaned(text, pool);
    if (hone_cubin_read(data, size, pool, &cubin, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    check(&cubin, size);
    hone_cubin_read_log(text, &cubin);
    hone_cubin_drop_toolkit(text, &cubin);
    check(&cubin, size);
    return 0;
}
