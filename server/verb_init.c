/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "server/verb.h"

struct args {
    const char *dir;
    bool nested, bare;
};

static const struct hone_opt opts[] = {
    HONE_OPT(struct args, dir, "dir", "DIR", "Folder to make the workspace in.",
             .is_positional = true, .env = "HONE_WORKSPACE", .fallback = "."),
    HONE_OPT(struct args, nested, "nested", NULL, "Allow it inside another git repository."),
    HONE_OPT(struct args, bare, "no-packs", NULL,
             "Do not copy the task packs that come with hone."),
};

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    HONE_AUTOFREE char *data_dir = args->bare ? NULL : hone_data_dir();
    int rc = hone_workspace_init(args->dir, data_dir, args->nested, err);
    if (rc < 0)
        return rc;
    hone_say("made a workspace in %s", args->dir);
    if (!data_dir && !args->bare)
        hone_say("no task packs were found beside the program (set HONE_DATA to where they are)");
    hone_say("next: hone task list --workspace %s", args->dir);
    return 0;
}

const struct hone_verb hone_verb_init = {
    .name = "init",
    .summary = "Make a workspace: a folder with git history and task packs.",
    .description = "Makes DIR with a git repository, the shipped task packs and an empty ledger. "
                   "An existing workspace is left alone.",
    .example = "hone init ~/kernels",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
