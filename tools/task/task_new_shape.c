/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of a new task's arrays: as the user gives them, as they are declared, as loops and
 * subscripts tell them (extent.h), or the only integer. */
#include "tools/task/task_new_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/task/c_tokens.h"
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

/* 4*n - 1: less than one element of several values. */
static bool is_short_of(const struct hone_poly *p, const struct hone_term *first)
{
    const struct hone_term *other = p->n == 2 ? &p->terms[first == p->terms] : NULL;
    return other && other->degree == 0 && other->factor < 0 && -other->factor < first->factor;
}

/* A loop that leaves out a border reaches less than the array has: n*m - m - 1 is n*m. So does one
 * that leaves out the last of several values an element has: 4*n - 1 is 4*n. */
static bool round_up(struct hone_reach *r)
{
    const struct hone_term *first = leading(&r->size);
    bool may = first && (first->degree > 1 ||
                         (first->degree == 1 && (r->starts_late || is_short_of(&r->size, first))));
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
        other = hone_new_free_name(w, hone_pool_printf(w->pool, "%s" HONE_PROTOTYPE_RENAMED, own));
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
            if (hone_c_has_word(hone_extent_name(w->index, p->terms[i].names[k])->text, name,
                                w->pool))
                return true;
    return false;
}

static bool is_in_list(const struct hone_new_work *w, const struct hone_strs *list,
                       const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (hone_c_has_word(list->v[i], name, w->pool))
            return true;
    return false;
}

/* The arrays whose largest values the size is made of, at most max; how many. */
static size_t contents_of(const struct hone_new_work *w, const struct hone_poly *size,
                          const struct hone_param **ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < size->n; i++)
        for (int k = 0; k < size->terms[i].degree; k++) {
            const struct hone_extent_name *name =
                hone_extent_name(w->index, size->terms[i].names[k]);
            size_t c = 0;
            while (c < n && ret[c] != name->param)
                c++;
            if (name->is_content && c == n && n < max)
                ret[n++] = name->param;
        }
    return n;
}

static bool is_said_size(const struct hone_new_work *w, const char *name)
{
    const struct hone_task_new_options *o = w->options;
    return is_in_list(w, &o->shapes, name) || is_in_list(w, &o->sizes, name) ||
           is_in_list(w, &o->roles, name) || is_in_list(w, &o->constraints, name) ||
           (o->flops && hone_c_has_word(o->flops, name, w->pool));
}

/* An integer that the function gets for nothing but to say below what indexes stay. */
static bool is_bound_of_index(const struct hone_new_work *w, const struct hone_param *p)
{
    const struct hone_param *array;
    bool has_content = false;
    for (size_t i = 0; i < w->proto.n_params; i++)
        has_content = has_content || (w->reaches[i].reach.size.is_known &&
                                      contents_of(w, &w->reaches[i].reach.size, &array, 1) > 0);
    return has_content && hone_extent_is_unused(w->index, p->name);
}

