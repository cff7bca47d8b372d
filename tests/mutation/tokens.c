/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/mutation/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Longest first. */
static const char *const puncts[] = {"<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--",
                                     "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&", "||",
                                     "+=",  "-=",  "*=",  "/=",  "%=",  "&=", "|=", "^="};
static const char *const types[] = {
    "void",    "char",   "short",    "int",      "long",       "float",         "double",
    "const",   "static", "unsigned", "restrict", "signed",     "bool",          "int64_t",
    "int32_t", "size_t", "uint16_t", "uint32_t", "__restrict", "__nv_bfloat16", "float4",
    "extern",  "inline", "struct",   "dim3",     "__shared__", "cudaStream_t",  NULL};
static const char *const keywords[] = {"return", "for",      "if",     "else", "while",  "do",
                                       "break",  "continue", "sizeof", "case", "switch", NULL};

static size_t skip_blank(const char *text, size_t at, size_t *line)
{
    for (;;) {
        if (text[at] == '\n') {
            ++*line;
            at++;
        } else if (isspace((unsigned char)text[at])) {
            at++;
        } else if (strncmp(text + at, "/*", 2) == 0) {
            const char *end = strstr(text + at + 2, "*/");
            size_t to = end == NULL ? strlen(text) : (size_t)(end - text) + 2;
            for (; at < to; at++)
                *line += text[at] == '\n';
        } else if (strncmp(text + at, "//", 2) == 0) {
            at += strcspn(text + at, "\n");
        } else {
            return at;
        }
    }
}

static size_t directive_end(const char *text, size_t at)
{
    while (text[at] != '\0' && (text[at] != '\n' || text[at - 1] == '\\'))
        at++;
    return at;
}

static size_t string_end(const char *text, size_t at)
{
    char quote = text[at++];
    while (text[at] != '\0' && text[at] != quote)
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    return text[at] == '\0' ? at : at + 1;
}

static size_t number_end(const char *text, size_t at)
{
    bool is_hex = text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X');
    for (;; at++) {
        char c = text[at], before = at > 0 ? text[at - 1] : ' ';
        bool is_sign = (c == '+' || c == '-') && !is_hex && (before == 'e' || before == 'E');
        if (!isalnum((unsigned char)c) && c != '.' && !is_sign)
            return at;
    }
}

static size_t punct_end(const char *text, size_t at)
{
    for (size_t i = 0; i < HONE_COUNTOF(puncts); i++)
        if (strncmp(text + at, puncts[i], strlen(puncts[i])) == 0)
            return at + strlen(puncts[i]);
    return at + 1;
}

static struct token next_token(const char *text, size_t at, size_t line)
{
    unsigned char c = (unsigned char)text[at];
    struct token token = {.from = at, .line = line};
    if (c == '#') {
        token.kind = TOKEN_DIRECTIVE;
        token.to = directive_end(text, at);
    } else if (isalpha(c) || c == '_') {
        token.kind = TOKEN_NAME;
        for (token.to = at; isalnum((unsigned char)text[token.to]) || text[token.to] == '_';)
            token.to++;
    } else if (isdigit(c) || (c == '.' && isdigit((unsigned char)text[at + 1]))) {
        token.kind = TOKEN_NUMBER;
        token.to = number_end(text, at);
    } else if (c == '"' || c == '\'') {
        token.kind = TOKEN_STRING;
        token.to = string_end(text, at);
    } else {
        token.kind = TOKEN_PUNCT;
        token.to = punct_end(text, at);
    }
    return token;
}

static void find_partners(struct tokens *tokens)
{
    HONE_AUTOFREE size_t *open = hone_calloc(tokens->n + 1, sizeof *open);
    size_t depth = 0;
    for (size_t t = 0; t < tokens->n; t++) {
        struct token *token = &tokens->v[t];
        char c = token->kind == TOKEN_PUNCT && token->to == token->from + 1
                     ? tokens->text[token->from]
                     : ' ';
        token->partner = t;
        if (c == '(' || c == '[' || c == '{') {
            open[depth++] = t;
        } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
            token->partner = open[--depth];
            tokens->v[token->partner].partner = t;
        }
    }
}

struct tokens tokens_read(const char *text)
{
    struct tokens tokens = {.text = text, .v = hone_calloc(strlen(text) + 1, sizeof *tokens.v)};
    size_t line = 1;
    for (size_t at = skip_blank(text, 0, &line); text[at] != '\0';) {
        struct token token = next_token(text, at, line);
        for (size_t i = token.from; i < token.to; i++)
            line += text[i] == '\n';
        tokens.v[tokens.n++] = token;
        at = skip_blank(text, token.to, &line);
    }
    find_partners(&tokens);
    return tokens;
}

