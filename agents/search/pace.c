/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/search/pace.h"

#include <math.h>
#include <string.h>

#include "tools/format/verdict.h"

/* Of decide and confirm on a CPU: sum 2.8, matmul 4.4, softmax 3 to 7 a size. */
#define SCREENS_A_SIZE 4.0
/* On an H200, one size: decides 1.5 to 5 screens, confirmations 5 to 16, but 8 s at least. */
#define SCREENS_A_SIZE_DEVICE 2.0
#define LEAST_DEVICE_MS       14000.0
#define DRAWN_SIZES           3 /* that a confirmation adds */
#define LEAST_SCREENS         24.0 /* of one: 19 to 23 s of a task of one size whose screens took 0.8 s */
/* What a drawn size costs beside a public one. Confirmations of tasks of one size took 1.5 to 3.4
 * times the longer look, of three sizes 1.6 to 2.4 times. */
#define SHARE_OF_DRAWN  0.6
#define FAR             4.0  /* times the guess: no single slow look shuts confirmations out */
#define UNSEEN          2.5  /* times the guess: the room of the first look */
#define RESERVE_LEAST   0.25 /* of the cap */
#define RESERVE_MOST    0.9
#define RESERVE_GUESSED 0.5 /* at most, until one was seen: guesses are two to six times too long */
#define SHORTENED       0.75   /* of a confirmation: less time is kept back for none */
#define LAST            0.3    /* ... and where nothing else is left to do */
#define MARGIN          1.1    /* so that the next screens do not shut the confirmation out */
#define RISE            8      /* a share of it: looks are counted by the shorter screens */
#define RESERVE_MOST_MS 120000 /* of what is kept back beyond the need */
#define SCREENS_BEFORE  8      /* before a confirmation is worth its time */
#define ROUNDED_MS      5000
#define LEAST_TIMING_MS 1000
#define MOST_TIMING_MS  30000

static double guess(const struct hone_pace *p, size_t n_drawn)
{
    double screens = p->is_device ? SCREENS_A_SIZE_DEVICE : SCREENS_A_SIZE;
    return screens * (double)((p->n_sizes > 0 ? p->n_sizes : 1) + n_drawn);
}

/* What was seen, within reason. */
static double in_screens(const struct hone_pace *p, int64_t ms, size_t n_drawn)
{
    double screens = (double)ms / (double)p->usual_ms;
    return fmin(fmax(screens, 1), FAR * guess(p, n_drawn));
}

int64_t hone_pace_screen_ms_with(const struct hone_pace *p, int64_t ms)
{
    return hone_max_i64(p->screen_ms * 9 / 10, ms);
}

static void note_screen(struct hone_pace *p, int64_t ms)
{
    int64_t more = ms - p->usual_ms;
    p->screen_ms = hone_pace_screen_ms_with(p, ms);
    p->usual_ms = p->usual_ms == 0 ? ms : p->usual_ms + more / (more > 0 ? RISE : 2);
}

/* One that says nothing for certain may have been cut short: it teaches no shorter time. */
static void note_confirm(struct hone_pace *p, const struct hone_event_result *r, int64_t ms)
{
    bool is_open = strcmp(r->verdict, hone_verdict_name(HONE_VERDICT_INCONCLUSIVE)) == 0;
    double known = (double)hone_pace_confirm_ms(p) / (double)p->usual_ms;
    double seen = in_screens(p, ms, DRAWN_SIZES);
    p->confirm = is_open ? fmax(seen, known) : seen;
}

void hone_pace_note(struct hone_pace *p, const struct hone_event_result *r, int64_t ms)
{
    enum hone_result_kind kind = hone_event_kind(r);
    if (!r->verdict || ms <= 0)
        return;
    if (kind == HONE_KIND_ROOT || kind == HONE_KIND_EXPAND)
        note_screen(p, ms);
    else if (kind == HONE_KIND_DECIDE && p->usual_ms > 0)
        p->look = in_screens(p, ms, 0);
    else if (kind == HONE_KIND_CONFIRM && p->usual_ms > 0)
        note_confirm(p, r, ms);
}

