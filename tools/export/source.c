/* SPDX-License-Identifier: Apache-2.0 */
/* The source as it leaves hone: the name and parameters that the user's own function has, where
 * `hone task new` wrapped one, helpers static, tunables fixed.
 *
 * A pack made from a user's file holds that file, own.c, and its baseline names the function. A
 * wrapped baseline is the user's text with the function renamed to NAME_body, then a wrapper in
 * hone's order behind a comment. The winner has hone's order; the export calls it from a function
 * with the user's parameters, matched by name. What cannot be matched keeps the task's parameters,
 * and a note says so. */
#include "tools/export/export_internal.h"

#include <ctype.h>
#include <string.h>

#include "tools/format/options.h"
#include "tools/task/c_tokens.h"
#include "tools/task/prototype.h"
#include "workspace/base/file.h"

const char hone_export_wrapper_mark[] = "/* hone's order of parameters";
static const char added_include[] = "#include <stdint.h>\n";

/* The function behind the wrapper of the baseline: its new name and its old one. */
static bool find_wrapped(const struct hone_export_work *work, const char **ret_inner,
                         const char **ret_name)
{
    const char *mark = strstr(work->naive, hone_export_wrapper_mark);
    const char *body = mark != NULL ? strchr(mark, '{') : NULL;
    const char *call = body != NULL ? strstr(body, "_body(") : NULL;
    const char *start = call;

    if (call == NULL)
        return false;
    while (start > body && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
        start--;
    if (start == call)
        return false;
    *ret_name = hone_pool_strndup(work->pool, start, (size_t)(call - start));
    *ret_inner = hone_pool_printf(work->pool, "%s_body", *ret_name);
    return true;
}

/* The user's text before it was wrapped. */
static const char *unwrap(const struct hone_export_work *work, const char *inner, const char *name)
{
    const char *start = work->naive, *mark = strstr(start, hone_export_wrapper_mark);
    size_t len = strlen(added_include);

    if (strncmp(start, added_include, len) == 0)
        start += len;
    while (mark > start && mark[-1] == '\n')
        mark--;
    const char *text = hone_pool_strndup(work->pool, start, (size_t)(mark - start));
    HONE_AUTOFREE char *own = hone_prototype_rename(text, inner, name);
    return hone_pool_printf(work->pool, "%s\n", own);
}

/* The file that the baseline was made of, and the function's name in it; false: there is none. */
static bool find_own(const struct hone_export_work *work, const char **ret_text,
                     const char **ret_name)
{
    HONE_AUTOFREE char *path = hone_path_join(work->task->dir, HONE_TASK_OWN_FILE, NULL);
    HONE_AUTOFREE char *text = NULL;
    const char *mark = strstr(work->naive, HONE_TASK_OWN_MARK), *end;
    size_t len = 0;

    if (!hone_file_exists(path) ||
        hone_file_read(path, HONE_LIMIT_SOURCE_BYTES, &text, &len, NULL) < 0)
        return false;
    *ret_text = hone_pool_strdup(work->pool, text);
    *ret_name = NULL;
    if (mark != NULL) {
        mark += strlen(HONE_TASK_OWN_MARK);
        end = strchr(mark, '\'');
        *ret_name = end != NULL ? hone_pool_strndup(work->pool, mark, (size_t)(end - mark)) : NULL;
    }
    return true;
}

static const struct hone_param *find_param(const struct hone_prototype *proto, const char *name)
{
    for (size_t i = 0; i < proto->n_params; i++)
        if (strcmp(proto->params[i].name, name) == 0)
            return &proto->params[i];
    for (size_t i = 0; i < proto->n_params; i++) {
        size_t len = strlen(proto->params[i].name);
        if (!hone_task_is_name(proto->params[i].name, false) &&
            strncmp(proto->params[i].name, name, len) == 0 &&
            strcmp(name + len, HONE_PROTOTYPE_RENAMED) == 0)
            return &proto->params[i];
    }
    return NULL;
}

/* The user's name of what the task calls so; NULL: it gets none. */
static const char *own_name(const struct hone_prototype *proto, const char *name)
{
    const struct hone_param *param = find_param(proto, name);
    return param != NULL ? param->name : NULL;
}

/* A formula over sizes in C; NULL: it has words that C writes otherwise. */
static const char *formula_text(const struct hone_export_work *work,
                                const struct hone_prototype *proto, const char *formula)
{
    const char *text = "";

    for (const char *at = formula; *at != '\0';) {
        size_t len = 1;
        while (isalnum((unsigned char)*at) && (isalnum((unsigned char)at[len]) || at[len] == '_'))
            len++;
        const char *word = hone_pool_strndup(work->pool, at, len);
        bool is_number = strspn(word, "0123456789") == len;
        bool is_floor = at[0] == '/' && at[1] == '/';
        if (isalpha((unsigned char)*at) || *at == '_') {
            const char *own = own_name(proto, word);
            if (own == NULL)
                return NULL;
            word = hone_pool_printf(work->pool, "(int64_t)%s", own);
        } else if (!is_number && strchr(" +-*()", *at) == NULL && !is_floor) {
            return NULL;
        }
        text = hone_pool_printf(work->pool, "%s%s", text, is_floor ? "/" : word);
        at += is_floor ? 2 : len;
    }
    return hone_pool_printf(work->pool, "(%s)", text);
}

/* The output that the input holds the old content of: y of y_in, where the function has y alone. */
static const struct hone_param *param_of_old(const struct hone_export_work *work,
                                             const struct hone_prototype *proto,
                                             const struct hone_tensor *input)
{
    size_t o = hone_export_old_of(work->task, input);
    return o < work->task->n_outputs && find_param(proto, input->name) == NULL
               ? find_param(proto, work->task->outputs[o].name)
               : NULL;
}

size_t hone_export_old_of(const struct hone_task *task, const struct hone_tensor *input)
{
    size_t o = 0, len = strlen(input->name);
    while (o < task->n_outputs &&
           !(strlen(task->outputs[o].name) + 3 == len &&
             strncmp(task->outputs[o].name, input->name, len - 3) == 0 &&
             strcmp(input->name + len - 3, "_in") == 0 && task->outputs[o].dtype == input->dtype))
        o++;
    return o;
}

static const char *type_name(const struct hone_export_work *work, enum hone_dtype dtype)
{
    return work->is_cuda ? hone_dtype_cuda_name(dtype) : hone_dtype_c_name(dtype);
}

static const char *tensor_argument(const struct hone_export_work *work,
                                   const struct hone_prototype *proto,
                                   const struct hone_tensor *tensor, bool is_input)
{
    const struct hone_param *param = find_param(proto, tensor->name);

    if (is_input && param_of_old(work, proto, tensor) != NULL)
        return hone_pool_printf(work->pool, "old_%s", tensor->name);
    if (param == NULL || !param->is_pointer)
        return param == NULL && !is_input && !proto->returns_void ? "result"
                                                                  : NULL; /* sources have no more */
    return hone_pool_printf(work->pool, "(%s%s *)%s", is_input ? "const " : "",
                            type_name(work, tensor->dtype), param->name);
}

static const char *axis_argument(const struct hone_export_work *work,
                                 const struct hone_prototype *proto, const struct hone_axis *axis);

/* "((int64_t)n * (int64_t)m)"; NULL: a size is not known. */
static const char *elements_text(const struct hone_export_work *work,
                                 const struct hone_prototype *proto,
                                 const struct hone_tensor *tensor)
{
    const char *text = "1";

    for (size_t d = 0; text != NULL && d < tensor->rank; d++) {
        const char *size = axis_argument(work, proto, &work->task->axes[tensor->shape[d]]);
        text = size ? hone_pool_printf(work->pool, "%s * %s", text, size) : NULL;
    }
    return text;
}

/* A size that the function does not get: what the last of its offsets says; a launcher's lie on the
 * device. */
static const char *total_argument(const struct hone_export_work *work,
                                  const struct hone_prototype *proto, const struct hone_axis *axis)
{
    const struct hone_task *task = work->task;

    for (size_t i = 0; i < task->n_inputs && !work->is_cuda; i++) {
        const struct hone_tensor *t = &task->inputs[i];
        bool is_total = t->role == HONE_ROLE_OFFSETS && &task->axes[t->bound_axis] == axis &&
                        &task->axes[t->shape[0]] != axis && own_name(proto, t->name) != NULL;
        const char *n = is_total ? elements_text(work, proto, t) : NULL;
        if (n != NULL)
            return hone_pool_printf(work->pool, "(int64_t)%s[%s - 1]", own_name(proto, t->name), n);
    }
    return NULL;
}

static const char *axis_argument(const struct hone_export_work *work,
                                 const struct hone_prototype *proto, const struct hone_axis *axis)
{
    const char *own = own_name(proto, axis->name);

    if (own != NULL)
        return hone_pool_printf(work->pool, "(int64_t)%s", own);
    if (axis->kind == HONE_AXIS_CONST)
        return hone_pool_printf(work->pool, "%lld", (long long)axis->value);
    return axis->kind == HONE_AXIS_EXPR ? formula_text(work, proto, axis->expression)
                                        : total_argument(work, proto, axis);
}

/* How the task's function is called from the user's. */
struct call {
    const char *body; /* the task's function, with or without its copies */
    const char *arguments;
    struct hone_export_copy copies[HONE_LIMIT_TENSORS];
    size_t n_copies;
};

static bool is_dropped(const struct call *call, size_t input)
{
    for (size_t i = 0; i < call->n_copies; i++)
        if (call->copies[i].input == input)
            return call->copies[i].is_dropped;
    return false;
}

/* Is the version's wrapper the baseline's still, and passes no such size on? */
static bool is_unused(const struct hone_export_work *work, const char *axis)
{
    const char *naive = strstr(work->naive, hone_export_wrapper_mark);
    const char *mine = naive != NULL ? strstr(work->source, hone_export_wrapper_mark) : NULL;
    const char *body = mine != NULL && strcmp(mine, naive) == 0 ? strstr(mine, "\n{") : NULL;

    return body != NULL && !hone_c_has_word(body, axis, work->pool);
}

/* The arguments of the task's function in terms of the user's parameters; NULL: one is missing. */
static const char *arguments(const struct hone_export_work *work,
                             const struct hone_prototype *proto, const struct call *call)
{
    const struct hone_task *task = work->task;
    size_t n = task->n_inputs + task->n_outputs + task->n_scalars + task->n_axes;
    const char *text = "";

    for (size_t i = 0; i < n; i++) {
        size_t o = i - task->n_inputs, s = o - task->n_outputs, a = s - task->n_scalars;
        const char *word;
        if (i < task->n_inputs && is_dropped(call, i))
            continue;
        if (i < task->n_inputs)
            word = tensor_argument(work, proto, &task->inputs[i], true);
        else if (o < task->n_outputs)
            word = tensor_argument(work, proto, &task->outputs[o], false);
        else if (s < task->n_scalars)
            word = own_name(proto, task->scalars[s].name);
        else
            word = axis_argument(work, proto, &task->axes[a]);
        if (word == NULL && i >= n - task->n_axes && is_unused(work, task->axes[a].name))
            word = "0"; /* nobody reads it */
        if (word == NULL)
            return NULL;
        text = hone_pool_printf(work->pool, "%s%s%s", text, text[0] ? ", " : "", word);
    }
    return text;
}

/* What is read and written, which the task's function gets apart. */
static void find_copies(const struct hone_export_work *work, const struct hone_prototype *proto,
                        struct hone_export_copy *ret, size_t *ret_n)
{
    *ret_n = 0;
    for (size_t i = 0; i < work->task->n_inputs; i++) {
        const struct hone_tensor *t = &work->task->inputs[i];
        const struct hone_param *param = param_of_old(work, proto, t);
        if (param == NULL)
            continue;
        ret[(*ret_n)++] = (struct hone_export_copy){.name = t->name,
                                                    .param = param->name,
                                                    .type = type_name(work, t->dtype),
                                                    .n = elements_text(work, proto, t),
                                                    .input = i,
                                                    .output = hone_export_old_of(work->task, t)};
    }
}

static const char *host_copies(const struct hone_export_work *work,
                               const struct hone_export_copy *copies, size_t n,
                               const char **ret_after)
{
    const char *text = "";

    *ret_after = "";
    for (size_t i = 0; i < n; i++) {
        const struct hone_export_copy *c = &copies[i];
        if (c->is_dropped)
            continue;
        text = hone_pool_printf(work->pool,
                                "%s    %s *old_%s = malloc((size_t)(%s) * sizeof(%s));\n"
                                "    if (old_%s == NULL)\n        abort();\n"
                                "    memcpy(old_%s, %s, (size_t)(%s) * sizeof(%s));\n",
                                text, c->type, c->name, c->n, c->type, c->name, c->name, c->param,
                                c->n, c->type);
        *ret_after = hone_pool_printf(work->pool, "%s    free(old_%s);\n", *ret_after, c->name);
    }
    return text;
}

/* A function of the user's name around the task's, which becomes static. */
static int add_own(const struct hone_export_work *work, const struct hone_prototype *proto,
                   const struct call *call, struct hone_export_function *ret, struct hone_err *err)
{
    const char *inner = hone_pool_printf(work->pool, "%s_in_task_order", work->task->name);
    const char *result = hone_dtype_c_name(proto->return_dtype);
    HONE_AUTOFREE char *renamed = hone_prototype_rename(call->body, work->task->name, inner);
    const char *text;
    int rc = hone_prototype_make_static(renamed, NULL, work->pool, &text, err);
    const char *after, *before = host_copies(work, call->copies, call->n_copies, &after);

    if (rc < 0)
        return rc;
    if (*before)
        text = hone_pool_printf(work->pool, "#include <stdlib.h>\n#include <string.h>\n%s", text);
    ret->body = proto->returns_void
                    ? hone_pool_printf(work->pool, "%s\n\n%s\n{\n%s    %s(%s);\n%s}\n", text,
                                       ret->declaration, before, inner, call->arguments, after)
                    : hone_pool_printf(work->pool,
                                       "%s\n\n%s\n{\n    %s result[1];\n%s    %s(%s);\n%s    "
                                       "return result[0];\n}\n",
                                       text, ret->declaration, result, before, inner,
                                       call->arguments, after);
    return 0;
}

/* The same of a launcher. The user's own, where the version calls it still, gets another name. */
static void add_own_launcher(const struct hone_export_work *work,
                             const struct hone_export_launcher *launcher, const struct call *call,
                             struct hone_export_function *ret)
{
    const char *name = work->task->name;
    const char *inner = hone_pool_printf(work->pool, "%s_in_task_order", name);
    const char *stream = launcher->stream != NULL ? launcher->stream : "0";
    HONE_AUTOFREE char *renamed = hone_prototype_rename(call->body, name, inner);
    HONE_AUTOFREE char *text = hone_prototype_rename(
        renamed, launcher->name, hone_pool_printf(work->pool, "%s_before", launcher->name));
    const char *after;
    const char *before =
        hone_export_cuda_copies(work, call->copies, call->n_copies, stream, &after);

    ret->body = hone_pool_printf(work->pool, "%s\n\n%s\n{\n%s    %s(%s, %s);\n%s}\n", text,
                                 ret->declaration, before, inner, call->arguments, stream, after);
}

static const char *names_of(const struct hone_export_work *work, const struct hone_prototype *proto)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf names = HONE_BUF_INIT;

    for (size_t i = 0; i < proto->n_params; i++) {
        const char *name = proto->params[i].name;
        const char *end = hone_task_is_name(name, false) ? "" : HONE_PROTOTYPE_RENAMED;
        hone_buf_printf(&names, "%s%s", name, end);
        hone_buf_add(&names, "", 1);
    }
    hone_buf_add(&names, "", 1);
    char *copy = hone_pool_alloc(work->pool, names.len + 1);
    memcpy(copy, names.data, names.len);
    return copy;
}

