/* SPDX-License-Identifier: Apache-2.0 */
/* workloads.jsonl of a new pack: sizes as they are given, or guessed.
 *
 * A guess keeps the loops' rounds below some number. The first number is one for any machine; once
 * a call has been timed (task_new_checked.c), options->cost is what takes some milliseconds. */
#include "tools/task/task_new_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/task/c_tokens.h"
#include "workspace/task/expr.h"

#define DEFAULT_ELEMENTS 1e6   /* of the largest tensor, when no size is given */
#define MOST_PER_ELEMENT 4     /* of a tensor whose size is a formula */
#define WORK_PER_ELEMENT 6     /* of the function's loops */
#define MOST_BYTES       6.4e7 /* of all tensors, where sizes follow what a call takes */
#define LARGE_ELEMENTS   1e9   /* from which such sizes come down */
#define SECOND_COST      0.5   /* of the first */
#define ROUND_FROM       256
#define ROUND_TO         64
#define MOST_STEPS       200

enum { ENTRIES_PER_ROW = 16 };

bool hone_new_value(const struct hone_new_work *w, const char *formula, const int64_t *sizes,
                    double *ret)
{
    struct hone_expr_name names[HONE_LIMIT_AXES];
    struct hone_expr_value value;
    for (size_t a = 0; a < w->n_axes; a++)
        names[a] = (struct hone_expr_name){w->axes[a].name, sizes[a]};
    if (hone_expr_eval(formula, names, w->n_axes, &value, NULL) < 0)
        return false;
    *ret = value.f;
    return true;
}

static bool is_var(const struct hone_new_axis *axis)
{
    return !axis->expression && axis->value == 0;
}

/* The formulas' axes, of the others. */
static void fill_formulas(const struct hone_new_work *w, int64_t *sizes)
{
    double value = 0;
    for (size_t a = 0; a < w->n_axes; a++)
        if (w->axes[a].expression && hone_new_value(w, w->axes[a].expression, sizes, &value))
            sizes[a] = value > 1e15 ? (int64_t)1e15 : (int64_t)value;
}

/* A size that the function does not get, where offsets end: some entries for each row. 0: it is
 * another one. */
static int64_t size_of_rows(struct hone_new_work *w, const struct hone_new_axis *axis,
                            const int64_t *sizes)
{
    double rows = 0;
    for (size_t i = 0; !axis->param && i < w->n_inputs; i++) {
        const struct hone_new_tensor *t = &w->inputs[i];
        const char *role = t->role ? t->role : "";
        if (strcmp(role, "offsets") == 0 && t->bound && strcmp(t->bound, axis->name) == 0 &&
            hone_new_value(w, hone_new_elements(w, t), sizes, &rows))
            return (int64_t)fmax(ENTRIES_PER_ROW * (rows - 1), 1);
    }
    return 0;
}

/* Sizes that were not given, as far as others tell them. */
static int add_missing(struct hone_new_work *w, const char *text, int64_t *sizes)
{
    const char *made = "", *missing = "";
    fill_formulas(w, sizes);
    for (size_t a = 0; a < w->n_axes; a++) {
        const struct hone_new_axis *axis = &w->axes[a];
        if (!is_var(axis) || sizes[a] > 0)
            continue;
        sizes[a] = size_of_rows(w, axis, sizes);
        if (sizes[a] > 0)
            made = hone_pool_printf(w->pool, "%s,%s=%lld", made, axis->name, (long long)sizes[a]);
        else
            missing = hone_pool_printf(w->pool, "%s,%s=1000", missing,
                                       axis->param ? axis->param->name : axis->name);
    }
    if (*missing)
        return hone_fail(w->err, HONE_E_ARG,
                         "sizes '%.200s' lack one: say --size %.200s%s%s, with the number that "
                         "matters for 1000",
                         text, text, made, missing);
    if (*made)
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "sizes '%s' lack one, so %d entries a row are taken: "
                                          "--size %s%s says it",
                                          text, ENTRIES_PER_ROW, text, made));
    return 0;
}

