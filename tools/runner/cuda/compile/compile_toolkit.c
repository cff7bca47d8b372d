/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/cuda/compile/compile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const library_folders[] = {"/usr/local/cuda/lib64", "/usr/local/nvidia/lib64",
                                              "/usr/lib/x86_64-linux-gnu",
                                              "/usr/lib/aarch64-linux-gnu", "/usr/lib64"};
static const char *const library_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
static const char *const include_folders[] = {"/usr/local/cuda/include", "/usr/include"};

static bool real(const char *path, char *ret, size_t size)
{
    char full[PATH_MAX];
    if (realpath(path, full) == NULL || strlen(full) >= size)
        return false;
    memcpy(ret, full, strlen(full) + 1);
    return true;
}

static bool look_for_nvrtc(const char *folder, struct hone_cuda_toolkit *ret)
{
    for (size_t i = 0; folder != NULL && folder[0] == '/' && i < HONE_COUNTOF(library_names); i++) {
        HONE_AUTOFREE char *path = hone_sprintf("%s/%s", folder, library_names[i]);
        struct stat info;
        if (stat(path, &info) < 0 || !real(path, ret->nvrtc, sizeof ret->nvrtc) ||
            !real(folder, ret->lib_dir, sizeof ret->lib_dir))
            continue;
        ret->identity[0] = info.st_size;
        ret->identity[1] = info.st_mtim.tv_sec;
        ret->identity[2] = (int64_t)info.st_ino;
        return true;
    }
    return false;
}

static bool look_for_headers(const char *folder, struct hone_cuda_toolkit *ret)
{
    if (folder == NULL || folder[0] != '/')
        return false;
    HONE_AUTOFREE char *header = hone_sprintf("%s/cuda_runtime.h", folder);
    HONE_AUTOFREE char *cccl = hone_sprintf("%s/cccl", folder);
    if (access(header, R_OK) < 0 || !real(folder, ret->include_dir, sizeof ret->include_dir))
        return false;
    if (!real(cccl, ret->cccl_dir, sizeof ret->cccl_dir))
        ret->cccl_dir[0] = '\0';
    return true;
}

void hone_cuda_toolkit_find(struct hone_cuda_toolkit *ret)
{
    const char *first = getenv("HONE_CUDA_LIB");
    *ret = (struct hone_cuda_toolkit){.is_first_choice = false};
    ret->is_first_choice = look_for_nvrtc(first, ret);
    for (size_t i = 0; ret->nvrtc[0] == '\0' && i < HONE_COUNTOF(library_folders); i++)
        (void)look_for_nvrtc(library_folders[i], ret);
    if (look_for_headers(getenv("HONE_CUDA_INCLUDE"), ret))
        return;
    HONE_AUTOFREE char *beside = hone_sprintf("%s/../include", ret->lib_dir);
    if (ret->lib_dir[0] != '\0' && !ret->is_first_choice && look_for_headers(beside, ret))
        return;
    for (size_t i = 0; ret->include_dir[0] == '\0' && i < HONE_COUNTOF(include_folders); i++)
        (void)look_for_headers(include_folders[i], ret);
}
