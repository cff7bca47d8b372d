/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites ask for the same orders several times, and an order takes isl some tenths of a second. */
#include "agents/polyhedral/order.h"

const struct hone_orders *hone_orders_of(const struct hone_coder_input *in)
{
    if (*in->orders)
        return *in->orders;
    struct hone_orders *ret = hone_pool_alloc(in->pool, sizeof *ret);
    ret->n = hone_scops(in, &ret->runs);
    for (size_t i = 0; i < ret->n; i++)
        for (int order = 0; order < HONE_N_ORDERS; order++)
            hone_order_of(in, &ret->runs[i], (enum hone_order)order, &ret->results[i][order]);
    *in->orders = ret;
    return ret;
}
