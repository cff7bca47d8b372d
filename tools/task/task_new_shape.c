/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of a new task's arrays: as the user gives them, as they are declared, as loops and
 * subscripts tell them (extent.h), or the only integer. */
#include "tools/task/task_new_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/task/expr.h"

static int too_many_axes(struct hone_new_work *w)
{
    return hone_fail(w->err, HONE_E_LIMIT, "too many axes");
}

/* ---- what the subscripts say ---- */

/* The one term of the highest degree, where there is one. */
static const struct hone_term *leading(const struct hone_poly *p)
{
    const struct hone_term *best = NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!best || p->terms[i].degree > best->degree) {
            best = &p->terms[i];
            n = 0;
        }
        n += p->terms[i].degree == best->degree;
    }
    return n == 1 ? best : NULL;
}

/* A loop that leaves out a border reaches less than the array has: n*m - m - 1 is n*m. */
static bool round_up(struct hone_reach *r)
{
    const struct hone_term *first = leading(&r->size);
    bool may = first && (first->degree > 1 || (first->degree == 1 && r->starts_late));
    for (size_t i = 0; may && i < r->size.n; i++)
        may = &r->size.terms[i] == first || r->size.terms[i].factor < 0;
    if (!may || r->size.n == 1)
        return false;
    const struct hone_term only = *first;
    r->size.terms[0] = only;
    r->size.n = 1;
    return true;
}

static void look_at_array(struct hone_new_work *w, size_t i)
{
    struct hone_new_reach *found = &w->reaches[i];
    const struct hone_param *p = &w->proto.params[i];
    found->reach = hone_extent_reach(w->index, p, false);
    bool is_rounded = round_up(&found->reach);
    if (found->reach.has_steps && found->reach.size.n != 1) {
        struct hone_reach less = hone_extent_reach(w->index, p, true);
        bool is_less_rounded = round_up(&less);
        if (less.size.n == 1) {
            found->reach = less;
            is_rounded = is_less_rounded;
            found->n_steps = hone_extent_steps(w->index, found->steps, HONE_NEW_STEPS);
        }
    }
    found->is_partial = found->reach.size.is_known && (is_rounded || found->reach.starts_late);
}

/* The parameter's name in the task: another one where that has a meaning there. */
static void name_param(struct hone_new_work *w, size_t i)
{
    const char *own = w->proto.params[i].name, *other = own;
    if (!hone_task_is_name(own, false))
        other = hone_new_free_name(w, hone_pool_printf(w->pool, "%s_value", own));
    w->names[i] = hone_task_is_name(other, false) ? other : own;
    if (w->names[i] != own)
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "'%s' is '%s' in the task, where '%s' has a meaning", own,
                                          other, own));
}

const char *hone_new_task_name(const struct hone_new_work *w, const struct hone_param *param)
{
    return w->names[param - w->proto.params];
}

int hone_new_look(struct hone_new_work *w)
{
    for (size_t i = 0; i < w->proto.n_params; i++)
        name_param(w, i);
    int code = hone_extent_open(w->reading, &w->proto, w->names, w->pool, &w->index, w->err);
    for (size_t i = 0; code == 0 && i < w->proto.n_params; i++)
        if (w->proto.params[i].is_pointer)
            look_at_array(w, i);
    return code;
}

const struct hone_new_reach *hone_new_reach(const struct hone_new_work *w,
                                            const struct hone_param *param)
{
    return &w->reaches[param - w->proto.params];
}

static bool has_name(const struct hone_poly *p, const struct hone_new_work *w, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        for (int k = 0; k < p->terms[i].degree; k++)
            if (hone_new_has_word(hone_extent_name(w->index, p->terms[i].names[k])->text, name,
                                  w->pool))
                return true;
    return false;
}

static bool is_in_list(const struct hone_new_work *w, const struct hone_strs *list,
                       const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (hone_new_has_word(list->v[i], name, w->pool))
            return true;
    return false;
}

