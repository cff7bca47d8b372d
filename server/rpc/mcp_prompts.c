/* SPDX-License-Identifier: Apache-2.0 */
/* One table of prompts with their texts, one of where the values of arguments come from. */
#include "server/rpc/mcp_prompts.h"

#include <stdlib.h>
#include <string.h>
#include "server/page/documents.h"
#include "server/rpc/mcp_resources.h"
#include "workspace/base/limits.h"

#define MAX_VALUES 100 /* of a completion: the protocol's own limit */

static const struct hone_mcp_prompt prompts[] = {
    {"optimise_kernel",
     "Optimise a kernel",
     "Make a task's kernel fast, step by step, and prove it.",
     {{"task", "Name of a task; task_show lists them.", NULL},
      {"target", "cpu or cuda.", "cpu"},
      {"budget", "When to stop, in words.", "ten versions or half an hour"}},
     "Make task {task} fast on target {target} with hone's tools.\n"
     "1. task_show with task and source: the signature, the sizes, the tolerance, the baseline. "
     "device_info: what the machine can do.\n"
     "2. strategy_propose ranks steps; kernel_profile says what limits a version.\n"
     "3. Write one version at a time and give it to kernel_evaluate (tier screen) with parent, "
     "message and why. A wrong one names its failing case: reproduce it with kernel_verify and "
     "axes.\n"
     "4. A screen claims nothing. Use tier decide on what looks worth it, kernel_tune for "
     "parameters, kernel_compare for two versions.\n"
     "5. Confirm the best one with tier confirm. Report only that figure, with its interval, "
     "commit and warnings.\n"
     "Stop after {budget}. Say what you tried and what did not help.",
     NULL},
    {"explain_version",
     "Explain a version",
     "What a version changed, why it is faster or not, what the figure rests on.",
     {{"commit", "Commit or a prefix of it; history_show lists them.", NULL}},
     "Explain version {commit} to somebody who knows C but not this code.\n"
     "Read history_show with commit {commit}, kernel_diff with to {commit}, and kernel_profile of "
     "it with its parent. Say what was changed, which limit it moved and how the counters show it, "
     "what the figure rests on (tier, interval, sizes, accuracy), and what remains doubtful.",
     NULL},
    {"review_candidate",
     "Review a candidate",
     "Look for what a test cannot see: hidden assumptions, cheating, fragile code.",
     {{"task", "Name of the task.", NULL}, {"commit", "The version to review.", NULL}},
     "Review version {commit} of task {task} before somebody takes it over.\n"
     "Read task_show, history_show with commit and source, and kernel_diff. Then look for: sizes "
     "or alignments that it assumes and the signature does not promise; results that depend on the "
     "generated inputs; precision given away; undefined behaviour; threads or flags that the "
     "figure rests on. Try doubts with kernel_verify and axes (odd and small sizes). End with: "
     "take it, take it with changes, or not, and the one reason.",
     NULL},
    {"write_task",
     "Write a task",
     "Turn a function of your own into a task that hone can judge.",
     {{"function", "The C function, or where it is.", NULL},
      {"purpose", "What it is used for and at which sizes.", "not said"}},
     "Make a hone task of this function: {function}\n"
     "It is used for: {purpose}\n"
     "task_new makes and checks it and says what it guessed: give sizes that are really used, odd "
     "ones too, and a tolerance from the arithmetic, not from a run. For a person with a shell "
     "`hone task new FILE.c` does the same, docs/tasks.md has the format, and `hone task "
     "calibrate` measures tolerances. Then kernel_evaluate of the baseline against itself: it has "
     "to come out as same.",
     NULL},
};

/* NULL: past the last. */
static const struct hone_mcp_prompt *prompt_at(const struct hone_mcp *mcp, size_t i)
{
    if (i < HONE_COUNTOF(prompts))
        return &prompts[i];
    i -= HONE_COUNTOF(prompts);
    return i < mcp->n_prompts ? &mcp->prompts[i] : NULL;
}

static const struct hone_mcp_prompt *find(const struct hone_mcp *mcp, const char *name)
{
    const struct hone_mcp_prompt *prompt;
    for (size_t i = 0; (prompt = prompt_at(mcp, i)) != NULL; i++)
        if (strcmp(prompt->name, name) == 0)
            return prompt;
    return NULL;
}

