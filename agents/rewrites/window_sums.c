/* SPDX-License-Identifier: Apache-2.0 */
/* C22: sums over a window of two dimensions are made of sums over its rows.
 *
 *     for (y ...) for (x ...) { s = 0; for (dy ...) for (dx ...) s += f(y + dy, x, dx); out = s; }
 *
 *     blocks of rows and columns: for each row the window touches: row[x] = sum of dx of f(row, x, dx);
 *     for each y and x: s = 0; for (dy ...) s += row of y + dy [x]; out = s;
 *
 * A window of H x W costs H + W additions then, not H * W, and each of the two runs in the lanes of a
 * vector. It holds where what is added, and what guards it, knows y and dy by their sum alone. Also
 * the largest or smallest of a window. Nothing is subtracted: a sum that is carried along keeps the
 * rounding errors of large numbers that have left it. */
#include "agents/rewrites/coder_rules.h"

#include <string.h>

struct window {
    const struct hone_coder_input *in;
    const struct hone_c_loop *y, *x, *dy, *dx;
    struct hone_c_reduction sums[HONE_C_MAX_REDUCTIONS];
    size_t n_sums;
};

/* ---- reading ---- */

static bool is_plain(const struct hone_c_loop *l)
{
    return l && l->is_canonical && l->is_unit_step && l->declares_var && !l->is_fallback &&
           !l->has_parallel && !l->has_simd && l->begin == l->node->begin &&
           !strstr(l->var->type, "unsigned") && !strchr(l->var->type, '*');
}

static const struct hone_c_loop *loop_in(const struct hone_coder_input *in,
                                         const struct hone_c_loop *outer)
{
    const struct hone_c_node *node = outer ? hone_c_only_stmt(outer->node->body) : NULL;
    const struct hone_c_loop *l =
        node && node->kind == HONE_C_FOR ? hone_c_loop_of(&in->nest, node) : NULL;
    return is_plain(l) ? l : NULL;
}

/* The one loop among the statements of a body; the others are plain. */
static const struct hone_c_loop *loop_among(const struct hone_coder_input *in,
                                            const struct hone_c_node *body)
{
    const struct hone_c_loop *found = NULL;
    if (body->kind != HONE_C_COMPOUND)
        return NULL;
    for (const struct hone_c_node *n = body->first; n; n = n->next) {
        if (n->kind == HONE_C_FOR && !found) {
            found = hone_c_loop_of(&in->nest, n);
            continue;
        }
        for (const struct hone_c_node *part = n; part; part = hone_c_walk(n, part))
            if (part->kind == HONE_C_FOR || part->kind == HONE_C_WHILE ||
                part->kind == HONE_C_JUMP || part->kind == HONE_C_OTHER)
                return NULL;
    }
    return is_plain(found) ? found : NULL;
}

static bool is_free_of(const struct hone_c_loop *l, const struct hone_c_node *top)
{
    return hone_c_is_invariant(l->lower, top) && hone_c_is_invariant(l->upper, top);
}

static bool is_ref(const struct hone_c_node *n, const struct hone_c_node *decl)
{
    const struct hone_c_node *bare = hone_c_bare(n);
    return bare && bare->kind == HONE_C_REF && bare->decl == decl;
}

/* Of "y - 1 + dy" and the like what stands beside dy, which is y with something that knows neither;
 * NULL: it is something else. */
static const struct hone_c_node *beside_offset(const struct window *w, const struct hone_c_node *n)
{
    if (n->kind != HONE_C_BINARY || strcmp(n->op, "+") != 0)
        return NULL;
    const struct hone_c_node *side = is_ref(n->last, w->dy->var)    ? n->first
                                     : is_ref(n->first, w->dy->var) ? n->last
                                                                    : NULL;
    for (const struct hone_c_node *at = hone_c_bare(side); at; at = hone_c_bare(at->first)) {
        if (is_ref(at, w->y->var))
            return side;
        if (at->kind != HONE_C_BINARY || !(strcmp(at->op, "+") == 0 || strcmp(at->op, "-") == 0) ||
            hone_c_uses(at->last, w->y->var) || hone_c_uses(at->last, w->dy->var))
            return NULL;
    }
    return NULL;
}

static const struct hone_c_node *sum_around(const struct window *w, const struct hone_c_node *n)
{
    for (; n && n != w->dx->node; n = n->parent)
        if (beside_offset(w, n))
            return n;
    return NULL;
}