/* An integer that sizes nothing is a value: a byte to look for, a shift. */
bool hone_new_is_size(const struct hone_new_work *w, const struct hone_param *p)
{
    const struct hone_task_new_options *o = w->options;
    bool is_known = true;
    if (is_in_list(w, &o->shapes, p->name) || is_in_list(w, &o->sizes, p->name) ||
        is_in_list(w, &o->roles, p->name) || is_in_list(w, &o->constraints, p->name) ||
        (o->flops && hone_new_has_word(o->flops, p->name, w->pool)))
        return true;
    if (hone_dtype_bytes(p->dtype) == 1)
        return false;
    for (size_t i = 0; i < w->proto.n_params; i++) {
        const struct hone_param *other = &w->proto.params[i];
        for (size_t d = 0; d < other->n_dims; d++)
            if (hone_new_has_word(other->dims[d], p->name, w->pool))
                return true;
        if (!other->is_pointer)
            continue;
        is_known = is_known && w->reaches[i].reach.size.is_known;
        if (w->reaches[i].reach.size.is_known &&
            has_name(&w->reaches[i].reach.size, w, hone_new_task_name(w, p)))
            return true;
    }
    return !is_known || hone_extent_is_size(w->index, p->name);
}

/* ---- axes ---- */

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10;
}

static bool is_name(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
               strlen(text) &&
           strspn(text, "0123456789") == 0 && *text;
}

/* A size that the function does not get, such as the entries of a sparse matrix. */
static int add_made_axis(struct hone_new_work *w, const char *name, int *ret)
{
    if (w->n_axes == HONE_LIMIT_AXES)
        return too_many_axes(w);
    *ret = (int)w->n_axes++;
    w->axes[*ret] = (struct hone_new_axis){.name = name, .c_name = name, .is_in_shape = true};
    hone_new_note(w, hone_pool_printf(w->pool,
                                      "'%s' is a size that your function does not get: kernels "
                                      "get it as a parameter more",
                                      name));
    return 0;
}

/* `/` between sizes is C's. */
static const char *floor_division(struct hone_new_work *w, const char *dim)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    for (const char *c = dim; *c; c++) {
        bool is_single = *c == '/' && c[1] != '/' && (c == dim || c[-1] != '/');
        hone_buf_printf(&text, is_single ? "//" : "%c", *c);
    }
    return hone_pool_strdup(w->pool, text.data ? text.data : "");
}

/* An axis for one dimension: an existing one, a number, or a formula over existing ones. */
static int axis_of_dim(struct hone_new_work *w, const char *tensor, const char *dim, int *ret)
{
    struct hone_expr_name names[HONE_LIMIT_AXES];
    const struct hone_task_new_options *o = w->options;
    int a = hone_new_find_axis(w, dim);
    dim = floor_division(w, dim);
    for (size_t i = 0; a < 0 && i < w->n_axes; i++)
        if (w->axes[i].expression && strcmp(w->axes[i].expression, dim) == 0)
            a = (int)i;
    const char *number = a < 0 ? hone_prototype_define(w->source, dim, w->pool) : NULL;
    if (number && is_number(number))
        dim = number;
    for (size_t i = 0; a < 0 && is_number(dim) && i < w->n_axes; i++)
        if (w->axes[i].value > 0 && w->axes[i].value == strtoll(dim, NULL, 10))
            a = (int)i;
    if (a < 0 && w->n_axes == HONE_LIMIT_AXES)
        return too_many_axes(w);
    if (a < 0 && is_number(dim)) {
        a = (int)w->n_axes++;
        w->axes[a] = (struct hone_new_axis){.name = hone_pool_printf(w->pool, "SIZE%d_%s", a, dim),
                                            .value = strtoll(dim, NULL, 10)};
        if (w->axes[a].value < 1)
            return hone_fail(w->err, HONE_E_ARG, "a dimension of '%s' is 0", tensor);
    } else if (a < 0 && is_name(dim) &&
               (is_in_list(w, &o->sizes, dim) || is_in_list(w, &o->roles, dim))) {
        int code = add_made_axis(w, dim, &a);
        if (code < 0)
            return code;
    } else if (a < 0) {
        for (size_t i = 0; i < w->n_axes; i++)
            names[i] = (struct hone_expr_name){w->axes[i].name, 1};
        if (hone_expr_check(dim, names, w->n_axes, w->err) < 0)
            return hone_wrap(w->err, "shape of '%s'", tensor);
        a = (int)w->n_axes++;
        w->axes[a] = (struct hone_new_axis){.name = hone_pool_printf(w->pool, "SIZE%d", a),
                                            .expression = dim};
    }
    w->axes[a].is_in_shape = true;
    *ret = a;
    return 0;
}

