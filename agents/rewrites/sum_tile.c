/* SPDX-License-Identifier: Apache-2.0 */
/* G06: a register tile around a sum whose bounds follow the row, or that runs along memory itself.
 *
 *     for i, for j <= i { acc = init; for k acc += A[i, k] * A[j, k]; C[i, j] = acc; }
 *
 * becomes, for blocks of MR rows and NR columns, one pass over the k that all rows of the block
 * have, with MR x NR sums in registers. Then each element of the block is finished as written, with
 * the k that are left to it. Vectors run along the columns where something is read along them, else
 * along k: LANES partial sums for each element. Either way sums are regrouped.
 *
 * The last block of rows and of columns is moved back to be whole; it finishes what is not done.
 * Blocks at a triangle's edge add up more pairs than they finish (sum_nest.h says when they may).
 * variant 0: one thread; 1: threads share the outer blocks where isl shows them independent.
 *
 * C07, pack_panels: what the sums read of NR columns (sum_panels.h) is copied into a panel, in the
 * order in which it is used, and all rows go over it: vectors run along the panel whatever the
 * layout was, and no line or page is read for a part of it. The panel is the thread's own and lies
 * on its stack up to a depth of DEPTH, where no call has to ask for pages. Deeper ones are allocated
 * for all columns at once; above a GiB, or where there is no memory, the nest runs as it stood. */
#include "agents/rewrites/coder_rules.h"
#include "agents/rewrites/sum_nest.h"
#include "agents/rewrites/sum_panels.h"

#include <string.h>

#define MOST_FAR ((size_t)1 << 30) /* bytes of panels that are allocated */
enum { PLAIN, THREADS, ALL };      /* ALL: every such nest, by threads where they may */

struct tile {
    const struct hone_coder_input *in;
    const struct hone_sum_nest *nest;
    const char *mr, *nr, *lanes;                             /* tunables; NULL: none */
    const char *ii, *jj, *v;                                 /* counters inside of a block */
    const char *row, *column;                                /* where a block starts to add up */
    const char *row_block, *column_block;                    /* where it starts to finish */
    const char *row_from, *row_to, *column_from, *column_to; /* of the whole nest */
    const char *sum_from, *sum_to;
    const struct hone_sum_panels *panels; /* NULL: what is read stays where it is */
    const char *near_depth;               /* tunable */
    const char *far, *depth, *extent;     /* elements of a panel of all columns */
};

static const char *fresh(const struct tile *t, const struct hone_c_loop *l, const char *suffix)
{
    return hone_fresh_name(t->in, hone_pool_printf(t->in->pool, "%s_%s", l->var->name, suffix));
}

static bool is_word(const char *text)
{
    while (hone_is_word_char(*text))
        text++;
    return *text == '\0';
}

/* A bound as text, exclusive, with the row replaced. */
static const char *bound(const struct tile *t, const struct hone_c_loop *l, bool is_upper,
                         const char *row)
{
    const struct hone_c_node *b = is_upper ? l->upper : l->lower;
    struct hone_c_edits e;
    hone_c_edits_init(&e, t->in->tree);
    hone_c_replace_refs(&e, b, t->nest->rows->var, row);
    const char *text = hone_c_edit_text(&e, b->begin, b->end);
    if (is_upper && l->is_inclusive)
        return hone_pool_printf(t->in->pool, is_word(text) ? "(%s + 1)" : "((%s) + 1)", text);
    return is_word(text) ? text : hone_pool_printf(t->in->pool, "(%s)", text);
}

static const char *last_of(const struct tile *t, const char *first)
{
    return hone_pool_printf(t->in->pool, "(%s + %s - 1)", first, t->mr);
}

/* ---- the sums of a block ---- */

static const char *loops_text(const struct tile *t, const char *body)
{
    if (t->nest->columns)
        body = hone_pool_printf(t->in->pool, "#pragma %s\nfor (int %s = 0; %s < %s; %s++) {\n%s\n}",
                                t->lanes ? "GCC unroll 16" : "omp simd", t->jj, t->jj, t->nr, t->jj,
                                body);
    return hone_pool_printf(t->in->pool,
                            "#pragma GCC unroll 16\nfor (int %s = 0; %s < %s; %s++) {\n%s\n}\n",
                            t->ii, t->ii, t->mr, t->ii, body);
}

static const char *place(const struct tile *t, const char *name)
{
    return t->nest->columns ? hone_pool_printf(t->in->pool, "%s[%s][%s]", name, t->ii, t->jj)
                            : hone_pool_printf(t->in->pool, "%s[%s]", name, t->ii);
}

