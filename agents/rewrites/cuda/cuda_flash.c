/* SPDX-License-Identifier: Apache-2.0 */
/* G05 with G26: softmax-weighted sums by tiles (attention).
 *
 *     for j top = max(top, E(dot(q, k[j])));
 *     for j { w = exp(E(dot(q, k[j])) - top);  sum += w;  for d total[d] += w * v[j, d]; }
 *     for d O[row, d] = f(total[d], sum);                         one thread per row
 *
 * becomes blocks of 16 * ROWS rows that take the keys in tiles of 64: scores of a tile as a
 * register-tiled product, maximum and sum kept up as it goes (what was added up before is scaled
 * down when the maximum rises), weights through shared memory into a second product. Each key and
 * value is then read once per block instead of once per row, and the scores are computed once.
 *
 * Rows of a block must share keys and values: these may depend on the row through (row - t) alone,
 * where t = row % T; without such a t, not at all. The number of keys may be the same for all rows,
 * or t (t + 1 when the loop includes it). The head's size is free up to the local array's.
 *
 * With more axes the row is x, which is t itself, and the others (head, batch) are one value for a
 * block: keys and values may depend on them in any way (heads that share keys).
 *
 * variant 0: products in registers, any types
 * variant 1: on tensor cores, 16-bit types (cuda_flash_mma.c)
 * variant 2: the same by Hopper's warpgroups, heads of 64 or 128 */
#include <stdlib.h>
#include <string.h>

#include "agents/rewrites/coder_rules.h"
#include "agents/rewrites/cuda/cuda_flash.h"

enum { BY_REGISTERS, BY_WARPS, BY_WARPGROUPS };
enum { MAX_HEAD = 128 }; /* of 16-bit numbers */

static const struct hone_c_loop *loop_at(const struct hone_flash *f, const struct hone_c_node *stmt)
{
    const struct hone_c_loop *l = hone_c_loop_of(&f->k->nest, stmt);
    return l && l->is_canonical && l->is_unit_step && l->declares_var &&
                   strcmp(l->lower->name, "0") == 0
               ? l
               : NULL;
}

static const struct hone_c_node *only_var(const struct hone_c_node *stmt)
{
    return stmt->kind == HONE_C_DECL_STMT && stmt->first == stmt->last &&
                   stmt->first->kind == HONE_C_VAR
               ? stmt->first
               : NULL;
}

static bool is_ref(const struct hone_c_node *n, const struct hone_c_node *decl)
{
    n = hone_c_strip(n);
    return decl && n->kind == HONE_C_REF && n->decl == decl;
}

/* for d score += q * k */
static bool read_dot(struct hone_flash *f, const struct hone_c_node *stmt)
{
    const struct hone_c_loop *l = loop_at(f, stmt);
    const struct hone_c_node *s = l ? hone_c_only_stmt(l->node->body) : NULL;
    if (!s || s->kind != HONE_C_ASSIGN_OP || strcmp(s->op, "+=") != 0 ||
        !is_ref(s->first, f->score))
        return false;
    const struct hone_c_node *p = hone_c_strip(s->last);
    if (p->kind != HONE_C_BINARY || strcmp(p->op, "*") != 0)
        return false;
    bool is_left_key = hone_cuda_depends(f->k, p->first, f->loop->var);
    if (is_left_key == hone_cuda_depends(f->k, p->last, f->loop->var))
        return false;
    f->key = is_left_key ? p->first : p->last;
    f->query = is_left_key ? p->last : p->first;
    f->dot = l;
    return true;
}

/* w = expf(E - top) */
static bool read_weight(struct hone_flash *f, const struct hone_c_node *var)
{
    const struct hone_c_node *call = var->last ? hone_c_strip(var->last) : NULL;
    if (!call || call->kind != HONE_C_CALL || !strstr(call->name, "exp") ||
        hone_c_n_children(call) != 2)
        return false;
    const struct hone_c_node *d = hone_c_strip(call->last);
    if (d->kind != HONE_C_BINARY || strcmp(d->op, "-") != 0)
        return false;
    const struct hone_c_node *top = hone_c_strip(d->last);
    if (top->kind != HONE_C_REF || !top->decl || !hone_c_uses(d->first, f->score))
        return false;
    f->top = top->decl;
    f->scaled = d->first;
    f->exp_call = call;
    return true;
}

/* for d total[d] += w * v */
static bool read_add(struct hone_flash *f, const struct hone_c_node *stmt,
                     const struct hone_c_node *w)
{
    const struct hone_c_loop *l = loop_at(f, stmt);
    const struct hone_c_node *s = l ? hone_c_only_stmt(l->node->body) : NULL;
    if (!s || s->kind != HONE_C_ASSIGN_OP || strcmp(s->op, "+=") != 0 ||
        s->first->kind != HONE_C_SUBSCRIPT || !is_ref(s->first->last, l->var))
        return false;
    const struct hone_c_node *root = hone_c_strip(s->first->first), *p = hone_c_strip(s->last);
    if (root->kind != HONE_C_REF || !root->decl || !strchr(root->decl->type, '[') ||
        p->kind != HONE_C_BINARY || strcmp(p->op, "*") != 0 ||
        is_ref(p->first, w) == is_ref(p->last, w))
        return false;
    f->total = root->decl;
    f->value = is_ref(p->first, w) ? p->last : p->first;
    f->add = l;
    return true;
}

