/* SPDX-License-Identifier: Apache-2.0 */
/* A session from arbitrary lines: every answer is one JSON value on one line, no request is
 * answered twice, none stays open. The first byte chooses whether batches are allowed and whether
 * calls answer at once, late, twice or never. */
#include <stdint.h>
#include <string.h>
#include "server/rpc/peer.h"
#include "workspace/base/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEPT 16

struct world {
    unsigned mode;
    struct hone_peer *peer;
    struct hone_call *kept[KEPT]; /* answered later */
    size_t n_kept, n_requests, n_answers;
};

static size_t count_answers(const struct hone_json *value)
{
    if (hone_json_type(value) != HONE_JSON_ARRAY)
        return hone_json_get(value, "result") || hone_json_get(value, "error") ? 1 : 0;
    size_t n = 0;
    for (const struct hone_json *one = hone_json_first(value); one; one = hone_json_next(one))
        n += count_answers(one);
    return n;
}

static void send_text(void *arg, uint64_t serial, const struct hone_peer_text *message)
{
    char *text = message->text;
    size_t len = message->len;
    struct world *world = arg;
    HONE_AUTOFREE char *owned = text;
    HONE_AUTOJSON struct hone_json *value = NULL;
    HONE_BUG_ON(serial != 1 || strlen(owned) != len || strchr(owned, '\n'));
    HONE_BUG_ON(hone_json_parse(owned, len, &value, NULL) < 0);
    world->n_answers += count_answers(value);
}

static const struct hone_transport transport = {.send = send_text};

static void *open_world(const void *arg, struct hone_peer *peer)
{
    struct world *world = (struct world *)(uintptr_t)arg;
    world->peer = peer;
    return world;
}

static void close_world(void *state)
{
    (void)state;
}

static void on_request(void *state, struct hone_call *call, const char *method,
                       const struct hone_json *params)
{
    struct world *world = state;
    struct hone_err err = HONE_ERR_INIT;
    (void)params;
    world->n_requests++;
    switch ((world->mode >> 1 & 3) + (strlen(method) & 1)) {
    case 0:
        hone_call_result(call, "{}");
        break;
    case 1:
        hone_call_notify(call, "n", NULL);
        hone_call_error(call, -32000, "%s", method);
        hone_call_result(call, "{}"); /* too late: must change nothing */
        break;
    case 2:
        if (world->n_kept < KEPT)
            world->kept[world->n_kept++] = hone_call_ref(call);
        break;
    case 3:
        hone_fail_at(&err, HONE_E_ARG, method, "%s", method);
        hone_call_fail(call, &err);
        break;
    default:
        break; /* never: the core answers for us */
    }
}

static void on_notification(void *state, const char *method, const struct hone_json *params)
{
    struct world *world = state;
    (void)method;
    const struct hone_json *id = hone_json_get(params, "requestId");
    if (!id)
        return;
    HONE_AUTOFREE char *text = hone_json_print(id);
    hone_peer_cancel(world->peer, text);
}

static bool allows_batch(void *state)
{
    const struct world *world = state;
    return (world->mode & 1) != 0;
}

static const struct hone_handler handler = {
    .open = open_world,
    .close = close_world,
    .on_request = on_request,
    .on_notification = on_notification,
    .allows_batch = allows_batch,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct world world = {.mode = data[0]};
    const struct hone_peer_spec spec = {.transport = &transport,
                                        .transport_arg = &world,
                                        .serial = 1,
                                        .handler = &handler,
                                        .handler_arg = &world};
    struct hone_peer *peer = hone_peer_new(&spec);
    const char *text = (const char *)data + 1;
    size_t left = size - 1, n_lines = 0;
    while (left > 0 &&
           left < 60000) { /* larger ones go through a worker, which is not tried here */
        const char *end = memchr(text, '\n', left);
        size_t len = end ? (size_t)(end - text) : left;
        hone_peer_receive(peer, text, len);
        n_lines++;
        len += end ? 1 : 0;
        text += len;
        left -= len;
    }
    for (size_t i = 0; i < world.n_kept; i++) {
        hone_call_result(world.kept[i], "{\"late\":true}");
        hone_call_unref(world.kept[i]);
    }
    HONE_BUG_ON(!hone_peer_wait_idle(peer, hone_now_ns()));
    HONE_BUG_ON(world.n_answers > size); /* at most one for each message, and a message has bytes */
    hone_peer_close(peer);
    return 0;
}
