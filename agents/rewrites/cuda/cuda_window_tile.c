/* SPDX-License-Identifier: Apache-2.0 */
/* G05 with G06 (G43): a sum over a window that moves with the element.
 *
 *     acc = init; [for c] for dy for dx if (inside) acc += X[(y + dy) * W + x + dx] * F[dy, dx];
 *
 * A block brings the part of X that its elements' windows cover into shared memory, zeros where X
 * is not read; each thread adds up ROWS elements below one another, so that what it reads serves
 * several sums once loops with fixed bounds are unrolled. X is read where x and dx, y and dy, come
 * in as sums alone. Where a border was skipped, 0 * F stands for it: a sum that is no number is made
 * again as it was written, and so is every sum where the part does not fit. */
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/source/cuda_contraction.h"

enum { MAX_WINDOW_LOOPS = 3, MAX_CONDS = 8, MAX_LOADS = 8 };

struct window {
    const struct hone_cuda_kernel *k;
    const struct hone_c_node *nest, *update, *acc, *part; /* part: what is kept of X */
    const struct hone_c_loop *loops[MAX_WINDOW_LOOPS];    /* outermost first */
    size_t n_loops, dx, dy;                               /* which of them */
    struct {
        const struct hone_c_node *node;
        bool is_negated;
    } conds[MAX_CONDS];
    size_t n_conds;
    const struct hone_cuda_axis *column, *row, *plane; /* plane NULL: none */
    const char *type;
};

/* ---- reading ---- */

static bool add_cond(struct window *w, const struct hone_c_node *cond, bool is_negated)
{
    if (w->n_conds == MAX_CONDS)
        return false;
    w->conds[w->n_conds].node = cond;
    w->conds[w->n_conds++].is_negated = is_negated;
    return true;
}

static bool is_continue(const struct window *w, const struct hone_c_node *stmt)
{
    const struct hone_c_node *s = hone_c_only_stmt(stmt);
    return s && s->kind == HONE_C_JUMP &&
           strncmp(w->k->in->tree->source + s->begin, "continue", 8) == 0;
}

/* Down through loops, declarations and conditions to the one update. */
static bool read_nest(struct window *w, const struct hone_c_node *s)
{
    if (s->kind == HONE_C_FOR) {
        const struct hone_c_loop *l = hone_c_loop_of(&w->k->nest, s);
        if (!l || !l->is_canonical || !l->is_unit_step || !l->declares_var ||
            w->n_loops == MAX_WINDOW_LOOPS)
            return false;
        w->loops[w->n_loops++] = l;
        return read_nest(w, s->body);
    }
    if (s->kind == HONE_C_IF && hone_c_n_children(s) == 2)
        return add_cond(w, s->first, false) && read_nest(w, s->last);
    if (s->kind == HONE_C_COMPOUND) {
        for (const struct hone_c_node *c = s->first; c && c != s->last; c = c->next) {
            bool is_skip =
                c->kind == HONE_C_IF && hone_c_n_children(c) == 2 && is_continue(w, c->last);
            if (c->kind != HONE_C_DECL_STMT && !(is_skip && add_cond(w, c->first, true)))
                return false;
        }
        return s->last && read_nest(w, s->last);
    }
    w->update = s;
    w->acc = s->kind == HONE_C_ASSIGN_OP && strcmp(s->op, "+=") == 0 ? s->first->decl : NULL;
    return w->acc && w->acc->kind == HONE_C_VAR && w->n_loops >= 2 &&
           !hone_c_contains(w->nest, w->acc);
}

static bool moves_alike(const struct hone_c_poly *p, const struct hone_c_node *a,
                        const struct hone_c_node *b)
{
    struct hone_c_poly x = hone_c_poly_beside(p, a), y = hone_c_poly_beside(p, b);
    return hone_cuda_same_poly(&x, &y);
}

static bool is_shifted(const struct window *w, const struct hone_c_poly *p)
{
    return p->is_known && moves_alike(p, w->column->var, w->loops[w->dx]->var) &&
           moves_alike(p, w->row->var, w->loops[w->dy]->var);
}

