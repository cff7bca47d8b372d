/* SPDX-License-Identifier: Apache-2.0 */
/* A job that parses prints to a job that parses to the same. */
#include <stdint.h>
#include <string.h>
#include "tools/format/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_err err = HONE_ERR_INIT;
    struct hone_job job;

    if (hone_job_parse((const char *)data, size, pool, &job, &err) < 0) {
        HONE_BUG_ON(err.code >= 0 || err.message[0] == '\0');
        return 0;
    }
    HONE_AUTOFREE char *first = hone_job_print(&job);
    HONE_BUG_ON(hone_job_parse(first, strlen(first), pool, &job, &err) < 0);
    HONE_AUTOFREE char *second = hone_job_print(&job);
    HONE_BUG_ON(strcmp(first, second) != 0);
    HONE_BUG_ON(hone_job_arm(&job, "candidate") == NULL);
    return 0;
}
