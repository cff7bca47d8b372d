/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the emulated device: memory files, so that a handle can go to another process, mapped
 * into reserved ranges; what is not mapped, or read-only, faults as on a device. */
#include "tests/cuda_emulator/driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { RESERVED, MAPPED, ALLOCATED, PINNED, MODULE };
enum { N_RANGES = 16384, SMALLEST_GRANULE = 64 << 10, ALIGN = 256 };

struct range {
    uint64_t base;
    size_t size; /* 0: free row */
    enum kind kind;
    struct physical *physical;
    uint64_t mapping; /* ALLOCATED: of the whole map */
    size_t mapping_size;
};
struct physical { /* one memory file */
    int fd, refs;
    size_t size;
    bool is_import, is_exported;
    struct physical *next_lent;
};
static struct {
    pthread_mutex_t lock;
    struct range ranges[N_RANGES];
    size_t n_used, in_use_bytes; /* rows ever used */
    struct physical *lent;       /* given back here, while another process still holds them */
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct range *find(uint64_t base, enum kind kind) /* under the lock */
{
    for (size_t i = 0; i < memory.n_used; i++)
        if (memory.ranges[i].size > 0 && memory.ranges[i].base == base &&
            memory.ranges[i].kind == kind)
            return &memory.ranges[i];
    return NULL;
}
static bool add(struct range range)
{
    pthread_mutex_lock(&memory.lock);
    size_t i = 0;
    while (i < memory.n_used && memory.ranges[i].size > 0)
        i++;
    bool is_room = i < N_RANGES;
    if (is_room) {
        memory.ranges[i] = range;
        memory.n_used = i < memory.n_used ? memory.n_used : i + 1;
    }
    pthread_mutex_unlock(&memory.lock);
    return is_room;
}
static bool take(uint64_t base, enum kind kind, struct range *ret)
{
    pthread_mutex_lock(&memory.lock);
    struct range *range = find(base, kind);
    if (range != NULL) {
        *ret = *range;
        range->size = 0;
    }
    pthread_mutex_unlock(&memory.lock);
    return range != NULL;
}
/* The row of such a kind that holds the range; [at, at + n) may span several mapped rows. */
static bool is_covered(uint64_t at, size_t n, bool is_pinned_only)
{
    bool goes_on = true;
    pthread_mutex_lock(&memory.lock);
    for (; n > 0 && goes_on;) {
        goes_on = false;
        for (size_t i = 0; i < memory.n_used && n > 0; i++) {
            const struct range *r = &memory.ranges[i];
            if (r->size == 0 || r->kind == RESERVED || (is_pinned_only && r->kind != PINNED) ||
                at < r->base || at - r->base >= r->size)
                continue;
            size_t step = r->size - (size_t)(at - r->base);
            step = step < n ? step : n;
            at += step;
            n -= step;
            goes_on = true;
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return n == 0;
}
bool emu_is_memory(uint64_t at, size_t n)
{
    return is_covered(at, n, false);
}
bool emu_is_pinned(const void *at, size_t n)
{
    return is_covered((uintptr_t)at, n, true);
}

void emu_memory_note(uint64_t base, size_t size)
{
    if (!add((struct range){.base = base, .size = size, .kind = MODULE}))
        abort();
}
void emu_memory_forget(uint64_t base)
{
    struct range range;
    (void)take(base, MODULE, &range);
}

/* As on a device, memory that other processes imported is free when the last of them lets go. Every
 * exported descriptor has a shared lock of its file, so an exclusive one says that all are closed.
 * Under the lock. */
static void sweep(void)
{
    for (struct physical **at = &memory.lent; *at != NULL;) {
        struct physical *physical = *at;
        if (flock(physical->fd, LOCK_EX | LOCK_NB) != 0) {
            at = &physical->next_lent;
            continue;
        }
        *at = physical->next_lent;
        memory.in_use_bytes -= physical->size;
        close(physical->fd);
        free(physical);
    }
}

static bool charge(size_t n)
{
    pthread_mutex_lock(&memory.lock);
    sweep();
    bool fits = memory.in_use_bytes + n <= emu_setting("MEMORY", 4ull << 30);
    memory.in_use_bytes += fits ? n : 0;
    pthread_mutex_unlock(&memory.lock);
    return fits;
}
static void discharge(size_t n)
{
    pthread_mutex_lock(&memory.lock);
    memory.in_use_bytes -= n;
    pthread_mutex_unlock(&memory.lock);
}
hone_cu_result cuMemGetInfo(size_t *ret_free, size_t *ret_total)
{
    *ret_total = emu_setting("MEMORY", 4ull << 30);
    pthread_mutex_lock(&memory.lock);
    sweep();
    *ret_free = *ret_total - memory.in_use_bytes;
    pthread_mutex_unlock(&memory.lock);
    return emu_enter();
}

/* ---- virtual memory ---- */

hone_cu_result cuMemGetAllocationGranularity(size_t *ret, const struct hone_cu_alloc_prop *prop,
                                             int option)
{
    (void)option;
    if (prop == NULL || prop->type != HONE_CU_MEM_PINNED)
        return HONE_CU_INVALID_VALUE;
    *ret = emu_setting("GRANULARITY", 2 << 20);
    return 0;
}

hone_cu_result cuMemAddressReserve(hone_cu_ptr *ret, size_t size, size_t alignment,
                                   hone_cu_ptr addr, unsigned long long flags)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    size_t granule = emu_setting("GRANULARITY", 2 << 20);
    alignment = alignment > granule ? alignment : granule;
    if (size == 0 || size % SMALLEST_GRANULE != 0 || flags != 0 ||
        (alignment & (alignment - 1)) != 0)
        return HONE_CU_INVALID_VALUE;
    char *at = mmap((void *)(uintptr_t)addr, size + alignment, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return HONE_CU_OUT_OF_MEMORY;
    uintptr_t start = ((uintptr_t)at + alignment - 1) / alignment * alignment;
    if (start > (uintptr_t)at)
        munmap(at, start - (uintptr_t)at);
    if (start - (uintptr_t)at < alignment)
        munmap((void *)(start + size), alignment - (start - (uintptr_t)at));
    if (!add((struct range){.base = start, .size = size, .kind = RESERVED}))
        return HONE_CU_OUT_OF_MEMORY;
    *ret = start;
    return 0;
}
hone_cu_result cuMemAddressFree(hone_cu_ptr ptr, size_t size)
{
    struct range range;
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    if (!take(ptr, RESERVED, &range))
        return HONE_CU_INVALID_VALUE;
    munmap((void *)(uintptr_t)range.base, range.size);
    return size == range.size ? 0 : HONE_CU_INVALID_VALUE;
}

static void physical_unref(struct physical *physical)
{
    pthread_mutex_lock(&memory.lock);
    bool is_last = --physical->refs == 0;
    bool is_lent = is_last && physical->is_exported;
    if (is_lent) {
        physical->next_lent = memory.lent;
        memory.lent = physical;
    } else if (is_last && !physical->is_import) {
        memory.in_use_bytes -= physical->size;
    }
    pthread_mutex_unlock(&memory.lock);
    if (is_last && !is_lent) {
        close(physical->fd);
        free(physical);
    }
}
static hone_cu_result physical_new(int fd, size_t size, bool is_import, hone_cu_handle *ret)
{
    struct physical *physical = emu_handle(sizeof(*physical));
    *physical = (struct physical){.fd = fd, .refs = 1, .size = size, .is_import = is_import};
    *ret = (uintptr_t)physical;
    return 0;
}

hone_cu_result cuMemCreate(hone_cu_handle *ret, size_t size, const struct hone_cu_alloc_prop *prop,
                           unsigned long long flags)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    if (size == 0 || size % SMALLEST_GRANULE != 0 || prop == NULL || flags != 0 ||
        prop->type != HONE_CU_MEM_PINNED || prop->location.type != HONE_CU_LOCATION_DEVICE)
        return HONE_CU_INVALID_VALUE;
    if (!charge(size))
        return HONE_CU_OUT_OF_MEMORY;
    int fd = memfd_create("emulated device memory", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) < 0) {
        discharge(size);
        if (fd >= 0)
            close(fd);
        return HONE_CU_OUT_OF_MEMORY;
    }
    return physical_new(fd, size, false, ret);
}
hone_cu_result cuMemRelease(hone_cu_handle handle)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || handle == 0)
        return rc != 0 ? rc : HONE_CU_INVALID_VALUE;
    physical_unref((struct physical *)(uintptr_t)handle);
    return 0;
}
hone_cu_result cuMemExportToShareableHandle(void *ret, hone_cu_handle handle, int type,
                                            unsigned long long flags)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    if (handle == 0 || type != HONE_CU_HANDLE_POSIX_FD || flags != 0)
        return HONE_CU_INVALID_VALUE;
    struct physical *physical = (struct physical *)(uintptr_t)handle;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", physical->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC); /* with a lock of its own (sweep) */
    if (fd < 0 || flock(fd, LOCK_SH) != 0)
        return HONE_CU_OUT_OF_MEMORY;
    physical->is_exported = true;
    memcpy(ret, &fd, sizeof(fd));
    return 0;
}
hone_cu_result cuMemImportFromShareableHandle(hone_cu_handle *ret, void *os_handle, int type)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    struct stat st;
    int fd =
        type == HONE_CU_HANDLE_POSIX_FD ? fcntl((int)(intptr_t)os_handle, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size % SMALLEST_GRANULE != 0) {
        if (fd >= 0)
            close(fd);
        return HONE_CU_INVALID_VALUE;
    }
    return physical_new(fd, (size_t)st.st_size, true, ret); /* counted where it was made */
}

