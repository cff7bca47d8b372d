/* SPDX-License-Identifier: Apache-2.0 */
/* A local program as a model: the prompt on standard input, the answer on standard output.
 *
 * No shell. It sees PATH, HOME, LANG and the variables that pass_env names; never a key. What
 * it says on standard error is kept to a line for the message. Everything it started is
 * killed with it. */
#include <stdlib.h>
#include <string.h>

#include "agents/model/model_internal.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"
#include "workspace/base/utf8.h"

enum { MAX_ENV = 40, MAX_ARGS = 66 };

static void add_env(struct hone_pool *pool, const char *name, const char **env, size_t *n)
{
    const char *value = getenv(name);
    if (value && *n + 1 < MAX_ENV)
        env[(*n)++] = hone_pool_printf(pool, "%s=%s", name, value);
}

static const char *last_line(char *text, size_t len)
{
    hone_utf8_defuse(text, '?');
    while (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    const char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

/* No more than what was reserved for it: its bytes are what is counted. */
static size_t most_bytes(const struct hone_model_try *t)
{
    int64_t bytes = HONE_MODEL_BYTES_A_TOKEN * hone_model_max_tokens(t->link, t->request);
    return (size_t)hone_min_i64(bytes, HONE_LIMIT_MODEL_TEXT_BYTES);
}

static int read_result(const struct hone_model_try *t, struct hone_process_result *p,
                       struct hone_model_answer *ret, struct hone_err *err)
{
    const char *program = t->link->config->command.v[0];
    if (p->cancelled)
        return hone_model_fail(err, HONE_FAULT_CANCEL, "cancelled");
    if (p->out_cut)
        return hone_model_fail(
            err, HONE_FAULT_TOO_LARGE,
            "%.80s answered more than %zu bytes, three for each token that it may", program,
            most_bytes(t));
    if (p->timed_out)
        return hone_model_fail(err, HONE_FAULT_TIMEOUT, "%.80s was stopped at its time limit",
                               program);
    if (p->exit_status != 0) {
        HONE_AUTOFREE char *how = p->signal ? hone_sprintf("signal %d", p->signal)
                                            : hone_sprintf("status %d", p->exit_status);
        return hone_model_fail(err, HONE_FAULT_COMMAND, "%.80s ended with %s: %.160s", program, how,
                               last_line(p->err, p->err_len));
    }
    if (strlen(p->out) != p->out_len || hone_utf8_valid_prefix(p->out, p->out_len) != p->out_len)
        return hone_model_fail(err, HONE_FAULT_MALFORMED, "%.80s answered no UTF-8 text", program);
    if (p->out_len == strspn(p->out, " \t\r\n"))
        return hone_model_fail(err, HONE_FAULT_EMPTY, "%.80s answered nothing", program);
    *ret = (struct hone_model_answer){.text = hone_pool_strndup(t->pool, p->out, p->out_len),
                                      .stop_reason = "end",
                                      .model = hone_pool_strdup(t->pool, program),
                                      .request_id = "",
                                      .tokens_in = -1,
                                      .tokens_out = -1,
                                      .tokens_cached = 0,
                                      .tokens_written = 0};
    return 0;
}

static int ask(struct hone_model_try *t, struct hone_model_answer *ret, struct hone_err *err)
{
    const struct hone_model_config *c = t->link->config;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOFREE char *prompt = hone_model_flat_prompt(t->request);
    const char *env[MAX_ENV] = {NULL}, *argv[MAX_ARGS] = {NULL};
    size_t n = 0;
    static const char *const always[] = {"PATH", "HOME", "LANG"};
    for (size_t i = 0; i < HONE_COUNTOF(always); i++)
        add_env(pool, always[i], env, &n);
    for (size_t i = 0; i < c->pass_env.n; i++)
        add_env(pool, c->pass_env.v[i], env, &n);
    for (size_t i = 0; i < c->command.n && i + 1 < MAX_ARGS; i++)
        argv[i] = c->command.v[i];
    HONE_AUTOFREE char *program = hone_config_path(argv[0]);
    argv[0] = program;
    const struct hone_process_spec spec = {.argv = argv,
                                           .env = env,
                                           .stdin_text = prompt,
                                           .stdin_len = strlen(prompt),
                                           .out_limit = most_bytes(t),
                                           .ends_when_cut = true,
                                           .deadline_ns = t->deadline_ns,
                                           .cancel = t->request->cancel};
    struct hone_process_result result;
    struct hone_err cause = HONE_ERR_INIT;
    if (hone_process_run(&spec, &result, &cause) < 0)
        return hone_model_fail(err, HONE_FAULT_COMMAND, "%.300s", cause.message);
    t->may_be_billed = true; /* it may stand for a provider */
    int r = read_result(t, &result, ret, err);
    hone_process_result_done(&result);
    return r;
}

const struct hone_model_provider hone_provider_command = {.name = "command", .ask = ask};
