/* SPDX-License-Identifier: Apache-2.0 */
/* The executor of runners behind a command (tools/launch/remote.h): `ssh node7 hone-runner
 * --serve`, srun, docker, or nothing but the program.
 *
 * State: slots, one for each runner that may be started. A job takes a slot whose runner is idle,
 * else one that has none and starts it, else it waits. A runner that is lost in the middle of a
 * job (a node that vanished, a preemption, a cut line) is closed and the job begins again on
 * another one, ATTEMPTS times in all; then its report has reason "infra". All runners of an
 * executor must be of one class: timings of different machines are not comparable. A thread tells
 * idle runners that this side lives, and closes those that were idle for long. */
#include "tools/executor.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/exec_answer.h"
#include "tools/launch/link.h"
#include "tools/launch/remote.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"
#include "workspace/base/log.h"

#define ATTEMPTS 3
#define RETRY_MS 1000

struct slot {
    struct hone_remote *remote; /* NULL: none is started */
    bool is_taken;              /* by a job or by the keeper; remote is theirs then */
    int64_t idle_since_ns;
};

struct command {
    char *text, *name, *class; /* owned */
    struct hone_command_spec spec;
    pthread_mutex_t lock;   /* guards slots, class, is_over */
    pthread_cond_t changed; /* a slot is free again, or the end */
    struct slot slots[HONE_LIMIT_RUNNERS];
    bool is_over, has_keeper;
    pthread_t keeper;
};

/* ---- slots ---- */

static int64_t wait_slice(struct command *c, int64_t ms)
{
    int64_t until = hone_deadline_in_ms(ms);
    struct timespec at = {.tv_sec = until / HONE_NS_PER_S, .tv_nsec = until % HONE_NS_PER_S};
    return pthread_cond_timedwait(&c->changed, &c->lock, &at);
}

/* An idle runner's slot, else an empty one, else NULL. lock is held. */
static struct slot *pick(struct command *c)
{
    struct slot *empty = NULL;
    for (size_t i = 0; i < c->spec.n_runners; i++) {
        struct slot *slot = &c->slots[i];
        if (!slot->is_taken && slot->remote != NULL)
            return slot;
        if (!slot->is_taken && empty == NULL)
            empty = slot;
    }
    return empty;
}

