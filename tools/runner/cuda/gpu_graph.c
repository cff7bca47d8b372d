/* Plan to graphs.
 *
 * What does not depend on the set is done once (new_op): decoded bytes, functions, shapes, resolved
 * symbols. What depends on it, pointers and tensor maps, is put into a work buffer when a node is
 * added; the driver copies it from there. So a frame of many sets costs no memory here.
 *
 * A block is cut into graphs of at most CHUNK_NODES operations. Where the order of sets repeats,
 * the cuts lie on the period, so that one graph serves all of them. Graphs are kept by their order
 * of sets. */
#include "tools/runner/cuda/gpu_graph.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_NODES     16384
#define MAX_NODES       (1 << 20) /* of one block */
#define N_CACHED        128
#define CACHED_NODES    (4 * CHUNK_NODES) /* beyond these the oldest graphs go */
#define MAX_MAP_RANK    5
#define PORTABLE_BLOCKS 8 /* of a cluster; more need an attribute of the kernel */

enum op_kind { OP_LAUNCH, OP_MEMSET, OP_COPY, OP_LITERAL };

struct place { /* an address once the set is known */
    int64_t buffer;
    hone_cu_ptr symbol; /* when buffer is -1 */
    int64_t offset;
};
struct patch {
    size_t at;
    struct place place;
};
struct map_patch {
    size_t at;
    struct place place;
    int dtype, interleave, swizzle, l2, fill;
    unsigned rank;
    unsigned long long dims[MAX_MAP_RANK], strides[MAX_MAP_RANK];
    unsigned box[MAX_MAP_RANK], element_strides[MAX_MAP_RANK];
};

struct op {
    enum op_kind kind;
    struct hone_cu_kernel_params shape; /* params points to `argv` of the program */
    unsigned cluster_x, cluster_y, cluster_z;
    bool is_cooperative, is_programmatic;
    unsigned char *bytes;
    size_t n_bytes_param; /* of bytes */
    size_t *param_at;
    size_t n_params;
    struct patch *patches;
    size_t n_patches;
    struct map_patch *maps;
    size_t n_maps;
    struct place to, from;
    size_t n_bytes;
    unsigned value, element_bytes;
    size_t literal_at; /* in a set's literals */
    size_t *after;
    size_t n_after;
    bool is_leaf; /* nothing of the call waits for its end */
};

struct cached {
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
    struct op *ops;
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
    struct cached cache[N_CACHED];
    uint64_t n_blocks;
    hone_cu_graph_exec *execs; /* of the last block */
    size_t cap_execs;
};

static hone_cu_ptr address(const struct hone_gpu_program *p, const struct place *place, int64_t set)
{
    int64_t n_tensors = p->layout.n_inputs + p->layout.n_outputs;
    hone_cu_ptr base;
    if (place->buffer < 0) {
        base = place->symbol;
    } else if (place->buffer < n_tensors) {
        base = p->bases[place->buffer] + (hone_cu_ptr)hone_gpu_at(&p->layout, set, place->buffer);
    } else {
        const struct hone_gpu_range *range = &p->scratch[place->buffer - n_tensors];
        base = range->base + range->size - p->scratch_bytes[place->buffer - n_tensors];
    }
    return base + (hone_cu_ptr)place->offset;
}

static int resolve(const struct hone_gpu_program *p, hone_cu_module module,
                   const struct hone_plan_pointer *from, struct place *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    int64_t n = p->layout.n_inputs + p->layout.n_outputs + (int64_t)p->n_scratch;
    *ret = (struct place){.buffer = from->buffer, .offset = from->offset};
    if (from->buffer >= n || from->buffer < -1)
        return hone_fail(err, HONE_E_ARG, "buffer %lld of %lld", (long long)from->buffer,
                         (long long)n);
    if (from->buffer >= 0)
        return 0;
    size_t size = 0;
    int code = hone_cu_check(cu, cu->ModuleGetGlobal(&ret->symbol, &size, module, from->symbol),
                             from->symbol, err);
    return code < 0 ? hone_wrap(err, "finding a variable of the module") : 0;
}

