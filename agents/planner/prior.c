/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/planner/prior.h"

void hone_prior_begin(const struct hone_prior *prior, struct hone_credit *ret)
{
    hone_credit_init(ret);
    for (size_t i = 0; prior && i < HONE_CREDIT_MAX; i++)
        ret->rows[i].before = prior->gains[i];
}
