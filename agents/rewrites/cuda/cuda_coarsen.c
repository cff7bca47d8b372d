/* SPDX-License-Identifier: Apache-2.0 */
/* G06 for maps: a thread computes ROWS elements that stand one below the other.
 *
 *     x = ...; y = ...; if (y >= H || x >= W) return; body(x, y)
 *
 * becomes the same body for y, y + 1, ... of one thread: what neighbouring elements read in
 * common is loaded once, and more loads are on their way. The axis along which memory is
 * contiguous stays with threadIdx.x, whichever the kernel had there (G01). BLOCK threads along x,
 * one row of them. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

enum { COARSEN, SWAP, MAX_ACCESSES = 64 };

struct map {
    const struct hone_cuda_kernel *k;
    const struct hone_cuda_axis *along, *across, *batch; /* batch NULL: none */
    int n_along, n_across; /* accesses that are contiguous by the axis */
};

static bool is_map_stmt(const struct hone_c_node *s)
{
    for (const struct hone_c_node *n = s; n; n = hone_c_walk(s, n))
        if (n->kind == HONE_C_CALL && strncmp(n->name, "__sync", 6) == 0)
            return false;
    return true;
}

static int n_contiguous(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *axis)
{
    struct hone_c_access a[MAX_ACCESSES];
    int count = 0;
    for (size_t s = 0; s < k->n_stmts; s++) {
        size_t n = hone_c_accesses(k->function, k->stmts[s], a, MAX_ACCESSES);
        for (size_t i = 0; i < n && i < MAX_ACCESSES; i++)
            count += hone_c_poly_stride(&a[i].index, axis->var) == HONE_C_STRIDE_UNIT
                         ? 1 + a[i].is_write
                         : 0;
    }
    return count;
}

static bool read_map(const struct hone_cuda_kernel *k, struct map *ret)
{
    *ret = (struct map){.k = k};
    if (!k->is_plain || k->n_axes < 2)
        return false;
    for (size_t i = 0; i < k->n_stmts; i++)
        if (!is_map_stmt(k->stmts[i]))
            return false;
    for (size_t i = 0; i < k->n_axes; i++) {
        int n = n_contiguous(k, &k->axes[i]);
        if (!ret->along || n > ret->n_along) {
            ret->along = &k->axes[i];
            ret->n_along = n;
        }
    }
    for (size_t i = 0; i < k->n_axes; i++) {
        const struct hone_cuda_axis *a = &k->axes[i];
        if (a == ret->along)
            continue;
        if (!ret->across || (a->dim < ret->across->dim && ret->along->dim != 'z')) {
            ret->batch = ret->across;
            ret->across = a;
        } else {
            ret->batch = a;
        }
    }
    return ret->n_along > 0;
}

/* The normal form makes one z of several digits: a grid may have no room for all of them. */
static bool has_room(const struct hone_cuda_kernel *k)
{
    for (size_t i = 0; i < k->n_axes; i++) {
        if (k->axes[i].dim != 'z')
            continue;
        struct hone_c_poly n = hone_c_poly_of(k->function, k->axes[i].bound);
        if (!n.is_known || n.n != 1 || n.terms[0].n_factors > 1)
            return false;
    }
    return true;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct map m;
        if (read_map(all[i], &m))
            ret[n++] = hone_cuda_site(all[i], COARSEN, "each thread computes one element");
    }
    return n;
}

static size_t swap_sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct map m;
        if (read_map(all[i], &m) && m.along->dim != 'x' && has_room(all[i]))
            ret[n++] =
                hone_cuda_site(all[i], SWAP, "threads beside each other are far apart in memory");
    }
    return n;
}

static size_t shape_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                          size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++)
        if (all[i]->is_plain && all[i]->n_axes > 0 && has_room(all[i]))
            ret[n++] = hone_cuda_site(all[i], 0, "the block's shape is one of many");
    return n;
}

