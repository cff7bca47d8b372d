/* SPDX-License-Identifier: Apache-2.0 */
/* Operations to graphs.
 *
 * A block is cut into graphs of at most CHUNK_NODES operations. Where the order of sets repeats,
 * the cuts lie on the period, so that one graph serves all of them. Graphs are kept by their order
 * of sets. */
#include "tools/runner/cuda/arena/gpu_program.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_NODES  16384
#define MAX_NODES    (1 << 20)         /* of one block */
#define CACHED_NODES (4 * CHUNK_NODES) /* beyond these the oldest graphs go */

static void drop(const struct hone_gpu_program *p, struct hone_gpu_cached *entry)
{
    if (entry->exec != NULL)
        (void)p->device->cu->GraphExecDestroy(entry->exec);
    free(entry->sets);
    *entry = (struct hone_gpu_cached){.n = 0};
}

void hone_gpu_graphs_drop(struct hone_gpu_program *p)
{
    for (size_t i = 0; i < HONE_GPU_GRAPHS; i++)
        drop(p, &p->cache[i]);
}

static struct hone_cu_memcpy3d copy_of(hone_cu_ptr to, hone_cu_ptr from, size_t n_bytes)
{
    return (struct hone_cu_memcpy3d){.src_type = HONE_CU_MEMTYPE_DEVICE,
                                     .src_device = from,
                                     .src_pitch = n_bytes,
                                     .src_height = 1,
                                     .dst_type = HONE_CU_MEMTYPE_DEVICE,
                                     .dst_device = to,
                                     .dst_pitch = n_bytes,
                                     .dst_height = 1,
                                     .width = n_bytes,
                                     .height = 1,
                                     .depth = 1};
}

static int set_node_attributes(const struct hone_gpu_program *p, const struct hone_gpu_plan_op *op,
                               hone_cu_graph_node node, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    union hone_cu_launch_value value;
    int code = 0;
    if (op->cluster_x > 0) {
        memset(&value, 0, sizeof value);
        value.cluster.x = op->cluster_x;
        value.cluster.y = op->cluster_y;
        value.cluster.z = op->cluster_z;
        code =
            hone_cu_check(cu, cu->GraphKernelNodeSetAttribute(node, HONE_CU_LAUNCH_CLUSTER, &value),
                          "setting a cluster's size", err);
    }
    if (code == 0 && op->is_cooperative) {
        memset(&value, 0, sizeof value);
        value.cooperative = 1;
        code = hone_cu_check(
            cu, cu->GraphKernelNodeSetAttribute(node, HONE_CU_LAUNCH_COOPERATIVE, &value),
            "making a launch cooperative", err);
    }
    return code;
}

static int add_node(struct hone_gpu_program *p, hone_cu_graph graph,
                    const struct hone_gpu_plan_op *op, int64_t set, const hone_cu_graph_node *after,
                    size_t n_after, hone_cu_graph_node *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    if (op->kind == HONE_GPU_LAUNCH) {
        struct hone_cu_kernel_params params;
        int code = hone_gpu_launch_params(p, op, set, &params, err);
        if (code == 0)
            code = hone_cu_check(cu, cu->GraphAddKernelNode(ret, graph, after, n_after, &params),
                                 "planning a launch", err);
        return code < 0 ? code : set_node_attributes(p, op, *ret, err);
    }
    hone_cu_ptr to = hone_gpu_address(p, &op->to, set);
    if (op->kind == HONE_GPU_MEMSET) {
        const struct hone_cu_memset_params params = {.dst = to,
                                                     .value = op->value,
                                                     .element_size = op->element_bytes,
                                                     .width = op->n_bytes / op->element_bytes,
                                                     .height = 1};
        return hone_cu_check(
            cu, cu->GraphAddMemsetNode(ret, graph, after, n_after, &params, p->device->ctx),
            "planning a memset", err);
    }
    const struct hone_cu_memcpy3d params = copy_of(to, hone_gpu_source(p, op, set), op->n_bytes);
    return hone_cu_check(
        cu, cu->GraphAddMemcpyNode(ret, graph, after, n_after, &params, p->device->ctx),
        "planning a copy", err);
}

/* Only behind kernels can a kernel start early. */
static bool can_start_early(const struct hone_gpu_program *p, const struct hone_gpu_plan_op *op)
{
    if (!op->is_programmatic || p->device->cu->GraphAddDependencies == NULL)
        return false;
    for (size_t i = 0; i < op->n_after; i++)
        if (p->ops[op->after[i]].kind != HONE_GPU_LAUNCH)
            return false;
    return true;
}

