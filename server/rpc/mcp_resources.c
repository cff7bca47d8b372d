/* SPDX-License-Identifier: Apache-2.0 */
/* A read: the URI's row (match), its variable and `?lines=A-B`; the row's tool is called and its
 * answer, or one member of it, is the text. */
#include "server/rpc/mcp_resources.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agents/planner/catalogue.h"
#include "server/page/documents.h"
#include "server/page/searches.h"
#include "server/rpc/mcp_texts.h"
#include "server/rpc/mcp_tools.h"
#include "workspace/base/limits.h"

#define RESOURCE_NOT_FOUND (-32002)

static char *guide_text(const struct hone_mcp *mcp, const char *value);
static char *document_text(const struct hone_mcp *mcp, const char *value);
static char *tool_text(const struct hone_mcp *mcp, const char *value);
static char *searches_text(const struct hone_mcp *mcp, const char *value);
static char *report_text(const struct hone_mcp *mcp, const char *value);

static const struct hone_mcp_resource resources[] = {
    {.uri = "hone://guide",
     .name = "guide",
     .title = "Strategy guide",
     .description = "Every strategy by id: what to do, when it helps.",
     .mime = "text/plain",
     .text = guide_text},
    {.uri = "hone://docs/{document}",
     .name = "document",
     .title = "Page of the manual",
     .description = "A page of hone's manual.",
     .mime = "text/markdown",
     .text = document_text},
    {.uri = "hone://device",
     .name = "device",
     .title = "Hardware sheet",
     .description = "What kernels run on, measured.",
     .mime = "application/json",
     .tool = "device_info"},
    {.uri = "hone://task/{task}",
     .name = "task",
     .title = "Task",
     .description = "Signature, sizes, tolerance, formula.",
     .mime = "application/json",
     .tool = "task_show",
     .argument = "task",
     .more = "\"detail\":\"full\""},
    {.uri = "hone://task/{task}/source",
     .name = "task-source",
     .title = "Baseline",
     .description = "Source of a task's baseline.",
     .mime = "text/x-c",
     .tool = "task_show",
     .argument = "task",
     .more = "\"source\":true,\"detail\":\"full\"",
     .member = "baseline"},
    {.uri = "hone://version/{commit}",
     .name = "version",
     .title = "Version",
     .description = "A version and all its measurements.",
     .mime = "application/json",
     .tool = "history_show",
     .argument = "commit",
     .more = "\"detail\":\"full\""},
    {.uri = "hone://version/{commit}/source",
     .name = "version-source",
     .title = "Source",
     .description = "Source of a version.",
     .mime = "text/x-c",
     .tool = "history_show",
     .argument = "commit",
     .more = "\"source\":true,\"detail\":\"full\"",
     .member = "source"},
    {.uri = "hone://version/{commit}/diff",
     .name = "version-diff",
     .title = "Diff",
     .description = "Unified diff against the parent.",
     .mime = "text/x-diff",
     .tool = "kernel_diff",
     .argument = "to",
     .more = "\"detail\":\"full\"",
     .member = "patch"},
    {.uri = "hone://version/{commit}/profile",
     .name = "version-profile",
     .title = "Profile",
     .description = "The latest profile of a version, as measured.",
     .mime = "application/json",
     .text = hone_mcp_profile_text},
    {.uri = "hone://version/{commit}/measured",
     .name = "version-measured",
     .title = "Measured",
     .description = "Best founded times of a version by workload, share of bound, latest profile.",
     .mime = "application/json",
     .text = hone_mcp_measured_text},
    {.uri = "hone://job/{job}",
     .name = "job",
     .title = "Job",
     .description = "State and result of a job or search; can be subscribed to.",
     .mime = "application/json",
     .tool = "job_wait",
     .argument = "job",
     .more = "\"timeout_ms\":0"},
    {.uri = "hone://searches",
     .name = "searches",
     .title = "Searches",
     .description = "Every search: result or best so far, way up.",
     .mime = "application/json",
     .text = searches_text},
    {.uri = "hone://search/{search}/report",
     .name = "search-report",
     .title = "Report",
     .description =
         "All steps, evaluations and costs of a search; since: its position, for what is new.",
     .mime = "application/json",
     .text = report_text},
    {.uri = "hone://search/{search}/choices",
     .name = "search-choices",
     .title = "Choices",
     .description = "What the planner chose a step among, with priors; step: its number.",
     .mime = "application/json",
     .text = hone_mcp_choices_text},
    {.uri = "hone://search/{search}",
     .name = "search",
     .title = "Search",
     .description = "Versions, next steps and steering of a search; can be subscribed to.",
     .mime = "application/json",
     .tool = "strategy_propose",
     .argument = "search",
     .more = "\"max\":20"},
    {.uri = "hone://search/{search}/answers",
     .name = "search-answers",
     .title = "Answers of models",
     .description = "What models answered in a search, with tokens and faults.",
     .mime = "text/plain",
     .text = hone_mcp_answers_text},
    {.uri = "hone://tool/{tool}",
     .name = "tool",
     .title = "Tool",
     .description = "Schemas of a tool's arguments and of its result.",
     .mime = "application/json",
     .text = tool_text},
};

