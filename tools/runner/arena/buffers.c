/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/runner/arena/buffers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Rooms that are populated in one call; for fewer pages the call is not worth it. */
#define LEAST_POPULATED ((int64_t)32 << 10)

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

int hone_layout_init(int64_t n_inputs, int64_t n_outputs, const int64_t *bytes, int64_t n_sets,
                     struct hone_layout *ret, struct hone_err *err)
{
    int64_t n = n_inputs + n_outputs;
    if (n_inputs < 0 || n_outputs < 0 || n > HONE_LIMIT_TENSORS || n_sets < 1 ||
        n_sets > HONE_BUFFERS_MAX_SETS)
        return hone_fail(err, HONE_E_LIMIT, "%lld tensors in %lld sets", (long long)n,
                         (long long)n_sets);
    struct hone_layout layout = {.n_inputs = n_inputs, .n_outputs = n_outputs, .n_sets = n_sets};
    for (int64_t t = 0; t < n; t++) {
        if (bytes[t] < 0 || bytes[t] > HONE_LIMIT_TENSOR_BYTES)
            return hone_fail(err, HONE_E_LIMIT, "tensor %lld has %lld bytes", (long long)t,
                             (long long)bytes[t]);
        int64_t *stride = t < n_inputs ? &layout.input_stride : &layout.output_stride;
        layout.bytes[t] = bytes[t];
        layout.room[t] = round_up(hone_max_i64(bytes[t], 1), HONE_BUFFERS_PAGE);
        layout.at[t] = *stride;
        *stride += layout.room[t];
        layout.map_at[t] = layout.map_stride + HONE_BUFFERS_PAGE;
        layout.map_stride += layout.room[t] + 2 * HONE_BUFFERS_PAGE;
    }
    *ret = layout;
    return 0;
}

int64_t hone_layout_file_at(const struct hone_layout *layout, int64_t set, int64_t tensor)
{
    int64_t stride = tensor < layout->n_inputs ? layout->input_stride : layout->output_stride;
    return set * stride + layout->at[tensor];
}

int64_t hone_layout_content_at(const struct hone_layout *layout, int64_t set, int64_t tensor)
{
    return set % 2 == 0 ? 0 : layout->room[tensor] - round_up(layout->bytes[tensor], 64);
}

int hone_shared_new(const char *name, int64_t size, bool is_sealed, struct hone_shared *ret,
                    struct hone_err *err)
{
    HONE_AUTOCLOSE int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return hone_fail_errno(err, errno, "memfd_create");
    if (ftruncate(fd, size) != 0)
        return hone_fail_errno(err, errno, "shared memory of %lld bytes", (long long)size);
    void *base =
        mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED)
        return hone_fail_errno(err, errno, "mapping %lld bytes", (long long)size);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | (is_sealed ? F_SEAL_FUTURE_WRITE : 0);
    if (fcntl(fd, F_ADD_SEALS, seals | F_SEAL_SEAL) != 0) {
        int native = errno;
        munmap(base, (size_t)size);
        return hone_fail_errno(err, native, "sealing shared memory");
    }
    *ret = (struct hone_shared){.fd = fd, .base = base, .size = size, .file_bytes = size};
    fd = -1;
    return 0;
}

int hone_shared_open(const struct hone_shared *shared, int *ret_fd, struct hone_err *err)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", shared->fd);
    *ret_fd = open(path, O_RDONLY | O_CLOEXEC);
    return *ret_fd < 0 ? hone_fail_errno(err, errno, "opening shared memory again (%s)", path) : 0;
}

void hone_shared_done(struct hone_shared *shared)
{
    if (shared->base != NULL)
        munmap(shared->base, (size_t)shared->file_bytes);
    hone_close_fd(&shared->fd);
    *shared = (struct hone_shared)HONE_SHARED_INIT;
}

static char *room_of(const struct hone_shared *shared, const struct hone_layout *layout,
                     int64_t set, int64_t tensor)
{
    int64_t at = hone_layout_file_at(layout, set, tensor);
    HONE_BUG_ON(at < 0 || at + layout->room[tensor] > shared->size);
    return shared->base + at;
}

void *hone_shared_tensor(const struct hone_shared *shared, const struct hone_layout *layout,
                         int64_t set, int64_t tensor)
{
    return room_of(shared, layout, set, tensor) + hone_layout_content_at(layout, set, tensor);
}

/* Every byte is written next. One call instead of a fault for each page: a fault of a virtual machine can cost as much as
 * writing the page ten times. Where the kernel has no such call (before Linux 5.14), the pages come one by one. */
static void populate(char *room, int64_t n_bytes)
{
#ifdef MADV_POPULATE_WRITE
    if (n_bytes >= LEAST_POPULATED)
        (void)madvise(room, (size_t)n_bytes, MADV_POPULATE_WRITE);
#else
    (void)room, (void)n_bytes;
#endif
}

void hone_canary_fill(const struct hone_shared *shared, const struct hone_layout *layout,
                      int64_t set, int64_t tensor)
{
    char *room = room_of(shared, layout, set, tensor);
    int64_t from = hone_layout_content_at(layout, set, tensor), to = from + layout->bytes[tensor];
    populate(room, layout->room[tensor]);
    memset(room, HONE_CANARY_BYTE, (size_t)from);
    memset(room + to, HONE_CANARY_BYTE, (size_t)(layout->room[tensor] - to));
}

static bool is_all_canary(const char *from, const char *to)
{
    for (; from < to; from++) {
        if ((unsigned char)*from != HONE_CANARY_BYTE)
            return false;
    }
    return true;
}

bool hone_canary_is_whole(const struct hone_shared *shared, const struct hone_layout *layout,
                          int64_t set, int64_t tensor)
{
    const char *room = room_of(shared, layout, set, tensor);
    int64_t from = hone_layout_content_at(layout, set, tensor), to = from + layout->bytes[tensor];
    return is_all_canary(room, room + from) &&
           is_all_canary(room + to, room + layout->room[tensor]);
}

void hone_padding_fill(void *content, int64_t bytes, int64_t row_bytes, int64_t used_bytes)
{
    for (int64_t at = used_bytes; at < bytes; at += row_bytes)
        memset((char *)content + at, HONE_CANARY_BYTE, (size_t)(row_bytes - used_bytes));
}

bool hone_padding_is_whole(const void *content, int64_t bytes, int64_t row_bytes,
                           int64_t used_bytes)
{
    const char *base = content;
    for (int64_t at = used_bytes; at < bytes; at += row_bytes)
        if (!is_all_canary(base + at, base + at + row_bytes - used_bytes))
            return false;
    return true;
}
