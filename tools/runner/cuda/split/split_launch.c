/* SPDX-License-Identifier: Apache-2.0 */
/* What changes inside of the host text: kernels' bodies become stubs, launches become calls. */
#include <string.h>

#include "tools/runner/cuda/split/split_internal.h"

#define MAX_CONFIG 4
#define MAX_SHOWN  40 /* of an argument's text, for messages */

static const struct split_tokens *stream(const struct split_state *s, bool is_in_macro)
{
    return is_in_macro ? &s->macros : &s->tokens;
}

/* The source between two offsets on one line, blanks pressed together. */
static const char *flat(const struct split_state *s, size_t start, size_t end)
{
    char *text = hone_pool_strndup(s->pool, s->source + start, end - start);
    size_t n = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        bool is_blank = strchr(" \t\r\n\\", text[i]) != NULL;
        if (!is_blank)
            text[n++] = text[i];
        else if (n > 0 && text[n - 1] != ' ')
            text[n++] = ' ';
    }
    while (n > 0 && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
    return text;
}

struct split_edit *split_edit(struct split_state *s, size_t at, const char *text)
{
    s->edits = split_grow(s, s->edits, s->n_edits, &s->cap_edits, sizeof *s->edits);
    struct split_edit *edit = &s->edits[s->n_edits];
    *edit = (struct split_edit){.at = at, .text = text, .order = s->n_edits};
    s->n_edits++;
    return edit;
}

static void insert(struct split_state *s, size_t at, const char *text)
{
    (void)split_edit(s, at, text);
}

/* The end of one argument that begins at `at`: a comma at depth 0, or `end`. */
static size_t argument_end(const struct split_tokens *t, size_t at, size_t end, bool has_angles)
{
    for (size_t i = at; i < end; i++) {
        size_t close = i;
        if (split_punct(&t->v[i], ','))
            return i;
        if (split_punct(&t->v[i], '(') || split_punct(&t->v[i], '[') || split_punct(&t->v[i], '{'))
            close = split_close(t, i, end);
        else if (split_punct(&t->v[i], '<') && has_angles)
            close = split_close_angle(t, i, end);
        if (close != SIZE_MAX)
            i = close;
    }
    return end;
}

/* ---- parameters of kernels ---- */

