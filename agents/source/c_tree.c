/* SPDX-License-Identifier: Apache-2.0 */
/* Walking the plain tree (c_tree.h), and the two texts made from a source: the one of a node
 * and the normalised one, without comments and with blanks squeezed, that versions are compared
 * by. Pure functions over offsets. */
#include "agents/source/c_tree.h"

#include <ctype.h>
#include <string.h>

struct hone_c_node *hone_c_walk(const struct hone_c_node *top, const struct hone_c_node *node)
{
    if (node->first)
        return node->first;
    while (node != top) {
        if (node->next)
            return node->next;
        node = node->parent;
    }
    return NULL;
}

const struct hone_c_node *hone_c_strip(const struct hone_c_node *node)
{
    while (node && (node->kind == HONE_C_PAREN || node->kind == HONE_C_CAST) && node->last)
        node = node->last;
    return node;
}

const struct hone_c_node *hone_c_bare(const struct hone_c_node *node)
{
    while (node && node->kind == HONE_C_PAREN)
        node = node->first;
    return node;
}

bool hone_c_is_same_text(const struct hone_c_tree *tree, const struct hone_c_node *a,
                         const struct hone_c_node *b)
{
    a = hone_c_bare(a);
    b = hone_c_bare(b);
    uint32_t i = a->begin, j = b->begin;
    for (;;) {
        while (i < a->end && isspace((unsigned char)tree->source[i]))
            i++;
        while (j < b->end && isspace((unsigned char)tree->source[j]))
            j++;
        if (i == a->end || j == b->end)
            return i == a->end && j == b->end;
        if (tree->source[i++] != tree->source[j++])
            return false;
    }
}

struct hone_c_node *hone_c_function(const struct hone_c_tree *tree, const char *name)
{
    for (struct hone_c_node *n = tree->root->first; n; n = n->next)
        if (n->kind == HONE_C_FUNCTION && n->body && strcmp(n->name, name) == 0)
            return n;
    return NULL;
}

/* Of a call or of a function that is handed on; NULL: neither. */
static const char *named_function(const struct hone_c_node *n)
{
    if (n->kind == HONE_C_CALL)
        return n->name;
    return n->kind == HONE_C_REF && n->decl && n->decl->kind == HONE_C_FUNCTION ? n->decl->name
                                                                                : NULL;
}

size_t hone_c_reached(const struct hone_c_tree *tree, const struct hone_c_node *function,
                      const struct hone_c_node **ret, size_t max)
{
    size_t n = 0;
    ret[n++] = function;
    for (size_t at = 0; at < n; at++)
        for (const struct hone_c_node *c = ret[at]; c; c = hone_c_walk(ret[at], c)) {
            const char *name = named_function(c);
            const struct hone_c_node *f = name && *name ? hone_c_function(tree, name) : NULL;
            size_t i = 0;
            while (i < n && ret[i] != f)
                i++;
            if (f && i == n && n < max)
                ret[n++] = f;
        }
    return n;
}

bool hone_c_contains(const struct hone_c_node *outer, const struct hone_c_node *inner)
{
    for (; inner; inner = inner->parent)
        if (inner == outer)
            return true;
    return false;
}

bool hone_c_is_floating(const char *type)
{
    return strstr(type, "float") || strstr(type, "double");
}

bool hone_c_uses(const struct hone_c_node *top, const struct hone_c_node *decl)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_REF && n->decl == decl)
            return true;
    return false;
}

bool hone_c_takes_address(const struct hone_c_node *top, const struct hone_c_node *decl)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_UNARY && strcmp(n->op, "&") == 0 &&
            hone_c_strip(n->first)->kind == HONE_C_REF && hone_c_strip(n->first)->decl == decl)
            return true;
    return false;
}

bool hone_c_is_element(const struct hone_c_node *ref)
{
    const struct hone_c_node *of = ref, *up = ref->parent;
    for (; up->kind == HONE_C_PAREN; up = up->parent)
        of = up;
    if (up->kind != HONE_C_SUBSCRIPT || up->first != of)
        return false;
    for (up = up->parent; up->kind == HONE_C_PAREN;)
        up = up->parent;
    return !(up->kind == HONE_C_UNARY && strcmp(up->op, "&") == 0);
}

static bool is_write_target(const struct hone_c_node *ref)
{
    const struct hone_c_node *n = ref;
    while (n->parent && (n->parent->kind == HONE_C_PAREN ||
                         (n->parent->kind == HONE_C_MEMBER && n->parent->first == n)))
        n = n->parent; /* s of s.a = 1: of s->a, too, which the pointer then stands for */
    const struct hone_c_node *p = n->parent;
    if (!p)
        return false;
    if (p->kind == HONE_C_ASSIGN_OP || (p->kind == HONE_C_BINARY && strcmp(p->op, "=") == 0))
        return p->first == n;
    if (p->kind == HONE_C_UNARY)
        return !strcmp(p->op, "++") || !strcmp(p->op, "--") || !strcmp(p->op, "&");
    return false;
}

