/* SPDX-License-Identifier: Apache-2.0 */
/* G06: unroll-and-jam of a loop nest around a reduction, into a register tile of MR rows
 * and NR columns.
 *
 *     for i, for j { acc = init; for k acc += E(i, j, k); C[i, j] = f(acc); }
 *
 * becomes, for blocks of MR x NR iterations (i, j), one pass over k that updates acc[MR][NR]: each
 * loaded value is used MR or NR times and the chains of additions are independent. The inner j part
 * is a constant loop that the compiler turns into vectors. The order of additions into one
 * accumulator does not change, so the result is the same to the bit (contraction aside).
 *
 * The body may hold several scalars, several k loops, also nested ones, as long as their bounds do
 * not depend on i and j. Columns that do not fill a block are done by a last block that overlaps
 * the one before, or, when the body cannot be done twice (what it writes is read), by blocks of one
 * column. Rows that do not fill a block are done one by one with blocks of 1 x NR. variant 0: rows
 * and columns; 1: columns only; 2: rows and columns of every such nest. The normal form is asked
 * about first: there a sum is a local, and one in memory stays out of registers. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

enum { TWO_D, ONE_D, ALL, MAX_LOCALS = 8, MAX_ACCESSES = 64 };

struct tile {
    const struct hone_coder_input *in;
    struct hone_c_edits *edits;
    const struct hone_c_loop *rows, *columns; /* rows NULL for the flat form */
    const char *mr, *nr;                      /* text of the sizes */
    const char *ii, *jj;
    struct hone_buf out;
};

static bool has_loop(const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE)
            return true;
    return false;
}

static bool is_signed_counter(const struct hone_c_loop *l)
{
    return l->is_canonical && l->declares_var && l->is_unit_step && !l->has_simd &&
           !strstr(l->var->type, "unsigned");
}

/* May the block be emitted? Loops inside must have bounds without i and j; anything else that
 * branches around loops is refused. */
static bool is_block_fit(const struct hone_coder_input *in, const struct hone_c_node *block,
                         const struct hone_c_loop *rows, const struct hone_c_loop *columns)
{
    bool is_braced = block->kind == HONE_C_COMPOUND;
    for (const struct hone_c_node *s = is_braced ? block->first : block; s;
         s = is_braced ? s->next : NULL) {
        if (!has_loop(s)) {
            if (s->kind == HONE_C_DECL_STMT && has_loop(block))
                for (const struct hone_c_node *v = s->first; v; v = v->next)
                    if (v->kind != HONE_C_VAR || strchr(v->type, '*') || strchr(v->type, '['))
                        return false;
            continue;
        }
        const struct hone_c_loop *l = hone_c_loop_of(&in->nest, s);
        if (!l || !l->is_canonical || !l->declares_var ||
            hone_c_uses(l->node->cond, columns->var) || hone_c_uses(l->lower, columns->var))
            return false;
        if (rows && (hone_c_uses(l->node->cond, rows->var) || hone_c_uses(l->lower, rows->var)))
            return false;
        if (!is_block_fit(in, l->node->body, rows, columns))
            return false;
    }
    return true;
}

static bool can_repeat(const struct hone_coder_input *in, const struct hone_c_loop *columns)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = hone_c_accesses(in->nest.function, columns->node->body, a, MAX_ACCESSES);
    if (n > MAX_ACCESSES)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; a[i].is_write && j < n; j++)
            if (!a[i].root || (a[j].root == a[i].root && a[j].is_read))
                return false;
    return true;
}

/* Something in the inner loops must walk along the columns, else vectors gain nothing. */
static bool has_unit_access(const struct hone_coder_input *in, const struct hone_c_loop *columns)
{
    struct hone_c_access a[MAX_ACCESSES];
    size_t n = hone_c_accesses(in->nest.function, columns->node->body, a, MAX_ACCESSES);
    bool has_unit = false;
    for (size_t i = 0; i < n && i < MAX_ACCESSES; i++) {
        enum hone_c_stride s = hone_c_poly_stride(&a[i].index, columns->var);
        if (s == HONE_C_STRIDE_UNKNOWN)
            return false;
        bool is_input = a[i].is_read;
        for (size_t k = 0; k < n && k < MAX_ACCESSES; k++)
            is_input = is_input && !(a[k].is_write && a[k].root == a[i].root);
        has_unit = has_unit || (s == HONE_C_STRIDE_UNIT && is_input);
    }
    return has_unit;
}

