/* SPDX-License-Identifier: Apache-2.0 */
/* G18 with G28: what one thread does for a row is shared by LANES neighbouring threads.
 *
 *     m = index; if (m >= M) return;
 *     for i s += E(m, i);  ...  for i Y[m, i] = F(m, i, s);
 *
 * Each loop over a row whose iterations are independent (reductions aside) is dealt out: lane l
 * does iterations l, l + LANES, ...; partial results are added up among the lanes by shuffles,
 * above 32 lanes through shared memory, in a fixed order, so that all lanes know the result. What
 * stands between the loops is done by every lane; stores there by the first. Neighbouring lanes
 * then read neighbouring elements. A kernel that is started with one thread becomes one block.
 *
 * variant 0: a block for a row; 1: a warp or a part of it, for short and uneven rows; 2: a block
 * for COLUMNS neighbours, where a row's elements are far apart and its neighbours' are beside them
 * (a sum over a dimension that is not the last): lanes stand in threadIdx.y, results meet in
 * shared memory. A running pair of maximum and sum of exponentials (see cuda_online_softmax) is
 * combined as such. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

enum { BLOCK_PER_ROW, PART_OF_WARP, BLOCK_OF_COLUMNS, MAX_ACCESSES = 32 };

struct lanes {
    const struct hone_cuda_kernel *k;
    struct hone_c_edits *edits;
    const char *lanes, *lane;
    const char *columns; /* neighbours of a block; NULL: lanes of one row stand beside each other */
    const char *inside;  /* is the thread's column one? */
    const char *helpers;
    struct hone_buf out;
};

static bool has_loop(const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE || n->kind == HONE_C_JUMP)
            return true;
    return false;
}

static bool is_plain_declaration(const struct hone_c_node *stmt)
{
    if (hone_cuda_has_store(stmt))
        return false;
    for (const struct hone_c_node *v = stmt->first; v; v = v->next)
        if (v->kind != HONE_C_VAR || strchr(v->type, '[') || (v->cuda & HONE_C_IS_SHARED))
            return false;
    return true;
}

/* Does the subtree write a local that lives outside it? */
static bool sets_local(const struct hone_cuda_kernel *k, const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_REF && n->decl && n->decl->kind == HONE_C_VAR &&
            hone_c_contains(k->function, n->decl) && !hone_c_contains(top, n->decl) &&
            hone_c_writes(top, n->decl))
            return true;
    return false;
}

/* ---- running maximum and sum of exponentials ---- */

struct pair {
    const struct hone_c_node *top, *sum, *if_stmt;
    const char *call; /* "expf" */
};

/* if (v > top) { sum *= expf(top - v); top = v; } sum += ... */
static bool read_pair(const struct hone_c_loop *loop, struct pair *ret)
{
    const struct hone_c_node *body = loop->node->body;
    for (const struct hone_c_node *s = body->kind == HONE_C_COMPOUND ? body->first : NULL; s;
         s = s->next) {
        const struct hone_c_node *then = s->kind == HONE_C_IF ? s->last : NULL;
        if (!then || hone_c_n_children(s) != 2 || then->kind != HONE_C_COMPOUND ||
            hone_c_n_children(then) != 2)
            continue;
        const struct hone_c_node *scale = then->first, *set = then->last;
        const struct hone_c_node *call =
            scale->kind == HONE_C_ASSIGN_OP && strcmp(scale->op, "*=") == 0
                ? hone_c_strip(scale->last)
                : NULL;
        if (!call || call->kind != HONE_C_CALL || !strstr(call->name, "exp") ||
            set->kind != HONE_C_BINARY || strcmp(set->op, "=") != 0 ||
            set->first->kind != HONE_C_REF || scale->first->kind != HONE_C_REF || !s->next ||
            s->next->kind != HONE_C_ASSIGN_OP || s->next->next ||
            !hone_c_uses(s->next->first, scale->first->decl))
            continue;
        *ret = (struct pair){set->first->decl, scale->first->decl, s, call->name};
        return ret->top && ret->sum && !hone_c_contains(body, ret->top) &&
               !hone_c_contains(body, ret->sum);
    }
    return false;
}

/* ---- what fits ---- */

