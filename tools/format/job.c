/* SPDX-License-Identifier: Apache-2.0 */
/* job.json by field tables (job.h), and the checks that tables cannot express: stages in
 * order and without repeats, plain file names in open/, absolute paths, one candidate, seeds
 * of the right length. */
#include "tools/format/job.h"

#include "workspace/base/limits.h"
#include "workspace/task/target.h"

#include <string.h>

const char *const hone_assembly_choices[] = {"none", "sass", "ptx", "asm", NULL};

const struct hone_field hone_tunable_fields[HONE_TUNABLE_N_FIELDS] = {
    HONE_FIELD(struct hone_tunable, name, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name in the source's pragma."),
    HONE_FIELD(struct hone_tunable, value, .required = true, .min = -HONE_LIMIT_TUNE_VALUE,
               .max = HONE_LIMIT_TUNE_VALUE, .help = "Value of the constant."),
};

static const struct hone_field known_fields[] = {
    HONE_FIELD(struct hone_known, workload, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Id."),
    HONE_FIELD(struct hone_known, ratio, .required = true, .help = "Against the baseline."),
    HONE_FIELD(struct hone_known, low, .required = true, .help = "Of its 95 % interval."),
    HONE_FIELD(struct hone_known, high, .required = true, .help = "Of its 95 % interval."),
};

static const struct hone_field arm_fields[] = {
    HONE_FIELD(struct hone_arm, name, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "candidate, baseline or parent."),
    HONE_FIELD(struct hone_arm, source, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "File in open/."),
    HONE_FIELD(struct hone_arm, flags, .max_len = HONE_LIMIT_FLAGS, .skip_empty = true,
               .help = "Compiler options."),
    HONE_FIELD(struct hone_arm, tunables, .max_len = HONE_LIMIT_TUNABLES, .skip_empty = true,
               HONE_OF(struct hone_tunable, hone_tunable_fields), .help = "Values of tunables."),
    HONE_FIELD(struct hone_arm, known_device, .skip_empty = true, .max_len = HONE_LIMIT_LINE_BYTES,
               .help = "Device of its record."),
    HONE_FIELD(struct hone_arm, known_threads, .min = 0, .max = HONE_LIMIT_CORES,
               .skip_empty = true, .help = "Cores it was allowed there; 0: not said."),
    HONE_FIELD(struct hone_arm, known, .max_len = HONE_LIMIT_WORKLOADS, .skip_empty = true,
               HONE_OF(struct hone_known, known_fields), .help = "Its record, by workload."),
};

static const struct hone_field point_fields[] = {
    HONE_FIELD(struct hone_point, tunables, .max_len = HONE_LIMIT_TUNABLES, .skip_empty = true,
               HONE_OF(struct hone_tunable, hone_tunable_fields), .help = "Values of tunables."),
    HONE_FIELD(struct hone_point, flags, .max_len = HONE_LIMIT_FLAGS, .skip_empty = true,
               .help = "Compiler options."),
};

const struct hone_field hone_job_fields[] = {
    HONE_FIELD(struct hone_job, format, .required = true, .min = HONE_JOB_FORMAT,
               .max = HONE_JOB_FORMAT, .help = "Version of this format."),
    HONE_FIELD(struct hone_job, id, .required = true, .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "Name of the call."),
    HONE_FIELD(struct hone_job, target, .fallback_str = "cpu", .choices = hone_target_words,
               .help = "Where the kernel runs."),
    HONE_FIELD(struct hone_job, tier, .fallback_i64 = HONE_TIER_SCREEN,
               .choices = hone_tier_choices, .help = "Effort: screen, decide or confirm."),
    HONE_FIELD(
        struct hone_job, stages, .required = true, .max_len = HONE_LIMIT_STAGES,
        .help = "build, policy, smoke, verify, screen, time, profile, run, calibrate, program; in "
                "order."),
    HONE_FIELD(struct hone_job, task_dir, .required = true, .max_len = HONE_LIMIT_PATH_BYTES,
               .help = "Absolute folder of the task pack."),
    HONE_FIELD(struct hone_job, task_hash, .skip_empty = true, .max_len = 64,
               .help = "Refused when the pack on disk differs."),
    HONE_FIELD(struct hone_job, arms, .required = true, .max_len = HONE_LIMIT_ARMS,
               HONE_OF(struct hone_arm, arm_fields), .help = "Sources, the candidate first."),
    HONE_FIELD(struct hone_job, points, .max_len = HONE_LIMIT_TUNE_POINTS, .skip_empty = true,
               HONE_OF(struct hone_point, point_fields), .help = "Settings of a sweep."),
    HONE_FIELD(struct hone_job, workloads, .max_len = HONE_LIMIT_WORKLOADS, .skip_empty = true,
               .help = "Ids; empty: all public ones."),
    HONE_FIELD(struct hone_job, axes, .skip_empty = true, .help = "One size alone, by axis."),
    HONE_FIELD(struct hone_job, n_hidden, .min = 0, .max = HONE_LIMIT_HIDDEN,
               .help = "Hidden workloads to draw besides."),
    HONE_FIELD(struct hone_job, seed_hex, .skip_empty = true, .max_len = 32,
               .help = "32 hex digits; none: fresh."),
    HONE_FIELD(struct hone_job, n_threads, .min = 0, .max = HONE_LIMIT_CORES,
               .help = "Cores the kernel may use; 0: all."),
    HONE_FIELD(struct hone_job, budget_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms",
               .help = "For timing, over all workloads; 0: the tier's default."),
    HONE_FIELD(struct hone_job, finish_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS,
               .skip_empty = true, .unit = "ms",
               .help = "When timing should be over, with fewer rounds if need be; 0: none."),
    HONE_FIELD(struct hone_job, timeout_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS, .unit = "ms",
               .help = "For the whole job; 0: the tier's default."),
    HONE_FIELD(struct hone_job, call_timeout_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS,
               .unit = "ms", .help = "For one call of a kernel; 0: the default."),
    HONE_FIELD(struct hone_job, memory_bytes, .min = 0, .max = HONE_LIMIT_JAIL_BYTES,
               .unit = "bytes", .help = "Limit of the jail; 0: the default."),
    HONE_FIELD(struct hone_job, jail, .fallback_str = "auto", .max_len = HONE_LIMIT_NAME_BYTES,
               .help = "auto, or a rung by name."),
    HONE_FIELD(struct hone_job, allow_weak_jail, .help = "Accept the weak rung."),
    HONE_FIELD(struct hone_job, cache_dir, .skip_empty = true, .max_len = HONE_LIMIT_PATH_BYTES,
               .help = "Compiled objects by content."),
    HONE_FIELD(struct hone_job, lease_path, .skip_empty = true, .max_len = HONE_LIMIT_PATH_BYTES,
               .help = "Lock file of the timing lease."),
    HONE_FIELD(struct hone_job, lease_wait_ms, .min = 0, .max = HONE_LIMIT_TIMEOUT_MS,
               .skip_empty = true, .unit = "ms", .help = "At most for it; 0: ten minutes."),
    HONE_FIELD(struct hone_job, machine_path, .skip_empty = true, .max_len = HONE_LIMIT_PATH_BYTES,
               .help = "Measured ceilings are kept here."),
    HONE_FIELD(struct hone_job, is_baseline_known_good, .skip_empty = true,
               .help = "The baseline was verified before; its check is skipped."),
    HONE_FIELD(struct hone_job, assembly, .fallback_str = "none", .skip_empty = true,
               .choices = hone_assembly_choices, .help = "The candidate's text to report."),
    HONE_FIELD(struct hone_job, assembly_kernel, .skip_empty = true,
               .max_len = HONE_LIMIT_WORD_BYTES, .help = "Its kernel; none: the heaviest."),
};
const size_t hone_job_n_fields = HONE_COUNTOF(hone_job_fields);

static const char *const stage_words[] = {"build", "policy",  "smoke", "verify",    "screen",
                                          "time",  "profile", "run",   "calibrate", "program"};

/* Stages are an ordered subset of stage_words. */
static int check_stages(const struct hone_strs *stages, struct hone_err *err)
{
    size_t next = 0;

    if (stages->n == 0)
        return hone_fail_at(err, HONE_E_ARG, "stages", "at least one stage is needed");
    for (size_t i = 0; i < stages->n; i++) {
        size_t at = next;
        while (at < HONE_COUNTOF(stage_words) && strcmp(stages->v[i], stage_words[at]) != 0)
            at++;
        if (at == HONE_COUNTOF(stage_words))
            return hone_fail_at(
                err, HONE_E_ARG, "stages",
                "'%.40s' is unknown, repeated or out of order; the order is build, "
                "policy, smoke, verify, screen, time, profile, run, calibrate, program",
                stages->v[i]);
        next = at + 1;
    }
    return 0;
}

static bool is_hex(const char *text, size_t n_digits)
{
    return strlen(text) == n_digits && strspn(text, "0123456789abcdefABCDEF") == n_digits;
}

bool hone_assembly_is_of(const char *assembly, const char *target)
{
    bool is_any = assembly == NULL || strcmp(assembly, "none") == 0;
    bool is_asm = !is_any && strcmp(assembly, "asm") == 0;

    return is_any || is_asm != hone_target_traits(target)->has_device;
}

static bool is_plain_file(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

static int check_arms(const struct hone_job *job, struct hone_err *err)
{
    const struct hone_arm *arms = job->arms.v;

    if (job->arms.n == 0 || strcmp(arms[0].name, "candidate") != 0)
        return hone_fail_at(err, HONE_E_ARG, "arms", "the first arm must be the candidate");
    for (size_t i = 0; i < job->arms.n; i++) {
        if (!is_plain_file(arms[i].source))
            return hone_fail_at(err, HONE_E_ARG, "arms",
                                "source '%.60s' must be a plain file name in open/",
                                arms[i].source);
        for (size_t k = 0; k < i; k++)
            if (strcmp(arms[i].name, arms[k].name) == 0)
                return hone_fail_at(err, HONE_E_ARG, "arms", "two arms are named '%.40s'",
                                    arms[i].name);
    }
    return 0;
}

static int check_paths(const struct hone_job *job, struct hone_err *err)
{
    const struct {
        const char *name, *path;
    } paths[] = {{"task_dir", job->task_dir},
                 {"cache_dir", job->cache_dir},
                 {"lease_path", job->lease_path},
                 {"machine_path", job->machine_path}};

    for (size_t i = 0; i < HONE_COUNTOF(paths); i++)
        if (paths[i].path != NULL && paths[i].path[0] != '/')
            return hone_fail_at(err, HONE_E_ARG, paths[i].name, "must be an absolute path");
    return 0;
}

int hone_job_parse(const char *text, size_t len, struct hone_pool *pool, struct hone_job *ret,
                   struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = NULL;
    struct hone_job job;
    int rc;

    if (len > HONE_LIMIT_JOB_BYTES)
        return hone_fail(err, HONE_E_LIMIT, "job.json is %zu bytes, at most %u are read", len,
                         HONE_LIMIT_JOB_BYTES);
    rc = hone_json_parse(text, len, &json, err);
    if (rc < 0)
        return rc;
    rc = hone_fields_decode(json, hone_job_fields, hone_job_n_fields, &job, sizeof(job), pool, err);
    if (rc < 0)
        return rc;
    rc = check_stages(&job.stages, err);
    if (rc == 0)
        rc = check_arms(&job, err);
    if (rc == 0)
        rc = check_paths(&job, err);
    if (rc < 0)
        return rc;
    if (job.seed_hex != NULL && !is_hex(job.seed_hex, 32))
        return hone_fail_at(err, HONE_E_ARG, "seed_hex", "must be 32 hex digits");
    if (job.task_hash != NULL && !is_hex(job.task_hash, 64))
        return hone_fail_at(err, HONE_E_ARG, "task_hash", "must be 64 hex digits");
    *ret = job;
    return 0;
}

int64_t hone_job_most_ms(const struct hone_job *job)
{
    int64_t lease_ms = job->lease_wait_ms > 0 ? job->lease_wait_ms : HONE_JOB_LEASE_MS;

    return (job->timeout_ms > 0 ? job->timeout_ms : HONE_JOB_TIMEOUT_MS) +
           (job->lease_path != NULL ? lease_ms : 0);
}

char *hone_job_print(const struct hone_job *job)
{
    HONE_AUTOJSON struct hone_json *json =
        hone_fields_encode(job, hone_job_fields, hone_job_n_fields);

    return hone_json_print_pretty(json);
}

const struct hone_arm *hone_job_arm(const struct hone_job *job, const char *name)
{
    const struct hone_arm *arms = job->arms.v;

    for (size_t i = 0; i < job->arms.n; i++)
        if (strcmp(arms[i].name, name) == 0)
            return &arms[i];
    return NULL;
}
