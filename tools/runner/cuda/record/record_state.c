/* SPDX-License-Identifier: Apache-2.0 */
/* Records, order, buffers and kernels of one call of a launcher. */
#include "tools/runner/cuda/record/record_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

/* The runtime's functions have no argument for it; set once, before foreign code runs. */
struct hone_recorder *hone_recorder;

void hone_record_refuse(const char *fmt, ...)
{
    struct hone_record_head *head = hone_recorder->head;
    va_list args;
    va_start(args, fmt);
    hone_record_say(&head->refusal, fmt, args);
    va_end(args);
    head->status = HONE_RECORD_REFUSED;
    _exit(0);
}

int hone_record_error(int code, const char *fmt, ...)
{
    struct hone_record_head *head = hone_recorder->head;
    va_list args;
    va_start(args, fmt);
    hone_record_say(&head->error, fmt, args);
    va_end(args);
    hone_recorder->last_error = code;
    return code;
}

struct hone_record_out hone_record_add(enum hone_record_kind kind, size_t fixed, size_t n_after,
                                       size_t n_params, size_t n_bytes)
{
    struct hone_recorder *r = hone_recorder;
    struct hone_record_record *record = (void *)(r->records + r->head->used);
    size_t total = sizeof *record + fixed + 4 * n_after + 8 * n_params + n_bytes;
    total = (total + 7) / 8 * 8;
    if (r->head->used + total > r->room)
        hone_record_refuse("the launcher does more than a plan can hold (%lld bytes). fix: fewer "
                           "launches, or loop inside of the kernel",
                           (long long)r->room);
    *record = (struct hone_record_record){.kind = kind,
                                          .total = (uint32_t)total,
                                          .n_after = (uint32_t)n_after,
                                          .n_params = (uint32_t)n_params,
                                          .n_bytes = (uint32_t)n_bytes};
    char *at = (char *)(record + 1);
    memset(at, 0, total - sizeof *record);
    r->head->used += total;
    r->head->n_records++;
    return (struct hone_record_out){.fixed = at,
                                    .after = (void *)(at + fixed),
                                    .params = (void *)(at + fixed + 4 * n_after),
                                    .bytes = at + fixed + 4 * n_after + 8 * n_params};
}

void hone_record_note(const char *text)
{
    struct hone_recorder *r = hone_recorder;
    if (r->n_notes++ >= HONE_LIMIT_PLAN_NOTES)
        return;
    struct hone_record_out out = hone_record_add(
        HONE_RECORD_NOTE, sizeof(struct hone_record_name_record), 0, 0, strlen(text) + 1);
    memcpy(out.bytes, text, strlen(text) + 1);
}

/* ---- order ---- */

static void merge(struct hone_record_clock *into, const struct hone_record_clock *from)
{
    for (size_t i = 0; i < HONE_LIMIT_PLAN_STREAMS; i++)
        if (from->v[i] > into->v[i])
            into->v[i] = from->v[i];
}

size_t hone_record_order(const void *stream, uint32_t after[HONE_LIMIT_PLAN_STREAMS])
{
    struct hone_recorder *r = hone_recorder;
    if (r->n_ops >= HONE_LIMIT_PLAN_OPS)
        hone_record_refuse(
            "the launcher does more than %d operations. fix: fewer launches, or loop "
            "inside of the kernel",
            HONE_LIMIT_PLAN_OPS);
    size_t which = hone_record_stream_of(stream), n = 0;
    struct hone_record_stream *s = &r->streams[which];
    bool is_null = (uintptr_t)stream <= 1;
    struct hone_record_clock clock = s->clock;
    merge(&clock, &r->host);
    for (size_t i = 1; i < r->n_streams && is_null; i++)
        if (r->streams[i].is_blocking)
            merge(&clock, &r->streams[i].clock);
    if (s->is_blocking)
        merge(&clock, &r->null_stream);
    /* An operation that another one in the list already waits for is left out. */
    for (size_t i = 0; i < r->n_streams; i++) {
        bool is_needed = clock.v[i] != 0;
        for (size_t k = 0; k < r->n_streams && is_needed; k++)
            is_needed = k == i || clock.v[k] == 0 || r->op_clocks[clock.v[k] - 1].v[i] < clock.v[i];
        if (is_needed)
            after[n++] = clock.v[i] - 1;
    }
    r->n_ops++;
    clock.v[which] = r->n_ops;
    r->op_clocks[r->n_ops - 1] = clock;
    s->clock = clock;
    s->last = r->n_ops;
    if (is_null)
        r->null_stream = clock;
    for (size_t i = 1; i < n; i++) /* ascending */
        for (size_t k = i; k > 0 && after[k - 1] > after[k]; k--) {
            uint32_t swap = after[k];
            after[k] = after[k - 1];
            after[k - 1] = swap;
        }
    return n;
}