int64_t hone_pace_look_ms(const struct hone_pace *p)
{
    return (int64_t)((double)p->usual_ms * (p->look > 0 ? p->look : guess(p, 0)));
}

/* A confirmation of a task whose longer look takes so many screens. */
static double confirm_by_look(const struct hone_pace *p, double look)
{
    double more = guess(p, DRAWN_SIZES) / guess(p, 0) - 1;
    return look * (1 + SHARE_OF_DRAWN * more);
}

/* A first look that turns out dear makes the confirmation dear: both need room. */
int64_t hone_pace_look_room_ms(const struct hone_pace *p)
{
    double look = UNSEEN * guess(p, 0), kept = (double)hone_pace_confirm_ms(p);
    double confirm = p->confirm > 0 ? p->confirm : confirm_by_look(p, look);
    if (p->look > 0)
        return hone_pace_look_ms(p);
    return (int64_t)((double)p->usual_ms * (look + confirm) - kept);
}

int64_t hone_pace_confirm_ms(const struct hone_pace *p)
{
    double screens = p->confirm > 0 ? p->confirm
                     : p->look > 0  ? confirm_by_look(p, p->look)
                     : p->is_device ? guess(p, DRAWN_SIZES)
                                    : fmax(guess(p, DRAWN_SIZES), LEAST_SCREENS);
    double least_ms = p->is_device && p->confirm <= 0 && p->usual_ms > 0 ? LEAST_DEVICE_MS : 0;
    return (int64_t)fmax((double)p->usual_ms * screens, least_ms);
}

int64_t hone_pace_least_confirm_ms(const struct hone_pace *p)
{
    return (int64_t)(SHORTENED * (double)hone_pace_confirm_ms(p));
}

int64_t hone_pace_last_confirm_ms(const struct hone_pace *p)
{
    return (int64_t)(LAST * (double)hone_pace_confirm_ms(p));
}

int64_t hone_pace_sweep_ms(const struct hone_pace *p, size_t n_settings)
{
    return p->usual_ms * (int64_t)n_settings;
}

/* All in the first rung, a third of them in the second. */
int64_t hone_pace_settings(const struct hone_pace *p, int64_t room_ms)
{
    int64_t each = hone_max_i64(100, p->usual_ms * 4 / 3);
    return hone_max_i64(0, room_ms / 2 / each);
}

int64_t hone_pace_reserve_ms(const struct hone_pace *p, int64_t cap_ms, int64_t left_ms)
{
    bool is_guess = p->confirm <= 0;
    int64_t needs = hone_pace_confirm_ms(p), kept = (int64_t)(MARGIN * (double)needs);
    int64_t least = is_guess ? hone_pace_last_confirm_ms(p) : hone_pace_least_confirm_ms(p);
    int64_t share = (int64_t)(RESERVE_LEAST * (double)cap_ms);
    if ((double)needs > RESERVE_MOST * (double)cap_ms || least > left_ms)
        return 0;
    if (is_guess)
        kept = hone_min_i64(kept, (int64_t)(RESERVE_GUESSED * (double)cap_ms));
    return hone_max_i64(kept, hone_min_i64(share, RESERVE_MOST_MS));
}

int64_t hone_pace_cap_ms(const struct hone_pace *p)
{
    int64_t confirm = (int64_t)(MARGIN * (double)hone_pace_confirm_ms(p));
    int64_t needs = hone_max_i64(confirm + SCREENS_BEFORE * p->usual_ms,
                                 (int64_t)((double)confirm / RESERVE_MOST) + 1);
    return (needs + ROUNDED_MS - 1) / ROUNDED_MS * ROUNDED_MS;
}

int64_t hone_pace_timing_ms(const struct hone_pace *p, int64_t cap_ms, int64_t left_ms)
{
    int64_t spare = hone_max_i64(0, left_ms - hone_pace_confirm_ms(p));
    int64_t least = hone_min_i64(LEAST_TIMING_MS, hone_max_i64(1, cap_ms / 8));
    return hone_max_i64(least, hone_min_i64(MOST_TIMING_MS, spare * 45 / 100));
}