static const char *names_of_sizes(struct hone_new_work *w)
{
    const char *text = "";
    for (size_t a = 0; a < w->n_axes; a++)
        if (is_var(&w->axes[a]))
            text = hone_pool_printf(w->pool, "%s%s%s", text, *text ? ", " : "",
                                    w->axes[a].param ? w->axes[a].param->name : w->axes[a].name);
    return text;
}

/* "M=512,N=512": every var axis once. */
static int parse_sizes(struct hone_new_work *w, const char *text, struct hone_json *axes)
{
    int64_t sizes[HONE_LIMIT_AXES] = {0};
    for (size_t a = 0; a < w->n_axes; a++)
        sizes[a] = w->axes[a].value;
    for (const char *at = text; at;) {
        const char *comma = strchr(at, ','), *equal = strchr(at, '=');
        if (!equal || (comma && comma < equal))
            return hone_fail(w->err, HONE_E_ARG, "sizes '%.80s': write M=512,N=512", text);
        const char *name = hone_new_trim(w->pool, at, (size_t)(equal - at));
        char *end = NULL;
        long long value = strtoll(equal + 1, &end, 10);
        int a = hone_new_find_axis(w, name);
        if (a < 0 || !is_var(&w->axes[a]) || value < 1 || (*end && *end != ','))
            return hone_fail(
                w->err, HONE_E_ARG,
                "sizes '%.80s': '%.40s' is no integer of '%s' with a size of 1 or more; its sizes "
                "are %s",
                text, name, w->proto.name, names_of_sizes(w));
        sizes[a] = value;
        at = comma ? comma + 1 : NULL;
    }
    int code = add_missing(w, text, sizes);
    for (size_t a = 0; code == 0 && a < w->n_axes; a++)
        if (is_var(&w->axes[a]))
            hone_json_set_i64(axes, w->axes[a].name, sizes[a]);
    return code;
}

static double elements_of(const struct hone_new_work *w)
{
    return w->options->elements > 0 ? w->options->elements : DEFAULT_ELEMENTS;
}

static size_t rank_of(const struct hone_new_work *w, const struct hone_new_tensor *t)
{
    size_t rank = 0;
    for (size_t d = 0; d < t->rank; d++)
        rank += w->axes[t->shape[d]].value == 0; /* the three of a pixel are no dimension */
    return rank;
}

/* Not a number of steps or the width of a window. */
static bool is_free(const struct hone_new_axis *axis)
{
    return !axis->is_window && (axis->is_in_shape || axis->is_needed_by_expression);
}

/* Axes of one size would make a resize a copy, and rows and columns the same. */
static int64_t unlike(int64_t size, size_t number)
{
    static const double factors[] = {1, 1.25, 0.8, 1.125, 0.875};
    return (int64_t)((double)size * factors[number % HONE_COUNTOF(factors)]);
}

static int64_t default_size(const struct hone_new_work *w, const struct hone_new_axis *axis,
                            bool is_second)
{
    double elements = w->options->cost > 0 ? LARGE_ELEMENTS : elements_of(w);
    size_t rank = 1;
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        size_t own = rank_of(w, i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs]);
        rank = own > rank ? own : rank;
    }
    if (!is_free(axis))
        return is_second ? 8 : 10; /* steps, windows */
    /* three dimensions or more, or a product of two-dimensional ones: keep the cubic work bearable
     */
    double size = rank == 1   ? elements
                  : rank == 2 ? ceil(512 * sqrt(elements / DEFAULT_ELEMENTS))
                              : ceil(pow(elements, 1.0 / (double)rank));
    return (int64_t)(is_second ? floor(size * 0.7) - 1 : size);
}

