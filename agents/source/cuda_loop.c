/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to the normal form for declarations and loops (cuda_normal.h): one declaration a statement,
 * a loop that declares its own counter, and a name for each of several values of a local.
 *
 *     int i = E, s = F;          int s = F;                          while (i < n) { ...; i += s; }
 *     for (; i < n; i += s) ...  for (int i = E; i < n; i += s) ...  likewise
 *     rest /= W; y = rest % H;   int rest_2 = rest / W; y = rest_2 % H; */
#include "agents/source/cuda_normal.h"

#include <string.h>

static bool is_plain_type(const struct hone_c_node *v)
{
    return v->kind == HONE_C_VAR && v->last && !strpbrk(v->type, "*[&(");
}

const char *hone_cuda_split_decls(const struct hone_cuda_kernel *k)
{
    const struct hone_c_node *body = k->function->body;
    const char *source = k->in->tree->source;
    struct hone_c_edits edits;
    for (const struct hone_c_node *s = body; s; s = hone_c_walk(body, s)) {
        bool is_many = s->kind == HONE_C_DECL_STMT && s->first && s->first != s->last &&
                       s->parent->kind == HONE_C_COMPOUND;
        for (const struct hone_c_node *v = s->first; is_many && v; v = v->next)
            is_many = is_plain_type(v);
        if (!is_many)
            continue;
        HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
        for (const struct hone_c_node *v = s->first; v; v = v->next)
            hone_buf_printf(&out, "%s%.*s%.*s;", v == s->first ? "" : "\n    ",
                            (int)(s->first->name_at - s->begin), source + s->begin,
                            (int)(v->end - v->name_at), source + v->name_at);
        hone_c_edits_init(&edits, k->in->tree);
        hone_c_replace(&edits, s->begin, hone_c_stmt_end(k->in->tree, s),
                       hone_pool_strdup(k->in->pool, out.data));
        return hone_cuda_finish(&edits);
    }
    return NULL;
}

/* The counter that `inc` moves: a local that is named by its own declaration and the loop alone. */
static const struct hone_c_node *counter_of(const struct hone_cuda_kernel *k,
                                            const struct hone_c_node *loop,
                                            const struct hone_c_node *inc)
{
    const struct hone_c_node *to = inc ? hone_c_strip(inc->first) : NULL;
    const struct hone_c_node *v = to && to->kind == HONE_C_REF ? to->decl : NULL;
    bool is_moved = inc && (inc->kind == HONE_C_ASSIGN_OP || inc->kind == HONE_C_UNARY);
    if (!is_moved || !v || !is_plain_type(v) || v->parent->kind != HONE_C_DECL_STMT ||
        v->parent->first != v->parent->last || v->parent->parent != loop->parent ||
        v->begin > loop->begin)
        return NULL;
    const struct hone_c_node *body = k->function->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_REF && n->decl == v && !hone_c_contains(loop, n))
            return NULL;
    return v;
}

/* The last statement of a while, when nothing can pass it by. */
static const struct hone_c_node *last_of(const struct hone_c_node *loop)
{
    const struct hone_c_node *body = loop->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_JUMP)
            return NULL;
    return body && body->kind == HONE_C_COMPOUND && body->first != body->last ? body->last : NULL;
}

/* What the first value is made of must be the same in front of the loop. */
static bool stands_still(const struct hone_cuda_kernel *k, const struct hone_c_node *v)
{
    for (const struct hone_c_node *n = v->last; n; n = hone_c_walk(v->last, n)) {
        bool is_local = n->kind == HONE_C_REF && n->decl && n->decl->kind != HONE_C_FUNCTION;
        if (n->kind == HONE_C_CALL || n->kind == HONE_C_SUBSCRIPT ||
            (is_local && hone_c_writes(k->function, n->decl)))
            return false;
    }
    return true;
}

const char *hone_cuda_own_counter(const struct hone_cuda_kernel *k)
{
    const struct hone_c_tree *t = k->in->tree;
    const struct hone_c_node *body = k->function->body;
    struct hone_c_edits edits;
    for (const struct hone_c_node *s = body; s; s = hone_c_walk(body, s)) {
        bool is_for = s->kind == HONE_C_FOR && !s->init;
        if ((!is_for && s->kind != HONE_C_WHILE) || !s->parent || !s->body ||
            s->body->begin < s->begin)
            continue;
        bool is_while = !is_for && strncmp(t->source + s->begin, "while", 5) == 0;
        const struct hone_c_node *inc = is_for     ? s->inc
                                        : is_while ? last_of(s)
                                                   : NULL,
                                 *v = counter_of(k, s, inc), *cond = is_for ? s->cond : s->first;
        if (!v || !cond || !hone_c_uses(cond, v) || !stands_still(k, v))
            continue;
        hone_c_edits_init(&edits, t);
        const char *head = hone_pool_printf(k->in->pool, "for (%s; %s; %s) ", hone_c_text(t, v),
                                            hone_c_text(t, cond), hone_c_text(t, inc));
        hone_c_replace(&edits, v->parent->begin, hone_c_stmt_end(t, v->parent), "");
        hone_c_replace(&edits, s->begin, s->body->begin, head);
        if (!is_for)
            hone_c_replace(&edits, inc->begin, hone_c_stmt_end(t, inc), "");
        return hone_cuda_finish(&edits);
    }
    return NULL;
}

