/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC's, ptxas' and nvcc's output rewritten as gcc's lines (compile_diag.h), so that one
 * reader serves all. hone_diag_merge joins what two compilers say of one source and keeps
 * one of each. */
#include "tools/runner/cuda/compile/compile_diag.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>

#include "tools/format/plan.h"
#include "workspace/base/limits.h"

#define STATIC_SHARED 49152 /* bytes that a kernel may declare, on every device so far */

struct word {
    const char *start;
    enum hone_severity severity;
};

/* After "file(12): ". A number may follow the word: "warning #177-D: ". */
static const struct word words[] = {
    {"catastrophic error", HONE_SEVERITY_ERROR},
    {"internal error", HONE_SEVERITY_ERROR},
    {"error", HONE_SEVERITY_ERROR},
    {"warning", HONE_SEVERITY_WARNING},
    {"note", HONE_SEVERITY_NOTE},
};
static const struct word tools[] = {{"ptxas error", HONE_SEVERITY_ERROR},
                                    {"ptxas fatal", HONE_SEVERITY_ERROR},
                                    {"ptxas warning", HONE_SEVERITY_WARNING}};

struct found {
    const char *file;
    size_t file_len;
    size_t line;
    enum hone_severity severity;
    const char *message;
    size_t message_len;
};

static const char *after_colon(const char *at, const char *end)
{
    const char *colon = memchr(at, ':', (size_t)(end - at));
    if (colon == NULL)
        return NULL;
    for (colon++; colon < end && *colon == ' ';)
        colon++;
    return colon;
}

static bool take_severity(const char *at, const char *end, const struct word *list, size_t n,
                          struct found *ret)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list[i].start);
        if ((size_t)(end - at) <= len || memcmp(at, list[i].start, len) != 0)
            continue;
        const char *message = after_colon(at + len, end);
        if (message == NULL)
            return false;
        ret->severity = list[i].severity;
        ret->message = message;
        ret->message_len = (size_t)(end - message);
        return true;
    }
    return false;
}

/* "candidate.cu(6): error: text", "ptxas error   : text", "At end of source: error: text". */
static bool parse(const char *line, const char *end, const char *file, struct found *ret)
{
    static const char at_end[] = "At end of source: ";
    const char *open = memchr(line, '(', (size_t)(end - line));
    *ret = (struct found){.file = file, .file_len = strlen(file)};
    if (take_severity(line, end, tools, HONE_COUNTOF(tools), ret))
        return true;
    if ((size_t)(end - line) > sizeof at_end && memcmp(line, at_end, sizeof at_end - 1) == 0)
        return take_severity(line + sizeof at_end - 1, end, words, HONE_COUNTOF(words), ret);
    if (open == NULL || open == line || *line == ' ')
        return false;
    const char *at = open + 1;
    for (; at < end && isdigit((unsigned char)*at) && ret->line < 100000000; at++)
        ret->line = ret->line * 10 + (size_t)(*at - '0');
    if (at == open + 1 || end - at < 3 || memcmp(at, "): ", 3) != 0)
        return false;
    ret->file = line;
    ret->file_len = (size_t)(open - line);
    return take_severity(at + 3, end, words, HONE_COUNTOF(words), ret);
}

/* The caret two columns to the right of the place, in one of the next lines that belong to the
 * message. 0: none. */
static size_t column_below(const char *next)
{
    for (int i = 0; i < 12 && *next == ' '; i++) {
        size_t len = strcspn(next, "\n");
        size_t blank = strspn(next, " ");
        if (blank + 1 == len && next[blank] == '^')
            return blank >= 2 ? blank - 1 : 1;
        next += len + (next[len] == '\n');
    }
    return 0;
}

/* The log's diagnostics as such lines; in the pool. The column comes from the caret below the
 * source line. What ptxas complains about has no line: line 0 of `file`. */
static const char *log_as_gcc(const char *log, const char *file, struct hone_pool *pool)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = {.limit = 4u * HONE_LIMIT_LOG_BYTES};
    while (*log != '\0') {
        const char *end = log + strcspn(log, "\n");
        const char *next = end + (*end == '\n');
        struct found found;
        if (parse(log, end, file, &found)) {
            size_t column = found.line > 0 ? column_below(next) : 0;
            hone_buf_printf(&out, "%.*s:%zu:", (int)found.file_len, found.file, found.line);
            if (column > 0)
                hone_buf_printf(&out, "%zu:", column);
            hone_buf_printf(&out, " %s: %.*s\n", hone_severity_name(found.severity),
                            (int)found.message_len, found.message);
        }
        log = next;
    }
    return hone_pool_strdup(pool, out.data != NULL ? out.data : "");
}