static const char *sum_name(const struct tile *t, size_t update)
{
    return hone_fresh_name(
        t->in, hone_pool_printf(t->in->pool, "%s_sum", t->nest->updates[update].var->name));
}

/* An expression in row ii, column jj and lane v. */
static const char *at_place(const struct tile *t, const struct hone_c_node *expr, bool has_lane)
{
    struct hone_c_edits e;
    hone_c_edits_init(&e, t->in->tree);
    hone_c_replace_refs(&e, expr, t->nest->rows->var,
                        hone_pool_printf(t->in->pool, "(%s + %s)", t->row, t->ii));
    if (t->nest->columns)
        hone_c_replace_refs(&e, expr, t->nest->columns->var,
                            hone_pool_printf(t->in->pool, "(%s + %s)", t->column, t->jj));
    if (has_lane)
        hone_c_replace_refs(
            &e, expr, t->nest->sum->var,
            hone_pool_printf(t->in->pool, "(%s + %s)", t->nest->sum->var->name, t->v));
    return hone_c_edit_text(&e, expr->begin, expr->end);
}

/* The factors one after another, in the type of the sum. */
static const char *product_text(const struct tile *t, const struct hone_sum_factors *f,
                                const struct hone_c_node *var, const char *value)
{
    const char *text = "";
    for (size_t i = 0; i < f->n; i++) {
        struct hone_c_edits e;
        hone_c_edits_init(&e, t->in->tree);
        hone_c_replace_refs(&e, f->v[i], var, value);
        text = hone_pool_printf(t->in->pool, "%s%s(%s)", text, i ? " * " : "",
                                hone_c_edit_text(&e, f->v[i]->begin, f->v[i]->end));
    }
    return f->n > 1 ? hone_pool_printf(t->in->pool, "(%s)%s", t->panels->type, text) : text;
}

static const char *numbered(const struct tile *t, const char *stem, size_t n)
{
    return hone_fresh_name(
        t->in, hone_pool_printf(t->in->pool, t->panels->n_panels > 1 ? "%s_%zu" : "%s", stem, n));
}

static const char *add_products_text(const struct tile *t)
{
    const char *text = "", *k = t->nest->sum->var->name;
    const char *row = hone_pool_printf(t->in->pool, "(%s + %s)", t->row, t->ii);
    size_t n_panels = 0;
    for (size_t i = 0; i < t->panels->n; i++) {
        const struct hone_sum_product *p = &t->panels->products[i];
        const char *value = product_text(t, &p->row, t->nest->rows->var, row);
        if (p->panel.n > 0)
            value =
                hone_pool_printf(t->in->pool, "%s%s%s[(__SIZE_TYPE__)(%s - %s) * %s + %s]", value,
                                 p->row.n > 0 ? " * " : "", numbered(t, "panel", n_panels++), k,
                                 t->sum_from, t->nr, t->jj);
        text = hone_pool_printf(t->in->pool, "%s%s %s= %s;\n", text,
                                place(t, sum_name(t, p->update)), p->is_minus ? "-" : "+", value);
    }
    return text;
}

static const char *added_name(const struct tile *t, size_t n)
{
    return hone_fresh_name(t->in, hone_pool_printf(t->in->pool, "added_%zu", n));
}

static const char *add_text(const struct tile *t, bool has_lane)
{
    const struct hone_sum_nest *n = t->nest;
    const char *text = "";
    for (size_t u = 0; u < n->n_updates; u++)
        text = hone_pool_printf(
            t->in->pool, "%s%s%s %s %s;\n", text, place(t, sum_name(t, u)),
            has_lane ? hone_pool_printf(t->in->pool, "[%s]", t->v) : "",
            n->updates[u].is_minus ? "-=" : "+=", at_place(t, n->updates[u].expr, has_lane));
    for (size_t a = 0; a < n->n_additions; a++)
        text = hone_pool_printf(t->in->pool, "%s%s[%s] %s= %s;\n", text, added_name(t, a), t->v,
                                n->additions[a].is_minus ? "-" : "+",
                                at_place(t, n->additions[a].value, has_lane));
    return text;
}

/* Around the loops over rows: what they add to Y[k + lane], by one addition for all of them. */
static const char *with_additions(const struct tile *t, const char *rows, const char *lanes)
{
    const char *front = "", *behind = "";
    if (t->nest->n_additions == 0)
        return rows;
    for (size_t a = 0; a < t->nest->n_additions; a++) {
        const struct hone_c_node *target = t->nest->additions[a].target;
        front = hone_pool_printf(t->in->pool, "%s%s %s[%s] = {0};\n", front, target->type,
                                 added_name(t, a), t->lanes);
        behind = hone_pool_printf(t->in->pool, "%s%s += %s[%s];\n", behind,
                                  at_place(t, target, true), added_name(t, a), t->v);
    }
    return hone_pool_printf(t->in->pool, "%s%s%s{\n%s}\n", front, rows, lanes, behind);
}

