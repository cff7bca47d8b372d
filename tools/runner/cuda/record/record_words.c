/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's closed list of messages (record_words.h): a row has a format and the kinds of
 * its values. Only numbers and checked names travel out of the jail; the sentence is made on
 * the judge's side. */
#include "tools/runner/cuda/record/record_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "workspace/base/buf.h"
#include "workspace/base/utf8.h"

#define MOST_SPACES 12 /* in a name: types have some, sentences more */

struct line {
    enum hone_reason reason;
    const char *text;
};

/* Refusals, errors of calls and notes, word for word as where they are said. */
static const struct line lines[] = {
    {HONE_REASON_LAUNCH, "the launcher did something that cannot be recorded"},
    {HONE_REASON_LAUNCH, "%s %c = %lld (workload %s) does not fit an unsigned int. fix: loop in "
                         "the kernel, or use more dimensions"},
    {HONE_REASON_LAUNCH, "line %d: %s = %lld (workload %s) does not fit parameter %zu '%s' of %s. "
                         "fix: declare 'long long %s'"},
    {HONE_REASON_LAUNCH, "%sparameter %zu '%s' of %s is an address in host memory. fix: let the "
                         "kernel name the variable, or use cudaGetSymbolAddress"},
    {HONE_REASON_LAUNCH, "%sparameter %zu '%s' of %s is an address in host memory. fix: pass the "
                         "value itself, or copy it to device memory with cudaMemcpyAsync"},
    {HONE_REASON_LAUNCH,
     "%s%s asks for %llu bytes of dynamic shared memory, %lld are allowed. fix: "
     "cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %llu); before the "
     "launch (at most %lld)"},
    {HONE_REASON_LAUNCH,
     "%sthe parameters of %s take more than %d bytes. fix: put large tables into device memory"},
    {HONE_REASON_TOO_LARGE, "a kernel has %lu parameters, at most %d are accepted"},
    {HONE_REASON_LAUNCH, "a kernel was called that has no name"},
    {HONE_REASON_LAUNCH,
     "kernel %s is called like a function. fix: %s<<<grid, block, 0, stream>>>(...)"},
    {HONE_REASON_LAUNCH, "cudaLaunchKernel: %p is no kernel of this file"},
    {HONE_REASON_LAUNCH, "cudaLaunchKernel: %s is no kernel"},
    {HONE_REASON_LAUNCH, "cudaLaunchKernel: %s needs %zu arguments"},
    {HONE_REASON_LAUNCH, "%s of %zu bytes: the device has %lld"},
    {HONE_REASON_TOO_LARGE,
     "the launcher allocates more than %d buffers. fix: allocate one and divide it"},
    {HONE_REASON_LAUNCH, "cudaMallocPitch of %zu x %zu bytes"},
    {HONE_REASON_LAUNCH, "cudaFree of %s, which cudaMalloc did not give"},
    {HONE_REASON_LAUNCH, "cudaMallocHost of %zu bytes"},
    {HONE_REASON_LAUNCH, "cudaMallocManaged: memory that host and device share is not supported. "
                         "fix: cudaMallocAsync(&pointer, bytes, stream)"},
    {HONE_REASON_OOM, "%s: no %s, because of an earlier call"},
    {HONE_REASON_LAUNCH, "%s: %s %p is no device memory"},
    {HONE_REASON_LAUNCH, "%s: more than %d bytes are copied from the host. fix: compute them in a "
                         "kernel, or put them in __constant__ memory with an initialiser"},
    {HONE_REASON_LAUNCH, "%s: a tensor map is copied to the device. fix: pass it as parameter, "
                         "'const __grid_constant__ CUtensorMap map'"},
    {HONE_REASON_LAUNCH, "%s copies %s to the host: a launcher cannot see results, it is recorded "
                         "without a device. fix: do it in a kernel"},
    {HONE_REASON_LAUNCH, "%s: %p is no variable of this file"},
    {HONE_REASON_LAUNCH, "%s: %zu bytes at %zu of a variable of %lld"},
    {HONE_REASON_LAUNCH, "cudaGetSymbolSize: %p is no variable"},
    {HONE_REASON_LAUNCH, "a tensor map cannot be encoded"},
    {HONE_REASON_LAUNCH, "tensor map: rank %u is not in 1..5"},
    {HONE_REASON_TOO_LARGE, "the launcher creates more than %d streams"},
    {HONE_REASON_TOO_LARGE, "the launcher creates more than %d events"},
    {HONE_REASON_LAUNCH, "event %p was not created by the launcher"},
    {HONE_REASON_LAUNCH, "cudaSetDevice(%d): there is one device, 0"},
    {HONE_REASON_LAUNCH, "cudaDeviceGetAttribute of attribute %d is not known here. fix: write the "
                         "number, or use another attribute"},
    {HONE_REASON_LAUNCH, "occupancy of %p, which is no kernel"},
    {HONE_REASON_LAUNCH, "cudaFuncSetAttribute of %p, which is no kernel"},
    {HONE_REASON_LAUNCH, "cudaFuncSetAttribute(%s, MaxDynamicSharedMemorySize, %d): at most %lld"},
    {HONE_REASON_LAUNCH, "cudaFuncSetAttribute(%s, PreferredSharedMemoryCarveout, %d): percent"},
    {HONE_REASON_LAUNCH,
     "%s from cudaGetDriverEntryPoint is not supported; cuTensorMapEncodeTiled is"},
    {HONE_REASON_LAUNCH, "cudaEventElapsedTime tells 0 while a launcher is recorded"},
    {HONE_REASON_LAUNCH, "cudaDeviceSetLimit has no effect here"},
    {HONE_REASON_LAUNCH,
     "a function attribute other than shared memory and cluster size has no effect here"},
    {HONE_REASON_TOO_LARGE, "the source makes more than %d kernels and device variables"},
    {HONE_REASON_LAUNCH, "'%.200s' is __managed__: memory that host and device share is not "
                         "supported. fix: __device__"},
    {HONE_REASON_LAUNCH, "kernel %s is not in the cubin"},
    {HONE_REASON_LAUNCH, "more than %d launches wait for their arguments. fix: no launches inside "
                         "of a launch's arguments"},
    {HONE_REASON_LAUNCH, "a kernel that was called like a function"},
    {HONE_REASON_LAUNCH, "a launcher takes at most %d floating scalars"},
    {HONE_REASON_LINK, "%s is called by the launcher and is no part of what is recorded"},
    {HONE_REASON_LINK, "%s in the launcher needs nvcc: it is no part of what is recorded"},
    {HONE_REASON_LINK, "the launcher cannot be loaded"},
    {HONE_REASON_NO_SYMBOL,
     "the source exports no function '%s'. fix: define it as extern \"C\", not static"},
    {HONE_REASON_LINK, "the launcher's object cannot be read"},
    {HONE_REASON_TOO_LARGE, "the launcher does more than a plan can hold (%lld bytes). fix: fewer "
                            "launches, or loop inside of the kernel"},
    {HONE_REASON_TOO_LARGE, "the launcher does more than %d operations. fix: fewer launches, or "
                            "loop inside of the kernel"},
    {HONE_REASON_LAUNCH, "operation %u runs on a stream of the launcher's own that is not joined: "
                         "it may still run when 'stream' is done. fix: cudaEventRecord(event, "
                         "side); cudaStreamWaitEvent(stream, event, 0);"},
    {HONE_REASON_LAUNCH, "stream %p was not created by the launcher and is not its argument. fix: "
                         "use the 'stream' that the launcher gets"},
    {HONE_REASON_TOO_LARGE, "the launcher uses more than %d kernels"},
    {HONE_REASON_LAUNCH,
     "%s has a type of a function's own (a lambda or a local struct) as template argument, which "
     "has no name to compile it by. fix: a struct at file scope"},
    {HONE_REASON_TOO_LARGE, "the launcher uses more than %d device variables"},
    {HONE_REASON_LAUNCH,
     "a launch attribute other than cluster, cooperative and programmatic has no effect here"},
};

