/* SPDX-License-Identifier: Apache-2.0 */
/* A local HTTP server that plays a model, well or badly, for tests of whole searches.
 *
 * One thread, one request at a time. A turn reads what was asked and says what it likes. */
#ifndef HONE_TESTS_E2E_MODEL_SERVER_H
#define HONE_TESTS_E2E_MODEL_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct model_ask { /* borrowed for the turn */
    const char *head, *body;
    const char *system, *user; /* texts of the request, as the model sees them */
    bool is_planner;
    int n, n_role; /* requests before this one: all, of this role */
    void *arg;
};
typedef void model_turn(int fd, const struct model_ask *ask);

struct model_server {
    int fd, port;
    pthread_t thread;
    model_turn *turn;
    void *arg;
    atomic_int n_requests, n_planner;
};

void model_server_start(struct model_server *server, model_turn *turn, void *arg);
void model_server_stop(struct model_server *server);

void model_say(int fd, const char *text);
/* more: further header lines, each with its line end. */
void model_say_head(int fd, const char *status, const char *type, const char *more);
/* A whole answer with these words; usage: JSON, or NULL for believable counts. */
void model_say_answer(int fd, const char *text, const char *usage);
/* The same with the text as JSON has it between quotes: for what no string holds. */
void model_say_raw(int fd, const char *json_text);
/* Until the peer goes away, or a while. */
void model_hold(int fd, int ms);

#endif