static bool is_sum(const struct window *w, const struct hone_c_node *decl)
{
    for (size_t i = 0; i < w->n_sums; i++)
        if (w->sums[i].var == decl)
            return true;
    return false;
}

/* Does the innermost body know y and dy by their sum alone, and of what is set in the loops around
 * nothing but the counters and the sums? */
static bool is_separable(const struct window *w)
{
    const struct hone_c_node *body = w->dx->node->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        if (n->kind == HONE_C_JUMP || n->kind == HONE_C_OTHER || n->kind == HONE_C_WHILE ||
            n->kind == HONE_C_FOR)
            return false;
        if (n->kind != HONE_C_REF || !n->decl)
            continue;
        bool is_row = n->decl == w->y->var || n->decl == w->dy->var;
        if (is_row && !sum_around(w, n))
            return false;
        bool is_own = is_row || n->decl == w->x->var || n->decl == w->dx->var ||
                      hone_c_contains(body, n->decl) || is_sum(w, n->decl);
        if (!is_own && hone_c_contains(w->y->node, n->decl))
            return false;
    }
    struct hone_c_access all[64];
    size_t n_all = hone_c_accesses(w->in->nest.function, body, all, HONE_COUNTOF(all));
    for (size_t i = 0; i < n_all && i < HONE_COUNTOF(all); i++)
        if (all[i].is_write)
            return false;
    return n_all <= HONE_COUNTOF(all);
}

/* Does each sum begin in the body of x, a largest or smallest one with what is the same for all? */
static bool start_apart(const struct window *w)
{
    for (size_t i = 0; i < w->n_sums; i++) {
        const struct hone_c_reduction *r = &w->sums[i];
        bool is_choice = r->op[0] == 'm';
        if (!hone_c_contains(w->x->node->body, r->var) || hone_c_contains(w->dy->node, r->var) ||
            strpbrk(r->var->type, "*[") || !(is_choice || strcmp(r->op, "+") == 0))
            return false;
        if (!hone_c_is_floating(r->var->type) &&
            hone_c_is_floating(r->expr->type)) /* each addition rounds */
            return false;
        if (is_choice && !(r->var->last && hone_c_is_invariant(r->var->last, w->y->node)))
            return false;
    }
    return w->n_sums > 0;
}

static bool read_window(const struct hone_coder_input *in, const struct hone_c_loop *y,
                        struct window *ret)
{
    const char *why;
    *ret = (struct window){.in = in, .y = is_plain(y) ? y : NULL};
    ret->x = loop_in(in, ret->y);
    ret->dy = ret->x ? loop_among(in, ret->x->node->body) : NULL;
    ret->dx = loop_in(in, ret->dy);
    return ret->dx && ret->dx->is_innermost && is_free_of(ret->x, y->node) &&
           is_free_of(ret->dy, y->node) && is_free_of(ret->dx, y->node) &&
           hone_may_regroup(in, ret->dy) && hone_may_regroup(in, ret->dx) &&
           hone_c_is_parallel(&in->nest, y, &why) && hone_c_is_parallel(&in->nest, ret->x, &why) &&
           hone_c_reductions(ret->dy, ret->sums, &ret->n_sums) && start_apart(ret) &&
           is_separable(ret);
}

/* ---- the text ---- */

struct names {
    const char *rows, *columns;       /* tunables */
    const char *block_y, *block_x;    /* where a block begins */
    const char *end_y, *end_x, *step; /* where it ends; rows of a whole one */
    const char *row;                  /* y + dy */
};

static const char *part_name(const struct window *w, size_t sum, const char *what)
{
    return hone_fresh_name(w->in,
                           hone_pool_printf(w->in->pool, "%s_%s", w->sums[sum].var->name, what));
}

static const char *identity_of(const struct window *w, size_t sum)
{
    const struct hone_c_reduction *r = &w->sums[sum];
    return r->op[0] == 'm' ? hone_c_text(w->in->tree, r->var->last) : "0";
}

static const char *combined(const struct window *w, size_t sum, const char *target,
                            const char *value)
{
    return hone_pool_printf(w->in->pool, "%s\n",
                            hone_combine_text(w->in, &w->sums[sum], target, value));
}

static const char *head_of(const struct window *w, const struct hone_c_loop *l)
{
    return hone_pool_printf(w->in->pool, "for (%s %s = %s; %s < %s; %s++)",
                            hone_type_text(w->in, l->var), l->var->name, hone_lower_text(w->in, l),
                            l->var->name, hone_upper_text(w->in, l), l->var->name);
}