static bool read_loop(struct hone_flash *f, const struct hone_c_node *stmt)
{
    const struct hone_c_node *w = NULL;
    f->loop = loop_at(f, stmt);
    f->dot = f->add = NULL;
    f->score = f->sum = NULL;
    if (!f->loop || f->loop->node->body->kind != HONE_C_COMPOUND)
        return false;
    for (const struct hone_c_node *s = f->loop->node->body->first; s; s = s->next) {
        const struct hone_c_node *v = only_var(s);
        if (v && !f->score && v->last && v->last->kind == HONE_C_CONST)
            f->score = v;
        else if (v && !w && f->dot && read_weight(f, v))
            w = v;
        else if (!f->dot && read_dot(f, s))
            continue;
        else if (w && !f->add && read_add(f, s, w))
            continue;
        else if (w && !f->sum && s->kind == HONE_C_ASSIGN_OP && strcmp(s->op, "+=") == 0 &&
                 is_ref(s->last, w) && s->first->kind == HONE_C_REF)
            f->sum = s->first->decl;
        else
            return false;
    }
    return w && f->dot && f->add && f->sum;
}

static void read_period(struct hone_flash *f)
{
    for (size_t i = 0; i < f->k->n_stmts; i++) {
        const struct hone_c_node *v = only_var(f->k->stmts[i]);
        const struct hone_c_node *init = v && v->last ? hone_c_strip(v->last) : NULL;
        if (!init || init->kind != HONE_C_BINARY || strcmp(init->op, "%") != 0 ||
            !is_ref(init->first, f->row) || hone_c_writes(f->k->function, v))
            continue;
        f->t = v;
        f->period = init->last;
    }
}

static size_t n_of(const struct hone_c_term *t, const struct hone_c_node *decl)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_factors; i++)
        n += t->factors[i].decl == decl;
    return n;
}

/* Terms with row and terms with t cancel when both move together. */
static bool is_shared(const struct hone_flash *f, const struct hone_c_node *expr)
{
    struct hone_c_access a[2];
    if (f->n_held > 0)
        return !hone_cuda_depends(f->k, expr, f->row);
    if (hone_c_accesses(f->k->function, expr, a, 2) != 1 || !a[0].index.is_known)
        return false;
    const struct hone_c_poly *p = &a[0].index;
    int64_t balance = 0;
    for (size_t i = 0; i < p->n; i++) {
        size_t n_row = n_of(&p->terms[i], f->row), n_t = f->t ? n_of(&p->terms[i], f->t) : 0;
        if (n_row + n_t > 1)
            return false;
        if (n_row + n_t == 0)
            continue;
        bool has_partner = false;
        for (size_t j = 0; j < p->n && f->t; j++) {
            struct hone_c_term other = p->terms[j];
            for (size_t x = 0; x < other.n_factors; x++)
                if (other.factors[x].decl == (n_row ? f->t : f->row)) {
                    other.factors[x].decl = n_row ? f->row : f->t;
                    other.factors[x].name = (n_row ? f->row : f->t)->name;
                }
            has_partner = has_partner || (j != i && other.k == -p->terms[i].k &&
                                          hone_c_same_factors(&other, &p->terms[i]));
        }
        balance += !has_partner;
    }
    return balance == 0;
}

bool hone_flash_is_by_row(const struct hone_flash *f)
{
    return is_ref(f->loop->upper, f->n_held > 0 ? f->row : f->t);
}

static bool has_fit_bound(const struct hone_flash *f)
{
    return hone_flash_is_by_row(f) || !hone_cuda_depends(f->k, f->loop->upper, f->row);
}

/* One axis, or x and others that bound nothing. */
static bool read_axes(struct hone_flash *f)
{
    for (size_t i = 0; i < f->k->n_axes; i++) {
        const struct hone_cuda_axis *a = &f->k->axes[i];
        for (size_t j = 0; j < f->k->n_axes; j++)
            if (hone_cuda_depends(f->k, a->bound, f->k->axes[j].var))
                return false;
        if (a->dim == 'x' || f->k->n_axes == 1)
            f->axis = a;
        else if (f->n_held < HONE_COUNTOF(f->held))
            f->held[f->n_held++] = a;
    }
    f->row = f->axis ? f->axis->var : NULL;
    return f->row && f->n_held + 1 == f->k->n_axes;
}

