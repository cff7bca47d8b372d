/* SPDX-License-Identifier: Apache-2.0 */
/* Features of CUDA versions: from the text of the kernels, from counters and launch facts. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/source/cuda_gather.h"
#include "agents/planner/features.h"

enum { MAX_ACCESSES = 64 };

static void set(struct hone_features *f, enum hone_feature_id id, double value)
{
    if (isfinite(value))
        f->v[id] = (struct hone_feature){true, value};
}

static void add(struct hone_features *f, enum hone_feature_id id, double value)
{
    set(f, id, hone_feature_or(f, id, 0) + value);
}

/* ---- text ---- */

static const struct {
    const char *text;
    enum hone_feature_id id;
} words[] = {
    {"__shared__", HONE_F_SHARED},
    {"__syncthreads", HONE_F_BARRIERS},
    {"__shfl_", HONE_F_SHUFFLES},
    {"atomic", HONE_F_ATOMICS},
    {"float4", HONE_F_VECTORS},
    {"float2", HONE_F_VECTORS},
    {"int4", HONE_F_VECTORS},
    {"vector_of<", HONE_F_VECTORS},
    {"cp.async", HONE_F_ASYNC},
    {"__pipeline_", HONE_F_ASYNC},
    {"memcpy_async", HONE_F_ASYNC},
    {"wmma", HONE_F_MMA},
    {"wgmma", HONE_F_MMA},
    {"mma.sync", HONE_F_MMA},
    {"__restrict__", HONE_F_RESTRICT},
    {"__nv_bfloat16", HONE_F_NARROW},
    {"__half", HONE_F_NARROW},
    {"int8_t", HONE_F_NARROW},
    {"cudaMemcpy", HONE_F_COPIES},
    {"cudaMalloc", HONE_F_ALLOCATIONS},
    {"#pragma hone tune", HONE_F_TUNABLES},
    {"__global__", HONE_F_KERNELS},
};

static void of_words(const char *source, struct hone_features *f)
{
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        set(f, words[i].id, 0);
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        for (const char *s = source; (s = strstr(s, words[i].text)); s++)
            add(f, words[i].id, 1);
}

/* The index that runs along neighbouring threads of a plain kernel. */
static const struct hone_c_node *fastest(const struct hone_cuda_kernel *k)
{
    for (size_t i = 0; i < k->n_axes; i++)
        if (k->axes[i].dim == 'x')
            return k->axes[i].var;
    return NULL;
}

static void of_access(const struct hone_cuda_kernel *k, const struct hone_c_access *a,
                      const struct hone_c_loop *loop, struct hone_features *f)
{
    const struct hone_c_node *x = fastest(k);
    enum hone_c_stride s = x ? hone_c_poly_stride(&a->index, x) : HONE_C_STRIDE_ZERO;
    if (!a->root || a->root->kind != HONE_C_PARAM) {
        add(f, HONE_F_LOCAL_ARRAYS,
            a->root && a->root->kind == HONE_C_VAR && strchr(a->root->type, '[') &&
                !(a->root->cuda & HONE_C_IS_SHARED) && loop && !loop->is_small);
        return;
    }
    add(f, HONE_F_FAR_INNER, s == HONE_C_STRIDE_FAR);
    add(f, HONE_F_UNIT_INNER, s == HONE_C_STRIDE_UNIT);
    add(f, HONE_F_INDIRECT, s == HONE_C_STRIDE_UNKNOWN);
    if (!loop || !loop->var)
        return;
    enum hone_c_stride along = hone_c_poly_stride(&a->index, loop->var);
    bool starts_apart = x && loop->lower && hone_cuda_depends(k, loop->lower, x);
    add(f, HONE_F_ROW_LOOPS,
        along == HONE_C_STRIDE_UNIT && (s == HONE_C_STRIDE_FAR || starts_apart));
    bool is_repeated = along == HONE_C_STRIDE_ZERO;
    for (size_t i = 0; i < k->n_axes; i++)
        is_repeated |=
            hone_c_poly_stride(&a->index, k->axes[i].var) == HONE_C_STRIDE_ZERO && a->is_read;
    add(f, HONE_F_REUSE, is_repeated);
}

