/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle's side: maps the inputs read-only, loads the compiled oracle and answers items with a
 * few threads.
 *
 * Threads are made per command: it costs tens of microseconds and leaves nothing
 * running between commands. */
#include "tools/runner/jail/roles.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/runner/arena/oracle.h"

#define MAX_THREADS      64
#define ITEMS_PER_THREAD 32 /* below this a thread costs more than it gives */

struct oracle {
    struct hone_control *control;
    struct hone_layout layout;
    char *inputs;
    int64_t input_bytes;
    char *own;
    int64_t records_room;
    hone_oracle_items_fn *items_fn;
};

struct share { /* one thread's part of a command */
    struct hone_oracle_args args;
    hone_oracle_items_fn *items_fn;
    int64_t first, count;
    const int64_t *items;
};

static void *run_share(void *arg)
{
    struct share *share = arg;
    if (share->count > 0)
        share->items_fn(&share->args, share->first, share->count, share->items);
    return NULL;
}

static void run_shares(struct share *shares, size_t n)
{
    pthread_t threads[MAX_THREADS];
    bool is_started[MAX_THREADS] = {false};
    for (size_t i = 1; i < n; i++)
        is_started[i] = pthread_create(&threads[i], NULL, run_share, &shares[i]) == 0;
    run_share(&shares[0]);
    for (size_t i = 1; i < n; i++) {
        if (is_started[i])
            pthread_join(threads[i], NULL);
        else
            run_share(&shares[i]);
    }
}

static size_t thread_count(const struct oracle *oracle, int64_t n_items)
{
    int64_t n = hone_min_i64(oracle->control->n_threads, n_items / ITEMS_PER_THREAD);
    return (size_t)hone_min_i64(hone_max_i64(n, 1), MAX_THREADS);
}

static void base_args(const struct oracle *oracle, const void **inputs,
                      struct hone_oracle_args *ret)
{
    const struct hone_control *control = oracle->control;
    for (int64_t t = 0; t < oracle->layout.n_inputs; t++)
        inputs[t] = oracle->inputs + hone_layout_file_at(&oracle->layout, control->set, t) +
                    hone_layout_content_at(&oracle->layout, control->set, t);
    *ret = (struct hone_oracle_args){.inputs = inputs,
                                     .input_types = control->input_types,
                                     .scalars = control->scalars,
                                     .axes = control->axes};
}

static void split(struct share *shares, size_t n, int64_t first, int64_t count,
                  const int64_t *items)
{
    int64_t done = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t part = (count - done) / (int64_t)(n - i);
        shares[i].first = first + done;
        shares[i].count = part;
        shares[i].items = items != NULL ? items + done : NULL;
        done += part;
    }
}

static void answer_items(struct oracle *oracle)
{
    struct hone_control *control = oracle->control;
    const void *inputs[HONE_LIMIT_TENSORS];
    const int64_t *items =
        control->n_items_listed > 0 ? (const int64_t *)(const void *)oracle->own : NULL;
    struct hone_oracle_record *records =
        (struct hone_oracle_record *)(void *)(oracle->own + HONE_ORACLE_RECORDS_AT);
    struct share shares[MAX_THREADS] = {0};
    size_t n = thread_count(oracle, control->n_items);
    int64_t room = oracle->records_room / (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        base_args(oracle, inputs, &shares[i].args);
        shares[i].items_fn = oracle->items_fn;
        shares[i].args.records = records + (int64_t)i * room;
        shares[i].args.n_records_max = room;
    }
    split(shares, n, control->item_first, control->n_items, items);
    run_shares(shares, n);
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        if (shares[i].args.n_records < 0 || shares[i].args.n_records > room) {
            control->n_records = -1;
            return;
        }
        memmove(records + total, shares[i].args.records,
                (size_t)shares[i].args.n_records * sizeof *records);
        total += shares[i].args.n_records;
    }
    control->n_records = total;
}

/* What a step adds to the mean of squares over the steps. */
static void add_squares(struct hone_control *control, double *const *state, int64_t n_outputs)
{
    for (int64_t o = 0; o < n_outputs; o++) {
        int64_t n = control->n_output_elements[o];
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += isfinite(state[o][i]) ? state[o][i] * state[o][i] : 0;
        control->state_squares[o] +=
            sum / (double)hone_max_i64(n, 1) / (double)(control->n_steps + 1);
    }
}

