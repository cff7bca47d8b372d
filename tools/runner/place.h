/* Which core the first thread of an arena wakes on.
 *
 * Cores are not alike: a neighbour on the same physical core takes a third of its speed, for
 * seconds (measured, 2026-11-21: 5.4 and 7.2 ms for the same block). Arms that are compared wake on
 * the same core, each round on another one, with the judge on the rest. It is a hint for the first
 * thread alone, and only until it has woken: it may go elsewhere then, and threads that it makes
 * inherit nothing. A thread that has bound itself (OpenMP) is left alone; so the others are taken
 * to where the candidate's first thread was seen running at a random moment of its blocks, whatever
 * its mask says while it stands still. The judge's thread only. */
#ifndef HONE_RUNNER_PLACE_H
#define HONE_RUNNER_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HONE_PLACE_SEEN 4

struct hone_place {
    cpu_set_t all; /* that the judge was started with */
    int n_cores;
    int core;                  /* -1: nowhere in particular */
    int seen[HONE_PLACE_SEEN]; /* cores, the last of n_seen at (n_seen - 1) % HONE_PLACE_SEEN */
    uint64_t n_seen;
};
void hone_place_init(struct hone_place *place);
/* Another core, by the dice, with the judge's thread off it: any, or one of those at which the
 * candidate was seen lately. Nothing happens on one core. */
void hone_place_move(struct hone_place *place, uint64_t dice);
void hone_place_like_seen(struct hone_place *place, uint64_t dice);
void hone_place_follow(struct hone_place *place); /* to where it was seen last */
/* Where a thread runs, or ran last; it need not stand still. -1: not known, or all the same. */
int hone_place_core(const struct hone_place *place, pid_t thread);
void hone_place_note(struct hone_place *place, int core); /* the candidate was seen there */
void hone_place_done(struct hone_place *place);           /* gives the judge its cores back */

/* Before a stopped thread is woken, and right after. place may be NULL: false. */
bool hone_place_pin(const struct hone_place *place, pid_t thread);
void hone_place_free(const struct hone_place *place, pid_t thread);

#endif
