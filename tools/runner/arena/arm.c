/* SPDX-License-Identifier: Apache-2.0 */
/* The judge's side of one arena (arm.h).
 *
 * Flow: start the jail, hand over the buffers, then for each call thaw, go, wait for done,
 * freeze. States of an arena: frozen (the normal one), running (only inside hand_over), dead
 * (end holds the reason). Everything that the arena writes into the control page is a claim:
 * words outside the closed lists count as forged. */
#include "tools/runner/arena/arm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tools/runner/arena/caller.h"
#include "tools/runner/arena/place.h"
#include "tools/runner/arena/waited.h"
#include "tools/runner/jail/stopping.h"
#include "workspace/base/clock.h"
#include "workspace/base/utf8.h"

#define START_NS      (20 * HONE_NS_PER_S)
#define END_NS        (5 * HONE_NS_PER_S)
#define PRINTED_BYTES (1 << 20)
#define TMP_BYTES     (64ll << 20)
#define FILE_BYTES    (32ll << 20) /* less than /tmp holds: a runaway file ends with a signal */
#define CPU_SECONDS   3600
#define POLL_SLICE_MS 200
#define PAUSE_NS      50000
#define WAITS_MOST    3 /* times a call's limit: what waiting for cores may add to it */
#define FULL_SLICES   8 /* of calls, with as many threads as there may be: it goes on trying */

bool hone_outcome_is_good(const struct hone_outcome *end)
{
    return end->reason == HONE_REASON_CORRECT;
}

bool hone_outcome_is_value(const struct hone_outcome *end)
{
    return end->reason == HONE_REASON_WRONG_VALUE || end->reason == HONE_REASON_NONFINITE;
}

void hone_outcome_set(struct hone_outcome *end, enum hone_reason reason, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    end->reason = reason;
    vsnprintf(end->detail, sizeof end->detail, fmt, args);
    va_end(args);
    hone_utf8_defuse(end->detail, '?'); /* compilers repeat what a source says */
}

struct hone_control *hone_arena_control(struct hone_arena *arena)
{
    return (struct hone_control *)(void *)arena->control.base;
}

static const char *tensor_name(const struct hone_arena *arena, int tensor)
{
    const struct hone_task *task = arena->task;
    if (tensor < 0 || (size_t)tensor >= task->n_inputs + task->n_outputs)
        return "a tensor";
    size_t t = (size_t)tensor;
    return t < task->n_inputs ? task->inputs[t].name : task->outputs[t - task->n_inputs].name;
}

static void explain_signal(struct hone_arena *arena, int number)
{
    const struct hone_control *control = hone_arena_control(arena);
    const char *name = tensor_name(arena, control->fault_tensor);
    bool is_memory = number == SIGSEGV || number == SIGBUS;
    if (is_memory && control->fault == HONE_FAULT_INPUT)
        hone_outcome_set(&arena->end, HONE_REASON_INPUT_CHANGED,
                         "the kernel wrote to input '%s', which is read-only", name);
    else if (is_memory && control->fault == HONE_FAULT_GUARD)
        hone_outcome_set(&arena->end, HONE_REASON_OUT_OF_BOUNDS,
                         "the kernel touched memory just outside of '%s'", name);
    else
        hone_outcome_set(&arena->end, HONE_REASON_CRASH, "the kernel ended with signal %d (%s)",
                         number, strsignal(number));
}

/* What the helper says it could not do, in our words: by then foreign code may have written the
 * page, so that only numbers of closed lists are taken from it. */
static const char *say_step(const struct hone_arena *arena, char *room, size_t size)
{
    static const char *const steps[HONE_N_HELPER_STEPS] = {
        [HONE_HELPER_OTHER] = "the helper reported an error",
        [HONE_HELPER_LOAD] = "the loader refused the object; it may use libc, libm and OpenMP",
        [HONE_HELPER_SYMBOL] = "the object has no function of the task's name",
        [HONE_HELPER_RESERVE] = "there was no address space for the buffers",
        [HONE_HELPER_MAP] = "a buffer could not be mapped",
        [HONE_HELPER_ARGS] = "the function has more arguments than a call can pass",
        [HONE_HELPER_TORCH] = "the task's module failed in torch (oracle.py)"};
    const struct hone_control *control =
        (const struct hone_control *)(const void *)arena->control.base;
    int32_t step = control->failed_step, native = control->native; /* once: others write there */
    const char *text = steps[step > 0 && step < HONE_N_HELPER_STEPS ? step : HONE_HELPER_OTHER];
    bool is_known = native > 0 && native <= HONE_CONTROL_MAX_ERRNO;
    (void)snprintf(room, size, "%s%s%s%s", text, is_known ? " (" : "",
                   is_known ? strerror(native) : "", is_known ? ")" : "");
    return room;
}