static const char *array_size(const struct hone_flash *f)
{
    const char *text = hone_c_text(f->k->in->tree, f->total), *open = strchr(text, '[');
    const char *close = open ? strchr(open, ']') : NULL;
    return close ? hone_pool_strndup(f->k->in->pool, open + 1, (size_t)(close - open - 1)) : NULL;
}

static bool is_other_fit(const struct hone_flash *f, size_t at)
{
    const struct hone_c_node *s = f->k->stmts[at];
    const struct hone_c_loop *l = hone_c_loop_of(&f->k->nest, s);
    if (s->kind == HONE_C_DECL_STMT)
        return true;
    return l && (l == f->max_loop || l == f->loop || l == f->last ||
                 hone_c_uses(s, f->total)); /* setting it to zero */
}

static bool read_flash(const struct hone_cuda_kernel *k, struct hone_flash *f)
{
    *f = (struct hone_flash){.k = k};
    if (!k->is_plain || k->n_axes == 0 || !read_axes(f))
        return false;
    if (f->n_held == 0)
        read_period(f);
    size_t at = 0;
    while (at < k->n_stmts && !read_loop(f, k->stmts[at]))
        at++;
    if (at == k->n_stmts || at + 2 != k->n_stmts)
        return false;
    f->last = loop_at(f, k->stmts[at + 1]);
    for (size_t i = 0; i < at; i++)
        if (k->stmts[i]->kind == HONE_C_FOR && hone_c_writes(k->stmts[i], f->top))
            f->max_loop = loop_at(f, k->stmts[i]);
    if (!f->last || !f->max_loop || !hone_c_uses(f->last->node, f->total) ||
        f->max_loop->is_inclusive != f->loop->is_inclusive ||
        strcmp(hone_c_text(k->in->tree, f->max_loop->upper),
               hone_c_text(k->in->tree, f->loop->upper)) != 0 ||
        strcmp(f->top->type, "float") != 0 || strcmp(f->sum->type, "float") != 0 ||
        !is_shared(f, f->key) || !is_shared(f, f->value) || !has_fit_bound(f))
        return false;
    for (size_t i = 0; i < k->n_stmts; i++)
        if (!is_other_fit(f, i))
            return false;
    f->max_size = array_size(f);
    return f->max_size != NULL;
}

/* ---- 16-bit numbers ---- */

static const char *factor_of(const struct hone_flash *f)
{
    static const struct {
        const char *name, *factor;
    } rows[] = {{"expf", " * 1.44269504f"},
                {"__expf", " * 1.44269504f"},
                {"exp", " * 1.44269504f"},
                {"exp2f", ""}};
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++)
        if (strcmp(rows[i].name, f->exp_call->name) == 0)
            return rows[i].factor;
    return NULL;
}

static bool is_linear(const struct hone_c_poly *index, const struct hone_c_node *var)
{
    for (size_t i = 0; i < index->n; i++)
        if (n_of(&index->terms[i], var) > 1)
            return false;
    return index->is_known;
}

/* The subscript of a 16-bit number that is converted to float and nothing else; NULL: it is none. */
static const struct hone_c_node *load_of(const struct hone_flash *f, const struct hone_c_node *expr,
                                         const struct hone_c_loop *along,
                                         struct hone_flash_loads *loads)
{
    struct hone_c_access a[2];
    const struct hone_c_node *n = hone_cuda_loaded(expr);
    if (!n || hone_c_accesses(f->k->function, n, a, 2) != 1 || !a[0].root ||
        a[0].root->kind != HONE_C_PARAM ||
        hone_c_poly_stride(&a[0].index, along->var) != HONE_C_STRIDE_UNIT)
        return NULL;
    for (const struct hone_c_node *c = n; c != expr; c = c->parent)
        if (c->parent->kind == HONE_C_CAST && strcmp(c->parent->type, "float") != 0)
            return NULL;
    const char *type = hone_element_type(f->k->in, a[0].root);
    if (!type || (strcmp(type, "__half") != 0 && strcmp(type, "__nv_bfloat16") != 0) ||
        (loads->type && strcmp(loads->type, type) != 0))
        return NULL;
    loads->type = type;
    loads->is_linear = loads->is_linear && is_linear(&a[0].index, f->loop->var);
    return n;
}

/* Padded; 0: too many elements, or too few for warpgroups. A dot product may not be longer. */
static int head_of(const struct hone_flash *f, bool is_wide)
{
    const int unit = is_wide ? 64 : 16;
    const char *open = strchr(f->total->type, '[');
    long n = open ? strtol(open + 1, NULL, 10) : 0;
    const char *dot = hone_c_text(f->k->in->tree, f->dot->upper),
               *add = hone_c_text(f->k->in->tree, f->add->upper);
    return n > (is_wide ? 32 : 0) && n <= MAX_HEAD && strcmp(dot, add) == 0
               ? ((int)n + unit - 1) / unit * unit
               : 0;
}

