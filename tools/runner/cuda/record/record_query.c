/* SPDX-License-Identifier: Apache-2.0 */
/* Order (streams, events), what a launcher may ask of device and kernels, and errors. */
#include <stdio.h>
#include <string.h>

#include "tools/runner/cuda/record/record_exports.h"
#include "tools/runner/cuda/record/record_state.h"

#define NON_BLOCKING   1
#define DEFAULT_SHARED 49152
#define GUESS_REGISTERS                                                                            \
    128 /* of a kernel whose facts are not there: few blocks rather than too many */
#define SM_REGISTERS 65536

/* ---- streams and events ---- */

int cudaStreamCreateWithFlags(void **ret, unsigned flags)
{
    struct hone_recorder *r = hone_recorder;
    if (r->n_streams == HONE_LIMIT_PLAN_STREAMS)
        hone_record_refuse("the launcher creates more than %d streams",
                           HONE_LIMIT_PLAN_STREAMS - 1);
    r->streams[r->n_streams] = (struct hone_record_stream){.is_blocking = flags != NON_BLOCKING};
    *ret = (void *)(uintptr_t)(HONE_RECORD_HANDLE + 16 * r->n_streams++);
    return HONE_RT_SUCCESS;
}

int cudaStreamCreate(void **ret)
{
    return cudaStreamCreateWithFlags(ret, 0);
}

int cudaStreamCreateWithPriority(void **ret, unsigned flags, int priority)
{
    (void)priority;
    return cudaStreamCreateWithFlags(ret, flags);
}

int cudaStreamDestroy(void *stream)
{
    (void)hone_record_stream_of(stream);
    return HONE_RT_SUCCESS;
}

int cudaStreamSynchronize(void *stream)
{
    hone_record_wait_host(&hone_recorder->streams[hone_record_stream_of(stream)].clock);
    return HONE_RT_SUCCESS;
}

int cudaStreamQuery(void *stream)
{
    (void)hone_record_stream_of(stream);
    return HONE_RT_SUCCESS;
}

int cudaDeviceSynchronize(void)
{
    for (size_t i = 0; i < hone_recorder->n_streams; i++)
        hone_record_wait_host(&hone_recorder->streams[i].clock);
    return HONE_RT_SUCCESS;
}

int cudaDeviceGetStreamPriorityRange(int *ret_least, int *ret_greatest)
{
    if (ret_least != NULL)
        *ret_least = 0;
    if (ret_greatest != NULL)
        *ret_greatest = 0;
    return HONE_RT_SUCCESS;
}

int cudaEventCreateWithFlags(void **ret, unsigned flags)
{
    struct hone_recorder *r = hone_recorder;
    (void)flags;
    if (r->n_events == HONE_RECORD_EVENTS)
        hone_record_refuse("the launcher creates more than %d events", HONE_RECORD_EVENTS);
    *ret = (void *)(uintptr_t)(HONE_RECORD_EVENT_HANDLE + 16 * r->n_events++);
    return HONE_RT_SUCCESS;
}

int cudaEventCreate(void **ret)
{
    return cudaEventCreateWithFlags(ret, 0);
}

static struct hone_record_clock *event_of(const void *event)
{
    struct hone_recorder *r = hone_recorder;
    uintptr_t at = (uintptr_t)event;
    if (at < HONE_RECORD_EVENT_HANDLE || at >= HONE_RECORD_EVENT_HANDLE + 16 * r->n_events ||
        at % 16 != 0)
        hone_record_refuse("event %p was not created by the launcher", event);
    return &r->events[(at - HONE_RECORD_EVENT_HANDLE) / 16];
}

int cudaEventDestroy(void *event)
{
    (void)event_of(event);
    return HONE_RT_SUCCESS;
}

int cudaEventRecord(void *event, void *stream)
{
    *event_of(event) = hone_recorder->streams[hone_record_stream_of(stream)].clock;
    return HONE_RT_SUCCESS;
}

int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}

int cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)flags;
    hone_record_wait_stream(hone_record_stream_of(stream), event_of(event));
    return HONE_RT_SUCCESS;
}

