/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and launches of a CUDA source: reading them. Making text is in cuda_text.c. */
#include "agents/source/cuda_kernel.h"

#include <string.h>

static const char *const places[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};

static bool is_place(const struct hone_c_node *n)
{
    if (n->kind != HONE_C_REF || n->decl)
        return false;
    for (size_t i = 0; i < HONE_COUNTOF(places); i++)
        if (strcmp(n->name, places[i]) == 0)
            return true;
    return false;
}

size_t hone_cuda_n_places(const struct hone_c_node *top)
{
    size_t out = 0;
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n))
        out += is_place(n);
    return out;
}

static bool is_memory(const struct hone_c_node *target)
{
    const struct hone_c_node *n = hone_c_strip(target);
    return n && n->kind != HONE_C_REF;
}

bool hone_cuda_has_store(const struct hone_c_node *top)
{
    for (const struct hone_c_node *n = top; n; n = hone_c_walk(top, n)) {
        bool is_set = n->kind == HONE_C_ASSIGN_OP ||
                      (n->kind == HONE_C_BINARY && strcmp(n->op, "=") == 0) ||
                      (n->kind == HONE_C_UNARY && (!strcmp(n->op, "++") || !strcmp(n->op, "--")));
        if (is_set && n->first && is_memory(n->first))
            return true;
        if (n->kind == HONE_C_CALL && strcmp(n->type, "void") == 0)
            return true;
        if (n->kind == HONE_C_CALL && strncmp(n->name, "atomic", 6) == 0)
            return true;
    }
    return false;
}

/* ---- axes ---- */

static bool is_name(const struct hone_c_factor *f, const char *what, char dim)
{
    size_t len = strlen(what);
    return !f->decl && strncmp(f->name, what, len) == 0 && f->name[len] == '.' &&
           f->name[len + 1] == dim;
}

bool hone_cuda_is_place(const struct hone_c_poly *p, char dim)
{
    if (!p->is_known || p->n != 2)
        return false;
    bool has_thread = false, has_block = false;
    for (size_t i = 0; i < 2; i++) {
        const struct hone_c_term *t = &p->terms[i];
        size_t n_blocks = 0, n_threads = 0;
        for (size_t f = 0; f < t->n_factors; f++) {
            n_blocks += is_name(&t->factors[f], "blockIdx", dim);
            n_threads += strncmp(t->factors[f].name, "threadIdx", 9) == 0;
        }
        has_thread |= t->n_factors == 1 && t->k == 1 && is_name(&t->factors[0], "threadIdx", dim);
        has_block |= n_blocks == 1 && n_threads == 0;
    }
    return has_thread && has_block;
}

static bool read_axis(struct hone_cuda_kernel *k, const struct hone_c_node *stmt)
{
    const struct hone_c_node *v = stmt->kind == HONE_C_DECL_STMT ? stmt->first : NULL;
    if (!v || v != stmt->last || v->kind != HONE_C_VAR || !v->last ||
        k->n_axes == HONE_CUDA_MAX_AXES || hone_c_writes(k->function, v))
        return false;
    struct hone_c_poly p = hone_c_poly_of(k->function, v->last);
    for (const char *dim = "xyz"; *dim; dim++) {
        if (!hone_cuda_is_place(&p, *dim))
            continue;
        k->axes[k->n_axes++] = (struct hone_cuda_axis){.var = v, .dim = *dim};
        return true;
    }
    return false;
}

static struct hone_cuda_axis *axis_of(struct hone_cuda_kernel *k, const struct hone_c_node *expr)
{
    expr = hone_c_strip(expr);
    for (size_t i = 0; expr && expr->kind == HONE_C_REF && i < k->n_axes; i++)
        if (k->axes[i].var == expr->decl)
            return &k->axes[i];
    return NULL;
}

/* A chain of comparisons of axes with bounds; is_inside: "<" with "&&", otherwise ">=" with "||".
 */
static bool read_bounds(struct hone_cuda_kernel *k, const struct hone_c_node *cond, bool is_inside)
{
    cond = hone_c_strip(cond);
    if (!cond || cond->kind != HONE_C_BINARY)
        return false;
    if (strcmp(cond->op, is_inside ? "&&" : "||") == 0)
        return read_bounds(k, cond->first, is_inside) && read_bounds(k, cond->last, is_inside);
    struct hone_cuda_axis *left = axis_of(k, cond->first), *right = axis_of(k, cond->last);
    if (left && !left->bound && strcmp(cond->op, is_inside ? "<" : ">=") == 0)
        left->bound = cond->last;
    else if (right && !right->bound && strcmp(cond->op, is_inside ? ">" : "<=") == 0)
        right->bound = cond->first;
    else
        return false;
    return true;
}

