/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the emulated driver. Every entry point begins with emu_enter. */
#ifndef HONE_TESTS_EMULATOR_DRIVER_H
#define HONE_TESTS_EMULATOR_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda_emulator/execute.h"
#include "tools/runner/cuda/driver/cuda_api.h"

#define EMU_API __attribute__((visibility("default")))

/* cuMemAlloc is written here under that name; its symbol is the table's. */
#define EMU_DECLARE(name_, symbol_, args_) EMU_API hone_cu_result cu##name_ args_ __asm__(symbol_);
HONE_CUDA_REQUIRED(EMU_DECLARE)
HONE_CUDA_OPTIONAL(EMU_DECLARE)

enum { /* CUresult, those that hone does not tell apart */
       EMU_NOT_INITIALIZED = 3,
       EMU_INVALID_DEVICE = 101,
       EMU_INVALID_CONTEXT = 201,
       EMU_INVALID_HANDLE = 400,
       EMU_INVALID_CLUSTER = 912
};

/* Zeroed memory of a handle. Like a real driver's it is no leak when a process ends without giving
 * it back: LeakSanitizer, where there is one, is told. Aborts without memory. */
void *emu_handle(size_t size);

/* HONE_EMULATOR_<name>, or the default. */
uint64_t emu_setting(const char *name, uint64_t or_this);
/* The context's state as the code of the call: not initialised, no context, broken by a fault. */
hone_cu_result emu_enter(void);
hone_cu_result emu_device_attribute(int attribute, int *ret);
void emu_break(hone_cu_result code); /* the context, for good */
bool emu_is_broken(void);

/* memory: is every byte of the range mapped device (or pinned host) memory? */
bool emu_is_memory(uint64_t at, size_t n);
bool emu_is_pinned(const void *at, size_t n);
/* Variables of modules are device memory as well. */
void emu_memory_note(uint64_t base, size_t size);
void emu_memory_forget(uint64_t base);

/* queue: work of a stream, in order, in a thread of the stream */
struct emu_work {
    hone_cu_result (*run)(void *arg); /* other than 0 breaks the context */
    void (*drop)(void *arg);          /* may be NULL */
    void *arg;                        /* moved */
};
hone_cu_result emu_submit(hone_cu_stream stream, struct emu_work work);
hone_cu_result emu_wait_stream(hone_cu_stream stream);
void emu_wait_all(void);

/* module: a launch, checked and with its parameters copied; owned. */
struct emu_kernel_call;
hone_cu_result emu_call_new(const struct hone_cu_launch_config *config, hone_cu_function func,
                            void **params, void **extra, struct emu_kernel_call **ret);
hone_cu_result emu_call_set(struct emu_kernel_call *call, int id,
                            const union hone_cu_launch_value *value);
hone_cu_result emu_call_run(void *call);
void emu_call_free(void *call);

/* memory: the work of copies and fills, guarded */
struct emu_transfer {
    uint64_t to, from;
    size_t n; /* bytes; elements when it fills */
    unsigned value, element_bytes;
    bool is_fill, has_copy; /* from is a copy that is freed */
};
hone_cu_result emu_transfer_run(void *transfer);
void emu_transfer_free(void *transfer);

#endif
