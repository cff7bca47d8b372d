/* SPDX-License-Identifier: Apache-2.0 */
/* Role "recorder": in the jail, without a GPU.
 *
 *     spec (fd 3) -> for each workload, for each of two runs:
 *         fork -> child: load the object, call the launcher, end
 *              -> the child's slot (fd 4) has what it did
 *              -> the parent writes how it ended (fd 5)
 *
 * The child lets go of fd 5 before it loads anything. What a call leaves running is killed when it
 * is over, so that it cannot take the next one's processes.
 *
 * The object is loaded in the child, so that constructors run once a call, with the call's state;
 * both children of a workload are forks of one process and therefore see the same addresses of
 * their own. The parent runs no foreign code. It stops at the first call that did not end well. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/runner/cuda/record/record.h"
#include "tools/runner/cuda/record/record_exports.h"
#include "tools/runner/cuda/record/record_state.h"
#include "tools/runner/jail/jail.h"
#include "workspace/base/clock.h"

#define MAX_INT_ARGS 100 /* tensors, integer scalars, axes and the stream */
#define MAX_F64_ARGS HONE_RECORD_FLOATS
#define ALT_STACK    65536
#define LOOK_MS      20 /* between looks at a call that started processes */
#define SCRUB_BYTES  (256 << 10)

struct session {
    struct hone_record_ended *ends; /* the parent's */
    struct hone_record_job job;
    struct hone_pool *pool;
    const char *object;
    void *demangle;
};

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (hone_recorder == NULL) /* sent to the parent by a launcher */
        return;
    hone_recorder->head->fault_address =
        number == SIGSEGV || number == SIGBUS ? (uintptr_t)info->si_addr : 0;
    /* The handler has been reset: returning faults again and ends the process for real. */
}

static void install_handlers(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    stack_t stack = {.ss_sp = hone_malloc(ALT_STACK), .ss_size = ALT_STACK};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < HONE_COUNTOF(signals); i++)
        sigaction(signals[i], &action, NULL);
}

/* ---- the child ---- */

struct call_args {
    int64_t ints[MAX_INT_ARGS];
    double floats[MAX_F64_ARGS];
};

static void add_scalar(const char *type, double value, struct call_args *args, size_t *n_ints,
                       size_t *n_floats)
{
    bool is_float = strcmp(type, "float32") == 0;
    if (!is_float && strcmp(type, "float64") != 0) {
        args->ints[(*n_ints)++] = (int64_t)value;
        return;
    }
    if (*n_floats == MAX_F64_ARGS)
        hone_record_refuse("a launcher takes at most %d floating scalars", MAX_F64_ARGS);
    float narrow = (float)value;
    double bits = 0;
    memcpy(&bits, &narrow, sizeof narrow);
    args->floats[(*n_floats)++] = is_float ? bits : value;
}

static void make_args(const struct hone_recorder *r, struct call_args *args)
{
    const struct hone_record_job *job = r->job;
    size_t n_ints = 0, n_floats = 0;
    for (size_t i = 0; i < job->tensors.n; i++)
        args->ints[n_ints++] = (int64_t)hone_record_address(r->run, i);
    for (size_t i = 0; i < job->scalar_types.n && i < r->call->scalars.n; i++)
        add_scalar(job->scalar_types.v[i], r->call->scalars.v[i], args, &n_ints, &n_floats);
    for (size_t i = 0; i < r->call->axes.n && i < HONE_LIMIT_AXES; i++)
        args->ints[n_ints++] = r->call->axes.v[i];
    args->ints[n_ints] = HONE_RECORD_HANDLE;
}

/* As in the arena: one prototype serves every signature of the calling convention. */
static void call_launcher(void (*launcher)(void), const struct call_args *a)
{
#define I4(n) int64_t, int64_t, int64_t, int64_t
#define V4(n) a->ints[n], a->ints[(n) + 1], a->ints[(n) + 2], a->ints[(n) + 3]
    typedef void wide_fn(double, double, double, double, double, double, double, double, I4(0),
                         I4(4), I4(8), I4(12), I4(16), I4(20), I4(24), I4(28), I4(32), I4(36),
                         I4(40), I4(44), I4(48), I4(52), I4(56), I4(60), I4(64), I4(68), I4(72),
                         I4(76), I4(80), I4(84), I4(88), I4(92), I4(96));
    const double *f = a->floats;
    ((wide_fn *)launcher)(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], V4(0), V4(4), V4(8),
                          V4(12), V4(16), V4(20), V4(24), V4(28), V4(32), V4(36), V4(40), V4(44),
                          V4(48), V4(52), V4(56), V4(60), V4(64), V4(68), V4(72), V4(76), V4(80),
                          V4(84), V4(88), V4(92), V4(96));
#undef I4
#undef V4
}

