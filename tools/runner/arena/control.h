/* SPDX-License-Identifier: Apache-2.0 */
/* What the judge and its two kinds of helpers (arena, oracle) agree on: one shared page of words
 * and a socket of single bytes.
 *
 * The judge fills the page, writes a 'g' to the socket, and waits for a byte: 'd' done, 'e' error
 * (failed_step and native say what). The end of the socket means that the helper is gone. Nothing
 * that a helper writes is trusted: the page's answers are numbers of closed lists that choose among
 * the judge's own sentences, never text, and an early 'd' only means that the judge looks at
 * unfinished output.
 *
 * Descriptors in the helper: 3 this page, 4 the socket, 5 inputs (read-only), 6 outputs of this
 * arm, or answers of the oracle. */
#ifndef HONE_RUNNER_CONTROL_H
#define HONE_RUNNER_CONTROL_H

#include "tools/runner/arena/buffers.h"

#define HONE_CONTROL_FD     3
#define HONE_CONTROL_SOCKET 4
#define HONE_CONTROL_INPUTS 5
#define HONE_CONTROL_OWN    6

enum hone_control_command {
    HONE_CONTROL_NOP,   /* answers at once: what a hand-over costs */
    HONE_CONTROL_MAP,   /* takes layout, axes and scalars */
    HONE_CONTROL_CALL,  /* arena: n_calls calls over the sets first_set, first_set + 1... (wrapping
                           at n_rotate) */
    HONE_CONTROL_ITEMS, /* oracle: items of one set */
    HONE_CONTROL_STEPS, /* oracle: an iterated task from the start to the end, for one set */
    HONE_CONTROL_QUIT,
    HONE_CONTROL_TIME, /* oracle of torch: n_items calls of the module over the first n_items_listed
                           sets; the ns of one stands in the answers file (n_records 1; 0: failed) */
};

enum hone_fault { /* arena: where a fault's address lay */
                  HONE_FAULT_NONE,
                  HONE_FAULT_INPUT, /* inside an input: a write to it */
                  HONE_FAULT_GUARD, /* in an unmapped page beside a tensor */
                  HONE_FAULT_OTHER
};

enum hone_helper_step { /* what a helper could not do; the judge has a sentence for each */
                        HONE_HELPER_OTHER,
                        HONE_HELPER_LOAD,    /* the loader refused the object */
                        HONE_HELPER_SYMBOL,  /* it has no function of that name */
                        HONE_HELPER_RESERVE, /* address space for all buffers */
                        HONE_HELPER_MAP,     /* one tensor of one set */
                        HONE_HELPER_ARGS,    /* more arguments than a call can pass */
                        HONE_HELPER_TORCH,   /* the worker or the task's module failed */
                        HONE_N_HELPER_STEPS
};

#define HONE_CONTROL_MAX_ERRNO 133 /* numbers above have no words of the system's */
#define HONE_CONTROL_ITEMS_MAX 65536

struct hone_control {
    /* from the judge */
    int32_t command; /* enum hone_control_command */
    int32_t perturb; /* fill byte of freed and fresh heap memory; 0: none */
    int64_t n_calls, first_set, n_rotate;
    struct hone_layout layout;
    int32_t input_types[HONE_LIMIT_TENSORS];
    int64_t n_axes, n_scalars;
    int64_t axes[HONE_LIMIT_AXES];
    int32_t scalar_types[HONE_LIMIT_AXES]; /* enum hone_dtype */
    double scalars[HONE_LIMIT_AXES];
    /* oracle: numbers of items; item_first when n_items_listed is 0 */
    int64_t set, item_first, n_items, n_items_listed;
    int64_t n_threads, n_steps, n_items_step;
    int64_t n_output_elements[HONE_LIMIT_TENSORS];
    /* from the helper */
    int64_t n_records; /* oracle; -1: too many for the room, ask for fewer items */
    int32_t fault;     /* enum hone_fault */
    int32_t fault_tensor, fault_signal;
    int32_t failed_step; /* enum hone_helper_step */
    int32_t native;      /* errno of it; 0: none */
    int32_t left_behind; /* arena: enum hone_caller (caller.h), of the last calls */
    /* from the judge; new members stand last: cheats of the self-test mirror this layout */
    int32_t is_beside; /* the calls are made from another thread than the first */
    /* oracle: of each output, the mean of its squares over all steps and elements */
    double state_squares[HONE_LIMIT_TENSORS];
};
#define HONE_CONTROL_BYTES (2 * 4096)

#endif
