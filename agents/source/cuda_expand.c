/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to the normal form that work on words (cuda_normal.h): macros are put in, and a template of
 * a kernel that is started with one list of arguments becomes that kernel.
 *
 *     #define TILE 16                          template <int TILE> __global__ void kern(...)
 *     ... threadIdx.x + TILE * blockIdx.x      kern<16><<<grid, block>>>(...)
 *
 * The compiler's tree tells neither operators nor numbers inside macros. A source with conditional
 * lines or with # in a macro is left alone. */
#include "agents/source/cuda_normal.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORDS = 8, MAX_TURNS = 8 };

struct list { /* names or texts, in the pool */
    const char *v[MAX_WORDS];
    size_t n;
};

struct macro {
    const char *begin, *end; /* its lines */
    const char *name, *body;
    bool has_list;
    struct list params;
};

static bool is_word(const char *at, const char *start)
{
    return (isalpha((unsigned char)*at) || *at == '_') &&
           (at == start || !hone_is_word_char(at[-1]));
}

static size_t word_len(const char *at)
{
    size_t n = 0;
    while (hone_is_word_char(at[n]))
        n++;
    return n;
}

static bool is_same(const char *at, size_t len, const char *word)
{
    return strlen(word) == len && strncmp(at, word, len) == 0;
}

/* Behind a comment, a string or an #include that begins here; else `at`. */
static const char *skip_quiet(const char *at)
{
    const char *end = NULL;
    if (strncmp(at, "//", 2) == 0)
        return at + strcspn(at, "\n");
    if (strncmp(at, "/*", 2) == 0)
        return (end = strstr(at + 2, "*/")) ? end + 2 : at + strlen(at);
    if (*at == '#' && strncmp(at + 1 + strspn(at + 1, " \t"), "include", 7) == 0)
        return at + strcspn(at, "\n");
    if (*at != '"' && *at != '\'')
        return at;
    for (end = at + 1; *end && *end != *at; end++)
        end += *end == '\\' && end[1];
    return *end ? end + 1 : end;
}

/* "a, b(c, d)" up to the bracket that closes; open stands behind the one that opens. Returns what
 * is behind the end; NULL: it does not end, or there are too many. */
static const char *read_list(struct hone_pool *pool, const char *open, char close, struct list *ret)
{
    int depth = 0;
    ret->n = 0;
    for (const char *at = open, *start = open; *at; at++) {
        bool is_end = depth == 0 && *at == close;
        if (is_end || (depth == 0 && *at == ',')) {
            start += strspn(start, " \t\n");
            size_t len = (size_t)(at - start);
            while (len > 0 && isspace((unsigned char)start[len - 1]))
                len--;
            if (ret->n == MAX_WORDS)
                return NULL;
            if (len > 0 || ret->n > 0 || !is_end)
                ret->v[ret->n++] = hone_pool_strndup(pool, start, len);
            start = at + 1;
        }
        if (is_end)
            return at + 1;
        depth +=
            (*at == '(' || *at == '[' || *at == '{') - (*at == ')' || *at == ']' || *at == '}');
    }
    return NULL;
}

/* The text with each of the words replaced. */
static const char *put_words(struct hone_pool *pool, const char *text, const struct list *words,
                             const struct list *texts)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    for (const char *at = text; *at;) {
        const char *end = skip_quiet(at);
        size_t i = words->n;
        if (end == at && is_word(at, text)) {
            end = at + word_len(at);
            for (i = 0; i < words->n && !is_same(at, (size_t)(end - at), words->v[i]);)
                i++;
        }
        end += end == at;
        if (i < words->n)
            hone_buf_str(&out, texts->v[i]);
        else
            hone_buf_add(&out, at, (size_t)(end - at));
        at = end;
    }
    return hone_pool_strdup(pool, out.data ? out.data : "");
}

/* ---- macros ---- */

