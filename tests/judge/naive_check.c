/* SPDX-License-Identifier: Apache-2.0 */
/* What an evaluator of the usual kind would say, for comparison: never a verdict of hone's.
 *
 *   naive_check FOLDER SYMBOL      FOLDER holds pack/, candidate.so, baseline.so and this program
 *
 * One process loads baseline and candidate, makes one set of inputs from a public seed for one
 * size, calls the baseline for the expected answer, then the candidate once, compares with
 * |x - r| <= 1e-2 + 1e-2 |r|, and times both, warm, on the same inputs, without looking at the
 * outputs again. Prints "accepted SPEEDUP" or "rejected WHY". What it loads is hostile, so that
 * process is in hone's jail. */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/runner/values/element.h"
#include "tools/runner/values/gen.h"
#include "tools/runner/jail/jail.h"
#include "workspace/base/clock.h"
#include "workspace/base/process.h"

#define LIMIT_MS   30000
#define N_WARM     3
#define N_REPEATS  20
#define TOLERANCE  1e-2
#define N_INTS     16
#define N_FLOATS   2
#define SLACK      64
#define ANSWER     "naive_check: "
#define MAX_ANSWER 4096

struct args {
    int64_t ints[N_INTS];
    double floats[N_FLOATS];
};

typedef void kernel(double, double, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                    int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                    int64_t);

static void call(kernel *fn, const struct args *a)
{
    const int64_t *i = a->ints;
    fn(a->floats[0], a->floats[1], i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7], i[8], i[9],
       i[10], i[11], i[12], i[13], i[14], i[15]);
}

static kernel *load(const char *path, const char *symbol)
{
    kernel *ret = NULL;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = object != NULL ? dlsym(object, symbol) : NULL;
    if (found == NULL) {
        printf("\n" ANSWER "rejected does not load\n");
        exit(0);
    }
    memcpy(&ret, &found, sizeof ret);
    return ret;
}

