/* SPDX-License-Identifier: Apache-2.0 */
/* A profile in words, for models: which size it is of, and each of its launches. */
#ifndef HONE_AGENTS_PROFILE_TEXT_H
#define HONE_AGENTS_PROFILE_TEXT_H

#include "tools/format/report.h"
#include "workspace/base/buf.h"

/* Lines "- softmax<4> (operation 0): 120 us, DRAM 61 %, ..."; in the pool. NULL: no profile with
 * counters, or one that does not say what it is of. */
const char *hone_profile_text(const struct hone_report *report, struct hone_pool *pool);

#endif
