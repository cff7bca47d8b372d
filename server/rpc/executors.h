/* SPDX-License-Identifier: Apache-2.0 */
/* Which executor a program gets, by the word of the option --executor:
 *
 *   local          hone-runner on this machine
 *   fake           answers from a script; runs nothing
 *   command:CMD    `hone-runner --serve` behind CMD, run by /bin/sh
 *   slurm          the same behind srun, one allocation for each runner; HONE_SLURM holds srun's
 *                  options (partition, account, gres, constraint, time) */
#ifndef HONE_SERVER_EXECUTORS_H
#define HONE_SERVER_EXECUTORS_H

#include "tools/executor.h"

struct hone_executor_spec {
    const char *name;        /* NULL: local */
    const char *fake_script; /* NULL: the fake executor makes its answers up */
    const char *runner_path; /* NULL: beside this program */
    int64_t n_runners;       /* at most at a time, of command and slurm; 0: one */
    int64_t start_ms;        /* until the first runner answers, at most; 0: the executor's own */
    const struct hone_cancel *cancel; /* ends the wait for the first runner; may be NULL */
};

/* HONE_E_ARG: no such executor; else as the executor's constructor says. */
int hone_open_executor(const struct hone_executor_spec *spec, struct hone_executor **ret,
                       struct hone_err *err);

#endif
