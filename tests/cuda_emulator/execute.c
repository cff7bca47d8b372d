/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cuda_emulator/execute.h"

#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

#define STACK_BYTES     (128u << 10)
#define GUARD_BYTES     (64u << 10)
#define ALT_STACK_BYTES (32u << 10)
enum { ILLEGAL_ADDRESS = 700, MISALIGNED = 716, LAUNCH_FAILED = 719 };
enum { FENCE = 0x5a, FENCE_BYTES = 1 << 10 };

enum state { NEW, RUNNING, READY, AT_BARRIER, AT_WARP, AT_GRID, DONE };

struct fiber {
#ifdef __x86_64__
    void *sp;
#else
    ucontext_t context;
#endif
    char *stack;
    size_t stack_bytes; /* differ a little: tops at equal offsets would share few cache lines */
    struct fiber *next_idle, *next;
};
struct thread {
    struct fiber *fiber;
    uint64_t value, result;
    uint32_t mask;
    int op, arg;
    enum state state;
};
struct block {
    struct hone_emu_dim id;
    unsigned n, next, n_live, n_at_barrier, n_at_grid, n_true;
    struct thread *threads;
    char *image; /* shared memory while another block runs */
};
struct region {
    char *base;
    size_t len;
};
struct engine { /* of a host thread */
    const struct hone_emu_launch *launch;
    struct block *block;
    unsigned current; /* thread in block */
    bool has_yielded, is_backward;
    struct fiber *fiber, *idle, *all;
    size_t n_fibers;
    struct fiber scheduler;
    struct region shared[3]; /* to poison: static before, dynamic, static after */
    volatile bool is_guarded;
    sigjmp_buf escape;
    bool has_alt_stack;
    stack_t before; /* the thread's own, given back when it ends */
};

__thread struct hone_emu_state hone_emu_now
    __attribute__((tls_model("initial-exec"), visibility("default")));
static __thread struct engine engine __attribute__((tls_model("initial-exec")));

/* ---- stacks ---- */

static void fiber_main(void);

#ifdef __x86_64__
void hone_emu_switch(void **save, void *load);
__asm__(".text\n.globl hone_emu_switch\n.hidden hone_emu_switch\n"
        ".type hone_emu_switch, @function\n"
        "hone_emu_switch:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size hone_emu_switch, . - hone_emu_switch\n");

static void prepare(struct fiber *fiber)
{
    void **top = (void **)(void *)(fiber->stack + fiber->stack_bytes);
    *--top = NULL; /* fiber_main's return address: it has none */
    *--top = (void *)(uintptr_t)fiber_main;
    for (int i = 0; i < 6; i++)
        *--top = NULL;
    fiber->sp = top;
}
static void switch_to(struct fiber *from, struct fiber *to)
{
    hone_emu_switch(&from->sp, to->sp);
}
#else
static void prepare(struct fiber *fiber)
{
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = fiber->stack_bytes;
    makecontext(&fiber->context, fiber_main, 0);
}
static void switch_to(struct fiber *from, struct fiber *to)
{
    swapcontext(&from->context, &to->context);
}
#endif

static struct fiber *fiber_take(struct engine *e)
{
    struct fiber *fiber = e->idle;
    if (fiber != NULL) {
        e->idle = fiber->next_idle;
        return fiber;
    }
    fiber = calloc(1, sizeof(*fiber));
    char *at = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber == NULL || at == MAP_FAILED ||
        mprotect(at + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) < 0)
        hone_emu_fail(2, "no memory for the threads of a block");
    fiber->stack = at + GUARD_BYTES;
    fiber->stack_bytes = STACK_BYTES - (e->n_fibers++ % 61) * 256;
    prepare(fiber);
    fiber->next = e->all;
    e->all = fiber;
    return fiber;
}

/* After a fault: nobody returns to where a fiber stopped. */
static void fibers_reset(struct engine *e)
{
    e->idle = NULL;
    for (struct fiber *fiber = e->all; fiber != NULL; fiber = fiber->next) {
        prepare(fiber);
        fiber->next_idle = e->idle;
        e->idle = fiber;
    }
}

static void fibers_free(struct engine *e)
{
    for (struct fiber *fiber = e->all, *next; fiber != NULL; fiber = next) {
        next = fiber->next;
        munmap(fiber->stack - GUARD_BYTES, GUARD_BYTES + STACK_BYTES);
        free(fiber);
    }
    e->all = e->idle = NULL;
}

/* ---- threads of a block ---- */

