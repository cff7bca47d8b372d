/* SPDX-License-Identifier: Apache-2.0 */
/* Headers that repeat what a request's body says (Mcp-Name, Mcp-Param-NAME), so that who stands
 * between can route without reading bodies. A server compares them, since somebody may have acted on
 * the header.
 *
 * A value is printable ASCII as it is, or "=?base64?...?=" for whatever a header cannot hold. Blanks
 * around it do not count. header is the value as it came, NULL: absent. No state; any thread. */
#ifndef HONE_SERVER_MIRROR_H
#define HONE_SERVER_MIRROR_H

#include "workspace/base/fields.h"

bool hone_mirror_is(const char *header, const char *want);
/* The same for an argument that its field has a header for: a bool is true or false, an integer
 * counts by its value; an argument that is absent or null has none. */
bool hone_mirror_agrees(const char *header, const struct hone_json *value);

#endif
