/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this runner was told to stop. A role calls hone_runner_catch_signals once, before it waits
 * for anything; loops ask hone_runner_is_stopping. Any thread. */
#ifndef HONE_RUNNER_STOPPING_H
#define HONE_RUNNER_STOPPING_H

#include <stdbool.h>

/* Set by SIGTERM and SIGINT; waits end early with HONE_E_CANCEL. */
bool hone_runner_is_stopping(void);
void hone_runner_catch_signals(void);

#endif