/* One conversion of a line: flags and width are not used, precision only in %.200s. */
struct conversion {
    const char *end; /* behind it */
    char letter;     /* d, u, c, s, p, % */
    int n_long;      /* of its number: 1 for l and z, 2 for ll */
};

static struct conversion read_conversion(const char *at)
{
    struct conversion ret = {.n_long = 0};
    at += 1 + strspn(at + 1, ".0123456789");
    for (; *at == 'l' || *at == 'z'; at++)
        ret.n_long++;
    ret.letter = *at;
    ret.end = at + (*at != '\0');
    return ret;
}

static int64_t take_number(const struct conversion *c, va_list *args)
{
    if (c->letter == 'p')
        return (int64_t)(uintptr_t)va_arg(*args, void *);
    if (c->letter == 'u')
        return c->n_long == 0   ? (int64_t)va_arg(*args, unsigned)
               : c->n_long == 1 ? (int64_t)va_arg(*args, unsigned long)
                                : (int64_t)va_arg(*args, unsigned long long);
    return c->n_long == 0   ? (int64_t)va_arg(*args, int)
           : c->n_long == 1 ? (int64_t)va_arg(*args, long)
                            : (int64_t)va_arg(*args, long long);
}

void hone_record_say(struct hone_record_said *ret, const char *fmt, va_list args)
{
    size_t n = 0, i = 1;
    va_list own;
    while (i < HONE_COUNTOF(lines) && strcmp(lines[i].text, fmt) != 0)
        i++;
    memset(ret, 0, sizeof *ret);
    ret->number = i < HONE_COUNTOF(lines) ? (uint32_t)i + 1 : 1;
    if (ret->number == 1)
        return;
    va_copy(own, args);
    for (const char *at = strchr(fmt, '%'); at != NULL && n < HONE_RECORD_ARGS;) {
        struct conversion c = read_conversion(at);
        if (c.letter == 's')
            (void)snprintf(ret->args[n++].text, HONE_RECORD_ARG_BYTES, "%s",
                           va_arg(own, const char *));
        else if (c.letter != '%')
            ret->args[n++].number = take_number(&c, &own);
        at = strchr(c.end, '%');
    }
    va_end(own);
}

