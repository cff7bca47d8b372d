/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the store share: a scratch folder, a sample version, running git. */
#ifndef HONE_TESTS_STORE_UTIL_H
#define HONE_TESTS_STORE_UTIL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"
#include "workspace/records.h"
#include "workspace/workspace.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        struct hone_err ok_err_ = HONE_ERR_INIT;                                                   \
        struct hone_err *err HONE_UNUSED = &ok_err_;                                               \
        int ok_rc_ = (call);                                                                       \
        ck_assert_msg(ok_rc_ == 0, "%s: %d %s", #call, ok_rc_, ok_err_.message);                   \
    } while (0)

/* The call must fail with that code, and the message must hold the text. */
#define FAILS(code_, text_, call)                                                                  \
    do {                                                                                           \
        struct hone_err fails_err_ = HONE_ERR_INIT;                                                \
        struct hone_err *err HONE_UNUSED = &fails_err_;                                            \
        int fails_rc_ = (call);                                                                    \
        ck_assert_msg(fails_rc_ == (code_), "%s: got %d, want %d: %s", #call, fails_rc_, code_,    \
                      fails_err_.message);                                                         \
        ck_assert_msg(strstr(fails_err_.message, text_), "'%s' is not in '%s'", text_,             \
                      fails_err_.message);                                                         \
    } while (0)

static inline char *scratch(void)
{
    const char *base = getenv("TMPDIR");
    char *dir = hone_sprintf("%s/hone-store-XXXXXX", base && base[0] ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    return dir;
}

static inline void scratch_done(char **dir)
{
    if (*dir)
        hone_remove_tree(*dir, NULL);
    free(*dir);
}
#define SCRATCH HONE_CLEANUP(scratch_done)

static inline struct hone_version sample(const char *parent, const char *source)
{
    return (struct hone_version){.parent = parent,
                                 .task = "matmul",
                                 .target = "cpu",
                                 .file_name = "matmul.c",
                                 .source = source,
                                 .report_json = "{\"format\":1}\n",
                                 .subject = "tile the inner loop",
                                 .time_s = 1700000000};
}

/* Runs a command in dir; its stdout (owned). The command must end with status 0. */
static inline char *run_in(const char *dir, const char *const *argv)
{
    struct hone_process_spec spec = {
        .argv = argv, .cwd = dir, .deadline_ns = hone_deadline_in_ms(100000)};
    struct hone_process_result result = {.out = NULL};
    OK(hone_process_run(&spec, &result, err));
    /* libcheck ends a test whose message is longer than 8 kB, and shows none of it */
    ck_assert_msg(result.exit_status == 0, "%s %s: status %d: %.2000s%.2000s", argv[0], argv[1],
                  result.exit_status, result.out, result.err);
    char *out = hone_sprintf("%s%s", result.out, result.err);
    hone_process_result_done(&result);
    return out;
}
#define RUN(dir, ...) run_in(dir, (const char *const[]){__VA_ARGS__, NULL})

/* `git fsck --strict` must have nothing to say, and every version's ref must point at its own name.
 */
static inline void check_git(const char *dir)
{
    char *fsck HONE_AUTOFREE = RUN(dir, "git", "fsck", "--strict", "--no-dangling");
    ck_assert_msg(fsck[0] == '\0', "git fsck says: %.4000s", fsck);
}

#endif
