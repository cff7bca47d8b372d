/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that two processes share (gpu_memory.h).
 *
 * hone_gpu_layout_... compute where tensors and sets lie, with gaps; hone_gpu_range_...
 * reserve, create, map, export and import. Every size is rounded to the device's granule.
 * Errors carry the driver's code. */
#include "tools/runner/cuda/device/gpu_memory.h"

#include <stdio.h>
#include <string.h>

#define LARGEST_GAP (64ll << 10)

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* Wide enough that a row too many lands in it, and small beside the content. */
static int64_t gap_after(int64_t bytes)
{
    return hone_min_i64(hone_max_i64(round_up(bytes / 8, HONE_GPU_ALIGN), HONE_GPU_ALIGN),
                        LARGEST_GAP);
}

int hone_gpu_layout_init(int64_t n_inputs, int64_t n_outputs, const int64_t *bytes, int64_t n_sets,
                         int64_t granule, struct hone_gpu_layout *ret, struct hone_err *err)
{
    int64_t n = n_inputs + n_outputs;
    if (n_inputs < 0 || n_outputs < 1 || n > HONE_GPU_MAX_TENSORS)
        return hone_fail(err, HONE_E_LIMIT, "%lld tensors; 1 to %d are possible", (long long)n,
                         HONE_GPU_MAX_TENSORS);
    if (n_sets < 1 || n_sets > HONE_GPU_MAX_SETS)
        return hone_fail(err, HONE_E_LIMIT, "%lld buffer sets; 1 to %d are possible",
                         (long long)n_sets, HONE_GPU_MAX_SETS);
    if (granule < HONE_GPU_ALIGN || granule % HONE_GPU_ALIGN != 0)
        return hone_fail(err, HONE_E_LIMIT, "a granule of %lld bytes", (long long)granule);
    struct hone_gpu_layout layout = {
        .n_inputs = n_inputs, .n_outputs = n_outputs, .n_sets = n_sets};
    for (int64_t t = 0; t < n; t++) {
        if (bytes[t] < 0 || bytes[t] > HONE_LIMIT_TENSOR_BYTES)
            return hone_fail(err, HONE_E_LIMIT, "a tensor of %lld bytes; at most %lld are possible",
                             (long long)bytes[t], (long long)HONE_LIMIT_TENSOR_BYTES);
        int64_t room = round_up(hone_max_i64(bytes[t], 1), HONE_GPU_ALIGN);
        layout.bytes[t] = bytes[t];
        layout.stride[t] = room + gap_after(room);
        int64_t used = (n_sets - 1) * layout.stride[t] + room;
        layout.range[t] = round_up(used, granule);
        layout.first[t] = layout.range[t] - used;
    }
    *ret = layout;
    return 0;
}

void hone_gpu_layout_start_flush(struct hone_gpu_layout *layout)
{
    memset(layout->first, 0, sizeof layout->first);
}

static int64_t attribute(const struct hone_gpu_device *device, int which)
{
    int value = 0;
    return device->cu->DeviceGetAttribute(&value, which, device->dev) == HONE_CU_SUCCESS ? value
                                                                                         : 0;
}

static struct hone_cu_alloc_prop properties(const struct hone_gpu_device *device)
{
    return (struct hone_cu_alloc_prop){
        .type = HONE_CU_MEM_PINNED,
        .requested_handle_types = HONE_CU_HANDLE_POSIX_FD,
        .location = {.type = HONE_CU_LOCATION_DEVICE, .id = device->dev}};
}

static void read_facts(struct hone_gpu_device *device)
{
    const struct hone_cuda *cu = device->cu;
    struct hone_cu_uuid uuid = {{0}};
    size_t memory = 0;
    (void)cu->DeviceGetName(device->name, (int)sizeof device->name, device->dev);
    device->name[sizeof device->name - 1] = '\0';
    (void)cu->DeviceGetUuid(&uuid, device->dev);
    char *at = device->uuid;
    at += snprintf(at, 5, "GPU-");
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        at += snprintf(at, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned)(unsigned char)uuid.bytes[i]);
    (void)cu->DriverGetVersion(&device->driver_version);
    (void)cu->DeviceTotalMem(&memory, device->dev);
    device->memory_bytes = (int64_t)memory;
    device->sm_count = (int)attribute(device, HONE_CU_DEV_SM_COUNT);
    device->major = (int)attribute(device, HONE_CU_DEV_MAJOR);
    device->minor = (int)attribute(device, HONE_CU_DEV_MINOR);
    device->l2_bytes = attribute(device, HONE_CU_DEV_L2_BYTES);
    device->clock_khz = attribute(device, HONE_CU_DEV_CLOCK_KHZ);
    device->memory_clock_khz = attribute(device, HONE_CU_DEV_MEMORY_CLOCK_KHZ);
    device->bus_width = attribute(device, HONE_CU_DEV_BUS_WIDTH);
}

static int find_device(struct hone_gpu_device *device, int ordinal, struct hone_err *err)
{
    const struct hone_cuda *cu = device->cu;
    int n = 0;
    int code = hone_cu_check(cu, cu->Init(0), "starting the driver", err);
    if (code == 0)
        code = hone_cu_check(cu, cu->DeviceGetCount(&n), "counting devices", err);
    if (code < 0)
        return code;
    if (ordinal < 0 || ordinal >= n)
        return hone_fail(err, HONE_E_UNSUPPORTED, "no device %d: this machine has %d", ordinal, n);
    code = hone_cu_check(cu, cu->DeviceGet(&device->dev, ordinal), "taking the device", err);
    if (code < 0)
        return code;
    if (attribute(device, HONE_CU_DEV_VMM_SUPPORTED) == 0)
        return hone_fail(err, HONE_E_UNSUPPORTED, "device %d cannot share memory between processes",
                         ordinal);
    return 0;
}