bool hone_flash_read_loads(const struct hone_flash *f, bool is_wide, struct hone_flash_loads *ret)
{
    *ret = (struct hone_flash_loads){
        .factor = factor_of(f), .head = head_of(f, is_wide), .is_linear = true};
    ret->query = load_of(f, f->query, f->dot, ret);
    ret->key = load_of(f, f->key, f->dot, ret);
    ret->value = load_of(f, f->value, f->add, ret);
    return ret->factor && ret->head > 0 && ret->query && ret->key && ret->value &&
           strcmp(f->score->type, "float") == 0 && strncmp(f->total->type, "float", 5) == 0 &&
           !f->dot->is_inclusive && !f->add->is_inclusive && !f->last->is_inclusive;
}

static size_t sites(const struct hone_coder_input *in, struct hone_coder_site *ret, size_t max)
{
    const struct hone_cuda_kernel *all[HONE_CUDA_MAX_KERNELS];
    size_t n_all = hone_cuda_kernels(in, all, HONE_CUDA_MAX_KERNELS), n = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        struct hone_flash f;
        struct hone_flash_loads loads;
        if (!read_flash(all[i], &f))
            continue;
        for (int variant = BY_WARPGROUPS; variant >= BY_WARPS && n < max; variant--)
            if (hone_flash_read_loads(&f, variant == BY_WARPGROUPS, &loads))
                ret[n++] =
                    hone_cuda_site(all[i], variant, "products of 16-bit numbers, row by row");
        if (n < max)
            ret[n++] = hone_cuda_site(all[i], BY_REGISTERS,
                                      "every row reads all keys and values by itself");
    }
    return n;
}

/* ---- text ---- */

static const char front_text[] =
    "constexpr int @BLOCK_ROWS@ = 16 * @ROWS@, @KEYS@ = 64, @GROUPS@ = (@max_size@ + 63) / 64;\n"
    "constexpr int @WEIGHTS_PITCH@ = @KEYS@ + 4, @QUAD@ = @ROWS@ < 4 ? @ROWS@ : 4;\n"
    "extern __shared__ float @tiles@[];\n"
    "@held@"
    "@scalars@"
    "const int @n_dot@ = (int)(@dot_size@), @n_value@ = (int)(@value_size@);\n"
    "const int @pitch@ = (@n_value@ + 3) / 4 * 4;\n"
    "float *const @queries@ = @tiles@, *const @keys@ = @queries@ + @n_dot@ * @BLOCK_ROWS@;\n"
    "float *const @weights@ = @keys@ + @n_dot@ * @KEYS@;\n"
    "float *const @values@ = @weights@ + @BLOCK_ROWS@ * @WEIGHTS_PITCH@;\n"
    "const int64_t @period@ = @period_text@;\n"
    "const int64_t @n_tiles@ = (@period@ + @BLOCK_ROWS@ - 1) / @BLOCK_ROWS@;\n"
    "/* The longest rows first. */\n"
    "const int64_t @t_at@ = (@n_tiles@ - 1 - blockIdx.x % @n_tiles@) * @BLOCK_ROWS@;\n"
    "const int64_t @row_at@ = @group_at@@t_at@;\n"
    "const int64_t @t_end@ = @t_at@ + @BLOCK_ROWS@ < @period@ ? @t_at@ + @BLOCK_ROWS@ : @period@;\n"
    "const int64_t @n_keys@ = @all_keys@;\n"
    "const int @thread_row@ = threadIdx.x / 16 * @ROWS@, @thread_column@ = threadIdx.x % 16 * 4;\n"
    "float @tops@[@ROWS@], @sums@[@ROWS@], @totals@[@ROWS@][@GROUPS@][4];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "@tops@[@r@] = -INFINITY;\n"
    "@sums@[@r@] = 0.0f;\n"
    "#pragma unroll\n"
    "for (int @g@ = 0; @g@ < @GROUPS@; @g@++)\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < 4; @e@++)\n"
    "@totals@[@r@][@g@][@e@] = 0.0f;\n"
    "}\n"
    "for (int @u@ = threadIdx.x; @u@ < @n_dot@ * @BLOCK_ROWS@; @u@ += 256) {\n"
    "const int @d@ = @u@ % @n_dot@, @line@ = @u@ / @n_dot@;\n"
    "const int64_t @t@ = @t_at@ + @line@, @row@ = @row_at@ + @line@;\n"
    "@queries@[@d@ * @BLOCK_ROWS@ + @line@] = @t@ < @period@ ? (float)(@query@) : 0.0f;\n"
    "}\n"
    "for (int64_t @key_at@ = 0; @key_at@ < @n_keys@; @key_at@ += @KEYS@) {\n"
    "__syncthreads();\n"
    "for (int @u@ = threadIdx.x; @u@ < @n_dot@ * @KEYS@; @u@ += 256) {\n"
    "const int @d@ = @u@ % @n_dot@, @line@ = @u@ / @n_dot@;\n"
    "const int64_t @j@ = @key_at@ + @line@, @t@ = @t_at@, @row@ = @row_at@;\n"
    "(void)@t@, (void)@row@;\n"
    "@keys@[@d@ * @KEYS@ + (@line@ ^ @d@ % 16 * 4)] = @j@ < @n_keys@ ? (float)(@key@) : 0.0f;\n"
    "}\n"
    "for (int @u@ = threadIdx.x; @u@ < @pitch@ * @KEYS@; @u@ += 256) {\n"
    "const int @d@ = @u@ % @pitch@, @line@ = @u@ / @pitch@;\n"
    "const int64_t @j@ = @key_at@ + @line@, @t@ = @t_at@, @row@ = @row_at@;\n"
    "(void)@t@, (void)@row@;\n"
    "@values@[@line@ * @pitch@ + @d@] = @j@ < @n_keys@ && @d@ < @n_value@ ? (float)(@value@) : "
    "0.0f;\n"
    "}\n"
    "__syncthreads();\n";

