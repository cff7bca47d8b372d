/* SPDX-License-Identifier: Apache-2.0 */
/* A plan made ready for one frame, inside the arena: kernels looked up, shared memory opted in,
 * scratch allocated, literals uploaded; then blocks of calls as executable graphs, or one call
 * straight into a stream.
 *
 * A call is the plan's operations with their `after` edges. In a block the calls follow each other:
 * an operation without `after` waits for everything of the call before it, and for the module's
 * writable variables, which are put back in front of each call. The programmatic attribute (start
 * before the one before has ended) is only kept between kernels of one call.
 *
 * Errors of the driver are HONE_E_TARGET with err->native; after one the context is of no use.
 * Thread: the one that owns the context. */
#ifndef HONE_RUNNER_CUDA_GPU_GRAPH_H
#define HONE_RUNNER_CUDA_GPU_GRAPH_H

#include "tools/format/plan.h"
#include "tools/runner/cuda/device/gpu_memory.h"

struct hone_gpu_variable { /* a writable variable of the module and what it held after loading */
    hone_cu_ptr at, image;
    size_t n_bytes;
};

struct hone_gpu_program; /* opaque */

struct hone_gpu_program_spec {
    const struct hone_gpu_device *device;
    hone_cu_module module;
    const struct hone_gpu_layout *layout;      /* copied */
    const hone_cu_ptr *bases;                  /* of the tensors' ranges */
    const struct hone_plan *plan;              /* parsed and valid; borrowed for the call */
    const struct hone_gpu_variable *variables; /* borrowed as long as the program lives */
    size_t n_variables;
};
int hone_gpu_program_new(const struct hone_gpu_program_spec *spec, struct hone_gpu_program **ret,
                         struct hone_err *err);
void hone_gpu_program_free(struct hone_gpu_program *program); /* NULL is fine */

/* Fills all scratch with a pattern. */
int hone_gpu_program_poison(struct hone_gpu_program *program, uint32_t pattern,
                            hone_cu_stream stream, struct hone_err *err);
/* Puts the module's variables back. */
int hone_gpu_program_restore(struct hone_gpu_program *program, hone_cu_stream stream,
                             struct hone_err *err);
/* One call without its restores: launched one after the other, or as a graph. */
int hone_gpu_program_issue(struct hone_gpu_program *program, int64_t set, hone_cu_stream stream,
                           struct hone_err *err);

/* Operations one by one, in an order that respects their edges: for the profiler. */
size_t hone_gpu_program_n_ops(const struct hone_gpu_program *program);
bool hone_gpu_program_is_launch(const struct hone_gpu_program *program, size_t op);
int hone_gpu_program_issue_op(struct hone_gpu_program *program, size_t op, int64_t set,
                              hone_cu_stream stream, struct hone_err *err);

/* The calls of these sets in this order, each with its restores, as graphs that are launched one
 * after the other. *ret_execs belongs to the program and holds until the next call for a block; the
 * last few are kept, so that the same order costs nothing again. HONE_E_LIMIT when the block has
 * too many operations. */
struct hone_gpu_order { /* one of each of these sets, in this order */
    const int32_t *sets;
    int64_t n;
};
int hone_gpu_program_block(struct hone_gpu_program *program, struct hone_gpu_order calls,
                           hone_cu_stream stream, const hone_cu_graph_exec **ret_execs,
                           size_t *ret_n, struct hone_err *err);

#endif
