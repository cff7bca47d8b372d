/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/naive.c of a new pack: the user's function with the parameters of the task.
 *
 * The body stays as it was written, so that the planner, which reads the baseline, sees its loops. A parameter of another type in C gets a name of its own, and the body begins with a
 * variable of the user's name and type: what `int n` or `size_t n` meant it still means. A result is
 * written to the output's one element. What is read and written is copied from the input first.
 *
 * A function that is called elsewhere in the text, by itself for one, keeps its parameters: it
 * becomes NAME_body, and a wrapper in hone's order calls it. */
#include "tools/task/task_new_internal.h"

#include <string.h>

#include "tools/task/c_tokens.h"

const char *hone_new_free_name(struct hone_new_work *w, const char *base)
{
    const char *name = base;
    for (int i = 2; hone_c_has_word(w->source, name, w->pool) || hone_new_find_axis(w, name) >= 0;
         i++)
        name = hone_pool_printf(w->pool, "%s%d", base, i);
    return name;
}

static bool is_variable(const struct hone_new_tensor *t)
{
    return t->param && (t->param->is_own_type || t->param->n_dims > 1 || !t->param->is_pointer);
}

/* The user's name of a tensor: what the body calls it. */
static const char *own_name(const struct hone_new_tensor *t)
{
    return t->param && !t->is_copied ? t->param->name : t->name;
}

static const char *parameter(struct hone_new_work *w, const char *own, bool is_other)
{
    return is_other ? hone_new_free_name(w, hone_pool_printf(w->pool, "%s_arg", own)) : own;
}

void hone_new_name_params(struct hone_new_work *w)
{
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        struct hone_new_tensor *t = i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        t->is_variable = is_variable(t) && !t->is_copied;
        t->c_name = parameter(w, own_name(t), t->is_variable);
    }
    for (size_t i = 0; i < w->n_scalars; i++) {
        struct hone_new_scalar *s = &w->scalars[i];
        s->is_variable = s->dtype != s->param->dtype || s->param->is_own_type;
        s->c_name = parameter(w, s->param->name, s->is_variable);
    }
    for (size_t i = 0; i < w->n_axes; i++) {
        struct hone_new_axis *a = &w->axes[i];
        a->is_variable = a->param && a->param->dtype != HONE_DTYPE_I64;
        a->c_name = parameter(w, a->param ? a->param->name : a->name, a->is_variable);
    }
}

static bool is_hone_order(const struct hone_new_work *w)
{
    size_t at = 0;
    bool same = !w->cuda && w->proto.returns_void && strcmp(w->name, w->proto.name) == 0 &&
                !w->proto.is_static;
    for (size_t i = 0; i < w->n_inputs; i++)
        same = same && w->inputs[i].param == &w->proto.params[at++] && !w->inputs[i].is_copied &&
               w->inputs[i].param->is_const;
    for (size_t i = 0; i < w->n_outputs; i++)
        same = same && w->outputs[i].param == &w->proto.params[at++];
    for (size_t i = 0; i < w->n_scalars; i++)
        same = same && w->scalars[i].param == &w->proto.params[at++];
    for (size_t i = 0; i < w->n_axes; i++)
        same = same && w->axes[i].param == &w->proto.params[at++];
    for (size_t i = 0; i < w->proto.n_params; i++)
        same = same && w->proto.params[i].n_dims == 0 && !w->proto.params[i].is_own_type;
    for (size_t i = 0; i < w->n_axes; i++)
        same = same && w->axes[i].param->dtype == HONE_DTYPE_I64;
    for (size_t i = 0; i < w->n_scalars; i++)
        same = same && w->scalars[i].param->dtype == w->scalars[i].dtype;
    return same;
}

/* A pack needs a task to print its signature, and a task needs files: so the signature is made here
 * the same way, with the names of parameters that the body wants and its restrict. */
static const char *type_of(const struct hone_new_work *w, enum hone_dtype dtype)
{
    bool is_half = dtype == HONE_DTYPE_F16 || dtype == HONE_DTYPE_BF16;
    return w->cuda && is_half ? "float" : hone_dtype_c_name(dtype); /* all are double there */
}