/* Along the columns of a block. */
static const char *along(const struct window *w, const struct names *n, const char *pragma,
                         const char *body)
{
    const char *x = w->x->var->name;
    return hone_pool_printf(w->in->pool, "%sfor (%s %s = %s; %s < %s; %s++) {\n%s}\n", pragma,
                            hone_type_text(w->in, w->x->var), x, n->block_x, x, n->end_x, x, body);
}
#define SIMD "#pragma omp simd\n"

static const char *lane(const struct window *w, const struct names *n, const char *array)
{
    return hone_pool_printf(w->in->pool, "%s[%s - %s]", array, w->x->var->name, n->block_x);
}

/* What dx adds, for the row y + dy and into the row's sums. */
static const char *row_body(const struct window *w, const struct names *n)
{
    const struct hone_c_node *body = w->dx->node->body;
    struct hone_c_edits e;
    hone_c_edits_init(&e, w->in->tree);
    for (const struct hone_c_node *at = body; at; at = hone_c_walk(body, at)) {
        const struct hone_c_node *side = beside_offset(w, at);
        if (!side)
            continue;
        struct hone_c_edits inner;
        hone_c_edits_init(&inner, w->in->tree);
        hone_c_replace_refs(&inner, side, w->y->var, n->row);
        hone_c_replace(&e, at->begin, at->end, hone_c_edit_text(&inner, side->begin, side->end));
    }
    for (size_t i = 0; i < w->n_sums; i++)
        hone_c_replace_refs(&e, body, w->sums[i].var, lane(w, n, part_name(w, i, "row")));
    return hone_pool_printf(w->in->pool, "%s\n", hone_body_text(&e, body));
}

static const char *rows_text(const struct window *w, const struct names *n)
{
    struct hone_pool *pool = w->in->pool;
    const char *first =
                   hone_pool_printf(pool, "%s + %s", n->block_y, hone_lower_text(w->in, w->dy)),
               *point = "", *clear = "";
    for (size_t i = 0; i < w->n_sums; i++) {
        const char *type = hone_type_text(w->in, w->sums[i].var), *row = part_name(w, i, "row");
        point = hone_pool_printf(pool, "%s%s *restrict %s = %s[%s - (%s)];\n", point, type, row,
                                 part_name(w, i, "rows"), n->row, first);
        clear = hone_pool_printf(pool, "%s%s = %s;\n", clear, lane(w, n, row), identity_of(w, i));
    }
    return hone_pool_printf(pool, "for (%s %s = %s; %s < %s + %s - 1; %s++) {\n%s%s%s {\n%s}\n}\n",
                            hone_type_text(w->in, w->y->var), n->row, first, n->row, n->end_y,
                            hone_upper_text(w->in, w->dy), n->row, point, along(w, n, "", clear),
                            head_of(w, w->dx), along(w, n, SIMD, row_body(w, n)));
}

/* The body of x, with the sum of the rows where the window was walked. */
static const char *column_body(const struct window *w, const struct names *n)
{
    const struct hone_c_node *body = w->x->node->body;
    struct hone_c_edits e;
    const char *text = "";
    hone_c_edits_init(&e, w->in->tree);
    for (size_t i = 0; i < w->n_sums; i++)
        text = hone_pool_printf(
            w->in->pool, "%s%s", text,
            combined(w, i, w->sums[i].var->name, lane(w, n, part_name(w, i, "all"))));
    hone_c_replace(&e, w->dy->node->begin, hone_c_stmt_end(w->in->tree, w->dy->node), text);
    return hone_pool_printf(w->in->pool, "%s\n", hone_body_text(&e, body));
}

static const char *columns_text(const struct window *w, const struct names *n)
{
    struct hone_pool *pool = w->in->pool;
    const char *y = w->y->var->name, *declare = "", *clear = "", *add = "";
    for (size_t i = 0; i < w->n_sums; i++) {
        const char *all = part_name(w, i, "all"),
                   *row = hone_pool_printf(pool, "%s[%s + %s - (%s + %s)]", part_name(w, i, "rows"),
                                           y, w->dy->var->name, n->block_y,
                                           hone_lower_text(w->in, w->dy));
        declare = hone_pool_printf(pool, "%s%s %s[%s];\n", declare,
                                   hone_type_text(w->in, w->sums[i].var), all, n->columns);
        clear = hone_pool_printf(pool, "%s%s = %s;\n", clear, lane(w, n, all), identity_of(w, i));
        add = hone_pool_printf(pool, "%s%s", add, combined(w, i, lane(w, n, all), lane(w, n, row)));
    }
    return hone_pool_printf(pool, "for (%s %s = %s; %s < %s; %s++) {\n%s%s%s {\n%s}\n%s}\n",
                            hone_type_text(w->in, w->y->var), y, n->block_y, y, n->end_y, y,
                            declare, along(w, n, "", clear), head_of(w, w->dy),
                            along(w, n, SIMD, add), along(w, n, "", column_body(w, n)));
}

