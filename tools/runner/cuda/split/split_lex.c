/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of a CUDA file. Comments vanish; directives are kept apart, the replacement of a macro as
 * tokens of its own; what stands between #if 0 and its end is skipped. */
#include <ctype.h>
#include <string.h>

#include "tools/runner/cuda/split/split_internal.h"
#include "workspace/base/limits.h"

#define MAX_DELIMITER 16 /* of a raw string */
#define MAX_NESTED_IF 64

struct lexer {
    struct split_state *s;
    size_t at, end;
    int64_t line;
    bool is_line_start;
    struct split_tokens *out;
    uint32_t guards[MAX_NESTED_IF]; /* NAME of each open #ifndef NAME; 0: another condition */
    size_t n_guards;
};

void *split_grow(struct split_state *s, void *v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    size_t more = *cap == 0 ? 64 : *cap * 2;
    void *bigger = hone_pool_alloc(s->pool, more * size);
    if (n > 0)
        memcpy(bigger, v, n * size);
    *cap = more;
    return bigger;
}

static uint32_t hash_text(const char *text, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static void rehash(struct split_state *s)
{
    size_t size = s->hash_size == 0 ? 1024 : s->hash_size * 2;
    s->hash = hone_pool_alloc(s->pool, size * sizeof *s->hash);
    s->hash_size = size;
    for (size_t id = 1; id < s->n_names; id++) {
        size_t at = hash_text(s->names[id], strlen(s->names[id])) & (size - 1);
        while (s->hash[at] != 0)
            at = (at + 1) & (size - 1);
        s->hash[at] = (uint32_t)id;
    }
}

static uint32_t id_of(struct split_state *s, const char *text, size_t len)
{
    if (s->n_names * 2 >= s->hash_size)
        rehash(s);
    size_t at = hash_text(text, len) & (s->hash_size - 1);
    for (; s->hash[at] != 0; at = (at + 1) & (s->hash_size - 1)) {
        const char *name = s->names[s->hash[at]];
        if (strncmp(name, text, len) == 0 && name[len] == '\0')
            return s->hash[at];
    }
    s->names = split_grow(s, s->names, s->n_names, &s->cap_names, sizeof *s->names);
    if (s->n_names == 0)
        s->names[s->n_names++] = ""; /* 0 is no name */
    s->names[s->n_names] = hone_pool_strndup(s->pool, text, len);
    s->hash[at] = (uint32_t)s->n_names;
    return (uint32_t)s->n_names++;
}

bool split_is(const struct split_state *s, const struct split_token *t, const char *word)
{
    return t->kind == SPLIT_NAME && strcmp(s->names[t->id], word) == 0;
}

static char peek(const struct lexer *x, size_t ahead)
{
    return x->at + ahead < x->end ? x->s->source[x->at + ahead] : '\0';
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name(char c)
{
    return is_name_start(c) || isdigit((unsigned char)c);
}

/* Length of a backslash and newline here, or 0. */
static size_t splice(const struct lexer *x)
{
    if (peek(x, 0) != '\\')
        return 0;
    return peek(x, 1) == '\n' ? 2 : peek(x, 1) == '\r' && peek(x, 2) == '\n' ? 3 : 0;
}

static void push(struct lexer *x, enum split_kind kind, int punct, size_t start)
{
    struct split_tokens *out = x->out;
    out->v = split_grow(x->s, out->v, out->n, &out->cap, sizeof *out->v);
    out->v[out->n++] = (struct split_token){
        .kind = kind, .punct = punct, .start = start, .end = x->at, .line = x->line};
    if (kind == SPLIT_NAME)
        out->v[out->n - 1].id = id_of(x->s, x->s->source + start, x->at - start);
}

static int skip_comment(struct lexer *x)
{
    int64_t line = x->line;
    if (peek(x, 1) == '/') {
        while (x->at < x->end && peek(x, 0) != '\n') {
            size_t n = splice(x);
            x->line += n > 0;
            x->at += n > 0 ? n : 1;
        }
        return 0;
    }
    for (x->at += 2; x->at < x->end; x->at++) {
        if (peek(x, 0) == '*' && peek(x, 1) == '/') {
            x->at += 2;
            return 0;
        }
        x->line += peek(x, 0) == '\n';
    }
    return split_fail(x->s, line, "a comment that begins here does not end");
}

static int lex_quoted(struct lexer *x, size_t start)
{
    char quote = peek(x, 0);
    int64_t line = x->line;
    for (x->at++; x->at < x->end; x->at++) {
        char c = peek(x, 0);
        size_t n = splice(x);
        if (n > 0) {
            x->line++;
            x->at += n - 1;
        } else if (c == '\\') {
            x->at++;
        } else if (c == quote) {
            x->at++;
            push(x, SPLIT_STRING, quote, start);
            return 0;
        } else if (c == '\n') {
            break;
        }
    }
    return split_fail(x->s, line, "a string or character that begins here does not end");
}

static int lex_raw_string(struct lexer *x, size_t start)
{
    char close[MAX_DELIMITER + 3] = ")";
    size_t n = 1;
    int64_t line = x->line;
    for (x->at++; x->at < x->end && peek(x, 0) != '('; x->at++) {
        if (n > MAX_DELIMITER || strchr(" )\\\n\t\"", peek(x, 0)) != NULL)
            return split_fail(x->s, line, "the delimiter of a raw string is wrong");
        close[n++] = peek(x, 0);
    }
    close[n++] = '"';
    for (; x->at < x->end; x->at++) {
        if (x->end - x->at >= n && memcmp(x->s->source + x->at, close, n) == 0) {
            x->at += n;
            push(x, SPLIT_STRING, '"', start);
            return 0;
        }
        x->line += peek(x, 0) == '\n';
    }
    return split_fail(x->s, line, "a raw string that begins here does not end");
}

static int lex_name(struct lexer *x)
{
    size_t start = x->at;
    while (is_name(peek(x, 0)))
        x->at++;
    size_t len = x->at - start;
    bool is_prefix = len <= 3 && strspn(x->s->source + start, "uUL8R") >= len;
    if (is_prefix && peek(x, 0) == '"' && x->s->source[x->at - 1] == 'R')
        return lex_raw_string(x, start);
    if (is_prefix && (peek(x, 0) == '"' || peek(x, 0) == '\'') && x->s->source[x->at - 1] != 'R')
        return lex_quoted(x, start);
    push(x, SPLIT_NAME, 0, start);
    return 0;
}

static void lex_number(struct lexer *x)
{
    size_t start = x->at;
    while (x->at < x->end) {
        char c = peek(x, 0), before = x->at > start ? x->s->source[x->at - 1] : ' ';
        bool is_exponent =
            (c == '+' || c == '-') && strchr("eEpP", before) != NULL && x->s->source[start] != '\0';
        bool is_separator = c == '\'' && is_name(peek(x, 1));
        if (!is_name(c) && c != '.' && !is_separator && !is_exponent)
            break;
        /* 0xE+1 is three tokens, 1e+1 is one. */
        if (is_exponent && strchr("eE", before) != NULL && x->at - start >= 2 &&
            (x->s->source[start + 1] == 'x' || x->s->source[start + 1] == 'X'))
            break;
        x->at++;
    }
    push(x, SPLIT_NUMBER, 0, start);
}

/* Other spellings of brackets and of '#': the same tokens, so they are written as those, with
 * blanks for what is left over, in all three texts. After that nobody has to know of them. "<::" is
 * a '<' in front of "::" unless ':' or '>' follows. Trigraphs are no part of C++17. */
static void respell(struct lexer *x)
{
    static const char *const spellings[][2] = {{"%:%:", "##  "}, {"<%", "{ "}, {"%>", "} "},
                                               {"<:", "[ "},     {":>", "] "}, {"%:", "# "}};
    struct split_state *s = x->s;
    if (peek(x, 0) == '<' && peek(x, 1) == ':' && peek(x, 2) == ':' && peek(x, 3) != ':' &&
        peek(x, 3) != '>')
        return;
    for (size_t i = 0; i < HONE_COUNTOF(spellings); i++) {
        size_t n = strlen(spellings[i][0]);
        if (x->end - x->at < n || memcmp(s->source + x->at, spellings[i][0], n) != 0)
            continue;
        memcpy(s->spelling + x->at, spellings[i][1], n);
        memcpy(s->host + x->at, spellings[i][1], n);
        memcpy(s->device + x->at, spellings[i][1], n);
        return;
    }
}

static void lex_punct(struct lexer *x)
{
    respell(x);
    static const struct {
        const char *text;
        int punct;
    } longer[] = {{"<<<", SPLIT_OPEN3}, {">>>", SPLIT_CLOSE3}, {"...", SPLIT_DOTS},
                  {"::", SPLIT_SCOPE},  {"->", SPLIT_ARROW},   {"##", SPLIT_PASTE}};
    size_t start = x->at;
    for (size_t i = 0; i < HONE_COUNTOF(longer); i++) {
        size_t n = strlen(longer[i].text);
        if (x->end - x->at >= n && memcmp(x->s->source + x->at, longer[i].text, n) == 0) {
            x->at += n;
            push(x, SPLIT_PUNCT, longer[i].punct, start);
            return;
        }
    }
    int c = (unsigned char)peek(x, 0);
    x->at++;
    push(x, SPLIT_PUNCT, c, start);
}

static int lex_one(struct lexer *x)
{
    char c = peek(x, 0);
    size_t n = splice(x);
    if (n > 0) {
        x->line++;
        x->at += n;
        return 0;
    }
    if (c == '/' && (peek(x, 1) == '/' || peek(x, 1) == '*'))
        return skip_comment(x);
    if (isspace((unsigned char)c) || c == '\0') {
        x->line += c == '\n';
        x->at++;
        return 0;
    }
    if (is_name_start(c))
        return lex_name(x);
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(x, 1)))) {
        lex_number(x);
        return 0;
    }
    if (c == '"' || c == '\'')
        return lex_quoted(x, x->at);
    lex_punct(x);
    return 0;
}

