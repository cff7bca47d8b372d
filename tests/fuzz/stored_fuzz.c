/* SPDX-License-Identifier: Apache-2.0 */
/* A safetensors file of hostile bytes: what is found lies inside the file. */
#include "workspace/task/stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_stored_view view;
    const char *bytes = (const char *)data;

    if (hone_stored_find(bytes, size, "W", &view, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    const char *at = view.data;
    HONE_BUG_ON(view.n < 1 || view.row < 1 || view.n % view.row != 0 || at < bytes + 8 ||
                at + view.n * hone_dtype_bytes(view.dtype) > bytes + size);
    return 0;
}
