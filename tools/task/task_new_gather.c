/* SPDX-License-Identifier: Apache-2.0 */
/* One text that compiles alone: the file with its own headers in their places, without functions
 * that the chosen one does not need.
 *
 * Nothing is preprocessed. A header that guards itself, by #pragma once or by #ifndef in front, is
 * put in once. A function is needed when a needed one, a macro or a table names it. */
#include "tools/task/task_new_internal.h"

#include <ctype.h>
#include <string.h>

#include "tools/task/c_tokens.h"
#include "workspace/base/file.h"

enum { MAX_GUARDED = 256, MAX_FUNCTIONS = 4096 };

struct gather {
    struct hone_new_work *w;
    struct hone_buf *buf;
    const char *guarded[MAX_GUARDED]; /* paths of headers that are in */
    size_t n_guarded;
    const char *names; /* of headers, for the note */
};

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t");
}

/* The word behind # at `at`, which begins a line; NULL: the line is no directive of that name. */
static const char *directive(const char *at, const char *name)
{
    at = skip_spaces(at);
    if (*at != '#')
        return NULL;
    at = skip_spaces(at + 1);
    size_t len = strlen(name);
    if (strncmp(at, name, len) != 0 || isalnum((unsigned char)at[len]) || at[len] == '_')
        return NULL;
    return skip_spaces(at + len);
}

static bool has_guard(const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *once = directive(line, "pragma");
        if (once && strncmp(once, "once", 4) == 0)
            return true;
    }
    const char *at = text;
    for (;;) { /* the first words that are no comment */
        at += strspn(at, " \t\n\r");
        const char *end = strncmp(at, "/*", 2) == 0 ? strstr(at, "*/") : NULL;
        if (end)
            at = end + 2;
        else if (strncmp(at, "//", 2) == 0)
            at = hone_c_skip_line(at);
        else
            return directive(at, "ifndef") != NULL;
    }
}

static char *find_header(struct gather *g, const char *dir, const char *name, bool is_quoted)
{
    const struct hone_strs *dirs = &g->w->options->include_dirs;
    for (size_t i = 0; i <= dirs->n; i++) {
        const char *base = i == 0 ? dir : dirs->v[i - 1];
        if (i == 0 && (!is_quoted || dir == NULL))
            continue;
        HONE_AUTOFREE char *path = hone_path_join(base, name, NULL);
        if (hone_file_exists(path))
            return HONE_STEAL(path);
    }
    return NULL;
}

static int add_text(struct gather *g, const char *text, const char *dir, int depth);

static int add_header(struct gather *g, const char *path, const char *name, int depth)
{
    struct hone_new_work *w = g->w;
    HONE_AUTOFREE char *text = NULL;
    size_t len;
    if (depth >= HONE_LIMIT_INCLUDE_DEPTH)
        return hone_fail(w->err, HONE_E_LIMIT, "headers include each other %d deep: %.200s",
                         HONE_LIMIT_INCLUDE_DEPTH, path);
    for (size_t i = 0; i < g->n_guarded; i++)
        if (strcmp(g->guarded[i], path) == 0)
            return 0;
    int code = hone_file_read(path, HONE_LIMIT_SOURCE_BYTES, &text, &len, w->err);
    if (code < 0)
        return code;
    if (has_guard(text)) {
        if (g->n_guarded == MAX_GUARDED)
            return hone_fail(w->err, HONE_E_LIMIT, "more than %d headers", MAX_GUARDED);
        g->guarded[g->n_guarded++] = hone_pool_strdup(w->pool, path);
    }
    const char *slash = strrchr(path, '/');
    HONE_AUTOFREE char *dir = slash ? hone_strndup(path, (size_t)(slash - path)) : hone_strdup(".");
    g->names = hone_pool_printf(w->pool, "%s%s%s", g->names, *g->names ? ", " : "", name);
    hone_buf_printf(g->buf, "/* %s */\n", name);
    code = add_text(g, text, dir, depth + 1);
    hone_buf_str(g->buf, "\n");
    return code;
}