static bool is_dealt_loop(const struct hone_cuda_kernel *k, const struct hone_c_node *stmt)
{
    const struct hone_c_loop *l = hone_c_loop_of(&k->nest, stmt);
    struct pair pair;
    const char *why;
    if (!l || !l->is_canonical || !l->declares_var || !l->is_unit_step)
        return false;
    return hone_c_is_parallel(&k->nest, l, &why) || read_pair(l, &pair);
}

static bool is_fit(const struct hone_cuda_kernel *k, size_t *ret_n_loops)
{
    *ret_n_loops = 0;
    if (!k->is_plain || k->n_axes > 1)
        return false;
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *s = k->stmts[i];
        if (s->kind == HONE_C_FOR) {
            if (!is_dealt_loop(k, s))
                return false;
            (*ret_n_loops)++;
        } else if (s->kind == HONE_C_DECL_STMT) {
            if (!is_plain_declaration(s))
                return false;
        } else if (has_loop(s) || (hone_cuda_has_store(s) && sets_local(k, s))) {
            return false;
        }
    }
    return *ret_n_loops > 0;
}

/* Rows whose length depends on the row are likely short. */
static bool has_uneven_rows(const struct hone_cuda_kernel *k)
{
    for (size_t i = 0; i < k->n_stmts && k->n_axes > 0; i++) {
        const struct hone_c_loop *l = hone_c_loop_of(&k->nest, k->stmts[i]);
        if (l && (hone_cuda_depends(k, l->upper, k->axes[0].var) ||
                  hone_cuda_depends(k, l->lower, k->axes[0].var)))
            return true;
    }
    return false;
}

/* Do the loops walk along memory in wide steps, with the neighbouring threads beside them? */
static bool has_columns(const struct hone_cuda_kernel *k)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n_far = 0, n_unit = 0;
    for (size_t i = 0; i < k->n_stmts && k->n_axes > 0; i++) {
        const struct hone_c_loop *l = hone_c_loop_of(&k->nest, k->stmts[i]);
        size_t n = l ? hone_c_accesses(k->function, l->node->body, a, MAX_ACCESSES) : 0;
        for (size_t j = 0; j < n && j < MAX_ACCESSES; j++) {
            enum hone_c_stride stride = hone_c_poly_stride(&a[j].index, l->var);
            bool is_apart = hone_c_poly_stride(&a[j].index, k->axes[0].var) == HONE_C_STRIDE_FAR;
            n_far += stride == HONE_C_STRIDE_FAR && !is_apart;
            n_unit += stride == HONE_C_STRIDE_UNIT;
        }
    }
    return n_far > 0 && n_far >= n_unit;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0, n_loops;
    for (size_t i = 0; i < n_all && n < max; i++) {
        const struct hone_cuda_kernel *k = all[i];
        if (!is_fit(k, &n_loops))
            continue;
        if (has_columns(k)) {
            ret[n++] = hone_cuda_site(k, BLOCK_OF_COLUMNS,
                                      "one thread walks along a column, its neighbours beside it");
            continue;
        }
        int first = has_uneven_rows(k) ? PART_OF_WARP : BLOCK_PER_ROW;
        const char *why = first == PART_OF_WARP
                              ? "one thread walks along a row of uneven length"
                              : "one thread walks along a row, its neighbours along others";
        ret[n++] = hone_cuda_site(k, first, k->is_single ? "one thread does all the work" : why);
        if (!k->is_single && n < max)
            ret[n++] = hone_cuda_site(k, 1 - first, why);
    }
    return n;
}

/* ---- text ---- */

static void need(struct lanes *t, const char *op)
{
    const char *name = t->columns ? hone_cuda_column_name(op) : hone_cuda_group_name(op);
    if (!strstr(t->helpers, hone_pool_printf(t->k->in->pool, "%s(", name)))
        t->helpers = hone_pool_printf(t->k->in->pool, "%s%s", t->helpers,
                                      t->columns ? hone_cuda_column_helper(t->k->in, op)
                                                 : hone_cuda_group_helper(t->k->in, op));
}