/* What the stack held before must not show in what a launcher leaves unset. */
static void __attribute__((noinline)) scrub_stack(void)
{
    volatile char bytes[SCRUB_BYTES];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
}

static void *load(const struct session *session)
{
    void *object = dlopen(session->object, RTLD_NOW | RTLD_LOCAL);
    const char *why = object == NULL ? dlerror() : NULL;
    const char *missing = why == NULL ? NULL : strstr(why, "undefined symbol: ");
    if (missing != NULL) {
        const char *symbol = missing + strlen("undefined symbol: ");
        char *(*fn)(const char *, char *, size_t *, int *) = NULL;
        int status = 0;
        memcpy(&fn, &session->demangle, sizeof fn);
        char *pretty = fn == NULL ? NULL : fn(symbol, NULL, NULL, &status);
        hone_record_refuse(session->job.is_nvcc
                               ? "%s is called by the launcher and is no part of what is recorded"
                               : "%s in the launcher needs nvcc: it is no part of what is recorded",
                           pretty == NULL ? symbol : pretty);
    }
    if (object == NULL) {
        fprintf(stderr, "%s\n", why);
        hone_record_refuse("the launcher cannot be loaded");
    }
    return object;
}

static uint64_t load_address(void *object)
{
    struct link_map *map = NULL;
    return dlinfo(object, RTLD_DI_LINKMAP, &map) == 0 ? (uint64_t)map->l_addr : 0;
}

static void set_device(struct hone_recorder *r)
{
    const struct hone_record_job *job = r->job;
    r->device = (struct hone_plan_device){.sm_count = job->sm_count,
                                          .threads_per_block = job->threads_per_block,
                                          .threads_per_sm = job->threads_per_sm,
                                          .shared_per_block_optin = job->shared_per_block_optin,
                                          .shared_per_sm = job->shared_per_sm,
                                          .grid_x = job->grid_x,
                                          .grid_y = job->grid_y,
                                          .grid_z = job->grid_z,
                                          .major = job->major,
                                          .minor = job->minor,
                                          .memory_bytes = job->device_bytes};
}

HONE_NORETURN static void run_child(const struct session *session, size_t call, int run, char *slot)
{
    struct hone_recorder *r = hone_calloc(1, sizeof *r);
    struct call_args args = {{0}, {0}};
    void (*launcher)(void) = NULL;
    int64_t seconds = session->job.timeout_ms / 1000 + 2;
    struct rlimit cpu = {(rlim_t)seconds, (rlim_t)seconds};
    (void)setrlimit(RLIMIT_CPU, &cpu);
    r->job = &session->job;
    r->call = &((const struct hone_record_call *)session->job.calls.v)[call];
    r->run = run;
    r->head = (void *)slot;
    r->records = slot + sizeof *r->head;
    r->room = (size_t)HONE_RECORD_SLOT - sizeof *r->head;
    r->libcxx_demangle = session->demangle;
    r->n_streams = 1;
    r->events = hone_calloc(HONE_RECORD_EVENTS, sizeof *r->events);
    r->op_clocks = hone_calloc(HONE_LIMIT_PLAN_OPS, sizeof *r->op_clocks);
    set_device(r);
    hone_recorder = r;
    r->head->status = HONE_RECORD_RUNNING;
    void *object = load(session);
    void *found = dlsym(object, session->job.symbol);
    if (found == NULL)
        hone_record_refuse(
            "the source exports no function '%s'. fix: define it as extern \"C\", not "
            "static",
            session->job.symbol);
    memcpy(&launcher, &found, sizeof launcher);
    r->elf = hone_record_elf_open(session->object, load_address(object));
    if (r->elf == NULL)
        hone_record_refuse("the launcher's object cannot be read");
    make_args(r, &args);
    scrub_stack();
    call_launcher(launcher, &args);
    hone_record_check_joined();
    (void)fflush(stdout);
    r->head->status = HONE_RECORD_DONE;
    _exit(0);
}

/* ---- the parent ---- */

/* Its end of the pipe closes when the child is gone, and whatever it started. */
static bool wait_for(pid_t pid, int pipe_fd, int64_t timeout_ms, int *ret_status)
{
    int64_t deadline = hone_deadline_in_ms(timeout_ms);
    struct pollfd fd = {.fd = pipe_fd, .events = POLLIN};
    do {
        int left_ms = hone_ms_until(deadline);
        int n = poll(&fd, 1, left_ms < LOOK_MS ? left_ms : LOOK_MS);
        pid_t got = waitpid(pid, ret_status, WNOHANG);
        if (got == pid)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (n > 0)
            (void)poll(NULL, 0, 1);
    } while (hone_now_ns() < deadline);
    return false;
}

/* Whatever a call started; only the first process of a namespace can name them all. */
static void end_others(void)
{
    if (getpid() != 1)
        return;
    (void)kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
}

