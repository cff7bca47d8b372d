/* SPDX-License-Identifier: Apache-2.0 */
/* Which cores the threads of an arena wake on.
 *
 * Cores are not alike: a neighbour on the same physical core takes a third of its speed, for
 * seconds (measured, 2026-11-21: 5.4 and 7.2 ms for the same block). Arms that are compared wake on
 * the same core, each round on another one, with the judge on the rest. For the first thread that
 * is a hint, until it has woken; what it starts in that moment is freed with it. Threads that are
 * there already, a team, stay on the cores after it, one each: two that share one spin at each
 * other's barriers for milliseconds (8 ms a call instead of 0.3, for a whole run, 2026-11-22).
 * Kernels have no say: sched_setaffinity is answered and not done (seccomp.c). The judge's thread
 * asks for short turns: it has to get in between threads that spin on every core, or it is their
 * time that it is late. The judge's thread only. */
#ifndef HONE_RUNNER_PLACE_H
#define HONE_RUNNER_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hone_place {
    cpu_set_t all; /* that the judge was started with */
    int n_cores;
    int core; /* which of them, from 0; -1: nowhere in particular */
};
void hone_place_init(struct hone_place *place);
/* Another core, by the rng, with the judge's thread off it. Nothing happens on one core. */
void hone_place_move(struct hone_place *place, uint64_t rng);
void hone_place_done(struct hone_place *place); /* gives the judge its cores and turns back */

/* The threads of a stopped process before it is woken; returns how many. place may be NULL: none.
 * Right after: the first one goes where it likes, and all that were made since. */
int hone_place_pin(const struct hone_place *place, pid_t process);
void hone_place_free(const struct hone_place *place, pid_t process, int n_placed);

#endif
