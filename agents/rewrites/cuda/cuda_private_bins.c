/* SPDX-License-Identifier: Apache-2.0 */
/* G29: counts that all threads add to by atomics.
 *
 *     i = index; if (i >= N) return; ... atomicAdd(&H[b], v);
 *
 * Each block counts in COPIES tables of shared memory, one for some of its warps, and adds what it
 * found to H at the end. Threads take their elements in turn (hone_cuda_deal_body), so that a block
 * counts many. How many bins there are is told by what sets H to zero in front of the launch: a
 * memset, or a kernel. Too many for shared memory: the atomics stay where they were. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

struct bins {
    const struct hone_cuda_kernel *k;
    const struct hone_cuda_axis *row;
    const struct hone_c_node *target; /* H[b] or H + b of the one atomic */
    size_t param;                     /* which one H is */
    const char *type, *count;         /* of the elements; bins in the launcher's words */
};

static bool is_countable(const char *type)
{
    static const char *const types[] = {"int",      "unsigned",           "unsigned int", "int32_t",
                                        "uint32_t", "unsigned long long", "float"};
    for (size_t i = 0; i < HONE_COUNTOF(types); i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* H[b] of &H[b], H + b itself; NULL: neither. */
static const struct hone_c_node *read_target(const struct hone_c_node *to)
{
    bool is_sum = to && to->kind == HONE_C_BINARY && strcmp(to->op, "+") == 0;
    if (is_sum && hone_c_strip(to->first)->kind == HONE_C_REF)
        return to;
    const struct hone_c_node *of =
        to && to->kind == HONE_C_UNARY && strcmp(to->op, "&") == 0 ? hone_c_strip(to->first) : NULL;
    return of && of->kind == HONE_C_SUBSCRIPT ? of : NULL;
}

/* The one atomic of the kernel, an addition to an element of a parameter that nothing else names. */
static bool read_atomic(struct bins *b)
{
    const struct hone_cuda_kernel *k = b->k;
    for (size_t i = 0; i < k->n_stmts; i++) {
        for (const struct hone_c_node *n = k->stmts[i]; n; n = hone_c_walk(k->stmts[i], n)) {
            if (n->kind != HONE_C_CALL || strncmp(n->name, "atomic", 6) != 0)
                continue;
            const struct hone_c_node *to = hone_c_strip(hone_c_child(n, 1));
            if (b->target || strcmp(n->name, "atomicAdd") != 0 || n->parent->kind == HONE_C_BINARY)
                return false;
            b->target = read_target(to);
            if (!b->target)
                return false;
        }
    }
    if (!b->target)
        return false;
    const struct hone_c_node *root = hone_c_strip(b->target->first);
    size_t n_uses = 0;
    for (const struct hone_c_node *n = k->function->body; n; n = hone_c_walk(k->function->body, n))
        n_uses += n->kind == HONE_C_REF && n->decl == root->decl;
    while (b->param < k->n_params && k->params[b->param] != root->decl)
        b->param++;
    b->type = b->param < k->n_params ? hone_element_type(k->in, root->decl) : NULL;
    return b->type && n_uses == 1 && is_countable(b->type);
}

static bool is_same_name(const struct hone_c_node *a, const struct hone_c_node *b)
{
    a = hone_c_strip(a);
    b = hone_c_strip(b);
    return a && b && a->kind == HONE_C_REF && b->kind == HONE_C_REF && a->decl &&
           a->decl == b->decl;
}

/* cudaMemsetAsync(H, 0, bytes, stream) in the launcher */
static const char *count_of_memset(const struct bins *b, const struct hone_cuda_launch *l)
{
    const struct hone_c_node *top = l->launcher->body;
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_CALL && strncmp(n->name, "cudaMemset", 10) == 0 &&
            hone_c_n_children(n) >= 4 && is_same_name(hone_c_child(n, 1), l->args[b->param]))
            return hone_pool_printf(b->k->in->pool, "(%s) / (int64_t)sizeof(%s)",
                                    hone_c_text(b->k->in->tree, hone_c_child(n, 3)), b->type);
    return NULL;
}

/* A kernel whose threads set an element of H each */
static const char *count_of_kernel(const struct bins *b, const struct hone_cuda_launch *l)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n = hone_cuda_kernels(b->k->in, all, HONE_CUDA_MAX_KERNELS);
    for (size_t i = 0; i < n; i++) {
        const struct hone_cuda_kernel *z = all[i];
        const struct hone_c_node *s = z->n_stmts == 1 ? z->stmts[0] : NULL;
        if (!s || !z->is_plain || z->n_axes != 1 || z->n_launches != 1 ||
            s->kind != HONE_C_BINARY || strcmp(s->op, "=") != 0 ||
            s->first->kind != HONE_C_SUBSCRIPT || hone_c_strip(s->last)->kind != HONE_C_CONST)
            continue;
        const struct hone_c_node *root = hone_c_strip(s->first->first);
        for (size_t p = 0; p < z->n_params; p++)
            if (root->decl == z->params[p] &&
                is_same_name(z->launches[0].args[p], l->args[b->param]))
                return hone_cuda_at_launch(z, &z->launches[0], z->axes[0].bound);
    }
    return NULL;
}

