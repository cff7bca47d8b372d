/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated device's engine: runs the blocks of a launch on the CPU.
 *
 * Blocks run one after the other (in a few host threads when asked), the threads of a block as
 * fibers: one stack serves thread after thread until one has to wait (barrier, shuffle), which then
 * keeps its stack while another one goes on. A kernel without barriers therefore runs as a plain
 * loop. Shared memory is thread-local memory of the kernel's object: poisoned before each block.
 *
 * A fault inside a kernel or a guarded copy ends it with the driver's code. This header is also
 * read by the device text's prelude (emulate.h), in C++. */
#ifndef HONE_TESTS_EMULATOR_EXECUTE_H
#define HONE_TESTS_EMULATOR_EXECUTE_H

#ifdef __cplusplus
extern "C" {
#endif

enum { HONE_EMU_MAX_PARAMS = 120, HONE_EMU_DYNAMIC_BYTES = 227 << 10, HONE_EMU_MAX_THREADS = 1024 };

struct hone_emu_dim {
    unsigned x, y, z;
};
/* Who the running thread is; libcuda's, one for each host thread. */
struct hone_emu_state {
    struct hone_emu_dim thread, block, block_dim, grid_dim;
    unsigned lane, is_cooperative;
};
#pragma GCC visibility push(default)
extern __thread struct hone_emu_state hone_emu_now __attribute__((tls_model("initial-exec")));

/* One kernel instance; an array of them lies in the section hone_emu_entries of an object. */
struct hone_emu_entry {
    void (*function)(void);
    void (*call)(const char *params);   /* with the parameters at the offsets below */
    unsigned n_params, param_bytes, id; /* id: the scanner's number */
    unsigned short offset[HONE_EMU_MAX_PARAMS], size[HONE_EMU_MAX_PARAMS];
} __attribute__((aligned(64)));

enum hone_emu_op {
    HONE_EMU_SHUFFLE, /* arg: lane */
    HONE_EMU_BALLOT,
    HONE_EMU_ADD,
    HONE_EMU_MIN,
    HONE_EMU_MAX,
    HONE_EMU_MIN_SIGNED,
    HONE_EMU_MAX_SIGNED,
    HONE_EMU_AND,
    HONE_EMU_OR,
    HONE_EMU_XOR,
    HONE_EMU_MATCH_ANY,
    HONE_EMU_MATCH_ALL
};
/* What device code calls. */
unsigned long long hone_emu_warp(int op, unsigned mask, unsigned long long value, int arg);
int hone_emu_barrier(int predicate); /* in how many threads the predicate holds */
void hone_emu_grid_barrier(void);
void hone_emu_yield(void); /* others of the block may go on; nothing outside a kernel */
unsigned hone_emu_active(void);
unsigned hone_emu_live_threads(void);
void hone_emu_fail(int code, const char *what) __attribute__((noreturn));
unsigned long long hone_emu_clock(void);

/* What the driver calls. */
struct hone_emu_launch {
    const struct hone_emu_entry *entry;
    const char *params; /* 64-byte aligned */
    struct hone_emu_dim grid, block;
    unsigned shared_bytes;
    char *(*dynamic)(void); /* the object's dynamic shared memory, of this host thread */
    int is_cooperative;
    int n_workers; /* host threads */
};
/* The driver's code: 0 is good. Blocks. */
int hone_emu_execute(const struct hone_emu_launch *launch);
#pragma GCC visibility pop
/* Runs fn(arg); a fault in it gives 700. */
int hone_emu_guarded(void (*fn)(void *arg), void *arg);
/* At the end of a host thread that called one of the two. */
void hone_emu_thread_done(void);

#ifdef __cplusplus
}
#endif
#endif
