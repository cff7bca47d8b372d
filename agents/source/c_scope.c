/* SPDX-License-Identifier: Apache-2.0 */
/* The step of the plain form (c_plain.h) that declares a scalar where it is set: `int i; ... for (i
 * = 0;` becomes `for (int i = 0;`, and `double s; for (...) { s = 0;` becomes `for (...) { double s
 * = 0;`.
 *
 * A scalar may move when each use of it lies behind an assignment that nothing jumps over: in a
 * loop that sets it in its header, or in what follows a statement that sets it. No value then goes
 * from one such region to another. */
#include "agents/source/c_plain.h"

#include <string.h>

enum { MAX_REGIONS = 32, MAX_VARS = 24 };

struct scope {
    const struct hone_c_node *var;
    const struct hone_c_node *set[MAX_REGIONS]; /* the assignment that begins each region */
    size_t n;
};

/* v = E, and E does not use v. */
static bool sets(const struct hone_c_node *n, const struct hone_c_node *var)
{
    return n && n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0 &&
           n->first->kind == HONE_C_REF && n->first->decl == var && !hone_c_uses(n->last, var);
}

static bool add_region(struct scope *s, const struct hone_c_node *set)
{
    if (s->n == MAX_REGIONS)
        return false;
    s->set[s->n++] = set;
    return true;
}

static bool cover(struct scope *s, const struct hone_c_node *n);

static bool cover_block(struct scope *s, const struct hone_c_node *first)
{
    for (const struct hone_c_node *n = first; n; n = n->next) {
        if (!hone_c_uses(n, s->var))
            continue;
        if (sets(n, s->var))
            return add_region(s, n);
        if (!cover(s, n))
            return false;
    }
    return true;
}

/* Every use in the statement lies in a region. */
static bool cover(struct scope *s, const struct hone_c_node *n)
{
    if (n->kind == HONE_C_COMPOUND)
        return cover_block(s, n->first);
    if (n->kind == HONE_C_FOR && sets(n->init, s->var))
        return add_region(s, n->init);
    if (n->kind != HONE_C_FOR && n->kind != HONE_C_WHILE && n->kind != HONE_C_IF)
        return false;
    for (const struct hone_c_node *part = n->first; part; part = part->next)
        if (hone_c_uses(part, s->var) && (!hone_c_is_stmt(part) || !cover(s, part)))
            return false;
    return true;
}

static bool is_in_loop(const struct hone_c_node *n, const struct hone_c_node *function)
{
    for (; n != function; n = n->parent)
        if (n->kind == HONE_C_FOR || n->kind == HONE_C_WHILE)
            return true;
    return false;
}

static bool changes_nothing(const struct hone_c_node *expr)
{
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n))
        if (n->kind == HONE_C_CALL || n->kind == HONE_C_OTHER || n->kind == HONE_C_ASSIGN_OP ||
            (n->kind == HONE_C_BINARY && (strcmp(n->op, "=") == 0 || !*n->op)) ||
            (n->kind == HONE_C_UNARY && strpbrk(n->op, "+-") && strlen(n->op) == 2))
            return false;
    return true;
}

/* Nothing jumps over an assignment, and no pointer leads to the scalar. */
static bool is_set_openly(const struct hone_coder_input *in, const struct hone_c_node *var)
{
    const struct hone_c_node *f = in->nest.function;
    for (const struct hone_c_node *n = f; n; n = hone_c_walk(f, n))
        if ((n->kind == HONE_C_JUMP && strncmp(in->tree->source + n->begin, "goto", 4) == 0) ||
            (n->kind == HONE_C_REF && n->decl == var && n->parent->kind == HONE_C_UNARY &&
             strcmp(n->parent->op, "&") == 0))
            return false;
    return hone_c_is_named_plainly(in->tree, f, var);
}