static int add_dim(struct hone_new_work *w, struct hone_new_tensor *t, const char *dim)
{
    if (t->rank == HONE_LIMIT_RANK)
        return hone_fail(w->err, HONE_E_LIMIT, "'%s' has more than %d dimensions", t->name,
                         HONE_LIMIT_RANK);
    int code = axis_of_dim(w, t->name, dim, &t->shape[t->rank]);
    t->rank += code == 0;
    return code;
}

/* ---- from what was said ---- */

/* "M, K]" or "]" or "1]": one element. */
static int shape_from_option(struct hone_new_work *w, struct hone_new_tensor *t, const char *text)
{
    const char *end = strchr(text, ']');
    if (!end || end[1] != '\0')
        return hone_fail(w->err, HONE_E_ARG, "shape of '%s': write %s[M,K]", t->name, t->name);
    const char *all = hone_new_trim(w->pool, text, (size_t)(end - text));
    if (*all == '\0' || strcmp(all, "1") == 0)
        return 0;
    int code = 0;
    for (const char *at = all; code == 0 && at;) {
        const char *comma = strchr(at, ',');
        size_t len = comma ? (size_t)(comma - at) : strlen(at);
        code = add_dim(w, t, hone_new_trim(w->pool, at, len));
        at = comma ? comma + 1 : NULL;
    }
    return code;
}

static void say_shape(struct hone_new_work *w, const struct hone_new_tensor *t)
{
    const char *text = "";
    for (size_t d = 0; d < t->rank; d++) {
        const struct hone_new_axis *a = &w->axes[t->shape[d]];
        text = a->expression
                   ? hone_pool_printf(w->pool, "%s%s%s", text, d ? "," : "", a->expression)
               : a->value > 0
                   ? hone_pool_printf(w->pool, "%s%s%lld", text, d ? "," : "", (long long)a->value)
                   : hone_pool_printf(w->pool, "%s%s%s", text, d ? "," : "", a->name);
    }
    w->told_shapes = hone_pool_printf(w->pool, "%s%s%s[%s]", w->told_shapes ? w->told_shapes : "",
                                      w->told_shapes ? ", " : "", t->param->name, text);
}

static void add_step(struct hone_new_work *w, const char *step, const char *why)
{
    bool is_there = false;
    for (size_t k = 0; k < w->n_steps; k++)
        is_there = is_there || strcmp(w->steps[k], step) == 0;
    if (is_there || w->n_steps == HONE_NEW_STEPS)
        return;
    w->steps[w->n_steps++] = step;
    hone_new_note(w, hone_pool_printf(w->pool, "%s: legal sizes have %s (constraints in task.json)",
                                      why, step));
}

static void add_steps(struct hone_new_work *w, const struct hone_new_reach *found)
{
    for (size_t i = 0; i < found->n_steps; i++)
        add_step(w, found->steps[i], "a loop goes by steps");
}

/* h*stride - stride + w: rows of w elements that lie stride apart. With less they would overlap,
 * and their order would count. */
static void add_stride(struct hone_new_work *w, const struct hone_poly *size)
{
    const struct hone_term *area = leading(size), *stride = NULL, *width = NULL;
    for (size_t i = 0; i < size->n; i++) {
        const struct hone_term *term = &size->terms[i];
        if (term->degree == 1 && term->factor == -1)
            stride = term;
        else if (term->degree == 1 && term->factor == 1)
            width = term;
    }
    if (size->n == 3 && area && area->degree == 2 && area->factor == 1 && stride && width &&
        (area->names[0] == stride->names[0] || area->names[1] == stride->names[0]))
        add_step(w,
                 hone_pool_printf(w->pool, "%s >= %s",
                                  hone_extent_name(w->index, stride->names[0])->text,
                                  hone_extent_name(w->index, width->names[0])->text),
                 "rows lie apart");
}

