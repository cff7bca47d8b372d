/* SPDX-License-Identifier: Apache-2.0 */
/* Unified diff of two texts by lines (Myers), three lines of context. In the pool; "" when they are
 * equal. Any thread.
 *
 * History has its own diff for commits; this one serves sources that are no commits. Texts that
 * differ in more than HONE_LINE_DIFF_EDITS lines are shown as a whole replaced by a whole. */
#ifndef HONE_BASE_DIFF_H
#define HONE_BASE_DIFF_H

#include "workspace/base/buf.h"

#define HONE_LINE_DIFF_EDITS 1000

struct hone_diff_side {
    const char *name, *text;
};
int hone_line_diff(const struct hone_diff_side *from, const struct hone_diff_side *to,
                   struct hone_pool *pool, const char **ret_patch, struct hone_err *err);

#endif
