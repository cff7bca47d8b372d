/* SPDX-License-Identifier: Apache-2.0 */
#include "server/rpc/mcp_texts.h"

#include <stdlib.h>
#include <string.h>
#include "server/page/choices.h"
#include "server/page/version_facts.h"
#include "workspace/base/limits.h"
#include "workspace/history.h"
#include "workspace/ledger.h"

char *hone_mcp_profile_text(const struct hone_mcp *mcp, const char *rev)
{
    HONE_AUTOJSON struct hone_json *profile =
        hone_version_profile(hone_runtime_app(mcp->runtime)->ws, rev);
    return profile != NULL ? hone_json_print_pretty(profile) : NULL;
}

char *hone_mcp_measured_text(const struct hone_mcp *mcp, const char *rev)
{
    HONE_AUTOJSON struct hone_json *facts =
        hone_version_facts(hone_runtime_app(mcp->runtime)->ws, rev);
    return facts != NULL ? hone_json_print(facts) : NULL;
}

struct answers {
    const char *search;
    char id[64]; /* of the latest search of that name; "": none yet */
    struct hone_buf text;
};

/* A search has an id in the ledger; its runs say which name it has. */
static void note_run(struct answers *answers, const struct hone_json *data)
{
    const char *id = hone_json_get_str(data, "search", "");
    if ((strcmp(hone_json_get_str(data, "name", ""), answers->search) != 0 &&
         strcmp(id, answers->search) != 0) ||
        strcmp(id, answers->id) == 0 || strlen(id) >= sizeof(answers->id))
        return;
    memcpy(answers->id, id, strlen(id) + 1);
    answers->text.len = 0; /* an older search of the same name */
}

static int add_answer(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                      const struct hone_json *data, struct hone_err *err)
{
    struct answers *answers = arg;
    const char *fault = hone_json_get_str(data, "fault", NULL);
    const char *text = hone_json_get_str(data, fault ? "message" : "text", "");
    (void)n;
    (void)wall_ms;
    (void)err;
    if (strcmp(type, "search.run") == 0)
        note_run(answers, data);
    if (strcmp(type, "model.answer") != 0 || !answers->id[0] ||
        strcmp(hone_json_get_str(data, "search", ""), answers->id) != 0 ||
        answers->text.len > HONE_LIMIT_ANSWERS_TEXT_BYTES)
        return 0;
    hone_buf_printf(&answers->text, "==== %s, %s, %s, %lld tokens in, %lld out%s%s\n%s\n",
                    hone_json_get_str(data, "ask", ""), hone_json_get_str(data, "role", ""),
                    hone_json_get_str(data, "model", "no model"),
                    (long long)hone_json_get_i64(data, "tokens_in", 0),
                    (long long)hone_json_get_i64(data, "tokens_out", 0), fault ? ", " : "",
                    fault ? fault : "", text);
    return 0;
}

char *hone_mcp_answers_text(const struct hone_mcp *mcp, const char *search)
{
    static const char *const types[] = {"search.run", "model.answer", NULL};
    struct hone_ledger_place place = {0};
    struct answers answers = {.search = search, .text = HONE_BUF_INIT};
    int rc = hone_ledger_follow_types(hone_workspace_ledger(hone_runtime_app(mcp->runtime)->ws),
                                      types, &place, add_answer, &answers, NULL);
    if (rc == 0 && answers.text.len > 0 && !answers.text.has_failed)
        return hone_buf_steal(&answers.text);
    hone_buf_done(&answers.text);
    return NULL;
}

char *hone_mcp_choices_text(const struct hone_mcp *mcp, const char *search)
{
    static const char mark[] = "?step=";
    const char *at = strstr(search, mark);
    if (at == NULL)
        return NULL;
    HONE_AUTOFREE char *name = hone_strndup(search, (size_t)(at - search));
    const int64_t step = strtoll(at + strlen(mark), NULL, 10);
    HONE_AUTOJSON struct hone_json *json =
        hone_choices_json(hone_runtime_app(mcp->runtime)->ws, name, &step, 1);
    const struct hone_json *row = hone_json_first(json);
    return row != NULL ? hone_json_print(row) : NULL;
}
