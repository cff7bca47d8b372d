/* SPDX-License-Identifier: Apache-2.0 */
/* What a process in a jail needs to find the GPU driver. Any thread. */
#ifndef HONE_RUNNER_CUDA_DRIVER_ENV_H
#define HONE_RUNNER_CUDA_DRIVER_ENV_H

#include <stddef.h>

/* Folder of the driver's library, for hone_jail_spec.driver_dir; owned. NULL: the loader knows. */
char *hone_cuda_driver_dir(void);
/* Adds what the driver or the emulator reads of this process's environment to n strings, and NULL;
 * borrowed. Returns how many there are then, below max. */
size_t hone_cuda_pass_env(const char **env, size_t n, size_t max);

#endif
