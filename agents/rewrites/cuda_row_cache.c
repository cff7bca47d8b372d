/* SPDX-License-Identifier: Apache-2.0 */
/* G26 with G05: a row that several loops of a block walk along is read from memory once.
 *
 *     for i (lane) s += f(X[m, i]);  ...  for i (lane) Y[m, i] = g(X[m, i], s);
 *
 * variant 0 keeps the first CACHE elements in shared memory, as many as the row has; variant 1
 * keeps ITEMS elements of each lane in registers, all of them on their way at once. Elements beyond
 * are read again as before, so any length will do. */
#include <stdlib.h>
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

enum { IN_SHARED, IN_REGISTERS, MAX_LOOPS = 8, MAX_USES = 32, MAX_ACCESSES = 32 };

struct cache {
    const struct hone_cuda_kernel *k;
    const struct hone_c_node *root;
    const char *type;
    struct hone_c_poly base; /* index without the loop's variable */
    struct hone_cuda_lane_loop loops[MAX_LOOPS];
    size_t n_loops;
    struct {
        const struct hone_c_node *node;
        size_t loop;
    } uses[MAX_USES];
    size_t n_uses;
};

static struct hone_c_poly without(const struct hone_c_poly *p, const struct hone_c_node *var)
{
    struct hone_c_poly out = *p;
    out.n = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool has_var = false;
        for (size_t f = 0; f < p->terms[i].n_factors; f++)
            has_var = has_var || p->terms[i].factors[f].decl == var;
        if (!has_var)
            out.terms[out.n++] = p->terms[i];
    }
    return out;
}

static bool is_written(const struct hone_cuda_kernel *k, const struct hone_c_node *root)
{
    struct hone_c_access a[64];
    size_t n = hone_c_accesses(k->function, k->function->body, a, HONE_COUNTOF(a));
    for (size_t i = 0; i < n && i < HONE_COUNTOF(a); i++)
        if (a[i].is_write && (!a[i].root || a[i].root == root))
            return true;
    return n > HONE_COUNTOF(a);
}

/* Reads of root in the loop, all at one place per iteration. */
static bool add_loop(struct cache *c, const struct hone_c_loop *l)
{
    struct hone_cuda_lane_loop lanes;
    struct hone_c_access a[MAX_ACCESSES];
    const struct hone_c_node *body = l->node->body;
    if (c->n_loops == MAX_LOOPS || !hone_cuda_read_lane_loop(c->k, l, &lanes) ||
        l->node->parent != c->k->function->body || l->is_inclusive)
        return false;
    size_t n = hone_c_accesses(c->k->function, body, a, MAX_ACCESSES), before = c->n_uses;
    for (size_t i = 0; i < n && n <= MAX_ACCESSES; i++) {
        if (a[i].root != c->root || hone_c_poly_stride(&a[i].index, l->var) != HONE_C_STRIDE_UNIT)
            continue;
        struct hone_c_poly base = without(&a[i].index, l->var);
        if (c->n_uses == MAX_USES || (c->n_uses > 0 && !hone_cuda_same_poly(&base, &c->base)))
            return false;
        c->base = base;
        c->uses[c->n_uses].node = a[i].node;
        c->uses[c->n_uses++].loop = c->n_loops;
    }
    if (c->n_uses == before)
        return false;
    c->loops[c->n_loops++] = lanes;
    return true;
}

static const char *upper_of(const struct cache *c, size_t i)
{
    return hone_c_text(c->k->in->tree, c->loops[i].loop->upper);
}

/* "", "1": a small number; false: anything else */
static bool has_small_lower(const struct hone_cuda_lane_loop *l)
{
    return !l->lower || (l->lower->kind == HONE_C_CONST && strtol(l->lower->name, NULL, 10) < 32);
}

static bool read_cache(const struct hone_cuda_kernel *k, const struct hone_c_node *root,
                       struct cache *c)
{
    *c = (struct cache){.k = k, .root = root, .type = hone_element_type(k->in, root)};
    if (!c->type || hone_cuda_type_bytes(c->type) == 0 || is_written(k, root))
        return false;
    for (size_t i = 0; i < k->nest.n; i++)
        add_loop(c, &k->nest.loops[i]);
    if (c->n_loops < 2)
        return false;
    for (size_t i = 0; i < c->n_loops; i++)
        if (!has_small_lower(&c->loops[i]) || strcmp(upper_of(c, i), upper_of(c, 0)) != 0 ||
            strcmp(c->loops[i].lane, c->loops[0].lane) != 0 ||
            strcmp(c->loops[i].step, c->loops[0].step) != 0)
            return false;
    for (size_t i = 0; i < k->n_launches; i++) /* the lanes are the block */
        if (strcmp(k->launches[i].block, c->loops[0].step) != 0)
            return false;
    return !strstr(hone_c_text(k->in->tree, k->function), "extern __shared__");
}

