/* SPDX-License-Identifier: Apache-2.0 */
/* G01 through shared memory: a map that reads along one axis and writes along another.
 *
 *     Y[n * M + m] = f(X[m * N + n])                  one thread per (m, n)
 *
 * Whichever axis the threads follow, one of the two sides strides. A block takes a TILE x TILE part
 * of X in along its contiguous axis, waits, and writes it out along that of Y. Rows of the tile are
 * one element longer than TILE, so that a column lies in different banks. Tiles of all matrices of a
 * batch are blocks along x, where a grid has room for them. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_kernel.h"

enum { MAX_ACCESSES = 16 };

struct turn {
    const struct hone_cuda_kernel *k;
    const struct hone_cuda_axis *in_axis, *out_axis, *batch; /* contiguous for reading, writing */
    const struct hone_c_node *read; /* the access that goes through the tile */
    const char *type;
};

static const struct hone_cuda_axis *unit_axis(const struct hone_cuda_kernel *k,
                                              const struct hone_c_access *a)
{
    for (size_t i = 0; i < k->n_axes; i++)
        if (hone_c_poly_stride(&a->index, k->axes[i].var) == HONE_C_STRIDE_UNIT)
            return &k->axes[i];
    return NULL;
}

static bool read_turn(const struct hone_cuda_kernel *k, struct turn *t)
{
    struct hone_c_access a[MAX_ACCESSES];
    *t = (struct turn){.k = k};
    if (!k->is_plain || k->n_axes < 2 || k->n_stmts != 1 || k->stmts[0]->kind != HONE_C_BINARY ||
        strcmp(k->stmts[0]->op, "=") != 0)
        return false;
    size_t n = hone_c_accesses(k->function, k->stmts[0], a, MAX_ACCESSES);
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++)
        if (a[i].is_write)
            t->out_axis = unit_axis(k, &a[i]);
    for (size_t i = 0; i < n && i < MAX_ACCESSES && t->out_axis; i++) {
        const struct hone_cuda_axis *axis = unit_axis(k, &a[i]);
        if (a[i].is_write || !axis || axis == t->out_axis)
            continue;
        if (t->read || !a[i].root || a[i].root->kind != HONE_C_PARAM ||
            hone_cuda_is_conditional(k->stmts[0], a[i].node))
            return false;
        t->read = a[i].node;
        t->in_axis = axis;
        t->type = hone_element_type(k->in, a[i].root);
    }
    for (size_t i = 0; i < k->n_axes; i++)
        if (&k->axes[i] != t->in_axis && &k->axes[i] != t->out_axis)
            t->batch = &k->axes[i];
    return t->read && t->type && n <= MAX_ACCESSES;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct turn t;
        if (read_turn(all[i], &t))
            ret[n++] =
                hone_cuda_site(all[i], 0, "what is read along one axis is written along another");
    }
    return n;
}

static const char body_text[] =
    "constexpr int @EACH@ = @TILE@ / @ROWS@;\n"
    "__shared__ @T@ @tile@[@TILE@][@TILE@ + 1];\n"
    "const int64_t @n_tiles@ = (@p_bound@ + @TILE@ - 1) / @TILE@;\n"
    "@batch@"
    "const int64_t @p_at@ = @place@ % @n_tiles@ * @TILE@, @q_at@ = @place@ / @n_tiles@ * @TILE@;\n"
    "const int @column@ = threadIdx.x % @TILE@, @row@ = threadIdx.x / @TILE@;\n"
    "@T@ @held@[@EACH@];\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @EACH@; @u@++) {\n"
    "const @p_type@ @p@ = @p_at@ + @column@;\n"
    "const @q_type@ @q@ = @q_at@ + @row@ + @u@ * @ROWS@;\n"
    "if (@p@ < @p_bound@ && @q@ < @q_bound@)\n"
    "@held@[@u@] = @read@;\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @EACH@; @u@++)\n"
    "@tile@[@row@ + @u@ * @ROWS@][@column@] = @held@[@u@];\n"
    "__syncthreads();\n"
    "#pragma unroll\n"
    "for (int @u@ = 0; @u@ < @EACH@; @u@++) {\n"
    "const @p_type@ @p@ = @p_at@ + @row@ + @u@ * @ROWS@;\n"
    "const @q_type@ @q@ = @q_at@ + @column@;\n"
    "if (@p@ < @p_bound@ && @q@ < @q_bound@)\n"
    "@write@\n"
    "}\n";

