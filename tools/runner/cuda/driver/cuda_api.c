/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libcuda and NVRTC at run time (cuda_api.h): candidates for the path in a fixed order,
 * then every symbol of a table. A missing required symbol is HONE_E_UNSUPPORTED with the
 * library's path. The error codes that name a candidate's fault are the table at the end. */
#include "tools/runner/cuda/driver/cuda_api.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/base/buf.h"

static const char *const folders[] = {"", "/usr/local/cuda/lib64/", "/usr/local/nvidia/lib64/"};

/* Where a loaded library lies, found through one of its functions. Owned. */
static char *path_of(void *function, const char *fallback)
{
    Dl_info info;
    char *full = NULL;
    if (function != NULL && dladdr(function, &info) != 0 && info.dli_fname != NULL)
        full = realpath(info.dli_fname, NULL);
    return full != NULL ? full : hone_strdup(fallback);
}

/* The first of the names, in the first of the folders. *ret_tried tells what was tried. */
static void *load(const char *const *names, size_t n_names, char **ret_path, struct hone_buf *tried)
{
    const char *first = getenv("HONE_CUDA_LIB");
    for (size_t f = 0; f <= HONE_COUNTOF(folders); f++) {
        if (f == 0 && (first == NULL || *first == '\0'))
            continue;
        for (size_t n = 0; n < n_names; n++) {
            HONE_AUTOFREE char *path = f == 0 ? hone_sprintf("%s/%s", first, names[n])
                                              : hone_sprintf("%s%s", folders[f - 1], names[n]);
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library != NULL) {
                *ret_path = HONE_STEAL(path);
                return library;
            }
            const char *why = dlerror();
            hone_buf_printf(tried, "%s%.160s", tried->len > 0 ? "; " : "",
                            why != NULL ? why : path);
        }
    }
    return NULL;
}

void *hone_cuda_library(const char *name, char **ret_path, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf tried = HONE_BUF_INIT;
    void *library = load(&name, 1, ret_path, &tried);
    if (library == NULL)
        hone_fail(err, HONE_E_UNSUPPORTED, "no %s here (%.300s)", name, tried.data);
    return library;
}

/* dlsym gives object pointers; a function pointer of the same size is made of its bytes. */
static void *find(void *library, const char *symbol, void *ret_function)
{
    void *found = dlsym(library, symbol);
    memcpy(ret_function, &found, sizeof found);
    return found;
}

int hone_cuda_open(struct hone_cuda **ret, struct hone_err *err)
{
    static const char *const names[] = {"libcuda.so.1"};
    HONE_CLEANUP(hone_buf_done) struct hone_buf tried = HONE_BUF_INIT;
    HONE_AUTOFREE char *path = NULL;
    void *library = load(names, HONE_COUNTOF(names), &path, &tried);
    if (library == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "no NVIDIA driver here (%.300s)", tried.data);
    HONE_AUTOFREE struct hone_cuda *cu = hone_calloc(1, sizeof *cu);
    const char *missing = NULL;
#define LOAD_REQUIRED(name_, symbol_, args_)                                                       \
    if (find(library, symbol_, &cu->name_) == NULL)                                                \
        missing = symbol_;
#define LOAD_OPTIONAL(name_, symbol_, args_) find(library, symbol_, &cu->name_);
    HONE_CUDA_REQUIRED(LOAD_REQUIRED)
    HONE_CUDA_OPTIONAL(LOAD_OPTIONAL)
    if (missing != NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED,
                         "the driver library %s has no %s: a driver of CUDA 12 or newer is needed",
                         path, missing);
    cu->library = library;
    cu->path = path_of(dlsym(library, "cuInit"), path);
    *ret = HONE_STEAL(cu);
    return 0;
}

void hone_cuda_close(struct hone_cuda *cu)
{
    if (cu == NULL)
        return;
    free((char *)(uintptr_t)cu->path);
    free(cu);
}

/* NVRTC opens its builtins by bare name, which fails where its folder is not on the loader's path;
 * one that is loaded already is found by that name. Stays loaded; none there: NVRTC will say so. */
