/* SPDX-License-Identifier: Apache-2.0 */
/* G01 for rows that a thread has to walk along in order: a block brings them in together.
 *
 *     r = index; if (r >= R) return;
 *     for (c = 0; c < N; c++) { v = X[r * N + c]; anything that goes on from the last turn }
 *
 * Neighbouring threads read elements that are a row apart, and nothing of a row may be dealt out:
 * the greatest k, a running state. ROWS threads of a block keep their rows, spread over its warps, so
 * that few of a warp wait for each other; all LANES threads copy COLS elements of each row into
 * shared memory, one part ahead, along the rows. The loop sees its elements in the order that it saw
 * before.
 *
 * Loops that only reduce are left to cuda_row_lanes. Elements must be read in each turn, or more
 * would be read than before; stores come behind the loops. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

enum { MAX_ACCESSES = 32, MAX_LOADS = 3, MAX_STAGED = 4 };

struct staged {
    const struct hone_c_loop *loop;
    const struct hone_c_node *loads[MAX_LOADS];
    const char *types[MAX_LOADS];
    size_t n_loads;
};

struct rows {
    const struct hone_cuda_kernel *k;
    const struct hone_c_node *row;
    struct staged staged[MAX_STAGED];
    size_t n_staged, first_store; /* statements before it store nothing */
};

/* Does each turn come to its end, for this thread alone? */
static bool is_walk(const struct hone_cuda_kernel *k, const struct hone_c_node *top)
{
    const char *source = k->in->tree->source;
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        if (n->kind == HONE_C_CALL && strncmp(n->name, "__s", 3) == 0)
            return false; /* __syncthreads, __shfl_sync */
        if (n->kind == HONE_C_VAR && (n->cuda & HONE_C_IS_SHARED))
            return false;
        if (n->kind != HONE_C_JUMP || strncmp(source + n->begin, "continue", 8) == 0)
            continue;
        const struct hone_c_node *p = n->parent;
        while (p != top && p->kind != HONE_C_FOR && p->kind != HONE_C_WHILE)
            p = p->parent;
        if (strncmp(source + n->begin, "break", 5) != 0 || p == top)
            return false;
    }
    return true;
}

static bool stores(const struct hone_cuda_kernel *k, const struct hone_c_node *top)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = hone_c_accesses(k->function, top, a, MAX_ACCESSES);
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++)
        if (a[i].is_write && !(a[i].root && a[i].root->kind == HONE_C_VAR))
            return true;
    for (const struct hone_c_node *c = top; c; c = hone_c_walk(top, c))
        if (c->kind == HONE_C_CALL && strncmp(c->name, "atomic", 6) == 0)
            return true;
    return n > MAX_ACCESSES || hone_c_pointer_call(top);
}

static bool is_written(const struct hone_cuda_kernel *k, const struct hone_c_node *root)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = hone_c_accesses(k->function, k->function->body, a, MAX_ACCESSES);
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++)
        if (a[i].is_write && (!a[i].root || a[i].root == root))
            return true;
    return n > MAX_ACCESSES;
}

static bool add_load(const struct rows *r, struct staged *s, const struct hone_c_access *a)
{
    const struct hone_cuda_kernel *k = r->k;
    struct hone_cuda_sub subs[] = {{r->row, "r"}, {s->loop->var, "c"}};
    const char *type = hone_element_type(k->in, a->root);
    if (s->n_loads == MAX_LOADS || !type || hone_cuda_type_bytes(type) == 0 ||
        is_written(k, a->root) || !hone_c_is_always_reached(s->loop->node, a->node) ||
        !hone_cuda_inline(k, a->node, subs, 2))
        return false;
    for (const struct hone_c_node *n = s->loop->node->body; n;
         n = hone_c_walk(s->loop->node->body, n))
        if (n->kind == HONE_C_JUMP && n->begin < a->node->begin)
            return false;
    s->types[s->n_loads] = type;
    s->loads[s->n_loads++] = a->node;
    return true;
}

