/* SPDX-License-Identifier: Apache-2.0 */
/* A call that says nothing shows that it lives: hosts count anew with each notification, and give up
 * after a silence. */
#include "server/exchange/beats.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "server/rpc/mcp.h"
#include "tests/unit/server/peer_rig.h"
#include "tests/unit/unit.h"
#include "workspace/base/clock.h"

/* ---- a tool without a word, a transport that keeps what is sent ---- */

struct in {
    int64_t ms;
};
struct out {
    struct hone_head head;
};
static const struct hone_field in_fields[] = {
    HONE_FIELD(struct in, ms, .min = 0, .max = 10000, .help = "How long."),
};
static const struct hone_field out_fields[] = {HONE_HEAD_FIELDS(struct out)};

static int run_quiet(struct hone_tool_ctx *ctx, const void *in, void *out, struct hone_err *err)
{
    struct out *o = out;
    (void)ctx;
    (void)err;
    usleep((useconds_t)((const struct in *)in)->ms * 1000);
    o->head.status = "ok";
    o->head.summary = "quiet";
    return 0;
}

static const struct hone_tool quiet_tool = {.name = "quiet",
                                            .title = "quiet",
                                            .summary = "quiet",
                                            .description = "quiet",
                                            .in = in_fields,
                                            .n_in = HONE_COUNTOF(in_fields),
                                            .in_size = sizeof(struct in),
                                            .out = out_fields,
                                            .n_out = HONE_COUNTOF(out_fields),
                                            .out_size = sizeof(struct out),
                                            .run = run_quiet};
static const struct hone_tool *const tools[] = {&quiet_tool};
static const struct hone_tool_set set = {tools, HONE_COUNTOF(tools)};
static const struct hone_tool_set *const sets[] = {&set};

static void rig_open(struct rig *rig)
{
    rig_start(rig,
              (struct hone_app_spec){.n_workers = 1, .beat_ms = 100, .sets = sets, .n_sets = 1},
              (struct hone_mcp){.runtime = NULL});
}

static void initialize(struct rig *rig)
{
    say(rig, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}");
    say(rig, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    ck_assert(hone_peer_wait_idle(rig->peer, hone_deadline_in_ms(5000)));
}

#define CALL(id, ms, meta)                                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"quiet\"," \
    "\"arguments\":{\"ms\":" ms "}" meta "}}"
#define TOKEN(text) ",\"_meta\":{\"progressToken\":\"" text "\"}"

/* How many notifications of the token's call came, in rising order; the texts of the first and the last. */
static size_t beats_of(struct rig *rig, const char *token, char text[2][64])
{
    double last = -1;
    size_t n = 0;
    for (size_t i = 0; i < rig->n_sent; i++) {
        struct hone_err err = HONE_ERR_INIT;
        HONE_AUTOJSON struct hone_json *message = NULL;
        ck_assert_int_eq(hone_json_parse(rig->sent[i], strlen(rig->sent[i]), &message, &err), 0);
        const struct hone_json *params = hone_json_get(message, "params");
        if (params == NULL || strcmp(hone_json_get_str(params, "progressToken", ""), token) != 0)
            continue;
        const char *message_text = hone_json_get_str(params, "message", "");
        snprintf(text[1], sizeof(text[1]), "%s", message_text);
        if (n++ == 0)
            strcpy(text[0], text[1]);
        ck_assert(hone_json_get_f64(params, "progress", -1) > last);
        last = hone_json_get_f64(params, "progress", -1);
    }
    return n;
}

START_TEST(a_silent_call_shows_that_it_lives)
{
    struct rig rig;
    char text[2][64];
    rig_open(&rig);
    initialize(&rig);
    say(&rig, CALL("1", "1200", TOKEN("first")));
    say(&rig, CALL("2", "0", TOKEN("second"))); /* behind it */
    ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(10000)));
    ck_assert_uint_ge(beats_of(&rig, "first", text), 3);
    ck_assert_msg(strncmp(text[1], "running, ", 9) == 0, "%s", text[1]);
    ck_assert_uint_ge(beats_of(&rig, "second", text), 3);
    ck_assert_msg(strncmp(text[0], "waiting for a worker, ", 22) == 0, "%s", text[0]);
    rig_close(&rig);
}
END_TEST

START_TEST(who_did_not_ask_or_is_quick_hears_the_answer_alone)
{
    struct rig rig;
    rig_open(&rig);
    initialize(&rig);
    size_t before = rig.n_sent;
    say(&rig, CALL("1", "1000", ""));
    ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(10000)));
    say(&rig, CALL("2", "0", TOKEN("quick")));
    ck_assert(hone_peer_wait_idle(rig.peer, hone_deadline_in_ms(10000)));
    ck_assert_uint_eq(rig.n_sent - before, 2);
    rig_close(&rig);
}
END_TEST

static void count_one(void *arg)
{
    ++*(int *)arg;
}

START_TEST(what_is_removed_is_not_called)
{
    struct hone_beats *beats = hone_beats_new(10);
    struct hone_beat list[3] = {0};
    int n[3] = {0};
    for (int i = 0; i < 3; i++) {
        list[i] = (struct hone_beat){.fn = count_one, .arg = &n[i]};
        hone_beats_add(beats, &list[i]);
    }
    hone_beats_remove(beats, &list[1]);
    hone_beats_remove(beats, &list[1]);
    int then = n[1];
    usleep(300000);
    hone_beats_remove(beats, &list[0]);
    hone_beats_remove(beats, &list[2]);
    ck_assert_int_ge(n[0], 3);
    ck_assert_int_ge(n[2], 3);
    ck_assert_int_eq(n[1], then);
    hone_beats_free(beats);
    hone_beats_free(hone_beats_new(10)); /* never used */
}
END_TEST

UNIT_MAIN("beats", a_silent_call_shows_that_it_lives,
          who_did_not_ask_or_is_quick_hears_the_answer_alone, what_is_removed_is_not_called)