const char *hone_nvrtc_log_cleaned(const char *log, struct hone_pool *pool)
{
    static const char *const dull[] = {"ptxas info ", "ptxas         .", "Remark: The warnings can",
                                       "\"hone_front.cu\": using precompiled"};
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    while (*log != '\0') {
        size_t len = strcspn(log, "\n");
        size_t next = len + (log[len] == '\n');
        bool is_dull = len == 0 || memmem(log, len, " bytes stack frame, ", 20) != NULL;
        for (size_t i = 0; i < HONE_COUNTOF(dull); i++)
            is_dull = is_dull || strncmp(log, dull[i], strlen(dull[i])) == 0;
        if (!is_dull)
            hone_buf_add(&out, log, next);
        log += next;
    }
    return hone_pool_strdup(pool, out.data != NULL ? out.data : "");
}

/* ptxas with -v says how much a kernel takes and fails without a word when that is too much. */
static const char *too_much_shared(const char *log, const char *file, struct hone_pool *pool)
{
    static const char entry[] = "Compiling entry function '";
    static const char used[] = " bytes smem";
    const char *name = NULL;
    for (const char *line = log; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        const char *at = memmem(line, len, entry, sizeof entry - 1);
        name = at != NULL ? at + sizeof entry - 1 : name;
        const char *number = memmem(line, len, used, sizeof used - 1);
        int64_t bytes = 0, unit = 1;
        while (number != NULL && number > line && isdigit((unsigned char)number[-1]) &&
               bytes < 1ll << 40) {
            bytes += (*--number - '0') * unit;
            unit *= 10;
        }
        if (name != NULL && bytes > STATIC_SHARED) {
            char pretty[200];
            HONE_AUTOFREE char *lowered = hone_strndup(name, strcspn(name, "'\n"));
            hone_plan_pretty(lowered, pretty, sizeof pretty);
            return hone_pool_printf(
                pool,
                "%s:0: error: %s declares %lld bytes of shared memory, at most %d can be static. "
                "fix: declare it extern __shared__, give the size at the launch and allow it with "
                "cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %lld)\n",
                file, pretty, (long long)bytes, STATIC_SHARED, pretty, (long long)bytes);
        }
        line += len + (line[len] == '\n');
    }
    return NULL;
}

void hone_nvrtc_diag_parse(const struct hone_diag_in *in, struct hone_pool *pool,
                           struct hone_diag_out *ret)
{
    struct hone_diag_in like_gcc = *in;
    like_gcc.text = log_as_gcc(in->text, in->file, pool);
    const char *shared = too_much_shared(in->text, in->file, pool);
    if (shared != NULL)
        like_gcc.text = hone_pool_printf(pool, "%s%s", shared, like_gcc.text);
    hone_diag_parse(&like_gcc, pool, ret);
}

enum hone_reason hone_compiler_reason(const struct hone_jail_exit *how, bool timed_out,
                                      int64_t memory_bytes, bool has_object)
{
    if (timed_out || how->hit_cpu)
        return HONE_REASON_COMPILE_TIMEOUT;
    if (how->status == 0 && !how->hit_disk)
        return HONE_REASON_BUILT;
    if (how->was_seccomp)
        return HONE_REASON_FORBIDDEN;
    if (how->was_oom || how->max_rss_bytes >= memory_bytes / 8 * 7)
        return HONE_REASON_OOM;
    if (how->hit_disk)
        return HONE_REASON_TOO_LARGE;
    if (how->signal == SIGKILL)
        return HONE_REASON_INFRA;
    return has_object ? HONE_REASON_LINK : HONE_REASON_COMPILE;
}

static bool names_line(const struct hone_array *list, int64_t line)
{
    const struct hone_diagnostic *items = list->v;
    for (size_t i = 0; i < list->n; i++)
        if (items[i].line == line && line > 0)
            return true;
    return false;
}

static void add(const struct hone_array *from, enum hone_severity severity,
                const struct hone_array *known, struct hone_array *to)
{
    const struct hone_diagnostic *items = from->v;
    struct hone_diagnostic *into = to->v;
    bool take = false;
    for (size_t i = 0; i < from->n && to->n < HONE_LIMIT_DIAGNOSTICS; i++) {
        if (items[i].severity != HONE_SEVERITY_NOTE)
            take = items[i].severity == severity &&
                   (known == NULL || !names_line(known, items[i].line));
        if (take)
            into[to->n++] = items[i];
    }
}

void hone_diag_merge(const struct hone_array *first, const struct hone_array *second,
                     struct hone_pool *pool, struct hone_array *ret)
{
    *ret = (struct hone_array){
        .v = hone_pool_alloc(pool, HONE_LIMIT_DIAGNOSTICS * sizeof(struct hone_diagnostic))};
    static const enum hone_severity order[] = {HONE_SEVERITY_ERROR, HONE_SEVERITY_WARNING};
    for (size_t i = 0; i < HONE_COUNTOF(order); i++) {
        add(first, order[i], NULL, ret);
        add(second, order[i], first, ret);
    }
}
