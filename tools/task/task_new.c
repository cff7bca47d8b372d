/* SPDX-License-Identifier: Apache-2.0 */
/* From a prototype to a pack: parameters are sorted into hone's order, shapes resolved to axes,
 * three files written, and the result loaded as a check. Whatever was guessed is told in a note. */
#include "tools/task/task_new.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/task/c_tokens.h"
#include "tools/task/task_new_internal.h"
#include "workspace/base/file.h"

void hone_new_note(struct hone_new_work *w, const char *text)
{
    if (w->n_notes < HONE_NEW_NOTES)
        w->notes[w->n_notes++] = text;
}

/* The value after "NAME=" or the text from "NAME[" on; NULL: not given. */
const char *hone_new_option(const struct hone_strs *list, const char *name, char mark)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < list->n; i++)
        if (strncmp(list->v[i], name, len) == 0 && list->v[i][len] == mark)
            return list->v[i] + len + 1;
    return NULL;
}

const char *hone_new_said_of(const struct hone_new_work *w, const struct hone_strs *list,
                             const struct hone_param *param)
{
    const char *said = hone_new_option(list, param->name, '=');
    return said ? said : hone_new_option(list, hone_new_task_name(w, param), '=');
}

const char *hone_new_said(const struct hone_new_work *w, const struct hone_strs *list,
                          const struct hone_new_tensor *t)
{
    const char *said = t->param ? hone_new_said_of(w, list, t->param) : NULL;
    return said ? said : hone_new_option(list, t->name, '=');
}

/* Names that an option of that kind may say: of arrays, or of numbers. */
static const char *names_of(struct hone_new_work *w, bool is_number)
{
    const char *text = "";
    for (size_t i = 0; i < w->proto.n_params; i++)
        if (w->proto.params[i].is_pointer != is_number)
            text = hone_pool_printf(w->pool, "%s%s%s", text, *text ? ", " : "",
                                    w->proto.params[i].name);
    return *text ? text : "there are none";
}

/* Does the word name what an option of that kind is for? */
static bool is_named(const struct hone_new_work *w, const char *word, bool is_number)
{
    for (size_t i = 0; i < w->n_inputs; i++) /* x_in, and numbers that became inputs */
        if (!is_number && strcmp(w->inputs[i].name, word) == 0)
            return true;
    for (size_t p = 0; p < w->proto.n_params; p++)
        if ((strcmp(w->proto.params[p].name, word) == 0 || strcmp(w->names[p], word) == 0) &&
            w->proto.params[p].is_pointer != is_number)
            return true;
    return false;
}

int hone_new_check_options(struct hone_new_work *w)
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
        bool is_number = lists[l].list == &w->options->scalars;
        for (size_t i = 0; i < lists[l].list->n; i++) {
            const char *text = lists[l].list->v[i], *mark = strchr(text, lists[l].mark);
            const char *word = mark ? hone_pool_strndup(w->pool, text, (size_t)(mark - text)) : "";
            if (!is_named(w, word, is_number))
                return hone_fail(w->err, HONE_E_ARG, "%s '%.80s' names no %s of '%s': %s",
                                 lists[l].what, text, is_number ? "number" : "array", w->proto.name,
                                 names_of(w, is_number));
        }
    }
    return 0;
}

const char *hone_new_formula(const struct hone_new_work *w, const char *formula)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf text = HONE_BUF_INIT;
    const char *done = formula;
    for (const char *at = formula; *at;) {
        const char *end = hone_c_token_end(at);
        const struct hone_c_token word = {at, (size_t)(end - at)};
        for (size_t i = 0; i < w->proto.n_params; i++) {
            bool is_call = end[strspn(end, " ")] == '('; /* max(n, m), whatever 'max' is else */
            if (is_call || !hone_c_is(&word, w->proto.params[i].name))
                continue;
            hone_buf_add(&text, done, (size_t)(at - done));
            hone_buf_str(&text, w->names[i]);
            done = end;
        }
        at = end;
    }
    hone_buf_str(&text, done);
    return hone_pool_strdup(w->pool, text.data ? text.data : "");
}

int hone_new_find_axis(const struct hone_new_work *w, const char *name)
{
    for (size_t i = 0; i < w->n_axes; i++)
        if (strcmp(w->axes[i].name, name) == 0 ||
            (w->axes[i].param && strcmp(w->axes[i].param->name, name) == 0))
            return (int)i;
    return -1;
}

