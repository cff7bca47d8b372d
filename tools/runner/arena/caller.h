/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel may not leave behind in its caller: the control words of the floating-point unit,
 * flags, and what belongs to the thread or the process.
 *
 * The arena notes it before the calls of a hand-over and compares it after them, on the thread that
 * makes them. Flags that arithmetic raises by itself are not looked at. A kernel that forges the
 * outcome hides its own fault alone. Any thread. */
#ifndef HONE_RUNNER_CALLER_H
#define HONE_RUNNER_CALLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum hone_caller { /* the judge has a sentence for each (arm.c) */
                   HONE_CALLER_KEPT,
                   HONE_CALLER_ROUNDING,   /* of SSE, of the x87 unit */
                   HONE_CALLER_DENORMALS,  /* FTZ or DAZ */
                   HONE_CALLER_EXCEPTIONS, /* masks of SSE or of the x87 unit */
                   HONE_CALLER_X87,        /* precision of the x87 unit */
                   HONE_CALLER_X87_STACK,  /* registers in use: MMX code without emms */
                   HONE_CALLER_FLAGS,      /* direction, alignment check */
                   HONE_CALLER_SIGNALS,    /* the mask of blocked signals */
                   HONE_CALLER_LOCALE,
                   HONE_CALLER_ENVIRONMENT,
                   HONE_CALLER_UMASK,
                   HONE_N_CALLERS
};

struct hone_caller_state {
    uint64_t control; /* MXCSR, FPCR */
    uint64_t flags;
    uint16_t x87, x87_tags;
    bool is_whole; /* the rest is noted too */
    sigset_t blocked;
    const void *locale;
    uint64_t environment, locale_name; /* hashes */
    unsigned umask;
};

/* is_whole: also what only a system call or a walk tells; without it a few nanoseconds. */
void hone_caller_note(bool is_whole, struct hone_caller_state *ret);
/* The first difference; the floating-point unit and the flags are as they were afterwards. */
enum hone_caller hone_caller_compare(const struct hone_caller_state *before);

#endif
