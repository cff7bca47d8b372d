/* SPDX-License-Identifier: Apache-2.0 */
/* Launcher styles: every file of tests/launchers is split, compiled with g++ and recorded in the
 * jail; the plan, or the message, must be what its head says.
 *
 *     // @inputs A B        names; 1 KiB each
 *     // @outputs C
 *     // @axes M=70 N=64    the workload "w1"; a second line "@axes ..." is "w2"
 *     // @scalars alpha:float32=2
 *     // @tune TILE=16
 *     // | k<16> <<<4, 128>>> (A, C+16, 70)     one line an operation
 *     // > k<16>             name expressions for NVRTC, in order
 *     // @fail part of the message              of the splitter, the compiler or the recorder
 *
 * All of them with the toolkit's headers; where there are none, and in HONE_RECORD_STANDIN=1, with
 * hone's own, which know less: those that include other headers of NVIDIA's are left out.
 *
 * HONE_RECORD_SHOW=1 prints what came out, HONE_RECORD_RUNG picks a rung. Skipped without g++ or
 * the toolkit's headers. */
#include "tools/runner/cuda/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/runner/launcher_style.h"
#include "tests/unit/unit.h"
#include "tools/runner/cuda/split/split.h"
#include "workspace/base/clock.h"
#include "workspace/base/file.h"

#define TOOLKIT "/usr/local/cuda/include"
#define SKIPPED 77

/* ---- what came out, for comparison ---- */

static void add_place(struct hone_buf *buf, const struct style *s, const struct hone_plan *plan,
                      const struct hone_plan_pointer *p)
{
    if (p->buffer < 0)
        hone_buf_printf(buf, "&%s", p->symbol);
    else if (p->buffer >= plan->n_tensors)
        hone_buf_printf(buf, "scratch%lld", (long long)(p->buffer - plan->n_tensors));
    else if (p->buffer < (int64_t)s->task.n_inputs)
        hone_buf_str(buf, s->task.inputs[p->buffer].name);
    else
        hone_buf_str(buf, s->task.outputs[p->buffer - (int64_t)s->task.n_inputs].name);
    if (p->offset != 0)
        hone_buf_printf(buf, "%+lld", (long long)p->offset);
}

static void add_value(struct hone_buf *buf, const char *hex, int64_t size)
{
    uint64_t value = 0;
    for (int64_t i = size; i-- > 0 && size <= 8;) {
        char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        value = value << 8 | strtoul(byte, NULL, 16);
    }
    if (size <= 8 && value < 1000000)
        hone_buf_printf(buf, "%llu", (unsigned long long)value);
    else if (size <= 8)
        hone_buf_printf(buf, "0x%llx", (unsigned long long)value);
    else
        hone_buf_printf(buf, "%.*s", (int)(2 * size), hex);
}

/* A struct shows its pointers and the words between them. */
static void add_param(struct hone_buf *buf, const struct style *s, const struct hone_plan *plan,
                      const struct hone_plan_op *op, const struct hone_plan_param *param)
{
    const struct hone_plan_pointer *pointers = op->pointers.v;
    const struct hone_plan_map *maps = op->maps.v;
    bool is_struct = param->size > 8;
    hone_buf_str(buf, is_struct ? "{" : "");
    for (int64_t at = param->at; at < param->at + param->size;) {
        int64_t size = hone_min_i64(is_struct ? 4 : 8, param->at + param->size - at);
        bool is_shown = false;
        hone_buf_str(buf, at > param->at ? " " : "");
        for (size_t i = 0; i < op->pointers.n && !is_shown; i++)
            if (pointers[i].at == at) {
                add_place(buf, s, plan, &pointers[i]);
                is_shown = true;
                size = 8;
            }
        for (size_t i = 0; i < op->maps.n && !is_shown; i++)
            if (maps[i].at == at) {
                const struct hone_plan_number *box = maps[i].box.v;
                const struct hone_plan_pointer place = {.buffer = maps[i].buffer,
                                                        .offset = maps[i].offset};
                hone_buf_str(buf, "map of ");
                add_place(buf, s, plan, &place);
                hone_buf_printf(buf, " box %lld", (long long)box[0].value);
                is_shown = true;
                size = 128;
            }
        if (!is_shown)
            add_value(buf, op->bytes + 2 * at, size);
        at += size;
    }
    hone_buf_str(buf, is_struct ? "}" : "");
}