static size_t ends_bytes(const struct session *session)
{
    return session->job.calls.n * HONE_RECORD_RUNS * sizeof *session->ends;
}

/* In the child, before anything foreign: what only the parent may write. */
static void let_go(const struct session *session)
{
    (void)munmap(session->ends, ends_bytes(session));
    (void)close(HONE_RECORD_ENDS_FD);
}

static bool record_call(const struct session *session, size_t call, int run)
{
    size_t number = call * HONE_RECORD_RUNS + (size_t)run;
    struct hone_record_ended *ended = &session->ends[number];
    int pipes[2];
    int status = 0;
    char *slot = mmap(NULL, (size_t)HONE_RECORD_SLOT, PROT_READ | PROT_WRITE, MAP_SHARED,
                      HONE_RECORD_SLOTS_FD, (off_t)number * HONE_RECORD_SLOT);
    if (slot == MAP_FAILED || pipe(pipes) < 0)
        return false;
    pid_t pid = fork();
    if (pid < 0)
        return false;
    if (pid == 0) {
        let_go(session);
        run_child(session, call, run, slot);
    }
    ended->is_begun = 1;
    (void)close(pipes[1]);
    ended->has_ended = wait_for(pid, pipes[0], session->job.timeout_ms, &status);
    (void)close(pipes[0]);
    if (ended->has_ended) {
        ended->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ended->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    bool is_good =
        ended->has_ended && ended->exit_status == 0 &&
        ((const struct hone_record_head *)(const void *)slot)->status == HONE_RECORD_DONE;
    (void)munmap(slot, (size_t)HONE_RECORD_SLOT);
    end_others();
    return is_good;
}

static int read_spec(struct session *session, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct stat info;
    if (fstat(HONE_RECORD_SPEC_FD, &info) < 0 || info.st_size > (off_t)HONE_LIMIT_JSON_BYTES)
        return hone_fail(err, HONE_E_ARG, "no spec");
    char *text = hone_pool_alloc(session->pool, (size_t)info.st_size + 1);
    if (pread(HONE_RECORD_SPEC_FD, text, (size_t)info.st_size, 0) != info.st_size)
        return hone_fail_errno(err, errno, "reading the spec");
    int rc = hone_json_parse(text, (size_t)info.st_size, &json, err);
    return rc < 0 ? rc
                  : hone_fields_decode(json, hone_record_job_fields, hone_record_job_n_fields,
                                       &session->job, sizeof session->job, session->pool, err);
}

/* One of each file, which brings it into the program; objects find them only if it was linked with
 * -rdynamic. */
static bool is_exported(void)
{
    typedef void any_fn(void);
    static const struct {
        const char *name;
        any_fn *fn;
    } exports[] = {{"hone_here", (any_fn *)hone_here},
                   {"__cudaRegisterFunction", (any_fn *)__cudaRegisterFunction},
                   {"cudaMalloc", (any_fn *)cudaMalloc},
                   {"cudaStreamCreate", (any_fn *)cudaStreamCreate}};
    for (size_t i = 0; i < HONE_COUNTOF(exports); i++)
        if (exports[i].fn == NULL || dlsym(RTLD_DEFAULT, exports[i].name) == NULL)
            return false;
    return true;
}

int hone_role_recorder(int argc, char **argv)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct session session = {.pool = pool, .object = argc == 1 ? argv[0] : NULL};
    struct hone_err err = HONE_ERR_INIT;
    if (argc != 1) {
        fputs("hone-runner: the recorder role takes an object\n", stderr);
        return 2;
    }
    if (!is_exported()) {
        fputs("hone-runner: the recorder's functions are not exported (link with -rdynamic)\n",
              stderr);
        return 2;
    }
    int rc = read_spec(&session, &err);
    void *libcxx = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL);
    session.demangle = libcxx == NULL ? NULL : dlsym(libcxx, "__cxa_demangle");
    if (rc == 0) {
        void *ends = mmap(NULL, ends_bytes(&session), PROT_READ | PROT_WRITE, MAP_SHARED,
                          HONE_RECORD_ENDS_FD, 0);
        session.ends = ends;
        rc = ends == MAP_FAILED ? hone_fail_errno(&err, errno, "mapping the ends") : 0;
    }
    if (rc == 0) {
        install_handlers();
        rc = hone_jail_tighten(HONE_JAIL_RECORD, &err);
    }
    if (rc < 0) {
        fprintf(stderr, "hone-runner: %s\n", err.message);
        return 2;
    }
    for (size_t i = 0; i < session.job.calls.n; i++)
        for (int run = 0; run < HONE_RECORD_RUNS; run++)
            if (!record_call(&session, i, run))
                return 0;
    return 0;
}