static void become(struct engine *e, unsigned i)
{
    struct hone_emu_dim dim = e->launch->block;
    e->current = i;
    hone_emu_now.lane = i % 32;
    if (dim.y == 1 && dim.z == 1)
        hone_emu_now.thread = (struct hone_emu_dim){i, 0, 0};
    else
        hone_emu_now.thread =
            (struct hone_emu_dim){i % dim.x, i / dim.x % dim.y, i / dim.x / dim.y};
}

static void release_barrier(struct block *b)
{
    for (unsigned i = 0; i < b->n; i++)
        if (b->threads[i].state == AT_BARRIER) {
            b->threads[i].state = READY;
            b->threads[i].result = b->n_true;
        }
    b->n_at_barrier = b->n_true = 0;
}

static void warp_results(struct thread *lanes, uint32_t who)
{
    uint64_t all = 0;
    int op = lanes[__builtin_ctz(who)].op;
    bool is_first = true;
    for (uint32_t rest = who; rest != 0; rest &= rest - 1, is_first = false) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t v = lanes[lane].value;
        if (op == HONE_EMU_BALLOT)
            all |= (uint64_t)(v != 0) << lane;
        else if (is_first)
            all = v;
        else if (op == HONE_EMU_ADD)
            all += v;
        else if (op == HONE_EMU_MIN)
            all = v < all ? v : all;
        else if (op == HONE_EMU_MAX)
            all = v > all ? v : all;
        else if (op == HONE_EMU_MIN_SIGNED)
            all = (int64_t)v < (int64_t)all ? v : all;
        else if (op == HONE_EMU_MAX_SIGNED)
            all = (int64_t)v > (int64_t)all ? v : all;
        else if (op == HONE_EMU_AND)
            all &= v;
        else if (op == HONE_EMU_OR)
            all |= v;
        else if (op == HONE_EMU_XOR)
            all ^= v;
    }
    for (uint32_t rest = who; rest != 0; rest &= rest - 1) {
        struct thread *t = &lanes[__builtin_ctz(rest)];
        t->result = all;
        if (op == HONE_EMU_SHUFFLE)
            t->result = who >> t->arg & 1 ? lanes[t->arg].value : t->value;
        if (op == HONE_EMU_MATCH_ANY || op == HONE_EMU_MATCH_ALL) {
            uint32_t same = 0;
            for (uint32_t r = who; r != 0; r &= r - 1)
                if (lanes[__builtin_ctz(r)].value == t->value)
                    same |= 1u << __builtin_ctz(r);
            t->result = op == HONE_EMU_MATCH_ANY || same == who ? same : 0;
        }
    }
}

static uint32_t live_lanes(const struct block *b, unsigned first)
{
    uint32_t live = 0;
    for (unsigned lane = 0; lane < 32 && first + lane < b->n; lane++)
        live |= (uint32_t)(b->threads[first + lane].state != DONE) << lane;
    return live;
}

/* Have all of the mask that still live come to the same call? Then they go on. */
static bool warp_complete(struct block *b, unsigned i)
{
    struct thread *lanes = &b->threads[i - i % 32], *self = &b->threads[i];
    unsigned first = i - i % 32;
    uint32_t inside = b->n - first >= 32 ? ~0u : (1u << (b->n - first)) - 1, who = 0;
    /* From the top: lanes come in order, so the one that is missing is found at once. */
    for (uint32_t rest = self->mask & inside; rest != 0;) {
        unsigned lane = 31 - (unsigned)__builtin_clz(rest);
        const struct thread *t = &lanes[lane];
        rest &= ~(1u << lane);
        if (t->state == DONE)
            continue;
        if (t->state != AT_WARP || t->mask != self->mask || t->op != self->op)
            return false;
        who |= 1u << lane;
    }
    warp_results(lanes, who);
    for (uint32_t rest = who; rest != 0; rest &= rest - 1)
        lanes[__builtin_ctz(rest)].state = READY;
    return true;
}

static void thread_ended(struct block *b, unsigned i)
{
    b->threads[i].state = DONE;
    b->n_live--;
    if (b->n_at_barrier > 0 && b->n_at_barrier == b->n_live)
        release_barrier(b);
    for (unsigned k = i - i % 32; k < b->n && k < i - i % 32 + 32; k++)
        if (b->threads[k].state == AT_WARP)
            warp_complete(b, k);
}

static void fiber_main(void)
{
    for (;;) {
        struct engine *e = &engine;
        while (e->block->next < e->block->n) {
            unsigned i = e->block->next++;
            e->block->threads[i].fiber = e->fiber;
            e->block->threads[i].state = RUNNING;
            become(e, i);
            e->launch->entry->call(e->launch->params);
            thread_ended(e->block, e->current);
        }
        struct fiber *self = e->fiber;
        self->next_idle = e->idle;
        e->idle = self;
        switch_to(self, &e->scheduler);
    }
}