/* The directive at `line` when it includes a header of the user's: adds that and says so. */
static int add_include(struct gather *g, const char *line, const char *dir, int depth,
                       bool *ret_added)
{
    const char *at = directive(line, "include");
    const char *once = directive(line, "pragma");
    *ret_added = once && strncmp(once, "once", 4) == 0;
    if (!at || (*at != '"' && *at != '<'))
        return 0;
    const char *end = strpbrk(at + 1, *at == '"' ? "\"\n" : ">\n");
    if (!end || *end == '\n')
        return 0;
    const char *name = hone_pool_strndup(g->w->pool, at + 1, (size_t)(end - at - 1));
    HONE_AUTOFREE char *path = find_header(g, dir, name, *at == '"');
    if (!path && *at == '"')
        return hone_fail(g->w->err, HONE_E_ARG,
                         "header \"%.200s\" is not found: say -I FOLDER, or leave it out", name);
    *ret_added = path != NULL;
    return path ? add_header(g, path, name, depth) : 0;
}

/* Copies a text line by line; comments and strings are copied as they are. */
static int add_text(struct gather *g, const char *text, const char *dir, int depth)
{
    bool starts_line = true;
    for (const char *at = text; *at;) {
        size_t len = 1;
        bool is_added = false;
        if (starts_line && *skip_spaces(at) == '#') {
            int code = add_include(g, at, dir, depth, &is_added);
            if (code < 0)
                return code;
            len = (size_t)(hone_c_skip_line(at) - at);
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            len = end ? (size_t)(end + 2 - at) : strlen(at);
        } else if (at[0] == '/' && at[1] == '/') {
            len = (size_t)(hone_c_skip_line(at) - at);
        } else if (*at == '"' || *at == '\'') {
            len = (size_t)(hone_c_token_end(at) - at);
        }
        if (!is_added)
            hone_buf_add(g->buf, at, len);
        starts_line = at[len - 1] == '\n' || (starts_line && isspace((unsigned char)*at));
        at += len;
    }
    if (g->buf->len > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail(g->w->err, HONE_E_LIMIT,
                         "the source with its own headers is longer than %u bytes",
                         HONE_LIMIT_SOURCE_BYTES);
    return 0;
}

/* ---- what the function needs ---- */

struct functions {
    struct hone_c_tokens t;
    struct hone_c_definition v[MAX_FUNCTIONS];
    bool is_needed[MAX_FUNCTIONS];
    size_t n;
};

static bool same(const struct hone_c_token *a, const struct hone_c_token *b)
{
    return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

static void need_word(struct functions *f, const struct hone_c_token *word)
{
    for (size_t k = 0; k < f->n; k++)
        if (!f->is_needed[k] && same(word, &f->t.v[f->v[k].name])) {
            f->is_needed[k] = true;
            for (size_t i = f->v[k].first; i < f->v[k].end; i++)
                if (hone_c_is_word(&f->t.v[i]))
                    need_word(f, &f->t.v[i]);
        }
}

/* Words of directives, macros that is. */
static void need_macros(struct functions *f)
{
    for (const char *line = f->t.source; line && *line;) {
        const char *end = hone_c_skip_line(line);
        for (const char *at = skip_spaces(line); *skip_spaces(line) == '#' && at < end;) {
            size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                    "0123456789");
            if (len > 0)
                need_word(f, &(struct hone_c_token){at, len});
            at += len > 0 ? len : 1;
        }
        line = *end ? end + 1 : NULL;
    }
}

/* Words at file scope that no bracket follows: tables of functions. */
static void need_tables(struct functions *f)
{
    size_t k = 0;
    for (size_t i = 0; i + 1 < f->t.n; i++) {
        while (k < f->n && i > f->v[k].end)
            k++;
        if (k < f->n && i >= f->v[k].first)
            continue;
        if (hone_c_is_word(&f->t.v[i]) && !hone_c_is(&f->t.v[i + 1], "("))
            need_word(f, &f->t.v[i]);
    }
}

/* Is the text from..to without directives? */
static bool is_plain_text(const char *from, const char *to)
{
    for (const char *at = from; at < to; at++)
        if (*at == '\n' && *skip_spaces(at + 1) == '#')
            return false;
    return true;
}

/* The declaration first..end (its ;) of a function that is not needed, or of the chosen one. */
static bool is_dropped_declaration(const struct functions *f, size_t first, size_t end,
                                   const char *chosen)
{
    const struct hone_c_token *v = f->t.v;
    size_t open = first;
    while (open < end && !hone_c_is(&v[open], "(") && !hone_c_is(&v[open], "=") &&
           !hone_c_is(&v[open], "{") && !hone_c_is(&v[open], "typedef"))
        open++;
    if (open >= end || open == first || !hone_c_is(&v[open], "(") ||
        hone_c_closing(&f->t, open) + 1 != end)
        return false;
    if (hone_c_is(&v[open - 1], chosen))
        return true;
    for (size_t k = 0; k < f->n; k++)
        if (same(&v[open - 1], &v[f->v[k].name]))
            return !f->is_needed[k];
    return false;
}

static void drop(struct hone_buf *buf, const char **done, const char *from, const char *to)
{
    hone_buf_add(buf, *done, (size_t)(from - *done));
    *done = to;
}

static const char *without_rest(struct hone_new_work *w, struct functions *f, const char *chosen)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const char *done = f->t.source, *names = "";
    size_t k = 0;
    for (size_t first = 0, i = 0; i < f->t.n; i++) {
        if (k < f->n && i == f->v[k].first) {
            const struct hone_c_definition *d = &f->v[k];
            const char *from = f->t.v[d->first].at, *to = f->t.v[d->end].at + 1;
            if (!f->is_needed[k] && is_plain_text(from, to)) {
                drop(&text, &done, from, to);
                names = hone_pool_printf(w->pool, "%s%s%.*s", names, *names ? ", " : "",
                                         (int)f->t.v[d->name].len, f->t.v[d->name].at);
            }
            i = d->end;
            first = i + 1;
            k++;
        } else if (hone_c_is(&f->t.v[i], "{")) {
            i = hone_c_closing(&f->t, i);
        } else if (hone_c_is(&f->t.v[i], ";")) {
            const char *from = f->t.v[first].at, *to = f->t.v[i].at + 1;
            if (is_dropped_declaration(f, first, i, chosen) && is_plain_text(from, to))
                drop(&text, &done, from, to);
            first = i + 1;
        }
    }
    hone_buf_str(&text, done);
    if (*names)
        hone_new_note(
            w, hone_pool_printf(w->pool, "left out, as %s does not need it: %s", chosen, names));
    return hone_pool_strdup(w->pool, text.data ? text.data : "");
}