static int too_many(struct hone_new_work *w, const char *what)
{
    return hone_fail(w->err, HONE_E_LIMIT, "too many %s", what);
}

static bool is_listed(const struct hone_strs *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->v[i], name) == 0)
            return true;
    return false;
}

static bool has_const_pointer(const struct hone_new_work *w)
{
    for (size_t i = 0; i < w->proto.n_params; i++)
        if (w->proto.params[i].is_pointer && w->proto.params[i].is_const)
            return true;
    return false;
}

/* What a pointer is for: the caller's word, then const, then what the body does with it. */
static void look_at_pointer(struct hone_new_work *w, const struct hone_param *p, bool *ret_in,
                            bool *ret_out)
{
    enum hone_access access = w->cuda
                                  ? hone_cuda_in_access(w->cuda, p->name, w->pool)
                                  : hone_prototype_access(w->source, &w->proto, p->name, w->pool);
    bool is_said = true;
    if (access == HONE_ACCESS_UNKNOWN && !has_const_pointer(w)) /* something must be read */
        access = HONE_ACCESS_READ_FIRST;
    *ret_in = p->is_const || access == HONE_ACCESS_READ || access == HONE_ACCESS_READ_FIRST;
    *ret_out = !p->is_const && access != HONE_ACCESS_READ;
    bool is_partial = access == HONE_ACCESS_WRITE_FIRST && hone_new_reach(w, p)->is_partial;
    *ret_in = *ret_in || is_partial;
    const char *other = hone_new_task_name(w, p);
    if (is_listed(&w->options->inouts, p->name) || is_listed(&w->options->inouts, other))
        *ret_in = *ret_out = true;
    else if (is_listed(&w->options->outs, p->name) || is_listed(&w->options->outs, other))
        *ret_in = !(*ret_out = true);
    else
        is_said = p->is_const;
    if (is_said)
        return;
    if (is_partial)
        hone_new_note(
            w, hone_pool_printf(w->pool,
                                "'%s' is not written everywhere: it starts as the input '%s_in', "
                                "and what is not written stays (else say --out %s)",
                                p->name, p->name, p->name));
    if (access == HONE_ACCESS_READ)
        hone_new_note(w, hone_pool_printf(w->pool, "'%s' is an input: nothing writes it", p->name));
    else if (access == HONE_ACCESS_READ_FIRST)
        hone_new_note(w, hone_pool_printf(
                             w->pool,
                             "'%s' is read before it is written: the task has an input '%s_in' and "
                             "an output '%s', and the baseline begins with a copy (if it is "
                             "an output alone, say --out %s)",
                             p->name, p->name, p->name, p->name));
    else if (access == HONE_ACCESS_UNKNOWN)
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "'%s' is handed on to others: taken as an output. If its "
                                          "old content is read, say --inout %s",
                                          p->name, p->name));
}

static void note_copy(struct hone_new_work *w, const struct hone_param *p)
{
    hone_new_note(w, hone_pool_printf(w->pool,
                                      "in place: the baseline copies '%s' before each call, which "
                                      "your function does not do: ratios are against copy and "
                                      "function",
                                      p->name));
}

static int add_pointer(struct hone_new_work *w, const struct hone_param *p)
{
    bool is_in, is_out;
    look_at_pointer(w, p, &is_in, &is_out);
    if (w->n_inputs + w->n_outputs + is_in + is_out > HONE_LIMIT_TENSORS)
        return too_many(w, "arrays");
    if (is_in && is_out)
        note_copy(w, p);
    if (is_in)
        w->inputs[w->n_inputs++] = (struct hone_new_tensor){
            .param = p,
            .name = is_out ? hone_new_free_name(w, hone_pool_printf(w->pool, "%s_in", p->name))
                           : hone_new_task_name(w, p),
            .is_copied = is_out,
            .dtype = p->dtype};
    if (is_out)
        w->outputs[w->n_outputs++] = (struct hone_new_tensor){
            .param = p, .name = hone_new_task_name(w, p), .dtype = p->dtype};
    return 0;
}

