/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/naive.cu and oracle.c of a pack from a CUDA file.
 *
 * naive.cu is the file with a launcher of hone's order behind it, which calls the user's. The oracle
 * is the same as C (cuda_in.h), or the reference that was given. */
#include <string.h>

#include "tools/task/task_new_internal.h"

int hone_new_cuda_gather(struct hone_new_work *w)
{
    const struct hone_task_new_options *o = w->options;
    const struct hone_cuda_in_options options = {.source = o->source,
                                                 .function = o->function,
                                                 .name = o->name,
                                                 .grid = o->grid,
                                                 .block = o->block,
                                                 .instance = o->instance,
                                                 .has_reference = o->reference != NULL};
    struct hone_cuda_in *in = hone_pool_alloc(w->pool, sizeof(*in));
    int code = hone_cuda_in_read(&options, w->pool, in, w->err);
    if (code < 0)
        return code;
    w->cuda = in;
    if (in->instances)
        hone_new_note(w, hone_pool_printf(w->pool,
                                          "templates are written out for what the file uses: %s",
                                          in->instances));
    w->source = in->c;
    return hone_prototype_parse(w->source, in->function, w->pool, &w->proto, w->err);
}

static const char *launcher_text(struct hone_new_work *w)
{
    const char *text = hone_pool_printf(w->pool, "extern \"C\" void %s(", w->name);
    for (size_t i = 0; i < w->n_inputs + w->n_outputs; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        text = hone_pool_printf(w->pool, "%s%s%s *%s", text, i < w->n_inputs ? "const " : "",
                                hone_dtype_cuda_name(t->dtype),
                                hone_pool_printf(w->pool, "%s, ", t->name));
    }
    for (size_t i = 0; i < w->n_scalars; i++)
        text = hone_pool_printf(w->pool, "%s%s %s, ", text,
                                hone_dtype_cuda_name(w->scalars[i].dtype), w->scalars[i].name);
    for (size_t i = 0; i < w->n_axes; i++)
        text = hone_pool_printf(w->pool, "%sint64_t %s, ", text, w->axes[i].name);
    return hone_pool_printf(w->pool, "%scudaStream_t hone_stream)\n{\n", text);
}

/* What is read and written begins with the input's content. */
static void add_copies(struct hone_new_work *w, struct hone_buf *buf)
{
    for (size_t i = 0; i < w->n_inputs; i++) {
        const struct hone_new_tensor *in = &w->inputs[i];
        if (in->is_copied)
            hone_buf_printf(buf,
                            "    cudaMemcpyAsync(%s, %s, (size_t)(%s) * sizeof(*%s), "
                            "cudaMemcpyDeviceToDevice, hone_stream);\n",
                            hone_new_task_name(w, in->param), in->name, hone_new_elements(w, in),
                            hone_new_task_name(w, in->param));
    }
}

static void add_launcher(struct hone_new_work *w, struct hone_buf *buf)
{
    const char *inner = w->cuda->function;
    HONE_AUTOFREE char *renamed = NULL;
    if (strcmp(inner, w->name) == 0) {
        inner = hone_new_free_name(w, hone_pool_printf(w->pool, "%s_body", inner));
        renamed = hone_prototype_rename(w->cuda->cuda, w->cuda->function, inner);
    }
    hone_buf_printf(buf,
                    "#include <stdint.h>\n%s\n\n/* hone's order of parameters: inputs, outputs, "
                    "scalars, sizes, stream. */\n%s",
                    renamed ? renamed : w->cuda->cuda, launcher_text(w));
    add_copies(w, buf);
    hone_buf_printf(buf, "    %s(", inner);
    for (size_t i = 0; i < w->proto.n_params; i++) {
        const struct hone_param *p = &w->proto.params[i];
        hone_buf_printf(buf, "%s(%s%s%s)%s", i ? ", " : "", p->is_const ? "const " : "", p->type,
                        p->is_pointer ? " *" : "", hone_new_task_name(w, p));
    }
    hone_buf_printf(buf, "%s);\n}\n", w->cuda->has_stream ? ", hone_stream" : "");
}

