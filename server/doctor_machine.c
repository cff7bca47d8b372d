/* SPDX-License-Identifier: Apache-2.0 */
/* What hone doctor says of the machine: runner, jail, compilers, counters, workspace. */
#include "server/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agents/source/c_parser.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/process.h"

/* First line of a program's stdout, or NULL when it does not run; owned. */
static char *first_line(const char *const *argv)
{
    struct hone_process_spec spec = {.argv = argv, .deadline_ns = hone_deadline_in_ms(20000)};
    struct hone_process_result result;
    if (hone_process_run(&spec, &result, NULL) < 0)
        return NULL;
    char *line =
        result.exit_status == 0 ? hone_strndup(result.out, strcspn(result.out, "\n")) : NULL;
    hone_process_result_done(&result);
    return line;
}

static void look_at_compilers(struct hone_doctor *doctor)
{
    static const struct {
        const char *program;
        enum hone_doctor_level level;
        const char *loss;
    } programs[] = {
        {"gcc", HONE_DOCTOR_BAD, "no C kernel can be compiled; install gcc"},
        {"clang", HONE_DOCTOR_WEAK, "fewer vectorisation remarks; install clang"},
        {"git", HONE_DOCTOR_WEAK, "no housekeeping of the history; install git"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(programs); i++) {
        const char *const argv[] = {programs[i].program, "--version", NULL};
        HONE_AUTOFREE char *line = first_line(argv);
        hone_doctor_tell(doctor, line ? HONE_DOCTOR_GOOD : programs[i].level, programs[i].program,
                         "%s", line ? line : programs[i].loss);
    }
}

static void look_at_libclang(struct hone_doctor *doctor)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_c_parser *parser = NULL;
    bool is_there = hone_c_parser_new(&parser, &err) == 0;
    hone_doctor_tell(doctor, is_there ? HONE_DOCTOR_GOOD : HONE_DOCTOR_WEAK, "libclang", "%s",
                     is_there ? "the rule coder can edit sources" : err.message);
    hone_c_parser_free(parser);
}

static void look_at_jail(struct hone_doctor *doctor, const struct hone_json *rungs)
{
    bool has_full = false, has_any = false;
    for (const struct hone_json *rung = hone_json_first(rungs); rung; rung = hone_json_next(rung)) {
        bool works = hone_json_get_bool(rung, "works", false);
        const char *name = hone_json_get_str(rung, "name", "");
        has_any = has_any || works;
        has_full = has_full || (works && strcmp(name, "weak") != 0);
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "jail rung", "%s %s: %s", name,
                         works ? "works" : "does not work", hone_json_get_str(rung, "why", ""));
    }
    if (has_full)
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "jail", "candidates and compilers run isolated");
    else if (has_any)
        hone_doctor_tell(
            doctor, doctor->args->common.allow_weak_jail ? HONE_DOCTOR_WEAK : HONE_DOCTOR_BAD,
            "jail",
            "only the weak rung works here; run as root, allow user namespaces, or accept it with "
            "--allow-weak-jail");
    else
        hone_doctor_tell(doctor, HONE_DOCTOR_BAD, "jail",
                         "no rung works; nothing can be evaluated safely");
}

static void look_at_gpu_tools(struct hone_doctor *doctor, const struct hone_json *gpu)
{
    const char *nvcc = hone_json_get_str(gpu, "nvcc", NULL);
    bool is_open = !hone_json_get_bool(gpu, "restricts_counters", false) || geteuid() == 0;
    hone_doctor_tell(doctor, nvcc ? HONE_DOCTOR_GOOD : HONE_DOCTOR_WEAK, "nvcc", "%s",
                     nvcc ? nvcc
                          : "not found: sources that need it (CUB, device lambdas) are refused");
    if (!hone_json_get_str(gpu, "cupti", NULL))
        hone_doctor_tell(
            doctor, HONE_DOCTOR_WEAK, "gpu counts",
            "CUPTI was not found: profiles rest on times; install the toolkit's CUPTI");
    else if (!is_open)
        hone_doctor_tell(doctor, HONE_DOCTOR_WEAK, "gpu counts",
                         "the driver shows counters to administrators only; load its module with "
                         "NVreg_RestrictProfilingToAdminUsers=0, or run as root");
    else
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "gpu counts",
                         "the device's counters can be read");
}

/* A machine without a GPU is no defect: the CPU target stands alone. */
static void look_at_gpu(struct hone_doctor *doctor, const struct hone_json *gpu)
{
    const struct hone_json *devices = hone_json_get(gpu, "devices");
    for (const struct hone_json *d = hone_json_first(devices); d; d = hone_json_next(d))
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "gpu",
                         "%s, %s, %lld SMs, %lld GiB, driver for CUDA %s",
                         hone_json_get_str(d, "name", "unknown"), hone_json_get_str(d, "arch", ""),
                         (long long)hone_json_get_i64(d, "sm_count", 0),
                         (long long)hone_json_get_i64(d, "memory_bytes", 0) >> 30,
                         hone_json_get_str(gpu, "driver", "unknown"));
    bool has_device = hone_json_size(devices) > 0;
    if (!has_device) { /* what was tried stands in brackets behind */
        const char *why = hone_json_get_str(gpu, "why", "not asked"), *end = strstr(why, " (");
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "gpu",
                         "none, %.*s: target cuda compiles at most",
                         (int)(end ? end - why : (ptrdiff_t)strlen(why)), why);
    }
    const char *nvrtc = hone_json_get_str(gpu, "nvrtc", NULL);
    if (nvrtc)
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "nvrtc", "CUDA %s", nvrtc);
    else if (has_device)
        hone_doctor_tell(doctor, HONE_DOCTOR_BAD, "nvrtc",
                         "%s; install the CUDA toolkit or set HONE_CUDA_LIB",
                         hone_json_get_str(gpu, "why_nvrtc", "not found"));
    if (has_device)
        look_at_gpu_tools(doctor, gpu);
}

