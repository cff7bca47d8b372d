/* SPDX-License-Identifier: Apache-2.0 */
#include "server/exchange/beats.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include "workspace/base/clock.h"
#include "workspace/base/err.h"

struct hone_beats {
    pthread_mutex_t lock;
    pthread_cond_t has_changed; /* lock; CLOCK_MONOTONIC */
    struct hone_beat *first;    /* lock */
    bool has_thread, is_ending; /* lock */
    pthread_t thread;
    int64_t gap_ms;
};

/* Sleeps without a deadline while nothing is listed. */
static void *beats_main(void *arg)
{
    struct hone_beats *beats = arg;
    pthread_mutex_lock(&beats->lock);
    while (!beats->is_ending) {
        int64_t at = hone_deadline_in_ms(beats->gap_ms);
        const struct timespec until = {.tv_sec = at / HONE_NS_PER_S, .tv_nsec = at % HONE_NS_PER_S};
        int native = 0;
        if (beats->first == NULL)
            pthread_cond_wait(&beats->has_changed, &beats->lock);
        while (beats->first != NULL && !beats->is_ending && native == 0)
            native = pthread_cond_timedwait(&beats->has_changed, &beats->lock, &until);
        for (struct hone_beat *beat = beats->first; native != 0 && beat; beat = beat->next)
            beat->fn(beat->arg);
    }
    pthread_mutex_unlock(&beats->lock);
    return NULL;
}

struct hone_beats *hone_beats_new(int64_t gap_ms)
{
    pthread_condattr_t attr;
    struct hone_beats *beats = hone_calloc(1, sizeof(*beats));
    beats->gap_ms = gap_ms;
    pthread_mutex_init(&beats->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&beats->has_changed, &attr);
    pthread_condattr_destroy(&attr);
    return beats;
}

/* Called with the lock held. Signals stay with the thread that waits for them. */
static bool has_thread(struct hone_beats *beats)
{
    sigset_t all, old;
    if (beats->has_thread)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    beats->has_thread = pthread_create(&beats->thread, NULL, beats_main, beats) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return beats->has_thread;
}

void hone_beats_add(struct hone_beats *beats, struct hone_beat *beat)
{
    pthread_mutex_lock(&beats->lock);
    if (has_thread(beats)) {
        beat->next = beats->first;
        beat->at = &beats->first;
        if (beat->next != NULL)
            beat->next->at = &beat->next;
        beats->first = beat;
        pthread_cond_signal(&beats->has_changed);
    }
    pthread_mutex_unlock(&beats->lock);
}

void hone_beats_remove(struct hone_beats *beats, struct hone_beat *beat)
{
    pthread_mutex_lock(&beats->lock);
    if (beat->at != NULL) {
        *beat->at = beat->next;
        if (beat->next != NULL)
            beat->next->at = beat->at;
        beat->at = NULL;
    }
    pthread_mutex_unlock(&beats->lock);
}

void hone_beats_free(struct hone_beats *beats)
{
    if (beats == NULL)
        return;
    HONE_BUG_ON(beats->first != NULL);
    pthread_mutex_lock(&beats->lock);
    beats->is_ending = true;
    pthread_cond_signal(&beats->has_changed);
    pthread_mutex_unlock(&beats->lock);
    if (beats->has_thread)
        pthread_join(beats->thread, NULL);
    pthread_mutex_destroy(&beats->lock);
    pthread_cond_destroy(&beats->has_changed);
    free(beats);
}
