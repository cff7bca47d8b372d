/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: the disposable process that holds one arm's code, inside the jail.
 *
 * It maps what it is told, loads /work/<object>, and calls the kernel when the judge says so. It
 * knows no seed, no expected value and no clock that counts. Whatever runs here is under the
 * candidate's control after the first call: nothing that it says is believed. Memory that the
 * candidate frees stays in the heap for its next call (no mmap, no trim), and is filled with a
 * pattern during correctness checks. */
#include "tools/runner/jail/roles.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/runner/arena/caller.h"
#include "tools/runner/arena/control.h"
#include "tools/runner/jail/jail.h"
#include "workspace/task/task.h"

#define MAX_INT_ARGS   96 /* tensors, integer scalars and axes */
#define USUAL_INT_ARGS 48
#define MAX_F64_ARGS   8 /* what fits in registers on x86-64 and aarch64 */
#define ALT_STACK      65536
#define SCRUBBED_BYTES 32768
#define BESIDE_STACK   (8 << 20) /* what docs/tasks.md promises */

_Static_assert(sizeof(struct hone_control) <= HONE_CONTROL_BYTES, "the control page is too small");
_Static_assert(HONE_LIMIT_TENSORS + 2 * HONE_LIMIT_AXES <= MAX_INT_ARGS, "no task needs more");

struct call_args {
    int64_t ints[MAX_INT_ARGS];
    size_t n_ints;
    double floats[MAX_F64_ARGS];
};

struct arena {
    struct hone_control *control;
    struct hone_layout layout;
    char *inputs_and_outputs; /* address range of all sets, guard pages included */
    int64_t range_bytes;
    void (*kernel)(void);
    struct call_args *args; /* one per set */
};

/* The fault handler has no argument of its own; set once before any candidate code runs. */
static struct arena *handler_arena;

static int find_fault(const struct arena *arena, const char *at, int *ret_tensor)
{
    if (arena->inputs_and_outputs == NULL || at < arena->inputs_and_outputs ||
        at >= arena->inputs_and_outputs + arena->range_bytes)
        return HONE_FAULT_OTHER;
    int64_t in_set = (at - arena->inputs_and_outputs) % arena->layout.map_stride;
    int64_t n = arena->layout.n_inputs + arena->layout.n_outputs;
    for (int64_t t = 0; t < n; t++) {
        int64_t start = arena->layout.map_at[t], end = start + arena->layout.room[t];
        *ret_tensor = (int)t;
        if (in_set >= start && in_set < end)
            return t < arena->layout.n_inputs ? HONE_FAULT_INPUT : HONE_FAULT_OTHER;
        if (in_set >= start - HONE_BUFFERS_PAGE && in_set < end + HONE_BUFFERS_PAGE)
            return HONE_FAULT_GUARD;
    }
    return HONE_FAULT_GUARD;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    struct hone_control *control = handler_arena->control;
    int tensor = -1;
    control->fault_signal = number;
    if (number == SIGSEGV || number == SIGBUS) {
        control->fault = find_fault(handler_arena, info->si_addr, &tensor);
        control->fault_tensor = tensor;
    }
    /* init of a pid namespace does not die of these by itself */
    if (number == SIGABRT || number == SIGXFSZ || number == SIGXCPU)
        _exit(128 + number);
    /* The handler has been reset: returning faults again and ends the process for real. */
}

static void install_handlers(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXFSZ, SIGXCPU};
    stack_t stack = {.ss_sp = hone_malloc(ALT_STACK), .ss_size = ALT_STACK};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < HONE_COUNTOF(signals); i++)
        sigaction(signals[i], &action, NULL);
}

/* A number of a closed list: whoever is loaded here could write any text. */
static int fail(struct arena *arena, enum hone_helper_step step, int native)
{
    arena->control->failed_step = (int32_t)step;
    arena->control->native = native;
    return -1;
}

static char *room_of(const struct arena *arena, int64_t set, int64_t tensor)
{
    return arena->inputs_and_outputs + set * arena->layout.map_stride +
           arena->layout.map_at[tensor];
}

static int map_room(struct arena *arena, int64_t set, int64_t tensor)
{
    const struct hone_layout *layout = &arena->layout;
    bool is_input = tensor < layout->n_inputs;
    int fd = is_input ? HONE_CONTROL_INPUTS : HONE_CONTROL_OWN;
    int protection = is_input ? PROT_READ : PROT_READ | PROT_WRITE;
    void *got =
        mmap(room_of(arena, set, tensor), (size_t)layout->room[tensor], protection,
             MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, hone_layout_file_at(layout, set, tensor));
    return got == MAP_FAILED ? fail(arena, HONE_HELPER_MAP, errno) : 0;
}