static void give(struct command *c, struct slot *slot)
{
    pthread_mutex_lock(&c->lock);
    slot->is_taken = false;
    slot->idle_since_ns = hone_now_ns();
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void drop(struct slot *slot)
{
    hone_remote_close(slot->remote);
    slot->remote = NULL;
}

/* The first runner says what class of machine this executor is; others have to be the same. */
static int check_class(struct command *c, const struct hone_remote *remote, struct hone_err *err)
{
    const char *class = hone_remote_class(remote);
    pthread_mutex_lock(&c->lock);
    if (c->class == NULL)
        c->class = hone_strdup(class);
    bool is_same = strcmp(c->class, class) == 0;
    pthread_mutex_unlock(&c->lock);
    return is_same
               ? 0
               : hone_fail(err, HONE_E_UNSUPPORTED,
                           "a runner on '%.100s' beside those on '%.100s': their timings cannot "
                           "be compared; give each class an executor of its own",
                           class, c->class);
}

static int fill(struct command *c, struct slot *slot, const struct hone_cancel *cancel,
                struct hone_err *err)
{
    if (slot->remote != NULL)
        return 0;
    int code = hone_remote_open(c->text, (size_t)(slot - c->slots),
                                hone_deadline_in_ms(c->spec.start_ms), cancel, &slot->remote, err);
    if (code == 0)
        code = check_class(c, slot->remote, err);
    if (code < 0)
        drop(slot);
    return code;
}

/* Waits for a slot and starts its runner; give() afterwards. */
static int take(struct command *c, hone_progress_fn *on_progress, void *progress_arg,
                const struct hone_cancel *cancel, struct slot **ret, struct hone_err *err)
{
    struct slot *slot = NULL;
    pthread_mutex_lock(&c->lock);
    while (!c->is_over && !hone_cancel_is_set(cancel) && (slot = pick(c)) == NULL) {
        pthread_mutex_unlock(&c->lock);
        HONE_AUTOFREE char *text = hone_sprintf("waiting for a runner: %zu of %zu are busy",
                                                c->spec.n_runners, c->spec.n_runners);
        if (on_progress != NULL)
            on_progress(progress_arg, &(struct hone_progress){.message = text});
        pthread_mutex_lock(&c->lock);
        (void)wait_slice(c, 1000);
    }
    if (slot != NULL)
        slot->is_taken = true;
    pthread_mutex_unlock(&c->lock);
    if (slot == NULL)
        return hone_fail(err, HONE_E_CANCEL, "cancelled");
    int code = fill(c, slot, cancel, err);
    if (code < 0)
        give(c, slot);
    else
        *ret = slot;
    return code;
}

/* ---- idle runners ---- */

static void keep(struct command *c, struct slot *slot)
{
    bool is_long = hone_now_ns() - slot->idle_since_ns > c->spec.idle_ms * HONE_NS_PER_MS;
    pthread_mutex_unlock(&c->lock);
    if (is_long || !hone_remote_keep(slot->remote))
        drop(slot);
    pthread_mutex_lock(&c->lock);
    slot->is_taken = false;
    pthread_cond_signal(&c->changed);
}

static void *keep_all(void *arg)
{
    struct command *c = arg;
    pthread_mutex_lock(&c->lock);
    while (!c->is_over) {
        for (size_t i = 0; i < c->spec.n_runners; i++) {
            struct slot *slot = &c->slots[i];
            if (slot->is_taken || slot->remote == NULL)
                continue;
            slot->is_taken = true;
            keep(c, slot);
        }
        (void)wait_slice(c, HONE_LINK_PING_MS);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- the executor ---- */

static void rest(void)
{
    (void)poll(NULL, 0, RETRY_MS);
}

/* One attempt: 0 with *ret, HONE_E_CANCEL, HONE_E_TARGET (no use to try again), or why the runner
 * was lost. */
static int attempt(struct command *c, const char *call_dir, const struct hone_job *job,
                   hone_progress_fn *on_progress, void *progress_arg,
                   const struct hone_cancel *cancel, struct hone_launch_end *ret,
                   struct hone_err *err)
{
    struct slot *slot;
    HONE_AUTOFREE char *report = hone_path_join(call_dir, "report.json", NULL);
    int code = take(c, on_progress, progress_arg, cancel, &slot, err);
    if (code < 0)
        return code == HONE_E_TARGET ? HONE_E_IO : code; /* another runner may start */
    (void)unlink(report);                                /* of a runner that was lost */
    code =
        hone_remote_run(slot->remote, call_dir, job, on_progress, progress_arg, cancel, ret, err);
    bool is_lost = (code < 0 && code != HONE_E_TARGET && code != HONE_E_CANCEL) ||
                   (code == 0 && ret->timed_out) || code == HONE_E_CANCEL;
    if (is_lost && (code != HONE_E_CANCEL || !hone_remote_keep(slot->remote)))
        drop(slot);
    give(c, slot);
    return code;
}

static int run(void *cookie, const char *call_dir, const struct hone_job *job,
               hone_progress_fn *on_progress, void *progress_arg, const struct hone_cancel *cancel,
               struct hone_pool *pool, struct hone_report *ret, struct hone_err *err)
{
    struct command *c = cookie;
    struct hone_err why = HONE_ERR_INIT;
    struct hone_launch_end end;
    int code = HONE_E_IO;
    bool is_lost = true;
    for (int i = 0; i < ATTEMPTS && is_lost; i++) {
        if (i > 0) {
            hone_log(HONE_LOG_WARN, "job=%s %s; trying another runner", job->id, why.message);
            rest();
        }
        why = (struct hone_err)HONE_ERR_INIT;
        code = attempt(c, call_dir, job, on_progress, progress_arg, cancel, &end, &why);
        if (code == HONE_E_CANCEL || hone_cancel_is_set(cancel))
            return hone_fail(err, HONE_E_CANCEL, "cancelled");
        is_lost = code < 0 && code != HONE_E_TARGET && code != HONE_E_UNSUPPORTED;
        if (code == 0)
            hone_exec_answer(call_dir, job, &end, pool, ret);
        if (code == 0 && ret->reason == HONE_REASON_CANCELLED) { /* by its cluster, not by us */
            is_lost = true;
            (void)hone_fail(&why, HONE_E_IO, "the runner was told to stop");
        }
    }
    if (code < 0)
        hone_exec_infra(job, hone_pool_strdup(pool, why.message), ret);
    return 0;
}

static int probe(void *cookie, struct hone_json **ret, struct hone_err *err)
{
    struct command *c = cookie;
    struct slot *slot;
    int code = take(c, NULL, NULL, NULL, &slot, err);
    if (code < 0)
        return code;
    code = hone_remote_probe(slot->remote, ret, err);
    if (code < 0)
        drop(slot);
    give(c, slot);
    return code;
}

static void close_command(void *cookie)
{
    struct command *c = cookie;
    pthread_mutex_lock(&c->lock);
    c->is_over = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (c->has_keeper)
        pthread_join(c->keeper, NULL);
    for (size_t i = 0; i < c->spec.n_runners; i++)
        drop(&c->slots[i]);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c->class);
    free(c->name);
    free(c->text);
    free(c);
}

static struct command *make(const struct hone_command_spec *spec)
{
    struct command *c = hone_calloc(1, sizeof *c);
    pthread_condattr_t attributes;
    c->spec = *spec;
    c->text = hone_strdup(spec->command);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return c;
}

int hone_exec_command_new(const struct hone_command_spec *spec, struct hone_executor **ret,
                          struct hone_err *err)
{
    struct slot *slot;
    if (spec->command[strspn(spec->command, " \t")] == '\0')
        return hone_fail(err, HONE_E_ARG,
                         "the executor 'command:' wants a command behind the colon, such as "
                         "'command:ssh node7 hone-runner --serve'");
    if (spec->n_runners < 1 || spec->n_runners > HONE_LIMIT_RUNNERS)
        return hone_fail(err, HONE_E_LIMIT, "%zu runners; 1 to %d are possible", spec->n_runners,
                         HONE_LIMIT_RUNNERS);
    struct command *c = make(spec);
    int code = HONE_E_TARGET; /* faults show now, not in every report */
    int64_t deadline = hone_deadline_in_ms(spec->start_ms);
    for (int i = 0; i < ATTEMPTS && code == HONE_E_TARGET && hone_now_ns() < deadline; i++) {
        if (i > 0)
            rest();
        code = take(c, NULL, NULL, spec->cancel, &slot, err);
    }
    if (code < 0) {
        close_command(c);
        return code;
    }
    give(c, slot);
    /* what is known of one class of machine is not known of another */
    c->name = hone_sprintf("command on %s", c->class);
    c->has_keeper = pthread_create(&c->keeper, NULL, keep_all, c) == 0;
    struct hone_executor *executor = hone_calloc(1, sizeof *executor);
    *executor = (struct hone_executor){
        .name = c->name, .run = run, .probe = probe, .close = close_command, .cookie = c};
    *ret = executor;
    return 0;
}