void hone_mcp_prompts_list(const struct hone_mcp_request *request)
{
    struct hone_json *all = hone_json_new_array();
    const struct hone_mcp_prompt *prompt;
    for (size_t i = 0; (prompt = prompt_at(request->mcp, i)) != NULL; i++) {
        struct hone_json *row = hone_json_new_object();
        struct hone_json *arguments = hone_json_new_array();
        hone_json_set_str(row, "name", prompt->name);
        if (request->revision->has_structured)
            hone_json_set_str(row, "title", prompt->title);
        hone_json_set_str(row, "description", prompt->description);
        for (size_t k = 0; k < HONE_MCP_PROMPT_ARGUMENTS && prompt->arguments[k].name != NULL;
             k++) {
            struct hone_json *one = hone_json_new_object();
            hone_json_set_str(one, "name", prompt->arguments[k].name);
            hone_json_set_str(one, "description", prompt->arguments[k].description);
            hone_json_set_bool(one, "required", prompt->arguments[k].fallback == NULL);
            hone_json_push(arguments, one);
        }
        hone_json_set(row, "arguments", arguments);
        hone_json_push(all, row);
    }
    hone_mcp_answer_page(request, "prompts", all, HONE_MCP_CACHE_LONG);
}

static const struct hone_mcp_prompt_argument *argument_of(const struct hone_mcp_prompt *prompt,
                                                          const char *name, size_t len)
{
    for (size_t k = 0; k < HONE_MCP_PROMPT_ARGUMENTS && prompt->arguments[k].name != NULL; k++)
        if (strlen(prompt->arguments[k].name) == len &&
            strncmp(prompt->arguments[k].name, name, len) == 0)
            return &prompt->arguments[k];
    return NULL;
}

/* The text with the values in it; owned. A brace that names no argument is text. */
static char *render(const struct hone_mcp_prompt *prompt, const char *text,
                    const struct hone_json *values)
{
    struct hone_buf out = HONE_BUF_INIT;
    for (const char *at = text; *at != '\0';) {
        size_t plain = strcspn(at, "{"), len = strcspn(at + plain, "}");
        const struct hone_mcp_prompt_argument *argument =
            len > 0 ? argument_of(prompt, at + plain + 1, len - 1) : NULL;
        hone_buf_add(&out, at, plain + (at[plain] != '\0' && argument == NULL));
        at += plain + (at[plain] != '\0' && argument == NULL);
        if (argument == NULL)
            continue;
        hone_buf_str(&out, hone_json_get_str(values, argument->name, argument->fallback));
        at += len + 1;
    }
    hone_buf_str(&out, "");
    return hone_buf_steal(&out);
}

/* Puts the values into every string of the block. */
static struct hone_json *render_block(const struct hone_mcp_prompt *prompt,
                                      const struct hone_json *block, const struct hone_json *values)
{
    if (hone_json_str(block) != NULL) {
        HONE_AUTOFREE char *text = render(prompt, hone_json_str(block), values);
        return hone_json_new_str(text);
    }
    if (hone_json_type(block) != HONE_JSON_OBJECT)
        return hone_json_copy(block);
    struct hone_json *copy = hone_json_new_object();
    for (const struct hone_json *m = hone_json_first(block); m != NULL; m = hone_json_next(m))
        hone_json_set(copy, hone_json_key(m), render_block(prompt, m, values));
    return copy;
}

static void push_message(struct hone_json *messages, struct hone_json *content)
{
    struct hone_json *message = hone_json_new_object();
    hone_json_set_str(message, "role", "user");
    hone_json_set(message, "content", content);
    hone_json_push(messages, message);
}

/* ---- arguments that are missing ---- */

static bool is_missing(const struct hone_mcp_prompt_argument *argument,
                       const struct hone_json *values)
{
    return argument->fallback == NULL && hone_json_get_str(values, argument->name, NULL) == NULL;
}

static const struct hone_mcp_prompt_argument *first_missing(const struct hone_mcp_prompt *prompt,
                                                            const struct hone_json *values)
{
    for (size_t k = 0; k < HONE_MCP_PROMPT_ARGUMENTS && prompt->arguments[k].name != NULL; k++)
        if (is_missing(&prompt->arguments[k], values))
            return &prompt->arguments[k];
    return NULL;
}