void hone_record_check_joined(void)
{
    struct hone_recorder *r = hone_recorder;
    struct hone_record_clock joined = r->streams[0].clock;
    merge(&joined, &r->host);
    for (size_t i = 1; i < r->n_streams; i++)
        if (r->streams[i].last > joined.v[i])
            hone_record_refuse("operation %u runs on a stream of the launcher's own that is not "
                               "joined: it may still run "
                               "when 'stream' is done. fix: cudaEventRecord(event, side); "
                               "cudaStreamWaitEvent(stream, "
                               "event, 0);",
                               r->streams[i].last);
}

size_t hone_record_stream_of(const void *handle)
{
    struct hone_recorder *r = hone_recorder;
    uintptr_t at = (uintptr_t)handle;
    if (at <= 2)
        return 0;
    if (at >= HONE_RECORD_HANDLE && at < HONE_RECORD_HANDLE + 16 * r->n_streams && at % 16 == 0)
        return (at - HONE_RECORD_HANDLE) / 16;
    hone_record_refuse(
        "stream %p was not created by the launcher and is not its argument. fix: use the "
        "'stream' that the launcher gets",
        handle);
}

void hone_record_wait_host(const struct hone_record_clock *clock)
{
    merge(&hone_recorder->host, clock);
}

void hone_record_wait_stream(size_t stream, const struct hone_record_clock *clock)
{
    merge(&hone_recorder->streams[stream].clock, clock);
}

/* ---- memory ---- */

bool hone_record_is_device(const void *at)
{
    size_t interval;
    int64_t offset;
    return hone_record_find(hone_recorder->run, (uintptr_t)at, &interval, &offset);
}

bool hone_record_is_mapped(const void *at)
{
    unsigned char state;
    uintptr_t page = (uintptr_t)at / PAGE * PAGE;
    return page != 0 && page < 0x800000000000ull &&
           (mincore((void *)page, PAGE, &state) == 0 || errno != ENOMEM);
}

const char *hone_record_buffer_name(const void *at, char *ret, size_t size)
{
    const struct hone_recorder *r = hone_recorder;
    size_t interval = 0;
    int64_t offset = 0;
    if (!hone_record_find(r->run, (uintptr_t)at, &interval, &offset))
        (void)snprintf(ret, size, "%p", at);
    else if (interval < r->job->tensors.n)
        (void)snprintf(ret, size, "'%s'", r->job->tensors.v[interval]);
    else if (interval < HONE_RECORD_TENSORS + HONE_LIMIT_PLAN_SCRATCH)
        (void)snprintf(ret, size, "scratch %zu", interval - HONE_RECORD_TENSORS);
    else
        (void)snprintf(ret, size, "variable %zu of the device",
                       interval - HONE_RECORD_TENSORS - HONE_LIMIT_PLAN_SCRATCH);
    return ret;
}

/* ---- names ---- */

static char *demangle(const char *symbol)
{
    char *(*fn)(const char *, char *, size_t *, int *) = NULL;
    int status = 0;
    memcpy(&fn, &hone_recorder->libcxx_demangle, sizeof fn);
    return fn == NULL ? NULL : fn(symbol, NULL, NULL, &status);
}

static void cut_out(char *text, const char *what)
{
    for (char *at = strstr(text, what); at != NULL; at = strstr(text, what))
        memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
}

/* "void ns::tiled<16, float>(float const*, int)" to "ns::tiled<16, float>" and, when asked for,
 * "(void (*)(float const*, int))ns::tiled<16, float>". Owned. */
static char *expression_of(const char *symbol, char **ret_typed)
{
    HONE_AUTOFREE char *text = demangle(symbol);
    if (text == NULL) {
        if (ret_typed != NULL)
            *ret_typed = hone_strdup(symbol);
        return hone_strdup(symbol);
    }
    cut_out(text, "(anonymous namespace)::");
    size_t len = strlen(text), depth = 0, open = len;
    while (open > 0 && text[len - 1] == ')') {
        open--;
        depth += text[open] == ')';
        if (text[open] == '(' && --depth == 0)
            break;
    }
    const char *name = strncmp(text, "void ", 5) == 0 ? text + 5 : text;
    if (ret_typed != NULL)
        *ret_typed = hone_sprintf("(void (*)%s)%.*s", text + open, (int)(text + open - name), name);
    text[open] = '\0';
    return hone_strdup(name);
}

static const struct hone_record_kernel_fact *fact_of(const char *symbol)
{
    const struct hone_record_kernel_fact *facts = hone_recorder->job->kernels.v;
    for (size_t i = 0; i < hone_recorder->job->kernels.n; i++)
        if (strcmp(facts[i].name, symbol) == 0)
            return &facts[i];
    return NULL;
}