static bool read_loop(const struct rows *r, const struct hone_c_loop *l, struct staged *s)
{
    const struct hone_cuda_kernel *k = r->k;
    struct hone_c_access a[MAX_ACCESSES];
    const char *why;
    *s = (struct staged){.loop = l};
    if (!l->is_canonical || !l->is_unit_step || l->is_inclusive || !l->declares_var ||
        hone_c_is_parallel(&k->nest, l, &why) || !is_walk(k, l->node->body) ||
        hone_cuda_depends(k, l->upper, r->row) || hone_cuda_depends(k, l->lower, r->row) ||
        !hone_cuda_inline(k, l->upper, NULL, 0) || !hone_cuda_inline(k, l->lower, NULL, 0))
        return false;
    size_t n = hone_c_accesses(k->function, l->node->body, a, MAX_ACCESSES);
    for (size_t i = 0; i < n && n <= MAX_ACCESSES; i++)
        if (!a[i].is_write && a[i].root && a[i].root->kind == HONE_C_PARAM &&
            a[i].node->kind == HONE_C_SUBSCRIPT &&
            hone_c_poly_stride(&a[i].index, l->var) == HONE_C_STRIDE_UNIT &&
            hone_c_poly_stride(&a[i].index, r->row) == HONE_C_STRIDE_FAR)
            add_load(r, s, &a[i]);
    return s->n_loads > 0;
}

static bool read_rows(const struct hone_cuda_kernel *k, struct rows *r)
{
    *r = (struct rows){.k = k, .first_store = k->n_stmts};
    if (!k->is_plain || k->n_axes != 1)
        return false;
    r->row = k->axes[0].var;
    for (size_t i = 0; i < k->n_stmts; i++) {
        const struct hone_c_node *s = k->stmts[i];
        const struct hone_c_loop *l = s->kind == HONE_C_FOR ? hone_c_loop_of(&k->nest, s) : NULL;
        for (const struct hone_c_node *n = s; n; n = hone_c_walk(s, n))
            if (n->kind == HONE_C_JUMP && strncmp(k->in->tree->source + n->begin, "return", 6) == 0)
                return false;
        if (!is_walk(k, s))
            return false;
        if (r->first_store == k->n_stmts && stores(k, s))
            r->first_store = i;
        if (r->first_store == k->n_stmts && l && r->n_staged < MAX_STAGED &&
            read_loop(r, l, &r->staged[r->n_staged]))
            r->n_staged++;
    }
    return r->n_staged > 0 && hone_cuda_inline(k, k->axes[0].bound, NULL, 0);
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct rows r;
        if (read_rows(all[i], &r))
            ret[n++] = hone_cuda_site(all[i], 0, "neighbouring threads read a row apart, in order");
    }
    return n;
}

/* ---- text ---- */

struct names {
    const char *lanes, *rows, *cols, *row_at, *is_in, *every;
};

static const char head_text[] =
    "constexpr int @EVERY@ = @LANES@ / @ROWS@;\n"
    "const int64_t @row_at@ = (int64_t)blockIdx.x * @ROWS@;\n"
    "const bool @is_in@ = threadIdx.x % @EVERY@ == 0 && @row_at@ + threadIdx.x / @EVERY@ < "
    "(@bound@);\n"
    "const @row_type@ @row@ = @is_in@ ? @row_at@ + threadIdx.x / @EVERY@ : (@bound@) - 1;\n";

