/* SPDX-License-Identifier: Apache-2.0 */
/* A function is taken apart into what it does and what it returns (find_tail), each parameter gets a
 * text (c_argument.c), and the function's own text is edited with them (edit_names). */
#include "agents/source/c_helper.h"

#include <ctype.h>
#include <string.h>

#include "agents/source/c_plain.h"

enum { MAX_TEXT = 4000 };

/* ---- the function ---- */

static bool is_word(const struct hone_coder_input *in, const struct hone_c_node *jump,
                    const char *word)
{
    return strncmp(in->tree->source + jump->begin, word, strlen(word)) == 0;
}

static bool has_return(const struct hone_coder_input *in, const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_JUMP && is_word(in, n, "return"))
            return true;
    return false;
}

static const struct hone_c_node *returned(const struct hone_coder_input *in,
                                          const struct hone_c_node *stmt)
{
    const struct hone_c_node *s = stmt ? hone_c_only_stmt(stmt) : NULL;
    return s && s->kind == HONE_C_JUMP && is_word(in, s, "return") ? s->first : NULL;
}

/* return e;   if (c) return e;   if (c) return e; else return f; */
static bool only_returns(const struct hone_coder_input *in, const struct hone_c_node *s)
{
    size_t n = hone_c_n_children(s);
    if (s->kind == HONE_C_JUMP)
        return returned(in, s) && !s->next;
    return s->kind == HONE_C_IF && returned(in, hone_c_child(s, 1)) &&
           (n == 2 ? s->next != NULL : !s->next && returned(in, s->last));
}

static bool find_tail(const struct hone_coder_input *in, const struct hone_c_node *body,
                      const struct hone_c_node **ret)
{
    *ret = NULL;
    for (const struct hone_c_node *s = body->first; s; s = s->next) {
        if (!has_return(in, s)) {
            if (*ret)
                return false;
            continue;
        }
        if (!only_returns(in, s))
            return false;
        if (!*ret)
            *ret = s;
    }
    return true;
}

static bool declares(const struct hone_c_node *function, const char *name)
{
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n))
        if ((n->kind == HONE_C_VAR || n->kind == HONE_C_PARAM) && strcmp(n->name, name) == 0)
            return true;
    return false;
}

/* Its names mean the same in the caller, and its text can be edited. */
static bool is_portable(const struct hone_coder_input *in, const struct hone_c_node *f)
{
    const char *s = in->tree->source;
    if (f->end - f->begin > MAX_TEXT || memchr(s + f->begin, '#', f->end - f->begin))
        return false;
    for (const struct hone_c_node *n = f; n; n = hone_c_walk(f, n)) {
        bool is_decl = n->kind == HONE_C_VAR || n->kind == HONE_C_PARAM;
        if ((is_decl &&
             (!*n->name || strstr(n->type, "volatile") || strncmp(s + n->begin, "static", 6) == 0 ||
              !hone_c_is_word_at(
                  in->tree,
                  &(struct hone_c_node){.begin = n->name_at,
                                        .end = n->name_at + (uint32_t)strlen(n->name)},
                  n->name) ||
              !hone_c_is_named_plainly(in->tree, f, n))) ||
            (n->kind == HONE_C_JUMP && is_word(in, n, "goto")) ||
            (n->kind == HONE_C_CALL && strcmp(n->name, f->name) == 0))
            return false;
        if (n->kind == HONE_C_REF && (!n->decl || !hone_c_contains(f, n->decl)) &&
            declares(in->nest.function, n->name))
            return false;
    }
    return true;
}

const struct hone_c_node *hone_c_target_of(const struct hone_c_node *n)
{
    bool is_set = n->kind == HONE_C_ASSIGN_OP ||
                  (n->kind == HONE_C_BINARY && (!*n->op || strcmp(n->op, "=") == 0)) ||
                  (n->kind == HONE_C_UNARY && (!strcmp(n->op, "++") || !strcmp(n->op, "--")));
    return is_set ? n->first : NULL;
}

