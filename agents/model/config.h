/* SPDX-License-Identifier: Apache-2.0 */
/* Local configuration: models, and whatever else names programs, endpoints or keys.
 *
 * Two files, one field table (config.c): ~/.config/hone/config.json (XDG_CONFIG_HOME counts), then
 * hone.json of the workspace; what the second says wins, models of the same name are replaced.
 * Neither may be writable by others, since it can name programs to run; a file that belongs to
 * somebody else is refused. Nothing here ever comes from a request, a task pack or a candidate: a
 * request names an entry. docs/guides/models.md is the manual. */
#ifndef HONE_AGENTS_CONFIG_H
#define HONE_AGENTS_CONFIG_H

#include "workspace/base/fields.h"

struct hone_model_config {
    const char *name;     /* how everybody here calls it */
    const char *provider; /* openai, anthropic, command, replay */
    const char *model;    /* the provider's own name; NULL: name */
    const char *url;      /* endpoint up to its version: "https://api.openai.com/v1" */
    const char *key_env, *key_file;
    struct hone_strs command;  /* program and arguments */
    struct hone_strs pass_env; /* variables that the command may see */
    const char *file;          /* replay: recorded answers */
    const char *match;         /* replay: by "request" (NULL too: its hash) or in "order" */
    const char *record;        /* every answer of this model is appended there */
    const char *fallback;      /* model that is asked when this one gives up */
    double price_in, price_out, price_cached, price_written; /* USD for a million tokens; < 0: not
                                                                 known */
    double temperature;                                      /* < 0: the request's */
    bool no_temperature;       /* leave it out: some models take none */
    bool no_stream;            /* ask for the answer in one piece */
    bool allow_plain_http;     /* http:// to other machines */
    const char *tokens_member; /* openai: "max_tokens" or "max_completion_tokens" */
    int64_t connect_ms, idle_ms, total_ms, tries;
    int64_t max_tokens; /* most of one answer; 0: the request's */
};

extern const char *const hone_notify_events[]; /* of a search; NULL at the end */

struct hone_notify_config {   /* who is told: agents/search/notify.h */
    struct hone_strs command; /* program and arguments, no shell */
    const char *webhook;      /* gets a POST */
    struct hone_strs events;  /* milestone, stop, failure; none: all */
};

struct hone_config {
    int64_t format;      /* of the workspace; not ours */
    const char *created; /* the same */
    const char *model;   /* default model; NULL: the only one, if there is one */
    struct hone_array models;
    struct hone_notify_config *notify; /* NULL: nobody */
};

/* workspace_dir NULL: the user's file alone. Missing files are fine. Strings in the
 * pool. HONE_E_ARG (path: "hone.json: models[1].url") · HONE_E_AUTH: others may write
 * it · HONE_E_LIMIT. */
int hone_config_load(const char *workspace_dir, struct hone_pool *pool, struct hone_config *ret,
                     struct hone_err *err);
/* From text: what the loader uses for each file; tests too. Adds to *config. */
int hone_config_parse(const char *name, const char *text, size_t len, struct hone_pool *pool,
                      struct hone_config *config, struct hone_err *err);
/* name NULL: the default. HONE_E_NOT_FOUND lists the names that there are. */
int hone_config_model(const struct hone_config *config, const char *name,
                      const struct hone_model_config **ret, struct hone_err *err);
/* "~/x" with the home folder; owned. */
char *hone_config_path(const char *path);

#endif
