/* SPDX-License-Identifier: Apache-2.0 */
/* What nvcc's own host code calls, for objects of the second lane: kernels and variables are
 * registered by their address on the host when the object is loaded, and a launch comes in two
 * halves, the shape and then the stub. A stub hands over addresses of arguments without their
 * sizes: those come from the cubin, which exists by then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/record/record_exports.h"
#include "tools/runner/cuda/record/record_state.h"

#define MISSING_CONFIGURATION 52
#define NAMES_BYTES           4096

/* ---- the registry ---- */

static void add(const void *host, const char *device, int64_t bytes, bool is_variable)
{
    struct hone_recorder *r = hone_recorder;
    if (r->n_registered == HONE_RECORD_REGISTERED)
        hone_record_refuse("the source makes more than %d kernels and device variables",
                           HONE_RECORD_REGISTERED);
    if (r->registered == NULL)
        r->registered = hone_calloc(HONE_RECORD_REGISTERED, sizeof *r->registered);
    r->registered[r->n_registered++] = (struct hone_record_registered){
        .host = host, .device = device, .bytes = bytes, .is_variable = is_variable};
}

const char *hone_record_registered_name(const void *at, bool is_variable, int64_t *ret_bytes)
{
    const struct hone_recorder *r = hone_recorder;
    for (size_t i = 0; i < r->n_registered; i++) {
        const struct hone_record_registered *one = &r->registered[i];
        size_t bytes = is_variable ? (size_t)one->bytes : 1;
        if (one->is_variable == is_variable && (uintptr_t)at >= (uintptr_t)one->host &&
            (uintptr_t)at - (uintptr_t)one->host < bytes) {
            *ret_bytes = one->bytes;
            return one->device;
        }
    }
    return NULL;
}

void **__cudaRegisterFatBinary(void *binary)
{
    (void)binary;
    return (void **)hone_recorder; /* a handle: any address but 0 */
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *host, char *function, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid, int *warp)
{
    (void)handle, (void)function, (void)threads, (void)tid, (void)bid, (void)block, (void)grid,
        (void)warp;
    add(host, name, 0, false);
}

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int is_extern,
                       size_t size, int is_constant, int is_global)
{
    (void)handle, (void)address, (void)is_extern, (void)is_constant, (void)is_global;
    add(host, name, (int64_t)size, true);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name,
                              int is_extern, size_t size, int is_constant, int is_global)
{
    (void)handle, (void)host, (void)address, (void)is_extern, (void)size, (void)is_constant,
        (void)is_global;
    hone_record_refuse("'%.200s' is __managed__: memory that host and device share is not "
                       "supported. fix: __device__",
                       name);
}

/* ---- parameters ---- */

/* "float const*|int" from "void k<16>(float const*, int)". false: no such list. */
static bool list_types(const char *pretty, char *ret, size_t size, size_t *ret_n)
{
    size_t len = strlen(pretty), open = len, depth = 0, n = 0;
    while (open > 0) {
        open--;
        depth += pretty[open] == ')';
        if (pretty[open] == '(' && --depth == 0)
            break;
    }
    if (len < 2 || pretty[len - 1] != ')' || pretty[open] != '(' || len - open > size)
        return false;
    depth = 0;
    *ret_n = len - open > 2;
    for (size_t i = open + 1; i < len - 1; i++) {
        char c = pretty[i];
        depth += c == '(' || c == '<' || c == '[' || c == '{';
        depth -= depth > 0 && (c == ')' || c == '>' || c == ']' || c == '}');
        bool is_end = c == ',' && depth == 0;
        *ret_n += is_end;
        ret[n++] = is_end ? '|' : c;
        i += is_end && pretty[i + 1] == ' ';
    }
    ret[n] = '\0';
    return true;
}

static int kind_of(const char *names, size_t i)
{
    for (; i > 0 && names != NULL; i--) {
        names = strchr(names, '|');
        names += names != NULL;
    }
    size_t len = names == NULL ? 0 : strcspn(names, "|");
    return len > 0 && names[len - 1] == '*' ? 3 : 0;
}

/* Where a parameter lies, counted from the first, tells how it is aligned, as far as that matters
 * here. (The first does not lie at 0 where alignments beyond 16 are wanted.) */
static size_t alignment_of(const struct hone_i64s *params, size_t i)
{
    int64_t at = params->v[2 * i] - params->v[0];
    return at <= 0 ? 1 : (size_t)(at & -at);
}

void hone_record_ask_facts(struct hone_record_kernel *kernel)
{
    struct hone_recorder *r = hone_recorder;
    if (kernel->fact == NULL)
        hone_record_refuse("kernel %s is not in the cubin", kernel->expression);
    const struct hone_i64s *params = &kernel->fact->params;
    size_t n = (size_t)hone_min_i64((int64_t)params->n / 2, HONE_LIMIT_PLAN_PARAMS), n_types = 0;
    char names[NAMES_BYTES];
    if (kernel->names == NULL && list_types(kernel->pretty, names, sizeof names, &n_types) &&
        n_types == n)
        kernel->names = hone_strdup(names);
    for (size_t i = 0; i < n; i++)
        r->asked[i] = (struct hone_record_param){.size = (size_t)params->v[2 * i + 1],
                                                 .align = alignment_of(params, i),
                                                 .kind = kind_of(kernel->names, i)};
    r->n_asked = n;
    r->asked_names = kernel->names;
}

/* ---- launches ---- */

unsigned __cudaPushCallConfiguration(struct hone_dim3 grid, struct hone_dim3 block, size_t shared,
                                     void *stream)
{
    struct hone_recorder *r = hone_recorder;
    if (r->n_pushed == HONE_RECORD_PUSHED)
        hone_record_refuse("more than %d launches wait for their arguments. fix: no launches "
                           "inside of a launch's arguments",
                           HONE_RECORD_PUSHED);
    r->pushed[r->n_pushed++] = (struct hone_record_pushed){grid, block, shared, stream};
    return 0;
}

int __cudaPopCallConfiguration(struct hone_dim3 *grid, struct hone_dim3 *block, size_t *shared,
                               void *stream)
{
    struct hone_recorder *r = hone_recorder;
    if (r->n_pushed == 0)
        return hone_record_error(MISSING_CONFIGURATION, "a kernel that was called like a function");
    const struct hone_record_pushed *top = &r->pushed[--r->n_pushed];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    memcpy(stream, &top->stream, sizeof top->stream);
    return HONE_RT_SUCCESS;
}

/* A handle of a kernel is its address on the host: every call takes either. */
int __cudaGetKernel(void **ret, const void *func)
{
    memcpy(ret, &func, sizeof func);
    return HONE_RT_SUCCESS;
}

int cudaGetKernel(void **ret, const void *func)
{
    return __cudaGetKernel(ret, func);
}

int __cudaLaunchKernel(void *kernel, struct hone_dim3 grid, struct hone_dim3 block, void **args,
                       size_t shared, void *stream)
{
    const struct hone_launch launch = {.func = kernel,
                                       .grid = {grid.x, grid.y, grid.z},
                                       .block = {block.x, block.y, block.z},
                                       .shared = shared,
                                       .stream = stream};
    return hone_record_launch(&launch, args);
}
