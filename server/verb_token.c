/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "server/access/grants.h"
#include "server/table.h"
#include "server/verb.h"
#include "workspace/base/file.h"

struct args {
    const char *workspace, *action, *name, *role;
    int64_t rate, calls;
    bool json;
};

static const char *const action_names[] = {"add", "list", "remove", NULL};
static const char *const columns[] = {"name", "role", "requests/s", "calls at a time"};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, action, "action", "ACTION", "What to do.", .is_positional = true,
             .is_required = true, .choices = action_names),
    HONE_OPT(struct args, name, "name", "NAME", "Of the token.", .is_positional = true,
             .of = "add remove"),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT(struct args, role, "role", "ROLE",
             "viewer reads; agent may call every tool; owner too, without limits.",
             .fallback = "agent", .choices = hone_access_role_names, .of = "add"),
    HONE_OPT(struct args, rate, "rate", "N", "Requests a second; 0: any, -1: the role's.",
             .fallback = "-1", .min = -1, .max = 1000000, .of = "add"),
    HONE_OPT(struct args, calls, "calls", "N", "Tool calls at a time; 0: any, -1: the role's.",
             .fallback = "-1", .min = -1, .max = 1000000, .of = "add"),
    HONE_OPT_JSON(struct args),
};

static int add(const struct args *args, const char *path, struct hone_err *err)
{
    HONE_AUTOFREE char *token = NULL;
    struct hone_grant grant = {.rate = args->rate, .calls = args->calls};
    size_t role = 0;
    while (strcmp(hone_access_role_names[role], args->role) != 0)
        role++;
    if (strlen(args->name) >= sizeof(grant.name))
        return hone_fail(err, HONE_E_ARG, "a token's name has at most %d bytes",
                         HONE_LIMIT_CLIENT_NAME_BYTES);
    memcpy(grant.name, args->name, strlen(args->name) + 1);
    grant.role = (enum hone_access_role)role;
    int rc = hone_grant_add(path, &grant, &token, err);
    if (rc < 0)
        return rc;
    hone_say("token of %s, role %s; it is shown this once:", args->name, args->role);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", token);
    rc = hone_print(line, err);
    if (rc < 0) /* nobody saw it */
        hone_grant_remove(path, args->name, NULL);
    return rc;
}

static struct hone_json *row_json(const struct hone_grant *row)
{
    struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "name", row->name);
    hone_json_set_str(json, "role", hone_access_role_names[row->role]);
    hone_json_set_i64(json, "rate", row->rate);
    hone_json_set_i64(json, "calls", row->calls);
    return json;
}

static int list(const struct args *args, const char *path, struct hone_err *err)
{
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    HONE_AUTOJSON struct hone_json *all = hone_json_new_array();
    struct hone_table table = {.pool = pool, .n_columns = HONE_COUNTOF(columns)};
    struct hone_grants *grants = hone_pool_alloc(pool, sizeof(*grants));
    int rc = hone_grants_load(path, grants, err);
    if (rc < 0)
        return rc;
    hone_table_add(&table, columns);
    for (size_t i = 0; i < grants->n; i++) {
        const struct hone_grant *row = &grants->rows[i];
        char rate[24] = "any", calls[24] = "any";
        if (row->rate > 0)
            snprintf(rate, sizeof(rate), "%lld", (long long)row->rate);
        if (row->calls > 0)
            snprintf(calls, sizeof(calls), "%lld", (long long)row->calls);
        const char *const cells[] = {row->name, hone_access_role_names[row->role], rate, calls};
        hone_table_add(&table, cells);
        hone_json_push(all, row_json(row));
    }
    if (args->json)
        return hone_print_json(all, err);
    hone_table_print(&table);
    return hone_print("", err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    struct hone_workspace *ws = NULL;
    int rc = hone_open_to_read(args->workspace, &ws, err);
    if (rc < 0)
        return rc;
    HONE_AUTOFREE char *path = hone_workspace_path(ws, "tokens");
    hone_workspace_close(ws);
    if (strcmp(args->action, "list") == 0)
        return list(args, path, err);
    if (!args->name)
        return hone_fail(err, HONE_E_ARG, "NAME is missing: hone token %s NAME", args->action);
    if (strcmp(args->action, "add") == 0)
        return add(args, path, err);
    rc = hone_grant_remove(path, args->name, err);
    if (rc == 0)
        hone_say("removed; a running server ends its connections within a second");
    return rc;
}

static const struct hone_verb_action actions[] = {
    {"add", "NAME", "makes a token and prints it, once", "hone token add ci --role viewer"},
    {"list", "", "names, roles and limits", NULL},
    {"remove", "NAME", "takes it back, from running servers too", "hone token remove ci"},
};

const struct hone_verb hone_verb_token = {
    .name = "token",
    .summary = "Named tokens for clients of `hone serve`.",
    .description =
        "Beside the workspace's own token (DIR/.hone/token, role owner). The file holds hashes; a "
        "running server\nsees changes at once. `hone serve --help` says how a client shows its "
        "token.",
    .actions = actions,
    .n_actions = HONE_COUNTOF(actions),
    .example = "hone token add ci --role viewer",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