static const char *task_names(const struct hone_export_work *work)
{
    const struct hone_task *task = work->task;
    struct hone_prototype proto = {.n_params = 0};

    for (size_t i = 0; i < task->n_inputs; i++)
        proto.params[proto.n_params++].name = task->inputs[i].name;
    for (size_t i = 0; i < task->n_outputs; i++)
        proto.params[proto.n_params++].name = task->outputs[i].name;
    for (size_t i = 0; i < task->n_scalars; i++)
        proto.params[proto.n_params++].name = task->scalars[i].name;
    for (size_t i = 0; i < task->n_axes; i++)
        proto.params[proto.n_params++].name = task->axes[i].name;
    return names_of(work, &proto);
}

static int with_task_parameters(const struct hone_export_work *work,
                                struct hone_export_function *ret, struct hone_err *err)
{
    HONE_AUTOFREE char *signature = hone_task_signature_for(work->task, work->target);

    ret->name = work->task->name;
    ret->declaration = hone_pool_strdup(work->pool, signature);
    ret->params = task_names(work);
    return work->is_cuda
               ? 0
               : hone_prototype_make_static(ret->body, ret->name, work->pool, &ret->body, err);
}

/* Tunables as values, `#pragma hone` lines gone. */
static int plain_source(const struct hone_export_work *work, const char **ret, struct hone_err *err)
{
    const char *defines = "";
    int rc = work->is_cuda
                 ? hone_tune_prologue_cuda(work->source, &work->tunables, work->pool, &defines, err)
                 : hone_tune_defines(work->source, &work->tunables, work->pool, &defines, err);

    if (rc == 0)
        *ret = hone_pool_printf(work->pool, "%s%s%s", defines, defines[0] ? "\n" : "",
                                hone_tune_strip(work->source, work->pool));
    return rc;
}

