/* SPDX-License-Identifier: Apache-2.0 */
/* Torch on the device beside the candidate (yardstick.h): a Python of its own in the DEVICE_TORCH jail
 * (worker.py, "device"), which builds the module once a size and times blocks of calls by events, as
 * it is and as torch.compile makes it.
 *
 * Its content is its own, drawn by role, and as many sets in turn as no cache holds. Nothing of the
 * judge's is passed to it. The module is the user's; one that lies falsifies its own ratio. Where
 * torch has no CUDA, or the process does not start or answer, the ratio is left out; that against
 * torch.compile also where the job should end sooner than a compilation takes, and where
 * HONE_TORCH_COMPILE is 0. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/runner/cuda/judge/gpu_arm.h"
#include "tools/runner/cuda/judge/gpu_run.h"
#include "tools/runner/judge/yardstick.h"
#include "tools/runner/torch/python.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define BLOCK_NS  (5 * HONE_NS_PER_MS)
#define ANSWER_MS 90000 /* to load torch, build or compile a module or time a block */
#define LEAST_NS                                                                                   \
    (40 * HONE_NS_PER_S) /* of a job that has an end: compilers take 5 to 30 s a size */
#define MAX_LINE 2048

struct hone_gpu_torch {
    struct hone_jail *jail;
    int socket;
    const struct hone_workload *built; /* NULL: none yet */
    bool is_lost;
    bool has_no_compiled; /* it failed once */
};

void hone_gpu_torch_free(struct hone_gpu_torch *torch)
{
    if (torch == NULL)
        return;
    hone_close_fd(&torch->socket);
    hone_jail_free(torch->jail);
    free(torch);
}

static int start_jail(struct hone_judge *judge, struct hone_gpu_torch *torch, int its_socket,
                      struct hone_err *err)
{
    HONE_AUTOFREE char *folder = hone_sprintf("%s/open/run-%s", judge->dir, judge->oracle.folder);
    const struct hone_python_device_spec what = {.word = "device",
                                                 .dir = folder,
                                                 .in = its_socket,
                                                 .out = its_socket,
                                                 .said = -1,
                                                 .allow_weak = judge->job->allow_weak_jail};
    return hone_python_start_on_device(judge->oracle.python, &what, judge->pool, &torch->jail, err);
}

/* Lost at once where it does not start here. */
static struct hone_gpu_torch *start(struct hone_judge *judge)
{
    struct hone_gpu_torch *torch = hone_calloc(1, sizeof *torch);
    struct hone_err why = HONE_ERR_INIT;
    int pair[2] = {-1, -1};
    int code = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0
                   ? start_jail(judge, torch, pair[1], &why)
                   : hone_fail_errno(&why, errno, "a socket to torch");
    hone_close_fd(&pair[1]);
    torch->socket = pair[0];
    torch->is_lost = code < 0;
    if (code < 0)
        hone_judge_warn(judge, "torch does not start beside the device: %.200s", why.message);
    return torch;
}

/* One line; false where none came in time. */
static bool read_line(const struct hone_gpu_torch *torch, char line[MAX_LINE])
{
    int64_t deadline = hone_deadline_in_ms(ANSWER_MS);
    for (size_t len = 0; len + 1 < MAX_LINE;) {
        struct pollfd ready = {.fd = torch->socket, .events = POLLIN};
        if (poll(&ready, 1, hone_ms_until(deadline)) <= 0 ||
            read(torch->socket, line + len, 1) != 1)
            return false;
        if (line[len] == '\n') {
            line[len] = '\0';
            return true;
        }
        len++;
    }
    return false;
}

/* False: it failed, and *torch says whether it is lost. */
static bool ask(struct hone_judge *judge, struct hone_gpu_torch *torch,
                const struct hone_json *request, double *ret)
{
    char line[MAX_LINE];
    HONE_AUTOFREE char *text = hone_json_print(request);
    HONE_AUTOFREE char *whole = hone_sprintf("%s\n", text);
    HONE_AUTOJSON struct hone_json *answer = NULL;
    ssize_t sent = send(torch->socket, whole, strlen(whole), MSG_NOSIGNAL);
    torch->is_lost = sent != (ssize_t)strlen(whole) || !read_line(torch, line) ||
                     hone_json_parse(line, strlen(line), &answer, NULL) < 0;
    if (torch->is_lost) {
        hone_judge_warn(judge, "torch beside the device does not answer");
        return false;
    }
    const char *wrong = hone_json_get_str(answer, "error", NULL);
    if (wrong != NULL)
        hone_judge_warn(judge, "torch on the device: %.300s", wrong);
    const struct hone_json *number = hone_json_first(hone_json_get(answer, "numbers"));
    if (number != NULL && !hone_json_as_f64(number, ret))
        return false;
    return hone_json_get_bool(answer, "ok", false);
}