/* Another memory than that of its locals. */
static bool writes_memory(const struct hone_c_node *f)
{
    for (const struct hone_c_node *n = f->body; n; n = hone_c_walk(f->body, n)) {
        const struct hone_c_node *to = hone_c_target_of(n);
        for (const struct hone_c_node *a = n->kind == HONE_C_CALL ? n->first->next : NULL; a;
             a = a->next)
            if (strpbrk(a->type, "*["))
                return true;
        while (to && (to->kind == HONE_C_PAREN || to->kind == HONE_C_SUBSCRIPT)) {
            if (to->kind == HONE_C_SUBSCRIPT && !strchr(to->first->type, '['))
                return true;
            to = to->first;
        }
        if (to && (to->kind != HONE_C_REF || !to->decl || !hone_c_contains(f, to->decl)))
            return true;
    }
    return false;
}

/* ---- the text ---- */

static const char *own_name(const struct hone_coder_input *in, const char *name)
{
    const struct hone_c_node *f = in->nest.function;
    return hone_c_count_word(in->tree, f->begin, f->end, name) > 0 ? hone_fresh_name(in, name)
                                                                   : name;
}

static bool binds_loosely(const struct hone_c_node *n)
{
    return n->kind == HONE_C_CONDITIONAL ||
           (n->kind == HONE_C_BINARY && (!*n->op || !strchr("+-*/%", n->op[0]) || n->op[1]));
}

/* p[k] becomes root[offset + k]. False: the reference is no such base. */
static bool edit_element(const struct hone_coder_input *in, struct hone_c_edits *e,
                         const struct hone_c_argument *a, const struct hone_c_node *ref)
{
    const struct hone_c_node *p = ref->parent;
    if (p->kind == HONE_C_UNARY && strcmp(p->op, "*") == 0 && a->may_add) {
        hone_c_replace(e, p->begin, p->end,
                       hone_pool_printf(in->pool, "%s[%s]", a->text, a->offset));
        return true;
    }
    if (p->kind != HONE_C_SUBSCRIPT || p->first != ref || !a->may_add ||
        strcmp(p->last->type, "unsigned int") == 0)
        return false;
    const struct hone_c_node *k = p->last;
    bool is_loose = binds_loosely(k);
    hone_c_replace(e, ref->begin, ref->end, a->text);
    if (k->kind == HONE_C_CONST && strcmp(k->name, "0") == 0) {
        hone_c_replace(e, k->begin, k->end, a->offset);
        return true;
    }
    hone_c_replace(e, k->begin, k->begin,
                   hone_pool_printf(in->pool, is_loose ? "%s + (" : "%s + ", a->offset));
    if (is_loose)
        hone_c_replace(e, k->end, k->end, ")");
    return true;
}

static void edit_argument(const struct hone_coder_input *in, struct hone_c_helper *h,
                          const struct hone_c_argument *a, const struct hone_c_node *ref)
{
    if (a->offset && !a->is_copied && edit_element(in, &h->edits, a, ref))
        return;
    bool is_sum = a->offset && !a->is_copied;
    hone_c_replace(&h->edits, ref->begin, ref->end,
                   is_sum ? hone_pool_printf(in->pool, "(%s + %s)", a->text, a->offset) : a->text);
}

static const struct hone_c_argument *argument_of(const struct hone_c_helper *h,
                                                 const struct hone_c_node *param)
{
    for (size_t i = 0; i < h->n_args; i++)
        if (h->args[i].param == param)
            return &h->args[i];
    return NULL;
}

static void edit_names(const struct hone_coder_input *in, struct hone_c_helper *h)
{
    const struct hone_c_node *body = h->function->body;
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n)) {
        const struct hone_c_argument *a = n->kind == HONE_C_REF ? argument_of(h, n->decl) : NULL;
        const struct hone_c_node *local = n->kind == HONE_C_REF ? n->decl : n;
        if (a) {
            edit_argument(in, h, a, n);
            continue;
        }
        if (!local || local->kind != HONE_C_VAR || !hone_c_contains(body, local))
            continue;
        const char *name = own_name(in, local->name);
        uint32_t at = n->kind == HONE_C_REF ? n->begin : n->name_at;
        if (name != local->name)
            hone_c_replace(&h->edits, at, at + (uint32_t)strlen(local->name), name);
    }
}