/* "group_sum<LANES>(value)" */
static const char *combined(struct lanes *t, const char *op, const char *value)
{
    need(t, op);
    return t->columns ? hone_pool_printf(t->k->in->pool, "%s<%s, %s>(%s)",
                                         hone_cuda_column_name(op), t->columns, t->lanes, value)
                      : hone_pool_printf(t->k->in->pool, "%s<%s>(%s)", hone_cuda_group_name(op),
                                         t->lanes, value);
}

static const char *stmt_text(const struct lanes *t, const struct hone_c_node *s)
{
    return hone_c_edit_text(t->edits, s->begin, hone_c_stmt_end(t->k->in->tree, s));
}

/* Set to zero where it is declared and not touched since: lanes can add up in it. */
static bool starts_at_zero(const struct lanes *t, const struct hone_c_node *var,
                           const struct hone_c_node *loop)
{
    if (!var->last || var->last->kind != HONE_C_CONST || strspn(var->last->name, "0.fF") == 0 ||
        var->last->name[strspn(var->last->name, "0.fF")])
        return false;
    for (size_t i = 0; i < t->k->n_stmts && t->k->stmts[i] != loop; i++)
        if (hone_c_writes(t->k->stmts[i], var))
            return false;
    return true;
}

static void put_pair(struct lanes *t, const struct pair *p, const struct hone_c_node *loop)
{
    struct hone_pool *pool = t->k->in->pool;
    const char *top = p->top->name, *sum = p->sum->name;
    const char *all = hone_fresh_name(t->k->in, hone_pool_printf(pool, "%s_all", top));
    const char *scaled = hone_pool_printf(pool, "%s * %s(%s - %s)", sum, p->call, top, all);
    hone_buf_printf(&t->out, "%s\nconst %s %s = %s;\n", stmt_text(t, loop), p->top->type, all,
                    combined(t, "max", top));
    hone_buf_printf(&t->out, "%s = %s;\n%s = %s;\n", sum, combined(t, "+", scaled), top, all);
}

static void put_loop(struct lanes *t, const struct hone_c_node *stmt)
{
    const struct hone_coder_input *in = t->k->in;
    const struct hone_c_loop *l = hone_c_loop_of(&t->k->nest, stmt);
    struct hone_c_reduction r[HONE_C_MAX_REDUCTIONS];
    struct pair pair;
    size_t n = 0;
    hone_c_replace(t->edits, l->lower->begin, l->lower->end,
                   strcmp(hone_lower_text(in, l), "0") == 0
                       ? t->lane
                       : hone_pool_printf(in->pool, "%s + %s", hone_lower_text(in, l), t->lane));
    hone_c_replace(t->edits, l->node->inc->begin, l->node->inc->end,
                   hone_pool_printf(in->pool, "%s += %s", l->var->name, t->lanes));
    if (read_pair(l, &pair)) {
        put_pair(t, &pair, stmt);
        return;
    }
    hone_c_reductions(l, r, &n);
    HONE_CLEANUP(hone_buf_done) struct hone_buf after = HONE_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        const char *name = r[i].var->name;
        bool is_sum = strcmp(r[i].op, "+") == 0 || strcmp(r[i].op, "*") == 0;
        if (!is_sum || (strcmp(r[i].op, "+") == 0 && starts_at_zero(t, r[i].var, stmt))) {
            hone_buf_printf(&after, "\n%s = %s;", name, combined(t, r[i].op, name));
            continue;
        }
        const char *part = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_part", name));
        hone_c_replace_refs(t->edits, l->node->body, r[i].var, part);
        hone_buf_printf(&t->out, "%s %s = %s;\n", hone_cuda_type(in, r[i].var), part,
                        *r[i].op == '+' ? "0" : "1");
        hone_buf_printf(&after, "\n%s %s= %s;", name, r[i].op, combined(t, r[i].op, part));
    }
    if (t->columns && hone_cuda_has_store(stmt))
        hone_buf_printf(&t->out, "if (%s)\n", t->inside);
    hone_buf_printf(&t->out, "%s%s\n", stmt_text(t, stmt), after.data ? after.data : "");
}

