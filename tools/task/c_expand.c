/* SPDX-License-Identifier: Apache-2.0 */
/* First all #define lines are read, then the text is copied word by word with their bodies in the
 * places of their names, to a depth of 16. A source that makes more than 200,000 words is refused.
 * At last brackets around single names go. */
#include "tools/task/c_expand.h"

#include <string.h>

enum { MAX_MACROS = 512, MAX_PARAMS = 8, MAX_DEPTH = 16, MAX_WORDS = 200000 };

struct macro {
    struct hone_c_token name;
    struct hone_c_token params[MAX_PARAMS];
    size_t n_params;
    bool has_params;
    struct hone_c_token *body;
    size_t n_body;
};

struct expansion {
    struct hone_pool *pool;
    struct macro macros[MAX_MACROS];
    size_t n_macros;
    struct hone_c_token *v;
    size_t n, room, n_expanded;
};

static bool is_same(const struct hone_c_token *a, const struct hone_c_token *b)
{
    return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

static bool next_in_line(const char **at, const char *end, const char *source,
                         struct hone_c_token *ret)
{
    for (*at = hone_c_skip_blank(*at, source); *at < end && **at == '\\'; (*at)++)
        *at = hone_c_skip_blank(*at + 1, source) - 1;
    if (*at >= end)
        return false;
    *ret = (struct hone_c_token){*at, (size_t)(hone_c_token_end(*at) - *at)};
    *at += ret->len;
    return true;
}

static bool read_params(struct macro *m, const char **at, const char *end, const char *source)
{
    struct hone_c_token t;
    while (next_in_line(at, end, source, &t)) {
        if (hone_c_is(&t, ")"))
            return true;
        if (hone_c_is(&t, ","))
            continue;
        if (!hone_c_is_word(&t) || m->n_params == MAX_PARAMS)
            return false;
        m->params[m->n_params++] = t;
    }
    return false;
}

/* The line behind "#define". */
static void read_macro(struct expansion *x, const char *at, const char *end, const char *source)
{
    struct macro *m = &x->macros[x->n_macros];
    struct hone_c_token t;
    *m = (struct macro){.n_params = 0};
    if (x->n_macros == MAX_MACROS || !next_in_line(&at, end, source, &m->name) ||
        !hone_c_is_word(&m->name))
        return;
    for (size_t i = 0; i < x->n_macros; i++)
        if (is_same(&x->macros[i].name, &m->name))
            return;
    m->has_params = *at == '(';
    if (m->has_params) {
        at++;
        if (!read_params(m, &at, end, source))
            return;
    }
    m->body = hone_pool_alloc(x->pool, ((size_t)(end - at) + 1) * sizeof(*m->body));
    while (next_in_line(&at, end, source, &t))
        m->body[m->n_body++] = t;
    x->n_macros++;
}

static void read_macros(struct expansion *x, const char *source)
{
    for (const char *line = source; *line;) {
        const char *end = hone_c_skip_line(line), *at = line + strspn(line, " \t");
        if (*at == '#') {
            at += 1 + strspn(at + 1, " \t");
            if (strncmp(at, "define", 6) == 0 && (at[6] == ' ' || at[6] == '\t'))
                read_macro(x, at + 6, end, source);
        }
        line = *end ? end + 1 : end;
    }
}

static int push(struct expansion *x, const struct hone_c_token *t, struct hone_err *err)
{
    if (x->n == MAX_WORDS)
        return hone_fail(err, HONE_E_LIMIT, "the source has more than %d words", MAX_WORDS);
    if (x->n == x->room) {
        struct hone_c_token *old = x->v;
        x->room = x->room ? 2 * x->room : 1024;
        x->v = hone_pool_alloc(x->pool, (x->room + 1) * sizeof(*x->v));
        if (x->n > 0)
            memcpy(x->v, old, x->n * sizeof(*x->v));
    }
    x->v[x->n++] = *t;
    return 0;
}

static const struct macro *find_macro(const struct expansion *x, const struct hone_c_token *t)
{
    for (size_t i = 0; i < x->n_macros; i++)
        if (is_same(&x->macros[i].name, t))
            return &x->macros[i];
    return NULL;
}

static int add_words(struct expansion *x, const struct hone_c_tokens *t, int depth,
                     struct hone_err *err);

/* The macro's body with the words of the call at `open` for its parameters. */
static int add_macro(struct expansion *x, const struct macro *m, const struct hone_c_tokens *t,
                     size_t open, size_t close, int depth, struct hone_err *err)
{
    struct hone_c_tokens args[MAX_PARAMS] = {{.n = 0}}, body = {.source = t->source};
    size_t n_args = 0, room = m->n_body + 1;
    int nesting = 0;
    for (size_t i = open + 1, first = i; m->has_params && i <= close && n_args < MAX_PARAMS; i++) {
        bool is_end = i == close || (nesting == 0 && hone_c_is(&t->v[i], ","));
        nesting += hone_c_is(&t->v[i], "(") - hone_c_is(&t->v[i], ")");
        if (!is_end)
            continue;
        args[n_args++] = (struct hone_c_tokens){t->source, t->v + first, i - first};
        first = i + 1;
    }
    for (size_t i = 0; i < m->n_body; i++)
        for (size_t p = 0; p < m->n_params; p++)
            room += is_same(&m->body[i], &m->params[p]) ? args[p].n : 0;
    if (room > MAX_WORDS || ++x->n_expanded > MAX_WORDS)
        return hone_fail(err, HONE_E_LIMIT, "the macros of the source make more than %d words",
                         MAX_WORDS);
    body.v = hone_pool_alloc(x->pool, (room + 1) * sizeof(*body.v));
    for (size_t i = 0; i < m->n_body; i++) {
        size_t p = 0;
        while (p < m->n_params && !is_same(&m->body[i], &m->params[p]))
            p++;
        if (p == m->n_params) {
            body.v[body.n++] = m->body[i];
            continue;
        }
        if (args[p].n > 0)
            memcpy(body.v + body.n, args[p].v, args[p].n * sizeof(*body.v));
        body.n += args[p].n;
    }
    return add_words(x, &body, depth + 1, err);
}

static int add_words(struct expansion *x, const struct hone_c_tokens *t, int depth,
                     struct hone_err *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < t->n; i++) {
        const struct macro *m = depth < MAX_DEPTH ? find_macro(x, &t->v[i]) : NULL;
        bool is_call = i + 1 < t->n && hone_c_is(&t->v[i + 1], "(");
        size_t close = m && m->has_params && is_call ? hone_c_closing(t, i + 1) : i;
        if (!m || (m->has_params && !is_call) || close >= t->n) {
            code = push(x, &t->v[i], err);
            continue;
        }
        code = add_macro(x, m, t, i + 1, close, depth, err);
        i = close;
    }
    return code;
}

