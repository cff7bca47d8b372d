/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA sources built for the emulated device and for a real one, with values for their tunables. */
#ifndef HONE_TESTS_CUDA_RIG_H
#define HONE_TESTS_CUDA_RIG_H

#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/coder/coder.h"
#include "workspace/base/file.h"

static inline struct hone_c_parser *open_parser(void)
{
    struct hone_c_parser *p = NULL;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_c_parser_new(&p, &err) == 0, "%s", err.message);
    return p;
}

/* The build folder that this program lies in. */
static inline const char *build_dir(struct hone_pool *pool)
{
    char path[4096] = "";
    ck_assert_int_gt((int)readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
    char *end = strstr(path, "/tests/unit/");
    ck_assert_ptr_nonnull(end);
    return hone_pool_strndup(pool, path, (size_t)(end - path));
}

/* What "NAME=value ..." says of the tunable, else its default. */
static inline long long value_of(const struct hone_tune_axis *axis, const char *given,
                                 struct hone_pool *pool)
{
    const char *word = hone_pool_printf(pool, " %s=", axis->name),
               *all = hone_pool_printf(pool, " %s", given), *at = strstr(all, word);
    return at ? atoll(at + strlen(word)) : (long long)axis->values.v[0];
}

/* The tunables as the device's compiler gets them. */
static inline const char *prologue_of(const char *source, const char *given, struct hone_pool *pool)
{
    struct hone_array axes;
    const char *where = NULL, *out = "";
    ck_assert_int_eq(hone_tune_parse(source, pool, &axes, &where, NULL), 0);
    const struct hone_tune_axis *axis = axes.v;
    for (size_t i = 0; i < axes.n; i++)
        out = hone_pool_printf(pool, "%sconstexpr int %s = %lld;\n", out, axis[i].name,
                               value_of(&axis[i], given, pool));
    return out;
}

static inline const char *write_source(const char *source, const char *given,
                                       struct hone_pool *pool)
{
    static int serial;
    const char *stem = hone_pool_printf(pool, "/tmp/hone-cuda-%d-%d", (int)getpid(), serial++);
    const char *cu = hone_pool_printf(pool, "%s.cu", stem),
               *h = hone_pool_printf(pool, "%s.h", stem);
    const char *prologue = prologue_of(source, given, pool);
    ck_assert_int_eq(hone_file_write(cu, source, strlen(source), 0600, false, NULL), 0);
    ck_assert_int_eq(hone_file_write(h, prologue, strlen(prologue), 0600, false, NULL), 0);
    return stem;
}

/* Sources are too long for a message of the test library. */
static inline void give_up(const char *source, const char *why)
{
    fprintf(stderr, "%s\n", source);
    ck_abort_msg("%s", why);
}

static inline void *build(const char *source, const char *name, const char *given,
                          struct hone_pool *pool)
{
    const char *stem = write_source(source, given, pool),
               *so = hone_pool_printf(pool, "%s.so", stem);
    int status = system(hone_pool_printf(pool,
                                         "CXXFLAGS='-include %s.h' tests/cached %s %s.h %s.cu "
                                         "tests/cuda_emulator/* %s/cuda_emulator/scan_cu -- sh "
                                         "tests/cuda_emulator/run_cu.sh -b %s -o %s %s.cu 2>%s.log",
                                         stem, so, stem, stem, build_dir(pool), build_dir(pool), so,
                                         stem, stem));
    if (status != 0)
        give_up(source, hone_pool_printf(pool, "does not build: %s.log", stem));
    void *lib = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(lib != NULL, "%s", dlerror());
    ck_assert_int_eq(system(hone_pool_printf(pool, "rm -f %s.*", stem)), 0);
    return dlsym(lib, name);
}

static inline bool has_nvcc(void)
{
    return access("/usr/local/cuda/bin/nvcc", X_OK) == 0;
}

static inline void compile_for_device(const char *source, const char *given, struct hone_pool *pool)
{
    const char *stem = write_source(source, given, pool);
    int status = system(hone_pool_printf(pool,
                                         "tests/cached %s.cubin %s.h %s.cu -- "
                                         "/usr/local/cuda/bin/nvcc -std=c++17 -arch=sm_90a -cubin "
                                         "-diag-suppress 161 -include %s.h -o %s.cubin %s.cu >&2",
                                         stem, stem, stem, stem, stem, stem));
    if (status != 0)
        give_up(source, "nvcc refuses it");
    ck_assert_int_eq(system(hone_pool_printf(pool, "rm -f %s.*", stem)), 0);
}

#endif
