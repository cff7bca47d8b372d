/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the runtime as the launcher sees it: allocations become scratch buffers, device copies
 * and memsets operations, small copies from the host literal bytes. Copies to the host are refused:
 * there is nothing to copy. */
#include <stdlib.h>
#include <string.h>

#include "tools/runner/cuda/record/record_exports.h"
#include "tools/runner/cuda/record/record_state.h"

enum { TO_HOST = 2, DEVICE_TO_DEVICE = 3 };
#define PITCH 512

static int allocate(void **ret, size_t size, const char *what)
{
    struct hone_recorder *r = hone_recorder;
    int64_t total = (int64_t)hone_min_i64((int64_t)size, INT64_MAX / 2);
    *ret = NULL;
    if (size == 0)
        return HONE_RT_SUCCESS;
    /* With one stream what was freed is done with when the next operation starts. */
    for (size_t i = 0; i < r->n_scratch && r->n_streams == 1; i++)
        if (r->is_freed[i] && r->scratch[i] == (int64_t)size) {
            r->is_freed[i] = false;
            *ret = (void *)(uintptr_t)hone_record_address(r->run, HONE_RECORD_TENSORS + i);
            return HONE_RT_SUCCESS;
        }
    for (size_t i = 0; i < r->n_scratch; i++)
        total += r->scratch[i];
    if (size > (size_t)INT64_MAX / 2 || total > r->device.memory_bytes)
        return hone_record_error(HONE_RT_OUT_OF_MEMORY, "%s of %zu bytes: the device has %lld",
                                 what, size, (long long)r->device.memory_bytes);
    if (r->n_scratch == HONE_LIMIT_PLAN_SCRATCH)
        hone_record_refuse(
            "the launcher allocates more than %d buffers. fix: allocate one and divide it",
            HONE_LIMIT_PLAN_SCRATCH);
    r->scratch[r->n_scratch] = (int64_t)size;
    struct hone_record_out out =
        hone_record_add(HONE_RECORD_SCRATCH, sizeof(struct hone_record_memory_record), 0, 0, 0);
    ((struct hone_record_memory_record *)out.fixed)->n = size;
    *ret = (void *)(uintptr_t)hone_record_address(r->run, HONE_RECORD_TENSORS + r->n_scratch++);
    return HONE_RT_SUCCESS;
}

int cudaMalloc(void **ret, size_t size)
{
    return allocate(ret, size, "cudaMalloc");
}

int cudaMallocAsync(void **ret, size_t size, void *stream)
{
    (void)hone_record_stream_of(stream);
    return allocate(ret, size, "cudaMallocAsync");
}

int cudaMallocFromPoolAsync(void **ret, size_t size, void *pool, void *stream)
{
    (void)pool;
    return cudaMallocAsync(ret, size, stream);
}

int cudaMallocPitch(void **ret, size_t *ret_pitch, size_t width, size_t height)
{
    *ret_pitch = (width + PITCH - 1) / PITCH * PITCH;
    if (height != 0 && *ret_pitch > (size_t)INT64_MAX / height)
        return hone_record_error(HONE_RT_OUT_OF_MEMORY, "cudaMallocPitch of %zu x %zu bytes", width,
                                 height);
    return allocate(ret, *ret_pitch * height, "cudaMallocPitch");
}

int cudaFree(void *at)
{
    struct hone_recorder *r = hone_recorder;
    size_t interval = 0;
    int64_t offset = 0;
    if (at == NULL)
        return HONE_RT_SUCCESS;
    bool is_device = hone_record_find(r->run, (uintptr_t)at, &interval, &offset);
    size_t i = interval - HONE_RECORD_TENSORS;
    if (!is_device || interval < HONE_RECORD_TENSORS || i >= r->n_scratch || offset != 0 ||
        r->is_freed[i]) {
        char name[80];
        return hone_record_error(HONE_RT_INVALID_VALUE,
                                 "cudaFree of %s, which cudaMalloc did not give",
                                 hone_record_buffer_name(at, name, sizeof name));
    }
    r->is_freed[i] = true;
    return HONE_RT_SUCCESS;
}

int cudaFreeAsync(void *at, void *stream)
{
    (void)hone_record_stream_of(stream);
    return cudaFree(at);
}

int cudaMallocHost(void **ret, size_t size)
{
    *ret = calloc(1, size == 0 ? 1 : size);
    return *ret != NULL
               ? HONE_RT_SUCCESS
               : hone_record_error(HONE_RT_OUT_OF_MEMORY, "cudaMallocHost of %zu bytes", size);
}

int cudaHostAlloc(void **ret, size_t size, unsigned flags)
{
    (void)flags;
    return cudaMallocHost(ret, size);
}

int cudaFreeHost(void *at)
{
    free(at);
    return HONE_RT_SUCCESS;
}

