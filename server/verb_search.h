/* SPDX-License-Identifier: Apache-2.0 */
/* What `hone search` and its suites (verb_suite.c) share. */
#ifndef HONE_SERVER_VERB_SEARCH_H
#define HONE_SERVER_VERB_SEARCH_H

#include "agents/search/search.h"
#include "server/verb.h"

struct hone_search_args {
    struct hone_common_args common;
    struct hone_search_options options; /* but for these */
    const char *suite;                  /* NULL: one task */
    int64_t disk_mib, lanes;
    bool no_plateau;
    bool json, quiet, knowledge;
};

/* The prior from the rows of the workspace and of the user's store, in the pool. */
int hone_search_take_knowledge(struct hone_workspace *ws, struct hone_search_options *options,
                               struct hone_pool *pool, struct hone_err *err);
/* `hone search --suite`: collects the tasks, runs the suite, prints its report. */
int hone_search_suite(const struct hone_search_args *args, struct hone_runtime *runtime,
                      const struct hone_cancel *cancel, struct hone_err *err);

#endif