bool hone_cuda_is_return(const struct hone_c_tree *tree, const struct hone_c_node *stmt)
{
    stmt = hone_c_only_stmt(stmt);
    return stmt && stmt->kind == HONE_C_JUMP &&
           strncmp(tree->source + stmt->begin, "return", 6) == 0;
}

/* if (row >= M) return; or, at the end, if (row < M) { ... } whose inside is then the body. */
static bool read_guard(struct hone_cuda_kernel *k, const struct hone_c_node *stmt,
                       const struct hone_c_node **ret_inside)
{
    if (stmt->kind != HONE_C_IF || hone_c_n_children(stmt) != 2)
        return false;
    struct hone_cuda_axis saved[HONE_CUDA_MAX_AXES];
    memcpy(saved, k->axes, sizeof(saved));
    if (hone_cuda_is_return(k->in->tree, stmt->last) && read_bounds(k, stmt->first, false))
        return true;
    memcpy(k->axes, saved, sizeof(saved));
    if (!stmt->next && read_bounds(k, stmt->first, true)) {
        *ret_inside = stmt->last;
        return true;
    }
    memcpy(k->axes, saved, sizeof(saved));
    return false;
}

static bool read_body(struct hone_cuda_kernel *k, const struct hone_c_node *body)
{
    const struct hone_c_node *inside = NULL;
    const struct hone_c_node *s = body->kind == HONE_C_COMPOUND ? body->first : body;
    for (; s; s = body->kind == HONE_C_COMPOUND ? s->next : NULL) {
        if (read_axis(k, s))
            continue;
        if (read_guard(k, s, &inside)) {
            if (inside)
                return read_body(k, inside);
            continue;
        }
        if (k->n_stmts == HONE_CUDA_MAX_STMTS)
            return false;
        k->stmts[k->n_stmts++] = s;
    }
    return true;
}

/* ---- launches ---- */

static const struct hone_c_node *function_around(const struct hone_c_node *n)
{
    while (n && n->kind != HONE_C_FUNCTION)
        n = n->parent;
    return n;
}

/* Parts of the text between <<< and >>>, split at commas outside brackets. */
static size_t split_parts(struct hone_pool *pool, const char *text, const char *ret[4])
{
    size_t n = 0;
    int depth = 0;
    const char *start = text + strspn(text, " \t\n");
    for (const char *at = start;; at++) {
        depth +=
            (*at == '(' || *at == '[' || *at == '{') - (*at == ')' || *at == ']' || *at == '}');
        if (*at && !(*at == ',' && depth == 0))
            continue;
        size_t len = (size_t)(at - start);
        while (len > 0 && strchr(" \t\n", start[len - 1]))
            len--;
        if (n == 4)
            return 5;
        ret[n++] = hone_pool_strndup(pool, start, len);
        if (!*at)
            return n;
        start = at + 1 + strspn(at + 1, " \t\n");
    }
}

static bool read_launch(struct hone_cuda_kernel *k, const struct hone_c_node *call)
{
    const struct hone_c_node *name = call->first, *conf = name ? name->next : NULL;
    struct hone_pool *pool = k->in->pool;
    const char *parts[4] = {"", "", "0", "0"};
    if (!conf || conf->kind != HONE_C_CALL || conf->end - conf->begin < 6 ||
        strncmp(k->in->tree->source + conf->begin, "<<<", 3) != 0 ||
        k->n_launches == HONE_CUDA_MAX_LAUNCHES)
        return false;
    struct hone_cuda_launch *l = &k->launches[k->n_launches];
    *l = (struct hone_cuda_launch){.call = call,
                                   .launcher = function_around(call),
                                   .begin = conf->begin + 3,
                                   .end = conf->end - 3};
    size_t n = split_parts(
        pool, hone_pool_strndup(pool, k->in->tree->source + l->begin, l->end - l->begin), parts);
    for (const struct hone_c_node *a = conf->next; a; a = a->next) {
        if (l->n_args == HONE_CUDA_MAX_PARAMS)
            return false;
        l->args[l->n_args++] = a;
    }
    l->grid = parts[0];
    l->block = parts[1];
    l->shared = parts[2];
    l->stream = parts[3];
    if (n < 2 || n > 4 || l->n_args != k->n_params || !l->launcher)
        return false;
    k->n_launches++;
    return true;
}

