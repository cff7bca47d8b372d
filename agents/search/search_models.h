/* SPDX-License-Identifier: Apache-2.0 */
/* The models of a search; for the search's own files. */
#ifndef HONE_AGENTS_SEARCH_MODELS_H
#define HONE_AGENTS_SEARCH_MODELS_H

#include "agents/model/journal.h"
#include "agents/planner/mix.h"
#include "agents/search/search_internal.h"

struct hone_search_models {
    struct hone_config config;
    struct hone_model *coder, *planner; /* NULL: that role asks none */
    struct hone_journal *journal;
    const char *prompts_dir;
    const char *machine; /* hone_search_machine; NULL: not asked yet */
    int n_faults;        /* asks of the planner in a row without an answer */
};

#endif
