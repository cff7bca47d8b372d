/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads: everything accepted runs once, the queue is bounded, stopping waits and refuses. */
#include "server/rpc/workers.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "workspace/base/clock.h"

struct gate { /* tasks wait in it until it opens */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;
    size_t n_inside, n_ran;
};

static void gate_init(struct gate *gate)
{
    *gate = (struct gate){.is_open = false};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

static void pass(void *arg)
{
    struct gate *gate = arg;
    pthread_mutex_lock(&gate->lock);
    gate->n_inside++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->is_open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    gate->n_inside--;
    gate->n_ran++;
    pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

static void wait_inside(struct gate *gate, size_t n)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->n_inside < n)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

START_TEST(each_runs_once)
{
    enum { N = 500 };
    struct gate gate;
    struct hone_err err = HONE_ERR_INIT;
    gate_init(&gate);
    open_gate(&gate);
    struct hone_workers *workers = hone_workers_new(3, 2 * N);
    for (uint64_t i = 0; i < N; i++)
        ck_assert_int_eq(hone_workers_submit(workers, i % 7, pass, &gate, &err), 0);
    ck_assert(hone_workers_stop(workers, hone_deadline_in_ms(60000)));
    ck_assert_uint_eq(gate.n_ran, N);
    hone_workers_free(workers);
}
END_TEST

/* Two threads and room for three more: the sixth is refused, and nothing of it runs. */
START_TEST(queue_is_bounded)
{
    struct gate gate;
    struct hone_err err = HONE_ERR_INIT;
    gate_init(&gate);
    struct hone_workers *workers = hone_workers_new(2, 3);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), 0);
        wait_inside(&gate, i + 1); /* it left the queue */
    }
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), 0);
    ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), HONE_E_BUSY);
    ck_assert_uint_gt(strlen(err.message), 0);
    ck_assert_uint_eq(gate.n_inside, 2); /* never more at a time */
    open_gate(&gate);
    ck_assert(hone_workers_stop(workers, hone_deadline_in_ms(60000)));
    ck_assert_uint_eq(gate.n_ran, 5);
    hone_workers_free(workers);
}
END_TEST

struct said { /* in which order they ran */
    struct gate *gate;
    char order[64];
    size_t n;
};

struct saying {
    struct said *said;
    char who;
};

static void say(void *arg)
{
    const struct saying *saying = arg;
    saying->said->order[saying->said->n++] = saying->who; /* one worker: no lock */
}

/* One worker is held; a wants ten, then b and c two each: they take turns. */
START_TEST(those_who_wait_take_turns)
{
    struct gate gate;
    struct hone_err err = HONE_ERR_INIT;
    struct said said = {.gate = &gate};
    struct saying a = {&said, 'a'}, b = {&said, 'b'}, c = {&said, 'c'};
    gate_init(&gate);
    struct hone_workers *workers = hone_workers_new(1, 64);
    ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), 0);
    wait_inside(&gate, 1);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(hone_workers_submit(workers, 1, say, &a, &err), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(hone_workers_submit(workers, 2, say, &b, &err), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(hone_workers_submit(workers, 3, say, &c, &err), 0);
    open_gate(&gate);
    ck_assert(hone_workers_stop(workers, hone_deadline_in_ms(60000)));
    ck_assert_str_eq(said.order, "abcabcaaaaaaaa");
    hone_workers_free(workers);
}
END_TEST

/* Who fills three quarters of the queue gets no more of it; who has nothing in it does. */
START_TEST(the_last_quarter_is_for_others)
{
    struct gate gate;
    struct hone_err err = HONE_ERR_INIT;
    gate_init(&gate);
    struct hone_workers *workers = hone_workers_new(1, 8);
    ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), 0);
    wait_inside(&gate, 1);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), 0);
    ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), HONE_E_BUSY);
    ck_assert_int_eq(hone_workers_submit(workers, 2, pass, &gate, &err), 0);
    ck_assert_int_eq(hone_workers_submit(workers, 2, pass, &gate, &err), HONE_E_BUSY);
    ck_assert_int_eq(hone_workers_submit(workers, 3, pass, &gate, &err), 0);
    ck_assert_int_eq(hone_workers_submit(workers, 4, pass, &gate, &err), HONE_E_BUSY);
    open_gate(&gate);
    ck_assert(hone_workers_stop(workers, hone_deadline_in_ms(60000)));
    ck_assert_uint_eq(gate.n_ran, 9);
    hone_workers_free(workers);
}
END_TEST

START_TEST(stopping_waits_and_refuses)
{
    struct gate gate;
    struct hone_err err = HONE_ERR_INIT;
    gate_init(&gate);
    struct hone_workers *workers = hone_workers_new(1, 4);
    ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), 0);
    ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), 0);
    ck_assert(!hone_workers_stop(workers, hone_deadline_in_ms(20))); /* one is in the gate */
    ck_assert_int_eq(hone_workers_submit(workers, 1, pass, &gate, &err), HONE_E_BUSY);
    open_gate(&gate);
    ck_assert(hone_workers_stop(workers, hone_deadline_in_ms(60000)));
    ck_assert_uint_eq(gate.n_ran, 2); /* what was accepted ran, what was refused did not */
    hone_workers_free(workers);
}
END_TEST

START_TEST(idle_ones_stop_at_once)
{
    struct hone_workers *workers = hone_workers_new(8, 8);
    ck_assert(hone_workers_stop(workers, hone_deadline_in_ms(60000)));
    hone_workers_free(workers);
    hone_workers_free(NULL);
}
END_TEST

UNIT_MAIN("workers", each_runs_once, queue_is_bounded, those_who_wait_take_turns,
          the_last_quarter_is_for_others, stopping_waits_and_refuses, idle_ones_stop_at_once)
