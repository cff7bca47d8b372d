/* SPDX-License-Identifier: Apache-2.0 */
/* Notices of a search: whom the local configuration names is told, the search goes on whatever
 * comes of it. */
#include <math.h>

#include "agents/search/notify.h"
#include "agents/search/search_internal.h"
#include "workspace/base/log.h"

#define MAX_FAULTS 3 /* in a row: milestones are not tried any more, the end is */

struct hone_search_notices {
    struct hone_config config;
    int n_faults;
    bool was_logged;
    int announced; /* number of the version that was told last */
};

int hone_search_open_notices(struct hone_search *s, struct hone_err *err)
{
    struct hone_search_notices *n = hone_pool_alloc(s->pool, sizeof(*n));
    int r = hone_config_load(hone_workspace_dir(s->ctx->app->ws), s->pool, &n->config, err);
    if (r < 0)
        return r;
    n->announced = HONE_NO_NODE;
    s->notices = n->config.notify ? n : NULL;
    return 0;
}

static void send(struct hone_search *s, struct hone_notice *notice,
                 const struct hone_cancel *cancel)
{
    struct hone_search_notices *n = s->notices;
    struct hone_err err = HONE_ERR_INIT;
    notice->search = s->id;
    notice->name = s->name;
    notice->task = s->task->name;
    notice->target = s->target;
    notice->evaluations = s->n_evaluations;
    notice->elapsed_ms = hone_search_elapsed_ms(s);
    if (hone_notify(n->config.notify, notice, cancel, &err) == 0) {
        n->n_faults = 0;
        return;
    }
    n->n_faults++;
    if (!n->was_logged)
        hone_log(HONE_LOG_WARN,
                 "search=%s a notice (%s) failed, and others may; the search goes on "
                 "error=\"%s: %s\"",
                 s->name, notice->event, err.path, err.message);
    n->was_logged = true;
}

void hone_search_milestone(struct hone_search *s, const struct hone_node *node, bool is_confirmed)
{
    struct hone_search_notices *n = s->notices;
    if (!n || n->n_faults >= MAX_FAULTS || node->index != s->state.tree.best || node->index == 0 ||
        node->number == n->announced)
        return;
    n->announced = node->number;
    HONE_AUTOFREE char *text = hone_sprintf("%s: %.3gx, %s: %s", s->name, exp2(node->value),
                                            is_confirmed ? "confirmed" : "decided", node->words);
    send(s,
         &(struct hone_notice){.event = "milestone",
                               .text = text,
                               .commit = node->commit,
                               .ratio = exp2(node->value),
                               .is_confirmed = is_confirmed},
         s->ctx->cancel);
}

void hone_search_tell_end(struct hone_search *s, int code, const struct hone_search_result *result,
                          const struct hone_err *cause)
{
    const struct hone_node *best =
        s->state.tree.best == HONE_NO_NODE ? NULL : s->state.tree.nodes[s->state.tree.best];
    if (!s->notices)
        return;
    struct hone_notice notice = {.event = code == 0 || code == HONE_E_CANCEL ? "stop" : "failure",
                                 .text = code == 0 ? result->summary : cause->message,
                                 .commit = best ? best->commit : NULL,
                                 .ratio = best ? exp2(best->value) : (double)NAN};
    if (code == 0) {
        notice.commit = result->best_commit;
        notice.ratio = result->speedup;
        notice.is_confirmed = result->best_commit != NULL;
    }
    send(s, &notice, NULL); /* also when the search itself was cancelled */
}
