/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of step in their order, and the one that tidies up: parentheses that nobody needs and
 * functions that nobody calls any more. */
#include "agents/source/c_plain.h"

#include <string.h>

bool hone_c_is_word_at(const struct hone_c_tree *tree, const struct hone_c_node *node,
                       const char *word)
{
    return node->end - node->begin == strlen(word) &&
           memcmp(tree->source + node->begin, word, strlen(word)) == 0;
}

size_t hone_c_count_word(const struct hone_c_tree *tree, uint32_t begin, uint32_t end,
                         const char *word)
{
    const char *s = tree->source;
    size_t n = 0;
    for (uint32_t at = begin; (at = hone_c_skip_space(s, end, at)) < end;) {
        uint32_t from = at;
        if (s[at] == '"' || s[at] == '\'') {
            for (at++; at < end && s[at] != s[from]; at++)
                at += s[at] == '\\';
            at++;
            continue;
        }
        while (at < end && hone_is_word_char(s[at]))
            at++;
        n += at - from == strlen(word) && memcmp(s + from, word, at - from) == 0;
        at += at == from;
    }
    return n;
}

bool hone_c_is_named_plainly(const struct hone_c_tree *tree, const struct hone_c_node *function,
                             const struct hone_c_node *decl)
{
    size_t n_words = 0;
    for (const struct hone_c_node *n = function; n; n = hone_c_walk(function, n)) {
        bool is_name = n->kind == HONE_C_REF || n->kind == HONE_C_VAR || n->kind == HONE_C_PARAM ||
                       n->kind == HONE_C_MEMBER;
        if (n->kind == HONE_C_REF && n->decl == decl && !hone_c_is_word_at(tree, n, decl->name))
            return false;
        n_words += is_name && strcmp(n->name, decl->name) == 0;
    }
    return hone_c_count_word(tree, function->begin, function->end, decl->name) == n_words;
}

static bool is_simple(const struct hone_c_node *n)
{
    return n->kind == HONE_C_REF || n->kind == HONE_C_CONST || n->kind == HONE_C_SUBSCRIPT ||
           n->kind == HONE_C_MEMBER || n->kind == HONE_C_PAREN || n->kind == HONE_C_CALL;
}

static bool drop_parens(const struct hone_coder_input *in, struct hone_c_edits *edits)
{
    const struct hone_c_node *f = in->nest.function;
    const char *s = in->tree->source;
    bool any = false;
    for (const struct hone_c_node *n = f; n; n = hone_c_walk(f, n)) {
        if (n->kind != HONE_C_PAREN || !n->first || !is_simple(n->first) || s[n->begin] != '(' ||
            s[n->end - 1] != ')' || n->begin == n->first->begin ||
            hone_is_word_char(s[n->begin - 1]) ||
            (n->parent->kind == HONE_C_CALL && n->parent->first == n))
            continue;
        hone_c_replace(edits, n->begin, n->begin + 1, "");
        hone_c_replace(edits, n->end - 1, n->end, "");
        any = true;
    }
    return any;
}

/* The comment in front belongs to a function. */
static uint32_t begin_with_comment(const char *s, uint32_t at)
{
    uint32_t end = at;
    while (end > 0 && (s[end - 1] == ' ' || s[end - 1] == '\t' || s[end - 1] == '\n'))
        end--;
    if (end < 4 || s[end - 1] != '/' || s[end - 2] != '*')
        return at;
    for (uint32_t i = end - 2; i-- > 1;)
        if (s[i] == '*' && s[i - 1] == '/')
            return i - 1;
    return at;
}

static bool drop_functions(const struct hone_coder_input *in, struct hone_c_edits *edits)
{
    const char *s = in->tree->source;
    bool any = false;
    for (const struct hone_c_node *f = in->tree->root->first; f; f = f->next) {
        if (f->kind != HONE_C_FUNCTION || !f->body || f == in->nest.function ||
            strncmp(s + f->begin, "static", 6) != 0 || (f->begin > 0 && s[f->begin - 1] != '\n') ||
            hone_c_count_word(in->tree, 0, in->tree->len, f->name) != 1)
            continue;
        uint32_t end = hone_c_skip_space(s, in->tree->len, f->end);
        if (memchr(s + f->end, '/', end - f->end))
            end = f->end; /* a comment that belongs to what comes behind */
        hone_c_replace(edits, begin_with_comment(s, f->begin), end, "");
        any = true;
    }
    return any;
}

/* A statement whose value nobody takes: no condition, and not the last of ({ ... }). */
static bool is_by_itself(const struct hone_c_node *n)
{
    const struct hone_c_node *p = n->parent;
    if (p->kind == HONE_C_COMPOUND)
        return p->parent->kind == HONE_C_FUNCTION || hone_c_is_stmt(p);
    return (p->kind == HONE_C_IF && n != p->first) || (p->kind == HONE_C_FOR && n == p->body);
}

/* A scalar that a loop counts up, `n++;` by itself, as the sum that it is: `n += 1;`. */
static bool count_up(const struct hone_coder_input *in, struct hone_c_edits *edits)
{
    const struct hone_c_node *f = in->nest.function;
    bool any = false;
    for (const struct hone_c_node *n = f; n; n = hone_c_walk(f, n)) {
        const struct hone_c_node *p = n->parent, *var = n->first;
        if (n->kind != HONE_C_UNARY || strcmp(n->op, "++") != 0 || var->kind != HONE_C_REF ||
            !var->decl || strchr(var->decl->type, '*') || !is_by_itself(n) ||
            !hone_c_is_word_at(in->tree, var, var->decl->name))
            continue;
        while (p && p->kind != HONE_C_FOR && p->kind != HONE_C_WHILE)
            p = p->parent;
        if (!p || p->kind != HONE_C_FOR || hone_c_contains(p, var->decl))
            continue;
        hone_c_replace(edits, n->begin, n->end,
                       hone_pool_printf(in->pool, "%s += 1", var->decl->name));
        any = true;
    }
    return any;
}

static bool tidy(const struct hone_coder_input *in, struct hone_c_edits *edits)
{
    return in->tree->lines && (drop_parens(in, edits) || drop_functions(in, edits));
}

hone_c_plain_fn *const hone_c_plain_steps[HONE_C_PLAIN_STEPS] = {
    hone_c_macro_step, hone_c_scope_step, hone_c_inline_step, count_up, tidy};
