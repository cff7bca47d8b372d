/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: from <<<...>>> by way of a stub that knows its parameters, and from cudaLaunchKernel
 * and its relatives, which ask the stub for sizes first. */
#include <stdio.h>
#include <string.h>

#include "tools/runner/cuda/record/record_exports.h"
#include "tools/runner/cuda/record/record_state.h"

#define DEFAULT_SHARED 49152
#define PLACE_BYTES    24

const void *hone_here(void)
{
    return __builtin_return_address(0);
}

static const char axis_names[] = "xyz";

static void check_dim(const char *what, const long long dim[3])
{
    for (int i = 0; i < 3; i++)
        if (dim[i] < 0 || dim[i] > UINT32_MAX)
            hone_record_refuse(
                "%s %c = %lld (workload %s) does not fit an unsigned int. fix: loop in "
                "the kernel, or use more dimensions",
                what, axis_names[i], dim[i], hone_recorder->call->workload);
}

void hone_record_conf(const long long grid[3], const long long block[3], unsigned long long shared,
                      void *stream, int line)
{
    struct hone_recorder *r = hone_recorder;
    check_dim("grid", grid);
    check_dim("block", block);
    r->pending = (struct hone_record_shape){.shared = shared, .stream = stream, .line = line};
    memcpy(r->pending.grid, grid, sizeof r->pending.grid);
    memcpy(r->pending.block, block, sizeof r->pending.block);
    memset(r->is_given, 0, sizeof r->is_given);
    r->is_pending = true;
}

void hone_record_given(unsigned long index, const char *text, long long value, int is_unsigned)
{
    struct hone_recorder *r = hone_recorder;
    if (index >= HONE_RECORD_GIVEN)
        return;
    r->given[index] = value;
    r->given_text[index] = text;
    r->is_given[index] = true;
    r->is_given_unsigned[index] = is_unsigned != 0;
}

/* "line 12: ", or nothing where the line is not known. */
static const char *place(int line, char ret[PLACE_BYTES])
{
    (void)snprintf(ret, PLACE_BYTES, line > 0 ? "line %d: " : "", line);
    return ret;
}

/* The i-th of "const float *in|int n". */
static const char *param_text(const char *names, size_t i, char *ret, size_t size)
{
    for (; i > 0 && names != NULL; i--) {
        names = strchr(names, '|');
        names += names != NULL;
    }
    (void)snprintf(ret, size, "%.*s", names == NULL ? 0 : (int)strcspn(names, "|"),
                   names == NULL ? "" : names);
    return ret;
}

static bool fits(const struct hone_recorder *r, size_t i, const struct hone_record_param *p)
{
    long long value = r->given[i];
    if (r->is_given_unsigned[i] && value < 0) /* above 2^63 */
        return p->size == 8;
    if (p->size >= 8)
        return true;
    if (p->kind == 2)
        return p->size == 1 || (value >= 0 && value >> (8 * p->size) == 0);
    long long half = 1ll << (8 * p->size - 1);
    return value >= -half && value < half;
}

static void check_range(const struct hone_record_kernel *kernel, size_t i,
                        const struct hone_record_param *p, const char *names)
{
    struct hone_recorder *r = hone_recorder;
    char text[120];
    if (i >= HONE_RECORD_GIVEN || !r->is_given[i] || (p->kind != 1 && p->kind != 2) ||
        fits(r, i, p))
        return;
    param_text(names, i, text, sizeof text);
    const char *name = strrchr(text, ' ');
    hone_record_refuse(
        "line %d: %s = %lld (workload %s) does not fit parameter %zu '%s' of %s. fix: "
        "declare 'long long %s'",
        r->pending.line, r->given_text[i], r->given[i], r->call->workload, i + 1, text,
        kernel->expression, name == NULL ? "n" : name + 1);
}

static void check_pointer(const struct hone_record_kernel *kernel, size_t i,
                          const struct hone_record_param *p, const char *names, int line)
{
    uintptr_t at = 0;
    char text[120], where[PLACE_BYTES];
    if (p->kind != 3 || p->size != sizeof at)
        return;
    memcpy(&at, p->at, sizeof at);
    if (hone_record_is_device((const void *)at) || !hone_record_is_mapped((const void *)at))
        return;
    int64_t bytes = 0;
    bool is_local = false;
    const char *variable =
        hone_record_elf_find(hone_recorder->elf, (const void *)at, false, &bytes, &is_local);
    hone_record_refuse(
        variable != NULL
            ? "%sparameter %zu '%s' of %s is an address in host memory. fix: let the kernel name "
              "the variable, or use cudaGetSymbolAddress"
            : "%sparameter %zu '%s' of %s is an address in host memory. fix: pass the value "
              "itself, or copy it to device memory with cudaMemcpyAsync",
        place(line, where), i + 1, param_text(names, i, text, sizeof text), kernel->expression);
}

static void check_shared(const struct hone_record_kernel *kernel,
                         const struct hone_record_shape *shape)
{
    char where[PLACE_BYTES];
    int64_t fixed = kernel->fact == NULL ? 0 : kernel->fact->static_shared_bytes;
    int64_t limit = kernel->max_dynamic > 0 ? kernel->max_dynamic : DEFAULT_SHARED - fixed;
    if (shape->shared <= (uint64_t)hone_max_i64(limit, 0))
        return;
    hone_record_refuse(
        "%s%s asks for %llu bytes of dynamic shared memory, %lld are allowed. fix: "
        "cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %llu); "
        "before the launch (at most %lld)",
        place(shape->line, where), kernel->expression, (unsigned long long)shape->shared,
        (long long)limit, kernel->expression, (unsigned long long)shape->shared,
        (long long)(hone_recorder->device.shared_per_block_optin - fixed));
}