hone_cu_result cuMemMap(hone_cu_ptr ptr, size_t size, size_t offset, hone_cu_handle handle,
                        unsigned long long flags)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    struct physical *physical = (struct physical *)(uintptr_t)handle;
    bool is_reserved = false;
    pthread_mutex_lock(&memory.lock);
    for (size_t i = 0; i < memory.n_used; i++) {
        const struct range *r = &memory.ranges[i];
        is_reserved |=
            r->size > 0 && r->kind == RESERVED && ptr >= r->base && ptr - r->base + size <= r->size;
    }
    pthread_mutex_unlock(&memory.lock);
    if (!is_reserved || physical == NULL || flags != 0 || size == 0 ||
        size % SMALLEST_GRANULE != 0 || ptr % SMALLEST_GRANULE != 0 || offset > physical->size ||
        size > physical->size - offset || emu_is_memory(ptr, 1))
        return HONE_CU_INVALID_VALUE;
    if (mmap((void *)(uintptr_t)ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->fd,
             (off_t)offset) == MAP_FAILED)
        return HONE_CU_OUT_OF_MEMORY;
    pthread_mutex_lock(&memory.lock);
    physical->refs++;
    pthread_mutex_unlock(&memory.lock);
    return add((struct range){.base = ptr, .size = size, .kind = MAPPED, .physical = physical})
               ? 0
               : HONE_CU_OUT_OF_MEMORY;
}
hone_cu_result cuMemUnmap(hone_cu_ptr ptr, size_t size)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    for (size_t done = 0; done < size;) {
        struct range range;
        if (!take(ptr + done, MAPPED, &range) || range.size > size - done)
            return HONE_CU_INVALID_VALUE;
        mmap((void *)(uintptr_t)range.base, range.size, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        physical_unref(range.physical);
        done += range.size;
    }
    return 0;
}
hone_cu_result cuMemSetAccess(hone_cu_ptr ptr, size_t size, const struct hone_cu_access *desc,
                              size_t count)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    if (count != 1 || desc == NULL || !emu_is_memory(ptr, size))
        return HONE_CU_INVALID_VALUE;
    int prot = desc->flags == HONE_CU_ACCESS_READ         ? PROT_READ
               : desc->flags == HONE_CU_ACCESS_READ_WRITE ? PROT_READ | PROT_WRITE
                                                          : PROT_NONE;
    return mprotect((void *)(uintptr_t)ptr, size, prot) == 0 ? 0 : HONE_CU_INVALID_VALUE;
}

