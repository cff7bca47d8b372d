/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle's side of torch tasks: keeps one Python (tools/runner/torch/worker.py) in the same
 * jail, hands it requests as JSON lines and makes records of the float64 values that it leaves in
 * the answers file.
 *
 * The worker inherits the descriptors of inputs and answers. A request that fails ends the
 * worker's child; the role then answers 'e', and the judge starts everything anew. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/runner/arena/oracle.h"
#include "tools/runner/jail/roles.h"
#include "workspace/base/json.h"

/* At an rtol of 2e-5, the importer's, four times what the worker finds that float32 errs by. */
#define GAP_ROOM 2e5

extern char **environ;

struct worker {
    struct hone_control *control;
    struct hone_layout layout;
    char *own;
    int64_t records_room;
    int to;
    FILE *from;
    bool has_none; /* it said that there is no answer to such a request */
};

static int start_worker(const char *program, struct worker *w)
{
    int to[2], from[2];
    pid_t pid = 0;
    char words[][24] = {"python", "-s", "/work/worker.py", "serve"};
    char *const argv[] = {words[0], words[1], words[2], words[3], NULL};
    if (pipe(to) != 0 || pipe(from) != 0)
        return -errno;
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    (void)posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    /* The control page and the judge's socket are not the module's. */
    const int closed[] = {HONE_CONTROL_FD, HONE_CONTROL_SOCKET, to[0], to[1], from[0], from[1]};
    for (size_t i = 0; i < HONE_COUNTOF(closed); i++)
        (void)posix_spawn_file_actions_addclose(&actions, closed[i]);
    int code = posix_spawn(&pid, program, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(to[0]);
    (void)close(from[1]);
    w->to = to[1];
    w->from = fdopen(from[0], "r");
    return code != 0 ? -code : w->from == NULL ? -ENOMEM : 0;
}

/* One line of the worker with n numbers; true: it says ok. Its other words go to stderr, which a job
 * may keep. */
static bool hear(struct worker *w, int64_t n, double *numbers)
{
    char line[2048];
    HONE_AUTOJSON struct hone_json *json = NULL;
    if (fgets(line, sizeof line, w->from) == NULL ||
        hone_json_parse(line, strlen(line), &json, NULL) < 0)
        return false;
    const char *wrong = hone_json_get_str(json, "error", hone_json_get_str(json, "none", NULL));
    w->has_none = hone_json_get(json, "none") != NULL;
    if (wrong != NULL)
        fprintf(stderr, "torch: %s\n", wrong);
    const struct hone_json *number = hone_json_first(hone_json_get(json, "numbers"));
    for (int64_t i = 0; i < n; i++, number = hone_json_next(number))
        if (number == NULL || !hone_json_as_f64(number, &numbers[i]))
            return false;
    return hone_json_get_bool(json, "ok", false);
}

static bool say(const struct worker *w, const struct hone_json *json)
{
    HONE_AUTOFREE char *text = hone_json_print(json);
    HONE_AUTOFREE char *line = hone_sprintf("%s\n", text);
    size_t len = strlen(line), done = 0;
    while (done < len) {
        ssize_t n = write(w->to, line + done, len - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Where the inputs of a set lie in their file. */
static struct hone_json *places(const struct worker *w, int64_t set)
{
    struct hone_json *at = hone_json_new_array();
    for (int64_t t = 0; t < w->layout.n_inputs; t++)
        hone_json_push(at, hone_json_new_i64(hone_layout_file_at(&w->layout, set, t) +
                                             hone_layout_content_at(&w->layout, set, t)));
    return at;
}

static struct hone_json *make_request(const struct worker *w, int64_t n)
{
    const struct hone_control *control = w->control;
    struct hone_json *json = hone_json_new_object();
    struct hone_json *axes = hone_json_new_array();
    struct hone_json *scalars = hone_json_new_array(), *counts = hone_json_new_array();
    for (int64_t i = 0; i < control->n_axes; i++)
        hone_json_push(axes, hone_json_new_i64(control->axes[i]));
    for (int64_t i = 0; i < control->n_scalars; i++)
        hone_json_push(scalars, hone_json_new_f64(control->scalars[i]));
    for (int64_t o = 0; o < w->layout.n_outputs; o++)
        hone_json_push(counts, hone_json_new_i64(control->n_output_elements[o]));
    hone_json_set(json, "at", places(w, control->set));
    hone_json_set(json, "axes", axes);
    hone_json_set(json, "scalars", scalars);
    hone_json_set(json, "counts", counts);
    hone_json_set_f64(json, "room", GAP_ROOM);
    /* The values stand at the end of the room of their records (spread). */
    hone_json_set_i64(json, "answer_at",
                      HONE_ORACLE_RECORDS_AT +
                          n * (int64_t)(sizeof(struct hone_oracle_record) - sizeof(double)));
    return json;
}

/* Values to records, in place: a record is written where values before its own have been read. The
 * scale is the root mean square of the output's finite elements (empty rows of attention have the
 * logarithm of nothing), or what makes GAP_ROOM of what float32 errs by here:
 * that is more where things cancel, which the output's size does not tell. */
static void spread(struct worker *w, int64_t n, const double *gaps)
{
    struct hone_oracle_record *records =
        (struct hone_oracle_record *)(void *)(w->own + HONE_ORACLE_RECORDS_AT);
    const char *values = (const char *)(records + n) - (size_t)n * sizeof(double);
    int64_t i = 0;
    for (int64_t o = 0; o < w->layout.n_outputs; o++) {
        int64_t count = w->control->n_output_elements[o];
        double squares = 0, value = 0;
        int64_t n_finite = 0;
        for (int64_t k = 0; k < count; k++) {
            memcpy(&value, values + (size_t)(i + k) * sizeof value, sizeof value);
            squares += isfinite(value) ? value * value : 0;
            n_finite += isfinite(value) ? 1 : 0;
        }
        double scale = fmax(sqrt(squares / (double)hone_max_i64(n_finite, 1)), GAP_ROOM * gaps[o]);
        for (int64_t k = 0; k < count; k++, i++) {
            memcpy(&value, values + (size_t)i * sizeof value, sizeof value);
            records[i] = (struct hone_oracle_record){
                .index = k, .value = value, .output = o, .scale = isfinite(scale) ? scale : 0};
        }
    }
}

static bool answer_items(struct worker *w)
{
    int64_t n = 0;
    for (int64_t o = 0; o < w->layout.n_outputs; o++)
        n += w->control->n_output_elements[o];
    if (n > w->records_room) {
        w->control->n_records = HONE_ORACLE_NO_ROOM;
        return true;
    }
    HONE_AUTOJSON struct hone_json *request = make_request(w, n);
    double gaps[HONE_LIMIT_TENSORS] = {0};
    if (!say(w, request))
        return false;
    if (!hear(w, w->layout.n_outputs, gaps)) {
        w->control->n_records = HONE_ORACLE_NO_ANSWER;
        return w->has_none;
    }
    spread(w, n, gaps);
    w->control->n_records = n;
    return true;
}

/* A module that fails here costs its yardstick alone; false: the worker itself has ended. */
static bool time_calls(struct worker *w)
{
    struct hone_control *control = w->control;
    double ns = 0;
    control->set = 0;
    HONE_AUTOJSON struct hone_json *request = make_request(w, 0);
    struct hone_json *sets = hone_json_new_array();
    for (int64_t set = 0; set < control->n_items_listed; set++)
        hone_json_push(sets, places(w, set));
    hone_json_set(request, "sets", sets);
    hone_json_set_i64(request, "calls", control->n_items);
    hone_json_set_i64(request, "threads", control->n_threads);
    control->n_records = say(w, request) && hear(w, 1, &ns);
    memcpy(w->own + HONE_ORACLE_RECORDS_AT, &ns, sizeof ns);
    return feof(w->from) == 0;
}

static void answer(struct worker *w, bool is_good)
{
    if (!is_good)
        w->control->failed_step = HONE_HELPER_TORCH;
    char byte = is_good ? 'd' : 'e';
    while (write(HONE_CONTROL_SOCKET, &byte, 1) < 0 && errno == EINTR)
        ;
}

int hone_role_oracle_torch(int argc, char **argv)
{
    struct worker w = {0};
    struct stat own;
    if (argc < 2 || fstat(HONE_CONTROL_OWN, &own) != 0)
        return 2;
    w.control =
        mmap(NULL, HONE_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, HONE_CONTROL_FD, 0);
    w.own =
        mmap(NULL, (size_t)own.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, HONE_CONTROL_OWN, 0);
    if (w.control == MAP_FAILED || w.own == MAP_FAILED)
        return 2;
    w.records_room =
        (own.st_size - HONE_ORACLE_RECORDS_AT) / (int64_t)sizeof(struct hone_oracle_record);
    bool is_good = start_worker(argv[1], &w) == 0 && hear(&w, 0, NULL);
    answer(&w, is_good);
    while (is_good) {
        char byte = 0;
        ssize_t n = read(HONE_CONTROL_SOCKET, &byte, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != 1 || w.control->command == HONE_CONTROL_QUIT)
            return 0;
        bool was_good = true;
        if (w.control->command == HONE_CONTROL_MAP)
            w.layout = w.control->layout;
        else if (w.control->command == HONE_CONTROL_ITEMS)
            was_good = answer_items(&w);
        else if (w.control->command == HONE_CONTROL_TIME)
            was_good = time_calls(&w);
        answer(&w, was_good);
    }
    return 0;
}
