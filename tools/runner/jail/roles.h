/* SPDX-License-Identifier: Apache-2.0 */
/* The roles of hone-runner: one program, because the jail then needs one file. Each gets what
 * follows its name in argv. */
#ifndef HONE_RUNNER_ROLES_H
#define HONE_RUNNER_ROLES_H

#include "workspace/base/err.h"

int hone_role_arena(int argc, char **argv);        /* OBJECT SYMBOL; inside the jail */
int hone_role_oracle(int argc, char **argv);       /* OBJECT; inside the jail */
int hone_role_oracle_torch(int argc, char **argv); /* FOLDER PYTHON; inside the jail */
int hone_role_device_arena(int argc, char **argv); /* DEVICE [open]; inside the jail */
int hone_role_ceilings(
    int argc, char **argv); /* FILE: measures this machine's ceilings and writes them there */
int hone_role_judge(const char *job_path);  /* exit status: 0 when a report was written */
int hone_role_warm(int argc, char **argv);  /* [FD]: job paths, one a line, from there or stdin */
int hone_role_serve(int argc, char **argv); /* jobs as frames on stdin, answers on stdout */

#endif