/* ---- texts of our own ---- */

static char *guide_text(const struct hone_mcp *mcp, const char *value)
{
    struct hone_buf out = HONE_BUF_INIT;
    (void)mcp;
    (void)value;
    hone_buf_str(&out, "Strategies: id, target, usual gain over the version before, the step "
                       "(parameters).\nstrategy_propose ranks those that fit a version.\n\n");
    for (size_t i = 0; i < hone_n_strategies; i++) {
        const struct hone_strategy *s = &hone_strategies[i];
        hone_buf_printf(&out, "%-5s %-4s %5.2fx  %s (%s)\n", s->id, s->target, exp2(s->gain),
                        s->words, s->params != NULL ? s->params : "none");
    }
    return hone_buf_steal(&out);
}

static char *document_text(const struct hone_mcp *mcp, const char *value)
{
    const struct hone_document *document = hone_document_find(value);
    (void)mcp;
    return document != NULL ? hone_strdup(document->text) : NULL;
}

static char *searches_text(const struct hone_mcp *mcp, const char *value)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    (void)value;
    if (hone_searches_json(hone_runtime_app(mcp->runtime)->ws, &json, NULL) < 0)
        return NULL;
    return hone_json_print(json);
}

#define SINCE "?since="

/* value: the search, with the query where a position was given (with_query). */
static char *report_text(const struct hone_mcp *mcp, const char *value)
{
    const char *query = strstr(value, SINCE);
    HONE_AUTOFREE char *name = hone_strndup(value, query ? (size_t)(query - value) : strlen(value));
    return hone_reports_text(hone_runtime_reports(mcp->runtime), name,
                             query ? query + strlen(SINCE) : NULL);
}

/* What may stand behind the URI of a text, beside lines. */
static const struct query {
    char *(*text)(const struct hone_mcp *mcp, const char *value);
    const char *begins, *form;
} queries[] = {{report_text, SINCE, ",since"}, {hone_mcp_choices_text, "?step=", ",step"}};

static const struct query *query_of(char *(*text)(const struct hone_mcp *mcp, const char *value))
{
    for (size_t i = 0; i < HONE_COUNTOF(queries); i++)
        if (queries[i].text == text)
            return &queries[i];
    return NULL;
}

/* True: the query is the text's own, and *value holds it from now on. */
static bool with_query(char *(*text)(const struct hone_mcp *mcp, const char *value),
                       const char *query, char **value)
{
    const struct query *own = query_of(text);
    if (own == NULL || query == NULL || strncmp(query, own->begins, strlen(own->begins)) != 0)
        return false;
    char *both = hone_sprintf("%s%s", *value, query);
    free(*value);
    *value = both;
    return true;
}