static const char loop_text[] =
    "{\n"
    "@buffers@"
    "const int64_t @lower@ = @lower_text@, @upper@ = @upper_text@;\n"
    "auto @fetch@ = [&](int64_t @from@, int @to@) {\n"
    "for (int @u@ = threadIdx.x; @u@ < @ROWS@ * @COLS@; @u@ += @LANES@) {\n"
    "const int @line@ = @u@ / @COLS@, @part@ = @u@ % @COLS@;\n"
    "const @row_type@ @row@ = @row_at@ + @line@;\n"
    "const @column_type@ @column@ = @from@ + @part@;\n"
    "if (@row_at@ + @line@ < (@bound@) && @from@ + @part@ < @upper@) {\n"
    "@copies@"
    "}\n"
    "}\n"
    "__pipeline_commit();\n"
    "};\n"
    "@fetch@(@lower@, 0);\n"
    "for (int64_t @at@ = @lower@, @turn@ = 0; @at@ < @upper@; @at@ += @COLS@, @turn@ ^= 1) {\n"
    "@fetch@(@at@ + @COLS@, (int)@turn@ ^ 1);\n"
    "__pipeline_wait_prior(1);\n"
    "__syncthreads();\n"
    "const int @n@ = @upper@ - @at@ < @COLS@ ? (int)(@upper@ - @at@) : @COLS@;\n"
    "for (int @e@ = 0; @is_in@ && @e@ < @n@; @e@++) {\n"
    "const @column_type@ @column@ = @at@ + @e@;\n"
    "(void)@column@;\n"
    "@body@\n"
    "}\n"
    "__syncthreads();\n"
    "}\n"
    "}\n";

static const char *staged_text(const struct rows *r, const struct staged *s, const struct names *z)
{
    const struct hone_coder_input *in = r->k->in;
    struct hone_pool *pool = in->pool;
    const char *to = hone_fresh_name(in, "to"), *line = hone_fresh_name(in, "line"),
               *part = hone_fresh_name(in, "part"), *turn = hone_fresh_name(in, "turn"),
               *e = hone_fresh_name(in, "e"), *buffers = "", *copies = "";
    struct hone_cuda_sub subs[] = {{r->row, r->row->name}, {s->loop->var, s->loop->var->name}};
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    for (size_t i = 0; i < s->n_loads; i++) {
        const char *name = hone_fresh_name(in, hone_pool_printf(pool, "staged%zu", i));
        const char *load = hone_cuda_inline(r->k, s->loads[i], subs, 2);
        bool is_async = hone_cuda_type_bytes(s->types[i]) >= 4;
        buffers = hone_pool_printf(pool, "%s__shared__ %s %s[2][%s][%s + 1];\n", buffers,
                                   s->types[i], name, z->rows, z->cols);
        copies = is_async ? hone_pool_printf(pool,
                                             "%s__pipeline_memcpy_async(&%s[%s][%s][%s], &%s, "
                                             "sizeof(%s));\n",
                                             copies, name, to, line, part, load, s->types[i])
                          : hone_pool_printf(pool, "%s%s[%s][%s][%s] = %s;\n", copies, name, to,
                                             line, part, load);
        hone_c_replace(
            &edits, s->loads[i]->begin, s->loads[i]->end,
            hone_pool_printf(pool, "%s[%s][threadIdx.x / %s][%s]", name, turn, z->every, e));
    }
    const struct hone_cuda_word words[] = {
        {"LANES", z->lanes},
        {"ROWS", z->rows},
        {"COLS", z->cols},
        {"row_at", z->row_at},
        {"is_in", z->is_in},
        {"bound", hone_cuda_inline(r->k, r->k->axes[0].bound, NULL, 0)},
        {"row", r->row->name},
        {"row_type", hone_cuda_type(in, r->row)},
        {"column", s->loop->var->name},
        {"column_type", hone_cuda_type(in, s->loop->var)},
        {"lower_text", hone_cuda_inline(r->k, s->loop->lower, NULL, 0)},
        {"upper_text", hone_cuda_inline(r->k, s->loop->upper, NULL, 0)},
        {"buffers", buffers},
        {"copies", copies},
        {"to", to},
        {"line", line},
        {"part", part},
        {"turn", turn},
        {"e", e},
        {"body", hone_cuda_body(&edits, s->loop->node->body)},
        {NULL, NULL},
    };
    return hone_cuda_fill(in, loop_text, words);
}