/* return leaves one element, not the thread */
static const char *body_text(const struct hone_cuda_kernel *k)
{
    const struct hone_coder_input *in = k->in;
    struct hone_c_edits e;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    hone_c_edits_init(&e, in->tree);
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *s = k->stmts[i];
        for (const struct hone_c_node *n = s; n; n = hone_c_walk(s, n)) {
            if (n->kind != HONE_C_JUMP || strncmp(in->tree->source + n->begin, "return", 6) != 0)
                continue;
            for (const struct hone_c_node *p = n; p != s->parent; p = p->parent)
                if (p->kind == HONE_C_FOR || p->kind == HONE_C_WHILE)
                    return NULL;
            hone_c_replace(&e, n->begin, n->end, "continue");
        }
        hone_buf_printf(&out, "%s\n", hone_c_edit_text(&e, s->begin, hone_c_stmt_end(in->tree, s)));
    }
    return hone_pool_strdup(in->pool, out.data ? out.data : "");
}

static const char *axis_line(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *a,
                             const char *text)
{
    return hone_pool_printf(k->in->pool, "const %s %s = %s;\n", hone_cuda_type(k->in, a->var),
                            a->var->name, text);
}

/* A grid has room for 65535 along y and z; blocks go on from there, `step` elements each. */
static const char *y_loop(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *y,
                          const char *at, const char *first, const char *step, const char *body)
{
    const char *bound = hone_cuda_inline(k, y->bound, NULL, 0);
    return bound && body ? hone_pool_printf(k->in->pool,
                                            "for (int64_t %s = (int64_t)blockIdx.y * %s%s; %s < "
                                            "%s; %s += (int64_t)gridDim.y * %s) {\n%s}\n",
                                            at, step, first, at, bound, at, step, body)
                         : NULL;
}

static const char *z_loop(const struct hone_cuda_kernel *k, const struct hone_cuda_axis *z,
                          const char *body)
{
    const char *name = z->var->name, *bound = hone_cuda_inline(k, z->bound, NULL, 0);
    return bound && body
               ? hone_pool_printf(k->in->pool,
                                  "for (%s %s = blockIdx.z; %s < %s; %s += gridDim.z) {\n%s}\n",
                                  hone_cuda_type(k->in, z->var), name, name, bound, name, body)
               : NULL;
}

static const char *z_blocks(const struct hone_cuda_kernel *k, const struct hone_cuda_launch *l,
                            const struct hone_cuda_axis *z)
{
    const char *n = hone_cuda_at_launch(k, l, z->bound);
    return n ? hone_pool_printf(k->in->pool, "(unsigned)((%s) < 65535 ? (%s) : 65535)", n, n)
             : NULL;
}

static const char *y_blocks(const struct hone_cuda_kernel *k, const struct hone_cuda_launch *l,
                            const struct hone_cuda_axis *y, const char *step)
{
    const char *n = hone_cuda_blocks(k, l, y->bound, step);
    return n ? hone_pool_printf(k->in->pool, "%s < 65535 ? %s : 65535", n, n) : NULL;
}

