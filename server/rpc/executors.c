/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/executors.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/process.h"

extern char **environ;

#define COMMAND_START_MS 60000
#define COMMAND_IDLE_MS  600000
/* A queue may take this long before the first runner starts; an allocation is given back soon. */
#define SLURM_START_MS 3600000
#define SLURM_LOOK_MS  10000
#define SLURM_IDLE_MS  60000

static int open_local(const struct hone_executor_spec *spec, const char *rest,
                      struct hone_executor **ret, struct hone_err *err)
{
    (void)rest;
    return hone_exec_local_new(spec->runner_path, ret, err);
}

static int open_fake(const struct hone_executor_spec *spec, const char *rest,
                     struct hone_executor **ret, struct hone_err *err)
{
    (void)rest;
    return hone_exec_fake_new(spec->fake_script, ret, err);
}

static size_t n_runners(const struct hone_executor_spec *spec)
{
    return spec->n_runners > 0 ? (size_t)spec->n_runners : 1;
}

static int64_t start_ms(const struct hone_executor_spec *spec, int64_t usual)
{
    return spec->start_ms > 0 ? hone_min_i64(spec->start_ms, usual) : usual;
}

static int open_command(const struct hone_executor_spec *spec, const char *rest,
                        struct hone_executor **ret, struct hone_err *err)
{
    return hone_exec_command_new(
        &(struct hone_command_spec){.command = rest,
                                    .n_runners = n_runners(spec),
                                    .cancel = spec->cancel,
                                    .start_ms = start_ms(spec, COMMAND_START_MS),
                                    .idle_ms = COMMAND_IDLE_MS},
        ret, err);
}

/* This driver's name in the queue, "hone-login1-4711"; owned. */
static char *driver_name(void)
{
    char host[64] = "";
    (void)gethostname(host, sizeof host - 1);
    host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] = '\0';
    return hone_sprintf("hone-%s-%ld", host, (long)getpid());
}

/* Gives back what drivers of this host left in the queue that are no more: Slurm keeps an allocation
 * whose srun was killed until the job's time limit. */
static void give_back_left(const char *own_name)
{
    static const char script[] =
        "squeue -h -o '%i %j' -u \"$(id -u)\" | while read -r id name; do\n"
        "    case $name in \"${0%-*}\"-*) ;; *) continue ;; esac\n"
        "    pid=${name#\"${0%-*}\"-}\n"
        "    [ -d \"/proc/${pid%%-*}\" ] || scancel --quiet \"$id\"\n"
        "done";
    const struct hone_process_spec spec = {
        .argv = (const char *const[]){"/bin/sh", "-c", script, own_name, NULL},
        .env = (const char *const *)environ, /* where Slurm's settings are */
        .deadline_ns = hone_deadline_in_ms(SLURM_LOOK_MS)};
    struct hone_process_result result;
    if (hone_process_run(&spec, &result, NULL) == 0) /* without Slurm srun will say so */
        hone_process_result_done(&result);
}

/* One srun is one allocation and one step, for as long as the runner lives: Slurm queues, places
 * and ends it. Slurm keeps an allocation whose srun was killed; so the shells around srun, here, and
 * around the runner, there, cancel it when theirs has ended, and a driver gives back what one before
 * it left. The runner's path must hold on the nodes: a shared folder, or the same place. */
static int open_slurm(const struct hone_executor_spec *spec, const char *rest,
                      struct hone_executor **ret, struct hone_err *err)
{
    (void)rest;
    HONE_AUTOFREE char *dir = hone_exe_dir();
    HONE_AUTOFREE char *beside = hone_path_join(dir != NULL ? dir : "", "hone-runner", NULL);
    HONE_AUTOFREE char *name = driver_name();
    const char *options = getenv("HONE_SLURM");
    HONE_AUTOFREE char *text = hone_sprintf(
        "trap : TERM; srun --quiet --ntasks=1 --job-name=%s-{i} --kill-on-bad-exit=1 %s /bin/sh -c "
        "'\"$0\" --serve; scancel --quiet \"$SLURM_JOB_ID\"' '%s'; "
        "code=$?; scancel --quiet --name=%s-{i}; exit $code",
        name, options != NULL ? options : "",
        spec->runner_path != NULL ? spec->runner_path : beside, name);
    if (strchr(spec->runner_path != NULL ? spec->runner_path : beside, '\'') != NULL)
        return hone_fail(err, HONE_E_ARG, "the runner's path may hold no quote");
    give_back_left(name);
    int code = hone_exec_command_new(
        &(struct hone_command_spec){.command = text,
                                    .n_runners = n_runners(spec),
                                    .cancel = spec->cancel,
                                    .start_ms = start_ms(spec, SLURM_START_MS),
                                    .idle_ms = SLURM_IDLE_MS},
        ret, err);
    return code < 0 ? hone_wrap(err, "slurm") : 0;
}

static const struct {
    const char *name;
    bool has_rest; /* what stands behind the name belongs to it */
    int (*open)(const struct hone_executor_spec *spec, const char *rest, struct hone_executor **ret,
                struct hone_err *err);
} executors[] = {
    {"local", false, open_local},
    {"fake", false, open_fake},
    {"command:", true, open_command},
    {"slurm", false, open_slurm},
};

int hone_open_executor(const struct hone_executor_spec *spec, struct hone_executor **ret,
                       struct hone_err *err)
{
    const char *name = spec->name != NULL ? spec->name : "local";
    for (size_t i = 0; i < HONE_COUNTOF(executors); i++) {
        size_t len = strlen(executors[i].name);
        if (strncmp(name, executors[i].name, len) == 0 &&
            (executors[i].has_rest || name[len] == '\0'))
            return executors[i].open(spec, name + len, ret, err);
    }
    return hone_fail(err, HONE_E_ARG,
                     "no executor '%.60s'; there are local, fake, slurm and command:COMMAND", name);
}