int cudaMallocManaged(void **ret, size_t size, unsigned flags)
{
    (void)ret;
    (void)size;
    (void)flags;
    hone_record_refuse(
        "cudaMallocManaged: memory that host and device share is not supported. fix: "
        "cudaMallocAsync(&pointer, bytes, stream)");
}

/* ---- operations ---- */

static struct hone_record_out add(enum hone_record_kind kind, const void *stream, const void *to,
                                  const void *from, size_t n, size_t n_bytes)
{
    uint32_t after[HONE_LIMIT_PLAN_STREAMS];
    size_t n_after = hone_record_order(stream, after);
    struct hone_record_out out =
        hone_record_add(kind, sizeof(struct hone_record_memory_record), n_after, 0, n_bytes);
    *(struct hone_record_memory_record *)out.fixed =
        (struct hone_record_memory_record){.to = (uintptr_t)to, .from = (uintptr_t)from, .n = n};
    memcpy(out.after, after, n_after * sizeof *after);
    return out;
}

static void need_device(const void *at, const char *call, const char *role)
{
    const struct hone_recorder *r = hone_recorder;
    if (at == NULL && r->last_error == HONE_RT_OUT_OF_MEMORY)
        hone_record_refuse("%s: no %s, because of an earlier call", call, role);
    if (!hone_record_is_device(at))
        hone_record_refuse("%s: %s %p is no device memory", call, role, at);
}

int cudaMemsetAsync(void *at, int value, size_t n, void *stream)
{
    if (n == 0)
        return HONE_RT_SUCCESS;
    need_device(at, "cudaMemset", "destination");
    struct hone_record_out out = add(HONE_RECORD_MEMSET, stream, at, NULL, n, 0);
    struct hone_record_memory_record *m = out.fixed;
    m->value = (unsigned char)value;
    m->element = 1;
    return HONE_RT_SUCCESS;
}

int cudaMemset(void *at, int value, size_t n)
{
    return cudaMemsetAsync(at, value, n, NULL);
}

int cudaMemset2DAsync(void *at, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    if (pitch == width)
        return cudaMemsetAsync(at, value, width * height, stream);
    for (size_t row = 0; row < height; row++)
        (void)cudaMemsetAsync((char *)at + row * pitch, value, width, stream);
    return HONE_RT_SUCCESS;
}

int cudaMemset2D(void *at, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(at, pitch, value, width, height, NULL);
}

static void put_literal(const void *to, const void *from, size_t n, const void *stream,
                        const char *call)
{
    struct hone_recorder *r = hone_recorder;
    if (n > HONE_LIMIT_PLAN_LITERAL_BYTES ||
        (r->literal_bytes += (int64_t)n) > HONE_LIMIT_PLAN_LITERAL_BYTES)
        hone_record_refuse(
            "%s: more than %d bytes are copied from the host. fix: compute them in a "
            "kernel, or put them in __constant__ memory with an initialiser",
            call, HONE_LIMIT_PLAN_LITERAL_BYTES);
    for (size_t i = 0; i + sizeof(struct hone_record_map_marker) <= n; i += 8) {
        struct hone_record_map_marker marker;
        memcpy(&marker, (const char *)from + i, sizeof marker);
        if (hone_record_is_marker(&marker, r->n_maps))
            hone_record_refuse(
                "%s: a tensor map is copied to the device. fix: pass it as parameter, "
                "'const __grid_constant__ CUtensorMap map'",
                call);
    }
    struct hone_record_out out = add(HONE_RECORD_LITERAL, stream, to, NULL, n, n);
    memcpy(out.bytes, from, n);
}

static int copy(void *to, const void *from, size_t n, const void *stream, const char *call)
{
    char name[80];
    if (n == 0)
        return HONE_RT_SUCCESS;
    bool is_to = hone_record_is_device(to), is_from = hone_record_is_device(from);
    if (is_from && !is_to)
        hone_record_refuse(
            "%s copies %s to the host: a launcher cannot see results, it is recorded "
            "without a device. fix: do it in a kernel",
            call, hone_record_buffer_name(from, name, sizeof name));
    if (!is_from && !is_to)
        memmove(to, from, n);
    else if (is_from)
        (void)add(HONE_RECORD_COPY, stream, to, from, n, 0);
    else
        put_literal(to, from, n, stream, call);
    return HONE_RT_SUCCESS;
}

int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream)
{
    (void)kind;
    return copy(to, from, n, stream, "cudaMemcpyAsync");
}

int cudaMemcpy(void *to, const void *from, size_t n, int kind)
{
    (void)kind;
    return copy(to, from, n, NULL, "cudaMemcpy");
}

int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                      size_t height, int kind, void *stream)
{
    (void)kind;
    if (to_pitch == width && from_pitch == width)
        return copy(to, from, width * height, stream, "cudaMemcpy2D");
    for (size_t row = 0; row < height; row++)
        (void)copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width,
                   stream, "cudaMemcpy2D");
    return HONE_RT_SUCCESS;
}