static void of_loops(const struct hone_cuda_kernel *k, struct hone_features *f)
{
    for (size_t i = 0; i < k->nest.n; i++) {
        const struct hone_c_loop *l = &k->nest.loops[i];
        set(f, HONE_F_LOOP_DEPTH, fmax(l->depth + 1, hone_feature_or(f, HONE_F_LOOP_DEPTH, 0)));
        for (size_t j = 0; j < i; j++)
            add(f, HONE_F_PASSES, k->nest.loops[j].node->parent == l->node->parent && !l->is_small);
    }
}

static void of_nodes(const struct hone_cuda_kernel *k, struct hone_features *f)
{
    static const char *const math[] = {"exp", "log", "sin", "cos", "pow", "tanh", "erf"};
    const struct hone_c_node *top = k->function;
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        for (size_t i = 0; n->kind == HONE_C_CALL && i < HONE_COUNTOF(math); i++)
            add(f, HONE_F_MATH_CALLS, strncmp(n->name, math[i], strlen(math[i])) == 0);
        add(f, HONE_F_BRANCHES, n->kind == HONE_C_IF || n->kind == HONE_C_CONDITIONAL);
        add(f, HONE_F_DIVISIONS,
            n->kind == HONE_C_BINARY && (strcmp(n->op, "/") == 0 || strcmp(n->op, "%") == 0));
    }
}

/* ---- banks ---- */

static bool names(const struct hone_c_node *top, const char *name)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (strcmp(n->name, name) == 0)
            return true;
    return false;
}

/* Does the index differ between neighbouring threads? */
static bool is_by_thread(const struct hone_cuda_kernel *k, const struct hone_c_node *index)
{
    const struct hone_c_node *x = fastest(k);
    for (const struct hone_c_node *n = index; n; n = hone_c_walk(index, n)) {
        if (n->kind == HONE_C_BINARY && (strcmp(n->op, "/") == 0 || strcmp(n->op, ">>") == 0))
            return false;
        if (strcmp(n->name, "threadIdx.x") == 0 || (x && n->decl == x) ||
            (n->decl && n->decl->kind == HONE_C_VAR && names(n->decl, "threadIdx.x")))
            return true;
    }
    return false;
}

/* Bytes between rows of "float[32][33]"; 0: not such an array. */
static int64_t row_bytes(const char *type, struct hone_pool *pool)
{
    size_t len = strcspn(type, "[");
    const char *last = strrchr(type, '[');
    if (!last || type + len == last)
        return 0;
    while (len > 0 && type[len - 1] == ' ')
        len--;
    return strtoll(last + 1, NULL, 10) * hone_cuda_type_bytes(hone_pool_strndup(pool, type, len));
}

static bool is_shared_column(const struct hone_cuda_kernel *k, const struct hone_c_node *n)
{
    enum { BYTES = 32 };
    const struct hone_c_node *inner = n->first ? hone_c_strip(n->first) : NULL;
    if (n->kind != HONE_C_SUBSCRIPT || !inner || inner->kind != HONE_C_SUBSCRIPT || !inner->first)
        return false;
    const struct hone_c_node *array = hone_c_strip(inner->first)->decl;
    int64_t pitch =
        array && array->cuda & HONE_C_IS_SHARED ? row_bytes(array->type, k->in->pool) : 0;
    return pitch > 0 && pitch % BYTES == 0 && is_by_thread(k, inner->last) &&
           !is_by_thread(k, n->last);
}

static void of_banks(const struct hone_cuda_kernel *k, struct hone_features *f)
{
    for (const struct hone_c_node *n = k->function; n; n = hone_c_walk(k->function, n))
        add(f, HONE_F_SHARED_COLUMNS, is_shared_column(k, n));
}

static const struct hone_c_loop *loop_around(const struct hone_cuda_kernel *k,
                                             const struct hone_c_node *node)
{
    for (const struct hone_c_node *n = node; n && n != k->function; n = n->parent)
        if (n->kind == HONE_C_FOR)
            return hone_c_loop_of(&k->nest, n);
    return NULL;
}

static void of_accesses(const struct hone_cuda_kernel *k, struct hone_features *f)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t m = hone_c_accesses(k->function, k->function->body, a, MAX_ACCESSES);
    for (size_t j = 0; j < m && j < MAX_ACCESSES; j++)
        of_access(k, &a[j], loop_around(k, a[j].node), f);
    struct hone_cuda_gather g; /* its addresses may be too long for polynomials */
    if (hone_cuda_read_gather(k, &g) && hone_feature_or(f, HONE_F_REUSE, 0) < 2)
        add(f, HONE_F_REUSE, 2);
}