static void load_builtins(const struct hone_nvrtc *nvrtc)
{
    const char *slash = strrchr(nvrtc->path, '/');
    int major = 0, minor = 0;
    if (slash == NULL || nvrtc->Version(&major, &minor) != 0)
        return;
    HONE_AUTOFREE char *path = hone_sprintf("%.*s/libnvrtc-builtins.so.%d.%d",
                                            (int)(slash - nvrtc->path), nvrtc->path, major, minor);
    (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int hone_nvrtc_open(struct hone_nvrtc **ret, struct hone_err *err)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    HONE_CLEANUP(hone_buf_done) struct hone_buf tried = HONE_BUF_INIT;
    HONE_AUTOFREE char *path = NULL;
    void *library = load(names, HONE_COUNTOF(names), &path, &tried);
    if (library == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "no NVRTC here (%.300s)", tried.data);
    HONE_AUTOFREE struct hone_nvrtc *nvrtc = hone_calloc(1, sizeof *nvrtc);
    const char *missing = NULL;
#define LOAD_NVRTC(name_, symbol_, args_)                                                          \
    if (find(library, symbol_, &nvrtc->name_) == NULL)                                             \
        missing = symbol_;
    HONE_NVRTC_FUNCTIONS(LOAD_NVRTC)
    if (missing != NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "%s has no %s: CUDA 12 or newer is needed", path,
                         missing);
    nvrtc->library = library;
    nvrtc->path = path_of(dlsym(library, "nvrtcVersion"), path);
    load_builtins(nvrtc);
    *ret = HONE_STEAL(nvrtc);
    return 0;
}

void hone_nvrtc_close(struct hone_nvrtc *nvrtc)
{
    if (nvrtc == NULL)
        return;
    free((char *)(uintptr_t)nvrtc->path);
    free(nvrtc);
}

int hone_cu_check(const struct hone_cuda *cu, hone_cu_result code, const char *what,
                  struct hone_err *err)
{
    if (code == HONE_CU_SUCCESS)
        return 0;
    const char *name = NULL, *text = NULL;
    if (cu->GetErrorName(code, &name) != HONE_CU_SUCCESS || name == NULL)
        name = "an unknown CUDA error";
    if (cu->GetErrorString(code, &text) != HONE_CU_SUCCESS || text == NULL)
        text = "no text";
    int result = hone_fail(err, HONE_E_TARGET, "%s: %s (%s)", what, name, text);
    if (err != NULL)
        err->native = code;
    return result;
}

const char *hone_cu_words(hone_cu_result code)
{
    static const struct {
        hone_cu_result code;
        const char *words;
    } rows[] = {
        {HONE_CU_INVALID_VALUE, "a value that is not valid"},
        {HONE_CU_OUT_OF_MEMORY, "out of memory"},
        {HONE_CU_NO_DEVICE, "no device"},
        {HONE_CU_INVALID_IMAGE, "the module's image is not valid"},
        {HONE_CU_NO_BINARY, "the module has no code for this device"},
        {HONE_CU_INVALID_PTX, "the module's PTX is not valid"},
        {HONE_CU_SYMBOL_NOT_FOUND, "a symbol of the module is missing"},
        {HONE_CU_OBJECT_INIT_FAILED, "the module could not be set up"},
        {HONE_CU_NOT_FOUND, "a name is not in the module"},
        {HONE_CU_ILLEGAL_ADDRESS, "an illegal memory access"},
        {HONE_CU_LAUNCH_OUT_OF_RESOURCES, "too many registers or threads for a launch"},
        {HONE_CU_LAUNCH_TIMEOUT, "a launch ran for too long"},
        {HONE_CU_ASSERT, "an assertion on the device"},
        {HONE_CU_HARDWARE_STACK_ERROR, "an error of the device's stack"},
        {HONE_CU_ILLEGAL_INSTRUCTION, "an illegal instruction"},
        {HONE_CU_MISALIGNED_ADDRESS, "a misaligned address"},
        {HONE_CU_INVALID_ADDRESS_SPACE, "an address of another memory space"},
        {HONE_CU_INVALID_PC, "an invalid program counter"},
        {HONE_CU_LAUNCH_FAILED, "a launch failed on the device"},
        {HONE_CU_COOPERATIVE_TOO_LARGE, "a cooperative grid does not fit on the device"},
        {HONE_CU_TENSOR_MEMORY_LEAK, "tensor memory was not given back"},
        {HONE_CU_NOT_PERMITTED, "the operation is not permitted"},
        {HONE_CU_NOT_SUPPORTED, "the operation is not supported"},
        {HONE_CU_INVALID_CLUSTER_SIZE, "a cluster of this size is not possible"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        if (rows[i].code == code)
            return rows[i].words;
    }
    return NULL;
}

enum hone_reason hone_cu_reason(hone_cu_result code)
{
    static const struct {
        hone_cu_result code;
        enum hone_reason reason;
    } rows[] = {
        {HONE_CU_SUCCESS, HONE_REASON_CORRECT},
        {HONE_CU_OUT_OF_MEMORY, HONE_REASON_OOM},
        {HONE_CU_INVALID_IMAGE, HONE_REASON_LINK},
        {HONE_CU_NO_BINARY, HONE_REASON_LINK},
        {HONE_CU_INVALID_PTX, HONE_REASON_LINK},
        {HONE_CU_INVALID_SOURCE, HONE_REASON_LINK},
        {HONE_CU_SYMBOL_NOT_FOUND, HONE_REASON_LINK},
        {HONE_CU_OBJECT_INIT_FAILED, HONE_REASON_LINK},
        {HONE_CU_ILLEGAL_ADDRESS, HONE_REASON_OUT_OF_BOUNDS},
        {HONE_CU_LAUNCH_OUT_OF_RESOURCES, HONE_REASON_LAUNCH},
        {HONE_CU_LAUNCH_TIMEOUT, HONE_REASON_TIMEOUT},
        {HONE_CU_ASSERT, HONE_REASON_CRASH},
        {HONE_CU_HARDWARE_STACK_ERROR, HONE_REASON_CRASH},
        {HONE_CU_ILLEGAL_INSTRUCTION, HONE_REASON_ILLEGAL_INSTRUCTION},
        {HONE_CU_MISALIGNED_ADDRESS, HONE_REASON_CRASH},
        {HONE_CU_INVALID_ADDRESS_SPACE, HONE_REASON_OUT_OF_BOUNDS},
        {HONE_CU_INVALID_PC, HONE_REASON_CRASH},
        {HONE_CU_LAUNCH_FAILED, HONE_REASON_CRASH},
        {HONE_CU_COOPERATIVE_TOO_LARGE, HONE_REASON_LAUNCH},
        {HONE_CU_TENSOR_MEMORY_LEAK, HONE_REASON_CRASH},
        {HONE_CU_INVALID_CLUSTER_SIZE, HONE_REASON_LAUNCH},
    };
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        if (rows[i].code == code)
            return rows[i].reason;
    }
    return HONE_REASON_INFRA;
}