static const char rest_text[] =
    "float @scores@[@ROWS@][4] = {};\n"
    "#pragma unroll 4\n"
    "for (int @d@ = 0; @d@ < @n_dot@; @d@++) {\n"
    "const vector_of<float, 4> @right@ = *(const vector_of<float, 4> *)&@keys@[@d@ * @KEYS@ + "
    "(@thread_column@ ^ @d@ % 16 * 4)];\n"
    "vector_of<float, @QUAD@> @left@[@ROWS@ / @QUAD@];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@ += @QUAD@)\n"
    "@left@[@r@ / @QUAD@] = *(const vector_of<float, @QUAD@> *)&@queries@[@d@ * @BLOCK_ROWS@ + "
    "@thread_row@ + @r@];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < 4; @e@++)\n"
    "@scores@[@r@][@e@] += @left@[@r@ / @QUAD@].v[@r@ % @QUAD@] * @right@.v[@e@];\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "const int64_t @t@ = @t_at@ + @thread_row@ + @r@;\n"
    "const int64_t @last_key@ = @row_keys@;\n"
    "float @high@ = @tops@[@r@];\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < 4; @e@++) {\n"
    "const float @score@ = @scores@[@r@][@e@];\n"
    "if (@key_at@ + @thread_column@ + @e@ < @last_key@)\n"
    "@high@ = fmaxf(@high@, @scaled@);\n"
    "}\n"
    "for (int @hop@ = 8; @hop@ > 0; @hop@ /= 2)\n"
    "@high@ = fmaxf(@high@, __shfl_xor_sync(0xffffffffu, @high@, @hop@));\n"
    "const float @scale_down@ = @high@ > -INFINITY ? @exp@(@tops@[@r@] - @high@) : 1.0f;\n"
    "float @part@ = 0.0f;\n"
    "vector_of<float, 4> @weight@;\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < 4; @e@++) {\n"
    "const float @score@ = @scores@[@r@][@e@];\n"
    "/* The difference as it was written: rounded once where a product and it are one operation. "
    "*/\n"
    "@weight@.v[@e@] = @key_at@ + @thread_column@ + @e@ < @last_key@ && @high@ > -INFINITY ? "
    "@exp@(@scaled@ - @high@) : 0.0f;\n"
    "@part@ += @weight@.v[@e@];\n"
    "}\n"
    "*(vector_of<float, 4> *)&@weights@[(@thread_row@ + @r@) * @WEIGHTS_PITCH@ + @thread_column@] "
    "= "
    "@weight@;\n"
    "for (int @hop@ = 8; @hop@ > 0; @hop@ /= 2)\n"
    "@part@ += __shfl_xor_sync(0xffffffffu, @part@, @hop@);\n"
    "@sums@[@r@] = @sums@[@r@] * @scale_down@ + @part@;\n"
    "@tops@[@r@] = @high@;\n"
    "#pragma unroll\n"
    "for (int @g@ = 0; @g@ < @GROUPS@; @g@++)\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < 4; @e@++)\n"
    /* what overflowed before a larger score came counts for nothing: 0 * INFINITY is a NaN */
    "@totals@[@r@][@g@][@e@] = @scale_down@ > 0.0f ? @totals@[@r@][@g@][@e@] * @scale_down@ : "
    "0.0f;\n"
    "}\n"
    "__syncwarp();\n"
    "for (int @line@ = 0; @line@ < @KEYS@; @line@ += 4) {\n"
    "vector_of<float, 4> @left@[@ROWS@];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "@left@[@r@] = *(const vector_of<float, 4> *)&@weights@[(@thread_row@ + @r@) * @WEIGHTS_PITCH@ "
    "+ @line@];\n"
    "#pragma unroll\n"
    "for (int @g@ = 0; @g@ < @GROUPS@; @g@++) {\n"
    "const int @column@ = @g@ * 64 + @thread_column@;\n"
    "if (@column@ < @pitch@) {\n"
    "#pragma unroll\n"
    "for (int @s@ = 0; @s@ < 4; @s@++) {\n"
    "const vector_of<float, 4> @right@ = *(const vector_of<float, 4> *)&@values@[(@line@ + @s@) * "
    "@pitch@ + @column@];\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++)\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < 4; @e@++)\n"
    "@totals@[@r@][@g@][@e@] += @left@[@r@].v[@s@] * @right@.v[@e@];\n"
    "}\n"
    "}\n"
    "}\n"
    "}\n"
    "}\n"
    "#pragma unroll\n"
    "for (int @r@ = 0; @r@ < @ROWS@; @r@++) {\n"
    "if (@t_at@ + @thread_row@ + @r@ >= @period@)\n"
    "break;\n"
    "const @row_type@ @row@ = @row_at@ + @thread_row@ + @r@;\n"
    "@locals@"
    "const float @sum@ = @sums@[@r@];\n"
    "#pragma unroll\n"
    "for (int @g@ = 0; @g@ < @GROUPS@; @g@++)\n"
    "#pragma unroll\n"
    "for (int @e@ = 0; @e@ < 4; @e@++) {\n"
    "const @last_type@ @last_d@ = @g@ * 64 + @thread_column@ + @e@;\n"
    "if (@last_d@ < @last_size@) {\n"
    "@store@\n"
    "}\n"
    "}\n"
    "}\n";

const char *hone_flash_declarations(const struct hone_flash *f, bool with_row)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    const struct hone_coder_input *in = f->k->in;
    for (size_t i = 0; i < f->k->n_stmts; i++) {
        const struct hone_c_node *s = f->k->stmts[i];
        bool is_state = false, has_row = false, is_needed = !with_row;
        if (s->kind != HONE_C_DECL_STMT)
            continue;
        for (const struct hone_c_node *v = s->first; v; v = v->next) {
            is_state = is_state || v == f->top || v == f->sum || v == f->total;
            has_row = has_row || (v->last && hone_cuda_depends(f->k, v->last, f->row));
            is_needed = is_needed || hone_cuda_depends(f->k, f->last->node, v);
        }
        for (const struct hone_c_node *v = s->first; is_state && v && !with_row; v = v->next)
            if (v != f->top && v != f->sum && v != f->total && v->last && !strchr(v->type, '[') &&
                !hone_cuda_depends(f->k, v->last, f->row))
                hone_buf_printf(&out, "const %s %s = %s;\n", hone_cuda_type(in, v), v->name,
                                hone_c_text(in->tree, v->last));
        if (!is_state && is_needed && has_row == with_row)
            hone_buf_printf(&out, "%.*s\n", (int)(hone_c_stmt_end(in->tree, s) - s->begin),
                            in->tree->source + s->begin);
    }
    return hone_pool_strdup(in->pool, out.data ? out.data : "");
}

