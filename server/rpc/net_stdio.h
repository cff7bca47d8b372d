/* SPDX-License-Identifier: Apache-2.0 */
/* MCP over stdin and stdout: one message a line, nothing else on stdout, messages for people on
 * stderr. Ends at end of input. */
#ifndef HONE_SERVER_NET_STDIO_H
#define HONE_SERVER_NET_STDIO_H

#include "server/rpc/mcp.h"

struct hone_stdio_spec {
    const struct hone_mcp *mcp;
    int in_fd, out_fd;
    int64_t linger_ms;              /* how long running calls may go on after the end of input */
    const struct hone_cancel *stop; /* ends it at once; may be NULL */
};
/* Blocks until the input ends, stop is set or nobody reads the output. 0, or HONE_E_IO. */
int hone_stdio_run(const struct hone_stdio_spec *spec, struct hone_err *err);

#endif