bool hone_c_writes(const struct hone_c_node *top, const struct hone_c_node *decl)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        if (n->kind == HONE_C_REF && n->decl == decl && is_write_target(n))
            return true;
    return false;
}

size_t hone_c_n_children(const struct hone_c_node *node)
{
    size_t n = 0;
    for (const struct hone_c_node *c = node->first; c; c = c->next)
        n++;
    return n;
}

struct hone_c_node *hone_c_child(const struct hone_c_node *node, size_t i)
{
    struct hone_c_node *c = node->first;
    while (c && i-- > 0)
        c = c->next;
    return c;
}

bool hone_c_is_stmt(const struct hone_c_node *node)
{
    const struct hone_c_node *p = node->parent;
    if (!p)
        return false;
    if (p->kind == HONE_C_COMPOUND)
        return true;
    if (p->kind == HONE_C_FOR || p->kind == HONE_C_WHILE)
        return p->body == node;
    return p->kind == HONE_C_IF && p->first != node;
}

static uint32_t skip_comment(const char *s, uint32_t len, uint32_t at)
{
    if (at + 1 < len && s[at] == '/' && s[at + 1] == '*') {
        for (at += 2; at + 1 < len && !(s[at] == '*' && s[at + 1] == '/'); at++)
            ;
        return at + 2 < len ? at + 2 : len;
    }
    if (at + 1 < len && s[at] == '/' && s[at + 1] == '/') {
        while (at < len && s[at] != '\n')
            at++;
    }
    return at;
}

uint32_t hone_c_skip_space(const char *s, uint32_t len, uint32_t at)
{
    for (;;) {
        uint32_t start = at;
        while (at < len && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '\r'))
            at++;
        at = skip_comment(s, len, at);
        if (at == start)
            return at;
    }
}

uint32_t hone_c_stmt_end(const struct hone_c_tree *tree, const struct hone_c_node *stmt)
{
    if (stmt->end > stmt->begin && stmt->kind != HONE_C_CONST) {
        char last = tree->source[stmt->end - 1];
        if (last == ';')
            return stmt->end;
        if (last == '}' && (stmt->kind == HONE_C_COMPOUND || stmt->kind == HONE_C_FOR ||
                            stmt->kind == HONE_C_IF || stmt->kind == HONE_C_WHILE))
            return stmt->end;
    }
    uint32_t at = hone_c_skip_space(tree->source, tree->len, stmt->end);
    return at < tree->len && tree->source[at] == ';' ? at + 1 : stmt->end;
}

uint32_t hone_c_line(const struct hone_c_tree *tree, uint32_t offset)
{
    uint32_t line = 1;
    for (uint32_t i = 0; i < offset && i < tree->len; i++)
        line += tree->source[i] == '\n';
    return tree->lines ? tree->lines[line - 1] : line;
}

char *hone_c_text(const struct hone_c_tree *tree, const struct hone_c_node *node)
{
    return hone_pool_strndup(tree->pool, tree->source + node->begin, node->end - node->begin);
}

/* String and character literals are copied as they are. */
static size_t copy_literal(const char *s, size_t at, char *out, size_t *n)
{
    char quote = s[at];
    out[(*n)++] = s[at++];
    while (s[at] && s[at] != quote) {
        if (s[at] == '\\' && s[at + 1])
            out[(*n)++] = s[at++];
        out[(*n)++] = s[at++];
    }
    if (s[at])
        out[(*n)++] = s[at++];
    return at;
}

char *hone_c_normalise(const char *source)
{
    size_t len = strlen(source), at = 0, n = 0;
    char *out = hone_malloc(len + 1);
    while (at < len) {
        uint32_t next = hone_c_skip_space(source, (uint32_t)len, (uint32_t)at);
        if (next != at) {
            bool has_newline = memchr(source + at, '\n', next - at) != NULL;
            at = next;
            if (n > 0 && at < len) /* a directive ends with its line, so the line end counts */
                out[n++] = has_newline ? '\n' : ' ';
            continue;
        }
        if (source[at] == '"' || source[at] == '\'')
            at = copy_literal(source, at, out, &n);
        else
            out[n++] = source[at++];
    }
    out[n] = '\0';
    return out;
}

const char *hone_c_value_type(const struct hone_c_node *node)
{
    bool is_const = strncmp(node->type, "const ", 6) == 0 && !strchr(node->type, '*');
    return is_const ? node->type + 6 : node->type;
}