static int add_op(struct hone_gpu_program *p, hone_cu_graph graph, size_t index, int64_t set,
                  size_t n_heads, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    const struct hone_gpu_plan_op *op = &p->ops[index];
    bool is_early = can_start_early(p, op);
    const hone_cu_graph_node *after = op->n_after == 0 ? p->heads : p->edges_from;
    size_t n_after = op->n_after == 0 ? n_heads : op->n_after;
    for (size_t i = 0; i < op->n_after; i++)
        p->edges_from[i] = p->nodes[op->after[i]];
    int code = add_node(p, graph, op, set, after, is_early ? 0 : n_after, &p->nodes[index], err);
    if (code < 0 || !is_early)
        return code;
    for (size_t i = 0; i < op->n_after; i++) {
        p->edges_to[i] = p->nodes[index];
        p->edges[i] = (struct hone_cu_edge){.from_port = HONE_CU_PORT_PROGRAMMATIC,
                                            .type = HONE_CU_EDGE_PROGRAMMATIC};
    }
    return hone_cu_check(
        cu, cu->GraphAddDependencies(graph, p->edges_from, p->edges_to, p->edges, op->n_after),
        "letting a kernel start early", err);
}

/* One call behind p->leaves[n_leaves] of the call before; p->leaves becomes its own. */
static int add_call(struct hone_gpu_program *p, hone_cu_graph graph, int64_t set, bool has_restores,
                    size_t *n_leaves, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    size_t n_heads = has_restores ? p->n_variables : 0;
    for (size_t i = 0; i < n_heads; i++) {
        const struct hone_gpu_variable *v = &p->variables[i];
        const struct hone_cu_memcpy3d params = copy_of(v->at, v->image, v->n_bytes);
        int code = hone_cu_check(cu,
                                 cu->GraphAddMemcpyNode(&p->heads[i], graph, p->leaves, *n_leaves,
                                                        &params, p->device->ctx),
                                 "planning to put a variable back", err);
        if (code < 0)
            return code;
    }
    if (n_heads == 0) {
        n_heads = *n_leaves;
        memcpy(p->heads, p->leaves, n_heads * sizeof *p->heads);
    }
    for (size_t i = 0; i < p->n_ops; i++) {
        int code = add_op(p, graph, i, set, n_heads, err);
        if (code < 0)
            return code;
    }
    size_t n = 0;
    for (size_t i = 0; i < p->n_ops; i++)
        if (p->ops[i].is_leaf)
            p->leaves[n++] = p->nodes[i];
    if (p->n_ops == 0) { /* a launcher that does nothing: only the restores */
        n = n_heads;
        memcpy(p->leaves, p->heads, n * sizeof *p->leaves);
    }
    *n_leaves = n;
    return 0;
}

static int build(struct hone_gpu_program *p, const int32_t *sets, int64_t n_calls,
                 bool has_restores, hone_cu_graph_exec *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    hone_cu_graph graph = NULL;
    int code = hone_cu_check(cu, cu->GraphCreate(&graph, 0), "making a graph", err);
    if (code < 0)
        return code;
    size_t n_leaves = 0;
    for (int64_t i = 0; i < n_calls && code == 0; i++)
        code = add_call(p, graph, sets[i], has_restores, &n_leaves, err);
    if (code == 0)
        code = hone_cu_check(cu, cu->GraphInstantiate(ret, graph, 0), "instantiating a graph", err);
    (void)cu->GraphDestroy(graph);
    return code;
}

static uint64_t hash_of(const int32_t *sets, int64_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < n; i++)
        hash = (hash ^ (uint64_t)(uint32_t)sets[i]) * 0x100000001b3u;
    return hash;
}

/* A place for n_nodes more: empty, or the one that was not used for longest. Graphs of the block
 * that is being made stay. */
static struct hone_gpu_cached *make_room(struct hone_gpu_program *p, int64_t n_nodes)
{
    for (;;) {
        int64_t total = n_nodes;
        struct hone_gpu_cached *empty = NULL, *oldest = NULL;
        for (size_t i = 0; i < HONE_GPU_GRAPHS; i++) {
            struct hone_gpu_cached *entry = &p->cache[i];
            total += entry->n_nodes;
            if (entry->exec == NULL)
                empty = entry;
            else if (entry->used != p->n_blocks && (oldest == NULL || entry->used < oldest->used))
                oldest = entry;
        }
        if (empty != NULL && (total <= CACHED_NODES || oldest == NULL))
            return empty;
        if (oldest == NULL)
            return NULL;
        drop(p, oldest);
    }
}