int cudaEventQuery(void *event)
{
    (void)event_of(event);
    return HONE_RT_SUCCESS;
}

int cudaEventSynchronize(void *event)
{
    hone_record_wait_host(event_of(event));
    return HONE_RT_SUCCESS;
}

int cudaEventElapsedTime(float *ret, void *start, void *end)
{
    (void)event_of(start);
    (void)event_of(end);
    hone_record_note("cudaEventElapsedTime tells 0 while a launcher is recorded");
    *ret = 0;
    return HONE_RT_SUCCESS;
}

/* ---- the device ---- */

int cudaGetDevice(int *ret)
{
    *ret = 0;
    return HONE_RT_SUCCESS;
}

int cudaSetDevice(int device)
{
    return device == 0 ? HONE_RT_SUCCESS
                       : hone_record_error(HONE_RT_INVALID_DEVICE,
                                           "cudaSetDevice(%d): there is one device, 0", device);
}

int cudaGetDeviceCount(int *ret)
{
    *ret = 1;
    return HONE_RT_SUCCESS;
}

int cudaDriverGetVersion(int *ret)
{
    *ret = 13000;
    return HONE_RT_SUCCESS;
}

int cudaRuntimeGetVersion(int *ret)
{
    *ret = 13000;
    return HONE_RT_SUCCESS;
}

struct fact {
    const char *name;
    int attribute; /* cudaDeviceAttr; 0: none */
    size_t offset; /* in hone_plan_device; SIZE_MAX: `value` */
    int64_t value;
};
#define DEVICE(name_, attribute_, member_)                                                         \
    {                                                                                              \
        name_, attribute_, offsetof(struct hone_plan_device, member_), 0                           \
    }
#define FIXED(attribute_, value_)                                                                  \
    {                                                                                              \
        NULL, attribute_, SIZE_MAX, value_                                                         \
    }
static const struct fact facts[] = {DEVICE("threads_per_block", 1, threads_per_block),
                                    FIXED(2, 1024),
                                    FIXED(3, 1024),
                                    FIXED(4, 64),
                                    DEVICE("grid_x", 5, grid_x),
                                    DEVICE("grid_y", 6, grid_y),
                                    DEVICE("grid_z", 7, grid_z),
                                    FIXED(8, DEFAULT_SHARED),
                                    FIXED(9, 65536),
                                    FIXED(10, 32),
                                    FIXED(12, SM_REGISTERS),
                                    FIXED(13, 1980000),
                                    DEVICE("sm_count", 16, sm_count),
                                    FIXED(31, 1),
                                    FIXED(36, 3201000),
                                    FIXED(37, 6144),
                                    FIXED(38, 50 << 20),
                                    DEVICE("threads_per_sm", 39, threads_per_sm),
                                    FIXED(41, 1),
                                    DEVICE("major", 75, major),
                                    DEVICE("minor", 76, minor),
                                    DEVICE("shared_per_sm", 81, shared_per_sm),
                                    FIXED(82, SM_REGISTERS),
                                    FIXED(95, 1),
                                    DEVICE("shared_per_block_optin", 97, shared_per_block_optin),
                                    FIXED(106, 32),
                                    FIXED(108, 0),
                                    FIXED(111, 1024),
                                    FIXED(115, 1),
                                    FIXED(120, 1),
                                    DEVICE("memory_bytes", 0, memory_bytes)};

static int64_t value_of(const struct fact *fact)
{
    const char *device = (const char *)&hone_recorder->device;
    int64_t value = fact->value;
    if (fact->offset != SIZE_MAX)
        memcpy(&value, device + fact->offset, sizeof value);
    return value;
}

long long hone_record_fact(const char *name)
{
    for (size_t i = 0; i < HONE_COUNTOF(facts); i++)
        if (facts[i].name != NULL && strcmp(facts[i].name, name) == 0)
            return value_of(&facts[i]);
    return 0;
}

