/* SPDX-License-Identifier: Apache-2.0 */
/* The local executor: one hone-runner process per call, for the CPU; for devices a runner that
 * stays (tools/launch), because a context costs more than an evaluation.
 *
 * The runner is a program that loads code that anyone may have written into its jails, so nothing
 * it says is trusted: its report is read with a limit and through a parser that checks every
 * member. A runner that crashed, hung or wrote nonsense becomes a report with reason "infra", which
 * counts against nobody. Cancel and deadline kill the runner with SIGKILL; its jails die with it
 * (PDEATHSIG), so that a cancelled call holds no core and no lease afterwards. */
#include "tools/executor.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/exec_answer.h"
#include "tools/launch/launch.h"
#include "workspace/base/file.h"

static int run(void *cookie, const char *call_dir, const struct hone_job *job,
               hone_progress_fn *on_progress, void *progress_arg, const struct hone_cancel *cancel,
               struct hone_pool *pool, struct hone_report *ret, struct hone_err *err)
{
    struct hone_launcher *launcher = cookie;
    struct hone_err failure = HONE_ERR_INIT;
    struct hone_launch_end end;
    int rc =
        hone_launch(launcher, call_dir, job, on_progress, progress_arg, cancel, &end, &failure);

    if (rc == HONE_E_CANCEL)
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    if (rc < 0)
        hone_exec_infra(job, hone_pool_strdup(pool, failure.message), ret);
    else
        hone_exec_answer(call_dir, job, &end, pool, ret);
    return 0;
}

static int probe(void *cookie, struct hone_json **ret, struct hone_err *err)
{
    return hone_launch_probe(cookie, ret, err);
}

static int describe(void *cookie, const char *file, const char *name, struct hone_json **ret,
                    struct hone_err *err)
{
    return hone_launch_describe(cookie, file, name, ret, err);
}

static int model(void *cookie, const char *folder, struct hone_json **ret, struct hone_err *err)
{
    return hone_launch_model(cookie, folder, ret, err);
}

static void close_local(void *cookie)
{
    hone_launcher_free(cookie);
}

static char *find_runner(void)
{
    HONE_AUTOFREE char *dir = hone_exe_dir();
    static const char *const places[] = {"hone-runner", "../libexec/hone/hone-runner",
                                         "../lib/hone/hone-runner"};

    for (size_t i = 0; dir != NULL && i < HONE_COUNTOF(places); i++) {
        HONE_AUTOFREE char *path = hone_path_join(dir, places[i], NULL);
        if (hone_file_exists(path))
            return HONE_STEAL(path);
    }
    return NULL;
}

int hone_exec_local_new(const char *runner_path, struct hone_executor **ret, struct hone_err *err)
{
    HONE_AUTOFREE char *found = runner_path != NULL ? NULL : find_runner();
    const char *name = runner_path != NULL ? runner_path : found;
    /* absolute: it runs in the folder of its call */
    HONE_AUTOFREE char *path = name != NULL ? realpath(name, NULL) : NULL;
    struct hone_executor *executor;
    struct stat st;

    if (path == NULL)
        return hone_fail(err, HONE_E_NOT_FOUND,
                         "hone-runner is not at '%s'; it belongs beside the hone binary",
                         name != NULL ? name : "(beside hone)");
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return hone_fail(err, HONE_E_ARG, "'%s' is no program that can be run as hone-runner",
                         path);
    executor = hone_calloc(1, sizeof(*executor));
    *executor = (struct hone_executor){.name = "local",
                                       .run = run,
                                       .probe = probe,
                                       .describe = describe,
                                       .model = model,
                                       .close = close_local,
                                       .cookie = hone_launcher_new(path)};
    *ret = executor;
    return 0;
}

void hone_executor_free(struct hone_executor *executor)
{
    if (executor == NULL)
        return;
    if (executor->close != NULL)
        executor->close(executor->cookie);
    free(executor);
}