/* "n*m*4 bytes a call" */
static const char *bytes_text(const struct hone_export_work *work, const struct hone_tensor *tensor)
{
    const char *text = "";

    for (size_t d = 0; d < tensor->rank; d++)
        text = hone_pool_printf(work->pool, "%s%s*", text, work->task->axes[tensor->shape[d]].name);
    return hone_pool_printf(work->pool, "%s%lld bytes a call", text,
                            (long long)hone_dtype_bytes(tensor->dtype));
}

/* What the figure of the search is worth in the user's program. */
static void note_copies(struct hone_export_work *work, const struct call *call)
{
    const char *kept = "", *dropped = "";

    for (size_t i = 0; i < call->n_copies; i++) {
        const struct hone_export_copy *c = &call->copies[i];
        if (c->is_dropped)
            dropped =
                hone_pool_printf(work->pool, "%s%s%s", dropped, dropped[0] ? ", " : "", c->param);
        else
            kept = hone_pool_printf(work->pool, "%s%s%s is copied first (%s)", kept,
                                    kept[0] ? ", " : "", c->param,
                                    bytes_text(work, &work->task->inputs[c->input]));
    }
    if (kept[0])
        hone_export_note(work, hone_pool_printf(work->pool,
                                                "%s: the figure of the search was measured with "
                                                "such a copy in the baseline too; time it in your "
                                                "program",
                                                kept));
    if (dropped[0])
        hone_export_note(work, hone_pool_printf(work->pool,
                                                "in place, without a copy: %s. The figure of the "
                                                "search was measured with a copy on both sides; "
                                                "time it in your program",
                                                dropped));
}

