/* SPDX-License-Identifier: Apache-2.0 */
/* What this build calls itself. Protocol revisions are in server/rpc/mcp.c, file formats in
 * their own headers. */
#ifndef HONE_SERVER_VERSION_H
#define HONE_SERVER_VERSION_H

#include "workspace/base/version.h"

#endif
