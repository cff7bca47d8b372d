/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the recorder: the state of one call, and what the exported functions
 * (record_exports.h) are made of. In the child of a jail; one thread.
 *
 * The runtime's functions have no context argument, so the state hangs off one pointer
 * (hone_recorder), set before foreign code runs. Refusing ends the process: the message is
 * in the slot. */
#ifndef HONE_RUNNER_CUDA_RECORD_STATE_H
#define HONE_RUNNER_CUDA_RECORD_STATE_H

#include "tools/format/plan.h"
#include "tools/format/verdict.h"
#include "tools/runner/cuda/record/record_abi.h"
#include "tools/runner/cuda/record/record_exports.h"

#define HONE_RECORD_KERNELS    512
#define HONE_RECORD_EVENTS     4096
#define HONE_RECORD_GIVEN      256 /* arguments that are checked for their range */
#define HONE_RECORD_PUSHED     16  /* launches whose arguments are being evaluated */
#define HONE_RECORD_REGISTERED (HONE_LIMIT_CUDA_KERNELS + HONE_LIMIT_CUDA_VARIABLES)

/* Order: per stream the number (from 1) of the last operation on it that comes before. */
struct hone_record_clock {
    uint32_t v[HONE_LIMIT_PLAN_STREAMS];
};

struct hone_record_stream {
    bool is_blocking; /* ordered with what is launched on stream 0 */
    struct hone_record_clock clock;
    uint32_t last; /* operation */
};

struct hone_record_kernel {
    const char *symbol, *expression;
    const char *pretty; /* demangled; nvcc's lane: its parameters' types are read from it */
    const char *names;  /* of parameters, nvcc's lane: "float const*|int"; NULL: unknown */
    const struct hone_record_kernel_fact *fact; /* NULL: unknown */
    int64_t max_dynamic;                        /* set by cudaFuncSetAttribute; 0: not */
    int32_t carveout;
};

struct hone_record_variable {
    const void *at;
    const char *symbol;
    int64_t bytes;
};

struct hone_record_param {
    const void *at;
    size_t size, align;
    int kind; /* 0 other, 1 signed, 2 unsigned, 3 pointer: as in host_prelude.hpp */
};

struct hone_record_registered { /* nvcc's lane: what the object said of itself when loaded */
    const void *host;
    const char *device; /* name in the cubin */
    int64_t bytes;      /* of a variable */
    bool is_variable;
};

struct hone_record_pushed { /* nvcc's lane: a launch between its two halves */
    struct hone_dim3 grid, block;
    size_t shared;
    void *stream;
};

struct hone_record_shape { /* of one launch */
    long long grid[3], block[3];
    uint32_t cluster[3];
    uint64_t shared;
    void *stream;
    int line;
    bool is_cooperative, is_programmatic;
};

struct hone_recorder {
    const struct hone_record_job *job;
    const struct hone_record_call *call;
    struct hone_record_head *head;
    char *records; /* behind the head */
    size_t room;
    int run;
    struct hone_record_elf *elf;
    void *libcxx_demangle;
    struct hone_plan_device device;

    struct hone_record_stream streams[HONE_LIMIT_PLAN_STREAMS];
    size_t n_streams; /* 0 is the launcher's own */
    struct hone_record_clock host, null_stream;
    struct hone_record_clock *events; /* HONE_RECORD_EVENTS */
    size_t n_events;
    struct hone_record_clock *op_clocks; /* HONE_LIMIT_PLAN_OPS */
    uint32_t n_ops;

    struct hone_record_kernel kernels[HONE_RECORD_KERNELS];
    size_t n_kernels;
    struct hone_record_variable variables[HONE_RECORD_SYMBOLS];
    size_t n_variables;
    int64_t scratch[HONE_LIMIT_PLAN_SCRATCH];
    bool is_freed[HONE_LIMIT_PLAN_SCRATCH];
    size_t n_scratch;
    size_t n_maps, n_notes;
    int64_t literal_bytes;