static const char *copies_text(const struct hone_coder_input *in, const struct hone_c_helper *h)
{
    const char *out = "";
    for (size_t i = 0; i < h->n_args; i++) {
        const struct hone_c_argument *a = &h->args[i];
        const struct hone_c_node *p = a->param;
        uint32_t end = p->name_at + (uint32_t)strlen(p->name);
        bool is_array = p->end > end;
        if (!a->is_copied)
            continue;
        const char *type = is_array ? hone_pool_printf(in->pool, "%s ", p->type)
                                    : hone_pool_strndup(in->pool, in->tree->source + p->begin,
                                                        p->name_at - p->begin);
        out = hone_pool_printf(in->pool, "%s%s%s = %s;\n", out, type, a->text,
                               hone_c_text(in->tree, a->value));
    }
    return out;
}

static const char *value_at(const struct hone_coder_input *in, struct hone_c_helper *h,
                            const struct hone_c_node *stmt, const char *type)
{
    const struct hone_c_node *v = returned(in, stmt);
    const char *text = hone_c_edit_text(&h->edits, v->begin, v->end);
    return hone_c_cast_text(in, v, text, type);
}

/* c ? a : rest */
static const char *choice_text(const struct hone_coder_input *in, struct hone_c_helper *h,
                               const struct hone_c_node *stmt, const char *type)
{
    if (stmt->kind != HONE_C_IF)
        return value_at(in, h, stmt, type);
    const struct hone_c_node *other = hone_c_n_children(stmt) == 3 ? stmt->last : stmt->next;
    const char *condition = hone_c_edit_text(&h->edits, stmt->first->begin, stmt->first->end);
    return hone_pool_printf(in->pool, "%s ? %s : %s", condition,
                            value_at(in, h, hone_c_child(stmt, 1), type),
                            choice_text(in, h, other, type));
}

static bool put_value(const struct hone_coder_input *in, struct hone_c_helper *h)
{
    const char *paren = strstr(h->function->type, " (");
    const char *type =
        hone_pool_strndup(in->pool, h->function->type,
                          paren ? (size_t)(paren - h->function->type) : strlen(h->function->type));
    if (!h->tail)
        return strcmp(type, "void") == 0;
    if (strchr(type, '*') || strchr(type, '('))
        return false;
    h->value = choice_text(in, h, h->tail, type);
    const struct hone_c_node *v = h->tail->kind == HONE_C_JUMP ? returned(in, h->tail) : NULL;
    h->is_simple = v && hone_c_is_primary(v) && hone_c_is_same_type(v->type, type);
    return true;
}

bool hone_c_helper_read(const struct hone_coder_input *in, const struct hone_c_node *function,
                        const struct hone_c_node *call, struct hone_c_helper *ret)
{
    const struct hone_c_node *body = function->body;
    *ret = (struct hone_c_helper){.call = call, .function = function, .statements = ""};
    hone_c_edits_init(&ret->edits, in->tree);
    if (!body->first || !is_portable(in, function) || !find_tail(in, body, &ret->tail) ||
        !hone_c_read_arguments(in, ret))
        return false;
    ret->writes_memory = writes_memory(function);
    for (const struct hone_c_node *s = body->first; s; s = s->next)
        ret->declares |= s->kind == HONE_C_DECL_STMT;
    for (size_t i = 0; i < ret->n_args; i++)
        if (ret->args[i].is_copied) {
            ret->declares = true;
            ret->args[i].text = own_name(in, ret->args[i].param->name);
            ret->args[i].offset = NULL;
        }
    edit_names(in, ret);
    uint32_t end = ret->tail ? ret->tail->begin : body->end - 1;
    while (end > body->begin + 1 && isspace((unsigned char)in->tree->source[end - 1]))
        end--;
    const char *copies = copies_text(in, ret);
    const char *text =
        body->first == ret->tail ? "" : hone_c_edit_text(&ret->edits, body->begin + 1, end);
    ret->statements = hone_pool_printf(in->pool, "%s%s", copies, text + strspn(text, " \n"));
    ret->is_expression = ret->tail && !*ret->statements && !ret->writes_memory;
    return put_value(in, ret);
}
