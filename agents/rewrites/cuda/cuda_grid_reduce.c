/* SPDX-License-Identifier: Apache-2.0 */
/* G18 with G20: one long reduction by all blocks, in two stages.
 *
 * variant 0: a kernel that one thread runs. A new kernel in front of it leaves a partial result of
 * each of BLOCKS blocks in scratch memory; the old one reduces those.
 *
 * variant 1: it is in two stages already, but the first leaves a partial result of every thread:
 *
 *     for (i = thread; i < N; i += THREADS) total += X[i];  parts[thread] = total;
 *     for (i = 0; i < THREADS; i++) total += parts[i];
 *
 * Then each block leaves one, and the number of blocks is free. No atomics: the order is fixed by
 * BLOCKS and BLOCK. The second stage is a matter for cuda_row_lanes. */
#include <stdlib.h>
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

enum { MAKE_STAGES, FREE_BLOCKS };

struct stages {
    const struct hone_cuda_kernel *first, *last; /* first NULL for MAKE_STAGES */
    const struct hone_c_loop *loop, *last_loop;
    struct hone_c_reduction r, last_r;
    const struct hone_c_node *store; /* parts[thread] = total */
};

static const struct hone_c_loop *only_loop(const struct hone_cuda_kernel *k,
                                           struct hone_c_reduction *ret)
{
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    size_t n = 0;
    const struct hone_c_loop *l = k->nest.n == 1 ? &k->nest.loops[0] : NULL;
    if (!l || !l->is_canonical || !l->declares_var || !hone_c_reductions(l, r, &n) || n != 1)
        return NULL;
    *ret = r[0];
    return l;
}

static bool is_stmt_of(const struct hone_cuda_kernel *k, const struct hone_c_node *node)
{
    for (size_t i = 0; i < k->n_stmts; i++)
        if (k->stmts[i] == node)
            return true;
    return false;
}

/* ---- a kernel of one thread ---- */

static bool read_single(const struct hone_cuda_kernel *k, struct stages *s)
{
    *s = (struct stages){.last = k};
    if (!k->is_single || k->n_launches != 1 || k->launches[0].call->parent->kind != HONE_C_COMPOUND)
        return false;
    s->loop = only_loop(k, &s->r);
    if (!s->loop || !s->loop->is_unit_step || !is_stmt_of(k, s->loop->node) || s->loop->is_small)
        return false;
    for (size_t i = 0; i < k->n_stmts && k->stmts[i] != s->loop->node; i++)
        if (k->stmts[i]->kind != HONE_C_DECL_STMT || hone_cuda_has_store(k->stmts[i]))
            return false;
    return s->r.var->kind == HONE_C_VAR && s->r.var->last;
}

/* ---- two stages ---- */

/* "4096", or the number behind #define THREADS */
static long number_of(const struct hone_coder_input *in, const char *text)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (end != text)
        return *end ? 0 : value;
    const char *line = strstr(in->tree->source, hone_pool_printf(in->pool, "#define %s ", text));
    return line ? strtol(line + strlen("#define ") + strlen(text), NULL, 10) : 0;
}

static bool is_parts_stage(const struct hone_cuda_kernel *k, struct stages *s)
{
    s->first = k;
    s->loop = only_loop(k, &s->r);
    if (k->n_axes != 1 || k->uses_threads || !s->loop || k->n_launches != 1 ||
        !is_stmt_of(k, s->loop->node) || s->loop->is_unit_step)
        return false;
    const struct hone_c_node *thread = k->axes[0].var, *lower = hone_c_strip(s->loop->lower);
    if (lower->kind != HONE_C_REF || lower->decl != thread)
        return false;
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *stmt = k->stmts[i];
        if (stmt == s->loop->node || !hone_c_uses(stmt, thread))
            continue;
        const struct hone_c_node *place =
            stmt->kind == HONE_C_BINARY && strcmp(stmt->op, "=") == 0 ? stmt->first : NULL;
        const struct hone_c_node *value = place ? hone_c_strip(stmt->last) : NULL;
        if (s->store || !place || place->kind != HONE_C_SUBSCRIPT || value->kind != HONE_C_REF ||
            value->decl != s->r.var || hone_c_strip(place->last)->kind != HONE_C_REF)
            return false;
        s->store = stmt;
    }
    return s->store && s->r.var->last && s->r.var->last->kind == HONE_C_CONST;
}

