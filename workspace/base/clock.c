/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace/base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

int64_t hone_now_ns(void)
{
    struct timespec t;
    HONE_BUG_ON(clock_gettime(CLOCK_MONOTONIC, &t) != 0);
    return (int64_t)t.tv_sec * HONE_NS_PER_S + t.tv_nsec;
}

int64_t hone_wall_ms(void)
{
    struct timespec t;
    HONE_BUG_ON(clock_gettime(CLOCK_REALTIME, &t) != 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / HONE_NS_PER_MS;
}

int64_t hone_deadline_in_ms(int64_t ms)
{
    int64_t ns, deadline;
    if (__builtin_mul_overflow(ms, HONE_NS_PER_MS, &ns))
        return ms < 0 ? 0 : HONE_NO_DEADLINE;
    if (__builtin_add_overflow(hone_now_ns(), ns, &deadline))
        return HONE_NO_DEADLINE;
    return deadline;
}

int hone_ms_until(int64_t deadline_ns)
{
    if (deadline_ns == HONE_NO_DEADLINE)
        return -1;
    int64_t now = hone_now_ns();
    if (deadline_ns <= now)
        return 0;
    int64_t left = deadline_ns - now;
    int64_t ms = left / HONE_NS_PER_MS + (left % HONE_NS_PER_MS != 0);
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

void hone_wall_text(int64_t wall_ms, char out[32])
{
    int64_t s = wall_ms / 1000, ms = wall_ms % 1000;
    if (ms < 0) {
        ms += 1000;
        s--;
    }
    time_t seconds = (time_t)s;
    struct tm tm;
    char day[24];
    if (gmtime_r(&seconds, &tm) == NULL ||
        strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        snprintf(day, sizeof(day), "0000-00-00T00:00:00");
    snprintf(out, 32, "%s.%03dZ", day, (int)ms);
}
