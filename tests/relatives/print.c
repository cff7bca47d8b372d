/* SPDX-License-Identifier: Apache-2.0 */
/* The C text of a relative: element type, counters, loop headers, subscripts, row pointers, names. */
#include <stdio.h>
#include <string.h>

#include "tests/relatives/relative.h"

struct printer {
    struct relative *r;
    struct hone_buf out;
    bool inner_first;
    bool is_top, has_macro, has_get; /* counters at the top; AT(A, i, j, N); get(A + i * N, j) */
    unsigned style, rows_percent;
    int depth;
    const struct relative_array *row; /* has a pointer to the row of row_var */
    const char *row_var;
};

static void indent(struct printer *p)
{
    hone_buf_printf(&p->out, "%*s", 4 * p->depth, "");
}

static const char *group(struct hone_pool *pool, const char *text)
{
    return strpbrk(text, "+-*/ ") ? hone_pool_printf(pool, "(%s)", text) : text;
}

static const char *expression(struct printer *p, const char *text);

enum form { AS_INDEX, IN_MACRO, IN_GET };

/* The index; of two dimensions in another form the whole element. */
static const char *subscript(struct printer *p, const struct relative_ref *ref, enum form form)
{
    struct hone_pool *pool = p->r->pool;
    const struct relative_array *a = ref->array;
    const char *i[RELATIVE_MAX_DIMS] = {"0"}, *d[RELATIVE_MAX_DIMS] = {"1"};
    for (size_t k = 0; k < a->n_dims; k++) {
        size_t from = a->is_transposed ? a->n_dims - 1 - k : k;
        i[k] = expression(p, ref->index[from]);
        d[k] = group(pool, a->dims[from]);
    }
    if (a->pitch)
        d[a->n_dims - 1] = a->pitch;
    if (a->n_dims == 1)
        return i[0];
    const char *high = group(pool, i[0]), *low = i[a->n_dims - 1];
    if (form == IN_MACRO && a->n_dims == 2)
        return hone_pool_printf(pool, "AT(%s, %s, %s, %s)", a->name, i[0], low, d[1]);
    if (form == IN_GET && a->n_dims == 2)
        return hone_pool_printf(pool, "get(%s + %s * %s, %s)", a->name, high, d[1], low);
    if (a->n_dims == 3)
        high = hone_pool_printf(pool, "(%s * %s + %s)", high, d[1], i[1]);
    const char *product = hone_pool_printf(pool, "%s * %s", high, d[a->n_dims - 1]);
    return p->inner_first ? hone_pool_printf(pool, "%s + %s", low, product)
                          : hone_pool_printf(pool, "%s + %s", product, low);
}

static const char *element(struct printer *p, const struct relative_ref *ref, bool is_target)
{
    const struct relative_array *a = ref->array;
    if (p->has_macro && a->n_dims == 2)
        return subscript(p, ref, IN_MACRO);
    if (p->has_get && !is_target && !a->is_index && a->n_dims == 2)
        return subscript(p, ref, IN_GET);
    bool is_got = p->has_get && !is_target && !a->is_index;
    return hone_pool_printf(p->r->pool, is_got ? "get(&%s[%s], 0)" : "%s[%s]", a->name,
                            subscript(p, ref, AS_INDEX));
}

static const char *expression(struct printer *p, const char *text)
{
    struct relative_ref ref;
    struct hone_buf out = HONE_BUF_INIT;
    const char *at = text;
    for (; relative_ref(p->r, at, &ref); at = ref.end) {
        hone_buf_add(&out, at, (size_t)(ref.begin - at));
        if (ref.array == p->row && strcmp(ref.index[0], p->row_var) == 0)
            hone_buf_printf(&out, "%s_row[%s]", ref.array->name, expression(p, ref.index[1]));
        else
            hone_buf_str(&out, element(p, &ref, ref.begin == text));
    }
    hone_buf_str(&out, at);
    const char *ret = hone_pool_strdup(p->r->pool, out.data ? out.data : "");
    hone_buf_done(&out);
    return ret;
}

static bool is_written(const struct relative_node *n, const char *name)
{
    size_t len = strlen(name);
    if (n->text && strncmp(n->text, name, len) == 0 && n->text[len] == '(')
        return true;
    for (const struct relative_node *c = n->first; c; c = c->next)
        if (is_written(c, name))
            return true;
    return false;
}