/* Is each comparison about x + dx and y + dy? */
static bool is_shifted_cond(const struct window *w, const struct hone_c_node *cond)
{
    const struct hone_c_node *n = hone_c_strip(cond);
    if (n->kind == HONE_C_UNARY && strcmp(n->op, "!") == 0)
        return is_shifted_cond(w, n->first);
    if (n->kind != HONE_C_BINARY)
        return false;
    if (strcmp(n->op, "&&") == 0 || strcmp(n->op, "||") == 0)
        return is_shifted_cond(w, n->first) && is_shifted_cond(w, n->last);
    struct hone_c_poly a = hone_c_poly_of(w->k->function, n->first),
                       b = hone_c_poly_of(w->k->function, n->last);
    return strpbrk(n->op, "<>=") && is_shifted(w, &a) && is_shifted(w, &b);
}

/* The load with what stands around it up to a product: casts and cond ? load : 0. */
static const struct hone_c_node *part_of(const struct window *w, const struct hone_c_node *load)
{
    const struct hone_c_node *n = load, *top = w->update->last;
    while (n != top) {
        const struct hone_c_node *p = n->parent;
        bool is_choice = p->kind == HONE_C_CONDITIONAL && p->first != n;
        if (is_choice && !is_shifted_cond(w, p->first))
            return NULL;
        if (!is_choice && p->kind != HONE_C_PAREN && p->kind != HONE_C_CAST)
            break;
        n = p;
    }
    return n;
}

/* Is it a factor of all that is added? */
static bool is_factor(const struct window *w, const struct hone_c_node *n)
{
    for (; n != w->update->last; n = n->parent)
        if (n->parent->kind != HONE_C_PAREN &&
            !(n->parent->kind == HONE_C_BINARY && strcmp(n->parent->op, "*") == 0))
            return false;
    return true;
}

/* The loops that the load moves by, and the axes beside them. */
static bool read_load(struct window *w, const struct hone_c_access *a)
{
    const struct hone_cuda_kernel *k = w->k;
    w->column = w->row = NULL;
    for (size_t i = 0; i < k->n_axes; i++) {
        for (size_t l = w->n_loops - 2; l < w->n_loops; l++) {
            const struct hone_c_node *v = k->axes[i].var;
            struct hone_c_poly by = hone_c_poly_beside(&a->index, v);
            if (!by.is_known || by.n == 0 || !moves_alike(&a->index, v, w->loops[l]->var))
                continue;
            bool is_column = hone_c_poly_stride(&a->index, v) == HONE_C_STRIDE_UNIT;
            *(is_column ? &w->column : &w->row) = &k->axes[i];
            *(is_column ? &w->dx : &w->dy) = l;
        }
    }
    if (!w->column || !w->row || w->dx == w->dy || !is_shifted(w, &a->index) || !a->root ||
        a->root->kind != HONE_C_PARAM)
        return false;
    w->part = part_of(w, a->node);
    w->type = w->acc->type;
    return w->part && (w->n_conds == 0 || is_factor(w, w->part));
}

static bool has_fixed_bounds(const struct window *w, const struct hone_c_loop *l)
{
    const struct hone_c_node *ends[] = {l->lower, l->upper};
    for (size_t e = 0; e < 2; e++) {
        for (size_t i = 0; i < w->k->n_axes; i++)
            if (hone_cuda_depends(w->k, ends[e], w->k->axes[i].var))
                return false;
        for (size_t i = 0; i < w->n_loops; i++)
            if (hone_cuda_depends(w->k, ends[e], w->loops[i]->var))
                return false;
    }
    return true;
}

