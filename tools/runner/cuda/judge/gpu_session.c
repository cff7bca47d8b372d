/* SPDX-License-Identifier: Apache-2.0 */
/* What the judge keeps on a device from job to job: driver, context, its own kernels, the compile
 * server, warm arenas, buffers, reference answers. Opening costs about half a second the first time
 * (context), and some seconds the first time on a machine (our kernels are compiled); everything
 * after that is free. */
#include <stdlib.h>
#include <string.h>

#include "tools/runner/build/blob_cache.h"
#include "tools/runner/cuda/judge/gpu_held.h"
#include "tools/runner/cuda/compile/compile.h"
#include "tools/runner/cuda/judge/gpu_judge.h"
#include "tools/runner/cuda/device/gpu_stamp.h"
#include "workspace/base/clock.h"

#define DEFAULT_ARCH   "sm_90a"
#define COMPILE_MS     60000
#define BLOCKS_PER_SM  8
#define ITEMS_A_THREAD 4
#define LEAST_FLUSH    (16ll << 20)

static const char *const kernel_names[] = {
#define HONE_GPU_KERNEL_NAME(name_, symbol_) symbol_,
    HONE_GPU_KERNELS(HONE_GPU_KERNEL_NAME)};

int hone_gpu_check(struct hone_gpu_session *session, hone_cu_result code, const char *what,
                   struct hone_err *err)
{
    if (code == HONE_CU_SUCCESS)
        return 0;
    /* Out of memory leaves the context usable; anything else may have taken it down. */
    session->is_broken = session->is_broken || code != HONE_CU_OUT_OF_MEMORY;
    int ret = hone_cu_check(session->cu, code, what, err);
    return code == HONE_CU_OUT_OF_MEMORY && err != NULL ? err->code = HONE_E_NOMEM : ret;
}

const char *hone_gpu_arch(const struct hone_gpu_session *session, struct hone_pool *pool)
{
    if (session == NULL || !session->is_open)
        return DEFAULT_ARCH;
    const struct hone_gpu_device *device = &session->device;
    /* The architecture's own variant (wgmma and the like) exists from 9.0 on. */
    return hone_pool_printf(pool, "sm_%d%d%s", device->major, device->minor,
                            device->major >= 9 ? "a" : "");
}

static int64_t attribute(const struct hone_gpu_session *session, int which)
{
    int value = 0;
    const struct hone_cuda *cu = session->cu;
    return cu->DeviceGetAttribute(&value, which, session->device.dev) == HONE_CU_SUCCESS ? value
                                                                                         : 0;
}

struct hone_plan_device hone_gpu_plan_device(const struct hone_gpu_session *session)
{
    if (session == NULL || !session->is_open) /* an H200 */
        return (struct hone_plan_device){.sm_count = 132,
                                         .threads_per_block = 1024,
                                         .threads_per_sm = 2048,
                                         .shared_per_block_optin = 232448,
                                         .shared_per_sm = 233472,
                                         .grid_x = INT32_MAX,
                                         .grid_y = 65535,
                                         .grid_z = 65535,
                                         .major = 9,
                                         .minor = 0,
                                         .memory_bytes = 140ll << 30};
    return (struct hone_plan_device){
        .sm_count = session->device.sm_count,
        .threads_per_block = attribute(session, HONE_CU_DEV_MAX_THREADS_PER_BLOCK),
        .threads_per_sm = attribute(session, HONE_CU_DEV_THREADS_PER_SM),
        .shared_per_block_optin = attribute(session, HONE_CU_DEV_SHARED_PER_BLOCK_OPTIN),
        .shared_per_sm = attribute(session, HONE_CU_DEV_SHARED_PER_SM),
        .grid_x = attribute(session, HONE_CU_DEV_MAX_GRID_X),
        .grid_y = attribute(session, HONE_CU_DEV_MAX_GRID_Y),
        .grid_z = attribute(session, HONE_CU_DEV_MAX_GRID_Z),
        .major = session->device.major,
        .minor = session->device.minor,
        .memory_bytes = session->device.memory_bytes};
}

int hone_gpu_launch(struct hone_gpu_session *session, enum hone_gpu_kernel kernel, int64_t n,
                    int64_t n_sets, const void *args, struct hone_err *err)
{
    if (n <= 0 || n_sets <= 0)
        return 0;
    int64_t wanted = (n + HONE_K_THREADS * ITEMS_A_THREAD - 1) / (HONE_K_THREADS * ITEMS_A_THREAD);
    int64_t room = hone_max_i64((int64_t)session->device.sm_count * BLOCKS_PER_SM / n_sets, 1);
    unsigned blocks = (unsigned)hone_min_i64(hone_max_i64(wanted, 1), room);
    void *copy = NULL; /* the driver's type is not const; it only reads */
    memcpy(&copy, &args, sizeof copy);
    void *params[] = {copy};
    return hone_gpu_check(session,
                          session->cu->LaunchKernel(session->kernels[kernel], blocks,
                                                    (unsigned)n_sets, 1, HONE_K_THREADS, 1, 1, 0,
                                                    session->stream, params, NULL),
                          kernel_names[kernel], err);
}

