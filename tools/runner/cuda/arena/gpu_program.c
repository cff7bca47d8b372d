/* SPDX-License-Identifier: Apache-2.0 */
/* Plan to operations. What does not depend on the set is done once (new_op): decoded bytes,
 * functions, shapes, resolved symbols. What depends on it, pointers and tensor maps, is put into a
 * work buffer when a node is added or a kernel launched; the driver copies it from there. So a
 * frame of many sets costs no memory here. */
#include "tools/runner/cuda/arena/gpu_program.h"

#include <stdlib.h>
#include <string.h>

#define PORTABLE_BLOCKS 8 /* of a cluster; more need an attribute of the kernel */

hone_cu_ptr hone_gpu_address(const struct hone_gpu_program *p, const struct hone_gpu_place *place,
                             int64_t set)
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
                   const struct hone_plan_pointer *from, struct hone_gpu_place *ret,
                   struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    int64_t n = p->layout.n_inputs + p->layout.n_outputs + (int64_t)p->n_scratch;
    *ret = (struct hone_gpu_place){.buffer = from->buffer, .offset = from->offset};
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
    for (size_t i = 0; i < from->n && i < HONE_GPU_MAP_RANK; i++)
        ret[i] = (unsigned long long)numbers[i].value;
}

static void narrow(const unsigned long long *from, unsigned *ret)
{
    for (size_t i = 0; i < HONE_GPU_MAP_RANK; i++)
        ret[i] = (unsigned)from[i];
}

