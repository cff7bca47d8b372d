/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/machine/machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workspace/base/clock.h"
#include "workspace/base/file.h"
#include "workspace/base/json.h"
#include "workspace/base/limits.h"
#include "workspace/base/process.h"

#define MEASURE_MS     60000
#define FALLBACK_CACHE (8ll << 20)

static void read_cpu_name(char ret[128])
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    snprintf(ret, 128, "unknown");
    if (hone_file_read("/proc/cpuinfo", HONE_LIMIT_FILE_BYTES, &text, &len, NULL) < 0)
        return;
    const char *at = strstr(text, "model name");
    at = at != NULL ? strchr(at, ':') : NULL;
    if (at == NULL)
        return;
    at += 1 + strspn(at + 1, " \t");
    snprintf(ret, 128, "%.*s", (int)strcspn(at, "\n"), at);
}

/* The kernel's own figures first: sysconf multiplies by sockets that a guest does not have. */
static int64_t last_cache(void)
{
    int64_t best = 0;
    for (int index = 0; index < 5; index++) {
        HONE_AUTOFREE char *path =
            hone_sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        HONE_AUTOFREE char *text = NULL;
        size_t len = 0;
        if (hone_file_read(path, 4096, &text, &len, NULL) < 0)
            continue;
        char *unit = NULL;
        int64_t size = strtoll(text, &unit, 10);
        best = hone_max_i64(best, size * (*unit == 'K' ? 1 << 10 : *unit == 'M' ? 1 << 20 : 1));
    }
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (best > 0)
        return best;
    return l3 > 0 ? l3 : FALLBACK_CACHE;
}

void hone_machine_facts(struct hone_machine *ret)
{
    *ret = (struct hone_machine){0};
    read_cpu_name(ret->cpu);
    cpu_set_t set;
    ret->n_cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                               : sysconf(_SC_NPROCESSORS_ONLN);
    ret->cache_bytes = last_cache();
    ret->flops_unit = "float32 multiply-add units";
}

static bool read_stored(const char *path, struct hone_machine *machine)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;
    HONE_AUTOJSON struct hone_json *json = NULL;
    if (path == NULL || hone_file_read(path, HONE_LIMIT_JSON_BYTES, &text, &len, NULL) < 0 ||
        hone_json_parse(text, len, &json, NULL) < 0)
        return false;
    if (strcmp(hone_json_get_str(json, "cpu", ""), machine->cpu) != 0 ||
        hone_json_get_i64(json, "n_cores", 0) != machine->n_cores)
        return false;
    machine->memory_rate = hone_json_get_f64(json, "memory_bytes_per_s", 0);
    machine->cache_rate = hone_json_get_f64(json, "cache_bytes_per_s", 0);
    machine->flops = hone_json_get_f64(json, "flops_per_s", 0);
    machine->is_measured = machine->memory_rate > 0 && machine->flops > 0;
    return machine->is_measured;
}

static double better(double a, double b)
{
    return a > b ? a : b;
}

static int measure(const char *path, struct hone_err *err)
{
    HONE_AUTOFREE char *dir = hone_exe_dir();
    HONE_AUTOFREE char *program = hone_sprintf("%s/hone-runner", dir != NULL ? dir : ".");
    const char *argv[] = {program, "--ceilings", path, NULL};
    struct hone_process_spec spec = {.argv = argv, .deadline_ns = hone_deadline_in_ms(MEASURE_MS)};
    struct hone_process_result result = {0};
    int code = hone_process_run(&spec, &result, err);
    if (code == 0 && result.exit_status != 0)
        code = hone_fail(err, HONE_E_TARGET, "measuring ceilings: %.200s",
                         result.err != NULL ? result.err : "no output");
    hone_process_result_done(&result);
    return code;
}

static int write_stored(const char *path, const struct hone_machine *machine, struct hone_err *err)
{
    HONE_AUTOJSON struct hone_json *json = hone_json_new_object();
    char date[32];
    hone_wall_text(hone_wall_ms(), date);
    hone_json_set_str(json, "cpu", machine->cpu);
    hone_json_set_i64(json, "n_cores", machine->n_cores);
    hone_json_set_f64(json, "memory_bytes_per_s", machine->memory_rate);
    hone_json_set_f64(json, "cache_bytes_per_s", machine->cache_rate);
    hone_json_set_f64(json, "flops_per_s", machine->flops);
    hone_json_set_str(json, "date", date);
    HONE_AUTOFREE char *text = hone_json_print(json);
    return hone_file_write(path, text, strlen(text), 0644, false, err);
}

int hone_machine_ceilings(const char *path, bool is_fresh, struct hone_machine *ret,
                          struct hone_err *err)
{
    struct hone_machine old = *ret;
    bool is_stored = read_stored(path, &old);
    if (is_stored && !is_fresh) {
        *ret = old;
        return 0;
    }
    HONE_AUTOFREE char *own = hone_sprintf("/tmp/hone-ceilings-%d.json", (int)getpid());
    int code = measure(own, err);
    struct hone_machine now = *ret;
    if (code == 0 && !read_stored(own, &now))
        code = hone_fail(err, HONE_E_TARGET, "the measured ceilings cannot be read");
    unlink(own);
    if (code < 0)
        return code;
    if (is_stored) { /* a neighbour can only lower a figure, never raise it */
        now.memory_rate = better(now.memory_rate, old.memory_rate);
        now.cache_rate = better(now.cache_rate, old.cache_rate);
        now.flops = better(now.flops, old.flops);
    }
    *ret = now;
    return path != NULL ? write_stored(path, &now, err) : 0;
}

void hone_machine_steal(int64_t *ret_steal, int64_t *ret_total)
{
    *ret_steal = *ret_total = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (file == NULL)
        return;
    long long v[8] = {0};
    int n = fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &v[0], &v[1], &v[2], &v[3],
                   &v[4], &v[5], &v[6], &v[7]);
    fclose(file);
    for (int i = 0; i < n; i++)
        *ret_total += v[i];
    *ret_steal = n == 8 ? v[7] : 0;
}
