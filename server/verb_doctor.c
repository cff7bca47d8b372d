/* hone doctor: one line for each thing that hone needs or could use here, with the fix where
 * something is missing.
 *
 * "no" ends in exit status 1: nothing can be evaluated. "weak" means it works, with the loss that
 * the line names. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agents/c_parser.h"
#include "server/verb.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/process.h"
#include "workspace/base/utf8.h"

struct args {
    const char *workspace, *runner;
    bool json;
};

static const struct hone_opt opts[] = {
    HONE_OPT_WORKSPACE(struct args),
    HONE_OPT(struct args, runner, "runner", "FILE",
             "The hone-runner program; default: beside hone.", .env = "HONE_RUNNER"),
    HONE_OPT_JSON(struct args),
};

enum level { GOOD, WEAK, BAD };
static const char *const level_words[] = {"ok", "weak", "NO"};

struct exam {
    const struct args *args;
    struct hone_json *lines; /* owned */
    size_t n_bad, n_weak;
};

static void tell(struct exam *exam, enum level level, const char *what, const char *fmt, ...)
    HONE_PRINTF(4, 5);
static void tell(struct exam *exam, enum level level, const char *what, const char *fmt, ...)
{
    struct hone_buf text = HONE_BUF_INIT;
    va_list list;
    va_start(list, fmt);
    hone_buf_vprintf(&text, fmt, list);
    va_end(list);
    exam->n_bad += level == BAD;
    exam->n_weak += level == WEAK;
    struct hone_json *line = hone_json_new_object();
    hone_json_set_str(line, "what", what);
    hone_json_set_str(line, "level", level == BAD ? "no" : level_words[level]);
    hone_json_set_str(line, "text", text.data);
    hone_json_push(exam->lines, line);
    if (!exam->args->json) {
        if (text.data)
            hone_utf8_defuse(text.data, '?');
        printf("%-5s %-10s %s\n", level_words[level], what, text.data ? text.data : "");
        fflush(stdout);
    }
    hone_buf_done(&text);
}

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

static void look_at_compilers(struct exam *exam)
{
    static const struct {
        const char *program;
        enum level level;
        const char *loss;
    } programs[] = {
        {"gcc", BAD, "no C kernel can be compiled; install gcc"},
        {"clang", WEAK, "fewer vectorisation remarks; install clang"},
        {"git", WEAK, "no housekeeping of the history; install git"},
    };
    for (size_t i = 0; i < HONE_COUNTOF(programs); i++) {
        const char *const argv[] = {programs[i].program, "--version", NULL};
        HONE_AUTOFREE char *line = first_line(argv);
        tell(exam, line ? GOOD : programs[i].level, programs[i].program, "%s",
             line ? line : programs[i].loss);
    }
}

static void look_at_libclang(struct exam *exam)
{
    struct hone_err err = HONE_ERR_INIT;
    struct hone_c_parser *parser = NULL;
    bool is_there = hone_c_parser_new(&parser, &err) == 0;
    tell(exam, is_there ? GOOD : WEAK, "libclang", "%s",
         is_there ? "the rule coder can edit sources" : err.message);
    hone_c_parser_free(parser);
}

static void look_at_jail(struct exam *exam, const struct hone_json *rungs)
{
    bool has_full = false, has_any = false;
    for (const struct hone_json *rung = hone_json_first(rungs); rung; rung = hone_json_next(rung)) {
        bool works = hone_json_get_bool(rung, "works", false);
        const char *name = hone_json_get_str(rung, "name", "");
        has_any = has_any || works;
        has_full = has_full || (works && strcmp(name, "weak") != 0);
        tell(exam, GOOD, "jail rung", "%s %s: %s", name, works ? "works" : "does not work",
             hone_json_get_str(rung, "why", ""));
    }
    if (has_full)
        tell(exam, GOOD, "jail", "candidates and compilers run isolated");
    else if (has_any)
        tell(exam, BAD, "jail",
             "only the weak rung works here; run as root, allow user namespaces, or accept it with "
             "--allow-weak-jail");
    else
        tell(exam, BAD, "jail", "no rung works; nothing can be evaluated safely");
}

static void look_at_gpu_tools(struct exam *exam, const struct hone_json *gpu)
{
    const char *nvcc = hone_json_get_str(gpu, "nvcc", NULL);
    bool is_open = !hone_json_get_bool(gpu, "restricts_counters", false) || geteuid() == 0;
    tell(exam, nvcc ? GOOD : WEAK, "nvcc", "%s",
         nvcc ? nvcc : "not found: sources that need it (CUB, device lambdas) are refused");
    if (!hone_json_get_str(gpu, "cupti", NULL))
        tell(exam, WEAK, "gpu counts",
             "CUPTI was not found: profiles rest on times; install the toolkit's CUPTI");
    else if (!is_open)
        tell(exam, WEAK, "gpu counts",
             "the driver shows counters to administrators only; load its module with "
             "NVreg_RestrictProfilingToAdminUsers=0, or run as root");
    else
        tell(exam, GOOD, "gpu counts", "the device's counters can be read");
}

