/* SPDX-License-Identifier: Apache-2.0 */
/* What the planner chose among: the legal steps of a search's steps, with the parts of their priors,
 * as the ledger has them. Any thread. */
#ifndef HONE_SERVER_CHOICES_H
#define HONE_SERVER_CHOICES_H

#include "workspace/workspace.h"

/* By number of the step: {"23":{"rewrite":...,"variant":...,"legal":[...]}}. search: name or id, of
 * one name the one that ran last. Steps that have no record are left out. Owned. */
struct hone_json *hone_choices_json(struct hone_workspace *ws, const char *search,
                                    const int64_t *steps, size_t n);

#endif
