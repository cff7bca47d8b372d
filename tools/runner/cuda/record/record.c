/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's side of recording: spec, jail, and what became of it. */
#include "tools/runner/cuda/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/runner/cuda/record/record_abi.h"
#include "tools/runner/cuda/record/record_read.h"
#include "tools/runner/jail/jail.h"
#include "workspace/base/clock.h"
#include "workspace/base/utf8.h"

#define DEFAULT_TIMEOUT_MS 2000
#define MEMORY_BYTES       (512ll << 20)
#define TMP_BYTES          (1ll << 20)
#define PRINTED_BYTES      (64 << 10)
#define MAX_PIDS           16

static const struct hone_plan_device h200 = {.sm_count = 132,
                                             .threads_per_block = 1024,
                                             .threads_per_sm = 2048,
                                             .shared_per_block_optin = 232448,
                                             .shared_per_sm = 233472,
                                             .grid_x = INT32_MAX,
                                             .grid_y = 65535,
                                             .grid_z = 65535,
                                             .major = 9,
                                             .minor = 0,
                                             .memory_bytes = 140ll << 30};

struct session {
    const struct hone_record_spec *spec;
    struct hone_pool *pool;
    int spec_fd, slots_fd, ends_fd, printed_fd;
    struct hone_record_ended *ends; /* of n_workloads x HONE_RECORD_RUNS; in the pool */
    size_t slots_bytes;
    const char *slots; /* mapped; NULL until the jail has ended */
    struct hone_jail_exit how;
    bool has_timed_out;
};

static void session_done(struct session *s)
{
    hone_close_fd(&s->spec_fd);
    hone_close_fd(&s->slots_fd);
    hone_close_fd(&s->ends_fd);
    hone_close_fd(&s->printed_fd);
    if (s->slots != NULL)
        (void)munmap((void *)(uintptr_t)s->slots, s->slots_bytes);
}

/* ---- the spec ---- */

static void name_tensors(const struct hone_task *task, struct hone_pool *pool,
                         struct hone_record_job *job)
{
    job->tensors.v = hone_pool_alloc(pool, HONE_RECORD_TENSORS * sizeof *job->tensors.v);
    for (size_t i = 0; i < task->n_inputs; i++)
        job->tensors.v[job->tensors.n++] = task->inputs[i].name;
    for (size_t i = 0; i < task->n_outputs; i++)
        job->tensors.v[job->tensors.n++] = task->outputs[i].name;
    job->scalar_types.v = hone_pool_alloc(pool, HONE_LIMIT_AXES * sizeof *job->scalar_types.v);
    for (size_t i = 0; i < task->n_scalars; i++)
        job->scalar_types.v[job->scalar_types.n++] = hone_dtype_name(task->scalars[i].dtype);
}

static struct hone_array make_calls(const struct hone_record_spec *spec, struct hone_pool *pool)
{
    const struct hone_task *task = spec->task;
    struct hone_record_call *calls = hone_pool_alloc(pool, (spec->n_workloads + 1) * sizeof *calls);
    for (size_t w = 0; w < spec->n_workloads; w++) {
        int64_t *axes = hone_pool_alloc(pool, (task->n_axes + 1) * sizeof *axes);
        double *scalars = hone_pool_alloc(pool, (task->n_scalars + 1) * sizeof *scalars);
        memcpy(axes, spec->workloads[w].axes, task->n_axes * sizeof *axes);
        for (size_t i = 0; i < task->n_scalars; i++)
            scalars[i] = spec->scalars != NULL ? spec->scalars[w * task->n_scalars + i]
                                               : task->scalars[i].value;
        calls[w] = (struct hone_record_call){.workload = spec->workloads[w].id,
                                             .axes = {axes, task->n_axes},
                                             .scalars = {scalars, task->n_scalars}};
    }
    return (struct hone_array){calls, spec->n_workloads};
}