static const char *make_body(const struct rows *r, const struct names *z)
{
    const struct hone_coder_input *in = r->k->in;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    const struct hone_cuda_word words[] = {
        {"LANES", z->lanes},   {"ROWS", z->rows},
        {"EVERY", z->every},   {"row_at", z->row_at},
        {"is_in", z->is_in},   {"bound", hone_cuda_inline(r->k, r->k->axes[0].bound, NULL, 0)},
        {"row", r->row->name}, {"row_type", hone_cuda_type(in, r->row)},
        {NULL, NULL},
    };
    hone_buf_str(&out, hone_cuda_fill(in, head_text, words));
    for (size_t i = 0; i < r->k->n_stmts; i++) {
        const struct hone_c_node *s = r->k->stmts[i];
        const char *text = hone_pool_strndup(in->pool, in->tree->source + s->begin,
                                             hone_c_stmt_end(in->tree, s) - s->begin);
        const struct staged *staged = NULL;
        for (size_t j = 0; j < r->n_staged; j++)
            staged = r->staged[j].loop->node == s ? &r->staged[j] : staged;
        if (i == r->first_store)
            hone_buf_printf(&out, "if (%s) {\n", z->is_in);
        if (staged)
            hone_buf_str(&out, staged_text(r, staged, z));
        else if (s->kind == HONE_C_DECL_STMT || i >= r->first_store)
            hone_buf_printf(&out, "%s\n", text);
        else
            hone_buf_printf(&out, "if (%s) {\n%s\n}\n", z->is_in, text);
    }
    if (r->first_store < r->k->n_stmts)
        hone_buf_str(&out, "}\n");
    return hone_pool_strdup(in->pool, out.data ? out.data : "");
}

/* Two buffers a load in the 48 KiB that a block has. */
static int bytes_of(const struct rows *r)
{
    int most = 0;
    for (size_t i = 0; i < r->n_staged; i++) {
        int bytes = 0;
        for (size_t j = 0; j < r->staged[i].n_loads; j++)
            bytes += hone_cuda_type_bytes(r->staged[i].types[j]);
        most += bytes; /* buffers of several loops may lie beside each other */
    }
    return most;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_c_edits edits;
    struct names z = {.row_at = hone_fresh_name(in, "row_at"),
                      .is_in = hone_fresh_name(in, "is_in"),
                      .every = hone_fresh_name(in, "EVERY")};
    struct rows r;
    bool is_read = k && read_rows(k, &r) && bytes_of(&r) <= 16;
    hone_c_edits_init(&edits, in->tree);
    const char *pragmas = hone_cuda_tunable(in, "LANES", "128, 256, 64", &z.lanes);
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "ROWS", "32, 64, 16", &z.rows));
    z.cols = hone_fresh_name(in, "COLS");
    for (size_t i = 0; is_read && i < k->n_launches; i++) {
        const char *grid = hone_cuda_blocks(k, &k->launches[i], k->axes[0].bound, z.rows);
        if (grid)
            hone_cuda_set_launch(&edits, &k->launches[i], grid, z.lanes, k->launches[i].shared);
        else
            is_read = false;
    }
    if (!is_read) {
        hone_fail(err, HONE_E_ARG, "the region walks along no rows, or a bound is unknown");
        return NULL;
    }
    pragmas = hone_pool_printf(in->pool,
                               "%s#pragma hone tune(%s: %s) where(%s * (%s + 1) * %d <= 24000 && "
                               "%s <= %s)\n",
                               pragmas, z.cols, bytes_of(&r) > 8 ? "32, 16" : "64, 32, 128", z.rows,
                               z.cols, bytes_of(&r), z.rows, z.lanes);
    if (!strstr(in->tree->source, "cuda_pipeline.h"))
        hone_cuda_put_helpers(&edits, "#include <cuda_pipeline.h>\n");
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, z.lanes, ""),
                             make_body(&r, &z));
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_row_stage = {
    .name = "cuda_row_stage",
    .target = "cuda",
    .strategy = "G01",
    .words = "bring rows in together that threads walk along",
    .sites = sites,
    .apply = apply,
};