static const char *dims(const struct tile *t)
{
    const char *columns = t->nest->columns ? hone_pool_printf(t->in->pool, "[%s]", t->nr) : "";
    return hone_pool_printf(t->in->pool, "[%s]%s", t->mr, columns);
}

/* Sums by lanes and what is left behind whole vectors. */
static void put_lane_sums(const struct tile *t, struct hone_buf *out)
{
    const char *k = t->nest->sum->var->name, *type = hone_type_text(t->in, t->nest->sum->var);
    const char *lanes =
        hone_pool_printf(t->in->pool, "#pragma omp simd\nfor (int %s = 0; %s < %s; %s++) ", t->v,
                         t->v, t->lanes, t->v);
    const char *inner = hone_pool_printf(t->in->pool, "%s{\n%s}", lanes, add_text(t, true));
    for (size_t u = 0; u < t->nest->n_updates; u++)
        hone_buf_printf(out, "%s %s%s[%s] = {0};\n", t->nest->updates[u].var->type, sum_name(t, u),
                        dims(t), t->lanes);
    hone_buf_printf(out, "{\n%s %s = %s;\nfor (; %s + %s <= %s; %s += %s) {\n%s}\n", type, k,
                    t->sum_from, k, t->lanes, t->sum_to, k, t->lanes,
                    with_additions(t, loops_text(t, inner), lanes));
    hone_buf_printf(out, "for (; %s < %s; %s++) {\nconst int %s = 0;\n%s}\n}\n", k, t->sum_to, k,
                    t->v, with_additions(t, loops_text(t, add_text(t, true)), ""));
}

static void put_column_sums(const struct tile *t, struct hone_buf *out)
{
    const char *k = t->nest->sum->var->name, *type = hone_type_text(t->in, t->nest->sum->var);
    for (size_t u = 0; u < t->nest->n_updates; u++)
        hone_buf_printf(out, "%s %s%s = {0};\n", t->nest->updates[u].var->type, sum_name(t, u),
                        dims(t));
    hone_buf_printf(out, "for (%s %s = %s; %s < %s; %s++) {\n%s}\n", type, k, t->sum_from, k,
                    t->sum_to, k,
                    loops_text(t, t->panels ? add_products_text(t) : add_text(t, false)));
}

/* ---- the elements of a block ---- */

static const char *total_text(const struct tile *t)
{
    const struct hone_sum_nest *n = t->nest;
    const char *text = "";
    for (size_t u = 0; u < n->n_updates; u++) {
        const char *at = hone_pool_printf(t->in->pool, "%s[%s - %s]", sum_name(t, u),
                                          n->rows->var->name, t->row);
        if (n->columns)
            at = hone_pool_printf(t->in->pool, "%s[%s - %s]", at, n->columns->var->name, t->column);
        text =
            t->lanes
                ? hone_pool_printf(
                      t->in->pool,
                      "%s\n#pragma GCC unroll 16\nfor (int %s = 0; %s < %s; %s++)\n%s += %s[%s];\n",
                      text, t->v, t->v, t->lanes, t->v, n->updates[u].var->name, at, t->v)
                : hone_pool_printf(t->in->pool, "%s%s += %s;\n", text, n->updates[u].var->name, at);
    }
    return text;
}

/* Columns of this row that the block finishes. */
static const char *columns_text(const struct tile *t, const char *body)
{
    const struct hone_c_loop *c = t->nest->columns;
    const char *type = hone_type_text(t->in, c->var), *j = c->var->name;
    const char *row = t->nest->rows->var->name, *from = t->column_block;
    const char *until = hone_pool_printf(t->in->pool, "%s < %s + %s", j, t->column, t->nr);
    if (t->nest->column_lower)
        from = hone_pool_printf(t->in->pool, "%s > %s ? %s : %s", bound(t, c, false, row), from,
                                bound(t, c, false, row), from);
    if (t->nest->column_upper)
        until = hone_pool_printf(t->in->pool, "%s && %s < %s", until, j, bound(t, c, true, row));
    return hone_pool_printf(t->in->pool, "for (%s %s = %s; %s; %s++) {\n%s\n}", type, j, from,
                            until, j, body);
}

