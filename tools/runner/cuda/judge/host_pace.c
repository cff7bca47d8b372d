/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/judge/host_pace.h"

#include <stdio.h>
#include <string.h>

#include "workspace/base/clock.h"

#define FLOP_NS    1.5
#define JOB_LIMITS 5 /* all answers of a job, in limits of one */
/* A shorter answer is mostly the asking: it took so much at most. An answer for 35 elements that
 * took 3 ms on a busy machine made one for 700,000 a minute, until a fast one of 38,000 counted. */
#define TIMED_NS (2 * HONE_NS_PER_MS)
#define CHEAP_NS (50 * HONE_NS_PER_MS) /* always allowed */

double hone_host_pace_ns(const struct hone_host_pace *pace, const char *task, double work,
                         int64_t cores)
{
    bool is_known = pace->ns > 0 && strcmp(pace->task, task) == 0;
    return is_known ? pace->ns / pace->work * work
                    : FLOP_NS * work / (double)(cores > 0 ? cores : 1);
}

bool hone_host_pace_allows(const struct hone_host_pace *pace, double cost_ns, int64_t limit_ns)
{
    double left_ns = (double)limit_ns * JOB_LIMITS - (double)pace->spent_ns;
    return cost_ns <= (double)CHEAP_NS || (cost_ns <= (double)limit_ns && cost_ns <= left_ns);
}

void hone_host_pace_note(struct hone_host_pace *pace, const char *task, double work,
                         int64_t took_ns)
{
    bool is_known = pace->ns > 0 && strcmp(pace->task, task) == 0;
    pace->spent_ns += took_ns;
    if (!(work > 0) || (is_known ? work < pace->work : took_ns < TIMED_NS))
        return;
    snprintf(pace->task, sizeof pace->task, "%s", task);
    pace->work = work;
    pace->ns = (double)hone_max_i64(took_ns, TIMED_NS);
}