/* (a + c) * (b + d) of the four terms that it makes: a padded image. */
static bool add_padded(struct hone_new_work *w, struct hone_new_tensor *t,
                       const struct hone_poly *size, int *ret)
{
    const struct hone_term *first = leading(size);
    int64_t plus[2] = {0, 0}, rest = 0;
    if (size->n != 4 || !first || first->degree != 2 || first->factor != 1)
        return false;
    for (size_t i = 0; i < size->n; i++) {
        const struct hone_term *term = &size->terms[i];
        if (term->degree == 0)
            rest = term->factor;
        else if (term->degree == 1 && term->names[0] == first->names[0])
            plus[1] = term->factor;
        else if (term->degree == 1 && term->names[0] == first->names[1])
            plus[0] = term->factor;
    }
    if (plus[0] * plus[1] != rest || rest == 0)
        return false;
    *ret = 0;
    for (int d = 0; *ret == 0 && d < 2; d++) {
        const char *name = hone_extent_name(w->index, first->names[d])->text;
        *ret = add_dim(w, t,
                       hone_pool_printf(w->pool, "%s %c %lld", name, plus[d] < 0 ? '-' : '+',
                                        (long long)llabs(plus[d])));
    }
    return true;
}

static struct hone_new_tensor *input_of(struct hone_new_work *w, const struct hone_param *param)
{
    for (size_t i = 0; i < w->n_inputs; i++)
        if (w->inputs[i].param == param)
            return &w->inputs[i];
    return NULL;
}

/* x[columns[k]]: the axis below which columns stay; -1: not known. */
static int axis_of_index(struct hone_new_work *w, const struct hone_param *columns)
{
    const char *role = hone_new_option(&w->options->roles, columns->name, '=');
    const char *bound = role ? strchr(role, ':') : NULL;
    int only = -1, n = 0;
    if (bound)
        return hone_new_find_axis(w, bound + 1);
    for (size_t a = 0; a < w->n_axes; a++)
        if (w->axes[a].param) {
            only = (int)a;
            n++;
        }
    return n == 1 ? only : -1;
}

/* The size depends on what an array holds: where rows begin, or indexes. */
static int shape_from_content(struct hone_new_work *w, struct hone_new_tensor *t,
                              const struct hone_poly *size, bool *ret_is_done)
{
    const struct hone_term *term = leading(size);
    const struct hone_extent_name *name = NULL;
    int64_t plus = size->n == 2 ? size->terms[&size->terms[0] == term].factor : 0;
    for (size_t i = 0; i < size->n; i++)
        for (int k = 0; k < size->terms[i].degree; k++) {
            const struct hone_extent_name *one =
                hone_extent_name(w->index, size->terms[i].names[k]);
            name = one->is_content ? one : name;
        }
    if (!name)
        return 0;
    struct hone_new_tensor *holder = input_of(w, name->param);
    bool is_plain = holder && term && term->degree == 1 && term->factor == 1 && size->n < 3;
    int a = -1, code = 0;
    *ret_is_done = true;
    if (is_plain && plus == 0) {
        for (size_t i = 0; i < w->n_axes; i++)
            if (holder->bound && strcmp(w->axes[i].name, holder->bound) == 0)
                a = (int)i;
        const char *role = hone_new_option(&w->options->roles, name->param->name, '=');
        const char *bound = role ? strchr(role, ':') : NULL;
        if (bound)
            return add_dim(w, t, bound + 1);
        if (a < 0)
            code = add_made_axis(w, hone_new_free_name(w, "nnz"), &a);
        if (code == 0 && !holder->bound) {
            holder->role = "offsets";
            holder->bound = w->axes[a].name;
            hone_new_note(w,
                          hone_pool_printf(w->pool,
                                           "'%s' gets offsets: it rises from 0 to %s (--role gives "
                                           "another content)",
                                           name->param->name, holder->bound));
        }
        return code < 0 ? code : add_dim(w, t, w->axes[a].name);
    }
    a = is_plain && plus == 1 ? axis_of_index(w, name->param) : -1;
    if (a < 0)
        return hone_fail(w->err, HONE_E_ARG,
                         "the shape of '%s' is not known, as its subscripts are what '%s' holds: "
                         "give it as --shape '%s[M]' and say --role %s=index:M",
                         t->param->name, name->param->name, t->param->name, name->param->name);
    if (!holder->role) {
        holder->role = "index";
        holder->bound = w->axes[a].name;
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "'%s' gets indexes from 0 to %s - 1, as it says where "
                                          "in '%s' (--role %s=index:AXIS names another axis)",
                                          name->param->name, holder->bound, t->param->name,
                                          name->param->name));
    }
    return add_dim(w, t, w->axes[a].name);
}