static bool build(struct hone_judge *judge, struct hone_gpu_torch *torch,
                  const struct hone_workload *workload)
{
    HONE_AUTOJSON struct hone_json *request = hone_json_new_object();
    struct hone_json *axes = hone_json_new_array(), *scalars = hone_json_new_array();
    const double *values = judge->gpu->scalars[hone_gpu_case(judge, workload)];
    for (size_t a = 0; a < judge->task->n_axes; a++)
        hone_json_push(axes, hone_json_new_i64(workload->axes[a]));
    for (size_t i = 0; i < judge->task->n_scalars; i++)
        hone_json_push(scalars, hone_json_new_f64(values[i]));
    hone_json_set(request, "axes", axes);
    hone_json_set(request, "scalars", scalars);
    double nothing = 0;
    bool is_good = ask(judge, torch, request, &nothing);
    torch->built = is_good ? workload : NULL;
    return is_good;
}

static double time_module(struct hone_gpu_run *run, bool is_compiled, int64_t n_calls)
{
    struct hone_judge *judge = run->judge;
    if (judge->gpu->torch == NULL)
        judge->gpu->torch = start(judge);
    struct hone_gpu_torch *torch = judge->gpu->torch;
    if (torch->is_lost ||
        (torch->built != run->plan->workload && !build(judge, torch, run->plan->workload)))
        return 0;
    HONE_AUTOJSON struct hone_json *request = hone_json_new_object();
    hone_json_set_i64(request, "calls", n_calls);
    hone_json_set_bool(request, "is_compiled", is_compiled);
    double ns = 0;
    return ask(judge, torch, request, &ns) ? ns : 0;
}

static int time_eager(void *arg, int64_t n_calls, double *ret_ns, struct hone_err *err)
{
    (void)err;
    *ret_ns = time_module(arg, false, n_calls);
    return 0;
}

/* A process that compiles for too long is not waited for: the other sizes get a new one. */
static int time_compiled(void *arg, int64_t n_calls, double *ret_ns, struct hone_err *err)
{
    struct hone_gpu_run *run = arg;
    struct hone_gpu_job *gpu = run->judge->gpu;
    (void)err;
    *ret_ns = time_module(run, true, n_calls);
    if (*ret_ns <= 0 && gpu->torch->is_lost) {
        hone_gpu_torch_free(gpu->torch);
        gpu->torch = start(run->judge);
    }
    gpu->torch->has_no_compiled = *ret_ns <= 0;
    return 0;
}

static bool is_compiled_played(const struct hone_judge *judge)
{
    const char *given = getenv("HONE_TORCH_COMPILE");
    if ((given != NULL && strcmp(given, "0") == 0) || judge->gpu->torch->is_lost ||
        judge->gpu->torch->has_no_compiled)
        return false;
    return judge->finish_ns == 0 || judge->finish_ns - hone_now_ns() >= LEAST_NS;
}

static int time_candidate(void *arg, double *ret_ns, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_run *run = arg;
    struct hone_gpu_lane *lane = &run->lanes[0];
    struct hone_gpu_time time = {0};
    int code = hone_gpu_run_clocked(run, lane, lane->n_calls, NULL, &time, ret, err);
    *ret_ns = time.event_ns / (double)lane->n_calls;
    return code;
}

int hone_gpu_run_yardstick(struct hone_gpu_run *run, struct hone_workload_report *report,
                           struct hone_outcome *ret, struct hone_err *err)
{
    const struct hone_python *python = run->judge->oracle.python;
    if (python == NULL || python->cuda == NULL)
        return 0;
    const struct hone_yardstick_arms eager = {HONE_ARM_TORCH_EAGER, time_eager, time_candidate, run,
                                              BLOCK_NS};
    const struct hone_yardstick_arms compiled = {HONE_ARM_TORCH_COMPILE, time_compiled,
                                                 time_candidate, run, BLOCK_NS};
    size_t n = report->ratios.n;
    int code = hone_yardstick_play(run->judge, run->plan->workload, &eager, report, ret, err);
    bool was_played = report->ratios.n > n;
    if (code < 0 || !hone_outcome_is_good(ret) || !was_played || !is_compiled_played(run->judge))
        return code;
    return hone_yardstick_play(run->judge, run->plan->workload, &compiled, report, ret, err);
}