/* A machine without a GPU is no defect: the CPU target stands alone. */
static void look_at_gpu(struct exam *exam, const struct hone_json *gpu)
{
    const struct hone_json *devices = hone_json_get(gpu, "devices");
    for (const struct hone_json *d = hone_json_first(devices); d; d = hone_json_next(d))
        tell(exam, GOOD, "gpu", "%s, %s, %lld SMs, %lld GiB, driver for CUDA %s",
             hone_json_get_str(d, "name", "unknown"), hone_json_get_str(d, "arch", ""),
             (long long)hone_json_get_i64(d, "sm_count", 0),
             (long long)hone_json_get_i64(d, "memory_bytes", 0) >> 30,
             hone_json_get_str(gpu, "driver", "unknown"));
    bool has_device = hone_json_size(devices) > 0;
    if (!has_device) { /* what was tried stands in brackets behind */
        const char *why = hone_json_get_str(gpu, "why", "not asked"), *end = strstr(why, " (");
        tell(exam, GOOD, "gpu", "none, %.*s: target cuda compiles at most",
             (int)(end ? end - why : (ptrdiff_t)strlen(why)), why);
    }
    const char *nvrtc = hone_json_get_str(gpu, "nvrtc", NULL);
    if (nvrtc)
        tell(exam, GOOD, "nvrtc", "CUDA %s", nvrtc);
    else if (has_device)
        tell(exam, BAD, "nvrtc", "%s; install the CUDA toolkit or set HONE_CUDA_LIB",
             hone_json_get_str(gpu, "why_nvrtc", "not found"));
    if (has_device)
        look_at_gpu_tools(exam, gpu);
}

static void look_at_runner(struct exam *exam)
{
    struct hone_executor *executor = NULL;
    HONE_AUTOJSON struct hone_json *probe = NULL;
    struct hone_err err = HONE_ERR_INIT;
    int rc = hone_exec_local_new(exam->args->runner, &executor, &err);
    if (rc == 0)
        rc = executor->probe(executor->cookie, &probe, &err);
    hone_executor_free(executor);
    if (rc < 0) {
        tell(exam, BAD, "runner", "%s; build or install hone-runner beside hone", err.message);
        return;
    }
    tell(exam, GOOD, "runner", "hone-runner answers");
    tell(exam, GOOD, "cpu", "%s, %lld cores, %lld MiB last-level cache",
         hone_json_get_str(probe, "cpu", "unknown"),
         (long long)hone_json_get_i64(probe, "n_cores", 0),
         (long long)hone_json_get_i64(probe, "cache_bytes", 0) >> 20);
    look_at_jail(exam, hone_json_get(probe, "jail"));
    look_at_gpu(exam, hone_json_get(probe, "gpu"));
}

static void look_at_counters(struct exam *exam)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .exclude_kernel = 1};
    HONE_AUTOCLOSE int fd =
        (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        tell(exam, GOOD, "cpu counts", "hardware counters can be read");
    else
        tell(exam, WEAK, "cpu counts",
             "no hardware counters (%s): profiles rest on times and compiler remarks%s",
             strerror(errno),
             errno == EACCES || errno == EPERM ? "; set kernel.perf_event_paranoid to 2 or less"
                                               : "");
}

static void look_at_noise(struct exam *exam)
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
        tell(exam, WEAK, "quiet",
             "load is %.1f on %ld cores: expect wide intervals and inconclusive verdicts", load,
             n_cores);
    else
        tell(exam, GOOD, "quiet", "load is %.1f on %ld cores", load, n_cores);
}

static void look_at_workspace(struct exam *exam)
{
    const char *dir = exam->args->workspace;
    HONE_CLEANUP(hone_workspace_close_ptr) struct hone_workspace *ws = NULL;
    struct hone_err err = HONE_ERR_INIT;
    int rc = hone_workspace_open(dir, &ws, &err);
    if (rc == 0)
        tell(exam, GOOD, "workspace", "%s", hone_workspace_dir(ws));
    else
        tell(exam, WEAK, "workspace", "%s", err.message);
    HONE_AUTOFREE char *data_dir = hone_data_dir();
    if (data_dir)
        tell(exam, GOOD, "packs", "%s", data_dir);
    else
        tell(exam, WEAK, "packs",
             "the shipped task packs are not beside the program; set HONE_DATA");
    struct statvfs fs;
    if (statvfs(dir, &fs) == 0) {
        double gib = (double)fs.f_bavail * (double)fs.f_frsize / 1073741824.0;
        tell(exam, gib < 0.2 ? BAD : gib < 2 ? WEAK : GOOD, "disk", "%.1f GiB free", gib);
    }
}

static int run(const void *arg, struct hone_err *err)
{
    const struct args *args = arg;
    struct exam exam = {.args = args, .lines = hone_json_new_array()};
    HONE_AUTOJSON struct hone_json *lines = exam.lines;
    look_at_runner(&exam);
    look_at_compilers(&exam);
    look_at_libclang(&exam);
    look_at_counters(&exam);
    look_at_noise(&exam);
    look_at_workspace(&exam);
    int rc = 0;
    if (args->json) {
        rc = hone_print_json(lines, err);
    } else {
        printf("\n%s\n", exam.n_bad    ? "NO GO: fix the lines marked NO"
                         : exam.n_weak ? "GO, with the losses marked weak"
                                       : "GO");
        rc = hone_print("", err);
    }
    return rc < 0 ? rc : exam.n_bad > 0;
}

const struct hone_verb hone_verb_doctor = {
    .name = "doctor",
    .summary = "Say what this machine gives: jail, compilers, counters, workspace.",
    .description = "One line a finding. Exit status 1 when something is missing without which "
                   "nothing can be evaluated.",
    .example = "hone doctor",
    .opts = opts,
    .n_opts = HONE_COUNTOF(opts),
    .args_size = sizeof(struct args),
    .run = run,
};