static void put_name(enum hone_record_kind kind, const char *symbol, const char *expression,
                     const char *typed, bool is_asked)
{
    size_t a = strlen(symbol) + 1, b = strlen(expression) + 1, c = strlen(typed) + 1;
    struct hone_record_out out =
        hone_record_add(kind, sizeof(struct hone_record_name_record), 0, 0, a + b + c);
    ((struct hone_record_name_record *)out.fixed)->is_local = is_asked;
    memcpy(out.bytes, symbol, a);
    memcpy(out.bytes + a, expression, b);
    memcpy(out.bytes + a + b, typed, c);
}

/* Does a mangled name hold a type of a function's own (Z...E) or a lambda (Ul)? Names, numbers and
 * back references are stepped over. */
static bool has_local_type(const char *symbol)
{
    const char *at = strncmp(symbol, "_Z", 2) == 0 ? symbol + 2 : "";
    while (*at != '\0') {
        size_t n = strspn(at, "0123456789");
        if (n > 0) {
            size_t len = strtoul(at, NULL, 10), left = strlen(at + n);
            at += n + (len < left ? len : left);
        } else if (*at == 'L' && at[1] != 'Z' && at[1] != '_' && (at[1] < '0' || at[1] > '9')) {
            at += 2;
            at += strspn(at, "n0123456789");
        } else if (*at == 'S' || *at == 'T') {
            size_t digits = strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
            at += at[1 + digits] == '_' ? digits + 2 : 1;
        } else if (*at == 'Z' || strncmp(at, "Ul", 2) == 0 || strncmp(at, "Ut", 2) == 0) {
            return true;
        } else {
            at++;
        }
    }
    return false;
}

/* Of a kernel or a device variable: what the object registered under that address, or the symbol
 * there. */
static const char *find_name(const void *at, bool is_function, int64_t *ret_bytes, bool *ret_local)
{
    *ret_local = false;
    return hone_recorder->job->is_nvcc
               ? hone_record_registered_name(at, !is_function, ret_bytes)
               : hone_record_elf_find(hone_recorder->elf, at, is_function, ret_bytes, ret_local);
}

struct hone_record_kernel *hone_record_kernel_of(const void *pc)
{
    struct hone_recorder *r = hone_recorder;
    int64_t bytes = 0;
    bool is_local = false;
    const char *symbol = find_name(pc, true, &bytes, &is_local);
    if (symbol == NULL)
        return NULL;
    for (size_t i = 0; i < r->n_kernels; i++)
        if (strcmp(r->kernels[i].symbol, symbol) == 0)
            return &r->kernels[i];
    if (r->n_kernels == HONE_RECORD_KERNELS)
        hone_record_refuse("the launcher uses more than %d kernels", HONE_RECORD_KERNELS);
    struct hone_record_kernel *kernel = &r->kernels[r->n_kernels++];
    HONE_AUTOFREE char *typed = NULL;
    char *expression = expression_of(symbol, &typed);
    size_t len = strlen(expression);
    bool is_template = len > 0 && expression[len - 1] == '>';
    bool is_nvcc = r->job->is_nvcc;
    bool is_hidden = is_local || strstr(symbol, "_GLOBAL__N_") != NULL;
    if (!is_nvcc && has_local_type(symbol))
        hone_record_refuse(
            "%s has a type of a function's own (a lambda or a local struct) as template "
            "argument, which has no name to compile it by. fix: a struct at file scope",
            expression);
    *kernel = (struct hone_record_kernel){.symbol = symbol,
                                          .expression = expression,
                                          .pretty = is_nvcc ? demangle(symbol) : NULL,
                                          .fact = fact_of(symbol),
                                          .carveout = -1};
    put_name(HONE_RECORD_KERNEL, symbol, expression, typed, !is_nvcc && (is_template || is_hidden));
    return kernel;
}

uint64_t hone_record_variable_address(const void *at, int64_t *ret_bytes)
{
    struct hone_recorder *r = hone_recorder;
    bool is_local = false;
    const char *symbol = find_name(at, false, ret_bytes, &is_local);
    if (symbol == NULL)
        return 0;
    size_t i = 0;
    while (i < r->n_variables && strcmp(r->variables[i].symbol, symbol) != 0)
        i++;
    if (i == HONE_RECORD_SYMBOLS)
        hone_record_refuse("the launcher uses more than %d device variables", HONE_RECORD_SYMBOLS);
    if (i == r->n_variables) {
        HONE_AUTOFREE char *name = expression_of(symbol, NULL);
        HONE_AUTOFREE char *expression = hone_sprintf("&%s", name);
        r->variables[r->n_variables++] =
            (struct hone_record_variable){.at = at, .symbol = symbol, .bytes = *ret_bytes};
        put_name(HONE_RECORD_SYMBOL, symbol, expression, expression, !r->job->is_nvcc);
    }
    return hone_record_address(r->run, HONE_RECORD_TENSORS + HONE_LIMIT_PLAN_SCRATCH + i);
}