static struct hone_i64s make_params(const struct hone_record_spec *spec, size_t kernel,
                                    struct hone_pool *pool)
{
    if (!spec->is_nvcc || spec->params == NULL)
        return (struct hone_i64s){NULL, 0};
    const struct hone_plan_param *from = spec->params[kernel].v;
    size_t n = spec->params[kernel].n;
    int64_t *to = hone_pool_alloc(pool, (2 * n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = from[i].at;
        to[2 * i + 1] = from[i].size;
    }
    return (struct hone_i64s){to, 2 * n};
}

static struct hone_array make_facts(const struct hone_record_spec *spec, struct hone_pool *pool)
{
    struct hone_record_kernel_fact *facts =
        hone_pool_alloc(pool, (spec->n_kernels + 1) * sizeof *facts);
    for (size_t i = 0; i < spec->n_kernels; i++)
        facts[i] = (struct hone_record_kernel_fact){.name = spec->kernels[i].name,
                                                    .registers = spec->kernels[i].registers,
                                                    .static_shared_bytes =
                                                        spec->kernels[i].static_shared_bytes,
                                                    .max_threads = spec->kernels[i].max_threads,
                                                    .params = make_params(spec, i, pool)};
    return (struct hone_array){facts, spec->n_kernels};
}

static char *make_spec(const struct hone_record_spec *spec, struct hone_pool *pool)
{
    const struct hone_plan_device *d = spec->device != NULL ? spec->device : &h200;
    struct hone_record_job job = {.symbol = spec->task->name,
                                  .n_inputs = (int64_t)spec->task->n_inputs,
                                  .n_outputs = (int64_t)spec->task->n_outputs,
                                  .calls = make_calls(spec, pool),
                                  .kernels = make_facts(spec, pool),
                                  .is_nvcc = spec->is_nvcc,
                                  .timeout_ms =
                                      spec->timeout_ms > 0 ? spec->timeout_ms : DEFAULT_TIMEOUT_MS,
                                  .sm_count = d->sm_count,
                                  .threads_per_block = d->threads_per_block,
                                  .threads_per_sm = d->threads_per_sm,
                                  .shared_per_block_optin = d->shared_per_block_optin,
                                  .shared_per_sm = d->shared_per_sm,
                                  .grid_x = d->grid_x,
                                  .grid_y = d->grid_y,
                                  .grid_z = d->grid_z,
                                  .major = d->major,
                                  .minor = d->minor,
                                  .device_bytes = d->memory_bytes};
    name_tensors(spec->task, pool, &job);
    HONE_AUTOJSON struct hone_json *json =
        hone_fields_encode(&job, hone_record_job_fields, hone_record_job_n_fields);
    return hone_json_print(json);
}

static int write_fd(int fd, const char *text, struct hone_err *err)
{
    size_t len = strlen(text);
    return write(fd, text, len) == (ssize_t)len
               ? 0
               : hone_fail_errno(err, errno, "writing a memory file");
}

static size_t ends_bytes(const struct session *s)
{
    return s->spec->n_workloads * HONE_RECORD_RUNS * sizeof *s->ends;
}

static int open_files(struct session *s, struct hone_err *err)
{
    HONE_AUTOFREE char *text = make_spec(s->spec, s->pool);
    s->slots_bytes = s->spec->n_workloads * HONE_RECORD_RUNS * (size_t)HONE_RECORD_SLOT;
    s->spec_fd = memfd_create("spec", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    s->slots_fd = memfd_create("recordings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    s->ends_fd = memfd_create("ends", MFD_CLOEXEC);
    s->printed_fd = memfd_create("printed", MFD_CLOEXEC);
    if (s->spec_fd < 0 || s->slots_fd < 0 || s->ends_fd < 0 || s->printed_fd < 0 ||
        ftruncate(s->slots_fd, (off_t)s->slots_bytes) < 0 ||
        ftruncate(s->ends_fd, (off_t)ends_bytes(s)) < 0)
        return hone_fail_errno(err, errno, "memory files for the recorder");
    int rc = write_fd(s->spec_fd, text, err);
    if (rc < 0)
        return rc;
    /* A launcher that shortens the recordings would end whoever reads them, us included. */
    const int size = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (fcntl(s->slots_fd, F_ADD_SEALS, size) < 0 ||
        fcntl(s->spec_fd, F_ADD_SEALS, size | F_SEAL_WRITE) < 0)
        return hone_fail_errno(err, errno, "sealing memory files");
    return 0;
}

/* ---- the jail ---- */

static int run_jail(struct session *s, struct hone_record_result *ret, struct hone_err *err)
{
    const struct hone_record_spec *spec = s->spec;
    const char *slash = strrchr(spec->object, '/');
    const char *folder =
        slash == NULL ? "."
                      : hone_pool_strndup(s->pool, spec->object, (size_t)(slash - spec->object));
    const char *object =
        hone_pool_printf(s->pool, "/work/%s", slash == NULL ? spec->object : slash + 1);
    const char *const argv[] = {"/hone/hone-runner", "--role", "recorder", object, NULL};
    struct hone_jail_spec jail_spec = {.profile = HONE_JAIL_RECORD,
                                       .rung = spec->rung,
                                       .allow_weak = spec->allow_weak,
                                       .argv = argv,
                                       .work_dir = folder,
                                       .memory_bytes = MEMORY_BYTES,
                                       .tmp_bytes = TMP_BYTES,
                                       .file_bytes = PRINTED_BYTES,
                                       .max_pids = MAX_PIDS,
                                       .fds = {s->spec_fd, s->slots_fd, s->ends_fd},
                                       .n_fds = 3,
                                       .stdin_fd = -1,
                                       .stdout_fd = s->printed_fd,
                                       .stderr_fd = s->printed_fd};
    struct hone_jail *jail = NULL;
    int rc = hone_jail_start(&jail_spec, &jail, err);
    if (rc < 0)
        return rc;
    ret->rung = hone_pool_strdup(s->pool, hone_jail_rung(jail));
    rc = hone_jail_wait(jail, spec->deadline_ns, &s->how, err);
    s->has_timed_out = rc == HONE_E_TIMEOUT;
    hone_jail_free(jail); /* before its slots are read */
    if (rc < 0 && !s->has_timed_out)
        return rc;
    void *slots = mmap(NULL, s->slots_bytes, PROT_READ, MAP_SHARED, s->slots_fd, 0);
    if (slots == MAP_FAILED)
        return hone_fail_errno(err, errno, "mapping the recordings");
    s->slots = slots;
    s->ends = hone_pool_alloc(s->pool, ends_bytes(s));
    return pread(s->ends_fd, s->ends, ends_bytes(s), 0) == (ssize_t)ends_bytes(s)
               ? 0
               : hone_fail_errno(err, errno, "reading how the calls ended");
}

static const char *read_printed(struct session *s)
{
    char *text = hone_pool_alloc(s->pool, PRINTED_BYTES + 1);
    ssize_t n = pread(s->printed_fd, text, PRINTED_BYTES, 0);
    for (ssize_t i = 0; i < n; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    hone_utf8_defuse(text, '?');
    return text;
}

/* ---- how it ended ---- */

static const char *where_fault(const struct session *s, const struct hone_record_head *head,
                               int run)
{
    size_t interval = 0;
    int64_t offset = 0;
    const struct hone_task *task = s->spec->task;
    if (!hone_record_find(run, head->fault_address, &interval, &offset))
        return NULL;
    const char *name = interval < task->n_inputs ? task->inputs[interval].name
                       : interval < task->n_inputs + task->n_outputs
                           ? task->outputs[interval - task->n_inputs].name
                           : NULL;
    return hone_pool_printf(
        s->pool,
        "the launcher reads or writes %s%s%s on the host (offset %lld): device memory cannot be "
        "seen while launching. fix: do it in a kernel",
        name == NULL ? "scratch memory" : "'", name == NULL ? "" : name, name == NULL ? "" : "'",
        (long long)offset);
}

static void tell_death(const struct session *s, const struct hone_record_head *head,
                       const struct hone_record_ended *ended, int run, const char *workload,
                       struct hone_outcome *end)
{
    int number = ended->exit_signal;
    bool is_memory = number == SIGSEGV || number == SIGBUS;
    const char *fault = is_memory ? where_fault(s, head, run) : NULL;
    const char *error = hone_record_heard(&head->error, s->pool, NULL);
    const char *after = error == NULL ? "" : hone_pool_printf(s->pool, " after %s", error);
    if (!ended->has_ended || number == SIGXCPU || number == SIGKILL)
        hone_outcome_set(
            end, HONE_REASON_TIMEOUT,
            "the launcher did not return within %lld ms (workload %s). fix: no endless loop, no "
            "waiting for the device's results",
            (long long)(s->spec->timeout_ms > 0 ? s->spec->timeout_ms : DEFAULT_TIMEOUT_MS),
            workload);
    else if (fault != NULL)
        hone_outcome_set(end, HONE_REASON_CRASH, "%s (workload %s)", fault, workload);
    else if (number == SIGSYS)
        hone_outcome_set(end, HONE_REASON_FORBIDDEN,
                         "the launcher made a system call that is not allowed (workload %s)",
                         workload);
    else if (number == SIGXFSZ)
        hone_outcome_set(end, HONE_REASON_DISK, "the launcher printed more than %d bytes",
                         PRINTED_BYTES);
    else if (number != 0)
        hone_outcome_set(end, HONE_REASON_CRASH,
                         "the launcher was killed by signal %d (%s)%s (workload %s)", number,
                         strsignal(number), after, workload);
    else
        hone_outcome_set(end, HONE_REASON_EXITED,
                         "the launcher ended its process (exit status %d)%s (workload %s)",
                         ended->exit_status, after, workload);
}

static void tell_refusal(const struct session *s, const struct hone_record_head *head,
                         const char *workload, struct hone_outcome *end)
{
    enum hone_reason reason = HONE_REASON_LAUNCH;
    const char *words = hone_record_heard(&head->refusal, s->pool, &reason);
    const char *error =
        reason == HONE_REASON_OOM ? hone_record_heard(&head->error, s->pool, NULL) : NULL;
    struct hone_err map = HONE_ERR_INIT;
    if (words == NULL)
        hone_outcome_set(end, HONE_REASON_TAMPERING,
                         "the launcher wrote into what it is recorded in (workload %s)", workload);
    else if (strcmp(words, "a tensor map cannot be encoded") == 0 &&
             hone_record_map_check(&head->refused_map, &map) < 0)
        hone_outcome_set(end, reason, "%s (workload %s)", map.message, workload);
    else
        hone_outcome_set(end, reason, "%s%s%s", words, error == NULL ? "" : ": ",
                         error == NULL ? "" : error);
}

/* false: this call was not recorded, and *end says why. */
static bool is_done(const struct session *s, size_t call, int run, struct hone_outcome *end)
{
    size_t number = call * HONE_RECORD_RUNS + (size_t)run;
    const struct hone_record_ended *ended = &s->ends[number];
    const char *workload = s->spec->workloads[call].id;
    struct hone_record_head head;
    memcpy(&head, s->slots + number * (size_t)HONE_RECORD_SLOT, sizeof head);
    bool is_over = ended->is_begun != 0 && ended->has_ended != 0 && ended->exit_status == 0;
    if (is_over && head.status == HONE_RECORD_DONE)
        return true;
    if (s->how.was_oom)
        hone_outcome_set(end, HONE_REASON_OOM,
                         "the launcher used more than %lld MiB of host memory",
                         (long long)(MEMORY_BYTES >> 20));
    else if (is_over && head.status == HONE_RECORD_REFUSED)
        tell_refusal(s, &head, workload, end);
    else if (ended->is_begun != 0 && s->how.status == 0)
        tell_death(s, &head, ended, run, workload, end);
    else if (s->has_timed_out)
        hone_outcome_set(end, HONE_REASON_TIMEOUT, "recording did not end in time (workload %s)",
                         workload);
    else
        hone_outcome_set(end, HONE_REASON_INFRA,
                         "the recorder ended by itself (status %d, signal %d)", s->how.status,
                         s->how.signal);
    return false;
}

static int read_plans(struct session *s, struct hone_record_result *ret,
                      struct hone_outcome *ret_end, struct hone_err *err)
{
    const struct hone_task *task = s->spec->task;
    struct hone_plan *plans = hone_pool_alloc(s->pool, (s->spec->n_workloads + 1) * sizeof *plans);
    struct hone_record_names names = {.v = NULL};
    for (size_t i = 0; i < s->spec->n_workloads; i++) {
        const char *a = s->slots + i * HONE_RECORD_RUNS * (size_t)HONE_RECORD_SLOT;
        for (int run = 0; run < HONE_RECORD_RUNS; run++)
            if (!is_done(s, i, run, ret_end))
                return 0;
        struct hone_record_head head;
        memcpy(&head, a, sizeof head);
        ret->asked_facts |= head.asked_facts != 0;
        const struct hone_recording recording = {.a = a,
                                                 .b = a + HONE_RECORD_SLOT,
                                                 .len = (size_t)HONE_RECORD_SLOT,
                                                 .task = task->name,
                                                 .workload = s->spec->workloads[i].id,
                                                 .n_tensors =
                                                     (int64_t)(task->n_inputs + task->n_outputs)};
        int rc = hone_record_read(&recording, s->pool, &names, &plans[i], ret_end, err);
        if (rc == HONE_E_ARG ||
            rc == HONE_E_LIMIT) { /* only a launcher that writes into the recording */
            hone_outcome_set(ret_end, HONE_REASON_TAMPERING, "%s",
                             err == NULL ? "damaged" : err->message);
            return 0;
        }
        if (rc < 0 || ret_end->reason != HONE_REASON_BUILT)
            return rc;
    }
    ret->plans = (struct hone_array){plans, s->spec->n_workloads};
    ret->instances = (struct hone_array){names.v, names.n};
    hone_outcome_set(ret_end, HONE_REASON_BUILT, "recorded");
    return 0;
}

/* Scalars that travel in registers of their own. */
static size_t n_floats(const struct hone_task *task)
{
    size_t n = 0;
    for (size_t i = 0; i < task->n_scalars; i++)
        n += task->scalars[i].dtype == HONE_DTYPE_F32 || task->scalars[i].dtype == HONE_DTYPE_F64;
    return n;
}

int hone_record(const struct hone_record_spec *spec, struct hone_pool *pool,
                struct hone_record_result *ret, struct hone_outcome *ret_end, struct hone_err *err)
{
    HONE_CLEANUP(session_done)
    struct session s = {
        .spec = spec, .pool = pool, .spec_fd = -1, .slots_fd = -1, .ends_fd = -1, .printed_fd = -1};
    struct hone_record_result result = {.printed = ""};
    struct hone_outcome end = HONE_OUTCOME_INIT;
    if (spec->n_workloads < 1 || spec->n_workloads > 2 * HONE_LIMIT_WORKLOADS)
        return hone_fail(err, HONE_E_LIMIT, "%zu workloads to record, 1 to %d are accepted",
                         spec->n_workloads, 2 * HONE_LIMIT_WORKLOADS);
    if (n_floats(spec->task) > HONE_RECORD_FLOATS) {
        *ret = result;
        hone_outcome_set(ret_end, HONE_REASON_BAD_TASK,
                         "a launcher takes at most %d floating scalars", HONE_RECORD_FLOATS);
        return 0;
    }
    int rc = open_files(&s, err);
    if (rc == 0)
        rc = run_jail(&s, &result, err);
    if (rc == 0) {
        result.printed = read_printed(&s);
        rc = read_plans(&s, &result, &end, err);
    }
    if (rc < 0)
        return hone_wrap(err, "recording the launcher");
    *ret = result;
    *ret_end = end;
    return 0;
}

static const char *lowered_of(const struct hone_array *instances, const char *symbol)
{
    const struct hone_record_instance *v = instances->v;
    for (size_t i = 0; symbol != NULL && i < instances->n; i++)
        if (v[i].lowered != NULL && strcmp(v[i].symbol, symbol) == 0)
            return v[i].lowered;
    return symbol;
}

void hone_record_rename(struct hone_array *plans, const struct hone_array *instances)
{
    struct hone_plan *plan = plans->v;
    for (size_t i = 0; i < plans->n; i++) {
        struct hone_plan_op *ops = plan[i].ops.v;
        for (size_t k = 0; k < plan[i].ops.n; k++) {
            struct hone_plan_pointer *pointers = ops[k].pointers.v;
            ops[k].kernel = lowered_of(instances, ops[k].kernel);
            ops[k].to.symbol = lowered_of(instances, ops[k].to.symbol);
            ops[k].from.symbol = lowered_of(instances, ops[k].from.symbol);
            for (size_t p = 0; p < ops[k].pointers.n; p++)
                pointers[p].symbol = lowered_of(instances, pointers[p].symbol);
        }
    }
}