/* ---- plain memory: the content ends at the end of its pages, a guard follows ---- */

hone_cu_result cuMemAlloc(hone_cu_ptr *ret, size_t size)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    if (size == 0)
        return HONE_CU_INVALID_VALUE;
    size_t page = 4096;
    size_t flush = (size + ALIGN - 1) / ALIGN * ALIGN, whole = (flush + page - 1) / page * page;
    if (size > SIZE_MAX / 2 || !charge(size))
        return HONE_CU_OUT_OF_MEMORY;
    char *at =
        mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || mprotect(at + page, whole, PROT_READ | PROT_WRITE) < 0) {
        discharge(size);
        return HONE_CU_OUT_OF_MEMORY;
    }
    *ret = (uintptr_t)(at + page + whole - flush);
    memset((void *)(uintptr_t)*ret, 0xa5, size < 1 << 20 ? size : 1 << 20); /* nobody promised 0 */
    return add((struct range){.base = *ret,
                              .size = size,
                              .kind = ALLOCATED,
                              .mapping = (uintptr_t)at,
                              .mapping_size = whole + 2 * page})
               ? 0
               : HONE_CU_OUT_OF_MEMORY;
}
hone_cu_result cuMemFree(hone_cu_ptr ptr)
{
    struct range range;
    hone_cu_result rc = emu_enter();
    if (rc != 0 || ptr == 0)
        return rc;
    emu_wait_all();
    if (!take(ptr, ALLOCATED, &range))
        return HONE_CU_INVALID_VALUE;
    munmap((void *)(uintptr_t)range.mapping, range.mapping_size);
    discharge(range.size);
    return 0;
}
hone_cu_result cuMemHostAlloc(void **ret, size_t size, unsigned flags)
{
    (void)flags;
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    void *wanted = (void *)(uintptr_t)emu_setting("PINNED", 0);
    void *at = size == 0
                   ? MAP_FAILED
                   : mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return HONE_CU_OUT_OF_MEMORY;
    *ret = at;
    return add((struct range){.base = (uintptr_t)at, .size = size, .kind = PINNED})
               ? 0
               : HONE_CU_OUT_OF_MEMORY;
}
hone_cu_result cuMemFreeHost(void *ptr)
{
    struct range range;
    hone_cu_result rc = emu_enter();
    if (rc != 0)
        return rc;
    emu_wait_all();
    if (!take((uintptr_t)ptr, PINNED, &range))
        return HONE_CU_INVALID_VALUE;
    munmap(ptr, range.size);
    return 0;
}