/* Memory that was written by one lane and is touched by another needs a wait in between. */
static bool must_wait(const struct hone_cuda_kernel *k, size_t at)
{
    struct hone_c_access now[32], before[32];
    size_t n = hone_c_accesses(k->function, k->stmts[at], now, HONE_COUNTOF(now));
    for (size_t s = 0; s < at; s++) {
        size_t m = hone_c_accesses(k->function, k->stmts[s], before, HONE_COUNTOF(before));
        if (n > HONE_COUNTOF(now) || m > HONE_COUNTOF(before))
            return true;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++)
                if ((now[i].is_write || before[j].is_write) && now[i].root == before[j].root)
                    return true;
    }
    return false;
}

static void put_body(struct lanes *t)
{
    const struct hone_cuda_kernel *k = t->k;
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *s = k->stmts[i];
        if (i > 0 && must_wait(k, i) && t->columns) {
            hone_buf_str(&t->out, "__syncthreads();\n");
        } else if (i > 0 && must_wait(k, i)) {
            need(t, "sync");
            hone_buf_printf(&t->out, "group_sync<%s>();\n", t->lanes);
        }
        if (s->kind == HONE_C_FOR)
            put_loop(t, s);
        else if (hone_cuda_has_store(s))
            hone_buf_printf(&t->out, "if (%s%s%s == 0)\n%s\n", t->columns ? t->inside : "",
                            t->columns ? " && " : "", t->lane, stmt_text(t, s));
        else
            hone_buf_printf(&t->out, "%s\n", stmt_text(t, s));
    }
}

/* A thread beyond the last column does what the last one's do, without stores: all threads of a
 * block meet at its barriers. */
static void put_columns(struct lanes *t)
{
    const struct hone_cuda_axis *column = &t->k->axes[0];
    const char *type = hone_cuda_type(t->k->in, column->var), *name = column->var->name;
    const char *at = hone_fresh_name(t->k->in, hone_pool_printf(t->k->in->pool, "%s_at", name));
    const char *bound = hone_cuda_inline(t->k, column->bound, NULL, 0);
    t->inside = hone_fresh_name(t->k->in, "is_inside");
    hone_buf_printf(&t->out,
                    "const int %s = threadIdx.y;\n"
                    "const %s %s = (%s)blockIdx.x * %s + threadIdx.x;\n"
                    "const bool %s = %s < %s;\n"
                    "const %s %s = %s ? %s : (%s) - 1;\n",
                    t->lane, type, at, type, t->columns, t->inside, at, bound, type, name,
                    t->inside, at, bound);
}

static void put_place(struct lanes *t, const char *threads)
{
    const struct hone_cuda_kernel *k = t->k;
    const struct hone_cuda_axis *row = k->n_axes ? &k->axes[0] : NULL;
    if (strcmp(threads, t->lanes) == 0) { /* a block for a row */
        hone_buf_printf(&t->out, "const int %s = threadIdx.x;\n", t->lane);
        if (row)
            hone_buf_printf(&t->out, "const %s %s = blockIdx.x;\n", hone_cuda_type(k->in, row->var),
                            row->var->name);
        return;
    }
    hone_buf_printf(&t->out, "const int %s = threadIdx.x %% %s;\n", t->lane, t->lanes);
    const char *bound = hone_cuda_inline(k, row->bound, NULL, 0);
    hone_buf_printf(&t->out,
                    "const %s %s = ((int64_t)blockIdx.x * %s + threadIdx.x) / %s;\n"
                    "if (%s >= %s)\nreturn;\n",
                    hone_cuda_type(k->in, row->var), row->var->name, threads, t->lanes,
                    row->var->name, bound ? bound : "");
}

static bool set_column_launches(struct hone_c_edits *edits, const struct hone_cuda_kernel *k,
                                const struct lanes *t)
{
    for (size_t i = 0; i < k->n_launches; i++) {
        const char *grid = hone_cuda_blocks(k, &k->launches[i], k->axes[0].bound, t->columns);
        if (!grid)
            return false;
        hone_cuda_set_launch(edits, &k->launches[i], grid,
                             hone_pool_printf(k->in->pool, "dim3(%s, %s)", t->columns, t->lanes),
                             "0");
    }
    return true;
}