int hone_gpu_sync(struct hone_gpu_session *session, struct hone_err *err)
{
    return hone_gpu_check(session, session->cu->StreamSynchronize(session->stream),
                          "the judge's own kernels", err);
}

int hone_gpu_results_zero(struct hone_gpu_session *session, int64_t bytes, struct hone_err *err)
{
    HONE_BUG_ON(bytes > HONE_GPU_RESULT_BYTES);
    return hone_gpu_check(
        session, session->cu->MemsetD8Async(session->results, 0, (size_t)bytes, session->stream),
        "clearing results", err);
}

int hone_gpu_results_read(struct hone_gpu_session *session, int64_t bytes, const void **ret,
                          struct hone_err *err)
{
    HONE_BUG_ON(bytes > HONE_GPU_RESULT_BYTES);
    int code = hone_gpu_check(session,
                              session->cu->MemcpyDtoHAsync(session->results_host, session->results,
                                                           (size_t)bytes, session->stream),
                              "fetching results", err);
    if (code == 0)
        code = hone_gpu_sync(session, err);
    if (code == 0)
        *ret = session->results_host;
    return code;
}

int hone_gpu_buffer_need(struct hone_gpu_session *session, struct hone_gpu_buffer *buffer,
                         int64_t bytes, struct hone_err *err)
{
    buffer->used = ++session->clock;
    if (buffer->size >= bytes)
        return 0;
    int code = hone_gpu_sync(session, err);
    if (code == 0 && buffer->size > 0)
        code = hone_gpu_check(session, session->cu->MemFree(buffer->base), "freeing a buffer", err);
    if (code < 0)
        return code;
    *buffer = (struct hone_gpu_buffer){.used = session->clock};
    code = hone_gpu_held_alloc(session, bytes, "working memory", &buffer->base, err);
    if (code == 0)
        buffer->size = bytes;
    return code;
}

int hone_gpu_fetch(struct hone_gpu_session *session, void *dst, hone_cu_ptr src, int64_t bytes,
                   struct hone_err *err)
{
    int code = hone_gpu_check(
        session, session->cu->MemcpyDtoHAsync(dst, src, (size_t)bytes, session->stream),
        "fetching from the device", err);
    return code < 0 ? code : hone_gpu_sync(session, err);
}

int hone_gpu_store(struct hone_gpu_session *session, hone_cu_ptr dst, const void *src,
                   int64_t bytes, struct hone_err *err)
{
    int code = hone_gpu_check(
        session, session->cu->MemcpyHtoDAsync(dst, src, (size_t)bytes, session->stream),
        "storing to the device", err);
    return code < 0 ? code : hone_gpu_sync(session, err);
}

int hone_gpu_flush(struct hone_gpu_session *session, struct hone_err *err)
{
    int64_t bytes = hone_max_i64(2 * session->device.l2_bytes, LEAST_FLUSH);
    int code = hone_gpu_buffer_need(session, &session->flush, bytes, err);
    if (code < 0)
        return code;
    /* Content that changes and does not compress. */
    struct hone_k_fill fill = {
        .base = session->flush.base,
        .n_sets = 1,
        .dtype = HONE_DTYPE_F32,
        .shape = {.key = ++session->clock, .n = bytes / 4, .row = bytes / 4, .scale = 1}};
    return hone_gpu_launch(session, HONE_GPU_KERNEL_FILL_NORMAL, fill.shape.n / 4, 1, &fill, err);
}

/* hone's own kernels are the same in every workspace and take seconds to compile: they are kept in
 * the user's cache. */
static const char *own_objects(struct hone_judge *judge)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *of_job = judge->job->cache_dir;
    if (cache == NULL || of_job == NULL || getenv("HONE_OBJECTS") != NULL)
        return of_job;
    const char *dir = hone_pool_printf(judge->pool, "%s/hone/objects", cache);
    return hone_blob_folder_make(dir) ? dir : of_job;
}

static int compile(struct hone_judge *judge, const char *text, const char *name,
                   const unsigned char **ret_cubin, size_t *ret_len, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->session->gpu;
    struct hone_cuda_object object;
    const struct hone_cuda_text unit = {
        .name = name,
        .text = text,
        .arch = hone_gpu_arch(session, judge->pool),
        .cache_dir = own_objects(judge),
        .rung = judge->job->jail,
        .allow_weak = judge->job->allow_weak_jail,
        .deadline_ns = hone_min_i64(hone_deadline_in_ms(COMPILE_MS), judge->deadline_ns)};
    int code = hone_cuda_compile_device(&session->compiler, &unit, judge->pool, &object, err);
    if (code < 0)
        return code;
    if (object.cubin == NULL)
        return hone_fail(err, HONE_E_BUG, "%s does not compile: %.300s", name,
                         object.log != NULL ? object.log : "");
    *ret_cubin = object.cubin;
    *ret_len = object.cubin_len;
    return 0;
}