static char *refuse(struct hone_err *err, const char *why)
{
    hone_fail(err, HONE_E_ARG, "%s", why);
    return NULL;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct map m;
    struct hone_c_edits edits;
    const char *block, *rows, *body = k ? body_text(k) : NULL;
    hone_c_edits_init(&edits, in->tree);
    if (!k || !read_map(k, &m))
        return refuse(err, "the region is no map over two axes");
    const char *along = hone_cuda_inline(k, m.along->bound, NULL, 0),
               *across = hone_cuda_inline(k, m.across->bound, NULL, 0);
    if (!body || !along || !across)
        return refuse(err, "the kernel returns from within a loop, or a bound changes");
    const char *pragmas = hone_cuda_tunable(in, "BLOCK", "128, 64, 256, 32", &block);
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "ROWS", "4, 2, 8, 1", &rows));
    const char *r = hone_fresh_name(in, "r"), *at = hone_fresh_name(in, "across_at");
    const char *each = hone_pool_printf(
        in->pool, "#pragma unroll\nfor (int %s = 0; %s < %s; %s++) {\n%sif (%s < %s) {\n%s}\n}\n",
        r, r, rows, r, axis_line(k, m.across, hone_pool_printf(in->pool, "%s + %s", at, r)),
        m.across->var->name, across, body);
    each = y_loop(k, m.across, at, "", rows, each);
    each = each && m.batch ? z_loop(k, m.batch, each) : each;
    if (!each)
        return refuse(err, "a bound changes");
    const char *text = hone_pool_printf(
        in->pool, "%sif (%s >= %s)\nreturn;\n%s",
        axis_line(k, m.along,
                  hone_pool_printf(in->pool, "(int64_t)blockIdx.x * %s + threadIdx.x", block)),
        m.along->var->name, along, each);
    for (size_t i = 0; i < k->n_launches; i++) {
        const struct hone_cuda_launch *l = &k->launches[i];
        const char *gx = hone_cuda_blocks(k, l, m.along->bound, block),
                   *gy = y_blocks(k, l, m.across, rows),
                   *gz = m.batch ? z_blocks(k, l, m.batch) : NULL;
        if (!gx || !gy || (m.batch && !gz))
            return refuse(err, "a bound is not known where the kernel is started");
        hone_cuda_set_launch(
            &edits, l,
            hone_pool_printf(in->pool, "dim3(%s, %s%s%s)", gx, gy, gz ? ", " : "", gz ? gz : ""),
            block, "0");
    }
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, block, ""), text);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

/* New dims: x one thread an element, along y and z one block after another. NULL: it has a loop, and
 * a rule that tiles sums would not know it again. */
static const char *shape_in_loop(const struct hone_cuda_kernel *k, const char *dims,
                                 const char *const names[3])
{
    struct hone_pool *pool = k->in->pool;
    const struct hone_cuda_axis *axes[3] = {NULL, NULL, NULL};
    for (size_t i = 0; i < k->n_stmts; i++)
        for (const struct hone_c_node *n = k->stmts[i]; n; n = hone_c_walk(k->stmts[i], n))
            if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE)
                return NULL;
    for (size_t i = 0; i < k->n_axes; i++)
        axes[dims[i] - 'x'] = &k->axes[i];
    const char *bound = axes[0] && axes[1] ? hone_cuda_inline(k, axes[0]->bound, NULL, 0) : NULL;
    const char *body = bound ? body_text(k) : NULL, *at = hone_fresh_name(k->in, "y_at");
    if (body && axes[2])
        body = z_loop(k, axes[2], body);
    if (body)
        body = y_loop(k, axes[1], at, " + threadIdx.y", names[1],
                      hone_pool_printf(pool, "%s%s", axis_line(k, axes[1], at), body));
    return body ? hone_pool_printf(
                      pool, "%sif (%s >= %s)\nreturn;\n%s",
                      axis_line(k, axes[0],
                                hone_pool_printf(pool, "(int64_t)blockIdx.x * %s + threadIdx.x",
                                                 names[0])),
                      axes[0]->var->name, bound, body)
                : NULL;
}

