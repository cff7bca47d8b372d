/* SPDX-License-Identifier: Apache-2.0 */
/* A plan against its task, module and device: everything that would fail when it runs, said before
 * anything runs, with the numbers and what to do. */
#include "tools/format/plan.h"

#include <stdio.h>
#include <string.h>

#include "workspace/base/limits.h"

#define WARP             32
#define REGISTERS_PER_SM 65536
#define REGISTER_UNIT    256  /* registers are given to a warp in steps of this */
#define RESERVED_SHARED  1024 /* the system's own, per block */
#define SHARED_UNIT      128
#define BLOCKS_PER_SM    32
#define MAX_CLUSTER      16

int64_t hone_plan_occupancy(const struct hone_plan_kernel *kernel,
                            const struct hone_plan_device *device, int64_t block_threads,
                            int64_t dynamic_shared)
{
    if (block_threads < 1 || block_threads > device->threads_per_block)
        return 0;
    int64_t warps = (block_threads + WARP - 1) / WARP;
    int64_t blocks = hone_min_i64(BLOCKS_PER_SM, device->threads_per_sm / (warps * WARP));
    if (kernel->registers > 0) {
        int64_t per_warp =
            (kernel->registers * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
        /* Each of the four parts of an SM holds its own warps. */
        int64_t warps_at_once = REGISTERS_PER_SM / 4 / per_warp * 4;
        blocks = hone_min_i64(blocks, warps_at_once / warps);
    }
    int64_t shared = kernel->static_shared_bytes + dynamic_shared + RESERVED_SHARED;
    shared = (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    if (device->shared_per_sm > 0)
        blocks = hone_min_i64(blocks, device->shared_per_sm / shared);
    if (kernel->max_threads > 0 && block_threads > kernel->max_threads)
        return 0;
    return blocks;
}

struct checked {
    const struct hone_plan *plan;
    const struct hone_plan_op *op;
    const int64_t *tensor_bytes;
    int64_t n_inputs;
    const struct hone_plan_kernel *kernel; /* NULL: unknown */
    const struct hone_plan_device *device; /* NULL: none */
    char name[120];                        /* of the launch, for people */
    struct hone_err *err;
};

static int bad(const struct checked *c, const char *fmt, ...) HONE_PRINTF(2, 3);
static int bad(const struct checked *c, const char *fmt, ...)
{
    char text[300], line[40] = "";
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (c->op->line > 0)
        (void)snprintf(line, sizeof line, "line %lld: ", (long long)c->op->line);
    return hone_fail(c->err, HONE_E_ARG, "%s%s: %s (workload %s)", line, c->name, text,
                     c->plan->workload);
}

static int64_t buffer_bytes(const struct checked *c, int64_t buffer)
{
    const struct hone_plan_number *scratch = c->plan->scratch.v;
    return buffer < c->plan->n_tensors ? c->tensor_bytes[buffer]
                                       : scratch[buffer - c->plan->n_tensors].value;
}

static int check_place(const struct checked *c, const struct hone_plan_pointer *place, bool is_to)
{
    if (place->buffer < 0)
        return 0; /* the arena knows the size of variables */
    int64_t size = buffer_bytes(c, place->buffer), n = c->op->n_bytes;
    if (is_to && place->buffer < c->n_inputs)
        return bad(c,
                   "writes input %lld; fix: inputs are read-only, write to an output or to scratch",
                   (long long)place->buffer + 1);
    if (place->offset < 0 || n > size || place->offset > size - n)
        return bad(c, "bytes %lld to %lld of a buffer of %lld bytes; fix: check sizes and offsets",
                   (long long)place->offset, (long long)(place->offset + n), (long long)size);
    return 0;
}

static int check_shape(const struct checked *c)
{
    const struct hone_plan_dim *grid = &c->op->grid, *block = &c->op->block;
    if (grid->x == 0 || grid->y == 0 || grid->z == 0)
        return bad(c,
                   "grid (%lld, %lld, %lld) has a 0; fix: return before the launch when there is "
                   "nothing to do, and round divisions up",
                   (long long)grid->x, (long long)grid->y, (long long)grid->z);
    if (block->x == 0 || block->y == 0 || block->z == 0)
        return bad(c, "block (%lld, %lld, %lld) has a 0; fix: give every dimension at least 1",
                   (long long)block->x, (long long)block->y, (long long)block->z);
    const struct hone_plan_device *d = c->device;
    if (d == NULL)
        return 0;
    int64_t most = d->threads_per_block, threads = 0; /* a product of any two may not fit */
    if (block->x > most || block->y > most || block->z > 64 ||
        (threads = block->x * block->y * block->z) > most)
        return bad(c, "block (%lld, %lld, %lld) > %lld threads, or more than 64 in z",
                   (long long)block->x, (long long)block->y, (long long)block->z, (long long)most);
    if (grid->x > d->grid_x || grid->y > d->grid_y || grid->z > d->grid_z)
        return bad(c,
                   "grid (%lld, %lld, %lld) > (%lld, %lld, %lld); fix: put the largest dimension "
                   "into x, or loop in the kernel",
                   (long long)grid->x, (long long)grid->y, (long long)grid->z, (long long)d->grid_x,
                   (long long)d->grid_y, (long long)d->grid_z);
    if (c->kernel != NULL && c->kernel->max_threads > 0 && threads > c->kernel->max_threads)
        return bad(c,
                   "%lld threads a block > %lld that the kernel was compiled for; fix: change "
                   "__launch_bounds__, or use fewer registers",
                   (long long)threads, (long long)c->kernel->max_threads);
    return 0;
}

static int check_shared(const struct checked *c)
{
    if (c->device == NULL)
        return 0;
    int64_t fixed = c->kernel == NULL ? 0 : c->kernel->static_shared_bytes;
    int64_t limit = c->device->shared_per_block_optin;
    if (fixed + c->op->shared_bytes > limit)
        return bad(c,
                   "shared memory %lld static + %lld dynamic > %lld bytes a block; fix: smaller "
                   "tiles or fewer stages",
                   (long long)fixed, (long long)c->op->shared_bytes, (long long)limit);
    return 0;
}

static int check_cluster(const struct checked *c)
{
    const struct hone_plan_dim *g = &c->op->grid, *k = &c->op->cluster;
    if (k->x == 0 && k->y == 0 && k->z == 0)
        return 0;
    if (k->x == 0 || k->y == 0 || k->z == 0)
        return bad(c, "cluster (%lld, %lld, %lld) has a 0", (long long)k->x, (long long)k->y,
                   (long long)k->z);
    if (k->x > MAX_CLUSTER || k->y > MAX_CLUSTER || k->z > MAX_CLUSTER ||
        k->x * k->y * k->z > MAX_CLUSTER)
        return bad(c, "cluster (%lld, %lld, %lld) > %d blocks; fix: 8 is portable", (long long)k->x,
                   (long long)k->y, (long long)k->z, MAX_CLUSTER);
    if (g->x % k->x != 0 || g->y % k->y != 0 || g->z % k->z != 0)
        return bad(c,
                   "grid (%lld, %lld, %lld) is no multiple of cluster (%lld, %lld, %lld); fix: "
                   "round the grid up and let spare blocks return after the cluster's barriers",
                   (long long)g->x, (long long)g->y, (long long)g->z, (long long)k->x,
                   (long long)k->y, (long long)k->z);
    if (c->device != NULL && c->device->major < 9)
        return bad(c, "clusters need compute capability 9.0, this device has %lld.%lld",
                   (long long)c->device->major, (long long)c->device->minor);
    return 0;
}

static int check_cooperative(const struct checked *c)
{
    if (!c->op->is_cooperative || c->device == NULL || c->kernel == NULL)
        return 0;
    const struct hone_plan_dim *g = &c->op->grid, *b = &c->op->block;
    int64_t per_sm =
        c->kernel->blocks_per_sm > 0
            ? c->kernel->blocks_per_sm
            : hone_plan_occupancy(c->kernel, c->device, b->x * b->y * b->z, c->op->shared_bytes);
    double blocks = (double)g->x * (double)g->y * (double)g->z;
    int64_t most = per_sm * c->device->sm_count;
    if (blocks > (double)most)
        return bad(c,
                   "grid %.0f > %lld blocks that can be resident (%lld per SM, %lld SMs); fix: "
                   "launch %lld blocks and loop in the kernel",
                   blocks, (long long)most, (long long)per_sm, (long long)c->device->sm_count,
                   (long long)most);
    return 0;
}

static int check_params(const struct checked *c)
{
    const struct hone_plan_kernel *k = c->kernel;
    const struct hone_plan_param *params = c->op->params.v;
    int64_t len = 0;
    if (k == NULL || k->n_params <= 0)
        return 0;
    if (k->n_params != (int64_t)c->op->params.n)
        return bad(c, "%lld parameters in the module, %zu in the launch", (long long)k->n_params,
                   c->op->params.n);
    for (size_t i = 0; i < c->op->params.n; i++)
        len += params[i].size;
    if (k->param_bytes > 0 && k->param_bytes != len)
        return bad(c,
                   "%lld bytes of parameters in the module, %lld in the launch; fix: types must "
                   "have the same size on host and device (long, pointers, alignment)",
                   (long long)k->param_bytes, (long long)len);
    return 0;
}

static int check_maps(const struct checked *c)
{
    const struct hone_plan_map *maps = c->op->maps.v;
    for (size_t i = 0; i < c->op->maps.n; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "tensor map %zu", i + 1);
        if (hone_plan_map_check(&maps[i], name, (uint64_t)maps[i].offset, c->err) < 0)
            return hone_wrap(c->err, "%s", c->name);
    }
    return 0;
}

static int check_launch(struct checked *c, const struct hone_plan_kernel *kernels, size_t n_kernels)
{
    hone_plan_pretty(c->op->kernel, c->name, sizeof c->name);
    for (size_t i = 0; i < n_kernels && c->kernel == NULL; i++)
        if (strcmp(kernels[i].name, c->op->kernel) == 0)
            c->kernel = &kernels[i];
    if (c->kernel == NULL && kernels != NULL)
        return bad(c, "not in the compiled module; fix: define the kernel in this file");
    int (*const checks[])(const struct checked *) = {check_shape,       check_shared, check_cluster,
                                                     check_cooperative, check_params, check_maps};
    int rc = 0;
    for (size_t i = 0; i < HONE_COUNTOF(checks) && rc == 0; i++)
        rc = checks[i](c);
    return rc;
}

static int check_memory(const struct hone_plan *plan, const struct hone_plan_device *device,
                        struct hone_err *err)
{
    const struct hone_plan_number *scratch = plan->scratch.v;
    int64_t total = 0;
    for (size_t i = 0; i < plan->scratch.n; i++)
        total += scratch[i].value;
    if (device == NULL || device->memory_bytes <= 0 || total <= device->memory_bytes)
        return 0;
    return hone_fail(err, HONE_E_ARG,
                     "the launcher allocates %lld bytes, the device has %lld (workload %s); fix: "
                     "use less scratch memory",
                     (long long)total, (long long)device->memory_bytes, plan->workload);
}

int hone_plan_check(const struct hone_plan *plan, const int64_t *tensor_bytes, int64_t n_inputs,
                    const struct hone_plan_kernel *kernels, size_t n_kernels,
                    const struct hone_plan_device *device, struct hone_err *err)
{
    const struct hone_plan_op *ops = plan->ops.v;
    int rc = check_memory(plan, device, err);
    for (size_t i = 0; i < plan->ops.n && rc == 0; i++) {
        struct checked c = {.plan = plan,
                            .op = &ops[i],
                            .tensor_bytes = tensor_bytes,
                            .n_inputs = n_inputs,
                            .device = device,
                            .err = err};
        (void)snprintf(c.name, sizeof c.name, "%s", ops[i].kind);
        if (strcmp(ops[i].kind, "launch") == 0)
            rc = check_launch(&c, kernels, n_kernels);
        else
            rc = check_place(&c, &ops[i].to, true);
        if (rc == 0 && strcmp(ops[i].kind, "copy") == 0)
            rc = check_place(&c, &ops[i].from, false);
    }
    return rc;
}