void tokens_done(struct tokens *tokens)
{
    free(tokens->v);
    *tokens = (struct tokens){.text = NULL};
}

bool token_is(const struct tokens *tokens, size_t t, const char *word)
{
    if (t >= tokens->n)
        return false;
    const struct token *token = &tokens->v[t];
    return token->to - token->from == strlen(word) &&
           memcmp(tokens->text + token->from, word, strlen(word)) == 0;
}

bool token_is_one_of(const struct tokens *tokens, size_t t, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (token_is(tokens, t, words[i]))
            return true;
    return false;
}

bool token_is_kind(const struct tokens *tokens, size_t t, enum token_kind kind)
{
    return t < tokens->n && tokens->v[t].kind == kind;
}

char *token_text(const struct tokens *tokens, size_t from, size_t to)
{
    if (from >= to)
        return hone_strdup("");
    size_t start = tokens->v[from].from;
    return hone_strndup(tokens->text + start, tokens->v[to - 1].to - start);
}

bool token_is_type(const struct tokens *tokens, size_t t)
{
    return token_is_one_of(tokens, t, types);
}

bool token_is_keyword(const struct tokens *tokens, size_t t)
{
    return token_is_one_of(tokens, t, keywords);
}

/* A bracket of a cast ends no operand: what comes after it is one. */
static bool is_cast_end(const struct tokens *tokens, size_t t)
{
    return token_is(tokens, t, ")") && token_is_type(tokens, tokens->v[t].partner + 1);
}

bool token_ends_operand(const struct tokens *tokens, size_t t)
{
    if (t >= tokens->n || token_is_type(tokens, t) || token_is_keyword(tokens, t) ||
        is_cast_end(tokens, t))
        return false;
    return tokens->v[t].kind == TOKEN_NAME || tokens->v[t].kind == TOKEN_NUMBER ||
           token_is(tokens, t, ")") || token_is(tokens, t, "]");
}

size_t token_operand_end(const struct tokens *tokens, size_t t)
{
    size_t at = t;
    while (token_is(tokens, at, "(") && is_cast_end(tokens, tokens->v[at].partner))
        at = tokens->v[at].partner + 1;
    if (token_is(tokens, at, "("))
        at = tokens->v[at].partner + 1;
    else if ((token_is_kind(tokens, at, TOKEN_NAME) && !token_is_type(tokens, at) &&
              !token_is_keyword(tokens, at)) ||
             token_is_kind(tokens, at, TOKEN_NUMBER))
        at++;
    else
        return t;
    for (;;) {
        if ((token_is(tokens, at, "[") || token_is(tokens, at, "(")) && tokens->v[at].partner > at)
            at = tokens->v[at].partner + 1;
        else if (token_is(tokens, at, ".") && token_is_kind(tokens, at + 1, TOKEN_NAME))
            at += 2;
        else
            return at;
    }
}

static size_t simple_end(const struct tokens *tokens, size_t t)
{
    while (t < tokens->n && !token_is(tokens, t, ";") && !token_is(tokens, t, "}"))
        t = (tokens->v[t].partner > t ? tokens->v[t].partner : t) + 1;
    return token_is(tokens, t, ";") ? t + 1 : t;
}

size_t token_statement_end(const struct tokens *tokens, size_t t)
{
    static const char *const heads[] = {"for", "if", "while", NULL};
    while (token_is_kind(tokens, t, TOKEN_DIRECTIVE))
        t++;
    if (token_is(tokens, t, "{"))
        return tokens->v[t].partner + 1;
    if (!token_is_one_of(tokens, t, heads) || !token_is(tokens, t + 1, "("))
        return simple_end(tokens, t);
    size_t end = token_statement_end(tokens, tokens->v[t + 1].partner + 1);
    if (token_is(tokens, t, "if") && token_is(tokens, end, "else"))
        end = token_statement_end(tokens, end + 1);
    return end;
}

bool token_starts_statement(const struct tokens *tokens, size_t t)
{
    static const char *const heads[] = {"for", "if", "while", NULL};
    if (t == 0 || t >= tokens->n)
        return false;
    if (token_is(tokens, t - 1, ")"))
        return tokens->v[t - 1].partner > 0 &&
               token_is_one_of(tokens, tokens->v[t - 1].partner - 1, heads);
    static const char *const ends[] = {"{", "}", "else", NULL};
    if (token_is_kind(tokens, t - 1, TOKEN_DIRECTIVE))
        return true;
    if (token_is_one_of(tokens, t - 1, ends))
        return true;
    if (!token_is(tokens, t - 1, ";"))
        return false;
    for (size_t open = t; open-- > 0;) { /* not the semicolons of a for's head */
        if (tokens->v[open].partner > t)
            return !token_is(tokens, open, "(");
    }
    return true;
}
