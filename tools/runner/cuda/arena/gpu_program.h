/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of gpu_program.c (plan to operations) and gpu_graph.c (operations to graphs). Nobody else
 * includes this. */
#ifndef HONE_RUNNER_CUDA_GPU_PROGRAM_H
#define HONE_RUNNER_CUDA_GPU_PROGRAM_H

#include "tools/runner/cuda/arena/gpu_graph.h"

#define HONE_GPU_MAP_RANK 5
#define HONE_GPU_GRAPHS   128 /* that are kept */

enum hone_gpu_op_kind { HONE_GPU_LAUNCH, HONE_GPU_MEMSET, HONE_GPU_COPY, HONE_GPU_LITERAL };

struct hone_gpu_place { /* an address once the set is known */
    int64_t buffer;
    hone_cu_ptr symbol; /* when buffer is -1 */
    int64_t offset;
};
struct hone_gpu_patch {
    size_t at;
    struct hone_gpu_place place;
};
struct hone_gpu_map_patch {
    size_t at;
    struct hone_gpu_place place;
    int dtype, interleave, swizzle, l2, fill;
    unsigned rank;
    unsigned long long dims[HONE_GPU_MAP_RANK], strides[HONE_GPU_MAP_RANK];
    unsigned box[HONE_GPU_MAP_RANK], element_strides[HONE_GPU_MAP_RANK];
};

struct hone_gpu_plan_op {
    enum hone_gpu_op_kind kind;
    struct hone_cu_kernel_params shape; /* params points to `argv` of the program */
    unsigned cluster_x, cluster_y, cluster_z;
    bool is_cooperative, is_programmatic;
    unsigned char *bytes;
    size_t n_bytes_param; /* of bytes */
    size_t *param_at;
    size_t n_params;
    struct hone_gpu_patch *patches;
    size_t n_patches;
    struct hone_gpu_map_patch *maps;
    size_t n_maps;
    struct hone_gpu_place to, from;
    size_t n_bytes;
    unsigned value, element_bytes;
    size_t literal_at; /* in a set's literals */
    size_t *after;
    size_t n_after;
    bool is_leaf; /* nothing of the call waits for its end */
};

struct hone_gpu_cached {
    hone_cu_graph_exec exec;
    int32_t *sets;
    int64_t n;
    bool has_restores;
    uint64_t hash;
    int64_t n_nodes;
    uint64_t used; /* number of the block that used it last */
};

struct hone_gpu_program {
    const struct hone_gpu_device *device;
    struct hone_gpu_layout layout;
    hone_cu_ptr bases[HONE_GPU_MAX_TENSORS];
    const struct hone_gpu_variable *variables;
    size_t n_variables;
    struct hone_pool *pool;
    struct hone_gpu_plan_op *ops;
    size_t n_ops;
    struct hone_gpu_range *scratch;
    size_t *scratch_bytes;
    size_t n_scratch;
    hone_cu_ptr literals; /* [set][literal_bytes] */
    size_t literal_bytes;
    bool is_direct;
    unsigned char *work; /* parameter bytes of one launch */
    void **argv;
    hone_cu_graph_node *nodes, *edges_from, *edges_to, *heads, *leaves; /* of one call */
    struct hone_cu_edge *edges;
    struct hone_gpu_cached cache[HONE_GPU_GRAPHS];
    uint64_t n_blocks;
    hone_cu_graph_exec *execs; /* of the last block */
    size_t cap_execs;
};

/* Where a place of the plan lies for one set. */
hone_cu_ptr hone_gpu_address(const struct hone_gpu_program *program,
                             const struct hone_gpu_place *place, int64_t set);
/* Where a copy or literal reads from. */
hone_cu_ptr hone_gpu_source(const struct hone_gpu_program *program,
                            const struct hone_gpu_plan_op *op, int64_t set);
/* A launch's shape with this set's parameters; valid until the next one is asked for. */
int hone_gpu_launch_params(struct hone_gpu_program *program, const struct hone_gpu_plan_op *op,
                           int64_t set, struct hone_cu_kernel_params *ret, struct hone_err *err);
/* All operations of one call into a stream. */
int hone_gpu_issue_ops(struct hone_gpu_program *program, int64_t set, hone_cu_stream stream,
                       struct hone_err *err);
void hone_gpu_graphs_drop(struct hone_gpu_program *program);

#endif
