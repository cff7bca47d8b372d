/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log of a server, DIR/.hone/audit.log (0600): JSON lines, one for each tool call and each
 * refusal. Neither tokens nor arguments are in it. Above HONE_LIMIT_AUDIT_BYTES it becomes
 * audit.log.1, whose former content goes. Several servers may write the same file. Any thread. */
#ifndef HONE_SERVER_AUDIT_H
#define HONE_SERVER_AUDIT_H

#include "server/access/clients.h"
#include "workspace/base/json.h"

struct hone_audit; /* opaque */

struct hone_audit_call { /* all borrowed */
    const struct hone_client *client;
    const char *program; /* what the client calls itself, untrusted */
    const char *tool;
    const char *outcome;            /* "ok", "error", or the word of an error code */
    const struct hone_json *answer; /* verdict, commit and job are taken from it; NULL: none */
    int64_t wall_ms;
};

/* Never fails: what cannot be written is logged once and left out. limit_bytes 0: the usual. */
struct hone_audit *hone_audit_new(const char *path, size_t limit_bytes);
void hone_audit_free(struct hone_audit *audit); /* NULL is fine */
void hone_audit_call(struct hone_audit *audit, const struct hone_audit_call *call);
/* At most one line a second, with the count of those in between. */
void hone_audit_refusal(struct hone_audit *audit, unsigned status, const char *why);

#endif
