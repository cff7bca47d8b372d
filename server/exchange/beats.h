/* SPDX-License-Identifier: Apache-2.0 */
/* Signs of life of calls that say nothing. Hosts give up on a call after a silence (60 s is common)
 * and count anew with each notification of progress. One thread, started with the first call that
 * is listed, asks every listed call every gap_ms to say something. */
#ifndef HONE_SERVER_BEATS_H
#define HONE_SERVER_BEATS_H

#include <stdint.h>

struct hone_beats; /* opaque */

struct hone_beat {         /* part of the call; the fields are the module's but for fn and arg */
    void (*fn)(void *arg); /* on the thread of the beats; calls nothing of this module */
    void *arg;             /* of fn */
    struct hone_beat *next, **at; /* at NULL: not listed */
};

struct hone_beats *hone_beats_new(int64_t gap_ms);
/* Any thread. Without a thread to be had nothing is listed: a call needs no signs of life. */
void hone_beats_add(struct hone_beats *beats, struct hone_beat *beat);
/* Waits for a running fn; a beat that is not listed is fine. */
void hone_beats_remove(struct hone_beats *beats, struct hone_beat *beat);
void hone_beats_free(struct hone_beats *beats); /* when nothing is listed; NULL is fine */

#endif
