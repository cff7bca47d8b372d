/* SPDX-License-Identifier: Apache-2.0 */
#include "server/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct hone_stop {
    pthread_t thread;
    sigset_t signals; /* SIGINT, SIGTERM, SIGHUP, and SIGUSR1 that ends the thread */
    void (*fn)(void *arg);
    void *arg;
    atomic_int n_asked;
};

static void *watch(void *arg)
{
    struct hone_stop *stop = arg;
    for (;;) {
        int number = sigwaitinfo(&stop->signals, NULL);
        if (number == SIGUSR1)
            return NULL;
        if (number != SIGINT && number != SIGTERM && number != SIGHUP)
            continue;
        if (atomic_fetch_add(&stop->n_asked, 1) >= 2)
            _exit(130);
        stop->fn(stop->arg);
    }
}

static sigset_t stop_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    return signals;
}

void hone_stop_block(void)
{
    sigset_t signals = stop_signals();
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

int hone_stop_watch(void (*fn)(void *arg), void *arg, struct hone_stop **ret, struct hone_err *err)
{
    struct hone_stop *stop = hone_calloc(1, sizeof(*stop));
    stop->fn = fn;
    stop->arg = arg;
    stop->signals = stop_signals();
    hone_stop_block();
    int native = pthread_create(&stop->thread, NULL, watch, stop);
    if (native != 0) {
        free(stop);
        return hone_fail_errno(err, native, "cannot start the signal thread");
    }
    *ret = stop;
    return 0;
}

void hone_stop_free(struct hone_stop *stop)
{
    if (!stop)
        return;
    pthread_kill(stop->thread, SIGUSR1);
    pthread_join(stop->thread, NULL);
    free(stop);
}

void hone_stop_free_ptr(struct hone_stop **stop)
{
    hone_stop_free(*stop);
    *stop = NULL;
}
