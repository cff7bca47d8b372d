/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA launcher as it leaves hone: with the name and parameters of the user's own launcher.
 *
 * The baseline of a pack made from a CUDA file is that file, then a launcher in hone's order of
 * parameters behind a comment, which calls the user's (tools/task/task_new_cuda.c). The winner has
 * hone's order; the export calls it from a launcher with the user's parameters, matched by name. A
 * launcher without a stream launches on the default one. */
#include <ctype.h>
#include <string.h>

#include "tools/export/export_internal.h"
#include "tools/task/prototype.h"

static const char body_ending[] = "_body";

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The function that the launcher behind the mark calls last. */
static const char *called(const struct hone_export_work *work)
{
    const char *mark = strstr(work->naive, hone_export_wrapper_mark);
    const char *at = mark != NULL ? strstr(mark, "\n{\n") : NULL, *ret = NULL;

    for (at = at != NULL ? at + 3 : NULL; at != NULL && *at == ' '; at = strchr(at, '\n') + 1) {
        const char *start = at + strspn(at, " ");
        size_t len = 0;
        while (is_word(start[len]))
            len++;
        if (start[len] == '(')
            ret = hone_pool_strndup(work->pool, start, len);
        if (strchr(at, '\n') == NULL)
            break;
    }
    return ret;
}

/* The text between the brackets of the function's definition; NULL: there is none. */
static const char *params_text(const struct hone_export_work *work, const char *function,
                               struct hone_prototype *proto)
{
    size_t len = strlen(function);

    for (const char *at = work->naive; (at = strstr(at, function)) != NULL; at += len) {
        const char *open = at + len, *end = open;
        int depth = 0;
        if ((at > work->naive && is_word(at[-1])) || *open != '(')
            continue;
        for (; *end != '\0' && (depth += (*end == '(') - (*end == ')')) > 0; end++)
            ;
        proto->name_offset = (size_t)(at - work->naive);
        if (*end != '\0' && end[1 + strspn(end + 1, " \n")] == '{')
            return hone_prototype_params_text(work->naive, proto, work->pool);
    }
    return NULL;
}

/* One parameter, from `at` to its comma; false: it has no name. */
static bool read_param(const struct hone_export_work *work, const char *at, const char *end,
                       struct hone_param *ret)
{
    const char *bracket = memchr(at, '[', (size_t)(end - at));
    const char *stop = bracket != NULL ? bracket : end;

    while (stop > at && !is_word(stop[-1]))
        stop--;
    const char *start = stop;
    while (start > at && is_word(start[-1]))
        start--;
    *ret = (struct hone_param){.name = hone_pool_strndup(work->pool, start, (size_t)(stop - start)),
                               .is_pointer =
                                   bracket != NULL || memchr(at, '*', (size_t)(end - at)) != NULL};
    return start < stop && start > at;
}

static bool read_params(const struct hone_export_work *work, const char *text,
                        struct hone_prototype *ret)
{
    for (const char *at = text; *at != '\0';) {
        const char *end = at + strcspn(at, ",");
        if (ret->n_params == HONE_COUNTOF(ret->params) ||
            !read_param(work, at, end, &ret->params[ret->n_params++]))
            return false;
        at = *end == ',' ? end + 1 : end;
    }
    return ret->n_params > 0;
}

/* The name of the launcher's stream; NULL: it has none. */
static const char *find_stream(const char *params, const struct hone_prototype *proto)
{
    const char *last = strrchr(params, ',');

    return last != NULL && strstr(last, "cudaStream_t") != NULL
               ? proto->params[proto->n_params - 1].name
               : NULL;
}

bool hone_export_cuda_own(const struct hone_export_work *work, struct hone_prototype *ret_proto,
                          struct hone_export_launcher *ret)
{
    const char *inner = called(work);
    size_t len = inner != NULL ? strlen(inner) : 0, ending = strlen(body_ending);

    *ret_proto = (struct hone_prototype){.name = inner, .returns_void = true};
    const char *params = inner != NULL ? params_text(work, inner, ret_proto) : NULL;
    if (params == NULL || !read_params(work, params, ret_proto))
        return false;
    const char *own = len > ending ? hone_pool_strndup(work->pool, inner, len - ending) : "";
    bool is_renamed =
        strcmp(own, work->task->name) == 0 && strcmp(inner + len - ending, body_ending) == 0;
    ret->inner = inner;
    ret->name = is_renamed ? own : inner;
    ret->stream = find_stream(params, ret_proto);
    ret->declaration = hone_pool_printf(work->pool, "extern \"C\" void %s(%s)", ret->name, params);
    return true;
}

const char *hone_export_cuda_copies(const struct hone_export_work *work,
                                    const struct hone_export_copy *copies, size_t n,
                                    const char *stream, const char **ret_after)
{
    const char *text = "";

    *ret_after = "";
    for (size_t i = 0; i < n; i++) {
        const struct hone_export_copy *c = &copies[i];
        if (c->is_dropped)
            continue;
        text = hone_pool_printf(
            work->pool,
            "%s    %s *old_%s = NULL;\n"
            "    if (cudaMallocAsync((void **)&old_%s, (size_t)(%s) * sizeof(%s), %s) != "
            "cudaSuccess)\n"
            "        return; /* cudaGetLastError() says why */\n"
            "    cudaMemcpyAsync(old_%s, %s, (size_t)(%s) * sizeof(%s), "
            "cudaMemcpyDeviceToDevice, %s);\n",
            text, c->type, c->name, c->name, c->n, c->type, stream, c->name, c->param, c->n,
            c->type, stream);
        *ret_after = hone_pool_printf(work->pool, "%s    cudaFreeAsync(old_%s, %s);\n", *ret_after,
                                      c->name, stream);
    }
    return text;
}