static double float_bits(int32_t type, double value)
{
    if (type != HONE_DTYPE_F32)
        return value;
    float narrow = (float)value;
    double register_bits = 0;
    memcpy(&register_bits, &narrow, sizeof narrow);
    return register_bits;
}

/* Arguments as the calling convention wants them: pointers and integers in one row, floating values
 * in another. */
static int make_args(const struct hone_control *control, char *const *contents,
                     struct call_args *ret)
{
    size_t n_ints = 0, n_floats = 0;
    int64_t n_tensors = control->layout.n_inputs + control->layout.n_outputs;
    for (int64_t t = 0; t < n_tensors; t++)
        ret->ints[n_ints++] = (int64_t)(intptr_t)contents[t];
    for (int64_t i = 0; i < control->n_scalars; i++) {
        int32_t type = control->scalar_types[i];
        bool is_float = type == HONE_DTYPE_F32 || type == HONE_DTYPE_F64;
        if (is_float && n_floats == MAX_F64_ARGS)
            return -E2BIG;
        if (!is_float && n_ints == MAX_INT_ARGS)
            return -E2BIG;
        if (is_float)
            ret->floats[n_floats++] = float_bits(type, control->scalars[i]);
        else
            ret->ints[n_ints++] = (int64_t)control->scalars[i];
    }
    for (int64_t i = 0; i < control->n_axes; i++) {
        if (n_ints == MAX_INT_ARGS)
            return -E2BIG;
        ret->ints[n_ints++] = control->axes[i];
    }
    ret->n_ints = n_ints;
    return 0;
}

static int map_all(struct arena *arena)
{
    if (arena->inputs_and_outputs != NULL)
        munmap(arena->inputs_and_outputs, (size_t)arena->range_bytes);
    arena->inputs_and_outputs = NULL;
    arena->range_bytes = arena->layout.n_sets * arena->layout.map_stride + HONE_BUFFERS_PAGE;
    char *range = mmap(NULL, (size_t)arena->range_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return fail(arena, HONE_HELPER_RESERVE, errno);
    arena->inputs_and_outputs = range;
    for (int64_t set = 0; set < arena->layout.n_sets; set++)
        for (int64_t t = 0; t < arena->layout.n_inputs + arena->layout.n_outputs; t++) {
            int code = map_room(arena, set, t);
            if (code != 0)
                return code;
        }
    return 0;
}

static char *content_of(const struct arena *arena, int64_t set, int64_t tensor)
{
    return room_of(arena, set, tensor) + hone_layout_content_at(&arena->layout, set, tensor);
}

static int make_all_args(struct arena *arena)
{
    free(arena->args);
    arena->args = hone_calloc((size_t)arena->layout.n_sets, sizeof *arena->args);
    for (int64_t set = 0; set < arena->layout.n_sets; set++) {
        char *contents[HONE_LIMIT_TENSORS];
        for (int64_t t = 0; t < arena->layout.n_inputs + arena->layout.n_outputs; t++)
            contents[t] = content_of(arena, set, t);
        if (make_args(arena->control, contents, &arena->args[set]) != 0)
            return fail(arena, HONE_HELPER_ARGS, E2BIG);
    }
    return 0;
}

/* Only the bytes of contents may differ: another size on the same buffers. */
static bool has_same_rooms(const struct hone_layout *mapped, const struct hone_layout *wanted)
{
    struct hone_layout like = *mapped;
    memcpy(like.bytes, wanted->bytes, sizeof like.bytes);
    return memcmp(&like, wanted, sizeof like) == 0;
}

static int take_layout(struct arena *arena)
{
    const struct hone_layout wanted = arena->control->layout;
    bool is_mapped = arena->inputs_and_outputs != NULL && has_same_rooms(&arena->layout, &wanted);
    arena->layout = wanted;
    int code = is_mapped ? 0 : map_all(arena);
    return code == 0 ? make_all_args(arena) : code;
}

#define I8  int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#define I48 I8, I8, I8, I8, I8, I8
#define F8  double, double, double, double, double, double, double, double
#define V8(n)                                                                                      \
    i[n], i[(n) + 1], i[(n) + 2], i[(n) + 3], i[(n) + 4], i[(n) + 5], i[(n) + 6], i[(n) + 7]
#define V48(n) V8(n), V8((n) + 8), V8((n) + 16), V8((n) + 24), V8((n) + 32), V8((n) + 40)

/* One prototype serves every signature: by the System V and AAPCS64 conventions floating arguments
 * take their own registers, and integers take theirs and then the stack in order, whatever the
 * interleaving; surplus arguments are harmless. The longer one is for tasks that need it: its
 * arguments cost time that short calls would show. */
static void call_kernel(void (*kernel)(void), const struct call_args *a)
{
    typedef void usual_fn(F8, I48);
    typedef void wide_fn(F8, I48, I48);
    const double *f = a->floats;
    const int64_t *i = a->ints;
    if (a->n_ints <= USUAL_INT_ARGS)
        ((usual_fn *)kernel)(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], V48(0));
    else
        ((wide_fn *)kernel)(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], V48(0), V48(48));
}

