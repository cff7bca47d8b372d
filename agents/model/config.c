/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the two configuration files (config.h) by one field table.
 *
 * Flow: each file is parsed and checked alone, so that an error names file and member; then the
 * workspace's is merged over the user's. A file that others may write, or that belongs to
 * somebody else, is refused before it is parsed, because it can name programs. */
#include "agents/model/config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/model/http.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

static const char *const provider_choices[] = {"openai", "anthropic", "command", "replay", NULL};
static const char *const match_choices[] = {"request", "order", NULL};
static const char *const tokens_choices[] = {"max_tokens", "max_completion_tokens", NULL};

#define MODEL(m_, ...) HONE_FIELD(struct hone_model_config, m_, __VA_ARGS__)
#define PRICE(m_, help_)                                                                           \
    MODEL(m_, .min = 0, .max = 1000000, .fallback_f64 = -1, .unit = "USD", .help = help_)
static const struct hone_field model_fields[] = {
    MODEL(name, .required = true, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Name in hone."),
    MODEL(provider, .required = true, .choices = provider_choices, .help = "Who answers."),
    MODEL(model, .max_len = HONE_LIMIT_WORD_BYTES,
          .help = "The provider's name of it; none: name."),
    MODEL(url, .max_len = 1000,
          .help = "Endpoint without /chat/completions or /messages; none: the provider's own."),
    MODEL(key_env, .max_len = HONE_LIMIT_NAME_BYTES,
          .help = "Environment variable that holds the key."),
    MODEL(key_file, .max_len = 1000, .help = "File that holds the key; mode 600."),
    MODEL(command, .max_len = 64, .help = "command: program and arguments, no shell."),
    MODEL(pass_env, .max_len = 32, .help = "command: variables that the program may see."),
    MODEL(file, .max_len = 1000, .help = "replay: recorded answers."),
    MODEL(match, .choices = match_choices,
          .help =
              "replay: who answers: the record of the same request (default), or the next one."),
    MODEL(record, .max_len = 1000, .help = "Every answer is appended to this file."),
    MODEL(fallback, .max_len = HONE_LIMIT_NAME_BYTES,
          .help = "Model that is asked when this one gives up."),
    PRICE(price_in, "A million tokens of input; none: the built-in table, or not known."),
    PRICE(price_out, "A million tokens of output."),
    PRICE(price_cached, "A million tokens of input from the provider's cache; none: price_in."),
    PRICE(price_written, "A million tokens written to that cache; none: price_in."),
    MODEL(temperature, .min = 0, .max = 2, .fallback_f64 = -1, .help = "Instead of the request's."),
    MODEL(no_temperature, .help = "Send none: some models refuse it."),
    MODEL(no_stream, .help = "Ask for the answer in one piece."),
    MODEL(allow_plain_http, .help = "Allow http:// to another machine (the key travels in clear)."),
    MODEL(tokens_member, .choices = tokens_choices,
          .help = "openai: how the request names its limit; none: by endpoint."),
    MODEL(connect_ms, .min = 1, .max = HONE_LIMIT_TIMEOUT_MS, .fallback_i64 = 10000, .unit = "ms",
          .help = "To reach the endpoint."),
    MODEL(idle_ms, .min = 1, .max = HONE_LIMIT_TIMEOUT_MS, .fallback_i64 = 120000, .unit = "ms",
          .help = "Without a byte."),
    MODEL(total_ms, .min = 1, .max = HONE_LIMIT_TIMEOUT_MS, .fallback_i64 = 900000, .unit = "ms",
          .help = "For one try."),
    MODEL(tries, .min = 1, .max = HONE_LIMIT_MODEL_TRIES, .fallback_i64 = 5,
          .help = "Before the fallback is asked, or the request fails."),
    MODEL(max_tokens, .min = 0, .max = HONE_LIMIT_MODEL_TOKENS,
          .help = "Most tokens of one answer, where the model allows fewer than are asked for."),
};

const char *const hone_notify_events[] = {"milestone", "stop", "failure", NULL};

#define NOTIFY(m_, ...) HONE_FIELD(struct hone_notify_config, m_, __VA_ARGS__)
static const struct hone_field notify_fields[] = {
    NOTIFY(command, .max_len = 64,
           .help = "Program and arguments, no shell; gets the notice as JSON on standard input."),
    NOTIFY(webhook, .max_len = 1000, .help = "https:// address that gets the notice by POST."),
    NOTIFY(events, .max_len = 3, .help = "milestone, stop, failure; none: all."),
};

#define ROW(m_, ...) HONE_FIELD(struct hone_config, m_, __VA_ARGS__)
static const struct hone_field fields[] = {
    ROW(format, .help = "hone.json: format of the workspace."),
    ROW(created, .help = "hone.json: when it was made."),
    ROW(model, .max_len = HONE_LIMIT_NAME_BYTES, .help = "Model that is used when none is named."),
    ROW(models, HONE_OF(struct hone_model_config, model_fields), .max_len = HONE_LIMIT_MODELS,
        .help = "Models that can be asked."),
    HONE_FIELD_OBJ(struct hone_config, notify, notify_fields,
                   .help = "Who is told of milestones, stops and failures."),
};

char *hone_config_path(const char *path)
{
    const char *home = getenv("HOME");
    if (strncmp(path, "~/", 2) == 0 && home && home[0])
        return hone_path_join(home, path + 2, NULL);
    return hone_strdup(path);
}

static int bad(struct hone_err *err, const char *file, size_t i, const char *member,
               const char *what)
{
    HONE_AUTOFREE char *path = hone_sprintf("%s: models[%zu].%s", file, i, member);
    return hone_fail_at(err, HONE_E_ARG, path, "%s", what);
}

/* What a provider needs, and what it has no use for. */
static int check_model(const char *file, size_t i, const struct hone_model_config *m,
                       struct hone_err *err)
{
    bool is_command = strcmp(m->provider, "command") == 0;
    bool is_replay = strcmp(m->provider, "replay") == 0;
    if (!hone_is_safe_name(m->name))
        return bad(err, file, i, "name", "use letters, digits, '_', '.', '-'");
    if (m->key_env && m->key_file)
        return bad(err, file, i, "key_env", "give key_env or key_file, not both");
    if (is_command != (m->command.n > 0))
        return bad(err, file, i, "command",
                   is_command ? "name the program and its arguments as a list"
                              : "only provider command runs a program");
    if (is_replay != (m->file != NULL))
        return bad(err, file, i, "file",
                   is_replay ? "name the file of recorded answers"
                             : "only provider replay reads it");
    if (m->match && !is_replay)
        return bad(err, file, i, "match", "only provider replay has recorded answers");
    if ((is_command || is_replay) && (m->url || m->key_env || m->key_file))
        return bad(err, file, i, "url", "this provider has neither endpoint nor key");
    if (m->fallback && strcmp(m->fallback, m->name) == 0)
        return bad(err, file, i, "fallback", "a model cannot stand in for itself");
    return 0;
}

/* A program that is run for a model never sees the key of another. */
static int check_environment(const struct hone_config *c, struct hone_err *err)
{
    const struct hone_model_config *models = c->models.v;
    for (size_t i = 0; i < c->models.n; i++)
        for (size_t k = 0; k < models[i].pass_env.n; k++)
            for (size_t j = 0; j < c->models.n; j++)
                if (models[j].key_env && strcmp(models[j].key_env, models[i].pass_env.v[k]) == 0)
                    return hone_fail_at(err, HONE_E_ARG, "models.pass_env",
                                        "'%.60s' holds the key of model '%.60s'; a command does "
                                        "not get it",
                                        models[i].pass_env.v[k], models[j].name);
    return 0;
}

static int check_notify(const char *file, const struct hone_notify_config *n, struct hone_err *err)
{
    HONE_AUTOFREE char *events = hone_sprintf("%s: notify.events", file);
    HONE_AUTOFREE char *webhook = hone_sprintf("%s: notify.webhook", file);
    for (size_t i = 0; n && i < n->events.n; i++) {
        bool is_known = false;
        for (size_t k = 0; hone_notify_events[k]; k++)
            is_known = is_known || strcmp(n->events.v[i], hone_notify_events[k]) == 0;
        if (!is_known)
            return hone_fail_at(err, HONE_E_ARG, events, "use milestone, stop, failure");
    }
    if (n && n->webhook && !hone_http_is_safe_url(n->webhook))
        return hone_fail_at(err, HONE_E_ARG, webhook, "use https://, or http:// to this machine");
    return 0;
}

static void merge(struct hone_config *to, const struct hone_config *from, struct hone_pool *pool)
{
    struct hone_model_config *all =
        hone_pool_alloc(pool, (to->models.n + from->models.n + 1) * sizeof(*all));
    const struct hone_model_config *old = to->models.v, *new = from->models.v;
    size_t n = 0;
    for (size_t i = 0; i < to->models.n; i++) {
        bool is_replaced = false;
        for (size_t k = 0; k < from->models.n; k++)
            is_replaced = is_replaced || strcmp(old[i].name, new[k].name) == 0;
        if (!is_replaced)
            all[n++] = old[i];
    }
    for (size_t k = 0; k < from->models.n; k++)
        all[n++] = new[k];
    to->models = (struct hone_array){.v = all, .n = n};
    to->model = from->model ? from->model : to->model;
    to->notify = from->notify ? from->notify : to->notify;
}

int hone_config_parse(const char *name, const char *text, size_t len, struct hone_pool *pool,
                      struct hone_config *config, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_config one;
    struct hone_err cause = HONE_ERR_INIT;
    if (hone_json_parse(text, len, &json, &cause) < 0 ||
        hone_fields_decode(json, fields, HONE_COUNTOF(fields), &one, sizeof(one), pool, &cause) <
            0) {
        HONE_AUTOFREE char *path = hone_sprintf("%s: %s", name, cause.path);
        return hone_fail_at(err, cause.code, path, "%.300s", cause.message);
    }
    const struct hone_model_config *models = one.models.v;
    for (size_t i = 0; i < one.models.n; i++) {
        int r = check_model(name, i, &models[i], err);
        for (size_t k = 0; r == 0 && k < i; k++)
            if (strcmp(models[k].name, models[i].name) == 0)
                r = bad(err, name, i, "name", "two models have this name");
        if (r < 0)
            return r;
    }
    int r = check_notify(name, one.notify, err);
    if (r < 0)
        return r;
    merge(config, &one, pool);
    return check_environment(config, err);
}

static int load_file(const char *path, struct hone_pool *pool, struct hone_config *config,
                     struct hone_err *err)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    struct stat st;
    if (stat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? 0
                   : hone_fail_errno(err, errno, "cannot look at '%.200s'", path);
    if ((st.st_mode & 022) != 0 || (st.st_uid != geteuid() && st.st_uid != 0))
        return hone_fail(err, HONE_E_AUTH,
                         "'%.200s' can name programs to run, but others may write it; chmod go-w "
                         "it, and let it belong to you",
                         path);
    int r = hone_file_read(path, HONE_LIMIT_CONFIG_BYTES, &text, &len, err);
    return r < 0 ? r : hone_config_parse(path, text, len, pool, config, err);
}

static char *user_file(void)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (xdg && xdg[0] == '/')
        return hone_path_join(xdg, "hone", "config.json", NULL);
    return home && home[0] ? hone_path_join(home, ".config", "hone", "config.json", NULL) : NULL;
}