/* The functions of a text; HONE_E_LIMIT. */
static int read_functions(struct hone_new_work *w, const char *source, struct functions *f)
{
    size_t at = 0;
    int code = hone_c_tokens_read(source, w->pool, &f->t, w->err);
    if (code < 0)
        return code;
    while (f->n < MAX_FUNCTIONS && hone_c_next_definition(&f->t, &at, &f->v[f->n])) {
        if (f->v[f->n].end >= f->t.n)
            return 0; /* the compiler will say what is missing */
        f->n++;
    }
    return f->n < MAX_FUNCTIONS
               ? 0
               : hone_fail(w->err, HONE_E_LIMIT, "more than %d functions", MAX_FUNCTIONS);
}

int hone_new_gather(struct hone_new_work *w)
{
    const struct hone_task_new_options *o = w->options;
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    struct gather g = {.w = w, .buf = &text, .names = ""};
    int code = add_text(&g, o->source, o->source_dir, 0);
    if (code == 0)
        code = hone_buf_check(&text, w->err);
    if (code < 0)
        return code;
    w->source = hone_pool_strdup(w->pool, text.data ? text.data : "");
    if (*g.names)
        hone_new_note(
            w, hone_pool_printf(w->pool, "your headers are part of the kernel: %s", g.names));
    if ((code = hone_prototype_parse(w->source, o->function, w->pool, &w->proto, w->err)) < 0)
        return code;
    struct functions *f = hone_pool_alloc(w->pool, sizeof(*f));
    if ((code = read_functions(w, w->source, f)) < 0)
        return code;
    const struct hone_c_token chosen = {w->proto.name, strlen(w->proto.name)};
    need_word(f, &chosen);
    need_macros(f);
    need_tables(f);
    const char *name = w->proto.name;
    w->source = without_rest(w, f, name);
    w->is_changed = strcmp(w->source, o->source) != 0;
    return hone_prototype_parse(w->source, name, w->pool, &w->proto, w->err);
}
