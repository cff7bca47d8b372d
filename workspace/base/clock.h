/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. Deadlines are absolute CLOCK_MONOTONIC nanoseconds; a function that waits takes one, so that
 * several waits share it:
 *
 *     int64_t deadline_ns = hone_deadline_in_ms(5000);
 *     while (!is_there && hone_now_ns() < deadline_ns)
 *         poll(&fd, 1, hone_ms_until(deadline_ns));
 *
 * Nothing here blocks or fails. Any thread. */
#ifndef HONE_BASE_CLOCK_H
#define HONE_BASE_CLOCK_H

#include "workspace/base/base.h"

#define HONE_NS_PER_MS   1000000ll
#define HONE_NS_PER_S    1000000000ll
#define HONE_NO_DEADLINE INT64_MAX

int64_t hone_now_ns(void);               /* monotonic */
int64_t hone_wall_ms(void);              /* Unix time in milliseconds, for records only */
int64_t hone_deadline_in_ms(int64_t ms); /* now + ms; saturates */
int hone_ms_until(
    int64_t deadline_ns); /* for poll(): 0 when past, -1 for HONE_NO_DEADLINE, rounds up */
void hone_wall_text(int64_t wall_ms, char out[32]); /* 2026-11-20T23:15:00.123Z */

#endif