static bool is_last_stage(const struct hone_cuda_kernel *k, struct stages *s)
{
    const struct hone_coder_input *in = k->in;
    s->last = k;
    s->last_loop = only_loop(k, &s->last_r);
    if (!s->last_loop || k->n_launches != 1 || strcmp(s->last_r.op, s->r.op) != 0)
        return false;
    const struct hone_c_node *part = hone_c_strip(s->last_r.expr);
    const struct hone_c_node *root =
                                 part->kind == HONE_C_SUBSCRIPT ? hone_c_strip(part->first) : NULL,
                             *index = root ? hone_c_strip(part->last) : NULL;
    if (!root || root->kind != HONE_C_REF || index->kind != HONE_C_REF ||
        index->decl != s->last_loop->var ||
        strcmp(hone_c_text(in->tree, s->last_loop->upper), s->loop->step) != 0)
        return false;
    const struct hone_c_node *out = hone_c_strip(hone_c_strip(s->store->first)->first);
    const char *written = NULL, *read = NULL;
    for (size_t i = 0; i < s->first->n_params; i++)
        if (out->kind == HONE_C_REF && s->first->params[i] == out->decl)
            written = hone_c_text(in->tree, s->first->launches[0].args[i]);
    for (size_t i = 0; i < k->n_params; i++)
        if (k->params[i] == root->decl)
            read = hone_c_text(in->tree, k->launches[0].args[i]);
    return written && read && strcmp(written, read) == 0 &&
           s->first->launches[0].launcher == k->launches[0].launcher;
}

static bool read_pair(const struct hone_cuda_kernel *first, struct stages *s)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n = hone_cuda_kernels(first->in, all, HONE_CUDA_MAX_KERNELS);
    *s = (struct stages){.first = NULL};
    if (!is_parts_stage(first, s) || number_of(first->in, s->loop->step) < 66)
        return false;
    for (size_t i = 0; i < n; i++)
        if (all[i]->function != first->function && is_last_stage(all[i], s))
            return true;
    return false;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    struct stages s;
    for (size_t i = 0; i < n_all && n < max; i++) {
        if (read_pair(all[i], &s))
            ret[n++] =
                hone_cuda_site(all[i], FREE_BLOCKS, "the number of threads is fixed and small");
        else if (read_single(all[i], &s))
            ret[n++] = hone_cuda_site(all[i], MAKE_STAGES, "one thread does all the work");
    }
    return n;
}

/* ---- text ---- */

static const char *block_values(struct hone_pool *pool, long most)
{
    static const int values[] = {1056, 2112, 528, 132, 66};
    const char *out = "";
    for (size_t i = 0; i < HONE_COUNTOF(values); i++)
        if (values[i] <= most && (i < 3 || !*out))
            out = hone_pool_printf(pool, "%s%s%d", out, *out ? ", " : "", values[i]);
    return out;
}

static const char *place_text(struct hone_pool *pool, const char *lane, const char *block)
{
    return hone_pool_printf(pool,
                            "const int64_t %s = (int64_t)blockIdx.x * %s + threadIdx.x;\n"
                            "const int64_t %ss = (int64_t)gridDim.x * %s;\n",
                            lane, block, lane, block);
}

static const char *stmt_text(const struct hone_c_edits *e, const struct hone_c_node *s)
{
    return hone_c_edit_text(e, s->begin, hone_c_stmt_end(e->tree, s));
}

