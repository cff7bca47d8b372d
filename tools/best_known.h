/* SPDX-License-Identifier: Apache-2.0 */
/* What the history knows of a task beside the version that was just measured. */
#ifndef HONE_TOOLS_BEST_KNOWN_H
#define HONE_TOOLS_BEST_KNOWN_H

#include "tools/format/report.h"
#include "workspace/history.h"

/* One sentence: the version with the least time among those of the same task pack, target, device
 * and public workloads that a decide or a confirmation timed and nothing is said against. NULL: no
 * other version, or the measured one has no time. In the pool. Any thread. */
const char *hone_best_known(struct hone_history *history, const char *commit,
                            const struct hone_report *report, struct hone_pool *pool);

#endif
