/* SPDX-License-Identifier: Apache-2.0 */
/* The wall cap of a search and what it waits for. What cannot fit is not begun, by the one estimate
 * of pace.h; a forecast is told after the baseline. Waits for the timing lease take nothing of the
 * cap: their length and who holds the lease are said while they last and in the result. */
#include "agents/search/search_internal.h"

#include <stdio.h>
#include <string.h>

#include "workspace/base/clock.h"

#define LEAST_WAIT_MS 1000
#define TELL_EVERY_NS (10 * HONE_NS_PER_S)
#define WAITING       "waiting for "
#define HELD_BY       "held by "

int64_t hone_search_now_ns(const struct hone_search *s)
{
    const struct hone_search_options *o = s->options;
    return o->now_ns ? o->now_ns(o->now_arg) : hone_now_ns();
}

int64_t hone_search_elapsed_ms(const struct hone_search *s)
{
    return s->elapsed_before_ms + (hone_search_now_ns(s) - s->start_ns) / HONE_NS_PER_MS;
}

int64_t hone_search_left_ms(const struct hone_search *s)
{
    if (s->options->budget_wall_ms <= 0)
        return INT64_MAX;
    return hone_max_i64(0, s->options->budget_wall_ms - hone_search_elapsed_ms(s));
}

int64_t hone_search_room_ms(const struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s);
    if (left == INT64_MAX)
        return left;
    return hone_max_i64(0, left - hone_pace_reserve_ms(&s->pace, s->options->budget_wall_ms, left));
}

/* ---- forecasts ---- */

static double seconds(int64_t ms)
{
    return (double)ms / 1e3;
}

void hone_search_tell_unconfirmed(struct hone_search *s)
{
    int64_t left = hone_search_left_ms(s), needs = hone_pace_confirm_ms(&s->pace);
    if (needs <= left)
        return;
    s->unconfirmed = hone_pool_printf(
        s->pool,
        "a confirmation takes about %.2g s here, %.2g s were left; --budget-wall %.0fs has room",
        seconds(needs), seconds(left), seconds(hone_pace_cap_ms(&s->pace)));
    hone_search_tell(s, "no confirmation begins: %s", s->unconfirmed);
}

void hone_search_tell_forecast(struct hone_search *s)
{
    int64_t room = hone_search_room_ms(s), cap = s->options->budget_wall_ms;
    const struct hone_pace *p = &s->pace;
    if (room == INT64_MAX)
        return;
    long long n = (long long)(room / hone_max_i64(p->usual_ms, 1));
    double each = seconds(p->usual_ms), confirm = seconds(hone_pace_confirm_ms(p));
    if (hone_pace_reserve_ms(p, cap, hone_search_left_ms(s)) > 0)
        hone_search_tell(s,
                         "one evaluation takes about %.2g s here, a confirmation about %.2g s: "
                         "%.3g s give about %lld and a confirmation",
                         each, confirm, seconds(cap), n);
    else
        hone_search_tell(s,
                         "one evaluation takes about %.2g s here, a confirmation about %.2g s: "
                         "%.3g s are too few for a confirmation, --budget-wall %.0fs is enough",
                         each, confirm, seconds(cap), seconds(hone_pace_cap_ms(p)));
}

const char *hone_search_cost_words(struct hone_search *s, int64_t ms)
{
    return ms > 0 ? hone_pool_printf(s->pool, ", about %.2g s", seconds(ms)) : "";
}

/* ---- waits ---- */

static void note_holder(struct hone_search *s, const char *message)
{
    const char *holder = strstr(message, HELD_BY);
    if (holder)
        snprintf(s->waited_for, sizeof(s->waited_for), "%s", holder + strlen(HELD_BY));
}

void hone_search_on_wait(void *arg, const struct hone_progress *progress)
{
    struct hone_search_wait *wait = arg;
    const char *message = progress->message != NULL ? progress->message : "";
    int64_t now = hone_now_ns();
    if (strncmp(message, WAITING, strlen(WAITING)) != 0)
        return;
    note_holder(wait->search, message);
    if (wait->told_ns > 0 && now - wait->told_ns < TELL_EVERY_NS)
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
    s->start_ns += ms * HONE_NS_PER_MS; /* budgets are for work */
    return ms;
}

void hone_search_tell_wait(struct hone_search *s)
{
    if (s->waited_ms >= LEAST_WAIT_MS)
        hone_search_tell(s, "waited %.3g s in all for other timings on this machine%s%s",
                         seconds(s->waited_ms), s->waited_for[0] ? ", last for " : "",
                         s->waited_for);
}
