/* SPDX-License-Identifier: Apache-2.0 */
/* Function templates of a CUDA file, written out for the arguments that the file gives them.
 *
 * Flow: one template a round, and one that no other template uses, so that a kernel is written out
 * before the device function that it calls. Each list of arguments makes one function: the first
 * has the template's name, others get a number. What nothing instantiates is left out, as C++ does.
 * Limits: arguments are types of one word and constants; deduced ones come from a parameter
 * `T x`, `T *x` or `const T *x` whose argument is a variable. What is not understood keeps its
 * `template`, or is refused with what to write. */
#include <ctype.h>
#include <string.h>

#include "tools/task/cuda_in_internal.h"
#include "workspace/base/limits.h"

enum { MAX_PARAMS = 8, MAX_LISTS = 16, MAX_ROUNDS = 128 };

struct list { /* the arguments of one instance */
    const char *args[MAX_PARAMS];
    const char *name; /* of the function */
};

struct template
{
    size_t first, open, close; /* tokens: `template`, its < and > */
    struct hone_c_definition d;
    size_t params[MAX_PARAMS], defaults[MAX_PARAMS]; /* tokens: name; of the default, 0: none */
    bool is_type[MAX_PARAMS];
    size_t n_params;
    struct list lists[MAX_LISTS];
    size_t n_lists;
};

struct writing {
    struct hone_pool *pool;
    struct hone_err *err;
    const struct hone_cuda_in_options *options;
    struct hone_c_tokens t;
    const char *said; /* "name<float, 256>, ..." */
    const char *left_out;
};

struct use {                  /* NAME<...>( or NAME( or NAME<...><<< */
    size_t name, open, close; /* of < and >; open == close: no arguments */
    size_t call;              /* the ( of the arguments */
};

static bool is(const struct writing *w, size_t i, const char *text)
{
    return i < w->t.n && hone_c_is(&w->t.v[i], text);
}

static const char *word(const struct writing *w, size_t i)
{
    return hone_pool_strndup(w->pool, w->t.v[i].at, w->t.v[i].len);
}

/* The > for the < at i; i: there is none before a bracket or a statement ends. */
static size_t angle_close(const struct writing *w, size_t i)
{
    int depth = 0;
    for (size_t k = i; k < w->t.n && !strchr(";{}", *w->t.v[k].at); k++) {
        if (is(w, k, "("))
            k = hone_c_closing(&w->t, k);
        depth += is(w, k, "<") - is(w, k, ">");
        if (depth == 0)
            return k;
    }
    return i;
}

/* Tokens first..end with one blank between two of them. */
static const char *spelled(const struct writing *w, size_t first, size_t end)
{
    const char *text = "";
    for (size_t i = first; i < end && i < w->t.n; i++)
        text = hone_pool_printf(w->pool, "%s%s%s", text, i > first && !is(w, i, ",") ? " " : "",
                                word(w, i));
    return text;
}

/* ---- templates ---- */

/* typename T, int N = 4: false for what is not of that form. */
static bool read_params(const struct writing *w, struct template *t)
{
    static const char *const types[] = {"typename", "class"};
    size_t first = t->open + 1;
    for (size_t i = first; i <= t->close; i++) {
        size_t end = first;
        if (!is(w, i, ",") && i < t->close)
            continue;
        while (end < i && !is(w, end, "="))
            end++;
        if (t->n_params == MAX_PARAMS || end < first + 2 || !hone_c_is_word(&w->t.v[end - 1]) ||
            is(w, end - 2, ".") || is(w, end - 2, ">"))
            return false;
        t->params[t->n_params] = end - 1;
        t->defaults[t->n_params] = end < i ? end + 1 : 0;
        t->is_type[t->n_params++] = is(w, first, types[0]) || is(w, first, types[1]);
        first = i + 1;
    }
    return t->n_params > 0;
}

/* The next function template at or behind token *at. */
static bool next_template(const struct writing *w, size_t *at, struct template *t)
{
    for (size_t i = *at; i < w->t.n; i++) {
        size_t from = 0;
        *t = (struct template){.first = i, .open = i + 1};
        if (!is(w, i, "template") || !is(w, i + 1, "<"))
            continue;
        t->close = angle_close(w, i + 1);
        while (hone_c_next_definition(&w->t, &from, &t->d) && t->d.name < t->close)
            continue;
        if (t->close > t->open && t->d.first <= i && t->d.end < w->t.n && t->d.name > t->close &&
            read_params(w, t)) {
            *at = t->d.end + 1;
            return true;
        }
    }
    return false;
}