static void park(struct engine *e)
{
    switch_to(e->fiber, &e->scheduler);
}

static struct thread *self_thread(struct engine *e, const char *what)
{
    if (e->block == NULL)
        hone_emu_fail(LAUNCH_FAILED, what);
    return &e->block->threads[e->current];
}

int hone_emu_barrier(int predicate)
{
    struct engine *e = &engine;
    struct thread *t = self_thread(e, "a barrier outside of a kernel");
    struct block *b = e->block;
    t->state = AT_BARRIER;
    b->n_true += predicate != 0;
    if (++b->n_at_barrier == b->n_live)
        release_barrier(b);
    else
        park(e);
    t->state = RUNNING;
    return (int)t->result;
}

unsigned long long hone_emu_warp(int op, unsigned mask, unsigned long long value, int arg)
{
    struct engine *e = &engine;
    struct thread *t = self_thread(e, "a warp operation outside of a kernel");
    if ((mask >> e->current % 32 & 1) == 0)
        hone_emu_fail(LAUNCH_FAILED, "the mask of a warp operation lacks the calling thread");
    t->op = op;
    t->mask = mask;
    t->value = value;
    t->arg = arg & 31;
    t->state = AT_WARP;
    if (!warp_complete(e->block, e->current))
        park(e);
    t->state = RUNNING;
    return t->result;
}

void hone_emu_grid_barrier(void)
{
    struct engine *e = &engine;
    struct thread *t = self_thread(e, "a grid barrier outside of a kernel");
    if (!e->launch->is_cooperative)
        hone_emu_fail(LAUNCH_FAILED, "a grid barrier needs a cooperative launch");
    t->state = AT_GRID;
    e->block->n_at_grid++;
    park(e);
    t->state = RUNNING;
}

void hone_emu_yield(void)
{
    struct engine *e = &engine;
    if (e->block == NULL)
        return;
    e->has_yielded = true;
    struct thread *t = &e->block->threads[e->current];
    t->state = READY;
    park(e);
    t->state = RUNNING;
}

unsigned hone_emu_active(void)
{
    const struct engine *e = &engine;
    return e->block == NULL ? 1 : live_lanes(e->block, e->current - e->current % 32);
}
unsigned hone_emu_live_threads(void)
{
    return engine.block == NULL ? 1 : engine.block->n_live;
}
unsigned long long hone_emu_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

/* ---- blocks ---- */

static void enter(struct engine *e, struct fiber *fiber)
{
    e->fiber = fiber;
    switch_to(&e->scheduler, fiber);
}

/* Runs the block until it ends, waits for the grid, or (cooperative) has yielded. */
static bool run_block(struct engine *e, struct block *b)
{
    bool has_run = false;
    e->block = b;
    hone_emu_now.block = b->id;
    while (b->next < b->n) {
        enter(e, fiber_take(e));
        has_run = true;
    }
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        e->has_yielded = false;
        e->is_backward = !e->is_backward; /* a missing barrier shows in one of the two orders */
        for (unsigned k = 0; b->n_live > 0 && k < b->n; k++) {
            unsigned i = e->is_backward ? b->n - 1 - k : k;
            if (b->threads[i].state != READY)
                continue;
            become(e, i);
            enter(e, b->threads[i].fiber);
            goes_on = has_run = true;
        }
        if (e->has_yielded && e->launch->is_cooperative)
            break;
    }
    e->block = NULL;
    return has_run;
}

static void block_start(struct engine *e, struct block *b, uint64_t index)
{
    const struct hone_emu_launch *l = e->launch;
    b->id = (struct hone_emu_dim){(unsigned)(index % l->grid.x),
                                  (unsigned)(index / l->grid.x % l->grid.y),
                                  (unsigned)(index / l->grid.x / l->grid.y)};
    b->next = b->n_at_barrier = b->n_at_grid = b->n_true = 0;
    b->n = b->n_live = l->block.x * l->block.y * l->block.z;
    for (unsigned i = 0; i < b->n; i++)
        b->threads[i].state = NEW;
}

static void poison(struct engine *e)
{
    for (int i = 0; i < 3; i++)
        if (e->shared[i].len > 0)
            memset(e->shared[i].base, 0xff, e->shared[i].len);
}

/* What lies behind the dynamic shared memory that the launch asked for, within what there can be. */
static struct region fence(const struct engine *e)
{
    size_t room = HONE_EMU_DYNAMIC_BYTES - e->shared[1].len;
    struct region ret = {e->shared[1].base + e->shared[1].len,
                         room < FENCE_BYTES ? room : FENCE_BYTES};
    if (!e->shared[1].base)
        ret.len = 0;
    return ret;
}