static int shape_from_reach(struct hone_new_work *w, struct hone_new_tensor *t, bool *ret_is_done)
{
    const struct hone_new_reach *found = hone_new_reach(w, t->param);
    const struct hone_poly *size = &found->reach.size;
    int64_t number;
    int code = 0;
    *ret_is_done = false;
    if (!size->is_known)
        return 0;
    code = shape_from_content(w, t, size, ret_is_done);
    if (code < 0)
        return code;
    if (!*ret_is_done && hone_poly_is_number(size, &number)) {
        *ret_is_done = number > 0;
        code = number > 1 ? add_dim(w, t, hone_pool_printf(w->pool, "%lld", (long long)number)) : 0;
    } else if (!*ret_is_done && size->n == 1 && size->terms[0].factor > 0) {
        const struct hone_term *term = &size->terms[0];
        *ret_is_done = true;
        for (int d = 0; code == 0 && d < term->degree; d++)
            code = add_dim(w, t, hone_extent_name(w->index, term->names[d])->text);
        if (code == 0 && term->factor > 1)
            code = add_dim(w, t, hone_pool_printf(w->pool, "%lld", (long long)term->factor));
    } else if (!*ret_is_done && !add_padded(w, t, size, &code)) {
        code = add_dim(w, t, hone_extent_text(w->index, size));
        add_stride(w, size);
        *ret_is_done = true;
    } else {
        *ret_is_done = true;
    }
    if (code == 0 && *ret_is_done) {
        add_steps(w, found);
        if (!t->is_copied)
            say_shape(w, t);
    }
    return code;
}

static int shape_from_param(struct hone_new_work *w, struct hone_new_tensor *t)
{
    for (size_t d = 0; d < t->param->n_dims; d++) {
        const char *dim = hone_new_trim(w->pool, t->param->dims[d], strlen(t->param->dims[d]));
        bool is_done = false;
        int code = *dim ? add_dim(w, t, dim) : shape_from_reach(w, t, &is_done);
        if (code < 0)
            return code;
        if (!*dim && !is_done)
            return hone_fail(w->err, HONE_E_ARG,
                             "the shape of '%s' is not known: give it as --shape '%s[M,K]'",
                             t->name, t->param->name);
    }
    return 0;
}

static int find_shape(struct hone_new_work *w, struct hone_new_tensor *t)
{
    const char *option =
        hone_new_option(&w->options->shapes, t->param ? t->param->name : t->name, '[');
    bool is_done = false;
    if (option)
        return shape_from_option(w, t, option);
    if (!t->param || !t->param->is_pointer)
        return 0; /* the returned value, a number as an input: one element */
    if (t->param->n_dims > 1 || (t->param->n_dims == 1 && t->param->dims[0][0]))
        return shape_from_param(w, t);
    int code = shape_from_reach(w, t, &is_done);
    if (code < 0 || is_done)
        return code;
    size_t n_integers = 0;
    const char *only = "";
    for (size_t a = 0; a < w->n_axes; a++) {
        n_integers += w->axes[a].param != NULL;
        only = w->axes[a].param ? w->axes[a].name : only;
    }
    if (n_integers == 1) {
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "'%s' is taken to have %s elements, the only integer: "
                                          "its subscripts do not tell (--shape '%s[...]')",
                                          t->param->name, only, t->param->name));
        return add_dim(w, t, only);
    }
    if (n_integers == 0 && w->proto.n_params < 2)
        return hone_fail(w->err, HONE_E_ARG,
                         "the shape of '%s' is not known and '%s' gets no size: give it the "
                         "length as an integer parameter, in place of an end mark in the data",
                         t->param->name, w->proto.name);
    return hone_fail(w->err, HONE_E_ARG,
                     "the shape of '%s' is not known, as its subscripts do not tell: give it as "
                     "--shape '%s[M,K]' with names of integers, numbers or formulas",
                     t->param->name, t->param->name);
}