static bool read_window(const struct hone_cuda_kernel *k, struct window *w)
{
    *w = (struct window){.k = k};
    struct hone_c_access a[MAX_LOADS];
    for (size_t i = 0; i < k->n_stmts; i++) {
        if (k->stmts[i]->kind == HONE_C_FOR && w->nest)
            return false;
        w->nest = k->stmts[i]->kind == HONE_C_FOR ? k->stmts[i] : w->nest;
    }
    if (!k->is_plain || k->n_axes < 2 || !w->nest || !read_nest(w, w->nest))
        return false;
    size_t n = hone_c_accesses(k->function, w->update->last, a, MAX_LOADS), n_found = 0, at = 0;
    for (size_t i = 0; i < n && i < MAX_LOADS; i++) {
        if (read_load(w, &a[i])) {
            at = i;
            n_found++;
        }
    }
    if (n > MAX_LOADS || n_found != 1 || !read_load(w, &a[at]))
        return false;
    for (size_t i = 0; i < w->n_conds; i++)
        if (!is_shifted_cond(w, w->conds[i].node))
            return false;
    for (size_t i = 0; i < k->n_axes; i++)
        if (&k->axes[i] != w->column && &k->axes[i] != w->row)
            w->plane = &k->axes[i];
    for (size_t i = 0; i < w->n_loops; i++)
        if (!has_fixed_bounds(w, w->loops[i]))
            return false;
    return strcmp(w->type, "float") == 0 || strcmp(w->type, "double") == 0 ||
           strcmp(w->type, "int") == 0;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct window w;
        if (read_window(all[i], &w))
            ret[n++] = hone_cuda_site(all[i], 0, "neighbouring threads read the same window");
    }
    return n;
}

/* ---- making ---- */

static const char body_text[] =
    "extern __shared__ unsigned char @bytes@[];\n"
    "@T@ *const @window@ = (@T@ *)@bytes@;\n"
    "const int @n_x@ = @BX@ + @KX@ - 1, @n_y@ = @BY@ * @ROWS@ + @KY@ - 1;\n"
    "const bool @fits@ = (int64_t)@n_x@ * @n_y@ * (int)sizeof(@T@) <= 49152;\n"
    "const int64_t @column_at@ = (int64_t)blockIdx.x * @BX@;\n"
    "const int64_t @row_at@ = (int64_t)blockIdx.y * (@BY@ * @ROWS@);\n"
    "@plane@"
    "@T@ @total@[@ROWS@] = {};\n"
    "if (@fits@) {\n"
    "@outer@"
    "for (int @i@ = threadIdx.y * @BX@ + threadIdx.x; @i@ < @n_x@ * @n_y@; @i@ += @BX@ * @BY@) {\n"
    "const @x_type@ @x@ = @column_at@ + @i@ % @n_x@;\n"
    "const @y_type@ @y@ = @row_at@ + @i@ / @n_x@;\n"
    "const bool @is_read@ = @x@ < @x_bound@ + @KX@ - 1 && @y@ < @y_bound@ + @KY@ - 1@conds@;\n"
    "@window@[@i@] = @is_read@ ? (@T@)(@part@) : (@T@)0;\n"
    "}\n"
    "__syncthreads();\n"
    "@inner@"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "@rest@"
    "@total@[@r@] += @added@;\n"
    "}\n"
    "@outer_end@"
    "}\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "const @x_type@ @x@ = @column_at@ + threadIdx.x;\n"
    "const @y_type@ @y@ = @row_at@ + threadIdx.y * @ROWS@ + @r@;\n"
    "if (@x@ < @x_bound@ && @y@ < @y_bound@) {\n"
    "@finish@"
    "}\n"
    "}\n";

struct names {
    const char *bx, *by, *rows, *total, *r, *fits, *window, *n_x, *row_at, *column_at;
};

static const char *count_text(const struct window *w, const struct hone_c_loop *l)
{
    const char *lower = hone_cuda_bracket(w->k, l->lower),
               *upper = hone_cuda_bracket(w->k, l->upper);
    return lower && upper ? hone_pool_printf(w->k->in->pool, "(int)(%s - %s%s)", upper, lower,
                                             l->is_inclusive ? " + 1" : "")
                          : NULL;
}

static bool is_number(const struct window *w, const struct hone_c_node *expr)
{
    struct hone_c_poly p = hone_c_poly_of(w->k->function, expr);
    return p.is_known && (p.n == 0 || (p.n == 1 && p.terms[0].n_factors == 0));
}