/* ---- uses ---- */

static bool next_use(const struct writing *w, const struct template *t, size_t *at, struct use *ret)
{
    const char *name = word(w, t->d.name);
    for (size_t i = *at; i + 1 < w->t.n; i++) {
        size_t end = i;
        if (!is(w, i, name) || i == t->d.name)
            continue;
        bool has_args = is(w, i + 1, "<") && strncmp(w->t.v[i + 1].at, "<<<", 3) != 0;
        if (has_args)
            end = angle_close(w, i + 1);
        size_t call = end + 1;
        if (is(w, call, "<") && strncmp(w->t.v[call].at, "<<<", 3) == 0)
            while (call < w->t.n &&
                   !(is(w, call, "(") && strncmp(w->t.v[call - 1].at - 2, ">>>", 3) == 0))
                call++;
        if (!is(w, call, "("))
            continue;
        *ret = (struct use){i, has_args ? i + 1 : i, end, call};
        *at = i + 1;
        return true;
    }
    return false;
}

/* Does another template call this one? That is written out first. */
static bool is_used_by_others(const struct writing *w, const struct template *t)
{
    struct template other;
    struct use use;
    for (size_t at = 0; next_template(w, &at, &other);)
        for (size_t k = other.first; other.first != t->first && next_use(w, t, &k, &use);)
            if (use.name < other.d.end)
                return true;
    return false;
}

/* The value that the code before token i gives `name`: constexpr int B = 256; NULL: none. */
static const char *constant_before(const struct writing *w, size_t i, const char *name)
{
    for (size_t k = i; k-- > 1;) {
        size_t end = k;
        bool is_const = false;
        if (!is(w, k, name) || !is(w, k + 1, "="))
            continue;
        for (size_t b = k; b-- > 0 && !strchr(";{}", *w->t.v[b].at);)
            is_const = is_const || is(w, b, "const") || is(w, b, "constexpr");
        while (end < w->t.n && !is(w, end, ";") && !is(w, end, ","))
            end++;
        if (is_const)
            return hone_pool_printf(w->pool, "(%s)", spelled(w, k + 2, end));
    }
    return NULL;
}

/* The type that the variable at token i was declared with; NULL: not seen. */
static const char *type_of(const struct writing *w, size_t i)
{
    static const char *const no_types[] = {"return", "else", "const", "__restrict__", "restrict"};
    for (size_t k = i; k-- > 1;) {
        size_t b = k - 1;
        bool is_none = false;
        if (!is(w, k, word(w, i)))
            continue;
        while (b > 0 && (is(w, b, "*") || is(w, b, "__restrict__") || is(w, b, "const")))
            b--;
        for (size_t n = 0; n < HONE_COUNTOF(no_types); n++)
            is_none = is_none || is(w, b, no_types[n]);
        if (hone_c_is_word(&w->t.v[b]) && !is_none && !is(w, k + 1, "("))
            return word(w, b);
    }
    return NULL;
}

/* What the call's arguments say of type parameter p. */
static const char *deduced(const struct writing *w, const struct template *t, size_t p,
                           const struct use *use)
{
    size_t first = t->d.open + 1, n = 0, number = 0;
    bool is_found = false;
    for (size_t i = first; i < t->d.close && !is_found; i++) {
        number += is(w, i, ",");
        is_found = t->is_type[p] && is(w, i, word(w, t->params[p]));
    }
    size_t from = use->call + 1, close = hone_c_closing(&w->t, use->call);
    for (size_t i = from; i <= close && is_found; i++) {
        if (is(w, i, "(") || is(w, i, "["))
            i = hone_c_closing(&w->t, i);
        if (!is(w, i, ",") && i < close)
            continue;
        bool is_plain = i == from + 1 || is(w, from + 1, "[");
        if (n++ == number)
            return is_plain && hone_c_is_word(&w->t.v[from]) ? type_of(w, from) : NULL;
        from = i + 1;
    }
    return NULL;
}

