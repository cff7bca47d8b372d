/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, then definitions at brace depth 0: words, name, ( ... ), {.
 *
 * A token is a word, a number, or one character; the reader never looks inside function bodies
 * except to match braces. */
#include "tools/task/prototype.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "workspace/base/buf.h"

enum { MAX_TOKENS = 200000, MAX_LISTED = 16 };

struct token {
    const char *at;
    size_t len;
};

struct tokens {
    const char *source;
    struct token *v;
    size_t n;
};

static const char *skip_string(const char *at)
{
    char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

static const char *skip_line(const char *at)
{
    while (*at && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return at;
}

/* Past blanks, comments and preprocessor lines. */
static const char *skip_blank(const char *at, const char *source)
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
            at = skip_line(at);
        } else if (*at == '#' && starts_line) {
            at = skip_line(at);
        } else {
            return at;
        }
    }
}

static const char *token_end(const char *at)
{
    if (isalpha((unsigned char)*at) || *at == '_' || isdigit((unsigned char)*at)) {
        while (isalnum((unsigned char)*at) || *at == '_')
            at++;
        return at;
    }
    return *at == '"' || *at == '\'' ? skip_string(at) : at + 1;
}

static int tokenise(const char *source, struct hone_pool *pool, struct tokens *ret,
                    struct hone_err *err)
{
    size_t n = 0;
    for (const char *at = skip_blank(source, source); *at; at = skip_blank(token_end(at), source))
        n++;
    if (n > MAX_TOKENS)
        return hone_fail(err, HONE_E_LIMIT, "the source has more than %d words", MAX_TOKENS);
    ret->source = source;
    ret->v = hone_pool_alloc(pool, (n + 1) * sizeof(*ret->v));
    ret->n = 0;
    for (const char *at = skip_blank(source, source); *at; at = skip_blank(token_end(at), source))
        ret->v[ret->n++] = (struct token){at, (size_t)(token_end(at) - at)};
    return 0;
}

static bool is(const struct token *t, const char *text)
{
    return t->len == strlen(text) && memcmp(t->at, text, t->len) == 0;
}

static bool is_word(const struct token *t)
{
    return t->len > 0 && (isalpha((unsigned char)*t->at) || *t->at == '_');
}

static int line_at(const char *source, const char *at)
{
    int line = 1;
    for (const char *c = source; c < at; c++)
        line += *c == '\n';
    return line;
}

/* Index of the token that closes the bracket at `i`; n when none does. */
static size_t closing(const struct tokens *t, size_t i)
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

static const struct {
    const char *words;
    enum hone_dtype dtype;
} types[] = {
    {"float", HONE_DTYPE_F32},     {"double", HONE_DTYPE_F64},
    {"int8_t", HONE_DTYPE_I8},     {"signed char", HONE_DTYPE_I8},
    {"int", HONE_DTYPE_I32},       {"int32_t", HONE_DTYPE_I32},
    {"unsigned", HONE_DTYPE_I32},  {"unsigned int", HONE_DTYPE_I32},
    {"uint32_t", HONE_DTYPE_I32},  {"int64_t", HONE_DTYPE_I64},
    {"long", HONE_DTYPE_I64},      {"long int", HONE_DTYPE_I64},
    {"long long", HONE_DTYPE_I64}, {"unsigned long", HONE_DTYPE_I64},
    {"uint64_t", HONE_DTYPE_I64},  {"size_t", HONE_DTYPE_I64},
    {"ssize_t", HONE_DTYPE_I64},   {"ptrdiff_t", HONE_DTYPE_I64},
    {"bool", HONE_DTYPE_BOOL},     {"_Bool", HONE_DTYPE_BOOL},
    {"uint8_t", HONE_DTYPE_U8},    {"unsigned char", HONE_DTYPE_U8},
};

