/* SPDX-License-Identifier: Apache-2.0 */
/* Text for results: cutting, one-lining, finding the nearest name. Everything returned lives in the
 * pool. Any thread. */
#ifndef HONE_BASE_TEXT_H
#define HONE_BASE_TEXT_H

#include "workspace/base/buf.h"

/* At most max bytes: beginning and end are kept, "[... 1234 bytes cut ...]" stands between, at
 * whole lines where possible and always at whole UTF-8 characters. NULL gives NULL. */
const char *hone_plain_cut(struct hone_pool *pool, const char *text, size_t max);
/* At most max bytes of whole lines from the beginning, then "... 12 lines more"; a text that ends
 * so already has its number raised. Made safe to show. NULL gives NULL. */
const char *hone_plain_lines(struct hone_pool *pool, const char *text, size_t max);
/* One line of at most max bytes: control characters and runs of blanks become one blank; cut with
 * "...". NULL gives "". */
const char *hone_plain_line(struct hone_pool *pool, const char *text, size_t max);
/* Foreign text beside hone's own: a line that begins with one of `words` and a colon, in whatever
 * case and behind whatever blanks or bytes that are not ASCII, gets "> " in front. NULL gives NULL. */
const char *hone_plain_quote(struct hone_pool *pool, const char *text, const char *const *words,
                             size_t n_words);
/* The name nearest to `name` by edit distance, upper and lower case alike; NULL when none is near:
 * half of either word would have to change. */
const char *hone_plain_nearest(const char *name, const char *const *names, size_t n_names);
/* "1.25 ms", "870 ns". */
const char *hone_plain_ns(struct hone_pool *pool, double ns);

#endif