/* A new dim for each axis (SWAP: the contiguous one along x), sizes of the block as tunables. */
static char *reshape(const struct hone_coder_input *in, const struct hone_cuda_kernel *k,
                     const char *dims, struct hone_err *err)
{
    static const char *const stems[] = {"BLOCK_X", "BLOCK_Y", "BLOCK_Z"};
    static const char *const sizes[2][3] = {{"256, 128, 512, 64, 1024", "1", "1"},
                                            {"32, 64, 128, 16", "8, 4, 2, 1", "1"}};
    const char *names[3] = {"1", "1", "1"}, *pragmas = "", *parts[3] = {"1", "1", "1"};
    struct hone_c_edits inner, edits;
    hone_c_edits_init(&inner, in->tree);
    hone_c_edits_init(&edits, in->tree);
    for (size_t i = 0; i < k->n_axes; i++) {
        size_t d = (size_t)(dims[i] - 'x');
        const char *values = sizes[k->n_axes > 1][d];
        if (strcmp(values, "1") != 0)
            pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                                       hone_cuda_tunable(in, stems[d], values, &names[d]));
        const struct hone_c_node *init = k->axes[i].var->last;
        hone_c_replace(&inner, init->begin, init->end,
                       hone_pool_printf(in->pool, "(int64_t)blockIdx.%c * %s + threadIdx.%c",
                                        dims[i], names[d], dims[i]));
    }
    const char *looped = k->n_axes > 1 ? shape_in_loop(k, dims, names) : NULL;
    bool is_looped = looped != NULL;
    for (size_t l = 0; l < k->n_launches; l++) {
        for (size_t i = 0; i < k->n_axes; i++) {
            size_t d = (size_t)(dims[i] - 'x');
            parts[d] = dims[i] == 'z' && is_looped ? z_blocks(k, &k->launches[l], &k->axes[i])
                       : dims[i] == 'y' && is_looped
                           ? y_blocks(k, &k->launches[l], &k->axes[i], names[d])
                           : hone_cuda_blocks(k, &k->launches[l], k->axes[i].bound, names[d]);
            if (!parts[d])
                return refuse(err, "a bound is not known where the kernel is started");
        }
        hone_cuda_set_launch(
            &edits, &k->launches[l],
            hone_pool_printf(in->pool, "dim3(%s, %s, %s)", parts[0], parts[1], parts[2]),
            hone_pool_printf(in->pool, "dim3(%s, %s, %s)", names[0], names[1], names[2]),
            k->launches[l].shared);
    }
    const struct hone_c_node *b = k->function->body;
    const char *bounds = hone_pool_printf(in->pool, "%s * %s * %s", names[0], names[1], names[2]);
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, bounds, ""),
                             looped ? looped : hone_c_edit_text(&inner, b->begin + 1, b->end - 1));
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

static char *swap_apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                        struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct map m;
    char dims[HONE_CUDA_MAX_AXES] = {0};
    if (!k || !read_map(k, &m))
        return refuse(err, "the region is no map over two axes");
    for (size_t i = 0; i < k->n_axes; i++)
        dims[i] = &k->axes[i] == m.along  ? 'x'
                  : k->axes[i].dim == 'x' ? m.along->dim
                                          : k->axes[i].dim;
    return reshape(in, k, dims, err);
}

static char *shape_apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                         struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    char dims[HONE_CUDA_MAX_AXES] = {0};
    for (size_t i = 0; k && i < k->n_axes; i++)
        dims[i] = k->axes[i].dim;
    return k && k->is_plain && k->n_axes > 0 ? reshape(in, k, dims, err)
                                             : refuse(err, "the region is no plain kernel");
}

const struct hone_rewrite hone_rewrite_cuda_coarsen = {
    .name = "cuda_coarsen",
    .target = "cuda",
    .strategy = "G06",
    .words = "several elements for each thread",
    .sites = sites,
    .apply = apply,
};

const struct hone_rewrite hone_rewrite_cuda_coalesce = {
    .name = "cuda_coalesce",
    .target = "cuda",
    .strategy = "G01",
    .words = "neighbouring threads along the contiguous axis",
    .sites = swap_sites,
    .apply = swap_apply,
};

const struct hone_rewrite hone_rewrite_cuda_block_shape = {
    .name = "cuda_block_shape",
    .target = "cuda",
    .strategy = "G14",
    .words = "the block's shape as a parameter",
    .sites = shape_sites,
    .apply = shape_apply,
};