/* Floating-point values are scalars, integers sizes, unless they are given a value as scalars. */
static int add_value(struct hone_new_work *w, const struct hone_param *p)
{
    bool is_float = hone_dtype_is_float(p->dtype);
    bool is_given = hone_new_said_of(w, &w->options->scalars, p) != NULL;
    bool is_value = !is_float && !is_given && !hone_new_is_size(w, p);
    if (is_value)
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "'%s' sizes nothing and is a number: --scalar %s=7 gives "
                                          "its value; named in a --shape it is a size",
                                          p->name, p->name));
    if (is_float || is_given || is_value) {
        if (w->n_scalars == HONE_LIMIT_AXES)
            return too_many(w, "scalars");
        enum hone_dtype dtype = is_float || p->dtype == HONE_DTYPE_I32 ? p->dtype : HONE_DTYPE_I64;
        w->scalars[w->n_scalars++] =
            (struct hone_new_scalar){.param = p, .name = hone_new_task_name(w, p), .dtype = dtype};
        return 0;
    }
    if (w->n_axes == HONE_LIMIT_AXES)
        return too_many(w, "integers");
    w->axes[w->n_axes++] = (struct hone_new_axis){.name = hone_new_task_name(w, p), .param = p};
    return 0;
}

static void make_element(struct hone_new_work *w, const struct hone_new_scalar *s)
{
    struct hone_new_tensor *t = &w->inputs[w->n_inputs++];
    const char *said = hone_new_said_of(w, &w->options->scalars, s->param);
    double value = said ? strtod(said, NULL) : 0;
    *t = (struct hone_new_tensor){.param = s->param, .name = s->name, .dtype = s->dtype};
    if (said && isfinite(value)) {
        t->is_around = true;
        t->shift = value;
        t->scale = value == 0 ? 1 : fabs(value) / 8;
    }
    hone_new_note(
        w, hone_pool_printf(w->pool,
                            "'%s' becomes an input of one element, as the function reads "
                            "no array and what never changes could be stored (%s)",
                            s->name,
                            said ? hone_pool_printf(w->pool, "its values lie around %g", value)
                                 : hone_pool_printf(w->pool,
                                                    "--scalar %s=1.5 draws values around "
                                                    "that",
                                                    s->name)));
}

/* A task needs content that changes from call to call: where there is no array to read, numbers
 * become inputs of one element. */
static void make_input(struct hone_new_work *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_scalars; i++) {
        const struct hone_new_scalar *s = &w->scalars[i];
        if (!hone_dtype_is_float(s->dtype) || w->n_inputs + w->n_outputs == HONE_LIMIT_TENSORS)
            w->scalars[n++] = *s;
        else
            make_element(w, s);
    }
    w->n_scalars = n;
}

static int sort_params(struct hone_new_work *w)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < w->proto.n_params; i++)
        code = w->proto.params[i].is_pointer ? add_pointer(w, &w->proto.params[i])
                                             : add_value(w, &w->proto.params[i]);
    if (code < 0)
        return code;
    if (!w->proto.returns_void) {
        if (w->n_inputs + w->n_outputs == HONE_LIMIT_TENSORS)
            return too_many(w, "arrays");
        w->outputs[w->n_outputs++] = (struct hone_new_tensor){
            .name = hone_new_free_name(w, "result"), .dtype = w->proto.return_dtype};
    }
    if (w->n_inputs == 0)
        make_input(w);
    if (w->n_outputs == 0)
        return hone_fail(w->err, HONE_E_ARG,
                         "line %d: '%s' has no output: a pointer that is not const, or a result",
                         w->proto.line, w->proto.name);
    if (w->n_inputs == 0)
        return hone_fail(
            w->err, HONE_E_ARG,
            "line %d: '%s' has no input, and what never changes can be stored: give it a "
            "pointer whose elements it reads (const, or --inout NAME where it is "
            "written as well)",
            w->proto.line, w->proto.name);
    return 0;
}

