/* SPDX-License-Identifier: Apache-2.0 */
/* The small language of kernels.c: loops, statements, references to arrays; and relatives made. */
#include <ctype.h>
#include <string.h>

#include "tests/relatives/relative.h"

uint64_t relative_random(struct relative *r, uint64_t below)
{
    uint64_t z = (r->random += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const struct relative_array *relative_array(const struct relative *r, const char *name, size_t len)
{
    for (size_t i = 0; i < r->n_arrays; i++)
        if (strlen(r->arrays[i].name) == len && strncmp(r->arrays[i].name, name, len) == 0)
            return &r->arrays[i];
    return NULL;
}

/* Behind the bracket that closes the one at `at`. */
static const char *closing(const char *at)
{
    int depth = 0;
    for (; *at; at++) {
        depth += *at == '(' || *at == '[' ? 1 : *at == ')' || *at == ']' ? -1 : 0;
        if (depth == 0)
            return at;
    }
    return at;
}

static size_t split(struct hone_pool *pool, const char *begin, const char *end, const char **ret)
{
    size_t n = 0;
    int depth = 0;
    const char *from = begin;
    for (const char *at = begin; at <= end && n < RELATIVE_MAX_DIMS; at++) {
        depth += *at == '(' || *at == '[' ? 1 : at < end && (*at == ')' || *at == ']') ? -1 : 0;
        if (at == end || (*at == ',' && depth == 0)) {
            ret[n++] = hone_pool_strndup(pool, from, (size_t)(at - from));
            from = at + 1;
        }
    }
    return n;
}

bool relative_ref(const struct relative *r, const char *at, struct relative_ref *ret)
{
    const char *from = at;
    while (*at) {
        if (!is_word(*at) || (at > from && is_word(at[-1]))) {
            at++;
            continue;
        }
        size_t len = 0;
        while (is_word(at[len]))
            len++;
        const struct relative_array *array = relative_array(r, at, len);
        if (array && at[len] == '(') {
            const char *end = closing(at + len);
            *ret = (struct relative_ref){.array = array, .begin = at, .end = end + 1};
            split(r->pool, at + len + 1, end, ret->index);
            return true;
        }
        at += len;
    }
    return false;
}

bool relative_has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !is_word(at[-1])) && !is_word(at[len]))
            return true;
    return false;
}

const char *relative_replace(struct hone_pool *pool, const char *text, const char *word,
                             const char *by)
{
    struct hone_buf out = HONE_BUF_INIT;
    size_t len = strlen(word);
    for (const char *at = text; *at;) {
        if (strncmp(at, word, len) == 0 && (at == text || !is_word(at[-1])) && !is_word(at[len])) {
            hone_buf_str(&out, by);
            at += len;
        } else
            hone_buf_add(&out, at++, 1);
    }
    const char *ret = hone_pool_strdup(pool, out.data ? out.data : "");
    hone_buf_done(&out);
    return ret;
}

static const char *space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static const char *word(struct hone_pool *pool, const char **at)
{
    const char *from = *at = space(*at);
    while (**at && !isspace((unsigned char)**at))
        ++*at;
    return hone_pool_strndup(pool, from, (size_t)(*at - from));
}

static void parse_block(struct hone_pool *pool, const char **at, struct relative_node **link)
{
    for (*at = space(*at); **at && **at != '}'; *at = space(*at)) {
        struct relative_node *n = *link = hone_pool_alloc(pool, sizeof(*n));
        link = &n->next;
        bool is_if = strncmp(*at, "if (", 4) == 0 && closing(*at + 3)[2] == '{';
        if (strncmp(*at, "for ", 4) != 0 && !is_if) {
            const char *end = strchr(*at, ';') + 1;
            n->text = hone_pool_strndup(pool, *at, (size_t)(end - *at));
            *at = end;
            continue;
        }
        if (is_if) {
            const char *end = closing(*at + 3) + 1;
            n->text = hone_pool_strndup(pool, *at, (size_t)(end - *at));
            *at = end;
        } else {
            *at += 4;
            n->var = word(pool, at);
            n->lower = word(pool, at);
            n->upper = word(pool, at);
        }
        *at = space(*at) + 1; /* { */
        parse_block(pool, at, &n->first);
        *at = space(*at) + 1; /* } */
    }
}

struct relative_node *relative_parse(struct hone_pool *pool, const char *body)
{
    struct relative_node *root = hone_pool_alloc(pool, sizeof(*root));
    parse_block(pool, &body, &root->first);
    return root;
}

static void read_arrays(struct relative *r)
{
    for (const char *at = r->kernel->arrays; *(at = space(at));) {
        struct relative_array *a = &r->arrays[r->n_arrays++];
        a->is_index = *at == '#';
        at += a->is_index;
        const char *open = strchr(at, '['), *end = strchr(open, ']');
        a->name = hone_pool_strndup(r->pool, at, (size_t)(open - at));
        a->n_dims = split(r->pool, open + 1, end, a->dims);
        at = end + 1;
    }
}

static void read_sizes(struct relative *r)
{
    int n = 0;
    r->sizes = r->params = "";
    for (const char *at = r->kernel->sizes; *(at = space(at)); n++) {
        const char *size = word(r->pool, &at), *colon = strchr(size, ':');
        const char *name = colon ? hone_pool_strndup(r->pool, size, (size_t)(colon - size)) : size;
        int value = r->flags & SQUARE ? 300 : 300 + 10 * n;
        r->sizes = hone_pool_printf(r->pool, "%s%s%s=%s", r->sizes, n ? "," : "", name,
                                    colon ? colon + 1 : hone_pool_printf(r->pool, "%d", value));
        r->params = hone_pool_printf(r->pool, "%s, COUNTER %s", r->params, name);
    }
}

const char *relative_make(struct hone_pool *pool, uint64_t seed, uint64_t number,
                          const char **ret_name)
{
    struct relative r = {.pool = pool, .random = seed * 1000003u + number * 7919u};
    relative_random(&r, 2);
    r.kernel = &relative_kernels[number % relative_n_kernels];
    r.flags = r.kernel->flags;
    r.helper = r.steps = "";
    r.root = relative_parse(pool, r.kernel->body);
    read_arrays(&r);
    if (relative_random(&r, 5) < 2)
        r.flags |= SQUARE;
    read_sizes(&r);
    relative_transform(&r);
    const char *text = relative_print(&r);
    *ret_name = hone_pool_printf(pool, "%s_%llu_%llu", r.kernel->name, (unsigned long long)seed,
                                 (unsigned long long)number);
    return text;
}

bool relative_is_held(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return (h >> 16) % 10 == 0;
}
