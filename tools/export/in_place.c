/* SPDX-License-Identifier: Apache-2.0 */
/* An array that is read and written is one array of the user's, and an input and an output of the
 * task: the baseline begins with a copy of the one to the other (tools/task/task_new_kernel.c,
 * task_new_cuda.c), and so do most winners. Here the copy and the parameter of the input leave the
 * winner, which then works on the user's array.
 *
 * The text must prove that nothing else changes. Before the copy stand declarations without calls
 * and other such copies, and no macro but numbers; the input's name stands nowhere else in the
 * body, in no macro and in no pragma; nothing calls the function. Else the copy stays. */
#include <ctype.h>
#include <string.h>

#include "tools/export/export_internal.h"
#include "tools/task/c_tokens.h"

struct cut {
    const char *from, *to; /* of the source; from NULL: none */
};

struct pair {
    struct hone_c_token in, out; /* the names of the parameters */
    struct cut param, copy;
};

struct text {
    struct hone_c_tokens t;
    size_t open, close, end; /* of the function: the brackets of its parameters, the end of its
                                body */
    struct pair pairs[HONE_LIMIT_TENSORS];
    size_t n;
};

static bool is(const struct text *x, size_t i, const char *word)
{
    return i < x->t.n && hone_c_is(&x->t.v[i], word);
}

static bool is_one_of(const struct text *x, size_t i, const char *const *words)
{
    while (*words != NULL && !is(x, i, *words))
        words++;
    return *words != NULL;
}

static bool is_same(const struct text *x, size_t i, const struct hone_c_token *name)
{
    return i < x->t.n && x->t.v[i].len == name->len &&
           memcmp(x->t.v[i].at, name->at, name->len) == 0;
}

static bool is_type(const struct text *x, size_t i)
{
    static const char *const words[] = {"int",      "long",     "unsigned", "size_t",   "ptrdiff_t",
                                        "int32_t",  "uint32_t", "int64_t",  "uint64_t", "short",
                                        "uint16_t", "int16_t",  "float",    "double",   NULL};
    return is_one_of(x, i, words);
}

/* ---- directives ---- */