/* The row that most loops read. */
static bool find_cache(const struct hone_cuda_kernel *k, struct cache *ret)
{
    size_t most = 0;
    for (size_t i = 0; i < k->n_params; i++) {
        struct cache c;
        if (!strchr(k->params[i]->type, '*') || !read_cache(k, k->params[i], &c) ||
            c.n_loops <= most)
            continue;
        most = c.n_loops;
        *ret = c;
    }
    return most > 0;
}

static bool is_launchable(const struct cache *c)
{
    for (size_t i = 0; i < c->k->n_launches; i++)
        if (!hone_cuda_at_launch(c->k, &c->k->launches[i], c->loops[0].loop->upper) ||
            strcmp(c->k->launches[i].shared, "0") != 0)
            return false;
    return true;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all; i++) {
        struct cache c;
        if (!find_cache(all[i], &c))
            continue;
        const char *why = hone_pool_printf(in->pool, "%zu loops read the same row of %s", c.n_loops,
                                           c.root->name);
        if (n < max)
            ret[n++] = hone_cuda_site(all[i], IN_REGISTERS, why);
        if (n < max && is_launchable(&c))
            ret[n++] = hone_cuda_site(all[i], IN_SHARED, why);
    }
    return n;
}

/* ---- text ---- */

/* The element for an index written another way. */
static const char *element(const struct cache *c, const char *index)
{
    struct hone_c_edits e;
    hone_c_edits_init(&e, c->k->in->tree);
    hone_c_replace_refs(&e, c->uses[0].node, c->loops[c->uses[0].loop].loop->var, index);
    return hone_c_edit_text(&e, c->uses[0].node->begin, c->uses[0].node->end);
}

static void put_shared(const struct cache *c, struct hone_c_edits *body, const char *cache)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_cuda_lane_loop *l = &c->loops[0];
    const char *row = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_row", c->root->name));
    const char *n = hone_fresh_name(in, hone_pool_printf(in->pool, "n_%s_row", c->root->name));
    const char *type = hone_cuda_type(in, l->loop->var), *i = l->loop->var->name;
    const char *upper = upper_of(c, 0);
    uint32_t at = l->loop->begin;
    hone_c_replace(body, at, at,
                   hone_pool_printf(in->pool,
                                    "extern __shared__ %s %s[];\n"
                                    "const %s %s = %s < %s ? %s : %s;\n"
                                    "for (%s %s = %s; %s < %s; %s += %s)\n%s[%s] = %s;\n"
                                    "__syncthreads();\n",
                                    c->type, row, type, n, upper, cache, upper, cache, type, i,
                                    l->lane, i, n, i, l->step, row, i, element(c, i)));
    for (size_t u = 0; u < c->n_uses; u++) {
        const struct hone_c_node *node = c->uses[u].node;
        const char *name = c->loops[c->uses[u].loop].loop->var->name;
        hone_c_replace(body, node->begin, node->end,
                       hone_pool_printf(in->pool, "(%s < %s ? %s[%s] : %s)", name, n, row, name,
                                        hone_c_text(in->tree, node)));
    }
}

static const char *held_loop(const struct cache *c, size_t index, const char *items,
                             const char *held, const char *u)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_cuda_lane_loop *l = &c->loops[index];
    const char *type = hone_cuda_type(in, l->loop->var), *i = l->loop->var->name;
    const char *lower = "", *upper = upper_of(c, index);
    struct hone_c_edits plain, fast;
    hone_c_edits_init(&plain, in->tree);
    hone_c_edits_init(&fast, in->tree);
    for (size_t k = 0; k < c->n_uses; k++)
        if (c->uses[k].loop == index)
            hone_c_replace(&fast, c->uses[k].node->begin, c->uses[k].node->end,
                           hone_pool_printf(in->pool, "%s[%s]", held, u));
    if (l->lower && strcmp(l->lower->name, "0") != 0)
        lower = hone_pool_printf(in->pool, "%s >= %s && ", i, l->lower->name);
    const char *pragmas = hone_pool_strndup(in->pool, in->tree->source + l->loop->begin,
                                            l->loop->node->begin - l->loop->begin);
    return hone_pool_printf(
        in->pool,
        "#pragma unroll\nfor (int %s = 0; %s < %s; %s++) {\nconst %s %s = %s + %s * %s;\nif "
        "(%s%s < %s) {\n%s\n}\n}\n%sfor (%s %s = %s * %s + %s; %s < %s; %s += %s) {\n%s\n}",
        u, u, items, u, type, i, l->lane, u, l->step, lower, i, upper,
        hone_cuda_body(&fast, l->loop->node->body), pragmas, type, i, items, l->step, l->lane, i,
        upper, i, l->step, hone_cuda_body(&plain, l->loop->node->body));
}