static const char *make_body(const struct turn *t, const char *tile_size, const char *rows)
{
    const struct hone_cuda_kernel *k = t->k;
    const struct hone_coder_input *in = k->in;
    const char *u = hone_fresh_name(in, "u"), *row = hone_fresh_name(in, "row"),
               *column = hone_fresh_name(in, "column"), *tile = hone_fresh_name(in, "tile");
    const char *p_bound = hone_cuda_inline(k, t->in_axis->bound, NULL, 0),
               *q_bound = hone_cuda_inline(k, t->out_axis->bound, NULL, 0);
    struct hone_c_edits e;
    if (!p_bound || !q_bound)
        return NULL;
    hone_c_edits_init(&e, in->tree);
    hone_c_replace(&e, t->read->begin, t->read->end,
                   hone_pool_printf(in->pool, "%s[%s][%s + %s * %s]", tile, column, row, u, rows));
    const struct hone_c_node *b = t->batch ? t->batch->var : NULL;
    const char *place = b ? hone_fresh_name(in, "place") : "blockIdx.x",
               *all = hone_fresh_name(in, "n_in_all");
    const char *batch =
        hone_pool_printf(in->pool,
                         "const int64_t %s = %s * ((%s + %s - 1) / %s);\n"
                         "const %s %s = blockIdx.x / %s;\nconst int64_t %s = blockIdx.x %% %s;\n",
                         all, hone_fresh_name(in, "n_tiles"), q_bound, tile_size, tile_size,
                         b ? hone_cuda_type(in, b) : "", b ? b->name : "", all, place, all);
    const struct hone_cuda_word words[] = {
        {"T", t->type},
        {"TILE", tile_size},
        {"ROWS", rows},
        {"u", u},
        {"row", row},
        {"column", column},
        {"tile", tile},
        {"p", t->in_axis->var->name},
        {"p_type", hone_cuda_type(in, t->in_axis->var)},
        {"p_bound", p_bound},
        {"q", t->out_axis->var->name},
        {"q_type", hone_cuda_type(in, t->out_axis->var)},
        {"q_bound", q_bound},
        {"batch", b ? batch : ""},
        {"place", place},
        {"read", hone_c_text(in->tree, t->read)},
        {"write", hone_c_edit_text(&e, k->stmts[0]->begin, hone_c_stmt_end(in->tree, k->stmts[0]))},
        {NULL, NULL},
    };
    return hone_cuda_fill(in, body_text, words);
}

static bool set_launch(struct hone_c_edits *edits, const struct turn *t,
                       const struct hone_cuda_launch *l, const char *tile, const char *threads)
{
    struct hone_pool *pool = t->k->in->pool;
    const char *p = hone_cuda_at_launch(t->k, l, t->in_axis->bound),
               *q = hone_cuda_at_launch(t->k, l, t->out_axis->bound),
               *b = t->batch ? hone_cuda_at_launch(t->k, l, t->batch->bound) : "1";
    if (!p || !q || !b)
        return false;
    const char *grid = hone_pool_printf(
        pool, "(unsigned)((%s + %s - 1) / %s * ((%s + %s - 1) / %s)%s%s%s)", p, tile, tile, q, tile,
        tile, t->batch ? " * (" : "", t->batch ? b : "", t->batch ? ")" : "");
    hone_cuda_set_launch(edits, l, grid, threads, "0");
    return true;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct turn t;
    struct hone_c_edits edits;
    const char *tile, *rows, *body = NULL;
    hone_c_edits_init(&edits, in->tree);
    bool is_narrow = k && read_turn(k, &t) && hone_cuda_type_bytes(t.type) <= 2;
    const char *pragmas = hone_cuda_tunable(in, "TILE", is_narrow ? "64, 32" : "32, 64", &tile);
    pragmas =
        hone_pool_printf(in->pool, "%s%s", pragmas,
                         hone_cuda_tunable(in, "ROWS", is_narrow ? "4, 8, 16" : "8, 4, 16", &rows));
    const char *threads = hone_pool_printf(in->pool, "%s * %s", tile, rows);
    if (k && read_turn(k, &t))
        body = make_body(&t, tile, rows);
    for (size_t i = 0; body && i < k->n_launches; i++)
        if (!set_launch(&edits, &t, &k->launches[i], tile, threads))
            body = NULL;
    if (!body) {
        hone_fail(err, HONE_E_ARG,
                  "the region is no map that turns its axes, or a bound is unknown");
        return NULL;
    }
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, threads, ""), body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_transpose_tile = {
    .name = "cuda_transpose_tile",
    .target = "cuda",
    .strategy = "G04",
    .words = "turn the axes in a shared-memory tile",
    .sites = sites,
    .apply = apply,
};
