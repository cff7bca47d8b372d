/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT, SIGTERM and SIGHUP as a callback on a thread of its own: no handler, no global, no
 * restriction on what the callback may call.
 *
 * hone_stop_block goes first in a verb, before any thread is started: threads inherit the mask.
 * Until hone_stop_watch a signal waits. The callback runs once per signal; from the third one on
 * the process ends at once. */
#ifndef HONE_SERVER_STOP_H
#define HONE_SERVER_STOP_H

#include "workspace/base/err.h"

struct hone_stop; /* opaque */

void hone_stop_block(void);
int hone_stop_watch(void (*fn)(void *arg), void *arg, struct hone_stop **ret, struct hone_err *err);
void hone_stop_free(struct hone_stop *stop); /* NULL is fine */
void hone_stop_free_ptr(struct hone_stop **stop);

#endif
