/* SPDX-License-Identifier: Apache-2.0 */
/* What rows of an earlier search are worth to the next one (agents/knowledge/knowledge.h), on
 * lattices: a search of one kernel is played, each strategy's mean gain in it is one look, and a
 * search of another kernel starts from that prior. Deterministic. Any thread. */
#ifndef HONE_AGENTS_TAUGHT_H
#define HONE_AGENTS_TAUGHT_H

#include "agents/offline/sim.h"

enum { HONE_TAUGHT_MOST = 32 }; /* evaluations that are counted to */

struct hone_taught {
    double with, without; /* evaluations until the best version is within 5 % of the kernel's best,
                             mean over seeds; HONE_TAUGHT_MOST + 1 where it is not reached */
};

/* n_expansions of the options: of the teacher's search. teacher and pupil: of one target. */
void hone_taught_compare(const struct hone_sim *sim, size_t teacher, size_t pupil,
                         const struct hone_sim_options *options, struct hone_taught *ret);

#endif
