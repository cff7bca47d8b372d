/* What a model that edits is told, and what it may say beside an edit. */
#include "tests/unit/unit.h"

#include <string.h>

#include "agents/coder_rules.h"
#include "tests/unit/agents/model_search.h"
#include "workspace/ledger.h"

/* ---- steps that are declined ---- */

struct declined {
    int n;
    bool has_reason, has_repeat;
    char anchors[16][HONE_ANCHOR_BYTES + 32];
};

static int count_declined(void *arg, uint64_t n, int64_t wall_ms, const char *type,
                          const struct hone_json *data, struct hone_err *err)
{
    struct declined *d = arg;
    char key[HONE_ANCHOR_BYTES + 32];
    (void)n;
    (void)wall_ms;
    (void)err;
    if (strcmp(type, "search.result") != 0 || strcmp(hone_json_get_str(data, "kind", ""), "expand"))
        return 0;
    snprintf(key, sizeof(key), "%s/%s/%d", hone_json_get_str(data, "rewrite", ""),
             hone_json_get_str(data, "anchor", ""), (int)hone_json_get_i64(data, "parent", 0));
    for (int i = 0; i < d->n; i++)
        d->has_repeat = d->has_repeat || strcmp(d->anchors[i], key) == 0;
    if (!hone_json_get_bool(data, "is_declined", false) || d->n == 16)
        return 0;
    snprintf(d->anchors[d->n++], sizeof(key), "%s", key);
    d->has_reason =
        strcmp(hone_json_get_str(data, "note", ""), "declined: nothing to tile here") == 0;
    return 0;
}

START_TEST(a_declined_step_is_not_repaired)
{
    struct fixture f;
    open_fixture(&f, "case $n in 1|2) printf 'No.\\n@@DECLINE\\nnothing to tile "
                     "here\\n@@END\\n' ;; *) " GOOD " ;; esac");
    ck_assert_msg(search(&f, "llm", NULL, NULL, 6) == 0, "%s", f.err.message);
    ck_assert_msg(f.result.speedup > 4, "%g", f.result.speedup);
    ck_assert_ptr_null(strstr(get(&f, "prompt2"), "This is repair"));
    ck_assert_ptr_null(strstr(get(&f, "prompt3"), "This is repair"));
    struct declined d = {.n = 0};
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f.ws), 0, count_declined, &d, NULL), 0);
    ck_assert_int_ge(d.n, 2);
    ck_assert(d.has_reason && !d.has_repeat);
    /* a later round knows: what was declined is not asked for again from that version */
    ck_assert_msg(search(&f, "llm", NULL, NULL, 9) == 0, "%s", f.err.message);
    d = (struct declined){.n = 0};
    ck_assert_int_eq(hone_ledger_scan(hone_workspace_ledger(f.ws), 0, count_declined, &d, NULL), 0);
    ck_assert_int_ge(d.n, 2);
    ck_assert(!d.has_repeat);
    close_fixture(&f);
}
END_TEST

START_TEST(a_failure_stays_one_when_its_repair_declines)
{
    struct fixture f;
    open_fixture(&f, "case $n in 1) printf '@@SEARCH\\n        float sum = "
                     "0.0f;\\n@@WITH\\n        float sum = broken;\\n@@END\\n' ;; "
                     "*) printf '@@DECLINE\\nnothing to tile here\\n@@END\\n' ;; esac");
    ck_assert_msg(search(&f, "llm", NULL, NULL, 6) == 0, "%s", f.err.message);
    ck_assert_ptr_nonnull(strstr(get(&f, "prompt2"), "This is repair 1"));
    ck_assert_ptr_null(strstr(get(&f, "prompt3"), "This is repair"));
    ck_assert_int_lt(n_asked(&f), 120); /* and a model that declines everything ends it */
    close_fixture(&f);
}
END_TEST

UNIT_MAIN("coder_prompt", a_declined_step_is_not_repaired,
          a_failure_stays_one_when_its_repair_declines)
