/* SPDX-License-Identifier: Apache-2.0 */
/* The step of the plain form (c_plain.h) that puts a function of the source in the place of its
 * call, where the call gets a pointer: no reader of loops could see what is done through it.
 *
 * A function that only returns a value becomes an expression. One with statements goes in front of
 * the statement that calls it, where it is called whatever happens; one that writes memory must be
 * that statement. c_helper.c makes the text. */
#include "agents/source/c_helper.h"
#include "agents/source/c_plain.h"

#include <string.h>

static bool has_pointer(const struct hone_c_node *call)
{
    for (const struct hone_c_node *a = call->first ? call->first->next : NULL; a; a = a->next)
        if (strpbrk(a->type, "*["))
            return true;
    return false;
}

/* The function whose text may stand for the call; NULL: none. */
static const struct hone_c_node *helper_of(const struct hone_coder_input *in,
                                           const struct hone_c_node *n)
{
    if (n->kind != HONE_C_CALL || !n->first || !*n->name || !has_pointer(n))
        return NULL;
    const struct hone_c_node *f = hone_c_function(in->tree, n->name);
    return f && f != in->nest.function ? f : NULL;
}

static bool holds_another(const struct hone_coder_input *in, const struct hone_c_node *call)
{
    for (const struct hone_c_node *n = hone_c_walk(call, call); n; n = hone_c_walk(call, n))
        if (helper_of(in, n))
            return true;
    return false;
}

/* The statement that evaluates the call whatever its other parts are; NULL: none. */
static const struct hone_c_node *statement_of(const struct hone_c_node *call)
{
    const struct hone_c_node *n = call;
    for (; !hone_c_is_stmt(n); n = n->parent) {
        const struct hone_c_node *p = n->parent;
        bool is_first = p && p->first == n;
        bool is_choice = p && (p->kind == HONE_C_CONDITIONAL ||
                               (p->kind == HONE_C_BINARY &&
                                (!*p->op || !strcmp(p->op, "&&") || !strcmp(p->op, "||"))));
        if (!p || p->kind == HONE_C_FOR || p->kind == HONE_C_WHILE || p->kind == HONE_C_OTHER ||
            p->kind == HONE_C_FUNCTION || (is_choice && !is_first) ||
            (p->kind == HONE_C_BINARY && strcmp(p->op, ",") == 0) ||
            (p->kind == HONE_C_DECL_STMT && !is_first))
            return NULL;
    }
    return n;
}

/* Does the statement change something beside the value that it sets at last? */
static bool has_effect(const struct hone_c_node *stmt)
{
    const struct hone_c_node *top = stmt->kind == HONE_C_IF ? stmt->first : stmt;
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        bool sets = n->kind == HONE_C_ASSIGN_OP || n->kind == HONE_C_OTHER ||
                    (n->kind == HONE_C_BINARY && (!*n->op || strcmp(n->op, "=") == 0)) ||
                    (n->kind == HONE_C_UNARY && (!strcmp(n->op, "++") || !strcmp(n->op, "--")));
        if (sets && n != stmt)
            return true;
    }
    return false;
}

/* v = call; T v = call; a[i] = call: nothing else is read or written while it runs. */
static bool is_whole_value(const struct hone_c_node *stmt, const struct hone_c_node *call)
{
    const struct hone_c_node *v = stmt->kind == HONE_C_DECL_STMT ? stmt->first : stmt;
    const struct hone_c_node *to = v->kind == HONE_C_BINARY ? v->first : NULL;
    if ((v->kind != HONE_C_VAR && (!to || strcmp(v->op, "=") != 0)) ||
        hone_c_strip(v->last) != call)
        return false;
    for (const struct hone_c_node *n = to; n; n = hone_c_walk(to, n))
        if ((n != to && n->kind == HONE_C_SUBSCRIPT) || n->kind == HONE_C_UNARY ||
            n->kind == HONE_C_CALL || n->kind == HONE_C_MEMBER)
            return false;
    return true;
}

static bool wants_parens(const struct hone_c_node *call)
{
    const struct hone_c_node *p = call->parent;
    bool is_value = p->kind == HONE_C_BINARY && strcmp(p->op, "=") == 0 && p->last == call;
    return !(is_value || p->kind == HONE_C_VAR || p->kind == HONE_C_PAREN ||
             p->kind == HONE_C_JUMP || (p->kind == HONE_C_CALL && p->first != call));
}

static void put_statement(const struct hone_coder_input *in, const struct hone_c_helper *h,
                          struct hone_c_edits *edits)
{
    const struct hone_c_node *call = h->call;
    bool is_block = h->declares || call->parent->kind != HONE_C_COMPOUND;
    hone_c_replace(edits, call->begin, hone_c_stmt_end(in->tree, call),
                   hone_pool_printf(in->pool, is_block ? "{\n%s\n}" : "%s", h->statements));
}

static void put_value(const struct hone_coder_input *in, const struct hone_c_helper *h,
                      const struct hone_c_node *stmt, struct hone_c_edits *edits)
{
    const char *value = h->is_simple || !wants_parens(h->call)
                            ? h->value
                            : hone_pool_printf(in->pool, "(%s)", h->value);
    bool is_alone = *h->statements && stmt->parent->kind != HONE_C_COMPOUND;
    if (*h->statements)
        hone_c_replace(edits, stmt->begin, stmt->begin,
                       hone_pool_printf(in->pool, "%s%s\n", is_alone ? "{\n" : "", h->statements));
    hone_c_replace(edits, h->call->begin, h->call->end, value);
    if (is_alone) {
        uint32_t end = hone_c_stmt_end(in->tree, stmt);
        hone_c_replace(edits, end, end, "\n}");
    }
}

/* *ret_more: another call may follow in this step. */
static bool inline_at(const struct hone_coder_input *in, const struct hone_c_node *call, bool any,
                      struct hone_c_edits *edits, bool *ret_more)
{
    struct hone_c_helper h;
    const struct hone_c_node *stmt = statement_of(call);
    *ret_more = true;
    if (holds_another(in, call) || !hone_c_helper_read(in, helper_of(in, call), call, &h))
        return false;
    if (h.is_expression) {
        put_value(in, &h, stmt, edits);
        return true;
    }
    if (any || !stmt || (stmt != call && (!h.value || has_effect(stmt))) ||
        (stmt != call && h.writes_memory && !is_whole_value(stmt, call)))
        return false;
    *ret_more = false;
    if (stmt == call)
        put_statement(in, &h, edits);
    else
        put_value(in, &h, stmt, edits);
    return true;
}

bool hone_c_inline_step(const struct hone_coder_input *in, struct hone_c_edits *edits)
{
    const struct hone_c_node *f = in->nest.function;
    bool any = false, more = true;
    for (const struct hone_c_node *n = f; n && more; n = hone_c_walk(f, n))
        if (helper_of(in, n))
            any |= inline_at(in, n, any, edits, &more);
    return any;
}