static char *tool_text(const struct hone_mcp *mcp, const char *value)
{
    const struct hone_tool *tool =
        hone_registry_find(hone_runtime_app(mcp->runtime)->registry, value);
    if (tool == NULL)
        return NULL;
    HONE_AUTOJSON struct hone_json *json = hone_mcp_tool_json(tool, hone_mcp_newest(), true);
    return hone_json_print_pretty(json);
}

/* ---- URIs ---- */

/* NULL: past the last. */
static const struct hone_mcp_resource *row_at(const struct hone_mcp *mcp, size_t i)
{
    if (i < HONE_COUNTOF(resources))
        return &resources[i];
    i -= HONE_COUNTOF(resources);
    return i < mcp->n_resources ? &mcp->resources[i] : NULL;
}

static bool is_there(const struct hone_mcp *mcp, const struct hone_mcp_resource *row)
{
    return row->text != NULL ||
           hone_registry_find(hone_runtime_app(mcp->runtime)->registry, row->tool) != NULL;
}

/* What stands in the place of the variable, owned ("" where the row has none); NULL: another URI.
 */
static char *match(const struct hone_mcp_resource *row, const char *uri, size_t len)
{
    size_t head = strcspn(row->uri, "{");
    const char *tail = strchr(row->uri, '}');
    if (tail == NULL)
        return len == head && strncmp(uri, row->uri, len) == 0 ? hone_strdup("") : NULL;
    size_t tail_len = strlen(++tail);
    if (len <= head + tail_len || strncmp(uri, row->uri, head) != 0 ||
        strncmp(uri + len - tail_len, tail, tail_len) != 0)
        return NULL;
    char *value = hone_strndup(uri + head, len - head - tail_len);
    if (strpbrk(value, "/\"\\") == NULL && strlen(value) <= HONE_LIMIT_NAME_BYTES)
        return value;
    free(value);
    return NULL;
}

static const struct hone_mcp_resource *find(const struct hone_mcp *mcp, const char *uri,
                                            char **ret_value)
{
    const struct hone_mcp_resource *row;
    for (size_t i = 0; (row = row_at(mcp, i)) != NULL; i++) {
        char *value = is_there(mcp, row) ? match(row, uri, strcspn(uri, "?")) : NULL;
        if (value == NULL)
            continue;
        *ret_value = value;
        return row;
    }
    return NULL;
}

bool hone_mcp_resource_is_known(const struct hone_mcp *mcp, const char *uri)
{
    HONE_AUTOFREE char *value = NULL;
    return find(mcp, uri, &value) != NULL;
}

const char *hone_mcp_resource_variable(const char *uri_template)
{
    static const char *const names[] = {"task", "commit", "job", "search", "tool", "document"};
    size_t len = strcspn(uri_template, "?") - (strstr(uri_template, "{?") != NULL);
    for (size_t i = 0; i < HONE_COUNTOF(resources); i++) {
        const char *at = strchr(resources[i].uri, '{');
        if (at == NULL || strlen(resources[i].uri) != len ||
            strncmp(resources[i].uri, uri_template, len) != 0)
            continue;
        for (size_t k = 0; k < HONE_COUNTOF(names); k++)
            if (strncmp(at + 1, names[k], strlen(names[k])) == 0 && at[1 + strlen(names[k])] == '}')
                return names[k];
    }
    return NULL;
}

/* "A-B", "A-" or "A"; lines count from 1. */
static bool read_range(const char *query, long *ret_first, long *ret_last)
{
    char *end;
    if (strncmp(query, "lines=", 6) != 0)
        return false;
    *ret_first = strtol(query + 6, &end, 10);
    *ret_last = *ret_first;
    if (end == query + 6 || *ret_first < 1)
        return false;
    if (*end == '-') {
        const char *second = end + 1;
        *ret_last = *second != '\0' ? strtol(second, &end, 10) : LONG_MAX;
        if (*second != '\0' && end == second)
            return false;
        end += *second == '\0';
    }
    return *end == '\0' && *ret_last >= *ret_first;
}