static const char *signature_of(struct hone_new_work *w)
{
    const char *text = hone_pool_printf(w->pool, "void %s(", w->name);
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        bool is_restrict = t->param && t->param->is_restrict && !t->is_copied;
        text = hone_pool_printf(w->pool, "%s%s%s%s *%s%s", text, i ? ", " : "",
                                i < w->n_inputs ? "const " : "", type_of(w, t->dtype),
                                is_restrict ? "restrict " : "", t->c_name);
    }
    for (size_t i = 0; i < w->n_scalars; i++)
        text = hone_pool_printf(w->pool, "%s, %s %s", text, hone_dtype_c_name(w->scalars[i].dtype),
                                w->scalars[i].c_name);
    for (size_t i = 0; i < w->n_axes; i++)
        text = hone_pool_printf(w->pool, "%s, int64_t %s", text, w->axes[i].c_name);
    return hone_pool_printf(w->pool, "%s)", text);
}

/* "(*A)[M][K]" or "*A": the declarator of a pointer without its type. */
static const char *declarator(struct hone_new_work *w, const struct hone_param *p, const char *name)
{
    if (p->n_dims < 2)
        return hone_pool_printf(w->pool, "*%s%s", p->is_restrict && *name ? "restrict " : "", name);
    const char *text = hone_pool_printf(w->pool, "(*%s)", name);
    for (size_t d = 1; d < p->n_dims; d++)
        text = hone_pool_printf(w->pool, "%s[%s]", text, p->dims[d]);
    return text;
}

/* Variables of the user's names and types; `body`: what uses them. */
static void add_variables(struct hone_new_work *w, struct hone_buf *buf, const char *body)
{
    const char *dims = "";
    for (size_t i = 0; i < w->proto.n_params; i++)
        for (size_t d = 0; d < w->proto.params[i].n_dims; d++)
            dims = hone_pool_printf(w->pool, "%s %s", dims, w->proto.params[i].dims[d]);
    for (size_t i = 0; i < w->n_axes; i++) {
        const struct hone_new_axis *a = &w->axes[i];
        if (a->is_variable && (hone_c_has_word(body, a->param->name, w->pool) ||
                               hone_c_has_word(dims, a->param->name, w->pool)))
            hone_buf_printf(buf, "    %s %s = (%s)%s;\n", a->param->type, a->param->name,
                            a->param->type, a->c_name);
    }
    for (size_t i = 0; i < w->n_scalars; i++) {
        const struct hone_new_scalar *s = &w->scalars[i];
        if (s->is_variable && hone_c_has_word(body, s->param->name, w->pool))
            hone_buf_printf(buf, "    %s %s = (%s)%s;\n", s->param->type, s->param->name,
                            s->param->type, s->c_name);
    }
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        if (!t->is_variable || !hone_c_has_word(body, t->param->name, w->pool))
            continue;
        if (!t->param->is_pointer) {
            hone_buf_printf(buf, "    %s %s = %s[0];\n", t->param->type, t->param->name, t->c_name);
            continue;
        }
        const char *constant = i < w->n_inputs ? "const " : "";
        hone_buf_printf(buf, "    %s%s %s = (%s%s %s)%s;\n", constant, t->param->type,
                        declarator(w, t->param, t->param->name), constant, t->param->type,
                        declarator(w, t->param, ""), t->c_name);
    }
}

static bool has_copies(const struct hone_new_work *w)
{
    bool found = false;
    for (size_t i = 0; i < w->n_inputs; i++)
        found = found || w->inputs[i].is_copied;
    return found;
}

static void add_copies(struct hone_new_work *w, struct hone_buf *buf)
{
    for (size_t i = 0; i < w->n_inputs; i++) {
        const struct hone_new_tensor *in = &w->inputs[i];
        if (!in->is_copied)
            continue;
        const struct hone_new_tensor *out = w->outputs;
        while (out->param != in->param)
            out++;
        hone_buf_printf(buf, "    memcpy(%s, %s, (size_t)(", out->c_name, in->c_name);
        for (size_t d = 0; d < in->rank; d++)
            hone_buf_printf(buf, "%s%s", d ? " * " : "", w->axes[in->shape[d]].c_name);
        hone_buf_printf(buf, "%s) * sizeof(*%s));\n", in->rank ? "" : "1", out->c_name);
    }
}

static const char *result_name(const struct hone_new_work *w)
{
    const char *name = NULL;
    for (size_t i = 0; i < w->n_outputs; i++)
        name = w->outputs[i].param ? name : w->outputs[i].name;
    return name;
}