/* What the sum's loop does beside the sums, for all k of a row. */
static const char *others_text(const struct tile *t)
{
    const struct hone_sum_nest *n = t->nest;
    const char *body = "", *row = n->rows->var->name, *k = n->sum->var->name;
    for (size_t o = 0; o < n->n_others; o++)
        body =
            hone_pool_printf(t->in->pool, "%s%s;\n", body, hone_c_text(t->in->tree, n->others[o]));
    if (n->n_others > 0 && n->others_first)
        body = hone_pool_printf(t->in->pool, "#pragma omp simd\n%s\n", columns_text(t, body));
    return n->n_others == 0
               ? ""
               : hone_pool_printf(t->in->pool, "for (%s %s = %s; %s < %s; %s++) {\n%s}\n",
                                  hone_type_text(t->in, n->sum->var), k,
                                  bound(t, n->sum, false, row), k, bound(t, n->sum, true, row), k,
                                  body);
}

/* What replaces the sum's loop when an element is finished: the k in front of those of the block,
 * the block's sum, the k behind. */
static const char *finish_text(const struct tile *t)
{
    const struct hone_sum_nest *n = t->nest;
    const char *type = hone_type_text(t->in, n->sum->var), *k = n->sum->var->name;
    const char *row = n->rows->var->name, *upper = bound(t, n->sum, true, row);
    bool is_done = n->others_first || n->n_additions > 0;
    const char *body = "", *text = is_done ? "" : others_text(t);
    for (size_t u = 0; u < n->n_updates; u++)
        body = hone_pool_printf(t->in->pool, "%s%s;\n", body,
                                hone_c_text(t->in->tree, n->updates[u].stmt));
    if (n->sum_lower)
        text = hone_pool_printf(t->in->pool,
                                "%sfor (%s %s = %s; %s < %s && %s < %s; %s++) {\n%s}\n", text, type,
                                k, bound(t, n->sum, false, row), k, t->sum_from, k, upper, k, body);
    text = hone_pool_printf(t->in->pool, "%s%s", text, total_text(t));
    if (n->sum_upper)
        text = hone_pool_printf(t->in->pool, "%sfor (%s %s = %s; %s < %s; %s++) {\n%s}\n", text,
                                type, k, t->sum_to, k, upper, k, body);
    return text;
}

static void put_elements(const struct tile *t, struct hone_buf *out)
{
    const struct hone_sum_nest *n = t->nest;
    struct hone_c_edits e;
    hone_c_edits_init(&e, t->in->tree);
    hone_c_replace(&e, n->sum->node->begin, hone_c_stmt_end(t->in->tree, n->sum->node),
                   finish_text(t));
    const char *type = hone_type_text(t->in, n->rows->var), *i = n->rows->var->name;
    const char *body = hone_body_text(&e, n->body);
    hone_buf_printf(out, "for (%s %s = %s; %s < %s + %s; %s++) {\n%s%s\n}\n", type, i, t->row_block,
                    i, t->row, t->mr, i, n->others_first ? others_text(t) : "",
                    n->columns ? columns_text(t, body) : body);
}

/* ---- blocks ---- */

/* The k that all rows of the block have. */
static void put_range(const struct tile *t, struct hone_buf *out)
{
    const struct hone_sum_nest *n = t->nest;
    const char *type = hone_type_text(t->in, n->sum->var), *last = last_of(t, t->row);
    const char *stop =
        hone_fresh_name(t->in, hone_pool_printf(t->in->pool, "%s_stop", n->sum->var->name));
    hone_buf_printf(out, "const %s %s = %s;\nconst %s %s = %s;\n", type, t->sum_from,
                    bound(t, n->sum, false, n->sum_lower > 0 ? last : t->row), type, stop,
                    bound(t, n->sum, true, n->sum_upper < 0 ? last : t->row));
    hone_buf_printf(out, "const %s %s = %s > %s ? %s : %s;\n", type, t->sum_to, stop, t->sum_from,
                    stop, t->sum_from);
}

static const char *block_text(const struct tile *t)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    if (!t->panels)
        put_range(t, &out);
    if (t->lanes)
        put_lane_sums(t, &out);
    else
        put_column_sums(t, &out);
    put_elements(t, &out);
    return hone_pool_strdup(t->in->pool, out.data);
}

/* for (block = from; block < to; block += size) { first = block, moved back where it is the last } */
static const char *blocks_text(const struct tile *t, bool is_columns, const char *from,
                               const char *to, const char *body)
{
    const struct hone_c_loop *l = is_columns ? t->nest->columns : t->nest->rows;
    const char *block = is_columns ? t->column_block : t->row_block;
    const char *first = is_columns ? t->column : t->row, *size = is_columns ? t->nr : t->mr;
    const char *end = is_columns ? t->column_to : t->row_to;
    const char *type = hone_type_text(t->in, l->var);
    return hone_pool_printf(t->in->pool,
                            "for (%s %s = %s; %s < %s; %s += %s) {\n"
                            "const %s %s = %s + %s <= %s ? %s : %s - %s;\n%s}\n",
                            type, block, from, block, to, block, size, type, first, block, size,
                            end, block, end, size, body);
}

