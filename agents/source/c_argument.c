/* SPDX-License-Identifier: Apache-2.0 */
/* What stands for each parameter of a function whose text is put in the place of a call: the
 * argument's own text where nothing in between can change it, else a local that holds it. */
#include "agents/source/c_helper.h"
#include "agents/source/c_plain.h"

#include <string.h>

enum { TYPE_BYTES = 120 };

/* Without qualifiers, an array as a pointer. */
static void plain_type(const char *type, char ret[TYPE_BYTES])
{
    static const char *const dropped[] = {"const", "restrict", "register"};
    size_t n = 0;
    for (const char *at = type; *at && n + 2 < TYPE_BYTES;) {
        size_t skip = 0;
        for (size_t i = 0; i < HONE_COUNTOF(dropped); i++)
            if (strncmp(at, dropped[i], strlen(dropped[i])) == 0)
                skip = strlen(dropped[i]);
        if (*at == '[') {
            ret[n++] = '*';
            at += strcspn(at, "]") + 1;
        } else if (skip > 0 || *at == ' ') {
            at += skip > 0 ? skip : 1;
        } else {
            ret[n++] = *at++;
        }
    }
    ret[n] = '\0';
}

bool hone_c_is_same_type(const char *a, const char *b)
{
    char x[TYPE_BYTES], y[TYPE_BYTES];
    plain_type(a, x);
    plain_type(b, y);
    return strcmp(x, y) == 0;
}

struct traits {
    bool has_effect, has_call, reads_memory;
};

/* A name that another statement may change: of the file, or one that a pointer leads to. */
static bool is_shared(const struct hone_coder_input *in, const struct hone_c_node *n)
{
    if (n->kind != HONE_C_REF || !n->decl || n->decl->kind == HONE_C_FUNCTION)
        return false;
    return !hone_c_contains(in->nest.function, n->decl) ||
           hone_c_takes_address(in->nest.function, n->decl);
}

static struct traits traits_of(const struct hone_coder_input *in, const struct hone_c_node *expr)
{
    struct traits t = {false, false, false};
    for (const struct hone_c_node *n = expr; n; n = hone_c_walk(expr, n)) {
        t.has_effect |= hone_c_target_of(n) != NULL || n->kind == HONE_C_OTHER;
        t.has_call |= n->kind == HONE_C_CALL;
        t.reads_memory |= n->kind == HONE_C_SUBSCRIPT || n->kind == HONE_C_MEMBER ||
                          (n->kind == HONE_C_UNARY && strcmp(n->op, "*") == 0) || is_shared(in, n);
    }
    return t;
}

static const struct hone_c_node *without_parens(const struct hone_c_node *n)
{
    while (n->kind == HONE_C_PAREN && n->first)
        n = n->first;
    return n;
}

/* root + offset of a pointer; false: another form. */
static bool split(const struct hone_coder_input *in, const struct hone_c_node *v,
                  struct hone_c_argument *ret)
{
    v = without_parens(v);
    if (v->kind == HONE_C_REF && hone_c_is_word_at(in->tree, v, v->name)) {
        ret->text = v->name;
        return !is_shared(in, v) || strchr(v->type, '[');
    }
    const struct hone_c_node *by = v->last;
    const struct hone_c_node *element =
        v->kind == HONE_C_UNARY && strcmp(v->op, "&") == 0 ? without_parens(v->first) : NULL;
    if (element && element->kind == HONE_C_SUBSCRIPT) {
        v = element;
        by = v->last;
    } else if (v->kind != HONE_C_BINARY || strcmp(v->op, "+") != 0) {
        return false;
    }
    if (strpbrk(by->type, "*[") || !split(in, v->first, ret))
        return false;
    struct traits t = traits_of(in, by);
    ret->may_add = (ret->may_add || !ret->offset) && strcmp(by->type, "unsigned int") != 0;
    ret->offset = hone_pool_printf(in->pool, "%s%s%s", ret->offset ? ret->offset : "",
                                   ret->offset ? " + " : "", hone_c_text(in->tree, by));
    return !t.has_call && !t.has_effect && !t.reads_memory;
}

static size_t count_uses(const struct hone_c_node *top, const struct hone_c_node *decl)
{
    size_t n = 0;
    for (const struct hone_c_node *at = top; at; at = hone_c_walk(top, at))
        n += at->kind == HONE_C_REF && at->decl == decl;
    return n;
}

bool hone_c_is_primary(const struct hone_c_node *value)
{
    return value->kind == HONE_C_REF || value->kind == HONE_C_CONST ||
           value->kind == HONE_C_PAREN || value->kind == HONE_C_SUBSCRIPT;
}

/* The text as a value of the type. */
const char *hone_c_cast_text(const struct hone_coder_input *in, const struct hone_c_node *value,
                             const char *text, const char *type)
{
    if (hone_c_is_same_type(value->type, type))
        return text;
    if (strncmp(type, "const ", 6) == 0)
        type += 6;
    return hone_pool_printf(in->pool, hone_c_is_primary(value) ? "(%s)%s" : "(%s)(%s)", type, text);
}

static bool read_scalar(const struct hone_coder_input *in, struct hone_c_argument *a,
                        const struct hone_c_helper *h)
{
    struct traits t = traits_of(in, a->value);
    size_t n = count_uses(h->function->body, a->param);
    bool is_fixed = !t.has_call && !t.reads_memory;
    bool returns_only = h->tail == h->function->body->first && h->tail;
    a->is_copied = a->is_copied || !(is_fixed || (returns_only && (n == 1 || !t.has_call)));
    a->text = hone_c_cast_text(in, a->value, hone_c_text(in->tree, a->value), a->param->type);
    if (!hone_c_is_primary(a->value) || !hone_c_is_same_type(a->value->type, a->param->type))
        a->text = hone_pool_printf(in->pool, "(%s)", a->text);
    return !t.has_effect;
}

static bool read_pointer(const struct hone_coder_input *in, struct hone_c_argument *a)
{
    struct traits t = traits_of(in, a->value);
    if (!hone_c_is_same_type(a->value->type, a->param->type) || strchr(a->param->type, '('))
        return false;
    a->is_copied = a->is_copied || !split(in, a->value, a);
    return !t.has_effect && !t.has_call;
}

bool hone_c_read_arguments(const struct hone_coder_input *in, struct hone_c_helper *h)
{
    const struct hone_c_node *value = h->call->first->next;
    for (const struct hone_c_node *p = h->function->first; p; p = p->next) {
        if (p->kind != HONE_C_PARAM)
            continue;
        if (!value || h->n_args == HONE_C_MAX_ARGS)
            return false;
        struct hone_c_argument *a = &h->args[h->n_args++];
        *a = (struct hone_c_argument){
            .param = p, .value = value, .is_copied = hone_c_writes(h->function->body, p)};
        if (strpbrk(p->type, "*[") ? !read_pointer(in, a) : !read_scalar(in, a, h))
            return false;
        value = value->next;
    }
    return !value;
}
