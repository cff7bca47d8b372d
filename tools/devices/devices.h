/* SPDX-License-Identifier: Apache-2.0 */
/* What candidates are timed on here: the processors and each GPU, who has the timing lease of each,
 * and who waits for it. One reader for the tool device_info and for `hone devices`. Any thread. */
#ifndef HONE_TOOLS_DEVICES_H
#define HONE_TOOLS_DEVICES_H

#include "tools/executor.h"

struct hone_device_user {
    int64_t pid;
    const char *what; /* "softmax, confirm, call 2026..." */
    const char *since;
};

struct hone_device { /* strings in the pool */
    const char *target, *name;
    const char *uuid; /* NULL: the processors */
    const char *class;
    const char *lease; /* "free", "held", or "elsewhere": the executor is not this machine's */
    struct hone_array holder;  /* of struct hone_device_user; one at most */
    struct hone_array waiters; /* of struct hone_device_user */
};

#define HONE_DEVICE_N_FIELDS 7
extern const struct hone_field hone_device_fields[HONE_DEVICE_N_FIELDS];

/* facts: the executor's probe; NULL gives the processors alone. ret: of struct hone_device. */
void hone_devices_list(const struct hone_executor *executor, const struct hone_json *facts,
                       struct hone_pool *pool, struct hone_array *ret);

#endif
