/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's oracle is guessed to cost, and which of its answers a job affords. */
#include "tests/unit/unit.h"
#include "tools/runner/cuda/judge/host_pace.h"
#include "workspace/base/clock.h"

#define S ((double)HONE_NS_PER_S)

START_TEST(test_guesses_by_the_largest_answer)
{
    struct hone_host_pace pace = {0};
    ck_assert(hone_host_pace_ns(&pace, "a", 1e9, 1) == 1.5e9);
    ck_assert(hone_host_pace_ns(&pace, "a", 1e9, 10) == 1.5e8);
    hone_host_pace_note(&pace, "a", 1e6, 100 * HONE_NS_PER_MS);
    ck_assert(hone_host_pace_ns(&pace, "a", 1e7, 1) == 1 * S);
    hone_host_pace_note(&pace, "a", 1e5, 1 * HONE_NS_PER_S); /* smaller: says less */
    ck_assert(hone_host_pace_ns(&pace, "a", 1e7, 1) == 1 * S);
    hone_host_pace_note(&pace, "a", 1e7, 2 * HONE_NS_PER_S);
    ck_assert(hone_host_pace_ns(&pace, "a", 1e7, 1) == 2 * S);
    hone_host_pace_note(&pace, "a", 1e9, HONE_NS_PER_MS); /* too short to be timed: 2 ms at most */
    ck_assert(hone_host_pace_ns(&pace, "a", 1e12, 1) == 2 * S);
    struct hone_host_pace other = {0};
    hone_host_pace_note(&other, "a", 1e3, HONE_NS_PER_MS); /* mostly the asking: says nothing */
    ck_assert(hone_host_pace_ns(&other, "a", 1e9, 1) == 1.5e9);
}
END_TEST

START_TEST(test_knows_one_task)
{
    struct hone_host_pace pace = {0};
    hone_host_pace_note(&pace, "a", 1e7, 2 * HONE_NS_PER_S);
    ck_assert(hone_host_pace_ns(&pace, "b", 1e9, 1) == 1.5e9);
    hone_host_pace_note(&pace, "b", 1e3, 10 * HONE_NS_PER_MS);
    ck_assert(hone_host_pace_ns(&pace, "b", 1e6, 1) == 10 * S);
    hone_host_pace_note(&pace, "b", 0, HONE_NS_PER_S); /* no operations: nothing to divide by */
    ck_assert(hone_host_pace_ns(&pace, "b", 1e6, 1) == 10 * S);
}
END_TEST

START_TEST(test_affords_five_limits)
{
    struct hone_host_pace pace = {0};
    const int64_t limit = 5 * HONE_NS_PER_S;
    ck_assert(hone_host_pace_allows(&pace, 5 * S, limit));
    ck_assert(!hone_host_pace_allows(&pace, 5.1 * S, limit));
    pace.spent_ns = 21 * HONE_NS_PER_S;
    ck_assert(hone_host_pace_allows(&pace, 4 * S, limit));
    ck_assert(!hone_host_pace_allows(&pace, 4.1 * S, limit));
    pace.spent_ns = 60 * HONE_NS_PER_S;
    ck_assert(!hone_host_pace_allows(&pace, 0.06 * S, limit));
    ck_assert(hone_host_pace_allows(&pace, 0.05 * S, limit)); /* next to nothing */
    ck_assert(hone_host_pace_allows(&pace, 5 * S, INT64_MAX));
}
END_TEST

UNIT_MAIN("host_pace", test_guesses_by_the_largest_answer, test_knows_one_task,
          test_affords_five_limits)
