/* SPDX-License-Identifier: Apache-2.0 */
/* The device arena: the disposable process that holds one arm's cubin in a CUDA context of its own.
 *
 * No foreign host code runs here. What runs is this file, fed by the judge, and the candidate's
 * kernels on the device, which can write everything that is mapped in this context: so nothing that
 * the arena says is believed without a second clock, and it knows no secret.
 *
 * A block of calls is queued completely behind a gate, a kernel that waits for a word in host
 * memory; "go" opens it. So launching costs nothing inside of the time, and the judge's clock spans
 * little more than the device's work. With single calls (cold caches) each call has its own gate.
 * A driver that has to grow something for a kernel's first launch may wait for the stream, hence
 * for the gate: then the gate gives up, which is told, and the judge does the block again.
 * After any error the driver's code goes to the judge and the process ends: a context that failed
 * is of no further use. */
#include "tools/runner/jail/roles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/runner/cuda/device/gpu_control.h"
#include "tools/runner/cuda/arena/gpu_graph.h"
#include "tools/runner/cuda/arena/gpu_profile_arena.h"
#include "tools/runner/cuda/device/gpu_stamp.h"
#include "tools/runner/jail/jail.h"

#define GATE_NS          (2ull * 1000000000ull) /* launching waits for the gate, or no go comes */
#define PRINTF_BYTES     (1 << 20)
#define DEVICE_HEAP      (64 << 20) /* malloc in kernels */
#define N_AHEAD          16         /* single calls that are queued before one is waited for */
#define VARIABLE_GAP     16         /* bytes of padding between two of one section */
#define FLUSH_PATTERN    0x9e3779b9u
#define FILE_BYTES_LIMIT (256 << 20)
#define WIPE_THREADS     1024

struct arena {
    struct hone_cuda *cu;
    struct hone_gpu_device device;
    hone_cu_stream stream;
    const int32_t *shared; /* order of sets, written by the judge */
    /* the stamp module; without it there is neither gate nor stamp */
    hone_cu_function gate, stamp, mark, wipe; /* wipe: NULL where it cannot have its memory */
    unsigned wipe_bytes;
    volatile uint32_t *words; /* pinned: [0] go, [1] gate gave up */
    uint32_t n_gates;
    hone_cu_ptr stamps; /* two rounds, one row a multiprocessor each */
    hone_cu_ptr marks;
    hone_cu_event begin, end;
    hone_cu_event events[2 * HONE_GPU_MAX_SINGLES];
    hone_cu_ptr flush;
    size_t flush_bytes;
    /* the arm */
    hone_cu_module module;
    struct hone_gpu_variable *variables;
    size_t n_variables, n_hidden;
    /* the frame */
    struct hone_gpu_layout layout;
    struct hone_gpu_range ranges[HONE_GPU_MAX_TENSORS];
    size_t n_ranges;
    struct hone_gpu_program *program;
    /* the block that waits for go */
    struct hone_gpu_request block;
    int32_t *sets; /* own copy */
    const hone_cu_graph_exec *execs;
    size_t n_execs;
};

static int check(const struct arena *a, hone_cu_result code, const char *what, struct hone_err *err)
{
    return hone_cu_check(a->cu, code, what, err);
}

/* ---- what the arm was given ---- */

static void unmap_frame(struct arena *a)
{
    hone_gpu_program_free(a->program);
    a->program = NULL;
    for (size_t i = 0; i < a->n_ranges; i++)
        hone_gpu_range_done(&a->device, &a->ranges[i]);
    a->n_ranges = 0;
}

static void unload(struct arena *a)
{
    unmap_frame(a);
    for (size_t i = 0; i < a->n_variables; i++)
        (void)a->cu->MemFree(a->variables[i].image);
    free(a->variables);
    a->variables = NULL;
    a->n_variables = a->n_hidden = 0;
    if (a->module != NULL)
        (void)a->cu->ModuleUnload(a->module);
    a->module = NULL;
}