static bool match(struct hone_export_work *work, const struct hone_prototype *proto,
                  const char *body, struct call *ret)
{
    find_copies(work, proto, ret->copies, &ret->n_copies);
    ret->body = hone_export_in_place(work, body, ret->copies, ret->n_copies);
    for (size_t i = 0; i < ret->n_copies; i++)
        if (ret->copies[i].n == NULL && !ret->copies[i].is_dropped)
            return false;
    ret->arguments = arguments(work, proto, ret);
    if (ret->arguments == NULL)
        return false;
    note_copies(work, ret);
    return true;
}

static void note_order(struct hone_export_work *work)
{
    hone_export_note(work, "your function's own parameters could not be matched: it has the task's "
                           "order");
}

static int launcher_function(struct hone_export_work *work, struct hone_export_function *ret,
                             struct hone_err *err)
{
    struct hone_prototype *proto = hone_pool_alloc(work->pool, sizeof(*proto));
    struct hone_export_launcher launcher;
    struct call call = {.n_copies = 0};

    if (work->is_task_order || !hone_export_cuda_own(work, proto, &launcher))
        return with_task_parameters(work, ret, err);
    ret->own = unwrap(work, launcher.inner, launcher.name);
    if (!match(work, proto, ret->body, &call)) {
        note_order(work);
        return with_task_parameters(work, ret, err);
    }
    ret->name = launcher.name;
    ret->is_users = true;
    ret->params = names_of(work, proto);
    ret->declaration = launcher.declaration;
    add_own_launcher(work, &launcher, &call, ret);
    return 0;
}

