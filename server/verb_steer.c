/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/search/steer.h"
#include "server/verb.h"

struct args {
    const char *workspace, *name, *action, *what;
    bool json;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, name, "name", "NAME", "A search, by its name or id.",
             .is_positional = true, .is_required = true),
    HONE_OPT(struct args, action, "action", "ACTION",
             "pause, resume, ban, favour, unban, hint or stop.", .is_positional = true,
             .is_required = true, .choices = hone_steer_actions),
    HONE_OPT(struct args, what, "what", "WHAT",
             "Of ban, favour, unban: a strategy (C08). Of hint: the text; '' takes all back.",
             .is_positional = true),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT_JSON(struct args),
};

static const char *user_name(void)
{
    const char *user = getenv("USER");
    return user && *user ? user : "cli";
}

static int report(const struct args *args, const struct hone_steer_search *search, uint64_t n,
                  struct hone_err *err)
{
    if (args->json) {
        HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
        hone_json_set_str(json, "search", search->id);
        hone_json_set_i64(json, "request", (int64_t)n);
        hone_json_set_bool(json, "is_running", search->is_running);
        return hone_print_json(json, err);
    }
    hone_say("%s (%s): %s%s%s, request %llu; %s", search->name, search->id, args->action,
             args->what ? " " : "", args->what ? args->what : "", (unsigned long long)n,
             search->is_running ? "the search takes it at its next expansion"
                                : "no process runs the search now; it is taken when it goes on");
    return 0;
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_steer_search search;
    struct hone_steer_request request = {.by = user_name()};
    uint64_t n = 0;
    if (!hone_steer_parse(args->action, &request.action))
        return hone_fail(err, HONE_E_ARG, "'%.40s' is no action", args->action);
    if (request.action == HONE_STEER_HINT)
        request.text = args->what;
    else
        request.strategy = args->what;
    int rc = hone_workspace_open(args->workspace, &ws, err);
    if (rc == 0)
        rc = hone_steer_find(ws, args->name, pool, &search, err);
    if (rc == 0)
        rc = hone_steer_send(ws, &search, &request, &n, err);
    return rc < 0 ? rc : report(args, &search, n, err);
}

const struct hone_verb hone_verb_steer = {
    .name = "steer",
    .summary = "Steer a search while it runs: pause, resume, ban, favour, unban, hint, stop.",
    .description =
        "The request is a record in the ledger; the search reads it between expansions, whether it "
        "runs in another terminal or in\n"
        "a server, and keeps to it after a restart. A pause does not use up wall time; stop ends "
        "in order, with the confirmation.\n"
        "A favoured strategy's prior counts four times; a banned one is not tried.",
    .example = "hone steer softmax ban C15",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
