/* Which core the first thread of an arena wakes on.
 *
 * Cores are not alike: a neighbour on the same physical core takes a third of its speed, for
 * seconds (measured, 2026-11-21: 5.4 and 7.2 ms for the same block). Arms that are compared wake on
 * the same core, each round on another one, with the judge on the rest. It is a hint for the first
 * thread alone, and only until it has woken: it may go elsewhere then, and threads that it makes
 * inherit nothing. A thread that has bound itself (OpenMP) is left alone. The judge's thread only.
 */
#ifndef HONE_RUNNER_PLACE_H
#define HONE_RUNNER_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hone_place {
    cpu_set_t all; /* that the judge was started with */
    int n_cores;
    int core; /* -1: nowhere in particular */
};
void hone_place_init(struct hone_place *place);
/* Another core, by the dice, or the one that the thread `first` has bound itself to; moves the
 * judge's thread off it. Nothing happens on one core. */
void hone_place_move(struct hone_place *place, pid_t first, uint64_t dice);
void hone_place_done(struct hone_place *place); /* gives the judge its cores back */

/* Before a stopped thread is woken, and right after. place may be NULL: false. */
bool hone_place_pin(const struct hone_place *place, pid_t thread);
void hone_place_free(const struct hone_place *place, pid_t thread);

#endif