/* ---- directives ---- */

/* The end of the directive's last line, comments and continuations included. */
static int find_directive_end(const struct lexer *x, size_t *ret)
{
    struct lexer y = *x;
    while (y.at < y.end && peek(&y, 0) != '\n') {
        size_t n = splice(&y);
        char c = peek(&y, 0);
        if (n > 0) {
            y.at += n;
        } else if (c == '/' && (peek(&y, 1) == '/' || peek(&y, 1) == '*')) {
            int rc = skip_comment(&y);
            if (rc < 0)
                return rc;
        } else if (c == '"' || c == '\'') {
            for (y.at++; y.at < y.end && peek(&y, 0) != c && peek(&y, 0) != '\n'; y.at++)
                y.at += peek(&y, 0) == '\\' && peek(&y, 1) != '\n';
            y.at += y.at < y.end && peek(&y, 0) == c;
        } else {
            y.at++;
        }
    }
    *ret = y.at < y.end ? y.at : y.end;
    return 0;
}

static void skip_blanks(struct lexer *x)
{
    while (x->at < x->end) {
        size_t n = splice(x);
        if (n == 0 && peek(x, 0) != ' ' && peek(x, 0) != '\t')
            return;
        x->line += n > 0;
        x->at += n > 0 ? n : 1;
    }
}