static int map_file(int fd, int64_t n_bytes, const char **ret, struct hone_err *err)
{
    if (n_bytes < 1 || n_bytes > FILE_BYTES_LIMIT || fd < 0)
        return hone_fail(err, HONE_E_ARG, "a file of %lld bytes", (long long)n_bytes);
    void *at = mmap(NULL, (size_t)n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return hone_fail_errno(err, errno, "mapping a file of %lld bytes", (long long)n_bytes);
    *ret = at;
    return 0;
}

static void find_variable(struct arena *a, const char *name)
{
    struct hone_gpu_variable v = {.n_bytes = 0};
    if (a->cu->ModuleGetGlobal(&v.at, &v.n_bytes, a->module, name) == HONE_CU_SUCCESS &&
        v.n_bytes > 0)
        a->variables[a->n_variables++] = v;
    else
        a->n_hidden++;
}

static int by_address(const void *a, const void *b)
{
    const struct hone_gpu_variable *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Variables that lie side by side are one, so that many cost no more than one to put back. */
static void join_variables(struct arena *a)
{
    struct hone_gpu_variable *v = a->variables;
    size_t n = 0;
    qsort(v, a->n_variables, sizeof *v, by_address);
    for (size_t i = 0; i < a->n_variables; i++) {
        hone_cu_ptr end = v[i].at + v[i].n_bytes;
        bool is_near = n > 0 && v[i].at <= v[n - 1].at + v[n - 1].n_bytes + VARIABLE_GAP;
        if (!is_near)
            v[n++] = v[i];
        else if (end > v[n - 1].at + v[n - 1].n_bytes)
            v[n - 1].n_bytes = (size_t)(end - v[n - 1].at);
    }
    a->n_variables = n;
}

/* What the variables hold now, kept on the device. */
static int keep_variables(struct arena *a, struct hone_err *err)
{
    int code = 0;
    join_variables(a);
    for (size_t i = 0; i < a->n_variables && code == 0; i++) {
        struct hone_gpu_variable *v = &a->variables[i];
        code = check(a, a->cu->MemAlloc(&v->image, v->n_bytes), "keeping variables", err);
        if (code == 0)
            code = check(a, a->cu->MemcpyDtoDAsync(v->image, v->at, v->n_bytes, a->stream),
                         "keeping variables", err);
    }
    return code < 0 ? code
                    : check(a, a->cu->StreamSynchronize(a->stream), "keeping variables", err);
}

static int load(struct arena *a, const struct hone_gpu_request *request, int fd,
                struct hone_err *err)
{
    unload(a);
    int64_t n_cubin = request->u.load.cubin_bytes, n_file = request->u.load.file_bytes;
    const char *file = NULL;
    if (n_cubin < 1 || n_cubin > n_file)
        return hone_fail(err, HONE_E_ARG, "a module of %lld bytes", (long long)n_cubin);
    int code = map_file(fd, n_file, &file, err);
    if (code < 0)
        return code;
    code = check(a, a->cu->ModuleLoadData(&a->module, file), "loading the module", err);
    size_t n_names = 0;
    for (const char *at = file + n_cubin; at < file + n_file; at++)
        n_names += *at == '\0' ? 1 : 0;
    a->variables = hone_calloc(n_names + 1, sizeof *a->variables);
    for (const char *at = file + n_cubin; at < file + n_file && code == 0;) {
        size_t len = strnlen(at, (size_t)(file + n_file - at));
        if (at + len == file + n_file)
            break;
        find_variable(a, at);
        at += len + 1;
    }
    if (code == 0)
        code = keep_variables(a, err);
    munmap((void *)(uintptr_t)file, (size_t)n_file);
    return code;
}

static int import_ranges(struct arena *a, const int *fds, size_t n_fds, struct hone_err *err)
{
    const struct hone_gpu_layout *layout = &a->layout;
    int64_t n = layout->n_inputs + layout->n_outputs;
    if (layout->n_inputs < 0 || layout->n_outputs < 1 || n > HONE_GPU_MAX_TENSORS ||
        (size_t)n != n_fds || layout->n_sets < 1 || layout->n_sets > HONE_GPU_MAX_SETS)
        return hone_fail(err, HONE_E_ARG, "a frame of %lld tensors with %zu descriptors",
                         (long long)n, n_fds);
    for (size_t t = 0; t < n_fds; t++) {
        int code = hone_gpu_range_import(&a->device, fds[t], (size_t)layout->range[t],
                                         (int64_t)t < layout->n_inputs, &a->ranges[t], err);
        if (code < 0)
            return code;
        a->n_ranges = t + 1;
    }
    return 0;
}

static int map_frame(struct arena *a, const struct hone_gpu_request *request, const int *fds,
                     size_t n_fds, struct hone_err *err)
{
    unmap_frame(a);
    if (a->module == NULL || n_fds < 1)
        return hone_fail(err, HONE_E_ARG, "no module to map buffers for");
    a->layout = request->u.map.layout;
    int code = import_ranges(a, fds + 1, n_fds - 1, err);
    const char *text = NULL;
    if (code == 0)
        code = map_file(fds[0], request->u.map.file_bytes, &text, err);
    if (code < 0)
        return code;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_plan plan;
    code = hone_plan_parse(text, (size_t)request->u.map.file_bytes, pool, &plan, err);
    munmap((void *)(uintptr_t)text, (size_t)request->u.map.file_bytes);
    hone_cu_ptr bases[HONE_GPU_MAX_TENSORS] = {0};
    for (size_t t = 0; t < a->n_ranges; t++)
        bases[t] = a->ranges[t].base;
    const struct hone_gpu_program_spec spec = {.device = &a->device,
                                               .module = a->module,
                                               .layout = &a->layout,
                                               .bases = bases,
                                               .plan = &plan,
                                               .variables = a->variables,
                                               .n_variables = a->n_variables};
    return code < 0 ? code : hone_gpu_program_new(&spec, &a->program, err);
}

/* ---- blocks ---- */

static int launch_own(struct arena *a, hone_cu_function kernel, unsigned n_blocks, void **params,
                      const char *what, struct hone_err *err)
{
    return check(a,
                 a->cu->LaunchKernel(kernel, n_blocks, 1, 1, 1, 1, 1, 0, a->stream, params, NULL),
                 what, err);
}

static int close_gate(struct arena *a, struct hone_err *err)
{
    if (a->gate == NULL)
        return 0;
    hone_cu_ptr go = (hone_cu_ptr)(uintptr_t)&a->words[0],
                late = (hone_cu_ptr)(uintptr_t)&a->words[1];
    uint32_t serial = ++a->n_gates;
    unsigned long long limit = GATE_NS;
    void *params[] = {&go, &serial, &limit, &late};
    return launch_own(a, a->gate, 1, params, "launching the gate", err);
}

static void open_gate(struct arena *a)
{
    __atomic_store_n(&a->words[0], a->n_gates, __ATOMIC_RELEASE);
}

static size_t stamp_bytes(const struct arena *a)
{
    return (size_t)a->device.sm_count * sizeof(struct hone_gpu_stamp);
}

static int stamp(struct arena *a, int round, struct hone_err *err)
{
    if (a->stamp == NULL)
        return 0;
    hone_cu_ptr at = a->stamps + (hone_cu_ptr)round * stamp_bytes(a);
    unsigned n = (unsigned)a->device.sm_count;
    void *params[] = {&at, &n};
    return launch_own(a, a->stamp, n * HONE_GPU_STAMP_BLOCKS_PER_SM, params, "launching a stamp",
                      err);
}

static int mark(struct arena *a, size_t index, struct hone_err *err)
{
    if (a->mark == NULL)
        return 0;
    hone_cu_ptr at = a->marks + index * sizeof(uint64_t);
    void *params[] = {&at};
    return launch_own(a, a->mark, 1, params, "launching a mark", err);
}

/* What earlier kernels left in shared memory. Twice as many blocks as there are multiprocessors:
 * each takes a whole one. */
static int wipe_shared(struct arena *a, uint32_t pattern, struct hone_err *err)
{
    unsigned n = a->wipe_bytes / 4;
    void *params[] = {&pattern, &n};
    if (a->wipe == NULL)
        return 0;
    return check(a,
                 a->cu->LaunchKernel(a->wipe, 2 * (unsigned)a->device.sm_count, 1, 1, WIPE_THREADS,
                                     1, 1, a->wipe_bytes, a->stream, params, NULL),
                 "filling shared memory", err);
}

static int clear_stamps(struct arena *a, struct hone_err *err)
{
    if (a->stamp == NULL)
        return 0;
    a->words[1] = 0;
    return check(a, a->cu->MemsetD8Async(a->stamps, 0, 2 * stamp_bytes(a), a->stream),
                 "clearing stamps", err);
}

static int queue_block(struct arena *a, struct hone_err *err)
{
    int code = stamp(a, 0, err);
    if (code == 0)
        code = check(a, a->cu->EventRecord(a->begin, a->stream), "recording an event", err);
    for (size_t i = 0; i < a->n_execs && code == 0; i++)
        code = check(a, a->cu->GraphLaunch(a->execs[i], a->stream), "launching a graph", err);
    if (code == 0)
        code = check(a, a->cu->EventRecord(a->end, a->stream), "recording an event", err);
    return code < 0 ? code : stamp(a, 1, err);
}

static int check_sets(struct arena *a, struct hone_err *err)
{
    int64_t n = a->block.u.prepare.n_calls;
    bool is_single = a->block.u.prepare.is_single;
    if (n < 0 || n > (is_single ? HONE_GPU_MAX_SINGLES : HONE_GPU_MAX_CALLS) ||
        (n > 0 && a->program == NULL))
        return hone_fail(err, HONE_E_ARG, "a block of %lld calls", (long long)n);
    memcpy(a->sets, a->shared, (size_t)n * sizeof *a->sets);
    for (int64_t i = 0; i < n; i++) {
        if (a->sets[i] < 0 || a->sets[i] >= a->layout.n_sets)
            return hone_fail(err, HONE_E_ARG, "set %d of %lld", (int)a->sets[i],
                             (long long)a->layout.n_sets);
    }
    return 0;
}

static int make_flush(struct arena *a, int64_t n_bytes, struct hone_err *err)
{
    if ((size_t)n_bytes <= a->flush_bytes)
        return 0;
    if (a->flush != 0)
        (void)a->cu->MemFree(a->flush);
    a->flush = 0;
    a->flush_bytes = 0;
    int code = check(a, a->cu->MemAlloc(&a->flush, (size_t)n_bytes), "memory to flush caches", err);
    if (code == 0)
        a->flush_bytes = (size_t)n_bytes;
    return code;
}

static int prepare(struct arena *a, const struct hone_gpu_request *request, struct hone_err *err)
{
    a->block = *request;
    a->n_execs = 0;
    int code = check_sets(a, err);
    if (code == 0 && request->u.prepare.is_single)
        code = make_flush(a, request->u.prepare.flush_bytes, err);
    else if (code == 0 && a->program != NULL)
        code = hone_gpu_program_block(a->program,
                                      (struct hone_gpu_order){a->sets, request->u.prepare.n_calls},
                                      a->stream, &a->execs, &a->n_execs, err);
    if (code == 0 && a->program != NULL && !request->u.prepare.keeps_scratch)
        code =
            hone_gpu_program_poison(a->program, request->u.prepare.scratch_poison, a->stream, err);
    if (code == 0 && request->u.prepare.wipes_shared)
        code = wipe_shared(a, request->u.prepare.scratch_poison, err);
    if (code == 0)
        code = clear_stamps(a, err);
    if (code < 0)
        return code;
    (void)a->cu->CtxResetPersistingL2Cache();
    code = check(a, a->cu->StreamSynchronize(a->stream), "preparing a block", err);
    if (code < 0 || request->u.prepare.is_single || a->gate == NULL)
        return code;
    code = close_gate(a, err);
    return code < 0 ? code : queue_block(a, err);
}

/* One call of a block of single calls: caches flushed, state put back, then the call between its
 * events and marks, all behind a gate. */
static int queue_single(struct arena *a, int64_t i, struct hone_err *err)
{
    int64_t n_flush = a->block.u.prepare.flush_bytes;
    int code = 0;
    if (n_flush > 0)
        code = check(a,
                     a->cu->MemsetD32Async(a->flush, FLUSH_PATTERN * (uint32_t)(i + 1),
                                           (size_t)n_flush / 4, a->stream),
                     "flushing caches", err);
    if (code == 0)
        code = hone_gpu_program_restore(a->program, a->stream, err);
    if (code == 0)
        code =
            hone_gpu_program_poison(a->program, a->block.u.prepare.scratch_poison, a->stream, err);
    if (code == 0)
        code = close_gate(a, err);
    if (code == 0)
        code = mark(a, (size_t)(2 * i), err);
    if (code == 0)
        code = check(a, a->cu->EventRecord(a->events[2 * i], a->stream), "recording an event", err);
    if (code == 0)
        code = hone_gpu_program_issue(a->program, a->sets[i], a->stream, err);
    if (code == 0)
        code = check(a, a->cu->EventRecord(a->events[2 * i + 1], a->stream), "recording an event",
                     err);
    return code < 0 ? code : mark(a, (size_t)(2 * i + 1), err);
}

static int run_singles(struct arena *a, struct hone_err *err)
{
    int64_t n = a->block.u.prepare.n_calls;
    int code = 0;
    for (int64_t i = 0; i < 2 * n && code == 0; i++) {
        if (a->events[i] == NULL)
            code = check(a, a->cu->EventCreate(&a->events[i], HONE_CU_EVENT_DEFAULT),
                         "making an event", err);
    }
    if (code == 0)
        code = stamp(a, 0, err);
    for (int64_t i = 0; i < n && code == 0; i++) {
        if (i >= N_AHEAD)
            code = check(a, a->cu->EventSynchronize(a->events[2 * (i - N_AHEAD) + 1]),
                         "waiting for a call", err);
        if (code == 0)
            code = queue_single(a, i, err);
        open_gate(a);
    }
    return code < 0 ? code : stamp(a, 1, err);
}

static int read_stamps(struct arena *a, struct hone_gpu_answer *answer, struct hone_err *err)
{
    if (a->stamp == NULL)
        return 0;
    answer->is_late = a->words[1] != 0;
    size_t n = stamp_bytes(a);
    HONE_AUTOFREE struct hone_gpu_stamp *rows = hone_malloc(2 * n);
    int code = check(a, a->cu->MemcpyDtoH(rows, a->stamps, 2 * n), "reading stamps", err);
    if (code == 0)
        hone_gpu_stamps_read(rows, rows + a->device.sm_count, a->device.sm_count, &answer->stamp_ns,
                             &answer->sm_mhz);
    return code;
}

static int read_singles(struct arena *a, struct hone_gpu_answer *answer, struct hone_err *err)
{
    size_t n = (size_t)a->block.u.prepare.n_calls;
    HONE_AUTOFREE uint64_t *marks = hone_calloc(2 * n + 1, sizeof *marks);
    int code = a->mark == NULL || n == 0
                   ? 0
                   : check(a, a->cu->MemcpyDtoH(marks, a->marks, 2 * n * sizeof *marks),
                           "reading marks", err);
    answer->event_ns = answer->stamp_ns = 0;
    for (size_t i = 0; i < n && code == 0; i++) {
        float ms = 0;
        code = check(a, a->cu->EventElapsedTime(&ms, a->events[2 * i], a->events[2 * i + 1]),
                     "reading events", err);
        answer->event_ns += 1e6 * (double)ms;
        answer->stamp_ns += (double)(marks[2 * i + 1] - marks[2 * i]);
    }
    return code;
}

static int go(struct arena *a, struct hone_gpu_answer *answer, struct hone_err *err)
{
    bool is_single = a->block.u.prepare.is_single;
    int code = 0;
    if (is_single)
        code = run_singles(a, err);
    else if (a->gate != NULL)
        open_gate(a);
    else
        code = queue_block(a, err);
    if (code == 0)
        code = check(a, a->cu->StreamSynchronize(a->stream), "running the kernels", err);
    if (code == 0)
        code = read_stamps(a, answer, err);
    if (code == 0 && is_single)
        return read_singles(a, answer, err);
    float ms = 0;
    if (code == 0)
        code = check(a, a->cu->EventElapsedTime(&ms, a->begin, a->end), "reading events", err);
    answer->event_ns = 1e6 * (double)ms;
    return code;
}

static int occupancy(struct arena *a, const struct hone_gpu_request *request,
                     struct hone_gpu_answer *answer, struct hone_err *err)
{
    const char *name = request->u.occupancy.kernel;
    hone_cu_function func = NULL;
    int blocks = 0, now = 0;
    if (a->module == NULL || memchr(name, '\0', HONE_GPU_MAX_NAME) == NULL)
        return hone_fail(err, HONE_E_ARG, "no such kernel");
    int code = check(a, a->cu->ModuleGetFunction(&func, a->module, name), "finding a kernel", err);
    int64_t shared = request->u.occupancy.dynamic_shared;
    if (code == 0 &&
        a->cu->FuncGetAttribute(&now, HONE_CU_FUNC_MAX_DYNAMIC_SHARED, func) == HONE_CU_SUCCESS &&
        shared > now)
        code = check(a, a->cu->FuncSetAttribute(func, HONE_CU_FUNC_MAX_DYNAMIC_SHARED, (int)shared),
                     "asking for shared memory", err);
    if (code == 0)
        code = check(a,
                     a->cu->OccupancyMaxActiveBlocks(
                         &blocks, func, (int)request->u.occupancy.block_threads, (size_t)shared),
                     "asking for occupancy", err);
    answer->blocks_per_sm = blocks;
    return code;
}

static int profile(struct arena *a, const struct hone_gpu_request *request, int fd,
                   struct hone_err *err)
{
    int64_t set = request->u.profile.set;
    if (a->program == NULL || set < 0 || set >= a->layout.n_sets)
        return hone_fail(err, HONE_E_ARG, "nothing to profile in set %lld", (long long)set);
    const struct hone_gpu_profile_work work = {.device = &a->device,
                                               .program = a->program,
                                               .stream = a->stream,
                                               .set = set,
                                               .budget_ns = request->u.profile.budget_ns,
                                               .scratch_poison = request->u.profile.scratch_poison};
    return hone_gpu_profile_serve(&work, fd, err);
}

/* For a call that failed: which of its operations does? */
static int step(struct arena *a, const struct hone_gpu_request *request,
                struct hone_gpu_answer *answer, struct hone_err *err)
{
    int64_t set = request->u.step.set;
    if (a->program == NULL || set < 0 || set >= a->layout.n_sets)
        return hone_fail(err, HONE_E_ARG, "nothing to step through in set %lld", (long long)set);
    size_t n = hone_gpu_program_n_ops(a->program);
    int code = hone_gpu_program_restore(a->program, a->stream, err);
    if (code == 0)
        code = hone_gpu_program_poison(a->program, request->u.step.scratch_poison, a->stream, err);
    if (code == 0)
        code = check(a, a->cu->StreamSynchronize(a->stream), "preparing a call", err);
    for (size_t op = 0; op < n && code == 0; op++) {
        code = hone_gpu_program_issue_op(a->program, op, set, a->stream, err);
        if (code == 0)
            code = check(a, a->cu->StreamSynchronize(a->stream), "running an operation", err);
        answer->at_op = code == 0 ? 0 : (int64_t)op + 1;
    }
    return code;
}

/* ---- life ---- */

/* All shared memory that one block can have. */
static void allow_wipe(struct arena *a)
{
    int bytes = 0;
    if (a->cu->DeviceGetAttribute(&bytes, HONE_CU_DEV_SHARED_PER_BLOCK_OPTIN, a->device.dev) ==
            HONE_CU_SUCCESS &&
        bytes > 0 &&
        a->cu->FuncSetAttribute(a->wipe, HONE_CU_FUNC_MAX_DYNAMIC_SHARED, bytes) == HONE_CU_SUCCESS)
        a->wipe_bytes = (unsigned)bytes;
    else
        a->wipe = NULL;
}

static int load_stamp(struct arena *a, struct hone_err *err)
{
    struct stat info;
    const char *image = NULL;
    hone_cu_module module = NULL;
    if (fstat(HONE_GPU_STAMP, &info) < 0 || info.st_size == 0)
        return 0;
    int code = map_file(HONE_GPU_STAMP, info.st_size, &image, err);
    if (code == 0)
        code = check(a, a->cu->ModuleLoadData(&module, image), "loading the stamp module", err);
    struct {
        const char *name;
        hone_cu_function *ret;
    } rows[] = {{"hone_gate", &a->gate},
                {"hone_stamp", &a->stamp},
                {"hone_mark", &a->mark},
                {"hone_wipe", &a->wipe}};
    for (size_t i = 0; i < HONE_COUNTOF(rows) && code == 0; i++)
        code = check(a, a->cu->ModuleGetFunction(rows[i].ret, module, rows[i].name), rows[i].name,
                     err);
    if (code == 0)
        code = check(a, a->cu->MemAlloc(&a->stamps, 2 * stamp_bytes(a)), "memory for stamps", err);
    if (code == 0)
        code = check(a, a->cu->MemAlloc(&a->marks, 2 * HONE_GPU_MAX_SINGLES * sizeof(uint64_t)),
                     "memory for marks", err);
    if (code == 0)
        allow_wipe(a);
    void *words = NULL;
    if (code == 0)
        code = check(a, a->cu->MemHostAlloc(&words, 4096, 0), "pinned memory", err);
    if (code == 0)
        memset(words, 0, 4096);
    a->words = words;
    return code;
}

static int start(struct arena *a, int ordinal, struct hone_err *err)
{
    int code = hone_cuda_open(&a->cu, err);
    hone_cu_device dev = 0;
    if (code == 0)
        code = check(a, a->cu->Init(0), "starting the driver", err);
    if (code == 0 && a->cu->DeviceGet(&dev, ordinal) == HONE_CU_SUCCESS)
        (void)a->cu->DevicePrimaryCtxSetFlags(dev, HONE_CU_CTX_SCHED_SPIN);
    if (code == 0)
        code = hone_gpu_device_open(a->cu, ordinal, &a->device, err);
    if (code < 0)
        return code;
    (void)a->cu->CtxSetLimit(HONE_CU_LIMIT_PRINTF_FIFO, PRINTF_BYTES);
    (void)a->cu->CtxSetLimit(HONE_CU_LIMIT_MALLOC_HEAP, DEVICE_HEAP);
    (void)a->cu->CtxSetLimit(HONE_CU_LIMIT_PERSISTING_L2, 0);
    code = check(a, a->cu->StreamCreate(&a->stream, HONE_CU_STREAM_NON_BLOCKING), "making a stream",
                 err);
    if (code == 0)
        code =
            check(a, a->cu->EventCreate(&a->begin, HONE_CU_EVENT_DEFAULT), "making an event", err);
    if (code == 0)
        code = check(a, a->cu->EventCreate(&a->end, HONE_CU_EVENT_DEFAULT), "making an event", err);
    return code < 0 ? code : load_stamp(a, err);
}

static bool answer(const struct hone_gpu_answer *text)
{
    ssize_t n;
    do {
        n = send(HONE_GPU_SOCKET, text, sizeof *text, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *text;
}

static bool tell(int code, const struct hone_err *err, struct hone_gpu_answer *ret)
{
    ret->is_error = code < 0 ? -code : 0;
    ret->cuda_code = code == HONE_E_TARGET ? err->native : 0;
    if (code < 0)
        snprintf(ret->text, sizeof ret->text, "%s", err->message);
    return answer(ret);
}

/* A request and the descriptors that come with it. */
static bool receive(struct hone_gpu_request *ret, int *fds, size_t *n_fds)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE((HONE_GPU_MAX_TENSORS + 1) * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = ret, .iov_len = sizeof *ret};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t n;
    do {
        n = recvmsg(HONE_GPU_SOCKET, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    *n_fds = 0;
    if (n != (ssize_t)sizeof *ret || (message.msg_flags & MSG_CTRUNC) != 0)
        return false;
    const struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);
    if (cmsg != NULL && cmsg->cmsg_type == SCM_RIGHTS) {
        *n_fds = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(cmsg), *n_fds * sizeof(int));
    }
    return true;
}

static int serve_one(struct arena *a, const struct hone_gpu_request *request, const int *fds,
                     size_t n_fds, struct hone_gpu_answer *reply, struct hone_err *err)
{
    switch ((enum hone_gpu_op)request->op) {
    case HONE_GPU_OP_LOAD: {
        int code = load(a, request, n_fds == 1 ? fds[0] : -1, err);
        reply->blocks_per_sm = (int64_t)a->n_hidden;
        return code;
    }
    case HONE_GPU_OP_MAP:
        return map_frame(a, request, fds, n_fds, err);
    case HONE_GPU_OP_PREPARE:
        return prepare(a, request, err);
    case HONE_GPU_OP_GO:
        return go(a, reply, err);
    case HONE_GPU_OP_OCCUPANCY:
        return occupancy(a, request, reply, err);
    case HONE_GPU_OP_PROFILE:
        return profile(a, request, n_fds == 1 ? fds[0] : -1, err);
    case HONE_GPU_OP_STEP:
        return step(a, request, reply, err);
    case HONE_GPU_OP_DROP:
        (request->u.drop.keeps_module ? unmap_frame : unload)(a);
        return 0;
    case HONE_GPU_OP_START:
    default:
        return hone_fail(err, HONE_E_ARG, "request %d is unknown", (int)request->op);
    }
}

static int serve(struct arena *a)
{
    for (;;) {
        struct hone_gpu_request request;
        int fds[HONE_GPU_MAX_TENSORS + 1];
        size_t n_fds = 0;
        if (!receive(&request, fds, &n_fds))
            return 0;
        struct hone_gpu_answer reply = {.serial = request.serial, .op = request.op};
        struct hone_err err = HONE_ERR_INIT;
        int code = serve_one(a, &request, fds, n_fds, &reply, &err);
        for (size_t i = 0; i < n_fds; i++)
            hone_close_fd(&fds[i]);
        (void)fflush(stdout);
        if (!tell(code, &err, &reply) || code < 0)
            return 0;
    }
}

int hone_role_device_arena(int argc, char **argv)
{
    if (argc < 1 || argc > 2) {
        fputs("hone-runner: the device-arena role takes a device number\n", stderr);
        return 2;
    }
    struct arena *a = hone_calloc(1, sizeof *a);
    struct hone_err err = HONE_ERR_INIT;
    void *shared = mmap(NULL, HONE_GPU_SHARED_BYTES, PROT_READ, MAP_SHARED, HONE_GPU_SHARED, 0);
    if (shared == MAP_FAILED)
        return 2;
    a->shared = shared;
    a->sets = hone_calloc(HONE_GPU_MAX_CALLS, sizeof *a->sets);
    bool is_open = argc == 2 && strcmp(argv[1], "open") == 0;
    int code = is_open ? 0 : hone_jail_tighten(HONE_JAIL_DEVICE, &err);
    if (code == 0)
        code = start(a, (int)strtol(argv[0], NULL, 10), &err);
    struct hone_gpu_answer reply = {.op = HONE_GPU_OP_START};
    if (tell(code, &err, &reply) && code == 0)
        (void)serve(a);
    (void)fflush(stdout);
    _exit(0); /* the kernel gives the context back; the driver's own clean-up may hang after a fault
               */
}
