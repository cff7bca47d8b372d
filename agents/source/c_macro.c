/* SPDX-License-Identifier: Apache-2.0 */
/* The step of the plain form (c_plain.h) that expands macros which the source defines, in its
 * function and in those with pointers that it reaches.
 *
 * Macros that stand for one word or number stay: they are names. So do those with statements, those
 * that paste or print words, and those that are defined twice or for the case that nobody did.
 * One step expands once; a macro inside of an expansion is for the next one. */
#include "agents/source/c_plain.h"

#include <ctype.h>
#include <string.h>

enum { MAX_MACROS = 64, MAX_PARAMS = 8, MAX_BODY = 1000, MAX_FUNCTIONS = 16 };

struct piece {
    const char *at;
    size_t len;
};
struct macro {
    struct piece name, body, params[MAX_PARAMS];
    size_t n_params, n_defined;
    bool has_params, is_name;
};
struct macros {
    struct macro v[MAX_MACROS];
    size_t n;
};

static bool is_same(struct piece a, struct piece b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static struct piece word_at(const char *at)
{
    size_t len = 0;
    while (hone_is_word_char(at[len]))
        len++;
    return (struct piece){at, len};
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static struct macro *find(struct macros *all, struct piece name)
{
    for (size_t i = 0; i < all->n; i++)
        if (is_same(all->v[i].name, name))
            return &all->v[i];
    return NULL;
}

/* Behind '('; NULL: not a list of plain names. */
static const char *read_params(struct macro *m, const char *at)
{
    m->has_params = true;
    for (at = skip_blanks(at + 1); *at != ')'; at = skip_blanks(at)) {
        struct piece p = word_at(at);
        if (p.len == 0 || m->n_params == MAX_PARAMS)
            return NULL;
        m->params[m->n_params++] = p;
        at = skip_blanks(at + p.len);
        if (*at == ',')
            at++;
        else if (*at != ')')
            return NULL;
    }
    return at + 1;
}

/* One word or number, in parentheses or not: a name of its own. */
static bool is_one_word(struct piece body)
{
    while (body.len > 1 && body.at[0] == '(' && body.at[body.len - 1] == ')')
        body = (struct piece){body.at + 1, body.len - 2};
    for (size_t i = 0; i < body.len; i++)
        if (!hone_is_word_char(body.at[i]) && body.at[i] != '.')
            return false;
    return true;
}

static bool holds_word(struct piece body, struct piece word)
{
    for (size_t i = 0; i < body.len;) {
        struct piece w = word_at(body.at + i);
        if (w.len > 0 && is_same(w, word))
            return true;
        i += w.len > 0 ? w.len : 1;
    }
    return false;
}

/* The line behind "#define", in one piece. */
static void read_macro(struct macros *all, const char *line, bool is_fallback)
{
    struct macro m = {.name = word_at(skip_blanks(line)), .n_defined = 1};
    struct macro *known = find(all, m.name);
    if (known || all->n == MAX_MACROS) {
        if (known)
            known->n_defined++;
        return;
    }
    const char *at = m.name.at + m.name.len;
    if (*at == '(')
        at = read_params(&m, at);
    if (at) {
        at = skip_blanks(at);
        m.body = (struct piece){at, strcspn(at, "\n")};
        while (m.body.len > 0 && isspace((unsigned char)at[m.body.len - 1]))
            m.body.len--;
    }
    m.is_name = !at || is_fallback || m.body.len == 0 || m.body.len > MAX_BODY ||
                memchr(m.body.at, '#', m.body.len) || memchr(m.body.at, ';', m.body.len) ||
                memchr(m.body.at, '{', m.body.len) || memchr(m.body.at, '"', m.body.len) ||
                memchr(m.body.at, '\'', m.body.len) || holds_word(m.body, m.name) ||
                (!m.has_params && is_one_word(m.body));
    all->v[all->n++] = m;
}

/* The source without comments, its lines joined where they end with a backslash. */
static char *directives(const struct hone_coder_input *in)
{
    const char *s = in->tree->source;
    char *out = hone_pool_alloc(in->pool, in->tree->len + 1), *to = out;
    while (*s) {
        if (s[0] == '\\' && s[1] == '\n') {
            s += 2;
        } else if (s[0] == '/' && s[1] == '/') {
            s += strcspn(s, "\n");
        } else if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            s = end ? end + 2 : s + strlen(s);
            *to++ = ' ';
        } else {
            *to++ = *s++;
        }
    }
    *to = '\0';
    return out;
}

static void read_macros(const struct hone_coder_input *in, struct macros *all)
{
    struct piece asked = {"", 0}; /* of the #ifndef in the line above */
    for (const char *line = directives(in); *line;) {
        const char *at = skip_blanks(line), *end = line + strcspn(line, "\n");
        if (*at == '#') {
            struct piece word = word_at(skip_blanks(at + 1));
            struct piece name = word_at(skip_blanks(word.at + word.len));
            if (is_same(word, (struct piece){"define", 6}))
                read_macro(all, word.at + word.len, is_same(name, asked));
            struct macro *m = is_same(word, (struct piece){"undef", 5}) ? find(all, name) : NULL;
            if (m)
                m->is_name = true;
            asked = is_same(word, (struct piece){"ifndef", 6}) ? name : (struct piece){"", 0};
        }
        line = *end ? end + 1 : end;
    }
}

/* The arguments behind '('; the offset behind ')', or 0: another number of them. */
static uint32_t read_args(const struct hone_c_tree *t, uint32_t at, const struct macro *m,
                          struct piece *ret)
{
    size_t n = 0;
    int depth = 0;
    uint32_t from = at + 1;
    for (; at < t->len; at++) {
        char c = t->source[at];
        if (c == '"' || c == '\'' || c == '#')
            return 0;
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        bool is_end = depth == 0, is_comma = c == ',' && depth == 1;
        if (!is_end && !is_comma)
            continue;
        if (n == MAX_PARAMS)
            return 0;
        from = hone_c_skip_space(t->source, at, from);
        ret[n++] = (struct piece){t->source + from, at - from};
        from = at + 1;
        if (is_end)
            return n == m->n_params || (m->n_params == 0 && ret[0].len == 0) ? at + 1 : 0;
    }
    return 0;
}

/* - and -1 are two words, -- is one. */
static bool would_join(char last, struct piece next)
{
    return next.len > 0 && last == next.at[0] && strchr("+-&|<>=", last);
}

static const char *expand(const struct hone_coder_input *in, const struct macro *m,
                          const struct piece *args)
{
    struct hone_buf out = HONE_BUF_INIT;
    bool was_arg = false;
    for (size_t i = 0; i < m->body.len;) {
        struct piece w = word_at(m->body.at + i), by = w.len > 0 ? w : (struct piece){w.at, 1};
        i += by.len;
        bool is_arg = false;
        for (size_t p = 0; p < m->n_params && !is_arg; p++)
            if ((is_arg = is_same(m->params[p], w)))
                by = args[p];
        if (out.len > 0 && (is_arg || was_arg) && would_join(out.data[out.len - 1], by))
            hone_buf_str(&out, " ");
        was_arg = is_arg;
        hone_buf_add(&out, by.at, by.len);
    }
    const char *text = hone_pool_strdup(in->pool, out.data ? out.data : "");
    hone_buf_done(&out);
    return text;
}

/* Macros outside of directives, comments and literals in the range. */
static bool expand_in(const struct hone_coder_input *in, struct macros *all, uint32_t at,
                      uint32_t end, struct hone_c_edits *edits)
{
    const char *s = in->tree->source;
    bool any = false;
    while ((at = hone_c_skip_space(s, end, at)) < end) {
        struct piece w = word_at(s + at), args[MAX_PARAMS];
        if (s[at] == '#') {
            at += (uint32_t)strcspn(s + at, "\n");
            continue;
        }
        if (s[at] == '"' || s[at] == '\'') {
            char quote = s[at++];
            for (; at < end && s[at] != quote; at++)
                at += s[at] == '\\';
        }
        const struct macro *m = w.len > 0 ? find(all, w) : NULL;
        uint32_t next = at + (w.len > 0 ? (uint32_t)w.len : 1), open;
        if (m && !m->is_name && m->n_defined == 1) {
            open = hone_c_skip_space(s, end, next);
            uint32_t close = !m->has_params   ? next
                             : s[open] == '(' ? read_args(in->tree, open, m, args)
                                              : 0;
            if (close > 0) {
                const char *text = expand(in, m, args);
                struct piece made = {text, strlen(text)};
                hone_c_replace(edits, at, close,
                               hone_pool_printf(in->pool, "%s%s",
                                                would_join(s[at - 1], made) ? " " : "", text));
                any = true;
                next = close;
            }
        }
        at = next;
    }
    return any;
}

bool hone_c_macro_step(const struct hone_coder_input *in, struct hone_c_edits *edits)
{
    struct macros *all = hone_pool_alloc(in->pool, sizeof(*all));
    const struct hone_c_node *reached[MAX_FUNCTIONS];
    size_t n = hone_c_reached(in->tree, in->nest.function, reached, MAX_FUNCTIONS);
    bool any = false;
    all->n = 0;
    read_macros(in, all);
    for (const struct hone_c_node *d = in->tree->root->first; d; d = d->next) {
        struct macro *m = find(all, (struct piece){d->name, strlen(d->name)});
        if (m) /* its #define is in a part that is not compiled */
            m->is_name = true;
    }
    for (size_t i = 0; i < n && all->n > 0; i++)
        if (i == 0 || strpbrk(reached[i]->type, "*["))
            any |= expand_in(in, all, reached[i]->body->begin, reached[i]->body->end, edits);
    return any;
}
