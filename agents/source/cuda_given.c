/* SPDX-License-Identifier: Apache-2.0 */
/* A step to the normal form for what a kernel is given (cuda_normal.h): members of structs that come
 * by value as parameters of their own.
 *
 *     kern(struct sizes s) ... s.H ... s.d[1]        kern(int s_H, long s_d_1) ... s_H ... s_d_1 */
#include "agents/source/cuda_normal.h"

#include <string.h>

enum { MAX_MEMBERS = 16 };

struct member {
    const char *path, *name, *type; /* ".d[1]", "s_d_1", "long" */
};

/* The whole of what is read of a struct here: s.H, s.d[1] with a number; NULL: something else. */
static const struct hone_c_node *read_member(const struct hone_c_node *ref)
{
    const struct hone_c_node *n = ref->parent;
    if (n->kind != HONE_C_MEMBER || n->first != ref)
        return NULL;
    if (strchr(n->type, '[')) {
        bool is_element = n->parent->kind == HONE_C_SUBSCRIPT && n->parent->first == n &&
                          n->parent->last->kind == HONE_C_CONST;
        n = is_element ? n->parent : NULL;
    }
    if (!n || strpbrk(n->type, "[(&<") || strncmp(n->type, "struct ", 7) == 0)
        return NULL;
    const struct hone_c_node *p = n->parent;
    bool is_set = p->first == n && (p->kind == HONE_C_ASSIGN_OP ||
                                    (p->kind == HONE_C_BINARY && strcmp(p->op, "=") == 0));
    bool is_changed = p->kind == HONE_C_UNARY &&
                      (!strcmp(p->op, "++") || !strcmp(p->op, "--") || !strcmp(p->op, "&"));
    return is_set || is_changed || n->kind == HONE_C_OTHER ? NULL : n;
}

static const struct member *member_of(const struct hone_cuda_kernel *k,
                                      const struct hone_c_node *param,
                                      const struct hone_c_node *use, struct member *all, size_t *n)
{
    struct hone_pool *pool = k->in->pool;
    const char *text = hone_c_text(k->in->tree, use), *path = text + strlen(param->name);
    if (strncmp(text, param->name, strlen(param->name)) != 0 || *path != '.' ||
        strpbrk(path, " \t\n(/"))
        return NULL;
    for (size_t i = 0; i < *n; i++)
        if (strcmp(all[i].path, path) == 0)
            return &all[i];
    char *name = hone_pool_printf(pool, "%s%s", param->name, path);
    for (char *c = name; *c; c++)
        *c = hone_is_word_char(*c) ? *c : '_';
    size_t len = strlen(name);
    if (len > 0 && name[len - 1] == '_')
        name[len - 1] = '\0';
    for (size_t i = 0; i <= *n; i++)
        if (i == MAX_MEMBERS || (i < *n && strcmp(all[i].name, hone_fresh_name(k->in, name)) == 0))
            return NULL;
    all[*n] = (struct member){path, hone_fresh_name(k->in, name), use->type};
    return &all[(*n)++];
}

static bool is_declared_once(const struct hone_cuda_kernel *k)
{
    size_t n = 0;
    for (const struct hone_c_node *f = k->in->tree->root->first; f; f = f->next)
        n += f->kind == HONE_C_FUNCTION && strcmp(f->name, k->function->name) == 0;
    return n == 1;
}

static bool spread_launches(struct hone_c_edits *edits, const struct hone_cuda_kernel *k,
                            size_t param, const struct member *all, size_t n)
{
    struct hone_pool *pool = k->in->pool;
    for (size_t i = 0; i < k->n_launches; i++) {
        const struct hone_c_node *arg = k->launches[i].args[param];
        const char *out = "";
        if (arg->kind == HONE_C_CALL && arg->first && arg->first->begin == arg->begin &&
            arg->first->end == arg->end)
            arg = arg->first; /* the copy that C++ makes */
        if (arg->kind != HONE_C_REF)
            return false;
        for (size_t m = 0; m < n; m++)
            out =
                hone_pool_printf(pool, "%s%s%s%s", out, m > 0 ? ", " : "", arg->name, all[m].path);
        hone_c_replace(edits, arg->begin, arg->end, out);
    }
    return true;
}

static const char *spread_param(const struct hone_cuda_kernel *k, size_t at)
{
    const struct hone_c_node *param = k->params[at], *body = k->function->body;
    struct member all[MAX_MEMBERS];
    struct hone_c_edits edits;
    size_t n = 0;
    const char *out = "";
    hone_c_edits_init(&edits, k->in->tree);
    for (const struct hone_c_node *r = body; r; r = hone_c_walk(body, r)) {
        if (r->kind != HONE_C_REF || r->decl != param)
            continue;
        const struct hone_c_node *use = read_member(r);
        const struct member *m = use ? member_of(k, param, use, all, &n) : NULL;
        if (!m)
            return NULL;
        hone_c_replace(&edits, use->begin, use->end, m->name);
    }
    if (n == 0 || k->n_params - 1 + n > HONE_CUDA_MAX_PARAMS ||
        !spread_launches(&edits, k, at, all, n))
        return NULL;
    for (size_t i = 0; i < n; i++)
        out = hone_pool_printf(k->in->pool, "%s%s%s %s", out, i > 0 ? ", " : "", all[i].type,
                               all[i].name);
    hone_c_replace(&edits, param->begin, param->end, out);
    return hone_cuda_finish(&edits);
}

const char *hone_cuda_spread_structs(const struct hone_cuda_kernel *k)
{
    if (!is_declared_once(k))
        return NULL;
    for (size_t i = 0; i < k->n_params; i++) {
        const char *text = strpbrk(k->params[i]->type, "*&[") ? NULL : spread_param(k, i);
        if (text)
            return text;
    }
    return NULL;
}