/* "stride >= width" */
static void keep_least(const struct hone_new_work *w, int64_t *sizes, const char *step,
                       const char *mark)
{
    int axis = hone_new_find_axis(w, hone_pool_strndup(w->pool, step, (size_t)(mark - step)));
    int least = hone_new_find_axis(w, mark + strlen(" >= "));
    if (axis >= 0 && least >= 0 && sizes[axis] < sizes[least])
        sizes[axis] = sizes[least];
}

/* Sizes that loops with steps can be given: 64 for what a step is made of, and what they run to a
 * multiple. */
static void fit_steps(struct hone_new_work *w, int64_t *sizes, bool is_second)
{
    for (size_t i = 0; i < w->n_steps; i++) {
        const char *mark = strstr(w->steps[i], " % ("), *least = strstr(w->steps[i], " >= ");
        if (!mark) {
            keep_least(w, sizes, w->steps[i], least);
            continue;
        }
        const char *end = hone_pool_strndup(w->pool, w->steps[i], (size_t)(mark - w->steps[i]));
        const char *step = hone_pool_strndup(w->pool, mark + 3, strlen(mark + 3) - strlen(" == 0"));
        int axis = hone_new_find_axis(w, end);
        double by = 0;
        for (size_t a = 0; a < w->n_axes; a++)
            if (is_var(&w->axes[a]) && (int)a != axis &&
                hone_c_has_word(step, w->axes[a].name, w->pool))
                sizes[a] = is_second ? 64 : 16;
        if (axis >= 0 && hone_new_value(w, step, sizes, &by) && by >= 1 &&
            (int64_t)by < sizes[axis])
            sizes[axis] -= sizes[axis] % (int64_t)by;
    }
}

/* The constraints that were given: a multiple is a few steps below, a bound some eighths. */
static void obey(struct hone_new_work *w, int64_t *sizes)
{
    const struct hone_strs *all = &w->options->constraints;
    for (size_t i = 0; i < all->n; i++) {
        const char *formula = hone_new_formula(w, all->v[i]), *least = strstr(formula, " >= ");
        double holds = 0;
        if (least)
            keep_least(w, sizes, formula, least);
        for (int k = 0; k < MOST_STEPS; k++) {
            if (!hone_new_value(w, formula, sizes, &holds) || holds != 0)
                break;
            for (size_t a = 0; a < w->n_axes; a++)
                if (is_var(&w->axes[a]) && sizes[a] > 1 &&
                    hone_c_has_word(formula, w->axes[a].name, w->pool))
                    sizes[a] = k < ROUND_TO ? sizes[a] - 1 : sizes[a] - sizes[a] / 8;
        }
    }
}

/* What the judge has to fill, and a measure of what a call takes: the loops' rounds as far as they
 * are known, and at least every element once. */
static void weigh(struct hone_new_work *w, const char *work, int64_t *sizes, double *ret_bytes,
                  double *ret_cost, double *ret_most)
{
    double value = 0, elements = 0;
    *ret_bytes = *ret_most = 0;
    fill_formulas(w, sizes);
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        if (!hone_new_value(w, hone_new_elements(w, t), sizes, &value))
            continue;
        elements += value;
        *ret_most = fmax(*ret_most, value);
        *ret_bytes += value * (double)hone_dtype_bytes(t->dtype);
    }
    *ret_cost = hone_new_value(w, work, sizes, &value) ? fmax(value, elements) : elements;
}

/* Do these sizes ask for more than a call of some milliseconds should? */
static bool is_dear(struct hone_new_work *w, const char *work, bool is_second, int64_t *sizes)
{
    double bytes, cost, most, rounds = 0;
    weigh(w, work, sizes, &bytes, &cost, &most);
    double share = is_second ? SECOND_COST : 1;
    if (w->options->cost > 0)
        return cost > share * w->options->cost || bytes > share * MOST_BYTES;
    return most > MOST_PER_ELEMENT * elements_of(w) ||
           (hone_new_value(w, work, sizes, &rounds) &&
            rounds > share * WORK_PER_ELEMENT * elements_of(w));
}