/* A form of them for the client's user; owned. */
static char *form_of(const struct hone_mcp_prompt *prompt, const struct hone_json *values)
{
    HONE_AUTOJSON struct hone_json *params = hone_json_new_object();
    struct hone_json *schema = hone_json_new_object(), *properties = hone_json_new_object();
    struct hone_json *required = hone_json_new_array();
    HONE_AUTOFREE char *message = hone_sprintf("%s: what is missing", prompt->title);
    for (size_t k = 0; k < HONE_MCP_PROMPT_ARGUMENTS && prompt->arguments[k].name != NULL; k++) {
        if (!is_missing(&prompt->arguments[k], values))
            continue;
        struct hone_json *one = hone_json_new_object();
        hone_json_set_str(one, "type", "string");
        hone_json_set_str(one, "description", prompt->arguments[k].description);
        hone_json_set(properties, prompt->arguments[k].name, one);
        hone_json_push(required, hone_json_new_str(prompt->arguments[k].name));
    }
    hone_json_set_str(schema, "type", "object");
    hone_json_set(schema, "properties", properties);
    hone_json_set(schema, "required", required);
    hone_json_set_str(params, "message", message);
    hone_json_set(params, "requestedSchema", schema);
    return hone_json_print(params);
}

/* Asks for them where a request stands alone and its client has forms. False: answered. */
static bool complete_values(const struct hone_mcp_request *request,
                            const struct hone_mcp_prompt *prompt, struct hone_json *values)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_CLEANUP(hone_round_done) struct hone_round round = {.bad = HONE_ERR_INIT};
    const struct hone_json *given = hone_json_get(request->params, "arguments");
    if (!request->revision->is_stateless)
        return true;
    if (!hone_mcp_round_open(request, prompt->name, given, &round))
        return false;
    if (first_missing(prompt, values) == NULL)
        return true;
    HONE_AUTOFREE char *form = form_of(prompt, values);
    struct hone_ask ask = {.key = "arguments",
                           .method = "elicitation/create",
                           .params_json = form,
                           .is_optional = true};
    if (hone_round_ask(&round, pool, &ask, 1, NULL) < 0) {
        hone_mcp_round_answer(request, prompt->name, given, &round);
        return false;
    }
    const struct hone_json *content = hone_json_get(ask.answer, "content");
    for (const struct hone_json *c = hone_json_first(content); c != NULL; c = hone_json_next(c))
        if (hone_json_str(c) != NULL && hone_json_get(values, hone_json_key(c)) == NULL)
            hone_json_set(values, hone_json_key(c), hone_json_copy(c));
    return true;
}

static void answer_prompt(const struct hone_mcp_request *request,
                          const struct hone_mcp_prompt *prompt, const struct hone_json *values)
{
    HONE_AUTOFREE char *text = render(prompt, prompt->text, values);
    struct hone_json *result = hone_json_new_object(), *messages = hone_json_new_array();
    struct hone_json *content = hone_json_new_object();
    HONE_AUTOJSON struct hone_json *block = NULL;
    if (prompt->content != NULL &&
        hone_json_parse(prompt->content, strlen(prompt->content), &block, NULL) == 0)
        push_message(messages, render_block(prompt, block, values));
    hone_json_set_str(content, "type", "text");
    hone_json_set_str(content, "text", text);
    push_message(messages, content);
    hone_json_set_str(result, "description", prompt->description);
    hone_json_set(result, "messages", messages);
    hone_mcp_answer(request, result, HONE_MCP_NO_CACHE);
}

void hone_mcp_prompts_get(const struct hone_mcp_request *request)
{
    const char *name = hone_json_get_str(request->params, "name", NULL);
    const struct hone_mcp_prompt *prompt = name != NULL ? find(request->mcp, name) : NULL;
    const struct hone_json *given = hone_json_get(request->params, "arguments");
    if (prompt == NULL) {
        hone_call_error(request->call, HONE_RPC_PARAMS,
                        "no prompt '%.60s'; prompts/list names them", name != NULL ? name : "");
        return;
    }
    HONE_AUTOJSON struct hone_json *values =
        hone_json_type(given) == HONE_JSON_OBJECT ? hone_json_copy(given) : hone_json_new_object();
    if (!complete_values(request, prompt, values))
        return;
    const struct hone_mcp_prompt_argument *missing = first_missing(prompt, values);
    if (missing != NULL)
        hone_call_error(request->call, HONE_RPC_PARAMS, "prompt %s needs the argument %s: %s",
                        prompt->name, missing->name, missing->description);
    else
        answer_prompt(request, prompt, values);
}

/* ---- completion ---- */