static void put_registers(const struct cache *c, struct hone_c_edits *body, const char *items)
{
    const struct hone_coder_input *in = c->k->in;
    const struct hone_cuda_lane_loop *first = &c->loops[0];
    const char *held = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_held", c->root->name));
    const char *u = hone_fresh_name(in, "u"), *i = first->loop->var->name;
    const char *load = hone_pool_printf(
        in->pool,
        "%s %s[%s];\n#pragma unroll\nfor (int %s = 0; %s < %s; %s++) {\nconst %s %s = %s + %s * "
        "%s;\nif (%s < %s)\n%s[%s] = %s;\n}\n",
        c->type, held, items, u, u, items, u, hone_cuda_type(in, first->loop->var), i, first->lane,
        u, first->step, i, upper_of(c, 0), held, u, element(c, i));
    for (size_t k = 0; k < c->n_loops; k++) {
        const struct hone_c_loop *l = c->loops[k].loop;
        hone_c_replace(body, l->begin, hone_c_stmt_end(in->tree, l->node),
                       hone_pool_printf(in->pool, "%s%s", k == 0 ? load : "",
                                        held_loop(c, k, items, held, u)));
    }
}

static void set_shared(const struct cache *c, struct hone_c_edits *edits, const char *cache)
{
    struct hone_pool *pool = c->k->in->pool;
    for (size_t i = 0; i < c->k->n_launches; i++) {
        const struct hone_cuda_launch *l = &c->k->launches[i];
        const char *upper = hone_cuda_at_launch(c->k, l, c->loops[0].loop->upper);
        hone_cuda_set_launch(edits, l, l->grid, l->block,
                             hone_pool_printf(pool, "(size_t)(%s < %s ? %s : %s) * sizeof(%s)",
                                              upper, cache, upper, cache, c->type));
        uint32_t at = l->launcher->body->begin + 1;
        if (i == 0)
            hone_c_replace(edits, at, at,
                           hone_pool_printf(pool,
                                            "\n    cudaFuncSetAttribute(%s, "
                                            "cudaFuncAttributeMaxDynamicSharedMemorySize,\n"
                                            "                         %s * sizeof(%s));",
                                            c->k->function->name, cache, c->type));
    }
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_c_edits body, edits;
    struct cache c;
    const char *name, *pragma;
    if (!k || !find_cache(k, &c) || (site->variant == IN_SHARED && !is_launchable(&c))) {
        hone_fail(err, HONE_E_ARG, "no row is read by several loops of a block");
        return NULL;
    }
    hone_c_edits_init(&body, in->tree);
    hone_c_edits_init(&edits, in->tree);
    if (site->variant == IN_SHARED) {
        int bytes = hone_cuda_type_bytes(c.type);
        pragma = hone_cuda_tunable(
            in, "CACHE",
            hone_pool_printf(in->pool, "%d, %d, %d", 139264 / bytes, 90112 / bytes, 40960 / bytes),
            &name);
        put_shared(&c, &body, name);
        set_shared(&c, &edits, name);
    } else {
        pragma = hone_cuda_tunable(in, "ITEMS", "16, 8, 4, 32", &name);
        put_registers(&c, &body, name);
    }
    const struct hone_c_node *f = k->function;
    const char *text =
        hone_c_layout(in->pool, hone_c_edit_text(&body, f->body->begin, f->body->end));
    hone_c_replace(&edits, f->begin, f->begin, pragma);
    hone_c_replace(&edits, f->body->begin, f->body->end, hone_cuda_trim(in, text));
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_row_cache = {
    .name = "cuda_row_cache",
    .target = "cuda",
    .strategy = "G11",
    .words = "keep the row that several loops read",
    .sites = sites,
    .apply = apply,
};