/* ---- panels ---- */

/* The panels of a block of columns: where they lie, and what goes into them. */
static void put_panels(const struct tile *t, struct hone_buf *out)
{
    const struct hone_sum_nest *n = t->nest;
    const char *k = n->sum->var->name, *type = t->panels->type, *set = "";
    const char *column = hone_pool_printf(t->in->pool, "(%s + %s)", t->column, t->jj);
    size_t n_panels = 0;
    for (size_t i = 0; i < t->panels->n; i++) {
        const struct hone_sum_product *p = &t->panels->products[i];
        if (p->panel.n == 0)
            continue;
        const char *panel = numbered(t, "panel", n_panels),
                   *near = numbered(t, "panel_near", n_panels);
        hone_buf_printf(out,
                        "%s %s[%s * %s] __attribute__((aligned(64)));\n"
                        "%s *%s = %s ? %s + %zu * %s + (__SIZE_TYPE__)(%s - %s) * %s : %s;\n",
                        type, near, t->near_depth, t->nr, type, panel, t->far, t->far, n_panels,
                        t->extent, t->column_block, t->column_from, t->depth, near);
        set = hone_pool_printf(t->in->pool, "%s%s[(__SIZE_TYPE__)(%s - %s) * %s + %s] = %s;\n", set,
                               panel, k, t->sum_from, t->nr, t->jj,
                               product_text(t, &p->panel, n->columns->var, column));
        n_panels++;
    }
    hone_buf_printf(out,
                    "for (%s %s = %s; %s < %s; %s++) {\n#pragma omp simd\n"
                    "for (int %s = 0; %s < %s; %s++) {\n%s}\n}\n",
                    hone_type_text(t->in, n->sum->var), k, t->sum_from, k, t->sum_to, k, t->jj,
                    t->jj, t->nr, t->jj, set);
}

/* Has a row of the block a column of the panel? */
static const char *meets_text(const struct tile *t, const char *body)
{
    const struct hone_sum_nest *n = t->nest;
    const char *last = last_of(t, t->row);
    if (n->column_upper)
        body =
            hone_pool_printf(t->in->pool, "if (%s < %s) {\n%s}\n", t->column_block,
                             bound(t, n->columns, true, n->column_upper > 0 ? last : t->row), body);
    if (n->column_lower)
        body = hone_pool_printf(t->in->pool, "if (%s + %s > %s) {\n%s}\n", t->column, t->nr,
                                bound(t, n->columns, false, n->column_lower > 0 ? t->row : last),
                                body);
    return body;
}

static const char *panels_text(const struct tile *t, const char *pragma)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    put_panels(t, &out);
    hone_buf_str(&out, blocks_text(t, false, t->row_from, t->row_to, meets_text(t, block_text(t))));
    return hone_pool_printf(t->in->pool, "%s%s", pragma,
                            blocks_text(t, true, t->column_from, t->column_to, out.data));
}

/* How deep panels are, and memory for all of them where the stack is not for that. */
static void put_depth(const struct tile *t, struct hone_buf *out)
{
    const char *type = hone_type_text(t->in, t->nest->sum->var), *element = t->panels->type;
    put_range(t, out);
    hone_buf_printf(
        out,
        "const %s %s = %s - %s;\nconst __SIZE_TYPE__ %s = (__SIZE_TYPE__)(%s - %s + %s) * %s;\n"
        "%s *%s = %s > %s && %s <= %zu ? __builtin_malloc(%zu * %s * sizeof(%s)) : 0;\n",
        type, t->depth, t->sum_to, t->sum_from, t->extent, t->column_to, t->column_from, t->nr,
        t->depth, element, t->far, t->depth, t->near_depth, t->extent,
        MOST_FAR / sizeof(double) / t->panels->n_panels, t->panels->n_panels, t->extent, element);
}