/* The body's text without its brackets, `return x;` as `result[0] = x`. */
static void add_body(struct hone_new_work *w, struct hone_buf *buf, const struct hone_c_tokens *t,
                     const struct hone_c_definition *d)
{
    const char *done = t->v[d->close + 1].at + 1, *end = t->v[d->end].at;
    for (size_t i = d->close + 2; i < d->end && !w->proto.returns_void; i++) {
        size_t stop = i + 1;
        if (!hone_c_is(&t->v[i], "return"))
            continue;
        while (stop < d->end && !hone_c_is(&t->v[stop], ";"))
            stop++;
        const char *value = t->v[i + 1].at;
        hone_buf_add(buf, done, (size_t)(t->v[i].at - done));
        hone_buf_printf(buf, stop + 1 == d->end ? "%s[0] = %.*s;" : "{ %s[0] = %.*s; return; }",
                        result_name(w), (int)(t->v[stop].at - value), value);
        done = t->v[stop].at + 1;
        i = stop;
    }
    hone_buf_add(buf, done, (size_t)(end - done));
}

static void add_call(struct hone_new_work *w, struct hone_buf *buf, const char *inner)
{
    hone_buf_str(buf, "    ");
    if (!w->proto.returns_void)
        hone_buf_printf(buf, "%s[0] = ", result_name(w));
    hone_buf_printf(buf, "%s(", inner);
    for (size_t i = 0; i < w->proto.n_params; i++)
        hone_buf_printf(buf, "%s%s", i ? ", " : "", w->proto.params[i].name);
    hone_buf_str(buf, ");\n}\n");
}

/* The names of all parameters, as a body that uses them. */
static const char *all_names(struct hone_new_work *w)
{
    const char *text = "";
    for (size_t i = 0; i < w->proto.n_params; i++)
        text = hone_pool_printf(w->pool, "%s %s", text, w->proto.params[i].name);
    return text;
}

static void add_wrapped(struct hone_new_work *w, struct hone_buf *buf)
{
    const char *inner = hone_new_free_name(w, hone_pool_printf(w->pool, "%s_body", w->proto.name));
    HONE_AUTOFREE char *renamed = hone_prototype_rename(w->source, w->proto.name, inner);
    hone_buf_printf(buf,
                    "%s\n\n/* hone's order of parameters: inputs, outputs, scalars, sizes. */\n"
                    "%s\n{\n",
                    renamed, signature_of(w));
    add_variables(w, buf, all_names(w));
    add_copies(w, buf);
    add_call(w, buf, inner);
    hone_new_note(w, hone_pool_printf(w->pool,
                                      "kernels/naive.c calls your function as %s through a "
                                      "wrapper, because the function calls itself or is called by "
                                      "others: the built-in planner proposes little there",
                                      inner));
}

/* Is the function's name used anywhere but in its definition? */
static bool is_called(const struct hone_c_tokens *t, const struct hone_c_definition *d)
{
    for (size_t i = 0; i < t->n; i++)
        if (i != d->name && t->v[i].len == t->v[d->name].len &&
            memcmp(t->v[i].at, t->v[d->name].at, t->v[i].len) == 0)
            return true;
    return false;
}

/* Kernels of the same order then round alike, however they are compiled. Rules know it by this. */
static const char rounds_as_written[] =
    "/* A rounding decides integers here: no product is fused with a sum, in no version. */\n"
    "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#else\n"
    "#pragma GCC optimize(\"fp-contract=off\")\n#endif\n";

int hone_new_kernel(struct hone_new_work *w, struct hone_buf *buf)
{
    struct hone_c_tokens t;
    struct hone_c_definition d;
    size_t at = 0;
    if (!w->cuda && hone_new_is_rounded(w))
        hone_buf_str(buf, rounds_as_written);
    if (is_hone_order(w)) {
        hone_buf_str(buf, w->source);
        return 0;
    }
    int code = hone_c_tokens_read(w->source, w->pool, &t, w->err);
    if (code < 0)
        return code;
    while (hone_c_next_definition(&t, &at, &d) &&
           t.v[d.name].at != w->source + w->proto.name_offset)
        continue;
    hone_buf_str(buf, "#include <stdint.h>\n");
    if (has_copies(w))
        hone_buf_str(buf, "#include <string.h>\n");
    if (is_called(&t, &d) || d.end >= t.n) {
        add_wrapped(w, buf);
        return 0;
    }
    const char *open = t.v[d.close + 1].at + 1, *end = t.v[d.end].at;
    const char *body = hone_pool_strndup(w->pool, open, (size_t)(end - open));
    hone_buf_add(buf, w->source, (size_t)(t.v[d.first].at - w->source));
    hone_buf_printf(buf,
                    HONE_TASK_OWN_MARK "%s', with the task's parameters: inputs, outputs, scalars, "
                                       "sizes. */\n%s\n{\n",
                    w->proto.name, signature_of(w));
    add_variables(w, buf, body);
    add_copies(w, buf);
    add_body(w, buf, &t, &d);
    hone_buf_str(buf, end);
    w->is_changed = true;
    return 0;
}
