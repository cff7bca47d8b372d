/* SPDX-License-Identifier: Apache-2.0 */
/* Two recordings of any bytes: what is accepted is a plan that prints and parses to itself. The
 * input is the records of both runs, one half each. */
#include <stdint.h>
#include <string.h>
#include "tools/runner/cuda/record/record_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *make_slot(const uint8_t *data, size_t len)
{
    struct hone_record_head head = {.status = HONE_RECORD_DONE, .used = len};
    char *slot = hone_malloc(sizeof head + len + 1);
    memcpy(slot, &head, sizeof head);
    if (len > 0)
        memcpy(slot + sizeof head, data, len);
    return slot;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    size_t len = size / 16 * 8;
    HONE_AUTOFREE char *a = make_slot(data, len);
    HONE_AUTOFREE char *b = make_slot(data + len, len);
    struct hone_record_names names = {.v = NULL};
    struct hone_err err = HONE_ERR_INIT;
    struct hone_outcome end;
    struct hone_plan plan, again;
    char why[200];

    const struct hone_recording recording = {a,      b,   sizeof(struct hone_record_head) + len,
                                             "task", "w", 2};
    int rc = hone_record_read(&recording, pool, &names, &plan, &end, &err);
    if (rc < 0 || end.reason != HONE_REASON_BUILT) {
        HONE_BUG_ON(rc < 0 && (err.code >= 0 || err.message[0] == '\0'));
        HONE_BUG_ON(rc == 0 && end.detail[0] == '\0');
        return 0;
    }
    hone_record_rename(&(struct hone_array){&plan, 1}, &(struct hone_array){names.v, names.n});
    HONE_AUTOFREE char *text = hone_plan_print(&plan);
    if (hone_plan_parse(text, strlen(text), pool, &again, &err) < 0) /* text that is no UTF-8 */
        return 0;
    HONE_AUTOFREE char *words = hone_plan_describe(&plan);
    (void)hone_plan_equal(&plan, &again, why);
    return 0;
}