int hone_config_load(const char *workspace_dir, struct hone_pool *pool, struct hone_config *ret,
                     struct hone_err *err)
{
    struct hone_config config = {.model = NULL};
    HONE_AUTOFREE char *user = user_file();
    int r = user ? load_file(user, pool, &config, err) : 0;
    if (r == 0 && workspace_dir) {
        HONE_AUTOFREE char *own = hone_path_join(workspace_dir, "hone.json", NULL);
        r = load_file(own, pool, &config, err);
    }
    if (r == 0)
        *ret = config;
    return r;
}

int hone_config_model(const struct hone_config *config, const char *name,
                      const struct hone_model_config **ret, struct hone_err *err)
{
    const struct hone_model_config *models = config->models.v;
    if (!name)
        name = config->model;
    if (!name && config->models.n == 1)
        name = models[0].name;
    struct hone_buf names = {.limit = 4096};
    for (size_t i = 0; i < config->models.n; i++) {
        if (name && strcmp(models[i].name, name) == 0) {
            hone_buf_done(&names);
            *ret = &models[i];
            return 0;
        }
        hone_buf_printf(&names, "%s%s", i ? ", " : "", models[i].name);
    }
    int r;
    if (config->models.n == 0)
        r = hone_fail_at(err, HONE_E_NOT_FOUND, "model",
                         "no model is configured; add one to ~/.config/hone/config.json or to "
                         "hone.json of the workspace (docs/guides/models.md)");
    else if (!name)
        r = hone_fail_at(err, HONE_E_ARG, "model", "name a model; there are %.200s", names.data);
    else
        r = hone_fail_at(err, HONE_E_NOT_FOUND, "model", "'%.60s' is unknown; there are %.200s",
                         name, names.data);
    hone_buf_done(&names);
    return r;
}