/* Nobody knows yet whether the machine or the code that the arena holds failed. */
static void set_unknown(struct hone_arena *arena, const char *what)
{
    arena->life.has_failed = true;
    hone_outcome_set(&arena->end, HONE_REASON_INFRA, "%s", what);
}

/* The helper is gone: reap it and say why. */
static int explain_end(struct hone_arena *arena, struct hone_err *err)
{
    struct hone_jail_exit how = {0};
    arena->is_alive = false;
    int code = hone_jail_wait(arena->jail, hone_now_ns() + END_NS, &how, err);
    if (code == HONE_E_TIMEOUT) {
        hone_outcome_set(&arena->end, HONE_REASON_EXITED,
                         "the kernel closed its connection to the judge");
        return 0;
    }
    if (code < 0)
        return hone_wrap(err, "reaping an arena");
    const struct hone_control *control = hone_arena_control(arena);
    if (how.defied_stop)
        hone_outcome_set(&arena->end, HONE_REASON_TAMPERING,
                         "the kernel ran while the judge had stopped it");
    else if (how.was_seccomp || how.signal == SIGSYS)
        hone_outcome_set(&arena->end, HONE_REASON_FORBIDDEN,
                         "the kernel made a system call that the jail does not allow");
    else if (how.was_oom)
        hone_outcome_set(&arena->end, HONE_REASON_OOM, "the kernel used more memory than it may");
    else if (how.hit_disk || how.signal == SIGXFSZ || control->fault_signal == SIGXFSZ)
        hone_outcome_set(&arena->end, HONE_REASON_DISK,
                         "the kernel wrote more to files than it may");
    else if (how.hit_cpu || how.signal == SIGXCPU || control->fault_signal == SIGXCPU)
        hone_outcome_set(&arena->end, HONE_REASON_TIMEOUT, "the kernel used up its CPU time");
    else if (how.signal == SIGKILL) /* not by us, not for a limit that is known */
        set_unknown(arena, "something killed the arena");
    else if (how.signal != 0)
        explain_signal(arena, how.signal);
    else if (control->fault_signal == SIGABRT)
        hone_outcome_set(&arena->end, HONE_REASON_CRASH, "the kernel aborted (SIGABRT)");
    else if (how.hit_pids)
        hone_outcome_set(&arena->end, HONE_REASON_FORBIDDEN,
                         "the kernel started more threads than it may");
    else
        hone_outcome_set(&arena->end, HONE_REASON_EXITED,
                         "the kernel ended its process with exit status %d", how.status);
    return 0;
}

static void give_up(struct hone_arena *arena)
{
    hone_jail_free(arena->jail);
    arena->jail = NULL;
    arena->is_alive = false;
}

/* A call's limit is of time in which its threads had cores, so that a verdict does not follow from
 * what else the machine does: what they waited for cores in their lives is added, up to a few times
 * the limit. Only the kernel's own book of waits can lengthen it, and it is read when the limit is
 * reached: no call pays for it. */
static int64_t lengthened(const struct hone_arena *arena, int64_t start_ns, int64_t limit_ns)
{
    double n_threads = 0, waited = hone_waited_ns(hone_jail_pid(arena->jail), &n_threads);
    return start_ns + limit_ns + (int64_t)fmin(waited, (double)WAITS_MOST * (double)limit_ns);
}