static unsigned char *decode_hex(struct hone_pool *pool, const char *hex, size_t *ret_len)
{
    size_t len = hex != NULL ? strlen(hex) / 2 : 0;
    unsigned char *bytes = hone_pool_alloc(pool, len + 1);
    for (size_t i = 0; i < 2 * len; i++) {
        unsigned digit = (unsigned)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10) & 15u;
        bytes[i / 2] = (unsigned char)(bytes[i / 2] << 4 | digit);
    }
    *ret_len = len;
    return bytes;
}

static void copy_numbers(const struct hone_array *from, unsigned long long *ret)
{
    const struct hone_plan_number *numbers = from->v;
    for (size_t i = 0; i < from->n && i < MAX_MAP_RANK; i++)
        ret[i] = (unsigned long long)numbers[i].value;
}

static void narrow(const unsigned long long *from, unsigned *ret)
{
    for (size_t i = 0; i < MAX_MAP_RANK; i++)
        ret[i] = (unsigned)from[i];
}

static int new_map(const struct hone_gpu_program *p, const struct hone_plan_map *from,
                   struct map_patch *ret, struct hone_err *err)
{
    if (p->device->cu->TensorMapEncodeTiled == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "this driver has no tensor maps");
    if (from->rank < 1 || from->rank > MAX_MAP_RANK)
        return hone_fail(err, HONE_E_ARG, "a tensor map of rank %lld", (long long)from->rank);
    unsigned long long box[MAX_MAP_RANK] = {0}, steps[MAX_MAP_RANK] = {0};
    *ret = (struct map_patch){.at = (size_t)from->at,
                              .place = {.buffer = from->buffer, .offset = from->offset},
                              .dtype = (int)from->dtype,
                              .interleave = (int)from->interleave,
                              .swizzle = (int)from->swizzle,
                              .l2 = (int)from->l2_promotion,
                              .fill = (int)from->fill,
                              .rank = (unsigned)from->rank};
    copy_numbers(&from->dims, ret->dims);
    copy_numbers(&from->strides, ret->strides);
    copy_numbers(&from->box, box);
    copy_numbers(&from->element_strides, steps);
    narrow(box, ret->box);
    narrow(steps, ret->element_strides);
    return 0;
}

static int set_attribute(const struct hone_gpu_program *p, hone_cu_function func, int which,
                         int64_t value, const char *what, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    return hone_cu_check(cu, cu->FuncSetAttribute(func, which, (int)value), what, err);
}

/* Kernel, shape, and what the kernel must be told before it can have that shape. */
static int new_launch(struct hone_gpu_program *p, hone_cu_module module,
                      const struct hone_plan_op *from, struct op *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    hone_cu_function func = NULL;
    int code =
        hone_cu_check(cu, cu->ModuleGetFunction(&func, module, from->kernel), from->kernel, err);
    if (code < 0)
        return hone_wrap(err, "finding a kernel");
    ret->shape = (struct hone_cu_kernel_params){.func = func,
                                                .grid_x = (unsigned)from->grid.x,
                                                .grid_y = (unsigned)from->grid.y,
                                                .grid_z = (unsigned)from->grid.z,
                                                .block_x = (unsigned)from->block.x,
                                                .block_y = (unsigned)from->block.y,
                                                .block_z = (unsigned)from->block.z,
                                                .shared_bytes = (unsigned)from->shared_bytes};
    ret->cluster_x = (unsigned)from->cluster.x;
    ret->cluster_y = (unsigned)hone_max_i64(from->cluster.y, 1);
    ret->cluster_z = (unsigned)hone_max_i64(from->cluster.z, 1);
    ret->is_cooperative = from->is_cooperative;
    ret->is_programmatic = from->is_programmatic && from->after.n > 0;
    const struct hone_plan_param *params = from->params.v;
    ret->n_params = from->params.n;
    ret->param_at = hone_pool_alloc(p->pool, (from->params.n + 1) * sizeof *ret->param_at);
    for (size_t i = 0; i < from->params.n; i++)
        ret->param_at[i] = (size_t)params[i].at;
    int now = 0;
    if (cu->FuncGetAttribute(&now, HONE_CU_FUNC_MAX_DYNAMIC_SHARED, func) != HONE_CU_SUCCESS)
        now = 0;
    if (from->shared_bytes > now)
        code = set_attribute(p, func, HONE_CU_FUNC_MAX_DYNAMIC_SHARED, from->shared_bytes,
                             "asking for shared memory", err);
    if (code == 0 && from->shared_carveout >= 0)
        code = set_attribute(p, func, HONE_CU_FUNC_SHARED_CARVEOUT, from->shared_carveout,
                             "asking for a carve-out of shared memory", err);
    if (code == 0 && ret->cluster_x * ret->cluster_y * ret->cluster_z > PORTABLE_BLOCKS)
        code = set_attribute(p, func, HONE_CU_FUNC_NON_PORTABLE_CLUSTER, 1,
                             "asking for a large cluster", err);
    return code;
}