static const char *head_text(const struct window *w, const struct hone_c_loop *l)
{
    struct hone_pool *pool = w->k->in->pool;
    const char *lower = hone_cuda_bracket(w->k, l->lower),
               *upper = hone_cuda_bracket(w->k, l->upper), *v = l->var->name;
    const char *pragma = is_number(w, l->lower) && is_number(w, l->upper) ? "#pragma unroll\n" : "";
    return lower && upper ? hone_pool_printf(pool, "%sfor (%s %s = %s; %s %s %s; %s++)", pragma,
                                             hone_cuda_type(w->k->in, l->var), v, lower, v,
                                             l->is_inclusive ? "<=" : "<", upper, v)
                          : NULL;
}

static const char *conds_text(const struct window *w, const struct hone_cuda_sub *subs, size_t n)
{
    const char *out = "";
    for (size_t i = 0; i < w->n_conds; i++) {
        const char *text = hone_cuda_inline(w->k, w->conds[i].node, subs, n);
        if (!text)
            return NULL;
        out = hone_pool_printf(w->k->in->pool, "%s && %s(%s)", out,
                               w->conds[i].is_negated ? "!" : "", text);
    }
    return out;
}

/* What is added, with the kept part in place of its load. */
static const char *added_text(const struct window *w, const struct names *m)
{
    struct hone_pool *pool = w->k->in->pool;
    const struct hone_c_loop *dx = w->loops[w->dx], *dy = w->loops[w->dy];
    const char *kept = hone_pool_printf(
        pool, "%s[((int)threadIdx.y * %s + %s + (%s - %s)) * %s + (int)threadIdx.x + (%s - %s)]",
        m->window, m->rows, m->r, dy->var->name, hone_cuda_bracket(w->k, dy->lower), m->n_x,
        dx->var->name, hone_cuda_bracket(w->k, dx->lower));
    const struct hone_c_node *top = w->update->last;
    struct hone_cuda_sub subs[MAX_WINDOW_LOOPS + 3];
    size_t n = 0;
    for (; n < w->n_loops; n++)
        subs[n] = (struct hone_cuda_sub){w->loops[n]->var, w->loops[n]->var->name};
    for (size_t i = 0; i < w->k->n_axes; i++)
        subs[n++] = (struct hone_cuda_sub){w->k->axes[i].var, w->k->axes[i].var->name};
    const struct hone_c_node *last = w->part;
    const char *out = kept;
    for (; last != top; last = last->parent) {
        const struct hone_c_node *p = last->parent;
        if (p->kind == HONE_C_PAREN) {
            out = hone_pool_printf(pool, "(%s)", out);
            continue;
        }
        if (p->kind != HONE_C_BINARY)
            return NULL;
        const char *other = hone_cuda_inline(w->k, p->first == last ? p->last : p->first, subs, n);
        if (!other)
            return NULL;
        out = p->first == last ? hone_pool_printf(pool, "%s %s %s", out, p->op, other)
                               : hone_pool_printf(pool, "%s %s %s", other, p->op, out);
    }
    return out;
}

/* The statements around the nest, which is done only where the total is of no use. */
static const char *finish_text(const struct window *w, const struct names *m)
{
    const struct hone_coder_input *in = w->k->in;
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    bool is_checked =
        strcmp(w->type, "int") != 0 && (w->n_conds > 0 || w->part->kind != HONE_C_SUBSCRIPT);
    const char *total = hone_pool_printf(in->pool, "%s[%s]", m->total, m->r);
    for (size_t i = 0; i < w->k->n_stmts; i++) {
        const struct hone_c_node *s = w->k->stmts[i];
        const char *text = hone_pool_strndup(in->pool, in->tree->source + s->begin,
                                             hone_c_stmt_end(in->tree, s) - s->begin);
        if (s != w->nest)
            hone_buf_printf(&out, "%s\n", text);
        else if (is_checked)
            hone_buf_printf(&out, "if (%s && %s == %s) {\n%s += %s;\n} else {\n%s\n}\n", m->fits,
                            total, total, w->acc->name, total, text);
        else
            hone_buf_printf(&out, "if (%s) {\n%s += %s;\n} else {\n%s\n}\n", m->fits, w->acc->name,
                            total, text);
    }
    return hone_pool_strdup(in->pool, out.data ? out.data : "");
}