int hone_gpu_device_open(const struct hone_cuda *cu, int ordinal, struct hone_gpu_device *ret,
                         struct hone_err *err)
{
    struct hone_gpu_device device = {.cu = cu};
    int code = find_device(&device, ordinal, err);
    if (code < 0)
        return code;
    read_facts(&device);
    code = hone_cu_check(cu, cu->DevicePrimaryCtxRetain(&device.ctx, device.dev),
                         "making a context", err);
    if (code < 0)
        return code;
    const struct hone_cu_alloc_prop prop = properties(&device);
    size_t granule = 0;
    code = hone_cu_check(cu, cu->CtxSetCurrent(device.ctx), "taking the context", err);
    if (code == 0)
        code = hone_cu_check(
            cu, cu->MemGetAllocationGranularity(&granule, &prop, HONE_CU_GRANULARITY_MINIMUM),
            "asking for the granule of memory", err);
    if (code < 0) {
        (void)cu->DevicePrimaryCtxRelease(device.dev);
        return code;
    }
    device.granule = (int64_t)granule;
    *ret = device;
    return 0;
}

void hone_gpu_device_close(struct hone_gpu_device *device)
{
    if (device->ctx == NULL)
        return;
    (void)device->cu->CtxSetCurrent(NULL);
    (void)device->cu->DevicePrimaryCtxRelease(device->dev);
    device->ctx = NULL;
}

/* Address space with a guard granule on both sides, and the handle mapped between them. */
static int map(const struct hone_gpu_device *device, int access, struct hone_gpu_range *range,
               struct hone_err *err)
{
    const struct hone_cuda *cu = device->cu;
    size_t guard = (size_t)device->granule;
    range->reserved_size = range->size + 2 * guard;
    int code =
        hone_cu_check(cu, cu->MemAddressReserve(&range->reserved, range->reserved_size, 0, 0, 0),
                      "reserving addresses", err);
    if (code < 0)
        return code;
    code = hone_cu_check(cu, cu->MemMap(range->reserved + guard, range->size, 0, range->handle, 0),
                         "mapping memory", err);
    if (code < 0)
        return code;
    range->base = range->reserved + guard;
    const struct hone_cu_access desc = {
        .location = {.type = HONE_CU_LOCATION_DEVICE, .id = device->dev}, .flags = access};
    return hone_cu_check(cu, cu->MemSetAccess(range->base, range->size, &desc, 1),
                         "setting access to memory", err);
}

int hone_gpu_range_new(const struct hone_gpu_device *device, size_t size,
                       struct hone_gpu_range *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = device->cu;
    const struct hone_cu_alloc_prop prop = properties(device);
    struct hone_gpu_range range = {.size = size, .fd = -1};
    if (size == 0 || size % (size_t)device->granule != 0)
        return hone_fail(err, HONE_E_BUG, "a range of %zu bytes is no whole number of granules",
                         size);
    int code = hone_cu_check(cu, cu->MemCreate(&range.handle, size, &prop, 0),
                             "allocating device memory", err);
    if (code < 0)
        return code;
    code = hone_cu_check(
        cu, cu->MemExportToShareableHandle(&range.fd, range.handle, HONE_CU_HANDLE_POSIX_FD, 0),
        "exporting device memory", err);
    if (code == 0)
        code = map(device, HONE_CU_ACCESS_READ_WRITE, &range, err);
    if (code < 0) {
        hone_gpu_range_done(device, &range);
        return code;
    }
    *ret = range;
    return 0;
}

int hone_gpu_range_import(const struct hone_gpu_device *device, int fd, size_t size,
                          bool is_read_only, struct hone_gpu_range *ret, struct hone_err *err)
{
    const struct hone_cuda *cu = device->cu;
    struct hone_gpu_range range = {.size = size, .fd = -1};
    if (size == 0 || size % (size_t)device->granule != 0)
        return hone_fail(err, HONE_E_ARG, "a range of %zu bytes is no whole number of granules",
                         size);
    int code = hone_cu_check(cu,
                             cu->MemImportFromShareableHandle(&range.handle, (void *)(uintptr_t)fd,
                                                              HONE_CU_HANDLE_POSIX_FD),
                             "importing device memory", err);
    if (code < 0)
        return code;
    code = map(device, is_read_only ? HONE_CU_ACCESS_READ : HONE_CU_ACCESS_READ_WRITE, &range, err);
    if (code < 0) {
        hone_gpu_range_done(device, &range);
        return code;
    }
    *ret = range;
    return 0;
}

void hone_gpu_range_done(const struct hone_gpu_device *device, struct hone_gpu_range *range)
{
    const struct hone_cuda *cu = device->cu;
    if (range->base != 0)
        (void)cu->MemUnmap(range->base, range->size);
    if (range->reserved != 0)
        (void)cu->MemAddressFree(range->reserved, range->reserved_size);
    if (range->handle != 0)
        (void)cu->MemRelease(range->handle);
    if (range->reserved_size != 0 || range->handle != 0)
        hone_close_fd(&range->fd);
    *range = (struct hone_gpu_range){.fd = -1};
}