static void run_steps(struct oracle *oracle)
{
    struct hone_control *control = oracle->control;
    const void *inputs[HONE_LIMIT_TENSORS];
    double *states[2][HONE_LIMIT_TENSORS] = {{NULL}};
    int64_t total = 0, at = 0, n_outputs = oracle->layout.n_outputs;
    for (int64_t o = 0; o < n_outputs; o++)
        total += control->n_output_elements[o];
    double *result = (double *)(void *)(oracle->own + HONE_ORACLE_RECORDS_AT);
    double *spare = hone_calloc((size_t)hone_max_i64(total, 1), sizeof *spare);
    /* The last step must land in the result: step k writes to side (k + n_steps) % 2. */
    for (int64_t o = 0; o < n_outputs; at += control->n_output_elements[o], o++) {
        states[0][o] = result + at;
        states[1][o] = spare + at;
    }
    memset(control->state_squares, 0, sizeof control->state_squares);
    for (int64_t step = 0; step <= control->n_steps; step++) {
        size_t side = (size_t)((step + control->n_steps) % 2),
               n = thread_count(oracle, control->n_items_step);
        struct share shares[MAX_THREADS] = {0};
        for (size_t i = 0; i < n; i++) {
            base_args(oracle, inputs, &shares[i].args);
            shares[i].items_fn = oracle->items_fn;
            shares[i].args.next = states[side];
            shares[i].args.prev = states[1 - side];
            shares[i].args.step = step;
        }
        split(shares, n, 0, control->n_items_step, NULL);
        run_shares(shares, n);
        add_squares(control, states[side], n_outputs);
    }
    free(spare);
}

static int map_own(struct oracle *oracle)
{
    struct stat inputs, own;
    if (fstat(HONE_CONTROL_INPUTS, &inputs) != 0 || fstat(HONE_CONTROL_OWN, &own) != 0)
        return -errno;
    oracle->input_bytes = inputs.st_size;
    oracle->inputs =
        mmap(NULL, (size_t)inputs.st_size, PROT_READ, MAP_SHARED, HONE_CONTROL_INPUTS, 0);
    oracle->own =
        mmap(NULL, (size_t)own.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, HONE_CONTROL_OWN, 0);
    oracle->records_room =
        (own.st_size - HONE_ORACLE_RECORDS_AT) / (int64_t)sizeof(struct hone_oracle_record);
    return oracle->inputs == MAP_FAILED || oracle->own == MAP_FAILED ? -errno : 0;
}

static void answer(char byte)
{
    while (write(HONE_CONTROL_SOCKET, &byte, 1) < 0 && errno == EINTR)
        ;
}

static int load_oracle(struct oracle *oracle, const char *path)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = object != NULL ? dlsym(object, "hone_oracle_items") : NULL;
    if (found == NULL) {
        oracle->control->failed_step = object == NULL ? HONE_HELPER_LOAD : HONE_HELPER_SYMBOL;
        return -ENOENT;
    }
    memcpy(&oracle->items_fn, &found, sizeof found);
    return 0;
}

int hone_role_oracle(int argc, char **argv)
{
    if (argc < 1) {
        fputs("hone-runner: the oracle role takes an object\n", stderr);
        return 2;
    }
    struct oracle oracle = {0};
    oracle.control =
        mmap(NULL, HONE_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, HONE_CONTROL_FD, 0);
    if (oracle.control == MAP_FAILED)
        return 2;
    struct hone_err err = HONE_ERR_INIT;
    if (hone_jail_tighten(HONE_JAIL_ORACLE, &err) < 0)
        return 2;
    (void)dlopen("libgcc_s.so.1", RTLD_NOW); /* as in the arena */
    if (map_own(&oracle) != 0 || load_oracle(&oracle, argv[0]) != 0) {
        answer('e');
        return 0;
    }
    if (hone_jail_close_code(&err) < 0)
        return 2;
    answer('d');
    for (;;) {
        char byte = 0;
        ssize_t n = read(HONE_CONTROL_SOCKET, &byte, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != 1 || oracle.control->command == HONE_CONTROL_QUIT)
            return 0;
        if (oracle.control->command == HONE_CONTROL_MAP)
            oracle.layout = oracle.control->layout;
        else if (oracle.control->command == HONE_CONTROL_ITEMS)
            answer_items(&oracle);
        else if (oracle.control->command == HONE_CONTROL_STEPS)
            run_steps(&oracle);
        answer('d');
    }
}