static void fill_rows(struct hone_new_work *w, int64_t *sizes)
{
    fill_formulas(w, sizes);
    for (size_t a = 0; a < w->n_axes; a++) {
        int64_t entries = size_of_rows(w, &w->axes[a], sizes);
        sizes[a] = entries > 0 ? entries : sizes[a];
    }
}

/* Sizes of about a million elements, or what was asked for; less where loops in loops would take
 * long. */
static void guess_sizes(struct hone_new_work *w, bool is_second, int64_t *sizes)
{
    const char *work = hone_extent_work(w->index);
    size_t n_free = 0;
    for (size_t a = 0; a < w->n_axes; a++) {
        const struct hone_new_axis *axis = &w->axes[a];
        sizes[a] = is_var(axis) ? default_size(w, axis, is_second) : axis->value;
        if (is_var(axis) && is_free(axis))
            sizes[a] = unlike(sizes[a], n_free++);
        if (is_var(axis) && axis->param && axis->param->most > 0)
            sizes[a] = sizes[a] < axis->param->most ? sizes[a] : axis->param->most;
    }
    fill_rows(w, sizes);
    for (int i = 0; i < MOST_STEPS && is_dear(w, work, is_second, sizes); i++) {
        for (size_t a = 0; a < w->n_axes; a++)
            if (is_var(&w->axes[a]) && sizes[a] > 16 && is_free(&w->axes[a]))
                sizes[a] = sizes[a] * 7 / 8;
        fill_rows(w, sizes);
    }
    for (size_t a = 0; a < w->n_axes && w->options->cost > 0 && !is_second; a++)
        if (is_var(&w->axes[a]) && sizes[a] > ROUND_FROM && is_free(&w->axes[a]))
            sizes[a] -= sizes[a] % ROUND_TO;
    fill_rows(w, sizes);
    fit_steps(w, sizes, is_second);
    obey(w, sizes);
    if (is_second)
        return;
    double bytes, most;
    weigh(w, work, sizes, &bytes, &w->cost, &most);
}

static void add_guessed(struct hone_new_work *w, bool is_second, struct hone_json *axes)
{
    int64_t sizes[HONE_LIMIT_AXES];
    const char *text = "";
    guess_sizes(w, is_second, sizes);
    for (size_t a = 0; a < w->n_axes; a++) {
        if (!is_var(&w->axes[a]))
            continue;
        hone_json_set_i64(axes, w->axes[a].name, sizes[a]);
        text = hone_pool_printf(w->pool, "%s%s%s=%lld", text, *text ? "," : "", w->axes[a].name,
                                (long long)sizes[a]);
    }
    w->sizes = w->sizes ? hone_pool_printf(w->pool, "%s and %s", w->sizes, text) : text;
}

static int add_workload(struct hone_new_work *w, struct hone_buf *buf, const char *id,
                        const char *sizes, bool is_second)
{
    HONE_AUTOJSON struct hone_json *line = hone_json_new_object();
    struct hone_json *axes = hone_json_new_object();
    int code = 0;
    hone_json_set_str(line, "id", id);
    hone_json_set(line, "axes", axes);
    if (sizes)
        code = parse_sizes(w, sizes, axes);
    else
        add_guessed(w, is_second, axes);
    HONE_AUTOFREE char *text = hone_json_print(line);
    hone_buf_printf(buf, "%s\n", text);
    return code;
}

int hone_new_workloads(struct hone_new_work *w, struct hone_buf *buf)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < w->options->sizes.n; i++)
        code = add_workload(w, buf, hone_pool_printf(w->pool, "size%zu", i + 1),
                            w->options->sizes.v[i], false);
    if (w->options->sizes.n > 0)
        return code;
    code = add_workload(w, buf, "size1", NULL, true);
    if (code == 0)
        code = add_workload(w, buf, "size2", NULL, false);
    hone_new_note(w, hone_pool_printf(w->pool,
                                      "sizes are guessed: %s (--size gives those that matter)",
                                      w->sizes));
    return code;
}