/* Does what is added beside the kept part name the row or the column? */
static const char *rest_text(const struct window *w, const struct names *m)
{
    struct hone_pool *pool = w->k->in->pool;
    return hone_pool_printf(pool,
                            "[[maybe_unused]] const %s %s = %s + threadIdx.x;\n"
                            "[[maybe_unused]] const %s %s = %s + threadIdx.y * %s + %s;\n",
                            hone_cuda_type(w->k->in, w->column->var), w->column->var->name,
                            m->column_at, hone_cuda_type(w->k->in, w->row->var), w->row->var->name,
                            m->row_at, m->rows, m->r);
}

static const char *plane_text(const struct window *w)
{
    const struct hone_c_node *v = w->plane ? w->plane->var : NULL;
    return v ? hone_pool_printf(w->k->in->pool, "const %s %s = blockIdx.z;\n",
                                hone_cuda_type(w->k->in, v), v->name)
             : "";
}

static const char *make_body(const struct window *w, const struct names *m)
{
    const struct hone_coder_input *in = w->k->in;
    struct hone_pool *pool = in->pool;
    const struct hone_c_loop *dx = w->loops[w->dx], *dy = w->loops[w->dy];
    const char *lower_x = hone_cuda_bracket(w->k, dx->lower),
               *lower_y = hone_cuda_bracket(w->k, dy->lower);
    if (!lower_x || !lower_y)
        return NULL;
    struct hone_cuda_sub subs[MAX_WINDOW_LOOPS + 3] = {{dx->var, lower_x}, {dy->var, lower_y}};
    size_t n = 2;
    for (size_t i = 0; i + 2 < w->n_loops; i++)
        subs[n++] = (struct hone_cuda_sub){w->loops[i]->var, w->loops[i]->var->name};
    for (size_t i = 0; i < w->k->n_axes; i++)
        subs[n++] = (struct hone_cuda_sub){w->k->axes[i].var, w->k->axes[i].var->name};
    const char *heads[MAX_WINDOW_LOOPS] = {""}, *conds = conds_text(w, subs, n),
               *part = hone_cuda_inline(w->k, w->part, subs, n), *added = added_text(w, m),
               *x_bound = hone_cuda_bracket(w->k, w->column->bound),
               *y_bound = hone_cuda_bracket(w->k, w->row->bound), *kx = count_text(w, dx),
               *ky = count_text(w, dy);
    for (size_t i = 0; i < w->n_loops; i++)
        if (!(heads[i] = head_text(w, w->loops[i])))
            return NULL;
    if (!conds || !part || !added || !x_bound || !y_bound || !kx || !ky)
        return NULL;
    bool has_outer = w->n_loops > 2;
    const struct hone_cuda_word words[] = {
        {"T", w->type},
        {"BX", m->bx},
        {"BY", m->by},
        {"ROWS", m->rows},
        {"KX", kx},
        {"KY", ky},
        {"total", m->total},
        {"r", m->r},
        {"fits", m->fits},
        {"window", m->window},
        {"n_x", m->n_x},
        {"row_at", m->row_at},
        {"column_at", m->column_at},
        {"plane", plane_text(w)},
        {"outer", has_outer ? hone_pool_printf(pool, "%s {\n", heads[0]) : ""},
        {"outer_end", has_outer ? "__syncthreads();\n}\n" : ""},
        {"inner", hone_pool_printf(pool, "%s\n%s\n", heads[w->n_loops - 2], heads[w->n_loops - 1])},
        {"x", w->column->var->name},
        {"x_type", hone_cuda_type(in, w->column->var)},
        {"x_bound", x_bound},
        {"y", w->row->var->name},
        {"y_type", hone_cuda_type(in, w->row->var)},
        {"y_bound", y_bound},
        {"conds", conds},
        {"part", part},
        {"rest", rest_text(w, m)},
        {"added", added},
        {"finish", finish_text(w, m)},
        {NULL, NULL},
    };
    return hone_cuda_fill(in, body_text, words);
}