static void note_left_behind(struct hone_arena *arena)
{
    static const char *const what[HONE_N_CALLERS] = {
        [HONE_CALLER_ROUNDING] = "rounding mode changed",
        [HONE_CALLER_DENORMALS] = "denormals flushed to zero (FTZ or DAZ changed)",
        [HONE_CALLER_EXCEPTIONS] = "floating-point exceptions masked in another way",
        [HONE_CALLER_X87] = "x87 precision changed",
        [HONE_CALLER_X87_STACK] = "x87 registers in use (MMX code without emms)",
        [HONE_CALLER_FLAGS] = "direction or alignment flag set",
        [HONE_CALLER_SIGNALS] = "mask of blocked signals changed",
        [HONE_CALLER_LOCALE] = "locale changed",
        [HONE_CALLER_ENVIRONMENT] = "environment changed",
        [HONE_CALLER_UMASK] = "umask changed",
    };
    int32_t n = hone_arena_control(arena)->left_behind; /* once: others write there */
    if (n <= HONE_CALLER_KEPT || n >= HONE_N_CALLERS)
        return;
    give_up(arena);
    hone_outcome_set(&arena->end, HONE_REASON_CALLER_CHANGED, "the kernel leaves the caller's %s",
                     what[n]);
}

/* One byte from the helper. 0 with *ret_byte, or with arena->end set when it died or the time is
 * over. */
static int wait_answer(struct hone_arena *arena, int64_t deadline_ns, char *ret_byte,
                       struct hone_err *err)
{
    int64_t start_ns = hone_now_ns(), limit_ns = deadline_ns - start_ns;
    deadline_ns = hone_min_i64(deadline_ns, arena->job_deadline_ns);
    for (;;) {
        if (hone_runner_is_stopping()) {
            give_up(arena);
            return hone_fail(err, HONE_E_CANCEL, "stopped");
        }
        struct pollfd p = {.fd = arena->socket, .events = POLLIN};
        int left_ms = hone_ms_until(deadline_ns);
        int n = poll(&p, 1, left_ms < 0 || left_ms > POLL_SLICE_MS ? POLL_SLICE_MS : left_ms);
        if (n < 0 && errno != EINTR)
            return hone_fail_errno(err, errno, "waiting for an arena");
        if (n > 0) {
            ssize_t got = read(arena->socket, ret_byte, 1);
            return got == 1 ? 0 : explain_end(arena, err);
        }
        if (n == 0 && hone_now_ns() >= deadline_ns)
            deadline_ns =
                hone_min_i64(lengthened(arena, start_ns, limit_ns), arena->job_deadline_ns);
        if (n == 0 && hone_now_ns() >= deadline_ns) {
            give_up(arena);
            hone_outcome_set(
                &arena->end, HONE_REASON_TIMEOUT,
                "the call did not end in time (call_timeout_ms gives more); it was killed");
            return 0;
        }
        if (n == 0 && arena->n_full_slices < FULL_SLICES)
            arena->n_full_slices += hone_jail_n_threads(arena->jail) >= arena->max_threads - 1;
        if (n == 0 && arena->n_full_slices == FULL_SLICES) {
            give_up(arena);
            hone_outcome_set(&arena->end, HONE_REASON_FORBIDDEN,
                             "the kernel keeps as many threads as it may and starts more");
            return 0;
        }
    }
}

/* A byte that nobody asked for, or an answer to a "go" that was not taken (such ones would fill the
 * socket): the kernel has written to the judge's socket. */
static bool has_forged(struct hone_arena *arena)
{
    char byte = 0;
    int unread = 0;
    bool is_ahead = ioctl(arena->socket, SIOCOUTQ, &unread) == 0 && unread > 0;
    if (recv(arena->socket, &byte, 1, MSG_DONTWAIT) != 1 && !is_ahead)
        return false;
    give_up(arena);
    hone_outcome_set(&arena->end, HONE_REASON_TAMPERING,
                     "the kernel answered the judge in the arena's name");
    return true;
}

/* arena->is_alive says whether it still was there to be stopped, or to be let go. */
static int after_stop(struct hone_arena *arena, int code, const struct hone_err *why,
                      struct hone_err *err)
{
    if (code == 0)
        return 0;
    struct hone_jail_exit how;
    if (hone_jail_has_exited(arena->jail, &how))
        return explain_end(arena, err);
    return hone_fail(err, why->code, "stopping or continuing an arena: %s", why->message);
}

static int freeze(struct hone_arena *arena, struct hone_err *err)
{
    struct hone_err why = HONE_ERR_INIT;
    return after_stop(arena, hone_jail_freeze(arena->jail, &why), &why, err);
}

static int thaw(struct hone_arena *arena, struct hone_err *err)
{
    struct hone_err why = HONE_ERR_INIT;
    return after_stop(arena, hone_jail_thaw(arena->jail, &why), &why, err);
}