/* Is the word in brackets a name, not a cast or what a call is given? `before`: the word in front of
 * the brackets; `behind`: the one behind them. */
static bool is_bracketed_name(const struct hone_c_token *before, const struct hone_c_token *name,
                              const struct hone_c_token *behind)
{
    bool is_call =
        (hone_c_is_word(before) && !hone_c_is(before, "return")) || hone_c_is(before, "]");
    return hone_c_is_word(name) && !is_call && behind->len == 1 && strchr("[+,);=]", *behind->at);
}

/* (name)[i] is name[i]: macros put brackets around their parameters. */
static void drop_brackets(struct expansion *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        bool is_name = hone_c_is(&x->v[i], ")") && n > 2 && i + 1 < x->n &&
                       hone_c_is(&x->v[n - 2], "(") &&
                       is_bracketed_name(&x->v[n - 3], &x->v[n - 1], &x->v[i + 1]);
        if (is_name) {
            x->v[n - 2] = x->v[n - 1];
            n--;
        } else {
            x->v[n++] = x->v[i];
        }
    }
    x->n = n;
}

int hone_c_expand(const char *source, struct hone_pool *pool, struct hone_c_tokens *ret,
                  struct hone_err *err)
{
    struct expansion *x = hone_pool_alloc(pool, sizeof(*x));
    struct hone_c_tokens plain;
    x->pool = pool;
    int code = hone_c_tokens_read(source, pool, &plain, err);
    if (code < 0)
        return code;
    read_macros(x, source);
    if ((code = add_words(x, &plain, 0, err)) < 0)
        return code;
    drop_brackets(x);
    *ret = (struct hone_c_tokens){source, x->v, x->n};
    return 0;
}