static enum op_kind kind_of(const char *word)
{
    static const char *const words[] = {[OP_LAUNCH] = "launch",
                                        [OP_MEMSET] = "memset",
                                        [OP_COPY] = "copy",
                                        [OP_LITERAL] = "literal"};
    size_t i = 0;
    while (i + 1 < HONE_COUNTOF(words) && strcmp(words[i], word) != 0)
        i++;
    return (enum op_kind)i;
}

static int new_op(struct hone_gpu_program *p, hone_cu_module module,
                  const struct hone_plan_op *from, struct op *ret, struct hone_err *err)
{
    *ret = (struct op){.kind = kind_of(from->kind),
                       .n_bytes = (size_t)from->n_bytes,
                       .value = (unsigned)from->value,
                       .element_bytes = (unsigned)from->element_bytes,
                       .n_after = from->after.n,
                       .n_patches = from->pointers.n,
                       .n_maps = from->maps.n,
                       .is_leaf = true};
    ret->bytes = decode_hex(p->pool, from->bytes, &ret->n_bytes_param);
    ret->after = hone_pool_alloc(p->pool, (ret->n_after + 1) * sizeof *ret->after);
    ret->patches = hone_pool_alloc(p->pool, (ret->n_patches + 1) * sizeof *ret->patches);
    ret->maps = hone_pool_alloc(p->pool, (ret->n_maps + 1) * sizeof *ret->maps);
    for (size_t i = 0; i < ret->n_after; i++)
        ret->after[i] = (size_t)((const struct hone_plan_number *)from->after.v)[i].value;
    int code = 0;
    const struct hone_plan_pointer *pointers = from->pointers.v;
    for (size_t i = 0; i < ret->n_patches && code == 0; i++) {
        ret->patches[i].at = (size_t)pointers[i].at;
        code = resolve(p, module, &pointers[i], &ret->patches[i].place, err);
    }
    const struct hone_plan_map *maps = from->maps.v;
    for (size_t i = 0; i < ret->n_maps && code == 0; i++)
        code = new_map(p, &maps[i], &ret->maps[i], err);
    if (code == 0 && ret->kind == OP_LAUNCH)
        return new_launch(p, module, from, ret, err);
    if (code == 0)
        code = resolve(p, module, &from->to, &ret->to, err);
    if (code == 0 && ret->kind == OP_COPY)
        code = resolve(p, module, &from->from, &ret->from, err);
    if (code == 0 && ret->kind == OP_LITERAL) {
        ret->literal_at = p->literal_bytes;
        p->literal_bytes += (ret->n_bytes_param + 15) / 16 * 16;
    }
    return code;
}

