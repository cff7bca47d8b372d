/* SPDX-License-Identifier: Apache-2.0 */
/* Which loop nests of a version no rewrite reads, and what stands against it.
 *
 * A nest counts as read when a rewrite has a place inside it, or when the iterations of one of its
 * loops are independent. A version in which a rewrite has a place only in the normal form counts as
 * read whole, as do loops with pragmas. C alone: the loops of a CUDA source are not looked at. */
#ifndef HONE_AGENTS_UNREAD_H
#define HONE_AGENTS_UNREAD_H

#include "agents/rewrites/coder_rules.h"

/* "loop k at line 5: an iteration may read what another one writes, at A[k] (carried_array)"; the
 * first nests, the others counted; in the input's pool. NULL: every nest is read. */
const char *hone_unread_text(const struct hone_coder_input *in);

#endif