/* ---- copies and fills ---- */

static void transfer(void *arg)
{
    const struct emu_transfer *t = arg;
    char *to = (char *)(uintptr_t)t->to;
    if (!t->is_fill)
        memmove(to, (const void *)(uintptr_t)t->from, t->n);
    else if (t->element_bytes == 1)
        memset(to, (int)(t->value & 0xff), t->n);
    else
        for (size_t i = 0; i < t->n; i++)
            memcpy(to + i * t->element_bytes, &t->value, t->element_bytes);
}
hone_cu_result emu_transfer_run(void *arg)
{
    return hone_emu_guarded(transfer, arg);
}
void emu_transfer_free(void *arg)
{
    struct emu_transfer *t = arg;
    if (t->has_copy)
        free((void *)(uintptr_t)t->from);
    free(t);
}
static hone_cu_result submit(struct emu_transfer t, hone_cu_stream stream)
{
    struct emu_transfer *copy = malloc(sizeof(*copy));
    if (copy == NULL)
        abort();
    *copy = t;
    return emu_submit(stream, (struct emu_work){emu_transfer_run, emu_transfer_free, copy});
}

hone_cu_result cuMemcpyHtoDAsync(hone_cu_ptr dst, const void *src, size_t n, hone_cu_stream stream)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || n == 0)
        return rc;
    if (src == NULL || !emu_is_memory(dst, n))
        return HONE_CU_INVALID_VALUE;
    struct emu_transfer t = {.to = dst, .from = (uintptr_t)src, .n = n};
    if (!emu_is_pinned(src, n)) { /* the caller may change pageable memory at once */
        void *copy = malloc(n);
        if (copy == NULL)
            return HONE_CU_OUT_OF_MEMORY;
        memcpy(copy, src, n);
        t.from = (uintptr_t)copy;
        t.has_copy = true;
    }
    return submit(t, stream);
}
hone_cu_result cuMemcpyDtoHAsync(void *dst, hone_cu_ptr src, size_t n, hone_cu_stream stream)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || n == 0)
        return rc;
    if (dst == NULL || !emu_is_memory(src, n))
        return HONE_CU_INVALID_VALUE;
    rc = submit((struct emu_transfer){.to = (uintptr_t)dst, .from = src, .n = n}, stream);
    return rc != 0 || emu_is_pinned(dst, n) ? rc : emu_wait_stream(stream);
}
hone_cu_result cuMemcpyHtoD(hone_cu_ptr dst, const void *src, size_t n)
{
    hone_cu_result rc = cuMemcpyHtoDAsync(dst, src, n, NULL);
    return rc != 0 ? rc : emu_wait_stream(NULL);
}
hone_cu_result cuMemcpyDtoH(void *dst, hone_cu_ptr src, size_t n)
{
    hone_cu_result rc = cuMemcpyDtoHAsync(dst, src, n, NULL);
    return rc != 0 ? rc : emu_wait_stream(NULL);
}
hone_cu_result cuMemcpyDtoDAsync(hone_cu_ptr dst, hone_cu_ptr src, size_t n, hone_cu_stream stream)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || n == 0)
        return rc;
    if (!emu_is_memory(src, n) || !emu_is_memory(dst, n))
        return HONE_CU_INVALID_VALUE;
    return submit((struct emu_transfer){.to = dst, .from = src, .n = n}, stream);
}
static hone_cu_result fill(hone_cu_ptr dst, unsigned value, unsigned element_bytes, size_t n,
                           hone_cu_stream stream)
{
    hone_cu_result rc = emu_enter();
    if (rc != 0 || n == 0)
        return rc;
    if (n > SIZE_MAX / 4 || dst % element_bytes != 0 || !emu_is_memory(dst, n * element_bytes))
        return HONE_CU_INVALID_VALUE;
    return submit(
        (struct emu_transfer){
            .to = dst, .n = n, .value = value, .element_bytes = element_bytes, .is_fill = true},
        stream);
}
hone_cu_result cuMemsetD8Async(hone_cu_ptr dst, unsigned char value, size_t n,
                               hone_cu_stream stream)
{
    return fill(dst, value, 1, n, stream);
}
hone_cu_result cuMemsetD32Async(hone_cu_ptr dst, unsigned value, size_t n, hone_cu_stream stream)
{
    return fill(dst, value, 4, n, stream);
}
