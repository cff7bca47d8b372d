/* SPDX-License-Identifier: Apache-2.0 */
/* A reference, or a kernel, compiled with the system compiler and loaded. */
#ifndef HONE_TESTS_ORACLE_UTIL_H
#define HONE_TESTS_ORACLE_UTIL_H

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/process.h"
#include "workspace/task/task.h"

/* language: "c" or "c++". */
static void *build(const char *name, const char *language, const char *front, const char *text,
                   const char *symbol)
{
    char source[128], object[128];
    snprintf(source, sizeof(source), "/tmp/hone-oracle-test-%d-%s-%s.c", (int)getpid(), name,
             symbol);
    snprintf(object, sizeof(object), "/tmp/hone-oracle-test-%d-%s-%s.so", (int)getpid(), name,
             symbol);
    char *all = hone_sprintf("%s%s", front, text);
    ck_assert_int_eq(hone_file_write(source, all, strlen(all), 0600, false, NULL), 0);
    free(all);
    bool is_c = strcmp(language, "c") == 0;
    const char *const argv[] = {"tests/cached",
                                object,
                                source,
                                "--",
                                is_c ? "gcc" : "g++",
                                "-x",
                                language,
                                is_c ? "-std=gnu17" : "-std=c++17",
                                "-O2",
                                "-Wall",
                                "-fPIC",
                                "-shared",
                                "-o",
                                object,
                                source,
                                "-lm",
                                is_c ? "-Werror=implicit-function-declaration" : NULL,
                                NULL};
    struct hone_process_spec spec = {.argv = argv, .deadline_ns = HONE_NO_DEADLINE};
    struct hone_process_result result;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_msg(hone_process_run(&spec, &result, &err) == 0, "%s", err.message);
    ck_assert_msg(result.exit_status == 0 && result.err_len == 0, "%s: %s", name, result.err);
    hone_process_result_done(&result);
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *found = dlsym(library, symbol);
    ck_assert_ptr_nonnull(found);
    unlink(source);
    unlink(object);
    return found;
}

#endif