/* The bytes of an operation for one set: pointers and tensor maps put in. */
static int fill_bytes(const struct hone_gpu_program *p, const struct op *op, int64_t set,
                      unsigned char *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    if (op->n_bytes_param > 0)
        memcpy(ret, op->bytes, op->n_bytes_param);
    for (size_t i = 0; i < op->n_patches; i++) {
        hone_cu_ptr at = address(p, &op->patches[i].place, set);
        memcpy(ret + op->patches[i].at, &at, sizeof at);
    }
    for (size_t i = 0; i < op->n_maps; i++) {
        const struct map_patch *m = &op->maps[i];
        struct hone_cu_tensor_map map;
        hone_cu_result result = cu->TensorMapEncodeTiled(
            &map, m->dtype, m->rank, (void *)(uintptr_t)address(p, &m->place, set), m->dims,
            m->strides, m->box, m->element_strides, m->interleave, m->swizzle, m->l2, m->fill);
        int code = hone_cu_check(cu, result, "encoding a tensor map", err);
        if (code < 0)
            return code;
        memcpy(ret + m->at, &map, sizeof map);
    }
    return 0;
}

static int upload_literals(struct hone_gpu_program *p, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    if (p->literal_bytes == 0)
        return 0;
    size_t total = p->literal_bytes * (size_t)p->layout.n_sets;
    HONE_AUTOFREE unsigned char *bytes = hone_calloc(total, 1);
    for (int64_t set = 0; set < p->layout.n_sets; set++) {
        for (size_t i = 0; i < p->n_ops; i++) {
            const struct op *op = &p->ops[i];
            unsigned char *at = bytes + (size_t)set * p->literal_bytes + op->literal_at;
            int code = op->kind == OP_LITERAL ? fill_bytes(p, op, set, at, err) : 0;
            if (code < 0)
                return code;
        }
    }
    int code = hone_cu_check(cu, cu->MemAlloc(&p->literals, total), "memory for literals", err);
    if (code < 0)
        return code;
    return hone_cu_check(cu, cu->MemcpyHtoD(p->literals, bytes, total), "uploading literals", err);
}

static int make_scratch(struct hone_gpu_program *p, const struct hone_plan *plan,
                        struct hone_err *err)
{
    const struct hone_plan_number *sizes = plan->scratch.v;
    int64_t granule = p->device->granule;
    p->scratch = hone_pool_alloc(p->pool, (plan->scratch.n + 1) * sizeof *p->scratch);
    p->scratch_bytes = hone_pool_alloc(p->pool, (plan->scratch.n + 1) * sizeof *p->scratch_bytes);
    for (size_t i = 0; i < plan->scratch.n; i++) {
        int64_t room = (sizes[i].value + HONE_GPU_ALIGN - 1) / HONE_GPU_ALIGN * HONE_GPU_ALIGN;
        int64_t size = (room + granule - 1) / granule * granule;
        p->scratch_bytes[i] = (size_t)room;
        int code = hone_gpu_range_new(p->device, (size_t)size, &p->scratch[i], err);
        if (code < 0)
            return hone_wrap(err, "scratch of %lld bytes", (long long)sizes[i].value);
        p->n_scratch = i + 1;
    }
    return 0;
}

/* Leaves, whether one stream will do, and room for the nodes of one call. */
static void look_over(struct hone_gpu_program *p)
{
    size_t n_bytes = 0, n_params = 0;
    p->is_direct = true;
    for (size_t i = 0; i < p->n_ops; i++) {
        const struct op *op = &p->ops[i];
        bool is_chained = i == 0 || (op->n_after > 0 && op->after[op->n_after - 1] == i - 1);
        bool is_plain = op->kind != OP_MEMSET || op->element_bytes != 2;
        p->is_direct = p->is_direct && is_chained && is_plain && !op->is_programmatic;
        n_bytes = op->n_bytes_param > n_bytes ? op->n_bytes_param : n_bytes;
        n_params = op->n_params > n_params ? op->n_params : n_params;
        /* A programmatic successor may run, and end, before this one has ended. */
        for (size_t k = 0; k < op->n_after && !op->is_programmatic; k++)
            p->ops[op->after[k]].is_leaf = false;
    }
    size_t n = p->n_ops + p->n_variables + 1;
    p->work = hone_pool_alloc(p->pool, n_bytes + HONE_LIMIT_PLAN_PARAM_BYTES);
    p->argv = hone_pool_alloc(p->pool, (n_params + 1) * sizeof *p->argv);
    p->nodes = hone_pool_alloc(p->pool, n * sizeof *p->nodes);
    p->heads = hone_pool_alloc(p->pool, n * sizeof *p->heads);
    p->leaves = hone_pool_alloc(p->pool, n * sizeof *p->leaves);
    p->edges_from = hone_pool_alloc(p->pool, n * sizeof *p->edges_from);
    p->edges_to = hone_pool_alloc(p->pool, n * sizeof *p->edges_to);
    p->edges = hone_pool_alloc(p->pool, n * sizeof *p->edges);
}

