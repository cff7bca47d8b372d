/* SPDX-License-Identifier: Apache-2.0 */
/* Judge's side of a device arena: one process, one socket, one request at a time. The clock of a
 * block runs from sending "go" to its answer; everything else (graphs, poison, queueing) was done
 * before, in "prepare". */
#include "tools/runner/cuda/judge/gpu_arm.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/runner/cuda/device/gpu_control.h"
#include "tools/runner/cuda/driver/driver_env.h"
#include "tools/runner/cuda/arena/gpu_profile_arena.h"
#include "tools/runner/jail/stopping.h"
#include "workspace/base/clock.h"
#include "workspace/base/utf8.h"

#define START_NS      (60 * HONE_NS_PER_S) /* a context, on a busy machine */
#define WORK_NS       (60 * HONE_NS_PER_S) /* loading, mapping, building graphs */
#define END_NS        (2 * HONE_NS_PER_S)  /* an arena that has said why it ends */
#define POLL_SLICE_MS 200
#define GATE_TRIES    3
#define PRINTED_BYTES (1 << 20)
#define TMP_BYTES     (64ll << 20)
#define MAX_PIDS      256
#define MOST_NS       1e15
#define MOST_MHZ      1e5

struct hone_gpu_arm {
    struct hone_gpu_arm_spec spec; /* stamp moved to its file */
    char *rung;                    /* asked for; owned */
    struct hone_jail *jail;
    int socket, stamp_fd;
    struct hone_shared sets, printed;
    struct hone_outcome end;
    bool is_alive, is_ready, has_run, is_open;
    uint32_t serial;
    int64_t n_modules, n_hidden, n_sets;
    struct hone_gpu_failed failed; /* what the last answer said */
};

/* ---- starting ---- */

