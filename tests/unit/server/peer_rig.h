/* SPDX-License-Identifier: Apache-2.0 */
/* A peer on a runtime with the fake executor and a new workspace, over a transport that keeps what is
 * sent. For tests that include it after their own tools. */
#ifndef HONE_TESTS_PEER_RIG_H
#define HONE_TESTS_PEER_RIG_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/rpc/mcp.h"
#include "tests/unit/unit.h"

#define RIG_SERIAL 42

struct rig {
    char dir[64];
    struct hone_runtime *runtime;
    struct hone_mcp mcp;
    struct hone_peer *peer;
    pthread_mutex_t lock;
    char *sent[4096]; /* lock */
    size_t n_sent;    /* lock */
    int error_number; /* of the last message */
    bool may_drop, was_dropped;
};

static void rig_keep(void *arg, uint64_t serial, const struct hone_peer_text *message)
{
    struct rig *rig = arg;
    ck_assert_uint_eq(serial, RIG_SERIAL);
    ck_assert_uint_eq(strlen(message->text), message->len);
    ck_assert_ptr_null(strchr(message->text, '\n'));
    pthread_mutex_lock(&rig->lock);
    rig->error_number = message->error_number;
    rig->sent[rig->n_sent++] = message->text;
    pthread_mutex_unlock(&rig->lock);
}

static void rig_drop(void *arg, uint64_t serial, const char *why)
{
    struct rig *rig = arg;
    (void)serial;
    ck_assert_msg(rig->may_drop, "dropped: %s", why);
    ck_assert_uint_gt(strlen(why), 0);
    rig->was_dropped = true;
}

/* spec and mcp: what differs from the usual; the workspace, the executor and the runtime are set. */
static void rig_start(struct rig *rig, struct hone_app_spec spec, struct hone_mcp mcp)
{
    static const struct hone_transport transport = {.send = rig_keep, .drop = rig_drop};
    struct hone_err err = HONE_ERR_INIT;
    *rig = (struct rig){.dir = "/tmp/hone-peer.XXXXXX"};
    pthread_mutex_init(&rig->lock, NULL);
    ck_assert_ptr_nonnull(mkdtemp(rig->dir));
    HONE_AUTOFREE char *ws = hone_sprintf("%s/ws", rig->dir);
    ck_assert_msg(hone_workspace_init(ws, NULL, true, &err) == 0, "%s", err.message);
    spec.workspace_dir = ws;
    spec.executor.name = "fake";
    ck_assert_msg(hone_runtime_open(&spec, &rig->runtime, &err) == 0, "%s", err.message);
    rig->mcp = mcp;
    rig->mcp.runtime = rig->runtime;
    rig->mcp.caller = "test";
    const struct hone_peer_spec peer_spec = {
        .transport = &transport,
        .transport_arg = rig,
        .serial = RIG_SERIAL,
        .handler = &hone_mcp_handler,
        .handler_arg = &rig->mcp,
        .parsers = hone_runtime_lane(rig->runtime, HONE_LANE_QUICK),
    };
    rig->peer = hone_peer_new(&peer_spec);
}

static void rig_close(struct rig *rig)
{
    HONE_AUTOFREE char *command = hone_sprintf("rm -rf %s", rig->dir);
    hone_peer_close(rig->peer);
    hone_runtime_close(rig->runtime);
    for (size_t i = 0; i < rig->n_sent; i++)
        free(rig->sent[i]);
    ck_assert_int_eq(system(command), 0);
    pthread_mutex_destroy(&rig->lock);
}

static void say(struct rig *rig, const char *text)
{
    hone_peer_receive(rig->peer, text, strlen(text));
}

#endif