/* Names, types and expressions of C++, as far as they are of one line and no sentence. */
static void add_name(struct hone_buf *out, const char *text)
{
    static const char marks[] = "_:<>(),*&~.+-/'[]=%!|?^ ";
    size_t n_spaces = 0, len = strnlen(text, HONE_RECORD_ARG_BYTES - 1);
    bool is_name = hone_utf8_valid_prefix(text, len) == len;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        n_spaces += c == ' ';
        is_name = is_name && (is_word || c >= 0x80 || strchr(marks, c) != NULL);
    }
    if (!is_name || n_spaces > MOST_SPACES) {
        hone_buf_str(out, "(no name)");
        return;
    }
    HONE_AUTOFREE char *safe = hone_strndup(text, len);
    hone_utf8_defuse(safe, '?');
    hone_buf_str(out, safe);
}

static void add_argument(struct hone_buf *out, const struct conversion *c,
                         const struct hone_record_said *said, size_t n)
{
    int64_t number = said->args[n].number;
    if (c->letter == 's')
        add_name(out, said->args[n].text);
    else if (c->letter == 'c')
        hone_buf_printf(out, "%c", number > ' ' && number < 0x7f ? (char)number : '?');
    else if (c->letter == 'p')
        hone_buf_printf(out, "0x%" PRIx64, (uint64_t)number);
    else if (c->letter == 'u')
        hone_buf_printf(out, "%" PRIu64, (uint64_t)number);
    else
        hone_buf_printf(out, "%" PRId64, number);
}

const char *hone_record_heard(const struct hone_record_said *said, struct hone_pool *pool,
                              enum hone_reason *ret_reason)
{
    HONE_CLEANUP(hone_buf_done) struct hone_buf out = HONE_BUF_INIT;
    size_t n = 0;
    if (said->number < 1 || said->number > HONE_COUNTOF(lines))
        return NULL;
    const struct line *line = &lines[said->number - 1];
    for (const char *at = line->text; *at != '\0';) {
        size_t len = strcspn(at, "%");
        hone_buf_add(&out, at, len);
        at += len;
        if (*at == '\0')
            break;
        struct conversion c = read_conversion(at);
        if (c.letter == '%')
            hone_buf_str(&out, "%");
        else if (n < HONE_RECORD_ARGS)
            add_argument(&out, &c, said, n++);
        at = c.end;
    }
    if (ret_reason != NULL)
        *ret_reason = line->reason;
    return hone_pool_strndup(pool, out.data != NULL ? out.data : "", out.len);
}

const char *hone_record_known_note(const char *text)
{
    for (size_t i = 0; i < HONE_COUNTOF(lines); i++)
        if (strchr(lines[i].text, '%') == NULL && strcmp(lines[i].text, text) == 0)
            return lines[i].text;
    return NULL;
}