/* The next line of the preprocessor's that begins in [at, end); NULL: none. */
static const char *next_directive(const char *source, const char *at, const char *end)
{
    for (; (at = memchr(at, '#', (size_t)(end - at))) != NULL; at++) {
        const char *start = at;
        while (start > source && (start[-1] == ' ' || start[-1] == '\t'))
            start--;
        if (start == source || start[-1] == '\n')
            return at;
    }
    return NULL;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Is it `#define WORD` with anything but numbers? */
static bool is_macro_of(const char *line, const char *end, const struct hone_c_token *word)
{
    const char *at = line + 1;

    at += strspn(at, " \t");
    if (strncmp(at, "define", strlen("define")) != 0)
        return false;
    at += strlen("define");
    at += strspn(at, " \t");
    if (strncmp(at, word->at, word->len) != 0 || is_letter(at[word->len]))
        return false;
    return at + word->len + strspn(at + word->len, "0123456789()+-*/ \tuUlL") < end;
}

static bool has_word(const char *line, const char *end, const struct hone_c_token *word)
{
    for (const char *at = line; at + word->len <= end; at++)
        if (memcmp(at, word->at, word->len) == 0 && !is_letter(at[-1]) && !is_letter(at[word->len]))
            return true;
    return false;
}

/* Does a macro stand behind the word or, where it is an input's name, does any line use it or make
 * names of parts? */
static bool is_in_directives(const struct text *x, const struct hone_c_token *word, bool is_input)
{
    const char *source = x->t.source, *end = source + strlen(source);

    for (const char *at = source; (at = next_directive(source, at, end)) != NULL;) {
        const char *stop = hone_c_skip_line(at);
        bool has_parts = memmem(at, (size_t)(stop - at), "##", 2) != NULL;
        if (is_macro_of(at, stop, word) || (is_input && (has_parts || has_word(at, stop, word))))
            return true;
        at = stop;
    }
    return false;
}

/* Are the lines between two tokens none, or pragmas of a loop alone? ret_first: the first one. */
static bool are_for_loop(const struct text *x, const char *from, const char *to,
                         const char **ret_first)
{
    static const char *const allowed[] = {"#pragma omp parallel for", "#pragma omp simd",
                                          "#pragma GCC unroll", "#pragma GCC ivdep"};

    *ret_first = NULL;
    for (const char *at = from; (at = next_directive(x->t.source, at, to)) != NULL;) {
        size_t i = 0;
        while (i < HONE_COUNTOF(allowed) && strncmp(at, allowed[i], strlen(allowed[i])) != 0)
            i++;
        if (i == HONE_COUNTOF(allowed))
            return false;
        *ret_first = *ret_first != NULL ? *ret_first : at;
        at = hone_c_skip_line(at);
    }
    return true;
}

/* ---- statements before and at the copy ---- */

/* Do tokens [i, end) compute without calls and without a change? */
static bool is_pure(const struct text *x, size_t i, size_t end)
{
    static const char *const refused[] = {"=", "{", "}", "\\", "\"", "?", "_Pragma", NULL};

    for (; i < end; i++) {
        bool is_cast = is(x, i + 1, "*") && is(x, i + 2, ")"); /* (double (*)[m]) */
        bool is_twice =
            (is(x, i, "+") && is(x, i + 1, "+")) || (is(x, i, "-") && is(x, i + 1, "-"));
        if (is_one_of(x, i, refused) || is_twice || *x->t.v[i].at == '"')
            return false;
        if (!is(x, i, "(") || is_cast)
            continue;
        bool is_call = hone_c_is_word(&x->t.v[i - 1]) && !is(x, i - 1, "sizeof");
        bool is_behind = is(x, i - 1, ")") && !is_type(x, i - 2); /* (f)(x) */
        if (is_call || is_behind || is(x, i - 1, "]"))
            return false;
    }
    return true;
}

static size_t find(const struct text *x, size_t i, const char *word)
{
    while (i < x->end && !is(x, i, word))
        i++;
    return i;
}

/* Behind `int n = (int)n_arg;` or `double (*a)[m] = (double (*)[m])a_arg;`; 0: it is another. */
static size_t declaration_end(const struct text *x, size_t i)
{
    static const char *const control[] = {"if",     "for",  "while", "do",  "switch",
                                          "return", "goto", "else",  "asm", NULL};
    size_t equal = find(x, i, "="), stop = find(x, i, ";");
    bool is_pointer = is(x, i + 1, "(") && is(x, i + 2, "*");

    if (!hone_c_is_word(&x->t.v[i]) || is_one_of(x, i, control) || equal >= stop ||
        stop >= x->end || !is_pure(x, equal + 1, stop))
        return 0;
    if (is(x, i, "const"))
        is_pointer = is(x, i + 2, "(") && is(x, i + 3, "*");
    if (is_pointer || is(x, i + 1, "*"))
        return stop + 1;
    return hone_c_is_word(&x->t.v[i + 1]) && is_pure(x, i, equal) ? stop + 1 : 0;
}

/* Behind `memcpy(out, in, ...);` */
static size_t call_end(const struct text *x, size_t i, const struct pair *p)
{
    static const char *const words[] = {"memcpy", "memmove", "cudaMemcpyAsync", NULL};
    bool is_copy = is_one_of(x, i, words) && is(x, i + 1, "(") && is_same(x, i + 2, &p->out) &&
                   is(x, i + 3, ",") && is_same(x, i + 4, &p->in) && is(x, i + 5, ",");
    size_t close = is_copy ? hone_c_closing(&x->t, i + 1) : x->end;

    return close < x->end && is(x, close + 1, ";") && is_pure(x, i + 6, close) ? close + 2 : 0;
}

/* Behind `for (int64_t i = 0; i < n; i++) out[i] = in[i];` */
static size_t loop_end(const struct text *x, size_t i, const struct pair *p)
{
    size_t equal = find(x, i, "="), first = find(x, i, ";"), second = find(x, first + 1, ";");
    size_t close = is(x, i + 1, "(") ? hone_c_closing(&x->t, i + 1) : x->end;

    if (!is(x, i, "for") || close >= x->end || second >= close || equal >= first ||
        !is_type(x, i + 2) || !is_pure(x, equal + 1, first) || !is_pure(x, first + 1, second))
        return 0;
    const struct hone_c_token *name = &x->t.v[equal - 1];
    bool is_step = close == second + 4 &&
                   ((is_same(x, second + 1, name) && is(x, second + 2, "+")) ||
                    is_same(x, second + 3, name)) &&
                   (is(x, second + 2, "+") && (is(x, second + 1, "+") || is(x, second + 3, "+")));
    bool is_bracket = is(x, close + 1, "{");
    size_t at = close + 1 + is_bracket;
    bool is_copy = is_same(x, at, &p->out) && is(x, at + 1, "[") && is_same(x, at + 2, name) &&
                   is(x, at + 3, "]") && is(x, at + 4, "=") && is_same(x, at + 5, &p->in) &&
                   is(x, at + 6, "[") && is_same(x, at + 7, name) && is(x, at + 8, "]") &&
                   is(x, at + 9, ";") && (!is_bracket || is(x, at + 10, "}"));
    return is_step && is_copy ? at + 10 + is_bracket : 0;
}

static bool has_no_macro(const struct text *x, size_t i, size_t end)
{
    for (; i < end; i++)
        if (hone_c_is_word(&x->t.v[i]) && is_in_directives(x, &x->t.v[i], false))
            return false;
    return true;
}

/* Finds the copies in the statements that the body begins with. */
static void find_copies(struct text *x)
{
    for (size_t i = x->close + 2, stop; i < x->end; i = stop) {
        struct pair *p = x->pairs, *last = p + x->n;
        const char *before = x->t.v[i - 1].at + x->t.v[i - 1].len, *pragma;
        bool is_loop = false;
        for (stop = 0; p < last && stop == 0; p += stop == 0) {
            stop = call_end(x, i, p);
            if (stop == 0 && (stop = loop_end(x, i, p)) != 0)
                is_loop = true;
        }
        bool is_copy = stop != 0;
        stop = is_copy ? stop : declaration_end(x, i);
        if (stop == 0 || !are_for_loop(x, before, x->t.v[i].at, &pragma) ||
            (pragma != NULL && !is_loop) || !has_no_macro(x, i, stop) ||
            next_directive(x->t.source, x->t.v[i].at, x->t.v[stop - 1].at) != NULL)
            return;
        if (!is_copy)
            continue;
        p->copy.from = pragma != NULL ? pragma : x->t.v[i].at;
        while (p->copy.from[-1] == ' ' || p->copy.from[-1] == '\t')
            p->copy.from--;
        p->copy.from -= p->copy.from[-1] == '\n' && p->copy.from > before;
        p->copy.to = x->t.v[stop - 1].at + x->t.v[stop - 1].len;
    }
}

/* ---- the function ---- */

/* The only place where the name stands is the definition. */
static bool find_function(struct text *x, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < x->t.n; i++)
        if (is(x, i, name)) {
            x->open = i + 1;
            n++;
        }
    if (n != 1 || !is(x, x->open, "("))
        return false;
    x->close = hone_c_closing(&x->t, x->open);
    if (x->close >= x->t.n || !is(x, x->close + 1, "{"))
        return false;
    x->end = hone_c_closing(&x->t, x->close + 1);
    return x->end < x->t.n;
}

