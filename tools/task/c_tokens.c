/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/task/c_tokens.h"

#include <ctype.h>
#include <string.h>

enum { MAX_TOKENS = 200000 };

static const char *skip_string(const char *at)
{
    char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

const char *hone_c_skip_line(const char *at)
{
    while (*at && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return at;
}

const char *hone_c_skip_blank(const char *at, const char *source)
{
    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        bool starts_line = at == source;
        for (const char *c = at;
             !starts_line && c > source && (c[-1] == ' ' || c[-1] == '\t' || c[-1] == '\n'); c--)
            starts_line = c[-1] == '\n' || c - 1 == source;
        if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else if (at[0] == '/' && at[1] == '/') {
            at = hone_c_skip_line(at);
        } else if (*at == '#' && starts_line) {
            at = hone_c_skip_line(at);
        } else {
            return at;
        }
    }
}

const char *hone_c_token_end(const char *at)
{
    if (isalpha((unsigned char)*at) || *at == '_' || isdigit((unsigned char)*at)) {
        while (isalnum((unsigned char)*at) || *at == '_')
            at++;
        return at;
    }
    return *at == '"' || *at == '\'' ? skip_string(at) : at + 1;
}

int hone_c_tokens_read(const char *source, struct hone_pool *pool, struct hone_c_tokens *ret,
                       struct hone_err *err)
{
    size_t n = 0;
    for (const char *at = hone_c_skip_blank(source, source); *at;
         at = hone_c_skip_blank(hone_c_token_end(at), source))
        n++;
    if (n > MAX_TOKENS)
        return hone_fail(err, HONE_E_LIMIT, "the source has more than %d words", MAX_TOKENS);
    ret->source = source;
    ret->v = hone_pool_alloc(pool, (n + 1) * sizeof(*ret->v));
    ret->n = 0;
    for (const char *at = hone_c_skip_blank(source, source); *at;
         at = hone_c_skip_blank(hone_c_token_end(at), source))
        ret->v[ret->n++] = (struct hone_c_token){at, (size_t)(hone_c_token_end(at) - at)};
    return 0;
}

bool hone_c_is(const struct hone_c_token *t, const char *text)
{
    return t->len == strlen(text) && memcmp(t->at, text, t->len) == 0;
}

bool hone_c_is_any(const struct hone_c_token *t, const char *const *words)
{
    while (*words && !hone_c_is(t, *words))
        words++;
    return *words != NULL;
}

bool hone_c_is_word(const struct hone_c_token *t)
{
    return t->len > 0 && (isalpha((unsigned char)*t->at) || *t->at == '_');
}

int hone_c_line_at(const char *source, const char *at)
{
    int line = 1;
    for (const char *c = source; c < at; c++)
        line += *c == '\n';
    return line;
}

size_t hone_c_closing(const struct hone_c_tokens *t, size_t i)
{
    char open = *t->v[i].at, close = open == '(' ? ')' : open == '{' ? '}' : ']';
    int depth = 0;
    for (; i < t->n; i++) {
        if (t->v[i].len == 1 && *t->v[i].at == open)
            depth++;
        if (t->v[i].len == 1 && *t->v[i].at == close && --depth == 0)
            return i;
    }
    return t->n;
}

bool hone_c_is_binary(const struct hone_c_tokens *t, size_t i)
{
    if (i == 0)
        return false;
    const struct hone_c_token *before = &t->v[i - 1];
    char c = before->at[0];
    bool is_operand = isalnum((unsigned char)c) || c == '_' || c == ')' || c == ']';
    if (c == ')') { /* if (...) *p = 1; */
        int depth = 0;
        size_t open = i;
        while (open-- > 1) {
            depth += hone_c_is(&t->v[open], ")") - hone_c_is(&t->v[open], "(");
            if (depth == 0)
                break;
        }
        const struct hone_c_token *head = &t->v[open > 0 ? open - 1 : 0];
        is_operand = !hone_c_is(head, "if") && !hone_c_is(head, "while") && !hone_c_is(head, "for");
    }
    return is_operand && !hone_c_is(before, "return") && !hone_c_is(before, "sizeof") &&
           !hone_c_is(before, "else") && !hone_c_is(before, "do");
}

bool hone_c_next_definition(const struct hone_c_tokens *t, size_t *at,
                            struct hone_c_definition *ret)
{
    size_t first = *at;
    for (size_t i = *at; i < t->n; i++) {
        if (hone_c_is(&t->v[i], ";")) {
            first = i + 1;
        } else if (hone_c_is(&t->v[i], "{")) {
            i = hone_c_closing(t, i);
            first = i + 1;
        } else if (hone_c_is(&t->v[i], "(")) {
            size_t close = hone_c_closing(t, i);
            bool is_definition = close + 1 < t->n && hone_c_is(&t->v[close + 1], "{") &&
                                 i > first && hone_c_is_word(&t->v[i - 1]);
            if (is_definition) {
                size_t end = hone_c_closing(t, close + 1);
                *ret = (struct hone_c_definition){first, i - 1, i, close, end, false};
                for (size_t k = first; k < i; k++)
                    ret->is_static = ret->is_static || hone_c_is(&t->v[k], "static");
                *at = end < t->n ? end + 1 : t->n;
                return true;
            }
            i = close;
        }
    }
    return false;
}

bool hone_c_has_word(const char *source, const char *word, struct hone_pool *pool)
{
    struct hone_c_tokens t;
    if (hone_c_tokens_read(source, pool, &t, NULL) < 0)
        return true;
    for (size_t i = 0; i < t.n; i++)
        if (hone_c_is(&t.v[i], word))
            return true;
    return false;
}