static const struct hone_c_loop *row_loop(const struct hone_c_loop *columns)
{
    const struct hone_c_loop *rows = columns->parent;
    if (!rows || !is_signed_counter(rows) || hone_c_only_stmt(rows->node->body) != columns->node)
        return NULL;
    if (hone_c_uses(columns->upper, rows->var) || hone_c_uses(columns->lower, rows->var))
        return NULL;
    return rows;
}

/* A loop inside of a block that a rule made, over the block's own rows or columns. */
static bool is_in_block(const struct hone_coder_input *in, const struct hone_c_loop *l)
{
    const struct hone_c_node *upper = hone_c_strip(l->upper);
    return upper->kind == HONE_C_REF && !upper->decl &&
           strstr(in->tree->source, hone_pool_printf(in->pool, "tune(%s:", upper->name));
}

/* Statements are repeated one by one for the elements of a tile: a jump would only leave its own.
 * A scalar from outside would get some elements twice, and vectors would not keep it. */
static bool leaves_the_tile(const struct hone_c_loop *l)
{
    bool has_jump = false;
    for (const struct hone_c_node *n = l->node->body; n; n = hone_c_walk(l->node->body, n))
        has_jump = has_jump || n->kind == HONE_C_JUMP;
    return has_jump || hone_c_writes_scalar(l);
}

static size_t nests(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = 0;
    const char *why;
    for (size_t i = 0; i < in->nest.n; i++) {
        const struct hone_c_loop *c = &in->nest.loops[i];
        if (c->is_fallback || c->has_parallel || !is_signed_counter(c) || c->is_innermost ||
            is_in_block(in, c) || c->node->body->kind != HONE_C_COMPOUND || leaves_the_tile(c) ||
            !hone_c_is_parallel(&in->nest, c, &why) || !has_unit_access(in, c))
            continue;
        const struct hone_c_loop *rows = row_loop(c);
        if (rows && (!hone_c_is_parallel(&in->nest, rows, &why) ||
                     !is_block_fit(in, c->node->body, rows, c)))
            rows = NULL;
        if (rows && n < max) {
            ret[n] = hone_site(rows->node, rows->begin, rows->node->end, hone_loop_words(in, rows));
            ret[n].evidence =
                "a reduction inside two independent loops, one of them at unit stride";
            ret[n++].variant = TWO_D;
        }
        if (!rows && n < max && is_block_fit(in, c->node->body, NULL, c)) {
            ret[n] = hone_site(c->node, c->begin, c->node->end, hone_loop_words(in, c));
            ret[n].evidence = "a reduction inside an independent loop at unit stride";
            ret[n++].variant = ONE_D;
        }
    }
    return n;
}

/* Loops inside of one another in the region. */
static int depth_of(const struct hone_coder_input *in, const struct hone_coder_site *site)
{
    int most = 0;
    for (size_t i = 0; i < in->nest.n; i++)
        if (hone_c_contains(site->node, in->nest.loops[i].node) && in->nest.loops[i].depth > most)
            most = in->nest.loops[i].depth;
    return most;
}

static void sort_deepest_first(const struct hone_coder_input *in, struct hone_coder_site *sites,
                               size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && depth_of(in, &sites[j]) > depth_of(in, &sites[j - 1]); j--) {
            struct hone_coder_site swap = sites[j];
            sites[j] = sites[j - 1];
            sites[j - 1] = swap;
        }
}

/* The deepest first. Where there are several of two dimensions, all of them before any other: a run
 * of products is as slow as its slowest one. */
static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    size_t n = max > 0 ? nests(in, ret, max - 1) : 0, n_2d = 0;
    sort_deepest_first(in, ret, n);
    for (size_t i = 0; i < n; i++)
        n_2d += ret[i].variant == TWO_D;
    if (n_2d < 2)
        return n;
    memmove(ret + 1, ret, n * sizeof *ret);
    ret[0] = hone_site(in->nest.function, in->nest.function->begin, in->nest.function->end,
                       hone_pool_printf(in->pool, "%zu nests", n_2d));
    ret[0].evidence = "reductions inside two independent loops, one of them at unit stride";
    ret[0].variant = ALL;
    return n + 1;
}

