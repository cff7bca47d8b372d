/* SPDX-License-Identifier: Apache-2.0 */
/* Text made small for a file that a browser opens: gzip (RFC 1952) in base64 (RFC 4648). */
#ifndef HONE_SERVER_PACKED_H
#define HONE_SERVER_PACKED_H

#include <stddef.h>

/* Owned. Of letters, digits and "+/=" alone, so that it may stand in any element of a page. */
char *hone_packed(const char *text, size_t len);

#endif