/* The window's extent in the launcher's words. */
static const char *launch_count(const struct window *w, const struct hone_cuda_launch *l,
                                const struct hone_c_loop *loop)
{
    const char *lower = hone_cuda_at_launch(w->k, l, loop->lower),
               *upper = hone_cuda_at_launch(w->k, l, loop->upper);
    return lower && upper ? hone_pool_printf(w->k->in->pool, "((int64_t)(%s) - (%s)%s)", upper,
                                             lower, loop->is_inclusive ? " + 1" : "")
                          : NULL;
}

static bool set_launch(struct hone_c_edits *edits, const struct window *w, const struct names *m,
                       const struct hone_cuda_launch *l)
{
    struct hone_pool *pool = w->k->in->pool;
    const char *kx = launch_count(w, l, w->loops[w->dx]), *ky = launch_count(w, l, w->loops[w->dy]),
               *x = hone_cuda_blocks(w->k, l, w->column->bound, m->bx),
               *y = hone_cuda_blocks(w->k, l, w->row->bound,
                                     hone_pool_printf(pool, "(%s * %s)", m->by, m->rows)),
               *z = w->plane ? hone_cuda_at_launch(w->k, l, w->plane->bound) : "1";
    if (!kx || !ky || !x || !y || !z)
        return false;
    const char *bytes =
        hone_pool_printf(pool, "(%s + %s - 1) * (%s * %s + %s - 1) * (int64_t)sizeof(%s)", m->bx,
                         kx, m->by, m->rows, ky, w->type);
    hone_cuda_set_launch(edits, l, hone_pool_printf(pool, "dim3(%s, %s, (unsigned)(%s))", x, y, z),
                         hone_pool_printf(pool, "dim3(%s, %s)", m->bx, m->by),
                         hone_pool_printf(pool, "(size_t)(%s <= 49152 ? %s : 0)", bytes, bytes));
    return true;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct window w;
    struct names m = {.total = hone_fresh_name(in, "total"), .r = hone_fresh_name(in, "r")};
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    m.fits = hone_fresh_name(in, "fits");
    m.window = hone_fresh_name(in, "window");
    m.n_x = hone_fresh_name(in, "n_x");
    m.row_at = hone_fresh_name(in, "row_at");
    m.column_at = hone_fresh_name(in, "column_at");
    const char *pragmas = hone_cuda_tunable(in, "BX", "32, 64, 16", &m.bx);
    pragmas =
        hone_pool_printf(in->pool, "%s%s", pragmas, hone_cuda_tunable(in, "BY", "8, 4, 16", &m.by));
    pragmas = hone_pool_printf(in->pool, "%s%s", pragmas,
                               hone_cuda_tunable(in, "ROWS", "4, 8, 2, 1", &m.rows));
    const char *body = k && read_window(k, &w) ? make_body(&w, &m) : NULL;
    for (size_t i = 0; body && i < k->n_launches; i++)
        body = set_launch(&edits, &w, &m, &k->launches[i]) ? body : NULL;
    if (!body) {
        hone_fail(err, HONE_E_ARG, "the region is no sum over a window that can be kept");
        return NULL;
    }
    const char *bounds = hone_pool_printf(in->pool, "%s * %s", m.bx, m.by);
    hone_cuda_replace_kernel(&edits, k, pragmas, hone_cuda_header(k, bounds, ""), body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_window_tile = {
    .name = "cuda_window_tile",
    .target = "cuda",
    .strategy = "G05",
    .words = "keep the window in shared memory, several rows a thread",
    .form = HONE_REWRITE_NORMAL,
    .sites = sites,
    .apply = apply,
};