/* The innermost statements, once per element of the tile. */
static void put_elements(struct tile *t, const char *text)
{
    hone_buf_printf(&t->out, "#pragma GCC unroll 16\nfor (int %s = 0; %s < %s; %s++) {\n", t->ii,
                    t->ii, t->mr, t->ii);
    hone_buf_printf(&t->out, "#pragma omp simd\nfor (int %s = 0; %s < %s; %s++) {\n%s\n}\n}\n",
                    t->jj, t->jj, t->nr, t->jj, text);
}

static void put_declarations(struct tile *t, const struct hone_c_node *stmt)
{
    for (const struct hone_c_node *v = stmt->first; v; v = v->next) {
        hone_buf_printf(&t->out, "%s %s[%s][%s];\n", hone_type_text(t->in, v), v->name, t->mr,
                        t->nr);
        if (v->last)
            put_elements(
                t, hone_pool_printf(t->in->pool, "%s[%s][%s] = %s;", v->name, t->ii, t->jj,
                                    hone_c_edit_text(t->edits, v->last->begin, v->last->end)));
    }
}

static void put_header(struct tile *t, const struct hone_c_node *loop)
{
    char *text = hone_c_edit_text(t->edits, loop->begin, loop->body->begin);
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\n", text[len - 1]))
        len--;
    hone_buf_printf(&t->out, "%.*s {\n", (int)len, text);
}

static void put_block(struct tile *t, const struct hone_c_node *block)
{
    const struct hone_c_tree *tree = t->in->tree;
    const struct hone_c_node *s = block->kind == HONE_C_COMPOUND ? block->first : block;
    if (!has_loop(block)) {
        put_elements(t, hone_body_text(t->edits, block));
        return;
    }
    for (; s; s = block->kind == HONE_C_COMPOUND ? s->next : NULL) {
        if (s->kind == HONE_C_DECL_STMT) {
            put_declarations(t, s);
        } else if (s->kind == HONE_C_FOR) {
            put_header(t, s);
            put_block(t, s->body);
            hone_buf_str(&t->out, "}\n");
        } else {
            put_elements(t, hone_c_edit_text(t->edits, s->begin, hone_c_stmt_end(tree, s)));
        }
    }
}

/* Locals of the body that must live for each element of the tile: those declared beside a loop. */
static void edit_locals(struct tile *t, const struct hone_c_node *block)
{
    if (block->kind != HONE_C_COMPOUND || !has_loop(block))
        return;
    for (const struct hone_c_node *s = block->first; s; s = s->next) {
        if (s->kind == HONE_C_FOR && s->body)
            edit_locals(t, s->body);
        for (const struct hone_c_node *v = s->kind == HONE_C_DECL_STMT ? s->first : NULL; v;
             v = v->next)
            hone_c_replace_refs(t->edits, block, v,
                                hone_pool_printf(t->in->pool, "%s[%s][%s]", v->name, t->ii, t->jj));
    }
}

static char *tile_text(const struct hone_coder_input *in, const struct hone_c_loop *rows,
                       const struct hone_c_loop *columns, const char *mr, const char *nr)
{
    struct hone_c_edits edits;
    hone_c_edits_init(&edits, in->tree);
    struct tile t = {.in = in,
                     .edits = &edits,
                     .rows = rows,
                     .columns = columns,
                     .mr = mr,
                     .nr = nr,
                     .ii = hone_fresh_name(in, "ii"),
                     .jj = hone_fresh_name(in, "jj")};
    const struct hone_c_node *body = columns->node->body;
    if (rows)
        hone_c_replace_refs(&edits, body, rows->var,
                            hone_pool_printf(in->pool, "(%s + %s)", rows->var->name, t.ii));
    hone_c_replace_refs(&edits, body, columns->var,
                        hone_pool_printf(in->pool, "(%s + %s)", columns->var->name, t.jj));
    edit_locals(&t, body);
    put_block(&t, body);
    char *text = hone_pool_strdup(in->pool, t.out.data ? t.out.data : "");
    hone_buf_done(&t.out);
    return text;
}

/* All columns of one block row: whole blocks, the last one moved back to fit. A body that must not
 * run twice ends with blocks of one column. */