/* Fills in the regions of a scalar that may move into loops. */
static bool may_move(const struct hone_coder_input *in, const struct hone_c_node *var,
                     struct scope *ret)
{
    *ret = (struct scope){.var = var};
    const struct hone_c_node *stmt = var->parent;
    if (strpbrk(var->type, "[(") || strstr(var->type, "volatile") || strstr(var->type, "struct") ||
        strncmp(in->tree->source + stmt->begin, "static", 6) == 0 ||
        strncmp(in->tree->source + stmt->begin, "extern", 6) == 0 ||
        (var->last && !changes_nothing(var->last)) || !is_set_openly(in, var))
        return false;
    for (const struct hone_c_node *v = var; v; v = v->next)
        if (v->last && hone_c_uses(v, var))
            return false;
    if (!cover_block(ret, stmt->next) || ret->n == 0)
        return false;
    for (size_t i = 0; i < ret->n; i++)
        if (!is_in_loop(ret->set[i], in->nest.function))
            return false;
    return true;
}

/* "const float " of `const float *p, x;` */
static const char *base_type(const struct hone_coder_input *in, const struct hone_c_node *stmt)
{
    const char *text = in->tree->source + stmt->begin;
    size_t len = stmt->first->name_at - stmt->begin, skip = 0;
    if (strncmp(text, "register ", 9) == 0)
        skip = 9;
    const char *star = memchr(text, '*', len);
    return hone_pool_strndup(in->pool, text + skip, (star ? (size_t)(star - text) : len) - skip);
}

static const char *type_text(const struct hone_coder_input *in, const struct hone_c_node *var)
{
    const char *star = strchr(var->type, '*'), *base = base_type(in, var->parent);
    if (star && star[1]) /* more than a pointer to the type */
        return var->type;
    return star ? hone_pool_printf(in->pool, "%s*", base) : base;
}

/* What is left of a declaration; NULL: it cannot be told. */
static const char *rest_of(const struct hone_coder_input *in, const struct hone_c_node *stmt,
                           const bool *moves)
{
    const char *out = "", *s = in->tree->source, *base = base_type(in, stmt);
    const char *star = memchr(s + stmt->begin, '*', stmt->first->name_at - stmt->begin);
    uint32_t from = star ? (uint32_t)(star - s) : stmt->first->name_at;
    size_t i = 0;
    for (const struct hone_c_node *v = stmt->first; v; v = v->next, i++) {
        if (!moves[i])
            out = hone_pool_printf(in->pool, "%s%s%.*s", out, *out ? ", " : "",
                                   (int)(v->end - from), s + from);
        from = hone_c_skip_space(s, in->tree->len, v->end);
        if (v->next && s[from] != ',')
            return NULL;
        from = hone_c_skip_space(s, in->tree->len, from + 1);
    }
    return *out ? hone_pool_printf(in->pool, "%s%s;", base, out) : "";
}

static bool move_all(const struct hone_coder_input *in, const struct hone_c_node *stmt,
                     struct hone_c_edits *edits)
{
    struct scope scopes[MAX_VARS];
    bool moves[MAX_VARS] = {false}, any = false;
    size_t n = hone_c_n_children(stmt), i = 0;
    if (n > MAX_VARS)
        return false;
    for (const struct hone_c_node *v = stmt->first; v; v = v->next, i++) {
        moves[i] = v->kind == HONE_C_VAR && may_move(in, v, &scopes[i]);
        any = any || moves[i];
    }
    const char *rest = any ? rest_of(in, stmt, moves) : NULL;
    if (!rest)
        return false;
    hone_c_replace(edits, stmt->begin, hone_c_stmt_end(in->tree, stmt), rest);
    for (i = 0; i < n; i++)
        for (size_t k = 0; moves[i] && k < scopes[i].n; k++)
            hone_c_replace(edits, scopes[i].set[k]->begin, scopes[i].set[k]->begin,
                           type_text(in, scopes[i].var));
    return true;
}

bool hone_c_scope_step(const struct hone_coder_input *in, struct hone_c_edits *edits)
{
    const struct hone_c_node *f = in->nest.function;
    bool any = false;
    for (const struct hone_c_node *n = f; n; n = hone_c_walk(f, n))
        if (n->kind == HONE_C_DECL_STMT && n->parent->kind == HONE_C_COMPOUND && n->first)
            any |= move_all(in, n, edits);
    return any;
}