static void header(struct printer *p, const struct relative_node *n)
{
    const char *v = n->var, *lo = n->lower, *hi = n->upper;
    struct hone_buf *o = &p->out;
    indent(p);
    if (p->is_top && !n->is_reversed && !n->step)
        hone_buf_printf(o, "for (%s = %s; %s < %s; %s++) {\n", v, lo, v, hi, v);
    else if (n->is_reversed)
        hone_buf_printf(o, "for (COUNTER %s = %s - 1; %s >= %s; %s--) {\n", v,
                        group(p->r->pool, hi), v, lo, v);
    else if (n->step)
        hone_buf_printf(o, "for (COUNTER %s = %s; %s < %s; %s += %s) {\n", v, lo, v, hi, v,
                        n->step);
    else if (p->style == 1)
        hone_buf_printf(o, "for (COUNTER %s = %s; %s <= %s - 1; ++%s) {\n", v, lo, v,
                        group(p->r->pool, hi), v);
    else if (p->style == 2)
        hone_buf_printf(o, "for (COUNTER %s = %s; %s > %s; %s += 1) {\n", v, lo,
                        group(p->r->pool, hi), v, v);
    else if (p->style == 3)
        hone_buf_printf(o, "COUNTER %s;\n%*sfor (%s = %s; %s < %s; %s++) {\n", v, 4 * p->depth, "",
                        v, lo, v, hi, v);
    else if (p->style == 4)
        hone_buf_printf(o, "COUNTER %s = %s;\n%*swhile (%s < %s) {\n", v, lo, 4 * p->depth, "", v,
                        hi);
    else
        hone_buf_printf(o, "for (COUNTER %s = %s; %s < %s; %s++) {\n", v, lo, v, hi, v);
}

static void block(struct printer *p, const struct relative_node *first);

static bool has_row(const struct printer *p, const struct relative_node *n,
                    const struct relative_array *a, const char *var)
{
    struct relative_ref ref;
    for (const char *at = n->text ? n->text : ""; relative_ref(p->r, at, &ref); at = ref.end)
        if (ref.array == a && strcmp(ref.index[0], var) == 0)
            return true;
    for (const struct relative_node *c = n->first; c; c = c->next)
        if (has_row(p, c, a, var))
            return true;
    return false;
}

/* A pointer to a row of some array whose first index is this loop's counter. */
static void begin_rows(struct printer *p, const struct relative_node *n)
{
    struct relative *r = p->r;
    const struct relative_array *a = &r->arrays[relative_random(r, r->n_arrays)];
    if (p->row || a->n_dims != 2 || a->is_transposed || a->is_index ||
        relative_random(r, 100) >= p->rows_percent || !has_row(p, n, a, n->var))
        return;
    p->row = a;
    p->row_var = n->var;
    indent(p);
    hone_buf_printf(&p->out, "%sT *%s_row = %s + %s * %s;\n",
                    is_written(r->root, a->name) ? "" : "const ", a->name, a->name, n->var,
                    a->pitch ? a->pitch : group(r->pool, a->dims[1]));
}

static void loop(struct printer *p, const struct relative_node *n)
{
    const struct relative_array *row = p->row;
    bool is_while = p->style == 4 && !n->is_reversed && !n->step;
    bool has_scope = p->style >= 3 && !n->is_reversed && !n->step;
    if (has_scope) {
        indent(p);
        hone_buf_str(&p->out, "{\n");
        p->depth++;
    }
    header(p, n);
    p->depth++;
    begin_rows(p, n);
    block(p, n->first);
    p->row = row;
    if (is_while) {
        indent(p);
        hone_buf_printf(&p->out, "%s++;\n", n->var);
    }
    p->depth--;
    indent(p);
    hone_buf_str(&p->out, "}\n");
    if (has_scope) {
        p->depth--;
        indent(p);
        hone_buf_str(&p->out, "}\n");
    }
}

static void block(struct printer *p, const struct relative_node *first)
{
    for (const struct relative_node *n = first; n; n = n->next) {
        if (n->var) {
            loop(p, n);
            continue;
        }
        indent(p);
        hone_buf_printf(&p->out, "%s%s\n", expression(p, n->text), n->first ? " {" : "");
        if (n->first) {
            p->depth++;
            block(p, n->first);
            p->depth--;
            indent(p);
            hone_buf_str(&p->out, "}\n");
        }
    }
}

static bool is_reversed(const struct relative_node *n)
{
    for (; n; n = n->next)
        if (n->is_reversed || is_reversed(n->first))
            return true;
    return false;
}

/* Names of loops, each once. */
static const char *counters_of(struct relative *r, const struct relative_node *n, const char *found)
{
    for (; n; n = n->next) {
        if (n->var && !relative_has_word(found, n->var))
            found = hone_pool_printf(r->pool, "%s%s%s", found, *found ? ", " : "", n->var);
        found = counters_of(r, n->first, found);
    }
    return found;
}

/* What ordinary style hides loops with. */
static const char *style_text(const struct printer *p)
{
    return p->has_macro ? "#define AT(f, i, j, n) ((f)[(i) * (n) + (j)])\n"
           : p->has_get ? "static T get(const T *p, COUNTER at)\n{\n    return p[at];\n}\n"
                        : "";
}