static void check_fence(const struct engine *e)
{
    struct region r = fence(e);
    for (size_t i = 0; i < r.len; i++)
        if (r.base[i] != FENCE)
            hone_emu_fail(ILLEGAL_ADDRESS, "a store behind the dynamic shared memory");
}

static void swap_image(struct engine *e, char *image, bool is_in)
{
    for (int i = 0; i < 3; image += e->shared[i++].len)
        if (e->shared[i].len > 0)
            memcpy(is_in ? e->shared[i].base : image, is_in ? image : e->shared[i].base,
                   e->shared[i].len);
}

/* All blocks live at once, shared memory changed with each: for grid barriers. */
static void run_cooperative(struct engine *e, struct block *blocks, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        block_start(e, &blocks[i], i);
        poison(e);
        swap_image(e, blocks[i].image, false);
    }
    for (;;) {
        uint64_t n_live = 0, n_waiting = 0;
        bool has_run = false;
        for (uint64_t i = 0; i < n; i++) {
            struct block *b = &blocks[i];
            if (b->n_live > 0 && b->n_at_grid < b->n_live) {
                swap_image(e, b->image, true);
                has_run |= run_block(e, b);
                swap_image(e, b->image, false);
            }
            n_live += b->n_live > 0;
            n_waiting += b->n_live > 0 && b->n_at_grid == b->n_live;
        }
        if (n_live == 0)
            return;
        if (n_waiting == n_live) {
            for (uint64_t i = 0; i < n; i++) {
                for (unsigned k = 0; k < blocks[i].n; k++)
                    if (blocks[i].threads[k].state == AT_GRID)
                        blocks[i].threads[k].state = READY;
                blocks[i].n_at_grid = 0;
            }
        } else if (!has_run) {
            hone_emu_fail(LAUNCH_FAILED, "threads wait at different barriers for ever");
        }
    }
}

static int find_tls(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct region *ret = arg; /* in: an address of the object */
    (void)size;
    bool is_it = false;
    for (int i = 0; i < info->dlpi_phnum; i++)
        is_it |= info->dlpi_phdr[i].p_type == PT_LOAD &&
                 (uintptr_t)ret->base - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
                     info->dlpi_phdr[i].p_memsz;
    if (!is_it)
        return 0;
    ret->base = info->dlpi_tls_data;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            ret->len = info->dlpi_phdr[i].p_memsz;
    return 1;
}

static void find_shared(struct engine *e)
{
    const struct hone_emu_launch *l = e->launch;
    memset(e->shared, 0, sizeof(e->shared));
    char *dynamic = l->dynamic();
    struct region tls = {(char *)(uintptr_t)l->entry->call, 0};
    if (dl_iterate_phdr(find_tls, &tls) == 0 || tls.base == NULL)
        return;
    e->shared[0] = (struct region){tls.base, (size_t)(dynamic - tls.base)};
    e->shared[1] = (struct region){dynamic, l->shared_bytes};
    char *after = dynamic + HONE_EMU_DYNAMIC_BYTES;
    e->shared[2] = (struct region){after, (size_t)(tls.base + tls.len - after)};
}

/* ---- faults ---- */

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    struct engine *e = &engine;
    if (!e->is_guarded) {
        signal(sig, SIG_DFL); /* returning faults again, for real */
        return;
    }
    int code = sig == SIGSEGV || sig == SIGBUS ? ILLEGAL_ADDRESS : LAUNCH_FAILED;
    if (sig == SIGSEGV && info->si_code == SI_KERNEL && info->si_addr == NULL)
        code = MISALIGNED; /* an aligned vector access elsewhere */
    if (sig == SIGILL)
        code = MISALIGNED; /* device text is compiled to trap then */
    siglongjmp(e->escape, code);
}

static void guard_thread(struct engine *e)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction now,
            want = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        sigemptyset(&want.sa_mask);
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_sigaction != on_fault)
            sigaction(signals[i], &want, NULL);
    }
    if (!e->has_alt_stack) {
        void *at =
            mmap(NULL, ALT_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stack_t alt = {.ss_sp = at, .ss_size = ALT_STACK_BYTES};
        e->has_alt_stack = at != MAP_FAILED && sigaltstack(&alt, &e->before) == 0;
    }
}

