/* SPDX-License-Identifier: Apache-2.0 */
/* G20 for maps: rows are dealt out to blocks, a row's elements to neighbouring threads in turn.
 *
 *     x = ...; y = ...; if (y >= R || x >= D) return; body(x, y)
 *
 * becomes
 *
 *     for (y = blockIdx.y; y < R; y += gridDim.y)
 *         for (x = lane; x < D; x += lanes) body(x, y)
 *
 * with EACH elements of a row for a thread. Rows may have any pitch. A loop that is dealt out so can
 * take whole vectors (cuda_vector); a map over one axis is one row. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

enum { MAX_ACCESSES = 64 };

/* Accesses that are contiguous along the axis; 0 when one strides. */
static size_t n_along(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *axis)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = 0;
    for (size_t s = 0; s < k->n_stmts; s++) {
        size_t m = hone_c_accesses(k->function, k->stmts[s], a, MAX_ACCESSES);
        for (size_t i = 0; i < m && i < MAX_ACCESSES; i++) {
            enum hone_c_stride stride = hone_c_poly_stride(&a[i].index, axis->var);
            if (stride == HONE_C_STRIDE_FAR)
                return 0;
            n += stride == HONE_C_STRIDE_UNIT;
        }
    }
    return n;
}

/* The axis along which memory is contiguous in a body without loops and jumps; NULL: none. */
static const struct hone_cuda_axis *row_axis(const struct hone_cuda_kernel *k)
{
    const struct hone_cuda_axis *best = NULL;
    size_t most = 0;
    if (!k->is_plain || k->is_single)
        return NULL;
    for (size_t i = 0; i < k->n_stmts; i++)
        for (const struct hone_c_node *n = k->stmts[i]; n; n = hone_c_walk(k->stmts[i], n))
            if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE || n->kind == HONE_C_JUMP)
                return NULL;
    for (size_t i = 0; i < k->n_axes; i++) {
        size_t n = n_along(k, &k->axes[i]);
        if (n > most) {
            most = n;
            best = &k->axes[i];
        }
    }
    return best;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++)
        if (row_axis(all[i]))
            ret[n++] = hone_cuda_site(all[i], 0, "each thread computes one element of a map");
    return n;
}

static const char *loop_text(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *axis,
                             const char *from, const char *step)
{
    const char *bound = hone_cuda_inline(k, axis->bound, NULL, 0), *name = axis->var->name;
    return bound ? hone_pool_printf(k->in->pool, "for (%s %s = %s; %s < %s; %s += %s) {\n",
                                    hone_cuda_type(k->in, axis->var), name, from, name, bound, name,
                                    step)
                 : NULL;
}

static const char *make_body(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *row,
                             const char *lanes)
{
    struct hone_pool *pool = k->in->pool;
    const char *lane = hone_fresh_name(k->in, "lane"), *ends = "}\n";
    const char *out = hone_pool_printf(
        pool, "const int64_t %s = (int64_t)blockIdx.x * %s + threadIdx.x;\n", lane, lanes);
    char dim = 'y';
    for (size_t i = 0; i < k->n_axes; i++) {
        if (&k->axes[i] == row)
            continue;
        const char *loop = loop_text(k, &k->axes[i], hone_pool_printf(pool, "blockIdx.%c", dim),
                                     hone_pool_printf(pool, "gridDim.%c", dim));
        if (!loop)
            return NULL;
        out = hone_pool_printf(pool, "%s%s", out, loop);
        ends = hone_pool_printf(pool, "%s}\n", ends);
        dim++;
    }
    const char *inner =
        loop_text(k, row, lane, hone_pool_printf(pool, "(int64_t)gridDim.x * %s", lanes));
    if (!inner)
        return NULL;
    out = hone_pool_printf(pool, "%s%s", out, inner);
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *s = k->stmts[i];
        out = hone_pool_printf(pool, "%s%.*s\n", out,
                               (int)(hone_c_stmt_end(k->in->tree, s) - s->begin),
                               k->in->tree->source + s->begin);
    }
    return hone_pool_printf(pool, "%s%s", out, ends);
}

/* Blocks of the second and third axis have a limit; the loops go on where it is met. */
static bool set_launch(struct hone_c_edits *edits, const struct hone_cuda_kernel *k,
                       const struct hone_cuda_axis *row, const struct hone_cuda_launch *l,
                       const char *lanes, const char *each)
{
    struct hone_pool *pool = k->in->pool;
    const char *grid =
        hone_cuda_blocks(k, l, row->bound, hone_pool_printf(pool, "(%s * %s)", lanes, each));
    for (size_t i = 0; grid && i < k->n_axes; i++) {
        const char *n = hone_cuda_at_launch(k, l, k->axes[i].bound);
        if (&k->axes[i] != row)
            grid = n ? hone_pool_printf(pool, "%s, (unsigned)(%s < 65535 ? %s : 65535)", grid, n, n)
                     : NULL;
    }
    if (grid)
        hone_cuda_set_launch(edits, l,
                             k->n_axes > 1 ? hone_pool_printf(pool, "dim3(%s)", grid) : grid, lanes,
                             l->shared);
    return grid != NULL;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    const struct hone_cuda_axis *row = k ? row_axis(k) : NULL;
    struct hone_c_edits edits;
    const char *lanes, *each, *body = NULL;
    hone_c_edits_init(&edits, in->tree);
    const char *pragmas = hone_cuda_tunable(in, "LANES", "256, 128, 512, 64, 32", &lanes);
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "EACH", "8, 4, 16, 32", &each));
    if (row)
        body = make_body(k, row, lanes);
    for (size_t i = 0; body && i < k->n_launches; i++)
        if (!set_launch(&edits, k, row, &k->launches[i], lanes, each))
            body = NULL;
    if (!body) {
        hone_fail(err, HONE_E_ARG, "the region is no map, or a bound is unknown");
        return NULL;
    }
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, lanes, ""), body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_map_lanes = {
    .name = "cuda_map_lanes",
    .target = "cuda",
    .strategy = "G20",
    .words = "deal a map's rows out to blocks, their elements to threads",
    .sites = sites,
    .apply = apply,
};