static bool set_launches(struct hone_c_edits *edits, const struct hone_cuda_kernel *k,
                         const char *lanes, const char *threads)
{
    struct hone_pool *pool = k->in->pool;
    for (size_t i = 0; i < k->n_launches; i++) {
        const char *grid = "1";
        const char *rows =
            k->n_axes > 0 ? hone_cuda_at_launch(k, &k->launches[i], k->axes[0].bound) : "1";
        if (!rows)
            return false;
        if (strpbrk(rows, " +-*/"))
            rows = hone_pool_printf(pool, "(%s)", rows);
        if (k->n_axes > 0 && strcmp(lanes, threads) == 0)
            grid = hone_pool_printf(pool, "(unsigned)%s", rows);
        else if (k->n_axes > 0)
            grid = hone_pool_printf(pool, "(unsigned)(((int64_t)%s * %s + %s - 1) / %s)", rows,
                                    lanes, threads, threads);
        hone_cuda_set_launch(edits, &k->launches[i], grid, threads, "0");
    }
    return true;
}

static bool make_columns(struct lanes *t, struct hone_c_edits *edits)
{
    const struct hone_cuda_kernel *k = t->k;
    const char *columns = hone_cuda_tunable(k->in, "COLUMNS", "32, 64, 128", &t->columns);
    const char *lanes = hone_cuda_tunable(k->in, "LANES", "8, 4, 2, 1", &t->lanes);
    put_columns(t);
    put_body(t);
    hone_cuda_put_helpers(edits, t->helpers);
    hone_cuda_replace_kernel(
        edits, k, hone_pool_printf(k->in->pool, "%s%s", columns, lanes),
        hone_cuda_header(k, hone_pool_printf(k->in->pool, "%s * %s", t->columns, t->lanes), ""),
        t->out.data ? t->out.data : "");
    return set_column_launches(edits, k, t);
}

static bool make_rows(struct lanes *t, struct hone_c_edits *edits, int variant)
{
    const struct hone_cuda_kernel *k = t->k;
    struct hone_pool *pool = k->in->pool;
    const char *values = k->is_single               ? "1024, 512"
                         : variant == BLOCK_PER_ROW ? "256, 128, 512, 1024, 64"
                                                    : "32, 16, 8, 4, 2";
    const char *pragma = hone_cuda_tunable(k->in, "LANES", values, &t->lanes);
    const char *threads =
        hone_fresh_name(k->in, hone_pool_printf(pool, "%s_threads", k->function->name));
    const char *constant = hone_pool_printf(pool, "constexpr int %s = %s > 128 ? %s : 128;\n",
                                            threads, t->lanes, t->lanes);
    if (variant == BLOCK_PER_ROW) {
        threads = t->lanes;
        constant = "";
    }
    put_place(t, threads);
    put_body(t);
    hone_cuda_put_helpers(edits, t->helpers);
    hone_cuda_replace_kernel(edits, k, hone_pool_printf(pool, "%s%s", pragma, constant),
                             hone_cuda_header(k, threads, ""), t->out.data ? t->out.data : "");
    return set_launches(edits, k, t->lanes, threads);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_c_edits inner, edits;
    size_t n_loops = 0;
    if (!k || !is_fit(k, &n_loops) || (site->variant == BLOCK_OF_COLUMNS && !has_columns(k)) ||
        (k->n_axes && !hone_cuda_inline(k, k->axes[0].bound, NULL, 0))) {
        hone_fail(err, HONE_E_ARG, "the region is no kernel with a thread for a row");
        return NULL;
    }
    hone_c_edits_init(&inner, in->tree);
    hone_c_edits_init(&edits, in->tree);
    struct lanes t = {.k = k, .edits = &inner, .lane = hone_fresh_name(in, "lane"), .helpers = ""};
    bool is_done = site->variant == BLOCK_OF_COLUMNS ? make_columns(&t, &edits)
                                                     : make_rows(&t, &edits, site->variant);
    hone_buf_done(&t.out);
    if (!is_done) {
        hone_fail(err, HONE_E_ARG, "the number of rows is not known where the kernel is started");
        return NULL;
    }
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_row_lanes = {
    .name = "cuda_row_lanes",
    .target = "cuda",
    .strategy = "G18",
    .words = "deal each row out to neighbouring threads",
    .sites = sites,
    .apply = apply,
};