const char *hone_flash_expression(const struct hone_flash *f, const struct hone_c_node *expr,
                                  const struct hone_c_loop *inner, const char *d, const char *t)
{
    struct hone_cuda_sub subs[24];
    size_t n = 0;
    subs[n++] = (struct hone_cuda_sub){f->row, f->row->name};
    for (size_t i = 0; i < f->n_held; i++)
        subs[n++] = (struct hone_cuda_sub){f->held[i]->var, f->held[i]->var->name};
    subs[n++] = (struct hone_cuda_sub){f->loop->var, f->loop->var->name};
    if (inner)
        subs[n++] = (struct hone_cuda_sub){inner->var, d};
    if (f->t)
        subs[n++] = (struct hone_cuda_sub){f->t, t};
    if (f->score)
        subs[n++] = (struct hone_cuda_sub){f->score, f->score->name};
    for (size_t i = 0; i < f->k->n_stmts; i++) {
        const struct hone_c_node *s = f->k->stmts[i];
        for (const struct hone_c_node *v = s->kind == HONE_C_DECL_STMT ? s->first : NULL;
             v && n < HONE_COUNTOF(subs); v = v->next)
            if (v->last && !hone_cuda_depends(f->k, v->last, f->row))
                subs[n++] = (struct hone_cuda_sub){v, v->name};
    }
    return hone_cuda_inline(f->k, expr, subs, n);
}

const char *hone_flash_store(const struct hone_flash *f, const char *total)
{
    struct hone_c_edits e;
    const struct hone_c_node *body = f->last->node->body;
    hone_c_edits_init(&e, f->k->in->tree);
    for (const struct hone_c_node *n = body; n; n = hone_c_walk(body, n))
        if (n->kind == HONE_C_SUBSCRIPT && is_ref(n->first, f->total))
            hone_c_replace(&e, n->begin, n->end, total);
    return hone_cuda_body(&e, body);
}