static uint32_t take_word(struct lexer *x)
{
    skip_blanks(x);
    size_t start = x->at;
    while (is_name(peek(x, 0)))
        x->at++;
    return x->at == start ? 0 : id_of(x->s, x->s->source + start, x->at - start);
}

static int lex_macro(struct lexer *x, struct split_directive *d)
{
    struct split_tokens *macros = &x->s->macros;
    d->name = take_word(x);
    d->is_function = peek(x, 0) == '(';
    x->out = macros;
    size_t first = macros->n;
    while (x->at < x->end) {
        int rc = lex_one(x);
        if (rc < 0)
            return rc;
    }
    d->body = first;
    d->n_body = macros->n - first;
    if (d->is_function && d->n_body > 0) {
        size_t close = first;
        while (close < macros->n && !split_punct(&macros->v[close], ')'))
            close++;
        if (close == macros->n)
            return split_fail(x->s, d->line, "the parameters of this macro do not end");
        d->params = first + 1;
        d->n_params = close - first - 1;
        d->body = close + 1;
        d->n_body = macros->n - d->body;
    }
    x->at = x->end;
    push(x, SPLIT_END, 0, x->end); /* so that looking one ahead stays inside of the macro */
    return 0;
}

static void lex_include(struct lexer *x, struct split_directive *d)
{
    skip_blanks(x);
    char close = peek(x, 0) == '<' ? '>' : peek(x, 0) == '"' ? '"' : '\0';
    size_t start = x->at + 1;
    if (close == '\0')
        return;
    for (x->at++; x->at < x->end && peek(x, 0) != close;)
        x->at++;
    d->is_system = close == '>';
    d->include = hone_pool_strndup(x->s->pool, x->s->source + start, x->at - start);
}

/* #ifndef NAME, #if !defined(NAME), #if !defined NAME */
static uint32_t guard_name(struct lexer *x, bool is_ifndef)
{
    if (is_ifndef)
        return take_word(x);
    skip_blanks(x);
    if (peek(x, 0) != '!')
        return 0;
    x->at++;
    uint32_t word = take_word(x);
    if (strcmp(x->s->names[word], "defined") != 0)
        return 0;
    skip_blanks(x);
    x->at += peek(x, 0) == '(';
    return take_word(x);
}

static bool is_word(const struct split_state *s, uint32_t id, const char *word)
{
    return id != 0 && strcmp(s->names[id], word) == 0;
}