/* What a reference that is a function is called with: hone's order. */
static const char *reference_text(struct hone_new_work *w, const char **ret_names)
{
    const char *text = hone_pool_printf(w->pool, "void %s(", w->name), *names = "";
    size_t n = w->n_inputs + w->n_outputs;
    for (size_t i = 0; i < n; i++) {
        const struct hone_new_tensor *t =
            i < w->n_inputs ? &w->inputs[i] : &w->outputs[i - w->n_inputs];
        text =
            hone_pool_printf(w->pool, "%s%s%s%s *%s", text, i ? ", " : "",
                             i < w->n_inputs ? "const " : "", hone_dtype_c_name(t->dtype), t->name);
        names = hone_pool_printf(w->pool, "%s%c", names, '*');
    }
    for (size_t i = 0; i < w->n_scalars; i++)
        text = hone_pool_printf(w->pool, "%s, %s %s", text, hone_dtype_c_name(w->scalars[i].dtype),
                                w->scalars[i].name);
    for (size_t i = 0; i < w->n_axes; i++)
        text = hone_pool_printf(w->pool, "%s, int64_t %s", text, w->axes[i].name);
    for (size_t i = 0; i < w->n_scalars + w->n_axes; i++)
        names = hone_pool_printf(w->pool, "%s%c", names, i < w->n_scalars ? 's' : 'n');
    *ret_names = names;
    return hone_pool_printf(w->pool, "%s)", text);
}

/* A reference that is a function and takes something else would fail when it is compiled, late. */
static int check_reference(struct hone_new_work *w, const char *given)
{
    struct hone_prototype *p = hone_pool_alloc(w->pool, sizeof(*p));
    const char *wanted, *signature = reference_text(w, &wanted), *has = "";
    if (strstr(given, "ITEM(") || strstr(given, "INIT("))
        return 0;
    if (hone_prototype_parse(given, w->name, w->pool, p, NULL) < 0)
        return hone_fail(w->err, HONE_E_ARG, "--reference has neither ITEM nor a function '%s': %s",
                         w->name, signature);
    for (size_t i = 0; i < p->n_params; i++)
        has = hone_pool_printf(w->pool, "%s%c", has,
                               p->params[i].is_pointer                         ? '*'
                               : i < w->n_inputs + w->n_outputs + w->n_scalars ? 's'
                                                                               : 'n');
    bool is_same = strcmp(has, wanted) == 0;
    for (size_t i = w->n_inputs + w->n_outputs + w->n_scalars; is_same && i < p->n_params; i++)
        is_same = p->params[i].dtype == HONE_DTYPE_I64;
    return is_same
               ? 0
               : hone_fail(w->err, HONE_E_ARG,
                           "--reference: '%s' has other parameters than the task, which calls it "
                           "as: %s",
                           w->name, signature);
}

int hone_new_cuda_files(struct hone_new_work *w, const char *c, struct hone_buf *kernel,
                        struct hone_buf *oracle)
{
    const char *given = w->options->reference;
    if (!w->proto.returns_void)
        return hone_fail(w->err, HONE_E_ARG,
                         "line %d: '%s' returns a value: a launcher returns nothing (void)",
                         w->proto.line, w->proto.name);
    add_launcher(w, kernel);
    if (!w->cuda->has_stream)
        hone_new_note(w, "your launcher takes no stream: its launches go to the default one; "
                         "better give it a last parameter cudaStream_t and launch there");
    if (given) {
        int rc = check_reference(w, given);
        if (rc < 0)
            return rc;
        hone_buf_str(oracle, given);
        return hone_buf_check(kernel, w->err);
    }
    hone_buf_printf(oracle, "/* The CUDA file, thread by thread, in double. */\n%s%s%s%s%s%s%s",
                    w->cuda->has_barriers ? "#define HONE_BARRIERS_\n" : "",
                    w->cuda->is_in_turn ? "" : "#define HONE_ON_CORES_\n", hone_cuda_in_head,
                    hone_cuda_in_calls, w->cuda->has_barriers ? hone_cuda_in_barriers : "",
                    w->cuda->has_barriers ? hone_cuda_in_words : "", c);
    int code = hone_buf_check(oracle, w->err);
    return code == 0 ? hone_buf_check(kernel, w->err) : code;
}
