/* SPDX-License-Identifier: Apache-2.0 */
/* Small rewrites that leave a kernel's shape alone: pointers that do not overlap (G48), unrolled
 * loops (G13), intrinsics for exp and division (G33). */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

enum { MAX_EDITS = 64 };

/* ---- restrict ---- */

static bool is_bare_pointer(const struct hone_c_node *param)
{
    return strchr(param->type, '*') && !strstr(param->type, "restrict") &&
           !strchr(strchr(param->type, '*') + 1, '*');
}

static bool is_written(const struct hone_cuda_kernel *k, const struct hone_c_node *param)
{
    struct hone_c_access a[MAX_EDITS];
    size_t n = hone_c_accesses(k->function, k->function->body, a, MAX_EDITS);
    for (size_t i = 0; i < n && i < MAX_EDITS; i++)
        if (a[i].is_write && (a[i].root == param || !a[i].root))
            return true;
    return n > MAX_EDITS;
}

/* Two parameters, one of them written, must not get the same buffer anywhere. */
static bool are_apart(const struct hone_cuda_kernel *k)
{
    for (size_t l = 0; l < k->n_launches; l++)
        for (size_t i = 0; i < k->n_params; i++)
            for (size_t j = 0; j < k->n_params; j++) {
                if (i == j || !strchr(k->params[i]->type, '*') || !strchr(k->params[j]->type, '*'))
                    continue;
                const struct hone_coder_input *in = k->in;
                if (is_written(k, k->params[i]) &&
                    strcmp(hone_c_text(in->tree, k->launches[l].args[i]),
                           hone_c_text(in->tree, k->launches[l].args[j])) == 0)
                    return false;
            }
    return true;
}

static size_t n_bare(const struct hone_cuda_kernel *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->n_params; i++)
        n += is_bare_pointer(k->params[i]);
    return n;
}

static size_t restrict_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                             size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++)
        if (n_bare(all[i]) > 1 && are_apart(all[i]))
            ret[n++] =
                hone_cuda_site(all[i], 0, "a store may change what is read, as far as known");
    return n;
}

static char *restrict_apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                            struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    if (!k || n_bare(k) == 0) {
        hone_fail(err, HONE_E_ARG, "the kernel has no plain pointers");
        return NULL;
    }
    for (size_t i = 0; i < k->n_params; i++)
        if (is_bare_pointer(k->params[i]))
            hone_c_replace(&e, k->params[i]->name_at, k->params[i]->name_at, "__restrict__ ");
    return hone_cuda_finish(&e);
}

const struct hone_rewrite hone_rewrite_cuda_restrict = {
    .name = "cuda_restrict",
    .target = "cuda",
    .strategy = "G48",
    .words = "say that buffers do not overlap",
    .sites = restrict_sites,
    .apply = restrict_apply,
};

/* ---- unroll ---- */

/* Nothing but short loops of known length inside. */
static bool is_inner(const struct hone_c_nest *nest, const struct hone_c_loop *l)
{
    for (size_t i = 0; i < nest->n; i++)
        if (&nest->loops[i] != l && !nest->loops[i].is_small &&
            hone_c_contains(l->node, nest->loops[i].node))
            return false;
    return true;
}

static bool wants_unroll(const struct hone_c_nest *nest, const struct hone_c_loop *l)
{
    return is_inner(nest, l) && l->var && !l->is_small && l->begin == l->node->begin &&
           !strstr(l->var->name, "_rest");
}

static size_t unroll_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                           size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        bool has_one = false;
        for (size_t j = 0; j < all[i]->nest.n; j++)
            has_one = has_one || wants_unroll(&all[i]->nest, &all[i]->nest.loops[j]);
        if (has_one)
            ret[n++] =
                hone_cuda_site(all[i], 0, "few loads of a thread are on their way at a time");
    }
    return n;
}

/* On a line of its own, also when the loop shares its line with a header. */
static void put_pragma(struct hone_c_edits *e, uint32_t at, const char *name)
{
    const char *source = e->tree->source;
    uint32_t line = at;
    while (line > 0 && strchr(" \t", source[line - 1]))
        line--;
    bool is_alone = line == 0 || source[line - 1] == '\n';
    hone_c_replace(
        e, is_alone ? line : at, is_alone ? line : at,
        hone_pool_printf(e->tree->pool, "%s#pragma unroll %s\n", is_alone ? "" : "\n", name));
}

static char *unroll_apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                          struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_c_edits e;
    const char *name;
    if (!k) {
        hone_fail(err, HONE_E_ARG, "the region is no kernel");
        return NULL;
    }
    hone_c_edits_init(&e, in->tree);
    const char *pragma = hone_cuda_tunable(in, "UNROLL", "4, 2, 8", &name);
    hone_c_replace(&e, k->function->begin, k->function->begin, pragma);
    for (size_t i = 0; i < k->nest.n; i++) {
        const struct hone_c_loop *l = &k->nest.loops[i];
        if (wants_unroll(&k->nest, l))
            put_pragma(&e, l->node->begin, name);
    }
    return hone_cuda_finish(&e);
}

const struct hone_rewrite hone_rewrite_cuda_unroll = {
    .name = "cuda_unroll",
    .target = "cuda",
    .strategy = "G13",
    .words = "unroll the inner loops",
    .sites = unroll_sites,
    .apply = unroll_apply,
};

/* ---- intrinsics ---- */

static const struct {
    const char *call, *intrinsic;
} intrinsics[] = {
    {"expf", "__expf"}, {"exp", "__expf"},  {"logf", "__logf"}, {"log", "__logf"},
    {"sinf", "__sinf"}, {"cosf", "__cosf"}, {"powf", "__powf"},
};

static const char *intrinsic_of(const struct hone_c_node *n)
{
    if (n->kind != HONE_C_CALL || strcmp(n->type, "float") != 0)
        return NULL;
    for (size_t i = 0; i < HONE_COUNTOF(intrinsics); i++)
        if (strcmp(intrinsics[i].call, n->name) == 0)
            return intrinsics[i].intrinsic;
    return NULL;
}

static size_t n_calls(const struct hone_cuda_kernel *k)
{
    size_t count = 0;
    for (const struct hone_c_node *n = k->function; n; n = hone_c_walk(k->function, n))
        count += intrinsic_of(n) != NULL;
    return count;
}

static size_t fast_sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++)
        if (n_calls(all[i]) > 0)
            ret[n++] = hone_cuda_site(all[i], 0, "math calls with full range and accuracy");
    return n;
}

static char *fast_apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                        struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_c_edits e;
    if (!k || n_calls(k) == 0) {
        hone_fail(err, HONE_E_ARG, "the kernel calls no function that has an intrinsic");
        return NULL;
    }
    hone_c_edits_init(&e, in->tree);
    for (const struct hone_c_node *n = k->function; n; n = hone_c_walk(k->function, n)) {
        const char *name = intrinsic_of(n);
        if (name)
            hone_c_replace(&e, n->first->begin, n->first->end, name);
    }
    return hone_cuda_finish(&e);
}

const struct hone_rewrite hone_rewrite_cuda_fast_math = {
    .name = "cuda_fast_math",
    .target = "cuda",
    .strategy = "G33",
    .words = "intrinsics for exponentials and logarithms",
    .sites = fast_sites,
    .apply = fast_apply,
};