/* A loop around the node that begins with v = E. */
static bool is_set_around(const struct hone_c_node *node, const struct hone_c_node *v)
{
    for (const struct hone_c_node *n = node; n; n = n->parent) {
        const struct hone_c_node *init = n->kind == HONE_C_FOR ? n->init : NULL;
        if (init && init->kind == HONE_C_BINARY && strcmp(init->op, "=") == 0 &&
            init->first->kind == HONE_C_REF && init->first->decl == v)
            return true;
    }
    return false;
}

/* int k; for (k = 0; ...): k is named in such loops alone. */
const char *hone_cuda_own_init(const struct hone_cuda_kernel *k)
{
    const struct hone_c_tree *t = k->in->tree;
    const struct hone_c_node *body = k->function->body;
    struct hone_c_edits edits;
    for (const struct hone_c_node *s = body; s; s = hone_c_walk(body, s)) {
        const struct hone_c_node *to =
            s->kind == HONE_C_FOR && s->init && s->init->kind == HONE_C_BINARY ? s->init->first
                                                                               : NULL;
        const struct hone_c_node *v = to && to->kind == HONE_C_REF ? to->decl : NULL;
        if (!v || v->kind != HONE_C_VAR || v->parent->kind != HONE_C_DECL_STMT ||
            strpbrk(v->type, "*[&(") || !is_set_around(s, v))
            continue;
        bool is_own = true, is_last = true;
        for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
            if (n->kind != HONE_C_REF || n->decl != v)
                continue;
            is_own = is_own && is_set_around(n, v);
            is_last = is_last && hone_c_contains(s, n);
        }
        if (!is_own)
            continue;
        hone_c_edits_init(&edits, t);
        hone_c_replace(&edits, s->init->begin, s->init->begin,
                       hone_pool_printf(k->in->pool, "%s ", hone_cuda_type(k->in, v)));
        if (is_last && v->parent->first == v->parent->last)
            hone_c_replace(&edits, v->parent->begin, hone_c_stmt_end(t, v->parent), "");
        return hone_cuda_finish(&edits);
    }
    return NULL;
}

/* "threadIdx.x" of int tx = threadIdx.x; a block's own index alone is left to stand. */
static bool is_place_var(const struct hone_cuda_kernel *k, const struct hone_c_node *v)
{
    const struct hone_c_node *init = is_plain_type(v) ? hone_c_strip(v->last) : NULL;
    if (!init || init->kind != HONE_C_MEMBER || hone_c_writes(k->function, v))
        return false;
    if (strncmp(init->name, "threadIdx.", 10) == 0)
        return true;
    const char *thread = hone_pool_printf(
        k->in->pool, "threadIdx.%s", strncmp(init->name, "blockIdx.", 9) ? "?" : init->name + 9);
    const struct hone_c_node *body = k->function->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_MEMBER && strcmp(n->name, thread) == 0)
            return true;
    return false;
}

const char *hone_cuda_inline_places(const struct hone_cuda_kernel *k)
{
    const struct hone_c_tree *t = k->in->tree;
    const struct hone_c_node *body = k->function->body;
    struct hone_c_edits edits;
    if (memmem(t->source + body->begin, body->end - body->begin, "__shared__", 10))
        return NULL;
    for (const struct hone_c_node *s = body->first; s; s = s->next) {
        const struct hone_c_node *v = s->kind == HONE_C_DECL_STMT ? s->first : NULL;
        if (!v || v != s->last || !is_place_var(k, v))
            continue;
        hone_c_edits_init(&edits, t);
        hone_c_replace(&edits, s->begin, hone_c_stmt_end(t, s), "");
        hone_c_replace_refs(&edits, body, v,
                            hone_pool_printf(k->in->pool, "(%s)%s", hone_cuda_type(k->in, v),
                                             hone_c_strip(v->last)->name));
        return hone_cuda_finish(&edits);
    }
    return NULL;
}

/* The first `rest /= E`, where the block that declares it changes it in no other way. */
static const struct hone_c_node *first_division(const struct hone_c_node *v)
{
    const struct hone_c_node *first = NULL;
    for (const struct hone_c_node *s = v->parent->next; s; s = s->next) {
        const struct hone_c_node *to = s->kind == HONE_C_ASSIGN_OP ? s->first : NULL;
        if (!hone_c_writes(s, v))
            continue;
        if (!to || to->kind != HONE_C_REF || to->decl != v || strcmp(s->op, "/=") != 0 ||
            hone_c_writes(s->last, v))
            return NULL;
        first = first ? first : s;
    }
    return first;
}

const char *hone_cuda_name_rests(const struct hone_cuda_kernel *k)
{
    const struct hone_c_tree *t = k->in->tree;
    const struct hone_c_node *body = k->function->body;
    for (const struct hone_c_node *v = body; v; v = hone_c_walk(body, v)) {
        if (!is_plain_type(v) || v->parent->kind != HONE_C_DECL_STMT ||
            v->parent->parent->kind != HONE_C_COMPOUND || v->parent->first != v->parent->last)
            continue;
        const struct hone_c_node *s = first_division(v);
        if (!s || memmem(t->source + body->begin, body->end - body->begin, "goto", 4))
            continue;
        struct hone_c_edits edits;
        const char *name = hone_fresh_name(k->in, v->name);
        hone_c_edits_init(&edits, t);
        hone_c_replace(&edits, s->begin, s->end,
                       hone_pool_printf(k->in->pool, "%s %s = %s / (%s)", hone_cuda_type(k->in, v),
                                        name, v->name, hone_c_text(t, s->last)));
        for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
            if (n->kind == HONE_C_REF && n->decl == v && n->begin >= s->end)
                hone_c_replace(&edits, n->begin, n->end, name);
        return hone_cuda_finish(&edits);
    }
    return NULL;
}