int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, int kind)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

/* ---- variables ---- */

static int symbol_place(const void *symbol, size_t n, size_t offset, const char *call, char **ret)
{
    int64_t bytes = 0;
    uint64_t at = hone_record_variable_address(symbol, &bytes);
    if (at == 0)
        return hone_record_error(HONE_RT_INVALID_SYMBOL, "%s: %p is no variable of this file", call,
                                 symbol);
    if (n > (size_t)bytes || offset > (size_t)bytes - n)
        return hone_record_error(HONE_RT_INVALID_VALUE,
                                 "%s: %zu bytes at %zu of a variable of %lld", call, n, offset,
                                 (long long)bytes);
    *ret = (char *)(uintptr_t)at + offset;
    return HONE_RT_SUCCESS;
}

int cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t n, size_t offset, int kind,
                            void *stream)
{
    (void)kind;
    char *to = NULL;
    int code = symbol_place(symbol, n, offset, "cudaMemcpyToSymbol", &to);
    return code != HONE_RT_SUCCESS ? code : copy(to, from, n, stream, "cudaMemcpyToSymbol");
}

int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, int kind)
{
    return cudaMemcpyToSymbolAsync(symbol, from, n, offset, kind, NULL);
}

int cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t n, size_t offset, int kind,
                              void *stream)
{
    (void)kind;
    char *from = NULL;
    int code = symbol_place(symbol, n, offset, "cudaMemcpyFromSymbol", &from);
    return code != HONE_RT_SUCCESS ? code : copy(to, from, n, stream, "cudaMemcpyFromSymbol");
}

int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, int kind)
{
    return cudaMemcpyFromSymbolAsync(to, symbol, n, offset, kind, NULL);
}

int cudaGetSymbolAddress(void **ret, const void *symbol)
{
    char *at = NULL;
    int code = symbol_place(symbol, 0, 0, "cudaGetSymbolAddress", &at);
    *ret = at;
    return code;
}

int cudaGetSymbolSize(size_t *ret, const void *symbol)
{
    int64_t bytes = 0;
    if (hone_record_variable_address(symbol, &bytes) == 0)
        return hone_record_error(HONE_RT_INVALID_SYMBOL, "cudaGetSymbolSize: %p is no variable",
                                 symbol);
    *ret = (size_t)bytes;
    return HONE_RT_SUCCESS;
}

int cudaMemGetInfo(size_t *ret_free, size_t *ret_total)
{
    *ret_free = *ret_total = (size_t)hone_recorder->device.memory_bytes;
    return HONE_RT_SUCCESS;
}

/* ---- tensor maps ---- */

bool hone_record_is_marker(const struct hone_record_map_marker *marker, size_t n_maps)
{
    return marker->magic == HONE_RECORD_MAP_MAGIC && marker->inverse == ~marker->number &&
           marker->number < n_maps;
}

static void check_map(const struct hone_record_map_record *m)
{
    if (hone_record_map_check(m, NULL) < 0) {
        hone_recorder->head->refused_map = *m; /* the caller finds the words */
        hone_record_refuse("a tensor map cannot be encoded");
    }
}

int hone_cuTensorMapEncodeTiled(void *map, int dtype, unsigned rank, void *address,
                                const unsigned long long *dims, const unsigned long long *strides,
                                const unsigned *box, const unsigned *element_strides,
                                int interleave, int swizzle, int l2_promotion, int fill)
{
    struct hone_recorder *r = hone_recorder;
    struct hone_record_map_record m = {.address = (uintptr_t)address,
                                       .dtype = dtype,
                                       .rank = rank,
                                       .interleave = interleave,
                                       .swizzle = swizzle,
                                       .l2_promotion = l2_promotion,
                                       .fill = fill};
    if (rank < 1 || rank > 5)
        hone_record_refuse("tensor map: rank %u is not in 1..5", rank);
    need_device(address, "cuTensorMapEncodeTiled", "address");
    for (unsigned i = 0; i < rank; i++) {
        m.dims[i] = dims[i];
        m.box[i] = box[i];
        m.element_strides[i] = element_strides[i];
        if (i + 1 < rank)
            m.strides[i] = strides[i];
    }
    check_map(&m);
    struct hone_record_out out = hone_record_add(HONE_RECORD_MAP, sizeof m, 0, 0, 0);
    memcpy(out.fixed, &m, sizeof m);
    struct hone_record_map_marker marker = {
        .magic = HONE_RECORD_MAP_MAGIC, .number = r->n_maps, .inverse = ~(uint64_t)r->n_maps};
    for (size_t i = 0; i < HONE_COUNTOF(marker.rest); i++)
        marker.rest[i] = HONE_RECORD_MAP_MAGIC;
    memcpy(map, &marker, sizeof marker);
    r->n_maps++;
    return 0;
}