/* Macros and tiles hide what is read again; the normal form, in which rules read it, does not. */
static void of_normal(const struct hone_coder_input *in, struct hone_features *f)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    struct hone_features own = {.v = {{false, 0}}};
    size_t n = in->normal ? hone_cuda_kernels(in->normal, all, HONE_CUDA_MAX_KERNELS) : 0;
    set(&own, HONE_F_REUSE, 0);
    for (size_t i = 0; i < n; i++)
        of_accesses(all[i], &own);
    set(f, HONE_F_REUSE,
        fmax(hone_feature_or(f, HONE_F_REUSE, 0), hone_feature_or(&own, HONE_F_REUSE, 0)));
}

void hone_features_of_cuda(const struct hone_coder_input *in, struct hone_features *f)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    if (in->is_blind) {
        of_words(in->tree->source, f);
        return;
    }
    size_t n = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS);
    for (int id = HONE_F_LOOP_DEPTH; id <= HONE_F_NARROW; id++)
        set(f, (enum hone_feature_id)id, 0);
    of_words(in->tree->source, f);
    set(f, HONE_F_KERNELS, (double)n);
    for (size_t i = 0; i < n; i++) {
        of_accesses(all[i], f);
        add(f, HONE_F_ONE_THREAD, all[i]->is_single);
        of_loops(all[i], f);
        of_nodes(all[i], f);
        of_banks(all[i], f);
    }
    of_normal(in, f);
}

/* ---- report ---- */

static void of_build(const struct hone_build_report *build, struct hone_features *f)
{
    const struct hone_kernel_report *kernels = build->kernels.v;
    for (size_t i = 0; i < build->kernels.n; i++) {
        double spill = (double)(kernels[i].spill_store_bytes + kernels[i].spill_load_bytes);
        set(f, HONE_F_REGISTERS,
            fmax((double)kernels[i].registers, hone_feature_or(f, HONE_F_REGISTERS, 0)));
        set(f, HONE_F_SPILL_BYTES, fmax(spill, hone_feature_or(f, HONE_F_SPILL_BYTES, 0)));
        set(f, HONE_F_FRAME_BYTES,
            fmax((double)kernels[i].frame_bytes, hone_feature_or(f, HONE_F_FRAME_BYTES, 0)));
    }
    const char *arch = build->command ? strstr(build->command, "sm_") : NULL;
    long value = arch ? strtol(arch + 3, NULL, 10) : 0;
    if (value > 0)
        set(f, HONE_F_ARCH, (double)value);
}

/* Of the whole call where the report has it, else of its first launch that has it. */
void hone_features_of_counters(const struct hone_report *report, struct hone_features *f)
{
    if (report->build)
        of_build(report->build, f);
    if (!report->profile)
        return;
    bool is_of_call[HONE_N_FEATURES] = {false}, is_known[HONE_N_FEATURES] = {false};
    for (size_t i = 0; i < report->profile->counters.n; i++) {
        const struct hone_counter *c =
            &((const struct hone_counter *)report->profile->counters.v)[i];
        enum hone_feature_id id = hone_feature_find(c->name);
        if (id < HONE_F_SM_ACTIVE || id == HONE_N_FEATURES || is_of_call[id] ||
            (c->kernel && is_known[id]))
            continue;
        set(f, id, c->value);
        is_known[id] = true;
        is_of_call[id] = !c->kernel;
    }
}

/* The profile lists launches by their time: "void tiled<16>(float const*) (operation 2)". */
const char *hone_hot_kernel(const struct hone_report *report, struct hone_pool *pool)
{
    for (size_t i = 0; report->profile && i < report->profile->counters.n; i++) {
        const struct hone_counter *c =
            &((const struct hone_counter *)report->profile->counters.v)[i];
        if (!c->kernel)
            continue;
        const char *end = c->kernel + strcspn(c->kernel, "<(");
        while (end > c->kernel && end[-1] == ' ')
            end--;
        const char *begin = end;
        while (begin > c->kernel && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
            begin--;
        return end > begin ? hone_pool_strndup(pool, begin, (size_t)(end - begin)) : NULL;
    }
    return NULL;
}