static int load_kernels(struct hone_judge *judge, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->session->gpu;
    HONE_AUTOFREE char *text = hone_gpu_kernels_text();
    const unsigned char *cubin = NULL;
    size_t len = 0;
    int code = compile(judge, text, "gpu_kernels.cu", &cubin, &len, err);
    if (code == 0)
        code = hone_gpu_check(session, session->cu->ModuleLoadData(&session->module, cubin),
                              "loading the judge's kernels", err);
    for (size_t k = 0; k < HONE_N_GPU_KERNELS && code == 0; k++)
        code = hone_gpu_check(
            session,
            session->cu->ModuleGetFunction(&session->kernels[k], session->module, kernel_names[k]),
            kernel_names[k], err);
    return code;
}

static int compile_stamp(struct hone_judge *judge, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->session->gpu;
    const unsigned char *cubin = NULL;
    size_t len = 0;
    int code = compile(judge, hone_gpu_stamp_text, HONE_GPU_STAMP_NAME, &cubin, &len, err);
    if (code < 0)
        return code;
    unsigned char *kept = hone_malloc(len);
    memcpy(kept, cubin, len);
    session->stamp = (struct hone_array){.v = kept, .n = len};
    return 0;
}

static int open_device(struct hone_judge *judge, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->session->gpu;
    const struct hone_cuda *cu = session->cu;
    int64_t start = hone_now_ns();
    int code = hone_gpu_device_open(cu, 0, &session->device, err);
    if (code < 0)
        return code;
    hone_judge_cost(judge, "device.driver", hone_now_ns() - start);
    session->is_open = true;
    void *host = NULL;
    code = hone_gpu_check(session, cu->StreamCreate(&session->stream, HONE_CU_STREAM_NON_BLOCKING),
                          "a stream", err);
    if (code == 0)
        code = hone_gpu_check(session, cu->MemAlloc(&session->results, HONE_GPU_RESULT_BYTES),
                              "memory for results", err);
    if (code == 0)
        code = hone_gpu_check(session, cu->MemHostAlloc(&host, HONE_GPU_RESULT_BYTES, 0),
                              "host memory for results", err);
    if (code < 0)
        return code;
    session->results_host = host;
    start = hone_now_ns();
    code = load_kernels(judge, err);
    if (code == 0)
        code = compile_stamp(judge, err);
    hone_judge_cost(judge, "device.kernels", hone_now_ns() - start);
    return code;
}

struct hone_gpu_session *hone_gpu_session_new(void)
{
    struct hone_gpu_session *session = hone_calloc(1, sizeof *session);
    for (size_t k = 0; k < HONE_GPU_ROOM_CLASSES; k++) {
        for (size_t owner = 0; owner <= HONE_RUNNER_MAX_ARMS; owner++) {
            for (size_t t = 0; t < HONE_LIMIT_TENSORS; t++)
                session->rooms[k][owner][t].range.fd = -1;
        }
    }
    return session;
}

int hone_gpu_session_open(struct hone_judge *judge, struct hone_outcome *ret, struct hone_err *err)
{
    struct hone_gpu_session *session = judge->session->gpu;
    struct hone_err why = HONE_ERR_INIT;
    if (session->is_open && !session->is_broken)
        return session->cu->CtxSetCurrent(session->device.ctx) == HONE_CU_SUCCESS
                   ? 0
                   : hone_fail(err, HONE_E_TARGET, "the judge's context is gone");
    int code = session->cu == NULL ? hone_cuda_open(&session->cu, &why) : 0;
    if (code == 0)
        code = open_device(judge, &why);
    if (code == 0)
        return 0;
    if (session->is_open)
        session->is_broken = true;
    if (code != HONE_E_UNSUPPORTED && code != HONE_E_NOT_FOUND && session->is_open) {
        if (err != NULL)
            *err = why;
        return code;
    }
    hone_outcome_set(
        ret, HONE_REASON_INFRA,
        "no CUDA device: %.250s; fix: run it where nvidia-smi works, name the folder of "
        "libcuda.so.1 in HONE_CUDA_LIB, or ask for the stage build alone",
        why.message);
    return 0;
}

void hone_gpu_session_free(struct hone_gpu_session *session)
{
    if (session == NULL)
        return;
    if (session->is_open) {
        if (session->stream != NULL)
            (void)session->cu->StreamSynchronize(session->stream);
        hone_gpu_arms_free(session);
        hone_gpu_oracles_free(session);
        hone_gpu_held_free(session);
        if (session->results != 0)
            (void)session->cu->MemFree(session->results);
        if (session->results_host != NULL)
            (void)session->cu->MemFreeHost(session->results_host);
        if (session->module != NULL)
            (void)session->cu->ModuleUnload(session->module);
        if (session->stream != NULL)
            (void)session->cu->StreamDestroy(session->stream);
        hone_gpu_device_close(&session->device);
    }
    hone_cuda_compiler_stop(session->compiler);
    hone_cuda_close(session->cu);
    free(session->stamp.v);
    free(session);
}