static int refuse(const struct writing *w, const struct template *t, size_t at, const char *why)
{
    return hone_fail(w->err, HONE_E_ARG,
                     "line %d: %s of the template '%s' <%s>: say them there, or give --instance "
                     "'%s<...>' with types and numbers in their place",
                     hone_c_line_at(w->t.source, w->t.v[at].at), why, word(w, t->d.name),
                     spelled(w, t->open + 1, t->close), word(w, t->d.name));
}

static const char *default_of(const struct writing *w, const struct template *t, size_t p)
{
    size_t end = t->defaults[p];
    while (end < t->close && !is(w, end, ","))
        end++;
    return spelled(w, t->defaults[p], end);
}

static int read_list(const struct writing *w, const struct template *t, const struct use *use,
                     struct list *ret)
{
    size_t n = 0, first = use->open + 1;
    for (size_t i = first; i <= use->close && use->close > use->open; i++) {
        if (is(w, i, "("))
            i = hone_c_closing(&w->t, i);
        if (!is(w, i, ",") && i < use->close)
            continue;
        if (n == t->n_params || i == first)
            return refuse(w, t, use->name, "there are other arguments");
        const char *value = spelled(w, first, i);
        const char *constant = t->is_type[n] ? NULL : constant_before(w, use->name, value);
        ret->args[n++] = constant ? constant : value;
        first = i + 1;
    }
    for (; n < t->n_params; n++) {
        ret->args[n] = deduced(w, t, n, use);
        if (!ret->args[n] && t->defaults[n] > 0)
            ret->args[n] =
                spelled(w, t->defaults[n], n + 1 < t->n_params ? t->params[n + 1] - 2 : t->close);
        if (!ret->args[n])
            return refuse(w, t, use->name, "the call does not say the arguments");
    }
    return 0;
}

/* The number of these arguments in t->lists, new ones included; -1: too many. */
static int find_list(const struct writing *w, struct template *t, const struct list *list)
{
    const char *name = word(w, t->d.name), *now = name;
    for (size_t i = 0; i < t->n_lists; i++) {
        size_t p = 0;
        while (p < t->n_params && strcmp(t->lists[i].args[p], list->args[p]) == 0)
            p++;
        if (p == t->n_params)
            return (int)i;
    }
    if (t->n_lists == MAX_LISTS)
        return -1;
    if (t->n_lists > 0)
        now = hone_pool_printf(w->pool, "%s_%zu", name, t->n_lists + 1);
    while (t->n_lists > 0 && strstr(w->t.source, now))
        now = hone_pool_printf(w->pool, "%s_", now);
    t->lists[t->n_lists] = *list;
    t->lists[t->n_lists].name = now;
    return (int)t->n_lists++;
}

/* --instance 'name<float, 256>' of this template: its first list. */
static int take_instance(const struct writing *w, struct template *t)
{
    struct writing own = *w;
    const char *instance = w->options->instance, *name = word(w, t->d.name);
    size_t len = strlen(name);
    struct list list;
    if (!instance || strncmp(instance, name, len) != 0 || strchr("< ", instance[len]) == NULL)
        return 0;
    const char *text = hone_pool_printf(w->pool, "%s()", instance);
    int code = hone_c_tokens_read(text, w->pool, &own.t, w->err);
    size_t close = code == 0 && is(&own, 1, "<") ? angle_close(&own, 1) : 1;
    if (code < 0)
        return code;
    size_t n = 0;
    for (size_t i = 2, first = 2; i <= close && close > 1 && n < t->n_params; i++)
        if (i == close || is(&own, i, ",")) {
            list.args[n++] = spelled(&own, first, i);
            first = i + 1;
        }
    for (; n > 0 && n < t->n_params && t->defaults[n] > 0; n++)
        list.args[n] = default_of(w, t, n);
    if (n < t->n_params || !is(&own, close + 1, "("))
        return hone_fail(w->err, HONE_E_ARG,
                         "--instance '%.80s': write %s<%s> with types and numbers in their place",
                         instance, name, spelled(w, t->open + 1, t->close));
    find_list(w, t, &list);
    return 0;
}

/* ---- writing ---- */