const char *hone_flash_held(const struct hone_flash *f, const char *group)
{
    const struct hone_coder_input *in = f->k->in;
    const char *out = "";
    for (size_t i = 0; i < f->n_held; i++) {
        const struct hone_c_node *v = f->held[i]->var;
        const char *bound = hone_cuda_inline(f->k, f->held[i]->bound, NULL, 0);
        if (!bound)
            return NULL;
        out = i + 1 < f->n_held
                  ? hone_pool_printf(in->pool, "%sconst %s %s = %s %% (%s);\n%s /= (%s);\n", out,
                                     hone_cuda_type(in, v), v->name, group, bound, group, bound)
                  : hone_pool_printf(in->pool, "%sconst %s %s = %s;\n", out, hone_cuda_type(in, v),
                                     v->name, group);
    }
    return out;
}

/* Which head of which batch the block is: blocks of all are along x, where a grid has most room. */
static const char *held_text(const struct hone_flash *f, const char *period)
{
    const struct hone_coder_input *in = f->k->in;
    const char *left = hone_fresh_name(in, "n_left"), *held = hone_flash_held(f, left);
    return held && f->n_held > 0
               ? hone_pool_printf(
                     in->pool,
                     "int64_t %s = blockIdx.x / ((%s + 16 * @ROWS@ - 1) / (16 * @ROWS@));\n%s",
                     left, period, held)
               : held;
}

static const char *make_body(const struct hone_flash *f, const char *rows)
{
    const struct hone_coder_input *in = f->k->in;
    struct hone_pool *pool = in->pool;
    const char *t = f->t ? f->t->name : hone_fresh_name(in, "t");
    const char *d = hone_fresh_name(in, "element"), *r = hone_fresh_name(in, "r"),
               *g = hone_fresh_name(in, "g"), *e = hone_fresh_name(in, "e"),
               *totals = hone_fresh_name(in, "totals"), *period = hone_fresh_name(in, "n_group"),
               *t_end = hone_fresh_name(in, "t_end");
    const char *query = hone_flash_expression(f, f->query, f->dot, d, t),
               *key = hone_flash_expression(f, f->key, f->dot, d, t),
               *value = hone_flash_expression(f, f->value, f->add, d, t),
               *scaled = hone_flash_expression(f, f->scaled, NULL, d, t),
               *dot_size = hone_flash_expression(f, f->dot->upper, NULL, d, t),
               *value_size = hone_flash_expression(f, f->add->upper, NULL, d, t),
               *last_size = hone_flash_expression(f, f->last->upper, NULL, d, t),
               *upper = hone_flash_expression(f, f->loop->upper, NULL, d, t),
               *group =
                   hone_flash_expression(f, f->period ? f->period : f->axis->bound, NULL, d, t);
    const char *held = group ? held_text(f, group) : NULL;
    if (!held || !query || !key || !value || !scaled || !dot_size || !value_size || !last_size ||
        !upper || !group || f->dot->is_inclusive || f->add->is_inclusive || f->last->is_inclusive)
        return NULL;
    bool by_row = hone_flash_is_by_row(f);
    const char *n_tiles = hone_fresh_name(in, "n_tiles");
    const struct hone_cuda_word of_held[] = {{"ROWS", rows}, {NULL, NULL}};
    const char *one = f->loop->is_inclusive ? " + 1" : "";
    const struct hone_cuda_word words[] = {
        {"ROWS", rows},
        {"KEYS", "KEYS"},
        {"max_size", f->max_size},
        {"held", hone_cuda_fill(in, held, of_held)},
        {"group_at",
         f->n_held > 0 ? "" : hone_pool_printf(pool, "blockIdx.x / %s * %s + ", n_tiles, period)},
        {"n_tiles", n_tiles},
        {"scalars", hone_flash_declarations(f, false)},
        {"locals", hone_flash_declarations(f, true)},
        {"dot_size", dot_size},
        {"value_size", value_size},
        {"last_size", last_size},
        {"last_type", hone_cuda_type(in, f->last->var)},
        {"last_d", f->last->var->name},
        {"period", period},
        {"period_text", group},
        {"t", t},
        {"t_end", t_end},
        {"row", f->row->name},
        {"row_type", hone_cuda_type(in, f->row)},
        {"all_keys",
         hone_pool_printf(pool, by_row ? "%s - 1%s" : "(%s)%s", by_row ? t_end : upper, one)},
        {"row_keys", hone_pool_printf(pool, by_row ? "%s%s" : "(%s)%s", by_row ? t : upper, one)},
        {"d", d},
        {"j", f->loop->var->name},
        {"r", r},
        {"g", g},
        {"e", e},
        {"totals", totals},
        {"query", query},
        {"key", key},
        {"value", value},
        {"score", f->score->name},
        {"scaled", scaled},
        {"exp", f->exp_call->name},
        {"sum", f->sum->name},
        {"store", hone_flash_store(f, hone_pool_printf(pool, "%s[%s][%s][%s]", totals, r, g, e))},
        {NULL, NULL},
    };
    return hone_pool_printf(pool, "%s%s", hone_cuda_fill(in, front_text, words),
                            hone_cuda_fill(in, rest_text, words));
}