void hone_emu_fail(int code, const char *what)
{
    struct engine *e = &engine;
    fprintf(stderr, "emulated device: %s (block %u, %u, %u; thread %u, %u, %u)\n", what,
            hone_emu_now.block.x, hone_emu_now.block.y, hone_emu_now.block.z, hone_emu_now.thread.x,
            hone_emu_now.thread.y, hone_emu_now.thread.z);
    if (!e->is_guarded)
        abort();
    siglongjmp(e->escape, code);
}

int hone_emu_guarded(void (*fn)(void *arg), void *arg)
{
    struct engine *e = &engine;
    guard_thread(e);
    int code = sigsetjmp(e->escape, 1);
    if (code == 0) {
        e->is_guarded = true;
        fn(arg);
    }
    e->is_guarded = false;
    return code;
}

/* ---- launches ---- */

struct share { /* of one host thread: blocks first, first + step, ... */
    const struct hone_emu_launch *launch;
    uint64_t first, step, n_blocks;
    int code;
    struct block *blocks;
};

static void run_share(void *arg)
{
    struct share *share = arg;
    struct engine *e = &engine;
    e->launch = share->launch;
    hone_emu_now.block_dim = share->launch->block;
    hone_emu_now.grid_dim = share->launch->grid;
    hone_emu_now.is_cooperative = (unsigned)share->launch->is_cooperative;
    find_shared(e);
    if (share->launch->is_cooperative) {
        run_cooperative(e, share->blocks, share->n_blocks);
        return;
    }
    for (uint64_t i = share->first; i < share->n_blocks; i += share->step) {
        block_start(e, share->blocks, i);
        poison(e);
        struct region behind = fence(e);
        if (behind.len > 0)
            memset(behind.base, FENCE, behind.len);
        run_block(e, share->blocks);
        if (share->blocks->n_live > 0)
            hone_emu_fail(LAUNCH_FAILED, "threads wait at different barriers for ever");
        check_fence(e);
    }
}

static void share_execute(struct share *share)
{
    struct engine *e = &engine;
    size_t n_threads =
        (size_t)share->launch->block.x * share->launch->block.y * share->launch->block.z;
    size_t n = share->launch->is_cooperative ? share->n_blocks : 1;
    /* The most that an image can need: static and dynamic shared memory are bounded. */
    size_t image = share->launch->is_cooperative ? 2 * (size_t)HONE_EMU_DYNAMIC_BYTES : 0;
    share->blocks = calloc(n, sizeof(*share->blocks));
    struct thread *threads = calloc(n * n_threads, sizeof(*threads));
    char *images = image > 0 ? calloc(n, image) : NULL;
    if (share->blocks == NULL || threads == NULL || (image > 0 && images == NULL)) {
        share->code = 2;
    } else {
        for (size_t i = 0; i < n; i++) {
            share->blocks[i].threads = threads + i * n_threads;
            share->blocks[i].image = images + i * image;
        }
        share->code = hone_emu_guarded(run_share, share);
        e->block = NULL;
        if (share->code != 0)
            fibers_reset(e);
    }
    free(images);
    free(threads);
    free(share->blocks);
    share->blocks = NULL;
}

void hone_emu_thread_done(void)
{
    struct engine *e = &engine;
    stack_t ours;
    fibers_free(e);
    if (e->has_alt_stack && sigaltstack(&e->before, &ours) == 0)
        munmap(ours.ss_sp, ours.ss_size);
    e->has_alt_stack = false;
}

static void *worker(void *arg)
{
    share_execute(arg);
    hone_emu_thread_done();
    return NULL;
}

int hone_emu_execute(const struct hone_emu_launch *launch)
{
    enum { MAX_WORKERS = 64 };
    pthread_t threads[MAX_WORKERS];
    struct share shares[MAX_WORKERS];
    uint64_t n_blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    int n = launch->is_cooperative || launch->n_workers < 1 ? 1 : launch->n_workers;
    n = n > MAX_WORKERS ? MAX_WORKERS : n;
    n = (uint64_t)n > n_blocks ? (int)n_blocks : n;
    int n_started = 0;
    for (int i = 0; i < n; i++)
        shares[i] = (struct share){launch, (uint64_t)i, (uint64_t)n, n_blocks, 0, NULL};
    while (n_started < n - 1 &&
           pthread_create(&threads[n_started], NULL, worker, &shares[n_started + 1]) == 0)
        n_started++;
    share_execute(&shares[0]);
    for (int i = 0; i < n_started; i++)
        pthread_join(threads[i], NULL);
    for (int i = n_started + 1; i < n; i++) /* no thread for it: here */
        share_execute(&shares[i]);
    for (int i = 0; i < n; i++)
        if (shares[i].code != 0)
            return shares[i].code;
    return 0;
}
