/* SPDX-License-Identifier: Apache-2.0 */
/* Any line as progress of a runner: told on with a message, or dropped. */
#include <stdint.h>
#include <string.h>
#include "tools/launch/warm.h"
#include "workspace/base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void told(void *arg, const struct hone_progress *progress)
{
    int *n = arg;
    HONE_BUG_ON(progress->message == NULL || strlen(progress->message) > HONE_LIMIT_PROGRESS_BYTES);
    ++*n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int n = 0;
    bool is_done = hone_warm_relay((const char *)data, size, told, &n);
    HONE_BUG_ON(n > 1 || (n > 0 && is_done));
    HONE_BUG_ON(size > HONE_LIMIT_PROGRESS_BYTES && (n > 0 || is_done));
    return 0;
}