/* A file that cannot change any more. */
static int sealed_file(const char *name, const void *bytes, size_t len, int *ret_fd,
                       struct hone_err *err)
{
    HONE_AUTOCLOSE int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return hone_fail_errno(err, errno, "memory file");
    for (size_t at = 0; at < len;) {
        ssize_t n = write(fd, (const char *)bytes + at, len - at);
        if (n <= 0 && errno != EINTR)
            return hone_fail_errno(err, errno, "writing %zu bytes to a memory file", len);
        at += n > 0 ? (size_t)n : 0;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
        return hone_fail_errno(err, errno, "sealing a memory file");
    *ret_fd = fd;
    fd = -1;
    return 0;
}

/* Lazy loading could block behind a closed gate; a compile cache needs a home. */
static size_t make_env(const char **env, size_t max)
{
    static const char *const fixed[] = {"PATH=/usr/bin:/bin", "LANG=C", "CUDA_MODULE_LOADING=EAGER",
                                        "CUDA_CACHE_DISABLE=1"};
    memcpy(env, fixed, sizeof fixed);
    return hone_cuda_pass_env(env, HONE_COUNTOF(fixed), max);
}

static int start_jail(struct hone_gpu_arm *arm, int helper_socket, struct hone_err *err)
{
    char ordinal[16];
    snprintf(ordinal, sizeof ordinal, "%d", arm->spec.ordinal);
    const char *argv[] = {"/hone/hone-runner",          "--role", "device-arena", ordinal,
                          arm->is_open ? "open" : NULL, NULL};
    const char *env[64];
    size_t n_env = make_env(env, HONE_COUNTOF(env) - 1);
    HONE_AUTOFREE char *dir = hone_cuda_driver_dir();
    HONE_AUTOFREE char *cupti = arm->spec.is_profiling ? hone_cupti_find_folder() : NULL;
    HONE_AUTOFREE char *cupti_env = NULL;
    const char *more[] = {cupti, NULL};
    if (cupti != NULL) {
        cupti_env = hone_sprintf("HONE_CUPTI_LIB=%s", cupti);
        env[n_env++] = cupti_env;
        env[n_env] = NULL;
    }
    struct hone_jail_spec jail = {
        .profile = HONE_JAIL_DEVICE,
        .rung = arm->is_open ? "device-open" : arm->rung,
        .allow_weak = arm->spec.allow_weak,
        .argv = argv,
        .env = env,
        .driver_dir = dir,
        .ro_files = cupti != NULL ? more : NULL,
        .keep_perfmon = arm->spec.is_profiling,
        .tmp_bytes = TMP_BYTES,
        .max_pids = MAX_PIDS,
        .fds = {helper_socket, arm->sets.fd, arm->stamp_fd},
        .n_fds = 3,
        .stdin_fd = -1,
        .stdout_fd = arm->printed.fd,
        .stderr_fd = arm->printed.fd,
    };
    return hone_jail_start(&jail, &arm->jail, err);
}

static int start_process(struct hone_gpu_arm *arm, struct hone_err *err)
{
    int pair[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return hone_fail_errno(err, errno, "socketpair");
    arm->socket = pair[0];
    int code = start_jail(arm, pair[1], err);
    hone_close_fd(&pair[1]);
    arm->is_alive = code == 0;
    if (code < 0)
        hone_close_fd(&arm->socket);
    return code;
}

static bool wants(const char *how)
{
    const char *set = getenv("HONE_DEVICE_JAIL");
    return set != NULL && strcmp(set, how) == 0;
}

/* Once more without a jail, where that is allowed. */
static int start_open(struct hone_gpu_arm *arm, struct hone_err *err)
{
    if (arm->is_open || wants("on"))
        return err != NULL ? (int)err->code : HONE_E_TARGET;
    hone_jail_free(arm->jail);
    arm->jail = NULL;
    hone_close_fd(&arm->socket);
    arm->is_open = true;
    arm->end = (struct hone_outcome)HONE_OUTCOME_INIT;
    return start_process(arm, err);
}

int hone_gpu_arm_start(const struct hone_gpu_arm_spec *spec, struct hone_gpu_arm **ret,
                       struct hone_err *err)
{
    struct hone_gpu_arm *arm = hone_calloc(1, sizeof *arm);
    *arm = (struct hone_gpu_arm){.spec = *spec,
                                 .rung = hone_strdup(spec->rung != NULL ? spec->rung : "auto"),
                                 .socket = -1,
                                 .stamp_fd = -1,
                                 .sets = HONE_SHARED_INIT,
                                 .printed = HONE_SHARED_INIT,
                                 .end = HONE_OUTCOME_INIT,
                                 .is_open = wants("off") || (spec->is_open && !wants("on"))};
    arm->spec.stamp = NULL;
    arm->spec.rung = NULL;
    int code = hone_shared_new("hone-sets", HONE_GPU_SHARED_BYTES, true, &arm->sets, err);
    if (code == 0)
        code = hone_shared_new("hone-printed", PRINTED_BYTES, false, &arm->printed, err);
    if (code == 0)
        code = sealed_file("hone-stamp", spec->stamp != NULL ? (const void *)spec->stamp : "",
                           spec->stamp != NULL ? spec->stamp_len : 0, &arm->stamp_fd, err);
    if (code == 0) {
        code = start_process(arm, err);
        if (code < 0)
            code = start_open(arm, err);
    }
    if (code < 0) {
        hone_gpu_arm_free(arm);
        return hone_wrap(err, "starting a device arena");
    }
    *ret = arm;
    return 0;
}

static void give_up(struct hone_gpu_arm *arm)
{
    hone_jail_free(arm->jail);
    arm->jail = NULL;
    arm->is_alive = false;
}

void hone_gpu_arm_free(struct hone_gpu_arm *arm)
{
    if (arm == NULL)
        return;
    give_up(arm);
    hone_close_fd(&arm->socket);
    hone_close_fd(&arm->stamp_fd);
    hone_shared_done(&arm->sets);
    hone_shared_done(&arm->printed);
    free(arm->rung);
    free(arm);
}

/* ---- how it ended ---- */

static int set_end(struct hone_gpu_arm *arm, enum hone_reason reason, const char *text)
{
    give_up(arm);
    hone_outcome_set(&arm->end, reason, "%s", text);
    return 0;
}

/* The process is gone without a word. */
static int explain_end(struct hone_gpu_arm *arm, struct hone_err *err)
{
    struct hone_jail_exit how = {0};
    int code = hone_jail_wait(arm->jail, hone_now_ns() + END_NS, &how, err);
    give_up(arm);
    if (code < 0 && code != HONE_E_TIMEOUT)
        return hone_wrap(err, "reaping a device arena");
    enum hone_reason reason = arm->has_run && how.signal != 0 && how.signal != SIGKILL
                                  ? HONE_REASON_CRASH
                                  : HONE_REASON_INFRA;
    if (how.was_oom)
        reason = HONE_REASON_OOM;
    hone_outcome_set(&arm->end, reason, "the device arena ended with status %d, signal %d",
                     how.status, how.signal);
    return 0;
}

/* The driver's code as a reason. An invalid value while a launch is planned or made is a shape that
 * the device refuses; a name that is not there is the module's. */
static enum hone_reason reason_of(enum hone_gpu_op op, int cuda_code)
{
    bool is_launch = op == HONE_GPU_OP_MAP || op == HONE_GPU_OP_PREPARE || op == HONE_GPU_OP_GO ||
                     op == HONE_GPU_OP_STEP;
    if (is_launch && cuda_code == HONE_CU_INVALID_VALUE)
        return HONE_REASON_LAUNCH;
    if (op == HONE_GPU_OP_MAP && cuda_code == HONE_CU_NOT_FOUND)
        return HONE_REASON_LINK;
    enum hone_reason reason = hone_cu_reason(cuda_code);
    return reason == HONE_REASON_CORRECT ? HONE_REASON_INFRA : reason;
}

/* An arena's own words are shown only while it has never had a module. Afterwards what is said is
 * the judge's: what it had asked for, and the meaning of a number. */
static int explain_error(struct hone_gpu_arm *arm, enum hone_gpu_op op,
                         const struct hone_gpu_answer *answer)
{
    static const char *const steps[] = {[HONE_GPU_OP_START] = "starting the device arena",
                                        [HONE_GPU_OP_LOAD] = "loading the module",
                                        [HONE_GPU_OP_MAP] = "mapping buffers and finding kernels",
                                        [HONE_GPU_OP_PREPARE] = "preparing the calls",
                                        [HONE_GPU_OP_GO] = "running the calls",
                                        [HONE_GPU_OP_OCCUPANCY] = "asking for occupancy",
                                        [HONE_GPU_OP_PROFILE] = "counting a call",
                                        [HONE_GPU_OP_STEP] = "running a call step by step",
                                        [HONE_GPU_OP_DROP] = "giving buffers back"};
    char text[HONE_GPU_TEXT];
    const char *words = hone_cu_words(answer->cuda_code);
    arm->failed = (struct hone_gpu_failed){answer->at_op, answer->cuda_code};
    bool is_limit = answer->cuda_code == 0 && answer->is_error == -HONE_E_LIMIT;
    if (arm->n_modules == 0) {
        snprintf(text, sizeof text, "%.*s", HONE_GPU_TEXT - 1, answer->text);
        hone_utf8_defuse(text, '?');
    } else if (is_limit) {
        snprintf(text, sizeof text, "%s failed: more than an arena can hold", steps[op]);
    } else if (answer->cuda_code == 0) {
        snprintf(text, sizeof text, "%s failed in the device arena, without the driver", steps[op]);
    } else {
        snprintf(text, sizeof text, "%s failed: CUDA error %d%s%s%s", steps[op], answer->cuda_code,
                 words == NULL ? "" : " (", words == NULL ? "" : words, words == NULL ? "" : ")");
    }
    return set_end(arm, is_limit ? HONE_REASON_LAUNCH : reason_of(op, answer->cuda_code), text);
}

static bool is_sane(const struct hone_gpu_answer *answer)
{
    const double ns[] = {answer->event_ns, answer->stamp_ns};
    for (size_t i = 0; i < HONE_COUNTOF(ns); i++)
        if (!isfinite(ns[i]) || ns[i] < 0 || ns[i] > MOST_NS)
            return false;
    return isfinite(answer->sm_mhz) && answer->sm_mhz >= 0 && answer->sm_mhz < MOST_MHZ &&
           answer->blocks_per_sm >= 0 && answer->blocks_per_sm <= INT32_MAX && answer->at_op >= 0 &&
           answer->at_op <= HONE_LIMIT_PLAN_OPS;
}

/* ---- one request ---- */

/* The next message. Returns 0 with arm->is_alive false when there will be none. */
static int hear(struct hone_gpu_arm *arm, int64_t deadline_ns, struct hone_gpu_answer *ret,
                struct hone_err *err)
{
    for (;;) {
        if (hone_runner_is_stopping()) {
            give_up(arm);
            return hone_fail(err, HONE_E_CANCEL, "stopped");
        }
        struct pollfd p = {.fd = arm->socket, .events = POLLIN};
        int left_ms = hone_ms_until(deadline_ns);
        int n = poll(&p, 1, left_ms < 0 || left_ms > POLL_SLICE_MS ? POLL_SLICE_MS : left_ms);
        if (n < 0 && errno != EINTR)
            return hone_fail_errno(err, errno, "waiting for a device arena");
        if (n > 0) {
            /* One byte more than an answer has: a longer message shows. */
            struct {
                struct hone_gpu_answer answer;
                char more;
            } got;
            ssize_t len = recv(arm->socket, &got, sizeof got, 0);
            if (len <= 0)
                return explain_end(arm, err);
            if (len != (ssize_t)sizeof got.answer)
                return set_end(arm, HONE_REASON_TAMPERING,
                               "the device arena sent something that is no answer");
            *ret = got.answer;
            return 0;
        }
        if (n == 0 && hone_now_ns() >= deadline_ns)
            return set_end(
                arm, HONE_REASON_TIMEOUT,
                "the kernels did not end in time (call_timeout_ms gives more); the device "
                "arena was killed");
    }
}

static bool has_unasked(struct hone_gpu_arm *arm)
{
    char byte;
    if (recv(arm->socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) <= 0)
        return false;
    set_end(arm, HONE_REASON_TAMPERING, "the device arena answered before it was asked");
    return true;
}

static int send_request(struct hone_gpu_arm *arm, struct hone_gpu_request *request, const int *fds,
                        size_t n_fds, struct hone_err *err)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE((HONE_GPU_MAX_TENSORS + 1) * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {.iov_base = request, .iov_len = sizeof *request};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (n_fds > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(cmsg), fds, n_fds * sizeof(int));
    }
    ssize_t n;
    do {
        n = sendmsg(arm->socket, &message, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *request ? 0 : explain_end(arm, err);
}

/* Sends one request and takes its answer; *ret_ns is the time between. 0 with arm->is_alive false
 * and arm->end set when the arm ended over it. */
static int ask(struct hone_gpu_arm *arm, struct hone_gpu_request *request, const int *fds,
               size_t n_fds, int64_t deadline_ns, struct hone_gpu_answer *ret, int64_t *ret_ns,
               struct hone_err *err)
{
    if (!arm->is_alive || has_unasked(arm))
        return 0;
    request->serial = ++arm->serial;
    int64_t start = hone_now_ns();
    int code = send_request(arm, request, fds, n_fds, err);
    if (code < 0 || !arm->is_alive)
        return code;
    struct hone_gpu_answer answer;
    code = hear(arm, deadline_ns, &answer, err);
    if (ret_ns != NULL)
        *ret_ns = hone_now_ns() - start;
    if (code < 0 || !arm->is_alive)
        return code;
    if (answer.serial != request->serial || answer.op != request->op || !is_sane(&answer))
        return set_end(arm, HONE_REASON_TAMPERING,
                       "the device arena's answer belongs to no question");
    if (answer.is_error != 0)
        return explain_error(arm, (enum hone_gpu_op)request->op, &answer);
    *ret = answer;
    return 0;
}

/* ---- what the judge calls ---- */

static int take_start(struct hone_gpu_arm *arm, const struct hone_gpu_answer *answer)
{
    if (answer->serial != 0 || answer->op != HONE_GPU_OP_START)
        return set_end(arm, HONE_REASON_TAMPERING, "the device arena began with no greeting");
    if (answer->is_error != 0)
        return explain_error(arm, HONE_GPU_OP_START, answer);
    arm->is_ready = true;
    return 0;
}

int hone_gpu_arm_wait(struct hone_gpu_arm *arm, int64_t deadline_ns, struct hone_err *err)
{
    while (arm->is_alive && !arm->is_ready) {
        struct hone_gpu_answer answer;
        int64_t until = hone_min_i64(deadline_ns, hone_now_ns() + START_NS);
        int code = hear(arm, until, &answer, err);
        if (code == 0 && arm->is_alive)
            code = take_start(arm, &answer);
        if (code < 0)
            return code;
        if (arm->is_alive || arm->end.reason == HONE_REASON_TIMEOUT || arm->is_open || wants("on"))
            continue;
        if (start_open(arm, err) < 0)
            return hone_wrap(err, "starting a device arena without a jail");
    }
    if (!arm->is_ready && hone_outcome_is_good(&arm->end))
        hone_outcome_set(&arm->end, HONE_REASON_INFRA, "the device arena did not start");
    return arm->is_ready ? 0
                         : hone_fail(err, HONE_E_TARGET, "the device arena did not start: %.300s",
                                     arm->end.detail);
}

bool hone_gpu_arm_is_ready(struct hone_gpu_arm *arm)
{
    struct pollfd p = {.fd = arm->socket, .events = POLLIN};
    if (arm->is_alive && !arm->is_ready && poll(&p, 1, 0) > 0)
        (void)hone_gpu_arm_wait(arm, hone_now_ns() + START_NS, NULL);
    return arm->is_ready;
}

const struct hone_outcome *hone_gpu_arm_end(const struct hone_gpu_arm *arm)
{
    return &arm->end;
}

bool hone_gpu_arm_is_alive(const struct hone_gpu_arm *arm)
{
    return arm->is_alive;
}

const char *hone_gpu_arm_rung(const struct hone_gpu_arm *arm)
{
    return arm->jail != NULL ? hone_jail_rung(arm->jail) : arm->is_open ? "device-open" : arm->rung;
}

int64_t hone_gpu_arm_n_modules(const struct hone_gpu_arm *arm)
{
    return arm->n_modules;
}

int64_t hone_gpu_arm_n_hidden_variables(const struct hone_gpu_arm *arm)
{
    return arm->n_hidden;
}

const char *hone_gpu_arm_printed(struct hone_gpu_arm *arm, size_t *ret_len)
{
    /* Both processes share the descriptor's place. */
    off_t at = lseek(arm->printed.fd, 0, SEEK_CUR);
    *ret_len = at < 0 ? 0 : (size_t)hone_min_i64(at, PRINTED_BYTES);
    (void)lseek(arm->printed.fd, 0, SEEK_SET);
    return arm->printed.base;
}

static int ready(struct hone_gpu_arm *arm, int64_t deadline_ns, struct hone_err *err)
{
    return arm->is_ready || !arm->is_alive ? 0 : hone_gpu_arm_wait(arm, deadline_ns, err);
}

int hone_gpu_arm_load(struct hone_gpu_arm *arm, const struct hone_cuda_module *module,
                      int64_t deadline_ns, struct hone_err *err)
{
    int code = ready(arm, deadline_ns, err);
    if (code < 0)
        return code;
    HONE_CLEANUP(hone_buf_done) struct hone_buf file = HONE_BUF_INIT;
    const struct hone_cuda_variable *variables = module->variables.v;
    hone_buf_add(&file, module->cubin, module->cubin_len);
    for (size_t i = 0; i < module->variables.n; i++)
        hone_buf_add(&file, variables[i].name, strlen(variables[i].name) + 1);
    code = hone_buf_check(&file, err);
    HONE_AUTOCLOSE int fd = -1;
    if (code == 0)
        code = sealed_file("hone-module", file.data, file.len, &fd, err);
    if (code < 0)
        return code;
    struct hone_gpu_request request = {.op = HONE_GPU_OP_LOAD};
    request.u.load.cubin_bytes = (int64_t)module->cubin_len;
    request.u.load.file_bytes = (int64_t)file.len;
    struct hone_gpu_answer answer = {.serial = 0};
    arm->n_sets = 0;
    arm->n_modules++;
    code = ask(arm, &request, &fd, 1, hone_min_i64(deadline_ns, hone_now_ns() + WORK_NS), &answer,
               NULL, err);
    if (code == 0 && arm->is_alive)
        arm->n_hidden = answer.blocks_per_sm;
    return code;
}

int hone_gpu_arm_map(struct hone_gpu_arm *arm, const struct hone_gpu_layout *layout,
                     const struct hone_gpu_range *ranges, const struct hone_plan *plan,
                     int64_t deadline_ns, struct hone_err *err)
{
    int64_t n = layout->n_inputs + layout->n_outputs;
    int fds[HONE_GPU_MAX_TENSORS + 1];
    HONE_AUTOFREE char *text = hone_plan_print(plan);
    size_t len = strlen(text);
    HONE_BUG_ON(n < 1 || n > HONE_GPU_MAX_TENSORS);
    HONE_AUTOCLOSE int fd = -1;
    int code = sealed_file("hone-plan", text, len, &fd, err);
    if (code < 0)
        return code;
    fds[0] = fd;
    for (int64_t t = 0; t < n; t++)
        fds[t + 1] = ranges[t].fd;
    struct hone_gpu_request request = {.op = HONE_GPU_OP_MAP};
    request.u.map.file_bytes = (int64_t)len;
    request.u.map.layout = *layout;
    struct hone_gpu_answer answer;
    code = ask(arm, &request, fds, (size_t)n + 1,
               hone_min_i64(deadline_ns, hone_now_ns() + WORK_NS), &answer, NULL, err);
    arm->n_sets = code == 0 && arm->is_alive ? layout->n_sets : 0;
    return code;
}

int hone_gpu_arm_drop(struct hone_gpu_arm *arm, bool keeps_module, struct hone_err *err)
{
    struct hone_gpu_request request = {.op = HONE_GPU_OP_DROP};
    struct hone_gpu_answer answer;
    request.u.drop.keeps_module = keeps_module;
    arm->n_sets = 0;
    return arm->is_ready ? ask(arm, &request, NULL, 0, hone_now_ns() + WORK_NS, &answer, NULL, err)
                         : 0;
}

static int run_once(struct hone_gpu_arm *arm, const struct hone_gpu_calls *calls,
                    struct hone_gpu_time *ret, struct hone_err *err)
{
    struct hone_gpu_request request = {.op = HONE_GPU_OP_PREPARE};
    request.u.prepare.n_calls = calls->n_calls;
    request.u.prepare.flush_bytes = calls->is_single ? calls->flush_bytes : 0;
    request.u.prepare.scratch_poison = calls->scratch_poison;
    request.u.prepare.is_single = calls->is_single;
    request.u.prepare.keeps_scratch = calls->keeps_scratch;
    request.u.prepare.wipes_shared = calls->wipes_shared;
    struct hone_gpu_answer answer = {.serial = 0};
    int code = ask(arm, &request, NULL, 0, hone_now_ns() + WORK_NS, &answer, NULL, err);
    if (code < 0 || !arm->is_alive)
        return code;
    int64_t wall = 0;
    arm->has_run = arm->has_run || calls->n_calls > 0;
    request.op = HONE_GPU_OP_GO;
    code = ask(arm, &request, NULL, 0, hone_now_ns() + calls->timeout_ns, &answer, &wall, err);
    if (code == 0 && arm->is_alive)
        *ret = (struct hone_gpu_time){.wall_ns = wall,
                                      .event_ns = answer.event_ns,
                                      .stamp_ns = answer.stamp_ns,
                                      .sm_mhz = answer.sm_mhz,
                                      .is_late = answer.is_late != 0};
    return code;
}

int hone_gpu_arm_call(struct hone_gpu_arm *arm, const struct hone_gpu_calls *calls,
                      struct hone_gpu_time *ret, struct hone_err *err)
{
    int64_t most = calls->is_single ? HONE_GPU_MAX_SINGLES : HONE_GPU_MAX_CALLS;
    if (calls->n_calls < 1 || calls->n_calls > most)
        return hone_fail(err, HONE_E_LIMIT, "%lld calls in a block; 1 to %lld are possible",
                         (long long)calls->n_calls, (long long)most);
    for (int64_t i = 0; i < calls->n_calls; i++)
        HONE_BUG_ON(arm->is_alive && (calls->sets[i] < 0 || calls->sets[i] >= arm->n_sets));
    memcpy(arm->sets.base, calls->sets, (size_t)calls->n_calls * sizeof *calls->sets);
    struct hone_gpu_time time = {.wall_ns = 0};
    int code = run_once(arm, calls, &time, err);
    if (ret != NULL && code == 0 && arm->is_alive)
        *ret = time;
    return code;
}

int hone_gpu_arm_step(struct hone_gpu_arm *arm, int64_t set, uint32_t scratch_poison,
                      int64_t timeout_ns, struct hone_gpu_failed *ret, struct hone_err *err)
{
    struct hone_gpu_request request = {.op = HONE_GPU_OP_STEP};
    struct hone_gpu_answer answer;
    request.u.step.set = set;
    request.u.step.scratch_poison = scratch_poison;
    arm->has_run = true;
    arm->failed = (struct hone_gpu_failed){0};
    int code = ask(arm, &request, NULL, 0, hone_now_ns() + timeout_ns, &answer, NULL, err);
    *ret = arm->failed;
    return code;
}

int hone_gpu_arm_nop(struct hone_gpu_arm *arm, struct hone_gpu_time *ret, struct hone_err *err)
{
    const struct hone_gpu_calls nothing = {.timeout_ns = WORK_NS};
    struct hone_gpu_time time = {.is_late = true};
    int code = ready(arm, HONE_NO_DEADLINE, err);
    for (int i = 0; i < GATE_TRIES && time.is_late && code == 0 && arm->is_alive; i++)
        code = run_once(arm, &nothing, &time, err);
    *ret = time;
    if (code == 0 && arm->is_alive && time.is_late)
        return set_end(arm, HONE_REASON_INFRA,
                       "the gate in front of a block was not opened in time");
    return code;
}

int hone_gpu_arm_occupancy(struct hone_gpu_arm *arm, const char *kernel, int64_t block_threads,
                           int64_t dynamic_shared, int64_t *ret_blocks_per_sm, struct hone_err *err)
{
    struct hone_gpu_request request = {.op = HONE_GPU_OP_OCCUPANCY};
    if (strlen(kernel) >= HONE_GPU_MAX_NAME)
        return hone_fail(err, HONE_E_LIMIT, "a kernel's name of %zu bytes", strlen(kernel));
    snprintf(request.u.occupancy.kernel, HONE_GPU_MAX_NAME, "%s", kernel);
    request.u.occupancy.block_threads = block_threads;
    request.u.occupancy.dynamic_shared = dynamic_shared;
    struct hone_gpu_answer answer = {.serial = 0};
    int code = ask(arm, &request, NULL, 0, hone_now_ns() + WORK_NS, &answer, NULL, err);
    if (code == 0 && arm->is_alive)
        *ret_blocks_per_sm = answer.blocks_per_sm;
    return code;
}

/* Figures of a process that is not trusted: what cannot be is not there. */
static void check_page(struct hone_gpu_profile_page *page)
{
    page->chip[sizeof page->chip - 1] = page->note[sizeof page->note - 1] = '\0';
    hone_utf8_defuse(page->chip, '?');
    hone_utf8_defuse(page->note, '?');
    for (char *at = page->note; *at != '\0'; at++)
        if (*at == '\n' || *at == '\t')
            *at = ' ';
    if (page->n_ranges < 0 || page->n_ranges > HONE_CUPTI_MAX_RANGES || page->n_passes < 0 ||
        page->n_launches < 0 || !isfinite(page->call_ns) || page->call_ns < 0 ||
        page->call_ns > MOST_NS)
        *page = (struct hone_gpu_profile_page){.note = "the device arena sent impossible figures"};
    for (int32_t i = 0; i < page->n_ranges; i++) {
        struct hone_gpu_values *values = &page->ranges[i].values;
        for (size_t m = 0; m < HONE_GPU_N_METRICS; m++)
            if (!isfinite(values->v[m]) || values->v[m] < 0)
                values->v[m] = (double)NAN;
    }
}

int hone_gpu_arm_profile(struct hone_gpu_arm *arm, int64_t set, int64_t budget_ns,
                         uint32_t scratch_poison, int64_t timeout_ns,
                         struct hone_gpu_profile_page *ret, struct hone_err *err)
{
    HONE_CLEANUP(hone_shared_done) struct hone_shared page = HONE_SHARED_INIT;
    int code = hone_shared_new("hone-profile", (int64_t)sizeof *ret, false, &page, err);
    if (code < 0)
        return code;
    struct hone_gpu_request request = {.op = HONE_GPU_OP_PROFILE};
    request.u.profile.set = set;
    request.u.profile.budget_ns = budget_ns;
    request.u.profile.scratch_poison = scratch_poison;
    struct hone_gpu_answer answer;
    arm->has_run = true;
    code = ask(arm, &request, &page.fd, 1, hone_now_ns() + timeout_ns, &answer, NULL, err);
    if (code == 0 && arm->is_alive) {
        memcpy(ret, page.base, sizeof *ret);
        check_page(ret);
    }
    return code;
}
