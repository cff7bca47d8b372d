/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/jail/stopping.h"

#include <signal.h>

static volatile sig_atomic_t is_stopping;

static void on_stop(int number)
{
    (void)number;
    is_stopping = 1;
}

void hone_runner_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

bool hone_runner_is_stopping(void)
{
    return is_stopping != 0;
}