static bool read_bins(const struct hone_cuda_kernel *k, struct bins *b)
{
    *b = (struct bins){.k = k, .row = k->is_plain ? hone_cuda_deal_axis(k) : NULL};
    if (!b->row || k->n_launches != 1 || strcmp(k->launches[0].shared, "0") != 0 || !read_atomic(b))
        return false;
    b->count = count_of_memset(b, &k->launches[0]);
    if (!b->count)
        b->count = count_of_kernel(b, &k->launches[0]);
    return b->count != NULL;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct bins b;
        if (read_bins(all[i], &b))
            ret[n++] = hone_cuda_site(all[i], 0, "all threads add to the same counts by atomics");
    }
    return n;
}

static const char body_text[] =
    "extern __shared__ @T@ @tables@[];\n"
    "const int @all@ = @bins@ > 0 ? @COPIES@ * (@bins@ + 1) : 0;\n"
    "@T@ *const @own@ = @bins@ > 0 ? @tables@ + threadIdx.x / 32 % @COPIES@ * (@bins@ + 1) : @H@;\n"
    "for (int @b@ = threadIdx.x; @b@ < @all@; @b@ += @LANES@)\n"
    "@tables@[@b@] = 0;\n"
    "__syncthreads();\n"
    "@count@"
    "__syncthreads();\n"
    "for (int @b@ = threadIdx.x; @b@ < @bins@; @b@ += @LANES@) {\n"
    "@T@ @sum@ = 0;\n"
    "for (int @c@ = 0; @c@ < @COPIES@; @c@++)\n"
    "@sum@ += @tables@[@c@ * (@bins@ + 1) + @b@];\n"
    "if (@sum@ != 0)\n"
    "atomicAdd(&@H@[@b@], @sum@);\n"
    "}\n";

static const char *make_body(const struct bins *b, const char *lanes, const char *copies,
                             const char *bins)
{
    const struct hone_coder_input *in = b->k->in;
    const struct hone_c_node *root = hone_c_strip(b->target->first);
    const char *own = hone_fresh_name(in, "own"), *at = hone_fresh_name(in, "b");
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    hone_c_replace(&e, root->begin, root->end, own);
    const char *count = hone_cuda_deal_body(b->k, b->row, lanes, &e);
    const struct hone_cuda_word words[] = {
        {"T", b->type},   {"H", root->name},
        {"bins", bins},   {"COPIES", copies},
        {"LANES", lanes}, {"own", own},
        {"b", at},        {"tables", hone_fresh_name(in, "tables")},
        {"all", "n_all"}, {"sum", hone_fresh_name(in, "sum")},
        {"c", "copy"},    {"count", count},
        {NULL, NULL},
    };
    return count ? hone_cuda_fill(in, body_text, words) : NULL;
}

static bool set_launch(struct hone_c_edits *edits, const struct bins *b, const char *bins,
                       const char *grid, const char *lanes, const char *copies)
{
    struct hone_pool *pool = b->k->in->pool;
    const struct hone_cuda_launch *l = &b->k->launches[0];
    const struct hone_c_node *stmt = l->call;
    if (!grid || !stmt->parent || stmt->parent->kind != HONE_C_COMPOUND || l->n_args == 0)
        return false;
    const char *bytes = hone_pool_printf(pool, "%s * (%s + 1) * sizeof(%s)", copies, bins, b->type);
    hone_c_replace(
        edits, stmt->begin, stmt->begin,
        hone_pool_printf(pool,
                         "const int64_t %s_all = %s;\n    const int %s = %s * (%s_all + 1) * "
                         "(int64_t)sizeof(%s) <= 49152 ? (int)%s_all : 0;\n    ",
                         bins, b->count, bins, copies, bins, b->type, bins));
    hone_cuda_set_launch(edits, l, grid, lanes, bytes);
    uint32_t at = l->args[l->n_args - 1]->end;
    hone_c_replace(edits, at, at, hone_pool_printf(pool, ", %s", bins));
    return true;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct bins b;
    struct hone_c_edits edits;
    const char *lanes, *each, *copies, *bins = hone_fresh_name(in, "bins"), *body = NULL;
    hone_c_edits_init(&edits, in->tree);
    const char *pragmas = hone_cuda_tunable(in, "LANES", "256, 512, 128", &lanes);
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "EACH", "64, 32, 128, 256", &each));
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "COPIES", "4, 1, 8, 2", &copies));
    if (k && read_bins(k, &b))
        body = make_body(&b, lanes, copies, bins);
    if (!body ||
        !set_launch(&edits, &b, bins, hone_cuda_deal_grid(k, b.row, &k->launches[0], lanes, each),
                    lanes, copies)) {
        hone_fail(err, HONE_E_ARG, "the region adds to no counts whose number is known");
        return NULL;
    }
    hone_cuda_replace_kernel(&edits, k, pragmas,
                             hone_cuda_header(k, lanes, hone_pool_printf(in->pool, "int %s", bins)),
                             body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_private_bins = {
    .name = "cuda_private_bins",
    .target = "cuda",
    .strategy = "G29",
    .words = "count in shared memory, add up at the end",
    .sites = sites,
    .apply = apply,
};