/* Lets the judge look in the middle of a call, which is stopped for it unless the look is quiet.
 * Nothing happens when it has ended by then. */
static int look_midway(struct hone_arena *arena, struct hone_look *look, int64_t cpu_before,
                       struct hone_err *err)
{
    struct timespec at = {.tv_sec = look->after_ns / HONE_NS_PER_S,
                          .tv_nsec = look->after_ns % HONE_NS_PER_S};
    struct pollfd p = {.fd = arena->socket, .events = POLLIN};
    int n = ppoll(&p, 1, &at, NULL);
    if (n != 0)
        return 0;
    if (look->is_quiet) {
        look->was_early = true;
        look->fn(look->arg);
        return 0;
    }
    int code = freeze(arena, err);
    if (code < 0 || !arena->is_alive)
        return code;
    look->was_early = poll(&p, 1, 0) == 0;
    look->cpu_ns = hone_jail_cpu_ns(arena->jail) - cpu_before;
    if (look->was_early)
        look->fn(look->arg);
    return thaw(arena, err);
}

/* Whoever has just woken keeps its core for its turn; whoever has worked gives way to each thread
 * that spins there for 3 ms (measured on two cores, Linux 6.18, 2026-11-22), which would be the
 * arena's time. So the judge sleeps before it wakes others. */
static void wait_a_moment(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    (void)nanosleep(&pause, NULL);
}