int hone_record_put_launch(struct hone_record_kernel *kernel, const struct hone_record_shape *shape,
                           const struct hone_record_param *params, size_t n, const char *names)
{
    struct hone_recorder *r = hone_recorder;
    uint32_t after[HONE_LIMIT_PLAN_STREAMS];
    char where[PLACE_BYTES];
    size_t len = 0;
    check_shared(kernel, shape);
    for (size_t i = 0; i < n; i++) {
        check_range(kernel, i, &params[i], names);
        check_pointer(kernel, i, &params[i], names, shape->line);
        len = (len + params[i].align - 1) / params[i].align * params[i].align + params[i].size;
        if (len > HONE_LIMIT_PLAN_PARAM_BYTES)
            hone_record_refuse("%sthe parameters of %s take more than %d bytes. fix: put large "
                               "tables into device memory",
                               place(shape->line, where), kernel->expression,
                               HONE_LIMIT_PLAN_PARAM_BYTES);
    }
    size_t n_after = hone_record_order(shape->stream, after);
    struct hone_record_out out = hone_record_add(
        HONE_RECORD_LAUNCH, sizeof(struct hone_record_launch_record), n_after, n, len);
    struct hone_record_launch_record *l = out.fixed;
    *l = (struct hone_record_launch_record){.kernel = (uint32_t)(kernel - r->kernels),
                                            .shared = shape->shared,
                                            .carveout = kernel->carveout,
                                            .line = shape->line,
                                            .is_cooperative = shape->is_cooperative,
                                            .is_programmatic = shape->is_programmatic};
    for (int i = 0; i < 3; i++) {
        l->grid[i] = (uint32_t)shape->grid[i];
        l->block[i] = (uint32_t)shape->block[i];
        l->cluster[i] = shape->cluster[i];
    }
    memcpy(out.after, after, n_after * sizeof *after);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        at = (at + params[i].align - 1) / params[i].align * params[i].align;
        out.params[2 * i] = (uint32_t)at;
        out.params[2 * i + 1] = (uint32_t)params[i].size;
        memcpy(out.bytes + at, params[i].at, params[i].size);
        at += params[i].size;
    }
    return HONE_RT_SUCCESS;
}

void hone_record_stub(const void *pc, const char *names, const struct hone_record_param *params,
                      unsigned long n)
{
    struct hone_recorder *r = hone_recorder;
    if (n > HONE_LIMIT_PLAN_PARAMS)
        hone_record_refuse("a kernel has %lu parameters, at most %d are accepted", n,
                           HONE_LIMIT_PLAN_PARAMS);
    if (r->is_asking) {
        memcpy(r->asked, params, n * sizeof *params);
        r->n_asked = n;
        r->asked_names = names;
        r->is_asking = false;
        return;
    }
    struct hone_record_kernel *kernel = hone_record_kernel_of(pc);
    if (kernel == NULL)
        hone_record_refuse("a kernel was called that has no name");
    if (!r->is_pending)
        hone_record_refuse(
            "kernel %s is called like a function. fix: %s<<<grid, block, 0, stream>>>(...)",
            kernel->expression, kernel->expression);
    r->is_pending = false;
    (void)hone_record_put_launch(kernel, &r->pending, params, n, names);
}

/* Calls the stub with no arguments at all: it only tells their sizes and looks at none. */
static void ask(const void *func)
{
    struct hone_recorder *r = hone_recorder;
    void (*stub)(void) = NULL;
    memcpy(&stub, &func, sizeof stub);
    r->is_asking = true;
    r->n_asked = SIZE_MAX;
    stub();
    r->is_asking = false;
}

int hone_record_launch(const struct hone_launch *launch, void **args)
{
    struct hone_recorder *r = hone_recorder;
    struct hone_record_kernel *kernel = hone_record_kernel_of(launch->func);
    if (kernel == NULL)
        return hone_record_error(HONE_RT_INVALID_FUNCTION,
                                 "cudaLaunchKernel: %p is no kernel of this file", launch->func);
    if (r->job->is_nvcc)
        hone_record_ask_facts(kernel);
    else
        ask(launch->func);
    if (r->n_asked == SIZE_MAX)
        return hone_record_error(HONE_RT_INVALID_FUNCTION, "cudaLaunchKernel: %s is no kernel",
                                 kernel->expression);
    struct hone_record_shape shape = {.shared = launch->shared,
                                      .stream = launch->stream,
                                      .is_cooperative = launch->is_cooperative != 0,
                                      .is_programmatic = launch->is_programmatic != 0};
    memcpy(shape.grid, launch->grid, sizeof shape.grid);
    memcpy(shape.block, launch->block, sizeof shape.block);
    memcpy(shape.cluster, launch->cluster, sizeof shape.cluster);
    if (r->n_asked > 0 && args == NULL)
        return hone_record_error(HONE_RT_INVALID_VALUE, "cudaLaunchKernel: %s needs %zu arguments",
                                 kernel->expression, r->n_asked);
    for (size_t i = 0; i < r->n_asked; i++)
        r->asked[i].at = args[i];
    memset(r->is_given, 0, sizeof r->is_given);
    return hone_record_put_launch(kernel, &shape, r->asked, r->n_asked, r->asked_names);
}