/* for (TYPE from = lower; from < upper; from += step) { end = at most from + step; body } */
static const char *blocks(const struct window *w, const struct hone_c_loop *l, const char *from,
                          const char *end, const char *step, const char *body)
{
    const char *type = hone_type_text(w->in, l->var), *upper = hone_upper_text(w->in, l);
    return hone_pool_printf(w->in->pool,
                            "for (%s %s = %s; %s < %s; %s += %s) {\n"
                            "const %s %s = %s + %s < %s ? %s + %s : %s;\n%s}\n",
                            type, from, hone_lower_text(w->in, l), from, upper, from, step, type,
                            end, from, step, upper, from, step, upper, body);
}

static const char *window_text(const struct window *w, const struct names *n)
{
    struct hone_pool *pool = w->in->pool;
    const char *count = hone_count_text(w->in, w->dy), *declare = "", *threads = "";
    for (size_t i = 0; i < w->n_sums; i++)
        declare = hone_pool_printf(pool, "%s%s %s[%s][%s];\n", declare,
                                   hone_type_text(w->in, w->sums[i].var), part_name(w, i, "rows"),
                                   n->rows, n->columns);
    if (w->y->depth == 0 && hone_may_thread(w->in, w->y))
        threads = hone_pool_printf(pool, "#pragma omp parallel for schedule(static)%s\n",
                                   hone_if_clause(w->in, w->y));
    const char *inner =
        blocks(w, w->x, n->block_x, n->end_x, n->columns,
               hone_pool_printf(pool, "%s%s%s", declare, rows_text(w, n), columns_text(w, n)));
    struct hone_c_edits none;
    hone_c_edits_init(&none, w->in->tree);
    return hone_pool_printf(
        pool, "if (%s > 0 && %s <= %s / 2) {\nconst %s %s = %s - %s + 1;\n%s%s} else {\n%s\n}",
        count, count, n->rows, hone_type_text(w->in, w->y->var), n->step, n->rows, count, threads,
        blocks(w, w->y, n->block_y, n->end_y, n->step, inner),
        hone_c_edit_text(&none, w->y->begin, hone_c_stmt_end(w->in->tree, w->y->node)));
}

/* ---- the rule ---- */

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    struct window w;
    size_t n = 0;
    for (size_t i = 0; i < in->nest.n && n < max; i++) {
        const struct hone_c_loop *l = &in->nest.loops[i];
        if (!read_window(in, l, &w))
            continue;
        ret[n] = hone_site(l->node, l->begin, l->node->end, hone_loop_words(in, l));
        ret[n++].evidence = "neighbouring windows share the sums of their rows";
    }
    return n;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_c_loop *l = hone_c_loop_of(&in->nest, site->node);
    struct window w;
    if (!l || !read_window(in, l, &w)) {
        hone_fail(err, HONE_E_ARG, "the region is no sum over a window");
        return NULL;
    }
    struct hone_c_edits e;
    hone_c_edits_init(&e, in->tree);
    const char *y = w.y->var->name, *x = w.x->var->name;
    const struct names n = {
        .rows = hone_add_tunable(&e, in, "WINDOW_ROWS", "32, 64, 16"),
        .columns = hone_add_tunable(&e, in, "WINDOW_COLUMNS", "256, 128, 512"),
        .block_y = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_block", y)),
        .block_x = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_block", x)),
        .end_y = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_end", y)),
        .end_x = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_end", x)),
        .step = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_step", y)),
        .row = hone_fresh_name(in, hone_pool_printf(in->pool, "%s_row", y)),
    };
    hone_c_replace(&e, l->begin, hone_c_stmt_end(in->tree, l->node), window_text(&w, &n));
    return hone_finish_edits(&e);
}

const struct hone_rewrite hone_rewrite_window_sums = {
    .name = "window_sums",
    .strategy = "C22",
    .words = "make the sums of windows of sums of their rows",
    .sites = sites,
    .apply = apply,
};