char *hone_new_trim(struct hone_pool *pool, const char *text, size_t len)
{
    while (len > 0 && isspace((unsigned char)text[0])) {
        text++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    return hone_pool_strndup(pool, text, len);
}

/* ---- files ---- */

static int put(struct hone_new_work *w, const char *name, const char *text)
{
    const char *path = hone_pool_printf(w->pool, "%s/%s", w->options->dir, name);
    return hone_file_write(path, text, strlen(text), 0644, false, w->err);
}

static int write_pack(struct hone_new_work *w)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    HONE_CLEANUP(hone_buf_done) struct hone_buf loads = HONE_BUF_INIT, kernel = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf oracle = HONE_BUF_INIT;
    HONE_CLEANUP(hone_buf_done) struct hone_buf cuda = HONE_BUF_INIT;
    bool is_sum = !w->cuda && hone_new_sum_oracle(w, &oracle);
    if (w->cuda && w->options->reference && strstr(w->options->reference, "ITEM("))
        w->oracle_items = hone_new_elements(w, &w->outputs[0]);
    int code = hone_new_task_json(w, json);
    if (code == 0)
        code = hone_new_workloads(w, &loads);
    if (code == 0)
        code = hone_new_kernel(w, &kernel);
    if (code == 0)
        code = hone_buf_check(&kernel, w->err);
    if (code == 0 && w->cuda)
        code = hone_new_cuda_files(w, kernel.data, &cuda, &oracle);
    if (code < 0)
        return code;
    HONE_AUTOFREE char *text = hone_json_print_pretty(json);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", text);
    if ((code = hone_mkdirs(hone_pool_printf(w->pool, "%s/kernels", w->options->dir), 0755,
                            w->err)) < 0 ||
        (code = put(w, "task.json", line)) < 0 ||
        (code = put(w, "workloads.jsonl", loads.data)) < 0 ||
        (code = put(w, "oracle.c", is_sum || w->cuda ? oracle.data : kernel.data)) < 0 ||
        (w->is_changed && !w->cuda && (code = put(w, HONE_TASK_OWN_FILE, w->options->source)) < 0))
        return code;
    return w->cuda ? put(w, "kernels/naive.cu", cuda.data) : put(w, "kernels/naive.c", kernel.data);
}

static int prepare(struct hone_new_work *w)
{
    const struct hone_task_new_options *o = w->options;
    if (hone_file_exists(o->dir))
        return hone_fail(w->err, HONE_E_EXISTS, "'%s' exists already: choose another folder",
                         o->dir);
    if (strnlen(o->source, HONE_LIMIT_SOURCE_BYTES + 1) > HONE_LIMIT_SOURCE_BYTES)
        return hone_fail(w->err, HONE_E_LIMIT, "the source is longer than %u bytes",
                         HONE_LIMIT_SOURCE_BYTES);
    int code = o->is_cuda ? hone_new_cuda_gather(w) : hone_new_gather(w);
    if (code < 0)
        return code;
    w->reading = w->cuda ? w->cuda->plain : w->source;
    w->name = o->name ? o->name : w->cuda ? w->cuda->name : w->proto.name;
    if ((code = hone_new_look(w)) < 0 || (code = sort_params(w)) < 0 ||
        (code = hone_new_shapes(w)) < 0)
        return code;
    if (w->n_axes == 0)
        return hone_fail(w->err, HONE_E_ARG,
                         "'%s' has no size: it needs an integer parameter that says how many "
                         "elements there are",
                         w->name);
    for (size_t a = 0; a < w->n_axes; a++)
        for (size_t b = 0; b < w->n_axes; b++)
            if (w->axes[b].expression && strstr(w->axes[b].expression, w->axes[a].name))
                w->axes[a].is_needed_by_expression = true;
    hone_new_name_params(w);
    return 0;
}

int hone_task_new(const struct hone_task_new_options *options, struct hone_pool *pool,
                  struct hone_task_new *ret, struct hone_err *err)
{
    struct hone_new_work *w = hone_pool_alloc(pool, sizeof(*w));
    w->options = options;
    w->pool = pool;
    w->err = err;
    int code = prepare(w);
    if (code < 0)
        return code;
    HONE_CLEANUP(hone_task_free_ptr) struct hone_task *task = NULL;
    if ((code = write_pack(w)) < 0 || (code = hone_task_load(options->dir, &task, err)) < 0) {
        hone_remove_tree(options->dir, NULL); /* the first error is the one to tell */
        return code;
    }
    if (!w->oracle_items && !options->reference)
        hone_new_note(w, hone_new_is_rounded(w)
                             ? "the oracle is your function as it is, as floats decide integers: "
                               "it cannot find a mistake in the function itself, and a kernel must "
                               "round as it does (docs/tasks.md, \"naive\")"
                             : "the oracle is your function with float read as double: it cannot "
                               "find a mistake in the function itself (docs/tasks.md, "
                               "\"naive_double\")");
    ret->name = hone_pool_strdup(pool, task->name);
    ret->dir = hone_pool_strdup(pool, task->dir);
    ret->cost = w->cost;
    ret->can_be_perturbed = hone_new_can_be_perturbed(w);
    ret->moves_freely = hone_new_moves_freely(w);
    ret->notes.n = w->n_notes;
    ret->notes.v = hone_pool_alloc(pool, (w->n_notes + 1) * sizeof(ret->notes.v[0]));
    memcpy(ret->notes.v, w->notes, w->n_notes * sizeof(w->notes[0]));
    return 0;
}