int hone_gpu_program_new(const struct hone_gpu_program_spec *spec, struct hone_gpu_program **ret,
                         struct hone_err *err)
{
    const struct hone_plan *plan = spec->plan;
    struct hone_gpu_program *p = hone_calloc(1, sizeof *p);
    p->device = spec->device;
    p->layout = *spec->layout;
    p->variables = spec->variables;
    p->n_variables = spec->n_variables;
    p->pool = hone_pool_new();
    int64_t n_tensors = p->layout.n_inputs + p->layout.n_outputs;
    memcpy(p->bases, spec->bases, (size_t)n_tensors * sizeof *p->bases);
    int code = plan->n_tensors == n_tensors
                   ? make_scratch(p, plan, err)
                   : hone_fail(err, HONE_E_ARG, "a plan for %lld tensors, the frame has %lld",
                               (long long)plan->n_tensors, (long long)n_tensors);
    const struct hone_plan_op *ops = plan->ops.v;
    p->ops = hone_pool_alloc(p->pool, (plan->ops.n + 1) * sizeof *p->ops);
    for (size_t i = 0; i < plan->ops.n && code == 0; i++) {
        code = new_op(p, spec->module, &ops[i], &p->ops[i], err);
        p->n_ops = i + 1;
    }
    if (code == 0)
        code = upload_literals(p, err);
    if (code < 0) {
        hone_gpu_program_free(p);
        return code;
    }
    look_over(p);
    *ret = p;
    return 0;
}

static void drop(const struct hone_gpu_program *p, struct cached *entry)
{
    if (entry->exec != NULL)
        (void)p->device->cu->GraphExecDestroy(entry->exec);
    free(entry->sets);
    *entry = (struct cached){.n = 0};
}

void hone_gpu_program_free(struct hone_gpu_program *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < N_CACHED; i++)
        drop(p, &p->cache[i]);
    for (size_t i = 0; i < p->n_scratch; i++)
        hone_gpu_range_done(p->device, &p->scratch[i]);
    if (p->literals != 0)
        (void)p->device->cu->MemFree(p->literals);
    hone_pool_free(p->pool);
    free(p->execs);
    free(p);
}

int hone_gpu_program_poison(struct hone_gpu_program *p, uint32_t pattern, hone_cu_stream stream,
                            struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    for (size_t i = 0; i < p->n_scratch; i++) {
        int code = hone_cu_check(
            cu, cu->MemsetD32Async(p->scratch[i].base, pattern, p->scratch[i].size / 4, stream),
            "filling scratch", err);
        if (code < 0)
            return code;
    }
    return 0;
}

int hone_gpu_program_restore(struct hone_gpu_program *p, hone_cu_stream stream,
                             struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    for (size_t i = 0; i < p->n_variables; i++) {
        const struct hone_gpu_variable *v = &p->variables[i];
        int code = hone_cu_check(cu, cu->MemcpyDtoDAsync(v->at, v->image, v->n_bytes, stream),
                                 "putting a variable back", err);
        if (code < 0)
            return code;
    }
    return 0;
}

bool hone_gpu_program_is_direct(const struct hone_gpu_program *p)
{
    return p->is_direct;
}

/* op->shape with this set's parameters; valid until the next one is asked for. */
static int launch_params(struct hone_gpu_program *p, const struct op *op, int64_t set,
                         struct hone_cu_kernel_params *ret, struct hone_err *err)
{
    int code = fill_bytes(p, op, set, p->work, err);
    for (size_t i = 0; i < op->n_params; i++)
        p->argv[i] = p->work + op->param_at[i];
    *ret = op->shape;
    ret->params = p->argv;
    return code;
}