static void look_at_torch(struct hone_doctor *doctor, const struct hone_json *torch)
{
    const char *version = hone_json_get_str(torch, "torch", NULL);
    const char *cuda = hone_json_get_str(torch, "cuda", NULL);
    if (version)
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "torch", "%s, Python %s (%s), %s%s", version,
                         hone_json_get_str(torch, "version", ""),
                         hone_json_get_str(torch, "program", ""), cuda ? "CUDA " : "no CUDA",
                         cuda ? cuda : "");
    else /* nothing but imported modules needs it */
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "torch", "none, PyTorch tasks do not run: %s",
                         hone_json_get_str(torch, "why", "not asked"));
}

#define RUNNER_MS 20000 /* a cluster that has no place in this time has none for a doctor */

static void look_at_runner(struct hone_doctor *doctor)
{
    struct hone_executor *executor = NULL;
    HONE_AUTOJSON struct hone_json *probe = NULL;
    struct hone_err err = HONE_ERR_INIT;
    struct hone_executor_spec spec = hone_executor_of(&doctor->args->common);
    spec.start_ms = RUNNER_MS;
    int rc = hone_open_executor(&spec, &executor, &err);
    if (rc == 0)
        rc = executor->probe(executor->cookie, &probe, &err);
    HONE_AUTOFREE char *name = hone_strdup(executor != NULL ? executor->name : "");
    hone_executor_free(executor);
    if (rc < 0) {
        hone_doctor_tell(doctor, HONE_DOCTOR_BAD, "runner",
                         rc == HONE_E_TARGET ? "%s"
                                             : "%s; build or install hone-runner beside hone",
                         err.message);
        return;
    }
    hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "runner", "hone-runner answers (%s)", name);
    hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "cpu", "%s, %lld cores, %lld MiB last-level cache",
                     hone_json_get_str(probe, "cpu", "unknown"),
                     (long long)hone_json_get_i64(probe, "n_cores", 0),
                     (long long)hone_json_get_i64(probe, "cache_bytes", 0) >> 20);
    look_at_jail(doctor, hone_json_get(probe, "jail"));
    look_at_gpu(doctor, hone_json_get(probe, "gpu"));
    look_at_torch(doctor, hone_json_get(probe, "torch"));
}

static void look_at_counters(struct hone_doctor *doctor)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .exclude_kernel = 1};
    HONE_AUTOCLOSE int fd =
        (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "cpu counts", "hardware counters can be read");
    else
        hone_doctor_tell(doctor, HONE_DOCTOR_WEAK, "cpu counts",
                         "no hardware counters (%s): profiles rest on times and compiler remarks%s",
                         strerror(errno),
                         errno == EACCES || errno == EPERM
                             ? "; set kernel.perf_event_paranoid to 2 or less"
                             : "");
}

static void look_at_noise(struct hone_doctor *doctor)
{
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    char line[128] = "";
    if (fd >= 0) {
        ssize_t n = read(fd, line, sizeof(line) - 1);
        line[n > 0 ? n : 0] = '\0';
        close(fd);
    }
    double load = strtod(line, NULL);
    long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (load > 0.5 * (double)n_cores)
        hone_doctor_tell(
            doctor, HONE_DOCTOR_WEAK, "quiet",
            "load is %.1f on %ld cores: expect wide intervals and inconclusive verdicts", load,
            n_cores);
    else
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "quiet", "load is %.1f on %ld cores", load,
                         n_cores);
}

static void look_at_workspace(struct hone_doctor *doctor)
{
    const char *dir = doctor->args->common.workspace;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    struct hone_err err = HONE_ERR_INIT;
    int rc = hone_workspace_open(dir, &ws, &err);
    if (rc == 0)
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "workspace", "%s", hone_workspace_dir(ws));
    else
        hone_doctor_tell(doctor, rc == HONE_E_IO ? HONE_DOCTOR_BAD : HONE_DOCTOR_WEAK, "workspace",
                         "%s", err.message);
    HONE_AUTOFREE char *data_dir = hone_data_dir();
    if (data_dir)
        hone_doctor_tell(doctor, HONE_DOCTOR_GOOD, "packs", "%s", data_dir);
    else
        hone_doctor_tell(doctor, HONE_DOCTOR_WEAK, "packs",
                         "the shipped task packs are not beside the program; set HONE_DATA");
    struct statvfs fs;
    if (statvfs(dir, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0) {
        hone_doctor_tell(doctor, HONE_DOCTOR_BAD, "disk", "it is read-only");
    } else if (statvfs(dir, &fs) == 0) {
        double gib = (double)fs.f_bavail * (double)fs.f_frsize / 1073741824.0;
        hone_doctor_tell(doctor,
                         gib < 0.2 ? HONE_DOCTOR_BAD
                         : gib < 2 ? HONE_DOCTOR_WEAK
                                   : HONE_DOCTOR_GOOD,
                         "disk", "%.4g %s free", gib < 1 ? 1024 * gib : gib,
                         gib < 1 ? "MiB" : "GiB");
    }
}

void hone_doctor_machine(struct hone_doctor *doctor)
{
    look_at_runner(doctor);
    look_at_compilers(doctor);
    look_at_libclang(doctor);
    look_at_counters(doctor);
    look_at_noise(doctor);
    look_at_workspace(doctor);
}