static char *cut_lines(const char *text, long first, long last)
{
    struct hone_buf out = HONE_BUF_INIT;
    long line = 1;
    for (const char *at = text; *at != '\0' && line <= last; line++) {
        size_t len = strcspn(at, "\n");
        len += at[len] == '\n';
        if (line >= first)
            hone_buf_add(&out, at, len);
        at += len;
    }
    hone_buf_str(&out, "");
    return hone_buf_steal(&out);
}

/* ---- reading ---- */

static char *text_of(const struct hone_mcp *mcp, const char *caller,
                     const struct hone_mcp_resource *row, const char *value, struct hone_err *err)
{
    if (row->text != NULL) {
        char *text = row->text(mcp, value);
        if (text == NULL)
            hone_fail(err, HONE_E_NOT_FOUND, "there is no '%.60s'", value);
        return text;
    }
    HONE_AUTOFREE char *args = row->argument != NULL
                                   ? hone_sprintf("{\"%s\":\"%s\"%s%s}", row->argument, value,
                                                  row->more ? "," : "", row->more ? row->more : "")
                                   : hone_strdup("{}");
    HONE_AUTOJSON struct hone_json *answer =
        hone_mcp_tool_answer(mcp, caller, row->tool, args, err);
    if (answer == NULL)
        return NULL;
    if (row->member == NULL)
        return hone_json_print_pretty(answer);
    const char *text = hone_json_get_str(answer, row->member, NULL);
    if (text == NULL)
        hone_fail(err, HONE_E_NOT_FOUND, "it has no %s", row->member);
    return text != NULL ? hone_strdup(text) : NULL;
}

char *hone_mcp_resource_text(const struct hone_mcp *mcp, const char *caller, const char *uri,
                             const struct hone_mcp_resource **ret_row, struct hone_err *err)
{
    HONE_AUTOFREE char *value = NULL;
    const struct hone_mcp_resource *row = find(mcp, uri, &value);
    const char *query = strchr(uri, '?');
    long first = 1, last = LONG_MAX;
    if (row != NULL && with_query(row->text, query, &value))
        query = NULL;
    if (row == NULL || (query != NULL && !read_range(query + 1, &first, &last))) {
        hone_fail(err, HONE_E_NOT_FOUND,
                  "no such resource; resources/templates/list has the forms");
        return NULL;
    }
    if (ret_row != NULL)
        *ret_row = row;
    HONE_AUTOFREE char *text = text_of(mcp, caller, row, value, err);
    return text != NULL ? cut_lines(text, first, last) : NULL;
}

void hone_mcp_no_resource(const struct hone_mcp_request *request, const char *uri, const char *why)
{
    HONE_AUTOFREE char *quoted = hone_rpc_quote(uri);
    HONE_AUTOFREE char *data = hone_sprintf("{\"uri\":%s}", quoted);
    hone_call_error_data(request->call,
                         request->revision->is_stateless ? HONE_RPC_PARAMS : RESOURCE_NOT_FOUND,
                         data, "%.100s: %.200s", uri, why);
}

static void read_now(const struct hone_mcp_request *request)
{
    const char *uri = hone_json_get_str(request->params, "uri", "");
    const struct hone_mcp_resource *row = NULL;
    struct hone_err err = HONE_ERR_INIT;
    HONE_AUTOFREE char *text =
        hone_mcp_resource_text(request->mcp, request->caller, uri, &row, &err);
    if (text == NULL && err.code != HONE_E_NOT_FOUND) {
        hone_call_fail(request->call, &err);
        return;
    }
    if (text == NULL) {
        hone_mcp_no_resource(request, uri, err.message);
        return;
    }
    struct hone_json *contents = hone_json_new_array();
    struct hone_json *one = hone_json_new_object();
    struct hone_json *result = hone_json_new_object();
    hone_json_set_str(one, "uri", uri);
    hone_json_set_str(one, "mimeType", row->mime);
    hone_json_set_str(one, row->is_base64 ? "blob" : "text", text);
    hone_json_push(contents, one);
    hone_json_set(result, "contents", contents);
    hone_mcp_answer(request, result, HONE_MCP_CACHE_SHORT);
}

