/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine can do: cores, last-level cache, and measured ceilings.
 *
 * Ceilings are measured in a child (hone-runner --ceilings FILE) on all allowed cores and kept in
 * that file with the CPU's name, because a physics floor from a data sheet is wrong on most
 * machines. Blocks while measuring (about half a second, once). */
#ifndef HONE_RUNNER_MACHINE_H
#define HONE_RUNNER_MACHINE_H

#include "workspace/base/err.h"

struct hone_machine {
    char cpu[128];
    int64_t n_cores;     /* allowed to us */
    int64_t cache_bytes; /* last level */
    double memory_rate;  /* bytes/s, the better of reading and copying, all cores, out of caches */
    double cache_rate;   /* the same inside the last-level cache */
    double flops;        /* float32 multiply-adds counted as two, all cores */
    const char *flops_unit; /* what flops are of: "float32 multiply-add units" */
    double fastest_flops;   /* any way that gives the task's precision; 0: the same */
    bool is_measured;
};
void hone_machine_facts(struct hone_machine *ret); /* all but the rates */
/* Reads path, or measures and writes it (path NULL: measures each time). is_fresh: measures anyway
 * and keeps the better figures. */
int hone_machine_ceilings(const char *path, bool is_fresh, struct hone_machine *ret,
                          struct hone_err *err);
/* Ticks of steal and of all time since boot, from /proc/stat; zeros where there is none. */
void hone_machine_steal(int64_t *ret_steal, int64_t *ret_total);

#endif