/* Every use of the kernel's name must be a launch that can be written anew. */
static bool read_launches(struct hone_cuda_kernel *k)
{
    const struct hone_c_node *root = k->in->tree->root;
    for (const struct hone_c_node *n = root; n; n = hone_c_walk(root, n)) {
        if (n->kind != HONE_C_REF || n->decl != k->function)
            continue;
        bool is_argument = n->parent->kind == HONE_C_CALL && n->parent->first != n;
        if (is_argument && strncmp(n->parent->name, "cudaFuncSet", 11) == 0)
            continue;
        if (n->parent->kind != HONE_C_CALL || is_argument || !read_launch(k, n->parent))
            return false;
    }
    return k->n_launches > 0;
}

static bool is_one(const char *text)
{
    return strcmp(text, "1") == 0 || strcmp(text, "dim3(1)") == 0;
}

static void classify(struct hone_cuda_kernel *k, bool is_read)
{
    k->is_plain = is_read;
    for (size_t i = 0; i < k->n_axes; i++)
        k->is_plain = k->is_plain && k->axes[i].bound;
    for (size_t i = 0; i < k->n_stmts; i++)
        k->uses_threads = k->uses_threads || hone_cuda_n_places(k->stmts[i]) > 0;
    k->is_plain = k->is_plain && !k->uses_threads;
    k->is_single = k->is_plain && k->n_axes == 0;
    for (size_t i = 0; i < k->n_launches; i++)
        k->is_single = k->is_single && is_one(k->launches[i].grid) && is_one(k->launches[i].block);
    if (k->n_axes == 0 && !k->is_single)
        k->is_plain = false;
}

static struct hone_cuda_kernel *read_kernel(const struct hone_coder_input *in,
                                            const struct hone_c_node *f)
{
    struct hone_cuda_kernel *k = hone_pool_alloc(in->pool, sizeof(*k));
    *k = (struct hone_cuda_kernel){.in = in, .function = f};
    for (const struct hone_c_node *p = f->first; p; p = p->next) {
        if (p->kind != HONE_C_PARAM)
            continue;
        if (k->n_params == HONE_CUDA_MAX_PARAMS)
            return NULL;
        k->params[k->n_params++] = p;
    }
    if (!read_launches(k))
        return NULL;
    hone_c_nest_of(in->tree, f, &k->nest);
    classify(k, read_body(k, f->body));
    return k;
}

size_t hone_cuda_kernels(const struct hone_coder_input *in, const struct hone_cuda_kernel **ret,
                         size_t max)
{
    size_t n = 0;
    for (const struct hone_c_node *f = in->tree->root->first; f && n < max; f = f->next) {
        if (f->kind != HONE_C_FUNCTION || !f->body || !(f->cuda & HONE_C_IS_GLOBAL) ||
            (f->cuda & HONE_C_IS_TEMPLATE))
            continue;
        const struct hone_cuda_kernel *k = read_kernel(in, f);
        if (k)
            ret[n++] = k;
    }
    return n;
}

const struct hone_cuda_kernel *hone_cuda_kernel_at(const struct hone_coder_input *in,
                                                   const struct hone_c_node *function)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS);
    for (size_t i = 0; i < n; i++)
        if (all[i]->function == function)
            return all[i];
    return NULL;
}

/* Where the function's text names a word; its end when it does not. */
static uint32_t first_use(const struct hone_coder_input *in, const struct hone_c_node *f,
                          const char *word)
{
    const char *source = in->tree->source;
    uint32_t len = (uint32_t)strlen(word);
    for (uint32_t i = f->begin; i + len < f->end; i++) {
        bool is_word = strncmp(source + i, word, len) == 0 &&
                       (i == f->begin || !hone_is_word_char(source[i - 1])) &&
                       !hone_is_word_char(source[i + len]);
        if (is_word)
            return i;
    }
    return f->end;
}

const struct hone_c_node *hone_cuda_main_kernel(const struct hone_coder_input *in)
{
    const struct hone_c_node *launcher = in->nest.function, *found = NULL;
    uint32_t best = 0;
    for (const struct hone_c_node *f = in->tree->root->first; f; f = f->next) {
        if (f->kind != HONE_C_FUNCTION || !f->body || !f->name || !(f->cuda & HONE_C_IS_GLOBAL))
            continue;
        if (in->hot_kernel && strcmp(f->name, in->hot_kernel) == 0)
            return f;
        uint32_t at = first_use(in, launcher, f->name);
        if (!found || at < best) {
            found = f;
            best = at;
        }
    }
    return found;
}

struct hone_coder_site hone_cuda_site(const struct hone_cuda_kernel *k, int variant,
                                      const char *evidence)
{
    const struct hone_c_node *f = k->function;
    struct hone_coder_site s =
        hone_site(f, f->begin, f->end,
                  hone_pool_printf(k->in->pool, "kernel %s at line %u", f->name,
                                   hone_c_line(k->in->tree, f->begin)));
    s.variant = variant;
    s.evidence = evidence;
    return s;
}
