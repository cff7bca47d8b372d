/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/device_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workspace/base/text.h"
#include "workspace/base/file.h"
#include "workspace/base/limits.h"

#define SYS_FILE_BYTES 4096
#define LINE_BYTES     200

/* What changes how a kernel is written; names as the kernel lists them. */
static const char *const vector_names[] = {
    "sse4_2",   "avx",      "f16c",        "fma",         "avx2",        "avx512f",  "avx512dq",
    "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16",
    "amx_int8", "asimd",    "asimddp",     "sve",         "sve2",        "bf16"};

static const char *read_line(const char *path, struct hone_pool *pool)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len;

    if (hone_file_read(path, SYS_FILE_BYTES, &text, &len, NULL) < 0)
        return NULL;
    return hone_plain_line(pool, text, LINE_BYTES);
}

/* What stands behind "name   :" on its first line; *ret_len of it. */
static const char *member_of(const char *cpuinfo, const char *name, size_t *ret_len)
{
    size_t n = strlen(name);
    for (const char *line = cpuinfo; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        const char *colon = memchr(line, ':', len);
        if (!colon || strncmp(line, name, n) != 0 || line + n + strspn(line + n, " \t") != colon)
            continue;
        *ret_len = len - (size_t)(colon + 1 - line);
        return colon + 1;
    }
    return NULL;
}

static bool has_word(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= len; i++)
        if (strncmp(text + i, word, n) == 0 && (i == 0 || text[i - 1] == ' ') &&
            (i + n == len || text[i + n] == ' '))
            return true;
    return false;
}

static void read_cpu(struct hone_pool *pool, struct hone_device_facts *ret)
{
    HONE_AUTOFREE char *text = NULL;
    size_t len = 0;

    if (hone_file_read("/proc/cpuinfo", HONE_LIMIT_FILE_BYTES, &text, &len, NULL) < 0)
        return;
    const char *model = member_of(text, "model name", &len);
    if (model)
        ret->cpu = hone_plain_line(pool, hone_pool_strndup(pool, model, len), LINE_BYTES);
    const char *flags = member_of(text, "flags", &len);
    if (!flags)
        flags = member_of(text, "Features", &len);
    for (size_t i = 0; flags && i < HONE_COUNTOF(vector_names); i++)
        if (has_word(flags, len, vector_names[i]))
            ret->vectors = hone_pool_printf(pool, "%s%s%s", ret->vectors ? ret->vectors : "",
                                            ret->vectors ? " " : "", vector_names[i]);
}

static int64_t count_cpus(const char *list)
{
    int64_t n = 0;

    for (const char *at = list; at != NULL && *at != '\0';) {
        long first, last;
        int used = 0;
        if (sscanf(at, "%ld-%ld%n", &first, &last, &used) == 2 && used > 0)
            n += last - first + 1;
        else
            n++;
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return n;
}

static void read_caches(struct hone_pool *pool, struct hone_device_facts *ret)
{
    static const char base[] = "/sys/devices/system/cpu/cpu0/cache";

    for (int i = 0; i < HONE_DEVICE_MAX_CACHES; i++) {
        const char *level = read_line(hone_pool_printf(pool, "%s/index%d/level", base, i), pool);
        const char *type = read_line(hone_pool_printf(pool, "%s/index%d/type", base, i), pool);
        const char *size = read_line(hone_pool_printf(pool, "%s/index%d/size", base, i), pool);
        const char *line =
            read_line(hone_pool_printf(pool, "%s/index%d/coherency_line_size", base, i), pool);
        if (level == NULL || type == NULL || size == NULL)
            break;
        ret->caches[ret->n_caches++] = (struct hone_device_cache){
            .name = hone_pool_printf(pool, "L%s%s", level,
                                     strcmp(type, "Data") == 0          ? "d"
                                     : strcmp(type, "Instruction") == 0 ? "i"
                                                                        : ""),
            .size = size,
            .line_bytes = line != NULL ? strtoll(line, NULL, 10) : 0,
            .n_sharing = count_cpus(
                read_line(hone_pool_printf(pool, "%s/index%d/shared_cpu_list", base, i), pool))};
    }
}

/* Some guests have no such folder; the processor itself tells the C library. Who shares is not told,
 * and the last level may be that of a whole package. */
static void read_library_caches(struct hone_pool *pool, struct hone_device_facts *ret)
{
    static const struct {
        const char *name;
        int size, line;
    } levels[] = {{"L1d", _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_LINESIZE},
                  {"L1i", _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_LINESIZE},
                  {"L2", _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_LINESIZE},
                  {"L3", _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_LINESIZE}};
    for (size_t i = 0; i < HONE_COUNTOF(levels); i++) {
        long size = sysconf(levels[i].size), line = sysconf(levels[i].line);
        if (size > 0)
            ret->caches[ret->n_caches++] =
                (struct hone_device_cache){.name = levels[i].name,
                                           .size = hone_pool_printf(pool, "%ldK", size >> 10),
                                           .line_bytes = line > 0 ? line : 0};
    }
}

void hone_device_facts_read(struct hone_pool *pool, struct hone_device_facts *ret)
{
    *ret = (struct hone_device_facts){.n_cores = sysconf(_SC_NPROCESSORS_ONLN)};
    read_cpu(pool, ret);
    read_caches(pool, ret);
    if (ret->n_caches == 0)
        read_library_caches(pool, ret);
}

static void free_json(void *json)
{
    hone_json_free(json);
}

static const char *word_of(struct hone_pool *pool, const struct hone_json *json, const char *name,
                           const char *fallback)
{
    const char *text = hone_json_get_str(json, name, NULL);
    return text ? hone_plain_line(pool, text, LINE_BYTES) : fallback;
}

static void take_caches(struct hone_pool *pool, const struct hone_json *list,
                        struct hone_device_facts *ret)
{
    ret->n_caches = 0;
    for (const struct hone_json *c = hone_json_first(list);
         c && ret->n_caches < HONE_DEVICE_MAX_CACHES; c = hone_json_next(c))
        ret->caches[ret->n_caches++] =
            (struct hone_device_cache){.name = word_of(pool, c, "name", "cache"),
                                       .size = word_of(pool, c, "size", "?"),
                                       .n_sharing = hone_json_get_i64(c, "n_sharing", 0),
                                       .line_bytes = hone_json_get_i64(c, "line_bytes", 0)};
}

void hone_device_facts_ask(const struct hone_executor *executor, struct hone_pool *pool,
                           struct hone_device_facts *ret)
{
    struct hone_json *probe = NULL;
    hone_device_facts_read(pool, ret);
    if (!executor || !executor->probe || executor->probe(executor->cookie, &probe, NULL) < 0)
        return;
    hone_pool_defer(pool, free_json, probe);
    ret->probe = probe;
    ret->cpu = word_of(pool, probe, "cpu", ret->cpu);
    ret->vectors = word_of(pool, probe, "vectors", ret->vectors);
    ret->n_cores = hone_json_get_i64(probe, "n_cores", ret->n_cores);
    if (hone_json_get(probe, "caches"))
        take_caches(pool, hone_json_get(probe, "caches"), ret);
}
