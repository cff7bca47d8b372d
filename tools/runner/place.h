/* Which cores the threads of an arena wake on.
 *
 * Cores are not alike: a neighbour on the same physical core takes a third of its speed, for
 * seconds (measured, 2026-11-21: 5.4 and 7.2 ms for the same block). Arms that are compared wake on
 * the same core, each round on another one, with the judge on the rest; further threads wake on the
 * cores after it, one each, so that no two of a team share one while others idle. It is a hint,
 * and only until they have woken: the scheduler may move them then, and threads that they make
 * inherit nothing. Kernels have no say: sched_setaffinity is answered and not done (seccomp.c).
 * The judge's thread asks for short turns: it has to get in between threads that spin on every
 * core, or it is their time that it is late. The judge's thread only. */
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
/* Another core, by the dice, with the judge's thread off it. Nothing happens on one core. */
void hone_place_move(struct hone_place *place, uint64_t dice);
void hone_place_done(struct hone_place *place); /* gives the judge its cores and turns back */

/* The threads of a stopped process before it is woken, and right after; those beyond
 * HONE_PLACE_THREADS wake where they like. place may be NULL: none. */
#define HONE_PLACE_THREADS 128
struct hone_placed {
    int n;
    pid_t threads[HONE_PLACE_THREADS];
};
void hone_place_pin(const struct hone_place *place, pid_t process, struct hone_placed *ret);
void hone_place_free(const struct hone_place *place, const struct hone_placed *placed);

#endif