/* The line's end, with those that a backslash joins to it. */
static const char *line_end(const char *at)
{
    const char *end = at + strcspn(at, "\n");
    while (*end && end > at && end[-1] == '\\')
        end += 1 + strcspn(end + 1, "\n");
    return end;
}

/* The words of a macro without comments and joined lines. */
static const char *plain_body(struct hone_pool *pool, const char *at, const char *end)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    while (at < end) {
        bool is_comment = strncmp(at, "/*", 2) == 0 || strncmp(at, "//", 2) == 0;
        bool is_joint = *at == '\\' && at[1] == '\n';
        const char *next = is_comment ? skip_quiet(at) : at + 1 + is_joint;
        if (is_comment || is_joint)
            hone_buf_str(&out, " ");
        else
            hone_buf_add(&out, at, 1);
        at = next;
    }
    const char *text = out.data ? out.data : "";
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    return hone_pool_strndup(pool, text, len);
}

/* The first macro of the text; false: there is none, or one that cannot be put in. */
static bool read_macro(struct hone_pool *pool, const char *text, struct macro *m)
{
    static const char *const refused[] = {"if", "ifdef", "ifndef", "elif", "else", "undef"};
    *m = (struct macro){.name = NULL};
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
        const char *at = line + strspn(line, " \t");
        if (*at++ != '#')
            continue;
        at += strspn(at, " \t");
        size_t len = word_len(at);
        for (size_t i = 0; i < HONE_COUNTOF(refused); i++)
            if (is_same(at, len, refused[i]))
                return false;
        if (!is_same(at, len, "define") || m->name)
            continue;
        at += len + strspn(at + len, " \t");
        m->begin = line;
        m->end = line_end(line);
        m->name = hone_pool_strndup(pool, at, word_len(at));
        at += word_len(at);
        m->has_list = *at == '(';
        if (m->has_list && !(at = read_list(pool, at + 1, ')', &m->params)))
            return false;
        m->body = plain_body(pool, at, m->end);
    }
    return m->name && !strchr(m->body, '#') && !strstr(m->body, "__VA_ARGS__") &&
           !hone_has_word(m->body, m->name);
}

/* One turn: uses among the arguments of another use are left for the next. NULL: it cannot be. */
static const char *put_macro(struct hone_pool *pool, const char *text, const struct macro *m,
                             size_t *ret_n)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    *ret_n = 0;
    for (const char *at = text; *at;) {
        const char *end = skip_quiet(at), *use = m->body;
        if (end != at || !is_word(at, text) || !is_same(at, word_len(at), m->name)) {
            end += end == at;
            hone_buf_add(&out, at, (size_t)(end - at));
            at = end;
            continue;
        }
        at += strlen(m->name);
        if (m->has_list) {
            struct list args;
            at += strspn(at, " \t\n");
            at = *at == '(' ? read_list(pool, at + 1, ')', &args) : NULL;
            if (!at || args.n != m->params.n)
                return NULL;
            use = put_words(pool, m->body, &m->params, &args);
        }
        hone_buf_str(&out, use);
        ++*ret_n;
    }
    return hone_pool_strdup(pool, out.data ? out.data : "");
}

const char *hone_cuda_put_macros(const struct hone_coder_input *in)
{
    struct hone_pool *pool = in->pool;
    const char *text = in->tree->source, *out = NULL;
    struct macro m;
    while (read_macro(pool, text, &m)) {
        size_t n = 1, len = (size_t)(m.begin - text);
        const char *behind = *m.end ? m.end + 1 : m.end;
        text = hone_pool_printf(pool, "%s%s", hone_pool_strndup(pool, text, len), behind);
        for (int turn = 0; n > 0; turn++) {
            text = turn < MAX_TURNS ? put_macro(pool, text, &m, &n) : NULL;
            if (!text)
                return NULL;
        }
        out = text;
    }
    return out;
}

/* ---- templates ---- */