/* No row is done twice where sums are added to memory: whole blocks, and what is left as written. */
static const char *once_text(const struct tile *t, const char *body)
{
    struct tile whole = *t;
    const struct hone_c_loop *rows = t->nest->rows;
    const char *type = hone_type_text(t->in, rows->var), *i = rows->var->name;
    struct hone_c_edits none;
    hone_c_edits_init(&none, t->in->tree);
    whole.row_to = fresh(t, rows, "full");
    return hone_pool_printf(
        t->in->pool,
        "const %s %s = %s + (%s - %s) / %s * %s;\n%sfor (%s %s = %s; %s < %s; %s++) {\n%s\n}\n",
        type, whole.row_to, t->row_from, t->row_to, t->row_from, t->mr, t->mr,
        blocks_text(&whole, false, t->row_from, whole.row_to, body), type, i, whole.row_to, i,
        t->row_to, i, hone_body_text(&none, rows->node->body));
}

static const char *nest_text(const struct tile *t, const char *pragma)
{
    const struct hone_sum_nest *n = t->nest;
    if (t->panels)
        return panels_text(t, pragma);
    const char *body = block_text(t), *rows;
    if (!n->columns && n->n_additions > 0)
        return once_text(t, body);
    if (!n->columns)
        return hone_pool_printf(t->in->pool, "%s%s", pragma,
                                blocks_text(t, false, t->row_from, t->row_to, body));
    bool columns_outside = !n->order.outer_is_free && !n->column_lower && !n->column_upper;
    if (columns_outside) {
        rows = blocks_text(t, false, t->row_from, t->row_to, body);
        return hone_pool_printf(t->in->pool, "%s%s", pragma,
                                blocks_text(t, true, t->column_from, t->column_to, rows));
    }
    const char *last = last_of(t, t->row), *from = t->column_from, *to = t->column_to;
    if (n->column_lower)
        from = bound(t, n->columns, false, n->column_lower > 0 ? t->row_block : last);
    if (n->column_upper)
        to = bound(t, n->columns, true, n->column_upper > 0 ? last : t->row_block);
    rows = blocks_text(t, false, t->row_from, t->row_to, blocks_text(t, true, from, to, body));
    return hone_pool_printf(t->in->pool, "%s%s", pragma, rows);
}

/* ---- the nest ---- */

static void name_all(struct tile *t)
{
    const struct hone_sum_nest *n = t->nest;
    t->ii = hone_fresh_name(t->in, "ii");
    t->v = hone_fresh_name(t->in, "lane");
    t->row = fresh(t, n->rows, "first");
    t->row_block = fresh(t, n->rows, "block");
    t->row_from = fresh(t, n->rows, "from");
    t->row_to = fresh(t, n->rows, "to");
    t->sum_from = fresh(t, n->sum, "from");
    t->sum_to = fresh(t, n->sum, "to");
    if (!n->columns)
        return;
    t->jj = hone_fresh_name(t->in, "jj");
    t->far = hone_fresh_name(t->in, "panel_far");
    t->extent = hone_fresh_name(t->in, "panel_extent");
    t->depth = fresh(t, n->sum, "depth");
    t->column = fresh(t, n->columns, "first");
    t->column_block = fresh(t, n->columns, "block");
    t->column_from = fresh(t, n->columns, "from");
    t->column_to = fresh(t, n->columns, "to");
}

/* Rows of a triangle that have no column are left out: a block reads what belongs to its rows. */
static void put_rows(const struct tile *t, struct hone_buf *out)
{
    const struct hone_sum_nest *n = t->nest;
    const char *type = hone_type_text(t->in, n->rows->var);
    bool is_triangle = n->column_lower || n->column_upper;
    hone_buf_printf(out, "%s%s %s = %s;\n%s%s %s = %s;\n", is_triangle ? "" : "const ", type,
                    t->row_from, bound(t, n->rows, false, ""), is_triangle ? "" : "const ", type,
                    t->row_to, bound(t, n->rows, true, ""));
    if (!is_triangle)
        return;
    const char *last = hone_pool_printf(t->in->pool, "(%s - 1)", t->row_to);
    hone_buf_printf(out, "while (%s < %s && %s >= %s)\n%s++;\n", t->row_from, t->row_to,
                    bound(t, n->columns, false, t->row_from),
                    bound(t, n->columns, true, t->row_from), t->row_from);
    hone_buf_printf(out, "while (%s < %s && %s >= %s)\n%s--;\n", t->row_from, t->row_to,
                    bound(t, n->columns, false, last), bound(t, n->columns, true, last), t->row_to);
}

/* All columns that some row has. */
static void put_columns(const struct tile *t, struct hone_buf *out)
{
    const struct hone_sum_nest *n = t->nest;
    const char *type = hone_type_text(t->in, n->columns->var);
    const char *last = hone_pool_printf(t->in->pool, "(%s - 1)", t->row_to);
    hone_buf_printf(out, "const %s %s = %s;\nconst %s %s = %s;\n", type, t->column_from,
                    bound(t, n->columns, false, n->column_lower < 0 ? last : t->row_from), type,
                    t->column_to,
                    bound(t, n->columns, true, n->column_upper > 0 ? last : t->row_from));
}

