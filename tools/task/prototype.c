/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, then definitions at brace depth 0: words, name, ( ... ), {.
 *
 * A token is a word, a number, or one character; the reader never looks inside function bodies
 * except to match braces. */
#include "tools/task/prototype.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/task/c_tokens.h"
#include "workspace/base/buf.h"

enum { MAX_LISTED = 16, MAX_ALIASES = 8, MAX_NAMES = 8 };

static bool is_same(const struct hone_c_token *a, const struct hone_c_token *b)
{
    return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

/* Types by their words. is_own: C takes it for another type than the one that the dtype has. */
static const struct {
    const char *words;
    enum hone_dtype dtype;
    bool is_own;
    int64_t most; /* of an axis, where that is below what all axes may be */
} types[] = {
    {"float", HONE_DTYPE_F32, false, 0},
    {"double", HONE_DTYPE_F64, false, 0},
    {"int8_t", HONE_DTYPE_I8, false, INT8_MAX},
    {"signed char", HONE_DTYPE_I8, false, INT8_MAX},
    {"char", CHAR_MIN < 0 ? HONE_DTYPE_I8 : HONE_DTYPE_U8, true, INT8_MAX},
    {"short", HONE_DTYPE_I16, false, INT16_MAX},
    {"short int", HONE_DTYPE_I16, false, INT16_MAX},
    {"int16_t", HONE_DTYPE_I16, false, INT16_MAX},
    {"unsigned short", HONE_DTYPE_U16, false, UINT16_MAX},
    {"unsigned short int", HONE_DTYPE_U16, false, UINT16_MAX},
    {"uint16_t", HONE_DTYPE_U16, false, UINT16_MAX},
    {"int", HONE_DTYPE_I32, false, INT32_MAX},
    {"signed", HONE_DTYPE_I32, false, INT32_MAX},
    {"signed int", HONE_DTYPE_I32, false, INT32_MAX},
    {"int32_t", HONE_DTYPE_I32, false, INT32_MAX},
    {"unsigned", HONE_DTYPE_U32, false, 0},
    {"unsigned int", HONE_DTYPE_U32, false, 0},
    {"uint32_t", HONE_DTYPE_U32, false, 0},
    {"int64_t", HONE_DTYPE_I64, false, 0},
    {"long", HONE_DTYPE_I64, false, 0},
    {"long int", HONE_DTYPE_I64, false, 0},
    {"long long", HONE_DTYPE_I64, true, 0},
    {"long long int", HONE_DTYPE_I64, true, 0},
    {"ssize_t", HONE_DTYPE_I64, false, 0},
    {"ptrdiff_t", HONE_DTYPE_I64, false, 0},
    {"unsigned long", HONE_DTYPE_U64, false, 0},
    {"unsigned long int", HONE_DTYPE_U64, false, 0},
    {"unsigned long long", HONE_DTYPE_U64, true, 0},
    {"uint64_t", HONE_DTYPE_U64, false, 0},
    {"size_t", HONE_DTYPE_U64, false, 0},
    {"uintptr_t", HONE_DTYPE_U64, false, 0},
    {"bool", HONE_DTYPE_BOOL, true, 0},
    {"_Bool", HONE_DTYPE_BOOL, true, 0},
    {"__half", HONE_DTYPE_F16, true, 0}, /* of CUDA, as the two below */
    {"half", HONE_DTYPE_F16, true, 0},
    {"__nv_bfloat16", HONE_DTYPE_BF16, true, 0},
    {"uint", HONE_DTYPE_U32, false, 0},
    {"uint8_t", HONE_DTYPE_U8, false, UINT8_MAX},
    {"unsigned char", HONE_DTYPE_U8, false, UINT8_MAX},
};

static bool find_type(const char *words, size_t *ret)
{
    for (size_t i = 0; i < HONE_COUNTOF(types); i++) {
        if (strcmp(types[i].words, words) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static bool is_ignored(const struct hone_c_token *t)
{
    static const char *const words[] = {"restrict", "__restrict", "__restrict__",
                                        "volatile", "register",   "extern",
                                        "inline",   "__inline",   "static"};
    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (hone_c_is(t, words[i]))
            return true;
    return false;
}

struct reader {
    const struct hone_c_tokens *t;
    struct hone_pool *pool;
    struct hone_err *err;
};

static int refuse(const struct reader *r, size_t i, const char *what)
{
    const char *at = i < r->t->n ? r->t->v[i].at : r->t->source + strlen(r->t->source);
    return hone_fail(r->err, HONE_E_ARG, "line %d: %s", hone_c_line_at(r->t->source, at), what);
}

const char *hone_prototype_define(const char *source, const char *name, struct hone_pool *pool)
{
    static const char words[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ";
    size_t n = strlen(name);
    for (const char *at = strstr(source, "#define"); at; at = strstr(at, "#define")) {
        at += strlen("#define");
        at += strspn(at, " \t");
        if (strncmp(at, name, n) != 0 || (at[n] != ' ' && at[n] != '\t'))
            continue;
        at += n + strspn(at + n, " \t");
        size_t len = strspn(at, words);
        while (len > 0 && at[len - 1] == ' ')
            len--;
        return hone_pool_strndup(pool, at, len);
    }
    return NULL;
}

/* What `typedef words NAME;` or `#define NAME words` says of a type's name; NULL: neither. */
static const char *alias_of(const struct reader *r, const char *name)
{
    const struct hone_c_tokens *t = r->t;
    for (size_t i = 0; i + 2 < t->n; i++) {
        const char *words = "";
        size_t k = i + 1;
        if (!hone_c_is(&t->v[i], "typedef"))
            continue;
        for (; k + 1 < t->n && hone_c_is_word(&t->v[k]) && hone_c_is_word(&t->v[k + 1]); k++)
            words = hone_pool_printf(r->pool, "%s%s%.*s", words, *words ? " " : "",
                                     (int)t->v[k].len, t->v[k].at);
        if (k + 1 < t->n && hone_c_is(&t->v[k], name) && hone_c_is(&t->v[k + 1], ";"))
            return words;
    }
    return hone_prototype_define(t->source, name, r->pool);
}

static bool type_of(const struct reader *r, const char *words, size_t *ret)
{
    for (int depth = 0; words != NULL && depth < MAX_ALIASES; depth++) {
        if (find_type(words, ret))
            return true;
        words = strchr(words, ' ') ? NULL : alias_of(r, words);
    }
    return false;
}

static int unknown_type(const struct reader *r, size_t i, const char *type, const char *name)
{
    static const struct {
        const char *word, *advice;
    } rows[] = {
        {"struct",
         "pass its members as parameters (const float *data, int w, int h). Of an array of "
         "structs, pass each member as an array of its own (const double *x, const double "
         "*y), or all of one type as one array of numbers (const double *points with shape "
         "points[n, 3]: member 1 of element i is points[3*i + 1])"},
        {"union", "pass the member that is used as an array of numbers"},
        {"enum", "pass it as int"},
        {"complex", "pass it as one array of numbers, real and imaginary part in turn (const "
                    "double *z with shape z[n, 2])"},
        {"void", "write the type of the elements"},
        {"", "float, double, int, long, size_t, unsigned, bool, char, int8_t to int64_t and "
             "uint8_t to uint64_t are, and a typedef or #define of those. If it is a struct, pass "
             "each member as an array of its own, or all of them as one array of numbers (member 1 "
             "of element i is x[3*i + 1])"},
    };
    size_t k = 0;
    while (strstr(type, rows[k].word) == NULL)
        k++;
    return hone_fail(r->err, HONE_E_ARG, "line %d: type '%.60s' of '%.60s' is not taken: %s",
                     hone_c_line_at(r->t->source, r->t->v[i].at), type, name, rows[k].advice);
}

static int read_dims(const struct reader *r, size_t i, size_t end, struct hone_param *param)
{
    while (i < end) {
        size_t close = hone_c_is(&r->t->v[i], "[") ? hone_c_closing(r->t, i) : end;
        if (close >= end)
            return refuse(
                r, i, "a parameter is not understood: write type, name and array dimensions only");
        if (param->n_dims == HONE_LIMIT_RANK)
            return refuse(r, i, "too many array dimensions");
        size_t first = i + 1;
        while (first < close &&
               (is_ignored(&r->t->v[first]) || hone_c_is(&r->t->v[first], "const")))
            first++;
        const struct hone_c_token *a = &r->t->v[first], *b = &r->t->v[close];
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
    size_t i = first, row = 0;
    int n_stars = 0;
    *param = (struct hone_param){.name = NULL};
    for (; i < end && !hone_c_is(&r->t->v[i], "["); i++) {
        const struct hone_c_token *t = &r->t->v[i];
        param->is_restrict = param->is_restrict || hone_c_is(t, "restrict") ||
                             hone_c_is(t, "__restrict") || hone_c_is(t, "__restrict__");
        bool is_last = i + 1 == end || hone_c_is(&r->t->v[i + 1], "[");
        if (hone_c_is(t, "*"))
            n_stars++;
        else if (hone_c_is(t, "const"))
            param->is_const = param->is_const || n_stars == 0;
        else if (!hone_c_is_word(t))
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
        return refuse(
            r, first,
            "a pointer to a pointer: pass matrices as one contiguous array (double *A with "
            "A[i * n + j], or double A[m][n])");
    if (!type_of(r, type, &row))
        return unknown_type(r, first, type, param->name);
    param->plain_type = types[row].words;
    param->dtype = types[row].dtype;
    param->is_own_type = types[row].is_own;
    param->most = types[row].most;
    return read_dims(r, i, end, param);
}

static int read_params(const struct reader *r, size_t open, size_t close,
                       struct hone_prototype *ret)
{
    size_t first = open + 1;
    ret->n_params = 0;
    if (close == first || (close == first + 1 && hone_c_is(&r->t->v[first], "void")))
        return 0;
    for (size_t i = first; i <= close; i++) {
        if (i < close && hone_c_is(&r->t->v[i], "[")) {
            i = hone_c_closing(r->t, i);
            continue;
        }
        if (i < close && !hone_c_is(&r->t->v[i], ","))
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

static int read_return_type(const struct reader *r, const struct hone_c_definition *d,
                            struct hone_prototype *ret)
{
    const char *type = "";
    size_t row = 0;
    for (size_t i = d->first; i < d->name; i++) {
        if (hone_c_is(&r->t->v[i], "__attribute__")) {
            i = hone_c_closing(r->t, i + 1);
            continue;
        }
        if (hone_c_is(&r->t->v[i], "*"))
            return refuse(
                r, i, "the function returns a pointer: results go to non-const pointer parameters");
        if (hone_c_is_word(&r->t->v[i]) && !is_ignored(&r->t->v[i]) &&
            !hone_c_is(&r->t->v[i], "const"))
            type = hone_pool_printf(r->pool, "%s%s%.*s", type, *type ? " " : "",
                                    (int)r->t->v[i].len, r->t->v[i].at);
    }
    ret->returns_void = strcmp(type, "void") == 0;
    if (!ret->returns_void && !type_of(r, type, &row))
        return unknown_type(r, d->first, type, "the result");
    ret->return_dtype = ret->returns_void ? HONE_DTYPE_F32 : types[row].dtype;
    return 0;
}

static int choose(const struct reader *r, const char *function, struct hone_c_definition *ret)
{
    struct hone_c_definition d;
    const char *known = "";
    size_t at = 0, n_found = 0, n_listed = 0;
    while (hone_c_next_definition(r->t, &at, &d)) {
        const struct hone_c_token *name = &r->t->v[d.name];
        if (n_listed++ < MAX_LISTED)
            known = hone_pool_printf(r->pool, "%s%s%.*s", known, *known ? ", " : "", (int)name->len,
                                     name->at);
        if (function ? hone_c_is(name, function) : !d.is_static && !hone_c_is(name, "main")) {
            *ret = d;
            n_found++;
        }
    }
    if (n_found == 1)
        return 0;
    if (n_found > 1)
        return hone_fail(r->err, HONE_E_ARG,
                         "the source defines several functions (%.200s): say which with "
                         "--function NAME",
                         known);
    return hone_fail(r->err, HONE_E_NOT_FOUND, "no definition of %s; the source defines: %.200s",
                     function ? function : "a function that is not static",
                     *known ? known : "nothing");
}

int hone_prototype_name(const char *source, const char *function, struct hone_pool *pool,
                        const char **ret, struct hone_err *err)
{
    struct hone_c_tokens tokens;
    struct hone_c_definition d = {.first = 0};
    int code = hone_c_tokens_read(source, pool, &tokens, err);
    struct reader r = {.t = &tokens, .pool = pool, .err = err};
    if (code == 0)
        code = choose(&r, function, &d);
    if (code == 0)
        *ret = hone_pool_strndup(pool, tokens.v[d.name].at, tokens.v[d.name].len);
    return code;
}

int hone_prototype_parse(const char *source, const char *function, struct hone_pool *pool,
                         struct hone_prototype *ret, struct hone_err *err)
{
    struct hone_c_tokens tokens;
    struct hone_c_definition d = {.first = 0};
    struct hone_prototype p = {.name = NULL};
    int code = hone_c_tokens_read(source, pool, &tokens, err);
    struct reader r = {.t = &tokens, .pool = pool, .err = err};
    if (code == 0)
        code = choose(&r, function, &d);
    if (code < 0)
        return code;
    const struct hone_c_token *name = &tokens.v[d.name];
    p.name = hone_pool_strndup(pool, name->at, name->len);
    p.line = hone_c_line_at(source, name->at);
    p.is_static = d.is_static;
    p.name_offset = (size_t)(name->at - source);
    if ((code = read_return_type(&r, &d, &p)) < 0 ||
        (code = read_params(&r, d.open, d.close, &p)) < 0)
        return code;
    *ret = p;
    return 0;
}

/* ---- what the body does with an array ---- */

struct accesses {
    const struct hone_c_tokens *t;
    size_t first_read, first_write, first_unknown; /* tokens; the end of the body: none */
    size_t names[MAX_NAMES], n_names; /* tokens: the array's, and pointers made of it */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The end of the statement: what it writes is written there, after its right side was read. */
static size_t statement_end(const struct hone_c_tokens *t, size_t i)
{
    while (i < t->n && !hone_c_is(&t->v[i], ";"))
        i++;
    return i;
}

/* NAME or NAME(...): an argument of a call whose meaning is known? */
static bool in_known_call(struct accesses *a, size_t i)
{
    static const char *const copies[] = {"memset", "memcpy", "memmove"};
    const struct hone_c_tokens *t = a->t;
    size_t open;
    int depth = 0;
    for (open = i - 1; open > 1 && !hone_c_is(&t->v[open], ";"); open--) {
        depth += hone_c_is(&t->v[open], ")") - hone_c_is(&t->v[open], "(");
        if (depth < 0)
            break;
    }
    for (size_t k = 0; k < HONE_COUNTOF(copies); k++) {
        if (!hone_c_is(&t->v[open - 1], copies[k]))
            continue;
        bool is_first = i == open + 1;
        size_t *where = is_first ? &a->first_write : &a->first_read;
        *where = least(*where, is_first ? statement_end(t, i) : i);
        return true;
    }
    return false;
}

/* Token i is the array's name. */
static void add_access(struct accesses *a, size_t i)
{
    const struct hone_c_tokens *t = a->t;
    const struct hone_c_token *v = t->v;
    size_t after = i + 1;
    bool is_deref = hone_c_is(&v[i - 1], "*") && !hone_c_is_binary(t, i - 1);
    bool is_address = hone_c_is(&v[i - 1], "&") && !hone_c_is_binary(t, i - 1);
    bool is_step = (hone_c_is(&v[i - 1], "+") && hone_c_is(&v[i - 2], "+")) ||
                   (hone_c_is(&v[i - 1], "-") && hone_c_is(&v[i - 2], "-"));
    if (hone_c_is(&v[i - 1], ".") || (hone_c_is(&v[i - 1], ">") && hone_c_is(&v[i - 2], "-")))
        return;
    size_t open = is_deref ? i - 2 : i - 1;
    if (hone_c_is(&v[open], "sizeof") ||
        (hone_c_is(&v[open], "(") && hone_c_is(&v[open - 1], "sizeof")))
        return;
    while (after + 1 < t->n && hone_c_is(&v[after], "["))
        after = hone_c_closing(t, after) + 1;
    if (after + 1 >= t->n)
        return;
    if (after == i + 1 && !is_deref) {
        bool is_alias = hone_c_is(&v[i - 1], "=") && hone_c_is_word(&v[i - 2]);
        if (is_alias && a->n_names < MAX_NAMES)
            a->names[a->n_names++] = i - 2; /* p = NAME + 1; what p does counts */
        else if (!hone_c_is(&v[i - 1], "-") && !hone_c_is(&v[after], "-") && !in_known_call(a, i))
            a->first_unknown = least(a->first_unknown, i);
        return;
    }
    if (is_address) {
        a->first_unknown = least(a->first_unknown, i);
        return;
    }
    bool is_stepped = is_deref && after + 2 < t->n && hone_c_is(&v[after], "+") &&
                      hone_c_is(&v[after + 1], "+"); /* *p++ = x writes, and reads nothing */
    after += is_stepped ? 2 : 0;
    bool is_plain = hone_c_is(&v[after], "=") && !hone_c_is(&v[after + 1], "=");
    size_t shift = hone_c_is(&v[after], "<") || hone_c_is(&v[after], ">") ? 1 : 0;
    bool is_compound =
        strchr("+-*/%&|^<>", *v[after].at) != NULL &&
        (shift == 0 || hone_c_is(&v[after + 1], v[after].at[0] == '<' ? "<" : ">")) &&
        hone_c_is(&v[after + 1 + shift], "=");
    bool is_counted = (hone_c_is(&v[after], "+") && hone_c_is(&v[after + 1], "+")) ||
                      (hone_c_is(&v[after], "-") && hone_c_is(&v[after + 1], "-"));
    if (!is_plain)
        a->first_read = least(a->first_read, i);
    if (is_plain || is_compound || is_counted || (is_step && !is_deref))
        a->first_write = least(a->first_write, statement_end(t, i));
}

enum hone_access hone_prototype_access(const char *source, const struct hone_prototype *prototype,
                                       const char *name, struct hone_pool *pool)
{
    struct hone_c_tokens t;
    struct hone_c_definition d;
    size_t at = 0;
    if (hone_c_tokens_read(source, pool, &t, NULL) < 0)
        return HONE_ACCESS_UNKNOWN;
    while (hone_c_next_definition(&t, &at, &d) && t.v[d.name].at != source + prototype->name_offset)
        continue;
    struct accesses a = {&t, t.n, t.n, t.n, {0}, 0};
    for (size_t i = d.open; i < d.close; i++)
        if (hone_c_is(&t.v[i], name))
            a.names[0] = i;
    a.n_names = a.names[0] > 0;
    for (size_t k = 0; k < a.n_names; k++)
        for (size_t i = (k == 0 ? d.close : a.names[k]) + 2; i < d.end && i < t.n; i++)
            if (is_same(&t.v[i], &t.v[a.names[k]]))
                add_access(&a, i);
    if (a.first_unknown < t.n && a.first_unknown <= least(a.first_read, a.first_write))
        return HONE_ACCESS_UNKNOWN;
    if (a.first_read < a.first_write)
        return a.first_write < t.n     ? HONE_ACCESS_READ_FIRST
               : a.first_unknown < t.n ? HONE_ACCESS_UNKNOWN
                                       : HONE_ACCESS_READ;
    return a.first_write < t.n ? HONE_ACCESS_WRITE_FIRST : HONE_ACCESS_NONE;
}

char *hone_prototype_rename(const char *source, const char *from, const char *to)
{
    struct hone_buf buf = HONE_BUF_INIT;
    const char *done = source;
    for (const char *at = hone_c_skip_blank(source, source); *at;
         at = hone_c_skip_blank(hone_c_token_end(at), source)) {
        struct hone_c_token t = {at, (size_t)(hone_c_token_end(at) - at)};
        if (!hone_c_is(&t, from))
            continue;
        hone_buf_add(&buf, done, (size_t)(at - done));
        hone_buf_str(&buf, to);
        done = at + t.len;
    }
    hone_buf_str(&buf, done);
    return hone_buf_steal(&buf);
}

static bool has_token(const struct hone_c_tokens *t, size_t first, size_t end, const char *word)
{
    for (size_t i = first; i < end; i++)
        if (hone_c_is(&t->v[i], word))
            return true;
    return false;
}

/* Is the word the name of a function that the source defines and that is not static? */
static bool is_open_function(const struct hone_c_tokens *t, const struct hone_c_token *name)
{
    struct hone_c_definition d;
    size_t at = 0;
    while (hone_c_next_definition(t, &at, &d))
        if (!d.is_static && is_same(&t->v[d.name], name))
            return true;
    return false;
}

/* Token of the function's name in the declaration or definition first..end-1; end: none. */
static size_t declared_name(const struct hone_c_tokens *t, size_t first, size_t end)
{
    for (size_t i = first + 1; i + 1 < end; i++) {
        if (hone_c_is(&t->v[i], "="))
            return end;
        if (hone_c_is_word(&t->v[i]) && hone_c_is(&t->v[i + 1], "(") &&
            is_open_function(t, &t->v[i]))
            return i;
        if (hone_c_is(&t->v[i], "("))
            i = hone_c_closing(t, i);
    }
    return end;
}

int hone_prototype_make_static(const char *source, const char *except, struct hone_pool *pool,
                               const char **ret_source, struct hone_err *err)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    struct hone_c_tokens t;
    const char *done = source;
    int code = hone_c_tokens_read(source, pool, &t, err);
    if (code < 0)
        return code;
    for (size_t first = 0, i = 0; i < t.n; i++) {
        bool is_body = hone_c_is(&t.v[i], "{");
        if (!is_body && !hone_c_is(&t.v[i], ";"))
            continue;
        size_t name = declared_name(&t, first, i + 1);
        bool is_ours = name < i + 1 && !has_token(&t, first, name, "static") &&
                       !has_token(&t, first, name, "typedef") &&
                       !has_token(&t, first, name, "extern") &&
                       (except == NULL || !hone_c_is(&t.v[name], except));
        if (is_ours) {
            hone_buf_add(&text, done, (size_t)(t.v[first].at - done));
            hone_buf_str(&text, "static ");
            done = t.v[first].at;
        }
        if (is_body)
            i = hone_c_closing(&t, i);
        first = i + 1;
    }
    hone_buf_str(&text, done);
    code = hone_buf_check(&text, err);
    if (code == 0)
        *ret_source = hone_pool_strdup(pool, text.data);
    return code;
}

/* C's own words for a typedef's name that a parameter has; NULL: the words are no such name. */
static const char *plain_type(const struct hone_prototype *prototype, const char *at, size_t len)
{
    size_t row;
    for (size_t i = 0; i < prototype->n_params; i++) {
        const struct hone_param *p = &prototype->params[i];
        if (strlen(p->type) == len && memcmp(p->type, at, len) == 0 && !find_type(p->type, &row))
            return p->plain_type;
    }
    return NULL;
}

const char *hone_prototype_params_text(const char *source, const struct hone_prototype *prototype,
                                       struct hone_pool *pool)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const char *at = source + prototype->name_offset + strlen(prototype->name);
    const char *open = strchr(at, '(');
    int depth = 0;
    for (at = hone_c_skip_blank(open, source); *at;
         at = hone_c_skip_blank(hone_c_token_end(at), source)) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth == 0)
            break;
        const char *end = hone_c_token_end(at);
        bool is_spaced = at > open + 1 && text.len > 0 && isspace((unsigned char)at[-1]);
        const char *plain = at == open ? NULL : plain_type(prototype, at, (size_t)(end - at));
        hone_buf_printf(&text, "%s%.*s", is_spaced ? " " : "",
                        at == open ? 0
                        : plain    ? (int)strlen(plain)
                                   : (int)(end - at),
                        plain ? plain : at);
    }
    return hone_pool_strdup(pool, text.data != NULL ? text.data : "");
}