    /* between hone_record_conf and hone_record_stub */
    struct hone_record_shape pending;
    bool is_pending;
    long long given[HONE_RECORD_GIVEN];
    bool is_given[HONE_RECORD_GIVEN], is_given_unsigned[HONE_RECORD_GIVEN];
    const char *given_text[HONE_RECORD_GIVEN];
    /* asking a stub for its parameters */
    bool is_asking;
    struct hone_record_param asked[HONE_LIMIT_PLAN_PARAMS];
    size_t n_asked;
    const char *asked_names;

    /* nvcc's lane (record_register.c) */
    struct hone_record_registered *registered; /* HONE_RECORD_REGISTERED */
    size_t n_registered;
    struct hone_record_pushed pushed[HONE_RECORD_PUSHED];
    size_t n_pushed;

    int last_error;
};

extern struct hone_recorder *hone_recorder;

/* Error numbers of the runtime that are given here. */
enum {
    HONE_RT_SUCCESS = 0,
    HONE_RT_INVALID_VALUE = 1,
    HONE_RT_OUT_OF_MEMORY = 2,
    HONE_RT_INVALID_CONFIGURATION = 9,
    HONE_RT_INVALID_SYMBOL = 13,
    HONE_RT_INVALID_FUNCTION = 98,
    HONE_RT_INVALID_DEVICE = 101,
    HONE_RT_INVALID_HANDLE = 400,
    HONE_RT_NOT_READY = 600,
    HONE_RT_NOT_SUPPORTED = 801
};

/* Says a line of record_words.h's list, which has its reason, and ends the process. */
HONE_NORETURN void hone_record_refuse(const char *fmt, ...) HONE_PRINTF(1, 2);
/* Returns the error from a runtime call; the line of the list is shown when the launcher gives up
 * over it. */
int hone_record_error(int code, const char *fmt, ...) HONE_PRINTF(2, 3);
void hone_record_note(const char *text);

/* Appends a record and returns the place of its struct, zeroed, with room for the rest behind. */
struct hone_record_out {
    void *fixed;
    uint32_t *after, *params;
    char *bytes;
};
struct hone_record_out hone_record_add(enum hone_record_kind kind, size_t fixed, size_t n_after,
                                       size_t n_params, size_t n_bytes);

/* Streams. The number of an operation about to be recorded on this handle,
 * with its predecessors. */
size_t hone_record_order(const void *stream, uint32_t after[HONE_LIMIT_PLAN_STREAMS]);
void hone_record_check_joined(void);
/* Handles of streams: HONE_RECORD_HANDLE + 16 * number. Refuses unknown ones. */
#define HONE_RECORD_HANDLE       0x90000u
#define HONE_RECORD_EVENT_HANDLE 0xa0000u
size_t hone_record_stream_of(const void *handle);
/* The host, or a stream, goes on only after what the clock names. */
void hone_record_wait_host(const struct hone_record_clock *clock);
void hone_record_wait_stream(size_t stream, const struct hone_record_clock *clock);

/* Is it device memory (of this run)? */
bool hone_record_is_device(const void *at);
bool hone_record_is_mapped(const void *at);
bool hone_record_is_marker(const struct hone_record_map_marker *marker, size_t n_maps);
const char *hone_record_buffer_name(const void *at, char *ret, size_t size);

struct hone_record_kernel *hone_record_kernel_of(const void *pc);
int hone_record_put_launch(struct hone_record_kernel *kernel, const struct hone_record_shape *shape,
                           const struct hone_record_param *params, size_t n, const char *names);
uint64_t hone_record_variable_address(const void *symbol, int64_t *ret_bytes);

/* nvcc's lane: the name in the cubin of what was registered around this address; NULL: nothing. */
const char *hone_record_registered_name(const void *at, bool is_variable, int64_t *ret_bytes);
/* Fills `asked` with the parameters that the cubin tells. */
void hone_record_ask_facts(struct hone_record_kernel *kernel);

/* The object's symbols (record_elf.c). */
struct hone_record_elf;
struct hone_record_elf *hone_record_elf_open(const char *path, uint64_t base);
/* The symbol around an address: its name and size, is_local for static ones. NULL: none. */
const char *hone_record_elf_find(const struct hone_record_elf *elf, const void *at,
                                 bool is_function, int64_t *ret_bytes, bool *ret_local);

#endif