/* Every other use of the name is a launch with the same arguments. */
static bool read_uses(struct hone_pool *pool, const char *text, const struct hone_c_node *f,
                      struct list *ret)
{
    ret->n = 0;
    for (const char *at = text; *at; at++) {
        const char *next = skip_quiet(at);
        if (next != at) {
            at = next - 1;
            continue;
        }
        size_t len = is_word(at, text) ? word_len(at) : 0;
        if (!is_same(at, len, f->name) || (uint32_t)(at - text) == f->name_at)
            continue;
        struct list args;
        const char *end = at[len] == '<' ? read_list(pool, at + len + 1, '>', &args) : NULL;
        if (!end || strncmp(end, "<<<", 3) != 0 || (ret->n > 0 && ret->n != args.n))
            return false;
        for (size_t i = 0; i < args.n; i++)
            if (ret->n > 0 && strcmp(ret->v[i], args.v[i]) != 0)
                return false;
        *ret = args;
    }
    return ret->n > 0;
}

/* "int TILE", "typename T": the last word of each is the name. */
static bool read_names(struct hone_pool *pool, struct list *params)
{
    for (size_t i = 0; i < params->n; i++) {
        const char *text = params->v[i], *at = text + strlen(text);
        while (at > text && hone_is_word_char(at[-1]))
            at--;
        if (strpbrk(text, "=.<") || at == text || !*at)
            return false;
        params->v[i] = hone_pool_strdup(pool, at);
    }
    return params->n > 0;
}

/* Arguments that mean the same inside the kernel: numbers and types, no names of the launcher. */
static bool is_fixed(const char *arg)
{
    static const char *const types[] = {"float", "double",        "int",  "unsigned", "__half",
                                        "half",  "__nv_bfloat16", "true", "false"};
    for (size_t i = 0; i < HONE_COUNTOF(types); i++)
        if (strcmp(types[i], arg) == 0)
            return true;
    return *arg && strspn(arg, "0123456789") == strlen(arg);
}

static const char *put_template(const struct hone_coder_input *in, const struct hone_c_node *f)
{
    struct hone_pool *pool = in->pool;
    const char *text = in->tree->source, *head = text + f->begin, *body = NULL;
    struct list params, args;
    while (head > text && strncmp(head, "template", 8) != 0)
        head--;
    const char *open = head + 8 + strspn(head + 8, " \t\n");
    if (strncmp(head, "template", 8) != 0 || *open != '<' ||
        !(body = read_list(pool, open + 1, '>', &params)) || body > text + f->name_at ||
        !read_names(pool, &params) || !read_uses(pool, text, f, &args) || args.n != params.n)
        return NULL;
    for (size_t i = 0; i < args.n; i++)
        if (!is_fixed(args.v[i]))
            return NULL;
    body += strspn(body, " \t\n");
    size_t len = (size_t)(text + f->end - body), head_len = (size_t)(head - text);
    const char *own = put_words(pool, hone_pool_strndup(pool, body, len), &params, &args);
    text = hone_pool_printf(pool, "%s%s%s", hone_pool_strndup(pool, text, head_len), own,
                            text + f->end);
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    for (const char *at = text; *at;) {
        size_t word = is_word(at, text) ? word_len(at) : 0;
        struct list same;
        const char *end =
            word > 0 && is_same(at, word, f->name) && at[word] == '<' && at[word + 1] != '<'
                ? read_list(pool, at + word + 1, '>', &same)
                : NULL;
        hone_buf_add(&out, at, word > 0 ? word : 1);
        at = end ? end : at + (word > 0 ? word : 1);
    }
    return hone_pool_strdup(pool, out.data ? out.data : "");
}

const char *hone_cuda_put_templates(const struct hone_coder_input *in)
{
    for (const struct hone_c_node *f = in->tree->root->first; f; f = f->next) {
        bool is_kernel = f->kind == HONE_C_FUNCTION && f->body && (f->cuda & HONE_C_IS_GLOBAL);
        const char *text = is_kernel && (f->cuda & HONE_C_IS_TEMPLATE) ? put_template(in, f) : NULL;
        if (text)
            return text;
    }
    return NULL;
}
