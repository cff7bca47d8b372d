/* SPDX-License-Identifier: Apache-2.0 */
/* Telling somebody: a command or a webhook on milestone, stop, failure.
 *
 * Both come from local configuration alone ("notify" in hone.json or ~/.config/hone/config.json).
 * The command gets one JSON object on standard input and HONE_EVENT in its environment; the webhook
 * gets the same object as the body of a POST. A notice that fails is reported by the return value
 * and changes nothing: a search goes on without it. The webhook's URL may hold a secret and is in
 * no message. Blocks for ten seconds at most for each of the two; any thread.
 *
 *     if (hone_notify_wants(&config->notify, "stop"))
 *         r = hone_notify(&config->notify, &notice, cancel, err);    r < 0: log it and go on */
#ifndef HONE_AGENTS_NOTIFY_H
#define HONE_AGENTS_NOTIFY_H

#include "agents/model/config.h"
#include "workspace/base/process.h"

struct hone_notice {
    const char *event;  /* "milestone", "stop", "failure" */
    const char *search; /* its id */
    const char *name, *task, *target;
    const char *text;   /* one line */
    const char *commit; /* of the best version; NULL: none */
    double ratio;       /* of the best version; NaN: none */
    bool is_confirmed;
    int64_t evaluations, elapsed_ms;
};

/* Whether anybody wants this event. */
bool hone_notify_wants(const struct hone_notify_config *config, const char *event);
/* Command first, then webhook; one that fails does not keep the other from being told. 0 when
 * everybody who wants it was told, or nobody wants it. HONE_E_TARGET: the command failed or took
 * too long, or the webhook did not take it; other codes: the command could not be started. */
int hone_notify(const struct hone_notify_config *config, const struct hone_notice *notice,
                const struct hone_cancel *cancel, struct hone_err *err);

#endif