int cudaDeviceGetAttribute(int *ret, int attribute, int device)
{
    int code = cudaSetDevice(device);
    if (code != HONE_RT_SUCCESS)
        return code;
    for (size_t i = 0; i < HONE_COUNTOF(facts); i++)
        if (facts[i].attribute == attribute && attribute != 0) {
            *ret = (int)value_of(&facts[i]);
            return HONE_RT_SUCCESS;
        }
    hone_record_refuse("cudaDeviceGetAttribute of attribute %d is not known here. fix: write the "
                       "number, or use another attribute",
                       attribute);
}

int cudaDeviceSetLimit(int limit, size_t value)
{
    (void)limit;
    (void)value;
    hone_record_note("cudaDeviceSetLimit has no effect here");
    return HONE_RT_SUCCESS;
}

int cudaDeviceGetLimit(size_t *ret, int limit)
{
    (void)limit;
    *ret = 0;
    return HONE_RT_SUCCESS;
}

int cudaDeviceSetCacheConfig(int config)
{
    (void)config;
    return HONE_RT_SUCCESS;
}

int cudaProfilerStart(void)
{
    return HONE_RT_SUCCESS;
}

int cudaProfilerStop(void)
{
    return HONE_RT_SUCCESS;
}

/* ---- kernels ---- */

static struct hone_plan_kernel facts_of(const struct hone_record_kernel *kernel, int64_t block)
{
    const struct hone_record_kernel_fact *fact = kernel->fact;
    if (fact != NULL)
        return (struct hone_plan_kernel){.name = kernel->symbol,
                                         .registers = fact->registers,
                                         .static_shared_bytes = fact->static_shared_bytes,
                                         .max_threads = fact->max_threads};
    hone_recorder->head->asked_facts = 1;
    int64_t most = block > 0 ? SM_REGISTERS / (block + 31) : GUESS_REGISTERS;
    return (struct hone_plan_kernel){.name = kernel->symbol,
                                     .registers = hone_min_i64(GUESS_REGISTERS, most)};
}

long long hone_record_kernel_fact(const void *func, const char *name)
{
    struct hone_record_kernel *kernel = hone_record_kernel_of(func);
    if (kernel == NULL)
        return 0;
    struct hone_plan_kernel k = facts_of(kernel, 0);
    if (strcmp(name, "registers") == 0)
        return k.registers;
    if (strcmp(name, "static_shared_bytes") == 0)
        return k.static_shared_bytes;
    if (strcmp(name, "max_dynamic_shared") == 0)
        return kernel->max_dynamic > 0 ? kernel->max_dynamic
                                       : DEFAULT_SHARED - k.static_shared_bytes;
    return k.max_threads > 0  ? k.max_threads
           : k.registers > 64 ? hone_min_i64(1024, SM_REGISTERS / k.registers / 128 * 128)
                              : 1024;
}

int hone_record_occupancy(int *ret, const void *func, int block, unsigned long shared)
{
    struct hone_record_kernel *kernel = hone_record_kernel_of(func);
    *ret = 0;
    if (kernel == NULL)
        return hone_record_error(HONE_RT_INVALID_FUNCTION, "occupancy of %p, which is no kernel",
                                 func);
    struct hone_plan_kernel k = facts_of(kernel, block);
    *ret = (int)hone_plan_occupancy(&k, &hone_recorder->device, block,
                                    (int64_t)hone_min_i64((int64_t)shared, INT32_MAX));
    return HONE_RT_SUCCESS;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ret, const void *func, int block,
                                                           size_t shared, unsigned flags)
{
    (void)flags;
    return hone_record_occupancy(ret, func, block, shared);
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, const void *func, int block,
                                                  size_t shared)
{
    return hone_record_occupancy(ret, func, block, shared);
}

int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *ret, const void *func, int blocks, int block)
{
    const struct hone_plan_device *d = &hone_recorder->device;
    (void)block;
    int64_t fixed = hone_record_kernel_fact(func, "static_shared_bytes");
    int64_t share = blocks > 0 ? d->shared_per_sm / blocks - 1024 : 0;
    *ret = (size_t)hone_max_i64(0, hone_min_i64(share, d->shared_per_block_optin) - fixed);
    return HONE_RT_SUCCESS;
}