static const struct source { /* where the values of an argument come from */
    const char *argument;
    const char *tool, *args, *array, *member;
    const char *const *words; /* instead of a tool */
} sources[] = {
    {"task", "task_show", "{\"detail\":\"full\"}", "tasks", "name", NULL},
    {"commit", "history_show", "{\"limit\":200,\"detail\":\"full\"}", "versions", "commit", NULL},
    {"target", NULL, NULL, NULL, NULL, (const char *const[]){"cpu", "cuda", NULL}},
};

struct values {
    struct hone_json *list;
    const char *prefix;
    int64_t total;
};

static void add_value(struct values *values, const char *value)
{
    if (strncmp(value, values->prefix, strlen(values->prefix)) != 0)
        return;
    if (values->total++ < MAX_VALUES)
        hone_json_push(values->list, hone_json_new_str(value));
}

static void collect_jobs(const struct hone_mcp *mcp, struct values *values)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_jobs *jobs = hone_runtime_app(mcp->runtime)->jobs;
    struct hone_job_state *states;
    size_t n = 0;
    if (jobs == NULL || jobs->ops->list(jobs, pool, &states, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        add_value(values, states[i].id);
}

static void collect(const struct hone_mcp_request *request, const char *argument,
                    struct values *values)
{
    const struct hone_registry *registry = hone_runtime_app(request->mcp->runtime)->registry;
    for (size_t i = 0; i < HONE_COUNTOF(sources); i++) {
        if (strcmp(sources[i].argument, argument) != 0)
            continue;
        for (size_t k = 0; sources[i].words != NULL && sources[i].words[k] != NULL; k++)
            add_value(values, sources[i].words[k]);
        if (sources[i].tool == NULL || hone_registry_find(registry, sources[i].tool) == NULL)
            continue;
        HONE_AUTOJSON struct hone_json *answer = hone_mcp_tool_answer(
            request->mcp, request->caller, sources[i].tool, sources[i].args, NULL);
        for (const struct hone_json *row = hone_json_first(hone_json_get(answer, sources[i].array));
             row; row = hone_json_next(row))
            add_value(values, hone_json_get_str(row, sources[i].member, ""));
    }
    if (strcmp(argument, "job") == 0)
        collect_jobs(request->mcp, values);
    for (size_t i = 0; strcmp(argument, "tool") == 0 && i < hone_registry_count(registry); i++)
        add_value(values, hone_registry_at(registry, i)->name);
    for (size_t i = 0; strcmp(argument, "document") == 0 && i < hone_n_documents; i++)
        add_value(values, hone_documents[i].name);
}

static void complete_now(const struct hone_mcp_request *request)
{
    const struct hone_json *argument = hone_json_get(request->params, "argument");
    struct values values = {.list = hone_json_new_array(),
                            .prefix = hone_json_get_str(argument, "value", "")};
    collect(request, hone_json_get_str(argument, "name", ""), &values);
    struct hone_json *completion = hone_json_new_object(), *result = hone_json_new_object();
    hone_json_set(completion, "values", values.list);
    hone_json_set_i64(completion, "total", values.total);
    hone_json_set_bool(completion, "hasMore", values.total > MAX_VALUES);
    hone_json_set(result, "completion", completion);
    hone_mcp_answer(request, result, HONE_MCP_NO_CACHE);
}

/* The argument belongs to the prompt or template that ref names. */
static bool is_argument_of(const struct hone_mcp *mcp, const struct hone_json *ref,
                           const char *name)
{
    const char *type = hone_json_get_str(ref, "type", "");
    if (strcmp(type, "ref/prompt") == 0) {
        const struct hone_mcp_prompt *prompt = find(mcp, hone_json_get_str(ref, "name", ""));
        return prompt != NULL && argument_of(prompt, name, strlen(name)) != NULL;
    }
    const char *variable = hone_mcp_resource_variable(hone_json_get_str(ref, "uri", ""));
    return strcmp(type, "ref/resource") == 0 && variable != NULL && strcmp(variable, name) == 0;
}

void hone_mcp_complete(const struct hone_mcp_request *request)
{
    const char *name = hone_json_get_str(hone_json_get(request->params, "argument"), "name", NULL);
    if (name == NULL || !is_argument_of(request->mcp, hone_json_get(request->params, "ref"), name))
        hone_call_error(request->call, HONE_RPC_PARAMS,
                        "params.ref must name a prompt or resource template, params.argument.name "
                        "one of its arguments");
    else
        hone_mcp_on_lane(request, HONE_LANE_QUICK, complete_now);
}