static int new_map(const struct hone_gpu_program *p, const struct hone_plan_map *from,
                   struct hone_gpu_map_patch *ret, struct hone_err *err)
{
    if (p->device->cu->TensorMapEncodeTiled == NULL)
        return hone_fail(err, HONE_E_UNSUPPORTED, "this driver has no tensor maps");
    if (from->rank < 1 || from->rank > HONE_GPU_MAP_RANK)
        return hone_fail(err, HONE_E_ARG, "a tensor map of rank %lld", (long long)from->rank);
    unsigned long long box[HONE_GPU_MAP_RANK] = {0}, steps[HONE_GPU_MAP_RANK] = {0};
    *ret = (struct hone_gpu_map_patch){.at = (size_t)from->at,
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
                      const struct hone_plan_op *from, struct hone_gpu_plan_op *ret,
                      struct hone_err *err)
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

static enum hone_gpu_op_kind kind_of(const char *word)
{
    static const char *const words[] = {[HONE_GPU_LAUNCH] = "launch",
                                        [HONE_GPU_MEMSET] = "memset",
                                        [HONE_GPU_COPY] = "copy",
                                        [HONE_GPU_LITERAL] = "literal"};
    size_t i = 0;
    while (i + 1 < HONE_COUNTOF(words) && strcmp(words[i], word) != 0)
        i++;
    return (enum hone_gpu_op_kind)i;
}

static int new_op(struct hone_gpu_program *p, hone_cu_module module,
                  const struct hone_plan_op *from, struct hone_gpu_plan_op *ret,
                  struct hone_err *err)
{
    *ret = (struct hone_gpu_plan_op){.kind = kind_of(from->kind),
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
    if (code == 0 && ret->kind == HONE_GPU_LAUNCH)
        return new_launch(p, module, from, ret, err);
    if (code == 0)
        code = resolve(p, module, &from->to, &ret->to, err);
    if (code == 0 && ret->kind == HONE_GPU_COPY)
        code = resolve(p, module, &from->from, &ret->from, err);
    if (code == 0 && ret->kind == HONE_GPU_LITERAL) {
        ret->literal_at = p->literal_bytes;
        p->literal_bytes += (ret->n_bytes_param + 15) / 16 * 16;
    }
    return code;
}

/* The bytes of an operation for one set: pointers and tensor maps put in. */
static int fill_bytes(const struct hone_gpu_program *p, const struct hone_gpu_plan_op *op,
                      int64_t set, unsigned char *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    if (op->n_bytes_param > 0)
        memcpy(ret, op->bytes, op->n_bytes_param);
    for (size_t i = 0; i < op->n_patches; i++) {
        hone_cu_ptr at = hone_gpu_address(p, &op->patches[i].place, set);
        memcpy(ret + op->patches[i].at, &at, sizeof at);
    }
    for (size_t i = 0; i < op->n_maps; i++) {
        const struct hone_gpu_map_patch *m = &op->maps[i];
        struct hone_cu_tensor_map map;
        hone_cu_result result = cu->TensorMapEncodeTiled(
            &map, m->dtype, m->rank, (void *)(uintptr_t)hone_gpu_address(p, &m->place, set),
            m->dims, m->strides, m->box, m->element_strides, m->interleave, m->swizzle, m->l2,
            m->fill);
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
            const struct hone_gpu_plan_op *op = &p->ops[i];
            unsigned char *at = bytes + (size_t)set * p->literal_bytes + op->literal_at;
            int code = op->kind == HONE_GPU_LITERAL ? fill_bytes(p, op, set, at, err) : 0;
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
        const struct hone_gpu_plan_op *op = &p->ops[i];
        bool is_chained = i == 0 || (op->n_after > 0 && op->after[op->n_after - 1] == i - 1);
        bool is_plain = op->kind != HONE_GPU_MEMSET || op->element_bytes != 2;
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

void hone_gpu_program_free(struct hone_gpu_program *p)
{
    if (p == NULL)
        return;
    hone_gpu_graphs_drop(p);
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

/* op->shape with this set's parameters; valid until the next one is asked for. */
int hone_gpu_launch_params(struct hone_gpu_program *p, const struct hone_gpu_plan_op *op,
                           int64_t set, struct hone_cu_kernel_params *ret, struct hone_err *err)
{
    int code = fill_bytes(p, op, set, p->work, err);
    for (size_t i = 0; i < op->n_params; i++)
        p->argv[i] = p->work + op->param_at[i];
    *ret = op->shape;
    ret->params = p->argv;
    return code;
}

hone_cu_ptr hone_gpu_source(const struct hone_gpu_program *p, const struct hone_gpu_plan_op *op,
                            int64_t set)
{
    if (op->kind == HONE_GPU_COPY)
        return hone_gpu_address(p, &op->from, set);
    return p->literals + (hone_cu_ptr)set * p->literal_bytes + op->literal_at;
}

static int issue_launch(struct hone_gpu_program *p, const struct hone_gpu_plan_op *op, int64_t set,
                        hone_cu_stream stream, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    struct hone_cu_kernel_params k;
    int code = hone_gpu_launch_params(p, op, set, &k, err);
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

static int issue_op(struct hone_gpu_program *p, const struct hone_gpu_plan_op *op, int64_t set,
                    hone_cu_stream stream, struct hone_err *err)
{
    const struct hone_cuda *cu = p->device->cu;
    if (op->kind == HONE_GPU_LAUNCH)
        return issue_launch(p, op, set, stream, err);
    hone_cu_ptr to = hone_gpu_address(p, &op->to, set);
    hone_cu_result result;
    if (op->kind != HONE_GPU_MEMSET)
        result = cu->MemcpyDtoDAsync(to, hone_gpu_source(p, op, set), op->n_bytes, stream);
    else if (op->element_bytes == 1)
        result = cu->MemsetD8Async(to, (unsigned char)op->value, op->n_bytes, stream);
    else
        result = cu->MemsetD32Async(to, op->value, op->n_bytes / 4, stream);
    return hone_cu_check(cu, result, "queueing a memset or copy", err);
}

size_t hone_gpu_program_n_ops(const struct hone_gpu_program *p)
{
    return p->n_ops;
}

bool hone_gpu_program_is_launch(const struct hone_gpu_program *p, size_t op)
{
    return p->ops[op].kind == HONE_GPU_LAUNCH;
}

int hone_gpu_program_issue_op(struct hone_gpu_program *p, size_t op, int64_t set,
                              hone_cu_stream stream, struct hone_err *err)
{
    return issue_op(p, &p->ops[op], set, stream, err);
}

int hone_gpu_issue_ops(struct hone_gpu_program *p, int64_t set, hone_cu_stream stream,
                       struct hone_err *err)
{
    int code = 0;
    for (size_t i = 0; i < p->n_ops && code == 0; i++)
        code = issue_op(p, &p->ops[i], set, stream, err);
    return code;
}
