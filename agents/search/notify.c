/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/search/notify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/model/http.h"
#include "workspace/base/clock.h"
#include "workspace/base/limits.h"

#define NOTIFY_MS    10000
#define CONNECT_MS   5000
#define ANSWER_BYTES 65536
#define MAX_ARGS     66

bool hone_notify_wants(const struct hone_notify_config *c, const char *event)
{
    if (!c || (c->command.n == 0 && !c->webhook))
        return false;
    for (size_t i = 0; i < c->events.n; i++)
        if (strcmp(c->events.v[i], event) == 0)
            return true;
    return c->events.n == 0;
}

static char *notice_text(const struct hone_notice *n)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    hone_json_set_str(json, "event", n->event);
    hone_json_set_str(json, "search", n->search);
    hone_json_set_str(json, "name", n->name);
    hone_json_set_str(json, "task", n->task);
    hone_json_set_str(json, "target", n->target);
    hone_json_set_str(json, "text", n->text);
    if (n->commit)
        hone_json_set_str(json, "commit", n->commit);
    if (isfinite(n->ratio))
        hone_json_set_f64(json, "ratio", n->ratio);
    hone_json_set_bool(json, "is_confirmed", n->is_confirmed);
    hone_json_set_i64(json, "evaluations", n->evaluations);
    hone_json_set_i64(json, "elapsed_ms", n->elapsed_ms);
    return hone_json_print(json);
}

static int run_command(const struct hone_notify_config *c, const char *event, const char *text,
                       const struct hone_cancel *cancel, struct hone_err *err)
{
    const char *argv[MAX_ARGS] = {NULL}, *home = getenv("HOME");
    HONE_AUTOFREE char *program = hone_config_path(c->command.v[0]);
    HONE_AUTOFREE char *event_env = hone_sprintf("HONE_EVENT=%s", event);
    HONE_AUTOFREE char *home_env = hone_sprintf("HOME=%s", home ? home : "/");
    const char *env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", home_env, event_env, NULL};
    for (size_t i = 0; i < c->command.n && i + 1 < MAX_ARGS; i++)
        argv[i] = c->command.v[i];
    argv[0] = program;
    const struct hone_process_spec spec = {.argv = argv,
                                           .env = env,
                                           .stdin_text = text,
                                           .stdin_len = strlen(text),
                                           .deadline_ns = hone_deadline_in_ms(NOTIFY_MS),
                                           .cancel = cancel};
    struct hone_process_result result;
    int rc = hone_process_run(&spec, &result, err);
    if (rc < 0)
        return hone_wrap(err, "notify.command");
    if (result.timed_out)
        rc = hone_fail_at(err, HONE_E_TARGET, "notify.command",
                          "took more than %d s and was stopped", NOTIFY_MS / 1000);
    else if (result.exit_status != 0 && !result.cancelled)
        rc = hone_fail_at(err, HONE_E_TARGET, "notify.command", "ended with status %d",
                          result.exit_status);
    hone_process_result_done(&result);
    return rc;
}

static int drop_body(void *arg, const struct hone_http_answer *answer, const char *bytes,
                     size_t len, struct hone_err *err)
{
    (void)arg;
    (void)answer;
    (void)bytes;
    (void)len;
    (void)err;
    return 0;
}

static int post(const struct hone_notify_config *c, const char *text,
                const struct hone_cancel *cancel, struct hone_err *err)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    const struct hone_http_request request = {.url = c->webhook,
                                              .headers = headers,
                                              .body = text,
                                              .body_len = strlen(text),
                                              .connect_ms = CONNECT_MS,
                                              .idle_ms = NOTIFY_MS,
                                              .deadline_ns = hone_deadline_in_ms(NOTIFY_MS),
                                              .cancel = cancel,
                                              .max_bytes = ANSWER_BYTES,
                                              .on_body = drop_body};
    struct hone_http_answer answer;
    struct hone_err cause = HONE_ERR_INIT; /* may hold the URL, which may hold a secret */
    int rc = hone_http_post(&request, &answer, &cause);
    if (rc < 0)
        rc = hone_fail_at(err, HONE_E_TARGET, "notify.webhook", "did not get through (%s)",
                          answer.fault == HONE_HTTP_CONNECT ? "no connection" : "fault on the way");
    else if (answer.status < 200 || answer.status > 299)
        rc = hone_fail_at(err, HONE_E_TARGET, "notify.webhook", "answered %ld", answer.status);
    hone_http_answer_done(&answer);
    return rc;
}

int hone_notify(const struct hone_notify_config *c, const struct hone_notice *notice,
                const struct hone_cancel *cancel, struct hone_err *err)
{
    if (!hone_notify_wants(c, notice->event))
        return 0;
    HONE_AUTOFREE char *text = notice_text(notice);
    int rc = c->command.n > 0 ? run_command(c, notice->event, text, cancel, err) : 0;
    int posted = c->webhook ? post(c, text, cancel, rc < 0 ? NULL : err) : 0;
    return rc < 0 ? rc : posted;
}
