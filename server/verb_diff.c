/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "server/verb.h"
#include "workspace/history.h"

struct args {
    const char *workspace, *from, *to;
    bool json;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, from, "from", "FROM",
             "A commit or branch; alone: shown against its parent.", .is_positional = true,
             .is_required = true),
    HONE_OPT(struct args, to, "to", "TO", "A commit or branch.", .is_positional = true),
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT_JSON(struct args),
};

/* With one argument: from its parent to it. */
static int resolve(const struct args *args, struct hone_history *history,
                   char from[HONE_COMMIT_BYTES], char to[HONE_COMMIT_BYTES], struct hone_err *err)
{
    if (args->to) {
        int rc = hone_history_resolve(history, args->from, from, err);
        return rc < 0 ? rc : hone_history_resolve(history, args->to, to, err);
    }
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    struct hone_version version;
    int rc = hone_history_resolve(history, args->from, to, err);
    if (rc == 0)
        rc = hone_history_read(history, to, pool, &version, err);
    if (rc < 0)
        return rc;
    return hone_history_resolve(history, version.parent ? version.parent : "main", from, err);
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    HONE_AUTOFREE char *patch = NULL;
    char from[HONE_COMMIT_BYTES], to[HONE_COMMIT_BYTES];
    int rc = hone_open_to_read(args->workspace, &ws, err);
    if (rc == 0)
        rc = resolve(args, hone_workspace_history(ws), from, to, err);
    if (rc == 0)
        rc = hone_history_diff(hone_workspace_history(ws), from, to, &patch, err);
    if (rc < 0 || !args->json)
        return rc < 0 ? rc : hone_print(patch, err);
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "from", from);
    hone_json_set_str(json, "to", to);
    hone_json_set_str(json, "patch", patch);
    return hone_print_json(json, err);
}

const struct hone_verb hone_verb_diff = {
    .name = "diff",
    .summary = "Show what changed between two versions' sources.",
    .example = "hone diff 1a2b3c4d search/softmax",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
