/* SPDX-License-Identifier: Apache-2.0 */
/* Which nvcc: local configuration; a request cannot name a compiler. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/runner/cuda/compile/nvcc_compile.h"
#include "workspace/base/file.h"

#define HEADER_BYTES (4u << 20)

/* "13.0" from "#define CUDART_VERSION  13000". */
static void read_version(struct hone_nvcc *nvcc)
{
    static const char word[] = "#define CUDART_VERSION";
    HONE_AUTOFREE char *path = hone_sprintf("%s/include/cuda_runtime_api.h", nvcc->home);
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    if (hone_file_read(path, HEADER_BYTES, &text, &len, NULL) < 0)
        return;
    const char *at = strstr(text, word);
    long number = at == NULL ? 0 : strtol(at + sizeof word - 1, NULL, 10);
    if (number > 0 && number < 1000000)
        (void)snprintf(nvcc->version, sizeof nvcc->version, "%ld.%ld", number / 1000,
                       number % 1000 / 10);
}

static bool look_in(const char *folder, size_t len, struct hone_nvcc *ret)
{
    HONE_AUTOFREE char *named = hone_sprintf("%.*s/nvcc", (int)len, folder);
    char full[PATH_MAX];
    struct stat info;
    if (len == 0 || *folder != '/' || realpath(named, full) == NULL || access(full, X_OK) < 0 ||
        stat(full, &info) < 0 || !S_ISREG(info.st_mode) || strlen(full) >= sizeof ret->path)
        return false;
    *ret =
        (struct hone_nvcc){.identity = {info.st_size, info.st_mtim.tv_sec, (int64_t)info.st_ino}};
    memcpy(ret->path, full, strlen(full) + 1);
    memcpy(ret->home, full, strlen(full) + 1);
    for (int i = 0; i < 2; i++) { /* off with "/bin/nvcc" */
        char *slash = strrchr(ret->home, '/');
        if (slash != NULL)
            *slash = '\0';
    }
    if (ret->home[0] == '\0') { /* "/nvcc" */
        ret->path[0] = '\0';
        return false;
    }
    read_version(ret);
    return true;
}

void hone_nvcc_find(struct hone_nvcc *ret)
{
    const char *home = getenv("HONE_CUDA_HOME");
    *ret = (struct hone_nvcc){.path = ""};
    if (home != NULL) {
        HONE_AUTOFREE char *bin = hone_sprintf("%s/bin", home);
        if (look_in(bin, strlen(bin), ret))
            return;
    }
    if (getenv("HONE_CUDA_LIB") == NULL && !look_in("/usr/local/cuda/bin", 19, ret)) {
        const char *at = getenv("PATH");
        while (at != NULL && *at != '\0') {
            size_t len = strcspn(at, ":");
            if (look_in(at, len, ret))
                return;
            at += len + (at[len] == ':');
        }
    }
}