static int hand_over(struct hone_arena *arena, enum hone_control_command command,
                     int64_t deadline_ns, const struct hone_calls *calls,
                     struct hone_call_time *ret, struct hone_err *err)
{
    struct hone_look *look = calls != NULL ? calls->look : NULL;
    HONE_BUG_ON(!arena->is_alive);
    if (has_forged(arena))
        return 0;
    hone_arena_control(arena)->command = (int32_t)command;
    int64_t cpu = hone_jail_cpu_ns(arena->jail);
    /* "go" lies there when the first thread wakes, on its place: woken by it, it would come to the
     * judge's core, where others of the kernel spin. */
    char byte = 'g';
    if (send(arena->socket, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
        return explain_end(arena, err);
    int n_placed = calls != NULL ? hone_place_pin(calls->place, hone_jail_pid(arena->jail)) : 0;
    if (n_placed > 0)
        wait_a_moment();
    /* The clock runs whenever the arena can: threads of the kernel wake with the thaw and work
     * until the freeze, whatever "done" says. */
    int64_t start = hone_now_ns();
    int code = thaw(arena, err);
    if (code < 0 || !arena->is_alive)
        return code;
    if (n_placed > 0)
        hone_place_free(calls->place, hone_jail_pid(arena->jail), n_placed);
    code = look != NULL ? look_midway(arena, look, cpu, err) : 0;
    if (code == 0 && arena->is_alive)
        code = wait_answer(arena, deadline_ns, &byte, err);
    if (code == 0 && arena->is_alive)
        code = freeze(arena, err);
    int64_t wall = hone_now_ns() - start;
    if (code < 0 || !arena->is_alive || has_forged(arena))
        return code;
    if (ret != NULL)
        *ret =
            (struct hone_call_time){.wall_ns = wall, .cpu_ns = hone_jail_cpu_ns(arena->jail) - cpu};
    if (byte == 'd' && command == HONE_CONTROL_CALL)
        note_left_behind(arena);
    if (byte != 'd' && command == HONE_CONTROL_CALL) {
        give_up(arena);
        hone_outcome_set(&arena->end, HONE_REASON_TAMPERING,
                         "the kernel answered the judge in the arena's name");
        return 0;
    }
    if (byte != 'd' && arena->has_called) {
        give_up(arena);
        hone_outcome_set(
            &arena->end, HONE_REASON_OOM,
            "the kernel left too little memory, or limits too low, for the next buffers");
        return 0;
    }
    arena->has_called = arena->has_called || command == HONE_CONTROL_CALL;
    if (byte != 'd') {
        char room[160];
        give_up(arena);
        set_unknown(arena, say_step(arena, room, sizeof room));
    }
    return 0;
}

/* Notes what is lived through; a failure of the hand-over itself ends the arena, as a candidate
 * may have brought it about. */
static int live(struct hone_arena *arena, enum hone_control_command command, int64_t deadline_ns,
                const struct hone_calls *calls, struct hone_call_time *ret, struct hone_err *err)
{
    struct hone_err why = HONE_ERR_INIT;
    int64_t start = hone_now_ns();
    int code = hand_over(arena, command, deadline_ns, calls, ret, &why);
    if (calls != NULL) {
        arena->life.n_hands++;
        arena->life.n_calls += calls->n_calls;
        arena->life.called_ns += hone_now_ns() - start;
        arena->life.n_rotate = calls->n_rotate;
        arena->life.perturb = calls->perturb;
    }
    if (code == HONE_E_CANCEL)
        return hone_fail(err, code, "%s", why.message);
    if (code < 0) {
        give_up(arena);
        set_unknown(arena, why.message);
    }
    return 0;
}

int hone_arena_command(struct hone_arena *arena, enum hone_control_command command,
                       int64_t deadline_ns, struct hone_call_time *ret, struct hone_err *err)
{
    return live(arena, command, deadline_ns, NULL, ret, err);
}

static int start_jail(const struct hone_helper_spec *spec, struct hone_arena *arena,
                      int helper_socket, struct hone_err *err)
{
    const char *slash = strrchr(spec->object, '/');
    HONE_BUG_ON(slash == NULL);
    HONE_AUTOFREE char *folder = hone_strndup(spec->object, (size_t)(slash - spec->object));
    HONE_AUTOFREE char *object = hone_sprintf("/work%s", slash);
    HONE_AUTOFREE char *threads = hone_sprintf("OMP_NUM_THREADS=%lld", (long long)spec->n_threads);
    bool is_torch = spec->python != NULL;
    const char *argv[] = {"/hone/hone-runner",
                          "--role",
                          is_torch ? "oracle-torch" : spec->role,
                          object,
                          is_torch ? spec->python->program : spec->symbol,
                          NULL};
    HONE_AUTOFREE char *limit =
        hone_sprintf("OMP_THREAD_LIMIT=%lld", (long long)spec->thread_limit);
    const char *env[] = {"PATH=/usr/bin:/bin",
                         "LANG=C",
                         threads,
                         "OMP_DYNAMIC=false",
                         spec->thread_limit > 0 ? limit : NULL,
                         NULL};
    bool is_arena = strcmp(spec->role, "arena") == 0;
    HONE_AUTOCLOSE int inputs = -1;
    int code = hone_shared_open(spec->inputs, &inputs, err);
    if (code < 0)
        return code;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_jail_spec jail = {
        /* The worker forks: its child answers. */
        .profile = is_torch   ? HONE_JAIL_TORCH
                   : is_arena ? HONE_JAIL_ARENA
                              : HONE_JAIL_ORACLE,
        .rung = spec->rung,
        .allow_weak = spec->allow_weak,
        .argv = argv,
        .env = is_torch ? hone_python_env(spec->python, spec->torch_device, pool) : env,
        .ro_files = is_torch ? spec->python->shown : NULL,
        .work_dir = folder,
        .memory_bytes = spec->memory_bytes,
        .tmp_bytes = TMP_BYTES,
        .file_bytes = FILE_BYTES,
        .cpu_seconds = CPU_SECONDS,
        .max_pids = (int)arena->max_threads,
        .fds = {arena->control.fd, helper_socket, inputs, arena->own.fd},
        .n_fds = 4,
        .stdin_fd = -1,
        .stdout_fd = arena->printed.fd,
        .stderr_fd = arena->printed.fd,
    };
    if (spec->torch_device != NULL && strcmp(spec->torch_device, "cuda") == 0)
        hone_python_beside_device(spec->python, pool, &jail);
    return hone_jail_start(&jail, &arena->jail, err);
}

/* An object that cannot be loaded is the candidate's fault, not ours. What dlopen says is not
 * passed on: a constructor may have run by then. */
static int wait_loaded(struct hone_arena *arena, struct hone_err *err)
{
    char byte = 0;
    int code = wait_answer(arena, hone_now_ns() + START_NS, &byte, err);
    if (code < 0 || !arena->is_alive)
        return code;
    if (byte != 'd') {
        char room[160];
        give_up(arena);
        hone_outcome_set(&arena->end, HONE_REASON_LINK, "%s", say_step(arena, room, sizeof room));
        return 0;
    }
    return freeze(arena, err);
}

int hone_arena_start(const struct hone_helper_spec *spec, const struct hone_task *task,
                     int64_t job_deadline_ns, struct hone_arena **ret, struct hone_err *err)
{
    struct hone_arena *arena = hone_calloc(1, sizeof *arena);
    *arena = (struct hone_arena){.socket = -1,
                                 .control = HONE_SHARED_INIT,
                                 .own = HONE_SHARED_INIT,
                                 .printed = HONE_SHARED_INIT,
                                 .job_deadline_ns = job_deadline_ns,
                                 .max_threads = hone_min_i64(4 * spec->n_threads + 16, 4096),
                                 .end = HONE_OUTCOME_INIT,
                                 .task = task};
    int pair[2] = {-1, -1};
    int code = hone_shared_new("hone-control", HONE_CONTROL_BYTES, false, &arena->control, err);
    if (code == 0)
        code = hone_shared_new("hone-own", hone_max_i64(spec->own_bytes, HONE_BUFFERS_PAGE), false,
                               &arena->own, err);
    if (code == 0 && spec->want_stdout)
        code = hone_shared_new("hone-printed", PRINTED_BYTES, false, &arena->printed, err);
    if (code == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        code = hone_fail_errno(err, errno, "socketpair");
    if (code == 0) {
        arena->socket = pair[0];
        code = start_jail(spec, arena, pair[1], err);
        hone_close_fd(&pair[1]);
    }
    if (code == 0) { /* from here on foreign code may have run */
        struct hone_err why = HONE_ERR_INIT;
        arena->is_alive = true;
        code = wait_loaded(arena, &why);
        if (code == HONE_E_CANCEL)
            (void)hone_fail(err, code, "%s", why.message);
        else if (code < 0) {
            give_up(arena);
            set_unknown(arena, why.message);
            code = 0;
        }
    }
    if (code < 0) {
        hone_arena_free(arena);
        return hone_wrap(err, "starting the %s", spec->role);
    }
    *ret = arena;
    return 0;
}

void hone_arena_free(struct hone_arena *arena)
{
    if (arena == NULL)
        return;
    hone_jail_free(arena->jail);
    hone_close_fd(&arena->socket);
    hone_shared_done(&arena->control);
    hone_shared_done(&arena->own);
    hone_shared_done(&arena->printed);
    free(arena);
}

int hone_arena_map(struct hone_arena *arena, const struct hone_layout *layout,
                   const struct hone_workload *workload, const double *scalars,
                   struct hone_err *err)
{
    struct hone_control *control = hone_arena_control(arena);
    const struct hone_task *task = arena->task;
    arena->layout = *layout;
    control->layout = *layout;
    control->n_axes = (int64_t)task->n_axes;
    control->n_scalars = (int64_t)task->n_scalars;
    for (size_t i = 0; i < task->n_axes; i++)
        control->axes[i] = workload->axes[i];
    for (size_t i = 0; i < task->n_scalars; i++) {
        control->scalar_types[i] = (int32_t)task->scalars[i].dtype;
        control->scalars[i] = scalars[i];
    }
    for (size_t i = 0; i < task->n_inputs; i++)
        control->input_types[i] = (int32_t)task->inputs[i].dtype;
    for (size_t i = 0; i < task->n_outputs; i++)
        control->n_output_elements[i] = hone_tensor_elements(task, &task->outputs[i], workload);
    return hone_arena_command(arena, HONE_CONTROL_MAP, hone_now_ns() + START_NS, NULL, err);
}

int hone_arena_call(struct hone_arena *arena, const struct hone_calls *calls,
                    struct hone_call_time *ret, struct hone_err *err)
{
    struct hone_control *control = hone_arena_control(arena);
    control->first_set = calls->first_set;
    control->n_rotate = calls->n_rotate;
    control->n_calls = calls->n_calls;
    control->perturb = calls->perturb;
    control->is_beside = calls->is_beside;
    control->left_behind = HONE_CALLER_KEPT;
    return live(arena, HONE_CONTROL_CALL, hone_now_ns() + calls->timeout_ns, calls, ret, err);
}

int64_t hone_arena_private_bytes(const struct hone_arena *arena)
{
    char path[64], text[128] = "";
    long long all = 0, resident = 0, shared = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/statm", (int)hone_jail_pid(arena->jail));
    HONE_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 ||
        sscanf(text, "%lld %lld %lld", &all, &resident, &shared) != 3)
        return -1;
    return (resident - shared) * HONE_BUFFERS_PAGE;
}