static bool type_of(const char *words, enum hone_dtype *ret)
{
    for (size_t i = 0; i < HONE_COUNTOF(types); i++) {
        if (strcmp(types[i].words, words) == 0) {
            *ret = types[i].dtype;
            return true;
        }
    }
    return false;
}

static bool is_ignored(const struct token *t)
{
    static const char *const words[] = {"restrict", "__restrict", "__restrict__",
                                        "volatile", "register",   "extern",
                                        "inline",   "__inline",   "static"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (is(t, words[i]))
            return true;
    return false;
}

struct reader {
    const struct tokens *t;
    struct hone_pool *pool;
    struct hone_err *err;
};

static int refuse(const struct reader *r, size_t i, const char *what)
{
    const char *at = i < r->t->n ? r->t->v[i].at : r->t->source + strlen(r->t->source);
    return hone_fail(r->err, HONE_E_ARG, "line %d: %s", line_at(r->t->source, at), what);
}

static int read_dims(const struct reader *r, size_t i, size_t end, struct hone_param *param)
{
    while (i < end) {
        size_t close = is(&r->t->v[i], "[") ? closing(r->t, i) : end;
        if (close >= end)
            return refuse(
                r, i, "a parameter is not understood: write type, name and array dimensions only");
        if (param->n_dims == HONE_LIMIT_RANK)
            return refuse(r, i, "too many array dimensions");
        size_t first = i + 1;
        while (first < close && (is_ignored(&r->t->v[first]) || is(&r->t->v[first], "const")))
            first++;
        const struct token *a = &r->t->v[first], *b = &r->t->v[close];
        param->dims[param->n_dims++] = hone_pool_strndup(r->pool, a->at, (size_t)(b->at - a->at));
        param->is_pointer = true;
        i = close + 1;
    }
    return 0;
}

/* Tokens first..end-1 are one parameter. */
static int read_param(const struct reader *r, size_t first, size_t end, struct hone_param *param)
{
    const char *type = "";
    size_t i = first;
    int n_stars = 0;
    *param = (struct hone_param){.name = NULL};
    for (; i < end && !is(&r->t->v[i], "["); i++) {
        const struct token *t = &r->t->v[i];
        bool is_last = i + 1 == end || is(&r->t->v[i + 1], "[");
        if (is(t, "*"))
            n_stars++;
        else if (is(t, "const"))
            param->is_const = param->is_const || n_stars == 0;
        else if (!is_word(t))
            return refuse(r, i,
                          "a parameter is not understood: plain numbers and pointers to them are");
        else if (is_last && (*type || n_stars))
            param->name = hone_pool_strndup(r->pool, t->at, t->len);
        else if (!is_ignored(t))
            type =
                hone_pool_printf(r->pool, "%s%s%.*s", type, *type ? " " : "", (int)t->len, t->at);
    }
    param->type = type;
    param->is_pointer = n_stars == 1;
    if (!param->name)
        return refuse(r, first, "a parameter has no name");
    if (n_stars > 1)
        return refuse(r, first, "a pointer to a pointer: pass matrices as one contiguous array");
    if (!type_of(type, &param->dtype))
        return hone_fail(r->err, HONE_E_ARG,
                         "line %d: type '%.60s' of '%.60s' is not known: float, double, int8_t, "
                         "uint8_t, unsigned char, int, int32_t, int64_t, "
                         "long, size_t and bool are",
                         line_at(r->t->source, r->t->v[first].at), type, param->name);
    return read_dims(r, i, end, param);
}

static int read_params(const struct reader *r, size_t open, size_t close,
                       struct hone_prototype *ret)
{
    size_t first = open + 1;
    ret->n_params = 0;
    if (close == first || (close == first + 1 && is(&r->t->v[first], "void")))
        return 0;
    for (size_t i = first; i <= close; i++) {
        if (i < close && is(&r->t->v[i], "[")) {
            i = closing(r->t, i);
            continue;
        }
        if (i < close && !is(&r->t->v[i], ","))
            continue;
        if (ret->n_params == HONE_COUNTOF(ret->params))
            return refuse(r, i, "too many parameters");
        int code = read_param(r, first, i, &ret->params[ret->n_params]);
        if (code < 0)
            return code;
        ret->n_params++;
        first = i + 1;
    }
    return 0;
}

struct definition {
    size_t first, name, open, close; /* tokens */
    bool is_static;
};

/* The next definition at or after token *at; false at the end. */
static bool next_definition(const struct tokens *t, size_t *at, struct definition *ret)
{
    size_t first = *at;
    for (size_t i = *at; i < t->n; i++) {
        if (is(&t->v[i], ";")) {
            first = i + 1;
        } else if (is(&t->v[i], "{")) {
            i = closing(t, i);
            first = i + 1;
        } else if (is(&t->v[i], "(")) {
            size_t close = closing(t, i);
            bool is_definition =
                close + 1 < t->n && is(&t->v[close + 1], "{") && i > first && is_word(&t->v[i - 1]);
            if (is_definition) {
                *ret = (struct definition){first, i - 1, i, close, false};
                for (size_t k = first; k < i; k++)
                    ret->is_static = ret->is_static || is(&t->v[k], "static");
                size_t end = closing(t, close + 1);
                *at = end < t->n ? end + 1 : t->n;
                return true;
            }
            i = close;
        }
    }
    return false;
}

static int read_return_type(const struct reader *r, const struct definition *d,
                            struct hone_prototype *ret)
{
    const char *type = "";
    for (size_t i = d->first; i < d->name; i++) {
        if (is(&r->t->v[i], "*"))
            return refuse(
                r, i, "the function returns a pointer: results go to non-const pointer parameters");
        if (is_word(&r->t->v[i]) && !is_ignored(&r->t->v[i]) && !is(&r->t->v[i], "const"))
            type = hone_pool_printf(r->pool, "%s%s%.*s", type, *type ? " " : "",
                                    (int)r->t->v[i].len, r->t->v[i].at);
    }
    ret->returns_void = strcmp(type, "void") == 0;
    if (!ret->returns_void && !type_of(type, &ret->return_dtype))
        return refuse(r, d->first, "the return type is not known: void or a plain number");
    return 0;
}

static int choose(const struct reader *r, const char *function, struct definition *ret)
{
    struct definition d;
    const char *known = "";
    size_t at = 0, n_found = 0, n_listed = 0;
    while (next_definition(r->t, &at, &d)) {
        const struct token *name = &r->t->v[d.name];
        if (n_listed++ < MAX_LISTED)
            known = hone_pool_printf(r->pool, "%s%s%.*s", known, *known ? ", " : "", (int)name->len,
                                     name->at);
        if (function ? is(name, function) : !d.is_static) {
            *ret = d;
            n_found++;
        }
    }
    if (n_found == 1)
        return 0;
    if (n_found > 1)
        return hone_fail(r->err, HONE_E_ARG,
                         "the source defines several functions (%.200s): name one", known);
    return hone_fail(r->err, HONE_E_NOT_FOUND, "no definition of %s; the source defines: %.200s",
                     function ? function : "a function that is not static",
                     *known ? known : "nothing");
}

int hone_prototype_parse(const char *source, const char *function, struct hone_pool *pool,
                         struct hone_prototype *ret, struct hone_err *err)
{
    struct tokens tokens;
    struct definition d = {.first = 0};
    struct hone_prototype p = {.name = NULL};
    int code = tokenise(source, pool, &tokens, err);
    struct reader r = {.t = &tokens, .pool = pool, .err = err};
    if (code == 0)
        code = choose(&r, function, &d);
    if (code < 0)
        return code;
    const struct token *name = &tokens.v[d.name];
    p.name = hone_pool_strndup(pool, name->at, name->len);
    p.line = line_at(source, name->at);
    p.name_offset = (size_t)(name->at - source);
    if ((code = read_return_type(&r, &d, &p)) < 0 ||
        (code = read_params(&r, d.open, d.close, &p)) < 0)
        return code;
    *ret = p;
    return 0;
}

char *hone_prototype_rename(const char *source, const char *from, const char *to)
{
    struct hone_buf buf = HONE_BUF_INIT;
    const char *done = source;
    for (const char *at = skip_blank(source, source); *at; at = skip_blank(token_end(at), source)) {
        struct token t = {at, (size_t)(token_end(at) - at)};
        if (!is(&t, from))
            continue;
        hone_buf_add(&buf, done, (size_t)(at - done));
        hone_buf_str(&buf, to);
        done = at + t.len;
    }
    hone_buf_str(&buf, done);
    return hone_buf_steal(&buf);
}

static bool has_token(const struct tokens *t, size_t first, size_t end, const char *word)
{
    for (size_t i = first; i < end; i++)
        if (is(&t->v[i], word))
            return true;
    return false;
}

/* Is the word the name of a function that the source defines and that is not static? */
static bool is_open_function(const struct tokens *t, const struct token *name)
{
    struct definition d;
    size_t at = 0;
    while (next_definition(t, &at, &d))
        if (!d.is_static && t->v[d.name].len == name->len &&
            memcmp(t->v[d.name].at, name->at, name->len) == 0)
            return true;
    return false;
}

/* Token of the function's name in the declaration or definition first..end-1; end: none. */
static size_t declared_name(const struct tokens *t, size_t first, size_t end)
{
    for (size_t i = first + 1; i + 1 < end; i++) {
        if (is(&t->v[i], "="))
            return end;
        if (is_word(&t->v[i]) && is(&t->v[i + 1], "(") && is_open_function(t, &t->v[i]))
            return i;
        if (is(&t->v[i], "("))
            i = closing(t, i);
    }
    return end;
}

int hone_prototype_make_static(const char *source, const char *except, struct hone_pool *pool,
                               const char **ret_source, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    struct tokens t;
    const char *done = source;
    int code = tokenise(source, pool, &t, err);
    if (code < 0)
        return code;
    for (size_t first = 0, i = 0; i < t.n; i++) {
        bool is_body = is(&t.v[i], "{");
        if (!is_body && !is(&t.v[i], ";"))
            continue;
        size_t name = declared_name(&t, first, i + 1);
        bool is_ours = name < i + 1 && !has_token(&t, first, name, "static") &&
                       !has_token(&t, first, name, "typedef") &&
                       !has_token(&t, first, name, "extern") &&
                       (except == NULL || !is(&t.v[name], except));
        if (is_ours) {
            hone_buf_add(&text, done, (size_t)(t.v[first].at - done));
            hone_buf_str(&text, "static ");
            done = t.v[first].at;
        }
        if (is_body)
            i = closing(&t, i);
        first = i + 1;
    }
    hone_buf_str(&text, done);
    code = hone_buf_check(&text, err);
    if (code == 0)
        *ret_source = hone_pool_strdup(pool, text.data);
    return code;
}

const char *hone_prototype_params_text(const char *source, const struct hone_prototype *prototype,
                                       struct hone_pool *pool)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const char *at = source + prototype->name_offset + strlen(prototype->name);
    const char *open = strchr(at, '(');
    int depth = 0;
    for (at = skip_blank(open, source); *at; at = skip_blank(token_end(at), source)) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth == 0)
            break;
        const char *end = token_end(at);
        bool is_spaced = at > open + 1 && text.len > 0 && isspace((unsigned char)at[-1]);
        hone_buf_printf(&text, "%s%.*s", is_spaced ? " " : "", at == open ? 0 : (int)(end - at),
                        at);
    }
    return hone_pool_strdup(pool, text.data != NULL ? text.data : "");
}
