/* SPDX-License-Identifier: Apache-2.0 */
#include "server/exchange/round.h"

#include "workspace/base/limits.h"

int hone_round_open(struct hone_round *round, const struct hone_json *able,
                    struct hone_json *earlier, const struct hone_json *responses,
                    struct hone_err *err)
{
    *round = (struct hone_round){.bad = HONE_ERR_INIT};
    round->given = earlier != NULL ? earlier : hone_json_new_object();
    if (responses != NULL && hone_json_type(responses) != HONE_JSON_OBJECT)
        return hone_fail_at(err, HONE_E_ARG, "params.inputResponses",
                            "params.inputResponses must be an object");
    if (hone_json_size(responses) > HONE_LIMIT_RESPONSES)
        return hone_fail_at(err, HONE_E_LIMIT, "params.inputResponses",
                            "params.inputResponses has at most %d members", HONE_LIMIT_RESPONSES);
    round->able = able != NULL ? hone_json_copy(able) : hone_json_new_object();
    round->used = hone_json_new_object();
    round->asked = hone_json_new_object();
    round->needed = hone_json_new_object();
    for (const struct hone_json *r = hone_json_first(responses); r != NULL; r = hone_json_next(r))
        if (hone_json_get(round->given, hone_json_key(r)) == NULL)
            hone_json_set(round->given, hone_json_key(r), hone_json_copy(r));
    return 0;
}

static void ask_one(struct hone_round *round, struct hone_pool *pool, struct hone_ask *ask)
{
    const struct hone_json *answer = hone_json_get(round->given, ask->key);
    struct hone_err err = HONE_ERR_INIT;
    if (!hone_ask_can(round->able, ask)) {
        if (!ask->is_optional)
            hone_ask_need(ask, round->needed);
    } else if (answer == NULL) {
        hone_json_set(round->asked, ask->key, hone_ask_request(ask));
    } else if (hone_ask_check(ask->method, answer, &err) < 0) {
        hone_wrap(&err, "params.inputResponses.%s", ask->key);
        round->bad = err;
    } else {
        hone_json_set(round->used, ask->key, hone_json_copy(answer));
        hone_ask_fill(ask, answer, pool);
    }
}

bool hone_round_has_ended(const struct hone_round *round)
{
    return round->bad.code != HONE_OK || hone_json_size(round->needed) > 0 ||
           hone_json_size(round->asked) > 0;
}

int hone_round_ask(struct hone_round *round, struct hone_pool *pool, struct hone_ask *asks,
                   size_t n, struct hone_err *err)
{
    for (size_t i = 0; i < n; i++)
        ask_one(round, pool, &asks[i]);
    if (hone_round_has_ended(round))
        return hone_fail(err, HONE_E_CANCEL, "the client is asked first");
    return 0;
}

void hone_round_done(struct hone_round *round)
{
    hone_json_free(round->able);
    hone_json_free(round->given);
    hone_json_free(round->used);
    hone_json_free(round->asked);
    hone_json_free(round->needed);
    *round = (struct hone_round){.bad = HONE_ERR_INIT};
}