static const char *range_text(const struct hone_coder_input *in, uint32_t begin, uint32_t end)
{
    return hone_pool_strndup(in->pool, in->tree->source + begin, end - begin);
}

/* Statements in front of the columns' loop, for all rows at first. */
static const char *split_text(const struct tile *t)
{
    const struct hone_c_loop *rows = t->nest->rows;
    const char *head = range_text(t->in, rows->node->begin, rows->node->body->begin);
    return t->nest->first ? hone_pool_printf(t->in->pool, "%s {\n%s\n}\n", head,
                                             range_text(t->in, t->nest->first->begin,
                                                        t->nest->columns->node->begin))
                          : "";
}

/* The nest as written, less what was done at first. */
static const char *plain_text(const struct tile *t)
{
    const struct hone_c_loop *rows = t->nest->rows;
    uint32_t end = hone_c_stmt_end(t->in->tree, rows->node);
    if (!t->nest->first)
        return range_text(t->in, rows->begin, end);
    struct hone_c_edits e;
    hone_c_edits_init(&e, t->in->tree);
    hone_c_replace(&e, t->nest->first->begin, t->nest->columns->node->begin, "");
    return hone_c_edit_text(&e, rows->begin, end);
}

static const char *pragma_of(const struct tile *t, bool has_threads)
{
    const struct hone_c_loop *rows = t->nest->rows;
    bool is_uneven =
        t->nest->column_lower || t->nest->column_upper || t->nest->sum_lower || t->nest->sum_upper;
    if (!has_threads)
        return "";
    return hone_pool_printf(t->in->pool, "#pragma omp parallel for schedule(%s)%s\n",
                            is_uneven && (t->panels || t->nest->order.outer_is_free) ? "dynamic"
                                                                                     : "static",
                            hone_if_clause(t->in, rows));
}

static const char *text_of(const struct tile *t, bool has_threads)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    hone_buf_printf(&out, "%s{\n", split_text(t));
    put_rows(t, &out);
    if (t->nest->columns)
        put_columns(t, &out);
    if (t->panels)
        put_depth(t, &out);
    hone_buf_printf(&out, "if (%s - %s >= %s", t->row_to, t->row_from, t->mr);
    if (t->nest->columns)
        hone_buf_printf(&out, " && %s - %s >= %s", t->column_to, t->column_from, t->nr);
    if (t->panels)
        hone_buf_printf(&out, " && (%s <= %s || %s)", t->depth, t->near_depth, t->far);
    hone_buf_printf(
        &out, ") {\n%s} else {\n%s\n}\n%s}", nest_text(t, pragma_of(t, has_threads)), plain_text(t),
        t->panels ? hone_pool_printf(t->in->pool, "__builtin_free(%s);\n", t->far) : "");
    return hone_pool_strdup(t->in->pool, out.data);
}

/* ---- the rule ---- */

/* A rectangle whose vectors run along the columns is register_tile's. */
static bool is_wanted(const struct hone_sum_nest *n)
{
    return n->along_sum || n->column_lower || n->column_upper || n->sum_lower || n->sum_upper;
}

static bool can_share(const struct hone_coder_input *in, const struct hone_sum_nest *n,
                      bool has_panels)
{
    bool is_rectangle = n->columns && !n->column_lower && !n->column_upper;
    if (!hone_may_thread(in, n->rows) || n->rows->depth > 0)
        return false;
    return has_panels ? n->order.inner_is_free
                      : n->order.outer_is_free || (is_rectangle && n->order.inner_is_free);
}

static bool read_nest(const struct hone_coder_input *in, const struct hone_c_loop *sum,
                      bool has_panels, struct hone_sum_nest *ret,
                      struct hone_sum_panels *ret_panels)
{
    if (hone_rounds_as_written(in) || !hone_sum_nest_of(in, sum, has_panels, ret))
        return false;
    return has_panels ? hone_sum_panels_of(in, ret, ret_panels) : is_wanted(ret);
}