/* Parameter number `number`: its name, and the text up to the next one. */
static bool find_param(const struct text *x, size_t number, struct hone_c_token *ret_name,
                       struct cut *ret)
{
    size_t first = x->open + 1, stop = first;

    for (size_t k = 0;; k++, first = ++stop) {
        while (stop < x->close && !is(x, stop, ",") && !is(x, stop, "(") && !is(x, stop, "["))
            stop++;
        if (stop < x->close && !is(x, stop, ","))
            return false;
        if (k == number)
            break;
        if (stop >= x->close)
            return false;
    }
    *ret_name = x->t.v[stop - 1];
    *ret = (struct cut){x->t.v[first].at, is(x, stop, ",") ? x->t.v[stop + 1].at : NULL};
    return stop > first + 1 && hone_c_is_word(ret_name);
}

static size_t count(const struct text *x, const struct hone_c_token *name)
{
    size_t n = 0;

    for (size_t i = x->close + 1; i < x->end; i++) {
        n += is_same(x, i, name);
        if (is(x, i, "\\") || is(x, i, "_Pragma")) /* what could spell it otherwise */
            return 0;
    }
    return n;
}

static const char *without(struct cut cut, const char *done, struct hone_buf *buf)
{
    hone_buf_add(buf, done, (size_t)(cut.from - done));
    return cut.to;
}

/* The text without the parameters and copies of the pairs that have one. */
static const char *cut_out(const struct text *x, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    const char *done = x->t.source;

    for (size_t i = 0; i < x->n; i++)
        if (x->pairs[i].copy.from != NULL)
            done = without(x->pairs[i].param, done, &buf);
    for (size_t k = 0; k < x->n; k++) {
        struct cut next = {NULL, NULL};
        for (size_t i = 0; i < x->n; i++)
            if (x->pairs[i].copy.from >= done &&
                (next.from == NULL || x->pairs[i].copy.from < next.from))
                next = x->pairs[i].copy;
        if (next.from != NULL)
            done = without(next, done, &buf);
    }
    hone_buf_str(&buf, done);
    return hone_pool_strdup(pool, buf.data);
}

static bool read_pairs(struct text *x, const struct hone_export_work *work,
                       const struct hone_export_copy *copies, size_t n)
{
    struct cut unused;

    x->n = n;
    for (size_t i = 0; i < n; i++) {
        struct pair *p = &x->pairs[i];
        *p = (struct pair){.copy = {NULL, NULL}};
        if (!find_param(x, copies[i].input, &p->in, &p->param) || p->param.to == NULL ||
            !find_param(x, work->task->n_inputs + copies[i].output, &p->out, &unused))
            return false;
    }
    return true;
}

const char *hone_export_in_place(const struct hone_export_work *work, const char *body,
                                 struct hone_export_copy *copies, size_t n)
{
    struct text *x = hone_pool_alloc(work->pool, sizeof(*x));
    bool is_any = false;

    if (n == 0 || hone_c_tokens_read(body, work->pool, &x->t, NULL) < 0 ||
        !find_function(x, work->task->name) || !read_pairs(x, work, copies, n))
        return body;
    find_copies(x);
    for (size_t i = 0; i < n; i++) {
        struct pair *p = &x->pairs[i];
        if (count(x, &p->in) != 1 || is_in_directives(x, &p->in, true))
            p->copy.from = NULL;
        copies[i].is_dropped = p->copy.from != NULL;
        is_any = is_any || copies[i].is_dropped;
    }
    return is_any ? cut_out(x, work->pool) : body;
}
