/* SPDX-License-Identifier: Apache-2.0 */
/* What a generated program calls (harness.c writes it): arrays that end or begin at a page nobody
 * may touch, the run of one version, the comparison with the first.
 *
 * runtime.c also takes the place of OpenMP's library: a parallel region runs its four threads one
 * after the other, from barrier to barrier, the last first. A value carried from one thread's
 * iterations to another's is then always wrong, whatever the machine does. */
#ifndef HONE_TESTS_RELATIVE_RUNTIME_H
#define HONE_TESTS_RELATIVE_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

enum { RT_DONE = 0, RT_FAILED = 3 }; /* exit status; FAILED: the relative itself crashed */

/* A new size: arrays of the one before are gone. at_end: arrays end at the forbidden page. */
void rt_begin(int call, int at_end);
/* type: 'f', 'd', 'i' (int32_t), 'x' (indices below `below`). */
void *rt_array(const char *name, char type, long n, double shift, long below);
/* Fills the arrays, runs, compares; version 0: keeps what it left. */
void rt_run(int version, void (*run)(void));

/* What the compiler calls for the pragmas that rules write. */
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
void GOMP_barrier(void);
bool GOMP_single_start(void);
void GOMP_parallel(void (*region)(void *), void *data, unsigned n_threads, unsigned flags);

#endif