static double float_bits(double value)
{
    float narrow = (float)value;
    double bits = 0;
    memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

/* Pointers to fresh outputs; the rest as in `with`. */
static void make_outputs(const struct hone_task *task, const struct hone_workload *workload,
                         struct args *args)
{
    for (size_t o = 0; o < task->n_outputs; o++) {
        int64_t n = hone_tensor_elements(task, &task->outputs[o], workload);
        size_t bytes = (size_t)(n * hone_dtype_bytes(task->outputs[o].dtype));
        args->ints[task->n_inputs + o] = (int64_t)(intptr_t)hone_calloc(1, bytes + SLACK);
    }
}

static void make_args(const struct hone_task *task, const struct hone_workload *workload,
                      struct args *args)
{
    static const uint8_t public_seed[16] = {42};
    struct hone_gen *gen = hone_gen_new(public_seed);
    size_t n = 0, n_floats = 0;
    for (; n < task->n_inputs; n++) {
        int64_t n_elements = hone_tensor_elements(task, &task->inputs[n], workload);
        size_t bytes = (size_t)(n_elements * hone_dtype_bytes(task->inputs[n].dtype));
        void *data = hone_calloc(1, bytes + SLACK);
        hone_gen_input(gen, task, workload, n, HONE_DIST_NORMAL, 1, data);
        args->ints[n] = (int64_t)(intptr_t)data;
    }
    n += task->n_outputs;
    for (size_t s = 0; s < task->n_scalars && n_floats < N_FLOATS; s++)
        args->floats[n_floats++] = float_bits(task->scalars[s].value);
    for (size_t a = 0; a < task->n_axes && n < N_INTS; a++)
        args->ints[n++] = workload->axes[a];
    hone_gen_free(gen);
}

static bool is_close(const struct hone_task *task, const struct hone_workload *workload,
                     const struct args *got, const struct args *want)
{
    for (size_t o = 0; o < task->n_outputs; o++) {
        enum hone_dtype dtype = task->outputs[o].dtype;
        const void *x = (const void *)(intptr_t)got->ints[task->n_inputs + o];
        const void *r = (const void *)(intptr_t)want->ints[task->n_inputs + o];
        int64_t n = hone_tensor_elements(task, &task->outputs[o], workload);
        for (int64_t i = 0; i < n; i++) {
            double a = hone_element_get(dtype, x, i), b = hone_element_get(dtype, r, i);
            if (!(fabs(a - b) <= TOLERANCE + TOLERANCE * fabs(b)))
                return false;
        }
    }
    return true;
}

static double time_of(kernel *fn, const struct args *args)
{
    for (int i = 0; i < N_WARM; i++)
        call(fn, args);
    int64_t start = hone_now_ns();
    for (int i = 0; i < N_REPEATS; i++)
        call(fn, args);
    return (double)(hone_now_ns() - start) / N_REPEATS;
}

static int inside(const char *symbol)
{
    struct hone_task *task = NULL;
    struct hone_err err = HONE_ERR_INIT;
    if (hone_task_load("/work/pack", &task, &err) < 0 || hone_task_select(task, "cpu", &err) < 0 ||
        hone_jail_tighten(HONE_JAIL_ARENA, &err) < 0) {
        printf("\n" ANSWER "broken %s\n", err.message);
        return 1;
    }
    const struct hone_workload *workload = &task->workloads[0];
    struct args want = {0};
    make_args(task, workload, &want);
    struct args got = want;
    make_outputs(task, workload, &want);
    make_outputs(task, workload, &got);
    kernel *baseline = load("/work/baseline.so", symbol);
    call(baseline, &want);
    kernel *candidate = load("/work/candidate.so", symbol);
    call(candidate, &got);
    if (!is_close(task, workload, &got, &want)) {
        printf("\n" ANSWER "rejected wrong values\n");
        return 0;
    }
    double theirs = time_of(baseline, &want), mine = time_of(candidate, &got);
    printf("\n" ANSWER "accepted %.2f\n", theirs / mine);
    return 0;
}

static void show_answer(int fd, const struct hone_jail_exit *how)
{
    char text[MAX_ANSWER + 1];
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = size > MAX_ANSWER ? size - MAX_ANSWER : 0;
    ssize_t n = pread(fd, text, MAX_ANSWER, from);
    text[n > 0 ? n : 0] = '\0';
    char *last = NULL;
    for (char *at = strstr(text, ANSWER); at != NULL; at = strstr(at + 1, ANSWER))
        last = at + strlen(ANSWER);
    if (last != NULL)
        last[strcspn(last, "\n")] = '\0';
    if (last != NULL)
        puts(last);
    else if (how->signal != 0)
        printf("rejected ended with signal %d\n", how->signal);
    else
        printf("rejected ended with status %d\n", how->status);
}

static int outside(const char *folder, const char *symbol)
{
    hone_process_init();
    HONE_AUTOFREE char *path = hone_sprintf("%s/output", folder);
    HONE_AUTOCLOSE int output = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    const char *argv[] = {"/work/naive_check", "--inside", symbol, NULL};
    struct hone_jail_spec spec = {.profile = HONE_JAIL_ARENA,
                                  .argv = argv,
                                  .work_dir = folder,
                                  .memory_bytes = 4ll << 30,
                                  .tmp_bytes = 16 << 20,
                                  .file_bytes = 16 << 20,
                                  .cpu_seconds = 60,
                                  .max_pids = 64,
                                  .stdin_fd = -1,
                                  .stdout_fd = output,
                                  .stderr_fd = -1};
    struct hone_jail *jail = NULL;
    struct hone_jail_exit how = {0};
    struct hone_err err = HONE_ERR_INIT;
    if (output < 0 || hone_jail_start(&spec, &jail, &err) < 0) {
        printf("broken %s\n", err.message);
        return 1;
    }
    int code = hone_jail_wait(jail, hone_deadline_in_ms(LIMIT_MS), &how, &err);
    hone_jail_free(jail);
    if (code == HONE_E_TIMEOUT)
        puts("rejected did not end in time");
    else
        show_answer(output, &how);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--inside") == 0)
        return inside(argv[2]);
    if (argc == 3)
        return outside(argv[1], argv[2]);
    fputs("usage: naive_check FOLDER SYMBOL\n", stderr);
    return 2;
}