static hone_cu_ptr source_of(const struct hone_gpu_program *p, const struct op *op, int64_t set)
{
    if (op->kind == OP_COPY)
        return address(p, &op->from, set);
    return p->literals + (hone_cu_ptr)set * p->literal_bytes + op->literal_at;
}

static int issue_launch(struct hone_gpu_program *p, const struct op *op, int64_t set,
                        hone_cu_stream stream, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    struct hone_cu_kernel_params k;
    int code = launch_params(p, op, set, &k, err);
    if (code < 0)
        return code;
    struct hone_cu_launch_attribute attrs[2];
    unsigned n = 0;
    memset(attrs, 0, sizeof attrs);
    if (op->cluster_x > 0) {
        attrs[n].id = HONE_CU_LAUNCH_CLUSTER;
        attrs[n].value.cluster.x = op->cluster_x;
        attrs[n].value.cluster.y = op->cluster_y;
        attrs[n++].value.cluster.z = op->cluster_z;
    }
    if (op->is_cooperative) {
        attrs[n].id = HONE_CU_LAUNCH_COOPERATIVE;
        attrs[n++].value.cooperative = 1;
    }
    const struct hone_cu_launch_config config = {.grid_x = k.grid_x,
                                                 .grid_y = k.grid_y,
                                                 .grid_z = k.grid_z,
                                                 .block_x = k.block_x,
                                                 .block_y = k.block_y,
                                                 .block_z = k.block_z,
                                                 .shared_bytes = k.shared_bytes,
                                                 .stream = stream,
                                                 .attrs = attrs,
                                                 .n_attrs = n};
    return hone_cu_check(cu, cu->LaunchKernelEx(&config, k.func, k.params, NULL),
                         "launching a kernel", err);
}

static int issue_op(struct hone_gpu_program *p, const struct op *op, int64_t set,
                    hone_cu_stream stream, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    if (op->kind == OP_LAUNCH)
        return issue_launch(p, op, set, stream, err);
    hone_cu_ptr to = address(p, &op->to, set);
    hone_cu_result result;
    if (op->kind != OP_MEMSET)
        result = cu->MemcpyDtoDAsync(to, source_of(p, op, set), op->n_bytes, stream);
    else if (op->element_bytes == 1)
        result = cu->MemsetD8Async(to, (unsigned char)op->value, op->n_bytes, stream);
    else
        result = cu->MemsetD32Async(to, op->value, op->n_bytes / 4, stream);
    return hone_cu_check(cu, result, "queueing a memset or copy", err);
}

/* ---- graphs ---- */

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