static int get_exec(struct hone_gpu_program *p, struct hone_gpu_order calls, bool has_restores,
                    hone_cu_stream stream, hone_cu_graph_exec *ret, struct hone_err *err)
{
    const int32_t *sets = calls.sets;
    int64_t n = calls.n;
    const struct hone_cuda *cu = p->device->cu;
    uint64_t hash = hash_of(sets, n);
    size_t bytes = (size_t)n * sizeof *sets;
    for (size_t i = 0; i < HONE_GPU_GRAPHS; i++) {
        struct hone_gpu_cached *entry = &p->cache[i];
        if (entry->exec != NULL && entry->hash == hash && entry->n == n &&
            entry->has_restores == has_restores && memcmp(entry->sets, sets, bytes) == 0) {
            entry->used = p->n_blocks;
            *ret = entry->exec;
            return 0;
        }
    }
    int64_t n_nodes = n * (int64_t)(p->n_ops + p->n_variables);
    struct hone_gpu_cached *entry = make_room(p, n_nodes);
    if (entry == NULL)
        return hone_fail(err, HONE_E_LIMIT, "a block of too many different graphs");
    hone_cu_graph_exec exec = NULL;
    int code = build(p, sets, n, has_restores, &exec, err);
    if (code == 0 && cu->GraphUpload != NULL)
        code = hone_cu_check(cu, cu->GraphUpload(exec, stream), "uploading a graph", err);
    if (code < 0)
        return code;
    *entry = (struct hone_gpu_cached){.exec = exec,
                                      .sets = hone_malloc(bytes + 1),
                                      .n = n,
                                      .has_restores = has_restores,
                                      .hash = hash,
                                      .n_nodes = n_nodes,
                                      .used = p->n_blocks};
    memcpy(entry->sets, sets, bytes);
    *ret = exec;
    return 0;
}

int hone_gpu_program_issue(struct hone_gpu_program *p, int64_t set, hone_cu_stream stream,
                           struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    if (p->n_ops == 0)
        return 0;
    if (p->is_direct)
        return hone_gpu_issue_ops(p, set, stream, err);
    int32_t one = (int32_t)set;
    hone_cu_graph_exec exec = NULL;
    p->n_blocks++;
    int code = get_exec(p, (struct hone_gpu_order){&one, 1}, false, stream, &exec, err);
    return code < 0 ? code
                    : hone_cu_check(cu, cu->GraphLaunch(exec, stream), "launching a graph", err);
}

/* Calls in one graph: a whole number of periods where the order of sets repeats. */
static int64_t chunk_of(const struct hone_gpu_program *p, const int32_t *sets, int64_t n_calls)
{
    int64_t n_nodes = (int64_t)(p->n_ops + p->n_variables);
    int64_t chunk = hone_max_i64(CHUNK_NODES / n_nodes, 1), period = p->layout.n_sets;
    if (chunk >= n_calls || period > chunk)
        return hone_min_i64(chunk, n_calls);
    for (int64_t i = period; i < n_calls; i++)
        if (sets[i] != sets[i - period])
            return chunk;
    return chunk / period * period;
}

int hone_gpu_program_block(struct hone_gpu_program *p, struct hone_gpu_order calls,
                           hone_cu_stream stream, const hone_cu_graph_exec **ret_execs,
                           size_t *ret_n, struct hone_err *err)
{
    int64_t n_nodes = (int64_t)(p->n_ops + p->n_variables), n_calls = calls.n;
    *ret_n = 0;
    *ret_execs = NULL;
    if (n_nodes == 0 || n_calls == 0)
        return 0;
    if (n_calls > MAX_NODES / n_nodes)
        return hone_fail(err, HONE_E_LIMIT,
                         "%lld calls of %lld operations are too many for one block",
                         (long long)n_calls, (long long)n_nodes);
    int64_t chunk = chunk_of(p, calls.sets, n_calls);
    size_t n = (size_t)((n_calls + chunk - 1) / chunk);
    if (n > p->cap_execs) {
        p->execs = hone_realloc(p->execs, n * sizeof(*p->execs));
        p->cap_execs = n;
    }
    p->n_blocks++;
    for (size_t i = 0; i < n; i++) {
        int64_t from = (int64_t)i * chunk;
        const struct hone_gpu_order part = {calls.sets + from, hone_min_i64(chunk, n_calls - from)};
        int code = get_exec(p, part, true, stream, &p->execs[i], err);
        if (code < 0)
            return code;
    }
    *ret_execs = p->execs;
    *ret_n = n;
    return 0;
}