static void head(struct printer *p)
{
    struct relative *r = p->r;
    struct hone_buf *o = &p->out;
    hone_buf_printf(o, "/* SPDX-License-Identifier: Apache-2.0 */\n/* %s:%s */\n/* new:",
                    r->kernel->name, *r->steps ? r->steps : " as it is");
    for (size_t i = 0; i < r->n_arrays; i++) {
        const struct relative_array *a = &r->arrays[i];
        hone_buf_printf(o, " --shape %s[", a->name);
        for (size_t k = 0; k < a->n_dims; k++) {
            const char *dim = a->dims[a->is_transposed ? a->n_dims - 1 - k : k];
            hone_buf_printf(o, "%s%s", k ? "," : "",
                            a->pitch && k == a->n_dims - 1 ? a->pitch : dim);
        }
        hone_buf_str(o, "]");
        if (is_written(r->root, a->name))
            hone_buf_printf(o, " --inout %s", a->name);
        if (a->is_index)
            hone_buf_printf(o, " --index %s", a->name);
    }
    hone_buf_printf(
        o,
        " --size %s */\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n%s%s"
        "void relative(",
        r->sizes, r->helper, style_text(p));
    const char *restricted = relative_random(r, 5) == 0 ? "restrict " : "";
    for (size_t i = 0; i < r->n_arrays; i++) {
        const struct relative_array *a = &r->arrays[i];
        hone_buf_printf(o, "%s%s%s *%s%s", i ? ", " : "",
                        is_written(r->root, a->name) ? "" : "const ", a->is_index ? "int32_t" : "T",
                        restricted, a->name);
    }
    hone_buf_printf(o, "%s)\n{\n", relative_replace(r->pool, r->params, "COUNTER", "int64_t"));
    if (p->is_top)
        hone_buf_printf(o, "    COUNTER %s;\n", counters_of(r, r->root->first, ""));
}

/* Other names for arrays and counters. */
static const char *rename_words(struct relative *r, const char *text)
{
    static const char *const counters[][2] = {{"i", "row"},  {"j", "col"},  {"k", "depth"},
                                              {"p", "tap"},  {"q", "lane"}, {"N", "n_rows"},
                                              {"M", "width"}};
    unsigned scheme = (unsigned)relative_random(r, 3);
    for (size_t i = 0; scheme > 0 && i < HONE_COUNTOF(counters); i++)
        text = relative_replace(r->pool, text, counters[i][0], counters[i][1]);
    for (size_t i = 0; scheme == 2 && i < r->n_arrays; i++) {
        const char *name = hone_pool_printf(r->pool, "tensor_%zu", i);
        text = relative_replace(r->pool, text, r->arrays[i].name, name);
    }
    return text;
}

const char *relative_print(struct relative *r)
{
    static const char *const types[][3] = {
        {"float", "0.5f", "expf"}, {"double", "0.5", "exp"}, {"int32_t", "2", "abs"}};
    static const char *const counters[] = {"int64_t", "int64_t", "int", "long", "size_t"};
    static const unsigned styles[] = {0, 0, 0, 0, 1, 2, 3, 4};
    struct printer p = {.r = r, .out = HONE_BUF_INIT, .depth = 1};
    p.style = styles[relative_random(r, HONE_COUNTOF(styles))];
    p.inner_first = relative_random(r, 4) == 0;
    p.rows_percent = relative_random(r, 4) == 0 ? 60 : 0;
    const char *const *type =
        types[relative_random(r, 10) < 5 ? 0 : relative_random(r, r->flags & FLOATS ? 2 : 3)];
    /* size_t has no turn before 0: "i <= j - 1" would not end */
    bool may_be_unsigned = !is_reversed(r->root) && p.style != 1;
    const char *counter = counters[relative_random(r, may_be_unsigned ? 5 : 4)];
    p.is_top = p.style < 3 && relative_random(r, 5) == 0;
    p.has_macro = relative_random(r, 6) == 0;
    p.has_get = !p.has_macro && relative_random(r, 6) == 0;
    head(&p);
    block(&p, r->root->first);
    hone_buf_str(&p.out, "}\n");
    const char *text = hone_pool_strdup(r->pool, p.out.data);
    hone_buf_done(&p.out);
    text = relative_replace(r->pool, text, "T", type[0]);
    text = relative_replace(r->pool, text, "HALF", type[1]);
    text = relative_replace(r->pool, text, "EXP", type[2]);
    text = relative_replace(r->pool, text, "COUNTER", counter);
    text = relative_replace(r->pool, text, "HELPER", relative_random(r, 2) ? "shaped" : "activate");
    return rename_words(r, text);
}
