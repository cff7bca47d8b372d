/* SPDX-License-Identifier: Apache-2.0 */
/* C of an order that isl holds. False: isl gave up, or the text is too long. */
#ifndef HONE_AGENTS_ORDER_PRINT_H
#define HONE_AGENTS_ORDER_PRINT_H

#include <isl/schedule.h>

#include "agents/polyhedral/order.h"
#include "agents/polyhedral/order_model.h"

/* Fills in text, before, n_threaded and n_vector; schedule and order are given away. */
bool hone_order_print_schedule(const struct hone_order_model *m, isl_schedule *schedule,
                               bool with_threads, struct hone_order_result *ret);
bool hone_order_print_map(const struct hone_order_model *m, isl_union_map *order,
                          struct hone_order_result *ret);

#endif
