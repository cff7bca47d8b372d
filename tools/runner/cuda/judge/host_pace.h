/* SPDX-License-Identifier: Apache-2.0 */
/* What the oracle of the host costs, and which answers of it a job can afford.
 *
 * A task's operations are often a guess that is far too low (a part of the loops' rounds), and a
 * CUDA file that is run thread by thread on the host is slower than plain C. So a cost is guessed by
 * the operations only until one answer was timed; from then on by the largest answer that was.
 *
 *     if (hone_host_pace_allows(&pace, task_hash, work, limit_ns)) { ask; }
 *     hone_host_pace_note(&pace, task_hash, work, took_ns);
 *
 * Answers that are refused are no loss of safety: outputs are then compared with those of the
 * task's own kernel on the device. No clock. One thread. */
#ifndef HONE_RUNNER_CUDA_HOST_PACE_H
#define HONE_RUNNER_CUDA_HOST_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "workspace/base/hash.h"

struct hone_host_pace {
    char task[HONE_HASH_TEXT_BYTES]; /* whose answers were timed */
    double work, ns;                 /* the largest of them; ns 0: none */
    int64_t spent_ns;                /* in this job; the caller zeroes it when a job begins */
};

/* What an answer of so many operations costs; cores: over which the oracle spreads. */
double hone_host_pace_ns(const struct hone_host_pace *pace, const char *task, double work,
                         int64_t cores);
/* Is an answer of cost_ns within the limit of one, and do all of a job stay within their own? What
 * costs next to nothing is always allowed. */
bool hone_host_pace_allows(const struct hone_host_pace *pace, double cost_ns, int64_t limit_ns);
void hone_host_pace_note(struct hone_host_pace *pace, const char *task, double work,
                         int64_t took_ns);

#endif