static char *free_blocks(const struct hone_coder_input *in, struct stages *s, struct hone_err *err)
{
    const struct hone_cuda_kernel *k = s->first;
    struct hone_c_edits inner, edits;
    const char *blocks, *block, *lane = hone_fresh_name(in, "lane");
    long most = number_of(in, s->loop->step);
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    hone_c_edits_init(&inner, in->tree);
    hone_c_edits_init(&edits, in->tree);
    if (s->loop->is_inclusive || s->last_loop->is_inclusive) {
        hone_fail(err, HONE_E_ARG, "the loops are not plain");
        return NULL;
    }
    const char *pragmas = hone_cuda_tunable(in, "BLOCKS", block_values(in->pool, most), &blocks);
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "BLOCK", "256, 512", &block));
    const struct hone_c_node *inc = s->loop->node->inc;
    hone_c_replace(&inner, s->loop->lower->begin, s->loop->lower->end, lane);
    hone_c_replace(&inner, inc->begin, inc->end,
                   hone_pool_printf(in->pool, "%s += %ss", s->loop->var->name, lane));
    hone_c_replace_refs(&inner, s->store, k->axes[0].var, "blockIdx.x");
    hone_buf_str(&out, place_text(in->pool, lane, block));
    for (size_t i = 0; i < k->n_stmts; i++) {
        const char *text = stmt_text(&inner, k->stmts[i]);
        if (k->stmts[i] == s->store)
            hone_buf_printf(&out, "%s = %s<%s>(%s);\nif (threadIdx.x == 0)\n", s->r.var->name,
                            hone_cuda_group_name(s->r.op), block, s->r.var->name);
        hone_buf_printf(&out, "%s\n", text);
    }
    hone_cuda_set_launch(&edits, &k->launches[0], blocks, block, "0");
    hone_c_replace(&edits, s->last_loop->upper->begin, s->last_loop->upper->end, blocks);
    hone_cuda_put_helpers(&edits, hone_cuda_group_helper(in, s->r.op));
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, block, ""), out.data);
    return hone_cuda_finish(&edits);
}

static const char *argument_texts(const struct hone_cuda_kernel *k)
{
    const char *out = "";
    for (size_t i = 0; i < k->n_params; i++)
        out = hone_pool_printf(k->in->pool, "%s%s, ", out,
                               hone_c_text(k->in->tree, k->launches[0].args[i]));
    return out;
}

/* The statements up to the loop, the loop dealt out to the grid, the block's part. */
static const char *parts_body(const struct stages *s, const char *lane, const char *block,
                              const char *parts)
{
    const struct hone_cuda_kernel *k = s->last;
    const struct hone_coder_input *in = k->in;
    const struct hone_c_loop *l = s->loop;
    struct hone_c_edits inner;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    hone_c_edits_init(&inner, in->tree);
    const char *lower = hone_lower_text(in, l);
    hone_c_replace(&inner, l->lower->begin, l->lower->end,
                   strcmp(lower, "0") == 0 ? lane
                                           : hone_pool_printf(in->pool, "%s + %s", lower, lane));
    hone_c_replace(&inner, l->node->inc->begin, l->node->inc->end,
                   hone_pool_printf(in->pool, "%s += %ss", l->var->name, lane));
    bool is_max = strcmp(s->r.op, "max") == 0 || strcmp(s->r.op, "min") == 0;
    if (!is_max)
        hone_c_replace(&inner, s->r.var->last->begin, s->r.var->last->end,
                       *s->r.op == '+' ? "0" : "1");
    hone_buf_str(&out, place_text(in->pool, lane, block));
    for (size_t i = 0; i < k->n_stmts; i++) {
        hone_buf_printf(&out, "%s\n", stmt_text(&inner, k->stmts[i]));
        if (k->stmts[i] == l->node)
            break;
    }
    hone_buf_printf(&out, "%s = %s<%s>(%s);\nif (threadIdx.x == 0)\n%s[blockIdx.x] = %s;\n",
                    s->r.var->name, hone_cuda_group_name(s->r.op), block, s->r.var->name, parts,
                    s->r.var->name);
    return hone_pool_strdup(in->pool, out.data);
}