static struct hone_coder_site site_of(const struct hone_coder_input *in,
                                      const struct hone_sum_nest *nest, int variant,
                                      bool has_panels)
{
    const struct hone_c_loop *rows = nest->rows;
    struct hone_coder_site ret =
        hone_site(nest->sum->node, rows->begin, rows->node->end,
                  hone_pool_printf(in->pool, "%s, %s%s", hone_loop_words(in, rows),
                                   has_panels      ? "panels of columns"
                                   : nest->columns ? "rows and columns"
                                                   : "rows",
                                   variant == ALL       ? ", and every other such nest"
                                   : variant == THREADS ? ", by threads"
                                                        : ""));
    ret.evidence = has_panels        ? "all rows read the same columns"
                   : nest->along_sum ? "sums that run along memory share what they read"
                                     : "sums inside of bounds that follow the row";
    ret.variant = variant;
    return ret;
}

static size_t all_sites(const struct hone_coder_input *in, bool has_panels,
                        struct hone_coder_site *ret, size_t max)
{
    size_t n = 0, n_nests = 0;
    for (size_t i = 0; i < in->nest.n && n + 1 < max; i++) {
        struct hone_sum_nest nest;
        struct hone_sum_panels panels;
        if (!read_nest(in, &in->nest.loops[i], has_panels, &nest, &panels))
            continue;
        if (has_panels && ++n_nests == 2 && n + 2 < max) { /* of all, in front of each alone */
            memmove(ret + 1, ret, n++ * sizeof *ret);
            ret[0] = site_of(in, &nest, ALL, has_panels);
        }
        int most = can_share(in, &nest, has_panels) ? THREADS : PLAIN;
        for (int variant = most; variant >= PLAIN; variant--)
            ret[n++] = site_of(in, &nest, variant, has_panels);
    }
    return n;
}

/* One nest, or with ALL every one that is left. */
static void put_nests(struct tile *t, const struct hone_c_loop *sum, int variant, bool has_panels,
                      struct hone_c_edits *e)
{
    struct hone_sum_nest nest;
    struct hone_sum_panels panels;
    for (size_t i = 0; i < t->in->nest.n; i++) {
        const struct hone_c_loop *l = &t->in->nest.loops[i];
        if ((variant != ALL && l != sum) || !read_nest(t->in, l, has_panels, &nest, &panels))
            continue;
        t->nest = &nest;
        t->panels = has_panels ? &panels : NULL;
        name_all(t);
        bool has_threads =
            variant == THREADS || (variant == ALL && can_share(t->in, &nest, has_panels));
        hone_c_replace(e, nest.rows->begin, hone_c_stmt_end(t->in->tree, nest.rows->node),
                       text_of(t, has_threads));
    }
}

static char *apply_to(const struct hone_coder_input *in, const struct hone_coder_site *site,
                      bool has_panels, struct hone_err *err)
{
    const struct hone_c_loop *sum = hone_c_loop_of(&in->nest, site->node);
    struct hone_sum_nest nest;
    struct hone_sum_panels panels;
    if (!sum || !read_nest(in, sum, has_panels, &nest, &panels)) {
        hone_fail(err, HONE_E_ARG, "the region is no sum that can be cut into blocks");
        return NULL;
    }
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    struct tile t = {.in = in};
    bool has_lanes = nest.along_sum && !has_panels;
    t.mr = hone_add_tunable(&e, in, "MR",
                            has_panels  ? "8, 6, 4"
                            : has_lanes ? "4, 2, 8"
                                        : "6, 4, 8");
    if (nest.columns)
        t.nr = hone_add_tunable(&e, in, "NR", has_lanes ? "3, 4, 2" : "16, 32, 8");
    if (has_panels) /* of 16 doubles: 128 KiB */
        t.near_depth = hone_add_tunable(&e, in, "DEPTH", "1024");
    if (has_lanes)
        t.lanes = hone_add_tunable(&e, in, "LANES", "8, 16, 4");
    put_nests(&t, sum, site->variant, has_panels, &e);
    return hone_finish_edits(&e);
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    return all_sites(in, false, ret, max);
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    return apply_to(in, site, false, err);
}

static size_t panel_sites(const struct hone_coder_input *in, struct hone_coder_site *ret,
                          size_t max)
{
    return all_sites(in, true, ret, max);
}

static char *apply_panels(const struct hone_coder_input *in, const struct hone_coder_site *site,
                          struct hone_err *err)
{
    return apply_to(in, site, true, err);
}

const struct hone_rewrite hone_rewrite_sum_tile = {
    .name = "sum_tile",
    .strategy = "G06",
    .words = "register tile around sums with edges",
    .form = HONE_REWRITE_NORMAL,
    .sites = sites,
    .apply = apply,
};

const struct hone_rewrite hone_rewrite_pack_panels = {
    .name = "pack_panels",
    .strategy = "C07",
    .words = "pack what columns read into panels",
    .form = HONE_REWRITE_NORMAL,
    .sites = panel_sites,
    .apply = apply_panels,
};