static char *refuse(struct hone_err *err)
{
    hone_fail(err, HONE_E_ARG, "the region is no softmax-weighted sum whose sizes are known");
    return NULL;
}

static bool by_registers(const struct hone_flash *f, struct hone_flash_text *ret)
{
    const struct hone_coder_input *in = f->k->in;
    const char *rows;
    ret->pragmas = hone_cuda_tunable(in, "ROWS", "4, 8, 2", &rows);
    ret->rows = hone_pool_printf(in->pool, "16 * %s", rows);
    ret->threads = ret->bounds = "256";
    ret->helpers = hone_cuda_vector_helper(in);
    ret->body = make_body(f, rows);
    return ret->body != NULL;
}

/* Of shared memory for float tiles; NULL: a size is not known there. */
static const char *tile_bytes(const struct hone_flash *f, const struct hone_cuda_launch *l,
                              const char *rows)
{
    const char *dot = hone_cuda_at_launch(f->k, l, f->dot->upper),
               *value = hone_cuda_at_launch(f->k, l, f->add->upper);
    if (!dot || !value)
        return NULL;
    return hone_pool_printf(f->k->in->pool,
                            "(size_t)((%s + 64) * (%s) + %s * 68 + 64 * (((%s) + 3) / 4 * 4)) * "
                            "sizeof(float)",
                            rows, dot, rows, value);
}

/* Blocks of all groups along x; NULL: a bound is not known there. */
static const char *grid_text(const struct hone_flash *f, const struct hone_cuda_launch *l,
                             const char *rows)
{
    struct hone_pool *pool = f->k->in->pool;
    const char *all = hone_cuda_at_launch(f->k, l, f->axis->bound), *held = "";
    const char *period = f->period ? hone_cuda_at_launch(f->k, l, f->period) : all;
    for (size_t h = 0; held && h < f->n_held; h++) {
        const char *n = hone_cuda_at_launch(f->k, l, f->held[h]->bound);
        held = n ? hone_pool_printf(pool, "%s * (%s)", held, n) : NULL;
    }
    if (!all || !period || !held)
        return NULL;
    return hone_pool_printf(pool, "(unsigned)((%s) / (%s) * (((%s) + %s - 1) / (%s))%s)", all,
                            period, period, rows, rows, held);
}

static bool set_launch(struct hone_c_edits *edits, const struct hone_flash *f,
                       const struct hone_cuda_launch *l, const struct hone_flash_text *text)
{
    const struct hone_coder_input *in = f->k->in;
    const char *grid = grid_text(f, l, text->rows);
    const char *bytes = text->bytes ? text->bytes : tile_bytes(f, l, text->rows);
    const char *indent = hone_c_indent(in->tree, l->call->begin);
    if (!grid || !bytes || l->call->parent->kind != HONE_C_COMPOUND)
        return false;
    hone_cuda_set_launch(edits, l, grid, text->threads, bytes);
    hone_c_replace(
        edits, l->call->begin, l->call->begin,
        hone_pool_printf(in->pool,
                         "cudaFuncSetAttribute(%s, "
                         "cudaFuncAttributeMaxDynamicSharedMemorySize,\n%s                         "
                         "(int)(%s));\n%s",
                         f->k->function->name, indent, bytes, indent));
    return true;
}

static char *apply(const struct hone_coder_input *in, const struct hone_coder_site *site,
                   struct hone_err *err)
{
    const struct hone_cuda_kernel *k = hone_cuda_kernel_at(in, site->node);
    struct hone_flash f;
    struct hone_flash_text text = {0};
    struct hone_c_edits edits;
    if (!k || !read_flash(k, &f))
        return refuse(err);
    if (site->variant == BY_REGISTERS ? !by_registers(&f, &text)
                                      : !hone_flash_mma(&f, site->variant == BY_WARPGROUPS, &text))
        return refuse(err);
    hone_c_edits_init(&edits, in->tree);
    for (size_t i = 0; i < k->n_launches; i++)
        if (!set_launch(&edits, &f, &k->launches[i], &text))
            return refuse(err);
    hone_cuda_put_helpers(&edits, text.helpers);
    hone_cuda_replace_kernel(&edits, k, text.pragmas, hone_cuda_header(k, text.bounds, ""),
                             text.body);
    hone_cuda_drop_unused(&edits, k);
    return hone_cuda_finish(&edits);
}

const struct hone_rewrite hone_rewrite_cuda_flash = {
    .name = "cuda_flash",
    .target = "cuda",
    .strategy = "G05",
    .words = "softmax-weighted sums by tiles of keys",
    .sites = sites,
    .apply = apply,
};