static char *show(const struct style *s, const struct hone_array *plans)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    const struct hone_plan *plan = plans->v;
    for (size_t w = 0; w < plans->n; w++) {
        HONE_AUTOFREE char *text = hone_plan_describe(&plan[w]);
        const struct hone_plan_op *ops = plan[w].ops.v;
        char *save = NULL;
        if (plans->n > 1)
            hone_buf_printf(&buf, "%s:\n", plan[w].workload);
        char *line = strtok_r(text, "\n", &save);
        for (size_t i = 0; i < plan[w].ops.n; i++, line = strtok_r(NULL, "\n", &save)) {
            const struct hone_plan_param *params = ops[i].params.v;
            hone_buf_str(&buf, line);
            for (size_t p = 0; p < ops[i].params.n; p++) {
                hone_buf_str(&buf, p == 0 ? " (" : ", ");
                add_param(&buf, s, &plan[w], &ops[i], &params[p]);
            }
            hone_buf_str(&buf, ops[i].params.n > 0 ? ")\n" : "\n");
        }
        if (plan[w].ops.n == 0)
            hone_buf_str(&buf, "nothing\n");
    }
    return hone_buf_steal(&buf);
}

/* ---- the way there ---- */

static bool run_compiler(const char *folder, char *const *argv)
{
    pid_t pid = fork();
    if (pid == 0) {
        HONE_AUTOFREE char *log = hone_path_join(folder, "log", NULL);
        if (chdir(folder) < 0 || freopen(log, "w", stderr) == NULL)
            _exit(126);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status = -1;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void write_to(const char *folder, const char *name, const char *text)
{
    HONE_AUTOFREE char *path = hone_path_join(folder, name, NULL);
    MUST(hone_file_write(path, text, strlen(text), 0644, false, NULL) == 0, "%s", path);
}

static bool has_toolkit(void)
{
    return access(TOOLKIT "/cuda_runtime.h", R_OK) == 0 && getenv("HONE_RECORD_STANDIN") == NULL;
}

static bool compile(const char *folder, const char *const *inputs)
{
    char *argv[40] = {(char *)(uintptr_t) "g++"};
    size_t n = 1;
    for (const char *const *flag = hone_host_flags(); *flag != NULL; flag++)
        argv[n++] = (char *)(uintptr_t)*flag;
    argv[n++] = (char *)(uintptr_t) "-isystem";
    argv[n++] = (char *)(uintptr_t)(has_toolkit() ? TOOLKIT : "standin");
    for (; *inputs != NULL; inputs++)
        argv[n++] = (char *)(uintptr_t)*inputs;
    return run_compiler(folder, argv);
}

static bool prepare(const char *folder)
{
    static const char *const header[] = {"-x", "c++-header", "hone_host.hpp", NULL};
    write_to(folder, "hone_host.hpp", hone_host_prelude());
    if (system("g++ --version >/dev/null 2>&1") != 0)
        return false;
    HONE_AUTOFREE char *standins = hone_path_join(folder, "standin", NULL);
    MUST(mkdir(standins, 0755) == 0, "%s", standins);
    for (const struct hone_host_standin *s = hone_host_standins(); s->name != NULL; s++)
        write_to(standins, s->name, s->text);
    MUST(compile(folder, header), "the prelude does not compile: see %s/log", folder);
    return true;
}

static const char *first_error(struct style *s, const struct hone_split *split, const char *folder)
{
    HONE_AUTOFREE char *path = hone_path_join(folder, "log", NULL);
    char *log = NULL;
    size_t len = 0;
    MUST(hone_file_read(path, 1 << 20, &log, &len, NULL) == 0, "%s", path);
    const char *text = hone_pool_strdup(s->pool, log);
    free(log);
    for (const char *at = strstr(text, "host.cpp:"); at != NULL; at = strstr(at + 1, "host.cpp:")) {
        long line = strtol(at + 9, NULL, 10);
        const char *message = strstr(at, "error: ");
        if (message == NULL || message > strchr(at, '\n'))
            continue;
        const char *better = hone_split_explain(
            split, line, hone_pool_strndup(s->pool, message, strcspn(message, "\n")), s->pool);
        if (better != NULL)
            return better;
    }
    return text;
}

static void write_tunables(const struct style *s, const char *folder)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    const struct hone_tunable *v = s->tunables.v;
    for (size_t i = 0; i < s->tunables.n; i++)
        hone_buf_printf(&buf, "constexpr int %s = %lld;\n", v[i].name, (long long)v[i].value);
    hone_buf_str(&buf, "\n");
    write_to(folder, "hone_tune.h", buf.data);
}

/* Result in the pool: lines of the plans, or the message with "failed: " in front. */
static const char *record_style(struct style *s, const char *folder)
{
    static const char *const inputs[] = {
        "-include", "hone_host.hpp", "-include", "hone_tune.h", "host.cpp",
        "-o",       "kernel.so",     NULL};
    struct hone_err err = HONE_ERR_INIT;
    struct hone_split split;
    struct hone_outcome end;
    struct hone_record_result result;
    if (hone_split(s->source, s->len, s->pool, &split, &err) < 0 ||
        hone_split_check_tunables(&split, &s->tunables, &err) < 0)
        return hone_pool_printf(s->pool, "failed: %s", err.message);
    if (split.needs_nvcc != NULL)
        return hone_pool_printf(s->pool, "failed: line %lld: %s needs nvcc",
                                (long long)split.needs_nvcc_line, split.needs_nvcc);
    write_to(folder, "host.cpp", split.host);
    write_tunables(s, folder);
    if (!compile(folder, inputs))
        return hone_pool_printf(s->pool, "failed: %s", first_error(s, &split, folder));
    HONE_AUTOFREE char *object = hone_path_join(folder, "kernel.so", NULL);
    struct hone_record_spec spec = {.object = object,
                                    .task = &s->task,
                                    .workloads = s->workloads,
                                    .n_workloads = s->task.n_workloads,

                                    .device = &h200,
                                    .rung = getenv("HONE_RECORD_RUNG"),
                                    .allow_weak = true,
                                    .timeout_ms = 1000,
                                    .deadline_ns = hone_deadline_in_ms(20000)};
    MUST(hone_record(&spec, s->pool, &result, &end, &err) == 0, "%s: %s", s->name, err.message);
    if (end.reason != HONE_REASON_BUILT)
        return hone_pool_printf(s->pool, "failed: %s: %s", hone_reason_row(end.reason)->word,
                                end.detail);
    const struct hone_plan *plans = result.plans.v;
    const int64_t bytes[HONE_LIMIT_TENSORS] = {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20};
    for (size_t i = 0; i < result.plans.n; i++)
        if (hone_plan_check(&plans[i], bytes, (int64_t)s->task.n_inputs, NULL, 0, &h200, &err) < 0)
            return hone_pool_printf(s->pool, "failed: %s", err.message);
    HONE_AUTOFREE char *text = show(s, &result.plans);
    const struct hone_record_instance *v = result.instances.v;
    HONE_CLEANUP(hone_buf_done) struct hone_buf buf = HONE_BUF_INIT;
    hone_buf_str(&buf, text);
    for (size_t i = 0; i < result.instances.n; i++)
        if (v[i].expression != NULL)
            hone_buf_printf(&buf, "> %s\n", v[i].expression);
    return hone_pool_strdup(s->pool, buf.data);
}

static bool needs_toolkit(const struct style *s)
{
    static const char *const headers[] = {"cublas_v2.h", "cub/", "cudaGraph_t"};
    for (size_t i = 0; i < HONE_COUNTOF(headers); i++)
        if (strstr(s->source, headers[i]) != NULL)
            return true;
    return false;
}

static bool is_right(const struct style *s, const char *got)
{
    return s->fail != NULL ? strncmp(got, "failed: ", 8) == 0 && strstr(got, s->fail) != NULL
                           : strcmp(got, s->want) == 0;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/hone-record-test-XXXXXX";
    struct hone_err err = HONE_ERR_INIT;
    HONE_CLEANUP(hone_pool_free_ptr) struct hone_pool *pool = hone_pool_new();
    const char **names = NULL;
    size_t n = 0, n_bad = 0, n_done = 0;
    if (argc > 3 && strcmp(argv[1], "--role") == 0)
        return hone_role_recorder(argc - 3, argv + 3);
    bool is_shown = getenv("HONE_RECORD_SHOW") != NULL;
    if (hone_list_dir(FOLDER, pool, &names, &n, &err) < 0 || mkdtemp(folder) == NULL ||
        chmod(folder, 0755) < 0 || !prepare(folder)) {
        puts("1..0 # SKIP needs g++");
        (void)hone_remove_tree(folder, NULL);
        return SKIPPED;
    }
    for (size_t i = 0; i < n; i++) {
        struct style s;
        if (strstr(names[i], ".cu") == NULL || (argc == 2 && strstr(names[i], argv[1]) == NULL))
            continue;
        read_style(&s, names[i]);
        /* Under a sanitizer a jail limits no address space: memory bombs run until their time is
         * over. */
        bool is_endless = UNIT_HAS_SANITIZER && strstr(names[i], "memory") != NULL;
        if (is_endless || (!has_toolkit() && needs_toolkit(&s))) {
            free(s.source);
            hone_pool_free(s.pool);
            continue;
        }
        const char *got = record_style(&s, folder);
        bool is_good = is_right(&s, got);
        n_done++;
        n_bad += !is_good;
        printf("%s %zu - %s\n", is_good ? "ok" : "not ok", n_done, s.name);
        if (!is_good || is_shown)
            printf("%s%s\n", got, is_good ? "" : s.fail != NULL ? s.fail : s.want);
        free(s.source);
        hone_pool_free(s.pool);
    }
    printf("1..%zu\n", n_done);
    (void)hone_remove_tree(folder, NULL);
    return n_bad == 0 && n_done > 0 ? 0 : 1;
}