static void follow_condition(struct lexer *x, const struct split_directive *d, bool *ret_is_zero)
{
    const struct split_state *s = x->s;
    bool is_if = is_word(s, d->word, "if"), is_ifndef = is_word(s, d->word, "ifndef");
    if (is_if || is_ifndef || is_word(s, d->word, "ifdef")) {
        skip_blanks(x);
        *ret_is_zero = is_if && peek(x, 0) == '0' && !is_name(peek(x, 1)) &&
                       strchr(" \t\r\n", peek(x, 1)) != NULL;
        uint32_t name = is_if || is_ifndef ? guard_name(x, is_ifndef) : 0;
        if (x->n_guards < MAX_NESTED_IF)
            x->guards[x->n_guards] = name;
        x->n_guards++;
    } else if (is_word(s, d->word, "endif") && x->n_guards > 0) {
        x->n_guards--;
    }
}

/* From behind #if 0 to its #else, #elif or #endif, which is left to be read. */
static void skip_disabled(struct lexer *x)
{
    size_t depth = 0;
    while (x->at < x->end) {
        struct lexer y = *x;
        while (y.at < y.end && isspace((unsigned char)peek(&y, 0)) && peek(&y, 0) != '\n')
            y.at++;
        if (peek(&y, 0) == '#' || (peek(&y, 0) == '%' && peek(&y, 1) == ':')) {
            y.at += peek(&y, 0) == '#' ? 1 : 2;
            uint32_t word = take_word(&y);
            const char *name = word == 0 ? "" : x->s->names[word];
            if (depth == 0 && (strcmp(name, "endif") == 0 || strncmp(name, "el", 2) == 0))
                return;
            depth += strncmp(name, "if", 2) == 0;
            depth -= strcmp(name, "endif") == 0;
        }
        while (x->at < x->end && peek(x, 0) != '\n')
            x->at++;
        x->at += x->at < x->end;
        x->line++;
    }
}

static int lex_directive(struct lexer *x)
{
    struct split_state *s = x->s;
    struct split_directive d = {.start = x->at, .line = x->line};
    struct lexer y = *x;
    bool is_zero = false;
    int rc = find_directive_end(x, &d.end);
    if (rc < 0)
        return rc;
    y.end = d.end;
    y.at++;
    d.word = take_word(&y);
    if (is_word(s, d.word, "define"))
        rc = lex_macro(&y, &d);
    else if (is_word(s, d.word, "include"))
        lex_include(&y, &d);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < x->n_guards && i < MAX_NESTED_IF && d.name != 0; i++)
        d.is_guarded |= x->guards[i] == d.name;
    struct lexer z = *x;
    z.at = d.start + 1;
    z.end = d.end;
    (void)take_word(&z);
    follow_condition(&z, &d, &is_zero);
    memcpy(x->guards, z.guards, sizeof x->guards);
    x->n_guards = z.n_guards;
    struct split_directive *v =
        split_grow(s, s->directives.v, s->directives.n, &s->cap_directives, sizeof d);
    v[s->directives.n++] = d;
    s->directives.v = v;
    for (size_t i = d.start; i < d.end; i++)
        x->line += s->source[i] == '\n';
    x->at = d.end;
    if (is_zero) {
        while (x->at < x->end && peek(x, 0) != '\n')
            x->at++;
        x->at += x->at < x->end;
        x->line++;
        skip_disabled(x);
    }
    x->is_line_start = true;
    return 0;
}

const struct split_directive *split_macro(const struct split_state *s, uint32_t id)
{
    size_t at = id != 0 && id < s->n_macro_of ? s->macro_of[id] : 0;
    return at == 0 ? NULL : &((const struct split_directive *)s->directives.v)[at - 1];
}

int split_lex(struct split_state *s)
{
    struct lexer x = {.s = s, .end = s->len, .line = 1, .is_line_start = true, .out = &s->tokens};
    while (x.at < x.end) {
        if (x.is_line_start && peek(&x, 0) == '%')
            respell(&x);
        char c = peek(&x, 0);
        int rc;
        if (c == '#' && x.is_line_start) {
            rc = lex_directive(&x);
        } else {
            size_t n = x.out->n;
            rc = lex_one(&x);
            x.is_line_start = c == '\n' || (x.is_line_start && x.out->n == n);
        }
        if (rc < 0)
            return rc;
    }
    push(&x, SPLIT_END, 0, x.end);
    s->tokens.n--;
    s->n_macro_of = s->n_names;
    s->macro_of = hone_pool_alloc(s->pool, (s->n_names + 1) * sizeof *s->macro_of);
    const struct split_directive *d = s->directives.v;
    for (size_t i = 0; i < s->directives.n; i++)
        if (d[i].name != 0)
            s->macro_of[d[i].name] = i + 1;
    return 0;
}