static const char *last_loop_text(const struct stages *s, const char *blocks, const char *parts)
{
    const char *var = s->r.var->name, *p = hone_fresh_name(s->last->in, "p");
    const char *update =
        strcmp(s->r.op, "max") == 0
            ? hone_pool_printf(s->last->in->pool, "%s = %s[%s] > %s ? %s[%s] : %s", var, parts, p,
                               var, parts, p, var)
        : strcmp(s->r.op, "min") == 0
            ? hone_pool_printf(s->last->in->pool, "%s = %s[%s] < %s ? %s[%s] : %s", var, parts, p,
                               var, parts, p, var)
            : hone_pool_printf(s->last->in->pool, "%s %s= %s[%s]", var, s->r.op, parts, p);
    return hone_pool_printf(s->last->in->pool, "for (int %s = 0; %s < %s; %s++)\n%s;", p, p, blocks,
                            p, update);
}

static char *make_stages(const struct hone_coder_input *in, struct stages *s)
{
    const struct hone_cuda_kernel *k = s->last;
    const struct hone_cuda_launch *l = &k->launches[0];
    struct hone_pool *pool = in->pool;
    const char *name = k->function->name, *type = s->r.var->type;
    const char *blocks, *block, *lane = hone_fresh_name(in, "lane"),
                                *parts = hone_fresh_name(in, "parts");
    const char *kernel = hone_fresh_name(in, hone_pool_printf(pool, "%s_parts", name));
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    const char *pragmas = hone_cuda_tunable(in, "BLOCKS", block_values(pool, 4224), &blocks);
    pragmas =
        hone_pool_printf(pool, "%s%s", pragmas, hone_cuda_tunable(in, "BLOCK", "256, 512", &block));
    hone_cuda_put_helpers(&edits, hone_cuda_group_helper(in, s->r.op));
    const char *params = hone_pool_strndup(pool, in->tree->source + k->params[0]->begin,
                                           k->params[k->n_params - 1]->end - k->params[0]->begin);
    const char *first = hone_cuda_trim(
        in,
        hone_c_layout(pool, hone_pool_printf(pool, "{\n%s}", parts_body(s, lane, block, parts))));
    uint32_t begin = k->function->begin, at = k->params[k->n_params - 1]->end;
    hone_c_replace(
        &edits, begin, begin,
        hone_pool_printf(pool, "%s\n__global__ void __launch_bounds__(%s) %s(%s, %s *%s)\n%s\n\n",
                         pragmas, block, kernel, params, type, parts, first));
    hone_c_replace(&edits, at, at, hone_pool_printf(pool, ", const %s *%s", type, parts));
    hone_c_replace(&edits, s->loop->node->begin, hone_c_stmt_end(in->tree, s->loop->node),
                   last_loop_text(s, blocks, parts));
    const char *indent = hone_c_indent(in->tree, l->call->begin), *args = argument_texts(k);
    uint32_t end = hone_c_stmt_end(in->tree, l->call);
    hone_c_replace(
        &edits, l->call->begin, end,
        hone_pool_printf(pool,
                         "%s *%s;\n%scudaMallocAsync((void **)&%s, %s * sizeof(%s), %s);\n"
                         "%s%s<<<%s, %s, 0, %s>>>(%s%s);\n"
                         "%s%s<<<1, 1, 0, %s>>>(%s%s);\n%scudaFreeAsync(%s, %s);",
                         type, parts, indent, parts, blocks, type, l->stream, indent, kernel,
                         blocks, block, l->stream, args, parts, indent, name, l->stream, args,
                         parts, indent, parts, l->stream));
    return hone_cuda_finish(&edits);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct stages s;
    if (k && site->variant == FREE_BLOCKS && read_pair(k, &s))
        return free_blocks(in, &s, err);
    if (k && site->variant == MAKE_STAGES && read_single(k, &s) && k->n_params > 0)
        return make_stages(in, &s);
    hone_fail(err, HONE_E_ARG, "the region is no reduction to one element");
    return NULL;
}

const struct hone_rewrite hone_rewrite_cuda_grid_reduce = {
    .name = "cuda_grid_reduce",
    .target = "cuda",
    .strategy = "G20",
    .words = "reduce by all blocks, then their results",
    .sites = sites,
    .apply = apply,
};
