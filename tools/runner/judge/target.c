/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/judge/target.h"

#include <string.h>

static const struct hone_target *const targets[] = {&hone_target_cpu, &hone_target_cuda};

const struct hone_target *hone_target_find(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(targets); i++) {
        if (strcmp(targets[i]->name, name) == 0)
            return targets[i];
    }
    return NULL;
}

void hone_target_end_sessions(struct hone_session *session)
{
    for (size_t i = 0; i < HONE_COUNTOF(targets); i++) {
        if (targets[i]->end_session != NULL)
            targets[i]->end_session(session);
    }
}

const char *hone_target_names(void)
{
    return "cpu, cuda";
}