static int set_node_attributes(const struct hone_gpu_program *p, const struct op *op,
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

static int add_node(struct hone_gpu_program *p, hone_cu_graph graph, const struct op *op,
                    int64_t set, const hone_cu_graph_node *after, size_t n_after,
                    hone_cu_graph_node *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    if (op->kind == OP_LAUNCH) {
        struct hone_cu_kernel_params params;
        int code = launch_params(p, op, set, &params, err);
        if (code == 0)
            code = hone_cu_check(cu, cu->GraphAddKernelNode(ret, graph, after, n_after, &params),
                                 "planning a launch", err);
        return code < 0 ? code : set_node_attributes(p, op, *ret, err);
    }
    hone_cu_ptr to = address(p, &op->to, set);
    if (op->kind == OP_MEMSET) {
        const struct hone_cu_memset_params params = {.dst = to,
                                                     .value = op->value,
                                                     .element_size = op->element_bytes,
                                                     .width = op->n_bytes / op->element_bytes,
                                                     .height = 1};
        return hone_cu_check(
            cu, cu->GraphAddMemsetNode(ret, graph, after, n_after, &params, p->device->ctx),
            "planning a memset", err);
    }
    const struct hone_cu_memcpy3d params = copy_of(to, source_of(p, op, set), op->n_bytes);
    return hone_cu_check(
        cu, cu->GraphAddMemcpyNode(ret, graph, after, n_after, &params, p->device->ctx),
        "planning a copy", err);
}

/* Only behind kernels can a kernel start early. */
static bool can_start_early(const struct hone_gpu_program *p, const struct op *op)
{
    if (!op->is_programmatic || p->device->cu->GraphAddDependencies == NULL)
        return false;
    for (size_t i = 0; i < op->n_after; i++)
        if (p->ops[op->after[i]].kind != OP_LAUNCH)
            return false;
    return true;
}

static int add_op(struct hone_gpu_program *p, hone_cu_graph graph, size_t index, int64_t set,
                  size_t n_heads, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    const struct op *op = &p->ops[index];
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
static struct cached *make_room(struct hone_gpu_program *p, int64_t n_nodes)
{
    for (;;) {
        int64_t total = n_nodes;
        struct cached *empty = NULL, *oldest = NULL;
        for (size_t i = 0; i < N_CACHED; i++) {
            struct cached *entry = &p->cache[i];
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

static int get_exec(struct hone_gpu_program *p, const int32_t *sets, int64_t n, bool has_restores,
                    hone_cu_stream stream, hone_cu_graph_exec *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    uint64_t hash = hash_of(sets, n);
    size_t bytes = (size_t)n * sizeof *sets;
    for (size_t i = 0; i < N_CACHED; i++) {
        struct cached *entry = &p->cache[i];
        if (entry->exec != NULL && entry->hash == hash && entry->n == n &&
            entry->has_restores == has_restores && memcmp(entry->sets, sets, bytes) == 0) {
            entry->used = p->n_blocks;
            *ret = entry->exec;
            return 0;
        }
    }
    int64_t n_nodes = n * (int64_t)(p->n_ops + p->n_variables);
    struct cached *entry = make_room(p, n_nodes);
    if (entry == NULL)
        return hone_fail(err, HONE_E_LIMIT, "a block of too many different graphs");
    hone_cu_graph_exec exec = NULL;
    int code = build(p, sets, n, has_restores, &exec, err);
    if (code == 0 && cu->GraphUpload != NULL)
        code = hone_cu_check(cu, cu->GraphUpload(exec, stream), "uploading a graph", err);
    if (code < 0)
        return code;
    *entry = (struct cached){.exec = exec,
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
    int code = 0;
    if (p->n_ops == 0)
        return 0;
    if (p->is_direct) {
        for (size_t i = 0; i < p->n_ops && code == 0; i++)
            code = issue_op(p, &p->ops[i], set, stream, err);
        return code;
    }
    int32_t one = (int32_t)set;
    hone_cu_graph_exec exec = NULL;
    p->n_blocks++;
    code = get_exec(p, &one, 1, false, stream, &exec, err);
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

int hone_gpu_program_block(struct hone_gpu_program *p, const int32_t *sets, int64_t n_calls,
                           hone_cu_stream stream, const hone_cu_graph_exec **ret_execs,
                           size_t *ret_n, struct hone_err *err)
{
    int64_t n_nodes = (int64_t)(p->n_ops + p->n_variables);
    *ret_n = 0;
    *ret_execs = NULL;
    if (n_nodes == 0 || n_calls == 0)
        return 0;
    if (n_calls > MAX_NODES / n_nodes)
        return hone_fail(err, HONE_E_LIMIT,
                         "%lld calls of %lld operations are too many for one block",
                         (long long)n_calls, (long long)n_nodes);
    int64_t chunk = chunk_of(p, sets, n_calls);
    size_t n = (size_t)((n_calls + chunk - 1) / chunk);
    if (n > p->cap_execs) {
        p->execs = hone_realloc(p->execs, n * sizeof(*p->execs));
        p->cap_execs = n;
    }
    p->n_blocks++;
    for (size_t i = 0; i < n; i++) {
        int64_t from = (int64_t)i * chunk;
        int code = get_exec(p, sets + from, hone_min_i64(chunk, n_calls - from), true, stream,
                            &p->execs[i], err);
        if (code < 0)
            return code;
    }
    *ret_execs = p->execs;
    *ret_n = n;
    return 0;
}