int cudaFuncSetAttribute(const void *func, int attribute, int value)
{
    enum { MAX_DYNAMIC = 8, CARVEOUT = 9, NON_PORTABLE = 14 };
    struct hone_record_kernel *kernel = hone_record_kernel_of(func);
    if (kernel == NULL)
        return hone_record_error(HONE_RT_INVALID_FUNCTION,
                                 "cudaFuncSetAttribute of %p, which is no kernel", func);
    int64_t fixed = kernel->fact == NULL ? 0 : kernel->fact->static_shared_bytes;
    int64_t most = hone_recorder->device.shared_per_block_optin - fixed;
    /* Without the facts a launcher that tries sizes might stop at one that is too large. */
    if (attribute == MAX_DYNAMIC && kernel->fact == NULL && value > most - DEFAULT_SHARED)
        hone_recorder->head->asked_facts = 1;
    if (attribute == MAX_DYNAMIC && (value < 0 || value > most))
        return hone_record_error(
            HONE_RT_INVALID_VALUE,
            "cudaFuncSetAttribute(%s, MaxDynamicSharedMemorySize, %d): at most %lld",
            kernel->expression, value, (long long)most);
    if (attribute == CARVEOUT && (value < -1 || value > 100))
        return hone_record_error(
            HONE_RT_INVALID_VALUE,
            "cudaFuncSetAttribute(%s, PreferredSharedMemoryCarveout, %d): percent",
            kernel->expression, value);
    if (attribute == MAX_DYNAMIC)
        kernel->max_dynamic = value;
    else if (attribute == CARVEOUT)
        kernel->carveout = value;
    else if (attribute != NON_PORTABLE)
        hone_record_note(
            "a function attribute other than shared memory and cluster size has no effect "
            "here");
    return HONE_RT_SUCCESS;
}

int cudaFuncSetCacheConfig(const void *func, int config)
{
    (void)func;
    (void)config;
    return HONE_RT_SUCCESS;
}

/* ---- errors ---- */

int cudaPeekAtLastError(void)
{
    return hone_recorder->last_error;
}

int cudaGetLastError(void)
{
    int code = hone_recorder->last_error;
    hone_recorder->last_error = HONE_RT_SUCCESS;
    return code;
}

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {HONE_RT_SUCCESS, "cudaSuccess", "no error"},
    {HONE_RT_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {HONE_RT_OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"},
    {HONE_RT_INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {HONE_RT_INVALID_SYMBOL, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {HONE_RT_INVALID_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {HONE_RT_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {HONE_RT_INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {HONE_RT_NOT_READY, "cudaErrorNotReady", "device not ready"},
    {HONE_RT_NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"}};

const char *cudaGetErrorString(int code)
{
    for (size_t i = 0; i < HONE_COUNTOF(errors); i++)
        if (errors[i].code == code)
            return errors[i].text;
    return "unrecognized error code";
}

const char *cudaGetErrorName(int code)
{
    for (size_t i = 0; i < HONE_COUNTOF(errors); i++)
        if (errors[i].code == code)
            return errors[i].name;
    return "unrecognized error code";
}

int cudaGetDriverEntryPoint(const char *name, void **ret, unsigned long long flags, int *ret_status)
{
    int (*encode)(void *, int, unsigned, void *, const unsigned long long *,
                  const unsigned long long *, const unsigned *, const unsigned *, int, int, int,
                  int) = hone_cuTensorMapEncodeTiled;
    (void)flags;
    if (strcmp(name, "cuTensorMapEncodeTiled") != 0)
        hone_record_refuse(
            "%s from cudaGetDriverEntryPoint is not supported; cuTensorMapEncodeTiled is", name);
    memcpy(ret, &encode, sizeof encode);
    if (ret_status != NULL)
        *ret_status = 0;
    return HONE_RT_SUCCESS;
}

int cudaGetDriverEntryPointByVersion(const char *name, void **ret, unsigned version,
                                     unsigned long long flags, int *ret_status)
{
    (void)version;
    return cudaGetDriverEntryPoint(name, ret, flags, ret_status);
}