static int check_options_used(struct hone_new_work *w)
{
    const struct {
        const struct hone_strs *list;
        char mark;
        const char *what;
    } lists[] = {{&w->options->inouts, '\0', "inout"}, {&w->options->outs, '\0', "out"},
                 {&w->options->shapes, '[', "shape"},  {&w->options->roles, '=', "role"},
                 {&w->options->scales, '=', "scale"},  {&w->options->shifts, '=', "shift"},
                 {&w->options->scalars, '=', "scalar"}};
    for (size_t l = 0; l < HONE_COUNTOF(lists); l++) {
        for (size_t i = 0; i < lists[l].list->n; i++) {
            const char *text = lists[l].list->v[i], *mark = strchr(text, lists[l].mark);
            const char *word = mark ? hone_pool_strndup(w->pool, text, (size_t)(mark - text)) : "";
            bool is_known = false;
            for (size_t p = 0; mark && p < w->proto.n_params; p++)
                is_known = is_known || strcmp(w->proto.params[p].name, word) == 0 ||
                           strcmp(w->names[p], word) == 0;
            if (!is_known)
                return hone_fail(w->err, HONE_E_ARG, "%s '%.80s' names no parameter of '%s'",
                                 lists[l].what, text, w->proto.name);
        }
    }
    return 0;
}

static int find_number(struct hone_new_work *w, const struct hone_strs *list, const char *what,
                       const char *name, double *ret)
{
    const char *text = hone_new_option(list, name, '=');
    char *end = NULL;
    double value = text ? strtod(text, &end) : *ret;
    if (text && (*end || end == text || !isfinite(value)))
        return hone_fail(w->err, HONE_E_ARG, "%s of '%s': '%.40s' is no number", what, name, text);
    *ret = value;
    return 0;
}

static int find_role(struct hone_new_work *w, struct hone_new_tensor *t)
{
    const char *role = hone_new_option(&w->options->roles, t->param->name, '=');
    const char *colon = role ? strchr(role, ':') : NULL;
    if (role) {
        t->role = hone_pool_strndup(w->pool, role, colon ? (size_t)(colon - role) : strlen(role));
        t->bound = colon ? colon + 1 : NULL;
    }
    if (!t->role && !hone_dtype_is_float(t->dtype))
        hone_new_note(
            w, hone_pool_printf(w->pool,
                                "'%s' gets %s; --role %s=bits draws all values of its type, "
                                "%s=index:AXIS indexes below an axis",
                                t->name,
                                hone_dtype_bytes(t->dtype) > 1 ? "small integers in most content"
                                : t->dtype == HONE_DTYPE_BOOL  ? "zeros and ones"
                                                               : "all values of a byte",
                                t->param->name, t->param->name));
    t->scale = 1;
    t->shift = 0;
    int code = find_number(w, &w->options->scales, "scale", t->param->name, &t->scale);
    return code < 0 ? code
                    : find_number(w, &w->options->shifts, "shift", t->param->name, &t->shift);
}

int hone_new_shapes(struct hone_new_work *w)
{
    int code = check_options_used(w);
    /* offsets and indexes name axes that the shapes of others make */
    for (size_t i = 0; code == 0 && i < w->n_inputs; i++)
        code = find_shape(w, &w->inputs[i]);
    for (size_t i = 0; code == 0 && i < w->n_outputs; i++)
        code = find_shape(w, &w->outputs[i]);
    for (size_t i = 0; code == 0 && i < w->n_inputs; i++)
        code = find_role(w, &w->inputs[i]);
    if (code == 0 && w->told_shapes)
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "shapes, as loops and subscripts tell them: %s "
                                          "(--shape gives others)",
                                          w->told_shapes));
    return code;
}
