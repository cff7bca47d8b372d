/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder (in the jail) and its caller agree on: the spec as JSON in one memory file, and
 * one slot per call of the launcher in another: a head, then records in the order of the calls.
 * Everything in a slot is hostile; how a call's process ended stands in a third file.
 *
 * Addresses. Buffer i of a run is centred in an interval of its own; the intervals of the two
 * runs lie apart and in opposite order, so that neither an address nor a difference of two
 * addresses is the same in both. None is ever mapped: the host faults when it looks. */
#ifndef HONE_RUNNER_CUDA_RECORD_ABI_H
#define HONE_RUNNER_CUDA_RECORD_ABI_H

#include "tools/runner/cuda/record/record_words.h"
#include "workspace/base/fields.h"
#include "workspace/base/limits.h"

#define HONE_RECORD_SPEC_FD  3
#define HONE_RECORD_SLOTS_FD 4
#define HONE_RECORD_ENDS_FD  5
#define HONE_RECORD_FLOATS   8 /* floating scalars of a launcher */
#define HONE_RECORD_RUNS     2
#define HONE_RECORD_SLOT     (2ll << 20)

#define HONE_RECORD_TENSORS   HONE_LIMIT_TENSORS
#define HONE_RECORD_SYMBOLS   64
#define HONE_RECORD_INTERVALS (HONE_RECORD_TENSORS + HONE_LIMIT_PLAN_SCRATCH + HONE_RECORD_SYMBOLS)
#define HONE_RECORD_SPAN      (1ull << 37)
#define HONE_RECORD_BASE0     0x110000000000ull
#define HONE_RECORD_BASE1     0x2a0000000000ull
_Static_assert(HONE_RECORD_BASE0 + HONE_RECORD_INTERVALS * HONE_RECORD_SPAN <= HONE_RECORD_BASE1,
               "the two runs' intervals lie apart");

static inline uint64_t hone_record_address(int run, size_t interval)
{
    size_t place = run == 0 ? interval : HONE_RECORD_INTERVALS - 1 - interval;
    return (run == 0 ? HONE_RECORD_BASE0 : HONE_RECORD_BASE1) + place * HONE_RECORD_SPAN +
           HONE_RECORD_SPAN / 2;
}

/* false: the address is in no interval of this run. */
static inline bool hone_record_find(int run, uint64_t address, size_t *ret_interval,
                                    int64_t *ret_offset)
{
    uint64_t base = run == 0 ? HONE_RECORD_BASE0 : HONE_RECORD_BASE1;
    if (address < base || address - base >= HONE_RECORD_INTERVALS * HONE_RECORD_SPAN)
        return false;
    size_t place = (size_t)((address - base) / HONE_RECORD_SPAN);
    *ret_interval = run == 0 ? place : HONE_RECORD_INTERVALS - 1 - place;
    *ret_offset = (int64_t)(address - hone_record_address(run, *ret_interval));
    return true;
}

enum hone_record_status {
    HONE_RECORD_UNBEGUN,
    HONE_RECORD_RUNNING,
    HONE_RECORD_DONE,
    HONE_RECORD_REFUSED /* refusal says why */
};

struct hone_record_map_record {
    uint64_t address, dims[5], strides[4];
    uint32_t box[5], element_strides[5];
    int32_t dtype, interleave, swizzle, l2_promotion, fill;
    uint32_t rank;
};

struct hone_record_head {
    uint32_t status, asked_facts;
    uint32_t n_records, pad;
    uint64_t used; /* bytes of records behind the head */
    uint64_t fault_address;
    struct hone_record_said refusal;
    struct hone_record_said error;             /* of the last call that returned one */
    struct hone_record_map_record refused_map; /* where the refusal is about one */
};

/* How a call's process ended, as the recorder's own process saw it: in a third memory file, which
 * the launcher's process has not got. */
struct hone_record_ended {
    int32_t is_begun, has_ended; /* not ended: its time was over */
    int32_t exit_status, exit_signal;
};

/* As the driver would take it; err NULL: only whether. */
int hone_record_map_check(const struct hone_record_map_record *m, struct hone_err *err);

enum hone_record_kind {
    HONE_RECORD_LAUNCH = 1,
    HONE_RECORD_MEMSET,
    HONE_RECORD_COPY,
    HONE_RECORD_LITERAL,
    HONE_RECORD_SCRATCH,
    HONE_RECORD_SYMBOL,
    HONE_RECORD_KERNEL,
    HONE_RECORD_MAP,
    HONE_RECORD_NOTE
};

/* A record: this, `fixed` bytes of the struct of its kind, n_after operation numbers (uint32_t),
 * n_params pairs of uint32_t, n_bytes bytes; padded to 8. */
struct hone_record_record {
    uint32_t kind, total; /* this head and padding included */
    uint32_t n_after, n_params, n_bytes, pad;
};
struct hone_record_launch_record { /* bytes: parameters; params: at, size */
    uint32_t kernel;               /* number of its KERNEL record */
    uint32_t grid[3], block[3], cluster[3];
    uint64_t shared;
    int32_t carveout, line;
    uint32_t is_cooperative, is_programmatic;
};
struct hone_record_memory_record { /* MEMSET, COPY, LITERAL (bytes), SCRATCH (n) */
    uint64_t to, from, n;
    uint32_t value, element;
};
struct hone_record_name_record { /* KERNEL, SYMBOL: bytes are symbol NUL expression NUL expression
                                  * with its type NUL; NOTE: text
                                  */
    uint32_t is_local;           /* static or in an anonymous namespace, or a template */
    uint32_t pad;
};
/* A tensor map in the launcher's memory: which MAP record it is. */
#define HONE_RECORD_MAP_MAGIC 0x50414d454e4f4821ull
struct hone_record_map_marker {
    uint64_t magic, number, inverse; /* inverse: ~number */
    uint64_t rest[13];               /* magic again */
};

/* The spec. */
struct hone_record_call {
    const char *workload;
    struct hone_i64s axes;
    struct hone_f64s scalars;
};
struct hone_record_kernel_fact {
    const char *name;
    int64_t registers, static_shared_bytes, max_threads;
    struct hone_i64s params; /* place and size of each, in turn; nvcc's lane alone */
};
struct hone_record_job {
    const char *symbol;
    int64_t n_inputs, n_outputs;
    struct hone_strs tensors;      /* names */
    struct hone_strs scalar_types; /* dtype words */
    struct hone_array calls;       /* of hone_record_call */
    struct hone_array kernels;     /* of hone_record_kernel_fact */
    bool is_nvcc; /* the object was made by nvcc: its kernels register themselves */
    int64_t timeout_ms;
    int64_t sm_count, threads_per_block, threads_per_sm, shared_per_block_optin, shared_per_sm,
        grid_x, grid_y, grid_z, major, minor, device_bytes;
};
extern const struct hone_field hone_record_job_fields[];
extern const size_t hone_record_job_n_fields;

#endif
