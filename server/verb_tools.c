/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/rpc/mcp_tools.h"
#include "server/verb.h"
#include "workspace/base/text.h"

struct args {
    const char *name;
    bool json;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, name, "name", "NAME", "One tool's manual page.", .is_positional = true),
    HONE_OPT_JSON(struct args),
};

static const struct {
    unsigned flag;
    const char *text;
} flag_texts[] = {
    {HONE_TOOL_READ_ONLY, "changes nothing"},
    {HONE_TOOL_IDEMPOTENT, "the same call gives the same answer"},
    {HONE_TOOL_NEEDS_DEVICE, "runs kernels"},
    {HONE_TOOL_COSTS_MONEY, "may ask a paid model"},
    {HONE_TOOL_LONG, "may take longer than 5 s"},
};

static void print_page(const struct hone_tool *tool)
{
    struct hone_buf out = HONE_BUF_INIT;
    hone_buf_printf(&out, "%s: %s\n\n%s\n", tool->name, tool->title ? tool->title : "",
                    tool->description ? tool->description : tool->summary);
    const char *separator = "\n(";
    for (size_t i = 0; i < HONE_COUNTOF(flag_texts); i++)
        if (tool->flags & flag_texts[i].flag) {
            hone_buf_printf(&out, "%s%s", separator, flag_texts[i].text);
            separator = "; ";
        }
    hone_buf_str(&out, separator[0] == ';' ? ")\n" : "");
    hone_buf_str(&out, tool->n_in ? "\narguments\n" : "\nno arguments\n");
    hone_fields_help(tool->in, tool->n_in, &out);
    hone_buf_str(&out, "\nresult\n");
    hone_fields_help(tool->out, tool->n_out, &out);
    fputs(out.data, stdout);
    hone_buf_done(&out);
}

static int print_all(const struct hone_registry *registry, bool as_json, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *list = hone_json_new_array();
    for (size_t i = 0; i < hone_registry_count(registry); i++) {
        const struct hone_tool *tool = hone_registry_at(registry, i);
        if (as_json)
            hone_json_push(list, hone_mcp_tool_json(tool, hone_mcp_newest(), true));
        else
            printf("%-18s %s\n", tool->name, tool->summary);
    }
    return as_json ? hone_print_json(list, err) : hone_print("", err);
}

static int print_one(const struct hone_registry *registry, const char *name, bool as_json,
                     struct hone_err *err)
{
    const struct hone_tool *tool = hone_registry_find(registry, name);
    if (!tool) {
        size_t n = hone_registry_count(registry);
        const char **names = hone_calloc(n + 1, sizeof(*names));
        for (size_t i = 0; i < n; i++)
            names[i] = hone_registry_at(registry, i)->name;
        const char *closest = hone_plain_nearest(name, names, n);
        free(names);
        return closest ? hone_fail(err, HONE_E_NOT_FOUND, "no tool '%.60s'; did you mean %s?", name,
                                   closest)
                       : hone_fail(err, HONE_E_NOT_FOUND,
                                   "no tool '%.60s'; `hone tools` lists them", name);
    }
    if (as_json) {
        HONE_AUTOJSON struct hone_json *json = hone_mcp_tool_json(tool, hone_mcp_newest(), true);
        return hone_print_json(json, err);
    }
    print_page(tool);
    return hone_print("", err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    struct hone_registry *registry;
    int rc = hone_open_registry(NULL, 0, &registry, err);
    if (rc < 0)
        return rc;
    rc = args->name ? print_one(registry, args->name, args->json, err)
                    : print_all(registry, args->json, err);
    hone_registry_free(registry);
    return rc;
}

const struct hone_verb hone_verb_tools = {
    .name = "tools",
    .summary = "List the tools, or print one's manual page.",
    .description = "The pages, the JSON schemas (--json) and the checks of arguments come from the "
                   "same tables.",
    .example = "hone tools kernel_evaluate",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
