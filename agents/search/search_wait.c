/* SPDX-License-Identifier: Apache-2.0 */
/* The wall cap and what a search waits for: what could pass the cap does not begin, waiting for the
 * timing lease ends with the cap, and who holds it is said. */
#include "agents/search/search_internal.h"

#include <string.h>

#include "workspace/base/clock.h"

#define RESERVE_SHARE   0.25 /* of the cap, for the confirmation */
#define RESERVE_MOST    0.5  /* the same, where one evaluation takes long */
#define RESERVE_MOST_MS 120000
#define LEAST_TIMING_MS 1000
#define SCREENS_BESIDE  2 /* builds and checks of a confirmation, in screens */
#define LEAST_WAIT_MS   1000
#define TELL_EVERY_NS   (10 * HONE_NS_PER_S)
#define WAITING         "waiting for "

int64_t hone_search_confirm_timing_ms(const struct hone_search *s)
{
    int64_t cap = s->options->budget_wall_ms;
    return cap > 0 ? hone_min_i64(LEAST_TIMING_MS, cap / 8) : LEAST_TIMING_MS;
}

int64_t hone_search_confirm_needs_ms(const struct hone_search *s)
{
    if (s->state.confirm_ms > 0)
        return s->state.confirm_ms;
    return SCREENS_BESIDE * s->state.screen_ms + hone_search_confirm_timing_ms(s);
}

int64_t hone_search_reserve_ms(const struct hone_search *s)
{
    double cap = (double)s->options->budget_wall_ms;
    int64_t most = (int64_t)(RESERVE_MOST * cap);
    if (s->options->budget_wall_ms <= 0)
        return 0;
    int64_t wanted = hone_max_i64((int64_t)(RESERVE_SHARE * cap), hone_search_confirm_needs_ms(s));
    return hone_min_i64(RESERVE_MOST_MS, hone_min_i64(most, wanted));
}

bool hone_search_confirm_fits(struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s), needs = hone_search_confirm_needs_ms(s);
    if (left == INT64_MAX || needs <= left)
        return true;
    hone_search_tell(s, "no confirmation begins: one takes about %.2g s here, %.2g s are left",
                     (double)needs / 1e3, (double)left / 1e3);
    return false;
}

void hone_search_tell_forecast(struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s), each = hone_max_i64(s->state.screen_ms, 1);
    if (left == INT64_MAX)
        return;
    int64_t n = hone_max_i64(left - hone_search_reserve_ms(s), 0) / each;
    hone_search_tell(s, "one evaluation takes about %.2g s here: %.3g s give about %lld%s",
                     (double)each / 1e3, (double)s->options->budget_wall_ms / 1e3, (long long)n,
                     hone_search_confirm_needs_ms(s) <= left ? " and a confirmation"
                                                             : " and no confirmation");
}

int64_t hone_search_lease_wait_ms(const struct hone_search *s, const struct hone_attempt *a)
{
    int64_t left = hone_search_left_ms(s);
    bool is_confirm = strcmp(a->tier, "confirm") == 0;
    if (left == INT64_MAX)
        return 0;
    int64_t own = a->budget_ms + s->state.screen_ms * (is_confirm ? SCREENS_BESIDE : 1);
    return hone_max_i64(LEAST_WAIT_MS, left - own);
}

void hone_search_on_wait(void *arg, const struct hone_progress *progress)
{
    struct hone_search_wait *wait = arg;
    const char *message = progress->message != NULL ? progress->message : "";
    int64_t now = hone_now_ns();
    if (strncmp(message, WAITING, strlen(WAITING)) != 0 ||
        (wait->told_ns > 0 && now - wait->told_ns < TELL_EVERY_NS))
        return;
    wait->told_ns = now;
    hone_search_tell(wait->search, "%s", message);
}

int64_t hone_search_count_wait(struct hone_search *s, const struct hone_report *report)
{
    const struct hone_stage_report *stages = report->stages.v;
    int64_t ms = 0;
    for (size_t i = 0; i < report->stages.n; i++)
        if (strcmp(stages[i].name, "lease") == 0)
            ms += stages[i].wall_ns / HONE_NS_PER_MS;
    s->waited_ms += ms;
    return ms;
}

void hone_search_tell_wait(struct hone_search *s)
{
    if (s->waited_ms >= LEAST_WAIT_MS)
        hone_search_tell(s, "waited %.3g s in all for other timings on this machine",
                         (double)s->waited_ms / 1e3);
}