static char *columns_text(const struct hone_coder_input *in, const struct hone_c_loop *rows,
                          const struct hone_c_loop *c, const char *mr, const char *nr)
{
    const char *type = hone_type_text(in, c->var), *name = c->var->name;
    const char *lower = hone_lower_text(in, c), *upper = hone_upper_text(in, c);
    if (!can_repeat(in, c)) {
        const char *stop = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_full", name));
        return hone_pool_printf(in->pool,
                                "const %s %s = %s;\n"
                                "for (%s %s = %s; %s < %s; %s += %s) {\n%s}\n"
                                "for (%s %s = %s; %s < %s; %s++) {\n%s}\n",
                                type, stop, hone_full_text(in, c, nr), type, name, lower, name,
                                stop, name, nr, tile_text(in, rows, c, mr, nr), type, name, stop,
                                name, upper, name, tile_text(in, rows, c, mr, "1"));
    }
    const char *at = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_block", name));
    return hone_pool_printf(in->pool,
                            "for (%s %s = %s; %s < %s; %s += %s) {\n"
                            "const %s %s = %s + %s <= %s ? %s : %s - %s;\n%s}\n",
                            type, at, lower, at, upper, at, nr, type, name, at, nr, upper, at,
                            upper, nr, tile_text(in, rows, c, mr, nr));
}

/* Blocks of MR rows, then the rows that are left one by one. */
static char *rows_text(const struct hone_coder_input *in, const struct hone_c_loop *rows,
                       const struct hone_c_loop *c, const char *mr, const char *nr)
{
    const char *type = hone_type_text(in, rows->var), *name = rows->var->name;
    const char *lower = hone_lower_text(in, rows), *upper = hone_upper_text(in, rows);
    const char *stop = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_full", name));
    const char *pragma = hone_pool_strndup(in->pool, in->tree->source + rows->begin,
                                           rows->node->begin - rows->begin);
    return hone_pool_printf(in->pool,
                            "const %s %s = %s;\n"
                            "%sfor (%s %s = %s; %s < %s; %s += %s) {\n%s}\n"
                            "%sfor (%s %s = %s; %s < %s; %s++) {\n%s}\n",
                            type, stop, hone_full_text(in, rows, mr), pragma, type, name, lower,
                            name, stop, name, mr, columns_text(in, rows, c, mr, nr), pragma, type,
                            name, stop, name, upper, name, columns_text(in, rows, c, "1", nr));
}

static void put(struct hone_c_edits *e, const struct hone_coder_input *in,
                const struct hone_coder_site *site, const char *mr, const char *nr)
{
    const struct hone_c_loop *outer = hone_c_loop_of(&in->nest, site->node), *c = outer;
    uint32_t end = hone_c_stmt_end(in->tree, outer->node);
    const char *text,
        *plain = hone_pool_strndup(in->pool, in->tree->source + outer->begin, end - outer->begin);
    if (site->variant == TWO_D)
        c = hone_c_loop_of(&in->nest, hone_c_only_stmt(outer->node->body));
    text = site->variant == TWO_D ? rows_text(in, outer, c, mr, nr)
                                  : columns_text(in, NULL, c, "1", nr);
    hone_c_replace(e, outer->begin, end,
                   hone_pool_printf(in->pool, "if (%s >= %s) {\n%s} else {\n%s\n}",
                                    hone_count_text(in, c), nr, text, plain));
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    struct hone_coder_site all[HONE_CODER_MAX_SITES];
    size_t n = site->variant == ALL ? nests(in, all, HONE_CODER_MAX_SITES) : 0;
    if (site->variant != ALL &&
        (!hone_c_loop_of(&in->nest, site->node) || (unsigned)site->variant > ALL)) {
        hone_fail(err, HONE_E_ARG, "the region is no loop nest of this source");
        return NULL;
    }
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    bool has_rows = site->variant != ONE_D;
    const char *mr = has_rows ? hone_add_tunable(&e, in, "MR", "6, 4, 8") : "1";
    const char *nr = hone_add_tunable(&e, in, "NR", has_rows ? "16, 32, 8" : "32, 16, 64");
    if (site->variant != ALL)
        put(&e, in, site, mr, nr);
    for (size_t i = 0; i < n; i++)
        if (all[i].variant == TWO_D)
            put(&e, in, &all[i], mr, nr);
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_register_tile = {
    .name = "register_tile",
    .strategy = "G06",
    .words = "register tile around the reduction",
    .form = HONE_REWRITE_NORMAL,
    .sites = sites,
    .apply = apply,
};