/* An integer that sizes nothing is a value: a byte to look for, a shift. */
bool hone_new_is_size(const struct hone_new_work *w, const struct hone_param *p)
{
    bool is_known = true;
    if (is_said_size(w, p->name) || is_said_size(w, hone_new_task_name(w, p)))
        return true;
    if (hone_dtype_bytes(p->dtype) == 1)
        return false;
    if (is_bound_of_index(w, p))
        return true;
    for (size_t i = 0; i < w->proto.n_params; i++) {
        const struct hone_param *other = &w->proto.params[i];
        for (size_t d = 0; d < other->n_dims; d++)
            if (hone_c_has_word(other->dims[d], p->name, w->pool))
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
        code = add_dim(w, t, hone_new_formula(w, hone_new_trim(w->pool, at, len)));
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

/* What the name is multiplied with in the terms that have it. */
static struct hone_poly factor_of(const struct hone_poly *p, int name)
{
    struct hone_poly all = hone_poly_number(0);
    for (size_t i = 0; i < p->n; i++) {
        struct hone_poly rest = hone_poly_number(p->terms[i].factor);
        bool has_it = false;
        for (int k = 0; k < p->terms[i].degree; k++) {
            const struct hone_poly other = hone_poly_name(p->terms[i].names[k]);
            if (!has_it && p->terms[i].names[k] == name)
                has_it = true;
            else
                rest = hone_poly_multiply(&rest, &other);
        }
        if (has_it)
            all = hone_poly_add(&all, &rest, 1);
    }
    return all;
}

/* h - k + 1: a window of k has no place in less. */
static void add_window(struct hone_new_work *w, const struct hone_poly *side)
{
    const char *whole = NULL, *window = NULL;
    for (size_t i = 0; i < side->n; i++) {
        const struct hone_term *term = &side->terms[i];
        if (term->degree == 1 && term->factor == 1)
            whole = hone_extent_name(w->index, term->names[0])->text;
        else if (term->degree == 1 && term->factor == -1)
            window = hone_extent_name(w->index, term->names[0])->text;
    }
    if (!whole || !window || side->n > 3)
        return;
    int a = hone_new_find_axis(w, window);
    if (a >= 0)
        w->axes[a].is_window = true;
    add_step(w, hone_pool_printf(w->pool, "%s >= %s", whole, window),
             "a window lies inside of what it is laid on");
}

/* (h + 2) * (w + 2), (h - k + 1) * (w - l + 1): a product of two sums, of the terms that it makes.
 */
static bool add_sides(struct hone_new_work *w, struct hone_new_tensor *t,
                      const struct hone_poly *size, int *ret)
{
    const struct hone_term *first = NULL;
    for (size_t i = 0; i < size->n && !first; i++)
        first = size->terms[i].degree == 2 && size->terms[i].factor == 1 ? &size->terms[i] : NULL;
    if (!first)
        return false;
    const struct hone_poly sides[2] = {factor_of(size, first->names[1]),
                                       factor_of(size, first->names[0])};
    struct hone_poly product = hone_poly_multiply(&sides[0], &sides[1]);
    if (sides[0].n < 2 || sides[1].n < 2 || !hone_poly_equal(&product, size))
        return false;
    *ret = 0;
    for (int d = 0; *ret == 0 && d < 2; d++) {
        *ret = add_dim(w, t, hone_extent_text(w->index, &sides[d]));
        add_window(w, &sides[d]);
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

/* The only one of the axes that the function gets, or that it gets and does not use; -1: there are
 * none or several. */
static int only_axis(const struct hone_new_work *w, bool is_unused)
{
    int only = -1, n = 0;
    for (size_t a = 0; a < w->n_axes; a++)
        if (w->axes[a].param &&
            (!is_unused || hone_extent_is_unused(w->index, w->axes[a].param->name))) {
            only = (int)a;
            n++;
        }
    return n == 1 ? only : -1;
}

/* Is the array's last value a factor of the size: is it where the last row ends? */
static bool is_end_of_rows(const struct hone_new_work *w, const struct hone_poly *size,
                           const struct hone_param *array)
{
    for (size_t i = 0; i < size->n; i++) {
        bool has_it = false;
        for (int k = 0; k < size->terms[i].degree; k++) {
            const struct hone_extent_name *name =
                hone_extent_name(w->index, size->terms[i].names[k]);
            has_it = has_it || (name->is_content && name->param == array);
        }
        if (!has_it)
            return false;
    }
    return true;
}

/* (v + 1) * E for the array's largest value v: is it an index of what is E large? */
static bool is_index(const struct hone_new_work *w, const struct hone_poly *size,
                     const struct hone_param *array)
{
    struct hone_poly with = hone_poly_number(0), rest = *size;
    for (size_t i = 0; i < size->n; i++)
        for (int k = 0; k < size->terms[i].degree; k++) {
            int number = size->terms[i].names[k];
            const struct hone_extent_name *name = hone_extent_name(w->index, number);
            if (!name->is_content || name->param != array)
                continue;
            struct hone_poly value = hone_poly_name(number);
            with = factor_of(size, number);
            value = hone_poly_multiply(&value, &with);
            rest = hone_poly_add(size, &value, -1);
        }
    return with.n > 0 && hone_poly_equal(&with, &rest);
}

/* offsets[i] to offsets[i + 1]: what they end at is a size that the function does not get. */
static int guess_offsets(struct hone_new_work *w, struct hone_new_tensor *holder)
{
    int a = -1, code = add_made_axis(w, hone_new_free_name(w, "nnz"), &a);
    if (code < 0)
        return code;
    holder->role = "offsets";
    holder->bound = w->axes[a].name;
    hone_new_note(w, hone_pool_printf(w->pool,
                                      "'%s' gets offsets: it rises from 0 to %s (--role gives "
                                      "another content)",
                                      holder->param->name, holder->bound));
    return 0;
}

static void guess_index(struct hone_new_work *w, struct hone_new_tensor *holder, int axis,
                        const struct hone_new_tensor *t)
{
    holder->role = "index";
    holder->bound = w->axes[axis].name;
    hone_new_note(w, hone_pool_printf(w->pool,
                                      "'%s' gets indexes from 0 to %s - 1, as it says where "
                                      "in '%s' (--role %s=index:AXIS names another axis)",
                                      holder->param->name, holder->bound, t->param->name,
                                      holder->param->name));
}

/* The role and the bound that were said of an input. */
static void take_role(struct hone_new_work *w, struct hone_new_tensor *t)
{
    const char *role = hone_new_said(w, &w->options->roles, t);
    const char *colon = role ? strchr(role, ':') : NULL;
    int a = colon ? hone_new_find_axis(w, colon + 1) : -1;
    if (!role)
        return;
    t->role = hone_pool_strndup(w->pool, role, colon ? (size_t)(colon - role) : strlen(role));
    t->bound = a >= 0 ? w->axes[a].name : colon ? colon + 1 : NULL;
}

/* What a holder's values stay below, as it was said or as nothing else can be meant. */
static int find_bound(struct hone_new_work *w, struct hone_new_tensor *holder, bool is_rows,
                      bool is_index, const struct hone_new_tensor *t)
{
    int only = only_axis(w, false), axis = only >= 0 ? only : only_axis(w, true);
    if (!holder->role)
        take_role(w, holder);
    if (!holder->role && is_rows)
        return guess_offsets(w, holder);
    if (!holder->role && is_index && axis >= 0)
        guess_index(w, holder, axis, t);
    if (holder->bound && is_name(holder->bound) && hone_new_find_axis(w, holder->bound) < 0)
        return add_made_axis(w, holder->bound, &axis);
    return 0;
}

static const char *integers_of(struct hone_new_work *w)
{
    const char *text = "";
    for (size_t a = 0; a < w->n_axes; a++)
        if (w->axes[a].param)
            text = hone_pool_printf(w->pool, "%s%s%s", text, *text ? ", " : "",
                                    w->axes[a].param->name);
    return text;
}

/* Asks for a shape, or for what it follows from: once for all that is not known, with `more` for
 * what comes behind the first. */
static int ask(struct hone_new_work *w, const char *first, const char *more)
{
    if (!w->asked)
        w->asked = first;
    else if (!strstr(w->asked, more))
        w->asked = hone_pool_printf(w->pool, "%s, and %s", w->asked, more);
    return hone_fail(w->err, HONE_E_ARG, "%s", w->asked);
}

static int ask_index(struct hone_new_work *w, const struct hone_new_tensor *t,
                     const struct hone_param *array)
{
    const char *role = hone_pool_printf(w->pool, "--role %s=index:M", array->name);
    return ask(w,
               hone_pool_printf(w->pool,
                                "the shape of '%s' is not known, as its subscripts are what '%s' "
                                "holds: say what its values stay below, as M an integer of yours "
                                "(%s) or a new name: %s",
                                t->param->name, array->name, integers_of(w), role),
               role);
}

/* The size depends on what arrays hold, where rows begin, or indexes: puts what those stay below
 * in their place. */
static int bound_contents(struct hone_new_work *w, const struct hone_new_tensor *t,
                          struct hone_poly *size)
{
    const struct hone_param *arrays[HONE_LIMIT_RANK];
    size_t n = contents_of(w, size, arrays, HONE_COUNTOF(arrays));
    int code = 0;
    bool is_asked = false;
    for (size_t i = 0; i < n; i++) {
        struct hone_new_tensor *holder = input_of(w, arrays[i]);
        bool is_rows = is_end_of_rows(w, size, arrays[i]);
        if (holder && (code = find_bound(w, holder, is_rows, is_index(w, size, arrays[i]), t)) < 0)
            return code;
        if (!holder || !holder->bound)
            is_asked = ask_index(w, t, arrays[i]) < 0;
        else
            *size = hone_extent_bounded(w->index, size, arrays[i], holder->bound,
                                        !is_rows && strcmp(holder->role, "offsets") != 0);
    }
    return is_asked ? HONE_E_ARG : 0;
}

static int shape_from_reach(struct hone_new_work *w, struct hone_new_tensor *t, bool *ret_is_done)
{
    const struct hone_new_reach *found = hone_new_reach(w, t->param);
    struct hone_poly bounded = found->reach.size;
    const struct hone_poly *size = &bounded;
    int64_t number;
    *ret_is_done = false;
    if (!size->is_known)
        return 0;
    int code = bound_contents(w, t, &bounded);
    if (code < 0)
        return code;
    *ret_is_done = true;
    if (!size->is_known) {
        *ret_is_done = false;
    } else if (hone_poly_is_number(size, &number)) {
        *ret_is_done = number > 0;
        code = number > 1 ? add_dim(w, t, hone_pool_printf(w->pool, "%lld", (long long)number)) : 0;
    } else if (size->n == 1 && size->terms[0].factor > 0) {
        const struct hone_term *term = &size->terms[0];
        for (int d = 0; code == 0 && d < term->degree; d++)
            code = add_dim(w, t, hone_extent_name(w->index, term->names[d])->text);
        if (code == 0 && term->factor > 1)
            code = add_dim(w, t, hone_pool_printf(w->pool, "%lld", (long long)term->factor));
    } else if (!add_sides(w, t, size, &code)) {
        code = add_dim(w, t, hone_extent_text(w->index, size));
        add_stride(w, size);
        if (leading(size) == NULL || leading(size)->degree == 1)
            add_window(w, size);
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
        int code =
            *dim ? add_dim(w, t, hone_new_formula(w, dim)) : shape_from_reach(w, t, &is_done);
        if (code < 0)
            return code;
        if (!*dim && !is_done)
            return hone_fail(w->err, HONE_E_ARG,
                             "the shape of '%s' is not known: give it as --shape '%s[M,K]'",
                             t->name, t->param->name);
    }
    return 0;
}

static bool is_in_a_reach(const struct hone_new_work *w, const char *name)
{
    for (size_t i = 0; i < w->proto.n_params; i++)
        if (w->reaches[i].reach.size.is_known && has_name(&w->reaches[i].reach.size, w, name))
            return true;
    return false;
}

static bool is_only_unknown(const struct hone_new_work *w, const struct hone_param *param)
{
    for (size_t i = 0; i < w->proto.n_params; i++)
        if (w->proto.params[i].is_pointer && &w->proto.params[i] != param &&
            !w->reaches[i].reach.size.is_known)
            return false;
    return true;
}

/* Subscripts whose rows are computed at random (y * width + x of a resized picture) tell how long a
 * row is; how many there are is the one size that says nothing of another array. */
static int shape_from_rows(struct hone_new_work *w, struct hone_new_tensor *t, bool *ret_is_done)
{
    const struct hone_param *row =
        is_only_unknown(w, t->param) ? hone_extent_row(w->index, t->param) : NULL;
    const char *n_rows = NULL;
    size_t n = 0;
    for (size_t a = 0; row && a < w->n_axes; a++)
        if (w->axes[a].param && w->axes[a].param != row && !is_in_a_reach(w, w->axes[a].name))
            n_rows = w->axes[a].name, n++;
    if (n != 1)
        return 0;
    int code = add_dim(w, t, n_rows);
    if (code == 0)
        code = add_dim(w, t, hone_new_task_name(w, row));
    *ret_is_done = true;
    hone_new_note(w, hone_pool_printf(w->pool,
                                      "'%s' is taken to have %s rows of %s: its subscripts go by "
                                      "%s, and no other array has %s (--shape '%s[...]')",
                                      t->param->name, n_rows, hone_new_task_name(w, row),
                                      hone_new_task_name(w, row), n_rows, t->param->name));
    return code;
}

static int find_shape(struct hone_new_work *w, struct hone_new_tensor *t)
{
    const char *option =
        hone_new_option(&w->options->shapes, t->param ? t->param->name : t->name, '[');
    if (!option && t->param)
        option = hone_new_option(&w->options->shapes, hone_new_task_name(w, t->param), '[');
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
    if ((code = shape_from_rows(w, t, &is_done)) < 0 || is_done)
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
    return ask(w,
               hone_pool_printf(w->pool,
                                "the shape of '%s' is not known, as its subscripts do not tell: "
                                "give it as --shape '%s[M,K]' with names of integers, numbers or "
                                "formulas",
                                t->param->name, t->param->name),
               hone_pool_printf(w->pool, "--shape '%s[M,K]'", t->param->name));
}

static int find_number(struct hone_new_work *w, const struct hone_strs *list, const char *what,
                       const struct hone_new_tensor *t, double *ret)
{
    const char *text = hone_new_said(w, list, t);
    char *end = NULL;
    double value = text ? strtod(text, &end) : *ret;
    if (text && (*end || end == text || !isfinite(value)))
        return hone_fail(w->err, HONE_E_ARG, "%s of '%s': '%.40s' is no number", what,
                         t->param->name, text);
    *ret = value;
    return 0;
}

static int find_role(struct hone_new_work *w, struct hone_new_tensor *t)
{
    take_role(w, t);
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
    if (!t->is_around)
        t->scale = 1, t->shift = 0;
    int code = find_number(w, &w->options->scales, "scale", t, &t->scale);
    return code < 0 ? code : find_number(w, &w->options->shifts, "shift", t, &t->shift);
}

int hone_new_shapes(struct hone_new_work *w)
{
    int code = hone_new_check_options(w);
    /* offsets and indexes name axes that the shapes of others make */
    for (size_t i = 0; code == 0 && i < w->n_inputs + w->n_outputs; i++) {
        bool is_input = i < w->n_inputs;
        const char *asked = w->asked;
        code = find_shape(w, is_input ? &w->inputs[i] : &w->outputs[i - w->n_inputs]);
        if (w->asked != asked)
            code = 0; /* the next may have to be asked for too */
    }
    if (w->asked)
        return hone_fail(w->err, HONE_E_ARG, "%s", w->asked);
    for (size_t i = 0; code == 0 && i < w->n_inputs; i++)
        code = find_role(w, &w->inputs[i]);
    if (code == 0 && w->told_shapes)
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "shapes, as loops and subscripts tell them: %s "
                                          "(--shape gives others)",
                                          w->told_shapes));
    return code;
}