static bool is_type_word(const struct split_state *s, const struct split_token *t)
{
    static const char *const words[] = {"void",  "bool",   "char",     "short",  "int", "long",
                                        "float", "double", "unsigned", "signed", "auto"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (split_is(s, t, words[i]))
            return true;
    return false;
}

static bool is_decoration(const struct split_state *s, const struct split_token *t)
{
    static const char *const words[] = {
        "const", "volatile", "__restrict__", "__restrict", "restrict",          "struct",  "class",
        "enum",  "typename", "union",        "register",   "__grid_constant__", "template"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (split_is(s, t, words[i]))
            return true;
    return false;
}

/* The name of the parameter in [first, end), SIZE_MAX when it has none; *ret_stop is where one
 * would go. */
static size_t param_name(const struct split_state *s, const struct split_tokens *t, size_t first,
                         size_t end, size_t *ret_stop)
{
    size_t stop = end, n_types = 0, declarator = SIZE_MAX;
    for (size_t i = first; i < end; i++) {
        if (split_punct(&t->v[i], '(')) {
            /* type (*name)(...), type (&name)[n] */
            bool is_declarator =
                i + 2 < end && (split_punct(&t->v[i + 1], '*') || split_punct(&t->v[i + 1], '&'));
            size_t close = split_close(t, i, end);
            if (is_declarator && declarator == SIZE_MAX && t->v[i + 2].kind == SPLIT_NAME)
                declarator = i + 2;
            i = close == SIZE_MAX ? end : close;
        } else if (split_punct(&t->v[i], '<')) {
            size_t close = split_close_angle(t, i, end);
            i = close == SIZE_MAX ? i : close;
        } else if (split_punct(&t->v[i], '=') || split_punct(&t->v[i], '[')) {
            stop = split_punct(&t->v[i], '[') && declarator != SIZE_MAX ? stop : i;
            if (split_punct(&t->v[i], '=') || declarator == SIZE_MAX)
                break;
        }
    }
    *ret_stop = stop;
    if (declarator != SIZE_MAX)
        return declarator;
    if (stop == first || t->v[stop - 1].kind != SPLIT_NAME)
        return SIZE_MAX;
    size_t last = stop - 1;
    if (is_decoration(s, &t->v[last]) || is_type_word(s, &t->v[last]) ||
        (last > first && split_punct(&t->v[last - 1], SPLIT_SCOPE)))
        return SIZE_MAX;
    for (size_t i = first; i < last; i++) {
        bool is_name = t->v[i].kind == SPLIT_NAME && !is_decoration(s, &t->v[i]);
        n_types += is_name || split_punct(&t->v[i], '>');
    }
    return n_types > 0 ? last : SIZE_MAX;
}

struct stub {
    struct hone_buf names, text;
    size_t n;
};

struct params { /* of one kernel */
    const struct split_tokens *t;
    bool is_shared_text;
    struct stub *stub;
    struct hone_split_kernel *kernel;
    size_t cap;
};

static int add_param(struct split_state *s, struct params *p, size_t first, size_t end)
{
    const struct split_tokens *t = p->t;
    struct stub *stub = p->stub;
    struct hone_split_kernel *kernel = p->kernel;
    size_t stop = end, name = param_name(s, t, first, end, &stop);
    bool is_pack = false, has_default = stop < end && split_punct(&t->v[stop], '=');
    for (size_t i = first; i < stop; i++)
        is_pack |= split_punct(&t->v[i], SPLIT_DOTS);
    size_t text_end = stop < end && split_punct(&t->v[stop], '=') ? stop : end;
    struct hone_split_param param = {.text = flat(s, t->v[first].start, t->v[text_end - 1].end),
                                     .is_optional = is_pack || has_default};
    struct hone_split_param *v =
        split_grow(s, kernel->params.v, kernel->params.n, &p->cap, sizeof param);
    v[kernel->params.n++] = param;
    kernel->params.v = v;
    stub->n++;
    if (name == SIZE_MAX && p->is_shared_text)
        return split_fail(s, t->v[first].line, "give this parameter ('%s') a name", param.text);
    hone_buf_str(&stub->names, ", ");
    if (name == SIZE_MAX) {
        const char *made = hone_pool_printf(s->pool, " hone_p%zu", stub->n);
        insert(s, t->v[stop - 1].end, made);
        hone_buf_str(&stub->names, made);
    } else {
        hone_buf_add(&stub->names, s->source + t->v[name].start, t->v[name].end - t->v[name].start);
    }
    hone_buf_str(&stub->names, is_pack ? "..." : "");
    hone_buf_str(&stub->text, stub->n > 1 ? "|" : "");
    for (const char *c = param.text; *c != '\0'; c++)
        hone_buf_printf(&stub->text, "%c", strchr("\"\\|", *c) != NULL ? ' ' : *c);
    return 0;
}

static int add_params(struct split_state *s, struct params *p, size_t open, size_t close)
{
    const struct split_tokens *t = p->t;
    bool is_void = close == open + 2 && split_is(s, &t->v[open + 1], "void");
    for (size_t at = open + 1; at < close && !is_void;) {
        size_t end = argument_end(t, at, close, true);
        if (end == at)
            return split_fail(s, t->v[at].line, "a parameter is missing here");
        int rc = add_param(s, p, at, end);
        if (rc < 0)
            return rc;
        at = end + 1;
    }
    return 0;
}

/* The last parentheses of a macro that is a kernel's head. */
static bool macro_params(const struct split_state *s, uint32_t name, size_t *ret_open,
                         size_t *ret_close)
{
    const struct split_directive *macro = split_macro(s, name);
    size_t end = macro == NULL ? 0 : macro->body + macro->n_body;
    if (macro == NULL || macro->n_body == 0 || !split_punct(&s->macros.v[end - 1], ')'))
        return false;
    for (size_t i = macro->body; i < end; i++) {
        if (!split_punct(&s->macros.v[i], '('))
            continue;
        size_t close = split_close(&s->macros, i, end);
        if (close == SIZE_MAX)
            return false;
        *ret_open = i;
        *ret_close = close;
        i = close;
    }
    return *ret_close == end - 1;
}

static int add_stub(struct split_state *s, const struct split_item *item)
{
    const struct split_tokens *t = stream(s, item->is_in_macro);
    HONE_CLEANUP(hone_buf_done) struct hone_buf names = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    struct stub stub = {0};
    size_t open = item->params_first, close = item->params_last, body = item->body_first;
    bool is_shared_text = open == close;
    struct hone_split_kernel kernel = {.name = s->names[item->name],
                                       .line = t->v[item->name_token].line,
                                       .is_template = item->is_template,
                                       .is_static = item->is_static,
                                       .is_in_macro = item->is_in_macro};
    if (is_shared_text && !macro_params(s, item->name, &open, &close))
        return split_fail(s, kernel.line,
                          "the parameters of kernel '%s' were not found in its "
                          "macro. fix: write kernels without macros around their parameters",
                          kernel.name);
    struct params params = {.t = is_shared_text ? &s->macros : t,
                            .is_shared_text = is_shared_text,
                            .stub = &stub,
                            .kernel = &kernel};
    int rc = add_params(s, &params, open, close);
    names = stub.names;
    text = stub.text;
    if (rc < 0)
        return rc;
    split_edit(s, t->v[body].end,
               hone_pool_printf(s->pool, " ::hone_stub(hone_here(), \"%s\"%s); ",
                                text.data == NULL ? "" : text.data,
                                names.data == NULL ? "" : names.data))
        ->is_stub = true;
    split_blank(s, s->host, t->v[body].end, t->v[item->body_last].start);
    struct hone_array *kernels = &s->ret->kernels;
    struct hone_split_kernel *v =
        split_grow(s, kernels->v, kernels->n, &s->cap_kernels, sizeof kernel);
    v[kernels->n++] = kernel;
    kernels->v = v;
    return 0;
}

int split_kernels(struct split_state *s)
{
    const struct split_item *items = s->items.v;
    int rc = 0;
    for (size_t i = 0; i < s->items.n && rc == 0; i++)
        if (items[i].kind == SPLIT_FUNCTION && items[i].is_global)
            rc = add_stub(s, &items[i]);
    return rc;
}

/* ---- launches ---- */

struct launch {
    const struct split_tokens *t;
    size_t begin, end; /* of the text that it stands in */
    size_t open3, close3;
    size_t name, args, args_close;
    bool is_in_macro;
};

/* Back over (...) or [...] or <...>; SIZE_MAX: no match. */
static size_t back_over(const struct launch *l, size_t close)
{
    const int ends[] = {')', ']', '>'};
    const int opens[] = {'(', '[', '<'};
    size_t depth = 0, which = 0;
    while (which < 2 && l->t->v[close].punct != ends[which])
        which++;
    for (size_t i = close + 1; i-- > l->begin && which < 3;) {
        const struct split_token *t = &l->t->v[i];
        if (which == 2 && i != close && (split_punct(t, ')') || split_punct(t, ']'))) {
            i = back_over(l, i);
            if (i == SIZE_MAX)
                return SIZE_MAX;
            continue;
        }
        depth += split_punct(t, ends[which]) ? 1 : 0;
        depth += which == 2 && split_punct(t, SPLIT_CLOSE3) ? 3 : 0;
        if (split_punct(t, opens[which]) && --depth == 0)
            return i;
        if (which == 2 && (split_punct(t, ';') || split_punct(t, '{') || split_punct(t, '}')))
            return SIZE_MAX;
    }
    return SIZE_MAX;
}

static bool is_joint(const struct split_token *t)
{
    return split_punct(t, SPLIT_SCOPE) || split_punct(t, '.') || split_punct(t, SPLIT_ARROW) ||
           split_punct(t, SPLIT_PASTE);
}

static bool is_closing(const struct split_token *t)
{
    return split_punct(t, ')') || split_punct(t, ']') || split_punct(t, '>') ||
           split_punct(t, SPLIT_CLOSE3);
}

/* Where the kernel's expression begins: names, template arguments, calls, subscripts, joined by ::,
 * ., ->, ##. */
static size_t name_start(const struct split_state *s, const struct launch *l)
{
    size_t i = l->open3;
    for (;;) {
        while (i > l->begin && is_closing(&l->t->v[i - 1])) {
            size_t open = back_over(l, i - 1);
            if (open == SIZE_MAX)
                return SIZE_MAX;
            i = open;
            bool is_group = split_punct(&l->t->v[i], '(') &&
                            (i == l->begin ||
                             (l->t->v[i - 1].kind != SPLIT_NAME && !is_closing(&l->t->v[i - 1])));
            if (is_group)
                return i; /* (expression)<<<...>>> */
        }
        if (i == l->begin || l->t->v[i - 1].kind != SPLIT_NAME)
            return i < l->open3 && split_punct(&l->t->v[i], SPLIT_SCOPE) ? i : SIZE_MAX;
        i--;
        if (i > l->begin && split_is(s, &l->t->v[i - 1], "template"))
            i--;
        if (i == l->begin || !is_joint(&l->t->v[i - 1]))
            return i;
        bool is_scope = split_punct(&l->t->v[i - 1], SPLIT_SCOPE);
        i--;
        bool goes_on =
            i > l->begin && (l->t->v[i - 1].kind == SPLIT_NAME || is_closing(&l->t->v[i - 1]));
        if (!goes_on || split_is(s, &l->t->v[i - 1], "return") ||
            split_is(s, &l->t->v[i - 1], "else") || split_is(s, &l->t->v[i - 1], "do"))
            return is_scope ? i : SIZE_MAX;
    }
}

static bool is_hidden(const struct split_state *s, const struct split_tokens *t, size_t first,
                      size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct split_directive *macro =
            t->v[i].kind == SPLIT_NAME ? split_macro(s, t->v[i].id) : NULL;
        for (size_t k = 0; macro != NULL && k < macro->n_body; k++)
            if (split_punct(&s->macros.v[macro->body + k], ','))
                return true;
        if (split_punct(&t->v[i], SPLIT_DOTS) || split_is(s, &t->v[i], "__VA_ARGS__"))
            return true;
    }
    return false;
}

/* An argument that can be handed through a function without losing what it is. */
static bool is_plain(const struct split_state *s, const struct split_tokens *t, size_t first,
                     size_t end)
{
    size_t n_names = 0;
    for (size_t i = first; i < end; i++) {
        n_names += t->v[i].kind == SPLIT_NAME;
        if (split_punct(&t->v[i], '{') || split_punct(&t->v[i], '[') ||
            t->v[i].kind == SPLIT_STRING || split_punct(&t->v[i], '\\') ||
            split_is(s, &t->v[i], "NULL") || split_is(s, &t->v[i], "nullptr"))
            return false;
    }
    return n_names > 0 && !split_punct(&t->v[first], '&');
}

static void wrap_args(struct split_state *s, const struct launch *l, struct hone_split_launch *ret)
{
    size_t number = 0;
    for (size_t at = l->args + 1; at < l->args_close; number++) {
        size_t end = argument_end(l->t, at, l->args_close, false);
        if (end == at)
            return;
        /* f<a, b>(x) looks like two arguments: count only what is sure */
        for (size_t i = at; i < end; i++)
            if (split_punct(&l->t->v[i], '<'))
                ret->n_args = -1;
        if (is_hidden(s, l->t, at, end) || l->is_in_macro)
            ret->n_args = -1;
        if (ret->n_args < 0)
            return;
        ret->n_args++;
        if (is_plain(s, l->t, at, end)) {
            insert(s, l->t->v[at].start,
                   hone_pool_printf(s->pool, "::hone_arg(%zu, \"%.*s\", ", number, MAX_SHOWN,
                                    flat(s, l->t->v[at].start, l->t->v[end - 1].end)));
            insert(s, l->t->v[end - 1].end, ")");
        }
        at = end + 1;
    }
}

static int check_config(struct split_state *s, const struct launch *l)
{
    size_t n = 0;
    for (size_t at = l->open3 + 1; at < l->close3; n++) {
        size_t end = argument_end(l->t, at, l->close3, true);
        if (end == at)
            return split_fail(s, l->t->v[at].line, "<<<...>>> has an empty argument");
        if (is_hidden(s, l->t, at, end) || l->is_in_macro)
            return 0;
        at = end + 1;
    }
    if (n < 1 || n > MAX_CONFIG)
        return split_fail(
            s, l->t->v[l->open3].line,
            "<<<...>>> has %zu arguments. fix: <<<grid, block, shared bytes, stream>>>", n);
    return 0;
}

static int find_parts(struct split_state *s, struct launch *l)
{
    int64_t line = l->t->v[l->open3].line;
    l->close3 = SIZE_MAX;
    for (size_t i = l->open3 + 1; i < l->end && l->close3 == SIZE_MAX; i++) {
        const struct split_token *t = &l->t->v[i];
        if (split_punct(t, '(') || split_punct(t, '[') || split_punct(t, '{')) {
            i = split_close(l->t, i, l->end);
            if (i == SIZE_MAX)
                break;
        } else if (split_punct(t, SPLIT_CLOSE3)) {
            if (i + 1 < l->end && split_punct(&l->t->v[i + 1], '('))
                l->close3 = i;
        } else if (split_punct(t, ';') || split_punct(t, '}')) {
            break;
        }
    }
    if (l->close3 == SIZE_MAX)
        return split_fail(
            s, line,
            "no >>>(arguments) belongs to this <<<. fix: write name<<<grid, block, shared, "
            "stream>>>(arguments) in one place");
    l->args = l->close3 + 1;
    l->args_close = split_close(l->t, l->args, l->end);
    if (l->args_close == SIZE_MAX || l->args_close >= l->end)
        return split_fail(s, line, "the arguments of this launch do not end");
    l->name = name_start(s, l);
    if (l->name == SIZE_MAX || l->name >= l->open3)
        return split_fail(s, line,
                          "what stands in front of <<< is no kernel. fix: write "
                          "name<<<grid, block, shared, stream>>>(arguments) in one place");
    return check_config(s, l);
}

static const char *last_name(const struct split_state *s, const struct launch *l)
{
    size_t i = l->open3 - 1;
    if (split_punct(&l->t->v[i], '>') || split_punct(&l->t->v[i], SPLIT_CLOSE3)) {
        i = back_over(l, i);
        if (i == SIZE_MAX || i == l->name)
            return NULL;
        i--;
    }
    return l->t->v[i].kind == SPLIT_NAME ? s->names[l->t->v[i].id] : NULL;
}

static int rewrite(struct split_state *s, struct launch *l)
{
    int rc = find_parts(s, l);
    if (rc < 0)
        return rc;
    const struct split_token *v = l->t->v;
    struct hone_split_launch launch = {.text = flat(s, v[l->name].start, v[l->open3 - 1].end),
                                       .kernel = last_name(s, l),
                                       .line = v[l->open3].line,
                                       .is_in_macro = l->is_in_macro};
    struct split_edit *edit = split_edit(s, v[l->name].start, "(::hone_conf(");
    edit->move_start = v[l->open3].end;
    edit->move_end = v[l->close3].start;
    edit->more = "), ";
    memset(s->dropped + v[l->open3].start, 1, v[l->close3].end - v[l->open3].start);
    wrap_args(s, l, &launch);
    insert(s, v[l->args_close].end, ")");
    struct hone_array *launches = &s->ret->launches;
    struct hone_split_launch *all =
        split_grow(s, launches->v, launches->n, &s->cap_launches, sizeof launch);
    all[launches->n++] = launch;
    launches->v = all;
    return 0;
}

/* The function that a token stands in; NULL: none. */
static const struct split_item *around(const struct split_state *s, size_t token, bool is_in_macro)
{
    const struct split_item *items = s->items.v, *found = NULL;
    for (size_t i = 0; i < s->items.n; i++)
        if (items[i].is_in_macro == is_in_macro && items[i].kind == SPLIT_FUNCTION &&
            items[i].first <= token && items[i].last >= token)
            found = &items[i];
    return found;
}

static int rewrite_in(struct split_state *s, const struct split_tokens *t, size_t begin, size_t end,
                      bool is_in_macro)
{
    for (size_t i = begin; i < end; i++) {
        if (!split_punct(&t->v[i], SPLIT_OPEN3) ||
            (i > begin && split_is(s, &t->v[i - 1], "operator")))
            continue;
        const struct split_item *item = around(s, i, is_in_macro);
        if (item != NULL && (item->is_global || (item->is_device && !item->is_host)))
            return split_fail(
                s, t->v[i].line,
                "'%s' runs on the device and launches a kernel itself, which cannot be "
                "recorded. fix: launch it from the launcher",
                s->names[item->name]);
        struct launch launch = {
            .t = t, .begin = begin, .end = end, .open3 = i, .is_in_macro = is_in_macro};
        int rc = rewrite(s, &launch);
        if (rc < 0)
            return rc;
        i = launch.close3;
    }
    return 0;
}

int split_launches(struct split_state *s)
{
    const struct split_directive *d = s->directives.v;
    int rc = rewrite_in(s, &s->tokens, 0, s->tokens.n, false);
    for (size_t i = 0; i < s->directives.n && rc == 0; i++)
        if (d[i].name != 0)
            rc = rewrite_in(s, &s->macros, d[i].body, d[i].body + d[i].n_body, true);
    return rc;
}