/* What a kernel finds on its stack and in fresh memory, when it is checked: NaN for even sets,
 * something small for odd ones. A sum that nobody set to zero then shows. */
__attribute__((noinline)) static void fill_unused(int64_t set, int perturb)
{
    char stack[SCRUBBED_BYTES];
    memset(stack, set % 2 == 0 ? 0xff : perturb, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory");
    /* glibc fills with the inverted low byte; 0 would mean no fill at all. */
    mallopt(M_PERTURB, set % 2 == 0 ? 0x100 : perturb ^ 0xff);
}

static void call_all(struct arena *arena)
{
    int64_t n = arena->control->n_calls, set = arena->control->first_set,
            rotate = arena->control->n_rotate;
    int64_t wrap = set + rotate, first = set;
    int perturb = arena->control->perturb;
    struct hone_caller_state before;
    hone_caller_note(perturb != 0, &before);
    for (int64_t i = 0; i < n; i++) {
        if (perturb != 0)
            fill_unused(set, perturb);
        call_kernel(arena->kernel, &arena->args[set]);
        if (++set == wrap)
            set = first;
    }
    arena->control->left_behind = (int32_t)hone_caller_compare(&before);
    if (perturb != 0)
        mallopt(M_PERTURB, 0);
}

static void *call_from_thread(void *arg)
{
    call_all(arg);
    return NULL;
}

/* As a caller does whose threads are not the first of its process. Where no thread can be had it is
 * the first. */
static void call_beside(struct arena *arena)
{
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, BESIDE_STACK);
    if (pthread_create(&thread, &attr, call_from_thread, arena) == 0)
        (void)pthread_join(thread, NULL);
    else
        call_all(arena);
    pthread_attr_destroy(&attr);
}

static void answer(char byte)
{
    while (write(HONE_CONTROL_SOCKET, &byte, 1) < 0 && errno == EINTR)
        ;
}

static int load_kernel(struct arena *arena, const char *path, const char *symbol)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = object != NULL ? dlsym(object, symbol) : NULL;
    if (found == NULL)
        return fail(arena, object == NULL ? HONE_HELPER_LOAD : HONE_HELPER_SYMBOL, 0);
    memcpy(&arena->kernel, &found, sizeof found);
    return 0;
}

static int serve(struct arena *arena)
{
    for (;;) {
        char byte = 0;
        ssize_t n = read(HONE_CONTROL_SOCKET, &byte, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != 1)
            return 0;
        int code = 0;
        switch (arena->control->command) {
        case HONE_CONTROL_MAP:
            code = take_layout(arena);
            break;
        case HONE_CONTROL_CALL:
            if (arena->control->is_beside != 0)
                call_beside(arena);
            else
                call_all(arena);
            fflush(stdout);
            break;
        case HONE_CONTROL_QUIT:
            return 0;
        default:
            break;
        }
        answer(code == 0 ? 'd' : 'e');
    }
}

int hone_role_arena(int argc, char **argv)
{
    if (argc != 2) {
        fputs("hone-runner: the arena role takes an object and a symbol\n", stderr);
        return 2;
    }
    mallopt(M_MMAP_MAX, 0); /* freed memory stays, so that its next user sees what was left there */
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    struct arena arena = {0};
    arena.control =
        mmap(NULL, HONE_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, HONE_CONTROL_FD, 0);
    if (arena.control == MAP_FAILED)
        return 2;
    handler_arena = &arena;
    install_handlers();
    struct hone_err err = HONE_ERR_INIT;
    if (hone_jail_tighten(HONE_JAIL_ARENA, &err) < 0) {
        fprintf(stderr, "hone-runner: %s\n", err.message);
        return 2;
    }
    (void)dlopen("libgcc_s.so.1", RTLD_NOW); /* ends threads; nothing can be loaded later */
    if (load_kernel(&arena, argv[0], argv[1]) != 0) {
        answer('e');
        return 0;
    }
    if (hone_jail_close_code(&err) < 0) {
        fprintf(stderr, "hone-runner: %s\n", err.message);
        return 2;
    }
    answer('d');
    return serve(&arena);
}