/* Tokens first..end as they stand, with a list's arguments for the parameters. */
static void put_instance(const struct writing *w, const struct template *t, const struct list *list,
                         struct hone_buf *buf)
{
    const char *done = w->t.v[t->close].at + 1;
    for (size_t i = t->close + 1; i <= t->d.end; i++) {
        const char *text = i == t->d.name ? list->name : NULL;
        for (size_t p = 0; p < t->n_params; p++)
            if (is(w, i, word(w, t->params[p])))
                text = list->args[p];
        hone_buf_add(buf, done, (size_t)(w->t.v[i].at - done));
        hone_buf_printf(buf, "%s", text ? text : word(w, i));
        done = w->t.v[i].at + w->t.v[i].len;
    }
}

static void put_definition(struct writing *w, const struct template *t, struct hone_buf *buf)
{
    const char *name = word(w, t->d.name);
    for (size_t i = 0; i < t->n_lists; i++) {
        const char *args = "";
        for (size_t p = 0; p < t->n_params; p++)
            args = hone_pool_printf(w->pool, "%s%s%s", args, p ? ", " : "", t->lists[i].args[p]);
        w->said = hone_pool_printf(w->pool, "%s%s%s<%s>", w->said ? w->said : "",
                                   w->said ? ", " : "", name, args);
        hone_buf_str(buf, i > 0 ? "\n" : "");
        put_instance(w, t, &t->lists[i], buf);
    }
    for (const char *at = w->t.v[t->first].at; t->n_lists == 0 && at < w->t.v[t->d.end].at; at++)
        if (*at == '\n') /* lines stay */
            hone_buf_str(buf, "\n");
    if (t->n_lists == 0 && !w->left_out)
        w->left_out = hone_pool_printf(
            w->pool,
            "line %d: '%s' is a template that nothing in the file "
            "instantiates: say --instance '%s<...>' with types and numbers for <%s>",
            hone_c_line_at(w->t.source, w->t.v[t->d.name].at), name, name,
            spelled(w, t->open + 1, t->close));
}

/* The text with the template as functions, and its uses by their names. */
static int write_out(struct writing *w, struct template *t, struct hone_buf *buf)
{
    const char *done = w->t.source;
    struct use use;
    bool is_written = false;
    int code = take_instance(w, t);
    size_t uses[HONE_CU_DEFINITIONS][3], n = 0;
    for (size_t at = 0; code == 0 && next_use(w, t, &at, &use);) {
        struct list list;
        if ((code = read_list(w, t, &use, &list)) < 0)
            return code;
        int number = find_list(w, t, &list);
        if (number < 0 || n == HONE_CU_DEFINITIONS)
            return hone_fail(w->err, HONE_E_LIMIT, "the template '%s' has more than %d instances",
                             word(w, t->d.name), MAX_LISTS);
        memcpy(uses[n++], (size_t[]){use.name, use.close, (size_t)number}, sizeof(uses[0]));
    }
    for (size_t i = 0; code == 0 && i <= n; i++) {
        const char *next = i < n ? w->t.v[uses[i][0]].at : w->t.source + strlen(w->t.source);
        if (!is_written && next > w->t.v[t->first].at) {
            hone_buf_add(buf, done, (size_t)(w->t.v[t->first].at - done));
            put_definition(w, t, buf);
            done = w->t.v[t->d.end].at + 1;
            is_written = true;
        }
        hone_buf_add(buf, done, (size_t)(next - done));
        if (i < n) {
            hone_buf_str(buf, t->lists[uses[i][2]].name);
            done = w->t.v[uses[i][1]].at + w->t.v[uses[i][1]].len;
        }
    }
    return code;
}

int hone_cu_write_templates(const struct hone_cuda_in_options *options, struct hone_pool *pool,
                            const char **source, const char **ret_said, const char **ret_left_out,
                            struct hone_err *err)
{
    struct writing w = {.pool = pool, .err = err, .options = options};
    int code = 0;
    for (int round = 0; code == 0 && round < MAX_ROUNDS; round++) {
        HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
        struct template *t = hone_pool_alloc(pool, sizeof(*t));
        bool is_found = false;
        if ((code = hone_c_tokens_read(*source, pool, &w.t, err)) < 0)
            break;
        for (size_t at = 0; !is_found && next_template(&w, &at, t);)
            is_found = !is_used_by_others(&w, t);
        if (!is_found)
            break;
        code = write_out(&w, t, &buf);
        if (code == 0)
            code = hone_buf_check(&buf, err);
        if (code == 0)
            *source = hone_pool_strdup(pool, buf.data ? buf.data : "");
    }
    *ret_said = w.said;
    *ret_left_out = w.left_out;
    return code;
}
