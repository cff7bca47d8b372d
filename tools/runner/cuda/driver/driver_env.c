/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/driver/driver_env.h"

#include <string.h>
#include <unistd.h>

#include "tools/runner/cuda/driver/cuda_api.h"
#include "workspace/base/base.h"

char *hone_cuda_driver_dir(void)
{
    struct hone_cuda *cu = NULL;
    if (hone_cuda_open(&cu, NULL) < 0)
        return NULL;
    const char *slash = strrchr(cu->path, '/');
    char *dir = slash != NULL && slash != cu->path
                    ? hone_strndup(cu->path, (size_t)(slash - cu->path))
                    : NULL;
    hone_cuda_close(cu);
    return dir;
}

size_t hone_cuda_pass_env(const char **env, size_t n, size_t max)
{
    static const char *const passed[] = {
        "CUDA_VISIBLE_DEVICES=", "CUDA_DEVICE_ORDER=", "HONE_EMULATOR_"};
    for (char **own = environ; *own != NULL; own++)
        for (size_t i = 0; i < HONE_COUNTOF(passed) && n + 1 < max; i++)
            if (strncmp(*own, passed[i], strlen(passed[i])) == 0)
                env[n++] = *own;
    env[n] = NULL;
    return n;
}
