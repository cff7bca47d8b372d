/* SPDX-License-Identifier: Apache-2.0 */
/* Machine or candidate: the rule, on lives that are told beforehand. */
#include "tests/unit/unit.h"

#include <string.h>

#include "tools/runner/judge/blame.h"

struct script { /* '.': works, 'x': fails, 'e': a negative result, 'c': cancelled */
    const char *mine, *theirs;
    int n_mine, n_theirs;
};

static int live(void *arg, bool is_yardstick, struct hone_outcome *ret, struct hone_err *err)
{
    struct script *s = arg;
    char how = is_yardstick ? s->theirs[s->n_theirs++] : s->mine[s->n_mine++];
    ck_assert_int_ne(how, '\0');
    if (how == 'x')
        hone_outcome_set(ret, HONE_REASON_INFRA, "fails");
    if (how == 'e')
        return hone_fail(err, HONE_E_TARGET, "an error");
    return how == 'c' ? hone_fail(err, HONE_E_CANCEL, "stopped") : 0;
}

static const struct {
    const char *mine, *theirs;
    enum hone_blame want;
    int lives; /* of both */
} cases[] = {
    {"xx", "...", HONE_BLAME_ARM, 5},       {"ee", "...", HONE_BLAME_ARM, 5},
    {".x.x", ".....", HONE_BLAME_ARM, 9},   {"...xx", "......", HONE_BLAME_ARM, 11},
    {"....", "....", HONE_BLAME_NOBODY, 8}, {"x....", ".....", HONE_BLAME_NOBODY, 10}, /* chance */
    {"", "x", HONE_BLAME_MACHINE, 1},       {"x", ".x", HONE_BLAME_MACHINE, 3},
    {"xx", "..x", HONE_BLAME_MACHINE, 5},   {"", "e", HONE_BLAME_MACHINE, 1},
};

START_TEST(the_rule)
{
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        struct script s = {.mine = cases[i].mine, .theirs = cases[i].theirs};
        enum hone_blame got = HONE_BLAME_ARM;
        struct hone_outcome last = HONE_OUTCOME_INIT;
        struct hone_err err = HONE_ERR_INIT;
        ck_assert_int_eq(hone_blame_decide(HONE_BLAME_BY_LIVES, live, &s, &got, &last, &err), 0);
        ck_assert_msg(got == cases[i].want && s.n_mine + s.n_theirs == cases[i].lives,
                      "case %zu: %d after %d", i, (int)got, s.n_mine + s.n_theirs);
        ck_assert(got != HONE_BLAME_ARM || last.reason == HONE_REASON_INFRA);
    }
}
END_TEST

START_TEST(cancelled_is_nobody_s)
{
    struct script s = {.mine = "xc", .theirs = ".."};
    enum hone_blame got = HONE_BLAME_ARM;
    struct hone_outcome last = HONE_OUTCOME_INIT;
    struct hone_err err = HONE_ERR_INIT;
    ck_assert_int_eq(hone_blame_decide(HONE_BLAME_BY_LIVES, live, &s, &got, &last, &err),
                     HONE_E_CANCEL);
    ck_assert_int_eq(got, HONE_BLAME_MACHINE);
}
END_TEST

/* A reason that counts is kept; one that does not becomes `unruly`, with the first end's words. */
START_TEST(words)
{
    struct hone_outcome was = HONE_OUTCOME_INIT, last = HONE_OUTCOME_INIT, got = HONE_OUTCOME_INIT;
    hone_outcome_set(&was, HONE_REASON_INFRA, "a buffer could not be mapped");
    hone_outcome_set(&last, HONE_REASON_CRASH, "signal 11");
    hone_blame_word(&was, &last, &got);
    ck_assert_int_eq(got.reason, HONE_REASON_CRASH);
    ck_assert_ptr_nonnull(strstr(got.detail, "signal 11; tried again"));
    hone_outcome_set(&last, HONE_REASON_NO_JAIL, "no jail");
    hone_blame_word(&was, &last, &got);
    ck_assert_int_eq(got.reason, HONE_REASON_UNRULY);
    ck_assert_ptr_nonnull(strstr(got.detail, "a buffer could not be mapped; tried again"));
    ck_assert(hone_reason_row(got.reason)->counts_against_coder);
}
END_TEST

UNIT_MAIN("blame", the_rule, cancelled_is_nobody_s, words)
