/* SPDX-License-Identifier: Apache-2.0 */
/* The program stage: the arms' files are one C program, which is built and run once in the jail.
 *
 * The candidate's file is compiled alone, with the options of an exported file; the other C files
 * are linked to it, headers lie beside them. The program's stdout is the report's output, its exit
 * status the verdict: 0 is good. What it says is its own word: nothing is verified here. */
#include "tools/runner/judge/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/runner/build/build.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/utf8.h"

#define BUILD_MS     60000
#define TMP_BYTES    (16ll << 20)
#define MEMORY_BYTES (4ll << 30)
#define MORE_TASKS   8 /* of the program, besides its team's threads */

static bool is_c_file(const char *name)
{
    size_t len = strlen(name);
    return len > 2 && strcmp(name + len - 2, ".c") == 0;
}

/* Copies the arms' files; files gets the C files among them. */
static int lay_out(const struct hone_judge *judge, const char *folder,
                   const char *files[HONE_LIMIT_ARMS + 1], struct hone_err *err)
{
    const struct hone_arm *arms = judge->job->arms.v;
    size_t n = 0;
    int code = hone_remove_tree(folder, err);
    if (code == 0)
        code = hone_mkdirs(folder, 0755, err);
    for (size_t i = 0; i < judge->job->arms.n && code == 0; i++) {
        HONE_AUTOFREE char *from = hone_sprintf("%s/open/%s", judge->dir, arms[i].source);
        HONE_AUTOFREE char *to = hone_sprintf("%s/%s", folder, arms[i].source);
        code = hone_file_copy(from, to, HONE_LIMIT_SOURCE_BYTES, err);
        if (is_c_file(arms[i].source))
            files[n++] = arms[i].source;
    }
    files[n] = NULL;
    return code;
}

static void explain_build(const struct hone_build *build, struct hone_outcome *ret)
{
    const struct hone_diagnostic *first =
        build->report.diagnostics.n > 0 ? build->report.diagnostics.v : NULL;
    if (first != NULL)
        hone_outcome_set(ret, build->reason, "line %lld: %.300s", (long long)first->line,
                         first->message);
    else
        hone_outcome_set(ret, build->reason, "%.300s",
                         build->report.log != NULL ? build->report.log : "");
}

static void explain_end(const struct hone_jail_exit *how, bool timed_out, const char *said,
                        struct hone_outcome *ret)
{
    if (timed_out)
        hone_outcome_set(ret, HONE_REASON_TIMEOUT, "the program did not end in time");
    else if (how->was_seccomp)
        hone_outcome_set(ret, HONE_REASON_FORBIDDEN, "the jail stopped the program");
    else if (how->was_oom)
        hone_outcome_set(ret, HONE_REASON_OOM, "the program wanted more memory than it may have");
    else if (how->signal != 0)
        hone_outcome_set(ret, HONE_REASON_CRASH, "the program was killed by signal %d",
                         how->signal);
    else if (how->status != 0)
        hone_outcome_set(ret, HONE_REASON_WRONG_VALUE, "exit status %d: %.*s", how->status,
                         (int)strcspn(said, "\n"), said);
}

static int run_program(struct hone_judge *judge, const char *folder, struct hone_outcome *ret,
                       struct hone_err *err)
{
    const char *const argv[] = {"/work/program", NULL};
    HONE_AUTOCLOSE int out_fd = memfd_create("program output", MFD_CLOEXEC);
    if (out_fd < 0)
        return hone_fail_errno(err, errno, "memfd_create");
    const struct hone_job *job = judge->job;
    struct hone_jail_spec spec = {
        .profile = HONE_JAIL_ARENA,
        .rung = job->jail,
        .allow_weak = job->allow_weak_jail,
        .argv = argv,
        .work_dir = folder,
        .memory_bytes = job->memory_bytes > 0 ? job->memory_bytes : MEMORY_BYTES,
        .tmp_bytes = TMP_BYTES,
        .file_bytes = HONE_LIMIT_LOG_BYTES,
        .max_pids = (int)judge->n_threads + MORE_TASKS,
        .stdin_fd = -1,
        .stdout_fd = out_fd,
        .stderr_fd = out_fd,
    };
    struct hone_jail *jail = NULL;
    struct hone_jail_exit how = {.status = -1};
    int code = hone_jail_start(&spec, &jail, err);
    if (code < 0)
        return code;
    judge->report->jail = hone_jail_rung(jail);
    int64_t deadline = hone_min_i64(hone_now_ns() + judge->call_timeout_ns, judge->deadline_ns);
    code = hone_jail_wait(jail, deadline, &how, err);
    bool timed_out = code == HONE_E_TIMEOUT;
    hone_jail_free(jail);
    if (code < 0 && !timed_out)
        return code;
    char *said = hone_pool_alloc(judge->pool, HONE_LIMIT_LOG_BYTES);
    ssize_t len = pread(out_fd, said, HONE_LIMIT_LOG_BYTES - 1, 0);
    for (ssize_t i = 0; i < len; i++)
        if (said[i] == '\0')
            said[i] = ' ';
    hone_utf8_defuse(said, '?');
    judge->report->output = said;
    explain_end(&how, timed_out, said, ret);
    return 0;
}

int hone_stage_program(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_arm *arms = judge->job->arms.v;
    HONE_AUTOFREE char *folder = hone_sprintf("%s/open/program", judge->dir);
    const char *files[HONE_LIMIT_ARMS + 1] = {NULL};
    const char *flags[HONE_LIMIT_FLAGS + 1] = {NULL};
    struct hone_build build;
    if (!is_c_file(arms[0].source)) {
        hone_outcome_set(ret, HONE_REASON_BAD_REQUEST, "a program's first file ends with .c");
        return 0;
    }
    for (size_t i = 0; i < arms[0].flags.n && i < HONE_LIMIT_FLAGS; i++)
        flags[i] = arms[0].flags.v[i];
    int code = lay_out(judge, folder, files, err);
    if (code < 0)
        return code;
    const struct hone_program_request req = {
        .folder = folder,
        .files = files,
        .flags = flags,
        .rung = judge->job->jail,
        .allow_weak = judge->job->allow_weak_jail,
        .deadline_ns = hone_min_i64(hone_deadline_in_ms(BUILD_MS), judge->deadline_ns)};
    code = hone_build_program(&req, judge->pool, &build, err);
    if (code < 0)
        return code;
    if (build.reason != HONE_REASON_BUILT) {
        explain_build(&build, ret);
        return 0;
    }
    return run_program(judge, folder, ret, err);
}