int hone_export_function(struct hone_export_work *work, struct hone_export_function *ret,
                         struct hone_err *err)
{
    struct hone_prototype *proto = hone_pool_alloc(work->pool, sizeof(*proto));
    const char *inner = NULL, *name = NULL;
    struct call call = {.n_copies = 0};
    int rc;

    *ret = (struct hone_export_function){.own = work->naive};
    rc = plain_source(work, &ret->body, err);
    if (rc < 0 || work->is_cuda)
        return rc < 0 ? rc : launcher_function(work, ret, err);
    const char *text = work->naive;
    bool has_own = find_own(work, &ret->own, &name);
    if (name != NULL) {
        inner = name;
        text = ret->own;
    } else if (find_wrapped(work, &inner, &name)) {
        ret->own = has_own ? ret->own : unwrap(work, inner, name);
    }
    if (work->is_task_order || name == NULL)
        return with_task_parameters(work, ret, err);
    if (hone_prototype_parse(text, inner, work->pool, proto, NULL) < 0 ||
        !match(work, proto, ret->body, &call)) {
        note_order(work);
        return with_task_parameters(work, ret, err);
    }
    ret->name = name;
    ret->is_users = true;
    for (size_t o = 0; o < work->task->n_outputs && !proto->returns_void; o++)
        if (find_param(proto, work->task->outputs[o].name) == NULL)
            ret->result = work->task->outputs[o].name;
    ret->params = names_of(work, proto);
    ret->declaration =
        hone_pool_printf(work->pool, "%s %s(%s)",
                         proto->returns_void ? "void" : hone_dtype_c_name(proto->return_dtype),
                         name, hone_prototype_params_text(text, proto, work->pool));
    return add_own(work, proto, &call, ret, err);
}
