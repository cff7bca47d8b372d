/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: what a CUDA candidate's launcher does for one workload, as data.
 *
 * The launcher was recorded in a jail without a GPU (tools/runner/cuda/record/record.h); the arena replays
 * the plan as a graph. A plan is hostile input: hone_plan_parse checks every member and
 * hone_plan_check everything that needs the task and the device, before anything runs.
 *
 * Addresses are never in a plan. The parameter bytes hold zeros where a pointer goes; `pointers`
 * says which buffer and offset. Buffers are numbered: the task's inputs, its outputs, then
 * scratch. How pointers are found: the launcher is recorded twice with all buffers at other
 * addresses; words that moved with a buffer point into it, words that stayed are values, anything
 * else is refused. */
#ifndef HONE_FORMAT_PLAN_H
#define HONE_FORMAT_PLAN_H

#include "workspace/base/fields.h"

#define HONE_PLAN_FORMAT 1

struct hone_plan_dim {
    int64_t x, y, z;
};
struct hone_plan_pointer { /* 8 bytes at `at` become address(buffer) + offset */
    int64_t at;
    int64_t buffer; /* -1: a variable of the module */
    int64_t offset; /* may lie outside of the buffer: pointer arithmetic is the kernel's business */
    const char *symbol; /* lowered name, when buffer is -1 */
};
struct hone_plan_param { /* one kernel parameter inside `bytes` */
    int64_t at, size;
};
struct hone_plan_number {
    int64_t value;
};
struct hone_plan_map { /* 128 bytes at `at` become a tensor map (cuTensorMapEncodeTiled's words) */
    int64_t at;
    int64_t dtype, rank;
    int64_t buffer, offset;
    struct hone_array dims, strides, box,
        element_strides; /* of hone_plan_number; strides: rank - 1 */
    int64_t interleave, swizzle, l2_promotion, fill;
};

struct hone_plan_op {
    const char *kind;        /* launch, memset, copy, literal */
    struct hone_array after; /* of hone_plan_number: earlier ops that must have ended */
    /* launch */
    const char *kernel;                        /* lowered name in the module */
    struct hone_plan_dim grid, block, cluster; /* cluster 0: none */
    int64_t shared_bytes;                      /* dynamic */
    int64_t shared_carveout;                   /* percent asked for; -1: not asked */
    bool is_cooperative, is_programmatic;
    struct hone_array params;   /* of hone_plan_param, in order */
    const char *bytes;          /* hex: the parameter buffer; literal: what is written */
    struct hone_array pointers; /* of hone_plan_pointer, ascending; launch and literal */
    struct hone_array maps;     /* of hone_plan_map, ascending */
    /* memset, copy, literal: n bytes at (buffer, offset) or symbol + offset */
    struct hone_plan_pointer to, from; /* at unused */
    int64_t n_bytes;
    int64_t value, element_bytes; /* memset: of 1, 2 or 4 bytes */
    int64_t line;                 /* of the launch in the source; 0: unknown */
};

struct hone_plan {
    int64_t format;
    const char *task, *workload;
    int64_t n_tensors;         /* inputs + outputs */
    struct hone_array scratch; /* of hone_plan_number: bytes of each buffer */
    struct hone_array ops;     /* of hone_plan_op */
    struct hone_strs notes;    /* "cudaDeviceSynchronize has no effect here" */
};

extern const struct hone_field hone_plan_fields[];
extern const size_t hone_plan_n_fields;

/* As JSON grid is grid_x, grid_y, grid_z, block and cluster alike, to and from are to_buffer,
 * to_offset, to_symbol. */

/* HONE_E_ARG / HONE_E_LIMIT with the place. Strings and arrays in the pool. */
int hone_plan_parse(const char *text, size_t len, struct hone_pool *pool, struct hone_plan *ret,
                    struct hone_err *err);
char *hone_plan_print(const struct hone_plan *plan); /* owned; canonical: equal plans print equal */
/* What hone_plan_parse checks beyond types and ranges; for plans that were made here. */
int hone_plan_valid(const struct hone_plan *plan, struct hone_err *err);
/* Do two plans do the same, scratch sizes and notes aside? First difference in why
 * (may be NULL). */
bool hone_plan_equal(const struct hone_plan *a, const struct hone_plan *b, char why[200]);
/* "tiled<16> <<<(64, 64), (16, 16)>>> shared 2048; memset 4 KiB" one line an op,
 * for people; owned. */
char *hone_plan_describe(const struct hone_plan *plan);

/* What launches are held against. */
struct hone_plan_device {
    int64_t sm_count, threads_per_block, threads_per_sm, shared_per_block_optin, shared_per_sm,
        grid_x, grid_y, grid_z, major, minor, memory_bytes;
};
struct hone_plan_kernel { /* facts of the module's kernel */
    const char *name;
    int64_t n_params, param_bytes; /* bytes: of the parameters alone, without padding */
    int64_t registers, static_shared_bytes, max_threads;
    int64_t blocks_per_sm; /* at the launch's shape where known; 0: unknown */
};
/* Blocks of this shape that one SM holds at a time: warps, registers, shared memory and block
 * slots. Unknown facts of the kernel (0) bound nothing. */
int64_t hone_plan_occupancy(const struct hone_plan_kernel *kernel,
                            const struct hone_plan_device *device, int64_t block_threads,
                            int64_t dynamic_shared);
/* What cuTensorMapEncodeTiled refuses, said with the numbers: "mapA: innermost box 128 x 2 bytes =
 * 256 > swizzle span 128". address: of the tensor, or its offset in a buffer. */
int hone_plan_map_check(const struct hone_plan_map *map, const char *name, uint64_t address,
                        struct hone_err *err);
/* "tiled<16>" for _Z5tiledILi16EEvPf; "each<...5f3a>" where the arguments are not that simple, the
 * name itself where nothing is. */
void hone_plan_pretty(const char *lowered, char *ret, size_t size);

/* Bounds of buffers (tensor_bytes: inputs then outputs), inputs that are written by memset or copy,
 * launches that the device would refuse (grid or block 0, too much shared memory, cooperative grids
 * that cannot be resident), kernels that are not in the module, parameters of other sizes.
 * HONE_E_ARG with the numbers and a "fix:" sentence. device NULL: what needs none. */
int hone_plan_check(const struct hone_plan *plan, const int64_t *tensor_bytes, int64_t n_inputs,
                    const struct hone_plan_kernel *kernels, size_t n_kernels,
                    const struct hone_plan_device *device, struct hone_err *err);

#endif