void hone_mcp_resources_read(const struct hone_mcp_request *request)
{
    const char *uri = hone_json_get_str(request->params, "uri", NULL);
    if (uri == NULL)
        hone_call_error(request->call, HONE_RPC_PARAMS, "params.uri must be a string");
    else
        hone_mcp_on_lane(request, HONE_LANE_QUICK, read_now);
}

/* ---- lists ---- */

static struct hone_json *row_json(const struct hone_mcp_resource *row, const char *value,
                                  bool is_template)
{
    struct hone_json *json = hone_json_new_object();
    int head = (int)strcspn(row->uri, "{");
    const char *tail = strchr(row->uri, '}');
    HONE_AUTOFREE char *uri =
        hone_sprintf("%.*s%s%s", head, row->uri, value ? value : "", value && tail ? tail + 1 : "");
    const struct query *own = query_of(row->text);
    HONE_AUTOFREE char *form = hone_sprintf("%s{?lines%s}", row->uri, own ? own->form : "");
    hone_json_set_str(json, is_template ? "uriTemplate" : "uri", is_template ? form : uri);
    hone_json_set_str(json, "name", value != NULL && value[0] != '\0' ? value : row->name);
    hone_json_set_str(json, "title", row->title);
    hone_json_set_str(json, "description", row->description);
    hone_json_set_str(json, "mimeType", row->mime);
    return json;
}

void hone_mcp_resources_templates(const struct hone_mcp_request *request)
{
    struct hone_json *all = hone_json_new_array();
    const struct hone_mcp_resource *row;
    for (size_t i = 0; (row = row_at(request->mcp, i)) != NULL; i++)
        if (strchr(row->uri, '{') != NULL && is_there(request->mcp, row))
            hone_json_push(all, row_json(row, NULL, true));
    hone_mcp_answer_page(request, "resourceTemplates", all, HONE_MCP_CACHE_LONG);
}

static const struct hone_mcp_resource *row_named(const char *name)
{
    size_t i = 0;
    while (strcmp(resources[i].name, name) != 0)
        i++;
    return &resources[i];
}

static void push_jobs(const struct hone_mcp *mcp, struct hone_json *all)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_jobs *jobs = hone_runtime_app(mcp->runtime)->jobs;
    struct hone_job_state *states;
    size_t n = 0;
    if (jobs == NULL || jobs->ops->list(jobs, pool, &states, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        hone_json_push(all, row_json(row_named("job"), states[i].id, false));
}

static void push_documents(struct hone_json *all)
{
    for (size_t i = 0; i < hone_n_documents; i++) {
        HONE_AUTOFREE char *title = hone_document_title(&hone_documents[i]);
        struct hone_json *row = row_json(row_named("document"), hone_documents[i].name, false);
        hone_json_set_str(row, "title", title);
        hone_json_push(all, row);
    }
}

static void list_now(const struct hone_mcp_request *request)
{
    struct hone_json *all = hone_json_new_array();
    const struct hone_mcp_resource *row;
    for (size_t i = 0; (row = row_at(request->mcp, i)) != NULL; i++)
        if (strchr(row->uri, '{') == NULL && is_there(request->mcp, row))
            hone_json_push(all, row_json(row, "", false));
    HONE_AUTOJSON struct hone_json *tasks = hone_mcp_tool_answer(
        request->mcp, request->caller, "task_show", "{\"detail\":\"full\"}", NULL);
    for (const struct hone_json *t = hone_json_first(hone_json_get(tasks, "tasks")); t;
         t = hone_json_next(t))
        hone_json_push(all, row_json(row_named("task"), hone_json_get_str(t, "name", ""), false));
    if (is_there(request->mcp, row_named("job")))
        push_jobs(request->mcp, all);
    push_documents(all);
    hone_mcp_answer_page(request, "resources", all, HONE_MCP_CACHE_SHORT);
}

void hone_mcp_resources_list(const struct hone_mcp_request *request)
{
    hone_mcp_on_lane(request, HONE_LANE_QUICK, list_now);
}
